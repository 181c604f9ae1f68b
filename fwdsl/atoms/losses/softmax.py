"""The softmax loss, l(z; y) = log sum_l exp(z_l) - z_y.

grad l = p - e_y with p = softmax(z); the Hessian diag(p) - p p' has eigenvalues at most 1/2.
Conjugate: with p = u + e_y in the simplex, l*(u) = sum_l p_l log p_l (0 log 0 = 0), inf elsewhere.
Prox: z = a - t p with a = v + t e_y and log p_l = z_l - nu, so that t p_l = omega(a_l - nu + log t), the Wright omega function;
nu solves sum_l p_l = 1. The left side is convex and decreasing in nu, and at least 1 at max a - t: Newton from there is monotone.
"""

import math

import numpy as np

from ..arrays import ROUNDING, bisected
from ..base import Array
from ..conic import Cone, Conic, MatrixEntries, joined
from ..elementary import added, omega, remainder, shifted, taylor, wright
from ..vector_loss import Codes, VectorLoss
from .rows import hot, in_simplex, into_simplex, others_of, own, slack


def masses(z, out):
    """out_l = exp(z_l - peak); the peak, which is the largest z_l, and the sum of out."""
    peak = largest(z)
    mass = 0.0
    for l in range(z.size):
        e = math.exp(z[l] - peak)
        out[l] = e
        mass += e
    return peak, mass


def powers(z, out):
    """out_il = exp(z_il - peak_i), peak_i being the largest of row i. Part of kernels.

    Written so that LLVM vectorises every loop over all entries (a fifth of the time of `math.exp`): see `elementary`.
    """
    n, k = z.shape
    flat = out.reshape(n * k)
    power = np.empty(n * k)
    bits = power.view(np.uint64)
    for i in range(n):
        row = z[i]
        peak = largest(row)
        for l in range(k):
            out[i, l] = max(row[l] - peak, -708.0)
    for j in range(n * k):
        s = shifted(flat[j])
        power[j] = s
        flat[j] = taylor(remainder(flat[j], s))
    for j in range(n * k):
        bits[j] = (bits[j] + np.uint64(1023)) << np.uint64(52)
    for j in range(n * k):
        e = flat[j] * power[j]
        flat[j] = 0.0 if e <= 3.31e-308 else e


def largest(z):
    """The largest z_l, by four at a time."""
    k = z.size
    a = b = c = d = z[0]
    for l in range(0, k - k % 4, 4):
        a = max(a, z[l])
        b = max(b, z[l + 1])
        c = max(c, z[l + 2])
        d = max(d, z[l + 3])
    for l in range(k - k % 4, k):
        a = max(a, z[l])
    return max(max(a, b), max(c, d))


def level(score, peak, mass, others):
    """log mass + peak - score; log1p where the class itself is the largest keeps the relative accuracy of small values."""
    return math.log1p(others) if score == peak else math.log(mass) + (peak - score)


