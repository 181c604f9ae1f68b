"""`python -m tests.grammar.regenerate`: write anew what is said about each program of `slips.txt`.

Read the difference before committing it: it is what users are told.
"""

from __future__ import annotations

from pathlib import Path

from fwdsl.grammar import parse

SLIPS = Path(__file__).with_name("slips.txt")
_BREAK = "---\n"
_SAID = "=> "


def programs() -> list[str]:
    """The programs of the file."""
    blocks = SLIPS.read_text("utf-8").split(_BREAK)[1:]
    return ["".join(line for line in block.splitlines(True) if not line.startswith(_SAID)) for block in blocks]


def render(program: str) -> str:
    """A program and what is said about it, as it stands in the file."""
    lines = []
    for d in parse(program)[1]:
        assert d.span is not None and d.source is not None
        line, column = d.source.position(d.span.start)
        fix = "" if d.fix is None else f" | fix {d.source.slice(d.fix.span)!r} -> {d.fix.replacement!r}"
        hint = f" | {d.hint}" if d.hint else ""
        lines.append(f"{_SAID}{d.code} {line}:{column} {d.source.slice(d.span)!r} {d.message}{hint}{fix}\n")
    return _BREAK + program + "".join(lines)


if __name__ == "__main__":
    SLIPS.write_text("".join(render(program) for program in programs()), "utf-8")
