"""The folder for things that can be made again: compiled kernels, and rows of data that were decoded."""

from __future__ import annotations

import os
import sys
from pathlib import Path


class DiskFull(Exception):
    """The disk has no room for decoded rows; the message says how much there is."""


class NotWritable(DiskFull):
    """The folder for caches cannot be written to; the message says why."""


def no_room(what: str, error: DiskFull) -> tuple[str, str, str, str]:
    """The code, the message, the rule and the hint for rows that the disk has no room for, or the folder does not take."""
    hint = "make room, or set FWDSL_CACHE_DIR to a folder on a larger disk"
    return (
        "FW4093",
        f"the rows of {what} cannot be written to `{cache_root()}`: {error}",
        "Under `--memory` and with workers, data that outgrow memory are written into files that ranges of rows can be read from.",
        "set FWDSL_CACHE_DIR to a folder that can be written to" if isinstance(error, NotWritable) else hint,
    )


def cache_root() -> Path:
    """`$FWDSL_CACHE_DIR`, or the platform's folder for things that can be made again."""
    if chosen := os.environ.get("FWDSL_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fwdsl"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "fwdsl" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fwdsl"
