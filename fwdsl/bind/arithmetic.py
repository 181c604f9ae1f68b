"""Sums, products and slices of values in float64. Sparse values stay sparse, and formulas stay formulas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..model import Dim, evaluate_dim
from .data_operator import DataOperator
from .values import Value, csr, double, is_formed, is_sparse


def plus(a: Any, b: Any) -> Value:
    """a + b. A sparse matrix must not meet a number or a row here: their sum would be dense."""
    if is_formed(a) or is_formed(b):
        return _plus_formed(a, b)
    if is_sparse(a) or is_sparse(b):
        total = double(a) + double(b)
        return csr(total) if is_sparse(total) else np.asarray(total)
    return float(a) + float(b) if not np.ndim(a) and not np.ndim(b) else np.add(a, b, dtype=np.float64)


def _plus_formed(a: Any, b: Any) -> Value:
    """A sum with a matrix that is kept as a sum already: a number or a row added to it is one more rank-one term."""
    from ..features.rank_one import RankOneUpdated

    if not is_formed(a):
        a, b = b, a
    if is_formed(b):
        return RankOneUpdated(_plus_formed(a, b.A), b.u, b.v)
    if is_sparse(b):
        return RankOneUpdated(plus(a.A, b), a.u, a.v)
    if np.ndim(b) == 2:
        return a.toarray() + b
    row = np.broadcast_to(np.asarray(b, dtype=np.float64), a.shape[1:])
    return RankOneUpdated(a, np.full(a.shape[0], -1.0), row) if np.any(row) else a


def times(a: Any, b: Any) -> Value:
    """a * b, entry by entry."""
    if not np.ndim(a) and not np.ndim(b):
        return float(a) * float(b)
    if isinstance(a, DataOperator) or isinstance(b, DataOperator):
        return a * b if not np.ndim(a) or not np.ndim(b) else np.multiply(np.asarray(a), np.asarray(b))
    if is_sparse(b) and not is_sparse(a):
        a, b = b, a
    if is_formed(a) or is_formed(b):
        return _times_formed(a, b)
    if is_sparse(a):
        return csr(double(a) * float(b)) if not np.ndim(b) else csr(double(a).multiply(double(b)))
    return np.multiply(a, b, dtype=np.float64)


def _times_formed(a: Any, b: Any) -> Value:
    if not is_formed(a):
        a, b = b, a
    if not np.ndim(b):
        return a.astype(np.float64, copy=False) * float(b)
    if is_formed(b):
        raise ValueError("two sparse matrices that are centred have no entrywise product that is sparse")
    if not is_sparse(b):
        return np.multiply(a.toarray(), b, dtype=np.float64)
    own = times(a.A, b)
    from scipy.sparse import diags_array

    return csr(own - diags_array(a.u) @ double(b) @ diags_array(a.v))


def divide(a: Any, b: Any) -> Value:
    """a / b, entry by entry."""
    if is_sparse(b) or (not is_formed(b) and not np.all(b)):
        raise ValueError("division by zero")
    if is_formed(b):
        b = b.toarray()
        if not np.all(b):
            raise ValueError("division by zero")
    if not np.ndim(a) and not np.ndim(b):
        return float(a) / float(b)
    if is_formed(a):
        return a.astype(np.float64, copy=False) / float(b) if not np.ndim(b) else a.toarray() / b
    if is_sparse(a):
        return csr(double(a) * (1.0 / float(b)) if not np.ndim(b) else double(a).multiply(1.0 / double(b)))
    return np.divide(a, b, dtype=np.float64)


def matmul(a: Any, b: Any) -> Value:
    """a @ b."""
    return _product(double(a), double(b))


def _product(a: Any, b: Any) -> Value:
    if is_formed(b) and np.ndim(a) == 2 and not is_formed(a):
        product = b.T @ a.T
        return product.T.tocsr_rows() if is_formed(product) else product.T
    if is_formed(a) or is_formed(b):
        return a @ b
    if is_sparse(a) and is_sparse(b):
        return csr(a @ b)
    result = b.T @ a if is_sparse(b) and np.ndim(a) == 1 else a @ b
    return float(result) if not np.ndim(result) else np.asarray(result)


def dot(a: Any, b: Any) -> Value:
    """The sum of a * b."""
    a, b = double(a), double(b)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return float(a @ b)
    return float(np.sum(times(a, b)))


def inner(a: Any, b: Any) -> Value:
    """Contract all axes of a but the first with b, or the family's block of each sample with that sample's row."""
    a, b = double(a), double(b)
    if is_formed(a) or is_sparse(a):
        return np.asarray(_product(a, b) if np.ndim(b) == 1 else times(a, b).sum(axis=1)).reshape(-1)
    if np.ndim(a) == np.ndim(b):
        return (
            np.asarray(times(b, a).sum(axis=1)).reshape(-1) if is_sparse(b) else (a * b).reshape(len(a), -1).sum(axis=1)
        )
    flat = b.toarray() if is_sparse(b) or is_formed(b) else b
    return np.asarray(a.reshape(len(a), -1) @ np.reshape(flat, -1))


def quad(U: Any, X: Any) -> Value:
    """u_i' X u_i for each row of U; X is one matrix for all rows, or has one for each."""
    U, X = double(U), double(X)
    if np.ndim(X) == 3:
        rows = U.toarray() if is_sparse(U) or is_formed(U) else U
        return np.asarray(np.einsum("ij,ijk,ik->i", rows, X, rows))
    if is_formed(U):
        U = U.toarray()
    product = _product(U, X)
    if is_sparse(U):
        return np.asarray(U.multiply(product).sum(axis=1)).reshape(-1)
    return np.asarray(np.einsum("ij,ij->i", U, product.toarray() if is_sparse(product) else product))


