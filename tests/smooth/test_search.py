"""The search along a direction: x and its predictions belong together, whatever the trials have seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
import fwdsl.backends.smooth.newton as newton
from tests.runs import started

TEXT = "data A: matrix[n, d], y: signs[n]\nvar x: vector[d]\nminimize sum(logistic(A @ x, y)) + 1e-3 * sum_squares(x)\n"


def far_out(**data: Any) -> tuple[Any, Any, np.ndarray, list[np.ndarray]]:
    """A run at 0, its state, and a direction along which the slope is large at once, and steady from there on."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((20, 5))
    run = started(fw.parse(TEXT).bind(A=A, y=np.where(rng.random(20) < 0.5, -1.0, 1.0)), "newton")
    s = run.state.copied()
    d = -1e7 * s.grad
    return run, s, d, run.problem.linear(d)


@pytest.mark.parametrize("trials", [1, 2, 3, newton.TRIALS])
def test_x_and_its_predictions_belong_together(trials: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(newton, "TRIALS", trials)
    run, s, d, dzs = far_out()
    before = s.value
    losses = run._move(s, d, dzs, float(d @ d))
    (z,) = run.problem.forward(s.x)
    np.testing.assert_allclose(s.zs[0], z, rtol=1e-9, atol=1e-9 * float(np.abs(dzs[0]).max()) * s.length)
    assert losses == pytest.approx(run.problem.losses_value([z]), rel=1e-6)
    assert run.problem.losses_value([z]) + 1e-3 * float(s.x @ s.x) <= before * (1.0 + 1e-12)


def test_slopes_that_hardly_change_along_the_bracket() -> None:
    """Secants come nearer to the minimum from one side alone there; the search gets there by halving."""
    run, s, d, dzs = far_out()
    slope = float(s.grad @ d)
    run._move(s, d, dzs, -slope)
    assert s.length > 0.0
    left = run.problem.adjoint(s.ys) + 2e-3 * s.x
    assert abs(float(left @ d)) <= 0.011 * abs(slope)
