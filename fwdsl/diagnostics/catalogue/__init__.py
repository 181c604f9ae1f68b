"""The long forms of all codes, read from the Markdown files beside this one: `FW2.md` holds those of FW2000 to FW2999.

A code is never renumbered or reused. Each file begins with its family's title, and each entry has this form, in order of
code (the blocks are of the same language: `fw` for complete programs, `text` for command lines and pieces of anything else):

    ## FW1021: a bracket that closes nothing

    One paragraph, which may go over several lines.

    Not accepted:

    ```fw
    ...
    ```

    Accepted:

    ```fw
    ...
    ```
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

FOLDER = Path(__file__).parent

_TITLE = re.compile(r"# (?P<family>FW\d)nnn: (?P<title>.+)\n")
_BLOCK = r"```{language}\n(?P<{name}>(?:(?!```).*\n)+)```\n"
_ENTRY = re.compile(
    r"\n## (?P<code>FW\d{4}): (?P<title>.+)\n"
    r"\n(?P<explanation>(?:(?!```|[#\s]).+\n)+)"
    r"\nNot accepted:\n\n"
    + _BLOCK.format(language="(?P<language>fw|text)", name="bad")
    + r"\nAccepted:\n\n"
    + _BLOCK.format(language="(?P=language)", name="good")
)


@dataclass(frozen=True)
class LongForm:
    """The long form of a diagnostic: a title in lower case without a final stop, a few sentences, and two examples."""

    title: str
    explanation: str
    #: Whether the examples are complete programs.
    is_program: bool
    bad: str
    good: str


@dataclass(frozen=True)
class Family:
    """The codes with the same first digit."""

    title: str
    entries: Mapping[str, LongForm]


@cache
def families() -> Mapping[str, Family]:
    """Every family, by the start of its codes (`FW2`), in order."""
    files = sorted(FOLDER.glob("FW?.md"))
    return MappingProxyType({path.stem: read_family(path.stem, path.read_text(encoding="utf-8")) for path in files})


@cache
def all_entries() -> Mapping[str, LongForm]:
    """Every code with its entry, in order of code."""
    return MappingProxyType({code: entry for family in families().values() for code, entry in family.entries.items()})


def lookup(code: str) -> LongForm | None:
    """The entry of a code, however its letters are written; None where there is no such code."""
    return all_entries().get(code.upper())


def read_family(name: str, text: str) -> Family:
    """The family that a file's text describes; ValueError, with the line, where the text does not have the form above."""
    title = _TITLE.match(text)
    if title is None or title["family"] != name:
        raise ValueError(f"{name}.md, line 1: the title `# {name}nnn: ...` is expected")
    entries: dict[str, LongForm] = {}
    position = title.end()
    while position < len(text):
        match = _ENTRY.match(text, position)
        line = text.count("\n", 0, position) + 2
        if match is None:
            raise ValueError(f"{name}.md, line {line}: the entry that starts here does not have the form of an entry")
        code = match["code"]
        if not code.startswith(name) or code <= max(entries, default=name):
            raise ValueError(f"{name}.md, line {line}: {code} is out of order, or of another family")
        explanation = match["explanation"].strip().replace("\n", " ")
        entries[code] = LongForm(match["title"], explanation, match["language"] == "fw", match["bad"], match["good"])
        position = match.end()
    return Family(title["title"], MappingProxyType(entries))
