"""Solving the canonical form: x is one vector, a dual point has an array a term."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from ..atoms.base import Array
from ..atoms.loss import LossFunction
from ..atoms.low_rank import LowRank
from ..backends.problem import PreparedProblem
from ..canon.form import Canonical
from ..canon.terms import term_values
from ..certify.verified import DualBound, Verified
from ..certify.verify import verify
from ..model.options import Options
from ..results.solution import Solution
from .attempts import Judge, Judged, attempts
from .duals import constraint_duals
from .forms import AsWritten, Start, default_threads
from .start import dual_point_of, origin_of, realigned, require_fit, values_of

FAR = 30.0
"""A margin at which a loss with a minimiser has its minimum; the slope of the logistic loss is 1e-13 there, far from 0."""


class SolvableCanonical(AsWritten):
    """A `Canonical` that can be solved (`fwdsl.solve.forms.Solvable`)."""

    def __init__(self, form: Canonical, options: Options) -> None:
        self.form = form
        self._options = options

    def prepare(self) -> PreparedProblem:
        problem = PreparedProblem(self.form, self._options.threads or default_threads(), self._options.seed)
        problem.tol = self._options.tol if self._options.gap == "relative" else None
        return problem

    def start(self, start: Solution | Mapping[str, object] | Start | None) -> Start:
        """Zero, values by name, a solution with its dual point where that fits, or a start as it is."""
        if isinstance(start, Start) and isinstance(start.x, LowRank):
            assert self.form.factored is not None
            written = {name: np.asarray(value) for name, value in self.form.factored.split(start.x).items()}
            return Start(self.form.join(written), None, start.origin)
        if isinstance(start, Start):
            return start
        if start is None:
            return Start(np.zeros(self.form.size), None, "zero")
        form = self.form
        values = realigned(start, form.instance) if isinstance(start, Solution) else values_of(start)
        shapes = {b.name: b.user_shape for b in form.blocks if not b.auxiliary}
        require_fit(values, shapes, known_only=not isinstance(start, Solution))
        if not isinstance(start, Solution):
            return Start(form.join(values), None, origin_of(start))
        sizes = {b.name: b.user_shape for b in form.blocks if b.auxiliary}
        weights = {n: w for n, w in start.record.get("weights", {}).items() if sizes.get(n) == np.shape(w)}
        ys = dual_point_of(start, values)
        fits = ys is not None and form.dual_sizes(ys) == [y.size for y in ys]
        return Start(form.join({**values, **weights}), ys if fits else None, origin_of(start))

    def verify(
        self,
        problem: PreparedProblem,
        x: Array,
        ys: list[Array] | None,
        scales: Array | None,
        first: bool,
        stop: Callable[[], bool],
        judge: Judge | None = None,
    ) -> Iterator[Judged]:
        """Points and dual points: repaired, moved into the constraints, and y = 0 (see `attempts`). `judge` verifies them for another program."""
        # predictions and slopes that stayed with their rows are fetched
        landed = None if ys is None else [np.array(y) for y in ys]
        return attempts(problem, x, landed, scales, first, stop, judge)

    def measure(self, x: Array) -> tuple[Array, Verified]:
        """P(x) and what x violates, without a dual point."""
        return x, verify(self.form, x, None)

    def duals(self, x: Array, bound: DualBound) -> dict[str, object]:
        """The multipliers of the terms and blocks that hold the constraints."""
        return constraint_duals(self.form, x, bound)

    def terms(self, x: Array) -> dict[str, float]:
        return term_values(self.form.instance, self.form.blocks, x)

    def warnings(self, x: Array) -> tuple[str, ...]:
        """A warning for data that x separates."""
        return _warnings(self.form, x)


def _warnings(canonical: Canonical, x: Array) -> tuple[str, ...]:
    """A sentence if x separates the data of unregularised losses of signs that fall for ever, as the logistic loss does: there is no minimiser."""
    losses = [t for t in canonical.terms if isinstance(t.f, LossFunction) and t.f.loss.word.target == "signs"]
    alone = len(losses) == len(canonical.terms) and not canonical.q.any()
    if not losses or not alone or not all(b.g.pair == (None, None) and b.g.curvature == 0.0 for b in canonical.blocks):
        return ()
    falls = False
    for term in losses:
        f = term.f
        assert isinstance(f, LossFunction)
        live = f.w > 0.0
        if not np.all((f.b * term.map.apply(x))[live] > 0.0):
            return ()
        # a hinge is 0 from a margin of 1 on, and its minimum is attained
        falls = falls or bool(f.gradient(FAR * f.b)[live].any())
    if not falls:
        return ()
    texts = " and ".join(f"`{t.text}`" for t in losses)
    return (
        f"the data of {texts} are separable: without a regulariser or a bound larger coefficients are ever better, and no minimum is attained",
    )
