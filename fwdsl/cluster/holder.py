"""The part that runs in a worker: some rows of each matrix, and the products with them."""

from __future__ import annotations

import ctypes
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..atoms.base import Array
from ..backends.held_terms import here
from ..backends.kernels.cache import kernel_sources, stamp
from ..backends.kernels.operators import Operator
from ..backends.kernels.pool import Pool, serial_blas
from ..backends.kernels.storage import Dense, GramPlan, Support, readonly
from ..backends.lowrank.observed import ObservedEntries
from ..backends.problem import PreparedProblem
from ..backends.row_sums import RowSums
from ..backends.row_vectors import Definition, Want
from ..bind import row_chunks
from ..bind.observed_places import Places, StoredPlaces
from ..canon.data_maps import AbsoluteMatrix, Matrix, held, squares
from ..canon.matrix_maps import LeftMultiply
from ..readers.encoded import forget, keep_at_most
from ..readers.held_rows import OfRows, own_rows
from ..readers.row_blocks import ChangedFile, RowBlocks, SparseRows, is_on_disk
from ..results.versions import versions as installed
from ..sums import Node, Rows, subtrees

ROOM = 0.5
"""The share of a worker's memory that rows may take: larger ones stay in their files."""

MMAP_THRESHOLD, TRIM_THRESHOLD = 1 << 25, 1 << 26
"""Bytes from which on an array has pages of its own, and of free memory that malloc keeps: what glibc comes to by itself in a process that works
with arrays."""

COPIED = 0.6
"""The share of the room for rows up to which those that came from the network are copied."""

KEPT = 0.25
"""The share of the room for rows that decoded files may take which are kept for the next pass."""

Change = Callable[[Any], Any]


class Failed(NamedTuple):
    """An answer that says why there is none: errors of ours are not pickled."""

    kind: str
    told: tuple[Any, ...]


class Part(NamedTuple):
    """The rows of one node: as the kernels and as the references have them."""

    node: Node
    rows: slice  # of the holder's
    at: Rows  # its leaves among the holder's
    start: int  # the first of them among the rows of the whole
    storage: Any  # a `Dense`, a `Sparse` or an `ObservedEntries`
    data: Any
    leaves: tuple[Rows, ...]


