"""Problems on factors from program to solution: as the dense path finds them, with certificates that NumPy confirms."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.low_rank import LowRank
from fwdsl.bind.values import Entries
from fwdsl.canon import Factored
from fwdsl.cli import main

ENTRIES = "data M: entries[n, p]\nparam r: positive = 20\n"
PRODUCT = "data A: matrix[n, d], B: matrix[n, c]\nparam r: positive = 20\n"


def ratings(n: int = 24, p: int = 17, count: int = 200, seed: int = 0) -> Entries:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, p))
    at = np.sort(rng.integers(0, n * p, count))  # some places twice
    rng.shuffle(at)
    return Entries(at // p, at % p, X[at // p, at % p] + 0.1 * rng.standard_normal(count), (n, p))


def regression(n: int = 40, d: int = 20, c: int = 15, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d))
    X = rng.standard_normal((d, 2)) @ rng.standard_normal((2, c))
    return {"A": A, "B": A @ X + rng.standard_normal((n, c))}


def large() -> fw.Problem:
    """More numbers than the dense form is built for."""
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 3000, 6000), rng.integers(0, 2500, 6000)
    values = rng.standard_normal(3000)[rows] * rng.standard_normal(2500)[columns]
    text = ENTRIES + "var X: matrix[n, p] in nuclear_ball(r)\nlet fit = 1/2 * sum(squared(X[M], M))\nminimize fit\n"
    return fw.parse(text).bind(M=Entries(rows, columns, values, (3000, 2500)), r=100.0)


BODIES = {
    "ball": "var X: matrix[n, p] in nuclear_ball(r)\nminimize sum(squared(X[M], M))\n",
    "inactive ball and penalty": "var X: matrix[n, p] in nuclear_ball(1e4)\nminimize sum(squared(X[M], M)) + 2 * norm_nuc(X)\n",
    "penalty": "var X: matrix[n, p]\nminimize 3 * mean(huber(X[M] - 0.5, M)) + 0.05 * norm_nuc(2 * X) + 7\n",
    "ball and penalty": "var X: matrix[n, p]\nminimize mean(squared(X[M], M)) + 0.1 * norm_nuc(X)\nsubject to 2 * norm_nuc(X) <= r\n",
    "maximised": "var X: matrix[n, p] in nuclear_ball(r)\nmaximize -sum(squared(X[M], M)) / 2\n",
}
PRODUCTS = {
    "ball": "var X: matrix[d, c] in nuclear_ball(r)\nminimize sum(squared(A @ X, B))\n",
    "norm of a difference": "var X: matrix[d, c] in nuclear_ball(r)\nminimize 1/2 * sum_squares(A @ X - B)\n",
    "penalty": "var X: matrix[d, c]\nminimize mean(squared(A @ X + 1, B)) + 0.5 * norm_nuc(X)\n",
    "both": "var X: matrix[d, c] in nuclear_ball(r)\nminimize mean(squared(A @ X, B)) + 0.5 * norm_nuc(X)\n",
    "ball that does not bind": "var X: matrix[d, c] in nuclear_ball(1e5)\nminimize mean(squared(A @ X, B))\n",
}


def agree(problem: fw.Problem) -> tuple[fw.Solution, fw.Solution]:
    ours, dense = (problem.solve(method=m, tol=1e-7, threads=1) for m in ("lowrank", "apg"))
    assert ours.status == "optimal" and dense.status == "optimal", (ours.reason, dense.reason)
    assert ours.objective == pytest.approx(dense.objective, rel=2e-7)
    assert isinstance(ours["X"], LowRank)
    return ours, dense


@pytest.mark.parametrize("name", BODIES)
def test_entries_as_by_the_dense_path(name: str) -> None:
    ours, dense = agree(fw.parse(ENTRIES + BODIES[name]).bind(M=ratings()))
    assert ours["X"].rank <= 17 and np.abs(np.asarray(ours["X"]) - dense["X"]).max() < 0.05
    assert ours.certificate.kind == "rigorous"


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_as_by_the_dense_path(name: str) -> None:
    agree(fw.parse(PRODUCT + PRODUCTS[name]).bind(**regression()))


def test_two_valued_entries_by_a_logistic_loss_against_cvxpy() -> None:
    cp = pytest.importorskip("cvxpy")
    found = ratings(9, 7, 40)
    signs = np.where(found.values > 0, 1.0, -1.0)
    text = "data M: entries[n, p] of signs\nvar X: matrix[n, p]\nminimize sum(logistic(X[M], M)) + 0.4 * norm_nuc(X)\n"
    solution = fw.parse(text).bind(M=(found.rows, found.columns, signs), n=9, p=7).solve(tol=1e-8, method="lowrank")
    X = cp.Variable((9, 7))
    z = cp.hstack([X[int(i), int(j)] for i, j in zip(found.rows, found.columns, strict=True)])
    reference = cp.Problem(cp.Minimize(cp.sum(cp.logistic(-cp.multiply(signs, z))) + 0.4 * cp.normNuc(X)))
    reference.solve(solver=cp.CLARABEL)
    assert solution.objective == pytest.approx(reference.value, rel=1e-6)


@pytest.mark.parametrize(
    "loss", ["squared(B[M], M)", "huber(B[M], M, delta=0.001)", "squared_epsilon_insensitive(B[M], M, eps=0.1)"]
)
@pytest.mark.parametrize("weight", ["1e-10 * norm_nuc(B)", "0.1 * norm_nuc(B)"])
@pytest.mark.parametrize("count", [1, 9, 18])
def test_tiny_matrices_are_solved_whole(loss: str, weight: str, count: int) -> None:
    """Under a tiny weight the solution has full rank, and the gradient at factors that nearly fit is no dual point."""
    rng = np.random.default_rng(1)
    at = rng.permutation(18)[:count]
    text = f"data M: entries[6, 3]\nvar B: matrix[6, 3]\nminimize mean({loss}) + {weight}\n"
    problem = fw.parse(text).bind(M=(at // 3, at % 3, rng.normal(size=count)))
    assert "the matrix is small" in problem.plan().why
    s = problem.solve(threads=1)
    assert s.status == "optimal", (s.reason, s.objective, s.dual_bound)


def test_a_large_problem_is_solved_without_its_matrix() -> None:
    problem = large()
    assert isinstance(problem.canonical, Factored)
    solution = problem.solve(tol=1e-4)
    assert solution.status == "optimal" and solution.certificate.kind == "probabilistic"
    assert "probability" in solution.certificate.statement
    X, M = solution["X"], problem.instance.values["M"]
    residual = X.at(M.rows, M.columns) - M.values
    assert solution.terms["fit"] == pytest.approx(0.5 * residual @ residual, rel=1e-12)
    assert X.singular_values.sum() <= 100.0 * (1 + 1e-12)
    # the Frank-Wolfe gap by SciPy is at least the distance from the optimum
    import scipy.sparse as sp
    from scipy.sparse.linalg import svds

    G = sp.csr_array(sp.coo_array((residual, (M.rows, M.columns)), shape=X.shape))
    top = float(svds(G, 1, return_singular_vectors=False)[0])
    z = X.at(M.rows, M.columns)
    assert solution.gap >= (residual @ z + 100.0 * top) * (1 - 1e-9)
    assert solution.dual["c1"] == pytest.approx(-top, rel=1e-3)


def test_the_multiplier_is_the_derivative_in_the_bound_as_written() -> None:
    text = ENTRIES + "var X: matrix[n, p]\nminimize sum(squared(X[M], M))\nsubject to bound: 2 * norm_nuc(X) <= r\n"
    problem = fw.parse(text).bind(M=ratings())
    ends = [problem.bind(M=ratings(), r=r).solve(tol=1e-10).objective for r in (19.99, 20.01)]
    assert problem.solve(tol=1e-9).dual["bound"] == pytest.approx((ends[1] - ends[0]) / 0.02, rel=1e-4)


def test_every_method_says_why_it_does_not_apply() -> None:
    plan = large().plan()
    by_name = {c.name: c for c in plan.candidates}
    assert plan.method == "lowrank" and "some entries" in plan.why
    assert "7,500,000 numbers" in " ".join(by_name["apg"].reasons)
    assert by_name["lowrank"].estimate is not None and by_name["lowrank"].estimate.memory < 8 * 7_500_000
    with pytest.raises(fw.PlanError) as caught:
        large().solve(method="apg")
    assert caught.value.code == "FW5003"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("var X: matrix[n, p]\nminimize sum(squared(X[M], M)) + norm1(X)\n", "is not a trace norm"),
        ("var X: matrix[n, p]\nminimize sum(squared(X[M], M))\n", "no `norm_nuc` and no `nuclear_ball` bounds X"),
        ("var X: matrix[n, p] in nuclear_ball(1)\nminimize sum(absolute(X[M], M))\n", "not a smooth loss"),
        ("var X: matrix[n, p] in nuclear_ball(1)\nminimize sum(squared(X[M][0:3] , 1))\n", "neither entries of X nor"),
        (
            "var X: matrix[n, p] in nuclear_ball(1), c: nonnegative\nminimize sum(squared(X[M] + c, M))\n",
            "no free intercept",
        ),
        ("var X: matrix[n, p] in nuclear_ball(1), c: real\nminimize sum(squared(X[M], M)) + c\n", "c is not added to"),
        (
            "var X: matrix[n, p] in nuclear_ball(1), Y: matrix[n, p]\nminimize sum(squared(X[M] + Y[M], M))\n",
            "several matrix variables",
        ),
    ],
)
def test_lowrank_says_why_it_does_not_apply(body: str, reason: str) -> None:
    (candidate,) = [c for c in fw.parse(ENTRIES + body).plan().candidates if c.name == "lowrank"]
    assert reason in " ".join(candidate.reasons)


def test_values_may_bar_it_too() -> None:
    text = ENTRIES + "param m: nonnegative = 0\nvar X: matrix[n, p]\nminimize sum(squared(X[M], M)) + m * norm_nuc(X)\n"
    (candidate,) = [c for c in fw.parse(text).bind(M=ratings()).plan().candidates if c.name == "lowrank"]
    assert "nothing is bounded" in " ".join(candidate.reasons)


def test_what_each_method_on_factors_covers_of_products() -> None:
    text = PRODUCT + "var X: matrix[d, c] in nuclear_ball(r)\nminimize sum(huber(A @ X, B))\n"
    reasons = {c.name: " ".join(c.reasons) for c in fw.parse(text).plan().candidates}
    assert "only `squared` has factored steps" in reasons["lowrank"]
    assert not reasons["factored_fw"] and not reasons["block_fw"]


def test_limits_are_a_status_and_keep_the_best_point() -> None:
    few = large().solve(tol=1e-12, max_iter=3)
    assert few.status == "tolerance_not_reached" and few.iterations == 3 and "3 iterations" in few.reason
    assert math.isfinite(few.gap) and few["X"].shape == (3000, 2500)
    stopped = large().solve(callback=lambda _: False)
    assert stopped.status == "interrupted" and math.isfinite(stopped.dual_bound)


def test_a_warm_start_is_used_and_a_wrong_one_refused() -> None:
    problem = large()
    first = problem.solve(tol=1e-3)
    again = problem.solve(tol=1e-3, start=first)
    assert again.iterations < first.iterations and "solution by lowrank" in again.start
    small = fw.parse(ENTRIES + BODIES["ball"]).bind(M=ratings())
    given = small.solve(start={"X": np.asarray(small.solve(method="apg")["X"])})
    assert given.status == "optimal"
    with pytest.raises(fw.DataError) as caught:
        problem.solve(start={"X": np.zeros((2, 2))})
    assert caught.value.code == "FW0203"
    with pytest.raises(fw.DataError):
        problem.solve(start={"Y": np.zeros((2, 2))})


def test_threads_and_runs_agree_to_the_bit() -> None:
    one, two = (large().solve(tol=1e-4, threads=k) for k in (1, 2))
    assert np.array_equal(one["X"].U, two["X"].U) and one.dual_bound == two.dual_bound


@pytest.mark.parametrize("which", ["entries", "product"])
def test_a_saved_state_goes_on_as_if_nothing_had_happened(which: str, tmp_path: Path) -> None:
    from fwdsl.model.options import Options
    from fwdsl.plan import make_plan
    from fwdsl.solve import solve
    from fwdsl.solve.state import load_state, save_state

    if which == "entries":
        problem = fw.parse(ENTRIES + BODIES["ball"]).bind(M=ratings())
    else:
        problem = fw.parse(PRODUCT + PRODUCTS["ball"]).bind(**regression())
    options = Options(tol=1e-9, method="lowrank", threads=1, max_iter=7)
    plan, _ = make_plan(problem.canonical, options)
    assert plan is not None
    save_state(tmp_path / "state.npz", problem.canonical, solve(problem.canonical, plan, options).state)
    rest = Options(tol=1e-9, method="lowrank", threads=1, max_iter=20)
    state = load_state(tmp_path / "state.npz", problem.canonical)
    resumed = solve(problem.canonical, plan, rest, resume=state)
    straight = solve(problem.canonical, plan, rest)
    assert np.array_equal(resumed["X"].U, straight["X"].U) and resumed.iterations == straight.iterations
    assert resumed.dual_bound == straight.dual_bound


def test_out_keeps_the_factors_and_eval_takes_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    M = large().instance.values["M"]
    lines = [f"u{i},{j},{v}" for i, j, v in zip(M.rows, M.columns, M.values, strict=True)]
    Path("ratings.csv").write_text("\n".join(lines) + "\n")
    Path("few.csv").write_text("\n".join(lines[:10]) + "\n")
    text = 'data M: entries[n, p] from coo("ratings.csv")\nvar X: matrix[n, p] in nuclear_ball(90)\nlet fit = mean(squared(X[M], M))\nminimize fit\n'
    Path("c.fw").write_text(text)
    assert main(["run", "c.fw", "--tol", "1e-2", "--out", "s.npz"]) == 0
    assert "of rank" in capsys.readouterr().out
    with np.load("s.npz") as saved:
        U, V = saved["X:U"], saved["X:V"]
    assert main(["eval", "c.fw", "--solution", "s.npz", "--data", "M=coo:few.csv", "fit"]) == 0
    told = float(capsys.readouterr().out.split()[-1])
    users = sorted({f"u{i}" for i in M.rows})
    films = sorted(set(M.columns.tolist()))
    rows = [users.index(f"u{i}") for i in M.rows[:10]]
    columns = [films.index(j) for j in M.columns[:10]]
    z = np.einsum("ik,ik->i", U[rows], V[columns])
    assert told == pytest.approx(np.mean((z - M.values[:10]) ** 2), rel=1e-8)


def test_a_large_answer_is_rechecked_without_cvxpy_and_a_false_claim_is_found() -> None:
    from dataclasses import replace

    from fwdsl.oracle import check_certificate

    problem = large()
    solution = problem.solve(tol=1e-3)
    found = check_certificate(problem.instance, solution)
    assert found.agrees, found.text
    assert found.objective == pytest.approx(solution.objective, rel=1e-9)
    certificate = replace(solution.certificate, dual_bound=solution.objective)
    assert not check_certificate(problem.instance, replace(solution, certificate=certificate)).agrees


def test_cvxpy_is_not_asked_for_what_it_cannot_hold() -> None:
    pytest.importorskip("cvxpy")
    from fwdsl.oracle import solve_oracle

    assert solve_oracle(large().instance).status == "too large"


@pytest.mark.parametrize("radius", [1e6, 1e12])
def test_a_perfect_fit_in_a_loose_ball_is_certified_by_the_infimum_of_the_loss(radius: float) -> None:
    """The gradient is rounding there, which a large radius blows up: y = 0 bounds better."""
    pytest.importorskip("cvxpy")
    from fwdsl.oracle import check_certificate

    rng = np.random.default_rng(0)
    X = rng.standard_normal((24, 2)) @ rng.standard_normal((2, 17))
    at = rng.permutation(24 * 17)[:120]
    data = Entries(at // 17, at % 17, X[at // 17, at % 17], (24, 17))
    text = ENTRIES + "var X: matrix[n, p] in nuclear_ball(r)\nminimize mean(squared(X[M], M))\n"
    solution = fw.parse(text).bind(M=data, r=radius).solve(threads=1, method="lowrank", max_iter=2000)
    assert solution.status == "optimal", solution.reason
    assert solution.certificate.statement == "the infimum of the loss alone"
    again = check_certificate(solution.instance, solution)
    assert again.agrees, again.text
