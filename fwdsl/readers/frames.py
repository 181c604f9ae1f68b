"""Tables whose columns have names (pandas, polars, Arrow), told by what they offer: nothing of them is imported."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from types import FunctionType, MethodType
from typing import Any, cast
from weakref import ref


class NotPulled(Exception):
    """A lazy frame, or data in blocks, could not be had; the message says why, and continues a sentence that begins with its name. `rule` and `hint`
    are those of what went wrong."""

    def __init__(
        self,
        message: str,
        rule: str = "Lazy frames of polars and collections of dask are computed when they are taken.",
        hint: str = "compute it first, as in `frame.collect()` or `frame.compute()`, to see the whole error",
    ) -> None:
        super().__init__(message)
        self.rule, self.hint = rule, hint


def reason_of(error: Exception) -> str:
    """The first line of what an exception says, or what it is where it says nothing."""
    return (str(error).splitlines() or [""])[0] or type(error).__name__


def in_memory(value: Any, name: str, columns: Sequence[str] = ()) -> Any:
    """A lazy frame of polars or a collection of dask as what it computes, of `columns` alone where it has all of these; all else as it is.

    What is computed, or copied from Arrow, is logged before. Raises `NotPulled` where computing it fails.
    """
    lazy = is_lazy(value)
    if not (lazy or _is_arrow(value)):
        return value
    import logging

    log = logging.getLogger("fwdsl.readers")
    # to add up the bytes of an Arrow table takes longer than to predict a row of it
    told = log.isEnabledFor(logging.INFO)
    try:
        names = column_names(value) if lazy and columns else ()
        if names and not set(columns) - set(names) and len(set(names)) == len(names):
            value = select(value, [names.index(c) for c in columns])
        if told:
            log.info("%s: %s is %s", name, described(value), "pulled into memory" if lazy else "read")
        if not lazy:
            return value
        if hasattr(value, "collect"):
            return value.collect()
        found = value.compute()
        return _by_rows(found) if has_blocks(value) else found
    except MemoryError:
        raise NotPulled(f"does not fit into memory: {described(value)}") from None
    except Exception as error:  # whatever the tasks of dask, or readers of polars, run into
        raise NotPulled(f"cannot be computed: {reason_of(error)}") from error


def _by_rows(frame: Any) -> Any:
    """A frame of pandas with its numbers row by row, as blocks of rows have them: sums go by that order. Other values as they are."""
    if not offers(frame, "to_numpy") or getattr(frame, "ndim", 0) != 2:
        return frame
    import numpy as np

    array = frame.to_numpy()
    if array.dtype.kind not in _NUMBERS or array.flags.c_contiguous:
        return frame
    return type(frame)(np.ascontiguousarray(array), index=frame.index, columns=frame.columns, copy=False)


def described(value: Any) -> str:
    """A table in words, as far as its sizes are known without computing it: `a polars LazyFrame of 3 columns`."""
    kind = f"a {type(value).__module__.partition('.')[0]} {type(value).__name__}"
    names, shape = column_names(value), getattr(value, "shape", ())
    sizes = [size for size in shape if isinstance(size, int)]
    known = len(sizes) == len(shape) and bool(shape)
    parts = []
    if known:
        parts.append(" x ".join(f"{size:,}" for size in sizes))
    elif names:
        parts.append(f"{len(names):,} column{'s' if len(names) > 1 else ''}")
    size = getattr(value, "nbytes", None) if known else None
    if isinstance(size, int | float) and size == size:
        parts.append(f"{int(size):,} bytes")
    count = getattr(value, "npartitions", None)
    if isinstance(count, int):
        parts.append(f"{count:,} part{'s' if count > 1 else ''}")
    return f"{kind} of {', '.join(parts)}" if parts else kind


def is_lazy(value: Any) -> bool:
    """True of polars' lazy frames and dask's collections. Frames in memory have some of the methods, too."""
    if offers(value, "collect_schema"):
        return offers(value, "collect")
    return offers(value, "__dask_graph__") and offers(value, "compute")


def makes_blocks(value: Any) -> bool:
    """True of a function, which is taken to make an iterator."""
    return isinstance(value, FunctionType | MethodType | partial)


def gives_blocks(value: Any) -> bool:
    """True of what gives blocks of rows and nothing else: iterators, and functions that make them."""
    return offers(value, "__next__") or makes_blocks(value)


def has_blocks(value: Any) -> bool:
    """True of arrays of dask with two axes, and of its frames of numbers."""
    if not is_lazy(value) or offers(value, "collect_schema"):
        return False
    if offers(value, "rechunk"):
        return bool(value.ndim == 2)
    types: Any = getattr(value, "dtypes", None)
    numbers = hasattr(types, "items") and all(getattr(t, "kind", "") in tuple(_NUMBERS) for _, t in types.items())
    return offers(value, "partitions") and numbers


def _is_arrow(value: Any) -> bool:
    return offers(value, "column_names") and offers(value, "to_batches")


def offers(value: Any, name: str) -> bool:
    """True if the type of a value has a method or a property. pandas would look among its columns for a name that it has not, which is slow, and
    may find one."""
    return hasattr(type(value), name)


def column_names(value: object) -> tuple[str, ...]:
    """The names of a frame's columns, as texts; none for whatever is no frame."""
    if offers(value, "collect_schema"):  # polars, whose lazy frames have no shape
        return tuple(cast(Any, value).collect_schema().names())
    shape = getattr(value, "shape", None)
    if not isinstance(shape, tuple) or len(shape) != 2 or not hasattr(value, "__array__"):
        return ()
    # of Arrow the `columns` are arrays
    names: Any = getattr(value, "column_names" if offers(value, "column_names") else "columns", None)
    if not hasattr(names, "__len__") or not hasattr(names, "__iter__") or len(names) != shape[1]:
        return ()
    if not offers(names, "equals"):
        return tuple(map(str, names))
    global _last
    index, known = _last
    if index() is not names:
        # an index of pandas, which never changes, and gives its names one by one only slowly
        known = tuple(map(str, names.tolist()))
        with suppress(TypeError):
            _last = ref(names), known
    return known


