"""Least squares with more rows than unknowns, on the Gram matrix, for the planner: what it applies to and what it costs. `run` has the steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.atoms.losses import LOSSES
from fwdsl.backends import costs
from fwdsl.backends.functions import without_ridge
from fwdsl.backends.method import Estimate, Method, State
from fwdsl.backends.smooth.costs import NS_PER_CUBE, gram_seconds, is_factorable
from fwdsl.canon.arrange import Arrangement, BlockPlan
from fwdsl.canon.form import Canonical
from fwdsl.light_dataclass import light_state
from fwdsl.words import SETS

MOST = 2_000
"""Unknowns up to which H is formed."""

FACTORS = 6.0
"""Factors of blocks of H, of half its order, that a run is taken to need; for a sum twice as many."""

FEW = 25.0
"""Passes over the data that the Gram matrix may cost."""


@light_state
class PivotingState(State):
    """The state of a run of `pivoting`."""

    x: Array  # the iterate
    z: list[Array]  # its predictions K x + b
    ys: list[Array]  # f'(z)
    grad: Array  # of the losses, the linear part and the ridges
    places: NDArray[
        np.int8
    ]  # of the coordinates: at the lower end or negative, free or zero, at the upper end or positive
    nu: float  # the multiplier of the sum
    value: float  # P(x)
    best_bound: float  # the best bound so far
    dual: list[Array]  # its dual point
    still: int  # steps in a row without any gain
    lost: bool  # the places did not settle
    phase: str = "pivoting"  # of the last step
    precise: bool = False  # the triangle of the data has taken the place of the Gram matrix


class Pivoting(Method):
    """Block principal pivoting; no options."""

    name = "pivoting"
    title = "block principal pivoting on the Gram matrix"
    source = "Kim, Park 2011; Judice, Pires 1994"
    most_iterations = 50
    on_host = ""
    runs_in = "fwdsl.backends.pivoting.run"

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Quadratic losses, no norm, and intervals or one bounded sum."""
        found = [] if arrangement.sums else ["the objective has no loss"]
        for term in arrangement.sums:
            if term.kind != "loss" or term.atom not in LOSSES or not LOSSES[term.atom].quadratic:
                found.append(f"`{term.text}` is not quadratic")
        found += [f"{b.name} has {b.norm}" for b in arrangement.blocks if b.norm is not None]
        held = [b for b in arrangement.blocks if b.set is not None]
        if not held:
            found.append("no variable is in a set")
        found += [
            f"{b.name} is in {b.set}, which is no interval for each entry, and no bounded sum of a single variable"
            for b in held
            if not _is_interval(b) and not (_is_sum(b) and len(arrangement.blocks) == 1)
        ]
        return tuple(found)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """A Gram matrix that can be formed and factored."""
        found = []
        if canonical.size > MOST:
            found.append(f"its Gram matrix would have {canonical.size:,} rows, over {MOST:,}")
        elif not is_factorable(canonical):
            found.append("its predictions are not columns of data, with a few others")
        ridged = all(b.g.curvature > 0.0 for b in canonical.blocks)
        if not ridged and sum(t.map.rows for t in canonical.terms) < canonical.size:
            found.append("it has fewer rows than unknowns, and no ridge")
        sums = len(canonical.blocks) == 1 and without_ridge(canonical.blocks[0].g).budget() is not None
        found += [
            f"{b.name} is in no interval for each entry" for b in canonical.blocks if not sums and b.g.entries() is None
        ]
        found += [f"{b.name} is in a set of one point" for b in canonical.blocks if not b.g.radius() > 0.0]
        return tuple(found)

    @classmethod
    def settles(cls, arrangement: Arrangement, form: Canonical | None) -> str:
        """The reason is a Gram matrix that costs a few passes: how many others take hangs on its condition."""
        if form is None or not cls.is_unrivalled(form):
            return ""
        return f"the Gram matrix of {form.size:,} unknowns costs a few passes over the data, and pivoting on it ends"

    @classmethod
    def is_unrivalled(cls, canonical: Canonical) -> bool:
        """True where the Gram matrix costs a few passes: pivoting on it ends within a step, or gives up."""
        if sum(t.map.rows for t in canonical.terms) < canonical.size:
            # working sets of columns may be as few as the rows
            return False
        return gram_seconds(canonical) <= FEW * costs.seconds(canonical, 1.0, 0.0)

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """The Gram matrix, and a few factors."""
        d = float(canonical.size)
        factors = FACTORS * (2.0 if any(without_ridge(b.g).budget() is not None for b in canonical.blocks) else 1.0)
        seconds = gram_seconds(canonical) + factors * (1e-9 * NS_PER_CUBE * (0.6 * d) ** 3 + 1e-4)
        why = f"the Gram matrix of {canonical.size:,} unknowns, and about {factors:.0f} factors of blocks of it"
        memory = costs.memory(canonical, 14, 10, 8.0 * 4.0 * d * d)
        return Estimate(6.0, costs.seconds(canonical, 5.0, 1.0) + seconds, memory, costs.with_copy(canonical, why))


def _is_interval(block: BlockPlan) -> bool:
    return block.set in SETS and SETS[block.set].bounds


def _is_sum(block: BlockPlan) -> bool:
    return block.set in SETS and bool(SETS[block.set].total) and SETS[block.set].threshold
