"""Peak memory of loading and of solving, on data of at least 500 MB; and the time of reading a compressed libsvm file.

Each case runs in a process of its own, watched phase by phase from outside (watched.py).
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from data_sets import data_file
from generators import rcv1_like, simplex_ls, sparse_rows
from report import Report, Target, ratio, size
from timing import COLUMNS, duration, interleaved
from watched import Watched, phase, result, watch

BYTES = 500e6
DENSE = {"n": 262_144, "d": 250}
SHARE = 0.3
VECTORS = 20
LOADING = 2.5
READS = 9

SIMPLEX = """
data A: matrix[n, d]{A}, b: vector[n]{b}
var w: vector[d]
minimize mean(squared(A @ w, b))
subject to w in simplex(1)
"""
LOGISTIC = """
data X: matrix[n, p]{X}, y: signs[n]{y}
var beta: vector[p]
minimize mean(logistic(X @ beta, y))
subject to norm1(beta) <= 30
"""


@dataclass(frozen=True)
class Case:
    """A program with its data in a folder, as a user would run it; `mapped` where the data stay in their file."""

    title: str
    program: str
    sources: Mapping[str, str]
    mapped: bool = False
    sparse: bool = False

    @property
    def names(self) -> tuple[str, str]:
        """The matrix and the vector."""
        return ("A", "b") if "A" in self.sources else ("X", "y")


CASES = {
    "mapped": Case(
        "dense, memory-mapped, `npy`",
        SIMPLEX,
        {"A": ' from npy("A.npy")', "b": ' from npy("b.npy")'},
        mapped=True,
    ),
    "dense": Case("dense, in memory, `npz`", SIMPLEX, {"A": "", "b": ' from npz("both.npz")'}),
    "sparse": Case(
        "sparse, `npz`",
        LOGISTIC,
        {"X": ' from npz("X.npz")', "y": ' from npy("y.npy")'},
        sparse=True,
    ),
    "libsvm": Case("sparse, `libsvm`", LOGISTIC, {"X": "", "y": ' from libsvm("both.svm")'}, sparse=True),
}


def main() -> None:
    """Measure, and write results/memory.md."""
    report = Report(
        "memory",
        "Memory",
        "Peaks of processes of their own on data of at least 500 MB, loaded from files by the program's own `from`, then solved to a "
        "certified 1e-6 by the method that the planner chooses.",
        f"`simplex_ls` of {DENSE['n']:,} x {DENSE['d']}; `rcv1_like` (20,000 x 50,000), its rows repeated up to 500 MB; a9a (generators.py, "
        "`../shared/data`)",
        ["numpy", "scipy", "numba", "scikit-learn"],
    )
    report.section(
        "How it is measured",
        "*loading* starts after imports and after a tiny problem of the same kind has been loaded and solved, and ends with the instance: "
        "data read, checked and measured. *solving* starts there, after the C library has given back what is free, and runs from "
        "planning to the verified solution. A peak is that of the resident memory (VmHWM, set back at the start of each phase) over its "
        "value at the start. Where data are memory-mapped, pages of the file are resident as long as the kernel likes and can be taken "
        "back at any time, so there it is that of RssAnon + RssShmem, read every millisecond from outside. *allowed* for solving: "
        f"{SHARE} of the data, {VECTORS} vectors of n + d numbers, and one transposed copy, as large as the data, where the plan says that the "
        "method makes one. "
        "*planned*: what the plan says of memory beside the data.",
    )
    rows = []
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            make(name, Path(folder))
            found = watch([__file__, name, folder], threads=1, seconds=300.0)
        if found.failure:
            raise RuntimeError(f"{case.title}: {found.failure}")
        rows.append(judge(case, found, report))
    columns = [
        "data",
        "size",
        "arrays",
        "loading",
        "of the arrays",
        "solving",
        "planned",
        "allowed",
        "method",
        "iterations",
        "gap",
        "load",
        "solve",
    ]
    report.table(columns, rows)
    reading(report)
    report.write()


def judge(case: Case, found: Watched, report: Report) -> list[str]:
    """A row of the table, and the targets."""
    r = found.result
    growth = found.own if case.mapped else found.resident
    loading, solving = growth("loading", "solving"), growth("solving")
    allowed = SHARE * r["bytes"] + 8 * VECTORS * sum(r["shape"]) + (r["bytes"] if r["says transposed"] else 0.0)
    report.target(
        Target(f"{case.title}: peak of loading over the arrays", loading / r["bytes"], LOADING, show=ratio),
        Target(f"{case.title}: peak of solving over loaded data", solving, allowed, show=size),
    )
    return [
        case.title,
        " x ".join(f"{k:,}" for k in r["shape"]),
        size(r["bytes"]),
        size(loading),
        ratio(loading / r["bytes"]),
        size(solving),
        size(r["planned"]),
        size(allowed) + (" with a transposed copy" if r["says transposed"] else ""),
        r["method"],
        str(r["iterations"]),
        f"{r['gap']:.1e} {r['status']}",
        duration(r["load"]),
        duration(r["solve"]),
    ]


def reading(report: Report) -> None:
    """a9a from .gz, by our reader and by scikit-learn's."""
    from sklearn.datasets import load_svmlight_file

    from fwdsl.readers.read import Role, read
    from fwdsl.readers.sources import SourceSpec

    path = str(data_file("a9a.svm.gz"))
    spec, roles = SourceSpec("libsvm", path), [Role("X", "matrix", (None, None)), Role("y", "signs", (None,))]
    ours, theirs = read(spec, roles)[0], load_svmlight_file(path)
    X: Any = ours["X"]
    assert (theirs[0] != X).nnz == 0 and np.array_equal(np.asarray(ours["y"]), theirs[1])
    runs = interleaved({"fwdsl": partial(read, spec, roles), "scikit-learn": partial(load_svmlight_file, path)}, READS)
    report.section("Reading a9a from `.gz`", "Both in this process, in turns; the arrays agree exactly.")
    report.table(
        ["reader", *COLUMNS],
        [[name, *r.cells] for name, r in runs.items()],
    )
    part = runs["fwdsl"].median / runs["scikit-learn"].median
    report.target(Target("reading a9a from `.gz`: our time over scikit-learn's", part, 1.0, show=ratio))


