"""The objective: expansion into terms, signs of coefficients, names, curvature."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.check import format_term, format_typed
from fwdsl.words import CONVEX, LOSSES

from .helpers import REGRESSION, accepted, codes, examine, marked, only

CLASSES = (
    "data X: matrix[n, p], y: labels[n, k], g: signs[n], r: vector[n]\nvar W: matrix[p, k], w: vector[p], b: real\n"
)


def terms(text: str) -> list[str]:
    return [format_term(t) for t in accepted(f"{REGRESSION}{text}\n").terms]


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("minimize 1/2 * sum_squares(X @ w - y)", ["0.5 * sum_squares(X @ w - y)"]),
        ("minimize sum_squares(w) * mu / 2 / n", ["0.5 * mu / n * sum_squares(w)"]),
        ("minimize mu * (norm1(w) + delta * sum_squares(w))", ["mu * norm1(w)", "delta * mu * sum_squares(w)"]),
        ("minimize norm1(w) - (1 - norm2(w))", ["norm1(w)", "-1", "norm2(w)"]),
        ("minimize 3 * norm1(w) - norm1(w)", ["2 * norm1(w)"]),
        ("minimize 2 * mu * norm1(w) - mu * norm1(w)", ["mu * norm1(w)"]),
        ("minimize -(-norm1(w))", ["norm1(w)"]),
        ("minimize mean(2 * squared(X @ w, y))", ["2 * mean(squared(X @ w, y))"]),
        ("minimize mean(squared(X @ w, y) / 2)", ["0.5 * mean(squared(X @ w, y))"]),
        (
            "minimize mean(squared(X @ w, y) + mu * norm1(w))",
            ["mean(squared(X @ w, y))", "mu * norm1(w)"],
        ),
        ("minimize sum(squared(X @ w, y) + norm1(w))", ["sum(squared(X @ w, y))", "sum(ones(n)) * norm1(w)"]),
        ("minimize 2 * sum(w) - w[0] / 2 + 3", ["2 * sum(w)", "-0.5 * w[0]", "3"]),
        ("minimize sum_squares(w) + s", ["sum_squares(w)", "s"]),
        ("maximize s * sum(w) - 2 * mu * sum_squares(w)", ["s * sum(w)", "-2 * mu * sum_squares(w)"]),
    ],
)
def test_brackets_distribute_and_scalars_collect(text: str, expanded: list[str]):
    assert terms(text) == expanded


def test_every_loss_is_a_term_with_its_options_filled_in():
    for name, loss in LOSSES.items():
        if loss.entrywise:
            continue
        target = {"real": "r", "signs": "g", "labels": "y"}[loss.target]
        target = "2" if loss.nonnegative_target else target
        prediction = "X @ W" if loss.scores else "X @ w + b"
        (term,) = accepted(f"{CLASSES}minimize mean({name}({prediction}, {target}))\n").terms
        assert (term.kind, term.atom, term.reduce) == ("loss", name, "mean")
        assert [n for n, _ in term.options] == [p.name for p in loss.options]
        assert [v.value for _, v in term.options] == [p.default for p in loss.options]


def test_every_convex_function_is_a_term():
    further = {
        "group_norm": ", [[0, 1], [2]]",
        "quad_form": ", [[2, 0, 0], [0, 1, 0], [0, 0, 0]]",
        "sorted_l1": ", [3, 2, 1]",
        "quad_over_lin": ", sum(x)",
        "matrix_frac": ", S",
        "sum_largest_eigs": ", 2",
        "norm_p": ", 3",
        "sum_largest": ", 2",
    }
    for name, function in CONVEX.items():
        if function.is_composed:
            continue
        argument = "S" if function.of_eigenvalues else "x" if "vector" in function.of else "V"
        applied = f"{name}({argument}{further.get(name, '')})"
        applied = f"sum({applied})" if function.by_rows else applied
        (term,) = accepted(f"var x: vector[3], V: matrix[3, 3], S: symmetric[3]\nminimize {applied}\n").terms
        assert (term.kind, term.atom) == ("function", function.total or name)


def test_defaults_and_explicit_options_make_equal_terms():
    implicit = accepted(f"{CLASSES}minimize mean(quantile(X @ w, r))\n").terms
    assert implicit == accepted(f"{CLASSES}minimize mean(quantile(X @ w, r, tau=0.5))\n").terms
    assert implicit == accepted(f"{CLASSES}minimize mean(quantile(X @ w, r, 0.5))\n").terms


def test_names_of_lets_stay_on_their_terms():
    model = accepted(
        f"{REGRESSION}let r = X @ w - y\nlet fit = mean(squared(X @ w, y))\nlet cost = sum(w)\nlet reg = norm1(w) + norm2(w)\n"
        "let all = fit + mu * reg\nminimize all + 2 * cost + sum_squares(r)\n"
    )
    assert [t.name for t in model.terms] == ["fit", "reg", "reg", "cost", ""]
    assert [name for name, _ in model.lets] == ["r", "fit", "cost", "reg", "all"]
    assert format_typed(dict(model.lets)["r"]) == "X @ w - y"
    assert [t.atom for t in dict(model.lets)["all"]] == ["squared", "norm1", "norm2"]


def test_weights_of_samples():
    program = "data X: matrix[n, p], y: signs[n], c: vector[n] in nonnegative\nparam mu: positive\nvar w: vector[p]\n"
    (term,) = accepted(f"{program}minimize mean((mu / 2 * c) * logistic(X @ w, y))\n").terms
    assert (format_typed(term.coefficient), format_typed(term.weights)) == ("0.5 * mu", "c")
    (negative,) = accepted(f"{program}maximize mean((-c) * logistic(X @ w, y))\n").terms
    assert (format_typed(negative.coefficient), format_typed(negative.weights)) == ("-1", "c")
    found = only(f"{program.replace(' in nonnegative', '')}minimize mean(c * logistic(X @ w, y))\n")
    assert (found.code, marked(found)) == ("FW3007", "c")
    assert "declare `c: vector[n] in nonnegative`" in found.hint


def test_a_literal_shows_that_weights_are_nonnegative():
    program = "data y: vector[3]\nvar b: real\n"
    assert accepted(f"{program}minimize mean([1, 0, 2] * absolute(b, y))\n").terms[0].weights is not None
    assert codes(f"{program}minimize mean([1, -1, 2] * absolute(b, y))\n") == ["FW3007"]


def test_a_scalar_prediction_is_one_for_each_sample():
    (term,) = accepted("data y: vector[n]\nvar b: real\nminimize mean(quantile(b, y, tau=0.9))\n").terms
    assert format_typed(term.argument) == "b * ones(n)"
    (single,) = accepted("var b: real\nminimize sum(huber(b, 3))\n").terms
    assert single.argument.type.array_shape == (1,)


def test_observed_entries_are_predictions_and_targets():
    (term,) = accepted("data M: entries[n, p]\nvar B: matrix[n, p]\nminimize sum(squared(B[M], M))\n").terms
    assert term.argument.op == "observe" and term.target is not None and term.target.type.kind == "entries"
    signed = "data M: entries[n, p] of signs\nvar B: matrix[n, p]\nminimize sum(logistic(B[M], M))\n"
    assert accepted(signed).terms[0].target.name == "M"
    assert codes(signed.replace(" of signs", "")) == ["FW2047"]


@pytest.mark.parametrize(
    ("text", "code", "under"),
    [
        ("minimize -norm1(w)", "FW3001", "-norm1(w)"),
        ("minimize norm1(w) - 2 * norm1(w)", "FW3001", "norm1(w)"),
        ("maximize norm1(w)", "FW3001", "norm1(w)"),
        ("minimize s * norm1(w)", "FW3002", "s * norm1(w)"),
        ("maximize mu * norm1(w) * s", "FW3002", "mu * norm1(w) * s"),
        ("minimize (1 - mu) * norm1(w)", "FW3002", "(1 - mu) * norm1(w)"),
        ("minimize w @ w", "FW3003", "w @ w"),
        ("minimize norm1(w) * norm1(w)", "FW3003", "norm1(w) * norm1(w)"),
        ("minimize 1 / sum(w)", "FW3004", "sum(w)"),
        ("minimize norm1(norm2(w))", "FW3005", "norm2(w)"),
        ("minimize mean(squared(y, X @ w))", "FW3016", "X @ w"),
        ("minimize squared(X @ w, y)", "FW2058", "squared(X @ w, y)"),
        ("minimize X @ w", "FW2057", "X @ w"),
        ("minimize sum(y)", "FW2059", "sum(y)"),
        ("minimize mean(norm1(w))", "FW2061", "mean(norm1(w))"),
        ("minimize norm2(X)", "FW2051", "norm2(X)"),
        ("minimize norm(w)", "FW2050", "norm"),
        ("minimize mean(logistic(X @ w, y))", "FW2047", "y"),
        ("minimize mean(squared(X @ w, w[0:3] * 0))", "FW3016", "w[0:3] * 0"),
        ("minimize mean(squared(w, y))", "FW2046", "squared(w, y)"),
        ("minimize mean(huber(X @ w, y, delta=0))", "FW2012", "0"),
        ("minimize mean(huber(X @ w, y, delta=s))", "FW2064", "s"),
        ("minimize mean(huber(X @ w, y, delta=sum(w)))", "FW3010", "sum(w)"),
        ("minimize quad_form(w, X.T @ X)", "FW3017", "X.T @ X"),
        ("minimize quad_form(w[0:2], [[1, 2], [2, 1]])", "FW3017", "[[1, 2], [2, 1]]"),
    ],
)
def test_what_is_refused(text: str, code: str, under: str):
    found = only(f"{REGRESSION}{text}\n")
    assert (found.code, marked(found)) == (code, under)


def test_a_loss_without_mean_or_sum_spells_out_both_readings():
    hint = only(f"{REGRESSION}minimize squared(X @ w, y)\n").hint
    assert "`mean(squared(X @ w, y))`" in hint and "`sum(squared(X @ w, y))`" in hint


def test_an_unknown_weight_proposes_nonnegative_where_it_is_declared():
    found = only(f"{REGRESSION}minimize s * norm1(w)\n")
    assert found.hint == "declare `param s: nonnegative`"
    assert found.fix is not None and found.source is not None
    assert (found.source.slice(found.fix.span), found.fix.replacement) == ("real", "nonnegative")


def test_swapped_arguments_of_a_loss_are_put_right():
    assert only(f"{REGRESSION}minimize mean(squared(y, X @ w))\n").hint == "write `squared(X @ w, y)`"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("sum(log(1 + exp(X @ w)))", "sum(logistic(-(X @ w)))"),
        ("sum(log1p(exp(X @ w)))", "sum(logistic(-(X @ w)))"),
        ("log(exp(w[0]) + 1)", "logistic(-(w[0]))"),
        ("log(sum(exp(w)))", "log_sum_exp(w)"),
        ("sqrt(sum(square(X @ w)))", "norm2(X @ w)"),
        ("sqrt(sum_squares(w))", "norm2(w)"),
    ],
)
def test_a_function_of_a_convex_sum_that_is_a_word_is_written_so(text: str, written: str):
    found = only(f"{REGRESSION}minimize {text}\n")
    assert found.code == "FW3005" and found.fix is not None and found.source is not None
    at = found.fix.span
    whole = found.source.text[: at.start] + found.fix.replacement + found.source.text[at.end :]
    assert whole.endswith(f"minimize {written}\n")
    accepted(whole)


@pytest.mark.parametrize(
    "text", ["log(2 + exp(w[0]))", "log(1 + 2 * exp(w[0]))", "log(sum(exp(w)) + 1)", "sqrt(sum(exp(w)))"]
)
def test_other_convex_sums_in_a_function_have_no_word(text: str):
    found = only(f"{REGRESSION}minimize {text}\n")
    assert found.code == "FW3005" and found.fix is None


@pytest.mark.parametrize(("predicted", "written"), [("B", "B[R]"), ("(2 * B)", "(2 * B)[R]"), ("A @ B", "(A @ B)[R]")])
def test_a_matrix_that_is_to_predict_entries_is_observed_at_them(predicted: str, written: str):
    text = "data R: entries[m, n], A: matrix[m, m]\nvar B: matrix[m, n]\n"
    found = only(f"{text}minimize mean(squared({predicted}, R))\n")
    assert found.code == "FW2046" and found.fix is not None and found.source is not None
    assert found.source.slice(found.fix.span) == predicted
    accepted(f"{text}minimize mean(squared({found.fix.replacement}, R))\n")
    assert found.fix.replacement.replace("((", "(").replace("))", ")") == written


def test_a_square_of_a_variable_names_sum_squares():
    assert "`sum_squares(w)`" in only(f"{REGRESSION}minimize sum(w * w)\n").hint
    assert "`quad_form(w, P)`" in only("data P: psd[p]\nvar w: vector[p]\nminimize w.T @ P @ w\n").hint


def test_independent_errors_are_reported_together_and_followers_are_not():
    found = codes(
        f"{REGRESSION}let r = X @ z\nminimize sum_squares(r) + norm1(nothing) - norm2(w)\nsubject to norm1(r) >= 1\n"
    )
    assert found == ["FW2001", "FW2001"]
    assert codes(f"{REGRESSION}minimize s * norm1(w) - norm2(w)\nsubject to norm1(w) >= 1\n") == [
        "FW3002",
        "FW3001",
        "FW3008",
    ]


def test_twenty_errors_at_most():
    lines = "".join(f"let a{i} = missing{i}\n" for i in range(50))
    assert len(codes(f"{REGRESSION}{lines}minimize norm1(w)\n")) == 20


def test_a_zero_coefficient_is_a_warning():
    found = only(f"{REGRESSION}minimize sum_squares(w) + (mu - mu) * norm1(w)\n")
    assert (found.code, found.severity) == ("FW2093", "warning")


def test_facts_say_where_they_come_from():
    facts = accepted(f"{REGRESSION}let fit = mean(squared(X @ w, y))\nminimize fit + delta * norm1(w) + sum(w)\n").facts
    by = {f.subject: (f.fact, f.reason) for f in facts}
    assert by["fit"] == (
        "convex",
        "`squared` is a loss, convex in its prediction, which is affine in `w`; its coefficient `1` is positive",
    )
    assert by["norm1(w)"][1].endswith("its coefficient `delta` is positive")
    assert by["sum(w)"] == ("affine", "affine in `w`")
    assert by["delta"] == ("positive", "declared so")


FORM = "var x: vector[2]\nminimize quad_form(x, S) + sum(x)\n"


def test_a_literal_of_data_needs_no_promise_to_be_positive_semidefinite():
    model = accepted(f"data S: matrix[2, 2] = [[2, 1], [1, 2]]\n{FORM}")
    assert dict(model.terms[0].options)["P"].op == "data"
    assert not codes(f"data S: symmetric[2] = [[1, 1], [1, 1]]\nlet T = S\n{FORM.replace('S)', 'T)')}")


@pytest.mark.parametrize(
    ("literal", "what"),
    [("[[1, 2], [2, 1]]", "positive semidefinite: its smallest eigenvalue is -1"), ("[[1, 2], [0, 1]]", "symmetric")],
)
def test_a_literal_of_data_that_is_not_positive_semidefinite_is_refused(literal: str, what: str):
    found = only(f"data S: matrix[2, 2] = {literal}\n{FORM}")
    assert (found.code, found.message) == ("FW3017", f"the matrix `S` of `quad_form` is not {what}")
    assert not found.hint


@pytest.mark.parametrize(
    "matrix",
    [
        "0.5 * S",
        "S / 4",
        "S + eye(2)",
        "N + N.T + 3 * ones(2, 2)",
        "N + [[0, -3], [1, 0]]",
        "S - 0.9 * eye(2)",
        "diag([2, 1]) - 0.5 * eye(2)",
        "-(-S)",
        "-(diag(v) - S - zeros(2, 2))",
    ],
)
def test_what_is_made_of_literals_is_evaluated(matrix: str):
    data = "data S: matrix[2, 2] = [[2, 1], [1, 2]]\ndata N: matrix[2, 2] = [[1, 2], [-2, 1]]\ndata v: vector[2] = [1, 0.5]\n"
    accepted(data + FORM.replace("S)", f"{matrix})"))


def test_a_dimension_of_a_literal_is_known():
    of_d = FORM.replace("vector[2]", "vector[d]").replace("S)", "S - 0.5 * eye(d))")
    accepted(f"data S: matrix[d, d] = [[2, 1], [1, 2]]\n{of_d}")
    assert codes(f"data S: matrix[d, d] = [[2, 1], [1, 2]]\n{of_d.replace('0.5', '1.5')}") == ["FW3017"]
    assert codes(f"data S: matrix[d, d]\n{of_d}") == ["FW3017"]


@pytest.mark.parametrize(
    ("matrix", "what"),
    [
        ("-S", "positive semidefinite: its smallest eigenvalue is -3"),
        ("S - 1.5 * eye(2)", "positive semidefinite: its smallest eigenvalue is -0.5"),
        ("diag([1, 2]) - [[0, 1], [0, 0]]", "symmetric"),
        ("S + T", "known to be positive semidefinite"),
        ("S / 0", None),
    ],
)
def test_what_is_made_of_literals_and_is_not_positive_semidefinite_is_refused(matrix: str, what: str | None):
    data = "data S: matrix[2, 2] = [[2, 1], [1, 2]]\ndata T: matrix[2, 2]\n"
    found = only(data + FORM.replace("S)", f"{matrix})"))
    assert what is None or (found.code, found.message) == (
        "FW3017",
        f"the matrix `{matrix}` of `quad_form` is not {what}",
    )


def test_data_bound_in_place_of_the_literals_are_judged_again():
    program = fw.parse("data S: matrix[2, 2] = [[2, 1], [1, 2]]\n" + FORM.replace("S)", "S - 0.5 * eye(2))"))
    # the minimum of x'Px + sum(x), P = [[1.5, 1], [1, 1.5]], is -1'P^-1 1 / 4
    assert program.solve(tol=1e-8).objective == pytest.approx(-0.2, abs=1e-7)
    with pytest.raises(fw.FwError, match="not positive semidefinite"):
        program.bind(S=np.array([[2.0, 1.9], [1.9, 2.0]])).solve()


@pytest.mark.parametrize("unit", [1.0, 1e-13])
def test_data_bound_in_place_of_a_literal_are_judged_in_any_unit(unit: float):
    program = fw.parse(f"data S: matrix[2, 2] = [[2, 1], [1, 2]]\n{FORM}")
    with pytest.raises(fw.FwError, match="not positive semidefinite"):
        program.bind(S=unit * np.array([[1.0, 2.0], [2.0, 1.0]])).solve()


@pytest.mark.parametrize(
    ("let", "objective", "under"),
    [
        ("norm1(w)", "sum(w) - a", "a"),
        ("norm1(w) + norm2(w)", "3 - a + sum(w)", "a"),
        ("norm1(w) + norm2(w)", "-a", "-a"),
        ("norm1(w) + norm2(w)", "sum(w) - 2 * a", "2 * a"),
        ("norm1(w) + norm2(w)", "sum(w) + s * a", "s * a"),
    ],
)
def test_a_let_with_a_wrong_sign_is_marked_where_it_is_used(let: str, objective: str, under: str):
    found = only(f"{REGRESSION}let a = {let}\nminimize {objective}\n")
    assert found.span is not None and found.source is not None
    assert marked(found) == under and found.source.position(found.span.start)[0] == 5
    assert [found.source.slice(x.span) for x in found.labels if x.text == "the term is written here"] == ["norm1(w)"]


def test_a_wrong_sign_within_a_let_is_marked_there():
    found = only(f"{REGRESSION}let a = sum(w) - norm1(w)\nminimize a\n")
    assert (marked(found), found.labels) == ("norm1(w)", ())


# --- functions of vectors that are made of others ----------------------------------------------------------------------


VECTORS = (
    "data w: vector[n-1] in nonnegative, W: matrix[n, k] in nonnegative, u: vector[n] in nonnegative\n"
    "var x: vector[n], X: matrix[n, k], a: real\n"
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("minimize max(x[0], x[1], 3, a)", ["max(hstack(x[0], x[1], 3, a))"]),
        ("minimize max(x) + max(X)", ["max(x)", "max(X)"]),
        ("maximize min(x)", ["-max(-x)"]),
        ("maximize 2 * min(a, x[0]) + sum_smallest(x, 2)", ["-2 * max(-hstack(a, x[0]))", "-sum_largest(-x, k=2)"]),
        ("maximize geo_mean(x)", ["geo_mean(x)"]),
        ("minimize tv(x)", ["norm1(diff(x))"]),
        ("minimize tv(x, w)", ["norm1(w * diff(x))"]),
        ("minimize tv(X, isotropic=false)", ["norm1(diff(X))", "norm1(diff(X, axis=1))"]),
        ("minimize sum(norm2(X, axis=1))", ["norm21(X)"]),
        ("minimize sum(norm_inf(X, axis=0))", ["norm1_inf(X.T)"]),
        ("minimize max(norm2(X, axis=1))", ["max_rownorm2(X)"]),
        ("minimize 2 * norm_inf(rownorm2(X.T))", ["2 * max_rownorm2(X.T)"]),
        ("minimize max(2 * norm1(X, axis=0))", ["2 * max_rownorm1(X.T)"]),
        ("minimize max(u * rownorm2(X))", ["max_rownorm2(diag(u) @ X)"]),
        ("minimize max(norm_inf(X, axis=1))", ["norm_inf(X)"]),
        ("minimize max(max(X, axis=1))", ["max(X)"]),
        ("minimize mean(max(X, axis=1))", ["1 / n * sum(max(X, axis=1))"]),
        ("minimize sum(u * max(X, axis=1))", ["sum(max(diag(u) @ X, axis=1))"]),
        ("minimize sum(u * log_sum_exp(X, axis=1))", ["sum(u * log_sum_exp(X, axis=1))"]),
        ("minimize sum(max(x, 0))", ["sum(max(vstack(x, 0 * ones(n)).T, axis=1))"]),
        ("maximize sum(min(X, axis=0))", ["-sum(max(-X.T, axis=1))"]),
    ],
)
def test_functions_of_vectors_are_taken_apart(text: str, terms: list[str]):
    assert [format_term(t) for t in accepted(f"{VECTORS}{text}\n").terms] == terms


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("minimize min(x)", "FW3001"),
        ("maximize max(x)", "FW3001"),
        ("minimize geo_mean(x)", "FW3001"),
        ("minimize geo_mean(x, u)", "FW3001"),
        ("maximize geo_mean(x, w)", "FW2044"),
        ("maximize geo_mean(x, x)", "FW3010"),
        ("maximize geo_mean(x, -ones(n))", "FW3007"),
        ("maximize tv(x)", "FW3001"),
        ("minimize max(x, X[0])", "FW2044"),
        ("minimize max(x, axis=1)", "FW2044"),
        ("minimize max(squared(x, 0))", "FW3005"),
        ("minimize max(-norm2(X, axis=1))", "FW3005"),
        ("minimize norm_inf(max(X, axis=1))", "FW3005"),
        ("minimize norm1(x)\nsubject to max(norm2(X, axis=1)) >= 1", "FW3008"),
        ("minimize norm1(x)\nsubject to max(squared(x, 0)) <= x", "FW3005"),
        ("minimize sum(max(X, axis=2))", "FW2012"),
        ("minimize max(X, axis=1)", "FW2058"),
        ("minimize max(x[0], a, axis=0)", "FW2010"),
        ("minimize tv(x, u)", "FW2044"),
        ("minimize tv(X[0:1])", "FW2041"),
        ("minimize norm_p(x, 0.5)", "FW2012"),
        ("minimize sum_largest(x, 0)", "FW2012"),
    ],
)
def test_functions_of_vectors_that_cannot_be(text: str, code: str):
    assert code in [d.code for d in examine(f"{VECTORS}{text}\n")[1]]
