"""The estimators of the table of recipes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fwdsl.check import compile_text

from .programs import samples

pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn (extra `sklearn`) is not installed")

from sklearn.linear_model import Lasso, LinearRegression, QuantileRegressor
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold

import fwdsl.sklearn as estimators
from fwdsl.sklearn import CROSS_VALIDATED, READY
from fwdsl.sklearn.recipes import OPEN_CONSTRAINTS, OPEN_PENALTIES

X, Y, Z = samples()
GROUPS = [0, 0, 0, 1, 1, 1]


def made(name: str, **parameters: Any) -> Any:
    return getattr(estimators, name)(**parameters)


@pytest.mark.parametrize("name", READY)
def test_programs_are_accepted(name: str):
    texts = [made(name).program_text(weighted) for weighted in (False, True)]
    if "penalty" in made(name).get_params():
        texts += [made(name, penalty=p).program_text() for p in (*OPEN_PENALTIES, None)]
        texts += [made(name, constraint=c).program_text() for c in OPEN_CONSTRAINTS]
    if "groups" in made(name).get_params():
        texts.append(made(name, groups=[[0, 1], [1, 2]], group_weights=[1.0, 2.0]).program_text())
    for text in texts:
        model, found = compile_text(text, name)
        assert model is not None and "{" not in text and not found, (text, found)


@pytest.mark.parametrize("name", [*READY, *CROSS_VALIDATED])
def test_classes_say_what_their_parameters_are(name: str):
    cls = getattr(estimators, name)
    assert all(f"\n{p}: " in cls.__doc__ for p in cls().get_params())
    assert pickle.loads(pickle.dumps(cls)) is cls  # noqa: S301


def test_the_page_has_every_class(root: Path):
    page = (root / "docs" / "scikit-learn.md").read_text(encoding="utf-8")
    assert [name for name in READY if f"`{name}`" not in page] == []


# --- what they are -------------------------------------------------------------------------------------------------------


def test_nonnegative_least_squares_is_scikit_learns():
    ours, theirs = made("NonnegativeRegression", tol=1e-12).fit(X, Y), LinearRegression(positive=True).fit(X, Y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-7)


def test_groups_of_one_make_a_lasso():
    ours, theirs = made("GroupLasso", alpha=0.1, tol=1e-10).fit(X, Y), Lasso(alpha=0.1, tol=1e-10).fit(X, Y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-6)


def test_quantiles_are_scikit_learns():
    ours = made("QuantileRegression", alpha=0.05, tau=0.8, tol=1e-10).fit(X, Y)
    theirs = QuantileRegressor(alpha=0.05, quantile=0.8).fit(X, Y)
    value = [_pinball(e.predict(X), 0.8) + 0.05 * np.abs(e.coef_).sum() for e in (ours, theirs)]
    assert value[0] == pytest.approx(value[1], rel=1e-7) and ours.objective_ == pytest.approx(value[0])


def _pinball(z: Any, tau: float) -> float:
    return float(np.mean(np.maximum(tau * (Y - z), (tau - 1.0) * (Y - z))))


def test_constraints_are_kept():
    total = made("ConstrainedRegression", A_eq=[[1.0] * 6], b_eq=[2.0], A_ub=-np.eye(6), b_ub=np.ones(6)).fit(X, Y)
    assert total.coef_.sum() == pytest.approx(2.0, abs=1e-6) and total.coef_.min() >= -1.0 - 1e-6
    box = made("BoxRegression", lower=[-np.inf] + [0.0] * 5, upper=0.4).fit(X, Y)
    assert box.coef_.max() <= 0.4 and box.coef_[1:].min() >= 0.0
    falling = made("MonotoneRegression", increasing=False).fit(X, Y)
    assert np.diff(falling.coef_).max() <= 1e-6
    shares = made("SimplexRegression", total=2.0).fit(X, Y)
    assert shares.coef_.sum() == pytest.approx(2.0) and shares.coef_.min() >= 0.0


def test_groups_go_together():
    w = made("GroupLasso", alpha=0.5, groups=GROUPS).fit(X, Y).coef_
    assert w[:3].all() and not w[3:].any()
    w = made("GroupLogisticRegression", alpha=0.05, groups=[[0, 1], [1, 2], [3, 4, 5]]).fit(X, Z > 0).coef_[0]
    assert np.abs(w[3:]).max() < 1e-4 < np.abs(w[:2]).min()
    heavy = made("GroupLasso", alpha=0.5, groups=GROUPS, group_weights=[10.0, 0.0]).fit(X, Y).coef_
    assert np.abs(heavy[:3]).max() < 1e-4 and heavy[3:].all()


def test_neighbours_are_fused():
    w = made("FusedLasso", alpha=10.0, l1_ratio=0.0).fit(X, Y).coef_
    assert np.abs(np.diff(w)).max() < 1e-4


def test_a_group_without_features_may_have_a_weight():
    alone = made("GroupLasso", alpha=0.1, groups=[0, 0, 0, 2, 2, 2], group_weights=[1.0, 5.0, 2.0]).fit(X, Y)
    beside = made("GroupLasso", alpha=0.1, groups=GROUPS, group_weights=[1.0, 2.0]).fit(X, Y)
    assert alone.coef_ == pytest.approx(beside.coef_, abs=1e-5)


def test_a_parameter_that_is_not_there_is_told_with_the_class():
    with pytest.raises(TypeError, match="GroupLasso has no parameter 'alfa': did you mean 'alpha'"):
        made("GroupLasso", alfa=1.0)
    with pytest.raises(TypeError, match="QuantileRegression has no parameter 'quantile': they are alpha, tau, penalty"):
        made("QuantileRegression", quantile=0.8)


@pytest.mark.parametrize(
    ("name", "parameters", "words"),
    [
        ("SparseGroupLasso", {"l1_ratio": 2.0}, "l1_ratio=2.0 is not from 0 to 1"),
        ("QuantileRegression", {"tau": 1.0}, "tau=1.0 is not between 0 and 1"),
        ("ConstrainedRegression", {"A_ub": np.eye(6)}, "A_ub and b_ub are given together: b_ub is None"),
        (
            "BoxRegression",
            {"lower": [0.0, 0.0]},
            r"lower has the shape \(2,\): it is a number, or has one for each of the 6",
        ),
        ("BoxRegression", {"upper": np.ones((1, 6))}, r"upper has the shape \(1, 6\)"),
        ("GroupLassoCV", {"criterion": "auc", "alphas": 0.1}, "criterion='auc' is none of"),
        ("GroupLasso", {"groups": GROUPS, "group_weights": [1.0]}, r"has the shape \(1,\): .* of the 2 groups"),
        ("GroupLasso", {"groups": GROUPS, "group_weights": [1.0, 2.0, 3.0]}, r"shape \(3,\): .* of the 2 groups"),
        ("GroupLasso", {"groups": list("uuuvvv"), "group_weights": [1.0, 2.0, 3.0]}, "of the 2 groups"),
        ("GroupLasso", {"groups": [[0, 1, 2], [3, 4, 5]], "group_weights": [1.0]}, "of the 2 groups"),
        ("GroupLassoCV", {"group_weights": np.ones(7)}, "of the 6 groups"),
        ("BoxRegression", {"lower": None}, "lower is None: write -numpy.inf"),
        ("GroupLasso", {"groups": {"a": [0]}}, r"groups is a mapping, .*groups=list\(groups.values\(\)\)"),
        ("GroupLasso", {"groups": 3}, "groups=3 is no list"),
        ("GroupLasso", {"groups": "aab"}, "groups='aab' is no list"),
        ("GroupLasso", {"groups": [None] * 6}, "has no order"),
        ("GroupLassoCV", {"cv": GroupKFold(3)}, r"cv=list\(GroupKFold\(...\).split\(X, y, groups\)\)"),
        ("GroupLassoCV", {"cv": [1]}, r"cv=\[1\] is no list of splits"),
        ("GroupLassoCV", {"cv": []}, r"cv=\[\] has no splits"),
        ("BoxRegression", {"lower": np.nan}, "lower is nan: write -numpy.inf"),
        ("BoxRegression", {"upper": [1.0, np.nan, 1.0, 1.0, 1.0, 1.0]}, "upper has at entry 1 nan: write numpy.inf"),
        ("BoxRegression", {"lower": "a"}, "lower has what is no number: 'a'"),
    ],
)
def test_parameters_that_cannot_be(name: str, parameters: dict[str, Any], words: str):
    with pytest.raises(ValueError, match=words):
        made(name, **parameters).fit(X, Y)


def test_the_features_of_groups_may_be_named():
    pd = pytest.importorskip("pandas")
    names = list("abcdef")
    frame = pd.DataFrame(X, columns=names)
    at = [[0, 1, 2], [2, 3, 4, 5]]
    named = made("GroupLasso", alpha=0.1, groups=[[names[j] for j in group] for group in at])
    expected = made("GroupLasso", alpha=0.1, groups=at).fit(X, Y).coef_
    assert named.fit(frame, Y).coef_ == pytest.approx(expected)
    # the columns of another frame stand in another order
    assert named.fit(frame[names[::-1]], Y).coef_[::-1] == pytest.approx(expected)
    assert made("GroupLassoCV", groups=named.groups, alphas=[0.1]).fit(frame, Y).coef_ == pytest.approx(expected)
    with pytest.raises(ValueError, match="groups has the feature 'f', which is no column of X"):
        named.fit(frame.rename(columns={"f": "g"}), Y)
    with pytest.raises(ValueError, match="groups has the feature 'a', which is a name, and X has none"):
        named.fit(X, Y)


def test_groups_may_have_names():
    by_name = made("GroupLasso", groups=list("vvvuuu")).fit(X, Y).coef_
    assert np.array_equal(by_name, made("GroupLasso", groups=[1, 1, 1, 0, 0, 0]).fit(X, Y).coef_)


@pytest.mark.parametrize("parameter", ["penalty", "constraint"])
def test_names_that_are_none(parameter: str):
    with pytest.raises(ValueError, match=f"{parameter}='l0' is none of '"):
        made("HuberRegression", **{parameter: "l0"}).fit(X, Y)


def test_a_search_over_any_parameter():
    search = GridSearchCV(made("HuberRegression"), {"alpha": [0.01, 1.0], "penalty": ["l1", "l2"]}, cv=3).fit(X, Y)
    assert search.best_params_["alpha"] == 0.01


# --- completion ------------------------------------------------------------------------------------------------------------


def low_rank() -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    whole = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 8)) + 1.0
    return whole, np.where(rng.random(whole.shape) < 0.3, np.nan, whole)


def test_missing_entries_are_filled_in():
    whole, seen = low_rank()
    fitted = made("MatrixCompletion", alpha=0.1, tol=1e-10).fit(seen)
    filled = fitted.transform(seen)
    missing = np.isnan(seen)
    assert np.array_equal(filled[~missing], seen[~missing])
    assert np.abs(filled - whole)[missing].mean() < 0.2 < np.abs(np.nanmean(seen, axis=0) - whole)[missing].mean()
    # a row's place in the row space is that of the fit
    assert filled[missing] == pytest.approx(fitted.completion_[missing], abs=1e-3)
    assert fitted.transform(whole[:2] * [[1.0] * 7 + [np.nan]]).shape == (2, 8)


def test_a_whole_matrix_has_its_singular_values_thresholded():
    whole, _ = low_rank()
    fitted = made("MatrixCompletion", alpha=2.0, center=False, tol=1e-10).fit(whole)
    U, s, V = np.linalg.svd(whole, full_matrices=False)
    assert fitted.completion_ == pytest.approx((U * np.maximum(s - 2.0, 0.0)) @ V, abs=1e-4)


# --- paths and folds ---------------------------------------------------------------------------------------------------


def test_a_path_goes_along_alpha():
    path = made("GroupLasso", groups=GROUPS).path(X, Y, [1.0, 0.1])
    assert path.parameter == "alpha" and path[1]["w"] == pytest.approx(
        made("GroupLasso", groups=GROUPS, alpha=0.1).fit(X, Y).coef_, abs=1e-4
    )
    assert made("MatrixCompletion").path(low_rank()[1], [1.0, 0.5]).values == (1.0, 0.5)
    assert made("OneClassMachine").path(X, [0.5, 0.2]).parameter == "nu"


def test_folds_choose_what_a_search_over_them_does():
    alphas, cv = (1.0, 0.1, 0.01), KFold(4, shuffle=True, random_state=0)
    ours = made("GroupLassoCV", alphas=alphas, cv=cv, groups=GROUPS).fit(X, Y)
    search = GridSearchCV(
        made("GroupLasso", groups=GROUPS), {"alpha": alphas}, cv=cv, scoring="neg_mean_squared_error"
    ).fit(X, Y)
    assert ours.alpha_ == search.best_params_["alpha"] == 0.01
    scores = -search.cv_results_["mean_test_score"]
    assert ours.cross_validation_.mean == pytest.approx(scores, rel=1e-3)
    assert ours.coef_ == pytest.approx(search.best_estimator_.coef_, abs=1e-4)


def test_splits_by_groups_are_given_as_a_list():
    splits = list(GroupKFold(3).split(X, Y, np.arange(80) % 6))
    found = made("GroupLassoCV", alphas=(0.1, 0.01), cv=splits, groups=GROUPS).fit(X, Y).cross_validation_
    assert found.folds == 3
    held = made("GroupLasso", alpha=0.1, groups=GROUPS).fit(X[splits[0][0]], Y[splits[0][0]]).predict(X[splits[0][1]])
    assert found.by_fold[0, 0] == pytest.approx(np.mean((held - Y[splits[0][1]]) ** 2), rel=1e-3)


def test_a_splitter_splits_the_observed_entries():
    holes = low_rank()[1]
    count = int(np.sum(~np.isnan(holes)))
    splits = list(KFold(3, shuffle=True, random_state=0).split(np.zeros((count, 1))))
    scores = [
        made("MatrixCompletionCV", alphas=(1.0, 0.1), cv=cv).fit(holes).cross_validation_.by_fold
        for cv in (KFold(3, shuffle=True, random_state=0), splits, iter(splits))
    ]
    assert scores[0].shape == (2, 3)
    assert all(np.array_equal(scores[0], other) for other in scores[1:])
    with pytest.raises(ValueError, match="as an integer, a cross-validation object"):
        made("MatrixCompletionCV", cv="rows").fit(holes)


def test_a_pickle_of_a_choice_has_none_of_the_data():
    many, t = np.repeat(X, 500, axis=0), np.repeat(Y, 500)
    fitted = made("GroupLassoCV", alphas=(0.1, 0.01)).fit(many, t)
    assert fitted.cross_validation_.solution is fitted.solution_
    kept = pickle.dumps(fitted)
    assert len(kept) < 500_000 and many[:100].tobytes() not in kept  # the data have 1.9 MB, the dual point 0.3
    again = pickle.loads(kept)  # noqa: S301
    assert again.cross_validation_.solution is again.solution_ and again.solution_.instance is None
    assert repr(again.cross_validation_) == repr(fitted.cross_validation_)
    assert np.array_equal(again.predict(X), fitted.predict(X))


def test_a_choice_by_folds_keeps_the_labels():
    fitted = made("GroupLogisticRegressionCV", alphas=(0.1, 0.01), cv=3).fit(X, np.where(Z > 0, "yes", "no"))
    assert fitted.cross_validation_.solution is fitted.solution_
    assert fitted.solution_.predictor().classes == ("no", "yes")


def test_values_are_found_where_none_are_given():
    fitted = made("GroupLogisticRegressionCV", groups=GROUPS, cv=3).fit(X, Z > 0)
    assert fitted.alphas_.size == 20 and fitted.alpha_ in fitted.alphas_ and fitted.score(X, Z > 0) > 0.9
    strongest = made("GroupLogisticRegression", groups=GROUPS, alpha=2 * fitted.alphas_[0]).fit(X, Z > 0)
    assert not strongest.coef_.any()
    assert fitted.cross_validation_.folds == 3 and "as given" in repr(fitted.cross_validation_)


# --- SLOPE ---------------------------------------------------------------------------------------------------------------


def test_equal_lambdas_make_a_lasso_and_others_slope():
    equal = made("SlopeRegression", alpha=0.1, lambdas=np.ones(6), tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(equal.coef_, Lasso(alpha=0.1, tol=1e-12).fit(X, Y).coef_, atol=1e-5)
    lambdas = np.array([3.0, 2.0, 2.0, 1.0, 0.5, 0.0])
    fit = made("SlopeRegression", alpha=0.2, lambdas=lambdas, tol=1e-10).fit(X, Y)
    cp = pytest.importorskip("cvxpy")
    w, b = cp.Variable(6), cp.Variable()
    falls = -np.diff(lambdas, append=0.0)
    norm = sum(fall * cp.sum_largest(cp.abs(w), k) for k, fall in enumerate(falls, start=1) if fall)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w + b - Y) / (2 * len(Y)) + 0.2 * norm))
    problem.solve(solver="CLARABEL")
    np.testing.assert_allclose(fit.objective_, problem.value, rtol=1e-6)
    np.testing.assert_allclose(fit.coef_, w.value, atol=1e-4)


def test_the_sequence_of_benjamini_and_hochberg():
    from scipy.stats import norm

    model = made("SlopeRegression", alpha=0.1, q=0.2).fit(X, Y)
    same = made("SlopeRegression", alpha=0.1, lambdas=norm.ppf(1.0 - 0.2 * np.arange(1, 7) / 12.0)).fit(X, Y)
    np.testing.assert_allclose(model.objective_, same.objective_, rtol=1e-6)
    assert made("SlopeLogisticRegression").fit(X, Z > 0).score(X, Z > 0) > 0.7


@pytest.mark.parametrize("name", ["SlopeRegression", "SlopeLogisticRegression"])
def test_lambdas_that_are_none(name: str):
    y = Y if name == "SlopeRegression" else Z > 0
    for parameters, words in (
        ({"lambdas": np.arange(6.0)}, "rise"),
        ({"lambdas": np.ones(3)}, "each of the 6 features"),
        ({"lambdas": np.zeros(6)}, "positive"),
        ({"lambdas": -np.ones(6)}, "at least 0"),
        ({"q": 1.0}, "between 0 and 1"),
    ):
        with pytest.raises(ValueError, match=words):
            made(name, **parameters).fit(X, y)


def test_the_first_value_of_a_path_of_slope_leaves_nothing():
    chosen = made("SlopeRegressionCV", cv=3).fit(X, Y)
    assert chosen.alphas_.size == 20 and chosen.alpha_ in chosen.alphas_
    first = made("SlopeRegression", alpha=1.0001 * chosen.alphas_[0]).fit(X, Y)
    assert not first.coef_.any()
    assert made("SlopeRegression", alpha=0.9 * chosen.alphas_[0]).fit(X, Y).coef_.any()
    path = made("SlopeRegression").path(X, Y, {"alpha": [1.0, 0.1, 0.01]})
    assert len(path) == 3
