r"""The larger of two numbers, added up over samples, as the loss that it is.

    sum_i max(0, e_i)         =     sum(hinge(1 - e, 1))
    sum_i max(a r_i, b r_i)   =     (a - b) sum(quantile(-r, 0, a / (a - b)))     for numbers a > 0 > b

so that methods for losses know it. A multiplier of the two is a pair (p, q) of nonnegative numbers with p + q = c, the coefficient: that of -e is q,
and that of r is a p + b q.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...check import algebra, shapes
from ...light_dataclass import light_dataclass
from ...model import Expr, Term
from ...words import ABSOLUTE, HINGE, LOSSES, QUANTILE
from .draft import Draft, Duals, Key, RewritingStep
from .expressions import multiple_of, number_and_rest, parts, target_of, times


@light_dataclass
class Pair:
    """The term of a key with its coefficient: of what the two are multiples of the multiplier is `first` p + `second` q."""

    key: Key
    coefficient: Expr
    first: float
    second: float


@light_dataclass
class Pieces(RewritingStep):
    """The terms that were said as losses."""

    pairs: tuple[Pair, ...]
    fact: str

    def multipliers(self, duals: Duals) -> None:
        """p = (y - b c) / (a - b) and q = (a c - y) / (a - b), within 0 and c: each by itself, as one may be rounding beside the other."""
        for pair in self.pairs:
            y = duals.known.get(pair.key)
            if y is not None:
                c = abs(duals.reader.scalar(pair.coefficient))
                apart = pair.first - pair.second
                both = (y - pair.second * c) / apart, (pair.first * c - y) / apart
                duals.known[pair.key] = np.clip(np.stack(both, axis=1), 0.0, c).reshape(-1)

    def inward(self, duals: Duals) -> None:
        """y = a p + b q."""
        for pair in self.pairs:
            y = duals.known.get(pair.key)
            if y is not None:
                p, q = y.reshape(-1, 2).T
                duals.known[pair.key] = pair.first * p + pair.second * q


def pieced(draft: Draft) -> tuple[Draft, Pieces] | None:
    """The model with losses in the place of the larger of two; None where there is no such term."""
    terms, pairs, told = list(draft.model.terms), [], []
    for i, (key, term) in enumerate(zip(draft.terms, terms, strict=True)):
        two = _two(term)
        found = _as_loss(term, *two) if two is not None else None
        if found is not None:
            terms[i], first, second = found
            pairs.append(Pair(key, term.coefficient, first, second))
            told.append(f"`{term.text}` is a sum of `{terms[i].atom}`")
    if not pairs:
        return None
    return replace(draft, model=replace(draft.model, terms=tuple(terms))), Pieces(tuple(pairs), "; ".join(told))


def _two(term: Term) -> tuple[Expr, Expr] | None:
    """The two vectors of whose entries a term adds up the larger one; None of another term."""
    word, e = term.convex, term.argument
    if word is None or not (word.bounds_entries and word.rises and term.of_rows) or term.weights is not None:
        return None
    stack = e.args[0] if e.op == "transpose" else None
    if stack is None or stack.op != "vstack" or len(stack.args) != 2:
        return None
    first, second = stack.args
    return (first, second) if first.type.is_vector and second.type.is_vector else None


def _as_loss(term: Term, a: Expr, b: Expr) -> tuple[Term, float, float] | None:
    """The loss, and the multiples of its argument that the two are; None where they are none of one vector."""
    if _is_zero(a) or _is_zero(b):
        e = b if _is_zero(a) else a
        type_ = shapes.plain(e.type)
        z = algebra.add((times(-1.0, e), algebra.ONE), type_, e.span)
        loss = replace(
            term, kind="loss", atom=HINGE, argument=z, target=algebra.ones(e.type.array_shape), options=(), reduce="sum"
        )
        return loss, *((0.0, -1.0) if _is_zero(a) else (-1.0, 0.0))
    ratio = multiple_of(a, b)
    if ratio is None or not ratio < 0.0:
        return None
    live, constant = parts(b)
    target = target_of(constant, b.type.array_shape)
    loss = replace(term, kind="loss", atom=ABSOLUTE, argument=live, target=target, options=(), reduce="sum")
    if ratio == -1.0:
        return loss, -1.0, 1.0
    # of the residual target - live the positive part weighs -ratio, the negative one 1
    (share,) = LOSSES[QUANTILE].options
    level = algebra.const(-ratio / (1.0 - ratio))
    coefficient = algebra.times(algebra.const(1.0 - ratio), term.coefficient)
    return replace(loss, atom=QUANTILE, coefficient=coefficient, options=((share.name, level),)), ratio, 1.0


def _is_zero(e: Expr) -> bool:
    """True of a vector of zeros that is written out."""
    return e.is_constant and (e.op == "zeros" or number_and_rest(e)[0] == 0.0)
