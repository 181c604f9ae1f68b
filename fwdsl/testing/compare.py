"""The messages of a failed check: the property in a sentence, and the numbers at which it does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..atoms.base import Array

Where = Callable[[int], str]


def nowhere(_: int) -> str:
    """The place of a single number: none, so ""."""
    return ""


def fail(what: str, numbers: str = "") -> None:
    """Raise the `AssertionError` of a property that does not hold."""
    raise AssertionError(f"{what}: {numbers}" if numbers else what)


def require(holds: ArrayLike | bool, what: str, numbers: Where = nowhere) -> None:
    """Fail where something does not hold; `numbers(j)` tells of the first place at which it does not."""
    if holds is True:
        return
    wrong = np.flatnonzero(~np.atleast_1d(np.asarray(holds, dtype=bool)))
    if wrong.size:
        fail(what, numbers(int(wrong[0])))


def close(
    found: ArrayLike, expected: ArrayLike, what: str, where: Where = nowhere, rtol: float = 0.0, atol: float = 0.0
) -> None:
    """Fail where two numbers differ by more than atol + rtol |expected|. Equal infinities do not."""
    a, b = np.atleast_1d(np.asarray(found, dtype=np.float64)), np.atleast_1d(np.asarray(expected, dtype=np.float64))
    if a.shape != b.shape:
        fail(what, f"the shapes are {a.shape} and {b.shape}")
    with np.errstate(invalid="ignore"):
        fits = (np.abs(a - b) <= atol + rtol * np.abs(b)) | (a == b)
    flat_a, flat_b = a.reshape(-1), b.reshape(-1)
    require(
        fits.reshape(-1),
        what,
        lambda j: f"{flat_a[j]:.17g} and {flat_b[j]:.17g}" + (f", at {told}" if (told := where(j)) else ""),
    )


def shown(x: Array) -> str:
    """A vector in a message, to the last digit where it is short."""
    return np.array2string(x, precision=17, threshold=12, max_line_width=10_000)
