"""HTML that notebooks show of problems, plans, solutions, races, paths and errors: the same facts as the text."""

from __future__ import annotations

import pickle
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.diagnostics import render_text
from fwdsl.diagnostics.html_form import WIDTH
from fwdsl.html.markup import _VOID

TEXT = """\
data X: matrix[n, p], y: vector[n]
param mu: nonnegative = 0.1
var w: vector[p], b: real
let fit = mean(squared(X @ w + b, y))
minimize fit + mu * norm1(w)
subject to cap: norm2(w) <= 10
"""


class Balanced(HTMLParser):
    """Fails where tags are not closed in order; keeps the text and the tags."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""
        self.rows = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        self.rows += tag == "tr"
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def shown(value: Any) -> Balanced:
    bundle = value._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"} and bundle["text/html"] == value._repr_html_()
    assert type(bundle["text/html"]) is str  # marimo serialises no kind of text
    found = Balanced()
    found.feed(bundle["text/html"])
    assert not found.open and not found.seen & {"script", "link", "img", "iframe"}
    return found


@pytest.fixture(scope="module")
def problem() -> fw.Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    return fw.parse(TEXT).bind(X=X, y=X @ [1.0, -2.0, 0.0] + 0.1 * rng.standard_normal(40))


@pytest.fixture(scope="module")
def solution(problem: fw.Problem) -> fw.Solution:
    return problem.solve(threads=1)


def test_a_problem_shows_its_program_and_what_is_bound(problem: fw.Problem):
    found = shown(problem)
    assert "minimize fit + mu * norm1(w)" in found.text and "ndarray of shape 40 x 3" in found.text


def test_a_rejected_problem_shows_its_text():
    assert "minimize nonsense(" in shown(fw.parse("minimize nonsense(")).text


def test_a_solution_shows_verdict_grounds_and_values(solution: fw.Solution):
    found = shown(solution)
    for words in (
        "optimal",
        f"{solution.objective:.10g}",
        "known by",
        solution.certificate.statement,
        "fit",
        "2 of 3 entries",
    ):
        assert words in found.text, words
    assert "svg" in found.seen and "not zero" in found.text


def test_of_a_long_variable_the_largest_entries_are_listed():
    solution = fw.parse("var x: vector[100]\nminimize sum_squares(x - 1)").solve(threads=1)
    found = shown(solution)
    assert "100 of 100 entries are not zero; the 12 largest" in found.text and found.rows < 20


def test_a_plan_shows_every_method(problem: fw.Problem):
    plan = problem.plan()
    text = shown(plan).text
    assert plan.method in text and all(c.name in text for c in plan.candidates) and plan.why in text
    assert shown(fw.parse(TEXT).plan()).text.count("With data bound") == 1


def test_paths_grids_and_folds_show_their_tables(problem: fw.Problem):
    path = problem.path(mu=[0.01, 0.1, 1.0], threads=1)
    assert all(f"{s.objective:.8g}" in shown(path).text for s in path)
    folds = problem.path(mu=[0.01, 1.0], folds=3, threads=1)
    text = shown(folds).text
    assert "best" in text and folds.caption in text and repr(folds).endswith(folds.caption)


def test_a_path_of_names_uses_them():
    pandas = pytest.importorskip("pandas")
    X = pandas.DataFrame(np.eye(3), columns=["alpha", "<i>", "gamma"])
    text = "data X: matrix[n, p], y: vector[n]\nparam mu: nonnegative = 0.1\nvar w: vector[p]\nminimize sum_squares(X @ w - y) + mu * norm1(w)"
    problem = fw.parse(text).bind(X=X, y=[3.0, 2.0, 1.0])
    found = shown(problem.path(mu=[0.1, 1.0], threads=1))
    assert "w[alpha]" in found.text and "w[<i>]" in found.text and "i" not in found.seen
    assert "gamma" in shown(problem.solve(threads=1)).text


def test_a_race_shows_methods_and_reasons(problem: fw.Problem):
    race = problem.race(["pdhg", "lowrank"], tol=0.1, threads=1)
    found = shown(race)
    assert (
        "pdhg" in found.text and race["lowrank"].reason in found.text and "1 method that does not apply" in found.text
    )


def test_endings_without_an_answer_are_shown():
    infeasible = fw.parse("var x: vector[2]\nminimize sum(x)\nsubject to\n    sum(x) == 1\n    x >= 2").solve(threads=1)
    assert infeasible.status == "infeasible" and "no point meets the constraints" in shown(infeasible).text
    stopped = fw.parse("var x: vector[2]\nminimize norm1(x - 1) + norm2(x)").solve(max_iter=0, threads=1)
    assert "tolerance not reached (the limit of 0 iterations)" in shown(stopped).text


def test_errors_show_carets_under_the_same_columns():
    with pytest.raises(fw.RejectedError) as caught:
        fw.parse("var x: vector[k]\nminimize norm(<script>)").solve()
    error = caught.value
    found = shown(error)
    assert render_text(error.diagnostics, width=WIDTH).rstrip() in found.text and "^" in found.text
    assert error._repr_mimebundle_()["text/plain"] == str(error)
    assert str(pickle.loads(pickle.dumps(error))) == str(error)  # noqa: S301


def test_ipython_prints_an_error_without_a_traceback(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NO_COLOR", "1")
    with pytest.raises(fw.RejectedError) as caught:
        fw.parse("var x: real\nminimize norm(x)").solve()
    head, *lines = caught.value._render_traceback_()
    assert head.startswith("RejectedError at ") and __file__ in head and "fw.parse" in head
    assert "\n".join(lines) == str(caught.value)
