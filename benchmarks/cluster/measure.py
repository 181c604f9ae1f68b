"""Products, sums and round trips with workers on this machine, and what the cost model makes of them for machines that are not here.

    python benchmarks/cluster/measure.py [--solve] [--peers PYTHON]

With `--peers` the libraries that PYTHON has solve an l2 logistic regression to the same objective (`peers`). Prints Markdown: what was measured with
workers of one thread each beside one process of as many threads, the constants that `fwdsl.cluster.costs` takes, and predictions for 100 workers,
which nobody has run.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable

import numpy as np
import peers

import fwdsl as fw
from fwdsl.backends.costs import NS_PER_NONZERO
from fwdsl.cluster.connect import connect
from fwdsl.cluster.costs import Transport
from fwdsl.cluster.driver import Cluster
from fwdsl.session import Session
from fwdsl.solve.canonical import SolvableCanonical

PROGRAM = """fw 1
data X: matrix[n, p], y: signs[n]
var w: vector[p]
minimize mean(logistic(X @ w, y)) + 0.001 * sum_squares(w)
solve method = apg, tol = 1e-6
"""

PREDICTED = (
    ("1e9 x 1e3 dense", 1e12, 1_000, "dense"),
    ("1e8 x 1e6 sparse, 100 a row", 1e10, 1_000_000, "csr"),
)
"""Data, their stored numbers and columns, and how they are stored."""

WORKERS, THREADS = 100, 16
LINE = Transport(latency=1e-3, per_byte=8.0 / 10e9)
"""A line of 10 Gbit/s with a round trip of 1 ms, on which a prediction beside the measured line rests."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--rows", type=int, default=500_000)
    options.add_argument("--columns", type=int, default=250)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--solve", action="store_true", help="time a whole solve too")
    options.add_argument("--peers", metavar="PYTHON", help="an interpreter that has scikit-learn, dask-ml or pyspark")
    options.add_argument("--peer-rows", type=int, default=200_000)
    options.add_argument("--peer-columns", type=int, default=100)
    given = options.parse_args()
    X, y = samples(given.rows, given.columns)
    problem = fw.parse(PROGRAM).bind(X=X, y=y)
    session = problem._session
    session.bind()
    alone = timed(session, given.workers, given.repeats)
    with connect(given.workers) as cluster:
        began = time.perf_counter()
        held = session.held_by(cluster)
        handed = time.perf_counter() - began
        together = timed(held, 1, given.repeats)
        transport = cluster.transport
        tell(given, X.nbytes, alone, together, transport, handed)
        if given.solve:
            tell_solves(problem, held, given.workers)
        if given.peers:
            tell_peers(given, cluster)
    tell_predictions(transport)


def samples(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, :5].sum(axis=1) + 2.0 * rng.standard_normal(n) > 0.0, 1.0, -1.0)


def timed(session: object, threads: int, repeats: int) -> dict[str, float]:
    """The least seconds of each kind of work."""
    form = session.canonicalise()  # type: ignore[attr-defined]
    options = session.options.__class__(threads=threads)  # type: ignore[attr-defined]
    problem = SolvableCanonical(form, options).prepare().partitioned
    x = np.random.default_rng(1).standard_normal(problem.size) * 0.1
    weights = problem.curvatures(problem.forward(x))
    free = np.arange(problem.size)

    def gradient() -> None:
        _, ys = problem.losses_gradient(problem.forward(x))
        problem.adjoint(ys)

    kinds: dict[str, Callable[[], object]] = {
        "loss": lambda: problem.losses_value(problem.forward(x)),
        "gradient": gradient,
        "Gram matrix": lambda: problem.gram(free, weights),
    }
    found = {name: min(seconds(fn) for _ in range(repeats)) for name, fn in kinds.items()}
    problem.close()
    return found


def seconds(fn: Callable[[], object]) -> float:
    began = time.perf_counter()
    fn()
    return time.perf_counter() - began


def tell(
    given: argparse.Namespace,
    size: float,
    alone: dict[str, float],
    together: dict[str, float],
    transport: Transport,
    handed: float,
) -> None:
    load = os.getloadavg()[0]
    print(f"{given.rows:,} x {given.columns} float64, {size / 1e9:.2f} GB; {os.cpu_count()} cores, load {load:.1f}\n")
    print(
        f"| work | one process, {given.workers} threads | {given.workers} workers of one thread | ratio |\n| --- | ---: | ---: | ---: |"
    )
    for name, own in alone.items():
        print(f"| {name} | {1e3 * own:.1f} ms | {1e3 * together[name]:.1f} ms | {together[name] / own:.2f} |")
    print(
        f"\nHanding the rows out took {handed:.1f} s ({size / handed / 1e6:.0f} MB/s). A round trip takes {1e3 * transport.latency:.1f} ms, "
        f"and {1e6 * 1e3 * transport.per_byte:.1f} ms for each MB.\n"
    )


def tell_solves(problem: fw.Problem, held: Session, threads: int) -> None:
    one, two = problem.solve(threads=threads), held.solve()  # which loads the kernels here and there
    alone = seconds(lambda: problem.solve(threads=threads))
    together = seconds(held.solve)
    same = "yes" if np.array_equal(one["w"], two["w"]) and one.gap == two.gap else "NO"
    took = f"{alone:.1f} s in one process, {together:.1f} s with workers once they have the rows"
    print(f"A solve to 1e-6: {took}; the same bits: {same}.\n")


def tell_peers(given: argparse.Namespace, cluster: Cluster) -> None:
    """The table of fwdsl and of the peers: each to the objective of a solve to 1e-10."""
    X, y = samples(given.peer_rows, given.peer_columns)
    problem = fw.parse(PROGRAM.replace("apg", "auto")).bind(X=X, y=y)
    least = problem.solve(tol=1e-10).objective
    print(
        f"l2 logistic regression, {X.shape[0]:,} x {X.shape[1]} float64, each with two threads or two workers of one:\n"
    )
    print("| library | seconds | objective above the least | its tolerance |\n| --- | ---: | ---: | ---: |")
    held = problem._session.held_by(cluster)
    for name, solve in (
        ("fwdsl, one process", lambda: problem.solve(threads=given.workers)),
        (f"fwdsl, {given.workers} workers", held.solve),
    ):
        solve()
        began = time.perf_counter()
        found = solve()
        print(
            f"| {name} | {time.perf_counter() - began:.2f} s | {found.objective / least - 1.0:.0e} | 1e-06, certified |"
        )
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/X.npy", X)
        np.save(f"{folder}/y.npy", y)
        for row in peers.rows(given.peers, folder, least):
            print(row, flush=True)
    print()


def tell_predictions(measured: Transport) -> None:
    print(f"**Prediction, not a measurement**: a gradient (A x and A'y) with {WORKERS} workers of {THREADS} threads.\n")
    print(
        "| data | work | transport, the line measured here | transport, 10 Gbit/s | more workers pay up to |\n| --- | ---: | ---: | ---: | ---: |"
    )
    for name, numbers, columns, storage in PREDICTED:
        work = 2.0 * 1e-9 * NS_PER_NONZERO[storage] * numbers
        per_worker = 16.0 * columns * LINE.per_byte
        most = (work / THREADS / per_worker) ** 0.5
        print(
            f"| {name} | {work / (WORKERS * THREADS):.2f} s | {measured.seconds(columns, WORKERS):.2f} s | "
            f"{LINE.seconds(columns, WORKERS):.3f} s | {most:,.0f} |"
        )


if __name__ == "__main__":
    main()
