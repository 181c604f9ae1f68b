"""Feature maps of programs: sizes at binding, values once for each instance, statistics for new data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.bind import Bindings, bind
from fwdsl.bind.evaluate import evaluate
from fwdsl.bind.features import Features, FittedMaps, SavedFeatures, saved
from fwdsl.bind.instance import Instance
from fwdsl.features import GramOperator, RankOneUpdated
from fwdsl.features.gram import CrossGram
from fwdsl.model import Expr

RNG = np.random.default_rng(6)
X = np.round(RNG.standard_normal((20, 5)), 2) * (RNG.random((20, 5)) < 0.6)
Y = RNG.standard_normal(20)
PROGRAM = """data X: matrix[n, p], y: vector[n]
param g: positive = 0.5
param m: count = 8
let Phi = {}
param mu: positive = 1/dim(Phi)
var w: vector[dim(Phi)]
minimize mean(squared(Phi @ w, y)) + mu * sum_squares(w)
"""


def instance(made: str, data: Any = X, **values: Any) -> Instance:
    return fw.parse(PROGRAM.format(made)).bind(X=data, y=Y, **values).instance


def phi(i: Instance) -> Expr:
    value = dict(i.model.lets)["Phi"]
    assert isinstance(value, Expr)
    return value


def dense(value: Any) -> Any:
    return value if isinstance(value, np.ndarray) else value.toarray()


@pytest.mark.parametrize(
    ("made", "columns"),
    [
        ("fourier(X, features=m, gamma=g)", 8),
        ("fourier(X, features=3, gamma=g)", 3),
        ("standardize(X)", 5),
        ("standardize(X, center=false)", 5),
        ("normalize(X)", 5),
        ("intercept(X)", 6),
        ("intercept(standardize(X))", 6),
        ("fourier(normalize(X), features=m, gamma=2*g)", 8),
        ("intercept(fourier(X, features=m, gamma=g))", 9),
        ("rbf(X, gamma=g)", 20),
        ("polynomial(standardize(X), degree=2, coef0=1)", 20),
        ("linear(X)", 20),
    ],
)
@pytest.mark.parametrize("sparse", [False, True])
def test_sizes_and_values(made, columns, sparse):
    i = instance(made, sp.csr_array(X) if sparse else X)
    value = i.evaluate(phi(i))
    assert value.shape == (20, columns)
    assert i.values["mu"] == 1 / columns
    assert i.evaluate(phi(i)) is value
    again = evaluate(phi(i), i.dims, i.values, Features(i.dims, i.values))
    assert again is not value
    np.testing.assert_array_equal(dense(again), dense(value))


def test_the_size_of_random_binning_is_found_from_the_data():
    i = instance("random_binning(X, grids=m, gamma=g)")
    value = i.evaluate(phi(i))
    assert i.dims["dim(Phi)"] == value.shape[1] > 8
    assert np.all(np.diff(value.tocsc().indptr) > 0)


def test_every_size_of_a_map_of_a_map():
    i = instance("fourier(random_binning(X, grids=3, gamma=g), features=m, gamma=g)")
    assert i.dims["dim(Phi)"] == 8 and i.dims["dim(random_binning(X, grids=3, gamma=g))"] > 3


def test_maps_that_no_let_names():
    program = (
        "data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize mean(squared(standardize(X) @ w, y)) + sum(w)"
    )
    i = fw.parse(program).bind(X=X, y=Y).instance
    assert i.features is not None
    assert (
        fw.parse("data a: vector[n]\nvar x: vector[n]\nminimize sum_squares(x - a)").bind(a=Y).instance.features is None
    )


def test_maps_that_depend_on_no_changed_parameter_are_kept():
    problem = fw.parse(PROGRAM.format("fourier(standardize(X), features=m, gamma=g)")).bind(X=X, y=Y)
    i = problem.instance
    value, inner = i.evaluate(phi(i)), i.evaluate(phi(i).args[0])
    same, other = problem.bind(mu=3).instance, problem.bind(m=4).instance
    assert same.evaluate(phi(same)) is value
    assert other.evaluate(phi(other)).shape == (20, 4) and other.evaluate(phi(other).args[0]) is inner
    assert (other.dims["dim(Phi)"], other.values["mu"]) == (4, 0.25) and i.dims["dim(Phi)"] == 8


def rebound(i: Instance, new: Any, fitted: FittedMaps | None = None) -> Instance:
    data = {"X": new, "y": np.zeros(new.shape[0])}
    other, found = bind(i.model, Bindings(data), Path(), fitted=fitted or i.features)
    assert found == () and other is not None
    return other


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kept", ["in memory", "in a file"])
@pytest.mark.parametrize(
    "made",
    [
        "standardize(X)",
        "intercept(standardize(X))",
        "normalize(standardize(X, center=false))",
        "random_binning(X, grids=m, gamma=g)",
        "rbf(X, gamma=g)",
        "polynomial(standardize(X), degree=2, coef0=1)",
        "fourier(X, features=m, gamma=g)",
    ],
)
def test_new_data_go_through_the_statistics_of_the_fit(made, kept, sparse, tmp_path: Path):
    data = sp.csr_array(X) if sparse else X
    i = instance(made, data)
    assert i.features is not None
    fitted: FittedMaps = i.features
    if kept == "in a file":
        np.savez(tmp_path / "maps.npz", **saved(i.model, i.features))
        with np.load(tmp_path / "maps.npz", allow_pickle=False) as arrays:
            fitted = SavedFeatures(i.model, arrays)
    other = rebound(i, data[4:9], fitted)
    assert {k: v for k, v in other.dims.items() if k != "n"} == {k: v for k, v in i.dims.items() if k != "n"}
    np.testing.assert_allclose(dense(other.evaluate(phi(other))), dense(i.evaluate(phi(i)))[4:9], atol=1e-14)


def test_implicit_maps_are_operators():
    i = instance("rbf(X, gamma=g)")
    assert isinstance(i.evaluate(phi(i)), GramOperator)
    other = rebound(i, X[:3])
    assert isinstance(other.evaluate(phi(other)), CrossGram)


def test_a_map_of_what_has_no_value_is_located():
    program = PROGRAM.format("random_binning(X / t, grids=m, gamma=g)").replace("let", "param t: nonnegative\nlet")
    with pytest.raises(fw.DataError) as error:
        _ = fw.parse(program).bind(X=X, y=Y, t=0).instance
    (d,) = error.value.diagnostics
    assert d.code == "FW4521" and d.message == "the feature map `random_binning` has no value: division by zero"
    assert d.span is not None and program[d.span.start : d.span.end].startswith("random_binning(")


# --- arithmetic with sparse data that are centred ----------------------------------------------------------------------

CONSTANTS = {
    "transpose": ("matrix", lambda Z, B: Z.T, "Phi.T"),
    "scaled": ("matrix", lambda Z, B: -2 * Z, "-2 * Phi"),
    "divided": ("matrix", lambda Z, B: Z / 4, "Phi / 4"),
    "plus a number": ("matrix", lambda Z, B: Z + 3, "Phi + 3"),
    "plus a row": ("matrix", lambda Z, B: Z + B[0], "Phi + B[0, :]"),
    "plus sparse": ("matrix", lambda Z, B: Z + X, "Phi + X"),
    "plus dense": ("matrix", lambda Z, B: Z + B, "B + Phi"),
    "plus itself": ("matrix", lambda Z, B: 2 * Z, "Phi + Phi"),
    "minus normalized": ("matrix", lambda Z, B: Z - dense(Z), "Phi - Phi"),
    "times sparse": ("matrix", lambda Z, B: Z * X, "Phi * X"),
    "times dense": ("matrix", lambda Z, B: Z * B, "Phi * B"),
    "over dense": ("matrix", lambda Z, B: Z / B, "Phi / B"),
    "product": ("matrix", lambda Z, B: Z @ B.T, "Phi @ B.T"),
    "sparse product": ("matrix", lambda Z, B: Z @ X.T, "Phi @ X.T"),
    "product from the left": ("matrix", lambda Z, B: B.T @ Z, "B.T @ Phi"),
    "sparse product from the left": ("matrix", lambda Z, B: X.T @ Z, "X.T @ Phi"),
    "its Gram matrix": ("matrix", lambda Z, B: Z.T @ Z, "Phi.T @ Phi"),
    "row": ("vector", lambda Z, B: Z[1], "Phi[1, :]"),
    "columns": ("matrix", lambda Z, B: Z[:, 1:3], "Phi[:, 1:3]"),
    "entry": ("real", lambda Z, B: Z[2, 3], "Phi[2, 3]"),
    "sum": ("real", lambda Z, B: Z.sum(), "sum(Phi)"),
    "mean": ("real", lambda Z, B: (Z + 1).mean(), "mean(Phi + 1)"),
    "trace": ("real", lambda Z, B: np.trace(Z.T @ Z), "trace(Phi.T @ Phi)"),
    "diagonal": ("vector", lambda Z, B: np.diag(Z.T @ Z), "diag(Phi.T @ Phi)"),
    "vector product": ("vector", lambda Z, B: Y @ Z, "y @ Phi"),
    "inner product": ("real", lambda Z, B: np.sum(Z * B), "dot(Phi, B)"),
}


@pytest.mark.parametrize("case", CONSTANTS)
def test_arithmetic(case):
    _, formula, text = CONSTANTS[case]
    B = RNG.standard_normal((20, 5)) + 3.0
    program = (
        "data X: matrix[n, p], y: vector[n], B: matrix[n, p]\nlet Phi = standardize(X)\n"
        f"let value = {text}\nvar w: vector[p]\nminimize mean(squared(Phi @ w, y)) + sum(B) + sum(w)"
    )
    i = fw.parse(program).bind(X=sp.csr_array(X), y=Y, B=B).instance
    assert isinstance(i.evaluate(phi(i)), RankOneUpdated)
    value = i.evaluate(dict(i.model.lets)["value"])
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    got = dense(value) if np.ndim(value) == 2 else value
    np.testing.assert_allclose(got, formula(Z, B), atol=1e-12)
