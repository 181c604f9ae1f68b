"""`smo` against cvxpy, against its formulas in NumPy, and under limits, interruptions and small caches."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.losses import LOSSES as ATOMS
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.pool import Stopped
from fwdsl.backends.smo import loops
from fwdsl.backends.smo.free_set import newton_step
from fwdsl.backends.smo.problem import ExpansionProblem
from fwdsl.backends.smo.rows import GramRows
from fwdsl.backends.smo.smo import INNER, SMO, SMORun
from fwdsl.canon.form import Expansion
from fwdsl.certify.expansion import dual_point, verify_expansion
from fwdsl.features.gram import GramOperator, Rbf
from fwdsl.model.options import Options
from fwdsl.solve import Control, solve
from fwdsl.solve.state import load_state, save_state
from tests.smo.problems import LOSSES, MAPS, Machine


def agrees(machine: Machine, tol: float = 1e-7, **options: Any) -> fw.Solution:
    found = machine.bound().solve(method="smo", tol=tol, threads=1, **options)
    assert found.status == "optimal" and found.method == "smo"
    assert found.objective == pytest.approx(machine.optimum(), rel=1e-5, abs=1e-6)
    return found


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_reaches_the_optimum(loss: str, intercept: bool) -> None:
    agrees(Machine(loss, intercept=intercept, seed=len(loss)))


@pytest.mark.parametrize("map_", MAPS)
@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_every_map_reaches_the_optimum(loss: str, map_: str) -> None:
    agrees(Machine(loss, map=map_, p=6, n=20))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "quantile", "epsilon_insensitive"])
def test_weights_numbers_and_constants_are_part_of_the_problem(loss: str) -> None:
    agrees(Machine(loss, k=-0.7, d=2.0, mu=0.3, mean=True, C=30.0, weighted=True, shifted=True, seed=5))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "smooth_hinge"])
def test_a_linear_term_in_the_intercept_is_the_sum_of_the_dual(loss: str) -> None:
    machine = Machine(loss, q=-2.5, d=-1.0, seed=3)
    agrees(machine)
    agrees(replace(machine, q=2.5))


def test_the_one_class_machine() -> None:
    import cvxpy as cp

    machine, nu = Machine(n=30, seed=8), 0.3
    X = machine.data["X"]
    text = """data X: matrix[n, p]
