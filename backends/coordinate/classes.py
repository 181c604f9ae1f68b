"""The columns of X -> A X with a loss of rows, whose Hessian ties the classes together.

Coordinate j k + c, the entry X_jc, moves column c of the predictions along column j of A. With the Hessian diag(h_i) - b_i b_i' of sample i, the
Gram matrix of a working set W is

    G = -B'B + blockdiag over the classes c of A_c' diag(h_c) A_c,   B = (A_ij b_ic) for the entries (j, c) of W,

A_c being the columns of W's entries of class c. It is formed anew for each model, and models are solved on it: there are no epochs over columns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends.coordinate.coordinates import Indices
from fwdsl.backends.coordinate.parts import COPIED_NUMBERS, factor_and_matrix
from fwdsl.backends.factors import block_of
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.matrix import pair_products, products_of_columns
from fwdsl.backends.kernels.pool import serial_blas
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.matrix_maps import LeftMultiply

LIFT = 1e-6
"""The share of A_c' diag(h_c) A_c's diagonal that is added to that of G in single precision."""

LEAST, CANCELLED = 1e-30, 1e-3
"""Below this, an entry of that diagonal may be made of numbers too small for single precision; the share that B'B leaves of it below which single
precision knows nothing of what is left, as of samples that are told apart for sure."""

NARROW = 4
"""The columns of A for each class up to which the products of all their pairs are formed: they serve all classes."""

BLOCK_NUMBERS, LEAST_ROWS, MOST_ROWS = 1 << 19, 256, 2_048
"""Numbers of B that are formed at a time, the rows at least, below which products are slow, and at most."""


class _Own(ABC):
    """A_c' diag(h_c) A_c for each class c, added up block of rows by block of rows."""

    @abstractmethod
    def add(self, data: Array, diagonal: Array) -> None:
        """Add what some rows say: their columns, and h by classes."""

    @abstractmethod
    def matrices(self) -> list[Array]:
        """The sums."""


class _Apart(_Own):
    """The same with a product for each class."""

    def __init__(self, of: Indices, parts: list[Indices]) -> None:
        self.columns = [of[part] for part in parts]
        self.sums = [np.zeros((part.size, part.size)) for part in parts]

    def add(self, data: Array, diagonal: Array) -> None:
        for total, at, h in zip(self.sums, self.columns, diagonal, strict=True):
            columns = data[at]
            total += (columns * h) @ columns.T

    def matrices(self) -> list[Array]:
        return self.sums


