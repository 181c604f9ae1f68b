"""Ctrl-C at the end of a fit's solve, which ends loops and searches as at any other moment."""

from __future__ import annotations

import signal
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from .programs import LASSO, samples

sklearn = pytest.importorskip("sklearn", reason="scikit-learn (extra `sklearn`) is not installed")

from sklearn.model_selection import GridSearchCV  # noqa: E402

from fwdsl.sklearn import (  # noqa: E402
    FwRegressor,
    FwTransformer,
    MatrixCompletion,
    OneClassMachine,
    QuantileRegressionCV,
)

X, Y, _ = samples()

COMPLETION = """
data X: entries[n, p]
var Z: matrix[n, p]
minimize sum(squared(Z[X], X)) + norm_nuc(Z)
"""


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[int]]:
    """A function after which the solve of this number is met by Ctrl-C as its answer is made, and the solves until then."""

    def meet(number: int = 1) -> list[int]:
        made: list[int] = []

        def met(*given: Any) -> Any:
            made.append(1)
            if len(made) == number:
                signal.raise_signal(signal.SIGINT)
            return solution_of(*given)

        # the package's function has the name of its module
        ends = import_module("fwdsl.solve.solve")
        solution_of = ends.solution_of
        monkeypatch.setattr(ends, "solution_of", met)
        return made

    return meet


def test_a_fit_raises_and_is_kept(late: Callable[..., list[int]]) -> None:
    late()
    estimator = FwRegressor(LASSO, mu=0.2)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X, Y)
    assert estimator.solution_.status == "interrupted"
    assert estimator.predict(X) == pytest.approx(FwRegressor(LASSO, mu=0.2).fit(X, Y).predict(X))


def test_a_search_ends(late: Callable[..., list[int]]) -> None:
    made = late(3)
    with pytest.raises(KeyboardInterrupt):
        GridSearchCV(FwRegressor(LASSO), {"mu": [0.1, 0.2, 0.4]}, cv=3).fit(X, Y)
    assert len(made) == 3


def test_a_search_ends_where_a_fit_has_no_solution(late: Callable[..., list[int]]) -> None:
    """A search goes on after errors of fits."""
    text = LASSO.replace("minimize", "param r: real = 1\nminimize") + "subject to norm1(X @ w) <= 1, sum(w) == r\n"
    made = late(2)
    with pytest.raises(KeyboardInterrupt):
        GridSearchCV(FwRegressor(text, mu=0.1), {"r": [90.0, 91.0]}, cv=3).fit(X, Y)
    assert len(made) == 2


def test_a_path_ends(late: Callable[..., list[int]]) -> None:
    late(2)
    found = FwRegressor(LASSO).path(X, Y, [0.4, 0.2, 0.1])
    assert [s.status for s in found] == ["optimal", "interrupted"]


def test_folds_end(late: Callable[..., list[int]]) -> None:
    made = late(2)
    with pytest.raises(KeyboardInterrupt):
        QuantileRegressionCV(alphas=[0.4, 0.2, 0.1], cv=3).fit(X, Y)
    assert len(made) == 2


def test_an_interrupted_fit_finds_outliers(late: Callable[..., list[int]]) -> None:
    late()
    outliers = OneClassMachine()
    with pytest.raises(KeyboardInterrupt):
        outliers.fit(X)
    assert set(outliers.predict(X)) == {-1, 1}


@pytest.mark.parametrize("make", [lambda: FwTransformer(COMPLETION), MatrixCompletion])
def test_an_interrupted_fit_completes(make: Callable[[], Any], late: Callable[..., list[int]]) -> None:
    late()
    missing = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X)
    completion = make()
    with pytest.raises(KeyboardInterrupt):
        completion.fit(missing)
    assert np.isfinite(completion.transform(missing)).all()
