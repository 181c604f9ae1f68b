"""The family at the optimum against cvxpy, certificates along the way, products of sets, refusals, resuming, threads and seeds."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import aslinearoperator

import fwdsl as fw
from fwdsl.backends.frank_wolfe.set_factors import set_factors
from fwdsl.backends.problem import PreparedProblem
from fwdsl.cli import main
from fwdsl.oracle import solve_oracle
from tests.frank_wolfe.problems import (
    CORRECTIVE,
    FAMILY,
    POLYTOPES,
    ROUND,
    SMOOTH,
    P,
    bound,
    family_bound,
    matrix_bound,
    near_bound,
    two_bound,
)
from tests.runs import resumed, started


@cache
def optimum(loss: str, set_: str, layout: str = "dense") -> float:
    pytest.importorskip("cvxpy")
    return float(solve_oracle(bound(loss, set_, layout=layout).instance).value)


def certified_all_along(problem: Any, name: str, best: float, steps: int, **options: Any) -> Any:
    """The state after some steps, each of whose bounds holds."""
    run = started(problem, name, **options)
    s, kernels = run.state, run.problem
    slack = 1e-7 * max(1.0, abs(best))
    for _ in range(steps):
        report = run.report()
        assert report.bound <= best + slack and report.objective >= best - slack
        x = s.x
        assert all(b.g.violation(x[b.slice]) <= 1e-13 for b in kernels.canonical.blocks)
        run.step()
    assert s.value == pytest.approx(kernels.objective(s.x, kernels.forward(s.x)), rel=1e-12)
    return s


@pytest.mark.parametrize("name", CORRECTIVE)
@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("set_", POLYTOPES)
def test_corrective_methods_meet_cvxpy(name: str, loss: str, set_: str) -> None:
    best = optimum(loss, set_)
    problem = bound(loss, set_)
    found = problem.solve(method=name, tol=1e-7, threads=1)
    assert found.status == "optimal", found.reason
    assert found.objective == pytest.approx(best, rel=2e-7, abs=1e-8)
    assert found.dual_bound <= best + 1e-7 * max(1.0, abs(best))
    certified_all_along(problem, name, best, 12)


@pytest.mark.parametrize("name", CORRECTIVE)
@pytest.mark.parametrize("options", [{"step": s} for s in ("line_search", "adaptive", "short")] + [{"lazy": True}])
def test_every_option_meets_the_optimum(name: str, options: dict[str, Any]) -> None:
    best = optimum("logistic", "linf_ball(0.3)")
    found = bound("logistic", "linf_ball(0.3)").solve(method=name, tol=1e-7, threads=1, **options)
    assert found.status == "optimal" and found.objective == pytest.approx(best, rel=2e-7)


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("set_", [*POLYTOPES, *ROUND])
def test_vanilla_and_blocks_meet_cvxpy(loss: str, set_: str) -> None:
    best = optimum(loss, set_)
    for name, options in (("frank_wolfe", {}), ("block_frank_wolfe", {"step": "open"})):
        s = certified_all_along(bound(loss, set_), name, best, 150, **options)
        # 2 L D^2 / (k + 2) with what these problems have
        assert s.value - best <= 2e-2 * max(1.0, abs(best))


@pytest.mark.parametrize("layout", ["fortran", "csr", "csc"])
@pytest.mark.parametrize("name", FAMILY)
def test_storages_agree(name: str, layout: str) -> None:
    """The first steps are the same; later ones may choose among vertices that tie up to rounding, and bounds hold whatever they choose."""
    runs = [started(bound("squared_hinge", "l1_ball(1)", layout=kind), name) for kind in ("dense", layout)]
    for _ in range(6):
        for run in runs:
            run.step()
        np.testing.assert_allclose(runs[0].state.x, runs[1].state.x, atol=1e-9)
    for _ in range(60):
        for run in runs:
            run.step()
    reports = [run.report() for run in runs]
    for report in reports:
        assert max(r.bound for r in reports) <= report.objective + 1e-12
        assert report.objective - report.bound <= (1e-2 if name in ("frank_wolfe", "block_frank_wolfe") else 1e-7)


MATRICES = {
    "rows(simplex(1))": "squared",
    "simplex_product": "softmax",
    "columns(l1_ball(1))": "squared",
    "l1_inf_ball(1)": "softmax",
}


@pytest.mark.parametrize("set_", MATRICES)
@pytest.mark.parametrize("name", CORRECTIVE)
def test_matrices_in_polytopes(name: str, set_: str) -> None:
    problem = matrix_bound(set_, MATRICES[set_], " + 0.01 * sum_squares(X)")
    best = problem.solve(method="apg", tol=1e-9, threads=1)
    found = problem.solve(method=name, tol=1e-6, threads=1)
    assert found.status == "optimal" and found.objective == pytest.approx(best.objective, rel=2e-6)
    certified_all_along(problem, name, best.objective, 10)


PRODUCTS = {
    "rows": lambda: matrix_bound("rows(l2_ball(0.4))", more=" + 0.01 * sum_squares(X)"),
    "columns": lambda: matrix_bound("columns(l2_ball(0.7))"),
    "columns of a softmax": lambda: matrix_bound("columns(l2_ball(0.7))", "softmax"),
    "rows of a simplex": lambda: matrix_bound("rows(simplex(1))", "softmax"),
    "nuclear": lambda: matrix_bound("nuclear_ball(1)"),
    "identity": near_bound,
    "rows of sparse data": lambda: matrix_bound("rows(simplex(1))", sparse=True),
    "rows of sparse data, softmax": lambda: matrix_bound("rows(simplex(1))", "softmax", sparse=True),
    "family": family_bound,
    "two": two_bound,
}


@pytest.mark.parametrize("kind", PRODUCTS)
@pytest.mark.parametrize("order", ["cyclic", "random", "full"])
@pytest.mark.parametrize("step", ["secant", "open", "adaptive"])
def test_block_steps_over_products(kind: str, order: str, step: str) -> None:
    problem = PRODUCTS[kind]()
    best = problem.solve(method="apg", tol=1e-9, threads=1).objective
    s = certified_all_along(problem, "block_frank_wolfe", best, 60, order=order, step=step)
    first = started(problem, "block_frank_wolfe").state.value
    assert s.value - best <= 0.05 * (first - best)


@pytest.mark.parametrize("kind", PRODUCTS)
def test_a_blocks_views_are_the_maps_columns(kind: str) -> None:
    kernels = PreparedProblem(PRODUCTS[kind]().canonical, 1)
    K = [np.stack(list(zs), axis=1) for zs in zip(*(kernels.linear(e) for e in np.eye(kernels.size)), strict=True)]
    rng = np.random.default_rng(0)
    covered = []
    for factor in set_factors(kernels):
        covered += factor.places.tolist()
        d = rng.standard_normal(factor.places.size)
        for i, whole in enumerate(K):
            expected = whole[:, factor.places] @ d
            views = [v for v in factor.views if v.term == i]
            assert len(views) <= 1
            if not views:
                assert not np.any(expected)
                continue
            view = views[0]
            rows = np.arange(expected.size) if view.rows is None else view.rows
            np.testing.assert_allclose(view.map.apply(d), expected[rows], atol=1e-12)
            assert not np.any(np.delete(expected, rows))
            y = rng.standard_normal(rows.size)
            np.testing.assert_allclose(view.map.adjoint(y), whole[np.ix_(rows, factor.places)].T @ y, atol=1e-12)
    assert sorted(covered) == list(range(kernels.size))


@pytest.mark.parametrize("set_", ["rows(simplex(1))", "columns(simplex(1))"])
def test_blocks_of_data_that_are_known_by_products(set_: str) -> None:
    states = []
    rng = np.random.default_rng(9)
    A, Y = rng.standard_normal((20, 5)), rng.standard_normal((20, 3))
    text = f"data A: matrix[n, p], Y: matrix[n, k]\nvar X: matrix[p, k] in {set_}\nminimize mean(huber(A @ X, Y))\n"
    for given in (A, fw.operator(aslinearoperator(A))):
        run = started(fw.parse(text).bind(A=given, Y=Y), "block_frank_wolfe")
        s = run.state
        for _ in range(10):
            run.step()
        states.append(s)
    np.testing.assert_allclose(states[0].x, states[1].x, atol=1e-9)
    assert states[0].value == pytest.approx(states[1].value, rel=1e-10) and states[0].value < 2.0


def test_a_full_sweep_with_the_open_rule_is_vanilla() -> None:
    problem = two_bound()
    block, vanilla = started(problem, "block_frank_wolfe", order="full", step="open"), started(problem, "frank_wolfe")
    for _ in range(80):
        block.step()
        vanilla.step()
        np.testing.assert_allclose(block.state.x, vanilla.state.x, atol=1e-13)


def test_a_gradient_a_step_and_few_columns() -> None:
    problem = bound("squared", "l1_ball(1)", layout="csr")
    run = started(problem, "pairwise_frank_wolfe")
    s, kernels = run.state, run.problem
    gradients, passes = s.gradients, kernels.passes
    for _ in range(20):
        run.step()
    assert s.gradients - gradients == 20
    # A'y, and two columns of six
    assert kernels.passes - passes <= 20 * (1 + 3 / 6)


@pytest.mark.parametrize("name", CORRECTIVE)
def test_the_lazy_variants_ask_the_oracle_less(name: str) -> None:
    problem = bound("logistic", "permutahedron(c)")
    found = {}
    for lazy in (False, True):
        run = started(problem, name, lazy=lazy)
        s = run.state
        # at the optimum, where these are after twenty steps, rounding decides whom they ask
        for _ in range(12):
            run.step()
        found[lazy] = s
    assert found[True].vertices < 0.8 * found[False].vertices
    assert found[True].value == pytest.approx(found[False].value, abs=1e-4)


def test_vertices_that_are_dropped_leave_exact_zeros() -> None:
    drops = 0
    for seed in range(8):
        problem = bound("squared", "l1_ball(1)", seed=seed)
        run = started(problem, "pairwise_frank_wolfe", x=np.full(6, 0.1))
        s = run.state
        for _ in range(30):
            run.step()
        drops += s.drops
        places = {int(p) for _, atom in s.atoms() for p in atom.places}
        assert set(np.flatnonzero(s.x).tolist()) <= places
    assert drops > 0


@pytest.mark.parametrize("name", FAMILY)
def test_resumed_runs_are_whole_runs(name: str, tmp_path: Path) -> None:
    problem = bound("logistic", "box(-0.2, 0.4)", seed=1)
    options: dict[str, Any] = {"order": "random"} if name == "block_frank_wolfe" else {}
    run = started(problem, name, seed=7, **options)
    s = run.state
    for _ in range(9):
        run.step()
    again = resumed(run, tmp_path, options, threads=2)
    t = again.state
    for _ in range(80):
        run.step()
        again.step()
        np.testing.assert_array_equal(s.x, t.x)
        assert (s.value, s.best_bound, s.vertices) == (t.value, t.best_bound, t.vertices)


@pytest.mark.parametrize("name", FAMILY)
def test_threads_do_not_show(name: str) -> None:
    # more samples than a kernel takes at once, so that threads share the work
    rng = np.random.default_rng(10)
    A = rng.standard_normal((40_000, P))
    y = np.where(A @ rng.standard_normal(P) + rng.standard_normal(40_000) > 0.0, 1.0, -1.0)
    text = "data A: matrix[n, p], y: signs[n]\nvar x: vector[p] in l1_ball(2)\nminimize mean(logistic(A @ x, y))\n"
    problem = fw.parse(text).bind(A=A, y=y)
    options: dict[str, Any] = {"order": "random"} if name == "block_frank_wolfe" else {}
    found = [problem.solve(method=name, max_iter=6, tol=1e-12, threads=k, seed=2, **options) for k in (1, 2, 3)]
    for other in found[1:]:
        np.testing.assert_array_equal(other["x"], found[0]["x"])
        assert (other.objective, other.dual_bound) == (found[0].objective, found[0].dual_bound)


def test_random_blocks_come_from_the_seed() -> None:
    problem = two_bound()
    runs = [started(problem, "block_frank_wolfe", seed=k, order="random", step="open") for k in (1, 1, 2)]
    for _ in range(5):
        for run in runs:
            run.step()
    a, b, c = (run.state.x for run in runs)
    assert np.array_equal(a, b) and not np.array_equal(a, c)
    assert runs[0].state.curvatures.size == 2


@pytest.mark.parametrize("name", FAMILY)
def test_from_text_with_options(name: str) -> None:
    problem = bound("squared", "simplex(1)")
    text = problem.to_fw() + f'solve method = {name}(step="line_search"), tol = 1e-3, max_iter = 3000\n'
    found = fw.parse(text).bind(A=problem.instance.values["A"], y=problem.instance.values["y"]).solve()
    assert (found.status, found.method) == ("optimal", name)


REFUSED = [
    ("away_frank_wolfe", "x: vector[p] in l2_ball(1)", "squared", "finitely many", "FW5003"),
    ("blended_pairwise", "x: vector[p]", "squared", "not confined to a bounded set", "FW5003"),
    ("pairwise_frank_wolfe", "x: vector[p] in l1_ball(1)", "absolute", "is not smooth", "FW5003"),
    ("block_frank_wolfe", "x: vector[p] in nonnegative", "squared", "not confined to a bounded set", "FW5003"),
    ('frank_wolfe(step="fast")', "x: vector[p] in l1_ball(1)", "squared", "is `", "FW5004"),
    ('block_frank_wolfe(order="none")', "x: vector[p] in l1_ball(1)", "squared", "`order`", "FW5004"),
    ("blended_pairwise(lazy=3)", "x: vector[p] in l1_ball(1)", "squared", "`lazy`", "FW5004"),
    ('blended_pairwise(step="open")', "x: vector[p] in l1_ball(1)", "squared", "`step`", "FW5004"),
]


@pytest.mark.parametrize(("method", "var", "loss", "why", "code"), REFUSED)
def test_refusals_say_why(
    method: str, var: str, loss: str, why: str, code: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "p.fw"
    text = f"data A: matrix[n, p] = [[1, 2], [3, 4]], y: vector[n] = [1, 2]\nvar {var}\n"
    path.write_text(f"{text}minimize mean({loss}(A @ x, y))\nsolve method = {method}\n", encoding="utf-8")
    assert main(["run", str(path)]) != 0
    told = capsys.readouterr()
    assert code in told.err + told.out and why in told.err + told.out


@pytest.mark.parametrize("name", CORRECTIVE)
def test_values_refuse_too(name: str) -> None:
    text = "data A: matrix[n, p]\nvar x: vector[p] in box(0, inf)\nminimize mean(squared(A @ x, ones(n)))\n"
    problem = fw.parse(text).bind(A=np.ones((3, 2)))
    with pytest.raises(fw.PlanError, match="not bounded"):
        problem.solve(method=name)


@pytest.mark.parametrize("name", FAMILY)
def test_short_steps_need_bounded_curvature(name: str) -> None:
    with pytest.raises(fw.PlanError, match="curvature without bound"):
        bound("poisson", "l1_ball(1)").solve(method=name, step="short")


@pytest.mark.parametrize("name", FAMILY)
def test_a_set_of_one_point_is_solved_at_once(name: str) -> None:
    found = bound("squared", "box(0.5, 0.5)").solve(method=name, threads=1)
    assert found.status == "optimal" and found.iterations <= 1 and np.all(found["x"] == 0.5)


@pytest.mark.parametrize("name", FAMILY)
def test_linear_objectives_end_at_a_vertex(name: str) -> None:
    text = "data c: vector[p]\nvar x: vector[p] in simplex(2)\nminimize dot(c, x)\n"
    found = fw.parse(text).bind(c=np.array([3.0, -1.0, 2.0])).solve(method=name, threads=1)
    assert found.status == "optimal" and found.objective == pytest.approx(-2.0)
    np.testing.assert_array_equal(found["x"], [0.0, 2.0, 0.0])
