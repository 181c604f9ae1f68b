r"""The steps of PDBFW (Lei et al. 2019), the same for vectors and matrices, which differ in their `Space`.

    min over x in C  max over y   <q, x> + (mu / 2) |x|^2 + <y, K x + b0> - f*(y)

kept with z = K'y and w = K x + b0. See `method.PDBFW` for the updates; here is one step of each form:

* `paper_step`: Algorithms 1 and 2 with constant steps, k rows of largest |y~ - y|;
* `adaptive_step`: x = argmin at y exactly (eta = 1), the rows with |y~ - y| above a share of the largest, t = delta / n by the descent lemma;
* `accelerated_step`: the same on an extrapolated y, all rows (Nesterov's momentum with restarts);
* `accelerated_mirror_step`: momentum for the mirror step, by an estimate sequence.

Momentum sets in by itself once `PATIENCE` steps were short: kappa = beta / t above `LONG`, for without it about kappa steps are needed, and about
its root with it.

With R(z) = min over C of <q + z, x> + (mu / 2) |x|^2, D(y) = R(K'y) + <b0, y> - f*(y) comes at no product, as x at eta = 1 is its minimiser.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.method import State
from fwdsl.backends.pdbfw.block_step import top
from fwdsl.backends.pdbfw.dual_step import SMALLEST, bregman, euclidean, mirror, theory_step
from fwdsl.light_dataclass import light_dataclass

EPS = float(np.finfo(np.float64).eps)
Rows = NDArray[np.intp]

SHARE = 0.05
"""Rows move whose |y~ - y| exceeds this share of the largest: 0 to 0.2 make no difference, 0.5 is twice as slow, as measured."""

GROW = 1.3
TRIES = 60

MISS = 0.01
"""The share of the gap by which an inexact minimiser may miss R(z): the errors of momentum add up, and at 0.1 it takes twice the steps."""

LONG = 30.0
"""The condition number from which on momentum is worth its second product, as measured."""

PATIENCE = 20
"""Short steps before momentum sets in: a single one may come from a far start."""

MOST_WEIGHT = 1e12
"""The largest weight of an estimate sequence: only its ratio to the next one counts from there on."""

SHORTEST = 1e-100
"""The least t: no step divides by zero."""

REFRESH_EVERY = 256
LOOK_EVERY = 5
"""Steps of the paper's form between two bounds where eta < 1: a bound is then a projection of its own."""


@light_dataclass
class Projection:
    """A point of C near v: how many of its parts are used, by how much (curvature / 2) |x - v|^2 may miss its least value, and what to start
    the next projection from."""

    x: Array
    used: int
    slack: float
    warm: Array


class Space(Protocol):
    """The space of x: its set C of `parts` parts (entries, groups, singular values) and its map K to `rows` rows of `width` predictions."""

    rows: int
    width: int
    parts: int
    mu: float
    q: Array
    offset: Array
    hindrance: float

    def forward(self, x: Array) -> Array:
        """K x + b0."""

    def adjoint(self, y: Array) -> Array:
        """K'y."""

    def adjoint_rows(self, y: Array, rows: Rows) -> Array:
        """K'y for y that is zero outside `rows`."""

    def is_heavy(self, rows: Rows) -> bool:
        """True if K'y of these rows costs as much as of all."""

    def balanced(self, cap: int) -> float:
        """The rows k whose move costs as much as a block step of `cap` parts, as the paper sets it."""

    def largest_square(self) -> float:
        """R of the paper's step sizes: the largest |a_j|^2, for matrices a bound of |A|^2."""

    def project(self, v: Array, cap: int, warm: Array, near: Array, curvature: float, eps: float) -> Projection:
        """The best point of C with at most `cap` parts for (curvature / 2) |x - v|^2, exact or (1/2, eps / 8)-approximate relative to `near`."""


@dataclass
class PDBFWState(State):
    """The state of a run of `pdbfw`."""

    x: Array  # the primal point
    w: Array  # K x + b0
    y: Array  # the dual point
    z: Array  # K'y
    s: Array  # y is a derivative of f there
    value: float  # P(x)
    least: float  # R(z)
    slack: float  # by how much R(z) may be less
    t: float  # delta / n, the dual step
    cap: int  # parts of x that a block step may use
    warm: Array  # the start of the next projection
    best_x: Array  # the best point so far
    best_value: float  # P there
    best_y: Array  # the best dual point so far
    best_bound: float  # D there
    y_old: Array  # the y before; of the mirror step u = f'(s), the point of the estimate sequence
    z_old: Array  # K'y of it
    momentum: float = 1.0  # of the mirror step 1 + the weight of the estimate sequence
    short: int = 0  # steps that asked for momentum


