"""Fits the planner's constants: runs every method that applies over a spread of problems, and writes `fwdsl/plan/constants.py` and
`results/calibration.md`.

`--quick` takes one problem of five and writes nothing. `--runs FILE` keeps what was recorded; with files that are there, only predictions and the
fit are made anew, and of a problem that is in several the quickest run of a method counts.
`--methods` fits those methods alone, by the names that `constants.py` has, and keeps what the others have.
`--judge` fits nothing: it measures how well the constants that are there choose.
About 13 minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from machine import describe, start_over

start_over(1)

from calibration.choose import moved  # noqa: E402
from calibration.fit import Constants, choices, fitted, geometric_mean  # noqa: E402
from calibration.page import CONSTANTS, write_constants, write_page  # noqa: E402
from calibration.problems import cases  # noqa: E402
from calibration.record import MAIN, Ran, read, record  # noqa: E402
from report import Report  # noqa: E402
from timing import duration  # noqa: E402

from fwdsl.plan.constants import CONSTANTS as THERE  # noqa: E402
from fwdsl.plan.constants import RUNS  # noqa: E402

PACKAGES = ("fwdsl", "numpy", "scipy", "numba")


def main() -> None:
    """Record, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one problem of five; nothing is written")
    parser.add_argument("--runs", type=Path, nargs="+", default=[], help="files that keep what was recorded")
    parser.add_argument("--methods", default="", help="fit these alone, with commas between them")
    parser.add_argument("--judge", action="store_true", help="keep the constants that are there")
    known = parser.parse_args()
    report = Report(
        "calibration",
        "The planner's predictions",
        "How well predicted times choose a method, and how far they are off. The constants are those of `fwdsl/plan/constants.py`.",
        "`calibration/problems.py`: generators.py and files of `../shared/data`",
        PACKAGES,
    )
    told = " --judge" if known.judge else f" --methods '{known.methods}'" if known.methods else ""
    report.facts["command"] = f"`python benchmarks/calibrate.py{told}`"
    runs = _recorded(known.quick, known.runs)
    constants, new = dict(THERE), Constants()
    if not known.judge:
        chosen = known.methods.split(",")
        new = {key: found for key, found in fitted(runs).items() if key in chosen or not known.methods}
        # of all methods those that solved too few problems have none
        constants = constants | new if known.methods else dict(new)
        new = moved(runs, constants, tuple(new))
        constants |= new
    held = [c.regret for c in choices(runs, constants) if c.held_out]
    if known.quick:
        print(f"regret on {len(held)} held-out problems: {geometric_mean(held):.3f}, at worst {max(held):.2f}")
        return
    facts = {**describe(PACKAGES), "regret": f"{geometric_mean(held):.3f}", "worst": f"{max(held):.2f}"}
    if not known.judge:
        run = f"{facts['date']}, commit {facts['commit']}, {facts['machine']}"
        write_constants(constants, _origins(constants, new) | {run: tuple(new)}, facts)
        print(f"wrote {CONSTANTS}")
    write_page(report, runs, constants)
    report.write()


def _origins(constants: Constants, new: Constants) -> dict[str, tuple[str, ...]]:
    """The earlier runs, with the methods that are not fitted anew."""
    kept = {
        run: tuple(name for name in methods if name not in new and name in constants) for run, methods in RUNS.items()
    }
    return {run: methods for run, methods in kept.items() if methods}


def _recorded(quick: bool, files: Sequence[Path]) -> list[Ran]:
    """The runs in the files, or new ones, told as they come."""
    if files and all(file.is_file() for file in files):
        lines = [line for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        return read([json.loads(line) for line in lines], cases())
    runs: list[Ran] = []
    began = time.perf_counter()
    for case in cases(quick):
        found = record(case)
        runs += found
        told = ", ".join(f"{r.method} {duration(r.to(MAIN))}" for r in found)
        print(f"{time.perf_counter() - began:5.0f} s  {case.name}: {told}", flush=True)
        for file in files[:1]:
            with file.open("a", encoding="utf-8") as kept:
                kept.writelines(json.dumps(r.to_json()) + "\n" for r in found)
    return runs


if __name__ == "__main__":
    main()
