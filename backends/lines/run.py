"""Runs of `lines`.

Where the losses are sums over the entries of the variable, a step minimises a quadratic model of them with g and the lines, exactly, by one prox
with weights; of squares that is the answer. Other losses are searched along the way to the model's minimiser (prox-Newton). Where the losses see the
variable through data, steps are those of accelerated gradient with the prox along the lines, and Newton's on the levels that stay.

The multipliers of the steps are those of the prox. They belong to terms of the canonical form, which the verifier sees as it was written.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.vectors.common import norm2
from fwdsl.backends.apg_run import APGRun
from fwdsl.backends.dual import missed_by_rounding
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.lines.function import Along
from fwdsl.backends.lines.method import LinesMethod
from fwdsl.backends.lines.parts import Separable, without_lines
from fwdsl.backends.lines.segments import corrected, newton, signature
from fwdsl.backends.lines.state import LinesState
from fwdsl.backends.method import Report, Run
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.parts import Block

PATIENCE, NEAR = 8, 1e-5
"""The prox steps on changing levels, and the relative gap, from which a Newton step is tried on any."""

HALVINGS = 40
LEAST_DAMPING = 1e-12
ENOUGH = 1e-4
"""The share of the predicted decrease that a step must make."""


class GradientOnLines(APGRun):
    """Accelerated gradient on a problem whose blocks keep their lines."""

    def _watch_face(self) -> None:
        s = self.state
        face = signature(self.problem, s.x)
        same = face.size > 0 and face.shape == s.face.shape and bool(np.all(face == s.face))
        # near the optimum levels may come and go by rounding, and keep no step from being tried
        near = s.wait < -PATIENCE and abs(s.value - s.best_bound) <= NEAR * abs(s.value)
        s.stable = s.stable + 1 if same or (near and face.size) else 0
        s.face = face
        s.wait -= 1

    def _newton(self, grad: Array) -> bool:
        """Try a Newton step on the levels at x."""
        s = self.state
        accepted = newton(self.problem, s.x, s.z, s.value, grad)
        if accepted is None:
            s.wait, s.next_wait = s.next_wait, min(64, 2 * s.next_wait)
            return False
        s.x, s.z, s.value, tells = accepted
        s.x_old, s.z_old, s.t = s.x, s.z, 1.0
        s.face = signature(self.problem, s.x)
        s.next_wait = 2
        # at the optimum of the face, prox steps tell whether it is the right one
        s.wait = 0 if tells else s.next_wait
        s.phase = "Newton on the levels"
        return True

    def _bound(self, y: Array, value_y: float, ys: list[Array], kty: Array) -> None:
        """Keep the dual point of this gradient if its bound is the best so far; the lines' own multipliers are the best ones for it."""
        problem, s = self.problem, self.state
        rests, scale = [], 1.0
        for block in problem.canonical.blocks:
            v = -(problem.q + kty)[block.slice]
            g = block.g
            rest, g = (g.split(v)[0], g.g) if isinstance(g, Along) else (v, g)
            rests.append((g, rest))
            if not math.isfinite(g.conjugate(rest)):
                scale = min(scale, 0.0 if problem.q[block.slice].any() else g.dual_scale(rest))
        if problem.has_q and scale < 1.0:
            scale = 0.0
        if scale == 1.0 or scale == 0.0:
            bound = problem.canonical.constant + value_y - float(kty @ y)
        else:
            ys = [scale * u for u in ys]
            bound = problem.canonical.constant - problem.conjugates(ys)
            rests = [(g, scale * rest) for g, rest in rests]
        for block, (g, rest) in zip(problem.canonical.blocks, rests, strict=True):
            conjugate = g.conjugate(rest)
            if not math.isfinite(conjugate):
                # what is moved costs about as much as x gains by it: on a face that is not the optimum's this alone tells
                moved = g.dual_project(rest)
                conjugate = g.conjugate(moved) + norm2(rest - moved) * norm2(s.x[block.slice])
            bound -= conjugate
        if scale == 0.0 or not s.stands or bound > s.best_bound:
            s.best_bound, s.ys, s.stands = bound, ys, scale > 0.0


