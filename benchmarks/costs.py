"""The planner's unit costs on this machine, and its predictions beside what happened.

Prints values for the constants of `backends/costs.py`; it changes nothing there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import mean, median
from typing import Any

from machine import start_over

if __name__ == "__main__":
    start_over(threads=1)

import numpy as np
from generators import dense_signs, rcv1_like, simplex_ls, sparse_rows
from l1_logistic import read
from report import Report, number
from timing import duration, interleaved, timed

import fwdsl as fw
from fwdsl.atoms.loss import Loss, LossFunction
from fwdsl.atoms.losses import LOSSES
from fwdsl.atoms.vectors import SETS
from fwdsl.backends import costs
from fwdsl.backends.functions import FastLoss, FastVector
from fwdsl.backends.kernels.operators import Operator
from fwdsl.backends.kernels.pool import Pool

PROGRAMS = Path(__file__).parent / "programs"
ROUNDS = 9
SAMPLES = 1 << 20
COORDINATES = 1 << 20
SECONDS = 5.0
"""What a method is given where predictions are compared."""
NS = 1e9
SORTED = ("ksupport_ball", "permutahedron", "sorted_l1_ball")
"""Sets whose projection sorts: many times the cost of the others, and rare."""
UNMEASURED = ("polytope",)
"""Sets whose projection depends on what they are made of, not on a number of coordinates."""


def main() -> None:
    """Measure, and write results/costs.md."""
    report = Report(
        "costs",
        "Unit costs for the planner",
        "Nanoseconds of one thread, medians, warm; the constants of `backends/costs.py` beside what was measured.",
        "`rcv1_like`, `sparse_rows`, `dense_signs`, `simplex_ls` of generators.py; a9a, w8a (`../shared/data`); random vectors",
        ["numpy", "scipy", "numba"],
    )
    fitted = [*products(report), *losses(report), *proxes(report), *iterations(report)]
    predictions(report)
    report.section("Constants", "What the planner has, and what this run would put in its place.")
    report.table(["constant", "now", "measured", "measured over now"], fitted)
    report.write()


def fit(name: str, now: float, measured: float, show: Callable[[float], str] = number) -> list[str]:
    """A row of the table of constants."""
    return [f"`{name}`", show(now), show(measured), number(measured / now)]


def nanoseconds(fn: Callable[[], object], units: int) -> float:
    """The time of a call for each of so many units."""
    fn()
    return NS * median(timed(fn).seconds for _ in range(ROUNDS)) / units


# --- what is measured ---------------------------------------------------------------------------------------------------


def products(report: Report) -> list[list[str]]:
    """A x and A'y of sparse and dense matrices."""
    matrices = {
        "csr": {
            "rcv1_like": rcv1_like()[0],
            "sparse_rows": sparse_rows(20_000)[0],
            "a9a": read("a9a")[0],
            "w8a": read("w8a")[0],
        },
        "dense": {"dense_signs": dense_signs()[0], "simplex_ls": simplex_ls()[0]},
    }
    rows, means = [], {}
    for storage, named in matrices.items():
        both = []
        for name, A in named.items():
            operator = Operator(A)
            x, y = (np.random.default_rng(0).standard_normal(k) for k in A.shape[::-1])
            forward = nanoseconds(partial(operator.matvec, x), operator.nnz)
            backward = nanoseconds(partial(operator.rmatvec, y), operator.nnz)
            rows.append(
                [
                    f"{name}, {storage}",
                    f"{A.shape[0]:,} x {A.shape[1]:,}",
                    f"{operator.nnz:,}",
                    number(forward),
                    number(backward),
                ]
            )
            both += [forward, backward]
        means[storage] = mean(both)
    report.section("Products with data", "Nanoseconds a stored number.")
    report.table(["matrix", "size", "stored numbers", "A x", "A'y"], rows)
    return [fit(f'NS_PER_NONZERO["{k}"]', costs.NS_PER_NONZERO[k], v) for k, v in means.items()]


def losses(report: Report) -> list[list[str]]:
    """Each loss and its gradient on a million samples."""
    rng = np.random.default_rng(0)
    z, out, w = rng.standard_normal(SAMPLES), np.empty(SAMPLES), np.full(SAMPLES, 1.0 / SAMPLES)
    targets = {"signs": np.where(rng.random(SAMPLES) < 0.5, -1.0, 1.0), "real": rng.standard_normal(SAMPLES)}
    counts = rng.poisson(1.0, SAMPLES).astype(float)
    rows, found = [], {}
    for name, loss in LOSSES.items():
        b = counts if name == "poisson" else targets[loss.word.target]
        fast = FastLoss(LossFunction(loss, b, w, np.array([p.default for p in loss.word.options])), Pool(1))
        value = nanoseconds(partial(fast.value, z), SAMPLES)
        found[name] = nanoseconds(partial(fast.value_gradient, z, out), SAMPLES)
        rows.append([name, number(value), number(found[name])])
    report.section("Losses", "Nanoseconds a sample.")
    report.table(["loss", "value", "value and gradient"], rows)
    usual = Loss.nanoseconds
    named = [
        fit(f"nanoseconds of {k}", LOSSES[k].nanoseconds, v) for k, v in found.items() if LOSSES[k].nanoseconds != usual
    ]
    others = median(v for k, v in found.items() if LOSSES[k].nanoseconds == usual)
    return [*named, fit("nanoseconds of the others (median)", usual, others)]


