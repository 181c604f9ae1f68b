"""GSFW against the oracle at the optimum, its certificate along the way; seeds, threads, resumed runs; from text and Python; what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.gsfw import GSFWState
from fwdsl.backends.gsfw.oracle import Oracle
from fwdsl.certify.verify import verify
from fwdsl.errors import FwError
from fwdsl.model.options import Options
from fwdsl.oracle import solve_oracle
from fwdsl.plan import make_plan
from fwdsl.solve import solve
from fwdsl.solve.state import load_state, save_state
from tests.baselines.common import bound, data, matrix_data, matrix_text, text
from tests.runs import started

RIDGE = " + 0.05 * sum_squares(x)"
SMOOTH = ("squared", "logistic", "smooth_hinge", "squared_hinge", "huber", "squared_epsilon_insensitive")
BOUNDED = (
    "l1_ball(0.5)",
    "l2_ball(0.3)",
    "simplex(0.8)",
    "solid_simplex(0.4)",
    "linf_ball(0.2)",
    "box(-0.1, 0.3)",
    "ksupport_ball(2, 0.5)",
)


@pytest.fixture(autouse=True)
def short_steps(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A step is an epoch, however small the data."""
    monkeypatch.setattr("fwdsl.backends.baselines.common.LEAST_WORK", 1)


def check(problem: Any, tol: float, steps: int = 400, plain: bool = True, **options: Any) -> None:
    """The gap falls to tol; every bound on the way is below the optimum, every P above it, and what the verifier says of the candidate agrees."""
    pytest.importorskip("cvxpy")
    optimum = solve_oracle(problem.instance).value
    scale = max(1.0, abs(optimum))
    run = started(problem, "gsfw", seed=1, **options)
    state = run.state
    if plain:
        # the loops are compared with these iterations elsewhere, and take seconds to compile for each loss and set
        run.oracle = Oracle(run.oracle.mu, run.oracle.size, plain=run.oracle)
    for _ in range(steps):
        report = run.report()
        assert report.bound <= optimum + 1e-6 * scale
        assert report.objective >= optimum - 1e-6 * scale
        if state.best_value - report.bound <= tol * scale:
            break
        run.step()
    x, ys = run.candidate()
    verified = verify(problem.canonical, x, ys)
    assert verified.infeasibility <= 1e-9
    assert verified.primal == pytest.approx(optimum, abs=(tol + 1e-6) * scale)
    assert verified.dual == pytest.approx(optimum, abs=(tol + 1e-6) * scale)


@pytest.mark.parametrize("loss", SMOOTH)
def test_every_smooth_loss_with_an_elastic_net(loss: str) -> None:
    check(bound(text(loss, "", RIDGE + " + 0.02 * norm1(x)"), data(loss, "csr", n=20)), 1e-6)


@pytest.mark.parametrize("set_", [*BOUNDED, "nonnegative"])
def test_every_set_with_a_ridge(set_: str) -> None:
    check(bound(text("logistic", set_, RIDGE), data("logistic", n=20)), 1e-6)


@pytest.mark.parametrize("loss", SMOOTH)
def test_every_smooth_loss_without_a_ridge(loss: str) -> None:
    check(bound(text(loss, "l1_ball(0.5)"), data(loss, n=20)), 2e-2)


@pytest.mark.parametrize("set_", BOUNDED)
def test_every_set_without_a_ridge(set_: str) -> None:
    check(bound(text("logistic", set_), data("logistic", n=20)), 1e-2)


@pytest.mark.parametrize(
    ("set_", "more"),
    [
        ("", " + 0.1 * norm1(x)"),
        ("", " + 0.1 * norm2(x)"),
        ("", " + 0.1 * norm_inf(x)"),
        ("nonnegative", " + 0.1 * norm1(x)"),
        ("l1_ball(0.7)", " + 0.1 * norm1(x)"),
        ("l2_ball(0.7)", " + 0.1 * norm2(x)"),
        ("box(-0.1, 0.3)", " + 0.1 * norm1(x)"),
        ("l2_ball(0.7)", " + 0.1 * norm1(x)"),
        ("group_ball(0.7, [[0, 1, 2], [3, 4]])", " + 0.05 * group_norm(x, [[0, 1, 2], [3, 4]])"),
    ],
)
def test_norms_alone_and_on_sets(set_: str, more: str) -> None:
    check(bound(text("logistic", set_, more), data("logistic", n=20)), 3e-2)


