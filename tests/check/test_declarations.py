"""Names, types, dimensions, literals, sources, parameters, options of `solve`."""

from __future__ import annotations

import pytest

from fwdsl.check import format_type, format_typed

from .helpers import accepted, codes, examine, marked, only

END = "var x0: real\nminimize sum_squares(x0)\n"


@pytest.mark.parametrize(
    "text",
    [
        "real",
        "positive",
        "nonnegative",
        "count",
        "vector[n]",
        "vector[3]",
        "matrix[n, d]",
        "tensor[n, d, e]",
        "signs[n]",
        "signs[n, k]",
        "labels[n]",
        "labels[n, k]",
        "index[n] of T",
        "index[n] of 4",
        "entries[n, p]",
        "entries[n, p] of signs",
        "symmetric[d]",
        "psd[d]",
        "vector[n] in nonnegative",
        "matrix[n, d] in nonnegative",
    ],
)
def test_types_of_data(text: str):
    (declared,) = accepted(f"data a: {text}\n{END}").data
    assert format_type(declared.type) == text


@pytest.mark.parametrize(
    "text",
    [
        "real",
        "nonnegative",
        "vector[n]",
        "matrix[n, d]",
        "symmetric[d]",
        "psd[d]",
        "family[T] of psd[d]",
        "family[2] of matrix[n, d]",
    ],
)
def test_types_of_variables(text: str):
    assert format_type(accepted(f"var a: {text}\n{END}").variable("a").type) == text


def test_dimensions_are_listed_in_order_of_appearance():
    assert accepted(f"data X: matrix[n, p], t: index[n] of T, A: matrix[3, q]\n{END}").dims == ("n", "p", "T", "q")


def test_a_source_serves_the_names_since_the_last_source_or_literal():
    data = accepted(
        'data a: vector[3], b: vector[2] = [1, 2], X: matrix[n, p], y: signs[n] from libsvm("t.svm"), c: vector[n]\n'
        + END
    ).data
    assert [(d.name, d.serves, d.literal) for d in data] == [
        ("a", (), None),
        ("b", (), (1.0, 2.0)),
        ("X", ("X", "y"), None),
        ("y", ("X", "y"), None),
        ("c", (), None),
    ]
    assert data[2].source is data[3].source and data[0].source is None


def test_literals():
    text = (
        'data s: signs[3] = [0, 5, 5], l: labels[3, k] = ["u", "v", "u"], t: index[2] of 2 = [0, 1], P: psd[2] = [[1, 0], [0, 0]]\n'
        "data M: entries[n, 3] = [[0, 1, 2.5], [7, 2, -1/2]], c: count = 3\n"
    )
    values = {d.name: d.literal for d in accepted(text + END).data}
    assert values["l"] == ("u", "v", "u") and values["c"] == 3.0
    assert values["M"] == ((0.0, 1.0, 2.5), (7.0, 2.0, -0.5))


def test_defaults_of_parameters():
    params = accepted(f"data y: vector[n]\nparam a: nonnegative = 10/n, b: positive = 2 * a + 1, c: real\n{END}").params
    assert [p.default and format_typed(p.default) for p in params] == ["10 / n", "2 * a + 1", None]


