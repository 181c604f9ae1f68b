"""Linear machines for tests: texts, data, and the optimal value by cvxpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

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
    "squared": "",
}
CORNERS = ("hinge", "absolute", "quantile", "epsilon_insensitive")
SIGNS = ("hinge", "squared_hinge", "smooth_hinge")


@dataclass
class Linear:
    """min mu/2 |w|^2 + mu_b/2 b^2 + q_b b + <q, w> + C reduce(weights * loss(k X w + d b + o, y)); no b where `intercept` is "none"."""

    loss: str = "hinge"
    intercept: str = "none"
    storage: str = "dense"
    n: int = 50
    p: int = 4
    seed: int = 0
    C: float = 1.5
    mu: float = 1.0
    k: float = 1.0
    d: float = 1.0
    q_b: float = 0.0
    linear: bool = False
    mean: bool = False
    weighted: bool = False
    shifted: bool = False
    empty: int = 0

    @property
    def data(self) -> dict[str, Any]:
        rng = np.random.default_rng(self.seed)
        X = rng.standard_normal((self.n, self.p)) * (rng.random((self.n, self.p)) < 0.7)
        X[: self.empty] = 0.0
        z = X @ np.linspace(1.0, -1.0, self.p) + 0.4 + 0.6 * rng.standard_normal(self.n)
        y = np.where(z > 0.0, 1.0, -1.0) if self.loss in SIGNS else z
        made = {"dense": lambda: X, "csr": lambda: csr_array(X), "float32": lambda: X.astype(np.float32)}
        out = {"X": made[self.storage](), "y": y, "C": self.C}
        if self.linear:
            out["g"] = rng.standard_normal(self.p)
        if self.weighted:
            out["v"] = np.where(rng.random(self.n) < 0.2, 0.0, rng.random(self.n))
        if self.shifted:
            out["o"] = 0.3 * rng.standard_normal(self.n)
        return out

    @property
    def text(self) -> str:
        kind = "signs" if self.loss in SIGNS else "vector"
        has_b = self.intercept != "none"
        prediction = f"{self.k:g} * (X @ w)" if self.k != 1.0 else "X @ w"
        prediction += (f" + {self.d:g} * b" if has_b else "") + (" + o" if self.shifted else "")
        weights = "v * " if self.weighted else ""
        return "\n".join(
            [
                f"data X: matrix[n, p], y: {kind}[n]",
                *(["data v: vector[n] in nonnegative"] if self.weighted else []),
                *(["data o: vector[n]"] if self.shifted else []),
                *(["data g: vector[p]"] if self.linear else []),
                "param C: positive",
                f"var w: vector[p]{', b: real' if has_b else ''}",
                f"minimize {0.5 * self.mu:g} * sum_squares(w) + C * {'mean' if self.mean else 'sum'}"
                f"({weights}{self.loss}({prediction}, y{LOSSES[self.loss]}))"
                + (" + 0.2 * sum_squares(b)" if self.intercept == "penalised" else "")
                + (f" + {self.q_b:g} * b" if self.q_b else "")
                + (" + dot(g, w)" if self.linear else ""),
            ]
        )

    def bound(self) -> fw.Problem:
        return fw.parse(self.text).bind(**self.data)

    def optimum(self) -> float:
        """By cvxpy."""
        import cvxpy as cp

        data = self.data
        X = data["X"].toarray() if self.storage == "csr" else np.asarray(data["X"], dtype=np.float64)
        w, b, y = cp.Variable(self.p), cp.Variable(), data["y"]
        z = self.k * (X @ w) + data.get("o", 0.0) + (self.d * b if self.intercept != "none" else 0.0)
        losses = {
            "hinge": lambda: cp.pos(1 - cp.multiply(y, z)),
            "squared_hinge": lambda: cp.square(cp.pos(1 - cp.multiply(y, z))),
            "smooth_hinge": lambda: 0.5 * (cp.huber(cp.pos(1 - cp.multiply(y, z)), 1)),
            "absolute": lambda: cp.abs(z - y),
            "quantile": lambda: 0.3 * cp.pos(y - z) + 0.7 * cp.pos(z - y),
            "huber": lambda: 0.5 * cp.huber(z - y, 0.7),
            "epsilon_insensitive": lambda: cp.pos(cp.abs(z - y) - 0.2),
            "squared_epsilon_insensitive": lambda: cp.square(cp.pos(cp.abs(z - y) - 0.2)),
            "squared": lambda: cp.square(z - y),
        }
        weights = data.get("v", np.ones(self.n)) * self.C / (self.n if self.mean else 1.0)
        objective = 0.5 * self.mu * cp.sum_squares(w) + weights @ losses[self.loss]()
        objective += 0.2 * cp.square(b) if self.intercept == "penalised" else 0.0
        objective += self.q_b * b if self.intercept != "none" else 0.0
        objective += data["g"] @ w if self.linear else 0.0
        problem = cp.Problem(cp.Minimize(objective))
        problem.solve(solver=cp.CLARABEL)
        return float(problem.value)
