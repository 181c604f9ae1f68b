"""Whole runs of the interior-point method: against the oracle, in other units, without a solution, resumed and stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array

import fwdsl as fw
from fwdsl.backends.interior.directions import scalings_of
from fwdsl.backends.interior.run import DEAR, LONG_PATIENCE, PATIENCE, SPAN, InteriorRun, _written_rows
from fwdsl.backends.interior.sizes import Size, size_of, unreadable
from fwdsl.backends.registry import METHODS
from fwdsl.canon.form import Canonical
from fwdsl.certify.verify import verify
from tests.corpus import corpus
from tests.runs import resumed, started, stepped

LP = """data A: matrix[m, n], b: vector[m], q: vector[n]
var x: vector[n] in nonnegative
minimize dot(q, x)
subject to A @ x >= b
"""


def lp(m: int, n: int, seed: int = 0) -> fw.Problem:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((m, n))
    return fw.parse(LP).bind(A=A, b=A @ rng.random(n) - rng.random(m), q=A.T @ rng.random(m))


@pytest.mark.parametrize("program", corpus()[::4], ids=lambda p: p.name)
def test_it_solves_every_program_with_a_conic_form(program) -> None:  # type: ignore[no-untyped-def]
    """As well as the planner's choice among the others does."""
    problem = fw.parse(program.text).bind(**program.data)
    if unreadable(problem.canonical.dense):
        with pytest.raises(fw.FwError, match="FW5003"):
            problem.solve(method="interior")
        return
    found, other = problem.solve(method="interior"), problem.solve(method="pdhg")
    assert found.status == other.status == "optimal"
    assert found.objective == pytest.approx(other.objective, rel=4e-6, abs=2e-6 * found.certificate.scale)


