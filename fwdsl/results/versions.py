"""Versions of installed packages, for the record of a run and the report of a bug."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "lark", "rich", "threadpoolctl", "cvxpy")


def versions() -> dict[str, str]:
    """Versions of fwdsl, Python and the packages that matter, as installed."""
    from .. import __version__

    found = {"fwdsl": __version__, "python": platform.python_version(), "platform": platform.platform()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
