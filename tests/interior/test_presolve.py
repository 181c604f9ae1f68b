"""Rows and unknowns taken out of a conic program before the first step: the answers and multipliers are those of the program as it is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.interior.presolve import Counts, Presolved, presolved
from fwdsl.backends.interior.program import ConicProgram
from fwdsl.backends.interior.run import InteriorRun
from fwdsl.backends.interior.sizes import size_of
from tests.runs import resumed, stepped

ROWS = """data A: matrix[m, n], b: vector[m], E: matrix[k, n], f: vector[k], c: vector[n]
var x: vector[n]
minimize {}
subject to A @ x <= b, E @ x == f, norm_inf(x) <= 20
"""

OBJECTIVES: dict[str, tuple[str, Any]] = {
    "linear": ("dot(c, x)", lambda x, d: d["c"] @ x),
    "quadratic": ("dot(c, x) + 0.5 * sum_squares(x)", lambda x, d: d["c"] @ x + 0.5 * cp.sum_squares(x)),
    "quadratic of rows": (
        "dot(c, x) + 0.5 * sum_squares(A @ x - b)",
        lambda x, d: d["c"] @ x + 0.5 * cp.sum_squares(d["A"] @ x - d["b"]),
    ),
    "norm1": ("dot(c, x) + norm1(x)", lambda x, d: d["c"] @ x + cp.norm1(x)),
    "norm2": ("dot(c, x) + norm2(x)", lambda x, d: d["c"] @ x + cp.norm(x, 2)),
    "absolute": ("dot(c, x) + sum(absolute(A @ x, b))", lambda x, d: d["c"] @ x + cp.norm1(d["A"] @ x - d["b"])),
    "logistic": ("dot(c, x) + sum(logistic(x, ones(n)))", lambda x, d: d["c"] @ x + cp.sum(cp.logistic(-x))),
}


def messy(seed: int) -> dict[str, np.ndarray]:
    """A feasible program with empty rows, multiples of rows, rows of one unknown, and unknowns that these fix, one after the other."""
    rng = np.random.default_rng(seed)
    n, m, k = (int(rng.integers(low, high)) for low, high in ((4, 14), (2, 14), (1, 4)))
    x, unit = rng.standard_normal(n), np.eye(n)
    A, E = (rng.standard_normal((rows, n)) * (rng.random((rows, n)) < 0.5) for rows in (m, k))
    b = A @ x + np.where(rng.random(m) < 0.5, 0.0, rng.random(m))
    again, often = rng.integers(0, m, 3), rng.choice([1.0, 2.0, 3.7, 0.1], 3)
    one, factor = rng.integers(0, n, 4), rng.choice([1.0, -1.0, 3.0, -0.2], 4)
    fixed, i, j = rng.integers(0, n), *rng.choice(n, 2, replace=False)
    A, b = (
        np.concatenate(
            [
                A,
                np.zeros((2, n)),
                A[again] * often[:, None],
                unit[one] * factor[:, None],
                unit[[fixed, fixed]] * [[2], [-4]],
            ]
        ),
        np.concatenate(
            [
                b,
                [0.0, 1.0],
                b[again] * often + rng.choice([0.0, 0.5], 3) * often,
                factor * x[one] + rng.choice([0.0, 0.3], 4),
                x[fixed] * np.array([2, -4]),
            ]
        ),
    )
    E = np.concatenate([E, np.zeros((1, n)), -2.0 * E[:1], 3.7 * E[-1:]])
    if seed % 2:
        E = np.concatenate([E, unit[[i]] - 2.0 * unit[[j]], 3.0 * unit[[i]]])
    f = E @ x
    active = A @ x >= b - 1e-12
    return {
        "A": A,
        "b": b,
        "E": E,
        "f": f,
        "c": -A.T @ (rng.random(b.size) * active) + E.T @ rng.standard_normal(f.size),
    }


def program_of(problem: fw.Problem) -> Presolved | None:
    """The program without what was taken out; None if that is nothing."""
    form = problem.canonical.dense
    assert form is not None
    found = presolved(ConicProgram.of(form, lambda: None), lambda: None)
    return found if isinstance(found, Presolved) else None


def reference(d: dict[str, np.ndarray], name: str) -> float:
    x = cp.Variable(d["c"].size)
    constraints = [d["A"] @ x <= d["b"], d["E"] @ x == d["f"], cp.abs(x) <= 20]
    return float(cp.Problem(cp.Minimize(OBJECTIVES[name][1](x, d)), constraints).solve(solver=cp.CLARABEL))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_answer_is_that_of_the_program_as_written(name: str, seed: int) -> None:
    """The bound rests on multipliers of all rows, those that were taken out among them: the verifier sees no other program."""
    d = messy(seed)
    problem = fw.parse(ROWS.format(OBJECTIVES[name][0])).bind(**d)
    program = program_of(problem)
    assert program is not None
    assert program.counts.empty >= 3
    assert program.counts.duplicate + program.counts.bounds > 0
    assert program.counts.fixed > 0
    found = problem.solve(method="interior")
    assert found.status == "optimal"
    assert found.relative_gap <= 1e-6
    expected = reference(d, name)
    assert found.objective == pytest.approx(expected, rel=1e-5, abs=1e-5 * max(1.0, float(np.abs(d["c"]).sum())))


@pytest.mark.parametrize("name", ["linear", "quadratic of rows", "norm1", "norm2"])
def test_points_of_what_is_left_are_points_of_the_whole(name: str) -> None:
    """At any v and z: what stationarity and the rows miss in the whole program is what they miss in what is left, and nothing elsewhere."""
    for seed in range(6):
        program = program_of(fw.parse(ROWS.format(OBJECTIVES[name][0])).bind(**messy(seed)))
        assert program is not None
        taken, rng = program.taken, np.random.default_rng(seed)
        whole = taken.whole
        v, z, tau = rng.standard_normal(program.c.size), rng.standard_normal(program.b.size), 0.7
        x = taken.unknowns(v, tau)
        y = taken.multipliers(x, z, tau)
        slope, left = whole.P @ x + tau * whole.c + whole.A.T @ y, program.P @ v + tau * program.c + program.A.T @ z
        expected = np.zeros(whole.c.size)
        expected[taken.columns] = left
        assert slope == pytest.approx(expected, abs=1e-9 * max(1.0, float(np.abs(y).max())))
        assert (whole.A @ x - tau * whole.b)[taken.rows] == pytest.approx(program.A @ v - tau * program.b, abs=1e-9)
        # the signs of what fixed unknowns need tell which of two rows has it
        nonnegative = np.ones(whole.b.size, dtype=bool)
        nonnegative[: whole.equations] = nonnegative[taken.rows] = False
        assert np.all(y[nonnegative] >= 0.0)


def test_multipliers_without_an_objective_weigh_the_rows_alone() -> None:
    """A proof that no point meets the constraints has A'z = 0, whatever v is."""
    program = program_of(fw.parse(ROWS.format(OBJECTIVES["quadratic of rows"][0])).bind(**messy(1)))
    assert program is not None
    taken, rng = program.without_objective().taken, np.random.default_rng(0)
    v, z = rng.standard_normal(program.c.size), rng.standard_normal(program.b.size)
    y = taken.multipliers(taken.unknowns(v, 1.0), z, 1.0)
    slope = taken.whole.A.T @ y
    assert slope[taken.columns] == pytest.approx(program.A.T @ z, abs=1e-9 * float(np.abs(y).max()))
    assert np.delete(slope, taken.columns) == pytest.approx(0.0, abs=1e-9 * float(np.abs(y).max()))


