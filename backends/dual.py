"""Repairs of a method's dual point, so that the verifier can use it.

Weak duality needs v = -(q + K'y) in the domain of each block's g_B^*. Two repairs, each staying in the domain of the f_i^*:

* *equalities* (free variables, active signs): y moves along W E' lambda with E W E' lambda = miss, where E are the rows of K' whose
  equality is missed and W the distance of y to the ends of its interval, so entries at an end stay (one Newton step on the equality
  in the affine-scaling metric). Losses of rows have no intervals: where y_i + w_i e_{label} = w_i p with p in the simplex, W is
  w_i (diag(p) - p p'), which keeps the sum; where the entries but the label's own are in intervals, W is theirs, and the label's
  entry makes up for their sum. Where the eigenvalues of a matrix are in intervals, W is theirs in the coordinates of the eigenvectors;
* *equalities that no step within the ends meets*, as where more are missed than y has entries between its ends: W lets entries at an end move too,
  and all of y shrinks until it is between its ends again, which keeps equalities without a cost;
* *coordinates that a dual entry of their own makes up for* (`PreparedProblem.absorbing`) need no system: that entry is what the others leave, where
  the ends of its interval are far;
* *cones whose domain v is just outside of* (`step_inside`): y moves along K D^-1 m, m what v misses and D the squares of columns;
* *scaling* (penalties): the f_i^* are finite at 0, so s y with the largest s in [0, 1] that fits is dual feasible.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.matrices import Eigen, Lines
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.atoms.vectors.support import Support
from fwdsl.backends.dual_step import Balanced, DiagonalMetric, Metric, SimplexMetric, TurnedMetric, least_move
from fwdsl.backends.functions import FastVector, dual_interval
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.parts import Block

ROUNDING = 8.0 * float(np.finfo(np.float64).eps)
"""The share of the sizes of its terms by which an equality may be missed, as `fwdsl.certify.verify` has it."""

NEWTON_STEPS, HALVES = 20, 60
"""Most steps to the boundary of a domain, and halvings where they do not lead there."""

BEYOND = 1e-9
"""The share of a step into a domain that is added to it, for what rounding takes away."""

FITTED = 1e-12
"""The share of what x = 0 has beyond the least value at which targets are fitted: the square of a relative residual of 1e-6. The slopes of the losses
are then next to rounding, and y = 0 is the dual point."""

ROUNDS = 4
"""Corrections of a dual point, each for what the one before left."""

STUCK = 0.5
"""The factor by which a correction has to lessen what is missed for there to be another one, where there is another way to meet the equalities."""

HIDDEN, WHOLE = 1e-11, 1.0 - 1e-7
"""The mean share of its terms' sizes that a coordinate may miss the domain of a penalty by, and the factor that scaling would leave of y, where a
step leads there and not scaling."""

SMALL = 0.1
"""The share of the way to the end of its interval that an entry of y may move to make up for what is missed."""

ROOM = 0.1
"""The share of its box that an entry at an end may count as its distance from it, where all of y shrinks afterwards."""


def least_bound(problem: PreparedProblem) -> tuple[float, float]:
    """(D(0), what x = 0 has beyond it): the sum of the least values of all terms, -inf where linear costs may leave none."""
    if problem.q.any():
        return -math.inf, 0.0
    none = np.zeros(problem.size)
    found = dual_value(problem, [np.zeros(t.map.rows) for t in problem.terms], none)
    return found, problem.canonical.constant + problem.losses_value(problem.forward(none)) - found


def dual_value(problem: PreparedProblem, ys: Sequence[Array], kty: Array) -> float:
    """D(y), with each block's v taken to the nearest point of its domain: a bound only where v is in it, else optimistic."""
    v = -(problem.q + kty)
    total = problem.canonical.constant - problem.conjugates(ys)
    for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
        vb = v[block.slice]
        value = g.conjugate(vb)
        total -= value if math.isfinite(value) else g.conjugate(g.f.dual_project(vb))
    return total


