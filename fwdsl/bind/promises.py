"""Checks the promises of declarations: nonnegative, symmetric, positive semidefinite data, and parameters within their domains."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..check.shapes import format_type
from ..model import DataDecl, Model, ParamDecl
from ..readers.row_blocks import is_on_disk
from ..readers.sources import SourceSpec
from ..words import NUMBERS
from .bindings import DECLARED, Bindings, RawDatum, describe_supplied, supplied_names
from .evaluate import evaluate
from .findings import Findings
from .measure import Measured
from .values import is_sparse

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

_BLOCK = 1 << 17


def check_nonnegative(datum: RawDatum, array: MatrixLike, measured: Measured, findings: Findings) -> None:
    """Note the first negative entry of data declared `in nonnegative`."""
    if measured.smallest >= 0.0:
        return
    at, value = first_negative_row(array) if is_on_disk(array) else _first_negative(array)
    findings.add(
        "FW4516",
        f"{datum.at(at)} is `{value}`, but `{datum.decl.name}` is declared `in nonnegative`",
        span=datum.decl.span,
        rule="Data declared `in nonnegative` have no negative entry.",
        hint="correct the data, or drop the promise if nothing in the program needs it",
        place=datum.place_of(at, value),
    )


def first_negative_row(array: Any) -> tuple[tuple[int, ...], float]:
    """The position and value of the first negative entry of a matrix on a disk."""
    for start, stop in array.pieces():
        rows = array.rows(start, stop)
        if (rows if isinstance(rows, np.ndarray) else rows.data).min(initial=0.0) < 0.0:
            (row, column), value = _first_negative(rows)
            return (start + row, column), value
    raise ValueError("no entry is negative")


def check_symmetric(datum: RawDatum, array: MatrixLike, measured: Measured, findings: Findings) -> bool:
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


def check_psd(datum: RawDatum, array: MatrixLike, measured: Measured, findings: Findings) -> None:
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


def _asymmetry(array: MatrixLike) -> tuple[tuple[int, int], float]:
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


def _factors_dense(array: MatrixLike, shift: float) -> bool:
    shifted = np.array(array, dtype=np.float64)
    shifted[np.diag_indices_from(shifted)] += shift
    try:
        np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return False
    return True


def _factors_sparse(array: MatrixLike, shift: float) -> bool:
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


def bind_parameters(
    model: Model,
    bindings: Bindings,
    dims: Mapping[str, int],
    findings: Findings,
    learn: Callable[[Mapping[str, Any]], None] = lambda values: None,
    arrays: Mapping[str, tuple[Any, str]] = MappingProxyType({}),
) -> tuple[dict[str, Any], dict[str, str]]:
    """The value of each parameter, and where it comes from. Defaults may use dimensions and earlier parameters.

    `arrays` has the vectors and matrices that are given, and their origins.
    `learn` is called with the parameters so far before a default is evaluated, since it may use the size of a feature map.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for decl in model.params:
        value: Any
        if decl.name in arrays:
            value, origin = arrays[decl.name]
        elif not decl.type.is_scalar and (
            decl.default is None or decl.default.op == "literal" or decl.name in (*bindings.params, *bindings.data)
        ):
            if decl.default is None:
                _missing(decl, bindings, findings)
            continue  # a value that does not fit is noted already
        elif decl.name in bindings.params or decl.name in bindings.data:
            value, origin = supplied_parameter(decl, bindings, findings)
        elif decl.default is not None:
            origin = DECLARED
            learn(values)
            value = _default(decl, dims, values, findings)
            if value is not None and not _fits(decl, value, origin, findings):
                value = None
        else:
            _missing(decl, bindings, findings)
            continue
        if value is not None:
            values[decl.name] = value
            origins[decl.name] = origin
    return values, origins


def supplied_parameter(decl: ParamDecl, bindings: Bindings, findings: Findings) -> tuple[float | None, str]:
    """The given value of a parameter (None, with the reason noted, where it has none), and where it comes from."""
    by_option = decl.name in bindings.params
    origin = f"--set {decl.name}" if by_option else bindings.how(decl.name)
    value = _number(decl, (bindings.params if by_option else bindings.data)[decl.name], origin, findings)
    if value is not None and not _fits(decl, value, origin, findings):
        value = None
    return value, origin


