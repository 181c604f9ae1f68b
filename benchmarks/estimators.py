"""Searches over a parameter with programs as estimators, beside scikit-learn's own estimators of the same problems."""

from __future__ import annotations

import resource
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from machine import start_over

if __name__ == "__main__":
    start_over(threads=1)

import numpy as np
from peers.workers import Worker
from report import Report, Target, ratio
from sklearn.base import clone
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.model_selection import GridSearchCV
from timing import COLUMNS, Runs, duration, timed

from fwdsl.sklearn import FwClassifier, FwRegressor

SAMPLES, FEATURES, FOLDS, VALUES = 10_000, 50, 5, 20
ROUNDS = 15
LIMIT = 1.2
LONGEST = 120.0
"""Seconds that a search may take."""
THEIRS = "scikit-learn"

LASSO = """
data X: matrix[n, p], y: vector[n]
param mu: nonnegative = 0.1
var w: vector[p], b: real
minimize 1/2 * mean(squared(X @ w + b, y)) + mu * norm1(w)
"""

NEWTON = (("scikit-learn by Newton's method", LogisticRegression(solver="newton-cholesky", tol=1e-6)),)
"""The estimator that takes the steps that fwdsl does; the target is over the one that a user gets."""

LOGISTIC = """
data X: matrix[n, p], y: signs[n]
param C: positive = 1
var w: vector[p], b: real
minimize C * sum(logistic(X @ w + b, y)) + 1/2 * sum_squares(w)
"""


@dataclass(frozen=True)
class Draw:
    """Samples, (n, p), numbers for targets and two classes, (n,) each."""

    X: Any
    numbers: Any
    classes: Any

    @staticmethod
    def of(seed: int) -> Draw:
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(SAMPLES, FEATURES))
        z = X[:, :10] @ rng.normal(size=10)
        return Draw(X, z + rng.normal(size=SAMPLES), (z + rng.logistic(size=SAMPLES) > 0).astype(int))


