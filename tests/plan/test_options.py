"""The domain of a method's options: what is accepted, what the method gets, and what a refusal says."""

from __future__ import annotations

import inspect
import math

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.option import Option
from fwdsl.backends.registry import METHODS

SHARE = Option(None, "share of the samples in a batch", kind=float, lower=0.0, upper=1.0, open_lower=True)
COUNT = Option(8, "columns to start with", lower=1)
RULE = Option("open", "the step rule", choices=("open", "short"))
SWITCH = Option(True, "whether to restart")


@pytest.mark.parametrize(
    ("option", "good", "bad"),
    [
        (SHARE, ["auto", None, 1, 0.5], [0, 1.5, -1, math.nan, math.inf, "half", True, 10**400, np.array([1, 2]), [1]]),
        (COUNT, [1, 8, 3.0], [0, 1.5, "auto", True, None, 10**400]),
        (RULE, ["open", "short"], ["fast", 1, True]),
        (SWITCH, [True, False], [1, "true", 0.0]),
    ],
)
def test_a_domain_accepts_what_lies_in_it(option: Option, good: list[object], bad: list[object]) -> None:
    assert [option.accepts(v) for v in good] == [True] * len(good)
    assert [option.accepts(v) for v in bad] == [False] * len(bad)


def test_a_method_gets_values_of_the_option_s_type() -> None:
    assert SHARE.take("auto") is SHARE.take(None) is None
    assert (SHARE.take(1), type(SHARE.take(1))) == (1.0, float)
    assert (COUNT.take(3.0), type(COUNT.take(3.0))) == (3, int)


def test_a_domain_is_described_in_words() -> None:
    assert SHARE.describe() == "a number above 0 and at most 1, or `auto`"
    assert COUNT.describe() == "a whole number at least 1"
    assert RULE.describe() == '`"open"` or `"short"`'
    assert SWITCH.describe() == "`true` or `false`"


@pytest.mark.parametrize("name", sorted(METHODS))
def test_every_method_has_runs_that_take_its_options(name: str) -> None:
    method = METHODS[name]
    method.load()
    assert method.name == name and method.run.method is method
    # the constructor of a run takes the options by name, and has no defaults of its own
    taken = list(inspect.signature(method.run.__init__).parameters.values())[2:]
    assert {p.name for p in taken} == set(method.completed({})) and all(p.default is p.empty for p in taken)
    for option in METHODS[name].options.values():
        assert option.meaning
        assert option.default is None or option.accepts(option.default)


def test_a_number_outside_its_domain_is_refused_with_the_domain() -> None:
    text = "data M: entries[n, p]\nvar B: matrix[n, p] in nuclear_ball(1)\nminimize mean(squared(B[M], M))\n"
    problem = fw.parse(text).bind(M=(np.array([0, 1]), np.array([0, 1]), np.array([1.0, 2.0])))
    with pytest.raises(fw.FwError) as caught:
        problem.solve(method="lowrank", rank=0)
    assert caught.value.code == "FW5004"
    assert "a whole number at least 1" in str(caught.value)


def test_values_from_python_that_no_option_can_have_are_refused_and_those_of_numpy_taken() -> None:
    text = "data A: matrix[n, p], y: vector[n]\nvar x: vector[p] in l1_ball(1)\nminimize mean(squared(A @ x, y))\n"
    problem = fw.parse(text).bind(A=np.eye(3), y=np.arange(3.0))
    assert problem.solve(method="apg", newton=np.bool_(False), threads=1).status == "optimal"
    assert problem.solve(method="gsfw", batch=None, max_iter=1, threads=1).iterations <= 1
    for code, given in (
        ("FW5004", {"method": "gsfw", "batch": 10**400}),
        ("FW5004", {"method": "gsfw", "batch": np.array([1.0, 2.0])}),
        ("FW0310", {"tol": 10**400}),
        ("FW0310", {"time": 10**400}),
        ("FW0310", {"gap": np.array(["relative", "absolute"])}),
    ):
        with pytest.raises(fw.FwError) as caught:
            problem.solve(**given)
        assert caught.value.code == code


def test_a_method_and_its_options_in_one_text_as_on_the_command_line() -> None:
    text = "data A: matrix[n, p], y: vector[n]\nvar x: vector[p]\nminimize mean(squared(A @ x, y)) + sum_squares(x)\n"
    problem = fw.parse(text).bind(A=np.eye(3), y=np.arange(3.0))
    options = problem.solve(method="newton(system=cg)").options
    assert options is not None and (options.method, options.method_options) == ("newton", {"system": "cg"})
    plan = problem.plan(method='newton(system="cg")', max_iter=3)
    assert (plan.method, plan.method_options["system"]) == ("newton", "cg")
    assert problem.plan(method="newton(system=cg)", system="primal").method_options["system"] == "primal"
    assert {c.name for c in problem.plan(method="svrg, pdhg").weighed} == {"svrg", "pdhg"}
    for wrong in ("newton(", "newton(system=cg", "", "auto, apg", "apg; minimize 1"):
        with pytest.raises(fw.BuildError, match="FW0310"):
            problem.plan(method=wrong)
    with pytest.raises(fw.PlanError, match="FW5004"):
        problem.plan(method="newton(nothing=1)")


def test_a_method_in_capitals_is_known() -> None:
    with pytest.raises(fw.PlanError) as caught:
        fw.parse("var x: real\nminimize sum_squares(x)\n").solve(method="GSFW")
    assert caught.value.code == "FW5002" and caught.value.hint == "did you mean `gsfw`?"
