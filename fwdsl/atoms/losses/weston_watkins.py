"""The multiclass hinge loss of Weston and Watkins (1999), l(z; y) = sum over l != y of max(0, 1 + z_l - z_y).

Subgradient c with c_l = 1[1 + z_l - z_y > 0] for l != y and c_y = -(the sum of those). Conjugate: with 0 <= u_l <= 1 for l != y and sum u = 0,
l*(u) = -(the sum of u_l, l != y) = u_y, inf elsewhere.
Prox: with b_l = 1 + v_l - v_y, z_l = v_l - g_l and z_y = v_y + G, where g_l = clip(b_l - G, 0, t) and G = sum_l g_l. The difference of
both sides falls in G with slope at most -1: Newton within the bracket [0, (k - 1) t], halved where a step would leave it.
"""

import math

import numpy as np

from ..base import Array
from ..vector_loss import Codes, VectorLoss, sums_to_zero
from .rows import close, hot, own


class WestonWatkins(VectorLoss):
    """sum over l != y of max(0, 1 + z_l - z_y)."""

    name = "weston_watkins"
    smoothness = None
    piecewise_linear = True
    piecewise_quadratic = True
    boxed_dual = True

    @staticmethod
    def value(z, y, w):
        n, k = z.shape
        total = 0.0
        for i in range(n):
            inner = 0.0
            for l in range(k):
                if l != y[i]:
                    inner += max(0.0, 1.0 + (z[i, l] - z[i, y[i]]))
            total += w[i] * inner
        return total

    @staticmethod
    def value_gradient(z, y, w, out):
        n, k = z.shape
        total = 0.0
        for i in range(n):
            inner = 0.0
            count = 0
            for l in range(k):
                e = 1.0 + (z[i, l] - z[i, y[i]])
                out[i, l] = 0.0
                if l != y[i] and e > 0.0:
                    inner += e
                    count += 1
                    out[i, l] = w[i]
            out[i, y[i]] = -w[i] * count
            total += w[i] * inner
        return total

    @staticmethod
    def prox(v, t, y, w, out):
        n, k = v.shape
        for i in range(n):
            step = t * w[i]
            own = y[i]
            # out holds b; the class's own never counts
            size = 0.0
            for l in range(k):
                out[i, l] = 1.0 + (v[i, l] - v[i, own])
                size = max(size, abs(out[i, l]))
            out[i, own] = -math.inf
            # a little wider than the bracket, so that its ends can be stepped on
            lo = -step
            hi = k * step
            grown = 0.0
            for _ in range(200):
                rest = -grown
                slope = 1
                for l in range(k):
                    e = out[i, l] - grown
                    rest += min(max(e, 0.0), step)
                    if 0.0 < e < step:
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
                out[i, l] = v[i, l] - min(max(out[i, l] - grown, 0.0), step)
            out[i, own] = v[i, own] + grown

    @staticmethod
    def conjugate(u, y, w):
        n, k = u.shape
        slack = (8 + k) * 2.220446049250313e-16
        total = 0.0
        for i in range(n):
            own = y[i]
            others = 0.0
            for l in range(k):
                if l != own:
                    if u[i, l] < 0.0 or u[i, l] > w[i] * (1.0 + 2.220446049250313e-16):
                        return math.inf
                    others += u[i, l]
            if abs(u[i, own] + others) > slack * (others + abs(u[i, own])):
                return math.inf
            total += u[i, own]
        return total

    @staticmethod
    def value_naive(z: Array, y: Codes) -> Array:
        """sum over l != y of max(0, 1 + z_l - z_y)."""
        e = 1.0 - hot(y, z.shape[1])
        found: Array = (e * np.maximum(0.0, 1.0 + (z - own(z, y)[:, None]))).sum(axis=1)
        return found

    @staticmethod
    def gradient_naive(z: Array, y: Codes) -> Array:
        """1[1 + z_l - z_y > 0] for l != y, and minus their number."""
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
        for _ in range(200):
            grown = 0.5 * (lo + hi)
            high = np.clip(b - grown, 0.0, step).sum(axis=1, keepdims=True) < grown
            lo, hi = np.where(high, lo, grown), np.where(high, grown, hi)
        grown = 0.5 * (lo + hi)
        found: Array = v - np.clip(b - grown, 0.0, step) + grown * (1.0 - e)
        return found

    @staticmethod
    def into_domain_naive(u: Array, y: Codes) -> Array:
        """The others cut to [0, 1], and the class's own from their sum."""
        return close(np.clip(u, 0.0, 1.0), y)
