"""Certificates, and the relative gap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

CertificateKind = Literal["exact", "rigorous", "probabilistic", "conditional", "estimate", "none"]

FLOOR = 1e-6
"""The share of S that stands for the optimal value where that is smaller still."""


def relative(gap: float, primal: float, dual: float, scale: float, rounding: float = 0.0) -> float:
    """gap / max(|P|, |D|, 1e-6 S); 0 where the gap is at most the rounding of P, inf where P or D is not finite."""
    if not (math.isfinite(primal) and math.isfinite(dual)) or math.isnan(gap):
        return math.inf
    if gap <= rounding:
        return 0.0
    reference = max(abs(primal), abs(dual), FLOOR * scale)
    return gap / reference if reference > 0.0 else math.inf


@dataclass(frozen=True)
class Certificate:
    """The gap of an answer and what its bound rests on, recomputed by the independent verifier, in the user's own sense and units.

    `relative_gap` is `gap` over max(|P|, |D|, 1e-6 S), S being `scale`, the sum of the sizes of all terms, and 0 where `gap` is 0 or no more than
    the rounding of P; `infeasibility` is the largest violation of a constraint relative to its terms. `gap` is |P - D| + V + M: V, `hidden`, is what
    infeasibility may hide of the objective; M, `missed`, what the dual point's miss of its equalities may cost within the stated radius.
    Both gaps are inf without a bound, and at a point that violates a constraint by more than an answer may: its objective bounds nothing.
    (See "What an answer promises" in docs/language.md.) `dual_bound` has M taken off. `statement` says in a sentence what the bound rests on.
    """

    kind: CertificateKind
    objective: float
    dual_bound: float
    gap: float
    relative_gap: float
    infeasibility: float
    scale: float
    statement: str = ""
    radius: float | None = None
    hidden: float = 0.0
    missed: float = 0.0
