"""Twelve problems for the general method: no other method of ours takes most of them, and CVXPY needs between half a second and twenty for each.

A problem is a program in `programs/general/`, the arrays that it names, and the same problem as one writes it in CVXPY.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PROGRAMS = Path(__file__).parent / "programs" / "general"

Array = NDArray[np.float64]
Arrays = dict[str, Any]
Stated = tuple[Any, list[Any]]
"""What CVXPY is to minimise or maximise, and its constraints."""


@dataclass(frozen=True)
class Named:
    """`make(**sizes)` gives the data by name, `state(cp, data)` the problem in CVXPY's words."""

    title: str
    make: Callable[..., Arrays]
    state: Callable[[Any, Arrays], Stated]
    sizes: Mapping[str, int]
    tiny: Mapping[str, int]


def _rows(n: int, d: int, rng: np.random.Generator) -> Array:
    """Gaussian rows with three common factors that explain 30 % of the variance."""
    factors = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d))
    return np.sqrt(0.7) * rng.standard_normal((n, d)) + np.sqrt(0.1) * factors


def _sparse(d: int, support: int, rng: np.random.Generator) -> Array:
    truth = np.zeros(d)
    truth[rng.choice(d, support, replace=False)] = rng.standard_normal(support)
    return truth


# --- data ---------------------------------------------------------------------------------------------------------------


