"""The machines at their optimum, against cvxpy and the other methods; certificates along the way; refusals; seeds, threads, resuming."""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.certify.verify import verify
from tests.runs import resumed, started
from tests.svm.problems import LOSSES, binary, binary_data, classes

STEPS: tuple[dict[str, Any], ...] = (
    {"method": "bcfw"},
    {"method": "bcfw", "step": "optimal"},
    {"method": "bcfw", "step": "optimal", "variant": "away", "order": "shuffled"},
    {"method": "bcfw", "step": "optimal", "variant": "pairwise"},
    {"method": "bcfw", "step": "oblivious"},
    {"method": "matrix_fw"},
    {"method": "matrix_fw", "variant": "away"},
    {"method": "matrix_fw", "variant": "pairwise"},
)


def words(options: dict[str, Any]) -> str:
    return "-".join(str(v) for v in options.values())


def squared_hinge_machine(problem: fw.Problem) -> tuple[float, Any]:
    """The minimum by cvxpy, from the bound numbers alone."""
    import cvxpy as cp

    can = problem.canonical
    (term,) = can.terms
    x = cp.Variable(can.size)
    K = np.stack([term.map.linear(e) for e in np.eye(can.size)], axis=1)
    margins = cp.pos(1 - cp.multiply(term.f.b, K @ x + term.map.offset))
    ridge = sum(0.5 * b.g.curvature * cp.sum_squares(x[b.start : b.stop]) for b in can.blocks)
    found = cp.Problem(cp.Minimize(term.f.w @ cp.square(margins) + ridge))
    return float(found.solve(solver="CLARABEL", tol_gap_abs=1e-12, tol_gap_rel=1e-12)), x.value


