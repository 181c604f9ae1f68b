"""Synthetic problems with known structure, each fixed by its seed; NumPy and SciPy only.

A function returns the data of a problem whose shape is that of a real task (text rows, correlated features, ratings, ...) and whose
labels or targets come from a truth of the kind that the regulariser looks for (sparse, low-rank, in the simplex). The random
numbers are drawn in a fixed order: the same seed gives the same arrays, so that figures can be compared between versions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
Generator = np.random.Generator


def _flipped(signs: Array, rng: Generator, share: float = 0.05) -> Array:
    """The signs with a random share of them turned around: no separating plane is left."""
    signs[rng.random(signs.size) < share] *= -1
    return signs


def _signs(score: Array, threshold: float = 0.0) -> Array:
    """+1 above the threshold, -1 elsewhere."""
    return np.where(score > threshold, 1.0, -1.0)


def _sparse_truth(d: int, support: int, rng: Generator) -> Array:
    """A vector of d numbers with `support` standard normal ones, at random places, and zeros."""
    truth = np.zeros(d)
    truth[rng.choice(d, support, replace=False)] = rng.standard_normal(support)
    return truth


def rcv1_like(
    n: int = 20_000, d: int = 50_000, row_nnz: int = 70, topics: int = 40, seed: int = 0
) -> tuple[sp.csr_array, Array]:
    """Text-like rows: (A: csr (n, d) with rows of length 1, b: (n,) in {-1, 1}).

    Words follow a power law, half of them from the document's topic; counts are weighted as tf-idf. A document's sign is that of a
    sparse truth plus an effect of its topic, 5 % of them flipped. The default has about 1.3 million nonzeros.
    """
    rng = np.random.default_rng(seed)
    word = (np.arange(1, d + 1) + 10.0) ** -1.0
    word /= word.sum()
    A, topic = _documents(n, d, row_nnz, topics, np.cumsum(word), rng)
    size = min(2000, d // 4)
    truth = np.zeros(d)
    truth[rng.choice(d, size, replace=False, p=word * 0.5 + 0.5 / d)] = 4 * rng.standard_normal(size)
    score = A @ truth + 0.5 * rng.standard_normal(topics)[topic]
    return A, _flipped(_signs(score, float(np.median(score))), rng)


def _documents(
    n: int, d: int, row_nnz: int, topics: int, cumulated: Array, rng: Generator
) -> tuple[sp.csr_array, Indices]:
    """tf-idf rows of unit length, and the topic of each; `cumulated` are the cumulated frequencies of the words."""
    length = np.maximum(5, rng.lognormal(np.log(row_nnz) - 0.125, 0.5, n)).astype(int)
    rows = np.repeat(np.arange(n), length)
    common = np.minimum(np.searchsorted(cumulated, rng.random(rows.size)), d - 1)
    topic, shuffled = rng.integers(0, topics, n), rng.permutation(d)
    words_a_topic = d // topics
    local = np.searchsorted(cumulated, rng.random(rows.size) * cumulated[words_a_topic - 1])
    special = shuffled[(topic[rows] * words_a_topic + local) % d]
    columns = np.where(rng.random(rows.size) < 0.5, special, common)
    A = sp.csr_array(sp.coo_array((np.ones(rows.size), (rows, columns)), shape=(n, d)))
    documents_with = np.maximum(1, np.bincount(A.indices, minlength=d))
    A.data = (1 + np.log(A.data)) * (np.log(n / documents_with) + 1e-3)[A.indices]
    A.data /= np.repeat(np.sqrt(np.add.reduceat(A.data**2, A.indptr[:-1])), np.diff(A.indptr))
    return A, topic


def dense_signs(
    n: int = 50_000, d: int = 200, support: int = 50, correlation: float = 0.3, seed: int = 0
) -> tuple[Array, Array]:
    """Correlated Gaussian rows of length 1: (A: (n, d), b: (n,) in {-1, 1}), signs of a sparse truth, 5 % flipped.

    Ten common factors explain the share `correlation` of the variance. The default is tall; n=500, d=20_000 is wide.
    """
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) * np.sqrt(1 - correlation)
    A += rng.standard_normal((n, 10)) @ rng.standard_normal((10, d)) * np.sqrt(correlation / 10)
    A /= np.linalg.norm(A, axis=1, keepdims=True)
    return A, _flipped(_signs(np.asarray(A @ _sparse_truth(d, support, rng))), rng)


def simplex_ls(n: int = 20_000, d: int = 256, seed: int = 0) -> tuple[Array, Array]:
    """Least squares whose truth lies in the simplex: (A: (n, d) Gaussian, b = A w + 0.1 noise), w uniform in the simplex."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    return A, A @ rng.dirichlet(np.ones(d)) + 0.1 * rng.standard_normal(n)


