"""Copies of the user's arrays that follow what is changed in these in place, as data that are attached by reference do."""

from __future__ import annotations

from typing import Any

import numpy as np

from .instance import Instance, Kept

_GOLDEN = 0.5 * (5.0**0.5 - 1.0)
"""The multiples of this have fractional parts that lie far apart."""


@np.errstate(over="ignore", invalid="ignore")
def mark(A: Any) -> Any:
    """The sum of each column of a dense array with weights of which no two are the same: it tells rows, columns and signs that are exchanged, and
    every change beyond the rounding of these sums."""
    weights = np.modf(_GOLDEN * np.arange(1, A.shape[0] + 1))[0].astype(A.dtype)
    return np.tensordot(weights, A, 1) if A.ndim > 2 else np.asarray(weights @ A)


def enter(followed: Kept, copy: Any, source: Any) -> None:
    """Have an array follow the one of the same numbers that it was copied from, where that can be written to."""
    if (
        not isinstance(copy, np.ndarray)
        or copy.dtype != source.dtype
        or copy.shape != source.shape
        or np.may_share_memory(copy, source)
    ):
        return
    copy.flags.writeable = False
    if source.flags.writeable:
        followed[id(copy)] = copy, (source, mark(source))


def follow(instance: Instance) -> None:
    """Copy again what was changed, and forget what is kept of it."""
    for at, (copy, (source, known)) in list(instance.followed.items()):
        now = mark(source)
        if not np.array_equal(now, known):
            own: Any = copy
            own.flags.writeable = True
            own[...] = source
            own.flags.writeable = False
            instance.followed[at] = copy, (source, now)
            instance.kept.pop(at, None)
