"""Recognises slips that a single token shows: characters of other languages, mathematics and word processors."""

from __future__ import annotations

import re

from fwdsl.grammar.failure import Failure, Slip
from fwdsl.grammar.lexer import Token
from fwdsl.grammar.source import Span
from fwdsl.grammar.words import found, quoted

_TEXTS = "A text stands in straight double quotes."


def unclosed_text(f: Failure) -> Slip | None:
    """`"a.svm`"""
    if f.found.type != "OPEN":
        return None
    return f.slip("FW1033", "the text that starts here is never closed", _TEXTS, 'write `"` where it ends')


_WITH_TEXTS = frozenset(("data", "solve", "problem"))
"""The statements that have texts: sources, options and titles."""


def wrong_quotes(f: Failure) -> Slip | None:
    """`'a.svm'`, `“a.svm”`"""
    if f.found.type not in ("SINGLE", "SMART"):
        return None
    inner = f.found.text[1:-1]
    right = '"' + inner.replace("\\", "\\\\").replace('"', '\\"') + '"'
    code, what = ("FW1035", "single") if f.found.type == "SINGLE" else ("FW1034", "curly")
    # in an expression no text stands first, or after an operator: `norm(x, "fro")`, `step="line_search"`
    is_name = inner.isidentifier() and f.before.text not in (",", "=") and f.tokens[0].text not in _WITH_TEXTS
    if is_name:
        right = inner
    token = Token("NAME" if is_name else "STRING", right, f.found.start, f.found.end)
    return f.slip(
        code,
        f"{found(f.found)} stands in {what} quotes",
        "A name stands without quotes." if is_name else _TEXTS,
        f"write {quoted(right)}",
        fix=(f.found.span, right),
        mended=f.swapped(token),
    )


#: The norms whose squares are sums of squares, whatever is in them.
_SQUARED = frozenset(("norm2", "norm_fro", "norm"))
_SQUARES = "sum_squares"
_OF_SIZES = "abs_power"


def power(f: Failure) -> Slip | None:
    """`x^2`, `x**2`, `x²`, `sum((A @ x - b) .^ 2)`, `norm2(x)^2`"""
    dotted = f.found.text == "." and f.after.type == "POWER"
    mark = f.index + dotted
    if f.at(mark).type != "POWER":
        return None
    what = found(f.at(mark))
    message = f"{what} is not an operator: the language has no powers"
    rule = "Squares are functions, so that the compiler knows them to be convex."
    start = f.operand(f.index)
    two = f.at(mark).text == "²" or f.at(mark + 1).text in ("2", "2.0")
    stop = mark + (1 if f.at(mark).text == "²" else 2)
    if start is not None and two:
        inner = f.tokens[start : f.index]
        summed = f.at(start - 1).type == "LPAR" and f.at(start - 2).text == "sum" and f.closer(start - 1) == stop
        if summed:
            grouped = inner[0].type == "LPAR" and f.closer(start) == f.index - 1
            return _called(f, message, rule, (start - 2, stop + 1), _SQUARES, inner[1:-1] if grouped else inner)
        called = inner[0].text in _SQUARED and len(inner) > 3 and f.closer(start + 1) == f.index - 1
        euclidean = [t.text for t in inner[-3:-1]] == [",", "2"]
        if called and (euclidean or "," not in [t.text for t in inner]):
            return _called(f, message, rule, (start, stop), _SQUARES, inner[2 : -3 if euclidean else -1])
    if start is not None and not two and f.before.type != "NUMBER" and f.at(mark + 1).type == "NUMBER":
        rule = "Powers are functions of each entry, so that the compiler knows which are convex."
        p, of = f.at(mark + 1), _power_of(f, start)
        if of is not None:
            return _called(f, message, rule, (start, stop), *of, p)
        hint = f"write `power(z, {p.text})` for an affine z, `abs_power(z, {p.text})` for its size"
        return f.slip("FW1042", message, rule, hint, span=f.at(mark).span)
    square = quoted(f"sum_squares({_operand(f)})")
    if f.before.type == f.after.type == "NUMBER":
        return f.slip(
            "FW1042",
            f"{found(f.found)} is not an operator: the language has no powers",
            "Powers of numbers are a function.",
            f"write `power({f.before.text}, {f.after.text})`",
        )
    return f.slip(
        "FW1042",
        message,
        rule,
        f"write {square} for a sum of squares, or the loss `squared(z, b)`",
        span=f.at(mark).span,
    )


def _power_of(f: Failure, start: int) -> tuple[str, tuple[Token, ...]] | None:
    """The function of entries that the power found is, and what it is of; None for the power of another call, which may not be affine.

    `abs(z)^p` and even powers are `abs_power(z, p)`.
    """
    inner, end = f.tokens[start : f.index], f.index - 1
    p = float(f.at(f.index + 1 + (f.found.text == ".")).text)
    called = inner[0].type == "NAME" and len(inner) > 3 and inner[1].type == "LPAR" and f.closer(start + 1) == end
    if called:
        return (_OF_SIZES, inner[2:-1]) if inner[0].text == "abs" else None
    grouped = inner[0].type == "LPAR" and f.closer(start) == end
    return "power" if p % 2.0 else _OF_SIZES, inner[1:-1] if grouped else inner


