"""The face that a point is on, of every norm, set and pair: along it g is affine but for its curvature, and stays in the set."""

from __future__ import annotations

import numpy as np
import pytest

from fwdsl.atoms.base import Array, Face, VectorFunction
from fwdsl.atoms.vectors.ksupport_ball import ksupport_norm
from tests.atoms.pairs import Case, each_matrix, each_vector, functions, points, set_within


def along(face: Face, rng: np.random.Generator) -> Array:
    """A direction of the face."""
    d = rng.normal(size=face.free.size)
    if face.normals.size:
        d -= np.linalg.pinv(face.normals) @ (face.normals @ d)
    return d


def assert_affine(g: VectorFunction, x: Array, face: Face, step: Array) -> None:
    y = x.copy()
    y[face.free] += step
    expected = g.value(x) + float(face.slope @ step) + 0.5 * g.curvature * float(step @ step)
    assert g.violation(y) <= 1e-14
    assert g.value(y) == pytest.approx(expected, rel=1e-12, abs=1e-14)


@each_vector
def test_faces_of_vectors(case: Case) -> None:
    rng = np.random.default_rng(7)
    for g in functions(case):
        for v in points(case, 8):
            x = g.prox(v, 0.5)
            face = g.face(x)
            if face is None:
                assert not g.polyhedral or case.norm == "norm_inf" or case.on == "polytope"
                continue
            d = along(face, rng)
            gaps = [np.abs(x[face.free])[x[face.free] != 0.0], [1e-2]]
            on = set_within(g)
            if case.on == "box":
                gaps += [(x - on.lo)[face.free], (on.hi - x)[face.free]]
            elif case.on == "linf_ball":
                gaps += [on.r - np.abs(x)[face.free]]
            elif case.on in ("l2_ball", "l1_ball", "solid_simplex") and not face.normals.size:
                gaps += [[on.r - float(np.linalg.norm(x, 2 if case.on == "l2_ball" else 1))]]
            elif case.on in ("ksupport_ball", "group_ball"):
                gaps += [[on.r - (ksupport_norm(x, on.k) if case.on == "ksupport_ball" else on.norm(x))]]
            elif case.on == "halfspace" and not face.normals.size:
                gaps += [[(on.b - float(on.a @ x)) / (1.0 + np.abs(on.a).max())]]
            elif case.on == "permutahedron":
                room = np.cumsum(on.c) - np.cumsum(np.sort(x)[::-1])
                gaps += [room[room > 1e-9]]
            h = 0.1 * float(np.concatenate([np.asarray(a, dtype=float) for a in gaps]).min()) / (1.0 + np.abs(d).sum())
            # a step that can be told from rounding: a face that forgot a bound of the set would leave none
            assert h > 1e-10 or not face.free.size
            assert_affine(g, x, face, h * d)


@each_matrix
def test_faces_of_matrices(case: Case) -> None:
    rng = np.random.default_rng(7)
    for g in functions(case):
        for v in points(case, 8):
            x = g.prox(v, 0.5)
            face = g.face(x)
            if face is None:
                assert not g.polyhedral or case.norm in ("norm_inf", "norm1_inf") or case.on == "l1_inf_ball"
                continue
            d = along(face, rng)
            h = 1e-7 * min(1.0, float(np.abs(x[x != 0.0]).min(initial=1.0))) / (1.0 + np.abs(d).sum())
            assert_affine(g, x, face, h * d)
