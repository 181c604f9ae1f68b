"""Takes parts of values by position: slices along each axis, whose ends are dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..model import Dim, evaluate_dim
from .forms import Value, csr, is_formed, is_sparse


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
