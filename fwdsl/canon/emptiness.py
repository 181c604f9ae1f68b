"""Sets that hold no point, and pairs of sets that do not meet, where numbers alone show it.

Two sets of one variable are compared where one has a point at which a whole family of norms is least, and the other bounds one of these:
the middle of a simplex, a Birkhoff polytope or a spectrahedron (averaging over permutations, or rotations, does not raise a norm), the
point of a box nearest to zero. What this does not find, the methods do, by a certificate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..atoms.arrays import ROUNDING
from ..atoms.base import Array
from ..grammar.source import Span
from ..light_dataclass import light_dataclass
from ..words import CONVEX, SETS
from .pairs import build, words_of

SLACK = 1e-9
"""The least amount, relative to its size, by which a bound must be missed: nearer, rounding may be at work, and the method decides."""

LARGEST = 2_000_000
"""Numbers of a matrix up to which its equations are looked at for a contradiction."""


class Empty(Exception):
    """A set holds no point, or sets have none in common. The message is the proof, in the user's words."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message = message
        self.span = span


@light_dataclass
class Region:
    """One set of a variable: its key (`rows(simplex)`), its arguments as the atoms take them, its name in messages, and its place."""

    key: str
    args: Mapping[str, Any]
    text: str
    span: Span


def numbers(a: float, b: float) -> tuple[str, str]:
    """Two numbers as text, with enough digits to tell them apart."""
    for digits in (6, 9, 12, 15):
        said = f"{a:.{digits}g}", f"{b:.{digits}g}"
        if said[0] != said[1] or a == b:
            return said
    return repr(float(a)), repr(float(b))


def crossing(lo: Any, hi: Any) -> NDArray[np.intp]:
    """The places, flat, at which lo exceeds hi by more than the rounding of the two."""
    lo, hi = (np.asarray(x, dtype=np.float64) for x in (lo, hi))
    with np.errstate(invalid="ignore"):
        beyond = lo - hi > ROUNDING * np.maximum(np.abs(lo), np.abs(hi))
    # an infinite difference is beyond an infinite rounding too
    beyond = beyond | ((lo > hi) & ~np.isfinite(lo - hi)) | (lo == math.inf) | (hi == -math.inf)
    return np.flatnonzero(beyond)


def ordered(lo: Any, hi: Any) -> tuple[Any, Any]:
    """The bounds, with their middle for both where only rounding has the lower one above the upper one; those that leave no room stay."""
    if np.all(np.less_equal(lo, hi)) or crossing(lo, hi).size:
        return lo, hi
    with np.errstate(invalid="ignore"):
        middle = lo + 0.5 * (np.asarray(hi) - lo)
    return np.where(np.greater(lo, hi), middle, lo), np.where(np.greater(lo, hi), middle, hi)


def check_box(lo: Any, hi: Any, text: str, span: Span, entry: Callable[[int], str]) -> None:
    """Raise `Empty` for a box without a point; `entry` names the one at a flat place."""
    found = crossing(lo, hi)
    if found.size:
        raise Empty(f"`{text}` is empty: {_between(lo, hi, int(found[0]), entry)}", span)


def _between(lo: Any, hi: Any, j: int, entry: Callable[[int], str]) -> str:
    low, high = (float(x.reshape(-1)[j]) for x in np.broadcast_arrays(np.asarray(lo), np.asarray(hi)))
    said = numbers(low, high)
    return f"{entry(j)} would have to be at least {said[0]} and at most {said[1]}"


def check_halfspace(a: Array, b: float, text: str, span: Span) -> None:
    """Raise `Empty` if a = 0 and b < 0."""
    if b < 0.0 and not a.any():
        raise Empty(f"`{text}` is empty: all its coefficients are 0, and 0 is not at most {b:g}", span)


