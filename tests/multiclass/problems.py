"""Small problems of several classes with l1 regularisation, and the paper's formulas transcribed without thought for speed."""

from __future__ import annotations

from typing import Any

import numpy as np

import fwdsl as fw
from tests.problems import laid_out

HINGE, SOFTMAX = "multiclass_hinge", "softmax"

#: What makes the variable bounded: its set, and the penalty beside the loss.
WHERE = {
    "penalty": ("", " + 0.05 * norm1(U)"),
    "ball": (" in l1_ball(3)", ""),
    "both": (" in vec(l1_ball(3))", " + 0.02 * norm1(U)"),
    "simplex": (" in vec(simplex(2))", ""),
    "solid": (" in vec(solid_simplex(2))", " + 0.05 * norm1(U)"),
}


def data(n: int = 25, d: int = 6, k: int = 4, seed: int = 0, layout: str = "dense") -> dict[str, Any]:
    """X, multiples of 1/256 with a few zeros, and k classes."""
    rng = np.random.default_rng(seed)
    X = np.round(256 * rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.8)) / 256
    y = np.argmax(X @ rng.standard_normal((d, k)) + 0.5 * rng.standard_normal((n, k)), axis=1)
    y[:k] = np.arange(k)
    return {"X": laid_out(X, layout), "y": y}


def classes(
    loss: str = HINGE, where: str = "penalty", inside: str = "X @ U", more: str = "", solve: str = "", **sizes: Any
) -> fw.Problem:
    """The mean loss."""
    on, penalty = WHERE[where]
    text = f"data X: matrix[n, d], y: labels[n, k]\nvar U: matrix[d, k]{on}\nminimize mean({loss}({inside}, y)){penalty}{more}\n{solve}\n"
    return fw.parse(text).bind(**data(**sizes))


class Naive:
    """Formulas (24), (25) and (SMD) with X-hat = [X, -X], U of shape (2 d, k), V of shape (n, k), all dense."""

    def __init__(self, X: Any, y: Any, k: int, lam: float, radius: float, softmax: bool = False) -> None:
        self.X, self.y, self.lam, self.R, self.softmax = X, y, lam, radius, softmax
        self.n, self.d, self.k = *X.shape, k
        self.Y = np.eye(k)[y]
        self.hat = np.hstack([X, -X])
        self.L, self.log_k = np.log(2 * self.d * k), np.log(k)
        self.U = np.full((2 * self.d, k), radius / (2 * self.d * k))
        self.V = np.full((self.n, k), 1.0 / k)

    @property
    def pace(self) -> float:
        """L_UV (Omega_U Omega_V)^(1/2) from (27), (17), (20)."""
        largest = np.sqrt((self.X**2).sum(axis=0)).max() / self.n
        return float(largest * np.sqrt(self.R**2 * self.L * self.n * self.log_k))

    def primal(self, U: Any, S: Any, gamma: float) -> Any:
        """(24)."""
        moved = U * np.exp(-2 * gamma * self.R * self.L * S)
        return moved * min(np.exp(-2 * gamma * self.R * self.L * self.lam), self.R / moved.sum())

    def dual(self, V: Any, Z: Any, gamma: float) -> Any:
        """(25), or for softmax the minimiser of <v, log v - z> + D(v, V) / (2 gamma log k)."""
        if self.softmax:
            c = 1.0 / (2 * gamma * self.log_k)
            moved = np.exp((c * np.log(V) + Z) / (1.0 + c))
        else:
            moved = V * np.exp(2 * gamma * self.log_k * (Z - self.Y))
        return moved / moved.sum(axis=1, keepdims=True)

    def slopes(self, U: Any, V: Any) -> tuple[Any, Any]:
        """X-hat'(V - Y) / n, X-hat U."""
        return self.hat.T @ (V - self.Y) / self.n, self.hat @ U

    def descend(self, gamma: float) -> None:
        """(MD)."""
        S, Z = self.slopes(self.U, self.V)
        self.U, self.V = self.primal(self.U, S, gamma), self.dual(self.V, Z, gamma)

    def extra(self, gamma: float) -> tuple[Any, Any]:
        """One step of Mirror Prox; returns the point between."""
        S, Z = self.slopes(self.U, self.V)
        half = self.primal(self.U, S, gamma), self.dual(self.V, Z, gamma)
        S, Z = self.slopes(*half)
        self.U, self.V = self.primal(self.U, S, gamma), self.dual(self.V, Z, gamma)
        return half

    # --- sampling ---------------------------------------------------------------------------------------------------

    def chances(self) -> tuple[Any, Any]:
        """(37): of (j, l) and of (i, l), each adding up to 1."""
        rows = np.abs(self.X).max(axis=1)[:, None] * np.abs(self.V - self.Y)
        columns = np.sqrt((self.hat**2).sum(axis=0))[:, None] * self.U
        return rows / rows.sum(), columns / columns.sum()

    def estimate_slope(self, j: int, l: int, chance: float) -> Any:
        """X-hat' e_j e_j'(V - Y) e_l e_l' / (n chance)."""
        out = np.zeros_like(self.U)
        out[:, l] = self.hat[j] * (self.V - self.Y)[j, l] / (self.n * chance)
        return out

    def estimate_z(self, i: int, l: int, chance: float) -> Any:
        """X-hat e_i e_i' U e_l e_l' / chance."""
        out = np.zeros_like(self.V)
        out[:, l] = self.hat[:, i] * self.U[i, l] / chance
        return out

    def sample(self, uniform: Any, rows: Any, columns: Any) -> tuple[int, int, int, int]:
        """(j, l, i, l') of an iteration from its five numbers: j, whether l is its class, l, then l' and i."""
        j = _drawn(rows.sum(axis=1), uniform[0])
        others = np.where(np.arange(self.k) == self.y[j], 0.0, self.V[j])
        l = int(self.y[j]) if uniform[1] < 0.5 else _drawn(others, uniform[2])
        drawn = _drawn(columns.sum(axis=0), uniform[3])
        return j, l, _drawn(columns[:, drawn], uniform[4]), drawn

    def sampled(self, uniform: Any, gamma: float) -> None:
        """(SMD) with (Full-SS)."""
        rows, columns = self.chances()
        j, l, i, drawn = self.sample(uniform, rows, columns)
        S, Z = self.estimate_slope(j, l, rows[j, l]), self.estimate_z(i, drawn, columns[i, drawn])
        self.U, self.V = self.primal(self.U, S, gamma), self.dual(self.V, Z, gamma)

    def partly_sampled(self, uniform: Any, gamma: float) -> None:
        """(SMD) with (Part-SS): a row of V - Y and a row of U, drawn as Proposition 3.1 says."""
        miss, sizes = self.V - self.Y, np.sqrt((self.hat**2).sum(axis=0))
        rows, columns = np.abs(self.X).max(axis=1) * np.abs(miss).max(axis=1), sizes * self.U.max(axis=1)
        j, i = _drawn(rows, uniform[0]), _drawn(columns, uniform[1])
        S = np.outer(self.hat[j], miss[j]) / (self.n * rows[j] / rows.sum())
        Z = np.outer(self.hat[:, i], self.U[i]) / (columns[i] / columns.sum())
        self.U, self.V = self.primal(self.U, S, gamma), self.dual(self.V, Z, gamma)


def _drawn(weights: Any, share: float) -> int:
    sums = np.cumsum(weights)
    return int(np.searchsorted(sums, share * sums[-1], side="right"))
