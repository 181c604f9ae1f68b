"""Programs of the kinds that people write, each to a certified 1e-6, beside CVXPY's default and its other open solvers."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from machine import start_over

if __name__ == "__main__":
    start_over()

from peers.workers import Answer, Worker
from report import Report, Target, ratio, size
from timing import TURNS, duration

import fwdsl as fw
from fwdsl.check.program import forget_texts

from . import cones, large, learning, linear, logarithms, quadratic, signals, spectra  # noqa: F401 (they register their programs)
from .written import CASES, LARGE, Case, Written

VALUES = Path(__file__).with_name("values.json")
"""The optimal value of each program, by its name, from the most exact of CVXPY's solvers at tight tolerances."""
TOL = 1e-6
OPEN = ("CLARABEL", "SCS", "OSQP", "HIGHS")
DEFAULT = "default"
STARTING = 120.0
"""Seconds beyond the cap that a first run is given, in which kernels may be compiled."""
ACCURATE = 1e-5
"""The relative error of the value at which an answer of CVXPY's counts."""
AT_SIZE = 1e-4
"""The relative error up to which an answer counts at size, where solvers stop at their own tolerances."""
SOON = 0.05
"""Seconds that are soon enough, whatever CVXPY takes."""
TIGHT = {
    "CLARABEL": dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), 1e-11),
    "SCS": {"eps_abs": 1e-9, "eps_rel": 1e-9, "max_iters": 500_000},
}
PACKAGES = ["numpy", "scipy", "numba", "cvxpy", "clarabel", "osqp", "scs", "highspy"]


def main() -> None:
    """Measure, and write results/programs.md where all programs were asked for."""
    options = arguments()
    every = LARGE if options.large else CASES
    cases = [c for c in every.values() if not options.parts or any(p in c.name or p == c.kind for p in options.parts)]
    if options.list:
        print("\n".join(f"{case.kind}: {case.name}: {case.title}" for case in cases))
        return
    if options.values:
        keep_values(cases)
        return
    report = Report(
        "programs_large" if options.large else "programs",
        "Programs at size" if options.large else "Programs that people write",
        "Six programs at the sizes at which people meet them, beside the open solvers that are made for such sizes."
        if options.large
        else f"{len(cases)} small and medium programs (linear, quadratic, cones, logarithms, eigenvalues, signals, models), as they are written "
        "in the language and in CVXPY.",
        "made by seeds in `benchmarks/programs/`; the values were found beforehand by CVXPY's solvers at tight tolerances",
        PACKAGES,
    )
    known = json.loads(VALUES.read_text(encoding="utf-8"))
    load_everything()
    rows: list[Row] = []
    with suppress(KeyboardInterrupt):  # the page has what was measured until then
        for case in cases:
            found = (
                measured_at_size(case, options)
                if options.large
                else measured(case, known.get(case.name, math.nan), options)
            )
            rows.append(found)
            print(" | ".join(rows[-1].cells()), file=sys.stderr, flush=True)
    (write_at_size if options.large else write)(report, rows, options)


def load_everything() -> None:
    """Import what everyone needs and solve something tiny, so that the processes begin with it and their memory is that of the programs."""
    import cvxpy as cp

    x = cp.Variable(2)
    for solver in OPEN:
        cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1]).solve(solver=solver)
    for method in ("interior", "pdhg", "apg"):
        fw.parse("var x: vector[2] in box(0, 1)\nminimize sum_squares(x - 1) + sum(x)").solve(method=method, threads=1)


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.programs", description=__doc__)
    parser.add_argument("parts", nargs="*", help="kinds, or parts of names of programs; all unless given")
    parser.add_argument("--repeats", type=int, default=3, help="rounds in which competitors take turns")
    parser.add_argument("--cap", type=float, help="seconds that one run may take: 20 unless given, 150 with `--large`")
    parser.add_argument("--alone", action="store_true", help="beside CVXPY's default solver alone")
    parser.add_argument("--large", action="store_true", help="six programs at size, beside the best open solver")
    parser.add_argument("--values", action="store_true", help="find the optimal values anew")
    parser.add_argument("--list", action="store_true", help="list the programs and measure nothing")
    options = parser.parse_args()
    options.cap = options.cap or (150.0 if options.large else 20.0)
    return options


