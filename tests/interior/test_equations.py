"""Equations taken out of a conic program: those that follow from others, and those of two unknowns, of which one goes."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.sparse import csr_array

import fwdsl as fw
from fwdsl.backends.interior import equations
from fwdsl.backends.interior.presolve import Presolved, presolved
from fwdsl.backends.interior.program import ConicProgram
from tests.attack import proofs
from tests.attack.runner import solve_here

Data = dict[str, np.ndarray]

TEXT = """data E: matrix[k, n], f: vector[k], A: matrix[m, n], b: vector[m], c: vector[n], lo: vector[n], hi: vector[n]
var x: vector[n]
minimize {}
subject to E @ x == f, A @ x <= b, lo <= x, x <= hi{}
"""

OBJECTIVES: dict[str, tuple[str, Any]] = {
    "linear": ("dot(c, x)", lambda x, d: d["c"] @ x),
    "quadratic": ("dot(c, x) + 0.5 * sum_squares(x)", lambda x, d: d["c"] @ x + 0.5 * cp.sum_squares(x)),
    "of rows": (
        "dot(c, x) + 0.5 * sum_squares(A @ x - b)",
        lambda x, d: d["c"] @ x + 0.5 * cp.sum_squares(d["A"] @ x - d["b"]),
    ),
    "norm1": ("dot(c, x) + norm1(x)", lambda x, d: d["c"] @ x + cp.norm1(x)),
}
CONES: dict[str, tuple[str, Any]] = {
    "none": ("", lambda x: []),
    "length": (", norm2(x) <= 9", lambda x: [cp.norm(x, 2) <= 9]),
    "length of some": (", norm2(x[0:3]) <= 5", lambda x: [cp.norm(x[:3], 2) <= 5]),
    "exponential": (", sum(exp(x)) <= 90", lambda x: [cp.sum(cp.exp(x)) <= 90]),
}


def planted(seed: int) -> Data:
    """A feasible program with equations of two unknowns, some in a chain, and equations that are combinations of others."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(12, 20))
    x, unit = rng.uniform(-1.0, 1.0, n), np.eye(n)
    own = rng.standard_normal((3, n)) * (rng.random((3, n)) < 0.4)
    pairs = [a * unit[i] + b * unit[j] for i, j, a, b in ((0, 1, 1.0, -2.0), (1, 2, 3.0, 1.0), (3, 4, -1.0, 1e-4))]
    E = np.vstack([own, pairs])
    E = np.vstack([E, rng.choice([1.0, -2.0, 0.5], (2, E.shape[0])) @ E])
    A = rng.standard_normal((4, n)) * (rng.random((4, n)) < 0.2)
    return {
        "E": E,
        "f": E @ x,
        "A": A,
        "b": A @ x + rng.random(4),
        "c": rng.standard_normal(n),
        "lo": x - rng.choice([0.1, 1.0, 3.0], n),
        "hi": x + rng.choice([0.1, 1.0, 3.0], n),
    }


def bound(d: Data, objective: str = "linear", cone: str = "none") -> fw.Problem:
    return fw.parse(TEXT.format(OBJECTIVES[objective][0], CONES[cone][0])).bind(**d)


def program_of(problem: fw.Problem) -> Presolved:
    form = problem.canonical.dense
    assert form is not None
    found = presolved(ConicProgram.of(form, lambda: None), lambda: None)
    assert isinstance(found, Presolved)
    return found


