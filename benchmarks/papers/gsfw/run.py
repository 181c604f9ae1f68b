"""The experiments of Lu, Freund 2018: table 3, figures 1 and 2 (logistic loss on the l1 ball of radius 5), and the linear rate of section 3.1; writes
docs/papers/gsfw.md.

`--quick`: one small set, short runs, and docs/papers is left alone.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from common import Page, quick, raced, start_over

if __name__ == "__main__":
    start_over(threads=1)  # before numpy is imported

import numpy as np
import scipy.sparse as sp
from data_sets import read_libsvm
from report import Target

import fwdsl as fw

DELTA = 5.0
LEVEL = 1e-5
FLOOR = 1e-6
SEEDS = range(2 if quick() else 5)
SECONDS = 3.0 if quick() else 12.0
SECONDS_SCGM = 3.0 if quick() else 50.0
RACE = 1.0 if quick() else 5.0

BALL = """
data A: matrix[n, p], y: signs[n]
param r: positive
var x: vector[p]
minimize mean(logistic(A @ x, y))
subject to norm1(x) <= r
"""

RIDGE = """
data A: matrix[n, p], y: signs[n]
param r: positive, c: positive
var x: vector[p]
minimize mean(logistic(A @ x, y)) + c * sum_squares(x)
subject to norm1(x) <= r
"""

#: Table 3 of the paper: millions of sample gradients and oracle calls to 1e-5.
PAPER = {
    "a9a": {"frank_wolfe": (14.5, 448), "gsfw(batch=0.01)": (10.3, 31_900), "scgm": (65.3, 201_000)},
    "w8a": {"frank_wolfe": (9.65, 194), "gsfw(batch=0.01)": (4.21, 8_470), "scgm": (6.92, 13_900)},
    "mushrooms": {"frank_wolfe": (6.44, 793), "gsfw(batch=0.01)": (1.27, 15_700), "scgm": (7.4, 91_400)},
}

#: With batches of 10 %: sigma of the blocks by theory, and about that of single rows.
THEORY = 'gsfw(batch=0.1, rule="theory")'
ROW = "gsfw(batch=0.1, sigma=1.25)"

GSFW = {"gsfw": {}, "gsfw(batch=0.01)": {"batch": 0.01}}
FIGURES = ("gsfw", "gsfw(batch=0.01)", "scgm", "scgs", "sfw", "svrf", "frank_wolfe")
FULL = ("frank_wolfe", "away_frank_wolfe", "pairwise_frank_wolfe", "blended_pairwise")


@dataclass
class Curve:
    """P - P* after some numbers of sample gradients and oracle calls."""

    gradients: list[float] = field(default_factory=list)
    oracles: list[float] = field(default_factory=list)
    distance: list[float] = field(default_factory=list)

    def to(self, level: float = LEVEL) -> tuple[float, float]:
        """Gradients and oracle calls to the level, inf where it was not reached."""
        for g, o, d in zip(self.gradients, self.oracles, self.distance, strict=True):
            if d <= level:
                return g, o
        return math.inf, math.inf


def read(name: str) -> tuple[Any, Any]:
    """A data set, the smaller label as -1."""
    A, y = read_libsvm(name)
    return sp.csr_array(A), np.where(y == y.min(), -1.0, 1.0)


def follow(
    problem: fw.Problem,
    optimum: float,
    name: str,
    options: Mapping[str, Any],
    seed: int,
    seconds: float,
    level: float = FLOOR,
) -> Curve:
    """A method stepped by hand to a level, P of its point taken after each step and not counted."""
    from fwdsl.backends.kernels.operators import Operator
    from fwdsl.backends.problem import PreparedProblem
    from fwdsl.backends.registry import METHODS

    kernels = PreparedProblem(problem.canonical, 1, seed)
    n = problem.instance.dims["n"]
    calls = 0
    products = Operator.rmatvec

    def counted(self: Operator, y: Any) -> Any:
        nonlocal calls
        calls += 1
        return products(self, y)

    method = METHODS[name]
    curve = Curve()
    Operator.rmatvec = counted  # type: ignore[method-assign]
    try:
        # compiles, off the clock and on a state of its own
        method.start(kernels, options, np.zeros(kernels.size)).step()
        calls = 0
        run = method.start(kernels, options, np.zeros(kernels.size))
        state = run.state
        began = time.perf_counter()
        while time.perf_counter() - began < seconds:
            run.step()
            gradients, oracles = work(state, n, calls)
            curve.gradients.append(gradients)
            curve.oracles.append(oracles)
            curve.distance.append(kernels.objective(state.x, kernels.forward(state.x)) - optimum)
            if curve.distance[-1] <= level:
                break
    finally:
        Operator.rmatvec = products  # type: ignore[method-assign]
        kernels.close()
    return curve


def work(state: Any, n: int, calls: int) -> tuple[float, float]:
    """Sample gradients and oracle calls of a method's own: certificates are left out where they take gradients of their own."""
    if hasattr(state, "share"):  # gsfw: the first gradient and the batches
        return n + state.epochs * n, float(state.k)
    if hasattr(state, "epochs"):  # the stochastic baselines
        first = n if hasattr(state, "slopes") else 0  # the first snapshot
        return first + state.epochs * n, float(state.vertices)
    return float(calls * n), float(calls)


