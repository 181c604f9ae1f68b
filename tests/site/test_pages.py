"""The pages that are written for the site: one for each word, method, program, diagnostic and public name, with links that lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

import pytest

import fwdsl as fw
from fwdsl import words
from fwdsl.backends.registry import METHODS
from fwdsl.check import compile_text
from fwdsl.diagnostics.catalogue import all_entries
from tools.site import api, benchmarks, charts, generated, links, sheet, standard, text
from tools.site.links import MADE, ROOT, Link
from tools.site.pictures import of_word

NAMES = (
    *words.LOSSES,
    *words.CONVEX,
    *words.ENTRYWISE,
    *words.CONSTANTS,
    *words.SETS,
    *words.FEATURE_MAPS,
    *words.FUNCTIONS,
)
STANDARD = (*words.LOSSES, *words.CONVEX, *words.SETS)


def pages_in(folder: str) -> set[str]:
    """The names of the pages in a folder, without the list of them."""
    found = {PurePosixPath(name) for name in generated.pages()}
    return {path.stem for path in found if path.parent.name == folder and path.stem not in ("index", "measuring")}


def test_every_word_has_a_page_and_no_other():
    assert pages_in("atoms") == set(NAMES)


def test_every_method_has_a_page_and_no_other():
    assert pages_in("methods") == set(METHODS)


def test_every_program_has_a_page_and_no_other():
    assert pages_in("programs") == {path.stem for path in ROOT.glob("examples/*.fw")}


def test_every_page_of_results_has_a_page_and_no_other():
    assert pages_in("benchmarks") == {path.stem for path in ROOT.glob("benchmarks/results/*.md")}


def test_every_code_is_listed():
    assert [code for code in all_entries() if f"[{code}](" not in generated.pages()["errors/index.md"]] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_page_of_a_word_has_its_formula_and_arguments(name: str):
    word = words.function_named(name) or words.SETS[name]
    page = generated.pages()[f"atoms/{name}.md"]
    assert text.md(word.formula) in page
    assert all(f"| `{p.name}` |" in page for p in word.parameters)


@pytest.mark.parametrize("name", STANDARD)
def test_the_programs_of_a_word_are_accepted_and_have_methods(name: str):
    programs = standard.of_word(name)
    assert programs
    for program in programs:
        model, found = compile_text(program.text)
        assert model is not None and [d for d in found if d.severity == "error"] == []
        assert program.plan.method in program.takers


@pytest.mark.parametrize(
    ("name", "kind"),
    [("hinge", "Loss"), ("norm1", "Norm"), ("simplex", "Set"), ("rbf", "Feature map"), ("dot", "Function")],
)
def test_a_page_of_a_word_says_its_kind(name: str, kind: str):
    assert f"\n{kind} ([all " in generated.pages()[f"atoms/{name}.md"]


def test_pages_of_words_show_mathematics():
    assert "Conjugate: l\\*(u) = u^2 / 2 + b u" in generated.pages()["atoms/huber.md"]
    assert "def prox_naive" in generated.pages()["atoms/huber.md"]
    ball = generated.pages()["atoms/l1_ball.md"]
    assert "def lmo" in ball and "support function r" in ball and "[sparse_logistic](" in ball


@pytest.mark.parametrize("name", METHODS)
def test_a_page_of_a_method_has_its_options_and_what_takes_it(name: str):
    page, method = generated.pages()[f"methods/{name}.md"], METHODS[name]
    assert method.source in page
    assert all(f"| `{option}` |" in page for option in method.options)
    taken = [word for word in STANDARD if name in standard.methods_taking(word)]
    assert all(f"[`{word}`](/reference/atoms/{word}.md)" in page for word in taken)
    assert taken or method.works_on != "dense"


def test_every_public_name_is_in_the_reference():
    for module in api.MODULES:
        page = generated.pages()[f"api/{module.removeprefix('fwdsl.')}.md"]
        assert [n for n, _ in api.public(module) if f":: {module}.{n}\n" not in page] == []
    assert {name for name, _ in api.public("fwdsl")} == set(fw.__all__)


def test_links_of_generated_pages_lead_somewhere():
    assert links.broken_in_made(generated.pages()) == []


def test_html_in_markdown_has_no_empty_line():
    for name in NAMES:
        assert "\n\n" not in of_word(name).rstrip("\n")


def test_pages_are_written_once_and_old_ones_taken_away(tmp_path: Path):
    old = tmp_path / "atoms" / "gone.md"
    old.parent.mkdir()
    old.write_text("# gone\n")
    generated.write(tmp_path)
    page = tmp_path / "atoms" / "huber.md"
    before = page.stat().st_mtime_ns
    generated.write(tmp_path)
    assert not old.exists() and page.stat().st_mtime_ns == before


# --- the cheat sheet -------------------------------------------------------------------------------------------------


def test_the_cheat_sheet_has_every_word():
    body = sheet.sheet()
    missing = [
        name for name in (*NAMES, *words.TYPES, *words.SOURCES, *words.SOLVE_OPTIONS, *METHODS) if name not in body
    ]
    assert missing == []


def test_the_cheat_sheet_asks_for_nothing():
    assert not re.search(r"(?:src|href)=|url\(|@import", sheet.printed(sheet.sheet()))


# --- links -----------------------------------------------------------------------------------------------------------


def test_links_are_found_outside_of_code():
    found = list(links.links("[a](b.md#c) `[no](x)`\n```\n[no](y)\n```\n![p](d.svg) [![i](e.svg)](f.md)\n"))
    assert [(link.target, link.line) for link in found] == [("b.md#c", 1), ("d.svg", 5), ("f.md", 5)]


@pytest.mark.parametrize(
    ("heading", "address"),
    [
        ("Where things are", "where-things-are"),
        ("`fw.load` and others", "fwload-and-others"),
        ("FW2001: a name is not declared", "fw2001-a-name-is-not-declared"),
        ("[A link](b.md), told", "a-link-told"),
    ],
)
def test_addresses_of_headings(heading: str, address: str):
    assert address in links.anchors(f"# {heading}\n")


def test_headings_that_come_again_are_numbered_and_code_has_none():
    assert links.anchors("# A\n## A\n```\n# B\n```\n") == {"a", "a-1"}


def test_faults_are_told(tmp_path: Path):
    page = tmp_path / "a.md"
    page.write_text("# A\n\n[x](b.md) [y](#z) [t](#a) [u](https://example.org/none)\n")
    assert [fault.partition(": ")[2] for fault in links.broken(page, {})] == [
        "b.md: there is no such file",
        "#z: no heading has this address",
    ]


@pytest.mark.parametrize(
    ("written", "on_site"),
    [
        ("[r](../README.md#x)", "[r](/index.md)"),
        ("[t](tutorial.md#a)", "[t](/tutorial.md#a)"),
        ("[f](../fwdsl/diagnostics/catalogue/FW2.md)", "[f](/reference/errors/FW2.md)"),
        ("[e](../examples/lasso.fw)", "[e](/reference/programs/lasso.md)"),
        ("[b](../benchmarks/results)", "[b](/reference/benchmarks/index.md)"),
        ("[d](../examples/data)", "d"),
        ("[s](../fwdsl/errors.py)", "[s](../fwdsl/errors.py)"),
        ("`[c](../examples/data)` [o](https://example.org) [h](#here)", None),
    ],
)
def test_links_lead_to_pages_of_the_site(written: str, on_site: str | None):
    assert links.for_site(written, PurePosixPath("docs/python.md"), "python") == (on_site or written)


def test_links_elsewhere():
    assert Link("", "mailto:a@b.c", 1).is_elsewhere and not Link("", "a/b.md", 1).is_elsewhere


# --- charts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "value"),
    [("867 ms", 0.867), ("1.5 x", 1.5), ("**2 s**", 2.0), ("1,200", 1200.0), ("4.3e-15", 4.3e-15), ("5 min", 300.0)],
)
def test_numbers_of_cells(cell: str, value: float):
    assert charts.number(cell) == pytest.approx(value)


@pytest.mark.parametrize("cell", ["", "optimal", "780 ms to 975 ms", "500 x 1,500", "nan", "-"])
def test_cells_that_are_no_numbers(cell: str):
    assert charts.number(cell) is None


TARGETS = """\
| figure | measured | target | |
| --- | ---: | ---: | ---: |
| time | 2 x | at most 1 x | **missed** |
| memory | 30 x | at least 10 x | met |
| faults | 0 | at most 0 | met |
"""


def test_targets_are_drawn_on_their_sides():
    drawn = charts.chart_of(TARGETS)
    assert "2 x, at most 1 x: missed" in drawn and "30 x, at least 10 x: met" in drawn
    assert "faults" not in drawn  # nothing is a share of 0
    assert charts.targets(TARGETS) == (2, 3)


def test_tables_without_times_or_targets_have_no_chart():
    assert charts.chart_of("| a | b |\n| --- | --- |\n| c | d |\n| e | f |\n") == ""


def test_verdicts_of_charts_are_those_of_pages():
    """A figure that a page of results calls met lies left of the line, and the others do not."""
    for path in benchmarks.RESULTS.glob("*.md"):
        for table in re.findall(r"(?:^\|.*\|[ ]*\n){3,}", path.read_text(encoding="utf-8"), re.M):
            head, rows = charts.cells(table)
            if "target" not in head:
                continue
            for row in rows:
                share = charts._share(row[head.index("measured")], row[head.index("target")])
                assert share is None or (share <= 1.0) == (row[-1].strip("*") == "met"), (path.name, row)


def test_generated_pages_are_not_in_git():
    assert f"/{MADE.relative_to(ROOT).as_posix()}/" in (ROOT / ".gitignore").read_text().splitlines()
