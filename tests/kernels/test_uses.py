"""Kernels that call other kernels by name: one loop over rows serves every loss and both layouts of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.atoms.losses import LOSSES
from fwdsl.backends.kernels.compile import compiled_signatures, kernel
from fwdsl.backends.kernels.operators import Operator
from fwdsl.backends.kernels.rows import row_kernels, rows_of


def slopes(rows, x, b, w, p, out):
    """out_j = w_j l'(a_j . x), one row at a time."""
    z = np.empty(1)
    for j in range(out.size):
        z[0] = row_dot(rows, j, x)  # type: ignore[name-defined]  # noqa: F821
        derivative(z, b[j : j + 1], w[j : j + 1], p, out[j : j + 1])  # type: ignore[name-defined]  # noqa: F821


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("name", ["logistic", "smooth_hinge", "squared"])
def test_one_loop_serves_every_loss_and_layout(name: str, layout: Any) -> None:
    rng = np.random.default_rng(3)
    A, x = rng.standard_normal((7, 4)), rng.standard_normal(4)
    b, w, p, out = np.where(rng.random(7) < 0.5, -1.0, 1.0), rng.random(7), np.zeros(0), np.empty(7)
    operator = Operator(layout(A))
    loop = kernel(slopes, derivative=LOSSES[name].value_gradient_loop, **row_kernels(operator))
    loop(rows_of(operator), x, b, w, p, out)
    np.testing.assert_allclose(out, w * LOSSES[name].gradient_naive(A @ x, b, p), rtol=1e-12, atol=1e-15)


def half(x: Any) -> Any:
    return 0.5 * x


def quarter(x: Any) -> Any:
    return half(half(x))


def quarters(x: Any) -> Any:
    total = 0.0
    for j in range(x.size):
        total += quarter(x[j])
    return total


def test_plain_functions_that_a_kernel_calls_are_parts_of_it() -> None:
    x = np.arange(9.0)
    for fuse, reorder in ((False, False), (True, False), (False, True)):
        assert kernel(quarters, fuse=fuse, reorder=reorder)(x) == 9.0
    assert not [s for s in compiled_signatures() if "test_uses.half" in s or "test_uses.quarter(" in s]
