"""Products and solves on an NVIDIA device beside the host: where `--device cuda` gains, and where it loses.

    python -m benchmarks.cuda [--budget SECONDS] [--only products|programs] [--largest GB] [--commit HASH] [--out FOLDER]

Data are drawn from seed 0. Every solve is to the same certified gap; of the host are measured the method that the planner chooses, and the one that
the device was given. Writes results/cuda.md; what the budget leaves out is said there.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_HERE = str(Path(__file__).resolve().parent)
# for the helpers of the benchmarks alone: this file has the name of a package that CuPy imports
sys.path.insert(0, _HERE)
from report import Report, size, table  # noqa: E402
from timing import duration  # noqa: E402

sys.path.remove(_HERE)

import numpy as np  # noqa: E402
import scipy.sparse as sp  # noqa: E402

import fwdsl as fw  # noqa: E402
from fwdsl.backends import devices  # noqa: E402
from fwdsl.backends.kernels import Operator, Pool  # noqa: E402
from fwdsl.solve.forms import default_threads  # noqa: E402

TOL = 1e-6
MOST_GRAM = 3e11
"""Products of numbers in a Gram matrix up to which it is timed."""
LIMIT = 30.0
"""Seconds that a solve may take."""

DATA = "data X: matrix[n, p], y: {target}\nvar w: {variable}\nminimize "
PROGRAMS = {
    "logistic, l1 ball": ("signs", "mean(logistic(X @ w, y))\nsubject to norm1(w) <= 3"),
    "lasso": ("vector", "mean(squared(X @ w, y)) + 0.05 * norm1(w)"),
    "smooth hinge, l2 ball": ("signs", "mean(smooth_hinge(X @ w, y))\nsubject to norm2(w) <= 1"),
    "quantile, l1": ("vector", "mean(quantile(X @ w, y, tau=0.3)) + 0.05 * norm1(w)"),
    "logistic, ridge": ("signs", "mean(logistic(X @ w, y)) + 0.001 * sum_squares(w)"),
    "softmax of 10 classes, ridge": ("labels", "mean(softmax(X @ w, y)) + 0.001 * sum_squares(w)"),
}
CLASSES = 10
TOLERANCES = {"quantile, l1": 1e-4}


@dataclass(frozen=True)
class Case:
    """Data, the programs that are solved on them, and how they are drawn."""

    name: str
    make: Callable[[], Any]
    bytes: float
    programs: tuple[str, ...] = ()


def dense(n: int, d: int, kind: Any = np.float64, by_columns: bool = False) -> Callable[[], Any]:
    """Normal numbers, drawn in single precision: the time is that of reading them."""

    def make() -> Any:
        X = np.empty((n, d), kind, order="F" if by_columns else "C")
        flat = X.T if by_columns else X
        rng = np.random.default_rng(0)
        for start in range(0, len(flat), step := max(1, (1 << 24) // flat.shape[1])):
            flat[start : start + step] = rng.standard_normal(flat[start : start + step].shape, np.float32)
        return X

    return make


def sparse(n: int, d: int, each: int) -> Callable[[], Any]:
    """So many normal numbers in each row, in columns that are drawn uniformly."""

    def make() -> Any:
        rng = np.random.default_rng(0)
        columns = np.sort(rng.integers(0, d, (n, each), dtype=np.int32), axis=1).reshape(-1)
        X = sp.csr_array((rng.standard_normal(n * each), columns, np.arange(0, n * each + 1, each)), shape=(n, d))
        X.sum_duplicates()
        return X

    return make


EVERY = tuple(PROGRAMS)
CASES = (
    Case("100 x 100", dense(100, 100), 8e4),
    Case("1,000 x 100", dense(1_000, 100), 8e5),
    Case("1,000 x 500", dense(1_000, 500), 4e6),
    Case("4,000 x 500", dense(4_000, 500), 16e6),
    Case("16,000 x 500", dense(16_000, 500), 64e6, ("logistic, l1 ball", "lasso")),
    Case("64,000 x 500", dense(64_000, 500), 256e6),
    Case("10,000 x 1,000 sparse, 20 a row", sparse(10_000, 1_000, 20), 5e6),
    Case("100,000 x 10,000 sparse, 20 a row", sparse(100_000, 10_000, 20), 5e7),
    Case("100,000 x 1,000", dense(100_000, 1_000), 8e8, EVERY),
    Case("1,000,000 x 100,000 sparse, 20 a row", sparse(1_000_000, 100_000, 20), 5e8, EVERY[:3]),
    Case("100,000 x 1,000 float32", dense(100_000, 1_000, np.float32), 4e8, ("logistic, l1 ball",)),
    Case("100,000 x 1,000 by columns", dense(100_000, 1_000, by_columns=True), 8e8),
    Case("1,000,000 x 200", dense(1_000_000, 200), 1.6e9, (*EVERY[:3], EVERY[4])),
    Case("1,000,000 x 1,000", dense(1_000_000, 1_000), 8e9, ("logistic, l1 ball", "smooth hinge, l2 ball")),
)


def main() -> None:
    """Measure, and write the page."""
    options = arguments()
    began = time.perf_counter()
    device = devices.opened("cuda")
    cupy = device.arrays.xp
    report = Report(
        "cuda",
        "On an NVIDIA device",
        "Products and solves with `--device cuda` beside those of the host, on the same machine.",
        "normal numbers from seed 0; targets from a model with ten coefficients and noise",
        ["numpy", "scipy", "numba", "cupy-cuda13x"],
    )
    driver = cupy.cuda.runtime.driverGetVersion()
    report.facts["device"] = f"{device.model}, {device.arrays.free() / 2**30:.0f} GiB free, CUDA driver {driver}"
    opening = time.perf_counter()
    device.arrays.put(np.zeros(1 << 23))
    report.facts["first move"] = (
        f"{duration(time.perf_counter() - opening)} for 64 MB, pinned buffers included, once a process"
    )
    if options.commit:
        report.facts["commit"] = options.commit
    products: list[list[str]] = []
    solves: list[list[str]] = []
    left_out: list[str] = []
    log: list[dict[str, Any]] = []
    if options.only != "products":
        warm_up()
    for case in CASES:
        if case.bytes > options.largest * 1e9:
            continue
        if time.perf_counter() - began > options.budget:
            left_out.append(case.name)
            continue
        X = case.make()
        if options.only != "programs":
            products.append(row := product_row(case.name, X, device))
            print(row, flush=True)
        for name in () if options.only == "products" else case.programs:
            if time.perf_counter() - began > options.budget:
                left_out.append(f"{name} on {case.name}")
                continue
            # each run moves its data
            device.forget()
            for one in solved(name, X):
                log.append({"case": case.name, "program": name, **one})
                print(json.dumps(log[-1]), flush=True)
            solves += solve_rows(case.name, name, log[-3:])
        del X
        device.forget()
    page(report, products, solves, left_out)
    lost = losses(log)
    if solves:
        report.section("Where it loses", "\n".join(f"- {line}" for line in lost) or "On none of these.")
    path = report.write()
    if options.out:
        Path(options.out, "cuda.md").write_text(path.read_text())
        Path(options.out, "cuda.json").write_text(json.dumps(log, indent=1))


def arguments() -> argparse.Namespace:
    """The command line."""
    made = argparse.ArgumentParser()
    made.add_argument("--budget", type=float, default=1800.0, help="seconds after which nothing further is begun")
    made.add_argument("--only", choices=("products", "programs"))
    made.add_argument("--largest", type=float, default=10.0, help="GB of data")
    made.add_argument("--commit", default="", help="of a copy that has none of its own")
    made.add_argument("--out", default="", help="a folder that gets the page and the numbers too")
    return made.parse_args()


def best(fn: Callable[[], object], least: float = 0.05, most: int = 50) -> float:
    """The shortest seconds of some calls, after one that is not timed."""
    fn()
    found: list[float] = []
    while not found or (sum(found) < least and len(found) < most):
        began = time.perf_counter()
        fn()
        found.append(time.perf_counter() - began)
    return min(found)


def product_row(name: str, X: Any, device: devices.Device) -> list[str]:
    """The times of A x and A'y on one thread, on all and on the device, and those of a Gram matrix of dense data."""
    rng = np.random.default_rng(1)
    x, y, w = rng.standard_normal(X.shape[1]), rng.standard_normal(X.shape[0]), rng.random(X.shape[0])
    least, devices.LEAST = devices.LEAST, 0
    try:
        there, why, moved = device.matrix(X, None)
    finally:
        devices.LEAST = least
    assert not why, why
    cells: list[str] = []
    grams: list[str] = []
    small = not sp.issparse(X) and X.shape[0] * float(X.shape[1]) ** 2 < MOST_GRAM
    with Pool(1) as one, Pool(default_threads()) as every:
        for operator in (Operator(X, one), Operator(X, every), Operator.of_storage(there, one)):
            cells += [duration(best(lambda o=operator: o.matvec(x))), duration(best(lambda o=operator: o.rmatvec(y)))]
            grams.append(duration(best(lambda o=operator: o.gram(None, w), most=3)) if small else "")
    out = np.empty(X.shape[0])
    vectors = duration(best(lambda: device.arrays.fetch(device.arrays.vector(y), out)))
    return [name, size(devices.bytes_of(X)), duration(moved), *cells, vectors, *grams[1:]]


