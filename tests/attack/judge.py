"""The verdict on an outcome beside the truth, and the table of a whole attack."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from .generator import InUnits, Program
from .runner import Outcome
from .truth import Truth, balance, is_confirmed, value_at, violation

WRONG = (
    "false optimal",
    "false bound",
    "infeasible point",
    "false infeasible",
    "false unbounded",
    "traceback",
    "rejected",
    "FW9nnn",
    "hang",
    "late",
    "died",
)
"""Verdicts of which there must be none."""

FEASIBLE = 1e-5
"""Misses of constraints in natural units, relative to the point's size where that is above one, that no unit explains."""


def verdict(program: Program, there: InUnits, outcome: Outcome, truth: Truth, tol: float, limit: float) -> str:
    """`right`, `unsolved`, `no truth` or one of WRONG. What would be false is looked at again, since cvxpy errs too."""
    found = _beside(program, there, outcome, truth, tol, limit)
    if found not in ("false optimal", "false bound"):
        return found
    if found == "false optimal" and outcome.variables and not program.reference:
        value = value_at(program, _natural(there, outcome))
        told = outcome.objective / abs(there.objective)
        better = truth.sense * (truth.value - told) > 0.0
        if better and value is not None and abs(value - told) <= tol * max(abs(told), 1e-5 * truth.size):
            return "right"
    return found if is_confirmed(program, truth) else "no truth"


def _natural(there: InUnits, outcome: Outcome) -> dict[str, np.ndarray]:
    """The point of an outcome in natural units."""
    return {n: np.asarray(v) / there.variables.get(n, 1.0) for n, v in outcome.variables.items()}


def _beside(program: Program, there: InUnits, outcome: Outcome, truth: Truth, tol: float, limit: float) -> str:
    """The verdict if cvxpy's value is right."""
    trouble = ran_badly(outcome, limit)
    if trouble:
        return trouble
    if outcome.status in ("infeasible", "unbounded"):
        return f"false {outcome.status}"
    scale, sense = abs(there.objective), truth.sense
    bound = sense * outcome.dual_bound / scale
    true = sense * truth.value
    # the dual's part of S is not known here: ten times the primal's stands for all of it
    floor = 1e-5 * truth.size
    if math.isfinite(bound) and bound > true + truth.error + 1e-9 * max(abs(true), abs(bound), floor):
        return "false bound"
    if outcome.status != "optimal":
        return "unsolved"
    off = abs(outcome.objective / scale - truth.value) - truth.error
    if not off <= 3 * tol * max(abs(truth.value), floor) and not off <= 3e-6 * tol * balance(program):
        return "false optimal"
    if outcome.variables and not program.reference and violation(program, _natural(there, outcome)) > FEASIBLE:
        return "infeasible point"
    return "right"


def ran_badly(outcome: Outcome, limit: float) -> str:
    """The faults that an outcome has whatever the truth is; empty where there are none."""
    if outcome.status in ("traceback", "rejected", "hang", "died"):
        return outcome.status
    if outcome.code:
        return "FW9nnn"
    return "late" if outcome.seconds > limit + 1.0 else ""


@dataclass
class Tally:
    """Verdicts counted by kind and mode, with what tells of each that is not right."""

    counts: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    lines: list[str] = field(default_factory=list)

    def add(self, kind: str, mode: str, verdict: str, line: str) -> None:
        """Count one, and say it where it is not right."""
        self.counts[kind, mode, verdict] += 1
        if verdict not in ("right", "proven"):
            self.lines.append(f"{verdict}: {line}")
            print(self.lines[-1], flush=True)

    def wrong(self) -> list[str]:
        """The lines of verdicts that must not be."""
        return [line for line in self.lines if line.startswith(WRONG)]

    def of(self, verdict: str) -> int:
        """The number of outcomes with a verdict."""
        return sum(n for (_, _, v), n in self.counts.items() if v == verdict)

    def table(self) -> str:
        """Verdicts by mode, then what is not right by kind."""
        verdicts = sorted({v for _, _, v in self.counts})
        out = []
        for at, title in ((1, "mode"), (0, "kind")):
            groups = sorted({key[at] for key in self.counts})
            out.append(" | ".join([title, *verdicts]))
            for group in groups:
                row = [sum(n for k, n in self.counts.items() if k[at] == group and k[2] == v) for v in verdicts]
                out.append(" | ".join([group, *map(str, row)]))
            out.append("")
        out.append("all: " + ", ".join(f"{v} {self.of(v)}" for v in verdicts))
        return "\n".join(out)
