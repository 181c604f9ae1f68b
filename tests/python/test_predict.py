"""`predict` of solutions: the numbers of `evaluate` on new rows, from a predictor that is made once and can be pickled."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import fwdsl as fw
from fwdsl.atoms.low_rank import LowRank
from fwdsl.bind import bind_python
from fwdsl.model import sizes_of
from fwdsl.results.evaluation import Fit, evaluate, fit_of
from fwdsl.results.prediction import Predictor, prediction_of

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
#: Programs whose objective has no loss, or whose data have no rows of their own: nothing is predicted there.
NO_ROWS = {
    "antenna", "basis_pursuit", "chance_constraint", "chebyshev_fit", "covering_ellipse", "cur", "deconvolution", "depot",
    "enclosing_ball", "entropic_transport", "expected_shortfall", "fair_division", "fastest_mixing", "fused_lasso", "largest_box",
    "least_regret", "lyapunov", "markowitz", "max_cut", "maximum_entropy", "nearest_correlation", "optimal_design", "optimal_transport",
    "production", "robust_blend", "robust_design", "robust_pca", "shifts", "sparse_covariance", "sparse_within", "svm_dual", "tracking",
    "trend",
}  # fmt: skip
FILES = [
    f
    for f in sorted(EXAMPLES.glob("*.fw"))
    if f.stem not in {*NO_ROWS, "completion", "sparse_logistic", "advertising", "water_filling"}
]
RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4))
Y = np.where(X @ [1.0, -2.0, 0.0, 0.5] > 0, "yes", "no")
NEW = RNG.normal(size=(7, 4))
TEXT = """\
data X: matrix[n, p], y: signs[n], s: vector[n] in nonnegative
let S = standardize(X)
var w: vector[p], b: real
let z = S @ w + b
let fit = mean(s * logistic(z, y))
let size = norm1(w)
minimize fit + 0.01 * size
"""


@pytest.fixture(scope="module")
def solution() -> fw.Solution:
    return fw.parse(TEXT).bind(X=X, y=Y, s=np.ones(60)).solve(threads=1)


def copied(predictor: Predictor) -> Predictor:
    """The predictor as another process has it."""
    found: Predictor = pickle.loads(pickle.dumps(predictor))  # noqa: S301
    return found


def anywhere(problem: fw.Problem) -> Fit:
    """A fit whose variables have random values: predictions ask for no optimum."""
    instance = problem.instance
    values = {v.name: RNG.normal(size=sizes_of(v.type, instance.dims)) for v in instance.model.variables}
    return fit_of(instance, values)


def by_evaluate(fit: Fit, data: dict[str, Any]) -> Any:
    """The prediction as the value of a `let` of its own."""
    model = replace(fit.model, lets=(("prediction", prediction_of(fit.model, None)),))
    return evaluate(replace(fit, model=model), ["prediction"], bind_python(**data), Path()).values["prediction"]


def some(fit: Fit, name: str, at: Any) -> Any:
    """Some rows of a fit's data, observed entries by their ids."""
    value = fit.values[name]
    if not hasattr(value, "row_ids"):
        return value[at]
    rows, columns = value.rows[at], value.columns[at]
    if value.row_ids is not None:
        rows, columns = np.array(value.row_ids)[rows], np.array(value.column_ids)[columns]
    return rows, columns, value.values[at]


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_predictions_are_the_numbers_of_evaluate(path: Path) -> None:
    fit = anywhere(fw.load(path))
    predictor = copied(Predictor(fit))
    assert not set(predictor._fit.values) & set(predictor.inputs)
    for at in (slice(0, 1), slice(3, 10), slice(None)):
        data = {name: some(fit, name, at) for name in predictor.inputs}
        expected = by_evaluate(fit, data)
        assert predictor._quickly(data) is not None
        np.testing.assert_allclose(predictor(**data), expected, rtol=1e-12, atol=1e-12)


