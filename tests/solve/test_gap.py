"""The gap and its parts: V, M and S against a transcription, in every unit; what came of programs where constants of ours once decided."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.nearby import nearly_fits
from fwdsl.backends.problem import PreparedProblem
from fwdsl.certify.farkas import infeasible
from fwdsl.certify.point import evaluate_point
from fwdsl.certify.rays import unbounded
from fwdsl.certify.verified import DualBound, Point, Verified
from fwdsl.certify.verify import verify
from fwdsl.solve.journal import Best

LP = (
    "data A: matrix[m, n], b: vector[m], q: vector[n]\nvar x: vector[n] in nonnegative\nminimize dot(q, x) + 3\n"
    "subject to A @ x >= b\n"
)


def linear_program(
    objective: float = 1.0, unit: float = 1.0, rows: float = 1.0
) -> tuple[fw.Problem, np.ndarray, float]:
    """The program in other units, the unit of x and that of y."""
    rng = np.random.default_rng(5)
    A, q = rng.random((4, 3)), rng.random(3)
    text = LP.replace("+ 3", f"+ {3 * objective!r}")
    problem = fw.parse(text).bind(A=rows / unit * A, b=rows * (A @ np.ones(3)), q=objective / unit * q)
    return problem, unit, objective / rows


X, Y = np.array([0.9, 1.05, 1.0]), np.array([0.2, 0.05, 0.3, 0.1])


def test_the_gap_against_a_transcription() -> None:
    problem, _, _ = linear_program()
    canonical = problem.canonical
    A, b, q = (np.asarray(problem.instance.values[n]) for n in ("A", "b", "q"))
    # the constraint is b - A x <= 0, and v = -(q - A'y) must be at most 0
    y = Y * min(1.0, float((q / (A.T @ Y)).min()))
    found = verify(canonical, X, [y])
    miss = np.maximum(b - A @ X, 0.0)
    assert miss.any()
    assert found.primal == pytest.approx(q @ X + 3.0, rel=1e-14)
    assert found.bound.value == pytest.approx(3.0 + b @ y, rel=1e-14)
    assert found.bound.miss == 0.0
    assert found.hidden == pytest.approx(y @ miss, rel=1e-12)
    sizes = A @ X + b
    assert found.infeasibility == pytest.approx((miss / sizes).max(), rel=1e-12)
    S = 3.0 + (q @ X + 3.0) + (3.0 + b @ y) + y @ A @ X
    assert found.scale == pytest.approx(S, rel=1e-12)
    gap = abs(q @ X - b @ y) + y @ miss
    assert found.gap == pytest.approx(gap, rel=1e-12)
    assert found.relative_gap == pytest.approx(gap / max(found.primal, found.bound.value, 1e-6 * S), rel=1e-12)


@pytest.mark.parametrize(
    ("objective", "unit", "rows"),
    [
        (2.0**-40, 1.0, 1.0),
        (2.0**40, 1.0, 1.0),
        (1.0, 2.0**-30, 1.0),
        (1.0, 1.0, 2.0**30),
        (2.0**-40, 2.0**30, 2.0**-30),
    ],
)
def test_no_unit_matters(objective: float, unit: float, rows: float) -> None:
    own = verify(linear_program()[0].canonical, X, [0.1 * Y])
    problem, of_x, of_y = linear_program(objective, unit, rows)
    other = verify(problem.canonical, of_x * X, [of_y * 0.1 * Y])
    assert other.relative_gap == pytest.approx(own.relative_gap, rel=1e-12, abs=0.0)
    assert other.infeasibility == pytest.approx(own.infeasibility, rel=1e-12, abs=0.0)
    assert other.hidden == pytest.approx(objective * own.hidden, rel=1e-12, abs=0.0)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_what_the_dual_misses_costs_a_thousand_times_the_largest_entry(unit: float) -> None:
    rng = np.random.default_rng(1)
    A, b = rng.standard_normal((12, 2)), rng.standard_normal(12)
    problem = fw.parse("data A: matrix[n, p], b: vector[n]\nvar x: vector[p]\nminimize sum(absolute(A @ x, b))\n")
    canonical = problem.bind(A=A / unit, b=b).canonical
    x = np.linalg.lstsq(A, b, rcond=None)[0]
    y = rng.uniform(-0.5, 0.5, 12)
    y -= A @ np.linalg.lstsq(A, y, rcond=None)[0]
    y *= 0.9 / np.abs(y).max()
    missing = y + 1e-14 * A[:, 0]
    found = verify(canonical, unit * x, [missing])
    assert found.kind == "conditional"
    assert found.bound.radius == pytest.approx(1000.0 * unit * np.abs(x).max(), rel=1e-12)
    miss = 1e-14 * np.abs(A.T @ A[:, 0]).sum() / unit
    assert found.bound.miss == pytest.approx(found.bound.radius * miss, rel=0.2)
    assert found.dual == found.bound.value - found.bound.miss


def test_a_point_of_a_poor_dual_point_does_not_look_better() -> None:
    """Multipliers of 0 hide nothing, however far the point is outside."""

    def verified(value: float, violation: float, y: float, bound: float) -> Verified:
        point = Point(value, 1.0, violation, violations=(np.array([violation]),))
        return Verified(point, DualBound(bound, 0.0, "exact", "", y=(np.array([y]),)), 1.0, 0.0)

    best = Best()
    best.add(np.array([1.0]), verified(1.0 - 1e-8, 2e-8, 5.0, 0.9))
    best.add(np.array([1.0]), verified(1.0 - 1e-8, 2e-8, 0.0, 0.0))
    best.add(np.array([2.0]), verified(1.0, 0.0, 5.0, 0.9))
    assert best.x[0] == 2.0
    assert best.merged().hidden == 0.0


# --- what was found by attack -------------------------------------------------------------------------------------------


def test_a_point_slightly_below_the_bound_and_outside_is_no_bug() -> None:
    text = (
        "data A: matrix[1, 2] = [[2, 2]], E: matrix[2, 2] = [[0, -2], [-2, 2]], e: vector[2] = [-1, 2]\nvar x: vector[2]\n"
        "minimize 3 * x[0] + 3 * x[1]\nsubject to A @ x <= 1\nsubject to E @ x == e\n"
    )
    solution = fw.parse(text).solve(tol=1e-8, threads=1)
    assert solution.status == "optimal", solution.reason
    assert solution["x"] == pytest.approx([-0.5, 0.5], abs=1e-7)


def test_the_infima_of_the_terms_are_a_bound() -> None:
    rng = np.random.default_rng(3)
    text = (
        "data A: matrix[2, 4], b: vector[2], E: matrix[1, 4]\nvar x: vector[4]\n"
        "minimize sum(epsilon_insensitive(A @ x, b, eps=0.1))\nsubject to E @ x == 1\n"
    )
    given = {"A": rng.standard_normal((2, 4)), "b": rng.standard_normal(2), "E": rng.standard_normal((1, 4))}
    solution = fw.parse(text).bind(**given).solve(threads=1)
    assert solution.status == "optimal", solution.reason
    assert solution.dual_bound == 0.0
    # even where nothing else is known
    assert fw.parse(text).bind(**given).solve(threads=1, max_iter=1).dual_bound == 0.0


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_a_linear_program_without_a_finite_optimum(unit: float) -> None:
    text = (
        "data q: vector[3], A: matrix[1, 3], E: matrix[1, 3]\nvar x: vector[3]\nminimize dot(q, x)\n"
        "subject to A @ x <= -3\nsubject to E @ x == 3\n"
    )
    given = {"q": np.array([3.0, -1.0, -3.0]), "A": np.array([[0.0, 0.0, 2.0]]), "E": np.array([[-1.0, 0.0, -1.0]])}
    given |= {"A": given["A"] / unit, "E": given["E"] / unit}
    solution = fw.parse(text).bind(**given).solve(threads=1, time=10)
    assert solution.status == "unbounded", solution.reason
    assert solution.certificate.kind == "exact"


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e6])
def test_a_fair_game_and_a_homogeneous_program_are_certified_at_zero(unit: float) -> None:
    A = unit * np.array([[0.0, -4.3125, -0.125], [4.3125, 0.0, -2.234375], [0.125, 2.234375, 0.0]])
    game = "data A: matrix[m, n]\nvar x: vector[n] in simplex(1), t: real\nminimize t\nsubject to A @ x <= t\n"
    cone = "data A: matrix[m, n]\nvar x: vector[n] in box(-1, 1)\nminimize sum(x)\nsubject to A @ x >= 0, x >= 0\n"
    for text in (game, cone):
        solution = fw.parse(text).bind(A=A).solve(threads=1, time=20)
        assert solution.status == "optimal", solution.reason
        assert abs(solution.objective) <= 1e-9 * unit
        assert solution.relative_gap <= 1e-6


@pytest.mark.parametrize("method", ["pdhg", None])
def test_a_point_is_moved_into_constraints_that_it_misses_by_little(method: str | None) -> None:
    """`pdhg` comes to points that miss them, whatever the planner's own choice does."""
    text = "var x: real, y: vector[5] in box(0, 1)\nminimize x\nsubject to 0.01 * x + sum(y) >= 2.01\n"
    solution = fw.parse(text).solve(method=method, threads=1, time=20)
    assert solution.status == "optimal", solution.reason
    assert solution.objective == pytest.approx(-299.0, rel=1e-9)
    assert solution.infeasibility <= 1e-12


