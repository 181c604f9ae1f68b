"""From text and Python, resumed, on threads; what it refuses, and why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends import costs
from fwdsl.check import compile_text
from fwdsl.errors import PlanError
from fwdsl.model.options import Options
from fwdsl.plan import make_plan
from fwdsl.solve import solve
from fwdsl.solve.state import Checkpoint, load_state, save_state
from tests.pdbfw.problems import matrix_problem, vector_data, vector_problem, vector_text
from tests.problems import laid_out


def run(problem: Any, more: dict[str, Any], iterations: int, threads: int = 1, resume: Any = None) -> fw.Solution:
    options = Options(method="pdbfw", method_options=more, max_iter=iterations, tol=1e-15, threads=threads)
    plan, found = make_plan(problem.canonical, options)
    assert plan is not None, found
    return solve(problem.canonical, plan, options, resume=resume)


def same(one: Checkpoint | None, other: Checkpoint | None) -> None:
    assert one is not None and other is not None and type(one.state) is type(other.state)
    for name, value in vars(one.state).items():
        assert np.array_equal(value, getattr(other.state, name)), name
    # passes are added up, and a resumed run adds in another order
    assert other.journal.passes == pytest.approx(one.journal.passes, rel=1e-12)
    assert replace(other.journal, passes=one.journal.passes) == one.journal


MODES: tuple[dict[str, Any], ...] = ({}, {"accelerate": True}, {"accelerate": False}, {"s": 2, "k": 5, "delta": 1.0})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["smooth_hinge", "logistic", "matrix"])
def test_a_resumed_run_is_the_unbroken_one(kind: str, mode: dict[str, Any], tmp_path: Path) -> None:
    problem = matrix_problem() if kind == "matrix" else vector_problem(kind, "l1_ball", "csr")
    whole = run(problem, mode, 11)
    save_state(tmp_path / "s.npz", problem.canonical, run(problem, mode, 4).state)
    resumed = run(problem, mode, 11, resume=load_state(tmp_path / "s.npz", problem.canonical))
    assert resumed.iterations == whole.iterations == 11
    same(whole.state, resumed.state)


@pytest.mark.parametrize("layout", ["dense", "fortran", "csr"])
@pytest.mark.parametrize("mode", MODES)
def test_threads_change_nothing(layout: str, mode: dict[str, Any]) -> None:
    problem = vector_problem("logistic", "l1_ball", layout)
    same(run(problem, mode, 10, 1).state, run(problem, mode, 10, 2).state)


def test_from_text_with_options() -> None:
    text = (
        vector_text("smooth_hinge", "l1_ball")
        + "solve method = pdbfw(s=3, k=20, delta=2, eta=0.5, grow=true), tol = 1e-5\n"
    )
    data = vector_data("smooth_hinge")
    del data["groups"]
    s = fw.parse(text).bind(**data).solve()
    assert s.status == "optimal" and s.method == "pdbfw"
    assert "block Frank-Wolfe" in s.history[-1].phase
    automatic = vector_text("smooth_hinge", "l1_ball") + "solve method = pdbfw(s=auto, delta=auto)\n"
    assert fw.parse(automatic).bind(**data).solve().status == "optimal"


def test_from_python() -> None:
    data = vector_data("squared")
    x = fw.vector(data["A"].shape[1])
    problem = fw.minimize(fw.mean(fw.squared(data["A"] @ x, data["y"])) + 0.15 * fw.sum_squares(x), fw.norm1(x) <= 1.5)
    s = problem.solve(method="pdbfw", accelerate=True)
    assert s.status == "optimal"
    warm = problem.solve(method="pdbfw", start=s)
    assert warm.status == "optimal" and warm.objective == pytest.approx(s.objective, rel=1e-5)


def test_the_planner_takes_it_for_wide_well_conditioned_problems_on_vectors() -> None:
    rng = np.random.default_rng(0)
    text = "data A: matrix[n, p], y: vector[n]\nparam c: positive\nvar x: vector[p] in l1_ball(5)\n"
    text += "minimize mean(squared(A @ x, y)) + c * sum_squares(x)\n"
    model = fw.parse(text)
    seconds = {}
    for p, c in ((30_000, 0.1), (3000, 0.1), (3000, 1e-6)):
        A = rng.standard_normal((60, p)) / np.sqrt(p)
        plan, _ = make_plan(model.bind(A=A, y=rng.standard_normal(60), c=c).canonical, Options())
        assert plan is not None and (plan.method == "pdbfw" or p < 30_000)
        estimates = {k.name: k.estimate for k in plan.candidates if k.estimate is not None}
        seconds[c] = estimates["pdbfw"].seconds
    assert seconds[1e-6] > 3.0 * seconds[0.1]
    plan, _ = make_plan(matrix_problem("squared", 0.3, 1.0).canonical, Options())
    assert plan is not None and plan.method != "pdbfw"
    ours = next(c for c in plan.candidates if c.name == "pdbfw")
    assert ours.applies and ours.estimate is None


@pytest.mark.parametrize("layout", ["dense", "csr"])
@pytest.mark.parametrize("signed", [False, True])
def test_the_curvature_is_guessed_from_below_and_closely(layout: str, signed: bool) -> None:
    rng = np.random.default_rng(1)
    A = rng.standard_normal((300, 80)) if signed else (rng.random((300, 80)) < 0.1 * rng.random(80)).astype(float)
    text = "data A: matrix[n, p], y: vector[n], w: vector[n] in nonnegative\nvar x: vector[p]\n"
    text += "minimize 0.5 * sum(w * squared(A @ x, y)) + 0.1 * sum_squares(x)\n"
    w = rng.random(300)
    problem = fw.parse(text).bind(A=laid_out(A, layout), y=rng.standard_normal(300), w=w)
    (term,) = problem.canonical.terms
    exact = float(term.f.loss.smoothness * np.linalg.norm(np.sqrt(term.f.w)[:, None] * A, 2) ** 2)
    assert exact / 5.0 < problem.canonical.stretch <= exact * (1 + 1e-12)
    assert costs.condition(problem.canonical) == pytest.approx(max(1.0, problem.canonical.stretch / 0.2))


def test_the_curvature_of_softmax_is_that_of_one_class() -> None:
    """Without it the condition is taken to be 1, and a Newton step to need four products."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 6)) * np.array([5.0, 1.0, 1.0, 0.3, 2.0, 1.0])
    text = "data X: matrix[n, p], y: labels[n, k]\nvar W: matrix[p, k]\nminimize mean(softmax(X @ W, y)) + 0.1 * sum_squares(W)\n"
    form = fw.parse(text).bind(X=X, y=np.arange(40) % 4).canonical
    exact = 0.5 * float(np.linalg.eigvalsh(X.T @ X / 40.0)[-1])
    assert form.stretch is not None
    assert exact / 5.0 < form.stretch <= exact * (1 + 1e-12)
    assert costs.condition(form) == pytest.approx(max(1.0, form.stretch / 0.2))


