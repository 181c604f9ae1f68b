"""Detection of outliers by a one-class machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OutlierMixin, clone
from sklearn.utils.validation import validate_data

from ..bind.values import is_sparse
from ..problem import Problem
from ..results.solution import Solution
from ..studies.grid import SolutionGrid
from .estimator import NUMBERS, ProgramEstimator
from .lazy import computed, computed_column
from .program import Roles

ON_THE_EDGE = 1e-8
"""The distance to the threshold, relative to it, within which a sample is on it: some samples of every fit are."""


class Outliers(OutlierMixin, ProgramEstimator):
    """Samples on the far side of a threshold are outliers. `offset_` is the threshold."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Solve with the samples X, (n, p). `y` is not used."""
        self._solve(self._given(X, sample_weight))
        return self

    def _keep_coefficients(self, roles: Roles, solution: Solution) -> None:
        super()._keep_coefficients(roles, solution)
        self.offset_ = float(solution["rho"])

    def decision_function(self, X: Any) -> Any:
        """The distance to the threshold, on the scale of the kernel: negative for outliers, (n,). Rounding of the threshold is 0."""
        z = self._scores(X)
        return np.where(np.abs(z) <= ON_THE_EDGE * abs(self.offset_), 0.0, z)

    def score_samples(self, X: Any) -> Any:
        """`decision_function` without the threshold taken off."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> Any:
        """1 for samples like those of the fit, -1 for outliers."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    def path(self, X: Any, values: Any, sample_weight: Any = None) -> SolutionGrid:
        """The certified solutions along values of `nu`, each from the nearest. The estimator keeps the fit that it has."""
        other: Any = clone(self)
        found: SolutionGrid = other._along(other._given(X, sample_weight), values)
        return found

    def _given(self, X: Any, sample_weight: Any) -> Problem:
        rows = validate_data(self, computed(X, "X"), accept_sparse="csr", dtype=NUMBERS)
        problem = self._bound(rows, None, computed_column(sample_weight, "sample_weight"))
        weights = problem.instance.values.get(self._names().weights)
        return problem.bind(gamma=_width(rows, weights)) if self._needs_width else problem

    @property
    def _needs_width(self) -> bool:
        return vars(self).get("gamma", 0.0) is None and "gamma" in {p.name for p in self._program(False).model.params}


def _width(X: Any, weights: Any) -> float:
    """1 / (p times the variance of all entries), as scikit-learn's machines have it, each row with its weight."""
    n, p = X.shape
    weights = np.ones(n) if weights is None else weights
    total = p * weights.sum()
    squares = X.multiply(X) if is_sparse(X) else X * X
    variance = float((squares.T @ weights).sum() / total - ((X.T @ weights).sum() / total) ** 2)
    return 1.0 / (p * variance) if variance > 0.0 else 1.0
