"""Cross-validation of paths and grids, against the same by hand."""

from __future__ import annotations

import gc
import json
import signal
import tracemalloc
import weakref
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import fwdsl as fw
from fwdsl.bind import bindings
from fwdsl.cli import main
from fwdsl.plan import memory
from fwdsl.readers import decoded, row_blocks
from fwdsl.readers.row_blocks import is_on_disk
from fwdsl.studies.folds import CrossValidation, cross_validate
from fwdsl.studies.folds import _splits as folds_of
from fwdsl.studies.samples import deal, samples_of

RNG = np.random.default_rng(5)
X = RNG.normal(size=(45, 4)) * [1, 10, 1, 1] + 3.0
SIGNS = np.where((X - 3) @ [1, -0.2, 0, 0] + RNG.normal(size=45) > 0, "yes", "no")
Y = X @ [1.0, 0.1, 0, 0] + RNG.normal(size=45)
LASSO = """
data X: matrix[n, p], y: vector[n]
param mu: nonnegative
var w: vector[p], b: real
minimize 3 * {reduce}(squared(standardize(X) @ w + b, y)) + mu * norm1(w)
"""
LOGISTIC = """
data X: matrix[n, p], y: signs[n]
param mu: nonnegative, nu: nonnegative = 0.01
var w: vector[p], b: real
minimize mean(logistic(X @ w + b, y)) + mu * norm1(w) + nu * sum_squares(w)
"""
VALUES = [30.0, 1.0, 0.01]


def by_hand(problem: fw.Problem, name: str, folds: int, **data: Any) -> tuple[Any, Any]:
    """Scores and error rates, each fold fitted by `bind` and judged by `evaluate`."""
    parts = deal(samples_of(problem.model), problem.bind(mu=1.0).instance, folds, 0)
    losses, errors = np.zeros((2, len(VALUES), folds))
    for j, held in enumerate(parts):
        rows = np.setdiff1d(np.arange(45), held)
        for i, mu in enumerate(VALUES):
            fit = problem.bind(mu=mu, **{k: v[rows] for k, v in data.items()}).solve(tol=1e-10, threads=1)
            unseen = {k: v[held] for k, v in data.items()}
            losses[i, j] = fit.evaluate(name, **unseen)
            errors[i, j] = fit.error_rates(**unseen).get(name, np.nan)
    return losses, errors


def test_scores_are_those_of_fits_to_the_other_rows():
    problem = fw.parse(LASSO.format(reduce="mean")).bind(X=X, y=Y)
    found = problem.path(mu=VALUES, folds=5, tol=1e-10, threads=1)
    losses, _ = by_hand(problem, "term1", 5, X=X, y=Y)
    np.testing.assert_allclose(found.by_fold, losses / 3, rtol=1e-5)
    np.testing.assert_allclose(found.mean, losses.mean(axis=1) / 3, rtol=1e-5)
    np.testing.assert_allclose(found.standard_error, losses.std(axis=1, ddof=1) / 3 / np.sqrt(5), rtol=1e-5)
    assert (found.parameters, found.samples, found.folds, found.score) == (("mu",), "n", 5, "loss")
    best = VALUES[int(np.argmin(losses.mean(axis=1)))]
    assert found.best == {"mu": best} and found.solution is not None
    assert found.solution.objective == pytest.approx(problem.bind(mu=best).solve(tol=1e-10).objective, rel=1e-8)


def test_folds_may_be_given():
    problem = fw.parse(LASSO.format(reduce="mean")).bind(X=X, y=Y)
    parts = deal(samples_of(problem.model), problem.bind(mu=1.0).instance, 4, 0)
    splits = [(np.setdiff1d(np.arange(45), held), held) for held in parts]
    found = problem.path(mu=VALUES, folds=splits, tol=1e-10, threads=1)
    np.testing.assert_allclose(found.by_fold, problem.path(mu=VALUES, folds=4, tol=1e-10, threads=1).by_fold)
    assert found.seed is None and repr(found).endswith("samples `n`, as given")
    with pytest.raises(fw.BuildError, match="a list of pairs"):
        problem.path(mu=VALUES, folds=[[1, 2, 3]], tol=1e-10)


