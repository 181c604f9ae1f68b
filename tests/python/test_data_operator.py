"""`fw.operator`: the same answers as the matrix, by its products alone; and what is wrong with an operator is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import fwdsl as fw
from fwdsl.bind.data_operator import DataOperator, NeedsEntries
from fwdsl.certify.verify import verify
from fwdsl.results.fingerprint import of_array

M, N = 40, 12
RNG = np.random.default_rng(7)
A = RNG.normal(size=(M, N)) / np.sqrt(M)
B = A @ np.r_[2.0, -1.0, np.zeros(N - 2)] + 0.05 * RNG.normal(size=M)
Y = np.sign(B)
CODES = RNG.integers(0, 3, size=M)


def by_functions(matrix: np.ndarray, **given: Any) -> DataOperator:
    """An operator of two functions that spoil their argument and give one array again and again, as careless ones do."""
    buffer, back = np.empty(matrix.shape[0]), np.empty(matrix.shape[1])

    def matvec(x: np.ndarray) -> np.ndarray:
        np.dot(matrix, x, out=buffer)
        x[:] = np.nan
        return buffer

    def rmatvec(y: np.ndarray) -> np.ndarray:
        np.dot(matrix.T, y, out=back)
        y[:] = np.nan
        return back

    return fw.operator(shape=matrix.shape, matvec=matvec, rmatvec=rmatvec, **given)


def problem(name: str, data: Any) -> fw.Problem:
    x = fw.vector(N, name="x")
    if name == "lasso":
        return fw.minimize(fw.mean(fw.squared(data @ x, B)) + 0.01 * fw.norm1(x))
    if name == "ball":
        return fw.minimize(fw.mean(fw.logistic(data @ x, Y)), x.in_(fw.l1_ball(2)))
    if name == "hinge":
        return fw.minimize(fw.mean(fw.hinge(data @ x, Y)) + 0.01 * fw.norm1(x))
    if name == "equalities":
        z = fw.vector(M, name="x")
        return fw.minimize(fw.norm1(z), data.T @ z == A.T @ B)
    if name == "factored":
        return fw.minimize(fw.sum_squares(2 * data.T @ (data @ x) - 1.0) + fw.norm2(x))
    W = fw.matrix(N, 3, name="W")
    return fw.minimize(fw.mean(fw.softmax(data @ W, CODES)) + 0.1 * fw.sum_squares(W))


CASES = [
    ("lasso", "apg"),
    ("lasso", "pdhg"),
    ("ball", "apg"),
    ("ball", "frank_wolfe"),
    ("ball", "pdhg"),
    ("hinge", "auto"),
    ("equalities", "auto"),
    ("factored", "auto"),
    ("softmax", "auto"),
]


@pytest.mark.parametrize(("name", "method"), CASES)
def test_the_answer_is_that_of_the_matrix(name: str, method: str):
    cvxpy = pytest.importorskip("cvxpy")
    from fwdsl.oracle import to_cvxpy

    operator = by_functions(A)
    tol = 1e-3 if method == "frank_wolfe" else 1e-8
    solution = problem(name, operator).solve(tol=tol, method=method, threads=1)
    reference, _ = to_cvxpy(problem(name, A).instance)
    expected = reference.solve(solver=cvxpy.CLARABEL)
    assert solution.status == "optimal" and solution.certificate.kind == "exact"
    slack = 1e-6 * max(1.0, abs(expected)) if method != "frank_wolfe" else 1e-3 * abs(expected)
    assert solution.objective == pytest.approx(expected, abs=slack)
    assert solution.dual_bound <= expected + 1e-7 * max(1.0, abs(expected))


def test_the_verifier_goes_through_the_operator():
    operator = by_functions(A)
    canonical = problem("lasso", operator).canonical
    before = operator.source.matvecs, operator.source.rmatvecs
    x = RNG.normal(size=N)
    found = verify(canonical, x, [2.0 / M * (A @ x - B) * 1e-3])
    assert (operator.source.matvecs, operator.source.rmatvecs) > before
    assert found.primal == pytest.approx(np.mean((A @ x - B) ** 2) + 0.01 * np.abs(x).sum())
    assert found.dual <= found.primal


def test_products_are_counted_as_passes():
    operator = by_functions(A, norm=3.0)
    bound = problem("lasso", operator)
    _ = bound.instance
    before = operator.source.matvecs + operator.source.rmatvecs
    solution = bound.solve(method="pdhg", threads=1)
    made = operator.source.matvecs + operator.source.rmatvecs - before
    # the rest is of the verifier, and of values at the end
    assert 0.5 * made <= solution.passes <= made


def test_a_linear_operator_of_scipy_and_a_program_in_text():
    text = "data A: matrix[m, n], b: vector[m]\nvar x: vector[n]\nminimize mean(squared(A @ x, b)) + 0.01*norm1(x)"
    given = fw.parse(text).bind(A=fw.operator(aslinearoperator(A)), b=B)
    assert given.solve(tol=1e-9, threads=1).objective == pytest.approx(problem("lasso", A).solve(tol=1e-9).objective)
    stats = given.instance.stats["A"]
    assert stats.storage == "operator" and stats.column_norms is None
    largest = np.linalg.norm(A, 2)
    assert largest <= stats.largest_row_norm <= 1.1 * largest
    assert "probability of at most 1e-09" in stats.norm_statement
    named = fw.data("A", fw.operator(aslinearoperator(A)))
    assert "data A: matrix[40, 12]" in problem("lasso", named).to_fw()


def test_a_stated_norm_saves_the_products_that_bound_it():
    operator = by_functions(A, norm=2.0)
    stats = problem("lasso", operator).instance.stats["data1"]
    assert stats.largest_row_norm == 2.0 and stats.norm_statement == "stated by `norm=`"
    assert operator.source.matvecs <= 10


def test_new_data_for_a_fit():
    solution = problem("lasso", by_functions(A)).solve(threads=1)
    new, target = RNG.normal(size=(5, N)), RNG.normal(size=5)
    expected = np.mean((new @ solution["x"] - target) ** 2)
    assert solution.evaluate("term1", data1=by_functions(new), data2=target) == pytest.approx(expected)


def test_an_operator_is_a_matrix_in_products_only():
    operator = by_functions(A)
    y, X = RNG.normal(size=M), RNG.normal(size=(N, 2))
    np.testing.assert_allclose((-2 * operator.T) @ y, -2 * A.T @ y)
    np.testing.assert_allclose(y @ operator, y @ A)
    np.testing.assert_allclose(operator @ X, A @ X)
    assert operator.shape == (M, N) == operator.T.T.shape
    for wants_entries in (np.asarray, abs, lambda a: a[0], lambda a: a @ a.T):
        with pytest.raises(NeedsEntries):
            wants_entries(operator)


def test_a_fingerprint_is_that_of_the_products():
    assert of_array(by_functions(A)) == of_array(fw.operator(aslinearoperator(A)))
    for other in (2.0 * A, A + 1e-3):
        assert of_array(by_functions(A)) != of_array(by_functions(other))


def bound_errors(operator: Any, text: str) -> tuple[str, ...]:
    found = fw.parse(text).bind(A=operator, b=B).check(data=True)
    return tuple(f"{d.code} {d.message}" for d in found if d.severity == "error")


PLAIN = "data A: matrix[m, n], b: vector[m]\nvar x: vector[n]\nminimize sum(squared(A @ x, b))"


@pytest.mark.parametrize(
    ("matvec", "rmatvec", "code", "words"),
    [
        (lambda x: A @ x, lambda y: 2.0 * (A.T @ y), "FW4526", "<x, A'y>"),
        (lambda x: A @ x, lambda y: A.T @ y + 1e-4, "FW4526", "<x, A'y>"),
        (lambda x: A @ x, lambda y: y, "FW4527", "shape (40,), where 12 numbers"),
        (lambda x: np.full(M, np.nan), lambda y: A.T @ y, "FW4527", "`matvec` gave `nan` in entry 0"),
        (lambda x: 1j * (A @ x), lambda y: A.T @ y, "FW4527", "complex numbers"),
        (lambda x: A @ x, lambda y: {}[0], "FW4527", "`rmatvec` raised KeyError"),
    ],
)
def test_what_is_no_operator(matvec: Any, rmatvec: Any, code: str, words: str):
    (error,) = bound_errors(fw.operator(shape=(M, N), matvec=matvec, rmatvec=rmatvec), PLAIN)
    assert error.startswith(code) and words in error


def test_an_operator_without_an_adjoint_or_with_a_false_norm():
    one_way = LinearOperator((M, N), matvec=lambda x: A @ x)
    (error,) = bound_errors(fw.operator(one_way), PLAIN)
    assert error.startswith("FW4527") and "`rmatvec`" in error
    (error,) = bound_errors(by_functions(A, norm=0.1), PLAIN)
    assert error.startswith("FW4529") and "at least" in error
    (error,) = bound_errors(aslinearoperator(A), PLAIN)
    assert error.startswith("FW4504")


def test_an_operator_that_fails_later_ends_the_run_with_a_diagnostic():
    calls = [0]

    def matvec(x: np.ndarray) -> np.ndarray:
        calls[0] += 1
        if calls[0] > 120:
            raise RuntimeError("the device is gone")
        return A @ x

    operator = fw.operator(shape=(M, N), matvec=matvec, rmatvec=lambda y: A.T @ y)
    with pytest.raises(fw.DataError) as error:
        problem("hinge", operator).solve(tol=1e-12)
    assert error.value.code == "FW4527" and "the device is gone" in str(error.value)
    assert isinstance(error.value.__cause__, RuntimeError)


@pytest.mark.parametrize(
    "text",
    [
        PLAIN.replace("A @ x", "standardize(A) @ x"),
        PLAIN.replace("A @ x", "(A + A) @ x"),
        PLAIN.replace("A @ x", "A[:, 0:3] @ x[0:3]").replace("sum(", "sum(", 1),
        PLAIN + "\nsubject to x in polytope(A)",
        PLAIN + "\nsubject to x in affine(A, b)",
        PLAIN.replace("A: matrix[m, n]", "A: matrix[m, n] in nonnegative"),
        "data A: tensor[m, n], b: vector[m]\nvar x: vector[n]\nminimize sum(squared(inner(A, x), b))",
    ],
)
def test_where_entries_are_needed(text: str):
    errors = bound_errors(by_functions(A), text)
    assert len(errors) == 1 and errors[0].startswith("FW4528") and "`A" in errors[0]


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({}, "FW0309"),
        ({"linear": A}, "FW0309"),
        ({"linear": aslinearoperator(A), "shape": (3, 3)}, "FW0309"),
        ({"shape": (3, 3), "matvec": abs}, "FW0309"),
        ({"shape": (3,), "matvec": abs, "rmatvec": abs}, "FW0304"),
        ({"shape": (3, 0), "matvec": abs, "rmatvec": abs}, "FW0304"),
        ({"linear": aslinearoperator(A), "norm": -1.0}, "FW0304"),
        ({"linear": aslinearoperator(A), "norm": "two"}, "FW0304"),
    ],
)
def test_what_no_operator_can_be_made_of(given: dict[str, Any], code: str):
    with pytest.raises(fw.BuildError) as error:
        fw.operator(**given)
    assert error.value.code == code