_last: tuple[Callable[[], Any], tuple[str, ...]] = (lambda: None, ())
"""The last index that was asked for its names, and these: the rows of a frame have its index, and are often predicted one by one."""


def select(frame: Any, positions: Sequence[int]) -> Any:
    """The frame of some columns, in this order."""
    if hasattr(frame, "iloc"):
        return frame.iloc[:, list(positions)]
    if is_lazy(frame) and offers(frame, "collect_schema"):
        names = frame.collect_schema().names()
        return frame.select([names[i] for i in positions])
    return frame.select(list(positions)) if offers(frame, "column_names") else frame[:, list(positions)]


def column(frame: Any, position: int) -> Any:
    """One column of a frame in memory; of pandas as a series, which is had sooner than a frame of one column."""
    return frame.iloc[:, position] if hasattr(frame, "iloc") else select(frame, [position])


FEW_ROWS = 64
"""Rows of a frame up to which all its cells are had sooner than some of its columns."""

FEW_CELLS = 8
"""Cells of a row of pandas that are had sooner one by one than as an array of all of them."""


def cells(frame: Any, positions: Sequence[int], mixed: bool = False) -> Any:
    """Some columns of few rows as an array: of numbers, or of objects that are words, ints and floats. None for all else, and for more rows.

    With `mixed` the columns are expected to differ in kind.
    """
    arrow = offers(frame, "column_names")
    if not (arrow or offers(frame, "to_numpy")) or len(frame) > FEW_ROWS:
        return None
    if mixed and len(frame) == 1 and len(positions) <= FEW_CELLS and offers(frame, "iat"):
        return _cells_of_row(frame, positions)
    if _has_times(frame):
        return None
    array = _numbers_of_arrow(frame) if arrow else frame.to_numpy()
    if array is None:
        array = _objects_of_arrow(frame, positions)
    elif array.dtype.kind in "iuf" and array.dtype.isnative:
        return array[:, positions]
    elif array.dtype.kind != "O":
        return None
    else:
        array = array[:, positions]
    return array if {type(cell) for row in array.tolist() for cell in row} <= {str, int, float} else None


