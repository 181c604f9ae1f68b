"""Mutated data files of every format, plain and compressed: each is bound to a program that is planned, a share is run.

`python -m tests.attack.data_files` attacks with 10,000. Such a file is read, or refused with a diagnostic that names it; memory and
time stay in proportion to the file, whatever its headers and indices say.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from scipy.io import mmwrite

from .harness import Ended, bounded, command, faults_of, rng_of, script
from .spoiling import OF_BYTES, saved, spoil

COUNT = 10_000
RUN = 20
"""Every so many cases are run."""
MEMORY = 1 << 30
"""Bytes that a file of some kilobytes may take."""


@dataclass(frozen=True)
class Kind:
    """A format, programs that take it with `FILE` for the source, and what makes a sound file."""

    name: str
    programs: tuple[str, ...]
    make: Callable[[random.Random], bytes]


_LEAST_SQUARES = "var w: vector[p]\nminimize mean(squared(X @ w, y)) + 0.1 * norm1(w)\n"
_LOGISTIC = "var w: vector[p]\nminimize mean(logistic(X @ w, y)) + 0.1 * sum_squares(w)\n"
_CLASSES = "var W: matrix[p, k]\nminimize mean(multiclass_hinge(X @ W, y)) + 0.1 * sum_squares(W)\n"
_MULTILABEL = "var W: matrix[p, k]\nminimize mean(logistic(X @ W, Y)) + sum_squares(W)\n"
_MATRIX = "var w: vector[p]\nminimize sum_squares(X @ w - 1) + sum_squares(w)\n"
_SQUARE = "var x: vector[p] in simplex(1)\nminimize quad_form(x, X)\n"
_ENTRIES = "var B: matrix[n, m] in nuclear_ball(2)\nminimize mean(squared(B[M], M))\n"
_SIGNED = "var B: matrix[n, m] in nuclear_ball(2)\nminimize mean(logistic(B[M], M))\n"
_TENSOR = "var S: psd[p]\nminimize mean(squared(inner(D, S), 1)) + sum_squares(S)\n"
_TASKS = "var F: family[T] of vector[p]\nminimize mean(squared(inner(X, F[t]), 1)) + sum_squares(F)\n"


def _numbers(rng: random.Random, rows: int = 8, columns: int = 4) -> np.ndarray:
    return np.array([[round(rng.gauss(0, 1), 3) for _ in range(columns)] for _ in range(rows)])


def _libsvm(rng: random.Random) -> bytes:
    lines = []
    for row in _numbers(rng):
        features = " ".join(f"{j + 1}:{v}" for j, v in enumerate(row) if rng.random() < 0.8)
        lines.append(f"{rng.choice(('-1', '+1', '1'))} {features}")
    return ("\n".join(lines) + "\n").encode()


def _multilabel(rng: random.Random) -> bytes:
    return b"".join(b",".join(rng.sample([b"0", b"1", b"2"], rng.randint(0, 3))) + b" 1:1 2:0.5\n" for _ in range(8))


def _csv(rng: random.Random) -> bytes:
    rows = _numbers(rng)
    lines = ["a,b,c,d,y"] + [",".join(map(str, row)) + f",{rng.choice((-1, 1))}" for row in rows]
    return ("\n".join(lines) + "\n").encode()


def _csv_words(rng: random.Random) -> bytes:
    rows = _numbers(rng)
    words = ["red", "green", "blue", '"a ""quoted"", one"']
    return "".join(
        ["a,b,c,d,y\n"] + [",".join(map(str, row)) + f",{words[i % 4]}\n" for i, row in enumerate(rows)]
    ).encode()


def _csv_tasks(rng: random.Random) -> bytes:
    return "".join(["a,b,t\n"] + [f"{a},{b},{i % 3}\n" for i, (a, b) in enumerate(_numbers(rng, columns=2))]).encode()


def _npy(rng: random.Random) -> bytes:
    array = _numbers(rng).astype(rng.choice(("f8", "f4", ">f8", "i4", "u1", "?", "i8")))
    return saved(np.asfortranarray(array) if rng.random() < 0.3 else array)


def _npy_square(rng: random.Random) -> bytes:
    half = _numbers(rng, 4, 4)
    return saved(half @ half.T)


def _npy_tensor(rng: random.Random) -> bytes:
    return saved(np.stack([_numbers(rng, 3, 3) for _ in range(6)]))


def _npz(rng: random.Random) -> bytes:
    stream = io.BytesIO()
    save = np.savez_compressed if rng.random() < 0.5 else np.savez
    save(stream, X=_numbers(rng), y=np.array([rng.choice((-1.0, 1.0)) for _ in range(8)]))
    return stream.getvalue()


def _npz_sparse(rng: random.Random) -> bytes:
    stream = io.BytesIO()
    made = sp.coo_array(_numbers(rng) * (rng.random() < 0.9))
    sp.save_npz(stream, getattr(made, rng.choice(("tocsr", "tocsc", "tocoo")))(), compressed=rng.random() < 0.5)
    return stream.getvalue()


def _mtx(rng: random.Random) -> bytes:
    stream = io.BytesIO()
    half = _numbers(rng, 4, 4)
    full = half @ half.T if rng.random() < 0.5 else half
    mmwrite(stream, sp.coo_array(full) if rng.random() < 0.7 else full)
    return stream.getvalue()


def _coo(rng: random.Random) -> bytes:
    ids = rng.choice((["1", "2", "3", "4"], ["ann", "bob", "cec", "dan"]))
    pairs = [(i, j) for i in ids for j in ids if rng.random() < 0.6]
    comma = rng.choice((" ", ",", "\t"))
    return "".join(comma.join((i, j, rng.choice(("1", "-1")))) + "\n" for i, j in pairs).encode()


def _parquet(rng: random.Random) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    columns = dict(zip("abcd", _numbers(rng).T, strict=True))
    y = [rng.choice((-1, 1)) for _ in range(8)]
    pq.write_table(pa.table({**columns, "y": y}), stream, compression=rng.choice(("NONE", "SNAPPY")))
    return stream.getvalue()


KINDS: tuple[Kind, ...] = (
    Kind(
        "libsvm",
        tuple(
            f'data X: matrix[n, p], y: {t}[n] from libsvm("FILE"{o})\n{body}'
            for t, body in (("vector", _LEAST_SQUARES), ("signs", _LOGISTIC))
            for o in ("", ", features=9", ", base=0")
        ),
        _libsvm,
    ),
    Kind("libsvm", (f'data X: matrix[n, p], y: labels[n, k] from libsvm("FILE")\n{_CLASSES}',), _libsvm),
    Kind(
        "libsvm",
        (f'data X: matrix[n, p], Y: signs[n, k] from libsvm("FILE", multilabel=true)\n{_MULTILABEL}',),
        _multilabel,
    ),
    Kind(
        "csv",
        tuple(
            f'data X: matrix[n, p], y: {t}[n] from csv("FILE"{o})\n{body}'
            for t, body in (("vector", _LEAST_SQUARES), ("signs", _LOGISTIC))
            for o in (', target="y"', ', target="y", columns=["a", "c"]', ", target=0, header=false")
        ),
        _csv,
    ),
    Kind("csv", (f'data X: matrix[n, p], y: labels[n, k] from csv("FILE", target="y")\n{_CLASSES}',), _csv_words),
    Kind("csv", (f'data X: matrix[n, p], t: index[n] of T from csv("FILE", target="t")\n{_TASKS}',), _csv_tasks),
    Kind("npy", (f'data X: matrix[n, p] from npy("FILE")\n{_MATRIX}',), _npy),
    Kind(
        "npy",
        (f'data X: psd[p] from npy("FILE")\n{_SQUARE}', f'data X: matrix[n, p] from npy("FILE")\n{_MATRIX}'),
        _npy_square,
    ),
    Kind("npy", (f'data D: tensor[n, p, p] from npy("FILE")\n{_TENSOR}',), _npy_tensor),
    Kind(
        "npz",
        (
            f'data X: matrix[n, p], y: vector[n] from npz("FILE")\n{_LEAST_SQUARES}',
            f'data X: matrix[n, p] from npz("FILE", key="X")\n{_MATRIX}',
        ),
        _npz,
    ),
    Kind("npz", (f'data X: matrix[n, p] from npz("FILE")\n{_MATRIX}',), _npz_sparse),
    Kind(
        "mtx",
        (f'data X: matrix[n, p] from mtx("FILE")\n{_MATRIX}', f'data X: psd[p] from mtx("FILE")\n{_SQUARE}'),
        _mtx,
    ),
    Kind(
        "coo",
        (
            f'data M: entries[n, m] from coo("FILE")\n{_ENTRIES}',
            f'data M: entries[n, m] of signs from coo("FILE")\n{_SIGNED}',
            f'data M: entries[n, m] from coo("FILE", base=1)\n{_ENTRIES}',
        ),
        _coo,
    ),
)
if find_spec("pyarrow") is not None:
    program = f'data X: matrix[n, p], y: signs[n] from parquet("FILE", target="y")\n{_LOGISTIC}'
    KINDS += (Kind("parquet", (program,), _parquet),)
_COMPRESS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def made(number: int) -> tuple[str, str, bytes]:
    """The program of a case, the name of its file, and the file."""
    rng = rng_of("data files", number)
    kind = rng.choice(KINDS)
    content = kind.make(rng)
    suffix = rng.choice(("", "", "", ".gz", ".bz2", ".xz"))
    if rng.random() < 0.02:
        content = b""
    elif not suffix or rng.random() < 0.7:
        content = spoil(rng, kind.name, content)
        content = _COMPRESS[suffix](content) if suffix else content
    else:  # the compressed bytes are spoiled
        content = rng.choice(OF_BYTES)(rng, _COMPRESS[suffix](content))
    file = f"mutated.{kind.name}{suffix}"
    return rng.choice(kind.programs).replace("FILE", file), file, content


def case(number: int) -> list[str]:
    program, file, content = made(number)
    Path("program.fw").write_text(program, "utf-8")
    Path(file).write_bytes(content)
    with bounded(MEMORY):
        ended = command("plan", "program.fw", "--json")
    found = faults_of(ended, "plan") + _unplaced(ended, file)
    if number % RUN == 0:
        found += faults_of(command("run", "program.fw", "--time", "0.5"), "run", seconds=70)
    Path(file).unlink()
    return [f"{seen}\n--- program:\n{program}\n--- {file}:\n{content[:1500]!r}" for seen in found]


def _unplaced(ended: Ended, file: str) -> list[str]:
    """Errors of data that do not name the file, and memory that ran out where nothing was said to be too large."""
    wrong = []
    for d in ended.said:
        code = str(d["code"])
        if code.startswith("FW4") and d["severity"] == "error" and file not in str(d["message"]) + str(d["place"]):
            wrong.append(f"plan: {code} does not name the file: {d['message']}")
        if code == "FW6001":
            wrong.append(f"plan: {code} {d['message']}")
    return wrong


if __name__ == "__main__":
    script("data_files", case, COUNT)
