"""Pulls files from URLs by fsspec (extra `remote`) into a temporary folder, where they are read as any others.

The folder is in that for temporary files (`TMPDIR`) and is removed as soon as the files are read. Who wants to keep copies writes it into the URL,
as fsspec has it: `filecache::https://host/a.csv`.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, Literal, NoReturn

from ..diagnostics.secrets import masked
from ..extras import install
from ..grammar.diagnostic import Diagnostic
from ..words.sources import SourceWord
from .files import Unreadable, lacking, need
from .findings import FileFindings
from .sources import file_part, has_suffix, is_web

log = logging.getLogger("fwdsl.readers")

SILENCE = 60.0
"""Seconds without a byte after which a server of HTTP is given up."""

AT_ONCE = 16
"""Files that are pulled at a time."""

LONGEST = 100
"""Characters of a local name; those of a URL may be more than a folder takes."""

_INSTALL = {"smbclient": "smbprotocol", "git": "pygit2", "libarchive": "libarchive-c"}
"""The names to install of modules that are called otherwise."""

_WEB = frozenset({"http", "https"})

_RUNNING = frozenset({"reference"})
"""File systems of fsspec whose files may hold templates, which are run: a program that only names data must not lead there."""

_RULE = "A URL is read by fsspec, as the user that runs fwdsl."


@dataclass(frozen=True)
class Copy:
    """A local copy of what a URL stands for: its path as a reader takes it, and what is known of each file.

    `files` have their `url`, `size` in bytes, and where the server tells them `etag` and `modified`: by these it can be seen whether a later
    answer was found on the same data. `names` has local paths and the URLs that they stand for.
    """

    path: str
    files: tuple[Mapping[str, object], ...]
    names: tuple[tuple[str, str], ...]

    def of_url(self, found: Diagnostic) -> Diagnostic:
        """A finding about the copy, told of the URL."""
        place = found.place and replace(found.place, file=self._told(found.place.file))
        return replace(
            found,
            message=self._told(found.message),
            rule=self._told(found.rule),
            hint=self._told(found.hint),
            place=place,
        )

    def _told(self, text: str) -> str:
        for local, url in self.names:
            text = text.replace(local, url)
        return text


@contextmanager
def copied(url: str, word: SourceWord, findings: FileFindings) -> Iterator[Copy]:
    """Pull the file of a URL, or the files of a folder or a pattern, for as long as the context lasts.

    Raises `Unreadable`, with the reason noted, where a driver is missing or the files cannot be had whole.
    """
    fs, path = _opened(url, findings)
    with _noted(findings):
        # a driver may remember listings from earlier in this process
        fs.invalidate_cache()
        root, names = _listed(fs, path, url, word)
    if names is not None and not names:
        findings.add(
            "FW4002",
            f"no file matches `{findings.file}`"
            if _is_pattern(path, url)
            else f"`{findings.file}` has no file to read",
            rule="A folder or a pattern stands for all its files, one at least.",
            hint="check the URL",
        )
        raise Unreadable
    with tempfile.TemporaryDirectory(prefix="fwdsl-", ignore_cleanup_errors=True) as folder:
        if names is None:
            local = os.path.join(folder, PurePosixPath(file_part(path)).name[-LONGEST:] or "data")
            yield Copy(local, _pull(fs, [_File(path, local, findings.file)], findings), ((local, findings.file),))
            return
        rest = path[len(root) :]
        base = findings.file.removesuffix(rest) if rest else f"{findings.file.rstrip('/')}/"
        ends = [name[len(root) :] for name in names]
        wanted = [
            _File(name, _inside(folder, end, findings), base + end) for name, end in zip(names, ends, strict=True)
        ]
        files = _pull(fs, wanted, findings)
        local = os.path.join(folder, rest)
        yield Copy(local, files, ((local, findings.file), (folder + os.sep, base)))


def check_reachable(url: str, word: SourceWord, findings: FileFindings) -> None:
    """Raise `Unreadable`, with the reason noted, unless the file of a URL can be asked for, or the folder of several be listed. Nothing is pulled."""
    fs, path = _opened(url, findings)
    with _noted(findings):
        fs.invalidate_cache()
        _, names = _listed(fs, path, url, word)
    if names is None:
        _each(fs, "info", [_File(path, "", findings.file)], findings)


# --- the files of a URL ----------------------------------------------------------------------------------------------


def _opened(url: str, findings: FileFindings) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    need("remote", findings.file, findings)
    from fsspec.core import url_to_fs

    parts = [(name.lower(), colon, rest) for name, colon, rest in (part.partition("://") for part in url.split("::"))]
    url = "::".join("".join(part) for part in parts)
    protocols = [part[0] for part in parts]
    for name in _RUNNING.intersection(protocols):
        _no_driver(findings, f"`{name}` is not taken, as its files may hold code", "name the files that it leads to")
    try:
        with _noted(findings, ImportError, ValueError):
            fs, path = url_to_fs(url, **{p: _patience() for p in protocols if p in _WEB})
    except ImportError as error:
        missing = getattr(error.__cause__, "name", None) or getattr(error, "name", None) or str(error)
        missing = missing.partition(".")[0]
        web = not _WEB.isdisjoint(protocols)
        hint = install("remote") if web else f"pip install {_INSTALL.get(missing, missing)}"
        _no_driver(findings, f"its driver {missing} is not installed", hint)
    except ValueError as error:
        if "rotocol not known" not in str(error):
            _failed(findings, error)
        _no_driver(findings, f"fsspec knows no `{url.partition('://')[0]}://`", "check the beginning of the URL")
    return fs, str(path)


def _patience() -> dict[str, object]:
    """Options of HTTP, unless fsspec is configured: large files take as long as they take, and proxies are those of the environment."""
    from fsspec.config import conf

    try:
        from aiohttp import ClientTimeout
    except ImportError:  # which is told where the driver is loaded
        return {}
    if any("client_kwargs" in conf.get(protocol, {}) for protocol in _WEB):
        return {}
    timeout = ClientTimeout(total=None, sock_connect=SILENCE, sock_read=SILENCE)
    return {"client_kwargs": {"timeout": timeout, "trust_env": True}}


def _listed(fs: Any, path: str, url: str, word: SourceWord) -> tuple[str, list[str] | None]:
    """The folder of a pattern or a folder, and its files, sorted; None for the path of one file."""
    if _is_pattern(path, url):
        first = min(path.index(c) for c in _magic(url) if c in path)
        return path[: path.rindex("/", 0, first) + 1], sorted(map(str, fs.glob(path)))
    if is_web(url):  # whether a page is a folder, only its end tells
        if not path.endswith("/"):
            return path, None
        # links of a page that lead out of its folder are none of its files
        found = [link for link in fs.find(path, maxdepth=1) if link.startswith(path) and "/../" not in link]
    elif fs.isdir(path):
        found = fs.find(path)
    else:
        return path, None
    every = sorted(map(str, found))
    # a folder with a suffix is one source of many files
    whole = has_suffix(path.rstrip("/"), word.suffixes)
    root = path.rstrip("/")
    return f"{root}/", every if whole else [name for name in every if has_suffix(name, word.suffixes)]


def _is_pattern(path: str, url: str) -> bool:
    return any(c in path for c in _magic(url))


def _magic(url: str) -> str:
    """The characters that make a pattern: in a URL of HTTP `?` begins a query, and brackets may belong to it."""
    return "*" if is_web(url) else "*?["


def _inside(folder: str, name: str, findings: FileFindings) -> str:
    """The local path of a remote file. A name cannot lead out of the folder."""
    parts = PurePosixPath(file_part(name)).parts
    if not parts or ".." in parts or PurePosixPath(name).is_absolute():
        findings.add("FW4081", f"`{findings.file}` has a file of the name `{name}`", rule=_RULE, hint="rename it")
        raise Unreadable
    local = os.path.join(folder, *parts)
    os.makedirs(os.path.dirname(local), exist_ok=True)
    return local


@dataclass(frozen=True)
class _File:
    """A file to pull: its path in the file system, where it goes, and its URL for messages."""

    path: str
    local: str
    url: str


def _pull(fs: Any, files: Sequence[_File], findings: FileFindings) -> tuple[Mapping[str, object], ...]:
    """Copy files, and tell what is known of each."""
    infos = _each(fs, "info", files, findings)
    sizes = [info.get("size") for info in infos]
    _require_room(sum(size for size in sizes if isinstance(size, int)), files[0].local, findings)
    for file, size in zip(files, sizes, strict=True):
        told = f"{size:,} bytes" if isinstance(size, int) else "of unknown size"
        log.info("%s, %s, is pulled to %s", file.url, told, file.local)
    _each(fs, "get_file", files, findings)
    marks = []
    for file, info, size in zip(files, infos, sizes, strict=True):
        held = os.path.getsize(file.local)
        if isinstance(size, int) and held < size:
            _cut_short(findings, file.url, f"{held:,} of {size:,} bytes came")
        marks.append({"url": file.url, "size": held, **_mark(info)})
    return tuple(marks)


def _each(fs: Any, method: Literal["info", "get_file"], files: Sequence[_File], findings: FileFindings) -> list[Any]:
    """The results of a method for all files, several at a time where the driver can. The first failure is noted."""
    from fsspec.asyn import AsyncFileSystem

    if not _keeps_copies(fs) and isinstance(fs, AsyncFileSystem):
        return _at_once(fs, method, files, findings)
    found = []
    for file in files:
        with _noted(findings, url=file.url):
            if method == "info":
                found.append(fs.info(file.path))
            elif _keeps_copies(fs):
                with fs.open(file.path, "rb") as stream, open(file.local, "wb") as target:
                    shutil.copyfileobj(stream, target, 1 << 20)
            else:
                fs.get_file(file.path, file.local)
    return found


def _at_once(fs: Any, method: str, files: Sequence[_File], findings: FileFindings) -> list[Any]:
    """The same in fsspec's own thread. Ctrl-C ends what runs there too, which would complain at the end of the process."""
    import asyncio
    from concurrent.futures import wait

    async def every() -> list[Any]:
        free = asyncio.Semaphore(AT_ONCE)

        async def one(file: _File) -> Any:
            async with free:
                arguments = (file.path,) if method == "info" else (file.path, file.local)
                return await getattr(fs, f"_{method}")(*arguments)

        return await asyncio.gather(*map(one, files), return_exceptions=True)

    future = asyncio.run_coroutine_threadsafe(every(), fs.loop)
    try:
        while not wait([future], timeout=1.0).done:
            pass  # to wait without an end could not be interrupted on Windows
    except BaseException:
        future.cancel()
        raise
    found = future.result()
    for file, result in zip(files, found, strict=True):
        if isinstance(result, BaseException):
            with _noted(findings, url=file.url):
                raise result
    return found


