"""Opens sources, decompresses them by their suffix, and notes what goes wrong in the user's words."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from pathlib import Path
from typing import BinaryIO, NoReturn, Protocol, cast

from ..extras import EXTRAS, absence, install
from .findings import FileFindings
from .sources import COMPRESSIONS, compression, is_url

BLOCK = 1 << 20
_MAGIC = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00"}

XzError: type[Exception] = EOFError
"""The error of damaged .xz files; a Python built without `lzma`, as browsers have it, opens none."""

with suppress(ImportError):
    from lzma import LZMAError

    XzError = LZMAError

_BROKEN = (EOFError, zlib.error, XzError, gzip.BadGzipFile)


STDIN = "-"
"""The path of standard input, which is read once, whole."""

_input: list[bytes] = []


class Unreadable(Exception):
    """Reading cannot go on; the findings hold the reason. The exception never leaves this package."""


def need(extra: str, path: str, findings: FileFindings) -> None:
    """Load what reads a file; raise `Unreadable`, with the reason noted, where it is absent."""
    why = absence(extra)
    if why:
        lacking(extra, path, why, findings)


def lacking(extra: str, path: str, why: str, findings: FileFindings, hint: str = "") -> NoReturn:
    """Note that what reads a file does not serve, and how it is installed. Raises `Unreadable`."""
    code, rule, _ = EXTRAS[extra]
    findings.add(code, f"`{path}` cannot be read: {why}", rule=rule, hint=hint or install(extra))
    findings.lacks_reader = True
    raise Unreadable


@contextmanager
def opened(path: str, findings: FileFindings) -> Iterator[BinaryIO]:
    """The file's bytes, decompressed. Errors here and while reading are noted and raised as `Unreadable`."""
    if path == STDIN:
        yield _standard_input(findings)
        return
    check_readable(path, findings)
    try:
        with _open(path) as stream:
            yield stream
    except ModuleNotFoundError as error:
        if error.name not in ("bz2", "_bz2", "lzma", "_lzma"):
            raise
        findings.add(
            "FW4005",
            f"`{path}` cannot be decompressed here: this Python was built without `{error.name.lstrip('_')}`",
            rule="A compressed file must be complete and match its suffix.",
            hint="decompress it first, or compress it as .gz",
        )
        raise Unreadable from None
    except _BROKEN as error:
        findings.add(
            "FW4005",
            f"`{path}` is damaged or cut short: {_reason(error)}",
            rule="A compressed file must be complete and match its suffix.",
            hint="copy or download it again, or rename it if it is not compressed as its suffix says",
        )
        raise Unreadable from None
    except OSError as error:
        _denied(path, error, findings)
        raise Unreadable from None


def _standard_input(findings: FileFindings) -> BinaryIO:
    """The contents of standard input, again from their beginning."""
    if not _input:
        _input.append(sys.stdin.buffer.read())
    if not _input[0]:
        findings.add("FW4004", "standard input is empty", rule="A source holds at least one row.")
        raise Unreadable
    return io.BytesIO(_input[0])


def check_readable(path: str, findings: FileFindings) -> None:
    """Raise `Unreadable`, with the reason noted, unless `path` is a file that is not empty and fits its suffix. A URL is not asked for."""
    if path == STDIN or is_url(path):
        return
    file = Path(path)
    try:
        if file.is_dir():
            findings.add(
                "FW4002",
                f"`{path}` is a folder, where a file is needed",
                rule="A source is one file.",
                hint="name a file inside it",
            )
        elif not file.exists():
            _missing(file, path, findings)
        elif not file.is_file():
            findings.add("FW4002", f"`{path}` is not a regular file", rule="A source is one regular file.")
        elif file.stat().st_size == 0:
            findings.add("FW4004", f"`{path}` is empty", rule="A source holds at least one row.")
        else:
            _check_magic(path, findings)
    except (OSError, ValueError) as error:  # ValueError: a NUL byte in the path
        _denied(path, error, findings)
    if findings.failed:
        raise Unreadable


class Bytes(Protocol):
    """The part of a stream that bytes are read from."""

    def read(self, size: int, /) -> bytes:
        """The next bytes, so many at most; none at the end."""


class Limited:
    """So many bytes of a stream, from its place on."""

    def __init__(self, stream: BinaryIO, count: int) -> None:
        self._stream, self._left = stream, count

    def read(self, size: int, /) -> bytes:
        found = self._stream.read(min(size, self._left))
        self._left -= len(found)
        return found


