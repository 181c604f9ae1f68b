"""Tampered checkpoints and saved answers: `--resume`, `eval --solution`, `verify --solution`.

`python -m tests.attack.states` attacks with 900. A tampered file is refused with a diagnostic, or what follows from it is still true: a run
that goes on from it says `optimal` of an optimum only, and `verify` agrees with none but a true answer.
"""

from __future__ import annotations

import io
import json
import random
import warnings
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .harness import Ended, command, faults_of, rng_of, script
from .spoiling import flip_bits, large_word, move, truncate

COUNT = 900
_CLOSE = 1e-3
"""Relative error of the objective of an answer that is told as certified to 1e-6."""

_DATA = """\
data A: matrix[8, 3] = [[1, 0.5, -1], [0, 2, 1], [1, 1, 1], [-1, 0, 2], [0.5, 0.5, 0], [2, -1, 1], [0, 0, 1], [1, 3, -2]]
data b: vector[8] = [1, 2, 3, 1, 0.5, 1, 1, 2]
data s: signs[8] = [1, -1, 1, 1, -1, 1, -1, -1]
data c: labels[8, 3] = [0, 1, 2, 0, 1, 2, 0, 1]
data R: entries[4, 3] = [[0, 0, 1], [1, 2, 2], [2, 1, -1], [3, 0, 1], [3, 2, 0.5]]
"""
#: Name: method, variable, objective, constraint.
PROBLEMS = {
    "apg": ("apg", "x: vector[3]", "mean(squared(A @ x, b)) + 0.05 * norm1(x)", ""),
    "pdhg": ("pdhg", "x: vector[3]", "mean(absolute(A @ x, b)) + 0.05 * norm2(x)", "sum(x) == 1"),
    "frank_wolfe": ("frank_wolfe", "x: vector[3]", "mean(squared(A @ x, b))", "x in l1_ball(1)"),
    "away": ("away_frank_wolfe", "x: vector[3]", "mean(squared(A @ x, b))", "x in simplex(1)"),
    "pdbfw": ("pdbfw", "x: vector[3]", "mean(squared(A @ x, b)) + 0.1 * sum_squares(x)", "x in l1_ball(1)"),
    "gsfw": ("gsfw", "x: vector[3]", "mean(logistic(A @ x, s)) + 0.1 * sum_squares(x)", "x in l1_ball(1)"),
    "dspdc": ("dspdc", "x: vector[3]", "mean(squared(A @ x, b)) + 0.1 * sum_squares(x)", ""),
    "bcfw": ("bcfw", "W: matrix[3, 3]", "mean(multiclass_hinge(A @ W, c)) + 0.1 * sum_squares(W)", ""),
    "mirror_prox": ("mirror_prox", "W: matrix[3, 3]", "mean(multiclass_hinge(A @ W, c)) + 0.1 * norm1(W)", ""),
    "lowrank": ("lowrank", "W: matrix[4, 3]", "sum(squared(W[R], R)) + 0.3 * norm_nuc(W)", ""),
    "sdca": ("sdca", "x: vector[3]", "mean(smooth_hinge(A @ x, s)) + 0.1 * sum_squares(x)", ""),
}


def text_of(name: str) -> str:
    """The program of one of `PROBLEMS`, with the data that it uses."""
    _, variable, objective, constraint = PROBLEMS[name]
    data = [line for line in _DATA.splitlines() if any(f"{line[5]}{end}" in objective for end in (" @", ")", "]"))]
    held = f"subject to {constraint}\n" if constraint else ""
    return "\n".join(data) + f"\nvar {variable}\nminimize {objective}\n{held}"


@cache
def sound(name: str) -> tuple[bytes, bytes, float]:
    """A checkpoint of a run on its way, the saved answer of the whole one, and the optimal value."""
    Path("sound.fw").write_text(text_of(name), "utf-8")
    method = PROBLEMS[name][0]
    part = command("run", "sound.fw", "--method", method, "--max-iter", "3", "--checkpoint", "sound.npz", "--json")
    whole = command("run", "sound.fw", "--out", "answer.npz", "--json", "--time", "30")
    assert part.code in (0, 4) and whole.code == 0, f"{name}: {part} {whole}"
    files = Path("sound.npz").read_bytes(), Path("answer.npz").read_bytes()
    return *files, float(str(whole.answer["objective"]))


# --- tampering -------------------------------------------------------------------------------------------------------

_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        -1,
        0,
        1,
        3,
        2**31,
        2**63,
        10**30,
        1e308,
        -0.5,
        float("nan"),
        float("inf"),
        "",
        "nan",
        "inf",
        "0x1p+0",
        "zz",
    ),
    *([], {}, [1, 2], {"a": 1}, [[[]]], "apg", "AcceleratedState", "os.system", "optimal", "\0", "x" * 10_000),
)
_DTYPES = ("f4", "i8", "u1", "c16", "?", "U3", "S3", "M8[s]", "V4", ">f8", "f2")


def _unpacked(content: bytes) -> dict[str, np.ndarray]:
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        return {name: file[name] for name in file.files}


def _packed(arrays: Mapping[str, np.ndarray], again: str | None = None) -> bytes:
    stream = io.BytesIO()
    with warnings.catch_warnings(action="ignore"), zipfile.ZipFile(stream, "w") as archive:
        for name in (*arrays, *([again] if again else [])):
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, np.asarray(arrays[name]), allow_pickle=True)
    return stream.getvalue()


