"""Converts what was given for a datum to the array, the labels or the number of its type, without a copy where none is needed."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..grammar.diagnostic import Diagnostic, Place
from ..model import DataDecl
from ..readers.categories import Mixed
from ..readers.frames import as_array, as_numbers, column_names, is_missing, kind_of, not_numbers, plain_values
from ..readers.roles import LabelSets
from ..readers.row_blocks import is_on_disk
from ..readers.scan import find_nonfinite, map_labels, map_signs
from .bindings import RawDatum
from .data_operator import DataOperator
from .findings import InvalidDatum
from .promises import scalar
from .values import is_sparse

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike


def convert(datum: RawDatum) -> tuple[Any, tuple[Any, ...]]:
    """The array of a datum, and the label values behind its codes."""
    type_, raw = datum.decl.type, datum.raw
    if isinstance(raw, DataOperator):
        return refuse_types(datum.decl, raw), ()
    if is_on_disk(raw):
        return raw, ()
    if datum.labels is not None and (type_.is_signs or type_.is_labels):
        return _as_fitted(datum, datum.labels), datum.labels
    if isinstance(raw, Mixed):
        return _expanded(raw), ()
    if isinstance(raw, LabelSets):
        if not type_.is_signs or len(type_.shape) != 2:
            raise InvalidDatum("FW4505", "holds sets of labels", f"declare `{datum.decl.name}: signs[n, k]`")
        return raw.signs, tuple(raw.classes.tolist())
    if type_.is_labels:
        codes, classes = labels(raw)
        if len(classes) == 1:
            hint = "give data of at least two classes; nothing can be learned from one"
            raise InvalidDatum("FW4525", f"holds one class only, `{classes[0]}`", hint)
        return codes, classes
    if type_.is_signs:
        place = datum.place if datum.located else None
        return signs(raw, len(type_.shape), datum.decl.name, place)
    if type_.is_scalar:
        value = scalar(raw)
        if value is None:
            raise InvalidDatum("FW4512", "is no number", f"give one number, or declare `{datum.decl.name}: vector[n]`")
        return value, ()
    if type_.is_symmetric or type_.is_matrix:
        return numbers(raw), ()
    if len(type_.array_shape) == 1:
        return vector(raw), ()
    array = numbers(raw)
    if is_sparse(array):
        raise InvalidDatum(
            "FW4505", "is sparse, where a dense array is needed", "give a dense array: only matrices may be sparse"
        )
    return array, ()


def _expanded(raw: Mixed) -> Any:
    """The matrix of a table with columns of categories. `InvalidDatum` names the first row without a value, or with a level unknown to the fit."""
    plain = numbers(raw.numbers)
    whole = raw if plain is raw.numbers else replace(raw, numbers=plain)
    found = find_nonfinite(plain, 1)
    if found:
        row, j, value = found[0]
        of_numbers = [name for name, column in zip(raw.names, raw.columns, strict=True) if column is None]
        at = f"is `{value}` in the column `{of_numbers[j]}`, where a finite number is needed"
        raise InvalidDatum("FW4021", at, "remove the row, or replace the value", at=(row,))
    wrong = whole.first_wrong()
    if wrong is None:
        return whole.expanded()
    row, column, level, line = wrong
    if level is None:
        told = f"has no value in the column `{column}`"
        raise InvalidDatum("FW4021", told, "fill in the value, or remove the row", at=(row,))
    known = whole.known[column]
    listed = ", ".join(f"`{v}`" for v in known[:8]) + (", ..." if len(known) > 8 else "")
    where = f" (line {line})" if line is not None else ""
    raise InvalidDatum(
        "FW4520",
        f"has `{column}` = `{level}`{where}, a level that the fit does not know",
        f'the fit knows {listed}; with `onehot("{column}", unknown="ignore")` such rows have zeros there',
        at=(row,),
    )


def _as_fitted(datum: RawDatum, classes: tuple[Any, ...]) -> Any:
    """Labels of new data, coded as in an earlier fit."""
    type_, raw = datum.decl.type, datum.raw
    if not isinstance(raw, LabelSets):
        return known_labels(raw, classes) if type_.is_labels else known_signs(raw, classes, len(type_.shape))
    at = known_labels(raw.classes, classes)
    signs_ = np.full((raw.signs.shape[0], len(classes)), -1.0)
    signs_[:, at] = raw.signs
    return signs_


def refuse_types(decl: DataDecl, A: DataOperator) -> DataOperator:
    """The operator, if its declaration promises nothing of its entries; else `InvalidDatum` (FW4528)."""
    if not decl.type.is_matrix or decl.type.domain == "nonnegative":
        promise = "in nonnegative" if decl.type.is_matrix else decl.type.kind
        raise InvalidDatum(
            "FW4528",
            f"is an operator, whose entries are not known: `{promise}` cannot be checked",
            f"declare `{decl.name}: matrix[m, n]`, or give an array",
        )
    return A


_BLOCK = 1 << 20

_INT32 = 2**31 - 1

_POSITIONS = 2**53  # beyond, floats skip whole numbers


def numbers(value: object) -> Any:
    """A float64 or float32 array, or a canonical `csr_array` of one of the two.

    Integers, booleans and other floats become float64; lists and whatever has `__array__` are converted; masked
    entries become nan. `InvalidDatum` for complex numbers, objects and text.
    """
    if type(value) is np.ndarray and _is_native_float(value.dtype):
        return value
    if is_sparse(value):
        return _csr(value)
    array = _array(value)
    if not isinstance(value, np.ndarray) and (hasattr(value, "__array__") or kind_of(array) != "no values"):
        array = as_numbers(array)  # a column or a list with missing values is one of objects
    if array.dtype.kind not in "biuf":
        if column_names(value):
            raise _not_numbers(not_numbers(value))
        raise InvalidDatum("FW4504", f"holds {kind_of(array)}, where real numbers are needed", _remedy(array))
    # to name `np.ma` loads it, and a value of its own has loaded it
    if "numpy.ma" in sys.modules and isinstance(value, np.ma.MaskedArray) and value.mask.any():
        array = np.ma.filled(value.astype(np.float64), np.nan)
    return array if _is_native_float(array.dtype) else array.astype(np.float64)


def vector(value: object) -> Any:
    """`numbers` with one axis: an (n, 1) array stands for its only column, and a sparse array becomes dense."""
    array = numbers(value)
    if is_sparse(array):
        array = array.toarray()
    return _only_column(array)


def signs(value: object, axes: int, name: str, place: Place | None = None) -> tuple[Any, tuple[Any, ...]]:
    """-1.0 and +1.0 for exactly two distinct values, with the pair they stand for; (n, 1) counts as one axis."""
    raw = _dense_values(value)
    raw = _only_column(raw) if axes == 1 else raw
    _refuse_nonfinite(raw)
    if raw.dtype == np.float64 and raw.dtype.isnative and _are_signs(raw):
        return raw, (-1.0, 1.0)
    if raw.dtype.kind == "O":
        raise InvalidDatum("FW4504", "holds Python objects, where two labels are needed", "give numbers or words")
    mapped = map_signs(raw, name, place)
    if isinstance(mapped, Diagnostic):
        raise InvalidDatum(mapped.code, mapped.message, diagnostic=mapped)
    return mapped


def labels(value: object) -> tuple[Any, tuple[Any, ...]]:
    """Codes 0..k-1 (int64) in sorted order of the values, and the values."""
    raw = _only_column(_dense_values(value))
    if raw.ndim != 1:
        return raw, ()
    _refuse_nonfinite(raw)
    try:
        codes, classes = map_labels(raw)
    except TypeError:
        hint = "give all of them as numbers, or all as words"
        raise InvalidDatum("FW4504", "holds labels of different kinds, which have no order", hint) from None
    return codes, tuple(classes.tolist())


def known_labels(value: object, classes: Sequence[Any], axes: int = 1) -> Any:
    """The codes (int64) that an earlier fit gave to the values; `InvalidDatum` names the first value that the fit does not know."""
    raw = _dense_values(value)
    raw = _only_column(raw) if axes == 1 else raw
    _refuse_nonfinite(raw)
    codes = among(raw.reshape(-1), classes)
    if codes.size and codes.min() < 0:
        at = int(np.argmax(codes < 0))
        told = ", ".join(f"`{c}`" for c in classes[:8]) + (", ..." if len(classes) > 8 else "")
        hint = f"the fit knows {told}"
        raise InvalidDatum("FW4520", f"is `{raw.flat[at]}`, a label that the fit does not know", hint, at=_at(raw, at))
    return codes.reshape(raw.shape)


def known_signs(value: object, classes: Sequence[Any], axes: int) -> Any:
    """-1.0 for the first of an earlier fit's two values, +1.0 for the second."""
    return 2.0 * known_labels(value, classes, axes) - 1.0