@pytest.mark.parametrize(("m", "n"), [(12, 5), (90, 60), (400, 100)])
def test_systems_of_every_kind_give_the_same_optimum(m: int, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole, condensed and sparse."""
    problem = lp(m, n)
    expected = problem.solve(method="interior", tol=1e-8)
    assert expected.status == "optimal"
    for kind in ("whole", "condensed", "sparse"):
        monkeypatch.setattr("fwdsl.backends.interior.run.size_of", lambda form, kind=kind: sized(form, kind))
        found = problem.solve(method="interior", tol=1e-8)
        assert found.status == "optimal"
        assert found.objective == pytest.approx(expected.objective, rel=1e-7)


def sized(form: Canonical, kind: str) -> Size:
    """The size of a program with another kind of system."""
    return size_of(form)._replace(kind=kind)


SEPARATE = {
    "quantile": "mean(quantile(A @ x + c, b, tau=0.3))",
    "hinge, norm1": "mean(hinge(A @ x + c, s)) + 0.02 * norm1(x)",
    "huber, box": "sum(huber(A @ x - x[0], b, delta=0.5)) + 0.1 * norm1(x[1:] - x[:-1]) + dot(b[0:1], x[0:1])",
    "two losses, equations": "mean(absolute(A @ x, b)) + mean(squared_hinge(A @ x, s)) + 0.01 * norm2(x) + 0 * c",
    "logistic": "mean(logistic(A @ x + c, s)) + 0.02 * norm1(x)",
    "poisson, absolute": "mean(poisson(A @ x, k)) + mean(absolute(A @ x, b)) + 0.5 * norm2(x) + 0 * c",
    "the largest": "sum_largest(A @ x, 7) + 0.02 * norm1(x) + sum_squares(c)",
    "the largest of two": "sum_largest(A @ x, 5) + sum_largest(b - A @ x, 4) + mean(absolute(A @ x, b)) + 0.5 * norm2(x) + 0 * c",
    "epsilon": "sum(epsilon_insensitive(A @ x + c, b, eps=0.2)) + 0.1 * norm_inf(x) + 0.05 * sum_squares(x)",
}


@pytest.mark.parametrize("name", SEPARATE)
def test_unknowns_of_single_entries_are_eliminated_exactly(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The reduced system has the answers of the whole one, at the start and at a scaling that is far from one."""
    rng = np.random.default_rng(5)
    A, b = rng.standard_normal((40, 6)), rng.standard_normal(40)
    text = (
        "data A: matrix[n, d], b: vector[n], s: signs[n], k: vector[n]\nvar x: vector[d], c: real\n"
        f"minimize {SEPARATE[name]}\nsubject to sum(x) == 1, x <= 2, c <= 5\n"
    )
    data = {"A": A, "b": b, "s": np.sign(b), "k": np.round(np.abs(b))}
    problem = fw.parse(text).bind(**data)
    answers = {}
    for kind in ("whole", "reduced"):
        monkeypatch.setattr("fwdsl.backends.interior.run.size_of", lambda form, kind=kind: sized(form, kind))
        run = stepped(problem, "interior", 4)
        assert isinstance(run, InteriorRun)
        draw = np.random.default_rng(1)
        p, r = draw.standard_normal(run.c.size), draw.standard_normal(run.b.size)
        answers[kind] = run.systems.at(run.batches, scalings_of(run.batches, run.state.s, run.state.z))(p, r)
        found = problem.solve(method="interior", tol=1e-8)
        assert found.status == "optimal"
        run.state.v, run.state.z = p, r
        missed = run._missed()
        answers[kind] = (*answers[kind], np.array([found.objective]), missed.Av, missed.Az)
    for whole, reduced in zip(answers["whole"], answers["reduced"], strict=True):
        assert reduced == pytest.approx(whole, rel=1e-6, abs=1e-6 * float(np.abs(whole).max()))


def test_a_step_solves_the_linearised_equations() -> None:
    """A x + s - tau b and P x + A'z + tau c shrink by the same share: 1 - (1 - sigma) times the step, whatever it is."""
    run = stepped(lp(8, 4), "interior", 2)
    assert isinstance(run, InteriorRun)

    def residuals() -> np.ndarray:
        now = run.state
        left = run.P @ now.v + run.A.T @ now.z + now.tau * run.c
        return np.concatenate([left, run.A @ now.v + now.s - now.tau * run.b])

    before = residuals()
    run.step()
    after = residuals()
    share = float(after @ before) / float(before @ before)
    assert 0.0 <= share < 1.0
    assert after == pytest.approx(share * before, abs=1e-9 * float(np.abs(before).max()))


def test_slopes_have_their_signs_before_the_end() -> None:
    """Of unknowns that are not at their bounds they vanish, and what the equations miss outweighs them: the candidate has none of it."""
    run = stepped(lp(100, 100), "interior", 1)
    assert isinstance(run, InteriorRun)
    while not run._is_near():
        run.step()
    x, ys = run.candidate()
    canonical = run.problem.canonical
    assert np.isfinite(verify(canonical, x, ys).dual)
    plain = run.program.multipliers(*run._unscaled(run.state.v, run.state.z, run.state.tau))
    assert not np.isfinite(verify(canonical, x, plain).dual)


def test_trend_filtering_of_two_thousand_points() -> None:
    """Sparse systems; first-order steps take seconds and thousands of iterations here."""
    n, rng = 2000, np.random.default_rng(3)
    y = np.cumsum(np.cumsum(rng.standard_normal(n) * (rng.random(n) < 0.02))) + rng.standard_normal(n)
    D = csr_array(
        diags_array([np.ones(n - 2), -2.0 * np.ones(n - 2), np.ones(n - 2)], offsets=[0, 1, 2], shape=(n - 2, n))
    )
    text = (
        "data D: matrix[m, n], y: vector[n]\nvar x: vector[n]\nminimize 0.5 * sum_squares(x - y) + 50 * norm1(D @ x)\n"
    )
    problem = fw.parse(text).bind(D=D, y=y)
    found = problem.solve()
    assert found.method == "interior"
    assert found.status == "optimal"
    assert problem.solve(method="interior").iterations < 60


@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_other_units_take_the_same_steps(unit: float) -> None:
    natural = lp(30, 12).solve(method="interior")
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 12))
    b, q = A @ rng.random(12) - rng.random(30), A.T @ rng.random(30)
    there = fw.parse(LP).bind(A=A / unit, b=b, q=q * unit**0.5).solve(method="interior")
    assert there.status == natural.status == "optimal"
    assert abs(there.iterations - natural.iterations) <= 2
    assert there.objective == pytest.approx(natural.objective * unit**1.5, rel=1e-5)


