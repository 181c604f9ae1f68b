"""The folder for things that can be made again: compiled kernels, and rows of data that were decoded."""

from __future__ import annotations

import os
import sys
from pathlib import Path


class DiskFull(Exception):
    """The disk has no room for decoded rows; the message says how much there is."""


def cache_root() -> Path:
    """`$FWDSL_CACHE_DIR`, or the platform's folder for things that can be made again."""
    if chosen := os.environ.get("FWDSL_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fwdsl"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "fwdsl" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fwdsl"
