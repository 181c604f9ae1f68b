"""The strength of norms: the share of their largest useful weight, and what it tells of accelerated gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends import costs
from fwdsl.backends.method import Estimate
from fwdsl.backends.registry import METHODS
from fwdsl.plan.fitted import NAMES, corrected

N, P = 60, 12
LENGTH: Callable[[Any], float] = np.linalg.norm


def data(seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"X": rng.standard_normal((N, P)), "y": rng.standard_normal(N) + 2.0, "g": np.arange(P) // 4}


def form(body: str, head: str = "", **changed: Any) -> Any:
    bindings = data() | changed
    text = f"data X: matrix[n, p], y: vector[n], g: index[p] of G\n{head or 'var w: vector[p]'}\nminimize {body}\n"
    return fw.parse(text).bind(**bindings).canonical


GAUGES: dict[str, Callable[[Any], float]] = {
    "norm1(w)": lambda v: np.abs(v).max(),
    "norm2(w)": LENGTH,
    "norm_inf(w)": lambda v: np.abs(v).sum(),
    "group_norm(w, groups=g)": lambda v: max(LENGTH(part) for part in v.reshape(3, 4)),
}


@pytest.mark.parametrize("gauge", GAUGES)
@pytest.mark.parametrize("ridge", ["", " + 0.3 * sum_squares(w)"])
def test_the_share_is_that_of_the_largest_useful_weight(gauge: str, ridge: str) -> None:
    d = data()
    slope = 2.0 * d["X"].T @ d["y"] / N
    found = costs.strength(form(f"mean(squared(X @ w, y)) + {0.25 * GAUGES[gauge](slope)} * {gauge}{ridge}"))
    assert found is not None
    assert found.share == pytest.approx(0.25, rel=1e-9)


def test_a_weight_beyond_the_largest_useful_one_counts_as_that_one() -> None:
    found = costs.strength(form("mean(squared(X @ w, y)) + 1000 * norm2(w)"))
    assert found is not None
    assert found.share == 1.0


@pytest.mark.parametrize("on", ["box(-1, 1)", "nonnegative"])
def test_a_set_beside_the_norm_is_left_out(on: str) -> None:
    body = "mean(squared(X @ w, y)) + 0.01 * norm1(w)"
    free, within = (costs.strength(form(body, f"var w: vector[p]{text}")) for text in ("", f" in {on}"))
    assert free is not None
    assert within is not None
    assert free.share == within.share


def test_an_intercept_is_where_it_has_the_predictions() -> None:
    d = data()
    slope = np.abs(2.0 * d["X"].T @ (d["y"] - d["y"].mean()) / N).max()
    found = costs.strength(form(f"mean(squared(X @ w + b, y)) + {0.5 * slope} * norm1(w)", "var w: vector[p], b: real"))
    assert found is not None
    assert found.share == pytest.approx(0.5, rel=1e-9)


def test_the_bend_is_a_curvature_of_the_loss() -> None:
    d = data()
    found = costs.strength(form("mean(squared(X @ w, y)) + 0.1 * norm2(w)"))
    v = d["X"].T @ d["y"]
    assert found is not None
    assert found.bend == pytest.approx(2.0 * LENGTH(d["X"] @ v) ** 2 / N / LENGTH(v) ** 2, rel=1e-9)


@pytest.mark.parametrize(
    "body",
    [
        "mean(squared(X @ w, y)) + 0.1 * sum_squares(w)",
        "mean(absolute(X @ w, y)) + 0.1 * norm2(w)",
        "mean(squared(X @ w, y)) + norm1(w[1:] - w[:-1])",
        "norm2(X @ w - y) + norm1(w)",
    ],
)
def test_nothing_is_told_without_a_smooth_loss_and_a_norm(body: str) -> None:
    assert costs.strength(form(body)) is None


def test_iterations_grow_as_lengths_bend_less() -> None:
    slope = LENGTH(2.0 * data()["X"].T @ data()["y"] / N)
    told = [
        costs.apg(form(f"mean(squared(X @ w, y)) + {share * slope} * norm2(w)"), 1e-6).passes
        for share in (1.5, 0.9, 0.5, 0.1)
    ]
    assert told == sorted(set(told))


def test_a_support_is_sought_for_longer_the_weaker_the_norm() -> None:
    rng = np.random.default_rng(1)
    wide = {"X": rng.standard_normal((20, 80)), "y": rng.standard_normal(20), "g": np.arange(80)}
    slope = np.abs(2.0 * wide["X"].T @ wide["y"] / 20).max()
    told = [
        costs.apg(form(f"mean(squared(X @ w, y)) + {share * slope} * norm1(w)", **wide), 1e-6).passes
        for share in (0.5, 0.1, 0.01)
    ]
    assert told == sorted(set(told))


@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_a_working_set_is_predicted_to_grow_as_the_norm_weakens(loss: str) -> None:
    rng = np.random.default_rng(1)
    wide = {"X": rng.standard_normal((20, 2_000)), "y": rng.standard_normal(20), "g": np.arange(2_000)}
    told = [
        METHODS["coordinate_descent"].estimate(form(f"mean({loss}(X @ w, y)) + {c} * norm1(w)", **wide), 1e-6)
        for c in (0.3, 0.1, 0.01)
    ]
    assert [e.passes for e in told] == sorted({e.passes for e in told})
    assert [e.seconds for e in told] == sorted({e.seconds for e in told})


def test_a_lasso_on_its_gram_matrix_is_predicted_without_a_product_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(costs, "strength", None)
    lasso = form("mean(squared(X @ w, y)) + 0.1 * norm1(w)")
    for name in ("apg", "coordinate_descent"):
        assert METHODS[name].estimate(lasso, 1e-6).seconds > 0.0


@pytest.mark.parametrize(("radius", "ends"), [(1e-3, True), (10.0, False)])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_the_vertex_of_a_small_ball_is_the_solution(radius: float, ends: bool, loss: str) -> None:
    ball = form(f"mean({loss}(X @ w, y))", f"var w: vector[p] in l1_ball({radius})")
    assert costs.is_at_vertex(ball) is ends
    problem = fw.parse(
        f"data X: matrix[n, p], y: vector[n]\nvar w: vector[p] in l1_ball({radius})\nminimize mean({loss}(X @ w, y))\n"
    )
    d = data()
    w = problem.bind(X=d["X"], y=d["y"]).solve(method="apg", tol=1e-9)["w"]
    assert bool(np.count_nonzero(np.abs(w) > 1e-9 * radius) == 1) is ends


@pytest.mark.parametrize(
    ("body", "head"),
    [
        ("mean(squared(X @ w, y)) + sum_squares(w)", "var w: vector[p] in l1_ball(1e-3)"),
        ("mean(squared(X @ w, y))", "var w: vector[p] in l2_ball(1e-3)"),
        ("mean(squared(X @ w, y)) + norm1(w)", "var w: vector[p]"),
        ("mean(absolute(X @ w, y))", "var w: vector[p] in l1_ball(1e-3)"),
    ],
)
def test_no_vertex_is_tried_without_a_polytope_and_a_smooth_loss(body: str, head: str) -> None:
    assert not costs.is_at_vertex(form(body, head))


def test_a_start_is_counted_once_beside_the_predicted_seconds() -> None:
    zero = (0.0,) * len(NAMES)
    found = corrected(Estimate(10.0, 1e-3, 0.0, ""), "apg", zero, 1e-6, {"apg": (zero, zero, 5e-4)})
    assert (found.passes, found.seconds) == (10.0, pytest.approx(1.5e-3))