def problem(name: str, X: Any) -> fw.Problem:
    """A program on its data."""
    target, text = PROGRAMS[name]
    rng = np.random.default_rng(2)
    several = (CLASSES,) if target == "labels" else ()
    w = np.zeros((X.shape[1], *several))
    w[rng.choice(X.shape[1], 10, replace=False)] = rng.standard_normal((10, *several))
    z = np.asarray(X @ w.astype(X.dtype), np.float64) + rng.standard_normal((X.shape[0], *several))
    y = z.argmax(axis=1) if several else np.where(z > 0.0, 1.0, -1.0) if target == "signs" else z
    kinds = ("labels[n, k]", "matrix[p, k]") if several else (f"{target}[n]", "vector[p]")
    return fw.parse(DATA.format(target=kinds[0], variable=kinds[1]) + text).bind(X=X, y=y)


def warm_up() -> None:
    """Compile what is timed later, on the host and on the device."""
    least = devices.LEAST
    devices.LEAST = 0
    for X in (dense(2_000, 60)(), dense(2_000, 60, np.float32)(), sparse(2_000, 60, 5)()):
        for name in PROGRAMS:
            given = problem(name, X)
            for at in ("cpu", "cuda"):
                method = given.solve(device=at, tol=1e-4, time=10).method
                given.solve(method=method, tol=1e-4, time=10)
    devices.LEAST = least


