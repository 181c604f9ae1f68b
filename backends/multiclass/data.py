"""The data for sampling: rows and columns, their sizes, the estimates of partial sampling, and the step of the theory.

Source: Babichev, Ostrovskii, Bach 2019: the estimates (Part-SS) with the probabilities (33), their variances (34) and the step (35).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.kernels.compile import Function, kernel
from fwdsl.backends.kernels.operators import Operator
from fwdsl.backends.kernels.rows import rows_of
from fwdsl.backends.kernels.storage import Dense, Sparse, readonly
from fwdsl.backends.maps import CountedMap
from fwdsl.backends.multiclass.game import Game
from fwdsl.backends.multiclass.loops import sampling
from fwdsl.backends.products import product_of
from fwdsl.light_dataclass import light_dataclass


@light_dataclass
class Data:
    """X by rows and by columns for the kernels, the sizes of both, the largest entries of its columns, and their counts."""

    rows: tuple[Any, ...]
    columns: tuple[Any, ...]
    sparse: bool
    sigma: Array
    tau: Array
    peaks: Array
    row_scale: Array
    counted: CountedMap
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
        squares, largest, peaks = game.sizes
        found = product_of(game.problem.terms[0].map.parts[0][1])
        assert found is not None and isinstance(found.counted, CountedMap)
        touched = found.counted.nnz / max(1, game.n) + found.counted.nnz / max(1, game.d)
        return Data(
            rows, columns, isinstance(storage, Sparse), np.sqrt(squares / game.W), game.w * largest, peaks,
            game.c * game.w, found.counted, touched,
        )  # fmt: skip

    @property
    def line(self) -> Function:
        """The kernel that gives a row or a column."""
        return sampling.csr_line if self.sparse else sampling.dense_line

    def row(self, j: int) -> Array:
        """w_j c x_j."""
        return np.asarray(self.row_scale[j] * kernel(self.line)(self.rows, j, np.empty(self.sigma.size)))

    def column(self, i: int, c: float) -> Array:
        return np.asarray(c * kernel(self.line)(self.columns, i, np.empty(self.tau.size)))


def first_step(game: Game, radius: float) -> float:
    """(35) at T = 1, with (34)."""
    squares, largest, _ = game.sizes
    # the paper's |X'|_{inf x 2}^2 / n and |X|_{1 x inf} / n, weights and the game's W in them
    columns = float(squares.max(initial=0.0))
    rows = float(game.w @ largest)
    # both have the radius as a factor
    sigma_u = 4.0 * columns
    sigma_v = 8.0 * columns + 8.0 * rows * rows
    noise = radius * math.sqrt(game.entries * sigma_v + game.classes * sigma_u)
    return min(1.0 / (game.pace(radius) * math.sqrt(5.0)), 1.0 / noise if noise > 0.0 else math.inf) / math.sqrt(2.0)


def partial_estimates(
    game: Game, data: Data, U: Array, V: Array, to_row: float, to_column: float
) -> tuple[Array, Array]:
    """Unbiased estimates of G (flat) and of c X U, from one row and one column of X, by Proposition 3.1.

    Where V is Y, or U has shrunk to nothing, no row or column has a chance, and the estimate is 0.
    """
    Y = np.zeros_like(V)
    Y[np.arange(game.n), game.y] = 1.0
    by_row = data.tau * np.abs(V - Y).max(axis=1)
    signed = U.reshape(game.parts, game.d, game.k)
    by_column = (data.sigma * signed.max(axis=2)).reshape(-1)
    slope, z = np.zeros(game.d * game.k), np.zeros_like(V)
    if by_row.any():
        j = drawn(by_row, to_row)
        slope = np.outer(data.row(j), (V - Y)[j] * (by_row.sum() / by_row[j])).reshape(-1)
    if by_column.any():
        i = drawn(by_column, to_column)
        part, feature = divmod(i, game.d)
        sign = (1.0 if part == 0 else -1.0) * by_column.sum() / by_column[i]
        z = np.outer(data.column(feature, game.c), signed[part, feature] * sign)
    return slope, z


def drawn(weights: Array, share: float) -> int:
    """The index where the running sum of the weights passes share of their total."""
    sums = np.cumsum(weights)
    at = int(np.searchsorted(sums, share * sums[-1], side="right"))
    return min(at, int(np.flatnonzero(weights)[-1]))