def total(value: Any) -> float:
    """The sum of all entries."""
    if is_formed(value):
        return float(value.sum())
    return float(np.sum(value.data if is_sparse(value) else value, dtype=np.float64))


def take(value: Any, items: Sequence[Any], dims: Mapping[str, int]) -> Value:
    """`value[items]`: for each axis a position, or the two ends of a slice. Raises ValueError for what is out of range."""
    for axis, item in enumerate(items):
        _check_range(item, value.shape[axis], dims)
    if not is_sparse(value) and not is_formed(value):
        index = tuple(slice(*(_end(e, dims) for e in i)) if isinstance(i, tuple) else i for i in items)
        result = value[index]
        return float(result) if not np.ndim(result) else result
    # Two axes are kept while slicing, since SciPy's releases differ on the shape of one row of a sparse array.
    kept = tuple(_ends(i, value.shape[axis], dims) for axis, i in enumerate(items))
    part = value[kept if len(kept) > 1 else (*kept, slice(None))]
    single = [isinstance(i, int) for i in items] + [False] * (2 - len(items))
    if not any(single):
        return part if is_formed(part) else csr(part)
    line = part.toarray().reshape(-1)
    return float(line[0]) if all(single) else line


def _ends(item: Any, size: int, dims: Mapping[str, int]) -> slice:
    if isinstance(item, tuple):
        return slice(*(_end(e, dims) for e in item))
    at = item % size
    return slice(at, at + 1)


def _check_range(item: Any, size: int, dims: Mapping[str, int]) -> None:
    if isinstance(item, tuple):
        start, stop = (_end(e, dims) for e in item)
        low = 0 if start is None else start + size * (start < 0)
        high = size if stop is None else stop + size * (stop < 0)
        if 0 <= low < high <= size:
            return
        raise ValueError(f"a slice `{'' if start is None else start}:{'' if stop is None else stop}` of {size} entries")
    if not -size <= item < size:
        raise ValueError(f"position {item} of {size} entries")


def _end(end: Dim | None, dims: Mapping[str, int]) -> int | None:
    return None if end is None else evaluate_dim(end, dims)
