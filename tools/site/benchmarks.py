"""The pages of `benchmarks/results`, with charts of their tables."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from .charts import targets, with_charts
from .links import ROOT, for_site, page_of
from .text import table

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
    return with_charts(for_site(path.read_text(encoding="utf-8"), source, page_of(source)))


def _index() -> str:
    rows = []
    seen: set[str] = set()
    for path in sorted(RESULTS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        title, _, rest = text.partition("\n")
        facts = dict(re.findall(r"^- (machine|date): (.+)", rest, re.M))
        met, asked = targets(text)
        kept = f"{met} of {asked}" if asked else ""
        # several pages have one title, and differ in their sizes, as their files say
        size = path.stem.partition("_")[2] if title in seen else ""
        seen.add(title)
        name = f"[{title.lstrip('# ')}{f', {size}' if size else ''}]({path.stem}.md)"
        date = facts.get("date", "").partition(" ")[0].replace("-", "\N{NON-BREAKING HYPHEN}")
        rows.append((name, kept, date, facts.get("machine", "")))
    entries = "\n".join(("measuring", *(path.stem for path in sorted(RESULTS.glob("*.md")))))
    return "\n".join(
        [
            "# Benchmarks\n",
            "Each page has its targets first and whether they are met, then charts and tables, with the machine, the "
            "versions and the date. Where another solver is better, it says so. [How it is measured](measuring.md).\n",
            table(("page", "targets met", "measured", "on"), rows),
            f"```{{toctree}}\n:hidden:\n\n{entries}\n```\n",
        ]
    )