def _keeps_copies(fs: Any) -> bool:
    """True of fsspec's own caches, which keep what is opened, not what is copied."""
    return "cache" in str(getattr(fs, "protocol", ""))


def _mark(info: Mapping[str, Any]) -> dict[str, object]:
    """The etag of a file and the time of its last change, as far as the server tells them."""
    found: dict[str, object] = {}
    etag = next((info[key] for key in ("ETag", "etag", "e_tag") if info.get(key)), None)
    if etag is not None:
        found["etag"] = str(etag).strip('"')
    times = ("LastModified", "Last-Modified", "last_modified", "updated", "mtime", "modified", "created")
    time = next((info[key] for key in times if info.get(key)), None)
    if time is not None:
        found["modified"] = time.isoformat() if hasattr(time, "isoformat") else time
    return found


def _require_room(size: int, local: str, findings: FileFindings) -> None:
    """Refuse files that the temporary folder has no room for, before any of them is pulled."""
    if size > shutil.disk_usage(os.path.dirname(local)).free:
        _no_room(findings, findings.file, f"{size:,} bytes")


# --- what goes wrong -------------------------------------------------------------------------------------------------


@contextmanager
def _noted(findings: FileFindings, *others: type[Exception], url: str = "") -> Iterator[None]:
    """Note whatever a driver raises; `others` pass. Drivers have exceptions of many libraries, which have no base in common."""
    passing: tuple[type[Exception], ...] = (*others, Unreadable, MemoryError)
    try:
        yield
    except passing:
        raise
    except Exception as error:
        _failed(findings, error, url)


