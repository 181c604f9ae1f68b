"""Latencies of small problems in a warm process, and of the smallest in a fresh one, beside scikit-learn's and CVXPY's for the same."""

from __future__ import annotations

import gc
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from statistics import median
from typing import Any

from machine import ROOT, environment, start_over

if __name__ == "__main__":
    start_over(threads=1)

import numpy as np
from report import Report, Target
from timing import COLUMNS, Runs, duration, interleaved

import fwdsl as fw
from fwdsl.backends.registry import METHODS

ROUNDS, CALLS = 20, 6
"""Rounds in which competitors take turns, and calls of a turn; the first call of a turn finds other code in the caches, and is not counted."""

SLOW_ROUNDS, SLOW_CALLS = 3, 2
"""The same of CVXPY."""

FRESH_ROUNDS = 7
"""Rounds of fresh processes."""

LASSO = """\
data X: matrix[n, p], y: vector[n]
param mu: positive = 0.1
var w: vector[p]
minimize 1/2 * mean(squared(X @ w, y)) + mu * norm1(w)
"""
LOGISTIC = """\
data X: matrix[n, p], y: signs[n]
param mu: positive = 0.05
var w: vector[p]
minimize mean(logistic(X @ w, y)) + mu * norm1(w)
"""


@dataclass(frozen=True)
class Small:
    """A problem of `n` samples and `p` features; `peer` fits scikit-learn, `stated` is the objective in CVXPY."""

    name: str
    text: str
    n: int
    p: int
    mu: float
    peer: Callable[[Any, Any, float], Any]
    stated: Callable[[Any, Any, Any, Any, float], Any]


def _sk_lasso(X: Any, y: Any, mu: float) -> Any:
    from sklearn.linear_model import Lasso

    return Lasso(alpha=mu, fit_intercept=False, tol=1e-6).fit(X, y)


