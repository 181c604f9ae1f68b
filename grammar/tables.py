"""The parser's tables, which lark makes from `fw.lark`, and `fw.tables` keeps.

Importing lark takes about 50 ms, and building the tables as much again; reading them takes 3 ms and needs no lark. So they
are kept beside the grammar, as plain JSON, with a hash of the grammar. Where the hash does not match, since somebody is
working on the grammar, they are built again in memory. After a change of `fw.lark` run

    python -m fwdsl.grammar.tables
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

GRAMMAR = Path(__file__).with_name("fw.lark")
SAVED = Path(__file__).with_name("fw.tables")
STARTS = ("statement", "constraint")
# Terminals that no rule uses: blanks, comments, and what beginners write by mistake.
UNUSED = (
    "SUBJECT TO NEWLINE BLANK COMMENT POWER STRICT BACKWARDS UNEQUAL PRIME SINGLE SMART OPEN BAR SEMICOLON BAD".split()
)


@dataclass(frozen=True)
class Rule:
    """A production: the symbol it makes, the number of symbols it takes, and the function of `build` that makes the value."""

    origin: str
    length: int
    action: str | None


@dataclass(frozen=True)
class Tables:
    """LALR(1) tables and the terminals' patterns.

    `states[s][symbol]` is the next state for a shift or a goto, and `-(r + 1)` for a reduction by rule `r`. `patterns`
    are in the order in which the lexer tries them; `keywords` are the names that are terminals of their own.
    """

    stamp: str
    patterns: tuple[tuple[str, str], ...]
    keywords: dict[str, str]
    rules: tuple[Rule, ...]
    states: tuple[dict[str, int], ...]
    starts: dict[str, int]


def stamp() -> str:
    """A hash of what the tables depend on: the grammar's text, the start symbols and the unused terminals."""
    return hashlib.sha256(GRAMMAR.read_bytes() + "|".join((*STARTS, *UNUSED)).encode()).hexdigest()


def build() -> Tables:
    """The tables made anew from `fw.lark`."""
    from lark import Lark
    from lark.lexer import PatternStr

    class Keep:
        always_accept = UNUSED

        def process(self, stream: Any) -> Any:
            return stream

    made = Lark(GRAMMAR.read_text("utf-8"), start=list(STARTS), parser="lalr", lexer="basic", postlex=Keep())
    table = made.parser.parser._parse_table
    name = next(t.pattern.to_regexp() for t in made.terminals if t.name == "NAME")
    words = [t for t in made.terminals if isinstance(t.pattern, PatternStr) and re.fullmatch(name, t.pattern.value)]
    others = sorted(
        (t for t in made.terminals if t not in words),
        key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name),
    )
    # lark numbers states in the order of its sets, which varies, so they get numbers in the order in which texts reach them.
    number = {state: i for i, (_, state) in enumerate(sorted(table.start_states.items()))}
    rules: dict[Any, int] = {}
    states = []
    queue = list(number)
    for state in queue:
        row = {}
        for symbol, (action, target) in sorted(table.states[state].items()):
            if action.name == "Shift":
                if target not in number:
                    number[target] = len(number)
                    queue.append(target)
                row[symbol] = number[target]
            else:
                row[symbol] = -1 - rules.setdefault(target, len(rules))
        states.append(row)
    # lark stops in a start symbol's end state without reading the end token, which is shifted there instead.
    for state in table.end_states.values():
        states[number[state]]["$END"] = number[state]
    return Tables(
        stamp(),
        tuple((t.name, t.pattern.to_regexp()) for t in others),
        {t.pattern.value: t.name for t in sorted(words, key=lambda t: t.name)},
        tuple(Rule(str(r.origin.name), len(r.expansion), r.alias) for r in rules),
        tuple(states),
        {start: number[state] for start, state in sorted(table.start_states.items())},
    )


def dumps(tables: Tables) -> str:
    """The text of `fw.tables`: one state or rule a line, so that a change can be read in a diff."""
    parts = []
    for key, value in asdict(tables).items():
        if key in ("patterns", "rules", "states"):
            rows = ",\n".join(
                json.dumps(list(row.values()) if key == "rules" else row, ensure_ascii=True, separators=(",", ":"))
                for row in value
            )
            parts.append(f'"{key}": [\n{rows}\n]')
        else:
            parts.append(f'"{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def loads(text: str) -> Tables:
    """The tables from the text of `fw.tables`."""
    data = json.loads(text)
    data["patterns"] = tuple((name, pattern) for name, pattern in data["patterns"])
    data["rules"] = tuple(Rule(*rule) for rule in data["rules"])
    data["states"] = tuple(data["states"])
    return Tables(**data)


@cache
def tables() -> Tables:
    """The tables of this grammar: the saved ones if they are current, else new ones."""
    try:
        saved = loads(SAVED.read_text("ascii"))
    except (OSError, ValueError, KeyError, TypeError):
        return build()
    return saved if saved.stamp == stamp() else build()


if __name__ == "__main__":
    SAVED.write_text(dumps(build()), "ascii")
