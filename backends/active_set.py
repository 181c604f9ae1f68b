r"""An active set on a quadratic x'Hx / 2 - c'x over intervals, whether H is definite or not, and the systems of its blocks.

`descended`, over lo <= x <= hi from x = 0, whether H is definite or not. The coordinates whose gradient leads inside most are freed, half as many as
are free and LEAST_FREED more. The way to the minimum of the free ones is cut to the box as a whole where the quadratic then falls by a share of what
the way promises, else it ends where the first coordinate meets an end; those that meet one are held there. x stays inside and falls, so this ends
whatever rounding does. Where it does not fall any more, one coordinate is freed at a time. It costs a factor an exchange, of the free ones alone.

Systems are those of H_FF (Cholesky) or, with a root H = R'R, those of the triangle of R_F (seminormal equations), whose condition is not squared.
Infeasibilities are judged beside the sizes of their terms.

Source: Lawson, Hanson 1974; of steps cut to the box: Bertsekas 1982; of seminormal equations: Bjorck 1987.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.factors import Cholesky, block_of, by_triangle
from fwdsl.light_dataclass import light_dataclass

Places = NDArray[np.int8]

LEAST_FREED = 10
"""Coordinates that are freed at once, beside half as many as are free."""

PARTS, FALLS = 8, 1e-2
"""Lengths at which a step is tried beyond the first end that it meets, each half of the one before, and the share of its promise that it keeps."""

MOST_EXCHANGES, EACH = 500, 3
"""Exchanges after which what was reached is the answer, and so many more for each coordinate."""

ROUNDING = 1e-13
"""The share of its terms that an infeasibility is rounding at."""

EPS = float(np.finfo(np.float64).eps)


@light_dataclass
class Triangle:
    """The triangle T of a block of columns R_F = Q T, which solves T'T x = right."""

    factor: Array

    @staticmethod
    def of(columns: Array) -> Triangle | None:
        """The triangle of the columns; None where they depend on each other to rounding."""
        factor: Array = np.asarray(np.linalg.qr(columns, mode="r"))
        if factor.shape[0] < factor.shape[1]:
            return None
        lengths = np.sqrt(np.einsum("ij,ij->j", columns, columns))
        # a column's part that is across those before it
        if not np.all(np.abs(np.einsum("ii->i", factor)) > lengths.size * EPS * lengths):
            return None
        return Triangle(factor)

    def solve(self, right: Array) -> Array:
        return by_triangle(self.factor, by_triangle(self.factor, right, transposed=True))


Factor = Cholesky | Triangle


@light_dataclass
class Pivoted:
    """x, the places of its coordinates, the gradient Hx - c, and the factor of the block of H of those that move."""

    x: Array
    places: Places
    grad: Array
    free: NDArray[np.intp]
    factor: Factor | None


def _applied(H: Array, root: Array | None, x: Array) -> Array:
    return np.asarray(H @ x) if root is None else np.asarray(root.T @ (root @ x))


@light_dataclass
class Block:
    """A block of H, and the columns of the root that make it, where that is known."""

    H: Array
    root: Array | None

    def applied(self, x: Array) -> Array:
        return _applied(self.H, self.root, x)

    def factored(self) -> Factor | None:
        """The factor of the block; None where it is singular."""
        found = None if self.root is None else Triangle.of(self.root)
        return found or Cholesky.of(self.H.copy())


@light_dataclass
class Quadratic:
    """x'Hx / 2 - c'x; `look` is asked before every factor. H = root'root, where the root is known; `noise` is what rounding makes of c."""

    H: Array
    c: Array
    look: Callable[[], None]
    root: Array | None = None
    noise: Array | float = 0.0

    def applied(self, x: Array) -> Array:
        return _applied(self.H, self.root, x)

    def factored(self, free: NDArray[np.intp]) -> Factor | None:
        """The factor of a block; None where it is singular."""
        return self.block(free).factored()

    def solved(self, free: NDArray[np.intp], x: Array, right: Array) -> tuple[Array, Factor | None] | None:
        """x with its free coordinates at H_FF^-1 (right_F - H_FU x_U), and the factor; None where H_FF is singular."""
        x = x.copy()
        x[free] = 0.0
        if not free.size:
            return x, None
        self.look()
        factor = self.factored(free)
        if factor is None:
            return None
        rest = right[free] - (self.applied(x)[free] if x.any() else 0.0)
        held = x.copy()
        x[free] = factor.solve(rest)
        # once refined: what the damping took, or the triangle
        x[free] += factor.solve(rest - self.applied(x - held)[free])
        return x, factor

    def block(self, free: NDArray[np.intp]) -> Block:
        """The block of some coordinates."""
        return Block(block_of(self.H, free), None if self.root is None else self.root[:, free])

    def sizes(self, x: Array) -> Array:
        """The sizes of the gradient's terms, about."""
        scale: Array = np.sqrt(np.maximum(np.einsum("ii->i", self.H), 0.0))
        return np.asarray(scale * float(np.linalg.norm(scale * x)) + np.abs(self.c) + self.noise / ROUNDING)


