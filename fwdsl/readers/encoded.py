"""Rows of files whose format has no rows at places that are known, read where they are held: by path, range and fingerprint, like raw ones.

An `Encoded` stands in a `DenseRows` or a `SparseRows` where a `Stored` may. Whoever asks for its numbers decodes the file, by the reader that bound
it, and keeps what was decoded last, as the next range is most often of the same file. So a worker that is given such rows reads its own files, and
one that takes the place of a lost worker reads them again; a file that is no longer the one that was bound is an error.

Workers read a file each (`look_at`), and tell its rows, targets, columns and findings, but no matrix.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..light_dataclass import light_dataclass
from .decoded import state_of
from .files import Unreadable
from .findings import FileFindings
from .memory import give_back
from .roles import Role
from .row_blocks import Array, ChangedFile, DenseRows, SparseRows, Stored

if TYPE_CHECKING:
    from .roles import Raw

KEPT = 1 << 28
"""Bytes of decoded files that a process keeps at most, beside the last one."""


@light_dataclass
class Decoding:
    """The way a file is decoded: its reader, the options of its source and what is asked for."""

    reader: Callable[..., dict[str, Raw]]
    options: Mapping[str, object]
    roles: tuple[Role, ...]


@light_dataclass
class Encoded(Stored):
    """Numbers of a file that is decoded: `offset` counts them from the first of the array `which` of `name`: "numbers", or "columns"."""

    how: Decoding
    name: str
    which: str

    def read(self, start: int, stop: int, out: Array | None = None, ahead: int = 0) -> Array:
        """The numbers from start up to stop, in `out` where that is given. Raises `ChangedFile`."""
        numbers = self._matrix()[self.which][self.offset + start : self.offset + stop]
        if out is None:
            return numbers.copy()
        out[:] = numbers
        return out

    def cut(self, start: int, stop: int) -> Encoded:
        """Some of the numbers, of the same file."""
        return replace(self, offset=self.offset + start, count=stop - start)

    def _matrix(self) -> dict[str, Array]:
        state = _state(self.path)
        if state != (self.size, self.changed):
            how = "was cut short" if state is not None and state[0] < self.size else "was changed or taken away"
            raise ChangedFile(self.path, f"{how} after it was bound")
        findings = FileFindings(self.path)
        found = _decoded(self.path, state, self.how, findings).get(self.name)
        if found is None:
            raise ChangedFile(self.path, "cannot be decoded any more")
        return _flat(found)


_lock = threading.Lock()
_kept: OrderedDict[Any, dict[str, Any]] = OrderedDict()
_most = float(KEPT)


def keep_at_most(nbytes: float) -> None:
    """Keep no more bytes of decoded files than so many, where that is less than `KEPT`."""
    global _most
    _most = min(float(KEPT), nbytes)


def _decoded(path: str, state: tuple[int, int], how: Decoding, findings: FileFindings) -> dict[str, Any]:
    """The arrays of a file, those of the last files kept."""
    key = path, state, how.reader, repr(how.options), how.roles
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
        while sum(map(_size, _kept.values())) > _most:  # a large one makes room for the next
            _kept.popitem(last=False)
        arrays = dict(how.reader(path, how.options, how.roles, findings))
        give_back()  # Dask begins nothing on a worker that seems to have little memory left, and ends it where it has less
        if not findings.failed and _state(path) == state:
            _kept[key] = arrays
        while len(_kept) > 1 and sum(map(_size, _kept.values())) > _most:
            _kept.popitem(last=False)
        return arrays


def forget() -> None:
    """Let go of what was decoded: its rows are held now."""
    with _lock:
        _kept.clear()


def _state(path: str) -> tuple[int, int] | None:
    try:
        return state_of(path)
    except OSError:
        return None


def _size(arrays: Mapping[str, Any]) -> int:
    return sum(int(getattr(a, "nbytes", 0) or getattr(getattr(a, "data", None), "nbytes", 0)) for a in arrays.values())


def _flat(matrix: Any) -> dict[str, Array]:
    if hasattr(matrix, "tocsr"):
        return {"columns": matrix.indices, "numbers": matrix.data}
    return {"numbers": matrix.reshape(-1)}


def look_at(path: str, how: Decoding) -> tuple[dict[str, Raw], FileFindings]:
    """The parts of a file that `read_all` needs: its arrays, each plain matrix as rows that stay in the file, and what was found."""
    findings, state = FileFindings(path), _state(path)
    try:
        if state is None:
            return dict(how.reader(path, how.options, how.roles, findings)), findings
        arrays = dict(_decoded(path, state, how, findings))
    except Unreadable:
        return {}, findings
    rows = {role.name for role in how.roles if role.is_rows}
    for name, array in arrays.items():
        if name not in rows:
            continue
        if hasattr(array, "tocsr"):
            if not array.has_canonical_format:
                array.sum_duplicates()
            pair = tuple(
                Encoded(path, 0, part.dtype, part.size, *state, how, name, which)
                for which, part in (("columns", array.indices), ("numbers", array.data))
            )
            arrays[name] = SparseRows(array.indptr.astype(np.int64), [pair], array.shape[1])  # type: ignore[list-item]
        elif isinstance(array, np.ndarray) and array.ndim == 2 and array.size:
            only = Encoded(path, 0, array.dtype, array.size, *state, how, name, "numbers")
            arrays[name] = DenseRows([only], array.shape[1])
    return arrays, findings
