"""`dcd` against cvxpy, against its formulas in NumPy, and under limits and interruptions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.dcd import costs, interior, loops
from fwdsl.backends.dcd.costs import FIRST_CHECK, MOST_REST, sweeps_first
from fwdsl.backends.dcd.dcd import DCDRun
from fwdsl.backends.dcd.method import DCD
from fwdsl.backends.dcd.rows import DenseRows, SparseRows, chosen
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.signed_dual import best_shift
from fwdsl.model.options import Options
from fwdsl.solve import Control, solve
from fwdsl.solve.state import load_state, save_state
from tests.dcd.problems import CORNERS, LOSSES, Linear


def agrees(machine: Linear, tol: float = 1e-7, **options: Any) -> fw.Solution:
    found = machine.bound().solve(method="dcd", tol=tol, threads=1, **options)
    assert found.status == "optimal" and found.method == "dcd"
    assert found.objective == pytest.approx(machine.optimum(), rel=1e-5, abs=1e-6)
    return found


@pytest.mark.parametrize("intercept", ["none", "penalised"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_reaches_the_optimum(loss: str, intercept: str) -> None:
    agrees(Linear(loss, intercept, seed=len(loss)))


@pytest.mark.parametrize("storage", ["dense", "csr", "float32"])
@pytest.mark.parametrize("loss", LOSSES)
def test_an_intercept_that_nothing_penalises_is_an_equality(loss: str, storage: str) -> None:
    agrees(Linear(loss, "free", storage, C=4.0))


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kind", ["wide", "repeated", "unequal", "empty rows"])
@pytest.mark.parametrize("loss", ["hinge", "absolute", "squared_hinge"])
def test_the_search_for_an_intercept_ends_where_no_interior_point_helps(loss: str, kind: str, C: float) -> None:
    """With few samples on many unknowns, where the dual may be flat between two ends of the intercept, and where it is all corners."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((40, 2100)) / 20.0
    z = X @ rng.standard_normal(2100) + 0.8
    if kind == "repeated":
        X, z = np.tile(X[:10], (4, 1)), np.tile(z[:10], 4)
    elif kind == "unequal":
        z = np.where(np.arange(40) < 2, np.abs(z), -np.abs(z))
    elif kind == "empty rows":
        X[5:] = 0.0
    y = z if loss == "absolute" else np.where(z > 0.0, 1.0, -1.0)
    text = (
        f"data X: matrix[n, p], y: {'vector' if loss == 'absolute' else 'signs'}[n]\nparam C: positive\nvar w: vector[p], b: real\n"
        f"minimize 1/2 * sum_squares(w) + C * sum({loss}(X @ w + b, y))\n"
    )
    found = fw.parse(text).bind(X=X, y=y, C=C).solve(method="dcd", tol=1e-6, threads=1)
    assert found.status == "optimal"
    w, b = cp.Variable(40), cp.Variable()
    R = np.linalg.qr(X.T, mode="r")
    prediction = R.T @ w + b  # the best coefficients are combinations of the rows
    losses = {
        "hinge": lambda: cp.sum(cp.pos(1 - cp.multiply(y, prediction))),
        "absolute": lambda: cp.norm1(prediction - y),
        "squared_hinge": lambda: cp.sum_squares(cp.pos(1 - cp.multiply(y, prediction))),
    }
    best = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + C * losses[loss]())).solve(solver=cp.CLARABEL)
    assert found.objective == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize("intercept", ["none", "free", "penalised"])
@pytest.mark.parametrize("loss", ["hinge", "quantile", "epsilon_insensitive"])
def test_weights_numbers_and_constants_are_part_of_the_problem(loss: str, intercept: str) -> None:
    machine = Linear(
        loss, intercept, k=-0.7, d=2.0, mu=0.3, mean=True, C=30.0, weighted=True, shifted=True, linear=True, seed=5
    )
    agrees(machine)
    agrees(replace(machine, storage="csr", q_b=0.4 if intercept != "none" else 0.0))


@pytest.mark.parametrize("intercept", ["none", "free"])
@pytest.mark.parametrize("loss", CORNERS)
def test_a_block_of_the_samples_is_enough(loss: str, intercept: str) -> None:
    machine = Linear(loss, intercept, n=600, p=3, C=20.0)
    found = agrees(machine, tol=1e-9)
    assert found.record["counts"]["rounds"] >= 1


def test_samples_without_features_are_settled_at_once() -> None:
    for loss in ("hinge", "absolute", "epsilon_insensitive", "squared_hinge"):
        for storage in ("dense", "csr"):
            agrees(Linear(loss, storage=storage, empty=9))


