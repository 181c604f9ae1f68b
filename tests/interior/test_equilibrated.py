"""Scales of rows and unknowns where entries range over many powers of ten: the powers of numbers near 0."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from tests.runs import started

TEXT = "data V: matrix[m, n], b: vector[m]\nvar c: vector[n]\nminimize norm_inf(V @ c - b)\n"


def powers(m: int = 200, n: int = 10) -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(-1.0, 1.0, m)
    return np.vander(t, n), np.abs(t)


def test_entries_that_count_for_nothing_decide_no_scale() -> None:
    """Numbers down to 1e-20 are the powers of those near 0: all rows and columns have an entry of 1 as they are."""
    V, b = powers()
    run = started(fw.parse(TEXT).bind(V=V, b=b), "interior")
    for scales in (run.d, run.e):
        assert scales.max() <= 100.0 * scales.min()


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_polynomials_of_least_error_in_any_unit(unit: float) -> None:
    V, b = powers()
    expected = fw.parse(TEXT).bind(V=V, b=b).solve(method="pdhg", tol=1e-7).objective
    columns = 10.0 ** np.linspace(-6.0, 6.0, V.shape[1])
    for A in (unit * V, unit * V * columns):
        found = fw.parse(TEXT).bind(V=A, b=unit * b).solve(method="interior", tol=1e-7)
        assert found.status == "optimal" and found.objective == pytest.approx(unit * expected, rel=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("power", [4.0, 5.0])
def test_units_of_columns_are_levelled(power: float, seed: int) -> None:
    """Columns in units of their own need no more steps than in one: their scales are not taken for rounding."""
    rng = np.random.default_rng(seed)
    A, b = np.abs(rng.standard_normal((60, 8))), 1.0 + rng.random(60)
    units = 10.0 ** rng.uniform(-power, power, 8)
    text = "data A: matrix[m, n], b: vector[m], q: vector[n]\nvar x: vector[n] in nonnegative\nmaximize dot(q, x)\nsubject to A @ x <= b\n"
    plain, other = (fw.parse(text).bind(A=A * u, b=b, q=u).solve(method="interior") for u in (np.ones(8), units))
    assert plain.status == other.status == "optimal"
    assert other.objective == pytest.approx(plain.objective, rel=1e-6)
    assert other.iterations <= plain.iterations + 5
