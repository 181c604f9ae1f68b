"""The tables of docs/language.md say what the records do."""

from __future__ import annotations

import dataclasses
import re

import pytest

import fwdsl as fw
from fwdsl.model.options import Options
from fwdsl.words import (
    CONVEX,
    ENTRYWISE,
    FEATURE_MAPS,
    FUNCTIONS,
    LOSSES,
    NUMBERS,
    SCALAR_TYPES,
    SETS,
    SOLVE_OPTIONS,
    SOURCES,
    TYPES,
)
from fwdsl.words.tables import PAGE, TABLES, sections_of, written

RECORDS = {
    "losses": {name: word for name, word in LOSSES.items() if not word.entrywise},
    "entrywise": sorted(
        [*ENTRYWISE, *(name for name, word in LOSSES.items() if word.entrywise or word.alone is not None)]
    ),
    "convex": CONVEX,
    "sets": SETS,
    "maps": FEATURE_MAPS,
    "functions": FUNCTIONS,
    "types": TYPES,
    "sources": SOURCES,
    "options": SOLVE_OPTIONS,
}


def test_the_page_is_up_to_date() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == written(page), "run `python -m fwdsl.words.tables`"
    assert sorted(re.findall(r"<!-- words: (\w+) -->", page)) == sorted(TABLES)


@pytest.mark.parametrize("table", RECORDS)
def test_a_table_has_a_row_for_each_word(table: str) -> None:
    first = [line.split("|")[1] for line in TABLES[table]().splitlines()[2:]]
    assert [re.match(r" `(\w+)", cell)[1] for cell in first] == list(RECORDS[table])  # type: ignore[index]


def test_the_defaults_of_options_are_those_that_are_told() -> None:
    defaults = {f.name: f.default for f in dataclasses.fields(Options)}
    for name, word in SOLVE_OPTIONS.items():
        if word.default is not None:
            assert defaults[name] == word.default


def test_a_function_of_python_says_what_it_is() -> None:
    assert fw.hinge.__doc__ == "max(0, 1 - y z) per sample; y are signs."
    assert fw.squared.__doc__ == "(z - b)^2 per sample."
    assert fw.norm_fro.__doc__ == CONVEX["norm_fro"].formula


@pytest.mark.parametrize("name", NUMBERS)
def test_a_domain_of_numbers_has_its_example_and_no_number_of_another_sign(name: str) -> None:
    domain = NUMBERS[name]
    assert domain.holds(domain.example)
    assert domain.holds(-1.0) == (domain.sign == "unknown")
    assert domain.sign != "positive" or not domain.holds(0.0)
    assert domain.whole != any(domain.holds(v) for v in (0.5, 1.5))


def test_types_of_numbers_are_domains() -> None:
    assert [name for name, word in TYPES.items() if word.is_number] == [n for n in NUMBERS if n in SCALAR_TYPES]


def test_words_are_in_the_sections_that_are_said_to_tell_of_them():
    parts = re.split(r"^(##+ .*)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    texts, above = {}, ""
    for head, text in zip(parts[1::2], parts[2::2], strict=True):
        above = above if head.startswith("###") else head
        for heading in dict.fromkeys((above, head)):  # a section has those below it
            anchor = heading.lstrip("# ").lower().replace(" ", "-")
            texts[anchor] = texts.get(anchor, "") + text
    for words in RECORDS.values():
        for name in words:
            sections = sections_of(name)
            assert sections and all(re.search(rf"\b{name}\b", texts[section]) for section in sections), name