def feasible_scale(
    problem: PreparedProblem, kty: Array, past_cones: bool = False, but: Set[str] = frozenset()
) -> float:
    """The largest s in [0, 1] with -(q + s K'y) in the domain of every block that scaling can bring there; 0 where it is a cone, or q is in the way.

    With `past_cones` those into which no other factor than 0 leads do not count, nor do the blocks named in `but`.
    """
    s = 1.0
    for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
        if block.name in but:
            continue
        qb, kb = problem.q[block.slice], kty[block.slice]
        # a ridge makes the domain everything
        if g.f.curvature > 0.0 or math.isfinite(g.conjugate(-(qb + s * kb))):
            continue
        if not qb.any():
            own = g.f.dual_scale(-kb)
            s = s if past_cones and own == 0.0 else min(s, own)
            continue
        if not math.isfinite(g.conjugate(-qb)):
            return 0.0
        s = _largest_inside(g, -qb, -kb, s)
    return s


def _largest_inside(g: FastVector, at: Array, along: Array, most: float) -> float:
    """The largest s in [0, most] with at + s along in the domain of g*, `at` being in it: to rounding, and never beyond it.

    Newton steps on the distance from the domain, which is convex in s, fall to the boundary from outside; what rounding hides of it is left out
    afterwards. Where they do not, as the nearest point is not known well enough, halving does.
    """

    def inside(s: float) -> bool:
        return math.isfinite(g.conjugate(at + s * along))

    if inside(most):
        return most
    hi = most
    for _ in range(NEWTON_STEPS):
        v = at + hi * along
        missed = v - g.f.dual_project(v)
        slope = float(missed @ along)
        if not slope > 0.0:
            break
        before, hi = hi, hi - float(missed @ missed) / slope
        if not 1e-12 * before < before - hi < before:
            break
    for share in (0.0, *(2.0**-k for k in range(50, 20, -6))):
        if 0.0 < hi <= most and inside(hi * (1.0 - share)):
            return hi * (1.0 - share)
    lo, hi = 0.0, most
    for _ in range(HALVES):
        mid = 0.5 * (lo + hi)
        lo, hi = (mid, hi) if inside(mid) else (lo, mid)
    return lo


def repair(
    problem: PreparedProblem,
    ys: Sequence[Array],
    x: Array,
    stop: Callable[[], bool] = lambda: False,
    interior: bool = False,
) -> list[Array]:
    """A dual point near `ys` that meets the equalities of free and cone blocks, then scaled where penalties need it.

    With `interior` those of bounded blocks too, in the coordinates of x that no bound holds: there an optimal v is 0. Once `stop()` is true it
    ends with what it has, which is no worse a dual point than the one given.
    """
    shrinks = not interior and _shrinks(problem)
    moved, missed = list(ys), math.inf
    if not (shrinks and _has_few_live(problem, ys)):
        moved, missed = _moved(problem, ys, x, stop, interior, spares=shrinks)
    if missed and shrinks and not stop():
        shrunk, left = _moved(problem, ys, x, stop, interior, shrinks=True)
        if left < missed:
            s = min(_shrinkage(t.f, y, boxes=True) for t, y in zip(problem.terms, shrunk, strict=True))
            moved = [s * y for y in shrunk]
    ys = moved
    kty = problem.adjoint(ys)
    # where a step left a ball, all of y shrinks, which keeps the equalities as far as scaling does
    s = min((_shrinkage(t.f, y) for t, y in zip(problem.terms, ys, strict=True)), default=1.0)
    # of what is met to rounding scaling would leave little of y, and the verifier takes it as it is
    met = frozenset(
        block.name
        for block, missed in _hidden_penalties(problem, ys, kty)
        if _is_rounding(problem, ys, block.start + np.flatnonzero(missed), missed[missed != 0.0], shrinks=False)
    )
    s *= feasible_scale(problem, s * kty, past_cones=True, but=met)
    # scaling keeps an equality K'y = -q only where q = 0; q on a free block is therefore never scaled past
    if 0.0 < s < 1.0 and not any(
        problem.q[b.slice].any() for b in problem.canonical.blocks if b.g.pair == (None, None)
    ):
        ys = [s * y for y in ys]
    return ys


def _shrinks(problem: PreparedProblem) -> bool:
    """True if s y, with 0 < s <= 1, meets the equalities that y meets, and some multipliers are between two ends, where a small enough s leads."""
    return (
        not problem.q.any()
        and any(_is_narrow(t.f) for t in problem.terms)
        and math.isfinite(problem.conjugates([np.zeros(t.map.rows) for t in problem.terms]))
    )


def _has_few_live(problem: PreparedProblem, ys: Sequence[Array]) -> bool:
    """True if fewer entries of y are between their ends than free variables have equalities, which no step of those entries alone then meets."""
    live = 0
    for term, y in zip(problem.terms, ys, strict=True):
        interval = dual_interval(term.f)
        live += y.size if interval is None else int(np.count_nonzero((interval[0] < y) & (y < interval[1])))
    return live < sum(b.size for b in problem.canonical.blocks if b.g.pair == (None, None))


