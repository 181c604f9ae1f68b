"""Sets and bounds that the values leave empty, and domains that constraints exclude: infeasible, with the contradiction for a proof."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw

UNITS = (1.0, 1e-9, 1e9)
SUM = "param r: real\nvar x: vector[3] in nonnegative\nlet fit = sum_squares(x - 1)\nminimize fit\nsubject to s: sum(x) == r\n"
MIRROR = "data L: matrix[2, 2], H: matrix[2, 2]\nvar S: symmetric[2] in box(L, H)\nminimize sum_squares(S)\n"


def solved(text: str, **data: Any) -> fw.Solution:
    return fw.parse(text).bind(**data).solve(threads=1, time=5)


def vector(*constraints: str, objective: str = "minimize sum_squares(x)") -> str:
    return f"param u: positive\nvar x: vector[3]\n{objective}\nsubject to\n    " + "\n    ".join(constraints) + "\n"


def matrix(kind: str, *constraints: str) -> str:
    return (
        f"param u: positive\nvar X: {kind}\nminimize sum_squares(X)\nsubject to\n    "
        + "\n    ".join(constraints)
        + "\n"
    )


EMPTY = {
    "one box": (vector("x in box(2 * u, u)"), "`x in box(2 * u, u)` is empty: `x[0]` would have to be at least "),
    "two bounds": (vector("x >= 2 * u", "x <= u"), "`x >= 2 * u` and `x <= u` cannot hold together: `x[0]` would "),
    "two equalities": (vector("x in box(u, u)", "x in box(3 * u, 3 * u)"), "`x in box(u, u)` and `x in box(3 * u, 3 * u)` cannot"),
    "a box and a norm": (vector("norm_inf(x) <= u", "x <= -2 * u"), "`norm_inf(x) <= u` and `x <= -2 * u` cannot hold together"),
    "a sum": (vector("x >= 0", "sum(x) == -u"), "`sum(x) == -u` cannot hold with `x >= 0`: the sum of nonnegative numbers"),
    "a sum at most": (vector("x >= 0", "sum(x) <= -u"), "`sum(x) <= -u` cannot hold with `x >= 0`"),
    "two simplices": (vector("x in simplex(u)", "x in simplex(2 * u)"), "`x in simplex(u)` and `x in simplex(2 * u)` cannot"),
    "a box of an expression": (vector("2 * x in box(u, -u)"), "`2 * x in box(u, -u)` is empty: entry 0 would have to be"),
    "a number": (
        "param u: positive\nvar b: real\nminimize sum_squares(b)\nsubject to b >= u, b <= -u\n",
        "`b >= u` and `b <= -u` cannot hold together: `b` would have to be at least",
    ),
    "rows": (matrix("matrix[2, 3]", "X in rows(box(u, -u))"), "`X in rows(box(u, -u))` is empty: entry 0 would"),
    "columns": (matrix("matrix[2, 3]", "X in columns(box(u, -u))"), "`X in columns(box(u, -u))` is empty"),
    "entries": (matrix("matrix[2, 3]", "X >= u", "X <= -u"), "`X >= u` and `X <= -u` cannot hold together: `X[0, 0]` would"),
    "blocks": (matrix("family[2] of vector[3]", "X in box(u, -u)"), "`X in box(u, -u)` is empty: `X[0]` would"),
    "a diagonal": (matrix("psd[2]", "X in box(-2 * u, -u)"), "cannot hold together: an entry of the diagonal is nonnegative"),
    "a trace": (
        matrix("symmetric[2]", "X in spectrahedron(4 * u)", "X in box(-u, u)"),
        "`X in spectrahedron(4 * u)` and `X in box(-u, u)` cannot hold together: the trace is",
    ),
    "a domain": (
        vector("x <= -u", objective="maximize -entropy(x)"),
        "`x <= -u` and the domain of `entropy(x)` cannot hold together: `x[0]` would have to be at least 0",
    ),
    "a sum and a domain": (
        vector("sum(x) == -u", objective="minimize entropy(x)"),
        "`sum(x) == -u` and the domain of `entropy(x)` cannot hold together: it is missed by at least",
    ),
    "a sum and a box": (vector("x <= -u", "sum(x) >= u"), "`sum(x) >= u` and `x <= -u` cannot hold together: it is missed by"),
    "an entry and a ball": (vector("norm2(x) <= u", "x[1] - x[0] >= 3 * u"), "and `norm2(x) <= u` cannot hold together: it is missed"),
    "an entry and a simplex": (vector("x in simplex(u)", "x[0] + x[1] <= -u"), "and `x in simplex(u)` cannot hold together"),
    "a domain of an expression": (
        vector("x <= 0.4 * u", objective="minimize entropy(2 * x - u)"),
        "the domain of `entropy(2 * x - u)` and `x <= 0.4 * u` cannot hold together: it is missed by at least",
    ),
    "an entry of a cone": (matrix("psd[2]", "X[1, 1] <= -u"), "`X[1, 1] <= -u` and `X in psd` cannot hold together"),
    "rows of a simplex": (
        matrix("matrix[2, 3]", "X in rows(simplex(u))", "X[0, 1] + X[1, 0] >= 3 * u"),
        "and `X in rows(simplex(u))` cannot hold together",
    ),
    "a block of several": (
        matrix("family[2] of vector[3]", "X in box(u, 2 * u)", "X[0] + X[1] <= u"),
        "`X[0] + X[1] <= u` and `X in box(u, 2 * u)` cannot hold together: it is missed by at least",
    ),
    "a domain beside a ball": (
        vector("x in l2_ball(4 * u)", "x <= -u", objective="minimize entropy(x) + norm1(x)"),
        "`x <= -u` and the domain of `entropy(x)` cannot hold together",
    ),
}  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", EMPTY)
def test_what_is_empty_is_infeasible_in_every_unit(name: str, unit: float) -> None:
    text, proof = EMPTY[name]
    solution = solved(text, u=unit)
    assert (solution.status, solution.certificate.kind, solution.iterations) == ("infeasible", "exact", 0)
    assert proof in solution.certificate.statement
    assert solution.reason == solution.certificate.statement
    assert solution.infeasibility > 0.0 and np.isinf(solution.dual_bound)
    assert all(np.all(np.isfinite(value)) for value in solution.variables.values())


def test_the_point_is_that_of_the_start_and_the_numbers_are_its_own() -> None:
    problem = fw.parse(SUM).bind(r=-1.0)
    at_zero, at_two = problem.solve(), problem.solve(start={"x": np.full(3, 2.0)})
    assert (at_zero.objective, at_zero.terms["fit"]) == (3.0, 3.0)
    assert np.array_equal(at_two["x"], np.full(3, 2.0)) and at_two.objective == pytest.approx(3.0)
    assert at_two.dual == {} and at_two.state is None


def test_maximising_turns_the_bound_round() -> None:
    found = solved("param u: real\nvar x: vector[2]\nmaximize -sum_squares(x - 1)\nsubject to x >= u, x <= 0\n", u=1.0)
    assert (found.status, found.objective, found.dual_bound) == ("infeasible", -2.0, -np.inf)


def test_bounds_that_cross_only_across_the_diagonal() -> None:
    low, high = np.array([[0.0, 3.0], [1.0, 0.0]]), np.array([[1.0, 4.0], [2.0, 1.0]])
    found = solved(MIRROR, L=low, H=high)
    assert found.status == "infeasible" and "`S[0, 1]` would have to be at least 3 and at most 2" in found.reason
    assert solved(MIRROR, L=np.minimum(low, 1.5), H=high).status == "optimal"


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "text",
    [
        vector("x >= 0.1 * u + 0.2 * u", "x <= 0.3 * u"),
        vector("x in box(0.1 * u + 0.2 * u, 0.3 * u)"),
        vector("x in simplex(0.1 * u + 0.2 * u)", "x in simplex(0.3 * u)"),
        matrix("symmetric[2]", "X in box(0.1 * u + 0.2 * u, 0.3 * u)"),
        matrix("matrix[2, 3]", "X in rows(box(0.1 * u + 0.2 * u, 0.3 * u))"),
    ],
)
def test_rounding_contradicts_nothing(text: str, unit: float) -> None:
    """0.1 + 0.2 is above 0.3 by one unit in the last place."""
    problem = fw.parse(text).bind(u=unit).canonical
    assert isinstance(problem, type(fw.parse(SUM).bind(r=1.0).canonical)) and problem.contradiction is None
    found = solved(text, u=unit)
    assert found.status != "infeasible"
    value = np.concatenate([np.reshape(v, -1) for v in found.variables.values()])
    assert np.all(value <= 0.3 * unit * (1.0 + 1e-9))


@pytest.mark.parametrize("rows", UNITS)
@pytest.mark.parametrize("columns", [(1.0, 1.0), (1.0, 1e-12), (1e9, 1e-9)])
def test_equations_are_judged_in_units_of_their_own(rows: float, columns: tuple[float, float]) -> None:
    text = "data A: matrix[m, 2], b: vector[m]\nvar x: vector[2] in affine(A, b)\nminimize sum(x)\n"
    d = np.array([rows, 1.0, 1.0 / rows])
    A = d[:, None] * np.array([[1.0, 1.0], [1.0, 2.0], [2.0, 3.0]]) * np.array(columns)
    met, missed = (fw.parse(text).bind(A=A, b=d * b).canonical for b in ([1.0, 3.0, 4.0], [1.0, 3.0, 4.5]))
    assert met.contradiction is None  # type: ignore[union-attr]
    assert "its equations contradict each other" in missed.contradiction.message  # type: ignore[union-attr]


def test_a_short_column_that_solves_the_equations_is_no_rounding() -> None:
    """(0, 1e12) solves them: the second column is small, and not zero."""
    text = "data A: matrix[2, 2], b: vector[2]\nvar x: vector[2] in affine(A, b)\nminimize sum_squares(x)\n"
    problem = fw.parse(text).bind(A=np.array([[1.0, 1e-12], [1.0, 2e-12]]), b=np.array([1.0, 2.0]))
    assert problem.canonical.contradiction is None  # type: ignore[union-attr]


A = np.array([[1.0, 2.0, 0.5], [0.0, 1.0, 3.0]])


@pytest.mark.parametrize(
    "text",
    [
        "var x: vector[3] in box(-3, -1)\nmaximize -entropy(A @ x)\n",
        "var x: vector[3] in nonnegative\nminimize sum_squares(A @ x) + entropy(-(A @ x) - 1)\n",
        "var x: vector[3] in l2_ball(1)\nminimize entropy(A @ x - 5)\n",
        "var x: vector[3]\nminimize entropy(2 * x - 1) + sum_squares(A @ x)\nsubject to x <= 0.4\n",
        "var x: vector[3]\nminimize entropy(x) + sum_squares(A @ x)\nsubject to x[1] <= -1\n",
        "var x: vector[3]\nminimize entropy(A @ x) + sum_squares(x)\nsubject to sum(A @ x) <= -1\n",
        "var x: vector[3] in l2_ball(2)\nminimize entropy(A @ x) + entropy(-(A @ x) - 0.1)\n",
    ],
)
def test_a_domain_under_a_map_that_the_constraints_exclude(text: str) -> None:
    """The domain of a term is a constraint of its argument as any other."""
    found = fw.parse("data A: matrix[2, 3]\n" + text).bind(A=A).solve(threads=1, time=20)
    assert (found.status, found.certificate.kind) == ("infeasible", "exact")
    assert "the domain of" in found.certificate.statement


@pytest.mark.parametrize(
    "text",
    [
        "var x: vector[3] in box(-3, 1)\nmaximize -entropy(A @ x)\n",
        "var x: vector[3] in l2_ball(3)\nminimize entropy(A @ x - 5)\n",
        "var x: vector[3]\nminimize entropy(2 * x - 1) + sum_squares(A @ x)\nsubject to x <= 0.6\n",
        "var x: vector[3]\nminimize 0 * entropy(x) + sum_squares(A @ x)\nsubject to x <= -1\n",
        "var x: vector[3]\nminimize entropy(x) + sum_squares(A @ x)\nsubject to x <= 1e-3\n",
    ],
)
def test_a_domain_that_the_constraints_meet(text: str) -> None:
    found = fw.parse("data A: matrix[2, 3]\n" + text).bind(A=A).solve(threads=1, time=20)
    assert found.status == "optimal"


def test_a_domain_that_the_constraints_touch_is_not_called_empty() -> None:
    assert solved("var x: vector[3]\nminimize entropy(x)\nsubject to x <= 0\n").status != "infeasible"


def test_a_coefficient_beside_which_another_is_rounding_still_counts() -> None:
    """(0, 1e17) is feasible."""
    text = "param c: real\nvar x: vector[2] in nonnegative\nminimize sum(x)\nsubject to c * x[1] - x[0] >= 1\n"
    assert fw.parse(text).bind(c=1e-17).canonical.contradiction is None  # type: ignore[union-attr]
    assert fw.parse(text).bind(c=0.0).solve().reason.startswith("`c * x[1] - x[0] >= 1` and `x in nonnegative` cannot")


def test_a_path_goes_on_past_a_value_without_a_solution() -> None:
    path = fw.parse(SUM).path(r=[1.0, -1.0, 3.0], threads=1)
    assert [s.status for s in path] == ["optimal", "infeasible", "optimal"]
    assert path[2].objective == pytest.approx(0.0, abs=1e-9)
    assert path[2].start.startswith(f"a solution by {path[0].method} with objective 1.333")


def test_every_entrant_of_a_race_says_so() -> None:
    race = fw.parse(SUM).bind(r=-1.0).race(["apg", "frank_wolfe", "lowrank"], time=1)
    assert race.status == "infeasible"
    assert [e.status for e in race] == ["infeasible", "infeasible", "does not apply"]
    assert "cannot hold with `x in nonnegative`" in repr(race) and not race.contradiction


def test_a_named_method_is_judged_by_names() -> None:
    problem = fw.parse(SUM).bind(r=-1.0)
    assert problem.solve(method="frank_wolfe").method == "frank_wolfe"
    with pytest.raises(fw.PlanError) as caught:
        problem.solve(method="lowrank")
    assert caught.value.code == "FW5003"


def test_a_positive_parameter_is_a_promise_and_no_bound() -> None:
    with pytest.raises(fw.DataError) as caught:
        fw.parse("param r: positive\nvar x: vector[2]\nminimize norm1(x)\nsubject to norm2(x) <= r\n").bind(
            r=-1.0
        ).solve()
    assert caught.value.code == "FW4511"


def feasible_program(rng: np.random.Generator) -> tuple[str, dict[str, Any]]:
    """Random constraints in a random unit that a random point meets, most often without room, and its data."""
    unit, n, tight, nonnegative = (
        10.0 ** rng.uniform(-9, 9),
        int(rng.integers(1, 6)),
        rng.random() < 0.6,
        rng.random() < 0.5,
    )
    x = rng.standard_normal(n) * unit
    x = np.abs(x) if nonnegative else x

    def room(*shape: int) -> Any:
        return np.zeros(shape) if tight else unit * np.abs(rng.standard_normal(shape))

    A = rng.standard_normal((3, n)) * 10.0 ** rng.uniform(-9, 9, (3, 1)) * 10.0 ** rng.uniform(-9, 9, (1, n))
    A[1] = 3.0 * A[0]
    pool: dict[str, dict[str, Any]] = {
        "x in box(lo, hi)": {"lo": x - room(n), "hi": x + room(n)},
        "x >= g": {"g": x - room(n)},
        "x <= h": {"h": x + room(n)},
        "x in l1_ball(r1)": {"r1": float(np.abs(x).sum() + room())},
        "x in l2_ball(r2)": {"r2": float(np.linalg.norm(x) + room())},
        "x in linf_ball(r3)": {"r3": float(np.abs(x).max() + room())},
        "x in affine(A, A @ z)": {"A": A, "z": x},
        "A @ x <= A @ z": {"A": A, "z": x},
        "sum(x) >= s": {"s": np.array(x.sum() - room())},
    }
    if nonnegative:
        pool |= {
            "x in simplex(r4)": {"r4": float(x.sum())},
            "x in nonnegative": {},
            "sum(x) <= r5": {"r5": float(x.sum())},
        }
    chosen = [str(c) for c in rng.permutation(list(pool))[: rng.integers(2, 5)]]
    data = {name: value for c in chosen for name, value in pool[c].items()}
    shapes = {"A": f"matrix[3, {n}]", "s": "real"}
    lines = [
        f"param {name}: positive" if isinstance(value, float) else f"data {name}: {shapes.get(name, f'vector[{n}]')}"
        for name, value in data.items()
    ]
    objective = "sum_squares(x)" + (" + entropy(x) + entropy(2 * x)" if nonnegative else "")
    lines += [f"var x: vector[{n}]", f"minimize {objective}", "subject to", *(f"    {c}" for c in chosen)]
    return "\n".join(lines) + "\n", data


def test_no_feasible_program_is_called_empty() -> None:
    rng = np.random.default_rng(91)
    for _ in range(150):
        text, data = feasible_program(rng)
        found = fw.parse(text).bind(**data).canonical
        assert found.contradiction is None, text  # type: ignore[union-attr]