def test_entropy_converges_linearly() -> None:
    check(bound(text("logistic", "simplex(1)", " + 0.3 * entropy(x)"), data("logistic", n=20)), 1e-6)


@pytest.mark.parametrize(
    ("loss", "set_", "more", "tol"),
    [
        ("softmax", "nuclear_ball(1)", " + 0.05 * sum_squares(X)", 1e-6),
        ("squared", "nuclear_ball(1)", "", 2e-2),
        ("softmax", "", " + 0.2 * norm_nuc(X)", 3e-2),
        ("softmax", "", " + 0.2 * norm21(X)", 3e-2),
        ("softmax", "", " + 0.2 * norm1_inf(X)", 3e-2),
        ("softmax", "", " + 0.2 * norm_spec(X)", 3e-2),
        ("softmax", "nonnegative", " + 0.1 * norm21(X)", 3e-2),
        ("squared", "l21_ball(0.5)", " + 0.1 * norm21(X)", 2e-2),
        ("softmax", "rows(simplex(1))", " + 0.1 * entropy(X)", 1e-6),
        ("softmax", "rows(l1_ball(0.5))", " + 0.02 * norm1(X)", 1e-2),
    ],
)
def test_matrices(loss: str, set_: str, more: str, tol: float) -> None:
    check(bound(matrix_text(loss, set_, more), matrix_data(loss, n=20)), tol)


@pytest.mark.parametrize("options", [{"rule": "theory"}, {"rule": "open"}, {"sigma": 40.0, "batch": 2}])
def test_the_other_rules_with_a_ridge(options: dict[str, Any]) -> None:
    problem = bound(text("logistic", "l1_ball(0.5)", RIDGE), data("logistic", "csr", n=20))
    check(problem, 1e-2 if options.get("rule") == "open" else 1e-5, steps=800, **options)


def test_the_loops_reach_it_too() -> None:
    check(bound(text("logistic", "l1_ball(0.5)", RIDGE), data("logistic", "csr", n=20)), 1e-8, plain=False)


# --- runs -----------------------------------------------------------------------------------------------------------------

MORE: tuple[dict[str, Any], ...] = ({}, {"rule": "open"})
ONE = bound(text("logistic", "l1_ball(0.5)", RIDGE), data("logistic", "csr", n=60))
MATRIX = bound(matrix_text("softmax", "nuclear_ball(1)", ""), matrix_data("softmax", n=30))


def run(problem: Any, steps: int, more: dict[str, Any], threads: int = 1, seed: int = 3, resume: Any = None) -> Any:
    options = Options(method="gsfw", method_options=more, max_iter=steps, tol=1e-15, threads=threads, seed=seed)
    plan, found = make_plan(problem.canonical, options)
    assert plan is not None, found
    return solve(problem.canonical, plan, options, resume=resume)


def same(one: Any, other: Any) -> None:
    assert type(one) is type(other) is GSFWState
    for name, value in vars(one).items():
        assert np.array_equal(value, getattr(other, name)), name


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("problem", [ONE, MATRIX], ids=["vector", "matrix"])
def test_a_seed_fixes_the_run_for_any_number_of_threads(problem: Any, more: dict[str, Any]) -> None:
    one = run(problem, 3, more)
    same(one.state.state, run(problem, 3, more, threads=2).state.state)
    assert not np.array_equal(one.state.state.s, run(problem, 3, more, seed=4).state.state.s)


