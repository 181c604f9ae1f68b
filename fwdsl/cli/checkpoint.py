"""`--checkpoint FILE` and `--resume FILE`: a run that was stopped goes on as if nothing had happened."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ..backends.registry import METHODS
from ..errors import DataError
from ..files.target import unwritable
from ..grammar.diagnostic import Diagnostic
from ..solve.forms import Start
from ..solve.state import Checkpoint, load_grown, load_state, save_state
from .exits import CommandStop
from .output import Output

if TYPE_CHECKING:
    from ..canon import Form
    from ..model.options import Options

FIRST_AFTER = 5.0
SECONDS_BETWEEN = 60.0


class Checkpoints:
    """Saves the state of a running method now and then, and at the end; a failure to save does not stop the run."""

    def __init__(self, file: str, form: Form, output: Output, now: Callable[[], float] = time.monotonic) -> None:
        self._file = file
        self._form = form
        self._output = output
        self._now = now
        self._next = now() + FIRST_AFTER

    def after_step(self, state: Checkpoint) -> None:
        """Save if it is time."""
        if self._now() >= self._next:
            self.save(state)
            self._next = self._now() + SECONDS_BETWEEN

    def save(self, state: Checkpoint) -> list[Diagnostic]:
        """Save the state; return what went wrong."""
        try:
            save_state(self._file, self._form, state)
        except OSError as error:
            return [unwritable(self._file, error)]
        self._output.event("checkpoint", {"file": self._file, "iteration": state.iteration})
        return []


def resumed(file: str, form: Form, options: Options) -> tuple[Checkpoint | Start, Options]:
    """A saved state, and the options with its method; where the data only got more rows since, its answer to start from.

    Stops where the file holds no state, or one of another problem or method.
    """
    try:
        state = load_state(file, form)
    except DataError as error:
        start = load_grown(file, form) if error.code == "FW0202" else None
        if start is None:
            raise
        return start, options
    method = state.method
    complete = METHODS[method].completed
    asked = options.method_options if options.method == method else state.options
    if options.method not in ("auto", method) or complete(asked) != complete(state.options):
        saved, wanted = _written(method, state.options), _written(options.method, options.method_options)
        raise CommandStop(
            [
                Diagnostic(
                    "FW0019",
                    f"`{file}` is the state of `{saved}`, and `{wanted}` is asked for",
                    rule="A method goes on from its own state only, with the options it had.",
                    hint=f"leave `--method` out, or write `--method {shlex.quote(saved)}`",
                )
            ]
        )
    return state, replace(options, method=method, method_options=state.options)


def _written(method: str, method_options: Mapping[str, object]) -> str:
    """`NAME` or `NAME(option=value)`, as `--method` takes it."""
    words = ", ".join(f"{k}={json.dumps(v)}" for k, v in method_options.items())
    return f"{method}({words})" if words else method