def _cells_of_row(frame: Any, positions: Sequence[int]) -> Any:
    """The same of a row of pandas, cell by cell: its words are those of Arrow, of which a whole column costs as much as ten cells."""
    import numpy as np

    at, array = frame.iat, np.empty((1, len(positions)), dtype=object)
    for j, position in enumerate(positions):
        cell = at[0, position]
        array[0, j] = cell = cell.item() if isinstance(cell, np.generic) else cell
        if type(cell) not in (str, int, float):
            return None
    return array


def _has_times(frame: Any) -> bool:
    """True of a frame of polars with dates, times or durations: polars makes numbers of them where other columns are numbers."""
    return offers(frame, "collect_schema") and any(type_.is_temporal() for type_ in frame.dtypes)


def _objects_of_arrow(frame: Any, positions: Sequence[int]) -> Any:
    """The cells of some columns as an array of objects."""
    import numpy as np

    array = np.empty((len(frame), len(positions)), dtype=object)
    for at, j in enumerate(positions):
        array[:, at] = frame.column(j).to_pylist()
    return array


def _numbers_of_arrow(frame: Any) -> Any:
    """An Arrow table or batch of numbers as an array, with nan where one is missing; None where it is of something else.

    Arrow itself puts the columns beside each other, in a tenth of the time that these take one by one.
    """
    import numpy as np

    parts = frame.to_batches() if offers(frame, "to_batches") else [frame]
    if not parts or not all(offers(part, "to_tensor") for part in parts):
        return None
    try:
        found = [part.to_tensor(null_to_nan=True).to_numpy() for part in parts]
    except (TypeError, ValueError, NotImplementedError):
        return None
    return found[0] if len(found) == 1 else np.concatenate(found)


def numeric(frame: Any, positions: Sequence[int], few: Any) -> Any:
    """Some columns of numbers of a frame, whose `cells` are given: as an array where these are numbers, else as a frame."""
    if few is not None and few.dtype.kind == "O":
        few = None if any(isinstance(cell, str) for cell in few.flat) else few.astype(float)
    return select(frame, positions) if few is None else few


def as_array(frame: Any) -> Any:
    """The numbers of a frame. Where columns have no type in common each is converted alone; an array of objects is what has no numbers."""
    import numpy as np  # only where there is a frame: building expressions loads no NumPy

    if offers(frame, "column_names"):
        array = _numbers_of_arrow(frame)
        if array is not None:
            return array
    else:
        # pandas looks at the types of all columns before it gives `np.asarray` the same
        array = frame.to_numpy() if offers(frame, "to_numpy") else np.asarray(frame)
        if array.dtype.kind in _NUMBERS and not _has_times(frame):
            return array
    columns = _columns(frame)
    if all(column.dtype.kind in _NUMBERS for column in columns):
        return np.column_stack(columns) if columns else np.asarray(frame)
    table = np.empty((len(columns[0]), len(columns)), dtype=object)
    for i, column in enumerate(columns):
        table[:, i] = column
    return table


def plain_values(value: Any) -> Any:
    """A list, an array or a column as NumPy has it. Codes of Arrow's stand for their values: NumPy is not told which of them are missing."""
    import numpy as np

    type_: Any = getattr(value, "type", None)
    return np.asarray(value.cast(type_.value_type) if hasattr(type_, "index_type") else value)


_NUMBERS = "biuf"
"""The kinds of NumPy's types that are numbers."""


