"""The cheat sheet: the language and the commands on one printed page, from the tables of words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from fwdsl.backends.registry import METHODS
from fwdsl.cli.app import COMMANDS, EXIT_CODES
from fwdsl.html.markup import Html, el, escaped, joined
from fwdsl.words.highlight import program_html
from fwdsl.words.keywords import KEYWORDS
from fwdsl.words.tables import TABLES

from .programs import programs

#: The program at the top, of `examples/`.
SHOWN = "elastic_net"

_CSS = """
.sheet{columns:4;column-gap:2.5mm;font-size:6pt;line-height:1.15}
.sheet section{margin:0 0 1mm}
.sheet h2{font-size:7.6pt;line-height:1.2;margin:0 0 .4mm;padding:.2mm 1mm;background:#1d4f91;color:#fff;border:0;break-after:avoid}
.sheet dl{display:block;margin:0}
.sheet div.row{break-inside:avoid;padding:.03mm 0;border-bottom:.1mm solid #bbb;overflow-wrap:anywhere}
.sheet dt,.sheet dd{display:inline;margin:0;padding:0;font-weight:400}
.sheet dt{margin-right:1.2mm}
.sheet code,.sheet pre{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.92em;background:none;border:0;padding:0}
.sheet dt code{font-weight:700;color:inherit}
.sheet pre{margin:.5mm 0;line-height:1.25;white-space:pre-wrap}
.sheet p{margin:.4mm 0}
.sheet .keyword{font-weight:700;color:#7a1f6d}.sheet .function{color:#0b4f9e}.sheet .type{color:#0a5a4d}.sheet .comment{color:#555;font-style:italic}
.sheet .number{color:#7a4200}.sheet .string{color:#3a6110}
"""

_PAGE = """
@page{size:A4 portrait;margin:5mm}
html{background:#fff;color:#000}
body{margin:0;font-family:system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
h1{font-size:11pt;margin:0 0 1.2mm}h1 span{font-size:7pt;font-weight:400}
@media screen{body{max-width:210mm;margin:1rem auto;padding:0 .8rem}.sheet{font-size:8.5pt}.sheet h2{font-size:9.5pt}}
@media screen and (max-width:40rem){.sheet{columns:1;font-size:11pt}}
@media screen and (min-width:40rem) and (max-width:56rem){.sheet{columns:2}}
"""


def sheet_pages() -> dict[str, str]:
    """The printable page, and the page of the site that shows it."""
    body = sheet()
    said = '# Cheat sheet\n\nThe language and the commands on one page. <a href="../cheat-sheet.html">Print it</a>: one side of A4.\n\n'
    return {
        "_extra/cheat-sheet.html": printed(body),
        "cheat-sheet.md": f"{said}<style>{_on_site()}</style>\n{body}\n",
    }


def _on_site() -> str:
    """The looks within the site, which is as wide as its theme, and dark where that is."""
    rules = (
        _CSS.replace("columns:4", "columns:19rem")
        .replace("6pt;line-height:1.15", ".78rem;line-height:1.25", 1)
        .replace("7.6pt", ".95rem")
        .replace("\n", "")
    )
    inherited = re.sub(r"(?<!background):?color:#(?!fff)\w+", "", rules)
    return re.sub(r"#bbb", "var(--color-background-border)", inherited.replace(";}", "}").replace("{;", "{"))


def printed(body: Html) -> str:
    """The sheet as a page that stands alone."""
    head = el(
        "head",
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("title", "fwdsl: cheat sheet"),
        el("style", Html(_CSS + _PAGE)),
    )
    title = el("h1", "fwdsl ", el("span", "states what is minimised; every answer carries a certified duality gap"))
    return str(joined(Html("<!doctype html>\n"), el("html", head, el("body", title, body), lang="en"), Html("\n")))


def sheet() -> Html:
    """The parts of the sheet, on one line: an empty one would end the HTML in Markdown."""
    text = next(p.text for p in programs() if p.name == SHOWN)
    body = "\n".join(line for line in text.splitlines() if line.strip())
    parts = (
        _section("A program", program_html(body)),
        _section("Statements", _rows((word.form, word.meaning) for word in KEYWORDS.values() if word.starts)),
        _section("Types", _rows(_columns("types", 0, -1))),
        _section("Losses: sum(...) or mean(...)", _rows(_columns("losses", 0, 1))),
        _section("Functions of entries: sum(...)", _rows(_columns("entrywise", 0, -1))),
        _section("Regularisers", _rows(_columns("convex", 0, -1))),
        _section("Sets: x in SET", _rows(_columns("sets", 0, -1))),
        _section("Functions", _rows(_columns("functions", 0, -1))),
        _section("Feature maps: let Phi = ...", _rows(_columns("maps", 0, -1))),
        _section("Sources: data X: TYPE from ...", _rows(_grouped(_columns("sources", 0, -1)))),
        _section("Options: solve tol = 1e-8", _rows(_columns("options", 0, 1))),
        _section("Commands", _rows((f"fwdsl {name}", what) for name, (_, what) in COMMANDS.items())),
        _section("Exit codes", _rows((str(code), what) for code, what in EXIT_CODES.items())),
        _section("Methods: --method NAME", el("p", el("code", ", ".join(METHODS)))),
    )
    return Html(str(el("div", *parts, class_="sheet")).replace("\n\n", "\n"))


def _section(title: str, *children: Html) -> Html:
    return el("section", el("h2", title), *children)


def _rows(pairs: Iterable[tuple[str, str]]) -> Html:
    """Words with their meanings; code in backticks is code."""
    rows = (
        el("div", el("dt", _code(word)), el("dd", _text(said.removesuffix("."))), class_="row") for word, said in pairs
    )
    return el("dl", *rows)


def _code(word: str) -> Html:
    return _text(word) if "`" in word else el("code", word)


def _text(said: str) -> Html:
    parts = said.split("`")
    return joined(*(el("code", part) if i % 2 else escaped(part) for i, part in enumerate(parts)))


def _grouped(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Words of one meaning together. Remarks in brackets are left to the pages."""
    found: dict[str, list[str]] = {}
    for word, said in pairs:
        found.setdefault(re.sub(r" \(.*\)$", "", said), []).append(word)
    return [(", ".join(words), said) for said, words in found.items()]


def _columns(table: str, first: int, second: int) -> list[tuple[str, str]]:
    """Two columns of a table of words."""
    lines = TABLES[table]().splitlines()[2:]
    rows = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip()[1:-1])] for line in lines]
    return [(row[first], row[second]) for row in rows]
