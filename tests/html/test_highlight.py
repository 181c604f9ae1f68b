"""Programs in colours: every word of the language has its kind, and no character is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwdsl import words
from fwdsl.grammar.words import KEYWORDS
from fwdsl.words.highlight import pieces, program_html

ROOT = Path(__file__).resolve().parents[2]


def kind_of(word: str) -> str:
    (piece,) = [(text, kind) for text, kind in pieces(f"x {word} y") if kind]
    assert piece[0] == word
    return piece[1]


@pytest.mark.parametrize("word", sorted(k.lower() for k in KEYWORDS))
def test_keywords_come_from_the_grammar(word: str):
    assert kind_of(word) == "keyword"


def test_other_words_come_from_their_records():
    for word in (*words.function_names(), *words.SETS, *words.SOURCES):
        assert kind_of(word) == ("type" if word in words.TYPES else "function"), word
    for word in set(words.TYPES) - {k.lower() for k in KEYWORDS}:
        assert kind_of(word) == "type"


@settings(max_examples=30)
@given(st.text(max_size=200))
def test_no_character_is_lost(text: str):
    assert "".join(piece for piece, _ in pieces(text)) == text


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.fw")), ids=lambda path: path.stem)
def test_examples_keep_their_text(path: Path):
    text = path.read_text()
    assert "".join(piece for piece, _ in pieces(text)) == text
    assert {kind for _, kind in pieces(text)} >= {"keyword", "function", "type", "comment", ""}


def test_numbers_texts_and_comments():
    assert list(pieces("let a = 1e-3  # <b>\n")) == [
        ("let", "keyword"),
        (" a = ", ""),
        ("1e-3", "number"),
        ("  ", ""),
        ("# <b>", "comment"),
        ("\n", ""),
    ]
    assert ('"a.csv"', "string") in list(pieces('from csv("a.csv")'))
    assert "<b>" not in program_html("# <b>")
