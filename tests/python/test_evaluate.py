"""`sol.evaluate`, `sol.error_rates` and `prob.path`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.bind import bind_python
from fwdsl.results.evaluation import evaluate, fit_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4)) + 3.0
Y = np.where((X - 3) @ [1, -2, 0, 0] + 0.3 * RNG.normal(size=60) > 0, "yes", "no")
NEW = RNG.normal(size=(7, 4)) + 3.0
TEXT = """
data X: matrix[n, p], y: signs[n]
param mu: positive = 1/n
var w: vector[p], b: real
let z = X @ w + b
let fit = mean(logistic(z, y))
let both = fit + norm1(w)
let share = 10/n
minimize 2 * fit + mu * norm1(w)
"""


@pytest.fixture(scope="module")
def solution() -> fw.Solution:
    return fw.parse(TEXT).bind(X=X, y=Y).solve(threads=1)


def test_on_the_data_of_the_fit(solution: fw.Solution):
    assert solution.evaluate("objective") == pytest.approx(solution.objective, rel=1e-12)
    assert 2 * solution.evaluate("fit") == pytest.approx(solution.terms["fit"])
    assert solution.evaluate("both") == pytest.approx(solution.evaluate("fit") + np.abs(solution["w"]).sum())
    assert solution.evaluate("term2") == pytest.approx(np.abs(solution["w"]).sum() / 60)
    np.testing.assert_allclose(solution.evaluate("z"), X @ solution["w"] + solution["b"])


def test_on_new_data(solution: fw.Solution):
    z = NEW @ solution["w"] + solution["b"]
    np.testing.assert_allclose(solution.evaluate("z", X=NEW), z)
    labels = ["yes"] * 7
    assert solution.evaluate("fit", X=NEW, y=labels) == pytest.approx(np.mean(np.log1p(np.exp(-z))))
    assert solution.error_rates(X=NEW, y=labels) == {"fit": pytest.approx(np.mean(z <= 0))}
    assert solution.evaluate("share", X=NEW) == pytest.approx(10 / 7)
    assert solution.evaluate("term2", mu=3.0) == pytest.approx(3 * np.abs(solution["w"]).sum())


@pytest.mark.parametrize(
    ("name", "values", "code", "words"),
    [
        ("fi", {}, "FW0204", "did you mean `fit`?"),
        ("fit", {"X": NEW}, "FW4522", "give `y` too"),
        ("fit", {"X": NEW, "y": ["maybe"] * 7}, "FW4520", "the fit knows `no`, `yes`"),
        ("z", {"X": NEW[:, :2]}, "FW4506", ""),
        ("z", {"XX": NEW}, "FW4500", ""),
        ("term2", {"mu": -1.0}, "FW4511", ""),
    ],
)
def test_what_does_not_fit(solution: fw.Solution, name: str, values: dict[str, Any], code: str, words: str):
    with pytest.raises(fw.FwError) as error:
        solution.evaluate(name, **values)
    assert error.value.code == code and words in error.value.hint


def test_a_regression_has_no_error_rate():
    problem = fw.parse("data X: matrix[n, p], t: vector[n]\nvar w: vector[p]\nminimize mean(squared(X @ w, t))")
    assert problem.bind(X=X, t=X[:, 0]).solve(threads=1).error_rates() == {}


def test_feature_maps_keep_the_statistics_of_the_fit():
    instance = (
        fw.parse("""
    data X: matrix[n, p], y: signs[n]
    let S = standardize(X)
    let R = random_binning(X, grids=5, gamma=0.5)
    var w: vector[p], r: vector[dim(R)]
    let z = S @ w
    let q = R @ r
    minimize mean(logistic(z + q, y)) + sum_squares(w)
    """)
        .bind(X=X, y=Y)
        .instance
    )
    w, r = np.arange(4.0), np.ones(instance.dims["dim(R)"])
    fit = fit_of(instance, {"w": w, "r": r})
    values = evaluate(fit, ["z", "q"], bind_python(X=NEW), Path()).values
    np.testing.assert_allclose(values["z"], (NEW - X.mean(axis=0)) / X.std(axis=0) @ w)
    assert values["q"].shape == (7,) and np.all(values["q"] <= np.sqrt(5) + 1e-12)


def test_multiclass_error_rates_are_of_the_largest_score():
    problem = fw.parse("""
    data X: matrix[n, p], y: labels[n, k]
    var W: matrix[p, k]
    minimize mean(softmax(X @ W, y)) + sum_squares(W)
    """).bind(X=X, y=np.array(["a", "b", "c"])[np.arange(60) % 3])
    W = RNG.normal(size=(4, 3))
    fit = fit_of(problem.instance, {"W": W})
    y = ["c", "a", "a", "a", "c", "b", "b"]
    expected = np.mean(np.array(["a", "b", "c"])[np.argmax(NEW @ W, axis=1)] != y)
    assert evaluate(fit, ["term1"], bind_python(X=NEW, y=y), Path()).error_rates == {"term1": pytest.approx(expected)}


def test_ids_of_new_entries_are_those_of_the_fit():
    problem = fw.parse(
        "data M: entries[n, p]\nvar B: matrix[n, p]\nlet z = B[M]\nminimize sum(squared(z, M)) + norm_fro(B)"
    )
    old = (["ann", "bob", "cy"], ["x", "y", "x"], [1.0, 2.0, 3.0])
    B = np.arange(6.0).reshape(3, 2)
    fit = fit_of(problem.bind(M=old).instance, {"B": B})
    new = (["cy", "ann"], ["y", "y"], [0.0, 0.0])
    assert evaluate(fit, ["z"], bind_python(M=new), Path()).values["z"].tolist() == [5.0, 1.0]
    with pytest.raises(fw.DataError, match="none of the fit's"):
        evaluate(fit, ["z"], bind_python(M=(["zoe"], ["y"], [0.0])), Path())


def test_entries_of_an_instance_have_ids(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("10,300,1\n20,100,2\n20,300,3\n30,200,1.5\n")
    (tmp_path / "b.csv").write_text("20,300,1\n30,200,2\n20,100,7\n")
    text = "data M: entries[n, p] from coo({})\nvar B: matrix[n, p]\nlet fit = mean(squared(B[M], M))\nminimize fit + 0.1 * sum_squares(B)"
    first, second = (fw.parse(text.format(f'"{tmp_path / name}.csv"')) for name in "ab")
    solution = first.solve()
    own, other = first.instance.values["M"], second.instance.values["M"]
    assert solution.evaluate("fit", M=own) == solution.evaluate("fit")
    # of the second file's rows and columns there are fewer, so that their positions differ
    triplets = (np.array([20, 30, 20]), np.array([300, 200, 100]), np.array([1.0, 2.0, 7.0]))
    assert solution.evaluate("fit", M=other) == solution.evaluate("fit", M=triplets)
    for position in (-1, 3):
        with pytest.raises(fw.DataError, match=f"the position {position} and 3 ids"):
            solution.evaluate("fit", M=replace(own, rows=np.full_like(own.rows, position)))


def test_entries_that_the_fit_has_not_seen_are_left_out_and_counted():
    problem = fw.parse(
        "data M: entries[n, p]\nvar B: matrix[n, p]\nlet fit = mean(squared(B[M], M))\nminimize fit + 0.01*sum_squares(B)"
    )
    solution = problem.bind(M=(["ann", "bob", "cy"], ["x", "y", "x"], [1.0, 2.0, 3.0])).solve()
    seen = (["cy", "ann"], ["y", "y"], [4.0, 5.0])
    more = (["cy", "zoe", "ann", "zoe", "bob"], ["y", "x", "y", "q", "r"], [4.0, np.nan, 5.0, 6.0, 7.0])
    with pytest.warns(UserWarning, match="3 of the 5 entries of `M` are left out") as caught:
        found = solution.evaluate("fit", M=more)
    assert "1 row and 2 columns" in str(caught[0].message) and caught[0].filename == __file__
    assert found == pytest.approx(solution.evaluate("fit", M=seen))
    with pytest.raises(fw.DataError) as error:
        solution.evaluate("fit", M=(["zoe", "ann"], ["x", "q"], [1.0, 2.0]))
    assert error.value.code == "FW4519"


@pytest.mark.parametrize("phi", ["rbf(X, gamma=0.3)", "polynomial(standardize(X), degree=2)", "linear(normalize(X))"])
def test_a_fit_in_the_space_of_an_implicit_map(phi: str):
    text = (
        f"data X: matrix[n, p], y: signs[n]\nlet Phi = {phi}\nvar f: vector[dim(Phi)]\nlet z = Phi @ f\n"
        "let fit = mean(logistic(z, y))\nlet size = 0.01*sum_squares(f)\nminimize fit + size"
    )
    solution = fw.parse(text).bind(X=X, y=Y).solve(tol=1e-9)
    # the norm is that of the function, not that of its expansion coefficients, at the fit and on new data
    assert solution.terms["fit"] + solution.terms["size"] == pytest.approx(solution.objective, rel=1e-12)
    assert solution.evaluate("fit") == pytest.approx(solution.terms["fit"], rel=1e-12)
    assert solution.evaluate("objective") == pytest.approx(solution.objective, rel=1e-10)
    assert solution.evaluate("size", X=NEW) == pytest.approx(solution.terms["size"], rel=1e-9)
    z = solution.evaluate("z", X=np.vstack([NEW, X]))
    assert z.shape == (len(NEW) + len(X),)
    np.testing.assert_allclose(z[len(NEW) :], solution.evaluate("z"), rtol=1e-9, atol=1e-12)
    both = solution.evaluate("fit", X=NEW, y=["yes", "no"] * 3 + ["yes"])
    assert both == pytest.approx(np.mean(np.log1p(np.exp(-np.array([1, -1] * 3 + [1]) * z[: len(NEW)]))))


def test_a_problem_built_from_arrays_takes_other_numbers_of_samples():
    y = np.where(Y == "yes", 1.0, -1.0)
    w = fw.vector(4, name="w")
    data = fw.data("X", X)
    z = fw.let("z", fw.standardize(data) @ w)
    problem = fw.minimize(fw.let("fit", fw.mean(fw.logistic(z, fw.data("y", y)))) + 0.1 * fw.norm1(w))
    values = {"w": np.array([1.0, -2.0, 0.0, 0.5])}
    fit = fit_of(problem.instance, values)
    expected = (NEW - X.mean(axis=0)) / X.std(axis=0) @ values["w"]
    labels = np.array([1.0, 1, 1, -1, -1, 1, 1])
    found = evaluate(fit, ["z", "fit"], bind_python(X=NEW, y=labels), Path()).values
    np.testing.assert_allclose(found["z"], expected)
    assert found["fit"] == pytest.approx(np.mean(np.log1p(np.exp(-labels * expected))))
    with pytest.raises(fw.DataError) as error:
        evaluate(fit, ["fit"], bind_python(X=NEW), Path())
    assert error.value.code == "FW4522"


# --- paths -----------------------------------------------------------------------------------------------------------


def test_a_path_has_a_solution_for_each_value():
    problem = fw.parse(TEXT).bind(X=X, y=Y)
    path = problem.path(mu=np.geomspace(0.5, 0.005, 4), tol=1e-8, threads=1)
    assert (
        len(path) == 4
        and path.parameter == "mu"
        and path.values == pytest.approx((0.5, 0.107722, 0.023208, 0.005), rel=1e-4)
    )
    assert all(s.status == "optimal" and s.relative_gap <= 1e-8 for s in path)
    assert [np.count_nonzero(s["w"]) for s in path] == sorted(np.count_nonzero(s["w"]) for s in path)
    assert path[0].start == "zero" and path[1].start.startswith("a solution by")
    assert path[3].objective == pytest.approx(problem.bind(mu=path.values[3]).solve(tol=1e-8).objective, abs=1e-7)
    lines = repr(path).splitlines()
    assert lines[0].startswith("mu ") and len(lines) == 5 and lines[1].startswith("0.5 ")


def test_an_interrupted_path_keeps_what_it_has():
    problem = fw.parse(TEXT).bind(X=X, y=Y)
    calls: list[float] = []

    def callback(progress: Any) -> bool:
        if progress.iteration == 0:
            calls.append(progress.objective)
        return len(calls) < 2

    path = problem.path(mu=[0.1, 0.01, 0.001], callback=callback)
    assert path[len(path) - 1].status == "interrupted" and len(path) < 3 and len(path.values) == len(path)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "mu=[0.1, 1, 10]"),
        ({"mus": [1, 2]}, "did you mean mu=?"),
        ({"mu": 3.0}, "write mu="),
        ({"mu": []}, "write mu="),
        ({"mu": "123"}, "write mu="),
    ],
)
def test_a_path_needs_the_values_of_one_parameter(given: dict[str, Any], words: str):
    with pytest.raises(fw.BuildError) as error:
        fw.parse(TEXT).bind(X=X, y=Y).path(**given)
    assert error.value.code == "FW0313" and words in error.value.hint


def test_a_value_that_does_not_fit_is_found_before_any_solve():
    seen: list[Any] = []
    with pytest.raises(fw.DataError) as error:
        fw.parse(TEXT).bind(X=X, y=Y).path(mu=[1.0, -1.0], callback=lambda p: seen.append(p))
    assert error.value.code == "FW4511" and seen == []


def test_the_plot_of_a_path(tmp_path: Path):
    pytest.importorskip("matplotlib")
    fw.parse(TEXT).bind(X=X, y=Y).path(mu=[0.1, 0.01]).plot(str(tmp_path / "p.svg"))
    assert "<svg" in (tmp_path / "p.svg").read_text()


def test_values_beyond_the_largest_number_are_infinite():
    A, b = np.array([[1.0], [2.0]]), np.array([1.0, 2.0])
    text = "data A: matrix[m, n], b: vector[m]\nvar x: vector[n]\nminimize sum_squares(A @ x - b)"
    solution = fw.parse(text).bind(A=A, b=b).solve(threads=1)
    assert solution.evaluate("objective", A=1e200 * A) == np.inf
