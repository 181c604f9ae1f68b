"""Regressors, classifiers and transformers over a program: what `fit` takes, and what is said of new rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, RegressorMixin, TransformerMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from ..atoms.losses import LOSSES, VECTOR_LOSSES
from ..model import DataDecl, Term
from ..readers.frames import column_names
from ..results.solution import Solution
from ..studies.grid import SolutionGrid
from .errors import estimator_error
from .estimator import NUMBERS, ProgramEstimator
from .lazy import computed, computed_column
from .program import roles_of


class Supervised(ProgramEstimator):
    """An estimator with targets."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Solve the program with the samples X, (n, p), and the targets y. `sample_weight`, (n,), weighs the samples.

        Raises FW0220 where the program has no data of the names `X` and `y`, FW0221 where it has none for weights, FW0223 where it has no
        solution, `ValueError` for what scikit-learn refuses, and an `FwError` for what the program refuses.
        """
        self._solve(self._given(X, y, sample_weight))
        return self

    def path(self, X: Any, y: Any, values: Any, sample_weight: Any = None) -> SolutionGrid:
        """The certified solutions along values of a parameter, each from the nearest one: `path(X, y, {"mu": [0.1, 1, 10]})`.

        The name may be left out where the program has one parameter. With several names every combination is solved. The estimator keeps the fit
        that it has.
        """
        other: Any = clone(self)
        found: SolutionGrid = other._along(other._given(X, y, sample_weight), values)
        return found

    def _given(self, X: Any, y: Any, sample_weight: Any) -> Any:
        names = self._names()
        roles = roles_of(self._program(sample_weight is not None).model, names)
        if roles.y is None:
            raise estimator_error(
                "FW0220",
                f"{names.call} was given `y=None`, which names no data",
                rule=f"{names.call} has targets, and `y` is how the program calls them.",
                hint=f'write {names.call}(..., y="y") with the name of yours, or use FwTransformer, which needs no targets',
            )
        X, y, sample_weight = computed(X, "X"), computed_column(y, "y"), computed_column(sample_weight, "sample_weight")
        known = self._known(X, y) if sample_weight is None else None
        if known is not None:
            return known
        rows, targets = self._checked(X, y, roles.y)
        return self._bound(X if column_names(X) else rows, targets, sample_weight, rows, (X, y))

    def _checked(self, X: Any, y: Any, decl: DataDecl) -> tuple[Any, Any]:
        """Samples and targets that scikit-learn accepts, the targets as the program takes them."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        roles = self._roles()
        if roles is not None and roles.y is not None:
            tags.target_tags.multi_output = roles.y.type.is_matrix
        return tags


class Regression(RegressorMixin, Supervised):
    """A regressor: numbers for targets, a vector or a matrix as the program declares them."""

    def predict(self, X: Any) -> Any:
        """The predictions at the rows of X, (n,) or (n, k) as the targets of the fit were.

        Without a name of the estimator they are on the scale of the targets: exp(z) for the scores z of a `poisson` loss.
        """
        z = self._scores(X)
        if self._names().predict is None and self._loss is not None and self._loss.atom in LOSSES:
            z = LOSSES[self._loss.atom].target_naive(z)
        return z.reshape(-1) if self._is_flat else z

    def _checked(self, X: Any, y: Any, decl: DataDecl) -> tuple[Any, Any]:
        wide = decl.type.is_matrix
        rows, y = validate_data(self, X, y, accept_sparse="csr", y_numeric=True, multi_output=wide, **self._cells())
        self._is_flat = y.ndim == 1
        return self._table(X, rows), y.reshape(-1, 1) if wide and self._is_flat else y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self._is_restricted()
        return tags

    def _coefficients(self, w: Any) -> Any:
        return w.reshape(-1) if self._is_flat else w.T

    def _intercept(self, b: Any) -> Any:
        return float(np.reshape(b, ())) if self._is_flat else np.broadcast_to(b, (self.coef_.shape[0],))


