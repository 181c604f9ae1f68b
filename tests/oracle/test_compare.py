"""Solving with cvxpy, comparing, and checking a certificate again."""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import fwdsl as fw
from fwdsl.atoms.losses import LOSSES as CLASSES
from fwdsl.certify.certificate import Certificate
from fwdsl.oracle import OracleResult, check_certificate, compare, solve_oracle
from fwdsl.oracle import solve as oracle_solve
from fwdsl.oracle.conjugates import CONJUGATES, dual_norm, loss_conjugate
from fwdsl.oracle.solve import OUT_OF_TIME, TOO_LARGE
from fwdsl.oracle.translate import loss_of_atom
from fwdsl.results.solution import Solution, Times
from fwdsl.words import LOSSES

RNG = np.random.default_rng(11)
A = RNG.standard_normal((15, 4))
B = RNG.standard_normal(15)
Y = np.where(RNG.standard_normal(15) > 0, 1.0, -1.0)


def solution(objective: float, bound: float, status: str = "optimal", relative_gap: float = 0.0) -> Solution:
    certificate = Certificate("exact", objective, bound, abs(objective - bound), relative_gap, 0.0, 1.0)
    return Solution(status, certificate, {}, {}, {}, "apg", 1, 1.0, 1.0, "", Times())  # type: ignore[arg-type]


def missing(objective: float, bound: float, infeasibility: float) -> Solution:
    """An answer of a run that reached its limit, whose point misses its constraints."""
    found = solution(objective, bound, "tolerance_not_reached", 0.1)
    return replace(found, certificate=replace(found.certificate, infeasibility=infeasibility))


def oracle(value: float, residual: float = 1e-10, status: str = "optimal") -> OracleResult:
    return OracleResult(value, {}, residual, status, "CLARABEL")


@pytest.mark.parametrize(
    ("ours", "theirs", "agrees"),
    [
        (solution(1.0, 1.0), oracle(1.0 + 1e-7), True),
        (solution(1.0, 1.0), oracle(1.0 + 1e-5), False),
        # a narrow certificate, and a residual of the oracle that explains the difference
        (solution(1.0, 1.0 - 1e-9), oracle(1.0 + 1e-5, residual=1e-4), True),
        (solution(1.0, 1.0 - 1e-7), oracle(1.0 + 1e-5, residual=1e-4), False),
        # stopped early: the certificate contains the value
        (solution(1.1, 0.9, "tolerance_not_reached"), oracle(1.0), True),
        (solution(1.1, 1.05, "tolerance_not_reached"), oracle(1.0), False),
        (solution(1.1, -math.inf, "interrupted"), oracle(1.0), True),
        # nor does an answer that is not certified contradict what its bounds leave open
        (missing(0.9, 0.8, 1e-3), oracle(1.0), None),
        (missing(0.9, 0.8, 0.0), oracle(1.0), False),
        (missing(1.1, 1.05, 1e-3), oracle(1.0), False),
        (missing(0.9, -math.inf, 1e-3), oracle(math.inf, status="infeasible"), None),
        (missing(0.9, -math.inf, 0.0), oracle(math.inf, status="infeasible"), False),
        (missing(0.9, -math.inf, 0.0), oracle(-math.inf, status="unbounded"), None),
        (missing(0.9, 0.8, 0.0), oracle(-math.inf, status="unbounded"), False),
        (solution(math.inf, math.inf, "infeasible"), oracle(math.inf, status="infeasible"), True),
        (solution(1.0, 1.0), oracle(math.inf, status="infeasible"), False),
        (solution(-math.inf, -math.inf, "unbounded"), oracle(1.0), False),
        (solution(1.0, 1.0), oracle(math.nan, status="solver_error"), False),
        # an oracle that has not finished: only agreement counts
        (solution(1.0, 1.0), oracle(1.0 + 1e-7, status=OUT_OF_TIME), True),
        (solution(1.0, 1.0), oracle(1.5, residual=1.0, status=OUT_OF_TIME), None),
        (solution(1.0, 1.0), oracle(math.nan, status=OUT_OF_TIME), None),
        (solution(math.inf, math.inf, "infeasible"), oracle(math.nan, status=TOO_LARGE), None),
        # an optimum of zero is judged on the scale of the certificate
        (solution(1e-10, 0.0), oracle(0.0), True),
    ],
)
def test_verdicts(ours: Solution, theirs: OracleResult, agrees: bool | None):
    verdict = compare(ours, theirs)
    assert verdict.agrees is agrees
    assert verdict.text
    if ours.status == "tolerance_not_reached":
        assert "not certified" in verdict.text