# --- data ---------------------------------------------------------------------------------------------------------------


def make(name: str, folder: Path) -> None:
    """Write the data of a case, and its program."""
    case = CASES[name]
    (folder / "program.fw").write_text(case.program.format(**case.sources), encoding="utf-8")
    if not case.sparse:
        A, b = simplex_ls(**DENSE)
        if case.mapped:
            np.save(folder / "A.npy", A)
            np.save(folder / "b.npy", b)
        else:
            np.savez(folder / "both.npz", A=A, b=b)
        return
    X, y = rcv1_like()
    copies = math.ceil(BYTES / (12 * X.nnz + 4 * X.shape[0]))
    if name == "sparse":
        sp.save_npz(folder / "X.npz", sp.vstack([X] * copies, format="csr"), compressed=False)
        np.save(folder / "y.npy", np.tile(y, copies))
        return
    block = libsvm(X, y)
    with (folder / "both.svm").open("wb") as file:
        for _ in range(copies):
            file.write(block)


def libsvm(X: sp.csr_array, y: np.ndarray) -> bytes:
    """Rows as text, six digits a number."""
    ends = X.indptr
    rows = []
    for i, label in enumerate(y):
        row = slice(ends[i], ends[i + 1])
        cells = " ".join(f"{j + 1}:{v:.6g}" for j, v in zip(X.indices[row], X.data[row], strict=True))
        rows.append(f"{label:+.0f} {cells}\n")
    return "".join(rows).encode()


# --- in a process of its own --------------------------------------------------------------------------------------------


def run(name: str, folder: Path) -> None:
    """Load and solve a case, phase by phase."""
    import fwdsl as fw

    case = CASES[name]
    matrix, vector = case.names
    phase("imports")
    warm_up(case)
    problem = fw.load(folder / "program.fw")
    phase("loading")
    instance = problem.instance
    phase("solving")
    solution = problem.solve(tol=1e-6, threads=1)
    phase("done")
    found: dict[str, Any] = {
        "shape": list(instance.values[matrix].shape),
        "bytes": sum(instance.stats[k].nbytes for k in (matrix, vector)),
        "method": solution.method,
        "iterations": solution.iterations,
        "status": solution.status,
        "gap": solution.relative_gap,
        "planned": solution.plan.chosen.estimate.memory,
        "says transposed": "transposed" in solution.plan.render(),
        "load": solution.times.load,
        "solve": solution.times.solve,
    }
    result(found)


def warm_up(case: Case) -> None:
    """Load a tiny problem of the same kind from files of the same formats and solve it."""
    import fwdsl as fw

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "program.fw").write_text(case.program.format(**case.sources), encoding="utf-8")
        if case.sparse:
            X, y = sparse_rows(20, 30, 5, 4)
            sp.save_npz(path / "X.npz", X)
            np.save(path / "y.npy", y)
            (path / "both.svm").write_bytes(libsvm(X, y))
        else:
            A, b = simplex_ls(20, 10)
            np.save(path / "A.npy", A)
            np.save(path / "b.npy", b)
            np.savez(path / "both.npz", A=A, b=b)
        fw.load(path / "program.fw").solve(threads=1)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run(sys.argv[1], Path(sys.argv[2]))
    else:
        main()
