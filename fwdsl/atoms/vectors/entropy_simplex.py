"""c sum_i x_i log x_i on the simplex of sum r: g*(v) = r c log sum_i exp(v_i / c) - c r log r, at x = r softmax(v / c).

Prox: with tau = t c, x_i = tau omega((v_i - nu) / tau - 1 - log tau) at the nu with sum x = r. The sum is convex and decreasing in nu and at least r
at nu = max v - r - tau (1 + log r), where the largest entry alone is r: Newton from there is monotone.
"""

from __future__ import annotations

import math

import numpy as np

from ..base import Array
from ..elementary import omega, wright
from .common import Joint
from .entropy import Entropy
from .simplex import Simplex


def lines_entropy_simplex_kernel(v, t, out, n, d, across, along, c, r):
    """Kernel: the prox along each of n lines of d entries; line i holds the entries i * across + j * along."""
    # a step of nothing, whose prox is the projection, is to rounding one of very little
    tau = max(t * c, 1e-14 * r)
    if r == 0.0:
        for i in range(v.size):
            out[i] = 0.0
        return
    log_tau = math.log(tau)
    for i in range(n):
        start = i * across
        peak = -math.inf
        for j in range(d):
            peak = max(peak, v[start + j * along])
        # nu is relative to the peak; out holds omega
        nu = -r - tau * (1.0 + math.log(r))
        mass = 0.0
        for _ in range(200):
            mass = 0.0
            slope = 0.0
            for j in range(d):
                w = wright(((v[start + j * along] - peak) - nu) / tau - 1.0 - log_tau)
                out[start + j * along] = w
                mass += w
                slope += w / (1.0 + w)
            change = (tau * mass - r) / slope
            nu += change
            if change <= 4e-16 * (abs(nu) + r + tau):
                break
        # the sum of rounded terms is put right
        for j in range(d):
            out[start + j * along] *= r / mass


class EntropySimplex(Joint):
    """`c * entropy` on `simplex(r)`."""

    on: Simplex

    pair = ("entropy", "simplex")
    of = Entropy
    polyhedral = False
    normal_sees_x = True
    prox_kernel = staticmethod(lines_entropy_simplex_kernel)

    def prox(self, v: Array, t: float) -> Array:
        """tau omega((v - nu) / tau - 1 - log tau), nu by Newton."""
        r = self.on.r
        tau = max(t * self.c, 1e-14 * r)
        if r == 0.0 or not self.size:
            return np.zeros_like(v)
        peak = float(v.max())
        nu = -r - tau * (1.0 + math.log(r))
        for _ in range(200):
            x = tau * omega(((v - peak) - nu) / tau - 1.0 - math.log(tau))
            change = (float(x.sum()) - r) / float((x / (tau + x)).sum())
            nu += change
            if change <= 4e-16 * (abs(nu) + r + tau):
                break
        return x * (r / float(x.sum()))

    def conjugate(self, v: Array) -> float:
        """r c log sum exp(v / c) - c r log r."""
        r = self.on.r
        return r * self.c * (float(np.logaddexp.reduce(v / self.c)) - math.log(r)) if r > 0.0 else 0.0

    def normal_part(self, x: Array, rest: Array) -> Array:
        """`rest` less c (1 + log x); where x = 0, and the slope is infinite, its negative part."""
        positive = x > 0.0
        slope = self.c * (1.0 + np.log(np.where(positive, x, 1.0)))
        return np.where(positive, rest - slope, np.minimum(rest, 0.0))

    def kernel_args(self) -> tuple[object, ...]:
        return 1, self.size, self.size, 1, self.c, self.on.r
