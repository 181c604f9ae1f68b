"""Each slip of a beginner has its diagnostic: code, place, message, hint and fix, exactly."""

from __future__ import annotations

import re

import pytest

from fwdsl.grammar import parse
from fwdsl.grammar.diagnostic import Diagnostic

from .regenerate import SLIPS, programs, render

PROGRAMS = programs()


def findings(text: str | bytes) -> list[tuple[str, str, str]]:
    """Code, marked text and message of each finding."""
    program, found = parse(text)
    return [(d.code, program.source.slice(d.span), d.message) for d in found if d.span is not None]


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_golden(program: str):
    assert render(program) in SLIPS.read_text("utf-8"), "read the change, then: python -m tests.grammar.regenerate"


def _apply(text: str, found: tuple[Diagnostic, ...]) -> str:
    for d in reversed(found):
        assert d.fix is not None
        text = text[: d.fix.span.start] + d.fix.replacement + text[d.fix.span.end :]
    return text


@pytest.mark.parametrize("program", [p for p in PROGRAMS if all(d.fix for d in parse(p)[1])])
def test_a_program_with_its_fixes_applied_is_right(program: str):
    found = parse(program)[1]
    text = _apply(program, found)
    mended = parse(text)
    assert mended[1] == ()
    assert mended[0].statements or not text.strip()


def test_every_code_of_the_grammar_has_a_golden_slip():
    from fwdsl.diagnostics.catalogue import all_entries

    tested = set(re.findall(r"^=> (FW\d{4}) ", SLIPS.read_text("utf-8"), re.M))
    assert {code for code in all_entries() if code.startswith("FW1")} - tested == {
        "FW1008",
        "FW1032",
    }  # below: their texts are no sight


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("minimize x\u00a0+ y", ("\u00a0", "the character U+00A0 (no-break space) is not a character of the language")),
        (
            "minimize x\u200b + y",
            ("\u200b", "the character U+200B (zero width space) is not a character of the language"),
        ),
        ("minimize x − y", ("−", "`−` (U+2212 minus sign) is not a character of the language")),
    ],
)
def test_lookalikes_are_taken_for_what_they_look_like(text: str, expected: tuple[str, str]):
    assert findings(text) == [("FW1038", *expected)]
    assert len(parse(text)[0].statements) == 1


def test_nul():
    assert findings("fw 1\nvar x: real\n\0\0") == [("FW1030", "\0", "the text holds a NUL character")]
    assert findings("var x: real # \0") == [("FW1030", "\0", "the text holds a NUL character")]


def test_bytes_that_are_not_utf8():
    text = "var β: real\n".encode() + b"minimize \xff\xfe1\n"
    assert findings(text) == [("FW1032", "\ufffd", "line 2 is not UTF-8")]
    assert findings(b"# caf\xe9\nvar x: real") == [("FW1032", "\ufffd", "line 1 is not UTF-8")]
    assert findings("var x: real".encode("utf-16")) == [("FW1032", "", "the file is UTF-16")]
    assert findings("let s = 1 \ud800") == [("FW1032", "\ufffd", "line 1 is not UTF-8")]


def test_a_replacement_character_counts_outside_comments_only():
    assert findings("var x: real # \ufffd\nminimize x \ufffd \ufffd") == [("FW1032", "\ufffd", "line 2 was not UTF-8")]
    assert findings("var x: real # \ufffd\nminimize x") == []


@pytest.mark.parametrize(("opened", "closed"), ["()", "[]"])
def test_bracket_depth(opened: str, closed: str):
    deep = 200 if opened == "(" else 199
    assert findings("let a = " + opened * deep + "x" + closed * deep) == []
    message = "brackets are nested more than 200 deep"
    for n in (201, 10_000):
        assert findings("let a = " + opened * n + "x" + closed * n) == [("FW1008", opened, message)]
        assert findings("let a = " + opened * n) == [("FW1008", opened, message)]


@pytest.mark.parametrize(
    "text", ["-" * 10_000 + "x", "x" + ".T" * 10_000, "x" + "[0]" * 10_000, "f(-1 * -" * 150 + "x" + ")" * 150]
)
def test_operation_depth(text: str):
    assert findings("let a = " + text) == [("FW1008", "let a = " + text, "operations are nested more than 250 deep")]


def test_type_depth():
    text = "var x: " + "family[T] of " * 10_000 + "real"
    assert [code for code, *_ in findings(text)] == ["FW1008"]


def test_at_most_twenty_and_in_the_order_of_the_text():
    program, found = parse("subject to\n" + "x < 1\n" * 30)
    assert len(found) == 20
    lines = [program.source.position(d.span.start)[0] for d in found if d.span]
    assert lines == list(range(2, 22))


def test_independent_errors_are_all_reported_and_the_rest_is_parsed():
    program, found = parse(
        "data X: matrix[n, p]\nparam mu = 1\nvar x: vector[p]\nminimize x^2\nsubject to\n  norm1(x <= 1\n  x >= 0\n  sum(x) = 1\n"
    )
    assert [d.code for d in found] == ["FW1062", "FW1042", "FW1020", "FW1040"]
    assert [type(s).__name__ for s in program.statements] == ["Declaration", "Declaration", "SubjectTo"]
    assert program.lost == ("mu",)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("let r = x -\nminimise sum(r)", ["FW1002", "FW1060"]),
        ("minimize 2 *\nsuch that x >= 0", ["FW1002", "FW1061"]),
        ("minimize f(x,\nsuch that x >= 0", ["FW1020", "FW1061"]),
    ],
)
def test_a_misspelt_keyword_starts_a_statement_too(text: str, codes: list[str]):
    assert [code for code, *_ in findings(text)] == codes


def test_names_that_resemble_keywords_continue_an_expression():
    program, found = parse("minimize a +\n  min * b +\n  constraint\nlet f = g(\n  set, using\n)")
    assert found == () and len(program.statements) == 2


def test_the_names_of_lost_declarations_are_told():
    program, _ = parse("var x: vector[n ++ 1], y: real\nlet z = (1\nparam mu\nbudget: sum(x) = \ndata A\nminimize q: 3")
    assert program.lost == ("x", "vector", "n", "y", "real", "z", "mu", "budget", "sum", "A")


def test_another_version_says_only_that():
    assert findings("fw 2\nhello world(") == [
        ("FW1009", "2", "this program is written in version 2 of the language, and this is version 1")
    ]


def test_secondary_spans_show_the_brackets():
    _, (found,) = parse("minimize f(x]")
    assert [(label.span.start, label.text) for label in found.labels] == [(10, "opened here")]