def test_a_point_that_misses_a_constraint_has_no_gap() -> None:
    """With multipliers of 0 the violation hides nothing, and objective and bound are both 0."""
    problem = fw.parse("var x: vector[2]\nminimize sum_squares(x)\nsubject to norm1(x - 3) <= 1\n")
    stopped = problem.solve(threads=1, max_iter=0)
    assert stopped.status == "tolerance_not_reached" and stopped.infeasibility > 0.1
    assert math.isinf(stopped.gap) and math.isinf(stopped.relative_gap)
    assert problem.solve(threads=1).relative_gap <= 1e-6


# --- rays ---------------------------------------------------------------------------------------------------------------

ROWS = "data A: matrix[m, n], b: vector[m]\nvar x: vector[n]\nminimize sum_squares(x)\nsubject to A @ x <= b\n"


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_a_ray_that_rounding_could_explain_proves_nothing(unit: float) -> None:
    contradicting = np.array([[1.0, 2.0], [-1.0, -2.0]])
    canonical = fw.parse(ROWS).bind(A=contradicting / unit, b=np.array([1.0, -2.0])).canonical
    proof = infeasible(canonical, [np.array([1.0, 1.0])])
    assert proof is not None and proof.kind == "exact"
    for miss in (1e-3, 1e-6, 1e-10):
        # feasible, at |x| about 1 / miss
        nearly = np.array([[1.0, 2.0], [-1.0, -2.0 - miss]])
        canonical = fw.parse(ROWS).bind(A=nearly / unit, b=np.array([1.0, -2.0])).canonical
        assert infeasible(canonical, [np.array([1.0, 1.0])]) is None


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_a_ray_from_a_point_that_is_not_feasible_is_no_proof(unit: float) -> None:
    text = "data A: matrix[m, n], b: vector[m]\nvar x: vector[n]\nminimize x[0]\nsubject to A @ x <= b\n"
    # x[0] is free to fall; x[1] cannot be both at most 0 and at least 1
    A, b = np.array([[0.0, 1.0], [0.0, -1.0]]), np.array([0.0, -1.0])
    canonical = fw.parse(text).bind(A=A / unit, b=b).canonical
    assert unbounded(canonical, np.array([-1.0, 0.0]), lambda: [unit * np.array([-1e12, 0.5])]) is None
    canonical = fw.parse(text).bind(A=A / unit, b=-b).canonical
    proof = unbounded(canonical, np.array([-1.0, 0.0]), lambda: [unit * np.array([-1e12, -0.5])])
    assert proof is not None and proof.kind == "exact"


