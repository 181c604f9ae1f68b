"""Versions of installed packages, for the record of a run and the report of a bug."""

from __future__ import annotations

import platform
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "lark", "rich", "threadpoolctl", "cvxpy")


def versions() -> dict[str, str]:
    """Versions of fwdsl, Python and the packages that matter, as installed."""
    # the package itself is loaded by now, and offers what is in this folder: to import it would be a circle
    own = sys.modules[__name__.partition(".")[0]].__version__
    return {"fwdsl": own, "python": platform.python_version(), "platform": platform.platform(), **_installed()}


@cache
def _installed() -> dict[str, str]:
    """The versions of `PACKAGES`, by the files of their installation, which are read once."""
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
