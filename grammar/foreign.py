"""Recognises what other languages write: comments, and words for loops, conditions and imports."""

from __future__ import annotations

import re

from fwdsl.grammar.diagnostic import Diagnostic, Fix
from fwdsl.grammar.failure import Failure, Slip
from fwdsl.grammar.lexer import Token
from fwdsl.grammar.lines import CONTINUING
from fwdsl.grammar.modellers import statement_of_a_modeller
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


def statement_of_another(f: Failure) -> Slip | None:
    """`@constraint(model, x >= 0)`, `prob.solve()` in a list of constraints"""
    found = (
        statement_of_a_modeller(f.source, f.tokens)
        if f.kind in ("CONSTRAINT", "PROBLEM", "SOLVE") and f.tokens
        else None
    )
    return None if found is None else Slip(found)


_MODULES = frozenset(
    "cp cvx cvxpy np numpy jnp jax torch scipy sp sklearn linalg math convex jump moi linearalgebra statistics fw fwdsl".split()
)


def without_module(name: str) -> str:
    """The name itself of one with modules in front, such as `np.linalg.norm`; any other name as it is."""
    first, dot, rest = name.partition(".")
    own = rest.rpartition(".")[2]
    return own if dot and own and first.lower() in _MODULES else name


def prefix(f: Failure) -> Slip | None:
    """`np.dot(a, b)`, `cp.sum(x)`, `np.linalg.norm(x)`"""
    if (
        f.found.text != "."
        or f.before.type != "NAME"
        or f.before.text.lower() not in _MODULES
        or f.after.type != "NAME"
    ):
        return None
    last = f.index + 1
    while f.at(last + 1).text == "." and f.at(last + 2).type == "NAME":
        last += 2
    span = Span(f.before.start, f.at(last).start)
    name = f.at(last).text
    return f.slip(
        "FW1058",
        f"{quoted(f.source.slice(span))} stands in front of `{name}`",
        "The words of the language belong to no module.",
        f"write `{name}`",
        span=span,
        fix=(span, ""),
        mended=(*f.tokens[: f.index - 1], *f.tokens[last:]),
    )


def broadcast(f: Failure) -> Slip | None:
    """`x .<= 1`, `a .* b`"""
    dotted = f.after.type in ("STAR", "SLASH", "PLUS", "MINUS", "LE", "GE", "EQEQ") and f.after.start == f.found.end
    if f.found.text != "." or not dotted:
        return None
    return f.slip(
        "FW1059",
        f"`.{f.after.text}` has a point in front of it",
        "Operations and comparisons of arrays are of their entries already.",
        f"write `{f.after.text}`",
        span=f.found.span.to(f.after.span),
        fix=(f.found.span, ""),
        mended=f.swapped(),
    )


_PRODUCTS, _TURNED, _REDUCED = ("dot", "matmul"), ("transpose",), ("sum", "mean", "trace")


def method(f: Failure) -> Slip | None:
    """`A.dot(x)`, `x.sum()`, `x.value`"""
    if f.found.text != "." or f.after.type != "NAME" or f.before.type not in ("NAME", "RPAR", "RSQB", "TRANSPOSE"):
        return None
    start, name = f.operand(f.index), f.after.text
    opened = f.index + 2 if f.at(f.index + 2).type == "LPAR" else None
    closing = None if opened is None else f.closer(opened)
    if start is None or opened is None or closing is None:
        return None
    first = f.tokens[start]
    operand = f.source.text[first.start : f.before.end]
    arguments = f.source.text[f.tokens[opened].end : f.tokens[closing].start].strip()
    span = first.span.to(f.tokens[closing].span)
    if name in _PRODUCTS and arguments:
        right = f"({operand} @ ({arguments}))"
    elif name in _TURNED and not arguments:
        right = f"{operand}.T"
    else:
        right = f"{name}({operand}{', ' if arguments else ''}{arguments})"
    plain = name in _PRODUCTS if arguments else name in (*_TURNED, *_REDUCED)
    return f.slip(
        "FW1059",
        f"`.{name}(...)` is called behind a point",
        "Functions are called with their arguments: `sum(x)`; a product is `A @ x`.",
        f"write {quoted(right)}",
        span=span,
        fix=(span, right) if plain else None,
    )


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
    line = _line(source, token) if hint == _IMPORT else None
    fix = None if line is None else Fix("delete the line", line, "")
    return Diagnostic("FW1053", message, token.span, source, rule=_WORD_RULE, hint=hint, fix=fix)


def _line(source: Source, token: Token) -> Span | None:
    """The line of a token that is its first; None for any other."""
    start = source.text.rfind("\n", 0, token.start) + 1
    end = source.text.find("\n", token.start)
    return None if source.text[start : token.start].strip() else Span(start, len(source.text) if end < 0 else end + 1)


def _comment(source: Source, match: re.Match[str]) -> Diagnostic:
    span = Span(*match.span())
    long = len(match.group()) == 3  # a text over several lines
    hint = "write `#` in front of each of its lines" if long else "write `#`"
    fix = None if long else Fix(hint, span, "#")
    message = f"{quoted(match.group())} starts no comment"
    return Diagnostic("FW1054", message, span, source, rule=_COMMENT_RULE, hint=hint, fix=fix)