class Holder:
    """The holder of rows in a worker: an actor of Dask. Each answer comes with the seconds that it took."""

    def __init__(self, threads: int, room: float) -> None:
        keep_freed_memory()
        keep_at_most(KEPT * room)
        self.pool = Pool(threads)
        self.room = room
        self._used = 0.0
        self._parts: dict[str, list[Part]] = {}
        #: Of each loss, and of each sparse matrix of the verifier, what works out its part of each node.
        self._terms: dict[str, list[tuple[Part, slice, Any]]] = {}

    def take(self, key: str, data: Any, row: int, first: int, leaves: tuple[Rows, ...], count: int) -> Any:
        """Hold the rows `data` from `row` on, those of the leaves from `first` on, which are `count` in all; from files they are read here, where
        there is room."""
        try:
            data = self._read(data) if is_on_disk(data) or isinstance(data, StoredPlaces) else self._own(data)
            parts = []
            for level, at in subtrees(first, first + len(leaves), count):
                low = (at << level) - first
                own = leaves[low : low + (1 << level)]
                start, stop = own[0][0], own[-1][1]
                within = tuple((a - start, b - start) for a, b in own)
                rows = held(data, start, stop)
                storage = self._storage(rows, within)
                parts.append(
                    Part((level, at), slice(start, stop), (low, low + len(own)), row + start, storage, rows, within)
                )
            self._parts[key] = parts
            forget()
        except ChangedFile as error:
            return Failed("changed", error.told)
        except OSError as error:
            return Failed("file", (str(error),))
        except MemoryError:
            return Failed("out of memory", ())
        return None

    def _storage(self, rows: Any, leaves: tuple[Rows, ...]) -> Any:
        if isinstance(rows, Places):
            return ObservedEntries.of(rows, self.pool, leaves)
        return Operator(rows, self.pool, leaves).storage

    def _read(self, data: RowBlocks | StoredPlaces) -> Any:
        if isinstance(data, StoredPlaces):
            return data.in_memory()
        if self._used + data.nbytes > self.room:
            return data
        self._used += data.nbytes
        return data.rows(0, data.shape[0])

    def _own(self, data: Any) -> Any:
        """Rows that came from the network, in arrays of NumPy's own where there is room for both: those have huge pages where the system gives them
        to who asks, and a Gram matrix of small ones takes half as long again."""
        data = aligned(data)
        return data.copy(order="K") if isinstance(data, np.ndarray) and data.nbytes <= COPIED * self.room else data

    def take_term(self, name: str, key: str, term: Any, each: int) -> tuple[float, Any]:
        """Hold a loss of the rows of a matrix, with its targets and weights; it has `each` predictions a row. Of observed entries it has one each,
        and says itself what works it out."""
        found: list[tuple[Part, slice, Any]] = []
        at = 0
        for part in self._parts[key]:
            own = term.part(*part.at)
            if isinstance(part.data, Places):
                entries = slice(at, at + part.data.size)
                found.append((part, entries, own.evaluator(part.storage, self.pool)))
                at = entries.stop
                continue
            own = replace(own, map=here(own.map, part.data, part.leaves))
            operator = Operator.of_storage(part.storage, self.pool)
            rows = slice(part.rows.start * each, part.rows.stop * each)
            found.append((part, rows, PreparedProblem.of_rows(own, {id(part.data): operator}, self.pool)))
        self._terms[name] = found
        return 0.0, ()

    def run(
        self, name: str, defined: Sequence[Definition], wants: Sequence[Want], forgotten: Sequence[int]
    ) -> tuple[float, Any]:
        """Work out expressions of the predictions of a loss, and give the values that are wanted of each node."""
        began = time.perf_counter()
        defined = [(number, what, tuple(map(aligned, args))) for number, what, args in defined]
        wants = [tuple(map(aligned, want)) for want in wants]
        found: Any = []
        try:
            with serial_blas():
                for part, rows, evaluator in self._terms[name]:
                    for number, what, args in defined:
                        evaluator.define(number, what, own_rows(args, part.rows), rows)
                    found.append(
                        (part.node, [evaluator.want(want[0], own_rows(want[1:], part.rows)) for want in wants])
                    )
                    for number in forgotten:
                        evaluator.known.pop(number, None)
        except ChangedFile as error:
            found = Failed("changed", error.told)
        except MemoryError:
            found = Failed("out of memory", ())
        return time.perf_counter() - began, found

    def drop(self, keys: Sequence[str]) -> None:
        """Let go of matrices."""
        for key in keys:
            self._parts.pop(key, None)
            self._terms.pop(key, None)

    def ask(self, key: str, what: str, of_rows: Sequence[Array], common: Sequence[Any]) -> tuple[float, Any]:
        """The answer of one of the methods below: of rows one after the other, of nodes in pairs with the node."""
        began = time.perf_counter()
        answer: Callable[..., Any] = getattr(self, f"_{what}")
        of_rows, common = [aligned(v) for v in of_rows], [aligned(v) for v in common]
        try:
            with serial_blas():
                found: Any = [
                    (part.node, answer(part, *(readonly(v[part.rows]) for v in of_rows), *common))
                    for part in self._parts[key]
                ]
        except ChangedFile as error:
            found = Failed("changed", error.told)
        except MemoryError:
            found = Failed("out of memory", ())
        return time.perf_counter() - began, found

    def echo(self, payload: Any) -> Any:
        """The payload, to measure what a round trip costs."""
        return payload

    # --- answers by kernels -------------------------------------------------------------------------------------------

    def _matvec(self, part: Part, x: Array) -> Array:
        out = np.empty(part.storage.shape[0])
        part.storage.matvec(readonly(x), out, self.pool)
        return out

    def _matvec_columns(self, part: Part, values: Array, support: Support) -> Array:
        x, out = np.zeros(part.storage.shape[1]), np.empty(part.storage.shape[0])
        x[support] = values
        part.storage.matvec_columns(readonly(x), readonly(support), out, self.pool)
        return out

    def _rmatvec(self, part: Part, y: Array) -> Array:
        out = np.empty(part.storage.shape[1])
        part.storage.rmatvec(readonly(y), out, self.pool)
        return out

    def _rmatvec_rows(self, part: Part, y: Array, rows: Support) -> Array | None:
        """None where none of the rows is here."""
        here = rows[slice(*np.searchsorted(rows, (part.start, part.start + y.size)))] - part.start
        if not here.size:
            return None
        out = np.empty(part.storage.shape[1])
        part.storage.rmatvec_rows(readonly(y), readonly(here), out, self.pool)
        return out

    def _gram(self, part: Part, d: Array, support: Support | None, plan: GramPlan, single: bool) -> Array:
        support = None if support is None else readonly(support)
        if isinstance(part.storage, Dense):
            return part.storage.gram(support, readonly(d), self.pool, plan, single)
        return np.asarray(part.storage.gram(support, readonly(d), self.pool, plan))

    def _row_sums(self, part: Part, h: Array, what: str, *args: Any) -> Array:
        return np.asarray(getattr(RowSums(part.data, part.leaves, self.pool, self.pool.look), what)(h, *args))

    def _row_squares(self, part: Part) -> Array:
        return np.asarray(part.storage.row_squares())

    def _in_columns(self, part: Part) -> Any:
        if isinstance(part.data, SparseRows):
            return part.data.in_columns().copy()
        return np.bincount(part.data.indices, minlength=part.data.shape[1])

    # --- answers by references, for the verifier ------------------------------------------------------------------------

    def _times(self, part: Part, X: Array, change: Change | None) -> Array:
        return self._reference(part, X, change, turned=False)

    def _turned_times(self, part: Part, Y: Array, change: Change | None) -> Array:
        return self._reference(part, Y, change, turned=True)

    def _reference(self, part: Part, X: Array, change: Change | None, turned: bool) -> Array:
        """A X or A'X, as the maps take it that have the whole matrix."""
        A, leaves = part.data, part.leaves
        if change is None and X.ndim == 1:
            map_: Any = Matrix(A, given=leaves)
        elif change is None:
            many = LeftMultiply(A, X.shape[1], given=leaves)
            return (many.adjoint if turned else many.apply)(np.ascontiguousarray(X).reshape(-1)).reshape(-1, X.shape[1])
        elif X.ndim == 1:
            map_ = AbsoluteMatrix(A, square=change is squares, given=leaves)
        else:
            return (row_chunks.turned_times if turned else row_chunks.times)(A, X, change, leaves)
        return np.asarray((map_.adjoint if turned else map_.apply)(X))