def test_the_number_of_folds_may_be_one_of_numpy():
    problem = fw.parse(LASSO.format(reduce="mean")).bind(X=X, y=Y)
    found = [problem.path(mu=[0.1, 0.01], folds=folds) for folds in (3, np.int64(3))]
    assert np.array_equal(found[0].by_fold, found[1].by_fold) and found[0].seed == found[1].seed == 0


def test_folds_may_be_lists_and_masks():
    problem = fw.parse(LASSO.format(reduce="mean")).bind(X=X, y=Y)
    held = np.arange(45) % 3 == 0
    expected = problem.path(mu=VALUES, folds=[(np.flatnonzero(~held), np.flatnonzero(held))], threads=1).by_fold
    for pair in ((np.flatnonzero(~held).tolist(), np.flatnonzero(held).tolist()), (~held, held)):
        found = problem.path(mu=VALUES, folds=[pair], threads=1)
        np.testing.assert_allclose(found.by_fold, expected)
        # one fold has no standard error, and nothing but the best is near it
        assert np.isnan(found.standard_error).all() and found.best == found.one_se


@pytest.mark.parametrize(
    ("folds", "words"),
    [
        ([([0, 1, 2], [3, 45])], r"folds\[0\] has the row 45, and the samples have 0 to 44"),
        ([([0, 1], [2]), ([0, -1], [2])], r"folds\[1\] has the row -1"),
        ([([0, 1, 2], [])], "no rows to leave out"),
        ([([], [1, 2])], "no rows to fit to"),
        ([([0.5, 1], [2])], "no positions"),
        ([([True, False], [2])], "no positions"),
        ([1, 2], "a list of pairs"),
    ],
)
def test_folds_that_are_none(folds: Any, words: str):
    problem = fw.parse(LASSO.format(reduce="mean")).bind(X=X, y=Y)
    with pytest.raises(fw.BuildError, match=words):
        problem.path(mu=VALUES, folds=folds)


def test_a_splitter_of_scikit_learn_is_told_what_to_write():
    model_selection = pytest.importorskip("sklearn.model_selection")
    problem = fw.parse(LASSO.format(reduce="mean")).bind(X=X, y=Y)
    with pytest.raises(fw.BuildError, match=r"folds=list\(splitter.split\(X\)\)"):
        problem.path(mu=VALUES, folds=model_selection.KFold(3))
    found = problem.path(mu=VALUES, folds=list(model_selection.KFold(3).split(X)))
    assert found.by_fold.shape == (len(VALUES), 3)


def test_error_rates_are_those_of_fits_to_the_other_rows():
    problem = fw.parse(LOGISTIC).bind(X=X, y=SIGNS)
    found = problem.path(mu=VALUES, folds=4, score="error", tol=1e-10, threads=1)
    _, errors = by_hand(problem, "term1", 4, X=X, y=SIGNS)
    np.testing.assert_allclose(found.by_fold, errors)
    assert repr(found).splitlines()[-1].startswith("error rate by 4 folds")


def test_the_one_standard_error_choice_is_the_most_regularised_of_the_near_ones():
    found = fw.parse(LASSO.format(reduce="mean")).bind(X=X, y=Y).path(mu=[0.01, 0.5, 0.2, 50], folds=5, threads=1)
    best, near = found.chosen
    within = found.mean <= found.mean[best] + found.standard_error[best]
    assert near == max(np.flatnonzero(within), key=lambda i: found.points[i][0])
    assert found.one_se == {"mu": found.points[near][0]} and not within.all()


def test_a_sum_counts_by_sample_and_a_coefficient_is_left_out():
    # 3 * sum over the m samples fitted to is 3 m times the mean: the same fits at m times the weight
    mean = fw.parse(LASSO.format(reduce="mean")).bind(X=X, y=Y).path(mu=VALUES, folds=5, tol=1e-10, threads=1)
    sums = fw.parse(LASSO.format(reduce="sum")).bind(X=X, y=Y)
    total = sums.path(mu=[36 * mu for mu in VALUES], folds=5, tol=1e-10, threads=1)
    np.testing.assert_allclose(total.by_fold, mean.by_fold, rtol=1e-5)
    np.testing.assert_allclose(total.training_loss, mean.training_loss, rtol=1e-5)


