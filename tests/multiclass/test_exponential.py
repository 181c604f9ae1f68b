"""exp of an array, on both of its ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.multiclass.loops.entropic import NEAR, exponentials


def run(a: Any, c: float, most: float) -> Any:
    out, power = np.empty(a.size), np.empty(a.size)
    kernel(exponentials, fuse=True)(a, c, most, power.view(np.int64), power, out)
    return out


@pytest.mark.parametrize("most", [NEAR, 5.0, 600.0])
def test_an_ulp_or_two_from_exp(most: float) -> None:
    a = np.linspace(-most, most, 4001) / 3.0
    assert np.abs(run(a, 3.0, most) / np.exp(3.0 * a) - 1.0).max() < 2e-15


def test_what_is_too_large_is_cut() -> None:
    np.testing.assert_allclose(
        run(np.array([-1e5, 1e5, -np.inf, np.inf]), 1.0, np.inf), np.exp([-700.0, 700.0] * 2), rtol=1e-12
    )
