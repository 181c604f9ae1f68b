"""An outcome is judged beside a value that cvxpy may have wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.attack.generator import InUnits, Program
from tests.attack.judge import verdict
from tests.attack.runner import Outcome, solve_here
from tests.attack.truth import Truth, truth_of

pytest.importorskip("cvxpy")

PROGRAM = Program(
    "lp",
    "data A: matrix[m, n], b: vector[m], q: vector[n]\nvar x: vector[n] in nonnegative\n"
    "minimize dot(q, x)\nsubject to A @ x >= b\n",
    {"A": np.array([[1.0, 2.0], [3.0, 1.0]]), "b": np.array([4.0, 6.0]), "q": np.array([2.0, 3.0])},
)
THERE = InUnits("lp", "objective", PROGRAM.text, {**PROGRAM.data, "q": 1e6 * PROGRAM.data["q"]}, 1e6)


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    return solve_here(THERE.text, THERE.data, 10.0, tol=1e-6)


@pytest.fixture(scope="module")
def truth() -> Truth:
    return truth_of(PROGRAM)


def judged(outcome: Outcome, truth: Truth) -> str:
    return verdict(PROGRAM, THERE, outcome, truth, 1e-6, 60.0)


def test_a_right_answer_is_right(outcome: Outcome, truth: Truth) -> None:
    assert judged(outcome, truth) == "right"


@pytest.mark.parametrize("by", [0.01, -0.01])
def test_an_objective_that_is_not_the_optimum_is_false(outcome: Outcome, truth: Truth, by: float) -> None:
    assert judged(replace(outcome, objective=(1.0 + by) * outcome.objective), truth) == "false optimal"


def test_a_bound_above_the_optimum_is_false(outcome: Outcome, truth: Truth) -> None:
    assert judged(replace(outcome, dual_bound=1.01 * outcome.dual_bound), truth) == "false bound"


def test_a_feasible_point_that_is_better_than_the_truth_is_right(outcome: Outcome, truth: Truth) -> None:
    assert judged(replace(outcome, dual_bound=-np.inf), replace(truth, value=truth.value + 0.5)) == "right"


def test_a_better_value_at_an_infeasible_point_is_false(outcome: Outcome, truth: Truth) -> None:
    less = {name: 0.99 * value for name, value in outcome.variables.items()}
    wrong = replace(outcome, variables=less, objective=0.99 * outcome.objective)
    assert judged(wrong, truth) == "false optimal"


def test_a_truth_that_no_other_solver_finds_is_none(outcome: Outcome, truth: Truth) -> None:
    assert judged(outcome, replace(truth, value=truth.value - 0.5)) == "no truth"