class LinesRun(Run[PreparedProblem, LinesState], of=LinesMethod):
    """A run on a problem."""

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem)
        self.rest = without_lines(problem)
        self.gradient = GradientOnLines(self.rest, newton=True)
        self.separable = Separable.of(problem.canonical, self.rest)
        self.chains = problem.canonical.chains[0]
        taken = {step.term for chain in self.chains for step in chain.steps}
        self.others = [k for k in range(len(problem.terms)) if k not in taken]

    def begin(self, x: Array, ys: Sequence[Array] | None) -> LinesState:
        """The projection of x on the domain of g and of the lines."""
        kept = [ys[k] for k in self.others] if ys is not None and len(ys) == len(self.problem.terms) else None
        if self.separable is None:
            return LinesState(**vars(self.gradient.begin(x, kept)))
        problem = self.rest
        x = problem.prox_g(x, 0.0) if x.any() else self.separable.along.g.prox(x, 0.0)
        z = problem.forward(x)
        value = problem.objective(x, z)
        none = np.zeros(0)
        return LinesState(0, x, x, none, z, z, 1.0, 1.0, value, -math.inf, phase="prox along the lines")

    def step(self) -> None:
        if self.separable is not None:
            self._model_step(self.separable)
            return
        self.gradient.state = self.state
        self.gradient.step()

    def _model_step(self, separable: Separable) -> None:
        """The minimiser of a quadratic model, or a point on the way to it, and its multipliers."""
        problem, s = self.rest, self.state
        _, ys = problem.losses_gradient(s.z)
        slope = problem.adjoint(ys)
        if problem.has_q:
            slope += problem.q
        bends = separable.bends(s.z)
        if not separable.quadratic:
            bends = np.maximum(bends, s.damping * np.maximum(separable.most, float(bends.max(initial=0.0))))
        new, u = separable.model(s.x, slope, bends)
        s.iteration += 1
        if separable.quadratic:
            z = problem.forward(new)
            losses, ys = problem.losses_gradient(z)
            s.x, s.z, s.value = new, z, problem.objective(new, z, losses)
        else:
            taken = self._towards(new, slope)
            if taken is not None:
                s.x, s.z, s.value = taken
            _, ys = problem.losses_gradient(s.z)
        s.x_old, s.z_old = s.x, s.z
        self._multipliers(separable, u, ys)

    def _towards(self, new: Array, slope: Array) -> tuple[Array, list[Array], float] | None:
        """(x, z, P) on the way to a model's minimiser; None where P does not fall."""
        problem, s = self.rest, self.state
        z = problem.forward(new)
        value = problem.objective(new, z)
        predicted = float(slope @ (new - s.x)) + problem.g_value(new) - problem.g_value(s.x)
        length = 1.0
        while not value - s.value <= ENOUGH * length * predicted:
            if length < 0.5**HALVINGS:
                s.damping = min(1.0, 10.0 * s.damping)
                return None
            problem.look()
            length *= 0.5
            point = s.x + length * (new - s.x)
            z = problem.forward(point)
            value = problem.objective(point, z)
        s.damping = max(0.1 * s.damping, LEAST_DAMPING) if length == 1.0 else min(1.0, 4.0 * s.damping)
        return (new if length == 1.0 else problem.prox_g(point, 0.0)), z, value

    def _multipliers(self, separable: Separable, u: Array, ys: list[Array]) -> None:
        """The dual point of x and u: the losses' gradients ys, moved to where the equalities hold."""
        problem, s = self.rest, self.state
        along = separable.along
        rest = problem.adjoint(ys)
        if problem.has_q:
            rest += problem.q
        rest += along.transposed(u)
        np.negative(rest, out=rest)
        target = rest if math.isfinite(along.g.conjugate(rest)) else along.g.dual_project(rest)
        scale = 1.0
        if target is not rest:
            ys, scale = separable.met(rest - target if target.any() else rest, ys)
        if scale < 1.0 and not problem.has_q:
            ys, u, target = [scale * y for y in ys], scale * u, scale * target
        if not separable.quadratic:
            for f, y in zip(problem.functions, ys, strict=True):
                f.into_domain(y)
        s.ys, s.us = ys, [u]
        s.best_bound = problem.canonical.constant - problem.conjugates(s.ys) - along.g.conjugate(target)

    def report(self) -> Report:
        return Report(self.state.value, self.state.best_bound, self.state.phase)

    def ray(self) -> tuple[Array, list[Array]] | None:
        return self.state.x, [np.zeros(t.map.rows) for t in self.problem.terms]

    def candidate(self) -> tuple[Array, list[Array] | None]:
        """x, and the multipliers of all terms."""
        s = self.state
        if not s.ys and self.others:
            return s.x, None
        ys, us = s.ys, s.us
        if self.separable is None:
            ys, us = self._split()
        found = dict(zip(self.others, ys, strict=True))
        for chain, u in zip(self.chains, us, strict=True):
            found |= chain.multipliers(u)
        return s.x, [found[k] for k in range(len(self.problem.terms))]

    def _split(self) -> tuple[list[Array], list[Array]]:
        """The losses' multipliers, moved to where equalities are met and scaled into the domain of g*, and those of the lines.

        Sums over the levels at x are met where these are the optimum's; sums over whole lines, before that, leave much to scaling.
        """
        problem, s = self.rest, self.state
        ys, (us, scale, summed) = s.ys, self._of_lines(s.ys)
        if (scale == 0.0 or summed) and all(isinstance(f, FastLoss) for f in problem.functions):
            near = corrected(problem, s.x, s.z, s.ys)
            at_x = self._of_lines(near)
            if at_x[1] > 0.0 and not at_x[2]:
                # sums over whole lines would move what a set of the variable balances
                ys, (us, scale, _) = near, at_x
            else:
                ys, us, scale = self._along_whole((near, s.ys))
        if 0.0 < scale < 1.0 and not problem.has_q:
            return [scale * y for y in ys], [scale * u for u in us]
        return ys, us

    def _along_whole(self, starts: Sequence[list[Array]]) -> tuple[list[Array], list[Array], float]:
        """(ys, us, scale) with sums over whole lines that are met, from the first of these multipliers that leads into the domains."""
        problem, s = self.rest, self.state
        whole = s.x.copy()
        for chain in self.chains:
            whole[problem.canonical.blocks[chain.block].slice] = 0.0
        found = []
        for start in starts:
            tried = corrected(problem, whole, s.z, start)
            us, scale, _ = self._of_lines(tried)
            found.append((tried, us, scale))
            if scale > 0.0:
                break
        return found[-1] if found[-1][2] > 0.0 else found[0]

    def _is_met(self, block: Block, slope: Array, ys: list[Array]) -> bool:
        """True if all that keeps the slope of a free block from 0 is rounding, which the verifier takes as it is."""
        places = np.arange(block.start, block.start + block.size)
        return block.g.pair == (None, None) and missed_by_rounding(self.rest, ys, places, slope)

    def _of_lines(self, ys: list[Array]) -> tuple[list[Array], float, bool]:
        """(u, s, summed): the lines' multipliers beside those of the losses, and the scale that brings all into their domains, 0 where none does.

        `summed` says that some are sums of v, which must be 0 along whole lines.
        """
        problem = self.rest
        v = -(problem.q + problem.adjoint(ys))
        us, scale, summed = [], 1.0, False
        for block in problem.canonical.blocks:
            own = v[block.slice]
            if not isinstance(block.g, Along):
                if not math.isfinite(block.g.conjugate(own)) and not self._is_met(block, own, ys):
                    scale = min(scale, block.g.dual_scale(own))
                continue
            rest, u = block.g.split(own)
            if not math.isfinite(block.g.g.conjugate(rest)):
                share = block.g.g.dual_scale(rest)
                if share == 0.0:
                    at = self.state.x[block.slice]
                    found = block.g.sums(own, at) or block.g.sums(own, np.zeros_like(at))
                    u, share = found or (u, 0.0)
                    summed = True
                scale = min(scale, share)
            us.append(u)
        return us, scale, summed
