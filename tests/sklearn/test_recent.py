"""Searches fit to the same samples again: what is known of them then, and what a fit is not to notice of that."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw

from .programs import BINARY, LASSO, RIDGE, samples

sklearn = pytest.importorskip("sklearn", reason="scikit-learn (extra `sklearn`) is not installed")

from sklearn.model_selection import GridSearchCV  # noqa: E402

from fwdsl.sklearn import FwClassifier, FwRegressor, FwTransformer, kinds, recent  # noqa: E402
from fwdsl.sklearn.recent import Recent  # noqa: E402

X, Y, Z = samples()
SIGNS = np.where(Z > 0.0, 1.0, -1.0)
MUS = (0.3, 0.1, 0.02, 0.1)


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Recent:
    """A memory of the test's own, in the place of the process's."""
    made = Recent()
    monkeypatch.setattr("fwdsl.sklearn.estimator.RECENT", made)
    return made


def alone(program: str, y: Any, mu: float) -> Any:
    """The coefficients of a fit that nothing came before."""
    weights = {} if program is LASSO else {"sample_weight": np.ones(len(X))}
    return fw.parse(program).bind(X=X.copy(), y=y.copy(), mu=mu, **weights).solve(threads=1)["w"]


@pytest.mark.parametrize(
    ("program", "y"), [(LASSO, Y), (RIDGE, Y), (BINARY, SIGNS)], ids=["lasso", "ridge", "logistic"]
)
def test_a_fit_has_the_bits_of_one_that_nothing_came_before(own: Recent, program: str, y: Any):
    kind = FwClassifier if program is BINARY else FwRegressor
    for mu in MUS:
        np.testing.assert_array_equal(np.ravel(kind(program, mu=mu).fit(X, y).coef_), alone(program, y, mu))
    assert len(own._kept) == 1


def test_samples_are_copied_when_they_come_again_and_not_before(own: Recent):
    FwRegressor(LASSO, mu=0.1).fit(X, Y)
    assert not own._kept
    FwRegressor(LASSO, mu=0.2).fit(X.copy(), Y)
    (kept,) = own._kept.values()
    assert kept.nbytes == X.nbytes + Y.nbytes
    third = FwRegressor(LASSO, mu=0.3).fit(X.copy(), Y.copy())
    assert third.solution_.instance.values["X"] is kept.numbers["X"]


def test_samples_that_were_checked_are_not_checked_again(own: Recent, monkeypatch: pytest.MonkeyPatch):
    checks: list[Any] = []
    told = kinds.validate_data
    monkeypatch.setattr(kinds, "validate_data", lambda *args, **named: checks.append(args) or told(*args, **named))
    labels, rows = np.where(Z > 0.0, 7, 3), X.copy()
    for mu in MUS:
        fitted = FwClassifier(BINARY, mu=mu).fit(rows.copy(), labels.copy())
        assert fitted.n_features_in_ == X.shape[1]
        np.testing.assert_array_equal(fitted.classes_, [3, 7])
        np.testing.assert_array_equal(fitted.coef_.ravel(), alone(BINARY, SIGNS, mu))
        # what an estimator has is its own
        fitted.classes_[:] = 0
    # the second time they are kept
    assert len(checks) == 2
    other = FwClassifier(BINARY, mu=0.1).fit(rows, np.where(Z > 0.0, 8, 3))
    np.testing.assert_array_equal(other.classes_, [3, 8])
    rows[-1, -1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        FwClassifier(BINARY, mu=0.1).fit(rows, labels)
    assert len(checks) == 4


def test_rows_without_names_leave_none_of_a_fit_before(own: Recent):
    pandas = pytest.importorskip("pandas")
    fitted = FwRegressor(LASSO, mu=0.1)
    for _ in range(3):
        fitted.fit(X, Y)
    assert own._checked
    fitted.fit(pandas.DataFrame(X, columns=list("abcdef")), Y)
    assert hasattr(fitted, "feature_names_in_")
    assert not hasattr(fitted.fit(X, Y), "feature_names_in_")


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_are_known_again_with_the_names_of_their_columns(own: Recent, kind: str):
    module = pytest.importorskip(kind)
    names = list("abcdef")
    make = {"pandas": lambda X: module.DataFrame(X, columns=names), "polars": lambda X: module.DataFrame(X, names)}[
        kind
    ]
    frame = make(X)
    for mu in MUS:
        fitted = FwRegressor(LASSO, mu=mu).fit(frame, Y)
        np.testing.assert_allclose(fitted.coef_, alone(LASSO, Y, mu), rtol=1e-9, atol=1e-12)
        assert list(fitted.feature_names_in_) == names
        assert fitted.solution_.instance.maps["X.columns"] == tuple(names)
    assert len(own._kept) == 1
    if kind == "pandas":
        frame.loc[0, "b"] = 7.0
    else:
        frame[0, "b"] = 7.0
    changed = X.copy()
    changed[0, 1] = 7.0
    expected = fw.parse(LASSO).bind(X=changed, y=Y, mu=0.1).solve(threads=1)["w"]
    np.testing.assert_allclose(FwRegressor(LASSO, mu=0.1).fit(frame, Y).coef_, expected, rtol=1e-9, atol=1e-12)
    # the same numbers under other names are another frame
    names.reverse()
    assert list(FwRegressor(LASSO, mu=0.1).fit(make(X), Y).feature_names_in_) == names


@pytest.mark.parametrize(
    "before",
    [lambda a: np.asfortranarray(a), lambda a: np.ascontiguousarray(a), lambda a: a],
    ids=["by columns", "by rows", "the same"],
)
def test_rows_that_lie_in_neither_order_are_not_kept(own: Recent, before: Any):
    """A copy would lie in one of them, and methods sum over each in an order of its own."""
    strided = np.random.default_rng(1).normal(size=(300, 24))[:, ::-1]
    t = strided @ np.arange(24.0) + np.sin(np.arange(300.0))
    for _ in range(3):
        FwRegressor(LASSO).fit(before(strided), t)
    expected = fw.parse(LASSO).bind(X=strided, y=t).solve(threads=1)
    for _ in range(3):
        solution = FwRegressor(LASSO).fit(strided, t).solution_
        np.testing.assert_array_equal(solution["w"], expected["w"])
        assert not any(solution.instance.values["X"] is kept.numbers["X"] for kept in own._kept.values())


def test_samples_that_changed_in_place_are_other_samples(own: Recent):
    rows, y = X.copy(), Y.copy()
    for _ in range(3):
        FwRegressor(LASSO, mu=0.1).fit(rows, y)
    rows[1, 1] += 5.0
    again = fw.parse(LASSO).bind(X=rows, y=y, mu=0.1).solve(threads=1)
    np.testing.assert_array_equal(FwRegressor(LASSO, mu=0.1).fit(rows, y).coef_, again["w"])
    y[2] -= 5.0
    again = fw.parse(LASSO).bind(X=rows, y=y, mu=0.1).solve(threads=1)
    np.testing.assert_array_equal(FwRegressor(LASSO, mu=0.1).fit(rows, y).coef_, again["w"])


def test_a_parameter_that_is_no_longer_given_has_its_default(own: Recent):
    for _ in range(3):
        FwRegressor(LASSO, mu=0.4).fit(X, Y)
    default = fw.parse(LASSO).bind(X=X, y=Y).solve(threads=1)["w"]
    for _ in range(3):
        np.testing.assert_array_equal(FwRegressor(LASSO).fit(X, Y).coef_, default)


def test_programs_and_options_are_told_apart(own: Recent):
    for _ in range(3):
        lasso, ridge = FwRegressor(LASSO, mu=0.1).fit(X, Y), FwRegressor(RIDGE, mu=0.1).fit(X, Y)
        loose = FwRegressor(LASSO, mu=0.1, tol=1e-2, method="pdhg").fit(X, Y)
        assert np.abs(lasso.coef_ - ridge.coef_).max() > 1e-3
        assert loose.solution_.method == "pdhg" and lasso.solution_.method != "pdhg"
    assert len(own._kept) == 2


def test_what_is_kept_is_bounded_and_given_up_where_it_comes_no_more(own: Recent, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recent, "LARGEST", 2 * (X.nbytes + Y.nbytes))
    monkeypatch.setattr(recent, "FORGOTTEN", 4)
    monkeypatch.setattr(recent, "SIGHTS", 6)
    folds = [X + i for i in range(3)]
    for _ in range(3):
        for fold in folds:
            FwRegressor(LASSO, mu=0.1).fit(fold, Y)
    # two have room, and do not drive each other out
    assert len(own._kept) == 2 and len(own._seen) == 3
    for _ in range(6):
        FwRegressor(LASSO, mu=0.1).fit(folds[2], Y)
    assert len(own._kept) == 1
    for i in range(9):
        FwRegressor(LASSO, mu=0.1).fit(X - i, Y)
    assert len(own._seen) == 6


def test_a_search_over_folds_has_the_scores_of_fits_one_by_one(own: Recent):
    search = GridSearchCV(FwRegressor(LASSO), {"mu": list(MUS)}, cv=4).fit(X, Y)
    assert len(own._kept) == 4
    splits = list(search.cv and sklearn.model_selection.KFold(4).split(X))
    for mu, mean in zip(MUS, search.cv_results_["mean_test_score"], strict=True):
        scores = []
        for train, test in splits:
            found = fw.parse(LASSO).bind(X=X[train], y=Y[train], mu=mu).solve(threads=1)
            left = Y[test] - X[test] @ found["w"] - found["b"]
            scores.append(1.0 - left @ left / np.square(Y[test] - Y[test].mean()).sum())
        assert mean == pytest.approx(np.mean(scores), abs=1e-12)


def test_data_that_are_refused_are_refused_each_time(own: Recent):
    program = LASSO.replace("y: vector[n]", "y: vector[n] in nonnegative")
    for _ in range(4):
        with pytest.raises(fw.DataError) as raised:
            FwRegressor(program, mu=0.1).fit(X, Y)
        assert raised.value.code == "FW4516"
    # data of that look that are fine are no others' heirs
    assert FwRegressor(program, mu=0.1).fit(X, np.abs(Y)).solution_.status == "optimal"


WEIGHED = LASSO.replace("param mu", "data v: vector[p] in nonnegative{source}\nparam mu").replace(
    "norm1(w)", "norm1(v * w)"
)
FACTORS = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 0.1])


def test_files_of_a_program_are_read_for_each_fit(own: Recent, tmp_path: Path):
    program, table = tmp_path / "weighed.fw", tmp_path / "v.csv"
    program.write_text(WEIGHED.format(source=' from csv("v.csv")'))
    for v in (FACTORS, FACTORS, FACTORS, FACTORS[::-1]):
        np.savetxt(table, v, header="v", comments="")
        expected = fw.load(program).bind(X=X, y=Y, mu=0.1).solve(threads=1)["w"]
        np.testing.assert_array_equal(FwRegressor(program, mu=0.1).fit(X, Y).coef_, expected)
    assert not own._kept


@pytest.mark.parametrize("word", ["data", "param"])
def test_arrays_that_a_program_is_bound_to_may_change_between_fits(own: Recent, word: str):
    text = WEIGHED.format(source="").replace("data v", f"{word} v")
    v = FACTORS.copy()
    program = fw.parse(text).bind(v=v, mu=0.1)
    for _ in range(3):
        FwRegressor(program).fit(X, Y)
    v[:] = FACTORS[::-1]
    expected = fw.parse(text).bind(X=X, y=Y, v=v, mu=0.1).solve(threads=1)["w"]
    np.testing.assert_array_equal(FwRegressor(program).fit(X, Y).coef_, expected)
    v[0] = -1.0
    with pytest.raises(fw.DataError):
        FwRegressor(program).fit(X, Y)


def test_a_number_for_targets_is_refused_as_data_are(own: Recent):
    program = LASSO.replace("let f = X @ w + b", "let f = X @ w + b\nlet z = X @ w")
    with pytest.raises(fw.DataError) as raised:
        FwTransformer(program, predict="z", y="y").fit(X, np.array(3.0))
    assert raised.value.code == "FW4505"
