"""Groups that overlap, and groups of weight 0: neither is penalised or bounded by what has no weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw

RNG = np.random.default_rng(11)
DATA: dict[str, Any] = {
    "c": np.array([1.0, -2.0, 0.5, 1.5]),
    "g": np.array([0, 0, 1, 1]),
    "w": np.array([0.0, 2.0]),
    "v": np.zeros(2),
}
HEAD = "data c: vector[d], g: index[d] of G, w: vector[G] in nonnegative, v: vector[G] in nonnegative\n"
FIT = "minimize sum_squares(x - c) + 0 * (sum(w) + sum(v))"


def solved(text: str) -> fw.Solution:
    found = fw.parse(HEAD + text).bind(**DATA).solve(tol=1e-9)
    assert found.status == "optimal"
    return found


@pytest.mark.parametrize(
    ("groups", "kept"),
    [
        ("[[0, 1], [2, 3]], weights=[0, 2]", "2 * norm2(x[2:])"),
        ("g, weights=w", "2 * norm2(x[2:])"),
        ("[[0, 1, 2], [2, 3]], weights=[3, 0]", "3 * norm2(x[0:3])"),
        ("[[0, 1, 2], [2, 3]], weights=[1, 2]", "norm2(x[0:3]) + 2 * norm2(x[2:])"),
        ("[[0, 1], [2, 3]], weights=[0, 0]", "0 * norm2(x)"),
        ("g, weights=v", "0 * norm2(x)"),
    ],
)
@pytest.mark.parametrize("shift", ["x", "x - 0.1"])
def test_a_group_norm_is_the_sum_over_the_groups_that_have_weight(groups: str, kept: str, shift: str) -> None:
    given = solved(f"var x: vector[d]\n{FIT} + 0.5 * group_norm({shift}, {groups})\n")
    meant = solved(f"var x: vector[d]\n{FIT} + 0.5 * ({kept.replace('x', f'({shift})')})\n")
    assert given.objective == pytest.approx(meant.objective, rel=1e-7)
    assert given["x"] == pytest.approx(meant["x"], abs=1e-4)


@pytest.mark.parametrize("groups", ["[[0, 1], [2, 3]], weights=[0, 2]", "g, weights=w"])
def test_a_group_ball_leaves_the_others_free(groups: str) -> None:
    given = solved(f"var x: vector[d] in group_ball(1, {groups})\n{FIT}\n")
    assert given["x"][:2] == pytest.approx(DATA["c"][:2], abs=1e-6)
    assert 2.0 * np.linalg.norm(given["x"][2:]) == pytest.approx(1.0, rel=1e-6)


def test_a_ball_without_any_weight_says_nothing_and_has_a_multiplier_of_zeros() -> None:
    given = solved(f"var x: vector[d]\n{FIT}\nsubject to ball: x in group_ball(1, g, weights=v)\n")
    assert given.objective == pytest.approx(0.0, abs=1e-9)
    assert given.dual["ball"].shape == (4,)
    assert not given.dual["ball"].any()


def test_the_blocks_of_a_family_have_the_groups_each() -> None:
    for groups in ("[[0, 1], [2, 3]]", "[[0, 1, 2], [2, 3]]", "g, weights=w"):
        family = solved(
            "var F: family[2] of vector[d]\nminimize sum_squares(F[0] - c) + sum_squares(F[1] + c) + 0 * (sum(w) + sum(v))"
            f" + 0.5 * group_norm(F, {groups})\n"
        )
        one = solved(f"var x: vector[d]\n{FIT} + 0.5 * group_norm(x, {groups})\n")
        assert family.objective == pytest.approx(2.0 * one.objective, rel=1e-7)
        assert family["F"][0] == pytest.approx(one["x"], abs=1e-4)


def test_a_norm_and_a_ball_of_different_groups_keep_apart() -> None:
    for ball in ("[[0, 1], [2, 3]]", "[[0, 2], [1, 3]]"):
        text = f"var x: vector[d] in group_ball(0.7, {ball})\n{FIT} + 0.5 * group_norm(x, [[0, 1], [2, 3]])\n"
        bound = fw.parse(HEAD + text).bind(**DATA)
        assert len(bound.canonical.terms) == (1 if ball == "[[0, 1], [2, 3]]" else 2)
        assert bound.solve(tol=1e-8).status == "optimal"
