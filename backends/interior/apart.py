"""Parts of a program that share no row and no curvature: their systems are factored each by itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from fwdsl.backends.interior.program import ORDER, Batch, connected
from fwdsl.backends.interior.sizes import MOST_PARTS

Index = NDArray[np.intp]

WORTH = 0.5
"""The share of the cubes of orders that factoring apart leaves at most."""


class Part(NamedTuple):
    """The rows and the unknowns of a part, in their order."""

    rows: Index
    columns: Index


def parts_of(A: csr_array, P: Any, batches: Sequence[Batch]) -> tuple[Part, ...]:
    """The parts; none where they are not worth it, or where cones are no products of intervals."""
    (m, n), A = A.shape, A.tocoo()
    if isinstance(P, np.ndarray) or n == 0 or any(k.kind not in ORDER[:2] for k in batches):
        return ()
    at = P.tocoo()
    one, other = np.concatenate([A.row, m + at.row]), np.concatenate([m + A.col, m + at.col])
    live = np.concatenate([A.data, at.data]) != 0.0
    number, part = connected(one[live], other[live], m + n)
    of_row, of_column = part[:m], part[m:]
    size = np.bincount(of_column, minlength=number)
    if float(np.sum(np.power(size, 3.0))) > WORTH * float(n) ** 3:
        return ()
    joint = np.where(size > 0, (np.cumsum(size) - size) // -(-n // MOST_PARTS), 0)
    if float(np.sum(np.power(np.bincount(joint, size), 3.0))) > WORTH * float(n) ** 3:
        return ()
    of_row, of_column = joint[of_row], joint[of_column]
    found = (Part(np.flatnonzero(of_row == j), np.flatnonzero(of_column == j)) for j in np.unique(of_column))
    return tuple(found)
