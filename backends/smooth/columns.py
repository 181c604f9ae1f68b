"""Predictions of several columns, Z = c A X + e 1 b', as the blocks of their Hessian and the products with it take them."""

from __future__ import annotations

import numpy as np

from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends.coordinate.parts import factor_and_matrix
from fwdsl.canon.combined_maps import Scaled
from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.matrix_maps import LeftMultiply, Tile
from fwdsl.canon.parts import Block
from fwdsl.light_dataclass import light_dataclass
from fwdsl.readers.held_rows import is_held
from fwdsl.readers.row_blocks import DenseRows

MOST_NUMBERS = 20_000_000
"""Numbers that the factors of all blocks may have."""

NARROW = 4
"""The order of a block for each column up to which the Gram matrices of all blocks are taken at once, where rows are dense (`rows`)."""


@light_dataclass
class Columns:
    """The parts of Z: the block X with c and A, and the block b with e, or None."""

    k: int
    factor: float
    A: LeftMultiply
    of_matrix: Block
    of_rows: tuple[Block, float] | None

    @property
    def order(self) -> int:
        """The order of a block M_c."""
        return self.of_matrix.size // self.k + (self.of_rows is not None)

    @property
    def are_few(self) -> bool:
        """True if the factors of all blocks are few numbers."""
        return self.k * float(self.order) ** 2 <= MOST_NUMBERS

    @property
    def has_rows(self) -> bool:
        """True if A has dense rows, in memory, in files or with workers."""
        A = self.A.A.source if is_held(self.A.A) else self.A.A
        by_rows = A.flags.c_contiguous if isinstance(A, np.ndarray) else isinstance(A, DenseRows)
        return by_rows and A.shape[0] > 0 and A.shape[1] > 0

    @property
    def at_once(self) -> bool:
        """True if the Gram matrices of all blocks take less time at once than one after the other."""
        return self.has_rows and self.order <= NARROW * self.k


def columns_of_predictions(canonical: Canonical) -> Columns | None:
    """The parts of the predictions of a problem whose blocks can be formed; None where they are others, or the factors too large."""
    found = parts_of_predictions(canonical)
    return found if found is not None and found.are_few else None


def parts_of_predictions(canonical: Canonical) -> Columns | None:
    """The parts of the predictions of a problem whose Hessian has blocks of the columns; None where they are others."""
    if len(canonical.terms) != 1:
        return None
    (term,) = canonical.terms
    if isinstance(term.f, VectorLossFunction) and term.f.loss.split_hessian is None:
        return None
    matrix, rows = None, None
    for block, m in term.map.parts:
        found = factor_and_matrix(m)
        tiled = _tiled(m)
        if found is not None and isinstance(found[1], LeftMultiply) and matrix is None:
            matrix = block, found[0], found[1]
        elif tiled is not None and rows is None:
            rows = block, tiled[0], tiled[1]
        else:
            return None
    if matrix is None or matrix[2].k < 2 or (rows is not None and rows[2] != matrix[2].k):
        return None
    block, factor, inner = matrix
    seen = block.size + (rows[0].size if rows is not None else 0)
    if seen != canonical.size or (rows is not None and rows[0] is block):
        return None
    return Columns(inner.k, factor, inner, block, None if rows is None else (rows[0], rows[1]))


def _tiled(m: LinearMap) -> tuple[float, int] | None:
    """(e, k) where a map is b -> e 1 b'."""
    if isinstance(m, Scaled):
        found = _tiled(m.inner)
        return None if found is None else (m.c * found[0], found[1])
    return (1.0, m.k) if isinstance(m, Tile) else None
