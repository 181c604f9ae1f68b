"""The playground in one command: `python -m tools.playground [FOLDER]` puts the page, Python and fwdsl into a folder that any web server can serve.

Python for browsers comes from the npm package `pyodide`, wheels from PyPI, fwdsl from this checkout; the page itself loads nothing from elsewhere.
NumPy and SciPy for browsers are in neither: they are in Pyodide's releases, `pyodide-VERSION.tar.bz2`, and `--packages` names the folder where
that is unpacked. Without them the page checks, and says that it cannot plan and solve.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from .assets import PYODIDE, Absent, fetch_pyodide, fetch_wheels
from .lock import Package, write_lock
from .sources import ROOT, write_page

TARGET = ROOT / "docs" / "_build" / "html" / "playground" / "editor"
CACHE = ROOT / "docs" / "_build" / "playground"


def main(argv: Sequence[str]) -> int:
    """Build the folder; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.playground", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=TARGET, help="where it is put (default: in the site)")
    parser.add_argument("--packages", type=Path, metavar="FOLDER", help="the wheels of Pyodide's release, unpacked")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", default=CACHE, help="where downloads are kept")
    given = parser.parse_args(argv)
    if given.packages is not None and not given.packages.is_dir():
        print(f"there is no folder {given.packages}", file=sys.stderr)
        return 1
    try:
        build(given.folder, given.cache, given.packages)
    except Absent as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def build(folder: Path, cache: Path, packages: Path | None = None) -> None:
    """Write the playground into a folder, in place of what is there. Raises `Absent` where something cannot be had."""
    core = fetch_pyodide(PYODIDE, cache)
    wheels = fetch_wheels(core, cache)
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pyodide").mkdir(parents=True)
    for path in (*core.files(), *wheels):
        shutil.copy(path, folder / "pyodide")
    numerical: list[Package] = core.numerical(packages)
    for package in numerical:
        shutil.copy(package.path, folder / "pyodide")
    write_lock(core, wheels, numerical, folder)
    write_page(folder)
    names = {package.name for package in numerical}
    absent = [name for name in ("numpy", "scipy") if name not in names]
    print(f"the playground is in {folder}: Pyodide {core.version}, Python {core.python}")
    if absent:
        print(f"without {' and '.join(absent)}, which --packages names: see docs/playground/index.md")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
