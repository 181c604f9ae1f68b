"""Fetches what the playground loads: Pyodide from npm, wheels from PyPI, fwdsl from this checkout."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from .lock import Package
from .sources import ROOT

PYODIDE = "0.29.5"
"""The version of Pyodide: its Python runs in the page, and wheels with code of C must be made for it."""

WHEELS = ("lark==1.3.1", "threadpoolctl==3.8.0")
"""What fwdsl needs beside numerical packages. rich, and what that needs, draws on terminals, which a page has not."""

NUMERICAL = ("numpy", "scipy")

_CORE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")


class Absent(Exception):
    """Something that the playground is made of cannot be had; the message says what and why."""


@dataclass(frozen=True)
class Core:
    """An unpacked npm package `pyodide`."""

    version: str
    folder: Path

    @cached_property
    def lock(self) -> dict[str, Any]:
        """The packages that were made for it, and where from."""
        found: dict[str, Any] = json.loads((self.folder / "pyodide-lock.json").read_text(encoding="utf-8"))
        return found

    @property
    def python(self) -> str:
        """The version of its Python."""
        return str(self.lock["info"]["python"])

    def files(self) -> list[Path]:
        """The files that a page loads."""
        return [self.folder / name for name in _CORE]

    def numerical(self, packages: Path | None) -> list[Package]:
        """NumPy, SciPy and what they need, as far as their wheels are in a folder. Raises `Absent` where a wheel is for another Pyodide."""
        found: dict[str, Package] = {}
        for name in NUMERICAL if packages is not None else ():
            assert packages is not None
            for package in self._needed(name, packages):
                found[package.name] = package
        return list(found.values())

    def _needed(self, name: str, packages: Path) -> list[Package]:
        """A package after what it needs; none where its wheel is not in the folder."""
        entry = self.lock["packages"][name]
        path = packages / entry["file_name"]
        if not path.is_file():
            # a build of the same version for the same system has another name in other releases
            names = sorted(packages.glob(f"{name}-{entry['version']}-*wasm32.whl"))
            tag = self.lock["info"]["abi_version"]
            fitting = [p for p in names if f"_{tag}_wasm32" in p.name]
            if names and not fitting:
                raise Absent(f"{names[0].name} is not for Pyodide {self.version}, whose wheels have the tag {tag}")
            if not fitting:
                return []
            path = fitting[0]
        needed = [p for other in entry["depends"] for p in self._needed(other, packages)]
        if {p.name for p in needed} < set(entry["depends"]):
            return needed
        return [*needed, Package(name, path, entry["version"], tuple(entry["depends"]), tuple(entry["imports"]), entry)]


def fetch_pyodide(version: str, cache: Path) -> Core:
    """The npm package of a version, from the cache or from npm. Raises `Absent`."""
    folder = cache / f"pyodide-{version}"
    if not (folder / "package.json").is_file():
        cache.mkdir(parents=True, exist_ok=True)
        npm = shutil.which("npm")
        if npm is None:
            raise Absent("the playground needs npm, which fetches Pyodide")
        _run([npm, "pack", f"pyodide@{version}", "--silent"], cache, f"Pyodide {version} cannot be had from npm")
        with tarfile.open(cache / f"pyodide-{version}.tgz") as archive:
            archive.extractall(cache / "unpacked", filter="data")
        shutil.rmtree(folder, ignore_errors=True)
        (cache / "unpacked" / "package").rename(folder)
    core = Core(version, folder)
    lost = [path.name for path in core.files() if not path.is_file()]
    if lost:
        raise Absent(f"the npm package pyodide {version} has no {', '.join(lost)}")
    return core


def fetch_wheels(core: Core, cache: Path) -> list[Path]:
    """The wheels of pure Python: of PyPI from the cache or from there, and that of fwdsl, made anew. Raises `Absent`."""
    folder = cache / "wheels"
    folder.mkdir(parents=True, exist_ok=True)
    minor = ".".join(core.python.split(".")[:2])
    for needed in WHEELS:
        name, _, version = needed.partition("==")
        if not list(folder.glob(f"{name}-{version}-py3-none-any.whl")):
            options = ["--no-deps", "--only-binary", ":all:", "--python-version", minor, "-d", str(folder)]
            _run([sys.executable, "-m", "pip", "download", "-q", *options, needed], cache, f"{needed} cannot be had")
    made = cache / "fwdsl"
    shutil.rmtree(made, ignore_errors=True)
    _run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", str(ROOT), "-w", str(made)],
        cache,
        "the wheel of fwdsl cannot be made",
    )
    names = [needed.replace("==", "-") + "-py3-none-any.whl" for needed in WHEELS]
    return [*made.glob("fwdsl-*.whl"), *(folder / name for name in names)]


def _run(command: list[str], folder: Path, what: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise Absent(f"{what}: {lines[-1] if lines else command[0]}")
