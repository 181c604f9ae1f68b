"""Minimising a quadratic model of the smooth part, with the nonsmooth part as it is, over a working set of coordinates.

    minimise over u   <y, K (u - x)> + (K (u - x))' diag(h) (K (u - x)) / 2 + sum_j (q_j u_j + ridge_j u_j^2 / 2) + sum_g c_g |u_g|,   lo <= u <= hi

With the residual: columns times sqrt(h), so that r = y / sqrt(h) + sqrt(h) K (u - x) is all that changes, and Anderson's extrapolation of
the epochs (Bertrand, Massias 2021). With the Gram matrix K'diag(h) K of the working set: epochs at a cost of the coordinates that move, and Newton
steps on those that are between their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.coordinate import loops
from fwdsl.backends.coordinate.columns import LONGEST_GROUP, Columns, Indices
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
    rough: float = 0.0,
) -> Solved:
    """The model on coordinates `work`, where x and g are theirs, by epochs over their columns until the measure is `enough`, or about `rough`
    times its first value."""
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
    size = scale * columns.sizes(stored, cols, extra, g.start) + g.ridge[g.start[:-1]]
    size[~np.isfinite(size)] = 0.0
    u, first, trail = x.copy(), np.zeros(1), np.empty((DEPTH + 1, x.size))
    total, measure, begun = 0, math.inf, 0.0
    while total < RESIDUAL_EPOCHS:
        look()
        trail[0] = u
        done, measure = columns.residual_epochs(
            stored,
            cols,
            extra,
            r,
            scale,
            g.q,
            g.start,
            size,
            g.c,
            g.ridge,
            g.lo,
            g.hi,
            u,
            DEPTH,
            enough,
            trail[1:],
            first,
        )
        begun = begun if total else float(first[0])
        total += done
        columns.count_work(main, done)
        if measure <= max(enough, rough * begun) or done < DEPTH:
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
    u, first, size = x.copy(), np.zeros(1), _sizes(gram, g)
    epochs = kernel(loops.gram_epochs)
    total, rounds = 0, SWEEPS
    measure, begun = math.inf, 0.0
    while total < GRAM_EPOCHS:
        look()
        held = _held(u, g)
        done, measure = epochs(gram, slope, g.start, size, g.c, g.lo, g.hi, u, rounds, enough, first)
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


def _sizes(gram: Array, g: Coordinates) -> Array:
    """The largest eigenvalues of the blocks of groups, or for long ones their traces."""
    diagonal = np.einsum("ii->i", gram)
    if g.alone:
        return np.array(diagonal)
    sizes: Array = np.add.reduceat(diagonal, g.start[:-1])
    for i, (first, stop) in enumerate(pairwise(g.start)):
        if 1 < stop - first <= LONGEST_GROUP:
            sizes[i] = min(sizes[i], (1.0 + 1e-12) * float(np.linalg.eigvalsh(gram[first:stop, first:stop])[-1]))
    return sizes


def _held(u: Array, g: Coordinates) -> Array:
    """The face of a point: 0 where an entry is held at a bound or a kink, else its sign, 2 where it may have any."""
    if g.alone:
        free = np.where(g.c > 0.0, np.sign(u), 2.0)
    else:
        lone = np.diff(g.start)[g.group] == 1
        here = g.lengths(u)[g.group] > 0.0
        free = np.where(g.rest == 0.0, 2.0, np.where(lone, np.sign(u), 2.0 * here))
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
    matrix = gram[np.ix_(free, free)]
    down = slope[free] + g.rest[free] * sign
    bent = matrix.copy()
    # a hair of damping where columns repeat: the step is only a trial
    bent[np.diag_indices_from(bent)] *= 1.0 + 1e-13
    if not g.alone:
        _bend(bent, down, u, g, free)
    try:
        d = np.linalg.solve(bent, -down)
    except np.linalg.LinAlgError:
        return
    if not np.all(np.isfinite(d)):
        return
    lo, hi = np.where(sign > 0.0, np.maximum(g.lo[free], 0.0), g.lo[free]), g.hi[free]
    hi = np.where(sign < 0.0, np.minimum(hi, 0.0), hi)

    def falls(new: Array) -> bool:
        """Whether the model is less where the free entries are new."""
        step, moved = new - here, u.copy()
        moved[free] = new
        change = float(slope[free] @ step) + 0.5 * float(step @ (matrix @ step))
        return bool(change + float(g.c @ (g.lengths(moved) - g.lengths(u))) < 0.0)

    new = np.clip(here + d, lo, hi)
    if not falls(new):
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(d > 0.0, (hi - here) / d, np.where(d < 0.0, (lo - here) / d, math.inf))
        length = min(1.0, float(room.min())) if g.alone else 0.5 * min(1.0, float(room.min()))
        new = np.clip(here + length * d, lo, hi)
        first = room <= length
        new[first] = np.where(d > 0.0, hi, lo)[first]
        if not falls(new):
            return
    u[free] = new
    slope += gram[:, free] @ (new - here)


def _bend(matrix: Array, down: Array, u: Array, g: Coordinates, free: Indices) -> None:
    """Add slope and second derivative of c |x_g| for the groups of several coordinates that are not zero, which are free as a whole."""
    lengths, of = g.lengths(u), g.group[free]
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    for first, stop in pairwise([*starts.tolist(), free.size]):
        at = of[first]
        if g.start[at + 1] - g.start[at] == 1 or g.c[at] == 0.0:
            continue
        unit = u[free[first:stop]] / lengths[at]
        down[first:stop] += g.c[at] * unit
        matrix[first:stop, first:stop] += g.c[at] / lengths[at] * (np.eye(stop - first) - np.outer(unit, unit))