# --- a program ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """What was found for a program: seconds and bytes of everyone who answered, and the errors of their values."""

    case: Case
    status: str
    method: str
    seconds: Mapping[str, float]
    memory: Mapping[str, float]
    errors: Mapping[str, float]
    #: of the first calls of turns
    firsts: Mapping[str, float] = field(default_factory=dict)

    @property
    def ours(self) -> float:
        """Our seconds; infinite where the answer is not certified."""
        return self.seconds["fwdsl"] if self.status == "optimal" else math.inf

    def accurate(self, solver: str) -> bool:
        """True if CVXPY's value with this solver is right."""
        return self.errors.get(solver, math.inf) <= (AT_SIZE if self.case.kind == "large" else ACCURATE)

    @property
    def over_default(self) -> float:
        """Our time over that of CVXPY's default solver; nan where that has no answer."""
        return self.ours / self.seconds[DEFAULT] if DEFAULT in self.seconds else math.nan

    @property
    def best(self) -> str:
        """The fastest solver of CVXPY's whose value is right; empty where there is none."""
        right = {s: t for s, t in self.seconds.items() if s != "fwdsl" and self.accurate(s)}
        return min(right, key=lambda s: right[s]) if right else ""

    @property
    def is_soon(self) -> bool:
        """True if it takes at most three times what CVXPY's default takes, or hardly any time."""
        return self.ours <= max(SOON, 3.0 * self.seconds.get(DEFAULT, math.inf))

    def cells(self) -> list[str]:
        """A row of the table."""
        best = self.best
        return [
            self.case.name,
            self.status if self.status != "optimal" else self.method,
            duration(self.seconds["fwdsl"]) if "fwdsl" in self.seconds else "",
            duration(self.seconds[DEFAULT]) if DEFAULT in self.seconds else "no answer",
            f"{best} {duration(self.seconds[best])}" if best else "none right",
            ratio(self.over_default) if math.isfinite(self.over_default) else "",
            f"{self.errors['fwdsl']:.0e}" if "fwdsl" in self.errors else "",
            f"{self.errors[DEFAULT]:.0e}" if DEFAULT in self.errors else "",
            size(self.memory["fwdsl"]) if "fwdsl" in self.memory else "",
            size(self.memory[DEFAULT]) if DEFAULT in self.memory else "",
        ]


COLUMNS = [
    "program",
    "method",
    "ours",
    "CVXPY",
    "best open solver",
    "ours over CVXPY",
    "error",
    "CVXPY's",
    "memory",
    "CVXPY's memory",
]


def measured(case: Case, value: float, options: argparse.Namespace) -> Row:
    """All competitors on one program, in turns, each in a process of its own that has solved it before."""
    written = case.make()
    names = ["fwdsl", DEFAULT, *(() if options.alone else OPEN)]
    workers = {name: Worker(job(written, name), partial(judged, name)) for name in names}
    answers: dict[str, list[Answer]] = {name: [] for name in names}
    first = {name: w.ask(options.cap, options.cap + STARTING) for name, w in workers.items()}
    for _ in range(options.repeats):
        for name, worker in workers.items():
            if not first[name].failed:
                answers[name].append(worker.ask(options.cap, options.cap + 5.0, turn=True))
    for worker in workers.values():
        worker.end()
    good = {n: [a for a in found if a.run is not None] for n, found in answers.items()}
    good = {n: found for n, found in good.items() if found}
    ours = good["fwdsl"][-1].run.result if "fwdsl" in good else {}  # type: ignore[union-attr]
    return Row(
        case,
        ours.get("status", first["fwdsl"].failed or "no answer"),
        ours.get("method", ""),
        {n: median(a.run.seconds for a in found if a.run) for n, found in good.items()},
        {n: workers[n].memory for n in good},
        {n: abs(found[-1].value - value) / max(abs(value), TOL) for n, found in good.items()},
        {n: median(a.run.first for a in found if a.run) for n, found in good.items()},
    )


