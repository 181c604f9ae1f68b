"""Quadratic forms beside linear costs, as squares alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..atoms.arrays import ROUNDING
from ..atoms.base import Array
from ..atoms.loss import LossFunction
from ..model import Expr, Model, Term
from ..words import CONVEX
from .data_maps import Matrix
from .parts import Stacked, SumTerm
from .sets import BadArguments

SQUARE_MISS = 1e-9
"""The share of its terms that a linear cost may miss the rows of a quadratic form by: what is left of it stays."""


def complete_squares(model: Model, terms: list[SumTerm], q: Array) -> float:
    """Take the linear costs of quadratic forms into their squares, in `terms` and `q`; the constant that comes of it."""
    constant = 0.0
    for t, made in enumerate(terms):
        if _is_quadratic_form(model, made):
            block = made.map.parts[0][0]
            f = made.f
            found = completed_square(f, made.map, q[block.slice]) if isinstance(f, LossFunction) else None
            if isinstance(f, LossFunction) and found is not None:
                # 2 w L x is the multiplier without the costs, 2 w (L x + h) with them
                costs = 2.0 * f.w * (f.b - found[0].b)
                terms[t], q[block.slice] = replace(made, f=found[0], costs=costs), found[1]
                constant += found[2]
    return constant


def _is_quadratic_form(model: Model, made: SumTerm) -> bool:
    """True if a term is a quadratic form of one variable, by a root of its matrix."""
    term = None if made.is_constraint else model.terms[made.origin]
    rooted = term is not None and term.kind == "function" and bool(CONVEX[term.atom].root_of)
    return rooted and len(made.map.parts) == 1


def completed_square(f: LossFunction, stacked: Stacked, q: Array) -> tuple[LossFunction, Array, float] | None:
    """w |L x + o - b|^2 + q'x = w |L x + o - b + h|^2 + (q - 2 w L'h)'x - 2 w <o - b, h> - w |h|^2 where L has orthogonal rows and q = 2 w L'h.

    The loss, what is left of q, and the constant; None where q is no such combination of the rows.
    """
    if not (f.loss.quadratic and np.any(q) and f.size and np.ptp(f.w) == 0.0 and f.w[0] > 0.0):
        return None
    m = stacked.parts[0][1]
    squares = m.squared().apply(np.ones(m.columns))
    with np.errstate(all="ignore"):
        h = m.apply(q) / (2.0 * f.w * squares)
    if not np.all(np.isfinite(h)):
        return None
    left = q - 2.0 * f.w[0] * m.adjoint(h)
    sizes = np.abs(q) + 2.0 * f.w[0] * m.absolute().adjoint(np.abs(h))
    if np.any(np.abs(left) > SQUARE_MISS * sizes):
        return None
    left = np.where(np.abs(left) <= ROUNDING * sizes, 0.0, left)
    return replace(f, b=f.b - h), left, -float(f.w @ (2.0 * (stacked.offset - f.b) * h + h * h))


def root_of_form(term: Term, root_of: str, matrix: Expr, P: Any) -> Matrix:
    """L of P = L'L, from the eigenvalues of P, or from its entries where P is `diag` of a vector. `BadArguments` where P has no root."""
    if matrix.op == "diag" and hasattr(P, "nnz"):
        from scipy.sparse import diags_array  # most programs have no such form

        entries = np.asarray(P.diagonal(), dtype=np.float64)
        _refuse_negative(term, float(entries.min(initial=0.0)), float(entries.max(initial=0.0)))
        return Matrix(diags_array(np.sqrt(np.maximum(entries, 0.0)), format="csr"), False, f"root of {root_of}")
    P = np.asarray(P.toarray() if hasattr(P, "nnz") else P, dtype=np.float64)
    if not matrix.type.is_psd and not np.array_equal(P, P.T):
        raise BadArguments(f"the matrix of `{term.text}` is not symmetric", term.span)
    values, vectors = np.linalg.eigh(P)
    if values.size:
        _refuse_negative(term, float(values[0]), float(values[-1]))
    keep = values > max(float(values[-1]), 0.0) * 1e-15 if values.size else values > 0.0
    return Matrix(np.ascontiguousarray((vectors[:, keep] * np.sqrt(values[keep])).T), False, f"root of {root_of}")


def _refuse_negative(term: Term, least: float, most: float) -> None:
    """Raise `BadArguments` where the least eigenvalue is negative, but for rounding beside the largest."""
    if least < -1e-10 * abs(most):
        raise BadArguments(
            f"the matrix of `{term.text}` is not positive semidefinite: it has the eigenvalue {least:.3g}", term.span
        )
