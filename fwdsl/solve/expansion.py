"""Solving a form by expansion coefficients: x is a and b, and the verifier makes the dual point from a."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..backends.smo.problem import ExpansionProblem
from ..canon.affine import AffineReader
from ..canon.form import Expansion
from ..canon.terms import bare_factor, named_values, value_at
from ..certify.expansion import verify_expansion
from ..certify.verified import DualBound, Verified
from ..model import Term
from ..model.options import Options
from ..results.solution import Solution
from .forms import AsWritten, Start, default_threads
from .start import dual_point_of, origin_of, realigned, require_fit, values_of


class SolvableExpansion(AsWritten):
    """An `Expansion` that can be solved (`fwdsl.solve.forms.Solvable`)."""

    def __init__(self, form: Expansion, options: Options) -> None:
        self.form = form
        self._options = options

    def prepare(self) -> ExpansionProblem:
        """The dual in the notation of its methods."""
        return ExpansionProblem(self.form, self._options.threads or default_threads())

    def start(self, start: Solution | Mapping[str, Any] | Start | None) -> Start:
        """Zero, values by name, or a solution with its dual point where that fits."""
        form = self.form
        if start is None or isinstance(start, Start):  # a start is of the dense form
            return Start(np.zeros(form.size), None, "zero")
        values = realigned(start, form.instance) if isinstance(start, Solution) else values_of(start)
        intercept: dict[str, tuple[int, ...]] = {} if form.intercept is None else {form.intercept.name: ()}
        require_fit(values, {form.name: (form.n,), **intercept}, known_only=not isinstance(start, Solution))
        a = np.asarray(values.get(form.name, np.zeros(form.n)), dtype=np.float64)
        b = float(values.get(form.intercept.name, 0.0)) if form.intercept is not None else 0.0
        x = form.joined(a, b)
        ys = dual_point_of(start, values)
        return Start(
            x, ys if ys is not None and form.dual_sizes(ys) == [y.size for y in ys] else None, origin_of(start)
        )

    def verify(
        self,
        problem: ExpansionProblem,
        x: Array,
        ys: list[Array] | None,
        scales: Array | None,
        first: bool,
        stop: Callable[[], bool],
    ) -> Iterator[tuple[Array, Verified]]:
        """The point of the dual point that belongs to x."""
        yield verify_expansion(self.form, x)

    def measure(self, x: Array) -> tuple[Array, Verified]:
        """P at x as it is."""
        return x, verify_expansion(self.form, x, bounded=False)[1]

    def duals(self, x: Array, bound: DualBound) -> dict[str, Any]:
        return {}

    def terms(self, x: Array) -> dict[str, float]:
        form = self.form
        model, reader = form.instance.model, AffineReader(form.instance, {})
        if not any(term.name for term in model.terms):
            return {}
        a, b = form.parts(x)
        ka = form.gram.combine(a)
        shift = 0.0 if form.intercept is None else form.intercept.d * b

        def value(i: int, term: Term) -> float:
            if i == form.term.origin:
                return value_at(reader, term, form.c * ka + form.offset + shift)
            if term.kind == "affine":
                # of the intercept, whose linear terms are read from the form's own map
                return reader.scalar(term.coefficient) * self._affine(term.argument, b)
            return reader.scalar(term.coefficient) * bare_factor(reader, term.argument) ** 2 * float(a @ ka)

        return named_values(model, value)

    def _affine(self, expr: Any, b: float) -> float:
        """The value of an affine expression of the intercept."""
        form = self.form
        blocks = {block.name: block for block, _ in form.term.map.parts}
        reader = AffineReader(form.instance, blocks)
        stacked = reader.stacked(expr)
        total = float(stacked.offset[0])
        for block, m in stacked.parts:
            if form.intercept is not None and block.name == form.intercept.name:
                total += float(m.apply(np.array([b]))[0])
        return total
