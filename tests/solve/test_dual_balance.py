"""Multipliers of affine constraints that are merged in many ways: they balance the gradient, and have the sign of their side."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw

PROGRAM = """data A: matrix[n, d], b: vector[n], e: vector[d], E: matrix[m, d], f: vector[m], M: matrix[q, d], v: vector[q]
data w: vector[d], u: vector[d], l: vector[d]
param t: real, ridge: nonnegative
var x: vector[d]
minimize sum_squares(A @ x - b) + ridge * sum_squares(x)
subject to
"""


def pool(x0: np.ndarray, data: dict[str, np.ndarray], k: float) -> list[tuple[str, np.ndarray, str]]:
    """(text, gradient of the left side less the right one's, relation) of constraints that hold at x0, or nearly so."""
    d, s = x0.size, float(x0.sum())
    eye, one = np.eye(d), np.ones((1, d))
    return [
        ("x >= 0", eye, ">="),
        ("0 <= x", eye, ">="),
        ("2 * x >= 0", 2.0 * eye, ">="),
        ("-x <= 0", -eye, "<="),
        ("x <= u", eye, "<="),
        ("u >= x", eye, "<="),
        ("x >= l", eye, ">="),
        ("x[1:] >= 0", eye[1:], ">="),
        ("x[0] <= 1.5", eye[:1], "<="),
        (f"sum(x) == {s!r}", one, "=="),
        (f"{s!r} == sum(x)", -one, "=="),
        (f"mean(x) == {s / d!r}", one / d, "=="),
        (f"sum(x) <= {0.9 * s!r}", one, "<="),
        (f"sum(x) >= {0.5 * s!r}", one, ">="),
        (f"dot(e, x) == {k * s!r}", k * one, "=="),
        (f"dot(e, x) <= {k * s + 0.1!r}", k * one, "<="),
        ("E @ x == f", k * one, "=="),
        ("E @ x >= f", k * one, ">="),
        ("M @ x <= v", data["M"], "<="),
        ("dot(w, x) == t", data["w"][None], "=="),
    ]


@pytest.mark.parametrize("seed", range(60))
def test_multipliers_balance_the_gradient(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, n, k = int(rng.integers(2, 7)), int(rng.integers(2, 10)), float(rng.choice([1.0, 2.0, -1.0, 0.5, -3.0]))
    x0 = np.abs(rng.standard_normal(d)) + 0.05
    A, b, ridge = rng.standard_normal((n, d)), 2.0 * rng.standard_normal(n), float(rng.choice([0.1, 0.5]))
    M, w = rng.standard_normal((2, d)), rng.standard_normal(d)
    data = {"A": A, "b": b, "e": np.full(d, k), "E": np.full((1, d), k), "f": np.array([k * float(x0.sum())]), "M": M}
    data |= {"v": M @ x0 + 0.1, "w": w, "u": x0 + rng.random(d), "l": x0 - rng.random(d)}
    every = pool(x0, data, k)
    chosen = [every[i] for i in rng.choice(len(every), size=int(rng.integers(2, 5)), replace=False)]
    text = PROGRAM + "".join(f"    k{j}: {c}\n" for j, (c, _, _) in enumerate(chosen))
    s = fw.parse(text).bind(**data, t=float(w @ x0), ridge=ridge).solve(tol=1e-9, threads=1)
    if s.status == "infeasible":
        assert any(repr(0.9 * float(x0.sum())) in c for c, _, _ in chosen)
        return
    assert s.status == "optimal"
    left = 2.0 * A.T @ (A @ s["x"] - b) + 2.0 * ridge * s["x"]
    size = float(np.abs(2.0 * A.T @ b).max())
    for j, (_, gradient, relation) in enumerate(chosen):
        y = np.atleast_1d(np.asarray(s.dual[f"k{j}"], dtype=float))
        left = left - gradient.T @ y
        assert relation == "==" or (y * (1.0 if relation == ">=" else -1.0) >= -1e-5 * size).all()
    assert float(np.abs(left).max()) <= 1e-4 * size
