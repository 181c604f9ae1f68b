"""Progress while a program is solved: a live line on a terminal, events in a stream, nothing on a pipe."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import asdict
from itertools import count
from typing import TYPE_CHECKING

from .output import Output
from .terminal import style_of

if TYPE_CHECKING:
    from ..model.options import Options
    from ..results.solution import Progress

OnProgress = Callable[["Progress"], bool | None]
_FEWEST_SECONDS_BETWEEN = 0.1


@contextmanager
def reporting(output: Output, options: Options, more: Callable[[], str] | None = None) -> Iterator[OnProgress]:
    """The callback that reports the progress of one solve in the mode of the output, and announces compilations.

    `more` gives a few words for a line of their own below the live one, whose end a narrow terminal cuts.
    """
    from ..backends.kernels import on_compile

    with ExitStack() as stack:
        stack.enter_context(on_compile(announcer(output)))
        if output.mode == "stream":
            output.event("progress", {"phase": "starting"})  # loading compiled kernels may take a second
            yield _stream(output)
        elif (
            output.mode == "text"
            and not output.quiet
            and style_of(sys.stderr).terminal
            and style_of(sys.stdout).terminal
        ):
            yield stack.enter_context(_live(options, more))
        else:
            yield _silent


def _silent(progress: Progress) -> None:
    """Show no progress."""


def announcer(output: Output) -> Callable[[str], None]:
    """A function that says once that kernels are compiled, which takes seconds."""
    told = False

    def announce(kernel: str) -> None:
        nonlocal told
        if not told:
            output.note("compiling kernels (once: they are kept for later runs)")
        output.event("progress", {"phase": "compiling", "kernel": kernel})
        told = True

    return announce


def _stream(output: Output) -> OnProgress:
    due = Throttle()

    def tell(p: Progress) -> None:
        if due(p.phase):
            output.event("progress", asdict(p))

    return tell


class Throttle:
    """Lets the first report of each phase through, and then about ten a second."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._next = -math.inf
        self._phase: str | None = None

    def __call__(self, phase: str) -> bool:
        """True if a report of this phase is to be shown now."""
        now = self._now()
        if phase == self._phase and now < self._next:
            return False
        self._phase, self._next = phase, now + _FEWEST_SECONDS_BETWEEN
        return True


@contextmanager
def _live(options: Options, more: Callable[[], str] | None) -> Iterator[OnProgress]:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(stderr=True, highlight=False)
    due = Throttle()
    with Live(Text("starting"), console=console, transient=True, auto_refresh=False) as live:

        def show(p: Progress) -> None:
            if due(p.phase):
                below = more() if more is not None else ""
                lines = [progress_line(p, options.tol), *([below] if below else [])]
                live.update(Text("\n".join(lines), no_wrap=True, overflow="ellipsis"), refresh=True)

        yield show


OnPoint = Callable[[str], AbstractContextManager[OnProgress]]
"""Opens the next of several solves, by its name: gives the callback for its progress."""


@contextmanager
def counting(output: Output, options: Options, total: int) -> Iterator[OnPoint]:
    """One progress bar for many solves, on a terminal; compilations are announced once."""
    from ..backends.kernels import on_compile

    with on_compile(announcer(output)):
        if output.mode == "text" and style_of(sys.stderr).terminal and style_of(sys.stdout).terminal:
            yield _bar(options, total)
        else:
            yield lambda _name: nullcontext(_silent)


def _bar(options: Options, total: int) -> OnPoint:
    from rich.console import Console
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    console, numbers, due = Console(stderr=True, highlight=False), count(), Throttle()

    @contextmanager
    def solving(name: str) -> Iterator[OnProgress]:
        done = next(numbers)
        with ExitStack() as stack:
            # taken away after each solve, so that what is printed then is as on a pipe; not drawn for solves that are soon over
            live: list[Live] = []

            def show(p: Progress) -> None:
                if due("solving"):
                    line = Table.grid(padding=(0, 1))
                    text = Text(f"{name}  {progress_line(p, options.tol)}", no_wrap=True, overflow="ellipsis")
                    line.add_row(ProgressBar(total, done, width=20), Text(f"{done} of {total}", no_wrap=True), text)
                    live[:] = live or [stack.enter_context(Live(console=console, transient=True, auto_refresh=False))]
                    live[0].update(line, refresh=True)

            yield show

    return solving


@contextmanager
def compiling(output: Output, name: str) -> Iterator[None]:
    """A context in which a live line on a terminal tells each kernel that is compiled for a program."""
    from ..backends.kernels import on_compile

    if output.mode != "text" or not style_of(sys.stderr).terminal:
        yield
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console, told = Console(stderr=True, highlight=False), count(1)
    with Live(Text(name), console=console, transient=True, auto_refresh=False) as live:

        def show(kernel: str) -> None:
            line = Text(f"{name}: compiling {next(told)}: {kernel}", no_wrap=True, overflow="ellipsis")
            live.update(line, refresh=True)

        with on_compile(show):
            yield


def progress_line(p: Progress, tol: float) -> str:
    """One report as a line. The gap stands first, because a narrow terminal cuts the end."""
    gap = f"{p.relative_gap:.1e}" if math.isfinite(p.relative_gap) else "unknown"
    return (
        f"gap {gap} of {tol:.0e}  objective {p.objective:.8g}  {p.elapsed:.1f} s  {p.iteration} iterations  "
        f"{p.passes:.0f} passes  {p.method}: {p.phase}"
    )
