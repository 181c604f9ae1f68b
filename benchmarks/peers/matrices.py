"""Matrices and signals, where CVXPY is the peer: trace norm, completion, total variation, trends, isotonic order, PSD regression."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from generators import completion as low_rank_entries

from .cases import EXACT, Array, Case, Instance, Peer, Point, classes, numbers, one_hot, packed
from .convex import convex

Signal = Callable[[], Array]


def trace_norm(data: Callable[[], tuple[Array, Array]], share: float) -> Instance:
    """1/2 |X W - Y|^2 + mu times the trace norm of W, mu a share of the largest useful one."""
    X, Y = data()
    mu = share * float(np.linalg.norm(X.T @ Y, 2))

    def state(cp: Any) -> Any:
        W = cp.Variable((X.shape[1], Y.shape[1]))
        return cp.sum_squares(X @ W - Y) / 2 + mu * cp.normNuc(W), [], [W]

    return Instance(
        "data X: matrix[n, p], Y: matrix[n, k]\nparam mu: nonnegative\nvar W: matrix[p, k]\n"
        "minimize 1/2 * sum(squared(X @ W, Y)) + mu * norm_nuc(W)\n",
        {"X": X, "Y": Y, "mu": mu},
        ["W"],
        lambda W: float(((X @ W - Y) ** 2).sum() / 2 + mu * np.linalg.norm(W, "nuc")),
        convex(state, numbers(X), ("CLARABEL", "SCS")),
    )


def tasks(name: str, rows: int) -> tuple[Array, Array]:
    """A file's rows, dense, and an indicator of each class."""
    X, labels = classes(name, rows)
    return np.ascontiguousarray(X.toarray()), one_hot(labels) - 0.5


def drawn_tasks(n: int, d: int, k: int, rank: int) -> tuple[Array, Array]:
    """Gaussian features, and weights of low rank."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, X @ rng.standard_normal((d, rank)) @ rng.standard_normal((rank, k)) + rng.standard_normal((n, k))


def completion(data: Callable[[], tuple[Any, Any, Array]], share: float) -> Instance:
    """1/2 the sum of squares over observed entries + mu times the trace norm."""
    rows, columns, values = data()
    shape = int(rows.max()) + 1, int(columns.max()) + 1
    seen = sp.csr_array((values, (rows, columns)), shape=shape)
    mu = share * float(np.linalg.norm(seen.toarray(), 2))

    def state(cp: Any) -> Any:
        B = cp.Variable(shape)
        return cp.sum_squares(B[rows, columns] - values) / 2 + mu * cp.normNuc(B), [], [B]

    def value(B: Any) -> float:
        full = np.asarray(B)
        return float(((full[rows, columns] - values) ** 2).sum() / 2 + mu * np.linalg.norm(full, "nuc"))

    return Instance(
        "data M: entries[n, p]\nparam mu: nonnegative\nvar B: matrix[n, p]\n"
        "minimize 1/2 * sum(squared(B[M], M)) + mu * norm_nuc(B)\n",
        {"M": (rows, columns, values), "mu": mu},
        ["B"],
        value,
        convex(state, shape[0] * shape[1], ("SCS", "CLARABEL")),
    )


def drawn_entries(n: int, p: int, observed: float) -> tuple[Any, Any, Array]:
    """Entries of a matrix of rank 3."""
    rows, columns, values, _ = low_rank_entries(n, p, rank=3, observed=observed)
    return rows, columns, values


def pixels(name: str, rows: int) -> tuple[Any, Any, Array]:
    """A third of the pixels of some pictures."""
    X = classes(name, rows)[0].toarray()
    kept = np.random.default_rng(0).random(X.shape) < 1 / 3
    kept[0] = kept[:, 0] = True
    at = np.nonzero(kept)
    return at[0], at[1], X[at]


# --- signals ---------------------------------------------------------------------------------------------------------------------


def steps(n: int) -> Array:
    """Twenty levels and noise."""
    rng = np.random.default_rng(0)
    return np.repeat(rng.standard_normal(20), -(-n // 20))[:n] * 2.0 + 0.5 * rng.standard_normal(n)


def in_order(name: str) -> Array:
    """The targets of a file in the order of a feature, of variance 1."""
    X, b = classes(name)
    feature = X.toarray()[:, 1 if name == "abalone" else 12]
    return np.asarray(b[np.argsort(feature, kind="stable")] / b.std())


def differences(signal: Signal, order: int, weight: float) -> Instance:
    """1/2 |x - y|^2 + weight times the l1 norm of the differences of that order: total variation, or a trend."""
    y = signal()
    n = y.size
    D = sp.eye_array(n, format="csr")
    for _ in range(order):
        D = sp.csr_array(D[1:] - D[:-1])

    def state(cp: Any) -> Any:
        x = cp.Variable(n)
        return cp.sum_squares(x - y) / 2 + weight * cp.norm1(D @ x), [], [x]

    text = "x[1:] - x[:-1]" if order == 1 else "D @ x"
    return Instance(
        f"data y: vector[n]{', D: matrix[m, n]' if order > 1 else ''}\nparam mu: nonnegative\nvar x: vector[n]\n"
        f"minimize 1/2 * sum(squared(x, y)) + mu * norm1({text})\n",
        {"y": y, "mu": weight, **({"D": D} if order > 1 else {})},
        ["x"],
        lambda x: float(((x - y) ** 2).sum() / 2 + weight * np.abs(D @ x).sum()),
        convex(state, n),
    )


def isotonic(signal: Signal) -> Instance:
    """|x - y|^2 over increasing x."""
    y = signal()
    y = y + np.linspace(0.0, 2.0, y.size)

    def sklearn(tol: float) -> Point:
        from sklearn.isotonic import isotonic_regression

        return (isotonic_regression(y),)

    def state(cp: Any) -> Any:
        x = cp.Variable(y.size)
        return cp.sum_squares(x - y), [cp.diff(x) >= 0], [x]

    return Instance(
        "data y: vector[n]\nvar x: vector[n]\nminimize sum(squared(x, y))\nsubject to x[1:] >= x[:-1]\n",
        {"y": y},
        ["x"],
        lambda x: float(((np.maximum.accumulate(x) - y) ** 2).sum()),
        [Peer("isotonic_regression", "sklearn", sklearn, EXACT), *convex(state, y.size)],
    )


# --- matrices that are positive semidefinite -------------------------------------------------------------------------------------


def psd_regression(data: Callable[[], tuple[Array, Array]]) -> Instance:
    """The mean of squares of u_i' X u_i - b_i over positive semidefinite X."""
    U, b = data()
    d = U.shape[1]
    products = np.ascontiguousarray((U[:, :, None] * U[:, None, :]).reshape(len(U), d * d))

    def state(cp: Any) -> Any:
        X = cp.Variable((d, d), PSD=True)
        return cp.sum_squares(products @ cp.vec(X, order="C") - b) / b.size, [], [X]

    def value(X: Array) -> float:
        size, basis = np.linalg.eigh((X + X.T) / 2)
        inside = (basis * np.maximum(size, 0.0)) @ basis.T
        return float(((np.einsum("ij,jk,ik->i", U, inside, U) - b) ** 2).mean())

    return Instance(
        "data U: matrix[n, d], b: vector[n]\nvar X: psd[d]\nminimize mean(squared(quad(U, X), b))\n",
        {"U": U, "b": b},
        ["X"],
        value,
        convex(state, numbers(products), ("CLARABEL", "SCS")),
    )


