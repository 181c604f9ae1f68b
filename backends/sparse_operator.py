"""A sparse matrix as an operator on kernels: the compiled counterpart of `fwdsl.spectral.operators.SparseOperator`."""

from __future__ import annotations

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.gathers import csr_matmat, csr_vector


class Gathers:
    """A by rows and by columns at once: (indptr, indices, data) of A and of A', so that both products are gathers."""

    def __init__(self, shape: tuple[int, int], rows: tuple[Array, ...], columns: tuple[Array, ...]) -> None:
        self.shape = shape
        self._rows, self._columns = rows, columns

    def matvec(self, x: Array) -> Array:
        return self._apply(self._rows, x, self.shape[0])

    def rmatvec(self, y: Array) -> Array:
        return self._apply(self._columns, y, self.shape[1])

    @staticmethod
    def _apply(stored: tuple[Array, ...], x: Array, length: int) -> Array:
        x = np.ascontiguousarray(x, dtype=np.float64)
        out = np.empty((length, *x.shape[1:]))
        kernel(csr_vector if x.ndim == 1 else csr_matmat)(*stored, x, out)
        return out

    matmat = matvec
    rmatmat = rmatvec
