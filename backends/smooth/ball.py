r"""Newton's method for smooth losses, with one variable in a Euclidean ball.

Problem: minimise over x   P(x) = sum_i f_i(K_i x + b_i) + <q, x> + sum_j R_j x_j^2 / 2   over |x_B| <= r, f_i smooth, x_B the entries of a block

A step minimises the quadratic model of P at x on the ball: with the multiplier m >= 0

    (K'diag(f'') K + R + m I_B) d = -(grad P + m x_B),     |(x + d)_B| = r, or m = 0 and |(x + d)_B| <= r.

1 / |(x + d)_B| is nearly linear in m, and its root is had by a secant, kept between the m that are known to be too small and too large; the m of the
step before is where it starts. Each m takes a Cholesky factor over the unknowns, or over the rows where these are fewer. The step goes along d to
where the slope of P is small, and not beyond x + d, on the ball's boundary as a rule.

Bounds: as those of `newton`, with the support function r |v_B| of the ball in place of a ridge.

Complexity: a step is one product each way, a Gram matrix, and a few factors.

Source: the multiplier as in More, Sorensen 1983; the secant on 1 / |x| in Conn, Gould, Toint 2000, section 7.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.vectors.common import norm2
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.smooth.ball_method import BallNewton, BallState, ball_block, system_of
from fwdsl.backends.smooth.newton import EPS, NewtonRun
from fwdsl.backends.smooth.systems import Dual, Primal

MULTIPLIERS = 40
"""Most multipliers that a step tries."""

ROUGH, FINE = 1e-3, 1e-12
"""The shares of r by which |(x + d)_B| may miss it, at first and near the optimum: between them it is the square of the decrement of the step before,
beside the value, as what a step leaves is. On a quadratic one step is all."""

LEAST = 1e-14
"""The least multiplier, a share of the largest that there may be: the system over the rows divides by it. Over the unknowns it only damps a step."""

NOTHING = EPS**2
"""The least share of the largest curvature that the largest multiplier has, and of r that |(x + d)_B| has: both are 0 at x_B = 0."""

APART = 10.0
"""The greatest factor between one multiplier and the next."""


class BallNewtonRun(NewtonRun, of=BallNewton):
    """Newton's method on a problem with a ball."""

    state: BallState

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem, system_of(problem.canonical))
        block = ball_block(problem.canonical)
        self.at = block.slice
        self.radius = block.g.radius()
        (self.ball,) = (g for b, g in zip(problem.canonical.blocks, problem.g, strict=True) if b is block)
        self.on = np.zeros(problem.size)
        self.on[self.at] = 1.0
        # of the ball the support function is known, and no equality is asked for
        self.free &= self.on == 0.0
        self._free_at = np.flatnonzero(self.free)
        self._ridged = np.flatnonzero((self.ridge > 0.0) & (self.on == 0.0))
        self._half_inverse = 0.5 / self.ridge[self._ridged]
        self._any_free = bool(self._free_at.size)
        self.reuses = self.single = False
        self.longest = 1.0
        self.rows_of = Dual(problem, np.where(self.on > 0.0, 1.0, self.ridge))

    def begin(self, x: Array, ys: Sequence[Array] | None) -> BallState:
        """The state at x, its entries of the ball scaled into that."""
        x, size = x.copy(), norm2(x[self.at])
        if size > self.radius:
            x[self.at] *= self.radius / size
        return BallState(**vars(super().begin(x, ys)))

    def _bound(self, s: BallState, minus_conjugates: float, left: Array, v: Array, ys: list[Array], x: Array) -> None:  # type: ignore[override]
        """Keep a dual point if its bound is the best: that of `newton` less the ball's support function."""
        super()._bound(s, minus_conjugates - self.ball.conjugate(v[self.at]), left, v, ys, x)

    def _direction(self, s: BallState, hs: list[Array]) -> tuple[Array, Array, list[Array]]:  # type: ignore[override]
        """(d, grad + H d, K d) of the model's minimiser on the ball."""
        largest = self._largest(s, hs)
        by = self._by_unknowns if isinstance(self.system, Primal) else self._by_rows
        d = self._on_ball(s, by(s, hs, LEAST * largest), largest)
        if not float(s.grad @ d) < 0.0:
            # rounding is all that is left
            d[:] = 0.0
        s.phase = "Newton on the ball"
        dzs = self.problem.linear(d)
        r = s.grad + self.problem.adjoint(self.problem.bent(hs, dzs)) + self.ridge * d
        return d, r, dzs

    def _by_unknowns(self, s: BallState, hs: list[Array], least: float) -> Callable[[float], Array | None]:
        """m -> d, each by a factor over the unknowns; None where the matrix is not definite. The least m does not pull at x: what it leaves of the
        gradient the next step makes good."""
        G = Primal(self.problem, self.ridge).gram(hs, unit=self.unit)

        def solve(m: float) -> Array | None:
            found = Primal(self.problem, self.ridge + m * self.on).factored(hs, gram=G)
            pull = 0.0 if m <= least else m
            return None if found is None else found(s.grad + pull * self.on * s.x, s.x, s.zs[0], s.ys[0])

        return solve

    def _by_rows(self, s: BallState, hs: list[Array], least: float) -> Callable[[float], Array | None]:
        """The same, by factors over the rows."""
        kx, own = s.zs[0] - self.problem.terms[0].map.offset, float(self.ridge[self.at][0])

        def solve(m: float) -> Array | None:
            found = self.rows_of.with_ridge(self.ridge + m * self.on, own + m).factored(hs)
            return None if found is None else found(s.grad, s.x, kx, s.ys[0])

        return solve

    def _largest(self, s: BallState, hs: list[Array]) -> float:
        """The largest multiplier: m r is the length of the model's slope at |x_B| = r, and by convexity at most that at x_B = 0."""
        at_zero = s.grad[self.at] - self._bent(s, hs)
        bend = s.bend * float(self.squares[self.at].max()) + float(self.ridge[self.at].max())
        return max(norm2(at_zero) / self.radius, NOTHING * bend)

    def _on_ball(self, s: BallState, solve: Callable[[float], Array | None], largest: float) -> Array:
        """d at the multiplier with |(x + d)_B| = r, or at the least one where that is within; `s` gets the multiplier, and how fast 1 / |x| rises."""
        problem, r = self.problem, self.radius
        near = FINE if self.quadratic else max(FINE, min(ROUGH, (s.decrement / max(abs(s.value), 1e-300)) ** 2))
        least = LEAST * largest
        m = min(max(s.multiplier, least), largest) if s.multiplier > 0.0 else 0.1 * largest
        lo, hi, before = 0.0, largest * (1.0 + 1e-9), (0.0, 0.0)
        best: tuple[float, Array, float] | None = None
        for _ in range(MULTIPLIERS):
            problem.look()
            d = solve(m)
            if d is None or not np.all(np.isfinite(d)):
                lo, m = m, min(APART * m, 0.5 * (m + hi))
                continue
            size = max(norm2((s.x + d)[self.at]), NOTHING * r)
            missed, within = abs(size - r), size <= r and m <= least
            if best is None or within or missed < best[0]:
                best = missed, d, m
            if within or missed <= near * r:
                break
            off = 1.0 / size - 1.0 / r
            lo, hi = (m, hi) if size > r else (lo, m)
            if before[0] > 0.0 and before[0] != m:
                s.rise = max((1.0 / size - before[1]) / (m - before[0]), 0.0)
            # as if |x| were inverse to m where nothing is known yet
            rise = s.rise if s.rise > 0.0 else 1.0 / (size * m)
            before, ahead = (m, 1.0 / size), m - off / rise
            ahead = min(max(ahead, m / APART), APART * m)
            m = ahead if lo < ahead < hi else math.sqrt(max(lo, least) * hi)
            m = max(m, least)
            if hi - lo <= 4.0 * EPS * hi:
                break
        if best is None:
            # nothing is definite: along the slope, which leads down
            s.multiplier = largest
            return np.asarray(-s.grad / largest)
        missed, d, s.multiplier = best
        d, x = d.copy(), (s.x + d)[self.at]
        size = norm2(x)
        if size > r or missed <= near * r:
            # onto the boundary, which it misses by a little
            d[self.at] = (r / size) * x - s.x[self.at]
        return d

    def _bent(self, s: BallState, hs: list[Array]) -> Array:
        """(H x)_B."""
        problem = self.problem
        kx = [z - t.map.offset for z, t in zip(s.zs, problem.terms, strict=True)]
        return (problem.adjoint(problem.bent(hs, kx)) + self.ridge * s.x)[self.at]
