"""Mutated command lines: options left out, doubled, swapped, and values that nobody would give.

`python -m tests.attack.command_lines` attacks with 4,000.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from .harness import command, faults_of, rng_of, script
from .mutations import FOREIGN, NUMBERS, ODD, mutate

COUNT = 4_000

_PROGRAM = """\
data A: matrix[n, d], b: vector[n] from csv("data.csv", target="b")
param mu: nonnegative = 0.1
var x: vector[d]
let fit = mean(squared(A @ x, b))
minimize fit + mu * norm1(x)
"""
_FILES = {
    "program.fw": _PROGRAM,
    "other.fw": "param r: positive\nvar z: vector[k]\nminimize sum_squares(z)\nsubject to z in simplex(r)\n",
    "broken.fw": "var x: vector[n\nminimize\n",
    "data.csv": "a,c,b\n1,2,1\n0,1,-1\n2,1,0.5\n1,1,2\n",
    "data.svm": "1 1:1 2:2\n-1 1:2\n1 2:1\n",
    "empty.csv": "",
}
_LINES = (
    "run program.fw --time 0.2 --set mu=0.5 --tol 1e-4 --json",
    "run program.fw --time 0.2 --data A,b=data.svm --method apg --max-iter 5 --seed 3 --threads 1",
    "run program.fw --time 0.2 --method apg(newton=false) --gap absolute --json-stream",
    "run program.fw --time 0.2 --out answer.npz --checkpoint state.npz --quiet --strict",
    "run program.fw --time 0.2 --resume state.npz",
    "run other.fw --time 0.2 --set r=2 --dim k=3",
    "plan program.fw --json",
    "plan other.fw --set r=1 --dim k=5 --analyze --time 0.2",
    "check program.fw other.fw broken.fw --json",
    "check program.fw --data A=data.csv --set mu=2",
    "explain FW2001",
    "explain apg --json",
    "info program.fw other.fw --json",
    "mock other.fw --dims k=3,n=4 --seed 1",
    "mock program.fw --dims n=5,d=2 --out mocked",
    "fmt program.fw other.fw broken.fw --check",
    "fmt -",
    "eval program.fw --solution answer.npz fit objective --data A,b=data.csv --json",
    "race program.fw --methods apg,pdhg --time 0.3 --tol 1e-3",
    "path program.fw --set mu=0.1,0.2,0.5 --time 0.2 --json",
    "path program.fw --set mu=logspace(-1,1,3) --time 0.2",
)
_WORDS = (
    "- -- --json --help --set --data --dim --time --tol --out --resume --solution --method --threads -h --version = == , : mu= mu=1,2 A= =data.csv "
    "A,b=data.csv A=data.csv A=npz:data.csv A=data.npz:k A,A=data.csv b=empty.csv A=absent.csv A=. A=/dev/null program.fw absent.fw . "
    "logspace(1,2,1e9) logspace(1,2) linspace(,,) mu=logspace(-400,400,3) mu=linspace(0,1,2000000000) apg( apg() apg(newton=) "
    "apg(newton=2,x=[) apg,,pdhg auto inf nan 5min 1e400"
).split(" ")


def made(number: int) -> list[str]:
    """The mutated command line of a case."""
    rng = rng_of("command lines", number)
    words = rng.choice(_LINES).split(" ")
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(words))
        match rng.randrange(7):
            case 0 if len(words) > 1:
                del words[at]
            case 1:
                words.insert(at, rng.choice(words))
            case 2:
                other = rng.randrange(len(words))
                words[at], words[other] = words[other], words[at]
            case 3:
                words[at] = rng.choice(_WORDS)
            case 4:
                words.insert(at + 1, rng.choice(_WORDS))
            case 5:
                words[at] = _spoilt(rng, words[at])
            case _:
                name, equals, _ = words[at].partition("=")
                words[at] = f"{name}{equals or '='}{rng.choice((*NUMBERS, *FOREIGN))}"
    return words


def _spoilt(rng: random.Random, word: str) -> str:
    if rng.random() < 0.2:
        return word + rng.choice([odd for odd in ODD if odd.isprintable()])
    return mutate(rng, word)[:300].replace("\0", "").encode("utf-8", "replace").decode()


def case(number: int) -> list[str]:
    words = made(number)
    _fresh()
    ended = command(*words, stdin=_PROGRAM.encode())
    found = faults_of(ended, "command", seconds=60)
    if (Path("program.fw").read_text("utf-8")) != _PROGRAM and "fmt" not in words[0]:
        found.append("the program is changed")
    return [f"{words}\n{seen}" for seen in found]


def _fresh() -> None:
    """The files of this attack, and nothing else that a mutated line has made."""
    for path in Path().iterdir():
        if path.name.startswith("fwdsl-bug"):
            continue
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, content in _FILES.items():
        Path(name).write_text(content, "utf-8")


if __name__ == "__main__":
    script("command_lines", case, COUNT)