def _called(
    f: Failure,
    message: str,
    rule: str,
    place: tuple[int, int],
    name: str,
    inner: tuple[Token, ...],
    p: Token | None = None,
) -> Slip:
    """The slip of a power: between the tokens of `place` should stand the function `name` of the tokens `inner`, and of the exponent p."""
    start, stop = place
    span = f.tokens[start].span.to(f.tokens[stop - 1].span)
    last = "" if p is None else f", {p.text}"
    right = f"{name}({f.source.text[inner[0].start : inner[-1].end]}{last})"
    call = (
        Token("NAME", name, span.start, span.start),
        Token("LPAR", "(", span.start, span.start),
        *inner,
        *(() if p is None else (Token("COMMA", ",", p.start, p.start), p)),
        Token("RPAR", ")", span.end, span.end),
    )
    mended = (*f.tokens[:start], *call, *f.tokens[stop:])
    return f.slip("FW1042", message, rule, f"write {quoted(right)}", span=span, fix=(span, right), mended=mended)


def _operand(f: Failure) -> str:
    """The name or the group in front of the token found, without brackets; dots if there is neither."""
    if f.before.type == "NAME":
        return f.before.text
    opened = next((i for i in range(f.index) if f.tokens[i].type == "LPAR" and f.closer(i) == f.index - 1), None)
    if opened is None or f.at(opened - 1).type == "NAME":
        return "..."
    return f.source.text[f.tokens[opened].end : f.before.start]


def _comparator(f: Failure, message: str, rule: str, text: str) -> Slip:
    token = Token("LE" if text == "<=" else "GE", text, f.found.start, f.found.end)
    mended = f.swapped(token) if token.type in f.accepts else None
    return f.slip("FW1043", message, rule, f"write `{text}`", fix=(f.found.span, text), mended=mended)


def order_of_matrices(f: Failure) -> Slip | None:
    """`P >> 0`, `A << B`"""
    mark, after = f.found, f.after
    if mark.type != "STRICT" or after.type != "STRICT" or after.text != mark.text or after.start != mark.end:
        return None
    above = mark.text == ">"
    bound = f.at(f.index + 2)
    simple = f.before.type == "NAME" and bound.text == "0"
    name = f.before.text
    hint = "write `A - B in psd` for `A >> B`" if above else "write `B - A in psd` for `A << B`"
    if simple:
        hint = f"write `{name} in psd`" if above else f"write `-{name} in psd`"
    fix = (Span(mark.start, bound.end), "in psd") if simple and above else None
    return f.slip(
        "FW1043",
        f"`{mark.text}{mark.text}` is no comparison",
        "A positive semidefinite matrix is a member of the set `psd`.",
        hint,
        fix=fix,
        span=Span(mark.start, after.end),
    )


def strict(f: Failure) -> Slip | None:
    """`x < 1`"""
    if f.found.type != "STRICT":
        return None
    return _comparator(
        f,
        f"`{f.found.text}` is a strict inequality",
        "A feasible set contains its boundary, else an optimum need not exist.",
        f.found.text + "=",
    )


def backwards(f: Failure) -> Slip | None:
    """`x =< 1`"""
    if f.found.type != "BACKWARDS":
        return None
    text = f.found.text[::-1]
    return _comparator(f, f"`{f.found.text}` is written `{text}`", "Comparisons are `<=`, `>=` and `==`.", text)


def unequal(f: Failure) -> Slip | None:
    """`x != 0`"""
    if f.found.type != "UNEQUAL":
        return None
    return f.slip(
        "FW1044",
        f"{found(f.found)} is not a constraint of a convex program",
        "What is left when a point is taken out of a set is not convex.",
        "write `<=`, `>=` or `==`",
    )


def prime(f: Failure) -> Slip | None:
    """`A'`, `x' * y`, which is a product of matrices where `'` transposes"""
    if f.found.type != "PRIME":
        return None
    times = f.after.type == "STAR"
    right = ".T @" if times else ".T"
    span = f.found.span.to(f.after.span) if times else f.found.span
    turned = Token("TRANSPOSE", ".T", f.found.start, f.found.end)
    product = (Token("AT", "@", f.after.start, f.after.end),) if times else ()
    return f.slip(
        "FW1045",
        f"`'` does not transpose {quoted(f.before.text)}" if f.before.type == "NAME" else "`'` does not transpose",
        "The transpose of a matrix is written `A.T`.",
        f"write `{f.before.text}{right}`" if f.before.type == "NAME" else f"write `{right}`",
        fix=(span, right),
        mended=(*f.tokens[: f.index], turned, *product, *f.tokens[f.index + 1 + times :]),
    )


# What mathematics writes as marks is a word here: these are the grammar's own, which knows no records.
_NORMS = {"_1": "norm1", "_2": "norm2", "_inf": "norm_inf", "_∞": "norm_inf", "": "norm2"}
_EUCLIDEAN = ("_2", "")


