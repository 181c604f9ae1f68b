"""The repair of dual points where equalities nearly depend on each other: beside large weights, and near to being unbounded."""

from __future__ import annotations

import math
from contextlib import closing

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.dual import dual_value, feasible_scale, repair, step_inside
from fwdsl.backends.dual_step import DiagonalMetric, TurnedMetric, least_move
from fwdsl.backends.problem import BY_BLOCKS, PreparedProblem

CHAINS = {
    "steps": "norm1(x[1:] - x[:-1])",
    "largest step": "norm_inf(x[1:] - x[:-1])",
    "sizes": "norm1(x)",
}
LOSSES = {
    "absolute": "sum(absolute(x, y))",
    "quantile": "sum(quantile(x, y, tau=0.3))",
    "huber": "sum(huber(x, y, delta=0.1))",
}


@pytest.mark.parametrize("weight", [1e4, 1e8, 1e12])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("chain", CHAINS)
def test_the_multiplier_of_an_equality_beside_a_large_weight(chain: str, loss: str, weight: float) -> None:
    y = np.random.default_rng(6).normal(size=6)
    text = f"data y: vector[6]\nvar x: vector[6]\nminimize {LOSSES[loss]} + {weight!r} * {CHAINS[chain]}\nsubject to sum(x) == 1.3\n"
    s = fw.parse(text).bind(y=y).solve(threads=1)
    assert s.status == "optimal", (s.reason, s.objective, s.dual_bound)


def test_the_objective_where_a_large_weight_leaves_one_point() -> None:
    """All entries are 1.3 / 6 but for rounding."""
    y = np.random.default_rng(0).normal(size=6)
    text = "data y: vector[6]\nvar x: vector[6]\nminimize sum(absolute(x, y)) + 1e8 * norm1(x[1:] - x[:-1])\nsubject to sum(x) == 1.3\n"
    s = fw.parse(text).bind(y=y).solve(threads=1)
    assert s.objective == pytest.approx(np.abs(1.3 / 6 - y).sum(), rel=2e-6)
    assert s.dual_bound == pytest.approx(s.objective, rel=2e-6)


# near to having the ray (1, 0, -1, 2): the least singular value of the equalities' matrix is 4e-9
A = np.array(
    [
        [-3.0000000016666668, 6.0, -2.9999999983333332, -3.3333333333333334e-09],
        [4.9999999983333332, -6.0, -10.999999998333333, -8.0000000033333336],
        [-19.000000001666667, -24.0, 13.000000001666667, 15.999999996666666],
    ]
)
E = np.array([[-8.0, 12.0, 20.0, 14.0]])
H, Q = (
    np.array([18.99999997333333, 15.999999973333331, -135.00000002666667]),
    np.array([58.00000001000001, 66.0, -22.000000010000004, -39.99999998]),
)


def test_a_dual_point_near_to_being_unbounded_is_repaired_to_rounding() -> None:
    """There is one dual point, by rational arithmetic (2.000000049, 1.000001094, 3.00000003267; 5.88e-7); the Gram matrix would lose it."""
    problem = fw.parse(
        "data A: matrix[m, n], h: vector[m], q: vector[n], E: matrix[k, n], e: vector[k]\nvar x: vector[n]\n"
        "minimize dot(q, x)\nsubject to\n    A @ x <= h\n    E @ x == e\n"
    ).bind(A=A, h=H, q=Q, E=E, e=np.array([-20.0]))
    prepared = PreparedProblem(problem.canonical, 1)
    x = np.array([0.0, 3.03980099, -0.25373133, -3.6716418])
    ys = [np.array([1.9, 1.2, 2.9]), np.array([0.1])]
    found = repair(prepared, ys, x)
    assert np.abs(prepared.q + prepared.adjoint(found)).max() <= 1e-14 * np.abs(Q).max()
    np.testing.assert_allclose(found[0], [2.0, 1.0, 3.0], atol=1e-5)
    s = problem.solve(threads=1, time=2.0)
    assert s.dual_bound == pytest.approx(350.99999788940704, rel=1e-6)


