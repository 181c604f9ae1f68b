"""The face that a point is on: what is polyhedral tells one. That it is flat, and holds what is near, the public checks see."""

from __future__ import annotations

from fwdsl.atoms.base import VectorFunction
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