LOGARITHMS = {
    "determinant": """
data P: matrix[n, p]
param r: positive, t: positive
var A: symmetric[p], b: vector[p]
maximize log_det(t * A)
subject to P @ A + b in rows(l2_ball(r))
""",
    "sum": """
data P: matrix[n, p]
param r: positive, t: positive
var A: vector[p], b: vector[n]
maximize sum(log(t * A)) - t * norm1(b)
subject to P @ A + b <= r
""",
}
"""Programs whose logarithms are of what other numbers bound: A in units of r = 1 / t."""


@pytest.mark.parametrize("name", LOGARITHMS)
@pytest.mark.parametrize("unit", [1e-9, 1e-4, 1e6, 1e9])
def test_arguments_of_logarithms_are_taken_in_their_own_unit(name: str, unit: float) -> None:
    P = np.abs(np.random.default_rng(3).normal(size=(12, 3)))
    program = fw.parse(LOGARITHMS[name])
    own = program.bind(P=P, r=1.0, t=1.0).solve(method="interior", tol=1e-7)
    other = program.bind(P=P, r=unit, t=1.0 / unit).solve(method="interior", tol=1e-7)
    assert own.status == other.status == "optimal"
    assert other.objective == pytest.approx(own.objective, abs=3e-7 * (1.0 + abs(own.objective)))
    np.testing.assert_allclose(other["A"] / unit, own["A"], rtol=1e-2)
    assert other.iterations <= own.iterations + 4


def test_without_a_solution_the_ray_is_a_proof_whatever_the_unit_of_logarithms() -> None:
    program = fw.parse(
        "data r: real\nvar x: vector[3], t: real\nminimize t\nsubject to -sum(log(x)) <= t, x <= r, sum(x) >= 4 * r\n"
    )
    for unit in (1.0, 1e-9, 1e9):
        assert program.bind(r=unit).solve(method="interior").status == "infeasible"


def test_without_a_solution_the_ray_is_a_proof() -> None:
    rng = np.random.default_rng(2)
    A = rng.standard_normal((6, 3))
    both = fw.parse(LP).bind(A=np.vstack([A, -A[:1]]), b=np.append(A @ rng.random(3), 1e3), q=np.ones(3))
    assert both.solve(method="interior").status == "infeasible"
    down = fw.parse(LP).bind(A=np.ones((1, 3)), b=np.ones(1), q=np.array([1.0, -1.0, 0.0]))
    assert down.solve(method="interior").status == "unbounded"


def test_a_far_solution_is_reached_in_its_own_units() -> None:
    """The optimum has an entry of 1e5 beside others of one: the run begins anew with other factors."""
    T = np.zeros((2, 3, 3))
    T[0, :2, :2], T[1, :2, :2] = [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 2.0]]
    T[:, 2, 2] = -1e-5
    text = (
        "data T: tensor[m, n, n], h: vector[m]\nvar X: psd[n]\nminimize sum_squares(X)\nsubject to inner(T, X) <= h\n"
    )
    found = fw.parse(text).bind(T=T, h=np.array([-1.0, -1.0])).solve(method="interior")
    assert found.status == "optimal"
    assert found.objective == pytest.approx(1e10, rel=1e-3)


