"""The costs of the methods on factors: iterations, data passes, seconds and bytes from the sizes alone.

Constants in nanoseconds of one thread, measured on the reference machine (`backends.costs`) with `benchmarks/matrices.py`.
"""

from __future__ import annotations

import math

from fwdsl.backends.kernels.pool import PARTIALS
from fwdsl.backends.method import Estimate
from fwdsl.bind.observed_places import PIECE
from fwdsl.canon.factored import EntryMap, Factored, StoredLoss
from fwdsl.spectral.bounds import RIGOROUS_SIDE

NS_PER_ENTRY = 0.8
"""One touch of an observed entry by one column of the factors or by one vector."""

NS_PER_MULTIPLY = 0.1
"""One multiplication within a dense product."""

NS_PER_SIDE = 5.0
"""The cost that orthogonalisation adds to a product within a Lanczos process, for each row and column of the matrix."""

NS_PER_FACTOR = 15.0
"""Vector operations of an iteration for each number of a factor: extrapolation, projection, norms."""

OVERHEAD = 5e-4
"""Seconds of an iteration whatever the size."""

RANK = 10.0
"""The rank that is assumed, as no one knows it beforehand."""


def lowrank(form: Factored, tol: float) -> Estimate:
    """Accelerated gradient on factors, which converges linearly once the rank is found: about sixty iterations to 1e-6.

    A step takes three products with the factors and a half for backtracking, a check of the rank every ten steps two hundred with
    vectors, the verifier five hundred.
    """
    iterations = 60.0 * _digits(tol)
    n, p = form.shape
    if isinstance(form.data, EntryMap):
        products = 20.0 * iterations
        seconds = _products(form, products + 500.0) + 1e-9 * NS_PER_ENTRY * 3.5 * RANK * iterations * form.data.nnz
        seconds += 1e-9 * NS_PER_FACTOR * RANK * iterations * (n + p)
        passes = 3.5 * iterations + products
        why = f"about {iterations:.0f} accelerated steps, the rank raised on the way"
    else:
        width = min(float(p), RANK + 4.0)
        passes = 2.0 + 2.0 * iterations * width / p
        seconds = 1e-9 * NS_PER_MULTIPLY * (passes * form.data.nnz + iterations * 4.0 * width * n * p)
        why = f"about {iterations:.0f} iterations of thin products, a data pass being A times a dense matrix"
    return Estimate(passes, seconds + OVERHEAD * iterations, _memory(form, 60.0, 10.0), why)


def factored_fw(form: Factored, tol: float) -> Estimate:
    """The gap falls like 1 / k; its constant was between 0.1 and 14 where it was measured."""
    iterations = 1.0 / tol
    why = f"about {iterations:.3g} rank-one steps: the gap falls like 1/k"
    return _gradient_steps(form, iterations, 25.0, why)


def block_fw(form: Factored, tol: float) -> Estimate:
    """Linear where the block is as large as the rank: about 8 steps a digit, each with a full gradient and two subspace iterations."""
    iterations = 48.0 * _digits(tol)
    why = f"about {iterations:.0f} block steps, if the block is as large as the rank of the solution"
    return _gradient_steps(form, iterations, 100.0, why)


def _digits(tol: float) -> float:
    """1 for 1e-6."""
    return max(1.0, -math.log10(tol)) / 6.0


def _gradient_steps(form: Factored, iterations: float, products: float, why: str) -> Estimate:
    """Steps with one gradient and so many products of it with vectors."""
    n, p = form.shape
    if isinstance(form.data, EntryMap):
        passes = iterations * (products + 3.0)
        seconds = _products(form, iterations * products)
    else:
        passes = iterations * (1.0 + RANK / p)
        seconds = 1e-9 * NS_PER_MULTIPLY * (passes * form.data.nnz + 2.0 * iterations * products * n * p)
    return Estimate(passes, seconds + 4.0 * OVERHEAD * iterations, _memory(form, 100.0, 6.0), why)


def _products(form: Factored, count: float) -> float:
    """Seconds of products of a sparse gradient with vectors, orthogonalised."""
    return 1e-9 * count * (NS_PER_ENTRY * form.data.nnz + NS_PER_SIDE * sum(form.shape))


def _memory(form: Factored, columns: float, vectors: float) -> float:
    """Bytes of factors of so many columns and of vectors over the predictions; of a product also gradients of X's size."""
    n, p = form.shape
    if isinstance(form.f, StoredLoss):
        # pieces of the entries, partial sums of G'U, the ends of rows; a gradient that is proven rigorously is written down
        written = 24.0 * form.data.count if min(n, p) <= RIGOROUS_SIDE else 0.0
        return 8.0 * (columns * (n + p) + 2.0 * n + PARTIALS * RANK * p + 40.0 * PIECE) + written
    gradients = 0.0 if isinstance(form.data, EntryMap) else 3.0 * n * p
    return 8.0 * (columns * (n + p) + vectors * form.data.count + gradients)
