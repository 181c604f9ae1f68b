"""The answer to a program whose constraints the numbers alone show to contradict each other: no method has to run."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..certify.verified import DualBound
from ..plan import Plan
from ..results.solution import Solution
from .assemble import solution_of
from .driver import Outcome
from .forms import Solvable
from .watch import Moment, Watch


def contradicted(
    task: Solvable, plan: Plan, start: Solution | Mapping[str, Any] | None, watch: Watch | None
) -> Solution:
    """`infeasible`, with the contradiction for a proof; objective and violation are those of the point that a method would have started from."""
    assert task.form.contradiction is not None
    at = task.start(start)
    began, proof = time.perf_counter(), task.form.contradiction.message
    with np.errstate(all="ignore"):
        found = task.measure(at.x)
    verified = replace(found, bound=DualBound(math.inf, 0.0, "exact", proof))
    seconds = time.perf_counter() - began
    if watch is not None:
        sense = task.form.sense
        watch.see(Moment(0.0, 0.0, 0, sense * verified.primal, sense * verified.dual, math.inf))
    outcome = Outcome("infeasible", verified, at.x, 0, 0.0, found.passes, seconds, seconds, proof, ())
    return solution_of(task, plan, outcome, at.origin, seconds, 0.0, {})
