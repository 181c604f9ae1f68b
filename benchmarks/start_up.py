"""What it costs to start: importing, checking, planning, the first and later runs of a program, as whole processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from machine import ROOT, environment
from report import Report, Target
from timing import COLUMNS, Runs, duration, interleaved, timed

BARE = ["-c", "pass"]
IMPORT = ["-c", "import fwdsl"]
CHECKED = "benchmarks/programs/hundred_lines.fw"
CHECK = ["-m", "fwdsl", "check", CHECKED]
SMALLEST = ["-m", "fwdsl", "run", "examples/portfolio.fw"]
MAIN_JOB = ["-m", "fwdsl", "run", "examples/sparse_logistic.fw"]

ROUNDS = 15
COLD_ROUNDS = 3
HEAVY = ("numpy", "scipy", "numba", "lark", "rich")

MODULES = """
import sys
{work}
print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)
"""

PLANNING = """
import json, statistics, sys, time
sys.path.insert(0, "benchmarks")
import generators
import fwdsl as fw
from fwdsl.collector import still_collector
from fwdsl.model.options import Options

which = sys.argv[1]
if which == "a9a":
    problem = fw.load("examples/sparse_logistic.fw")
elif which == "simplex_ls":
    A, b = generators.simplex_ls(100_000)
    problem = fw.load("benchmarks/programs/simplex_least_squares.fw").bind(A=A, b=b)
else:
    X, y = generators.dense_signs(2_000_000, 4, support=2)
    problem = fw.load("benchmarks/programs/l1_logistic.fw").bind(X=X, y=y, delta=30.0)
instance = problem.instance

start = time.perf_counter()
with still_collector():  # as a session imports them
    import fwdsl.canon, fwdsl.plan
imports = time.perf_counter() - start

from fwdsl.canon import canonicalise
from fwdsl.plan import make_plan

def plan():
    start = time.perf_counter()
    canonical, found = canonicalise(instance)
    with still_collector():
        plan, more = make_plan(canonical, Options())
    return time.perf_counter() - start, plan.method