def test_built_programs_have_numbers_for_dimensions():
    def built(rows: Any) -> fw.Problem:
        w, mu = fw.vector(4, name="w"), fw.param("mu", 1.0)
        z = fw.data("X", X[rows]) @ w
        return fw.minimize(fw.mean(fw.squared(z, fw.data("y", Y[rows]))) + mu * fw.norm1(w), z <= 10)

    every = np.arange(45)
    found = built(every).path(mu=[1.0, 0.1], folds=3, tol=1e-10, threads=1)
    problem = built(every)
    held = deal(samples_of(problem.model), problem.instance, 3, 0)[1]
    fit = built(np.setdiff1d(every, held)).bind(mu=0.1).solve(tol=1e-10, threads=1)
    assert found.by_fold[1, 1] == pytest.approx(np.mean((X[held] @ fit["w"] - Y[held]) ** 2), rel=1e-5)


def test_a_sum_of_squares_with_data_counts_samples_too():
    text = "data X: matrix[n, p], y: vector[n]\nparam mu: nonnegative\nvar w: vector[p]\n"
    squares = fw.parse(text + "minimize sum_squares(X @ w - y) + mu * sum_squares(w)").bind(X=X, y=Y)
    loss = fw.parse(text + "minimize sum(squared(X @ w, y)) + mu * sum_squares(w)").bind(X=sparse.csr_array(X), y=Y)
    a, b = (p.path(mu=[1.0, 10.0], folds=3, tol=1e-10, threads=1) for p in (squares, loss))
    np.testing.assert_allclose(a.by_fold, b.by_fold, rtol=1e-6)


def test_observed_entries_are_samples():
    A = np.outer(np.arange(1, 9), np.arange(1, 7)) / 10
    rows, columns = np.divmod(np.arange(48), 6)
    text = "data M: entries[n, q]\nparam r: positive\nvar L: matrix[n, q]\nminimize mean(squared(L[M], M))\nsubject to norm_nuc(L) <= r"
    ids = np.char.add("row ", rows.astype(str))
    found = fw.parse(text).bind(M=(ids, columns, A.reshape(-1))).path(r=[1.0, 14.0], folds=4, threads=1)
    assert found.samples == "len(M)" and found.best == {"r": 14.0} and found.mean[1] < 0.2 * found.mean[0]


def test_a_class_that_a_fold_lacks_is_still_a_class():
    labels = np.array([*("a",) * 20, *("b",) * 24, "rare"])
    text = "data X: matrix[n, p], y: labels[n, k]\nparam mu: positive\nvar W: matrix[p, k]\nminimize mean(softmax(X @ W, y)) + mu * sum_squares(W)"
    found = fw.parse(text).bind(X=X, y=labels).path(mu=[1.0, 0.1], folds=3, score="error", threads=1)
    assert np.isfinite(found.by_fold).all() and found.status == "optimal"


def test_folds_hold_every_row_once_and_have_their_share_of_each_class():
    problem = fw.parse(LOGISTIC).bind(X=X, y=SIGNS, mu=1.0)
    samples = samples_of(problem.model)
    parts = deal(samples, problem.instance, 4, 7)
    assert sorted(np.concatenate(parts)) == list(range(45))
    counts = [np.sum(SIGNS[part] == "yes") for part in parts]
    assert max(counts) - min(counts) <= 1
    assert not all(np.array_equal(a, b) for a, b in zip(parts, deal(samples, problem.instance, 4, 8), strict=True))


def test_a_point_without_a_fit_is_not_chosen():
    text = "data X: matrix[n, p], y: vector[n]\nparam r: real\nvar w: vector[p]\nminimize mean(squared(X @ w, y))"
    text += "\nsubject to norm1(w) <= 1, sum(w) >= r"
    problem = fw.parse(text).bind(X=X, y=Y)
    found = problem.path(r=[0.0, 2.0], folds=3, threads=1)
    assert found.best == found.one_se == {"r": 0.0} and np.isinf(found.mean[1])
    none = problem.path(r=[2.0, 3.0], folds=3, threads=1)
    assert (none.best, none.solution, none.status) == (None, None, "infeasible")
    assert "no point has a fit" in repr(none)