@pytest.mark.parametrize("intercept", ["none", "free", "squared", "scaled"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_l2svm_dual_meets_cvxpy(intercept: str, weighted: bool, layout: str) -> None:
    problem = binary(intercept, weighted, layout=layout, seed=len(intercept))
    best, x = squared_hinge_machine(problem)
    found = problem.solve(method="l2svm_dual", tol=1e-9)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(best, rel=1e-8)
    assert found.dual_bound <= best * (1 + 1e-8)
    np.testing.assert_allclose(found.variables["w"], x[: found.variables["w"].size], atol=2e-4)


@pytest.mark.parametrize("momentum", ["restart", "constant", "nesterov", "none"])
@pytest.mark.parametrize("step", ["adaptive", "fixed"])
def test_l2svm_dual_with_every_momentum_and_step(momentum: str, step: str) -> None:
    problem = binary("free", seed=3)
    found = problem.solve(method="l2svm_dual", momentum=momentum, step=step, tol=1e-6)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(problem.solve(method="apg", tol=1e-9).objective, rel=2e-6)


def test_l2svm_dual_with_one_class_needs_no_weights() -> None:
    text = "data X: matrix[n, d]\nvar w: vector[d], b: real\n"
    text += "minimize sum(squared_hinge(X @ w + b, ones(n))) + 1/2 * sum_squares(w)\n"
    found = fw.parse(text).bind(X=binary_data()["X"]).solve(method="l2svm_dual")
    assert found.status == "optimal"
    assert abs(found.objective) < 1e-9
    assert found.variables["b"] >= 1.0 - 1e-6


@cache
def best_of(loss: str, intercept: bool) -> float:
    """The minimum of a machine of several classes, by another method."""
    return machine(loss, intercept).solve(method="pdhg", tol=1e-8).objective


def machine(loss: str, intercept: bool) -> fw.Problem:
    return classes(loss, intercept, weighted=True, layout="csr" if intercept else "dense", seed=7)


@pytest.mark.parametrize("options", STEPS, ids=words)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
def test_multiclass_machines_meet_the_optimum(loss: str, intercept: bool, options: dict[str, Any]) -> None:
    best = best_of(loss, intercept)
    exact = options == {"method": "bcfw"}
    found = machine(loss, intercept).solve(tol=1e-8 if exact else 3e-3, **options)
    assert found.status == "optimal", found.reason
    assert found.certificate.kind == "exact"
    assert found.objective == pytest.approx(best, rel=3e-8 if exact else 3e-3)
    assert found.dual_bound <= best * (1 + 1e-7)


@cache
def weights_of_dense_data(loss: str) -> Any:
    return classes(loss, seed=1).solve(method="bcfw", tol=1e-9).variables["W"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("layout", ["dense", "fortran", "float32", "csr", "csc", "csr64"])
def test_every_layout_has_the_same_optimum(loss: str, layout: str) -> None:
    best = weights_of_dense_data(loss)
    found = classes(loss, seed=1, layout=layout).solve(method="bcfw", tol=1e-9)
    assert found.status == "optimal"
    np.testing.assert_allclose(found.variables["W"], best, atol=1e-4)


def test_rows_that_stay_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    best = classes("multiclass_hinge", intercept=True, seed=2).solve(method="bcfw", tol=1e-9)
    monkeypatch.setattr("fwdsl.backends.svm.multiclass.LARGEST_SPREAD", 0)
    found = classes("multiclass_hinge", intercept=True, seed=2, layout="csr").solve(method="bcfw", tol=1e-9)
    assert found.status == "optimal"
    np.testing.assert_allclose(found.variables["W"], best.variables["W"], atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_cvxpy_agrees(loss: str) -> None:
    cp = pytest.importorskip("cvxpy")
    problem = classes(loss, seed=5)
    values = problem.instance.values
    X, y = values["X"], values["y"]
    k = int(y.max()) + 1
    W = cp.Variable((X.shape[1], k))
    Z, others = X @ W, 1.0 - np.eye(k)[y]
    e = others + Z - cp.sum(cp.multiply(np.eye(k)[y], Z), axis=1, keepdims=True) @ np.ones((1, k))
    losses = cp.sum(cp.max(e, axis=1)) if loss == "multiclass_hinge" else cp.sum(cp.multiply(others, cp.pos(e)))
    best = cp.Problem(cp.Minimize(0.3 * losses + 0.5 * cp.sum_squares(W))).solve(solver="CLARABEL")
    found = problem.solve(method="bcfw", tol=1e-9)
    assert found.objective == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_intercepts_may_have_a_factor(loss: str) -> None:
    """t b with the ridge 0.4 is an intercept with the ridge 0.4 / t^2."""
    given = classes(loss, intercept=True, seed=5).instance.values
    text = (
        "data X: matrix[n, d], y: labels[n, k]\nparam t: real, r: positive\nvar W: matrix[d, k], b: vector[k]\n"
        f"minimize 0.3 * sum({loss}(X @ W + t * b, y)) + 1/2 * sum_squares(W) + r * sum_squares(b) - 0.1 * t * b[0]\n"
    )
    made = fw.parse(text)
    own = made.bind(X=given["X"], y=given["y"], t=1.0, r=0.4).solve(method="bcfw", tol=1e-9)
    other = made.bind(X=given["X"], y=given["y"], t=-8.0, r=0.4 * 64).solve(method="bcfw", tol=1e-9)
    assert own.status == other.status == "optimal"
    assert other.objective == pytest.approx(own.objective, rel=1e-8)
    np.testing.assert_allclose(-8.0 * other["b"], own["b"], atol=1e-4)


def test_kernels_and_linear_terms() -> None:
    text = (
        "data X: matrix[n, d], y: labels[n, k]\nlet Phi = rbf(X, gamma=0.4)\nvar W: matrix[dim(Phi), k]\n"
        "minimize sum(multiclass_hinge(Phi @ W, y)) + 1/2 * sum_squares(W)\n"
    )
    given = classes("multiclass_hinge", seed=3).instance.values
    problem = fw.parse(text).bind(X=given["X"], y=given["y"])
    best = problem.solve(method="pdhg", tol=1e-7)
    assert problem.solve(method="bcfw", tol=1e-7).objective == pytest.approx(best.objective, rel=2e-7)
    assert problem.solve(method="matrix_fw", tol=1e-2).objective == pytest.approx(best.objective, rel=1e-2)
    tilted = classes("weston_watkins", extra=" + 0.2 * sum(W)", seed=3)
    best = tilted.solve(method="pdhg", tol=1e-7)
    assert tilted.solve(method="bcfw", tol=1e-7).objective == pytest.approx(best.objective, rel=2e-7)
    assert tilted.solve(method="matrix_fw", tol=1e-2).objective == pytest.approx(best.objective, rel=1e-2)
    squared = text.replace("labels[n, k]", "signs[n]").replace("matrix[dim(Phi), k]", "vector[dim(Phi)], b: real")
    squared = squared.replace("multiclass_hinge(Phi @ W, y)", "squared_hinge(Phi @ W + b, y)")
    smooth = fw.parse(squared).bind(X=given["X"], y=np.where(given["y"] > 1, 1.0, -1.0))
    found = smooth.solve(method="l2svm_dual", tol=1e-8)
    assert found.objective == pytest.approx(smooth.solve(method="apg", tol=1e-9).objective, rel=2e-8)


@pytest.mark.parametrize("options", [{"method": "l2svm_dual"}, *STEPS], ids=words)
def test_bounds_hold_at_every_step(options: dict[str, Any]) -> None:
    """Every report's bound is below the optimum and confirmed by the verifier, every P above it."""
    binary_machine = options["method"] == "l2svm_dual"
    problem = binary("none", seed=2) if binary_machine else classes("multiclass_hinge", seed=2)
    best = problem.solve(method="apg" if binary_machine else "pdhg", tol=1e-9 if binary_machine else 1e-8).objective
    run = started(problem, options["method"], **{k: v for k, v in options.items() if k != "method"})
    for _ in range(12):
        run.step()
        report = run.report()
        verified = verify(problem.canonical, *run.candidate())
        assert report.bound <= best * (1 + 1e-8) <= report.objective * (1 + 2e-8)
        assert verified.dual == pytest.approx(report.bound, abs=1e-9 * abs(best))
        assert best * (1 - 1e-8) <= verified.primal <= report.objective * (1 + 1e-9)


def test_the_planner_takes_exact_steps_for_several_classes() -> None:
    problem = classes("multiclass_hinge")
    assert problem.plan().method == "bcfw"
    assert problem.solve().method == "bcfw"
    assert problem.plan().chosen.estimate is not None
    text = "data X: matrix[n, d], y: labels[n, k]\nvar W: matrix[d, k], b: vector[k]\n"
    free = text + "minimize sum(multiclass_hinge(X @ W + b, y)) + 1/2 * sum_squares(W)\n"
    assert fw.parse(free).plan().method != "bcfw"
    assert (
        fw.parse(text + "minimize sum(multiclass_hinge(X @ W, y)) + sum_squares(W) + norm1(b)\n").plan().method
        != "bcfw"
    )


def test_the_planner_leaves_dear_samples_in_tall_data_to_the_general_method() -> None:
    # at C |x|^2 beyond a few hundred the exact steps need tens of thousands of sweeps, but on wide data they never do
    assert classes("multiclass_hinge", C=1e4).plan().method in ("pdhg", "interior")
    assert classes("weston_watkins", C=1e4, n=6, d=40).plan().method == "bcfw"


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("method", ["auto", "bcfw", "matrix_fw"])
def test_sparse_data_without_any_stored_number(method: str, intercept: bool) -> None:
    problem = classes("multiclass_hinge", intercept=intercept).bind(X=sp.csr_array((30, 5)))
    found = problem.solve(method=method, tol=1e-4)
    assert found.status == "optimal" and not found["W"].any()
    assert found.objective == pytest.approx(problem.solve(method="pdhg").objective, rel=2e-4)


@pytest.mark.parametrize("method", ["bcfw", "matrix_fw"])
def test_a_start_from_a_solution_is_kept(method: str) -> None:
    problem = classes("weston_watkins", seed=4)
    first = problem.solve(method="bcfw", tol=1e-8)
    again = problem.solve(method=method, tol=1e-6, start=first)
    assert again.status == "optimal"
    assert again.iterations == 0
    smooth = binary("free", seed=4)
    first = smooth.solve(method="l2svm_dual", tol=1e-9)
    assert smooth.solve(method="l2svm_dual", tol=1e-7, start=first).iterations == 0


@pytest.mark.parametrize("options", [{"method": "l2svm_dual"}, *STEPS], ids=words)
def test_seeds_threads_and_resuming_give_the_same_numbers(options: dict[str, Any], tmp_path: Path) -> None:
    problem = binary("free", seed=6) if options["method"] == "l2svm_dual" else classes("weston_watkins", seed=6)
    given = {k: v for k, v in options.items() if k != "method"}

    def found(threads: int, parts: tuple[int, ...]) -> Any:
        run = started(problem, options["method"], threads=threads, seed=11, **given)
        for k, steps in enumerate(parts):
            run = resumed(run, tmp_path, given, threads) if k else run
            for _ in range(steps):
                run.step()
        return run.candidate(), asdict(run.report())

    (x, ys), report = found(1, (9,))
    for threads, parts in ((2, (9,)), (1, (4, 5))):
        (x2, ys2), report2 = found(threads, parts)
        assert report == report2
        np.testing.assert_array_equal(x, x2)
        np.testing.assert_array_equal(ys[0], ys2[0])


def test_another_seed_takes_another_way() -> None:
    one, two = (classes("multiclass_hinge", solve=f"solve seed = {s}, max_iter = 2, method = bcfw") for s in (1, 2))
    assert one.solve().objective != two.solve().objective


REFUSALS = [
    ("l2svm_dual", "var w: vector[d]", "sum(hinge(X @ w, s)) + sum_squares(w)", "it takes one `squared_hinge` loss"),
    ("l2svm_dual", "var w: vector[d]", "sum(squared_hinge(X @ w, s))", "it needs a `sum_squares(w)`"),
    ("l2svm_dual", "var w: vector[d]", "sum(squared_hinge(X @ w, s)) + sum_squares(w) + norm1(w)", "w has a norm1"),
    ("l2svm_dual", "var w: vector[d], b: real", "sum(squared_hinge(X @ w + b, s)) + b + sum_squares(w)", "b has a linear term"),
    ("l2svm_dual", "var w: vector[d]", "sum(squared_hinge(X @ w, s)) + 0 * sum_squares(w)", "the weight of `sum_squares(w)` is 0"),
    ("bcfw", "var W: matrix[d, k]", "sum(softmax(X @ W, y)) + sum_squares(W)", "it takes one `multiclass_hinge` or"),
    ("bcfw", "var W: matrix[d, k]", "sum(multiclass_hinge(X @ W, y)) + norm_fro(W)", "W has a norm_fro"),
    ("bcfw", "var W: matrix[d, k]", "sum(multiclass_hinge(X @ W[::-1], y)) + sum_squares(W)", "not the rows of one data matrix"),
    ("matrix_fw", "var W: matrix[d, k], b: vector[k]", "sum(weston_watkins(X @ W + b, y)) + sum_squares(W)", "`sum_squares(b)`"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "declared", "objective", "why"), REFUSALS, ids=lambda v: str(v)[:30])
def test_problems_that_are_not_covered_are_refused(method: str, declared: str, objective: str, why: str) -> None:
    data, given = "X: matrix[n, d]", {"X": classes("multiclass_hinge").instance.values["X"]}
    if ", s)" in objective:
        data, given["s"] = data + ", s: signs[n]", np.where(np.arange(30) % 2, 1.0, -1.0)
    else:
        data, given["y"] = data + ", y: labels[n, k]", np.arange(30) % 4
    problem = fw.parse(f"data {data}\n{declared}\nminimize {objective}\nsolve method = {method}\n").bind(**given)
    with pytest.raises(fw.PlanError) as error:
        problem.solve()
    assert "FW5003" in str(error.value)
    assert why in str(error.value)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"method": "bcfw", "variant": "away"}, 'needs `step="optimal"`'),
        ({"method": "bcfw", "variant": "pairwise", "step": "oblivious"}, 'needs `step="optimal"`'),
        ({"method": "bcfw", "order": "uniform"}, "needs `step="),
        ({"method": "bcfw", "step": "best"}, '`"exact"` or `"optimal"` or `"oblivious"`'),
        ({"method": "matrix_fw", "variant": "lazy"}, '`"plain"`'),
    ],
    ids=lambda v: words(v) if isinstance(v, dict) else "",
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], why: str) -> None:
    with pytest.raises(fw.PlanError) as error:
        classes("multiclass_hinge").solve(**options)
    assert "FW5004" in str(error.value)
    assert why in str(error.value)


