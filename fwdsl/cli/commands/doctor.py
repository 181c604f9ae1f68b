"""`fwdsl doctor [--json]`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any

from ..arguments import Parser, add_json
from ..exits import OK
from ..output import Output

NOT_FOR_USERS = ("bench", "test")
"""Extras that only work on fwdsl itself needs."""


def parser() -> Parser:
    """The arguments of the command."""
    made = Parser(
        "doctor", "What is installed: versions, cores, the folder of compiled kernels, and which extras are there."
    )
    made.add_argument(
        "--remove-rows", action="store_true", help="remove the rows of data that `--memory` had decoded into files"
    )
    add_json(made)
    return made


def run(argv: Sequence[str], output: Output) -> int:
    """Tell what is installed."""
    known = parser().parse(argv)
    output.configure(mode="json" if known.json else "text")
    from ...results.versions import versions
    from ...solve.forms import default_threads

    told = {
        "versions": versions(),
        "cores": default_threads(),
        "kernels": _kernels(),
        "rows": _rows(known.remove_rows),
        "device": _device(),
        "extras": _extras(),
    }
    output.text("\n".join(_lines(told)) + "\n")
    output.finish({"status": "ok", **told})
    return OK


def _kernels() -> dict[str, Any]:
    """The folder of compiled kernels, the files in it and their bytes; None where kernels are not kept. And why they are not compiled, or None."""
    from ...backends.kernels.cache import kernel_folder
    from ...backends.kernels.uncompiled import why_not_compiled

    why, folder = why_not_compiled(), kernel_folder()
    if folder is None:
        return {"uncompiled": why, "folder": None, "files": 0, "bytes": 0}
    sizes = [path.stat().st_size for path in folder.iterdir() if path.is_file()]
    return {"uncompiled": why, "folder": str(folder), "files": len(sizes), "bytes": sum(sizes)}


def _rows(remove: bool) -> dict[str, Any]:
    """The folders of decoded rows and their bytes, and whether they were removed."""
    from ...readers.decoded import kept_folders

    found = kept_folders()
    for folder, _ in found if remove else ():
        shutil.rmtree(folder, ignore_errors=True)
    return {
        "folders": [str(folder) for folder, _ in found],
        "bytes": sum(size for _, size in found),
        "removed": bool(remove and not kept_folders()),
    }


def _device() -> dict[str, Any]:
    """The device beside the host: its name, model and free bytes; or why there is none."""
    from ...backends.devices import opened
    from ...errors import RunError
    from ...words import SOLVE_OPTIONS

    name = SOLVE_OPTIONS["device"].choices[-1]
    try:
        device = opened(name)
    except RunError as error:
        return {"name": name, "model": None, "free": 0, "why": error.first.message}
    return {"name": name, "model": device.model, "free": device.arrays.free(), "why": None}


def _extras() -> dict[str, dict[str, Any]]:
    """Each extra, by what the installed package says of it: whether all that it needs is there, and the versions of that (None: absent)."""
    found: dict[str, dict[str, Any]] = {}
    try:
        lines = requires("fwdsl") or []
    except PackageNotFoundError:  # run from its folder, not installed
        return found
    for line in lines:
        needed, _, condition = line.partition(";")
        if "extra ==" not in condition:
            continue
        extra = condition.split("extra ==")[1].strip().strip("\"')")
        if extra in NOT_FOR_USERS:
            continue
        entry = found.setdefault(extra, {"installed": True, "packages": {}})
        name = _project(needed)
        try:
            entry["packages"][name] = version(name)
        except PackageNotFoundError:
            entry["packages"][name] = None
            entry["installed"] = False
    return found


def _project(requirement: str) -> str:
    """The name that a requirement begins with."""
    end = next((i for i, c in enumerate(requirement) if not (c.isalnum() or c in "-_.")), len(requirement))
    return requirement[:end]


def _lines(told: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"{name:<14}{number}" for name, number in told["versions"].items())
    yield f"{'cores':<14}{told['cores']}"
    kernels = told["kernels"]
    if kernels["uncompiled"] is not None:
        yield f"{'kernels':<14}run as plain Python, not compiled: {kernels['uncompiled']}"
    elif kernels["folder"] is None:
        yield f"{'kernels':<14}compiled in every process: no folder keeps them"
    else:
        folder = (
            str(Path(kernels["folder"])).replace(str(Path.home()), "~", 1) if os.name != "nt" else kernels["folder"]
        )
        yield f"{'kernels':<14}{kernels['files']} files, {kernels['bytes'] / 1e6:.1f} MB in {folder}"
    device = told["device"]
    told_of = device["why"] or f"{device['model']}, {device['free'] / 1e9:.1f} GB free"
    yield f"{'device':<14}{device['name']}: {told_of}"
    rows = told["rows"]
    if rows["folders"]:
        done = "removed" if rows["removed"] else f"in {Path(rows['folders'][0]).parent}"
        yield f"{'rows':<14}{len(rows['folders'])} decoded, {rows['bytes'] / 1e6:.1f} MB {done}"
    for extra, entry in told["extras"].items():
        there = ", ".join(f"{name} {number or 'absent'}" for name, number in entry["packages"].items())
        advice = "" if entry["installed"] else f": pip install 'fwdsl[{extra}]'"
        yield f"{'extra ' + extra:<15}{there}{advice}"
