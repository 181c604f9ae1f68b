"""A term of the objective at a point, by formulas in NumPy that share nothing with the canonical form's functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..atoms.losses import LOSSES, VECTOR_LOSSES
from ..canon.affine import AffineReader
from ..certify.factored import squared_norm, trace_norm
from ..low_rank import LowRank
from ..model import Term


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
    given = dict(term.options)
    if term.atom == "group_norm":
        groups = given["groups"].value if given["groups"].op == "list" else reader.constant(given["groups"])
        members: list[Any] = _members(groups)
        weights = reader.vector(given["weights"], len(members)) if "weights" in given else np.ones(len(members))
        return float(
            sum(w * np.linalg.norm(z[np.asarray(m, dtype=np.intp)]) for w, m in zip(weights, members, strict=True))
        )
    if term.atom == "quad_form":
        return float(z @ (reader.constant(given["P"]) @ z))
    return _FUNCTIONS[term.atom](z)


def _members(groups: Any) -> list[Any]:
    """The positions of each group, of a list of lists or of a group's number for each position."""
    if isinstance(groups, np.ndarray) and groups.ndim == 1:
        return [np.flatnonzero(groups == g) for g in range(int(groups.max()) + 1)]
    return list(groups)


def _entropy(z: Array) -> float:
    if np.any(z < 0.0):
        return float("inf")
    positive = z[z > 0.0]
    return float(positive @ np.log(positive))


def _norm_nuc(z: Any) -> float:
    return trace_norm(z) if isinstance(z, LowRank) else float(np.linalg.svd(z, compute_uv=False).sum())


def _sum_squares(z: Any) -> float:
    return squared_norm(z) if isinstance(z, LowRank) else float(np.vdot(z, z))


_FUNCTIONS: Mapping[str, Callable[[Array], float]] = {
    "norm1": lambda z: float(np.abs(z).sum()),
    "norm2": lambda z: float(np.linalg.norm(z)),
    "norm_inf": lambda z: float(np.abs(z).max(initial=0.0)),
    "sum_squares": _sum_squares,
    "norm_fro": lambda z: float(np.linalg.norm(z)),
    "norm_nuc": _norm_nuc,
    "norm_spec": lambda z: float(np.linalg.norm(z, 2)),
    "norm21": lambda z: float(np.linalg.norm(z, axis=1).sum()),
    "norm1_inf": lambda z: float(np.abs(z).max(axis=1).sum()),
    "entropy": _entropy,
}
