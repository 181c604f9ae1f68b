"""Equivalent texts: the same optimum, the same method, and multipliers of the program as it is written."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.canon import Rewritten
from fwdsl.canon.rewrites import rewritten
from fwdsl.oracle.solve import solve_oracle

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def _texts() -> ModuleType:
    """The programs of `benchmarks/texts.py`, each in its texts."""
    spec = importlib.util.spec_from_file_location("equivalent_texts", BENCHMARKS / "equivalent.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["equivalent_texts"] = module
    spec.loader.exec_module(module)
    return module


PROBLEMS = _texts().PROBLEMS
ALL = [(name, text) for name, problem in PROBLEMS.items() for text in problem.texts]


def given(name: str, text: str, n: int = 60, d: int = 24) -> fw.Problem:
    problem = PROBLEMS[name]
    return bound(problem.texts[text].program, problem.make(n, d))


def bound(program: str, data: dict[str, Any]) -> fw.Problem:
    return fw.parse(program).bind(**{k: v for k, v in data.items() if re.search(rf"^data [^\n]*\b{k}:", program, re.M)})


@pytest.fixture(scope="module")
def plain() -> dict[str, float]:
    """The optimal values of the plain texts, by cvxpy."""
    found: dict[str, float] = {}
    for name, problem in PROBLEMS.items():
        pytest.importorskip("cvxpy")
        found[name] = solve_oracle(given(name, next(iter(problem.texts))).instance).value
    return found


@pytest.mark.parametrize(("name", "text"), ALL)
def test_all_texts_have_one_optimum(name: str, text: str, plain: dict[str, float]) -> None:
    solution = given(name, text).solve(tol=1e-8, threads=1)
    assert solution.status == "optimal"
    value = solution.objective / PROBLEMS[name].texts[text].factor_at(60)
    assert value == pytest.approx(plain[name], rel=2e-6, abs=1e-7)


@pytest.mark.parametrize(("name", "text"), [pair for pair in ALL if not PROBLEMS[pair[0]].texts[pair[1]].why])
def test_all_texts_have_one_method(name: str, text: str) -> None:
    problem = PROBLEMS[name]
    first = next(iter(problem.texts))
    assert given(name, text, 300, 40).plan().method == given(name, first, 300, 40).plan().method


REWRITTEN = [pair for pair in ALL if rewritten(fw.parse(PROBLEMS[pair[0]].texts[pair[1]].program).model) is not None]


@pytest.mark.parametrize(("name", "text"), REWRITTEN)
def test_points_and_multipliers_lead_back(name: str, text: str) -> None:
    """The certificate is of the program as it is written, and its dual point and point lead into the equivalent one and out again."""
    problem = given(name, text)
    solution = problem.solve(tol=1e-8, threads=1)
    form = problem.canonical
    if not isinstance(form, Rewritten):
        return
    assert sorted(solution.variables) == sorted(v.name for v in form.instance.model.variables)
    ys = solution.record["dual_point"]
    assert [y.size for y in ys] == [t.map.rows for t in form.outer.terms]
    x = form.outer.join(solution.variables)
    inner = form.inward_dual(x, ys)
    if inner is None:
        return
    point, told = form.outward(form.inward(x, ys), inner)
    assert told is not None
    assert np.allclose(point, x, atol=1e-5 * max(1.0, float(np.abs(x).max())))
    for own, known in zip(told, ys, strict=True):
        assert np.allclose(own, known, atol=1e-5 * max(1e-3, float(np.abs(known).max(initial=0.0))))


@pytest.mark.parametrize(("name", "text"), REWRITTEN)
def test_a_run_goes_on_from_its_own_solution(name: str, text: str) -> None:
    problem = given(name, text)
    solution = problem.solve(tol=1e-7, threads=1)
    again = problem.solve(tol=1e-7, threads=1, start=solution)
    assert again.status == "optimal"
    assert again.objective == pytest.approx(solution.objective, rel=1e-6, abs=1e-7)


# --- multipliers where they are unique ----------------------------------------------------------------------------------

RNG = np.random.default_rng(3)
A = RNG.standard_normal((30, 5))
B = A @ RNG.standard_normal(5) + RNG.standard_normal(30)
V = np.where(B > 0.0, 1.0, -1.0)
HEAD = "data A: matrix[n, d], b: vector[n], v: vector[n]\nparam r: positive\nvar x: vector[d]\n"
STEP = 1e-4
FIT = "sum(squared(A @ x, b))"


@pytest.mark.parametrize(
    ("variables", "objective", "constraint", "share", "others"),
    [
        ("", FIT, "norm_inf(x - 0.2) <= 0.1 * r", 0.1, ""),
        ("", FIT, "0.2 - x in linf_ball(0.1 * r)", 0.1, ""),
        ("", FIT, "norm1(2 * x) <= r", 1.0, ""),
        ("", FIT, "2 * x - 1 <= r", 1.0, ""),
        ("", FIT, "1 == sum(x) + r - 1", 1.0, "x >= 0"),
        ("", FIT, "dot(ones(d), x) == r", 1.0, "x >= 0"),
        ("", FIT, "2 * sum(x) - 1 <= r", 1.0, "x >= 0"),
        ("", FIT, "d * mean(x) == r", 1.0, "x >= 0"),
        ("", FIT, "x[1:] >= 0.3 * r", 0.3, ""),
        ("", FIT, "norm_inf(x[0:2]) <= 0.2 * r", 0.2, ""),
        (", t: vector[d]", FIT, "sum(t) <= r", 1.0, "-t <= x, x <= t"),
        (", t: vector[n]", "sum_squares(x) + sum(t)", "t >= r - v * (A @ x)", 1.0, "t >= 0"),
        (", t: vector[n]", "sum_squares(x) + sum_squares(t)", "t >= r - v * (A @ x)", 1.0, ""),
        (", t: vector[n]", "sum_squares(x) + sum(t)", "t >= A @ x - b + r - 1", 1.0, "t >= b - A @ x"),
        (", t: vector[n]", "sum_squares(x) + norm1(t)", "t == A @ x - b + r - 1", 1.0, ""),
        (", t: real", "sum_squares(x) + 30 * t", "A @ x - b <= t + r - 1", 1.0, "-t <= A @ x - b"),
    ],
)
def test_multipliers_are_slopes_of_the_optimum(
    variables: str, objective: str, constraint: str, share: float, others: str
) -> None:
    text = HEAD.rstrip("\n") + f"{variables}\nminimize {objective}\nsubject to\n    c: {constraint}\n"
    text += f"    {others}\n" if others else ""
    problem = bound(text, {"A": A, "b": B, "v": V})
    low, mid, high = (problem.bind(r=1.0 + k * STEP).solve(tol=1e-11, threads=1) for k in (-1, 0, 1))
    slope = (high.objective - low.objective) / (2.0 * STEP)
    dual = share * mid.dual["c"]
    assert float(np.sum(dual)) == pytest.approx(slope, rel=2e-3, abs=2e-3)


def test_multipliers_of_slacks_are_those_of_cvxpy() -> None:
    cp = pytest.importorskip("cvxpy")
    text = (
        HEAD
        + "var s: vector[n]\nminimize sum_squares(x) + sum(s)\nsubject to\n    up: s >= 1 - v * (A @ x)\n    low: s >= 0"
    )
    solution = bound(text, {"A": A, "b": B, "v": V}).bind(r=1.0).solve(tol=1e-10, threads=1)
    x, s = cp.Variable(5), cp.Variable(30)
    up, low = s >= 1 - cp.multiply(V, A @ x), s >= 0
    cp.Problem(cp.Minimize(cp.sum_squares(x) + cp.sum(s)), [up, low]).solve(solver="CLARABEL")
    assert np.allclose(solution.dual["up"], up.dual_value, atol=1e-5)
    assert np.allclose(solution.dual["low"], low.dual_value, atol=1e-5)


# --- what stays as it is ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        # two bounds of which neither is a multiple of the other
        "var t: vector[n]\nminimize sum(t) + sum_squares(x)\nsubject to t >= A @ x, t >= b - 2 * (A @ x)",
        # a slack that is bounded above
        "var t: vector[n]\nminimize sum(t) + sum_squares(x)\nsubject to t >= 1 - A @ x, 0 <= t <= 3",
        # a slack that costs nothing
        "var t: vector[n]\nminimize sum_squares(x)\nsubject to t >= 1 - A @ x, t >= 0",
        # squares that are larger above than below
        "var t: vector[n]\nminimize sum_squares(t) + sum_squares(x)\nsubject to t >= A @ x - b, t >= 2 * (b - A @ x)",
        # a variable with a set of its own beside the norm of its slice
        "minimize sum(squared(A @ x, b)) + norm1(x[1:])\nsubject to sum(x) == 1",
    ],
)
def test_what_is_no_identity_is_left(text: str) -> None:
    program = HEAD + text
    problem = bound(program, {"A": A, "b": B, "v": V}).bind(r=1.0)
    assert rewritten(problem.model) is None
    value = solve_oracle(problem.instance).value
    assert problem.solve(tol=1e-8, threads=1).objective == pytest.approx(value, rel=1e-6, abs=1e-6)


def test_slices_that_do_not_fit_the_sizes_are_left() -> None:
    """From names alone `x[:7]` is a part; with five entries there is nothing after it."""
    text = HEAD + "minimize sum(squared(A @ x, b)) + norm1(x[4:]) + r * sum(x)"
    assert rewritten(fw.parse(text).model) is None  # the sum couples the parts
    text = HEAD + "minimize sum(squared(A @ x, b)) + norm1(x[1:]) + 2 * norm1(x[-4:])"
    solution = bound(text, {"A": A, "b": B, "v": V}).bind(r=1.0).solve(tol=1e-9, threads=1)
    same = HEAD + "minimize sum(squared(A @ x, b)) + 3 * norm1(x[1:])"
    other = bound(same, {"A": A, "b": B, "v": V}).bind(r=1.0).solve(tol=1e-9, threads=1)
    assert solution.objective == pytest.approx(other.objective, rel=1e-8)


def test_groups_that_end_where_the_vector_does_are_a_group_norm() -> None:
    """From names alone something may stand behind `x[3:5]`; with five entries nothing does."""
    text = HEAD + "minimize sum(squared(A @ x, b)) + 3 * r * (norm2(x[:3]) + norm2(x[3:5]))"
    problem = bound(text, {"A": A, "b": B, "v": V}).bind(r=1.0)
    same = fw.parse(HEAD + "minimize sum(squared(A @ x, b)) + 3 * r * group_norm(x, [[0, 1, 2], [3, 4]])")
    other = same.bind(A=A, b=B, v=V, r=1.0)
    assert isinstance(problem.canonical, Rewritten)
    assert problem.plan().method == other.plan().method
    one, two = (p.solve(tol=1e-9, threads=1) for p in (problem, other))
    assert one.status == "optimal" and one.objective == pytest.approx(two.objective, rel=1e-8)
    again = problem.bind(A=A[:20], b=B[:20], v=V[:20]).solve(tol=1e-7, threads=1)
    assert again.status == "optimal"


def test_a_named_method_has_the_program_that_it_takes() -> None:
    """A method that takes the program as it is written alone is given that."""
    text = HEAD + "var t: vector[n]\nminimize sum_squares(x) + sum(t)\nsubject to t >= A @ x - b, t >= b - A @ x"
    problem = bound(text, {"A": A, "b": B, "v": V}).bind(r=1.0)
    values = [problem.solve(method=m, tol=1e-7, threads=1).objective for m in ("pdhg", "interior", "dcd")]
    assert values == pytest.approx([values[0]] * 3, rel=1e-5)


def test_units_change_nothing() -> None:
    """A program in other units takes the same steps."""
    text = HEAD + "var t: vector[n] in nonnegative\nminimize sum_squares(x) + sum(t)\nsubject to t >= 1 - v * (A @ x)"
    big = (
        HEAD
        + "var t: vector[n] in nonnegative\nminimize 1e6 * sum_squares(x) + 1e6 * sum(t)\nsubject to t >= 1 - v * (A @ x)"
    )
    first, second = (bound(t, {"A": A, "b": B, "v": V}).bind(r=1.0).solve(threads=1) for t in (text, big))
    assert first.iterations == second.iterations
    assert second.objective == pytest.approx(1e6 * first.objective, rel=1e-6)


def test_infeasible_stays_infeasible() -> None:
    text = (
        HEAD
        + "var t: vector[n] in nonnegative\nminimize sum(t) + r\nsubject to t >= 1 - v * (A @ x), x >= 1, sum(x) == 1"
    )
    assert bound(text, {"A": A, "b": B, "v": V}).bind(r=1.0).solve(threads=1).status == "infeasible"


def test_the_plan_tells_what_was_recognised() -> None:
    facts = "\n".join(given("hinge", "slack").plan().facts)
    assert "`hinge`" in facts and "s:" in facts
    assert any("slices" in fact for fact in given("lasso_intercept", "column of ones").plan().facts)


@pytest.mark.parametrize("loss", ["sum_squares(x)", "norm_inf(x) + sum_squares(x)"])
@pytest.mark.parametrize("more", ["", ", x[0] >= 1.45", ", x in box(-1.3, 1.55)"])
def test_bounds_that_are_merged_share_the_multiplier(loss: str, more: str) -> None:
    """Each entry's goes to the bound that binds; all of it once went to the first, and nothing was proven."""
    text = f"data c: vector[n]\nvar x: vector[n]\nminimize {loss}\nsubject to norm_inf(x) <= 1.6, norm_inf(x - c) <= 1.6{more}\n"
    problem = fw.parse(text).bind(c=np.array([3.0, 0.0, -2.0, 2.0]))
    solution = problem.solve(threads=1, tol=1e-8)
    assert solution.status == "optimal", solution.reason
    assert solution.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-6)