def test_a_known_optimum():
    x = fw.vector(4, name="x")
    found = solve_oracle(fw.minimize(fw.sum_squares(A @ x - B)).instance)
    exact, residuals, *_ = np.linalg.lstsq(A, B, rcond=None)
    assert found.status == "optimal"
    assert found.value == pytest.approx(residuals[0], rel=1e-9)
    np.testing.assert_allclose(found.variables["x"], exact, atol=1e-5)
    assert found.residual <= 1e-8


def test_statuses():
    x = fw.vector(4, name="x")
    assert solve_oracle(fw.minimize(fw.sum_squares(x), x >= 1, fw.sum(x) <= 3).instance).status == "infeasible"
    assert solve_oracle(fw.minimize(fw.sum(x), x <= 1).instance).status == "unbounded"
    best = solve_oracle(fw.maximize(fw.sum(x) - fw.sum_squares(x)).instance)
    assert (best.status, best.value) == ("optimal", pytest.approx(1.0))


def test_without_cvxpy_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    x = fw.vector(4, name="x")
    with pytest.raises(fw.FwError) as caught:
        solve_oracle(fw.minimize(fw.sum_squares(x - 1)).instance)
    assert caught.value.code == "FW0311"
    assert caught.value.hint == "pip install 'fwdsl[oracle]'"


def test_what_cannot_be_translated_says_so():
    A = fw.operator(shape=(3, 3), matvec=lambda x: 2.0 * x, rmatvec=lambda y: 2.0 * y)
    x = fw.vector(3, name="x")
    with pytest.raises(fw.FwError) as caught:
        solve_oracle(fw.minimize(fw.sum_squares(A @ x - 1)).instance)
    assert caught.value.code == "FW0312"


VALUES = {
    "squared": lambda z, b: (z - b) ** 2,
    "absolute": lambda z, b: abs(z - b),
    "quantile": lambda z, b: 0.3 * max(0, b - z) + 0.7 * max(0, z - b),
    "huber": lambda z, b: (z - b) ** 2 / 2 if abs(z - b) <= 0.8 else 0.8 * (abs(z - b) - 0.4),
    "epsilon_insensitive": lambda z, b: max(0, abs(z - b) - 0.2),
    "squared_epsilon_insensitive": lambda z, b: max(0, abs(z - b) - 0.2) ** 2,
    "logistic": lambda z, b: math.log1p(math.exp(-b * z)),
    "hinge": lambda z, b: max(0, 1 - b * z),
    "squared_hinge": lambda z, b: max(0, 1 - b * z) ** 2,
    "smooth_hinge": lambda z, b: 0 if b * z >= 1 else (1 - b * z) ** 2 / 2 if b * z >= 0 else 0.5 - b * z,
    "poisson": lambda z, b: math.exp(z) - b * z,
    "log": lambda z, b: -math.log(z),
    "power": lambda z, b: z**1.5,
    "abs_power": lambda z, b: abs(z) ** 1.5,
    "kl_div": lambda z, b: z * math.log(z / b) - z + b,
    "poisson_rate": lambda z, b: z - b + b * math.log(b / z),
    "gamma_loss": lambda z, b: z + b * math.exp(-z),
}
OPTIONS = {"tau": 0.3, "delta": 0.8, "eps": 0.2, "p": 1.5}


