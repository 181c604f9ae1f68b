"""Proofs that there is no feasible point, or no finite optimum, from the directions in which a method's iterates move."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..backends.method import Run
from ..backends.nearby import allowance, feasible_nearby
from ..backends.rays import dual_rays, idle_direction, is_bounded_below, primal_rays
from ..certify.farkas import infeasible
from ..certify.rays import Ray, unbounded
from ..results.status import Status
from .journal import Best

FEW = 400
"""Unknowns up to which multipliers are tried anyway."""

SHARE = 0.1
"""The share of the data passes so far that polishing directions may take."""


def no_solution(run: Run[Any, Any], stuck: bool, known: Best, stop: Callable[[], bool]) -> tuple[Status, Ray] | None:
    """The verdict and its proof, or None. What the verifier knows already is not asked: a program with a feasible point, or with a bound.

    Multipliers are only tried where the violation of the constraints has stopped falling or the run is about to end (`stuck`), or where it may only
    look small beside terms that grow and the decomposition that prepares them is cheap. Those of the constraints alone are asked for where the run is
    stuck and its own prove nothing.
    """
    problem, found = run.problem, run.ray()
    if found is None:
        return None
    x, ys = run.candidate()
    columns, rows = run.scales()
    over = allowance(problem, SHARE, stop)
    feasible = known.primal is not None and known.primal.infeasibility == 0.0
    tries = not feasible and (stuck or problem.size <= FEW)
    for raw in () if not tries else (found[1], ys) if ys is not None else (found[1],):
        for multipliers in dual_rays(problem, raw, rows, over):
            ray = infeasible(problem.canonical, multipliers)
            if ray is not None:
                return "infeasible", ray

    feasibility = cache(run.feasibility)

    @cache
    def feasible_points() -> list[Array]:
        """Feasible points, if there are any: near the origin, where no direction has led away, near x, and where the method finds one."""
        origin = problem.prox_g(np.zeros_like(x), 0.0)
        inner = feasibility()
        near = [origin, x] if inner is None else [origin, x, inner[0]]
        return [feasible_nearby(problem, start, columns, stop) for start in near]

    bounded = (known.bound is not None and math.isfinite(known.bound.proven)) or is_bounded_below(problem)
    directions = chain([idle_direction(problem)], *(primal_rays(problem, raw, columns, over) for raw in (found[0], x)))
    for direction in () if bounded else directions:
        ray = unbounded(problem.canonical, direction, feasible_points)
        if ray is not None:
            return "unbounded", ray
    # the constraints alone: an objective that grows without end may have led the iterates anywhere
    inner = feasibility() if tries and (stuck or feasible_points.cache_info().currsize) else None
    for multipliers in () if inner is None else dual_rays(problem, inner[1], rows, over):
        ray = infeasible(problem.canonical, multipliers)
        if ray is not None:
            return "infeasible", ray
    return None
