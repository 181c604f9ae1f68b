"""Operators of expressions: the tree they make, with every kind of array on either side."""

from __future__ import annotations

import operator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.build.leaves import DataLeaf, uses

SPARSE = [
    f"{form}_{kind}" for form in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok") for kind in ("array", "matrix")
]
DENSE = ["float64", "float32", "int64", "bool", "fortran", "strided", "np_matrix", "memmap"]


def make(kind: str, folder: Path):
    eye = np.eye(3)
    if kind in SPARSE:
        return getattr(sp, kind)(eye)
    if kind == "fortran":
        return np.asfortranarray(eye)
    if kind == "strided":
        return np.eye(6)[::2, ::2]
    if kind == "np_matrix":
        return np.matrix(eye)
    if kind == "memmap":
        np.save(folder / "a.npy", eye)
        return np.load(folder / "a.npy", mmap_mode="r")
    return eye.astype(kind)


@pytest.mark.parametrize("kind", [*SPARSE, *DENSE])
@pytest.mark.parametrize(
    ("symbol", "op"), [("@", operator.matmul), ("*", operator.mul), ("+", operator.add), ("-", operator.sub)]
)
def test_an_array_on_either_side_becomes_data(kind: str, symbol: str, op, tmp_path: Path):
    array = make(kind, tmp_path)
    x = fw.matrix(3, 3, name="x")
    for expression, text in ((op(array, x), f"data1 {symbol} x"), (op(x, array), f"x {symbol} data1")):
        assert isinstance(expression, fw.Expression)
        assert repr(expression) == text
        leaves = [u.leaf for u in uses(expression.node) if isinstance(u.leaf, DataLeaf)]
        assert [leaf.value is array for leaf in leaves] == [True], "the array itself, not a copy"


@pytest.mark.parametrize("kind", [*SPARSE, *DENSE])
def test_comparisons_with_an_array_make_constraints(kind: str, tmp_path: Path):
    array = make(kind, tmp_path)
    x = fw.matrix(3, 3, name="x")
    found = [array <= x, array >= x, array == x, x <= array, x >= array, x == array]
    assert [repr(c) for c in found] == [
        "x >= data1",
        "x <= data1",
        "x == data1",
        "x <= data1",
        "x >= data1",
        "x == data1",
    ]


@pytest.mark.parametrize(
    "number", [2, 2.5, np.float64(2.5), np.float32(2.5), np.int32(2), np.array(2.5)], ids=lambda n: type(n).__name__
)
def test_numbers_are_literals(number):
    x = fw.vector(3, name="x")
    text = "2" if number == 2 else "2.5"
    assert [repr(e) for e in (number * x, x * number, number + x, x / number, x <= number, number <= x)] == [
        f"{text} * x",
        f"x * {text}",
        f"{text} + x",
        f"x/{text}",
        f"x <= {text}",
        f"x >= {text}",
    ]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (1e-300, "1e-300"),
        (1 / 3, "0.3333333333333333"),
        (5.0, "5.0"),
        (float("inf"), "inf"),
        (10**20, str(10**20)),
    ],
)
def test_a_literal_is_exact(value: float, text: str):
    assert repr(fw.scalar(name="x") + value) == f"x + {text}"


def test_signs_and_brackets_are_as_in_text():
    a, b, c = (fw.vector(3, name=n) for n in "abc")
    for expression, text in [
        (a + b - c, "a + b - c"),
        (a - (b - c), "a - (b - c)"),
        (-a + b, "-a + b"),
        (-(a + b), "-(a + b)"),
        (a - -b, "a + b"),
        (2 * (a + b) / 3, "2 * (a + b) / 3"),
        (-2 * a, "-2 * a"),
        (a.T @ (b @ c), "a.T @ (b @ c)"),
        ((a + b)[0:2], "(a + b)[0:2]"),
        (a[1:], "a[1:]"),
        (sum([a, b, c]), "a + b + c"),
        (+a, "a"),
    ]:
        assert repr(expression) == text


def test_a_long_sum_is_flat():
    x = fw.scalar(name="x")
    total = x
    for _ in range(3000):
        total = total + x
    assert total.depth == 2
    assert len(total.node.terms) == 3001


def test_slices_and_matrices():
    w = fw.matrix(4, 5, name="W")
    assert [repr(w[:, 2]), repr(w[1:3, :]), repr(w[0, 0])] == ["W[:, 2]", "W[1:3, :]", "W[0, 0]"]


def raised(action) -> fw.FwError:
    with pytest.raises(fw.FwError) as caught:
        action()
    assert isinstance(caught.value, fw.BuildError)
    assert caught.value.hint or caught.value.first.rule
    return caught.value


X = fw.vector(3, name="x")


