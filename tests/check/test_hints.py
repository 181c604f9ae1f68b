"""First attempts of users, and the hints on what to write instead."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.check import compile_text

from .helpers import examine, only

DECLARED = "data A: matrix[n, d], b: vector[n], y: signs[n]\nparam mu: nonnegative = 1\nvar x: vector[d]\n"


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("minimize logsumexp(A @ x)", "FW2006", "did you mean `log_sum_exp`?"),
        ("minimize sum(relu(A @ x))", "FW2006", "did you mean `pos`?"),
        ("minimize l2_norm(x)", "FW2006", "did you mean `norm2`?"),
        ("minimize mse(A @ x, b)", "FW2006", "did you mean `squared`?"),
        ("minimize mean(square(A @ x, b))", "FW2011", "write `square(z)`, or the loss `squared(prediction, target)`"),
        ("minimize mean(abs(A @ x, b))", "FW2011", "or the loss `absolute(prediction, target)`"),
        ("minimize norm1(transpose(A) @ b)", "FW2006", "`A.T`"),
        ("minimize sum(log1p(exp(-(y * (A @ x)))))", "FW3005", "write `logistic(y * (A @ x))`"),
        ("minimize sum(log1p(exp(-(y * 2) - (A @ x))))", "FW3005", "write `logistic(-(-(y * 2) - (A @ x)))`"),
        ("minimize sum_squares(pos(A @ x))", "FW3005", "write `sum(square_pos(A @ x))`"),
        ("minimize mu(norm1(x))", "FW2005", "write `mu * (...)`"),
        ("minimize sum(neg(A @ x))", "FW2006", "write `pos(-A @ x)`"),
        ("minimize norm1(lodistic(A @ x))", "FW2006", "did you mean `logistic`?"),
        ("minimize sum_squares(A * x - b)", "FW2034", "write `A @ x` for the matrix product, `A @ diag(x)`"),
        ("minimize sum_squares(b * A)", "FW2034", "write `b @ A` for the matrix product, `diag(b) @ A`"),
        ("minimize sum_squares(A / b @ x)", "FW2034", "write `diag(1 / b) @ A`"),
        ("minimize quad_form(x, A.T @ A)", "FW3017", "write `sum_squares(A @ x)`"),
        ("minimize mean(hinge(y * (A @ x), 1))", "FW2047", "`ones(n)`"),
        ("minimize norm1(x)\nsubject to x in R_plus", "FW2008", "did you mean `nonnegative`?"),
        ("minimize norm1(x)\nsubject to x in norm1(3)", "FW2008", "did you mean `l1_ball`?"),
        ('minimize norm1(x)\nsolve method = "apg"', "FW2014", "write `apg`"),
        ("minimize norm1(x)\nsolve gap = abs", "FW2014", "write `absolute`"),
        ("minimize max(abs(A @ x - b))", "FW3005", "write `norm_inf(A @ x - b)`"),
        ("minimize sum(max(abs(A), axis=1)) * x[0] + max(x)", "FW3003", "give its value as data or as a parameter"),
        ("minimize sum(x)\nsubject to A @ x + mu * norm2(x) <= b", "FW2033", "declare `var t: real`"),
        ("minimize sum(x)\nsubject to log(x[0]) <= 2", "FW3008", "`x[0] <= ...`"),
        ("minimize sum(x)\nsubject to exp(x[0]) >= 2", "FW3008", "`x[0] >= ...`"),
        ("minimize sum_squares(A @ x - b) + rho * norm1(x)", "FW2001", "`param rho: nonnegative`"),
        ("let e = mean(hinge(A @ x, y))\nminimize norm1(x) + e * rho / 2", "FW2001", "`param rho: nonnegative`"),
        ("minimize sum_squares(A @ x - rho * b)", "FW2001", "`param rho: real`"),
        ("minimize norm1(x) / rho", "FW2001", "`param rho: real`"),
        ("minimize sum(rel_entr(A @ x, b))", "FW3007", "declare `b: vector[n] in nonnegative`"),
        ("minimize sum(x)\nsubject to sqrt(x[0]) == 2", "FW3009", "`x[0] == ...`"),
    ],
)
def test_what_to_write_instead(text: str, code: str, said: str):
    found = only(DECLARED + text + "\n")
    assert found.code == code and said in found.hint


def test_a_concave_function_is_told_from_a_convex_one():
    found = only(DECLARED + "minimize sum(x)\nsubject to log(x[0]) <= 2\n")
    assert "bounded from above" in found.message and "concave" in found.rule


@pytest.mark.parametrize("word", ["kl_div", "rel_entr"])
def test_a_target_is_told_with_the_word_that_is_written(word: str):
    found = only(DECLARED + f"minimize sum({word}(A @ x, b))\n")
    assert found.message.startswith(f"the target `b` of `{word}`") and f"`{word}` is" in found.rule


def test_a_function_that_means_something_else_is_no_fix():
    assert only(DECLARED + "minimize sum(sqrt(A @ x))\n").fix is None


@pytest.mark.parametrize(
    ("text", "code", "mended"),
    [
        ("minimize norm1(A @ b)", "FW2032", ["A.T @ b"]),
        ("minimize max(abs(A @ x - b))", "FW3005", ["norm_inf(A @ x - b)"]),
        ("minimize norm1((A) @ b)", "FW2032", ["(A).T @ b"]),
        ("minimize norm1(x @ A)", "FW2032", ["x @ A.T"]),
        ("data C: matrix[k, n]\nminimize norm1(A @ C) + norm1(x)", "FW2032", ["C @ A"]),
        ("data B: matrix[k, d]\nminimize norm1(A @ B)", "FW2032", ["A @ B.T"]),
        ("var v: vector[k]\nminimize norm1(A @ v) + norm1(x)", "FW2032", ["v: vector[d]"]),
        ("data w: vector[n]\nminimize mean(w * squared(A @ x, b))", "FW3007", ["w: vector[n] in nonnegative"]),
        ("data P: matrix[d, d]\nminimize quad_form(x, P)", "FW3017", ["P: psd[d]"]),
        ("minimize squared(A @ x, b)", "FW2058", ["mean(squared(A @ x, b))", "sum(squared(A @ x, b))"]),
        ("let l = hinge(A @ x, y)\nminimize l", "FW2058", ["mean(hinge(A @ x, y))", "sum(hinge(A @ x, y))"]),
    ],
)
def test_fixes_and_choices_mend_the_program(text: str, code: str, mended: list[str]):
    program = DECLARED + text + "\n"
    (found,) = [d for d in examine(program)[1] if d.severity == "error"]
    assert found.code == code
    edits = [*([found.fix] if found.fix else []), *found.choices]
    texts = [program[: e.span.start] + e.replacement + program[e.span.end :] for e in edits]
    assert len(texts) == len(mended)
    for after, part in zip(texts, mended, strict=True):
        assert part in after
        assert code not in {d.code for d in examine(after)[1]}


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


@pytest.mark.parametrize("call", ["l2(A)", "frobenius(x)", "mae(x)", "poi(x)", "sum_of_top(x)", "det(A)"])
def test_no_function_is_offered_that_cannot_take_what_is_given(call: str):
    found = only(f"{DECLARED}minimize sum({call})\n")
    assert found.code == "FW2006"
    if found.fix is None:
        assert "did you mean" not in found.hint
    else:
        mended = f"{DECLARED}minimize sum({found.fix.replacement}{call[call.index('(') :]})\n"
        assert not {"FW2006", "FW2011", "FW2038"} & {d.code for d in examine(mended)[1]}


@pytest.mark.parametrize(
    ("line", "guess"),
    [
        ("var k: integer", ""),
        ("var k: sign[3]", ""),
        ("var k: float", "real"),
        ("data k: integer", "count"),
        ("data k: array[n, d]", "matrix"),
        ("data k: sparse[n, d]", "matrix"),
        ("data k: array[n]", "vector"),
        ("param k: integer", "count"),
        ("param k: vecto[3]", "vector"),
        ("var k: vectr[d]", "vector"),
        ("var k: vector[d] in l2(1)", "l2_ball"),
        ("var k: matrix[d, d] in l2(1)", ""),
        ("var k: matrix[d, d] in norm_fro(1)", "fro_ball"),
    ],
)
def test_a_type_or_set_is_offered_where_it_may_stand(line: str, guess: str):
    found = only(f"{DECLARED}{line}\nminimize norm1(x)\n")
    assert (found.fix.replacement if found.fix else "") == guess
    assert ("did you mean" in found.hint) == bool(guess)


def test_a_literal_of_labels_is_told_in_classes():
    text = "data k: labels[{n}, 5] = {values}\nvar x: real\nminimize x\n"
    found = only(text.format(n=1, values="[0]"))
    assert found.code == "FW2025"
    assert found.message == "the literal of `k` has 1 different label, and `labels[1, 5]` is of 5 classes"
    assert found.hint.endswith("give labels of all 5")
    found = only(text.format(n=3, values="[4, 4, 2]"))
    assert "has 2 different labels" in found.message and "write `labels[3, 2]`" in found.hint
    assert "has 3 entries along axis 0" in only(text.format(n=4, values="[0, 1, 2]")).message
    assert "has 1 entry along axis 0" in only(text.format(n=4, values="[0]")).message


@pytest.mark.parametrize("bound", ["W >= eye(d)", "eye(d) <= W", "W <= S", "W + W >= eye(d)"])
def test_a_matrix_against_a_symmetric_constant_is_compared_entry_by_entry(bound: str):
    assert not examine(f"data S: symmetric[d]\nvar W: matrix[d, d]\nminimize norm_fro(W - S)\nsubject to {bound}\n")[1]


@pytest.mark.parametrize("bound", ["V >= S", "V >= eye(d)", "V >= A", "V >= W", "V >= 1", "W >= 0", "W + W.T >= S"])
def test_the_order_of_symmetric_variables_is_ambiguous(bound: str):
    found = only(
        f"data S: symmetric[d], A: matrix[d, d]\nvar W: matrix[d, d], V: symmetric[d]\n"
        f"minimize norm_fro(W - A) + norm_fro(V - S)\nsubject to {bound}\n"
    )
    assert found.code == "FW2070"
    assert ("or make" in found.hint) == (bound in ("V >= A", "V >= W"))


@pytest.mark.parametrize(
    ("objective", "hint"),
    [
        ("sum(entropy(A @ x))", "leave `sum` out"),
        ("mean(norm1(x))", "leave `mean` out"),
        (
            "mean(sum_squares(A @ x - b))",
            "leave `mean` out; the mean of squared errors is `mean(squared(A @ x - b, 0))`",
        ),
    ],
)
def test_a_sum_of_one_number_speaks_of_errors_where_there_are_some(objective: str, hint: str) -> None:
    assert only(DECLARED + f"minimize {objective}\n").hint == hint


def test_total_variation_without_neighbours_says_what_is_left() -> None:
    one = "var x: vector[1], Y: matrix[1, 4]\nminimize sum_squares(x) + sum_squares(Y) + {}\n"
    assert only(one.format("tv(x)")).hint == "leave the term out: of no neighbours it is 0"
    assert only(one.format("tv(Y)")).hint == "leave the term out: of no neighbours it is 0"
    found = only(one.format("tv(Y, isotropic=false)"))
    assert found.hint == "write `norm1(diff(Y, axis=1))` for those along the other axis"
    assert compile_text(one.format("norm1(diff(Y, axis=1))"), "tv.fw")[0] is not None


@pytest.mark.parametrize(
    ("objective", "hint", "advised", "bounds", "optimum"),
    [
        (
            "minimize sum(max(abs(u - 1), 2 * abs(u - 1) - 1))",
            "declare `var t: vector[3]`, write `t` in place of `abs(u - 1)`, and `abs(u - 1) <= t` under `subject to`",
            "var t: vector[3], s: vector[3]\nminimize sum(max(t, s))",
            "abs(u - 1) <= t, 2 * abs(u - 1) - 1 <= s",
            5.0,
        ),
        (
            "minimize sum(pos(abs(u - 1) - 1))",
            "write `t` in place of `abs(u - 1) - 1`, and `abs(u - 1) - 1 <= t`",
            "var t: vector[3]\nminimize sum(pos(t))",
            "abs(u - 1) - 1 <= t",
            1.0,
        ),
        (
            "minimize max(norm2(u) + 1, 2 * norm1(u))",
            "declare `var t: real`, write `t` in place of `norm2(u) + 1`",
            "var t: real, s: real\nminimize max(t, s)",
            "norm2(u) + 1 <= t, 2 * norm1(u) <= s",
            2.0,
        ),
        (
            "maximize sum(log(sqrt(u + 2)))",
            "and `sqrt(u + 2) >= t` under `subject to`",
            "var t: vector[3]\nmaximize sum(log(t))",
            "sqrt(u + 2) >= t",
            1.5 * math.log(5.0 / 3.0),
        ),
        (
            "minimize sum(pos(abs(u - 1) + 2 * square(u) - 1))",
            "declare `var t: vector[3]` with `abs(u - 1) <= t`, and such a variable for each further function",
            "var t: vector[3], s: vector[3]\nminimize sum(pos(t + 2 * s - 1))",
            "abs(u - 1) <= t, square(u) <= s",
            5.0 / 3.0,
        ),
        (
            "minimize sum(pos(abs(reshape(u - 1, 3, 1)) - 1))",
            "declare `var t: vector[3]`, which `abs(reshape(u - 1, 3, 1)) - 1` bounds with `vec(...)`",
            "var t: vector[3]\nminimize sum(pos(t))",
            "abs(vec(reshape(u - 1, 3, 1))) - 1 <= t",
            1.0,
        ),
    ],
)
def test_a_rising_function_of_a_convex_one_is_written_with_a_bound(
    objective: str, hint: str, advised: str, bounds: str, optimum: float
) -> None:
    """The sum of u is at most -1, whence each entry is -1/3, and the advice leads to the optimum of what was meant."""
    held = "subject to sum(u) <= -1"
    assert hint in only(f"var u: vector[3]\n{objective}\n{held}\n").hint
    answer = fw.parse(f"var u: vector[3], {advised.removeprefix('var ')}\n{held}, {bounds}\n").solve()
    assert answer.status == "optimal" and answer.objective == pytest.approx(optimum, abs=1e-5)


@pytest.mark.parametrize(
    "objective", ["norm2(max(x, 0))", "sum(square(abs(x) - 1))", "sum(pos(1 - abs(x)))", "sum(squared(abs(x), b))"]
)
def test_a_function_that_nothing_shows_to_be_convex_takes_affine_arguments(objective: str) -> None:
    found = only("data b: vector[3]\nvar x: vector[3]\nminimize " + objective + "\n")
    assert found.code == "FW3005" and found.hint.startswith("nothing in its form shows that")


def test_the_names_that_help_offers_are_new_and_differ() -> None:
    text = "data R: matrix[n, p]\nvar x: vector[p], t: real\nminimize cvar(-R @ x, 0.95) + cvar(R @ x + t, 0.9)\n"
    hints = [d.hint for d in examine(text)[1] if d.code == "FW2006"]
    assert hints[0] == "declare `var s: real` and write `(s + mean(pos((-R @ x) - s)) / (1 - 0.95))`"
    assert hints[1] == "declare `var r: real` and write `(r + mean(pos((R @ x + t) - r)) / (1 - 0.9))`"


def test_the_help_for_cvar_gives_the_mean_of_the_worst() -> None:
    text = "data b: vector[40]\nvar x: real\nminimize {}\nsubject to x == 1\n"
    hint = only(text.format("cvar(b - x, 0.9)")).hint
    said = "t + mean(pos((b - x) - t)) / (1 - 0.9)"
    assert hint == f"declare `var t: real` and write `{said}`"
    b = np.sin(np.arange(40.0))
    answer = fw.parse(text.format(said).replace("x: real", "x: real, t: real")).bind(b=b).solve()
    assert answer.status == "optimal" and answer.objective == pytest.approx(np.sort(b)[-4:].mean() - 1, abs=1e-5)


def test_reshape_of_a_dimension_by_name_says_how_to_declare_its_size() -> None:
    text = "data A: matrix[kd, n], b: vector[kd]\nvar x: vector[n]\nminimize sum(rownorm2(reshape(A @ x + b, {})))\n"
    found = only(text.format("3, 4"))
    assert found.code == "FW2035"
    assert found.hint == "write `12` for `kd` where it is declared: `data A: matrix[12, n]`, `data b: vector[12]`"
    declared = text.format("3, 4").replace("kd", "12")
    A, b = np.arange(24.0).reshape(12, 2) % 5, np.ones(12)
    assert fw.parse(declared).bind(A=A, b=b).solve().status == "optimal"
    m = "data w: vector[m]\n"
    hint = only(m + text.format("m, 4")).hint
    assert hint == "write `4*m` for `kd` where it is declared: `data A: matrix[4*m, n]`, `data b: vector[4*m]`"
    assert only(text.format("2 * kd, 4")).hint == ""
