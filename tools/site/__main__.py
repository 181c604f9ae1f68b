"""The site in one command: `python -m tools.site` builds `docs/_build/html`, `check` checks links and spelling, `linkcheck` asks other sites."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from .links import ROOT

BUILD = ROOT / "docs" / "_build"


def main(argv: Sequence[str]) -> int:
    """Run a command; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.site", description=__doc__)
    parser.add_argument("command", nargs="?", choices=("build", "check", "linkcheck"), default="build")
    parser.add_argument("--fresh", action="store_true", help="build every page anew")
    parser.add_argument(
        "--no-pictures", action="store_true", help="run no scripts of a gallery: pages have their text alone"
    )
    parser.add_argument("-j", "--jobs", default="auto", help="processes that Sphinx may use")
    given = parser.parse_args(argv)
    if given.command == "check":
        from .checks import check

        return check()
    builder = "linkcheck" if given.command == "linkcheck" else "html"
    return build(builder, fresh=given.fresh, jobs=given.jobs, pictures=not given.no_pictures)


def build(builder: str, *, fresh: bool = False, jobs: str = "auto", folder: Path = BUILD, pictures: bool = True) -> int:
    """Run Sphinx; warnings are errors, and all of them are printed. Of a site the links are checked as they came out."""
    try:
        from sphinx.cmd.build import main as sphinx
    except ImportError:
        print("the site needs Sphinx and a theme: pip install -e '.[docs]'", file=sys.stderr)
        return 1
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    target = folder / builder
    options = [] if pictures else ["-D", "plot_gallery=0"]
    code = sphinx(
        [
            "-W",
            "-q",
            "-j",
            jobs,
            "-b",
            builder,
            *options,
            "-d",
            str(folder / "doctrees"),
            str(ROOT / "docs"),
            str(target),
        ]
    )
    if code or builder != "html":
        return code
    from ..playground.sources import write_page
    from .checks import broken_in

    write_page(target / "playground" / "editor")
    faults = broken_in(target)
    for fault in faults:
        print(fault)
    print(f"{len(faults)} links lead nowhere" if faults else f"the site is in {target}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
