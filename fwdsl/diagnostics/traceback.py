"""The lines that IPython prints for an exception made of diagnostics: they say what to do, which a traceback through our code does not."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from ..grammar.diagnostic import Diagnostic
from .text import counted, render_text

#: The attribute of an exception whose diagnostics stand above already, as HTML.
SHOWN = "_shown_above"

_OURS = str(Path(__file__).resolve().parents[1]) + os.sep


def rendered(error: BaseException, diagnostics: Sequence[Diagnostic]) -> list[str]:
    """The lines; one where the diagnostics are shown already."""
    kind = type(error).__name__
    if getattr(error, SHOWN, False):
        return [f"{kind}: {counted(diagnostics)}, shown above"]
    where = _where(error)
    head = [f"{kind} at {where}"] if where else [kind]
    return [*head, *render_text(diagnostics, color=_colours()).rstrip("\n").split("\n")]


def _where(error: BaseException) -> str:
    """The last line of the user's own code on the way to the error, with its place; empty where there is none."""
    found = ""
    trace = error.__traceback__
    while trace is not None:
        frame, line = trace.tb_frame, trace.tb_lineno
        name = frame.f_code.co_filename
        if not _is_library(frame):
            file = f"line {line}" if _is_cell(frame) else f"{name}:{line}"
            text = linecache.getline(name, line).strip()
            found = f"{file}: {text}" if text else file
        trace = trace.tb_next
    return found


def _is_library(frame: FrameType) -> bool:
    """True of our code, and of what runs cells."""
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return package in ("fwdsl", "IPython", "ipykernel") or frame.f_code.co_filename.startswith(_OURS)


def _is_cell(frame: FrameType) -> bool:
    return not os.path.isfile(frame.f_code.co_filename)


def _colours() -> bool:
    """True unless the user wants none, as IPython's own tracebacks have them."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return not os.environ.get("NO_COLOR") and str(getattr(shell, "colors", "")).lower() != "nocolor"