@pytest.mark.parametrize("more", MORE)
@pytest.mark.parametrize("problem", [ONE, MATRIX], ids=["vector", "matrix"])
def test_a_resumed_run_is_the_unbroken_one(problem: Any, more: dict[str, Any], tmp_path: Path) -> None:
    whole = run(problem, 7, more)
    save_state(tmp_path / "s.npz", problem.canonical, run(problem, 3, more).state)
    resumed = run(problem, 7, more, resume=load_state(tmp_path / "s.npz", problem.canonical))
    assert resumed.iterations == whole.iterations == 7
    same(whole.state.state, resumed.state.state)


def test_from_a_program_and_from_python() -> None:
    program, values = text("logistic", "l1_ball(0.5)", RIDGE), data("logistic", "csr", n=60)
    written = f'{program}solve method = gsfw(batch=0.25, rule="theory", sigma=60), tol = 1e-4, seed = 1\n'
    told = fw.parse(written).bind(**values).solve(threads=1)
    python = bound(program, values).solve(
        method="gsfw", tol=1e-4, seed=1, threads=1, batch=0.25, rule="theory", sigma=60
    )
    assert told.method == python.method == "gsfw"
    assert told.status == "optimal" and "substitute gradient" in told.history[-1].phase
    assert told.objective == python.objective
    automatic = fw.parse(f"{program}solve method = gsfw(rule=auto, sigma=auto), tol = 1e-6\n").bind(**values).solve()
    assert automatic.status == "optimal"


def test_a_warm_start_serves() -> None:
    cold = ONE.solve(tol=1e-9)
    assert ONE.solve(method="gsfw", tol=1e-6, start=cold).iterations <= 2
    # where steps shrink with the iteration, a start is not thrown away by the first of them
    values = data("logistic", "csr", n=60)
    problem = bound(text("logistic", "l1_ball(0.5)"), values)
    best = problem.solve(tol=1e-9)
    warm = problem.solve(method="gsfw", start=best, max_iter=3, tol=1e-12)
    assert warm.objective - best.objective <= 1e-6
    one = started(problem, "gsfw", best["x"])
    one.step()
    state, kernels = one.state, one.problem
    after = kernels.objective(state.x, kernels.forward(state.x))
    assert after - best.objective <= 0.02 * (
        kernels.objective(0 * state.x, kernels.forward(0 * state.x)) - best.objective
    )


def test_batches_are_as_small_as_the_oracle_allows_where_there_is_a_ridge() -> None:
    def batch(problem: Any, **options: Any) -> int:
        found: int = started(problem, "gsfw", **options).batch
        return found

    values = data("logistic", n=2000, d=5)
    ridge, none = (bound(text("logistic", "l1_ball(0.5)", more), values) for more in (RIDGE, ""))
    assert batch(none) == 200 and batch(ridge, rule="open") == 200
    assert batch(ridge) == 20
    assert batch(ridge, batch=0.5) == batch(ridge, batch=1000) == 1000
    values["A"] = values["A"] * (np.arange(2000) % 80 == 0)[:, None]
    sparse = bound(text("logistic", "l1_ball(0.5)", RIDGE), values | {"A": sp.csr_array(values["A"])})
    assert 20 < batch(sparse) < 200 and batch(sparse) * sparse.canonical.nnz >= 0.9 * 5 * 2000
    # an oracle that is a decomposition is not to be asked more often than it must
    trace = bound(matrix_text("squared", "nuclear_ball(1)", " + 0.1 * sum_squares(X)"), matrix_data("squared", n=2000))
    assert batch(trace) == 200


def test_rows_of_zeros_alone() -> None:
    values = data("logistic", "csr", n=8)
    values["A"] = 0.0 * values["A"]
    for more in (RIDGE, ""):
        solution = bound(text("logistic", "l1_ball(0.5)", more), values).solve(method="gsfw", tol=1e-6)
        assert solution.status == "optimal", solution.reason


def test_the_planner_leaves_it_to_be_named() -> None:
    plan, _ = make_plan(ONE.canonical, Options())
    assert plan is not None and plan.method != "gsfw"
    ours = next(c for c in plan.candidates if c.name == "gsfw")
    assert ours.applies and ours.estimate is not None and ours.estimate.seconds > 0


