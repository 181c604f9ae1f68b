"""Observed entries that outgrow memory: sorted by rows, and within a row by columns, into files.

They are dealt out to buckets, ranges of rows whose entries fit into memory, and each bucket is sorted by itself. Entries of one place keep their
order, so that it is the order that `numpy.lexsort` has for those in memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..sums import cut_by_numbers
from .decoded import Decoded, full_disk_told
from .row_blocks import SortedTriplets, Stored

CHUNK = 1 << 20
"""Entries that are read at once."""

LEAST, BYTES = 1 << 16, 64
"""Entries of a bucket, at least, and the bytes that sorting takes for each."""

_RECORD = np.dtype([("row", np.uint32), ("column", np.uint32), ("value", np.float64)])


def sort_into_files(cache: Decoded, name: str, parts: Sequence[Any], base: int) -> SortedTriplets:
    """The entries of three columns of floats, in files or in memory: rows, columns and values. The columns' own files are removed."""
    total = size_of(parts[0])
    rows, columns = (_distinct(part) for part in parts[:2])
    counts = np.zeros(rows.size, np.int64)
    for chunk in chunks_of(parts[0]):
        counts += np.bincount(_codes(rows, chunk), minlength=rows.size)
    ends = np.concatenate([[0], np.cumsum(counts)])
    most = max(LEAST, cache.most // BYTES)
    buckets = cut_by_numbers(ends, max(1, -(-total // most)))
    firsts = np.array([first for first, _ in buckets])
    codes, values = cache.array(f"{name}.columns", np.uint32), cache.array(f"{name}.values", np.float64)
    with full_disk_told(), cache.create(f"{name}.buckets") as file:
        _deal_out(cache, file, parts, (rows, columns), firsts, ends[firsts])
        for part in parts:
            if isinstance(part, Stored):
                os.remove(part.path)
        for into in (codes, values):
            into.spill()
        file.seek(0)
        for first, last in buckets:
            found = np.frombuffer(file.read(int(ends[last] - ends[first]) * _RECORD.itemsize), _RECORD)
            order = np.lexsort((found["column"], found["row"]))
            codes.extend(found["column"][order])
            values.extend(found["value"][order])
        path = file.name
    os.remove(path)
    return SortedTriplets(rows, columns, counts, codes.stored(), values.stored(), base)


def _deal_out(cache: Decoded, file: Any, parts: Sequence[Any], ids: Sequence[Any], firsts: Any, starts: Any) -> None:
    """Write each entry into the bucket of its row, after those that came before."""
    at = starts.copy()
    for row_ids, column_ids, value in zip(*map(chunks_of, parts), strict=True):
        record = np.empty(value.size, _RECORD)
        record["row"], record["column"] = _codes(ids[0], row_ids), _codes(ids[1], column_ids)
        record["value"] = value
        bucket = np.searchsorted(firsts, record["row"], side="right") - 1
        order = np.argsort(bucket, kind="stable")
        record, bucket = record[order], bucket[order]
        for k in np.unique(bucket):
            low, high = np.searchsorted(bucket, (k, k + 1))
            file.seek(int(at[k]) * _RECORD.itemsize)
            file.write(record[low:high].tobytes())
            at[k] += high - low
        cache.wrote(record.nbytes)


def size_of(part: Any) -> int:
    """The numbers of a column."""
    return int(part.count if isinstance(part, Stored) else part.size)


def chunks_of(part: Any) -> Iterator[Any]:
    """A column, chunk by chunk."""
    for start in range(0, size_of(part), CHUNK):
        stop = min(start + CHUNK, size_of(part))
        yield part.read(start, stop) if isinstance(part, Stored) else part[start:stop]


def _distinct(part: Any) -> Any:
    """The numbers that a column has, rising; as int64 where all are whole."""
    found = np.zeros(0)
    for chunk in chunks_of(part):
        found = np.union1d(found, chunk)
    whole = found.astype(np.int64)
    return whole if np.array_equal(whole, found) else found


def _codes(ids: Any, values: Any) -> Any:
    """The place of each value among the ids, all of which there are."""
    if ids.dtype.kind == "i" and int(ids[-1]) - int(ids[0]) == ids.size - 1:
        return values.astype(np.int64) - ids[0]
    return np.searchsorted(ids, values)
