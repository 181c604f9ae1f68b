"""Damaged kernel caches: whatever lies in the cache's folder, a run ends as it would without it.

`python -m tests.attack.caches` attacks with 100; each is a process of its own.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from .harness import ROOT, Ended, faults_of, rng_of, script
from .spoiling import flip_bits, large_word, move, truncate

COUNT = 100
_PROGRAM = """\
data A: matrix[4, 2] = [[1, 2], [0, 1], [2, 1], [1, -1]]
data b: vector[4] = [1, 2, 3, 4]
var x: vector[2]
minimize mean(squared(A @ x, b)) + 0.1 * norm1(x)
"""
_SECONDS = 300


def _run(folder: Path) -> Ended:
    """The program run with the cache in `folder`, in a process that loads it."""
    environment = {**os.environ, "FWDSL_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-m", "fwdsl", "run", "program.fw", "--json"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=_SECONDS, check=False)
    return Ended(done.returncode, done.stdout, done.stderr, 0.0)


@cache
def _warm() -> tuple[Path, object]:
    """A cache with the kernels of the program, and the variables that the run gave."""
    Path("program.fw").write_text(_PROGRAM, "utf-8")
    folder = Path("warm").resolve()
    for _ in range(2):
        ended = _run(folder)
        assert ended.code == 0, ended
    return folder, ended.answer["variables"]


def damage(rng: random.Random, folder: Path) -> str:
    """Damage one to all of the files of a cache; says how."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    told = []
    for file in rng.sample(files, rng.choice((1, 1, 2, len(files)))):
        content = file.read_bytes()
        match rng.randrange(7):
            case 0:
                how = "empty"
                file.write_bytes(b"")
            case 1:
                how = "a folder in its place"
                file.unlink()
                file.mkdir()
            case 2:
                how = "garbage"
                file.write_bytes(bytes(rng.randrange(256) for _ in range(rng.randint(1, 300))))
            case 3:
                other = rng.choice(files)
                how = f"{other.name} in its place"
                if other.is_file():
                    file.write_bytes(other.read_bytes())
            case 4:
                how = "gone"
                file.unlink()
            case _:
                spoil = rng.choice((flip_bits, flip_bits, truncate, move, large_word))
                how = spoil.__name__
                file.write_bytes(spoil(rng, content))
        told.append(f"{file.name}: {how}")
    return "; ".join(told[:5])


def case(number: int) -> list[str]:
    rng = rng_of("caches", number)
    warm, wanted = _warm()
    folder = Path("cache").resolve()
    shutil.copytree(warm, folder)
    try:
        how = damage(rng, folder)
        ended = _run(folder)
        found = faults_of(ended, "run", allowed=[0])
        if ended.code == 0 and ended.answer.get("variables") != wanted:
            found.append(f"another answer: {ended.answer.get('variables')}, not {wanted}")
        again = _run(folder)  # what was dropped has been made anew
        found += faults_of(again, "the run after it", allowed=[0])
        if again.code == 0 and again.err:
            found.append(f"the run after it still says\n{again.err[:500]}")
    finally:
        shutil.rmtree(folder)
    return [f"{how}\n{seen}" for seen in found]


if __name__ == "__main__":
    script("caches", case, COUNT)