FORMS = {
    "X @ w": ("vector[n]", "w: vector[p]"),
    "X @ w + b": ("vector[n]", "w: vector[p], b: real"),
    "b + X @ w": ("vector[n]", "b: real, w: vector[p]"),
    "X @ w - b": ("vector[n]", "w: vector[p], b: real"),
    "X @ w + 1": ("vector[n]", "w: vector[p]"),
    "X @ w + X @ v": ("vector[n]", "w: vector[p], v: vector[p]"),
    "X @ W + b": ("matrix[n, 3]", "W: matrix[p, 3], b: vector[3]"),
    "X @ W + c": ("matrix[n, 3]", "W: matrix[p, 3], c: real"),
    "X @ S": ("matrix[n, p]", "S: psd[p]"),
}
"""The types of targets and variables of predictions, some of which have their maps ready."""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [np.asarray, np.float32, csr_array, np.asfortranarray])
def test_scores_have_the_bits_of_their_maps(form: str, kind: Any) -> None:
    target, variables = FORMS[form]
    problem = fw.parse(f"data X: matrix[n, p], y: {target}\nvar {variables}\nminimize sum(squared({form}, y))")
    width = {"vector[n]": (), "matrix[n, 3]": (3,), "matrix[n, p]": (4,)}[target]
    fit = anywhere(problem.bind(X=X, y=np.ones((60, *width))))
    rows = kind(NEW)
    found, expected = Predictor(fit)(X=rows), by_evaluate(fit, {"X": rows})
    assert found.dtype == expected.dtype and found.shape == expected.shape and found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("stem", sorted(NO_ROWS - {"cur", "fused_lasso", "robust_pca", "svm_dual"}))
def test_an_objective_without_a_loss_predicts_nothing(stem: str) -> None:
    with pytest.raises(fw.RunError) as error:
        Predictor(anywhere(fw.load(EXAMPLES / f"{stem}.fw")))
    assert error.value.code == "FW0211" and "the objective has no loss" in str(error.value)


def test_what_is_predicted(solution: fw.Solution) -> None:
    z = solution.evaluate("z", X=NEW)
    for what in (None, "z", "fit", "objective"):
        np.testing.assert_array_equal(solution.predict(what, X=NEW), z)
    # of the rows of the fit where none are given, and without a look at targets
    np.testing.assert_array_equal(solution.predict(), solution.evaluate("z"))
    np.testing.assert_array_equal(solution.predict(X=NEW, y=["?"]), z)
    assert solution.predictor().classes == ("no", "yes") and solution.predictor().inputs == ("X",)
    assert (
        solution.predictor() is solution.predictor() and repr(solution.predictor("z")) == "<Predictor of `z` from `X`>"
    )
    assert "_predictors" not in solution.__getstate__()


def test_rows_of_every_kind(solution: fw.Solution) -> None:
    z = solution.predict(X=NEW)
    np.testing.assert_allclose(solution.predict(X=NEW.tolist()), z, rtol=1e-12)
    np.testing.assert_allclose(solution.predict(X=csr_array(NEW)), z, rtol=1e-12)
    np.testing.assert_allclose(solution.predict(X=np.asfortranarray(NEW)), z, rtol=1e-12)
    np.testing.assert_allclose(solution.predict(X=NEW.astype(np.float32)), z, rtol=1e-4)
    np.testing.assert_allclose([solution.predict(X=row[None])[0] for row in NEW], z, rtol=1e-12)


