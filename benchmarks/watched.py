"""Watching the memory of a child process, phase by phase (Linux).

The child marks the start of each phase with `phase(name)` and waits until its parent has taken a reading. Two measures:

- *resident*: VmHWM, which the kernel keeps exactly and which is set back at the start of each phase (5 into clear_refs). It counts
  pages of mapped files too, which the kernel takes back whenever it likes.
- *own*: RssAnon + RssShmem, what the process alone can give back, read every millisecond from outside; a shorter peak is missed.
"""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from machine import ROOT, environment

_MARK = "@phase "
_RESULT = "@result "
_EVERY = 0.001


@dataclass
class Phase:
    """Bytes at the start of a phase and at its peak."""

    name: str
    resident: int
    own: int
    peak_resident: int = 0
    peak_own: int = 0


@dataclass(frozen=True)
class Watched:
    """The phases of a child, and what it gave with `result`; `failure` says why there is nothing."""

    phases: Sequence[Phase]
    result: Mapping[str, Any]
    failure: str = ""

    def resident(self, since: str, until: str | None = None) -> int:
        """Growth of the resident memory from the start of one phase to the peak of it and all before `until`."""
        found = self._between(since, until)
        return max(p.peak_resident for p in found) - found[0].resident

    def own(self, since: str, until: str | None = None) -> int:
        """The same of the process's own memory."""
        found = self._between(since, until)
        return max(p.peak_own for p in found) - found[0].own

    def _between(self, since: str, until: str | None) -> list[Phase]:
        names = [p.name for p in self.phases]
        return list(self.phases[names.index(since) : names.index(until) if until else None])


# --- in the child -------------------------------------------------------------------------------------------------------


def phase(name: str) -> None:
    """End the present phase and start another; what is free is given back first, so that it hides nothing."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    print(f"{_MARK}{name}", flush=True)
    sys.stdin.readline()


def result(value: Mapping[str, Any]) -> None:
    """Hand a result to the parent; no phase is watched after it."""
    print(f"{_RESULT}{json.dumps(value)}", flush=True)
    sys.stdin.readline()


# --- in the parent ------------------------------------------------------------------------------------------------------


def watch(args: Sequence[str], threads: int = 1, seconds: float = 600.0) -> Watched:
    """Run a script of this folder with some arguments, on so many threads, for at most so many seconds."""
    command = [sys.executable, *args]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(threads), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        return _Watcher(child, seconds).run()


class _Watcher:
    def __init__(self, child: subprocess.Popen[str], seconds: float) -> None:
        self.child = child
        self.seconds = seconds
        self.status = Path(f"/proc/{child.pid}/status")
        self.phases: list[Phase] = []
        self.ended = threading.Event()
        self.timed_out = False

    def run(self) -> Watched:
        sampler = threading.Thread(target=self._sample, daemon=True)
        limit = threading.Timer(self.seconds, self._give_up)
        sampler.start()
        limit.start()
        value: Mapping[str, Any] = {}
        assert self.child.stdout is not None and self.child.stdin is not None
        try:
            for line in self.child.stdout:
                if line.startswith((_MARK, _RESULT)):
                    self._close()
                    if line.startswith(_MARK):
                        self._open(line.removeprefix(_MARK).strip())
                    else:
                        value = json.loads(line.removeprefix(_RESULT))
                        self.ended.set()
                    self.child.stdin.write("\n")
                    self.child.stdin.flush()
        finally:
            self.ended.set()
            limit.cancel()
        code = self.child.wait()
        if value and code == 0:
            return Watched(self.phases, value)
        why = f"not within {self.seconds:.0f} s" if self.timed_out else f"failed with exit code {code}"
        return Watched(self.phases, {}, why)

    def _give_up(self) -> None:
        self.timed_out = True
        self.child.kill()

    def _read(self) -> dict[str, int]:
        try:
            lines = self.status.read_text().splitlines()
        except OSError:
            return {}
        wanted = ("VmHWM", "VmRSS", "RssAnon", "RssShmem")
        return {k: 1024 * int(v.split()[0]) for k, v in (line.split(":", 1) for line in lines) if k in wanted}

    def _open(self, name: str) -> None:
        (self.status.parent / "clear_refs").write_text("5")
        now = self._read()
        own = now["RssAnon"] + now["RssShmem"]
        self.phases.append(Phase(name, now["VmRSS"], own, now["VmRSS"], own))

    def _close(self) -> None:
        """Called while the child waits: the kernel's high-water mark is that of the phase."""
        now = self._read()
        if self.phases and now:
            self.phases[-1].peak_resident = max(self.phases[-1].peak_resident, now["VmHWM"])

    def _sample(self) -> None:
        while not self.ended.wait(_EVERY):
            now = self._read()
            if self.phases and "RssAnon" in now:
                last = self.phases[-1]
                last.peak_own = max(last.peak_own, now["RssAnon"] + now["RssShmem"])