@pytest.mark.parametrize(
    ("text", "code", "under"),
    [
        ("data a: vec[n]", "FW2007", "vec"),
        ("data a: matrix[n]", "FW2018", "matrix[n]"),
        ("data a: vector", "FW2018", "vector"),
        ("data a: real[n]", "FW2018", "real[n]"),
        ("data a: tensor[n]", "FW2018", "tensor[n]"),
        ("data a: vector[0]", "FW2020", "0"),
        ("data a: vector[1.5]", "FW2020", "1.5"),
        ("data a: vector[dim(3)]", "FW2020", "3"),
        ("data a: index[n]", "FW2019", "index[n]"),
        ("data a: vector[n] of signs", "FW2019", "vector[n] of signs"),
        ("data a: entries[n, p] of labels", "FW2019", "entries[n, p] of labels"),
        ("data a: family[T] of psd[d]", "FW2022", "family[T] of psd[d]"),
        ("var a: family[T] of labels[d]", "FW2019", "family[T] of labels[d]"),
        ("var a: labels[n]", "FW2022", "labels[n]"),
        ("var a: positive", "FW2022", "positive"),
        ("var a: count", "FW2022", "count"),
        ("var a: tensor[n, d, e]", "FW2022", "tensor[n, d, e]"),
        ("param a: psd[n]", "FW2022", "psd[n]"),
        ("param a: real in simplex(1)", "FW2023", "simplex(1)"),
        ("param b: real\nparam a: real in box(0, b)", "FW2023", "box(0, b)"),
        ("param a: vector[2] in box(1, 0)", "FW2023", "box(1, 0)"),
        ("param a: real in box(0, 1) = 2", "FW2029", "2"),
        ("param a: vector[2] = 1", "FW2029", "1"),
        ("param a: vector[2] = ones(3)", "FW2029", "ones(3)"),
        ("data a: vector[n] in simplex(1)", "FW2023", "simplex(1)"),
        ("data a: signs[n] in nonnegative", "FW2023", "nonnegative"),
        ('param a: real from npy("a")', "FW2024", 'npy("a")'),
        ("var a: real = 3", "FW2024", "3"),
        ("param a: nonnegative = -1", "FW2029", "-1"),
        ("param a: positive = 0", "FW2029", "0"),
        ("param a: count = 1.5", "FW2029", "1.5"),
        ("param a: real = inf", "FW2029", "inf"),
        ("data v: vector[3]\nparam a: real = sum(v)", "FW2029", "sum(v)"),
        ("data a: vector[3] = [1, 2]", "FW2025", "[1, 2]"),
        ("data a: vector[2] = [[1, 2]]", "FW2025", "[[1, 2]]"),
        ("data a: vector[2] in nonnegative = [1, -2]", "FW2025", "[1, -2]"),
        ("data a: signs[3] = [1, 2, 3]", "FW2025", "[1, 2, 3]"),
        ("data a: index[2] of 2 = [0, 2]", "FW2025", "[0, 2]"),
        ("data a: symmetric[2] = [[1, 2], [3, 4]]", "FW2025", "[[1, 2], [3, 4]]"),
        ("data a: psd[2] = [[1, 2], [2, 1]]", "FW2025", "[[1, 2], [2, 1]]"),
        ("data a: entries[n, p] = [[1, 2]]", "FW2025", "[[1, 2]]"),
        ("data a: entries[2, p] = [[2, 0, 1]]", "FW2025", "[[2, 0, 1]]"),
        ("data a: labels[3, 2] = [1, 2, 3]", "FW2025", "[1, 2, 3]"),
        ("data a: vector[2] = [1, inf]", "FW2021", "inf"),
        ("data a: vector[2] = [1, n]", "FW2001", "n"),
        ("data a: vector[2] = [1, dim(b)], b: matrix[n, p]", "FW2004", "b"),
        ("data a: matrix[n, n] = [[1, 2]]", "FW2026", "[[1, 2]]"),
        ('data a: matrix[n, p], b: vector[n] from npy("a")', "FW2028", 'npy("a")'),
        ('data a: vector[n], b: vector[n] from csv("a")', "FW2028", 'csv("a")'),
        ('data a: signs[n, k] from libsvm("a")', "FW2028", 'libsvm("a")'),
        ('data a: matrix[n, k] from coo("a")', "FW2028", 'coo("a")'),
        ('data a: entries[n, k] from csv("a")', "FW2028", 'csv("a")'),
        ('data a: matrix[n, k] from svm("a")', "FW2009", "svm"),
        ('data a: matrix[n, k] from npy("a", key="b")', "FW2010", "key"),
        ("data a: matrix[n, k] from npy()", "FW2011", "npy()"),
        ('data a: matrix[n, k] from npy("")', "FW2012", '""'),
        ('data a: matrix[n, k] from libsvm("a", features=1.5)', "FW2012", "1.5"),
        ("data a: vector[n], a: vector[n]", "FW2002", "a"),
        ("data n: vector[n]", "FW2002", "n"),
        ("param k: count\ndata a: vector[k]", "FW2002", "k"),
        ("data simplex: vector[n]", "FW2003", "simplex"),
        ("let sum = 3", "FW2003", "sum"),
        ("data a: vector[box]", "FW2003", "box"),
        ("let a = b\nparam b: real", "FW2004", "b"),
        ("let a = nothing", "FW2001", "nothing"),
        ("let a = simplex", "FW2005", "simplex"),
        ("let a = vector", "FW2005", "vector"),
        ("param b: real\nlet a = b(3)", "FW2005", "b"),
        ("let a = sigmoid(3)", "FW2006", "sigmoid"),
        ('let a = "text"', "FW2036", '"text"'),
        ("problem a\nproblem b", "FW2016", "problem b"),
        ("solve tolerance = 1", "FW2013", "tolerance"),
        ("solve tol = 0", "FW2014", "0"),
        ("solve gap = both", "FW2014", "both"),
        ("solve method = 3", "FW2014", "3"),
        ("solve max_iter = 1.5", "FW2014", "1.5"),
        ("solve tol = 1, tol = 2", "FW2015", "tol = 2"),
        ("solve method = pdbfw(s = 1, k = 2, s = 3)", "FW2015", "s = 3"),
    ],
)
def test_what_is_refused(text: str, code: str, under: str):
    found = only(f"{text}\n{END}")
    assert (found.code, marked(found)) == (code, under)


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("let a = X0", "x0"),
        ("let a = norm_1(x0)", "norm1"),
        ("data a: vetor[n]", "vector"),
        ("data a: float", "real"),
        ('data a: matrix[n, k] from svmlight("a")', "libsvm"),
        ("solve toll = 1", "tol"),
        ("solve max_iterations = 1", "max_iter"),
        ("subject to x0 in boxx(0, 1)", "box"),
        ("let a = sum(huber(x0, 1, dleta=2))", "delta"),
    ],
)
def test_misspelt_words_are_guessed_and_can_be_fixed(text: str, guess: str):
    found = only(f"var x0: real\n{text}\nminimize sum_squares(x0)\n")
    assert found.hint == f"did you mean `{guess}`?"
    assert found.fix is not None and found.fix.replacement == guess