def test_a_graded_system_is_solved_by_its_factor() -> None:
    """Rows of size 1e8 leave one direction to a row of size 1, of which their Gram matrix has nothing but rounding."""
    n = 8
    text = f"var x: vector[{n}]\nminimize norm1(x[1:] - x[:-1]) + sum(absolute(sum(x), 0))\n"
    prepared = PreparedProblem(fw.parse(text).canonical, 1)
    metrics = [DiagonalMetric(np.full(t.map.rows, 1e16 if t.map.rows > 1 else 1.0)) for t in prepared.terms]
    miss = np.arange(1.0, n + 1.0)
    steps = least_move(prepared, metrics, np.arange(n), miss, lambda: False)
    assert steps is not None
    np.testing.assert_allclose(prepared.adjoint(steps), miss, rtol=1e-6)


LYAPUNOV = """
data A: matrix[n, n]
var P: symmetric[n], t: real
minimize 0 * trace(P) + t
subject to
    t * eye(n) - A.T @ P - P @ A in psd
    P in psd
"""


def test_multipliers_of_matrices_move_in_their_eigenvectors() -> None:
    """The edge of a cone is kept, whether the Gram matrix gives the step or, where its columns depend, the factor."""
    n, rng = 5, np.random.default_rng(8)
    prepared = PreparedProblem(fw.parse(LYAPUNOV).bind(A=rng.normal(size=(n, n))).canonical, 1)
    vectors, _ = np.linalg.qr(rng.normal(size=(n, n)))
    values = np.array([1e-9, 1e-9, 0.5, 1.0, 2.0])
    metrics = [
        TurnedMetric(0.5 * (values[:, None] + values), vectors)
        if t.map.rows == n * n
        else DiagonalMetric(np.ones(t.map.rows))
        for t in prepared.terms
    ]
    wanted = np.flatnonzero(np.triu(np.ones((n, n))).reshape(-1))[:6]
    miss = rng.normal(size=6)
    for some, missed in ((wanted, miss), (np.repeat(wanted, 2), np.repeat(miss, 2))):
        steps = least_move(prepared, metrics, some, missed, lambda: False)
        assert steps is not None
        np.testing.assert_allclose(prepared.adjoint(steps)[some], missed, rtol=1e-9, atol=1e-9)
        for m, step in zip(metrics, steps, strict=True):
            if isinstance(m, TurnedMetric):
                turned = vectors.T @ step.reshape(n, n) @ vectors
                assert np.abs(turned[:2, :2]).max() <= 1e-6 * np.abs(turned).max()


@pytest.mark.parametrize("loss", ["absolute", "quantile"])
@pytest.mark.parametrize("on", ["ksupport_ball(2, 0.7)", "l2_ball(0.7)"])
@pytest.mark.parametrize("factor", [1e-290, 1e290])
def test_objectives_at_the_ends_of_the_range_take_the_same_iterations(loss: str, on: str, factor: float) -> None:
    """Squares of their slopes and steps are out of range."""
    rng = np.random.default_rng(3)
    data = {"A": rng.normal(size=(12, 5)), "b": rng.normal(size=12)}
    one, other = (
        fw.parse(
            f"data A: matrix[12, 5], b: vector[12]\nvar x: vector[5]\nminimize {f!r} * sum({loss}(A @ x, b))\nsubject to x in {on}\n"
        )
        .bind(**data)
        .solve(threads=1, method="pdhg")
        for f in (1.0, factor)
    )
    assert one.status == other.status == "optimal", other.reason
    assert other.objective / factor == pytest.approx(one.objective, rel=2e-6)
    assert abs(other.iterations - one.iterations) <= 0.2 * one.iterations


@pytest.mark.parametrize("map_", ["A @ x", "2 * (A @ x)", "A.T @ x", "S @ x", "A @ x + c", "x"])
def test_columns_at_rows_are_those_of_the_map(map_: str) -> None:
    rng = np.random.default_rng(2)
    A = rng.standard_normal((6, 6))
    S = sp.random_array((6, 6), density=0.5, rng=rng, format="csr")
    text = f"data A: matrix[6, 6], S: matrix[6, 6], y: vector[6]\nvar x: vector[6], c: real\nminimize sum(absolute({map_}, y)) + norm1(x)\n"
    problem = PreparedProblem(fw.parse(text).bind(A=A, S=S, y=np.ones(6)).canonical, 1)
    whole = np.zeros((sum(t.map.rows for t in problem.terms), problem.size))
    for j, unit in enumerate(np.eye(problem.size)):
        whole[:, j] = np.concatenate(problem.linear(unit))
    starts = np.cumsum([0, *(t.map.rows for t in problem.terms)])
    for free, count in ((np.array([1, 4]), 5), (np.arange(problem.size), 2)):
        rows = [np.arange(count)[: t.map.rows] for t in problem.terms]
        at = np.concatenate([start + own for start, own in zip(starts, rows, strict=False)])
        np.testing.assert_allclose(problem.columns(free, rows), whole[np.ix_(at, free)], atol=1e-14)


