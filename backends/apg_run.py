r"""Accelerated proximal gradient with backtracking and adaptive restart, and semismooth Newton on the identified face.

Problem: min F(x) + g(x), F(x) = sum_i f_i(K_i x + b_i) + <q, x> smooth, g with a prox (a set, a norm, a pair, with ridges).

    y^k     = x^k + ((t_{k-1} - 1) / t_k) (x^k - x^{k-1})
    x^{k+1} = prox_{g/L}(y^k - grad F(y^k) / L),    L doubled until F(x+) <= F(y) + <grad F(y), x+ - y> + L/2 |x+ - y|^2

(Beck, Teboulle 2009). The momentum restarts when <y - x+, x+ - x> > 0 (O'Donoghue, Candes 2015). L may shrink by a tenth an
iteration, with t adapted to the ratio of the L (Scheinberg, Goldfarb, Bai 2014), as a fixed L of the worst case costs 24 to 60
times more, as measured.

When the face of g (its support, active bounds) has been the same for some iterations, a Newton step is tried on it:

    minimise  <grad F(x) + slope, d> + d' H d / 2   over d on the face,   H = K_I' diag(f'') K_I + curvature of g,

from the point of the last prox step, and taken if P falls; otherwise APG goes on with its momentum, which must survive
a failed step. The Hessian of a loss of rows of predictions is no diagonal: conjugate gradients apply it.

Every gradient point certifies: y_i = f_i'(z_i) gives f_i*(y_i) = <z_i, y_i> - f_i(z_i) and thus D = F(y) - <y, grad F(y)> - g*(-grad F(y)) at no
further pass.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends import costs
from fwdsl.backends.apg import APG, APGState
from fwdsl.backends.dual import feasible_scale
from fwdsl.backends.functions import FastLoss, FastVector
from fwdsl.backends.method import Report, Run
from fwdsl.backends.newton import MAX_DENSE, NewtonFace, face_signature, newton_step
from fwdsl.backends.problem import PreparedProblem

NOISY = 10.0
"""The least multiple of the rounding of values that the bend along a step must be to tell whether L holds."""

EPS = float(np.finfo(np.float64).eps)

LONGEST = 1e8
"""The longest gradient step, relative to the size of x: where F is linear nothing else bounds it."""

APART = 1e6
"""The ratio of two variables' curvatures from which each has a step of its own."""

STUBBORN = 16
"""The iterations to wait before the next Newton step, doubled by each failure, from which on it is made to fall by all means."""


PAID = 4.0
"""The most that a Newton step may cost, over what has been spent: where passes cost little, hundreds of them take no longer than a large system."""

SYSTEM, PATH = 2e-11, 4.0
"""Seconds of a system of Newton's, divided by the third power of its order, and the systems that a step along a path of signs solves."""


