"""Saved states that were tampered with or damaged: refused with a code, or the same state after all."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.errors import DataError
from fwdsl.model.options import Options
from fwdsl.solve import solve
from fwdsl.solve.state import Checkpoint, load_state, save_state

RNG = np.random.default_rng(3)
A = RNG.standard_normal((30, 8))
CASES = {
    "apg": ("var x: vector[p]", "mean(squared(A @ x, b)) + 0.05*norm1(x)"),
    "pdhg": ("var x: vector[p]", "mean(hinge(A @ x, s)) + 0.05*norm1(x)"),
    "pairwise_frank_wolfe": ("var x: vector[p] in l1_ball(2)", "mean(squared(A @ x, b))"),
    "lowrank": ("var x: matrix[p, k]", "sum(squared(A @ x, R)) + 0.3*norm_nuc(x)"),
}
DATA = {"A": A, "b": A[:, 0], "s": np.sign(A[:, 1]), "R": A[:, :3]}
TYPES = {"A": "matrix[n, p]", "b": "vector[n]", "s": "signs[n]", "R": "matrix[n, k]"}


def saved(method: str, file: Path) -> fw.Problem:
    variables, objective = CASES[method]
    used = [n for n in DATA if f"{n} @" in objective or f", {n})" in objective]
    text = "\n".join([*(f"data {n}: {TYPES[n]}" for n in used), variables, f"minimize {objective}"])
    problem = fw.parse(text).bind(**{n: DATA[n] for n in used})
    plan = problem.plan(method=method, tol=1e-14)
    options = Options(method=method, tol=1e-14, threads=1, max_iter=3)
    save_state(file, problem.canonical, solve(problem.canonical, plan, options).state)
    return problem


def content(file: Path) -> dict[str, Any]:
    with np.load(file) as npz:
        return {name: npz[name] for name in npz.files}


def _one(rng: random.Random, arrays: dict[str, Any]) -> str:
    return rng.choice(sorted(arrays))


def _reshape(rng: random.Random, a: Any) -> Any:
    ways = [lambda: a[:-1], lambda: np.append(a, a), lambda: a[None], lambda: a.reshape(-1), lambda: a.T, lambda: a * 0]
    return rng.choice(ways)() if a.ndim else a[None]


def _retype(rng: random.Random, a: Any) -> Any:
    kinds = [np.float32, np.int64, np.complex128, np.bool_, ">f8", "U5"]
    return a.astype(rng.choice(kinds)) if a.dtype.kind != "U" else a.astype("S")


def _edit_record(rng: random.Random, arrays: dict[str, Any]) -> None:
    record = json.loads(str(arrays["record"]))
    part = record
    while True:
        key = rng.choice(sorted(part))
        if isinstance(part[key], dict) and part[key] and rng.random() < 0.7:
            part = part[key]
            continue
        if rng.random() < 0.4:
            del part[key]
        else:
            part[key] = rng.choice([None, 7, -1.5, "word", [], {}, 10**30])
        break
    arrays["record"] = np.array(json.dumps(record))


def _replace_record(rng: random.Random, arrays: dict[str, Any]) -> None:
    arrays["record"] = np.array(rng.choice(["", "{", "[]", "7", "null", "[" * 5000, '"word"']))


def tampered(rng: random.Random, file: Path) -> bytes:
    """The file after one change by somebody who knows NumPy."""
    arrays = content(file)
    name = _one(rng, arrays)
    match rng.randrange(7):
        case 0:
            del arrays[name]
        case 1:
            arrays[name] = _reshape(rng, arrays[name])
        case 2:
            arrays[name] = _retype(rng, arrays[name])
        case 3:
            other = _one(rng, arrays)
            arrays[name], arrays[other] = arrays[other], arrays[name]
        case 4:
            _edit_record(rng, arrays)
        case 5:
            _replace_record(rng, arrays)
        case 6:
            arrays[f"{name}:more"] = np.zeros(3)
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def damaged(rng: random.Random, file: Path) -> bytes:
    """The file after one fault of a disk or a copy."""
    raw = bytearray(file.read_bytes())
    at = rng.randrange(len(raw))
    match rng.randrange(4):
        case 0:
            del raw[at:]
        case 1:
            raw[at] ^= 1 << rng.randrange(8)
        case 2:
            raw[at : at + 100] = bytes(len(raw[at : at + 100]))
        case 3:
            del raw[at : at + rng.choice([1, 50])]
    return bytes(raw)


def _plain(checkpoint: Checkpoint) -> list[Any]:
    state = checkpoint.state
    values = [getattr(state, f.name) for f in fields(state)]
    return [[np.asarray(v).tolist() for v in value] if isinstance(value, list) else value for value in values]


def attack(method: str, tmp_path: Path, spoil: Callable[[random.Random, Path], bytes], count: int) -> None:
    whole, spoilt = tmp_path / "whole.npz", tmp_path / "spoilt.npz"
    problem = saved(method, whole)
    expected = _plain(load_state(whole, problem.canonical))
    refused = 0
    for seed in range(count):
        spoilt.write_bytes(spoil(random.Random(seed), whole))
        try:
            state = load_state(spoilt, problem.canonical)
        except DataError as error:
            assert error.code == "FW0201", (seed, error)
            refused += 1
        else:
            np.testing.assert_equal(_plain(state), expected, err_msg=f"seed {seed}")
    assert refused > count // 2


@pytest.mark.parametrize("spoil", [tampered, damaged])
@pytest.mark.parametrize("method", CASES)
def test_a_state_that_is_not_as_it_was_saved(method: str, spoil: Callable[..., bytes], tmp_path: Path):
    attack(method, tmp_path, spoil, 40)


@pytest.mark.slow
@pytest.mark.parametrize("spoil", [tampered, damaged])
@pytest.mark.parametrize("method", CASES)
def test_a_thousand_states_that_are_not_as_they_were_saved(method: str, spoil: Callable[..., bytes], tmp_path: Path):
    attack(method, tmp_path, spoil, 1000)


@pytest.mark.parametrize("name", ["missing", "x", "fingerprints"])
def test_what_is_said_of_a_damaged_state(name: str, tmp_path: Path):
    file = tmp_path / "s.npz"
    problem = saved("apg", file)
    arrays = content(file)
    if name == "missing":
        del arrays["x"]
    elif name == "x":
        arrays["x"] = arrays["x"].astype(np.float32)
    else:
        record = json.loads(str(arrays["record"]))
        del record["fingerprints"]
        arrays["record"] = np.array(json.dumps(record))
    np.savez(file, **arrays)
    with pytest.raises(DataError) as caught:
        load_state(file, problem.canonical)
    assert caught.value.code == "FW0201" and "is damaged: it is not as it was saved" in str(caught.value)
