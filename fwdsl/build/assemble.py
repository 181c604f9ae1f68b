"""Makes a whole program of an objective and constraints in Python, with its arrays by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..errors import misuse
from ..grammar import tree
from ..readers.frames import as_array, column_names
from .built import describe_value
from .convert import identifier, number, operand
from .expression import Constraint
from .leaves import DataLeaf, Leaf, LetLeaf, ParamLeaf, Use, UseKind, VarLeaf, parts, uses
from .naming import Names, rename

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

Key = tuple[object, ...]
"""Leaves with equal keys share a declaration."""


@dataclass(frozen=True)
class Assembled:
    """A program as a syntax tree, and the value of each datum that was given as an array."""

    program: tree.Program
    values: Mapping[str, object]


@dataclass
class _Undeclared:
    """A declaration to make: its leaf, and the kinds of its uses."""

    leaf: Leaf
    roles: set[UseKind]


def assemble(
    sense: Literal["minimize", "maximize"], objective: object, constraints: Iterable[object], name: str | None = None
) -> Assembled:
    """The program of an objective and its constraints. Declarations come in the order of their first use."""
    value = operand(objective).node
    relations = tuple(_flat(constraints))
    entries: dict[Key, _Undeclared] = {}
    for node in (value, *(c.node for c in relations)):
        _collect(node, entries)
    names = _name(entries)

    def name_of(found: Use) -> str:
        assert found.leaf is not None
        return names[_key(found.leaf, found.role)]

    statements: list[tree.Statement] = []
    if name is not None:
        statements.append(tree.ProblemName(tree.Ident(identifier(name))))
    order = {DataLeaf: 0, ParamLeaf: 1, VarLeaf: 2, LetLeaf: 2}
    for key, entry in sorted(entries.items(), key=lambda item: order[type(item[1].leaf)]):
        statements.append(rename(_declaration(names[key], entry), name_of))
    statements.append(rename(tree.Objective(sense, value), name_of))
    if relations:
        statements.append(rename(tree.SubjectTo(tuple(c.node for c in relations)), name_of))
    values = {
        names[key]: e.leaf.value
        for key, e in entries.items()
        if isinstance(e.leaf, DataLeaf) and e.leaf.value is not None
    }
    return Assembled(tree.Program(tuple(statements)), values)


def _flat(constraints: Iterable[object]) -> Iterable[Constraint]:
    for item in constraints:
        if isinstance(item, Constraint):
            yield item
        elif isinstance(item, list | tuple):
            yield from _flat(item)
        else:
            raise misuse(
                "FW0309",
                f"a constraint is expected, not {describe_value(item)}",
                hint="write for example fw.norm1(x) <= 5 or x.in_(fw.simplex(1))",
            )


def _key(leaf: Leaf, role: UseKind) -> Key:
    """The key of a leaf. Two data share a declaration where they share an array and the kind of their use."""
    if not isinstance(leaf, DataLeaf):
        return ("leaf", id(leaf))
    if leaf.name is not None:
        return ("named", leaf.name, id(leaf.value))
    kind = role if role in ("signs", "labels", "index") else ""
    return ("array", id(leaf.value), kind)


def _collect(node: tree.Node, entries: dict[Key, _Undeclared]) -> None:
    """Enter all leaves under a node. The leaves that a declaration uses come before it."""
    for found in uses(node):
        leaf = found.leaf
        assert leaf is not None
        key = _key(leaf, found.role)
        if key not in entries:
            for part in parts(leaf):
                _collect(part, entries)
            entries[key] = _Undeclared(leaf, set())
        entry = entries[key]
        if isinstance(leaf, DataLeaf) and isinstance(entry.leaf, DataLeaf) and not _same(leaf, entry.leaf):
            raise _twice(leaf.name or "")
        entry.roles.add(found.role)


def _same(a: DataLeaf, b: DataLeaf) -> bool:
    return a.name is None or (a.type == b.type and a.member == b.member)


def _name(entries: Mapping[Key, _Undeclared]) -> dict[Key, str]:
    names = Names()
    for entry in entries.values():
        if entry.leaf.name is not None and not names.take(entry.leaf.name):
            raise _twice(entry.leaf.name)
    return {key: entry.leaf.name or names.fresh(entry.leaf) for key, entry in entries.items()}


def _twice(name: str) -> Exception:
    return misuse(
        "FW0306",
        f"two different things in this program are named {name!r}",
        rule="A name is declared once.",
        hint="make the object once and use it wherever it is meant, or give one of them another name",
    )


def _declaration(name: str, entry: _Undeclared) -> tree.Statement:
    leaf = entry.leaf
    ident = tree.Ident(name)
    if isinstance(leaf, LetLeaf):
        return tree.Let(ident, leaf.value)
    if isinstance(leaf, ParamLeaf):
        return tree.Declaration("param", (tree.Item(ident, leaf.type, member=leaf.member, value=leaf.value),))
    if isinstance(leaf, VarLeaf):
        return tree.Declaration("var", (tree.Item(ident, leaf.type, member=leaf.member),))
    kind = leaf.type or data_type(leaf.value, entry.roles)
    promised = leaf.member or (tree.Name("nonnegative") if "weights" in entry.roles else None)
    return tree.Declaration("data", (tree.Item(ident, kind, member=promised),))


def data_type(value: MatrixLike, roles: Set[UseKind]) -> tree.TypeExpr:
    """The declared type of an array that was given without one: `matrix[100, 20]`, or `signs[100]`, `labels[100, 3]`, ... as its uses need."""
    value = as_array(value) if column_names(value) else value
    shape = tuple(int(size) for size in value.shape)
    dims = tuple(number(size) for size in shape)
    if "signs" in roles:
        return tree.TypeExpr(tree.Ident("signs"), dims)
    if "labels" in roles:
        return tree.TypeExpr(tree.Ident("labels"), (*dims[:1], number(_distinct(value))))
    if "index" in roles:
        largest = int(value.max()) if value.size else -1
        return tree.TypeExpr(tree.Ident("index"), dims[:1], number(largest + 1))
    if "psd" in roles and len(shape) == 2:
        return tree.TypeExpr(tree.Ident("psd"), dims[:1])
    kind = {1: "vector", 2: "matrix"}.get(len(shape), "tensor")
    return tree.TypeExpr(tree.Ident(kind), dims)


def _distinct(value: MatrixLike) -> int:
    import numpy as np

    return int(np.unique(value).size)
