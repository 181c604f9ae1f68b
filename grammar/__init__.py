"""The language: text -> syntax tree -> text. Knows no mathematics.

Importing this package loads nothing else: each public name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fwdsl.grammar.dump import dump_tree
    from fwdsl.grammar.formatter import format_program, format_source
    from fwdsl.grammar.parser import parse
    from fwdsl.grammar.printer import format_expr

_HOMES = {
    "dump_tree": ".dump",
    "format_expr": ".printer",
    "format_program": ".formatter",
    "format_source": ".formatter",
    "parse": ".parser",
}

__all__ = ["dump_tree", "format_expr", "format_program", "format_source", "parse"]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home, __name__), name)
    globals()[name] = value
    return value
