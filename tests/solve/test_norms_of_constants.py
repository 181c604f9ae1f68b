"""Norms that have no variables are numbers and vectors: factors of variables, as the centre of a polyhedron asks for."""

import numpy as np
import pytest

import fwdsl as fw

A = np.random.default_rng(3).normal(size=(6, 4))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("norm1(A)", np.abs(A).sum()),
        ("norm2(A[0])", np.linalg.norm(A[0])),
        ("norm_fro(A)", np.linalg.norm(A)),
        ("sum_squares(A)", np.square(A).sum()),
        ("norm2(A[0, 0])", abs(A[0, 0])),
        ("sum(rownorm2(A))", np.linalg.norm(A, axis=1).sum()),
        ("rownorm2(A)[2]", np.linalg.norm(A[2])),
        ("norm2(A, axis=0)[1]", np.linalg.norm(A[:, 1])),
        ("norm1(A, axis=1)[1]", np.abs(A[1]).sum()),
        ("norm1(A, axis=0)[3]", np.abs(A[:, 3]).sum()),
        ("norm2(zeros(3))", 0.0),
    ],
)
def test_the_value_of_a_norm(text, value):
    problem = fw.parse(f"data A: matrix[n, d]\nvar r: real\nmaximize r\nsubject to r <= 7 + {text}\n")
    assert problem.bind(A=A).solve()["r"] == pytest.approx(7 + value)
    problem = fw.parse(f"data A: matrix[n, d]\nvar r: real\nmaximize r\nsubject to r * (1 + {text}) <= 2\n")
    assert problem.bind(A=A).solve()["r"] == pytest.approx(2 / (1 + value))


def test_the_centre_of_a_polyhedron():
    text = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d], r: real\nmaximize r\nsubject to A @ x + r * {} <= b\n"
    box = np.vstack([np.eye(2) * 2, -np.eye(2)])
    for norms in ("rownorm2(A)", "norm2(A, axis=1)", "sqrt(sum(square(A), axis=1))"):
        solution = fw.parse(text.format(norms)).bind(A=box, b=[8.0, 8.0, 0.0, 0.0]).solve()
        assert solution["r"] == pytest.approx(2.0) and solution["x"] == pytest.approx([2.0, 2.0], abs=1e-5)
