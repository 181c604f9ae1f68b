r"""Sums of the entries so far become variables where constraints hold them, as the stocks of a plan over time.

    f(C e) + h  subject to  C e in X     =     f(s) + h  subject to  s in X, (s_0, s_1 - s_0, ..., s_n - s_{n-1}) = e

with C e = cumsum(e). C as a matrix has n^2 / 2 numbers, the differences 2 n, so methods that factor matrices take a banded one. Multipliers of what
held C e are those of what holds s.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...atoms.base import Array
from ...check import algebra, shapes
from ...check.printer import format_typed
from ...light_dataclass import light_dataclass
from ...model import ConstraintDecl, Expr, SliceItem, Term, VarDecl, shift_dim
from ..affine import AffineReader
from .draft import Draft, RewritingStep
from .expressions import changed


@light_dataclass
class Accumulated(RewritingStep):
    """s in the place of `value`, which is cumsum(e)."""

    name: str
    value: Expr
    fact: str

    def enter(self, reader: AffineReader, x: Array) -> Array:
        """s at a point of the program as it is written."""
        return np.asarray(reader.stacked(self.value).apply(x))


def accumulated(draft: Draft) -> tuple[Draft, Accumulated] | None:
    """The model with a variable for the first `cumsum` that a constraint is of."""
    model = draft.model
    held = (e for c in model.constraints for e in c.argument.walk() if e.op == "cumsum" and e.variables)
    found = next((e for e in held if not e.type.is_family), None)
    if found is None:
        return None
    name = format_typed(found)
    s = Expr("var", shapes.of_shape(found.type.array_shape), name=name, variables=frozenset({name}), span=found.span)

    def instead(e: Expr) -> Expr | None:
        return s if e == found else None

    def term(t: Term) -> Term:
        return replace(t, argument=changed(t.argument, instead))

    def constraint(c: ConstraintDecl) -> ConstraintDecl:
        return replace(c, argument=changed(c.argument, instead))

    made = draft.changed((*model.variables, VarDecl(name, s.type, found.span)), term, constraint)
    e = found.args[0]
    argument = algebra.add((_steps(s, found.axis), algebra.negate(e)), shapes.of_shape(s.type.array_shape), found.span)
    equation = ConstraintDecl("eq", argument, name=name, text=f"the steps of `{name}`", span=found.span)
    draft = Draft(
        replace(made.model, constraints=(*made.model.constraints, equation)),
        made.terms,
        (*made.constraints, ("new", name)),
    )
    return draft, Accumulated(name, found, f"`{name}` is a variable, and its steps are what is added up")


def _steps(s: Expr, axis: int) -> Expr:
    """(s_0, s_1 - s_0, ...) along an axis."""
    shape = s.type.array_shape
    one = (*shape[:axis], 1, *shape[axis + 1 :])
    first: tuple[SliceItem, ...] = (*((None, None),) * axis, (0, 1))
    rest = (*shape[:axis], shift_dim(shape[axis], -1), *shape[axis + 1 :])
    parts = (
        algebra.make("slice", shapes.of_shape(one), (s,), value=first),
        algebra.make("diff", shapes.of_shape(rest), (s,), value=(1, axis)),
    )
    below = len(shape) == 2 and axis == 0
    return algebra.make("vstack" if below else "hstack", s.type, parts)
