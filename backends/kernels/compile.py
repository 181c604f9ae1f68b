"""Compiling kernels with numba, on demand, and keeping the machine code between processes; where nothing is compiled, running them as they are.

The one place that applies `njit`: atoms and matrix kernels are plain functions over arrays and numbers elsewhere. The folder that kernels
are kept in carries a stamp of all kernel sources, as one may be compiled into another; `cache` says where it is, `kept` how they are kept.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

from fwdsl.atoms.loss import is_plain
from fwdsl.backends.kernels.uncompiled import VARIABLE, Uncompiled, why_not_compiled
from fwdsl.collector import still_collector

log = logging.getLogger("fwdsl.kernels")

Function = Callable[..., Any]

_SOURCES = Path(__file__).parents[2]

LONGEST_NAME = 120
"""Characters of the names of linked kernels that are written out; longer ones are hashed."""

_FAST_MATH: dict[str, set[str] | bool] = {
    "": False,
    "fused": {"contract"},
    "reordered": {"reassoc", "nsz", "contract"},
}
"""The freedom that LLVM has with sums and products, by the suffix of the names of kernels compiled with it."""

_lock = threading.RLock()
_dispatchers: dict[tuple[Function, str], Function] = {}
_names: dict[int, str] = {}
_compiled: list[str] = []
_hook: Callable[[str], None] | None = None


class _Stopwatch:
    """Adds up the time between the first `start` and the last `stop` of those within each other: a kernel compiles those that it calls."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._depth = 0
        self._since = 0.0
        self._total = 0.0

    def start(self) -> None:
        with self._lock:
            if self._depth == 0:
                self._since = time.perf_counter()
            self._depth += 1

    def stop(self) -> None:
        with self._lock:
            if self._depth == 1:
                self._total += time.perf_counter() - self._since
            self._depth -= 1

    @property
    def runs(self) -> bool:
        """True if something is under way: asked by handlers of signals, which must not wait for the lock."""
        return self._depth > 0

    def seconds(self) -> float:
        """The seconds so far, what is under way included."""
        if not self._depth:
            return self._total  # `stop` adds to it first; clocks of runs ask this several times a step
        with self._lock:
            return self._total + (time.perf_counter() - self._since if self._depth else 0.0)


_compiling = _Stopwatch()
_waiting = _Stopwatch()


def compile_seconds() -> float:
    """Seconds that this process has spent on compiling kernels that were not in the cache."""
    return _compiling.seconds()


def kernel_seconds() -> float:
    """Seconds that this process has spent on having kernels at all: on importing numba, and on compiling them or loading them from the cache."""
    return _waiting.seconds()


def is_compiling() -> bool:
    """True if a kernel is being compiled or loaded: LLVM calls back into Python then, where an exception would be told and forgotten."""
    return _waiting.runs


def kernel(
    fn: Function, *, reorder: bool = False, fuse: bool = False, parts: tuple[str, ...] = (), **uses: Function
) -> Function:
    """The compiled version of an undecorated kernel; one for each way of rounding, and each signature compiled at its first call. Where nothing
    is compiled (`why_not_compiled`) it is the kernel itself, with the same arithmetic, whatever way of rounding is asked for.

    With `fuse` products may be fused with sums, with `reorder` sums may be added up in another, fixed order besides. `uses` are kernels, or
    what numba calls intrinsic, that `fn` calls by the names given, which need not exist in its module: one loop over samples serves every
    loss, `kernel(epoch, derivative=loss.value_gradient_loop)`. Kernels among them that are not compiled yet are compiled with neither. Those named
    in `parts` (formulas of a loss), and plain functions that `fn` calls without naming them here, are parts of it. A reference that stands for
    a kernel (`atoms.loss.is_plain`) is handed through, and no compiled kernel can call it: a method that links kernels says so before.
    """
    rounding = "reordered" if reorder else "fused" if fuse else ""
    if not uses and (known := _dispatchers.get((fn, rounding))) is not None:
        return known
    if is_plain(fn):
        return fn
    if uses:
        fn = _linked(fn, tuple(sorted(uses.items())), parts)
    return _dispatchers.get((fn, rounding)) or _decorate(fn, rounding)


@cache
def _linked(fn: Function, uses: tuple[tuple[str, Function], ...], parts: tuple[str, ...]) -> Function:
    """A copy of `fn` that sees compiled kernels under the names it calls; its own name says which, for numba's cache knows it by that."""
    if plain := [name for name, inner in uses if is_plain(inner)]:
        raise TypeError(f"{fn.__name__} cannot be compiled: {', '.join(plain)} is no kernel")
    kernels = {name for name, inner in uses if isinstance(inner, FunctionType) and name not in parts}
    linked = {name: kernel(inner) if name in kernels else inner for name, inner in uses}
    names = {**fn.__globals__, **linked}
    label = "-".join(f"{name}-{getattr(inner, '__qualname__', '')}" for name, inner in uses)
    # the name becomes that of a file, which may have 255 bytes
    short = label if len(label) <= LONGEST_NAME else hashlib.sha1(label.encode()).hexdigest()
    return _copied(fn, names, short)


def _copied(fn: Function, names: dict[str, object], mark: str = "") -> Function:
    """A copy of `fn` that sees these globals, perhaps with a mark in its name."""
    copy = FunctionType(fn.__code__, names, fn.__name__, fn.__defaults__, fn.__closure__)
    copy.__qualname__ = f"{fn.__qualname__}-{mark}" if mark else fn.__qualname__
    copy.__module__ = fn.__module__
    return copy


