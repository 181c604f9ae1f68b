"""The samples of a program: the dimension that its losses count, the data that have a row for each, and parts of these data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..bind import Bindings
from ..bind.data_operator import DataOperator
from ..bind.instance import Instance
from ..errors import RunError
from ..grammar.diagnostic import Diagnostic
from ..grammar.source import Span
from ..model import DataDecl, Dim, Model, Term, Type
from ..readers.cache_folder import DiskFull, no_room
from ..readers.held_rows import is_held
from ..readers.in_blocks import gathered
from ..readers.row_blocks import is_on_disk
from ..results.row_counts import with_row_names

RULE = (
    "Folds leave out samples: the rows along one dimension, which every loss counts, and which is the first of all data that have it "
    "and of no variable; or the observations of one list of entries."
)


@dataclass(frozen=True)
class Samples:
    """The samples of a model: their dimension, the data with a row for each, and the terms (by position) that sum over them."""

    model: Model
    dim: str
    data: tuple[DataDecl, ...]
    terms: tuple[int, ...]


def samples_of(model: Model) -> Samples:
    """The samples of a model, a dimension that the program states as a number replaced by a name. Raises `RunError` FW0205."""
    counted = _counted(model)
    dims = sorted({str(dim) for _, dim in counted})
    if not counted:
        raise _refusal(model, "no loss counts the rows of data")
    if len(dims) > 1:
        raise _refusal(model, f"losses count different things, {', '.join(f'`{d}`' for d in dims)}")
    dim = counted[0][1]
    data = _with_rows(model, dim)
    for variable in model.variables:
        if dim in variable.type.array_shape:
            raise _refusal(model, f"the variable `{variable.name}` has the samples' dimension `{dim}`", variable.span)
    renamed, _ = with_row_names(model, frozenset(d.name for d in data) if isinstance(dim, int) else frozenset())
    named = {d.name for d in data}
    data = tuple(d for d in renamed.data if d.name in named)
    name = str(data[0].type.shape[0]) if isinstance(dim, int) else dim
    return Samples(renamed, name, data, tuple(i for i, _ in counted))


def _counted(model: Model) -> list[tuple[int, Dim]]:
    """The terms that sum over rows of data, by position, with the dimension: the losses, or where there are none `sum_squares`, else `norm1`."""
    kinds: tuple[Callable[[Term], bool], ...] = (
        lambda t: t.kind == "loss",
        lambda t: t.convex is not None and t.convex.adds_squares,
        lambda t: t.convex is not None and t.convex.adds_sizes,
    )
    for ours in kinds:
        found = [(i, dim) for i, t in enumerate(model.terms) if ours(t) and (dim := _rows(t)) is not None]
        if found:
            return found
    return []


def _rows(term: Term) -> Dim | None:
    """The first dimension of what a term sums, where data in it have a row for each."""
    shape = term.argument.type.array_shape
    used = [e for part in (term.argument, term.target, term.weights) if part is not None for e in part.walk()]
    types = {e.type for e in used if e.op == "data"}
    if not shape:
        return None
    observed = any(e.op == "observe" for e in used) and str(shape[0]).startswith("len(")
    return shape[0] if observed or any(t.shape[:1] == shape[:1] and not t.is_entries for t in types) else None


def _with_rows(model: Model, dim: Dim) -> tuple[DataDecl, ...]:
    """The data that have a row for each sample."""
    if isinstance(dim, str) and dim.startswith("len("):
        return tuple(d for d in model.data if f"len({d.name})" == dim)
    found = []
    for decl in model.data:
        if dim in decl.type.array_shape[1:] or (dim in decl.type.shape and decl.type.is_entries):
            raise _refusal(
                model, f"`{decl.name}` has the samples' dimension `{dim}` elsewhere than in its rows", decl.span
            )
        if dim in decl.type.shape[:1]:
            found.append(decl)
    return tuple(found)


def _refusal(model: Model, why: str, span: Span | None = None) -> RunError:
    shown = span is not None and bool(model.source.text)
    found = Diagnostic(
        "FW0205",
        f"what is a sample cannot be told: {why}",
        span=span if shown else None,
        source=model.source if shown else None,
        rule=RULE,
        hint="leave `folds` out, and compare fits on data kept apart: `fwdsl eval`, or `sol.evaluate`",
    )
    return RunError([found])


def rows_of(samples: Samples, instance: Instance, rows: Any, stays: int | None) -> Mapping[str, object]:
    """The given rows, which rise, of the data of the samples. Labels are codes, signs are -1 and 1, observed entries are positions.

    Rows of a matrix on a disk that have more than `stays` bytes are in a file that is gone with them. Raises `RunError` FW4093 where the disk has no
    room for it.
    """
    return {d.name: _rows_of(d, instance.values[d.name], rows, stays) for d in samples.data}


def _rows_of(decl: DataDecl, value: Any, rows: Any, stays: int | None) -> Any:
    value = _here(value)
    if is_on_disk(value):
        try:
            return gathered(value, rows, decl.name, stays)
        except DiskFull as error:
            code, message, rule, hint = no_room(f"`{decl.name}` in a fold", error)
            raise RunError([Diagnostic(code, message, rule=rule, hint=hint)]) from None
    if isinstance(value, DataOperator):
        why = f"`{decl.name}` is an operator, which has products and no rows"
        hint = f"give `{decl.name}` as an array"
        raise RunError([Diagnostic("FW0205", f"what is a sample cannot be told: {why}", rule=RULE, hint=hint)])
    if decl.type.is_entries:
        if value.stored is not None:
            why = (
                f"`{decl.name}` is read from files in the order of its rows, and folds pick observations from all of it"
            )
            hint = "leave `--memory` or `--workers` out, or make the folds as files"
            raise RunError([Diagnostic("FW0205", why, rule=RULE, hint=hint)])
        return value.rows[rows], value.columns[rows], value.values[rows]
    return value[rows]


def _here(value: Any) -> Any:
    """A matrix as this process has it, in memory or in files."""
    return value.source if is_held(value) else value


def part_of(samples: Samples, instance: Instance, rows: Any, bindings: Bindings, stays: int | None) -> Bindings:
    """Bindings of the program to some of its samples: all other data and sizes are the instance's, and parameters those of `bindings`."""
    named = {d.name for d in samples.data}
    others = {d.name: d for d in samples.model.data if d.name not in named}
    whole = {n: _whole(d, instance.values[n]) for n, d in others.items()}
    params = {p.name for p in samples.model.params}
    sizes = {n: size for n, size in instance.dims.items() if n != samples.dim and "(" not in n}
    own = {
        p.name: _part(p.type, instance.values[p.name], samples.dim, rows)
        for p in samples.model.params
        if not p.type.is_scalar
    }
    settings = {n: v for n, v in bindings.data.items() if n in params}
    return Bindings(
        data={**whole, **rows_of(samples, instance, rows, stays), **settings, **own},
        params={n: v for n, v in bindings.params.items() if n not in own},
        dims=sizes,
        labels={d.name: codes for d in samples.model.data if (codes := _codes(instance, d))},
    )


