r"""A variable that an equality defines is replaced by what it is equal to.

    min f(s) + h(x)  subject to  k s + E x + e = 0     =     min over x of f(-(E x + e) / k) + h(x)

so residuals with a name (`s == X @ w - y`), and differences of two nonnegative parts (`u - v == y - X @ w`), are what they stand for. The
multiplier of the equality balances the terms of s: y = (-q_s - sum over them of K_s'y) / k.
"""

from __future__ import annotations

from dataclasses import replace

from ...atoms.base import Array
from ...light_dataclass import light_dataclass
from ...model import ConstraintDecl, Expr, Term
from ..affine import AffineReader
from .draft import Draft, Duals, Key, RewritingStep
from .expressions import Split, number_and_rest, replaced, split, times

MOST_USES = 2
"""The places where a variable may stand besides its equality: each is to be computed by itself afterwards."""


@light_dataclass
class Definition(RewritingStep):
    """k s + rest == 0, `key` being the equality's. `held` are the terms and constraints of s, with the number that multiplies s in each."""

    name: str
    k: float
    value: Expr
    key: Key
    held: tuple[tuple[Key, float], ...]
    fact: str

    def place(self, reader: AffineReader, x: Array, known: dict[Key, Array]) -> None:
        """s = -rest / k."""
        x[reader.blocks[self.name].slice] = reader.stacked(self.value).apply(x)

    def multipliers(self, duals: Duals) -> None:
        """y of the equality, from the terms of s."""
        duals.known[self.key] = duals.left(self.name, dict(self.held)) / self.k


def defined(draft: Draft) -> tuple[Draft, Definition] | None:
    """The model without the first variable that an equality defines, and may be replaced."""
    for i, constraint in enumerate(draft.model.constraints):
        # what a rewriting made may be of variables that the program as it is written does not have
        if constraint.relation != "eq" or draft.constraints[i][0] == "new":
            continue
        for variable in draft.model.variables:
            if variable.name not in constraint.argument.variables or not (
                variable.type.is_vector or variable.type.is_scalar
            ):
                continue
            if variable.type.array_shape != constraint.argument.type.array_shape:
                continue
            found = split(constraint.argument, variable.name)
            if found is not None and found.k and found.rest is not None and found.rest.variables:
                made = _without(draft, i, variable.name, found)
                if made is not None:
                    return made
    return None


def _without(draft: Draft, i: int, name: str, found: Split) -> tuple[Draft, Definition] | None:
    terms, constraints = draft.using(name)
    model = draft.model
    constraints = [j for j in constraints if j != i]
    # what bounds an expression of several variables would only get longer
    if any(model.constraints[j].relation != "in" or model.constraints[j].argument.op != "var" for j in constraints):
        return None
    convex = [j for j in terms if model.terms[j].kind != "affine"]
    if len(convex) + len(constraints) > MOST_USES or not (convex or constraints):
        return None
    held: list[tuple[Key, float]] = [(draft.constraints[j], 1.0) for j in constraints]
    for j in convex:
        c, rest = number_and_rest(model.terms[j].argument)
        held += [(draft.terms[j], c)] if rest.op == "var" else []
    assert found.rest is not None
    value = times(-1.0 / found.k, found.rest)
    rest_of = draft.without(name, [], [i], [])

    def term(t: Term) -> Term:
        return replace(t, argument=replaced(t.argument, name, value)) if name in t.argument.variables else t

    def constraint(c: ConstraintDecl) -> ConstraintDecl:
        return replace(c, argument=replaced(c.argument, name, value)) if name in c.argument.variables else c

    made = rest_of.changed(rest_of.model.variables, term, constraint)
    fact = f"{name}: `{model.constraints[i].text}` says what it is, and that stands in its place"
    return made, Definition(name, found.k, value, draft.constraints[i], tuple(held), fact)
