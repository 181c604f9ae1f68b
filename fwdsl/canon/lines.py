"""The vectors that must lie in a set: an expression itself, its rows, its columns, or the blocks of a family."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..light_dataclass import light_dataclass
from ..model import SetRef
from ..words import SETS
from .matrix_maps import Take


@light_dataclass
class SetLines:
    """`count` vectors of `length` entries, in an expression of this `shape`, by `frame` ("rows", "columns", "entries" or "").

    A family's lines are those of its `blocks`, one block after the other; `blocks` is 0 for what is no family.
    """

    count: int
    length: int
    shape: tuple[int, ...]
    frame: str
    blocks: int

    @property
    def take(self) -> Take | None:
        """The map to the lines one after the other; None where they are so already."""
        if self.frame != "columns":
            return None
        n, k = self.shape[-2:]
        return Take(_by_columns(self.blocks, n, k), math.prod(self.shape), "columns")

    def user_shape(self, width: int) -> tuple[Take | None, tuple[int, ...]]:
        """The map from the user's layout of `width` numbers a line to the lines, and the shape of that layout.

        As the expression is: a row for each row, a column for each column, a block for each block.
        """
        lead = (self.blocks,) if self.blocks else ()
        each = self.count // max(1, self.blocks)
        if self.frame == "columns" and width > 1:
            return Take(_by_columns(self.blocks, width, each), self.count * width, "columns"), (*lead, width, each)
        return None, (*lead, *((each,) if self.frame in ("rows", "columns") else ()), *((width,) if width > 1 else ()))


def _by_columns(blocks: int, n: int, k: int) -> np.ndarray:
    """The places of the entries of n x k matrices, taken column after column."""
    places = np.arange(max(1, blocks) * n * k).reshape(-1, n, k)
    return np.ascontiguousarray(places.transpose(0, 2, 1)).reshape(-1)


def lines_of(ref: SetRef, is_family: bool, shape: Sequence[int]) -> SetLines:
    """The lines of an expression of this shape that a set holds for."""
    shape = tuple(shape)
    blocks, own = (shape[0], shape[1:]) if is_family else (0, shape)
    frame = SETS[ref.name].inner
    length = {"rows": own[-1:], "columns": own[:1]}.get(frame, own)
    total = math.prod(shape)
    size = math.prod(length)
    return SetLines(total // max(1, size), size, shape, frame, blocks)
