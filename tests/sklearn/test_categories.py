"""Estimators of programs that make indicators of columns."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import fwdsl as fw

pytest.importorskip("sklearn", reason="scikit-learn (extra `sklearn`) is not installed")
pandas = pytest.importorskip("pandas")

from sklearn.compose import ColumnTransformer  # noqa: E402
from sklearn.linear_model import Ridge  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder  # noqa: E402

from fwdsl.sklearn import FwClassifier, FwRegressor  # noqa: E402

RIDGE = """
data X: matrix[n, p], y: vector[n] from csv("none.csv", columns=["area", onehot("zone", unknown="ignore")])
param mu: nonnegative = 1
var w: vector[p], b: real
minimize sum(squared(X @ w + b, y)) + mu * sum_squares(w)
"""

LOGISTIC = """
data X: matrix[n, p], y: signs[n] from csv("none.csv", columns=["area", onehot("zone")])
var w: vector[p], b: real
minimize mean(logistic(X @ w + b, y)) + 0.1 * sum_squares(w)
"""


def flats(rows: int = 60) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    frame = pandas.DataFrame({"zone": rng.choice(["red", "blue", "green"], rows), "area": rng.normal(size=rows)})
    return frame, frame["area"].to_numpy() + 2.0 * (frame["zone"] == "red").to_numpy() + 0.1 * rng.normal(size=rows)


def test_a_ridge_is_scikit_learns_behind_its_encoder() -> None:
    X, y = flats()
    ours = FwRegressor(RIDGE, mu=2.0, tol=1e-10).fit(X, y)
    encoder = ColumnTransformer([("zone", OneHotEncoder(), ["zone"])], remainder="passthrough")
    theirs = make_pipeline(encoder, Ridge(alpha=2.0)).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-6)
    assert ours.n_features_in_ == 2 and ours.coef_.shape == (4,)
    assert ours.feature_names_in_.tolist() == ["zone", "area"]
    new = pandas.DataFrame({"area": [0.0], "zone": ["violet"]})
    assert ours.predict(new) == pytest.approx(ours.intercept_)
    again = pickle.loads(pickle.dumps(ours))  # noqa: S301
    np.testing.assert_array_equal(again.predict(X), ours.predict(X))


def test_arrays_have_the_columns_in_the_order_of_the_program() -> None:
    X, y = flats()
    cells = X[["area", "zone"]].to_numpy()
    expected = FwRegressor(RIDGE).fit(X, y).predict(X)
    np.testing.assert_array_equal(FwRegressor(RIDGE).fit(cells, y).predict(cells), expected)


def test_a_search_goes_over_its_folds() -> None:
    X, y = flats()
    found = GridSearchCV(FwRegressor(RIDGE), {"mu": [0.01, 1000.0]}, cv=3, error_score="raise").fit(X, y)
    assert found.best_params_ == {"mu": 0.01}


def test_a_classifier_tells_a_level_that_it_does_not_know() -> None:
    X, y = flats()
    found = FwClassifier(LOGISTIC).fit(X, np.where(y > 1.0, "high", "low"))
    assert found.predict_proba(X).shape == (60, 2) and found.score(X, np.where(y > 1.0, "high", "low")) > 0.7
    X.loc[1, "zone"] = "violet"
    with pytest.raises(fw.DataError, match="`zone` = `violet`, a level that the fit does not know"):
        found.predict(X)
    X.loc[1, "zone"] = None
    with pytest.raises(fw.DataError, match="has no value in the column `zone`"):
        found.fit(X, y > 1.0)
