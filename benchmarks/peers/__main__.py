"""Our time to a certified 1e-6 against specialised solvers, each at the loosest of its tolerances that reaches our objective."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from statistics import median

from machine import start_over

if __name__ == "__main__":
    start_over(threads=2 if "--threads=2" in sys.argv else 1)

from report import Report
from timing import TURNS, Runs, duration

import fwdsl as fw
from fwdsl.backends.registry import AUTOMATIC

from .cases import SIZES, TOL, Case, Instance, Peer, named
from .cold import Ours, Theirs, every_case, seconds
from .convex import MOST
from .page import Row, group, methods, summary, targets
from .workers import Worker

COMPILING = 120.0
"""Seconds beyond the cap that a first run is given, of ours and of `COMPILED`."""
COMPILED = ("celer", "skglm")
ROUNDING = 1e-13
"""Relative differences of objectives that are not told from none."""
OTHERS = ("away_frank_wolfe", "sdca", "l2svm_dual")
"""Methods tried by `--methods` beside those the planner chooses among."""
PACKAGES = ["numpy", "scipy", "numba", "scikit-learn", "celer", "skglm", "cvxpy", "clarabel", "osqp", "scs", "highspy"]


def main() -> None:
    """Measure, and write results/peers.md."""
    options = arguments()
    cases = [
        case
        for case in every_case()
        if case.size in options.sizes and (not options.groups or any(part in case.group for part in options.groups))
    ]
    if options.list:
        print("\n".join(f"{case.group}: {case.name} ({case.size})" for case in cases))
        return
    report = Report(
        "peers",
        "Against specialised solvers",
        "The programs that people bring most, each certified to a relative gap of 1e-6, beside the solvers that are made for them.",
        "synthetic sets of `generators.py`, and files of the LIBSVM collection and others (`../shared/data`)",
        PACKAGES,
    )
    groups: dict[str, list[Row]] = {}
    with suppress(KeyboardInterrupt):  # the page has what was measured until then
        for case in cases:
            row = measured(case, options)
            groups.setdefault(case.group, []).append(row)
            print(said(row), file=sys.stderr, flush=True)
    write(report, groups, options)


def said(row: Row) -> str:
    """A line of progress."""
    best = f"{row.best} {duration(row.times[row.best])}, {row.ratio:.2f} x" if row.best else "no peer"
    faster = "".join(f"; {name} {duration(took)}" for name, took in row.methods.items() if took < row.ours)
    return f"{row.group}: {row.name}: {row.method} {row.status} {duration(row.ours)}; {best}{faster}"


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("groups", nargs="*", help="parts of the names of groups; all unless given")
    parser.add_argument("--sizes", nargs="+", choices=SIZES, default=list(SIZES))
    parser.add_argument("--repeats", type=int, default=5, help="rounds in which competitors take turns")
    parser.add_argument("--cap", type=float, default=30.0, help="seconds that one run may take")
    parser.add_argument(
        "--cvxpy",
        choices=["all", "alone", "none"],
        default="all",
        help="everywhere, where no other peer is installed, or nowhere",
    )
    parser.add_argument(
        "--methods", action="store_true", help="where a peer is faster, try our other methods too, once each"
    )
    parser.add_argument("--threads", type=int, choices=[1, 2], default=1, help="of everyone; written `--threads=2`")
    parser.add_argument(
        "--cold", action="store_true", help="time the first solve of a fresh process too, imports included"
    )
    parser.add_argument("--list", action="store_true", help="list the cases and measure nothing")
    parser.add_argument("--name", default="peers", help="of the page in results/")
    return parser.parse_args()


# --- one case -----------------------------------------------------------------------------------------------------------------


def ours(instance: Instance, cap: float, method: str, threads: int = 1) -> Worker:
    """Our competitor: from arrays to the certified answer."""
    problem = fw.parse("fw 1\n" + instance.text)

    def job(_: float) -> fw.Solution:
        return problem.bind(**instance.data).solve(tol=TOL, threads=threads, time=cap, method=method)

    def judge(solution: fw.Solution) -> tuple[float, tuple[str, str, float]]:
        value = instance.value(*(solution[name] for name in instance.variables))
        limit = solution.objective + TOL * abs(solution.objective)
        reached = next((p.elapsed for p in solution.history if p.objective <= limit), solution.times.solve)
        return value, (solution.method, str(solution.status), reached)

    return Worker(job, judge, threads)


def theirs(instance: Instance, peer: Peer, threads: int = 1) -> Worker:
    """A peer as a competitor."""
    return Worker(peer.fit, lambda point: (instance.value(*point), None), threads)


def measured(case: Case, options: argparse.Namespace) -> Row:
    """All competitors on a case."""
    instance, cap = case.make(), options.cap
    sizes = [named(array) for array in instance.data.values() if getattr(array, "ndim", 0) == 2]
    row = Row(case.group, case.name, sizes[0] if sizes else "", cap=cap)
    load(instance.peers)
    mine = ours(instance, cap, "auto", options.threads)
    first = mine.ask(0.0, 2 * cap + COMPILING)
    if first.run is None:
        row.status, row.ours = first.failed, cap
        mine.end()
        return row
    row.method, row.status, row.reached = first.run.result
    row.ours = first.run.seconds  # kept where no later run ends in time
    peers = chosen(instance.peers, options.cvxpy)
    row.failed = {peer.name: "not installed" for peer in peers if not peer.installed}
    workers = {peer.name: theirs(instance, peer, options.threads) for peer in peers if peer.installed}
    limit = first.value + TOL * abs(first.value) + ROUNDING * abs(first.value)
    for peer in peers:
        if peer.installed:
            sweep(peer, workers[peer.name], limit, cap, row)
    runs = take_turns(mine, {name: workers[name] for name in row.tolerances}, row, options.repeats, cap)
    if runs.all:
        row.ours, row.reached = runs.median, median(run.result[2] for run in runs.all)
    row.memory = {"": mine.memory} | {name: workers[name].memory for name in row.times}
    for worker in (mine, *workers.values()):
        worker.end()
    if options.cold:
        row.cold = cold(case, instance, row, options)
    if options.methods and not row.ratio <= 1.0:
        row.methods = alternatives(instance, row, cap)
    return row


def cold(case: Case, instance: Instance, row: Row, options: argparse.Namespace) -> tuple[float, float]:
    """Our first solve in a fresh process and the fastest peer's; medians."""
    jobs: list[Ours | Theirs] = [Ours("fw 1\n" + instance.text, instance.data, options.threads, options.cap)]
    if row.best:
        jobs.append(Theirs(case.group, case.name, row.best, row.tolerances[row.best], options.threads))
    found = [median(seconds(job) for _ in range(options.repeats)) for job in jobs]
    return found[0], found[1] if row.best else float("nan")


