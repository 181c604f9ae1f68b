"""Hovers, hints, outlines and colours, without a server."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from fwdsl.lsp.analysis import Analysis
from fwdsl.lsp.hover import hover
from fwdsl.lsp.outline import TOKEN_TYPES, colours, hints, symbols
from fwdsl.lsp.roles import Role
from fwdsl.lsp.wordbook import about_word
from fwdsl.words import FEATURE_MAPS, LOSSES, SETS, SOLVE_OPTIONS, SOURCES, TYPES, function_names
from fwdsl.words.keywords import KEYWORDS

from .cursors import LASSO, MARK, line

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.fw"))


def told(text: str) -> str:
    analysis, offset = line(text)
    found = hover(analysis, offset)
    return "" if found is None else found[0]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            f"minimize mean({MARK}huber(X @ w, y, delta=2))",
            ["a loss of predictions and numbers", "vector[n]", "convex", "r^2/2"],
        ),
        (f"minimize mean(huber(X {MARK}@ w, y))", ["X @ w: vector[n]", "affine", "`w`"]),
        (f"minimize mean(huber(X @ w, y, {MARK}delta=2))", ["an argument of `huber`", "a positive number"]),
        (f"maximize {MARK}-norm1(w)", ["concave", "coefficient `-1` is negative"]),
        (f"minimize fit {MARK}- mu * norm1(w)", ["curvature: unknown"]),
        (f"minimize {MARK}mu * norm1(w)", ["param mu: nonnegative", "sign: nonnegative"]),
        (f"minimize {MARK}fit", ["let fit: real", "convex", "`squared` is a loss"]),
        (f"minimize fit\nsubject to w in {MARK}l1_ball(3)", ["a set of vectors and matrices"]),
        (f"{MARK}minimize fit", ["The objective", "`fit` is convex"]),
        (f"minimize fit\nsubject to {MARK}cap: w <= 5", ["a constraint", "convex set"]),
        (f"minimize fit\nsolve {MARK}tol = 1e-3", ["an option", "1e-06 unless given"]),
        (f"minimize fit\nsolve method = {MARK}pdhg", ["a method", "restart"]),
        (f"minimize fit\nsolve method = pdhg({MARK}restart=true)", ["an option of `pdhg`"]),
        (f"data Z: {MARK}signs[n]\nminimize fit", ["labels of exactly two values"]),
        (f"minimize norm1({MARK}diff(w, 2))", ["differences of neighbours", "vector[p-2]", "affine"]),
        (f"minimize norm1({MARK}hstack(w, 1, w))", ["vector[2*p+1]", "affine"]),
        (f"minimize fit + {MARK}log(2) * norm1(w)", ["log(2): real", "positive", "constant"]),
        (f"param r: real in box(0, 1)\nminimize fit + (1 {MARK}- r) * norm1(w)", ["sign: nonnegative"]),
        (f"data J: index[m] of p\nminimize norm1(w[{MARK}J])", ["index[m] of p"]),
        (f"data Z: vector[{MARK}n]\nminimize fit + n * b", ["a dimension", "rows of X"]),
    ],
)
def test_what_is_told_of_a_place(text: str, parts: list[str]) -> None:
    found = told(text)
    assert [part for part in parts if part not in found] == []


def test_a_broken_program_still_tells_names() -> None:
    assert "data X: matrix[n, p]" in told(f"minimize mean(huber({MARK}X @ w, y)\nsubject to ??")
    assert "X @ w: vector[n]" in told(f"let z = X {MARK}@ w\nminimize fit + nothing(")


def test_every_word_has_a_text_of_its_own() -> None:
    roles = [
        (KEYWORDS, Role.KEYWORD),
        (TYPES, Role.TYPE),
        (SOURCES, Role.SOURCE),
        (SOLVE_OPTIONS, Role.OPTION),
        (SETS, Role.SET),
        (function_names(), Role.FUNCTION),
    ]
    assert [name for names, role in roles for name in names if not about_word(name, role)] == []
    assert "a feature map" in about_word(next(iter(FEATURE_MAPS)), Role.FUNCTION)
    assert all(LOSSES[name].formula in about_word(name, Role.FUNCTION) for name in LOSSES)


def test_every_place_of_every_example_has_an_answer() -> None:
    for path in EXAMPLES[::4]:
        analysis = Analysis(path.read_text(encoding="utf-8"))
        for offset in range(len(analysis.source.text) + 1):
            hover(analysis, offset)


def test_hints_are_the_types_of_lets_and_predictions() -> None:
    text = LASSO.replace("let fit", "let score = X @ w + b\nlet fit")
    found = hints(Analysis(text), 0, len(text))
    assert [f"{text[:at]}{kind}{text[at:]}".splitlines()[text[:at].count("\n")] for at, kind in found] == [
        "let score: vector[n] = X @ w + b",
        "let fit: real = mean(squared(X @ w + b, y))",
        "let fit = mean(squared(vector[n]: X @ w + b, y))",
    ]
    assert hints(Analysis(text), 0, 10) == []


def test_the_outline_has_every_name_and_constraint() -> None:
    found = symbols(Analysis(LASSO + "solve tol = 1e-3\n"))
    names = ["X", "y", "mu", "w", "b", "fit", "minimize", "subject to", "solve"]
    assert [s.name for s in found] == names
    assert [c.name for c in found[-2].children] == ["cap"]


@pytest.mark.parametrize("path", EXAMPLES[::5], ids=lambda path: path.stem)
def test_colours_cover_the_words_in_order(path: Path) -> None:
    analysis = Analysis(path.read_text(encoding="utf-8"))
    found = colours(analysis)
    assert all(kind in TOKEN_TYPES for _, kind, _ in found)
    assert all(a[0].end <= b[0].start for a, b in pairwise(found))
    words = {analysis.source.slice(span): kind for span, kind, _ in found}
    assert words["minimize" if "minimize" in words else "maximize"] == "keyword"


def test_a_method_that_is_none_is_told_while_it_is_written() -> None:
    text = "var x: vector[3]\nminimize norm1(x - 1)\n"
    assert Analysis(text + "solve method = interior, tol = 1e-8\n").diagnostics == ()
    (found,) = Analysis(text + "solve method = interiorr\n").diagnostics
    assert found.code == "FW5002" and found.hint == "did you mean `interior`?"


def test_an_option_that_a_method_does_not_have_is_told_at_its_place() -> None:
    text = "var x: vector[3]\nminimize norm1(x - 1)\nsolve method = coordinate_descent({})\n"
    assert Analysis(text.format('inner="gram"')).diagnostics == ()
    (found,) = Analysis(text.format('inner="foo"')).diagnostics
    assert found.code == "FW5004" and '`"residual"` or `"gram"`' in found.message and found.hint == "write inner=auto"
    assert found.source is not None and found.span is not None and found.source.slice(found.span) == 'inner="foo"'
