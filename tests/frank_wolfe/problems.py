"""Small problems over compact sets, and a method stepped by hand on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import fwdsl as fw

CORRECTIVE = ("away_frank_wolfe", "pairwise_frank_wolfe", "blended_pairwise")
FAMILY = ("frank_wolfe", *CORRECTIVE, "block_frank_wolfe")

SIGNED = ("logistic", "smooth_hinge", "squared_hinge")
SMOOTH = (*SIGNED, "squared", "huber", "squared_epsilon_insensitive", "poisson")

POLYTOPES = ("l1_ball(1)", "linf_ball(0.3)", "box(-0.2, 0.4)", "simplex(1)", "solid_simplex(1)", "permutahedron(c)")
ROUND = ("l2_ball(1)", "ksupport_ball(2, 1)", "group_ball(1, [[0, 1, 2], [3, 4], [5]])")

N, P = 30, 6


def data(loss: str, layout: str = "dense", seed: int = 0) -> dict[str, Any]:
    """A (half of it zeros), targets y, and the c of a permutahedron."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((N, P)) * (rng.random((N, P)) < 0.6)
    score = A @ rng.standard_normal(P) + 0.3 * rng.standard_normal(N)
    y = np.where(score > 0.0, 1.0, -1.0) if loss in SIGNED else score
    y = rng.poisson(np.exp(np.clip(score, -2.0, 1.0))).astype(np.float64) if loss == "poisson" else y
    A = {"dense": A, "fortran": np.asfortranarray(A), "csr": sp.csr_array(A), "csc": sp.csc_array(A)}[layout]
    return {"A": A, "y": y, "c": np.linspace(0.5, -0.5, P)}


def bound(loss: str, set_: str, more: str = "", layout: str = "dense", seed: int = 0) -> Any:
    """A mean loss of A @ x over a set."""
    kind = "signs[n]" if loss in SIGNED else "vector[n] in nonnegative" if loss == "poisson" else "vector[n]"
    given = ", c: vector[p]" if "(c)" in set_ else ""
    text = (
        f"data A: matrix[n, p], y: {kind}{given}\nvar x: vector[p] in {set_}\nminimize mean({loss}(A @ x, y)){more}\n"
    )
    values = data(loss, layout, seed)
    if not given:
        del values["c"]
    return fw.parse(text).bind(**values)


def matrix_bound(set_: str, loss: str = "squared", more: str = "", sparse: bool = False) -> Any:
    """A mean loss of A @ X over a set of matrices; `sparse` data have a column of zeros, one with few numbers, and a full one."""
    rng = np.random.default_rng(3)
    A, X = rng.standard_normal((N, 5)), rng.standard_normal((5, 3))
    if sparse:
        A *= rng.random((N, 5)) < [0.0, 0.1, 0.3, 0.4, 1.0]
    kind = "labels[n, k]" if loss == "softmax" else "matrix[n, k]"
    y = (A @ X).argmax(axis=1) if loss == "softmax" else A @ X
    text = f"data A: matrix[n, p], y: {kind}\nvar X: matrix[p, k] in {set_}\nminimize mean({loss}(A @ X, y)){more}\n"
    return fw.parse(text).bind(A=sp.csr_array(A) if sparse else A, y=y)


def family_bound() -> Any:
    """Tasks with a block each."""
    rng = np.random.default_rng(4)
    A = rng.standard_normal((N, 4))
    text = "data A: matrix[n, p], y: vector[n], t: index[n] of T\nvar F: family[T] of vector[p] in l1_ball(0.7)\n"
    text += "minimize mean(squared(inner(A, F[t]), y)) + 0.1 * sum_squares(F)\n"
    return fw.parse(text).bind(A=A, y=A @ rng.standard_normal(4), t=np.arange(N) % 3)


def near_bound() -> Any:
    """The rows near those of a matrix and, less so, of its double."""
    text = "data C: matrix[p, k]\nvar X: matrix[p, k] in rows(simplex(1))\nminimize sum(huber(X, C)) + sum(squared(-2 * X, C))\n"
    return fw.parse(text).bind(C=np.random.default_rng(7).standard_normal((5, 3)))


def two_bound() -> Any:
    """Two variables."""
    rng = np.random.default_rng(5)
    A = rng.standard_normal((N, P))
    text = "data A: matrix[n, p], y: vector[n]\nvar x: vector[p] in l1_ball(1), u: vector[p] in simplex(1)\n"
    text += "minimize mean(squared(A @ x - 2 * (A @ u), y)) + sum(x)\n"
    return fw.parse(text).bind(A=A, y=A @ rng.standard_normal(P))


def birkhoff_bound(more: str = "", linear: bool = False) -> Any:
    """A permutation to be found from noisy products, or an assignment."""
    rng = np.random.default_rng(6)
    d = 5
    if linear:
        text = "data C: matrix[d, d]\nvar X: matrix[d, d] in birkhoff\nminimize sum(C * X)\n"
        return fw.parse(text).bind(C=rng.standard_normal((d, d)))
    A = rng.standard_normal((20, d))
    Y = A @ np.eye(d)[rng.permutation(d)] + 0.5 * rng.standard_normal((20, d))
    text = f"data A: matrix[n, d], Y: matrix[n, d]\nvar X: matrix[d, d] in birkhoff\nminimize mean(squared(A @ X, Y)){more}\n"
    return fw.parse(text).bind(A=A, Y=Y)


def hull_bound(kind: str) -> Any:
    """Problems over hulls of eight points."""
    rng = np.random.default_rng(8)
    A, B = rng.standard_normal((N, 4)), rng.standard_normal((N, 3))
    given: dict[str, Any] = {"A": A, "V": rng.standard_normal((8, 4))}
    text = {
        "vector": "y: vector[n]\nvar x: vector[p] in polytope(V)\nminimize mean(huber(A @ x, y)) + sum(x) / 5",
        "ridge": "y: vector[n]\nvar x: vector[p] in polytope(V)\nminimize mean(squared(A @ x, y)) + 0.1 * sum_squares(x)",
        "rows": "Y: matrix[n, k]\nvar X: matrix[k, p] in rows(polytope(V))\nminimize mean(squared(A @ X.T, Y))",
        "columns": "Y: matrix[n, k]\nvar X: matrix[p, k] in columns(polytope(V))\nminimize mean(squared(A @ X, Y)) + 0.1 * sum_squares(X)",
        "family": "y: vector[n], t: index[n] of T\nvar F: family[T] of vector[p] in polytope(V)\nminimize mean(squared(inner(A, F[t]), y))",
        "two": "y: vector[n]\nvar x: vector[p] in polytope(V), u: vector[p] in l1_ball(1)\nminimize mean(squared(A @ x - A @ u, y))",
    }[kind]
    given |= {"Y": B} if "Y:" in text else {"y": B[:, 0]}
    given |= {"t": np.arange(N) % 3} if "t:" in text else {}
    return fw.parse(f"data A: matrix[n, p], V: matrix[m, p], {text}\n").bind(**given)
