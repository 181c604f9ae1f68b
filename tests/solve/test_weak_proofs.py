"""Contradictions and falls that rounding of the data could explain: proven where they are exact in rational numbers, and not otherwise."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.certify.farkas import infeasible
from fwdsl.certify.rationals import exact_adjoint, exact_products, in_whole_numbers
from fwdsl.certify.rays import unbounded


def ended(E: object, e: object, objective: str) -> str:
    text = f"data E: matrix[m, n], e: vector[m]\nvar x: vector[n]\nminimize {objective}\nsubject to E @ x == e"
    values = {"E": np.array(E, dtype=float), "e": np.array(e, dtype=float)}
    return str(fw.parse(text).bind(**values).solve(threads=1, max_iter=2000).status)


NEARLY_EQUAL = [
    ([[3, 1], [1, 1 / 3]], [4, 1.3333333466666666]),  # (240191980, -720575936) meets both rows exactly
    ([[1, 0.3], [0.7, 0.21]], [1, 0.7 * (1 + 1e-8)]),
]
"""Systems of which a solution exists far out, though the rows are multiples of each other but for rounding."""


@pytest.mark.parametrize(("E", "e"), NEARLY_EQUAL)
def test_rows_that_are_equal_but_for_rounding_prove_nothing(E: object, e: object) -> None:
    assert ended(E, e, "norm1(x)") != "infeasible"


@pytest.mark.parametrize(
    ("E", "e"),
    [
        ([[1, 2], [1, 2]], [1, 1 + 1e-7]),
        ([[3, 6], [1, 2]], [4, 4 / 3 * (1 + 1e-6)]),
        ([[0.3, 0.7], [0.3, 0.7]], [1, 1 + 1e-7]),
        ([[3, 1], [1, 1 / 3]], [4, 1.5]),  # far enough apart whatever the rounding
    ],
)
def test_rows_that_are_exactly_equal_do(E: object, e: object) -> None:
    assert ended(E, e, "norm1(x)") == "infeasible"


def test_a_fall_along_a_direction_that_only_rounding_allows_is_none() -> None:
    falls = "-(3 + 3e-8) * x[0] - x[1]"
    assert ended([[3, 1], [1, 1 / 3]], [0, 0], falls) != "unbounded"  # x = 0 alone is feasible
    assert ended([[3, 1], [3, 1]], [0, 0], falls) == "unbounded"


@pytest.mark.parametrize("e", [1e-12, 1e-9, 1e-7])
@pytest.mark.parametrize("norm", ["norm2(hstack(x, 1))", "group_norm(hstack(x, 1), [[0, 1]])"])
def test_a_multiplier_that_lengths_lose_in_their_rounding_proves_nothing(norm: str, e: float) -> None:
    """|(x, 1)| <= e - x has solutions far out. (1, -1, d) leaves the dual cone by d^2 / 2 alone, and d carries the contradiction."""
    text = f"param e: real\nvar x: real, y: real\nminimize -x\nsubject to {norm} <= y, y == -x + e\n"
    for method, limit in (("interior", 200), ("pdhg", 3000)):
        found = fw.parse(text).bind(e=e).solve(threads=1, method=method, max_iter=limit)
        assert found.status != "infeasible"


CURVED = [
    "norm2(x) <= x[0]",
    "norm2(hstack(x, s)) <= t, t == x[0]",
    "norm_p(x, 3) <= x[0]",
    "norm2(x) + norm1(s) <= x[0]",
    "quad_over_lin(x[1], x[0]) <= t, t <= 0",
    "norm_spec(vstack(x, x)) <= 1.4142135623730951 * x[0]",
    "max_rownorm2(vstack(x, x)) <= x[0]",
]
"""Constraints that leave x[1] = 0 alone, which a length, or an eigenvalue, does not see where x[0] is large."""


@pytest.mark.parametrize("constraint", CURVED)
def test_a_fall_along_the_edge_of_a_cone_that_rounding_hides_is_none(constraint: str) -> None:
    """Along (1, 1e-8) the length grows by 5e-17 more than the bound, and the objective falls by 1e-8."""
    text = f"var x: vector[2], s: real, t: real\nminimize -x[1]\nsubject to {constraint}\n"
    found = fw.parse(text).bind().solve(method="interior", time=5.0)
    assert found.status != "unbounded"
    assert found.certificate.kind != "estimate"


@pytest.mark.parametrize(
    ("p", "e", "times", "falls"), [(3, 3e-6, 1, False), (6, 2e-3, 1, False), (3, 0.1, 1.001, True)]
)
def test_a_part_that_a_flat_length_does_not_see_proves_no_fall(p: int, e: float, times: float, falls: bool) -> None:
    """|(1, e)|_p is about e^p / p more than 1, of which rounding hides far larger e than of a Euclidean length."""
    text = f"var x: vector[2]\nminimize -x[1]\nsubject to norm_p(x, {p}) <= {times} * x[0]\n"
    form = fw.parse(text).bind().canonical
    found = unbounded(form, np.array([1.0, e]), lambda: [np.zeros(2)])
    assert (found is not None) is falls


def test_a_fall_into_a_cone_is_one() -> None:
    for constraint in ("norm2(x) <= 2 * x[0]", "norm2(hstack(x, 1)) <= 3 * x[0]"):
        text = f"var x: vector[2]\nminimize -x[1]\nsubject to {constraint}\n"
        assert fw.parse(text).bind().solve(method="interior").status == "unbounded"


@pytest.mark.parametrize(
    ("constraint", "at", "holds"),
    [
        ("norm2(x[0:2]) <= x[0], x[1] >= 1", [1e9, 1.0, 0.0], False),
        ("norm2(x[0:2]) <= x[0] + 1, x[1] >= 1", [1e9, 1.0, 0.0], True),
        ("norm2(x[0:2]) <= x[0] + 1, x[1] >= 1", [10.0, 1.0, 0.0], True),
        ("norm2(x[0:2]) <= x[0], x[1] == 0, x[0] >= 1", [10.0, 0.0, 0.0], True),
        ("exp(x[0]) <= 0", [-800.0, 0.0, 0.0], False),
        ("exp(x[0]) <= 1e-3", [-8.0, 0.0, 0.0], True),
        ("lambda_min(x[0] * P + x[1] * Q) >= 0, x[1] >= 1", [1e13, 1.0, 0.0], False),
    ],
)
def test_a_point_far_out_on_the_edge_of_a_cone_is_not_feasible(constraint: str, at: list[float], holds: bool) -> None:
    """A point that is near a set far out need not show that it has any: |(x, 1)| <= x has no point, and all x from 1e8 on seem to be some."""
    data = "data P: symmetric[2] = [[1, 0], [0, 0]], Q: symmetric[2] = [[0, 1], [1, 0]]\n" if "Q" in constraint else ""
    problem = fw.parse(f"{data}var x: vector[3]\nminimize x[2]\nsubject to {constraint}\n").bind()
    form = getattr(problem.canonical, "outer", problem.canonical)
    found = unbounded(form, np.array([0.0, 0.0, -1.0]), lambda: [np.array(at)])
    assert (found is not None) is holds


def test_rows_that_contradict_each_other_by_little_leave_no_point_to_fall_from() -> None:
    """The first and the last row are 1e-9 of their constants apart, and along (1, 1) nothing stops the objective."""
    text = "data A: matrix[m, 2], b: vector[m]\nvar x: vector[2]\nminimize -x[0]\nsubject to A @ x <= b"
    A = np.array([[-2.0, 2.0], [1.0, -3.0], [2.0, -2.0]])
    ended = {d: fw.parse(text).bind(A=A, b=np.array([10.0, -9.0, -10.0 - d])).solve().status for d in (0.0, 1e-8)}
    assert ended[1e-8] != "unbounded"
    assert ended[0.0] == "unbounded"


@pytest.mark.parametrize("small", [1e-13, 1e-15])
def test_a_row_that_is_small_beside_others_stops_a_fall(small: float) -> None:
    """Along x the first row is free, and the second one's square stops the fall, however far out."""
    text = "data A: matrix[m, 1]\nvar x: vector[1]\nminimize sum(square_pos(A @ x)) - 1e-3 * sum(x)"
    form = fw.parse(text).bind(A=np.array([[-1.0], [small]])).canonical
    assert unbounded(form, np.ones(1), lambda: [np.zeros(1)]) is None
    free = fw.parse(text).bind(A=np.array([[-1.0], [0.0]])).canonical
    assert unbounded(free, np.ones(1), lambda: [np.zeros(1)]) is not None


