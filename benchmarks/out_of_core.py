"""Logistic regression on an l1 ball with data beyond memory: the peak of memory, the time, and that of reading the files as often.

    python benchmarks/out_of_core.py FOLDER [--dense 20GB] [--sparse 3GB] [--memory 2GB] [--tol 1e-4] [--keep]

Data are made block by block from seed 0: dense rows of 250 float64 numbers in an npy file, sparse rows of 40 of 20,000 columns in an npz file that is
not compressed. The files are dropped from the system's cache before each run. Prints a row of Markdown for each; files are removed at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
from numpy.lib import format as npy_format

from fwdsl.words.options import bytes_of

COLUMNS, WIDE, FILLED, BLOCK = 250, 20_000, 40, 20_000

PROGRAM = """fw 1
data X: matrix[n, p] from {kind}("X.{kind}")
data y: signs[n] from npy("{kind}_y.npy")
var w: vector[p]
minimize mean(logistic(X @ w, y))
subject to norm1(w) <= 5
"""

RUN = """
import json, sys, time
began = time.perf_counter()
import fwdsl as fw
from fwdsl.readers.memory import resident
solution = fw.load(sys.argv[1]).solve(memory=int(sys.argv[2]), tol=float(sys.argv[3]))
seconds = time.perf_counter() - began
X = solution.instance.values["X"]
times = solution.times
print(json.dumps(dict(status=solution.status, gap=solution.relative_gap, method=solution.plan.method, peak=resident()[1],
    seconds=seconds - times.kernels, reads=X.passes, bytes=X.nbytes)))
"""


def dense(folder: Path, size: int) -> None:
    """X.npy and its labels, a block of rows after the other."""
    n = size // (8 * COLUMNS)
    rng = np.random.default_rng(0)
    w = rng.standard_normal(COLUMNS) * (rng.random(COLUMNS) < 0.1)
    y = np.empty(n)
    with open(folder / "X.npy", "wb") as file:
        npy_format.write_array_header_2_0(file, {"descr": "<f8", "fortran_order": False, "shape": (n, COLUMNS)})
        for start in range(0, n, BLOCK):
            rows = rng.standard_normal((min(BLOCK, n - start), COLUMNS))
            y[start : start + len(rows)] = np.where(rows @ w + rng.standard_normal(len(rows)) > 0.0, 1.0, -1.0)
            rows.tofile(file)
    np.save(folder / "npy_y.npy", y)


def sparse(folder: Path, size: int) -> None:
    """X.npz, as `scipy.sparse.save_npz(..., compressed=False)` writes it, and its labels."""
    n = size // (12 * FILLED + 8)
    w = np.random.default_rng(0).standard_normal(WIDE)
    y = np.empty(n)

    def block(start: int) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng((1, start))
        rows = min(BLOCK, n - start)
        # columns increase: one in each of as many strips
        strip = WIDE // FILLED
        at = np.arange(FILLED) * strip + rng.integers(0, strip, (rows, FILLED))
        return at.astype(np.int32), rng.standard_normal((rows, FILLED))

    def member(archive: zipfile.ZipFile, name: str, dtype: str, shape: tuple[int, ...], parts: object) -> None:
        with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
            npy_format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
            for part in parts:  # type: ignore[attr-defined]
                file.write(np.ascontiguousarray(part).tobytes())

    starts = range(0, n, BLOCK)
    with zipfile.ZipFile(folder / "X.npz", "w") as archive:
        member(archive, "indices", "<i4", (n * FILLED,), (block(s)[0] for s in starts))
        member(archive, "indptr", "<i8", (n + 1,), [np.arange(n + 1, dtype=np.int64) * FILLED])
        member(archive, "format", "|S3", (), [np.array(b"csr")])
        member(archive, "shape", "<i8", (2,), [np.array([n, WIDE])])
        member(archive, "data", "<f8", (n * FILLED,), (block(s)[1] for s in starts))
    for s in starts:
        at, values = block(s)
        noise = np.random.default_rng((2, s)).standard_normal(len(at))
        y[s : s + len(at)] = np.where((values * w[at]).sum(axis=1) + noise > 0.0, 1.0, -1.0)
    np.save(folder / "npz_y.npy", y)


def drop(path: Path) -> None:
    """Take a file out of the system's cache."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def reading(path: Path) -> float:
    """Seconds to read a file once from its beginning to its end."""
    buffer = bytearray(1 << 23)
    began = time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):  # type: ignore[attr-defined]
            pass
    return time.perf_counter() - began


def main() -> None:
    """Make, read, solve and remove."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    for name, told in (("--dense", "20GB"), ("--sparse", "3GB"), ("--memory", "2GB")):
        parser.add_argument(name, type=bytes_of, default=bytes_of(told))
    parser.add_argument("--tol", default="1e-4")
    parser.add_argument("--keep", action="store_true")
    known = parser.parse_args()
    known.folder.mkdir(parents=True, exist_ok=True)
    for kind, size, make in (("npy", known.dense, dense), ("npz", known.sparse, sparse)):
        if not size:
            continue
        path, program = known.folder / f"X.{kind}", known.folder / f"{kind}.fw"
        if not path.exists():
            make(known.folder, size)
        program.write_text(PROGRAM.format(kind=kind), encoding="utf-8")
        drop(path)
        once = reading(path)
        # twice: a file that the system's cache can hold is read faster from then on
        again = reading(path)
        drop(path)
        told = subprocess.run(
            [sys.executable, "-c", RUN, str(program), str(known.memory), known.tol], capture_output=True, text=True
        )
        if told.returncode:
            print(told.stderr)
        else:
            found = json.loads(told.stdout.splitlines()[-1])
            rest = found["reads"] - 1.0
            bound = once + rest * again
            print(
                f"| {kind} {found['bytes'] / 1e9:.1f} GB | {found['status']} ({found['method']}, gap {found['gap']:.1e}) "
                f"| peak {found['peak'] / 1e9:.2f} GB | read {found['reads']:.1f} times in {found['seconds']:.1f} s "
                f"| reading alone {bound:.1f} s (first {once:.1f} s, then {again:.1f} s each) "
                f"| {found['seconds'] / bound:.2f} |"
            )
        if not known.keep:
            for name in (path, program, known.folder / f"{kind}_y.npy"):
                name.unlink()


if __name__ == "__main__":
    main()
