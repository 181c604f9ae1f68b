"""The parts that a running IPython gets, and loses when the extension is unloaded."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..session import Session
from .cell import NAME, run_cell
from .completion import matcher
from .progress import ProgressLine


class Extension:
    """The cells, the completion and the line of progress of one shell. A terminal has no line: it looks as it always does."""

    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.line = ProgressLine() if hasattr(shell, "kernel") else None
        cell = partial(run_cell, shell, self.line)
        cell.__doc__ = run_cell.__doc__
        shell.register_magic_function(cell, magic_kind="cell", magic_name=NAME)
        self.matcher = matcher(shell)
        shell.Completer.custom_matchers.append(self.matcher)
        if self.line is not None:
            Session.reporter = self.line.begin
            shell.events.register("post_run_cell", self.line.after_cell)

    def unload(self) -> None:
        """Take everything away again."""
        self.shell.magics_manager.magics["cell"].pop(NAME, None)
        self.shell.Completer.custom_matchers.remove(self.matcher)
        if self.line is not None:
            Session.reporter = None
            self.shell.events.unregister("post_run_cell", self.line.after_cell)