@pytest.mark.parametrize(
    ("what", "data", "code", "words"),
    [
        ("zz", {"X": NEW}, "FW0204", "did you mean `z`?"),
        ("size", {}, "FW0211", "`size` has no loss"),
        (None, {"X": NEW[:, :2]}, "FW4506", "`p` is 4 in the fit, but `X` has 2 columns"),
        (None, {"X": NEW[0]}, "FW4505", "give one row with `X.reshape(1, -1)`"),
        (None, {"X": NEW[0, :3]}, "FW4505", "give one column with `X.reshape(-1, 1)`"),
        (None, {"X": np.where(NEW > 1, np.nan, NEW)}, "FW4021", "is `nan`"),
        (None, {"X": NEW[:0]}, "FW4505", "empty"),
        (None, {"X": [["a", "b", "c", "d"]]}, "FW4504", "text"),
        (None, {"X": NEW, "XX": NEW}, "FW4500", "`predict(XX=...)` gives `XX`"),
        (None, {"XX": NEW}, "FW4500", "`predict(XX=...)` gives `XX`"),
    ],
)
def test_what_does_not_fit(
    solution: fw.Solution, what: str | None, data: dict[str, Any], code: str, words: str
) -> None:
    with pytest.raises(fw.FwError) as error:
        solution.predict(what, **data)
    assert error.value.code == code and words in str(error.value)


def test_a_predictor_needs_its_inputs(solution: fw.Solution) -> None:
    with pytest.raises(fw.DataError) as error:
        solution.predictor()(y=Y)
    assert error.value.code == "FW4501" and error.value.hint.startswith("give `X=...`")


def test_columns_are_matched_by_name() -> None:
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    solution = fw.parse(TEXT).bind(X=pd.DataFrame(X, columns=list("abcd")), y=Y, s=np.ones(60)).solve(threads=1)
    z = solution.predict(X=NEW)
    assert solution.predictor().columns == {"X": ("a", "b", "c", "d")}
    shuffled = NEW[:, [3, 1, 0, 2]]
    for frame in (pd.DataFrame(shuffled, columns=list("dbac")), pl.DataFrame(shuffled, schema=list("dbac"))):
        np.testing.assert_allclose(solution.predict(X=frame), z, rtol=1e-12)
    with pytest.raises(fw.DataError, match="no column `b`"):
        solution.predict(X=pd.DataFrame(NEW, columns=list("axcd")))


def test_data_without_rows_are_those_of_the_fit() -> None:
    B = RNG.normal(size=(4, 3))
    text = (
        "data X: matrix[n, p], B: matrix[p, q], t: vector[n]\nvar w: vector[q]\nminimize mean(squared(X @ (B @ w), t))"
    )
    fit = anywhere(fw.parse(text).bind(X=X, B=B, t=X[:, 0]))
    predictor = copied(Predictor(fit))
    assert predictor.inputs == ("X",)
    np.testing.assert_allclose(predictor(X=NEW), NEW @ B @ fit.variables["w"])
    np.testing.assert_allclose(predictor(X=NEW, B=2 * B), 2 * NEW @ B @ fit.variables["w"])


def test_numbers_of_samples_that_the_program_states() -> None:
    w = fw.vector(4, name="w")
    problem = fw.minimize(fw.mean(fw.squared(fw.standardize(fw.data("X", X)) @ w, X[:, 0])) + 0.1 * fw.norm1(w))
    predictor = Predictor(anywhere(problem))
    expected = (NEW - X.mean(axis=0)) / X.std(axis=0) @ predictor._fit.variables["w"]
    np.testing.assert_allclose(predictor(X=NEW), expected)
    assert predictor._quickly({"X": NEW}) is not None


def test_entries_without_values_and_those_the_fit_has_not_seen() -> None:
    problem = fw.parse("data M: entries[n, p]\nvar B: matrix[n, p]\nminimize sum(squared(1 + B[M], M)) + norm_fro(B)")
    fit = fit_of(problem.bind(M=(["ann", "bob", "cy"], ["x", "y", "x"], [1.0, 2, 3])).instance, {"B": np.eye(3, 2)})
    predictor = Predictor(fit)
    assert predictor(M=(["cy", "ann", "bob"], ["y", "x", "y"])).tolist() == [1.0, 2.0, 2.0]
    assert predictor(M=np.array([["ann", "x"]])).tolist() == [2.0]
    with pytest.warns(UserWarning, match="2 of the 4 entries of `M` are in rows or columns that the fit has not seen"):
        found = predictor(M=(["zoe", "ann", "bob", "cy"], ["x", "x", "y", "z"]))
    np.testing.assert_array_equal(found, [np.nan, 2.0, 2.0, np.nan])
    with pytest.raises(fw.DataError, match="none of the fit's"):
        predictor(M=(["zoe"], ["x"]))


