"""The methods against naive transcriptions of their formulas, step by step: vertices in a dictionary, the gradient from references.

Each step is compared from where the method stands before it, and none once the Frank-Wolfe gap is near rounding: what is promised is that a step is
that of the formula, not that two runs whose rounding differs choose alike for ever.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq

from tests.frank_wolfe.problems import CORRECTIVE, bound
from tests.runs import started

STEPS = 25

NEAR = 1e-7
"""The gap from which on rounding may choose the vertex."""


class Naive:
    """P by the references of the canonical form, densely."""

    def __init__(self, problem: Any) -> None:
        self.can = problem.canonical
        (self.term,), (self.block,) = self.can.terms, self.can.blocks
        self.K = np.stack([self.term.map.linear(e) for e in np.eye(self.can.size)], axis=1)
        self.g = self.block.g

    def gradient(self, x: Any) -> Any:
        y = self.term.f.gradient(self.K @ x + self.term.map.offset)
        return self.K.T @ y + self.can.q + self.g.curvature * x

    def slope(self, x: Any, d: Any, gamma: float) -> float:
        return float(self.gradient(x + gamma * d) @ d)

    def search(self, x: Any, d: Any, most: float) -> float:
        if self.slope(x, d, 0.0) >= 0.0:
            return 0.0
        if self.slope(x, d, most) <= 0.0:
            return most
        return float(brentq(lambda gamma: self.slope(x, d, gamma), 0.0, most, xtol=1e-15, rtol=1e-14))

    def short(self, x: Any, d: Any, most: float) -> float:
        beta, w = self.term.f.loss.smoothness, self.term.f.w
        steep = beta * float(w @ (self.K @ d) ** 2) + self.g.curvature * float(d @ d)
        # from a vertex to itself there is nowhere to go
        return min(most, -self.slope(x, d, 0.0) / steep) if steep > 0.0 else 0.0

    def rule(self, name: str, M: float) -> Any:
        """A step rule by its name; M is what `adaptive` found the last time, 0 before."""
        return {"line_search": self.search, "short": self.short, "adaptive": Adaptive(self, M)}[name]


class Adaptive:
    """The rule of Pokutta 2023 from its estimate M; the first from the slope's change at a thousandth of the segment. `found` are the next."""

    def __init__(self, of: Naive, M: float) -> None:
        self.of, self.M = of, M
        self.found: list[float] = []

    def __call__(self, x: Any, d: Any, most: float) -> float:
        first, square = self.of.slope(x, d, 0.0), float(d @ d)
        if first >= 0.0:
            return 0.0
        if self.M == 0.0:
            t = 1e-3 * min(most, 1.0)
            M = (self.of.slope(x, d, t) - first) / (t * square)
        else:
            M = 0.9 * self.M
        while True:
            gamma = min(-first / (M * square), most)
            if self.of.slope(x, d, gamma) <= -1e-8 * first:
                self.found.append(M)
                return gamma
            M *= 2.0


def combined(weights: dict[Any, float]) -> Any:
    return sum(w * np.array(v) for v, w in weights.items())


def ends(scores: dict[Any, float], top: bool, tie: float) -> list[Any]:
    """The vertices of largest or least score, those that rounding may take for them included: the one that Python finds comes first."""
    best = (max if top else min)(scores, key=scores.__getitem__)
    return [best, *(v for v, score in scores.items() if v != best and abs(score - scores[best]) <= tie)]


def naive_steps(
    name: str, of: Naive, rule: Any, lazy: bool, weights: dict[Any, float], phi: float, tie: float = 0.0
) -> list[tuple[dict[Any, float], float]]:
    """The weights and phi after a step, once for each choice among vertices that tie."""
    x = combined(weights)
    c = of.gradient(x)
    scores = {v: float(c @ np.array(v)) for v in weights}
    least = tuple(of.g.lmo(c))
    others = {*weights, tuple(of.g.lmo(c + 1e-4 * tie)), tuple(of.g.lmo(c - 1e-4 * tie))} - {least}
    vertices = [least, *(v for v in sorted(others) if c @ np.array(v) <= c @ np.array(least) + tie)]
    return [
        one_step(name, of, rule, lazy, weights, phi, c, x, scores, a, s, v)
        for a in ends(scores, True, tie)
        for s in ends(scores, False, tie)
        for v in vertices
    ]


def one_step(
    name: str,
    of: Naive,
    rule: Any,
    lazy: bool,
    weights: Any,
    phi: float,
    c: Any,
    x: Any,
    scores: Any,
    a: Any,
    s: Any,
    v: Any,
) -> tuple[dict[Any, float], float]:
    gap, away, within = c @ x - c @ np.array(v), scores[a] - c @ x, scores[a] - scores[s]
    towards_s = c @ x - scores[s]
    several = len(weights) > 1
    dear = ("pair", v, a) if name == "pairwise_frank_wolfe" else ("toward", v)
    if not lazy:
        move = dear
        if name == "away_frank_wolfe" and several and away > gap:
            move = ("away", a)
        if name == "blended_pairwise" and several and within >= gap:
            move = ("pair", s, a)
        return moved(of, rule, x, weights, move), phi
    cheap, promise = ("pair", s, a), within
    if name == "away_frank_wolfe":
        cheap, promise = (("toward", s), towards_s) if towards_s >= away else (("away", a), away)
    asked = False
    while True:
        if several and phi > 0.0 and promise >= phi / 2:
            return moved(of, rule, x, weights, cheap), phi
        if not asked:
            asked, phi = True, phi if phi > 0.0 else gap
        # at the optimum there is nothing to wait for
        if gap >= phi / 2 or gap <= 1e-12:
            return moved(of, rule, x, weights, dear), phi
        phi = min(gap, phi / 2)


