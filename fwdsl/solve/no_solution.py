"""Whether the directions in which the iterates of a method move prove that there is no feasible point, or no finite optimum."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from ..atoms.base import Array
from ..backends.method import Method
from ..backends.nearby import allowance, feasible_nearby
from ..backends.problem import Problem
from ..backends.rays import dual_rays, primal_rays
from ..certify.rays import Ray, infeasible, unbounded
from ..solution import Status

SHARE = 0.1
"""The share of the data passes so far that polishing directions may take."""


def no_solution(
    problem: Any, method: Method, state: Any, stuck: bool, stop: Callable[[], bool]
) -> tuple[Status, Ray] | None:
    """The verdict and its proof, or None.

    Multipliers are only tried where the violation of the constraints has stopped falling (`stuck`): preparing them costs a decomposition.
    """
    found = method.ray(problem, state)
    if found is None or not isinstance(problem, Problem):
        return None
    x, ys = method.candidate(problem, state)
    columns, rows = method.scales(problem, state)
    over = allowance(problem, SHARE, stop)
    for raw in () if not stuck else (found[1], ys) if ys is not None else (found[1],):
        for multipliers in dual_rays(problem, raw, rows, over):
            ray = infeasible(problem.canonical, multipliers)
            if ray is not None:
                return "infeasible", ray

    @cache
    def stand() -> Array:
        return feasible_nearby(problem, x, columns, stop)

    for raw_x in (found[0], x):
        for direction in primal_rays(problem, raw_x, columns, over):
            ray = unbounded(problem.canonical, direction, stand)
            if ray is not None:
                return "unbounded", ray
    return None
