"""Coordinate descent on working sets for the planner: what it applies to and what it costs. `descent` has the steps."""

from __future__ import annotations

from types import MappingProxyType

from fwdsl.atoms.losses import VECTOR_LOSSES
from fwdsl.atoms.vector_loss import VectorLoss
from fwdsl.backends.coordinate import costs
from fwdsl.backends.coordinate.coordinates import fits, is_ball, is_grouped
from fwdsl.backends.coordinate.parts import other_blocks, value_reasons
from fwdsl.backends.coordinate.state import CoordinateState
from fwdsl.backends.finite_sum import reasons
from fwdsl.backends.method import Estimate, Method
from fwdsl.backends.option import Option
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical

__all__ = ["CoordinateDescent", "CoordinateState"]


class CoordinateDescent(Method):
    """Coordinate descent on working sets, by prox-Newton where the loss is not quadratic."""

    name = "coordinate_descent"
    title = "coordinate descent on working sets, with Newton steps on the Gram matrix"
    source = "Massias, Gramfort, Salmon 2018; Bertrand, Massias 2021; Bertrand et al. 2022"
    most_iterations = 10_000
    runs_in = "fwdsl.backends.coordinate.descent"
    options = MappingProxyType(
        {"inner": Option(None, "how models are solved", kind=str, choices=("residual", "gram"))},
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """One smooth loss of predictions, or their length; on the variables sums over entries or groups, their balls, and intervals."""
        found = [
            r
            for r in reasons(arrangement, two_norms=True, lengths=True)
            if len(arrangement.blocks) == 1 or "one variable" not in r
        ]
        found += [
            f"`{t.text}` has no second derivatives that it could take apart"
            for t in arrangement.sums
            if t.kind == "loss" and t.atom in VECTOR_LOSSES and _is_tied(VECTOR_LOSSES[t.atom])
        ]
        found += [
            f"{b.name} has a norm or a set that is no sum over entries or groups, and no ball of one"
            for b in arrangement.blocks
            if not fits(b)
        ]
        return tuple(found)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Predictions that are columns of data times the variable; groups on that variable alone."""
        found = value_reasons(canonical)
        others = [] if found else other_blocks(canonical.terms[0], canonical.blocks)
        grouped = [b.name for b in others if b.g.entries() is None]
        odd = [b.name for b in canonical.blocks if not is_grouped(b.g)]
        flat = [b for b in canonical.blocks if b.g.curvature == 0.0 and is_ball(b.g)]
        tilted = [b.name for b in flat if canonical.q[b.slice].any()]
        return (
            *found,
            *(
                f"{name} is not the variable of the data, and has groups or a ball"
                for name in grouped
                if name not in odd
            ),
            *(f"{name} has a norm or a set that is no sum over entries or groups, and no ball of one" for name in odd),
            # a model with a direction along which it falls for ever needs the ball itself, not its penalty
            *(f"{name} has a linear cost in a ball, and no `sum_squares`" for name in tilted),
        )

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """Passes over all columns, epochs over those of the support, or the Gram matrix."""
        return costs.estimate(canonical, tol)


def _is_tied(loss: type[VectorLoss]) -> bool:
    """True if a smooth loss of rows does not tell its Hessian's parts."""
    return loss.smoothness is not None and loss.split_hessian is None
