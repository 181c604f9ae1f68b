"""Minimising a quadratic model of the smooth part, with the nonsmooth part as it is, over a working set of coordinates.

    minimise over u   <y, K (u - x)> + (K (u - x))' diag(h) (K (u - x)) / 2 + sum_j q_j u_j + ridge_j u_j^2 / 2 + c_j |u_j|,   lo <= u <= hi

With the residual: columns times sqrt(h), so that r = y / sqrt(h) + sqrt(h) K (u - x) is all that changes, and Anderson's extrapolation of
the epochs (Bertrand, Massias 2021). With the Gram matrix K'diag(h) K of the working set: epochs at a cost of the coordinates that move, and Newton
steps on those that are between their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.coordinate import loops
from fwdsl.backends.coordinate.columns import Columns, Indices
from fwdsl.backends.coordinate.coordinates import Coordinates
from fwdsl.backends.kernels.compile import kernel

DEPTH = 5
"""Epochs between two extrapolations, which combine so many."""

RESIDUAL_EPOCHS = 100
GRAM_EPOCHS = 400
"""Most epochs in the solution of one model."""

SWEEPS = 5
"""Epochs on the Gram matrix between two Newton steps."""

NEWTON_SIZE = 1_500
"""Free coordinates up to which Newton steps are tried."""


@dataclass(frozen=True)
class Solved:
    """The minimiser of a model as far as it was found, its epochs, and the measures of violation of the first and the last of them."""

    u: Array
    epochs: int
    first: float
    last: float


def by_residual(
    columns: Columns,
    work: Indices,
    x: Array,
    g: Coordinates,
    y: Array,
    h: Array,
    enough: float,
    look: Callable[[], None],
) -> Solved:
    """The model on coordinates `work`, where x and g are theirs, by epochs over their columns until the measure is `enough`."""
    main = columns.main(work)
    uniform = float(h.min(initial=math.inf)) == float(h.max(initial=0.0)) and h.size > 0
    if uniform:
        # K'y and K'hK from A and r = y / (h c) as they are
        stored, cols = columns.stored(main)
        scale, r = float(h[0]) * columns.factor**2, y / (h[0] * columns.factor)
        extra = columns.extra / columns.factor
    else:
        root = np.sqrt(h)
        stored, cols = columns.weighted(main, root)
        scale, r = 1.0, np.divide(y, root, out=np.zeros_like(y), where=root > 0.0)
        extra = columns.extra * root
    size = scale * np.concatenate([np.einsum("ij,ij->i", extra, extra), columns.squares(stored, cols)]) + g.ridge
    size[~np.isfinite(size)] = 0.0
    u, first, trail = x.copy(), np.zeros(1), np.empty((DEPTH + 1, x.size))
    total, measure, begun = 0, math.inf, 0.0
    while total < RESIDUAL_EPOCHS:
        look()
        trail[0] = u
        done, measure = columns.residual_epochs(
            stored, cols, extra, r, scale, g.q, size, g.c, g.ridge, g.lo, g.hi, u, DEPTH, enough, trail[1:], first
        )
        begun = begun if total else float(first[0])
        total += done
        columns.count_work(main, done)
        if measure <= enough or done < DEPTH:
            break
        ahead = extrapolated(trail)
        if ahead is None:
            continue
        ahead = np.clip(ahead, g.lo, g.hi)
        moved = r.copy()
        columns.add(stored, cols, extra, ahead - u, moved)
        columns.count_work(main)
        if 0.5 * scale * float(moved @ moved) + g.penalty(ahead) < 0.5 * scale * float(r @ r) + g.penalty(u):
            u, r = ahead, moved
    return Solved(u, total, begun, measure)


def extrapolated(trail: Array) -> Array | None:
    """The combination of the last points whose differences cancel best, weights adding up to 1; None where they cannot be told apart."""
    steps = np.diff(trail, axis=0)
    gram = steps @ steps.T
    trace = float(np.trace(gram))
    if not 0.0 < trace < math.inf:
        return None
    gram[np.diag_indices_from(gram)] += 1e-12 * trace
    try:
        weights = np.linalg.solve(gram, np.ones(len(gram)))
    except np.linalg.LinAlgError:
        return None
    total = float(weights.sum())
    return (weights / total) @ trail[1:] if total != 0.0 and math.isfinite(total) else None


def by_gram(gram: Array, slope: Array, x: Array, g: Coordinates, enough: float, look: Callable[[], None]) -> Solved:
    """The model by its Gram matrix, ridges on the diagonal, and its slope at x (ridges included), changed in place."""
    u, first = x.copy(), np.zeros(1)
    epochs = kernel(loops.gram_epochs)
    total, rounds = 0, SWEEPS
    measure, begun = math.inf, 0.0
    while total < GRAM_EPOCHS:
        look()
        held = _held(u, g)
        done, measure = epochs(gram, slope, g.c, g.lo, g.hi, u, rounds, enough, first)
        begun = begun if total else float(first[0])
        total += done
        if measure <= enough:
            break
        steady = np.array_equal(held, _held(u, g))
        # where the face still changes a solve is wasted; twice the epochs are dearer than one after all
        if steady or total >= 2 * SWEEPS:
            _newton(gram, slope, u, g)
        rounds = SWEEPS if steady else min(2 * rounds, 40)
    return Solved(u, total, begun, measure)


def _held(u: Array, g: Coordinates) -> Array:
    """The face of a point: 0 where an entry is held at a bound or a kink, else its sign, 2 where it may have any."""
    free = np.where(g.c > 0.0, np.sign(u), 2.0)
    return np.where((u <= g.lo) | (u >= g.hi), 0.0, free)


def _newton(gram: Array, slope: Array, u: Array, g: Coordinates) -> None:
    """A Newton step on the face of u, its entries cut at bounds and kinks that they would cross, where the model falls; else up to the first one.

    u and the slope there change in place.
    """
    face = _held(u, g)
    free = np.flatnonzero((face != 0.0) & (np.einsum("ii->i", gram) > 0.0))
    if not 0 < free.size <= NEWTON_SIZE:
        return
    here, sign = u[free], np.where(face[free] == 2.0, 0.0, face[free])
    kinked = sign != 0.0
    down = slope[free] + g.c[free] * sign
    matrix = gram[np.ix_(free, free)]
    # a hair of damping where columns repeat: the step is only a trial
    matrix[np.diag_indices_from(matrix)] *= 1.0 + 1e-13
    try:
        d = np.linalg.solve(matrix, -down)
    except np.linalg.LinAlgError:
        return
    if not np.all(np.isfinite(d)):
        return
    lo, hi = np.where(kinked & (sign > 0.0), np.maximum(g.lo[free], 0.0), g.lo[free]), g.hi[free]
    hi = np.where(kinked & (sign < 0.0), np.minimum(hi, 0.0), hi)
    new = np.clip(here + d, lo, hi)
    if not _falls(matrix, new - here, down):
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(d > 0.0, (hi - here) / d, np.where(d < 0.0, (lo - here) / d, math.inf))
        length = min(1.0, float(room.min()))
        new = np.clip(here + length * d, lo, hi)
        first = room <= length
        new[first] = np.where(d > 0.0, hi, lo)[first]
        if not _falls(matrix, new - here, down):
            return
    u[free] = new
    slope += gram[:, free] @ (new - here)


def _falls(matrix: Array, step: Array, down: Array) -> bool:
    """Whether the model falls along a step on its face."""
    return float(down @ step) + 0.5 * float(step @ (matrix @ step)) < 0.0
