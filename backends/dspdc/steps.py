r"""The step sizes of DSPDC (Yu, Lin, Yang 2015): Theorems 1 and 2 with (14) to (16) and (18), and Lambda of (8), or (27) for blocks of variables.

Lambda bounds |K_I^J|_2^2 over blocks of m rows and q columns. Behind (17) the paper suggests the estimate m q max_i |K_i|^2 / p, which is up to
90 times too large for blocks of matrices and 14 times too small for sparse rows, as measured. The other guess is 1.1 times the largest of some
random blocks, by power iterations.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.light_dataclass import light_dataclass

LEAST_SCALE = 1e-12
"""The least Lambda for which steps are worked out, relative to that at which the two terms of rho are equal: without data steps would be infinite."""

Index = NDArray[np.intp]

SAMPLES = 10
"""Blocks that are looked at, fewer where they are large."""

POWERS = 6
"""Power iterations on each."""

PASSES = 6.0
"""Data passes that all of them may take."""

SAFETY = 1.1
"""The factor on the largest one found."""


@light_dataclass
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


@light_dataclass
class Sampler:
    """A block by its products; `columns` is the size of its argument."""

    apply: Callable[[Array], Array]
    adjoint: Callable[[Array], Array]
    columns: int


def block_scale(block: Sampler, seed: int, look: Callable[[], None]) -> float:
    """|B|_2^2 from below, by power iterations from a random start; `look` is called before each, and may raise."""
    x = np.random.default_rng(seed).standard_normal(block.columns)
    found = 0.0
    for _ in range(POWERS):
        look()
        size = float(np.linalg.norm(x))
        if size == 0.0:
            return found
        z = block.apply(x / size)
        found = max(found, float(z @ z))
        x = block.adjoint(z)
    return found


def sampled_scale(
    sampler: Callable[[Index, Index], Sampler],
    n: int,
    p: int,
    m: int,
    q: int,
    rng: np.random.Generator,
    look: Callable[[], None],
) -> float:
    """1.1 times the largest |K_I^J|_2^2 of random blocks, of as many as a few data passes allow."""
    largest = 0.0
    share = 2.0 * POWERS * m * q / (n * p)
    for _ in range(max(1, min(SAMPLES, int(PASSES / share)))):
        rows = np.sort(rng.choice(n, m, replace=False, shuffle=False))
        columns = np.sort(rng.choice(p, q, replace=False, shuffle=False))
        largest = max(largest, block_scale(sampler(rows, columns), int(rng.integers(2**31)), look))
    return SAFETY * largest