def _is_narrow(f: LossFunction | VectorLossFunction | VectorFunction) -> bool:
    """True if the domain of f* is a box with finite ends."""
    interval = dual_interval(f)
    return interval is not None and all(np.all(np.isfinite(end)) for end in interval)


def _moved(
    problem: PreparedProblem,
    ys: Sequence[Array],
    x: Array,
    stop: Callable[[], bool],
    interior: bool,
    shrinks: bool = False,
    spares: bool = False,
) -> tuple[list[Array], float]:
    """The dual point after a few steps towards the equalities, and the most that it misses one by where there is no way nearer, inf where no step led
    anywhere; else 0.

    A step that `shrinks` may leave the boxes, into which scaling leads back; one that `spares` has no large decomposition for dependent equalities.
    """
    ys, least = [y.copy() for y in ys], math.inf
    kty = problem.adjoint(ys)
    for _ in range(ROUNDS):
        sizes = _sizes(problem, ys)
        wanted, miss = _misses(problem, kty, x, sizes, interior)
        if not wanted.size:
            return ys, 0.0
        alone = _makes_up(problem, ys, wanted, miss)
        # what single entries of y make up for takes no system
        if (stop() and not alone.all()) or _is_rounding(problem, ys, wanted, miss, shrinks):
            return ys, 0.0
        size = float(np.abs(miss).max())
        if (shrinks or spares) and not size < STUCK * least:
            return ys, size
        before, least = least, size
        if not alone.all() and not _correct(problem, ys, wanted[~alone], miss[~alone], stop, shrinks, spares):
            return ys, size if before < math.inf else math.inf
        if alone.any():
            if not alone.all():
                wanted, miss = _misses(problem, problem.adjoint(ys), x, sizes, interior)
                alone = _makes_up(problem, ys, wanted, miss)
            _absorb(problem, ys, wanted[alone], miss[alone])
        kty = problem.adjoint(ys)
    return ys, 0.0


def step_inside(problem: PreparedProblem, ys: Sequence[Array]) -> list[Array] | None:
    """y + t K D^-1 m with D = diag(K'K) and the least t that brings v into the cones that it misses by m; None where no step does.

    Two passes, where a repair solves a system of equations. v moves by t K'K D^-1 m, on the support too: enough where little is missed. Where no
    columns oppose each other, as in data of one sign, t is at most 1.
    """
    v = -(problem.q + problem.adjoint(ys))
    miss = np.zeros(problem.size)
    for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
        vb = v[block.slice]
        if not math.isfinite(g.conjugate(vb)):
            if g.f.pair == (None, None) or g.f.coercive() is not None:
                return None
            miss[block.slice] = vb - g.f.dual_project(vb)
    at = np.flatnonzero(miss)
    squares = problem.column_squares
    if not at.size or not np.all(squares[at] > 0.0):
        return None
    miss[at] /= squares[at]
    along = problem.linear(miss)
    fall = problem.adjoint(along)
    if not np.all(miss[at] * fall[at] > 0.0):
        return None
    t = float((squares[at] * miss[at] / fall[at]).max()) * (1.0 + BEYOND)
    v -= t * fall
    moved = [y + t * step for y, step in zip(ys, along, strict=True)]
    finite = math.isfinite(problem.conjugates(moved)) and all(
        math.isfinite(g.conjugate(v[b.slice])) for b, g in zip(problem.canonical.blocks, problem.g, strict=True)
    )
    return moved if finite else None


def _makes_up(
    problem: PreparedProblem, ys: Sequence[Array], wanted: NDArray[np.intp], miss: Array
) -> NDArray[np.bool_]:
    """True of each wanted coordinate that an entry of y makes up for, in a small share of the way to the ends of its interval."""
    missed, found = np.zeros(problem.size), np.zeros(problem.size, dtype=np.bool_)
    missed[wanted] = np.abs(miss)
    for k, rows, columns, coefficients in problem.absorbing:
        interval = dual_interval(problem.terms[k].f)
        assert interval is not None
        y = ys[k][rows]
        room = np.minimum(y - interval[0][rows], interval[1][rows] - y)
        found[columns] = missed[columns] <= SMALL * np.abs(coefficients) * room
    return found[wanted]