def check_equations(A: Any, b: Array, text: str, span: Span) -> None:
    """Raise `Empty` if A x = b has no solution: if multipliers of its rows make 0 of A, but for its rounding, and not of b."""
    if math.prod(A.shape) > LARGEST or min(A.shape) > 500:
        return
    A = np.asarray(A.toarray() if hasattr(A, "nnz") else A, dtype=np.float64)
    largest = np.abs(A).max(axis=1, initial=0.0)
    zero = np.flatnonzero((largest == 0.0) & (b != 0.0))
    if zero.size:
        j = int(zero[0])
        raise Empty(f"`{text}` is empty: row {j} of its matrix is 0, and its right-hand side is {b[j]:g}", span)
    A, b = _balanced(A[largest > 0.0], b[largest > 0.0])
    if not A.size or not np.all(np.isfinite(b)):
        return
    y = b - A @ np.linalg.lstsq(A, b, rcond=1e-10)[0]
    if not float(np.linalg.norm(y)) > 1e-6 * float(np.linalg.norm(b)):
        return
    # what is left of A is taken out once more, so that it is no more than rounding
    y -= A @ np.linalg.lstsq(A, y, rcond=1e-10)[0]
    rounding = ROUNDING * math.sqrt(A.shape[0])
    met = np.all(np.abs(A.T @ y) <= rounding * (np.abs(A).T @ np.abs(y)))
    if met and float(b @ y) > SLACK * float(np.abs(b) @ np.abs(y)):
        j = int(np.flatnonzero(largest > 0.0)[np.argmax(np.abs(y))])
        raise Empty(f"`{text}` is empty: its equations contradict each other, row {j} among them", span)


def _balanced(A: Array, b: Array) -> tuple[Array, Array]:
    """The same equations with rows, and variables, in units in which the entries are about 1; zero columns are left as they are."""
    for _ in range(5):
        for axis in (1, 0):
            least, largest = (f(np.where(A == 0.0, other, np.abs(A)), axis=axis) for f, other in _ENDS)
            with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
                exponent = np.rint(-0.5 * (np.log2(least) + np.log2(largest)))
            unit = np.exp2(np.clip(np.where(np.isfinite(exponent), exponent, 0.0), -1000.0, 1000.0))
            if axis == 1:
                A, b = A * unit[:, None], b * unit
            else:
                A = A * unit
    return A, b


_ENDS: tuple[tuple[Callable[..., Array], float], ...] = ((np.min, math.inf), (np.max, 0.0))


def check_meeting(regions: list[Region], shape: tuple[int, ...], entry: Callable[[int], str]) -> None:
    """Raise `Empty` if two sets of one variable of this shape (of a family, of one block) have no point in common."""
    for i, first in enumerate(regions):
        for second in regions[i + 1 :]:
            if _bounds_entries(first) and _bounds_entries(second):
                why = _bounds_cross(first, second, shape, entry)
            else:
                why = _apart(first, second, shape) or _apart(second, first, shape)
            if why:
                raise Empty(f"{first.text} and {second.text} cannot hold together: {why}", second.span)


def _bounds_cross(a: Region, b: Region, shape: tuple[int, ...], entry: Callable[[int], str]) -> str:
    (lo, hi), (low, high) = (_spread(r, shape) for r in (a, b))
    lo, hi = np.maximum(lo, low), np.minimum(hi, high)
    found = crossing(lo, hi)
    return _between(lo, hi, int(found[0]), entry) if found.size else ""


def _spread(a: Region, shape: tuple[int, ...]) -> tuple[Array, Array]:
    """The bounds of each entry."""
    lo, hi = (np.broadcast_to(np.reshape(x, shape if np.size(x) > 1 else ()), shape) for x in _bounds(a))
    return lo, hi


def _apart(a: Region, b: Region, shape: tuple[int, ...]) -> str:
    """The reason why no point of a is in b, as far as a tells; empty where it does not."""
    if _bounds_entries(b) and _sums(a):
        return _misses_box(a, *_spread(b, shape))
    if _bounds_entries(b) and words_of(a.key)[0].of == "symmetric":
        return _misses_diagonal(a, _spread(b, shape)[1])
    totals = _total(a, shape), _total(b, shape)
    if None not in totals and _differ(*totals):  # type: ignore[arg-type]
        return f"the entries of the first have the sum {totals[0]:g}, those of the second {totals[1]:g}"
    traces = [r.args["r"] for r in (a, b) if _fixes_trace(r)]
    if len(traces) == 2 and _differ(*traces):
        return f"the first have trace {traces[0]:g}, the second {traces[1]:g}"
    measure = _measure(b)
    spectral = measure is not None and SETS[b.key].certificate == "rigorous"
    if measure is None or (spectral and _bounds_entries(a)):
        return ""
    point = _nearest(a, shape)
    if point is None or (spectral and point.ndim != 2):
        return ""
    name, size = measure
    least, r = size(point), float(b.args["r"])
    return (
        f"{name} is at least {least:g} in the first and at most {r:g} in the second"
        if least > r * (1.0 + SLACK)
        else ""
    )


