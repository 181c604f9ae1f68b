"""The experiments of Lei et al. 2019: figures 1 and 3 (smooth hinge on the l1 ball), figure 2 (trace-norm ball); writes docs/papers/pdbfw.md.

`--quick`: small sizes and short races, and docs/papers is left alone. `--out FOLDER`: the page goes there.

The limits are for about 20 minutes on an idle machine of two cores, a third of which are preparations, warming up and the verifier; 3 with `--quick`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent))

from common import Page, quick, raced, start_over

if __name__ == "__main__":
    start_over(threads=1)  # before numpy is imported

import numpy as np
from generators import trace_norm
from report import Target
from sets import Data, a9a_as_it_is, small_sets, text_like, unit_rows
from verdict import LEVEL, PAPER, paper_form, verdict

import fwdsl as fw
from fwdsl.studies.race import Race

RADIUS = 300.0
TOL = 1e-6

SECONDS = 0.7 if quick() else 2.0
"""Each method on the sets of figure 1, and on data of the size of rcv1."""

SECONDS_VARIED = 0.3 if quick() else 0.7
"""The same for the other weights on sets that the paper does not have there."""

SECONDS_LARGE = 1.0 if quick() else 3.0
"""On data of the size of news20.binary."""

SECONDS_TRACE = {True: 1.5 if quick() else 5.0, False: 0.7 if quick() else 2.0}
"""On trace-norm balls that bind, and that do not."""

SECONDS_A9A = 0.7 if quick() else 3.0
SECONDS_TARGET = 5.0 if quick() else 60.0

SECONDS_ALONE = 2.0 if quick() else 20.0
"""`pdbfw` by itself on trace-norm balls that bind: its steps are many, and a race of all methods with that much time would take too long."""

TUNING = 0.25
"""The share of a race's time that each delta is tried for."""

DELTAS = (1e1, 1e2, 1e3, 1e4, 1e5)
"""What the theory's delta is multiplied with."""

HINGE = Path(__file__).with_name("hinge.fw")
TRACE = Path(__file__).with_name("trace.fw")

METHODS = ["pdbfw", "pdbfw(accelerate=false)", "pdbfw(eta=0.5)", "apg", *PAPER, "gsfw", "sdca"]
MORE = ["sfw", "svrf", "scgm", "spdc"]
TRACE_METHODS = [
    "pdbfw", "pdbfw(accelerate=false)", "pdbfw(eta=0.5)", "block_fw", "lowrank", "factored_fw", "apg", "gsfw", "svrg", "scgs", "storc", "sfw",
]  # fmt: skip


# --- figures 1 and 3 -------------------------------------------------------------------------------------------------


def hinge(A: Any, y: Any, weight: float, radius: float = RADIUS) -> fw.Problem:
    """The problem with mu = weight / n."""
    return fw.load(HINGE).bind(A=A, y=y, r=radius, c=0.5 * weight / A.shape[0])


def seconds(data: Data, weight: float) -> float:
    """What each method has."""
    if data.large:
        return SECONDS_LARGE
    return SECONDS if data.text or weight == 10.0 else SECONDS_VARIED


def theory(problem: fw.Problem, k: int) -> float:
    """The paper's delta (Corollary 4.1.1) for k rows, with R the largest squared length of a row."""
    A, n = problem.instance.values["A"], problem.instance.dims["n"]
    squares = np.sum(A**2, axis=1) if isinstance(A, np.ndarray) else np.asarray(A.multiply(A).sum(axis=1))
    mu = 2.0 * float(problem.instance.values["c"])
    return 1.0 / (k * (1.0 / n + 25.0 * float(squares.max()) / (2.0 * mu * n**2)))


def forms(problem: fw.Problem, limit: float) -> list[str]:
    """The paper's form with s the solution's support, k = n s / d, and delta a multiple of its theory's."""
    x = problem.solve(method="apg", tol=1e-4, threads=1, time=limit)["x"]
    n = problem.instance.dims["n"]
    s = max(1, int(np.count_nonzero(x)))
    k = max(1, math.ceil(n * s / x.size))
    delta = theory(problem, k)
    return [f"pdbfw(s={s}, eta=0.5, delta={delta * factor:.3g})" for factor in DELTAS]


def tuned(problem: fw.Problem, limit: float) -> str:
    """The best of these after a short run each."""
    race = problem.race(forms(problem, SECONDS_LARGE), tol=TOL, time=TUNING * limit)
    return min(race, key=lambda e: race.distance(e.moments[-1]) if e.moments else math.inf).name


def race_of(data: Data, weight: float, methods: list[str]) -> Race:
    """All methods on one problem, the tuned form of the paper among them."""
    problem, limit = hinge(data.A, data.y, weight), seconds(data, weight)
    return raced(problem, [*methods, tuned(problem, limit)], name=f"{data.name} {weight:g}/n", tol=TOL, time=limit)