def test_a_bound_above_a_feasible_value_is_told_in_every_unit() -> None:
    for unit in (1e-12, 1.0, 1e12):
        point = Point(unit, unit, 0.0)
        honest = Verified(point, DualBound(unit, 0.0, "exact", ""), unit, 0.0)
        assert not honest.contradicts()
        assert replace(honest, bound=DualBound(unit * (1 + 1e-7), 0.0, "exact", "")).contradicts()
        assert replace(honest, bound=DualBound(-math.inf, 0.0, "none", "")).relative_gap == math.inf


@pytest.mark.parametrize("seed", range(6))
def test_a_term_that_falls_below_zero_is_counted_in_what_a_penalty_bounds(seed: int) -> None:
    """The bound on x from `norm1(x) <= P - the infima of all else` needs the entropy's, which is negative."""
    rng = np.random.default_rng(seed)
    given = {"A": rng.standard_normal((3, 2)), "b": 0.1 * rng.standard_normal(3), "B": rng.standard_normal((4, 3))}
    text = (
        "data A: matrix[m, n], b: vector[m], B: matrix[k, d]\nvar x: vector[n], z: vector[d]\n"
        "minimize 3 * norm1(x) + entropy(B @ z + 1) + sum(absolute(A @ x, b))\n"
    )
    coarse = fw.parse(text).bind(**given).solve(tol=1e-3, threads=1, time=20)
    fine = fw.parse(text).bind(**given).solve(tol=1e-7, threads=1, time=20)
    assert coarse.status == fine.status == "optimal", (coarse.reason, fine.reason)
    assert coarse.dual_bound <= fine.objective + 1e-9 * abs(fine.objective)


