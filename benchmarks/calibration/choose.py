"""Corrections of seconds moved to where they choose better.

The regression of `fit` tells seconds as well as it can, of fast and of slow methods alike; a choice turns on which of the fastest is ahead. From
the regression's coefficients on, the regret of a softened choice is made small: a method is taken with a probability in proportion to its predicted
seconds to the power of -`SHARPNESS`. The mean logarithm of the regret, with a ridge on the moves, is minimised over the problems that are not
held out.
`SHARPNESS` and `PULL` were chosen by cross-validation on those problems alone; a weaker pull chooses as well, and tells the seconds less well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from fwdsl.plan.fitted import WIDEST, key_of, most_of

from .fit import Constants, regrets, start_of
from .record import LEVELS, MAIN, Ran

SHARPNESS = 4.0
PULL = 100.0
"""The weight of a squared move, where a problem weighs 1."""

EARLIER = (0.5, 1.0)
"""Shares of `SHARPNESS` at which it is minimised in turn: a soft choice sees methods that are far behind."""

Array = NDArray[np.float64]


def moved(runs: Sequence[Ran], constants: Mapping[str, Any], keys: Sequence[str]) -> Constants:
    """The constants of the keys, those of seconds moved to where the choices are better."""
    if not keys:
        return {}
    softened = _Softened([r for r in runs if not r.held_out], constants, keys)
    start = np.array([constants[key][1] for key in keys])
    moves = np.zeros(start.size)
    for share in EARLIER:
        moves = minimize(softened, moves, (share * SHARPNESS,), "L-BFGS-B", jac=True, options={"maxiter": 300}).x
    theta = start + moves.reshape(start.shape)
    return {
        key: (constants[key][0], tuple(round(float(t), 4) for t in row), constants[key][2])
        for key, row in zip(keys, theta, strict=True)
    }


class _Softened:
    """The softened regret as a function of the moves, with its gradient."""

    def __init__(self, runs: Sequence[Ran], constants: Mapping[str, Any], keys: Sequence[str]) -> None:
        by_case: dict[str, list[Ran]] = {}
        for r in runs:
            by_case.setdefault(r.case, []).append(r)
        level = LEVELS.index(MAIN)
        features, place, most, raw, regret, problem, theta = [], [], [], [], [], [], []
        for entered in by_case.values():
            known = [
                (r, g) for r, g in zip(entered, regrets(entered), strict=True) if 0.0 < r.seconds[level] < math.inf
            ]
            if len(known) < 2 or any(r.settled for r in entered) or math.isnan(known[0][1]):
                continue
            number = problem[-1] + 1 if problem else 0
            for r, g in known:
                key = key_of(r.method, r.features)
                features.append(r.features)
                theta.append(constants[key][1] if key in constants else np.zeros(len(r.features)))
                place.append(keys.index(key) if key in keys else -1)
                most.append(most_of(key, r.method, r.trusted))
                raw.append(math.log10(r.seconds[level] + start_of(key, constants)))
                regret.append(math.log(g))
                problem.append(number)
        self.features, self.theta = np.array(features), np.array(theta)
        self.place, self.problem = np.array(place), np.array(problem)
        self.most, self.raw, self.regret = np.array(most), np.array(raw), np.array(regret)
        self.shape = (len(keys), self.features.shape[1])

    def __call__(self, moves: Array, sharpness: float) -> tuple[float, Array]:
        by_key = moves.reshape(self.shape)
        own = self.place >= 0
        theta = self.theta + np.where(own[:, None], by_key[self.place], 0.0)
        power = np.einsum("ij,ij->i", self.features, theta)
        told = sharpness * math.log(10.0) * (self.raw + np.clip(power, -WIDEST, self.most))
        least = np.full(self.problem[-1] + 1, np.inf)
        np.minimum.at(least, self.problem, told)
        share = np.exp(least[self.problem] - told)
        share /= np.bincount(self.problem, share)[self.problem]
        mean = np.bincount(self.problem, share * self.regret)
        slope = -sharpness * math.log(10.0) * share * (self.regret - mean[self.problem])
        slope[(power <= -WIDEST) | (power >= self.most)] = 0.0
        gradient = PULL * by_key
        np.add.at(gradient, self.place[own], slope[own, None] * self.features[own])
        return float(mean.sum()) + 0.5 * PULL * float(moves @ moves), gradient.ravel()