first, method = plan()
later = statistics.median(plan()[0] for _ in range(20))
print(json.dumps({"imports": imports, "first": first, "later": later, "method": method}))
"""
PLANNED = {"a9a": "32,561 x 123 sparse", "simplex_ls": "100,000 x 256 dense", "dense_signs": "2,000,000 x 4 dense"}


def main() -> None:
    """Measure, and write results/start_up.md."""
    report = Report(
        "start_up",
        "Start-up",
        "Whole processes by wall clock, medians; competitors take turns. Times over a bare interpreter's start are differences of medians "
        "against `python -c pass`. Byte code is compiled beforehand, as it is after an installation.",
        "examples/data/a9a.svm.gz and, for planning, `simplex_ls` and `dense_signs` of generators.py",
        ["numpy", "scipy", "numba", "lark", "rich"],
    )
    with tempfile.TemporaryDirectory() as byte_code, tempfile.TemporaryDirectory() as kernels:
        # An installed package has its byte code; a checkout need not. The first run of each command writes it here.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ.update(PYTHONPYCACHEPREFIX=byte_code, FWDSL_CACHE_DIR=kernels)
        for args in (BARE, IMPORT, CHECK, SMALLEST, MAIN_JOB, [*MAIN_JOB, "--json"]):
            python(args)
        starting(report)
        planning(report)
        running(report)
    report.write()


def python(args: list[str], **variables: str) -> subprocess.CompletedProcess[str]:
    """A process of this interpreter in the repository's root; raises where it fails."""
    env = environment() | variables
    done = subprocess.run([sys.executable, *args], cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"python {' '.join(args)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def starting(report: Report) -> None:
    """Importing and checking, over a bare interpreter."""
    commands = {"python -c pass": BARE, "import fwdsl": IMPORT, "fwdsl check": CHECK}
    runs = interleaved({name: partial(python, args) for name, args in commands.items()}, ROUNDS)
    bare = runs["python -c pass"].median
    loads = {
        "python -c pass": loaded("pass"),
        "import fwdsl": loaded("import fwdsl"),
        "fwdsl check": loaded(checking()),
    }
    lines = len((ROOT / CHECKED).read_text(encoding="utf-8").splitlines())
    report.section("Starting", f"`fwdsl check` reads `{CHECKED}`, {lines} lines, and finds nothing to say.")
    report.table(
        ["process", "over bare", *COLUMNS, "loads of " + ", ".join(HEAVY)],
        [
            [name, duration(max(0.0, r.median - bare)), *r.cells, ", ".join(loads[name]) or "none"]
            for name, r in runs.items()
        ],
    )
    report.target(
        Target("`import fwdsl` over a bare interpreter", runs["import fwdsl"].median - bare, 0.15, show=duration),
        Target("... of scipy, numba, lark, rich it loads", count(loads["import fwdsl"], "scipy numba lark rich"), 0),
        Target(
            f"`fwdsl check` of {lines} lines over a bare interpreter",
            runs["fwdsl check"].median - bare,
            0.25,
            show=duration,
        ),
        Target("... of numba, scipy it loads", count(loads["fwdsl check"], "numba scipy"), 0),
    )


def checking() -> str:
    """Code that checks the program as the command line does."""
    return f"from fwdsl.cli import main\ntry:\n    main({CHECK[2:]!r})\nexcept SystemExit:\n    pass"


def loaded(work: str) -> list[str]:
    """The heavy packages in a process after some code has run."""
    done = python(["-c", MODULES.format(work=work, heavy=HEAVY)])
    return list(json.loads(done.stderr.strip().splitlines()[-1].replace("'", '"')))


def count(loaded: list[str], unwanted: str) -> int:
    return len(set(loaded) & set(unwanted.split()))


def planning(report: Report) -> None:
    """Canonical form and plan of a bound instance, in fresh processes."""
    report.section(
        "Planning a bound instance",
        "From the instance (data bound and measured) to the plan, in fresh processes: importing the canonical form, the planner and all "
        "methods; the first planning after that; later ones.",
    )
    rows, planned, together = [], 0.0, 0.0
    for which, size in PLANNED.items():
        found = [json.loads(python(["-c", PLANNING, which]).stdout) for _ in range(12)][1:]
        imports, first, later = (median(f[k] for f in found) for k in ("imports", "first", "later"))
        rows.append([f"{which}, {size}", duration(imports), duration(first), duration(later), found[0]["method"]])
        planned, together = max(planned, first), max(together, imports + first)
    report.table(["data", "imports", "first in a process", "again", "method chosen"], rows)
    report.target(
        Target("planning a bound instance, first in a process, slowest of the data sets", planned, 0.05, show=duration),
        Target("... with the imports that it needs", together, 0.06, show=duration),
    )


def running(report: Report) -> None:
    """The main job with no compiled kernels, and again."""
    cold, later = Runs(), Runs()
    smallest = interleaved({"smallest": partial(python, SMALLEST)}, ROUNDS)["smallest"]
    signatures: list[str] = []
    announced: list[bool] = []
    answers: list[Mapping[str, Any]] = []
    for _ in range(COLD_ROUNDS):
        with tempfile.TemporaryDirectory() as folder:
            job = partial(python, MAIN_JOB, FWDSL_CACHE_DIR=folder)
            cold.all.append(timed(job))
            done = cold.result
            announced.append("compiling" in done.stderr + done.stdout)
            signatures = sorted(signature(path) for path in Path(folder).rglob("*.kernel"))
            for _ in range(ROUNDS // COLD_ROUNDS):
                later.all.append(timed(job))
            answers.append(json.loads(python([*MAIN_JOB, "--json"], FWDSL_CACHE_DIR=folder).stdout))
    answer = answers[-1]
    certified = f"{answer['status']}, objective {answer['objective']:.9f}, relative gap {answer['relative_gap']:.1e}, by `{answer['method']}`"
    report.section(
        "The main job",
        f"`fwdsl {' '.join(MAIN_JOB[2:])}`: {certified}. Times are of whole processes, interpreter, imports and reading the data included.",
    )
    report.table(
        ["run", *COLUMNS],
        [
            ["first ever (empty FWDSL_CACHE_DIR)", *cold.cells],
            ["later", *later.cells],
            [f"`fwdsl {' '.join(SMALLEST[2:])}`, the smallest example, later", *smallest.cells],
        ],
    )
    report.text(
        f"Compiled signatures ({len(signatures)}): " + ", ".join(f"`{s}`" for s in signatures) + ".",
        f"`compiling` was announced in {sum(announced)} of {len(announced)} first runs.",
        "Seconds of the last run by its own account: "
        + ", ".join(f"{k} {duration(v)}" for k, v in answer["time"].items())
        + ".",
    )
    report.target(
        Target("first run ever of the main job", cold.median, 4.0, show=duration),
        Target("... signatures compiled", len(signatures), 8),
        Target(
            "... first runs that announce `compiling`",
            sum(announced) / len(announced),
            1,
            least=True,
            show="{:.0%}".format,
        ),
        Target("later runs", later.median, 1.5, show=duration),
        Target("later runs of the smallest example", smallest.median, 0.8, show=duration),
    )


def signature(path: Path) -> str:
    """`matrix.csr_matvec` from the name of a file of the kernel cache, which holds one compiled signature."""
    return path.name.split("-")[0]


if __name__ == "__main__":
    main()
