"""Diagnostics as JSON, for tools and editors."""

from __future__ import annotations

from ..grammar.diagnostic import Diagnostic, Fix
from ..grammar.source import Source, Span


def to_json(diagnostic: Diagnostic) -> dict[str, object]:
    """A dictionary of JSON values.

    Lines and columns count from 1 in code points, and the end is exclusive; `span` and `place` are None where the
    diagnostic has none.
    """
    d = diagnostic
    return {
        "code": d.code,
        "severity": d.severity,
        "message": d.message,
        "span": _span(d.source, d.span),
        "label": d.label,
        "labels": [{"span": _span(d.source, label.span), "text": label.text} for label in d.labels],
        "rule": d.rule,
        "hint": d.hint,
        "fix": None if d.fix is None else _fix(d.source, d.fix),
        "choices": [_fix(d.source, fix) for fix in d.choices],
        "place": None
        if d.place is None
        else {
            "file": d.place.file,
            "key": d.place.key,
            "row": d.place.row,
            "column": d.place.column,
            "value": d.place.value,
        },
    }


def _fix(source: Source | None, fix: Fix) -> dict[str, object]:
    return {"description": fix.description, "span": _span(source, fix.span), "replacement": fix.replacement}


def _span(source: Source | None, span: Span | None) -> dict[str, object] | None:
    if source is None or span is None:
        return None
    line, column = source.position(span.start)
    end_line, end_column = source.position(span.end)
    return {"file": source.name, "line": line, "column": column, "end_line": end_line, "end_column": end_column}
