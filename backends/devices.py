"""Devices: where products with data may be taken beside the host, and the table of kernels that keeps the matrices there.

A matrix that is worth it is moved once, in full, and kept for as long as the data live: a path moves nothing twice. Vectors cross the table as
NumPy arrays. Losses and proxes are the host's, and so is the verifier, who recomputes everything from the data that the host has.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import ref

import numpy as np

from fwdsl.atoms.base import Array, MatrixLike
from fwdsl.backends import costs
from fwdsl.backends.kernels.arrays import BLOCK, Arrays
from fwdsl.backends.kernels.on_device import DeviceDense, DeviceSparse, why_lost
from fwdsl.backends.kernels.operators import storage_of
from fwdsl.backends.kernels.storage import Dense, Sparse
from fwdsl.backends.table import Table
from fwdsl.canon.combined_maps import Add, Compose, Joined, Scaled
from fwdsl.canon.data_maps import Matrix, is_written, stored
from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.matrix_maps import LeftMultiply
from fwdsl.errors import RunError
from fwdsl.extras import install, require
from fwdsl.grammar.diagnostic import Diagnostic
from fwdsl.readers.held_rows import where
from fwdsl.readers.memory import size
from fwdsl.readers.row_blocks import is_on_disk
from fwdsl.sums import Rows

LEAST = 4_000_000
"""Bytes of a matrix from which on a device takes its products: on an H100 they take 0.7 of the host's time at this size, and three times as long at a
fifth of it (`benchmarks/results/cuda.md`)."""

ROOM = 4 * 8 * BLOCK
"""Bytes of a device that are left free beside the matrices: what Gram matrices and sorting take for a moment."""


class Device:
    """A device of this process, with the matrices that it keeps."""

    def __init__(self, name: str, model: str, arrays: Arrays) -> None:
        self.name, self.model, self.arrays = name, model, arrays
        self._kept: dict[int, tuple[ref[object], DeviceDense | DeviceSparse, int]] = {}

    def __repr__(self) -> str:
        return f"{self.name}, {self.model}" if self.model else self.name

    def why_not(self, A: MatrixLike) -> str:
        """The reason why the host keeps a matrix, as a clause; "" where it goes to the device."""
        if is_on_disk(A):
            return f"its rows {where(A)}"  # type: ignore[arg-type]
        nbytes = bytes_of(A)
        if nbytes < LEAST:
            return f"products with less than {size(LEAST)} are as fast there"
        if self._own(A) is not None:
            return ""
        free = self.arrays.free() + sum(nbytes for _, _, nbytes in self._kept.values())
        if needed(A) + ROOM > free:
            return f"the device has {size(free)} free, of which {size(ROOM)} are for sums"
        return ""

    def matrix(self, A: MatrixLike, leaves: tuple[Rows, ...] | None) -> tuple[Dense | Sparse, str, float]:
        """The matrix on the device, or on the host with the reason; and the seconds that moving it took."""
        own = self._own(A) if leaves is None else None
        if own is not None:
            return own, "", 0.0
        why = self.why_not(A)
        if why:
            return storage_of(A, leaves), why, 0.0
        host = storage_of(A, leaves)
        if needed(A) + ROOM > self.arrays.free():
            self.forget()
        began = time.perf_counter()
        try:
            made = DeviceDense(host, self.arrays) if isinstance(host, Dense) else DeviceSparse(host, self.arrays)
            self.arrays.wait()
        except self.arrays.errors as error:
            self.arrays.release()
            return host, why_lost(error), 0.0
        if leaves is None:
            key = id(A)
            self._kept[key] = ref(A, lambda _: self._kept.pop(key, None)), made, bytes_of(A)
        return made, "", time.perf_counter() - began

    def forget(self) -> None:
        """Keep no matrix for later runs; those in use stay until they are no longer."""
        self._kept.clear()
        # what a problem that is over had may wait for the collector of cycles
        gc.collect()
        self.arrays.release()

    def _own(self, A: MatrixLike) -> DeviceDense | DeviceSparse | None:
        found = self._kept.get(id(A))
        return found[1] if found is not None and found[0]() is A and not found[1].lost else None


class DeviceTable(Table):
    """The table of one run: matrices that are worth it lie on the device, all else is that of numba."""

    def __init__(self, device: Device, names: Mapping[int, str]) -> None:
        self.device, self._names = device, names
        self._placed: dict[int, tuple[str, int, DeviceDense | DeviceSparse | None, str, int]] = {}
        #: The seconds that moving took.
        self.move = 0.0

    def storage(self, A: MatrixLike, leaves: tuple[Rows, ...] | None) -> Dense | Sparse:
        found, why, seconds = self.device.matrix(A, leaves)
        self.move += seconds
        on_device = found if isinstance(found, DeviceDense | DeviceSparse) else None
        before = on_device.products if on_device is not None else 0
        self._placed.setdefault(id(A), (self._name(A), bytes_of(A), on_device, why, before))
        return found

    def product(self, m: LeftMultiply) -> LeftMultiply:
        why = self.device.why_not(m.A) if is_written(m.A) else "it is known by its products alone"
        if why:
            # what the host multiplies needs no storage of ours
            self._placed.setdefault(id(m.A), (self._name(m.A), bytes_of(m.A), None, why, 0))
            return m
        found = self.storage(m.A, m.given)
        return DeviceProduct(m, found) if isinstance(found, DeviceDense | DeviceSparse) else m

    def placed(self) -> Iterator[tuple[str, int, int, str]]:
        """The matrices that were asked for: name, bytes, the products that the device took, and why the host had it, or took over."""
        for name, nbytes, found, why, before in self._placed.values():
            if found is None:
                yield name, nbytes, 0, why
            else:
                yield name, nbytes, found.products - before, found.lost

    def _name(self, A: MatrixLike) -> str:
        return self._names.get(id(A)) or f"a matrix of {A.shape[0]:,} x {A.shape[1]:,}"


class DeviceProduct(LeftMultiply):
    """X -> A X, or A'X, with A on a device."""

    def __init__(self, source: LeftMultiply, storage: DeviceDense | DeviceSparse) -> None:
        super().__init__(source.A, source.k, source.transposed, source.name, source.given)
        vars(self)["storage"] = storage

    def _times(self, X: Array, turned: bool) -> Array:
        out = np.empty((self.A.shape[1 if turned else 0], self.k))
        storage: DeviceDense | DeviceSparse = vars(self)["storage"]
        return out if storage.times(X, turned, out) else super()._times(X, turned)


