"""The state of a run of the family: a point with its predictions, its gradient and its certificate, all at the same x.

A step ends with the gradient at its new point, which the next one starts from: one f'(K x + b) and one K'y a step serve the direction, the objective
and the bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.frank_wolfe.steps import Segment
from fwdsl.backends.method import State
from fwdsl.backends.problem import PreparedProblem

REFRESH_EVERY = 64
"""Steps after which predictions, kept by linearity, are computed afresh."""


@dataclass
class FWState(State):
    """The state of a run of the family."""

    x: Array  # the iterate
    z: list[Array] = field(default_factory=list)  # K x + b
    ys: list[Array] = field(default_factory=list)  # y = f'(z)
    kty: Array = field(default_factory=lambda: np.zeros(0))  # K'y
    value: float = math.inf  # P(x)
    best_value: float = math.inf  # the least P so far
    best_x: Array = field(default_factory=lambda: np.zeros(0))  # its point
    best_bound: float = -math.inf  # the best bound so far
    best_ys: list[Array] = field(default_factory=list)  # its dual point
    gradients: int = 0  # full gradients
    vertices: int = 0  # calls of the linear minimisation oracle
    curvature: float = 0.0  # the estimate M of the step rule `adaptive`, 0 before the first
    shift: int = 0  # the steps of the open loop that a start counts as


S = TypeVar("S", bound=FWState)


def start(problem: PreparedProblem, cls: type[S], x: Array, ys: Sequence[Array] | None) -> S:
    """A state at x, which is in the set, with its gradient; a given dual point is kept where its bound is the better one."""
    s = cls(0, x)
    s.z = problem.forward(x)
    if ys is not None and len(ys) == len(problem.terms):
        dual = [y.copy() for y in ys]
        keep_bound(problem, s, dual, problem.adjoint(dual), -problem.conjugates(dual))
    look(problem, s)
    return s


def look(
    problem: PreparedProblem, s: FWState, bound: bool = True, evaluated: tuple[float, list[Array]] | None = None
) -> None:
    """The gradient at s.x, P there and, if asked for, the bound; `evaluated` is (f, y) where a line search has them already."""
    value, s.ys = problem.losses_gradient(s.z) if evaluated is None else evaluated
    s.kty = problem.adjoint(s.ys)
    s.gradients += 1
    keep_point(s, problem.canonical.constant + value + float(problem.q @ s.x) + problem.g_value(s.x))
    if bound:
        keep_bound(problem, s, s.ys, s.kty, value - float(s.kty @ s.x))


def keep_point(s: FWState, value: float) -> None:
    """P at s.x, and whether that is the best point: the open loop does not descend. Steps make a new x and leave this one alone."""
    s.value = value
    if value < s.best_value or not s.best_x.size:
        s.best_value, s.best_x = value, s.x


def keep_bound(problem: PreparedProblem, s: FWState, ys: list[Array], kty: Array, conjugates: float) -> None:
    """Keep D(y) if it is the best so far: with a ridge it is tighter than P less the Frank-Wolfe gap.

    `conjugates` is sum <b, y> - f*(y); at y = f'(K x + b) that is f(K x + b) - <K'y, x>.
    """
    bound = problem.canonical.constant + conjugates
    v = -(problem.q + kty)
    for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
        mu, x = block.g.curvature, s.x[block.slice]
        if mu and not g.f.proximable:
            # no prox, no conjugate of the ridge on the set: the ridge is above its tangent at x
            bound -= block.g.inner.conjugate(v[block.slice] - mu * x) + 0.5 * mu * float(x @ x)  # type: ignore[attr-defined]
        else:
            bound -= g.conjugate(v[block.slice])
    # a number that overflows is no bound
    if s.best_bound < bound < math.inf:
        s.best_bound, s.best_ys = bound, [y.copy() for y in ys]


def slope(problem: PreparedProblem, s: FWState) -> Array:
    """The gradient of P at x: K'y + q + the slope of the ridges."""
    found = s.kty + problem.q
    for block in problem.canonical.blocks:
        if block.g.curvature:
            found[block.slice] += block.g.curvature * s.x[block.slice]
    return found


def vertex(problem: PreparedProblem, s: FWState, c: Array) -> Array:
    """argmin of <c, v> over the product of the sets, which is counted."""
    s.vertices += 1
    return problem.vertex(c)


def without_offset(problem: PreparedProblem, s: FWState) -> list[Array]:
    """K x, from the predictions."""
    return [z - t.map.offset for z, t in zip(s.z, problem.terms, strict=True)]


def advance(problem: PreparedProblem, s: FWState, segment: Segment, gamma: float, x: Array, bound: bool = True) -> None:
    """Move the state to x, gamma along the segment: predictions by linearity or afresh, then the gradient."""
    s.iteration += 1
    s.x = x
    fresh = s.iteration % REFRESH_EVERY == 0
    if fresh:
        s.z = problem.forward(x)
        look(problem, s, bound)
    else:
        evaluated = segment.evaluated(gamma)
        s.z = segment.predictions(gamma)
        look(problem, s, bound, evaluated)