def lines(stream: Bytes, block: int = BLOCK, *, amid: bool = False) -> Iterator[bytes]:
    """Chunks of whole lines, about `block` bytes each. The last one ends with a newline even where the file does not.

    A UTF-8 byte order mark is dropped. Where the first line ends with a carriage return alone, as on old Macs, all lines are
    taken to end so, and get newlines instead. Neither is so `amid` a file, some of whose lines these are.
    """
    rest: list[bytes] = []
    for data in iter(lambda: stream.read(block), b"") if amid else _with_newlines(stream, block):
        cut = data.rfind(b"\n") + 1
        if cut == 0:
            rest.append(data)
            continue
        yield b"".join((*rest, data[:cut]))
        rest = [data[cut:]] if cut < len(data) else []
    if rest:
        yield b"".join(rest) + b"\n"


def _with_newlines(stream: Bytes, block: int) -> Iterator[bytes]:
    data = stream.read(block)
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:] or stream.read(block)
    returns: bool | None = None
    while data:
        if returns is None and b"\r" in data:
            at = _first_return(data)
            if at == len(data) - 1 and (more := stream.read(block)):
                data += more
            returns = b"\n" not in data[: at + 2]
        elif returns is None and b"\n" in data:
            returns = False
        yield data.replace(b"\r", b"\n") if returns else data
        data = stream.read(block)


def _first_return(data: bytes) -> int:
    """The place of the first carriage return that does not stand in quotes; of the first where all do."""
    at = data.index(b"\r")
    first, quotes = at, data.count(b'"', 0, at)
    while quotes % 2:
        start, at = at + 1, data.find(b"\r", at + 1)
        if at < 0:
            return first
        quotes += data.count(b'"', start, at)
    return at


def _open(path: str) -> BinaryIO:
    match compression(path):
        case ".gz":
            return cast(BinaryIO, gzip.open(path, "rb"))
        case ".bz2":
            import bz2

            return cast(BinaryIO, bz2.open(path, "rb"))
        case ".xz":
            import lzma

            return cast(BinaryIO, lzma.open(path, "rb"))
        case _:
            return open(path, "rb")


def _check_magic(path: str, findings: FileFindings) -> None:
    suffix = compression(path)
    with open(path, "rb") as stream:
        head = stream.read(6)
    actual = next((s for s, magic in _MAGIC.items() if head.startswith(magic)), "")
    if actual == suffix:
        return
    if suffix:
        found = f"is not a {suffix} file" + (f" but a {actual} one" if actual else "")
        findings.add(
            "FW4005",
            f"`{path}` {found}",
            rule="A compressed file must be complete and match its suffix.",
            hint=f"rename it to end in {actual}" if actual else f"rename it without {suffix} if it is not compressed",
        )
    elif actual != ".bz2":  # `BZh` is also text, if unlikely
        findings.add(
            "FW4005",
            f"`{path}` is compressed, but its suffix does not say so",
            rule="A compressed file must be complete and match its suffix.",
            hint=f"rename it to `{path}{actual}`",
        )


def _missing(file: Path, path: str, findings: FileFindings) -> None:
    folder = file.parent
    if not folder.is_dir():
        findings.add(
            "FW4001",
            f"`{path}` does not exist: there is no folder `{folder}`",
            rule="Paths in a program are relative to its file, those on the command line to the current folder.",
            hint="check the path",
        )
        return
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        names = []
    stem = _stem(file.name)
    similar = [n for n in names if _stem(n) == stem] or get_close_matches(file.name, names, n=3, cutoff=0.75)
    written = [str(Path(path).with_name(n)) for n in similar[:3]]
    findings.add(
        "FW4001",
        f"`{path}` does not exist",
        rule="Paths in a program are relative to its file, those on the command line to the current folder.",
        hint=f"did you mean {' or '.join(f'`{w}`' for w in written)}?" if written else "check the path",
    )


def _stem(name: str) -> str:
    """The name without its suffix of compression: `a9a.svm` and `a9a.svm.gz` are easily confused."""
    return next((name[: -len(s)] for s in COMPRESSIONS if name.lower().endswith(s)), name).lower()


def _denied(path: str, error: OSError | ValueError, findings: FileFindings) -> None:
    findings.add(
        "FW4003",
        f"`{path}` cannot be read: {_reason(error)}",
        rule="A source must be a file that may be read.",
        hint="check the file's permissions" if isinstance(error, PermissionError) else "",
    )


def _reason(error: Exception) -> str:
    if isinstance(error, EOFError):
        return "the compressed data end too early"
    text = (error.strerror if isinstance(error, OSError) and error.strerror else str(error)) or "unknown reason"
    return text[0].lower() + text[1:].rstrip(".")