param nu: positive
let Phi = rbf(X, gamma=0.4)
var w: vector[dim(Phi)], rho: real
minimize 1/2 * sum_squares(w) - rho + 1/nu * mean(hinge(Phi @ w - rho + 1, ones(n)))"""
    bound = fw.parse(text).bind(X=X, nu=nu)
    found = bound.solve(threads=1, tol=1e-8)
    assert found.method == "smo" and found.status == "optimal"
    a = cp.Variable(30)
    K = machine.gram()
    problem = cp.Problem(
        cp.Maximize(-0.5 * cp.quad_form(a, cp.psd_wrap(K))), [a >= 0, a <= 1 / (nu * 30), cp.sum(a) == 1]
    )
    problem.solve(solver=cp.CLARABEL)
    assert found.objective == pytest.approx(float(problem.value), rel=1e-6)
    # no slopes reach the equality: below every bound there is a better point
    assert fw.parse(text).bind(X=X, nu=1.5).solve(threads=1).status == "unbounded"


def test_the_planner_chooses_it_and_says_why() -> None:
    machine = Machine(n=60)
    plan = machine.bound().plan()
    assert plan.method == "smo" and "nothing is factored" in plan.why
    # a space of three features is no kernel machine beside 60 samples: its coordinates are written down
    assert machine.bound().canonical.dense is not None
    small = replace(machine, map="linear").bound().plan()
    able = {c.name: c.estimate for c in small.candidates if c.applies and not c.by_name_only}
    assert set(able) >= {"smo", "pdhg", "dcd"} and all(e is not None for e in able.values())
    other = fw.parse(machine.text.replace("hinge", "logistic")).bind(**machine.data).plan()
    assert other.method != "smo"
    reasons = {c.name: c.reasons for c in other.candidates}["smo"]
    assert "no piecewise dual" in reasons[0]


def test_the_dense_methods_find_the_same() -> None:
    machine = Machine(n=30)
    bound = machine.bound()
    one, other = bound.solve(method="smo", threads=1), bound.solve(method="pdhg", threads=1, tol=1e-7)
    assert one.objective == pytest.approx(other.objective, rel=1e-5)
    z = machine.gram() @ one["w"] + one["b"]
    assert z == pytest.approx(machine.gram() @ other["w"] + other["b"], abs=1e-2)


def test_named_terms_have_their_values() -> None:
    machine = Machine(q=-1.0)
    text = machine.text.replace("minimize", "let size = sum_squares(w)\nlet price = -b\nminimize")
    text = text.replace("0.5 * sum_squares(w)", "0.5 * size").replace(" + -1 * b", " + price")
    found = fw.parse(text).bind(**machine.data).solve(threads=1)
    a = found["w"]
    assert found.terms["size"] == pytest.approx(0.5 * a @ machine.gram() @ a, rel=1e-9)
    assert found.terms["price"] == pytest.approx(-found["b"], rel=1e-9)


# --- formulas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n, loss in ATOMS.items() if loss.dual_kink is not None])
def test_conjugates_are_as_their_facts_say(name: str) -> None:
    loss = ATOMS[name]
    rng = np.random.default_rng(0)
    p = np.full(len(loss.word.options), 0.4)
    b = np.where(rng.random(200) < 0.5, 1.0, -1.0) if loss.word.target == "signs" else rng.standard_normal(200)
    lo, hi = loss.dual_bounds_naive(b, p)
    u = np.clip(rng.standard_normal(200), lo, hi)
    s = 0.0 if loss.smoothness is None else 1.0 / loss.smoothness
    assert loss.dual_kink is not None
    expected = 0.5 * s * u * u + b * u + loss.dual_kink(p) * np.abs(u)
    np.testing.assert_allclose(loss.conjugate_naive(u, b, p), expected, atol=1e-14)


def form_of(machine: Machine) -> Expansion:
    form = machine.bound().canonical.expansion
    assert form is not None
    return form


def started(machine: Machine, cache: float = 256.0, working: int = 512) -> SMORun:
    form = form_of(machine)
    problem = ExpansionProblem(form, 1)
    run = SMO.start(problem, {"cache": cache, "working": working}, np.zeros(form.size))
    assert isinstance(run, SMORun)
    return run


def naive_block(Q: Any, g: Any, v: Any, lo: Any, hi: Any, e: float, steps: int, pairs: bool) -> Any:
    """A few steps of SMO by their formulas."""
    v, g = v.copy(), g.copy()
    for _ in range(steps):
        up = np.where(v >= hi, np.inf, g + np.where(v >= 0, e, -e))
        down = np.where(v <= lo, -np.inf, g + np.where(v > 0, e, -e))
        if pairs:
            i = int(np.argmin(up))
            over = np.maximum(down - up[i], 0.0)
            j = int(np.argmax(over**2 / np.maximum(Q[i, i] + np.diag(Q) - 2 * Q[i], 1e-14)))
            step = over[j] / (Q[i, i] + Q[j, j] - 2 * Q[i, j])
            step = min(step, (0.0 if e and v[i] < 0 else hi[i]) - v[i], v[j] - (0.0 if e and v[j] > 0 else lo[j]))
            v[i], v[j], g = v[i] + step, v[j] - step, g + step * (Q[i] - Q[j])
        else:
            over = np.maximum(np.maximum(down, -up), 0.0)
            i = int(np.argmax(over**2 / np.diag(Q)))
            sign = 1.0 if -up[i] >= down[i] else -1.0
            end = hi[i] if sign > 0 else lo[i]
            end = 0.0 if e and v[i] * sign < 0 else end
            step = sign * min(over[i] / Q[i, i], abs(end - v[i]))
            v[i], g = v[i] + step, g + step * Q[i]
    return v


@pytest.mark.parametrize("pairs", [True, False])
@pytest.mark.parametrize("e", [0.0, 0.3])
def test_steps_on_a_block_are_those_of_the_formulas(e: float, pairs: bool) -> None:
    rng = np.random.default_rng(4)
    A = rng.standard_normal((12, 9))
    Q, lo, hi = A @ A.T + 0.2 * np.eye(12), -rng.random(12), rng.random(12)
    v = np.where(rng.random(12) < 0.5, 0.0, 0.5 * (lo + hi) * rng.random(12))
    g = Q @ v - 3.0 * rng.standard_normal(12)
    for steps in (1, 2, 5, 9):
        expected = naive_block(Q, g, v, lo, hi, e, steps, pairs)
        found, slopes, room = v.copy(), g.copy(), (np.empty(12), np.empty(12))
        solver = kernel(loops.pairs if pairs else loops.singles, fuse=True)
        assert solver(Q, slopes, found, lo, hi, e, *room, 0.0, steps) == steps
        np.testing.assert_allclose(found, expected, atol=1e-12)
        np.testing.assert_allclose(slopes, g + Q @ (expected - v), atol=1e-12)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_step_lowers_the_violation_of_its_working_set(loss: str, intercept: bool) -> None:
    machine = Machine(loss, intercept=intercept, n=50, seed=2, C=0.8)
    run = started(machine, working=10)
    problem, s = run.problem, run.state
    Q = problem.kappa * machine.gram() + np.diag(problem.s)
    for _ in range(4):
        violation, bound = run._violation(*run._slopes(s)), s.bound
        run.step()
        assert s.working.size <= 10 and np.unique(s.working).size == s.working.size
        assert s.bound >= bound - 1e-12
        np.testing.assert_allclose(s.g, Q @ s.v - problem.t, atol=1e-11)
        assert np.all((s.v >= problem.lo) & (s.v <= problem.hi))
        if intercept:
            assert s.v.sum() == pytest.approx(0.0, abs=1e-12)
        if not s.polished:
            up, down = run._slopes(s)
            assert run._violation(up[s.working], down[s.working]) <= INNER * violation + 1e-12


def test_the_bounds_are_those_of_the_verifier() -> None:
    for loss in LOSSES:
        run = started(Machine(loss, seed=4))
        for _ in range(3):
            run.step()
        form = run.problem.form
        x, _ = run.candidate()
        _, verified = verify_expansion(form, x)
        assert verified.primal == pytest.approx(run.state.value, rel=1e-9)
        assert verified.dual == pytest.approx(run.state.bound, rel=1e-9)


def test_newtons_step_is_the_minimum_over_the_free_entries() -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((6, 6))
    Q, g, v = A @ A.T + np.eye(6), rng.standard_normal(6), np.zeros(6)
    wide = np.full(6, 100.0)
    step = newton_step(Q, g, v, -wide, wide, True)
    assert step is not None and step.sum() == pytest.approx(0.0, abs=1e-12)
    slope = Q @ step + g
    assert slope == pytest.approx(np.full(6, slope.mean()), abs=1e-9)
    tight = newton_step(Q, g, v, -0.05 * np.ones(6), 0.05 * np.ones(6), False)
    assert tight is not None and np.all(np.abs(tight) <= 0.05) and g @ tight + 0.5 * tight @ Q @ tight < 0.0


def test_the_verifier_makes_a_dual_point_that_meets_its_equality() -> None:
    form = form_of(Machine("hinge", weighted=True))
    rng = np.random.default_rng(1)
    y = dual_point(form, form.joined(rng.standard_normal(form.n), 0.3))
    assert abs(y.sum()) <= 1e-14 * np.abs(y).sum()
    lo, hi = form.f.dual_bounds()
    assert np.all((y >= lo) & (y <= hi)) and np.isfinite(form.f.conjugate(y))
    # a point with any intercept is no better than the bound
    _, verified = verify_expansion(form, form.joined(-y, 0.3))
    assert verified.dual <= verified.primal


# --- rows -------------------------------------------------------------------------------------------------------------


def test_kept_rows_are_those_of_the_gram_matrix_whatever_the_order() -> None:
    from scipy.sparse import csr_array

    rng = np.random.default_rng(0)
    dense = rng.standard_normal((90, 5)) * (rng.random((90, 5)) < 0.5)
    for X in (dense, csr_array(dense), np.asfortranarray(dense.astype(np.float32))):
        gram = GramOperator(X, Rbf(0.3))
        K = gram.toarray()
        few, many = GramRows(gram, 8.0 * 90 * 10), GramRows(gram, 1e9)
        assert few.slots == 10 and many.slots == 90
        most = rng.permutation(90)[:60]
        np.testing.assert_allclose(few.block(gram, most, lambda: None), K[np.ix_(most, most)], atol=1e-12)
        np.testing.assert_allclose(many.block(gram, most, lambda: None), K[np.ix_(most, most)], atol=1e-12)
        # a block of most samples keeps their rows, one that has no room keeps none
        assert np.all(many.slot_of[most] >= 0) and np.all(few.slot_of < 0)
        for _ in range(4):
            at = rng.permutation(90)[:40]
            step, one, other = rng.standard_normal(40), np.zeros(90), np.zeros(90)
            few.add(gram, at, step, lambda: None, one)
            many.add(gram, at, step, lambda: None, other)
            np.testing.assert_allclose(one, K[:, at] @ step, atol=1e-12)
            np.testing.assert_allclose(other, one, atol=1e-12)
            np.testing.assert_allclose(many.block(gram, at, lambda: None), K[np.ix_(at, at)], atol=1e-12)
        np.testing.assert_allclose(gram.combine(one), K @ one, atol=1e-11)


def test_blocks_are_scaled_and_that_of_all_samples_is_no_copy() -> None:
    rng = np.random.default_rng(1)
    gram = GramOperator(rng.standard_normal((90, 5)), Rbf(0.3))
    K = gram.toarray()
    few, many = GramRows(gram, 8.0 * 90 * 10), GramRows(gram, 1e9)
    for size in (30, 70, 90):
        at, extra = np.sort(rng.permutation(90)[:size]), rng.random(size)
        for rows in (few, many):
            found = rows.block(gram, at, lambda: None, 1.7, extra)
            np.testing.assert_allclose(found, 1.7 * K[np.ix_(at, at)] + np.diag(extra), atol=1e-12)
    whole = GramRows(gram, 1e9)
    assert whole.block(gram, np.arange(90), lambda: None) is whole.store
    np.testing.assert_allclose(whole.store, K, atol=1e-12)


def test_a_record_brings_the_same_rows_back_to_the_last_digit() -> None:
    rng = np.random.default_rng(0)
    gram = GramOperator(rng.standard_normal((300, 37)), Rbf(0.02))
    one, other = GramRows(gram, 8.0 * 300 * 50), GramRows(gram, 8.0 * 300 * 50)
    orders = [rng.permutation(300)[: rng.integers(1, 40)] for _ in range(30)]
    for k, order in enumerate(orders):
        if k == 20:
            other.restore(gram, one.record(), lambda: None)
        for rows in (one, other) if k >= 20 else (one,):
            rows.add(gram, order, np.ones(order.size), lambda: None, np.zeros(300))
        if k >= 20:
            assert np.array_equal(one.record(), other.record())
            at = one.row_in >= 0
            assert np.array_equal(one.store[at], other.store[at])


def test_a_block_of_most_samples_computes_all_rows_at_once_and_so_does_its_record() -> None:
    rng = np.random.default_rng(3)
    gram = GramOperator(rng.standard_normal((300, 37)), Rbf(0.02))
    K = gram.toarray()
    one, other = GramRows(gram, 1e9), GramRows(gram, 1e9)
    most = np.sort(rng.permutation(300)[:160])
    np.testing.assert_allclose(one.block(gram, most, lambda: None), K[np.ix_(most, most)], atol=1e-12)
    assert one.filled == 300
    np.testing.assert_allclose(one.store, K, atol=1e-12)
    assert np.array_equal(one.store, one.store.T)
    other.add(gram, most[:5], np.ones(5), lambda: None, np.zeros(300))
    other.restore(gram, one.record(), lambda: None)
    assert np.array_equal(one.store, other.store) and np.array_equal(one.record(), other.record())


def test_all_rows_that_are_wanted_in_another_order_are_in_their_own_slots() -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((40, 3))
    from scipy.sparse import csr_array

    for data in (X, csr_array(X), csr_array(np.zeros((40, 3)))):
        gram = GramOperator(data, Rbf(0.4))
        rows, order, step, found = GramRows(gram, 1e9), rng.permutation(40), rng.standard_normal(40), np.zeros(40)
        rows.add(gram, order, step, lambda: None, found)
        np.testing.assert_allclose(found, gram.toarray()[:, order] @ step, atol=1e-12)
        other = GramRows(gram, 1e9)
        other.restore(gram, rows.record(), lambda: None)
        assert np.array_equal(rows.store, other.store)


def test_rows_are_made_again_in_the_order_of_their_batch_whatever_slots_they_are_in() -> None:
    rng = np.random.default_rng(4)
    gram = GramOperator(rng.standard_normal((200, 11)), Rbf(0.05))
    K = gram.toarray()
    one, other = GramRows(gram, 8.0 * 200 * 30), GramRows(gram, 8.0 * 200 * 30)
    for wanted in (np.arange(12), np.arange(50, 65), np.array([70, 3, 66, 1, 68, 5, 60, 0]), np.array([9, 90, 8, 91])):
        one.add(gram, wanted, np.ones(wanted.size), lambda: None, np.zeros(200))
    other.restore(gram, one.record(), lambda: None)
    there = np.flatnonzero(one.row_in >= 0)
    np.testing.assert_allclose(other.store[there], K[one.row_in[there]], atol=1e-12)
    assert np.array_equal(one.store[there], other.store[there])


def test_a_small_cache_changes_nothing_but_the_work() -> None:
    machine = Machine(n=120, C=10.0)
    found = [machine.bound().solve(method="smo", cache=c, threads=1, tol=1e-9) for c in (256.0, 0.01, 0.0)]
    assert all(f.status == "optimal" for f in found)
    for other in found[1:]:
        assert other.objective == pytest.approx(found[0].objective, rel=1e-9)


def test_rows_serve_the_next_solve_on_the_same_data() -> None:
    machine = Machine(n=80)
    bound = machine.bound()
    bound.solve(method="smo", threads=1)
    gram = bound.canonical.expansion.gram
    kept = GramRows.taken(gram, 256e6)
    assert kept.filled > 0
    kept.give_back(gram)
    again = bound.solve(method="smo", threads=1)
    assert again.status == "optimal" and GramRows.taken(gram, 256e6) is kept


# --- runs -------------------------------------------------------------------------------------------------------------


def test_a_run_goes_on_bit_for_bit(tmp_path: Path) -> None:
    bound = Machine("epsilon_insensitive", n=150, C=20.0).bound()
    own = {"working": 16, "cache": 0.05}
    options = Options(method="smo", method_options=own, tol=1e-9, threads=1)
    plan = bound.plan(method="smo", working=16, cache=0.05, tol=1e-9)
    form = bound.canonical
    saved: list[Path] = []

    def keep(state: Any) -> None:
        if state.iteration < 4 or state.iteration % 7 == 0:
            saved.append(tmp_path / f"{state.iteration}.npz")
            save_state(saved[-1], form, state)

    whole = solve(form, plan, options, on_state=keep)
    assert whole.status == "optimal" and len(saved) >= 4
    for file in saved[:8]:
        other = solve(form, plan, options, resume=load_state(file, form))
        assert np.array_equal(whole["w"], other["w"]) and whole["b"] == other["b"]
        assert (whole.iterations, whole.objective, whole.dual_bound) == (
            other.iterations,
            other.objective,
            other.dual_bound,
        )
        assert whole.passes == pytest.approx(other.passes, rel=1e-12)


def test_limits_end_it_with_a_bound() -> None:
    bound = Machine(n=150, C=50.0).bound()
    found = bound.solve(method="smo", working=8, max_iter=3, threads=1)
    assert found.status == "tolerance_not_reached" and found.iterations == 3
    assert np.isfinite(found.objective) and np.isfinite(found.dual_bound) and found.dual_bound <= found.objective
    assert bound.solve(method="smo", time=1e-9, threads=1).status == "tolerance_not_reached"


def test_an_interruption_ends_it_within_a_step() -> None:
    bound = Machine(n=60).bound()
    control = Control()
    control.stop = True
    plan = bound.plan(method="smo")
    found = solve(bound.canonical, plan, Options(method="smo", threads=1), control=control)
    assert found.status == "interrupted" and np.isfinite(found.objective)
    asked = [0]
    run = started(Machine(n=60))
    before = {name: np.copy(value) for name, value in vars(run.state).items()}

    def stop() -> bool:
        asked[0] += 1
        return True

    run.problem.pool.must_stop = stop
    with pytest.raises(Stopped):
        run.step()
    assert asked[0] and all(np.array_equal(before[name], value) for name, value in vars(run.state).items())


def test_a_warm_start_begins_where_the_last_solve_ended() -> None:
    machine = Machine(n=100)
    first = machine.bound().solve(method="smo", threads=1)
    again = machine.bound().solve(method="smo", threads=1, start=first)
    assert again.iterations == 0 and again.status == "optimal"
    harder = replace(machine, C=3.0).bound()
    near, far = harder.solve(threads=1, start=first), harder.solve(threads=1)
    assert near.objective == pytest.approx(far.objective, rel=1e-6)
    by_values = harder.solve(threads=1, start={"w": far["w"], "b": far["b"]}, tol=1e-6)
    assert by_values.status == "optimal" and by_values.iterations <= far.iterations
    with pytest.raises(fw.DataError):
        harder.solve(start={"w": np.zeros(3)})
    with pytest.raises(fw.DataError):
        harder.solve(start={"u": 1.0})


def test_few_entries_are_worked_on_where_the_equality_needs_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sum of bounded entries says how many have a part; a sum of 0 does not. The optimum is the same."""
    monkeypatch.setattr("fwdsl.backends.smo.smo.FEW", 8)
    machine = Machine(n=80, q=-4.0)
    run = started(machine)
    needed = math.ceil(
        4.0 * abs(run.problem.total) / float(np.abs(run.problem.hi if run.problem.total > 0 else run.problem.lo).max())
    )
    assert run.size == min(80, max(8, needed)) < 80
    assert started(Machine(n=80)).size == 80
    few = machine.bound().solve(method="smo", threads=1, tol=1e-8)
    monkeypatch.setattr("fwdsl.backends.smo.smo.FEW", 80)
    assert few.objective == pytest.approx(machine.bound().solve(method="smo", threads=1, tol=1e-8).objective, rel=1e-7)


def test_newtons_method_waits_until_steps_have_cost_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine("squared_hinge", n=80)
    used: list[int] = []
    plain = SMORun._polish
    monkeypatch.setattr(SMORun, "_polish", lambda *a: used.append(1) or plain(*a))
    monkeypatch.setattr("fwdsl.backends.smo.smo.FASTER", 1e-12)
    late = machine.bound().solve(method="smo", threads=1, tol=1e-9)
    assert late.status == "optimal" and not used
    monkeypatch.setattr("fwdsl.backends.smo.smo.FASTER", 1e12)
    early = machine.bound().solve(method="smo", threads=1, tol=1e-9)
    assert early.status == "optimal" and used
    assert late.objective == pytest.approx(early.objective, rel=1e-8)
