"""Solving an equivalent program: methods work on it, and the verifier sees the points and multipliers of the program as it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..backends.method import Report
from ..canon.rewrites import Rewritten
from ..canon.terms import term_values
from ..certify.verified import DualBound, Point, Verified
from ..certify.verify import tidied, verify
from ..model.options import Options
from ..results.solution import Solution
from .attempts import Judged
from .canonical import SolvableCanonical
from .duals import constraint_duals
from .forms import Start


class SolvableRewritten:
    """A `Rewritten` that can be solved (`fwdsl.solve.forms.Solvable`): `inner` is the equivalent program's task."""

    def __init__(self, form: Rewritten, inner: SolvableCanonical, options: Options) -> None:
        self.form = form
        self._inner = inner
        self._outer = SolvableCanonical(form.outer, options)

    @property
    def attempts(self) -> int:
        return self._inner.attempts

    @attempts.setter
    def attempts(self, count: int) -> None:
        self._inner.attempts = count

    def prepare(self) -> Any:
        return self._inner.prepare()

    def start(self, start: Solution | Mapping[str, Any] | Start | None) -> Start:
        """The point of the program as it is written, led to the equivalent one."""
        at = self._outer.start(start)
        if start is None:
            return self._inner.start(None)
        return self.restart(Start(at.x, at.ys, at.origin))

    def restart(self, at: Start) -> Start:
        """A point and a dual point that were verified, as the equivalent program has them."""
        ys = at.ys or []
        known = self.form.inward_dual(at.x, ys) if len(ys) == len(self.form.outer.terms) else None
        return Start(self.form.inward(at.x, ys), known, at.origin)

    def verify(
        self, problem: Any, x: Any, ys: list[Array] | None, scales: Array | None, first: bool, stop: Callable[[], bool]
    ) -> Iterator[Judged]:
        """The points of the equivalent program, each verified for the program as it is written, and for that alone."""
        known: list[tuple[Array, Point]] = []

        def judge(x: Array, ys: Sequence[Array] | None, _: Point | None) -> Judged:
            if ys is None:
                at, told = self.form.outward(x, None)
            else:
                tidy = tidied(self.form.inner, ys)
                at, told = self.form.outward(x, tidy.y, tidy.v)
            point = known[0][1] if known and np.array_equal(known[0][0], at) else None
            verified = verify(self.form.outer, at, told, point)
            known[:] = [(at, verified.point)]
            return at, verified

        return self._inner.verify(problem, x, ys, scales, first, stop, judge)

    def measure(self, x: Array) -> tuple[Array, Verified]:
        """P and what is violated, of the program as it is written."""
        at, told = self.form.outward(x, None)
        return at, verify(self.form.outer, at, told)

    def report(self, report: Report) -> Report:
        """The values of a dual are bounds of the program as it is written, and the other way."""
        if not self.form.mirrors:
            return report
        return replace(report, objective=-report.bound, bound=-report.objective)

    def duals(self, x: Array, bound: DualBound) -> dict[str, object]:
        return constraint_duals(self.form.outer, x, bound)

    def terms(self, x: Array) -> dict[str, float]:
        return term_values(self.form.outer.instance, self.form.outer.blocks, x)

    def warnings(self, x: Array) -> tuple[str, ...]:
        return self._outer.warnings(x)
