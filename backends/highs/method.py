"""Linear programs by HiGHS for the planner: what it applies to and what it costs. `run` calls SciPy's."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.losses import class_of
from fwdsl.backends.interior.method import Interior
from fwdsl.backends.interior.sizes import size_of
from fwdsl.backends.method import Estimate, Method, State
from fwdsl.backends.option import Option
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.light_dataclass import light_state

SECONDS, OF_AN_ENTRY, OF_A_ROW = 0.05, 2e-6, 7e-10
"""Seconds of a solve with the loading of SciPy's module, of each entry, unknown and row, and of the third power of the rows of terms.

Measured on transport (14,400 unknowns: 0.10 to 0.13 s) and on random sparse programs of 500 and 1,500 rows (0.23 and 2.4 s), whose factors fill up.
"""

STEPS = 3.0
"""Data passes that a solve is counted as; it makes none, and has one step as a rule."""


TRUSTED = 2.5
"""The multiple of its predicted passes up to which the prediction tells what is left."""


@light_state
class HighsState(State):
    """The state of a run of `highs`: what HiGHS found in the scaled program."""

    v: Array  # the unknowns
    z: Array  # the multipliers of the rows
    found: int = -1  # SciPy's number for how HiGHS ended: 0 solved, 1 out of time, 2 infeasible, 3 unbounded, 4 no answer; -1 not begun
    seconds: float = 2.0  # that it is given


class Highs(Method):
    """HiGHS on linear programs; its answers are certified as all others are, and what has no solution is proved by `interior`."""

    name = "highs"
    title = "HiGHS on linear programs: interior point with crossover, or dual simplex"
    source = "Huangfu, Hall 2018; Schork, Gondzio 2020"
    on_host = "works by HiGHS of SciPy"
    most_iterations = 300
    runs_in = "fwdsl.backends.highs.run"
    least_seconds = SECONDS
    options = MappingProxyType(
        {"solver": Option("ipm", "interior point with crossover, or dual simplex", choices=("ipm", "simplex"))}
    )

    @classmethod
    def outruns_repairs(cls, form: Canonical) -> int:
        """The number of `interior`, whose candidates are of its kind."""
        return Interior.outruns_repairs(form)

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """No loss that is curved; of norms and sets their numbers tell."""
        curved = {
            t.atom: t
            for t in arrangement.sums
            if t.kind == "loss" and not getattr(class_of(t.atom), "piecewise_linear", False)
        }
        reasons = [f"`{t.text}` is not piecewise linear" for t in curved.values()]
        reasons += [f"{b.name} has a quadratic term" for b in arrangement.blocks if b.ridges]
        return tuple(reasons)

    @classmethod
    def requires_values(cls, form: Canonical) -> tuple[str, ...]:
        """A linear program."""
        reasons = Interior.readable(form)
        if reasons:
            return reasons
        texts = [t.text for t in form.terms] + [b.text for b in form.blocks]
        for conic, text in zip(form.conics, texts, strict=True):
            assert conic is not None, "it is readable"
            curved = np.any(conic.curvature) or np.any(conic.extra_curvature)
            if curved or not all(cone.is_separable for cone in conic.cones):
                return (f"`{text}` is not of a linear program",)
        return ()

    @classmethod
    def estimate(cls, form: Canonical, tol: float) -> Estimate:
        """A solve, by the entries, and by the rows as far as factors fill up."""
        size = size_of(form)
        long = sum(t.map.rows for t in form.terms if t.map.nnz > t.map.rows or not t.map.nnz)
        seconds = SECONDS + OF_AN_ENTRY * (size.entries + size.unknowns + size.rows) + OF_A_ROW * float(long) ** 3
        memory = 200.0 * (size.entries + size.unknowns + size.rows) + 8.0 * float(min(long, 20_000)) ** 2
        why = f"one solve of {size.unknowns} unknowns and {size.rows} rows"
        return Estimate(STEPS, seconds, memory, why, TRUSTED)
