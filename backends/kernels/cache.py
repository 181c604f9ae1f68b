"""Where compiled kernels are kept: a folder stamped with everything that decides what they compute."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from pathlib import Path

log = logging.getLogger("fwdsl.kernels")

_KEEP_SECONDS = 30 * 24 * 3600.0


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
    from ...atoms import base

    found = [path for file in (base.__file__, __file__) for path in Path(file).parent.rglob("*.py")]
    methods = Path(__file__).parent.parent
    return [*found, *methods.glob("*/loops.py"), *methods.glob("*/loops/*.py")]


def cache_root() -> Path:
    """`$FWDSL_CACHE_DIR`, or the platform's folder for things that can be made again."""
    if chosen := os.environ.get("FWDSL_CACHE_DIR"):
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fwdsl"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "fwdsl" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fwdsl"


@cache
def kernel_folder() -> Path | None:
    """This version's folder, made and found writable; None, after one warning, where it cannot be."""
    import numba

    return open_folder(cache_root(), stamp(kernel_sources(), f"numba {numba.__version__}", f"python {sys.version}"))


def open_folder(root: Path, mark: str) -> Path | None:
    """`root/kernels-<mark>`, writable, after clearing out folders of other versions unused for a month; None with a warning."""
    folder = root / f"kernels-{mark}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
        os.utime(folder)
    except OSError as error:
        log.warning(
            "compiled kernels cannot be kept in %s (%s): they are compiled again in every process", folder, error
        )
        return None
    for other in root.glob("kernels-*"):
        with contextlib.suppress(OSError):
            if other != folder and time.time() - other.stat().st_mtime > _KEEP_SECONDS:
                shutil.rmtree(other, ignore_errors=True)
    return folder
