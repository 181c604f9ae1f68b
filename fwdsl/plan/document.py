"""Methods with their options: `python -m fwdsl.plan.document > docs/methods.md` as a page, `fwdsl explain METHOD` as text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from textwrap import fill, indent

from ..backends.method import Method
from ..backends.registry import AUTOMATIC, METHODS, NAMED

_HEAD = """\
# Methods and their options

What each method applies to, and how many iterations it takes at most, is in [language.md](language.md#options); `fwdsl plan FILE` says of each
whether it applies to a program, and what the program lacks where not; `fwdsl explain gsfw` prints what stands here. [papers.md](papers.md) has the
problems of the five papers to try them on.

A program names a method as `solve method = gsfw(batch=0.1)`, the command line as `--method gsfw` or, with options, `fwdsl race FILE --methods
"gsfw(batch=0.1), apg"`, Python as `problem.solve(method="gsfw", batch=0.1)`. Texts may stand without quotes. `auto` leaves a value to the
method, which takes it from the problem. A value outside of its range is FW5004, a method that does not apply FW5003.

This page is generated: `python -m fwdsl.plan.document > docs/methods.md`.
"""

_BASELINES = "backends.baselines."


def document() -> str:
    """The page, as Markdown."""
    parts = [_HEAD]
    for title, names in groups().items():
        parts.append(f"## {title}\n")
        parts += [_method(METHODS[name]) for name in names]
    return "\n".join(parts)


def groups() -> dict[str, list[str]]:
    """The methods by how they come to run."""
    baselines = [n for n in NAMED if _BASELINES in METHODS[n].__module__]
    return {
        "Chosen by the planner": list(AUTOMATIC),
        "Run where they are named": [n for n in NAMED if n not in baselines],
        "Baselines": baselines,
    }


def explain_method(name: str, width: int = 100) -> str | None:
    """Title, source and options of a method in lines of `width` columns (at least 40); None where there is no such method."""
    if name not in METHODS:
        return None
    method = METHODS[name]
    parts = [
        f"{name}: {method.title}",
        f"Source: {method.source}.{_left(method)} `fwdsl plan FILE` says whether it applies.",
    ]
    for key, option in method.options.items():
        default = "" if option.default is None else f", {option.example()} unless given"
        parts.append(f"{key}: {option.describe()}{default}\n{indent(option.meaning, '    ')}")
    lines = [
        fill(line, max(width, 40), subsequent_indent="    " * line.startswith(" "))
        for part in parts
        for line in part.split("\n")
    ]
    return "\n".join(lines[:1] + [""] + lines[1:2] + [""] * bool(lines[2:]) + lines[2:]) + "\n"


def _left(method: type[Method]) -> str:
    why = method.by_name_only
    return f" Not chosen by itself: {why}." if why and _BASELINES not in method.__module__ else ""


def _method(method: type[Method]) -> str:
    return f"### `{method.name}`\n\n{described(method)}"


def described(method: type[Method]) -> str:
    """The title, source and options of a method as Markdown."""
    head = f"{method.title[:1].upper()}{method.title[1:]} ({method.source}).{_left(method)}\n"
    rows = list(_options(method))
    return "\n".join(
        [head, *(["| option | value | unless given | |", "| --- | --- | --- | --- |", *rows, ""] if rows else [])]
    )


def _options(method: type[Method]) -> Iterator[str]:
    for name, option in method.options.items():
        meaning = option.meaning[:1].lower() + option.meaning[1:].replace("|", "\\|")
        yield f"| `{name}` | {option.describe()} | `{option.example()}` | {meaning} |"


if __name__ == "__main__":
    sys.stdout.write(document())