def measured_at_size(case: Case, options: argparse.Namespace) -> Row:
    """Ours in a process that has solved the program before, and every other solver once, which compiles nothing; our value is the known one."""
    written = case.make()
    others = [*written.solvers, *written.peers]
    workers = {name: Worker(job(written, name), partial(judged, name)) for name in ("fwdsl", *others)}
    first = {name: worker.ask(options.cap, options.cap + STARTING) for name, worker in workers.items()}
    again = [workers["fwdsl"].ask(options.cap, options.cap + STARTING) for _ in range(options.repeats)]
    for worker in workers.values():
        worker.end()
    good = [a for a in again if a.run is not None]
    ours = good[-1].run.result if good else {}  # type: ignore[union-attr]
    answered = {name: first[name] for name in others if first[name].run is not None}
    seconds = {name: a.run.seconds for name, a in answered.items() if a.run is not None}
    value = good[-1].value if good else math.nan
    return Row(
        case,
        ours.get("status", first["fwdsl"].failed or "no answer"),
        ours.get("method", ""),
        seconds | ({"fwdsl": median(a.run.seconds for a in good if a.run)} if good else {}),
        {name: workers[name].memory for name in ("fwdsl", *answered)},
        {name: abs(a.value - value) / abs(value) for name, a in answered.items()} | ({"fwdsl": 0.0} if good else {}),
    )


def job(written: Written, name: str) -> Callable[[float], Any]:
    """The timed call: from text and arrays to the answer."""
    if name == "fwdsl":
        return partial(solve, written)
    if name in written.peers:
        return lambda limit: written.peers[name]()
    return partial(solve_by_cvxpy, written, {} if name == DEFAULT else {"solver": name})


def solve(written: Written, limit: float) -> fw.Solution:
    """Ours."""
    forget_texts()  # CVXPY makes its problem anew too
    return fw.parse(written.text).bind(**written.data).solve(tol=TOL, threads=1, time=limit)


def solve_by_cvxpy(written: Written, options: Mapping[str, Any], limit: float) -> Any:
    """CVXPY's, its compilation included."""
    import cvxpy as cp

    objective, constraints = written.state(cp)
    problem = cp.Problem(objective, constraints)
    problem.solve(**options)
    return problem


def judged(name: str, found: Any) -> tuple[float, Any]:
    """The value of an answer, and what is told beside it; not timed."""
    if name == "fwdsl":
        return found.objective, {"status": str(found.status), "method": found.method}
    if isinstance(found, float):
        return found, {}
    if not str(found.status).startswith("optimal"):
        raise RuntimeError(str(found.status))
    return float(found.value), {"status": str(found.status)}


# --- values -------------------------------------------------------------------------------------------------------------


def keep_values(cases: Sequence[Case]) -> None:
    """Find the optimal values by CVXPY, tightly, and keep them."""
    known = json.loads(VALUES.read_text(encoding="utf-8")) if VALUES.exists() else {}
    for case in cases:
        worker = Worker(partial(tightly, case.make()), lambda found: (found, None))
        answer = worker.ask(0.0, 300.0)
        worker.end()
        print(f"{case.name}: {answer.value!r} {answer.failed}", flush=True)
        if not answer.failed:
            known[case.name] = answer.value
    VALUES.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")


def tightly(written: Written, _: float) -> float:
    """The optimal value by the first of CVXPY's solvers that finds it at a tight tolerance."""
    import cvxpy as cp

    failures = []
    for solver, settings in [*TIGHT.items(), ("CLARABEL", {})]:
        objective, constraints = written.state(cp)
        problem = cp.Problem(objective, constraints)
        try:
            problem.solve(solver=solver, **settings)
        except cp.error.SolverError as error:
            failures.append(str(error))
            continue
        if problem.status == "optimal":
            return float(problem.value)
        failures.append(problem.status)
    raise RuntimeError("; ".join(failures))


