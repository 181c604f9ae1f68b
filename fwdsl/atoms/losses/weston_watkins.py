"""The multiclass hinge loss of Weston and Watkins (1999), l(z; y) = sum over l != y of max(0, 1 + z_l - z_y).

Subgradient c with c_l = 1[1 + z_l - z_y > 0] for l != y and c_y = -(the sum of those). Conjugate: with 0 <= u_l <= 1 for l != y and sum u = 0,
l*(u) = -(the sum of u_l, l != y) = u_y, inf elsewhere.
Prox: with b_l = 1 + v_l - v_y, z_l = v_l - g_l and z_y = v_y + G, where g_l = clip(b_l - G, 0, t) and G = sum_l g_l. The difference of
both sides falls in G with slope at most -1: Newton within the bracket [0, (k - 1) t], halved where a step would leave it.
"""

import math

import numpy as np

from ..arrays import bisected
from ..base import Array
from ..conic import Cone, Conic, MatrixEntries, joined
from ..vector_loss import Codes, VectorLoss, sums_to_zero
from .rows import close, hot, others_of, own


class WestonWatkins(VectorLoss):
    """sum over l != y of max(0, 1 + z_l - z_y)."""

    name = "weston_watkins"
    smoothness = None
    piecewise_linear = True
    piecewise_quadratic = True
    boxed_dual = True

    @staticmethod
    def value(z, y):
        inner = 0.0
        for l in range(z.size):
            if l != y:
                inner += max(0.0, 1.0 + (z[l] - z[y]))
        return inner

    @staticmethod
    def tangent(z, y, w, out):
        inner = 0.0
        count = 0
        for l in range(z.size):
            e = 1.0 + (z[l] - z[y])
            out[l] = 0.0
            if l != y and e > 0.0:
                inner += e
                count += 1
                out[l] = w
        out[y] = -w * count
        return w * inner

    @staticmethod
    def prox(v, t, y, out):
        k = v.size
        # out holds b; the class's own never counts
        size = 0.0
        for l in range(k):
            out[l] = 1.0 + (v[l] - v[y])
            size = max(size, abs(out[l]))
        out[y] = -math.inf
        # a little wider than the bracket, so that its ends can be stepped on
        lo = -t
        hi = k * t
        grown = 0.0
        for _ in range(200):
            rest = -grown
            slope = 1
            for l in range(k):
                e = out[l] - grown
                rest += min(max(e, 0.0), t)
                if 0.0 < e < t:
                    slope += 1
            change = rest / slope
            if abs(change) <= 4e-16 * (abs(grown) + size):
                break
            if change > 0.0:
                lo = grown
            else:
                hi = grown
            grown += change
            if not (lo < grown < hi):
                grown = 0.5 * (lo + hi)
        for l in range(k):
            out[l] = v[l] - min(max(out[l] - grown, 0.0), t)
        out[y] = v[y] + grown

    @staticmethod
    def conjugate(u, y, w):
        # an ulp may come of a product with the weight
        return u[y] if others_of(u, y, w * (1.0 + 2.220446049250313e-16)) < math.inf else math.inf

    @staticmethod
    def value_naive(z: Array, y: Codes) -> Array:
        """sum over l != y of max(0, 1 + z_l - z_y)."""
        e = 1.0 - hot(y, z.shape[1])
        found: Array = (e * np.maximum(0.0, 1.0 + (z - own(z, y)[:, None]))).sum(axis=1)
        return found

    @staticmethod
    def gradient_naive(z: Array, y: Codes) -> Array:
        return close((1.0 + (z - own(z, y)[:, None]) > 0.0).astype(np.float64), y)

    @staticmethod
    def conjugate_naive(u: Array, y: Codes) -> Array:
        """u_y where the others are in [0, 1] (an ulp may come of a division by the weight) and the sum is 0."""
        e = hot(y, u.shape[1]) > 0.0
        most = 1.0 + float(np.finfo(np.float64).eps)
        inside = (e | ((u >= 0.0) & (u <= most))).all(axis=1) & sums_to_zero(u)
        return np.where(inside, own(u, y), np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, y: Codes) -> Array:
        """The prox by bisection for G of the module's docstring."""
        e = 1.0 - hot(y, v.shape[1])
        step = t[:, None] * e
        b = 1.0 + (v - own(v, y)[:, None])
        lo, hi = np.zeros((y.size, 1)), step.sum(axis=1, keepdims=True)
        grown = bisected(lambda grown: np.clip(b - grown, 0.0, step).sum(axis=1, keepdims=True) < grown, lo, hi)
        found: Array = v - np.clip(b - grown, 0.0, step) + grown * (1.0 - e)
        return found

    @staticmethod
    def into_domain_naive(u: Array, y: Codes) -> Array:
        return close(np.clip(u, 0.0, 1.0), y)

    @staticmethod
    def conic(y: Codes, w: Array, k: int) -> Conic:
        """u_l >= 1 + z_l - z_y and u_l >= 0 for each l != y at the price u_l."""
        live = np.flatnonzero(w > 0.0)
        of, other = np.repeat(live, k), np.tile(np.arange(k), live.size)
        apart = other != y[of]
        of, other = of[apart], other[apart]
        row, ones = np.arange(of.size), np.ones(of.size)
        return Conic(
            y.size * k,
            row.size,
            extra_slope=w[of],
            of_z=joined([MatrixEntries(row, of * k + other, -ones), MatrixEntries(row, of * k + y[of], ones)]),
            of_u=joined([MatrixEntries(row, row, ones), MatrixEntries(row.size + row, row, ones)]),
            offset=np.concatenate([-ones, np.zeros(row.size)]),
            cones=(Cone("nonnegative", 2 * row.size),) if row.size else (),
        )