def ratio_rows(races: Mapping[str, Race]) -> list[list[str]]:
    """Seconds of each form of pdbfw over those of apg to the verdict's level."""

    def told(a: float, b: float) -> str:
        if math.isinf(a):
            return "not reached"
        return f"{a / b:.2g}" if math.isfinite(b) else "apg not reached"

    rows = []
    for title, race in races.items():
        base = race["apg"].to(LEVEL)
        ours = (race["pdbfw"], race["pdbfw(accelerate=false)"], paper_form(race), race["pdbfw(eta=0.5)"])
        rows.append([title, *(told(e.to(LEVEL), base) for e in (*ours, race["apg_fixed"]))])
    return rows


RATIO_COLUMNS = [
    f"seconds to {LEVEL:.0e} over those of `apg`",
    "`pdbfw`",
    "no momentum",
    "paper, delta tuned",
    "paper, delta of its theory",
    "`apg_fixed`",
]


def chunks(races: Mapping[str, Race], size: int) -> list[dict[str, Race]]:
    """The races in groups."""
    items = list(races.items())
    return [dict(items[i : i + size]) for i in range(0, len(items), size)]


def hinges(page: Page, sets: list[Data]) -> tuple[dict[str, Race], dict[str, Race]]:
    """Figures 1 and 3: the races at mu = 10 / n, and at the other weights."""
    main = {d.name: race_of(d, 10.0, [*METHODS, *MORE]) for d in sets}
    page.section(
        "Figure 1: smooth hinge, l1 radius 300, mu = 10 / n",
        "Rows have length 1, as the paper's. `pdbfw` has its defaults, adaptive steps with momentum once they stay short, "
        "`pdbfw(accelerate=false)` has none; `pdbfw(eta=0.5)` is the paper's algorithm with the step of its theory, "
        "`pdbfw(s=..., eta=0.5, delta=...)` the same with s the size of the solution's support, k = n s / d and delta the best of 10, 100, ..., 1e5 "
        f"times the theory's after {TUNING:.0%} of the race's time each. `apg`, the workhorse of fwdsl, backtracks, restarts and ends in Newton "
        "steps; `apg_fixed` is the textbook method with L = beta R + mu, the weak form of the "
        "same idea. Plotted is the distance of each point's objective from the best bound of the race, as in the paper; the "
        "tables count certified gaps.",
    )
    for i, chunk in enumerate(chunks(main, 2)):
        page.races(f"figure1{'abcd'[i]}", chunk, against="distance")
    page.table(RATIO_COLUMNS, ratio_rows(main))

    others = [d for d in sets if d.text] if quick() else sets
    varied = {f"{d.name}, mu = {w:g}/n": race_of(d, w, METHODS) for d in others for w in (1.0, 100.0)}
    page.section(
        "Figure 3: the same at mu = 1 / n and 100 / n",
        "The paper has its two text sets here; mu = 10 / n is above. Raced are the paper's methods, `apg`, `gsfw` and `sdca`.",
    )
    for i, chunk in enumerate(chunks(varied, 2)):
        page.races(f"figure3{'abcdefgh'[i]}", chunk, against="distance")
    page.table(RATIO_COLUMNS, ratio_rows(varied))
    return main, varied


# --- a9a, radius 30 --------------------------------------------------------------------------------------------------


def a9a(page: Page) -> dict[str, Race]:
    """Where the paper's step fails: races of its form, and how `pdbfw` fares with its defaults."""
    A, y = a9a_as_it_is()
    races = {}
    for name, rows in (("rows of length 1", unit_rows(A)), ("rows as they are", A)):
        problem = hinge(rows, y, 10.0, radius=30.0)
        ours = problem.solve(method="pdbfw", tol=TOL, threads=1, time=SECONDS_TARGET)
        what = f"`pdbfw`: certified gap on a9a, radius 30, {name}, after {ours.passes:,.0f} passes"
        page.target(Target(what, ours.relative_gap, TOL))
        methods = ["pdbfw", "pdbfw(accelerate=false)", "pdbfw(eta=0.5)", *forms(problem, SECONDS), "apg"]
        races[name] = raced(problem, methods, name=f"a9a, radius 30, {name}", tol=TOL, time=SECONDS_A9A)
    page.section(
        "a9a at radius 30, where the paper's step fails",
        "mu = 10 / n. The paper's algorithm (eta = 1/2) with the step of its theory, and with s the size of the solution's support, k = n s / d and "
        "that step times 10 to 1e5; the certified gap is that of its present point.",
    )
    page.races("a9a", races)
    return races


# --- figure 2 --------------------------------------------------------------------------------------------------------