def _part(type_: Type, value: Any, dim: Dim, rows: Any) -> Any:
    """An array along whose axes of this dimension some samples are left."""
    for axis, own in enumerate(type_.array_shape):
        value = value.take(rows, axis=axis) if own == dim else value
    return value


def _whole(decl: DataDecl, value: Any) -> Any:
    return (value.rows, value.columns, value.values) if decl.type.is_entries else _here(value)


def _codes(instance: Instance, decl: DataDecl) -> tuple[float, ...]:
    """The numbers that stand for classes, so that a part without one of them is read as the whole is."""
    own = decl.type.element if decl.type.is_entries and decl.type.element else decl.type
    if own.is_labels:
        return tuple(range(len(instance.maps[decl.name])))
    return (-1.0, 1.0) if own.is_signs else ()


def deal(samples: Samples, instance: Instance, count: int, seed: int) -> list[Any]:
    """The rows of each fold, in ascending order: shuffled, and dealt out so that each fold has its share of every class.

    Raises `RunError` FW0206 where there are fewer samples than folds, or fewer than two folds.
    """
    total = sample_count(samples, instance)
    if not 2 <= count <= total:
        rule = (
            f"Each fold leaves out some samples and fits to the others: there are {total:,} samples (`{samples.dim}`)."
        )
        found = Diagnostic(
            "FW0206", f"{count} folds of {total:,} samples are not possible", rule=rule, hint="give 5 or 10"
        )
        raise RunError([found if total >= 10 else replace(found, hint=f"give a number from 2 to {total}")])
    order = np.random.default_rng(seed).permutation(total)
    classes = [d for d in samples.data if (d.type.is_signs or d.type.is_labels) and len(d.type.array_shape) == 1]
    if classes:
        order = order[np.argsort(instance.values[classes[0].name][order], kind="stable")]
    return [np.sort(order[i::count]) for i in range(count)]


def sample_count(samples: Samples, instance: Instance) -> int:
    """The number of samples of an instance."""
    value = instance.values[samples.data[0].name]
    return len(value) if samples.data[0].type.is_entries else int(value.shape[0])
