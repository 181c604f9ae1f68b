"""Block-coordinate steps against a naive transcription of their formulas, and sweeps in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fwdsl.backends.finite_sum import draws
from fwdsl.backends.frank_wolfe import block
from tests.frank_wolfe.problems import family_bound, matrix_bound, near_bound, two_bound
from tests.frank_wolfe.test_reference import Adaptive
from tests.runs import started

PROBLEMS = {
    "rows": lambda: matrix_bound("rows(l2_ball(0.4))", more=" + 0.01 * sum_squares(X)"),
    "rows of sparse data": lambda: matrix_bound("rows(simplex(1))", "softmax", sparse=True),
    "columns": lambda: matrix_bound("columns(simplex(1))", "softmax"),
    "family": family_bound,
    "identity": near_bound,
    "two": two_bound,
}
SWEEPS = 6

SEED = 8
"""Draws that take no block twice in a row: its slope would be 0, and rounding would choose."""


class Naive:
    """P by the references of the canonical form, densely; the factors with their places."""

    def __init__(self, problem: Any, kind: str) -> None:
        self.can = problem.canonical
        self.K = [np.stack([t.map.linear(e) for e in np.eye(self.can.size)], axis=1) for t in self.can.terms]
        places = np.arange(self.can.size)
        lines: Any = [places]
        if kind.startswith("rows") or kind in ("identity", "family"):
            lines = places.reshape(self.can.blocks[0].shape if kind != "family" else (3, -1))
        elif kind == "columns":
            lines = places.reshape(self.can.blocks[0].shape).T
        elif kind == "two":
            lines = [places[b.slice] for b in self.can.blocks]
        self.lines = [np.array(line) for line in lines]
        self.sets = (
            [b.g for b in self.can.blocks] if kind == "two" else [_inner(self.can.blocks[0].g)] * len(self.lines)
        )
        self.mu = np.concatenate([np.full(b.size, b.g.curvature) for b in self.can.blocks])

    def gradient(self, x: Any) -> Any:
        found = self.can.q + self.mu * x
        for K, t in zip(self.K, self.can.terms, strict=True):
            found = found + K.T @ t.f.gradient(K @ x + t.map.offset)
        return found

    def slope(self, x: Any, d: Any, gamma: float) -> float:
        return float(self.gradient(x + gamma * d) @ d)

    def short(self, x: Any, d: Any, most: float) -> float:
        steep = float(self.mu @ d**2)
        for K, t in zip(self.K, self.can.terms, strict=True):
            row = t.f.loss.smoothness * t.f.w if hasattr(t.f, "w") and t.f.loss.name != "softmax" else t.f.lipschitz
            steep += float(np.sum(row * (K @ d) ** 2))
        return min(most, -self.slope(x, d, 0.0) / steep) if steep > 0.0 else 0.0


def _inner(g: Any) -> Any:
    while hasattr(g, "inner"):
        g = g.inner
    return g


@pytest.mark.parametrize("visits", [256, 2])
@pytest.mark.parametrize("rule", ["open", "short", "adaptive"])
@pytest.mark.parametrize("order", ["cyclic", "random", "full"])
@pytest.mark.parametrize("kind", PROBLEMS)
def test_block_steps_are_those_of_the_formulas(
    kind: str, order: str, rule: str, visits: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block, "MOST_VISITS", visits)
    problem = PROBLEMS[kind]()
    of = Naive(problem, kind)
    run = started(problem, "block_frank_wolfe", order=order, step=rule, seed=SEED)
    s, kernels = run.state, run.problem
    x, count = s.x.copy(), len(of.lines)
    estimates = [0.0 for _ in of.lines]
    parts = 0
    for sweep in range(SWEEPS):
        chosen = range(count) if order != "random" else draws(SEED, sweep).integers(0, count, count)
        first = of.gradient(x)
        for done, k in enumerate(chosen):
            at = of.lines[k]
            c = first if order == "full" else of.gradient(x)
            d = np.zeros_like(x)
            d[at] = of.sets[k].lmo(np.ascontiguousarray(c[at])) - x[at]
            if rule == "open":
                gamma = 2.0 / (sweep + (done / count if order == "random" else 0.0) + 2.0)
            elif of.slope(x, d, 0.0) >= 0.0:
                gamma = 0.0
            elif rule == "short":
                gamma = of.short(x, d, 1.0)
            else:
                search = Adaptive(of, estimates[k])  # type: ignore[arg-type]
                gamma, estimates[k] = search(x, d, 1.0), search.found[-1]
            x = x + gamma * d
        while s.sweeps == sweep:
            run.step()
            parts += 1
        np.testing.assert_allclose(s.x, x, atol=1e-9)
    assert s.iteration == parts == SWEEPS * -(-count // visits)
    np.testing.assert_allclose(s.best_value, kernels.objective(s.best_x, kernels.forward(s.best_x)), rtol=1e-10)
