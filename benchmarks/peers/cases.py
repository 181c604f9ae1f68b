"""What a case of the comparison is: one program with its data, the same objective in NumPy, and the peers that minimise it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import scipy.sparse as sp
from data_sets import read_libsvm
from numpy.typing import NDArray

Array = NDArray[np.float64]
Point = tuple[Any, ...]
Fit = Callable[[float], Point]

GRID = tuple(10.0**-k for k in range(1, 13))
"""The peers' tolerances, from loose to tight."""
EXACT = (0.0,)
"""The grid of a peer that takes no tolerance."""
TOL = 1e-6
"""The relative gap that we prove."""
SIZES = ("small", "medium", "large")


@dataclass(frozen=True)
class Peer:
    """A solver as a function of its tolerance, which gives the values of the variables; `needs` is the package it is in."""

    name: str
    needs: str
    fit: Fit
    grid: Sequence[float] = GRID

    @property
    def installed(self) -> bool:
        """Whether its package can be imported."""
        return find_spec(self.needs) is not None


@dataclass(frozen=True)
class Instance:
    """A program, its data, and `value`: what is minimised, at values of `variables`.

    `value` moves a point into the sets of the program first, so that nothing is gained by leaving them.
    """

    text: str
    data: Mapping[str, Any]
    variables: Sequence[str]
    value: Callable[..., float]
    peers: Sequence[Peer]


@dataclass(frozen=True)
class Case:
    """An instance that is made when its turn comes; `make` reads or draws its data."""

    group: str
    name: str
    size: str
    make: Callable[[], Instance]


Matrix = Any


@cache
def signed(name: str, rows: int | None = None) -> tuple[sp.csr_array, Array]:
    """Rows and labels of a LIBSVM file; of two classes the smaller is -1, of more the even ones are."""
    X, labels = classes(name, rows)
    two = np.unique(labels).size == 2
    return X, np.where(labels == labels.min() if two else labels % 2 == 0, -1.0, 1.0)


@cache
def classes(name: str, rows: int | None = None) -> tuple[sp.csr_array, Array]:
    """Rows (the first so many of a fixed shuffle) and labels of a LIBSVM file; pixels are brought to [0, 1]."""
    X, labels = read_libsvm(name)
    if rows is not None and rows < labels.size:
        kept = np.sort(np.random.default_rng(0).permutation(labels.size)[:rows])
        X, labels = X[kept], labels[kept]
    if X.max() > 100:
        X = X / X.max()
    return narrow(X), np.asarray(labels, dtype=float)


def narrow(X: Matrix) -> sp.csr_array:
    """A CSR array with 32-bit indices: scikit-learn's solvers take no other."""
    X = sp.csr_array(X)
    X.sort_indices()
    return sp.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def packed(X: Matrix) -> Matrix:
    """Dense where a quarter of the entries are not zero."""
    if isinstance(X, np.ndarray):
        return X
    return np.ascontiguousarray(X.toarray()) if X.nnz >= X.shape[0] * X.shape[1] / 4 else X


def by_columns(X: Matrix) -> Matrix:
    """In the format that coordinate descent works in: CSC, or dense in Fortran's order."""
    return np.asfortranarray(X) if isinstance(X, np.ndarray) else sp.csc_matrix(X)


def by_rows(X: Matrix) -> Matrix:
    """In the format that liblinear and the like work in."""
    return X if isinstance(X, np.ndarray) else sp.csr_matrix(X)


def numbers(X: Matrix) -> int:
    """How many are stored."""
    return int(X.size if isinstance(X, np.ndarray) else X.nnz)


def one_hot(labels: Array) -> Array:
    """A column for each class."""
    return np.asarray(labels[:, None] == np.unique(labels), dtype=float)


def named(X: Matrix) -> str:
    """`7,291 x 256`."""
    return " x ".join(f"{side:,}" for side in X.shape)
