"""A'y by some rows: the same as by all, the fewer numbers counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.backends.kernels.operators import Operator

LAYOUTS = {
    "dense": np.ascontiguousarray,
    "fortran": np.asfortranarray,
    "float32": lambda A: A.astype(np.float32),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}


@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize("share", [0.0, 0.05, 0.3, 1.0])
def test_products_by_rows(layout: str, share: float) -> None:
    rng = np.random.default_rng(0)
    n, d = 83, 47
    A = np.round(rng.standard_normal((n, d)) * 256) / 256 * (rng.random((n, d)) < 0.4)
    rows = np.sort(rng.choice(n, round(share * n), replace=False))
    y = np.zeros(n)
    y[rows] = rng.standard_normal(rows.size)
    results = []
    for threads in (1, 2):
        op = Operator(LAYOUTS[layout](A), threads)
        results.append(op.rmatvec_rows(y, rows))
        np.testing.assert_allclose(results[-1], A.T @ y, rtol=0, atol=1e-12)
        assert op.counter.rmatvecs == 1
        stored = np.count_nonzero(A[rows]) if layout.startswith("cs") else rows.size * d
        whole = share == 1.0 or (layout == "fortran" and share == 0.3)
        assert op.counter.touched == (op.nnz if whole else stored)
        assert op.storage.cost_of_rows(rows) == stored
    assert np.array_equal(*results)


def test_a_vector_of_the_wrong_length_is_refused() -> None:
    operator: Any = Operator(np.ones((3, 4)))
    with pytest.raises(ValueError, match="a vector of 3 numbers"):
        operator.rmatvec_rows(np.ones(4), np.arange(2))
