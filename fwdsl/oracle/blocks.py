"""Families of variables as lists of cvxpy blocks: cvxpy has no arrays of more than two axes worth relying on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class FamilyExpression:
    """An expression over a family: one cvxpy expression a block. Arithmetic is block by block; arrays have a block along their first axis."""

    #: NumPy and cvxpy leave `array + family` to this class.
    __array_ufunc__ = None
    __array_priority__ = 1e6

    def __init__(self, cp: Any, blocks: Sequence[Any]) -> None:
        self.cp = cp
        self.blocks = list(blocks)

    @property
    def shape(self) -> tuple[int, ...]:
        return len(self.blocks), *self.blocks[0].shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))

    @property
    def value(self) -> Any:
        """The numbers (T, ...); None before there are any."""
        values = [b.value for b in self.blocks]
        return None if any(v is None for v in values) else np.stack(values)

    @value.setter
    def value(self, given: Any) -> None:
        for block, part in zip(self.blocks, given, strict=True):
            # symmetric but for rounding, which cvxpy does not forgive
            block.value = 0.5 * (part + part.T) if np.ndim(part) == 2 and block.is_symmetric() else part

    def each(self, function: Callable[..., Any], *others: Any) -> FamilyExpression:
        """function(block, ...) of each block, and of those of others: families, arrays, or the same for all."""
        parts = [_parts(other, self) for other in others]
        return FamilyExpression(self.cp, [function(b, *(p[t] for p in parts)) for t, b in enumerate(self.blocks)])

    def __neg__(self) -> FamilyExpression:
        return self.each(lambda b: -b)

    def __add__(self, other: Any) -> FamilyExpression:
        return self.each(lambda b, o: b + o, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> FamilyExpression:
        return self.each(lambda b, o: b - o, other)

    def __rsub__(self, other: Any) -> FamilyExpression:
        return self.__neg__().__add__(other)

    def __mul__(self, other: Any) -> FamilyExpression:
        return self.each(lambda b, o: b * o if not np.ndim(o) else self.cp.multiply(o, b), other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> FamilyExpression:
        return self.each(lambda b, o: b / o if not np.ndim(o) else self.cp.multiply(1.0 / o, b), other)

    def __getitem__(self, items: Any) -> Any:
        first, *rest = items if isinstance(items, tuple) else (items,)
        if not isinstance(first, slice):
            return self.blocks[first][tuple(rest)] if rest else self.blocks[first]
        kept = FamilyExpression(self.cp, self.blocks[first])
        return kept.each(lambda b: b[tuple(rest)]) if rest else kept


def _parts(other: Any, like: FamilyExpression) -> Any:
    """The parts of another operand that meet each block."""
    if isinstance(other, FamilyExpression):
        return other.blocks
    return other if np.ndim(other) == like.ndim else [other] * len(like.blocks)


def flat(cp: Any, value: Any) -> Any:
    """All entries in C order, as one vector."""
    if isinstance(value, FamilyExpression):
        return cp.hstack([flat(cp, b) for b in value.blocks])
    return cp.vec(value, order="C")


def blocks_of(value: Any) -> list[Any]:
    """The blocks of a family; of anything else, itself."""
    return value.blocks if isinstance(value, FamilyExpression) else [value]


def gathered(codes: Any, part: Callable[[int, Any], Any]) -> Any:
    """z with z[rows of block t] = part(t, those rows), for the samples of each block that `codes` names."""
    total: Any = 0.0
    for t in np.unique(codes):
        rows = np.flatnonzero(codes == t)
        place = np.zeros((codes.size, rows.size))
        place[rows, np.arange(rows.size)] = 1.0
        total = total + place @ part(int(t), rows)
    return total
