r"""The step rules of GSFW (Lu, Freund 2018, Theorems 3.1 and 3.2): eta, alpha and the weights gamma of iterations i = 0, 1, ...

N = n / b is the number of batches. It takes the place of n in the paper's rules for single samples, also within sigma.
"""

from __future__ import annotations

import math

import numpy as np

from fwdsl.atoms.base import Array


def open_loop(first: int, count: int, batches: float) -> tuple[Array, Array, Array]:
    """(eta, alpha, gamma) of Theorem 3.1 and Proposition 3.6: 2 N / (2 N + i + 1), 2 (2 N + i) / ((4 N + i) (i + 1)), 2 N + i."""
    i = np.arange(first, first + count, dtype=np.float64)
    gamma = 2.0 * batches + i
    return 2.0 * batches / (gamma + 1.0), 2.0 * gamma / ((4.0 * batches + i) * (i + 1.0)), gamma


def linear(first: int, count: int, batches: float, sigma: float) -> tuple[Array, Array]:
    r"""(eta, alpha) of Theorem 3.2: 1 / sigma and

        alpha_i = N^{-1} sigma^i / (sigma^{i+1} - (sigma - 1/N)^{i+1}) = q / (1 - (1 - q)^{i+1}),   q = 1 / (N sigma)

    the second form, by expm1 and log1p, neither overflows nor cancels.
    """
    share = 1.0 / (batches * sigma)
    i = np.arange(first + 1, first + count + 1, dtype=np.float64)
    eta = np.full(count, 1.0 / sigma)
    if share >= 1.0:
        return eta, np.ones(count)
    return eta, share / -np.expm1(i * math.log1p(-share))


def block_smoothness(rows: Array, batch: int, mu: float) -> float:
    """sigma - 1 of Proposition 3.7 for batches: D is smooth relative to h on a batch B with beta |W^{1/2} A_B|^2 / mu + 1.

    The squared norm is at most the sum of the `batch` largest w_j |a_j|^2; `rows` are beta w_j |a_j|^2.
    """
    largest = np.partition(rows, rows.size - batch)[rows.size - batch :] if batch < rows.size else rows
    return float(largest.sum()) / mu
