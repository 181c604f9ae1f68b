"""Rendering: what a diagnostic looks like, to the column."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdsl.diagnostics import render_text
from fwdsl.diagnostics.excerpt import cut, printable, width
from fwdsl.grammar.diagnostic import Diagnostic, Fix, Label, Place
from fwdsl.grammar.source import Source, Span

PROGRAM = Source(
    "fit.fw",
    "data A: matrix[n, d], b: vector[n]\n"
    "var w: vector[k]\n"
    "\n"
    "minimize mean(squared(A @ w, b))\n"
    "subject to\n"
    "\tsum(w)\t= 1\n",
)


def span(text: str, within: Source = PROGRAM) -> Span:
    start = within.text.index(text)
    return Span(start, start + len(text))


def lines(diagnostic: Diagnostic, **options: object) -> list[str]:
    return render_text(diagnostic, **options).split("\n")[:-1]


def test_everything_a_diagnostic_can_say():
    diagnostic = Diagnostic(
        "FW2003",
        "`A @ w` multiplies d columns by k entries",
        span("A @ w"),
        PROGRAM,
        label="d against k",
        labels=(Label(span("vector[k]"), "`w` has k entries"), Label(span("matrix[n, d]"), "`A` has d columns")),
        rule="The columns of a matrix are as many as the entries of the vector that it multiplies.",
        hint="declare `w: vector[d]`",
        fix=Fix("write `d`", span("k]"), "d]"),
    )
    assert render_text(diagnostic, width=72) == (
        "error[FW2003]: `A @ w` multiplies d columns by k entries\n"
        " --> fit.fw:4:23\n"
        "  |\n"
        "1 | data A: matrix[n, d], b: vector[n]\n"
        "  |         ------------ `A` has d columns\n"
        "2 | var w: vector[k]\n"
        "  |        --------- `w` has k entries\n"
        "  | …\n"
        "4 | minimize mean(squared(A @ w, b))\n"
        "  |                       ^^^^^ d against k\n"
        "  |\n"
        "  = rule: The columns of a matrix are as many as the entries of the\n"
        "          vector that it multiplies.\n"
        "  = help: declare `w: vector[d]`\n"
        "  = fix: write `d`\n"
        "  |\n"
        "2 | var w: vector[d]\n"
        "  |               ++\n"
    )


def test_tabs_move_the_caret_with_the_text():
    at = span("= 1")
    fix = Fix("write `==`", Span(at.start, at.start + 1), "==")
    assert lines(Diagnostic("FW1003", "`=` gives a value", Span(at.start, at.start + 1), PROGRAM, fix=fix)) == [
        "error[FW1003]: `=` gives a value",
        " --> fit.fw:6:9",
        "  |",
        "6 |     sum(w)  = 1",
        "  |             ^",
        "  |",
        "  = help: write `==`",
        "  |",
        "6 |     sum(w)  == 1",
        "  |             ++",
    ]


def test_wide_and_combining_characters_move_the_caret_by_their_columns():
    source = Source("a.fw", "var 変数: e\u0301al")
    assert lines(Diagnostic("FW2001", "unknown type", span("e\u0301al", source), source))[-2:] == [
        "1 | var 変数: e\u0301al",
        "  |           ^^^",
    ]


def test_ascii_escapes_characters_and_moves_the_caret_with_them():
    source = Source("é.fw", "# é\nvar δ: real # …")
    assert lines(Diagnostic("FW2001", "`δ` is here", span("δ", source), source), unicode=False) == [
        r"error[FW2001]: `\u03b4` is here",
        r" --> \xe9.fw:2:5",
        "  |",
        r"2 | var \u03b4: real # \u2026",
        "  |     ^^^^^^",
    ]


def test_no_control_character_of_the_program_reaches_the_terminal():
    source = Source("a\x1b[31m.fw", "var \x1b[2J\x00\u202ex: real")
    text = render_text(Diagnostic("FW1001", "\x1b]0;title\x07 found", span("x", source), source))
    assert not set(text) & {"\x1b", "\x00", "\x07", "\u202e"}
    assert text.split("\n")[-2].index("^") == text.split("\n")[-3].rindex("x")


def test_the_end_of_the_text_has_a_caret():
    at = len(PROGRAM.text)
    assert lines(Diagnostic("FW1002", "the text ends", Span(at, at), PROGRAM))[-3:] == ["  |", "7 |", "  | ^"]


def test_a_span_over_lines_marks_the_first_and_the_last():
    assert lines(Diagnostic("FW2002", "all of it", Span(0, len(PROGRAM.text)), PROGRAM, label="this"))[3:] == [
        "1 | data A: matrix[n, d], b: vector[n]",
        "  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        "  | …",
        "6 |     sum(w)  = 1",
        "  |     ^^^^^^^^^^^ this",
    ]


def test_a_long_line_is_cut_around_what_it_is_about():
    source = Source("long.fw", "x" * 500_000 + " bad " + "y" * 500_000)
    at = span("bad", source)
    found = Diagnostic("FW1005", "here", at, source, label="this", labels=(Label(Span(3, 5), "and there"),))
    body = lines(found, width=60)[3:]
    assert [len(line) <= 60 for line in body] == [True] * len(body)
    first, under, second, second_under = body
    assert first.startswith("1 | …xxx") and first.endswith("yyy…")
    assert under.index("^^^ this") == first.index("bad")
    assert second.startswith("1 | xxx") and second_under == "  |    -- and there"


def test_words_that_do_not_fit_behind_the_caret_go_below():
    body = lines(Diagnostic("FW2002", "x", span("b))"), PROGRAM, label="a word " * 12), width=60)[3:]
    assert body[1] == "  |                              ^^^"
    assert all(len(line) <= 60 for line in body)
    assert " ".join(line[3:].strip() for line in body[2:]) == ("a word " * 12).strip()


def test_a_place_in_a_data_source_comes_before_the_declaration():
    place = Place("train.csv", key="A", row=12, column=3, value="abc")
    assert lines(Diagnostic("FW4012", "not a number", span("A"), PROGRAM, place=place))[1:4] == [
        " --> train.csv, key `A`, row 12, column 3: `abc`",
        " ::: fit.fw:1:6",
        "  |",
    ]


def test_without_a_place_there_are_only_words():
    assert lines(Diagnostic("FW0001", "no such command", hint="write `fwdsl run`")) == [
        "error[FW0001]: no such command",
        "  = help: write `fwdsl run`",
    ]


def test_color_adds_nothing_but_escapes():
    found = Diagnostic("FW2002", "x", span("A @ w"), PROGRAM, severity="warning", rule="A rule.", hint="help")
    colored = render_text(found, color=True)
    assert "\x1b[1;33mwarning[FW2002]\x1b[0m" in colored
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == render_text(found)


def test_several_are_separated_by_an_empty_line():
    one = Diagnostic("FW0001", "one")
    assert render_text([one, one]) == "error[FW0001]: one\n\nerror[FW0001]: one\n"
    assert render_text([]) == ""


def test_a_message_of_any_length_is_shortened():
    assert len(render_text(Diagnostic("FW0001", "x" * 1_000_000))) < 2000


@pytest.mark.parametrize(("text", "columns"), [("", 0), ("abc", 3), ("変", 2), ("e\u0301", 1), ("\u200b", 1)])
def test_widths(text: str, columns: int):
    assert width(text) == columns


TEXTS = st.text(alphabet=st.sampled_from("ab \t変é\u0301\x00\u202e😀\ud800"), max_size=60)


@given(TEXTS, st.integers(0, 60), st.integers(0, 20), st.integers(30, 90), st.booleans())
def test_an_excerpt_fits_and_shows_what_it_is_about(line: str, start: int, size: int, room: int, unicode: bool):
    start = min(start, len(line))
    end = min(start + size, len(line))
    piece = cut(line, start, end, room, unicode)
    left, right = piece.marked(start, end)
    assert width(piece.text) <= room
    assert piece.shows(start, end) or start == end
    assert 0 <= left < right <= room + 1
    assert printable(piece.text, unicode) == piece.text


@given(TEXTS, st.integers(0, 60), st.integers(0, 60), st.booleans(), st.booleans())
def test_any_diagnostic_renders(text: str, a: int, b: int, unicode: bool, color: bool):
    source = Source("a.fw", text.replace(" ", "\n"))
    at = Span(*sorted((min(a, len(text)), min(b, len(text)))))
    found = Diagnostic("FW1001", text, at, source, text, (Label(at, text),), text, text, Fix(text, at, text))
    rendered = render_text(found, unicode=unicode, color=color)
    assert rendered.startswith(("error[FW1001]: ", "\x1b["))
    rendered.encode("utf-8" if unicode else "ascii")