class Known:
    """Values of an earlier fit in order of code, made ready to find many others among them."""

    def __init__(self, known: Sequence[Any]) -> None:
        self._known = known
        self._every = np.array(known)
        self._sortable = self._every.dtype.kind != "O"
        self._order: Any = np.argsort(self._every) if self._sortable else None
        self._sorted = self._every[self._order] if self._sortable else self._every

    @cached_property
    def _places(self) -> dict[Any, int]:
        return {value: i for i, value in enumerate(self._known)}

    def places(self, values: Any) -> Any:
        """The position (int64) of each value, -1 for one that is not known."""
        words = self._every.dtype.kind in "US", values.dtype.kind in "US"
        if not self._sortable or values.dtype.kind == "O" or words[0] != words[1]:
            return np.array([self._places.get(v, -1) for v in values.tolist()], dtype=np.int64)
        at = self._order[np.minimum(np.searchsorted(self._sorted, values), self._every.size - 1)]
        return np.where(self._every[at] == values, at, -1).astype(np.int64)


def among(values: Any, known: Sequence[Any]) -> Any:
    """The position (int64) of each value among the known ones, -1 for an unknown value."""
    return Known(known).places(values)


def index(value: object) -> Any:
    """Positions as int64; `InvalidDatum` where one is negative or not whole, or where there are truth values."""
    if is_sparse(value):
        raise InvalidDatum("FW4505", "is sparse, where a dense array is needed", "give `.toarray()` of it")
    array = _array(value)
    if array.dtype.kind == "b":
        hint = "give `mask.astype(int)` if they number two blocks, `numpy.flatnonzero(mask)` if they choose positions"
        raise InvalidDatum("FW4515", "holds truth values, where positions are needed", hint)
    raw = _only_column(array if array.dtype.kind in "iu" and array.dtype.isnative else numbers(value))
    if raw.dtype.kind == "f":
        _refuse_nonfinite(raw)
        bad = np.flatnonzero(raw != np.floor(raw))
        if bad.size:
            raise InvalidDatum("FW4515", f"is `{raw.flat[bad[0]]:g}`, which is not a whole number", at=_at(raw, bad[0]))
    bad = np.flatnonzero((raw < 0) | (raw >= _POSITIONS))
    if bad.size:
        raise InvalidDatum("FW4515", f"is `{raw.flat[bad[0]]:g}`, which is no position from 0", at=_at(raw, bad[0]))
    return raw.astype(np.int64, copy=False)


