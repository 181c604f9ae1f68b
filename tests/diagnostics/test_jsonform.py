"""Diagnostics as JSON."""

from __future__ import annotations

import json

from fwdsl.diagnostics import to_json
from fwdsl.grammar.diagnostic import Diagnostic, Fix, Label, Place
from fwdsl.grammar.source import Source, Span

SOURCE = Source("a.fw", "var 変: real\nminimize 変\n")


def test_all_of_it():
    found = Diagnostic(
        "FW2001",
        "message",
        Span(4, 5),
        SOURCE,
        "label",
        (Label(Span(22, 23), "again"),),
        "The rule.",
        "hint",
        Fix("write x", Span(4, 5), "x"),
        Place("f.csv", "k", 3, 4, "abc"),
        choices=(Fix("write y", Span(4, 5), "y"),),
    )
    here = {"file": "a.fw", "line": 1, "column": 5, "end_line": 1, "end_column": 6}
    there = {"file": "a.fw", "line": 2, "column": 11, "end_line": 3, "end_column": 1}
    form = to_json(found)
    assert form == {
        "code": "FW2001",
        "severity": "error",
        "message": "message",
        "span": here,
        "label": "label",
        "labels": [{"span": there, "text": "again"}],
        "rule": "The rule.",
        "hint": "hint",
        "fix": {"description": "write x", "span": here, "replacement": "x"},
        "choices": [{"description": "write y", "span": here, "replacement": "y"}],
        "place": {"file": "f.csv", "key": "k", "row": 3, "column": 4, "value": "abc"},
    }
    assert json.loads(json.dumps(form)) == form


def test_what_is_absent_is_null():
    form = to_json(Diagnostic("FW0001", "message", severity="warning"))
    assert (form["severity"], form["span"], form["fix"], form["place"], form["labels"]) == (
        "warning",
        None,
        None,
        None,
        [],
    )
