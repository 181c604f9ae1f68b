"""l2 logistic regression with scikit-learn, dask-ml and Spark MLlib to the objective of fwdsl, each with two threads or two workers of one.

    python benchmarks/cluster/measure.py --peers PYTHON    # the interpreter that has the peers; those it has not are said to be missing
    PYTHON benchmarks/cluster/peers.py NAME FOLDER OBJECTIVE    # one peer, in a process of its own

The problem is mean(logistic(X w, y)) + MU |w|^2 without an intercept. A peer is run with tolerances that get smaller, until its objective is the one
given to `CLOSE` of it; the seconds are those of that run alone, with the data where it takes them from: in memory, persisted, cached.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

MU = 1e-3
CLOSE = 1e-6
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10)
PATIENCE = 60.0
"""Seconds of one run, after which no smaller tolerance is tried; a process has twice as many."""

Fit = Callable[[float], Any]
"""A tolerance -> the coefficients."""


def scikit_learn(X: Any, y: Any, solver: str) -> Iterator[Fit]:
    from sklearn.linear_model import LogisticRegression

    def fit(tol: float) -> Any:
        C = 1.0 / (2.0 * MU * len(y))
        return LogisticRegression(C=C, tol=tol, max_iter=1000, fit_intercept=False, solver=solver).fit(X, y).coef_

    yield fit


def dask_ml(X: Any, y: Any, solver: str) -> Iterator[Fit]:
    import dask.array as da
    from dask_ml.linear_model import LogisticRegression
    from distributed import Client, LocalCluster, wait

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, Client(cluster):
        step = -(-len(y) // 2)
        A, b = da.from_array(X, chunks=(step, -1)).persist(), da.from_array(y > 0.0, chunks=step).persist()
        wait([A, b])

        def fit(tol: float) -> Any:
            C = 1.0 / (2.0 * MU * len(y))
            return LogisticRegression(C=C, tol=tol, max_iter=1000, fit_intercept=False, solver=solver).fit(A, b).coef_

        yield fit


def spark(X: Any, y: Any, _: str) -> Iterator[Fit]:
    import pandas as pd
    from pyspark.ml.classification import LogisticRegression
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import SparkSession

    folder = Path(sys.argv[2])
    table = pd.DataFrame({"x": list(X), "label": (y > 0.0).astype(float)})
    table.to_parquet(folder / "spark.parquet", row_group_size=10_000)
    session = SparkSession.builder.master("local[2]").config("spark.driver.memory", "8g").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    rows = session.read.parquet(str(folder / "spark.parquet"))
    rows = rows.select(array_to_vector("x").alias("features"), "label").repartition(2).cache()
    rows.count()

    def fit(tol: float) -> Any:
        made = LogisticRegression(regParam=2.0 * MU, tol=tol, maxIter=1000, fitIntercept=False, standardization=False)
        return made.fit(rows).coefficients.toArray()

    yield fit
    session.stop()


PEERS: dict[str, tuple[Callable[[Any, Any, str], Iterator[Fit]], str]] = {
    "scikit-learn, lbfgs": (scikit_learn, "lbfgs"),
    "scikit-learn, newton-cholesky": (scikit_learn, "newton-cholesky"),
    # its newton has no penalty
    "dask-ml, lbfgs": (dask_ml, "lbfgs"),
    "Spark MLlib, local[2]": (spark, ""),
}


def objective(X: Any, y: Any, w: Any) -> float:
    """mean(logistic(X w, y)) + MU |w|^2."""
    return float(np.mean(np.logaddexp(0.0, -y * (X @ w))) + MU * (w @ w))


def run(name: str, folder: str, least: float) -> dict[str, Any]:
    """The first tolerance that reaches the objective, its seconds and how far it is; of the last one tried where none does."""
    X, y = np.load(f"{folder}/X.npy"), np.load(f"{folder}/y.npy")
    prepare, solver = PEERS[name]
    found: dict[str, Any] = {}
    for fit in prepare(X, y, solver):
        fit(1.0)  # what is imported, compiled and started with the first run is not counted
        for tol in TOLERANCES:
            began = time.perf_counter()
            w = np.asarray(fit(tol), dtype=float).reshape(-1)
            took = time.perf_counter() - began
            far = objective(X, y, w) / least - 1.0
            found = {"tol": tol, "seconds": took, "far": far, "reached": far <= CLOSE}
            if found["reached"] or took > PATIENCE:
                break
    return found


def rows(python: str, folder: str, least: float) -> Iterator[str]:
    """A row of the table for each peer."""
    env = {**os.environ, "OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "PYTHONWARNINGS": "ignore"}
    for name in PEERS:
        command = [python, os.path.abspath(__file__), name, folder, repr(float(least))]
        try:
            done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=2.0 * PATIENCE)
        except subprocess.TimeoutExpired:
            yield f"| {name} | | not done within {2.0 * PATIENCE:.0f} s | |"
            continue
        if done.returncode:
            yield f"| {name} | | {(done.stderr.strip().splitlines() or ['it ended'])[-1]} | |"
            continue
        found = json.loads(done.stdout.strip().splitlines()[-1])
        far = f"{found['far']:.0e}" if found["reached"] else f"not reached: {found['far']:.0e}"
        yield f"| {name} | {found['seconds']:.2f} s | {far} | {found['tol']:.0e} |"


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], sys.argv[2], float(sys.argv[3]))))