def _absorb(problem: PreparedProblem, ys: list[Array], wanted: NDArray[np.intp], miss: Array) -> None:
    """Move the entries of y that make up for what is missed, in place: v falls by what K'y grows."""
    missed = np.zeros(problem.size)
    missed[wanted] = miss
    for k, rows, columns, coefficients in problem.absorbing:
        ys[k][rows] += missed[columns] / coefficients


def _misses(
    problem: PreparedProblem, kty: Array, x: Array, sizes: dict[str, float], interior: bool
) -> tuple[NDArray[np.intp], Array]:
    """Coordinates whose dual equality is to hold, and by how much v misses it there.

    For a free block every coordinate; for a cone (nonnegative, half-infinite boxes) those outside and those in the support,
    whose multiplier must vanish. Of the support those count where x is larger than v, each beside its mean size: a point of the interior has
    entries of x everywhere, of which most are on their way to 0. Domains that scaling reaches (balls of penalties) are left to
    it, but where what is missed is rounding.
    """
    index, miss = [], []
    v = -(problem.q + kty)
    for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
        vb = v[block.slice]
        if interior and g.f.entrywise and math.isfinite(g.f.radius()):
            face = g.f.face(x[block.slice])
            at = face.free if face is not None and not face.slope.any() else np.zeros(0, dtype=np.intp)
            index.append(block.start + at)
            miss.append(vb[at])
            continue
        if math.isfinite(g.conjugate(vb)):
            continue
        target = g.f.dual_project(vb)
        outside = vb != target
        if g.f.coercive() is not None:
            if _is_hidden(problem, block, g, vb - target, kty, sizes):
                at = np.flatnonzero(outside)
                index.append(block.start + at)
                miss.append(vb[at] - target[at])
            continue
        if g.f.pair != (None, None):
            face = g.f.face(x[block.slice])
            if face is not None and not face.normals.size:
                size = np.abs(x[block.slice])
                outside[face.free] |= (np.abs(vb) * size.sum() <= sizes[block.name] * size)[face.free]
            if g.f.polyhedral and g.f.entrywise:
                target = np.where(outside, 0.0, target)
        at = np.flatnonzero(outside)
        index.append(block.start + at)
        miss.append(vb[at] - target[at])
    if not index:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    return np.concatenate(index), np.concatenate(miss)


def _is_hidden(
    problem: PreparedProblem, block: Block, g: FastVector, missed: Array, kty: Array, sizes: dict[str, float]
) -> bool:
    """True if a penalty is so small beside the terms of K'y that the rounding of y leaves its domain: scaling may then leave little of y."""
    largest_miss = float(np.abs(missed).max(initial=0.0))
    if problem.q[block.slice].any() or largest_miss * block.size > HIDDEN * sizes[block.name]:
        return False
    return g.f.dual_scale(-kty[block.slice]) < WHOLE


def may_hide_penalties(problem: PreparedProblem, ys: Sequence[Array]) -> bool:
    """True if a penalty is so small beside the terms of K'y that rounding may hide it: what costs no product tells it of most that it does not."""
    small = [(b, found[0]) for b in problem.canonical.blocks if (found := b.g.coercive()) and b.g.curvature == 0.0]
    if not small:
        return False
    sizes = _sizes(problem, ys)
    return any(c * (1.0 - WHOLE) <= HIDDEN * sizes[b.name] for b, c in small)


def has_hidden_penalties(problem: PreparedProblem, ys: Sequence[Array]) -> bool:
    """True if y misses the domain of a penalty by rounding alone: a repair then moves y, where a method of its own would scale it."""
    return any(True for _ in _hidden_penalties(problem, ys, problem.adjoint(ys)))


def _hidden_penalties(problem: PreparedProblem, ys: Sequence[Array], kty: Array) -> Iterator[tuple[Block, Array]]:
    """The blocks of such penalties, with what v misses their domains by."""
    v, sizes = -(problem.q + kty), None
    for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
        vb = v[block.slice]
        if g.f.coercive() is None or math.isfinite(g.conjugate(vb)):
            continue
        sizes, missed = _sizes(problem, ys) if sizes is None else sizes, vb - g.f.dual_project(vb)
        if _is_hidden(problem, block, g, missed, kty, sizes):
            yield block, missed


