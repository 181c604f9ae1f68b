"""Fingerprints of programs and data, by which a saved state of another problem is refused. They are computed on first need."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from ..bind.data_operator import DataOperator
from ..bind.instance import Instance
from ..bind.values import Entries
from ..model import Model
from ..readers.row_blocks import SparseRows, is_on_disk

_CHUNK = 1 << 22


def of_array(value: Any) -> str:
    """SHA-256 of the shape, type and numbers of a value. Memory maps are read in chunks.

    A sparse matrix and observed entries are hashed by their three arrays, an operator by two products."""
    digest = hashlib.sha256()
    parts: tuple[Any, ...]
    if is_on_disk(value):
        return _once(value, _of_rows)
    if isinstance(value, DataOperator):
        parts = _traces(value)
    elif hasattr(value, "indptr"):
        parts = (value.indptr, value.indices, value.data)
    elif isinstance(value, Entries) and value.stored is not None:
        return _once(value, _of_entries)
    elif isinstance(value, Entries):
        parts = (value.rows, value.columns, value.values)
    else:
        parts = (np.asarray(value),)
    digest.update(repr(np.shape(value)).encode())
    for part in parts:
        digest.update(str(part.dtype).encode())
        flat = part.reshape(-1) if part.flags.c_contiguous else np.ascontiguousarray(part).reshape(-1)
        raw = flat.view(np.uint8)
        for start in range(0, raw.size, _CHUNK):
            digest.update(raw[start : start + _CHUNK].tobytes())
    return digest.hexdigest()


def _once(value: Any, digest: Callable[[Any], str]) -> str:
    """The digest of what is in files, which is the same whenever it is asked for: who reads them sees that they are those that were bound."""
    kept = vars(value)
    if "_digest" not in kept:
        kept["_digest"] = digest(value)
    found: str = kept["_digest"]
    return found


def _of_entries(entries: Entries) -> str:
    """The digest of observed entries that stay in files, by their places in the order of their rows, which is not that of their file."""
    digest = hashlib.sha256()
    places, _ = entries.by_rows
    assert entries.stored is not None
    digest.update(repr(places.shape).encode() + places.indptr.tobytes())
    for start in range(0, places.size, _CHUNK):
        at = start, min(start + _CHUNK, places.size)
        digest.update(places.columns_of(*at).tobytes() + entries.stored.read(*at).tobytes())
    return digest.hexdigest()


def _of_rows(A: Any) -> str:
    """The same digest of a matrix on a disk, by ranges of its rows."""
    digest = hashlib.sha256()
    digest.update(repr(A.shape).encode())
    if not isinstance(A, SparseRows):
        digest.update(str(A.dtype).encode())
        for start, stop in A.pieces():
            digest.update(A.rows(start, stop).tobytes())
        return digest.hexdigest()
    ends = A.ends.astype(np.int32 if A.narrow else np.int64, copy=False)
    digest.update(str(ends.dtype).encode() + ends.tobytes())
    for k in (1, 2):
        for i, (start, stop) in enumerate(A.pieces()):
            part = A.compressed(start, stop)[k]
            digest.update((b"" if i else str(part.dtype).encode()) + part.tobytes())
    return digest.hexdigest()


def _traces(A: DataOperator) -> tuple[Any, ...]:
    """A x and A'y for fixed random x and y, to six digits of their size, since products may round differently from run to run."""
    rng = np.random.default_rng(0)
    products = A.matvec(rng.standard_normal(A.shape[1])), A.rmatvec(rng.standard_normal(A.shape[0]))
    sizes = [float(f"{np.linalg.norm(p):.6g}") for p in products]
    return (np.array(sizes), *(np.round(p / max(s, 1e-300), 6) + 0.0 for p, s in zip(products, sizes, strict=True)))


def of_program(model: Model) -> str:
    """SHA-256 of the objective and the constraints. The program's notation does not matter."""
    text = "\n".join(repr(_plain(part)) for part in (model.terms, model.constraints, model.sense))
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(part: Any) -> Any:
    """A part of a model without its places in the text. Sets are sorted, since Python's order changes from run to run."""
    if is_dataclass(part):
        return (type(part).__name__, *(_plain(getattr(part, f.name)) for f in fields(part) if f.compare))
    if isinstance(part, tuple | list):
        return [_plain(item) for item in part]
    return sorted(part) if isinstance(part, frozenset) else part


def of_instance(instance: Instance) -> dict[str, str]:
    """The program's fingerprint under "program" and each value's under its name."""
    out = {"program": of_program(instance.model)}
    for name, value in sorted(instance.values.items()):
        out[name] = of_array(value)
    return out
