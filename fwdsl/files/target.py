"""Writing files whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
import signal
import stat
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from ..grammar.diagnostic import Diagnostic, Place

SUFFIX = ".npz"
"""The suffix of files of arrays by name."""


FULL = (errno.ENOSPC, errno.EDQUOT)
"""The errors of a disk, or a share of one, that is full."""


MODEL = ".onnx"
"""The suffix of models that are exported."""

_WRITTEN = {SUFFIX: "arrays by name, in a file", MODEL: "an ONNX model, in a file"}


def wrong_suffix(name: str, way: str, suffix: str = SUFFIX) -> Diagnostic | None:
    """The diagnostic where a file is named as one of something else; `way` is what writes it: `--out`, or `save` of Python."""
    path = Path(name)
    if path.suffix.lower() == suffix:
        return None
    better = path.with_suffix(suffix) if path.name else f"fit{suffix}"
    rule = f"`{way}` writes {_WRITTEN[suffix]} that ends in `{suffix}`."
    hint = f"write `{way} {better}`" if way.startswith("-") else f'write `{way}("{better}")`'
    return Diagnostic("FW0028", f"`{name}` does not end in `{suffix}`", rule=rule, hint=hint)


def target_of(name: str | Path) -> Path:
    """The file that writing under this name makes or replaces, through links; `OSError` where something stands there that is no regular file.

    A file that is written whole is moved into place, which would put it where a device or a pipe was.
    """
    if not os.fspath(name):
        raise OSError(errno.EINVAL, "its path is empty", "")
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(name))
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(name))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, f"it is {_kind(mode)}, not a file", str(name))
    return Path(os.path.realpath(name))


def unwritable(name: str, reason: str | OSError, spare: str = "") -> Diagnostic:
    """The diagnostic for a file that cannot be written; `spare` is the file that was written in its place."""
    hint = "name a file in a folder of yours"
    if isinstance(reason, OSError):
        if reason.errno in FULL:
            hint = "make room, or name a file on another disk"
        text = reason.strerror or "writing failed"
        reason = text[0].lower() + text[1:]
    if spare:
        hint = f"`{spare}` was written in its place: move it to where there is room for it"
    return Diagnostic("FW0013", f"`{name}` cannot be written: {reason}", place=Place(name), hint=hint)


def write_atomically(name: str, write: Callable[[IO[bytes]], None]) -> None:
    """Write a file whole or not at all, keeping the mode of one that is there; `OSError` if it fails, or where what stands there is no file."""
    path = target_of(name)
    with _undisturbed():
        _write(path, write)


def write_text(name: str, text: str) -> None:
    """Write a text in UTF-8 whole or not at all, as `write_atomically` does."""

    def write(stream: IO[bytes]) -> None:
        stream.write(text.encode())

    write_atomically(name, write)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A context in which signals that would end the process on the spot wait, so that no half of a file is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    ending = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    previous = {each: signal.signal(each, lambda number, _: came.append(number)) for each in ending}
    try:
        yield
    finally:
        for each, handler in previous.items():
            signal.signal(each, handler or signal.SIG_DFL)
        for number in came:
            signal.raise_signal(number)


def _write(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    # its name is known before it is there: an interruption just after leaves nothing behind
    temporary = path.parent / f".fwdsl-{secrets.token_hex(6)}"
    try:
        with open(temporary, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as stream:
            write(stream)
        if path.exists():
            os.chmod(temporary, path.stat().st_mode & 0o7777)
        else:
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _kind(mode: int) -> str:
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return "a device"
    return "a pipe" if stat.S_ISFIFO(mode) else "a socket"