def _fits(decl: ParamDecl, value: Any, origin: str, findings: Findings) -> bool:
    """True if a parameter's value, a number or an array, is finite and where its declaration says; a finding if not."""
    if decl.type.is_scalar and decl.bounds is None:
        return check_domain(decl.name, value, decl.type.domain, decl, origin, findings)
    if not check_bounds(decl, value, origin, findings):
        return False  # `in box(0, 1)` says more than the sign that the type has from it
    return not decl.type.is_scalar or check_domain(decl.name, value, decl.type.domain, decl, origin, findings)


def check_bounds(decl: ParamDecl, value: Any, origin: str, findings: Findings) -> bool:
    """True if the entries of a parameter are within the bounds of its declaration; a finding if not."""
    lo, hi = decl.bounds or (-math.inf, math.inf)
    if not decl.type.is_scalar and decl.type.domain == "nonnegative" and lo == 0.0:
        lo = -math.inf  # the promise of the type, which is checked as that of data is
    entries = np.asarray(value, dtype=np.float64)
    wrong = ~((entries >= lo) & (entries <= hi) & np.isfinite(entries))
    if not wrong.any():
        return True
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    what = f"{decl.name}[{', '.join(map(str, at))}]" if at else decl.name
    findings.add(
        "FW4511",
        f"`{what}` is {float(entries[at]):g} from {origin}, but must be {_between(lo, hi)}",
        span=decl.span,
        rule="A parameter lies in the set that it is declared in.",
        hint=f"give values that are {_between(lo, hi)}",
    )
    return False


def _between(lo: float, hi: float) -> str:
    if math.isinf(hi):
        return "finite" if math.isinf(lo) else f"{lo:g} or greater"
    return f"between {lo:g} and {hi:g}"


def check_domain(
    name: str, value: float, domain: str, decl: DataDecl | ParamDecl, origin: str, findings: Findings
) -> bool:
    """True if a scalar is finite and within its domain; a finding if not."""
    expected, fits = NUMBERS[domain].promised, NUMBERS[domain].holds
    if math.isfinite(value):
        if fits(value):
            return True
    else:
        expected = "finite"
    findings.add(
        "FW4511",
        f"`{name}` is {value:g} from {origin}, but must be {expected}",
        span=decl.span,
        label=f"declared `{domain}`",
        rule="A scalar's value is finite and lies in its domain.",
        hint=f"give a value that is {expected}",
    )
    return False


def scalar(value: object) -> float | None:
    """A real number as a float, also from an array of one entry; None for anything else."""
    try:
        array = np.asarray(value)
    except (ValueError, TypeError):
        return None
    return float(array.reshape(-1)[0]) if array.size == 1 and array.dtype.kind in "biuf" else None


def _number(decl: ParamDecl, value: object, origin: str, findings: Findings) -> float | None:
    number = scalar(value)
    if number is None:
        shape = getattr(value, "shape", None)
        what = f"an array of shape {shape}" if shape else f"a {type(value).__name__}"
        what = f"the file `{value.path}`" if isinstance(value, SourceSpec) else what
        findings.add(
            "FW4512",
            f"`{decl.name}` is {what} from {origin}, where a number is needed",
            span=decl.span,
            rule="A parameter is one real number.",
            hint=f"give a number, as in `{origin.replace('...', '3.0')}`" if "..." in origin else "give a number",
        )
    return number


def _default(decl: ParamDecl, dims: Mapping[str, int], values: Mapping[str, Any], findings: Findings) -> Any:
    assert decl.default is not None
    try:
        value = evaluate(decl.default, dims, values)
        return float(value) if decl.type.is_scalar else np.asarray(value.toarray() if is_sparse(value) else value)
    except KeyError:
        return None  # a dimension or an earlier parameter has no value, which is noted already
    except (ValueError, OverflowError) as error:
        findings.add(
            "FW4513",
            f"the default of `{decl.name}` has no value: {error}",
            span=decl.default.span,
            rule="A default is a number once dimensions and parameters are known.",
            hint=f"correct the default, or give `--set {decl.name}=VALUE`",
        )
        return None


def _missing(decl: ParamDecl, bindings: Bindings, findings: Findings) -> None:
    if decl.name in supplied_names(bindings):
        return  # the name is given as another kind of thing, which `check_names` notes
    findings.add(
        "FW4502",
        f"the parameter `{decl.name}` has no value: {describe_supplied(bindings)}",
        span=decl.span,
        label="declared without a default",
        rule="A parameter has a default, or is given when the program is run.",
        hint=f"give `--set {decl.name}={'VALUE' if decl.type.is_scalar else '[1,2,3]'}` on the command line, `bind({decl.name}=...)` in Python, "
        "or a default in the program",
    )
