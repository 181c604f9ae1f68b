"""Compares the column names of data that share a dimension."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..check.shapes import format_type
from ..grammar.diagnostic import Label
from ..model import DataDecl, Model
from .findings import Findings


def check_orders(model: Model, maps: Mapping[str, tuple[Any, ...]], findings: Findings) -> None:
    """Note matrices along one dimension that have the same column names in different orders.

    Columns are matched by position, so a variable would meet different columns.
    """
    first: dict[Any, tuple[DataDecl, tuple[Any, ...]]] = {}
    for decl in model.data:
        names = maps.get(f"{decl.name}.columns", ())
        if not names or decl.type.kind == "entries":
            continue
        dim = decl.type.shape[1]
        other, known = first.setdefault(dim, (decl, names))
        if names == known or sorted(names) != sorted(known):
            continue
        at = next(i for i in range(len(names)) if names[i] != known[i])
        findings.add(
            "FW4531",
            f"the columns of `{decl.name}` stand in another order than those of `{other.name}`: column {at} is "
            f"`{names[at]}` in the one, `{known[at]}` in the other",
            span=decl.span,
            label=f"`{format_type(decl.type)}`",
            labels=(Label(other.span, f"`{format_type(other.type)}`"),),
            rule="Columns along one dimension belong together by position.",
            hint=f"give `{decl.name}` with its columns in the order of `{other.name}`",
        )
