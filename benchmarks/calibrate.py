"""Fits the planner's constants: runs every method that applies over a spread of problems, and writes `fwdsl/plan/constants.py` and
`results/calibration.md`.

`--quick` takes one problem of five and writes nothing. `--runs FILE` keeps what was recorded; with a file that is there, only the fit is made anew.
`--judge` fits nothing: it measures how well the constants that are there choose.
About ten minutes on two cores.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from machine import describe, start_over

start_over(1)

from calibration.fit import choices, fitted, geometric_mean  # noqa: E402
from calibration.page import CONSTANTS, write_constants, write_page  # noqa: E402
from calibration.problems import cases  # noqa: E402
from calibration.record import MAIN, Ran, read, record  # noqa: E402
from report import Report  # noqa: E402
from timing import duration  # noqa: E402

from fwdsl.plan.constants import CONSTANTS as THERE  # noqa: E402

PACKAGES = ("fwdsl", "numpy", "scipy", "numba")


def main() -> None:
    """Record, fit, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one problem of five; nothing is written")
    parser.add_argument("--runs", type=Path, help="a file that keeps what was recorded")
    parser.add_argument("--judge", action="store_true", help="keep the constants that are there")
    known = parser.parse_args()
    report = Report(
        "calibration",
        "The planner's predictions",
        "How well predicted times choose a method, and how far they are off. The constants are those of `fwdsl/plan/constants.py`.",
        "`calibration/problems.py`: generators.py and files of `../shared/data`",
        PACKAGES,
    )
    report.facts["command"] = f"`python benchmarks/calibrate.py{' --judge' if known.judge else ''}`"
    runs = _recorded(known.quick, known.runs)
    constants = THERE if known.judge else fitted(runs)
    held = [c.regret for c in choices(runs, constants) if c.held_out]
    if known.quick:
        print(f"regret on {len(held)} held-out problems: {geometric_mean(held):.3f}, at worst {max(held):.2f}")
        return
    facts = {**describe(PACKAGES), "regret": f"{geometric_mean(held):.3f}", "worst": f"{max(held):.2f}"}
    if not known.judge:
        write_constants(constants, facts)
        print(f"wrote {CONSTANTS}")
    write_page(report, runs, constants)
    report.write()


def _recorded(quick: bool, file: Path | None) -> list[Ran]:
    """The runs in the file, or new ones, told as they come."""
    if file is not None and file.is_file():
        return read([json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()])
    runs: list[Ran] = []
    began = time.perf_counter()
    for case in cases(quick):
        found = record(case)
        runs += found
        told = ", ".join(f"{r.method} {duration(r.to(MAIN))}" for r in found)
        print(f"{time.perf_counter() - began:5.0f} s  {case.name}: {told}", flush=True)
    if file is not None:
        file.write_text("".join(json.dumps(r.to_json()) + "\n" for r in runs), encoding="utf-8")
    return runs


if __name__ == "__main__":
    main()
