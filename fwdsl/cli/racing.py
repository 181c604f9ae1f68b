"""Progress of a race: a live table on a terminal, nothing on a pipe until it has ended."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from ..studies.entrant import Entrant
from ..studies.race import levels_of
from ..studies.race_table import GUTTER, LEFT, cells, conditions, notes
from .output import Output
from .progress import Throttle, announcer, progress_line
from .terminal import style_of

if TYPE_CHECKING:
    from ..model.options import Options
    from ..results.solution import Progress
    from ..studies.race import OnProgress, Race

OnEntrant = Callable[[Entrant], None]

PLAIN_HEIGHT = 24
"""Lines of a terminal that does not say."""


@contextmanager
def watching(output: Output, options: Options, count: int) -> Iterator[tuple[OnProgress, OnEntrant]]:
    """The callbacks of a race of `count` methods in the mode of the output; they also announce compilations."""
    from ..backends.kernels import on_compile

    with ExitStack() as stack:
        stack.enter_context(on_compile(announcer(output)))
        if output.mode == "text" and style_of(sys.stderr).terminal and style_of(sys.stdout).terminal:
            yield stack.enter_context(_live(options, count))
        else:
            yield _silent, lambda _entrant: None


def _silent(_name: str, _progress: Progress) -> None:
    """Show no progress."""


@contextmanager
def _live(options: Options, count: int) -> Iterator[tuple[OnProgress, OnEntrant]]:
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    levels = levels_of(options)
    done: list[Entrant] = []
    due = Throttle()
    with Live(Text("starting"), console=Console(stderr=True), transient=True, auto_refresh=False) as live:

        def show(name: str, p: Progress) -> None:
            if due(name):
                line = f"{name} ({len(done) + 1} of {count})  {progress_line(p, options.tol)}"
                live.update(Group(_table(done, levels), Text(line, no_wrap=True, overflow="ellipsis")), refresh=True)

        yield show, done.append


def show_table(race: Race, output: Output) -> None:
    """Print the table of a race: with the styles of a terminal on one, plain elsewhere."""
    if output.mode != "text":
        return
    how = style_of(sys.stdout)
    if not how.terminal:
        output.text(repr(race) + "\n")
        return
    from rich.console import Console

    table = cells(race.entrants, race.levels, how.width)
    # a table that does not fit goes on in the next line: cut names would tell nothing. rich takes a width on a dumb terminal only with a height
    width = max(how.width, sum(max(map(len, column)) + GUTTER for column in zip(*table, strict=True)))
    console = Console(file=sys.stdout, no_color=not how.color, highlight=False, width=width, height=PLAIN_HEIGHT)
    console.print(_table(race.entrants, race.levels))
    for line in (
        "",
        *notes(race, race.waiting),
        *([""] if notes(race, race.waiting) else []),
        conditions(race.options),
    ):
        console.print(line, markup=False, soft_wrap=True)


def _table(entrants: Sequence[Entrant], levels: Sequence[float]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    how = style_of(sys.stdout)
    head, *lines = cells(entrants, levels, how.width)
    table = Table(box=SIMPLE_HEAD if how.unicode else None, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for i, title in enumerate(head):
        table.add_column(title, justify="left" if i < LEFT else "right", no_wrap=True)
    for line in lines:
        table.add_row(*map(Text, line))
    return table