def descended(
    problem: Quadratic, lo: Array, hi: Array, places: Places, independent: int | None = None
) -> Pivoted | None:
    """The minimum over intervals that have 0, from there; None where no minimum of free coordinates was reached.

    At most `independent` columns of a root of H depend on no others: so many are freed.
    """
    x, places, grad = np.zeros(places.size), places.copy(), -problem.c
    held = places
    places[((places < 0) & (lo < 0.0)) | ((places > 0) & (hi > 0.0))] = 0
    scale = np.sqrt(np.maximum(np.einsum("ii->i", problem.H), 1e-300))
    most = places.size if independent is None else independent
    refused, entered, reached = np.zeros(places.size, dtype=np.bool_), np.zeros(0, dtype=np.intp), None
    alone, value = False, math.inf
    for _ in range(MOST_EXCHANGES + EACH * places.size):
        free = np.flatnonzero(places == 0)
        if free.size:
            block = problem.block(free)
            problem.look()
            factor = block.factored()
            if factor is None:
                if not entered.size:
                    return reached
                # the likeliest half of those that came last goes on
                entered, back = entered[: entered.size // 2], entered[entered.size // 2 :]
                places[back], refused[back] = held[back], True
                continue
            slope, here, least, largest = grad[free], x[free], lo[free], hi[free]
            step = -factor.solve(slope)
            # once refined: what the damping took, or the triangle
            step -= factor.solve(slope + block.applied(step))
            if not np.all(np.isfinite(step)):
                return reached
            target = here + step
            below, above = target < least, target > largest
            if below.any() or above.any():
                moved = _within(block, slope, here, step, least, largest)
                if moved is None:
                    moved = _first(here, step, least, largest)
                new, ends = moved
                gone = free[ends]
                places[gone] = np.sign(step[ends]).astype(np.int8)
                x[free], change = new, new - here
                if change.any():
                    grad[free] += block.applied(change)
                    refused[:] = False
                else:
                    # rounding has let them in
                    refused[np.intersect1d(gone, entered)] = True
                continue
            x[free] = target
        else:
            factor = None
        grad = problem.applied(x) - problem.c
        reached = Pivoted(x.copy(), places.copy(), grad, free, factor)
        before, value = value, 0.5 * float(x @ (grad - problem.c))
        alone = not value < before
        if not alone:
            refused[:] = False
        down = np.where(places < 0, -grad, np.where(places > 0, grad, -math.inf))
        wrong = np.flatnonzero((down > ROUNDING * problem.sizes(x)) & ~refused & (lo < hi))
        if not wrong.size:
            return reached
        count = 1 if alone else max(1, min(LEAST_FREED + free.size // 2, most - free.size))
        order = np.argsort(-down[wrong] / scale[wrong], kind="stable")
        entered, held = wrong[order[:count]], places.copy()
        places[entered] = 0
    return reached


def _within(
    block: Block, slope: Array, x: Array, step: Array, lo: Array, hi: Array
) -> tuple[Array, NDArray[np.bool_]] | None:
    """The point of the intervals nearest to that after a step, or a part of it, where the quadratic falls; which coordinates are at an end."""
    length, promised = 1.0, float(slope @ step)
    for _ in range(PARTS):
        after = x + length * step
        new = np.clip(after, lo, hi)
        change = new - x
        if float(slope @ change) + 0.5 * float(change @ block.applied(change)) < FALLS * length * promised:
            return new, (after <= lo) | (after >= hi)
        length *= 0.5
    return None


def _first(x: Array, step: Array, lo: Array, hi: Array) -> tuple[Array, NDArray[np.bool_]]:
    """The point of a step where the first coordinate meets an end, and which ones do."""
    with np.errstate(divide="ignore", invalid="ignore"):
        length = np.where(step < 0.0, (lo - x) / step, np.where(step > 0.0, (hi - x) / step, math.inf))
    shortest = max(float(length.min()), 0.0)
    ends = length <= shortest
    return np.where(ends, np.where(step < 0.0, lo, hi), np.clip(x + shortest * step, lo, hi)), ends