def reference(d: Data, objective: str = "linear", cone: str = "none") -> float:
    x = cp.Variable(d["c"].size)
    constraints = [d["E"] @ x == d["f"], d["A"] @ x <= d["b"], d["lo"] <= x, x <= d["hi"], *CONES[cone][1](x)]
    return float(cp.Problem(cp.Minimize(OBJECTIVES[objective][1](x, d)), constraints).solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_answers_are_those_of_the_program_as_written(objective: str, cone: str) -> None:
    """The certificate is of all rows: it would miss a wrong multiplier of an equation that was taken out."""
    for seed in range(3):
        d = planted(seed)
        problem = bound(d, objective, cone)
        found = problem.solve(method="interior", tol=1e-7)
        assert found.status == "optimal"
        expected = reference(d, objective, cone)
        size = max(1.0, float(np.abs(d["c"]).sum()))
        assert found.objective == pytest.approx(expected, abs=2e-6 * size)
        x = np.asarray(found["x"])
        assert d["E"] @ x == pytest.approx(d["f"], abs=1e-6)


@pytest.mark.parametrize("cone", CONES)
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_what_is_planted_is_taken(objective: str, cone: str) -> None:
    for seed in range(3):
        counts = program_of(bound(planted(seed), objective, cone)).counts
        assert counts.dependent == 2
        if objective == "linear" and cone == "none":
            assert counts.linked >= 2


@pytest.mark.parametrize("cone", ["none", "length", "exponential"])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_conditions_of_what_is_left_are_those_of_the_whole(objective: str, cone: str) -> None:
    """At any v and z: what stationarity misses in the whole program is what it misses in what is left, at the unknowns that are left in each program
    before, and nothing elsewhere; equations that were taken out hold where those that are left do."""
    for seed in range(4):
        program = program_of(bound(planted(seed), objective, cone))
        rng, tau = np.random.default_rng(seed), 0.7
        v, z = rng.standard_normal(program.c.size), rng.standard_normal(program.b.size)
        left = program.P @ v + tau * program.c + program.A.T @ z
        missed = program.A @ v - tau * program.b
        at: ConicProgram = program
        while isinstance(at, Presolved):
            taken = at.taken
            at, x = taken.whole, taken.unknowns(v, tau)
            y = taken.multipliers(x, z, tau)
            slope = at.P @ x + tau * at.c + at.A.T @ y
            expected = np.zeros(at.c.size)
            expected[taken.columns] = left
            size = max(1.0, float(np.abs(y).max()), float(np.abs(x).max()))
            assert slope == pytest.approx(expected, abs=1e-8 * size)
            assert (at.A @ x - tau * at.b)[taken.rows] == pytest.approx(missed, abs=1e-9 * size)
            if hasattr(taken, "linked"):
                rows = taken.linked.rows
                assert (at.A @ x - tau * at.b)[rows] == pytest.approx(0.0, abs=1e-9 * size)
            v, z, left, missed = x, y, slope, at.A @ x - tau * at.b


def test_multipliers_are_those_of_another_solver() -> None:
    """Of a strictly convex program whose equations of two unknowns are independent: the multipliers are unique."""
    rng = np.random.default_rng(5)
    n = 6
    E = np.zeros((3, n))
    E[0, :2], E[1, 2:4], E[2] = (2.0, -1.0), (1.0, 3.0), rng.standard_normal(n)
    f, c = E @ rng.standard_normal(n), rng.standard_normal(n)
    text = "data E: matrix[k, n], f: vector[k], c: vector[n]\nvar x: vector[n]\nminimize dot(c, x) + sum_squares(x)\nsubject to pairs: E @ x == f\n"
    problem = fw.parse(text).bind(E=E, f=f, c=c)
    assert program_of(problem).counts.linked == 2
    found = problem.solve(method="interior", tol=1e-9)
    x = cp.Variable(n)
    equation = E @ x == f
    cp.Problem(cp.Minimize(c @ x + cp.sum_squares(x)), [equation]).solve(solver=cp.CLARABEL)
    ours = np.asarray(found.dual["pairs"])
    assert np.abs(ours) == pytest.approx(np.abs(equation.dual_value), abs=1e-5)
    sign = 1.0 if float(ours @ equation.dual_value) > 0.0 else -1.0
    assert c + 2.0 * np.asarray(found["x"]) + sign * E.T @ ours == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("of", ["unknowns", "equations", "rows", "each"])
def test_units_do_not_count(of: str, unit: float) -> None:
    for seed in range(3):
        d, rng = planted(seed), np.random.default_rng(seed)
        n, k = d["c"].size, d["f"].size
        column = 10.0 ** rng.uniform(-9, 9, n) if of == "each" else np.full(n, unit if of == "unknowns" else 1.0)
        row = 10.0 ** rng.uniform(-9, 9, k) if of == "each" else np.full(k, unit if of == "equations" else 1.0)
        other = unit if of == "rows" else 1.0
        problem = bound(
            {
                "E": d["E"] / column * row[:, None],
                "f": d["f"] * row,
                "A": d["A"] / column * other,
                "b": d["b"] * other,
                "c": d["c"] / column,
                "lo": d["lo"] * column,
                "hi": d["hi"] * column,
            }
        )
        assert program_of(problem).counts.linked
        found = problem.solve(method="interior")
        assert found.status == "optimal"
        assert found.objective == pytest.approx(reference(d), abs=1e-5 * max(1.0, 4.0 * float(np.abs(d["c"]).sum())))


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("row", [-1, 3])
@pytest.mark.parametrize("method", ["interior", "highs"])
def test_contradictions_end_with_a_proof(method: str, row: int, unit: float) -> None:
    """An equation is a combination of others, and its side is not."""
    for seed in range(3):
        d = planted(seed)
        d["f"][row] += 0.5
        d["E"], d["f"] = unit * d["E"], unit * d["f"]
        d["lo"], d["hi"] = d["lo"] - 50.0, d["hi"] + 50.0
        assert bound(d).solve(method=method).status == "infeasible"


@pytest.mark.parametrize("dense", [0, 200])
def test_transport_has_one_equation_too_many(dense: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a factor of all entries and by a sparse one: both find it, and its multiplier is 0."""
    monkeypatch.setattr(equations, "DENSE", dense)
    rng = np.random.default_rng(0)
    C, s = rng.random((7, 9)), rng.random(7)
    d = rng.random(9)
    d *= s.sum() / d.sum()
    text = "data C: matrix[m, n], s: vector[m], d: vector[n]\nvar X: matrix[m, n] in nonnegative\nminimize sum(C * X)\n"
    text += "subject to sum(X, axis=1) == s, sum(X, axis=0) == d\n"
    problem = fw.parse(text).bind(C=C, s=s, d=d)
    assert program_of(problem).counts.dependent == 1
    X = cp.Variable((7, 9), nonneg=True)
    price = cp.Minimize(cp.sum(cp.multiply(C, X)))
    expected = cp.Problem(price, [cp.sum(X, axis=1) == s, cp.sum(X, axis=0) == d]).solve(solver=cp.CLARABEL)
    found = problem.solve(method="interior")
    assert found.status == "optimal"
    assert found.objective == pytest.approx(expected, rel=1e-5)
    assert "1 equation that follows from others" in problem.plan(method="interior").render()


def test_nearly_dependent_equations_stay() -> None:
    """They meet at an angle of 1e-6, which tells where."""
    text = "data E: matrix[k, n], f: vector[k]\nvar x: vector[n]\nminimize sum_squares(x)\nsubject to E @ x == f, x <= 10\n"
    E = np.array([[1.0, 1.0, 1.0], [1.0, 2.0, -1.0], [2.0, 3.0, 1e-6]])
    x = np.array([1.0, 2.0, 3.0])
    problem = fw.parse(text).bind(E=E, f=E @ x)
    assert not program_of_or_none(problem)
    assert np.asarray(problem.solve(method="interior", tol=1e-9)["x"]) == pytest.approx(x, abs=1e-3)


def program_of_or_none(problem: fw.Problem) -> int:
    form = problem.canonical.dense
    assert form is not None
    found = presolved(ConicProgram.of(form, lambda: None), lambda: None)
    return found.counts.dependent if isinstance(found, Presolved) else 0


def test_the_core_has_no_equation_with_an_unknown_of_its_own() -> None:
    E = np.array([[1.0, 1, 0, 0], [0, 1.0, 1, 0], [0, 0, 1.0, 1], [0, 0, 2.0, 2]])
    assert list(equations._core(csr_array(E), len(E))) == [2, 3]


def test_the_side_of_a_combination_may_cancel() -> None:
    """The products whose sum a side is are far larger than it, and leave their rounding."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = 1e3 * rng.standard_normal(6)
        E = rng.standard_normal((3, 6))
        E[:, -1] = (rng.standard_normal(3) - E[:, :-1] @ x[:-1]) / x[-1]  # sides of about 1, of products of about 1000
        E = np.vstack([E, E.T @ rng.standard_normal(3)])
        text = "data E: matrix[k, n], f: vector[k]\nvar x: vector[n]\nminimize sum_squares(x)\nsubject to E @ x == f, x <= 1e5\n"
        assert program_of_or_none(fw.parse(text).bind(E=E, f=E @ x)) == 1


def test_entries_that_cancel_leave_none() -> None:
    """The rounding that is left of an entry would be a bound on the unknown that is left."""
    A, M = csr_array(np.array([[0.1, 0.3], [1.0, 1.0]])), csr_array(np.array([[3.0], [-1.0]]))
    product = equations._sum_of_products(A, M)
    assert product.nnz == 1
    assert product.toarray() == pytest.approx(np.array([[0.0], [2.0]]))


def test_products_that_cancel_to_the_last_bit_are_left_out() -> None:
    # SciPy leaves sums that are 0 out of a product, and has them in that of the sizes
    A = csr_array(np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]]))
    M = csr_array(np.array([[1.0, 0.5], [-1.0, 0.0], [0.0, 3.0]]))
    found = equations._sum_of_products(A, M)
    np.testing.assert_array_equal(found.toarray(), [[0.0, 0.5], [-2.0, 3.0]])
    assert found.nnz == 3 and found.has_sorted_indices


@pytest.mark.parametrize("seed", [20015, 20410, 25871])
def test_equations_whose_products_cancel_are_taken_out(seed: int) -> None:
    # programs with such products: they ended with a traceback
    made, there = proofs.drawn(seed)
    found = solve_here(there.text, there.data, 10.0)
    assert proofs.verdict(made.truth, found, 10.0) in ("right", "proven"), found
