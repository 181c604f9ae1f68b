"""Algorithms 1 and 2 of Lu and Freund as they are written, with the references, a sample at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq

from fwdsl.backends.finite_sum import draws
from fwdsl.backends.gsfw.gsfw import drawn
from tests.baselines.common import Naive

Array = Any


def rows_of(naive: Naive, batch: int, k: int, seed: int = 0) -> Array:
    """The batches of the k first iterations, drawn as the method does with steps of one epoch."""
    a_step = round(naive.n / batch)
    steps = [drawn(draws(seed, t), naive.n, batch, a_step) for t in range(-(-k // a_step))]
    return np.concatenate(steps)[:k]


class Primal:
    """Algorithm 1: s, the response and its mean; `respond` is the oracle."""

    def __init__(self, naive: Naive, respond: Any, x: Array) -> None:
        self.naive, self.respond, self.x = naive, respond, x
        self.s = (naive.K @ x) + naive.offset.reshape(naive.n, -1)
        self.last = x

    def slopes(self, s: Array) -> Array:
        """w_j l'(s_j), one row a sample."""
        return self.naive.term.f.gradient(s.reshape(-1)).reshape(self.naive.n, -1)

    def gradient(self) -> Array:
        """The substitute gradient, from all of s."""
        naive = self.naive
        return naive.back(self.slopes(self.s), np.arange(naive.n)) + naive.q

    def iterate(self, rows: Array, eta: float, alpha: float) -> None:
        """One iteration."""
        self.last = self.respond(self.gradient())
        for j in rows:
            at = self.naive.K[j] @ self.last + self.naive.offset.reshape(self.naive.n, -1)[j]
            self.s[j] = (1.0 - eta) * self.s[j] + eta * at
        self.x = (1.0 - alpha) * self.x + alpha * self.last


def dual_slope(loss: str, u: float, b: float) -> float:
    """The derivative of l*(.; b) at u."""
    if loss == "squared":  # l* = u^2 / 4 + b u
        return 0.5 * u + b
    q = -b * u  # l* = q log q + (1 - q) log(1 - q)
    return float(-b * np.log(q / (1.0 - q)))


def mirror(loss: str, u: float, b: float, g: float, eta: float) -> float:
    """argmin_v -eta g v + B(v, u) of h = l*: its derivative there is that at u plus eta g."""
    target = dual_slope(loss, u, b) + eta * g
    ends = (-1e3, 1e3) if loss == "squared" else ((1e-13 - 1.0, -1e-13) if b > 0 else (1e-13, 1.0 - 1e-13))
    return float(brentq(lambda v: dual_slope(loss, v, b) - target, *ends, xtol=1e-16, rtol=1e-14))


class Dual:
    """Algorithm 2 in the dual alone: u in the paper's scale, y = w u in ours; no s."""

    def __init__(self, naive: Naive, respond: Any, loss: str, x: Array) -> None:
        self.naive, self.respond, self.loss = naive, respond, loss
        f = naive.term.f
        self.w, self.b = f.w, f.b
        self.u = f.gradient(naive.K[:, 0] @ x + naive.offset) / self.w
        self.last = x

    def iterate(self, rows: Array, eta: float) -> None:
        """One iteration."""
        naive = self.naive
        y = self.w * self.u
        self.last = self.respond(naive.back(y[:, None], np.arange(naive.n)) + naive.q)
        for j in rows:
            # times n, as h is: w_j cancels
            g = naive.K[j, 0] @ self.last + naive.offset[j] - dual_slope(self.loss, self.u[j], self.b[j])
            self.u[j] = mirror(self.loss, self.u[j], self.b[j], g, eta)
