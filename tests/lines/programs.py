"""Random programs of functions of the differences of neighbours."""

from __future__ import annotations

import numpy as np

from tests.problems import RandomProblem, laid_out

N, M = 14, 20

LOSSES = {
    "squared": "0.5 * sum(squared({z}, b))",
    "weighted": "0.5 * sum(w * squared({z}, b))",
    "huber": "sum(huber({z}, b, delta=0.7))",
    "logistic": "sum(logistic({z}, s))",
    "poisson": "0.3 * sum(poisson({z}, k))",
    "smooth_hinge": "sum(smooth_hinge({z}, s))",
    "squared_hinge": "sum(squared_hinge({z}, s))",
    "squared_epsilon_insensitive": "sum(squared_epsilon_insensitive({z}, b, eps=0.15))",
}

LINES = {
    "total variation": (" + 0.4 * norm1(x[1:] - x[:-1])", ""),
    "fused lasso": (" + 0.4 * norm1(x[:-1] - x[1:]) + 0.15 * norm1(x)", ""),
    "a matrix": (" + 0.2 * norm1(2 * D @ x) + 0.05 * sum_squares(x)", ""),
    "a weight each": (" + 0.4 * norm1(c[1:] * (x[1:] - x[:-1]))", ""),
    "a box": (" + 0.4 * norm1(x[1:] - x[:-1])", "x in box(-0.4, 0.6)"),
    "increasing": (" + 0.01 * sum_squares(x)", "x[1:] >= x[:-1]"),
    "decreasing, nonnegative": (" + 0.1 * norm1(x)", "x[1:] <= x[:-1], x >= 0"),
    "increasing in a ball": ("", "x[1:] >= x[:-1], norm2(x) <= 1.1"),
    "increasing in a simplex": ("", "x[1:] >= x[:-1], x in simplex(1)"),
    "two terms": (" + 0.2 * norm1(x[1:] - x[:-1]) + 0.02 * sum_squares(x)", "x[3:10] >= x[2:9], x[11:] == x[10:-1]"),
    "every second": (" + 0.4 * norm1(x[2:] - x[:-2]) + 0.02 * sum_squares(x)", ""),
    "a part, with a cost": (" + 0.4 * norm1(x[3:9] - x[2:8]) + 0.1 * sum(x) + 0.1 * sum_squares(x)", ""),
}


def program(loss: str, line: str, of: str = "x", layout: str = "dense", seed: int = 0) -> RandomProblem:
    """A loss of x itself or, with `of="A @ x"`, of a product with data."""
    rng = np.random.default_rng([seed, *map(ord, loss + line + of)])
    rows = N if of == "x" else M
    path = np.cumsum(rng.normal(size=rows)) * 0.6
    s = np.where(path + rng.normal(size=rows) > 0.0, 1.0, -1.0)
    s[:2] = 1.0, -1.0
    D = np.diff(np.eye(N), axis=0)
    data = {
        "b": path,
        "s": s,
        "k": rng.poisson(1.5, size=rows).astype(float),
        "w": rng.random(rows) + 0.1,
        "c": rng.random(N) + 0.1,
        "D": laid_out(D, "csr") if layout == "csr" else D,
        "A": laid_out(np.round(rng.standard_normal((rows, N)) * 128) / 256, layout),
    }
    term, constraints = LINES[line]
    objective = LOSSES[loss].format(z=of) + term
    row = "n" if of == "x" else "m"
    types = {
        "b": f"vector[{row}]",
        "s": f"signs[{row}]",
        "k": f"vector[{row}]",
        "w": f"vector[{row}] in nonnegative",
        "c": "vector[n]",
        "D": "matrix[e, n]",
        "A": "matrix[m, n]",
    }
    used = {
        name
        for name in types
        if any(use in objective for use in (f"{name} @", f", {name}", f"{name} *", f"{name}[1:]"))
    }
    head = f"data {', '.join(f'{n}: {t}' for n, t in types.items() if n in used)}\nvar x: vector[n]\n"
    tail = f"subject to {constraints}\n" if constraints else ""
    return RandomProblem(f"{head}minimize {objective}\n{tail}", {n: data[n] for n in used})