def test_a_linear_program_begins_with_multipliers_of_the_size_of_what_meets_in_a_column(tmp_path: Path) -> None:
    """The multipliers of 400 residuals are at most one, and that of the simplex is what all of them make together."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 100))
    text = "data X: matrix[m, n], y: vector[m]\nvar w: vector[n] in simplex(1)\nminimize mean(absolute(X @ w, y))\n"
    problem = fw.parse(text).bind(X=X, y=X[:, :10] @ rng.standard_normal(10))
    before, run = started(problem, "interior"), stepped(problem, "interior", 1)
    assert isinstance(before, InteriorRun) and isinstance(run, InteriorRun)
    # (I, A'; A, -I) (v, u) = (-c, b), the scalings being those of the middle
    A, first = before.A.toarray(), before.systems.equations
    weight = np.where(np.arange(A.shape[0]) < first, 0.0, 1.0)
    K = np.block([[np.zeros((A.shape[1],) * 2), A.T], [A, -np.diag(weight)]])
    u = np.linalg.solve(K, np.concatenate([-before.c, before.b]))[A.shape[1] :]
    met = (np.abs(A[first:]).T @ np.abs(u[first:])).max()
    assert met > 5.0
    assert before.of_c / run.state.of_c == pytest.approx(met, rel=1e-6)
    np.testing.assert_allclose(run.c, before.c / met, rtol=1e-6)
    again = resumed(stepped(problem, "interior", 1), tmp_path, {})
    run.step()
    again.step()
    np.testing.assert_array_equal(again.state.v, run.state.v)
    found = problem.solve(method="interior")
    assert found.status == "optimal" and found.iterations < PATIENCE


@pytest.mark.parametrize(
    ("steps", "size", "length", "anew"),
    [
        (PATIENCE - 1, 1e6, 0.1, False),
        (PATIENCE, 1e6, 0.1, True),
        (PATIENCE, 1e-6, 0.1, True),
        (PATIENCE, 1e6, 0.9, False),
        (PATIENCE, 1.0, 0.1, False),
        (LONG_PATIENCE, 1.0, 0.9, True),
    ],
)
def test_a_slow_run_begins_anew_where_other_units_would_help(
    steps: int, size: float, length: float, anew: bool
) -> None:
    run = stepped(lp(12, 5), "interior", 1)
    run.state.steps, run.state.tau = steps, 1.0
    run.state.v = size * run.state.v / np.abs(run.state.v).max()
    run.state.z = run.state.z / np.abs(run.state.z).max()
    assert isinstance(run, InteriorRun)
    assert run._is_slow(length) == anew
    # beside what rounding leaves no step brings anything
    run.state.s, run.state.kappa = 1e-18 * run.state.s / np.abs(run.state.s).max(), 0.0
    assert run._is_slow(length) == (steps >= PATIENCE)


BOUNDED_RATES = """data y: matrix[n, k], A: matrix[n, d]
var W: matrix[d, k] in columns(linf_ball(0.4)), b: vector[k]
minimize mean(poisson(A @ W + b, y)) + 0.215 * max_rownorm1(W)
"""


def test_a_slow_run_goes_on_while_its_gap_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks are `SPAN` steps apart, and one that finds a tenth of the gap at most leaves the run as it is."""
    run = stepped(lp(12, 5), "interior", 1)
    assert isinstance(run, InteriorRun)
    run.state.tau, run.state.v = 1.0, 1e6 * run.state.v / np.abs(run.state.v).max()
    for steps, lately, anew in [(0, 0.0, True), (0, 11.0, False), (0, 9.0, True), (1, 9.0, False), (SPAN, 9.0, True)]:
        run.state.steps, run.state.lately = PATIENCE + steps, lately * run._gap()
        assert run._is_slow(0.1) == anew
    # systems without zeros take over where they are cheap
    for seconds, filled in [(0.5 * DEAR, True), (2.0 * DEAR, False)]:
        run.seconds, run.state.filled = seconds, False
        run._begin_anew()
        assert run.state.filled == filled and run.state.steps == 0


@pytest.mark.parametrize("seed", range(4))
def test_rows_are_met_where_multipliers_vanish(seed: int) -> None:
    """A factor without pivots loses the digits of such rows, which no gap tells: the system that pivots takes over."""
    rng = np.random.default_rng(seed)
    A = np.round(rng.standard_normal((8, 4)), 2)
    y = rng.poisson(np.exp(np.clip(A @ rng.uniform(-0.4, 0.4, (4, 3)), -2.0, 2.0))).astype(float)
    run = started(fw.parse(BOUNDED_RATES).bind(A=A, y=y), "interior")
    assert isinstance(run, InteriorRun)
    # how many steps that takes, and in which the digits are lost, depends on rounding
    while run._gap() > 1e-10:
        run.step()
        assert run.state.steps < 40
    missed, size = run._missed_rows()
    assert missed <= 1e-2 * size


