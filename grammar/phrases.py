"""Recognises slips that show in the surroundings of a token: something is missing, misplaced, or foreign."""

from __future__ import annotations

from dataclasses import replace

from fwdsl.grammar.diagnostic import Label
from fwdsl.grammar.failure import Failure, Slip
from fwdsl.grammar.lexer import Token
from fwdsl.grammar.lines import CLOSING, COMPARISONS, OPENING, STARTERS
from fwdsl.grammar.source import Span
from fwdsl.grammar.words import KEYWORDS, SPELLING, found, quoted

_INNER = frozenset("IN OF FROM TRUE FALSE INF".split())  # keywords within a statement
_OPERAND = frozenset("NAME NUMBER STRING LPAR LSQB TRUE FALSE INF".split())


def equality(f: Failure) -> Slip | None:
    """`sum(x) = 1` in a constraint; `let r == a`, `x := 3`"""
    if f.found.type == "EQUAL" and "EQEQ" in f.accepts:
        return f.slip(
            "FW1040",
            "`=` gives a value: an equality is written `==`",
            "Constraints compare with `<=`, `>=` and `==`.",
            "write `==`",
            fix=(f.found.span, "=="),
            mended=f.swapped(Token("EQEQ", "==", f.found.start, f.found.end)),
        )
    assigned = f.found.type == "COLON" and f.after.type == "EQUAL" and f.after.start == f.found.end
    if "EQUAL" in f.accepts and (f.found.type == "EQEQ" or assigned):
        written = "==" if f.found.type == "EQEQ" else ":="
        span = Span(f.found.start, f.found.start + len(written))
        equal = Token("EQUAL", "=", span.start, span.end)
        mended = (*f.tokens[: f.index], equal, *f.tokens[f.index + 1 + assigned :])
        message = (
            "`==` compares: a value is given with `=`" if written == "==" else "a value is given with `=`, not `:=`"
        )
        rule = "`let`, `param` and `solve` give values with `=`."
        return f.slip("FW1041", message, rule, "write `=`", span=span, fix=(span, "="), mended=mended)
    return None


def colon(f: Failure) -> Slip | None:
    """`minimize: f(x)`, `var: x`"""
    if f.index != 1 or f.found.type != "COLON" or f.before.type not in STARTERS:
        return None
    return f.slip(
        "FW1069",
        f"no `:` follows `{f.before.text}`",
        "A keyword is followed directly by what it is about.",
        "delete the `:`",
        fix=(f.found.span, ""),
        mended=f.swapped(),
    )


def keyword(f: Failure) -> Slip | None:
    """`minimize f(x) subject to x >= 0` on one line; `var data: vector[n]`"""
    if f.found.type not in KEYWORDS or (f.found.type in _INNER and f.accepts != {"NAME"}):
        return None
    starts = f.found.type in STARTERS and f.after.type in ("NAME", "TO", "NUMBER", "MINUS", "LPAR")
    if starts and ("$END" in f.accepts or f.before.type == "COMMA"):
        complete = f.tokens[: f.index] if "$END" in f.accepts else f.tokens[: f.index - 1]
        return f.slip(
            "FW1004",
            f"`{f.found.text}` starts a second statement on this line",
            "A statement ends at the end of its line.",
            f"start a new line with `{f.found.text}`",
            fix=(Span(complete[-1].end, f.found.start), "\n"),
            mended=complete,
            resume=f.found.start,
        )
    if starts and f.opens:
        return _unclosed(f, "a new statement starts", resume=f.found.start)
    if "NAME" in f.accepts:
        return f.slip(
            "FW1006",
            f"`{f.found.text}` is a keyword and cannot be a name",
            "Keywords are reserved.",
            f"choose another name, such as `{f.found.text}_1`",
        )
    return None


_SUBJECT_TO = ("such", "st", "with", "where", "constraints", "for", "s")


def subject_to(f: Failure) -> Slip | None:
    """`minimize f(x) such that x >= 0`, `minimize f(x) s.t. x >= 0`"""
    if f.found.type != "NAME" or f.found.text.lower() not in _SUBJECT_TO or f.kind not in ("MINIMIZE", "MAXIMIZE"):
        return None
    two = {"such": "that", "s": "."}.get(f.found.text.lower())
    if "$END" not in f.accepts or (two is not None and f.after.text != two):
        return None
    stop = f.index + (4 if two == "." and f.at(f.index + 3).text == "." else 3 if two == "." else 2 if two else 1)
    stop = min(stop + (f.at(stop).type == "COLON"), len(f.tokens))
    span = f.found.span.to(f.tokens[stop - 1].span)
    written = f.source.slice(span)
    edit = Span(f.before.end, span.end)
    hint = "write `subject to` on a line of its own"
    return f.slip(
        "FW1061",
        f"constraints follow `subject to`, not {quoted(written)}",
        "A line starts with the keyword of its statement.",
        hint,
        span=span,
        fix=(edit, "\nsubject to"),
        mended=f.tokens[: f.index],
        resume=f.found.start,
    )


