"""Matrices that Python gives in blocks of rows: arrays and frames of dask, iterators, and functions that make iterators.

A block is rows of one matrix, or a mapping with the rows of each name that the same function is given for. Blocks are had one after the other, and
go into a file once they outgrow memory, as decoded rows do (`fwdsl.readers.decoded`): the whole is never in memory. The folder of such rows is
removed with the matrix.
"""

from __future__ import annotations

import shutil
import sys
import uuid
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .cache_folder import DiskFull
from .decoded import Decoded, Pile
from .frames import NotPulled, as_array, column_names, gives_blocks, makes_blocks, offers
from .row_blocks import is_on_disk


def piled(value: Any, name: str, stays: int | None) -> tuple[Any, tuple[str, ...]]:
    """The matrix, in memory up to `stays` bytes (None: any), else on its disk, and the names of its columns.

    Raises `NotPulled` where a block cannot be had, or is none.
    """
    cache = Decoded(("python", uuid.uuid4().hex), (), sys.maxsize if stays is None else stays)
    pile, count = Pile(cache, name), 0
    names: tuple[str, ...] = ()
    try:
        for block in _blocks(value, name):
            names = names or column_names(block)
            rows = _rows(block, count)
            if count and rows.shape[1] != pile.width:
                raise NotPulled(f"has {rows.shape[1]:,} columns in block {count + 1:,} and {pile.width:,} before")
            pile.add(rows)
            count += 1
        if not count:
            raise NotPulled("gives no block of rows: an iterator can be read once, so give the function that makes it")
        found = cache.keep({name: pile.finish()}, {}, again=False)[name]
    except NotPulled:
        cache.drop()
        raise
    except DiskFull as error:
        cache.drop()
        raise NotPulled(f"outgrows memory, and cannot be written to {cache.folder.parent}: {error}") from None
    except MemoryError:
        cache.drop()
        raise NotPulled("does not fit into memory: allow rows on the disk by `memory`") from None
    except Exception as error:  # whatever a task of dask or a function of the user runs into
        cache.drop()
        reason = (str(error).splitlines() or [""])[0] or type(error).__name__
        raise NotPulled(f"cannot be computed: {reason}") from error
    if is_on_disk(found):
        weakref.finalize(found, shutil.rmtree, cache.folder, True)
    return found, tuple(names)


def joined(value: Any, name: str) -> Any:
    """A vector or labels whose blocks a function or an iterator gives, in memory. Raises `NotPulled`."""
    try:
        found = [np.asarray(block) for block in _blocks(value, name)]
        if not found:
            raise NotPulled("gives no block of rows: an iterator can be read once, so give the function that makes it")
        for count, block in enumerate(found):
            if block.ndim != found[0].ndim or block.ndim == 0 or block.shape[1:] != found[0].shape[1:]:
                raise NotPulled(f"is of another shape in block {count + 1:,} than before")
        return np.concatenate(found)
    except NotPulled:
        raise
    except Exception as error:  # whatever a function of the user runs into
        reason = (str(error).splitlines() or [""])[0] or type(error).__name__
        raise NotPulled(f"cannot be computed: {reason}") from error


def _blocks(value: Any, name: str) -> Iterator[Any]:
    if gives_blocks(value):
        for count, block in enumerate(value() if makes_blocks(value) else value):
            if isinstance(block, Mapping):
                if name not in block:
                    raise NotPulled(f"is not in block {count + 1:,}, which has {', '.join(f'`{n}`' for n in block)}")
                yield block[name]
            else:
                yield block
    elif offers(value, "rechunk"):
        whole = value.rechunk({1: -1})
        for i in range(whole.numblocks[0]):
            yield whole.blocks[i].compute()
    else:
        for i in range(value.npartitions):
            yield value.partitions[i].compute()


def _rows(block: Any, count: int) -> Any:
    """A block as an array of numbers or a `csr_array`."""
    if hasattr(block, "tocsr"):
        from scipy.sparse import csr_array

        rows: Any = csr_array(block)
    else:
        rows = as_array(block) if column_names(block) else np.asarray(block)
    if rows.ndim != 2 or rows.dtype.kind not in "biuf":
        raise NotPulled(f"has no matrix of numbers as block {count + 1:,}")
    if rows.dtype not in (np.float32, np.float64):
        rows = rows.astype(np.float64)
    return rows if hasattr(rows, "tocsr") else np.ascontiguousarray(rows)
