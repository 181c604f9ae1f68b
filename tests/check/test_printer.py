"""Models and expressions as text."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fwdsl.check import describe_model, format_typed
from fwdsl.model import Expr

from .helpers import accepted

PROGRAM = """\
problem small
data X: matrix[n, p], y: vector[n] from csv("a.csv"), c: vector[2] = [1, 2]
param mu: nonnegative = 10/n, delta: positive
var w: vector[p], b: real
let fit = mean(huber(X @ w + b, y, delta=2))
minimize fit + mu * norm1(w) + sum(c) * b
subject to
    norm2(w) <= delta
    balance: sum(w) == 0
solve tol = 1e-8
"""

EXPECTED = """\
problem small
data
  X  matrix[n, p], from csv
  y  vector[n], from csv
  c  vector[2], literal
param
  mu     nonnegative, default 10 / n
  delta  positive, no default
var
  w  vector[p]
  b  real
dimension
  n  bound by X, y
  p  bound by X
minimize
  fit  mean(huber(X @ w + b, y, delta=2))
  t2   mu * norm1(w)
  t3   sum(c) * b
subject to
  c1       w in l2_ball(delta)
  balance  sum(w) == 0
solve
  tol  1e-08
facts
  fit         convex: `huber` is a loss, convex in its prediction, which is affine in `b`, `w`; its coefficient `1` is positive
  norm1(w)    convex: `norm1` is a norm, convex in its argument, which is affine in `w`; its coefficient `mu` is nonnegative
  sum(c) * b  affine: affine in `b`
  c1          convex set: `l2_ball(delta)` is a ball of `norm2`, its radius `delta` is positive; what it contains is affine in `w`
  balance     affine equality: `sum(w) == 0`, affine in `w`
  mu          nonnegative: declared so
  delta       positive: declared so
"""


def test_a_model_prints_all_it_holds():
    assert describe_model(accepted(PROGRAM)) == EXPECTED


@pytest.mark.parametrize(
    "text",
    [
        "a - (b - c)",
        "a * (b + c)",
        "-(a + b)",
        "a / (b * c)",
        "a * b / c",
        "(a + b) / c - 1",
        "X.T @ (X @ w)",
        "(X @ w)[0:2]",
        "X[:, 1:]",
        "dot(X @ w, y) * a",
        "sum(-w)",
    ],
)
def test_an_expression_prints_with_the_brackets_it_needs(text: str):
    declared = "data X: matrix[n, p], y: vector[n]\nparam a: real, b: real, c: positive\nvar w: vector[p]\n"
    model = accepted(f"{declared}let e = {text}\nminimize norm1(w)\n")
    printed = format_typed(_expr(dict(model.lets)["e"]))
    again = accepted(f"{declared}let e = {printed}\nminimize norm1(w)\n")
    assert _expr(dict(again.lets)["e"]) == _expr(dict(model.lets)["e"])
    assert printed == text


def _expr(value: object) -> Expr:
    assert isinstance(value, Expr)
    return value


def test_checking_loads_no_numerical_library():
    code = (
        "import sys; from fwdsl.grammar import parse; from fwdsl.check import check;"
        f"model, _ = check(parse({PROGRAM!r})[0]); assert model is not None;"
        "print([m for m in ('numpy', 'scipy', 'numba', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
