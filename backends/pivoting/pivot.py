r"""Block principal pivoting on a quadratic, minimise x'Hx / 2 - c'x with H positive definite, and its multiplier where the sum of x is bounded.

`bounded`, over lo <= x <= hi. Each coordinate is at its lower end, free, or at its upper end. Given these places the free coordinates solve
H_FF x_F = c_F - H_FU x_U; those that are misplaced (free ones out of their interval, held ones with a gradient that leads inside) all change places
at once. Where their number has not fallen MOST_FULL times, only the last of them does, until it falls: so the steps end (Kim, Park 2011;
Judice, Pires 1994).

`penalised`, with nu |x|_1: each coordinate is negative, zero or positive. It is the same pivoting on the dual, a quadratic of the gradient
over [-nu, nu].

`with_sum`: the nu at which sum |x| = r, where the sum falls with nu in linear pieces: Newton's method with a bracket, the pivoting warm.

Systems, and the active set that falls, are in `backends.active_set`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.active_set import EPS, ROUNDING, Pivoted, Places, Quadratic
from fwdsl.backends.factors import by_triangle
from fwdsl.light_dataclass import light_dataclass

MOST_FULL = 5
"""Exchanges of all misplaced coordinates that need not make fewer of them."""

MOST_PIVOTS = 500
"""Exchanges after which the places are given up."""

MOST_WARM = 30
"""The same from the places at another multiplier: a nearer one is then tried."""

MOST_OUTER = 100
"""Values of the multiplier."""


@light_dataclass
class Shortest:
    """The shortest s with M_F's = right, for columns M_F = Q T: s = Q T'^-1 right."""

    Q: Array
    T: Array

    @staticmethod
    def of(columns: Array) -> Shortest | None:
        """The factors of the columns; None where there are more columns than rows, or one is zero."""
        Q, T = np.linalg.qr(columns)
        return Shortest(Q, T) if T.shape[0] == T.shape[1] and np.all(np.einsum("ii->i", T)) else None

    def step(self, right: Array) -> Array:
        return np.asarray(self.Q @ by_triangle(self.T, right, transposed=True))


def _exchanged(places: Places, wanted: Places, count: tuple[int, int]) -> tuple[Places, tuple[int, int]]:
    """The places after an exchange, `wanted` being where all would go; `count` has the fewest misplaced so far and the full exchanges left."""
    wrong = np.flatnonzero(wanted != places)
    fewest, left = count
    if wrong.size < fewest:
        return wanted, (wrong.size, MOST_FULL)
    if left > 0:
        return wanted, (fewest, left - 1)
    one = places.copy()
    one[wrong[-1]] = wanted[wrong[-1]]
    return one, (fewest, 0)


def bounded(
    problem: Quadratic, lo: Array, hi: Array, places: Places, shift: float = 0.0, most: int = MOST_PIVOTS
) -> Pivoted | None:
    """The minimum of x'Hx / 2 - (c - shift)'x over the intervals; None where the places do not settle."""
    c = problem.c - shift
    count = places.size + 1, MOST_FULL
    for _ in range(most):
        free = np.flatnonzero(places == 0)
        ends = np.where(places < 0, lo, np.where(places > 0, hi, 0.0))
        found = problem.solved(free, ends, c)
        if found is None:
            return None
        x, factor = found
        grad = problem.applied(x) - c
        slack = ROUNDING * (problem.sizes(x) + abs(shift))
        near = ROUNDING * float(np.abs(x).max(initial=0.0))
        wanted = places.copy()
        inner = places == 0
        wanted[inner & (x < lo - near)] = -1
        wanted[inner & (x > hi + near)] = 1
        wanted[((places < 0) & (grad < -slack)) | ((places > 0) & (grad > slack))] = 0
        if np.array_equal(wanted, places):
            return Pivoted(np.clip(x, lo, hi), places, grad, free, factor)
        places, count = _exchanged(places, wanted, count)
    return None


def penalised(problem: Quadratic, nu: float, signs: Places, most: int = MOST_PIVOTS) -> Pivoted | None:
    """The minimum of x'Hx / 2 - c'x + nu |x|_1; None where the signs do not settle."""
    count = signs.size + 1, MOST_FULL
    for _ in range(most):
        free = np.flatnonzero(signs)
        found = problem.solved(free, np.zeros(signs.size), problem.c - nu * signs)
        if found is None:
            return None
        x, factor = found
        grad = problem.applied(x) - problem.c
        slack = ROUNDING * (problem.sizes(x) + nu)
        wanted = signs.copy()
        wanted[(signs != 0) & (x * signs < -ROUNDING * float(np.abs(x).max(initial=0.0)))] = 0
        outside = (signs == 0) & (np.abs(grad) > nu + slack)
        wanted[outside] = -np.sign(grad[outside])
        if np.array_equal(wanted, signs):
            x[x * signs < 0.0] = 0.0
            return Pivoted(x, signs, grad, free, factor)
        signs, count = _exchanged(signs, wanted, count)
    return None


def with_sum(
    problem: Quadratic, r: float, inner: Inner, nu: float, places: Places, least: float
) -> tuple[Pivoted, float] | None:
    """(the minimum, nu) with sum |x| = r at nu >= `least`, or a smaller sum at nu = `least`; `inner` minimises at a nu.

    None where the places do not settle.
    """
    lo, hi = -math.inf, math.inf
    nu, unit = max(nu, least), float(np.abs(problem.c).max(initial=0.0))
    found, at = inner(nu, places, MOST_PIVOTS), nu
    for _ in range(MOST_OUTER):
        if found is None:
            return None
        excess = float(np.abs(found.x).sum()) - r
        if abs(excess) <= 8.0 * EPS * r or (excess < 0.0 and at == least):
            return found, at
        lo, hi = (at, hi) if excess > 0.0 else (lo, at)
        signs = np.sign(found.x[found.free])
        signs[signs == 0.0] = 1.0
        fall = float(signs @ found.factor.solve(signs)) if found.factor is not None else 0.0
        nu = max(at + (excess / fall if fall > 0.0 else -math.inf), least)
        if not lo < nu < hi or math.isinf(nu):
            # no coordinate moves, or the piece is left behind: the middle, or further out
            nu = 0.5 * (lo + hi) if math.isfinite(hi) and math.isfinite(lo) else max(at - max(unit, abs(at)), least)
        if abs(nu - at) <= 2.0 * EPS * abs(at):
            return _onto(found, r), at
        found, at = _warm(inner, found, at, nu)
    return None


Inner = Callable[[float, Places, int], Pivoted | None]


def _warm(inner: Inner, found: Pivoted, at: float, nu: float) -> tuple[Pivoted | None, float]:
    """(the minimum at nu, nu) from that `at` another, or at the first nu between, by halves, where the places settle."""
    while nu != at:
        new = inner(nu, found.places, MOST_WARM)
        if new is not None:
            return new, nu
        nu = 0.5 * (at + nu) if abs(nu - at) > 4.0 * EPS * max(abs(at), abs(nu)) else at
    return None, at


def _onto(found: Pivoted, r: float) -> Pivoted:
    """The same with its sum at r but for rounding."""
    x = found.x.copy()
    total = float(np.abs(x).sum())
    if total > 0.0:
        x *= r / total
    return Pivoted(x, found.places, found.grad, found.free, found.factor)
