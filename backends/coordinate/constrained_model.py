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

from fwdsl.atoms.base import Array
from fwdsl.backends.coordinate.coordinates import Coordinates, Indices
from fwdsl.backends.coordinate.model import OnGram, Solved, face_of
from fwdsl.backends.factors import Cholesky

WEIGHT = 1.0
"""The curvature that a row's weight adds along the row, over that of the Gram matrix' diagonal."""

STEPS, CUTS = 60, 6
"""Most steps of the multipliers in a model, and most cuts of one."""

SLACK = 0.1
"""The share of the weight that is the least curvature of d along a row: a face that cannot move along it answers nothing."""

DEPENDENT = 1e-11
"""The share of that along which a face is taken to answer nothing."""

TURNED = 0.5
"""The share of the slope at the start of a step, turned down, at whose end it is too long."""

NEAR = 1e-2
"""The share of what is enough that the multipliers times what is missed of the rows may be where a model ends."""

CORRECTIONS = 3
"""Corrections of what is then missed."""

EPS = float(np.finfo(np.float64).eps)

ROUNDING = 4.0 * EPS
"""The share of the sizes of its terms by which a row that is met may be missed."""


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
        self.size = np.array(diagonal)

    def solve(self, enough: float) -> Solved:
        """The solution to `enough`, its rows met; `multipliers` has theirs. Not met where `STEPS` steps lead to none."""
        solved = self.model.solve(self.g, enough)
        first, epochs = solved.first, solved.epochs
        for _ in range(STEPS):
            self.look()
            miss = self._missed()
            if solved.last <= enough and float(np.abs(self.nu) @ np.abs(miss) + self.rho @ np.square(miss)) <= NEAR * enough:
                break
            step = self._step(miss)
            if step is None:
                self._move(self.rho * miss)
            else:
                free, d, m, meets = step
                if meets and self._stays(free, d):
                    self._take(free, d)
                    self._move(m)
                    solved = self.model.solve(self.g, enough)
                    epochs += solved.epochs
                else:
                    epochs += self._search(miss, m, enough)
                continue
            solved = self.model.solve(self.g, enough)
            epochs += solved.epochs
        self._close()
        return Solved(self.model.u[: self.w].copy(), epochs, first, solved.last, self.size)

    @property
    def multipliers(self) -> Array:
        """The multipliers of all rows."""
        found = self.all_nu.copy()
        found[self.live] = self.nu
        return found

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
        """Move the free coordinates."""
        u, g = self.model.u, self.g
        new = np.clip(u[free] + d, g.lo[free], g.hi[free])
        self.model.slope[0] += self.model.gram[:, free] @ (new - u[free])
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

    def _stays(self, free: Indices, d: Array) -> bool:
        """True if the free coordinates keep their signs and stay between their bounds."""
        u, g = self.model.u[free], self.g
        new = u + d
        kept = (g.c[free] == 0.0) | (new * u > 0.0)
        return bool(np.all(kept & (new >= g.lo[free]) & (new <= g.hi[free])))

    def _step(self, miss: Array) -> tuple[Indices, Array, Array, bool] | None:
        """(the free coordinates, d, m, whether the rows are met there): the system on the face; None where there is no factor of it."""
        face = face_of(self.model.u, self.g)
        free = np.flatnonzero((face != 0.0) & (self.model.size > 0.0))
        sign = np.where(face[free] == 2.0, 0.0, face[free])
        B = self.B[:, free]
        root = np.sqrt(self.rho)
        if free.size:
            factor = Cholesky.of(self.model.gram[np.ix_(free, free)])
            if factor is None:
                return None
            found = factor.solve(np.column_stack([self.model.slope[0, free] + self.g.c[free] * sign, B.T]))
            own, across = found[:, 0], found[:, 1:]
        else:
            own, across = np.zeros(0), np.zeros((0, len(B)))
        answer = root[:, None] * (B @ across) * root
        values, vectors = np.linalg.eigh(0.5 * (answer + answer.T))
        wanted = vectors.T @ (root * (miss - B @ own))
        answers = values > DEPENDENT
        m = root * (vectors @ (wanted / np.where(answers, values, SLACK)))
        exact = root * (vectors @ np.where(answers, wanted / np.where(answers, values, 1.0), 0.0))
        left = float(np.abs(wanted[~answers]).max(initial=0.0))
        meets = left <= 1e-12 * float(np.abs(root * (np.abs(self.B) @ np.abs(self.model.u) + np.abs(self.target))).max(initial=0.0))
        if meets:
            m = exact
        d = -own - across @ m
        if not (np.all(np.isfinite(d)) and np.all(np.isfinite(m))):
            return None
        return free, d, m, meets

    def _search(self, miss: Array, m: Array, enough: float) -> int:
        """Move the multipliers by t m, t = 1 or where a secant tells that the slope of d has turned; the epochs that it took."""
        slope, t, epochs = float(miss @ m), 0.0, 0
        if not slope > 0.0:
            m = self.rho * miss
            slope = float(miss @ m)
        ahead = 1.0
        for _ in range(CUTS):
            self._move((ahead - t) * m)
            t = ahead
            epochs += self.model.solve(self.g, enough).epochs
            here = float(self._missed() @ m)
            if here >= -TURNED * slope:
                break
            ahead = t * min(max(slope / (slope - here), 0.1), 0.9)
        return epochs
