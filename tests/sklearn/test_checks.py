"""The checks of scikit-learn for estimators: a few classes always, all of them where slow tests run."""

from __future__ import annotations

from inspect import signature
from typing import Any

import pytest

from .programs import BINARY, CLASSES, RIDGE

pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn (extra `sklearn`) is not installed")

from sklearn.utils.estimator_checks import parametrize_with_checks

import fwdsl.sklearn as estimators
from fwdsl.sklearn import CROSS_VALIDATED, READY, FwClassifier, FwRegressor

#: A tolerance near rounding, so that two fits of one problem agree to the 1e-7 that the checks ask for.
EXACT = 1e-12

#: Classes whose methods take long to such a tolerance.
ITERATIVE = ("SparseGroupLasso", "SparseGroupLogisticRegression", "GroupSoftmaxRegression", "TraceNormRegression")

WEIGHTS = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def ready(name: str) -> Any:
    """An estimator of the table, with a ridge where the least squares of the checks have many answers."""
    cls = getattr(estimators, name)
    given: dict[str, Any] = {} if name.removesuffix("CV") in ITERATIVE else {"tol": EXACT}
    if "alpha" in cls._get_param_names():
        given["alpha"] = 0.01
    if name.endswith("CV"):
        given |= {"alphas": (0.1, 0.01), "cv": 3}
    return cls(**given)


def expected_failures(estimator: Any) -> dict[str, str]:
    """The checks that may fail, and why."""
    if type(estimator).__name__.removesuffix("CV") in ITERATIVE:
        return dict.fromkeys(WEIGHTS, "two fits agree to the tolerance of the certificate, not to 1e-7")
    return {}


QUICK = [FwRegressor(RIDGE), FwClassifier(CLASSES), ready("MatrixCompletion"), ready("OneClassMachine")]
EVERY = [FwClassifier(BINARY), *(ready(name) for name in (*READY, *CROSS_VALIDATED))]


@parametrize_with_checks(QUICK, expected_failed_checks=expected_failures)
def test_checks(estimator: Any, check: Any):
    check(estimator)


#: How far two fits are apart depends on rounding, where scikit-learn lets a check that may fail pass.
LENIENT = {"xfail_strict": False} if "xfail_strict" in signature(parametrize_with_checks).parameters else {}


@pytest.mark.slow
@parametrize_with_checks(EVERY, expected_failed_checks=expected_failures, **LENIENT)
def test_checks_of_every_class(estimator: Any, check: Any):
    check(estimator)
