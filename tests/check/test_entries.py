"""Functions of entries in the checker: the losses that they are, the coefficients that they may have, and what is refused."""

from __future__ import annotations

import pytest

from fwdsl.check.printer import format_term

from .helpers import accepted, marked, only

HEAD = (
    "data A: matrix[m, n], b: vector[m], w: vector[m] in nonnegative, W: matrix[m, n] in nonnegative, k: vector[n] in nonnegative\n"
    "param q: real, mu: positive\nvar x: vector[n], X: matrix[m, n], t: real\n"
)


def told(text: str) -> list[str]:
    return [format_term(term) for term in accepted(HEAD + text).terms]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("minimize sum(abs(x))", ["sum(absolute(x, zeros(n)))"]),
        ("minimize sum(square(A @ x - b))", ["sum(squared(A @ x - b, zeros(m)))"]),
        ("minimize sum(exp(x))", ["sum(poisson(x, zeros(n)))"]),
        ("minimize sum(logistic(x))", ["sum(logistic(x, -1 * ones(n)))"]),
        ("minimize sum(huber(x, delta=2))", ["sum(huber(x, zeros(n), delta=2))"]),
        ("minimize -2 * sum(log(x))", ["-2 * sum(log(x))"]),
        ("maximize w @ log(A @ x)", ["sum(w * log(A @ x))"]),
        ("maximize dot(log(A @ x), w) - t", ["sum(w * log(A @ x))", "-t"]),
        ("minimize sum(power(x, 2)) + sum(power(x, 4))", ["sum(squared(x, zeros(n)))", "sum(abs_power(x, p=4))"]),
        ("minimize sum(power(x, -1)) - sum(power(x, 0.5))", ["sum(power(x, p=-1))", "-sum(power(x, p=0.5))"]),
        ("minimize sum(inv_pos(x)) - sum(sqrt(x))", ["sum(power(x, p=-1))", "-sum(power(x, p=0.5))"]),
        ("minimize sum(power(abs(x), 3))", ["sum(abs_power(x, p=3))"]),
        ("minimize sum(kl_div(k, x))", ["sum(poisson_rate(x, k))"]),
        ("minimize sum(rel_entr(x, k))", ["sum(kl_div(x, k))", "sum(x - k)"]),
        ("minimize sum(exp(x) - log(x) + 1)", ["sum(poisson(x, zeros(n)))", "-sum(log(x))", "sum(1 * ones(n))"]),
    ],
)
def test_a_function_of_entries_is_a_loss(text: str, terms: list[str]) -> None:
    assert told(text) == terms


def test_like_terms_are_one() -> None:
    """So that their signs are those of the sum."""
    assert told("minimize 2 * sum(log(x)) - 3 * sum(log(x))") == ["-sum(log(x))"]


@pytest.mark.parametrize(
    "text", ["minimize exp(t) - log(t)", "minimize kl_div(t, 2) + square(t)", "maximize sqrt(t) - t"]
)
def test_a_number_needs_no_sum(text: str) -> None:
    assert all(not term.argument.type.array_shape for term in accepted(HEAD + text).terms)


def test_the_mean_of_a_matrix_is_that_of_its_entries() -> None:
    (term,) = accepted(HEAD + "minimize mean(exp(X))").terms
    assert term.reduce == "mean" and term.coefficient.variables == frozenset()
    assert format_term(term) == "1 / n * mean(poisson(X, zeros(m, n)))"


def test_a_datum_may_have_the_name_of_a_function_of_numbers() -> None:
    text = "data log: vector[n]\nparam power: positive\nvar x: vector[n]\nminimize power * sum(power(x - log, 4)) + sum(exp(x))\n"
    assert len(accepted(text).terms) == 2


@pytest.mark.parametrize(
    ("text", "code", "under"),
    [
        ("minimize sum(log(x))", "FW3001", "sum(log(x))"),
        ("maximize sum(exp(x))", "FW3001", "sum(exp(x))"),
        ("minimize sum(power(x, 0.5))", "FW3001", "sum(power(x, 0.5))"),
        ("maximize q * log(t)", "FW3002", "q * log(t)"),
        ("minimize sum(power(x, q))", "FW2012", "q"),
        ("minimize sum(power(x, 0))", "FW2012", "0"),
        ("minimize sum(abs_power(x, 0.5))", "FW2012", "0.5"),
        ("minimize exp(x)", "FW2058", "exp(x)"),
        ("minimize sum(exp(log(x)))", "FW3005", "log(x)"),
        ("minimize sum(w * exp(X))", "FW2049", "w"),
        ("minimize sum(exp(X) @ w)", "FW3005", "exp(X)"),
        ("minimize sum(gamma_loss(A @ x, b))", "FW3007", "b"),
        ("minimize sum(b * exp(A @ x))", "FW3007", "b"),
    ],
)
def test_what_is_refused(text: str, code: str, under: str) -> None:
    found = only(HEAD + text)
    assert (found.code, marked(found)) == (code, under)


def test_a_concave_function_is_called_so() -> None:
    assert "`log` is concave in each entry" in only(HEAD + "minimize sum(log(x))").rule
    assert "is concave and not affine" in only(HEAD + "minimize sum(exp(log(x)))").message
    assert "param q: nonnegative" in only(HEAD + "maximize q * log(t)").hint