def _files(fn: Any, visited: set[object]) -> set[str]:
    """The files of a kernel and of all that it calls."""
    fn = getattr(fn, "py_func", fn)
    if not isinstance(fn, FunctionType) or fn in visited:
        return set()
    visited.add(fn)
    called = (fn.__globals__.get(name) for name in fn.__code__.co_names)
    return {fn.__code__.co_filename}.union(*(_files(inner, visited) for inner in called))


def _is_kept(fn: Function) -> bool:
    """True if changing a kernel throws away what was kept of it: all of it is in its own file, or in our sources, which stamp the folder."""
    own = Path(fn.__code__.co_filename)
    others = map(Path, _files(fn, set()))
    return own.is_file() and all(path == own or path.is_relative_to(_SOURCES) for path in others)


def compiled_signatures() -> list[str]:
    """The kernels that this process compiled because they were not in the cache: `logistic.value(array(float64, 1d, C), ...)`."""
    return list(_compiled)


def loaded_signatures() -> list[str]:
    """The kernels that this process loaded from the cache, in no particular order."""
    with _lock:
        known: list[Any] = [d for d in _dispatchers.values() if not isinstance(d, Uncompiled)]
    return [
        f"{_names[id(d)]}({', '.join(map(str, signature))})"
        for d in known
        for signature in d.stats.cache_hits.elements()
    ]


@contextmanager
def on_compile(hook: Callable[[str], None]) -> Iterator[None]:
    """A context in which `hook(name)` is called before each compilation that is not in the cache."""
    global _hook
    previous, _hook = _hook, hook
    try:
        yield
    finally:
        _hook = previous


def _decorate(fn: Function, rounding: str) -> Function:
    with _lock:
        if (found := _dispatchers.get((fn, rounding))) is not None:
            return found
        if (why := why_not_compiled()) is not None:
            _tell_once(why)
            _dispatchers[fn, rounding] = uncompiled = Uncompiled(fn)
            return uncompiled
        _waiting.start()
        try:
            with still_collector():
                import numba  # noqa: F401

                from fwdsl.backends.kernels.cache import kernel_folder
        finally:
            _waiting.stop()

        if not _dispatchers:
            _listen()
        # what is kept in files is told apart by its name
        named = _calling(_copied(fn, fn.__globals__, rounding) if rounding else fn, rounding)
        dispatcher: Any = _jit(named, rounding)
        if _is_kept(named) and (folder := kernel_folder()) is not None:
            from fwdsl.backends.kernels.kept import Kept

            dispatcher._cache = Kept(named, folder)  # where its own `enable_caching` would put one of numba's
        compiled: Function = dispatcher
        _names[id(compiled)] = _name(fn)
        _dispatchers[fn, rounding] = compiled
        return compiled


@cache
def _tell_once(why: str) -> None:
    """Say that kernels are not compiled, where nobody asked for that."""
    if VARIABLE not in os.environ and sys.platform != "emscripten":
        log.warning("kernels run as plain Python, hundreds of times slower: %s (pip install numba)", why)


def _jit(fn: Function, rounding: str, **options: str) -> Any:
    import numba

    from fwdsl.backends.kernels.short import ShortCompiler

    # nobody calls a kernel from C, for which numba would compile one more entry
    fixed = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "pipeline_class": ShortCompiler}
    return numba.njit(fastmath=_FAST_MATH[rounding], **fixed, **options)(fn)


def _calling(fn: Function, rounding: str) -> Function:
    """`fn` itself, or a copy that sees the plain functions of its module that it calls compiled as it is: parts of a kernel, which LLVM inlines."""
    called = {name: fn.__globals__.get(name) for name in fn.__code__.co_names}
    parts = {name: _part(part, rounding) for name, part in called.items() if isinstance(part, FunctionType)}
    return _copied(fn, {**fn.__globals__, **parts}) if parts else fn


@cache
def _part(fn: Function, rounding: str) -> Any:
    # a copy of it at each call takes less time than compiling it by itself
    return _jit(_calling(fn, rounding), rounding, inline="always")


def _name(fn: Function) -> str:
    """`logistic.value` for the method of an atom, `matrix.csr_matvec` for a function."""
    return f"{Path(fn.__code__.co_filename).stem}.{fn.__name__}"


def _listen() -> None:
    """Have numba tell us of compilations; it does so only where the cache had nothing."""
    from numba.core import event

    class Announcer(event.Listener):
        def on_start(self, event: Any) -> None:
            name = _names.get(id(event.data["dispatcher"]))
            if name is None:
                return
            _compiling.start()
            _compiled.append(f"{name}({', '.join(map(str, event.data['args']))})")
            if _hook is not None:
                _hook(name)

        def on_end(self, event: Any) -> None:
            if id(event.data["dispatcher"]) in _names:
                _compiling.stop()

    class Waiter(event.Listener):
        """Keeps the time, and the collector still, while a thread holds the lock under which numba compiles and loads."""

        def __init__(self) -> None:
            self._contexts: list[AbstractContextManager[None]] = []

        def on_start(self, event: object) -> None:
            _waiting.start()
            self._contexts.append(still_collector())
            self._contexts[-1].__enter__()

        def on_end(self, event: object) -> None:
            self._contexts.pop().__exit__(None, None, None)
            _waiting.stop()

    event.register("numba:compile", Announcer())
    event.register("numba:compiler_lock", Waiter())