def moved(of: Naive, rule: Any, x: Any, weights: dict[Any, float], move: Any) -> dict[Any, float]:
    kind, first = move[0], np.array(move[1])
    weights = dict(weights)
    if kind == "toward":
        gamma = rule(x, first - x, 1.0)
        weights = {v: (1 - gamma) * w for v, w in weights.items()} if gamma < 1.0 else {}
        weights[move[1]] = weights.get(move[1], 0.0) + gamma
    elif kind == "away":
        most = weights[move[1]] / (1 - weights[move[1]])
        gamma = rule(x, x - first, most)
        weights = {v: (1 + gamma) * w for v, w in weights.items()}
        weights[move[1]] = 0.0 if gamma == most else weights[move[1]] - gamma
    else:
        most = weights[move[2]]
        gamma = rule(x, first - np.array(move[2]), most)
        weights[move[1]] = weights.get(move[1], 0.0) + gamma
        weights[move[2]] = 0.0 if gamma == most else weights[move[2]] - gamma
    return {v: w for v, w in weights.items() if w > 0.0}


def weights_of(s: Any, size: int) -> dict[Any, float]:
    return {tuple(atom.dense(size)): weight for weight, atom in s.atoms()}


def follow(problem: Any, name: str, rule: str, lazy: bool = False) -> int:
    """Compare steps with the formulas until the gap is near rounding; how many."""
    of = Naive(problem)
    run = started(problem, name, step=rule, lazy=lazy)
    s = run.state
    for checked in range(STEPS):
        before = weights_of(s, of.can.size)
        c = of.gradient(s.x)
        if float(c @ (s.x - of.g.lmo(c))) <= NEAR:
            return checked
        # an exact search leaves two vertices with the same score, and rounding chooses
        expected = of.rule(rule, s.curvature)
        allowed = naive_steps(name, of, expected, lazy, before, s.phi, tie=1e-8)
        run.step()
        misses = [float(np.abs(combined(weights) - s.x).max()) for weights, _ in allowed]
        nearest = int(np.argmin(misses))
        assert misses[nearest] <= 1e-9
        weights, phi = allowed[nearest]
        assert s.phi == pytest.approx(phi, rel=1e-9)
        after = weights_of(s, of.can.size)
        assert {v: w for v, w in after.items() if w > 1e-9} == pytest.approx(
            {v: w for v, w in weights.items() if w > 1e-9}, abs=1e-8
        )
        if rule == "adaptive":
            assert min(abs(s.curvature / M - 1.0) for M in expected.found) <= 1e-6
    return STEPS


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("name", CORRECTIVE)
@pytest.mark.parametrize("set_", ["l1_ball(1)", "box(-0.6, 0.9)", "permutahedron(c)"])
@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_corrective_steps_are_those_of_the_formulas(name: str, set_: str, loss: str, lazy: bool) -> None:
    assert follow(bound(loss, set_, " + 0.02 * sum_squares(x)", seed=1), name, "line_search", lazy) >= 1


@pytest.mark.parametrize("rule", ["short", "adaptive"])
@pytest.mark.parametrize("name", CORRECTIVE)
def test_step_rules_are_those_of_the_formulas(name: str, rule: str) -> None:
    assert follow(bound("logistic", "l1_ball(1)", " + 0.02 * sum_squares(x)", seed=2), name, rule) >= 5


@pytest.mark.parametrize("rule", ["open", "short", "adaptive", "line_search"])
@pytest.mark.parametrize("set_", ["l1_ball(1)", "l2_ball(1)", "ksupport_ball(2, 1)"])
def test_vanilla_steps_are_those_of_the_formulas(rule: str, set_: str) -> None:
    problem = bound("smooth_hinge", set_, " + sum(x) / 20", seed=3)
    of = Naive(problem)
    run = started(problem, "frank_wolfe", step=rule)
    s = run.state
    checked = 0
    for k in range(70):
        x, c = s.x.copy(), of.gradient(s.x)
        d = of.g.lmo(c) - x
        if float(-c @ d) <= NEAR:
            break
        gamma = 2.0 / (k + 2.0) if rule == "open" else of.rule(rule, s.curvature)(x, d, 1.0)
        run.step()
        np.testing.assert_allclose(s.x, x + gamma * d, atol=1e-10 if rule != "line_search" else 1e-7)
        np.testing.assert_allclose(s.z[0], of.K @ s.x, atol=1e-12)
        checked += 1
    assert checked >= 5


@pytest.mark.parametrize("name", ["squared", "logistic"])
def test_a_secant_step_has_a_slope_of_a_tenth_at_most(name: str) -> None:
    problem = bound(name, "l1_ball(1)", seed=4)
    of = Naive(problem)
    run = started(problem, "frank_wolfe", step="secant")
    s = run.state
    for _ in range(20):
        before = s.x.copy()
        run.step()
        d = of.g.lmo(of.gradient(before)) - before
        first, after = of.slope(before, d, 0.0), float(of.gradient(s.x) @ d)
        assert abs(after) <= 0.1 * abs(first) * (1 + 1e-9) + 1e-14 or (after < 0.0 and np.allclose(s.x, before + d))
