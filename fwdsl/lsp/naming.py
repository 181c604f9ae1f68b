"""Renaming: what may be renamed, to what, and the edits."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator

from ..check.context import IS
from ..grammar import tree
from ..grammar.lexer import scan
from ..grammar.source import Source, Span
from ..grammar.words import KEYWORDS
from ..words import SOURCES, is_taken, kind_of_word
from .analysis import Analysis, Marked
from .files import columns_of
from .roles import NAMES

Edit = tuple[Span, str]


class Refused(Exception):
    """A request that cannot be met; the message says why, for the user."""


def renamable(analysis: Analysis, offset: int) -> Marked:
    """The name at an offset. Raises `Refused` for a word that the program does not declare."""
    word = analysis.word_at(offset)
    if word is None or word.role not in NAMES:
        kind = "" if word is None else kind_of_word(word.token.text)
        raise Refused(f"`{word.token.text}` is {kind} of the language" if word and kind else "there is no name here")
    if analysis.declaration(word.token.text) is None:
        raise Refused(f"`{word.token.text}` is not declared in this program")
    return word


def rename(analysis: Analysis, offset: int, new: str) -> list[Edit]:
    """The edits that give the name at an offset another one. Raises `Refused` where the new name cannot be used."""
    word = renamable(analysis, offset)
    new = unicodedata.normalize("NFC", new)
    old = word.token.text
    if new == old:
        return []
    _check_new(analysis, new)
    edits = [(w.span, new) for w in analysis.occurrences(old)] + _kept_keys(analysis, old, new)
    _check_meaning(analysis, edits, old, new)
    return edits


def _check_new(analysis: Analysis, new: str) -> None:
    tokens, comments, _ = scan(Source("<name>", new), 1, damaged=True)
    if [t.type for t in tokens] != ["NAME"] or comments or tokens[0].text != new:
        word = len(tokens) == 1 and tokens[0].type in KEYWORDS and tokens[0].text == new
        what = "is a keyword" if word else "is not a name: letters, digits and `_`, no digit first"
        raise Refused(f"`{new}` {what}")
    if is_taken(new):
        raise Refused(f"`{new}` is {kind_of_word(new)} of the language and cannot be declared")
    if analysis.occurrences(new):
        entry = analysis.entries.get(new)
        raise Refused(f"`{new}` is already {IS[entry.kind] if entry is not None else 'used in this program'}")


def _kept_keys(analysis: Analysis, old: str, new: str) -> list[Edit]:
    """The edits that keep what is read from a file by the declared name. Raises `Refused` where no argument can say it."""
    for served, source in _sources(analysis):
        names = [item.name.name for item in served]
        word = SOURCES.get(source.func.name)
        if old not in names or word is None:
            continue
        given = {k.name.name for k in source.keywords}
        argument = next((p.name for p in word.parameters[1:] if p.domain in _NAMES_ONE and p.name not in given), "")
        columns = _columns(analysis, source) if word.serves == "table" and argument else ()
        taken = [n for n in names if word.serves == _BY_NAME or n in columns]
        if not argument or not ({old, new} & {*taken, *columns}):
            return []
        if taken != [old] or new in columns:
            path = analysis.source.slice(source.span)
            raise Refused(f"`{path}` is read by the names declared: say there what `{old}` is, and rename it then")
        at = source.span.end - 1
        return [(Span(at, at), f', {argument}="{old}"')]
    return []


def _sources(analysis: Analysis) -> Iterator[tuple[list[tree.Item], tree.Call]]:
    """Each source with the items that it serves."""
    for statement in analysis.examined.program.statements:
        served: list[tree.Item] = []
        for item in statement.items if isinstance(statement, tree.Declaration) else ():
            served = [*served, item] if item.value is None else []
            if item.source is not None:
                yield served, item.source
                served = []


def _columns(analysis: Analysis, source: tree.Call) -> tuple[str, ...]:
    path = source.args[0] if source.args else None
    if analysis.folder is None or not isinstance(path, tree.String):
        return ()
    return columns_of(analysis.folder / path.value, source.func.name)


#: What `serves` says of a source whose keys are the declared names, and the domains of the arguments that say another one.
_BY_NAME = "many"
_NAMES_ONE = ("string", "column")


def _check_meaning(analysis: Analysis, edits: list[Edit], old: str, new: str) -> None:
    """Raise `Refused` where the program would have errors that it has not now."""
    before = sorted(d.code for d in analysis.examined.diagnostics)
    after = sorted(d.code for d in Analysis(applied(analysis.source.text, edits), analysis.name).examined.diagnostics)
    if before != after:
        raise Refused(f"`{old}` cannot be called `{new}`: the program would mean something else")


def applied(text: str, edits: list[Edit]) -> str:
    """A text with edits that do not overlap."""
    for span, replacement in sorted(edits, key=lambda e: (e[0].start, e[0].end), reverse=True):
        text = text[: span.start] + replacement + text[span.end :]
    return text