def test_equations_that_contradict_each_other_are_not_unbounded() -> None:
    E, e = np.array([[-4.0, 1.0, 4.0, -1.0], [-4.0, 1.0, 4.0, -1.0]]), np.array([-64.0, -96.0])
    text = "data E: matrix[m, n], e: vector[m]\nvar x: vector[n]\nminimize sum(x)\nsubject to E @ x == e\n"
    assert fw.parse(text).bind(E=E, e=e).solve(threads=1, time=20).status == "infeasible"


@pytest.mark.parametrize(("right", "most"), [(1e-10, 100.0), (1.0, 1e12)])
def test_the_bounds_of_a_variable_count_where_another_of_its_equalities_is_missed(right: float, most: float) -> None:
    """Feasible, at x about right / 1e-10: the ray misses one side by rounding, and the bound pays for the other."""
    A = np.array([[1.0, -1.0], [-1.0, 1.0000000002]])
    text = (
        "data A: matrix[2, 2]\nparam r: real, m: real\nvar x: vector[2]\nminimize x[1]\nsubject to A @ x >= r, x <= m\n"
    )
    canonical = fw.parse(text).bind(A=A, r=right, m=most).canonical
    for y in ([1.0 + 2e-10, 1.0], [1.0, 1.0], [1.0, 1.0 + 1e-10]):
        for scale in (1.0, -1.0):
            assert infeasible(canonical, [scale * np.array(y) for _ in canonical.terms]) is None
    assert fw.parse(text).bind(A=A, r=right, m=most).solve(threads=1, time=3).status not in ("infeasible", "unbounded")


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("var x: real, y: real\nminimize kl_div(x, y) + 2 * x\nsubject to y <= 1\n", [-1.0, 0.0]),
        ("var x: vector[2]\nminimize 2 * x[0] - geo_mean(x + 1)\n", [-1.0, 0.0]),
        ("var x: vector[2]\nminimize 2 * sum(x) + quad_over_lin(x[0], x[1] + 1)\n", [0.0, -1.0]),
        ("var M: symmetric[2]\nminimize trace(M) + tr_inv(M + eye(2))\n", [-1.0, 0.0, 0.0, -1.0]),
        ("var M: symmetric[2]\nminimize trace(M) - log_det(M + eye(2))\n", [-1.0, 0.0, 0.0, -1.0]),
    ],
)
def test_a_ray_out_of_the_domain_of_a_function_is_no_proof(text: str, direction: list[float]) -> None:
    canonical = fw.parse(text).canonical
    inside = np.abs(np.array(direction)) + (1.0 if canonical.blocks[0].name == "x" else 0.0)
    assert unbounded(canonical, np.array(direction), lambda: [inside]) is None


def test_a_largest_eigenvalue_of_0_is_no_fall_by_its_rounding() -> None:
    rng = np.random.default_rng(3)
    for _ in range(40):
        A, b = rng.standard_normal((2, 4)), rng.standard_normal(3)
        text = "data A: matrix[k, n]\nvar x: vector[k]\nminimize lambda_max(A.T @ diag(x) @ A)\nsubject to x <= 1\n"
        canonical = fw.parse(text).bind(A=A).canonical
        assert unbounded(canonical, -rng.random(2), lambda: [np.zeros(2)]) is None
        canonical = fw.parse("var M: symmetric[3]\nminimize lambda_max(M)\n").canonical
        assert unbounded(canonical, -np.outer(b, b).reshape(-1), lambda: [np.zeros(9)]) is None


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("var x: real, y: real\nminimize kl_div(x, y) - x - y\nsubject to y >= 1\n", [1.0, 1.0]),
        ("var x: vector[2]\nminimize sum(x) / 4 - geo_mean(x + 1)\n", [1.0, 1.0]),
        ("var M: symmetric[2]\nminimize trace(M) + tr_inv(eye(2) - M)\n", [-1.0, 0.0, 0.0, -1.0]),
        ("var M: symmetric[2]\nminimize trace(M) - log_det(eye(2) - M)\n", [-1.0, 0.0, 0.0, -1.0]),
    ],
)
def test_a_ray_along_which_a_curved_function_grows_slower_is_one(text: str, direction: list[float]) -> None:
    canonical = fw.parse(text).canonical
    assert unbounded(canonical, np.array(direction), lambda: [np.array(direction)]) is not None