def chosen(peers: Sequence[Peer], cvxpy: str) -> list[Peer]:
    """The peers with CVXPY's solvers everywhere (`all`), where there is no other (`alone`), or nowhere (`none`)."""
    others = [peer for peer in peers if peer.needs != "cvxpy"]
    alone = not any(peer.installed for peer in others)
    return list(peers) if cvxpy == "all" or (cvxpy == "alone" and alone) else others


def load(peers: Sequence[Peer]) -> None:
    """Import numba and the peers before processes are made, whose memory is then what they add.

    skglm keeps no compiled code on disk: it compiles here, once for all processes.
    """
    import_module("numba")
    for peer in peers:
        if peer.installed:
            import_module(peer.needs)
            if peer.needs == "skglm":
                with suppress(Exception):  # its own process will say so
                    peer.fit(peer.grid[0])


def sweep(peer: Peer, worker: Worker, limit: float, cap: float, row: Row) -> None:
    """Find the loosest tolerance at which the peer's objective is at most the limit; notes why there is none."""
    worker.ask(peer.grid[0], 2 * cap + (COMPILING if peer.needs in COMPILED else 0.0))
    lowest = float("inf")
    for tol in peer.grid:
        answer = worker.ask(tol, 2 * cap)
        if answer.run is None:
            row.failed[peer.name] = answer.failed
            return
        if answer.value <= limit:
            row.tolerances[peer.name] = tol
            return
        lowest = min(lowest, answer.value)
        if answer.run.seconds > cap:
            break
    row.failed[peer.name] = f"not reached, {(lowest - limit) / abs(limit):.0e} above"


def take_turns(mine: Worker, workers: dict[str, Worker], row: Row, repeats: int, cap: float) -> Runs:
    """Rounds in which each has a turn, one that has used up twice the cap sits out; ours are returned, medians of peers are kept in the row."""
    runs = {name: Runs() for name in ("", *workers)}
    for _ in range(repeats):
        for name, each in runs.items():
            worker, argument = (workers[name], row.tolerances[name]) if name else (mine, 0.0)
            if worker.alive and each.total < 2 * cap:
                answer = worker.ask(argument, 2 * cap, turn=True)
                each.all += [answer.run] if answer.run is not None else []
    row.times = {name: each.median for name, each in runs.items() if name and each.all}
    row.firsts = {name: each.first for name, each in runs.items() if each.all}
    return runs[""]


def alternatives(instance: Instance, row: Row, cap: float) -> dict[str, float]:
    """Seconds of our methods that certify about as fast as the planner's choice, which is among them."""
    found = {row.method: row.ours} if row.certified else {}
    allowed = min(cap, 1.2 * row.ours + 0.05)
    for method in (*AUTOMATIC, *OTHERS):
        if method == row.method:
            continue
        worker = ours(instance, allowed, method)
        if worker.ask(0.0, allowed + COMPILING).run is not None:
            answer = worker.ask(0.0, 2 * allowed)
            if answer.run is not None and answer.run.result[1] == "optimal":
                found[method] = answer.run.seconds
        worker.end()
    return found


# --- the page -----------------------------------------------------------------------------------------------------------------


def write(report: Report, groups: dict[str, list[Row]], options: argparse.Namespace) -> None:
    """Write the page."""
    report.name = options.name
    rows = [row for found in groups.values() for row in found]
    targets(report, rows)
    report.section(
        "Conditions",
        f"{('One thread', 'Two threads')[options.threads - 1]}, warm: each competitor in a process of its own that has solved the problem "
        f"before; competitors take turns, {options.repeats} rounds, medians. {TURNS} "
        "Ours goes from arrays to the certified answer: binding, planning, the method and the independent "
        "verification; `reached` is when the method's own objective first was within 1e-6 of the answer's, by its history (after binding "
        "and planning). A peer gets the format that it works in, made before, and runs at the loosest tolerance of a grid (powers of ten) at which "
        "its objective, recomputed in NumPy with its point moved into the sets, is at most ours + 1e-6. CVXPY's times include its compilation; "
        f"it is tried up to {MOST:,} numbers of data. "
        "`memory` is the most that a process of ours, and of the best peer, held while it ran, beyond the data and what is imported before. "
        + (
            "`cold` is the first solve of a fresh process, ours and the best peer's, imports of the solver included but for what reading "
            "LIBSVM files loads of scikit-learn. " * options.cold
        )
        + f"A run may take {options.cap:g} s; a peer that takes longer at a tolerance that does not reach it yet is not given a tighter one.",
    )
    summary(report, groups)
    for name, found in groups.items():
        group(report, name, found)
    if options.methods:
        methods(report, rows)
    report.write()


if __name__ == "__main__":
    main()
