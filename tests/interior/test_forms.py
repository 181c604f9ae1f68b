"""The conic forms of atoms against their definitions, and of whole problems against the canonical form."""

from __future__ import annotations

import math

import cvxpy as cp
import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.base import Array
from fwdsl.atoms.conic import Conic, MatrixEntries
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses import LOSSES
from fwdsl.atoms.losses.multiclass_hinge import MulticlassHinge
from fwdsl.atoms.losses.softmax import Softmax
from fwdsl.atoms.losses.weston_watkins import WestonWatkins
from fwdsl.atoms.matrices.birkhoff import Birkhoff
from fwdsl.atoms.vector_loss import VectorLoss, VectorLossFunction
from fwdsl.testing.losses import loss_case
from tests.atoms.pairs import Case, each_matrix, each_vector, functions
from tests.corpus import corpus

PRECISE = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def dense(entries: MatrixEntries, shape: tuple[int, int]) -> Array:
    out = np.zeros(shape)
    np.add.at(out, (entries.row, entries.column), entries.value)
    return out


def least(form: Conic, z: Array) -> float:
    """The least value over the form's own unknowns, by cvxpy; inf where there are none."""
    a, c, d, e = (
        np.broadcast_to(np.asarray(v, dtype=float), (size,))
        for v, size in (
            (form.curvature, form.size),
            (form.slope, form.size),
            (form.extra_curvature, form.extra),
            (form.extra_slope, form.extra),
        )
    )
    m = form.offset.size
    rows = dense(form.of_z, (m, form.size)) @ z + form.offset
    u = cp.Variable(form.extra) if form.extra else None
    if u is not None:
        rows = rows + dense(form.of_u, (m, form.extra)) @ u
    rows = cp.Constant(np.zeros(0)) if m == 0 else cp.reshape(rows, (m,), order="C")
    constraints, at = [], 0
    for cone in form.cones:
        kind, size = cone.kind, cone.rows
        part = rows[at : at + size]
        if kind == "zero":
            constraints.append(part == 0)
        elif kind == "nonnegative":
            constraints.append(part >= 0)
        elif kind == "second_order":
            constraints.append(cp.SOC(part[0], part[1:]) if size > 1 else part[0] >= 0)
        elif kind == "exponential":
            constraints.append(cp.ExpCone(part[::3], part[1::3], part[2::3]))
        elif kind == "power":
            constraints.append(cp.PowCone3D(part[::3], part[1::3], part[2::3], cone.power))
        else:
            order = (math.isqrt(8 * size + 1) - 1) // 2
            M = cp.Variable((order, order), symmetric=True)
            i, j = np.triu_indices(order)
            weights = np.where(i == j, 1.0, math.sqrt(2.0))
            constraints += [M >> 0, *(weights[k] * M[i[k], j[k]] == part[k] for k in range(size))]
        at += size
    fixed = form.constant + 0.5 * float(a @ z**2) + float(c @ z)
    price = 0.0 if u is None else 0.5 * cp.sum(cp.multiply(d, cp.square(u))) + e @ u
    problem = cp.Problem(cp.Minimize(price), constraints)
    problem.solve(solver=cp.CLARABEL, **PRECISE)
    return fixed + float(problem.value) if problem.status.startswith("optimal") else math.inf


def check(case: Case, seed: int) -> None:
    """At a point of the domain, and at one that is outside where there is an outside. Sets without an interior are left to other tests."""
    rng = np.random.default_rng(seed)
    found = False
    for g in functions(case):
        form = g.conic()
        if form is None or g.radius() < 1e-3:
            continue
        found = True
        inside = g.prox(symmetric(case, rng.normal(size=g.size)), 1.0)
        assert least(form, inside) == pytest.approx(g.value(inside), rel=1e-5, abs=1e-5)
        outside = symmetric(case, 4.0 * rng.normal(size=g.size))
        expected = math.inf if g.violation(outside) > 0.05 else g.value(outside)
        if not 0.0 < g.violation(outside) <= 0.05:
            assert least(form, outside) == pytest.approx(expected, rel=1e-5, abs=1e-5)
    assert found or not conic_by_its_words(case)


def symmetric(case: Case, x: Array) -> Array:
    """The symmetric part, where the function is of symmetric matrices."""
    if not case.symmetric:
        return x
    X = x.reshape(case.shape)
    return np.asarray(0.5 * (X + X.T)).reshape(-1)


