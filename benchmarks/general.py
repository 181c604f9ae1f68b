"""The general method on twelve problems of its own, beside the better of SCS and Clarabel through CVXPY.

Each solver runs in a process of its own, on one thread: `python benchmarks/general.py`, or with names of problems after it (then no page is
written). The time is from the arrays to the answer: compiling, planning, scaling and verifying for us, canonicalisation for CVXPY. CVXPY's
solvers start at their own settings and are tightened until their objective is within 1e-6 of ours.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Mapping
from functools import partial
from statistics import geometric_mean
from typing import Any

from general_problems import PROBLEMS, PROGRAMS, Arrays
from report import Report, Target, ratio, size, table
from timing import duration, interleaved
from watched import Watched, phase, result, watch

TOL = 1e-6
FEASIBLE = 1e-6
"""The largest violation of a constraint that an answer of CVXPY's may have."""
OURS = 60.0
"""Seconds that we are given, and a solver of CVXPY's too where the other has no answer."""
START = 30.0
"""Seconds for imports, data and warm-up."""
ROUNDS, BUDGET = 3, 3.0
"""A time is the middle one of three runs, or of as many as start within so many seconds."""
MEAN, WORST, SMALLER = 3.0, 10.0, 1.0 / 3.0

LADDERS: Mapping[str, tuple[Mapping[str, float], ...]] = {
    "CLARABEL": ({}, dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-10)),
    "SCS": ({}, *({"eps_abs": eps, "eps_rel": eps, "max_iters": 1_000_000} for eps in (1e-6, 1e-8, 1e-10))),
}
"""Settings from loose to tight, their own first."""
COLUMNS = [
    "problem",
    "data",
    "method",
    "iterations",
    "gap",
    "ours",
    "CLARABEL",
    "SCS",
    "ours over the better",
    "our memory",
    "theirs",
]