HEAD = "data A: matrix[n, p], y: vector[n]\nvar x: vector[p]\n"
RIDGE = " + 0.1 * sum_squares(x)"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("minimize mean(squared(A @ x, y))\nsubject to norm1(x) <= 2\n", "it needs a `sum_squares(x)`"),
        (f"minimize mean(squared(A @ x, y)){RIDGE}\nsubject to norm2(x) <= 2\n", "x is in l2_ball"),
        (f"minimize mean(squared(A @ x, y)){RIDGE}\n", "x is in no set"),
        (f"minimize mean(absolute(A @ x, y)){RIDGE}\nsubject to norm1(x) <= 2\n", "it takes the losses"),
        (f"minimize mean(squared(A @ x, y)) + norm1(x){RIDGE}\nsubject to norm1(x) <= 2\n", "x has norm1"),
        (f"minimize mean(squared(A @ x, y)) + mean(huber(A @ x, y)){RIDGE}\nsubject to norm1(x) <= 2\n", "2 losses"),
    ],
)
def test_refusals_say_what_is_missing(body: str, reason: str) -> None:
    model, found = compile_text(HEAD + body)
    assert model is not None, found
    plan, found = make_plan(model, Options(method="pdbfw"))
    assert plan is None and found[0].code == "FW5003"
    assert reason in found[0].message


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "minimize sum_squares(A @ X - B) + norm_nuc(X) + sum_squares(X)\nsubject to norm_nuc(X) <= 1\n",
            "norm_nuc beside",
        ),
        ("minimize sum_squares(A @ X - B)\nsubject to norm_nuc(X) <= 1\n", "it needs a `sum_squares(X)`"),
    ],
)
def test_refusals_of_matrices(body: str, reason: str) -> None:
    model, found = compile_text("data A: matrix[n, d], B: matrix[n, c]\nvar X: matrix[d, c]\n" + body)
    assert model is not None, found
    plan, found = make_plan(model, Options(method="pdbfw"))
    assert plan is None and found[0].code == "FW5003"
    assert reason in found[0].message


