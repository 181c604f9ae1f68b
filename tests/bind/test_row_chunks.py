"""Products by chunks of rows are those of NumPy, whether one chunk is the whole matrix or not."""

from __future__ import annotations

import numpy as np
import pytest

from fwdsl.bind import row_chunks


@pytest.mark.parametrize("chunk", [row_chunks.CHUNK, 12])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(7, 4), (1, 1), (3, 0), (0, 3)])
def test_products_with_a_matrix_and_with_its_sizes(
    chunk: int, dtype: type, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_chunks, "CHUNK", chunk)
    rng = np.random.default_rng(3)
    A = rng.integers(-5, 6, shape).astype(dtype)
    for own, change in ((A.astype(np.float64), None), (abs(A.astype(np.float64)), abs)):
        for columns in ((), (2,)):
            X = rng.integers(-5, 6, (shape[1], *columns)).astype(float)
            Y = rng.integers(-5, 6, (shape[0], *columns)).astype(float)
            np.testing.assert_array_equal(row_chunks.times(A, X, change), own @ X)
            np.testing.assert_array_equal(row_chunks.turned_times(A, Y, change), own.T @ Y)
