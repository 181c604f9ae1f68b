"""The page on the calibration, and the file of constants."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from machine import ROOT
from report import Report, Target, number
from timing import duration

from fwdsl.plan.fitted import NAMES

from .fit import STIFFNESS, Choice, choices, geometric_mean, spread
from .record import MAIN, Ran
from .turns import ratios

CONSTANTS = ROOT / "fwdsl" / "plan" / "constants.py"
WORST_SHOWN = 12
SEEDS = 3
LONG = 0.05
"""Seconds of the fastest method from which turns begin before it is done."""

SHORT = 2e-3
"""Seconds of the fastest method below which a problem is told apart: what planning and verifying take is as much."""


def write_constants(
    constants: Mapping[str, Any], origins: Mapping[str, Sequence[str]], facts: Mapping[str, str], path: Path = CONSTANTS
) -> None:
    """The file that the planner reads: `origins` has the methods whose coefficients are fitted to each run."""
    lines = [
        '"""Corrections of predicted passes and seconds, written by `python benchmarks/calibrate.py`.',
        "",
        f"Regret on problems that were not fitted to: {facts['regret']} (geometric mean), {facts['worst']} at worst.",
        "",
        "By method the coefficients of the features in `fitted.NAMES`, for passes and for seconds, and the seconds of a start. `RUNS` has the",
        "methods that are fitted to each run; features that came later have 0.",
        '"""',
        "",
        "# fmt: off",
        "CONSTANTS: dict[str, tuple[tuple[float, ...], tuple[float, ...], float]] = {",
    ]
    for method, (passes, seconds, start) in constants.items():
        lines += [
            f"    {json.dumps(method)}: (",
            *_coefficients(passes),
            *_coefficients(seconds),
            f"        {start:g},",
            "    ),",
        ]
    lines += ["}", "", "RUNS: dict[str, tuple[str, ...]] = {"]
    for run, methods in origins.items():
        lines += [f"    {json.dumps(run)}: (", *(f"        {json.dumps(name)}," for name in methods), "    ),"]
    path.write_text("\n".join([*lines, "}", ""]), encoding="utf-8")


def _coefficients(theta: Sequence[float]) -> list[str]:
    theta = [*theta, *[0.0] * (len(NAMES) - len(theta))]
    half = len(theta) // 2
    rows = [", ".join(f"{t:.4g}" for t in part) for part in (theta[:half], theta[half:])]
    return [f"        ({rows[0]},", f"         {rows[1]}),"]


def write_page(report: Report, runs: Sequence[Ran], constants: Mapping[str, Any]) -> None:
    """The regret on problems that were fitted to and on those held out, by fitted and by hand-set predictions; the worst; the predictions."""
    by_fit, by_hand = choices(runs, constants), choices(runs, {})
    held = [c for c in by_fit if c.held_out]
    report.target(
        Target("regret on held-out problems, geometric mean", _mean(held), 1.15),
        Target("regret on held-out problems, worst", max((c.regret for c in held), default=1.0), 2.5),
    )
    report.section(
        "Regret",
        f"The processor's seconds of the method with the least predicted time over those of the fastest, to a certified gap of {MAIN:g}, before "
        "plans correct themselves. A choice that did not get there counts the time that it was given. Short problems are those whose fastest method "
        f"takes at most {duration(SHORT)}.",
    )
    rows = []
    for name, found in (("fitted predictions", by_fit), ("hand-set predictions", by_hand)):
        for held_out in (True, False):
            for long in (True, False):
                own = [c for c in found if c.held_out == held_out and (c.seconds > SHORT or not long)]
                rows.append(
                    [
                        f"{name}, {'held out' if held_out else 'fitted to'}{', short ones left out' if long else ''}",
                        str(len(own)),
                        number(_mean(own)),
                        number(max((c.regret for c in own), default=1.0)),
                        str(sum(c.regret > 2.5 for c in own)),
                    ]
                )
    report.table(["predictions, problems", "problems", "geometric mean", "worst", "over 2.5"], rows)
    _write_turns(report, runs, constants)
    report.section("The largest regrets", "By fitted predictions; * was held out.")
    worst = sorted(by_fit, key=lambda c: -c.regret)[:WORST_SHOWN]
    report.table(
        ["problem", "chosen", "fastest", "its time", "regret"],
        [[f"{c.case}{' *' if c.held_out else ''}", c.chosen, c.best, duration(c.seconds), _regret(c)] for c in worst],
    )
    report.section(
        "Predictions",
        "On held-out problems that the method solved: actual over predicted seconds, the median, and the median of how far off it is either way.",
    )
    before, after = spread(runs, {}), spread(runs, constants)
    report.table(
        ["method", "problems", "median, by hand", "fitted", "off by, by hand", "fitted"],
        [
            [m, str(n), number(before[m][1]), number(middle), number(before[m][2]), number(off)]
            for m, (n, middle, off) in after.items()
        ],
    )
    report.section(
        "Fit",
        f"Ridge regression, with a ridge of {STIFFNESS:g}, of the logarithm of actual over predicted on: {', '.join(NAMES)}. "
        "Of each three problems one is held out: nothing is fitted to it.",
    )


def _write_turns(report: Report, runs: Sequence[Ran], constants: Mapping[str, Any]) -> None:
    """What solves take in which methods take turns."""
    report.section(
        "Turns",
        "The seconds of a solve in which methods take turns over those of its fastest method, played on the recorded runs "
        "(`calibration/turns.py`): by the fitted predictions, and by corrections of seconds that are multiplied at random by up to so much either "
        f"way ({SEEDS} times each problem).",
    )
    rows = []
    for name, scrambled, seeds in (("fitted", 1.0, 1), ("up to 3", 3.0, SEEDS), ("up to 30", 30.0, SEEDS)):
        for least in (0.0, LONG):
            found = [x for seed in range(seeds) for x in ratios(runs, constants, scrambled, seed, least)]
            rows.append(
                [
                    f"{name}{f', fastest method takes {duration(least)} or more' if least else ''}",
                    str(len(found) // seeds),
                    number(geometric_mean(found)),
                    f"{100 * sum(x > 3.0 for x in found) / max(1, len(found)):.0f} %",
                    number(max(found, default=1.0)),
                ]
            )
    report.table(["predictions", "problems", "geometric mean", "more than 3", "worst"], rows)


def _mean(found: Sequence[Choice]) -> float:
    return geometric_mean([c.regret for c in found])


def _regret(choice: Choice) -> str:
    return f"{'' if choice.reached else 'over '}{number(choice.regret)}"
