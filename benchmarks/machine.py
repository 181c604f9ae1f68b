"""Where and on what figures were measured, and the environment to measure them in."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"

# The scripts run from a checkout, where nothing is installed; every one of them imports this file first.
sys.path.insert(0, str(ROOT))

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "NUMBA_NUM_THREADS")


def environment(threads: int | None = None) -> dict[str, str]:
    """This process's variables, with the repository importable and, where told, BLAS and OpenMP held to so many threads.

    Byte code is kept, as it is after an installation, whatever this process does with its own.
    """
    env = dict(os.environ)
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [env.get("PYTHONPATH")])])
    if threads is not None:
        env.update(dict.fromkeys(_THREADS, str(threads)))
    return env


def start_over(threads: int = 1) -> None:
    """Replace this process by one whose libraries use so many threads; returns in the new one.

    Libraries read the variables when they load, so call it before numpy is imported.
    """
    if os.environ.get("FWDSL_BENCHMARK") == str(threads):
        return
    env = environment(threads) | {"FWDSL_BENCHMARK": str(threads)}
    os.execve(sys.executable, [sys.executable, *called()], env)


def called() -> list[str]:
    """The command line after `python`: a script's, or `-m` and the package's."""
    spec = sys.modules["__main__"].__spec__
    return sys.argv if spec is None else ["-m", spec.name.removesuffix(".__main__"), *sys.argv[1:]]


def describe(packages: Sequence[str]) -> Mapping[str, str]:
    """Machine, versions, commit, date and load, by name."""
    return {
        "machine": f"{_cpu()}, {_cores()} cores, {_memory() / 2**30:.0f} GiB, {platform.system()} {platform.release()}",
        "versions": ", ".join(_versions(packages)),
        "commit": _commit(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "load": f"{os.getloadavg()[1]:.1f} processes running on average in the five minutes before",
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _versions(packages: Sequence[str]) -> list[str]:
    import fwdsl

    found = [f"python {platform.python_version()}", f"fwdsl {fwdsl.__version__}"]
    for name in packages:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} absent")
    return found


def _commit() -> str:
    commit = _git("rev-parse", "--short=12", "HEAD")
    if not commit:
        return "none"
    # results of other benchmarks do not change what is measured
    changed = _git("status", "--porcelain", "--", ".", ":!benchmarks/results")
    return f"{commit}, with uncommitted changes" if changed else commit


def _git(*args: str) -> str:
    try:
        done = subprocess.run(["git", *args], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
