"""Estimators that choose the parameter of their path by folds, each fold solved along it from one value to the next."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from ..atoms.losses import LOSSES, VECTOR_LOSSES
from ..atoms.vectors.sorted_l1 import sorted_dual_norm
from ..bind.instance import Instance
from ..bind.values import is_sparse
from ..problem import Problem
from ..studies.folds import CrossValidation
from .errors import estimator_error
from .estimator import ProgramEstimator
from .program import Roles, roles_of
from .recipes import Recipe

COUNT = 20
"""Values that are tried where none are given."""

RANGE = 1e-3
"""The smallest value that is tried, as a share of the largest."""


class CrossValidated(ProgramEstimator):
    """A recipe's estimator that chooses its parameter: it has the values `<parameter>s`, `cv` and `criterion`.

    After `fit` the chosen value is `<parameter>_`, all are in `<parameter>s_`, and `cross_validation_` is the `CrossValidation` of the program, with
    scores by fold, standard errors and `one_se`; `solution_` is the fit to all samples with the chosen value.
    """

    recipe: Recipe

    def _solved(self, problem: Problem) -> None:
        along = self.recipe.along
        given = getattr(self, f"{along}s")
        values = self._values(problem) if given is None else np.sort(np.atleast_1d(given).astype(np.float64))[::-1]
        folds = self._folds(problem.instance)
        criterion = self.criterion
        if criterion not in ("loss", "error"):
            raise ValueError(f"criterion={criterion!r} is none of 'loss', 'error'")
        found = problem.grid({along: tuple(values)}, folds=folds, score=criterion, **self._options())
        self._keep_choice(found, along, values)

    def __getstate__(self) -> dict[str, Any]:
        """The estimator without the training data: the solution of `cross_validation_` is then `solution_`."""
        state = super().__getstate__()
        if "cross_validation_" in state:
            found = self.cross_validation_
            state["cross_validation_"] = replace(found, solution=found.solution and state.get("solution_"))
        return state

    def _keep_choice(self, found: CrossValidation, along: str, values: Any) -> None:
        self.cross_validation_ = found = self._with_labels(found)
        setattr(self, f"{along}s_", values)
        if found.status == "interrupted":
            raise KeyboardInterrupt
        if found.best is None or found.solution is None:
            raise estimator_error(
                "FW0223",
                f"at no value of `{along}` there is a fit in every fold",
                rule="An estimator is the solution of its program.",
                hint=f"give other values of `{along}s`",
            )
        setattr(self, f"{along}_", found.best[along])
        self._keep(found.solution)

    def _with_labels(self, found: CrossValidation) -> CrossValidation:
        return found if found.solution is None else replace(found, solution=self._labelled(found.solution))

    def _folds(self, instance: Instance) -> Any:
        """The splits by scikit-learn's rules, with the classes in each where there are some; of observed entries where there are no targets. Their
        number is then taken as the language takes it, shuffled."""
        names, cv = self._names(), self.cv
        if names.y is None and (cv is None or isinstance(cv, Integral)):
            return 5 if cv is None else int(cv)
        y = None if names.y is None else instance.values[names.y]
        count = instance.values[names.X].values.size if y is None else y.shape[0]
        splitter = check_cv(cv, y, classifier=is_classifier(self))
        try:
            splits = list(splitter.split(np.zeros((count, 1)), y))
        except (TypeError, ValueError) as error:
            raise _no_splits(cv, error) from None
        if not splits:
            raise ValueError(f"cv={cv!r} has no splits")
        return splits

    def _values(self, problem: Problem) -> Any:
        """Values to try: down from one that leaves little of the coefficients."""
        instance = problem.instance
        names, scale = self._names(), self.recipe.scale
        X = instance.values[names.X]
        if names.y is None:
            matrix = np.zeros((instance.dims["n"], instance.dims["p"]))
            matrix[X.rows, X.columns] = X.values
            largest = float(np.linalg.norm(matrix, 2))
        elif scale == "squares":
            return np.geomspace(100.0, 1e-4, COUNT) * _squares(X)
        else:
            slopes = _slopes(roles_of(instance.model, names), instance)
            lambdas = instance.values["lambdas"] if scale == "sorted" else None
            largest = _dual_norm(slopes, scale, lambdas)
        return np.geomspace(1.0, RANGE, COUNT) * (largest or 1.0)


def _no_splits(cv: Any, error: Exception) -> Exception:
    """The error for splits that cannot be made with `cv`; that of a splitter itself where this says nothing more."""
    if "'groups'" in str(error):
        return ValueError(
            f"cv={cv!r} splits by groups of samples, which `fit` does not take: give its splits, "
            f"cv=list({type(cv).__name__}(...).split(X, y, groups))"
        )
    if not hasattr(cv, "split") and not isinstance(cv, Integral):
        return ValueError(
            f"cv={cv!r} is no list of splits: each is a pair, the samples to fit to and those to leave out"
        )
    return error


def _dual_norm(slopes: Any, scale: str, lambdas: Any) -> float:
    """The weight of the penalty from which on no coefficient is left."""
    if lambdas is not None:
        return sorted_dual_norm(slopes, np.asarray(lambdas, dtype=np.float64))
    return float(np.linalg.norm(slopes, 2) if scale == "spectral" else np.abs(slopes).max())


def _squares(X: Any) -> float:
    """The mean square of a column's entries, or 1 where all are 0."""
    squares = X.multiply(X) if is_sparse(X) else X * X
    return float(squares.sum() / (X.shape[0] * X.shape[1])) or 1.0


def _slopes(roles: Roles, instance: Instance) -> Any:
    """The gradient of the mean loss in the coefficients at 0, predictions being one constant."""
    assert roles.loss is not None and roles.y is not None
    X, y = instance.values[roles.X.name], instance.values[roles.y.name]
    n = X.shape[0]
    coefficient = float(instance.evaluate(roles.loss.coefficient))
    weights = np.ones(n) if roles.weights is None else instance.values[roles.weights.name]
    share = weights / weights.sum()
    if roles.loss.atom in LOSSES:
        p = np.array([float(instance.evaluate(e)) for _, e in roles.loss.options])
        z = np.zeros(y.shape) if roles.y.type.is_signs else np.broadcast_to(share @ y, y.shape)
        slope = LOSSES[roles.loss.atom].gradient_naive(z, y, p)
    else:
        slope = VECTOR_LOSSES[roles.loss.atom].gradient_naive(np.zeros((n, instance.dims["k"])), y)
    return coefficient * (X.T @ ((slope - share @ slope).T * share).T)