def _is_rounding(
    problem: PreparedProblem, ys: list[Array], wanted: NDArray[np.intp], miss: Array, shrinks: bool
) -> bool:
    """True if the verifier takes the equalities for met: y is in the domains, and what is missed is rounding."""
    # all sizes together, which need no product
    total = sum(_sizes(problem, ys).values())
    largest = float(np.abs(miss).max(initial=0.0))
    return (
        largest <= ROUNDING * total and _within(problem, ys, shrinks) and missed_by_rounding(problem, ys, wanted, miss)
    )


def missed_by_rounding(problem: PreparedProblem, ys: list[Array], wanted: NDArray[np.intp], miss: Array) -> bool:
    """True if the wanted entries of q + K'y are 0 but for a miss of no more than ROUNDING of the sizes of their terms."""
    sizes = np.abs(problem.q)
    for term, y in zip(problem.terms, ys, strict=True):
        for block, m in term.map.parts:
            # nothing is asked of the other blocks, and the sizes of data take a product with them
            if np.any((wanted >= block.start) & (wanted < block.stop)):
                sizes[block.slice] += m.absolute().adjoint_over(np.abs(y), term.map.leaves)
    return bool(np.all(np.abs(miss) <= ROUNDING * sizes[wanted]))


def _correct(
    problem: PreparedProblem,
    ys: list[Array],
    wanted: NDArray[np.intp],
    miss: Array,
    stop: Callable[[], bool],
    shrinks: bool,
    spares: bool,
) -> bool:
    """One step of y towards v[wanted] -= miss, in place; False where there is nowhere to go."""
    wanted, miss = _without_mirrors(problem, wanted, miss)
    most = _largest_needed(problem, ys)
    metrics = [_metric(t.f, y, m, shrinks) for t, y, m in zip(problem.terms, ys, most, strict=True)]
    return move(problem, ys, metrics, wanted, miss, stop, shrinks, spares)


def _without_mirrors(problem: PreparedProblem, wanted: NDArray[np.intp], miss: Array) -> tuple[NDArray[np.intp], Array]:
    """The wanted coordinates but the mirrors of others in symmetric matrices, whose equalities are the same."""
    place = np.arange(problem.size)
    for block in problem.canonical.blocks:
        if block.symmetric:
            whole = place[block.slice].reshape(-1, *block.shape[-2:])
            place[block.slice] = np.minimum(whole, whole.swapaxes(-1, -2)).reshape(-1)
    _, first = np.unique(place[wanted], return_index=True)
    return (wanted, miss) if first.size == wanted.size else (wanted[first], miss[first])


def _within(problem: PreparedProblem, ys: Sequence[Array], shrinks: bool) -> bool:
    """True if y is in the domains of all conjugates, or leaves balls alone, into which scaling leads; with `shrinks`, or boxes."""
    return math.isfinite(problem.conjugates(ys)) or all(
        _shrinkage(t.f, y, shrinks) < 1.0 or math.isfinite(t.f.conjugate(y))
        for t, y in zip(problem.terms, ys, strict=True)
    )


def _sizes(problem: PreparedProblem, ys: Sequence[Array]) -> dict[str, float]:
    """The sums of the sizes of the terms of q + K'y, by the name of the block."""
    totals = {b.name: float(np.abs(problem.q[b.slice]).sum()) for b in problem.canonical.blocks}
    for term, y, rows in zip(problem.terms, ys, problem.row_sums, strict=True):
        for b, row in rows:
            totals[b.name] += term.dot(np.abs(y), row)
    return totals


def _largest_needed(problem: PreparedProblem, ys: Sequence[Array]) -> list[Array]:
    """The size of each entry of y beyond which it would outweigh everything else that makes up K'y + q; inf where it enters nothing."""
    totals = _sizes(problem, ys)
    found = []
    for y, rows in zip(ys, problem.row_sums, strict=True):
        most = np.zeros(y.size)
        for b, row in rows:
            most = np.maximum(most, np.divide(totals[b.name], row, out=np.zeros(y.size), where=row > 0.0))
        found.append(np.where(most > 0.0, most, math.inf))
    return found


