"""Every set by the public checks; vertices, diameters, and the sizes that violations are relative to."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable

import numpy as np
import pytest

from fwdsl import words
from fwdsl.atoms.vectors import SETS, build
from fwdsl.atoms.vectors.box import Box
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


@pytest.mark.parametrize("name", [name for name, word in words.SETS.items() if word.written_as == "hull"])
def test_the_best_vertex_of_a_hull(name: str) -> None:
    """Their programs, of one unknown a vertex, have no conic form here."""
    case = Case(None, name)
    for on in sets(case):
        for c in points(case, 9):
            assert float(c @ on.lmo(c)) == min(float(c @ vertex) for vertex in on.V)  # type: ignore[attr-defined]


@each_vector_set
def test_vertices_of_bounded_polyhedra_have_names(case: Case) -> None:
    for on in sets(case):
        if on.polyhedral and math.isfinite(on.radius()):
            assert all(on.vertex_id(c) is not None for c in points(case, 9))


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


def test_the_radius_of_a_box_does_not_overflow() -> None:
    box = Box(2, np.full(2, -1e300), np.full(2, 1e300))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert box.radius() == pytest.approx(math.sqrt(2.0) * 1e300)
        assert box.diameter() == pytest.approx(2.0 * math.sqrt(2.0) * 1e300)
