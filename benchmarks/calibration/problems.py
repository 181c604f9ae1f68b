"""The problems that costs are fitted to and tested on: programs crossed with data, weights from strong to weak."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from data_sets import read_libsvm
from generators import completion, rcv1_like, simplex_ls, sparse_rows, trace_norm
from numpy.typing import NDArray

Array = NDArray[np.float64]
Data = tuple[Any, Array]


@dataclass(frozen=True)
class Case:
    """A program with data that are made when its turn comes. One of three is `held_out`: nothing is fitted to it."""

    family: str
    data: str
    weight: str
    make: Callable[[], tuple[str, Mapping[str, Any]]]
    held_out: bool = False

    @property
    def name(self) -> str:
        """The program, the data and the weight."""
        return f"{self.family}, {self.data}{f', {self.weight}' if self.weight else ''}"


# --- data -----------------------------------------------------------------------------------------------------------------


@cache
def _file(name: str, rows: int) -> Data:
    X, labels = read_libsvm(name)
    kept = np.sort(np.random.default_rng(0).permutation(labels.size)[:rows])
    X = sp.csr_array(X[kept])
    X = X / X.max() if X.max() > 100 else X
    return (np.ascontiguousarray(X.toarray()) if X.nnz >= 0.25 * X.shape[0] * X.shape[1] else X), labels[kept]


@cache
def _drawn(n: int, d: int, decay: float, correlation: float) -> Data:
    """Gaussian rows with ten common factors, columns that shrink to `decay`, and a sparse truth."""
    rng = np.random.default_rng(n + d)
    X = np.sqrt(1 - correlation) * rng.standard_normal((n, d))
    X += np.sqrt(correlation / 10) * rng.standard_normal((n, 10)) @ rng.standard_normal((10, d))
    X *= np.logspace(0.0, np.log10(decay), d)
    truth = np.zeros(d)
    truth[rng.choice(d, max(2, d // 10), replace=False)] = rng.standard_normal(max(2, d // 10))
    return X, X @ truth + 0.5 * rng.standard_normal(n)


@cache
def _sparse(kind: str, n: int, d: int) -> Data:
    return rcv1_like(n, d) if kind == "text" else sparse_rows(n, d, 20)


SOURCES: Mapping[str, Callable[[], Data]] = {
    "tall": partial(_drawn, 3000, 60, 1.0, 0.3),
    "wide": partial(_drawn, 250, 2000, 1.0, 0.3),
    "stiff": partial(_drawn, 1000, 300, 1e-3, 0.5),
    "small": partial(_drawn, 100, 10, 1.0, 0.0),
    "text": partial(_sparse, "text", 3000, 6000),
    "sparse": partial(_sparse, "rows", 2000, 1000),
    "abalone": partial(_file, "abalone", 5000),
    "housing_scale": partial(_file, "housing_scale", 5000),
    "a1a": partial(_file, "a1a", 5000),
    "splice": partial(_file, "splice", 5000),
    "w8a": partial(_file, "w8a", 8000),
    "australian": partial(_file, "australian", 5000),
    "west_breast": partial(_file, "west_breast", 5000),
    "usps": partial(_file, "usps", 1500),
    "dna.scale": partial(_file, "dna.scale", 2000),
}


def _target(b: Array) -> Array:
    return np.asarray((b - b.mean()) / b.std())


def _signs(b: Array) -> Array:
    return np.where(b > np.median(b) if np.unique(b).size > 2 else b == b.max(), 1.0, -1.0)


def _classes(b: Array) -> Array:
    """Whole numbers from 0: the classes, or fifths of the targets."""
    values = np.unique(b)
    if values.size > 26:
        return np.searchsorted(np.quantile(b, [0.2, 0.4, 0.6, 0.8]), b).astype(float)
    return np.searchsorted(values, b).astype(float)


# --- programs over rows -----------------------------------------------------------------------------------------------------

HEAD = "data X: matrix[n, p], y: {target}[n]\nparam c: positive\n"


@dataclass(frozen=True)
class Family:
    """A program of rows: `scale` gives the parameter c as a share of the largest useful one, or c itself."""

    body: str
    target: str
    sources: str
    weights: tuple[float, ...]
    scale: Callable[[Any, Array], float] = lambda X, y: 1.0


def _gradient(X: Any, y: Array) -> float:
    """The largest useful weight of norm1 beside a mean of losses of slope 1 at zero."""
    return float(np.abs(X.T @ y).max()) / y.size


def _group(X: Any, y: Array) -> float:
    return _gradient(X, y) * 2.0


def _half(X: Any, y: Array) -> float:
    return 0.5 * _gradient(X, y)


def _mean_row(X: Any, y: Array) -> float:
    """The mean squared length of a row: beside a mean of losses, a ridge of this size is strong."""
    return float((X.multiply(X) if sp.issparse(X) else X * X).sum()) / y.size


def _length(X: Any, y: Array) -> float:
    """The 1-norm of a ridge fit: a ball of this radius binds."""
    A = X.toarray() if sp.issparse(X) else X
    small = A.shape[0] < A.shape[1]
    G = A @ A.T if small else A.T @ A
    G = G + 0.1 * np.trace(G) / len(G) * np.eye(len(G))
    w = A.T @ np.linalg.solve(G, y) if small else np.linalg.solve(G, A.T @ y)
    return float(np.abs(w).sum())


W, WB = "var w: vector[p]\n", "var w: vector[p], b: real\n"
FAMILIES: Mapping[str, Family] = {
    "lasso": Family(
        W + "minimize 1/2 * mean(squared(X @ w, y)) + c * norm1(w)\n",
        "vector",
        "tall wide stiff text abalone housing_scale west_breast small",
        (0.5, 0.1, 0.01),
        _gradient,
    ),
    "elastic net": Family(
        W + "minimize 1/2 * mean(squared(X @ w, y)) + c * norm1(w) + c / 10 * sum_squares(w)\n",
        "vector",
        "tall wide sparse usps",
        (0.1, 0.01),
        _gradient,
    ),
    "l1-ball least squares": Family(
        "var w: vector[p] in l1_ball(c)\nminimize mean(squared(X @ w, y))\n",
        "vector",
        "tall wide stiff text abalone small",
        (0.1, 0.7),
        _length,
    ),
    "group lasso": Family(
        "data g: index[p] of G\n" + W + "minimize 1/2 * mean(squared(X @ w, y)) + c * group_norm(w, groups=g)\n",
        "vector",
        "tall wide usps",
        (0.3, 0.03),
        _group,
    ),
    "sparse huber": Family(
        W + "minimize mean(huber(X @ w, y)) + c * norm1(w)\n",
        "vector",
        "tall wide stiff abalone west_breast",
        (0.1, 0.01),
        _gradient,
    ),
    "ridge": Family(
        W + "minimize mean(squared(X @ w, y)) + c * sum_squares(w)\n",
        "vector",
        "tall wide stiff text usps abalone small",
        (1e-2, 1e-3, 1e-5),
        _mean_row,
    ),
    "nonnegative least squares": Family(
        "var w: vector[p] in nonnegative\nminimize 1/c * mean(squared(X @ w, y))\n",
        "vector",
        "tall stiff abalone text small",
        (1.0,),
    ),
    "box least squares": Family(
        "var w: vector[p] in box(-c, c)\nminimize mean(squared(X @ w, y))\n",
        "vector",
        "tall stiff usps small",
        (0.01,),
        _length,
    ),
    "least absolute": Family(
        W + "minimize mean(absolute(X @ w, y)) + c * norm1(w)\n",
        "vector",
        "tall wide abalone housing_scale small",
        (0.1, 0.01),
        _gradient,
    ),
    "quantile": Family(
        WB + "minimize mean(quantile(X @ w + b, y, tau=0.8)) + c * sum_squares(w)\n",
        "vector",
        "tall abalone housing_scale small",
        (1e-4,),
        _mean_row,
    ),
    "sparse logistic": Family(
        W + "minimize mean(logistic(X @ w, y)) + c * norm1(w)\n",
        "signs",
        "tall wide stiff text a1a splice w8a small",
        (0.3, 0.03),
        _half,
    ),
    "l1-ball logistic": Family(
        "var w: vector[p] in l1_ball(c)\nminimize mean(logistic(X @ w, y))\n",
        "signs",
        "tall wide text a1a splice australian",
        (0.3, 2.0),
        _length,
    ),
    "l2 logistic": Family(
        WB + "minimize mean(logistic(X @ w + b, y)) + c * sum_squares(w)\n",
        "signs",
        "tall stiff text wide a1a usps small",
        (1e-2, 1e-5),
        _mean_row,
    ),
    "squared hinge": Family(
        W + "minimize mean(squared_hinge(X @ w, y)) + c * sum_squares(w)\n",
        "signs",
        "tall stiff text wide w8a small",
        (1e-2, 1e-3, 1e-5),
        _mean_row,
    ),
    "hinge": Family(
        WB + "minimize mean(hinge(X @ w + b, y)) + c * sum_squares(w)\n",
        "signs",
        "tall wide a1a splice australian small",
        (1e-2, 1e-4),
        _mean_row,
    ),
    "smooth hinge on a ball": Family(
        "var w: vector[p] in l1_ball(c)\nminimize mean(smooth_hinge(X @ w, y)) + 1e-4 * sum_squares(w)\n",
        "signs",
        "tall text a1a",
        (0.3, 2.0),
        _length,
    ),
    "sparse hinge": Family(
        W + "minimize mean(hinge(X @ w, y)) + c * norm1(w)\n",
        "signs",
        "tall wide splice small",
        (0.1,),
        _gradient,
    ),
    "simplex least squares": Family(
        "var w: vector[p] in simplex(1)\nminimize c * mean(squared(X @ w, y))\n",
        "vector",
        "tall stiff usps abalone small",
        (1.0,),
    ),
    "polytope least squares": Family(
        "data V: matrix[m, p]\nvar w: vector[p] in polytope(V)\nminimize c * mean(squared(X @ w, y))\n",
        "vector",
        "tall abalone small",
        (1.0,),
    ),
    "multitask": Family(
        "var W: matrix[p, k]\nminimize 1/2 * mean(squared(X @ W, Y)) + c * norm21(W)\n",
        "tasks",
        "tall usps dna.scale",
        (0.3, 0.03),
        _group,
    ),
    "softmax with l1": Family(
        "var W: matrix[p, k]\nminimize mean(softmax(X @ W, y)) + c * norm1(W)\n",
        "classes",
        "tall usps dna.scale",
        (0.1, 0.01),
        _half,
    ),
    "softmax with l2": Family(
        "var W: matrix[p, k]\nminimize mean(softmax(X @ W, y)) + c * sum_squares(W)\n",
        "classes",
        "tall usps dna.scale small",
        (1e-2, 1e-5),
        _mean_row,
    ),
    "Crammer-Singer": Family(
        "var W: matrix[p, k]\nminimize mean(multiclass_hinge(X @ W, y)) + c * sum_squares(W)\n",
        "classes",
        "tall usps dna.scale small",
        (1e-2, 1e-4),
        _mean_row,
    ),
    "kernel hinge": Family(
        "let Phi = rbf(X, gamma=c)\nvar f: vector[dim(Phi)], b: real\n"
        "minimize 1/2 * sum_squares(f) + sum(hinge(Phi @ f + b, y))\n",
        "signs",
        "small australian splice",
        (1.0,),
        lambda X, y: 1.0 / X.shape[1],
    ),
    "kernel ridge": Family(
        "let Phi = rbf(X, gamma=c)\nvar f: vector[dim(Phi)]\nminimize sum_squares(f) + sum(squared(Phi @ f, y))\n",
        "vector",
        "small housing_scale",
        (1.0,),
        lambda X, y: 1.0 / X.shape[1],
    ),
}


def _rows(family: Family, source: str, weight: float) -> tuple[str, Mapping[str, Any]]:
    X, b = SOURCES[source]()
    data: dict[str, Any] = {"X": X}
    head = HEAD.format(target=family.target)
    if family.target == "vector":
        data["y"] = scaled = _target(b)
    elif family.target == "signs":
        data["y"] = scaled = _signs(b)
    else:
        labels = _classes(b)
        hot = (labels[:, None] == np.unique(labels)).astype(float)
        scaled = hot[:, 0] - hot[:, 0].mean()
        if family.target == "tasks":
            data["Y"] = hot - hot.mean(axis=0)
            head = "data X: matrix[n, p], Y: matrix[n, k]\nparam c: positive\n"
        else:
            data["y"] = labels
            head = f"data X: matrix[n, p], y: labels[n, {hot.shape[1]}]\nparam c: positive\n"
    data["c"] = weight * family.scale(X, scaled)
    body = family.body
    if family.target == "classes":
        body = body.replace("[p, k]", f"[p, {int(data['y'].max()) + 1}]")
    if "g:" in body:
        data["g"] = np.arange(X.shape[1]) // 5
    if "V:" in body:
        data["V"] = np.random.default_rng(1).standard_normal((40, X.shape[1]))
    return head + body, data


# --- other programs -----------------------------------------------------------------------------------------------------------


def _steps(n: int, noise: float = 0.3) -> Array:
    rng = np.random.default_rng(n)
    return np.repeat(rng.standard_normal(max(2, n // 50)), 50)[:n] + noise * rng.standard_normal(n)


def _signal(n: int, penalty: str, weight: float) -> tuple[str, Mapping[str, Any]]:
    text = (
        f"data y: vector[n]\nparam c: positive\nvar x: vector[n]\nminimize 1/2 * sum_squares(x - y) + c * {penalty}\n"
    )
    return text, {"y": _steps(n), "c": weight}


def _isotonic(n: int) -> tuple[str, Mapping[str, Any]]:
    y = np.linspace(0.0, 3.0, n) + _steps(n)
    text = "data y: vector[n]\nvar x: vector[n]\nminimize sum_squares(x - y)\nsubject to x[1:] >= x[:-1]\n"
    return text, {"y": y}


def _trace(n: int, d: int, k: int, weight: float, ball: bool) -> tuple[str, Mapping[str, Any]]:
    A, B, radius = trace_norm(n, d, k, rank=4, noise=1.0)
    declared = "var W: matrix[p, k] in nuclear_ball(c)\n" if ball else "var W: matrix[p, k]\n"
    penalty = "" if ball else " + c * norm_nuc(W)"
    text = f"data X: matrix[n, p], Y: matrix[n, k]\nparam c: positive\n{declared}minimize 1/2 * sum(squared(X @ W, Y)){penalty}\n"
    return text, {"X": A, "Y": B, "c": weight * (radius if ball else float(np.linalg.norm(A.T @ B, 2)))}


def _completion(n: int, p: int, observed: float, weight: float) -> tuple[str, Mapping[str, Any]]:
    rows, columns, values, _ = completion(n, p, rank=3, observed=observed)
    seen = sp.csr_array((values, (rows, columns)), shape=(n, p))
    top = float(np.linalg.norm(seen.toarray(), 2))
    text = (
        "data M: entries[n, p]\nparam c: positive\nvar B: matrix[n, p]\n"
        "minimize 1/2 * sum(squared(B[M], M)) + c * norm_nuc(B)\n"
    )
    return text, {"M": (rows, columns, values), "c": weight * top}


def _portfolio(d: int, weight: float) -> tuple[str, Mapping[str, Any]]:
    rng = np.random.default_rng(d)
    F = rng.standard_normal((max(3, d // 10), d))
    text = (
        "data F: matrix[k, d], r: vector[d]\nparam c: positive\nvar x: vector[d] in simplex(1)\n"
        "minimize c * sum_squares(F @ x) - dot(r, x)\n"
    )
    return text, {"F": F, "r": rng.standard_normal(d), "c": weight}


def _linear(m: int, n: int) -> tuple[str, Mapping[str, Any]]:
    rng = np.random.default_rng(m)
    A = rng.standard_normal((m, n))
    text = "data A: matrix[m, n], b: vector[m], q: vector[n]\nvar x: vector[n] in nonnegative\nminimize dot(q, x)\nsubject to A @ x >= b\n"
    return text, {"A": A, "b": A @ rng.random(n) - rng.random(m), "q": A.T @ rng.random(m)}


def _psd(n: int, d: int) -> tuple[str, Mapping[str, Any]]:
    rng = np.random.default_rng(n)
    X, L = rng.standard_normal((n, d)), rng.standard_normal((d, 2))
    text = "data X: matrix[n, d], y: vector[n]\nvar S: symmetric[d] in psd\nminimize mean(squared(quad(X, S), y)) + 0.01 * trace(S)\n"
    return text, {"X": X, "y": ((X @ L) ** 2).sum(axis=1) + 0.1 * rng.standard_normal(n)}


def _mixture(n: int, d: int) -> tuple[str, Mapping[str, Any]]:
    A, b = simplex_ls(n, d)
    return "data A: matrix[n, d], b: vector[n]\nvar w: vector[d] in simplex(1)\nminimize mean(squared(A @ w, b))\n", {
        "A": A,
        "b": b,
    }


def _others() -> Iterator[Case]:
    tv, trend = "norm1(x[1:] - x[:-1])", "norm1(x[2:] - 2 * x[1:-1] + x[:-2])"
    for n, weight in ((300, 0.3), (300, 3.0), (3000, 1.0)):
        yield Case("total variation", f"{n} points", f"{weight:g}", partial(_signal, n, tv, weight))
        yield Case("trend filtering", f"{n} points", f"{weight:g}", partial(_signal, n, trend, 5 * weight))
    for n in (200, 1000, 4000):
        yield Case("isotonic", f"{n} points", "", partial(_isotonic, n))
    for n, d, k, weight in ((200, 40, 30, 0.1), (300, 100, 80, 0.02), (100, 60, 200, 0.3)):
        yield Case("trace norm", f"{n} x {d} x {k}", f"{weight:g}", partial(_trace, n, d, k, weight, False))
        yield Case("trace-norm ball", f"{n} x {d} x {k}", f"{weight:g}", partial(_trace, n, d, k, 2 * weight, True))
    for n, p, observed, weight in ((100, 600, 0.2, 0.3), (300, 200, 0.1, 0.1), (60, 50, 0.5, 0.05)):
        yield Case("completion", f"{n} x {p}", f"{weight:g}", partial(_completion, n, p, observed, weight))
    for d, weight in ((30, 1.0), (300, 10.0), (300, 0.1)):
        yield Case("portfolio", f"{d} assets", f"{weight:g}", partial(_portfolio, d, weight))
    for m, n in ((40, 20), (80, 30), (60, 400), (300, 150), (150, 60), (30, 100), (100, 100), (200, 20), (250, 120)):
        yield Case("linear program", f"{m} x {n}", "", partial(_linear, m, n))
    for n, d in ((200, 8), (300, 12), (600, 20), (100, 30), (400, 15), (150, 20)):
        yield Case("PSD regression", f"{n} x {d}", "", partial(_psd, n, d))
    for n, d in ((500, 50), (5000, 100), (200, 400)):
        yield Case("mixture", f"{n} x {d}", "", partial(_mixture, n, d))


def cases(quick: bool = False) -> list[Case]:
    """All of them, or with `quick` one of five; every third is held out."""
    found = [
        Case(name, source, f"{weight:g}", partial(_rows, family, source, weight))
        for name, family in FAMILIES.items()
        for source in family.sources.split()
        for weight in family.weights
    ]
    found += list(_others())
    every = [Case(c.family, c.data, c.weight, c.make, i % 3 == 1) for i, c in enumerate(found)]
    return every[::5] if quick else every
