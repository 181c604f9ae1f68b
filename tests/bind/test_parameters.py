from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.bind import Bindings

DATA = "data b: vector[n]\n"
B = [1.0, 2.0, 3.0, 4.0]


def test_a_default_is_a_number_of_dimensions_and_parameters(bound):
    instance = bound(DATA + "param c: positive = 2\nparam mu: nonnegative = 10/n\nparam nu: real = -mu * c", b=B)
    assert {n: instance.values[n] for n in ("c", "mu", "nu")} == {"c": 2.0, "mu": 2.5, "nu": -5.0}
    assert instance.origins["mu"] == "the declaration"


def test_a_later_default_uses_the_value_given_for_an_earlier_one(bound):
    assert bound("param c: positive = 2\nparam mu: positive = 3 * c", c=5).values == {"c": 5.0, "mu": 15.0}


@pytest.mark.parametrize("value", [3, 3.0, np.float32(3), np.array(3), np.array([3.0]), True + 2])
def test_a_parameter_is_a_float(bound, value):
    result = bound("param delta: count", delta=value).values["delta"]
    assert result == 3.0 and type(result) is float


def test_set_wins_over_the_default(declare, tmp_path):
    from fwdsl.bind import bind

    instance, diagnostics = bind(declare("param delta: positive = 1"), Bindings(params={"delta": 3.0}), tmp_path)
    assert diagnostics == () and instance is not None
    assert instance.values == {"delta": 3.0}
    assert instance.origins == {"delta": "--set delta"}


@pytest.mark.parametrize(
    ("domain", "value", "expected"),
    [
        ("positive", 0.0, "greater than 0"),
        ("positive", -2, "greater than 0"),
        ("nonnegative", -0.5, "0 or greater"),
        ("count", 2.5, "a whole number from 1"),
        ("count", 0, "a whole number from 1"),
        ("real", np.nan, "finite"),
        ("positive", np.inf, "finite"),
    ],
)
def test_a_value_outside_its_domain(found, domain, value, expected):
    (d,) = found(f"param delta: {domain}", delta=value)
    assert d.code == "FW4511"
    assert d.message == f"`delta` is {value:g} from bind(delta=...), but must be {expected}"
    assert d.source.slice(d.span) == f"delta: {domain}"


def test_the_domain_of_a_default_is_checked_too(found):
    (d,) = found(DATA + "param mu: positive = -1/n", b=B)
    assert (d.code, d.message) == ("FW4511", "`mu` is -0.25 from the declaration, but must be greater than 0")


QUANTILE = DATA + "param tau: positive\nvar x: vector[n]\nminimize mean(quantile(x, b, tau={})) + sum_squares(x)"


@pytest.mark.parametrize("option, value, told", [("tau", 1.0, "1 from bind(tau=...)"), ("2*tau", 0.6, "1.2")])
def test_an_option_of_a_loss_is_in_its_domain(option, value, told):
    problem = fw.parse(QUANTILE.format(option)).bind(b=B)
    assert problem.bind(tau=0.4).check(data=True) == ()
    (d,) = problem.bind(tau=value).check(data=True)
    assert d.code == "FW4511"
    assert d.message == f"`tau` of `quantile` is {told}, but must be between 0 and 1"
    assert d.source.slice(d.span) == option


def test_an_option_is_looked_at_again_for_each_value_of_a_path():
    problem = fw.parse(QUANTILE.format("tau")).bind(b=B, tau=0.5)
    assert problem.solve(max_iter=0).status
    with pytest.raises(fw.DataError, match="`tau` of `quantile` is 2"):
        problem.path(tau=[0.5, 2.0])


def test_the_domain_of_scalar_data_is_checked_too(found):
    (d,) = found("data s: count", s=1.5)
    assert d.code == "FW4511"


@pytest.mark.parametrize(
    ("value", "words"), [("3", "a str"), (1j, "a complex"), ([1, 2], "a list"), (np.ones(2), "an array of shape (2,)")]
)
def test_a_value_that_is_no_number(found, value, words):
    (d,) = found("param delta: real", delta=value)
    assert (d.code, d.message) == ("FW4512", f"`delta` is {words} from bind(delta=...), where a number is needed")


def test_a_default_without_a_value(found):
    (d,) = found("param c: real = 0\nparam mu: real = 1 / c")
    assert (d.code, d.message) == ("FW4513", "the default of `mu` has no value: division by zero")
    assert d.source.slice(d.span) == "1 / c"


def test_a_default_that_uses_a_wrong_parameter_is_not_complained_of(found):
    assert [d.code for d in found("param c: positive\nparam mu: real = 2 * c", c=-1)] == ["FW4511"]