def test_a_wrong_declaration_silences_what_follows_from_it():
    text = "data X: matrx[n, p], y: vector[n]\nparam mu: nonegative = 1/p\nvar w: vector[p]\nminimize mu * norm1(X @ w - y)\n"
    assert codes(text) == ["FW2007", "FW2007"]


def test_the_options_of_solve():
    options = accepted(
        f"{END}solve tol = 1e-8, gap = absolute, method = pdhg(restart=true, every=10), time = 5 min\nsolve seed = 3, max_iter = 1_000\n"
    ).options
    assert dict(options) == {
        "tol": 1e-8,
        "gap": "absolute",
        "method": "pdhg",
        "method_options": {"restart": True, "every": 10.0},
        "time": 300.0,
        "seed": 3,
        "max_iter": 1000,
    }
    assert isinstance(dict(options)["max_iter"], int)


def test_a_program_needs_an_objective_and_a_variable():
    assert codes("data a: vector[n]\n") == ["FW2062", "FW2068"]
    assert codes("") == ["FW2062", "FW2068"]
    assert codes(f"{END}minimize norm1(x0)\n") == ["FW2063"]


def test_of_a_partial_program_only_what_stands_there_is_judged():
    text = "data X: matrix[n p]\nvar w: vector[p]\nminimize sum_squares(X @ w) - norm2(w) + norm1(w) / 0\n"
    model, found = examine(text, partial=True)
    assert model is None and [d.code for d in found] == ["FW2060"]


def test_unused_declarations_are_warned_of():
    model, found = examine(
        "data a: vector[n], b: vector[n]\nparam c: real\nvar x: vector[n], y: real\nminimize norm1(x - a)\n"
    )
    assert model is not None
    assert [(d.code, marked(d), d.severity) for d in found] == [
        ("FW2090", "b", "warning"),
        ("FW2091", "c", "warning"),
        ("FW2092", "y", "warning"),
    ]


@pytest.mark.parametrize(
    ("declared", "hint"),
    [
        ("data a: vector[n] in simplex(1)", "write `in nonnegative`"),
        ("data a: matrix[n, n] in simplex(1)", "write `in nonnegative`, or declare it `psd[n]` or `symmetric[n]`"),
        ("data a: real in positive", "write `data a: positive`"),
        ("param a: real in positive", "write `param a: positive`"),
        ("param a: vector[n] in positive", "write `param a: vector[n] in box(1e-9, inf)`"),
        (
            "data a: vector[n] in positive",
            "write `in nonnegative`; `param a: vector[n] in box(1e-9, inf)` promises entries above 0",
        ),
    ],
)
def test_a_promise_that_cannot_be_made_is_answered_with_one_that_can(declared: str, hint: str) -> None:
    found = examine(f"{declared}\nvar x: vector[n]\nminimize sum(x)\n")[1]
    assert [d.hint for d in found if d.code == "FW2023"] == [hint]


def test_parameters_in_a_box_above_zero_are_positive() -> None:
    model = accepted("param a: vector[n] in box(1e-9, inf)\nvar x: vector[n]\nminimize sum(a * square(x - 1))\n")
    assert model.params[0].bounds == (1e-9, float("inf"))
