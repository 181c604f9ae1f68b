"""The answer to a program whose constraints the numbers alone show to contradict each other: no method has to run."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from ..atoms.base import Array
from ..canon.form import Canonical
from ..certify import verify
from ..certify.verify import Bound
from ..plan import Plan
from ..solution import Solution
from .assemble import solution_of
from .driver import Outcome
from .terms import term_values
from .watch import Moment, Watch


def contradicted(canonical: Canonical, plan: Plan, x: Array, origin: str, watch: Watch | None) -> Solution:
    """`infeasible`, with the contradiction for a proof; objective and violation are those of the point that a method would have started from."""
    assert canonical.contradiction is not None
    began, proof = time.perf_counter(), canonical.contradiction.message
    with np.errstate(all="ignore"):
        found = verify(canonical, x, None)
    verified = replace(found, bound=Bound(math.inf, 0.0, "exact", proof))
    seconds = time.perf_counter() - began
    if watch is not None:
        sense = canonical.sense
        watch.see(Moment(0.0, 0.0, 0, sense * verified.primal, sense * verified.dual, math.inf))
    outcome = Outcome("infeasible", verified, x, 0, 0.0, found.passes, seconds, seconds, proof, ())
    return solution_of(canonical, plan, outcome, origin, seconds, 0.0, {}, term_values(canonical, x))
