"""Functions of cvxpy that give a number, by the words of the language: norms, squares, eigenvalues, means."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...build.convert import as_weights, operand
from .affine import constant
from .common import Reader, call, flat_shape, has_word, kind, plain_number, plain_number_of, refuse


def _norm(name: str, of_matrix: str = "") -> Callable[[Reader, Any], Any]:
    def read(r: Reader, e: Any) -> Any:
        if getattr(e, "axis", None) is not None:
            return None
        inner = e.args[0]
        if not inner.is_affine():
            if name == "norm_inf" and inner.is_nonneg():
                return r.largest(inner)
            return r.total(inner) if name == "norm1" and inner.is_nonneg() else None
        found = r.affine.flat(inner)
        matrix = of_matrix and len(flat_shape(inner)) == 2
        return call(of_matrix if matrix else name, found)

    return read


def _pnorm(r: Reader, e: Any) -> Any:
    p = plain_number_of(e.p)
    if e.axis is not None or p is None:
        return None
    if p == 2.0:
        return _norm("norm2", "norm_fro")(r, e)
    if p < 1.0:
        refuse(e, "`norm_p` takes a `p` of at least 1")
    if not e.args[0].is_affine() or not has_word("norm_p"):
        return None
    flat = e.args[0] if len(flat_shape(e.args[0])) < 2 else None
    return None if flat is None else call("norm_p", r.affine.flat(flat), p)


def _squares(r: Reader, e: Any) -> Any:
    x, y = e.args
    if getattr(e, "axis", None) is not None:
        return None
    if not y.is_constant():
        return (
            call("quad_over_lin", r.affine.flat(x), r.affine.scalar(y))
            if has_word("quad_over_lin") and x.is_affine()
            else None
        )
    if not x.is_affine():
        return None
    found = call("sum_squares", r.affine.flat(x))
    return found if plain_number(y) == 1.0 else found / r.affine.scalar(y)


def _square(r: Reader, e: Any) -> Any:
    """A number to a power: the square of an affine number, of a norm."""
    p, inner = plain_number_of(e.p), e.args[0]
    if p != 2.0 or e.size != 1:
        return None
    if kind(inner) == "Pnorm" and inner.axis is None and plain_number_of(inner.p) == 2.0 and inner.args[0].is_affine():
        return call("sum_squares", r.affine.flat(inner.args[0]))
    if inner.is_affine():
        return call("sum_squares", r.affine.scalar(inner))
    # the square of what is nonnegative and convex: of a variable above it
    return call("sum_squares", r.lowered(inner)) if inner.is_nonneg() and inner.is_convex() else None


def _quadratic(r: Reader, e: Any) -> Any:
    x, p = e.args
    if p.parameters():
        return None
    matrix = constant(p)
    dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    dense = 0.5 * (dense + dense.T)
    sign = 1.0 if e.is_convex() else -1.0
    found = call("quad_form", r.affine.shaped(x), sign * dense)
    return found if sign > 0 else -found


def _of_matrix(name: str) -> Callable[[Reader, Any], Any]:
    def read(r: Reader, e: Any) -> Any:
        return call(name, r.affine.shaped(e.args[0])) if has_word(name) and e.args[0].is_affine() else None

    return read


def _largest_eigenvalues(r: Reader, e: Any) -> Any:
    if not has_word("sum_largest_eigs") or not e.args[0].is_affine():
        return None
    return _of_the_largest("sum_largest_eigs", "trace", r.affine.shaped(e.args[0]), e.k, e.args[0].shape[0])


def _largest(r: Reader, e: Any) -> Any:
    if e.axis is not None or not has_word("sum_largest") or not e.args[0].is_affine():
        return None
    # `sum_largest` is of vectors: a number is one of one entry
    x = r.affine.flat(e.args[0]) if e.args[0].shape else call("ones", 1) * r.affine.scalar(e.args[0])
    return _of_the_largest("sum_largest", "sum", x, e.k, e.args[0].size)


def _of_the_largest(name: str, whole: str, x: Any, k: Any, size: int) -> Any:
    """The sum of the k largest of `size` numbers, where cvxpy takes k = m + f as f times the m + 1 largest and 1 - f times the m largest.

    `cvar` makes k of a level, so that one within the rounding of (1 - beta) size is the whole number. Of k beyond the size it is the sum of all.
    """
    k = plain_number_of(k)
    if k is None:
        return None
    near = round(k)
    if near >= 1 and abs(k - near) <= 4.0 * np.finfo(float).eps * max(size, near):
        k = float(near)
    if k >= size:
        return call(whole, x)
    m = math.floor(k)
    share = k - m
    if share == 0.0:
        return call(name, x, m)
    above = share * call(name, x, m + 1)
    return above + (1.0 - share) * call(name, x, m) if m else above


def _of_entries(name: str) -> Callable[[Reader, Any], Any]:
    def read(r: Reader, e: Any) -> Any:
        if (
            getattr(e, "axis", None) is not None
            or not has_word(name)
            or not e.args[0].is_affine()
            or not e.args[0].shape
        ):
            return None
        return call(name, r.affine.flat(e.args[0]))

    return read


def _mean_of(r: Reader, e: Any) -> Any:
    """The geometric mean, with its weights where they differ."""
    if getattr(e, "axis", None) is not None or not e.args[0].is_affine() or not e.args[0].shape:
        return None
    weights = np.asarray(e.p, dtype=np.float64).reshape(-1)
    kept = np.asarray(getattr(e, "_keep", np.ones(e.args[0].size, dtype=bool)))
    if kept.all() and bool((weights == weights[0]).all()):
        return call("geo_mean", r.affine.flat(e.args[0]))
    if len(e.args[0].shape) != 1 or int(kept.sum()) != weights.size:
        return None
    x = r.affine.shaped(e.args[0])
    return call("geo_mean", x if kept.all() else x[np.flatnonzero(kept).tolist()], as_weights(operand(weights)))


def _largest_of(r: Reader, e: Any) -> Any:
    """The largest entry, or the largest norm of a row."""
    found = r.largest(e.args[0]) if e.axis is None else None
    return _of_entries("max")(r, e) if found is None else found


def _fraction(r: Reader, e: Any) -> Any:
    if not e.args[1].is_constant() or e.args[1].parameters():
        return (
            call("matrix_frac", r.affine.shaped(e.args[0]), r.affine.shaped(e.args[1]))
            if has_word("matrix_frac")
            else None
        )
    inverse = np.linalg.inv(np.asarray(e.args[1].value, dtype=np.float64))
    return (
        call("quad_form", r.affine.shaped(e.args[0]), 0.5 * (inverse + inverse.T))
        if len(e.args[0].shape) == 1
        else None
    )


NUMBERS: Mapping[str, Callable[[Reader, Any], Any]] = {
    "norm1": _norm("norm1"),
    "norm_inf": _norm("norm_inf"),
    "Pnorm": _pnorm,
    "normNuc": _of_matrix("norm_nuc"),
    "sigma_max": _of_matrix("norm_spec"),
    "quad_over_lin": _squares,
    "QuadForm": _quadratic,
    "Power": _square,
    "power": _square,
    "lambda_max": _of_matrix("lambda_max"),
    "lambda_sum_largest": _largest_eigenvalues,
    "lambda_min": _of_matrix("lambda_min"),
    "log_det": _of_matrix("log_det"),
    "tr_inv": _of_matrix("tr_inv"),
    "sum_largest": _largest,
    "log_sum_exp": _of_entries("log_sum_exp"),
    "max": _largest_of,
    "min": _of_entries("min"),
    "GeoMean": _mean_of,
    "geo_mean": _mean_of,
    "MatrixFrac": _fraction,
}
