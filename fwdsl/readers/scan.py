"""Scans arrays: finds non-finite numbers, and maps signs and labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..grammar.diagnostic import Diagnostic, Place
from .findings import shown
from .row_blocks import is_on_disk

Array = Any  # an array, a memory map, or a scipy.sparse.csr_array; SciPy is not imported here

_BLOCK = 1 << 20  # numbers in a block
_SMALL = 1 << 12  # numbers that are looked at in one go
_SHOWN = 8


def find_nonfinite(array: Array, limit: int = 20) -> list[tuple[int, int, float]]:
    """The first entries that are nan or infinite, as (row, column, value) counted from 0. The column of a vector is 0.

    Looks at blocks of 2^20 numbers, so that neither a memory map nor a sparse array is copied. In a tensor the column
    counts the entries of `array[row]` in C order.
    """
    if is_on_disk(array):
        return _on_disk(array, limit)
    if isinstance(array, np.ndarray):
        return _dense(array, limit)
    found: list[tuple[int, int, float]] = []
    for start in range(0, array.data.size, _BLOCK):
        block = array.data[start : start + _BLOCK]
        for i in _bad(block, limit - len(found)):
            row = int(np.searchsorted(array.indptr, start + i, side="right")) - 1
            found.append((row, int(array.indices[start + i]), float(block[i])))
        if len(found) >= limit:
            break
    return found


def _on_disk(array: Array, limit: int) -> list[tuple[int, int, float]]:
    found: list[tuple[int, int, float]] = []
    for start, stop in array.pieces():
        found += [
            (start + row, j, value) for row, j, value in find_nonfinite(array.rows(start, stop), limit - len(found))
        ]
        if len(found) >= limit:
            break
    return found


def map_signs(
    raw: np.ndarray, name: str = "y", place: Place | None = None
) -> tuple[np.ndarray, tuple[Any, Any]] | Diagnostic:
    """Map two distinct values to -1.0 (the smaller) and +1.0. The pair (low, high) that these stand for is returned too.

    `raw` has any shape and holds numbers, booleans or words. Returns a diagnostic where there are not exactly two values; its
    row is that of `raw`, counted from 1.
    """
    distinct = _distinct(raw)
    if distinct.size == 2:
        return np.where(raw == distinct[1], 1.0, -1.0), (distinct[0].item(), distinct[1].item())
    if distinct.size > 2 and raw.size:
        counts = np.array([np.count_nonzero(raw == value) for value in distinct[:_SHOWN]])
        odd = distinct[_odd(counts)]
        row: int | None = int(np.argmax((raw == odd).reshape(len(raw), -1).any(axis=1))) + 1
        return not_two(name, distinct.tolist(), place, row, odd.item())
    return not_two(name, distinct.tolist(), place)


def odd_one(codes: np.ndarray, count: int) -> tuple[int, int]:
    """The rarest of `count` codes, most likely a slip where two were expected, and its first position."""
    odd = _odd(np.bincount(codes, minlength=count))
    return odd, int(np.argmax(codes == odd))


def not_two(
    name: str, distinct: list[Any], place: Place | None, row: int | None = None, odd: object = None
) -> Diagnostic:
    """The diagnostic for data declared `signs` whose sorted distinct values are not two."""
    listed = ", ".join(f"`{_word(v)}`" for v in distinct[:_SHOWN]) + (", ..." if len(distinct) > _SHOWN else "")
    count = {0: "no values", 1: "one value"}.get(len(distinct), f"{len(distinct)} distinct values")
    if place is not None and row is not None:
        place = replace(place, row=row, value=_word(odd))
    return Diagnostic(
        "FW4050",
        f"`{name}` has {count}, where two were expected" + (f": {listed}" if distinct else ""),
        rule="Data declared `signs` has exactly two distinct values; the smaller stands for -1, the larger for +1.",
        hint=_instead_of_signs(name, distinct),
        place=place,
    )


def _instead_of_signs(name: str, distinct: list[Any]) -> str:
    if len(distinct) < 2:
        return "check that this is the column of labels"
    fractions = any(isinstance(v, float) and v != round(v) for v in distinct if v == v)
    if fractions:
        return f"declare `{name}: vector[n]` if these are numbers to predict, with a loss such as `squared`"
    return f"declare `{name}: labels[n, k]` if there are more than two classes"


def map_labels(raw: np.ndarray) -> tuple[np.ndarray[Any, np.dtype[np.int64]], np.ndarray]:
    """Codes 0..k-1 of the values of `raw` (n,), and the k distinct values in sorted order: `classes[codes] == raw`."""
    classes, codes = np.unique(raw, return_inverse=True)
    return codes.astype(np.int64, copy=False), classes


def _word(value: object) -> str:
    """A label as the user wrote it: `1`, not `1.0`."""
    return shown(f"{value:.17g}" if isinstance(value, float) and value.is_integer() else str(value))


def _odd(counts: np.ndarray) -> int:
    """The last code among the rarest."""
    return int(counts.size - 1 - np.argmin(counts[::-1]))


def _distinct(raw: np.ndarray) -> np.ndarray:
    """The sorted distinct values; a long array is not sorted as a whole."""
    flat = raw.reshape(-1)
    found = flat[:0]
    for start in range(0, flat.size, _BLOCK):
        found = np.unique(np.concatenate([found, np.unique(flat[start : start + _BLOCK])]))
    return found


def _dense(array: np.ndarray, limit: int) -> list[tuple[int, int, float]]:
    if array.dtype.kind not in "fc" or (array.size <= _SMALL and np.isfinite(array).all()):
        return []
    if array.ndim == 2 and array.flags.f_contiguous and not array.flags.c_contiguous:
        # The columns lie one after the other in memory: they are scanned in turn, and the entries sorted by row.
        found = sorted((row, column, value) for column, row, value in _rows(array.T, limit))
        return found[:limit]
    return list(_rows(array, limit))


def _rows(array: np.ndarray, limit: int) -> Iterator[tuple[int, int, float]]:
    """The entries that are not finite, found by blocks of whole rows."""
    array = np.atleast_1d(array)
    width = array[0].size
    step = max(1, _BLOCK // width)
    left = limit
    for start in range(0, array.shape[0], step):
        block = array[start : start + step].reshape(-1)
        for i in _bad(block, left):
            yield start + int(i) // width, int(i) % width, float(block[i])
            left -= 1
        if left <= 0:
            return


def _bad(block: np.ndarray, limit: int) -> np.ndarray:
    # A finite sum shows that all entries are finite. An infinite one may be an overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(block.sum()):
            return np.zeros(0, np.int64)
    return np.flatnonzero(~np.isfinite(block))[:limit]
