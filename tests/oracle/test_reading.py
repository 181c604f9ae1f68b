"""`fw.from_cvxpy` and `Problem.to_cvxpy`: problems keep their values through both."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

import fwdsl as fw

from .problems_of_cvxpy import PROBLEMS, A, B, N, P


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_of_cvxpy_keeps_its_value(name: str):
    theirs = PROBLEMS[name]()
    ours = fw.from_cvxpy(theirs)
    solution = ours.solve(tol=1e-7)
    assert solution.status == "optimal"
    theirs.solve(solver=cp.CLARABEL)
    assert solution.objective == pytest.approx(theirs.value, rel=2e-6, abs=2e-6)


EXAMPLES = sorted(p.stem for p in (Path(__file__).parents[2] / "examples").glob("*.fw") if p.stem != "completion")
"""All but one that is too large for cvxpy."""


@pytest.mark.slow
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_through_cvxpy_keeps_its_value(name: str, root: Path):
    ours = fw.load(root / "examples" / f"{name}.fw")
    back = fw.from_cvxpy(ours.to_cvxpy()[0]).solve(tol=1e-6)
    assert back.status == "optimal"
    assert back.objective == pytest.approx(ours.solve().objective, rel=1e-5, abs=1e-8)


@pytest.mark.parametrize(
    "name", ["lasso_with_a_parameter", "svm", "markowitz", "matrix_completion", "control", "nearest_correlation"]
)
def test_and_back(name: str):
    ours = fw.from_cvxpy(PROBLEMS[name]())
    back, variables = ours.to_cvxpy()
    back.solve(solver=cp.CLARABEL)
    theirs = PROBLEMS[name]()
    theirs.solve(solver=cp.CLARABEL)
    assert back.value == pytest.approx(theirs.value, rel=1e-6, abs=1e-6)
    assert {v.name() for v in theirs.variables()} <= set(variables)


def test_the_text_reads_like_the_problem():
    text = fw.from_cvxpy(PROBLEMS["lasso_with_a_parameter"]()).to_fw()
    assert "param mu: nonnegative = 0.3" in text
    assert "minimize 0.5 * sum_squares(data1 @ x - data2) + mu * norm1(x)" in text


@pytest.mark.parametrize("given", [1, None, "lasso.fw", cp.Minimize(0)])
def test_what_is_no_problem_of_cvxpy_is_told(given: object):
    with pytest.raises(fw.FwError, match=r"takes a `cvxpy.Problem`, not a") as error:
        fw.from_cvxpy(given)
    assert error.value.code == "FW0309"


def test_parameters_are_bound_anew():
    theirs = PROBLEMS["lasso_with_a_parameter"]()
    ours = fw.from_cvxpy(theirs)
    theirs.parameters()[0].value = 1.0
    assert ours.bind(mu=1.0).solve(tol=1e-7).objective == pytest.approx(theirs.solve(solver=cp.CLARABEL), rel=1e-6)


def test_parameters_that_are_arrays_are_data():
    ours = fw.from_cvxpy(PROBLEMS["data_as_parameters"]())
    assert "data G: matrix[24, 6]" in ours.to_fw()
    x = cp.Variable(P)
    theirs = cp.Problem(cp.Minimize(cp.sum_squares(2 * A @ x - B)), [cp.sum(x) == 1])
    assert ours.bind(G=2 * A).solve(tol=1e-7).objective == pytest.approx(theirs.solve(solver=cp.CLARABEL), rel=1e-6)


def test_names_that_are_words_or_twice_there_are_changed():
    x, y, z = cp.Variable(2, name="norm1"), cp.Variable(2, name="x y"), cp.Variable(2, name="x y")
    ours = fw.from_cvxpy(cp.Problem(cp.Minimize(cp.sum_squares(x - 1) + cp.sum_squares(y) + cp.sum_squares(z - y))))
    assert [v.name for v in ours.model.variables] == ["norm1_2", "x_y", "x_y_2"]


def test_values_of_the_variables_stay():
    x = cp.Variable(P, name="x")
    x.value = np.arange(float(P))
    fw.from_cvxpy(cp.Problem(cp.Minimize(cp.sum_squares(A @ cp.cumsum(x) - B))))
    assert np.array_equal(x.value, np.arange(float(P)))


def refused(objective: object, *constraints: object) -> str:
    with pytest.raises(fw.FwError) as error:
        fw.from_cvxpy(cp.Problem(objective, list(constraints))).solve()
    return f"{error.value.first.code} {error.value.first.message} {error.value.first.hint}"


def test_what_has_no_equivalent_is_named():
    x, X = cp.Variable(3, name="x"), cp.Variable((3, 3), name="X", symmetric=True)
    assert "FW0320 `von_neumann_entr`" in refused(cp.Maximize(cp.von_neumann_entr(X)))
    assert (
        "FW0320 `Variable`" in (said := refused(cp.Minimize(cp.sum(cp.Variable(2, integer=True)))))
        and "integer" in said
    )
    assert "complex" in refused(cp.Minimize(cp.norm(cp.Variable(2, complex=True))))
    assert "FW0320 `ExpCone`" in refused(cp.Minimize(cp.sum(x)), cp.ExpCone(x[0], x[1], x[2]))
    assert "FW0321" in refused(cp.Minimize(cp.sum(cp.sqrt(x))))
    assert "value" in refused(cp.Minimize(cp.sum(x) * cp.Parameter(name="a")), x >= 0)


def test_a_constraint_between_constants():
    x = cp.Variable(2, name="x")
    assert "does not hold" in refused(cp.Minimize(cp.sum_squares(x)), cp.Constant(2) <= 1)
    fine = fw.from_cvxpy(cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.Constant(1) <= 2]))
    assert fine.solve().objective == 0.0


def test_an_array_without_rows_and_one_of_one_entry():
    x = cp.Variable(1, name="x")
    ours = fw.from_cvxpy(cp.Problem(cp.Minimize(cp.sum_squares(x - 2) + cp.abs(x[0])), [x <= 1]))
    assert ours.solve(tol=1e-8).objective == pytest.approx(2.0, rel=1e-7)


def test_to_cvxpy_has_the_variables_by_name():
    x = fw.vector(P, name="x")
    F = fw.family(2, fw.vector_type(3), name="F")
    ours = fw.minimize(fw.sum_squares(A @ x - B) + fw.norm1(x) + fw.sum_squares(F - 1), fw.sum(x) == 1)
    problem, variables = ours.to_cvxpy()
    problem.solve(solver=cp.CLARABEL)
    solution = ours.solve(tol=1e-8)
    assert problem.value == pytest.approx(solution.objective, rel=1e-6)
    assert np.allclose(variables["x"].value, solution["x"], atol=1e-4)
    assert [block.shape for block in variables["F"]] == [(3,), (3,)]


def test_without_cvxpy_a_line_says_what_to_install():
    script = (
        "import sys; sys.modules['cvxpy'] = None\n"
        "import fwdsl as fw\n"
        "x = fw.vector(2)\n"
        "try:\n    fw.minimize(fw.sum_squares(x - 1)).to_cvxpy()\n"
        "except fw.FwError as error:\n    print(error.first.message, '|', error.first.hint)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "cvxpy is not installed | pip install 'fwdsl[oracle]'"


def test_the_sum_of_squares_of_a_mean_keeps_its_factor():
    assert N * fw.from_cvxpy(PROBLEMS["mean_of_losses"]()).solve(tol=1e-7).objective > 0.0


def tail_mean(z: cp.Expression, beta: float, constraints: list) -> float:
    """The least conditional value at risk, by the formula of Rockafellar and Uryasev."""
    t = cp.Variable()
    return cp.Problem(cp.Minimize(t + cp.sum(cp.pos(z - t)) / ((1 - beta) * z.size)), constraints).solve(
        solver=cp.CLARABEL
    )


@pytest.mark.parametrize("beta", [0.0, 0.33, 0.75, 0.8, 0.9, 0.95, 0.999])
def test_the_conditional_value_at_risk_is_that_of_its_level(beta: float):
    x = cp.Variable(2, name="x")
    returns = np.arange(20.0).reshape(10, 2) % 7
    on = [x >= 0, cp.sum(x) == 1]
    ours = fw.from_cvxpy(cp.Problem(cp.Minimize(cp.cvar(returns @ x, beta)), on))
    assert ours.solve(tol=1e-8).objective == pytest.approx(tail_mean(returns @ x, beta, on), rel=1e-6)


@pytest.mark.parametrize("size, beta, k", [(10, 0.8, 2), (10, 0.9, 1), (100, 0.93, 7), (50, 0.98, 1)])
def test_a_level_of_a_whole_number_of_samples_is_that_number(size: int, beta: float, k: int):
    x = cp.Variable(size, name="x")
    text = fw.from_cvxpy(cp.Problem(cp.Minimize(cp.cvar(x, beta)), [x >= 0])).to_fw()
    assert f"sum_largest(x, {k}) / " in text


@pytest.mark.parametrize(
    "k, value", [(0.5, 1.5), (1, 3.0), (1.5, 4.0), (2.25, 5.25), (3, 6.0), (np.int64(2), 5.0), (3.5, 6.0), (9, 6.0)]
)
def test_sums_of_the_largest_take_a_share_of_the_next(k: float, value: float):
    y, near = cp.Variable(3, name="y"), np.array([3.0, 2.0, 1.0])
    ours = fw.from_cvxpy(cp.Problem(cp.Minimize(cp.sum_largest(y, k)), [y == near]))
    assert ours.solve().objective == pytest.approx(value, rel=1e-6)
    spread = cp.Variable((3, 3), name="X", symmetric=True)
    ours = fw.from_cvxpy(cp.Problem(cp.Minimize(cp.lambda_sum_largest(spread, k)), [spread == np.diag(near)]))
    assert ours.solve().objective == pytest.approx(value, rel=1e-6)
    scaled = fw.from_cvxpy(cp.Problem(cp.Maximize(cp.sum(y)), [cp.sum_largest(y, k) <= value, y == near * y[2]]))
    assert scaled.solve(tol=1e-8).objective == pytest.approx(6.0, rel=1e-6)


@pytest.mark.parametrize("k, value", [(0.5, 0.5), (1, 1.0), (2, 1.0)])
def test_the_largest_of_one_number(k: float, value: float):
    s = cp.Variable(name="s")
    ours = fw.from_cvxpy(cp.Problem(cp.Minimize(cp.sum_largest(s, k)), [s >= 1]))
    assert ours.solve().objective == pytest.approx(value, rel=1e-6)


Y3, Y33 = cp.Variable(3, name="y"), cp.Variable((3, 3), name="Y")


@pytest.mark.parametrize(
    "objective, value",
    [
        (cp.sum(cp.power(Y3, 1)) + cp.norm_inf(Y3 - 1), 1.0),
        (cp.sum(cp.power(cp.abs(Y3 - 2), 1)), 0.0),
        (cp.norm(cp.power(Y33, 1) - 2, "fro"), 0.0),
        (cp.norm2(cp.real(Y3) - 1), 0.0),
        (cp.norm2(cp.real(Y33)[0] - 1), 0.0),
        (cp.norm2(cp.imag(Y3) - 1) + cp.norm1(Y3), 3.0**0.5),
        (0 * cp.norm1(Y3) + cp.sum_squares(Y3 - 1), 0.0),
        (cp.sum(cp.multiply(np.zeros(3), cp.abs(Y3))) + cp.sum_squares(Y3 - 1) + 2, 2.0),
        (cp.sum_squares(Y3 - 1) + 0 * cp.norm1(Y3) / 2, 0.0),
        (0 * cp.norm1(Y3), 0.0),
    ],
    ids=str,
)
def test_parts_that_are_affine_in_other_words(objective: cp.Expression, value: float):
    ours = fw.from_cvxpy(cp.Problem(cp.Minimize(objective), [cp.sum(Y3) >= 0]))
    assert ours.solve(tol=1e-8).objective == pytest.approx(value, abs=1e-6)


def test_what_vanishes_is_no_bound():
    x = cp.Variable(3, name="x")
    ours = fw.from_cvxpy(cp.Problem(cp.Minimize(cp.sum(x)), [0 * cp.abs(x) <= x - 1]))
    assert ours.solve(tol=1e-8).objective == pytest.approx(3.0, rel=1e-6)


@pytest.mark.parametrize("method", [None, "interior"])
def test_the_largest_of_norms_has_one_bound(method: str | None):
    """A reading that was given up left variables behind that nothing but a bound below saw, which `interior` drove to infinity."""
    x = cp.Variable(P, name="x")
    theirs = cp.Problem(cp.Minimize(cp.maximum(cp.norm2(x), cp.norm2(A @ x - B))))
    ours = fw.from_cvxpy(theirs)
    assert len(ours.model.variables) == 2 and len(ours.model.constraints) == 2
    theirs.solve(solver=cp.CLARABEL)
    solution = ours.solve(tol=1e-7, method=method)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(theirs.value, rel=2e-6, abs=2e-6)


@pytest.mark.parametrize("shape", [(4,), (2, 2)])
def test_the_variance_is_about_a_mean_of_one_entry(shape: tuple[int, ...]):
    x, b = cp.Variable(shape, name="x"), np.arange(4.0).reshape(shape)
    theirs = cp.Problem(cp.Minimize(cp.var(x - b) + cp.sum_squares(x)))
    theirs.solve(solver=cp.CLARABEL)
    assert fw.from_cvxpy(theirs).solve(tol=1e-8).objective == pytest.approx(theirs.value, rel=1e-6)


def test_what_is_refused_is_told_in_the_words_of_cvxpy():
    x = cp.Variable(3, name="x")
    said = refused(cp.Maximize(cp.pnorm(x, 0.5)), cp.sum(x) <= 1)
    assert "FW0320 `Pnorm`" in said and "at least 1" in said
    assert "FW0320 `Pnorm`" in refused(cp.Maximize(cp.harmonic_mean(x)), cp.sum(x) <= 1)
    said = refused(cp.Minimize(cp.sum_squares(x - 1) - 0 * cp.sum(cp.log(x))))
    assert "FW0320" in said and "multiplied by 0" in said
