"""The builder declares names, inferred types, promises, attached arrays, words of the language."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.diagnostics.catalogue import all_entries
from fwdsl.words import SETS, function_names

RNG = np.random.default_rng(3)
X = RNG.standard_normal((20, 4))
Y = np.where(RNG.standard_normal(20) > 0, 1.0, -1.0)


def lines(problem: fw.Problem, word: str) -> list[str]:
    return [line for line in problem.to_fw().splitlines() if line.startswith(word)]


def values(problem: fw.Problem) -> dict[str, object]:
    return dict(problem.instance.values)


def test_unnamed_arrays_are_data_in_order_of_use():
    b = fw.vector(4)
    problem = fw.minimize(fw.mean(fw.logistic(X @ b, Y)) + fw.dot(np.ones(4), b))
    assert lines(problem, "data") == ["data data1: matrix[20, 4]", "data data2: signs[20]", "data data3: vector[4]"]
    assert lines(problem, "var") == ["var var1: vector[4]"]
    assert np.shares_memory(problem.instance.values["data1"], X)


def test_one_array_is_one_datum_unless_needed_as_two_kinds():
    b = fw.vector(4, name="b")
    fit = fw.sum_squares(X @ b - Y) + fw.sum(fw.absolute(X @ b, Y))
    assert lines(fw.minimize(fit), "data") == ["data data1: matrix[20, 4]", "data data2: vector[20]"]
    both = fw.minimize(fit + fw.sum(fw.hinge(X @ b, Y)))
    assert lines(both, "data")[1:] == ["data data2: vector[20]", "data data3: signs[20]"]


def test_fresh_names_avoid_the_users():
    b = fw.vector(4, name="data1")
    problem = fw.minimize(fw.sum_squares(X @ b - fw.data("data3", Y)) + fw.dot(np.ones(4), b))
    assert lines(problem, "data") == ["data data2: matrix[20, 4]", "data data3: vector[20]", "data data4: vector[4]"]


@pytest.mark.parametrize(
    ("loss", "target", "declared"),
    [
        ("hinge", Y, "signs[20]"),
        ("squared", Y, "vector[20]"),
        ("softmax", np.arange(20) % 3, "labels[20, 3]"),
        ("weston_watkins", np.array(["a", "b", "c", "d"] * 5), "labels[20, 4]"),
        ("logistic", np.array(["spam", "ham"] * 10), "signs[20]"),
    ],
)
def test_a_target_is_what_its_loss_needs(loss: str, target: np.ndarray, declared: str):
    classes = len(set(target.tolist()))
    v = fw.matrix(4, classes, name="v") if "labels" in declared else fw.vector(4, name="v")
    for given, name in ((target, "data2"), (fw.data("t", target), "t")):
        problem = fw.minimize(fw.mean(getattr(fw, loss)(X @ v, given)) + fw.sum_squares(v))
        assert lines(problem, "data")[1] == f"data {name}: {declared}"
        assert problem.check(data=True) == ()


def test_an_array_times_a_loss_is_a_weight_per_sample():
    b, w = fw.vector(4, name="b"), np.linspace(0, 1, 20)
    for weighted in (w * fw.hinge(X @ b, Y), fw.hinge(X @ b, Y) * w, 2 * fw.hinge(X @ b, Y) * fw.data("w", w)):
        problem = fw.minimize(fw.mean(weighted) + fw.sum_squares(b))
        assert sum("vector[20] in nonnegative" in line for line in lines(problem, "data")) == 1
        assert problem.model.terms[0].weights is not None
    plain = fw.minimize(fw.sum_squares(w * (X @ b)))
    assert lines(plain, "data") == ["data data1: vector[20]", "data data2: matrix[20, 4]"]


def test_other_inferred_types():
    x, F = fw.vector(4, name="x"), fw.symmetric_var(4, name="S")
    assert lines(fw.minimize(fw.quad_form(x, np.eye(4))), "data") == ["data data1: psd[4]"]
    grouped = fw.minimize(fw.group_norm(x - 1, np.array([0, 1, 1, 2])))
    assert lines(grouped, "data") == ["data data1: index[4] of 3"]
    stacked = fw.minimize(fw.sum_squares(fw.inner(np.ones((5, 4, 4)), F) - 1))
    assert lines(stacked, "data") == ["data data1: tensor[5, 4, 4]"]
    assert lines(fw.minimize(fw.sum_squares(x - [1, 2, 3, 4])), "data") == ["data data1: vector[4]"]
    assert lines(fw.minimize(fw.sum_squares(sp.eye_array(4, format="dia") @ x - 1)), "data") == [
        "data data1: matrix[4, 4]"
    ]


@pytest.mark.parametrize(
    ("param", "declared"),
    [
        (fw.param("t", 5.0), "param t: positive = 5.0"),
        (fw.param("t", 0), "param t: nonnegative = 0"),
        (fw.param("t", -1.5), "param t: real = -1.5"),
        (fw.param("t", 2, "count"), "param t: count = 2"),
        (fw.param("t", domain="positive"), "param t: positive"),
    ],
)
def test_params(param: fw.Expression, declared: str):
    problem = fw.minimize(fw.sum_squares(fw.vector(3, name="x") - param))
    assert lines(problem, "param") == [declared]


def test_declarations_come_before_their_use():
    n = fw.dim("n")
    mu = fw.param("mu", fw.param("c", 3.0) / n, "nonnegative")
    Phi = fw.let("Phi", fw.fourier(fw.data("X", fw.matrix_type("n", "p")), features=8, gamma=0.5))
    v = fw.vector(fw.dim(Phi), name="v")
    problem = fw.minimize(fw.sum_squares(Phi @ v - fw.data("b", fw.vector_type("n"))) + mu * fw.norm1(v))
    words = [line.split(":")[0].split(" =")[0] for line in problem.to_fw().splitlines() if line and line[0] != "f"]
    assert words[:6] == ["data X", "data b", "param c", "param mu", "let Phi", "var v"]
    assert problem.check() == ()


def test_two_things_with_one_name_are_refused():
    x, other = fw.vector(3, name="x"), fw.vector(3, name="x")
    with pytest.raises(fw.BuildError) as caught:
        fw.minimize(fw.sum_squares(x - other))
    assert caught.value.code == "FW0306"
    same = fw.data("X", X) @ fw.vector(4, name="b") - fw.data("X", X) @ np.ones(4)
    assert lines(fw.minimize(fw.sum_squares(same)), "data")[0] == "data X: matrix[20, 4]"
    with pytest.raises(fw.BuildError):
        fw.minimize(fw.sum_squares(fw.data("X", X) @ fw.vector(4) - fw.data("X", X.copy()) @ np.ones(4)))


def test_a_name_of_the_language_is_the_checkers_error_in_the_printed_program():
    problem = fw.minimize(fw.sum_squares(fw.vector(3, name="norm1")))
    (found,) = problem.check()
    assert found.code.startswith("FW2")
    assert found.span is not None and found.source is not None
    assert found.source.slice(found.span) == "norm1"


def test_an_error_points_into_the_printed_program():
    beta = fw.vector(5, name="beta")
    problem = fw.minimize(fw.sum_squares(fw.data("X", X) @ beta))
    with pytest.raises(fw.RejectedError) as caught:
        problem.solve()
    error = caught.value
    assert error.code.startswith("FW2")
    assert error.span is not None and "X @ beta" in problem.to_fw()[error.span.start : error.span.end]
    assert "sum_squares(X @ beta)" in str(error)


@pytest.mark.parametrize("name", sorted({*function_names(), *SETS} - {"dim"}))
def test_every_word_is_there(name: str):
    word = getattr(fw, name)
    assert name in dir(fw)
    if name in SETS and not SETS[name].parameters:
        assert isinstance(word, fw.SetExpression)
        return
    assert word.__name__ == name
    assert word.__doc__ and "of the language" not in word.__doc__
    assert inspect.signature(word).parameters
    assert getattr(fw, name) is word


def test_no_other_word_is_there():
    with pytest.raises(AttributeError):
        fw.norm  # noqa: B018


def test_signatures_show_defaults():
    assert str(inspect.signature(fw.huber)) == "(prediction, target=None, delta=1.0) -> 'Expression'"


def test_codes_of_misuse_are_in_the_catalogue():
    assert {f"FW03{k:02}" for k in range(1, 13)} <= set(all_entries())