# --- rays that rounding explains --------------------------------------------------------------------------------------


def test_proportional_equations_are_no_contradiction() -> None:
    """Large multipliers of proportional rows cancel but for rounding, in which the multiplier of a row with a right-hand side can hide."""
    text = (
        "data A: matrix[2, 3] = [[-1, -3, 3], [1, 0, -3]]\n"
        "data E: matrix[3, 3] = [[-1, -3, 3], [-3, 1, -2], [-2, -6, 6]], e: vector[3] = [0, 4, 0]\n"
        "data q: vector[3] = [7, -12, 12]\nvar x: vector[3]\nminimize dot(q, x)\nsubject to\n    A @ x >= -1\n    E @ x == e\n"
    )
    solution = fw.parse(text).solve(threads=1, time=20)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(-13.0, rel=1e-5)


@pytest.mark.parametrize("objective", ["sum_squares(x - 1)", "norm1(x)", "norm_inf(x)"])
@pytest.mark.parametrize("seed", range(6))
def test_a_row_twice_with_zero_on_its_right_is_no_contradiction(objective: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 9])
    x0 = np.array([1.0, -2.0, 2.0, 1.0])
    rows = rng.integers(-3, 4, (2, 4)).astype(float)
    null = rng.integers(-3, 4, 4).astype(float)
    null[0] -= null @ x0
    E = np.vstack([rows, null, rng.choice([2.0, -3.0]) * null])[rng.permutation(4)]
    text = f"data E: matrix[m, n], e: vector[m]\nvar x: vector[n]\nminimize {objective}\nsubject to E @ x == e\n"
    solution = fw.parse(text).bind(E=E, e=np.round(E @ x0)).solve(threads=1, time=20)
    assert solution.status == "optimal", solution.certificate


def test_columns_that_cancel_make_no_ray() -> None:
    """The same for a direction: two unknowns without a cost that cancel in all constraints do not hide what a third one moves."""
    A = np.array([[3.0, 2.0, -4.0, -1.0], [-1.0, 1.0, -2.0, 0.0], [0.0, -3.0, 6.0, 1.0]])
    y = np.array([1.0, 1.0, 1.0])
    data = {"A": A, "b": np.array([1.0, 2.0, 3.0]), "q": -(A.T @ y)}
    text = "data A: matrix[m, n], b: vector[m], q: vector[n]\nvar x: vector[n]\nminimize dot(q, x)\nsubject to A @ x <= b\n"
    solution = fw.parse(text).bind(**data).solve(threads=1, time=20)
    assert solution.status == "optimal", solution.certificate
    assert solution.objective == pytest.approx(-6.0, rel=1e-5)


@pytest.mark.parametrize("cost", [1e-5, 1.0, 1e5])
def test_an_unknown_with_a_cost_and_no_constraint_is_never_optimal(cost: float) -> None:
    """The units must not hide it beside another unknown: with 1e9 there the dual missed its equality by a share of 1e-14 only."""
    text = f"var x: vector[2]\nminimize -{cost!r} * x[0] + 1e9 * x[1]\nsubject to x[1] >= 1\n"
    solution = fw.parse(text).solve(threads=1, time=3)
    assert solution.status != "optimal", solution.certificate


@pytest.mark.parametrize("excess", [1e-12, 1e-14])
@pytest.mark.parametrize("method", ["auto", "pdhg", "interior", "lines"])
def test_far_out_on_a_ray_the_objective_s_own_terms_call_no_gap_small(excess: float, method: str) -> None:
    """Unbounded along (1, 1), by so little of its terms that no ray proves it; at 1e302 the terms once made S of a gap of 1e293."""
    text = f"var x: vector[2]\nminimize x[0] - {1 + excess!r} * x[1]\nsubject to x[0] >= x[1], x >= 0\n"
    solution = fw.parse(text).bind().solve(tol=1e-3, method=method, threads=1, max_iter=3000)
    assert solution.status in ("unbounded", "tolerance_not_reached"), solution.reason


