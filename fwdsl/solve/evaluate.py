"""A term of the objective at a point, by the references."""

from __future__ import annotations

import numpy as np

from ..atoms.base import Array
from ..atoms.losses import LOSSES
from ..atoms.vectors import build
from ..canon.affine import AffineReader
from ..model import Term


def term_value(reader: AffineReader, term: Term, x: Array) -> float:
    """coefficient * reduce(atom(argument, target)) at x."""
    z = reader.stacked(term.argument).apply(x)
    c = reader.scalar(term.coefficient)
    if term.kind == "affine":
        return c * float(z[0])
    if term.kind == "loss":
        return c * _loss(reader, term, z)
    if term.atom == "sum_squares":
        return c * float(z @ z)
    norm = build((term.atom, 1.0), None, z.size)
    assert norm is not None
    return c * norm.value(z)


def _loss(reader: AffineReader, term: Term, z: Array) -> float:
    loss = LOSSES[term.atom]
    given = dict(term.options)
    p = np.array([reader.scalar(given[o.name]) if o.name in given else o.default for o in loss.parameters])
    assert term.target is not None
    values = loss.value_naive(z, reader.vector(term.target, z.size), p)
    if term.weights is not None:
        values = values * reader.vector(term.weights, z.size)
    return float(values.mean() if term.reduce == "mean" else values.sum())
