"""The shared parts of the Frank-Wolfe methods: their requirements, the cost they predict, and what their runs do.

A step ends with the gradient at its new point, which the next one starts from: one f'(K x + b) and one K'y a step serve the direction, the objective
and the bound.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar, TypeVar

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.family import Repeated
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses import smoothness
from fwdsl.backends import costs
from fwdsl.backends.frank_wolfe.birkhoff import halves
from fwdsl.backends.frank_wolfe.polytope import hulls, lifted
from fwdsl.backends.frank_wolfe.reduced import candidate, reduced
from fwdsl.backends.frank_wolfe.state import FWState
from fwdsl.backends.frank_wolfe.steps import Segment
from fwdsl.backends.method import Estimate, Method, Run
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.requirements import bounded_set, linear_oracle
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.canon.pairs import words_of

REFRESH_EVERY = 64
"""Steps after which predictions, kept by linearity, are computed afresh."""

F = TypeVar("F", bound=FWState)


class OracleMethod(Method):
    """A Frank-Wolfe method; `finite` ones need sets with finitely many vertices."""

    finite: ClassVar[bool] = False

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Smooth losses over a compact set with an LMO on every variable, and no norm beside it."""
        found = []
        inside = lifted(arrangement)
        whole = [*halves(arrangement), *inside.values()]
        for term in arrangement.sums:
            if term in whole:
                continue
            if term.kind != "loss" or smoothness(term.atom) is None:
                found.append(f"`{term.text}` is not smooth")
        for block in (b for b in arrangement.blocks if b.name not in inside):
            own = bounded_set(block)
            if cls.finite and not own and block.set is not None and not words_of(block.set)[1].polyhedral:
                own.append(
                    f"{block.name}: steps away from vertices need finitely many of them, and {block.set} is round"
                )
            found += own
        return tuple(found)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """No infinite side of a box, and an oracle for every set."""
        found = []
        points = {h.x.name for h in hulls(canonical.terms)}
        for b in (b for b in canonical.blocks if b.name not in points):
            # the blocks of a family have one set, of which there may be a million
            g = b.g.inner if isinstance(b.g, Repeated) and b.g.count else b.g
            own = linear_oracle(b, g)
            if cls.finite and not own and g.size and g.vertex_id(np.zeros(g.size)) is None:
                own.append(f"{b.name}: steps away from vertices need finitely many of them, and {b.text} is round")
            found += own
        return tuple(found)

    @classmethod
    def requires_options(cls, canonical: Canonical, options: Mapping[str, object]) -> tuple[str, ...]:
        """`short` needs losses of bounded curvature."""
        if options.get("step") != "short":
            return ()
        steep = [
            f'`{t.text}` has a curvature without bound, which `step="short"` needs'
            for t in canonical.terms
            if isinstance(t.f, LossFunction) and not math.isfinite(t.f.loss.smoothness or 0.0)
        ]
        return tuple(steep)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """The sublinear estimate of vanilla Frank-Wolfe. The linear rate over polytopes depends on the face of the solution, which no plan knows."""
        return costs.fw(canonical, tol)


class OracleRun(Run[PreparedProblem, F]):
    """A run on the problem with its sets whole, which is `reduced`."""

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem)
        self.reduced = reduced(problem)

    def candidate(self) -> tuple[Array, list[Array] | None]:
        return candidate(self.problem, self.reduced, self.state.best_x, self.state.best_ys)

    def started(self, cls: type[F], x: Array, ys: Sequence[Array] | None) -> F:
        """A state at x, moved into the set, with its gradient; a dual point that is given is kept where its bound is the better one."""
        problem = self.reduced
        s = cls(0, problem.prox_g(x, 0.0))
        s.z = problem.forward(s.x)
        if ys is not None and len(ys) == len(problem.terms):
            dual = [y.copy() for y in ys]
            self.keep_bound(s, dual, problem.adjoint(dual), -problem.conjugates(dual))
        self.look(s)
        return s

    def is_start(self, x: Array) -> bool:
        """True if x is the point of the set that runs start from where none is given."""
        return not np.any(x != self.reduced.prox_g(np.zeros_like(x), 0.0))

    def look(self, s: F, bound: bool = True, evaluated: tuple[float, list[Array]] | None = None) -> None:
        """The gradient at s.x, P there and, if asked for, the bound; `evaluated` is (f, y) where a line search has them already."""
        problem = self.reduced
        value, s.ys = problem.losses_gradient(s.z) if evaluated is None else evaluated
        s.kty = problem.adjoint(s.ys)
        s.gradients += 1
        s.keep_point(problem.canonical.constant + value + float(problem.q @ s.x) + problem.g_value(s.x))
        if bound:
            self.keep_bound(s, s.ys, s.kty, value - float(s.kty @ s.x))

    def keep_bound(self, s: F, ys: list[Array], kty: Array, conjugates: float) -> None:
        """Keep D(y) if it is the best so far: with a ridge it is tighter than P less the Frank-Wolfe gap.

        `conjugates` is sum <b, y> - f*(y); at y = f'(K x + b) that is f(K x + b) - <K'y, x>.
        """
        problem = self.reduced
        bound = problem.canonical.constant + conjugates
        v = -(problem.q + kty)
        for block, g in zip(problem.canonical.blocks, problem.g, strict=True):
            mu, x = block.g.curvature, s.x[block.slice]
            if mu and not g.f.proximable:
                # no prox, no conjugate of the ridge on the set: the ridge is above its tangent at x
                bound -= block.g.inner.conjugate(v[block.slice] - mu * x) + 0.5 * mu * float(x @ x)  # type: ignore[attr-defined]
            else:
                bound -= g.conjugate(v[block.slice])
        # a number that overflows is no bound
        if s.best_bound < bound < math.inf:
            s.best_bound, s.best_ys = bound, [y.copy() for y in ys]

    def slope(self, s: F) -> Array:
        """The gradient of P at x: K'y + q + the slope of the ridges."""
        found = s.kty + self.reduced.q
        for block in self.reduced.canonical.blocks:
            if block.g.curvature:
                found[block.slice] += block.g.curvature * s.x[block.slice]
        return found

    def vertex(self, s: F, c: Array) -> Array:
        """argmin of <c, v> over the product of the sets, which is counted."""
        s.vertices += 1
        return self.reduced.vertex(c)

    def without_offset(self, s: F) -> list[Array]:
        """K x, from the predictions."""
        return [z - t.map.offset for z, t in zip(s.z, self.reduced.terms, strict=True)]

    def advance(self, s: F, segment: Segment, gamma: float, x: Array, bound: bool = True) -> None:
        """Move the state to x, gamma along the segment: predictions by linearity or afresh, then the gradient."""
        s.iteration += 1
        s.x = x
        if s.iteration % REFRESH_EVERY == 0:
            s.z = self.reduced.forward(x)
            self.look(s, bound)
        else:
            evaluated = segment.evaluated(gamma)
            s.z = segment.predictions(gamma)
            self.look(s, bound, evaluated)
