"""The parsers of all commands, and the man page made of them: `python -m fwdsl.cli.manual > docs/fwdsl.1`."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

from .app import COMMANDS, EXIT_CODES
from .arguments import Parser

ENVIRONMENT = {
    "FWDSL_CACHE_DIR": "the folder of compiled kernels, in place of the platform's folder for caches",
    "NO_COLOR": "no colour, where it is set and not empty",
    "FORCE_COLOR": "colour on pipes and in files too, where it is set and not empty",
}
"""The variables of the environment that are read, and what they do."""


def parsers() -> dict[str, Parser]:
    """The parser of each command, in the order of the help."""
    return {name: import_module(f".commands.{where}", __package__).parser() for name, (where, _) in COMMANDS.items()}


def manual() -> str:
    """The man page, in the macros of man(7)."""
    every = parsers()
    parts = [
        '.TH FWDSL 1 "" "fwdsl" "User Commands"',
        ".SH NAME",
        r"fwdsl \- structured convex learning with a certificate",
        ".SH SYNOPSIS",
        r".B fwdsl",
        r".I COMMAND",
        r"[\fIARGUMENTS\fR]",
        ".SH DESCRIPTION",
        _escaped(
            "Compiles programs of structured convex learning to the solver that suits them, and certifies every answer by a duality gap that is "
            "recomputed independently."
        ),
        ".SH COMMANDS",
    ]
    for name, made in every.items():
        parts += [f".SS fwdsl {name}", _escaped(made.description or "")]
        for action in _told(made):
            parts += [".TP", f"\\fB{_escaped(_names(action))}\\fR", _escaped(_help(made, action))]
    parts.append(".SH EXIT STATUS")
    for code, meaning in EXIT_CODES.items():
        parts += [".TP", f".B {code}", _escaped(meaning)]
    parts.append(".SH ENVIRONMENT")
    for name, meaning in ENVIRONMENT.items():
        parts += [".TP", f".B {name}", _escaped(meaning)]
    parts += [".SH SEE ALSO", _escaped("`fwdsl explain` lists the codes of all diagnostics and tells each at length.")]
    return "\n".join(parts) + "\n"


def _told(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.help is not argparse.SUPPRESS]


def _names(action: argparse.Action) -> str:
    value = action.metavar if isinstance(action.metavar, str) else ""
    names = ", ".join(action.option_strings)
    return f"{names} {value}".strip()


def _help(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    return (action.help or "") % {"prog": parser.prog, "default": action.default}


def _escaped(text: str) -> str:
    """Plain text for roff: backslashes, hyphens, and a point or quote that would begin a line."""
    text = text.replace("\\", r"\e").replace("-", r"\-").replace("`", "")
    return rf"\&{text}" if text[:1] in (".", "'") else text


if __name__ == "__main__":
    os.environ["COLUMNS"] = "100"
    sys.stdout.write(manual())
