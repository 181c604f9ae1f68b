"""Weights that are all one number: with k in each entry of the data e, `dot(e, x)` is `k * sum(x)`, of which simplices are made.

A matrix of one row is taken for a vector: `E @ x == b` is then `k * sum(x) == sum(b)`. The numbers decide, so a program is rewritten for each such
set of them (`rewritten`).
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ...bind.instance import Instance
from ...check import algebra, shapes
from ...light_dataclass import light_dataclass
from ...model import ConstraintDecl, Expr, Model, once_per_model
from .draft import Draft, RewritingStep
from .expressions import Change, changed, times

Weights = tuple[tuple[str, float], ...]
"""Names of data vectors and of matrices of one row, each with the number that all its entries are."""


@light_dataclass
class EqualWeights(RewritingStep):
    """The sums in the place of products with equal weights. They are the same numbers, and so are their multipliers."""

    fact: str


def equal_weights(instance: Instance) -> Weights:
    """The weights of the program whose entries are all one number other than 0."""
    found = []
    for name in _weights(instance.model):
        values, stats = instance.values.get(name), instance.stats.get(name)
        if not isinstance(values, np.ndarray) or not values.size or (stats is not None and stats.mapped):
            continue
        if values.ndim == 2 and values.shape[0] != 1:
            continue
        k = float(values.flat[0])
        if k and math.isfinite(k) and bool((values == k).all()):
            found.append((name, k))
    return tuple(found)


@once_per_model
def _weights(model: Model) -> tuple[str, ...]:
    """The data that constraints multiply a variable by."""
    found = [_weighed(e) for c in model.constraints for e in c.argument.walk()]
    return tuple(dict.fromkeys(pair[0].name for pair in found if pair is not None))


def _weighed(e: Expr) -> tuple[Expr, Expr] | None:
    """(e, x) of a product of data and a variable that is a vector; None for another expression."""
    if e.op not in ("dot", "matmul") or len(e.args) != 2:
        return None
    for data, x in (e.args, e.args[::-1]) if e.op == "dot" else (e.args,):
        if data.op == "data" and x.op == "var" and x.type.is_vector:
            return data, x
    return None


def with_sums(draft: Draft, weights: Weights) -> Draft:
    """The model with `k * sum(x)` in place of products with such weights in its constraints."""
    known = dict(weights)

    def as_sum(e: Expr) -> Expr | None:
        pair = _weighed(e)
        if pair is None or pair[0].name not in known:
            return None
        return times(known[pair[0].name], algebra.make("sum", shapes.REAL, (pair[1],), span=e.span))

    def rewrite(c: ConstraintDecl) -> ConstraintDecl:
        if not c.argument.type.array_shape:
            return replace(c, argument=changed(c.argument, as_sum))
        argument = _as_number(c.argument, as_sum) if c.set is None else None
        return c if argument is None else replace(c, argument=argument)

    return replace(draft, model=replace(draft.model, constraints=tuple(map(rewrite, draft.model.constraints))))


def _as_number(e: Expr, as_sum: Change) -> Expr | None:
    """A vector of one entry as a number; None where it is not known to have one."""
    if not e.type.array_shape:
        return e if e.is_constant else None
    found = as_sum(e)
    if found is not None:
        return found
    if e.is_constant:
        return algebra.make("sum", shapes.REAL, (e,), span=e.span)
    if e.op == "neg":
        inner = _as_number(e.args[0], as_sum)
        return None if inner is None else algebra.negate(inner)
    if e.op == "add":
        parts = [_as_number(a, as_sum) for a in e.args]
        numbers = tuple(p for p in parts if p is not None)
        return algebra.add(numbers, shapes.REAL, e.span) if len(numbers) == len(parts) else None
    return None