@pytest.mark.parametrize("method", ["auto", "pdhg", "interior"])
def test_multipliers_of_a_psd_matrix_that_are_rounding_contradict_nothing(method: str) -> None:
    """The infimum 0 is not attained: X[0, 0] falls as X[1, 1] grows, and a bound of 1e-13 is rounding beside <v, X>."""
    text = "var X: psd[2]\nminimize X[0, 0]\nsubject to X[0, 1] == 1\n"
    solution = fw.parse(text).bind().solve(method=method, threads=1, max_iter=2000)
    assert "FW9002" not in solution.reason
    assert all("FW9002" not in change.reason for change in solution.changes)


def test_a_matrix_of_multipliers_beside_its_cone_by_rounding_keeps_its_bound() -> None:
    """The least eigenvalue is rounding below zero near the optimum; scaled into the cone, which leaves nothing, it once proved nothing."""
    S = np.array(
        [
            [1.36740864e08, 6.27507200e06, -5.06839040e07, -4.83409920e07, -8.88422400e06],
            [6.27507200e06, 3.20225280e07, 1.77643520e07, 1.34840320e07, 1.13131520e07],
            [-5.06839040e07, 1.77643520e07, 6.02685440e07, 4.64936960e07, 2.50347520e07],
            [-4.83409920e07, 1.34840320e07, 4.64936960e07, 4.99343360e07, 3.41606400e07],
            [-8.88422400e06, 1.13131520e07, 2.50347520e07, 3.41606400e07, 3.16006400e07],
        ]
    )
    text = "data S: psd[n]\nvar d: vector[n] in box(0, 16777216)\nmaximize sum(d)\nsubject to S - diag(d) in psd\n"
    # a tolerance below what rounding allows: what is known in the end is what counts
    solution = fw.parse(text).bind(S=S).solve(tol=1e-13, method="interior", threads=1, max_iter=100)
    assert solution.relative_gap <= 1e-7
    assert solution.dual_bound == pytest.approx(5304767.32, rel=1e-7)


BALANCED = """
data G: matrix[1, 5] = [[-1, -3, 1, 1, 1]]
param u: positive, f: positive
var x: vector[5]
minimize f * {}
subject to x in box(-u, 2*u), 2*x[1] + x[2] == u, 3*x[0] + x[4] == u
"""
"""A program whose optimum is 0 at points where nothing is 0: the dual point may be 0, and tells no size."""


@pytest.mark.parametrize("unit", [1e-9, 1.0, 7.3, 1e6])
@pytest.mark.parametrize("factor", [1e-12, 1.0])
@pytest.mark.parametrize("term", ["norm2(G@x)", "norm_inf(G@x)", "sum_squares(G@x)", "sum(absolute(G@x, 0))"])
def test_an_optimum_of_nothing_in_balance_is_certified(term: str, factor: float, unit: float) -> None:
    solution = fw.parse(BALANCED.format(term)).bind(u=unit, f=factor).solve(threads=1, max_iter=3000)
    assert solution.status == "optimal"
    size = unit**2 if "squares" in term else unit
    assert abs(solution.objective) <= 1e-11 * factor * size


@pytest.mark.parametrize("seed", range(6))
def test_an_optimum_of_nothing_in_balance_is_certified_in_few_steps(seed: int) -> None:
    """Units and factors at random: what rounding leaves of the residuals is no matter of luck."""
    rng = np.random.default_rng(seed)
    unit, factor = 10.0 ** rng.uniform(-9, 9), 10.0 ** rng.uniform(-12, 6)
    for term, size in (("norm2(G@x)", unit), ("sum_squares(G@x)", unit**2)):
        problem = fw.parse(BALANCED.format(term)).bind(u=unit, f=factor)
        solution = problem.solve(threads=1, max_iter=40, method="interior")
        assert solution.status == "optimal"
        assert abs(solution.objective) <= 1e-11 * factor * size


