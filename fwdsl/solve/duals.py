"""Multipliers by constraint: the derivative of the optimal value in a constraint's right-hand side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..atoms.base import Array, VectorFunction
from ..atoms.domain import set_beneath
from ..atoms.family import Repeated
from ..atoms.matrices import Lines, Spectral, dual_norm
from ..atoms.vectors import Joint, Norm, Ridged
from ..atoms.vectors.group_norm_group_ball import GroupNormGroupBall
from ..canon.affine import AffineReader
from ..canon.form import Block, Canonical
from ..model import Constraint

#: The dual norm that is the multiplier of a ball's radius, of the part of the dual that is normal to the ball.
_BALLS = {
    "l1_ball": "linf",
    "l2_ball": "l2",
    "linf_ball": "l1",
    "fro_ball": "l2",
    "nuclear_ball": "spectral",
    "spectral_ball": "nuclear",
    "l21_ball": "l2inf",
    "l1_inf_ball": "l1inf",
}

#: The ball of each norm: on it the multipliers of both lie along one direction.
_OWN_BALLS = {
    "norm1": "l1_ball",
    "norm2": "l2_ball",
    "norm_inf": "linf_ball",
    "group_norm": "group_ball",
    "norm_fro": "fro_ball",
    "norm_nuc": "nuclear_ball",
    "norm_spec": "spectral_ball",
    "norm21": "l21_ball",
    "norm1_inf": "l1_inf_ball",
}

#: Sets of a given sum or trace: the largest entry or eigenvalue of the normal, and zero where the sum may be less.
_SIMPLICES = ("simplex", "solid_simplex")
_SPECTRAHEDRA = ("spectrahedron", "solid_spectrahedron")

#: Balls whose dual norm has parameters of its own, which the set itself knows: its support function is r times that norm.
_GAUGES = ("group_ball", "ksupport_ball")


def _radius_dual(name: str, v: Array, shape: tuple[int, ...], set_: Any = None) -> float:
    """d(optimal value) / d(radius) of a set with normal v; `set_` is the set itself, which _GAUGES need."""
    if name in _GAUGES:
        return -float(set_.conjugate(v)) / float(set_.r)
    if name in _BALLS:
        return -dual_norm(_BALLS[name], v, shape)
    if name in _SPECTRAHEDRA:
        square = v.reshape(shape)
        v = np.asarray(np.linalg.eigvalsh(0.5 * (square + square.T)), dtype=np.float64)
    largest = float(v.max(initial=-np.inf)) if v.size else 0.0
    return -max(0.0, largest) if name.startswith("solid") else -largest


def _has_radius(name: str | None) -> bool:
    return name in _BALLS or name in _SIMPLICES or name in _SPECTRAHEDRA or name in _GAUGES


# the multipliers of a run whose numbers overflowed do so too, which its status says
@np.errstate(over="ignore", invalid="ignore")
def constraint_duals(canonical: Canonical, x: Array, ys: Sequence[Array]) -> dict[str, Any]:
    """d(optimal value) / d(right-hand side) for each constraint, in the user's sense; empty without a dual point.

    For a bounded norm it is the derivative in the bound as written (r of `2 * norm1(x) <= r`), for a set with a radius that in the radius;
    for `<=`, `>=`, `==` between affine expressions an array (a number where the constraint is one); for `nonnegative` and `box` the
    derivative in a shift of the bounds, entry by entry. Of several constraints that were merged into one set, those that are not the
    binding one get 0.
    """
    if len(ys) != len(canonical.terms):
        return {}
    out: dict[str, Any] = {}
    v = -canonical.q
    for term, y in zip(canonical.terms, ys, strict=True):
        term.map.adjoint(-y, v)
    reader = AffineReader(canonical.instance, {b.name: b for b in canonical.blocks})
    for constraint, places in zip(canonical.instance.model.constraints, canonical.constraint_place, strict=True):
        shape = reader.shape(constraint.argument)
        # a constraint that says nothing moves nothing
        value: float | Array = 0.0 if places else np.zeros(shape)
        for where, k in places:
            if where == "block":
                value = value + _of_block(constraint, canonical.blocks[k], x, v, reader)
                continue
            term = canonical.terms[k]
            side = term.side
            if side is None or (constraint.set is not None and constraint.set.name in _GAUGES and hasattr(term.f, "r")):
                value = value + _of_term(constraint, np.asarray(ys[k]), reader, term.f)
            else:
                value, shape = value - side.map.adjoint(np.asarray(ys[k])), side.shape
        if isinstance(value, np.ndarray) and value.size == math.prod(shape):
            value = value.reshape(shape) if shape else float(value.reshape(-1)[0])
        out[constraint.name] = canonical.sense * value
    return out


def _block_normal(block: Block, x: Array, v: Array) -> Array:
    """The part of v that is normal to the set: v less the gradients of ridge and norm at x."""
    xb, vb = x[block.slice], v[block.slice]
    rest = vb - block.g.curvature * xb
    return _normal(block.g.inner if isinstance(block.g, Ridged) else block.g, xb, rest)


def _normal(g: VectorFunction, x: Array, rest: Array) -> Array:
    """Of `rest`, which is a subgradient at x of a norm and normal to its set together, what is normal."""
    norm, set_ = g.pair
    if norm is None:
        return rest
    if isinstance(g, Repeated):
        parts = zip(x.reshape(g.count, -1), rest.reshape(g.count, -1), strict=True)
        return np.concatenate([_normal(g.inner, a, b) for a, b in parts])
    if isinstance(g, Lines):
        return g.flat(np.array([_normal(g.inner, a, b) for a, b in zip(g.lines(x), g.lines(rest), strict=True)]))
    f = g.inner if isinstance(g, Spectral) else g
    if not isinstance(f, Norm | Joint):
        return rest
    c = f.c
    if _OWN_BALLS.get(norm) == set_:
        # rest is in c + tau times a face of the dual ball, tau the multiplier
        if isinstance(f, GroupNormGroupBall):
            size = f.on.parts.dual(rest)
        else:
            size = dual_norm(
                _BALLS[str(set_)], rest, getattr(g, "shape", getattr(getattr(f, "on", None), "shape", (g.size,)))
            )
        return rest * max(0.0, 1.0 - c / max(size, 1e-300))
    if norm == "norm1" and set_ in ("simplex", "solid_simplex", "nonnegative"):
        # the norm is c * sum there
        return rest - c
    if norm == "norm_nuc" and set_ in ("psd", *_SPECTRAHEDRA):
        # and the trace norm c * trace
        return rest - c * np.eye(math.isqrt(g.size)).reshape(-1)
    if norm == "norm1":
        return rest - np.where(x != 0.0, c * np.sign(x), np.clip(rest, -c, c))
    if norm == "entropy":
        return np.where(x > 0.0, rest - c * (1.0 + np.log(np.where(x > 0.0, x, 1.0))), np.minimum(rest, 0.0))
    length = float(np.linalg.norm(x))
    return rest - c * x / length if length > 0.0 else np.zeros_like(rest)


def _set_of(g: VectorFunction) -> Any:
    """The set beneath a ridge and a norm; of a family that of each block."""
    on = set_beneath(g)
    return on.inner if isinstance(on, Repeated) else on


def _of_block(constraint: Constraint, block: Block, x: Array, v: Array, reader: AffineReader) -> float | Array:
    normal, merged = _block_normal(block, x, v), block.g.pair[1]
    own = constraint.set.name if constraint.set is not None else None
    if merged in ("simplex", "solid_simplex") and own == "nonnegative":
        # on the simplex the normal is the sum's multiplier in every entry, less that of each bound
        return -_radius_dual(str(merged), normal, block.shape) - normal
    if merged == "box" and own in ("box", "linf_ball", "nonnegative"):
        set_ = _set_of(block.g)
        lo, hi = own_bounds(constraint, set_.size, reader)
        # of a family the bounds are those of each block
        normal = normal.reshape(-1, set_.size)
        binding = ((normal < 0.0) & (lo == set_.lo)) | ((normal > 0.0) & (hi == set_.hi))
        normal = np.where(binding, normal, 0.0).reshape(-1)
    elif _has_radius(own) and merged == own:
        assert constraint.set is not None
        if reader.scalar(dict(constraint.set.args)["r"]) > getattr(_set_of(block.g), "r", math.inf):
            return 0.0
    return _of_set(own if own is not None else str(merged), constraint, normal, reader, _set_of(block.g))


def _of_term(constraint: Constraint, y: Array, reader: AffineReader, f: Any) -> float | Array:
    if constraint.set is not None:
        return _of_set(constraint.set.name, constraint, y, reader, f)
    sign = 1.0 if constraint.flipped else -1.0
    return sign * float(y[0]) if y.size == 1 else sign * y


def _of_set(name: str, constraint: Constraint, normal: Array, reader: AffineReader, set_: Any) -> float | Array:
    if not _has_radius(name) or constraint.argument.type.kind == "family":
        return -normal
    value = _radius_dual(name, normal, reader.shape(constraint.argument), set_)
    if constraint.factor is None or constraint.set is None:
        return value
    # radius = r / factor, or the root of it
    factor = reader.scalar(constraint.factor)
    radius = reader.scalar(dict(constraint.set.args)["r"])
    return value / (2.0 * radius * factor) if constraint.squared else value / factor


def own_bounds(constraint: Constraint, size: int, reader: AffineReader) -> tuple[Array, Array]:
    """The bounds that one box-like constraint states."""
    assert constraint.set is not None
    args = dict(constraint.set.args)
    if constraint.set.name == "nonnegative":
        return np.zeros(size), np.full(size, np.inf)
    if constraint.set.name == "linf_ball":
        r = reader.scalar(args["r"])
        return np.full(size, -r), np.full(size, r)
    return reader.vector(args["lo"], size), reader.vector(args["hi"], size)
