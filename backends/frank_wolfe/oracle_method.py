"""The shared parts of the Frank-Wolfe methods: their requirements and the cost they predict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, TypeVar

from fwdsl.atoms.base import Array
from fwdsl.backends import costs
from fwdsl.backends.frank_wolfe import requirements
from fwdsl.backends.frank_wolfe.reduced import candidate, reduced
from fwdsl.backends.frank_wolfe.state import FWState
from fwdsl.backends.method import Estimate, Method, Run
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical

F = TypeVar("F", bound=FWState)


class OracleMethod(Method):
    """A Frank-Wolfe method; `finite` ones need sets with finitely many vertices."""

    finite: ClassVar[bool] = False

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Smooth losses over a compact set with an LMO on every variable, and no norm beside it."""
        return requirements.reasons(arrangement, cls.finite)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        return requirements.value_reasons(canonical, cls.finite)

    @classmethod
    def requires_options(cls, canonical: Canonical, options: Mapping[str, object]) -> tuple[str, ...]:
        return requirements.option_reasons(canonical, options)

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
