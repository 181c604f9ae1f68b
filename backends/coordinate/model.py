"""Minimising a quadratic model of the smooth part, with the nonsmooth part as it is, over a working set of coordinates.

    minimise over u   <y, K (u - x)> + (K (u - x))' diag(h) (K (u - x)) / 2 + sum_j (q_j u_j + ridge_j u_j^2 / 2) + sum_g c_g |u_g|,   lo <= u <= hi

For a matrix u it is the same for each of its columns, the tasks, with one h.

With the residual: columns times sqrt(h), so that r = y / sqrt(h) + sqrt(h) K (u - x) is all that changes, and Anderson's extrapolation of
the epochs (Bertrand, Massias 2021). With the Gram matrix K'diag(h) K of the working set: epochs at a cost of the coordinates that move, and Newton
steps on those that are between their bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.active_set import Quadratic, descended
from fwdsl.backends.coordinate import loops
from fwdsl.backends.coordinate.columns import LONGEST_GROUP, Columns
from fwdsl.backends.coordinate.coordinates import Coordinates, Indices
from fwdsl.backends.factors import block_of
from fwdsl.backends.kernels.compile import kernel
from fwdsl.light_dataclass import light_dataclass

DEPTH = 5
"""Epochs between two extrapolations, which combine so many."""

RESIDUAL_EPOCHS = 100
GRAM_EPOCHS = 400
"""Most epochs in the solution of one model."""

SWEEPS = 5
"""Epochs on the Gram matrix between two Newton steps."""

HALVES = 50
"""Halvings of a Newton step's length, which may be 1e-13 of the whole step where columns repeat."""

KINKS = 20
"""Newton steps in a row, each of which takes a group to zero: an epoch between would let it in again."""

PATIENCE, BEYOND = 20, 1.25
"""Epochs on a box before an active set takes over, which ends whatever the condition; and the multiple of the columns that may be independent beyond
which it does at once: Newton steps on a singular Gram matrix lead nowhere."""

EXCUSED = 10.0
"""The multiple of the asked measure that the slopes that an active set leaves may have together: the next working set is another."""

NEWTON_SIZE = 1_500
"""Free coordinates up to which Newton steps are tried."""

NEWTON_TASKS = 400
"""The same for matrices, whose epochs on the Gram matrix of one task cost less beside: extrapolated ones take over."""


@light_dataclass
class Solved:
    """The minimiser of a model as far as it was found, its epochs, the measures of violation of the first and the last of them, and its curvature
    along each group."""

    u: Array
    epochs: int
    first: float
    last: float
    size: Array


def missed(slope: Array, x: Array, g: Coordinates, size: Array) -> float:
    """The measure of the violations of optimality at x, by a step of each coordinate from there; inf for groups, whose steps are together."""
    if not g.alone:
        return math.inf
    live = size > 0.0
    bend = np.where(live, size, 1.0)
    a = x - (slope + g.ridge * x) / bend
    new = np.copysign(np.maximum(np.abs(a) - g.c / bend, 0.0), a)
    new = np.clip(new, g.lo, g.hi) if g.has_ends else new
    rise = np.where(live, np.abs(new - x) * bend, 0.0)
    worst = np.divide(rise, g.c, out=np.zeros_like(rise), where=g.c > 0.0)
    lean = float(rise @ np.maximum(np.abs(new), np.abs(x)))
    return lean + float(worst.max(initial=0.0)) * float(g.c @ np.abs(new))


