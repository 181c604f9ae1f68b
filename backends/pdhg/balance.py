"""Diagonal scaling of a saddle problem: scales of the unknowns and of the rows of the terms that bring |K| to about one."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.atoms.vectors.common import largest, norm2
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.parts import Block, SumTerm

POWER_STEPS = 12
RUIZ_STEPS = 5
LEVELLING = 20


def balance(problem: PreparedProblem) -> tuple[Array, list[Array], float]:
    """Scales t of the columns (the unknowns) and s of each term's rows that bring the entries of |K| to about one, and the norm of the scaled K.

    First one factor a block and a term levels them. Then comes a Ruiz iteration on the sizes of rows and columns; that of a row is
    sum_j (s_i K_ij t_j)^2 / sum_j |s_i K_ij t_j|, which is its entries' own where they are alike, however many they are. (On the sums themselves
    it blows up the columns of rare features.) At last one factor a block and a term balances the norms of the parts. Rows of losses share one
    scale, as their dual entries share one range; blocks and terms that are no sums over entries have one scale, by their largest row or column.
    """
    blocks = problem.canonical.blocks
    # a device that has the data has their sizes sooner
    terms = problem.terms if problem.is_elsewhere else problem.canonical.terms
    columns = np.ones(problem.size)
    rows = [np.ones(t.map.rows) for t in terms]
    if not terms:
        return columns, rows, 0.0
    _level_parts(problem, columns, rows)
    maps = [[(b, m.absolute(), m.squared()) for b, m in t.map.parts] for t in terms]
    for _ in range(RUIZ_STEPS):
        problem.look()
        down, down_square = np.zeros(problem.size), np.zeros(problem.size)
        for k, parts in enumerate(maps):
            across, across_square = np.zeros(terms[k].map.rows), np.zeros(terms[k].map.rows)
            leaves = terms[k].map.leaves
            for b, absolute, squared in parts:
                t = columns[b.slice]
                across += absolute.apply(t)
                across_square += squared.apply(t * t)
                down[b.slice] += absolute.adjoint_over(rows[k], leaves)
                down_square[b.slice] += squared.adjoint_over(rows[k] ** 2, leaves)
            own = terms[k].is_indicator and problem.functions[k].is_entrywise
            rows[k] = _rescaled(rows[k], across, across_square, own)
        for b, g in zip(blocks, problem.g, strict=True):
            at = b.slice
            columns[at] = _rescaled(columns[at], down[at], down_square[at], g.is_entrywise)
    _balance_parts(problem, columns, rows)

    def apply(x: Array) -> Array:
        return np.concatenate([r * z for r, z in zip(rows, problem.linear(columns * x), strict=True)])

    def adjoint(y: Array) -> Array:
        cuts = np.cumsum([t.map.rows for t in terms])[:-1]
        return columns * problem.adjoint([r * part for r, part in zip(rows, np.split(y, cuts), strict=True)])

    def square(y: Array) -> float:
        parts = np.split(y, np.cumsum([t.map.rows for t in terms])[:-1]) if terms else []
        return sum(t.dot(part, part) for t, part in zip(terms, parts, strict=True))

    return columns, rows, _power(problem, apply, adjoint, square, problem.size)


def first_weight(problem: PreparedProblem, columns: Array, rows: list[Array]) -> float:
    """The first primal weight |dy| / |dx| in the scaled unknowns, from the sizes of the data, so that it has the units of the problem.

    y is about as large as the slopes at hand: q, and for each loss or norm the ends of the domain of f*, or the slope at x = 0 where it has no ends.
    x is so large that K x is as large as what it is compared with: targets, constants and bounds, or the 1 of a margin. Where slopes are missing
    the penalties of x take their place, where sizes are missing the radii of its sets. Without either, the largest second derivative is the weight.
    """
    slopes, sizes = [norm2(columns * problem.q)], []
    on_sets: list[tuple[LossFunction, Array, Array]] = []
    for term, s in zip(problem.terms, rows, strict=True):
        f, offset = term.f, term.map.offset
        sizes.append(norm2(s * offset))
        if isinstance(f, LossFunction):
            lo, hi = f.dual_bounds()
            ends = np.maximum(np.abs(lo), np.abs(hi))
            if f.on is not None:
                on_sets.append((f, offset, s))
                continue
            slopes.append(norm2(np.where(np.isfinite(ends), ends, np.abs(f.gradient(offset))) / s))
            targets = np.abs(f.b) if f.loss.word.residual else np.ones(f.size)
            sizes.append(norm2(s * targets * (f.w > 0.0)))
        elif isinstance(f, VectorLossFunction):
            slopes.append(norm2(f.gradient(offset) / s))
            sizes.append(norm2(s))
        elif term.is_indicator:
            sizes.append(_of_bounds(f, s))
        elif s.size:
            slopes.append(_slope(f) / largest(s))
    pairs = [(b, columns[b.slice]) for b in problem.canonical.blocks if b.size]
    told = norm2(np.array(sizes + [_of_bounds(b.g, 1.0 / t) for b, t in pairs]))
    for f, offset, s in on_sets:
        # where a row has no constant of its own, its prediction is as large as the targets, or as what else there is in the scaled rows
        guess = np.where(f.b > 0.0, f.b, (told or 1.0) / (s * math.sqrt(max(1, problem.size))))
        at = f.into_set(np.where(offset > 0.0, offset, guess))
        sizes.append(norm2(s * at * (f.w > 0.0)))
        with np.errstate(over="ignore"):
            slopes.append(norm2(f.gradient(at) / s))
    dual, reach = norm2(np.array(slopes)), norm2(np.array(sizes))
    if not dual > 0.0:
        dual = norm2(np.array([norm2(_slope(b.g) * t) for b, t in pairs]))
    if not reach > 0.0:
        reach = norm2(np.array([b.g.radius() / largest(t) for b, t in pairs if math.isfinite(b.g.radius())]))
    bend = _bend(problem, pairs, rows)
    dual, reach = (v if 0.0 < v < math.inf else 0.0 for v in (dual, reach))
    weight = dual / reach if dual and reach else bend or dual or (1.0 / reach if reach else 1.0)
    return weight if 0.0 < weight < math.inf else 1.0


def _slope(f: VectorFunction) -> float:
    """The c of g(x) >= c |x| where there is one, else the coefficient of a function that is no set."""
    found = f.coercive()
    return f.slope if found is None else found[0]


def _bend(problem: PreparedProblem, pairs: list[tuple[Block, Array]], rows: list[Array]) -> float:
    """The largest second derivative of a loss or a ridge in the scaled unknowns, which is a slope over a size too; 0 where there is none."""
    found = [float(b.g.curvature) * float(t.max()) ** 2 for b, t in pairs]
    for term, s in zip(problem.terms, rows, strict=True):
        if isinstance(term.f, LossFunction | VectorLossFunction) and s.size and math.isfinite(term.f.lipschitz):
            found.append(term.f.lipschitz / float(s.min()) ** 2)
    return max(found, default=0.0)


def _of_bounds(f: VectorFunction, s: Array) -> float:
    """The size of a set's numbers beside K x, in the scaled rows: finite bounds, or a radius."""
    found = f.entries()
    if found is not None:
        bounds = np.maximum(*(np.where(np.isfinite(end), np.abs(end), 0.0) for end in found.bounds(f.size)))
        return norm2(s * bounds)
    radius = f.radius()
    return radius * largest(s) if math.isfinite(radius) else 0.0


