"""The first solve of a fresh process, the imports of the solver included: `python -m benchmarks.peers.cold FILE` prints its seconds.

The file is a pickle of what is to be run: our program with its data, or the name of a case and of one of its peers, whose functions do not pickle.
Data are in memory, and numpy and scipy loaded, when the clock starts; our kernels are compiled, as after any run on the machine.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import ROOT, environment

from . import classification, kernels, matrices, regression, residuals
from .cases import TOL, Case


@dataclass(frozen=True)
class Ours:
    """Our program with its data, on so many threads, for so many seconds."""

    text: str
    data: Mapping[str, Any]
    threads: int
    cap: float

    def run(self) -> float:
        """The seconds."""
        start = time.perf_counter()
        import fwdsl as fw

        fw.parse(self.text).bind(**self.data).solve(tol=TOL, threads=self.threads, time=self.cap)
        return time.perf_counter() - start


@dataclass(frozen=True)
class Theirs:
    """A peer of a case at its tolerance, on so many threads."""

    group: str
    name: str
    peer: str
    tol: float
    threads: int

    def run(self) -> float:
        """The seconds."""
        from threadpoolctl import threadpool_limits

        case = next(case for case in every_case() if (case.group, case.name) == (self.group, self.name))
        peer = next(peer for peer in case.make().peers if peer.name == self.peer)
        start = time.perf_counter()
        with threadpool_limits(self.threads):
            peer.fit(self.tol)
        return time.perf_counter() - start


def every_case() -> Iterator[Case]:
    """All cases, in the order of the page."""
    for module in (regression, residuals, classification, kernels, matrices):
        yield from module.cases()


def seconds(job: Ours | Theirs) -> float:
    """What a fresh process takes; nan where it fails."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "job")
        path.write_bytes(pickle.dumps(job))
        command = [sys.executable, "-m", "benchmarks.peers.cold", str(path)]
        env = environment(job.threads)
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        return float("nan") if done.returncode else float(done.stdout.split()[-1])


if __name__ == "__main__":
    print(pickle.loads(Path(sys.argv[1]).read_bytes()).run())  # noqa: S301 - written by `seconds`