@pytest.mark.parametrize("unit", [1e-9, 1e9])
@pytest.mark.parametrize("of", ["unknowns", "rows", "equations", "objective", "all"])
def test_units_do_not_count(of: str, unit: float) -> None:
    text = ROWS.format("dot(c, x)").replace("norm_inf(x) <= 20", "lo <= x, x <= hi")
    text = text.replace("c: vector[n]", "c: vector[n], lo: vector[n], hi: vector[n]")
    for seed in range(3):
        d, rng = messy(seed), np.random.default_rng(seed)

        sizes = {"unknowns": d["c"].size, "rows": d["b"].size, "equations": d["f"].size}
        column, row, equation = (
            10.0 ** rng.uniform(-9, 9, size) if of == "all" else np.full(size, unit if of == name else 1.0)
            for name, size in sizes.items()
        )
        price = unit if of in ("objective", "all") else 1.0
        problem = fw.parse(text).bind(
            A=d["A"] / column * row[:, None],
            b=d["b"] * row,
            E=d["E"] / column * equation[:, None],
            f=d["f"] * equation,
            c=d["c"] / column * price,
            lo=-20.0 * column,
            hi=20.0 * column,
        )
        assert program_of(problem) is not None
        found = problem.solve(method="interior")
        assert found.status == "optimal"
        size = max(1.0, 20.0 * float(np.abs(d["c"]).sum()))
        assert found.objective / price == pytest.approx(reference(d, "linear"), abs=1e-5 * size)


