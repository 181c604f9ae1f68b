"""The logistic loss, l(z; y) = log(1 + exp(-y z)) for y in {-1, 1}.

l'(z) = -y q with q = 1 / (1 + exp(y z)); l'' = q (1 - q) <= 1/4.
Conjugate: with q = -y u in [0, 1], l*(u) = q log q + (1 - q) log(1 - q) (0 log 0 = 0), inf elsewhere.
Prox: z = v + t y q(z); solved for m = y z by Newton on the increasing h(m) = m - y v - t / (1 + exp(m)), whose root lies in
[y v, y v + t]; h is convex for m < 0 and concave for m > 0, so Newton is monotone from the side of 0.
"""

import math

import numpy as np

from ..arrays import ROUNDING, bisected
from ..base import Array
from ..conic import Conic, ConicRow, ConicTriple, by_entries
from ..elementary import HALF, added, log1p, log_of, remainder, shifted, taylor
from ..loss import Loss


class Logistic(Loss):
    """log(1 + exp(-y z))."""

    name = "logistic"
    smoothness = 0.25
    nanoseconds = 3.2

    @staticmethod
    def with_cost(b, c):
        # log(1 + exp(-b z)) + b z = log(1 + exp(b z))
        turned = np.abs(c - b) <= ROUNDING
        return np.where(turned, -b, np.where(np.abs(c) <= ROUNDING, b, np.nan))

    @staticmethod
    def value_gradient_loop(z, b, w, p, out):
        """The loop `value_gradient` of `loss_loops`.

        Written so that LLVM vectorises every loop (3 ns a sample against 18 with `math.exp` and `math.log1p`): see `elementary`.
        """
        n = z.size
        power = np.empty(n)
        bits = power.view(np.uint64)
        total = np.empty(n)
        for j in range(n):
            power[j] = shifted(-min(abs(z[j]), 708.0))
        for j in range(n):
            total[j] = taylor(remainder(-min(abs(z[j]), 708.0), power[j]))
        for j in range(n):
            bits[j] = (bits[j] << np.uint64(52)) + np.uint64(1023 << 52)
        for j in range(n):
            e = total[j] * power[j]
            m = b[j] * z[j]
            out[j] = -w[j] * b[j] * ((e if m > 0.0 else 1.0) / (1.0 + e))
            total[j] = w[j] * (log1p(e) + (0.0 if m > 0.0 else -m))
        return added(total)

    @staticmethod
    def conjugate_loop(y, b, w, p):
        """The loop `conjugate` of `loss_loops`, written so that LLVM vectorises it, as `value_gradient_loop` is.

        log(1 - q) is that of 1 - q rounded, with what rounding took away made good.
        """
        n = y.size
        share = np.empty(n)
        total = np.empty(n)
        outside = 0
        for j in range(n):
            total[j] = 0.0
            share[j] = -b[j] * y[j] / w[j] if w[j] > 0.0 else 0.0
            outside += (share[j] < 0.0) | (share[j] > 1.0) | ((w[j] <= 0.0) & (y[j] != 0.0)) | (share[j] != share[j])
        if outside > 0:
            return math.inf
        part = np.empty(n)
        bits = part.view(np.uint64)
        shift = np.empty(n)
        shifts = shift.view(np.uint64)
        for side in range(2):
            for j in range(n):
                x = share[j] if side == 0 else 1.0 - share[j]
                part[j] = x if x > 1e-307 else 1.0
            for j in range(n):
                # k + 1023 as the last bits of 2^52 + k + 1023
                shifts[j] = ((bits[j] + np.uint64((1023 << 52) - HALF)) >> np.uint64(52)) | np.uint64(
                    0x4330000000000000
                )
                bits[j] = (bits[j] + np.uint64(1023 << 52)) - (shifts[j] << np.uint64(52))
            for j in range(n):
                q = share[j]
                x = q if side == 0 else 1.0 - q
                lost = 0.0 if side == 0 or x <= 1e-307 else ((1.0 - x) - q) / x
                total[j] += w[j] * x * (log_of(part[j], shift[j] - 4503599627371519.0) + lost)
        return added(total)

    @staticmethod
    def tangent(z, b, p):
        m = b * z
        e = math.exp(-abs(m))
        return math.log1p(e) + max(-m, 0.0), -b * ((e if m > 0.0 else 1.0) / (1.0 + e))

    @staticmethod
    def curvature(z, b, p):
        e = math.exp(-abs(z))
        return e / ((1.0 + e) * (1.0 + e))

    @staticmethod
    def prox(v, t, b, p):
        a = b * v
        # h bends once, at 0: from the end of the bracket nearest to 0 on the root's side, Newton only moves towards the root
        m = max(a, 0.0) if a + 0.5 * t > 0.0 else min(a + t, 0.0)
        for _ in range(100):
            e = math.exp(-abs(m))
            q = e / (1.0 + e) if m > 0.0 else 1.0 / (1.0 + e)
            change = (m - a - t * q) / (1.0 + t * q * (1.0 - q))
            m -= change
            if abs(change) <= 4e-16 * (abs(m) + abs(a)):
                break
        return b * m

    @staticmethod
    def conjugate(u, b, w, p):
        q = -b * u / w
        if q < 0.0 or q > 1.0:
            return math.inf
        left = q * math.log(q) if q > 0.0 else 0.0
        return w * (left + (1.0 - q) * math.log1p(-q)) if q < 1.0 else 0.0

    @staticmethod
    def value_naive(z: Array, b: Array, p: Array) -> Array:
        m = b * z
        # as `np.logaddexp` has it, which NumPy does not vectorise
        return np.log1p(np.exp(-np.abs(m))) + np.maximum(-m, 0.0)

    @staticmethod
    def gradient_naive(z: Array, b: Array, p: Array) -> Array:
        return -b * np.exp(-np.logaddexp(0.0, b * z))

    @staticmethod
    def conjugate_naive(u: Array, b: Array, p: Array) -> Array:
        """q log q + (1 - q) log(1 - q) with q = -b u in [0, 1]."""
        q = -b * u
        inside = np.clip(q, 0.0, 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.where(inside > 0.0, inside * np.log(inside), 0.0)
            right = np.where(inside < 1.0, (1.0 - inside) * np.log1p(-inside), 0.0)
        return np.where((q >= 0.0) & (q <= 1.0), left + right, np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, b: Array, p: Array) -> Array:
        """Bisection on m - b v = t / (1 + exp(m)), z = b m."""
        a = b * v
        return b * bisected(lambda m: m - a - t * np.exp(-np.logaddexp(0.0, m)) > 0.0, a, a + t)

    @staticmethod
    def dual_bounds_naive(b: Array, p: Array) -> tuple[Array, Array]:
        """-b u in [0, 1]."""
        return np.minimum(-b, 0.0), np.maximum(-b, 0.0)

    @staticmethod
    def conic(b: Array, w: Array, p: Array) -> Conic:
        """exp(-t) <= u and exp(-b z - t) <= v with u + v <= 1, at the price t."""
        whole = ConicRow(0.0, (0.0, 0.0, 0.0), 1.0)
        none = ConicTriple((ConicRow(0.0, (-1.0, 0.0, 0.0), 0.0), whole, ConicRow(0.0, (0.0, 1.0, 0.0), 0.0)))
        one = ConicTriple((ConicRow(-b, (-1.0, 0.0, 0.0), 0.0), whole, ConicRow(0.0, (0.0, 0.0, 1.0), 0.0)))
        both = ConicRow(0.0, (0.0, -1.0, -1.0), 1.0)
        return by_entries(b.size, (both,), ((0.0, 1.0), (0.0, 0.0), (0.0, 0.0)), weights=w, triples=(none, one))
