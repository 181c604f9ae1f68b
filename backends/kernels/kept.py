"""Keeping compiled kernels in files: each sealed by a checksum, which is verified before anything in it is used.

numba's own cache trusts what it finds: a file cut short raises where a kernel is first called, and a flipped bit in machine code runs. Here a
file that does not fit its checksum, or does not load, is dropped, and the kernel is compiled and kept again.
"""

from __future__ import annotations

import contextlib
import logging
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from fwdsl.backends.kernels.cache import PART, is_ours

log = logging.getLogger("fwdsl.kernels")

_MAGIC = b"fwdsl kernel 1\n"
_DIGEST = sha256().digest_size
_told: set[str] = set()


class Kept:
    """The cache of one kernel, with the interface that numba's dispatchers ask theirs by; a file for each signature."""

    def __init__(self, fn: Callable[..., Any], folder: Path) -> None:
        code = fn.__code__
        self._folder = folder
        source = Path(code.co_filename)
        self._name = f"{source.stem}.{fn.__qualname__}-{code.co_firstlineno}".replace("<", "").replace(">", "")
        digest = sha256(_content_digest(source) + str(source).encode())
        for part in _parts(fn, set()):
            digest.update(part)
        self._stamp = digest.hexdigest()

    @property
    def cache_path(self) -> str:
        """The folder that the kernel is kept in, by numba's name for it."""
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code kept for this signature; None where there is none, or none that is sound."""
        from numba.core.compiler import CompileResult
        from numba.core.runtime import rtsys

        # Of what numba prepares for compiling (`refresh`, which loads SciPy's BLAS), machine code needs its runtime's symbols alone.
        rtsys.initialize(target_context)
        path, key = self._place(sig, target_context.codegen())
        try:
            body = _unsealed(path)
            if body is None:
                return None
            # the checksum tells damage; that nobody else could write it was seen when it was opened
            found, payload = pickle.loads(body)  # noqa: S301
            return CompileResult._rebuild(target_context, *payload) if found == key else None
        except Exception as error:
            log.debug("%s does not load", path, exc_info=error)
            why = "could be written by others" if isinstance(error, _WritableByOthers) else "was damaged"
            _once(why, f"a compiled kernel kept in %s {why}: it is compiled again", self._folder)
            _drop(path)
            return None

    def save_overload(self, sig: Any, result: Any) -> None:
        """Keep what was compiled for this signature; where that fails, say so once and go on without."""
        from numba.core.serialize import dumps

        if any(not lifted.can_cache for lifted in result.lifted) or result.library.has_dynamic_globals:
            return
        path, key = self._place(sig, result.codegen)
        body = dumps((key, result._reduce()))
        try:
            write_whole(path, _MAGIC + sha256(body).digest() + body)
        except OSError as error:
            reason = (error.strerror or "writing failed").lower()
            _once("unwritten", "compiled kernels cannot be kept in %s: %s", self._folder, reason)

    def enable(self) -> None:
        """numba's switch: it changes nothing, as what is kept is always used."""

    def disable(self) -> None:
        """numba's switch: it changes nothing, as what is kept is always used."""

    def flush(self) -> None:
        """Forget what is kept of this kernel."""
        for path in self._folder.glob(f"{self._name}-*.kernel"):
            _drop(path)

    def _place(self, sig: Any, codegen: Any) -> tuple[Path, tuple[str, ...]]:
        """The file for a signature on this processor, and the key that it must hold: its name has a part of that only."""
        key = (str(sig), repr(codegen.magic_tuple()), self._stamp)
        mark = sha256("\n".join(key).encode()).hexdigest()[:16]
        return self._folder / f"{self._name}-{mark}.kernel", key


def _parts(fn: Any, visited: set[object]) -> Iterator[bytes]:
    """Yield what a kernel computes beside the text of its file: code, values of its closure and of its module, and the same of all that it calls."""
    from numba.core.serialize import dumps

    if fn in visited:
        return
    visited.add(fn)
    cells = tuple(cell.cell_contents for cell in fn.__closure__ or ())
    yield from _codes(fn.__code__)
    yield dumps(tuple(cell for cell in cells if not _called(cell)))
    named = ((name, fn.__globals__.get(name)) for name in fn.__code__.co_names)
    for name, value in (*named, *(("", cell) for cell in cells)):
        if inner := _called(value):
            yield from _parts(inner, visited)
        elif isinstance(value, np.ndarray):
            yield f"{name} {value.dtype} {value.shape}".encode() + value.tobytes()
        elif isinstance(value, int | float | complex | str | tuple):
            yield f"{name} {value!r}".encode()


def _called(value: object) -> FunctionType | None:
    """The function itself, or that of a compiled kernel; None for all other values."""
    value = getattr(value, "py_func", value)
    return value if isinstance(value, FunctionType) else None


def _codes(code: CodeType) -> Iterator[bytes]:
    """The instructions and constants of a function and of those that it defines."""
    yield code.co_code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)
        else:
            yield repr(constant).encode()


@cache
def _content_digest(path: Path) -> bytes:
    return sha256(path.read_bytes()).digest()


class _WritableByOthers(Exception):
    """A file that somebody else may have written."""


def _unsealed(path: Path) -> bytes | None:
    """The content of a sealed file, None where there is no file.

    `_WritableByOthers`, `ValueError` where the seal is broken, `OSError` where it cannot be read.
    """
    try:
        with path.open("rb") as file:
            if not is_ours(os.fstat(file.fileno())):
                raise _WritableByOthers
            content = file.read()
    except FileNotFoundError:
        return None
    start = len(_MAGIC) + _DIGEST
    body = content[start:]
    if content[: len(_MAGIC)] != _MAGIC or sha256(body).digest() != content[len(_MAGIC) : start]:
        raise ValueError("the checksum does not fit")
    return body


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all; only its owner may read it."""
    handle, part = tempfile.mkstemp(dir=path.parent, prefix=PART)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(part, path)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


def _drop(path: Path) -> None:
    """Remove what stands where a kernel is kept, be it a folder."""
    with contextlib.suppress(OSError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _once(what: str, message: str, *args: object) -> None:
    if what not in _told:
        _told.add(what)
        log.warning(message, *args)