def test_an_interruption_keeps_the_scores_and_chooses_nothing():
    solves: list[int] = []

    def callback(progress: Any) -> bool:
        solves.extend([0] * (progress.iteration == 0))
        return len(solves) < 4

    problem = fw.parse(LASSO.format(reduce="mean")).bind(X=X, y=Y)
    found = problem.path(mu=VALUES[:2], folds=3, callback=callback, method="apg")
    assert found.status == "interrupted" and found.best is None and found.solution is None
    assert np.isfinite(found.by_fold[:, 0]).all() and np.isnan(found.by_fold[1, 1])


@pytest.mark.parametrize(
    ("text", "folds", "score", "code", "words"),
    [
        ("var w: vector[p]\nminimize mean(squared(X @ w, y)) + mu * norm1(w)", 46, "loss", "FW0206", "45 samples"),
        ("var w: vector[p]\nminimize mean(squared(X @ w, y)) + mu * norm1(w)", 1, "loss", "FW0206", "1 folds"),
        ("var w: vector[p]\nminimize mean(squared(X @ w, y)) + mu * norm1(w)", 3, "error", "FW0207", "`squared`"),
        ("var w: vector[p]\nminimize mean(huber(X @ w, y, delta=mu))", 3, "loss", "FW0208", "`huber`"),
        ("var w: vector[p]\nminimize mu * norm1(w)", 3, "loss", "FW0205", "no loss counts the rows"),
        ("var w: vector[n]\nminimize mean(squared(w, y)) + mu * norm1(w)", 3, "loss", "FW0205", "variable `w`"),
        (
            "data Q: symmetric[n]\nvar w: vector[p]\nminimize mean(squared(X @ w, y)) + mu * norm1(w)",
            3,
            "loss",
            "FW0205",
            "`Q`",
        ),
        (
            "data z: vector[m], Z: matrix[m, p]\nvar w: vector[p]\nminimize mean(squared(X @ w, y)) + mu * mean(huber(Z @ w, z))",
            3,
            "loss",
            "FW0205",
            "`m`, `n`",
        ),
    ],
)
def test_what_cannot_be_folded(text: str, folds: int, score: Any, code: str, words: str):
    problem = fw.parse("data X: matrix[n, p], y: vector[n]\nparam mu: positive\n" + text).bind(X=X, y=Y)
    names = {d.name for d in problem.model.data}
    extra = {"Q": np.eye(45), "Z": X[:9], "z": Y[:9]}
    with pytest.raises(fw.RunError) as error:
        problem.bind(**{k: v for k, v in extra.items() if k in names}).path(mu=[1.0, 2.0], folds=folds, score=score)
    assert error.value.code == code and words in error.value.first.message


@pytest.mark.parametrize("given", [{"folds": 2.5}, {"folds": True}, {"folds": 3, "score": "accuracy"}])
def test_options_of_folds(given: dict[str, Any]):
    with pytest.raises(fw.BuildError) as error:
        fw.parse(LASSO.format(reduce="mean")).bind(X=X, y=Y).path(mu=[1.0, 2.0], **given)
    assert error.value.code == "FW0310"


@pytest.mark.parametrize("folds", [None, 3])
def test_an_interruption_while_an_answer_is_verified_ends_the_study(monkeypatch: pytest.MonkeyPatch, folds: int | None):
    """It came too late to change that answer, and was lost: the next point was solved."""
    made: list[int] = []

    def late(*given: Any) -> Any:
        made.append(1)
        if len(made) == 2:
            signal.raise_signal(signal.SIGINT)
        return solution_of(*given)

    # the package's function has the name of its module
    ends = import_module("fwdsl.solve.solve")
    solution_of = ends.solution_of
    monkeypatch.setattr(ends, "solution_of", late)
    found = fw.parse(LOGISTIC).bind(X=X, y=SIGNS).path(mu=[1.0, 0.3, 0.1], folds=folds)
    assert len(made) == 2
    if isinstance(found, CrossValidation):
        assert found.status == "interrupted" and found.best is None
    else:
        assert [s.status for s in found] == ["optimal", "interrupted"]


