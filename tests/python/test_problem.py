"""Problems: loading, binding, checking, planning, errors, printing."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.check.settings import resolve_options

LASSO = """\
data X: matrix[n, p], b: vector[n]
param mu: positive = 0.1
var x: vector[p]
minimize mean(squared(X @ x, b)) + mu * norm1(x)
solve tol = 1e-4
"""
RNG = np.random.default_rng(5)
X = RNG.standard_normal((12, 3))
B = RNG.standard_normal(12)


def test_load_takes_paths_from_the_folder_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "b.npy", B)
    text = LASSO.replace("], b", '] from npy("X.npy"), b').replace("vector[n]\n", 'vector[n] from npy("b.npy")\n')
    (tmp_path / "lasso.fw").write_text(text, encoding="utf-8")
    monkeypatch.chdir("/")
    problem = fw.load(tmp_path / "lasso.fw")
    assert problem.instance.dims["p"] == 3
    assert isinstance(problem.instance.values["X"], np.memmap)


def test_load_of_no_file(tmp_path: Path):
    with pytest.raises(fw.RunError) as caught:
        fw.load(tmp_path / "none.fw")
    assert caught.value.code == "FW0010"


def test_load_takes_a_dash_for_the_name_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"no program")))
    with pytest.raises(fw.RunError) as caught:
        fw.load("-")
    assert caught.value.code == "FW0010"
    Path("-").write_text(LASSO)
    assert fw.load("-").to_fw() == fw.parse(LASSO).to_fw()


def test_check_reports_and_use_raises():
    problem = fw.parse("var x: vector[3]\nminimize norm(x)\nsubject to norm1(y) <= 1")
    codes = [d.code for d in problem.check()]
    assert len(codes) == 2 and all(code.startswith("FW2") for code in codes)
    for use in (lambda: problem.model, problem.solve, problem.plan, lambda: problem.bind(x=3)):
        with pytest.raises(fw.RejectedError) as caught:
            use()
        assert [d.code for d in caught.value.diagnostics] == codes
        assert caught.value.hint or caught.value.first.rule


def test_check_of_data():
    problem = fw.parse(LASSO).bind(X=X, b=B[:5], mu=-1)
    assert [d for d in problem.check() if d.severity == "error"] == []
    assert sorted({d.code for d in problem.check(data=True)}) == ["FW4506", "FW4511"]
    with pytest.raises(fw.DataError) as caught:
        problem.solve()
    assert len(caught.value.diagnostics) == 2


def test_missing_and_unknown_names():
    with pytest.raises(fw.DataError) as caught:
        fw.parse(LASSO).bind(X=X, c=B).solve()
    assert "`b`" in str(caught.value) and "`c`" in str(caught.value)


def test_bind_makes_a_new_problem():
    first = fw.parse(LASSO)
    bound = first.bind(X=X, b=B)
    assert bound is not first
    assert bound.instance.values["mu"] == 0.1
    assert bound.bind(mu=2).instance.values["mu"] == 2.0
    with pytest.raises(fw.DataError):
        _ = first.instance


def test_another_parameter_compiles_and_binds_nothing_again(monkeypatch: pytest.MonkeyPatch):
    problem = fw.parse(LASSO).bind(X=X, b=B)
    before = problem.instance

    def refuse(*args: object, **keywords: object) -> None:
        raise AssertionError("called again")

    monkeypatch.setattr("fwdsl.check.compile_text", refuse)
    monkeypatch.setattr("fwdsl.bind.bind", refuse)
    again = problem.bind(mu=0.5).bind(mu=0.7)
    assert again.instance.values["mu"] == 0.7
    assert again.model is problem.model
    assert again.instance.values["X"] is before.values["X"]
    with pytest.raises(fw.DataError) as caught:
        _ = problem.bind(mu=0.0).instance
    assert caught.value.code == "FW4511"
    with pytest.raises(AssertionError):
        _ = problem.bind(b=-B).instance


def test_dimensions_are_bound_by_name():
    problem = fw.parse("var x: vector[k]\nminimize sum_squares(x - 1)").bind(k=4)
    assert problem.instance.dims["k"] == 4


def test_plan_without_data_and_with():
    problem = fw.parse(LASSO)
    assert not problem.plan().bound
    assert problem.bind(X=X, b=B).plan().bound
    with pytest.raises(fw.PlanError):
        problem.plan(method="simplexx")


def test_the_programs_options_are_defaults():
    model = fw.parse(LASSO + "solve method = pdhg(restart=false), time = 5 min").model
    own = resolve_options(model)
    assert (own.tol, own.method, dict(own.method_options), own.time) == (1e-4, "pdhg", {"restart": False}, 300.0)
    given = resolve_options(model, tol=1e-8, method="apg", newton=True)
    assert (given.tol, given.method, dict(given.method_options)) == (1e-8, "apg", {"newton": True})


@pytest.mark.parametrize(
    "options",
    [
        {"tol": 0},
        {"tol": "1e-6"},
        {"tol": float("nan")},
        {"gap": "both"},
        {"method": 3},
        {"max_iter": 1.5},
        {"max_iter": -1},
        {"seed": True},
        {"time": -1},
        {"tolerance": 1e-6},
    ],
    ids=str,
)
def test_options_that_cannot_be(options: dict[str, object]):
    with pytest.raises(fw.BuildError) as caught:
        fw.parse(LASSO).bind(X=X, b=B).solve(**options)
    assert caught.value.code == "FW0310"


def test_did_you_mean_an_option():
    with pytest.raises(fw.BuildError) as caught:
        fw.parse(LASSO).plan(tolerance=1e-8)
    assert caught.value.hint == "did you mean tol=?"


def test_to_fw_is_formatted_and_keeps_comments():
    text = fw.parse("# a lasso\nvar x:vector[ 3 ]\nminimize   sum_squares( x-1 ) # fit").to_fw()
    assert text == "fw 1\n\n# a lasso\nvar x: vector[3]\nminimize sum_squares(x - 1)  # fit\n"


def test_repr_shows_the_program_and_what_is_bound():
    problem = fw.parse(LASSO)
    assert repr(problem) == problem.to_fw().rstrip("\n")
    shown = repr(problem.bind(X=X, mu=3)).splitlines()
    assert shown[-2:] == ["# bound: X = ndarray of shape 12 x 3, float64", "# bound: mu = 3"]
    assert "minimize" in repr(fw.parse("minimize (")) and "(" in repr(fw.parse("minimize ("))


def test_a_text_and_a_path_are_told_apart():
    with pytest.raises(fw.RunError, match=r"write `fw.parse\(text\)`") as error:
        fw.load("var x: real\nminimize sum_squares(x - 1)\n")
    assert error.value.code == "FW0010"
    for given in (3, Path("fit.fw"), None):
        with pytest.raises(fw.BuildError, match=r"`fw.load\(path\)`") as misused:
            fw.parse(given)
        assert misused.value.code == "FW0309"