def test_the_planner_chooses_it_for_hinges_and_leaves_it_to_time() -> None:
    plan = Linear(n=400).bound().plan()
    assert plan.method == "dcd"
    assert "dcd" in {c.name for c in Linear("squared_hinge", n=400).bound().plan().candidates if c.applies}
    text = Linear().text.replace("minimize", "minimize 0.1 * norm1(w) +")
    assert not next(c for c in fw.parse(text).bind(**Linear().data).plan().candidates if c.name == "dcd").applies


# --- formulas ---------------------------------------------------------------------------------------------------------


def started(machine: Linear) -> DCDRun:
    canonical = machine.bound().canonical.dense
    assert canonical is not None
    run = DCD.start(PreparedProblem(canonical, 1), {}, np.zeros(canonical.size))
    assert isinstance(run, DCDRun)
    return run


@pytest.mark.parametrize("intercept", ["none", "free", "penalised"])
@pytest.mark.parametrize("loss", LOSSES)
def test_sweeps_are_those_of_the_formulas(loss: str, intercept: str) -> None:
    machine = Linear(loss, intercept, n=12, seed=3)
    run = started(machine)
    m, s = run.machine, run.state
    X, dual = machine.data["X"], m.dual
    mu_b = {"none": np.inf, "free": machine.mu / np.mean(np.square(X)), "penalised": 0.4}[intercept]
    v = s.v.copy()
    assert np.array_equal(np.sort(s.index), np.arange(12))
    for k in range(3):
        for j in s.index.copy():
            x, b = X.T @ v / machine.mu, v.sum() / mu_b
            g = X[j] @ x + b + dual.s[j] * v[j] - dual.t[j]
            h = X[j] @ X[j] / machine.mu + 1.0 / mu_b + dual.s[j]
            if h == 0.0:
                v[j] = dual.hi[j] if g < 0 else dual.lo[j]
                continue
            new = v[j] - g / h
            new = np.sign(new) * max(abs(new) - dual.e / h, 0.0)
            v[j] = np.clip(new, dual.lo[j], dual.hi[j])
        run._some(s, k + 1, np.inf)
        # with all entries in every sweep
        s.index[:], s.places[0], s.levels[1] = np.random.default_rng(k).permutation(12), 12, np.inf
        np.testing.assert_allclose(s.v, v, atol=1e-12)
    np.testing.assert_allclose(s.x, X.T @ v / machine.mu, atol=1e-12)


def test_entries_that_are_left_out_come_back() -> None:
    run = started(Linear(n=200, C=0.05))
    s = run.state
    sizes = []
    for k in range(25):
        run._some(s, k + 1, np.inf)
        sizes.append(int(s.places[0]))
        assert np.unique(s.index[: sizes[-1]]).size == sizes[-1]
    assert min(sizes) < 150 and sizes.count(200) >= 2


@pytest.mark.parametrize("near", [0.5, 0.01])
@pytest.mark.parametrize("free", [False, True])
def test_the_interior_point_finds_the_minimum(free: bool, near: float) -> None:
    """From the middle of each interval, and from a point of it."""
    import cvxpy as cp

    rng = np.random.default_rng(0)
    Z, d = rng.standard_normal((40, 5)), 5
    Z[:, -1] = 1.0
    rho = np.ones(d)
    rho[-1] = 0.0 if free else 0.5
    s, t = np.where(rng.random(40) < 0.5, 0.3, 0.0), rng.standard_normal(40)
    lo, hi = -rng.random(40), rng.random(40)
    r = 0.1 * rng.standard_normal(d)
    part = interior.Part(DenseRows(Z), r, rho, s, t, lo, hi)
    u = lo + (hi - lo) * rng.random(40)
    u, x = interior.solve(part, u, np.zeros(d), near, 1e-11, interior.MET, lambda: None)
    var = cp.Variable(40)
    w = Z.T @ var + r
    live = rho > 0.0
    objective = 0.5 * cp.sum(cp.multiply(1.0 / rho[live], cp.square(w[live]))) + 0.5 * cp.sum(
        cp.multiply(s, cp.square(var))
    )
    constraints = [var >= lo, var <= hi] + ([w[-1] == 0] if free else [])
    cp.Problem(cp.Minimize(objective - t @ var), constraints).solve(solver=cp.CLARABEL)
    assert u == pytest.approx(var.value, abs=1e-4)
    assert rho * x == pytest.approx(r + Z.T @ u, abs=1e-8)


