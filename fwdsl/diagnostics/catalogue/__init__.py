"""The catalogue of codes: modules named by family (`fw1`, and `fw0_commands` for a part of FW0nnn), each with `ENTRIES`.

A code is never renumbered or reused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from types import MappingProxyType

from .entry import Entry

__all__ = ["FAMILY_TITLES", "Entry", "all_entries", "lookup", "modules"]

#: What the first digit of a code says.
FAMILY_TITLES: Mapping[str, str] = MappingProxyType(
    {
        "FW0": "Command line and files",
        "FW1": "Syntax",
        "FW2": "Names, types and shapes",
        "FW3": "Convexity",
        "FW4": "Data",
        "FW5": "Planning",
        "FW6": "Running",
        "FW9": "Ours: bugs of fwdsl",
    }
)


def modules() -> Iterator[tuple[str, Mapping[str, Entry]]]:
    """Each module's family (`FW1`) with its entries."""
    for name in sorted(module.name for module in iter_modules(__path__)):
        if name.startswith("fw"):
            yield name[:3].upper(), import_module(f".{name}", __name__).ENTRIES


@cache
def all_entries() -> Mapping[str, Entry]:
    """Every code with its entry, in order of code."""
    merged: dict[str, Entry] = {}
    for _, entries in modules():
        merged.update(entries)
    return MappingProxyType(dict(sorted(merged.items())))


def lookup(code: str) -> Entry | None:
    """The entry of a code, however its letters are written; None where there is no such code."""
    return all_entries().get(code.upper())