def bars(f: Failure) -> Slip | None:
    """`||x||`, `||x||_1`, `|x|`"""
    if f.found.type != "BAR":
        return None
    rule = "Norms and absolute values are functions with names."
    single = f.found.text == "|"
    hint = (
        "write `norm1(x)`, or the loss `absolute(z, b)`" if single else "write `norm2(x)`, `norm1(x)` or `norm_inf(x)`"
    )
    what = "an absolute value" if single else "a norm"
    closing = next((i for i in range(f.index + 1, len(f.tokens)) if f.tokens[i].text == f.found.text), None)
    if closing is None or closing == f.index + 1:
        return f.slip("FW1047", f"{found(f.found)} does not write {what} here", rule, hint)
    whole = f.text(f.index, closing + 1)
    span = f.found.span.to(f.tokens[closing].span)
    inner = f.source.text[f.found.end : f.tokens[closing].start].strip()
    suffix = f.at(closing + 1)
    end = closing
    which = suffix.text if suffix.type == "NAME" and suffix.start == span.end else ""
    norm = _NORMS.get(which)
    if single or norm is None or "|" in inner:
        return f.slip("FW1047", f"{whole} does not write {what} here", rule, hint, span=span)
    if suffix.type == "NAME" and suffix.start == span.end:
        span = Span(span.start, suffix.end)
        closing += 1
    if f.at(closing + 1).type == "POWER":
        written = f.at(closing + 1).text
        last = closing + (1 if written == "²" else 2)
        if which not in _EUCLIDEAN or (written != "²" and f.at(last).text != "2"):
            hint = f"write {quoted(f'sum_squares({inner})')} for the square of a Euclidean norm"
            return f.slip("FW1047", f"{whole} does not write a norm here", rule, hint, span=span)
        norm, span, closing = _SQUARES, Span(span.start, f.at(last).end), last
    right = f"{norm}({inner})"
    call = (
        Token("NAME", norm, f.found.start, f.found.end),
        Token("LPAR", "(", f.found.start, f.found.end),
        *f.tokens[f.index + 1 : end],
        Token("RPAR", ")", f.tokens[closing].start, f.tokens[closing].end),
    )
    mended = (*f.tokens[: f.index], *call, *f.tokens[closing + 1 :]) if "NAME" in f.accepts else None
    hint = f"write {quoted(right)}"
    return f.slip(
        "FW1047", f"{whole} does not write a norm here", rule, hint, span=span, fix=(span, right), mended=mended
    )


def semicolon(f: Failure) -> Slip | None:
    """`[1, 0; 0, 1]`"""
    if f.found.type != "SEMICOLON":
        return None
    return f.slip(
        "FW1005",
        "a `;` stands inside brackets",
        "The rows of a matrix are lists in a list.",
        "write `[[1, 0], [0, 1]]`",
    )


def malformed_number(f: Failure) -> Slip | None:
    """`1.`, `1_`, `1e`, `0x1f`, `1.2.3`"""
    if f.before.type != "NUMBER" or f.before.end != f.found.start or f.found is f.end:
        return None
    number = f.before.text
    rule = "Numbers are written `1`, `1.5`, `.5`, `1e-3` or `1_000`."
    if f.found.text == ".":
        if not number.replace("_", "").isdigit():
            return None
        right = number + ".0"
        span = f.before.span.to(f.found.span)
        rest = f.tokens[f.index + 1 :]
        mended = (*f.tokens[: f.index - 1], Token("NUMBER", right, span.start, span.end), *rest)
        message = f"`{number}.` has no digit behind its point"
        return f.slip("FW1037", message, rule, f"write `{right}`", span=span, fix=(span, right), mended=mended)
    odd = f.found.type == "NAME" and re.fullmatch(r"_.*|[eE]|[xXbBoO][0-9a-fA-F]+", f.found.text)
    if odd or (f.found.type == "NUMBER" and f.found.text.startswith(".")):
        span = f.before.span.to(f.found.span)
        return f.slip(
            "FW1037", f"{f.text(f.index - 1, f.index + 1)} is not a number", rule, "write a number", span=span
        )
    return None


_CHARACTERS = {
    "\\": "a line goes on by itself after an operator or a comma, and in brackets: delete it",
    "{": "write `(` or `[`",
    "}": "write `)` or `]`",
    "!": "comments start with `#`",
    "%": "comments start with `#`",
    "&": "separate constraints by commas, or write one a line",
    ".": "a point stands only in numbers and in `.T`; call functions as `sum(x)`",
    "'": 'texts stand in double quotes, and a transpose is `A.T`',
}  # fmt: skip


def stray_character(f: Failure) -> Slip | None:
    """`$`, `{`, `\\`, ..."""
    if f.found.type != "BAD":
        return None
    hint = _CHARACTERS.get(f.found.text, "delete it")
    return f.slip(
        "FW1030", f"{found(f.found)} has no meaning here", "Programs use the characters of the language.", hint
    )