@pytest.mark.parametrize(
    ("code", "action"),
    [
        ("FW0301", lambda: 0 <= X <= 1),
        ("FW0301", lambda: not (X >= 0)),
        ("FW0301", lambda: bool(X)),
        ("FW0301", lambda: (X >= 0) <= 1),
        ("FW0302", lambda: X in fw.l1_ball(5)),
        ("FW0302", lambda: 3 in X),
        ("FW0303", lambda: X**2),
        ("FW0303", lambda: 2**X),
        ("FW0303", lambda: abs(X)),
        ("FW0303", lambda: X < 1),
        ("FW0303", lambda: X > 1),
        ("FW0303", lambda: X != 1),
        ("FW0303", lambda: X // 2),
        ("FW0303", lambda: X % 2),
        ("FW0304", lambda: X + float("nan")),
        ("FW0304", lambda: X + np.ones(3) * 1j),
        ("FW0304", lambda: np.eye(3).dot(X) + X),
        ("FW0304", lambda: X + "y"),
        ("FW0304", lambda: X + None),
        ("FW0304", lambda: X * True),
        ("FW0304", lambda: X @ [[1, 2], [3]]),
        ("FW0304", lambda: fw.vector(2.5)),
        ("FW0306", lambda: fw.vector(3, name="a b")),
        ("FW0306", lambda: fw.vector(3, name="data")),
        ("FW0306", lambda: fw.param("1x", 2.0)),
        ("FW0307", lambda: np.dot(np.eye(3), X)),
        ("FW0307", lambda: np.linalg.norm(X)),
        ("FW0307", lambda: pd.DataFrame(np.eye(3)) @ X),
        ("FW0307", lambda: pd.DataFrame(np.eye(3)).dot(X)),
        ("FW0307", lambda: pd.Series(np.ones(3)) @ X),
        ("FW0308", lambda: X[0.5]),
        ("FW0308", lambda: X[None]),
        ("FW0308", lambda: X[...]),
        ("FW0308", lambda: list(X)),
        ("FW0309", lambda: X.in_(5)),
        ("FW0309", lambda: fw.minimize(fw.sum(X), fw.l1_ball(5))),
        ("FW0309", lambda: fw.minimize(fw.sum(X), True)),
        ("FW0309", lambda: fw.l1_ball(5) == X),
        ("FW0309", lambda: fw.minimize(X >= 0)),
        ("FW0309", lambda: fw.data("X")),
        ("FW0309", lambda: fw.family(3, 5)),
    ],
)
def test_misuse_says_so(code: str, action):
    assert raised(action).code == code


def test_a_frame_that_multiplies_is_told_to_be_named():
    hint = raised(lambda: pd.DataFrame(np.eye(3)) @ X).hint
    assert 'fw.data("X", frame) @ w' in hint and "frame.to_numpy() @ w" in hint


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (lambda y: y - X, "data1 - x"),
        (lambda y: y * X, "data1 * x"),
        (lambda y: X + y, "x + data1"),
        (lambda y: y <= X, "x >= data1"),
    ],
)
def test_a_series_leaves_other_operators_to_the_expression(action, text: str):
    assert repr(action(pd.Series(np.ones(3)))) == text


def test_an_expression_is_one_object_in_arrays_of_objects():
    assert np.asarray(X).shape == () and np.asarray(X).item() is X
    both = np.array([X, 2 * X], dtype=object)
    assert both[0] is X and repr(both.sum()) == "x + 2 * x"
    assert pd.Series([X, X])[1] is X


def test_functions_of_entries_are_told():
    assert "fw.square(x)" in raised(lambda: X**2).hint and "fw.power(x, p)" in raised(lambda: X**2).hint
    assert "fw.abs(x)" in raised(lambda: abs(X)).hint


def test_a_chained_comparison_says_what_to_write():
    error = raised(lambda: 0 <= X <= 1)
    assert "`x >= 0`" in error.first.message
    assert "x.in_(fw.box(a, b))" in error.hint


def test_nesting_is_bounded():
    def nest():
        r = X
        for _ in range(1000):
            r = 2 * (r + 1)

    assert raised(nest).code == "FW0305"


def test_scalar_and_sets_and_types_have_a_repr():
    assert repr(fw.l1_ball(5)) == "l1_ball(5)"
    assert repr(fw.nonnegative) == "nonnegative"
    assert repr(fw.rows(fw.simplex(1))) == "rows(simplex(1))"
    assert repr(X.in_(fw.box(0, 1)).named("unit")) == "unit: x in box(0, 1)"
    assert repr(fw.matrix_type("n", 3)) == "matrix[n, 3]"
    assert repr(fw.index_type("n", of="T")) == "index[n] of T"
    assert repr(fw.huber(X, np.ones(3), delta=2.0)) == "huber(x, data1, delta=2.0)"
    assert repr(fw.param("mu", 0.5) * fw.norm1(X)) == "mu * norm1(x)"
