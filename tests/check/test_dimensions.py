"""Dimensions that are sums and products: their normal form, and the sizes that data give them."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.model import (
    add_dims,
    evaluate_dim,
    every,
    monomials,
    multiply_dims,
    names_in,
    shift_dim,
    solve_dim,
    split_dim,
)

from .helpers import accepted, codes, only


def test_equal_dimensions_have_one_text() -> None:
    assert add_dims("n", "n", 1) == add_dims(multiply_dims(2, "n"), 1) == "2*n+1"
    assert multiply_dims("n", "k") == multiply_dims("k", "n") == "k*n"
    assert multiply_dims("n+1", "k-1") == "k+k*n-n-1"
    assert add_dims("n", multiply_dims(-1, "m")) == "n-m"
    assert add_dims("n+2", multiply_dims(-1, "n")) == 2
    assert shift_dim("n-1", 1) == "n" and shift_dim(3, 1) == 4
    assert split_dim("k*n-2") == ("k*n", -2) and split_dim("n") == ("n", 0)
    assert add_dims("dim(rbf(X, gamma=1 + 2))", 1) == "dim(rbf(X, gamma=1 + 2))+1"
    assert monomials("2*n-1") == ((("n",), 2), ((), -1))
    assert names_in("2*n+k*n-1") == ("n", "k")


def test_every_other_entry_has_a_dimension() -> None:
    assert [every(7, 2), every("2*n", 2), every("2*n+1", 2), every("n", 1)] == [4, "n", "n+1", "n"]
    for n in range(2, 9):
        for dim in ("n", "n-1", "3*n+1", add_dims(every("n", 2), -1)):
            for step in (2, 3):
                assert evaluate_dim(every(dim, step), {"n": n}) == -(-evaluate_dim(dim, {"n": n}) // step)


def test_a_stated_size_gives_a_name_its_own() -> None:
    assert solve_dim("T+1", 11, {}) == ("T", 10)
    assert solve_dim("k*n+2", 14, {"k": 3}) == ("n", 4)
    assert solve_dim("2*n", 7, {}) is None and solve_dim("n*n", 9, {}) is None and solve_dim("n+m", 3, {}) is None


HEAD = "data c: vector[T + 1], B: matrix[n, 2 * n]\nvar X: matrix[T + 1, n], z: vector[2 * n]\n"
BODY = "minimize sum_squares(X) + dot(c, X[:, 0]) + sum_squares(B @ z - X[T]) + sum_squares(z[n:] - X[0]) + norm1(X[1:] - X[:-1])\n"


def test_sizes_follow_from_those_of_sums() -> None:
    rng = np.random.default_rng(0)
    problem = fw.parse(HEAD + BODY).bind(c=rng.standard_normal(6), B=rng.standard_normal((3, 6)))
    assert {n: problem.instance.dims[n] for n in ("T", "n")} == {"T": 5, "n": 3}
    assert problem.solve(tol=1e-6)["X"].shape == (6, 3)


@pytest.mark.parametrize(
    ("c", "B", "code", "said"),
    [
        (np.ones(6), np.ones((3, 5)), "FW4506", "`2*n` is 6"),
        (np.ones((6, 2)), np.ones((3, 6)), "FW4505", "matrix"),
    ],
)
def test_sizes_that_contradict_are_told(c: object, B: object, code: str, said: str) -> None:
    with pytest.raises(fw.FwError) as error:
        _ = fw.parse(HEAD + BODY).bind(c=c, B=B).instance
    assert error.value.code == code


def test_a_size_that_no_whole_number_gives_is_told() -> None:
    with pytest.raises(fw.FwError) as error:
        _ = (
            fw.parse("data c: vector[2 * n]\nvar x: vector[n]\nminimize sum_squares(x) + sum(c[0:n] * x)\n")
            .bind(c=np.ones(5))
            .instance
        )
    assert error.value.code == "FW4506" and "no size of `n`" in str(error.value)


def test_a_dimension_without_entries_is_told() -> None:
    text = "data y: vector[n]\nvar x: vector[n - 1]\nminimize sum_squares(x) + sum(y)\n"
    with pytest.raises(fw.FwError) as error:
        _ = fw.parse(text).bind(y=np.ones(1)).instance
    assert error.value.code == "FW4523"
    with pytest.raises(fw.FwError) as error:
        _ = fw.parse("data y: vector[n]\nvar x: vector[n]\nminimize norm1(x - y) + tv(x)\n").bind(y=np.ones(1)).instance
    assert error.value.hint == (
        "differences of order 1 take 2 entries or more; there are no empty vectors, and sums and norms of none would be 0: "
        "leave the term out where there are fewer"
    )
    literal = only("var x: vector[1]\nminimize norm1(diff(x)) + sum_squares(x)\n")
    assert literal.code == "FW2041" and literal.hint == error.value.hint
    assert fw.parse(text).bind(y=np.ones(2)).solve().status == "optimal"


def test_dimensions_stand_in_functions() -> None:
    model = accepted(
        "data v: vector[n]\nvar x: vector[n + 1], Y: matrix[2 * n, 3]\n"
        "minimize norm1(x - zeros(1 + n)) + norm_fro(eye(2 * n) @ Y) + sum(v)\n"
    )
    assert [v.type.shape for v in model.variables] == [("n+1",), ("2*n", 3)]


@pytest.mark.parametrize(
    ("declared", "code"),
    [
        ("vector[n / 2]", "FW2020"),
        ("vector[1 - 1]", "FW2020"),
        ("vector[1.5 * n]", "FW2020"),
        ("vector[x + 1]", "FW2002"),
    ],
)
def test_what_is_no_dimension(declared: str, code: str) -> None:
    assert code in codes(f"data v: vector[n]\nvar x: {declared}\nminimize sum_squares(v) + norm1(x)\n")


def test_shapes_are_compared_by_their_normal_forms() -> None:
    assert only("data v: vector[n + 2]\nvar x: vector[n + 1]\nminimize sum_squares(x - v)\n").code == "FW2033"
    accepted("data v: vector[1 + n]\nvar x: vector[n + 1]\nminimize sum_squares(x - v)\n")
    accepted(
        "data M: matrix[n, k], v: vector[n * k]\nvar x: vector[k * n]\nminimize sum_squares(x - v) + norm1(vec(M) - x)\n"
    )


def test_dimensions_in_python() -> None:
    n = fw.dim("n")
    x, y = fw.vector("n + 1", name="x"), fw.vector(2 * n, name="y")
    c = fw.data("c", fw.vector_type(n + 1))
    problem = fw.minimize(fw.sum_squares(x - c) + fw.sum_squares(y - fw.hstack(x[1:], x[:-1])))
    assert "var x: vector[n + 1], y: vector[2 * n]" in problem.to_fw() or "vector[2 * n]" in problem.to_fw()
    assert problem.bind(c=np.arange(4.0)).solve(tol=1e-8)["y"].shape == (6,)
