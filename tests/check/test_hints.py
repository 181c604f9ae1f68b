"""What a user writes at first, and what is said to write instead."""

from __future__ import annotations

import pytest

from fwdsl.pipeline import compile_text

from .helpers import examine, only

DECLARED = "data A: matrix[n, d], b: vector[n], y: signs[n]\nparam mu: nonnegative = 1\nvar x: vector[d]\n"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("minimize sum(abs(A @ x - b))", "FW2006", "`absolute(z, b)`"),
        ("minimize sum(max(0, A @ x))", "FW2006", "`hinge(z, y)`"),
        ("minimize sum(log(A @ x))", "FW2006", "`logistic(z, y)`"),
        ("minimize sum(exp(A @ x))", "FW2006", "`poisson(z, c)`"),
        ("minimize sum(relu(A @ x))", "FW2006", "`hinge(z, y)`"),
        ("minimize l2_norm(x)", "FW2006", "did you mean `norm2`?"),
        ("minimize mse(A @ x, b)", "FW2006", "did you mean `squared`?"),
        ("minimize norm1(transpose(A) @ b)", "FW2006", "`A.T`"),
        ("minimize mu(norm1(x))", "FW2005", "write `mu * (...)`"),
        ("minimize sum_squares(A * x - b)", "FW2034", "write `A @ x` for the matrix product, `A @ diag(x)`"),
        ("minimize sum_squares(b * A)", "FW2034", "write `b @ A` for the matrix product, `diag(b) @ A`"),
        ("minimize sum_squares(A / b @ x)", "FW2034", "write `diag(1 / b) @ A`"),
        ("minimize quad_form(x, A.T @ A)", "FW3017", "write `sum_squares(A @ x)`"),
        ("minimize mean(hinge(y * (A @ x), 1))", "FW2047", "`ones(n)`"),
        ("minimize norm1(x)\nsubject to x in R_plus", "FW2008", "did you mean `nonnegative`?"),
        ("minimize norm1(x)\nsubject to x in norm1(3)", "FW2008", "did you mean `l1_ball`?"),
        ('minimize norm1(x)\nsolve method = "apg"', "FW2014", "write `apg`"),
        ("minimize norm1(x)\nsolve gap = abs", "FW2014", "write `absolute`"),
    ],
)
def test_what_to_write_instead(text: str, code: str, said: str):
    found = only(DECLARED + text + "\n")
    assert found.code == code and said in found.hint


def test_a_function_that_means_something_else_is_no_fix():
    assert only(DECLARED + "minimize sum(max(0, A @ x))\n").fix is None


def test_a_source_behind_an_equals_sign():
    (found,) = examine('data A: matrix[n, d] = csv("a.csv")\nvar x: vector[d]\nminimize sum_squares(A @ x)\n')[1]
    assert (found.code, found.hint) == ("FW2005", 'write `from csv("a.csv")`')


def test_rows_of_a_literal_without_a_comma():
    (found,) = examine("data A: matrix[2, 2] = [[1, 0] [0, 1]]\nvar x: vector[2]\nminimize sum_squares(A @ x)\n")[1]
    assert (found.code, found.hint) == ("FW2040", "write `,` between the two rows")
    assert found.fix is not None and found.fix.replacement == ","


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        # an undeclared name is reported beside a syntax error that cannot have declared it
        (DECLARED + "minimize norm1(z)\nsubject to norm1(x) <=\n", ["FW2001", "FW1002"]),
        (DECLARED + "let r = A @\nminimize norm1(r) + norm1(z)\n", ["FW1002", "FW2001"]),
        # but not where the broken statement may declare it, as a dimension too
        ("data A: matrix(n d)\nvar x: vector[d]\nminimize norm1(A @ x) / n\n", ["FW1065", "FW1049"]),
        (DECLARED + "let (r) = A @ x\nminimize norm1(r)\n", ["FW1001"]),
        (DECLARED + "z = 3\nminimize z * norm1(x)\n", ["FW1003"]),
    ],
)
def test_names_beside_a_syntax_error(text: str, codes: list[str]):
    assert [d.code for d in compile_text(text)[1]] == codes


def test_errors_are_told_before_warnings_where_there_are_too_many():
    names = "".join(f"data a{i}: real\n" for i in range(30))
    _, found = compile_text(names + "var x: real\nminimize sum_squares(x) + 0 * norm1(x)\n")
    assert len(found) == 20
    assert {d.severity for d in found} == {"warning"}
    _, found = compile_text(names + "var x: real\nminimize sum_squares(x) + norm1(z)\n")
    assert [d.code for d in found] == ["FW2001"]


def test_a_missing_declaration_is_told_once_and_a_misspelling_at_each_place():
    _, found = compile_text(DECLARED + "minimize rho * norm1(x) + rho * norm2(x) + mu2 * norm1(x) + mu2 * norm2(x)\n")
    assert [(d.code, d.message.split()[0], d.fix is None) for d in found] == [
        ("FW2001", "`rho`", True),
        ("FW2001", "`mu2`", False),
        ("FW2001", "`mu2`", False),
    ]


def test_a_promise_that_cannot_be_made_is_one_error():
    text = "data A: matrix[n, d], b: vector[n], w: vector[n] in box(0, 1)\nvar x: vector[d]\n"
    assert only(text + "minimize mean(w * squared(A @ x, b))\n").code == "FW2023"
