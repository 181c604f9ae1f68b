"""Literal arrays: numbers in nested lists, groups of positions, and the values of data written in the program."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

from ..grammar import tree
from ..grammar.diagnostic import Label
from ..model import Dim, Expr, Sign, Type
from . import algebra, signs
from .context import Context
from .values import Nested

RAGGED_RULE = "The rows of a literal have equal lengths."


def numbers(ctx: Context, node: tree.List) -> tuple[Nested, tuple[Dim, ...], Sign] | None:
    """The values, the shape and the common sign of a nested list of numbers; None after an error."""
    values = nested(ctx, node, strings=False)
    if values is None:
        return None
    shape = shape_of(ctx, values, node)
    return None if shape is None else (values, shape, signs.sign_of_values(flat(values)))


def nested(ctx: Context, node: tree.Expr, strings: bool) -> Nested | None:
    """A literal's values as nested tuples; None after an error. Every wrong entry is reported."""
    if isinstance(node, tree.List):
        if not node.items:
            ctx.error("FW2021", "this list is empty", node.span, rule="A literal array has at least one entry.")
            return None
        items = [nested(ctx, item, strings) for item in node.items]
        known = tuple(i for i in items if i is not None)
        return known if len(known) == len(items) else None
    if strings and isinstance(node, tree.String):
        return node.value
    if strings and isinstance(node, tree.Boolean):
        return str(node.value).lower()
    return literal_number(ctx, node)


def literal_number(ctx: Context, node: tree.Expr) -> float | None:
    """The value of a written number or a fraction of written numbers; None after an error."""
    sign, part = 1.0, node
    while isinstance(part, tree.Neg):
        sign, part = -sign, part.operand
    if isinstance(part, tree.Number):
        value = sign * part.value
    else:
        expr = ctx.infer(ctx, part)
        if expr is None:
            return None
        number = algebra.number(expr) if isinstance(expr, Expr) else None
        if number is None:
            ctx.error(
                "FW2021",
                f"`{ctx.text(part)}` is not a number written out",
                part.span,
                rule="A literal is made of numbers; names have no place in it.",
            )
            return None
        value = sign * number
    if isfinite(value):
        return value
    ctx.error(
        "FW2021", f"`{ctx.text(node)}` is not a finite number", node.span, rule="The entries of a literal are finite."
    )
    return None


def shape_of(ctx: Context, values: Nested, node: tree.Expr) -> tuple[Dim, ...] | None:
    """The shape of nested tuples. Reports the first ragged row."""
    if not isinstance(values, tuple):
        return ()
    assert isinstance(node, tree.List)
    inner = [shape_of(ctx, v, n) for v, n in zip(values, node.items, strict=True)]
    first = inner[0]
    for shape, item in zip(inner, node.items, strict=True):
        if shape is None or first is None:
            return None
        if shape != first:
            ctx.error(
                "FW2021",
                f"this row has {_size(shape)}, and the first row has {_size(first)}",
                item.span,
                labels=[Label(node.items[0].span, f"the first row has {_size(first)}")],
                rule=RAGGED_RULE,
            )
            return None
    return None if first is None else (len(values), *first)


def _size(shape: tuple[Dim, ...]) -> str:
    if not shape:
        return "no brackets"
    return (
        f"{shape[0]} {'entry' if shape[0] == 1 else 'entries'}"
        if len(shape) == 1
        else f"shape {' x '.join(map(str, shape))}"
    )


def flat(values: Nested) -> Iterable[float]:
    """The numbers of nested tuples."""
    if isinstance(values, tuple):
        for v in values:
            yield from flat(v)
    elif isinstance(values, float):
        yield values


def groups(ctx: Context, node: tree.List, size: Dim) -> Expr | None:
    """The value of a literal list of lists of positions, such as `[[0, 1], [2]]`, in a vector of `size` entries."""
    out: list[tuple[int, ...]] = []
    for item in node.items:
        members = _members(ctx, item, size)
        if members is None:
            return None
        out.append(members)
    if not out:
        ctx.error("FW2021", "there is no group in this list", node.span, rule="Groups are lists of positions.")
        return None
    held = {p for group in out for p in group}
    missing = next((p for p in range(size) if p not in held), None) if isinstance(size, int) else None
    if missing is not None:
        ctx.error(
            "FW2072",
            f"no group holds position {missing} of {size} entries",
            node.span,
            rule="Groups cover all entries: what is in none of them would be neither penalised nor bounded.",
            hint=f"add `[{missing}]` as a group of its own, or slice the expression to the entries that are grouped",
        )
        return None
    return Expr("list", Type("list", (len(out),)), value=tuple(out), span=node.span)


def _members(ctx: Context, node: tree.Expr, size: Dim) -> tuple[int, ...] | None:
    rule = "Groups are a list of lists of positions, counted from 0."
    if not isinstance(node, tree.List) or not node.items:
        ctx.error(
            "FW2021",
            f"`{ctx.text(node)}` is not a list of positions",
            node.span,
            rule=rule,
            hint="write `[[0, 1], [2, 3]]`",
        )
        return None
    members: list[int] = []
    for item in node.items:
        if not isinstance(item, tree.Number) or not item.is_integer:
            ctx.error("FW2021", f"`{ctx.text(item)}` is not a position", item.span, rule=rule)
            return None
        position = int(item.value)
        if isinstance(size, int) and position >= size:
            ctx.error(
                "FW2041",
                f"position {position} is out of range: there are {size} entries, counted from 0",
                item.span,
                rule=rule,
            )
            return None
        if position in members:
            ctx.error("FW2021", f"position {position} stands twice in one group", item.span, rule=rule)
            return None
        members.append(position)
    return tuple(members)


def is_psd(matrix: Nested) -> bool:
    """True if a literal symmetric matrix is positive semidefinite up to rounding, by a pivoted Cholesky factorisation."""
    assert isinstance(matrix, tuple)
    a = [[float(x) for x in flat(row)] for row in matrix]
    d = len(a)
    tolerance = 1e-12 * max((abs(x) for row in a for x in row), default=0.0) * d
    for step in range(d):
        pivot = max(range(step, d), key=lambda i: a[i][i])
        a[step], a[pivot] = a[pivot], a[step]
        for row in a:
            row[step], row[pivot] = row[pivot], row[step]
        top = a[step][step]
        if top <= tolerance:
            return all(abs(a[i][j]) <= tolerance for i in range(step, d) for j in range(step, d))
        for i in range(step + 1, d):
            factor = a[i][step] / top
            for j in range(step, d):
                a[i][j] -= factor * a[step][j]
    return True


def smallest_eigenvalue(matrix: Nested) -> float:
    """The smallest eigenvalue of a literal symmetric matrix, for a message."""
    import numpy as np

    return float(np.linalg.eigvalsh(np.array(matrix, dtype=np.float64))[0])


def is_symmetric(matrix: Nested) -> bool:
    """True if a literal square matrix equals its transpose."""
    assert isinstance(matrix, tuple)
    if any(not isinstance(row, tuple) or len(row) != len(matrix) for row in matrix):
        return False
    rows = [tuple(flat(row)) for row in matrix]
    return rows == list(zip(*rows, strict=True))