def proxes(report: Report) -> list[list[str]]:
    """The projections onto sets, on a million coordinates."""
    v = np.random.default_rng(0).standard_normal(COORDINATES)
    out = np.empty_like(v)
    rows, slowest = [], 0.0
    for name, cls in SETS.items():
        if name is None or name in UNMEASURED:
            continue
        make: Any = cls
        fast = FastVector(make(COORDINATES, **arguments(name, COORDINATES)))
        ns = nanoseconds(partial(fast.prox, v, 1.0, out), COORDINATES)
        rows.append([name, number(ns)])
        slowest = slowest if name in SORTED else max(slowest, ns)
    report.section(
        "Projections",
        f"Nanoseconds a coordinate of a normal vector of {COORDINATES:,}; radius 100, groups of 8, 4 equations. Those that sort "
        f"({', '.join(SORTED)}) do not enter the constant below.",
    )
    report.table(["set", "projection"], rows)
    return [fit("part of NS_PER_COORDINATE: the slowest projection without sorting", costs.NS_PER_COORDINATE, slowest)]


def arguments(name: str, size: int) -> dict[str, Any]:
    """What the set `name` of vectors of `size` entries is made with: of radius 100 unless it has none."""
    rng = np.random.default_rng(1)
    own: Mapping[str, Callable[[], dict[str, Any]]] = {
        "nonnegative": dict,
        "box": lambda: {"lo": -1.0, "hi": 1.0},
        "ksupport_ball": lambda: {"k": max(1, size // 1000), "r": 100.0},
        "group_ball": lambda: {"r": 100.0, "groups": np.arange(size) // 8},
        "sorted_l1_ball": lambda: {"r": 100.0, "lambdas": np.linspace(2.0, 1.0, size)},
        "lp_ball": lambda: {"p": 3.0, "r": 100.0},
        "halfspace": lambda: {"a": rng.standard_normal(size), "b": -100.0},
        "affine": lambda: {"A": rng.standard_normal((4, size)), "b": np.ones(4)},
        "permutahedron": lambda: {"c": np.linspace(-1.0, 1.0, size)},
    }
    return own.get(name, lambda: {"r": 100.0})()


def iterations(report: Report) -> list[list[str]]:
    """What an iteration costs beside data: by the number of unknowns, and whatever the size."""
    tiny, wide = sparse_rows(60, 40, 5, 5), sparse_rows(60, 1_000_000, 5, 5)
    rows, per, overhead = [], [], []
    problem = fw.load(PROGRAMS / "l1_logistic.fw").bind(X=tiny[0], y=tiny[1], delta=1.0)
    for name in (c.name for c in problem.plan().weighed if c.applies):
        small = an_iteration(*tiny, name)
        large = an_iteration(*wide, name)
        coordinate = NS * max(0.0, large - small) / wide[0].shape[1]
        rows.append([name, duration(small), duration(large), number(coordinate)])
        per.append(coordinate)
        overhead.append(small)
    report.section(
        "Iterations",
        "Seconds an iteration of l1-ball logistic regression with 300 stored numbers, from the difference of a long and a short run.",
    )
    report.table(["method", "40 unknowns", "1,000,000 unknowns", "ns a coordinate"], rows)
    return [
        fit("NS_PER_COORDINATE (mean of the methods)", costs.NS_PER_COORDINATE, mean(per)),
        fit("OVERHEAD (mean of the methods)", costs.OVERHEAD, mean(overhead), duration),
    ]


def an_iteration(X: Any, y: Any, method: str) -> float:
    """Seconds that one more iteration takes."""
    problem = fw.load(PROGRAMS / "l1_logistic.fw").bind(X=X, y=y, delta=1.0)

    solve = partial(problem.solve, method=method, tol=1e-15, threads=1)
    solve(max_iter=3)
    runs = interleaved({"short": partial(solve, max_iter=3), "long": partial(solve, max_iter=23)}, rounds=5)
    short, long = runs["short"], runs["long"]
    more = long.result.iterations - short.result.iterations
    return max(0.0, long.median - short.median) / more if more else float("nan")


def predictions(report: Report) -> None:
    """Passes and seconds as planned and as they were, for the methods that the planner weighs."""
    cases: Mapping[str, fw.Problem] = {
        "a9a, l1 ball 5": logistic(*read("a9a"), 5.0),
        "w8a, l1 ball 5": logistic(*read("w8a"), 5.0),
        "rcv1_like, l1 ball 30": logistic(*rcv1_like(), 30.0),
        "dense_signs, l1 ball 10": logistic(*dense_signs(), 10.0),
        "simplex_ls": fw.load(PROGRAMS / "simplex_least_squares.fw").bind(**dict(zip("Ab", simplex_ls(), strict=True))),
    }
    rows = []
    for name, problem in cases.items():
        plan = problem.plan()
        for candidate in plan.weighed:
            estimate = candidate.estimate
            if estimate is None:
                continue
            problem.solve(method=candidate.name, threads=1, max_iter=2)
            run = timed(partial(problem.solve, method=candidate.name, threads=1, time=SECONDS))
            solution = run.result
            chosen = " *" if candidate.name == plan.method else ""
            passes = [number(estimate.passes), number(solution.passes)]
            times = [duration(estimate.seconds), duration(run.seconds)]
            rows.append([f"{name}: {candidate.name}{chosen}", *passes, *times, solution.status])
    report.section("Predictions", f"For a relative gap of 1e-6, at most {SECONDS:.0f} s; * is the planner's choice.")
    report.table(["problem: method", "passes, predicted", "actual", "time, predicted", "actual", "status"], rows)


def logistic(X: Any, y: Any, delta: float) -> fw.Problem:
    """The program bound to data."""
    return fw.load(PROGRAMS / "l1_logistic.fw").bind(X=X, y=y, delta=delta)


if __name__ == "__main__":
    main()
