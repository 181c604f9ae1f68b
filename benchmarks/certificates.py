"""How much later than its point an answer is proven: `python benchmarks/certificates.py [--quick]`, about six minutes.

On every problem of `calibration/problems.py`, by the method that the planner chooses: the seconds until the objective is within 1e-6 of the
optimal value for good, and until the gap is certified to that. `--quick` takes one problem of five and writes nothing.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass

from machine import start_over

start_over(1)

import numpy as np  # noqa: E402
from calibration.problems import Case, cases  # noqa: E402
from report import Report, Target, ratio  # noqa: E402
from timing import duration  # noqa: E402

import fwdsl as fw  # noqa: E402

TOL, FINE = 1e-6, 1e-9
LIMIT = 10.0
"""Seconds of a solve."""

SHORT = 0.005
"""Seconds below which a solve is its start and its end: its ratio says nothing."""

MOST = 3.0
WITHOUT_A_VALUE = ("infeasible", "unbounded")
PACKAGES = ("fwdsl", "numpy", "scipy", "numba")


@dataclass
class Lag:
    """Seconds until the point was there, and until it was certified."""

    case: Case
    method: str
    reached: float
    certified: float
    changes: int

    @property
    def ratio(self) -> float:
        """How many times longer the proof took."""
        return self.certified / self.reached if self.reached > 0.0 else math.inf


def measured(case: Case) -> Lag | None:
    """A fine solve for the value, which loads kernels too, then the one that is measured; None where there is no value."""
    text, data = case.make()
    bound = fw.parse(text).bind(**data)
    best = bound.solve(tol=FINE, threads=1, time=LIMIT)
    if best.status in WITHOUT_A_VALUE:
        return None
    began = time.perf_counter()
    solution = bound.solve(tol=TOL, threads=1, time=LIMIT)
    whole = time.perf_counter() - began
    value = best.objective if best.relative_gap <= solution.relative_gap else solution.objective
    allowed = TOL * max(abs(value), 1e-6 * solution.certificate.scale)
    reached = 0.0
    for before, after in zip(solution.history, solution.history[1:], strict=False):
        if not abs(before.objective - value) <= allowed:
            reached = after.elapsed
    certified = solution.history[-1].elapsed if solution.status == "optimal" else math.inf
    # what precedes the method and follows it belongs to both
    fixed = max(0.0, whole - solution.history[-1].elapsed)
    return Lag(case, solution.method, fixed + reached, fixed + certified, len(solution.changes))


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one problem of five; nothing is written")
    parser.add_argument("--only", default="", help="problems with this in their names; nothing is written")
    known = parser.parse_args()
    report = Report(
        "certificates",
        "Certificates",
        "How much later than its point an answer is proven, by the method that the planner chooses.",
        "`calibration/problems.py`: generators.py and files of `../shared/data`",
        PACKAGES,
    )
    found = []
    for case in cases(known.quick):
        if known.only not in case.name:
            continue
        lag = measured(case)
        if lag is None:
            print(f"{case.name}: has no solution", flush=True)
            continue
        found.append(lag)
        print(
            f"{case.name}: {lag.method}, {duration(lag.reached)}, {duration(lag.certified)}, {lag.ratio:.2f}",
            flush=True,
        )
    if known.quick or known.only:
        return
    told = [lag for lag in found if lag.certified >= SHORT]
    ratios = np.array([lag.ratio for lag in told])
    finite = ratios[np.isfinite(ratios)]
    late = sorted((lag for lag in told if lag.ratio > MOST / 2.0), key=lambda lag: -lag.ratio)
    report.target(
        Target(
            f"certified over reached, geometric mean of {len(told)}",
            float(np.exp(np.log(finite).mean())),
            MOST,
            show=ratio,
        ),
        Target("certified over reached, the worst", float(ratios.max()), MOST, show=ratio),
        Target(f"problems beyond {ratio(MOST)}", float((ratios > MOST).sum()), 0.0),
    )
    report.section(
        "How it is measured",
        f"*reached*: from bound arrays until the method's own objective stays within {TOL:g} of the optimal value, relative to it; "
        f"*certified*: until the verifier has proven a relative gap of {TOL:g}. The value is that of a solve to {FINE:g}. Solves of less than "
        f"{duration(SHORT)} are left out: they are their beginning and their end.",
    )
    report.section(f"Problems beyond {ratio(MOST / 2.0)}")
    report.table(
        ["problem", "method", "reached", "certified", "ratio"],
        [[lag.case.name, lag.method, duration(lag.reached), duration(lag.certified), ratio(lag.ratio)] for lag in late],
    )
    report.write()


if __name__ == "__main__":
    main()
