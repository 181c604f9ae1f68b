"""The pages that are written at build time, from records, docstrings and files of the repository: `docs/reference/`, which git ignores."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fwdsl.html.style import CSS

from .api import api_pages
from .atoms import atom_pages
from .benchmarks import benchmark_pages
from .links import MADE
from .methods import method_pages
from .programs import program_pages
from .repository import repository_pages
from .sheet import sheet_pages


@cache
def pages() -> dict[str, str]:
    """Every generated page: its path below `docs/reference`, and its text."""
    return {
        **repository_pages(),
        **atom_pages(),
        **method_pages(),
        **program_pages(),
        **api_pages(),
        **sheet_pages(),
        **benchmark_pages(),
        "_static/fwdsl.css": CSS,
    }


def write(folder: Path = MADE) -> None:
    """Write the pages that have changed, so that Sphinx reads no others again, and take away those that are no more."""
    wanted = {folder / name: text for name, text in pages().items()}
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    for path in folder.rglob("*"):
        if path.is_file() and path not in wanted:
            path.unlink()
