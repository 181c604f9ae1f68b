"""A try of HiGHS that a run waits for, and that may be left: HiGHS cannot be broken off from outside.

A short one is in a thread, which the process waits for at its end: HiGHS ends a process that stops beside it. A long one is in a process of its own,
which is killed when nobody waits for it any more.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from fwdsl.backends.highs import worker
from fwdsl.backends.highs.worker import ANSWER, PROGRAM, Answer
from fwdsl.light_dataclass import light_dataclass

SHORT = 2.0
"""Seconds of a try that is in a thread."""


@light_dataclass
class Asked:
    """The question to HiGHS: the arguments of `worker.solved`."""

    c: Any
    A: Any
    b: Any
    equations: int
    method: str
    seconds: float

    def answered(self) -> Answer:
        return worker.solved(self.c, self.A, self.b, self.equations, self.method, self.seconds)


class Try(Protocol):
    """A try that has begun."""

    def wait(self, seconds: float) -> bool:
        """Wait so long at most; whether it has ended."""

    def answer(self) -> Answer:
        """The answer. Raises `LinAlgError` where it ended with an error."""


def begun(asked: Asked) -> Try:
    """A try in a thread or in a process; a browser has neither."""
    if sys.platform == "emscripten":
        return _Here(asked)
    return _InThread(asked) if asked.seconds <= SHORT else _InProcess(asked)


class _Here:
    """A try that is waited for at once."""

    def __init__(self, asked: Asked) -> None:
        self.found: list[Answer | Exception] = []
        self._call(asked)

    def _call(self, asked: Asked) -> None:
        try:
            self.found.append(asked.answered())
        except Exception as error:
            self.found.append(error)

    def wait(self, seconds: float) -> bool:
        return True

    def answer(self) -> Answer:
        (found,) = self.found
        if isinstance(found, Exception):
            raise np.linalg.LinAlgError("HiGHS ended with an error") from found
        return found


class _InThread(_Here):
    def __init__(self, asked: Asked) -> None:
        self.found = []
        self.thread = threading.Thread(target=self._call, args=(asked,), name="fwdsl-highs")
        self.thread.start()

    def wait(self, seconds: float) -> bool:
        self.thread.join(seconds)
        return not self.thread.is_alive()


class _InProcess:
    def __init__(self, asked: Asked) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="fwdsl-highs-"))
        A = asked.A
        np.savez(
            self.folder / PROGRAM,
            c=asked.c,
            b=asked.b,
            data=A.data,
            indices=A.indices,
            indptr=A.indptr,
            shape=A.shape,
            equations=asked.equations,
            method=asked.method,
            seconds=asked.seconds,
        )
        # in a session of its own a Ctrl-C of the terminal is for the run alone
        self.process = subprocess.Popen(
            [sys.executable, str(Path(worker.__file__).resolve()), str(self.folder)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        weakref.finalize(self, _end, self.process, self.folder)

    def wait(self, seconds: float) -> bool:
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def answer(self) -> Answer:
        path = self.folder / ANSWER
        if not path.exists():
            raise np.linalg.LinAlgError("the process of HiGHS ended without an answer")
        with np.load(path) as found:
            return Answer(int(found["status"]), found["v"], found["z"])


def _end(process: subprocess.Popen[bytes], folder: Path) -> None:
    """Kill a process that nobody waits for, and take its folder away."""
    process.kill()
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)
