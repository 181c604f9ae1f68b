"""Arrays that grow in place, since the rows of a file are not counted before they are read."""

from __future__ import annotations

from typing import Any

import numpy as np


class Growing:
    """A one-dimensional array with room to spare.

    Growing adds a quarter, which the system does without a copy for large arrays. So reading takes about 1.25 times the
    memory of the result, where joining a list of chunks takes 2 times.
    """

    def __init__(self, dtype: type[np.generic] | np.dtype[Any]) -> None:
        self._array = np.empty(1024, dtype)
        self._size = 0

    @property
    def size(self) -> int:
        return self._size

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._array.dtype

    def extend(self, values: np.ndarray) -> None:
        """Append; the values must fit the type."""
        need = self._size + values.size
        if need > self._array.size:
            self._array.resize(max(need, self._array.size * 5 // 4), refcheck=False)
        self._array[self._size : need] = values
        self._size = need

    def widen(self, dtype: type[np.generic]) -> None:
        """Change the type of the numbers."""
        self._array = self._array.astype(dtype)

    def finish(self) -> np.ndarray:
        """The array, cut to its size. Nothing may be appended afterwards."""
        self._array.resize(self._size, refcheck=False)
        return self._array
