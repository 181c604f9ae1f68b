"""A term of the objective at a point, by the references of its atom; of a matrix that is kept as factors by the factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..atoms.base import Array
from ..atoms.losses import LOSSES, VECTOR_LOSSES
from ..atoms.low_rank import LowRank, singular_values, squared_norm
from ..atoms.values import function_value
from ..model import Term
from ..words import CONVEX
from .affine import AffineReader


def term_value(reader: AffineReader, term: Term, x: Array) -> float:
    """coefficient * reduce(atom(argument, target)) at x."""
    stacked = reader.stacked(term.argument)
    return value_at(reader, term, stacked.apply(x).reshape(stacked.shape))


def value_at(reader: AffineReader, term: Term, z: Any) -> float:
    """coefficient * reduce(atom(z, target)) at the value z of the argument."""
    c = reader.scalar(term.coefficient)
    if term.kind == "affine":
        return c * float(np.reshape(z, -1)[0])
    if term.kind == "loss":
        return c * _loss(reader, term, z)
    blocks: Any = z if term.argument.type.kind == "family" else (z,)  # a regulariser adds up over blocks
    return c * sum(_function(reader, term, block) for block in blocks)


def _loss(reader: AffineReader, term: Term, z: Array) -> float:
    """The mean or sum over samples; where predictions have several columns, an elementwise loss is added up over them."""
    assert term.target is not None
    samples = z.shape[0] if z.ndim else 1
    if term.atom in VECTOR_LOSSES:
        codes = np.asarray(reader.constant(term.target), dtype=np.int64)
        values = VECTOR_LOSSES[term.atom].value_naive(z, codes)
    else:
        loss = LOSSES[term.atom]
        given = dict(term.options)
        p = np.array([reader.scalar(given[o.name]) if o.name in given else o.default for o in loss.word.options])
        each = loss.value_naive(z.reshape(-1), reader.vector(term.target, z.size), p)
        values = each.reshape(samples, -1).sum(axis=1)
    if term.weights is not None:
        values = values * reader.vector(term.weights, samples)
    return float(values.mean() if term.reduce == "mean" else values.sum())


def _function(reader: AffineReader, term: Term, z: Any) -> float:
    word = CONVEX[term.atom]
    if isinstance(z, LowRank) and word.spectrum:
        return function_value(word.spectrum, singular_values(z), {})
    if isinstance(z, LowRank) and word.euclidean:
        return squared_norm(z)
    # literal groups are lists of positions
    options = {n: e.value if e.op == "list" else reader.constant(e) for n, e in term.options}
    return function_value(word.name, np.asarray(z), options)
