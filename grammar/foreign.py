"""Recognises what other languages write: comments, and words for loops, conditions and imports."""

from __future__ import annotations

import re

from fwdsl.grammar.diagnostic import Diagnostic, Fix
from fwdsl.grammar.failure import Failure, Slip
from fwdsl.grammar.lexer import Token
from fwdsl.grammar.lines import CONTINUING
from fwdsl.grammar.source import Source, Span
from fwdsl.grammar.words import quoted

_COMMENT = re.compile(r"//|/\*|%|--|\"\"\"|'''|!")
_BEHIND_CODE = re.compile(r"//|/\*|%")
_COMMENT_RULE = "A comment starts with `#` and ends with its line."
_LOOP = "there are no loops: an expression is of whole vectors, as `x >= 0` holds for every entry"
_CHOICE = "there are no conditions: losses such as `hinge` and `huber` have their cases built in"
_IMPORT = "everything of the language is there already; data come `from` files"
_WORDS = {
    **dict.fromkeys(("for", "forall", "foreach", "while", "repeat"), _LOOP),
    **dict.fromkeys(("if", "else", "elif", "endif"), _CHOICE),
    **dict.fromkeys(("import", "using", "include", "require"), _IMPORT),
    **dict.fromkeys(("def", "function", "lambda", "return"), "`let NAME = EXPR` names an expression; functions are built in"),
    **dict.fromkeys(("and", "or", "not"), "terms are added with `+`, constraints are separated by commas"),
}  # fmt: skip
_WORD_RULE = "A program states what is minimised: it has no steps, loops or conditions."


def line_of_another_language(source: Source, head: Token) -> Diagnostic | None:
    """The finding for a line that starts with another language's comment sign or word; None if it does not."""
    if (match := _COMMENT.match(source.text, head.start)) is not None:
        return _comment(source, match)
    return _word(source, head)


def comment(f: Failure) -> Slip | None:
    """`var x: real // a number`"""
    for index in (f.index - 1, f.index):
        if not 0 <= index < len(f.tokens):
            continue
        start = f.tokens[index].start
        if (match := _BEHIND_CODE.match(f.source.text, start)) is not None:
            line = f.source.position(start)[0]
            code = f.tokens[:index]
            below = tuple(token for token in f.tokens[index:] if f.source.position(token.start)[0] > line)
            if f.opens or (code and code[-1].type in CONTINUING):
                return Slip(_comment(f.source, match), (*code, *below))
            return Slip(_comment(f.source, match), code or None, below[0].start if below else None)
    return None


def word(f: Failure) -> Slip | None:
    """`minimize f(x) if x`, `for all i: x[i] >= 0`"""
    for token in (f.found, f.before):
        joined = f.kind == "CONSTRAINT" and token.text.lower() == "and" and not f.opens  # a comma was meant
        if token.type == "NAME" and not joined and (said := _word(f.source, token)) is not None:
            return Slip(said)
    return None


def _word(source: Source, token: Token) -> Diagnostic | None:
    hint = _WORDS.get(token.text.lower())
    if hint is None:
        return None
    message = f"{quoted(token.text)} is no word of the language"
    return Diagnostic("FW1053", message, token.span, source, rule=_WORD_RULE, hint=hint)


def _comment(source: Source, match: re.Match[str]) -> Diagnostic:
    span = Span(*match.span())
    long = len(match.group()) == 3  # a text over several lines
    hint = "write `#` in front of each of its lines" if long else "write `#`"
    fix = None if long else Fix(hint, span, "#")
    message = f"{quoted(match.group())} starts no comment"
    return Diagnostic("FW1054", message, span, source, rule=_COMMENT_RULE, hint=hint, fix=fix)