# --- refusals -----------------------------------------------------------------------------------------------------------------


def refused(program: str, values: dict[str, Any], **options: Any) -> FwError:
    with pytest.raises(FwError) as caught:
        bound(program, values).solve(**options)
    return caught.value


@pytest.mark.parametrize(
    ("loss", "set_", "more", "reason"),
    [
        ("hinge", "l1_ball(1)", "", "is not smooth"),
        ("logistic", "", "", "not confined to a bounded set, and has no `sum_squares` and no norm that bounds it"),
        ("logistic", "nonnegative", "", "not confined to a bounded set"),
        ("logistic", "box(0, inf)", "", "is not bounded"),
        ("logistic", "simplex(1)", " + 0.1 * norm2(x)", "the sum holds also"),
        ("poisson", "l1_ball(1)", "", "second derivative of poisson"),
        ("logistic", "l1_ball(1)", " + mean(squared(A @ x, w))", "2 losses"),
    ],
)
def test_what_it_does_not_cover_is_refused_with_the_reason(loss: str, set_: str, more: str, reason: str) -> None:
    values = data(loss)
    values["y"] = np.abs(np.round(values["y"])) if loss == "poisson" else values["y"]
    program = text(loss, set_, more).replace(
        "y: vector[n]", "y: vector[n] in nonnegative" if loss == "poisson" else "y: vector[n]"
    )
    error = refused(program + "solve method = gsfw", values)
    assert error.code == "FW5003"
    assert reason in str(error)


def test_a_penalty_that_a_linear_term_outweighs_is_refused() -> None:
    program = text("logistic", "", " + 0.1 * norm1(x) + sum(x)")
    error = refused(program, data("logistic"), method="gsfw")
    assert error.code == "FW5003" and "is not bounded" in str(error)


@pytest.mark.parametrize(
    ("more", "options", "words"),
    [
        (RIDGE, {"batch": 13}, "`batch` is 13, and there are 12 samples"),
        (RIDGE, {"batch": 0.0}, "above 0"),
        (RIDGE, {"sigma": 0.5}, "at least 1"),
        (RIDGE, {"rule": "closed"}, "rule"),
        (RIDGE, {"rule": "open", "sigma": 2.0}, "belongs to the rule `theory`"),
        ("", {"rule": "theory"}, "no `sum_squares(x)`"),
        ("", {"sigma": 2.0}, "no `sum_squares(x)`"),
    ],
)
def test_options_outside_their_domain_are_refused(more: str, options: dict[str, Any], words: str) -> None:
    error = refused(text("logistic", "l1_ball(0.5)", more), data("logistic"), method="gsfw", **options)
    assert error.code == "FW5004"
    assert words in str(error)


@pytest.mark.parametrize("method", ["gsfw", "apg"])
@pytest.mark.parametrize("size", [1e100, 1e160, 1e300])
def test_data_whose_squares_overflow_end_a_run_with_a_status(size: float, method: str) -> None:
    values = data("squared")
    values["A"] = size * values["A"]
    problem = bound(text("squared", "l1_ball(0.5)", RIDGE), values)
    for more in ({"rule": "open"}, {"rule": "theory"}, {}) if method == "gsfw" else ({},):
        solution = problem.solve(method=method, max_iter=20, **more)
        assert solution.status in ("optimal", "tolerance_not_reached", "numerical_trouble")
        # x = 0 is known to be as good as this
        assert solution.dual_bound <= float(np.mean(values["w"] * values["y"] ** 2))


@pytest.mark.parametrize(("set_", "more"), [("nuclear_ball(1)", ""), ("rows(simplex(1))", " + 0.1 * sum_squares(X)")])
def test_matrices_whose_squares_overflow_do_too(set_: str, more: str) -> None:
    values = matrix_data("squared")
    values["A"] = 1e160 * values["A"]
    solution = bound(matrix_text("squared", set_, more), values).solve(method="gsfw", max_iter=20)
    assert solution.status == "tolerance_not_reached"
    assert "no longer finite" in solution.reason
