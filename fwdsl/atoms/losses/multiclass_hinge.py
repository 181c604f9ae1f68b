"""The multiclass hinge loss of Crammer and Singer (2001), l(z; y) = max_l (1[l != y] + z_l) - z_y.

Subgradient e_m - e_y with m a largest 1[l != y] + z_l. Conjugate: with p = u + e_y in the simplex, l*(u) = -(1 - p_y) = u_y, inf elsewhere.
Prox: with d_l = 1[l != y] and a = v + t e_y + d, z + d minimises t max + |. - a|^2 / 2, so z = min(a, theta) - d at the theta with
sum_l max(a_l - theta, 0) = t, found by Newton from max a - t: the sum is convex and decreasing in theta, so the steps are monotone
and end exactly.
"""

import math

import numpy as np

from ..base import Array
from ..conic import Cone, Conic, MatrixEntries, joined
from ..vector_loss import Codes, VectorLoss
from .rows import hot, in_simplex, into_simplex, others_of, own, slack, thresholds


class MulticlassHinge(VectorLoss):
    """max_l (1[l != y] + z_l) - z_y."""

    name = "multiclass_hinge"
    smoothness = None
    piecewise_linear = True
    piecewise_quadratic = True

    @staticmethod
    def tangent(z, y, w, out):
        most = 0.0
        first = y
        for l in range(z.size):
            out[l] = 0.0
            if l != y:
                e = 1.0 + (z[l] - z[y])
                if e > most:
                    most = e
                    first = l
        if first != y:
            out[first] = w
            out[y] = -w
        return w * most

    @staticmethod
    def prox(v, t, y, out):
        k = v.size
        peak = v[y] + t
        for l in range(k):
            if l != y:
                peak = max(peak, v[l] + 1.0)
        # theta and a are relative to the peak; out holds a
        for l in range(k):
            out[l] = (v[l] + t if l == y else v[l] + 1.0) - peak
        theta = -t
        count = 0
        for _ in range(k + 1):
            mass = 0.0
            above = 0
            for l in range(k):
                if out[l] > theta:
                    mass += out[l]
                    above += 1
            if above == count or above == 0:
                break
            count = above
            theta = max(theta, (mass - t) / above)
        for l in range(k):
            if out[l] > theta:
                out[l] = (peak - (0.0 if l == y else 1.0)) + theta
            else:
                out[l] = v[l] + t if l == y else v[l]

    @staticmethod
    def conjugate(u, y, w):
        others = others_of(u, y, math.inf)
        return u[y] if others <= w * (1.0 + slack(u)) else math.inf

    @staticmethod
    def value_naive(z: Array, y: Codes) -> Array:
        """max_l (1[l != y] + z_l) - z_y."""
        found: Array = (1.0 - hot(y, z.shape[1]) + (z - own(z, y)[:, None])).max(axis=1)
        return found

    @staticmethod
    def gradient_naive(z: Array, y: Codes) -> Array:
        """e_m - e_y with the first largest m; 0 where the class itself is among the largest."""
        k = z.shape[1]
        raised = 1.0 - hot(y, k) + (z - own(z, y)[:, None])
        largest = np.where(raised.max(axis=1) > 0.0, raised.argmax(axis=1), y)
        return hot(largest, k) - hot(y, k)

    @staticmethod
    def conjugate_naive(u: Array, y: Codes) -> Array:
        return np.where(in_simplex(u, y), own(u, y), np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, y: Codes) -> Array:
        """min(a, theta) - d, theta by sorting."""
        e = hot(y, v.shape[1])
        a = v + t[:, None] * e + (1.0 - e)
        theta = a.max(axis=1) + thresholds(a, t)
        return np.where(a > theta[:, None], theta[:, None] - (1.0 - e), v + t[:, None] * e)

    @staticmethod
    def into_domain_naive(u: Array, y: Codes) -> Array:
        return into_simplex(u, y)

    @staticmethod
    def conic(y: Codes, w: Array, k: int) -> Conic:
        """t >= 1[l != y] + z_l - z_y for each l at the price t."""
        live = np.flatnonzero(w > 0.0)
        n = live.size
        row, of = np.arange(n * k), np.repeat(np.arange(n), k)
        label, own_label = np.tile(np.arange(k), n), y[live][of]
        other = np.flatnonzero(label != own_label)
        return Conic(
            y.size * k,
            n,
            extra_slope=w[live],
            of_z=joined(
                [
                    MatrixEntries(row[other], live[of[other]] * k + label[other], -np.ones(other.size)),
                    MatrixEntries(row[other], live[of[other]] * k + own_label[other], np.ones(other.size)),
                ]
            ),
            of_u=MatrixEntries(row, of, np.ones(n * k)),
            offset=np.where(label != own_label, -1.0, 0.0),
            cones=(Cone("nonnegative", n * k),) if n else (),
        )
