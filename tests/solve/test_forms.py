"""Forms keep one protocol: what a run asks of either is asked of both, for a problem that has both."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.canon import Form
from fwdsl.certify.verified import DualBound
from fwdsl.model.options import Options
from fwdsl.solve.forms import Solvable
from fwdsl.solve.solve import solvable

TEXT = """data M: entries[m, n]
var X: matrix[m, n] in nuclear_ball(6)
let fit = sum(squared(X[M], M))
minimize fit
"""


@pytest.fixture(scope="module")
def form() -> Form:
    rng = np.random.default_rng(4)
    rows, columns = np.divmod(rng.choice(8 * 5, 25, replace=False), 5)
    return fw.parse(TEXT).bind(M=(rows, columns, rng.normal(size=25)), m=8, n=5).canonical


@pytest.fixture(params=["dense", "factored"])
def task(form: Form, request: pytest.FixtureRequest) -> Solvable:
    return solvable(form, request.param, Options(threads=1))


def test_both_forms_are_of_one_problem(form: Form) -> None:
    dense, factored = form.dense, form.factored
    assert dense is not None and factored is not None
    assert dense.dense is dense and factored.factored is factored and factored.dense is None
    assert (dense.size, dense.sense, dense.instance) == (factored.size, factored.sense, factored.instance)
    assert dense.scale == pytest.approx(factored.scale)
    assert dense.why_not("factored") == factored.why_not("factored") == dense.why_not("dense") == ()
    assert "40 numbers" in factored.why_not("dense")[0]


def test_a_start_is_verified_and_told(task: Solvable, form: Form) -> None:
    at = task.start(None)
    ((x, verified), *_) = task.verify(task.prepare(), at.x, None, None, True, lambda: False)
    assert at.origin == "zero" and verified.infeasibility == 0.0
    assert verified.primal == pytest.approx(task.terms(x)["fit"]) == task.measure(x)[1].primal
    assert verified.primal == pytest.approx(float(np.square(form.instance.values["M"].values).sum()))
    assert np.asarray(task.form.split(x)["X"]).shape == (8, 5) and not np.asarray(task.form.split(x)["X"]).any()
    assert task.form.auxiliary(x) == {} and task.warnings(x) == ()


def test_values_given_and_solutions_are_starts(task: Solvable, form: Form) -> None:
    X = np.outer(np.arange(8.0), np.ones(5)) / 20.0
    at = task.start({"X": X})
    assert np.asarray(task.form.split(at.x)["X"]) == pytest.approx(X)
    with pytest.raises(fw.DataError):
        task.start({"Y": X})
    values = form.instance.values["M"]
    solution = fw.parse(TEXT).bind(M=(values.rows, values.columns, values.values), m=8, n=5).solve(tol=1e-7)
    again = task.start(solution)
    assert task.measure(again.x)[1].primal == pytest.approx(solution.objective, rel=1e-9)


def test_duals_of_both_are_the_same(form: Form) -> None:
    multipliers = []
    for kind, method in (("dense", "apg"), ("factored", "lowrank")):
        task = solvable(form, kind, Options(threads=1))
        values = form.instance.values["M"]
        problem = fw.parse(TEXT).bind(M=(values.rows, values.columns, values.values), m=8, n=5)
        solution = problem.solve(tol=1e-9, method=method)
        point = solution.record["dual_point"]
        assert [y.size for y in point] == task.form.dual_sizes(point)
        multipliers.append(task.duals(task.start(solution).x, DualBound(0.0, 0.0, "exact", "", y=tuple(point))))
    (dense, low) = multipliers
    assert dense.keys() == low.keys() and len(dense) == 1
    for name, value in dense.items():
        assert value == pytest.approx(low[name], rel=1e-3) and value < 0.0