class APGRun(Run[PreparedProblem, APGState], of=APG):
    """Accelerated proximal gradient on a problem."""

    def __init__(self, problem: PreparedProblem, newton: bool) -> None:
        super().__init__(problem)
        # losses of rows have no diagonal Hessian, which some tests ask for
        self.curved = all(isinstance(f, FastLoss) for f in problem.functions)
        self.newton = newton

    def begin(self, x: Array, ys: Sequence[Array] | None) -> APGState:
        """The projection of x on the domain of g, and L from the curvature along the first gradient."""
        problem = self.problem
        x = problem.prox_g(x, 0.0)
        z = problem.forward(x)
        value = problem.objective(x, z)
        metric, lipschitz = self._first_lipschitz(z)
        state = APGState(0, x, x.copy(), metric, z, [v.copy() for v in z], 1.0, lipschitz, value, -math.inf)
        if ys is not None and len(ys) == len(problem.terms):
            state.ys = [y.copy() for y in ys]
        return state

    def _first_lipschitz(self, z: list[Array]) -> tuple[Array, float]:
        """A number a block, for each entry, that levels their curvatures, and L in this metric.

        L is the curvature g' H g / |g|^2 of F along its gradient, below the largest one, which backtracking then finds. One step for all blocks
        serves where their units are of one kind: the metric is 1 but for blocks whose curvatures along their own gradients lie APART or more.
        """
        problem, blocks = self.problem, self.problem.canonical.blocks
        metric = np.ones(problem.size)
        _, ys = problem.losses_gradient(z)
        grad = problem.adjoint(ys) + problem.q
        if len(blocks) > 1:
            bends = []
            for block in blocks:
                own = np.zeros_like(grad)
                own[block.slice] = grad[block.slice]
                bends.append(self._bend(z, own))
            known = [b for b in bends if b is not None]
            if known and max(known) > APART * min(known):
                for block, own_bend in zip(blocks, bends, strict=True):
                    metric[block.slice] = max(known) / own_bend if own_bend is not None else 1.0
        direction = metric * grad
        bend = self._bend(z, direction)
        norm = float(grad @ direction)
        if bend is not None:
            return metric, bend * float(direction @ direction) / norm
        if not 0.0 < norm < math.inf:
            return metric, 1.0
        # where F is linear, as it is without terms, the first step is as long as the domain of g is wide, or as its ridge makes it
        curved = max((b.g.curvature for b in blocks), default=0.0)
        wide = max((b.g.radius() for b in blocks if math.isfinite(b.g.radius())), default=0.0)
        return metric, curved or math.sqrt(norm) / (wide or 1.0)

    def _bend(self, z: list[Array], direction: Array) -> float | None:
        """The curvature of F along a direction, d' H d / |d|^2; None where there is none."""
        norm = float(direction @ direction)
        if not 0.0 < norm < math.inf:
            return None
        problem = self.problem
        dzs = problem.linear(direction)
        curvature = 0.0
        if all(isinstance(f, FastLoss) for f in problem.functions):
            bent = [h * dz for h, dz in zip(problem.curvatures(z), dzs, strict=True)]
            curvature = sum(problem.dots(bent, dzs))
        if not curvature > 0.0:
            # losses of rows, or linear pieces: the largest curvature there is
            bounds = [f.f.lipschitz for f in problem.functions if not isinstance(f, FastVector)]
            curvature = sum(bound * square for bound, square in zip(bounds, problem.dots(dzs, dzs), strict=True))
        return curvature / norm if 0.0 < curvature / norm < math.inf else None

    def step(self) -> None:
        """One gradient, then a Newton step on the face or a prox step."""
        problem, s = self.problem, self.state
        try_newton = self.newton and s.stable >= 1 and s.wait <= 0
        beta = 0.0 if try_newton else (s.t - 1.0) / self._next_t(s.t)
        if beta == 0.0:
            y, zy = s.x, s.z
        else:
            y = s.x + beta * (s.x - s.x_old)
            zy = [a + beta * (a - b) for a, b in zip(s.z, s.z_old, strict=True)]
        value_y, ys = problem.losses_gradient(zy)
        kty = problem.adjoint(ys)
        grad = kty + problem.q
        self._bound(y, value_y, ys, kty)
        s.iteration += 1
        if try_newton and self._newton(grad):
            return
        # of the value: its own, and what the rounding of predictions does to it
        size = abs(value_y) + sum(problem.dots([np.abs(u) for u in ys], [np.abs(v) for v in zy]))
        self._prox_step(y, zy, value_y, kty, grad, 16.0 * EPS * size)

    @staticmethod
    def _next_t(t: float) -> float:
        return 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))

    def _prox_step(self, y: Array, zy: list[Array], value_y: float, kty: Array, grad: Array, noise: float) -> None:
        """A step from y whose L holds along it; values are known up to `noise`."""
        problem, s = self.problem, self.state
        before = s.lipschitz
        s.lipschitz = max(0.9 * s.lipschitz, self._least_lipschitz(y, grad, s.metric), 1e-300)
        for _ in range(100):
            x = problem.prox_g(y - s.metric * grad / s.lipschitz, 1.0 / s.lipschitz, s.metric)
            dx = x - y
            square = float(dx @ (dx / s.metric))
            z = problem.forward(x)
            value = problem.losses_value(z)
            excess, unknown = value - value_y - float(kty @ dx), noise
            if self.curved and 0.5 * s.lipschitz * square <= NOISY * noise:
                # rounding of values would hide steps that are too long, and x would never settle
                excess, unknown = self._excess(zy, z)
            if excess <= 0.5 * s.lipschitz * square + unknown or square == 0.0:
                break
            problem.look()
            wanted = 2.0 * excess / square
            s.lipschitz = (
                min(max(1.3 * s.lipschitz, 1.05 * wanted), 8.0 * s.lipschitz)
                if math.isfinite(wanted)
                else 8.0 * s.lipschitz
            )
        progress = x - s.x
        restart = float(-dx @ (progress / s.metric)) > 0.0
        s.t = 1.0 if restart else 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * s.t * s.t * s.lipschitz / before))
        s.x_old, s.z_old = (x, z) if restart else (s.x, s.z)
        s.x, s.z = x, z
        s.value = problem.canonical.constant + value + float(problem.q @ x) + problem.g_value(x)
        s.phase = "accelerated gradient"
        self._watch_face()

    def _excess(self, zy: list[Array], z: list[Array]) -> tuple[float, float]:
        """The rise of the losses above their tangent at zy, by their curvatures there, and the part of it that is rounding of predictions."""
        excess = unknown = 0.0
        for term, h, a, b in zip(self.problem.terms, self.problem.curvatures(zy), zy, z, strict=True):
            excess += 0.5 * term.dot(h, np.square(b - a))
            unknown += term.dot(h, np.square(4.0 * EPS * b))
        return excess, unknown

    @staticmethod
    def _least_lipschitz(y: Array, grad: Array, metric: Array) -> float:
        """No step goes further than LONGEST times the size of x, which a projection would not survive; from 0 there is nothing to measure by."""
        size = math.sqrt(float(y @ (y / metric)))
        return math.sqrt(float(grad @ (metric * grad))) / (LONGEST * size) if size > 0.0 else 0.0

    def _watch_face(self) -> None:
        if not self.newton:
            return
        problem, s = self.problem, self.state
        face = face_signature(problem, s.x)
        same = face is not None and face.shape == s.face.shape and bool(np.all(face == s.face))
        s.stable = s.stable + 1 if same else 0
        s.face = face if face is not None else np.zeros(0)
        s.wait -= 1

    def _can_pay(self, face: Array | None) -> bool:
        """True if a Newton step on a face costs little beside the steps so far."""
        free = 0 if face is None else int(np.count_nonzero(face))
        if free > MAX_DENSE:
            # conjugate gradients take a few passes
            return True
        system = PATH * SYSTEM * float(free) ** 3
        problem, done = self.problem, self.state.iteration
        return system <= PAID * costs.seconds(problem.canonical, problem.passes, float(done))

    def _newton(self, grad: Array) -> bool:
        """Try a Newton step at x; False where it is left to the prox step, which has the gradient already."""
        problem, s = self.problem, self.state
        trial = problem.prox_g(s.x - s.metric * grad / s.lipschitz, 1.0 / s.lipschitz, s.metric)
        face_of_trial = face_signature(problem, trial)
        if not self._can_pay(face_of_trial):
            return False
        if face_of_trial is None or not bool(np.all(face_of_trial == s.face)):
            s.stable = 0
            return False
        face = NewtonFace.at(problem, s.x)
        accepted = newton_step(problem, face, s.x, s.z, s.value, grad) if face is not None else None
        stubborn = self.curved and face is not None and accepted is None and s.next_wait >= STUBBORN
        if face is not None and stubborn:
            accepted = newton_step(problem, face, s.x, s.z, s.value, grad, stubborn=True)
        if accepted is None:
            s.wait, s.next_wait = s.next_wait, min(64, 2 * s.next_wait)
            return False
        s.x, s.z, s.value = accepted
        s.x_old, s.z_old = s.x, s.z
        s.t = 1.0
        signature = face_signature(problem, s.x)
        if signature is None:
            # a curved boundary was reached
            s.face, s.stable = np.zeros(0), 0
        else:
            s.face = signature
        if not stubborn:
            s.next_wait = 2
        s.phase = "Newton on the support"
        return True

    def _bound(self, y: Array, value_y: float, ys: list[Array], kty: Array) -> None:
        """Keep the dual point of this gradient if its bound is the best so far."""
        problem, s = self.problem, self.state
        scale = feasible_scale(problem, kty)
        v = -(problem.q + kty)
        if scale == 1.0 or scale == 0.0:
            bound = problem.canonical.constant + value_y - float(kty @ y)
        else:
            ys = [scale * u for u in ys]
            v = -(problem.q + scale * kty)
            bound = problem.canonical.constant - problem.conjugates(ys)
        for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
            vb = v[block.slice]
            conjugate = g.conjugate(vb)
            bound -= conjugate if math.isfinite(conjugate) else g.conjugate(g.f.dual_project(vb))
        # an optimistic bound (scale 0) is not monotone: the latest is the one to repair, and any that stands takes its place
        if scale == 0.0 or not s.stands or bound > s.best_bound:
            s.best_bound, s.ys, s.stands = bound, ys, scale > 0.0

    def report(self) -> Report:
        return Report(self.state.value, self.state.best_bound, self.state.phase)

    def ray(self) -> tuple[Array, list[Array]] | None:
        """The way of x since zero: far out, that is the direction in which it leaves."""
        return self.state.x, [np.zeros_like(z) for z in self.state.z]

    def candidate(self) -> tuple[Array, list[Array] | None]:
        """x and the best dual point; of a sum without terms that is the empty one."""
        return self.state.x, None if self.problem.terms and not self.state.ys else self.state.ys
