"""Sets that hold no point, and pairs of sets that do not meet, where numbers alone show it.

Two sets of one variable are compared where one has a point at which a whole family of norms is least, and the other bounds one of these:
the middle of a simplex, a Birkhoff polytope or a spectrahedron (averaging over permutations, or rotations, does not raise a norm), the
point of a box nearest to zero. What this does not find, the methods do, by a certificate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..grammar.source import Span

SLACK = 1e-9
"""How far, relative to its size, a bound must be missed: nearer, rounding may be at work, and the method decides."""

LARGEST = 2_000_000
"""Numbers of a matrix up to which its equations are looked at for a contradiction."""


class Empty(Exception):
    """A set that holds no point."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message = message
        self.span = span


@dataclass(frozen=True)
class Region:
    """One set of a variable: its key (`rows(simplex)`), its arguments as the atoms take them, and where it stands."""

    key: str
    args: Mapping[str, Any]
    text: str
    span: Span


def check_box(lo: Any, hi: Any, span: Span) -> None:
    """Raise where lo <= hi fails in an entry."""
    lo, hi = np.broadcast_arrays(np.asarray(lo, dtype=np.float64), np.asarray(hi, dtype=np.float64))
    bad = np.flatnonzero(~(lo.reshape(-1) <= hi.reshape(-1)))
    if bad.size:
        j = int(bad[0])
        low, high = lo.reshape(-1)[j], hi.reshape(-1)[j]
        raise Empty(f"the box is empty: entry {j} must be at least {low:g} and at most {high:g}", span)


def check_halfspace(a: Array, b: float, text: str, span: Span) -> None:
    """Raise where a = 0 and b < 0."""
    if b < 0.0 and not a.any():
        raise Empty(f"`{text}` holds no point: all its coefficients are 0, and 0 is not at most {b:g}", span)


def check_equations(A: Any, b: Array, text: str, span: Span) -> None:
    """Raise where A x = b has no solution, which the residual of least squares shows, by far more than its rounding."""
    if math.prod(A.shape) > LARGEST or min(A.shape) > 500:
        return
    A = np.asarray(A.toarray() if hasattr(A, "nnz") else A, dtype=np.float64)
    # rows at one scale, so that a short one counts as much as a long one
    size = np.maximum(np.linalg.norm(A, axis=1), 1e-300)
    zero = np.flatnonzero((size <= 1e-300) & (b != 0.0))
    if zero.size:
        j = int(zero[0])
        raise Empty(f"`{text}` holds no point: row {j} of its matrix is 0, and its right-hand side is {b[j]:g}", span)
    scaled, right = A / size[:, None], b / size
    x = np.linalg.lstsq(scaled, right, rcond=1e-10)[0]
    residual = right - scaled @ x
    lever = scaled.T @ residual
    square = float(residual @ residual)
    # residual' A = 0 and residual' b > 0 is the contradiction
    if square > (1e-6 * float(np.linalg.norm(right))) ** 2 and np.linalg.norm(lever) <= 1e-10 * math.sqrt(square):
        j = int(np.argmax(np.abs(residual)))
        raise Empty(f"`{text}` holds no point: its equations contradict each other, row {j} among them", span)


def check_meeting(regions: list[Region], shape: tuple[int, ...]) -> None:
    """Raise where two sets of one variable of this shape (of a family, of one block) have no point in common."""
    for i, first in enumerate(regions):
        for second in regions[i + 1 :]:
            why = _apart(first, second, shape) or _apart(second, first, shape)
            if why:
                raise Empty(f"`{first.text}` and `{second.text}` do not meet: {why}", second.span)


def _apart(a: Region, b: Region, shape: tuple[int, ...]) -> str:
    """Why no point of a is in b, as far as a tells; empty where it does not."""
    if b.key in ("box", "nonnegative", "linf_ball") and _is_simplex(a.key):
        lo, hi = _bounds(b)
        return _misses_box(
            a, *(np.broadcast_to(np.reshape(x, shape if np.size(x) > 1 else ()), shape) for x in (lo, hi))
        )
    totals = _total(a, shape), _total(b, shape)
    if None not in totals and _differ(*totals):  # type: ignore[arg-type]
        return f"the entries of the first have the sum {totals[0]:g}, those of the second {totals[1]:g}"
    traces = [r.args["r"] for r in (a, b) if r.key == "spectrahedron"]
    if len(traces) == 2 and _differ(*traces):
        return f"the first have trace {traces[0]:g}, the second {traces[1]:g}"
    if b.key not in _NORMS or (b.key in _SPECTRAL and a.key in ("box", "nonnegative", "linf_ball")):
        return ""
    point = _nearest(a, shape)
    if point is None or (b.key in _SPECTRAL and point.ndim != 2):
        return ""
    name, norm = _NORMS[b.key]
    least, r = norm(point), float(b.args["r"])
    return (
        f"{name} is at least {least:g} in the first and at most {r:g} in the second"
        if least > r * (1.0 + SLACK)
        else ""
    )


