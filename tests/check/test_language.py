"""The programs of the language's description, the examples, and the catalogue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fwdsl.diagnostics.catalogue import all_entries
from fwdsl.grammar import parse

from .helpers import accepted, codes, examine

OURS = [code for code in all_entries() if code.startswith(("FW2", "FW3"))]

SPARSE_LOGISTIC = """\
fw 1                                     # language version (optional; the formatter adds it)
problem sparse_logistic                  # optional name

data  X: matrix[n, p], y: signs[n] from libsvm("data/a9a.svm.gz")
param delta: positive = 5
var   beta: vector[p]                    # or: var beta: vector[p] in l1_ball(delta)

minimize   mean(logistic(X @ beta, y))
subject to norm1(beta) <= delta

solve tol = 1e-6
"""
KERNEL_SVM = """\
data X: matrix[n, p], y: labels[n, k] from libsvm("dna.svm.gz")
param C: positive = 0.1
let Phi = rbf(X, gamma=0.5)
var W: matrix[dim(Phi), k]
minimize C * sum(multiclass_hinge(Phi @ W, y)) + 1/2 * sum_squares(W)
"""
DATA = [
    "data A: matrix[n, d], b: vector[n]",
    'data A: matrix[n, d] from npy("A.npy")',
    'data X: matrix[n, p], y: labels[n] from libsvm("dna.svm.gz", features=180)',
    'data X: matrix[n, p], y: vector[n] from csv("housing.csv", target="price")',
    'data M: entries[n, p] from coo("ratings.csv")',
    "data A: matrix[2, 2] = [[1, 0], [0, 2]]",
    "data A: matrix[n, d]\nparam mu: nonnegative = 10/n",
    "param delta: positive",
]


def test_the_first_program():
    model = accepted(SPARSE_LOGISTIC)
    (constraint,) = model.constraints
    assert (model.name, model.options, model.dims) == ("sparse_logistic", (("tol", 1e-6),), ("n", "p"))
    assert constraint.set is not None and constraint.set.name == "l1_ball"
    (term,) = model.terms
    assert (term.atom, term.reduce, term.argument.op) == ("logistic", "mean", "matmul")


def test_the_kernel_machine():
    loss, ridge = accepted(KERNEL_SVM).terms
    assert (loss.atom, loss.coefficient.name, ridge.atom, ridge.coefficient.value) == (
        "multiclass_hinge",
        "C",
        "sum_squares",
        0.5,
    )


@pytest.mark.parametrize("text", DATA)
def test_declarations_of_the_description(text: str):
    assert codes(f"{text}\nvar x0: real\nminimize sum_squares(x0)\n") == []


def test_the_examples_of_the_repository(root: Path):
    programs = sorted((root / "examples").glob("*.fw"))
    assert programs
    for path in programs:
        model, found = examine(path.read_text(encoding="utf-8"))
        assert model is not None and found == ()


@pytest.mark.parametrize("code", OURS)
def test_a_bad_program_gives_its_code_and_a_good_one_nothing(code: str):
    entry = all_entries()[code]
    assert {d.code for d in examine(entry.bad)[1]} == {code}
    model, found = examine(entry.good)
    assert model is not None and found == ()


@pytest.mark.parametrize("code", OURS)
def test_messages_are_sentences_in_lower_case_without_a_stop(code: str):
    for d in examine(all_entries()[code].bad)[1]:
        assert d.span is not None and d.source is not None
        for sentence in (d.message, d.hint):
            assert not sentence.endswith(".") or sentence.endswith("..."), sentence
            assert not re.match(r"[A-Z][a-z]", sentence), sentence
        assert d.rule.endswith("."), d.rule


def test_equal_models_of_equal_programs():
    spaced = SPARSE_LOGISTIC.replace("X @ beta", "( X@beta )").replace("# optional name", "")
    assert accepted(spaced) == accepted(SPARSE_LOGISTIC)
    assert accepted(SPARSE_LOGISTIC.replace("= 5", "= 6")) != accepted(SPARSE_LOGISTIC)


def test_the_tree_is_kept_with_the_model():
    program, _ = parse(SPARSE_LOGISTIC)
    assert accepted(SPARSE_LOGISTIC).program == program
