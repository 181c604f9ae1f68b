"""Whether what was found out needs more than the program's text: files, data, the command line."""

from __future__ import annotations

from collections.abc import Iterator

from ..grammar.source import Span
from ..instance import Instance
from ..model import Constraint, Expr, Model, SetRef

DECLARED = "the declaration"
"""The origin of a value that the program's text gives: a literal, or the default of a parameter."""


def follows_from_text(instance: Instance, span: Span) -> bool:
    """Whether all values that the constraint at `span` and those on the same variables hold are the program's own."""
    constraints = instance.model.constraints
    variables = {v for c in constraints if c.span == span for v in c.argument.variables}
    related = [c for c in constraints if c.argument.variables & variables]
    return all(_is_declared(instance, e) for c in related for e in _expressions(c))


def _expressions(constraint: Constraint) -> Iterator[Expr]:
    yield constraint.argument
    set_: SetRef | None = constraint.set
    while set_ is not None:
        yield from (e for _, e in set_.args)
        set_ = set_.inner


def _is_declared(instance: Instance, expr: Expr | None) -> bool:
    """Whether every name in an expression has its value from the text; defaults are looked into."""
    if expr is None:
        return True
    defaults = {p.name: p.default for p in instance.model.params}
    return all(
        _names_a_literal(instance.model, e.name)
        if e.op == "dim"
        else instance.origins.get(e.name) == DECLARED and _is_declared(instance, defaults.get(e.name))
        for e in expr.walk()
        if e.op in ("dim", "data", "param")
    )


def _names_a_literal(model: Model, dimension: str) -> bool:
    """Whether a dimension is the size of a literal."""
    return any(d.literal is not None and dimension in d.type.array_shape for d in model.data)
