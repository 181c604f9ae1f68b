"""The catalogue: every code once, complete, in use, and doing what its entry says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fwdsl.diagnostics.catalogue import FAMILY_TITLES, Entry, all_entries, lookup, modules
from fwdsl.diagnostics.document import EXAMPLE_NAME, document, examine, rendered_example
from fwdsl.diagnostics.explain import explain, listing, similar
from fwdsl.pipeline import compile_text

from .regenerate import GOLDEN, codes

QUOTED_CODE = re.compile(r"""["'](FW\d{4})["']""")
PROGRAMS = codes()


def test_no_code_is_in_two_modules():
    found = [code for _, entries in modules() for code in entries]
    assert len(found) == len(set(found))


def test_codes_are_in_the_module_of_their_family():
    for family, entries in modules():
        assert family in FAMILY_TITLES
        assert [code for code in entries if not re.fullmatch(family + r"\d{3}", code)] == []


@pytest.mark.parametrize(("code", "entry"), all_entries().items(), ids=list(all_entries()))
def test_an_entry_is_complete(code: str, entry: Entry):
    assert entry.title and not entry.title.endswith(".") and "\n" not in entry.title
    assert entry.explanation.strip().endswith((".", ":", ")", "`"))
    assert entry.bad.strip() and entry.good.strip()
    assert code.startswith(("FW6", "FW9")) or entry.bad.strip() != entry.good.strip()


def test_the_codes_in_use_are_those_of_the_catalogue(root: Path):
    used = set()
    for folder in ("fwdsl", "grammar", "backends"):
        for path in (root / folder).rglob("*.py"):
            if "catalogue" not in path.parts:
                used |= set(QUOTED_CODE.findall(path.read_text(encoding="utf-8")))
    assert sorted(used - set(all_entries())) == [], "codes without an entry"
    assert sorted(set(all_entries()) - used) == [], "entries whose code is nowhere used"


@pytest.mark.parametrize("code", PROGRAMS)
def test_the_bad_program_gives_its_code_and_the_golden_text(code: str):
    bad = all_entries()[code].bad
    assert {d.code for d in examine(bad)} == {code}
    assert rendered_example(bad) == (GOLDEN / f"{code}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", PROGRAMS)
def test_the_good_program_is_accepted_without_a_word(code: str):
    good = all_entries()[code].good
    model, diagnostics = compile_text(good, EXAMPLE_NAME)
    assert model is not None and diagnostics == ()
    assert examine(good) == ()


def test_no_golden_file_is_left_over():
    assert sorted(path.stem for path in GOLDEN.glob("*.txt")) == PROGRAMS


def test_the_page_is_not_stale(root: Path):
    written = (root / "docs" / "diagnostics.md").read_text(encoding="utf-8")
    assert written == document(), "run: python -m fwdsl.diagnostics.document > docs/diagnostics.md"


def test_explain_says_all_of_an_entry():
    text = explain("fw0001")
    entry = lookup("FW0001")
    assert text is not None and entry is not None
    assert text.startswith("FW0001: no such command\n\n")
    assert (
        " ".join(entry.explanation.split()) in " ".join(text.split())
        and "    " + entry.bad in text
        and "    " + entry.good in text
    )


def test_an_explanation_fits_the_terminal():
    narrow = explain("FW3001", 40)
    assert narrow is not None
    _, explanation, *_ = narrow.split("\n\n")
    assert max(map(len, explanation.splitlines())) <= 40


def test_explain_of_no_code():
    assert explain("FW0000") is None
    assert similar("0001") == ["FW0001"]
    assert "FW0001" in similar("FW001")


def test_the_list_has_every_code_once():
    assert re.findall(r"^  (FW\d{4})  ", listing(), re.M) == list(all_entries())