def _sk_logistic(X: Any, y: Any, mu: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    C = 1.0 / (mu * y.size)
    return LogisticRegression(l1_ratio=1.0, C=C, solver="liblinear", fit_intercept=False, tol=1e-6).fit(X, y)


PROBLEMS = (
    Small(
        "lasso",
        LASSO,
        100,
        10,
        0.1,
        _sk_lasso,
        lambda cp, w, X, y, mu: cp.sum_squares(X @ w - y) / (2 * y.size) + mu * cp.norm1(w),
    ),
    Small(
        "logistic regression with `norm1`",
        LOGISTIC,
        1000,
        50,
        0.05,
        _sk_logistic,
        lambda cp, w, X, y, mu: cp.sum(cp.logistic(-cp.multiply(y, X @ w))) / y.size + mu * cp.norm1(w),
    ),
)


def arrays(small: Small) -> tuple[Any, Any]:
    """Gaussian rows, and targets of five features with noise; signs of them for the logistic loss."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((small.n, small.p))
    z = X[:, :5] @ np.array([1.0, -2.0, 0.5, 1.0, -1.0]) + 0.5 * rng.standard_normal(small.n)
    return X, np.sign(z) if small.text is LOGISTIC else z


class Within:
    """The seconds within the methods' own starts and steps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        for method in METHODS.values():
            method.load()
            for name in ("__init__", "begin", "step"):
                if name in method.run.__dict__:
                    setattr(method.run, name, self._timed(method.run.__dict__[name]))

    def _timed(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **named: Any) -> Any:
            began = time.perf_counter()
            try:
                return fn(*args, **named)
            finally:
                self.seconds += time.perf_counter() - began

        return timed


@dataclass
class Latencies:
    """Seconds of the calls of a competitor, and what is left of them without the methods' own."""

    all: list[float] = field(default_factory=list)
    around: list[float] = field(default_factory=list)

    @property
    def cell(self) -> str:
        """`3.1 ms (2.4 ms)`: the median and the fastest."""
        return _cell(self.all)

    @property
    def cell_around(self) -> str:
        """The same without the methods' own."""
        return _cell(self.around)


def _cell(seconds: list[float]) -> str:
    return f"{duration(median(seconds))} ({duration(min(seconds))})"


def in_turns(
    competitors: dict[str, Callable[[], Any]], rounds: int, calls: int, within: Within
) -> dict[str, Latencies]:
    """Rounds in which each competitor is called some times in a row; garbage is collected before a turn, not meanwhile."""
    found = {name: Latencies() for name in competitors}
    for _ in range(rounds):
        for name, call in competitors.items():
            gc.collect()
            gc.disable()
            for counted in range(calls):
                began, within.seconds = time.perf_counter(), 0.0
                call()
                took = time.perf_counter() - began
                if counted:
                    found[name].all.append(took)
                    found[name].around.append(took - within.seconds)
            gc.enable()
    return found


def warm(small: Small, within: Within) -> tuple[fw.Solution, dict[str, Latencies]]:
    """The certified answer, and by competitor: from arrays to it, with another parameter; the peers."""
    X, y = arrays(small)
    program = fw.parse(small.text)
    bound = program.bind(X=X, y=y, mu=small.mu)
    answer = bound.solve(threads=1)
    steps: Iterator[int] = count()
    calls = {
        "bound": lambda: program.bind(X=X, y=y, mu=small.mu).solve(threads=1),
        "again": lambda: bound.bind(mu=small.mu * (1.0 + 1e-4 * next(steps))).solve(threads=1),
        "scikit-learn": lambda: small.peer(X, y, small.mu),
    }
    found = in_turns(calls, ROUNDS, CALLS, within)
    return answer, found | in_turns({"CVXPY": lambda: by_cvxpy(small, X, y)}, SLOW_ROUNDS, SLOW_CALLS, within)


def by_cvxpy(small: Small, X: Any, y: Any) -> float:
    import cvxpy as cp

    w = cp.Variable(small.p)
    return float(cp.Problem(cp.Minimize(small.stated(cp, w, X, y, small.mu))).solve())


def fresh() -> dict[str, Runs]:
    """Whole processes that solve the smallest example, and the lasso by each competitor."""
    solve = "import small; s = small.PROBLEMS[0]; X, y = small.arrays(s); "
    commands = {
        "`fwdsl run examples/portfolio.fw`": ["-m", "fwdsl", "run", "examples/portfolio.fw"],
        "the lasso": ["-c", solve + "small.fw.parse(s.text).bind(X=X, y=y, mu=s.mu).solve(threads=1)"],
        "the lasso by scikit-learn": ["-c", solve + "s.peer(X, y, s.mu)"],
        "the lasso by CVXPY": ["-c", solve + "small.by_cvxpy(s, X, y)"],
    }
    calls = {name: partial(_process, args) for name, args in commands.items()}
    for call in calls.values():
        call()  # compiles kernels and byte code
    return interleaved(calls, FRESH_ROUNDS)


def _process(args: list[str]) -> None:
    env = environment(1)
    env["PYTHONPATH"] += f":{ROOT / 'benchmarks'}"
    subprocess.run([sys.executable, *args], cwd=ROOT, env=env, capture_output=True, check=True)


def main() -> None:
    """Measure, and write results/small.md."""
    report = Report(
        "small",
        "Small problems",
        "Latencies of problems whose solution takes less than what is around it, beside scikit-learn's and CVXPY's for the same. One thread.",
        "Gaussian rows, targets of five features with noise",
        ["numpy", "scipy", "numba", "scikit-learn", "cvxpy"],
    )
    within = Within()
    measured = [(small, *warm(small, within)) for small in PROBLEMS]
    report.section(
        "In a warm process",
        "From arrays to the certified answer (`bind` and `solve`), and with another parameter (`bind(mu=...)` and `solve`); *around* is what "
        "is left of either without the method's own start and steps. Medians, and the fastest in brackets. "
        f"Competitors take turns of {CALLS} calls, the first of which is not counted; garbage is collected before a turn. "
        "scikit-learn solves by its `Lasso` and by liblinear at `tol=1e-6`, CVXPY by its own choice, its compilation included.",
    )
    rows = []
    for small, answer, found in measured:
        name, again, bound = f"{small.name}, {small.n:,} x {small.p}", found["again"], found["bound"]
        cells = [bound.cell, bound.cell_around, again.cell, again.cell_around]
        rows.append([name, answer.method, *cells, found["scikit-learn"].cell, found["CVXPY"].cell])
        limit = 0.003 if small.text is LASSO else 0.005
        report.target(
            Target(f"{name}: from arrays to the certified answer", median(bound.all), limit, show=duration),
            Target(f"{name}: another parameter, around the method", median(again.around), 0.001, show=duration),
        )
    heads = ["from arrays", "around", "another parameter", "around", "scikit-learn", "CVXPY"]
    report.table(["problem", "method", *heads], rows)
    runs = fresh()
    report.section(
        "In a fresh process",
        "Whole processes by the clock, interpreter and imports included; kernels are in the cache, byte code is compiled. "
        "The example is the smallest one; the lasso is that above, its program in Python.",
    )
    report.table(["process", *COLUMNS], [[name, *run.cells] for name, run in runs.items()])
    example = next(iter(runs))
    report.target(Target(f"{example} in a fresh process", runs[example].median, 0.8, show=duration))
    report.write()


if __name__ == "__main__":
    main()