def test_rows_are_the_same_however_they_are_kept() -> None:
    rng = np.random.default_rng(1)
    from scipy.sparse import csr_array

    A = csr_array(rng.standard_normal((30, 9)) * (rng.random((30, 9)) < 0.4))
    at = rng.permutation(30)[:13]
    indptr, places = chosen(A.indptr, at)
    sparse = SparseRows(indptr, A.indices[places].astype(np.int64), A.data[places], 9)
    dense = DenseRows(A.toarray()[at])
    x, u, w = rng.standard_normal(9), rng.standard_normal(13), rng.random(13)
    np.testing.assert_allclose(sparse.times(x), dense.times(x), atol=1e-13)
    np.testing.assert_allclose(sparse.adjoint(u), dense.adjoint(u), atol=1e-13)
    np.testing.assert_allclose(np.tril(sparse.gram(w)), np.tril(dense.gram(w)), atol=1e-13)
    few = np.array([3, 1, 7])
    np.testing.assert_allclose(sparse.taken(few).times(x), dense.taken(few).times(x), atol=1e-13)
    np.testing.assert_allclose(sparse.best().times(x), dense.times(x), atol=1e-13)
    assert loops.rows_times is not kernel(loops.rows_times)


def test_bounds_are_those_of_the_verifier() -> None:
    from fwdsl.certify.verify import verify

    for loss in LOSSES:
        for intercept in ("none", "penalised", "free"):
            run = started(Linear(loss, intercept, C=4.0))
            for _ in range(14):
                run.step()
            x, ys = run.candidate()
            verified = verify(run.problem.canonical, x, ys)
            report = run.report()
            assert verified.primal == pytest.approx(report.objective, rel=1e-9)
            assert verified.dual == pytest.approx(report.bound, rel=1e-9) or intercept == "free"


def test_a_round_at_the_optimum_changes_nothing() -> None:
    """Rounding may make the gap negative there."""
    run = started(Linear(n=200, C=0.5))
    for _ in range(30):
        run.step()
    s = run.state
    value, s.bound = s.value, s.value + 1e-12 * abs(s.value)
    run._round(s)
    assert s.value == pytest.approx(value, rel=1e-9)


# --- runs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("loss", "intercept"), [("hinge", "free"), ("huber", "free"), ("squared_hinge", "none")])
def test_a_run_goes_on_bit_for_bit(loss: str, intercept: str, tmp_path: Path) -> None:
    bound = Linear(loss, intercept, n=500, C=20.0, storage="csr").bound()
    options = Options(method="dcd", tol=1e-9, threads=1)
    plan, form = bound.plan(method="dcd", tol=1e-9), bound.canonical
    saved: list[Path] = []

    def keep(state: Any) -> None:
        if state.iteration < 14 or state.iteration % 50 == 0:
            saved.append(tmp_path / f"{state.iteration}.npz")
            save_state(saved[-1], form, state)

    whole = solve(form, plan, options, on_state=keep)
    assert whole.status == "optimal" and len(saved) >= 2
    for file in saved[:14]:
        other = solve(form, plan, options, resume=load_state(file, form))
        assert np.array_equal(whole["w"], other["w"])
        numbers = [(s.iterations, s.objective, s.dual_bound) for s in (whole, other)]
        assert numbers[0] == numbers[1]
        assert whole.passes == pytest.approx(other.passes, rel=1e-12)


def test_limits_end_it_with_a_bound() -> None:
    bound = Linear("squared_hinge", n=300, C=1e4).bound()
    found = bound.solve(method="dcd", max_iter=2, threads=1)
    assert found.status == "tolerance_not_reached" and found.iterations == 2
    assert np.isfinite(found.objective) and found.dual_bound <= found.objective
    assert bound.solve(method="dcd", time=1e-9, threads=1).status == "tolerance_not_reached"


def test_an_interruption_ends_a_sweep_and_the_next_step_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fwdsl.backends.dcd.dcd.LOOK", 50)
    machine = Linear(n=200)
    whole, cut = started(machine), started(machine)
    asked = [0]

    def stop() -> bool:
        asked[0] += 1
        return asked[0] % 3 == 0

    while whole.state.sweeps < 5:
        whole._some(whole.state, 5, np.inf)
    cut.problem.pool.must_stop = stop
    cut.least = np.inf
    cut.state.interior_at, cut.state.check_at = 5, np.inf
    ended = 0
    while cut.state.sweeps < 5:
        ended += not cut._sweeps(cut.state)
    assert ended > 1 and asked[0] > 5 and np.array_equal(whole.state.v, cut.state.v)
    control = Control()
    control.stop = True
    bound = machine.bound()
    found = solve(bound.canonical, bound.plan(method="dcd"), Options(method="dcd", threads=1), control=control)
    assert found.status == "interrupted" and np.isfinite(found.objective)


