"""Solving in a process of its own, so that what hangs or dies is seen; and the same through the command line."""

from __future__ import annotations

import json
import multiprocessing as mp
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

PATIENCE = 60.0
"""Seconds beyond the limit after which a run that has not answered is ended; kernels may be compiled meanwhile."""


@dataclass(frozen=True)
class Outcome:
    """The ending of a run: a status of the language, `rejected`, `traceback`, `hang`, or `died`. `seconds` is processor time without compiling."""

    status: str
    objective: float = float("nan")
    dual_bound: float = float("nan")
    relative_gap: float = float("nan")
    infeasibility: float = float("nan")
    iterations: int = 0
    seconds: float = 0.0
    method: str = ""
    reason: str = ""
    code: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict)


class Worker:
    """A process that solves one program at a time; it is ended and started anew when it does not answer."""

    def __init__(self) -> None:
        self._process: Any = None
        self._pipe: Any = None

    def solve(self, text: str, data: Mapping[str, Any], limit: float, **options: Any) -> Outcome:
        """Through the Python interface, with `limit` seconds."""
        if self._process is None or not self._process.is_alive():
            context = mp.get_context("spawn")
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
            self._process.start()
            theirs.close()  # so that its end is seen here
        try:
            self._pipe.send((text, dict(data), limit, options))
            if self._pipe.poll(limit + PATIENCE):
                outcome: Outcome = self._pipe.recv()
                return outcome
        except (EOFError, OSError):
            self.close()
            return Outcome("died")
        self.close()
        return Outcome("hang", seconds=limit + PATIENCE)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _serve(pipe: Any) -> None:
    # before anything loads a library that reads them
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    while True:
        try:
            text, data, limit, options = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        pipe.send(solve_here(text, data, limit, **options))


def solve_here(text: str, data: Mapping[str, Any], limit: float, **options: Any) -> Outcome:
    """Solve in this process."""
    import fwdsl as fw

    began = time.process_time()
    try:
        solution = fw.parse(text).bind(**data).solve(time=limit, threads=1, **options)
    except fw.FwError as error:
        return Outcome("rejected", code=error.code, reason=str(error), seconds=time.process_time() - began)
    except Exception:
        return Outcome("traceback", reason=traceback.format_exc(), seconds=time.process_time() - began)
    c = solution.certificate
    return Outcome(
        solution.status,
        c.objective,
        c.dual_bound,
        c.relative_gap,
        c.infeasibility,
        solution.iterations,
        time.process_time() - began - solution.times.kernels,
        solution.method,
        f"{solution.reason} {c.statement}",
        "FW9" if "FW9" in f"{solution.reason} {c.statement} {solution.warnings}" else "",
        dict(solution.variables),
    )


EXIT_CODES = {"optimal": 0, "tolerance_not_reached": 4, "infeasible": 3, "unbounded": 3}


def solve_by_command(text: str, data: Mapping[str, Any], limit: float, tol: float) -> Outcome | None:
    """Through files and `fwdsl run --json`; None where the data have no file format here."""
    if any(isinstance(v, tuple | int) for v in data.values()):
        return None
    with tempfile.TemporaryDirectory() as folder:
        at = Path(folder)
        (at / "program.fw").write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "fwdsl", "run", str(at / "program.fw"), "--json"]
        command += ["--time", str(limit), "--tol", repr(tol), "--threads", "1"]
        for name, value in data.items():
            np.save(at / f"{name}.npy", value.toarray() if sp.issparse(value) else np.asarray(value))
            command += ["--data", f"{name}={at / name}.npy"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit + PATIENCE, check=False)
        except subprocess.TimeoutExpired:
            return Outcome("hang", seconds=limit + PATIENCE)
    if done.returncode == 70 or "Traceback" in done.stderr:
        return Outcome("traceback", reason=done.stdout + done.stderr, code=f"exit {done.returncode}")
    try:
        said = json.loads(done.stdout)
    except ValueError:
        return Outcome("traceback", reason=f"no JSON, exit {done.returncode}: {done.stdout}{done.stderr}")
    status = said["status"]
    if status == "rejected":
        return Outcome("rejected", code=said["diagnostics"][0]["code"], reason=done.stdout)
    if done.returncode != EXIT_CODES.get(status):
        return Outcome("traceback", reason=f"exit {done.returncode} for {status}")

    def number(name: str) -> float:
        return float("nan") if said[name] is None else float(said[name])

    return Outcome(
        status,
        number("objective"),
        number("dual_bound"),
        number("relative_gap"),
        number("infeasibility"),
        int(said["iterations"]),
        0.0,
        said["method"],
        done.stdout[:2000],
        "FW9" if "FW9" in done.stdout else "",
    )
