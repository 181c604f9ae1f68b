"""Some rows and columns of a linear map as a dense matrix, for small systems on identified pieces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array, MatrixLike
from fwdsl.backends.maps import CountedMap, KernelMatrix
from fwdsl.canon.combined_maps import Add, Compose, Joined, Scaled
from fwdsl.canon.data_maps import is_written
from fwdsl.canon.maps import Column, Diagonal, Identity, LinearMap, Row, Select
from fwdsl.canon.matrix_maps import LeftMultiply
from fwdsl.readers.row_blocks import is_on_disk

Index = NDArray[np.intp]


def entries(m: LinearMap, rows: Index, columns: Index) -> Array:
    """K[rows, columns]: read off where the map is data or simple, else by products with unit vectors."""
    if isinstance(m, CountedMap):
        return entries(m.inner, rows, columns)
    if isinstance(m, Scaled):
        return np.asarray(m.c * entries(m.inner, rows, columns))
    if isinstance(m, Add):
        return np.asarray(entries(m.left, rows, columns) + entries(m.right, rows, columns))
    if isinstance(m, Compose) and isinstance(m.inner, Diagonal):
        return np.asarray(entries(m.outer, rows, columns) * m.inner.v[columns])
    if isinstance(m, Compose) and isinstance(m.outer, Diagonal):
        return np.asarray(m.outer.v[rows][:, None] * entries(m.inner, rows, columns))
    if isinstance(m, Joined):
        return _joined(m, rows, columns)
    if isinstance(m, KernelMatrix):
        return _data(m.source.A, columns, rows).T if m.transposed else _data(m.source.A, rows, columns)
    if isinstance(m, LeftMultiply) and is_written(m.A):
        up, across = rows // m.k, columns // m.k
        part = _data(m.A, across, up).T if m.transposed else _data(m.A, up, across)
        return np.where((rows % m.k)[:, None] == columns % m.k, part, 0.0)
    if isinstance(m, Row):
        return np.repeat(m.v[columns][None, :], rows.size, axis=0)
    if isinstance(m, Column):
        return np.repeat(m.v[rows][:, None], columns.size, axis=1)
    if isinstance(m, Identity | Diagonal | Select):
        weight = m.v[rows] if isinstance(m, Diagonal) else np.ones(rows.size)
        return np.where(_place(m, rows)[:, None] == columns, weight[:, None], 0.0)
    return _by_products(m, rows, columns)


def _joined(m: Joined, rows: Index, columns: Index) -> Array:
    """The rows of each part at its places."""
    out = np.zeros((rows.size, columns.size))
    for part, at in zip(m.parts, m.places, strict=True):
        places = m.rows_of(at)
        local = np.minimum(np.searchsorted(places, rows), places.size - 1)
        own = np.flatnonzero(places[local] == rows) if places.size else np.zeros(0, dtype=np.intp)
        if own.size:
            out[own] = entries(part, local[own], columns)
    return out


def reached(m: LinearMap, columns: Index) -> Index | None:
    """The rows that can differ from zero in some columns, where the map takes one entry a row; None where it does not."""
    if isinstance(m, CountedMap | Scaled):
        return reached(m.inner, columns)
    if isinstance(m, Identity | Diagonal | Select):
        return np.flatnonzero(np.isin(_place(m, np.arange(m.rows)), columns))
    return None


def _place(m: Identity | Diagonal | Select, rows: Index) -> Index:
    return rows + m.start if isinstance(m, Select) else rows


def _data(A: MatrixLike, rows: Index, columns: Index) -> Array:
    if is_on_disk(A):
        return np.asarray(A.take(rows, columns), dtype=np.float64)
    part = A[np.ix_(rows, columns)] if isinstance(A, np.ndarray) else A[rows][:, columns].toarray()
    return np.asarray(part, dtype=np.float64)


def _by_products(m: LinearMap, rows: Index, columns: Index) -> Array:
    out = np.empty((rows.size, columns.size))
    if rows.size <= columns.size:
        unit = np.zeros(m.rows)
        for i, r in enumerate(rows):
            unit[r] = 1.0
            out[i] = m.adjoint(unit)[columns]
            unit[r] = 0.0
        return out
    unit = np.zeros(m.columns)
    for j, c in enumerate(columns):
        unit[c] = 1.0
        out[:, j] = m.apply(unit)[rows]
        unit[c] = 0.0
    return out


def readable(m: LinearMap) -> bool:
    """True if `entries` needs no product with data."""
    if isinstance(m, CountedMap | Scaled):
        return readable(m.inner)
    if isinstance(m, Add):
        return readable(m.left) and readable(m.right)
    if isinstance(m, Joined):
        return all(map(readable, m.parts))
    if isinstance(m, Compose):
        return (isinstance(m.inner, Diagonal) and readable(m.outer)) or (
            isinstance(m.outer, Diagonal) and readable(m.inner)
        )
    return isinstance(m, KernelMatrix | Row) or (isinstance(m, LeftMultiply) and is_written(m.A)) or m.nnz == 0
