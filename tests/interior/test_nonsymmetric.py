"""Exponential and power cones: barriers against their derivatives by differences, scalings against their secants, whole programs against cvxpy."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.base import Array
from fwdsl.backends.interior import barriers
from fwdsl.backends.interior.nonsymmetric import Nonsymmetric
from fwdsl.backends.interior.program import Batch
from fwdsl.backends.interior.run import InteriorRun
from fwdsl.backends.problem import PreparedProblem

POWERS = (0.0, 0.05, 0.3, 0.5, 0.8)
"""0 is the exponential cone."""

each = pytest.mark.parametrize("a", POWERS)


def batch_of(a: float, number: int) -> Batch:
    return Batch("power" if a else "exponential", 0, number, 3, (a,) * number if a else ())


def at(a: float, s: Array, z: Array) -> barriers.Barriers:
    """Both barriers of one cone."""
    return barriers.barriers(np.array([a]), s.copy(), z.copy())


def is_inside(a: float, point: Array, dual: bool) -> bool:
    """True if the point is in the interior of the cone, or of the dual one."""
    unit = Nonsymmetric.unit(batch_of(a, 1))
    return Nonsymmetric.inside(batch_of(a, 1), *((unit, point) if dual else (point, unit)))


def points(a: float, seed: int, number: int = 6, dual: bool = False) -> Array:
    """Points of the interior, at random."""
    rng = np.random.default_rng([seed, int(100 * a)])
    found: list[Array] = []
    while len(found) < number:
        point = 2.0 * rng.standard_normal(3)
        if is_inside(a, point, dual):
            found.append(point)
    return np.array(found)


def barrier(a: float, z: Array) -> float:
    """f*, as the docstring of the barriers has it."""
    x, y, w = z
    if a:
        psi = (x / a) ** (2.0 * a) * (y / (1.0 - a)) ** (2.0 - 2.0 * a) - w * w
        return -math.log(psi) - (1.0 - a) * math.log(x) - a * math.log(y)
    return -math.log(y - x - x * math.log(-w / x)) - math.log(-x) - math.log(w)


def derivative(a: float, z: Array) -> tuple[Array, Array]:
    """The gradient and the Hessian of f*."""
    found = at(a, Nonsymmetric.unit(batch_of(a, 1)), z)
    return found.dual[:, 0], found.R[:, :, 0].T @ found.R[:, :, 0]


def conjugate_point(a: float, s: Array) -> Array:
    """The gradient of f."""
    return at(a, s, Nonsymmetric.unit(batch_of(a, 1))).primal[:, 0]


@each
def test_derivatives_of_the_barrier(a: float) -> None:
    step = 1e-5
    for z in points(a, 1, dual=True):
        g, bends = derivative(a, z)
        by_differences = [(barrier(a, z + step * e) - barrier(a, z - step * e)) / (2.0 * step) for e in np.eye(3)]
        assert g == pytest.approx(by_differences, rel=1e-4, abs=1e-4)
        found = [(derivative(a, z + step * e)[0] - derivative(a, z - step * e)[0]) / (2.0 * step) for e in np.eye(3)]
        assert np.array(found) == pytest.approx(bends, rel=1e-3, abs=1e-4 * float(np.abs(bends).max()))
        assert float(g @ z) == pytest.approx(-3.0)  # the barrier has the degree 3


@each
@pytest.mark.parametrize("depth", [1.0, 1e-4, 1e-9])
def test_the_gradients_of_both_barriers_are_each_others_inverse(a: float, depth: float) -> None:
    """Also close to the boundary."""
    for s in points(a, 2):
        x, y, w = s
        edge = np.array(
            [y * math.log(w / y) if a == 0.0 else x, y, w if a == 0.0 else math.copysign(x**a * y ** (1.0 - a), w)]
        )
        point = edge + depth * (s - edge)
        z = -conjugate_point(a, point)
        assert is_inside(a, z, dual=True)
        assert -derivative(a, z)[0] == pytest.approx(point, rel=1e-5)


@each
def test_the_middle_is_its_own_conjugate(a: float) -> None:
    unit = Nonsymmetric.unit(batch_of(a, 1))
    assert -derivative(a, unit)[0] == pytest.approx(unit, abs=1e-8)
    assert Nonsymmetric.inside(batch_of(a, 1), unit, unit)
    assert Nonsymmetric.degree(batch_of(a, 2)) == 6


@each
def test_a_scaling_has_both_secants(a: float) -> None:
    """W z = W^-T s, and the same for what the barriers make of s and z."""
    s, z = points(a, 3), points(a, 4, dual=True)
    batch = batch_of(a, 6)
    found = Nonsymmetric(batch, s.reshape(-1), z.reshape(-1))
    assert found.w(z.reshape(-1)) == pytest.approx(found.inverse_t(s.reshape(-1)), rel=1e-7, abs=1e-7)
    conjugates = np.concatenate([conjugate_point(a, p) for p in s])
    gradients = np.concatenate([derivative(a, p)[0] for p in z])
    assert found.w(conjugates) == pytest.approx(found.inverse_t(gradients), rel=1e-5, abs=1e-6)
    u, v = np.random.default_rng(5).standard_normal((2, 18))
    assert found.inverse(found.w(v)) == pytest.approx(v, rel=1e-6, abs=1e-6)
    assert found.wt(found.inverse_t(v)) == pytest.approx(v, rel=1e-6, abs=1e-6)
    assert float(u @ found.w(v)) == pytest.approx(float(found.wt(u) @ v), rel=1e-8, abs=1e-8)


@each
def test_on_the_central_path_the_scaling_is_the_hessian(a: float) -> None:
    z = points(a, 6, dual=True)
    s = np.array([-0.3 * derivative(a, p)[0] for p in z])
    found = Nonsymmetric(batch_of(a, 6), s.reshape(-1), z.reshape(-1))
    for i in range(6):
        assert found.own[i].T @ found.own[i] == pytest.approx(0.3 * derivative(a, z[i])[1], rel=1e-6, abs=1e-6)
    assert Nonsymmetric.central(batch_of(a, 6), s.reshape(-1), z.reshape(-1), 0.3)


@each
def test_the_correction_has_the_third_derivatives(a: float) -> None:
    rng, step = np.random.default_rng(7), 1e-5
    s, z = points(a, 8), points(a, 9, dual=True)
    found = Nonsymmetric(batch_of(a, 6), s.reshape(-1), z.reshape(-1))
    ds, dz = rng.standard_normal((2, 6, 3))
    own = found.aim(ds.reshape(-1), dz.reshape(-1), 0.7).reshape(6, 3)
    for i in range(6):
        g, H = derivative(a, z[i])
        along = step * dz[i] / float(np.abs(dz[i] / z[i]).max())
        change = derivative(a, z[i] + along)[1] - derivative(a, z[i] - along)[1]
        third = change / (2.0 * step) * float(np.abs(dz[i] / z[i]).max()) @ np.linalg.solve(H, ds[i])
        assert own[i] == pytest.approx(s[i] + 0.7 * g - 0.5 * third, rel=1e-3, abs=1e-3 * float(np.abs(third).max()))


def test_cones_of_several_powers_are_scaled_at_once() -> None:
    few = (0.3, 0.8)
    s, z = (np.concatenate([points(a, 12, 1, dual) for a in few]) for dual in (False, True))
    found = Nonsymmetric(Batch("power", 0, 2, 3, few), s.reshape(-1), z.reshape(-1))
    v = np.random.default_rng(1).standard_normal(6)
    for i, a in enumerate(few):
        own = slice(3 * i, 3 * i + 3)
        alone = Nonsymmetric(batch_of(a, 1), s[i], z[i])
        assert found.w(v)[own] == pytest.approx(alone.w(v[own]), rel=1e-9)
        one, other = found.aim(v, v, 0.1)[own], alone.aim(v[own], v[own], 0.1)
        assert one == pytest.approx(other, rel=1e-9)
    t = [
        Nonsymmetric(batch_of(a, 1), s[i], z[i]).reach(v[3 * i : 3 * i + 3], -v[3 * i : 3 * i + 3], 5.0)
        for i, a in enumerate(few)
    ]
    assert found.reach(v, -v, 5.0) == pytest.approx(min(t), rel=0.02)


@each
def test_the_longest_step_ends_close_to_the_boundary(a: float) -> None:
    s, z = points(a, 10), points(a, 11, dual=True)
    batch = batch_of(a, 6)
    found = Nonsymmetric(batch, s.reshape(-1), z.reshape(-1))
    for seed in range(4):
        ds, dz = np.random.default_rng(seed).standard_normal((2, 18))
        t = found.reach(ds, dz, 10.0)
        within, beyond = ((s.reshape(-1) + e * t * ds, z.reshape(-1) + e * t * dz) for e in (0.999, 1.01))
        assert Nonsymmetric.inside(batch, *within)
        assert t == 10.0 or not Nonsymmetric.inside(batch, *beyond)


# --- whole programs -------------------------------------------------------------------------------------------------------

LOGISTIC = """data A: matrix[n, d], s: signs[n]
param scale: positive
var x: vector[d], c: real
minimize mean(logistic(A @ x + c, s)) + 0.02 * scale * norm1(x)
subject to sum(x) == 0.5 / scale, x <= 0.6 / scale
"""

POISSON = """data A: matrix[n, d], k: vector[n]
var x: vector[d]
minimize sum(poisson(A @ x, k))
subject to sum(x) == 0.5, x <= 0.4
"""

SOFTMAX = """data A: matrix[n, d], y: labels[n, k]
var W: matrix[d, k]
minimize mean(softmax(A @ W, y)) + 0.01 * norm1(W)
subject to W <= 0.3
"""

ENTROPY = """data A: matrix[m, d], b: vector[m], q: vector[d]
var x: vector[d] in simplex(1)
minimize 0.3 * entropy(x) + dot(q, x)
subject to A @ x == b
"""


def solved(text: str, **data: object) -> fw.Solution:
    found = fw.parse(text).bind(**data).solve(method="interior", tol=1e-7)
    assert found.status == "optimal"
    return found


@pytest.mark.parametrize(("n", "d", "unit"), [(30, 4, 1.0), (60, 11, 1e-6), (25, 3, 1e6), (9, 12, 1.0)])
def test_logistic_regression_under_constraints(n: int, d: int, unit: float) -> None:
    rng = np.random.default_rng([n, d])
    A = rng.standard_normal((n, d))
    s = np.where(rng.random(n) < 0.6, 1.0, -1.0)
    found = solved(LOGISTIC, A=A * unit, s=s, scale=unit)
    x, c = cp.Variable(d), cp.Variable()
    price = cp.sum(cp.logistic(-cp.multiply(s, A @ x + c))) / n + 0.02 * cp.norm1(x)
    expected = cp.Problem(cp.Minimize(price), [cp.sum(x) == 0.5, x <= 0.6]).solve(solver=cp.CLARABEL)
    assert found.objective == pytest.approx(expected, rel=1e-5)
    assert found["x"] * unit == pytest.approx(x.value, abs=1e-3)


@pytest.mark.parametrize(("n", "d"), [(20, 3), (50, 8), (4, 6)])
def test_counts_under_constraints(n: int, d: int) -> None:
    rng = np.random.default_rng([n, d])
    A = rng.standard_normal((n, d))
    k = rng.poisson(2.0, size=n).astype(float)
    found = solved(POISSON, A=A, k=k)
    x = cp.Variable(d)
    price = cp.sum(cp.exp(A @ x)) - k @ (A @ x)
    expected = cp.Problem(cp.Minimize(price), [cp.sum(x) == 0.5, x <= 0.4]).solve(solver=cp.CLARABEL)
    assert found.objective == pytest.approx(expected, rel=1e-5, abs=1e-4)


def test_classes_under_constraints() -> None:
    rng = np.random.default_rng(1)
    A, y = rng.standard_normal((40, 5)), rng.integers(0, 4, size=40)
    found = solved(SOFTMAX, A=A, y=y, k=4)
    W = cp.Variable((5, 4))
    Z = A @ W
    price = (
        cp.sum(cp.log_sum_exp(Z, axis=1)) / 40 - cp.sum(cp.multiply(np.eye(4)[y], Z)) / 40 + 0.01 * cp.sum(cp.abs(W))
    )
    expected = cp.Problem(cp.Minimize(price), [W <= 0.3]).solve(solver=cp.CLARABEL)
    assert found.objective == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(("m", "d"), [(1, 2), (3, 30), (20, 200)])
def test_most_entropy_with_given_means(m: int, d: int) -> None:
    rng = np.random.default_rng([m, d])
    A, q, p = rng.standard_normal((m, d)), rng.standard_normal(d), rng.random(d)
    found = solved(ENTROPY, A=A, b=A @ p / p.sum(), q=q)
    x = cp.Variable(d)
    price = -0.3 * cp.sum(cp.entr(x)) + q @ x
    rows = [cp.sum(x) == 1, x >= 0, A @ x == A @ p / p.sum()]
    expected = cp.Problem(cp.Minimize(price), rows).solve(solver=cp.CLARABEL)
    assert found.objective == pytest.approx(expected, rel=1e-5, abs=1e-5)


def test_programs_without_a_solution() -> None:
    """No distribution has these means; and a way down beside the exponentials."""
    A = np.arange(6.0)[None, :]
    problem = fw.parse(ENTROPY).bind(A=A, b=np.array([7.0]), q=np.zeros(6))
    assert problem.solve(method="interior").status == "infeasible"
    text = "data k: vector[n]\nvar x: vector[n], y: real\nminimize sum(poisson(x, k)) + y\nsubject to y <= 1\n"
    assert fw.parse(text).bind(k=np.array([1.0, 2.0])).solve(method="interior").status == "unbounded"


GROUPS = """data A: matrix[n, d], y: labels[n, k]
var W: matrix[d, k], b: vector[k]
minimize mean(softmax(A @ W + b, y)) + 0.01 * norm21(W)
"""


def test_scores_far_out_alike_are_taken_back() -> None:
    # each entry of b may grow as the others do, and near the optimum rounding made millions of them
    A = np.array([[i, j] for i in (1.0, 2.0, 3.0) for j in (1.0, 2.0, 3.0, 4.0)])
    y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1])
    found = fw.parse(GROUPS).bind(A=A, y=y).solve(method="interior", tol=1e-12)
    # how close to rounding it comes is the machine's
    assert found.relative_gap <= 1e-5
    assert np.abs(found["b"]).max() < 10.0


@pytest.mark.parametrize(
    ("more", "moves"),
    [
        ("", True),
        (" + 1e-9 * sum_squares(b)", False),
        (" + 1e-9 * sum(b)", False),
        ("\nsubject to sum(b) >= -10", False),
    ],
)
def test_only_what_no_term_sees_is_taken_back(more: str, moves: bool) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(12) % 3
    form = fw.parse(GROUPS.rstrip() + more).bind(A=rng.standard_normal((12, 2)), y=y).canonical.dense
    run = InteriorRun(PreparedProblem(form, 1))
    b = np.array([1.0, 0.5, -1.5])
    x = np.concatenate([rng.standard_normal(6), b + 1e6])
    back = run._taken_back(x)
    assert back == pytest.approx(np.concatenate([x[:6], b]) if moves else x, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("var X: symmetric[2]\nmaximize log_det(X)\nsubject to X[0, 0] <= 1", "unbounded"),
        ("var X: symmetric[3]\nmaximize log_det(X)\nsubject to X[0, 0] <= 1, X[1, 1] <= 1", "unbounded"),
        ("var x: vector[2]\nmaximize geo_mean(x)\nsubject to x[0] <= 1", "unbounded"),
        ("var x: vector[3]\nmaximize geo_mean(x) + log(x[0])\nsubject to x[0] + x[1] <= 1", "unbounded"),
        ("var X: symmetric[2]\nmaximize log_det(X)\nsubject to X[0, 0] + X[1, 1] <= 1", "optimal"),
        ("var X: symmetric[2], t: real\nmaximize log_det(X) - t\nsubject to X[0, 0] <= 1, X[1, 1] <= t", "optimal"),
        ("var x: vector[2]\nmaximize geo_mean(x)\nsubject to x[0] <= 1, x[1] <= 4", "optimal"),
    ],
)
def test_a_root_or_a_determinant_that_grows_slower_than_a_line_has_no_bound(text: str, status: str) -> None:
    assert fw.parse(text + "\n").solve(method="interior").status == status


def test_no_point_inside_the_domain_is_no_proof_of_growth() -> None:
    """The mean is 0 at all feasible points, and no determinant is finite, however far the free entry goes."""
    for text in (
        "var x: vector[2]\nmaximize geo_mean(x)\nsubject to x[0] <= 0\nsolve time = 1\n",
        "var X: symmetric[2]\nmaximize log_det(X)\nsubject to X[0, 0] <= 0\nsolve time = 1\n",
    ):
        assert fw.parse(text).solve(method="interior").status != "unbounded"