def move(
    problem: PreparedProblem,
    ys: list[Array],
    metrics: Sequence[Metric],
    wanted: NDArray[np.intp],
    miss: Array,
    stop: Callable[[], bool],
    shrinks: bool = False,
    spares: bool = False,
) -> bool:
    """The step W E' lambda of y, in place, with E W E' lambda = miss, W the metrics; False where it leads nowhere.

    With `shrinks` it may leave boxes with finite ends.
    """
    steps = least_move(problem, metrics, wanted, miss, stop, spares)
    if steps is None or not all(np.all(np.isfinite(step)) for step in steps):
        return False
    changed = False
    for k, step in enumerate(steps):
        new = ys[k] + step
        f = problem.terms[k].f
        interval = dual_interval(f)
        if isinstance(f, VectorLossFunction):
            new = f.into_domain(new)
        elif interval is not None:
            new = new if shrinks and _is_narrow(f) else np.clip(new, *interval)
        elif isinstance(f, VectorFunction) and not _is_ball(f):
            new = f.dual_project(new)
        changed = changed or bool(np.any(new != ys[k]))
        ys[k] = new
    return changed


def _is_ball(f: LossFunction | VectorLossFunction | VectorFunction) -> bool:
    """True if the domain of f* is a ball about 0 that is no box: of a norm, which scaling then leads back into it."""
    return isinstance(f, VectorFunction) and f.coercive() is not None and dual_interval(f) is None


def _shrinkage(f: LossFunction | VectorLossFunction | VectorFunction, y: Array, boxes: bool = False) -> float:
    """The factor that brings y back into such a ball, or with `boxes` into a box with finite ends; 1 elsewhere."""
    if boxes and _is_narrow(f):
        interval = dual_interval(f)
        assert interval is not None
        ends = np.where(y < 0.0, *interval)
        beyond = np.abs(y) > np.abs(ends)
        return float(np.min(ends[beyond] / y[beyond], initial=1.0))
    return f.dual_scale(y) if isinstance(f, VectorFunction) and _is_ball(f) else 1.0


def _metric(
    f: LossFunction | VectorLossFunction | VectorFunction, y: Array, most: Array, shrinks: bool = False
) -> Metric:
    """Distance of y to the ends of its domain times the size of the domain; where it has none, the size of y.

    Squares of y's unit, so that terms in other units share a correction as they would in one. Ends farther away than `most` are as good as
    none: the metric of a large weight would leave nothing to the other terms but rounding.
    """
    if isinstance(f, VectorLossFunction):
        return _metric_of_rows(f, y)
    if isinstance(f, Support):
        return SimplexMetric(f.room(y)[None, :])
    if isinstance(f, Lines) and isinstance(f.inner, Support):
        return SimplexMetric(np.array([f.inner.room(line) for line in f.lines(y)]))
    interval = dual_interval(f)
    unit = float(np.abs(y).max(initial=0.0)) or 1.0
    if interval is None and isinstance(f, Eigen):
        return _metric_of_eigenvalues(f, y, most)
    if interval is None:
        return DiagonalMetric(np.full(y.size, unit * unit))
    lo, hi = interval
    slack, width = np.minimum(y - lo, hi - y), hi - lo
    if shrinks and _is_narrow(f):
        slack = np.maximum(slack, ROOM * width)
    slack = np.where(np.isfinite(slack), np.clip(slack, 0.0, most), unit)
    return DiagonalMetric(slack * np.where(np.isfinite(width), np.minimum(width, most), unit))


def _metric_of_eigenvalues(f: Eigen, y: Array, most: Array) -> Metric:
    """The metric of the eigenvalues of y, where their domain is a box.

    An entry beside two eigenvectors has the mean of their distances: y may turn where it is at an end, which it then leaves by a square alone.
    """
    unit = float(np.abs(y).max(initial=0.0)) or 1.0
    if dual_interval(f.inner) is None or not y.size or not np.isfinite(y).all():
        return DiagonalMetric(np.full(y.size, unit * unit))
    n = f.shape[0]
    part = y.reshape(n, n)
    values, vectors = np.linalg.eigh(0.5 * (part + part.T))
    own = _metric(f.inner, values, np.full(n, float(most.min(initial=math.inf))))
    assert isinstance(own, DiagonalMetric)
    return TurnedMetric(0.5 * (own.slack[:, None] + own.slack), vectors)


def _metric_of_rows(f: VectorLossFunction, y: Array) -> Metric:
    u, at = f.into_domain(y).reshape(f.shape), np.arange(f.y.size)
    if f.loss.boxed_dual:
        slack = np.maximum(np.minimum(u, f.w[:, None] - u), 0.0) * f.w[:, None]
        slack[at, f.y] = 0.0
        return Balanced(slack, f.y)
    mass = u.copy()
    mass[at, f.y] += f.w
    return SimplexMetric(np.maximum(mass, 0.0) * f.w[:, None])
