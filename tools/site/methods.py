"""A page for each method, from its record, its docstrings and what it says of programs; and the list of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from fwdsl.backends.method import Method
from fwdsl.backends.registry import METHODS
from fwdsl.plan.document import described, groups

from .links import ROOT
from .programs import links_to, plan_of, programs
from .standard import refusals, words_of_method
from .text import ALONE, listed, md, paragraphs, table

#: The forms that methods work on, in words.
_FORMS = {
    "dense": "the canonical form: losses, norms and sets of linear maps of the variables",
    "factored": "the factored form, in which a matrix is U V' and is never written out",
    "expansion": "coefficients of an expansion in samples, without the features",
}

MOST_REFUSALS = 12
"""Reasons that a page shows of a method that says more."""


def method_pages() -> dict[str, str]:
    """The pages by their paths below `docs/reference`."""
    found = {f"methods/{name}.md": page(method) for name, method in METHODS.items()}
    return {**found, "methods/index.md": _index()}


def page(method: type[Method]) -> str:
    """The page of a method."""
    return "\n".join(
        part
        for part in (
            f"{ALONE}# `{method.name}`\n",
            described(method),
            _what_it_does(method),
            _facts(method),
            _takes(method),
            _refuses(method),
            _examples(method),
        )
        if part
    )


def _modules(method: type[Method]) -> Iterator[str]:
    """The docstrings of the class, and of the file with its steps."""
    yield inspect.getdoc(method) if method.__doc__ else ""
    yield import_module(method.runs_in or method.__module__).__doc__ or ""


def _what_it_does(method: type[Method]) -> str:
    said = [text for text in _modules(method) if text]
    return "## What it does\n\n" + "\n\n".join(paragraphs(text) for text in said) + "\n"


def _facts(method: type[Method]) -> str:
    home = Path(inspect.getsourcefile(method) or "").resolve().relative_to(ROOT).as_posix()
    rows = [
        ("works on", _FORMS[method.works_on]),
        (
            "chosen by the planner",
            f"never: {method.by_name_only}" if method.by_name_only else "where its predicted time is least",
        ),
        ("chosen whatever the times", "where it settles the matter" if method.may_settle else "never"),
        ("iterations, unless told", f"at most {method.most_iterations:,}"),
        ("written in", f"`{home}`"),
        ("papers", ", ".join(_papers(method.name))),
    ]
    certified = (
        "The verifier, which is the same for all methods, certifies its answers: the certificate rests on the program, not on the method "
        "(see the pages of [words](/reference/atoms/index.md))."
    )
    return f"## Facts\n\n{table(('fact', 'value'), [row for row in rows if row[1]])}\n{certified}\n"


def _papers(name: str) -> list[str]:
    """The pages in `docs/papers` that speak of a method, as links with their titles."""
    found = []
    for path in sorted((ROOT / "docs" / "papers").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        if re.search(rf"`{name}\b", text):
            found.append(f"[{text.partition(chr(10))[0].lstrip('# ')}](/papers/{path.name})")
    return found


def _takes(method: type[Method]) -> str:
    rows = [(kind, listed(words, "atoms")) for kind, words in words_of_method(method.name).items() if words]
    if not rows:
        return ""
    return (
        "## What it takes\n\nWords that it takes in one of the small programs on their pages at least, by its own word:\n\n"
        f"{table(('', 'taken'), rows)}"
    )


def _refuses(method: type[Method]) -> str:
    said = refusals(method.name)
    if not said:
        return ""
    more = f"\n`fwdsl plan` has {len(said) - MOST_REFUSALS} more.\n" if len(said) > MOST_REFUSALS else ""
    lines = "".join(f"- {md(reason)}\n" for reason in said[:MOST_REFUSALS])
    return f"## What it refuses\n\nIn its own words, of the same programs:\n\n{lines}{more}"


def _examples(method: type[Method]) -> str:
    first = [p for p in programs() if plan_of(p.name).method == method.name]
    able = [
        p
        for p in programs()
        if p not in first and any(c.name == method.name and c.applies for c in plan_of(p.name).candidates)
    ]
    parts = []
    if first:
        parts.append(f"First choice, by the text alone: {links_to(first)}.\n")
    if able:
        parts.append(f"It may apply to {links_to(able)}.\n")
    return "## Programs\n\n" + "\n".join(parts) if parts else ""


def _index() -> str:
    parts = [
        "# Methods\n",
        "A page for each: what it does, its source, its options, what it takes and refuses, programs that it applies to. `fwdsl plan FILE` says of "
        "each whether it applies to a program, `fwdsl race FILE` runs them under one clock. [All options on one page](/methods.md).\n",
    ]
    for title, names in groups().items():
        rows = [(f"[`{n}`]({n}.md)", METHODS[n].title, METHODS[n].source) for n in names]
        parts += [f"## {title}\n", table(("method", "is", "source"), rows)]
    return "\n".join(parts)