DOMAINS = {
    "cone": "var X: symmetric[d]\nminimize sum_squares(A @ diag(X) - y) + 0.3 * trace(X)\nsubject to X in psd\n",
    "signs": "var x: vector[d]\nminimize sum_squares(A @ x - y) + 0.3 * sum(x)\nsubject to x >= 0\n",
    "sizes": "var x: vector[d]\nminimize sum_squares(A @ x - y) + 0.3 * sum(x) + norm1(x)\n",
    "groups": "var x: vector[d]\nminimize sum_squares(A @ x - y) + 0.3 * sum(x) + norm2(x)\n",
}


@pytest.mark.parametrize("unit", [1e-200, 1e-6, 1.0, 1e6])
@pytest.mark.parametrize("kind", DOMAINS)
def test_the_largest_scale_of_a_dual_point_is_on_the_boundary(kind: str, unit: float) -> None:
    rng = np.random.default_rng(5)
    text = "data A: matrix[n, d], y: vector[n]\n" + DOMAINS[kind]
    problem = PreparedProblem(fw.parse(text).bind(A=rng.standard_normal((6, 4)), y=rng.standard_normal(6)).canonical, 1)
    (g,) = problem.g

    def inside(s: float) -> bool:
        return math.isfinite(g.conjugate(-(problem.q + s * kty)))

    with closing(problem):
        found = []
        for _ in range(20):
            kty = unit * rng.standard_normal(problem.size)
            s = feasible_scale(problem, kty)
            assert 0.0 < s <= 1.0 and inside(s)
            assert s == 1.0 or not inside(s * (1.0 + 1e-7))
            found.append(s)
    assert (min(found) < 1.0) == (unit >= 1.0)


def test_a_term_of_data_alone_makes_up_for_nothing() -> None:
    rng = np.random.default_rng(2)
    text = "data A: matrix[n, d], y: vector[n], L: matrix[n, l]\nvar x: vector[d], z: vector[l]\n"
    text += "minimize mean(quantile(A @ x + L @ z, y, tau=0.3)) + 0.1 * norm2(x) + 0.1 * sum_squares(y)\n"
    data = {"A": rng.standard_normal((12, 3)), "y": rng.standard_normal(12), "L": rng.standard_normal((12, 2))}
    problem = fw.parse(text).bind(**data)
    for method in (None, "pdhg", "interior"):
        s = problem.solve(threads=1, **({} if method is None else {"method": method}))
        assert s.status == "optimal"
        without = fw.parse(text.replace(" + 0.1 * sum_squares(y)", "")).bind(**data).solve(threads=1)
        assert s.objective == pytest.approx(without.objective + 0.1 * float(data["y"] @ data["y"]), rel=1e-5)


def test_a_point_of_the_interior_has_no_support() -> None:
    """All entries of such a point are positive; only where they outweigh their multipliers do these vanish."""
    rng = np.random.default_rng(8)
    A, b = rng.standard_normal((9, 6)), rng.standard_normal(9)
    text = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize norm2(A @ x - b)\nsubject to x >= 0\n"
    bound = fw.parse(text).bind(A=A, b=b)
    s = bound.solve(threads=1, tol=1e-10)
    x = np.asarray(s["x"])
    assert 0 < np.count_nonzero(x < 1e-6) < 6
    y = (A @ x - b) / np.linalg.norm(A @ x - b) + 1e-9 * rng.standard_normal(9)
    with closing(PreparedProblem(bound.canonical, 1)) as problem:
        (repaired,) = repair(problem, [y], np.maximum(x, 1e-9))
        v = -problem.adjoint([repaired])
    assert np.linalg.norm(repaired) <= 1.0 + 1e-15 and v.max() <= 1e-15
    assert -float(b @ repaired) == pytest.approx(s.objective, rel=1e-7)


# --- steps into cones ------------------------------------------------------------------------------------------------------