@pytest.mark.parametrize(
    "loss", ["squared(X@w, y)", "huber(X@w, y, delta=h)", "squared_epsilon_insensitive(X@w, y, eps=h)"]
)
@pytest.mark.parametrize("constraints", ["w in box(-2, 2)", "sum(w) == s", "w in box(-2, 2), sum(w) == s"])
def test_a_perfect_fit_under_constraints_is_certified(loss: str, constraints: str) -> None:
    rng = np.random.default_rng(8)
    X, w = rng.normal(size=(4, 9)), rng.uniform(-1, 1, 9)
    text = (
        "data X: matrix[n, p], y: vector[n]\nparam s: real, h: positive\nvar w: vector[p]\n"
        f"minimize mean({loss})\nsubject to {constraints}\n"
    )
    for unit in (1e-6, 1.0, 1e6):
        y = unit * X @ w
        problem = fw.parse(text).bind(X=unit * X, y=y, s=w.sum(), h=0.1 * unit)
        for method in ("auto", "interior", "pdhg"):
            solution = problem.solve(threads=1, max_iter=20_000, method=method)
            assert solution.status == "optimal", (method, unit, solution.reason)
            assert abs(solution.objective) <= 1e-6 * float(np.mean(y**2))


def test_what_nearly_fits() -> None:
    """All residuals are rounding, and there is nothing else to minimise."""
    rng = np.random.default_rng(9)
    X, w = rng.normal(size=(5, 3)), rng.normal(size=3)
    text = "data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize sum({}){}\n"

    def fits(loss: str, more: str, y: np.ndarray, x: np.ndarray) -> bool:
        problem = fw.parse(text.format(loss, more)).bind(X=X, y=y)
        return nearly_fits(PreparedProblem(problem.canonical, 1), x)

    y = X @ w
    assert fits("squared(X@w, y)", "", y, w + 1e-8) and not fits("squared(X@w, y)", "", y, w + 1e-4)
    assert fits("squared(X@w, y)", "\nsubject to w in box(-9, 9)", y, w)
    assert not fits("squared(X@w, y)", " + norm1(w)", y, w) and not fits("squared(X@w, y)", " + sum_squares(w)", y, w)
    assert not fits("squared(X@w, y)", " + sum(w)", y, w)
    assert not fits("quantile(X@w, y, tau=0.1)", " + 0.1 * norm2(w)", y, w)


def test_a_heavy_term_of_nothing_hides_no_gap() -> None:
    text = "data b: vector[2]\nvar x: vector[2]\nminimize 0.5*sum_squares(x - b) + 1e8*norm1(x[1:] - x[:-1])"
    form = fw.parse(text).bind(b=np.array([1.0, 2.0])).canonical
    far = np.full(form.size, 1.5 + 1e-4)  # 1e-8 above the optimum
    assert evaluate_point(form, far).rounding <= 1e-6
    point = evaluate_point(form, far)
    assert point.size <= 10.0


@pytest.mark.parametrize("method", ["interior", "pdhg"])
def test_an_optimum_of_zero_beside_variables_that_are_not_zero_is_certified(method: str) -> None:
    text = (
        "data b: vector[n]\nvar x: vector[n], X: matrix[3, 3], t: real in nonnegative\n"
        "minimize sum(abs(sum(X, axis=1))) + sum_squares(X) + square(t)\nsubject to\n"
        "    hstack(x - b, t) <= 1.9\n    norm2(x) <= 2.5\n"
    )
    solution = fw.parse(text).bind(b=np.array([-3.0, 0.0, 1.0])).solve(method=method, threads=1, time=20)
    assert solution.status == "optimal", solution.reason
    assert solution.objective == 0.0


@pytest.mark.parametrize("method", ["interior", "pdhg"])
def test_a_ray_that_one_entry_does_not_take_is_never_optimal(method: str) -> None:
    """The infimum exp(1) is not attained: all entries but the first go down for ever. Beside them constants are rounding, and sums of their sizes
    once called any gap small."""
    n = 40
    text = "var x: vector[n]\nminimize sum(exp(x)) + 10 * sum_squares(diff(x, 2))\nsubject to x[0] == 1"
    problem = fw.parse(text).bind(n=n)
    solution = problem.solve(method=method, time=3.0)
    if solution.status == "optimal":
        assert solution.objective <= np.e * (1.0 + 1e-5)
    x = 1.0 - 1e15 * np.arange(n)
    # off the line by far more than the rounding of these sums
    x[n // 2] *= 1.0 + 1e-10
    canonical = problem.canonical
    ys = [
        term.f.gradient(term.map.apply(x)) if isinstance(term.f, LossFunction) else np.zeros(term.map.rows)
        for term in canonical.terms
    ]
    found = verify(canonical, x, ys)
    assert found.primal > 1e14 and found.scale < 10.0 * found.primal
