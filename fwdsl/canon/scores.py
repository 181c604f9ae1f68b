"""Linear costs of the scores that a loss is of, which other targets say where a target is no more than such a cost:

    log(1 + exp(-b z)) + b z               =  log(1 + exp(b z)),    b in {-1, 1}
    log sum_l exp(z_l) - z_y + z_y - z_k   =  log sum_l exp(z_l) - z_k
    exp(z) - b z - c z                     =  exp(z) - (b + c) z

So sum(logistic(z)) - dot(y, z) is the logistic loss with the labels 2 y - 1 where y has entries 0 and 1, and
sum(log_sum_exp(Z, axis=1)) - sum(Y * Z) that of softmax where the rows of Y are those of the identity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..atoms.base import Array, VectorFunction
from ..atoms.loss import LossFunction
from ..atoms.vector_loss import VectorLossFunction
from ..light_dataclass import light_dataclass
from ..model import Expr, Model, sizes_of
from .affine import AffineReader
from .parts import SumTerm
from .rewrites.expressions import multiple_of, number_and_rest


@light_dataclass
class Scored:
    """The places of the linear terms that are left once losses have taken costs of their scores, and sentences for the plan."""

    linear: tuple[int, ...]
    facts: tuple[str, ...]


def take_scores(reader: AffineReader, model: Model, terms: list[SumTerm], linear: Sequence[int], sense: int) -> Scored:
    """Have losses take the linear costs of their scores as targets, in `terms`; `linear` are the places of the linear terms."""
    left, facts = tuple(linear), list[str]()
    for t, term in enumerate(terms):
        f = term.f
        if not left or term.is_constraint or isinstance(f, VectorFunction) or f.loss.with_cost is None:
            continue
        found = {i: costs for i in left if (costs := _costs(reader, model, i, term, sense)) is not None}
        if not found:
            continue
        costs = np.sum(list(found.values()), axis=0)
        lacking = _first_scores(model, term)
        all_costs = costs if lacking is None else costs + lacking
        other = with_costs(f, all_costs if term.turned is None else term.turned * all_costs)
        if other is not None:
            terms[t] = replace(term, f=other, costs=costs)
            left = tuple(i for i in left if i not in found)
            facts += [f"`{model.terms[i].text}` is in the targets of `{term.text}`" for i in found]
    return Scored(left, tuple(facts))


def take_first_scores(model: Model, terms: list[SumTerm], q: Array) -> float:
    """Add to the linear cost q what functions that are losses of the class 0 lack, w_i z_i0 for each row i; the constant of it is returned."""
    constant = 0.0
    for t, term in enumerate(terms):
        lacking = None if term.costs is not None else _first_scores(model, term)
        if lacking is not None:
            terms[t] = replace(term, costs=-lacking)
            term.map.adjoint(lacking, q)
            constant += float(lacking @ term.map.offset)
    return constant


def _first_scores(model: Model, term: SumTerm) -> Array | None:
    """The costs that a function lacks where it is a loss of the class 0; None of others."""
    f = term.f
    if term.is_constraint or not isinstance(f, VectorLossFunction):
        return None
    word = model.terms[term.origin].convex
    if word is None or not word.as_row_loss:
        return None
    y = np.zeros(f.shape)
    y[:, 0] = f.w
    return y.reshape(-1)


def _costs(reader: AffineReader, model: Model, i: int, term: SumTerm, sense: int) -> Array | None:
    """c with the linear term i = <c, z> for the predictions z of a loss as they are written; None where it is no such cost."""
    linear, loss = model.terms[i], model.terms[term.origin]
    found = _weights_and_scores(linear.argument)
    if found is None:
        return None
    k, weights, scores = found
    multiple = multiple_of(scores, loss.argument)
    shape = sizes_of(scores.type, reader.instance.dims)
    if multiple is None or math.prod(shape) != term.f.size:
        return None
    # a mean is that of all entries
    k = k if _sums(linear.argument) else k / max(1, math.prod(shape))
    return sense * reader.scalar(linear.coefficient) * k * multiple * reader.vector(weights, term.f.size)


def _sums(e: Expr) -> bool:
    """False of a multiple of a mean."""
    return number_and_rest(e)[1].op != "mean"


def _weights_and_scores(e: Expr) -> tuple[float, Expr, Expr] | None:
    """(k, D, Z) of k dot(D, Z), k sum(D * Z), k sum((D * Z) @ ones) and k mean(D * Z); None of all else."""
    k, e = number_and_rest(e)
    if e.op in ("sum", "mean"):
        sums = e.op == "sum"
        c, e = number_and_rest(e.args[0])
        k *= c
        # a matrix of ones would add up each row several times
        if e.op == "matmul" and e.args[1].op == "ones" and e.args[1].type.is_vector and sums:
            c, e = number_and_rest(e.args[0])
            k *= c
        if e.op != "mul":
            return None
    elif e.op != "dot":
        return None
    weights, scores = e.args if e.args[0].is_constant else e.args[::-1]
    if not weights.is_constant or weights.type.array_shape != scores.type.array_shape:
        return None
    return k, weights, scores


def with_costs(f: LossFunction | VectorLossFunction, c: Array) -> LossFunction | VectorLossFunction | None:
    """z -> f(z) + <c, z> as the loss of other targets; None where it is none."""
    if f.loss.with_cost is None:
        return None
    w = f.w if isinstance(f, LossFunction) else f.w[:, None]
    c = c.reshape(w.shape[0], -1) if w.ndim > 1 else c
    of_one = np.divide(c, w, out=np.zeros(c.shape), where=w > 0.0)
    if np.any(c[f.w == 0.0]):
        return None
    if isinstance(f, LossFunction):
        b = f.loss.with_cost(f.b, of_one)
        return replace(f, b=b) if np.isfinite(b).all() else None
    y = f.loss.with_cost(f.y, of_one)
    return replace(f, y=y.astype(f.y.dtype)) if (y >= 0).all() else None
