"""The folder in which compiled kernels are kept, stamped with everything that decides what they compute."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path

from fwdsl.backends.kernels.uncompiled import why_not_compiled
from fwdsl.readers.cache_folder import cache_root

log = logging.getLogger("fwdsl.kernels")

_KEEP_SECONDS = 30 * 24 * 3600.0
_PART_SECONDS = 3600.0

PART = ".part-"
"""The start of the names of files that are still being written."""


def stamp(sources: Iterable[Path], *versions: str) -> str:
    """A hash of the names and contents of source files and of the versions of what compiles them."""
    digest = sha256("\n".join(versions).encode())
    for path in sorted(sources, key=lambda path: path.as_posix()):
        content = path.read_bytes()
        digest.update(f"\n{path.name} {len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def kernel_sources() -> list[Path]:
    """The files that kernels are written in: all atoms, this package, and the methods' loops, which link kernels of other files."""
    from fwdsl.atoms import base

    found = [path for file in (base.__file__, __file__) for path in Path(file).parent.rglob("*.py")]
    methods = Path(__file__).parent.parent
    return [*found, *methods.glob("*/*loops.py"), *methods.glob("*/loops/*.py")]


@cache
def kernel_folder() -> Path | None:
    """This version's folder, made and found writable; None where nothing is compiled, and, after one warning, where it cannot be."""
    if why_not_compiled() is not None:
        return None
    import numba

    return open_folder(cache_root(), stamp(kernel_sources(), f"numba {numba.__version__}", f"python {sys.version}"))


def open_folder(root: Path, mark: str) -> Path | None:
    """`root/kernels-<mark>`, writable by us and by nobody else, after clearing out folders of other versions unused for a month.

    None, with a warning, where it is not: machine code that others can put there would run as ours.
    """
    folder = root / f"kernels-{mark}"
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        for path, found in ((root, root.stat()), (folder, folder.lstat())):
            if reason := _distrusted(found, shared=path == root):
                log.warning("compiled kernels are not kept in %s: %s", path, reason)
                return None
        with tempfile.TemporaryFile(dir=folder):
            pass
        os.utime(folder)
    except OSError as error:
        log.warning(
            "compiled kernels cannot be kept in %s (%s): they are compiled again in every process", folder, error
        )
        return None
    _tidy(root, folder)
    return folder


def _distrusted(found: os.stat_result, shared: bool) -> str | None:
    """The reason why a folder is not used, or None. A `shared` one may be the system's, or one where everybody removes only what is theirs."""
    if not stat.S_ISDIR(found.st_mode):
        return "it is not a folder"
    if not hasattr(os, "geteuid"):
        return None
    if found.st_uid != os.geteuid() and not (shared and found.st_uid == 0):
        return "it belongs to somebody else; name a folder of yours by FWDSL_CACHE_DIR"
    if found.st_mode & 0o022 and not (shared and found.st_mode & stat.S_ISVTX):
        return "others may write in it; forbid that by `chmod go-w`, or name another folder by FWDSL_CACHE_DIR"
    return None


def is_ours(found: os.stat_result) -> bool:
    """True if a kept file is one that only we could have written."""
    return not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and not found.st_mode & 0o022)


def _tidy(root: Path, folder: Path) -> None:
    """Remove the folders of other versions that were not used for a month, and what a kill left behind in ours."""
    for other in root.glob("kernels-*"):
        with contextlib.suppress(OSError):
            if other != folder and time.time() - other.stat().st_mtime > _KEEP_SECONDS:
                shutil.rmtree(other, ignore_errors=True)
    for part in folder.glob(f"{PART}*"):
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > _PART_SECONDS:
                part.unlink()
