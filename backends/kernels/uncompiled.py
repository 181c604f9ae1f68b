"""Kernels as plain Python, with the arithmetic that they have compiled: where numba is not, and where a debugger is to step through one.

Plain Python differs from what numba makes of the same text in four ways, and each is settled here, around a kernel, so that kernels are written
once. Python's own floats raise where they are divided by zero, and NumPy's beside float32 stay in single precision: the literals of a kernel, its
constants and its numbers are float64. `math.exp` and `math.log` raise where compiled ones give inf and nan. NumPy warns of numbers that overflow.
Results are Python's own numbers. Lines and names stay those of the file, so that breakpoints hold.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from types import CellType, CodeType, FunctionType, SimpleNamespace
from typing import Any

import numpy as np

Function = Callable[..., Any]

VARIABLE = "FWDSL_JIT"
"""The variable of the environment that says whether kernels are compiled: 0 for no, 1 for yes."""

TURNS = 1 << 14
"""Turns of loops in uncompiled kernels between two looks at the clock: some milliseconds."""


@cache
def why_not_compiled() -> str | None:
    """The reason why kernels run as plain Python in this process, in words; None where they are compiled."""
    chosen = os.environ.get(VARIABLE, "").strip()
    if chosen == "0":
        return f"{VARIABLE} is 0"
    if sys.platform == "emscripten":
        return "nothing is compiled in a browser"
    if find_spec("numba") is None:
        return "numba is not installed"
    return None


class Uncompiled:
    """A kernel that runs as plain Python, called as a compiled one is; `py_func` is the function as it is written."""

    def __init__(self, fn: Function) -> None:
        self.py_func = fn
        self.run = _typed(fn)

    def __call__(self, *args: Any) -> Any:
        with np.errstate(all="ignore"):
            return _unboxed(self.run(*map(_boxed, args)))


_made: dict[Function, Function] = {}


def _typed(fn: Function) -> Function:
    """A copy of `fn` with float64 literals, and with the same of all plain functions and kernels that it calls by name."""
    if fn in _made:
        return _made[fn]
    assert isinstance(fn, FunctionType)
    names: dict[str, object] = dict(fn.__globals__)
    cells = tuple(CellType() for _ in fn.__closure__ or ()) or None
    copy = FunctionType(_with_wide_literals(fn.__code__), names, fn.__name__, _boxed(fn.__defaults__), cells)
    copy.__qualname__, copy.__module__ = fn.__qualname__, fn.__module__
    _made[fn] = copy  # before what it calls: it may call itself
    for cell, own in zip(cells or (), fn.__closure__ or (), strict=True):
        cell.cell_contents = _within(own.cell_contents)
    for name in fn.__code__.co_names:
        if name in names:
            names[name] = _within(names[name])
        elif name in _BUILTINS:
            names[name] = _BUILTINS[name]
    return copy


def _within(value: Any) -> Any:
    """The value that a kernel sees in place of one of its module or its closure."""
    inner = getattr(value, "py_func", value)  # of a kernel, compiled or not
    return _typed(inner) if isinstance(inner, FunctionType) else _boxed(value)


def _with_wide_literals(code: CodeType) -> CodeType:
    constants = (_with_wide_literals(c) if isinstance(c, CodeType) else _boxed(c) for c in code.co_consts)
    return code.replace(co_consts=tuple(constants))


def _boxed(value: Any) -> Any:
    """float64 in place of Python's floats, in tuples too; `math` as it is compiled; all else as it is."""
    if type(value) is float:
        return np.float64(value)
    if type(value) is tuple:
        return tuple(map(_boxed, value))
    return _MATH if value is math else value


def _unboxed(value: Any) -> Any:
    """Python's own numbers in place of NumPy's, in tuples too."""
    if isinstance(value, np.generic):
        return value.item()
    return tuple(map(_unboxed, value)) if type(value) is tuple else value


def _as_compiled(name: str) -> Function:
    """A function of `math` whose results are float64, and inf or nan where Python's raises."""
    quick, whole = getattr(math, name), getattr(np, name)

    def call(*args: Any) -> Any:
        try:
            return np.float64(quick(*args))
        except (ValueError, OverflowError):
            return whole(*args)

    return call


_OF_NUMPY = ("sqrt", "log", "log1p", "log10", "log2", "exp", "expm1", "copysign", "tanh", "sin", "cos", "fabs", "hypot")

_MATH = SimpleNamespace(
    **{
        **{name: _boxed(getattr(math, name)) for name in dir(math) if not name.startswith("_")},
        **{name: _as_compiled(name) for name in _OF_NUMPY},
    }
)
"""`math` with results and errors as compiled kernels have them."""


# --- the clock ------------------------------------------------------------------------------------------------------------

_hook: Callable[[], None] | None = None
_turns = 0


@contextmanager
def looking(hook: Callable[[], None]) -> Iterator[None]:
    """A context in which uncompiled kernels call `hook` every few milliseconds, which may raise to break one off."""
    global _hook
    previous, _hook = _hook, hook
    try:
        yield
    finally:
        _hook = previous


def _range(*bounds: Any) -> Any:
    """`range`, whose turns are counted: a kernel that takes a moment compiled may take minutes here."""
    global _turns
    found = range(*bounds)
    _turns += len(found)
    if _turns <= TURNS:
        return found
    _turns = 0
    if _hook is None:
        return found
    _hook()
    return found if len(found) <= TURNS else _watched(found)


def _watched(found: range) -> Iterator[int]:
    for start in range(0, len(found), TURNS):
        if _hook is not None:
            _hook()
        yield from found[start : start + TURNS]


_BUILTINS: dict[str, object] = {"range": _range, "float": np.float64}