def test_entries_of_signs_and_of_positions() -> None:
    text = "data M: entries[n, p] of signs\nvar B: matrix[n, p]\nminimize mean(logistic(B[M], M)) + norm_fro(B)"
    entries = (["ann", "bob", "cy"], ["x", "y", "x"], ["no", "yes", "no"])
    predictor = copied(Predictor(fit_of(fw.parse(text).bind(M=entries).instance, {"B": np.eye(3, 2)})))
    assert predictor(M=(["cy", "ann"], ["y", "x"])).tolist() == [0.0, 1.0]
    assert predictor(M=(["cy", "ann"], ["y", "x"], ["yes", "yes"])).tolist() == [0.0, 1.0]
    text = "data M: entries[3, 2]\nvar B: matrix[3, 2]\nminimize mean(squared(B[M], M)) + norm_fro(B)"
    problem = fw.parse(text).bind(M=([0, 1], [1, 0], [1.0, 2.0]))
    predictor = Predictor(fit_of(problem.instance, {"B": np.eye(3, 2)}))
    assert predictor(M=([2, 1], [1, 1])).tolist() == [0.0, 1.0]
    for wrong in (([3], [0]), ([0], [-1]), ([0.5], [0]), (["a"], [0])):
        with pytest.raises(fw.DataError):
            predictor(M=wrong)


def test_factors_are_not_written_out() -> None:
    n = 20_000
    text = f"data M: entries[{n}, {n}]\nvar B: matrix[{n}, {n}]\nminimize mean(squared(B[M], M)) + norm_nuc(B)"
    problem = fw.parse(text).bind(M=([0, 5], [1, 2], [1.0, 2.0]))
    U, V = RNG.normal(size=(n, 2)), RNG.normal(size=(n, 2))
    predictor = Predictor(fit_of(problem.instance, {"B": LowRank(U, V)}))
    assert predictor(M=([7, n - 1], [3, 4])) == pytest.approx([U[7] @ V[3], U[n - 1] @ V[4]])


def test_data_without_a_name(solution: fw.Solution) -> None:
    np.testing.assert_array_equal(solution.predictor()(NEW), solution.predict(X=NEW))
    for ask in (
        lambda: solution.predict(NEW),
        lambda: solution.evaluate(NEW),
        lambda: solution.predictor()(NEW, X=NEW),
    ):
        with pytest.raises(fw.BuildError) as error:
            ask()
        assert error.value.code == "FW0309" and "give data by name: `X=" in error.value.hint
    with pytest.raises(fw.DataError) as unknown:
        solution.predictor()(Z=NEW)
    assert unknown.value.code == "FW4500"


@pytest.mark.parametrize("declared", ["matrix[n, p]", "matrix[n, p] in nonnegative"])
def test_checked_rows_have_the_same_prediction(declared: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(40, 3)), rng.normal(size=40)
    text = f"data X: {declared}, y: vector[n]\nvar w: vector[p], b: real\nminimize mean(squared(X @ w + b, y))\n"
    predictor = fw.parse(text).bind(X=X, y=y).solve().predictor()
    for rows in (X[:5], X[:1], X[:5].astype(np.float32), np.asfortranarray(X), X[::2]):
        assert predictor.of_checked(rows).tolist() == predictor(X=rows).tolist()
    if "nonnegative" in declared:
        # what the program asks of data beside that is asked of these too
        with pytest.raises(fw.DataError):
            predictor.of_checked(-X)
