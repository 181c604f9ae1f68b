"""Names from elsewhere: each has a record that says what to write or why it is out, and none is a word."""

from __future__ import annotations

import inspect
from collections import Counter

import numpy as np
import pytest

from fwdsl import words
from fwdsl.check import examine_text
from fwdsl.words.foreign import WHY, foreign, is_said, is_word, records

RECORDS = tuple(records())
CONVEX_JL = (
    "norm sumsquares square sqrt geomean quadform quadoverlin huber abs abs2 maximum minimum max min pos neg "
    "exp log entropy logsumexp relative_entropy logisticloss logdet eigmax eigmin nuclearnorm opnorm "
    "sumlargest sumsmallest sumlargesteigs dotsort invpos matrixfrac tr diag diagm dot kron vcat hcat reshape "
    "vec transpose conj real imag partialtrace partialtranspose conv inner_product Variable Semidefinite "
    "ComplexVariable HermitianSemidefinite Constant Problem minimize maximize satisfy solve! evaluate fix! "
    "free! isposdef Positive Negative rootdet trace_logm"
).split()
JUMP = (
    "@variable @variables @constraint @constraints @objective @expression Model optimize! value dual objective_value termination_status "
    "set_optimizer set_silent Bin Int SecondOrderCone RotatedSecondOrderCone PSDCone HermitianPSDCone SOS1 SOS2 Semicontinuous Semiinteger "
    "Nonnegatives Nonpositives Zeros ExponentialCone PowerCone GreaterThan LessThan EqualTo Interval ZeroOne Integer "
    "NormOneCone NormInfinityCone GeometricMeanCone RelativeEntropyCone LogDetConeTriangle"
).split()


def _known(name: str) -> bool:
    """True if the name is a word, the name elsewhere of one, or has a record."""
    functions = [word for n in words.function_names() if (word := words.function_named(n)) is not None]
    alike = words.elsewhere([*functions, *words.SETS.values(), *words.COLUMN_WORDS.values()])
    stated = name.lower() in ("minimize", "maximize")
    return (
        stated
        or words.is_reserved(name)
        or name.lower() in alike
        or any(foreign(name, p) for p in ("call", "value", "option"))
    )


def test_one_record_a_name():
    assert [name for name, count in Counter(r.name for r in RECORDS).items() if count > 1] == []


def test_no_record_names_a_word():
    taken = [r.name for r in RECORDS if is_word(r)]
    assert taken == [], (
        "these are words now: delete their records in fwdsl/words/foreign, their hints are no longer given"
    )


@pytest.mark.parametrize("record", RECORDS, ids=lambda r: r.name)
def test_each_record_says_something(record):
    assert record.of
    assert record.why and not record.why.endswith(".") and record.why[0] not in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    assert not record.kind or record.kind in WHY


def test_every_public_name_of_cvxpy_is_known():
    cp = pytest.importorskip("cvxpy")
    public = [n for n in dir(cp) if not n.startswith("_") and not inspect.ismodule(getattr(cp, n))]
    assert [n for n in public if not _known(n)] == []


def test_every_function_of_numpy_is_known():
    named = [n for n in np.__all__ if callable(getattr(np, n)) and not isinstance(getattr(np, n), type)]
    assert [n for n in (*named, *np.linalg.__all__) if not _known(n)] == []


def test_every_estimator_of_scikit_learn_is_known():
    utils = pytest.importorskip("sklearn.utils")
    assert [n for n, _ in utils.all_estimators() if not _known(n)] == []


@pytest.mark.parametrize("name", CONVEX_JL)
def test_the_functions_of_convex_jl_are_known(name: str):
    assert _known(name)


@pytest.mark.parametrize("name", [n for n in JUMP if not n.startswith("@")])
def test_the_names_of_jump_are_known(name: str):
    assert _known(name)


DECLARED = """data A: matrix[n, n], P: psd[n], b: vector[n]
param k: count = 2
param p: positive = 3
var x: vector[n], X: symmetric[n], t: real in box(1, 2)
"""
VALUES = {
    "x": "x",
    "X": "X",
    "A": "A",
    "P": "P",
    "a": "b",
    "b": "x",
    "y": "b",
    "z": "x",
    "t": "t",
    "beta": "0.95",
    "k": "k",
    "p": "p",
    "n": "n",
}


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        (r.name, w.arguments, w.text)
        for r in RECORDS
        for w in r.ways
        if is_said(w) and not w.text.startswith(("box", "eye"))
    ],
)
def test_what_is_to_be_written_is_accepted(name: str, arguments: str, text: str):
    """The call as it is written elsewhere gets a fix, and the program with it has no error that says there is no such thing.

    Where it takes a variable beside, which a fix cannot declare, the help has the text.
    """
    ((record, way),) = [(r, w) for r in RECORDS if r.name == name for w in r.ways if w.arguments == arguments]
    shapes = {a.name: a.shape for a in way.pattern}
    given = []
    for a in way.pattern:
        value = a.literal or ("t" if shapes[a.name] == "scalar" else VALUES[a.name])
        given.append(f"{a.keyword}={value}" if a.keyword else value)
    program = f"{DECLARED}minimize sum({name}({', '.join(given)}))\n"
    (found,) = [d for d in examine_text(program).diagnostics if d.code in ("FW2006", "FW2050")]
    if record.variable:
        declared, said = (part.strip("`") for part in found.hint.removeprefix("declare ").split(" and write "))
        assert found.span is not None and found.fix is None
        mended = program.replace(f"{name}({', '.join(given)})", said).replace("minimize", f"{declared}\nminimize")
    else:
        assert found.fix is not None and not found.fix.guess
        mended = program[: found.fix.span.start] + found.fix.replacement + program[found.fix.span.end :]
    codes = {d.code for d in examine_text(mended).diagnostics if d.severity == "error"}
    assert not codes & {"FW2001", "FW2006", "FW2008", "FW2011", "FW2050"}, mended
