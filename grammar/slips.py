"""Explains where the parser stopped. The recognisers are tried in order, and the last one takes every failure."""

from __future__ import annotations

from fwdsl.grammar import declarations, foreign, marks, phrases
from fwdsl.grammar.failure import Failure, Slip
from fwdsl.grammar.source import Span
from fwdsl.grammar.words import SPELLING, found

# A path without quotes can hold anything, so it comes first. Marks are wrong by themselves, phrases by their surroundings.
_RECOGNISERS = (
    declarations.unquoted_path,
    foreign.statement_of_another,
    foreign.comment,
    foreign.prefix,
    foreign.broadcast,
    foreign.method,
    marks.unclosed_text,
    marks.wrong_quotes,
    marks.power,
    marks.order_of_matrices,
    marks.strict,
    marks.unequal,
    marks.backwards,
    marks.prime,
    marks.bars,
    marks.semicolon,
    marks.malformed_number,
    marks.stray_character,
    phrases.equality,
    phrases.colon,
    declarations.missing_type,
    declarations.round_type,
    declarations.index_of_type,
    declarations.dimension,
    declarations.bound_in_declaration,
    declarations.missing_from,
    phrases.keyword,
    phrases.subject_to,
    foreign.word,
    phrases.brackets,
    phrases.trailing_comma,
    phrases.interval,
    phrases.comparison,
    phrases.incomplete_constraint,
    phrases.missing_comma,
    phrases.implicit_product,
)


def explain(failure: Failure) -> Slip:
    """The slip at the place where the parser stopped."""
    for recogniser in _RECOGNISERS:
        if (slip := recogniser(failure)) is not None:
            return slip
    return _unexpected(failure)


_DECLARED = "NAME: TYPE [in SET] [from SOURCE | = VALUE]"
_FORMS = {
    "FW": "The version of the language is written `fw 1`.",
    "PROBLEM": "A problem's name is written `problem NAME`.",
    "DATA": f"Data is declared as `data {_DECLARED}`.",
    "PARAM": f"A parameter is declared as `param {_DECLARED}`.",
    "VAR": "A variable is declared as `var NAME: TYPE [in SET]`.",
    "LET": "An expression is named as `let NAME = EXPR`.",
    "MINIMIZE": "An objective is written `minimize EXPR`.",
    "MAXIMIZE": "An objective is written `maximize EXPR`.",
    "SOLVE": "Options of the solver are written `solve OPTION = VALUE, ...`.",
    "CONSTRAINT": "A constraint is written `EXPR <= EXPR` (or `>=`, `==`) or `EXPR in SET`, with `NAME:` in front if named.",
}


def _unexpected(f: Failure) -> Slip:
    wanted = f.wanted()
    rule = _FORMS[f.kind]
    if f.found is f.end:
        return f.slip("FW1002", f"the line ends where {wanted} was expected", rule, "complete the line")
    if f.accepts <= {"EQUAL", "COLON"}:
        text = SPELLING[min(f.accepts)].strip("`")
        at = Span(f.before.end, f.found.start)
        mended = f.inserted(min(f.accepts), text) if f.found.type in ("NAME", "NUMBER", "STRING") else None
        message, fix = f"expected {wanted}, found {found(f.found)}", (at, f" {text} ") if mended else None
        return f.slip("FW1001", message, rule, f"write {wanted}", label=f"expected {wanted}", fix=fix, mended=mended)
    hint = "start a new line, or delete it" if f.accepts == {"$END"} else ""
    return f.slip("FW1001", f"expected {wanted}, found {found(f.found)}", rule, hint, label=f"expected {wanted}")