def main(names: list[str]) -> None:
    """Measure, and write results/general.md where all problems were asked for."""
    report = Report(
        "general",
        "The general method",
        "Twelve problems of mid size with two or more nonsmooth parts, each stated in the language and in CVXPY. fwdsl certifies a relative "
        "gap of 1e-6, by the method that its planner picks; Clarabel and SCS are tightened until their objective is that close to ours.",
        "`general_problems.py`, each fixed by its seed",
        ["numpy", "scipy", "numba", "cvxpy", "clarabel", "scs"],
    )
    rows, found = [], {}
    for name in names or PROBLEMS:
        ours, theirs = compare(name)
        found[name] = Judged(name, ours, theirs)
        rows.append(found[name].row())
        print(table(COLUMNS, rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    if names:
        return
    report.target(*targets(found))
    report.section(
        "How it is measured",
        f"Everybody has solved a tiny problem of the same kind before the clock starts. A time is the middle one of {ROUNDS} runs, or of "
        f"those that start within {BUDGET:.0f} s. *ours over the better*: time over that of the faster of the two that ends with an objective "
        f"within 1e-6 of our bounds (relative, as the language defines it) and constraints violated by at most {FEASIBLE:g}. Clarabel runs "
        f"first; SCS is stopped where it takes longer. We are stopped after {OURS:.0f} s. *memory*: the peak of the resident memory (VmHWM) "
        "above that with data read and everything warmed up; data included in both. *theirs*: of that faster one.",
    )
    report.table(COLUMNS, rows)
    report.write()


def compare(name: str) -> tuple[Watched, dict[str, Watched]]:
    """We and both solvers on one problem; SCS has no longer than Clarabel took."""
    ours = watch([__file__, "fwdsl", name, str(OURS)], seconds=START + (ROUNDS - 1) * OURS)
    if ours.failure:
        raise RuntimeError(f"{name}: fwdsl {ours.failure}")
    theirs: dict[str, Watched] = {}
    limit = OURS
    for solver in LADDERS:
        bounds = [str(ours.result[k]) for k in ("dual_bound", "objective", "scale")]
        if ours.result["status"] != "optimal" and theirs.get("CLARABEL"):
            value = str(theirs["CLARABEL"].result.get("objective", math.nan))
            bounds[:2] = [value, value]
        theirs[solver] = watch([__file__, solver, name, str(limit), *bounds], seconds=START + 6 * OURS)
        if theirs[solver].result.get("accurate"):
            limit = min(limit, theirs[solver].result["seconds"])
    return ours, theirs


class Judged:
    """What was found on one problem."""

    def __init__(self, name: str, ours: Watched, theirs: Mapping[str, Watched]) -> None:
        self.name = name
        self.ours = ours
        self.theirs = theirs
        accurate = [w for w in theirs.values() if not w.failure and w.result["accurate"]]
        self.better = min(accurate, key=lambda w: w.result["seconds"]) if accurate else None

    @property
    def slower(self) -> float:
        """Our time over that of the better; infinite where we do not reach the tolerance."""
        if self.ours.result["status"] != "optimal":
            return math.inf
        return self.ours.result["seconds"] / self.better.result["seconds"] if self.better else math.nan

    @property
    def larger(self) -> float:
        """Our memory over that of the better."""
        return memory(self.ours) / memory(self.better) if self.better else math.nan

    def row(self) -> list[str]:
        """A row of the table."""
        r = self.ours.result
        sizes = " x ".join(f"{k:,}" for k in PROBLEMS[self.name].sizes.values())
        return [
            PROBLEMS[self.name].title,
            sizes,
            r["method"],
            f"{r['iterations']:,}",
            f"{r['gap']:.1e}" + ("" if r["status"] == "optimal" else f" ({r['status']})"),
            duration(r["seconds"]),
            *(told(self.theirs[solver]) for solver in LADDERS),
            ratio(self.slower),
            size(memory(self.ours)),
            size(memory(self.better)) if self.better else "",
        ]


def memory(watched: Watched) -> float:
    """Bytes of the data and of the peak beside them."""
    return watched.result["bytes"] + watched.resident("loaded", "done")


def told(watched: Watched) -> str:
    """A time, or why there is none."""
    if watched.failure:
        return watched.failure
    r = watched.result
    return duration(r["seconds"]) + ("" if r["accurate"] else f", {r['status']}")


def targets(found: Mapping[str, Judged]) -> list[Target]:
    """The figures of the issue."""
    slower = {name: judged.slower for name, judged in found.items()}
    worst = max(slower, key=lambda name: slower[name])
    largest = max(found, key=lambda name: found[name].larger)
    mean = geometric_mean(slower.values())
    return [
        Target(f"largest relative gap of {len(found)}", max(j.ours.result["gap"] for j in found.values()), TOL),
        Target("geometric mean of our time over that of the better of SCS and Clarabel", mean, MEAN, show=ratio),
        Target(f"the worst of them ({worst})", slower[worst], WORST, show=ratio),
        Target(f"the largest of our memory over theirs ({largest})", found[largest].larger, SMALLER, show=ratio),
    ]


# --- in a solver's process ----------------------------------------------------------------------------------------------


def prepare(name: str) -> tuple[Arrays, Arrays]:
    """The tiny data and the data."""
    problem = PROBLEMS[name]
    return problem.make(**problem.tiny), problem.make(**problem.sizes)


def run_fwdsl(name: str, limit: float) -> None:
    """Solve by fwdsl."""
    import fwdsl as fw

    def solve(data: Mapping[str, Any]) -> fw.Solution:
        return fw.load(PROGRAMS / f"{name}.fw").bind(**data).solve(tol=TOL, threads=1, time=limit)

    phase("imported")
    tiny, data = prepare(name)
    solve(tiny)
    phase("loaded")
    runs = interleaved({"fwdsl": partial(solve, data)}, ROUNDS, BUDGET)["fwdsl"]
    phase("done")
    solution: fw.Solution = runs.result
    c = solution.certificate
    result(
        {
            "method": solution.method,
            "status": solution.status,
            "iterations": solution.iterations,
            "seconds": runs.median,
            "objective": c.objective,
            "dual_bound": c.dual_bound,
            "scale": max(abs(c.objective), abs(c.dual_bound), 1e-3 * c.scale),
            "gap": c.relative_gap,
            "bytes": sum(v.nbytes for v in data.values()),
        }
    )


def run_cvxpy(name: str, solver: str, limit: float, bounds: list[float]) -> None:
    """Solve by one of CVXPY's solvers, its settings tightened until the answer is accurate or the time is over."""
    import cvxpy as cp

    seconds = {"CLARABEL": "time_limit", "SCS": "time_limit_secs"}[solver]
    low, high, scale = sorted(bounds[:2]) + bounds[2:]

    def solve(data: Arrays, settings: Mapping[str, float]) -> Any:
        problem = cp.Problem(*PROBLEMS[name].state(cp, data))
        problem.solve(solver=solver, **settings, **{seconds: max(limit, 1.0)})
        return problem

    warnings.filterwarnings("ignore")  # of inaccurate solutions: what they are worth is measured
    phase("imported")
    tiny, data = prepare(name)
    solve(tiny, LADDERS[solver][0])
    phase("loaded")
    found: dict[str, Any] = {}
    for settings in LADDERS[solver]:
        try:
            runs = interleaved({solver: partial(solve, data, settings)}, ROUNDS, BUDGET)[solver]
        except cp.SolverError:
            found = found or {"status": "failed", "seconds": math.nan, "objective": math.nan, "accurate": False}
            continue
        problem = runs.result
        value = math.nan if problem.value is None else float(problem.value)
        off = max(low - value, value - high, 0.0) if math.isfinite(value) else math.inf
        violation = (
            max((float(c.violation().max()) for c in problem.constraints), default=0.0) if off < math.inf else math.inf
        )
        accurate = off <= TOL * scale and violation <= FEASIBLE
        found = {"status": problem.status, "seconds": runs.median, "objective": value, "accurate": accurate}
        if accurate or runs.median > limit:
            break
    phase("done")
    result({**found, "bytes": sum(v.nbytes for v in data.values())})


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[1] == "fwdsl":
        run_fwdsl(sys.argv[2], float(sys.argv[3]))
    elif len(sys.argv) > 3 and sys.argv[1] in LADDERS:
        run_cvxpy(sys.argv[2], sys.argv[1], float(sys.argv[3]), [float(v) for v in sys.argv[4:]])
    else:
        main(sys.argv[1:])
