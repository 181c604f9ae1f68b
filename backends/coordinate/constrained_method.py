"""Coordinate descent under a few linear constraints, for the planner: what it applies to and what it costs. `constrained` has the steps."""

from __future__ import annotations

from dataclasses import field, replace

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.losses import LOSSES
from fwdsl.backends.coordinate import constraint_rows as rows
from fwdsl.backends.coordinate import costs
from fwdsl.backends.coordinate.parts import main_part, tasks_of, value_reasons
from fwdsl.backends.coordinate.state import CoordinateState
from fwdsl.backends.finite_sum import reasons
from fwdsl.backends.method import Estimate, Method
from fwdsl.canon.arrange import Arrangement, SumPlan
from fwdsl.canon.form import Canonical
from fwdsl.light_dataclass import light_state
from fwdsl.words import SETS


@light_state
class ConstrainedState(CoordinateState):
    """The state of a run of `constrained_descent`."""

    nu: Array = field(default_factory=lambda: np.zeros(0))  # the multipliers of the rows, of the last model
    priced: Array = field(default_factory=lambda: np.zeros(0))  # and those of the best bound
    missed: Array = field(default_factory=lambda: np.zeros(0))  # what x misses of the rows, where no point meets them
    stalled: bool = False  # the last step led hardly down
    failure: str = ""  # why further steps are pointless


class ConstrainedDescent(Method):
    """Coordinate descent on working sets under a few linear constraints; no options."""

    name = "constrained_descent"
    title = "coordinate descent on working sets under a few linear constraints, by their multipliers"
    source = "Rockafellar 1976; Li, Sun, Toh 2018; Bertrand et al. 2022"
    most_iterations = 10_000
    runs_in = "fwdsl.backends.coordinate.constrained"

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """One smooth loss of entries of predictions, linear equations or inequalities, and sums over entries on the variables."""
        constraints = [t for t in arrangement.sums if _is_linear(t)]
        others = tuple(t for t in arrangement.sums if t not in constraints)
        without = replace(arrangement, sums=others) if constraints else arrangement
        found = [r for r in reasons(without) if "one variable" not in r]
        if not constraints:
            found.append("no linear equation or inequality ties unknowns together")
        found += [
            f"`{t.text}` ties predictions together"
            for t in arrangement.sums
            if t.kind == "loss" and t.atom not in LOSSES
        ]
        return tuple(found)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """Predictions that are columns of data times a vector; sums over entries; few rows."""
        loss = rows.without_constraints(canonical)
        found = list(value_reasons(loss))
        if not found:
            best = main_part(loss.terms[0])
            assert best is not None
            block, m = loss.terms[0].map.parts[best]
            # of one column too: its equations have maps of matrices
            if tasks_of(m) > 1 or len(block.shape) > 1:
                found.append("its predictions are those of a matrix variable")
        found += [
            f"{b.name} has a norm or a set that is no sum over entries" for b in loss.blocks if b.g.entries() is None
        ]
        if not found and canonical.size > costs.MOST_COLUMNS and costs.is_plain(loss):
            found.append(f"it has over {costs.MOST_COLUMNS:,} unknowns, and neither norms nor bounds leave any out")
        count = rows.count(canonical)
        if count > rows.MOST_ROWS:
            found.append(f"its constraints have {count:,} rows, over {rows.MOST_ROWS}")
        elif count * canonical.size > rows.MOST_NUMBERS:
            found.append(f"its constraints have {count:,} rows of {canonical.size:,} entries, too many to write down")
        return tuple(found)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """Steps of a pass over all columns, and models on the Gram matrix of the support and some more."""
        return costs.estimate_under_rows(rows.without_constraints(canonical), rows.count(canonical), tol)


def _is_linear(term: SumPlan) -> bool:
    """True if a term of the sum bounds the entries of an affine function."""
    on = SETS.get(term.atom)
    return term.is_constraint and on is not None and on.bounds