INFEASIBLE = {
    "an empty row": lambda d, x: {"A": np.vstack([d["A"], 0 * x]), "b": np.append(d["b"], -1.0)},
    "an empty equation": lambda d, x: {"E": np.vstack([d["E"], 0 * x]), "f": np.append(d["f"], 1.0)},
    "multiples": lambda d, x: {"E": np.vstack([d["E"], 2 * d["E"][0]]), "f": np.append(d["f"], 2 * d["f"][0] + 1)},
    "bounds that cross": lambda d, x: {"A": np.vstack([d["A"], x, -x]), "b": np.concatenate([d["b"], [1.0, -2.0]])},
    "a fixed unknown": lambda d, x: {"E": np.vstack([d["E"], x]), "f": np.append(d["f"], 25.0)},
    "what is left": lambda d, x: {
        "E": np.vstack([d["E"], x, x + d["E"][0]]),
        "f": np.concatenate([d["f"], [1.0], [d["f"][0] + 2.0]]),
    },
}


@pytest.mark.parametrize("name", INFEASIBLE)
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_contradictions_end_with_a_proof(name: str, unit: float) -> None:
    for seed in range(3):
        d = messy(seed)
        d = {**d, **INFEASIBLE[name](d, np.eye(d["c"].size)[0])}
        d = {**d, "A": d["A"] * unit, "b": d["b"] * unit}
        found = fw.parse(ROWS.format("dot(c, x)")).bind(**d).solve(method="interior")
        assert found.status == "infeasible"


SMALL = """data A: matrix[m, n], b: vector[m]
var x: vector[n] in nonnegative, y: vector[m], s: real
minimize dot(b, y) + 3 * s + sum_squares(x)
subject to y == A @ x - b, s == sum(x), sum(x) >= 1, x[0] == 0.25
"""


def small() -> fw.Problem:
    return fw.parse(SMALL).bind(A=np.arange(12.0).reshape(4, 3), b=np.arange(4.0) + 1.0)


def test_equations_that_define_an_unknown() -> None:
    """y and s are seen by one equation each."""
    problem = small()
    program = program_of(problem)
    assert program is not None
    assert program.counts == Counts(0, 0, 1, 1, 5, 0)
    assert program.c.size == 2
    found, other = problem.solve(method="interior", tol=1e-8), problem.solve(method="pdhg", tol=1e-8)
    assert found.status == other.status == "optimal"
    assert found.objective == pytest.approx(other.objective, rel=1e-7)
    x, y = np.asarray(found["x"]), np.asarray(found["y"])
    assert y == pytest.approx(np.arange(12.0).reshape(4, 3) @ x - np.arange(4.0) - 1.0, abs=1e-7)
    assert float(found["s"]) == pytest.approx(x.sum(), abs=1e-7)


def test_the_plan_says_what_was_taken() -> None:
    assert (
        "presolve: 1 row that a bound implies, 1 fixed unknown, 5 unknowns that an equation each defines"
        in small().plan(method="interior").render()
    )
    assert "presolve" not in small().plan(method="pdhg").render()


def test_nothing_is_taken_where_nothing_is_found() -> None:
    """A box is no pair of multiples; without rows of constraints nothing is looked for."""
    rng = np.random.default_rng(0)
    data = {"A": rng.standard_normal((6, 4)), "b": rng.random(6), "c": rng.standard_normal(4)}
    text = "data A: matrix[m, n], b: vector[m], c: vector[n]\nvar x: vector[n] in nonnegative\nminimize {}\n"
    for rest in ("dot(c, x)\nsubject to A @ x <= b, x <= 5", "dot(c, x) + sum(absolute(A @ x, b))\nsubject to x <= 5"):
        assert program_of(fw.parse(text.format(rest)).bind(**data)) is None


def test_a_chain_of_equations_fixes_one_unknown_after_the_other() -> None:
    """Up to the number of passes; what is left the steps find."""
    n = 40
    E, f = np.eye(n) - np.eye(n, k=-1), np.ones(n)
    text = "data E: matrix[n, n], f: vector[n]\nvar x: vector[n], t: real\nminimize sum_squares(x) + t\nsubject to E @ x == f, sum(x) <= t\n"
    problem = fw.parse(text).bind(E=E, f=f)
    program = program_of(problem)
    assert program is not None
    assert 1 < program.counts.fixed < n
    found = problem.solve(method="interior", tol=1e-8)
    assert found.status == "optimal"
    x = np.arange(1.0, n + 1.0)
    assert found.objective == pytest.approx(float(x @ x + x.sum()), rel=1e-7)


