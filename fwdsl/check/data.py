"""Checks `data`: types, promises, literals, and the names that a source serves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..grammar import tree
from ..grammar.diagnostic import Label
from ..model import DataDecl, Dim, Expr, Sign, Type
from ..words import COLUMN_WORDS, NUMBERS, SOURCES, TYPES, Parameter, elsewhere
from . import shapes, signs
from .arguments import DOMAIN_WORDS, BoundArguments, bind_arguments, literal, literal_fits
from .context import Context, Entry
from .literals import flat, is_psd, is_symmetric, nested, shape_of, smallest_eigenvalue
from .types import resolve_type
from .values import Nested


@dataclass(frozen=True)
class DataItem:
    """A declared datum before its source is known. `type` is None after an error."""

    node: tree.Item
    type: Type | None
    literal: Nested | None = None


def data_item(ctx: Context, item: tree.Item) -> DataItem:
    """Enter one declared datum: its type, its source or its literal."""
    name, type_ = item.name.name, resolve_type(ctx, item.type, "data")
    if type_ is not None and not TYPES[item.type.name.name].data:
        ctx.error(
            "FW2022",
            f"data `{name}` cannot be a family",
            item.type.span,
            rule="Families are variables; several arrays of one shape are a tensor of data.",
            hint="write `tensor[T, d, d]`",
        )
        type_ = None
    if type_ is not None and item.member is not None:
        type_ = _promise(ctx, item, type_)
    sign: Sign = "unknown"
    if type_ is not None and type_.domain != "real":
        sign = "nonnegative" if type_.domain == "nonnegative" else "positive"
    values = None
    if item.value is not None and type_ is not None:
        values = _literal(ctx, item, item.value, type_)
        if values is not None and not (type_.is_coded or type_.is_entries):
            sign = signs.sign_of_values(flat(values))
    value = None if type_ is None else Expr("data", type_, name=name, sign=sign, span=item.name.span)
    text = f"`{shapes.format_type(type_)}`" if type_ is not None else ""
    declared = ctx.declare(Entry(name, "data", item.name.span, value, text, item.type.span, values))
    return DataItem(item, type_ if declared else None, values)


def _promise(ctx: Context, item: tree.Item, type_: Type) -> Type:
    """The type with the promise `in nonnegative`. Reports every other promise."""
    member = item.member
    called = isinstance(member, tree.Call) and not member.args and not member.keywords
    name = (
        member.id
        if isinstance(member, tree.Name)
        else member.func.name
        if called and isinstance(member, tree.Call)
        else ""
    )
    if name == "nonnegative" and type_.kind in ("vector", "matrix", "tensor", "symmetric", "psd"):
        return replace(type_, domain="nonnegative")
    assert member is not None
    is_number = name in TYPES and TYPES[name].is_number
    if type_.is_scalar:
        hint = f"write `data {item.name.name}: {name if is_number else 'nonnegative'}`"
    elif name == "nonnegative":
        hint = "only vectors, matrices and tensors promise it"
    else:
        square = len(type_.shape) == 2 and type_.shape[0] == type_.shape[1]
        hint = "write `in nonnegative`"
        if square:
            hint += f", or declare it `psd[{type_.shape[0]}]` or `symmetric[{type_.shape[0]}]`"
        if is_number and NUMBERS[name].sign == "positive" and (type_.is_vector or type_.is_matrix):
            # the one promise of entries above 0 that there is
            hint += f"; `param {item.name.name}: {ctx.text(item.type)} in box(1e-9, inf)` promises entries above 0"
    ctx.error(
        "FW2023",
        f"data `{item.name.name}` cannot promise `in {ctx.text(member)}`",
        member.span,
        rule="Data may promise `in nonnegative`; it is checked when it is bound.",
        hint=hint,
    )
    return replace(type_, domain="nonnegative")  # so that a use as a weight is no further error


# --- literals ------------------------------------------------------------------------------------------------------


def _literal(ctx: Context, item: tree.Item, node: tree.Expr, type_: Type) -> Nested | None:
    """The values of a literal, checked against the declared type."""
    values = nested(ctx, node, strings=type_.is_labels)
    if values is None:
        return None
    shape = shape_of(ctx, values, node)
    if shape is None:
        return None
    expected = (None, 3) if type_.is_entries else type_.array_shape
    if len(shape) != len(expected):
        _misfit(
            ctx,
            item,
            node,
            type_,
            f"has {_plural(len(shape), 'level')} of brackets, and `{shapes.format_type(type_)}` has {len(expected)}",
        )
        return None
    if type_.is_entries:
        return _entries(ctx, item, node, type_, values, shape)
    for axis, (size, dim) in enumerate(zip(shape, expected, strict=True)):
        assert isinstance(size, int)
        if not _agree(ctx, item, node, type_, axis, size, dim):
            return None
    problem = _content(type_, values)
    if problem:
        _misfit(ctx, item, node, type_, problem)
        return None
    if type_.is_labels and len(type_.shape) == 2 and isinstance(values, tuple):
        classes, declared = len(set(values)), type_.shape[1]
        if isinstance(declared, int) and declared != classes:
            found = (
                f"has {_plural(classes, 'different label')}, and `{shapes.format_type(type_)}` is of {declared} classes"
            )
            write = f"write `labels[{type_.shape[0]}, {classes}]`, or " if classes > 1 else ""
            hint = f"`k` of `labels[n, k]` is the number of classes, each of which occurs: {write}give labels of all {declared}"
            _misfit(ctx, item, node, type_, found, hint)
            return None
        if not _agree(ctx, item, node, type_, 1, classes, declared):
            return None
    return values


def _agree(ctx: Context, item: tree.Item, node: tree.Expr, type_: Type, axis: int, size: int, dim: Dim | None) -> bool:
    """True if the size of a literal along an axis agrees with its dimension and with other literals."""
    if isinstance(dim, int) and dim != size:
        _misfit(
            ctx,
            item,
            node,
            type_,
            f"has {_plural(size, 'entry')} along axis {axis}, and `{shapes.format_type(type_)}` has {dim}",
        )
        return False
    if isinstance(dim, str):
        known, span = ctx.sizes.setdefault(dim, (size, node.span))
        if known != size:
            ctx.error(
                "FW2026",
                f"`{dim}` would be {size} here and {known} there",
                node.span,
                label=f"`{dim}` is {size}",
                labels=[Label(span, f"`{dim}` is {known}")],
                rule="A dimension has one size everywhere.",
            )
            return False
    return True


def _content(type_: Type, values: Nested) -> str:
    """The error of a literal's numbers for this type in words; empty where they fit."""
    numbers = list(flat(values))
    if type_.is_signs and len(set(numbers)) != 2 and not set(numbers) <= {-1.0, 1.0}:
        return f"has {len(set(numbers))} distinct values, and `signs` have two"
    if type_.is_index and any(v < 0 or v != v // 1 for v in numbers):
        return "has an entry that is not a position counted from 0"
    if type_.is_index and isinstance(type_.classes, int) and any(v >= type_.classes for v in numbers):
        return f"has an entry that is not below {type_.classes}"
    if type_.is_symmetric and not is_symmetric(values):
        return "is not symmetric"
    if type_.is_psd and not is_psd(values):
        return f"is not positive semidefinite: its smallest eigenvalue is {smallest_eigenvalue(values):.6g}"
    if type_.domain == "nonnegative" and any(v < 0 for v in numbers):
        return "has a negative entry, and is promised nonnegative"
    if type_.domain == "positive" and any(v <= 0 for v in numbers):
        return "is not positive"
    wrong_count = type_.domain == "count" and any(v < 1 or v != v // 1 for v in numbers)
    return "is not a whole number of at least 1" if wrong_count else ""


def _entries(
    ctx: Context, item: tree.Item, node: tree.Expr, type_: Type, values: Nested, shape: tuple[Dim, ...]
) -> Nested | None:
    """Observed entries: `[[row, column, value], ...]`."""
    assert isinstance(values, tuple)
    if shape[1] != 3:
        _misfit(
            ctx, item, node, type_, f"has {shape[1]} numbers a row, and observed entries are `[row, column, value]`"
        )
        return None
    for row in values:
        for position, dim in zip(tuple(flat(row))[:2], type_.shape, strict=True):
            if position < 0 or position != position // 1 or (isinstance(dim, int) and position >= dim):
                _misfit(
                    ctx,
                    item,
                    node,
                    type_,
                    f"has a position {position:g} that is not an index into `{dim}` rows or columns",
                )
                return None
    return values


def _plural(number: int, word: str) -> str:
    several = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{number} {word if number == 1 else several}"


def _misfit(ctx: Context, item: tree.Item, node: tree.Expr, type_: Type, problem: str, hint: str = "") -> None:
    ctx.error(
        "FW2025",
        f"the literal of `{item.name.name}` {problem}",
        node.span,
        labels=[Label(item.type.span, f"`{item.name.name}` is declared `{shapes.format_type(type_)}`")],
        rule="A literal has the shape and the values of its declared type.",
        hint=hint,
    )


# --- sources -------------------------------------------------------------------------------------------------------


def serve(ctx: Context, items: Sequence[DataItem]) -> list[DataDecl]:
    """The declarations of one statement. A `from` serves the names since the previous `from` or literal."""
    out: list[DataDecl] = []
    waiting: list[DataItem] = []
    for item in items:
        waiting.append(item)
        if item.node.source is not None:
            source = item.node.source
            names = tuple(w.node.name.name for w in waiting)
            _check_source(ctx, source, waiting)
            out.extend(
                DataDecl(w.node.name.name, w.type, source, names, None, w.node.span)
                for w in waiting
                if w.type is not None
            )
            waiting = []
        elif item.node.value is not None:
            out.extend(DataDecl(w.node.name.name, w.type, None, (), w.literal, w.node.span) for w in waiting if w.type)
            waiting = []
    out.extend(DataDecl(w.node.name.name, w.type, span=w.node.span) for w in waiting if w.type is not None)
    return out


def _check_source(ctx: Context, source: tree.Call, items: Sequence[DataItem]) -> None:
    name = source.func.name
    signature = SOURCES.get(name)
    if signature is None:
        ctx.unknown(
            "FW2009",
            f"there is no data source `{name}`",
            name,
            source.func.span,
            SOURCES,
            elsewhere={"svmlight": "libsvm", "numpy": "npy", "tsv": "csv", "matrixmarket": "mtx"},
            rule="The sources are " + ", ".join(f"`{s}`" for s in SOURCES) + ".",
        )
        return
    bound = bind_arguments(ctx, source, signature.parameters)
    if bound is None:
        return
    fine = True
    for parameter in signature.parameters:
        part = bound.get(parameter.name)
        fine = fine and (part is None or _check_argument(ctx, name, parameter, part))
    types = [i.type for i in items]
    if fine and None not in types:
        problem, hint = _cannot_serve(signature.serves, name, [t for t in types if t is not None], bound)
        if problem:
            ctx.error(
                "FW2028",
                f"`{name}` cannot serve {_listed(items)}: {problem}",
                source.span,
                labels=[Label(i.node.span, f"`{i.node.name.name}`") for i in items],
                rule="A source serves the names since the previous `from` or literal of its statement.",
                hint=hint,
            )


def _check_argument(ctx: Context, call: str, parameter: Parameter, part: tree.Expr) -> bool:
    """True if an argument is a literal of its domain. In a list of columns a word such as `onehot` stands for the column it is of."""
    plain, fine = part, True
    if parameter.domain == "columns" and isinstance(part, tree.List):
        columns = [_column_of(ctx, item) if isinstance(item, tree.Call) else item for item in part.items]
        fine = None not in columns
        plain = replace(part, items=tuple(c for c in columns if c is not None))
    if fine and not literal_fits(literal(plain), parameter.domain):
        ctx.error(
            "FW2012",
            f"`{parameter.name}` of `{call}` is {DOMAIN_WORDS[parameter.domain]}, not `{ctx.text(part)}`",
            part.span,
            rule="The arguments of a source are written out.",
        )
        return False
    return fine


def _column_of(ctx: Context, node: tree.Call) -> tree.Expr | None:
    """The column that a word for columns is of; None after an error."""
    name = node.func.name
    if name not in COLUMN_WORDS:
        ctx.unknown(
            "FW2006",
            f"there is no word `{name}` for columns",
            name,
            node.func.span,
            COLUMN_WORDS,
            elsewhere=elsewhere(COLUMN_WORDS.values()),
            rule="What a matrix is made of are columns of numbers, by name or position, and "
            + ", ".join(f"`{word.call}`" for word in COLUMN_WORDS.values())
            + ".",
        )
        return None
    parameters = COLUMN_WORDS[name].parameters
    bound = bind_arguments(ctx, node, parameters)
    fine = bound is not None and [_check_argument(ctx, name, p, bound[p.name]) for p in parameters if p.name in bound]
    return bound[parameters[0].name] if bound is not None and fine and all(fine) else None


def _listed(items: Sequence[DataItem]) -> str:
    names = [f"`{i.node.name.name}`" for i in items]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _cannot_serve(serves: str, name: str, types: Sequence[Type], bound: BoundArguments) -> tuple[str, str]:
    """The reason why a source cannot give data of these types, and a hint; both are empty where it can."""
    matrices = [t for t in types if len(t.array_shape) >= 2 and t.kind not in ("signs", "labels", "entries")]
    others = [t for t in types if t not in matrices]
    if serves == "entries":
        fits = len(types) == 1 and types[0].is_entries
        return ("", "") if fits else ("it gives rows, columns and values", "declare one name `entries[n, p]`")
    if any(t.is_entries for t in types):
        return "observed entries are read from `coo`", 'write `from coo("...")`'
    if serves == "one" and len(types) > 1:
        return "it gives one array", "give each name a `from` of its own"
    if serves == "many" and "key" in bound and len(types) > 1:
        return "`key` names one array", "leave `key` out: the key is the declared name"
    if serves != "table":
        return "", ""
    if any(t.kind in ("tensor", "real") for t in types):
        return "it gives a matrix and a target", "read tensors and numbers from `npy` or `npz`"
    if len(matrices) > 1 or len(others) > 1:
        return (
            "it gives one matrix and one target",
            "give each name a `from` of its own, or put the arrays in one `npz`",
        )
    listed = bound.get("columns")
    if isinstance(listed, tree.List) and any(isinstance(c, tree.Call) for c in listed.items) and not matrices:
        return "indicators are columns of a matrix", "declare a matrix too, as in `X: matrix[n, p]`"
    columns = [t for t in others if t.is_signs and len(t.shape) == 2]
    if name == "libsvm":
        several = "multilabel" in bound and literal(bound["multilabel"]) is True
        if others and several != bool(columns):
            return (
                ("labels of several columns need `multilabel=true`", "write `multilabel=true`")
                if columns
                else (
                    "`multilabel=true` gives `signs[n, k]`",
                    "declare the target `signs[n, k]`, or leave `multilabel` out",
                )
            )
    elif columns:
        return "its target is one column", "read `signs[n, k]` from `npy` or `npz`"
    return "", ""
