"""Recognises how lines start: with words that beginners write for keywords, or with no keyword."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from fwdsl.grammar.diagnostic import Diagnostic, Fix
from fwdsl.grammar.foreign import line_of_another_language
from fwdsl.grammar.lexer import Token
from fwdsl.grammar.lines import COMPARISONS, STARTERS
from fwdsl.grammar.modellers import statement_of_a_modeller
from fwdsl.grammar.source import Source, Span
from fwdsl.grammar.words import found, quoted

_SUBJECT = re.compile(
    r"(?:such[ \t]+that|s\.[ \t]?t\.|s\.t\b|st\b|subject\b(?:[ \t]+to\b)?|constraints?\b|with\b|where\b)[ \t]*:?", re.I
)
_MINIMIZE = re.compile(r"(?:minimi[sz]e|minimum|min|argmin)\b[ \t]*:?", re.I)
_MAXIMIZE = re.compile(r"(?:maximi[sz]e|maximum|max|argmax)\b[ \t]*:?", re.I)
_USUAL = ((_SUBJECT, "subject to", "FW1061"), (_MINIMIZE, "minimize", "FW1060"), (_MAXIMIZE, "maximize", "FW1060"))
_OTHERS = {
    "variable": "var",
    "variables": "var",
    "vars": "var",
    "parameter": "param",
    "parameters": "param",
    "params": "param",
    "define": "let",
    "def": "let",
    "set": "let",
    "const": "let",
    "options": "solve",
}
_WORDS = ("problem", "data", "param", "var", "let", "minimize", "maximize", "subject", "solve")
_OPERAND = frozenset("NAME NUMBER STRING FAMILY TO".split()) | STARTERS
_HEADS = "`data`, `param`, `var`, `let`, `minimize`, `maximize`, `subject to` or `solve`"
_RULE = "A line starts with the keyword of its statement."


@dataclass(frozen=True)
class Mended:
    """The keyword that was meant by the tokens up to index `stop`."""

    diagnostic: Diagnostic
    tokens: tuple[Token, ...]
    stop: int


def mend_start(source: Source, tokens: Sequence[Token], index: int, in_list: bool) -> Mended | None:
    """The keyword that was meant where a line starts (at `index`) with something like it."""
    token = tokens[index]
    if token.type not in ("NAME", "SUBJECT", "MINIMIZE", "MAXIMIZE"):
        return None
    if in_list and token.type == "NAME" and index + 1 < len(tokens) and tokens[index + 1].type == "COLON":
        return None  # a constraint's name
    written, words, code = _known(source.text, token.start)
    if not words:
        written, code = token.text, "FW1003"
        declares = [t.type for t in tokens[index + 1 : index + 3]] == ["NAME", "COLON"]
        words = _meant(written, declares) if _starts_statement(tokens, index + 1, in_list, exact=False) else ""
    # `subject` alone, and correct keywords without a colon, are left to the parser.
    if not words or " ".join(written.split()) in (words, "subject"):
        return None
    stop = index
    while stop < len(tokens) and tokens[stop].start < token.start + len(written):
        stop += 1
    span = Span(token.start, tokens[stop - 1].end)
    if token.type == "NAME" and not _starts_statement(tokens, stop, in_list, exact=token.text.lower() in _EXACT):
        return None
    if token.type != "NAME":
        code, message = "FW1069", f"no `:` follows `{words}`"
    elif words == "subject to":
        code, message = "FW1061", f"constraints follow `subject to`, not {quoted(written)}"
    else:
        message = f"{quoted(written)} starts no statement: the keyword is `{words}`"
    hint = f"write `{words}`"
    diagnostic = Diagnostic(code, message, span, source, rule=_RULE, hint=hint, fix=Fix(hint, span, words))
    parts = words.split()
    mended = tuple(Token(part.upper(), part, span.start, span.end) for part in parts)
    return Mended(diagnostic, mended, stop)


_EXACT = ("minimise", "maximise")


def _known(text: str, start: int) -> tuple[str, str, str]:
    """The text at `start`, the keyword that it stands for and the slip's code, where it is a usual slip."""
    for pattern, words, code in _USUAL:
        if match := pattern.match(text, start):
            return match.group(), words, code
    return "", "", ""


def _meant(word: str, declares: bool) -> str:
    """The keyword that a word resembles. Where a declaration follows, less is enough: `vra` stands for `var`."""
    lower = word.lower()
    if lower in _OTHERS:
        return _OTHERS[lower]
    if len(word) > 12:
        return ""
    close = get_close_matches(lower, ("data", "param", "var"), 1, 0.6) if declares else []
    close = close or get_close_matches(lower, _WORDS, 1, 0.8)
    return ("subject to" if close[0] == "subject" else close[0]) if close else ""


def _starts_statement(tokens: Sequence[Token], stop: int, in_list: bool, exact: bool) -> bool:
    """True if a name at the start of a line is meant as a keyword, judged by what follows it at index `stop`.

    In a list of constraints a line may start with any name; two operands in a row never start a constraint.
    """
    follows = tokens[stop].type if stop < len(tokens) else "NEWLINE"
    if exact:
        return follows not in COMPARISONS and follows not in ("COLON", "EQUAL", "IN")
    if in_list:
        return follows in _OPERAND
    return follows in _OPERAND or follows in ("NEWLINE", "LPAR", "LSQB", "MINUS")


def stray(source: Source, tokens: Sequence[Token]) -> Diagnostic:
    """The finding for a line that starts with no keyword."""
    head = tokens[0]
    if (other := statement_of_a_modeller(source, tokens)) is not None:
        return other
    if (foreign := line_of_another_language(source, head)) is not None:
        return foreign
    kinds = {token.type for token in tokens}
    if head.type in ("COMMA", "EQUAL", "COLON", "PLUS", "MINUS", "POWER"):
        return Diagnostic(
            "FW1007",
            f"a line starts with {found(head)} and continues nothing",
            head.span,
            source,
            rule="A line goes on after a comma, `=`, `:` or an operator at its end, and while a bracket is open.",
            hint=f"put {found(head)} at the end of the line above",
        )
    second = tokens[1].type if len(tokens) > 1 else ""
    hint = f"start the line with {_HEADS}"
    if head.type == "NAME" and second == "EQUAL":
        hint = f"write `let {head.text} = ...`, or `param {head.text}: real = ...`"
    elif head.type == "NAME" and second == "COLON":
        hint = f"write `var {head.text}: ...`, `data {head.text}: ...` or `param {head.text}: ...`"
    elif kinds & (COMPARISONS | {"IN"}):
        hint = "write `subject to` in front of constraints"
    return Diagnostic("FW1003", f"{found(head)} starts no statement", head.span, source, rule=_RULE, hint=hint)