def _has_probabilities(estimator: Any) -> bool:
    roles = estimator._roles()
    word = None if roles is None else roles.word
    if word is not None and word.likelihood and word.classifies:
        return True
    raise AttributeError("the program's loss is no likelihood of classes, so it has no probabilities")


class Classification(ClassifierMixin, Supervised):
    """A classifier: labels of any kind, two for a program with `signs`, two or more for one with `labels`."""

    def decision_function(self, X: Any) -> Any:
        """The scores: (n,) for two classes, positive for the second one, else (n, k)."""
        z = self._scores(X)
        return z[:, 1] - z[:, 0] if z.ndim == 2 and z.shape[1] == 2 else z

    def predict(self, X: Any) -> Any:
        """The class of each row: that of the largest score."""
        z = self.decision_function(X)
        return self.classes_[np.argmax(z, axis=1) if z.ndim == 2 else (z > 0.0).astype(int)]

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """The probability of each class, (n, k), in the order of `classes_`. There is one where exp(-loss) is one."""
        return np.exp(self.predict_log_proba(X))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithms of `predict_proba`: -l(z; y) for each class y."""
        z = self._scores(X)
        assert self._loss is not None
        return -_loss_of_each(self._loss, z)

    def _checked(self, X: Any, y: Any, decl: DataDecl) -> tuple[Any, Any]:
        rows, y = validate_data(self, X, y, accept_sparse="csr", ensure_min_samples=2, **self._cells())
        X = self._table(X, rows)
        if not (y.ndim == 1 and y.dtype.kind in "bi" and y.size):
            check_classification_targets(y)
        self.classes_, codes = _classes_of(column_or_1d(y) if y.ndim > 1 else y)
        if 2 * self.classes_.size > y.size:
            check_classification_targets(y)
        if self.classes_.size < 2:
            told = f"the data contains only one class: {self.classes_.tolist()[0]!r}"
            raise ValueError(f"This solver needs samples of at least 2 classes in the data, but {told}")
        if decl.type.is_labels:
            return X, codes
        if not decl.type.is_signs:
            raise estimator_error(
                "FW0220",
                f"`{decl.name}` is declared `{decl.type.kind}`, which has no classes",
                rule="A classifier's targets are `signs` or `labels`.",
                hint=f"declare `{decl.name}: signs[n]` or `{decl.name}: labels[n, k]`, or use FwRegressor",
            )
        if self.classes_.size > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"`{decl.name}` is declared `signs`; declare `{decl.name}: labels[n, k]` with a loss of several classes, or "
                "wrap the estimator in sklearn.multiclass.OneVsRestClassifier."
            )
        return X, np.where(codes == 1, 1.0, -1.0)

    def _labelled(self, solution: Solution) -> Solution:
        labels = tuple(self.classes_.tolist())
        if not all(isinstance(label, int | float | str) for label in labels):
            return solution  # a saved answer has a place for numbers and words alone
        instance, name = solution.instance, str(self._names().y)
        known = instance.maps.get(name, ())
        if known == labels and [type(label) for label in known] == [type(label) for label in labels]:
            return solution
        maps = {**instance.maps, name: labels}
        return replace(solution, instance=replace(instance, maps=maps))

    def _coefficients(self, w: Any) -> Any:
        return np.atleast_2d(w.T)

    def _intercept(self, b: Any) -> Any:
        return np.broadcast_to(np.atleast_1d(b), (self.coef_.shape[0],))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        roles = self._roles()
        tags.classifier_tags.multi_class = roles is None or roles.y is None or roles.y.type.is_labels
        return tags


MOST_CODES = 10_000
"""The largest difference of whole-number labels that are counted instead of sorted."""


def _classes_of(y: Any) -> tuple[Any, Any]:
    """The different labels in order, and the place of each sample's among them."""
    if y.dtype.kind in "bi" and y.size:
        low = int(y.min())
        if int(y.max()) - low <= MOST_CODES:
            shifted = y.astype(np.int64) - low
            found = np.bincount(shifted) > 0
            return (np.flatnonzero(found) + low).astype(y.dtype), (np.cumsum(found) - 1)[shifted]
    return np.unique(y, return_inverse=True)