def test_every_conjugate_is_here_or_taken_from_a_translation():
    assert set(VALUES) == set(CONJUGATES)
    elsewhere = [name for name, loss in LOSSES.items() if not loss.scores and name not in CONJUGATES]
    for name in elsewhere:
        assert loss_of_atom(
            name, cp.Variable(2), 1.0, dict.fromkeys((o.name for o in LOSSES[name].options), 1.5)
        ).is_convex()


@pytest.mark.parametrize("name", CONJUGATES)
@pytest.mark.parametrize("t", [0.05, 0.3, 0.65])
def test_conjugates_against_a_numeric_supremum(name: str, t: float):
    b = 1.0 if LOSSES[name].target == "signs" else 0.6
    falls = LOSSES[name].target == "signs" or name == "log"
    u = -t if falls else (0.25 - t / 2 if name == "quantile" else t - 0.4)
    least = 1e-9 if name in CLASSES and CLASSES[name].has_domain else -30
    best = minimize_scalar(
        lambda z: VALUES[name](z, b) - u * z, bounds=(least, 30), method="bounded", options={"xatol": 1e-10}
    )
    value = loss_conjugate(name, np.array([u]), np.array([b]), OPTIONS)
    assert value[0] == pytest.approx(-best.fun, abs=1e-6)


@pytest.mark.parametrize(("name", "u"), [("logistic", 0.1), ("hinge", -1.1), ("absolute", 1.01), ("poisson", -0.7)])
def test_conjugates_are_infinite_outside_their_domain(name: str, u: float):
    b = 1.0 if name in ("logistic", "hinge") else 0.6
    assert loss_conjugate(name, np.array([u]), np.array([b]), {})[0] == math.inf


def test_dual_norms():
    y = np.array([3.0, -4.0])
    assert [dual_norm(n, y) for n in ("norm1", "norm_inf", "norm2")] == [4.0, 7.0, 5.0]


