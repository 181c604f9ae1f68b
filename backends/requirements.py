"""Requirements that several methods have. Each returns the reasons why a program, or a bound problem, does not meet it, a sentence each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from fwdsl.atoms.base import VectorFunction
from fwdsl.canon.arrange import Arrangement, BlockPlan, SumPlan
from fwdsl.canon.form import Canonical
from fwdsl.canon.pairs import is_compact
from fwdsl.canon.parts import Block


def one_loss(
    arrangement: Arrangement, is_taken: Callable[[SumPlan], bool], losses: str, one: str = "loss"
) -> list[str]:
    """One term in the sum, which is of the `losses`."""
    found = [
        f"`{term.text}`: it takes one {losses} and nothing else in the sum"
        for term in arrangement.sums
        if not is_taken(term)
    ]
    if len(arrangement.sums) != 1 and not found:
        found.append(f"it takes one {one}, and the program has {len(arrangement.sums)}")
    return found


def one_variable(arrangement: Arrangement) -> list[str]:
    """The program has one variable."""
    if len(arrangement.blocks) == 1:
        return []
    return [f"it takes one variable, and the program has {', '.join(b.name for b in arrangement.blocks)}"]


def ridges_alone(blocks: Iterable[BlockPlan]) -> list[str]:
    """A `sum_squares` on every variable, and neither sets nor norms."""
    found = []
    for block in blocks:
        if block.set is not None:
            found.append(f"{block.name} is in {block.set}, and it takes no set")
        elif block.norm is not None:
            found.append(f"{block.name} has a {block.norm}, and it takes no norm")
        elif not block.ridges:
            found.append(f"it needs a `sum_squares({block.name})`")
    return found


def weighted_ridges(blocks: Iterable[Block]) -> list[str]:
    """No weight of 0 on a `sum_squares`."""
    return [f"the weight of `sum_squares({b.name})` is 0" for b in blocks if not b.g.curvature > 0.0]


def positive_ridges(canonical: Canonical) -> list[str]:
    """No coefficient of 0 on a `sum_squares`, for methods whose steps it makes strongly convex."""
    return [f"the `sum_squares` on {b.name} has coefficient 0" for b in canonical.blocks if not b.g.curvature > 0.0]


def bounded_set(block: BlockPlan) -> list[str]:
    """A bounded set with a linear minimisation oracle, and no norm beside it."""
    if not is_compact(block.set):
        return [f"{block.name} is not confined to a bounded set with a linear minimisation oracle"]
    return [f"the {block.norm} on {block.name} is not smooth"] if block.norm is not None else []


def linear_oracle(block: Block, g: VectorFunction) -> list[str]:
    """A bound set without an infinite side, with a linear minimisation oracle; `g` is its function, of one block of a family."""
    if not math.isfinite(block.g.radius()):
        return [f"{block.name}: {block.text} is not bounded"]
    if g.lmo(np.zeros(g.size)) is None:
        return [f"{block.name}: {block.text} has no linear minimisation oracle"]
    return []