def _tampered_array(rng: random.Random, array: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        match rng.randrange(9):
            case 0:
                return array.ravel()[:-1] if rng.random() < 0.5 else np.append(array.ravel(), array.ravel()[:1])
            case 1:
                return array.reshape(*array.shape, 1) if rng.random() < 0.5 else array[None]
            case 2:
                return array.ravel() if array.ndim > 1 else array.reshape(-1, 1)
            case 3:
                return array.astype(rng.choice(_DTYPES)) if array.dtype.kind in "fiub" else array.astype("U2")
            case 4:
                return np.zeros(rng.choice(((0,), (), (1,), (0, 3), (1000,))))
            case 5:
                return array.astype(object)
            case 6:
                return np.asfortranarray(array.T)
            case _:
                changed = array.ravel().copy()
                value = rng.choice((np.nan, np.inf, -np.inf, 1e308, -1e300, 0.0, 1e6, -1.0, 2**31, -(2**62), 1e-320))
                if changed.size and changed.dtype.kind in "fiu":
                    at = slice(None) if rng.random() < 0.3 else rng.randrange(changed.size)
                    limits = np.iinfo(changed.dtype) if changed.dtype.kind in "iu" else None
                    changed[at] = (
                        value if limits is None else min(max(int(np.nan_to_num(value)), limits.min), limits.max)
                    )
                return changed.reshape(array.shape)


def _tampered_json(rng: random.Random, record: Any) -> Any:
    """One entry, at any depth, is left out or becomes something else."""
    places: list[tuple[Any, Any]] = []
    todo = [record]
    while todo:
        at = todo.pop()
        keys = at if isinstance(at, dict) else range(len(at))
        for key in keys:
            places.append((at, key))
            if isinstance(at[key], dict | list):
                todo.append(at[key])
    where, key = rng.choice(places)
    if rng.random() < 0.3:
        del where[key]
    elif rng.random() < 0.1 and isinstance(where, dict):
        where[str(rng.choice(_VALUES))] = where.pop(key)
    else:
        where[key] = rng.choice(_VALUES)
    return record


def tamper(rng: random.Random, content: bytes) -> bytes:
    """Another file in its place."""
    if rng.random() < 0.25:
        return rng.choice((flip_bits, flip_bits, truncate, move, large_word))(rng, content)
    arrays = _unpacked(content)
    names = [name for name in arrays if name != "record"]
    again = None
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(names or ["record"])
        match rng.randrange(8):
            case 0:
                arrays.pop(rng.choice([name, "record"]), None)
            case 1:
                arrays[rng.choice(("x", "a:0", "journal:", "var:x", f"{name}:U", "ｘ"))] = arrays.pop(name, np.zeros(3))
            case 2:
                other = rng.choice(names or [name])
                arrays[name], arrays[other] = arrays.get(other, np.zeros(2)), arrays.get(name, np.zeros(2))
            case 3 | 4:
                arrays[name] = _tampered_array(rng, np.asarray(arrays.get(name, 0.0)))
            case 5 if "record" in arrays:
                garbage = (
                    "",
                    "{",
                    "[]",
                    "null",
                    "NaN",
                    "{}",
                    '"x"',
                    "[" * 100_000,
                    '{"v": 1e999}',
                    "\ufeff{}",
                    "1" * 10_000,
                )
                arrays["record"] = np.array(rng.choice(garbage))
            case 6 if again is None and name in arrays:
                again = name
            case _ if "record" in arrays and arrays["record"].ndim == 0:
                try:
                    record = _tampered_json(rng, json.loads(str(arrays["record"])))
                    arrays["record"] = np.array(json.dumps(record))
                except (ValueError, TypeError, IndexError, RecursionError):  # spoiled before
                    arrays["record"] = np.array("{}")
    return _packed(arrays, again if again in arrays else None)


def case(number: int) -> list[str]:
    rng = rng_of("states", number)
    name = rng.choice(list(PROBLEMS))
    checkpoint, answer, optimum = sound(name)
    Path("program.fw").write_text(text_of(name), "utf-8")
    use = rng.choice(("resume", "resume", "resume", "eval", "verify"))
    Path("tampered.npz").write_bytes(tamper(rng, checkpoint if use == "resume" else answer))
    if use == "resume":
        ended = command("run", "program.fw", "--resume", "tampered.npz", "--time", "1", "--max-iter", "20000", "--json")
        found = faults_of(ended, use) + _untrue(ended, optimum)
    elif use == "eval":
        found = faults_of(command("eval", "program.fw", "--solution", "tampered.npz", "--json"), use)
    else:
        ended = command("verify", "program.fw", "--solution", "tampered.npz", "--oracle-time", "10", "--json")
        found = [] if ended.answer.get("agrees") is False else faults_of(ended, use, seconds=30)
        found += _untrue(ended, optimum) if ended.code == 0 else []
    return [f"{name}: {seen}" for seen in found]


def _untrue(ended: Ended, optimum: float) -> list[str]:
    """An answer that is told as proven and is not."""
    status, objective = ended.answer.get("status"), ended.answer.get("objective")
    if status in ("infeasible", "unbounded"):
        return [f"said {status}\n{ended.out[:1500]}"]
    if status == "optimal" and abs(float(str(objective)) - optimum) > _CLOSE * (1 + abs(optimum)):
        return [f"said optimal at {objective}, where {optimum} is the optimum\n{ended.out[:1500]}"]
    return []


if __name__ == "__main__":
    script("states", case, COUNT)
