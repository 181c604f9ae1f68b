"""Kernels that ask for memory ahead: the hint reaches the machine code and changes nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np

from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.prefetch import prefetch_function


def doubled(a, out):  # type: ignore[no-untyped-def]
    """out = 2 a, asking for `out` ahead."""
    for j in range(0, out.size, 8):
        prefetch(out, j)  # type: ignore[name-defined]  # noqa: F821
    for j in range(a.size):
        out[j] = 2.0 * a[j]


def test_the_hint_has_no_effect_on_numbers() -> None:
    run: Any = kernel(doubled, prefetch=prefetch_function())
    a, out = np.arange(37.0), np.zeros(37)
    run(a, out)
    np.testing.assert_array_equal(out, 2.0 * a)


def test_the_hint_is_in_the_code() -> None:
    import numba

    prefetch = prefetch_function()

    # what is loaded from the cache of kernels shows no code: this one is never kept
    @numba.njit
    def touched(a: Any) -> None:
        for j in range(a.size):
            prefetch(a, j)

    touched(np.zeros(3))
    assert any("llvm.prefetch" in code for code in touched.inspect_llvm().values())


def test_the_hint_is_made_once() -> None:
    assert prefetch_function() is prefetch_function()