def brackets(f: Failure) -> Slip | None:
    """`f(x`, `f(x))`, `f(x]`, `norm1(x <= 1`"""
    if f.found.type in CLOSING:
        if not f.opens:
            return f.slip(
                "FW1021",
                f"`{f.found.text}` closes no bracket",
                "Brackets stand in pairs.",
                f"delete `{f.found.text}`, or open a bracket in front",
                fix=(f.found.span, ""),
                mended=f.swapped(),
            )
        opened = f.tokens[f.opens[-1]]
        if OPENING[opened.type] != f.found.type:
            right = SPELLING[OPENING[opened.type]]
            return f.slip(
                "FW1022",
                f"`{f.found.text}` does not close `{opened.text}`",
                "A bracket is closed by its own kind.",
                f"write {right}",
                labels=(Label(opened.span, "opened here"),),
                fix=(f.found.span, right.strip("`")),
            )
        return None
    if f.found is f.end and f.opens:
        return _unclosed(f, "the statement ends")
    if f.found.type in COMPARISONS and f.opens and f.closer(f.opens[-1]) is None and f.kind == "CONSTRAINT":
        return _unclosed(f, "a comparison follows", *_closed(f))
    return None


def _closed(f: Failure) -> tuple[tuple[Token, ...] | None, int | None]:
    """The line with its one open bracket closed before the comparison found, and the offset of the next line.

    The newline filter has read past that offset because of the open bracket.
    """
    rest = f.tokens[f.index :]
    here = f.source.position(f.found.start)[0]
    resume = next((token.start for token in rest if f.source.position(token.start)[0] > here), None)
    if len(f.opens) > 1:
        return None, resume
    kind = OPENING[f.tokens[f.opens[0]].type]
    same = tuple(token for token in rest if resume is None or token.start < resume)
    closing = Token(kind, SPELLING[kind].strip("`"), f.before.end, f.before.end)
    return (*f.tokens[: f.index], closing, *same), resume


def _unclosed(f: Failure, why: str, mended: tuple[Token, ...] | None = None, resume: int | None = None) -> Slip:
    opened = f.tokens[f.opens[-1]]
    closing = SPELLING[OPENING[opened.type]]
    of = f" of `{f.at(f.opens[-1] - 1).text}`" if f.role() in ("call", "type", "index") else ""
    count = len(f.opens)
    return f.slip(
        "FW1020",
        f"the `{opened.text}`{of} is never closed" if count == 1 else f"{count} brackets are never closed",
        "Brackets stand in pairs.",
        f"write {closing} where it belongs, at the latest at the end of line {_line(f)}"
        if f.found is f.end
        else f"write {closing} in front of `{f.found.text}`",
        span=opened.span,
        labels=tuple(Label(f.tokens[i].span, "also open") for i in reversed(f.opens[:-1][-3:]))
        + (() if f.found is f.end else (Label(f.found.span, why),)),
        fix=None if mended is None else (Span(f.before.end, f.before.end), closing.strip("`")),
        mended=mended,
        resume=resume,
    )


def _line(f: Failure) -> int:
    return f.source.position(f.before.start)[0]


def trailing_comma(f: Failure) -> Slip | None:
    """`f(a, )`, `data X: matrix[n, p],`"""
    if f.before.type != "COMMA" or (f.found is not f.end and f.found.type not in CLOSING):
        return None
    return f.slip(
        "FW1050",
        "nothing follows the comma",
        "Commas stand between things.",
        "delete the comma",
        span=f.before.span,
        fix=(f.before.span, ""),
        mended=(*f.tokens[: f.index - 1], *f.tokens[f.index :]),
    )


def comparison(f: Failure) -> Slip | None:
    """`minimize f(x) <= 3`, `f(x <= 1)`"""
    if f.found.type not in COMPARISONS and f.found.type != "IN":
        return None
    if f.declares or (f.kind == "CONSTRAINT" and not f.opens):
        return None
    where = "inside brackets" if f.opens else f"in `{f.tokens[0].text}`"
    hint = "delete the brackets around it" if f.kind == "CONSTRAINT" else "write it under `subject to`"
    return f.slip(
        "FW1048",
        f"{quoted(f.found.text)} makes a constraint, and a constraint cannot stand {where}",
        "Constraints are the entries of `subject to`.",
        hint,
    )


def incomplete_constraint(f: Failure) -> Slip | None:
    """`subject to norm1(x)`"""
    if f.kind != "CONSTRAINT" or f.found is not f.end or "LE" not in f.accepts or f.opens or "$END" in f.accepts:
        return None
    whole = f.text(0, len(f.tokens))
    return f.slip(
        "FW1051",
        f"{whole} says nothing about what it may be",
        "A constraint compares two sides, or puts an expression in a set.",
        "write `<=`, `>=` or `==` and the other side, or `in` and a set",
        span=f.tokens[0].span.to(f.before.span),
    )


