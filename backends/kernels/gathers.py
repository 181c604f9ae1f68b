"""Products of sparse matrices with blocks of vectors, compiled by `kernel`: gathers, so that every sum has one fixed order."""

from typing import Any


def csr_matmat(indptr: Any, indices: Any, data: Any, X: Any, out: Any) -> None:
    """out = A X for A by rows, X of shape (n, k) in C order."""
    k = X.shape[1]
    for r in range(out.shape[0]):
        for c in range(k):
            out[r, c] = 0.0
        for i in range(indptr[r], indptr[r + 1]):
            a = data[i]
            j = indices[i]
            for c in range(k):
                out[r, c] += a * X[j, c]


def csr_vector(indptr: Any, indices: Any, data: Any, x: Any, out: Any) -> None:
    """out = A x for A by rows."""
    for r in range(out.size):
        total = 0.0
        for i in range(indptr[r], indptr[r + 1]):
            total += data[i] * x[indices[i]]
        out[r] = total
