"""The verdict of the page, each clause of it from the numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fwdsl.studies.race import Race

OPTIMAL, OBLIVIOUS = 'bcfw(step="optimal")', 'bcfw(step="oblivious")'

PLAIN = 'l2svm_dual(momentum="none", step="fixed")'

ROUGH, FINE = 1e-2, 1e-4
"""The gaps at which machines of several classes are compared: what the slow methods reach, and what the fast ones do."""

TOL = 1e-6


def factors(pairs: Iterable[tuple[float, float]]) -> str:
    """By what the slow times exceed the fast ones, of pairs (slow, fast) of which the fast one got there, and how often the slow one never did."""
    reached = [(slow, fast) for slow, fast in pairs if math.isfinite(fast)]
    ratios = sorted(slow / fast for slow, fast in reached if math.isfinite(slow))
    never = len(reached) - len(ratios)
    said = [f"{ratios[0]:.2g} to {ratios[-1]:.2g} times"] if len(ratios) > 1 else [f"{r:.2g} times" for r in ratios]
    if never:
        said.append(f"without end in the time given on {never} of {len(reached)}")
    return " and ".join(said) or "on no problem that either solved"


def between(races: Iterable[Race], slow: str, fast: str, level: float) -> str:
    """The same of two methods of races, in seconds."""
    return factors((race[slow].to(level), race[fast].to(level)) for race in races)


def verdict(
    classes: Mapping[str, Race], liblinear: Mapping[str, Sequence[float]], binary: Mapping[str, Race], worst: float
) -> str:
    """Of the machines of several classes, liblinear's seconds to FINE at the end of each row, those of two classes, and products over sqrt(kappa)."""
    races = list(classes.values())
    faster = sum(r[OPTIMAL].to(ROUGH) < r["matrix_fw"].to(ROUGH) for r in races)
    claim = "is reversed" if faster == len(races) else "holds in part" if faster else "holds"
    exact = [(found[-1], classes[title]["bcfw"].to(FINE)) for title, found in liblinear.items()]
    reached = [title for title, race in binary.items() if math.isfinite(race[PLAIN].to(TOL))]
    newton = [t for t, race in binary.items() if race["apg"].to(TOL) < race["l2svm_dual"].to(TOL)]
    return (
        f"The central claim {claim}: block-wise Frank-Wolfe is ahead of matrix-wise on {faster} of {len(races)} problems to a certified gap of "
        f"{ROUGH:g}, which takes the latter longer by {between(races, 'matrix_fw', OPTIMAL, ROUGH)}. Optimal steps are no trivial difference: "
        f"oblivious ones take longer by {between(races, OBLIVIOUS, OPTIMAL, ROUGH)}. Exact row steps, which the paper does not have, certify "
        f"{FINE:g} where optimal steps take longer by {between(races, OPTIMAL, 'bcfw', FINE)}, and liblinear, of which no certificate is asked, "
        f"by {factors(exact)}. Projected gradient as the paper has it reaches {TOL:g} on {len(reached)} of {len(binary)} binary machines in the time "
        f"given; with restarts and steps that adapt `l2svm_dual` takes at most {worst:.2g} sqrt(kappa) products. "
        f"Newton steps on the primal (`apg`) are faster on {len(newton)} of {len(binary)}."
    )
