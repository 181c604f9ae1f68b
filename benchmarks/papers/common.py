"""What the pages of the papers share: races, figures, tables, and the page itself.

A script `benchmarks/papers/PAPER/run.py` (`--quick`: small sizes, and nothing in docs/papers is touched; `--out FOLDER`: the page and its figures
go there) reads

    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

    from common import Page, quick, raced, start_over

    if __name__ == "__main__":
        start_over(threads=1)  # before numpy is imported

    import fwdsl as fw
    from generators import rcv1_like

    page = Page("pdbfw", "Primal-dual block Frank-Wolfe", claim="What the paper claims.", data="a9a, w8a; rcv1_like of generators.py")
    races = {name: raced(problem_of(name), ["pdbfw", "apg", "svrg(batch=10)"], tol=1e-6, time=3 if quick() else 20) for name in ("a9a", "w8a")}
    page.section("Figure 1", "What was run, at which sizes, and what is to be seen.")
    page.races("figure1", races)  # a plot docs/papers/pdbfw_figure1.svg of all of them, and a table
    page.table(["data", "paper", "here"], [["a9a", "1.2", "1.1"]])  # whatever else there is to say
    page.verdict("Reproduces on sparse data; on a9a the paper's step diverges.")
    page.write()  # docs/papers/pdbfw.md, with machine, versions, commit, date and command

`raced` returns a `fwdsl.studies.race.Race`: `race["pdbfw"].to(1e-4, "passes")`, `.moments`, `.solution`; gaps are certified and the
verifier's time is left out. `page.races(..., against="distance")` plots the distance of each method's points from the best bound of all, as the
papers do.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machine import ROOT, start_over
from report import Report, table

if TYPE_CHECKING:
    from fwdsl import Problem
    from fwdsl.studies.race import Race

__all__ = ["FOLDER", "LARGEST", "ROOT", "Page", "out", "quick", "raced", "start_over", "table"]

FOLDER = ROOT / "docs" / "papers"

LARGEST = 250_000
"""Bytes of a figure at most."""

MOST_POINTS = 80
"""Points of a curve at most."""

_STYLES = ("-", "--", ":", "-.")


def quick() -> bool:
    """Whether the script was asked to be quick."""
    return "--quick" in sys.argv[1:]


def out() -> Path | None:
    """The folder that the script was told to write to."""
    given = sys.argv[1:]
    if "--out" not in given:
        return None
    at = given.index("--out") + 1
    if at == len(given):
        raise SystemExit("--out needs a folder")
    return Path(given[at])


def raced(problem: Problem, methods: Sequence[str] | None = None, *, name: str = "", **options: Any) -> Race:
    """`problem.race(methods, **options)`, with a line on standard error as each starts."""
    last = ""

    def tell(method: str, _progress: object) -> None:
        nonlocal last
        if method != last:
            print(f"  {name} {method}".rstrip(), file=sys.stderr, flush=True)
        last = method

    race = problem.race(methods, callback=tell, **options)
    if race.contradiction:
        raise AssertionError(f"{name}: {race.contradiction}")
    return race


class Page(Report):
    """The page of a paper: claim, verdict, facts, then sections in order; `write` puts it into docs/papers/NAME.md and prints it."""

    def __init__(self, name: str, title: str, claim: str, data: str, packages: Sequence[str] = ()) -> None:
        packages = packages or ["numpy", "scipy", "numba"]
        super().__init__(name, title, f"**Claim.** {claim}", data, packages)
        self.folder = out() or (Path(tempfile.mkdtemp(prefix=f"{name}-quick-")) if quick() else FOLDER)
        self.folder.mkdir(parents=True, exist_ok=True)

    def verdict(self, text: str) -> None:
        """What became of the claim, in a sentence or two; it stands at the top."""
        self.head.append(f"**Verdict.** {text}")

    def races(
        self, name: str, races: Mapping[str, Race], against: str = "gap", units: Sequence[str] = ("seconds", "passes")
    ) -> None:
        """A figure of races by the name of their problem, a row for each unit, and their table with why methods ended early."""
        from matplotlib.figure import Figure

        from fwdsl.studies.plot import draw_race

        styles = _styles(races.values())
        figure = Figure(figsize=(1.5 + 3.4 * len(races), 2.7 * len(units)), layout="constrained")
        grid = figure.subplots(len(units), len(races), squeeze=False, sharey="col")
        for column, (title, race) in enumerate(races.items()):
            distance = race.distance if against == "distance" else None
            draw_race(grid[:, column], race, units, styles, MOST_POINTS, distance)
            grid[0, column].set_title(title, fontsize="medium")
            if column:
                for panel in grid[:, column]:
                    panel.set_ylabel("")
        handles = {
            label: line for panel in figure.axes for line, label in zip(*panel.get_legend_handles_labels(), strict=True)
        }
        figure.legend(handles.values(), handles.keys(), loc="outside right upper", fontsize="small")
        self.figure(
            name,
            figure,
            f"{'relative gap' if against == 'gap' else 'distance from the best bound'} on {', '.join(races)}",
        )
        self.table(*race_table(races))
        short = [f"- {title}, `{e.name}`: {e.reason}" for title, race in races.items() for e in race if _is_short(e)]
        if short:
            self.text("\n".join(short))
        told = {title: _conditions(race) for title, race in races.items()}
        if len(set(told.values())) == 1:
            self.text(next(iter(told.values())) + ".")
        else:
            self.text("\n".join(f"- {title}: {words[0].lower()}{words[1:]}." for title, words in told.items()))

    def figure(self, name: str, figure: Any, description: str) -> Path:
        """Save a matplotlib `Figure` as PAGE_NAME.svg beside the page, the same bytes for the same numbers, and show it."""
        import matplotlib

        path = self.folder / f"{self.name}_{name}.svg"
        with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": path.stem, "path.simplify_threshold": 0.5}):
            figure.savefig(path, metadata={"Date": None})
        path.write_text(_shortened(path.read_text(encoding="utf-8")), encoding="utf-8")
        if path.stat().st_size > LARGEST:
            raise ValueError(f"{path.name} has {path.stat().st_size:,} bytes: draw fewer points, at most {LARGEST:,}")
        self.text(f"![{description}]({path.name})")
        return path

    def write(self) -> Path:
        """Write the page and print it."""
        page = self.render()
        path = self.folder / f"{self.name}.md"
        path.write_text(page, encoding="utf-8")
        print(page)
        print(f"written to {path}", file=sys.stderr)
        return path


def race_table(races: Mapping[str, Race]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of the table of some races, those that were not run left out."""
    from fwdsl.studies.race_table import header, row

    levels = max((race.levels for race in races.values()), key=len)
    rows = [
        [title, f"`{e.name}`", *row(e, levels)[1:]]
        for title, race in races.items()
        for e in race
        if e.status != "does not apply"
    ]
    return ["problem", *header(levels)], rows


def _is_short(e: Any) -> bool:
    return e.status != "optimal" and bool(e.reason) and not e.reason.startswith("the limit of")


def _conditions(race: Race) -> str:
    from fwdsl.studies.race_table import conditions

    text = conditions(race.options)
    return text[0].upper() + text[1:]


def _styles(races: Any) -> dict[str, dict[str, Any]]:
    """The same colour and dashes for a method in all panels."""
    names = list(dict.fromkeys(e.name for race in races for e in race if e.status != "does not apply"))
    return {
        n: {"color": f"C{i % 10}", "linestyle": _STYLES[i // 10 % len(_STYLES)]} for i, n in enumerate(sorted(names))
    }


def _shortened(svg: str) -> str:
    """Coordinates to a hundredth of a point."""
    return re.sub(r"\d+\.\d{3,}", lambda m: f"{float(m[0]):.2f}", svg)
