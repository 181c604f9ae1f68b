"""Terms of the objective with an instance's numbers: coefficients, losses, and values by the references of the atoms."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..atoms.groups import members
from ..atoms.loss import Loss, LossFunction
from ..atoms.losses import LOSSES, VECTOR_LOSSES
from ..atoms.low_rank import LowRank, singular_values, squared_norm
from ..atoms.vectors.common import norm2
from ..bind.features import implicit_maps
from ..bind.instance import Instance
from ..model import Expr, Model, Term
from ..words import AXIS, CONVEX
from .affine import AffineReader
from .combined_maps import Compose, scaled, unscaled
from .maps import Column, Diagonal
from .pairs import build
from .parts import Block, Stacked


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


def samples_of(term: Term, shape: tuple[int, ...]) -> int:
    """The number that a mean over samples divides by, 1 for a sum; `shape` is that of the predictions or of the variable."""
    return max(1, shape[0]) if term.reduce == "mean" and shape else 1


def loss_function(reader: AffineReader, term: Term, atom: str, c: float, shape: tuple[int, ...]) -> LossFunction:
    """c times a loss term, of predictions of a shape: (samples, values of each)."""
    loss = LOSSES[atom]
    m, samples = math.prod(shape), shape[0] if shape else 1
    per_sample = m // max(1, samples)
    b = np.zeros(m) if term.target is None else reader.vector(term.target, m)
    w = np.full(m, c / samples if term.reduce == "mean" and samples else c)
    if term.weights is not None:
        entries = len(term.weights.type.array_shape) > 1
        w = w * (
            reader.vector(term.weights, m) if entries else np.repeat(reader.vector(term.weights, samples), per_sample)
        )
    return LossFunction(loss, b, w, _parameters(reader, term, loss))


def _parameters(reader: AffineReader, term: Term, loss: type[Loss]) -> Array:
    """The parameters of a loss, by the term's options where it is the loss itself; the defaults else."""
    options: Mapping[str, Expr] = dict(term.options) if term.kind == "loss" else {}
    return np.array([reader.scalar(options[o.name]) if o.name in options else o.default for o in loss.word.options])


def labels_of_signs(f: LossFunction, stacked: Stacked) -> tuple[LossFunction, Stacked, Array] | None:
    """f(d * (K x + b); y) = f(K x + b; d * y) of a loss of signs, d having entries of 1 and -1: the loss, its prediction, and d.

    None where there is no d.
    """
    if f.loss.word.target != "signs" or not stacked.parts:
        return None
    d: Array | None = None
    parts = []
    for block, m in stacked.parts:
        c, inner = unscaled(m)
        if isinstance(inner, Compose) and isinstance(inner.outer, Diagonal):
            own, rest = inner.outer.v, inner.inner
        elif isinstance(inner, Column):
            own, rest = np.sign(inner.v), Column(np.abs(inner.v))
        else:
            return None
        if not np.all(np.abs(own) == 1.0) or not (d is None or np.array_equal(d, own)):
            return None
        d = own
        parts.append((block, scaled(rest, c)))
    if d is None or np.all(d == 1.0):
        return None
    return replace(f, b=f.b * d), Stacked(tuple(parts), d * stacked.offset, stacked.shape), d


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
    blocks: Any = z if term.argument.type.is_family else (z,)  # a regulariser adds up over blocks
    return c * sum(_function(reader, term, block) for block in blocks)


def _loss(reader: AffineReader, term: Term, z: Array) -> float:
    """The mean or sum over samples; where predictions have several columns, an elementwise loss is added up over them."""
    samples = z.shape[0] if np.ndim(z) else 1
    if term.atom in VECTOR_LOSSES:
        assert term.target is not None
        codes = np.asarray(reader.constant(term.target), dtype=np.int64)
        values = VECTOR_LOSSES[term.atom].value_naive(z, codes)
    else:
        loss = LOSSES[term.atom]
        p = _parameters(reader, term, loss)
        z = np.asarray(z, dtype=np.float64)
        target = np.zeros(z.size) if term.target is None else reader.vector(term.target, z.size)
        each = loss.value_naive(z.reshape(-1), target, p)
        if term.weights is not None and len(term.weights.type.array_shape) > 1:
            each = weighted(reader.vector(term.weights, z.size), each)
        values = each.reshape(samples, -1).sum(axis=1)
    if term.weights is not None and len(term.weights.type.array_shape) == 1:
        values = weighted(reader.vector(term.weights, samples), values)
    return float(values.mean() if term.reduce == "mean" else values.sum())


def weighted(w: Array, values: Array) -> Array:
    """Values times their weights. What has no weight is 0 even where its value is infinite."""
    return np.where(w == 0.0, 0.0, w * np.where(w == 0.0, 0.0, values))


def _function(reader: AffineReader, term: Term, z: Any) -> float:
    word = CONVEX[term.atom]
    if isinstance(z, LowRank) and word.spectrum:
        return function_value(word.spectrum, singular_values(z), {})
    if isinstance(z, LowRank) and word.euclidean:
        return squared_norm(z)
    if term.of_rows and term.weights is not None:
        rows = [function_value(word.name, row, {}) for row in np.asarray(z)]
        return float(reader.vector(term.weights, len(rows)) @ np.array(rows))
    # literal groups are lists of positions
    options = {n: e.value if e.op == "list" else reader.constant(e) for n, e in term.options}
    return function_value(word.name, np.asarray(z), options)


def term_values(instance: Instance, blocks: Sequence[Block], x: Array) -> dict[str, float]:
    """The value of each term that a `let` names, coefficient included; terms of one name are added up."""
    by_name = {b.name: b for b in blocks}
    reader = AffineReader(instance, by_name)
    for name, phi in implicit_maps(instance.model).items():
        # x has the coordinates of these variables, and not their expansion coefficients
        basis = by_name[name].basis
        if basis is not None:
            reader.factors[id(reader.constant(phi))] = basis
    return named_values(instance.model, lambda _, term: term_value(reader, term, x))


def named_values(model: Model, value: Callable[[int, Term], float]) -> dict[str, float]:
    """The values of the terms that a `let` names; `value` has the one of a term and its place."""
    out: dict[str, float] = {}
    for i, term in enumerate(model.terms):
        if term.name:
            out[term.name] = out.get(term.name, 0.0) + value(i, term)
    return out


def function_value(name: str, z: Array, options: Mapping[str, Any]) -> float:
    """f(z) for a number, a vector or a matrix z; inf outside the domain. Raises `KeyError` for an unknown name."""
    word = CONVEX[name]
    if AXIS.name in options:
        own = {n: v for n, v in options.items() if n != AXIS.name}
        return math.fsum(function_value(name, row, own) for row in z)
    if word.grouped:
        # groups may overlap here, and have no weight
        return _group_norm(z, **options)
    if word.root_of:
        return float(z @ (options[word.root_of] @ z))
    if word.as_loss:
        return float(LOSSES[word.as_loss].value_naive(z, np.zeros_like(z), np.zeros(0)).sum())
    f = build((name, 1.0, options) if word.options else (name, 1.0), None, z.shape)
    flat = z.reshape(-1)
    return f.value(flat) if f.violation(flat) == 0.0 else math.inf


def _group_norm(z: Array, groups: Any, weights: Any = None) -> float:
    parts = members(groups)
    lengths = np.array([norm2(z[part]) for part in parts])
    if weights is not None:
        lengths = lengths * np.asarray(weights, dtype=np.float64)[: len(parts)]
    return float(lengths.sum())