def squares(name: str, rows: int | None = None) -> tuple[Array, Array]:
    """A file's rows, and targets from 0."""
    X, b = classes(name, rows)
    return np.ascontiguousarray(packed(X)), b - b.min()


def drawn_squares(n: int, d: int) -> tuple[Array, Array]:
    """Gaussian rows, a truth of rank 3, and noise."""
    rng = np.random.default_rng(0)
    U, factor = rng.standard_normal((n, d)), rng.standard_normal((d, 3))
    return U, ((U @ factor) ** 2).sum(axis=1) + rng.standard_normal(n)


def cases() -> Iterator[Case]:
    """All of this file."""
    for name, size, data in (
        ("dna.scale, 500 rows", "small", partial(tasks, "dna.scale", 500)),
        ("usps, 1,000 rows", "small", partial(tasks, "usps", 1_000)),
        ("Gaussian 300 x 60 x 40", "small", partial(drawn_tasks, 300, 60, 40, 3)),
    ):
        yield Case("trace norm", f"{name}, 0.1 of the largest", size, partial(trace_norm, data, 0.1))
    entries: tuple[tuple[str, str, Callable[[], tuple[Any, Any, Array]]], ...] = (
        ("usps, 40 pictures", "small", partial(pixels, "usps", 40)),
        ("letter.scale, 300 rows", "small", partial(pixels, "letter.scale", 300)),
        ("rank 3, 100 x 60", "small", partial(drawn_entries, 100, 60, 0.3)),
        ("rank 3, 300 x 200", "medium", partial(drawn_entries, 300, 200, 0.2)),
    )
    for name, size, read in entries:
        yield Case("completion", f"{name}, 0.1 of the largest", size, partial(completion, read, 0.1))
    signals: tuple[tuple[str, str, Signal], ...] = (
        ("housing_scale", "small", partial(in_order, "housing_scale")),
        ("abalone", "small", partial(in_order, "abalone")),
        ("steps 5,000", "small", partial(steps, 5_000)),
        ("steps 100,000", "medium", partial(steps, 100_000)),
    )
    for name, size, signal in signals:
        yield Case("total variation", f"{name}, weight 2", size, partial(differences, signal, 1, 2.0))
        yield Case("trend filtering", f"{name}, weight 20", size, partial(differences, signal, 2, 20.0))
        yield Case("isotonic", name, size, partial(isotonic, signal))
    for name, size, pairs in (
        ("housing_scale", "small", partial(squares, "housing_scale")),
        ("abalone", "small", partial(squares, "abalone")),
        ("Gaussian 1,000 x 15", "small", partial(drawn_squares, 1_000, 15)),
    ):
        yield Case("PSD regression", name, size, partial(psd_regression, pairs))
