r"""P and D of an expansion in samples, recomputed in float64 by the references of the atoms and of the feature maps, never by the kernels.

The point is made of the dual point: y = -(mu / c) a, moved into the domain of f* and onto the equality of an intercept, and a = -(c / mu) y again.
One product K a, with the columns where a is not 0, then gives both ends:

    P = constant + f(z) + mu/2 a'Ka + q b,   z = c K a + o + d b        D = constant + <o, y> - f*(y) - mu/2 a'Ka
"""

from __future__ import annotations

import math

import numpy as np

from ..atoms.base import Array
from ..canon.form import Expansion
from .point import ROUNDING
from .verified import NO_BOUND, DualBound, Point, Verified

ROUNDS = 3
"""Rounds of moving y onto the equality of the intercept."""


def dual_point(form: Expansion, x: Array) -> Array:
    """The slopes y that belong to a, in the domain of f* and, as far as it reaches, on the equality of the intercept."""
    a, _ = form.parts(x)
    y = form.f.into_domain(-(form.mu / form.c) * a)
    if form.intercept is None:
        return y
    lo, hi = form.f.dual_bounds()
    for _ in range(ROUNDS):
        miss = math.fsum(y) + form.intercept.q / form.intercept.d
        room = np.maximum(y - lo if miss > 0.0 else hi - y, 0.0)
        inner = np.where(np.isfinite(room), np.minimum(room, np.maximum(np.minimum(y - lo, hi - y), 0.0)), np.abs(y))
        # entries between the ends of their intervals take the miss, else whatever has room
        share = inner if inner.sum() >= abs(miss) else np.minimum(room, abs(miss))
        if miss == 0.0 or not share.any():
            break
        y = np.clip(y - share * (miss / share.sum()), lo, hi)
    return y


def verify_expansion(form: Expansion, x: Array, bounded: bool = True) -> tuple[Array, Verified]:
    """The point that belongs to the dual point of x, and the findings for both; of x as it is and without a bound where not `bounded`."""
    f, free = form.f, form.intercept
    a, b = form.parts(x)
    y = dual_point(form, x) if bounded else np.zeros(0)
    if bounded:
        a = -(form.c / form.mu) * y
    ka = form.gram.combine(a)
    shift = 0.0 if free is None else free.d * b
    linear = 0.0 if free is None else free.q * b
    loss, norm = f.value(form.c * ka + form.offset + shift), 0.5 * form.mu * float(a @ ka)
    value = form.constant + loss + norm + linear
    sums = (np.abs(form.c * ka) + abs(shift),)
    size = abs(form.constant) + abs(loss) + abs(norm) + abs(linear)
    point = Point(value, size, 0.0 if math.isfinite(value) else math.inf, sums=sums)
    passes = np.count_nonzero(a) / max(1, form.n)
    found = form.joined(a, b)
    if not bounded:
        return found, Verified(point, NO_BOUND, form.scale, passes)
    conjugate, offsets = f.conjugate(y), float(form.offset @ y)
    dual = form.constant + offsets - conjugate - norm
    if free is not None:
        miss = abs(free.d * math.fsum(y) + free.q)
        if not miss <= ROUNDING * (abs(free.d) * float(np.abs(y).sum()) + abs(free.q)):
            none = DualBound(-math.inf, 0.0, "none", f"the dual point misses the equality of {free.name}")
            return found, Verified(point, none, form.scale, passes)
    if not math.isfinite(dual):
        return found, Verified(point, NO_BOUND, form.scale, passes)
    sizes = abs(form.constant) + float(np.abs(form.offset) @ np.abs(y)) + abs(conjugate) + abs(norm)
    bound = DualBound(dual, 0.0, "exact", "closed-form dual", None, (y,), sizes)
    return found, Verified(point, bound, form.scale, passes)