def keep_freed_memory() -> None:
    """Undo what Dask asks of malloc. It sets `MALLOC_TRIM_THRESHOLD_`, so every array from 128 kB on has new pages each time: a Gram matrix takes
    twice the processor time so, as each block of rows is copied."""
    if sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        return
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(-3, MMAP_THRESHOLD)  # M_MMAP_THRESHOLD
    mallopt(-1, TRIM_THRESHOLD)  # M_TRIM_THRESHOLD


def aligned(value: Any) -> Any:
    """A value as it would be had it not come from the network, whose buffers begin anywhere: BLAS takes other ways through what is not aligned."""
    if isinstance(value, np.ndarray):
        return value if value.flags.aligned else value.copy(order="K")
    if isinstance(value, OfRows):
        return OfRows(aligned(value.array))
    if isinstance(value, Places):
        return Places(aligned(value.indptr), aligned(value.columns), value.shape)
    if hasattr(value, "indptr"):
        value.data, value.indices, value.indptr = aligned(value.data), aligned(value.indices), aligned(value.indptr)
    return value


def versions() -> dict[str, str]:
    """The versions that decide about bits, and about what can be sent."""
    return {
        "fwdsl": installed()["fwdsl"],
        "its kernels": stamp(kernel_sources())[:12],
        "numpy": np.__version__,
        "python": ".".join(platform.python_version_tuple()[:2]),
    }