def conic_by_its_words(case: Case) -> bool:
    """Polyhedral sets of few rows and plain norms have conic forms; spectra of singular values and sums over the k largest have none."""
    return case.norm in (None, "norm1", "norm2", "norm_inf") and case.on in (None, "nonnegative", "box", "l1_ball")


@each_vector
def test_functions_of_vectors(case: Case) -> None:
    check(case, 1)


@each_matrix
def test_functions_of_matrices(case: Case) -> None:
    check(case, 2)


@pytest.mark.parametrize("name", [name for name, loss in LOSSES.items() if loss.conic is not None])
def test_losses(name: str) -> None:
    """Weights that differ, one of them 0."""
    loss = LOSSES[name]
    rng = np.random.default_rng(3)
    case = loss_case(
        loss, None if loss.word.entrywise or loss.word.nonnegative_target else (0.3,) * len(loss.word.options)
    )
    live = np.flatnonzero((case.f.b != 0.0) | loss.word.entrywise)[:4]
    f = LossFunction(loss, case.f.b[live], np.array([1.0, 0.5, 0.0, 2.0]), case.f.p)
    form = f.conic()
    assert form is not None
    for z in rng.normal(size=(3, 4)) * 2.0:
        if loss.has_domain:
            z = np.abs(z)
        assert least(form, z) == pytest.approx(f.value(z), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("loss", [MulticlassHinge, Softmax, WestonWatkins])
def test_losses_of_rows(loss: type[VectorLoss]) -> None:
    rng = np.random.default_rng(4)
    f = VectorLossFunction(loss, np.array([0, 2, 1]), np.array([1.0, 0.0, 2.0]), 3)
    form = f.conic()
    assert form is not None
    for z in rng.normal(size=(3, 9)):
        assert least(form, z) == pytest.approx(f.value(z), rel=1e-6, abs=1e-6)


def test_birkhoff() -> None:
    """At a point of the polytope, and at points that miss a sum, or that have the sums and a negative entry."""
    form = Birkhoff((4, 4)).conic()
    rng = np.random.default_rng(6)
    inside = sum(w * np.eye(4)[rng.permutation(4)] for w in (0.5, 0.3, 0.2))
    turned = np.zeros((4, 4))
    turned[:2, :2] = [[1.0, -1.0], [-1.0, 1.0]]
    assert least(form, np.ravel(inside)) == pytest.approx(0.0, abs=1e-6)
    assert least(form, np.ravel(1.1 * inside)) == math.inf
    assert least(form, np.ravel(inside + 2.0 * turned)) == math.inf


@pytest.mark.parametrize("program", corpus()[::5], ids=lambda p: p.name)
def test_unknowns_with_an_owner_see_no_other_entry(program) -> None:  # type: ignore[no-untyped-def]
    """And unknowns without one stand beside the entry, by one number in all of its rows."""
    for form in fw.parse(program.text).bind(**program.data).canonical.dense.conics:
        if form is None or not form.owned:
            continue
        touched = np.full(form.offset.size, -1)
        touched[form.of_u.row] = form.owner[form.of_u.column]
        np.maximum.at(touched, form.heads[form.of_u.row], form.owner[form.of_u.column])
        touched = touched[form.heads]
        theirs = form.owner[form.of_u.column] >= 0
        assert np.array_equal(touched[form.of_u.row][theirs], form.owner[form.of_u.column][theirs])
        F, G = np.zeros(form.offset.size), np.zeros((form.offset.size, form.extra))
        np.add.at(F, form.of_z.row, form.of_z.value)
        np.add.at(G, (form.of_u.row, form.of_u.column), form.of_u.value)
        for i in np.unique(touched[touched >= 0]):
            rows, shared = touched == i, G[touched == i][:, form.owner < 0]
            assert np.linalg.matrix_rank(np.column_stack([F[rows], shared])) <= max(1, np.any(F[rows]))
        seen = touched[form.of_z.row] >= 0
        assert np.array_equal(touched[form.of_z.row][seen], form.of_z.column[seen])
        kinds = np.concatenate([[cone.kind] * cone.rows for cone in form.cones])
        assert set(kinds[touched >= 0]) <= {"nonnegative", "exponential", "power"}