class OnColumns:
    """The model on coordinates `work` at x, by epochs over their columns. u is where it stands."""

    def __init__(
        self, columns: Columns, work: Indices, x: Array, g: Coordinates, y: Array, h: Array, rough: float,
        look: Callable[[], None],
    ) -> None:  # fmt: skip
        self.columns, self.main, self.look, self.rough = columns, columns.main(work), look, rough
        squares = None
        least = float(h.min(initial=math.inf))
        if h.size and least == h.max():
            # K'y and K'hK from A and r = y / (h c) as they are
            self.stored, self.cols = columns.stored(self.main)
            self.scale, self.r = least * columns.factor**2, columns.split(y / (least * columns.factor))
            self.extra = columns.extra / columns.factor
        else:
            root, rows = np.sqrt(h[:: columns.tasks]), columns.split(y)
            self.stored, self.cols, squares = columns.weighted(self.main, root)
            self.scale, self.extra = 1.0, columns.extra * root
            self.r = rows / root if least > 0.0 else np.divide(rows, root, out=np.zeros_like(rows), where=root > 0.0)
        size = self.scale * columns.sizes(self.stored, self.cols, self.extra, g.start, squares)
        if g.has_ridge:
            size += g.ridge[g.start[:-1]]
        self.size = size if np.isfinite(size).all() else np.where(np.isfinite(size), size, 0.0)
        self.each, self.tasks = np.repeat(self.cols, columns.tasks), columns.task_of(x.size)
        self.u = x.copy()
        self.first = x, self.r.copy()

    def reset(self) -> None:
        """Put the point and what is kept of it back to where the model was made."""
        self.u, self.r = self.first[0].copy(), self.first[1].copy()

    def square(self) -> float | None:
        """|sqrt(h) K (u - x) + y / sqrt(h)|^2 / 2, which is the model without penalties but for a constant, and at least 0."""
        return 0.5 * self.scale * float(np.vdot(self.r, self.r))

    def solve(self, g: Coordinates, enough: float) -> Solved:
        """Epochs from u until the measure is `enough`, or `rough` times its first value."""
        columns, scale, first, trail = self.columns, self.scale, np.zeros(1), np.empty((DEPTH + 2, self.u.size))
        # the last row is the loops' own
        trail, own = trail[:-1], trail[-1]
        total, measure, begun, rough = 0, math.inf, 0.0, self.rough
        while total < RESIDUAL_EPOCHS:
            self.look()
            trail[0] = self.u
            of_columns = self.stored, self.each, self.tasks, self.extra, self.r, scale, g.q
            ends = g.ridge, g.lo, g.hi, self.u, DEPTH, enough, rough, trail[1:], first, own
            if g.alone:
                done, measure = columns.residual_entry_epochs(*of_columns, self.size, g.c, *ends)
            else:
                done, measure = columns.residual_epochs(*of_columns, g.start, self.size, g.c, g.thin, *ends)
            if not total:
                begun, rough = float(first[0]), 0.0
                enough = max(enough, self.rough * begun)
            total += done
            columns.count_work(self.main, done)
            if measure <= enough or done < DEPTH:
                break
            ahead = extrapolated(trail)
            if ahead is None:
                continue
            ahead = np.clip(ahead, g.lo, g.hi)
            residual = self.r.copy()
            columns.add(self.stored, self.cols, self.extra, ahead - self.u, residual)
            columns.count_work(self.main)
            fall = 0.5 * scale * (float(np.vdot(residual, residual)) - float(np.vdot(self.r, self.r)))
            if fall + g.penalty(ahead) - g.penalty(self.u) < 0.0:
                self.u, self.r = ahead, residual
        return Solved(self.u, total, begun, measure, self.size)


def extrapolated(trail: Array) -> Array | None:
    """The combination of the last points whose differences cancel best, weights adding up to 1; None where they cannot be told apart."""
    steps = trail[1:] - trail[:-1]
    gram = steps @ steps.T
    diagonal = gram.reshape(-1)[:: len(gram) + 1]
    trace = float(diagonal.sum())
    if not 0.0 < trace < math.inf:
        return None
    diagonal += 1e-12 * trace
    try:
        weights = np.linalg.solve(gram, np.ones(len(gram)))
    except np.linalg.LinAlgError:
        return None
    total = float(weights.sum())
    return (weights / total) @ trail[1:] if total != 0.0 and math.isfinite(total) else None


@light_dataclass
class Box:
    """The facts that an active set is told about a model on a box: what rounding makes of its slopes, and the columns that may be independent."""

    noise: Array
    independent: int


