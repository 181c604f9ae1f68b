"""Matrices that Python gives in blocks of rows: arrays and frames of dask, iterators, and functions that make iterators.

A block is rows of one matrix, or a mapping with the rows of each name that the same function is given for. Blocks are had one after the other, and
go into a file once they outgrow memory, as decoded rows do (`fwdsl.readers.decoded`): the whole is never in memory. The folder of such rows is
removed with the matrix.
"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .decoded import Decoded, Pile
from .frames import NotPulled, as_array, column_names, gives_blocks, makes_blocks, offers, reason_of
from .memory import GivingBack
from .row_blocks import RowBlocks

_RULE = "Blocks are taken in turn. Each has rows of one name, or as a mapping those of several, and the rows of all blocks have the same length."


def piled(value: Any, name: str, stays: int | None) -> tuple[Any, tuple[str, ...]]:
    """The matrix, in memory up to `stays` bytes (None: any), else on its disk, and the names of its columns.

    Raises `NotPulled` where a block cannot be had, or is none, and `DiskFull` where there is no room for them.
    """
    cache = _cache(stays)
    pile, count, giving = Pile(cache, name), 0, GivingBack()
    names: tuple[str, ...] = ()
    try:
        for block in _blocks(value, name):
            names = names or column_names(block)
            rows = _rows(block, count)
            if count and rows.shape[1] != pile.width:
                raise NotPulled(
                    f"has {rows.shape[1]:,} columns in block {count + 1:,} and {pile.width:,} before",
                    _RULE,
                    "give all blocks the same columns",
                )
            pile.add(rows)
            count += 1
            nbytes = rows.data.nbytes
            block = rows = None  # nor is one kept while the next is made
            if stays is not None:
                giving.read(nbytes)
        if not count:
            raise _none(value)
        found = cache.keep({name: pile.finish()}, {}, again=False)[name]
    except OSError as error:
        cache.drop()
        told = f"outgrows memory, and cannot be written to {cache.folder.parent}: {error.strerror or error}"
        raise NotPulled(told, _RULE, "set FWDSL_CACHE_DIR to a folder that can be written to") from None
    except MemoryError:
        cache.drop()
        raise NotPulled("does not fit into memory", _RULE, "allow rows on the disk by `memory`") from None
    except BaseException:
        cache.drop()
        raise
    return found, tuple(names)


def gathered(matrix: RowBlocks, rows: NDArray[np.intp], name: str, stays: int | None) -> Any:
    """Some rows of a matrix on its disk, whose positions rise: in memory up to `stays` bytes (None: any), else on its disk too, in one pass.

    Raises `DiskFull` where there is no room for them, and `ChangedFile`.
    """
    cache = _cache(stays)
    try:
        pile = Pile(cache, name)
        for start, stop in matrix.pieces():
            own = rows[slice(*np.searchsorted(rows, (start, stop)))] - start
            if own.size:
                pile.add(matrix.rows(start, stop)[own])
        found = cache.keep({name: pile.finish(matrix.shape[1])}, {}, again=False)[name]
    except BaseException:
        cache.drop()
        raise
    return found


def _cache(stays: int | None) -> Decoded:
    """A folder that no other run finds."""
    return Decoded(("python", uuid.uuid4().hex), (), sys.maxsize if stays is None else stays)


def joined(value: Any, name: str) -> Any:
    """A vector or labels whose blocks a function or an iterator gives, in memory. Raises `NotPulled`."""
    found = []
    for count, block in enumerate(_blocks(value, name)):
        try:
            found.append(np.asarray(block))
        except (TypeError, ValueError) as error:
            told = f"has no array as block {count + 1:,}: {reason_of(error)}"
            raise NotPulled(told, _RULE, "give an array as each block") from error
        if found[-1].ndim != found[0].ndim or found[-1].ndim == 0 or found[-1].shape[1:] != found[0].shape[1:]:
            told = (
                f"is of another shape in block {count + 1:,} than before" if count else "has a single value as block 1"
            )
            raise NotPulled(told, _RULE, "give arrays that can be put under each other")
    if not found:
        raise _none(value)
    return np.concatenate(found)


def _none(value: Any) -> NotPulled:
    """The words for no block at all."""
    if makes_blocks(value):
        return NotPulled("gives no block of rows", _RULE, f"see that `{_name(value)}` comes to a `yield`")
    again = "give the function that makes it, which is called anew each time"
    return NotPulled("gives no block of rows: an iterator can be read once", _RULE, again)


def _blocks(value: Any, name: str) -> Iterator[Any]:
    """The blocks; what a task of dask or a program of the user runs into is told of the block it was to give."""
    count = 0
    if not gives_blocks(value):
        try:
            if offers(value, "rechunk"):
                value = value.rechunk({1: -1})
                parts, of = value.blocks, value.numblocks[0]
            else:
                parts, of = value.partitions, value.npartitions
        except Exception as error:
            raise NotPulled(f"cannot be computed: {reason_of(error)}") from error
        for count in range(of):
            try:
                block = parts[count].compute()
            except MemoryError:
                raise
            except Exception as error:  # whatever a task of dask runs into
                raise NotPulled(f"cannot be computed in block {count + 1:,}: {reason_of(error)}") from error
            yield block
        return
    blocks = value
    if makes_blocks(value):
        try:
            blocks = iter(value())
        except MemoryError:
            raise
        except Exception as error:  # such as a function that takes arguments, or makes a number
            told = f"cannot be had from `{_name(value)}`: {reason_of(error)}"
            raise NotPulled(
                told, _RULE, "give a function without arguments that makes an iterator of blocks"
            ) from error
    while True:
        count += 1
        try:
            block = next(blocks)
        except StopIteration:
            return
        except MemoryError:
            raise
        except Exception as error:  # whatever a program of the user runs into
            kind, reason = type(error).__name__, reason_of(error)
            told = f"cannot be had: block {count:,} ended in {kind if reason == kind else f'{kind}: {reason}'}"
            again = f"`for rows in {_name(value)}(): pass`" if makes_blocks(value) else "what makes it"
            raise NotPulled(told, _RULE, f"run {again} alone to see the whole error") from error
        if isinstance(block, Mapping):
            if name not in block:
                told = f"is not in block {count:,}, which has {', '.join(f'`{n}`' for n in block)}"
                raise NotPulled(told, _RULE, f"give the rows of `{name}` in each block, under that name")
            block = block[name]
        yield block


def _name(function: Any) -> str:
    return str(getattr(function, "__name__", "") or getattr(function.func, "__name__", "function"))


def _rows(block: Any, count: int) -> Any:
    """A block as an array of numbers or a `csr_array`."""
    if hasattr(block, "tocsr"):
        from scipy.sparse import csr_array

        rows: Any = csr_array(block)
    else:
        try:
            rows = as_array(block) if column_names(block) else np.asarray(block)
        except (TypeError, ValueError):  # such as lists of several lengths
            rows = np.empty(0)
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        told = f"has no matrix of numbers as block {count + 1:,}"
        raise NotPulled(told, _RULE, "give an array of numbers with two axes, a sparse matrix or a frame as each block")
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    return rows if hasattr(rows, "tocsr") else np.ascontiguousarray(rows)