def medians(curves: Sequence[Curve]) -> tuple[float, float]:
    """The medians over seeds of what `Curve.to` says."""
    found = [c.to() for c in curves]
    return statistics.median(g for g, _ in found), statistics.median(o for _, o in found)


def told(gradients: float, oracles: float) -> list[str]:
    """Two cells: millions of sample gradients, oracle calls."""
    if math.isinf(gradients):
        return ["not reached", "not reached"]
    return [f"{gradients / 1e6:.3g}", f"{oracles:,.0f}"]


# --- the page --------------------------------------------------------------------------------------------------------


def drawn(page: Page, name: str, curves: Mapping[str, Mapping[str, Curve]], unit: str, label: str) -> None:
    """One panel a data set: P - P* against gradients or oracle calls, both scales logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(1.5 + 3.4 * len(curves), 3.0), layout="constrained")
    panels = figure.subplots(1, len(curves), squeeze=False)[0]
    for panel, (title, of) in zip(panels, curves.items(), strict=True):
        for i, (method, curve) in enumerate(of.items()):
            x, y = np.array(getattr(curve, unit)), np.array(curve.distance)
            at = (
                np.unique(np.geomspace(1, x.size, min(x.size, 80)).astype(int)) - 1
                if x.size
                else np.zeros(0, dtype=int)
            )
            panel.loglog(x[at], np.maximum(y[at], FLOOR / 10), color=f"C{i}", label=method, linewidth=1.2)
        panel.axhline(LEVEL, color="grey", linewidth=0.6, linestyle=":")
        panel.set_title(title, fontsize="medium")
        panel.set_xlabel(label)
    panels[0].set_ylabel("P - P*")
    handles = dict(zip(*reversed(panels[0].get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles.keys(), loc="outside right upper", fontsize="small")
    page.figure(name, figure, f"P - P* against {label} on {', '.join(curves)}")


def main() -> None:
    """Run, and write the page."""
    page = Page(
        "gsfw",
        "Generalised stochastic Frank-Wolfe with a substitute gradient (Lu, Freund 2018)",
        claim="With linear prediction, a stochastic Frank-Wolfe method needs O(1 / eps) sample gradients and O(1 / eps) oracle calls, and on the "
        "l1-constrained logistic loss fewer gradients than deterministic Frank-Wolfe (usually) and than the stochastic ones (always, once eps is "
        "small); with a strongly convex regulariser it converges linearly.",
        data="a9a, w8a, mushrooms (`../shared/data`); gisette, the paper's fourth set, is not at hand",
    )
    names = ("mushrooms",) if quick() else ("a9a", "w8a", "mushrooms")
    figures: dict[str, dict[str, Curve]] = {}
    rows: list[list[str]] = []
    reached: dict[str, dict[str, tuple[float, float]]] = {}
    problems: dict[str, fw.Problem] = {}
    for data in names:
        A, y = read(data)
        problem = problems[data] = fw.parse(BALL).bind(A=A, y=y, r=DELTA)
        optimum = problem.solve(method="apg", tol=1e-10, threads=1).objective
        figures[data], reached[data] = {}, {}
        for name, options in GSFW.items():
            print(f"  {data} {name}", file=sys.stderr, flush=True)
            curves = [
                follow(problem, optimum, "gsfw", options, seed, SECONDS, LEVEL if seed else FLOOR) for seed in SEEDS
            ]
            figures[data][name], reached[data][name] = curves[0], medians(curves)
        for name in (*FULL, "scgm", "scgs", "sfw", "svrf"):
            print(f"  {data} {name}", file=sys.stderr, flush=True)
            curve = follow(problem, optimum, name, {}, 0, SECONDS_SCGM if name == "scgm" else SECONDS)
            reached[data][name] = curve.to()
            if name in FIGURES:
                figures[data][name] = curve
        rows += table_rows(data, reached[data])
        goal = PAPER[data]["gsfw(batch=0.01)"][0]
        measured = reached[data]["gsfw"][0] / 1e6
        page.target(
            Target(
                f"`gsfw` (batch 10 %): millions of sample gradients to P - P* <= 1e-5, {data}, median of {len(SEEDS)} seeds",
                measured,
                goal,
            )
        )
    page.section(
        "Table 3: work to P - P* <= 1e-5",
        f"min (1/n) sum log(1 + exp(-y_j a_j x)), |x|_1 <= {DELTA:g}, raw features. P* is that of `apg` at a certified 1e-10; P is taken at the "
        "mean of the responses (`gsfw`) or at the iterate, after each epoch (stochastic methods) or step, and not counted; what counts is the first "
        "time it is so low, which favours `svrf`, whose P rises again as each of its phases starts afresh. A full gradient counts "
        f"n. `gsfw` rows are medians of {len(SEEDS)} seeds. Runs are given {SECONDS:g} s each, `scgm` {SECONDS_SCGM:g} s. `frank_wolfe` takes the "
        "open-loop step 2 / (k + 2), the paper's rule; the three methods after it keep their vertices, and are not in the paper.",
    )
    page.table(["data", "method", "gradients (millions)", "paper", "oracle calls", "paper "], rows)
    page.section(
        "Figure 1: against sample gradients",
        "Batches of the paper: 1 % (`gsfw`, `scgm`); k^2, k^3, k, at most n / 2 (`sfw`, `scgs`, `svrf`).",
    )
    drawn(page, "figure1", {d: {m: c[m] for m in FIGURES} for d, c in figures.items()}, "gradients", "sample gradients")
    page.section("Figure 2: against calls of the linear oracle", "The same runs.")
    drawn(page, "figure2", {d: {m: c[m] for m in FIGURES} for d, c in figures.items()}, "oracles", "oracle calls")

    page.section(
        "What is certified, and when",
        "Those distances are seen only when P* is known. What a user can be shown is the gap between P and a bound; here both are the verifier's. "
        "`gsfw` has its bound from the weighted mean of its dual points, which is what theorem 3.1 is about.",
    )
    certified = {
        d: raced(p, ["gsfw", "gsfw(batch=0.01)", "frank_wolfe", "blended_pairwise", "apg"], name=d, tol=1e-6, time=RACE)
        for d, p in problems.items()
    }
    page.races("certified", certified)

    page.section(
        "Section 3.1: linear convergence with a ridge",
        "The same with (mu / 2) |x|^2, mu = 10 / n, and rows of length 1 on an l1 ball of radius 30. `theory` has sigma = 1 + beta R b / (n mu), the "
        "block's own bound; `sigma=1.25` has it at about that of one row (beta R / (n mu) + 1 = 1.025), as a reader of remark 3.4 may; the default "
        "adapts sigma to each block so that the dual objective grows as in the proof, with batches of 1 % on these data.",
    )
    linear = {}
    for data in names:
        A, y = read(data)
        A = unit_rows(A)
        problem = fw.parse(RIDGE).bind(A=A, y=y, r=30.0, c=5.0 / A.shape[0])
        entries = ["gsfw", "gsfw(batch=0.1)", THEORY, ROW, "sdca", "apg", "pdbfw"]
        linear[data] = raced(problem, entries, name=f"{data}, ridge", tol=1e-8, time=RACE)
    page.races("linear", linear)
    page.verdict(verdict(reached, certified, linear))
    page.write()


def unit_rows(A: Any) -> Any:
    """The rows at length 1; rows of zeros stay."""
    sizes = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).reshape(-1))
    out = sp.csr_array(sp.diags_array(1.0 / np.where(sizes > 0.0, sizes, 1.0)) @ A)
    return sp.csr_array((out.data, out.indices.astype(np.int32), out.indptr.astype(np.int32)), shape=out.shape)


def table_rows(data: str, reached: Mapping[str, tuple[float, float]]) -> list[list[str]]:
    """The rows of table 3 for one set, the paper's numbers beside where it has them."""
    rows = []
    for method, (gradients, oracles) in reached.items():
        paper = PAPER[data].get(method)
        ours = told(gradients, oracles)
        theirs = [f"{paper[0]:g}", f"{paper[1]:,}"] if paper else ["", ""]
        rows.append([data, f"`{method}`", ours[0], theirs[0], ours[1], theirs[1]])
    return rows


