"""Small problems, and a method stepped by hand on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import fwdsl as fw

SIGNED = ("logistic", "smooth_hinge", "squared_hinge", "hinge")


def data(
    loss: str, layout: str = "dense", n: int = 12, d: int = 5, seed: int = 0, weights: bool = True
) -> dict[str, Any]:
    """A (half of it zeros), targets y, weights w."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)
    A[3] = 0.0
    score = A @ rng.standard_normal(d) + 0.3 * rng.standard_normal(n)
    y = np.where(score > 0.0, 1.0, -1.0) if loss in SIGNED else score
    A = {"dense": A, "fortran": np.asfortranarray(A), "csr": sp.csr_array(A), "csc": sp.csc_array(A)}[layout]
    return {"A": A, "y": y} | ({"w": rng.uniform(0.5, 2.0, n)} if weights else {})


def text(loss: str, set_: str = "", more: str = "", weights: bool = True) -> str:
    """A mean loss over the set, with more terms."""
    kind = "signs[n]" if loss in SIGNED else "vector[n]"
    given = ", w: vector[n] in nonnegative" if weights else ""
    term = f"mean(w * {loss}(2 * (A @ x), y))" if weights else f"mean({loss}(2 * (A @ x), y))"
    where = f" in {set_}" if set_ else ""
    return f"data A: matrix[n, p], y: {kind}{given}\nvar x: vector[p]{where}\nminimize {term}{more}\n"


def matrix_text(loss: str, set_: str = "", more: str = "") -> str:
    """A mean loss of A @ X."""
    kind = "labels[n, k]" if loss in ("softmax", "multiclass_hinge", "weston_watkins") else "matrix[n, k]"
    where = f" in {set_}" if set_ else ""
    return f"data A: matrix[n, p], y: {kind}\nvar X: matrix[p, k]{where}\nminimize mean({loss}(A @ X, y)){more}\n"


def matrix_data(loss: str, layout: str = "dense", n: int = 12, d: int = 4, k: int = 3, seed: int = 0) -> dict[str, Any]:
    """A and the classes or the targets."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    Y = A @ rng.standard_normal((d, k)) + 0.3 * rng.standard_normal((n, k))
    labels = loss in ("softmax", "multiclass_hinge", "weston_watkins")
    return {"A": sp.csr_array(A) if layout == "csr" else A, "y": Y.argmax(axis=1) if labels else Y}


def bound(program: str, values: dict[str, Any]) -> Any:
    """The program with its data."""
    return fw.parse(program).bind(**values)


class Naive:
    """The sum over samples by the references: F(x) = sum_j w_j l(c a_j x; b_j) + (mu / 2) |x|^2, rows of predictions where x is a matrix."""

    def __init__(self, problem: Any) -> None:
        canonical = problem.canonical
        (self.term,), (self.block,) = canonical.terms, canonical.blocks
        self.g = self.block.g
        self.mu = self.g.curvature
        self.q = canonical.q
        self.size = canonical.size
        whole = np.stack([self.term.map.parts[0][1].apply(e) for e in np.eye(self.size)], axis=1)
        self.n = self.term.f.shape[0] if hasattr(self.term.f, "k") else problem.instance.values["A"].shape[0]
        # K by samples: (n, predictions of a sample, unknowns)
        self.K = whole.reshape(self.n, -1, self.size)
        self.offset = self.term.map.offset

    def slopes(self, x: np.ndarray) -> np.ndarray:
        """y, one row a sample."""
        z = self.K.reshape(-1, self.size) @ x + self.offset
        return self.term.f.gradient(z).reshape(self.n, -1)

    def back(self, y: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """sum over the rows of K_j' y_j."""
        return sum((self.K[j].T @ y[j] for j in rows), np.zeros(self.size))

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """The gradient of F."""
        return self.back(self.slopes(x), np.arange(self.n)) + self.q + self.mu * x

    def estimate(self, x: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """By the rows, scaled by n over their number."""
        return self.n / len(rows) * self.back(self.slopes(x), rows) + self.q + self.mu * x

    def corrected(self, x: np.ndarray, snapshot: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The same with the snapshot's variance reduction."""
        change = self.slopes(x) - self.slopes(snapshot)
        base = self.back(self.slopes(snapshot), np.arange(self.n))
        return base + self.n / len(rows) * self.back(change, rows) + self.q + self.mu * x
