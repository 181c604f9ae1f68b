"""Any text gives diagnostics, never an exception; and a right text stays right through the formatter."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fwdsl.diagnostics.catalogue import all_entries
from fwdsl.grammar import dump_tree, format_source, parse

from .programs import PROGRAMS
from .regenerate import programs

WORDS = [
    *(
        "fw problem data param var let minimize maximize subject to solve in of from family true false inf x y A n 1 2.5 "
        "1e3 \"a\" ( ) [ ] , : = == <= >= < != + - * / @ .T ' ^ ** | || ; . ? “a” 'b' “ such that s.t. min libsvm npy "
        "matrix vector index \\ ² − ≤ ∈ · { } _ 1_ 5 min"
    ).split(),
    *("\n", "\n", "\n", "# c\n", "\r\n", "\0", "\t", "\u00a0", "\ufffd", "\ufeff", ""),
]
SEEDS = [*PROGRAMS.values(), *programs()]
words = st.lists(st.sampled_from(WORDS), max_size=40)


def survives(text: str | bytes) -> None:
    """Parse, print, format: everything that must hold for any text."""
    program, found = parse(text)
    size = len(program.source.text)
    assert len(found) <= 20
    for d in found:
        assert d.code in all_entries()
        assert d.source is program.source and d.span is not None
        assert 0 <= d.span.start <= d.span.end <= size
        assert d.message and "\n" not in d.message and len(d.message) < 300 and not d.message.endswith(".")
        assert d.rule.endswith(".")
        assert not any(f"`{token}`" in d.message for token in ("NAME", "$END", "LPAR", "EQEQ"))
        if d.fix is not None:
            assert 0 <= d.fix.span.start <= d.fix.span.end <= size
    starts = [d.span.start for d in found if d.span]
    assert starts == sorted(starts)
    assert dump_tree(program).startswith("Program\n")
    out, again = format_source(text)
    assert [(d.code, d.span, d.message) for d in again] == [(d.code, d.span, d.message) for d in found]
    if not found:
        assert format_source(out) == (out, ())


@given(st.text(max_size=60))
def test_any_text(text: str):
    survives(text)


@given(st.binary(max_size=60))
def test_any_bytes(data: bytes):
    survives(data)


@settings(max_examples=300)
@given(words)
def test_any_words(tokens: list[str]):
    survives(" ".join(tokens))


@settings(max_examples=300)
@given(st.sampled_from(SEEDS), st.data())
def test_mutated_programs(text: str, data: st.DataObject):
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(text)))
        stop = min(len(text), start + data.draw(st.integers(0, 5)))
        stolen = data.draw(st.sampled_from(SEEDS))[start : start + 15]
        piece = data.draw(st.one_of(words.map(" ".join), st.sampled_from(WORDS), st.just(stolen)))
        text = text[:start] + piece + text[stop:]
    survives(text)


@given(st.sampled_from(list(PROGRAMS.values())), st.data())
def test_comments_anywhere_between_tokens_are_kept(text: str, data: st.DataObject):
    places = [i for i, char in enumerate(text) if char == "\n"]
    if places:
        at = data.draw(st.sampled_from(places))
        text = text[:at] + " # added\n# and this" + text[at:]
    out, found = format_source(text)
    assert found == ()
    assert sorted(c.text for c in parse(out)[0].comments) == sorted(c.text for c in parse(text)[0].comments)


@given(st.sampled_from(SEEDS), st.data())
def test_a_program_cut_off_anywhere(text: str, data: st.DataObject):
    survives(text[: data.draw(st.integers(0, len(text)))])
