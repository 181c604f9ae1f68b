"""The latency of scoring one row: a predictor in a warm process, a loaded answer in a fresh one."""

from __future__ import annotations

import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from machine import environment, start_over

if __name__ == "__main__":
    start_over(threads=1)

import numpy as np
from report import Report, Target
from timing import duration

import fwdsl as fw

CALLS, ROUNDS = 50, 20
"""Calls of a round, which are timed together, and rounds."""

FRESH = 5
"""Fresh processes."""

N, P, K = 2000, 50, 10
HEAD = "data X: matrix[n, p], y: signs[n]\n"
RIDGE = " + 0.1 * sum_squares(w)"
PROGRAMS = {
    "`X @ w + b`": HEAD + "var w: vector[p], b: real\nminimize mean(logistic(X @ w + b, y)) + 0.01 * norm1(w)",
    "`standardize(X) @ w + b`": HEAD
    + "let S = standardize(X)\nvar w: vector[p], b: real\nminimize mean(logistic(S @ w + b, y)) + 0.01 * norm1(w)",
    f"`X @ W + b`, {K} classes": "data X: matrix[n, p], y: labels[n, k]\nvar W: matrix[p, k], b: vector[k]\n"
    "minimize mean(softmax(X @ W + b, y)) + 0.1 * sum_squares(W)",
    "`fourier(X, features=500)`": HEAD
    + "let F = fourier(X, features=500, gamma=0.01)\nvar w: vector[500]\nminimize mean(logistic(F @ w, y))"
    + RIDGE,
    "`rbf(X)` of 2,000 samples": HEAD
    + "let F = rbf(X, gamma=0.01)\nvar w: vector[dim(F)]\nminimize mean(hinge(F @ w, y))"
    + RIDGE,
}
CATEGORIES = """\
data X: matrix[n, p], y: vector[n]
  from csv("rents.csv", target="rent", columns=["area", "rooms", onehot("district"), onehot("balcony", drop="first")])
var w: vector[p], b: real
minimize mean(squared(X @ w + b, y)) + 0.01 * norm1(w)
"""
DISTRICTS = ("east", "mid", "north", "south", "west")
LIMIT = 2e-4
KERNEL = "rbf"


def solved(text: str) -> tuple[fw.Solution, Any]:
    """A fit to Gaussian rows, and a row to score."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, P))
    y = rng.integers(0, K, N) if "labels" in text else np.sign(X[:, 0] + rng.standard_normal(N))
    return fw.parse(text).bind(X=X, y=y).solve(tol=1e-3, time=30), rng.standard_normal((1, P))


def rents() -> tuple[fw.Solution, list[list[object]], Any, Any]:
    """A fit to a table with columns of categories, and a row to score: as cells, and as a frame of pandas and a table of Arrow."""
    import pandas as pd
    import pyarrow as pa

    rng = np.random.default_rng(0)
    area, rooms = rng.uniform(20.0, 200.0, N), rng.integers(1, 6, N)
    table = {
        "area": area,
        "rooms": rooms,
        "district": rng.choice(DISTRICTS, N),
        "balcony": rng.choice(["no", "yes"], N),
    }
    frame = pd.DataFrame({**table, "rent": 5.0 * area + 100.0 * rng.standard_normal(N)})
    solution = fw.parse(CATEGORIES).bind(X=frame[[*table]], y=frame["rent"].to_numpy()).solve(tol=1e-3, time=30)
    row = frame[[*table]].iloc[:1]
    table = pa.Table.from_pandas(row, preserve_index=False)
    return solution, [list(next(row.itertuples(index=False, name=None)))], row, table


def of_numbers(row: Any) -> Any:
    """A row of numbers as a table of Arrow."""
    import pyarrow as pa

    return pa.table({f"c{j}": row[:, j] for j in range(row.shape[1])})


def latencies(call: Callable[[], object]) -> list[float]:
    """Seconds of a call in each round."""
    call()
    found = []
    for _ in range(ROUNDS):
        gc.collect()
        began = time.perf_counter()
        for _ in range(CALLS):
            call()
        found.append((time.perf_counter() - began) / CALLS)
    return found


def fresh(solution: fw.Solution) -> list[float]:
    """Seconds from the start of Python to the score of a row by a loaded answer."""
    with tempfile.TemporaryDirectory() as folder:
        solution.save(Path(folder) / "m.npz")
        code = f"import fwdsl as fw\nfw.load_solution('m.npz').predict(X=[{[0.5] * P}])"
        found = []
        for _ in range(FRESH):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment(), check=True)
            found.append(time.perf_counter() - began)
    return found


def _cell(seconds: list[float]) -> str:
    return f"{duration(median(seconds))} ({duration(min(seconds))})"


def main() -> None:
    report = Report(
        "predict",
        "Scoring one row",
        "Median and, in brackets, the fastest: a predictor that is called with one row as an array, and `solution.predict`, "
        "which finds the predictor first.",
        f"Gaussian rows, {N:,} x {P}",
        ["numpy", "scipy"],
    )
    rows = []
    for name, text in PROGRAMS.items():
        solution, row = solved(text)
        predictor = solution.predictor()
        times = latencies(lambda p=predictor, r=row: p(X=r)), latencies(lambda s=solution, r=row: s.predict(X=r))
        if KERNEL not in text:  # whose row costs a product with every sample
            report.target(Target(f"a row of {name}", median(times[0]), LIMIT, show=duration))
        rows.append([name, *map(_cell, times)])
        if not rows[1:]:
            started = fresh(solution)
            of_arrow = solution, of_numbers(row)
    solution, given = of_arrow
    predictor = solution.predictor()
    times = latencies(lambda: predictor(X=given)), latencies(lambda: solution.predict(X=given))
    report.target(Target(f"a row of `X @ w + b`, {P} columns of Arrow", median(times[0]), LIMIT, show=duration))
    rows.append(["`X @ w + b`, a row of Arrow", *map(_cell, times)])
    solution, cells, row, table = rents()
    predictor = solution.predictor()
    for name, given in (
        ("cells of numbers and words", cells),
        ("a row of pandas with words", row),
        ("a row of Arrow with words", table),
    ):
        times = latencies(lambda g=given: predictor(X=g)), latencies(lambda g=given: solution.predict(X=g))
        rows.append([f"`onehot(column)`, {name}", *map(_cell, times)])
        report.target(Target(f"a row of `onehot(column)`, {name}", median(times[0]), LIMIT, show=duration))
    alone = latencies(lambda: [row[c].to_numpy() for c in row])
    report.section(
        "In a warm process",
        f"`[row[c].to_numpy() for c in row]`, with which pandas gives the four columns of its row, takes {_cell(alone)} by itself.",
    )
    report.table(["scores", "predictor", "`solution.predict`"], rows)
    report.section(
        "In a fresh process",
        f"From the start of Python to the score of one row by `fw.load_solution`, of `X @ w + b`: {_cell(started)}.",
    )
    report.write()


if __name__ == "__main__":
    main()
