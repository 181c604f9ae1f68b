"""The same answers in every unit: objective factors, units of variables and of data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import fwdsl as fw
from tests.attack.corpus_units import CHANGES, EXAMPLES, Sample, compare, samples
from tests.attack.runner import Worker

FACTORS = (1e-12, 1e-6, 1e6, 1e12)


def solved(text: str, tol: float = 1e-6, **data: Any) -> fw.Solution:
    """Certified, with the bound on its side of the objective."""
    solution = fw.parse(text).bind(**data).solve(tol=tol, threads=1, time=30)
    assert solution.status == "optimal", f"{solution.reason} {solution.certificate}"
    assert solution.relative_gap <= tol
    assert solution.infeasibility <= 1e-7
    return solution


# --- the table of what happened --------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1e-12, 1e-9, 1.0, 1e9, 1e12])
def test_a_small_objective_is_not_solved_by_being_small(factor: float) -> None:
    text = (
        f"var x: vector[2] in nonnegative\nminimize {factor!r} * x[0] + {factor!r} * x[1]\n"
        "subject to x[0] + 2 * x[1] >= 1\n"
    )
    solution = solved(text)
    assert solution.objective == pytest.approx(0.5 * factor, rel=3e-6, abs=0.0)
    assert solution.dual_bound == pytest.approx(0.5 * factor, rel=3e-6, abs=0.0)


def covering_program() -> tuple[dict[str, np.ndarray], float]:
    """A feasible linear program with 60 rows, and its value by HiGHS."""
    rng = np.random.default_rng(60)
    A, q = rng.random((60, 20)), 0.5 + rng.random(20)
    b = A @ rng.random(20)
    found = linprog(q, A_ub=-A, b_ub=-b, bounds=(0, None), method="highs")
    assert found.status == 0
    return {"A": A, "b": b, "q": q}, float(found.fun)


COVERING = (
    "data A: matrix[m, n], b: vector[m], q: vector[n]\nvar x: vector[n] in nonnegative\nminimize dot(q, x)\n"
    "subject to A @ x >= b\n"
)


@pytest.mark.parametrize("factor", FACTORS)
def test_a_linear_program_with_its_objective_times_a_number(factor: float) -> None:
    data, value = covering_program()
    solution = solved(COVERING, A=data["A"], b=data["b"], q=factor * data["q"])
    assert solution.objective == pytest.approx(factor * value, rel=3e-6, abs=0.0)
    assert solution.dual_bound <= factor * value * (1 + 1e-9)


@pytest.mark.parametrize(("objective", "rows"), [(1e6, 1e6), (1e6, 1e-6), (1e-6, 1e6), (1e-12, 1e9), (1e12, 1e-9)])
def test_a_linear_program_with_its_objective_and_matrix_times_numbers(objective: float, rows: float) -> None:
    data, value = covering_program()
    solution = solved(COVERING, A=rows * data["A"], b=data["b"], q=objective * data["q"])
    assert solution.objective == pytest.approx(objective / rows * value, rel=3e-6, abs=0.0)


def test_a_program_whose_points_are_large_is_feasible() -> None:
    text = "data A: matrix[2, 2]\nvar x: vector[2] in nonnegative\nminimize 1e3 * x[0] + 2e3 * x[1]\nsubject to A @ x >= 1\n"
    solution = solved(text, A=np.array([[1e-6, 2e-6], [2e-6, 1e-6]]))
    # x = (1e6, 0) and (1e6/3, 1e6/3) cost the same
    assert solution.objective == pytest.approx(1e9, rel=3e-6, abs=0.0)


def _fits() -> dict[str, tuple[str, dict[str, Any]]]:
    rng = np.random.default_rng(7)
    A = rng.standard_normal((30, 5))
    y = A @ rng.standard_normal(5) + 0.5 * rng.standard_normal(30)
    s = np.where(y > 0, 1.0, -1.0)
    s[:3] *= -1.0
    fit = "data A: matrix[n, p], y: vector[n]\nvar x: vector[p]"
    return {
        "Chebyshev": (f"{fit}\nminimize FACTOR * norm_inf(A @ x - y)\n", {"A": A, "y": y}),
        "quantile": (f"{fit}\nminimize FACTOR * mean(quantile(A @ x, y, tau=0.3))\n", {"A": A, "y": y}),
        "absolute": (f"{fit}\nminimize FACTOR * sum(absolute(A @ x, y))\n", {"A": A, "y": y}),
        "SVM": (
            "data A: matrix[n, p], s: signs[n]\nvar x: vector[p], b: real\n"
            "minimize FACTOR * (mean(hinge(A @ x + b, s)) + 0.05 * sum_squares(x))\n",
            {"A": A, "s": s},
        ),
        "simplex": (f"{fit} in simplex(1)\nminimize FACTOR * sum(squared(A @ x, y))\n", {"A": A, "y": y}),
    }


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("name", _fits())
def test_factors_of_the_objective_change_nothing_else(name: str, factor: float) -> None:
    text, data = _fits()[name]
    own = solved(text.replace("FACTOR", "1"), **data)
    other = solved(text.replace("FACTOR", repr(factor)), **data)
    assert other.objective / factor == pytest.approx(own.objective, rel=3e-6, abs=0.0)
    assert abs(other.iterations - own.iterations) <= max(2, 0.2 * own.iterations)


@pytest.mark.parametrize("factor", [1.0, 1e-6, 1e6])
@pytest.mark.parametrize("n", [3, 15])
def test_the_value_told_is_that_of_a_point_in_the_cone(n: int, factor: float) -> None:
    pytest.importorskip("cvxpy")
    from fwdsl.oracle import check_certificate, solve_oracle

    G = np.random.default_rng(n).standard_normal((n, n))
    S = G @ G.T / n
    text = "data S: psd[n]\nvar d: vector[n] in box(0, 1)\nmaximize FACTOR * sum(d)\nsubject to S - diag(d) in psd\n"
    solution = solved(text.replace("FACTOR", repr(factor)), S=S)
    oracle = solve_oracle(fw.parse(text.replace("FACTOR", "1")).bind(S=S).instance)
    assert solution.objective / factor == pytest.approx(oracle.value, rel=3e-6, abs=0.0)
    assert solution.dual_bound / factor >= oracle.value * (1 - 1e-7)
    again = check_certificate(solution.instance, solution)
    assert again.agrees, again.text


# --- the corpus and the examples -------------------------------------------------------------------------------------

SAMPLES = samples()
#: Programs that units once counted for: parts that no entry connects, repairs of dual points, losses without a largest curvature, choices, scales.
ONCE = (
    "vector 88",
    "example: svm_dual",
    "corner: columns in an affine",
    "example: support_vector_reg",
    "example: poisson_reg",
    "family 13",
    "vector 73",
    "matrix 12",
)
QUICK = [s for i, s in enumerate(SAMPLES) if not i % 31 or s.name.startswith(ONCE)]
REST = [s for s in SAMPLES if s.name not in {q.name for q in QUICK}]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as made:
        yield made


def the_same(worker: Worker, sample: Sample) -> None:
    found = compare(worker, sample, CHANGES, limit=30.0)
    own = found.pop("own")
    assert own.startswith("optimal"), own
    assert {name: what for name, what in found.items() if what} == {}, f"{sample.text}\nin its own units: {own}"


@pytest.mark.parametrize("sample", QUICK, ids=lambda s: s.name)
def test_a_sample_of_the_corpus_in_other_units(worker: Worker, sample: Sample) -> None:
    the_same(worker, sample)


@pytest.mark.slow
@pytest.mark.parametrize("sample", REST, ids=lambda s: s.name)
def test_the_rest_of_the_corpus_in_other_units(worker: Worker, sample: Sample) -> None:
    the_same(worker, sample)


def test_all_examples_are_compared() -> None:
    names = {s.name.removeprefix("example: ") for s in samples(large=True)}
    assert {path.stem for path in EXAMPLES.glob("*.fw")} <= names


@pytest.mark.parametrize("unit", [1e-9, 1e-6, 1e6, 1e9])
def test_variables_in_units_of_different_kinds_by_accelerated_gradients(unit: float) -> None:
    rng = np.random.default_rng(11)
    A = rng.standard_normal((40, 4))
    s = np.where(A[:, 0] + 0.3 * rng.standard_normal(40) > 0.2, 1.0, -1.0)
    text = (
        "data A: matrix[n, p], s: signs[n]\nparam u: positive\nvar x: vector[p] in l1_ball(1.5), b: real\n"
        "minimize mean(smooth_hinge(A @ x + u * b, s)) + 0.1 * norm1(x)\n"
    )
    own, other = (fw.parse(text).bind(A=A, s=s, u=u).solve(tol=1e-8, threads=1, method="apg") for u in (1.0, unit))
    assert own.status == other.status == "optimal", other.reason
    assert other.objective == pytest.approx(own.objective, rel=1e-7)
    assert unit * other["b"] == pytest.approx(own["b"], rel=1e-2, abs=1e-3)


@pytest.mark.parametrize("seed", [10, 13, 34, 38])
@pytest.mark.parametrize("factor", [1.0, 3.0, 0.7, 1.04e-3])
def test_a_bound_that_stands_takes_the_place_of_an_optimistic_one(factor: float, seed: int) -> None:
    """Rounding decides whether the first dual points of `apg` lie beside the cone, where their bounds are too good: they once were kept for ever."""
    rng = np.random.default_rng(seed)
    A, root = rng.normal(size=(15, 4)), rng.normal(size=(4, 4))
    data = {"A": A, "y": rng.normal(size=15), "P": root @ root.T + 0.5 * np.eye(4), "w": rng.random(15)}
    text = (
        "data y: vector[n], A: matrix[n, d], P: psd[d], w: vector[n] in nonnegative\nvar x: vector[d] in nonnegative\n"
        f"minimize {factor!r} * mean(w * squared_epsilon_insensitive(A @ x, y, eps=0.15)) + {0.063 * factor!r} * quad_form(x, P)\n"
    )
    assert solved(text, tol=1e-9, **data).iterations <= 60


@pytest.mark.parametrize("factor", [1e-12, 1e-3, 1.0, 1e6, 1e12])
def test_an_entropy_in_any_unit_takes_the_same_iterations(factor: float) -> None:
    text = (
        "data face: vector[6] = [1, 2, 3, 4, 5, 6]\nvar x: vector[6] in simplex(1)\n"
        f"maximize -{factor!r} * entropy(x)\nsubject to dot(face, x) == 4.5\n"
    )
    solution = solved(text)
    assert solution.objective == pytest.approx(1.6135809 * factor, rel=1e-5)
    assert solution.iterations <= 400
