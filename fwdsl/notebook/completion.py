"""Completion in `%%fw` cells: words of the language, names of the program, options of `solve`, and on the first line those of the cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from ..backends.registry import METHODS
from ..grammar.lexer import scan
from ..grammar.source import Source
from ..grammar.words import KEYWORDS
from ..words import COLUMN_WORDS, SETS, SOLVE_OPTIONS, SOURCES, TYPES, function_named, function_names
from .cell import NAME, parser

_WORD = re.compile(r"[\w.\-%]*\Z")
_ASSIGNED = re.compile(r"--(?P<option>data|set|dim)\s+\w+=[\w.]*\Z")
_NAMED = re.compile(r"(?:--method\s+|\bmethod\s*=\s*)\w*\Z")
_OF_SOLVE = re.compile(r"\s*solve\b")


def matcher(shell: Any) -> Callable[[Any], Any]:
    """The matcher that IPython asks; it answers in `%%fw` cells alone, and there nobody else does."""
    from IPython.core.completer import SimpleCompletion, context_matcher

    @context_matcher()  # type: ignore[untyped-decorator, unused-ignore]
    def fw_words(context: Any) -> Any:
        text: str = context.full_text
        if not text.lstrip().startswith("%%" + NAME) or (context.cursor_line == 0 and "%%" in context.token):
            return {"completions": []}
        before: str = context.text_until_cursor
        found = _WORD.search(before)
        fragment = found[0] if found else ""
        offered = sorted(
            {
                word
                for word in _offered(text, before, context.cursor_line, shell)
                if word.startswith(fragment) and word != fragment
            }
        )
        completions = [SimpleCompletion(text=word, type=kind_of(word)) for word in offered]
        return {"completions": completions, "matched_fragment": fragment, "suppress": True, "ordered": True}

    return fw_words  # type: ignore[no-any-return]


def _offered(text: str, before: str, line: int, shell: Any) -> Iterable[str]:
    if _NAMED.search(before):
        return METHODS
    if line == 0:
        return _of_first_line(text, before, shell)
    if _OF_SOLVE.match(before):
        return [*SOLVE_OPTIONS, *KEYWORD_TEXTS]
    return [*KEYWORD_TEXTS, *function_names(), *SETS, *TYPES, *SOURCES, *COLUMN_WORDS, *names_in(text)]


KEYWORD_TEXTS = tuple(sorted(word.lower() for word in KEYWORDS))


def kind_of(word: str) -> str:
    """The kind of a word, in the names that front ends have icons for."""
    if word in TYPES:
        return "class"
    if function_named(word) or word in SETS or word in SOURCES or word in COLUMN_WORDS:
        return "function"
    return "keyword" if word in KEYWORD_TEXTS or word in SOLVE_OPTIONS or word.startswith("-") else "instance"


def _of_first_line(text: str, before: str, shell: Any) -> Iterable[str]:
    assigned = _ASSIGNED.search(before)
    if assigned:
        return [] if assigned["option"] == "dim" else [name for name in shell.user_ns if not name.startswith("_")]
    if re.search(r"--(data|set|dim)\s+\w*\Z", before):
        return [f"{name}=" for name in names_in(text)]
    return [option for action in parser()._actions for option in action.option_strings if option.startswith("--")]


def names_in(text: str) -> list[str]:
    """The names that a program has below the first line of its cell, in their order; words of the language are not among them."""
    tokens, _, _ = scan(Source("", text.partition("\n")[2]), 0)
    known = {*function_names(), *SETS, *TYPES, *SOURCES, *COLUMN_WORDS}
    return list(dict.fromkeys(t.text for t in tokens if t.type == "NAME" and t.text not in known))
