"""Conjugates of every norm, set and pair: bounds, domains, infima; dual norms."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fwdsl.atoms.matrices import DUAL_NORMS, dual_norm
from fwdsl.atoms.vectors.common import scale_into
from tests.atoms.pairs import Case, each, functions, points, primal_norm


@each
def test_conjugate_bounds_every_feasible_point(case: Case) -> None:
    """<v, x> - g(x) <= g*(v) for x in the domain; that the prox finds an x with equality, Moreau's identity tells."""
    for g in functions(case):
        feasible = [g.prox(v, 1.0) for v in points(case, 3)]
        for v in points(case, 4):
            v = g.dual_project(v)
            bound = g.conjugate(v)
            for x in feasible:
                assert float(v @ x) - g.value(x) <= bound + 1e-12 * (1 + abs(bound) + np.abs(v).max() * np.abs(x).max())


@each
def test_domain_of_the_conjugate(case: Case) -> None:
    allowed = 1e-11 if case.matrix else 1e-12
    for g in functions(case):
        for v in points(case, 5, many=True):
            s = g.dual_scale(v)
            assert 0.0 <= s <= 1.0
            projected = g.dual_project(v)
            assert math.isfinite(g.conjugate(s * v)) and math.isfinite(g.conjugate(projected))
            assert (s == 1.0) == math.isfinite(g.conjugate(v))
            if s < 1.0:
                assert g.conjugate(min(1.0, s * (1 + 1e-9) + 1e-12) * v) == math.inf
            # the projection is nearest: <v - Pv, w - Pv> <= 0 for w in the domain
            for w in (np.zeros(g.size), s * v, g.dual_project(-v), g.dual_project(v[::-1].copy())):
                assert float((v - projected) @ (w - projected)) <= allowed * (1 + float(v @ v))


@each
def test_infimum_coercivity_and_radius(case: Case) -> None:
    for g in functions(case):
        lowest = g.infimum()
        coercive = g.coercive()
        assert lowest == pytest.approx(-g.conjugate(np.zeros(g.size)), abs=1e-12)
        for v in points(case, 6):
            x = g.prox(v, 1.0)
            assert g.value(x) >= lowest - 1e-12 * (1 + abs(lowest))
            if coercive is not None:
                c, dual = coercive
                assert g.value(x) >= c * primal_norm(dual, x, case.shape) - 1e-12
            assert np.linalg.norm(x) <= g.radius() * (1 + 1e-12)
        assert g.value(g.prox(np.zeros(g.size), 1e6)) == pytest.approx(lowest, abs=1e-4)


@pytest.mark.parametrize("name", DUAL_NORMS)
def test_dual_norms_are_dual(name: str) -> None:
    """<u, x> <= |u|_* |x|, and some x of the random ones comes near."""
    rng = np.random.default_rng(21)
    shape, best = (2, 3), 0.0
    for _ in range(200):
        u = rng.normal(size=6)
        bound = dual_norm(name, u, shape)
        x = rng.normal(size=6)
        if name in ("nuclear", "spectral"):
            left, _, right = np.linalg.svd(u.reshape(shape), full_matrices=False)
            x = (left @ right if name == "nuclear" else np.outer(left[:, 0], right[0])).reshape(-1)
        ratio = float(u @ x) / (bound * primal_norm(name, x, shape))
        assert ratio <= 1.0 + 1e-12
        best = max(best, ratio)
    assert best > 0.6
    assert dual_norm("l2", np.array([3.0, 4.0]), (2,)) == pytest.approx(5.0)
    assert dual_norm("l1inf", np.array([3.0, -4.0]), (2,)) == pytest.approx(7.0)


def test_scaling_into_a_domain_gives_way_to_rounding_only() -> None:
    v = np.array([1.0])
    assert scale_into(lambda u: bool(u[0] <= 0.5), v, 0.5) == 0.5
    for ulps in (1, 7, 100):
        reached = scale_into(lambda u, most=0.5 * (1 - ulps * 2.0**-52): bool(u[0] <= most), v, 0.5)
        assert 0.5 * (1 - 2.0 * (ulps + 1) * 2.0**-52) <= reached <= 0.5 * (1 - ulps * 2.0**-52)
    assert scale_into(lambda u: False, v, 0.5) == 0.0
