"""Accelerated gradient on the dual for the planner: what it applies to and what it costs."""

from __future__ import annotations

import math

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.losses import class_of, smoothness
from fwdsl.backends import costs
from fwdsl.backends.method import Estimate, Method, State
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical, once_per_form
from fwdsl.light_dataclass import light_state
from fwdsl.words import CONVEX

NS_PER_NUMBER, NS_PER_ROW, NS_PER_UNKNOWN = 2.0, 4.0, 3.0
"""Nanoseconds of an iteration for each stored number, row and unknown."""

SHARE = 0.3
"""The share of the iterations that the theorem asks for, measured on pictures of 16 x 16 to 512 x 512: 0.1 to 1."""

SECONDS_A_STEP = 1.5e-5
"""Seconds of the calls of an iteration."""


@light_state
class DualGradientState(State):
    """The state of a run of `dual_gradient`; rows are in the order of their groups."""

    y: Array  # the multipliers
    ahead: Array  # the point beyond them that the next step starts from
    since: int = 0  # steps since the last restart
    restarts: int = 0  # restarts so far
    objective: float = math.inf  # P when it was measured last
    bound: float = -math.inf  # D there

    def counts(self) -> dict[str, int]:
        """The restarts."""
        return {"restarts": self.restarts}


class DualGradient(Method):
    """Accelerated projected gradient on the dual; no options."""

    name = "dual_gradient"
    title = "accelerated gradient on the dual of squares of entries, with lengths of sparse rows (total variation of pictures)"
    source = "Beck, Teboulle 2009; O'Donoghue, Candes 2015"
    most_iterations = 200_000
    runs_in = "fwdsl.backends.dual_gradient.run"
    least_seconds = 50 * SECONDS_A_STEP

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Quadratic losses, and sums of sizes or lengths; of entries and rows the numbers tell."""
        reasons = []
        for term in arrangement.sums:
            if term.kind == "loss":
                loss = class_of(term.atom)
                if not (getattr(loss, "quadratic", False) or getattr(loss, "piecewise_linear", False)):
                    reasons.append(f"`{term.text}` is neither quadratic nor a sum of sizes")
            elif term.is_constraint or term.atom not in CONVEX or not _adds(term.atom):
                reasons.append(f"`{term.text}` is no sum of lengths of rows")
        if not reasons and all(term.kind == "loss" and smoothness(term.atom) for term in arrangement.sums):
            reasons.append("no term is a sum of lengths of rows")
        return tuple(reasons)

    @classmethod
    def requires_values(cls, form: Canonical) -> tuple[str, ...]:
        """Losses of entries, and few entries in a row."""
        from fwdsl.backends.dual_gradient.parts import parts_of

        found = parts_of(form)
        return (found,) if isinstance(found, str) else ()

    @classmethod
    def estimate(cls, form: Canonical, tol: float) -> Estimate:
        """The iterations after which the theorem of accelerated gradient promises the tolerance, by the size of the multipliers' domain."""
        from fwdsl.backends.dual_gradient.parts import parts_of

        found = parts_of(form)
        assert not isinstance(found, str), "`requires_values` has found the parts"
        rows = found[1]
        size = max(_size(form), 1e-300)
        steps = SHARE * math.sqrt(2.0 * rows.far / (tol * size))
        steps = max(20.0, min(steps, 1e7))
        each = SECONDS_A_STEP + 1e-9 * (
            NS_PER_NUMBER * rows.K.entry.size + NS_PER_ROW * rows.offset.size + NS_PER_UNKNOWN * form.size
        )
        memory = costs.memory(form, 12, 6) + 16.0 * rows.K.entry.size
        return Estimate(2.0 * steps, steps * each, memory, f"about {steps:.0f} iterations of one K x and one K'y")


def _adds(atom: str) -> bool:
    return CONVEX[atom].adds_sizes or CONVEX[atom].adds_lengths


@once_per_form
def _size(form: Canonical) -> float:
    """The size that the objective is taken to have at its optimum: that at the minimiser of the sum over entries, or at 0 where that is less."""
    from fwdsl.backends.dual_gradient.parts import parts_of

    found = parts_of(form)
    assert not isinstance(found, str)
    e = found[0]
    u = -e.slope
    x = np.clip(np.sign(u) * np.maximum(np.abs(u) - e.weight, 0.0) / e.curvature, e.lo, e.hi)
    return min(_objective(form, x), _objective(form, np.clip(np.zeros_like(x), e.lo, e.hi)))


def _objective(form: Canonical, x: Array) -> float:
    """The sizes of the terms at x together."""
    total = abs(form.constant + float(form.q @ x)) + sum(abs(t.value(t.map.apply(x))) for t in form.terms)
    return total + sum(abs(b.g.value(x[b.slice])) for b in form.blocks)