def test_a_point_far_out_on_a_ray_is_never_optimal() -> None:
    """With a point and multipliers both far out, |y|'|K||x| outgrew the gap, and called it small."""
    text = """data A: matrix[m, n], h: vector[m], q: vector[n], E: matrix[k, n], e: vector[k], B: matrix[b, n], s: signs[b]
var x: vector[n] in nonnegative
minimize dot(q, x) + mean(hinge(B @ x, s))
subject to A @ x <= h, E @ x == e
"""
    found = (
        fw.parse(text)
        .bind(
            A=np.array([[2.0, -1.0], [2.0, -2.0], [3.0, -4.0]]),
            h=np.array([3.0, -2.0, -4.0]),
            q=np.array([-4.0, 1.0]),
            E=np.array([[-22.0, 11.0]]),
            e=np.array([-11.0]),
            B=np.array([[-4.0, -1.0], [2.0, 1.0], [1.0, 0.0], [-2.0, 4.0], [1.0, 1.0], [0.0, 2.0]]),
            s=np.array([-1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
        )
        .solve(method="interior")
    )
    assert found.status == "unbounded"


def test_a_run_that_is_resumed_goes_on_exactly(tmp_path: Path) -> None:
    problem = lp(20, 8)
    run = stepped(problem, "interior", 4)
    again = resumed(run, tmp_path, {})
    for _ in range(2):
        run.step()
        again.step()
    assert np.array_equal(run.state.v, again.state.v)
    assert np.array_equal(run.state.z, again.state.z)


def test_limits_give_the_best_point_so_far() -> None:
    found = lp(60, 30).solve(method="interior", max_iter=3)
    assert found.status == "tolerance_not_reached"
    assert found.iterations == 3
    assert np.isfinite(found.objective)


def test_a_set_without_a_cone_is_refused_by_name() -> None:
    problem = fw.parse(
        "data A: matrix[m, n], y: labels[m, k]\nvar W: matrix[n, k] in nuclear_ball(2)\nminimize mean(softmax(A @ W, y))\n"
    ).bind(A=np.eye(3), y=np.array([1, 0, 1]))
    with pytest.raises(fw.FwError, match="has no conic form"):
        problem.solve(method="interior")


def test_a_set_whose_cone_is_too_large_is_refused_by_its_size() -> None:
    problem = fw.parse("data c: vector[n]\nvar x: vector[n] in permutahedron(c)\nminimize sum_squares(x - 1)\n")
    with pytest.raises(
        fw.FwError, match=r"the conic form of `permutahedron\(c\)` would have 22,500 unknowns, over 10,000"
    ):
        problem.bind(c=np.arange(150.0)).solve(method="interior")
    assert problem.bind(c=np.arange(150.0) // 3).solve(method="interior").status == "optimal"


def test_a_large_cone_of_matrices_has_a_system_without_zeros() -> None:
    """The scaling of the cone fills the factor, which as a sparse one takes several times as long."""
    rng = np.random.default_rng(0)
    d, n = 26, 70
    text = "data X: matrix[n, d], y: vector[n]\nvar S: symmetric[d] in psd\nminimize mean(squared(quad(X, S), y)) + 0.01 * trace(S)\n"
    X = rng.standard_normal((n, d))
    bound = fw.parse(text).bind(X=X, y=np.square(X[:, 0]) + rng.standard_normal(n))
    assert size_of(bound.canonical).kind == "condensed"
    solved = bound.solve(method="interior", tol=1e-7)
    assert solved.status == "optimal"
    assert solved.iterations <= 40


@pytest.mark.parametrize("chosen", [[], [0], [2, 3, 9], list(range(10))])
def test_some_rows_are_written_out(chosen: list[int]) -> None:
    A = csr_array(np.where(np.random.default_rng(1).random((10, 4)) < 0.4, 2.0, 0.0))
    rows = np.array(chosen, dtype=np.intp)
    assert np.array_equal(_written_rows(A, rows), A.toarray()[rows])


@pytest.mark.parametrize(("steps", "as_it_is"), [(40, 0), (150, 1)])
def test_repairs_with_many_equalities_are_left_to_the_next_steps(steps: int, as_it_is: int) -> None:
    """Each unknown that nothing bounds or bends is an equality of the dual, which a repair would meet with all others."""
    y = np.cumsum(np.random.default_rng(2).standard_normal(steps))
    text = "data y: vector[n]\nvar x: vector[n]\nminimize sum(huber(x, y, delta=0.3)) + 5 * sum_squares(x[1:] - x[:-1])"
    problem = fw.parse(text).bind(y=y)
    assert METHODS["interior"].outruns_repairs(problem.canonical) == as_it_is
    solution = problem.solve(method="interior", threads=1)
    assert solution.status == "optimal"
    assert abs(solution.objective - problem.solve(method="newton", threads=1).objective) <= 3e-6 * solution.objective