WEIGHED = """data A: matrix[n, d], b: vector[n], e: vector[d], E: matrix[m, d], f: vector[m]
var x: vector[d]
minimize sum_squares(A @ x - b) + 0 * sum(e) + 0 * sum(E) + 0 * sum(f)
subject to
    x >= 0
    {}
"""


def weighed(constraint: str, weights: np.ndarray) -> fw.Problem:
    rng = np.random.default_rng(4)
    data = {
        "A": rng.standard_normal((12, 5)),
        "b": rng.standard_normal(12),
        "e": weights,
        "E": weights[None],
        "f": np.ones(1),
    }
    return fw.parse(WEIGHED.format(constraint)).bind(**data)


@pytest.mark.parametrize("k", [1.0, 0.25, -2.0, 1e-9])
@pytest.mark.parametrize(
    "constraint",
    ["dot(e, x) == {k}", "dot(e, x) - {k} == 0", "{k} == dot(x, e)", "E @ x == {k}", "E @ x - {k} * f == 0"],
)
def test_equal_weights_are_a_sum(constraint: str, k: float) -> None:
    plain = weighed("sum(x) == 1", np.ones(5))
    problem = weighed(constraint.format(k=repr(k)), np.full(5, k))
    assert isinstance(problem.canonical, Rewritten)
    assert f"all entries of `{'E' if 'E' in constraint else 'e'}` are {k:g}" in str(problem.plan())
    assert problem.plan().method == plain.plan().method
    found, expected = problem.solve(tol=1e-9, threads=1), plain.solve(tol=1e-9, threads=1)
    assert found.status == "optimal"
    np.testing.assert_allclose(found["x"], expected["x"], rtol=0, atol=1e-6)
    sign = -1.0 if constraint.startswith("{k}") else 1.0
    assert sign * k * np.asarray(found.dual["c2"]) == pytest.approx(expected.dual["c2"], rel=1e-5)


