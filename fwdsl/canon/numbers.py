"""Coefficients and losses of terms, filled with an instance's numbers: what the dense and the factored form share."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..atoms.base import LossFunction
from ..atoms.losses import LOSSES
from ..model import Expr, Term
from .affine import AffineReader


def bare_factor(reader: AffineReader, expr: Expr) -> float:
    """|k| of an argument k * x."""
    if expr.op == "var":
        return 1.0
    if expr.op == "neg":
        return bare_factor(reader, expr.args[0])
    if expr.op == "div":
        return bare_factor(reader, expr.args[0]) / abs(reader.scalar(expr.args[1]))
    constant, live = expr.args if expr.args[0].is_constant else expr.args[::-1]
    return abs(reader.scalar(constant)) * bare_factor(reader, live)


def loss_function(reader: AffineReader, term: Term, atom: str, c: float, shape: tuple[int, ...]) -> LossFunction:
    """c times a loss term, of predictions of a shape: (samples, values of each)."""
    loss = LOSSES[atom]
    m, samples = math.prod(shape), shape[0] if shape else 1
    per_sample = m // max(1, samples)
    b = np.zeros(m) if term.target is None else reader.vector(term.target, m)
    w = np.full(m, c / samples if term.reduce == "mean" and samples else c)
    if term.weights is not None:
        w = w * np.repeat(reader.vector(term.weights, samples), per_sample)
    given: Mapping[str, Expr] = dict(term.options) if term.kind == "loss" else {}
    p = np.array([reader.scalar(given[o.name]) if o.name in given else o.default for o in loss.word.options])
    return LossFunction(loss, b, w, p)
