"""A process for each competitor: one that takes too long, or crashes, is ended without the others, and all start from the same memory."""

from __future__ import annotations

import multiprocessing
import signal
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from timing import Run, in_a_row, timed


@dataclass(frozen=True)
class Answer:
    """What a run took, with notes as its result, the value of its point and the bytes that the process added; `failed` says why there is none."""

    run: Run[Any] | None = None
    value: float = float("nan")
    failed: str = ""
    memory: float = float("nan")


Job = Callable[[float], Any]
"""The calls that are timed."""
Judge = Callable[[Any], tuple[float, Any]]
"""(value of the point, notes), from what the job returned; not timed."""


class Worker:
    """A forked process that runs `job` with the arguments it is sent, each for so many seconds at most."""

    def __init__(self, job: Job, judge: Judge, threads: int = 1) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, end = context.Pipe()
        self._process = context.Process(target=_serve, args=(end, job, judge, threads), daemon=True)
        self._process.start()
        end.close()
        self.alive = True
        self.memory = float("nan")
        """The most bytes that a run added to the process, of those that answered."""

    def ask(self, argument: float, seconds: float, turn: bool = False) -> Answer:
        """The answer, or why there is none; a process that does not answer in time is ended. With `turn` short calls are
        made several times in a row."""
        if not self.alive:
            return Answer(failed="ended before")
        try:
            self._pipe.send((argument, turn))
            if self._pipe.poll(seconds):
                answer: Answer = self._pipe.recv()
                self.memory = float(np.fmax(self.memory, answer.memory))
                return answer
        except (EOFError, OSError):
            self.end()
            return Answer(failed="its process died")
        self.end()
        return Answer(failed=f"more than {seconds:g} s")

    def end(self) -> None:
        """End the process."""
        if self.alive:
            self.alive = False
            self._process.kill()
            self._process.join()
            self._pipe.close()


def _memory(which: str) -> float:
    """Bytes of this process by the kernel: `VmRSS` now, `VmHWM` at most; nan where it does not tell."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return float("nan")
    return next((1024.0 * int(line.split()[1]) for line in lines if line.startswith(which)), float("nan"))


def _serve(pipe: Any, job: Job, judge: Judge, threads: int) -> None:
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its processes
    before = _memory("VmRSS")
    warnings.filterwarnings("ignore")  # of convergence: what was reached is measured
    while True:
        try:
            argument, turn = pipe.recv()
        except EOFError:
            return
        try:
            with suppress(OSError):
                Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # `VmHWM` is the most from here on
            with threadpool_limits(threads):
                call = partial(job, argument)
                run = timed(call)
                most = _memory("VmHWM") - before
                run = in_a_row(call, run) if turn else run
            value, notes = judge(run.result)
            answer = Answer(replace(run, result=notes), value, memory=most)
        except Exception as error:  # whatever a peer raises is its own result
            answer = Answer(failed=f"{type(error).__name__}: {error}".splitlines()[0][:120])
        pipe.send(answer)
