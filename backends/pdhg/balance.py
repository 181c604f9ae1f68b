"""Diagonal scaling of a saddle problem: scales of the unknowns and of the rows of the terms that bring |K| to about one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...atoms.base import Array
from ..functions import FastLoss
from ..problem import Problem

POWER_STEPS = 12
RUIZ_STEPS = 5
ORDINARY = 1e3
MOST_WEIGHT = 1e10


def balance(problem: Problem) -> tuple[Array, list[Array], float]:
    """Scales t of the columns (the unknowns) and s of each term's rows that bring the entries of |K| to about one, and the norm of the scaled K.

    The size of a row is sum_j (s_i K_ij t_j)^2 / sum_j |s_i K_ij t_j|, which is its entries' own where they are alike, however many they are: a
    Ruiz iteration on it. (On the sums themselves it blows up the columns of rare features.) Then one factor a block and a term balances the norms
    of the parts. Rows of losses share one scale, as their dual entries share one range; blocks and terms that
    are no sums over entries have one scale, by their largest row or column.
    """
    blocks, terms = problem.canonical.blocks, problem.canonical.terms
    columns = np.ones(problem.size)
    rows = [np.ones(t.map.rows) for t in terms]
    if not terms:
        return columns, rows, 0.0
    maps = [[(b, m.absolute(), m.squared()) for b, m in t.map.parts] for t in terms]
    for _ in range(RUIZ_STEPS):
        problem.look()
        down, down_square = np.zeros(problem.size), np.zeros(problem.size)
        for k, parts in enumerate(maps):
            across, across_square = np.zeros(terms[k].map.rows), np.zeros(terms[k].map.rows)
            for b, absolute, squared in parts:
                t = columns[b.slice]
                across += absolute.apply(t)
                across_square += squared.apply(t * t)
                down[b.slice] += absolute.adjoint(rows[k])
                down_square[b.slice] += squared.adjoint(rows[k] ** 2)
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

    return columns, rows, _power(problem, apply, adjoint, problem.size)


def first_weight(problem: Problem, columns: Array, rows: list[Array]) -> float:
    """The first primal weight |dy| / |dx| in the scaled unknowns, as the data's size tells it; 1 where it tells nothing or is ordinary.

    A loss has its y in a box of known size, and its predictions z about as large as its targets, which asks for |x / t| of about s |z|, as the scaled
    K has norm one. Where the domain is bounded, its radius takes the place of that. Restarts find a weight within ORDINARY of one soon by themselves.
    """
    dual = reach = 0.0
    for f, term, s in zip(problem.functions, problem.terms, rows, strict=True):
        if not isinstance(f, FastLoss):
            continue
        lo, hi = f.dual_bounds
        width = np.minimum(hi - lo, 1e300)
        box = width[(width > 0.0) & (width < 1e300)]
        if box.size < width.size // 2 or not box.size:
            continue
        size = float(np.sqrt(np.mean(np.square(np.abs(f.f.b) + np.abs(term.map.offset)))))
        dual += float(np.sum((box / float(s[0])) ** 2))
        reach += (size * float(s[0])) ** 2 * f.f.size
    radius = sum(
        _reach(g.f.radius(), columns[b.slice]) for b, g in zip(problem.canonical.blocks, problem.g, strict=True)
    )
    # in a bounded domain the bound pays for what K'y misses by with the radius, however small x is
    reach = radius if math.isfinite(radius) else math.sqrt(reach)
    if not (0.0 < dual < math.inf and 0.0 < reach < math.inf):
        return 1.0
    weight = math.sqrt(dual) / reach
    return 1.0 if 1.0 / ORDINARY <= weight <= ORDINARY else min(max(weight, 1.0 / MOST_WEIGHT), MOST_WEIGHT)


def _reach(radius: float, columns: Array) -> float:
    """|x / t| of an x of a block's radius."""
    return radius / math.exp(float(np.log(columns).mean())) if math.isfinite(radius) and columns.size else radius


def _balance_parts(problem: Problem, columns: Array, rows: list[Array]) -> None:
    """Bring the norms of the parts s_i K_iB t_B to one, by one factor a block and a term, in place: a short map beside tall data has steps of
    its own size."""
    blocks = problem.canonical.blocks
    place = {id(b): k for k, b in enumerate(blocks)}
    norms = np.zeros((len(rows), len(blocks)))
    for i, term in enumerate(problem.terms):
        for b, m in term.map.parts:
            r, c = rows[i], columns[b.slice]
            norms[i, place[id(b)]] = _power(problem, _scaled_by(m.apply, c, r), _scaled_by(m.adjoint, r, c), b.size)
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


def _scaled_by(fn: Callable[[Array], Array], before: Array, after: Array) -> Callable[[Array], Array]:
    return lambda x: after * fn(before * x)


def _rescaled(scale: Array, sums: Array, squares: Array, entrywise: bool) -> Array:
    """scale over the root of the sizes, rows without entries left alone; one scale for all where entries may not differ."""
    sizes = np.where(sums > 0.0, scale * squares / np.where(sums > 0.0, sums, 1.0), 1.0)
    if not entrywise:
        live = sizes[sums > 0.0]
        return scale / math.sqrt(float(live.max())) if live.size and live.max() > 0.0 else scale
    return scale / np.sqrt(np.where(sizes > 0.0, sizes, 1.0))


def _power(problem: Problem, apply: Callable[[Array], Array], adjoint: Callable[[Array], Array], size: int) -> float:
    """|K| from below, by power iteration from a fixed random start."""
    x = np.random.default_rng(0).standard_normal(size)
    norm = 0.0
    for _ in range(POWER_STEPS):
        problem.look()
        length = float(np.linalg.norm(x))
        if length == 0.0:
            return 0.0
        y = apply(x / length)
        norm = float(np.linalg.norm(y))
        x = adjoint(y)
    return norm
