"""Solving an equivalent program: methods work on it, and the verifier sees the points and multipliers of the program as it is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


import numpy as np

from ..atoms.base import Array
from ..canon.rewrites import Rewritten
from ..canon.terms import term_values
from ..certify.verified import Verified
from ..certify.verify import verify
from ..model.options import Options
from ..results.solution import Solution
from .canonical import SolvableCanonical
from .duals import constraint_duals
from .forms import Solvable, Start


class SolvableRewritten:
    """A `Rewritten` that can be solved (`fwdsl.solve.forms.Solvable`): `inner` is the equivalent program's task."""

    def __init__(self, form: Rewritten, inner: Solvable) -> None:
        self.form = form
        self._inner = inner
        self._last: tuple[Array, Array] | None = None

    def _outward(self, x: Array) -> Array:
        """The point of the program as it is written; the last one is known."""
        if self._last is None or not np.array_equal(self._last[0], x):
            self._last = x.copy(), self.form.outward(x)
        return self._last[1]

    def prepare(self) -> Any:
        """The equivalent program on kernels."""
        return self._inner.prepare()

    def start(self, given: Solution | Mapping[str, Any] | None) -> Start:
        """The point of the program as it is written, led to the equivalent one."""
        at = SolvableCanonical(self.form.outer, Options()).start(given)
        known = self.form.inward_dual(at.x, at.ys) if at.ys is not None else None
        return Start(self.form.inward(at.x), known, at.origin)

    def verify(
        self, problem: Any, x: Any, ys: list[Array] | None, scales: Array | None, first: bool, stop: Callable[[], bool]
    ) -> Iterator[tuple[Any, Verified]]:
        """The points of the equivalent program, each verified for the program as it is written."""
        for point, found in self._inner.verify(problem, x, ys, scales, first, stop):
            yield point, self._verified(point, found.y)

    def _verified(self, x: Array, ys: Sequence[Array]) -> Verified:
        form = self.form
        told = form.outward_dual(x, ys, self._outward(x)) if len(ys) == len(form.inner.terms) else None
        return verify(form.outer, self._outward(x), told)

    def measure(self, x: Array) -> Verified:
        """P and what is violated, of the program as it is written."""
        return verify(self.form.outer, self._outward(x), None)

    def known(self, x: Array, ys: list[Array]) -> list[Array] | None:
        """The dual point of the equivalent program."""
        form = self.form
        return form.inward_dual(self._outward(x), ys) if len(ys) == len(form.outer.terms) else None

    def duals(self, x: Array, ys: Sequence[Array]) -> dict[str, Any]:
        """The multipliers of the constraints as they are written."""
        return constraint_duals(self.form.outer, self._outward(x), ys)

    def terms(self, x: Array) -> dict[str, float]:
        """The values of the terms as they are written."""
        return term_values(self.form.outer, self._outward(x))

    def warnings(self, x: Array) -> tuple[str, ...]:
        """The warnings of the equivalent program."""
        return self._inner.warnings(x)