def _level_parts(problem: PreparedProblem, columns: Array, rows: list[Array]) -> None:
    """One factor a block and a term, in place, for which the logarithms of the sizes of the parts K_iB are least in the mean square (Curtis, Reid
    1972): where variables or constraints have other units, all that comes after starts from the same numbers."""
    blocks = problem.canonical.blocks
    place = {id(b): k for k, b in enumerate(blocks)}
    logs = np.full((len(rows), len(blocks)), np.nan)
    for i, term in enumerate(problem.terms):
        for b, m in term.map.parts:
            ones = np.ones(b.size)
            every = np.ones(m.rows)
            total, squares = (term.dot(size.apply(ones), every) for size in (m.absolute(), m.squared()))
            if 0.0 < total < math.inf and 0.0 < squares < math.inf:
                logs[i, place[id(b)]] = math.log(squares / total)
    s, t = np.zeros(len(rows)), np.zeros(len(blocks))
    known = ~np.isnan(logs)
    filled = np.where(known, logs, 0.0)
    across, down = np.maximum(known.sum(axis=1), 1), np.maximum(known.sum(axis=0), 1)
    for _ in range(LEVELLING):
        s = -np.where(known, filled + t, 0.0).sum(axis=1) / across
        t = -np.where(known, filled + s[:, None], 0.0).sum(axis=0) / down
    for i, factor in enumerate(np.exp(s)):
        rows[i] = rows[i] * factor
    for b, factor in zip(blocks, np.exp(t), strict=True):
        columns[b.slice] *= factor