# --- the page -----------------------------------------------------------------------------------------------------------


def write_at_size(report: Report, rows: Sequence[Row], options: argparse.Namespace) -> None:
    """The page of programs at size: ours beside each solver that answered."""
    over = [row.ours / row.seconds[row.best] if row.best else math.nan for row in rows]
    report.target(
        Target(
            "programs certified", sum(r.status == "optimal" for r in rows), len(rows), least=True, show="{:.0f}".format
        ),
        Target("our time over the best open solver's, worst", max(over, default=math.nan), 2.0, show=ratio),
    )
    report.section(
        "Conditions",
        f"One thread. Ours is warm, the median of {options.repeats} solves from text and arrays to the answer, certified to {TOL:g}. Others run "
        "once at their own tolerances, CVXPY's compilation included; their values are told relative to ours, and *best* is the fastest within "
        f"{AT_SIZE:g}. A run may take {options.cap:g} s.",
    )
    report.table(
        ["program", "method", "ours", "best", "ours over the best", "all", "memory"],
        [
            [
                row.case.name,
                row.method if row.status == "optimal" else row.status,
                duration(row.seconds["fwdsl"]) if "fwdsl" in row.seconds else "",
                row.best,
                ratio(ours) if math.isfinite(ours) else "",
                ", ".join(f"{n} {duration(t)} ({row.errors[n]:.0e})" for n, t in row.seconds.items() if n != "fwdsl")
                or "none answered",
                ", ".join(f"{n} {size(m)}" for n, m in row.memory.items()),
            ]
            for row, ours in zip(rows, over, strict=True)
        ],
    )
    if options.parts:
        print(report.render())
    else:
        report.write()


def write(report: Report, rows: Sequence[Row], options: argparse.Namespace) -> None:
    """The page: targets, conditions, a table a kind."""
    solved = [row for row in rows if row.status == "optimal"]
    right = [row for row in solved if row.errors["fwdsl"] <= ACCURATE]
    over = [row.over_default for row in solved if math.isfinite(row.over_default)]
    report.target(
        Target("programs certified", len(solved), len(rows), least=True, show="{:.0f}".format),
        Target(
            f"of these with the known value to {ACCURATE:g}", len(right), len(solved), least=True, show="{:.0f}".format
        ),
        Target("our time over CVXPY's, median", median(over) if over else math.nan, 0.5, show=ratio),
        Target(
            "share within 3 times CVXPY's time, or 50 ms",
            sum(row.is_soon for row in rows) / max(1, len(rows)),
            0.95,
            least=True,
        ),
    )
    report.section(
        "Conditions",
        "One thread, warm: each in a process of its own that has solved the program before; competitors take turns, "
        f"{options.repeats} rounds, medians. {TURNS} "
        "Ours goes from the text and the arrays to the certified answer: parsing, checking, binding, planning, "
        f"the method and the verification, at a relative gap of {TOL:g}. CVXPY's goes from its expressions to the answer, its compilation included, "
        f"with its default solver and at that solver's own tolerances; *best open solver* is the fastest of {', '.join(OPEN)} and the default whose "
        f"value is right to {ACCURATE:g}. *error* is the relative error of the value against the known one. A run may take {options.cap:g} s. Memory "
        "is the most that the process added while it ran.",
    )
    if over:
        report.text(f"Geometric mean of our time over CVXPY's: {ratio(geometric_mean(over))}.")
    firsts = [row.firsts["fwdsl"] / row.firsts[DEFAULT] for row in rows if {"fwdsl", DEFAULT} <= row.firsts.keys()]
    if firsts:
        report.text(
            f"By the first calls of turns: {ratio(median(firsts))} in the median, {ratio(geometric_mean(firsts))} in the geometric mean."
        )
    for kind in dict.fromkeys(row.case.kind for row in rows):
        report.section(kind[0].upper() + kind[1:])
        report.table(COLUMNS, [row.cells() for row in rows if row.case.kind == kind])
    if options.parts:
        print(report.render())
    else:
        report.write()


if __name__ == "__main__":
    main()
