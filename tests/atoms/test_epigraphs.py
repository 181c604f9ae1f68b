"""Epigraphs against the definitions: projections, support functions, violations, conic forms."""

from __future__ import annotations

import math
from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest

from fwdsl.atoms.base import VectorFunction
from fwdsl.atoms.epigraphs import epigraph_of
from fwdsl.atoms.epigraphs.cones import Norm1Cone, NormInfCone, SecondOrderCones
from fwdsl.atoms.epigraphs.entries import EntryEpigraphs
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses import LOSSES
from fwdsl.canon.pairs import build
from fwdsl.testing.functions import FUNCTION_CHECKS, FunctionCase, Tolerances
from fwdsl.testing.sets import conic_form_is_the_set, members_are_told, violation_is_relative_to_sizes

TARGETS = np.array([0.5, -1.0, 2.0, 0.0])
SIGNS = np.array([1.0, -1.0, 1.0, 1.0])
GROUPS = {"groups": [[0, 3], [4, 2], [1]], "weights": [1.0, 2.0, 0.5]}
LAMBDAS = {"lambdas": np.array([2.0, 1.5, 1.5, 0.25, 0.0])}


def loss(name: str, b: np.ndarray, w: float = 1.0, *p: float) -> LossFunction:
    return LossFunction(LOSSES[name], b, np.full(b.size, w), np.array(p))


SETS: dict[str, VectorFunction] = {
    "norm2": epigraph_of([build(("norm2", 1.0), None, 5)]),
    "0.3 norm2": epigraph_of([build(("norm2", 0.3), None, 5)]),
    "2 norm1": epigraph_of([build(("norm1", 2.0), None, 5)]),
    "0.5 norm_inf": epigraph_of([build(("norm_inf", 0.5), None, 5)]),
    "group_norm": epigraph_of([build(("group_norm", 1.0, GROUPS), None, 5)]),
    "sorted_l1": epigraph_of([build(("sorted_l1", 1.0, LAMBDAS), None, 5)]),
    "norm_nuc": epigraph_of([build(("norm_nuc", 1.0), None, (3, 2))]),
    "norm_spec": epigraph_of([build(("norm_spec", 1.0), None, (3, 2))]),
    "norm21": epigraph_of([build(("norm21", 1.0), None, (3, 2))]),
    "norm1_inf": epigraph_of([build(("norm1_inf", 1.0), None, (3, 2))]),
    "max_rownorm2": epigraph_of([build(("max_rownorm2", 1.0), None, (3, 2))]),
    "max_rownorm1": epigraph_of([build(("max_rownorm1", 1.0), None, (3, 2))]),
    "entropy": epigraph_of([build(("entropy", 1.0), None, 4)]),
    "quad_over_lin": epigraph_of([build(("quad_over_lin", 0.5), None, 4)]),
    "rows": SecondOrderCones(3, 2, 1.5),
    "squares": epigraph_of([loss("squared", np.zeros(4))]),
    "huber": epigraph_of([loss("huber", TARGETS, 0.5, 1.0)]),
    "logistic": epigraph_of([loss("logistic", SIGNS, 0.25)]),
    "sum": epigraph_of([build(("norm2", 1.0), None, 3), loss("squared", TARGETS[:3]), build(("norm1", 0.5), None, 2)]),
    "entries of huber": EntryEpigraphs(loss("huber", TARGETS, 0.5, 1.0), np.ones(4)),
    "entries of squared": EntryEpigraphs(loss("squared", TARGETS, 2.0), np.ones(4)),
    "entries of logistic": EntryEpigraphs(loss("logistic", SIGNS), np.ones(4)),
    "entries of poisson": EntryEpigraphs(loss("poisson", np.array([0.0, 1.0, 0.0, 3.0]), 0.5), np.ones(4)),
    "entries of quantile": EntryEpigraphs(loss("quantile", TARGETS, 1.0, 0.3), np.ones(4)),
    "log_sum_exp": epigraph_of([build(("log_sum_exp", 2.0), None, 4)]),
    "max": epigraph_of([build(("max", 0.5), None, 4)]),
}
ROOTS = Tolerances(inside=1e-12, inside_compiled=1e-14, near=1e-9, equal=1e-8, nearest=1e-9, slack=100.0)
CHECKS = (*FUNCTION_CHECKS, violation_is_relative_to_sizes, members_are_told, conic_form_is_the_set)


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_conformance(name: str, check: Callable[[FunctionCase], None]) -> None:
    check(FunctionCase(SETS[name], (SETS[name].size,), tolerances=ROOTS))


@pytest.mark.parametrize("name", ["norm2", "2 norm1", "0.5 norm_inf", "squares", "logistic", "sum"])
def test_projections_against_cvxpy(name: str) -> None:
    rng, g = np.random.default_rng(3), SETS[name]
    z = cp.Variable(g.size)
    f = {
        "norm2": lambda e: cp.norm(e, 2),
        "2 norm1": lambda e: 2 * cp.norm(e, 1),
        "0.5 norm_inf": lambda e: 0.5 * cp.norm(e, "inf"),
        "squares": cp.sum_squares,
        "logistic": lambda e: 0.25 * cp.sum(cp.logistic(-cp.multiply(SIGNS, e))),
        "sum": lambda e: cp.norm(e[:3], 2) + cp.sum_squares(e[3:6] - TARGETS[:3]) + 0.5 * cp.norm(e[6:], 1),
    }[name]
    for _ in range(3):
        v = rng.normal(0.0, 2.0, g.size)
        cp.Problem(cp.Minimize(cp.sum_squares(z - v)), [f(z[1:]) <= z[0]]).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(g.prox(v, 1.0), z.value, atol=2e-4)


@pytest.mark.parametrize(
    "made", [SecondOrderCones(1, 4), Norm1Cone(4, 2.0), NormInfCone(4, 0.5)], ids=lambda g: g.describe()
)
def test_units_leave_the_projection_as_it_is(made: VectorFunction) -> None:
    v = np.random.default_rng(5).normal(size=5)
    for unit in (1e-150, 1e-9, 1e9, 1e150):
        np.testing.assert_allclose(made.prox(unit * v, 1.0), unit * made.prox(v, 1.0), rtol=1e-12, atol=0.0)


def test_the_point_at_which_a_cone_begins() -> None:
    for made in (SecondOrderCones(1, 2), Norm1Cone(2), NormInfCone(2)):
        assert not made.prox(np.array([-3.0, 1.0, 0.5]), 1.0).any()
        assert not made.prox(np.zeros(3), 1.0).any()
        assert made.conjugate(np.array([1.0, 0.0, 0.0])) == math.inf
        assert made.conjugate(np.array([-1.0, 0.5, 0.5])) == 0.0


def test_numbers_and_vectors_without_entries() -> None:
    for made in (SecondOrderCones(1, 0), Norm1Cone(0), NormInfCone(0), epigraph_of([loss("squared", np.zeros(0))])):
        assert made.prox(np.array([-2.0]), 1.0) == pytest.approx(0.0)
        assert made.violation(np.array([0.0])) == 0.0
    assert SecondOrderCones(0, 3).prox(np.zeros(0), 1.0).size == 0


def test_bounds_of_entries_need_no_unknowns_of_their_own() -> None:
    """exp(z_i) <= t_i is a cone of three rows: entries with one target, weight and unit have one form, whatever their number."""
    form = EntryEpigraphs(loss("poisson", np.tile([0.0, 1.0], 50)), np.ones(100)).conic()
    assert form is not None and form.extra == 0
    assert [(cone.kind, cone.rows) for cone in form.cones] == [("exponential", 150), ("exponential", 150)]