def test_weights_that_differ_or_are_zero_stay() -> None:
    for weights in (np.array([1.0, 1.0, 1.0, 1.0, 2.0]), np.zeros(5)):
        assert not isinstance(weighed("dot(e, x) <= 1", weights).canonical, Rewritten)


def test_other_data_are_looked_at_anew() -> None:
    problem = weighed("dot(e, x) == 1", np.ones(5))
    assert isinstance(problem.canonical, Rewritten)
    other = problem.bind(e=np.arange(1.0, 6.0))
    assert not isinstance(other.canonical, Rewritten)
    assert isinstance(other.bind(e=np.full(5, 3.0)).canonical, Rewritten)


SMALL = {
    "A": np.array([[1.0, -2.0, 0.0, 1.0], [0.0, 1.0, -1.0, -2.0], [2.0, -2.0, 1.0, 0.0]]),
    "b": np.array([-2.0, 2.0, 1.0]),
    "q": np.array([-1.0, 0.5, 0.0, 0.3]),
}
SIMPLEX = (
    "x >= 0, sum(x) == 1.5",
    "min(x) >= 0, 4 * mean(x) == 1.5",
    "min(2 * x) >= 0, min(x) >= 0, dot(ones(4), x) == 1.5",
)
AT_MOST = ("x >= 0, sum(x) <= 1.5", "min(x) >= 0, 1.5 >= sum(x)", "-x <= 0, min(x) >= 0, 4 * mean(x) <= 1.5")
SQUARES = (
    "0.4 * sum_squares(x)",
    "0.4 * quad_form(eye(4) @ x, eye(4))",
    "0.1 * quad_form(2 * (eye(4) @ x), eye(4))",
    "1.6 * mean(square(eye(4) @ x))",
    "0.4 * mean(square(eye(4) @ (2 * x)))",
    "0.8 * mean(square(eye(4) @ x)) + 0.2 * quad_form(eye(4) @ x, eye(4))",
)
REST = (
    "norm1(A @ x - b) + dot(q, x)",
    "norm2(A @ x - b) - 3 * x[0]",
    "sum(exp(A @ x)) + dot(q, x)",
    "-2 * x[1] + norm1(x)",
)
TOLD = [(rest, squares, ("", "", "")) for rest in REST for squares in SQUARES[1:]]
TOLD += [(rest, squares, sets) for rest in REST for squares in ("", *SQUARES[:3]) for sets in (SIMPLEX, AT_MOST)]


