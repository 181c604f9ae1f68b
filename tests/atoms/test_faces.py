"""The face that a point is on: what is polyhedral tells one. That it is flat, and holds what is near, the public checks see."""

from __future__ import annotations

import numpy as np
import pytest

from fwdsl.atoms.base import VectorFunction
from fwdsl.atoms.matrices.lines import Lines, LinesSet
from fwdsl.atoms.vectors.max import Max
from fwdsl.atoms.vectors.simplex import Simplex
from fwdsl.atoms.vectors.solid_simplex import SolidSimplex
from fwdsl.words import SETS
from tests.atoms.pairs import Case, each_matrix, each_vector, functions, points, set_within


@each_vector
def test_polyhedral_functions_of_vectors_have_faces(case: Case) -> None:
    for g in functions(case):
        # of the norm its entries of largest size would move as one, and a hull is lifted
        if not g.polyhedral or case.norm == "norm_inf" or (case.on and SETS[case.on].written_as == "hull"):
            continue
        if type(set_within(g)).face is not VectorFunction.face:
            assert all(g.face(g.prox(v, 0.5)) is not None for v in points(case, 8))


@each_matrix
def test_polyhedral_functions_of_matrices_have_faces(case: Case) -> None:
    for g in functions(case):
        if g.polyhedral and case.norm not in ("norm_inf", "norm1_inf", "max_rownorm1") and case.on != "l1_inf_ball":
            assert all(g.face(g.prox(v, 0.5)) is not None for v in points(case, 8))


@pytest.mark.parametrize("solid", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_simplices_of_lines_are_worked_out_together(solid: bool, axis: int) -> None:
    """Projections and faces of all lines at once are those of each line."""
    rng = np.random.default_rng(7)
    shape = (9, 4) if axis == 0 else (4, 9)
    inner = SolidSimplex(4, 1.5) if solid else Simplex(4, 1.5)
    lines = LinesSet(shape, axis, inner)
    v = rng.standard_normal(shape)
    if axis == 0:
        v[0], v[1] = -1.0, [0.2, 0.1, 0.3, 0.0]
    x = lines.prox(v.reshape(-1), 1.0)
    each = [inner.prox(np.ascontiguousarray(line), 1.0) for line in lines.lines(v.reshape(-1))]
    np.testing.assert_allclose(lines.lines(x), np.array(each), atol=1e-15)
    face = lines.face(x)
    assert face is not None
    faces = [inner.face(np.ascontiguousarray(line)) for line in lines.lines(x)]
    places = np.arange(36).reshape(shape)
    own = places if axis == 0 else places.T
    assert face.free.tolist() == [p for f, line in zip(faces, own, strict=True) for p in line[f.free]]
    assert face.normals.shape == (sum(f.normals.shape[0] for f in faces), face.free.size)
    row = column = 0
    for f in faces:
        part = face.normals[row : row + f.normals.shape[0], column : column + f.free.size]
        np.testing.assert_array_equal(part, f.normals)
        row, column = row + f.normals.shape[0], column + f.free.size
    assert np.count_nonzero(face.normals) == sum(np.count_nonzero(f.normals) for f in faces)


def test_largest_entries_of_rows_are_worked_out_together() -> None:
    rng = np.random.default_rng(8)
    inner = Max(3, 0.7)
    lines = Lines((40, 3), 0, inner)
    x = rng.standard_normal(120)
    assert lines.value(x) == pytest.approx(sum(inner.value(row) for row in x.reshape(40, 3)), rel=1e-14)
    inside = 0.7 * rng.dirichlet(np.ones(3), 40).reshape(-1)
    assert lines.conjugate(inside) == 0.0
    for v in (inside + np.eye(1, 120, 7)[0] * 1e-9, inside - 2.0 * np.eye(1, 120, 7)[0], 0.0 * inside):
        assert lines.conjugate(v) == np.inf == sum(inner.conjugate(row) for row in v.reshape(40, 3))
