"""What the methods of the family have in common: what they ask of a problem, and the cost they predict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ...canon.arrange import Arrangement
from ...canon.form import Canonical
from .. import costs
from ..method import Estimate, Method
from . import requirements


class Family(Method):
    """A Frank-Wolfe method; `finite` ones need sets with finitely many vertices."""

    finite: ClassVar[bool] = False

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Smooth losses over a compact set with an LMO on every variable, and no norm beside it."""
        return requirements.reasons(arrangement, cls.finite)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """No infinite side of a box."""
        return requirements.value_reasons(canonical, cls.finite)

    @classmethod
    def requires_options(cls, canonical: Canonical, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Bounded curvature for `short`."""
        return requirements.option_reasons(canonical, options)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """That of vanilla Frank-Wolfe, sublinear: the linear rate over polytopes depends on the face of the solution, and nothing is chosen by it."""
        return costs.fw(canonical, tol)
