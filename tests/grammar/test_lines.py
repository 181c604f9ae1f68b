"""Lines are joined to statements."""

from __future__ import annotations

import pytest

from fwdsl.grammar import parse
from fwdsl.grammar.tree import SubjectTo

ONE = [
    ("let r = f(\n\n  # comment\n  a\n)", "let r = f(a)"),
    ("data A: matrix[n,\n d]", "data A: matrix[n, d]"),
    ("data A: real,\n\n # c\n b: real", "data A: real, b: real"),
    ("let r =\n a", "let r = a"),
    ("var x:\n real", "var x: real"),
    ("data g: index[n] of\n T", "data g: index[n] of T"),
    ('data A: real from\n npy("a")', 'data A: real from npy("a")'),
    ("var x: real in\n nonnegative", "var x: real in nonnegative"),
    *((f"param p: real = a {op}\n # c\n\n b", f"param p: real = a {op} b") for op in "+-*/@"),
    *((f"subject to a {op}\n b", f"subject to a {op} b") for op in ("<=", ">=", "==")),
    ('data A: real\n from npy("a")', 'data A: real from npy("a")'),
    ("var x: real\n in nonnegative", "var x: real in nonnegative"),
    ("data g: index[n]\n of T", "data g: index[n] of T"),
    ("let r = [a\n]", "let r = [a]"),
    *((f"subject to a\n {op} b", f"subject to a {op} b") for op in ("<=", ">=", "==", "in", "∈", "≤")),
    *((f"param p: real = a\n\n {op} b", f"param p: real = a {op} b") for op in "*/@·"),
    *((f"{head} a\n # c\n {op} b", f"{head} a {op} b") for op in "+-" for head in ("minimize", "maximize", "let r =")),
    ("minimize\n\n # c\n a", "minimize a"),
    ("maximize\n -a", "maximize -a"),
    ("subject to\n\n # c\n a <= 1", "subject to a <= 1"),
    ("subject to a <= 1,\n\n b <= 1", "subject to a <= 1, b <= 1"),
    ("subject to a <= 1\n b <= 1", "subject to a <= 1, b <= 1"),
    ("subject to q:\n a <= 1", "subject to q: a <= 1"),
]


@pytest.mark.parametrize(("several", "one"), ONE)
def test_continued(several: str, one: str):
    program, found = parse(several)
    assert found == ()
    assert program == parse(one)[0]
    assert len(program.statements) == 1


def test_in_the_list_a_line_that_starts_with_minus_is_a_new_constraint():
    program, found = parse("subject to\n a <= 1\n -b <= 1\n")
    assert found == ()
    (subject,) = program.statements
    assert isinstance(subject, SubjectTo) and len(subject.constraints) == 2


@pytest.mark.parametrize(
    "head", ["param p: real = a", "data A: real = a", "solve tol = a", "var x: real", "subject to a <= b"]
)
def test_plus_continues_nothing_elsewhere(head: str):
    program, found = parse(f"{head}\n + b")
    assert len(found) == 1
    assert len(program.statements) == 1


@pytest.mark.parametrize("second", ["= 3", ": real", ", y: real", ".T", "(1)"])
def test_other_starts_continue_nothing(second: str):
    assert parse(f"var x: real\n{second}")[1] != ()


def test_a_keyword_ends_the_list_which_may_be_repeated():
    program, found = parse("subject to a <= 1\n b <= 1\nminimize a\nsubject to\n c <= 1\nsolve tol = 1\n")
    assert found == ()
    assert [type(s).__name__ for s in program.statements] == ["SubjectTo", "Objective", "SubjectTo", "Solve"]


@pytest.mark.parametrize(
    "keyword", ["fw 1", "problem p", "data d: real", "let q = 1", "solve tol = 1", "subject to x <= 1"]
)
def test_a_keyword_at_the_start_of_a_line_starts_a_statement_even_in_a_bracket(keyword: str):
    program, found = parse(f"minimize f(a\n{keyword}\n")
    assert [d.code for d in found if d.code != "FW1010"] == ["FW1020"]
    assert len(program.statements) == 1


@pytest.mark.parametrize(
    "name", ["interior", "off", "total", "inform", "subjects", "data1", "of_", "family2", "minimizer", "ſ"]
)
def test_names_that_start_like_keywords_are_names(name: str):
    program, found = parse(f"var {name}: real\nminimize {name}\nsubject to {name} >= 0\n {name} <= 1")
    assert found == ()
    assert len(program.statements) == 3


@pytest.mark.parametrize(
    "name", ["min", "max", "st", "with", "where", "s", "variables", "set", "param1", "time", "sum", "tol"]
)
def test_names_like_a_beginners_keywords_may_name_a_constraint_or_start_one(name: str):
    program, found = parse(
        f"var {name}: real\nminimize {name}\nsubject to\n {name} >= 0\n {name}: {name} <= 1\n {name} + 1 <= 3"
    )
    assert found == ()
    assert len(program.statements) == 3
