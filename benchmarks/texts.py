"""Equivalent texts of common problems: the method that each is planned with, and its time beside that of the plain text.

`python benchmarks/texts.py`, or with names of problems after it (then no page is written). The texts of a problem take turns, on one thread, in one
warm process. The time is from the checked program and its arrays to the certified answer.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from statistics import geometric_mean
from typing import Any

from equivalent import PROBLEMS
from report import Report, Target, ratio, table
from threadpoolctl import threadpool_limits
from timing import Runs, duration, interleaved

TOL = 1e-6
SIZES = ((1000, 200), (5000, 50))
ROUNDS, BUDGET, LIMIT = 7, 4.0, 20.0
"""Each text runs so many times, or as often as begins within so many seconds; none is given longer than the last number."""
FACTOR = 1.5
SMALL = 0.03
"""Seconds below which what a program costs besides its method shows in ratios."""
COLUMNS = ["problem", "text", "method", "data passes", "time", "over the plain text", "gap"]


@dataclass(frozen=True)
class Row:
    """A text at a size."""

    problem: str
    text: str
    size: tuple[int, int]
    runs: Runs
    over: float
    why: str

    def cells(self) -> list[str]:
        """A row of the table."""
        solution = self.runs.result
        passes = f"{solution.passes:,.0f}"
        gap = f"{solution.certificate.relative_gap:.0e}"
        status = "" if solution.status == "optimal" else f" ({solution.status})"
        note = " (1)" if self.why else ""
        return [
            self.problem,
            self.text + note,
            solution.method,
            passes,
            duration(fastest(self.runs)),
            ratio(self.over),
            gap + status,
        ]


def fastest(runs: Runs) -> float:
    """The shortest time of the processor: what the machine does besides only adds to it."""
    return min(run.cpu for run in runs.all)


def measure(name: str, n: int, d: int) -> list[Row]:
    """All texts of a problem at a size."""
    import fwdsl as fw

    problem = PROBLEMS[name]
    data = problem.make(n, d)
    bound = {}
    for text, stated in problem.texts.items():
        used = {k: v for k, v in data.items() if re.search(rf"^data [^\n]*\b{k}:", stated.program, re.M)}
        bound[text] = fw.parse(stated.program).bind(**used)
        bound[text].solve(tol=TOL, threads=1, time=LIMIT)
    solves = {text: partial(solve, problem) for text, problem in bound.items()}
    found = interleaved(solves, ROUNDS, BUDGET)
    base = fastest(found[next(iter(found))])
    return [
        Row(problem.title, text, (n, d), runs, fastest(runs) / base, problem.texts[text].why)
        for text, runs in found.items()
    ]


def solve(problem: Any) -> Any:
    """The solution, from the bound program on: nothing is kept from the run before."""
    return problem.bind().solve(tol=TOL, threads=1, time=LIMIT)


def main(names: list[str]) -> None:
    """Measure, and write results/texts.md where all problems were asked for."""
    report = Report(
        "texts",
        "Equivalent texts",
        "What people write in different words for the same problem, each text certified to a relative gap of 1e-6. The first text of each problem "
        "is the plain one; a ratio above 1 says that another text takes longer.",
        "`equivalent.py`, which has the texts and makes the data by fixed seeds",
        ["numpy", "scipy", "numba"],
    )
    warnings.simplefilter("ignore")
    rows: list[Row] = []
    for n, d in SIZES:
        for name in names or PROBLEMS:
            with threadpool_limits(1):
                found = measure(name, n, d)
            rows += found
            print(table(COLUMNS, [row.cells() for row in found]), file=sys.stderr, flush=True)
    if names:
        return
    report.target(*targets(rows))
    report.section(
        "How it is measured",
        f"The texts of a problem take turns, {ROUNDS} times or as often as begins within {BUDGET:.0f} s; the time is the processor's, the shortest. "
        "It is from the bound arrays to the certified answer: canonical form, plan, method, verifier. Where the plain text takes less than "
        f"{duration(SMALL)}, the fixed costs of leading points and multipliers back, 1 to 3 ms, show in the ratio.",
    )
    for size in SIZES:
        report.section(f"{size[0]:,} samples, {size[1]:,} features")
        report.table(COLUMNS, [row.cells() for row in rows if row.size == size])
    told: Mapping[str, None] = dict.fromkeys(f"(1) {row.text}: {row.why}." for row in rows if row.why)
    report.text(*told)
    report.write()


def targets(rows: list[Row]) -> list[Target]:
    """The figures of the issue."""
    own = [row for row in rows if not row.why]
    others = [row for row in own if row.over != 1.0]
    worst = max(own, key=lambda row: row.over)
    beyond = [row for row in own if row.over > FACTOR]
    large = [row for row in beyond if row.over * SMALL <= fastest(row.runs)]
    unsolved = sum(row.runs.result.status != "optimal" for row in rows)
    methods = sum(
        row.runs.result.method != first.runs.result.method
        for row in own
        for first in [next(r for r in rows if r.problem == row.problem and r.size == row.size)]
    )
    mean = geometric_mean(row.over for row in others)
    return [
        Target(f"geometric mean of {len(others)} ratios to the plain text", mean, FACTOR, show=ratio),
        Target(
            f"the worst ({worst.problem}: {worst.text}, {worst.size[0]:,} x {worst.size[1]})",
            worst.over,
            FACTOR,
            show=ratio,
        ),
        Target(f"of {len(own)} texts those beyond {FACTOR} times the plain one", float(len(beyond)), 0.0),
        Target(f"of these with a plain text of {duration(SMALL)} or more", float(len(large)), 0.0),
        Target("texts planned with another method than the plain one", float(methods), 0.0),
        Target("texts that were not solved", float(unsolved), 0.0),
    ]


if __name__ == "__main__":
    main(sys.argv[1:])
