"""Constant expressions against the same in NumPy, for dense and sparse data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.bind.evaluate import evaluate
from fwdsl.model import Expr, Type

RNG = np.random.default_rng(5)
DIMS = {"n": 4, "p": 3, "k": 2}
A = np.round(RNG.standard_normal((4, 3)), 2) * (RNG.random((4, 3)) < 0.6)
B = np.round(RNG.standard_normal((4, 3)), 2)
S = np.round(RNG.standard_normal((3, 3)), 2)
u = RNG.standard_normal(4)
v = RNG.standard_normal(3)
DENSE = {"A": A, "B": B, "S": S, "u": u, "v": v, "mu": 2.5}
SPARSE = {**DENSE, "A": sp.csr_array(A), "S": sp.csr_array(S)}


def real(op: str, *args: Expr, **rest: Any) -> Expr:
    return Expr(op, Type("real"), args, **rest)  # type: ignore[arg-type]


def vector(op: str, *args: Expr, dim: str = "p", **rest: Any) -> Expr:
    return Expr(op, Type("vector", (dim,)), args, **rest)  # type: ignore[arg-type]


def matrix(op: str, *args: Expr, shape: tuple = ("n", "p"), **rest: Any) -> Expr:
    return Expr(op, Type("matrix", shape), args, **rest)  # type: ignore[arg-type]


a, b, s = matrix("data", name="A"), matrix("data", name="B"), matrix("data", name="S", shape=("p", "p"))
x, y = vector("data", name="u", dim="n"), vector("data", name="v")
mu, two, zero = real("param", name="mu"), real("const", value=2), real("const", value=0)
eye = Expr("eye", Type("symmetric", ("p",)))
at = matrix("transpose", a, shape=("p", "n"))

CASES: dict[str, tuple[Expr, Any]] = {
    "const": (two, 2.0),
    "literal": (matrix("literal", value=((1.0, 0.0), (0.0, 2.0)), shape=(2, 2)), np.diag([1.0, 2.0])),
    "dim": (real("dim", name="n"), 4.0),
    "data": (a, A),
    "param": (mu, 2.5),
    "scalar sum": (real("add", two, mu, two), 6.5),
    "vector sum": (vector("add", y, two, y), 2 * v + 2),
    "matrix sum": (matrix("add", a, b), A + B),
    "sum with itself": (matrix("add", a, a), 2 * A),
    "minus zero": (matrix("add", a, zero), A),
    "row on every row": (matrix("add", b, y), B + v),
    "minus the identity": (matrix("add", s, Expr("neg", eye.type, (eye,)), shape=("p", "p")), S - np.eye(3)),
    "identity plus a number": (matrix("add", eye, two, shape=("p", "p")), np.eye(3) + 2),
    "number plus the identity": (matrix("add", two, eye, shape=("p", "p")), np.eye(3) + 2),
    "neg": (matrix("neg", a), -A),
    "scaled": (matrix("mul", mu, a), 2.5 * A),
    "entrywise": (matrix("mul", b, a), A * B),
    "entrywise with itself": (matrix("mul", a, a), A * A),
    "scalar product": (real("mul", mu, two), 5.0),
    "divided": (matrix("div", a, mu), A / 2.5),
    "divided entrywise": (matrix("div", a, b), A / B),
    "root": (real("sqrt", real("mul", mu, two)), 5.0**0.5),
    "scalar quotient": (real("div", real("const", value=10), real("dim", name="n")), 2.5),
    "matrix times vector": (vector("matmul", a, y, dim="n"), A @ v),
    "vector times matrix": (vector("matmul", x, a), u @ A),
    "matrix times matrix": (matrix("matmul", a, s), A @ S),
    "sparse times dense": (matrix("matmul", at, b, shape=("p", "p")), A.T @ B),
    "dense times sparse": (matrix("matmul", b, s), B @ S),
    "vector times vector": (real("matmul", y, y), v @ v),
    "transpose": (at, A.T),
    "transposed vector": (vector("transpose", y), v),
    "slice": (vector("slice", y, value=((0, 2),), dim="k"), v[:2]),
    "open slice": (vector("slice", y, value=((None, -1),), dim="k"), v[:-1]),
    "slice by a dimension": (vector("slice", y, value=((None, "k"),), dim="k"), v[:2]),
    "entry": (real("slice", y, value=(1,)), v[1]),
    "column": (vector("slice", a, value=((None, None), 2), dim="n"), A[:, 2]),
    "row": (vector("slice", a, value=(-1,)), A[-1]),
    "block": (matrix("slice", a, value=((1, 3), (0, 2)), shape=(2, 2)), A[1:3, :2]),
    "entry of a matrix": (real("slice", a, value=(1, 2)), A[1, 2]),
    "eye": (eye, np.eye(3)),
    "ones": (vector("ones"), np.ones(3)),
    "zeros": (matrix("zeros"), np.zeros((4, 3))),
    "diag of a vector": (matrix("diag", y, shape=("p", "p")), np.diag(v)),
    "diag of a matrix": (vector("diag", s), np.diag(S)),
    "trace": (real("trace", s), np.trace(S)),
    "sum": (real("sum", a), A.sum()),
    "sum of a vector": (real("sum", y), v.sum()),
    "mean": (real("mean", a), A.mean()),
    "mean of a vector": (real("mean", y), v.mean()),
    "dot": (real("dot", y, y), v @ v),
    "dot of matrices": (real("dot", a, b), (A * B).sum()),
}


@pytest.mark.parametrize("values", [DENSE, SPARSE], ids=["dense", "sparse"])
@pytest.mark.parametrize(("expr", "expected"), CASES.values(), ids=CASES)
def test_the_value_is_that_of_numpy(expr, expected, values):
    value = evaluate(expr, DIMS, values)
    assert isinstance(value, float | np.ndarray | sp.csr_array)
    assert isinstance(value, float) == (np.ndim(expected) == 0)
    np.testing.assert_allclose(value.toarray() if sp.issparse(value) else value, expected, rtol=1e-14, atol=1e-15)


SPARSE_RESULTS = ["data", "neg", "scaled", "entrywise", "divided", "transpose", "block", "minus the identity"]


@pytest.mark.parametrize("case", SPARSE_RESULTS)
def test_sparse_data_stay_sparse(case):
    assert isinstance(evaluate(CASES[case][0], DIMS, SPARSE), sp.csr_array)


def test_data_are_returned_as_they_are():
    assert evaluate(a, DIMS, DENSE) is A
    assert evaluate(a, DIMS, SPARSE) is SPARSE["A"]
    assert np.shares_memory(evaluate(at, DIMS, DENSE), A)


@pytest.mark.parametrize("other", [two, y])
@pytest.mark.parametrize("turned", [False, True])
def test_filling_sparse_data_is_refused_by_name(other, turned):
    args = (other, a) if turned else (a, other)
    with pytest.raises(ValueError, match="`A` is sparse"):
        evaluate(matrix("add", *args), DIMS, SPARSE)


@pytest.mark.parametrize("by", [zero, vector("zeros", dim="n")])
def test_division_by_zero(by):
    with pytest.raises(ValueError, match="division by zero"):
        evaluate(vector("div", x, by, dim="n"), DIMS, DENSE)
    with pytest.raises(ValueError, match="division by zero"):
        evaluate(matrix("div", b, a), DIMS, SPARSE)


@pytest.mark.parametrize("item", [(0, 4), (2, 2), (-5, None), 3, -4])
def test_a_slice_out_of_range(item):
    with pytest.raises(ValueError, match="of 3 entries"):
        evaluate(vector("slice", y, value=(item,)), DIMS, DENSE)


def test_single_precision_data_are_computed_with_in_double():
    single = {**DENSE, "v": v.astype(np.float32), "A": sp.csr_array(A.astype(np.float32))}
    third = real("div", real("const", value=1), real("const", value=3))
    for expr in (vector("mul", third, y), vector("add", y, third), vector("div", y, mu), matrix("mul", third, a)):
        assert evaluate(expr, DIMS, single).dtype == np.float64
    exact = float(np.sum(single["v"].astype(np.float64)))
    assert evaluate(real("sum", y), DIMS, single) == exact


def test_names_without_a_value_and_operations_without_one():
    with pytest.raises(KeyError):
        evaluate(a, DIMS, {})
    with pytest.raises(KeyError):
        evaluate(real("dim", name="q"), DIMS, {})
    with pytest.raises(ValueError, match="`var`"):
        evaluate(vector("var", name="beta"), DIMS, {})