def prepared(X: np.ndarray, y: np.ndarray, constraint: str) -> tuple[PreparedProblem, np.ndarray, float]:
    """Least squares under a constraint, its solution and its value."""
    text = f"data X: matrix[n, p], y: vector[n]\nvar x: vector[p]\nminimize sum(squared(X @ x, y))\n{constraint}\n"
    problem = fw.parse(text).bind(X=X, y=y)
    s = problem.solve(tol=1e-12, threads=1)
    return PreparedProblem(problem.canonical, 1), s["x"], s.objective


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("constraint", ["subject to x >= 0", "subject to x in box(0, inf)"])
@pytest.mark.parametrize("sparse", [False, True])
def test_a_step_leads_into_cones_that_are_missed_by_little(constraint: str, unit: float, sparse: bool) -> None:
    """The bound is one, and lacks about what was missed times x."""
    rng = np.random.default_rng(4)
    X = unit * np.where(rng.random((60, 20)) < 0.4, rng.exponential(size=(60, 20)), 0.0)
    y = rng.normal(1.0, 1.0, 60)
    problem, x, value = prepared(sp.csr_array(X) if sparse else X, y, constraint)
    for size in (1e-3, 1e-5, 1e-7):
        z = X @ (x * (1.0 + size * rng.normal(size=x.size)))
        _, ys = problem.losses_gradient([z])
        inside = step_inside(problem, ys)
        assert inside is not None
        kty = problem.adjoint(inside)
        assert all(
            math.isfinite(g.conjugate(-kty[b.slice])) for b, g in zip(problem.canonical.blocks, problem.g, strict=True)
        )
        assert value - 100.0 * size * value < dual_value(problem, inside, kty) <= value * (1.0 + 1e-10)


def test_no_step_where_equalities_are_missed_or_nothing_is() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.exponential(size=(20, 4)), rng.normal(size=20)
    free, _, _ = prepared(X, y, "")
    assert step_inside(free, [rng.normal(size=20)]) is None
    cone, _, _ = prepared(X, y, "subject to x >= 0")
    assert step_inside(cone, [np.ones(20)]) is None  # K'y > 0
    # a column without entries: nothing moves what it misses
    X[:, 1] = 0.0
    assert step_inside(prepared(X, y, "subject to x >= 0")[0], [np.zeros(20)]) is None