def test_sweeps_that_close_the_gap_as_fast_as_the_interior_point_go_on() -> None:
    run = started(Linear(n=200))
    s, work = run.state, run.round_work
    for digits, is_fast in ((1.0, False), (100.0, True)):
        s.work = work
        s.trail = np.array([[0.1 * work, 1.0], [0.9 * work, 0.5], [work, 10.0**-digits]])
        assert run._is_fast(s) == is_fast
    # no certificate yet, or none that tells how fast
    s.trail = s.trail[1:]
    assert not run._is_fast(s)


def test_bounds_are_computed_where_they_are_due_by_the_work() -> None:
    run = started(Linear(n=200))
    s = run.state
    s.interior_at = -1
    looks = [s.work]
    for _ in range(40):
        run.step()
        looks += [s.trail[-1, 0]] if s.trail[-1, 0] > looks[-1] else []
    assert len(looks) > 3 and s.bound <= s.value * (1.0 + 1e-9)
    gaps = np.diff(looks)
    most = 2.0 * run.all + run.least
    assert np.all(gaps >= FIRST_CHECK * run.all) and np.all(gaps <= MOST_REST * run.all + most)


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_a_visit_is_work_of_its_own_beside_the_numbers_of_its_row(storage: str) -> None:
    run = started(Linear(n=200, storage=storage))
    counter = run.machine.sum.operator.counter
    s, before = run.state, counter.touched
    run._some(s, 1, np.inf)
    numbers = counter.touched - before
    assert s.sweeps == 1 and numbers >= run.problem.canonical.nnz
    assert s.work == numbers + costs.VISIT * 200
    assert run.all == run.problem.canonical.nnz + costs.VISIT * 200