def test_a_constraint_with_a_small_multiplier_is_not_contradicted_by_what_larger_ones_miss() -> None:
    """The geometric mean is at least the mean at x = (1, 1) alone, and 1e-12 is the multiplier of x[0] >= 1."""
    text = "var x: vector[2]\nminimize -x[0]\nsubject to geo_mean(x) >= sum(x) / 2, x[0] >= 1"
    problem = fw.parse(text).bind()
    d = 5.25e-13
    near = [np.array([-1.0, -0.5 + d, -0.5 - d]), np.array([-2.0 * d])]
    assert infeasible(problem.canonical.outer, near) is None
    assert problem.solve(method="interior", time=5.0).status != "infeasible"


def test_rounding_of_logarithms_contradicts_nothing() -> None:
    """The entropy of a share that is 1 but for rounding is rounding."""
    text = "var x: vector[2]\nminimize -x[1]\nsubject to log_sum_exp(x) <= x[0]"
    form = fw.parse(text).bind().canonical
    assert infeasible(form, [np.array([-1.0, np.nextafter(1.0, 0.0), 0.0])]) is None


def test_multipliers_without_measure_do_not_make_a_gap_small() -> None:
    """x[0] = x[1] is all that is feasible, and has no interior: multipliers may be anything, and the optimum is 0."""
    text = "var x: vector[2]\nminimize x[1] - x[0]\nsubject to geo_mean(x) >= sum(x) / 2, x[0] >= 1"
    found = fw.parse(text).bind().solve(method="interior", time=5.0)
    size = float(np.abs(found["x"]).sum())
    # what the objective gains by the rounding of the constraint far out is seen by no machine: it may lie below the bound
    assert found.status != "optimal" or max(found.objective, found.dual_bound) <= 1e-9 * size
    assert found.status != "optimal" or found.certificate.gap <= 1e-9 * size


