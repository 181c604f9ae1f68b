"""Time and memory against CVXPY with its default and its other open solvers, on two problems that it can state in a line.

Each solver runs in a process of its own, on one thread: `python benchmarks/against_cvxpy.py`. Data are read into memory before the
clock starts; the time is from the arrays to the answer, and includes what each does to them (compiling the model, planning, scaling,
factorising, verifying).
"""

from __future__ import annotations

import sys
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from generators import simplex_ls, sparse_rows
from report import Report, Target, ratio, size
from timing import duration, interleaved, timed
from watched import Watched, phase, result, watch

PROGRAMS = Path(__file__).parent / "programs"
SOLVERS = {
    "simplex": ["default", "CLARABEL", "OSQP", "SCS", "HIGHS"],
    "logistic": ["default", "CLARABEL", "SCS"],
}
TITLES = {
    "simplex": "simplex least squares, 20,000 x 256 dense (`simplex_ls`)",
    "logistic": "l1-ball logistic regression, 2,000 x 5,000 sparse (`sparse_rows`), radius 10",
}
RADIUS = 10.0
TOL = 1e-6
SECONDS = 120.0
"""What a solver is given."""
FASTER = 10.0
SMALLER = 3.0


def main() -> None:
    """Measure, and write results/against_cvxpy.md."""
    report = Report(
        "against_cvxpy",
        "Against CVXPY",
        "The same problems stated in CVXPY and given to its default solver and to every other open solver that takes them, at their own "
        "settings; each in a process of its own on one thread. fwdsl certifies a relative gap of 1e-6.",
        "`simplex_ls` and `sparse_rows` of generators.py, seed 0",
        ["numpy", "scipy", "numba", "cvxpy", "clarabel", "osqp", "scs", "highspy"],
    )
    report.section(
        "How it is measured",
        "*first*: the first solve in a process, kernels loaded from the cache on disk; *warm*: the middle one of three after that. CVXPY's "
        "process has solved a problem of 20 rows before its one time is taken, which is compared with both. *memory*: the peak of the "
        "resident memory (VmHWM) above that after imports, everything included (data, and for fwdsl the compiler that loads kernels); "
        "*after warm-up*: above that after a problem of 20 rows, data included; *beside the data*: above that after reading the data too. "
        "*above our bound*: (F - D) / F, F the objective at the answer by NumPy and D the dual bound of fwdsl; negative where the answer "
        "is outside the set by more than that. *infeasibility*: the largest violation of a constraint.",
    )
    with tempfile.TemporaryDirectory() as folder:
        for which in SOLVERS:
            store(which, Path(folder))
            compare(which, folder, report)
    report.write()


def compare(which: str, folder: str, report: Report) -> None:
    """All solvers on one problem."""
    child(which, "fwdsl", folder)  # so that the cache has all kernels
    first, ours = (child(which, solver, folder) for solver in ("fwdsl-first", "fwdsl"))
    for watched in (first, ours):
        if watched.failure:
            raise RuntimeError(f"fwdsl {watched.failure} on {which}")
    bound = ours.result["dual_bound"]
    rows = [row("fwdsl, first", first, bound), row("fwdsl, warm", ours, bound)]
    found = {solver: child(which, solver, folder) for solver in SOLVERS[which]}
    rows += [row(f"CVXPY, {solver}", watched, bound) for solver, watched in found.items()]
    report.section(
        TITLES[which][0].upper() + TITLES[which][1:], f"Relative gap of fwdsl, verified: {ours.result['gap']:.1e}."
    )
    columns = [
        "solver",
        "status",
        "time",
        "memory",
        "after warm-up",
        "beside the data",
        "objective",
        "above our bound",
        "infeasibility",
    ]
    report.table(columns, rows)
    name = TITLES[which].split(",")[0]
    report.target(*targets(name, first, ours, {s: w for s, w in found.items() if not w.failure}))


def targets(name: str, first: Watched, ours: Watched, found: Mapping[str, Watched]) -> Iterator[Target]:
    """Ratios to CVXPY's default and to the best of all its solvers that end optimal (perhaps inaccurately)."""
    solved = {s: w for s, w in found.items() if str(w.result["status"]).startswith("optimal")}
    fastest = min(solved.values(), key=lambda w: w.result["seconds"])
    for kind, theirs in (("default", solved.get("default")), ("fastest", fastest)):
        if theirs is not None:
            label = f"{name}: time of CVXPY's {kind} ({theirs.result['solver']}) over ours"
            seconds = theirs.result["seconds"]
            yield Target(f"{label}, warm", seconds / ours.result["seconds"], FASTER, least=True, show=ratio)
            yield Target(f"{label}, first", seconds / first.result["seconds"], FASTER, least=True, show=ratio)
    for since, label in (("warmed", "after warm-up"), ("imported", "after imports alone")):
        least = min(solved.values(), key=lambda w: w.resident(since))
        for kind, theirs in (("default", solved.get("default")), ("least demanding", least)):
            if theirs is not None:
                part = theirs.resident(since) / ours.resident(since)
                what = f"{name}: memory {label} of CVXPY's {kind} ({theirs.result['solver']}) over ours"
                yield Target(what, part, SMALLER, least=True, show=ratio)
    yield Target(f"{name}: verified relative gap of fwdsl", ours.result["gap"], TOL)