X = fw.vector(4, name="x")
PROBLEMS = {
    "smooth on a ball": fw.minimize(fw.mean(fw.logistic(A @ X, Y)), fw.norm1(X) <= 0.5),
    "lasso": fw.minimize(fw.mean(fw.squared(A @ X, B)) + 0.1 * fw.norm1(X)),
    "ridge and intercept": fw.minimize(fw.sum(fw.squared_hinge(A @ X + fw.scalar(name="c"), Y)) + fw.sum_squares(X)),
    "nonsmooth": fw.minimize(fw.sum(fw.absolute(A @ X, B)), X.in_(fw.simplex(1))),
    "maximize": fw.maximize(fw.dot(B[:4], X) - fw.sum_squares(A @ X), X.in_(fw.box(-1, 1)), fw.sum(X) <= 0.1),
    "norm of a map": fw.minimize(fw.norm1(A @ X - B) + 0.5 * fw.norm2(X), A[:2] @ X == B[:2] / 10),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_certificates_hold_when_checked_again(name: str):
    problem = PROBLEMS[name]
    found = problem.solve(tol=1e-6, threads=1)
    assert found.status == "optimal"
    again = check_certificate(problem.instance, found)
    assert again.agrees, again.text
    sense = 1 if problem.model.sense == "minimize" else -1
    assert sense * (again.objective - again.dual_bound) >= -1e-7
    assert compare(found, solve_oracle(problem.instance)).agrees


@pytest.mark.parametrize("name", PROBLEMS)
def test_false_claims_are_caught(name: str):
    problem = PROBLEMS[name]
    found = problem.solve(tol=1e-6, threads=1)
    sense = 1 if problem.model.sense == "minimize" else -1
    c = found.certificate
    step = sense * 1e-4 * max(abs(c.objective), c.scale)
    over = replace(found, certificate=replace(c, dual_bound=c.dual_bound + step))
    assert "the dual point proves" in check_certificate(problem.instance, over).text
    better = replace(found, certificate=replace(c, objective=c.objective - step))
    assert "the objective at the solution is" in check_certificate(problem.instance, better).text


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_claimed_size_of_the_terms_makes_no_difference_small(name: str):
    problem = PROBLEMS[name]
    found = problem.solve(tol=1e-6, threads=1)
    sense = 1 if problem.model.sense == "minimize" else -1
    c = replace(found.certificate, scale=1e12)
    step = sense * 1e-3 * max(abs(c.objective), found.certificate.scale)
    again = check_certificate(problem.instance, replace(found, certificate=c))
    assert again.agrees and again.scale <= 1e3 * found.certificate.scale
    for false in ({"objective": c.objective - step}, {"dual_bound": c.dual_bound + step}):
        assert not check_certificate(problem.instance, replace(found, certificate=replace(c, **false))).agrees


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize(
    "claims",
    [{"gap": -1.0}, {"dual_bound": -math.inf}, {"apart": 0.1, "gap": 0.0}, {"apart": 0.1, "relative_gap": 0.0}],
)
def test_a_gap_smaller_than_objective_and_bound_are_apart_is_found(name: str, claims: dict[str, float]):
    problem = PROBLEMS[name]
    found = problem.solve(tol=1e-6, threads=1)
    sense = 1 if problem.model.sense == "minimize" else -1
    c = found.certificate
    apart = claims.pop("apart", None) if (claims := dict(claims)) else None
    if apart is not None:
        # a bound that holds, and is far from tight
        gap = apart * max(abs(c.objective), c.scale)
        c = replace(c, dual_bound=c.dual_bound - sense * gap, gap=2.0 * gap, relative_gap=math.inf)
        assert check_certificate(problem.instance, replace(found, certificate=c)).agrees
    again = check_certificate(problem.instance, replace(found, certificate=replace(c, **claims)))
    assert not again.agrees and "apart" in again.text


def test_an_oracle_without_time_and_data_too_large_for_it(monkeypatch: pytest.MonkeyPatch):
    x = fw.vector(4, name="x")
    instance = fw.minimize(fw.mean(fw.squared(A @ x, B))).instance
    assert solve_oracle(instance, 0.0).status == OUT_OF_TIME
    monkeypatch.setattr(oracle_solve, "LARGEST", A.size - 1)
    assert solve_oracle(instance).status == TOO_LARGE


def test_the_ball_of_a_sum_of_squares_has_the_root_of_its_bound():
    text = "data A: matrix[n, d], b: vector[n]\nparam r: positive\nvar x: vector[d]\nminimize mean(squared(A @ x, b))\n"
    for bound in ("sum_squares(x) <= r", "3 * sum_squares(2 * x) <= 12 * r"):
        problem = fw.parse(f"{text}subject to {bound}\n").bind(A=A, b=B, r=0.01)
        found = problem.solve(tol=1e-8)
        assert np.linalg.norm(found["x"]) == pytest.approx(0.1, rel=1e-6)
        assert compare(found, solve_oracle(problem.instance)).agrees


def test_cones_too_large_for_one_solver_are_left_to_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clarabel's process is aborted where its memory does not suffice, and the verdict would be lost."""
    rng = np.random.default_rng(0)
    text = "data M: entries[n, p]\nvar B: matrix[n, p]\nminimize 1/2 * sum(squared(B[M], M)) + norm_nuc(B)\n"
    M = (rng.integers(0, 8, 30), rng.integers(0, 6, 30), rng.standard_normal(30))
    instance = fw.parse(text).bind(M=M, n=8, p=6).instance
    own = solve_oracle(instance)
    assert own.solver == "CLARABEL"
    monkeypatch.setattr(oracle_solve, "LARGEST_CONES", 1e4)
    other = solve_oracle(instance)
    assert other.solver == "SCS"
    assert other.value == pytest.approx(own.value, rel=1e-5)
