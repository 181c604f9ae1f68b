"""Every set: linear minimisation against a linear program and the support function, gauges, membership, diameters."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from fwdsl.atoms.base import Array
from fwdsl.atoms.matrices import Eigen
from fwdsl.atoms.vectors import ConvexSet, build
from tests.atoms.pairs import SIZE, Case, each_matrix_set, each_set, each_vector_set, points, rounding, sets


def inside(on: ConvexSet, v: Array) -> Array:
    """A point of the set: the projection, or where there is none the middle of two vertices."""
    if on.proximable:
        return on.prox(v, 1.0)
    a, b = on.lmo(v), on.lmo(-v[::-1])
    assert a is not None and b is not None
    return 0.5 * (a + b)


@each_set
def test_lmo_attains_the_support_function(case: Case) -> None:
    for on in sets(case):
        feasible = [inside(on, v) for v in points(case, 11)]
        for c in points(case, 9):
            x = on.lmo(c)
            assert (x is None) == (not math.isfinite(on.radius()))
            if x is None:
                continue
            assert on.violation(x) <= rounding(case)
            best = float(c @ x)
            assert best == pytest.approx(-on.conjugate(-c), abs=1e-12 * (1 + np.abs(c).sum() * np.abs(x).max()))
            assert all(best <= float(c @ y) + 1e-11 * (1 + np.abs(c).sum()) for y in feasible)
            named = on.vertex_id(c)
            if named is not None:
                hash(named)
                for other in points(case, 10):
                    if on.vertex_id(other) == named:
                        np.testing.assert_array_equal(on.lmo(other), x)


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


@each_vector_set
def test_gauge_membership_and_diameter_of_vectors(case: Case) -> None:
    for on in sets(case):
        reached = 0.0
        feasible = [on.prox(v, 1.0) for v in points(case, 11)]
        for x in feasible:
            assert on.contains(x, rounding(case))
            assert on.gauge(x) <= 1.0 + (1e-9 if case.on == "polytope" else 1e-12)
            for y in feasible:
                reached = max(reached, float(np.linalg.norm(x - y)))
        assert reached <= on.diameter() * (1 + 1e-12) + 1e-14
        for v in points(case, 12):
            s = on.gauge(v)
            if 0.0 < s < math.inf:
                assert on.contains(v / s, 1e-8 if case.on == "polytope" else 1e-12)
                assert not on.contains(v / (s * (1 - 1e-3)), 1e-9) or case.on == "simplex"
            elif s == math.inf:
                assert not any(on.contains(v / k, 1e-12) for k in (0.1, 1.0, 10.0))
        unbounded = (None, "nonnegative", "box", "halfspace", "affine")
        assert not on.contains(feasible[0] + 1e3, 1e-3) or case.on in unbounded


@each_matrix_set
def test_gauge_membership_and_diameter_of_matrices(case: Case) -> None:
    for on in sets(case):
        reached = 0.0
        feasible = [inside(on, v) for v in points(case, 11)]
        flat = case.on == "birkhoff" or "simplex" in on.describe() or case.on == "spectrahedron"
        for x in feasible:
            assert on.contains(x, 5e-15)
            assert on.gauge(np.maximum(x, 0.0) if "simplex" in str(case.on) else x) <= 1.0 + 1e-12 or isinstance(
                on, Eigen
            )
            reached = max(reached, *(float(np.linalg.norm(x - y)) for y in feasible))
        assert reached <= on.diameter() * (1 + 1e-12)
        for v in points(case, 12):
            s = on.gauge(v)
            if 0.0 < s < math.inf:
                assert on.contains(v / s, 1e-12) or flat
                assert not on.contains(v / (s * (1 - 1e-3)), 1e-9) or flat
        assert (
            not on.contains(feasible[0] + 1e3, 1e-3) or case.on in ("nonnegative", "psd") or "nonneg" in on.describe()
        )


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
