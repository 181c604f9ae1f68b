"""Functions of rows and columns of cvxpy, by words with an axis."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .common import Reader, call, has_word, kind, plain_number_of


def row_values(r: Reader, e: Any) -> Any:
    """A norm or another function of each row or column of a matrix, by its word with an axis; None where it is none of these."""
    name, inner = kind(e), e.args[0]
    if getattr(e, "axis", None) not in (0, 1) or not inner.is_affine() or len(inner.shape) != 2 or e.keepdims:
        return None
    options: dict[str, object] = {"axis": e.axis}
    if name == "Pnorm":
        p = plain_number_of(e.p)
        if p is None:
            return None
        name = "norm2" if p == 2.0 else "norm_p"
        options = options if p == 2.0 else {"p": p, **options}
    if name not in _OF_ROWS or not has_word(name):
        return None
    return call(name, r.affine.shaped(inner), **options)


_OF_ROWS = ("norm1", "norm2", "norm_inf", "norm_p", "log_sum_exp")
"""Words that have an axis, by the names that cvxpy has for them too."""


def _sum_of_rows(r: Reader, e: Any) -> Any:
    values = row_values(r, e)
    return None if values is None else call("sum", values)


LARGEST_OF = ("norm1", "norm_inf", "Pnorm")
"""Norms of rows whose largest is a word."""


def _row_maxima(r: Reader, e: Any) -> Any:
    inner = e.args[0]
    if e.axis is None or kind(inner) != "abs" or not inner.args[0].is_affine() or len(inner.shape) != 2:
        return None
    x = r.affine.shaped(inner.args[0])
    return call("norm1_inf", x if e.axis == 1 else x.T)


def _row_log_sums(r: Reader, e: Any) -> Any:
    """The sum over rows of log sum exp: of each row the softmax loss of some class, and the score of that class."""
    inner = e.args[0]
    if e.axis is None or not inner.is_affine() or len(inner.shape) != 2:
        return None
    z = r.affine.shaped(inner if e.axis == 1 else inner.T)
    n, k = inner.shape if e.axis == 1 else inner.shape[::-1]
    if n < k or k < 2:
        return None  # labels have a sample of each class
    labels = np.arange(n) % k
    return call("sum", call("softmax", z, labels)) + call("sum", np.eye(k)[labels] * z)


ROWS: Mapping[str, Callable[[Reader, Any], Any]] = {
    **dict.fromkeys(("Pnorm", "norm1", "norm_inf"), _sum_of_rows),
    "max": _row_maxima,
    "log_sum_exp": _row_log_sums,
}