@light_dataclass
class Settings:
    """The settings that follow from the options: `paper` where one of s, k, delta, eta was given; without `accelerate` momentum sets in by itself."""

    s: int | None = None
    k: int | None = None
    delta: float | None = None
    eta: float | None = None
    grow: bool = True
    accelerate: bool | None = None
    eps: float | None = None

    @property
    def paper(self) -> bool:
        """True if the paper's algorithm is run, with constant steps."""
        return any(v is not None for v in (self.s, self.k, self.delta, self.eta))


class Core:
    """Algorithms 1 and 2 on a bound problem."""

    def __init__(self, space: Space, f: FastLoss, constant: float, settings: Settings) -> None:
        self.space, self.f, self.constant, self.settings = space, f, constant, settings
        self.mu = space.mu
        self.weights = np.maximum(f.f.w, SMALLEST)
        self.mirror = not (settings.paper or f.f.loss.piecewise_quadratic)
        # f* is as strongly convex as its own distance, and 1 / beta as the square
        self.smoothness = 1.0 if self.mirror else float(f.f.loss.smoothness or 1.0)
        self.eta = settings.eta if settings.eta is not None else 0.5
        self.cap = min(settings.s, space.parts) if settings.s is not None else space.parts
        k = settings.k if settings.k is not None else max(1, math.ceil(space.balanced(self.cap)))
        self.k = min(space.rows, k)

    # --- pieces -------------------------------------------------------------------------------------------------------

    def _argmin(self, s: PDBFWState, z: Array) -> tuple[Array, float, float]:
        """(x, R(z), by how much R(z) may be less): the minimiser of <q + z, x> + (mu / 2) |x|^2 over the set."""
        slope = self.space.q + z
        v = slope / -self.mu
        # relative to v itself no x gains anything, so that the projection misses by at most eps / 4
        p = self.space.project(v, self.space.parts, s.warm, v, self.mu, self._eps(s, 4.0 * MISS))
        s.warm = p.warm
        return p.x, float(slope @ p.x) + 0.5 * self.mu * float(p.x @ p.x), p.slack

    def _eps(self, s: PDBFWState, share: float) -> float:
        """The paper's target accuracy: the option, or a share of the present gap."""
        if self.settings.eps is not None:
            return self.settings.eps * max(abs(s.best_value), 1e-300)
        gap = s.best_value - s.best_bound
        return share * (gap if math.isfinite(gap) else 0.1 * abs(s.best_value))

    def _primal(self, x: Array, w: Array) -> float:
        return self.constant + self.f.value(w) + float(self.space.q @ x) + 0.5 * self.mu * float(x @ x)

    def _bound(self, least: float, y: Array, s: Array) -> float:
        """D(y); f*(y) = <s, y> - f(s) as y = f'(s)."""
        return self.constant + least + float(self.space.offset @ y) - float(s @ y) + self.f.value(s)

    def _row_sizes(self, change: Array) -> Array:
        """|change_i| of each row, in the scale of the paper's dual variable."""
        unit = change / self.weights
        return (
            np.abs(unit) if self.space.width == 1 else np.sqrt(np.sum(unit.reshape(-1, self.space.width) ** 2, axis=1))
        )

    def _only(self, rows: Rows, old: Array, new: Array) -> Array:
        """`new` on the rows, `old` elsewhere."""
        out = old.copy()
        out.reshape(-1, self.space.width)[rows] = new.reshape(-1, self.space.width)[rows]
        return out

    @staticmethod
    def _keep(s: PDBFWState, y: Array, bound: float) -> None:
        if s.value < s.best_value:
            s.best_x, s.best_value = s.x, s.value
        if bound > s.best_bound:
            s.best_y, s.best_bound = y, bound

    # --- start --------------------------------------------------------------------------------------------------------

    def init(self, x: Array) -> PDBFWState:
        """The state at the projection of x, and y = f'(K x + b0) (y = 0, as the paper has it, doubles the passes)."""
        space, nothing = self.space, np.zeros(0)
        start = space.project(x, space.parts, nothing, x, 1.0, 0.0).x
        w = space.forward(start) if start.any() else space.offset.copy()
        y = np.empty_like(w)
        self.f.value_gradient(w, y)
        value, z = self._primal(start, w), space.adjoint(y)
        s = PDBFWState(
            iteration=0, x=start, w=w, y=y, z=z, s=w, value=value, least=-math.inf, slack=0.0, t=self._first_step(), cap=self.cap, warm=nothing,
            best_x=start, best_value=value, best_y=y, best_bound=-math.inf, y_old=y, z_old=z,
        )  # fmt: skip
        x, s.least, s.slack = self._argmin(s, z)
        if not self.settings.paper:
            s.x, s.w = x, space.forward(x)
            s.value = self._primal(x, s.w)
        self._keep(s, y, self._bound(s.least - s.slack, y, s.s))
        return s

    def _first_step(self) -> float:
        if not self.settings.paper:
            return 1.0
        if self.settings.delta is not None:
            return self.settings.delta / max(1, self.space.rows)
        return theory_step(self.f.f, self.space.largest_square(), self.mu, self.k, self.space.hindrance)

    def step(self, s: PDBFWState) -> None:
        if self.settings.paper:
            self.paper_step(s)
        elif not self.has_momentum(s):
            self.adaptive_step(s)
            s.short += self.smoothness > LONG * s.t
            s.y_old, s.z_old = s.y, s.z
        elif self.mirror:
            self.accelerated_mirror_step(s)
        else:
            self.accelerated_step(s)
        s.iteration += 1

    def has_momentum(self, s: PDBFWState) -> bool:
        """True if the next step takes momentum: by the option, or after enough short steps."""
        told = self.settings.accelerate
        return s.short >= PATIENCE if told is None else told

    # --- the paper ----------------------------------------------------------------------------------------------------

    def paper_step(self, s: PDBFWState) -> None:
        """Block step, greedy dual rows. The cap doubles when the block step uses all of it, unless `grow` is off."""
        space, eta = self.space, self.eta
        v = s.x - (space.q + s.z + self.mu * s.x) / (self.mu * eta)
        p = space.project(v, s.cap, s.warm, s.x, self.mu * eta, self._eps(s, 0.1))
        if s.cap < space.parts and self.settings.grow and p.used >= s.cap:
            s.cap = min(space.parts, 2 * s.cap)
        s.warm = p.warm
        w = space.forward(p.x)
        s.x = p.x if eta == 1.0 else (1.0 - eta) * s.x + eta * p.x
        s.w = w if eta == 1.0 else (1.0 - eta) * s.w + eta * w
        y, pre = euclidean(self.f, s.y, s.w, s.t)
        rows = top(self._row_sizes(y - s.y), self.k)
        s.s = self._only(rows, s.s, pre)
        self._move(s, self._only(rows, s.y, y), rows)
        if eta == 1.0 or s.iteration % LOOK_EVERY == 0:
            _, s.least, s.slack = self._argmin(s, s.z)
            s.value = self._primal(s.x, s.w)
            self._keep(s, s.y, self._bound(s.least - s.slack, s.y, s.s))

    def _move(self, s: PDBFWState, y: Array, rows: Rows) -> None:
        """y and z = K'y: by the rows that moved, afresh now and then."""
        if (s.iteration + 1) % REFRESH_EVERY == 0:
            s.z = self.space.adjoint(y)
        else:
            s.z = s.z + self.space.adjoint_rows(y - s.y, rows)
        s.y = y

    # --- the adaptive form --------------------------------------------------------------------------------------------

    def adaptive_step(self, s: PDBFWState) -> None:
        """Greedy rows, t by the descent lemma R(z+) >= R(z) + <K x, y+ - y> - B(y+, y) / t, B the step's own distance."""
        for _ in range(TRIES):
            self.f.pool.look()
            y, pre = mirror(self.f, s.s, s.w, s.t) if self.mirror else euclidean(self.f, s.y, s.w, s.t)
            size = self._row_sizes(y - s.y)
            peak = float(size.max(initial=0.0))
            if peak == 0.0:
                return
            rows = np.flatnonzero(size > SHARE * peak)
            if self.space.is_heavy(rows) or (s.iteration + 1) % REFRESH_EVERY == 0:
                # the whole product costs no more, so all rows move
                z = self.space.adjoint(y)
            else:
                y, pre = self._only(rows, s.y, y), self._only(rows, s.s, pre)
                z = s.z + self.space.adjoint_rows(y - s.y, rows)
            x, least, slack = self._argmin(s, z)
            distance = bregman(self.f, s.s, y, pre) if self.mirror else self._square(y - s.y)
            if self._accept(s, s.least, y - s.y, s.w, least, distance, s.slack):
                break
        s.y, s.z, s.s, s.x, s.least, s.slack = y, z, pre, x, least, slack
        s.w = self.space.forward(x)
        s.value = self._primal(x, s.w)
        self._keep(s, y, self._bound(least - slack, y, pre))

    def _square(self, change: Array) -> float:
        """The distance of the Euclidean step: half the sum of squares over the weights."""
        return 0.5 * float(np.sum(change**2 / self.weights))

    def _accept(
        self, s: PDBFWState, before: float, change: Array, w: Array, least: float, distance: float, slack: float
    ) -> bool:
        """The descent lemma, and the next t: 1.3 t where less than half of it was needed, the step of the curvature where it fails.

        An x that misses R(z) by `slack` is an inexact gradient, which the lemma has to forgive.
        """
        linear = float((w - self.space.offset) @ change)
        bend = before + linear - least
        noise = 16.0 * EPS * (abs(before) + abs(linear) + abs(least)) + slack
        if bend <= distance / s.t + noise:
            if bend < 0.5 * distance / s.t:
                s.t *= GROW
            return True
        # where numbers overflow the test fails though nothing bends
        asked = 0.9 * distance / bend if bend > 0.0 else 0.0
        s.t = max(min(0.5 * s.t, asked), 0.05 * s.t, SHORTEST)
        return False

    # --- with momentum --------------------------------------------------------------------------------------------------

    def accelerated_step(self, s: PDBFWState) -> None:
        """The Euclidean step of all rows at v = y + beta (y - y_old); the momentum restarts when it points downhill."""
        following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * s.momentum**2))
        beta = (s.momentum - 1.0) / following
        v, z = s.y + beta * (s.y - s.y_old), s.z + beta * (s.z - s.z_old)
        s.x, before, missed = self._argmin(s, z)
        s.w = self.space.forward(s.x)
        s.value = self._primal(s.x, s.w)
        for _ in range(TRIES):
            self.f.pool.look()
            y, s.s = euclidean(self.f, v, s.w, s.t)
            z = self.space.adjoint(y)
            _, least, slack = self._argmin(s, z)
            if self._accept(s, before, y - v, s.w, least, self._square(y - v), missed):
                break
        downhill = float(np.sum((v - y) * (y - s.y) / self.weights)) > 0.0
        s.momentum = 1.0 if downhill else following
        s.y_old, s.z_old = (y, z) if downhill else (s.y, s.z)
        s.y, s.z, s.least, s.slack = y, z, least, slack
        self._keep(s, y, self._bound(least - slack, y, s.s))

    def accelerated_mirror_step(self, s: PDBFWState) -> None:
        """Take a step with u = y_old = f'(s), A = momentum - 1, a^2 = t (1 + A) (A + a), theta = a / (A + a) and x the minimiser at v:

            v = y + theta (u - y),   s+ = s + a (K x + b0 - s) / (1 + A + a),   u+ = f'(s+),   y+ = y + theta (u+ - y),

        s+ minimising an estimate sequence of -D that is (1 + A)-strongly convex in f*'s distance B, so that A D(y) converges where
        R(z+) >= R(v) + <K x, y+ - v> - theta^2 B(u+, u) / t (Nesterov 2013; no restart, as f*'s own convexity is exact).
        """
        weight, y, z, u, z_u, old = s.momentum - 1.0, s.y, s.z, s.y_old, s.z_old, s.s
        for _ in range(TRIES):
            self.f.pool.look()
            root = s.t * s.momentum
            a = 0.5 * (root + math.sqrt(root * (root + 4.0 * weight)))
            theta = a / (weight + a)
            v, z_v = y + theta * (u - y), z + theta * (z_u - z)
            s.x, before, missed = self._argmin(s, z_v)
            s.w = self.space.forward(s.x)
            s.s = old + a / (s.momentum + a) * (s.w - old)
            s.y_old = np.empty_like(u)
            self.f.value_gradient(s.s, s.y_old)
            s.z_old = self.space.adjoint(s.y_old)
            s.y, s.z = y + theta * (s.y_old - y), z + theta * (s.z_old - z)
            _, least, slack = self._argmin(s, s.z)
            distance = theta**2 * bregman(self.f, old, s.y_old, s.s)
            if self._accept(s, before, s.y - v, s.w, least, distance, missed):
                break
        s.value = self._primal(s.x, s.w)
        s.momentum = 1.0 + min(weight + a, MOST_WEIGHT)
        s.least, s.slack = least, slack
        # y is a mean, and no s is known at which it is a derivative
        bound = self.constant + least - slack + float(self.space.offset @ s.y) - self.f.conjugate(s.y)
        self._keep(s, s.y, bound)
