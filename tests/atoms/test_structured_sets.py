"""Norms and sets with a structure of their own, by their definitions: k-support, groups, permutations."""

from __future__ import annotations

import itertools
import math
from decimal import Decimal, localcontext

import numpy as np
import pytest

from fwdsl.atoms.base import VectorFunction
from fwdsl.atoms.groups import is_partition
from fwdsl.atoms.matrices import build_matrix
from fwdsl.atoms.vectors import build
from fwdsl.atoms.vectors.ksupport_ball import ksupport_norm
from fwdsl.atoms.vectors.ridge import Ridged
from fwdsl.backends.functions import FastVector


def test_ksupport_norm_by_its_definition() -> None:
    """The least of sum x^2 / u over 0 <= u <= 1, sum u <= k, which is attained at u = min(alpha |x|, 1)."""
    rng = np.random.default_rng(25)
    for _ in range(40):
        x = np.round(rng.normal(0.0, 2.0, 6), 1)
        a = np.abs(x[x != 0.0])
        assert ksupport_norm(x, 1) == pytest.approx(float(a.sum()))
        assert ksupport_norm(x, 6) == pytest.approx(float(np.linalg.norm(x)))
        for k in (2, 3, 5):
            lo, hi = 0.0, 1.0 / a.min()
            for _ in range(100):
                alpha = 0.5 * (lo + hi)
                lo, hi = (lo, alpha) if np.minimum(alpha * a, 1.0).sum() > k else (alpha, hi)
            u = np.minimum(lo * a, 1.0)
            assert ksupport_norm(x, k) == pytest.approx(math.sqrt(float((a * a / u).sum())), rel=1e-9)


def naive_ksupport_projection(v: np.ndarray, k: int, r: float) -> np.ndarray:
    """x_i = v_i u_i / (u_i + lam), u = clip(alpha |v| - lam, 0, 1), sum u = k, by bisection for lam with 400 digits; for v outside of the ball."""
    with localcontext() as context:
        context.prec = 400
        a, radius = [Decimal(abs(float(e))) for e in v], Decimal(r)

        def shrunk(lam: Decimal) -> tuple[list[Decimal], Decimal]:
            before, sum_before = Decimal(0), Decimal(0)
            alpha = before
            for end in sorted(e / x for x in a if x for e in (lam, 1 + lam)):
                total = sum(max(Decimal(0), min(Decimal(1), end * x - lam)) for x in a)
                if total >= k:
                    alpha = before + (k - sum_before) * (end - before) / (total - sum_before)
                    break
                before, sum_before = end, total
            u = [max(Decimal(0), min(Decimal(1), alpha * x - lam)) for x in a]
            x = [e * w / (w + lam) if w else w for e, w in zip(a, u, strict=True)]
            return x, sum((e * e / w for e, w in zip(x, u, strict=True) if w), Decimal(0))

        lo, hi = Decimal(0), Decimal(1)
        while shrunk(hi)[1] > radius * radius:
            lo, hi = hi, 10000 * hi
        for _ in range(80):
            lam = (lo + hi) / 2
            lo, hi = (lam, hi) if shrunk(lam)[1] > radius * radius else (lo, lam)
        return np.copysign([float(e) for e in shrunk(hi)[0]], v)


def by_kernel(g: VectorFunction, v: np.ndarray) -> np.ndarray:
    out = np.empty_like(v)
    FastVector(g).prox(v, 1.0, out)
    return out


@pytest.mark.parametrize("radius", [0.5, 0.2, 1e-3, 1e-10, 1e-20, 1e-30, 1e-100, 1e-160])
def test_projections_onto_ksupport_balls_far_smaller_than_the_point(radius: float) -> None:
    rng = np.random.default_rng(26)
    for t, k in enumerate((1, 2, 3, 4, 5, 5, 3)):
        v = rng.normal(0.0, 1.0, 6)
        v = np.ones(6) if t == 5 else np.array([3.0, -1.0, 1.0, 1.0, 2.0, 0.0]) if t == 6 else v
        wanted = naive_ksupport_projection(v, k, radius)
        # a product with a power of 2 has no rounding: the projection is the same times it
        for unit in (1.0, 2.0**100, 2.0**-300):
            ball = build(None, ("ksupport_ball", {"k": k, "r": radius * unit}), 6)
            assert ball is not None
            for found in (ball.prox(unit * v, 1.0), by_kernel(ball, unit * v)):
                np.testing.assert_allclose(found / unit, wanted, rtol=1e-12, atol=1e-14 * radius)


