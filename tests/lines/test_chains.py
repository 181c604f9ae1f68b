"""Functions of the differences of neighbours are recognised, others are not; their multipliers go back to the terms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.canon.chains import Chain
from fwdsl.canon.form import Canonical
from fwdsl.errors import PlanError

HEAD = "data y: vector[n], D: matrix[e, n], c: vector[n]\nvar x: vector[n]\nminimize sum(squared(x, y))"
N = 6


def form(tail: str, D: Any = None) -> Canonical:
    D = np.diff(np.eye(N), axis=0) if D is None else D
    canonical = fw.parse(HEAD + tail + "\n").bind(y=np.arange(float(N)), D=D, c=1.0 + np.arange(N)).canonical
    assert isinstance(canonical, Canonical)
    return canonical


def chain(tail: str, D: Any = None) -> Chain:
    (found,), reason = form(tail, D).chains
    assert not reason
    return found


@pytest.mark.parametrize(
    ("tail", "lo", "hi"),
    [
        (" + 2 * norm1(x[1:] - x[:-1])", -2, 2),
        (" + 2 * norm1(x[:-1] - x[1:])", -2, 2),
        (" + 2 * norm1((x[:-1] - x[1:]) / 4)", -0.5, 0.5),
        (" + norm1(x[1:] - x[:-1]) + norm1(3 * D @ x)", -4, 4),
        ("\nsubject to x[1:] >= x[:-1]", -np.inf, 0),
        ("\nsubject to x[1:] <= x[:-1]", 0, np.inf),
        ("\nsubject to D @ x >= 0", -np.inf, 0),
        ("\nsubject to x[1:] == x[:-1]", -np.inf, np.inf),
        (" + 2 * norm1(x[1:] - x[:-1])\nsubject to D @ x >= 0", -np.inf, 2),
    ],
)
def test_slices_and_matrices(tail: str, lo: float, hi: float) -> None:
    for D in (None, sp.csr_array(np.diff(np.eye(N), axis=0)), np.diff(np.eye(N), axis=0)[::-1].astype(np.float32)):
        found = chain(tail, D)
        assert np.all(found.lo == lo) and np.all(found.hi == hi) and found.order is None


def test_weights_parts_and_strides() -> None:
    weights = chain(" + norm1(c[1:] * (x[1:] - x[:-1]))")
    np.testing.assert_array_equal(weights.hi, 2.0 + np.arange(N - 1))
    part = chain(" + norm1(x[2:4] - x[1:3])")
    np.testing.assert_array_equal(part.hi, [0, 1, 1, 0, 0])
    second = chain(" + norm1(x[2:] - x[:-2])")
    assert second.order is not None
    np.testing.assert_array_equal(second.order, [0, 2, 4, 1, 3, 5])
    np.testing.assert_array_equal(second.hi, [1, 1, 0, 1, 1])
    assert "2 lines, 4 steps" in second.describe("x") and "a line, 2 steps" in part.describe("x")


def test_the_direction_of_an_order_and_the_edges_of_slices() -> None:
    rising, falling = chain("\nsubject to x[1:] >= x[:-1]"), chain("\nsubject to 2 * x[1:] <= 2 * x[:-1]")
    assert (rising.direction, falling.direction) == (1, -1)
    assert rising.steps[0].edge == slice(0, N - 1) and abs(rising.steps[0].c) == 1.0 and abs(falling.steps[0].c) == 2.0
    part = chain("\nsubject to x[2:4] >= x[1:3]")
    assert part.direction == 1 and part.ends is None
    np.testing.assert_array_equal(part.lo, [0, -np.inf, -np.inf, 0, 0])
    others = (" + norm1(x[1:] - x[:-1])", "\nsubject to x[1:] == x[:-1]", " + norm1(D @ x)\nsubject to D @ x >= 0")
    assert [chain(tail).direction for tail in others] == [0, 0, 0]
    both = chain("\nsubject to x[1:3] >= x[0:2], x[3:5] <= x[2:4]")
    assert both.direction == 0 and "4 steps" in both.describe("x")


def test_multipliers_of_several_terms_add_up_to_those_of_the_edges() -> None:
    tail = " + 2 * norm1(x[1:] - x[:-1])\nsubject to x[:-1] - x[1:] <= 0, 3 * D @ x >= 0"
    canonical = form(tail)
    found = canonical.chains[0][0]
    u = np.array([-7.0, -2.0, 0.0, 1.0, 2.0])
    ys = found.multipliers(u)
    total = np.zeros(N)
    for k, y in ys.items():
        canonical.terms[k].map.adjoint(y, total)
    np.testing.assert_allclose(total, np.diff(np.eye(N), axis=0).T @ u, atol=1e-15)
    assert all(np.isfinite(canonical.terms[k].f.conjugate(y)) for k, y in ys.items())


@pytest.mark.parametrize(
    ("tail", "D", "reason"),
    [
        (" + norm1(x[1:] - x[:-1] - 1)", None, "not differentiable"),
        (" + norm1(x[1:] + x[:-1])", None, "not of the differences"),
        (" + norm1(x[1:] - 2 * x[:-1])", None, "not of the differences"),
        (" + norm1(D @ x)", np.eye(N), "not of the differences"),
        (" + norm1(D @ x)", np.diff(np.eye(N), 2, axis=0), "not of the differences"),
        (" + norm1(D @ x)", np.array([[1.0, -1, 0, 0, 0, 0], [1, 0, -1, 0, 0, 0]]), "not along one direction"),
        (" + norm1(x[1:] - x[:-1]) + norm1(x[2:] - x[:-2])", None, "not along one direction"),
        (" + norm1(x[1:] - x[:-1])\nsubject to x >= c", None, "tells its entries apart"),
        (" + norm1(x[1:] - x[:-1])\nsubject to x[0] == 1", None, "not of the differences"),
        (" + norm1(x[1:] - x[:-1]) + group_norm(x, groups=[[0, 1], [2, 3], [4, 5]])", None, "tells its entries apart"),
        (" + norm1(x[1:] - x[:-1])\nsubject to x in box(c, 9)", None, "tells its entries apart"),
        (" + norm2(x[1:] - x[:-1])", None, "no `norm1` and no bound"),
        (" + sum(absolute(x, y)) + norm1(x[1:] - x[:-1])", None, "not differentiable"),
        (" + norm1(x)", None, "no term is of the differences"),
    ],
)
def test_what_is_no_line(tail: str, D: Any, reason: str) -> None:
    D = np.diff(np.eye(N), axis=0) if D is None else D
    with pytest.raises(PlanError, match=reason):
        fw.parse(HEAD + tail + "\n").bind(y=np.arange(float(N)), D=D, c=1.0 + np.arange(N)).solve(method="lines")


def test_other_problems_with_these_terms_are_solved_by_other_methods() -> None:
    tail = " + norm1(x[1:] - x[:-1]) + norm1(x[2:] - x[:-2])\n"
    solution = fw.parse(HEAD + tail).bind(y=np.arange(float(N)), D=np.eye(N), c=np.ones(N)).solve()
    assert solution.status == "optimal" and solution.method != "lines"
