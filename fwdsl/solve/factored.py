"""Solving the factored form: x is a `LowRank`, and the verifier makes the dual point from x."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from ..atoms.base import Array
from ..atoms.low_rank import LARGEST_WRITTEN, LowRank, squared_norm, trace_norm
from ..backends.lowrank.problem import FactoredProblem
from ..canon.affine import AffineReader
from ..canon.factored import Factored
from ..canon.terms import bare_factor, named_values
from ..certify.factored import radius_dual, verify_factored
from ..certify.verified import DualBound, Verified
from ..model import Term
from ..model.options import Options
from ..results.solution import Solution
from ..words import CONVEX
from .forms import AsWritten, Start, default_threads
from .start import flaw, origin_of, realigned, refused, values_of


class SolvableFactored(AsWritten):
    """A `Factored` that can be solved (`fwdsl.solve.forms.Solvable`) once: bounds by chance count the attempts of a run."""

    def __init__(self, form: Factored, options: Options) -> None:
        self.form = form
        self._options = options
        self.attempts = 0

    def prepare(self) -> FactoredProblem:
        """The products with the data on kernels."""
        o = self._options
        return FactoredProblem(self.form, o.threads or default_threads(), o.tol, o.gap == "absolute", o.seed)

    def start(self, start: Solution | Mapping[str, object] | Start | None) -> Start:
        """A point of rank 0, or the factors of a value."""
        form = self.form
        if isinstance(start, Start) and isinstance(start.x, LowRank):
            return start
        if start is None or isinstance(start, Start):  # a start is of the dense form
            return Start(LowRank(*(np.zeros((size, 0)) for size in form.shape)), None, "zero")
        values = realigned(start, form.instance) if isinstance(start, Solution) else values_of(start)
        known = (form.name, *([form.intercept.name] if form.intercept is not None else []))
        wrong = [] if isinstance(start, Solution) else [n for n in values if n not in known]
        if wrong or form.name not in values:
            name = (wrong or list(values) or ["nothing"])[0]
            raise refused([f"there is no variable `{name}`; the program has `{form.name}`"])
        value = values[form.name]
        if isinstance(value, LowRank):
            fits = value.shape == form.shape
            found = "" if fits else f"`{form.name}` has shape {form.shape}, and the value to start from {value.shape}"
        elif form.size > LARGEST_WRITTEN:
            found = f"`{form.name}` is kept as factors, and the value to start from is none"
        else:
            found = flaw(form.name, value, form.shape)
        if found:
            raise refused([found])
        if not isinstance(value, LowRank):
            value = LowRank.of(np.asarray(value, dtype=np.float64))
        return Start(value, None, origin_of(start))

    def verify(
        self,
        problem: FactoredProblem,
        x: LowRank,
        ys: list[Array] | None,
        scales: Array | None,
        first: bool,
        stop: Callable[[], bool],
    ) -> Iterator[tuple[LowRank, Verified]]:
        """x alone: its dual point is the gradient of the loss there."""
        yield x, self._verified(x, stop)

    def measure(self, x: LowRank) -> tuple[LowRank, Verified]:
        """The same findings, without a limit of time."""
        return x, self._verified(x, lambda: False)

    def _verified(self, x: LowRank, stop: Callable[[], bool]) -> Verified:
        o, attempt = self._options, self.attempts
        self.attempts += 1
        tol = o.tol if o.gap == "relative" else o.tol / max(self.form.scale, 1e-300)
        return verify_factored(self.form, x, tol, attempt, o.seed, stop)

    def duals(self, x: LowRank, bound: DualBound) -> dict[str, object]:
        """The derivative in the bound of each ball as written; 0 for those that are not the smallest."""
        form = self.form
        reader = AffineReader(form.instance, {})
        out: dict[str, object] = {}
        value = form.sense * radius_dual(form, bound.y, x)
        for c in form.instance.model.constraints:
            assert c.set is not None
            binding = reader.scalar(dict(c.set.args)["r"]) <= form.radius
            factor = reader.scalar(c.factor) if c.factor is not None else 1.0
            out[c.name] = value / factor if binding else 0.0
        return out

    def terms(self, x: LowRank) -> dict[str, float]:
        form = self.form
        reader = AffineReader(form.instance, {})

        def value(i: int, term: Term) -> float:
            if i == form.term.origin:
                return form.sense * form.loss(x)
            if term.kind == "affine":
                return reader.scalar(term.coefficient) * float(reader.constant(term.argument))
            word = CONVEX[term.atom]
            size = trace_norm(x) if word.trace_norm else squared_norm(x)
            return reader.scalar(term.coefficient) * bare_factor(reader, term.argument) ** word.degree * size

        return named_values(form.instance.model, value)
