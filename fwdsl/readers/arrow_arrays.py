"""Arrays of Arrow as NumPy has them."""

from __future__ import annotations

from typing import Any

import numpy as np


def of_column(column: Any) -> np.ndarray:
    """The values of a chunked array without gaps, those of a single chunk without a copy where that can be."""
    parts = [of_chunk(chunk) for chunk in column.chunks]
    return np.concatenate(parts) if len(parts) != 1 else parts[0]


def of_chunk(chunk: Any) -> np.ndarray:
    """The values of an array without gaps, without a copy where that can be."""
    from pyarrow import types

    # `to_numpy` loads pandas where it is installed, which takes half a second and 50 MB
    if (types.is_integer(chunk.type) or types.is_floating(chunk.type)) and not chunk.null_count and len(chunk):
        dtype = np.dtype(chunk.type.to_pandas_dtype())
        return np.frombuffer(chunk.buffers()[1], dtype, len(chunk), chunk.offset * dtype.itemsize)
    found: np.ndarray = chunk.to_numpy(zero_copy_only=False)
    return found