def _bounds_entries(a: Region) -> bool:
    """True if a set bounds each entry by itself."""
    return a.key in SETS and SETS[a.key].bounds


def _fixes_trace(a: Region) -> bool:
    """True if all matrices of a set have one trace."""
    return a.key in SETS and SETS[a.key].of == "symmetric" and SETS[a.key].total == "equal"


def _differ(a: float, b: float) -> bool:
    return abs(a - b) > SLACK * max(abs(a), abs(b))


def _sums(a: Region) -> tuple[int | None, ...]:
    """The axes along which a set of nonnegative entries fixes or bounds their sums, None for that of all; none where it does not."""
    outer, inner = words_of(a.key)
    if outer.written_as == "rows and columns":
        return 0, 1
    if inner.of != "vector" or inner.total not in ("equal", "most") or (inner.total == "most" and outer is not inner):
        return ()
    return {"rows": (1,), "columns": (0,)}.get(outer.inner, (None,))


def _radius(a: Region) -> float:
    return float(a.args.get("r", 1.0))


def _total(a: Region, shape: tuple[int, ...]) -> float | None:
    """The sum of all entries if the set fixes it, else None."""
    axes = _sums(a)
    if not axes or words_of(a.key)[1].total == "most":
        return None
    lines = 1 if axes[0] is None or not shape else shape[-1] if axes == (0,) else shape[0]
    return lines * _radius(a)


def _nearest(a: Region, shape: tuple[int, ...]) -> Array | None:
    """The point at which the norms that the sets bound are least."""
    if _bounds_entries(a):
        lo, hi = _bounds(a)
        flat = np.clip(0.0, np.reshape(lo, -1), np.reshape(hi, -1))
        return np.broadcast_to(flat if flat.size == 1 else flat.reshape(shape), shape)
    if _fixes_trace(a):
        return np.eye(shape[0]) * (_radius(a) / shape[0])
    total = _total(a, shape)
    return None if total is None else np.full(shape, total / math.prod(shape))


def _bounds(a: Region) -> tuple[Any, Any]:
    return SETS[a.key].bounds_of(a.args, float, np.negative)


def _misses_box(a: Region, lo: Array, hi: Array) -> str:
    """The reason why no point of a simplex, or of a product of some, lies within bounds."""
    r = _radius(a)
    if np.any(hi < 0.0):
        return f"an entry is nonnegative in the first and at most {hi.min():g} in the second"
    for along in _sums(a):
        least, most = np.maximum(lo, 0.0).sum(axis=along), hi.sum(axis=along)
        if np.any(least > r * (1.0 + SLACK)):
            said = numbers(r, float(np.max(least)))
            return f"a sum is {said[0]} in the first and at least {said[1]} in the second"
        if words_of(a.key)[1].total != "most" and np.any(most < r * (1.0 - SLACK)):
            said = numbers(r, float(np.min(most)))
            return f"a sum is {said[0]} in the first and at most {said[1]} in the second"
    return ""


def _misses_diagonal(a: Region, hi: Array) -> str:
    """The reason why no matrix without a negative eigenvalue, perhaps of a given trace, has entries at most hi."""
    diagonal = np.diagonal(hi)
    if np.any(diagonal < 0.0):
        return f"an entry of the diagonal is nonnegative in the first and at most {diagonal.min():g} in the second"
    if _fixes_trace(a) and diagonal.sum() < _radius(a) * (1.0 - SLACK):
        said = numbers(_radius(a), float(diagonal.sum()))
        return f"the trace is {said[0]} in the first and at most {said[1]} in the second"
    return ""


def _measure(b: Region) -> tuple[str, Callable[[Array], float]] | None:
    """The quantity that a set bounds by its radius: its name in a sentence, and its value at an array; None for other sets."""
    word = SETS.get(b.key)
    if word is None or word.grouped or word.ranked or not word.scaled:
        return None
    if word.total == "most":
        if word.of == "symmetric":
            return "the trace", lambda x: float(np.trace(x))
        return "the sum", lambda x: float(np.maximum(x, 0.0).sum())
    if not word.norm:
        return None
    options = {name: value for name, value in b.args.items() if name != "r"}
    return CONVEX[word.norm].called, lambda x: _norm_of(word.norm, x, options)


def _norm_of(name: str, x: Array, options: Mapping[str, Any]) -> float:
    return build((name, 1.0, options), None, x.shape).value(x.reshape(-1))
