"""What a name of a file to write stands for."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def target_of(name: str | Path) -> Path:
    """The file that writing under this name makes or replaces, through links; `OSError` where something stands there that is no regular file.

    A file that is written whole is moved into place, which would put it where a device or a pipe was.
    """
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        return Path(os.path.realpath(name))
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder", str(name))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, f"it is {_kind(mode)}, not a file", str(name))
    return Path(os.path.realpath(name))


def _kind(mode: int) -> str:
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        return "a device"
    return "a pipe" if stat.S_ISFIFO(mode) else "a socket"