@pytest.mark.parametrize("storage", ["dense", "csr"])
def test_products_by_rows_are_those_of_the_adjoint(storage: str) -> None:
    m = started(Linear(n=60, storage=storage, k=-0.7)).machine
    v = np.random.default_rng(0).standard_normal(60) * (np.arange(60) % 3 == 0)
    np.testing.assert_allclose(m.adjoint(v), m.sum.adjoint(v), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize(
    "loss",
    ["hinge", "squared_hinge", "huber", "squared", "logistic", "absolute", "quantile", "epsilon_insensitive"],
)
@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_best_intercept_is_a_root_of_the_slope(loss: str, scale: float) -> None:
    rng = np.random.default_rng(1)
    n, signs = 150, loss in ("hinge", "squared_hinge", "logistic")
    y = np.sign(rng.standard_normal(n)) if signs else scale * rng.standard_normal(n)
    text = f"data X: matrix[n, p], y: {'signs' if signs else 'vector'}[n]\nvar w: vector[p]\n"
    bound = fw.parse(f"{text}minimize sum({loss}(X @ w, y)) + sum_squares(w)").bind(X=rng.standard_normal((n, 2)), y=y)
    (f,) = PreparedProblem(bound.canonical, 1).functions
    assert isinstance(f, FastLoss)
    z, out = scale * rng.standard_normal(n), np.empty(n)

    def slope(t: float) -> float:
        f.value_gradient(z + t, out)
        return float(out.sum()) + 0.3

    for guess, width in ((0.0, 1e-3), (5.0 * scale, 1.0), (1.3, 1e-9)):
        t = best_shift(f, z, 0.3, guess, width)
        unit = 1e-13 * max(float(np.abs(z).max()), float(np.abs(y).max()), abs(guess), abs(t))
        assert slope(t - unit) <= 1e-12 * n and slope(t + unit) >= -1e-12 * n


@pytest.mark.parametrize("place", [0.0, 1.0, -3e8, 1e-9])
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("total", [0.3, -0.3, -5.0])
def test_the_best_intercept_of_samples_that_are_all_alike(n: int, place: float, total: float) -> None:
    """All corners are one, and an interval of no width, or of less than rounding beside its ends, still grows until it has them."""
    text = "data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize sum(absolute(X @ w, y)) + sum_squares(w)"
    bound = fw.parse(text).bind(X=np.ones((n, 1)), y=np.full(n, place))
    (f,) = PreparedProblem(bound.canonical, 1).functions
    assert isinstance(f, FastLoss)
    for guess in (place, 0.0, 1e9):
        for width in (0.0, 1e-300, 1.0):
            assert best_shift(f, np.zeros(n), total, guess, width) == pytest.approx(place, rel=1e-12, abs=1e-300)


def test_a_warm_start_begins_where_the_last_solve_ended() -> None:
    machine = Linear(n=300, intercept="penalised")
    first = machine.bound().solve(method="dcd", threads=1)
    again = machine.bound().solve(method="dcd", threads=1, start=first)
    assert again.status == "optimal" and again.iterations <= 1
    by_values = machine.bound().solve(method="dcd", threads=1, start={"w": first["w"], "b": first["b"]})
    assert by_values.status == "optimal"


def test_where_no_multipliers_balance_the_intercept_others_show_that_there_is_no_minimum() -> None:
    bound = Linear("hinge", "free", q_b=-1e4).bound()
    assert "no minimum" in {c.name: c.reasons for c in bound.plan().candidates}["dcd"][0]
    assert bound.solve(threads=1).status == "unbounded"


@pytest.mark.parametrize("loss", ["hinge", "absolute"])
def test_sweeps_find_the_multiplier_of_an_intercept(loss: str) -> None:
    """With weak samples hardly one is near a corner, and what sweeps keep must be the optimum of the problem with its equality."""
    rng = np.random.default_rng(1)
    X = sp.random(4000, 200, 0.05, format="csr", random_state=2, data_rvs=rng.standard_normal)
    z = X @ rng.standard_normal(200)
    z = z / np.std(z) + 0.7 * rng.standard_normal(4000) + 0.5
    text = (
        "data X: matrix[n, p], y: vector[n]\nparam C: positive\nvar w: vector[p], b: real\n"
        f"minimize 1/2 * sum_squares(w) + C * sum({loss}(X @ w + b, y))\n"
    )
    if loss == "hinge":
        text, z = text.replace("y: vector[n]", "y: signs[n]"), np.where(z > 0.0, 1.0, -1.0)
    bound = fw.parse(text).bind(X=X, y=z, C=0.1 * 4000 / np.square(X.data).sum())
    found = bound.solve(method="dcd", tol=1e-7, threads=1, max_iter=60)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(bound.solve(method="pdhg", tol=1e-7, threads=1).objective, rel=1e-6)


@pytest.mark.parametrize("loss", ["hinge", "absolute", "squared_hinge"])
@pytest.mark.parametrize("unit", [1e-6, 1e6])
def test_predictions_have_no_units(loss: str, unit: float) -> None:
    """Data in another unit, with the weight that makes the same problem of them, and a longer sum of losses and squares."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 20)), np.sign(rng.standard_normal(300))
    text = (
        "data X: matrix[n, p], y: signs[n]\nparam C: positive, mu: positive\nvar w: vector[p]\n"
        f"minimize mu * sum_squares(w) + C * sum({loss}(X @ w, y))\n"
    )
    text = text.replace("y: signs[n]", "y: vector[n]") if loss == "absolute" else text

    def predicted(**data: Any) -> tuple[float, float]:
        found = DCD.estimate(fw.parse(text).bind(y=y, **data).canonical, 1e-6)
        return found.passes, found.seconds

    here = predicted(X=X, C=0.1, mu=0.5)
    assert predicted(X=unit * X, C=0.1, mu=0.5 * unit**2) == pytest.approx(here, rel=1e-9)
    assert predicted(X=X, C=0.1 * unit, mu=0.5 * unit) == pytest.approx(here, rel=1e-9)
    harder = predicted(X=X, C=10.0, mu=0.5)
    assert harder[1] >= here[1]
    # with corners a round of the interior point stands for many passes
    assert harder[0] >= here[0] or loss != "squared_hinge"


@pytest.mark.parametrize("loss", ["hinge", "absolute"])
@pytest.mark.parametrize("intercept", ["", " + b"])
def test_few_sweeps_come_before_a_round_of_everything(loss: str, intercept: str) -> None:
    """A round whose block is all samples needs no sweeps, which alone take for ever where the ridge is weak."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((200, 30))
    z = X @ rng.standard_normal(30) + rng.standard_normal(200)
    of_b = ", b: real" if intercept else ""
    kind, y = ("signs", np.sign(z)) if loss == "hinge" else ("vector", z)
    text = (
        f"data X: matrix[n, p], y: {kind}[n]\nvar w: vector[p]{of_b}\n"
        f"minimize 1/2 * sum_squares(w) + 1000 * sum({loss}(X @ w{intercept}, y))\n"
    )
    bound = fw.parse(text).bind(X=X, y=y)
    assert sweeps_first(bound.canonical) < 20
    found = bound.solve(method="dcd", tol=1e-8, threads=1)
    assert found.status == "optimal"
    other = bound.solve(method="interior", tol=1e-8, threads=1)
    assert found.objective == pytest.approx(other.objective, rel=1e-7)