def _balance_parts(problem: PreparedProblem, columns: Array, rows: list[Array]) -> None:
    """Bring the norms of the parts s_i K_iB t_B to one, by one factor a block and a term, in place: a short map beside tall data has steps of
    its own size."""
    blocks = problem.canonical.blocks
    place = {id(b): k for k, b in enumerate(blocks)}
    norms = np.zeros((len(rows), len(blocks)))
    for i, term in enumerate(problem.terms):
        for b, m in term.map.parts:
            r, c = rows[i], columns[b.slice]
            adjoint = partial(m.adjoint_over, leaves=term.map.leaves)
            square = partial(_square, term)
            norms[i, place[id(b)]] = _power(
                problem, _scaled_by(m.apply, c, r), _scaled_by(adjoint, r, c), square, b.size
            )
    t, s = np.ones(len(blocks)), np.ones(len(rows))
    for _ in range(8):
        scaled = s[:, None] * norms * t
        across, down = scaled.max(axis=1, initial=0.0), scaled.max(axis=0, initial=0.0)
        s /= np.sqrt(np.where(across > 0.0, across, 1.0))
        t /= np.sqrt(np.where(down > 0.0, down, 1.0))
    for i in range(len(rows)):
        rows[i] = rows[i] * s[i]
    for k, b in enumerate(blocks):
        columns[b.slice] *= t[k]


def _square(term: SumTerm, y: Array) -> float:
    """|y|^2 for a vector of the size of a term's predictions."""
    return term.dot(y, y)


def _scaled_by(fn: Callable[[Array], Array], before: Array, after: Array) -> Callable[[Array], Array]:
    return lambda x: after * fn(before * x)


def _rescaled(scale: Array, sums: Array, squares: Array, entrywise: bool) -> Array:
    """scale over the root of the sizes, rows without entries left alone; one scale for all where entries may not differ."""
    sizes = np.where(sums > 0.0, scale * squares / np.where(sums > 0.0, sums, 1.0), 1.0)
    if not entrywise:
        live = sizes[sums > 0.0]
        return scale / math.sqrt(float(live.max())) if live.size and live.max() > 0.0 else scale
    return scale / np.sqrt(np.where(sizes > 0.0, sizes, 1.0))


def _power(
    problem: PreparedProblem,
    apply: Callable[[Array], Array],
    adjoint: Callable[[Array], Array],
    square: Callable[[Array], float],
    size: int,
) -> float:
    """|K| from below, by power iteration from a fixed random start; `square` is |y|^2."""
    x = np.random.default_rng(0).standard_normal(size)
    norm = 0.0
    for _ in range(POWER_STEPS):
        problem.look()
        length = float(np.linalg.norm(x))
        if length == 0.0:
            return 0.0
        y = apply(x / length)
        norm = math.sqrt(square(y))
        x = adjoint(y)
    return norm
