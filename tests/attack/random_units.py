"""Random programs in random units, against cvxpy in natural units: `python -m tests.attack.random_units --count 1000 --seed 10000`.

Each is solved to 1e-3 and to 1e-6, in one of four modes by turns: a random factor of the objective, random units of the variables, of the data
and rows, or all together. Every tenth also goes through files and the command line. `--show` prints the program and its data.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from .generator import MODES, InUnits, Program, in_units, random_program
from .judge import Tally, verdict
from .runner import Outcome, Worker, solve_by_command
from .truth import Truth, truth_of

TOLERANCES = (1e-3, 1e-6)


def drawn(seed: int) -> tuple[Program, InUnits]:
    """The program of a seed, in natural units and in others."""
    program = random_program(seed)
    mode = MODES[seed // 5 % len(MODES)]
    return program, in_units(program, np.random.default_rng([11, seed]), mode)


def attack(count: int, seed: int, limit: float, by_command: int = 10) -> Tally:
    """Solve `count` programs from `seed` on; every `by_command`-th through the command line too."""
    tally = Tally()
    with Worker() as worker:
        for i in range(seed, seed + count):
            program, there = drawn(i)
            truth = truth_of(program)
            if truth.status != "optimal":
                tally.add(program.kind, there.mode, "no truth", f"seed {i}: cvxpy says {truth.status}")
                continue
            for tol in TOLERANCES:
                outcome = worker.solve(there.text, there.data, limit, tol=tol)
                _count(tally, i, "", program, there, outcome, truth, tol, limit)
            if by_command and i % by_command == 0:
                said = solve_by_command(there.text, there.data, limit, TOLERANCES[-1])
                if said is not None:
                    _count(tally, i, " by command", program, there, said, truth, TOLERANCES[-1], limit)
    return tally


def _count(
    tally: Tally,
    seed: int,
    how: str,
    program: Program,
    there: InUnits,
    outcome: Outcome,
    truth: Truth,
    tol: float,
    limit: float,
) -> None:
    found = verdict(program, there, outcome, truth, tol, limit)
    true = truth.value * abs(there.objective)
    line = (
        f"seed {seed}{how} tol {tol:.0e} ({program.kind}, {there.mode}): {outcome.status} P {outcome.objective:.9g} D "
        f"{outcome.dual_bound:.9g} truth {true:.9g} gap {outcome.relative_gap:.1e} infeasibility {outcome.infeasibility:.1e} by "
        f"{outcome.method} in {outcome.iterations} iterations, {outcome.seconds:.1f} s: {outcome.reason[-600 if found == 'traceback' else -160 :]!r}"
    )
    tally.add(program.kind, there.mode, found, line)


def show(seed: int) -> None:
    """The program of a seed in its random units, as Python that runs, and its true value."""
    program, there = drawn(seed)
    print("# in natural units\n#", program.text.replace("\n", "\n# "))
    print_python(there)
    print(f"# cvxpy: {truth_of(program).value * abs(there.objective)!r}")


def print_python(there: InUnits) -> None:
    """A program and its data as Python that solves it."""
    print(
        f"import numpy as np\nfrom numpy import array, float32, int64\nimport fwdsl as fw\n\ntext = '''{there.text}'''"
    )
    with np.printoptions(threshold=sys.maxsize, floatmode="unique"):
        for name, value in there.data.items():
            print(f"{name} = {value.toarray() if hasattr(value, 'toarray') else value!r}")
    given = ", ".join(f"{n}={n}" for n in there.data)
    print(f"print(fw.parse(text).bind({given}).solve(time=10, threads=1))")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=10_000)
    parser.add_argument("--time", type=float, default=10.0)
    parser.add_argument(
        "--by-command", type=int, default=10, help="every such one through the command line too; 0: none"
    )
    parser.add_argument("--show", action="store_true", help="print the program of the seed, and solve nothing")
    given = parser.parse_args()
    if given.show:
        show(given.seed)
        return 0
    tally = attack(given.count, given.seed, given.time, given.by_command)
    print(tally.table())
    return 1 if tally.wrong() else 0


if __name__ == "__main__":
    sys.exit(main())
