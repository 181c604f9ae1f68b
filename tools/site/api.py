"""Pages of the public Python interface: the names that modules declare public, with their docstrings."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from fwdsl.sklearn import CROSS_VALIDATED
from fwdsl.sklearn import READY as SINGLE

from .text import paragraphs

READY = {*SINGLE, *CROSS_VALIDATED}

#: The public modules, with what their pages say first.
MODULES = {
    "fwdsl": "`import fwdsl as fw`. Every [word of the language](../atoms/index.md) is also a function here, `fw.norm1(beta)`, which "
    "builds expressions. [The page on Python](/python.md) shows how these go together.",
    "fwdsl.sklearn": "The extra `sklearn`. [The page on scikit-learn](/scikit-learn.md) shows programs as estimators, and has the table of "
    "ready ones.",
    "fwdsl.extend": "For losses and sets of your own; [a page](/extending.md) builds one of each.",
    "fwdsl.testing": "The conformance tests of losses and sets, yours and ours.",
}


def api_pages() -> dict[str, str]:
    """The pages by their paths below `docs/reference`."""
    found = {f"api/{name.removeprefix('fwdsl.')}.md": _page(name, what) for name, what in MODULES.items()}
    return {**found, "api/index.md": _index()}


def public(module: str) -> list[tuple[str, Any]]:
    """The public names of a module with what they are, classes first, then functions, then exceptions."""
    home = import_module(module)
    things = [(name, getattr(home, name)) for name in home.__all__]
    return sorted(things, key=lambda pair: (_rank(pair[1]), pair[0].lower()))


def _rank(thing: Any) -> int:
    if not inspect.isclass(thing):
        return 1 if callable(thing) else 2
    return 3 if issubclass(thing, Exception) else 0


def _page(module: str, what: str) -> str:
    doc = paragraphs(import_module(module).__doc__)
    # the first sentence of `fwdsl` is on the front page
    parts = [f"# `{module}`\n", f"{what}\n", f"{doc}\n" if module != "fwdsl" else ""]
    for name, thing in public(module):
        kind = ("class", "function", "data", "exception")[_rank(thing)]
        # ready estimators have the methods of scikit-learn's, which are told once, with the three that take a program
        members = [] if kind not in ("class", "exception") or name in READY else ["   :members:"]
        parts.append("\n".join(("```{eval-rst}", f".. auto{kind}:: {module}.{name}", *members, "```\n")))
    return "\n".join(parts)


def _index() -> str:
    lines = "\n".join(f"- [`{name}`]({name.removeprefix('fwdsl.')}.md)" for name in MODULES)
    names = "\n".join(name.removeprefix("fwdsl.") for name in MODULES)
    return f"# Python, name by name\n\nThe public interface; what is not here may change.\n\n{lines}\n\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"
