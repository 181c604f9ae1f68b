"""Multipliers of a norm on a set are read from the part of its subgradient that is normal to the set."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fwdsl.atoms.vectors import Ridged, build
from fwdsl.words import SETS
from tests.atoms.pairs import PROXIMABLE, VECTORS, Case, functions, points, sets

CASES = [*VECTORS, *PROXIMABLE]
JOINT = [case for case in CASES if case.norm is not None and case.on is not None]
SCALED = [case for case in CASES if case.norm is None and case.on is not None and SETS[case.on].scaled]


@pytest.mark.parametrize("case", JOINT, ids=str)
def test_the_normal_part_is_a_normal_and_the_rest_a_subgradient(case: Case) -> None:
    """At x = prox(v) of g, v - x is a subgradient of g: n of it supports the set at x, and the rest the norm."""
    for g in functions(case):
        on = g.set_beneath()
        assert on is not None
        for v in points(case, 11):
            x = g.prox(v, 1.0)
            rest = v - x
            normal = g.normal_part(x, rest)
            rounding = (1e-7 if case.matrix else 1e-9) * (1.0 + float(np.abs(v).max(initial=0.0)) ** 2 * v.size)
            support = on.conjugate(on.dual_project(normal))
            assert np.abs(normal - on.dual_project(normal)).max(initial=0.0) <= rounding
            assert support - float(normal @ x) <= rounding
            # <rest - n, y - x> <= g(y) - g(x) for y in the set
            for w in points(case, 12):
                y = on.prox(w, 1.0)
                assert float((rest - normal) @ (y - x)) <= g.value(y) - g.value(x) + rounding


@pytest.mark.parametrize("case", SCALED, ids=str)
def test_a_radius_scales_the_support_function(case: Case) -> None:
    for g in sets(case):
        assert math.isfinite(g.scale)
        for v in points(case, 13):
            assert g.of_radius(3.0).conjugate(v) == pytest.approx(3.0 * g.of_radius(1.0).conjugate(v), rel=1e-12)
            assert g.of_radius(g.scale).conjugate(v) == g.conjugate(v)


def test_a_ridge_takes_its_gradient_off() -> None:
    on = build(None, ("l2_ball", {"r": 1.0}), 3)
    assert on is not None
    x = np.array([0.6, 0.8, 0.0])
    assert np.allclose(Ridged(on, 2.0).normal_part(x, 5.0 * x), x)
