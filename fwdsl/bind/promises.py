"""Checks the promises of declarations: nonnegative, symmetric, positive semidefinite."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..check.shapes import format_type
from .bindings import RawDatum
from .findings import Findings
from .measure import Measured
from .values import is_sparse

_BLOCK = 1 << 17


def check_nonnegative(datum: RawDatum, array: Any, measured: Measured, findings: Findings) -> None:
    """Note the first negative entry of data declared `in nonnegative`."""
    if measured.smallest >= 0.0:
        return
    at, value = _first_negative(array)
    findings.add(
        "FW4516",
        f"{datum.at(at)} is `{value}`, but `{datum.decl.name}` is declared `in nonnegative`",
        span=datum.decl.span,
        rule="Data declared `in nonnegative` have no negative entry.",
        hint="correct the data, or drop the promise if nothing in the program needs it",
        place=datum.place_of(at, value),
    )


def check_symmetric(datum: RawDatum, array: Any, measured: Measured, findings: Findings) -> bool:
    """True if a square matrix equals its transpose up to rounding; if not, the entry that differs most is a finding."""
    size = float(np.max(measured.stats.column_norms, initial=0.0))
    # The rounding of a symmetric formula is allowed, since it is far below every tolerance of a solve.
    allowed = size * (1e-6 if array.dtype == np.float32 else 1e-12)
    at, difference = _asymmetry(array)
    if difference <= allowed:
        return True
    i, j = at
    here, there = float(array[i, j]), float(array[j, i])
    name = datum.decl.name
    findings.add(
        "FW4517",
        f"{datum.at(at)} is `{here:g}` and {datum.at((j, i))} is `{there:g}`, but `{name}` is declared "
        f"`{format_type(datum.decl.type)}`",
        span=datum.decl.span,
        rule="A symmetric matrix equals its transpose.",
        hint=f"give `({name} + {name}.T) / 2` if the difference is rounding",
        place=datum.place_of(at, f"{here:g}"),
    )
    return False


def check_psd(datum: RawDatum, array: Any, measured: Measured, findings: Findings) -> None:
    """Note a symmetric matrix that has a negative eigenvalue, beyond rounding.

    The proof is a factorisation of A + s I with s = d * eps * ||A||_F, which exists if A is positive semidefinite.
    """
    norms = measured.stats.column_norms
    top = float(norms.max())
    size = top * float(np.linalg.norm(norms / top)) if top else 0.0
    d = array.shape[0]
    shift = d * size * float(np.finfo(array.dtype).eps)
    if size == 0.0 or (_factors_sparse(array, shift) if is_sparse(array) else _factors_dense(array, shift)):
        return
    name = datum.decl.name
    findings.add(
        "FW4518",
        f"`{name}` is declared `psd`, but has a negative eigenvalue{_smallest(array)}",
        span=datum.decl.span,
        rule="A positive semidefinite matrix has no negative eigenvalue.",
        hint=f"correct `{name}`, or add a multiple of the identity that lifts its eigenvalues to 0",
        place=datum.place,
    )


def _first_negative(array: Any) -> tuple[tuple[int, ...], float]:
    if is_sparse(array):
        k = _first(array.data)
        row = int(np.searchsorted(array.indptr, k, side="right")) - 1
        return (row, int(array.indices[k])), float(array.data[k])
    step = max(1, _BLOCK // max(1, array[:1].size))
    for start in range(0, array.shape[0], step):
        block = np.ascontiguousarray(array[start : start + step])
        if block.min() < 0:
            inside = np.unravel_index(int(np.argmax(block < 0)), block.shape)
            return (start + int(inside[0]), *(int(i) for i in inside[1:])), float(block[inside])
    raise AssertionError("no negative entry")


def _first(data: Any) -> int:
    for start in range(0, data.size, _BLOCK):
        block = data[start : start + _BLOCK] < 0
        if block.any():
            return start + int(np.argmax(block))
    raise AssertionError("no negative entry")


def _asymmetry(array: Any) -> tuple[tuple[int, int], float]:
    """The position and the value of the largest entry of |A - A'|."""
    if is_sparse(array):
        gap = abs(array - array.T).tocoo()
        if gap.nnz == 0:
            return (0, 0), 0.0
        k = int(np.argmax(gap.data))
        i, j = int(gap.row[k]), int(gap.col[k])
        return (min(i, j), max(i, j)), float(gap.data[k])
    where, largest = (0, 0), 0.0
    step = max(1, _BLOCK // array.shape[1])
    for start in range(0, array.shape[0], step):
        # The entries above the diagonal are enough.
        gap = np.abs(array[start : start + step, start:] - array[start:, start : start + step].T)
        k = int(np.argmax(gap))
        if gap.flat[k] > largest:
            i, j = divmod(k, gap.shape[1])
            where, largest = (start + i, start + j), float(gap.flat[k])
    i, j = where
    return (min(i, j), max(i, j)), largest


def _factors_dense(array: Any, shift: float) -> bool:
    shifted = np.array(array, dtype=np.float64)
    shifted[np.diag_indices_from(shifted)] += shift
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return False
    return True


def _factors_sparse(array: Any, shift: float) -> bool:
    """True if A + s I = L D L' with D > 0, read from the pivots of an LU factorisation that stays on the diagonal."""
    from scipy.sparse import csc_array, eye_array
    from scipy.sparse.linalg import splu

    diagonal = array.diagonal()
    if diagonal.min() < -shift:
        return False
    if np.all(2.0 * diagonal + shift >= abs(array).sum(axis=1)):
        return True  # diagonally dominant
    shifted = csc_array(array.astype(np.float64) + shift * eye_array(array.shape[0], format="csr"))
    try:
        factors = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    except RuntimeError:
        return False
    return bool(np.array_equal(factors.perm_r, factors.perm_c) and factors.U.diagonal().min() > 0.0)


def _smallest(array: Any) -> str:
    """The smallest eigenvalue in words, where it is cheap to compute."""
    if array.shape[0] > 1000:
        return ""
    dense = array.toarray() if is_sparse(array) else np.asarray(array)
    return f", {float(np.linalg.eigvalsh(dense.astype(np.float64))[0]):.3g}"
