from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdsl.lsp.positions import ENCODINGS, Positions

EMOJI = "# \U0001f600 e\u0301 \u00e9\nvar x: real\r\nlet a = x # \u2028 \x0c one line\rlet b = x"


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_offset_leads_back(encoding: str) -> None:
    positions = Positions(EMOJI, encoding)
    inside = [i for i in range(len(EMOJI) + 1) if EMOJI[i - 1 : i + 1] != "\r\n"]
    assert [positions.offset(*positions.position(i)) for i in inside] == inside


def test_units_are_those_of_the_encoding() -> None:
    at = EMOJI.index("\u00e9")
    found = {name: Positions(EMOJI, name).position(at) for name in ENCODINGS}
    assert found == {"utf-16": (0, 8), "utf-8": (0, 11), "utf-32": (0, 7)}


def test_lines_end_where_the_protocol_says() -> None:
    positions = Positions(EMOJI)
    assert [positions.position(EMOJI.index(w))[0] for w in ("var", "let a", "one", "let b")] == [1, 2, 2, 3]


def test_positions_outside_mean_the_nearest_inside() -> None:
    positions = Positions("ab\ncd")
    assert [positions.offset(0, 99), positions.offset(9, 0), positions.offset(1, 99)] == [2, 5, 5]


def test_a_unit_inside_of_a_pair_means_its_character() -> None:
    assert Positions("\U0001f600x").offset(0, 1) == 0


def test_a_byte_order_mark_is_no_offset() -> None:
    positions = Positions("\ufefffw 1")
    assert positions.position(0) == (0, 1)
    assert positions.offset(0, 1) == positions.offset(0, 0) == 0


@given(st.text(alphabet="a\u0301\U0001f600\r\n\u2028 ", max_size=20), st.integers(0, 5), st.integers(0, 30))
def test_any_position_is_inside(text: str, line: int, unit: int) -> None:
    positions = Positions(text)
    offset = positions.offset(line, unit)
    assert 0 <= offset <= len(text)
    assert positions.offset(*positions.position(offset)) <= offset