class _Together(_Own):
    """The same for few columns: one product of h with those of all pairs of columns serves all classes."""

    def __init__(self, d: int, of: Indices, parts: list[Indices]) -> None:
        self.columns = [of[part] for part in parts]
        self.place = np.empty((d, d), dtype=np.intp)
        self.place[np.triu_indices(d)] = np.arange(d * (d + 1) // 2)
        self.place.T[np.triu_indices(d)] = np.arange(d * (d + 1) // 2)
        self.sums = np.zeros((len(parts), d * (d + 1) // 2))

    def add(self, data: Array, diagonal: Array) -> None:
        pairs = np.empty((data.shape[1], self.sums.shape[1]), data.dtype)
        kernel(pair_products)(np.ascontiguousarray(data.T), pairs)
        self.sums += diagonal @ pairs

    def matrices(self) -> list[Array]:
        return [own[block_of(self.place, at)] for own, at in zip(self.sums, self.columns, strict=True)]


class ClassColumns:
    """The same as `Columns` offers, for coordinates of a matrix one by one. There are no other maps beside that of the data."""

    tasks = 1
    #: Models in a step while coordinates are missing: each has a Gram matrix of its own, and soon another set.
    growing_models = 2
    extra_at: Indices = np.zeros(0, dtype=np.intp)

    def __init__(self, problem: PreparedProblem) -> None:
        (term,) = problem.terms
        ((_, m),) = term.map.parts
        found = factor_and_matrix(m)
        assert found is not None and isinstance(found[1], LeftMultiply) and isinstance(term.f, VectorLossFunction)
        self.problem, self.factor, self.A, self.k = problem, found[0], found[1].A, found[1].k
        self.extra = np.zeros((0, problem.size))
        assert term.f.loss.split_hessian is not None
        self.split_hessian = term.f.loss.split_hessian
        (self.counted,) = problem.counted

    def dots(self, work: Indices, y: Array) -> Array:
        """K_j'y for the coordinates of a working set, by a product with all data."""
        return self.problem.adjoint([y])[work]

    def times(self, work: Indices, d: Array) -> Array:
        """K_W d."""
        whole = np.zeros(self.problem.size)
        whole[work] = d
        return self.problem.linear(whole)[0]

    def gram(self, work: Indices, h: Array, single: bool = False) -> Array:
        """The matrix G above; with `single` its products are taken in single precision where its numbers are within that,
        and its diagonal is a hair larger."""
        of, classes = np.divmod(work, self.k)
        h = h.reshape(-1, self.k)
        if self.are_alike(h):
            return self._gram_of_alike(of, classes, h)
        parts = [np.flatnonzero(classes == c) for c in range(self.k)]
        out, own = np.zeros((work.size, work.size)), self._own(of, parts)
        step = min(max(LEAST_ROWS, BLOCK_NUMBERS // max(1, work.size)), MOST_ROWS)
        kind: Any = np.float32 if single else np.float64
        compiled, room = kernel(products_of_columns), np.empty((work.size, min(step, len(h))), kind)
        # what is beyond single precision is seen below
        with serial_blas(), np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, len(h), step):
                self.problem.look()
                rows = slice(first, min(first + step, len(h)))
                data = np.ascontiguousarray(self._by_columns(rows), dtype=kind)
                diagonal, b = (np.ascontiguousarray(half.T, dtype=kind) for half in self.split_hessian(h[rows]))
                own.add(data, diagonal)
                both = room if data.shape[1] == room.shape[1] else np.empty((work.size, data.shape[1]), kind)
                compiled(data, b, of, classes, both)
                out -= both @ both.T
            whole = np.empty(work.size)
            for part, matrix in zip(parts, own.matrices(), strict=True):
                out[np.ix_(part, part)] += matrix
                whole[part] = np.einsum("ii->i", matrix)
        if single:
            diagonal = np.einsum("ii->i", out)
            if not (np.all(np.isfinite(out)) and np.all(diagonal > CANCELLED * whole) and np.all(whole > LEAST)):
                return self.gram(work, h)
            # rounding may not bend a flat direction down
            diagonal += LIFT * whole
        self.counted.touched += self.counted.nnz
        return self.factor**2 * out

    @property
    def is_narrow(self) -> bool:
        """True if there are few columns for each class."""
        return int(self.A.shape[1]) <= NARROW * self.k

    def are_alike(self, h: Array) -> bool:
        """True if each sample has one number in all classes, as f'' has at 0."""
        h = h.reshape(-1, self.k)
        # most often the first samples tell
        return all(bool((some == some[:, :1]).all()) for some in (h[:16], h))

    def _gram_of_alike(self, of: Indices, classes: Indices, h: Array) -> Array:
        """G where all classes are bent alike, by diag(h_i) - b_i^2 11': A' diag(h) A for two entries of one class, less A' diag(b^2) A for all, of
        the columns of the entries."""
        columns, at = np.unique(of, return_inverse=True)
        diagonal, b = self.split_hessian(h)
        own, all_ = np.zeros((columns.size, columns.size)), np.zeros((columns.size, columns.size))
        step = min(max(LEAST_ROWS, BLOCK_NUMBERS // max(1, columns.size)), MOST_ROWS)
        with serial_blas():
            for first in range(0, len(h), step):
                self.problem.look()
                rows = slice(first, min(first + step, len(h)))
                data = self._by_columns(rows)[columns]
                own += (data * diagonal[rows, 0]) @ data.T
                all_ += (data * np.square(b[rows, 0])) @ data.T
        self.counted.touched += self.counted.nnz
        out = block_of(own, at)
        out *= classes[:, None] == classes
        out -= block_of(all_, at)
        return self.factor**2 * out

    def _own(self, of: Indices, parts: list[Indices]) -> _Own:
        """The blocks of the classes, of these columns of A each."""
        return _Together(int(self.A.shape[1]), of, parts) if self.is_narrow else _Apart(of, parts)

    def _by_columns(self, rows: slice) -> Array:
        """Some rows of A, column after column in double precision."""
        if self._copy is not None:
            return self._copy[:, rows]
        some = self.A[rows]
        return np.ascontiguousarray((some if isinstance(some, np.ndarray) else some.toarray()).T, dtype=np.float64)

    @cached_property
    def _copy(self) -> Array | None:
        """A copy of dense data, column after column, where that is no more than `Columns` copies."""
        few = isinstance(self.A, np.ndarray) and self.A.size <= COPIED_NUMBERS
        return np.ascontiguousarray(self.A.T, dtype=np.float64) if few else None