def _columns(frame: Any) -> list[Any]:
    """Each column as numbers, with nan where a value is missing, or as what else it holds."""
    import numpy as np

    if offers(frame, "column_names"):  # Arrow
        return [as_numbers(plain_values(frame.column(i))) for i in range(frame.shape[1])]
    return [as_numbers(np.asarray(select(frame, [i])).reshape(-1)) for i in range(len(column_names(frame)))]


def as_numbers(array: Any) -> Any:
    """An array of objects that are numbers, truth values, decimals or missing as floats, with nan where one is missing; any other as it is."""
    from decimal import Decimal

    import numpy as np

    if array.dtype.kind != "O":
        return array
    if all(isinstance(item, bool | np.bool_) for item in array.flat):
        return array.astype(bool)
    able = (bool, int, float, np.number, np.bool_, Decimal)
    if not all(is_missing(item) or isinstance(item, able) for item in array.flat):
        return array
    try:
        flat = [math.nan if is_missing(item) else float(item) for item in array.flat]
    except (OverflowError, TypeError):  # complex numbers among them
        return array
    return np.array(flat, dtype=np.float64).reshape(array.shape)


def is_missing(item: object) -> bool:
    """True of `None`, nan, and what pandas has in their place."""
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return True
    return (isinstance(item, float) or type(item).__name__ == "Decimal") and bool(item != item)


def not_numbers(frame: Any) -> dict[str, str]:
    """The names of the columns that hold something else than numbers, with what it is in words."""
    names, columns = column_names(frame), _columns(frame)
    return {n: kind_of(c) for n, c in zip(names, columns, strict=True) if c.dtype.kind not in _NUMBERS}


def kind_of(array: Any) -> str:
    """The contents of an array that are no numbers, in words."""
    if array.dtype.kind != "O":
        kinds = {"c": "complex numbers", "U": "text", "S": "text", "M": "dates", "m": "durations"}
        return kinds.get(array.dtype.kind, str(array.dtype))
    from datetime import date, time, timedelta

    items = [item for item in array.flat if not is_missing(item)]
    for type_, words in ((str, "text"), (date, "dates"), (time, "times of day"), (timedelta, "durations")):
        if items and all(isinstance(item, type_) for item in items):
            return words
    return "Python objects" if items else "no values"


@dataclass(frozen=True)
class Match:
    """The positions of a fit's columns in new data; `wrong` names those that are not there exactly once. Neither is set where names say nothing."""

    positions: tuple[int, ...] = ()
    wrong: tuple[str, ...] = ()

    def words(self, names: Sequence[str]) -> str:
        """The words for what is wrong: "no column `b`"."""
        absent = [name for name in self.wrong if name not in names]
        listed = absent or tuple(dict.fromkeys(self.wrong))
        told = ", ".join(f"`{name}`" for name in listed[:5]) + (", ..." if len(listed) > 5 else "")
        return f"{'no column' if absent else 'several columns'} {told}"


def match(fitted: Sequence[str], names: Sequence[str], named: bool = True) -> Match:
    """Find each column of a fit among the `names` of new data, other columns left out.

    A frame made of an array numbers its columns from 0, which is no name: such data are taken by position unless they have the
    fit's names. `named` tells that the new names are names, even where they are these numbers (the header of a file).
    """
    if tuple(fitted) == tuple(names):
        return Match(tuple(range(len(names))))
    at = {name: i for i, name in enumerate(names)}
    twice = len(at) < len(names)
    wrong = tuple(name for name in fitted if name not in at or (twice and names.count(name) > 1))
    if not wrong:
        return Match(tuple(at[name] for name in fitted))
    unnamed = _are_numbers(fitted) or (not named and _are_numbers(names))
    return Match() if unnamed and not set(fitted) & set(names) else Match(wrong=wrong)


def _are_numbers(names: Sequence[str]) -> bool:
    return tuple(names) == tuple(str(i) for i in range(len(names)))