def _steps(n: int = 20, p: int = 120, mu: float = 1e-2) -> fw.Problem:
    """Total variation of more coefficients than samples: an equality for each of them, and multipliers of jumps between -mu and mu."""
    rng = np.random.default_rng(5)
    X = np.cumsum(rng.normal(size=(n, p)), 1) / np.sqrt(np.arange(1, p + 1))
    y = X @ np.repeat(rng.normal(size=p // 20), 20) / math.sqrt(p) + 0.5 * rng.normal(size=n)
    text = "data X: matrix[n, p], y: vector[n]\nparam mu: positive\nvar w: vector[p], b: real\n"
    text += "minimize mean(squared(X @ w + b, y)) + mu * norm1(diff(w))\n"
    return fw.parse(text).bind(X=X, y=y, mu=mu)


@pytest.mark.parametrize("at_ends", [0.0, 0.5, 1.0])
def test_multipliers_at_their_ends_shrink_to_meet_more_equalities_than_are_between(at_ends: float) -> None:
    """No step within the ends meets the equalities where most jumps are at one; with all of y shrunk there is a bound above the infima."""
    canonical = _steps().canonical
    rng = np.random.default_rng(1)
    with closing(PreparedProblem(canonical, 1)) as problem:
        ys = []
        for term in problem.terms:
            y = 1e-3 * rng.normal(size=term.map.rows)
            if not hasattr(term.f, "loss"):
                ends = 1e-2 * np.sign(rng.normal(size=y.size))
                y = np.where(rng.random(y.size) < at_ends, ends, y)
            ys.append(y)
        ys = repair(problem, ys, np.zeros(problem.size))
        assert math.isfinite(problem.conjugates(ys))
        left = problem.adjoint(ys)
        assert np.abs(left).max() <= 1e-12 * max(np.abs(y).max() for y in ys)
        assert problem.decomposed > 0.0
        assert problem.passes > problem.decomposed / BY_BLOCKS / canonical.nnz


@pytest.mark.parametrize("mu", [1e-3, 1e-1])
def test_total_variation_has_a_bound_above_zero_long_before_its_end(mu: float) -> None:
    s = _steps(mu=mu).solve(method="pdhg", max_iter=400, threads=1)
    assert 0.0 < s.dual_bound <= s.objective
    best = _steps(mu=mu).solve(threads=1)
    assert best.status == "optimal"
    assert s.dual_bound <= best.objective * (1.0 + 1e-9)
    assert best.dual_bound <= s.objective * (1.0 + 1e-9)


@pytest.mark.parametrize("beyond", [1.0001, 1.5, 1e3])
def test_a_penalty_is_scaled_into_beside_an_equality_that_is_missed_by_rounding(beyond: float) -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((30, 4))
    t = rng.standard_normal(30)
    text = "data X: matrix[n, p], t: vector[n]\nvar w: vector[p], b: real\nminimize sum(squared(X @ w + b, t)) + 2 * norm1(w)"
    canonical = fw.parse(text).bind(X=X, t=t).canonical
    y = t - t.mean()
    y *= 2.0 * beyond / np.abs(X.T @ y).max()
    # what is left of the sum is less than rounding of its terms, and more than 0
    y[0] += 1e-15 * np.abs(y).max()
    with closing(PreparedProblem(canonical, 1, 0)) as problem:
        (found,) = repair(problem, [y], np.zeros(problem.size))
    assert np.abs(X.T @ found).max() <= 2.0 * (1.0 + 1e-12) and abs(found.sum()) <= 1e-13 * np.abs(found).sum()
    assert np.allclose(found, y / beyond, rtol=1e-9, atol=1e-12 * np.abs(y).max())


def test_an_entry_with_room_makes_up_for_its_coordinate_without_a_system() -> None:
    """The slope of log(x) is negative: of y well below 0 a little more meets the equality, even where no time is left for a system."""
    rng = np.random.default_rng(8)
    text = "data R: matrix[m, n], c: vector[m]\nvar x: vector[n]\nminimize -sum(log(x)) + sum(x[1:])\nsubject to R @ x <= c"
    R, c = rng.random((4, 9)), np.ones(4)
    problem = PreparedProblem(fw.parse(text).bind(R=R, c=c).canonical, 1)
    k = next(k for k, t in enumerate(problem.terms) if not t.is_indicator)
    met = [np.zeros(9) if i == k else np.ones(4) for i in range(len(problem.terms))]
    met[k] = -(problem.q + problem.adjoint(met))
    assert met[k].max() < 0.0
    near = [y.copy() for y in met]
    near[k] += 1e-6 * rng.standard_normal(9)
    found = repair(problem, near, np.ones(9), stop=lambda: True)
    np.testing.assert_allclose(found[k], met[k], rtol=1e-14)
    # a change as large as y itself is no small one
    far = [y.copy() for y in met]
    far[k][0] *= 0.5
    assert repair(problem, far, np.ones(9), stop=lambda: True)[k][0] == far[k][0]


@pytest.mark.parametrize("n", [4, 6])
def test_an_h_infinity_norm_by_a_matrix_inequality(n: int) -> None:
    """The bounded real lemma: the dual point has no room beside the multiplier of P, and is repaired at its edge."""
    rng = np.random.default_rng(1)
    A = rng.standard_normal((n, n)) / np.sqrt(n)
    A -= (np.linalg.eigvals(A).real.max() + 0.5) * np.eye(n)
    B, C = rng.standard_normal((n, 2)), rng.standard_normal((2, n))
    text = """
data A: matrix[n, n], B: matrix[n, m], C: matrix[p, n]
var P: psd[n], g: real
minimize g
subject to -vstack(hstack(A.T @ P + P @ A, P @ B, C.T), hstack(B.T @ P, -g * eye(m), zeros(m, p)), hstack(C, zeros(p, m), -g * eye(p))) in psd
"""
    solution = fw.parse(text).bind(A=A, B=B, C=C).solve(threads=1)
    assert (solution.status, solution.method) == ("optimal", "interior")
    gains = [np.linalg.norm(C @ np.linalg.solve(1j * f * np.eye(n) - A, B), 2) for f in np.linspace(0.0, 5.0, 20_001)]
    assert solution.objective == pytest.approx(max(gains), rel=1e-5)