def refused(problem: Any, **options: Any) -> str:
    with pytest.raises(PlanError) as caught:
        problem.solve(method="pdbfw", **options)
    assert caught.value.code == "FW5004"
    return str(caught.value)


def test_options_outside_their_domains() -> None:
    problem = vector_problem("squared", "l1_ball")
    assert "above 0" in refused(problem, delta=0.0)
    assert "at most 1" in refused(problem, eta=1.5)
    assert "at least 1" in refused(problem, s=0)
    assert "a whole number" in refused(problem, k=2.5)
    assert "s is 10, and x has 9 parts" in refused(problem, s=10)
    assert "k is 25, and there are 24 rows" in refused(problem, k=25)
    assert "no part of the paper's form" in refused(problem, accelerate=True, delta=1.0)
    assert "s is 7, and X has 6 parts" in refused(matrix_problem(), s=7)
    assert "k is 15, and there are 14 rows" in refused(matrix_problem(), k=15)


def test_groups_of_different_weights_have_no_exact_block_step() -> None:
    text = vector_text("squared", "group_ball").replace(
        "groups: index[p] of m", "groups: index[p] of m, v: vector[m] in nonnegative"
    )
    text = text.replace("group_norm(x, groups)", "group_norm(x, groups, weights=v)")
    problem = fw.parse(text).bind(**vector_data("squared"), v=np.array([1.0, 2.0, 0.5]))
    assert "groups of one weight" in refused(problem, s=2)
    s = problem.solve(method="pdbfw", tol=1e-8)
    assert s.status == "optimal"
    assert s.objective == pytest.approx(problem.solve(method="apg", tol=1e-9).objective, rel=1e-7)


def test_a_ridge_of_zero_is_seen_when_it_is_bound() -> None:
    text = vector_text("squared", "l1_ball").replace("0.15 *", "c *").replace("var x", "param c: nonnegative\nvar x")
    data = vector_data("squared")
    del data["groups"]
    with pytest.raises(PlanError) as caught:
        fw.parse(text).bind(**data, c=0.0).solve(method="pdbfw")
    assert caught.value.code == "FW5003" and "coefficient 0" in str(caught.value)


@pytest.mark.parametrize("loss", ["smooth_hinge", "logistic"])
@pytest.mark.parametrize("mode", MODES)
def test_data_without_numbers(mode: dict[str, Any], loss: str) -> None:
    data = vector_data(loss)
    zero = fw.parse(vector_text(loss, "l1_ball")).bind(A=np.zeros_like(data["A"]), y=data["y"])
    s = zero.solve(method="pdbfw", **mode)
    assert s.status == "optimal" and not s["x"].any()


@pytest.mark.parametrize(
    ("set_", "scale"), [("l1_ball", 1e10), ("simplex", 1e6), ("solid_simplex", 1e8), ("group_ball", 1e12)]
)
def test_large_data_end_with_a_status(set_: str, scale: float) -> None:
    data = vector_data("logistic")
    if set_ != "group_ball":
        del data["groups"]
    large = fw.parse(vector_text("logistic", set_)).bind(**{**data, "A": scale * data["A"]})
    s = large.solve(method="pdbfw", max_iter=400, threads=1)
    assert np.isfinite(s.objective) and s.dual_bound <= s.objective


def test_one_loss_of_all_rows_has_no_guess() -> None:
    rng = np.random.default_rng(3)
    text = "data X: matrix[n, p]\nvar W: matrix[p, 3]\nminimize log_sum_exp(X @ W) + 0.1 * sum_squares(W)\n"
    problem = fw.parse(text).bind(X=rng.standard_normal((30, 5)))
    assert problem.canonical.stretch is None
    assert problem.solve().status == "optimal"