def _failed(findings: FileFindings, error: Exception, url: str = "") -> NoReturn:
    """Note why a file cannot be had, by the first cause that tells it."""
    url = url or findings.file
    causes = list(_causes(error))
    if any(getattr(e, "errno", None) == errno.ENOSPC for e in causes):
        _no_room(findings, url, "it")
    if any(type(e).__name__ in ("ClientPayloadError", "IncompleteRead") for e in causes):
        _cut_short(findings, url, "the connection ended before the file did")
    # fsspec tells of whatever fails to connect that the file is not there
    reasons = [_reason(e) for e in causes if e is causes[0] or not isinstance(e, FileNotFoundError)]
    why, hint = next(filter(None, reasons), None) or (_first_line(causes[0]), "")
    findings.add("FW4081", f"`{url}` cannot be read: {why}", rule=_RULE, hint=hint)
    raise Unreadable from None


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The causes of an error, the first one first."""
    if error is not None:
        yield from _causes(error.__cause__ or (None if error.__suppress_context__ else error.__context__))
        yield error


def _reason(error: BaseException) -> tuple[str, str] | None:
    """The reason in words, and what helps; None where the error does not tell it."""
    if type(error).__name__ == "TooManyRedirects":
        return "the server leads from one address to the next without an end", "check the URL"
    classes = {c.__name__ for c in type(error).__mro__}
    if "NonHttpUrlClientError" in classes or "NonHttpUrlRedirectClientError" in classes:
        return "the server leads to an address that is not of the web", "check the URL"
    if "InvalidURL" in classes:
        return "it is no whole address: a host is missing, or not one", "write `https://HOST/PATH`"
    status = getattr(error, "status", None)
    rights = "give the credentials as fsspec's driver takes them: its environment variables or files of settings"
    if isinstance(status, int):
        said = str(getattr(error, "message", "")).strip()
        if "\n" in said:  # aiohttp quotes what it cannot read
            return f"what the server sends is not what it announced ({_short(said)})", "try again later"
        told = f"the server answers {status} {said}".rstrip()
        if status in (401, 403):
            return told, "check the URL; a signed one may have expired"
        return told, "check the URL" if status in (404, 410) else "try again later" if status >= 500 else ""
    number = getattr(error, "errno", None)
    if isinstance(error, ConnectionRefusedError) or number == errno.ECONNREFUSED:
        return "the connection is refused", "check the host and the port"
    if isinstance(error, socket.gaierror):
        return "there is no host of this name, or no network", "check the host"
    if isinstance(error, TimeoutError):
        return f"no byte came for {SILENCE:g} s", "try again later, or pull the file by other means"
    if isinstance(error, PermissionError) or type(error).__name__ in ("NoCredentialsError", "RefreshError"):
        return "permission is denied", rights
    if isinstance(error, FileNotFoundError):
        return "it does not exist", "check the URL"
    if isinstance(error, ConnectionError) or "ServerDisconnectedError" in classes:
        return "the connection broke", "try again later"
    return None


def _no_driver(findings: FileFindings, why: str, hint: str) -> NoReturn:
    lacking("remote", findings.file, why, findings, hint)


def _cut_short(findings: FileFindings, url: str, why: str) -> NoReturn:
    findings.add(
        "FW4082", f"`{url}` is cut short: {why}", rule="A file is read when all of it is there.", hint="try again"
    )
    raise Unreadable from None


def _no_room(findings: FileFindings, url: str, what: str) -> NoReturn:
    folder = tempfile.gettempdir()
    findings.add(
        "FW4081",
        f"`{url}` cannot be pulled: `{folder}` has no room for {what}",
        rule="A file at a URL is copied into the folder of temporary files while it is read.",
        hint="let `TMPDIR` name a folder with room",
    )
    raise Unreadable from None


def _first_line(error: BaseException) -> str:
    return _short(str(error)) or type(error).__name__


def _short(text: str) -> str:
    """The first line of a text, in which servers and drivers may quote what they got."""
    line = masked((text.strip().splitlines() or [""])[0])
    return line if len(line) <= 200 else f"{line[:200]}..."
