"""The softmax loss, l(z; y) = log sum_l exp(z_l) - z_y.

grad l = p - e_y with p = softmax(z); the Hessian diag(p) - p p' has eigenvalues at most 1/2.
Conjugate: with p = u + e_y in the simplex, l*(u) = sum_l p_l log p_l (0 log 0 = 0), inf elsewhere.
Prox: z = a - t p with a = v + t e_y and log p_l = z_l - nu, so that t p_l = omega(a_l - nu + log t), the Wright omega function;
nu solves sum_l p_l = 1. The left side is convex and decreasing in nu, and at least 1 at max a - t: Newton from there is monotone.
"""

import math

import numpy as np

from ..base import Array
from ..elementary import omega, wright
from ..vector_loss import Codes, VectorLoss
from .rows import hot, in_simplex, into_simplex, own


class Softmax(VectorLoss):
    """log sum_l exp(z_l) - z_y."""

    name = "softmax"
    smoothness = 0.5

    @staticmethod
    def value(z, y, w):
        """Kernel: see `VectorLoss.value`. The sum of `value_gradient`, rounded alike, which a line search compares it with."""
        n, k = z.shape
        total = 0.0
        for i in range(n):
            own = y[i]
            peak = z[i, 0]
            for l in range(1, k):
                peak = max(peak, z[i, l])
            mass = 0.0
            others = 0.0
            for l in range(k):
                e = math.exp(z[i, l] - peak)
                mass += e
                if l != own:
                    others += e
            if z[i, own] == peak:
                total += w[i] * math.log1p(others)
            else:
                total += w[i] * (math.log(mass) + (peak - z[i, own]))
        return total

    @staticmethod
    def value_gradient(z, y, w, out):
        """Kernel: see `VectorLoss.value_gradient`. The class's own entry is minus the sum of the others: no cancellation near p_y = 1."""
        n, k = z.shape
        total = 0.0
        for i in range(n):
            own = y[i]
            peak = z[i, 0]
            for l in range(1, k):
                peak = max(peak, z[i, l])
            mass = 0.0
            for l in range(k):
                e = math.exp(z[i, l] - peak)
                out[i, l] = e
                mass += e
            others = 0.0
            for l in range(k):
                if l != own:
                    others += out[i, l]
                    out[i, l] *= w[i] / mass
            out[i, own] = -w[i] * (others / mass)
            # log1p where the class itself is the largest keeps the relative accuracy of small values
            if z[i, own] == peak:
                total += w[i] * math.log1p(others)
            else:
                total += w[i] * (math.log(mass) + (peak - z[i, own]))
        return total

    @staticmethod
    def curvature(z, y, w, out):
        """Kernel: see `VectorLoss.curvature`. The weighted masses w p."""
        n, k = z.shape
        for i in range(n):
            peak = z[i, 0]
            for l in range(1, k):
                peak = max(peak, z[i, l])
            mass = 0.0
            for l in range(k):
                e = math.exp(z[i, l] - peak)
                out[i, l] = e
                mass += e
            for l in range(k):
                out[i, l] *= w[i] / mass

    @staticmethod
    def bent(h, v, out):
        """Kernel: see `VectorLoss.bent`. w p (v - <p, v>)."""
        n, k = h.shape
        for i in range(n):
            mass = 0.0
            mean = 0.0
            for l in range(k):
                mass += h[i, l]
                mean += h[i, l] * v[i, l]
            mean = mean / mass if mass > 0.0 else 0.0
            for l in range(k):
                out[i, l] = h[i, l] * (v[i, l] - mean)

    @staticmethod
    def split_hessian(h: Array) -> tuple[Array, Array]:
        """w p, and w p over the square root of its sum over the classes."""
        mass = h.sum(axis=1, keepdims=True)
        return h, np.divide(h, np.sqrt(mass), out=np.zeros_like(h), where=mass > 0.0)

    @staticmethod
    def prox(v, t, y, w, out):
        n, k = v.shape
        for i in range(n):
            step = t * w[i]
            if step == 0.0:
                for l in range(k):
                    out[i, l] = v[i, l]
                continue
            own = y[i]
            log_step = math.log(step)
            peak = v[i, own] + step
            for l in range(k):
                peak = max(peak, v[i, l])
            # a and nu are kept relative to the peak; out holds t p
            nu = -step
            for _ in range(100):
                mass = 0.0
                slope = 0.0
                for l in range(k):
                    a = (v[i, l] + step if l == own else v[i, l]) - peak
                    omega = wright(a - nu + log_step)
                    out[i, l] = omega
                    mass += omega
                    slope += omega / (1.0 + omega)
                change = (mass - step) / slope
                nu += change
                if change <= 4e-16 * (abs(nu) + step):
                    break
            for l in range(k):
                a = v[i, l] + step if l == own else v[i, l]
                omega = out[i, l]
                # the form without cancellation
                out[i, l] = peak + (nu + (math.log(omega) - log_step)) if omega > 1.0 else a - omega

    @staticmethod
    def conjugate(u, y, w):
        n, k = u.shape
        slack = (8 + k) * 2.220446049250313e-16
        total = 0.0
        for i in range(n):
            own = y[i]
            others = 0.0
            entropy = 0.0
            for l in range(k):
                if l != own:
                    if u[i, l] < 0.0:
                        return math.inf
                    if u[i, l] > 0.0:
                        others += u[i, l]
                        entropy += u[i, l] * math.log(u[i, l] / w[i]) if w[i] > 0.0 else 0.0
            if abs(u[i, own] + others) > slack * (others + abs(u[i, own])) or others > w[i] * (1.0 + slack):
                return math.inf
            if w[i] > 0.0:
                q = -u[i, own] / w[i]
                total += entropy
                if q < 1.0:
                    total += w[i] * (1.0 - q) * math.log1p(-q)
        return total

    @staticmethod
    def value_naive(z: Array, y: Codes) -> Array:
        """log sum_l exp(z_l) - z_y."""
        # with the class's own score at 0 a small value keeps its relative accuracy
        found: Array = np.logaddexp.reduce(z - own(z, y)[:, None], axis=1)
        return found

    @staticmethod
    def gradient_naive(z: Array, y: Codes) -> Array:
        """softmax(z) - e_y."""
        return np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True)) - hot(y, z.shape[1])

    @staticmethod
    def conjugate_naive(u: Array, y: Codes) -> Array:
        """sum_l p_l log p_l with p = u + e_y in the simplex."""
        # p_y = 1 - q, whose logarithm keeps its digits
        q = np.clip(-own(u, y), 0.0, 1.0)
        others = np.maximum(u, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(others > 0.0, others * np.log(others), 0.0) * (1.0 - hot(y, u.shape[1]))
            last = np.where(q < 1.0, (1.0 - q) * np.log1p(-q), 0.0)
        return np.where(in_simplex(u, y), logs.sum(axis=1) + last, np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, y: Codes) -> Array:
        """Bisection for nu, whose root lies between those of one entry of mass 1 and of k entries of mass 1 / k."""
        t = t[:, None]
        k = v.shape[1]
        a = v + t * hot(y, k)
        peak = a.max(axis=1, keepdims=True)
        lo, hi = peak - t, peak - t / k + np.log(k)
        for _ in range(200):
            nu = 0.5 * (lo + hi)
            high = omega(a - nu + np.log(t)).sum(axis=1, keepdims=True) < t
            lo, hi = np.where(high, lo, nu), np.where(high, nu, hi)
        found: Array = a - omega(a - 0.5 * (lo + hi) + np.log(t))
        return found

    @staticmethod
    def into_domain_naive(u: Array, y: Codes) -> Array:
        return into_simplex(u, y)