class OnGram:
    """The model by the Gram matrix of a task, ridges on the diagonal, and its slope at x (ridges included). u is where it stands."""

    def __init__(
        self, gram: Array, slope: Array, x: Array, g: Coordinates, look: Callable[[], None], box: Box | None = None, rough: float = 0.0
    ) -> None:  # fmt: skip
        self.gram, self.look, self.u, self.box, self.rough = gram, look, x.copy(), box, rough
        self.size = _sizes(gram, g)
        self.slope = np.ascontiguousarray(slope.reshape(-1, g.tasks).T)
        self.at, self.tasks = np.divmod(np.arange(x.size), g.tasks)
        self.first = x, self.slope.copy()

    def reset(self) -> None:
        """Put the point and what is kept of it back to where the model was made."""
        self.u, self.slope = self.first[0].copy(), self.first[1].copy()

    def square(self) -> float | None:
        """None: the Gram matrix does not tell it."""
        return None

    def solve(self, g: Coordinates, enough: float) -> Solved:
        """Epochs and Newton steps from u until the measure is `enough`, or about `rough` times its first value; on a box an active set after some."""
        u, first, total, rounds = self.u, np.zeros(1), 0, SWEEPS
        measure, begun = math.inf, 0.0
        while total < GRAM_EPOCHS:
            self.look()
            if self.box is not None and (total >= PATIENCE or u.size > BEYOND * self.box.independent):
                found = self._descended(self.box, g, enough)
                if found is not None:
                    return found
            if g.tasks > 1 and np.count_nonzero(u) > NEWTON_TASKS:
                done, measure = self._extrapolated_epochs(g, enough, first)
                begun = begun if total else float(first[0])
                total += done
                if measure <= enough:
                    break
                continue
            held = face_of(u, g)
            done, measure = self._epochs(g, rounds, enough, first)
            begun = begun if total else float(first[0])
            total += done
            if measure <= max(enough, self.rough * begun):
                break
            steady = np.array_equal(held, face_of(u, g))
            # where the face still changes a solve is wasted; twice the epochs are dearer than one after all
            if steady or total >= 2 * SWEEPS:
                for _ in range(KINKS):
                    if not _newton(self.gram, self.slope, u, g):
                        break
                    self.look()
            rounds = SWEEPS if steady else min(2 * rounds, 40)
        return Solved(u, total, begun, measure, self.size)

    def _descended(self, box: Box, g: Coordinates, enough: float) -> Solved | None:
        """The minimum by an active set, but for slopes that rounding or `enough` excuses; None where it finds none.

        On one side of 0 a norm is a linear cost.
        """
        u, slope = self.u, self.slope[0]
        begun = missed(slope, u, replace(g, ridge=np.zeros(u.size)), self.size)
        noise = np.maximum(box.noise, np.sqrt(EXCUSED * enough / u.size * self.size))
        cost = np.where(g.lo >= 0.0, g.c, -g.c)
        places = np.where(u <= g.lo, -1, np.where(u >= g.hi, 1, 0)).astype(np.int8)
        quadratic = Quadratic(self.gram, -(slope + cost), self.look, noise=noise)
        found = descended(quadratic, g.lo - u, g.hi - u, places, box.independent)
        if found is None:
            return None
        end = np.where(found.places < 0, g.lo, np.where(found.places > 0, g.hi, u + found.x))
        u[:] = np.clip(end, g.lo, g.hi)
        slope[:] = found.grad - cost
        return Solved(u, 1, begun, enough, self.size)

    def _epochs(self, g: Coordinates, rounds: int, enough: float, first: Array) -> tuple[int, float]:
        if g.alone:
            done, measure = kernel(loops.entry_epochs)(
                self.gram, self.slope, self.at, self.tasks, self.size, g.c, g.lo, g.hi, self.u, rounds, enough, first
            )
            return int(done), float(measure)
        done, measure = kernel(loops.gram_epochs)(
            self.gram, self.slope, self.at, self.tasks, g.start, self.size, g.c, g.thin, g.lo, g.hi, self.u, rounds, enough,
            first, np.empty_like(self.u),
        )  # fmt: skip
        return int(done), float(measure)

    def _extrapolated_epochs(self, g: Coordinates, enough: float, first: Array) -> tuple[int, float]:
        """Some epochs, and their extrapolation; `first` gets the measure of the first one."""
        trail, own, measure = np.empty((DEPTH + 1, self.u.size)), np.zeros(1), 0.0
        for i in range(DEPTH):
            trail[i] = self.u
            _, measure = self._epochs(g, 1, enough, own)
            first[0] = measure if i == 0 else first[0]
        trail[DEPTH] = self.u
        if measure > enough:
            _ahead(self.gram, self.slope, self.u, g, trail)
        return DEPTH, measure


