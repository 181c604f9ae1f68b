from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fwdsl.lsp.analysis import Analysis
from fwdsl.lsp.naming import Refused, applied, rename

from .cursors import LASSO, MARK, marked


def renamed(text: str, new: str, folder: Path | None = None) -> str:
    analysis, offset = marked(text, folder)
    return applied(analysis.source.text, rename(analysis, offset, new))


@pytest.mark.parametrize("name", ["X", "y", "mu", "w", "b", "n", "p", "fit", "cap"])
def test_every_place_of_a_name_is_renamed_and_nothing_else(name: str) -> None:
    analysis = Analysis(LASSO)
    for word in analysis.occurrences(name):
        edits = rename(analysis, word.token.start, "other")
        assert len(edits) == len(analysis.occurrences(name))
        after = Analysis(applied(LASSO, edits))
        assert after.examined.diagnostics == ()
        assert not after.occurrences(name)


def test_arguments_options_and_texts_are_no_names() -> None:
    text = f"""\
data y: vector[n], x: vector[n]
param tau{MARK}: positive = 0.5
var b: real
minimize mean(quantile(x * b, y, tau=tau))  # tau
solve tol = 1e-6
"""
    after = renamed(text, "level").replace(MARK, "")
    assert "tau=level" in after and "# tau" in after and "param level" in after


@pytest.mark.parametrize(
    ("new", "why"),
    [
        ("fit", "already a `let`"),
        ("n", "already a dimension"),
        ("cap", "already used"),
        ("huber", "a loss of the language"),
        ("simplex", "a set of the language"),
        ("vector", "a type of the language"),
        ("let", "is a keyword"),
        ("2x", "not a name"),
        ("a b", "not a name"),
        ("", "not a name"),
        ("a-b", "not a name"),
        ("x # y", "not a name"),
    ],
)
def test_bad_names_and_clashes_are_refused(new: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        renamed(LASSO.replace("mu:", f"mu{MARK}:"), new)


@pytest.mark.parametrize("place", ["squared", "minimize", "csv", "vector", "target", "0.1", "price"])
def test_only_names_of_the_program_are_renamed(place: str) -> None:
    at = LASSO.index(place) + 1
    with pytest.raises(Refused):
        rename(Analysis(LASSO), at, "other")


def test_composed_and_decomposed_names_are_one() -> None:
    text = "var e\u0301: vector[3]\nminimize norm1(\u00e9)\n"
    analysis = Analysis(text)
    assert applied(text, rename(analysis, 4, "x")) == "var x: vector[3]\nminimize norm1(x)\n"
    assert rename(analysis, 4, "\u00e9") == []


def test_a_program_with_errors_can_be_renamed_in() -> None:
    text = f"data A: matrix[n, d]\nvar x{MARK}: vector[d]\nminimize norm1(x) + \nsubject to x >= 0\n"
    assert renamed(text, "q9").count("q9") == 3


def test_keys_of_files_stay_what_they_are(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", A=np.eye(2))
    (tmp_path / "t.csv").write_text("u,v,kind\n1,2,3\n4,5,6\n")
    one = f'data A{MARK}: matrix[n, d] from npz("a.npz")\nvar x: vector[d]\nminimize norm1(A @ x)\n'
    assert 'data B: matrix[n, d] from npz("a.npz", key="A")' in renamed(one, "B", tmp_path)
    two = one.replace(" from npz", ", c: vector[n] from npz")
    with pytest.raises(Refused, match="read by the names declared"):
        renamed(two, "B", tmp_path)
    table = f'data X: matrix[n, d], kind{MARK}: vector[n] from csv("t.csv")\nvar x: vector[d]\n'
    table += "minimize mean(squared(X @ x, kind))\n"
    assert 'csv("t.csv", target="kind")' in renamed(table, "y", tmp_path)
    assert "target" not in renamed(table.replace(MARK, "").replace("X:", f"X{MARK}:"), "Z", tmp_path)
