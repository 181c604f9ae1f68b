"""The state of a run of `lines`."""

from __future__ import annotations

from dataclasses import field

from fwdsl.atoms.base import Array
from fwdsl.backends.apg import APGState
from fwdsl.light_dataclass import light_state


@light_state
class LinesState(APGState):
    """The state of `apg` on the terms that are not of differences, with that of the steps along the lines."""

    us: list[Array] = field(
        default_factory=list
    )  # multipliers of the steps, an array a chain, where the losses are of entries
    damping: float = 1e-3  # the share of the largest curvature that quadratic models have at least
