"""What compiling costs at first: every example in a process of its own that begins with an empty folder of kernels."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from statistics import median
from typing import Any

from machine import ROOT, environment
from report import Report, Target
from timing import duration

LIMIT = 3.0
"""Seconds that no example may compile for."""

SHOWN = 15

ROUNDS = 3
"""Times that the slowest examples are measured."""

SOLVING = """
import json, sys
import fwdsl as fw
from fwdsl.backends.kernels.compile import compile_seconds, compiled_signatures

solution = fw.load(sys.argv[1]).solve(time=60)
told = {"method": solution.method, "status": str(solution.status)}
print(json.dumps(told | {"compiling": compile_seconds(), "signatures": len(compiled_signatures())}))
"""


@dataclass(frozen=True)
class First:
    """A first use: who solved it and how, seconds that it compiled for, and how many kernels."""

    example: str
    method: str
    status: str
    compiling: float
    signatures: int


def main() -> None:
    """Measure, and write results/first_use.md."""
    report = Report(
        "first_use",
        "First use",
        "How long kernels are compiled when an example is solved for the first time on a machine. Later processes load them.",
        "the programs of `examples/` with their own data",
        ["numpy", "scipy", "numba"],
    )
    examples = sorted(path.name for path in (ROOT / "examples").glob("*.fw"))
    found = {name: first_use(name) for name in examples}
    slowest = sorted(found.values(), key=lambda f: -f.compiling)[:SHOWN]
    rows = []
    for first in slowest:
        again = [first, *(first_use(first.example) for _ in range(ROUNDS - 1))]
        seconds = sorted(f.compiling for f in again)
        rows.append((first, median(seconds), f"{duration(seconds[0])} to {duration(seconds[-1])}"))
    rows.sort(key=lambda row: -row[1])
    worst = rows[0]
    report.target(
        Target(f"the longest that an example compiles (`{worst[0].example}`)", worst[1], LIMIT, show=duration),
        Target("examples that were not solved", sum(f.status != "optimal" for f in found.values()), 0),
    )
    report.section(
        "How it is measured",
        "Seconds by the clock while something is compiled, each example in a fresh process with an empty "
        f"folder of kernels. The {SHOWN} longest, each the median of {ROUNDS}.",
        f"The median of all {len(found)} examples is {duration(median(f.compiling for f in found.values()))}.",
    )
    report.table(
        ["example", "method", "kernels compiled", "compiling", "fastest to slowest"],
        [[f"`{f.example}`", f.method, str(f.signatures), duration(seconds), spread] for f, seconds, spread in rows],
    )
    report.write()


def first_use(example: str) -> First:
    """One first use, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        env = environment() | {"FWDSL_CACHE_DIR": folder}
        args = [sys.executable, "-c", SOLVING, f"examples/{example}"]
        done = subprocess.run(args, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{example} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    told: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    print(f"{example}: {told}", file=sys.stderr, flush=True)
    return First(example, told["method"], told["status"], told["compiling"], told["signatures"])


if __name__ == "__main__":
    main()
