"""Feature maps: explicit ones are matrices, implicit ones are used through their Gram matrix."""

from __future__ import annotations

import pytest

from fwdsl.check import format_type, format_typed

from .helpers import accepted, only

DECLARED = "data X: matrix[n, p], y: signs[n], q: matrix[n, 4]\nlet Phi = rbf(X, gamma=0.5)\n"


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("standardize(X)", "p"),
        ("normalize(X)", "p"),
        ("intercept(X)", "p+1"),
        ("intercept(intercept(X))", "p+2"),
        ("intercept(q)", "5"),
        ("fourier(X, features=10, gamma=1)", "10"),
        ("random_binning(X, grids=5, gamma=1)", "dim(E)"),
        ("intercept(random_binning(X, grids=5, gamma=1))", "dim(random_binning(X, grids=5, gamma=1))+1"),
    ],
)
def test_the_columns_of_explicit_maps(text: str, columns: str):
    model = accepted(f"{DECLARED}let E = {text}\nvar w: vector[dim(E)]\nminimize mean(hinge(E @ w, y))\n")
    assert format_type(dict(model.lets)["E"].type) == f"matrix[n, {columns}]"
    assert format_type(model.variable("w").type) == f"vector[{columns}]"


@pytest.mark.parametrize("map_", ["rbf(X, gamma=2)", "polynomial(X, degree=3)", "linear(X)", "rbf(standardize(X), 1)"])
@pytest.mark.parametrize(
    "norm",
    [" + sum_squares(w)", " + 2 * norm2(w)", "\nsubject to norm2(w) <= 3", "\nsubject to w in l2_ball(1)"],
)
def test_an_implicit_map_with_a_norm(map_: str, norm: str):
    model = accepted(
        f"{DECLARED}let K = {map_}\nvar w: vector[dim(K)], b: real\nminimize mean(hinge(K @ w + b, y)){norm}\n"
    )
    assert format_type(model.variable("w").type) == "vector[dim(K)]"
    (features,) = [e for e in model.terms[0].argument.walk() if e.op == "features" and e.type.kind == "features"]
    assert format_typed(features).startswith(map_.partition("(")[0])


@pytest.mark.parametrize(
    ("objective", "code"),
    [
        ("mean(hinge(Phi @ w, y))", "FW3014"),
        ("mean(hinge(Phi @ w, y)) + norm1(w)", "FW3015"),
        ("mean(hinge(Phi @ w, y)) + sum_squares(w) + sum(w)", "FW3015"),
        ("mean(hinge(Phi @ w, y)) + sum_squares(w - 1)", "FW3015"),
        ("sum(Phi)", "FW3015"),
        ("sum(Phi * 2)", "FW3015"),
        ("sum(Phi.T)", "FW3015"),
        ("sum(Phi[0:3, :])", "FW3015"),
        ("sum(Phi @ ones(dim(Phi)))", "FW3015"),
        ("sum(y @ Phi)", "FW3015"),
    ],
)
def test_what_an_implicit_map_refuses(objective: str, code: str):
    found = only(f"{DECLARED}var w: vector[dim(Phi)]\nminimize {objective}\n")
    assert found.code == code
    assert "fourier" in found.hint


def test_a_constraint_on_the_variable_of_a_kernel_is_refused():
    text = f"{DECLARED}var w: vector[dim(Phi)]\nminimize mean(hinge(Phi @ w, y)) + sum_squares(w)\nsubject to w >= 0\n"
    assert only(text).code == "FW3015"


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("rbf(X)", "FW2011"),
        ("rbf(X, gamma=-1)", "FW2012"),
        ("rbf(y, gamma=1)", "FW2044"),
        ("polynomial(X, degree=0)", "FW2012"),
        ("fourier(X, features=2.5, gamma=1)", "FW2012"),
        ("standardize(X, center=1)", "FW2012"),
        ("rbf(X, sigma=1)", "FW2010"),
    ],
)
def test_options_of_feature_maps(call: str, code: str):
    assert (
        only(f"data X: matrix[n, p], y: vector[n]\nvar b: real\nlet K = {call}\nminimize mean(squared(b, y))\n").code
        == code
    )
