"""Feature maps and observed entries in cvxpy: values at a point, by formulas written here in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.oracle.translate import Translator

RNG = np.random.default_rng(8)
X = RNG.standard_normal((7, 3)) * (RNG.random((7, 3)) < 0.7)
Y = RNG.standard_normal(7)
Z = (X - X.mean(axis=0)) / X.std(axis=0)
EXPLICIT = {
    "standardize(X)": Z,
    "standardize(X, center=false)": X / X.std(axis=0),
    "normalize(X)": X / np.maximum(np.linalg.norm(X, axis=1), 1e-300)[:, None],
    "intercept(standardize(X))": np.c_[Z, np.ones(7)],
}
IMPLICIT = {
    "rbf(X, gamma=0.5)": np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2)),
    "polynomial(X, degree=2, coef0=1)": (X @ X.T + 1) ** 2,
    "linear(X)": X @ X.T,
}
PROGRAM = """data X: matrix[n, p], y: vector[n]
let Phi = {}
var w: vector[dim(Phi)]
minimize sum(squared(Phi @ w, y)) + sum_squares(w)
"""


def translated(made: str, data: object) -> Translator:
    return Translator(fw.parse(PROGRAM.format(made)).bind(X=data, y=Y).instance)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("made", EXPLICIT)
def test_explicit_maps(made, sparse):
    translator = translated(made, sp.csr_array(X) if sparse else X)
    w = RNG.standard_normal(EXPLICIT[made].shape[1])
    translator.variables["w"].value = w
    expected = np.sum((EXPLICIT[made] @ w - Y) ** 2) + w @ w
    assert float(translator.problem().objective.value) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("made", IMPLICIT)
def test_implicit_maps_have_the_optimum_of_their_expansion(made):
    K = IMPLICIT[made]
    problem = translated(made, X).problem()
    problem.solve(solver="CLARABEL")
    a = np.linalg.solve(K + np.eye(7), Y)
    assert float(problem.value) == pytest.approx(np.sum((K @ a - Y) ** 2) + a @ K @ a, rel=1e-6)


def test_observed_entries():
    text = "data M: entries[n, p], C: matrix[n, p]\nvar B: matrix[n, p]\nminimize sum(squared(B[M] + C[M], M))"
    rows, columns, values = [0, 1, 1, 0], [1, 0, 0, 2], np.array([1.0, 2.0, 3.0, 4.0])
    C, B = RNG.standard_normal((2, 2, 3))
    translator = Translator(fw.parse(text).bind(M=(rows, columns, values), C=C).instance)
    translator.variables["B"].value = B
    expected = np.sum(((B + C)[rows, columns] - values) ** 2)
    assert float(translator.problem().objective.value) == pytest.approx(expected, rel=1e-12)
