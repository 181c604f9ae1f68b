"""The experiments of Yu, Lin, Yang 2015: figures 1 and 2 (factorised data), 3 (matrix risk), 4 (metric learning); writes docs/papers/dspdc.md.

`--quick`: small sizes and short races, and docs/papers is left alone. All takes about 8 minutes, 6 GB for Figure 3 and an idle machine.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from common import Page, quick, raced, start_over

if __name__ == "__main__":
    start_over(threads=1)  # before numpy is imported

import numpy as np
import scipy.sparse as sp
from data_sets import read_libsvm
from generators import factorised, matrix_risk, rcv1_like
from report import Target
from tasks import mt_lmnn, principal
from words import dspdc, formed_table, risk_rows, verdict

import fwdsl as fw
from fwdsl.studies.race import Race

HERE = Path(__file__).resolve().parent
TOL = 1e-6
SECONDS = 0.5 if quick() else 1.2
SECONDS_BLOCKS = 1.0 if quick() else 5.0
PATIENCE = 90.0


# --- figures 1 and 2: factorised data ----------------------------------------------------------------------------------


def factor_race(name: str, U: Any, V: Any, b: Any, l1: float, l2: float, q: int) -> Race:
    """The paper's three methods on U (V x), SPDC being q = p; and full gradients."""
    p = V.shape[1]
    problem = fw.load(HERE / "factors.fw").bind(U=U, V=V, b=b, l1=l1, l2=l2)
    methods = [dspdc(1, q, 1.0), dspdc(1, p, 1.0), dspdc(1, q), dspdc(1, 1), dspdc(50, p), "dspdc", "apg", "pdhg"]
    return raced(problem, methods, name=name, tol=TOL, time=SECONDS)


def formed_race(name: str, U: Any, V: Any, b: Any, l1: float, l2: float) -> Race:
    """The coordinate methods of the paper's comparison on A = U V, which they may form where it can be stored."""
    problem = fw.load(HERE / "formed.fw").bind(A=U @ V, b=b, l1=l1, l2=l2)
    return raced(problem, ["sdca", "spdc", "apg"], name=f"{name}, formed", tol=TOL, time=SECONDS)


def figure_1() -> list[tuple[str, tuple[Any, ...], int]]:
    """(n, p, q, d) and the weights of the six panels."""
    sizes = [(5_000, 100, 50, 20), (10_000, 100, 50, 50), (10_000, 500, 50, 50)]
    found = []
    for l1, l2 in ((1e-3, 1e-2), (1e-6, 1e-5)):
        for n, p, q, d in sizes[:1] if quick() else sizes:
            found.append((f"{n} x {p}, d = {d}, l2 = {l2:g}", (*factorised(n, p, d), l1, l2), q))
    return found


