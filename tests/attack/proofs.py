"""Infeasible and unbounded programs, and near misses of both, in random units: `python -m tests.attack.proofs --count 200 --seed 20000`.

`count` of each: infeasible, nearly infeasible, unbounded, nearly unbounded. No near miss may be called infeasible or unbounded, and nothing that
has no answer may be called optimal; how many of those are proven is counted by kind. `--show` prints a program and its data.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from .generator import MODES, InUnits, in_units
from .judge import Tally, ran_badly
from .random_units import print_python
from .runner import Outcome, Worker, solve_by_command
from .without_answer import Case, case

SORTS = (("infeasible", False), ("infeasible", True), ("unbounded", False), ("unbounded", True))


def drawn(seed: int) -> tuple[Case, InUnits]:
    """The case of a seed, and its program in random units, which are exact so that its truth does not change."""
    truth, near = SORTS[seed % len(SORTS)]
    made = case(np.random.default_rng([13, seed]), truth, near)
    mode = ("natural", *MODES)[seed // len(SORTS) % (len(MODES) + 1)]
    return made, in_units(made.program, np.random.default_rng([17, seed]), mode, exact=True)


def verdict(truth: str, outcome: Outcome, limit: float) -> str:
    """`proven`, `right` (a near miss solved), `unsolved`, `unproven`, or what must not be."""
    trouble = ran_badly(outcome, limit)
    if trouble:
        return trouble
    if outcome.status in ("infeasible", "unbounded"):
        return "proven" if outcome.status == truth else f"false {outcome.status}"
    if truth == "neither":
        return "right" if outcome.status == "optimal" else "unsolved"
    return "false optimal" if outcome.status == "optimal" else "unproven"


def attack(count: int, seed: int, limit: float, by_command: int = 10) -> Tally:
    """Solve `count` programs of each sort from `seed` on; every `by_command`-th through the command line too."""
    tally = Tally()
    with Worker() as worker:
        for i in range(seed, seed + count * len(SORTS)):
            made, there = drawn(i)
            runs: list[tuple[str, Outcome | None]] = [("", worker.solve(there.text, there.data, limit))]
            if by_command and i // len(SORTS) % by_command == 0:
                runs.append((" by command", solve_by_command(there.text, there.data, limit, 1e-6)))
            for how, outcome in runs:
                if outcome is None:
                    continue
                found = verdict(made.truth, outcome, limit)
                line = (
                    f"seed {i}{how} ({made.program.kind}, {there.mode}): {outcome.status} P {outcome.objective:.9g} D "
                    f"{outcome.dual_bound:.9g} infeasibility {outcome.infeasibility:.1e} by {outcome.method} in "
                    f"{outcome.iterations} iterations, {outcome.seconds:.1f} s: {outcome.reason[:200]!r}"
                )
                tally.add(made.program.kind, there.mode, found, line)
    return tally


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=200, help="of each of the four sorts")
    parser.add_argument("--seed", type=int, default=20_000)
    parser.add_argument("--time", type=float, default=10.0)
    parser.add_argument(
        "--by-command", type=int, default=10, help="every such one through the command line too; 0: none"
    )
    parser.add_argument("--show", action="store_true", help="print the program of the seed, and solve nothing")
    given = parser.parse_args()
    if given.show:
        made, there = drawn(given.seed)
        print(f"# {made.program.kind}: {made.truth}\n# in natural units\n#", made.program.text.replace("\n", "\n# "))
        print_python(there)
        return 0
    tally = attack(given.count, given.seed, given.time, given.by_command)
    print(tally.table())
    return 1 if tally.wrong() else 0


if __name__ == "__main__":
    sys.exit(main())
