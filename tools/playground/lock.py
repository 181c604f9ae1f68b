"""The list of packages that Pyodide reads in the page: those that are in its folder, and no others, so that it looks for none elsewhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .assets import Core


@dataclass(frozen=True)
class Package:
    """A package made for Pyodide: its file, what it needs, and its entry in Pyodide's own list."""

    name: str
    path: Path
    version: str
    depends: tuple[str, ...]
    imports: tuple[str, ...]
    entry: dict[str, Any]


def write_lock(core: Core, wheels: Sequence[Path], numerical: Sequence[Package], folder: Path) -> None:
    """Write the list, with checksums that the page compares, and what the page is told of it (`manifest.json`)."""
    listed = {package.name: {**package.entry, **_of_file(package.path)} for package in numerical}
    for path in wheels:
        name, version, *_ = path.name.split("-")
        listed[name] = {
            "name": name,
            "version": version,
            "install_dir": "site",
            "package_type": "package",
            "imports": [name],
            "depends": [],
            "unvendored_tests": False,
            **_of_file(path),
        }
    lock = {"info": core.lock["info"], "packages": listed}
    (folder / "pyodide" / "pyodide-lock.json").write_text(json.dumps(lock, indent=1), encoding="utf-8")
    present = [package.name for package in numerical]
    manifest = {
        "packages": [path.name.split("-")[0] for path in wheels],
        "numerics": [name for name in present if name in ("numpy", "scipy")],
        "missing": [name for name in ("numpy", "scipy") if name not in present],
    }
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")


def _of_file(path: Path) -> dict[str, str]:
    return {"file_name": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