def _loss_of_each(loss: Term, z: Any) -> Any:
    """The loss of each class at scores: (n, 2) for signs, (n, k) for classes."""
    if loss.atom in LOSSES:
        atom, p, n = LOSSES[loss.atom], np.zeros(0), z.size
        return np.stack([atom.value_naive(z, np.full(n, sign), p) for sign in (-1.0, 1.0)], axis=1)
    rows = VECTOR_LOSSES[loss.atom]
    return np.stack([rows.value_naive(z, np.full(z.shape[0], code)) for code in range(z.shape[1])], axis=1)


class Embedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ProgramEstimator):
    """A transformer: an expression of the program without targets, a row for each sample; or the missing entries (nan) of a matrix that the program
    declares `entries[n, p]`."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Solve the program with the samples X, (n, p), and the targets y where the program has some."""
        names = self._names()
        roles = roles_of(self._program(sample_weight is not None).model, names)
        if names.y is not None and y is None:
            raise ValueError(f"requires y to be passed, but the target y is None: `{names.y}` of the program")
        X, y, sample_weight = computed(X, "X"), computed_column(y, "y"), computed_column(sample_weight, "sample_weight")
        rows = self._validated(X, roles.X)
        if not roles.X.type.is_entries:
            self._solve(self._bound(X if column_names(X) else rows, y, sample_weight, rows))
            return self
        sizes = {str(d): size for d, size in zip(roles.X.type.shape, rows.shape, strict=True) if isinstance(d, str)}
        problem = self._bound(observed(rows), y, sample_weight).bind(**sizes)
        # before the solve, which an interruption ends with a fit
        self._shape = rows.shape
        self._solve(problem)
        return self

    def transform(self, X: Any) -> Any:
        """The value of the expression at the rows of X, (n, k). Of a completion X is that of the fit: its missing entries are filled in."""
        check_is_fitted(self)
        decl = self._samples()
        rows = self._validated(self._in_order(X), decl, reset=False)
        if not decl.type.is_entries:
            return self._embedded(decl, rows)
        if rows.shape != self._shape:
            raise ValueError(
                f"X has {rows.shape[0]} rows, and the fit {self._shape[0]}: the program completes the rows that it was fitted to"
            )
        missing = np.nonzero(np.isnan(rows))
        filled = rows.copy()
        if missing[0].size:
            filled[missing] = self._predictor(**{decl.name: missing})
        return filled

    def _samples(self) -> DataDecl:
        """The declaration of the samples."""
        return roles_of(self._program(False).model, self._names()).X

    def _embedded(self, decl: DataDecl, rows: Any) -> Any:
        """The new features of checked rows."""
        z = np.asarray(self._predictor(**{decl.name: rows}))
        return z.reshape(z.shape[0], -1)

    def _validated(self, X: Any, decl: DataDecl, reset: bool = True) -> Any:
        sparse, finite = (False, "allow-nan") if decl.type.is_entries else ("csr", True)
        return validate_data(self, X, reset=reset, accept_sparse=sparse, dtype=NUMBERS, ensure_all_finite=finite)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        roles = self._roles()
        if roles is not None and roles.X.type.is_entries:
            tags.input_tags.sparse, tags.input_tags.allow_nan = False, True
        return tags

    @property
    def _n_features_out(self) -> int:
        """The number of columns of what `transform` gives."""
        if "_shape" in vars(self):
            return int(self.n_features_in_)
        # `transform` would ask for their names, and so for their number, where frames are its output
        return int(self._embedded(self._samples(), np.zeros((1, self.n_features_in_))).shape[1])


def observed(rows: Any) -> tuple[Any, Any, Any]:
    """Rows, columns and values of the entries that are not nan."""
    at = np.nonzero(~np.isnan(rows))
    if not at[0].size:
        raise ValueError("every entry of X is missing: a completion needs some that are observed")
    return at[0], at[1], rows[at]