def test_two_classes_on_unit_rows_and_a_row_of_zeros() -> None:
    """Every number is at an end of something: Newton's steps for a row must not cycle."""
    text = "data X: matrix[n, d], y: labels[n, k]\nvar W: matrix[d, k]\n"
    for loss in LOSSES:
        problem = fw.parse(text + f"minimize sum({loss}(X @ W, y)) + 1/2 * sum_squares(W)\n")
        bound = problem.bind(X=np.vstack([np.eye(4), np.zeros((1, 4))]), y=np.array([0, 1, 1, 0, 0]))
        best = bound.solve(method="pdhg", tol=1e-8).objective
        assert bound.solve(method="bcfw", tol=1e-8).objective == pytest.approx(best, rel=3e-8)


@pytest.mark.parametrize("features", ["linear(X)", "polynomial(X, degree=2, coef0=0)"])
def test_a_kernel_that_is_zero_leaves_the_intercept(features: str) -> None:
    text = f"data X: matrix[n, d], y: signs[n]\nlet Phi = {features}\nvar w: vector[dim(Phi)], b: real\n"
    problem = fw.parse(text + "minimize sum(squared_hinge(Phi @ w + b, y)) + 1/2 * sum_squares(w)\n")
    y = np.array([1.0, 1.0, 1.0, -1.0])
    s = problem.bind(X=np.zeros((4, 3)), y=y).solve(method="l2svm_dual")
    # three at 1 - b, one at 1 + b
    assert s.status == "optimal" and s["b"] == pytest.approx(0.5, abs=1e-5) and s.objective == pytest.approx(3.0)
