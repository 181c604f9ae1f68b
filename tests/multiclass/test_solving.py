"""The mirror methods at their optimum, against cvxpy; certificates along the way; radii, seeds, threads, resuming; what is refused."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.multiclass.state import judge
from fwdsl.backends.multiclass.sublinear import PartialState, SublinearState
from fwdsl.certify.verify import verify
from tests.multiclass.problems import HINGE, SOFTMAX, WHERE, classes, data
from tests.runs import resumed, stepped

#: Methods with options, and the gap they come to on small problems within a test.
RUNS: tuple[tuple[dict[str, Any], float], ...] = (
    ({"method": "mirror_prox"}, 1e-3),
    ({"method": "mirror_prox", "average": "none"}, 3e-2),
    ({"method": "mirror_prox", "rule": "theory", "step": 5.0, "average": "all"}, 0.3),
    ({"method": "mirror_descent", "step": 10.0}, 0.5),
    ({"method": "sublinear", "step": 100.0}, 0.6),
)


def optimum(problem: fw.Problem, loss: str, where: str) -> float:
    import cvxpy as cp

    X, y = problem.instance.values["X"], problem.instance.values["y"]
    k = int(y.max()) + 1
    U, Y = cp.Variable((X.shape[1], k)), np.eye(k)[y]
    Z = X @ U
    raised = Z if loss == SOFTMAX else Z + (1.0 - Y)
    top = cp.sum(cp.log_sum_exp(raised, axis=1)) if loss == SOFTMAX else cp.sum(cp.max(raised, axis=1))
    value = (top - cp.sum(cp.multiply(Y, Z))) / y.size
    size = cp.sum(cp.abs(U))
    penalty, on = {"penalty": (0.05, []), "ball": (0.0, [size <= 3]), "both": (0.02, [size <= 3])}.get(
        where, (0.0, None)
    )
    if on is None:
        on = [U >= 0, cp.sum(U) == 2] if where == "simplex" else [U >= 0, cp.sum(U) <= 2]
        penalty = 0.0 if where == "simplex" else 0.05
    return float(cp.Problem(cp.Minimize(value + penalty * size), on).solve(solver="CLARABEL"))


@pytest.mark.parametrize("where", list(WHERE))
@pytest.mark.parametrize("loss", [HINGE, SOFTMAX])
def test_every_set_and_loss_meets_cvxpy(loss: str, where: str) -> None:
    problem = classes(loss, where)
    best = optimum(problem, loss, where)
    for options, tol in RUNS:
        found = problem.solve(tol=tol, max_iter=300, **options)
        assert found.status == "optimal", (options, found.reason, found.relative_gap)
        assert found.certificate.kind == "exact"
        assert found.objective >= best - 1e-6
        assert found.dual_bound <= best + 1e-6
        assert found.objective <= best + tol * max(best, found.objective) + 1e-6


@pytest.mark.parametrize("layout", ["csr", "csc", "fortran", "float32"])
def test_every_layout_has_the_same_optimum(layout: str) -> None:
    best = classes().solve(method="mirror_prox", tol=1e-3)
    found = classes(layout=layout).solve(method="mirror_prox", tol=1e-3)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(best.objective, rel=1e-9)


@pytest.mark.parametrize("inside", ["2 * (X @ U) - 0.25", "-(X @ U)"])
def test_scaled_and_shifted_predictions_and_linear_terms(inside: str) -> None:
    problem = classes(inside=inside, more=" + 0.01 * sum(U)")
    best = problem.solve(method="pdhg", tol=1e-8)
    found = problem.solve(method="mirror_prox", tol=1e-3)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(best.objective, rel=2e-3)
    partial = problem.solve(method="sublinear", step=100, tol=0.6, max_iter=5)
    assert partial.dual_bound <= best.objective <= partial.objective + 1e-9


def test_weights_of_samples() -> None:
    text = "data X: matrix[n, d], y: labels[n, k], v: vector[n] in nonnegative\nvar U: matrix[d, k]\n"
    text += "minimize 0.3 * sum(v * multiclass_hinge(X @ U, y)) + 0.4 * norm1(U)\n"
    given = data()
    v = np.random.default_rng(2).random(25)
    v[3] = 0.0
    problem = fw.parse(text).bind(v=v, **given)
    best = problem.solve(method="pdhg", tol=1e-8)
    assert problem.solve(method="mirror_prox", tol=1e-3).objective == pytest.approx(best.objective, rel=2e-3)
    full = problem.solve(method="sublinear", step=100, tol=0.4, max_iter=500)
    assert full.status == "optimal"
    assert full.dual_bound <= best.objective <= full.objective + 1e-9


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mirror_descent", {"step": 5.0}),
        ("mirror_prox", {}),
        ("sublinear", {"step": 200.0}),
        ("sublinear", {"step": 200.0, "average": "tail"}),
        ("sublinear", {"step": 200.0, "sampling": "partial"}),
    ],
)
@pytest.mark.parametrize("where", ["penalty", "both"])
def test_bounds_hold_at_every_step(name: str, options: dict[str, Any], where: str) -> None:
    problem = classes(where=where, seed=4)
    best = problem.solve(method="pdhg", tol=1e-9).objective
    run = stepped(problem, name, 0, **options)
    state = run.state
    for _ in range(6 if options.get("sampling") == "partial" else 15):
        run.step()
        report = run.report()
        assert report.bound <= best + 1e-9
        assert report.objective >= best - 1e-9
    x, ys = run.candidate()
    found = verify(problem.canonical, x, ys)
    assert found.kind == "exact"
    assert found.primal == pytest.approx(state.best_value, rel=1e-10)
    assert found.dual == pytest.approx(state.best_bound, rel=1e-9)


@pytest.mark.parametrize("where", ["ball", "simplex", "solid"])
def test_a_point_outside_the_set_is_judged_by_the_nearest_inside(where: str) -> None:
    run = stepped(classes(where=where), "mirror_prox", 3)
    state = run.state
    game = run.game
    x = 1e3 * state.best_x
    state.best_value = np.inf
    judge(game, state, x, game.forward(x), state.mean_u, state.mean_slope)
    assert state.best_value == pytest.approx(game.value(state.best_x, game.forward(state.best_x)), rel=1e-12)
    assert np.abs(state.best_x).sum() <= game.ball * (1 + 1e-9)


def test_the_bound_of_a_penalty_needs_no_radius() -> None:
    """Du is at least D_R for every radius that holds the optimum, and D_R of a smaller one may exceed the optimum."""
    problem = classes(seed=1)
    best = problem.solve(method="pdhg", tol=1e-9)
    inside = float(np.abs(best.variables["U"]).sum())
    run = stepped(problem, "mirror_prox", 1, radius=0.3 * inside)
    state = run.state
    game = run.game
    for _ in range(200):
        run.iterate()
    u = game.settle(state.mean_u)
    bound, _, small = game.bound(u, state.mean_slope, 0.3 * inside)
    safe = game.bound(u, state.mean_slope, game.safe_radius(best.objective))[2]
    assert safe <= bound <= best.objective + 1e-9
    assert small > best.objective + 1e-3


def test_the_radius_is_doubled_while_it_binds() -> None:
    problem = classes(where="penalty", seed=1)
    inside = float(np.abs(problem.solve(method="pdhg", tol=1e-8).variables["U"]).sum())
    run = stepped(problem, "mirror_prox", 40, radius=0.1 * inside)
    small = run.state
    assert inside <= 1.4 * small.radius
    assert small.radius <= run.game.safe_radius(small.best_value)
    assert small.best_value - small.best_bound <= 1e-2
    large = stepped(problem, "mirror_prox", 10, radius=2.0 * inside).state
    assert large.radius == pytest.approx(2.0 * inside)
    lazy = stepped(problem, "sublinear", 60, radius=0.1 * inside, step=30.0).state
    assert lazy.radius > 0.15 * inside


@pytest.mark.parametrize("options", [{}, {"sampling": "partial"}])
def test_a_radius_that_is_far_too_small_is_doubled_though_means_are_small(options: dict[str, Any]) -> None:
    """The mean of noisy iterates has a small norm in any ball; that the game within it is solved shows that the ball binds."""
    run = stepped(classes(seed=1), "sublinear", 30, radius=1e-6, step=100.0, **options)
    state = run.state
    assert 0.01 < state.radius <= run.game.safe_radius(state.best_value)
    assert state.stage_size < 0.1 * state.radius


@pytest.mark.parametrize(
    ("loss", "inside", "options", "state"),
    [
        (HINGE, "X @ U", {}, SublinearState),
        (HINGE, "X @ U", {"sampling": "auto"}, SublinearState),
        (HINGE, "X @ U", {"sampling": "partial"}, PartialState),
        (HINGE, "X @ U + 0.5", {}, PartialState),
        (SOFTMAX, "X @ U", {}, PartialState),
    ],
)
def test_sampling_is_full_where_it_can_be(loss: str, inside: str, options: dict[str, Any], state: type) -> None:
    found = stepped(classes(loss, inside=inside), "sublinear", 1, **options).state
    assert type(found) is state
    assert found.k > 0


@pytest.mark.parametrize(("loss", "where"), [(SOFTMAX, "simplex"), (SOFTMAX, "penalty"), (HINGE, "ball")])
def test_mirror_prox_keeps_its_steps_at_the_solution(loss: str, where: str) -> None:
    """The adaptive test is rounding there: steps were halved to nothing, and then divided by."""
    run = stepped(classes(loss, where, n=20, d=3, k=2), "mirror_prox", 400)
    state = run.state
    game = run.game
    assert 1.0 <= 2.0 * game.pace(state.radius) * state.gamma <= 1e9
    assert state.best_value - state.best_bound <= 1e-10


@pytest.mark.parametrize("where", ["penalty", "ball", "simplex"])
def test_steps_stay_numbers_where_all_of_them_hold(where: str) -> None:
    given = data()
    text = f"data X: matrix[n, d], y: labels[n, k]\nvar U: matrix[d, k]{WHERE[where][0]}\n"
    problem = fw.parse(text + f"minimize mean(softmax(X @ U, y)){WHERE[where][1]}\n").bind(
        X=0.0 * given["X"], y=given["y"]
    )
    run = stepped(problem, "mirror_prox", 250)
    state = run.state
    assert 1.0 < 2.0 * run.game.pace(state.radius) * state.gamma <= 1e9
    assert state.best_value == pytest.approx(np.log(4.0))
    assert state.best_bound == pytest.approx(np.log(4.0))


def test_a_start_is_used() -> None:
    problem = classes(seed=3)
    first = problem.solve(method="mirror_prox", tol=1e-3)
    for name, options in (
        ("mirror_prox", {}),
        ("mirror_descent", {}),
        ("sublinear", {}),
        ("sublinear", {"sampling": "partial"}),
    ):
        again = problem.solve(method=name, start=first, max_iter=1, tol=1e-12, **options)
        assert again.objective <= first.objective * (1 + 1e-9)


STOCHASTIC: tuple[tuple[str, dict[str, Any]], ...] = (
    ("sublinear", {"step": 200.0}),
    ("sublinear", {"step": 200.0, "average": "tail"}),
    ("sublinear", {"sampling": "partial", "step": 100.0}),
)


@pytest.mark.parametrize(("name", "options"), STOCHASTIC)
def test_seeds_decide_and_threads_do_not(name: str, options: dict[str, Any]) -> None:
    problem = classes()
    one, two, other = (
        stepped(problem, name, 6, threads, seed, **options).state for threads, seed in ((1, 5), (2, 5), (1, 6))
    )
    for name in ("U", "V", "best_x", "best_u", "k", "best_value", "best_bound"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert np.any(one.U != other.U)


@pytest.mark.parametrize(("name", "options"), [*STOCHASTIC, ("mirror_descent", {}), ("mirror_prox", {})])
def test_a_saved_run_goes_on_exactly(name: str, options: dict[str, Any], tmp_path: Path) -> None:
    problem = classes()
    run = stepped(problem, name, 4, **options)
    state = run.state
    again = resumed(run, tmp_path, options)
    for _ in range(5):
        run.step()
        again.step()
    for field in fields(state):
        one, two = getattr(state, field.name), getattr(again.state, field.name)
        for a, b in zip(one, two, strict=True) if isinstance(one, list) else [(one, two)]:
            np.testing.assert_array_equal(a, b)


def test_from_text() -> None:
    for solve in (
        'mirror_prox(average="all")',
        "sublinear(step=100, radius=4)",
        "mirror_descent(step=10, horizon=2000)",
    ):
        found = classes(solve=f"solve method = {solve}, tol = 0.5, seed = 3").solve()
        assert found.status == "optimal", (solve, found.reason)
        assert found.method == solve.partition("(")[0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "minimize mean(weston_watkins(X @ U, y)) + 0.1 * norm1(U)",
            "it takes one `multiclass_hinge` or `softmax` loss",
        ),
        ("minimize mean(multiclass_hinge(X @ U, y)) + 0.1 * norm_fro(U)", "U has a norm_fro"),
        (
            "minimize mean(multiclass_hinge(X @ U, y)) + 0.1 * norm1(U) + 0.1 * sum_squares(U)",
            "it takes no `sum_squares(U)`",
        ),
        ("minimize mean(multiclass_hinge(X @ U, y))", "U is in no l1 ball and has no `norm1(U)`"),
        ("minimize mean(multiclass_hinge(X @ U, y))\nsubject to U in linf_ball(1)", "U is in linf_ball"),
        ("minimize mean(multiclass_hinge(X @ U, y)) + 0 * norm1(U)", "the weight of `norm1(U)` is 0"),
        ("minimize mean(multiclass_hinge(X @ U, y)) + 0.1 * norm1(U) + sum(U)", "the linear terms of U outweigh"),
        ("minimize mean(multiclass_hinge(X @ U + X @ U, y)) + 0.1 * norm1(U)", "not the rows of one data matrix"),
    ],
)
@pytest.mark.parametrize("method", ["mirror_descent", "mirror_prox", "sublinear"])
def test_what_is_refused(text: str, reason: str, method: str) -> None:
    problem = fw.parse(
        f"data X: matrix[n, d], y: labels[n, k]\nvar U: matrix[d, k]\n{text}\nsolve method = {method}\n"
    ).bind(**data())
    with pytest.raises(fw.PlanError) as error:
        problem.solve()
    assert "FW5003" in str(error.value)
    assert reason in " ".join(str(error.value).split())


@pytest.mark.parametrize(
    ("method", "options", "where", "reason"),
    [
        ("sublinear", {"sampling": "full"}, "softmax", "takes `multiclass_hinge` only"),
        ("sublinear", {"sampling": "full"}, "shifted", "takes no constants in predictions"),
        ("sublinear", {"sampling": "some"}, "penalty", "sampling"),
        ("sublinear", {"step": 0}, "penalty", "`step` of `sublinear` is a number at least 1e-09 and at most 1e+09"),
        ("mirror_prox", {"step": -1.0}, "penalty", "`step` of `mirror_prox` is a number at least 1e-09"),
        ("sublinear", {"average": "none"}, "penalty", "average"),
        ("mirror_prox", {"radius": 2.0}, "ball", "`radius` is that of the set, 3"),
        ("mirror_descent", {"horizon": 0}, "penalty", "horizon"),
        ("mirror_prox", {"rule": "large"}, "penalty", "rule"),
        ("mirror_prox", {"radius": -1.0}, "penalty", "radius"),
    ],
)
def test_options_that_do_not_fit(method: str, options: dict[str, Any], where: str, reason: str) -> None:
    if where == "softmax":
        problem = classes(SOFTMAX)
    else:
        problem = classes(inside="X @ U + 0.5") if where == "shifted" else classes(where=where)
    with pytest.raises(fw.FwError) as error:
        problem.solve(method=method, **options)
    assert "FW5004" in str(error.value)
    assert reason in " ".join(str(error.value).split())


def test_data_of_zeros() -> None:
    given = data()
    given["X"] = np.zeros_like(given["X"])
    text = "data X: matrix[n, d], y: labels[n, k]\nvar U: matrix[d, k]\nminimize mean(multiclass_hinge(X @ U, y)) + norm1(U)\n"
    problem = fw.parse(text).bind(**given)
    assert problem.solve(method="mirror_prox", tol=1e-6).objective == pytest.approx(1.0)
    with pytest.raises(fw.PlanError, match="its data are all zero"):
        problem.solve(method="sublinear")


@pytest.mark.parametrize("options", [{}, {"sampling": "partial"}])
def test_data_so_small_that_the_iterates_shrink_to_nothing(options: dict[str, Any]) -> None:
    given = data()
    text = "data X: matrix[n, d], y: labels[n, k]\nvar U: matrix[d, k]\nminimize mean(multiclass_hinge(X @ U, y)) + 0.05*norm1(U)\n"
    problem = fw.parse(text).bind(X=1e-8 * given["X"], y=given["y"])
    found = problem.solve(method="sublinear", step=1e3, tol=1e-12, max_iter=40, **options)
    assert found.objective == pytest.approx(1.0)
    assert 0.9 < found.dual_bound <= 1.0


@pytest.mark.parametrize("method", ["mirror_descent", "mirror_prox", "sublinear"])
@pytest.mark.parametrize("loss", [HINGE, SOFTMAX])
@pytest.mark.parametrize("scale", ["data", "number", "weights"])
def test_squares_beyond_the_range_of_numbers(method: str, loss: str, scale: str) -> None:
    given = data()
    inside, before = ("1e200 * (X @ U)" if scale == "number" else "X @ U"), ("1e200 * " if scale == "weights" else "")
    text = f"data X: matrix[n, d], y: labels[n, k]\nvar U: matrix[d, k]\nminimize {before}mean({loss}({inside}, y)) + norm1(U)\n"
    problem = fw.parse(text).bind(X=given["X"] * (1e200 if scale == "data" else 1.0), y=given["y"])
    found = problem.solve(method=method, max_iter=5)
    assert found.status == "tolerance_not_reached"
    assert "rescale the data, their weights or the radius" in found.reason
    assert found.dual_bound <= found.objective


def test_rows_and_columns_of_zeros_and_classes_without_samples() -> None:
    given = data()
    given["X"][4] = 0.0
    given["X"][:, 2] = 0.0
    text = "data X: matrix[n, d], y: labels[n]\nvar U: matrix[d, 7]\nminimize mean(multiclass_hinge(X @ U, y)) + 0.05*norm1(U)\n"
    problem = fw.parse(text).bind(**given)
    best = problem.solve(method="pdhg", tol=1e-8).objective
    found = problem.solve(method="sublinear", step=100, tol=0.4, max_iter=1000)
    assert found.status == "optimal"
    assert found.dual_bound <= best <= found.objective + 1e-9
