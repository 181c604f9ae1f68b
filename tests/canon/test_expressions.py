"""Expressions that users write: dimensions in slices, `inner` in either order, constants of all kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw

RNG = np.random.default_rng(13)
Y = RNG.standard_normal(6)
K = np.array([0, 1, 0, 1, 1, 0])


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("x[0:n - 1] - x[1:n]", "x[:-1] - x[1:]"),
        ("x[0:n-2] - x[2:]", "x[:-2] - x[2:]"),
        ("x[1:-1 + n]", "x[1:-1]"),
        ("x[n - 1] - 3", "x[-1] - 3"),
        ("x[n-3:n-1]", "x[-3:-1]"),
        ("x[0:k] - c", "x[0:2] - 1"),
        ("x[1:k + 1] - c", "x[1:3] - 1"),
        ("x[1:dim(A)]", "x[1:]"),
        ("x[k:]", "x[2:]"),
        ("x[-k:] - c", "x[4:] - 1"),
        ("x[k] - 2", "x[2] - 2"),
        ("x[2 * k]", "x[4]"),
        ("x[::2]", "hstack(x[0], x[2], x[4])"),
        ("x[1:n:3]", "hstack(x[1], x[4])"),
        ("x[::-1] - y", "hstack(x[5] - y[0], x[4] - y[1], x[3] - y[2], x[2] - y[3], x[1] - y[4], x[0] - y[5])"),
        ("x[[4, 0, -1]]", "hstack(x[4], x[0], x[5])"),
        ("x[[4, 4]]", "hstack(x[4], x[4])"),
        ("A[:, [1, -1]] @ x[[0, 3]]", "A[:, 1:2] @ x[0:1] + A[:, n - 1:] @ x[3:4]"),
        ("A[0:k - 1, 1:n] @ x[1:n]", "A[:-1, 1:] @ x[1:]"),
    ],
)
def test_dimensions_stand_in_slices(written: str, meant: str) -> None:
    data = {"y": Y, "c": np.ones(2), "A": RNG.standard_normal((2, 6))}
    head = "data y: vector[n], c: vector[k], A: matrix[k, n]\nvar x: vector[n]\nminimize sum_squares(x - y) + 0 * (sum(c) + sum(A))"
    given, wanted = (fw.parse(f"{head} + sum_squares({e})\n").bind(**data).solve(tol=1e-10) for e in (written, meant))
    assert given.status == "optimal"
    assert given.objective == pytest.approx(wanted.objective, rel=1e-9)
    assert given["x"] == pytest.approx(wanted["x"], abs=1e-6)


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ("n", "FW2041"),
        ("n:", "FW2041"),
        ("0:n + 1", "FW2041"),
        ("n - 1:n - 1", "FW2041"),
        ("0:2 * n", "FW4523"),
        ("0:k - n", "FW4523"),
        ("k - n", "FW4523"),
        ("k + n", "FW4523"),
        ("3 * k", "FW4523"),
        ("0:n:0", "FW2040"),
        ("[0, 6]", "FW4523"),
        ("[-7]", "FW4523"),
    ],
)
def test_what_is_no_position_is_refused(item: str, code: str) -> None:
    text = (
        f"data y: vector[n], c: vector[k]\nvar x: vector[n]\nminimize sum_squares(x[{item}]) + 0 * (sum(y) + sum(c))\n"
    )
    with pytest.raises(fw.FwError) as error:
        fw.parse(text).check()
        fw.parse(text).bind(y=Y, c=np.ones(2)).solve()
    assert error.value.code == code


def test_a_range_beyond_the_data_is_found_when_they_are_bound() -> None:
    text = "data y: vector[n], c: vector[k]\nvar x: vector[n]\nminimize sum_squares(x[0:k] - c) + sum_squares(x - y)\n"
    with pytest.raises(fw.FwError) as error:
        fw.parse(text).bind(y=np.ones(2), c=np.ones(3)).solve()
    assert error.value.code == "FW4523"


T, X, S = RNG.standard_normal((6, 3, 3)), RNG.standard_normal((6, 3)), RNG.standard_normal((3, 3))
DATA: dict[str, Any] = {"T": T, "X": X, "S": S, "t": K, "c": RNG.standard_normal(3)}
HEAD = "data T: tensor[n, d, d], X: matrix[n, d], S: matrix[d, d], t: index[n] of J, c: vector[d]\n"
REST = " + 0 * (sum(inner(T, S)) + sum(X @ c))"


@pytest.mark.parametrize(
    ("variable", "given", "meant"),
    [
        ("F: family[J] of vector[d]", "inner(F[t], X)", "inner(X, F[t])"),
        ("F: family[J] of symmetric[d]", "inner(F[t], T)", "inner(T, F[t])"),
        ("F: matrix[n, d]", "inner(F, c)", "F @ c"),
        ("F: family[J] of vector[d]", "inner(F[t], c)", "F[t] @ c"),
    ],
)
def test_inner_takes_the_variable_first(variable: str, given: str, meant: str) -> None:
    one, other = (
        fw.parse(f"{HEAD}var {variable}\nminimize sum_squares({e} - 1) + 0.1 * sum_squares(F){REST}\n")
        .bind(**DATA | {"t": K})
        .solve(tol=1e-10)
        for e in (given, meant)
    )
    assert one.status == "optimal"
    assert one.objective == pytest.approx(other.objective, rel=1e-8)


def test_a_family_contracted_with_a_constant_is_a_number_a_block() -> None:
    text = f"{HEAD}var F: family[J] of symmetric[d]\nlet blocks = inner(F, S)\nminimize sum_squares(blocks - 1) + 0.1 * sum_squares(F){REST}\n"
    fit = fw.parse(text).bind(**DATA).solve(tol=1e-9)
    assert fit.evaluate("blocks") == pytest.approx([np.vdot(fit["F"][j], S) for j in (0, 1)], abs=1e-9)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
def test_constants_contract_as_numpy_does(layout: Any) -> None:
    data = {"X": layout(X), "S": layout(S), "T": T, "c": DATA["c"]}
    head = "data X: matrix[n, d], S: matrix[d, d], T: tensor[n, d, d], c: vector[d]\nvar x: vector[n]\n"
    keep = " + 0 * (sum(inner(T, S)) + sum(X @ c))"
    for words, value in {
        "quad(X, S)": np.einsum("ij,jk,ik->i", X, S, X),
        "inner(X, c)": X @ DATA["c"],
        "inner(T, S)": np.einsum("ijk,jk->i", T, S),
        "quad(X, eye(d))": (X * X).sum(axis=1),
    }.items():
        for term in (f"sum(squared(x, {words}))", f"sum_squares(x - {words})"):
            fit = fw.parse(f"{head}minimize {term}{keep}\n").bind(**data).solve(tol=1e-10)
            assert fit["x"] == pytest.approx(value, abs=1e-5)


def test_the_entropy_of_a_multiple_is_not_a_multiple_of_the_entropy() -> None:
    for factor in (2.0, -0.5):
        fit = fw.parse(f"var x: vector[3]\nminimize sum_squares(x) + 0.1 * entropy({factor} * x)\n").solve(tol=1e-9)
        z = factor * fit["x"]
        # 2 x / factor + 0.1 (1 + log z) = 0
        assert 2.0 * z / factor**2 + 0.1 * (1.0 + np.log(z)) == pytest.approx(np.zeros(3), abs=1e-4)


def test_a_coefficient_beyond_all_numbers_is_a_diagnostic() -> None:
    for term in ("a * sum_squares(a * x)", "a * norm1(a * x)"):
        with pytest.raises(fw.FwError) as error:
            fw.parse(f"param a: positive = 1e200\nvar x: vector[2]\nminimize {term}\n").solve()
        assert error.value.code in ("FW5011", "FW5012")


def test_other_values_than_a_literal_are_looked_at_again() -> None:
    text = "data S: matrix[2, 2] = [[2, 1], [1, 2]]\nvar x: vector[2]\nminimize quad_form(x, S) + sum(x)\n"
    program = fw.parse(text)
    assert program.solve().objective == pytest.approx(-1 / 6)
    assert program.bind(S=np.array([[1.0, 0.0], [0.0, 1.0]])).solve().objective == pytest.approx(-1 / 2)
    for S, what in (([[1.0, 2.0], [2.0, 1.0]], "positive semidefinite"), ([[1.0, 1.0], [0.0, 1.0]], "not symmetric")):
        with pytest.raises(fw.PlanError, match=what) as error:
            program.bind(S=np.array(S)).plan()
        assert error.value.code == "FW5012"


def test_a_sum_of_thousands_of_terms() -> None:
    """Maps are added by halves: one after the other they would be deeper than Python may call."""
    terms = " + ".join(f"x[{i % 3}]" for i in range(3_000))
    s = fw.parse(f"var x: vector[3]\nminimize sum_squares({terms} - 1) + sum_squares(x)\n").solve(tol=1e-9)
    # by symmetry x = t (1, 1, 1) with 3000 (3000 t - 1) + 3 t = 0
    assert s.status == "optimal"
    np.testing.assert_allclose(s["x"], 3_000.0 / (3_000.0**2 + 3.0), rtol=1e-6)
