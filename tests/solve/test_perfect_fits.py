"""A gap that is the square of rounding ends the verifier's turn: no other dual point is made, and no point that fits even better."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.solve import attempts

TEXT = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in nonnegative\nminimize sum(squared(A @ x, b))\n"


@pytest.mark.parametrize("shape", [(30, 30), (50, 20), (20, 70)])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_a_perfect_fit_is_certified_at_once(
    shape: tuple[int, int], unit: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object, **__: object) -> None:
        raise AssertionError("a repair is asked for")

    monkeypatch.setattr(attempts, "repair", refuses)
    monkeypatch.setattr(attempts, "feasible_nearby", refuses)
    rng = np.random.default_rng(shape)
    A = rng.standard_normal(shape)
    problem = fw.parse(TEXT).bind(A=unit * A, b=A @ (rng.random(shape[1]) * (np.arange(shape[1]) % 7 == 0)))
    found = problem.solve()
    assert found.status == "optimal"
    assert found.objective <= 1e-18 * float(np.square(A).sum())