def tv_l1(n: int, d: int) -> Arrays:
    """Measurements of a signal of eight levels, most of them zero."""
    rng = np.random.default_rng(0)
    levels = np.where(np.arange(16) % 2, rng.standard_normal(16), 0.0)
    A = rng.standard_normal((n, d))
    return {"A": A, "b": A @ np.repeat(levels, -(-d // 16))[:d] + 0.5 * rng.standard_normal(n)}


def l1_simplex(n: int, d: int) -> Arrays:
    """Returns to be followed, and what is held at the start."""
    rng = np.random.default_rng(1)
    R = _rows(n, d, rng)
    return {"R": R, "b": R @ rng.dirichlet(np.full(d, 0.1)) + 0.1 * rng.standard_normal(n), "held": np.full(d, 1.0 / d)}


def group_affine(n: int, p: int, m: int) -> Arrays:
    """Features in groups of five, a tenth of which matter, and m balances that the truth keeps."""
    rng = np.random.default_rng(2)
    group = np.arange(p) // 5
    truth = (rng.random(p // 5 + 1) < 0.1)[group] * rng.standard_normal(p)
    C, X = rng.standard_normal((m, p)), _rows(n, p, rng)
    C -= np.outer(C @ truth, truth) / max(float(truth @ truth), 1e-12)
    return {"X": X, "y": X @ truth + rng.standard_normal(n), "group": group, "C": C}


def quantile(n: int, p: int) -> Arrays:
    """Increasing effects, the noise larger on one side."""
    rng = np.random.default_rng(3)
    X = _rows(n, p, rng)
    return {"X": X, "y": X @ np.linspace(-0.5, 1.5, p) + rng.exponential(2.0, n)}


def linear(n: int, p: int, seed: int = 4) -> Arrays:
    """A sparse truth and an intercept, a tenth of the targets far off."""
    rng = np.random.default_rng(seed)
    X = _rows(n, p, rng)
    noise = rng.standard_normal(n) * np.where(rng.random(n) < 0.1, 5.0, 0.5)
    return {"X": X, "y": X @ _sparse(p, max(1, p // 10), rng) + 2.0 + noise}


def svm_dual(n: int, p: int) -> Arrays:
    """Two classes that overlap."""
    rng = np.random.default_rng(5)
    X = _rows(n, p, rng) / np.sqrt(p)
    return {"X": X, "y": np.where(X @ rng.standard_normal(p) + 0.3 * rng.standard_normal(n) > 0.1, 1.0, -1.0)}


def nuclear_l1(n: int, p: int, k: int) -> Arrays:
    """Tasks whose weights are sparse and of rank two."""
    rng = np.random.default_rng(6)
    X = rng.standard_normal((n, p))
    left, right = rng.standard_normal((p, 2)), rng.standard_normal((2, k))
    left[rng.random(p) < 0.6] = 0.0
    right[:, rng.random(k) < 0.4] = 0.0
    return {"X": X, "Y": X @ left @ right + rng.standard_normal((n, k))}


def multiclass(n: int, p: int, k: int) -> Arrays:
    """Classes told by a tenth of the features."""
    rng = np.random.default_rng(7)
    X = _rows(n, p, rng)
    truth = rng.standard_normal((p, k)) * (np.arange(p) < max(1, p // 10))[:, None]
    y = np.argmax(X @ truth + rng.standard_normal((n, k)), axis=1)
    y[:k] = np.arange(k)
    return {"X": X, "y": y}


def portfolio(d: int, f: int, s: int) -> Arrays:
    """Assets with f factors, risks of their own, rewards, and s sectors."""
    rng = np.random.default_rng(8)
    sector = np.zeros((s, d))
    sector[rng.integers(0, s, d), np.arange(d)] = 1.0
    own, reward = rng.uniform(0.5, 1.5, d), 0.1 + 0.1 * rng.standard_normal(d)
    return {"F": 0.3 * rng.standard_normal((f, d)), "own": own, "reward": reward, "sector": sector}


def basis_pursuit(n: int, d: int) -> Arrays:
    """Exact measurements of a sparse signal."""
    rng = np.random.default_rng(9)
    A = rng.standard_normal((n, d)) / np.sqrt(n)
    return {"A": A, "b": A @ _sparse(d, max(1, n // 5), rng)}


def transport(n: int) -> Arrays:
    """Distances between two clouds of points."""
    rng = np.random.default_rng(10)
    a, b = rng.random((n, 2)), rng.random((n, 2)) ** 2
    return {"cost": np.linalg.norm(a[:, None] - b[None], axis=2)}


# --- in CVXPY -------------------------------------------------------------------------------------------------------------


def _tv_l1(cp: Any, v: Arrays) -> Stated:
    x, n = cp.Variable(v["A"].shape[1]), v["b"].size
    fit = cp.sum_squares(v["A"] @ x - v["b"]) / (2 * n)
    return cp.Minimize(fit + 0.02 * cp.norm1(cp.diff(x)) + 0.005 * cp.norm1(x)), []


def _l1_simplex(cp: Any, v: Arrays) -> Stated:
    w = cp.Variable(v["held"].size)
    inside = [w >= 0, cp.sum(w) == 1, cp.norm1(w - v["held"]) <= 0.3]
    return cp.Minimize(cp.sum_squares(v["R"] @ w - v["b"]) / v["b"].size), inside


def _group_affine(cp: Any, v: Arrays) -> Stated:
    w, n = cp.Variable(v["group"].size), v["y"].size
    groups = [np.flatnonzero(v["group"] == g) for g in range(int(v["group"].max()) + 1)]
    penalty = cp.sum([cp.norm2(w[at]) for at in groups])
    return cp.Minimize(cp.sum_squares(v["X"] @ w - v["y"]) / (2 * n) + 0.1 * penalty), [v["C"] @ w == 0]


def _quantile(cp: Any, v: Arrays) -> Stated:
    w, b = cp.Variable(v["X"].shape[1]), cp.Variable()
    r = v["y"] - v["X"] @ w - b
    loss = cp.sum(0.9 * cp.pos(r) + 0.1 * cp.neg(r)) / v["y"].size
    return cp.Minimize(loss), [w >= -1, w <= 1, cp.diff(w) >= 0]


def _chebyshev(cp: Any, v: Arrays) -> Stated:
    w, b = cp.Variable(v["X"].shape[1]), cp.Variable()
    # not norm_inf, with which CVXPY 1.9.3 finds that SCS cannot solve the problem
    return cp.Minimize(cp.max(cp.abs(v["X"] @ w + b - v["y"]))), []


def _svm_dual(cp: Any, v: Arrays) -> Stated:
    a, Z = cp.Variable(v["y"].size), v["X"] * v["y"][:, None]
    return cp.Maximize(cp.sum(a) - cp.sum_squares(Z.T @ a) / 2), [a >= 0, a <= 0.1, v["y"] @ a == 0]


def _lad(cp: Any, v: Arrays) -> Stated:
    w, b = cp.Variable(v["X"].shape[1]), cp.Variable()
    return cp.Minimize(cp.norm1(v["X"] @ w + b - v["y"]) / v["y"].size + 0.02 * cp.norm1(w)), []


def _nuclear_l1(cp: Any, v: Arrays) -> Stated:
    W, n = cp.Variable((v["X"].shape[1], v["Y"].shape[1])), v["Y"].shape[0]
    fit = cp.sum_squares(v["X"] @ W - v["Y"]) / (2 * n)
    return cp.Minimize(fit + 0.2 * cp.normNuc(W) + 0.02 * cp.sum(cp.abs(W))), []


def _multiclass(cp: Any, v: Arrays) -> Stated:
    n, k = v["y"].size, int(v["y"].max()) + 1
    W, own = cp.Variable((v["X"].shape[1], k)), np.eye(k)[v["y"]]
    Z = v["X"] @ W
    loss = cp.sum(cp.max(Z + (1 - own), axis=1)) - cp.sum(cp.multiply(own, Z))
    return cp.Minimize(loss / n + 0.01 * cp.sum(cp.abs(W))), []


def _portfolio(cp: Any, v: Arrays) -> Stated:
    w = cp.Variable(v["own"].size)
    risk = cp.sum_squares(v["F"] @ w) + cp.sum_squares(cp.multiply(v["own"], w))
    within = [w >= 0, w <= 0.02, cp.sum(w) == 1, v["sector"] @ w <= 0.15]
    return cp.Minimize(risk - 0.5 * (v["reward"] @ w)), within


def _basis_pursuit(cp: Any, v: Arrays) -> Stated:
    x = cp.Variable(v["A"].shape[1])
    return cp.Minimize(cp.norm1(x)), [v["A"] @ x == v["b"]]


def _transport(cp: Any, v: Arrays) -> Stated:
    plan = cp.Variable(v["cost"].shape)
    sums = [cp.sum(plan, axis=0) == 1, cp.sum(plan, axis=1) == 1]
    return cp.Minimize(cp.sum(cp.multiply(v["cost"], plan))), [plan >= 0, *sums]


PROBLEMS: Mapping[str, Named] = {
    "tv_l1": Named("TV + l1", tv_l1, _tv_l1, {"n": 500, "d": 1500}, {"n": 20, "d": 32}),
    "l1_simplex": Named("l1 ball + simplex", l1_simplex, _l1_simplex, {"n": 500, "d": 1500}, {"n": 20, "d": 10}),
    "group_affine": Named(
        "group + affine", group_affine, _group_affine, {"n": 1500, "p": 1000, "m": 20}, {"n": 20, "p": 20, "m": 2}
    ),
    "quantile": Named(
        "quantile regression with constraints", quantile, _quantile, {"n": 4000, "p": 100}, {"n": 30, "p": 5}
    ),
    "chebyshev": Named("Chebyshev fit", linear, _chebyshev, {"n": 3000, "p": 100}, {"n": 30, "p": 5}),
    "svm_dual": Named("SVM dual with equality", svm_dual, _svm_dual, {"n": 10000, "p": 100}, {"n": 30, "p": 5}),
    "lad": Named("least absolute deviations, intercept", linear, _lad, {"n": 3000, "p": 150}, {"n": 30, "p": 5}),
    "nuclear_l1": Named(
        "nuclear norm + l1", nuclear_l1, _nuclear_l1, {"n": 200, "p": 40, "k": 30}, {"n": 20, "p": 5, "k": 4}
    ),
    "multiclass": Named(
        "multiclass hinge + l1", multiclass, _multiclass, {"n": 1000, "p": 100, "k": 5}, {"n": 30, "p": 5, "k": 3}
    ),
    "portfolio": Named(
        "portfolio with bounds and budget",
        portfolio,
        _portfolio,
        {"d": 8000, "f": 100, "s": 10},
        {"d": 80, "f": 5, "s": 8},
    ),
    "basis_pursuit": Named("basis pursuit", basis_pursuit, _basis_pursuit, {"n": 300, "d": 1200}, {"n": 10, "d": 30}),
    "transport": Named("optimal transport", transport, _transport, {"n": 250}, {"n": 6}),
}
