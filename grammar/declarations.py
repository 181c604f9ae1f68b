"""Recognises slips in declarations: types, sources, and what does not belong there."""

from __future__ import annotations

from fwdsl.grammar.failure import Failure, Slip
from fwdsl.grammar.lexer import Token
from fwdsl.grammar.lines import CLOSING, COMPARISONS
from fwdsl.grammar.source import Span
from fwdsl.grammar.words import found, quoted

FORMATS = ("libsvm", "csv", "npy", "npz", "mat", "hdf5", "zarr", "mtx", "parquet", "feather", "coo")
#: The formats by their suffixes, as the records of sources have them, which the grammar does not know (`tests/words` compares them).
_SUFFIXES = {
    **dict.fromkeys(("svm", "libsvm", "svmlight"), "libsvm"),
    **dict.fromkeys(("csv", "tsv"), "csv"),
    **dict.fromkeys(("parquet", "pq"), "parquet"),
    **dict.fromkeys(("h5", "hdf5"), "hdf5"),
    **dict.fromkeys(("feather", "arrow"), "feather"),
    **{name: name for name in ("npy", "npz", "mat", "zarr", "mtx", "coo")},
}
#: What a format is of that is of no matrix.
_OBSERVED = {"coo": "entries[n, p]"}
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
    # No character tells a path from the program: it ends with its line, a comma or a bracket.
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
        right = f"{_format(right)}({right})"
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
    meant = _meant(f, name)
    return f.slip(
        "FW1062",
        f"{quoted(name)} has no type",
        "Every name of `data`, `param` and `var` is declared with its type.",
        f"write `{meant}`" if meant else f"write `{name}: {_EXAMPLES[f.kind]}` or another type",
        span=f.before.span,
    )


_EXAMPLES = {"DATA": "matrix[n, p]", "PARAM": "positive", "VAR": "vector[n]"}


def _meant(f: Failure, name: str) -> str:
    """The declaration that was meant. `x[5]` or `x in R^5` tells the size, `= load("X.npy")` the file, `= 0.1` the value."""
    behind = f.tokens[f.index :]
    kinds = [token.type for token in behind[:5]]
    if f.found.type == "LSQB" and (closing := f.closer(f.index)) is not None:
        size = f.source.text[f.found.end : f.tokens[closing].start]
        return f"{name}: {'matrix' if ',' in size else 'vector'}[{size}]"
    if kinds[:3] == ["IN", "NAME", "POWER"] and behind[1].text in ("R", "ℝ") and kinds[3:4] in (["NAME"], ["NUMBER"]):
        return f"{name}: vector[{behind[3].text}]"
    if kinds[:1] == ["EQUAL"] and f.kind == "DATA":
        path = next((token.text for token in behind if token.type in ("STRING", "SINGLE")), None)
        if path is not None:
            path = path[1:-1]
            format_ = _format(path)
            return f'{name}: {_OBSERVED.get(format_, _EXAMPLES["DATA"])} from {format_}("{path}")'
    return f"{name}: positive = {f.after.text}" if f.kind == "PARAM" and kinds[:2] == ["EQUAL", "NUMBER"] else ""


def _format(path: str) -> str:
    """The format by the suffix of a path, without `.gz` and the like; libsvm where the suffix tells none."""
    suffixes = path.strip('"').lower().split(".")
    return next((_SUFFIXES[s] for s in reversed(suffixes) if s in _SUFFIXES), "libsvm")


def index_of_type(f: Failure) -> Slip | None:
    """`matrix[n][d]`"""
    opened = next((i for i in range(f.index - 1, -1, -1) if f.tokens[i].type == "LSQB"), None)
    if f.found.type != "LSQB" or f.before.type != "RSQB" or not f.declares or f.opens or opened is None:
        return None
    closing = f.closer(f.index)
    if f.at(opened - 2).type not in ("COLON", "OF") or closing is None:
        return None
    comma = Token("COMMA", ",", f.before.start, f.found.end)
    edit = Span(f.before.start, f.found.end)
    written = f.source.text[f.tokens[opened - 1].start : f.before.start]
    right = f"{written}, {f.source.text[f.found.end : f.tokens[closing].end]}"
    return f.slip(
        "FW1065",
        f"the dimensions of {quoted(f.tokens[opened - 1].text)} stand in brackets of their own",
        "Dimensions stand in square brackets: `matrix[n, p]`.",
        f"write {quoted(right)}",
        span=f.tokens[opened].span.to(f.tokens[closing].span),
        fix=(edit, ", "),
        mended=(*f.tokens[: f.index - 1], comma, *f.tokens[f.index + 1 :]),
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
        "A dimension is a name, an integer, `dim(Phi)` of a feature map, or a sum or product of these.",
        "write one operator between two dimensions, as in `n + 1` and `2 * n`",
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