# --- what is in memory together ---------------------------------------------------------------------------------------


def test_solutions_that_no_later_point_starts_from_are_let_go():
    problem = fw.parse(LOGISTIC).bind(X=X, y=SIGNS)
    had: list[weakref.ref[Any]] = []

    def solve(session: Any, start: Any) -> Any:
        gc.collect()
        assert sum(one() is not None for one in had) <= 1
        solution = session.solve(None, start)
        had.append(weakref.ref(solution))
        return solution

    mus = [1.0, 0.3, 0.1, 0.03]
    session = problem.bind(mu=mus[0])._session
    found = cross_validate(session, ["mu"], [(mu,) for mu in mus], 3, "loss", solve)
    assert len(had) == 13 and np.array_equal(found.by_fold, problem.path(mu=mus, folds=3).by_fold)


def test_rows_of_many_folds_are_not_made_at_once():
    n = 3000
    problem = fw.parse(LASSO.format(reduce="mean")).bind(X=RNG.normal(size=(n, 4)), y=RNG.normal(size=n), mu=1.0)
    samples, instance = samples_of(problem.model), problem.instance
    tracemalloc.start()
    try:
        count, splits = folds_of(samples, instance, n, 0)
        fitted, held = next(splits)
        assert count == n and np.array_equal(np.sort(np.r_[fitted, held]), np.arange(n))
        assert tracemalloc.get_traced_memory()[1] < n * n
    finally:
        tracemalloc.stop()


# --- data that stay on their disk -------------------------------------------------------------------------------------


