"""Workers on this machine, in processes that never import the script that asks for them.

A process that Python spawns imports the main script of its parent first. A script that solves without `if __name__ == "__main__":` would so start
workers from its workers. One process between (`main`) has no main script: it starts the scheduler and the workers, tells where the scheduler is,
and ends them once its input does, as it does too where the process that solves is killed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from multiprocessing import spawn

BEGIN = (
    "import sys, json; told = sys.stdin.readline() or sys.exit(); sys.path[:] = json.loads(told); "
    "from fwdsl.cluster.local import main; main()"
)
"""The program of the process between, which looks for modules where this one does, and ends where this one has ended."""

QUIET = "ignore::UserWarning:multiprocessing.resource_tracker"
"""The warning, to be silenced, of a process between that had to be killed: that its semaphores are removed."""

END = 5.0
"""Seconds within which workers end by themselves."""


class Local:
    """Workers that were started here. `address` is that of their scheduler."""

    def __init__(self, count: int, threads: int) -> None:
        """Raises `OSError` where they cannot be started."""
        from dask.config import global_config, serialize

        command = [os.fsdecode(spawn.get_executable()), "-W", QUIET, "-c", BEGIN]
        # the settings of Dask that were made here: so does Dask hand them on to processes
        own = {**os.environ, "DASK_INTERNAL_INHERIT_CONFIG": serialize(global_config)}
        # Ctrl-C of a terminal reaches its group of processes, to which these do not belong: the driver is who ends
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=own, start_new_session=True
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        asked = {"n_workers": count, "threads_per_worker": threads}
        try:
            with suppress(BrokenPipeError):  # that it has ended is seen by what it tells
                self._process.stdin.write(f"{json.dumps(list(map(str, sys.path)))}\n{json.dumps(asked)}\n")
                self._process.stdin.flush()
            told = json.loads(self._process.stdout.readline() or "{}")
        except BaseException:
            self.close()
            raise
        if "address" not in told:
            self.close()
            raise OSError(told.get("error", f"`{command[0]}` ended as it began"))
        self.address: str = told["address"]

    def close(self, timeout: float = END) -> None:
        """End the workers."""
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._process.kill()  # workers end with the process that watches them
            self._process.wait()
        if hasattr(os, "killpg"):
            with suppress(OSError):  # but for one that is stopped, which only this ends; most often the group is gone
                os.killpg(self._process.pid, signal.SIGKILL)


def main() -> None:
    """Start the workers that the first line of the input asks for, tell the scheduler's address, and end with the input."""
    # this is a group of its own, but some send the signal to every process
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.dup(1)
    os.dup2(2, 1)  # what workers print is for people

    def tell(**what: str) -> None:
        with suppress(BrokenPipeError):  # who asked has ended meanwhile, and so has the input
            os.write(answers, f"{json.dumps(what)}\n".encode())

    asked = json.loads(sys.stdin.readline() or sys.exit())
    for last in (False, True):  # a worker may be lost as it begins, as it may later
        try:
            from distributed import LocalCluster

            cluster = LocalCluster(processes=True, dashboard_address=":0", silence_logs=50, **asked)
            break
        except Exception as error:  # whatever keeps processes from starting is told by who asked for them
            if last:
                tell(error=(str(error).splitlines() or [""])[0] or type(error).__name__)
                return
    tell(address=cluster.scheduler_address)
    sys.stdin.read()
    with suppress(Exception):
        cluster.close(timeout=2.0)
