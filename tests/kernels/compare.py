"""Compares kernels as they are compiled with themselves as plain Python, on what solves call them with: `python -m tests.kernels.compare`.

Programs are solved with compiled kernels; each call of one, up to `CALLS` of each signature, is done again uncompiled on copies of what it was
given. With `--all` the programs have every word of the language, else they are few. Prints the kernels that were compared, one a line, and
what differs.
"""

from __future__ import annotations

import copy
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fwdsl.backends.kernels import compile as compiling
from fwdsl.backends.kernels.uncompiled import Uncompiled
from fwdsl.session import Raising, Session
from fwdsl.studies.warm import mocked

CALLS = 3
SECONDS, STEPS = 2.0, 12

FEW = (
    "minimize mean(squared(X @ b, y)) + 0.1 * norm1(b)",
    "minimize mean(logistic(X @ b, s)) + 0.1 * norm1(b) + 0.1 * sum_squares(b)",
    "minimize mean(hinge(X @ b, s)) + 0.1 * sum_squares(b)",
    "minimize mean(quantile(X @ b, y, tau=0.3))\nsubject to norm1(b) <= 2",
    "minimize mean(huber(X @ b, y, delta=1)) + 0.1 * norm1(b[1:] - b[:-1])",
)

compared: Counter[str] = Counter()
different: list[str] = []


class Doubled:
    """A compiled kernel that compares its first calls with the same kernel uncompiled."""

    def __init__(self, compiled: Any, fn: Any) -> None:
        self.compiled, self.fn = compiled, fn
        self.plain: Uncompiled | None = None
        self.calls: Counter[str] = Counter()
        self.py_func, self.stats = compiled.py_func, compiled.stats

    def __call__(self, *args: Any) -> Any:
        signature = str(
            [(a.dtype.str, a.ndim, a.flags.c_contiguous) if isinstance(a, np.ndarray) else type(a) for a in args]
        )
        if self.calls[signature] >= CALLS:
            return self.compiled(*args)
        self.calls[signature] += 1
        self.plain = self.plain or Uncompiled(self.fn)
        copies = copy.deepcopy(args)
        found = self.compiled(*args)
        name = compiling._name(self.fn)
        compared[name] += 1
        try:
            with np.errstate(all="raise"):  # what the kernel leaks would be raised outside of its own
                again = self.plain(*copies)
        except Exception as error:
            different.append(f"{name}: {type(error).__name__}: {error}")
            return found
        for what, a, b in [("result", found, again), *(("argument", x, y) for x, y in zip(args, copies, strict=True))]:
            if not same(a, b):
                different.append(f"{name}: {what}: {a!r} and {b!r}"[:400])
        return found


def same(a: Any, b: Any) -> bool:
    """True if two values are of one kind and agree to rounding."""
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray):
        if a.dtype != b.dtype or a.shape != b.shape:
            return False
        eps = np.finfo(a.dtype).eps if a.dtype.kind == "f" else 0.0
        size = np.max(np.abs(a[np.isfinite(a)]), initial=0.0) if a.dtype.kind == "f" else 0.0
        return bool(np.allclose(a, b, rtol=1e5 * eps, atol=1e4 * eps * size, equal_nan=True))
    if isinstance(a, float):
        return isinstance(b, float) and bool(np.isclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True))
    return type(a) is type(b) and (a is b or a == b)


def doubled() -> None:
    """Have every kernel that is asked for from now on compared. Kernels that others call are parts of these."""
    decorate, linked = compiling._decorate, compiling._linked.__wrapped__
    made: dict[Any, Doubled] = {}
    real: dict[Any, Any] = {}

    def compiled(fn: Any, rounding: str) -> Any:
        if (fn, rounding) not in real:
            real[fn, rounding] = decorate(fn, rounding)
            del compiling._dispatchers[fn, rounding]
        return real[fn, rounding]

    def kernel(fn: Any) -> Any:
        return compiled(fn, "")

    def decorated(fn: Any, rounding: str) -> Any:
        if (fn, rounding) not in made:
            made[fn, rounding] = Doubled(compiled(fn, rounding), fn)
        return made[fn, rounding]

    known: dict[Any, Any] = {}

    def link(fn: Any, uses: Any, parts: Any) -> Any:
        plain = tuple((name, getattr(inner, "compiled", inner)) for name, inner in uses)
        if (fn, plain, parts) not in known:
            outside, compiling.kernel = compiling.kernel, kernel
            try:
                known[fn, plain, parts] = linked(fn, plain, parts)
            finally:
                compiling.kernel = outside
        return known[fn, plain, parts]

    compiling._decorate, compiling._linked = decorated, link


def main(everything: bool) -> int:
    """Solve, compare, print; 1 where something differs."""
    from numba.extending import _Intrinsic

    _Intrinsic.__call__ = lambda *_: None  # the hint for the processor
    doubled()
    if everything:
        from fwdsl.studies.every_word import DIMS, programs

        texts, dims = list(programs()), DIMS
    else:
        head = "fw 1\ndata X: matrix[n, p], y: vector[n], s: signs[n]\nvar b: vector[p]\n"
        texts, dims = [head + body + "\n" for body in FEW], {"n": 12, "p": 5}
    for text in texts:
        for session in mocked(Session(text, "<text>", Path(), Raising()), dims):
            for choice in session.plan().weighed:
                if choice.applies and (everything or not choice.by_name_only):
                    limited = replace(session.options, time=SECONDS, max_iter=STEPS, method=choice.name)
                    session.solved_with(limited).solve()
    print(*sorted(compared), sep="\n")
    print(*dict.fromkeys(different), sep="\n", file=sys.stderr)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main("--all" in sys.argv))
