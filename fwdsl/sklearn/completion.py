"""Completion of a matrix with missing entries as a transformer."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from ..atoms.low_rank import LowRank
from ..problem import Problem
from ..results.solution import Solution
from ..studies.grid import SolutionGrid
from .estimator import NUMBERS, ProgramEstimator
from .kinds import observed
from .lazy import computed
from .program import Names, Roles

RANK_TOLERANCE = 1e-9
"""Singular values below this share of the largest are rounding."""


class Completion(OneToOneFeatureMixin, TransformerMixin, ProgramEstimator):
    """A matrix of low rank in the place of missing entries.

    With Z = U diag(s) V', `fit` solves for Z. Of a row, new or not, the observed entries x give its place a in the row space B = V diag(sqrt(s)): the
    least |B a - x|^2 / 2 + alpha / 2 |a|^2 over them, and its missing entries are those of B a. For the rows of the fit these are those of Z, since
    the trace norm of Z is the least (|A|^2 + |B|^2) / 2 over Z = A B'. `components_` is B', `completion_` is Z with the means of the columns added.
    """

    def fit(self, X: Any, y: Any = None) -> Any:
        """Solve for the observed entries of X, (n, p), where nan is missing. `y` is not used."""
        self._solve(self._given(X))
        return self

    def _keep_coefficients(self, roles: Roles, solution: Solution) -> None:
        Z = solution["Z"]
        self._alpha = float(solution.instance.values["alpha"])
        Z = Z if isinstance(Z, LowRank) else np.asarray(Z)
        U, s, V = _thin(Z)
        kept = s > RANK_TOLERANCE * s.max(initial=0.0)
        self.components_ = (V[:, kept] * np.sqrt(s[kept])).T
        self.completion_ = (U[:, kept] * s[kept]) @ V[:, kept].T + self.means_

    def transform(self, X: Any) -> Any:
        """The rows of X with what is missing filled in."""
        check_is_fitted(self)
        rows = validate_data(
            self, self._in_order(X), reset=False, dtype=NUMBERS, ensure_all_finite="allow-nan", copy=True
        )
        seen = ~np.isnan(rows)
        alpha = self._alpha
        for i in np.flatnonzero(~seen.all(axis=1)):
            B = self.components_[:, seen[i]]
            right = B @ (rows[i, seen[i]] - self.means_[seen[i]])
            a = np.linalg.lstsq(B @ B.T + alpha * np.eye(len(B)), right, rcond=None)[0]
            rows[i, ~seen[i]] = a @ self.components_[:, ~seen[i]] + self.means_[~seen[i]]
        return rows

    def path(self, X: Any, values: Any) -> SolutionGrid:
        """The certified solutions along values of `alpha`, each from the nearest. The estimator keeps the fit that it has."""
        other: Any = clone(self)
        found: SolutionGrid = other._along(other._given(X), values)
        return found

    def _given(self, X: Any) -> Problem:
        rows = validate_data(self, computed(X, "X"), dtype=NUMBERS, ensure_all_finite="allow-nan")
        at = observed(rows)
        counts = np.maximum(np.bincount(at[1], minlength=rows.shape[1]), 1)
        center = self.center
        self.means_ = np.bincount(at[1], at[2], minlength=rows.shape[1]) / counts if center else np.zeros(rows.shape[1])
        n, p = rows.shape
        triplets = (*at[:2], at[2] - self.means_[at[1]])
        return self._program(False).bind(**self._settings(), X=triplets, n=n, p=p)

    def _names(self) -> Names:
        return Names(type(self).__name__, "X", None, "sample_weight", None)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.allow_nan = True
        return tags


def _thin(Z: Any) -> tuple[Any, Any, Any]:
    """U, s and V of Z = U diag(s) V'."""
    if not isinstance(Z, LowRank):
        U, s, Vt = np.linalg.svd(Z, full_matrices=False)
        return U, s, Vt.T
    left, right = np.linalg.qr(Z.U), np.linalg.qr(Z.V)
    U, s, Vt = np.linalg.svd(left[1] @ right[1].T, full_matrices=False)
    return left[0] @ U, s, right[0] @ Vt.T
