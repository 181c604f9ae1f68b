"""The catalogue: every code once, complete, in use, and doing what its entry says."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from fwdsl.check import compile_text
from fwdsl.diagnostics.catalogue import FOLDER, LongForm, all_entries, families, lookup, read_family
from fwdsl.diagnostics.explain import explain, listing, similar

from .examples import EXAMPLE_NAME, codes, examine, rendered
from .regenerate import GOLDEN

QUOTED_CODE = re.compile(r"""["'](FW\d{4})["']""")
PROGRAMS = codes()


#: The families whose examples are programs that can be looked at on their own.
FAMILIES_OF_PROGRAMS = ("FW1", "FW2", "FW3", "FW5")

FAMILY = """\
# FW1nnn: Syntax

## FW1001: an error

Two lines, which
are one paragraph.

Not accepted:

```fw
minimize
```

Accepted:

```fw
minimize 0

# a comment
```

## FW1002: another

Text.

Not accepted:

```text
a
```

Accepted:

```text
b
```
"""


def test_a_family_is_read():
    family = read_family("FW1", FAMILY)
    first = LongForm(
        "an error", "Two lines, which are one paragraph.", True, "minimize\n", "minimize 0\n\n# a comment\n"
    )
    assert family.title == "Syntax"
    assert family.entries == {"FW1001": first, "FW1002": LongForm("another", "Text.", False, "a\n", "b\n")}


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("# FW1nnn: Syntax", "# FW2nnn: Syntax", 1),
        ("# FW1nnn: Syntax", "Syntax", 1),
        ("# FW1nnn: Syntax\n", "# FW1nnn: Syntax\n\nOf programs.\n", 3),
        ("## FW1001: an error", "### FW1001: an error", 3),
        ("## FW1001: an error", "## FW101: an error", 3),
        ("## FW1001: an error", "## FW2001: an error", 3),
        ("Two lines, which\nare one paragraph.\n\n", "", 3),
        ("which\n", "which\n\n", 3),
        ("paragraph.\n\nNot accepted:", "paragraph.\n\nWrong:", 3),
        ("```fw\nminimize\n```", "```fw\n```", 3),
        ("```fw\nminimize\n```", "    minimize", 3),
        ("```fw\nminimize\n```", "```text\nminimize\n```", 3),
        ("FW1002", "FW1001", 22),
        ("FW1002", "FW1000", 22),
        ("Text.\n\nNot", "Text.\n\n\nNot", 22),
        ("```text\na", "```sh\na", 22),
        ("b\n```\n", "b\n", 22),
        ("b\n```\n", "b\n```\n\n", 38),
        ("b\n```\n", "b\n```\n\nAnd more.\n", 38),
    ],
)
def test_a_malformed_family_is_refused_with_its_line(old: str, new: str, line: int):
    assert FAMILY.count(old) == 1
    with pytest.raises(ValueError, match=rf"^FW1\.md, line {line}: "):
        read_family("FW1", FAMILY.replace(old, new))


@pytest.mark.parametrize("name", families())
def test_a_file_renders_as_what_is_read_from_it(name: str):
    family = families()[name]
    expected = [("h1", f"{name}nnn: {family.title}")]
    for code, entry in family.entries.items():
        language = "fw" if entry.is_program else "text"
        expected += [("h2", f"{code}: {entry.title}"), ("p", entry.explanation)]
        expected += [("p", "Not accepted:"), (language, entry.bad), ("p", "Accepted:"), (language, entry.good)]
    assert rendering((FOLDER / f"{name}.md").read_text(encoding="utf-8")) == expected


#: The marks that may stand in a text, and how they read in a terminal.
SHOWN = {"text": "{}", "code_inline": "`{}`", "softbreak": " "}


def rendering(markdown: str) -> list[tuple[str, str]]:
    """Headings, paragraphs and fenced blocks, each with its text, in which nothing but code is marked up."""
    found = []
    tag = ""
    for token in MarkdownIt("commonmark").parse(markdown):
        if token.type == "fence":
            found.append((token.info, token.content))
        elif token.type == "inline":
            inline = token.children or []
            assert {part.type for part in inline} <= set(SHOWN), token.content
            found.append((tag, "".join(SHOWN[part.type].format(part.content) for part in inline)))
        else:
            tag = token.tag
            assert tag in ("h1", "h2", "p"), f"line {token.map}: {token.type}"
    return found


def test_every_family_has_entries():
    assert list(families()) == ["FW0", "FW1", "FW2", "FW3", "FW4", "FW5", "FW6", "FW9"]
    assert all(family.title and family.entries for family in families().values())


def test_the_examples_about_programs_are_programs():
    assert codes() == [code for code in all_entries() if code.startswith(FAMILIES_OF_PROGRAMS)]


def test_the_files_are_installed(root: Path):
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["fwdsl.diagnostics.catalogue"]
    installed = {path for pattern in patterns for path in FOLDER.glob(pattern)}
    assert {path for path in FOLDER.iterdir() if path.suffix not in (".py", "")} <= installed


def test_the_catalogue_is_loaded_with_explain_only():
    program = "import sys, fwdsl.cli.output; print([name for name in sys.modules if name.endswith('.catalogue')])"
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed == "[]\n"


@pytest.mark.parametrize(("code", "entry"), all_entries().items(), ids=list(all_entries()))
def test_an_entry_is_complete(code: str, entry: LongForm):
    assert entry.title and not entry.title.endswith(".") and "\n" not in entry.title
    assert entry.explanation.endswith((".", ":", ")", "`"))
    assert entry.bad.strip() and entry.good.strip()
    assert code.startswith(("FW6", "FW9")) or entry.bad.strip() != entry.good.strip()


def test_the_codes_in_use_are_those_of_the_catalogue(root: Path):
    used = set()
    for folder in ("fwdsl", "grammar", "backends"):
        for path in (root / folder).rglob("*.py"):
            used |= set(QUOTED_CODE.findall(path.read_text(encoding="utf-8")))
    assert sorted(used - set(all_entries())) == [], "codes without an entry"
    assert sorted(set(all_entries()) - used) == [], "entries whose code is nowhere used"


@pytest.mark.parametrize("code", PROGRAMS)
def test_the_bad_program_gives_its_code_and_the_golden_text(code: str):
    bad = all_entries()[code].bad
    assert {d.code for d in examine(bad)} == {code}
    assert rendered(bad) == (GOLDEN / f"{code}.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", PROGRAMS)
def test_the_good_program_is_accepted_without_a_word(code: str):
    good = all_entries()[code].good
    model, diagnostics = compile_text(good, EXAMPLE_NAME)
    assert model is not None and diagnostics == ()
    assert examine(good) == ()


def test_no_golden_file_is_left_over():
    assert sorted(path.stem for path in GOLDEN.glob("*.txt")) == PROGRAMS


def test_explain_says_all_of_an_entry():
    text = explain("fw0001")
    entry = lookup("FW0001")
    assert text is not None and entry is not None
    assert text.startswith("FW0001: no such command\n\n")
    assert entry.explanation in " ".join(text.split())
    assert "    " + entry.bad in text and "    " + entry.good in text


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