def solved(name: str, X: Any) -> Iterator[dict[str, Any]]:
    """A solve on the device, one on the host by the same method, and one by the method that the planner chooses there."""
    given, tol = problem(name, X), TOLERANCES.get(name, TOL)
    _ = given.canonical
    on_device = run(given, tol, device="cuda")
    yield on_device
    same = run(given, tol, method=on_device["method"])
    yield same
    own = given.plan(tol=tol).method
    yield same if own == on_device["method"] else run(given, tol)


def run(given: fw.Problem, tol: float, **options: Any) -> dict[str, Any]:
    """The figures of a solve; all but reading the data and compiling kernels."""
    began = time.perf_counter()
    found = given.solve(tol=tol, time=LIMIT, **options)
    total = time.perf_counter() - began - found.times.kernels
    return {
        "device": found.device.name,
        "method": found.method,
        "status": found.status,
        "objective": found.objective,
        "gap": found.relative_gap,
        "iterations": found.iterations,
        "passes": found.passes,
        "products": sum(placed.products for placed in found.device.data),
        "total": total,
        "move": found.times.move,
        "solve": found.times.solve - found.times.kernels,
        "verify": found.times.verify,
    }


def solve_rows(case: str, name: str, runs: list[dict[str, Any]]) -> list[list[str]]:
    """The rows of a program on its data."""
    on_device, same, own = runs
    rows = []
    for one, label in ((on_device, "device"), (same, "host"), (own, "host, its own choice")):
        if label.startswith("host,") and own == same:
            continue
        status = "" if one["status"] == "optimal" else f" ({one['status'].replace('_', ' ')})"
        apart = abs(one["objective"] - on_device["objective"]) / max(1e-300, abs(on_device["objective"]))
        times = [duration(one[key]) for key in ("total", "move", "solve", "verify")]
        gain = "" if one is on_device else f"{one['total'] / on_device['total']:.2f}"
        cells = [f"{one['gap']:.1e}", f"{one['passes']:.0f}", *times, f"{apart:.1e}", gain]
        rows.append([f"{name}, {case}", label, f"{one['method']}{status}", *cells])
    return rows


def losses(log: list[dict[str, Any]]) -> list[str]:
    """The programs that the host solves sooner, a line each."""
    found = []
    for on_device, *others in (log[i : i + 3] for i in range(0, len(log), 3)):
        best_of = min(others, key=lambda one: one["total"])
        if best_of["total"] < on_device["total"]:
            times = f"{duration(best_of['total'])} by `{best_of['method']}` on the host, {duration(on_device['total'])} on the device"
            parts = f"{duration(on_device['move'])} of it moving the data and {duration(on_device['verify'])} verifying"
            found.append(f"{on_device['program']}, {on_device['case']}: {times}, {parts}")
    return found


def page(report: Report, products: list[list[str]], solves: list[list[str]], left_out: list[str]) -> None:
    """The tables."""
    threads = default_threads()
    if products:
        report.section(
            "A product",
            f"The best of several, vectors moved there and back included. Host: one thread (1) and {threads} threads ({threads}). "
            "`Vectors` is a vector of the rows, to the device and back, which every product of the device pays in part. "
            "`Gram` is A'DA with all columns. Bytes are those on the device.",
        )
        heads = ["data", "bytes", "moved in"]
        heads += [f"{p}, {w}" for w in ("1", str(threads), "device") for p in ("Ax", "A'y")]
        report.text(table([*heads, "vectors", f"Gram, {threads}", "Gram, device"], products))
    if solves:
        report.section(
            "A solve",
            f"To a certified relative gap of {TOL:g} ({', '.join(f'{n}: {t:g}' for n, t in TOLERANCES.items())}), {LIMIT:.0f} s at most, "
            f"{threads} threads. Total: planning, moving, solving, verifying, without reading data and compiling kernels. "
            "Verifying, on the host always, is a part of solving. The last column is how many times as long as on the device it took.",
        )
        heads = [
            "program",
            "on",
            "method",
            "gap",
            "passes",
            "total",
            "move",
            "solve",
            "verify",
            "objective apart",
            "times",
        ]
        report.text(table(heads, solves))
    if left_out:
        report.section("Left out", f"The budget of seconds was used up: {'; '.join(left_out)}.")


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    main()
