"""The verifier: any dual point gives a bound, the three rules for a miss, and a naive transcription of P and D."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.interior.run import InteriorRun
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.data_maps import AbsoluteMatrix
from fwdsl.certify.point import evaluate_point
from fwdsl.certify.verify import verify
from fwdsl.solve import attempts as module
from tests.problems import random_problem


def canonical_of(text: str, **data: object):  # type: ignore[no-untyped-def]
    return fw.parse(text).bind(**data).canonical


@pytest.mark.parametrize("seed", range(30))
def test_any_dual_point_bounds_the_optimum_from_below(seed: int) -> None:
    problem = random_problem(seed)
    bound = fw.parse(problem.text).bind(**problem.data)
    best = bound.solve(tol=1e-7, threads=1)
    rng = np.random.default_rng(seed)
    canonical = bound.canonical
    x = canonical.join(best.variables)
    slack = 1e-6 * max(abs(best.objective), 1e-3 * canonical.scale)
    for size in (0.0, 1e-3, 0.1, 1.0):
        y = [size * rng.standard_normal(t.map.rows) for t in canonical.terms]
        assert verify(canonical, x, y).dual <= best.objective + slack


def test_primal_and_dual_against_a_transcription() -> None:
    """min mean (A x - b)^2 over |x|_1 <= 2: D(y) = sum_j (b_j y_j + ...) written out by hand."""
    rng = np.random.default_rng(0)
    A, b, x, y = (
        rng.standard_normal((5, 3)),
        rng.standard_normal(5),
        0.3 * rng.standard_normal(3),
        rng.standard_normal(5),
    )
    text = "data A: matrix[n, p], b: vector[n]\nvar x: vector[p] in l1_ball(2)\nminimize mean(squared(A @ x, b))\n"
    verified = verify(canonical_of(text, A=A, b=b), x, [y])
    assert verified.primal == pytest.approx(np.mean((A @ x - b) ** 2), rel=1e-14)
    # (w l)*(y) = w l*(y / w) with l*(u) = u^2 / 4 + b u and w = 1/5
    conjugate = np.sum(0.2 * ((5 * y) ** 2 / 4 + b * 5 * y))
    assert verified.dual == pytest.approx(-conjugate - 2 * np.abs(A.T @ y).max(), rel=1e-13)
    assert verified.kind == "exact"
    assert verified.infeasibility == 0.0


def test_a_point_outside_its_set_is_infeasible() -> None:
    canonical = canonical_of("var x: vector[2] in l1_ball(1)\nminimize sum_squares(x)\n")
    assert verify(canonical, np.array([3.0, 0.0]), []).infeasibility > 0.1
    assert verify(canonical, np.array([0.5, -0.5]), []).infeasibility == 0.0


def test_an_equality_missed_by_rounding_is_met_and_one_missed_by_more_is_not() -> None:
    rng = np.random.default_rng(1)
    A, b = rng.standard_normal((12, 2)), rng.standard_normal(12)
    canonical = canonical_of(
        "data A: matrix[n, p], b: vector[n]\nvar x: vector[p]\nminimize sum(absolute(A @ x, b))\n", A=A, b=b
    )
    x = np.linalg.lstsq(A, b, rcond=None)[0]
    y = rng.uniform(-0.5, 0.5, 12)
    y -= A @ np.linalg.lstsq(A, y, rcond=None)[0]
    y *= 0.9 / np.abs(y).max()
    exact = verify(canonical, x, [y])
    assert exact.kind == "exact"
    assert math.isfinite(exact.dual)
    conditional = verify(canonical, x, [y + 1e-14 * A[:, 0]])
    assert conditional.kind == "conditional"
    assert conditional.bound.radius is not None
    assert conditional.bound.radius >= 1000 * np.abs(x).max()
    assert conditional.dual < exact.dual + 1e-9
    none = verify(canonical, x, [y + 1e-6 * A[:, 0]])
    assert none.kind == "none"
    assert none.dual == -math.inf


@pytest.mark.parametrize("last", [0.0, 2.0])
def test_huge_multipliers_that_cancel_hide_no_better_point(last: float) -> None:
    """c meets the equations, which depend on each other, with value 0. Beside multipliers of 1e16 the slope of the loss at x is rounding."""
    text = "data A: matrix[2, 3], c: vector[3]\nvar x: vector[3]\nminimize sum_squares(x - c)\nsubject to A @ x == 0\n"
    c, x = np.array([3.0, -1.0, last]), np.array([0.0, 0.0, last])
    canonical = canonical_of(text, A=np.array([[1.0, 3.0, 0.0], [2.0, 6.0, 0.0]]), c=c)
    huge = np.array([2e16, -1e16])
    verified = verify(canonical, x, [huge if t.is_indicator else 2.0 * (x - c) for t in canonical.terms])
    assert verified.primal == pytest.approx(10.0)
    assert verified.dual <= 1e-9


def test_a_penalty_bounds_what_a_miss_can_cost() -> None:
    rng = np.random.default_rng(2)
    A, b = rng.standard_normal((12, 3)), rng.standard_normal(12)
    text = "data A: matrix[n, p], b: vector[n]\nvar x: vector[p]\nminimize mean(squared(A @ x, b)) + 0.5 * norm1(x)\n"
    bound = fw.parse(text).bind(A=A, b=b)
    best = bound.solve(tol=1e-9)
    canonical = bound.canonical
    x = best["x"]
    gradient = 2 / 12 * (A @ x - b)
    verified = verify(canonical, x, [1.01 * gradient])
    assert verified.kind == "exact"
    assert "penalty" in verified.bound.statement
    assert math.isfinite(verified.dual)
    assert verified.dual <= best.objective


def test_no_dual_point_gives_no_bound() -> None:
    canonical = canonical_of("var x: vector[2] in l1_ball(1)\nminimize sum_squares(x)\n")
    verified = verify(canonical, np.zeros(2), None)
    assert verified.kind == "none"
    assert verified.dual == -math.inf


@pytest.mark.parametrize("power", (100, *range(146, 158), 200))
def test_numbers_that_overflow_bound_nothing(power: int) -> None:
    # |v|^2 / (2 mu) goes through <v, x> - mu/2 |x|^2, which overflows to either side
    text = "data A: matrix[n, p], y: vector[n]\nvar x: vector[p]\nminimize mean(squared(A @ x, y)) + 0.01 * sum_squares(x)\n"
    canonical = canonical_of(text, A=np.array([[1.0, 1e3], [2.0, 1.0]]), y=np.array([1.0, 0.0]))
    with np.errstate(over="ignore", invalid="ignore"):
        found = verify(canonical, np.zeros(2), [np.full(2, float(f"1e{power}"))])
    assert found.dual < 0.0
    assert math.isfinite(found.dual) == (found.kind == "exact")


def lasso_data() -> dict[str, object]:
    rng = np.random.default_rng(3)
    return {"A": rng.standard_normal((40, 6)), "b": rng.standard_normal(40)}


LASSO = "data A: matrix[n, p], b: vector[n]\nvar x: vector[p]\nminimize sum(squared(A @ x, b)) + 3 * norm1(x)\n"


def test_rounding_at_the_end_of_a_penalty_is_no_missed_equality() -> None:
    """y with |A'y| = 3 but for rounding is scaled into the domain; by more than rounding it is not, and the penalty's own bound pays for it."""
    data = lasso_data()
    canonical, A = canonical_of(LASSO, **data), np.asarray(data["A"])
    x = 0.1 * np.ones(6)
    y = np.asarray(data["b"])
    y = y * (3.0 / np.abs(A.T @ y).max())
    whole = verify(canonical, x, [0.99 * y]).bound
    assert whole.met
    over = verify(canonical, x, [(1.0 + 1e-14) * y]).bound
    assert over.met
    assert over.statement == whole.statement
    assert np.abs(A.T @ over.y[0]).max() <= 3.0 * (1.0 + 1e-15)
    assert over.value == pytest.approx(verify(canonical, x, [(1.0 - 1e-14) * y]).bound.value, rel=1e-12)
    missed = verify(canonical, x, [(1.0 + 1e-9) * y]).bound
    assert not missed.met
    assert missed.statement != whole.statement


def test_sizes_that_count_for_nothing_are_not_taken() -> None:
    """Beside no constant every size of x is far out; a constant holds it, and |K| |x| is then a part of S."""
    data = lasso_data()
    x = np.linspace(-1.0, 1.0, 6)
    plain = evaluate_point(canonical_of(LASSO, **data), x)
    assert [sums.size for sums in plain.sums] == [0]
    held = canonical_of(LASSO.replace("A @ x, b", "A @ x - b, b"), **data)
    (sums,) = evaluate_point(held, x).sums
    assert sums == pytest.approx(np.abs(np.asarray(data["A"])) @ np.abs(x), rel=1e-14)


def test_sizes_far_out_are_added_up_where_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    data = lasso_data()
    x = np.linspace(-1.0, 1.0, 6)
    sizes = np.abs(np.asarray(data["A"])) @ np.abs(x)
    (found,) = evaluate_point(canonical_of(LASSO, **data), x).far_sums
    assert found == pytest.approx(sizes, rel=1e-14)
    # what a state is saved with is the numbers
    (kept,) = pickle.loads(pickle.dumps(evaluate_point(canonical_of(LASSO, **data), x))).far_sums  # noqa: S301
    assert kept.tolist() == found.tolist()
    monkeypatch.setattr(AbsoluteMatrix, "apply", lambda *_: pytest.fail("added up"))
    solution = fw.parse(LASSO).bind(**data).solve(tol=1e-9, threads=1)
    assert solution.status == "optimal"


def test_a_dual_point_that_does_is_not_repaired(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = fw.parse(LASSO).bind(**lasso_data())
    best = bound.solve(tol=1e-9, threads=1)
    canonical = bound.canonical
    x, ys = canonical.join(best.variables), list(best.record["dual_point"])

    def refuse(*args: object, **named: object) -> list[np.ndarray]:
        raise AssertionError("repaired")

    monkeypatch.setattr(module, "repair", refuse)
    problem = PreparedProblem(canonical, 1)
    point, verified = next(module.attempts(problem, x, ys, None, True, lambda: False))
    assert point is x
    assert verified.relative_gap <= 1e-9
    # one that is in no domain is
    with pytest.raises(AssertionError, match="repaired"):
        next(module.attempts(problem, x, [2.0 * y for y in ys], None, True, lambda: False))


def test_the_segment_to_a_dual_point_is_halved_while_there_is_time() -> None:
    bound = fw.parse(
        "data Y: matrix[n, m]\nvar X: matrix[n, m] in box(-1, 1)\nminimize 1/2 * sum_squares(X - Y) + 0.2 * tv(X)"
    ).bind(Y=np.random.default_rng(3).standard_normal((6, 5)))
    problem = PreparedProblem(bound.canonical, 1)
    inner = [np.zeros(t.map.rows) for t in bound.canonical.terms]
    rng = np.random.default_rng(4)
    outer = [
        np.zeros(y.size) if t.is_smooth else rng.standard_normal(y.size)
        for t, y in zip(problem.terms, inner, strict=True)
    ]
    assert not math.isfinite(problem.conjugates(outer))
    late = module._between(problem, inner, outer, lambda: True)
    for one, other in zip(late, inner, strict=True):
        np.testing.assert_array_equal(one, other)
    found = module._between(problem, inner, outer, lambda: False)
    assert math.isfinite(problem.conjugates(found)) and any(y.any() for y in found)
    assert not math.isfinite(problem.conjugates([(1.0 + 1e-9) * y for y in found]))


def test_a_point_that_misses_constraints_gives_way_to_one_that_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method's sharpened point may: the one before is verified in its place."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((8, 2))
    text = (
        "data D: symmetric[n]\nvar Z: psd[n]\nminimize trace(D @ Z)\n"
        "subject to\n    Z in nonnegative\n    sum(Z, axis=1) == 1\n    trace(Z) == 2\n"
    )
    bound = fw.parse(text).bind(D=np.square(X[:, None] - X).sum(axis=2))
    run, noise = InteriorRun.candidate, 1e-2 * (X @ rng.standard_normal((2, 8)))
    noise = (noise + noise.T).ravel()

    def off(self: InteriorRun) -> tuple[np.ndarray, list[np.ndarray]]:
        x, ys = run(self)
        return x + noise, ys

    monkeypatch.setattr(InteriorRun, "candidate", off)
    monkeypatch.setattr(InteriorRun, "spare", lambda self: None)
    assert bound.solve(method="interior", threads=1, max_iter=40).status == "tolerance_not_reached"
    monkeypatch.setattr(InteriorRun, "spare", lambda self: run(self)[0])
    assert bound.solve(method="interior", threads=1, max_iter=40).status == "optimal"
