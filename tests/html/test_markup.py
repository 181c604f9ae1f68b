"""The parts of pages: escaped whatever the user wrote, tables with headers, charts that tell their numbers."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdsl.html.chart import MOST_TOLD, Curve, bar, chart, legend
from fwdsl.html.markup import el, escaped, facts, folded, joined, listed, table
from fwdsl.html.scale import MOST_TICKS, Axis, fitted, tick_text
from fwdsl.html.style import fragment, page

NASTY = "</td><script>alert(1)</script> & \"quoted\" 'too' \x00\x1b[31m \u202e \ud800 \r\n"


def parsed(markup: str) -> ElementTree.Element:
    """The tree of markup; it fails where a tag is not closed or a sign is not escaped."""
    return ElementTree.fromstring(markup)


@given(st.text(st.characters()))
def test_any_text_is_shown_and_is_no_markup(text: str):
    element = parsed(el("p", text, title=text))
    assert len(element) == 0
    assert isinstance(escaped(text).encode("utf-8"), bytes)
    plain = re.sub(r"[^ -~]", "", text)
    assert re.sub(r"[^ -~]", "", re.sub(r"\\u[0-9a-f]{4}", "", element.text or "")) == re.sub(
        r"\\u[0-9a-f]{4}", "", plain
    )


def test_nothing_of_the_users_is_markup_in_any_part():
    parts = joined(
        table((NASTY,), [(NASTY, NASTY)], NASTY),
        facts([(NASTY, NASTY)]),
        folded(NASTY, NASTY),
        listed([NASTY]),
        legend([NASTY]),
        chart(
            NASTY, [Curve(NASTY, [(0, 1), (1, 2)], [NASTY, NASTY])], Axis(NASTY), Axis(NASTY), lines_at=[(NASTY, 0.5)]
        ),
    )
    assert "<script" not in parts and "\x1b" not in parts and "\u202e" not in parts
    parsed(f"<div>{parts}</div>")
    assert "<script" not in fragment(NASTY, label=NASTY)


def test_markup_stands_as_it_is_and_attributes_have_their_names():
    assert el("p", el("b", "x"), class_="a", aria_label="l", hidden=None) == '<p class="a" aria-label="l"><b>x</b></p>'
    assert joined("a<b", None, 3) == "a&lt;b3"
    assert el("br") == "<br>"


def test_tables_have_headers_for_columns_and_rows():
    tree = parsed(table(("name", "value"), [("x", "1"), ("y", "2")], "numbers", numbers=(1,), marked=(1,)))
    assert [th.get("scope") for th in tree.iter("th")] == ["col", "col", "row", "row"]
    assert [td.get("class") for td in tree.iter("td")] == ["num", "num"]
    assert tree.find("table/caption").text == "numbers"  # type: ignore[union-attr]
    assert [tr.get("class") for tr in tree.findall("table/tbody/tr")] == [None, "marked"]


# --- charts ----------------------------------------------------------------------------------------------------------


def drawn(markup: str) -> ElementTree.Element:
    svg = parsed(markup).find("svg")
    assert svg is not None
    return svg


def test_each_point_tells_its_numbers_to_a_pointer_and_to_the_keyboard():
    svg = drawn(chart("gap", [Curve("", [(1, 10), (2, 1e-3)], ["first", "second"])], Axis("s"), Axis("gap", log=True)))
    points = [g for g in svg.iter("g") if g.get("class") == "pt"]
    assert [(g.get("aria-label"), g.get("tabindex")) for g in points] == [("first", "0"), ("second", "0")]
    for g, words in zip(points, ("first", "second"), strict=True):
        assert g.find("title").text == words  # type: ignore[union-attr]
        assert [t.text for t in g.iter("text") if t.get("class") == "tip"] == [words]
    assert svg.find("title").text == "gap" and "gap against s" in svg.find("desc").text  # type: ignore[union-attr, operator]


def test_of_several_curves_the_keyboard_meets_the_last_points():
    curves = [Curve(f"m{i}", [(1, 1), (2, 2), (3, 3)], ["a", "b", "c"]) for i in range(3)]
    points = [g for g in drawn(chart("race", curves, Axis("s"), Axis("gap"))).iter("g") if g.get("class") == "pt"]
    assert [g.get("aria-label") for g in points if g.get("tabindex")] == ["m0: c", "m1: c", "m2: c"]
    assert len(points) == 9


def test_long_curves_tell_evenly_many_points_and_the_last():
    curve = Curve("", [(i, i) for i in range(5000)], [str(i) for i in range(5000)])
    points = [
        g.get("aria-label")
        for g in drawn(chart("c", [curve], Axis("x"), Axis("y"))).iter("g")
        if g.get("class") == "pt"
    ]
    assert len(points) <= MOST_TOLD + 1 and points[0] == "0" and points[-1] == "4999"


@given(
    st.lists(st.tuples(st.floats(), st.floats()), max_size=20),
    st.booleans(),
    st.booleans(),
)
def test_any_numbers_are_drawn_within_the_chart(points: list[tuple[float, float]], log: bool, steps: bool):
    points = [
        (x, y)
        for x, y in points
        if not (math.isfinite(x) and abs(x) > 1e100) and not (math.isfinite(y) and abs(y) > 1e100)
    ]
    found = chart("c", [Curve("", points, ["p"] * len(points))], Axis("x", log=log), Axis("y", log=log), steps=steps)
    for name in ("cx", "cy"):
        for at in re.findall(rf'{name}="([^"]+)"', found):
            assert 0 <= float(at) <= 440


def test_a_chart_of_nothing_says_so():
    assert "nothing to draw" in chart("c", [Curve("", [(math.inf, 1)])], Axis("x"), Axis("y"))


@given(st.floats(-1e12, 1e12), st.floats(0, 1e12), st.booleans())
def test_scales_have_few_round_ticks_within_them(low: float, size: float, log: bool):
    low = abs(low) + 1e-9 if log else low
    scale = fitted(Axis("x", log=log), [low, low + size], 0, 100)
    ticks = scale.ticks()
    assert len(ticks) <= MOST_TICKS + 1 and ticks == sorted(ticks)
    assert all(-1e-6 <= scale(t) <= 100 + 1e-6 for t in ticks)
    assert -1e-6 <= scale(low) <= 100 + 1e-6 and -1e-6 <= scale(low + size) <= 100 + 1e-6


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (1e-8, "1e-8"), (0.01, "0.01"), (2500.0, "2500"), (1e6, "1e6"), (-2.5e7, "-2.5e7")]
)
def test_numbers_beside_an_axis(value: float, text: str):
    assert tick_text(value) == text


def test_bars_go_from_zero_to_the_value():
    for value, x, width in ((2.0, 50.0, 50.0), (-1.0, 25.0, 25.0), (0.0, 50.0, 0.0)):
        rect = parsed(bar(value, -2.0, 2.0)).find("rect")
        assert rect is not None and (float(rect.get("x", "")), float(rect.get("width", ""))) == (x, width)


def test_a_page_loads_nothing():
    found = page("t", el("p", "x"))
    assert found.startswith("<!doctype html>") and "default-src 'none'" in found.replace("&#39;", "'")
    assert not re.search(r"https?:|<script|<link|@import|url\(|src=", found)