def test_a_point_far_inside_of_a_ksupport_ball_stays() -> None:
    v = np.array([3.0, -1.0, 1.0, 1.0, 2.0, 0.0])
    for r in (1e30, 1e160, 1e300):
        ball = build(None, ("ksupport_ball", {"k": 2, "r": r}), 6)
        assert ball is not None
        np.testing.assert_array_equal(ball.prox(v, 1.0), v)
        np.testing.assert_array_equal(by_kernel(ball, v), v)


def test_groups_in_either_form() -> None:
    v = np.array([3.0, 0.0, 4.0, -1.0, 0.0])
    for groups in (np.array([0, 2, 0, 1, 1]), [[0, 2], [3, 4], [1]], [[0, 2], [], [1], [4, 3]]):
        g = build(("group_norm", 2.0, {"groups": groups}), None, 5)
        assert g is not None and g.value(v) == pytest.approx(12.0)
        assert g.describe() == "2 * group_norm(groups)"
        np.testing.assert_allclose(g.prox(v, 1.0), [1.8, 0.0, 2.4, 0.0, 0.0])
    weighted = build(None, ("group_ball", {"r": 1, "groups": [[0, 2], [3, 4, 1]], "weights": [2.0, 1.0]}), 5)
    assert weighted is not None and weighted.describe() == "group_ball(1, groups, weights=weights)"
    assert weighted.conjugate(v) == pytest.approx(2.5)
    assert is_partition([[0, 1], [2]], 3) and not is_partition([[0, 1], [1, 2]], 3) and not is_partition([[0], [2]], 3)


def test_a_birkhoff_assignment_is_the_best_of_all() -> None:
    rng = np.random.default_rng(23)
    on = build_matrix(None, ("birkhoff", {}), (6, 6))
    assert on is not None and not on.proximable
    c = rng.normal(size=(6, 6))
    best = min(sum(c[i, p[i]] for i in range(6)) for p in itertools.permutations(range(6)))
    x = on.lmo(c.reshape(-1))
    assert x is not None
    assert float(c.reshape(-1) @ x) == pytest.approx(best, rel=1e-12)
    assert on.conjugate(-c.reshape(-1)) == pytest.approx(-best, rel=1e-12)
    with pytest.raises(TypeError, match=r"rows\(simplex\(1\)\)"):
        on.prox(x, 1.0)
    # the middle of two permutations that differ in three places may move in one direction of the face, or back
    p, q = np.eye(6), np.eye(6)[[1, 2, 0, 3, 4, 5]]
    middle = 0.5 * (p + q)
    face = on.face(middle.reshape(-1))
    assert face is not None
    d = (p - q).reshape(-1)[face.free]
    np.testing.assert_allclose(face.normals @ d, 0.0, atol=1e-15)
    assert face.free.size - np.linalg.matrix_rank(face.normals) == 1
    assert build_matrix(None, ("birkhoff", {}), (1, 1)).diameter() == 0.0
    with pytest.raises(ValueError, match="square"):
        build_matrix(None, ("birkhoff", {}), (2, 3))


@pytest.mark.parametrize("kind", ["rows", "columns"])
@pytest.mark.parametrize("ridge", [0.0, 0.7])
def test_a_set_of_lines_is_projected_onto_by_the_kernel_of_a_line(kind: str, ridge: float) -> None:
    """There is no kernel for many lines of a k-support ball."""
    rng = np.random.default_rng(31)
    lines = build_matrix(None, (kind, {"set": ("ksupport_ball", {"k": 2, "r": 1.3})}), (5, 4))
    assert lines is not None and not lines.compiled
    g = Ridged(lines, ridge) if ridge else lines
    v = rng.normal(0.0, 3.0, 20)
    found = np.empty(20)
    FastVector(g).prox(v, 0.4, found)
    np.testing.assert_allclose(found, g.prox(v, 0.4), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    "on", [("simplex", {"r": 1.3}), ("l1_ball", {"r": 1.3}), ("permutahedron", {"c": np.arange(6.0)})], ids=str
)
@pytest.mark.parametrize("ridge", [0.0, 0.7])
def test_points_are_moved_alike_where_that_is_seldom(on: tuple[str, dict[str, object]], ridge: float) -> None:
    """By NumPy, or by the kernel where NumPy would go through entries one by one."""
    inner = build(None, on, 6)
    assert inner is not None and inner.vectorised == (on[0] != "permutahedron")
    g = FastVector(Ridged(inner, ridge) if ridge else inner)
    v = np.random.default_rng(8).normal(0.0, 3.0, 6)
    found, often = np.empty((2, 6))
    g.prox_seldom(v, 0.4, found)
    g.prox(v, 0.4, often)
    np.testing.assert_allclose(found, often, rtol=1e-13, atol=1e-14)