def row(label: str, watched: Watched, bound: float) -> list[str]:
    if watched.failure:
        return [label, watched.failure, *[""] * 7]
    found = watched.result
    return [
        f"{label} ({found['solver']})",
        found["status"],
        duration(found["seconds"]),
        size(watched.resident("imported")),
        size(watched.resident("warmed")) if "warmed" in [p.name for p in watched.phases] else "",
        size(watched.resident("loaded")),
        f"{found['objective']:.9g}",
        f"{(found['objective'] - bound) / abs(found['objective']):.1e}",
        f"{found['infeasibility']:.1e}",
    ]


def child(which: str, solver: str, folder: str) -> Watched:
    """A solver on a problem, in a process of its own."""
    return watch([__file__, which, solver, folder], threads=1, seconds=SECONDS)


# --- data ---------------------------------------------------------------------------------------------------------------


def make(which: str, **sizes: int) -> dict[str, Any]:
    """The data of a problem, by the names of the program."""
    if which == "simplex":
        return dict(zip(("A", "b"), simplex_ls(**sizes), strict=True))
    return dict(zip(("X", "y"), sparse_rows(**sizes), strict=True))


def tiny(which: str) -> dict[str, Any]:
    """The same kind of data for a warm-up."""
    return make(which, n=20, d=10) if which == "simplex" else make(which, n=20, d=30, row_nnz=5, support=4)


def store(which: str, folder: Path) -> None:
    """Make the data and save them, so that no solver's process makes them."""
    data = make(which)
    if which == "simplex":
        np.savez(folder / "simplex.npz", **data)
    else:
        sp.save_npz(folder / "X.npz", data["X"], compressed=False)
        np.save(folder / "y.npy", data["y"])


def fetch(which: str, folder: Path) -> dict[str, Any]:
    if which == "simplex":
        with np.load(folder / "simplex.npz") as file:
            return {"A": file["A"], "b": file["b"]}
    return {"X": sp.csr_array(sp.load_npz(folder / "X.npz")), "y": np.load(folder / "y.npy")}


def judge(which: str, data: Mapping[str, Any], x: Any) -> dict[str, float]:
    """Objective and infeasibility of an answer."""
    if which == "simplex":
        r = data["A"] @ x - data["b"]
        return {
            "objective": float(r @ r) / r.size,
            "infeasibility": max(abs(float(x.sum()) - 1.0), float(-x.min()), 0.0),
        }
    value = float(np.logaddexp(0.0, -data["y"] * (data["X"] @ x)).mean())
    return {"objective": value, "infeasibility": max(float(np.abs(x).sum()) / RADIUS - 1.0, 0.0)}


# --- in a solver's process ----------------------------------------------------------------------------------------------


def run_fwdsl(which: str, folder: Path, first: bool) -> None:
    """Solve by fwdsl; without a warm-up where its first solve is asked for."""
    import numba  # noqa: F401  # imports are not what is measured

    import fwdsl as fw
    import fwdsl.backends.registry
    import fwdsl.bind
    import fwdsl.check
    import fwdsl.grammar
    import fwdsl.plan
    import fwdsl.solve

    def solve(data: Mapping[str, Any]) -> fw.Solution:
        if which == "simplex":
            problem = fw.load(PROGRAMS / "simplex_least_squares.fw").bind(**data)
        else:
            problem = fw.load(PROGRAMS / "l1_logistic.fw").bind(**data, delta=RADIUS)
        return problem.solve(tol=TOL, threads=1)

    phase("imported")
    if not first:
        solve(tiny(which))
        phase("warmed")
    data = fetch(which, folder)
    phase("loaded")
    runs = interleaved({"fwdsl": partial(solve, data)}, rounds=1 if first else 3)["fwdsl"]
    phase("done")
    solution: fw.Solution = runs.result
    report = {"solver": solution.method, "status": solution.status, "seconds": runs.median}
    certificate = {"gap": solution.relative_gap, "dual_bound": solution.dual_bound}
    result({**report, **certificate, **judge(which, data, solution["w" if which == "simplex" else "beta"])})


def run_cvxpy(which: str, solver: str, folder: Path) -> None:
    """Solve by one of CVXPY's solvers."""
    import cvxpy as cp

    def solve(data: Mapping[str, Any]) -> tuple[Any, Any]:
        if which == "simplex":
            x = cp.Variable(data["A"].shape[1])
            objective = cp.sum_squares(data["A"] @ x - data["b"]) / data["b"].size
            problem = cp.Problem(cp.Minimize(objective), [x >= 0, cp.sum(x) == 1])
        else:
            x = cp.Variable(data["X"].shape[1])
            losses = cp.logistic(cp.multiply(-data["y"], data["X"] @ x))
            problem = cp.Problem(cp.Minimize(cp.sum(losses) / data["y"].size), [cp.norm1(x) <= RADIUS])
        problem.solve(**({} if solver == "default" else {"solver": solver}))
        return problem, x.value

    warnings.filterwarnings("ignore")  # of inaccurate solutions: the status says it
    phase("imported")
    solve(tiny(which))
    phase("warmed")
    data = fetch(which, folder)
    phase("loaded")
    run = timed(partial(solve, data))
    phase("done")
    problem, x = run.result
    found = {"solver": problem.solver_stats.solver_name, "status": problem.status, "seconds": run.seconds}
    result({**found, **judge(which, data, x)})


if __name__ == "__main__":
    if len(sys.argv) == 4:
        which, solver, folder = sys.argv[1:]
        if solver.startswith("fwdsl"):
            run_fwdsl(which, Path(folder), first=solver == "fwdsl-first")
        else:
            run_cvxpy(which, solver, Path(folder))
    else:
        main()
