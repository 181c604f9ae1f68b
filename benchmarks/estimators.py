"""Searches over a parameter with programs as estimators, beside scikit-learn's own estimators of the same problems."""

from __future__ import annotations

import resource
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from machine import start_over

if __name__ == "__main__":
    start_over(threads=1)

import numpy as np
from report import Report, Target, ratio
from sklearn.base import clone
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.model_selection import GridSearchCV
from timing import COLUMNS, interleaved

from fwdsl.sklearn import FwClassifier, FwRegressor

SAMPLES, FEATURES, FOLDS, VALUES = 10_000, 50, 5, 20
ROUNDS = 15
LIMIT = 1.2

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
class Search:
    """A search over one parameter: ours and scikit-learn's estimator, the parameter's name for each, its values, the targets, and the objective at
    samples, targets, a value, coefficients and an intercept; `others` are more of scikit-learn's, by name."""

    name: str
    ours: Any
    ours_by: str
    theirs: Any
    theirs_by: str
    values: Any
    y: Any
    objective: Callable[[Any, Any, float, Any, Any], float]
    others: tuple[tuple[str, Any], ...] = ()

    def runs(self, X: Any) -> dict[str, Callable[[], Any]]:
        """Both searches by name, each without the final fit, as what is told is of the folds."""
        made = {
            "fwdsl": GridSearchCV(self.ours, {self.ours_by: self.values}, cv=FOLDS, refit=False),
            **{
                name: GridSearchCV(estimator, {self.theirs_by: self.values}, cv=FOLDS, refit=False)
                for name, estimator in (("scikit-learn", self.theirs), *self.others)
            },
        }
        return {who: lambda search=search: search.fit(X, self.y) for who, search in made.items()}

    def excess(self, X: Any) -> dict[str, float]:
        """By how much the objective of a fit is above the optimum, relatively, at most: of the fits to all samples but those of the first fold."""
        X, y = X[SAMPLES // FOLDS :], self.y[SAMPLES // FOLDS :]

        def at(estimator: Any, by: str, value: float) -> float:
            fit = clone(estimator).set_params(**{by: value}).fit(X, y)
            return self.objective(X, y, value, np.ravel(fit.coef_), np.ravel(fit.intercept_)[0])

        exact = clone(self.ours).set_params(tol=1e-10)
        least = [at(exact, self.ours_by, value) for value in self.values]
        both = {"fwdsl": (self.ours, self.ours_by), "scikit-learn": (self.theirs, self.theirs_by)}
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


def searches() -> tuple[Any, list[Search]]:
    """The samples, and the two searches over them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(SAMPLES, FEATURES))
    z = X[:, :10] @ rng.normal(size=10)
    y, signs = z + rng.normal(size=SAMPLES), (z + rng.logistic(size=SAMPLES) > 0).astype(int)
    lasso, ridge = np.logspace(-3, 0, VALUES), np.logspace(-4, 4, VALUES)
    return X, [
        Search("lasso", FwRegressor(LASSO), "mu", Lasso(), "alpha", lasso, y, lasso_objective),
        Search(
            "l2 logistic",
            FwClassifier(LOGISTIC),
            "C",
            LogisticRegression(),
            "C",
            ridge,
            signs,
            logistic_objective,
            NEWTON,
        ),
    ]


def _told(by: dict[str, Any], form: str) -> str:
    return " and ".join(f"{value:{form}} ({who})" for who, value in by.items())


def main() -> None:
    """Measure, and write results/estimators.md."""
    report = Report(
        "estimators",
        "Programs as scikit-learn estimators",
        f"`GridSearchCV` with {FOLDS} folds and {VALUES} values of one parameter, on one thread. fwdsl certifies each fit to a relative gap of "
        "1e-6, scikit-learn's estimators stop by their own rules (their default tolerances). The searches take turns.",
        f"{SAMPLES:,} x {FEATURES} normal features, 10 of which matter",
        ["fwdsl", "numpy", "scikit-learn"],
    )
    X, todo = searches()
    for search in todo:
        runs = search.runs(X)
        for fit in runs.values():
            fit()  # kernels and caches
        found = interleaved(runs, ROUNDS, budget=60.0)
        scores = [found[who].result.cv_results_["mean_test_score"] for who in ("fwdsl", "scikit-learn")]
        report.section(
            search.name,
            f"The mean scores of the {VALUES} values differ by at most {np.abs(scores[0] - scores[1]).max():.1e}. "
            f"Objectives are above the optimum by at most {_told(search.excess(X), '.1e')}, relatively. "
            f"New pages of memory in a search: {_told({who: faults(runs[who]) for who in ('fwdsl', 'scikit-learn')}, ',')}.",
        )
        report.table(["search", *COLUMNS], [[who, *found[who].cells] for who in runs])
        slower = found["fwdsl"].median / found["scikit-learn"].median
        report.target(Target(f"{search.name}: time over scikit-learn's", slower, LIMIT, show=ratio))
    report.write()


if __name__ == "__main__":
    main()