def missing_comma(f: Failure) -> Slip | None:
    """`[1 2]`, `matrix[n p]`, `data X: matrix[n, p] y: vector[n]`, `solve tol = 1e-6 seed = 1`"""
    if f.kind == "SOLVE" and f.found.type == "EQUAL" and f.before.type == "NAME" and f.at(f.index - 2).type == "NUMBER":
        return _comma(replace(f, index=f.index - 1))  # the option's name was taken for a unit of time
    if f.found.type not in _OPERAND or f.found.type == "LPAR":
        return None
    if f.kind == "CONSTRAINT" and not f.opens:
        joined = f.found.text in ("and", "AND") and "$END" in f.accepts
        return _comma(f, swap=True) if joined else None
    if "COMMA" not in f.accepts:
        return None
    role = f.role()
    declared = f.declares and not f.opens and f.after.type == "COLON"
    option = f.kind == "SOLVE" and not f.opens and f.after.type in ("EQUAL", "EQEQ")
    numbers = f.before.type == "NUMBER" and f.found.type == "NUMBER"
    texts = "STRING" in (f.before.type, f.found.type)
    named = role == "call" and f.after.type == "EQUAL"
    lists = role == "list" and (numbers or f.found.type == "LSQB")
    if declared or option or numbers or texts or named or lists or role == "type":
        return _comma(f)
    if role == "call" and f.before.type != "NUMBER":
        call = f.at(f.opens[-1] - 1).text
        return f.slip(
            "FW1049",
            f"between {quoted(f.before.text)} and {found(f.found)} a comma or an operator is missing",
            "Arguments are separated by commas, and products are written with `*` or `@`.",
            f"write `,` between two arguments of `{call}`, `@` for a matrix product, or `*`",
        )
    return None


def _comma(f: Failure, swap: bool = False) -> Slip:
    at = Span(f.before.end, f.found.end if swap else f.before.end)
    end = f.tokens[: f.index]
    return f.slip(
        "FW1049",
        f"a comma is missing between {quoted(f.before.text)} and {found(f.after if swap else f.found)}",
        "Commas stand between declarations, arguments, options and constraints.",
        "write `,`",
        fix=(at, ","),
        mended=end if swap else f.inserted("COMMA", ","),
        resume=f.found.end if swap else None,
    )


def interval(f: Failure) -> Slip | None:
    """`x in [0, 1]`"""
    closing = f.closer(f.index) if f.found.type == "LSQB" else None
    if f.before.type != "IN" or closing is None:
        return None
    span = f.found.span.to(f.tokens[closing].span)
    box = f"box({f.source.text[f.found.end : f.tokens[closing].start].strip()})"
    opening, closed = f.found, f.tokens[closing]
    # an interval of mathematics is this word, as the grammar knows no records
    call = (Token("NAME", "box", opening.start, opening.end), Token("LPAR", "(", opening.start, opening.end))
    inner = f.tokens[f.index + 1 : closing]
    return f.slip(
        "FW1055",
        f"{f.text(f.index, closing + 1)} is a list and not a set",
        "Behind `in` stands a set of the language; an interval is a `box`.",
        f"write {quoted(box)}",
        span=span,
        fix=(span, box),
        mended=(
            *f.tokens[: f.index],
            *call,
            *inner,
            Token("RPAR", ")", closed.start, closed.end),
            *f.tokens[closing + 1 :],
        ),
    )


def implicit_product(f: Failure) -> Slip | None:
    """`A x`, `2x`, `2 (x + y)`, `norm1(x) norm2(x)`"""
    if f.found.type not in _OPERAND or "STAR" not in f.accepts or f.found.type == "STRING":
        return None
    scalar = f.before.type == "NUMBER"
    gap = Span(f.before.end, f.found.start)
    apart = f.found.type == "LPAR" or (not scalar and (f.before.type in CLOSING or f.after.type == "LPAR"))
    if apart:
        message = f"{quoted(f.before.text)} before {quoted(f.found.text)} needs an operator between them"
    else:
        message = f"{f.text(f.index - 1, f.index + 1)} is no product"
    if scalar:
        hint = f"write {quoted(f'{f.before.text} * {f.found.text}')}"
    elif apart:
        hint = "write `*` for a product with a scalar or entry by entry, `@` for a matrix product, `+` for a sum"
    else:
        hint = f"write {quoted(f'{f.before.text} @ {f.found.text}')} for a matrix product, else `*`"
    return f.slip(
        "FW1046",
        message,
        "Products are written with `*` (by a scalar, or entry by entry) or `@` (of matrices).",
        hint,
        span=f.before.span.to(f.found.span),
        fix=(gap, " * ") if scalar else None,
        mended=f.inserted("STAR", "*") if scalar else None,
    )
