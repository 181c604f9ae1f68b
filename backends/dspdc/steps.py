"""The step sizes of DSPDC: Theorems 1 and 2 of Yu, Lin and Yang 2015, equations (14) to (16) and (18)."""

from __future__ import annotations

import math
from dataclasses import dataclass

LEAST_SCALE = 1e-12
"""The least Lambda for which steps are worked out, relative to that at which the two terms of rho are equal: without data steps would be infinite."""


@dataclass(frozen=True)
class StepSizes:
    """tau, sigma and theta of one choice of Lambda; `rate` is 1 - the contraction of an iteration."""

    tau: float
    sigma: float
    theta: float
    rate: float


def steps_of(n: int, p: int, m: int, q: int, mu: float, gamma: float, scale: float, theorem: int) -> StepSizes:
    """The steps for batches of m of n dual and q of p primal blocks, g mu-strongly convex, phi_i (1 / gamma)-smooth, Lambda = `scale`.

        a = n/m - p/q,   c = 4 (n p)^2 Lambda / ((m q)^2 n mu gamma),   S = sqrt(a^2 + c)
        tau = (p / (q mu)) / (a + S),   sigma = (n^2 / (m gamma)) / (S - a)                     (15), (16)
        rho = sqrt(Lambda / (mu gamma n)) n p / (m q) + max(n/m, p/q)
        theta = (p/q) (1 - 1/rho) by Theorem 1 (14), (p/q) (1 - 1/(2 rho)) by Theorem 2 (18)

    tau sigma = n m q / (4 p Lambda), and each iteration contracts by 1 - 1/rho (1 - 1/(2 rho)). Of a + S and S - a the smaller one is computed
    from their product c, which loses no digits.
    """
    rows, columns = n / m, p / q
    even = mu * gamma * n * (max(rows, columns) / (rows * columns)) ** 2
    scale = max(scale, LEAST_SCALE * even)
    a = rows - columns
    c = 4.0 * (rows * columns) ** 2 * scale / (n * mu * gamma)
    root = math.sqrt(a * a + c)
    plus = a + root if a >= 0.0 else c / (root - a)
    minus = root - a if a <= 0.0 else c / (root + a)
    rho = rows * columns * math.sqrt(scale / (mu * gamma * n)) + max(rows, columns)
    rate = 1.0 / rho if theorem == 1 else 0.5 / rho
    return StepSizes(columns / mu / plus, n * rows / gamma / minus, columns * (1.0 - rate), rate)
