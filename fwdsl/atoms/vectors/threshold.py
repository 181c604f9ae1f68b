"""One search serves l1 balls, simplices and norm_inf: the theta with sum_i max(a_i - theta, 0) = r, for a = |v| or a = v.

Bounds of theta from below: max a - r, since no part exceeds the sum, and (sum over S of a - r) / |S| for any set S of entries. So
the bound only ever grows while entries below it are thrown out (Michelot 1986; with the running bound, Condat 2016), in
expected linear time. All is computed relative to max a: the entries that matter are within r of it, and the differences have
no rounding to speak of however large v is. The soft threshold at theta is the projection (Held, Wolfe and Crowder 1974).
"""

from __future__ import annotations

import math

import numpy as np

from ..base import Array

SORTED = 1000
"""Numbers that are sorted without leaving out those that cannot matter."""

L1 = 0
"""Least theta >= t c with the l1 norm of the soft threshold at most r: norm1 on an l1 ball."""
SOLID = 1
"""The same for positive parts: norm1 on a solid simplex."""
SIMPLEX = 2
"""theta of either sign with the sum of positive parts equal to r."""
CLIP = 3
"""theta for the radius t c; entries are cut at it, and at r: norm_inf on an linf ball."""
TOP = 4
"""theta for the radius t c of either sign; entries are cut at it: max."""


def threshold_kernel(v, t, out, c, r, kind):
    """Kernel: the prox of the vector function that `kind` names."""
    n = v.size
    signed = kind == 0 or kind == 3
    floor = 0.0 if kind >= 3 else t * c
    radius = t * c if kind >= 3 else r
    total = 0.0
    peak = 0.0 if signed else -math.inf
    for i in range(n):
        a = abs(v[i]) if signed else v[i]
        total += max(a - floor, 0.0)
        peak = max(peak, a)
    # from here theta and entries are relative to the base, so that a - theta is computed as (a - base) - theta
    base = 0.0
    theta = floor
    if kind == 2 or kind == 4 or total > radius:
        base = peak
        theta = 0.0
        if radius > 0.0:
            # out holds the entries that may exceed theta
            theta = -radius
            size = 0
            mass = 0.0
            for i in range(n):
                a = (abs(v[i]) if signed else v[i]) - base
                if a > theta:
                    out[size] = a
                    size += 1
                    mass += a
                    theta = max(theta, (mass - radius) / size)
            kept = 0
            while kept != size and size > 0:
                mass = 0.0
                for i in range(size):
                    mass += out[i]
                theta = (mass - radius) / size
                kept = size
                size = 0
                for i in range(kept):
                    if out[i] > theta:
                        out[size] = out[i]
                        size += 1
    if kind == 3:
        level = min(r, max(0.0, base + theta))
        for i in range(n):
            out[i] = max(-level, min(level, v[i]))
        return
    if kind == 4:
        for i in range(n):
            out[i] = min(v[i], base + theta)
        return
    mass = 0.0
    for i in range(n):
        a = ((abs(v[i]) if signed else v[i]) - base) - theta
        if a > 0.0:
            mass += a
            out[i] = math.copysign(a, v[i]) if signed else a
        else:
            out[i] = 0.0
    # the sum of rounded terms is put right: inside, or on the simplex
    if mass > r or (kind == 2 and mass > 0.0 and mass != r):
        share = r / mass
        for i in range(n):
            out[i] *= share


def sorted_theta(a: Array, r: float) -> float:
    """theta - max a for the theta with sum max(a - theta, 0) = r > 0, by sorting; a is not empty. NaN where a is not finite.

    Only what is above a bound of theta is sorted, and any set S has one, (sum over S of a - r) / |S|.
    """
    below = a - a.max()
    below = below[below > -r]
    while below.size > SORTED:
        kept = below[below > (below.sum() - r) / below.size]
        if kept.size > 0.9 * below.size:
            break
        below = kept
    below = np.sort(below)[::-1]
    means = (np.cumsum(below) - r) / np.arange(1, below.size + 1)
    above = np.flatnonzero(below > means)
    return float(means[above[-1]]) if above.size else math.nan


def project_sum(a: Array, r: float) -> Array:
    """The projection of a on the simplex of sum r, by sorting."""
    if r == 0.0 or a.size == 0:
        return np.zeros_like(a)
    x: Array = np.maximum((a - a.max()) - sorted_theta(a, r), 0.0)
    return x * (r / float(x.sum()))


def project_l1(v: Array, r: float) -> Array:
    """The projection of v on the l1 ball of radius r, by sorting."""
    if float(np.abs(v).sum()) <= r:
        return v.copy()
    x: Array = np.copysign(project_sum(np.abs(v), r), v)
    return x