class Softmax(VectorLoss):
    """log sum_l exp(z_l) - z_y."""

    name = "softmax"
    smoothness = 0.5
    conic_rows = 3

    @staticmethod
    def with_cost(y, c):
        # -z_y + <c, z> is to be -z_k
        rows = np.arange(y.size)
        wanted = -c
        wanted[rows, y] += 1.0
        codes = wanted.argmax(axis=1)
        wanted[rows, codes] -= 1.0
        return np.where((np.abs(wanted) <= ROUNDING).all(axis=1), codes, -1)

    @staticmethod
    def value_gradient_loop(z, y, w, out):
        """The loop `row_value_gradient` of `loss_loops`, by `powers` of all rows. The class's own entry is as in `tangent`."""
        powers(z, out)
        total = 0.0
        for i in range(y.size):
            row = out[i]
            score, top = z[i, y[i]], row[y[i]]
            row[y[i]] = 0.0
            others = added(row)
            mass = others + top
            share = w[i] / mass
            for l in range(row.size):
                row[l] *= share
            row[y[i]] = -(others * share)
            total += w[i] * (math.log1p(others) if top == 1.0 else math.log(mass) + (largest(z[i]) - score))
        return total

    @staticmethod
    def curvature_loop(z, y, w, out):
        """The loop `row_curvature` of `loss_loops`, by `powers` of all rows."""
        powers(z, out)
        for i in range(y.size):
            row = out[i]
            share = w[i] / added(row)
            for l in range(row.size):
                row[l] *= share

    @staticmethod
    def tangent(z, y, w, out):
        """Formula: see `VectorLoss.tangent`. The class's own entry is minus the sum of the others: no cancellation near p_y = 1."""
        peak, mass = masses(z, out)
        others = 0.0
        for l in range(z.size):
            if l != y:
                others += out[l]
                out[l] *= w / mass
        out[y] = -w * (others / mass)
        return w * level(z[y], peak, mass, others)

    @staticmethod
    def curvature(z, w, out):
        """Formula: see `VectorLoss.curvature`. The weighted masses w p."""
        mass = masses(z, out)[1]
        for l in range(z.size):
            out[l] *= w / mass

    @staticmethod
    def bent(h, v, out):
        """Formula: see `VectorLoss.bent`. w p (v - <p, v>)."""
        mass = 0.0
        mean = 0.0
        for l in range(h.size):
            mass += h[l]
            mean += h[l] * v[l]
        mean = mean / mass if mass > 0.0 else 0.0
        for l in range(h.size):
            out[l] = h[l] * (v[l] - mean)

    @staticmethod
    def bent_loop(h, v, out):
        """The loop `row_bent` of `loss_loops`, its sums by four side by side."""
        n, k = h.shape
        for i in range(n):
            p, x, into = h[i], v[i], out[i]
            m0 = m1 = m2 = m3 = 0.0
            s0 = s1 = s2 = s3 = 0.0
            for l in range(0, k - k % 4, 4):
                m0 += p[l]
                m1 += p[l + 1]
                m2 += p[l + 2]
                m3 += p[l + 3]
                s0 += p[l] * x[l]
                s1 += p[l + 1] * x[l + 1]
                s2 += p[l + 2] * x[l + 2]
                s3 += p[l + 3] * x[l + 3]
            for l in range(k - k % 4, k):
                m0 += p[l]
                s0 += p[l] * x[l]
            mass = (m0 + m1) + (m2 + m3)
            mean = ((s0 + s1) + (s2 + s3)) / mass if mass > 0.0 else 0.0
            for l in range(k):
                into[l] = p[l] * (x[l] - mean)

    @staticmethod
    def split_hessian(h: Array) -> tuple[Array, Array]:
        """w p, and w p over the square root of its sum over the classes."""
        mass = h.sum(axis=1, keepdims=True)
        root = np.sqrt(mass)
        return h, h * np.divide(1.0, root, out=np.zeros_like(mass), where=mass > 0.0)

    @staticmethod
    def prox(v, t, y, out):
        if t == 0.0:
            for l in range(v.size):
                out[l] = v[l]
            return
        log_t = math.log(t)
        peak = max(v[y] + t, largest(v))
        # a and nu are kept relative to the peak; out holds t p
        nu = -t
        for _ in range(100):
            mass = 0.0
            slope = 0.0
            for l in range(v.size):
                a = (v[l] + t if l == y else v[l]) - peak
                omega = wright(a - nu + log_t)
                out[l] = omega
                mass += omega
                slope += omega / (1.0 + omega)
            change = (mass - t) / slope
            nu += change
            if change <= 4e-16 * (abs(nu) + t):
                break
        for l in range(v.size):
            a = v[l] + t if l == y else v[l]
            omega = out[l]
            # the form without cancellation
            out[l] = peak + (nu + (math.log(omega) - log_t)) if omega > 1.0 else a - omega

    @staticmethod
    def conjugate(u, y, w):
        if others_of(u, y, math.inf) > w * (1.0 + slack(u)):
            return math.inf
        if w == 0.0:
            return 0.0
        q = -u[y] / w
        total = w * (1.0 - q) * math.log1p(-q) if q < 1.0 else 0.0
        for l in range(u.size):
            if l != y and u[l] > 0.0:
                total += u[l] * math.log(u[l] / w)
        return total

    @staticmethod
    def value_naive(z: Array, y: Codes) -> Array:
        """log sum_l exp(z_l) - z_y."""
        # with the class's own score at 0 a small value keeps its relative accuracy
        u = z - own(z, y)[:, None]
        top = np.maximum(u.max(axis=1), 0.0)
        with np.errstate(invalid="ignore"):
            u -= top[:, None]
            np.exp(u, out=u)
            u[np.arange(y.size), y] = 0.0
            # where another score is the largest the sum is at least 1
            found: Array = top + np.log1p(u.sum(axis=1) + np.expm1(-top))
        found[top == np.inf] = np.inf
        return found

    @staticmethod
    def gradient_naive(z: Array, y: Codes) -> Array:
        return np.exp(z - np.logaddexp.reduce(z, axis=1, keepdims=True)) - hot(y, z.shape[1])

    @staticmethod
    def conjugate_naive(u: Array, y: Codes) -> Array:
        """sum_l p_l log p_l with p = u + e_y in the simplex."""
        # p_y = 1 - q, whose logarithm keeps its digits
        q = np.clip(-own(u, y), 0.0, 1.0)
        # 0 log 0 = 0 = 1 log 1
        others = np.where(u > 0.0, u, 1.0)
        others[np.arange(y.size), y] = 1.0
        logs = np.einsum("ij,ij->i", others, np.log(others))
        with np.errstate(divide="ignore", invalid="ignore"):
            last = np.where(q < 1.0, (1.0 - q) * np.log1p(-q), 0.0)
        return np.where(in_simplex(u, y), logs + last, np.inf)

    @staticmethod
    def prox_naive(v: Array, t: Array, y: Codes) -> Array:
        """Bisection for nu, whose root lies between those of one entry of mass 1 and of k entries of mass 1 / k."""
        t = t[:, None]
        k = v.shape[1]
        a = v + t * hot(y, k)
        peak = a.max(axis=1, keepdims=True)
        lo, hi = peak - t, peak - t / k + np.log(k)
        nu = bisected(lambda nu: omega(a - nu + np.log(t)).sum(axis=1, keepdims=True) < t, lo, hi)
        found: Array = a - omega(a - nu + np.log(t))
        return found

    @staticmethod
    def into_domain_naive(u: Array, y: Codes) -> Array:
        return into_simplex(u, y)

    @staticmethod
    def conic(y: Codes, w: Array, k: int) -> Conic:
        """exp(z_l - z_y - t) <= u_l for each l with sum u <= 1, at the price t."""
        live = np.flatnonzero(w > 0.0)
        n = live.size
        of, label = np.repeat(np.arange(n), k), np.tile(np.arange(k), n)
        cone, own_label = np.arange(n * k), y[live][of]
        other = np.flatnonzero(label != own_label)
        row, at = n + 3 * cone, live[of] * k
        return Conic(
            y.size * k,
            n * (k + 1),
            extra_slope=np.concatenate([w[live], np.zeros(n * k)]),
            of_z=joined(
                [
                    MatrixEntries(row[other], at[other] + label[other], np.ones(other.size)),
                    MatrixEntries(row[other], at[other] + own_label[other], -np.ones(other.size)),
                ]
            ),
            of_u=joined(
                [
                    MatrixEntries(row, of, -np.ones(n * k)),
                    MatrixEntries(row + 2, n + cone, np.ones(n * k)),
                    MatrixEntries(of, n + cone, -np.ones(n * k)),
                ]
            ),
            offset=np.concatenate([np.ones(n), np.tile([0.0, 1.0, 0.0], n * k)]),
            cones=(Cone("nonnegative", n), Cone("exponential", 3 * n * k)) if n else (),
        )
