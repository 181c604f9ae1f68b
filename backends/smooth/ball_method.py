"""Newton's method on a Euclidean ball, for the planner: what it applies to and what it costs. `ball` has the steps."""

from __future__ import annotations

import math

from fwdsl.atoms.losses import LOSSES
from fwdsl.backends import costs
from fwdsl.backends.functions import without_ridge
from fwdsl.backends.method import Estimate, Method
from fwdsl.backends.smooth.costs import (
    FEW,
    MOST_FACTORED,
    NS_PER_CUBE,
    STEPS,
    gram_seconds,
    is_factorable,
    is_formable,
    pairs_of_rows,
)
from fwdsl.backends.smooth.method import NewtonState, not_smooth
from fwdsl.canon.arrange import Arrangement, BlockPlan
from fwdsl.canon.form import Canonical
from fwdsl.canon.parts import Block
from fwdsl.light_dataclass import light_state
from fwdsl.readers.row_blocks import is_on_disk
from fwdsl.words import CONVEX, SETS

TRIALS = 4.0
"""Multipliers, a factor each, that a step tries, in the mean."""


@light_state
class BallState(NewtonState):
    """The state of a run of `ball_newton`."""

    multiplier: float = 0.0  # of the ball, in the last model
    rise: float = 0.0  # how fast 1 / |x| rose with it there; 0 where that is not known


class BallNewton(Method):
    """Newton's method, each model minimised on the ball; no options."""

    name = "ball_newton"
    title = "Newton's method on a Euclidean ball, whose multiplier each step finds"
    source = "More, Sorensen 1983; Conn, Gould, Toint 2000"
    most_iterations = 1_000
    runs_in = "fwdsl.backends.smooth.ball"
    on_host = ""

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """Smooth losses of entries, no norm, and one variable in a Euclidean ball."""
        found = not_smooth(arrangement)
        found += [
            f"`{t.text}` ties predictions together"
            for t in arrangement.sums
            if t.kind == "loss" and t.atom not in LOSSES
        ]
        found += [f"{b.name} has {b.norm}" for b in arrangement.blocks if b.norm is not None]
        held = [b for b in arrangement.blocks if b.set is not None]
        found += [f"{b.name} is in {b.set}, which is no Euclidean ball" for b in held if not _is_ball(b)]
        if len(held) != 1:
            found.append("no variable is in a Euclidean ball" if not held else "several variables are in sets")
        return tuple(found)

    @classmethod
    def requires_values(cls, form: Canonical) -> tuple[str, ...]:
        """A system over the unknowns or over the rows that can be formed, and a ball that is no point."""
        if any(map(is_on_disk, form.instance.values.values())):
            return ("its systems take columns of data, which are not at hand",)
        found = [f"{b.name} is in a set of one point" for b in form.blocks if not b.g.radius() > 0.0]
        if system_of(form) is None:
            found.append(f"it has over {MOST_FACTORED:,} unknowns and rows, or predictions that are no columns of data")
        return tuple(found)

    @classmethod
    def estimate(cls, form: Canonical, tol: float) -> Estimate:
        """A few Newton steps, with a Gram matrix and a few factors each."""
        kind = system_of(form)
        assert kind is not None, "`requires_values` has found one"
        steps = 1.0 if costs.is_quadratic(form) else STEPS + max(0.0, -math.log10(tol) / 6.0 - 1.0)
        order, once, each = _system_costs(form)[kind]
        factor = 1e-9 * costs.TAKEN.get() * (NS_PER_CUBE * float(order) ** 3 + 8.0 * order * order)
        passes = 2.0 + 3.0 * steps
        seconds = costs.seconds(form, passes, steps) + once + steps * (each + TRIALS * factor)
        why = f"about {steps:.0f} Newton steps, in each the multiplier of the ball by factors of a system of {order:,}"
        return Estimate(
            passes, seconds, costs.memory(form, 14, 12, 32.0 * float(order) ** 2), costs.with_copy(form, why), 3.0
        )


def _is_ball(block: BlockPlan) -> bool:
    on = SETS.get(block.set) if block.set is not None else None
    return on is not None and bool(on.norm) and CONVEX[on.norm].euclidean


def ball_block(form: Canonical) -> Block:
    """The block of the variable that is in the ball."""
    return next(b for b in form.blocks if without_ridge(b.g).pair[1] is not None)


def system_of(form: Canonical) -> str | None:
    """The cheapest kind of system, over the unknowns ("primal") or over the rows ("dual"); None where neither can be formed."""
    found = _system_costs(form)
    return min(found, key=lambda kind: found[kind][1] + STEPS * _step(*found[kind])) if found else None


def _step(order: int, once: float, each: float) -> float:
    return each + 1e-9 * TRIALS * NS_PER_CUBE * float(order) ** 3


def _system_costs(form: Canonical) -> dict[str, tuple[int, float, float]]:
    """The systems that can be formed, by kind: the order, the seconds of what is formed once, and in each step."""
    found = {}
    if form.size <= MOST_FACTORED and is_formable(form):
        found["primal"] = (form.size, 0.0, gram_seconds(form))
    rows = sum(t.map.rows for t in form.terms)
    beside = [b for b in form.blocks if b is not ball_block(form)]
    free = all(b.g.curvature == 0.0 for b in beside) and sum(b.size for b in beside) <= FEW
    # without a ball that holds x back it would divide by next to nothing: of no fewer rows than unknowns only K'K is sure
    few = 0 < rows < min(ball_block(form).size, MOST_FACTORED + 1)
    if len(form.terms) == 1 and few and free and is_factorable(form):
        found["dual"] = (rows, pairs_of_rows(form), 0.0)
    return found
