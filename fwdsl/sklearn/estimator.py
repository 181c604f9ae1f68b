"""The base of all estimators: data in, a certified solution, predictions on new rows."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from functools import cache
from numbers import Real
from typing import Any
from warnings import warn

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from ..bind.bindings import categories_of, told_where_to_give
from ..errors import DataError, FwError
from ..problem import Problem
from ..readers.frames import column_names, select
from ..results.saved import without_data
from ..results.solution import Solution
from ..solve.interrupt import heard
from ..studies.grid import SolutionGrid
from .errors import estimator_error, listed
from .lazy import computed
from .program import Names, Roles, coefficients, roles_of
from .recent import RECENT, Given

NUMBERS = [np.float64, np.float32]
"""The numbers that data are used in; others become the first."""

FOUND = ("n_features_in_", "classes_", "_is_flat")
"""Attributes that a check of samples and targets leaves."""

OPTIONS = ("tol", "method", "time", "threads", "seed")
"""Parameters of every estimator that are options of `Problem.solve`."""


class ProgramEstimator(BaseEstimator):
    """An estimator whose fit is the certified solution of a program.

    After `fit` it has `solution_` (a `fw.Solution`), `objective_`, `dual_gap_` (objective less the certified bound), `n_iter_`, `n_features_in_`,
    `feature_names_in_` where the columns have names, and `coef_` and `intercept_` where the prediction is `X @ w` or `X @ w + b`.

    A limit ends in a `ConvergenceWarning` with the certified gap. Raises FW0223 where the program has no solution; Ctrl-C raises
    `KeyboardInterrupt`, and where it came during the solve leaves the best point found as the fit.
    """

    #: Whether the program and its settings are known before the samples are, which may then be found again before they are checked.
    _is_for_any_samples = False

    # --- what a kind of estimator says of its program -----------------------------------------------------------------

    def _names(self) -> Names:
        """The program's names for what is given to `fit`."""
        raise NotImplementedError

    def _program(self, weighted: bool) -> Problem:
        """The program without data; `weighted` where `fit` was given weights of samples."""
        raise NotImplementedError

    def _settings(self) -> Mapping[str, object]:
        """Parameters, sizes and other data that are bound beside the samples."""
        raise NotImplementedError

    def _is_restricted(self) -> bool:
        """True if it cannot be expected to fit every data set well."""
        return False

    def _roles(self) -> Roles | None:
        """The roles of the program's names; None where the program is not accepted, which `fit` tells."""
        try:
            return roles_of(self._program(False).model, self._names())
        except (FwError, OSError):
            return None

    # --- fitting ------------------------------------------------------------------------------------------------------

    def _known(self, X: object, y: object) -> Problem | None:
        """The program with samples and targets that were checked before, as after another check; None where they were not."""
        if not self._is_for_any_samples:
            return None
        known = RECENT.again(self._program(False), self._settings(), self._reader(), X, y)
        if known is None:
            return None
        problem, found = known
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        for name, a in found.items():
            setattr(self, name, copy(a))
        return problem

    def _reader(self) -> tuple[Any, ...]:
        """The class and the names on which the check of samples and targets depends beside the program."""
        names = self._names()
        return type(self), names.X, names.y, names.weights

    def _bound(
        self,
        X: object,
        y: object,
        sample_weight: object,
        rows: object = None,
        given: tuple[object, object] | None = None,
    ) -> Problem:
        """The program with samples, targets and weights, all checked; `y` as the program takes it. Where X is a frame, `rows` are its numbers.
        `given` are samples and targets as they came, before they were checked."""
        problem, names = self._program(sample_weight is not None), self._names()
        roles = roles_of(problem.model, names)
        data: dict[str, object] = {names.X: X}
        if names.y is not None:
            data[names.y] = y
        if roles.weights is not None:
            data[names.weights] = self._weights(roles, sample_weight, X)
        elif sample_weight is not None:
            raise _no_weights(roles, names)
        named = column_names(X) if rows is not None else ()
        frames = {names.X: (named, rows)} if named else {}
        if given is None or sample_weight is not None:
            return RECENT.bound(problem, self._settings(), data, frames)
        found = {name: vars(self)[name] for name in FOUND if name in vars(self)}
        return RECENT.bound(problem, self._settings(), data, frames, Given(self._reader(), *given, found))

    def _for_estimators(self, error: DataError, problem: Problem) -> DataError:
        """The same error in the words of the call: with where an estimator is given the data and parameters that are missing (FW4501, FW4502), or was
        given those that are wrong."""
        hint = self._where_to_give
        told = told_where_to_give(error.diagnostics, problem.model, data=hint, params=hint)
        names, call = self._names(), type(self).__name__
        calls = {f"bind({name}=": f"{call}(..., {name}=" for name in self._settings()}
        fitted = {names.X: "X", names.y: "y", names.weights: "sample_weight"}
        calls |= {f"bind({name}=": f"fit({own}=" for name, own in fitted.items() if name is not None}

        def in_words(text: str) -> str:
            for bound, given in calls.items():
                text = text.replace(bound, given)
            return text

        told = tuple(replace(d, message=in_words(d.message), hint=in_words(d.hint)) for d in told)
        return error if told == tuple(error.diagnostics) else DataError(told)

    def _where_to_give(self, name: str) -> str:
        """The place of a value of the program, in words."""
        call = type(self).__name__
        if name == "y" and self._names().y is None and "y" in self._get_param_names():
            return f'write {call}(..., y="y"), and give the targets to `fit`'
        if name in self._get_param_names():
            return (
                f"call it otherwise in the program, for instance `{name}_`: {call} has a parameter `{name}` of its own"
            )
        return f"give it to the estimator, as in {call}(..., {name}=...)"

    def _weights(self, roles: Roles, sample_weight: object, X: Any) -> Any:
        """Weights of the samples, ones where none are given. Where the program takes the mean of its loss they are scaled to a mean of 1, so that
        a weight of 2 is the sample twice."""
        if sample_weight is None:
            return np.ones(X.shape[0])
        if isinstance(sample_weight, Real):
            # one number for all, as scikit-learn's own estimators take it
            sample_weight = np.full(X.shape[0], sample_weight)
        weights = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
        if weights.ndim != 1:
            raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
        check_consistent_length(X, weights)
        if weights.min() < 0.0:
            raise ValueError("Negative values in data passed to `sample_weight`.")
        if weights.max() == 0.0:
            raise ValueError("Sample weights must contain at least one non-zero number.")
        if not roles.averaged:
            return weights
        # by a power of 2, which rounds nothing, so that no sum overflows and no quotient does
        weights = np.ldexp(weights, -np.frexp(weights.max())[1])
        return weights * (weights.size / weights.sum())

    def _solve(self, problem: Problem) -> None:
        """Solve, and keep what the solution says."""
        with self._telling(problem):
            self._solved(problem)

    @contextmanager
    def _telling(self, problem: Problem) -> Iterator[None]:
        """A context of solves: missing values are told as estimators are given them, and where Ctrl-C came any error is one of it."""
        before = heard()
        try:
            yield
        except FwError as error:
            if heard() > before:  # a search goes on after an error
                raise KeyboardInterrupt from error
            if not isinstance(error, DataError):
                raise
            raise self._for_estimators(error, problem) from None

    def _solved(self, problem: Problem) -> None:
        self._keep(problem.solve(**self._options()))

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in OPTIONS if getattr(self, name) is not None}

    def _keep(self, solution: Solution) -> None:
        if solution.status in ("infeasible", "unbounded"):
            raise estimator_error(
                "FW0223",
                f"the program is {solution.status} with these data: {solution.certificate.statement}",
                rule="An estimator is the solution of its program, and this one has none.",
                hint="give other parameters, or look at the program: `fwdsl run`",
            )
        names, solution = self._names(), self._labelled(solution)
        roles = roles_of(solution.instance.model, names)
        self.solution_ = solution
        self.objective_, self.dual_gap_, self.n_iter_ = solution.objective, solution.gap, solution.iterations
        self._predictor, self._samples_name = solution.predictor(names.predict), names.X
        self._loss = roles.loss
        self._keep_coefficients(roles, solution)
        if solution.status == "interrupted":
            raise KeyboardInterrupt
        if solution.status != "optimal":
            far = (
                f"at most {solution.gap:.2g} from the optimum, a certified relative gap of {solution.relative_gap:.1e}"
            )
            warn(
                f"the tolerance was not reached ({solution.reason}): the objective {solution.objective:.6g} is "
                f"{far if math.isfinite(solution.gap) else 'not certified'}",
                ConvergenceWarning,
                stacklevel=_levels_to_the_caller(),
            )

    def _labelled(self, solution: Solution) -> Solution:
        """The solution with the labels that the targets had, where they are classes."""
        return solution

    def _keep_coefficients(self, roles: Roles, solution: Solution) -> None:
        """Keep the coefficients, and whatever else a kind of estimator has from a solution: an interruption raises once all is kept."""
        for name in ("coef_", "intercept_"):
            self.__dict__.pop(name, None)
        found = coefficients(roles)
        if found is not None:
            w, b = found
            self.coef_ = self._coefficients(np.asarray(solution[w]))
            self.intercept_ = self._intercept(0.0 if b is None else solution[b])

    def _coefficients(self, w: Any) -> Any:
        """Coefficients in scikit-learn's form: those of a row of targets or classes are a row."""
        return w.T

    def _intercept(self, b: Any) -> Any:
        return b

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """The names of the constructor's own parameters. To inspect a signature is slow, and scikit-learn asks often."""
        names: list[str] = super()._get_param_names()
        return names

    def __getstate__(self) -> dict[str, Any]:
        """The estimator without the training data: `solution_` then has what `fw.load_solution` gives of a saved one."""
        state: dict[str, Any] = dict(super().__getstate__())
        if "solution_" in state:
            state["solution_"] = without_data(self.solution_, self._predictor._fit)
        return state

    def __sklearn_is_fitted__(self) -> bool:
        return "solution_" in vars(self)

    # --- paths --------------------------------------------------------------------------------------------------------

    def _along(self, problem: Problem, values: Any) -> SolutionGrid:
        """The solutions along values of a parameter, or over those of several by name."""
        if not isinstance(values, Mapping):
            values = {self._swept(problem): values}
        with self._telling(problem):
            found: SolutionGrid = problem.grid(dict(values), **self._options())
        return replace(found, solutions=tuple(map(self._labelled, found.solutions)))

    def _swept(self, problem: Problem) -> str:
        """The parameter that values without a name are of."""
        names = [p.name for p in problem.model.params]
        if len(names) == 1:
            return names[0]
        raise estimator_error(
            "FW0220",
            "the values of a path have no name",
            rule=f"A path goes along a parameter of the program, which has {listed(names)}.",
            hint=f'write path(X, y, {{"{names[0] if names else "mu"}": [0.1, 1, 10]}})',
        )

    # --- new rows -----------------------------------------------------------------------------------------------------

    def _rows(self, X: object) -> Any:
        """New rows, checked, with the columns in the order of the fit."""
        check_is_fitted(self)
        X = self._in_order(X)
        return self._table(X, validate_data(self, X, reset=False, accept_sparse="csr", **self._cells()))

    def _has_categories(self) -> bool:
        """True if the program makes indicators of columns of X."""
        roles = self._roles()
        return roles is not None and bool(categories_of(roles.X))

    def _cells(self) -> dict[str, Any]:
        """The checks of the entries of X that scikit-learn makes; of words it makes none, since the program does."""
        return {"dtype": None, "ensure_all_finite": False} if self._has_categories() else {"dtype": NUMBERS}

    def _table(self, X: Any, rows: Any) -> Any:
        """Checked rows as the program takes them: where some are categories a frame as it is, other rows as objects, taken by position."""
        if not self._has_categories():
            return rows
        return X if column_names(X) else np.asarray(rows, dtype=object)

    def _in_order(self, X: Any) -> Any:
        """A frame that has the columns of the fit in another order, in that of the fit; of a lazy one the columns of the fit; all else as it is."""
        fitted = getattr(self, "feature_names_in_", None)
        X = computed(X, "X", () if fitted is None else tuple(fitted))
        names = column_names(X)
        if fitted is None or names == tuple(fitted) or sorted(names) != sorted(fitted):
            return X
        return select(X, [names.index(name) for name in fitted])

    def _scores(self, X: object) -> Any:
        """The value of what the program predicts, a row for each row of X."""
        rows, name = self._rows(X), self._samples_name
        if self._predictor.inputs == (name,) and not self._has_categories():
            return self._predictor.of_checked(rows)
        return self._predictor(**{name: rows})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _levels_to_the_caller() -> int:
    """The `stacklevel` of a warning that is raised where this is called from, for the line outside fwdsl that called it."""
    levels, frame = 1, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith("fwdsl."):
        levels, frame = levels + 1, frame.f_back
    return levels


def _no_weights(roles: Roles, names: Names) -> FwError:
    """The program has no data for weights (FW0221)."""
    rows = roles.X.type.shape[0]
    loss = roles.loss
    weighed = (
        "mean(W * squared(X @ w, y))" if loss is None else loss.text.replace(f"{loss.atom}(", f"W * {loss.atom}(", 1)
    )
    return estimator_error(
        "FW0221",
        f"`sample_weight` is given, and the program has no data `{names.weights}` for it",
        rule="Weights of samples are data of the program, which say what they weigh.",
        hint=f"declare `data {names.weights}: vector[{rows}] in nonnegative`, and weigh the loss with them, as in "
        f"`{weighed.replace('W', names.weights, 1)}`",
    )