def test_rows_that_the_last_pass_leaves_empty_go_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the rounding of what fixed unknowns leave of b would be a contradiction."""
    monkeypatch.setattr("fwdsl.backends.interior.presolve.PASSES", 1)
    E, f = (
        np.array([[1.0, 0, 0, 0], [0, 3.0, 0, 0], [1.0, 1.0, 0, 0], [0, 0, 1.0, 1.0]]),
        np.array([0.1, 0.6, 0.3, 1.0]),
    )
    text = "data E: matrix[n, n], f: vector[n]\nvar x: vector[n]\nminimize sum_squares(x)\nsubject to E @ x == f\n"
    problem = fw.parse(text).bind(E=E, f=f)
    program = program_of(problem)
    assert program is not None
    assert program.counts == Counts(1, 0, 0, 2, 0, 0)
    assert problem.solve(method="interior", tol=1e-8).objective == pytest.approx(0.01 + 0.04 + 0.5, rel=1e-7)


def test_where_all_is_fixed_the_program_stays() -> None:
    text = "data E: matrix[n, n], f: vector[n]\nvar x: vector[n]\nminimize sum_squares(x)\nsubject to E @ x == f\n"
    problem = fw.parse(text).bind(E=np.diag([1.0, 4.0]), f=np.array([1.0, 8.0]))
    assert program_of(problem) is None
    assert problem.solve(method="interior").objective == pytest.approx(5.0)


def test_matrices_in_cones_keep_their_entries() -> None:
    """Their systems are solved as matrices, which a fixed diagonal is no reason to give up."""
    C = np.random.default_rng(1).standard_normal((5, 5))
    text = (
        "data C: matrix[n, n]\nvar X: symmetric[n] in psd\nminimize sum(C * X)\nsubject to diag(X) == 1, diag(X) <= 1\n"
    )
    problem = fw.parse(text).bind(C=C + C.T)
    program = program_of(problem)
    assert program is not None
    assert program.counts == Counts(0, 0, 5, 0, 0, 0)
    X = cp.Variable((5, 5), PSD=True)
    expected = cp.Problem(cp.Minimize(cp.sum(cp.multiply(C + C.T, X))), [cp.diag(X) == 1]).solve(solver=cp.CLARABEL)
    assert problem.solve(method="interior").objective == pytest.approx(expected, rel=1e-5)


def test_of_equal_bounds_those_of_the_variable_stay() -> None:
    """The entries of a Birkhoff polytope are nonnegative in its rows and in its columns. Were it the term that has the multipliers, its block had
    no slope at its bounds, and points would not be moved onto them."""
    problem = fw.parse("data C: matrix[n, n]\nvar X: matrix[n, n] in birkhoff\nminimize sum(C * X)\n")
    program = program_of(problem.bind(C=np.random.default_rng(2).random((5, 5))))
    assert program is not None
    assert program.counts == Counts(duplicate=0, bounds=25, dependent=1)
    term, block = program.parts
    rows = program.rows[program.equations :]
    assert rows.size == 25
    assert rows.min() >= block.row > term.row


@pytest.mark.parametrize("kind", ["whole", "condensed", "sparse", "reduced"])
@pytest.mark.parametrize("name", ["linear", "norm1", "absolute", "logistic"])
def test_systems_of_every_kind(kind: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    d = messy(3)
    problem = fw.parse(ROWS.format(OBJECTIVES[name][0])).bind(**d)
    expected = problem.solve(method="interior", tol=1e-8)
    monkeypatch.setattr("fwdsl.backends.interior.run.size_of", lambda form: size_of(form)._replace(kind=kind))
    found = problem.solve(method="interior", tol=1e-8)
    assert found.status == expected.status == "optimal"
    assert found.objective == pytest.approx(expected.objective, rel=1e-6, abs=1e-6 * expected.certificate.scale)


def test_a_run_is_resumed(tmp_path: Path) -> None:
    """The state has nothing of what was taken out."""
    problem = fw.parse(ROWS.format(OBJECTIVES["norm1"][0])).bind(**messy(1))
    run = stepped(problem, "interior", 3)
    assert isinstance(run, InteriorRun)
    again = resumed(run, tmp_path, {})
    run.step()
    again.step()
    assert np.array_equal(run.state.v, again.state.v)
