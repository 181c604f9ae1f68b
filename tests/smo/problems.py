"""Kernel machines for tests: texts, data, and the optimal value by cvxpy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

import fwdsl as fw

LOSSES = {
    "hinge": "",
    "squared_hinge": "",
    "smooth_hinge": "",
    "absolute": "",
    "quantile": ", tau=0.3",
    "huber": ", delta=0.7",
    "epsilon_insensitive": ", eps=0.2",
    "squared_epsilon_insensitive": ", eps=0.2",
}
MAPS = {"rbf": "rbf(X, gamma=0.4)", "polynomial": "polynomial(X, degree=3, coef0=1)", "linear": "linear(X)"}
SIGNS = ("hinge", "squared_hinge", "smooth_hinge")


@dataclass
class Machine:
    """min mu/2 |w|^2 + C reduce(weights * loss(k Phi w + d b + o, y)) + q b."""

    loss: str = "hinge"
    map: str = "rbf"
    intercept: bool = True
    n: int = 40
    p: int = 3
    seed: int = 0
    C: float = 1.5
    mu: float = 1.0
    k: float = 1.0
    d: float = 1.0
    q: float = 0.0
    mean: bool = False
    weighted: bool = False
    shifted: bool = False
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def data(self) -> dict[str, Any]:
        rng = np.random.default_rng(self.seed)
        X = rng.standard_normal((self.n, self.p))
        z = X[:, 0] - 0.5 * X[:, 1] ** 2 + 0.5 * rng.standard_normal(self.n)
        y = np.where(z > 0.0, 1.0, -1.0) if self.loss in SIGNS else z
        out = {"X": X, "y": y, "C": self.C}
        if self.weighted:
            out["v"] = np.where(rng.random(self.n) < 0.2, 0.0, rng.random(self.n))
        if self.shifted:
            out["o"] = 0.3 * rng.standard_normal(self.n)
        return out

    @property
    def text(self) -> str:
        kind = "signs" if self.loss in SIGNS else "vector"
        prediction = f"{self.k:g} * (Phi @ w)" if self.k != 1.0 else "Phi @ w"
        prediction += (f" + {self.d:g} * b" if self.intercept else "") + (" + o" if self.shifted else "")
        weights = "v * " if self.weighted else ""
        return "\n".join(
            [
                f"data X: matrix[n, p], y: {kind}[n]",
                *(["data v: vector[n] in nonnegative"] if self.weighted else []),
                *(["data o: vector[n]"] if self.shifted else []),
                "param C: positive",
                f"let Phi = {MAPS[self.map]}",
                f"var w: vector[dim(Phi)]{', b: real' if self.intercept else ''}",
                f"minimize {0.5 * self.mu:g} * sum_squares(w) + C * {'mean' if self.mean else 'sum'}"
                f"({weights}{self.loss}({prediction}, y{LOSSES[self.loss]}))"
                + (f" + {self.q:g} * b" if self.q else ""),
            ]
        )

    def bound(self) -> fw.Problem:
        return fw.parse(self.text).bind(**self.data)

    def gram(self) -> Any:
        X = self.data["X"]
        inner, squares = X @ X.T, np.square(X).sum(axis=1)
        if self.map == "rbf":
            return np.exp(-0.4 * (squares[:, None] + squares - 2.0 * inner))
        return (inner + 1.0) ** 3 if self.map == "polynomial" else inner

    def optimum(self) -> float:
        """By cvxpy, in the coordinates of a square root of the Gram matrix."""
        import cvxpy as cp

        values, vectors = np.linalg.eigh(self.gram())
        keep = values > 1e-13 * values[-1]
        root = vectors[:, keep] * np.sqrt(values[keep])
        data = self.data
        u, b = cp.Variable(root.shape[1]), cp.Variable()
        z = self.k * (root @ u) + data.get("o", 0.0)
        z = z + self.d * b if self.intercept else z
        y = data["y"]
        losses = {
            "hinge": lambda: cp.pos(1 - cp.multiply(y, z)),
            "squared_hinge": lambda: cp.square(cp.pos(1 - cp.multiply(y, z))),
            "smooth_hinge": lambda: 0.5 * (cp.huber(cp.pos(1 - cp.multiply(y, z)), 1)),
            "absolute": lambda: cp.abs(z - y),
            "quantile": lambda: 0.3 * cp.pos(y - z) + 0.7 * cp.pos(z - y),
            "huber": lambda: 0.5 * cp.huber(z - y, 0.7),
            "epsilon_insensitive": lambda: cp.pos(cp.abs(z - y) - 0.2),
            "squared_epsilon_insensitive": lambda: cp.square(cp.pos(cp.abs(z - y) - 0.2)),
        }
        w = data.get("v", np.ones(self.n)) * self.C / (self.n if self.mean else 1.0)
        objective = 0.5 * self.mu * cp.sum_squares(u) + w @ losses[self.loss]() + (self.q * b if self.intercept else 0)
        problem = cp.Problem(cp.Minimize(objective))
        problem.solve(solver=cp.CLARABEL)
        return float(problem.value)
