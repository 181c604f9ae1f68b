"""Sizes that CVXPY cannot hold: simplex least squares of 100,000 x 256, and of 2,400,256 x 256 from a memory-mapped float32 file.

Each run is a process of its own on one thread: `python benchmarks/sizes.py`. The large file (2.4 GB) is made in the folder for temporary
files and deleted afterwards; where the disk has no room for it that part is left out, and the page says so.
"""

from __future__ import annotations

import math
import shutil
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from generators import simplex_ls
from report import Report, Target, number, ratio, size
from timing import duration, interleaved, timed
from watched import Watched, phase, result, watch

PROGRAM = Path(__file__).parent / "programs" / "simplex_least_squares.fw"
TOL = 1e-6
MIDDLE = (100_000, 256)
LARGE = (2_400_256, 256)
FASTER = 10.0
SECONDS = 90.0
"""What CVXPY's default is given for the middle size."""
START = 20.0
"""What a process may take before that: imports, a warm-up, reading the data."""
VECTORS = 20
BLOCK = 1 << 16
"""Rows that are written to the large file at a time."""
BLOCKS = 64e6
"""Bytes that the blocks of rows in work may take beside the vectors."""


def main() -> None:
    """Measure, and write results/sizes.md."""
    report = Report(
        "sizes",
        "Sizes",
        "Simplex least squares at sizes beyond CVXPY's. fwdsl certifies a relative gap of 1e-6.",
        "`simplex_ls` of generators.py at 100,000 x 256; the same by blocks of rows in float32 at 2,400,256 x 256, seed 0",
        ["numpy", "scipy", "numba", "cvxpy", "osqp"],
    )
    middle(report)
    large(report)
    report.write()


def middle(report: Report) -> None:
    """Against CVXPY's default solver, which is stopped after `SECONDS`."""
    with tempfile.TemporaryDirectory() as folder:
        A, b = simplex_ls(*MIDDLE)
        np.save(Path(folder) / "A.npy", A)
        np.save(Path(folder) / "b.npy", b)
        del A, b
        ours = watch([__file__, "fwdsl", folder], seconds=SECONDS)
        theirs = watch([__file__, "cvxpy", folder], seconds=START + SECONDS)
    if ours.failure:
        raise RuntimeError(f"fwdsl {ours.failure}")
    rows = [row("fwdsl", ours), row("CVXPY, default", theirs)]
    report.section(
        f"{MIDDLE[0]:,} x {MIDDLE[1]}, in memory",
        "Time from the arrays to the answer, after a problem of 20 rows; *memory*: the peak of the resident memory (VmHWM) above that with "
        "data read.",
    )
    report.table(["solver", "status", "time", "memory beside the data", "objective", "infeasibility"], rows)
    least = theirs.result["seconds"] if not theirs.failure else SECONDS
    stopped = f", stopped after {SECONDS:.0f} s" if theirs.failure else f", {theirs.result['status']}"
    what = f"{MIDDLE[0]:,} x {MIDDLE[1]}: time of CVXPY's default{stopped}, over ours"
    report.target(
        Target(what, least / ours.result["seconds"], FASTER, least=True, show=ratio),
        Target(f"{MIDDLE[0]:,} x {MIDDLE[1]}: verified relative gap", gap(ours), TOL),
    )


def large(report: Report) -> None:
    """From a memory-mapped file, its memory watched."""
    n, d = LARGE
    bytes_ = 4 * n * d
    title = f"{n:,} x {d} float32, memory-mapped"
    with tempfile.TemporaryDirectory() as folder:
        if shutil.disk_usage(folder).free < 1.5 * bytes_:
            report.section(title, f"Left out: {folder} has no room for {size(bytes_)}.")
            return
        store(Path(folder), n, d)
        ours = watch([__file__, "mapped", folder], seconds=600.0)
    if ours.failure:
        raise RuntimeError(f"fwdsl {ours.failure} on the large file")
    r = ours.result
    vectors = 8.0 * VECTORS * (n + d)
    used = {"loading": ours.own("loaded", "solving"), "solving": ours.own("solving", "done")}
    report.section(
        title,
        f"{size(bytes_)} in an `npy` file. Pages of the file can be taken back by the kernel at any time, so the memory is RssAnon + "
        f"RssShmem, read every millisecond from outside, above what it was after imports and a tiny problem; the allowance is {VECTORS} "
        f"vectors of n + d numbers ({size(vectors)}) and {size(BLOCKS)} for blocks of rows.",
    )
    report.table(
        [
            "method",
            "status",
            "gap",
            "iterations",
            "passes",
            "bind",
            "solve",
            "memory of binding",
            "of solving",
            "planned",
        ],
        [
            [
                r["solver"],
                r["status"],
                f"{r['gap']:.1e}",
                str(r["iterations"]),
                number(r["passes"]),
                duration(r["bind"]),
                duration(r["seconds"]),
                size(used["loading"]),
                size(used["solving"]),
                size(r["planned"]),
            ]
        ],
    )
    report.target(
        Target(f"{title}: memory beside the file", ours.own("loaded", "done"), vectors + BLOCKS, show=size),
        Target(f"{title}: verified relative gap", gap(ours), TOL),
    )