def verdict(
    reached: Mapping[str, Mapping[str, tuple[float, float]]], certified: Mapping[str, Any], linear: Mapping[str, Any]
) -> str:
    """From the numbers."""

    def count(holds: Callable[[str], bool]) -> str:
        return f"{sum(holds(d) for d in reached)} of {len(reached)}"

    ours = {d: r["gsfw"][0] for d, r in reached.items()}
    paper = count(lambda d: ours[d] <= 1e6 * PAPER[d]["gsfw(batch=0.01)"][0])
    deterministic = count(lambda d: ours[d] <= reached[d]["frank_wolfe"][0])
    stochastic = count(lambda d: all(ours[d] <= reached[d][m][0] for m in ("scgm", "scgs", "sfw", "svrf")))
    vertices = count(lambda d: reached[d]["blended_pairwise"][0] < ours[d])
    factors = [ours[d] / reached[d]["blended_pairwise"][0] for d in reached]
    level = 1e-4
    reaching = [f"`{m}` on {d}" for d in reached for m in ("sfw", "scgs", "svrf") if math.isfinite(reached[d][m][0])]
    apg = sum(race["apg"].to(level) < race["gsfw"].to(level) for race in certified.values())
    rate = [d for d, race in linear.items() if math.isfinite(race["gsfw"].to(1e-6))]
    fewer = [
        d
        for d, race in linear.items()
        if race["gsfw"].to(1e-6, "passes") < min(race[m].to(1e-6, "passes") for m in ("apg", "sdca"))
    ]
    small = count(lambda d: reached[d]["gsfw(batch=0.01)"][0] <= 1e6 * PAPER[d]["gsfw(batch=0.01)"][0])
    stuck = [d for d, race in linear.items() if math.isinf(race[ROW].to(1e-2))]
    lo, hi = min(factors), max(factors)
    whole = all(ours[d] <= 1e6 * PAPER[d]["gsfw(batch=0.01)"][0] for d in ours)
    return (
        f"Table 3 {'reproduces' if whole else 'does not reproduce everywhere'}: with batches of 10 % `gsfw` takes no more sample gradients to "
        "P - P* <= 1e-5 than the paper tells on "
        f"{paper} sets, with a tenth of the oracle calls of batches of 1 % (which are within the paper's number on {small}); fewer than "
        f"Frank-Wolfe with the open loop on {deterministic}, and than every other stochastic method on {stochastic}. {_also(reaching)}"
        f"But Frank-Wolfe methods that keep their vertices take fewer still on {vertices} "
        f"(blended pairwise by a factor of {lo:.2g} to {hi:.2g}), and the bounds of `gsfw` lag: to a certified gap of 1e-4 `apg` is "
        f"faster on {apg} of {len(certified)}. With a ridge the linear rate shows once sigma is the block's and adapts: 1e-6 is certified on "
        f"{', '.join(rate) or 'none'}, in fewer passes than both SDCA and accelerated gradient on {', '.join(fewer) or 'none'}; "
        f"with sigma about that of single rows batches of 10 % do not reach 1e-2 on {', '.join(stuck) or 'none'}."
    )


def _also(reaching: Sequence[str]) -> str:
    """Who reached the level against what the paper says."""
    if not reaching:
        return "SFW, SCGS and SVRF do not get there in the time given, as in the paper. "
    return f"The paper reports that SFW, SCGS and SVRF do not get there in a reasonable number of iterations; here {', '.join(reaching)} did. "


if __name__ == "__main__":
    main()
