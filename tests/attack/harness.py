"""The shared parts of attacks: cases made from a number, worked on by a process that may die, hang or eat memory without harm to the attack.

A case is a function of its number, so that what an attack has found is seen again with `--only NUMBER`.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import random
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from fwdsl.cli import main as fwdsl_main
from fwdsl.cli.exits import BUG, LIMIT, OK, PROVEN, REJECTED, USAGE

ROOT = Path(__file__).resolve().parent.parent.parent
SLOW = 10.0
"""Seconds of the processor, as other processes may hold it, that a command may take where it does not solve."""
_HUNG = 900.0
"""Seconds after which a worker is given up: kernels may have to be compiled in them, on a machine that does other things too."""

Case = Callable[[int], list[str]]


@dataclass(frozen=True)
class Fault:
    """A fault: the number of the case, and what was seen."""

    number: int
    seen: str

    def __str__(self) -> str:
        return f"case {self.number}: {self.seen}"


def rng_of(attack: str, number: int) -> random.Random:
    """The random numbers of one case."""
    return random.Random(f"{attack} {number}")


# --- one command, run in this process --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ended:
    """The ending of a command."""

    code: int
    out: str
    err: str
    seconds: float
    escaped: str = ""

    @property
    def said(self) -> list[dict[str, object]]:
        """The diagnostics of `--json`."""
        try:
            return list(json.loads(self.out)["diagnostics"])
        except (ValueError, KeyError):
            return []

    @property
    def answer(self) -> dict[str, object]:
        """The object of `--json`; empty where there is none."""
        try:
            return dict(json.loads(self.out))
        except ValueError:
            return {}


def command(*argv: str | Path, stdin: bytes = b"") -> Ended:
    """`fwdsl ARGV` in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    taken = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    escaped, code = "", -1
    before, sys.stdin = sys.stdin, taken
    start = time.process_time()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = fwdsl_main([str(a) for a in argv])
    except BaseException:
        escaped = traceback.format_exc()
    finally:
        sys.stdin = before
    seconds = time.process_time() - start
    out_text, err_text = (s.buffer.getvalue().decode("utf-8", "replace") for s in (out, err))  # type: ignore[attr-defined]
    return Ended(code, out_text, err_text, seconds, escaped)


#: What a command says that ends with 1 or 2; `fmt --check` names the files.
_TOLD = ("error[", '"severity": "error"', " is not formatted\n")
KNOWN = (OK, USAGE, REJECTED, PROVEN, LIMIT)


def faults_of(ended: Ended, what: str, allowed: Sequence[int] = KNOWN, seconds: float = SLOW) -> list[str]:
    """The faults of a command's ending, whatever it was given."""
    found = []
    text = ended.out + ended.err
    if ended.escaped:
        found.append(f"{what}: an exception escaped\n{ended.escaped}")
    elif ended.code == BUG or "error[FW9" in text or '"code": "FW9' in text:
        found.append(f"{what}: exit {ended.code}\n{_report(text)}")
    elif ended.code not in allowed:
        found.append(f"{what}: exit {ended.code}\n{text[-2000:]}")
    elif ended.code in (USAGE, REJECTED) and not any(word in text for word in _TOLD):
        found.append(f"{what}: exit {ended.code} without an error\n{text[-2000:]}")
    for word in ("Traceback (most recent call last)", "Warning: "):
        if word in text:
            found.append(f"{what}: {word}\n{text[-3000:]}")
    if ended.seconds > seconds:
        found.append(f"{what}: took {ended.seconds:.1f} s")
    return found


def _report(text: str) -> str:
    """The report of a bug, where the words name one."""
    named = re.search(r"[^\s`\"]*fwdsl-bug-[^\s`\"]*?\.txt", text)
    if named is None or not Path(named[0]).is_file():
        return text[-3000:]
    return Path(named[0]).read_text("utf-8")[-6000:]


# --- many cases, in processes of their own ---------------------------------------------------------------------------


def survey(case: Case, numbers: Iterable[int]) -> Iterator[Fault]:
    """The faults of all cases, as they are found."""
    worker: _Worker | None = None
    for number in numbers:
        worker = worker or _Worker(case)
        seen = worker.ask(number)
        if seen is None:
            seen, worker = [worker.give_up()], None
        yield from (Fault(number, s) for s in seen)
    if worker is not None:
        worker.end()


class _Worker:
    def __init__(self, case: Case) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_work, args=(theirs, case), daemon=True)
        self._process.start()
        theirs.close()

    def ask(self, number: int) -> list[str] | None:
        """The findings of the case; None where the worker died or does not answer."""
        try:
            self._pipe.send(number)
            return self._pipe.recv() if self._pipe.poll(_HUNG) else None
        except (EOFError, OSError):
            return None

    def give_up(self) -> str:
        """End a worker that gave no answer; what became of it."""
        self._process.join(1)
        code = self._process.exitcode
        self._process.kill()
        self._process.join()
        return f"no answer within {_HUNG:.0f} s" if code is None else f"the process died, exit code {code}"

    def end(self) -> None:
        """Let the worker go."""
        self._pipe.close()
        self._process.join(10)
        if self._process.is_alive():
            self._process.kill()


def _work(pipe: Connection, case: Case) -> None:
    folder = tempfile.mkdtemp(prefix="fwdsl-attack-")
    tempfile.tempdir = folder  # reports of bugs, and whatever a case writes
    os.chdir(folder)
    with contextlib.suppress(EOFError):
        while True:
            number = pipe.recv()
            try:
                seen = case(number)
            except BaseException:
                seen = [f"the case itself failed\n{traceback.format_exc()}"]
            pipe.send(seen)
    os.chdir("/")
    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def bounded(memory: int) -> Iterator[None]:
    """Let this process take, while open, `memory` bytes of address space more than it has; beyond that, allocating fails.

    Linux alone has such limits.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    before, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_address_space(resource.getpagesize()) + memory, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, hard))


def _address_space(page: int) -> int:
    """Bytes of address space in use."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * page


# --- as a script -----------------------------------------------------------------------------------------------------


def script(attack: str, case: Case, count: int) -> None:
    """`python -m tests.attack.ATTACK [--count N] [--first N] [--only N]`: prints each fault as it is found, then how many."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.attack.{attack}")
    parser.add_argument("--count", type=int, default=count)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int, help="one case, in this process")
    known = parser.parse_args()
    start, seen = time.perf_counter(), 0
    numbers = range(known.first, known.first + known.count) if known.only is None else [known.only]
    for fault in survey(case, _counted(numbers)) if known.only is None else _here(case, known.only):
        seen += 1
        print(fault, flush=True)
    print(f"{attack}: {len(numbers)} cases, {seen} faults, {time.perf_counter() - start:.0f} s", flush=True)
    sys.exit(1 if seen else 0)


def _counted(numbers: Iterable[int]) -> Iterator[int]:
    """The same numbers; tells on standard error how far the attack has come."""
    for done, number in enumerate(numbers):
        if done and done % 500 == 0:
            print(f"{done} cases", file=sys.stderr, flush=True)
        yield number


def _here(case: Case, number: int) -> Iterator[Fault]:
    with tempfile.TemporaryDirectory(prefix="fwdsl-attack-") as folder, contextlib.chdir(folder):
        yield from (Fault(number, seen) for seen in case(number))