def gap(ours: Watched) -> float:
    """The gap of an answer that ended optimal."""
    return float(ours.result["gap"]) if ours.result["status"] == "optimal" else math.nan


def row(label: str, watched: Watched) -> list[str]:
    if watched.failure:
        return [label, watched.failure.replace(f"{START + SECONDS:.0f} s", f"{SECONDS:.0f} s"), *[""] * 4]
    r = watched.result
    objective = f"{r['objective']:.9g}" if r["objective"] is not None else "none"
    infeasibility = f"{r['infeasibility']:.1e}" if r["infeasibility"] is not None else "none"
    memory = size(watched.resident("loaded", "done"))
    return [f"{label} ({r['solver']})", r["status"], duration(r["seconds"]), memory, objective, infeasibility]


def store(folder: Path, n: int, d: int) -> None:
    """Write A (float32) and b (float64) by blocks of rows: Gaussian A, b = A w + 0.1 noise, w uniform in the simplex."""
    rng = np.random.default_rng(0)
    w = rng.dirichlet(np.ones(d)).astype(np.float32)
    A = np.lib.format.open_memmap(folder / "A.npy", mode="w+", dtype=np.float32, shape=(n, d))
    b = np.empty(n)
    for start in range(0, n, BLOCK):
        rows = slice(start, min(n, start + BLOCK))
        block = rng.standard_normal((rows.stop - start, d), dtype=np.float32)
        A[rows] = block
        b[rows] = block @ w + 0.1 * rng.standard_normal(block.shape[0])
    A.flush()
    np.save(folder / "b.npy", b)


# --- in a process of its own --------------------------------------------------------------------------------------------


def judged(A: Any, b: Any, x: Any) -> dict[str, float | None]:
    """Objective and infeasibility of an answer by NumPy; None where there is no answer."""
    if x is None:
        return {"objective": None, "infeasibility": None}
    r = A @ x - b
    outside = max(abs(float(x.sum()) - 1.0), float(-x.min()), 0.0)
    return {"objective": float(r @ r) / r.size, "infeasibility": outside}


def run_fwdsl(folder: Path, mapped: bool) -> None:
    """Solve by fwdsl, from arrays in memory or from the mapped file."""
    import fwdsl as fw

    phase("imported")
    A, b = simplex_ls(20, 10)
    fw.load(PROGRAM).bind(A=A.astype(np.float32) if mapped else A, b=b).solve(threads=1)
    A, b = np.load(folder / "A.npy", mmap_mode="r" if mapped else None), np.load(folder / "b.npy")
    phase("loaded")
    if mapped:
        bound = timed(lambda: bind(A, b))
        phase("solving")
        run = timed(partial(bound.result.solve, tol=TOL, threads=1))
        solution, seconds, binding = run.result, run.seconds, bound.seconds
    else:
        runs = interleaved({"fwdsl": lambda: fw.load(PROGRAM).bind(A=A, b=b).solve(tol=TOL, threads=1)}, rounds=3)[
            "fwdsl"
        ]
        solution, seconds, binding = runs.result, runs.median, 0.0
    phase("done")
    found = {
        "solver": solution.method,
        "status": solution.status,
        "seconds": seconds,
        "bind": binding,
        "gap": solution.relative_gap,
        "iterations": solution.iterations,
        "passes": solution.passes,
        "planned": solution.plan.chosen.estimate.memory,
    }
    result({**found, **(judged(A, b, solution["w"]) if not mapped else {})})


def bind(A: Any, b: Any) -> Any:
    """The program bound to arrays, their checks and measurements done."""
    import fwdsl as fw

    problem = fw.load(PROGRAM).bind(A=A, b=b)
    _ = problem.instance  # binding is lazy
    return problem


def run_cvxpy(folder: Path) -> None:
    """Solve by CVXPY's default."""
    import cvxpy as cp

    def solve(A: Any, b: Any) -> tuple[Any, Any]:
        x = cp.Variable(A.shape[1])
        problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) / b.size), [x >= 0, cp.sum(x) == 1])
        problem.solve()
        return problem, x.value

    warnings.filterwarnings("ignore")  # the status says what they say
    phase("imported")
    solve(*simplex_ls(20, 10))
    A, b = np.load(folder / "A.npy"), np.load(folder / "b.npy")
    phase("loaded")
    run = timed(partial(solve, A, b))
    phase("done")
    problem, x = run.result
    found = {"solver": problem.solver_stats.solver_name, "status": problem.status, "seconds": run.seconds}
    result({**found, **judged(A, b, x)})


if __name__ == "__main__":
    if len(sys.argv) == 3:
        which, where = sys.argv[1], Path(sys.argv[2])
        if which == "cvxpy":
            run_cvxpy(where)
        else:
            run_fwdsl(where, mapped=which == "mapped")
    else:
        main()
