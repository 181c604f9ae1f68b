"""The data of the PDBFW page: sets at hand, and synthetic ones at the sizes of those that are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from data_sets import read_libsvm
from generators import rcv1_like

GRIDS = 100
"""Random grids of the binned digits: the paper's set has 100 numbers a row."""

GAMMA = 0.05
"""The kernel's inverse width in the binned digits; the paper does not tell its own."""


@dataclass(frozen=True)
class Data:
    """Rows of length 1 and signs; `about` says where they are from, `paper` what the paper had; `text` at the size of its text sets, `large`
    the larger one."""

    name: str
    A: Any
    y: Any
    about: str
    paper: str = ""
    text: bool = False
    large: bool = False


def unit_rows(A: Any) -> Any:
    """The rows at length 1, as the paper's data are "normalized"; rows of zeros stay."""
    if isinstance(A, np.ndarray):
        sizes = np.linalg.norm(A, axis=1)
        return A / np.where(sizes > 0.0, sizes, 1.0)[:, None]
    sizes = np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).reshape(-1))
    out = sp.csr_array(sp.diags_array(1.0 / np.where(sizes > 0.0, sizes, 1.0)) @ A)
    return sp.csr_array((out.data, out.indices.astype(np.int32), out.indptr.astype(np.int32)), shape=out.shape)


def read(name: str) -> tuple[Any, Any]:
    """A LIBSVM file as a CSR array with its labels."""
    A, y = read_libsvm(name)
    return sp.csr_array(A), y


def signs(y: Any) -> Any:
    """The smaller label as -1."""
    return np.where(y == y.min(), -1.0, 1.0)


def random_bins(Z: Any, grids: int, gamma: float) -> Any:
    """Random binning features (Rahimi, Recht 2007) of dense rows, by fwdsl's own map."""
    from fwdsl.features.random_binning import RandomBinning

    return RandomBinning(grids, gamma, 0).fit(Z).transform(Z)


def table_set(name: str) -> Data:
    """A set with two labels that the paper does not have."""
    A, y = read(f"{name}.svm.gz")
    return Data(name, unit_rows(A), signs(y), f"{A.shape[0]:,} x {A.shape[1]:,}", "none")


def genes() -> Data:
    """The paper's duke."""
    A, y = read("west_breast.svm.gz")
    about = f"{A.shape[0]:,} x {A.shape[1]:,}, dense"
    return Data("west_breast", unit_rows(A.toarray()), signs(y), about, "duke, 44 of these rows")


def binned_digits() -> Data:
    """The test digits 0 and 9 by random bins."""
    A, y = read("mnist.t.svm.gz")
    kept = np.isin(y, (0, 9))
    bins = random_bins(A[kept].toarray() / 255.0, GRIDS, GAMMA)
    about = f"{bins.shape[0]:,} x {bins.shape[1]:,}, random binning, {GRIDS} a row; test digits"
    return Data(
        "mnist.t 0 v 9, RB", unit_rows(bins), signs(y[kept]), about, "MNIST.RB 0 v 9, 11,872 x 894,499, training digits"
    )


def news() -> Data:
    """The first of 20 newsgroups against the rest."""
    A, y = read("news20.svm.xz")
    about = f"{A.shape[0]:,} x {A.shape[1]:,}, the first of 20 classes against the rest"
    return Data("news20, 1 v rest", unit_rows(A), np.where(y == 1.0, 1.0, -1.0), about, "none")


def small_sets(quick: bool) -> list[Data]:
    """The real sets; two of them where it is to be quick."""
    if quick:
        return [table_set("mushrooms"), genes()]
    return [*map(table_set, ("a9a", "w8a", "mushrooms")), genes(), binned_digits(), news()]


def text_like(quick: bool) -> list[Data]:
    """Synthetic rows at the sizes of the paper's two text sets; a tenth of these where it is to be quick."""
    found = []
    for name, paper, n, d, nnz in (
        ("rcv1-sized", "rcv1.binary", 20_242, 47_236, 74),
        ("news20-sized", "news20.binary", 19_996, 1_355_191, 455),
    ):
        A, y = rcv1_like(n // 10, d // 10, nnz) if quick else rcv1_like(n, d, nnz)
        about = f"{A.shape[0]:,} x {A.shape[1]:,}, {A.nnz / A.shape[0]:.0f} numbers a row, synthetic"
        found.append(Data(name, A, y, about, f"{paper}, {n:,} x {d:,}, {nnz} a row", text=True, large=nnz > 100))
    return found


def a9a_as_it_is() -> tuple[Any, Any]:
    """a9a's rows with their lengths, and signs."""
    A, y = read("a9a.svm.gz")
    return A, signs(y)
