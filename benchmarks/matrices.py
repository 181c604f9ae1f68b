"""Matrix problems at size: trace-norm regression, completion of a synthetic matrix, and of 100,000 movie ratings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from machine import ROOT, start_over

if __name__ == "__main__":
    start_over(threads=1)

from generators import completion, trace_norm
from report import Report, Target, number
from timing import COLUMNS, Runs, duration, interleaved

import fwdsl as fw

PROGRAMS = Path(__file__).parent / "programs"
MOVIES = ROOT / "examples" / "completion.fw"
ROUNDS = 5
PRODUCTS = 25
SECONDS = {"completion": 1.5, "movies": 30.0}
LEAST_RANK = 10


def main() -> None:
    """Measure, and write results/matrices.md."""
    report = Report(
        "matrices",
        "Matrix problems at size",
        "Low-rank matrices that are kept as two factors, certified by a bound of the gradient's largest singular value.",
        "`trace_norm` (1000 x 800 x 600) and `completion` (5000 x 3000, 1 % observed) of `generators.py`; "
        "`examples/completion.fw` on the 100k snapshot of MovieTweetings",
        ["numpy", "scipy", "numba"],
    )
    runs = interleaved(competitors(), ROUNDS)
    targets(report, runs)
    report.section(
        "What was solved",
        "A data pass is one product of the data matrix with a dense variable (`trace_norm`), or one touch of every observed entry. The tolerance "
        "is 1e-6, for the ratings 1e-3; the certificate says which kind of bound it rests on.",
    )
    report.table(
        ["problem", "status", "objective", "relative gap", "certificate", "rank", "iterations", "method", "verifier"],
        [row(name, found.result) for name, found in runs.items()],
    )
    report.section(
        "Time",
        "One thread. Planning, solving and verifying, for the movie ratings reading and compiling the program too; the first run of each "
        "loads kernels from their cache, or compiles them.",
    )
    report.table(["problem", "first", *COLUMNS], [[n, duration(r.all[0].seconds), *r.cells] for n, r in runs.items()])
    report.write()


def competitors() -> Mapping[str, Callable[[], fw.Solution]]:
    """Each problem as a call that solves it."""
    A, B, radius = trace_norm()
    dense = fw.load(PROGRAMS / "trace_norm.fw").bind(A=A, B=B, r=radius)
    rows, columns, values, radius = completion()
    shape = {"n": 5000, "p": 3000}
    sparse = fw.load(PROGRAMS / "completion.fw").bind(M=(rows, columns, values), r=radius, **shape)
    return {
        "trace_norm": partial(dense.solve, tol=1e-6, threads=1),
        "completion": partial(sparse.solve, tol=1e-6, threads=1),
        "movies": lambda: fw.load(MOVIES).solve(tol=1e-3, threads=1),
    }


def variable(solution: fw.Solution) -> str:
    """The one variable's name."""
    return next(iter(solution))


def row(name: str, s: fw.Solution) -> list[str]:
    """The answer, and how well it is known."""
    return [
        name,
        s.status,
        f"{s.objective:.9g}",
        f"{s.relative_gap:.1e}",
        s.certificate.kind,
        str(s[variable(s)].rank),
        str(s.iterations),
        number(s.passes),
        number(s.verify_passes),
    ]


def targets(report: Report, runs: Mapping[str, Runs]) -> None:
    """The figures of the issue; an answer that is not certified keeps none."""
    found = {name: r.result if r.result.status == "optimal" else None for name, r in runs.items()}
    missing = float("nan")
    dense, movies = found["trace_norm"], found["movies"]
    passes = dense.passes + dense.verify_passes if dense else missing
    report.target(Target("trace_norm: products to a certified 1e-6, verification included", passes, PRODUCTS))
    for name, limit in SECONDS.items():
        seconds = runs[name].median if found[name] else missing
        report.target(Target(f"{name}: time to a certified gap", seconds, limit, show=duration))
    rank = float(movies["B"].rank) if movies else missing
    report.target(Target("movies: rank of the solution", rank, LEAST_RANK, least=True))


if __name__ == "__main__":
    main()
