"""Checks that the positions and counts in a program fit the sizes of the data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, cast

from ..model import Constraint, Expr, Model, SetRef, Term, Type, evaluate_dim
from .findings import Findings

Sizes = Mapping[str, int]


def check_positions(model: Model, dims: Sizes, params: Mapping[str, Any], findings: Findings) -> None:
    """Note slices that are empty or out of range, groups with wrong or missing entries, and a `k` above its vector's size.

    The checker has reported those of integer dimensions already.
    """
    slices = {
        (node.span.start, node.span.end): node
        for root in _expressions(model)
        for node in root.walk()
        if node.op == "slice"
    }
    for node in slices.values():
        _check_slice(node, dims, findings)
    for groups, size in _grouped(model, dims):
        _check_groups(groups, size, findings)
    for ref, size in _sets(model, dims):
        args = dict(ref.args)
        if "k" in args:
            _check_count(ref, args["k"], size, dims, params, findings)


def _check_slice(node: Expr, dims: Sizes, findings: Findings) -> None:
    base = node.args[0]
    items = node.value if isinstance(node.value, tuple) else (node.value,)
    axes = [evaluate_dim(d, dims) for d in base.type.array_shape]
    for axis, (size, item) in enumerate(zip(axes, items, strict=False)):
        if _fits(item, size, dims):
            continue
        written = str(item) if isinstance(item, int) else ":".join("" if i is None else str(i) for i in item)
        of = f"axis {axis} of `{base.name}`" if base.name and len(axes) > 1 else f"`{base.name}`" if base.name else "it"
        findings.add(
            "FW4523",
            f"`{written}` is out of range or empty: {of} has {_entries(size)}, counted from 0",
            span=node.span,
            rule="Positions count from 0; a range `start:stop` ends before `stop` and is not empty.",
            hint="give data of the size that the program speaks of, or other positions",
        )
        return


def _fits(item: Any, size: int, dims: Sizes) -> bool:
    if isinstance(item, int):
        return -size <= item < size
    ends = (None if i is None else evaluate_dim(i, dims) for i in item)
    start, stop = (None if i is None else i + size if i < 0 else i for i in ends)
    start, stop = 0 if start is None else start, size if stop is None else stop
    return bool(0 <= start < stop <= size)


def _check_groups(groups: Expr, size: int, findings: Findings) -> None:
    listed = cast("tuple[tuple[int, ...], ...]", groups.value)
    held = {position for group in listed for position in group}
    beyond = sorted(p for p in held if p >= size)
    if beyond:
        findings.add(
            "FW4523",
            f"position {beyond[0]} of a group is out of range: there are {_entries(size)}, counted from 0",
            span=groups.span,
            rule="Groups are lists of positions, counted from 0.",
            hint="give data of the size that the program speaks of, or groups as data: `g: index[d] of G`",
        )
        return
    missing = next((p for p in range(size) if p not in held), None)
    if missing is not None:
        findings.add(
            "FW4524",
            f"no group holds position {missing} of {_entries(size)}",
            span=groups.span,
            rule="Groups cover all entries: what is in none of them would be neither penalised nor bounded.",
            hint=f"add `[{missing}]` as a group of its own, or slice the expression to the entries that are grouped",
        )


def _check_count(ref: SetRef, k: Expr, size: int, dims: Sizes, params: Mapping[str, Any], findings: Findings) -> None:
    value = {"const": k.value, "param": params.get(k.name), "dim": dims.get(k.name)}.get(k.op)
    if value is None or float(cast("float", value)) <= size:
        return
    findings.add(
        "FW4523",
        f"`k` of `{ref.name}` is {float(cast('float', value)):g}, and the set is of vectors of {_entries(size)}",
        span=ref.span,
        rule="`k` counts entries, so it is at most the number of them.",
        hint=f"give a `k` of at most {size}",
    )


def _entries(size: int) -> str:
    return "1 entry" if size == 1 else f"{size} entries"


# --- slices, groups and sets of a model -------------------------------------------------------------------------------


def _expressions(model: Model) -> Iterator[Expr]:
    for term in model.terms:
        yield from _of_term(term)
    for constraint in model.constraints:
        yield constraint.argument
        ref = constraint.set
        while ref is not None:
            yield from (e for _, e in ref.args)
            ref = ref.inner
    for _, value in model.lets:
        if isinstance(value, Expr):
            yield value
        else:
            for term in value:
                yield from _of_term(term)


def _of_term(term: Term) -> Iterator[Expr]:
    yield from (term.coefficient, term.argument, *(e for _, e in term.options))
    yield from (e for e in (term.target, term.weights) if e is not None)


def _grouped(model: Model, dims: Sizes) -> Iterator[tuple[Expr, int]]:
    """Literal groups, with the number of entries that they divide."""
    for term in model.terms:
        groups = dict(term.options).get("groups")
        if groups is not None and groups.op == "list":
            yield groups, prod(_shape(term.argument.type, dims))
    for ref, size in _sets(model, dims):
        groups = dict(ref.args).get("groups")
        if groups is not None and groups.op == "list":
            yield groups, size


def _sets(model: Model, dims: Sizes) -> Iterator[tuple[SetRef, int]]:
    """Every set that is not made of others, with the size of its vectors."""
    for constraint in model.constraints:
        if constraint.set is not None:
            yield _innermost(constraint, constraint.set, dims)


def _innermost(constraint: Constraint, ref: SetRef, dims: Sizes) -> tuple[SetRef, int]:
    shape = _shape(constraint.argument.type, dims)
    while ref.inner is not None:
        shape = {"rows": shape[1:], "columns": shape[:1]}.get(ref.name, (prod(shape),))
        ref = ref.inner
    return ref, prod(shape)


def _shape(type_: Type, dims: Sizes) -> tuple[int, ...]:
    """The sizes of an expression; for a family, those of one block."""
    own = type_.element if type_.kind == "family" and type_.element is not None else type_
    return tuple(evaluate_dim(d, dims) for d in own.array_shape)
