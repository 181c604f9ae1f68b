"""Slips in declarations: types, sources, and what does not belong there."""

from __future__ import annotations

from .failure import Failure, Slip
from .lexer import Token
from .lines import CLOSING, COMPARISONS
from .source import Span
from .words import found, quoted

FORMATS = ("libsvm", "csv", "npy", "npz", "mtx", "parquet", "coo")
_SUFFIXES = {"svm": "libsvm", "libsvm": "libsvm", "csv": "csv", "npy": "npy", "npz": "npz", "mtx": "mtx"}
_SOURCE = 'A source is a format with a path in double quotes: `libsvm("a.svm")`.'
_OPERATORS = frozenset("PLUS MINUS STAR SLASH AT TRANSPOSE POWER".split())


def unquoted_path(f: Failure) -> Slip | None:
    """`from libsvm(data/a9a.svm)`, `from data/a9a.svm`, `from "a9a.svm"`"""
    froms = [i for i, token in enumerate(f.tokens[: f.index + 1]) if token.type == "FROM"]
    if not f.declares or not froms or (f.found is f.end and f.before.type == "FROM"):
        return None
    at = froms[-1]
    called = f.at(at + 1).type == "NAME" and f.at(at + 2).type == "LPAR"
    first = at + 3 if called else at + 1
    if f.index < first or f.at(first).type in ("SINGLE", "SMART", "OPEN", "RPAR"):
        return None
    head = f.at(first)
    if head.type == "STRING" and (called or f.index != first):
        return None
    if head.text in FORMATS and f.index == first + 1 and f.found.type in ("$END", "COMMA", "STRING"):
        return f.slip(
            "FW1064", f"`{head.text}` is given no path", _SOURCE, f'write `{head.text}("...")`', span=head.span
        )
    # A path cannot be told from the program by its characters: it ends with its line, a comma or a bracket.
    last = first
    while (
        last + 1 < len(f.tokens)
        and f.tokens[last + 1].type not in ("COMMA", "RPAR")
        and "\n" not in f.source.text[f.tokens[last].end : f.tokens[last + 1].start]
    ):
        last += 1
    if (
        f.index > last + 1
        or head is f.end
        or (not called and f.index == first and head.type != "STRING" and last == first)
    ):
        return None
    span = head.span.to(f.tokens[last].span)
    path = f.source.slice(span)
    right = path if head.type == "STRING" else '"' + path.replace("\\", "/").replace('"', "") + '"'
    if not called:
        suffixes = right.strip('"').lower().split(".")
        kind = next((_SUFFIXES[s] for s in reversed(suffixes) if s in _SUFFIXES), "libsvm")
        right = f"{kind}({right})"
    message = (
        "`from` takes a format and a path" if head.type == "STRING" else f"the path {quoted(path)} is not in quotes"
    )
    token = Token("STRING", '"' + path.replace("\\", "/").replace('"', "") + '"', span.start, span.end)
    mended = (*f.tokens[:first], token, *f.tokens[last + 1 :]) if called else None
    return f.slip("FW1064", message, _SOURCE, f"write {quoted(right)}", span=span, fix=(span, right), mended=mended)


def missing_type(f: Failure) -> Slip | None:
    """`var x`, `data X = ...`, `var x vector[n]`"""
    if not f.declares or f.accepts != {"COLON"} or f.before.type != "NAME" or f.found.type in CLOSING:
        return None
    name = f.before.text
    if f.found.type in ("NAME", "FAMILY") and f.after.type != "NAME":
        return f.slip(
            "FW1062",
            f"a `:` is missing between `{name}` and its type",
            "A declaration is written `NAME: TYPE`.",
            f"write `{name}: {f.found.text}`",
            fix=(Span(f.before.end, f.found.start), ": "),
            mended=f.inserted("COLON", ":"),
        )
    types = {"DATA": "matrix[n, p]", "PARAM": "positive", "VAR": "vector[n]"}[f.kind]
    return f.slip(
        "FW1062",
        f"{quoted(name)} has no type",
        "Every name of `data`, `param` and `var` is declared with its type.",
        f"write `{name}: {types}` or another type",
        span=f.before.span,
    )


def round_type(f: Failure) -> Slip | None:
    """`matrix(n, p)`"""
    typed = f.before.type in ("NAME", "FAMILY") and f.at(f.index - 2).type in ("COLON", "OF")
    if f.found.type != "LPAR" or not f.declares or f.opens or not typed:
        return None
    closing = f.closer(f.index)
    span, fix, mended = f.found.span, None, None
    if closing is not None and f.tokens[closing].type == "RPAR":
        opened, closed = f.found, f.tokens[closing]
        span = opened.span.to(closed.span)
        fix = (span, "[" + f.source.text[opened.end : closed.start] + "]")
        inner = f.tokens[f.index + 1 : closing]
        square = (Token("LSQB", "[", opened.start, opened.end), *inner, Token("RSQB", "]", closed.start, closed.end))
        mended = (*f.tokens[: f.index], *square, *f.tokens[closing + 1 :])
    return f.slip(
        "FW1065",
        f"the dimensions of {quoted(f.before.text)} stand in round brackets",
        "Dimensions stand in square brackets: `matrix[n, p]`.",
        f"write `{f.before.text}[...]`",
        span=span,
        fix=fix,
        mended=mended,
    )


def dimension(f: Failure) -> Slip | None:
    """`vector[n + 1]`"""
    if f.role() != "type" or (
        f.found.type not in _OPERATORS and not (f.found.type == "LPAR" and f.before.type != "NAME")
    ):
        return None
    return f.slip(
        "FW1070",
        f"{found(f.found)} stands in a dimension",
        "A dimension is a name, an integer, or `dim(Phi)` of a feature map.",
        "give the dimension a name of its own",
    )


def bound_in_declaration(f: Failure) -> Slip | None:
    """`var x: vector[n] >= 0`"""
    if not f.declares or f.found.type not in COMPARISONS or "IN" not in f.accepts:
        return None
    return f.slip(
        "FW1072",
        f"a declaration takes no {found(f.found)}",
        "A declaration restricts its name to a set; comparisons are constraints.",
        "write `in nonnegative` or another set, or put the comparison under `subject to`",
    )


def missing_from(f: Failure) -> Slip | None:
    """`data X: matrix[n, p] libsvm("a.svm")`"""
    source = f.found.type == "NAME" and f.found.text in FORMATS and f.after.type == "LPAR"
    if not f.declares or "FROM" not in f.accepts or not source:
        return None
    return f.slip(
        "FW1063",
        f"`from` is missing in front of `{f.found.text}`",
        "Data comes `from` a source.",
        f"write `from {f.found.text}(...)`",
        fix=(Span(f.found.start, f.found.start), "from "),
        mended=f.inserted("FROM", "from"),
    )
