"""The plan: structure, choice, reasons, refusals."""

from __future__ import annotations

import json
import tracemalloc

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.check import compile_text
from fwdsl.model.options import Options
from fwdsl.plan import make_plan

HEAD = "data A: matrix[n, p], y: vector[n]\n"


def plan_of(text: str, **options: object):  # type: ignore[no-untyped-def]
    model, found = compile_text(text)
    assert model is not None, found
    return make_plan(model, Options(**options))  # type: ignore[arg-type]


def chosen(text: str) -> str:
    plan, found = plan_of(text)
    assert plan is not None, found
    return plan.method


@pytest.mark.parametrize(
    ("body", "method"),
    [
        ("var x: vector[p] in l1_ball(2)\nminimize mean(squared(A @ x, y))\n", "apg"),
        ("var x: vector[p]\nminimize mean(squared(A @ x, y)) + 0.1 * norm1(x)\n", "apg"),
        ("var x: vector[p] in nonnegative\nminimize mean(huber(A @ x, y)) + norm1(x) + sum_squares(x)\n", "apg"),
        ("var x: vector[p] in l1_ball(2)\nminimize mean(absolute(A @ x, y))\n", "pdhg"),
        ("var x: vector[p] in l1_ball(2)\nminimize mean(squared(A @ x, y))\nsubject to x in simplex(1)\n", "pdhg"),
        ("var x: vector[p]\nminimize mean(squared(A @ x, y)) + norm1(x - 1)\n", "pdhg"),
        ("var x: vector[p]\nminimize sum_squares(A @ x - y)\n", "newton"),
        ("var x: vector[p]\nminimize mean(squared(A @ x, y))\nsubject to\n    x >= 0\n    sum(x) == 1\n", "apg"),
    ],
)
def test_the_structure_decides_the_method(body: str, method: str) -> None:
    assert chosen(HEAD + body) == method


def test_what_has_no_joint_prox_moves_into_the_sum_and_the_plan_says_so() -> None:
    plan, _ = plan_of(
        HEAD + "var x: vector[p] in l1_ball(2)\nminimize mean(squared(A @ x, y))\nsubject to x in simplex(1)\n"
    )
    assert plan is not None
    text = plan.render()
    assert "moved into the sum" in text
    assert "l1_ball(2)" in text
    assert "no joint prox" in text


def test_a_simplex_is_recognised() -> None:
    plan, _ = plan_of(
        HEAD + "var x: vector[p]\nminimize mean(squared(A @ x, y))\nsubject to\n    x >= 0\n    sum(x) <= 1\n"
    )
    assert plan is not None
    assert any("solid_simplex" in fact for fact in plan.facts)


def test_every_method_gives_a_reason_or_applies() -> None:
    plan, _ = plan_of(HEAD + "var x: vector[p]\nminimize mean(absolute(A @ x, y)) + norm1(x)\n")
    assert plan is not None
    by_name = {c.name: c for c in plan.candidates}
    assert by_name["pdhg"].applies
    assert "not differentiable" in " ".join(by_name["apg"].reasons)
    assert "linear minimisation oracle" in " ".join(by_name["frank_wolfe"].reasons)


def test_a_bound_plan_predicts_and_an_infinite_box_bars_frank_wolfe() -> None:
    text = HEAD + "param top: real\nvar x: vector[p] in box(0, top)\nminimize mean(squared(A @ x, y))\n"
    A, y = np.ones((4, 2)), np.arange(4.0)
    finite = fw.parse(text).bind(A=A, y=y, top=2.0).plan()
    freely = {c.name for c in finite.candidates if c.applies and not c.by_name_only}
    assert freely == {"apg", "coordinate_descent", "frank_wolfe", "interior", "pdhg", "pivoting"}
    estimates = [c.estimate for c in finite.candidates if c.applies and not c.by_name_only]
    assert all(e is not None and e.passes > 0 and e.seconds > 0 for e in estimates)
    json.dumps(finite.to_json())
    unbounded = (
        fw.parse(text.replace("box(0, top)", "box(0, inf)").replace("param top: real\n", "")).bind(A=A, y=y).plan()
    )
    assert "not bounded" in " ".join(next(c for c in unbounded.candidates if c.name == "frank_wolfe").reasons)


@pytest.mark.parametrize(
    ("options", "code", "word"),
    [
        ({"method": "fista"}, "FW5002", "fista"),
        ({"method": "frank_wolfe"}, "FW5003", "frank_wolfe"),
        ({"among": ("apg", "fista")}, "FW5002", "fista"),
        ({"among": ("frank_wolfe", "sdca")}, "FW5003", "`sdca`: it needs"),
        ({"method": "apg", "method_options": {"speed": 3.0}}, "FW5004", "speed"),
        ({"method": "apg", "method_options": {"newton": 3.0}}, "FW5004", "newton"),
    ],
)
def test_a_method_that_cannot_be_had_is_refused_with_its_reason(options: dict, code: str, word: str) -> None:
    plan, found = plan_of(HEAD + "var x: vector[p]\nminimize mean(squared(A @ x, y))\n", **options)
    assert plan is None
    assert [d.code for d in found] == [code]
    assert word in found[0].message
    assert found[0].hint


