"""Minimising a quadratic model over a working set of coordinates under a few linear constraints, by their multipliers.

    minimise over u, v   s'(u - x) + (u - x)'G (u - x) / 2 + sum_j c_j |u_j|,   lo <= u <= hi,   E u = v,   l <= v <= r

A row with two equal ends has no v. With multipliers nu of the rows E u - v and weights rho, the augmented Lagrangian adds

    nu'(E u - v) + sum_i rho_i (E u - v)_i^2 / 2,

which is a model without constraints on the Gram matrix G + E'diag(rho) E, solved as any other (`model.OnGram`). Its least value d(nu) is concave,
and its gradient is what the minimiser misses of the rows, piecewise linear in nu. On the face of the minimiser, H being the augmented matrix there
and B the rows, one system gives the step that meets the rows and the multipliers that keep the slopes as they are:

    H d + B'm = -slope,   B d = -(E u - v).

Where the step stays on the face it ends the model, the rows met to rounding. Else nu + m is Newton's step on d, cut by a secant where it leads too
far. The multiplier method, nu + rho (E u - v), is what is left of it where the face cannot move along a row.

Source: Rockafellar 1976; Newton's method on the multipliers as in Li, Sun, Toh 2018 (there on all of them, here on those of the few rows).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.coordinate.coordinates import Coordinates, Indices
from fwdsl.backends.coordinate.model import OnGram, Solved, face_of
from fwdsl.backends.factors import Cholesky, block_of
from fwdsl.light_dataclass import light_dataclass

WEIGHT = 1.0
"""The curvature that a row's weight adds along the row, over that of the Gram matrix' diagonal."""

STEPS, CUTS = 60, 10
"""Most steps of the multipliers in a model, and most cuts of one."""

PATIENCE = 12
"""Steps after which any point is good enough that meets the rows and is below x: the next model goes on from there."""

SLOW, HEAVIER, MOST_SLOW = 6, 10.0, 24
"""Steps after which the weights of the rows grow, the factor, and the steps up to which they do: where a face has no more coordinates than rows d is
nearly linear in pieces, and steps across them are as long as the weights are large."""

FINER, FINEST = 0.3, 1e-4
"""The factor by which a step's models are solved further than those of the step before, and the least share of what is enough: what they leave hides
what is missed of the rows."""

HELD = 1e-10
"""The share of its terms by which the slope of a coordinate that is held may be beyond its kink."""

DEPENDENT = 1e-11
"""The curvature of d along a row, over the largest that its weight lets it have, up to which a face is taken to answer nothing."""

UNANSWERED = 1e-12
"""The share of the sizes of its terms by which a row that a face does not answer may be missed there."""

TURNED, NEAREST = 0.3, 0.05
"""The share of the slope at the start of a step, turned down, at whose end it is too long; and the least share of what is between two ends that a
secant keeps from each of them."""

NEAR = 1e-2
"""The share of what is enough that the multipliers times what is missed of the rows may be where a model ends."""

CORRECTIONS = 3
"""Corrections of what is then missed."""

EPS = float(np.finfo(np.float64).eps)

ROUNDING = 16.0 * EPS
"""The share of the sizes of its terms by which a row that is met may be missed."""


@light_dataclass
class Step:
    """A step on a face: the free coordinates, d of them and m of the rows, and whether the rows are met there."""

    free: Indices
    d: Array
    m: Array
    meets: bool


class UnderRows:
    """The model at x, whose slope without multipliers is `slope`. The rows' ends are those of E u; nu are their multipliers, to start from."""

    def __init__(
        self, gram: Array, slope: Array, x: Array, g: Coordinates, rows: tuple[Array, Array, Array], nu: Array,
        look: Callable[[], None],
    ) -> None:  # fmt: skip
        E, lo, hi = rows
        self.live = np.flatnonzero(E.any(axis=1))
        E, self.lo, self.hi, self.look = E[self.live], lo[self.live], hi[self.live], look
        self.all_nu, self.nu, self.w = nu, nu[self.live].copy(), x.size
        between = np.flatnonzero(self.lo < self.hi)
        self.target = np.where(self.lo < self.hi, 0.0, self.lo)
        k = between.size
        self.B = np.zeros((len(E), x.size + k))
        self.B[:, : x.size] = E
        self.B[between, x.size + np.arange(k)] = -1.0
        diagonal = np.einsum("ii->i", gram)
        bend = np.where(diagonal > 0.0, diagonal, max(float(diagonal.max(initial=0.0)), 1e-300))
        self.rho = WEIGHT / np.maximum((np.square(E) / bend).sum(axis=1), 1e-300)
        H = np.zeros((x.size + k, x.size + k))
        H[: x.size, : x.size] = gram
        H += (self.B.T * self.rho) @ self.B
        u = np.concatenate([x, np.clip(E @ x, self.lo, self.hi)[between]])
        none, every = np.zeros(k), np.arange(u.size)
        self.g = replace(
            g, order=every, start=np.arange(u.size + 1), c=np.concatenate([g.c, none]), ridge=np.zeros(u.size),
            lo=np.concatenate([g.lo, self.lo[between]]), hi=np.concatenate([g.hi, self.hi[between]]),
            q=np.zeros(u.size), ball=np.zeros(u.size), thin=np.zeros(u.size),
        )  # fmt: skip
        whole = np.concatenate([slope, none]) + self.B.T @ (self.nu + self.rho * (self.B @ u - self.target))
        self.model = OnGram(H, whole, u, self.g, look)
        self.first_u, self.first_slope = u, np.concatenate([slope, none])
        self.size, self.epochs = np.array(diagonal), 0

    def solve(self, enough: float) -> Solved:
        """The solution to `enough`, its rows met; `multipliers` has theirs. Not met where `STEPS` steps lead to none."""
        solved = self.model.solve(self.g, enough)
        first, self.epochs = solved.first, solved.epochs
        for k in range(STEPS):
            self.look()
            inner = max(FINER**k, FINEST) * enough
            if k and k % SLOW == 0 and k <= MOST_SLOW:
                self._weigh(HEAVIER)
                solved = self._solved(inner)
            miss = self._missed()
            if (
                solved.last <= enough
                and float(np.abs(self.nu) @ np.abs(miss) + self.rho @ np.square(miss)) <= NEAR * enough
            ):
                self._close()
                miss = self._missed()
                if not miss.any():
                    break
            elif k >= PATIENCE:
                self._close()
                miss = self._missed()
                if not miss.any() and self._value() < 0.0:
                    break
            step = self._step(miss)
            if step is None:
                self._move(self.rho * miss)
            elif step.meets and self._stays(step):
                self._take(step.free, step.d)
                self._move(step.m)
            else:
                solved = self._search(miss, step.m, inner)
                continue
            solved = self._solved(inner)
        self._close()
        return Solved(self.model.u[: self.w].copy(), self.epochs, first, solved.last, self.size)

    def _solved(self, enough: float) -> Solved:
        """The model without constraints, solved at the multipliers as they are."""
        solved = self.model.solve(self.g, enough)
        self.epochs += solved.epochs
        return solved

    @property
    def multipliers(self) -> Array:
        """The multipliers of all rows."""
        found = self.all_nu.copy()
        found[self.live] = self.nu
        return found

    def _weigh(self, factor: float) -> None:
        """Take larger weights of the rows: a step of the multipliers then leads further, and the model is a little stiffer."""
        more = (factor - 1.0) * self.rho
        self.model.gram += (self.B.T * more) @ self.B
        self.model.size = np.array(np.einsum("ii->i", self.model.gram))
        self.model.slope[0] += (more * (self.B @ self.model.u - self.target)) @ self.B
        self.rho = factor * self.rho

    def _missed(self) -> Array:
        """B u less the target; 0 where that is rounding."""
        u = self.model.u
        miss = self.B @ u - self.target
        return np.where(np.abs(miss) > ROUNDING * (np.abs(self.B) @ np.abs(u) + np.abs(self.target)), miss, 0.0)

    def _move(self, m: Array) -> None:
        """Add to the multipliers."""
        self.nu = self.nu + m
        self.model.slope[0] += m @ self.B

    def _take(self, free: Indices, d: Array) -> None:
        """Move the free coordinates; what rounding leaves of one is 0."""
        u, g = self.model.u, self.g
        old = u[free]
        new = old + d
        new = np.clip(np.where(np.abs(new) <= ROUNDING * np.abs(old), 0.0, new), g.lo[free], g.hi[free])
        self.model.slope[0] += self.model.gram[:, free] @ (new - old)
        u[free] = new

    def _close(self) -> None:
        """Move the free coordinates by the little that rows are still missed by, as the diagonal weighs them."""
        u, g = self.model.u, self.g
        for _ in range(CORRECTIONS):
            miss = self._missed()
            if not miss.any():
                return
            free = np.flatnonzero((face_of(u, g) != 0.0) & (self.model.size > 0.0))
            B = self.B[:, free] / np.sqrt(self.model.size[free])
            d = np.linalg.lstsq(B, -miss, rcond=None)[0] / np.sqrt(self.model.size[free])
            self._take(free, d)

    def _stays(self, step: Step) -> bool:
        """True if the free coordinates keep their signs and stay between their bounds, and those that are held stay held."""
        u, g, free = self.model.u, self.g, step.free
        new = u[free] + step.d
        if not np.all(((g.c[free] == 0.0) | (new * u[free] > 0.0)) & (new >= g.lo[free]) & (new <= g.hi[free])):
            return False
        change = self.model.gram[:, free] @ step.d + step.m @ self.B
        slope = self.model.slope[0] + change
        up, down = slope + np.where(u >= 0.0, g.c, -g.c), slope - np.where(u <= 0.0, g.c, -g.c)
        noise = HELD * (np.abs(self.model.slope[0]) + np.abs(change) + g.c)
        leaves = ((up < -noise) & (u < g.hi)) | ((down > noise) & (u > g.lo))
        leaves[free] = False
        return not bool((leaves & (self.model.size > 0.0)).any())

    def _step(self, miss: Array) -> Step | None:
        """The solution of the system on the face; None where there is no factor of it.

        Along rows that the face does not answer the multipliers go to where the first coordinate that is held gives way, and by `rho` beyond.
        """
        u, g, slope = self.model.u, self.g, self.model.slope[0]
        face = face_of(u, g)
        free = np.flatnonzero((face != 0.0) & (self.model.size > 0.0))
        sign = np.where(face[free] == 2.0, 0.0, face[free])
        B, root = self.B[:, free], np.sqrt(self.rho)
        own, across = np.zeros(0), np.zeros((0, len(B)))
        if free.size:
            factor = Cholesky.of(block_of(self.model.gram, free))
            if factor is None:
                return None
            found = factor.solve(np.column_stack([slope[free] + g.c[free] * sign, B.T]))
            own, across = found[:, 0], found[:, 1:]
        answer = root[:, None] * (B @ across) * root
        values, vectors = np.linalg.eigh(0.5 * (answer + answer.T))
        wanted = vectors.T @ (root * (miss - B @ own))
        answers = values > DEPENDENT
        m = root * (vectors[:, answers] @ (wanted[answers] / values[answers]))
        noise = root * (np.abs(self.B) @ np.abs(u) + np.abs(self.target))
        meets = bool(np.abs(wanted[~answers]).max(initial=0.0) <= UNANSWERED * float(noise.max(initial=0.0)))
        d = -own - across @ m
        if not meets:
            away = root * (vectors[:, ~answers] @ wanted[~answers])
            rise = away @ self.B
            rise[np.abs(rise) <= HELD * (np.abs(away) @ np.abs(self.B))] = 0.0
            m = m + (1.0 + self._room(rise, face == 0.0)) * away
        return Step(free, d, m, meets) if np.all(np.isfinite(d)) and np.all(np.isfinite(m)) else None

    def _room(self, rise: Array, held: NDArray[np.bool_]) -> float:
        """The multiple of a rise of the slopes at which the first coordinate that is held gives way; 0 where none ever does."""
        u, g, slope = self.model.u, self.g, self.model.slope[0]
        up = slope + np.where(u >= 0.0, g.c, -g.c)
        down = slope - np.where(u <= 0.0, g.c, -g.c)
        with np.errstate(divide="ignore", invalid="ignore"):
            upwards = np.where((rise < 0.0) & (u < g.hi), -up / rise, math.inf)
            downwards = np.where((rise > 0.0) & (u > g.lo), -down / rise, math.inf)
        room = np.minimum(upwards, downwards)[held & (self.model.size > 0.0)]
        least = float(np.maximum(room, 0.0).min(initial=math.inf))
        return least if math.isfinite(least) else 0.0

    def _value(self) -> float:
        """The augmented Lagrangian at u less the model's value at x: where u minimises it, d(nu)."""
        u = self.model.u
        miss = self.B @ u - self.target
        force = self.nu + self.rho * miss
        bent = self.model.slope[0] - force @ self.B + self.first_slope
        step = u - self.first_u
        quadratic = 0.5 * float(bent @ step) + float(self.g.c @ (np.abs(u) - np.abs(self.first_u)))
        return quadratic + float(self.nu @ miss) + 0.5 * float(self.rho @ np.square(miss))

    def _search(self, miss: Array, m: Array, enough: float) -> Solved:
        """Move the multipliers by t m, t = 1 or where the slope of d along m is nearly 0, if d rises there; else by a step of the multiplier method,
        with which it does."""
        slope, value = float(miss @ m), self._value()
        if slope > 0.0:
            t, low, high, at_low, at_high = 1.0, 0.0, math.inf, slope, 0.0
            taken = 0.0
            for _ in range(CUTS):
                self._move((t - taken) * m)
                taken = t
                solved = self._solved(enough)
                here = float((self.B @ self.model.u - self.target) @ m)
                if here >= -TURNED * slope and (here >= 0.0 or self._value() > value):
                    return solved
                if here > 0.0:
                    low, at_low = t, here
                else:
                    high, at_high = t, here
                t = low + (high - low) * min(max(at_low / (at_low - at_high), NEAREST), 1.0 - NEAREST)
            self._move(-taken * m)
        self._move(self.rho * miss)
        return self._solved(enough)
