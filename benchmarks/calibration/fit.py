"""Fitting corrections of predictions to recorded runs, and the regret of choices by them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.backends.method import Estimate
from fwdsl.plan.fitted import NAMES, corrected, key_of

from .record import LEVELS, MAIN, Ran

Constants = dict[str, tuple[tuple[float, ...], tuple[float, ...], float]]
Array = NDArray[np.float64]

STIFFNESS = 1.0
"""The ridge on every coefficient but the constant one: what few problems say moves little."""

UNREACHED = 2.0
"""A gap that was not reached counts as reached after so many times what the run took."""

ROUNDS = 10
BEND = 0.6
"""Powers of ten beyond which an observation pulls no harder."""

LEAST = 5
"""Problems solved below which a method keeps its hand-set costs: what they say of others is a guess. Fitted to three, `dual_gradient` was taken to be
three times as fast on pictures as it is."""

BY_HAND = ("highs",)
"""Methods that keep their hand-set costs: the small programs that most of their runs are of say nothing of the large ones that they are for."""

STARTS = (0.0, 5e-5, 1e-4, 2e-4, 4e-4)
"""The seconds among which those of a start are chosen: the shortest problems take 0.3 ms in all."""


@dataclass(frozen=True)
class Observed:
    """The logarithm of actual over predicted, at the features; of a run that did not get there a lower bound."""

    features: Sequence[float]
    power: float
    least: bool


def fitted(runs: Sequence[Ran]) -> Constants:
    """Corrections of passes and of seconds for each method but `BY_HAND` that solved `LEAST` problems, from those that are not held out."""
    found: Constants = {}
    for key in dict.fromkeys(key_of(r.method, r.features) for r in runs):
        own = [r for r in runs if key_of(r.method, r.features) == key and not r.held_out]
        if key in BY_HAND or sum(math.isfinite(r.to(MAIN)) for r in own) < LEAST:
            continue
        passes = list(_observed(own, lambda r, k: r.passes[k], lambda r, g: r.passes_to(g), lambda r: _last(r)))
        theta, start = _with_start(own)
        if passes and theta:
            found[key] = (_regression(passes)[0], theta, start)
    return found


def _with_start(runs: Sequence[Ran]) -> tuple[tuple[float, ...], float]:
    """The correction of seconds and the seconds of a start that tell the runs best; an empty one where too few got there."""
    tried = []
    for start in STARTS:
        started = [replace(r, seconds=[s + start for s in r.seconds]) for r in runs]
        seen = list(_observed(started, lambda r, k: r.seconds[k], lambda r, g: r.to(g), lambda r: r.ran))
        if sum(not o.least for o in seen) < 6:
            return (), 0.0
        theta, cost = _regression(seen)
        tried.append((cost, start, theta))
    _, start, theta = min(tried)
    return theta, start


def _last(run: Ran) -> float:
    return run.moments[-1][1] if run.moments else 0.0


def _observed(
    runs: Sequence[Ran],
    predicted: Callable[[Ran, int], float],
    actual: Callable[[Ran, float], float],
    ran: Callable[[Ran], float],
) -> Iterator[Observed]:
    for r in runs:
        for k, level in enumerate(LEVELS):
            told, found = predicted(r, k), actual(r, level)
            at = [*r.features]
            at[1] = (-math.log10(level) - 6.0) / 6.0
            if not told > 0.0:
                continue
            if math.isfinite(found):
                yield Observed(at, math.log10(max(found, 1e-9) / told), False)
            elif ran(r) > 0.0:
                yield Observed(at, math.log10(UNREACHED * ran(r) / told), True)


def _regression(observed: Sequence[Observed]) -> tuple[tuple[float, ...], float]:
    """Ridge regression with bounded pulls, and what it minimises; a lower bound that the prediction meets pulls not at all."""
    X = np.array([o.features for o in observed])
    b = np.array([o.power for o in observed])
    least = np.array([o.least for o in observed])
    ridge = STIFFNESS * np.eye(len(NAMES))
    ridge[0, 0] = 1e-6
    theta = np.zeros(len(NAMES))
    weights = np.ones(b.size)
    for _ in range(ROUNDS):
        theta = np.linalg.solve((X.T * weights) @ X + ridge, (X.T * weights) @ b)
        away = b - X @ theta
        weights = np.minimum(1.0, BEND / np.maximum(np.abs(away), 1e-9))
        weights[least & (away < 0.0)] = 0.0
    away = np.abs(b - X @ theta) * ~(least & (b - X @ theta < 0.0))
    pulls = np.where(away <= BEND, away**2, BEND * (2.0 * away - BEND))
    return tuple(round(float(t), 4) for t in theta), float(pulls.sum() + theta @ ridge @ theta)


# --- regret -------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Choice:
    """A problem, the method that predictions choose, the fastest one, and how many times its seconds the choice takes."""

    case: str
    chosen: str
    best: str
    regret: float
    seconds: float
    held_out: bool
    reached: bool


def choices(runs: Sequence[Ran], constants: Mapping[str, Any]) -> list[Choice]:
    """A choice for each problem that some method solved and more than one was run on."""
    by_case: dict[str, list[Ran]] = {}
    for r in runs:
        by_case.setdefault(r.case, []).append(r)
    found = []
    for case, entered in by_case.items():
        best = min(entered, key=lambda r: r.to(MAIN))
        if len(entered) < 2 or not math.isfinite(best.to(MAIN)):
            continue
        settled = [r for r in entered if r.settled]
        chosen = settled[0] if settled else min(entered, key=lambda r: predicted_seconds(r, constants))
        regret, reached = regrets(entered)[entered.index(chosen)], math.isfinite(chosen.to(MAIN))
        found.append(Choice(case, chosen.method, best.method, regret, best.to(MAIN), chosen.held_out, reached))
    return found


def regrets(runs: Sequence[Ran]) -> list[float]:
    """The seconds of each run on a problem over those of the fastest; nan where none got there. A run that did not counts what it was given."""
    best = min(r.to(MAIN) for r in runs)
    taken = [r.to(MAIN) if math.isfinite(r.to(MAIN)) else max(r.ran, best) for r in runs]
    return [seconds / best if math.isfinite(best) else math.nan for seconds in taken]


def predicted_seconds(run: Ran, constants: Mapping[str, Any]) -> float:
    """The corrected prediction to `MAIN`."""
    k = LEVELS.index(MAIN)
    if not run.seconds[k] > 0.0:
        return math.inf
    return corrected_of(run, k, constants).seconds


def start_of(key: str, constants: Mapping[str, Any]) -> float:
    """The seconds of a start that the constants have for a key."""
    return float(constants[key][2]) if key in constants else 0.0


def corrected_of(run: Ran, k: int, constants: Mapping[str, Any]) -> Estimate:
    """The corrected prediction to a level."""
    told = Estimate(run.passes[k], run.seconds[k], 0.0, "", run.trusted)
    return corrected(told, run.method, run.features, LEVELS[k], constants)


def geometric_mean(values: Sequence[float]) -> float:
    """1 of nothing."""
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 1.0


def spread(runs: Sequence[Ran], constants: Mapping[str, Any]) -> dict[str, tuple[int, float, float]]:
    """Of each method on held-out problems: how many runs reached `MAIN`, the median of actual over predicted seconds, and of its size either way."""
    found: dict[str, tuple[int, float, float]] = {}
    for method in dict.fromkeys(r.method for r in runs):
        own = [r for r in runs if r.method == method and r.held_out and math.isfinite(r.to(MAIN))]
        ratios = [r.to(MAIN) / p for r in own if math.isfinite(p := predicted_seconds(r, constants))]
        if ratios:
            found[method] = (len(ratios), median(ratios), median(max(x, 1.0 / x) for x in ratios))
    return found
