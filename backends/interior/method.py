"""The interior-point method for the planner: what it applies to and what it costs. `run` has the steps, and loads SciPy's factorisations."""

from __future__ import annotations

from fwdsl.atoms.base import VectorFunction
from fwdsl.atoms.losses import class_of
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends import costs
from fwdsl.backends.interior.sizes import LARGEST, MOST, least_of, size_of, unreadable
from fwdsl.backends.interior.state import InteriorState
from fwdsl.backends.method import Estimate, Method
from fwdsl.bind.data_operator import DataOperator
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.canon.parts import SumTerm

__all__ = ["Interior", "InteriorState"]

STEPS = 15.0
"""Factorisations of a solve, measured on linear programs of up to 1,200 rows and on trend filtering of 20,000 points."""

TRUSTED = 2.5
"""The multiple of its predicted passes that a run may take: 10 to 35 factorisations, whatever the problem."""

SECONDS_A_STEP, OF_A_ROW = 4e-4, 1.5e-7
"""Seconds of a step beside what grows with the system, and those of the vectors for each unknown and row."""


SOON, SOON_OF_EQUALITIES = 400, 100
"""Unknowns, and equalities of the dual among them, up to which a repair of a candidate takes no longer than a step: with 130 to 300 equalities it
took two to eight times as long on programs of signals, whose steps see an unknown with its neighbours alone."""

SET_UP = 2e-3
"""Seconds of writing a conic program down, of any size."""

OF_WRITING_DOWN = {"whole": 3e-8, "condensed": 1e-7, "reduced": 2e-7, "sparse": 2e-7}
"""The same for each number of it, by the kind of the system."""

OF_THREE, OF_A_ROW_OF_THREE = 6e-4, 4e-7
"""Seconds of a step with cones of three rows, and for each of these rows: logarithms, and steps that are searched for."""


class Interior(Method):
    """A primal-dual interior-point method for conic forms: linear, quadratic, second-order, semidefinite, exponential and power cones."""

    name = "interior"
    title = "primal-dual interior-point method on the homogeneous embedding, with factorisations"
    source = "Goulart, Chen 2024; Vandenberghe 2010; Mehrotra 1992; Dahl, Andersen 2022"
    on_host = "factors the systems of its steps"
    most_iterations = 200
    runs_in = "fwdsl.backends.interior.run"
    least_seconds = STEPS * SECONDS_A_STEP

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Losses with a conic form; of norms and sets their numbers tell."""
        losses = {t.atom: t for t in arrangement.sums if t.kind == "loss" and class_of(t.atom).conic is None}
        return tuple(f"`{t.text}` has no conic form" for t in losses.values())

    @classmethod
    def requires_values(cls, form: Canonical) -> tuple[str, ...]:
        """Functions with a conic form, and systems that fit."""
        reasons = cls.readable(form)
        if reasons:
            return reasons
        order = size_of(form).order
        return (f"its dense systems would have {order:,} rows, over {LARGEST:,}",) if order > LARGEST else ()

    @classmethod
    def outruns_repairs(cls, form: Canonical) -> int:
        """The first one, but for few unknowns, and few equalities: those of unknowns that nothing bounds or bends."""
        equalities = sum(b.size for b in form.blocks if b.g.pair == (None, None) and b.g.curvature == 0.0)
        return int(form.size > SOON or equalities > SOON_OF_EQUALITIES)

    @classmethod
    def readable(cls, form: Canonical) -> tuple[str, ...]:
        """Reasons why the conic program cannot be written down; empty where it can."""
        each = [t.f.loss.conic_rows if isinstance(t.f, VectorLossFunction) else 1 for t in form.terms]
        rows = form.size + sum(t.map.rows * rows for t, rows in zip(form.terms, each, strict=True))
        if rows > MOST:
            return (f"its systems would have {rows:,} unknowns and rows or more, over {MOST:,}",)
        reason = unreadable(form)
        if reason:
            return (reason,)
        products = [name for name, value in form.instance.values.items() if isinstance(value, DataOperator)]
        return tuple(f"`{name}` is known by its products alone, and its systems need the entries" for name in products)

    @classmethod
    def least(cls, form: Canonical) -> float:
        """The seconds of the unknowns, the rows of terms that have any and products with the data, for which no conic form is written down."""
        order = form.size + sum(t.map.rows for t in form.terms if _has_rows(t))
        a_step = SECONDS_A_STEP + OF_A_ROW * order + least_of(form, order)
        return STEPS * a_step + costs.seconds(form, 2.0 * STEPS, 0.0)

    @classmethod
    def estimate(cls, form: Canonical, tol: float) -> Estimate:
        """Some factorisations of a symmetric system."""
        size = size_of(form)
        unknowns, rows = size.unknowns, size.rows
        a_step = SECONDS_A_STEP + OF_A_ROW * (unknowns + rows) + min(size.seconds, size.quick) + size.turns
        once = size.once
        if costs.is_over_rows(form):
            # other programs have it in what is fitted to them
            once += SET_UP + OF_WRITING_DOWN[size.kind] * size.entries
            a_step += OF_THREE + OF_A_ROW_OF_THREE * size.of_three if size.of_three else 0.0
        why = f"about {STEPS:.0f} factorisations of a system of {unknowns + rows} unknowns and rows"
        return Estimate(
            2.0 * STEPS,
            STEPS * a_step + once + costs.seconds(form, 2.0 * STEPS, 0.0),
            size.memory + 16.0 * size.entries,
            why,
            TRUSTED,
        )

    @classmethod
    def tells(cls, form: Canonical) -> tuple[str, ...]:
        """The rows and unknowns that it takes out of the conic program, and the parts that it factors apart."""
        if not any(t.is_constraint for t in form.terms):
            return ()
        from fwdsl.backends.interior.apart import parts_of
        from fwdsl.backends.interior.presolve import Presolved, presolved
        from fwdsl.backends.interior.program import ConicProgram

        program = presolved(ConicProgram.of(form, lambda: None), lambda: None)
        told = [program.counts.describe()] if isinstance(program, Presolved) else []
        parts = parts_of(program.A, program.P, program.batches) if size_of(form).kind == "condensed" else ()
        told += [f"{len(parts)} parts that share no row, each factored by itself"] if parts else []
        return (f"presolve: {'; '.join(told)}",) if told else ()


def _has_rows(term: SumTerm) -> bool:
    """True if the conic form of a term has a row for each of its own or more: all have but quadratic ones."""
    return not term.is_smooth or (not isinstance(term.f, VectorFunction) and not costs.is_quadratic_loss(term))