def _ahead(gram: Array, slope: Array, u: Array, g: Coordinates, trail: Array) -> None:
    """The extrapolation of the epochs, where the model falls. u and the slope there change in place."""
    ahead = extrapolated(trail)
    if ahead is None:
        return
    ahead = np.clip(ahead, g.lo, g.hi)
    step = (ahead - u).reshape(-1, g.tasks).T
    bent = step @ gram
    change = float(np.vdot(slope, step)) + 0.5 * float(np.vdot(step, bent))
    if change + g.norms(ahead) - g.norms(u) < 0.0:
        u[:] = ahead
        slope += bent


def _sizes(gram: Array, g: Coordinates) -> Array:
    """The largest eigenvalues of the blocks of groups, or for long ones their traces."""
    diagonal = np.einsum("ii->i", gram)
    if g.tasks > 1:
        # a group is an entry, or a row, whose columns are orthogonal
        return np.asarray(diagonal[g.start[:-1] // g.tasks])
    if g.alone:
        return np.array(diagonal)
    sizes: Array = np.add.reduceat(diagonal, g.start[:-1])
    lengths = np.diff(g.start)
    short = np.flatnonzero((lengths > 1) & (lengths <= LONGEST_GROUP))
    if short.size:
        # shorter groups fill their blocks with zeros
        step = np.arange(lengths[short].max())
        fills = step < lengths[short, None]
        at = np.where(fills, g.start[short, None] + step, 0)
        blocks = gram[at[:, :, None], at[:, None, :]] * (fills[:, :, None] & fills[:, None, :])
        sizes[short] = np.minimum(sizes[short], (1.0 + 1e-12) * np.linalg.eigvalsh(blocks)[:, -1])
    return sizes


def face_of(u: Array, g: Coordinates) -> Array:
    """The face of a point: 0 where an entry is held at a bound or a kink, else its sign, 2 where it may have any."""
    if g.alone:
        free = np.where(g.c > 0.0, np.sign(u), 2.0)
    else:
        lone = np.diff(g.start)[g.group] == 1
        here = g.lengths(u)[g.group] > 0.0
        kinked = lone | (g.thin[g.group] > 0.0)
        free = np.where(g.rest == 0.0, 2.0, np.where(kinked, np.sign(u), 2.0 * here))
    if not g.has_ends:
        return free
    held = (u <= g.lo) | (u >= g.hi)
    return np.where(held, 0.0, free) if held.any() else free


def _newton(gram: Array, slope: Array, u: Array, g: Coordinates) -> bool:
    """A Newton step on the face of u, its entries cut at bounds and kinks that they would cross, where the model falls; else up to the first one.

    u and the slope there change in place. Returns whether a group of several coordinates went to zero.
    """
    face = face_of(u, g)
    free = np.flatnonzero((face != 0.0) & (np.repeat(np.einsum("ii->i", gram), g.tasks) > 0.0))
    if not 0 < free.size <= NEWTON_SIZE:
        return False
    sign = np.where(face[free] == 2.0, 0.0, face[free])
    at, task = np.divmod(free, g.tasks)
    matrix = block_of(gram, at)
    if g.tasks > 1:
        matrix *= task[:, None] == task
    slopes = slope[task, at]
    d = _newton_direction(matrix, slopes + g.kinks[free] * sign, u, g, free)
    new = None if d is None else _newton_point(matrix, slopes, d, sign, u, g, free)
    if new is None:
        return False
    taken = new - u[free]
    u[free] = new
    if g.tasks == 1:
        slope[0] += gram[:, free] @ taken
    else:
        step = np.zeros_like(slope)
        step[task, at] = taken
        slope += step @ gram
    return not g.alone and not np.all(new)


def _newton_direction(matrix: Array, down: Array, u: Array, g: Coordinates, free: Indices) -> Array | None:
    """The step to the minimum of the model on a face, where it has the slope `down`, which may change; None where there is none."""
    bent = matrix.copy()
    # a hair of damping where columns repeat: the step is only a trial
    diagonal = np.einsum("ii->i", bent)
    diagonal *= 1.0 + 1e-13
    if not g.alone:
        _bend(bent, down, u, g, free)
    try:
        d: Array = np.asarray(np.linalg.solve(bent, -down))
    except np.linalg.LinAlgError:
        return None
    return d if np.isfinite(d).all() else None


def _newton_point(
    matrix: Array, slopes: Array, d: Array, sign: Array, u: Array, g: Coordinates, free: Indices
) -> Array | None:
    """The free entries after the step d, cut at bounds and kinks, or up to the first of these; None where the model falls at neither."""
    here = u[free]
    lo, hi = np.where(sign > 0.0, np.maximum(g.lo[free], 0.0), g.lo[free]), g.hi[free]
    hi = np.where(sign < 0.0, np.minimum(hi, 0.0), hi)

    def change_to(new: Array) -> float:
        """The change of the model where the free entries are new."""
        step, changed = new - here, u.copy()
        changed[free] = new
        change = float(slopes @ step) + 0.5 * float(step @ (matrix @ step))
        return change + g.norms(changed) - g.norms(u)

    new: Array = np.clip(here + d, lo, hi)
    if change_to(new) < 0.0:
        return new
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(d > 0.0, (hi - here) / d, np.where(d < 0.0, (lo - here) / d, math.inf))
    length = min(1.0, float(room.min()))
    # as far as the first bound or kink, and onto it
    new = np.clip(here + length * d, lo, hi)
    first = room <= length
    new[first] = np.where(d > 0.0, hi, lo)[first]
    if not g.alone:
        bend = float(d @ (matrix @ d))
        slope = float(slopes @ d) + float((g.thin[g.group[free]] * sign) @ d)
        longest = min(0.5, length) if g.is_thin else 0.5 * length
        points = _along(here, d, slope, bend, longest, g, free)
        new = min((*points, new) if g.is_thin else points, key=change_to)
    return new if change_to(new) < 0.0 else None


def _along(
    here: Array, d: Array, slope: float, bend: float, longest: float, g: Coordinates, free: Indices
) -> tuple[Array, Array]:
    """Two points along d: that where slope t + bend t^2 / 2 + sum_g c_g |x_g + t d_g| is least for t <= `longest`, and that at which the first group
    comes nearest to zero, with the group at zero.

    Columns that depend on each other make the model flat in directions that move weight from group to group. There only the penalty falls, up to a
    kink, and a whole Newton step leads far beyond.
    """
    of = g.group[free]
    starts = np.flatnonzero(np.diff(of, prepend=-1))
    group = np.repeat(np.arange(starts.size), np.diff([*starts.tolist(), free.size]))
    c = g.rest[free[starts]]

    def falls_at(t: float) -> bool:
        x = here + t * d
        length = np.sqrt(np.add.reduceat(np.square(x), starts))
        turn = np.divide(np.add.reduceat(x * d, starts), length, out=np.zeros_like(length), where=length > 0.0)
        return slope + t * bend + float(c @ turn) < 0.0

    low, high = 0.0, longest
    for _ in range(HALVES):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if falls_at(middle) else (low, middle)
    way, square = np.add.reduceat(here * d, starts), np.add.reduceat(np.square(d), starts)
    with np.errstate(divide="ignore", invalid="ignore"):
        nearest = np.where((way < 0.0) & (c > 0.0), -way / square, math.inf)
    first = float(nearest.min(initial=math.inf))
    if not first <= longest:
        first = low
    return here + low * d, np.where((nearest <= first)[group], 0.0, here + first * d)


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