# --- sizes, and the matrices of a problem ----------------------------------------------------------------------------


def bytes_of(A: MatrixLike) -> int:
    """The bytes of a matrix as the device has it, by rows and by columns where it is sparse."""
    item = int(A.dtype.itemsize) if A.dtype in (np.float32, np.float64) else 8
    if isinstance(A, np.ndarray) or not hasattr(A, "nnz"):
        return int(A.size) * item
    nnz = int(A.nnz)
    index = 4 if max(*A.shape, nnz) < 2**31 else 8
    return 2 * nnz * (item + index) + index * (int(A.shape[0]) + int(A.shape[1]) + 2)


def needed(A: MatrixLike) -> int:
    """The most bytes that a matrix takes on the device while it is moved: sparse ones are sorted there."""
    return bytes_of(A) + (0 if isinstance(A, np.ndarray) else 24 * int(A.nnz))


def matrices(form: Canonical) -> Iterator[tuple[str, Any]]:
    """The names of the matrices of data in the maps of a form, and the matrices, each once."""
    known: set[int] = set()
    for term in form.terms:
        for _, m in term.map.parts:
            for name, A in _of_map(m):
                if id(A) not in known:
                    known.add(id(A))
                    yield name, A


def _of_map(m: LinearMap) -> Iterator[tuple[str, Any]]:
    if isinstance(m, Matrix | LeftMultiply):
        if is_written(m.A):
            yield m.name, m.A
    elif isinstance(m, Scaled):
        yield from _of_map(m.inner)
    elif isinstance(m, Compose):
        yield from _of_map(m.outer)
        yield from _of_map(m.inner)
    elif isinstance(m, Add):
        yield from _of_map(m.left)
        yield from _of_map(m.right)
    elif isinstance(m, Joined):
        for part in m.parts:
            yield from _of_map(part)


@dataclass(frozen=True)
class Placement:
    """The places of the matrices of a problem: a line for each, and whether any goes to the device."""

    device: Device
    lines: tuple[str, ...]
    moves: bool
    #: What products with data take, beside what the host takes.
    share: float = 1.0


def placement(name: str, form: Canonical | None) -> Placement:
    """The places of the matrices of a form; none is known without data."""
    device = opened(name)
    lines, moves, here, there = [f"device {device}"], False, 0.0, 0.0
    for of, A in () if form is None else matrices(form):
        why = device.why_not(A)
        moves = moves or not why
        lines.append(f"  {of}, {size(bytes_of(A))}, " + (f"stays on the host: {why}" if why else "goes there"))
        dense = isinstance(A, np.ndarray)
        on_host = 1e-9 * costs.NS_PER_NONZERO["dense" if dense else "csr"] * stored(A)
        here += on_host
        there += on_host if why else costs.on_device(A.shape, bytes_of(A) / (1.0 if dense else 2.0))
    return Placement(device, tuple(lines), moves, min(1.0, there / here) if here > 0.0 else 1.0)


# --- the devices that there are --------------------------------------------------------------------------------------


def opened(name: str) -> Device:
    """The device of a name. Raises `RunError`: FW0250 where the package that it is used by is absent, FW0251 where there is none."""
    if name not in _OPENED:
        _OPENED[name] = _DEVICES[name]()
    return _OPENED[name]


def _cuda() -> Device:
    """The first NVIDIA device."""
    cupy = require("cuda")
    try:
        count = int(cupy.cuda.runtime.getDeviceCount())
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise _absent(f"no CUDA device was found: {_first_line(error)}") from None
    if not count:
        raise _absent("no CUDA device was found")
    try:
        from fwdsl.backends.kernels.cuda import CudaArrays

        arrays = CudaArrays(cupy)
        found, out = arrays.dot_rows(arrays.put(np.ones((2, 2))), arrays.vector(np.ones(2))), np.empty(2)
        arrays.fetch(found, out)
        model = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except (
        Exception
    ) as error:  # a driver that is too old, libraries of CUDA that are not there: each has exceptions of its own
        raise _absent(f"the CUDA device cannot be used: {_first_line(error)}") from None
    if not np.array_equal(out, np.full(2, 2.0)):
        raise _absent("the CUDA device cannot be used: a product with it is wrong")
    return Device("cuda", model, arrays)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _absent(found: str) -> RunError:
    rule = "`--device cuda` takes products on an NVIDIA device, whose driver is installed."
    hint = f"leave `--device` out; `fwdsl doctor` looks again ({install('cuda')} has CuPy for CUDA 13)"
    return RunError([Diagnostic("FW0251", found, rule=rule, hint=hint)])


_DEVICES: dict[str, Callable[[], Device]] = {"cuda": _cuda}
"""The devices beside the host, and how each is opened."""

_OPENED: dict[str, Device] = {}
"""The devices of this process. Opening one takes a second, and what it keeps is the process's own."""
