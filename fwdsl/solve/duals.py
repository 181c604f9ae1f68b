"""Multipliers by constraint: the derivative of the optimal value in a constraint's right-hand side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..canon.form import Block, Canonical
from ..model import Constraint

_RADIUS_DUAL = {
    "l1_ball": lambda v: -float(np.abs(v).max(initial=0.0)),
    "l2_ball": lambda v: -float(np.linalg.norm(v)),
    "linf_ball": lambda v: -float(np.abs(v).sum()),
    "simplex": lambda v: -float(v.max(initial=-np.inf)) if v.size else 0.0,
    "solid_simplex": lambda v: -max(0.0, float(v.max(initial=0.0))),
}


def constraint_duals(canonical: Canonical, x: Array, ys: Sequence[Array]) -> dict[str, Any]:
    """d(optimal value) / d(right-hand side) for each constraint, in the user's sense; empty without a dual point.

    For a set with a radius it is the derivative in the radius; for `<=`, `>=`, `==` an array (a number where the constraint is one); for
    `nonnegative` and `box` the derivative in a common shift of the bounds, entry by entry. Where several constraints were merged
    into one set, the multiplier is that set's.
    """
    if len(ys) != len(canonical.terms):
        return {}
    out: dict[str, Any] = {}
    v = -canonical.q
    for term, y in zip(canonical.terms, ys, strict=True):
        term.map.adjoint(-y, v)
    for constraint, (where, k) in zip(canonical.instance.model.constraints, canonical.constraint_place, strict=True):
        if where == "none":
            continue
        normal = _block_normal(canonical.blocks[k], x, v) if where == "block" else np.asarray(ys[k])
        value = _multiplier(constraint, normal, canonical.blocks[k].g.pair[1] if where == "block" else None)
        out[constraint.name] = canonical.sense * value
    return out


def _block_normal(block: Block, x: Array, v: Array) -> Array:
    """The part of v that is normal to the set: v less the gradients of ridge and norm at x."""
    xb, vb = x[block.slice], v[block.slice]
    rest = vb - block.g.curvature * xb
    coercive = block.g.coercive() if block.g.pair[0] is not None else None
    if coercive is None:
        return rest
    c, _ = coercive
    if block.g.pair[0] == "norm1":
        return rest - np.clip(rest, -c, c)
    length = float(np.linalg.norm(xb))
    return rest - c * xb / length if block.g.pair[0] == "norm2" and length > 0.0 else rest


def _multiplier(constraint: Constraint, normal: Array, merged: str | None) -> float | Array:
    name = merged or (constraint.set.name if constraint.set is not None else None)
    if name in _RADIUS_DUAL:
        return _RADIUS_DUAL[name](normal)
    sign = 1.0 if constraint.flipped else -1.0
    if constraint.set is not None:
        return -normal
    return sign * float(normal[0]) if normal.size == 1 else sign * normal
