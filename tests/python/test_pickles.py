"""Everything public can be pickled, and what was pickled before there were newer fields is read."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.results.solution import Solution

RNG = np.random.default_rng(2)
X = RNG.normal(size=(30, 4))
Y = np.where(X[:, 0] > 0, "yes", "no")
TEXT = """\
data X: matrix[n, p], y: signs[n]
param mu: nonnegative = 0.05
let S = standardize(X)
var w: vector[p], b: real
let score = S @ w + b
minimize mean(logistic(score, y)) + mu * norm1(w)
subject to cap: norm2(w) <= 5
"""


@pytest.fixture(scope="module")
def problem() -> fw.Problem:
    return fw.parse(TEXT).bind(X=X, y=Y)


@pytest.fixture(scope="module")
def solution(problem: fw.Problem) -> fw.Solution:
    return problem.solve(threads=1)


def copied(value: Any) -> Any:
    """The object as another process has it."""
    return pickle.loads(pickle.dumps(value))  # noqa: S301


def built() -> fw.Problem:
    w = fw.vector(4, name="w")
    return fw.minimize(fw.mean(fw.squared(fw.data("X", X) @ w, X[:, 1])) + 0.1 * fw.norm1(w), w >= -1)


def loaded(problem: fw.Problem, tmp_path: Path) -> fw.Solution:
    problem.solve(threads=1).save(tmp_path / "m.npz")
    return fw.load_solution(tmp_path / "m.npz")


MAKERS: dict[str, Callable[[fw.Problem, Path], Any]] = {
    "text": lambda problem, _: fw.parse(TEXT),
    "bound": lambda problem, _: problem,
    "built": lambda problem, _: built(),
    "model": lambda problem, _: problem.model,
    "instance": lambda problem, _: problem.instance,
    "plan": lambda problem, _: problem.plan(),
    "plan without data": lambda problem, _: fw.parse(TEXT).plan(),
    "solution": lambda problem, _: problem.solve(threads=1),
    "stopped": lambda problem, _: problem.solve(threads=1, max_iter=2),
    "loaded": loaded,
    "predictor": lambda problem, _: problem.solve(threads=1).predictor(),
    "path": lambda problem, _: problem.path(mu=[0.1, 0.01], threads=1),
    "grid": lambda problem, _: problem.grid({"mu": [0.1, 0.01]}, threads=1),
    "folds": lambda problem, _: problem.path(mu=[0.1, 0.01], folds=3, threads=1),
    "race": lambda problem, _: problem.race(["apg", "lowrank"], tol=1e-4),
    "checked": lambda problem, _: fw.parse("var x: real\nminimize norm(x)").check(),
}


@pytest.mark.parametrize("name", MAKERS)
def test_it_is_the_same_after_pickling(name: str, problem: fw.Problem, tmp_path: Path) -> None:
    made = MAKERS[name](problem, tmp_path)
    again = copied(made)
    assert type(again) is type(made) and told(again) == told(made)
    assert told(copied(again)) == told(made)


def told(made: Any) -> str:
    """The `repr`, with the members of sets in order: a copied set may have them in another."""
    return re.sub(r"frozenset\(\{(.*?)\}\)", lambda found: f"frozenset({sorted(found[1].split(', '))})", repr(made))


@pytest.mark.parametrize("make", [lambda: fw.parse(TEXT).bind(X=X, y=Y), built], ids=["text", "built"])
def test_a_copied_problem_is_solved(make: Callable[[], fw.Problem]) -> None:
    problem = make()
    fresh, used = copied(problem), None
    expected = problem.solve(threads=1)
    used = copied(problem)  # with its stages gone through
    for each in (fresh, used):
        found = each.solve(threads=1)
        assert found.objective == expected.objective
        np.testing.assert_array_equal(found["w"], expected["w"])


def test_copied_solutions_predict_and_start(problem: fw.Problem, solution: fw.Solution, tmp_path: Path) -> None:
    for each in (copied(solution), copied(loaded(problem, tmp_path))):
        np.testing.assert_array_equal(each.predict(X=X[:3]), solution.predict(X=X[:3]))
        assert problem.solve(threads=1, start=each).objective == pytest.approx(solution.objective)
        each.save(tmp_path / "again.npz")
        np.testing.assert_array_equal(fw.load_solution(tmp_path / "again.npz")["w"], solution["w"])
    path = copied(problem.path(mu=[0.1, 0.01], threads=1))
    assert path[1].predict(X=X[:3]).shape == (3,) and path.parameter == "mu"


def test_errors_are_pickled() -> None:
    with pytest.raises(fw.FwError) as error:
        fw.parse("minimize norm(x)").solve()
    again = copied(error.value)
    assert type(again) is type(error.value) and str(again) == str(error.value)


def test_a_solution_pickled_before_there_were_newer_fields(solution: fw.Solution, tmp_path: Path) -> None:
    state = solution.__getstate__()
    old = object.__new__(Solution)
    vars(old).update({name: value for name, value in state.items() if name not in ("options", "fit", "origin")})
    again = copied(old)
    assert repr(again) == repr(solution)
    np.testing.assert_array_equal(again.predict(X=X[:3]), solution.predict(X=X[:3]))
    again.save(tmp_path / "old.npz")
    assert fw.load_solution(tmp_path / "old.npz").objective == solution.objective


def test_the_parts_of_a_solution_are_found_where_they_were() -> None:
    from fwdsl.results import solution

    assert {"Change", "Progress", "Solution", "Times"} <= set(vars(solution))
