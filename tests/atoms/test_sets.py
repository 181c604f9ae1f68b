"""Every set: linear minimisation against a linear program and the support function, membership, diameters."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from fwdsl.atoms.vectors import SETS, build
from fwdsl.testing import check_set
from fwdsl.testing.functions import FunctionCase
from fwdsl.testing.sets import SET_CHECKS
from tests.atoms.pairs import OF_VECTORS, SIZE, Case, checked, each_set, each_vector_set, points, sets


@each_set
@pytest.mark.parametrize("check", SET_CHECKS, ids=lambda check: check.__name__)
def test_sets(case: Case, check: Callable[[FunctionCase], None]) -> None:
    for one in checked(case, ridge=False):
        check(one)


@pytest.mark.parametrize("name", OF_VECTORS)
def test_the_public_check_takes_our_sets(name: str) -> None:
    """With their records."""
    check_set(SETS[name], *OF_VECTORS[name][:1])


def inequalities(on: Any) -> dict[str, Any]:
    """The polytope for scipy's LP, in x = p - q with p, q >= 0 (so that norms are sums)."""
    d, name = on.size, on.pair[1]
    if name in ("l1_ball", "solid_simplex", "simplex"):
        rows = np.ones((1, 2 * d))
        return {"A_ub": rows, "b_ub": [on.r]} if name != "simplex" else {"A_eq": rows, "b_eq": [on.r]}
    if name == "affine":
        return {"A_eq": np.hstack([on.A, -on.A]), "b_eq": on.b}
    if name == "permutahedron":
        # every subset of k entries sums to at most the k largest of c
        subsets = np.array(list(itertools.product([0.0, 1.0], repeat=d)))
        most = np.concatenate([[0.0], np.cumsum(on.c)])[subsets.sum(axis=1).astype(int)]
        both = np.hstack([subsets, -subsets])
        return {"A_ub": both[:-1], "b_ub": most[:-1], "A_eq": both[-1:], "b_eq": most[-1:]}
    lo, hi = (np.full(d, -on.r), np.full(d, on.r)) if name == "linf_ball" else (on.lo, on.hi)
    both = np.hstack([np.eye(d), -np.eye(d)])
    return {"A_ub": np.vstack([both, -both]), "b_ub": np.concatenate([hi, -lo])}


@each_vector_set
def test_lmo_against_a_linear_program(case: Case) -> None:
    for on in sets(case):
        for c in points(case, 9):
            x = on.lmo(c)
            assert (x is None) == (not math.isfinite(on.radius()))
            if x is None:
                continue
            if case.on == "polytope":
                assert float(c @ x) == min(float(c @ vertex) for vertex in on.V)
            elif on.polyhedral:
                top = None if case.on not in ("simplex", "solid_simplex") else 0.0
                bounds = [(0.0, None)] * SIZE + [(0.0, top)] * SIZE
                found = linprog(np.concatenate([c, -c]), **inequalities(on), bounds=bounds)
                assert float(c @ x) == pytest.approx(found.fun, abs=1e-7 * (1 + np.abs(c).sum()))
                assert on.vertex_id(c) is not None


def test_diameter_is_attained_by_vertices() -> None:
    eye = np.eye(SIZE)
    for name in ("l1_ball", "linf_ball", "l2_ball", "simplex", "solid_simplex"):
        on = next(sets(Case(None, name)))
        vertices = [x for c in (*eye, *-eye, np.ones(SIZE), -np.ones(SIZE)) if (x := on.lmo(c)) is not None]
        longest = max(float(np.linalg.norm(x - y)) for x in vertices for y in vertices)
        assert longest == pytest.approx(on.diameter())
        assert max(float(np.linalg.norm(x)) for x in vertices) == pytest.approx(on.radius())


def test_violation_is_relative_to_the_size_of_the_terms() -> None:
    for unit in (1.0, 1e-9, 1e9):
        ball, box, simplex = (
            build(None, spec, 2)
            for spec in (
                ("l1_ball", {"r": 3.0 * unit}),
                ("box", {"lo": unit, "hi": np.inf}),
                ("simplex", {"r": unit}),
            )
        )
        assert ball.violation(unit * np.array([2.0, -2.0])) == pytest.approx(1.0 / 7.0)
        assert ball.violation(unit * np.array([2.0, -2.0]), unit * np.array([4.0, 3.0])) == pytest.approx(1.0 / 10.0)
        assert box.violation(unit * np.array([-3.0, 9.0])) == pytest.approx(4.0 / 10.0)
        assert box.violation(unit * np.array([-3.0, 9.0]), unit * np.array([4.0, 9.0])) == pytest.approx(4.0 / 5.0)
        assert simplex.violation(unit * np.array([0.25, 0.25])) == pytest.approx(0.5 / 1.5)
        # entries of one vector have one unit, so none is compared with itself alone
        assert build(None, ("nonnegative", {}), 2).violation(unit * np.array([5.0, -1.0])) == pytest.approx(0.2)
