"""The part of one method in a race."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ..results.solution import Solution
from ..results.status import Status
from ..solve.watch import Moment

Standing = Status | Literal["does not apply", "failed"]
Unit = Literal["seconds", "passes"]


@dataclass(frozen=True)
class Entrant:
    """The part of one method in a race.

    `moments` are what was certified and when, the last one at its end; seconds and passes are the method's own, `verify_seconds` what the verifier
    took beside them. `status` is that of its solution, "failed" where it raised an error, or "does not apply"; `reason` says why it ended.
    """

    name: str
    method: str
    status: Standing
    reason: str
    options: Mapping[str, Any] = field(default_factory=dict)
    moments: tuple[Moment, ...] = ()
    iterations: int = 0
    verify_seconds: float = 0.0
    solution: Solution | None = field(default=None, repr=False)

    @property
    def ran(self) -> bool:
        """True if there is anything to show."""
        return bool(self.moments)

    @property
    def relative_gap(self) -> float:
        """The least gap certified; inf where there is none."""
        return self.moments[-1].relative_gap if self.moments else math.inf

    @property
    def seconds(self) -> float:
        """The seconds it ran, without the verifier."""
        return self.moments[-1].seconds if self.moments else math.nan

    @property
    def passes(self) -> float:
        """The passes over the data, without the verifier's."""
        return self.moments[-1].passes if self.moments else math.nan

    def to(self, level: float, unit: Unit = "seconds") -> float:
        """Seconds or passes until the certified relative gap was at most `level`; inf where it never was."""
        first = next((m for m in self.moments if m.relative_gap <= level), None)
        return math.inf if first is None else float(getattr(first, unit))