def figure_2() -> list[tuple[str, tuple[Any, ...], int]]:
    """Rows of data at hand, their features reduced to 20 random ones: U = X G', V = G."""
    found = []
    for name in ("a9a",) if quick() else ("a9a", "w8a", "rcv1-like"):
        if name == "rcv1-like":
            X, y = rcv1_like(20_242, 47_236, 74)
        else:
            X, y = read_libsvm(name)
        X = sp.csr_array(X)
        G = np.random.default_rng(0).standard_normal((20, X.shape[1])) / math.sqrt(20)
        U = np.ascontiguousarray(X @ G.T)
        found.append((name, (U, G, np.where(y > 0, 1.0, -1.0), 1e-4, 1e-2), max(1, X.shape[1] // 10)))
    return found


# --- figures 3 and 4: matrices ----------------------------------------------------------------------------------------


class Counted:
    """Eigendecompositions with vectors, as the updates take them; bounds take eigenvalues alone."""

    def __init__(self) -> None:
        self.full = 0
        self.values = 0


@contextmanager
def counted() -> Iterator[Counted]:
    """Count NumPy's while open."""
    count, eigh, eigvalsh = Counted(), np.linalg.eigh, np.linalg.eigvalsh

    def full(*args: Any, **more: Any) -> Any:
        count.full += 1
        return eigh(*args, **more)

    def values(*args: Any, **more: Any) -> Any:
        count.values += 1
        return eigvalsh(*args, **more)

    np.linalg.eigh, np.linalg.eigvalsh = full, values  # type: ignore[assignment]
    try:
        yield count
    finally:
        np.linalg.eigh, np.linalg.eigvalsh = eigh, eigvalsh


def decompositions(
    problem: fw.Problem, method: str, tol: float, seconds: float, **options: Any
) -> tuple[int, int, str]:
    """(with vectors, values alone, how it ended) of a solve to a tolerance."""
    with counted() as count:
        s = problem.solve(method=method, tol=tol, time=seconds, threads=1, **options)
    return count.full, count.values, "" if s.status == "optimal" else f"gap {s.relative_gap:.0e} at the limit of time"


Counts = dict[tuple[int, int], int]


def decomposition_rows(problem: fw.Problem, pairs: list[tuple[int, int]], p: int) -> tuple[list[list[str]], Counts]:
    """A row for each method: decompositions to 1e-3 and 1e-6; and all of them to 1e-6 for the (m, q) without a Lambda that came there."""
    entries: dict[str, tuple[str, dict[str, Any]]] = {}
    for m, q in pairs:
        for size in (q, p):
            entries[f"`{dspdc(m, size)}`"] = "dspdc", {"m": m, "q": size}
    m, q = pairs[-1]
    for size in (q, p):
        entries[f"`{dspdc(m, size, 1.0)}`"] = "dspdc", {"m": m, "q": size, "Lambda": 1.0}
    entries |= {"`apg`": ("apg", {}), "`pdhg`": ("pdhg", {})}
    rows, counts = [], {}
    for label, (method, options) in entries.items():
        cells = [f"{label}, SPDC" if options.get("q") == p else label]
        for tol in (1e-3, TOL):
            full, values, ended = decompositions(problem, method, tol, SECONDS_BLOCKS, **options)
            cells.append(f"{full:,} + {values:,}" + (f" ({ended})" if ended else ""))
            if ended:
                break
            if tol == TOL and set(options) == {"m", "q"}:
                counts[options["m"], options["q"]] = full + values
        cells += ["-"] * (3 - len(cells))
        rows.append(cells)
        print("  " + " | ".join(cells), file=sys.stderr, flush=True)
    return rows, counts


def share(problem: fw.Problem, m: int, q: int, p: int, known: Counts) -> float | None:
    """Decompositions to 1e-6 with q over those with all p, which is SPDC; None where one takes too long."""
    found = []
    for size in (q, p):
        if (m, size) not in known:
            full, values, ended = decompositions(problem, "dspdc", TOL, PATIENCE, m=m, q=size)
            if ended:
                return None
            known[m, size] = full + values
        found.append(known[m, size])
    return found[0] / found[1]


DECOMPOSITIONS = ["decompositions: with vectors + values alone", "to 1e-3", "to 1e-6"]


def risk_races() -> dict[str, Race]:
    """Figure 3, both rows of it, at the paper's three pairs (m, q); full gradients, run once for each d, stand beside each pair.

    Of the larger d the paper's Lambda is run for the second pair alone, and `pdhg` is not: each has seconds of preparations.
    """
    n, p = (40, 20) if quick() else (100, 100)
    pairs = [(n // 20, p // 2), (n // 2, p // 20), (n // 5, p // 5)]
    small, large = (8, 12) if quick() else (100, 200)
    found = {}
    for d, seconds, full in ((small, SECONDS_BLOCKS, ["apg", "pdhg"]), (large, 1.6 * SECONDS_BLOCKS, ["apg"])):
        D, b = matrix_risk(n, p, d)
        problem = fw.load(HERE / "risk.fw").bind(D=D, b=b)
        named = {}
        for m, q in pairs:
            multipliers = (None, 1.0) if d == small or (m, q) == pairs[1] else (None,)
            named[m, q] = [dspdc(m, size, c) for c in multipliers for size in (q, p)]
        methods = [name for names in named.values() for name in names]
        race = raced(problem, [*methods, *full], name=f"d = {d}", tol=TOL, time=seconds)
        for (m, q), names in named.items():
            shown = tuple(e for e in race if e.name in (*names, *full))
            found[f"d = {d}, m = {m}, q = {q}"] = replace(race, entrants=shown)
    return found


def metric_problems() -> dict[str, tuple[fw.Problem, int, int]]:
    """name -> (problem, triplets, metrics)."""
    tasks, points = (10, 60) if quick() else (100, 100)
    found = {}
    for name, d in (("letter.scale", 0), ("mnist.t", 40)):
        X, y = read_libsvm(name)
        Z = X.toarray() if not d else principal(X.toarray(), d)
        far, near, task = mt_lmnn(Z, y, tasks, 5, points)
        problem = fw.load(HERE / "metrics.fw").bind(Far=far, Near=near, task=task)
        found[name] = problem, len(far), tasks + 1
    return found


# --- the page ---------------------------------------------------------------------------------------------------------


def main() -> None:
    """Race, and write the page."""
    page = Page(
        "dspdc",
        "Doubly stochastic primal-dual coordinates (Yu, Lin, Yang 2015)",
        claim="Sampling both rows and coordinates is significantly faster than SPDC and SDCA where data are a product U V that is not formed "
        "(figures 1 and 2), and converges much faster where the proximal step of a block is an eigendecomposition (figures 3 and 4).",
        data="factorised, matrix_risk and rcv1_like of benchmarks/generators.py; a9a, w8a, letter.scale, mnist.t (`../shared/data`)",
    )
    first = {name: factor_race(name, *data, q) for name, data, q in figure_1()}
    page.section(
        "Figure 1: factorised data at the paper's sizes",
        "Smooth hinge with an elastic net on U V, the columns of Figure 1 as they are: n, p and d as named, m = 1, q = 50. `Lambda=1` is the paper's "
        "estimate of Lambda; without it Lambda is found from random blocks and watched. With q = p the method is SPDC on the factors. `dspdc` "
        "alone has its defaults, n / 100 rows and p / 2 columns. `apg` takes full gradients by two thin products. Gaps are certified.",
    )
    names = list(first)
    half = len(names) // 2
    for i, chunk in enumerate((names[:half], names[half:])):
        page.races(f"figure1{'ab'[i]}", {n: first[n] for n in chunk})
    formed = {name: formed_race(name, *data) for name, data, _ in figure_1()}
    page.text("The same problems with A = U V formed, which fits in memory at every size of the paper:")
    page.table(*formed_table(first, formed))

    second = {name: factor_race(name, *data, q) for name, data, q in figure_2()}
    page.section(
        "Figure 2: real rows, features reduced to d = 20",
        "U = X G' and V = G with a Gaussian G (20 x p), l1 = 1e-4, l2 = 1e-2. Covtype, RCV1 and Real-sim are not at hand: a9a and w8a are real, "
        "rcv1-like is synthetic at the size of RCV1 (20,242 x 47,236). m = 1, q = p / 10; the paper does not tell its own.",
    )
    page.races("figure2", second)

    risks = risk_races()
    page.section(
        "Figure 3: matrix risk minimisation at the paper's sizes",
        "n = p = 100, lambda = 0.01, d = 100 and 200 (data of 0.8 and 3.2 GB) and the paper's three pairs (m, q), each beside SPDC, q = 100. The "
        "paper draws one sign a block and row; here b_i is the sign of the sum of traces. `apg` and `pdhg`, which take neither m nor q, were run "
        "once; with d = 200, where preparations take seconds, `pdhg` was not, and the paper's Lambda for the second pair alone. SDCA is missing: "
        "the baseline `sdca` takes vectors alone.",
    )
    half = len(risks) // 2
    for figure, chunk in (("figure3", list(risks)[:half]), ("figure3_large", list(risks)[half:])):
        page.races(figure, {name: risks[name] for name in chunk}, units=("seconds",))
    page.table(["problem", "method", "gap", "decompositions of updates + of certificates"], risk_rows(risks))

    metrics = metric_problems()
    tables = {}
    shares: dict[str, float | None] = {}
    for name, (problem, n, p) in metrics.items():
        pairs = [(max(1, n // 100), p // 10), (n // 10, p // 10), (n // 10, p // 5)]
        rows, counts = decomposition_rows(problem, pairs, p)
        tables[name] = n, p, rows
        shares[name] = share(problem, *pairs[1], p, counts)
    page.section(
        "Figure 4: multi-task metric learning",
        "MT-LMNN (33) with lambda_0 = 0.01, lambda_j = 0.1 and 3 neighbours, as in the paper. ALOI is not at hand, and no set here has "
        "1,000 classes for 100 disjoint tasks: each of 100 tasks has 100 random samples of 5 random classes, letter.scale as it is (d = 16), "
        "mnist.t in 40 principal components of total variance 1. Counted are eigendecompositions to a certified gap: with vectors, as updates "
        "take them, and after the plus of eigenvalues alone, as certificates do (the verifier's included). The race below has m = n / 10 "
        "and q = p / 10.",
    )
    for name, (n, p, rows) in tables.items():
        page.text(f"{name}: {n:,} triplets, {p} metrics.")
        page.table(DECOMPOSITIONS, rows)
    for name, value in shares.items():
        what = (
            f"eigendecompositions to 1e-6 on {name}, those of SPDC (q = p) with the same m and rule for Lambda being 1"
        )
        page.target(Target(what, math.inf if value is None else value, 0.5))
    races = {}
    for name, (problem, n, p) in metrics.items():
        m, q = n // 10, p // 10
        methods = [dspdc(m, q), dspdc(m, q, 1.0), dspdc(m, p), dspdc(m, p, 1.0), "apg", "pdhg"]
        races[name] = raced(problem, methods, name=name, tol=TOL, time=SECONDS_BLOCKS)
    page.races("figure4", races)
    page.verdict(verdict({**first, **second}, formed, {**races, **risks}, shares))
    page.write()


if __name__ == "__main__":
    main()
