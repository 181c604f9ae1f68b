"""The pages of `benchmarks/results`, with charts of their tables."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from .links import ROOT, for_site, page_of

RESULTS = ROOT / "benchmarks" / "results"


def benchmark_pages() -> dict[str, str]:
    """A page for each page of results, how they are measured, and the list of them."""
    pages = {f"benchmarks/{path.stem}.md": _page(path) for path in sorted(RESULTS.glob("*.md"))}
    source = PurePosixPath("benchmarks/README.md")
    measuring = for_site((ROOT / source).read_text(encoding="utf-8"), source, page_of(source))
    return {
        **pages,
        "benchmarks/measuring.md": re.sub(r"\A# .*", "# How it is measured", measuring),
        "benchmarks/index.md": _index(),
    }


def _page(path: Path) -> str:
    source = PurePosixPath(path.relative_to(ROOT).as_posix())
    return for_site(path.read_text(encoding="utf-8"), source, page_of(source))


def _index() -> str:
    titles = {
        path.stem: path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        for path in sorted(RESULTS.glob("*.md"))
    }
    entries = "\n".join(("measuring", *titles))
    return "\n".join(
        [
            "# Benchmarks\n",
            "Each page has its targets first and whether they are met, then a chart and the tables, with the machine, the versions and the date. "
            "Where another solver is better, it says so. [How it is measured](measuring.md).\n",
            *(f"- [{title}]({name}.md)" for name, title in titles.items()),
            f"\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n",
        ]
    )
