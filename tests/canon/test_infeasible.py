"""Sets that do not meet, where a variable is in a set beside a norm or in a cone: proven, and without a stated radius."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw

S = np.random.default_rng(14).standard_normal((4, 4)) * 2.0
FAR = 5.0 * np.eye(4)


@pytest.mark.parametrize(
    "text",
    [
        "var X: matrix[d, d] in rows(solid_simplex(1.3))\nminimize 0.5 * sum_squares(X - S) + 0.1 * norm1(X)\n"
        "subject to X - F in rows(group_ball(1.5, [[0, 1], [2, 3]]))\n",
        "var X: psd[d]\nminimize 2 * sum_squares(X - S)\nsubject to\n    X in rows(l1_ball(1.5))\n"
        "    X - F in columns(group_ball(1.5, [[0, 1], [2, 3]], weights=[1, 0]))\n",
        "var X: family[2] of vector[d] in simplex(1)\nminimize sum_squares(X) + 0.1 * entropy(X) + 0 * sum(S)\n"
        "subject to X[0] + F[0] in l1_ball(2)\n",
        "var X: matrix[d, d]\nminimize sum_squares(X - S) + entropy(X)\nsubject to X + F in l1_ball(3)\n",
    ],
)
def test_it_is_proven(text: str) -> None:
    found = fw.parse("data S: matrix[d, d], F: matrix[d, d]\n" + text).bind(S=S, F=FAR).solve(tol=1e-6, time=20)
    assert found.status == "infeasible"
    assert found.certificate.kind == "exact"


def test_a_point_outside_the_domain_of_the_entropy_is_not_feasible() -> None:
    """An entropy that no block keeps ignores negative entries in its value: the violation counts them."""
    from fwdsl.certify.verify import verify

    text = "var x: vector[2] in l1_ball(1)\nminimize sum_squares(x) + 0.1 * entropy(x)\n"
    canonical = fw.parse(text).bind().canonical
    inside, outside = (verify(canonical, np.array([0.5, e]), None).infeasibility for e in (0.0, -1e-3))
    assert inside == 0.0
    assert outside > 1e-4


def test_p_norms_beside_a_simplex_and_a_box() -> None:
    text = "var x: vector[3]\nminimize sum_squares(x)\nsubject to x in {}, norm_p(x, 3) <= {}\n"
    for other, r, status in (
        ("simplex(1)", 0.9, "optimal"),
        ("simplex(1)", 0.1, "infeasible"),
        ("box(1, 2)", 3, "optimal"),
        ("box(1, 2)", 1.4, "infeasible"),
    ):
        assert fw.parse(text.format(other, r)).solve().status == status


def test_a_set_that_a_constraint_states_is_told_by_it() -> None:
    text = "data V: matrix[3, 2]\nvar x: vector[2]{}\nminimize sum_squares(x)\nsubject to x in polytope(V){}\n"
    V = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 1.5]])
    for declared, stated, said in (
        ("", ", x in l1_ball(0.5)", "`x in polytope(V)` and `x in l1_ball(0.5)` cannot hold together"),
        (" in l1_ball(0.5)", "", "`x in polytope(V)` and the set of x cannot hold together"),
    ):
        found = fw.parse(text.format(declared, stated)).bind(V=V).solve(threads=1)
        assert found.status == "infeasible" and said in found.reason


def test_sums_that_differ_by_little_are_told_apart() -> None:
    found = fw.parse("var x: vector[3] in simplex(1)\nminimize sum_squares(x)\nsubject to x <= 0.3333333\n").solve()
    assert found.status == "infeasible"
    assert "a sum is 1 in the first and at most 0.9999999 in the second" in found.reason