@dataclass(frozen=True)
class Search:
    """A search over one parameter: ours and scikit-learn's estimator, the parameter's name for each, its values, the targets of a draw, and the
    objective at samples, targets, a value, coefficients and an intercept; `others` are more of scikit-learn's, by name."""

    name: str
    ours: Any
    ours_by: str
    theirs: Any
    theirs_by: str
    values: Any
    targets: Callable[[Draw], Any]
    objective: Callable[[Any, Any, float, Any, Any], float]
    others: tuple[tuple[str, Any], ...] = ()

    def runs(self, draws: Sequence[Draw]) -> dict[str, Callable[[float], Any]]:
        """The searches by who searches: the mean scores of the values at a draw, without a final fit, as what is told is of the folds."""
        asked = {
            "fwdsl": (self.ours, self.ours_by),
            **{name: (estimator, self.theirs_by) for name, estimator in ((THEIRS, self.theirs), *self.others)},
        }
        return {who: self._run(*how, draws) for who, how in asked.items()}

    def _run(self, estimator: Any, by: str, draws: Sequence[Draw]) -> Callable[[float], Any]:
        search = GridSearchCV(estimator, {by: self.values}, cv=FOLDS, refit=False)

        def run(draw: float) -> Any:
            drawn = draws[int(draw)]
            return search.fit(drawn.X, self.targets(drawn)).cv_results_["mean_test_score"]

        return run

    def excess(self, drawn: Draw) -> dict[str, float]:
        """By how much the objective of a fit is above the optimum, relatively, at most: of the fits to all samples but those of the first fold."""
        X, y = drawn.X[SAMPLES // FOLDS :], self.targets(drawn)[SAMPLES // FOLDS :]

        def at(estimator: Any, by: str, value: float) -> float:
            fit = clone(estimator).set_params(**{by: value}).fit(X, y)
            return self.objective(X, y, value, np.ravel(fit.coef_), np.ravel(fit.intercept_)[0])

        exact = clone(self.ours).set_params(tol=1e-10)
        least = [at(exact, self.ours_by, value) for value in self.values]
        both = {"fwdsl": (self.ours, self.ours_by), THEIRS: (self.theirs, self.theirs_by)}
        return {
            who: max((at(*how, value) - best) / best for value, best in zip(self.values, least, strict=True))
            for who, how in both.items()
        }


def lasso_objective(X: Any, y: Any, mu: float, w: Any, b: Any) -> float:
    """The objective of LASSO."""
    return float(0.5 * np.mean((X @ w + b - y) ** 2) + mu * np.abs(w).sum())


def logistic_objective(X: Any, y: Any, C: float, w: Any, b: Any) -> float:
    """The objective of LOGISTIC."""
    return float(C * np.logaddexp(0.0, (1 - 2 * y) * (X @ w + b)).sum() + 0.5 * w @ w)


def faults(fit: Callable[[], Any]) -> int:
    """The pages of memory that the system hands out during a fit, in some 2 us each: who gives large arrays back each time pays for them."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    fit()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def searches() -> list[Search]:
    """The two searches."""
    lasso, ridge = np.logspace(-3, 0, VALUES), np.logspace(-4, 4, VALUES)
    return [
        Search(
            "lasso", FwRegressor(LASSO), "mu", Lasso(), "alpha", lasso, lambda drawn: drawn.numbers, lasso_objective
        ),
        Search(
            "l2 logistic",
            FwClassifier(LOGISTIC),
            "C",
            LogisticRegression(),
            "C",
            ridge,
            lambda drawn: drawn.classes,
            logistic_objective,
            NEWTON,
        ),
    ]


def apart(runs: Mapping[str, Callable[[float], Any]]) -> dict[str, Runs]:
    """The searches in turns, each in a process of its own that has made one before; every round has a draw of its own."""
    workers = {who: Worker(run, lambda scores: (0.0, scores)) for who, run in runs.items()}
    found = {who: Runs() for who in workers}
    for draw in range(ROUNDS + 1):
        for who, worker in workers.items():
            answer = worker.ask(float(draw), LONGEST)
            if answer.run is None:
                raise SystemExit(f"{who}: {answer.failed}")
            if draw:
                found[who].all.append(answer.run)
    for worker in workers.values():
        worker.end()
    return found


def together(runs: Mapping[str, Callable[[float], Any]]) -> dict[str, Runs]:
    """The same in one process."""
    found = {who: Runs() for who in runs}
    for draw in range(ROUNDS + 1):
        for who, run in runs.items():
            one = timed(partial(run, draw))
            if draw:
                found[who].all.append(one)
    return found


def _told(by: dict[str, Any], form: str) -> str:
    return " and ".join(f"{value:{form}} ({who})" for who, value in by.items())


def main() -> None:
    """Measure, and write results/estimators.md."""
    report = Report(
        "estimators",
        "Programs as scikit-learn estimators",
        f"`GridSearchCV` with {FOLDS} folds and {VALUES} values of one parameter, on one thread. fwdsl certifies each fit to a relative gap of "
        "1e-6, scikit-learn's estimators stop by their own rules (their default tolerances). Each searches in a process of its own that has "
        "made such a search before, as it does for whoever uses one of them; they take turns, and every round has samples that nobody has seen.",
        f"{SAMPLES:,} x {FEATURES} normal features, 10 of which matter, drawn anew for each round",
        ["fwdsl", "numpy", "scikit-learn"],
    )
    draws = [Draw.of(seed) for seed in range(ROUNDS + 1)]
    for search in searches():
        runs = search.runs(draws)
        own, one = apart(runs), together({who: runs[who] for who in ("fwdsl", THEIRS)})
        scores = [own[who].result for who in ("fwdsl", THEIRS)]
        pages = {who: faults(partial(run, ROUNDS)) for who, run in runs.items() if who in one}
        report.section(
            search.name,
            f"The mean scores of the {VALUES} values differ by at most {np.abs(scores[0] - scores[1]).max():.1e}. "
            f"Objectives are above the optimum by at most {_told(search.excess(draws[0]), '.1e')}, relatively.",
        )
        report.table(["search", *COLUMNS], [[who, *own[who].cells] for who in runs])
        slower = {how: found["fwdsl"].median / found[THEIRS].median for how, found in (("own", own), ("one", one))}
        report.text(
            f"In one process, where the allocator has got used to both: {_told({w: duration(f.median) for w, f in one.items()}, '')}, "
            f"{ratio(slower['one'])}; new pages of memory in a search there: {_told(pages, ',')}."
        )
        report.target(Target(f"{search.name}: time over scikit-learn's", slower["own"], LIMIT, show=ratio))
    report.write()


if __name__ == "__main__":
    main()