@pytest.fixture
def on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for caches, and rows that stay on their disk under any limit, a few at a time."""
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    monkeypatch.setattr(row_blocks, "PIECE", 400)
    return tmp_path


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_folds_of_rows_on_a_disk_have_the_bits_of_those_in_memory(on_disk: Path, kind: str):
    rows = sparse.csr_array(X * (X > 2.5))
    np.save(on_disk / "X.npy", X)
    sparse.save_npz(on_disk / "X.npz", rows, compressed=False)
    text = LOGISTIC.replace("X: matrix[n, p]", f'X: matrix[n, p] from {kind}("{on_disk}/X.{kind}")')
    options: dict[str, Any] = {"mu": VALUES, "folds": 4, "method": "apg", "score": "error", "threads": 1}
    expected = fw.parse(LOGISTIC).bind(X=X if kind == "npy" else rows, y=SIGNS).path(**options)
    found = fw.parse(text).bind(y=SIGNS).path(**options, memory="10GB")
    assert found.solution is not None and is_on_disk(found.solution.instance.values["X"])
    assert np.array_equal(found.by_fold, expected.by_fold) and np.array_equal(
        found.training_loss, expected.training_loss
    )
    gc.collect()
    # rows of folds are gone with their folds
    assert not list((on_disk / "cache").glob("*rows-*"))


def test_rows_of_folds_that_the_disk_has_no_room_for(on_disk: Path, monkeypatch: pytest.MonkeyPatch):
    np.save(on_disk / "X.npy", X)
    text = LOGISTIC.replace("X: matrix[n, p]", f'X: matrix[n, p] from npy("{on_disk}/X.npy")')
    monkeypatch.setattr(decoded, "free_space", lambda folder: 1)
    with pytest.raises(fw.RunError) as error:
        fw.parse(text).bind(y=SIGNS).path(mu=VALUES, folds=3, memory="10GB")
    assert error.value.code == "FW4093" and "`X` in a fold" in error.value.first.message
    assert not list((on_disk / "cache").glob("*rows-*"))


def test_folds_that_no_method_takes_have_the_exit_code_of_other_runs(on_disk: Path, capsys: pytest.CaptureFixture[str]):
    np.save(on_disk / "X.npy", X)
    np.save(on_disk / "y.npy", np.where(SIGNS == "yes", 1.0, -1.0))
    text = LOGISTIC.replace("X: matrix[n, p]", f'X: matrix[n, p] from npy("{on_disk}/X.npy")')
    text = text.replace("y: signs[n]", f'y: signs[n] from npy("{on_disk}/y.npy")')
    (on_disk / "fit.fw").write_text(text)
    asked = ["path", str(on_disk / "fit.fw"), "--set", "mu=1,0.1", "--memory", "1MB"]
    assert [main([*asked, *folds]) for folds in ([], ["--folds", "3"])] == [2, 2]
    assert capsys.readouterr().err.count("FW4095") == 2


def test_samples_that_do_not_keep_to_the_limit_are_told_before_a_fold_is_solved(
    on_disk: Path, monkeypatch: pytest.MonkeyPatch
):
    np.save(on_disk / "X.npy", X)
    text = LOGISTIC.replace("X: matrix[n, p]", f'X: matrix[n, p] from npy("{on_disk}/X.npy")')
    rows = np.arange(len(X))
    folds = [(rows[:20], rows[-5:]), (rows[:-5], rows[-5:])]
    needed: list[float] = []
    limit, iterations = 1e18, list[int]()

    def expected(estimate: Any, *_: int) -> float:
        needed.append(estimate.memory)
        return 0.0 if estimate.memory < limit else 1e18

    def count(progress: Any) -> None:
        iterations.append(progress.iteration)

    monkeypatch.setattr(memory, "expected", expected)
    options: dict[str, Any] = {"mu": VALUES, "folds": folds, "method": "apg", "memory": "10GB", "callback": count}
    fw.parse(text).bind(y=SIGNS).path(**options)
    assert iterations and min(needed) < max(needed)
    limit = max(needed)
    iterations.clear()
    with pytest.raises(fw.PlanError) as error:
        fw.parse(text).bind(y=SIGNS).path(**options)
    assert error.value.code == "FW4095" and not iterations


# --- the command line ------------------------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("fit.fw").write_text(LOGISTIC)
    np.savez("train.npz", X=X, y=SIGNS == "yes")


GRID = ["grid", "fit.fw", "--data", "X,y=train.npz", "--set", "mu=1,0.1", "--set", "nu=1,0.1", "--threads", "1"]


def test_the_table_and_the_fit(program: None, capsys: pytest.CaptureFixture[str]):
    assert main([*GRID, "--folds", "3", "--out", "fit.npz"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["mu", "nu", "mean", "standard", "error", "training", "loss"]
    assert sum("best" in line for line in lines) == 1 and any(
        line.startswith("fit to all samples at mu") for line in lines
    )
    assert main(["eval", "fit.fw", "--solution", "fit.npz", "--data", "X,y=train.npz"]) == 0
    assert "error rate of term1" in capsys.readouterr().out


def test_the_json_form_is_that_of_python(program: None, capsys: pytest.CaptureFixture[str]):
    assert main([*GRID, "--folds", "3", "--score", "error", "--seed", "4", "--json"]) == 0
    form: dict[str, Any] = json.loads(capsys.readouterr().out)
    problem = fw.parse(LOGISTIC).bind(X=X, y=SIGNS)
    found = problem.grid({"mu": [1, 0.1], "nu": [1, 0.1]}, folds=3, score="error", seed=4, threads=1)
    assert {k: form[k] for k in found.to_json()} == found.to_json()
    assert form["solution"]["objective"] == pytest.approx(found.solution.objective) and form["seed"] == 4


def test_the_plot(program: None, capsys: pytest.CaptureFixture[str]):
    pytest.importorskip("matplotlib")
    assert main([*GRID, "--folds", "3", "--plot", "folds.svg"]) == 0
    assert "<svg" in Path("folds.svg").read_text()


@pytest.mark.parametrize(("folds", "code"), [("1", "FW0004"), ("46", "FW0206"), ("many", "FW0004")])
def test_numbers_of_folds(program: None, capsys: pytest.CaptureFixture[str], folds: str, code: str):
    assert main([*GRID, "--folds", folds, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["diagnostics"][0]["code"] == code