@pytest.mark.parametrize(("rest", "squares", "sets"), TOLD)
def test_multipliers_of_what_a_variable_holds_prove_the_optimum(rest: str, squares: str, sets: tuple[str, ...]) -> None:
    """Squares and simplices that are recognised are no terms, and have multipliers in the program as it is written."""

    def solved(squares: str, constraints: str) -> fw.Solution:
        objective = f"{rest} + {squares}" if squares else rest
        text = "data A: matrix[3, 4], b: vector[3], q: vector[4]\nvar x: vector[4]\n"
        text += f"minimize {objective}\n" + (f"subject to {constraints}\n" if constraints else "")
        found = bound(text, SMALL).solve(tol=1e-8, threads=1)
        assert found.status == "optimal", (text, found.certificate.statement)
        return found

    plain = solved(SQUARES[0] if squares else "", sets[0])
    for constraints in sets[1:]:
        assert solved(squares, constraints).objective == pytest.approx(plain.objective, rel=1e-7, abs=1e-8)


DEFINED = """data A: matrix[3, 4], b: vector[3], q: vector[4], y: signs[3], c: vector[4]
var {}
minimize {} + dot(q, x) + 0.2 * sum_squares(z) + 0.1 * norm2(u - c)
{}
"""
EQUAL = ("z == x, u == x", "u == x, x - z == 0", "2 * x == 2 * z, z == u", "x == z, x == u")
OF_X = (
    "sum(logistic(A @ x, y))",
    "sum(log_sum_exp(hstack(reshape(A @ x - b, 3, 1), zeros(3, 1)), axis=1))",
    "quad_form(x, [[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]])",
    "quad_form(3 * x, eye(4))",
    "norm2(A @ x - b)",
)
BOUNDS = ("", "norm1(-2 * x) <= 1", "norm1(-2 * z) - 1 <= 0", "0.3 * norm2(-z) <= 0.1", "x in permutahedron(c)")


@pytest.mark.parametrize("loss", OF_X)
@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize("equal", EQUAL)
def test_variables_that_are_another_one_have_its_optimum(loss: str, bounds: str, equal: str) -> None:
    """The equality's multiplier balances all that stands on either side, whatever was recognised of it."""
    data = {**SMALL, "y": np.array([1.0, -1.0, 1.0]), "c": np.array([2.0, 1.0, 0.0, 0.0])}
    more = f"subject to {equal}{', ' if bounds else ''}{bounds}"
    told = bound(DEFINED.format("x: vector[4], z: vector[4], u: vector[4]", loss, more), data).solve(
        tol=1e-8, threads=1
    )
    one = DEFINED.replace("sum_squares(z)", "sum_squares(x)").replace("norm2(u - c)", "norm2(x - c)")
    alone = f"subject to {bounds.replace('z', 'x')}" if bounds else ""
    plain = bound(one.format("x: vector[4]", loss, alone), data).solve(tol=1e-8, threads=1)
    assert plain.status == "optimal" and told.status == "optimal", told.certificate.statement
    assert told.objective == pytest.approx(plain.objective, rel=1e-7, abs=1e-8)
