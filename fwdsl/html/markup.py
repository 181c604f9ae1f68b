"""Elements of HTML and SVG. Text is escaped wherever it is not `Html` already, so that nothing a user wrote can be taken for markup."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SIGNS = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}

#: Characters that a page cannot hold, or that would change how what follows is read: control characters, surrogates, marks of direction.
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")

#: Elements that have no end.
_VOID = frozenset({"meta", "br"})

#: Characters from which on a text may be broken into lines in a table.
LONG = 48

Child = object
"""A piece of an element: `Html` as it is, nothing for None, all others as escaped text."""


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def escaped(text: object) -> Html:
    """A text as markup. Characters that a page cannot hold are shown by their numbers."""
    plain = _UNSAFE.sub(_numbered, str(text).replace("\r\n", "\n"))
    return Html("".join(_SIGNS.get(char, char) for char in plain))


def _numbered(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def joined(*children: Child) -> Html:
    """Markup and texts one after the other."""
    return Html(
        "".join(child if isinstance(child, Html) else escaped(child) for child in children if child is not None)
    )


def el(tag: str, /, *children: Child, **attributes: object) -> Html:
    """An element. `class_` is the attribute `class`, `aria_label` is `aria-label`; an attribute that is None is left out."""
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escaped(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Html(f"<{tag}{named}>" if tag in _VOID else f"<{tag}{named}>{joined(*children)}</{tag}>")


def table(
    head: Iterable[Child],
    rows: Iterable[Iterable[Child]],
    caption: str,
    *,
    numbers: Iterable[int] = (),
    marked: Iterable[int] = (),
) -> Html:
    """A table with a caption; the first cell of a row is its header.

    `numbers` are the positions of columns that stand to the right, `marked` those of rows that stand out. It scrolls by itself where it is too
    wide, also from the keyboard.
    """
    right, strong = set(numbers), set(marked)
    top = el("tr", *(el("th", cell, scope="col", class_=_cell_class(i, "", right)) for i, cell in enumerate(head)))
    lines = [
        el("tr", *(_cell(i, cell, right) for i, cell in enumerate(row)), class_="marked" if at in strong else None)
        for at, row in enumerate(rows)
    ]
    named = el("caption", caption, class_="short" if len(caption) <= LONG else "long")
    inner = el("table", named, el("thead", top), el("tbody", *lines))
    return el("div", inner, class_="scroll", role="region", aria_label=caption, tabindex=0)


def _cell(i: int, cell: Child, right: set[int]) -> Html:
    kind = _cell_class(i, cell, right)
    return el("td", cell, class_=kind) if i else el("th", cell, scope="row", class_=kind)


def _cell_class(i: int, cell: Child, right: set[int]) -> str | None:
    if i in right:
        return "num"
    return "long" if not isinstance(cell, Html) and len(str(cell)) > LONG else None


def facts(rows: Iterable[tuple[Child, Child]]) -> Html:
    """Names with what is said of them, a line each."""
    return el("dl", *(joined(el("dt", name), el("dd", value)) for name, value in rows))


def folded(summary: Child, *children: Child, is_open: bool = False) -> Html:
    """A part that opens where it is asked for."""
    attributes: dict[str, object] = {"open": ""} if is_open else {}
    return el("details", el("summary", summary), *children, **attributes)


def listed(items: Iterable[Child]) -> Html:
    """A list with bullets."""
    return el("ul", *(el("li", item) for item in items))


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 method`, `2 methods`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def section(title: str, *children: Child) -> Html:
    """A part of a page under its heading."""
    return el("section", el("h2", title), *children)
