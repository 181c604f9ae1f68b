"""Programs of a user's own as estimators."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import fwdsl as fw

from .programs import BINARY, CLASSES, GROUPED, HINGE, LASSO, RIDGE, samples

sklearn = pytest.importorskip("sklearn", reason="scikit-learn (extra `sklearn`) is not installed")

from sklearn.base import clone  # noqa: E402
from sklearn.ensemble import BaggingRegressor  # noqa: E402
from sklearn.exceptions import ConvergenceWarning, NotFittedError  # noqa: E402
from sklearn.linear_model import Lasso, LogisticRegression, PoissonRegressor  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.validation import has_fit_parameter  # noqa: E402

from fwdsl.sklearn import FwClassifier, FwRegressor, FwTransformer  # noqa: E402

BALL = """
data X: matrix[n, p], y: vector[n]
var w: vector[p] in l1_ball(9)
minimize mean(squared(X @ w, y))
solve max_iter = 1, method = frank_wolfe
"""

X, Y, Z = samples()
WORDS = np.where(Z > 0.0, "yes", "no")
LETTERS = np.array(["a", "b", "c"])[np.digitize(Z, [-1.0, 1.0])]


# --- what is fitted ----------------------------------------------------------------------------------------------------


def test_a_lasso_is_scikit_learns():
    ours, theirs = FwRegressor(LASSO, mu=0.2, tol=1e-10).fit(X, Y), Lasso(alpha=0.2, tol=1e-10).fit(X, Y)
    assert ours.coef_ == pytest.approx(theirs.coef_, abs=1e-6)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-6)
    assert ours.predict(X) == pytest.approx(theirs.predict(X), abs=1e-6)
    assert 0.0 <= ours.dual_gap_ <= 1e-10 * ours.objective_
    assert ours.n_iter_ == ours.solution_.iterations and ours.solution_.status == "optimal"


def test_logistic_probabilities_are_scikit_learns():
    ours = FwClassifier(BINARY, mu=0.01, tol=1e-12).fit(X, WORDS)
    theirs = LogisticRegression(C=1.0 / (2.0 * 0.01 * len(X)), tol=1e-10, max_iter=1000).fit(X, WORDS)
    assert ours.predict_proba(X) == pytest.approx(theirs.predict_proba(X), abs=1e-5)
    assert ours.decision_function(X) == pytest.approx(theirs.decision_function(X), abs=1e-4)
    assert ours.coef_.shape == (1, 6) and ours.intercept_.shape == (1,)
    assert list(ours.classes_) == ["no", "yes"]
    assert ours.score(X, WORDS) == theirs.score(X, WORDS)


def test_several_classes_have_a_row_of_scores_each():
    fitted = FwClassifier(CLASSES, mu=1e-3).fit(X, LETTERS)
    assert fitted.decision_function(X).shape == (80, 3) and fitted.coef_.shape == (3, 6)
    assert fitted.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(80))
    assert fitted.score(X, LETTERS) > 0.9 and set(fitted.predict(X)) <= set(LETTERS)


def test_two_classes_of_labels_have_one_score():
    fitted = FwClassifier(CLASSES).fit(X, WORDS)
    assert fitted.decision_function(X).shape == (80,) and fitted.predict_proba(X).shape == (80, 2)
    assert ((fitted.decision_function(X) > 0.0) == (fitted.predict(X) == "yes")).all()


def test_there_are_probabilities_where_the_loss_is_a_likelihood():
    assert hasattr(FwClassifier(BINARY), "predict_proba") and not hasattr(FwClassifier(HINGE), "predict_proba")


def test_counts_are_predicted_on_their_own_scale():
    rng = np.random.default_rng(1)
    counts = rng.poisson(np.exp(0.5 * X[:, 0]))
    text = LASSO.replace("1/2 * mean(squared(f, y))", "mean(poisson(f, y))").replace("norm1(w)", "sum_squares(w)")
    ours = FwRegressor(text, mu=0.05, tol=1e-10).fit(X, counts)
    theirs = PoissonRegressor(alpha=0.1, tol=1e-10).fit(X, counts)
    assert ours.predict(X) == pytest.approx(theirs.predict(X), abs=1e-4)
    scores = FwRegressor(text, predict="f", mu=0.05, tol=1e-10).fit(X, counts).predict(X)
    assert np.exp(scores) == pytest.approx(ours.predict(X))


def test_a_matrix_of_targets():
    text = LASSO.replace("y: vector[n]", "Y: matrix[n, k]").replace("w: vector[p], b: real", "w: matrix[p, k]")
    text = text.replace(" + b", "").replace("(f, y)", "(f, Y)")
    both = np.column_stack([Y, -Y])
    fitted = FwRegressor(text, y="Y", mu=0.01).fit(X, both)
    assert fitted.coef_.shape == (2, 6) and fitted.predict(X).shape == (80, 2)
    assert FwRegressor(text, y="Y").fit(X, Y).predict(X).shape == (80,)


def test_a_transformer_gives_the_rows_of_a_let():
    text = LASSO.replace("w: vector[p], b: real", "w: vector[p], U: matrix[p, 2]").replace("X @ w + b", "X @ w")
    text = text.replace("minimize", "let T = X @ U\nminimize sum_squares(U - 1) +")
    fitted = FwTransformer(text, transform="T", y="y").fit(X, Y)
    assert fitted.transform(X) == pytest.approx(np.repeat(X.sum(axis=1, keepdims=True), 2, axis=1), abs=1e-4)
    assert list(fitted.get_feature_names_out()) == ["fwtransformer0", "fwtransformer1"]


def test_a_transformer_gives_frames():
    pd = pytest.importorskip("pandas")
    text = "data X: matrix[n, p]\nvar V: matrix[p, 2]\nlet Z = X @ V\nminimize sum_squares(Z) + sum_squares(V - 1)"
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])], index=[f"r{i}" for i in range(len(X))])
    fitted = FwTransformer(text, transform="Z").set_output(transform="pandas").fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = fitted.transform(frame)
    assert list(made.columns) == ["fwtransformer0", "fwtransformer1"] and list(made.index) == list(frame.index)
    assert made.to_numpy() == pytest.approx(FwTransformer(text, transform="Z").fit(X).transform(X))


def test_a_transformer_completes_what_it_was_fitted_to():
    text = """
    data M: entries[n, p]
    var Z: matrix[n, p], typical: real
    minimize sum(huber(typical + Z[M], M)) + 0.1 * norm_nuc(Z)
    """
    whole = np.outer(np.arange(1.0, 9.0), [1.0, 2.0, 3.0])
    holes = np.where((np.arange(24).reshape(8, 3) % 5) == 0, np.nan, whole)
    fitted = FwTransformer(text, X="M").fit(holes)
    filled = fitted.transform(holes)
    seen = ~np.isnan(holes)
    assert np.array_equal(filled[seen], whole[seen])
    expected = fitted.solution_["typical"] + np.asarray(fitted.solution_["Z"])
    assert filled[~seen] == pytest.approx(expected[~seen])
    assert np.array_equal(clone(fitted).fit_transform(holes), filled)
    with pytest.raises(ValueError, match="X has 2 rows, and the fit 8"):
        fitted.transform(holes[:2])
    with pytest.raises(ValueError, match="every entry of X is missing"):
        clone(fitted).fit(np.full((2, 2), np.nan))


@pytest.mark.parametrize("form", [scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array])
def test_sparse_samples(form: Any):
    dense = FwRegressor(RIDGE).fit(X, Y)
    assert FwRegressor(RIDGE).fit(form(X), Y).predict(form(X)) == pytest.approx(dense.predict(X), abs=1e-3)


# --- parameters ----------------------------------------------------------------------------------------------------------


def test_parameters_of_the_program_are_parameters():
    estimator = FwRegressor(LASSO)
    assert estimator.get_params()["mu"] == 0.1 and estimator.mu == 0.1
    assert estimator.set_params(mu=0.5).get_params()["mu"] == 0.5
    estimator.mu = 0.7
    assert clone(estimator).mu == 0.7
    assert estimator.predict != "f" and FwRegressor(LASSO, predict="f").get_params()["predict"] == "f"
    with pytest.raises(ValueError, match=r"Invalid parameter 'nu'.*'mu'"):
        estimator.set_params(nu=1.0)
    with pytest.raises(ValueError, match=r"'mu'.* is not accepted:\nerror\[FW2006\](.|\n)*norm_one"):
        FwRegressor(LASSO.replace("norm1", "norm_one")).set_params(mu=1.0)


@pytest.mark.parametrize("make", [fw.parse, str], ids=["bound", "given"])
def test_what_a_problem_has_bound_is_a_parameter(make: Any):
    estimator = FwRegressor(make(LASSO).bind(mu=0.3)) if make is fw.parse else FwRegressor(LASSO, mu=0.3)
    fitted = estimator.fit(X, Y)
    assert estimator.get_params()["mu"] == estimator.mu == clone(estimator).mu == 0.3
    assert np.array_equal(clone(estimator).fit(X, Y).coef_, fitted.coef_)
    search = GridSearchCV(make_pipeline(StandardScaler(), estimator), {"fwregressor__tol": [1e-8]}).fit(X, Y)
    assert search.best_estimator_[-1].solution_.instance.values["mu"] == 0.3
    assert estimator.set_params(mu=0.5).get_params()["mu"] == clone(estimator).mu == 0.5
    assert clone(estimator).fit(X, Y).solution_.instance.values["mu"] == 0.5
    assert pickle.loads(pickle.dumps(estimator)).mu == 0.5  # noqa: S301


def test_arrays_and_sizes_that_a_problem_has_bound_stay_with_a_clone():
    text = LASSO.replace("0.1", "0.1, c: vector[p]").replace("norm1(w)", "norm1(c * w)")
    c = np.arange(1.0, 7.0)
    estimator = FwRegressor(fw.parse(text).bind(c=c, p=6))
    assert clone(estimator).c is c and clone(estimator).p == 6
    assert np.array_equal(clone(estimator).fit(X, Y).coef_, FwRegressor(text, c=c).fit(X, Y).coef_)
    ones = clone(estimator.set_params(c=np.ones(6))).fit(X, Y)
    assert ones.coef_ == pytest.approx(FwRegressor(LASSO).fit(X, Y).coef_, abs=1e-4)
    grouped = FwClassifier(fw.parse(GROUPED).bind(groups=[0, 0, 0, 1, 1, 1]))
    assert grouped.get_params()["groups"] == clone(grouped).groups == [0, 0, 0, 1, 1, 1]
    # samples are those of `fit`
    whole = FwRegressor(fw.parse(LASSO).bind(X=X[:9], y=Y[:9]))
    assert whole.get_params()["X"] == "X"
    assert np.array_equal(clone(whole).fit(X, Y).coef_, FwRegressor(LASSO).fit(X, Y).coef_)


def test_a_program_and_its_parameters_are_set_in_one_call():
    other = LASSO.replace("mu", "lam")
    estimator = FwRegressor(LASSO).set_params(lam=0.2, program=other)
    assert estimator.lam == 0.2 and estimator.fit(X, Y).solution_.instance.values["lam"] == 0.2
    kept = FwRegressor(LASSO)
    with pytest.raises(ValueError, match="Invalid parameter 'mu'"):
        kept.set_params(program=other, mu=0.2)
    assert kept.program == LASSO
    spaces = [{"program": [LASSO], "mu": [1.0]}, {"program": [other], "lam": [0.01]}]
    assert GridSearchCV(FwRegressor(LASSO), spaces).fit(X, Y).best_estimator_.lam == 0.01


def test_a_program_is_a_text_a_file_or_a_problem(tmp_path: Path):
    (tmp_path / "lasso.fw").write_text(LASSO)
    made = [FwRegressor(program).fit(X, Y) for program in (LASSO, tmp_path / "lasso.fw", fw.parse(LASSO))]
    assert all(np.array_equal(made[0].coef_, other.coef_) for other in made)
    assert clone(made[2]).program is made[2].program
    with pytest.raises(ValueError, match="FW0220"):
        FwRegressor(3).fit(X, Y)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("random_state", "write `seed=`"),
        ("n_jobs", "write `threads=`"),
        ("class_weight", "give `fit` a `sample_weight`"),
        ("thread", "did you mean `threads`?"),
        ("depth", "leave `depth` out"),
    ],
)
def test_what_neither_the_estimator_nor_its_program_has_is_told_as_the_estimators(name: str, hint: str):
    with pytest.raises(ValueError, match="FW0220") as error:
        FwRegressor(LASSO, **{name: 1}).fit(X, Y)
    assert f"FwRegressor was given `{name}`" in str(error.value) and hint in " ".join(str(error.value).split())
    assert "bind(" not in str(error.value)


def test_a_default_may_depend_on_the_data():
    text = LASSO.replace("= 0.1", "= 10/n")
    assert FwRegressor(text).get_params()["mu"] is None
    assert FwRegressor(text).fit(X, Y).coef_ == pytest.approx(FwRegressor(LASSO, mu=10 / 80).fit(X, Y).coef_, abs=1e-5)


def test_grid_search_over_a_group_lasso():
    search = GridSearchCV(FwClassifier(GROUPED, groups=[0, 0, 0, 1, 1, 1]), {"mu": [1e-4, 1e-2, 10.0]}, cv=3)
    search.fit(X, WORDS)
    assert search.best_params_["mu"] < 10.0 and search.best_score_ > 0.9
    assert not search.best_estimator_.set_params(mu=0.05).fit(X, WORDS).coef_[0, 3:].any()


def test_a_pipeline_finds_the_parameter():
    search = GridSearchCV(make_pipeline(StandardScaler(), FwRegressor(LASSO)), {"fwregressor__mu": [0.01, 1.0]}, cv=3)
    assert search.fit(X, Y).best_params_ == {"fwregressor__mu": 0.01}


def test_path_goes_along_a_parameter_and_leaves_the_fit():
    estimator = FwRegressor(LASSO).fit(X, Y)
    before = estimator.coef_
    path = estimator.path(X, Y, [1.0, 0.1, 0.01])
    assert path.parameter == "mu" and [s.status for s in path] == ["optimal"] * 3
    assert path[1]["w"] == pytest.approx(before, abs=1e-5) and estimator.coef_ is before
    with pytest.raises(ValueError, match="have no name"):
        FwClassifier(GROUPED.replace("= 0.01", "= 0.01, nu: nonnegative = 1"), groups=np.zeros(6, int)).path(
            X, WORDS, [1.0]
        )


# --- weights -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: FwRegressor(RIDGE, tol=1e-12), lambda: FwClassifier(BINARY, tol=1e-12)])
def test_a_weight_of_two_is_the_sample_twice(make: Any):
    y = Y if isinstance(make(), FwRegressor) else WORDS
    weights = np.arange(80) % 3
    weighted = make().fit(X, y, sample_weight=weights)
    repeated = make().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.coef_ == pytest.approx(repeated.coef_, abs=1e-6)


def test_weights_that_the_program_has_no_data_for():
    with pytest.raises(ValueError, match="FW0221") as caught:
        FwRegressor(LASSO).fit(X, Y, sample_weight=np.ones(80))
    assert "`data sample_weight: vector[n] in nonnegative`" in caught.value.hint  # type: ignore[attr-defined]
    assert "`mean(sample_weight * squared(f, y))`" in caught.value.hint  # type: ignore[attr-defined]


def test_ensembles_do_without_weights_that_the_program_has_not():
    assert has_fit_parameter(FwRegressor(RIDGE), "sample_weight")
    assert not has_fit_parameter(FwRegressor(LASSO), "sample_weight")
    assert BaggingRegressor(FwRegressor(LASSO, mu=0.01), n_estimators=3, random_state=0).fit(X, Y).score(X, Y) > 0.9
    with pytest.raises(TypeError, match="unexpected keyword argument 'weight'"):
        FwRegressor(LASSO).fit(X, Y, weight=1)


def test_one_number_weighs_all_samples():
    fitted = FwRegressor(RIDGE).fit(X, Y, sample_weight=3.0)
    assert np.array_equal(fitted.coef_, FwRegressor(RIDGE).fit(X, Y).coef_)
    with pytest.raises(ValueError, match="non-zero"):
        FwRegressor(RIDGE).fit(X, Y, sample_weight=0.0)


def test_weights_may_have_another_name():
    text = RIDGE.replace("sample_weight", "importance")
    weights = np.linspace(0.1, 2.0, 80)
    named = FwRegressor(text, weights="importance").fit(X, Y, sample_weight=weights)
    assert np.array_equal(named.coef_, FwRegressor(RIDGE).fit(X, Y, sample_weight=weights).coef_)


# --- names of columns ------------------------------------------------------------------------------------------------------


def test_columns_are_found_by_name_in_any_order():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    fitted = FwRegressor(LASSO).fit(frame, Y)
    assert list(fitted.feature_names_in_) == list("abcdef")
    shuffled = frame[list("fbadce")]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(fitted.predict(shuffled), fitted.predict(frame))
    assert fitted.predict(shuffled) == pytest.approx(FwRegressor(LASSO).fit(X, Y).predict(X), abs=1e-6)
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- z"):
        fitted.predict(frame.rename(columns={"a": "z"}))


def test_lazy_frames_and_nullable_columns():
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    lazy = pl.LazyFrame(X, schema=list("abcdef"))
    plain = FwRegressor(LASSO, mu=0.2).fit(lazy.collect(), Y)
    ours = FwRegressor(LASSO, mu=0.2).fit(lazy, pl.LazyFrame({"y": Y}))
    assert list(ours.feature_names_in_) == list("abcdef") and ours.coef_ == pytest.approx(plain.coef_, abs=1e-9)
    wide = lazy.select("f", "e", "d", "c", "b", "a", bad=pl.col("a").map_batches(_refuse, return_dtype=pl.Float64))
    assert ours.predict(wide) == pytest.approx(plain.predict(lazy.collect()), abs=1e-9)
    with pytest.raises(fw.FwError, match="not this column"):
        ours.fit(wide, Y)
    frame = pd.DataFrame({"a": pd.array(Y > 0, dtype="boolean"), "b": pd.array(range(len(Y)), dtype="Int64")})
    found = FwRegressor(RIDGE, mu=0.2).fit(frame, Y, sample_weight=pd.Series(np.ones(len(Y)), dtype="Float64"))
    assert found.predict(frame) == pytest.approx(found.predict(frame.astype(float)), abs=1e-9)


def test_collections_of_dask():
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    frame = pytest.importorskip("pandas").DataFrame(X, columns=list("abcdef"))
    plain = FwClassifier(BINARY).fit(frame, WORDS)
    lazy = dd.from_pandas(frame, npartitions=2)
    ours = FwClassifier(BINARY).fit(lazy, WORDS, sample_weight=da.ones(len(X), chunks=20))
    assert ours.predict_proba(lazy[list("fedcba")]) == pytest.approx(plain.predict_proba(frame), abs=1e-9)
    assert list(ours.feature_names_in_) == list("abcdef")
    array = da.from_array(X, chunks=20)
    assert FwRegressor(RIDGE).fit(array, Y).predict(array) == pytest.approx(FwRegressor(RIDGE).fit(X, Y).predict(X))


def _refuse(column: Any) -> Any:
    raise RuntimeError("not this column")


def test_frames_of_polars():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=list("abcdef"))
    fitted = FwRegressor(LASSO).fit(frame, Y)
    assert list(fitted.feature_names_in_) == list("abcdef")
    assert np.array_equal(fitted.predict(frame.select(list("fbadce"))), fitted.predict(frame))


def test_lazy_frames_of_polars_are_collected():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(X, schema=list("abcdef"))
    fitted = FwRegressor(LASSO).fit(frame.lazy(), Y)
    assert np.array_equal(fitted.predict(frame.lazy()), FwRegressor(LASSO).fit(frame, Y).predict(frame))


# --- what goes wrong ---------------------------------------------------------------------------------------------------


def test_a_limit_is_a_warning_with_the_gap():
    with pytest.warns(ConvergenceWarning, match=r"a certified relative gap of .*e") as told:
        fitted = FwRegressor(BALL).fit(X, Y)
    assert Path(told[0].filename).name == "test_estimators.py"  # the line that called `fit`
    assert fitted.dual_gap_ > 0.0 and fitted.predict(X).shape == (80,)


def test_a_limit_at_a_point_that_misses_a_constraint_has_no_gap():
    text = (
        "data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nlet f = X @ w\nminimize norm1(w)\n"
        "subject to mean(squared(f, y)) <= 0.1 * mean(square(y))\nsolve max_iter = 0\n"
    )
    with pytest.warns(ConvergenceWarning, match=r"the objective .* is not certified$"):
        assert np.isinf(FwRegressor(text, predict="f").fit(X, Y).dual_gap_)


def test_data_that_are_missing_are_given_to_the_estimator():
    with pytest.raises(fw.DataError, match="FW4501") as caught:
        FwClassifier(GROUPED).fit(X, WORDS)
    assert "FwClassifier(..., groups=...)" in str(caught.value.hint)


def test_parameters_that_are_missing_are_given_to_the_estimator():
    text = LASSO.replace(" = 0.1", "")
    for call in (lambda e: e.fit(X, Y), lambda e: e.path(X, Y, {"r": [1.0, 2.0]})):
        with pytest.raises(fw.DataError, match="FW4502") as caught:
            call(FwRegressor(text.replace("minimize", "param r: real = 1\nminimize r +")))
        assert caught.value.hint == "give it to the estimator, as in FwRegressor(..., mu=...)"


def test_wrong_parameters_are_told_in_the_words_of_the_call():
    for wrong, code in ((-1.0, "FW4511"), ("a", "FW4512")):
        with pytest.raises(fw.DataError, match=code) as caught:
            FwRegressor(LASSO, mu=wrong).fit(X, Y)
        assert "from FwRegressor(..., mu=...)" in str(caught.value) and "bind" not in str(caught.value)
    assert caught.value.hint == "give a number, as in `FwRegressor(..., mu=3.0)`"


@pytest.mark.parametrize("cls", [FwRegressor, FwClassifier, FwTransformer])
def test_a_program_that_is_missing_is_missing_from_the_class_that_was_called(cls: type):
    with pytest.raises(TypeError, match=rf"^{cls.__name__}\.__init__\(\) missing .*'program'"):
        cls()


def test_targets_that_are_missing_are_given_to_fit():
    with pytest.raises(fw.DataError, match="FW4501") as caught:
        FwTransformer(LASSO).fit(X)
    assert caught.value.hint == 'write FwTransformer(..., y="y"), and give the targets to `fit`'
    with pytest.raises(fw.DataError, match="FW4501") as caught:
        FwRegressor(LASSO.replace("y: v", "y: vector[n], tol: v").replace("f, y", "f, y + tol")).fit(X, Y)
    assert "call it otherwise in the program" in str(caught.value.hint)


def test_the_name_that_is_suggested_fits_the_role():
    with pytest.raises(ValueError, match="FW0220") as caught:
        FwRegressor(LASSO, y="yy").fit(X, Y)
    assert 'y="y"' in str(caught.value)
    with pytest.raises(ValueError, match="FW0220") as caught:
        FwRegressor(LASSO, X="targets").fit(X, Y)
    assert 'X="X"' in str(caught.value)


def test_predictions_are_of_the_fit():
    fitted = FwRegressor(LASSO).fit(X, Y)
    expected = fitted.predict(X)
    assert np.array_equal(fitted.set_params(X="Z").predict(X), expected)


@pytest.mark.parametrize("weight", [1e307, 1e-310, 5e-324])
def test_weights_of_any_size_weigh_alike(weight: float):
    expected = FwRegressor(RIDGE).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = FwRegressor(RIDGE).fit(X, Y, sample_weight=np.full(len(X), weight))
    assert fitted.coef_ == pytest.approx(expected.coef_) and fitted.objective_ == pytest.approx(expected.objective_)


def test_no_solution_is_an_error():
    text = LASSO.replace("minimize", "param r: real = 1\nminimize") + "subject to sum(w) == r, w >= 0\n"
    with pytest.raises(fw.RunError, match="FW0223"):
        FwRegressor(text, r=-1.0).fit(X, Y)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: FwRegressor(LASSO, X="A").fit(X, Y), "no data `A`, which `X` names"),
        (lambda: FwRegressor(LASSO, y=None).fit(X, Y), "FwRegressor was given `y=None`"),
        (lambda: FwRegressor(LASSO, X=None).fit(X, Y), "no data `None`, which `X` names"),
        (lambda: FwClassifier(LASSO).fit(X, WORDS), "`y` is declared `vector`, which has no classes"),
        (lambda: FwClassifier(BINARY).fit(X, LETTERS), "declare `y: labels"),
        (lambda: FwClassifier(BINARY).fit(X, np.full(80, "yes")), "only one class: 'yes'"),
        (lambda: FwRegressor(RIDGE).fit(X, Y, sample_weight=np.zeros(80)), "non-zero"),
        (lambda: FwRegressor(RIDGE).fit(X, Y, sample_weight=-np.ones(80)), "Negative values"),
        (lambda: FwRegressor(LASSO.replace("mu", "tol")).fit(X, Y), "`tol` has the name of a parameter"),
        (lambda: FwRegressor(LASSO).fit(np.where(X > 2, np.nan, X), Y), "NaN"),
    ],
)
def test_what_does_not_fit_is_a_value_error(make: Any, words: str):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        make()


def test_an_unfitted_estimator_predicts_nothing():
    with pytest.raises(NotFittedError):
        FwRegressor(LASSO).predict(X)


def test_a_program_that_is_not_accepted_is_told_by_fit():
    estimator = FwRegressor("data X: matrix[n, p]\nminimize mean(squared(X @ w, y))")
    assert estimator.get_params()["X"] == "X" and "FwRegressor" in repr(estimator)
    with pytest.raises(fw.RejectedError):
        estimator.fit(X, Y)


def test_without_scikit_learn_one_line_names_the_extra():
    code = "import sys; sys.modules['sklearn'] = None\nimport fwdsl.sklearn\ntry: fwdsl.sklearn.FwRegressor\nexcept Exception as e: print(e)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "FW0224" in told and "pip install 'fwdsl[sklearn]'" in told


# --- elsewhere -----------------------------------------------------------------------------------------------------------


def test_a_pickled_fit_predicts_without_its_data():
    fitted = FwRegressor(LASSO).fit(np.repeat(X, 500, axis=0), np.repeat(Y, 500))
    kept = pickle.dumps(fitted)
    assert len(kept) < 500_000  # the data have 1.9 MB, the dual point 0.3
    code = "import pickle, sys, json; e = pickle.load(sys.stdin.buffer); print(json.dumps(e.predict([[1, 0, 0, 0, 0, 0]]).tolist()))"
    told = subprocess.run([sys.executable, "-c", code], input=kept, capture_output=True, check=True).stdout
    assert float(told.decode().strip("[]\n")) == pytest.approx(fitted.predict([[1, 0, 0, 0, 0, 0]])[0])


def test_the_solution_of_a_pickle_saves_what_it_did_before(tmp_path: Path):
    fitted = FwClassifier(CLASSES).fit(X, LETTERS)
    fitted.solution_.save(tmp_path / "before.npz")
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301
    again.solution_.save(tmp_path / "after.npz")
    pickle.loads(pickle.dumps(again)).solution_.save(tmp_path / "twice.npz")  # noqa: S301
    with np.load(tmp_path / "before.npz") as before:
        for name in ("after.npz", "twice.npz"):
            with np.load(tmp_path / name) as after:
                assert before.files == after.files
                assert all(np.array_equal(before[key], after[key]) for key in before.files)
    assert np.array_equal(fw.load_solution(tmp_path / "after.npz").predict(X=X), fitted.solution_.predict(X=X))


@pytest.mark.parametrize(
    ("program", "y", "classes"),
    [
        (BINARY, WORDS, ("no", "yes")),
        (BINARY, np.where(Z > 0.0, 7, 3), (3, 7)),
        (BINARY, Z > 0.0, (False, True)),
        (CLASSES, LETTERS, ("a", "b", "c")),
    ],
    ids=["words", "numbers", "truths", "classes"],
)
def test_a_saved_solution_keeps_the_labels(tmp_path: Path, program: str, y: Any, classes: tuple[Any, ...]):
    fitted = FwClassifier(program).fit(X, y)
    fitted.solution_.save(tmp_path / "fit.npz")
    loaded = fw.load_solution(tmp_path / "fit.npz")
    assert loaded.predictor().classes == fitted.solution_.predictor().classes == classes
    (rate,) = loaded.error_rates(X=X, y=y, sample_weight=np.ones(80)).values()
    assert rate == pytest.approx(1.0 - fitted.score(X, y))
    assert all(point.predictor().classes == classes for point in fitted.path(X, y, [0.1, 0.01]))


def test_labels_that_no_file_holds_are_told_as_codes():
    fitted = FwClassifier(BINARY).fit(X, np.where(Z > 0.0, np.datetime64("2026-01-02"), np.datetime64("2026-01-01")))
    assert fitted.solution_.predictor().classes == (-1.0, 1.0)


@pytest.mark.slow
def test_processes_of_joblib():
    scores = cross_val_score(FwRegressor(LASSO), X, Y, cv=4, n_jobs=2)
    assert scores == pytest.approx(cross_val_score(FwRegressor(LASSO), X, Y, cv=4))
