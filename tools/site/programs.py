"""A page for each program of `examples/`: what it says of itself, its text, its words and the methods that apply to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pygments.token import Name

import fwdsl as fw
from fwdsl.highlight.pygments_lexer import FwLexer
from fwdsl.words import SETS, SOURCES, function_named

from .links import ROOT
from .text import ALONE, listed


@dataclass(frozen=True)
class Program:
    """A program of the examples: its name, its text, the first sentence of its own comment, and the words of the language in it."""

    name: str
    text: str
    comment: str
    words: tuple[str, ...]

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").capitalize()

    @property
    def summary(self) -> str:
        """The first sentence of what it says of itself."""
        return self.comment.partition(". ")[0].rstrip(".") + "."


@cache
def programs() -> tuple[Program, ...]:
    """The examples, by name."""
    return tuple(read(path) for path in sorted((ROOT / "examples").glob("*.fw")))


def read(path: Path) -> Program:
    """The program of a file."""
    text = path.read_text(encoding="utf-8")
    return Program(path.stem, text, _comment(text), words_of(text))


def _comment(text: str) -> str:
    """The first comment that stands on lines of its own."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("#"):
            lines.append(line.lstrip("# ").strip())
        elif lines:
            break
    return " ".join(lines)


def words_of(text: str) -> tuple[str, ...]:
    """The functions and sets that a program uses, in their order."""
    found = (value for kind, value in FwLexer().get_tokens(text) if kind in (Name.Builtin, Name.Class))
    return tuple(dict.fromkeys(w for w in found if w not in SOURCES and (function_named(w) or w in SETS)))


def users(word: str) -> list[Program]:
    """The examples that use a word."""
    return [program for program in programs() if word in program.words]


def bearers(word: str) -> list[Program]:
    """The examples that do not name a word and have it in their canonical form: `norm1(w) <= r` is an `l1_ball`."""
    said = re.compile(rf"\b{word}\b")
    return [p for p in programs() if word not in p.words and said.search(" ".join(plan_of(p.name).structure))]


def links_to(found: list[Program]) -> str:
    """The names of programs as links to their pages, for a sentence."""
    return ", ".join(f"[{p.name}](/reference/programs/{p.name}.md)" for p in found)


@cache
def plan_of(name: str) -> fw.plan.Plan:  # type: ignore[name-defined]
    """The plan of an example from its text alone: data are not opened."""
    return fw.load(ROOT / "examples" / f"{name}.fw")._session.plan(with_data=False)


def program_pages() -> dict[str, str]:
    """The pages of the programs, and the list of them."""
    found = {f"programs/{p.name}.md": _page(p) for p in programs()}
    return {**found, "programs/index.md": _index()}


def _page(program: Program) -> str:
    plan = plan_of(program.name)
    able = [c.name for c in plan.candidates if c.applies]
    used = listed(program.words, "atoms")
    others = listed(able, "methods")
    return f"""{ALONE}# {program.title}

{program.comment}

```fw
{program.text.rstrip()}
```

    fwdsl run examples/{program.name}.fw

**Words**: {used}.

**Methods** that take it, by its text alone: {others}. `fwdsl plan examples/{program.name}.fw` weighs them with the data
at hand, and says of each other method what the program lacks.
"""


def _index() -> str:
    rows = "\n".join(f"| [{p.name}]({p.name}.md) | {p.summary} |" for p in programs())
    return f"""# Programs

The programs of `examples/`, each with its data. The tests solve them all.

| program | is |
| --- | --- |
{rows}
"""
