"""Functions that arrange entries, called from Python: the models are those of the texts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.model import Expr

A, B = np.arange(12.0).reshape(4, 3), np.arange(4.0)
CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "hstack(x, 1, 2 * x)": lambda x, Y: fw.hstack([x, 1, 2 * x]),
    "hstack(x, x)": lambda x, Y: fw.hstack(x, x),
    "vstack(Y, x)": lambda x, Y: fw.vstack(Y, x),
    "vec(Y)": lambda x, Y: fw.vec(Y),
    "reshape(Y, 3, 4)": lambda x, Y: fw.reshape(Y, 3, 4),
    "diff(x, 2)": lambda x, Y: fw.diff(x, 2),
    "diff(Y, axis=1)": lambda x, Y: fw.diff(Y, axis=1),
    "cumsum(Y, axis=1)": lambda x, Y: fw.cumsum(Y, axis=1),
    "sum(Y, axis=0)": lambda x, Y: fw.sum(Y, axis=0),
    "mean(Y, axis=1)": lambda x, Y: fw.mean(Y, axis=1),
    "conv([1, 2], x)": lambda x, Y: fw.conv([1, 2], x),
    "x[::2]": lambda x, Y: x[::2],
    "x[[0, 2]]": lambda x, Y: x[[0, 2]],
    "Y[:, [0, 2]]": lambda x, Y: Y[:, np.array([True, False, True])],
    "exp(0.5) * x": lambda x, Y: fw.exp(0.5) * x,
}


def argument(problem: fw.Problem) -> Expr:
    return problem.model.terms[0].argument


@pytest.mark.parametrize("text", [t for t in CALLS if "conv" not in t])
def test_a_call_makes_the_model_of_its_text(text: str) -> None:
    x, Y = fw.vector(3, name="x"), fw.matrix(4, 3, name="Y")
    built = fw.minimize(fw.sum_squares(CALLS[text](x, Y)) + fw.norm1(x) + fw.norm1(Y))
    read = fw.parse(f"var x: vector[3], Y: matrix[4, 3]\nminimize sum_squares({text}) + norm1(x) + norm1(Y)\n")
    assert argument(built) == argument(read)


def test_vec_is_of_sets_too() -> None:
    X = fw.matrix(2, 3, name="X")
    problem = fw.minimize(fw.sum_squares(fw.vec(X) - np.arange(6.0)), X.in_(fw.vec(fw.simplex(1))))
    assert "X in vec(simplex(1))" in problem.to_fw() and "sum_squares(vec(X)" in problem.to_fw()
    assert np.asarray(problem.solve()["X"]).sum() == pytest.approx(1.0, abs=1e-6)


def test_a_kernel_is_data() -> None:
    x = fw.vector(3, name="x")
    problem = fw.minimize(fw.sum_squares(fw.conv(np.array([1.0, -1.0]), x) - B) + fw.norm1(x))
    assert "conv(data1, x)" in problem.to_fw()
    assert problem.solve(tol=1e-9).status == "optimal"