def trace_problem(rank: int, active: bool) -> fw.Problem:
    """As it is, on a ball of half the truth's norm; or with rows of length 1, where the ball does not bind."""
    n, d, c = (200, 160, 120) if quick() else (1_000, 800, 600)
    A, B, half = trace_norm(n, d, c, min(rank, c // 4))
    if not active:
        sizes = np.linalg.norm(A, axis=1, keepdims=True)
        A, B = A / sizes, B / sizes
    return fw.load(TRACE).bind(A=A, B=B, r=half, c=5.0 / n, w=1.0 / n)


def trace_race(rank: int, active: bool) -> Race:
    """All methods on one of them."""
    words = "binds" if active else "does not bind"
    name, time = f"rank {rank}, {words}", SECONDS_TRACE[active]
    return raced(trace_problem(rank, active), TRACE_METHODS, name=name, tol=TOL, time=time)


def alone(rank: int) -> list[str]:
    """What `pdbfw` comes to on a ball that binds with more time than the races have, as a row."""
    s = trace_problem(rank, True).solve(method="pdbfw", tol=TOL, threads=1, time=SECONDS_ALONE)
    word = "optimal" if s.status == "optimal" else "not reached"
    return [f"{rank}", word, f"{s.relative_gap:.1e}", f"{s.iterations:,}", f"{s.passes:,.0f}"]


def traces(page: Page) -> tuple[dict[str, Race], dict[str, Race]]:
    """Figure 2: the races where the ball binds, and where it does not."""
    ranks = (10,) if quick() else (10, 20, 100)
    bound = {f"rank {rank}, binds": trace_race(rank, True) for rank in ranks}
    free = {f"rank {rank}, does not bind": trace_race(rank, False) for rank in ranks}
    page.section(
        "Figure 2: the trace-norm ball, 1000 x 800 x 600",
        "(1/n) |A X - B|^2 + (mu / 2) |X|^2 with B = A X0, mu = 10 / n. The paper does not tell the radius, and with rows of length 1 and "
        "its mu no radius near |X0|_* binds. So both: A Gaussian with half of |X0|_*, which binds, and rows of length 1 with the same radius, "
        "which does not. A pass of `pdbfw` is a product of A with a matrix of 600 columns, thinner ones in proportion.",
    )
    page.races("figure2_binding", bound, against="distance")
    page.text(f"`pdbfw` by itself where the ball binds, in {SECONDS_ALONE:g} s at most:")
    page.table(["rank", f"to {TOL:.0e}", "certified gap", "iterations", "passes"], [alone(rank) for rank in ranks])
    page.races("figure2_free", free, against="distance")
    return bound, free


# --- the page --------------------------------------------------------------------------------------------------------


def about_data(page: Page, sets: list[Data]) -> None:
    """What was run in place of what."""
    page.section(
        "Data",
        "Of the paper's six sets duke is at hand (as west_breast), and the test half of MNIST. rcv1.binary and news20.binary are not: "
        "synthetic rows of their sizes stand for them. Nor are ijcnn1 and cod-rna, the other two that the paper expands by random binning, "
        "and nothing stands for them: a9a, w8a, mushrooms and news20 are sets that the paper does not have.",
    )
    page.table(["data", "here", "in the paper"], [[d.name, d.about, d.paper] for d in sets])


def main() -> None:
    """Race, and write the page."""
    page = Page(
        "pdbfw",
        "Primal-dual block Frank-Wolfe (Lei, Zhuo, Caramanis, Dhillon, Dimakis 2019)",
        claim="Partial updates, sparse or low-rank in the primal and greedy in the dual, give linear convergence at a cost that depends on the "
        "solution's sparsity: around ten times faster than accelerated projected gradient, Frank-Wolfe, SVRG, SCGS and STORC "
        "on five of six sets with the smooth hinge on an l1 ball (figure 1), for all weights of the ridge (figure 3); and consistently "
        "faster than block Frank-Wolfe and others on the trace-norm ball (figure 2).",
        data="a9a, w8a, mushrooms, west_breast, mnist.t, news20 (`../shared/data`), rcv1_like and trace_norm of benchmarks/generators.py",
    )
    text = text_like(quick())
    sets = [*small_sets(quick()), *text]
    s = hinge(text[0].A, text[0].y, 10.0).solve(method="pdbfw", tol=TOL, threads=1)
    passes = s.passes if s.status == "optimal" else math.inf
    page.target(Target(f"`pdbfw`: data passes to a certified 1e-6, {text[0].name}, mu = 10 / n", passes, 70.0))
    about_data(page, sets)
    figure1, figure3 = hinges(page, sets)
    hard = a9a(page)
    bound, free = traces(page)
    page.verdict(verdict(figure1, figure3, hard, bound, free))
    page.write()


if __name__ == "__main__":
    main()