# --- helpers -------------------------------------------------------------------------------------------------------


def _array(value: object) -> Any:
    """The value as an ndarray; a memory map stays one."""
    if isinstance(value, np.memmap):
        return value
    try:
        array = as_array(value) if column_names(value) else plain_values(value)
    except (ValueError, TypeError, OverflowError) as error:
        ragged = "inhomogeneous" in str(error)
        found = "has rows of different lengths" if ragged else f"is {_a(value)}, which is no array"
        raise InvalidDatum("FW4504", found, "give an array of numbers") from None
    if array.dtype.kind == "O" and array.ndim == 0:
        wrap = all(hasattr(value, part) for part in ("shape", "matvec", "rmatvec"))
        hint = "wrap it: `fw.operator(L)`" if wrap else "give an array of numbers"
        if hasattr(value, "to_table"):  # a data set of Arrow, whose files are read where it is asked for
            hint = "give its table, `dataset.to_table()`, or the paths of its files"
        raise InvalidDatum("FW4504", f"is {_a(value)}, which is no array", hint)
    return array


def _csr(value: MatrixLike) -> MatrixLike:
    """A `csr_array` with sorted indices, no duplicates, and 32-bit indices where they fit."""
    from scipy.sparse import csr_array

    if value.dtype.kind not in "biuf":
        raise InvalidDatum("FW4504", f"holds {kind_of(value)}, where real numbers are needed", _remedy(value))
    if value.ndim != 2:
        value = value.reshape(-1, 1)
    shell = type(value)(value)  # shares the numbers, and leaves what is cached on the user's object alone
    try:
        if hasattr(shell, "check_format"):
            shell.check_format(full_check=True)
    except ValueError:
        found = "is a damaged sparse matrix: its indices do not fit its shape"
        raise InvalidDatum("FW4504", found, "build it again") from None
    matrix = csr_array(shell)
    if not _is_native_float(matrix.dtype):
        matrix = matrix.astype(np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    fits = max(matrix.nnz, *matrix.shape) <= _INT32
    if fits and (matrix.indices.dtype != np.int32 or matrix.indptr.dtype != np.int32):
        narrow = matrix.indices.astype(np.int32, copy=False), matrix.indptr.astype(np.int32, copy=False)
        matrix = csr_array((matrix.data, *narrow), shape=matrix.shape, copy=False)
        matrix.has_canonical_format = True
    return matrix


def _dense_values(value: object) -> Any:
    """Labels as an array of numbers, booleans or words. A sparse array becomes dense, since its zeros are values too."""
    if is_sparse(value):
        return numbers(value).toarray()
    array = _array(value)
    if array.dtype.kind == "O" or (array.dtype.kind in "US" and not isinstance(value, np.ndarray)):
        return _objects(value, array)
    if array.dtype.kind not in "biufUS":
        raise InvalidDatum("FW4504", f"holds {kind_of(array)}, where labels are needed", "give numbers or words")
    return numbers(value) if array.dtype.kind == "f" else array


def _objects(value: object, array: MatrixLike) -> MatrixLike:
    """Labels that are Python objects, as numbers or as words. NumPy would make words of a list that has both."""
    raw = array if array.dtype.kind == "O" else np.array(value, dtype=object)
    flat = raw.reshape(-1)
    for i, item in enumerate(flat):
        if is_missing(item) or item != item:
            raise InvalidDatum("FW4021", f"is `{item}`, where a label is needed", "remove the row", at=_at(raw, i))
    if all(isinstance(item, str) for item in flat):
        return raw.astype(str)
    try:
        return raw.astype(np.float64) if all(isinstance(item, int | float | np.number) for item in flat) else raw
    except OverflowError:
        return raw


def _only_column(array: MatrixLike) -> MatrixLike:
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def _refuse_nonfinite(raw: Any) -> None:
    found = find_nonfinite(raw, 1) if raw.dtype.kind == "f" else []
    if found:
        row, column, value = found[0]
        raise InvalidDatum(
            "FW4021", f"is `{value}`, where a label is needed", "remove the row", at=(row, column)[: max(1, raw.ndim)]
        )


def _are_signs(raw: Any) -> bool:
    low = high = False
    flat = raw.reshape(-1)
    for start in range(0, flat.size, _BLOCK):
        block = flat[start : start + _BLOCK]
        below, above = block == -1.0, block == 1.0
        if not np.all(below | above):
            return False
        low, high = low or bool(below.any()), high or bool(above.any())
    return low and high


def _is_native_float(dtype: Any) -> bool:
    return dtype.kind == "f" and dtype.itemsize in (4, 8) and bool(dtype.isnative)


def _at(array: MatrixLike, position: Any) -> tuple[int, ...]:
    return tuple(int(i) for i in np.unravel_index(int(position), array.shape))


def _listed(columns: Sequence[str]) -> str:
    """Names of columns in words."""
    told = ", ".join(f"`{name}`" for name in columns[:5]) + (", ..." if len(columns) > 5 else "")
    return f"the column{'s' if len(columns) > 1 else ''} {told}"


_REMEDIES = {
    "text": 'leave the column out, or make indicators of it: `onehot("NAME")` in the `columns` of the source that the program declares',
    "dates": "leave the column out, or give the days since a date as a number",
    "times of day": "leave the column out, or give the seconds since midnight as a number",
    "durations": "leave the column out, or give it in a unit of time as a number, as `.dt.total_seconds()` does",
    "complex numbers": "give the real and imaginary parts as columns of their own",
}


def _not_numbers(columns: Mapping[str, str]) -> InvalidDatum:
    """Columns that hold something else than numbers: what the first one has, with all that have it."""
    kind = next(iter(columns.values()), "no values")
    of_kind = [name for name, other in columns.items() if other == kind]
    hint = _REMEDIES.get(kind, "leave the column out, or write it as numbers")
    return InvalidDatum("FW4504", f"holds {kind} in {_listed(of_kind)}, where real numbers are needed", hint)


def _remedy(array: MatrixLike) -> str:
    kind = kind_of(array)
    if kind == "Python objects" and isinstance(array.flat[0], Mapping):
        return "make a frame of it, as in `pandas.DataFrame(rows)`: values by name are its rows"
    if kind == "text":
        return "numbers written as text are made numbers by `array.astype(float)`; words are labels, declared `signs[n]` or `labels[n, k]`"
    if kind in _REMEDIES:
        return _REMEDIES[kind].removeprefix("leave the column out, or ").replace(" it ", " them ")
    return "give an array of real numbers, for instance `array.astype(float)`"


def _a(value: object) -> str:
    """The type of a value, with its article."""
    name = type(value).__name__
    return f"{'an' if name[0] in 'AEIOUaeiou' else 'a'} {name}"
