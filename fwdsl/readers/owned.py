"""Folders that are of one process alone, which a later one removes where that process is gone without having done so (SIGKILL, lost power).

Such a folder has a file `owner` with the name of its host. Whoever made it holds a lock on that file, which the system lets go of with the process. A
folder is removed where the host is this one and the lock is free: those of other hosts, which may share the folder for caches, and those whose
locks cannot be seen stay.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

OWNER = "owner"

_held: dict[Path, BinaryIO] = {}
"""The files that this process holds locks on, by their folders."""


def own(folder: Path) -> None:
    """Own a folder until `let_go`, where the system has locks."""
    with suppress(OSError):
        handle, path = tempfile.mkstemp(dir=folder, prefix=".")
        file = os.fdopen(handle, "r+b")
        file.write(platform.node().encode())
        file.flush()
        if _lock(file):
            # it has its name once it is held, so that nobody takes it for one that was left
            os.replace(path, folder / OWNER)
            _held[folder] = file
        else:
            file.close()
            os.remove(path)


def moved(folder: Path, to: Path) -> None:
    """Tell that a folder has another name now."""
    if folder in _held:
        _held[to] = _held.pop(folder)


def let_go(folder: Path) -> None:
    """Own a folder no longer: it is removed, or for others to use."""
    file = _held.pop(folder, None)
    if file is not None:
        with suppress(OSError):
            os.remove(folder / OWNER)
        file.close()


def is_owned(folder: str) -> bool:
    """True if a folder is of one process alone."""
    return os.path.exists(os.path.join(folder, OWNER))


def remove(folder: Path) -> None:
    """Remove a folder that is owned."""
    shutil.rmtree(folder, ignore_errors=True)
    let_go(folder)


def remove_abandoned(folders: Iterable[Path]) -> None:
    """Remove those that processes of this host owned which are gone."""
    for folder in folders:
        with suppress(OSError), open(folder / OWNER, "r+b") as file:
            ours = file.read().decode(errors="replace") == platform.node()
            # another process may have put its own folder there meanwhile
            if ours and _lock(file) and os.path.samestat(os.fstat(file.fileno()), os.stat(folder / OWNER)):
                shutil.rmtree(folder, ignore_errors=True)


def _lock(file: BinaryIO) -> bool:
    """True if the file is locked by this process from now on; False where another one holds the lock, or there are none."""
    if sys.platform in ("win32", "emscripten"):
        return False
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
