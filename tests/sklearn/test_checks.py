"""The checks of scikit-learn for estimators: a few classes always, all of them where slow tests run."""

from __future__ import annotations

from typing import Any

import pytest

from .programs import BINARY, CLASSES, RIDGE

pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn (extra `sklearn`) is not installed")

from sklearn.utils.estimator_checks import parametrize_with_checks

import fwdsl.sklearn as estimators
from fwdsl.sklearn import CROSS_VALIDATED, READY, FwClassifier, FwRegressor

#: A tolerance near rounding, so that two fits of one problem agree to the 1e-7 that the checks ask for.
EXACT = 1e-12

#: The same of classes whose scores differ by more where their losses are hardly curved.
EXACTER = 1e-14

#: Classes whose fits of equal problems of two sizes may be by two methods, or by `interior`, and differ by more than 1e-7 at that gap: they name
#: others.
BY = {
    "GroupSoftmaxRegression": ("pdhg", "apg"),
    "GroupSoftmaxRegressionCV": ("pdhg", "apg"),
    "SparseGroupLogisticRegression": "apg",
    "TraceNormRegressionCV": "apg",
}


def ready(name: str) -> Any:
    """An estimator of the table, with a ridge where the least squares of the checks have many answers."""
    cls = getattr(estimators, name)
    given: dict[str, Any] = {"tol": EXACT}
    if "alpha" in cls._get_param_names():
        given["alpha"] = 0.01
    if name in BY:
        given["method"] = BY[name]
    if name.startswith("GroupSoftmax"):
        given["tol"] = EXACTER
    if name.endswith("CV"):
        given |= {"alphas": (0.1, 0.01), "cv": 3}
    return cls(**given)


QUICK = [FwRegressor(RIDGE), FwClassifier(CLASSES), ready("MatrixCompletion"), ready("OneClassMachine")]
EVERY = [FwClassifier(BINARY), *(ready(name) for name in (*READY, *CROSS_VALIDATED))]


@parametrize_with_checks(QUICK)
def test_checks(estimator: Any, check: Any):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(EVERY)
def test_checks_of_every_class(estimator: Any, check: Any):
    check(estimator)
