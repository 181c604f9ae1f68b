r"""The methods on factors, as a method of the planner: for one matrix with a trace norm that is never written down.

Observed entries are solved by `Completion` (accelerated gradient on factors, its rank raised until the gap is closed), products with data by
`TraceRegression` (accelerated proximal gradient on factors, warm subspace iteration in its prox).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from ...atoms.base import Array, LossFunction
from ...canon.arrange import Arrangement
from ...canon.factored import Factored, Observed, unfactored
from ...canon.form import Canonical
from ...low_rank import LowRank
from ..method import Estimate, Method, Report
from .completion import Completion, CompletionState
from .factors import balanced
from .observed import Entries
from .trace_regression import RegressionState, TraceRegression

LARGE_SIDE = 50
"""From this shorter side of a product's variable on, a full SVD an iteration costs more than thin products (at 100 three times as much)."""

LOOK_EVERY = 5
"""Iterations of the regression between two estimates of its gap."""

NS_PER_ENTRY = 12.0
"""One touch of an observed entry by a factor of rank ten or so: a dot product of two gathered rows."""

NS_PER_MULTIPLY = 0.1
"""One multiplication within a dense product."""

State = CompletionState | RegressionState


class FactoredProblem:
    """A factored form made ready for its core. `tol` is the gap to aim at, relative to `scale(value)` unless `absolute`."""

    def __init__(self, form: Factored, threads: int, tol: float, absolute: bool = False) -> None:
        self.form, self.tol, self.absolute = form, tol, absolute
        self.core: Completion | TraceRegression
        f = form.f
        if isinstance(form.data, Observed):
            self.entries = Entries(form.shape, form.data.rows, form.data.columns)
            order = self.entries.order
            by_rows = LossFunction(f.loss, f.b[order], f.w[order], f.p)
            self.core = Completion(self.entries, by_rows, form.radius, form.penalty, threads)
        else:
            B = f.b.reshape(-1, form.shape[1])
            self.core = TraceRegression(form.data.A, B, form.radius, float(f.w[0]), form.penalty)
        self.products = 0.0

    def aim(self, value: float) -> float:
        """The absolute gap to reach at an objective value (without the constant)."""
        if self.absolute:
            return self.tol
        return self.tol * max(abs(value + self.form.constant), 1e-3 * self.form.scale)

    @property
    def passes(self) -> float:
        """Data passes so far: touches of every observed entry, or products of A with a dense X."""
        return float(self.entries.touched) if isinstance(self.core, Completion) else self.products

    def close(self) -> None:
        """Give back the threads."""
        if isinstance(self.core, Completion):
            self.core.pool.close()


class LowRankMethod(Method):
    """Completion or trace regression on factors; `rank` is the one to start with."""

    name = "lowrank"
    title = (
        "accelerated gradient on the factors of a low-rank matrix, certified by the top singular value of the gradient"
    )
    source = "Burer, Monteiro 2003; Srebro, Rennie, Jaakkola 2005; Beck, Teboulle 2009; methods.md A6, A7"
    options: ClassVar[Mapping[str, Any]] = MappingProxyType({"rank": 8})
    factored = True

    def __init__(self, rank: int = 8) -> None:
        self.rank = max(1, rank)

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """One matrix variable with a trace norm, and one smooth loss of its entries or of a product with it."""
        return unfactored(arrangement)

    @classmethod
    def requires_values(cls, form: Canonical | Factored) -> tuple[str, ...]:
        """Values may spoil it: sparse data, weights that differ by sample, a zero penalty."""
        if isinstance(form, Factored) or form.factored is not None:
            return ()
        return (
            "the numbers bound leave no factored form: the data is not dense float64, weights differ, or nothing is bounded",
        )

    @classmethod
    def settles(cls, arrangement: Arrangement, form: Canonical | Factored | None) -> str:
        """Always for observed entries; for products with data where the variable has many rows and columns."""
        if any(s.over == "entries" for s in arrangement.sums):
            return "the variable is only seen through some entries: its factors are all that is needed"
        factored = form.factored if isinstance(form, Canonical) else form
        if factored is not None and min(factored.shape) >= LARGE_SIDE:
            return "thin products with the factors, where others decompose the whole matrix in every iteration"
        return ""

    @classmethod
    def owns(cls, state: Any) -> bool:
        """The states of both cores."""
        return isinstance(state, State)

    @classmethod
    def estimate(cls, form: Canonical | Factored, tol: float) -> Estimate:
        """A hundred iterations or two, more for tight tolerances; products with data cost rank / columns of a pass each."""
        factored = form.factored if isinstance(form, Canonical) else form
        assert factored is not None
        n, p = factored.shape
        digits = max(1.0, -math.log10(tol)) / 6.0
        if isinstance(factored.data, Observed):
            iterations = 150.0 * digits
            passes = 4.0 * iterations
            seconds = 1e-9 * NS_PER_ENTRY * passes * factored.data.nnz
            why = f"about {iterations:.0f} accelerated steps, the rank raised on the way"
        else:
            iterations = 100.0 * digits
            passes = 2.0 + 2.0 * iterations * min(1.0, 14.0 / p)
            seconds = 1e-9 * NS_PER_MULTIPLY * passes * factored.data.nnz + 5e-4 * iterations
            why = f"about {iterations:.0f} iterations of thin products, a data pass being A times a dense matrix"
        return Estimate(passes, seconds, 8.0 * (60.0 * (n + p) + 10.0 * factored.data.count), why)

    def init(self, problem: FactoredProblem, x: LowRank | None, ys: Any) -> State:
        """From the top singular pairs of the gradient at zero, or from x."""
        core = problem.core
        if x is not None and x.rank:
            return core.start(x.U, x.V)
        state = core.init(self.rank)
        if isinstance(state, RegressionState):
            problem.products = state.products
        return state

    def step(self, problem: FactoredProblem, state: State) -> None:
        """One step of the core; now and then it looks at the gap."""
        core = problem.core
        if isinstance(core, Completion):
            assert isinstance(state, CompletionState)
            core.step(state, 0.5 * problem.aim(state.value) / max(abs(state.value), 1e-300))
            return
        assert isinstance(state, RegressionState)
        core.step(state)
        if state.iteration % LOOK_EVERY == 0:
            core.look(state, state.iteration)
        problem.products = state.products

    def report(self, problem: FactoredProblem, state: State) -> Report:
        """The objective and the gap as of the last look."""
        constant = problem.form.constant
        phase = state.phase if isinstance(state, CompletionState) else "accelerated gradient on factors"
        return Report(constant + state.value, constant + state.value - state.gap, phase)

    def candidate(self, problem: FactoredProblem, state: State) -> tuple[LowRank, None]:
        """X by balanced factors; the verifier makes the dual point of it."""
        core = problem.core
        if isinstance(core, Completion):
            assert isinstance(state, CompletionState)
            P, sigma, Q = core.factors(state)
        else:
            assert isinstance(state, RegressionState)
            P, sigma, Q = core.factors(state)
            keep = sigma > 1e-12 * sigma.max(initial=0.0)
            P, sigma, Q = P[:, keep], sigma[keep], Q[:, keep]
            total = float(sigma.sum())
            sigma = sigma * min(1.0, problem.form.radius / total) if total > 0.0 else sigma
        W: Array = balanced(P, sigma, Q)
        n = problem.form.shape[0]
        return LowRank(np.ascontiguousarray(W[:n]), np.ascontiguousarray(W[n:])), None
