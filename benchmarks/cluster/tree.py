"""The cost of the fixed tree of sums (`fwdsl.sums`): products over the leaves of data beside the same products over one leaf, which has no tree.

    python benchmarks/cluster/tree.py [--rounds 15]

One thread; processor time, in turns, so that a busy machine counts for both alike. Prints a row of Markdown for each kind of data and work.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from backends.kernels.operators import Operator

SHORTEST = 0.1
"""Seconds of a turn, at least: work is repeated until then."""


def data() -> dict[str, object]:
    """Dense data by rows and by columns, of float64 and of float32, and sparse ones."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((200_000, 100))
    small = rng.standard_normal((6_000, 60))
    sparse = sp.random_array((200_000, 5_000), density=0.01, rng=rng, format="csr")
    return {
        "200,000 x 100 dense": A,
        "the same by columns": np.asfortranarray(A),
        "the same in float32": A.astype(np.float32),
        "6,000 x 60 dense": small,
        "200,000 x 5,000 sparse, 50 a row": sparse,
    }


def works(A: object, leaves: tuple[tuple[int, int], ...] | None) -> dict[str, Callable[[], object]]:
    """The sums over rows: A'y, and a Gram matrix of at most 100 columns with weights."""
    operator = Operator(A, 1, leaves)
    n, d = operator.shape
    y, weights = np.linspace(-1.0, 1.0, n), np.linspace(0.5, 1.0, n)
    out, support = np.empty(d), np.arange(min(d, 100))
    return {"A'y": lambda: operator.rmatvec(y, out), "Gram matrix": lambda: operator.gram(support, weights)}


def seconds(fn: Callable[[], object], times: int) -> float:
    began = time.process_time()
    for _ in range(times):
        fn()
    return (time.process_time() - began) / times


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=15)
    rounds = options.parse_args().rounds
    print("| data | leaves | work | by the tree | in one leaf | ratio (median, its quarters) |")
    print("| --- | ---: | --- | ---: | ---: | ---: |")
    for name, A in data().items():
        tree, one = works(A, None), works(A, ((0, A.shape[0]),))  # type: ignore[attr-defined]
        for what, fn in tree.items():
            for warm in (fn, one[what]):
                warm()
            times = max(1, int(SHORTEST / max(1e-6, seconds(fn, 3))))
            pairs = np.array([(seconds(fn, times), seconds(one[what], times)) for _ in range(rounds)])
            low, middle, high = np.quantile(pairs[:, 0] / pairs[:, 1], (0.25, 0.5, 0.75))
            own, other = 1e3 * np.median(pairs, axis=0)
            leaves = len(Operator(A, 1).leaves)
            print(
                f"| {name} | {leaves} | {what} | {own:.2f} ms | {other:.2f} ms | {middle:.3f} ({low:.3f}, {high:.3f}) |"
            )


if __name__ == "__main__":
    main()