def test_products_in_rational_numbers() -> None:
    rng = np.random.default_rng(0)
    A, x = rng.normal(size=(4, 3)), rng.normal(size=3)
    text = "data A: matrix[m, n]\nvar x: vector[n]\nminimize norm1(x)\nsubject to A @ x <= 1"
    form = fw.parse(text).bind(A=A).canonical
    y = [rng.normal(size=t.map.rows) for t in form.terms]
    plain = np.zeros(form.size)
    for term, yi in zip(form.terms, y, strict=True):
        term.map.adjoint(yi, plain)
    np.testing.assert_allclose(exact_adjoint(form, y), plain, rtol=1e-12)
    for term, z in zip(form.terms, exact_products(form, x), strict=True):
        np.testing.assert_allclose(z, term.map.linear(x), rtol=1e-12)
    third = fw.parse(text).bind(A=np.array([[3.0, 1.0], [1.0, 1 / 3]])).canonical
    left = exact_adjoint(third, [np.array([1.0, -3.0])])
    assert left[0] == 0.0 and left[1] == 2.0**-54  # 0 in floating point


def test_whole_numbers_behind_a_rounded_ray() -> None:
    y = [np.array([1.0, -1 / 3]), np.array([0.0, 2 / 3])]
    whole = in_whole_numbers(y)
    assert whole is not None
    np.testing.assert_array_equal(whole[0], [3.0, -1.0])
    np.testing.assert_array_equal(whole[1], [0.0, 2.0])
    assert in_whole_numbers([np.array([1.0, 0.37])]) is None
    assert in_whole_numbers([np.zeros(2)]) is None


@pytest.mark.parametrize("seed", [1, 4, 5, 6])
def test_equations_that_contradict_each_other_beside_rounding_make_no_gap_small(seed: int) -> None:
    """The last equation is the sum of two others to rounding, and asks for 1e-4 more: what meets it is 1e11 away, with multipliers of 1e15."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((7, 24))
    A[-1] = A[0] + A[1]
    b = A @ rng.random(24)
    b[-1] += 1e-4
    text = "data A: matrix[m, n], b: vector[m], c: vector[n]\nvar x: vector[n] in nonnegative\nminimize dot(c, x)\nsubject to A @ x == b"
    found = fw.parse(text).bind(A=A, b=b, c=rng.random(24)).solve(method="interior", time=3.0)
    gap = found.objective - found.dual_bound
    assert found.status != "optimal" or gap <= 1e-5 * abs(found.objective)