def _differ(a: float, b: float) -> bool:
    return abs(a - b) > SLACK * max(abs(a), abs(b))


def _is_simplex(key: str) -> bool:
    return key in (
        "simplex",
        "rows(simplex)",
        "columns(simplex)",
        "vec(simplex)",
        "simplex_product",
        "birkhoff",
        "solid_simplex",
    )


def _radius(a: Region) -> float:
    return float(a.args.get("r", 1.0))


def _total(a: Region, shape: tuple[int, ...]) -> float | None:
    """The sum of all entries, where the set fixes it."""
    lines = {
        "simplex": 1,
        "vec(simplex)": 1,
        "rows(simplex)": shape[0] if shape else 1,
        "columns(simplex)": shape[-1] if shape else 1,
    }
    lines |= {"simplex_product": shape[0] if shape else 1, "birkhoff": shape[0] if shape else 1}
    return lines[a.key] * _radius(a) if a.key in lines else None


def _nearest(a: Region, shape: tuple[int, ...]) -> Array | None:
    """The point at which the norms that the sets bound are least."""
    if a.key in ("box", "nonnegative", "linf_ball"):
        lo, hi = _bounds(a)
        flat = np.clip(0.0, np.reshape(lo, -1), np.reshape(hi, -1))
        return np.broadcast_to(flat if flat.size == 1 else flat.reshape(shape), shape)
    if a.key == "spectrahedron":
        return np.eye(shape[0]) * (_radius(a) / shape[0])
    total = _total(a, shape)
    return None if total is None else np.full(shape, total / math.prod(shape))


def _bounds(a: Region) -> tuple[Any, Any]:
    if a.key == "box":
        return a.args["lo"], a.args["hi"]
    return (0.0, math.inf) if a.key == "nonnegative" else (-_radius(a), _radius(a))


def _misses_box(a: Region, lo: Array, hi: Array) -> str:
    """Why no point of a simplex, or of a product of some, lies within bounds."""
    axis = {"rows(simplex)": (1,), "simplex_product": (1,), "columns(simplex)": (0,), "birkhoff": (0, 1)}.get(
        a.key, (None,)
    )
    r = _radius(a)
    if np.any(hi < 0.0):
        return f"an entry is nonnegative in the first and at most {hi.min():g} in the second"
    for along in axis:
        least, most = np.maximum(lo, 0.0).sum(axis=along), hi.sum(axis=along)
        if np.any(least > r * (1.0 + SLACK)):
            return f"a sum is {r:g} in the first and at least {np.max(least):g} in the second"
        if a.key != "solid_simplex" and np.any(most < r * (1.0 - SLACK)):
            return f"a sum is {r:g} in the first and at most {np.min(most):g} in the second"
    return ""


def _singular(x: Array) -> Array:
    return np.asarray(np.linalg.svd(x, compute_uv=False))


#: What each ball bounds.
_NORMS: dict[str, tuple[str, Callable[[Array], float]]] = {
    "l1_ball": ("the sum of sizes", lambda x: float(np.abs(x).sum())),
    "l2_ball": ("the Euclidean norm", lambda x: float(np.linalg.norm(x))),
    "fro_ball": ("the Frobenius norm", lambda x: float(np.linalg.norm(x))),
    "linf_ball": ("the largest size", lambda x: float(np.abs(x).max(initial=0.0))),
    "l21_ball": ("the sum of row norms", lambda x: float(np.linalg.norm(x, axis=1).sum())),
    "l1_inf_ball": ("the sum of the rows' largest sizes", lambda x: float(np.abs(x).max(axis=1).sum())),
    "nuclear_ball": ("the trace norm", lambda x: float(_singular(x).sum())),
    "spectral_ball": ("the largest singular value", lambda x: float(_singular(x).max(initial=0.0))),
    "solid_simplex": ("the sum", lambda x: float(np.maximum(x, 0.0).sum())),
    "solid_spectrahedron": ("the trace", lambda x: float(np.trace(x))),
}
_SPECTRAL = ("nuclear_ball", "spectral_ball", "solid_spectrahedron")
