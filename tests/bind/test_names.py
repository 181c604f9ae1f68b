from __future__ import annotations

import numpy as np
import pytest

from fwdsl.bind import Bindings
from fwdsl.readers.sources import SourceSpec

TEXT = "data X: matrix[n, p], b: vector[n]\nparam delta: positive"
GIVEN = {"X": np.ones((2, 2)), "b": np.ones(2), "delta": 1.0}


def test_an_unknown_name_is_told_with_the_one_that_was_meant(found):
    (d,) = found(TEXT, **GIVEN, dleta=2.0)
    assert (d.code, d.hint) == ("FW4500", "did you mean `delta`?")
    assert d.message == "`bind(dleta=...)` gives `dleta`, which the program does not declare"
    assert "data `X`, `b`; parameters `delta`; dimensions `n`, `p`" in d.rule


def test_case_is_a_slip_too(found):
    (d,) = found(TEXT, **GIVEN, x=1)
    assert d.hint == "did you mean `X`?"


def test_nothing_is_proposed_for_a_name_like_no_other(found):
    (d,) = found(TEXT, **GIVEN, temperature=1)
    assert (d.code, d.hint) == ("FW4500", "")


@pytest.mark.parametrize(
    ("bindings", "message", "hint"),
    [
        (
            Bindings(GIVEN, params={"X": 3.0}),
            "`--set X` gives `X`, which is data",
            "write `--data X=PATH`",
        ),
        (
            Bindings(GIVEN, dims={"delta": 3}),
            "`--dim delta` gives `delta`, which is a parameter",
            "write `--set delta=3`",
        ),
        (
            Bindings(GIVEN, sources=((("delta",), SourceSpec("npy", "d.npy")),)),
            "`--data delta` gives `delta`, which is a parameter",
            "write `--set delta=3`",
        ),
        (
            Bindings(GIVEN, dims={"w": 3}),
            "`--dim w` gives `w`, which is a variable",
            "leave it out, as its value is what is found",
        ),
        (
            Bindings(GIVEN, params={"n": 3.0}),
            "`--set n` gives `n`, which is a dimension",
            "write `--dim n=5`",
        ),
    ],
    ids=["set", "dim", "data", "variable", "set a dimension"],
)
def test_a_name_given_as_another_kind(found, bindings, message, hint):
    (d,) = found(TEXT + "\nvar w: vector[p]", bindings)
    assert (d.code, d.message, d.hint) == ("FW4503", message, hint)


def test_a_name_given_as_another_kind_is_not_missing_too(found):
    diagnostics = found("data X: matrix[n, p]\nparam mu: positive\n", Bindings({}, params={"X": 1.0}, dims={"mu": 2}))
    assert [d.code for d in diagnostics] == ["FW4503", "FW4503"]


def test_each_missing_name_is_an_error_that_lists_what_was_given(found):
    diagnostics = found(TEXT, b=np.ones(2))
    assert [(d.code, d.message) for d in diagnostics] == [
        ("FW4501", "`X` has no value: given were `b`"),
        ("FW4502", "the parameter `delta` has no value: given were `b`"),
    ]
    assert "`--data X=PATH`" in diagnostics[0].hint and "`bind(X=...)`" in diagnostics[0].hint
    assert "`--set delta=VALUE`" in diagnostics[1].hint
    assert diagnostics[0].source.slice(diagnostics[0].span) == "X: matrix[n, p]"
    assert "nothing was given" in found(TEXT)[0].message


def test_independent_findings_come_together(found):
    text = "data X: matrix[n, p], b: vector[n], w: vector[n] in nonnegative\nparam delta: positive\nparam mu: real"
    diagnostics = found(text, X=[[np.inf]], b=[1.0, 2.0], w=[-1.0, 1.0], delta=0.0, nu=1.0)
    assert [d.code for d in diagnostics] == ["FW4500", "FW4021", "FW4516", "FW4506", "FW4511", "FW4502"]


def test_twenty_findings_at_most(found):
    text = "data " + ", ".join(f"x{i}: vector[n]" for i in range(30))
    assert len(found(text)) == 20
