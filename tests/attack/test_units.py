"""The change of units is exact, and what the attacks call true is so."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.oracle import solve_oracle
from fwdsl.oracle.blocks import FamilyExpression
from fwdsl.oracle.translate import Translator
from tests.attack import generator
from tests.attack.corpus_units import CHANGES, Sample, samples
from tests.attack.generator import in_units, random_program
from tests.attack.proofs import SORTS
from tests.attack.units import Units, rescale, scaled_values
from tests.attack.without_answer import case

pytest.importorskip("cvxpy")

SAMPLES = [s for s in samples() if not s.name.startswith(("family", "example: multitask_metrics"))]


def values_at(text: str, data: dict[str, object], point: dict[str, np.ndarray]) -> tuple[float, list[float]]:
    """The objective and the misses of the constraints at a point, by cvxpy."""
    translator = Translator(fw.parse(text).bind(**data).instance)
    for name, variable in translator.variables.items():
        variable.value = translator.coordinates(name, point[name])
    problem = translator.problem()
    own = [c for c in problem.constraints if all(v.value is not None for v in c.variables())]
    return float(problem.objective.value), [float(np.max(c.violation(), initial=0.0)) for c in own]


@pytest.mark.parametrize("change", CHANGES, ids=lambda c: c.name)
def test_a_change_of_units_changes_only_units(change) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(1)
    compared = 0
    for sample in SAMPLES[CHANGES.index(change) :: len(CHANGES)]:
        there = rescale(sample.text, change.units(sample.text))
        compared += _compare(
            sample, there.text, scaled_values(sample.data, there), there.objective, there.variables, rng
        )
    assert compared >= 15


def _compare(sample: Sample, text: str, data: dict, factor: float, variables: dict, rng: np.random.Generator) -> bool:  # type: ignore[type-arg]
    """Compare the objectives at a point of positive entries, where they are finite; False for families of blocks."""
    shapes = Translator(fw.parse(sample.text).bind(**sample.data).instance).variables
    if any(isinstance(v, FamilyExpression) for v in shapes.values()):
        return False
    point = {}
    for name, variable in shapes.items():
        value = 0.1 + rng.random(variable.shape)
        if variable.ndim == 2 and variable.is_symmetric():
            value = value + value.T + variable.shape[0] * np.eye(*variable.shape)
        point[name] = value
    own, _ = values_at(sample.text, dict(sample.data), point)
    other, _ = values_at(text, data, {n: variables[n] * v for n, v in point.items()})
    assert other / factor == pytest.approx(own, rel=1e-7, abs=0.0), sample.name
    return True


def test_numbers_stand_where_a_user_would_write_them() -> None:
    text = (
        "data A: matrix[n, p], y: vector[n]\nvar x: vector[p] in box(-0.5, 2), b: real\n"
        "minimize mean(huber(A @ x + b, y, delta=0.5)) + 0.1 * norm1(x)\nsubject to sum(x) <= 1\n"
    )
    units = Units(objective=8.0, variables={"x": 4.0, "b": 2.0}, data={"A": 0.5}, rows={0: 16.0})
    there = rescale(text, units)
    assert there.objective == 8.0 * 4.0
    assert there.data == {"A": 0.5, "y": 2.0}
    assert "var x: vector[p] in box(-2, 8)" in there.text
    assert "8 * mean(huber(A @ x + b, y, delta=1)) + 0.8 * norm1(x)" in there.text
    assert "16 * sum(x) <= 64" in there.text


@pytest.mark.parametrize("kind", generator.KINDS)
def test_random_programs_have_an_optimum(kind: str) -> None:
    program = generator.KINDS[kind](np.random.default_rng(5), kind)
    oracle = solve_oracle(fw.parse(program.text).bind(**program.data).instance)
    assert oracle.status == "optimal"
    assert np.isfinite(oracle.value)


def test_the_same_seed_gives_the_same_program() -> None:
    for seed in range(40):
        one, two = (in_units(random_program(seed), np.random.default_rng(seed), "all") for _ in range(2))
        assert one.text == two.text
        assert one.objective == two.objective


@pytest.mark.parametrize(("truth", "near"), SORTS)
def test_what_is_called_infeasible_or_unbounded_is_so(truth: str, near: bool) -> None:
    """cvxpy agrees on at least nine of ten; the truth itself is by construction, and near misses are hard for its solvers too."""
    agreed = 0
    for seed in range(20):
        made = case(np.random.default_rng([13, seed]), truth, near)
        oracle = solve_oracle(fw.parse(made.program.text).bind(**made.program.data).instance)
        agreed += oracle.status.startswith("optimal" if near else truth)
    assert agreed >= 18