def test_several_names_restrict_the_choice() -> None:
    text = HEAD + "var x: vector[p]\nminimize mean(squared(A @ x, y)) + 0.1 * norm1(x)\n"
    data = {"A": np.random.default_rng(0).standard_normal((30, 4)), "y": np.arange(30.0)}
    problem = fw.parse(text).bind(**data)
    assert problem.plan().method == "coordinate_descent"
    plan = problem.plan(method=("svrg", "pdhg"))
    assert plan.method == "pdhg"
    assert [c.name for c in plan.weighed] == ["pdhg", "svrg"]
    assert not any(c.by_name_only for c in plan.weighed)
    assert "not among those to choose from" in plan.render()
    assert problem.plan(method=["svrg"]).why == "named by the program or the call"
    written = fw.parse(text + "solve method = [svrg, pdhg]\n").bind(**data)
    assert written.solve().method == "pdhg"
    assert written.solve(method="apg").method == "apg"
    assert written.solve(method="auto").method == "coordinate_descent"


@pytest.mark.parametrize("given", [(), ("auto", "apg"), ("apg", 3), [""]])
def test_names_to_choose_from_are_names(given: object) -> None:
    with pytest.raises(fw.BuildError, match="FW0310"):
        fw.parse("var x: vector[2]\nminimize sum_squares(x - 1)\n").solve(method=given)


@pytest.mark.parametrize("given", ["[]", "[1, apg]", "[auto, apg]", "[apg(newton=false), pdhg]"])
def test_a_list_of_methods_holds_names(given: str) -> None:
    _, found = compile_text(f"var x: vector[2]\nminimize sum_squares(x - 1)\nsolve method = {given}\n")
    assert [d.code for d in found] == ["FW2014"]


def test_every_function_and_set_of_the_language_has_a_place() -> None:
    """The canonical form has all that the checker knows: no accepted program is refused for its words."""
    from fwdsl import words
    from fwdsl.atoms.losses import LOSSES, VECTOR_LOSSES
    from fwdsl.canon.pairs import has_prox
    from fwdsl.model import Type

    vector, matrix = Type("vector", ("d",)), Type("matrix", ("d", "d"))
    assert set(words.LOSSES) == {*LOSSES, *VECTOR_LOSSES}
    for name, function in words.CONVEX.items():
        # solved as something else: a loss, another function of the negative, a sum over rows or of differences
        if function.as_loss or function.as_row_loss or function.is_composed or function.total:
            continue
        assert has_prox(name, None, vector) or has_prox(name, None, matrix), name
    for name, word in words.SETS.items():
        if word.written_as:
            continue
        inner = f"{name}(simplex)" if word.inner else "{}({})".format(*word.stands_for) if word.stands_for else name
        assert has_prox(None, inner, vector) or has_prox(None, inner, matrix), name


def test_an_empty_box_and_an_impossible_sum_are_found_before_any_solve() -> None:
    for text in (
        "param a: real\nvar x: vector[3]\nminimize sum_squares(x)\nsubject to\n    x <= 1\n    x >= a\n",
        "param a: real\nvar x: vector[3] in nonnegative\nminimize sum_squares(x)\nsubject to sum(x) == -a\n",
    ):
        problem = fw.parse(text).bind(a=2.0)
        solution = problem.solve()
        assert (solution.status, solution.iterations, solution.certificate.kind) == ("infeasible", 0, "exact")
        told = f"no point meets the constraints: {solution.certificate.statement}"
        assert told in problem.plan().facts


def test_a_rewritten_set_holds_for_each_block_of_a_family() -> None:
    text = "data V: matrix[m, d]\nvar F: family[2] of vector[d] in polytope(V)\nminimize sum_squares(F)\n"
    fit = fw.parse(text).bind(V=np.eye(3)).solve(tol=1e-9)
    assert np.allclose(fit["F"], 1.0 / 3.0, atol=1e-6)


@pytest.mark.parametrize(
    ("method", "dtype", "low", "high"),
    [("apg", np.float64, 0.7, 1.4), ("apg", np.float32, 0.7, 1.4), ("pdhg", np.float64, 0.7, 1.4)],
)
def test_the_memory_of_a_tall_problem_is_about_what_the_plan_says(method: str, dtype: type, low: float, high: float):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((200_000, 12)).astype(dtype)
    b = A[:, 0] + rng.standard_normal(200_000)
    text = "data A: matrix[n, p], b: vector[n]\nvar x: vector[p] in simplex(1)\nminimize mean(squared(A @ x, b))"
    problem = fw.parse(text).bind(A=A, b=b)
    # kernels and imports are there already, and data are read
    problem.solve(tol=1e-5, method=method, threads=1, max_iter=12)
    again = problem.bind(A=A)
    _ = again.instance
    tracemalloc.start()
    solution = again.solve(tol=1e-5, method=method, threads=1, max_iter=12)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    estimate = solution.plan.chosen.estimate
    assert estimate is not None and low * peak <= estimate.memory <= high * peak
