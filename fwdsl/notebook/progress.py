"""One line of progress under the cell that runs. It comes where a solve takes longer than a moment, and goes with the result."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..cli.progress import Throttle, progress_line

if TYPE_CHECKING:
    from ..model.options import Options
    from ..results.solution import Progress

SECONDS_BEFORE = 0.5
"""A cell that is sooner done shows no line."""


EMPTY = {"text/html": "", "text/plain": ""}
"""The bundle that takes the place of the line: a front end shows the HTML, which has no height."""


class ProgressLine:
    """The line of the cell that runs; solves of one cell share it, one after the other."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._due = Throttle(now)
        self._handle: Any = None
        self._began: float | None = None

    def begin(self, options: Options) -> Callable[[Progress], bool | None] | None:
        """The callback of one solve. Of another thread there is none: its output would land in some other cell."""
        if threading.current_thread() is not threading.main_thread():
            return None
        if self._began is None:
            self._began = self._now()
            self._due = Throttle(self._now)  # a new cell shows its line at once

        def report(p: Progress) -> None:
            if self._began is not None and self._now() - self._began >= SECONDS_BEFORE and self._due("solving"):
                self._show(progress_line(p, options.tol))

        return report

    def take_away(self) -> bool:
        """End the line; True if there was one. What stands in its place is up to the caller."""
        shown, self._handle, self._began = self._handle is not None, None, None
        return shown

    def after_cell(self, _result: object = None) -> None:
        """Empty the line at the end of a cell, as IPython tells it."""
        handle = self._handle
        if self.take_away():
            handle.update(dict(EMPTY), raw=True)

    def _show(self, text: str) -> None:
        from IPython.display import DisplayHandle

        bundle = {"text/plain": text}
        if self._handle is None:
            self._handle = DisplayHandle()
            self._handle.display(bundle, raw=True)
        else:
            self._handle.update(bundle, raw=True)
