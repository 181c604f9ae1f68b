"""What sampling needs of the data: rows and columns, their sizes, the estimates of partial sampling, and the step of the theory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...atoms.base import Array
from ..kernels.compile import Function, kernel
from ..kernels.operators import Operator
from ..kernels.rows import rows_of
from ..kernels.storage import Dense, Sparse, readonly
from ..problem import Counted
from ..products import product_of
from .game import Game
from .loops import sampling


@dataclass(frozen=True, eq=False)
class Data:
    """X by rows and by columns for the kernels, the sizes of both, and what they count as."""

    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    sparse: bool
    sigma: Array
    tau: Array
    row_scale: Array
    counted: Counted
    touched: float

    @staticmethod
    def of(game: Game) -> Data:
        """Rows and columns of the game's data; dense ones are copied once for the other order."""
        operator = Operator(game.A, game.problem.pool)
        rows = rows_of(operator)
        storage = operator.storage
        if isinstance(storage, Sparse):
            columns: tuple[Any, ...] = tuple(storage.by_columns)
        else:
            assert isinstance(storage, Dense)
            # one type of array for all layouts: one compilation
            columns = (readonly(np.ascontiguousarray(rows[0].T)),)
            rows = (readonly(np.ascontiguousarray(rows[0])),)
        squares, largest = game.squares
        found = product_of(game.problem.terms[0].map.parts[0][1])
        assert found is not None and isinstance(found.counted, Counted)
        touched = found.counted.nnz / max(1, game.n) + found.counted.nnz / max(1, game.d)
        return Data(
            rows, columns, isinstance(storage, Sparse), np.sqrt(squares / game.W), game.w * largest, game.c * game.w,
            found.counted, touched,
        )  # fmt: skip

    @property
    def fill(self) -> Function:
        """The kernel that writes out a row or a column."""
        return sampling.csr_fill if self.sparse else sampling.dense_fill

    def row(self, j: int) -> Array:
        """w_j c x_j."""
        out = np.empty(self.sigma.size)
        kernel(self.fill)(self.rows, j, self.row_scale[j], out)
        return out

    def column(self, i: int, c: float) -> Array:
        """c x^i."""
        out = np.empty(self.tau.size)
        kernel(self.fill)(self.columns, i, c, out)
        return out


def first_step(game: Game, radius: float) -> float:
    """(35) at T = 1, with (34)."""
    squares, largest = game.squares
    # the paper's |X'|_{inf x 2}^2 / n and |X|_{1 x inf} / n, weights and the game's W in them
    columns = float(squares.max(initial=0.0))
    rows = float(game.w @ largest)
    sigma_u = 4.0 * radius**2 * columns
    sigma_v = 8.0 * columns + 8.0 * rows**2
    noise = math.sqrt(radius**2 * game.entries * sigma_v + game.classes * sigma_u)
    return min(1.0 / (game.pace(radius) * math.sqrt(5.0)), 1.0 / noise if noise > 0.0 else math.inf) / math.sqrt(2.0)


def partial_estimates(
    game: Game, data: Data, U: Array, V: Array, to_row: float, to_column: float
) -> tuple[Array, Array]:
    """Unbiased estimates of G (flat) and of c X U, from one row and one column of X, by Proposition 3.1."""
    Y = np.zeros_like(V)
    Y[np.arange(game.n), game.y] = 1.0
    by_row = data.tau * np.abs(V - Y).max(axis=1)
    signed = U.reshape(game.parts, game.d, game.k)
    by_column = (data.sigma * signed.max(axis=2)).reshape(-1)
    j, i = drawn(by_row, to_row), drawn(by_column, to_column)
    part, feature = divmod(i, game.d)
    slope = np.outer(data.row(j), (V - Y)[j] * (by_row.sum() / by_row[j]))
    sign = (1.0 if part == 0 else -1.0) * by_column.sum() / by_column[i]
    return slope.reshape(-1), np.outer(data.column(feature, game.c), signed[part, feature] * sign)


def drawn(weights: Array, share: float) -> int:
    """The index where the running sum of the weights passes share of their total."""
    sums = np.cumsum(weights)
    at = int(np.searchsorted(sums, share * sums[-1], side="right"))
    return min(at, int(np.flatnonzero(weights)[-1]))
