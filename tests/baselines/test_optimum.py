"""Each baseline against the oracle at the optimum, its certificate along the way, its draws, and what it refuses."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.baselines.common import conditioning
from fwdsl.backends.baselines.samples import SampleSum
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.registry import NAMED
from fwdsl.certify.verify import verify
from fwdsl.errors import FwError
from fwdsl.model.options import Options
from fwdsl.oracle import solve_oracle
from fwdsl.plan import make_plan
from fwdsl.solve import solve
from fwdsl.solve.state import load_state, save_state
from tests.baselines.common import Naive, bound, data, matrix_data, matrix_text, text
from tests.runs import stepped

pytest.importorskip("cvxpy")

RIDGE = " + 0.05 * sum_squares(x)"
SMOOTH = ("squared", "logistic", "smooth_hinge", "squared_hinge", "huber", "squared_epsilon_insensitive")
BALLS = ("l1_ball(0.5)", "l2_ball(0.3)", "simplex(0.8)", "solid_simplex(0.4)")
BOUNDED = (*BALLS, "linf_ball(0.2)", "box(-0.1, 0.3)", "ksupport_ball(2, 0.5)")


def loss_of(name: str) -> tuple[str, dict[str, Any]]:
    """A loss with its data."""
    return name, data(name, "csr", n=20)


def check(problem: Any, method: str, tol: float, steps: int = 300, **options: Any) -> None:
    """The gap falls to tol; every bound on the way is below the optimum, and what the verifier says of the candidate agrees."""
    optimum = solve_oracle(problem.instance).value
    slack = 1e-6 * max(1.0, abs(optimum))
    run = stepped(problem, method, 0, **options)
    for _ in range(steps):
        report = run.report()
        assert report.bound <= optimum + slack
        assert report.objective >= optimum - slack
        if report.objective - report.bound <= tol * max(1.0, abs(optimum)):
            break
        run.step()
    x, ys = run.candidate()
    verified = verify(problem.canonical, x, ys)
    assert verified.infeasibility <= 1e-9
    assert verified.primal == pytest.approx(optimum, abs=tol * max(1.0, abs(optimum)) + slack)
    assert verified.dual == pytest.approx(optimum, abs=tol * max(1.0, abs(optimum)) + slack)


def pairs(names: tuple[str, ...], quick: tuple[str, ...]) -> list[Any]:
    """Each method with each name; those that compile a loop of their own for it are slow, but for the `quick` ones."""
    compiled = ("svrg", "sdca", "spdc")
    return [
        pytest.param(m, n, marks=[pytest.mark.slow] if m in compiled and n not in quick else [])
        for m in (*compiled, "apg_fixed")
        for n in names
    ]


@pytest.mark.parametrize(("method", "loss"), pairs(SMOOTH, ("logistic",)))
def test_every_smooth_loss_with_an_elastic_net(method: str, loss: str) -> None:
    problem = bound(text(loss, "", RIDGE + " + 0.02 * norm1(x)"), data(loss, "csr", n=20))
    check(problem, method, 1e-6)


@pytest.mark.parametrize(
    ("method", "set_"), pairs((*BOUNDED, "nonnegative"), ("l1_ball(0.5)", "simplex(0.8)", "box(-0.1, 0.3)"))
)
def test_every_set_with_a_ridge(method: str, set_: str) -> None:
    if method == "sdca" and "ksupport" in set_:
        pytest.skip("refused: see below")
    check(bound(text("logistic", set_, RIDGE), data("logistic", n=20)), method, 1e-6)


@pytest.mark.parametrize(
    "loss",
    ["hinge", *(pytest.param(n, marks=pytest.mark.slow) for n in ("absolute", "quantile", "epsilon_insensitive"))],
)
def test_sdca_takes_losses_that_are_not_smooth(loss: str) -> None:
    check(bound(text(loss, "l1_ball(0.5)", RIDGE), data(loss, n=20)), "sdca", 1e-3, steps=600)


@pytest.mark.parametrize("method", ["svrg", "apg_fixed"])
def test_without_a_ridge(method: str) -> None:
    check(bound(text("logistic", "l1_ball(0.5)"), data("logistic", n=20)), method, 1e-5)
    check(bound(text("squared", "", " + 0.05 * norm1(x)"), data("squared", n=20)), method, 1e-5)


@pytest.mark.parametrize("loss", ["logistic", "squared"])
def test_a_free_intercept_keeps_no_stale_bound(loss: str) -> None:
    # the bound of a gradient that misses the dual's equality is optimistic: it is the latest that is to be repaired, not the best
    program = text(loss, "l1_ball(0.5)", " + 0.02 * sum_squares(x)").replace("(A @ x)", "(A @ x + b)")
    program = program.replace("minimize", "var b: real\nminimize")
    problem = bound(program, data(loss, n=30))
    found = problem.solve(method="apg_fixed", tol=1e-8, max_iter=3000, threads=1)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(solve_oracle(problem.instance).value, abs=1e-7)


@pytest.mark.parametrize("set_", BOUNDED)
@pytest.mark.parametrize("method", ["sfw", "svrf", "scgs", "storc", "scgm"])
def test_conditional_gradients_on_every_set(method: str, set_: str) -> None:
    # sampling noise stays with batches that do not grow beyond a share of the samples
    check(
        bound(text("logistic", set_, RIDGE), data("logistic", n=20)),
        method,
        3e-2 if method in ("sfw", "scgs") else 1e-2,
    )


@pytest.mark.parametrize("loss", SMOOTH)
@pytest.mark.parametrize("method", ["svrf", "storc"])
def test_conditional_gradients_with_every_smooth_loss(method: str, loss: str) -> None:
    check(bound(text(loss, "l1_ball(0.5)"), data(loss, n=20)), method, 1e-2)


@pytest.mark.parametrize("loss", ["softmax", "squared"])
@pytest.mark.parametrize("method", ["svrg", "apg_fixed", "svrf", "storc", "scgm"])
def test_a_matrix_on_the_trace_norm_ball(method: str, loss: str) -> None:
    problem = bound(matrix_text(loss, "nuclear_ball(1)", " + 0.05 * sum_squares(X)"), matrix_data(loss, n=20))
    check(problem, method, 1e-5 if method in ("svrg", "apg_fixed") else 3e-2, steps=100)


@pytest.mark.parametrize(
    "problem",
    [
        bound(text("hinge", "l2_ball(0.5)"), data("hinge", n=20)),
        bound(text("absolute", "", RIDGE + " + 0.05 * norm1(x)"), data("absolute", "csr", n=20)),
        bound(matrix_text("multiclass_hinge", "l1_ball(1)"), matrix_data("multiclass_hinge", n=20)),
        bound(matrix_text("multiclass_hinge", "", " + 0.1 * sum_squares(X)"), matrix_data("multiclass_hinge", n=20)),
    ],
)
def test_the_subgradient_method_gets_near(problem: Any) -> None:
    optimum = solve_oracle(problem.instance).value
    run = stepped(problem, "subgradient", 60, radius=1.0)
    state = run.state
    assert optimum - 1e-6 <= state.best_value <= optimum + 0.02 * max(1.0, abs(optimum))
    assert run.report().bound <= optimum + 1e-6


# --- estimates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "problem",
    [
        bound(text("logistic", "", RIDGE), data("logistic", "csr", n=7)),
        bound(matrix_text("softmax"), matrix_data("softmax", n=7)),
        bound(matrix_text("squared"), matrix_data("squared", "csr", n=7)),
    ],
)
@pytest.mark.parametrize("size", [1, 3])
def test_the_estimates_are_unbiased(problem: Any, size: int) -> None:
    kernels = PreparedProblem(problem.canonical, 1)
    of, naive = SampleSum.of(kernels), Naive(problem)
    rng = np.random.default_rng(5)
    x, snapshot = rng.standard_normal(of.size), rng.standard_normal(of.size)
    slopes = kernels.losses_gradient(kernels.forward(snapshot))[1]
    kty = kernels.adjoint(slopes)
    batches = [np.array(c) for c in combinations(range(of.n), size)]
    whole = of.gradient(x)
    np.testing.assert_allclose(whole, naive.gradient(x), rtol=1e-12, atol=1e-12)
    plain = np.mean([of.estimate(x, b) for b in batches], axis=0)
    corrected = np.mean([of.corrected(x, b, slopes[0], kty) for b in batches], axis=0)
    np.testing.assert_allclose(plain, whole, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(corrected, whole, rtol=1e-11, atol=1e-12)
    # at the snapshot itself every batch gives the gradient
    np.testing.assert_allclose(
        of.corrected(snapshot, batches[1], slopes[0], kty), of.gradient(snapshot), rtol=1e-11, atol=1e-12
    )


# --- runs -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def short_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """An epoch a step."""
    monkeypatch.setattr("fwdsl.backends.baselines.common.LEAST_WORK", 1)


ONE = bound(text("logistic", "l1_ball(0.5)", RIDGE), data("logistic", "csr", n=60))
NAMES = [name for name, (module, *_) in NAMED.items() if module.startswith("baselines.")]


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_fixes_the_run_for_any_number_of_threads(
    name: str, short_steps: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # several blocks of work even of small data, which are new for the operator that is kept with them
    monkeypatch.setattr("fwdsl.backends.kernels.blocks.BLOCK_NUMBERS", 64)
    problem = bound(text("logistic", "l1_ball(0.5)", RIDGE), data("logistic", "csr", n=60))
    shared, run = [0], Pool.run

    def counted(self: Pool, fn: Any, blocks: Any) -> Any:
        shared[0] += self.threads > 1 and len(blocks) > 1
        return run(self, fn, blocks)

    monkeypatch.setattr(Pool, "run", counted)
    one = stepped(problem, name, 2, threads=1, seed=4).state
    for threads in (2, 3):
        more = stepped(problem, name, 2, threads=threads, seed=4).state
        np.testing.assert_array_equal(one.x, more.x)
        assert one.best_bound == more.best_bound
    assert shared[0] > 0
    other = stepped(problem, name, 2, seed=5).state
    assert name == "apg_fixed" or not np.array_equal(one.x, other.x)


@pytest.mark.parametrize("name", NAMES)
def test_a_resumed_run_is_the_unbroken_one(name: str, tmp_path: Path, short_steps: None) -> None:
    def run(steps: int, **more: Any) -> Any:
        options = Options(method=name, max_iter=steps, tol=1e-15, threads=1, seed=3)
        plan, found = make_plan(ONE.canonical, options)
        assert plan is not None, found
        return solve(ONE.canonical, plan, options, **more)

    whole, half = run(6), run(2)
    save_state(tmp_path / "s.npz", ONE.canonical, half.state)
    resumed = run(6, resume=load_state(tmp_path / "s.npz", ONE.canonical))
    assert resumed.state.method == name
    assert resumed.iterations == whole.iterations == 6
    one, other = whole.state.state, resumed.state.state
    np.testing.assert_array_equal(one.x, other.x)
    assert one.best_bound == other.best_bound
    assert resumed.passes == pytest.approx(whole.passes, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_it_runs_from_a_program_and_from_python_with_its_options(name: str) -> None:
    program = text("logistic", "l1_ball(0.5)", RIDGE)
    values = data("logistic", n=30)
    option = {"sdca": "order", "sfw": "cap", "svrf": "cap", "scgm": "decay"}.get(name, "step")
    given = {"order": "uniform", "cap": 0.25, "decay": 2.0, "step": 0.75}[option]
    written = f'"{given}"' if isinstance(given, str) else str(given)
    told = (
        fw.parse(f"{program}solve method = {name}({option}={written}), tol = 1e-12, max_iter = 2, seed = 1")
        .bind(**values)
        .solve(threads=1)
    )
    python = (
        fw.parse(program).bind(**values).solve(method=name, tol=1e-12, max_iter=2, seed=1, threads=1, **{option: given})
    )
    assert told.method == python.method == name
    assert told.iterations <= 2
    assert told.objective == python.objective
    assert told.dual_bound == python.dual_bound


def test_a_warm_start_serves() -> None:
    cold = ONE.solve(tol=1e-8)
    for name in ("svrg", "sdca", "spdc"):
        warm = ONE.solve(method=name, tol=1e-6, start=cold)
        assert warm.status == "optimal" and warm.iterations <= 3


def test_rows_of_zeros_alone() -> None:
    values = data("logistic", n=8)
    values["A"] = np.zeros_like(values["A"])
    problem = bound(text("logistic", "l1_ball(0.5)", RIDGE), values)
    for name in ("svrg", "sdca", "spdc", "apg_fixed", "sfw", "svrf", "scgs", "storc", "scgm"):
        solution = problem.solve(method=name, tol=1e-3, time=5)
        assert solution.status == "optimal", (name, solution.reason)


# --- plans ----------------------------------------------------------------------------------------------------------------


def test_what_the_plan_predicts_of_them() -> None:
    """The rates of those that have a linear one, in passes that grow with the condition number; of the others nothing."""

    def passes(ridge: float) -> dict[str, float]:
        program = text("logistic", "l1_ball(0.5)", f" + {ridge} * sum_squares(x)")
        weighed = bound(program, data("logistic", n=30)).plan().candidates
        assert all(
            c.estimate is None for c in weighed if c.name in ("sfw", "svrf", "scgs", "storc", "scgm", "subgradient")
        )
        linear = [c for c in weighed if c.name in ("svrg", "sdca", "spdc", "apg_fixed")]
        return {c.name: c.estimate.passes for c in linear if c.estimate is not None}

    easy, hard = passes(1.0), passes(1e-3)
    assert set(easy) == {"svrg", "sdca", "spdc", "apg_fixed"}
    assert all(hard[name] > 2.0 * easy[name] for name in easy)
    assert easy["sdca"] < easy["svrg"] and hard["spdc"] < hard["sdca"]


def test_the_bound_of_the_condition_number() -> None:
    problem = bound(
        text("logistic", "", " + 0.05 * sum_squares(x)", weights=False), data("logistic", n=20, weights=False)
    )
    n, kappa = conditioning(problem.canonical)
    rows = (problem.instance.values["A"] ** 2).sum(axis=1).max()
    # the loss's curvature is 1/4, and the ridge 0.05 |x|^2 has twice its weight
    assert n == 20 and kappa == pytest.approx(4.0 * 0.25 * rows / 0.1)
    matrix = bound(matrix_text("squared", "", " + 0.05 * sum_squares(X)"), matrix_data("squared", n=20, k=3))
    assert conditioning(matrix.canonical)[0] == 20
    assert conditioning(bound(text("logistic", "l1_ball(1)"), data("logistic")).canonical) == (12, 1e4)


# --- refusals --------------------------------------------------------------------------------------------------------------


def refused(program: str, values: dict[str, Any], **options: Any) -> FwError:
    with pytest.raises(FwError) as caught:
        bound(program, values).solve(**options)
    return caught.value


@pytest.mark.parametrize(
    ("name", "loss", "set_", "more", "reason"),
    [
        ("svrg", "hinge", "", RIDGE, "is not smooth"),
        ("svrg", "poisson", "", RIDGE, "second derivative of poisson"),
        ("sdca", "logistic", "l1_ball(1)", "", "sum_squares"),
        ("sdca", "logistic", "ksupport_ball(2, 1)", RIDGE, "ksupport_ball"),
        ("spdc", "hinge", "", RIDGE, "is not smooth"),
        ("spdc", "logistic", "l1_ball(1)", "", "sum_squares"),
        ("apg_fixed", "hinge", "", RIDGE, "is not differentiable"),
        ("sfw", "logistic", "", RIDGE, "not confined to a bounded set"),
        ("svrf", "logistic", "box(0, inf)", RIDGE, "is not bounded"),
        ("scgm", "logistic", "l1_ball(1)", " + 0.1 * norm1(x)", "norm1 on x is not smooth"),
        ("scgs", "absolute", "l1_ball(1)", "", "is not smooth"),
        ("storc", "logistic", "nonnegative", "", "not confined to a bounded set"),
        ("subgradient", "squared", "", "", "slopes of squared have no bound"),
    ],
)
def test_what_it_does_not_cover_is_refused_with_the_reason(
    name: str, loss: str, set_: str, more: str, reason: str
) -> None:
    values = data(loss)
    values["y"] = np.abs(np.round(values["y"])) if loss == "poisson" else values["y"]
    error = refused(text(loss, set_, more) + f"solve method = {name}", values)
    assert error.code == "FW5003"
    assert reason in str(error)


@pytest.mark.parametrize("name", ["sdca", "spdc"])
def test_a_matrix_is_refused_where_rows_meet_a_vector(name: str) -> None:
    program = matrix_text("squared", "", " + 0.1 * sum_squares(X)")
    error = refused(program, matrix_data("squared"), method=name)
    assert error.code == "FW5003" and "rows of one data matrix" in str(error)


@pytest.mark.parametrize("name", ["svrf", "block_fw", "factored_fw"])
def test_a_matrix_seen_through_data_without_any_stored_number(name: str) -> None:
    given = matrix_data("squared") | {"A": sp.csr_array((12, 4))}
    found = bound(matrix_text("squared", "nuclear_ball(1)"), given).solve(method=name)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(float(np.sum(given["y"] ** 2)) / 12)


@pytest.mark.parametrize("name", ["svrg", "svrf", "storc"])
def test_a_matrix_of_one_column(name: str) -> None:
    given = matrix_data("squared", k=1)
    problem = bound(matrix_text("squared", "fro_ball(0.5)", " + 0.05 * sum_squares(X)"), given)
    check(problem, name, 1e-3, steps=60)


def test_two_losses_are_no_sum_over_samples() -> None:
    program = text("logistic", "l1_ball(1)", " + mean(squared(A @ x, w))")
    error = refused(program, data("logistic"), method="svrg")
    assert error.code == "FW5003" and "2 losses" in str(error)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("svrg", {"batch": 13}),
        ("svrg", {"step": 0.0}),
        ("svrg", {"snapshot": "first"}),
        ("spdc", {"batch": 100}),
        ("sdca", {"multiplier": 0}),
        ("svrg", {"batch": 2.5}),
        ("sfw", {"cap": 1.5}),
        ("scgs", {"smoothness": "none"}),
        ("subgradient", {"horizon": 0}),
    ],
)
def test_options_outside_their_domain_are_refused(name: str, options: dict[str, Any]) -> None:
    error = refused(text("logistic", "l1_ball(0.5)", RIDGE), data("logistic"), method=name, **options)
    assert error.code == "FW5004"
    assert next(iter(options)) in str(error)
