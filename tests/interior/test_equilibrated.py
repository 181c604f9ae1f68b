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