def sparse_rows(
    n: int = 2_000, d: int = 5_000, row_nnz: int = 50, support: int = 100, seed: int = 0
) -> tuple[sp.csr_array, Array]:
    """Gaussian entries, `row_nnz` a row (repeated places are added up): (A: csr (n, d), b: (n,) in {-1, 1}), 5 % flipped."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, d, (n, row_nnz)).ravel()
    entries = (rng.standard_normal(n * row_nnz), (np.repeat(np.arange(n), row_nnz), columns))
    A = sp.csr_array(sp.coo_array(entries, shape=(n, d)))
    return A, _flipped(_signs(np.asarray(A @ _sparse_truth(d, support, rng))), rng)


def trace_norm(
    n: int = 1_000, d: int = 800, c: int = 600, rank: int = 10, noise: float = 0.0, seed: int = 0
) -> tuple[Array, Array, float]:
    """Multi-output regression: (A: (n, d) Gaussian, B = A X + noise of shape (n, c), radius), X of the given rank.

    The radius is half the trace norm of X. A is not normalised: with unit rows the trace-norm ball would not bind.
    """
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    left, right = rng.standard_normal((d, rank)), rng.standard_normal((rank, c)) / np.sqrt(d)
    X = left @ right
    radius = 0.5 * float(np.linalg.svd(X, compute_uv=False).sum())
    return A, A @ X + noise * rng.standard_normal((n, c)), radius


def completion(
    n: int = 5_000,
    p: int = 3_000,
    rank: int = 10,
    observed: float = 0.01,
    noise: float = 0.3,
    share: float = 0.3,
    seed: int = 0,
) -> tuple[Indices, Indices, Array, float]:
    """Some entries of a low-rank matrix of unit variance, plus noise: (rows, columns, values, radius).

    The share `observed` of all entries is drawn; the radius is `share` of the matrix's trace norm.
    """
    rng = np.random.default_rng(seed)
    places = np.unique(rng.integers(0, n * p, int(observed * n * p * 1.005)))
    rows, columns = places // p, places % p
    U, V = rng.standard_normal((n, rank)) / np.sqrt(rank), rng.standard_normal((p, rank))
    values = np.einsum("ij,ij->i", U[rows], V[columns]) + noise * rng.standard_normal(rows.size)
    # |U V'|_* without forming it: the singular values are those of the product of the two triangular factors
    triangle_u, triangle_v = np.linalg.qr(U)[1], np.linalg.qr(V)[1]
    trace = np.linalg.svd(triangle_u @ triangle_v.T, compute_uv=False).sum()
    return rows, columns, values, share * float(trace)


def sublinear(size: int = 1_000, seed: int = 0) -> tuple[Array, Indices]:
    """The multiclass problem of Babichev et al. (2019) with n = d = k = size: (X Gaussian (n, n), y: (n,) classes).

    The truth is the identity: y = argmax over classes of X + noise / sqrt(d).
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((size, size))
    return X, np.argmax(X + rng.standard_normal((size, size)) / np.sqrt(size), axis=1)


def factorised(
    n: int = 5_000, p: int = 100, rank: int = 20, support: int = 50, seed: int = 0
) -> tuple[Array, Array, Array]:
    """Data given as a product, as in DSPDC (Yu et al., 2015, section 6.1): (U: (n, rank), V: (rank, p), b: (n,) in {-1, 1}).

    U = X G' and V = G for Gaussian X (n, p) and G (rank, p) of variance 1 / rank; labels are logistic in the first columns of X.
    """
    rng = np.random.default_rng(seed)
    X, G = rng.standard_normal((n, p)), rng.standard_normal((rank, p)) / np.sqrt(rank)
    odds = X[:, :support].sum(axis=1)
    return X @ G.T, G, np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), 1.0, -1.0)


def matrix_risk(n: int = 100, blocks: int = 100, d: int = 100, seed: int = 0) -> tuple[NDArray[Any], Array]:
    """Stacks of Gaussian matrices, as in DSPDC (Yu et al., 2015, section 6.2): (D: (n, blocks, d, d), b: (n,) in {-1, 1}).

    b_i is the sign of the sum over blocks of trace(D_ij). D takes 8 n blocks d^2 bytes: 800 MB by default.
    """
    rng = np.random.default_rng(seed)
    D = rng.standard_normal((n, blocks, d, d))
    return D, _signs(np.einsum("njaa->n", D))
