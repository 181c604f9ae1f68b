"""Multipliers by constraint: the derivative of the optimal value in a constraint's right-hand side."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..atoms.base import Array, VectorFunction
from ..atoms.family import Repeated
from ..atoms.vectors import ConvexSet
from ..canon.affine import AffineReader
from ..canon.form import Canonical
from ..canon.parts import Block
from ..canon.sets import part_of_bounds, stated
from ..certify.verified import DualBound
from ..model import ConstraintDecl
from ..words import SETS, SetWord


# the multipliers of a run whose numbers overflowed do so too, which its status says
@np.errstate(over="ignore", invalid="ignore")
def constraint_duals(canonical: Canonical, x: Array, bound: DualBound) -> dict[str, object]:
    """d(optimal value) / d(right-hand side) for each constraint, in the user's sense; empty without a dual point.

    For a bounded norm it is the derivative in the bound as written (r of `2 * norm1(x) <= r`), for a set with a radius that in the radius;
    for `<=`, `>=`, `==` between affine expressions an array (a number where the constraint is one); for `nonnegative` and `box` the
    derivative in a shift of the bounds, entry by entry. Of several constraints that were merged into one set, those that are not the
    binding one get 0, and of those that are the same the first has it all.
    """
    ys = bound.y
    if len(ys) != len(canonical.terms) or not canonical.instance.model.constraints:
        return {}
    out: dict[str, object] = {}
    v = bound.slopes[0] if bound.slopes else None  # -(q + K'y), for constraints that blocks keep
    told: set[int] = set()  # blocks whose set has given its multiplier to a constraint
    bounded: set[int] = set()  # blocks whose cone, the bounds of a simplex, has
    left: dict[int, Array] = {}  # of blocks, the normals that no constraint of bounds has been given yet
    waiting = Counter(place for several in canonical.constraint_place for place in several)
    reader = AffineReader(canonical.instance, {b.name: b for b in canonical.blocks})
    for constraint, places in zip(canonical.instance.model.constraints, canonical.constraint_place, strict=True):
        if constraint.relation == "below":
            out[constraint.name] = canonical.sense * _of_bound(
                constraint, [np.asarray(ys[k]) for _, k in places], reader
            )
            continue
        shape = reader.shape(constraint.argument)
        # a constraint that says nothing moves nothing
        value: float | Array = 0.0 if places else np.zeros(shape)
        for where, k in places:
            if where == "block":
                block = canonical.blocks[k]
                v = _normals(canonical, ys) if v is None else v
                normal = left.setdefault(k, block.g.normal_part(x[block.slice], v[block.slice]))
                found = _of_block(constraint, block, normal, reader)
                waiting[where, k] -= 1
                if waiting[where, k]:
                    left[k] = normal - _given(constraint, block, normal, reader)
                if _is_the_set(constraint, block) and np.any(found):
                    found = 0.0 * found if k in told else found
                    told.add(k)
                elif _is_the_cone(constraint, block):
                    found = 0.0 * found if k in bounded else found
                    bounded.add(k)
                value = value + found
                continue
            term = canonical.terms[k]
            side = term.side
            if side is None or _has_radius(constraint):
                value = value + _of_term(constraint, np.asarray(ys[k]), reader, term.f)
            else:
                value, shape = value - side.map.adjoint(np.asarray(ys[k])), side.shape
        if isinstance(value, np.ndarray) and value.size == math.prod(shape):
            value = value.reshape(shape) if shape else float(value.reshape(-1)[0])
        out[constraint.name] = canonical.sense * value
    return out


def _normals(canonical: Canonical, ys: Sequence[Array]) -> Array:
    """-(q + K'y)."""
    v = -canonical.q
    for term, y in zip(canonical.terms, ys, strict=True):
        term.map.adjoint(-y, v)
    return v


def _of_bound(constraint: ConstraintDecl, ys: list[Array], reader: AffineReader) -> float | Array:
    """The derivative in an affine bound of convex terms, which comes first in their epigraph; entry by entry where there are several."""
    shape = reader.shape(constraint.below[0])
    count = math.prod(shape)
    found = sum((-np.abs(y[:count]) for y in ys), np.zeros(count))
    return found.reshape(shape) if shape else float(found[0])


def _word(constraint: ConstraintDecl) -> SetWord | None:
    return SETS[constraint.set.name] if constraint.set is not None else None


def _is_the_set(constraint: ConstraintDecl, block: Block) -> bool:
    """True if a constraint is the set of a block, but for its radius: no part of it, as bounds and the sum of a simplex are."""
    own, merged = _word(constraint), SETS[str(block.g.pair[1])]
    return own is not None and own.name == merged.name and not (own.bounds and merged.given_bounds)


def _is_the_cone(constraint: ConstraintDecl, block: Block) -> bool:
    """True if a constraint is the bounds of a block's simplex."""
    own = _word(constraint)
    return own is not None and own.name == SETS[str(block.g.pair[1])].cone


def _has_radius(constraint: ConstraintDecl) -> bool:
    """True if the multiplier is one number, of a radius. A family has an array instead, a normal for each block."""
    word = _word(constraint)
    return word is not None and word.scaled and not constraint.argument.type.is_family


def _radius_dual(on: ConvexSet, normal: Array) -> float:
    """d(optimal value) / d(r) of r times a set: less the support function of the set."""
    return -on.of_radius(1.0).conjugate(normal) if normal.size else 0.0


def _set_of(g: VectorFunction) -> ConvexSet:
    """The set beneath a ridge and a norm; of a family that of each block."""
    on = g.set_beneath()
    on = on.inner if isinstance(on, Repeated) else on
    assert isinstance(on, ConvexSet)
    return on


def _given(constraint: ConstraintDecl, block: Block, normal: Array, reader: AffineReader) -> Array | float:
    """The part of a normal of merged bounds that a constraint is given, which the next ones are not; 0 of other sets."""
    own, merged, on = _word(constraint), SETS[str(block.g.pair[1])], _set_of(block.g)
    if own is None or own.name == merged.cone or not (own.bounds and merged.given_bounds):
        return 0.0
    return part_of_bounds(normal, stated(constraint, on.size, reader), on)


def _of_block(constraint: ConstraintDecl, block: Block, normal: Array, reader: AffineReader) -> float | Array:
    own, merged, on = _word(constraint), SETS[str(block.g.pair[1])], _set_of(block.g)
    if own is None:
        # of a sum that is the radius of a simplex
        return _radius_dual(on, normal)
    if _is_the_cone(constraint, block):
        # on the simplex the normal is the sum's multiplier, which is its largest entry, less that of each bound
        normal = normal + _radius_dual(on, normal)
    elif own.bounds and merged.given_bounds:
        own_bounds = stated(constraint, on.size, reader)
        normal, on = part_of_bounds(normal, own_bounds, on), own_bounds
    elif own.scaled and _radius(constraint, reader) > on.scale:
        return 0.0
    return _of_set(constraint, normal, reader, on)


def _of_term(constraint: ConstraintDecl, y: Array, reader: AffineReader, f: Any) -> float | Array:
    if constraint.set is not None:
        return _of_set(constraint, y, reader, f)
    sign = 1.0 if constraint.flipped else -1.0
    return sign * float(y[0]) if y.size == 1 else sign * y


def _of_set(constraint: ConstraintDecl, normal: Array, reader: AffineReader, on: ConvexSet) -> float | Array:
    if not _has_radius(constraint):
        # of c x + k, the bound is c times that of x away
        return -normal if constraint.factor is None else -normal / reader.scalar(constraint.factor)
    value = _radius_dual(on, normal)
    if constraint.factor is None:
        return value
    # radius = r / factor, or the root of it
    factor = reader.scalar(constraint.factor)
    return value / (2.0 * _radius(constraint, reader) * factor) if constraint.squared else value / factor


def _radius(constraint: ConstraintDecl, reader: AffineReader) -> float:
    assert constraint.set is not None
    return reader.scalar(dict(constraint.set.args)["r"])
