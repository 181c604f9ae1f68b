"""Checks of the whole program against its data: positions, uses of operators, orders of columns, scales."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Any, cast

import numpy as np

from ..check.arrays import too_few_differences
from ..check.shapes import format_type
from ..grammar.diagnostic import Label
from ..grammar.source import Span
from ..model import ConstraintDecl, DataDecl, Expr, Model, SetRef, Type, names_in, once_per_model, sizes_of
from ..model.options import Options
from ..readers.row_blocks import is_on_disk
from ..words import CONVEX, LOSSES, NUMBERS
from .data_operator import DataOperator
from .evaluate import evaluate
from .features import expressions, nodes_of
from .findings import Findings
from .instance import DataStats
from .values import in_range, written

Sizes = Mapping[str, int]


def check_positions(model: Model, dims: Sizes, params: Mapping[str, object], findings: Findings) -> None:
    """Note slices that are empty or out of range, groups with wrong or missing entries, and a `k` above its vector's size.

    The checker has reported those of integer dimensions already.
    """
    for node in _slices(model):
        _check_slice(node, dims, findings)
    for node in _indexed(model):
        _check_taken(node, dims, findings)
    for type_, span, text, hint in _made(model):
        _check_size(type_, span, text, hint, dims, findings)
    for groups, size in _grouped(model, dims):
        _check_groups(groups, size, findings)
    for ref, size in _sets(model, dims):
        args = dict(ref.args)
        if "k" in args:
            _check_count(ref, args["k"], size, dims, params, findings)


def check_options(
    model: Model, dims: Sizes, values: Mapping[str, Any], origins: Mapping[str, str], findings: Findings
) -> None:
    """Note options of losses and functions whose values are not in the domain of these, which their declarations do not tell."""
    for term in model.terms:
        if term.kind == "affine":
            continue
        given = dict(term.options)
        for parameter in (LOSSES if term.kind == "loss" else CONVEX)[term.atom].options:
            expr, domain = given.get(parameter.name), NUMBERS.get(parameter.domain)
            if expr is None or domain is None or expr.op in ("const", "boolean"):
                continue
            value = float(evaluate(expr, dims, values))
            if domain.holds(value):
                continue
            what = f"`{expr.name}`" if expr.op == "param" else "it"
            origin = f" from {origins[expr.name]}" if expr.op == "param" and expr.name in origins else ""
            findings.add(
                "FW4511",
                f"`{parameter.name}` of `{term.atom}` is {value:g}{origin}, but must be {domain.promised}",
                span=expr.span,
                rule="An option lies in the domain of the loss or the function.",
                hint=f"give {what} a value that is {domain.promised}",
            )


@once_per_model
def _slices(model: Model) -> tuple[Expr, ...]:
    """All slices of a model, in the order of its text."""
    slices = {(node.span.start, node.span.end): node for node in nodes_of(model, "slice")}
    return tuple(node for _, node in sorted(slices.items()))


@once_per_model
def _indexed(model: Model) -> tuple[Expr, ...]:
    """All entries chosen by written positions, in the order of the text."""
    return tuple({node.span: node for node in nodes_of(model, "take") if node.args[1].op == "list"}.values())


@once_per_model
def _made(model: Model) -> tuple[tuple[Type, Span, str, str], ...]:
    """The variables, and the arrays that expressions make, whose sizes are sums or products of dimensions; each with the help for one too small."""
    larger = "give larger data, or other sizes"
    found = [(v.type, v.span, f"`{v.name}`", larger) for v in model.variables]
    found += [
        (
            node.type,
            node.span,
            "it",
            too_few_differences(cast("tuple[int, int]", node.value)[0]) if node.op == "diff" else larger,
        )
        for node in nodes_of(model, *_MADE)
    ]
    return tuple(m for m in found if any(names_in(d) not in ((), (d,)) for d in m[0].array_shape))


_MADE = ("ones", "zeros", "eye", "diff", "reshape")


def _check_size(type_: Type, span: Span, text: str, hint: str, dims: Sizes, findings: Findings) -> None:
    """Note a dimension such as `n - 1` that is less than 1."""
    for dim, size in zip(type_.array_shape, sizes_of(type_, dims), strict=True):
        if size >= 1:
            continue
        each = ", ".join(f"`{name}` is {dims[name]}" for name in names_in(dim) if name in dims)
        findings.add(
            "FW4523",
            f"`{dim}` is {size}, as {each}: {text} would have no entries",
            span=span,
            rule="A dimension is at least 1.",
            hint=hint,
        )
        return


def _check_taken(node: Expr, dims: Sizes, findings: Findings) -> None:
    base, axis = node.args[0], cast(int, node.value)
    size = sizes_of(base.type, dims)[axis]
    positions = cast("tuple[int, ...]", node.args[1].value)
    beyond = [p for p in positions if not -size <= p < size]
    if beyond:
        of = f"axis {axis} of `{base.name}`" if base.name else "it"
        findings.add(
            "FW4523",
            f"position {beyond[0]} is out of range: {of} has {_entries(size)}, counted from 0",
            span=node.span,
            rule="Positions count from 0, negative ones from the end.",
            hint="give data of the size that the program speaks of, or other positions",
        )


def _check_slice(node: Expr, dims: Sizes, findings: Findings) -> None:
    base = node.args[0]
    items = node.value if isinstance(node.value, tuple) else (node.value,)
    axes = sizes_of(base.type, dims)
    for axis, (size, item) in enumerate(zip(axes, items, strict=False)):
        if in_range(item, size, dims):
            continue
        of = f"axis {axis} of `{base.name}`" if base.name and len(axes) > 1 else f"`{base.name}`" if base.name else "it"
        findings.add(
            "FW4523",
            f"`{written(item)}` is out of range or empty: {of} has {_entries(size)}, counted from 0",
            span=node.span,
            rule="Positions count from 0; a range `start:stop` ends before `stop` and is not empty.",
            hint="give data of the size that the program speaks of, or other positions",
        )
        return


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


def _check_count(
    ref: SetRef, k: Expr, size: int, dims: Sizes, params: Mapping[str, object], findings: Findings
) -> None:
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


def _grouped(model: Model, dims: Sizes) -> Iterator[tuple[Expr, int]]:
    """Literal groups, with the number of entries that they divide."""
    for term in model.terms:
        groups = dict(term.options).get("groups")
        if groups is not None and groups.op == "list":
            yield groups, prod(sizes_of(term.argument.type.block, dims))
    for ref, size in _sets(model, dims):
        groups = dict(ref.args).get("groups")
        if groups is not None and groups.op == "list":
            yield groups, size


def _sets(model: Model, dims: Sizes) -> Iterator[tuple[SetRef, int]]:
    """Every set that is not made of others, with the size of its vectors."""
    for constraint in model.constraints:
        if constraint.set is not None:
            yield _innermost(constraint, constraint.set, dims)


def _innermost(constraint: ConstraintDecl, ref: SetRef, dims: Sizes) -> tuple[SetRef, int]:
    shape = sizes_of(constraint.argument.type.block, dims)
    while ref.inner is not None:
        shape = {"rows": shape[1:], "columns": shape[:1]}.get(ref.name, (prod(shape),))
        ref = ref.inner
    return ref, prod(shape)


def check_uses(model: Model, values: Mapping[str, object], findings: Findings) -> set[str]:
    """Note where a program needs the entries of data that are bound to operators (FW4528) or stay on a disk (FW4091), and return their names."""
    on_disk = {name for name, value in values.items() if is_on_disk(value)}
    names = {name for name, value in values.items() if isinstance(value, DataOperator)} | on_disk
    if not names:
        return set()
    found: dict[str, Expr] = {}
    for expr in expressions(model):
        _visit(expr, False, expr, names, found)
    for name, at in found.items():
        what = f"`{at.name}`" if at.op == "features" else "what is written here"
        if name in on_disk:
            findings.add(
                "FW4091",
                f"`{name}` is read by ranges of its rows under `--memory`, and {what} needs all of it at once",
                span=at.span,
                rule="Data that stay on their disk stand in products with vectors and matrices: `A @ x`, `A.T @ y`, `2 * A @ x`.",
                hint=f"write products with `{name}` alone, transform the files first, or leave `--memory` out",
            )
            continue
        findings.add(
            "FW4528",
            f"`{name}` is an operator, whose entries are not known: {what} needs them",
            span=at.span,
            rule="An operator stands in products with vectors and matrices: `A @ x`, `A.T @ y`, `2 * A @ x`.",
            hint=f"write products with `{name}` alone, or give it as an array",
        )
    return set(found)


def _visit(expr: Expr, product: bool, parent: Expr, names: set[str], found: dict[str, Expr]) -> None:
    """Enter the data of `names` that are used other than as a factor of a product into `found`, with what uses them."""
    if expr.op == "data" and expr.name in names:
        if not product:
            found.setdefault(expr.name, parent)
        return
    for arg in expr.args:
        scales = expr.op == "mul" and any(a is not arg and not a.type.array_shape for a in expr.args)
        keeps = expr.op in ("transpose", "neg") or scales
        _visit(arg, expr.op == "matmul" or (keeps and product), parent if keeps else expr, names, found)
    for _, option in expr.options:
        _visit(option, False, expr, names, found)


def check_orders(model: Model, maps: Mapping[str, tuple[Any, ...]], findings: Findings) -> None:
    """Note matrices along one dimension that have the same column names in different orders.

    Columns are matched by position, so a variable would meet different columns.
    """
    first: dict[Any, tuple[DataDecl, tuple[Any, ...]]] = {}
    for decl in model.data:
        names = maps.get(f"{decl.name}.columns", ())
        if not names or decl.type.is_entries:
            continue
        dim = decl.type.array_shape[1]
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


_RATIO = 1e4

_FLOAT32_TOLERANCE = 1e-6


def warn_scales(model: Model, stats: Mapping[str, DataStats], findings: Findings) -> None:
    """Warn where the Euclidean norms of a matrix's columns differ by more than 1e4; columns of zeros do not count."""
    for decl in model.data:
        measured = stats.get(decl.name)
        if not decl.type.is_matrix or measured is None or measured.column_norms is None:
            continue
        norms = measured.column_norms
        most, least = float(norms.max(initial=0.0)), float(norms.min(initial=np.inf))
        if most == 0.0 or most <= _RATIO * least:
            continue
        low, high = int(np.argmin(np.where(norms > 0, norms, np.inf))), int(np.argmax(norms))
        ratio = float(norms[high]) / float(norms[low])
        if ratio > _RATIO:
            findings.add(
                "FW4801",
                f"the columns of `{decl.name}` differ {ratio:.0e} in scale: `{decl.name}[:, {high}]` has norm "
                f"{norms[high]:.2g}, `{decl.name}[:, {low}]` has norm {norms[low]:.2g}",
                span=decl.span,
                rule="Columns that differ much in scale slow methods down, and a norm of the coefficients weighs them "
                "unequally.",
                hint=f"use `standardize({decl.name})`, or choose units that bring the columns together",
                severity="warning",
            )


def warn_float32(model: Model, stats: Mapping[str, DataStats], tol: float | None, findings: Findings) -> None:
    """Warn about data in single precision where the tolerance is below 1e-6."""
    if tol is None:
        declared = dict(model.options).get("tol", Options.tol)
        tol = float(declared) if isinstance(declared, int | float) else Options.tol
    if tol >= _FLOAT32_TOLERANCE:
        return
    for decl in model.data:
        measured = stats.get(decl.name)
        if measured is not None and measured.dtype == "float32":
            findings.add(
                "FW4802",
                f"`{decl.name}` is float32, and the tolerance is {tol:g}",
                span=decl.span,
                rule="Single precision keeps about seven digits, fewer than such a tolerance asks of an answer.",
                hint=f"give `{decl.name}` as float64, or a tolerance of at least 1e-6",
                severity="warning",
            )
