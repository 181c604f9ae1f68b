"""Writing what was measured: a Markdown file with the command, machine, versions, date and data beside the tables."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from machine import RESULTS, called, describe


@dataclass(frozen=True)
class Target:
    """A figure and the limit it has to keep: at most, or with `least` at least."""

    what: str
    measured: float
    limit: float
    least: bool = False
    show: Callable[[float], str] = "{:.3g}".format

    @property
    def met(self) -> bool:
        """Whether it is kept; a figure that is not a number keeps none."""
        return self.measured >= self.limit if self.least else self.measured <= self.limit

    def row(self) -> list[str]:
        """As a row of the table of targets. A figure that misses its limit by less than its digits show has one more."""
        limit, measured = self.show(self.limit), self.show(self.measured)
        if measured == limit and not self.met:
            measured = measured.replace(f"{self.measured:.3g}", f"{self.measured:.4g}")
        bound = f"{'at least' if self.least else 'at most'} {limit}"
        return [self.what, measured, bound, "met" if self.met else "**missed**"]


class Report:
    """A page of results, in order; `write` puts it into `benchmarks/results/NAME.md` and prints it.

    `command` and the description of the machine are taken when the report is made, before anything is measured.
    """

    def __init__(self, name: str, title: str, about: str, data: str, packages: Sequence[str]) -> None:
        self.name = name
        self.facts = {
            "command": f"`python {' '.join(_command())}`",
            **describe(packages),
            "data": data,
        }
        self.head = [f"# {title}", about]
        self.body: list[str] = []
        self.targets: list[Target] = []

    def section(self, title: str, *paragraphs: str) -> None:
        """A heading and what is to be said under it."""
        self.body += [f"## {title}", *paragraphs]

    def text(self, *paragraphs: str) -> None:
        """Paragraphs."""
        self.body += paragraphs

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A table; the first column is aligned left, the others right."""
        self.body.append(table(columns, rows))

    def target(self, *targets: Target) -> None:
        """Figures for the table of targets at the top."""
        self.targets += targets

    def render(self) -> str:
        """The page."""
        facts = "\n".join(f"- {key}: {value}" for key, value in self.facts.items())
        goals = [table(["figure", "measured", "target", ""], [t.row() for t in self.targets])] if self.targets else []
        return "\n\n".join([*self.head, facts, *(["## Targets"] if goals else []), *goals, *self.body]) + "\n"

    def write(self) -> Path:
        """Write the page and print it."""
        page = self.render()
        RESULTS.mkdir(exist_ok=True)
        path = RESULTS / f"{self.name}.md"
        path.write_text(page, encoding="utf-8")
        print(page)
        return path


def _command() -> list[str]:
    first, *rest = called()
    return [first if first == "-m" else os.path.relpath(first, RESULTS.parent.parent), *rest]


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, padded to be read as text too."""
    cells = [list(columns), *[list(row) for row in rows]]
    widths = [max(3, *(len(row[i]) for row in cells)) for i in range(len(columns))]

    def line(row: Sequence[str]) -> str:
        padded = [row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]
        return f"| {' | '.join(padded)} |"

    rule = ["-" * widths[0], *("-" * (w - 1) + ":" for w in widths[1:])]
    return "\n".join([line(cells[0]), f"| {' | '.join(rule)} |", *map(line, cells[1:])])


def size(bytes_: float) -> str:
    """`12.3 MB`, in powers of ten."""
    return f"{bytes_ / 1e6:.1f} MB" if abs(bytes_) < 1e9 else f"{bytes_ / 1e9:.2f} GB"


def ratio(value: float) -> str:
    """`1.25 x`."""
    return f"{value:.3g} x"


def number(value: float) -> str:
    """Three digits, exponents where they are needed."""
    return f"{value:.3g}"
