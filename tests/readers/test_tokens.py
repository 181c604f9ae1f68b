"""Numbers computed on whole arrays equal Python's to the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdsl.readers.tokens import Floats, Ints, floats, integers, is_infinite, to_finite

decimal_texts = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(-(10**22), 10**22).map(str),
    st.decimals(-(10**6), 10**6, places=6).map("{:f}".format),
    st.from_regex(r"[+-]?[0-9]{1,20}\.[0-9]{0,20}", fullmatch=True),
    st.from_regex(r"[+-]?\.[0-9]{1,20}", fullmatch=True),
    st.from_regex(r"[+-]?[0-9]{1,3}[eE][+-]?[0-9]{1,2}", fullmatch=True),
)


def _cut(words: list[str]) -> tuple[np.ndarray, bytes, Ints, Ints]:
    text = " ".join(words).encode() + b"\n"
    ends = np.cumsum([len(w) + 1 for w in words]) - 1
    return np.frombuffer(text, np.uint8), text, ends - np.array([len(w) for w in words]), ends


def _floats(words: list[str]) -> Floats | None:
    return floats(*_cut(words))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(decimal_texts, min_size=1, max_size=40))
def test_floats_equal_pythons(words: list[str]) -> None:
    values = _floats(words)
    assert values is not None
    assert values.view(np.int64).tolist() == np.array([float(w) for w in words]).view(np.int64).tolist()


@pytest.mark.parametrize(
    "word", ["-", "+", ".", "-.", "1.2.3", "--1", "1-", "1e", "e5", "1_0", "nan", "inf", "1e999", "0x1", "٣"]
)
def test_what_is_no_finite_number(word: str) -> None:
    start, end = np.array([0]), np.array([len(word.encode())])
    text = word.encode() + b"\n"
    assert floats(np.frombuffer(text, np.uint8), text, start, end) is None
    assert to_finite(word) is None
    assert is_infinite(word) == (word in ("nan", "inf", "1e999"))


def test_a_wrong_number_of_a_million_digits_is_found_in_one_pass() -> None:
    """A pattern that tried each way to part the digits would not end."""
    word = "0" + "9" * 1_000_000 + "1:1"
    assert to_finite(word) is None
    assert not is_infinite(word)


def test_no_numbers_at_all() -> None:
    none = np.zeros(0, np.int64)
    values = floats(np.frombuffer(b"\n", np.uint8), b"\n", none, none)
    assert values is not None and values.size == 0
    whole = integers(np.frombuffer(b"\n", np.uint8), none, none)
    assert whole is not None and whole.size == 0


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 10**18 - 1).map(str), min_size=1, max_size=40))
def test_integers_equal_pythons(words: list[str]) -> None:
    buffer, _, starts, ends = _cut(words)
    values = integers(buffer, starts, ends)
    assert values is not None
    assert values.tolist() == [int(w) for w in words]


@pytest.mark.parametrize("word", ["-1", "+1", "1.0", "1a", "a1", "1" * 19])
def test_what_is_no_index(word: str) -> None:
    buffer, _, starts, ends = _cut(["12", word, "3"])
    assert integers(buffer, starts, ends) is None
