"""Every text that parses is checked without an exception, and diagnostics keep their promises."""

from __future__ import annotations

import random
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwdsl.check import check, describe_model
from fwdsl.diagnostics.catalogue import all_entries
from fwdsl.grammar import parse
from fwdsl.words import CONVEX, FEATURE_MAPS, FUNCTIONS, LOSSES, SETS

from .helpers import accepted, codes, examine

DECLARED = """\
data X: matrix[n, p], y: signs[n], b: vector[n], C: matrix[p, p], S: psd[p], L: labels[n, k], task: index[n] of T
data M: entries[n, p], v: vector[p] in nonnegative, D: tensor[n, p, p], three: vector[3] = [1, 2, 3], K: matrix[4, 3]
param mu: nonnegative = 1, delta: positive = 2, s: real = 1, c: count = 2
let Phi = rbf(X, gamma=delta)
let Fo = fourier(X, features=10, gamma=0.5)
let St = intercept(standardize(X))
var w: vector[p], W: matrix[p, k], Z: symmetric[p], F: family[T] of vector[p], G: family[T] of psd[p], r0: real, r1: nonnegative
var B: matrix[n, p], w3: vector[3], A: vector[dim(Phi)], a10: vector[10], V: matrix[p, p]
let u = X @ w
let l = logistic(u, y)
let q = mean(l)
"""
NAMES = (
    "X y b C S L task M v D three K mu delta s c Phi Fo St w W Z F G r0 r1 B w3 A a10 V u l q n p k T unknown".split()
)
ATOMS = st.sampled_from([*NAMES, "0", "1", "3.5", "-2", "inf", "true", '"text"', "[1, 2, 3]", "[[0, 1], [2]]"])
CALLED = {
    **dict.fromkeys(LOSSES, 2),
    **dict.fromkeys((*CONVEX, *FEATURE_MAPS), 1),
    **{n: len(w.parameters) for n, w in FUNCTIONS.items()},
}
CALLED.update(group_norm=2, quad_form=2, rbf=2, fourier=3)


@st.composite
def calls(draw: st.DrawFn, inner: st.SearchStrategy[str]) -> str:
    name = draw(st.sampled_from(sorted(CALLED)))
    args = [draw(inner) for _ in range(max(1, CALLED[name] + draw(st.sampled_from([0, 0, 0, 0, 1, -1]))))]
    if draw(st.integers(0, 9)) == 0:
        args.append(f"{draw(st.sampled_from(['tau', 'delta', 'eps', 'gamma', 'weights']))}={draw(inner)}")
    return f"{name}({', '.join(args)})"


def deeper(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    infix = st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "@"]), inner)
    index = st.sampled_from(["0", "0:2", ":, 2", "1:", "-1", "M", "task", "n", "9, 9, 9"])
    return st.one_of(
        infix.map(lambda t: f"{t[0]} {t[1]} {t[2]}"),
        inner.map(lambda t: f"({t})"),
        inner.map(lambda t: f"-({t})"),
        st.sampled_from(NAMES).map(lambda t: f"{t}.T"),
        st.tuples(st.sampled_from(NAMES), index).map(lambda t: f"{t[0]}[{t[1]}]"),
        calls(inner),
    )


EXPRESSIONS = st.recursive(ATOMS, deeper, max_leaves=8)


@st.composite
def constraints(draw: st.DrawFn) -> str:
    left, right = draw(EXPRESSIONS), draw(EXPRESSIONS)
    if draw(st.booleans()):
        ops = st.sampled_from(["<=", ">=", "=="])
        chain = f" {draw(ops)} {draw(ATOMS)}" if draw(st.integers(0, 3)) == 0 else ""
        return f"{left} {draw(ops)} {right}{chain}"
    name = draw(st.sampled_from(sorted(SETS)))
    given_ = [draw(ATOMS) for _ in SETS[name].parameters]
    return f"{left} in {name}({', '.join(given_)})" if given_ else f"{left} in {name}"


@given(st.sampled_from(["minimize", "maximize"]), EXPRESSIONS, st.lists(constraints(), max_size=3))
def test_any_program_is_checked(sense: str, objective: str, listed: list[str]):
    text = f"{DECLARED}{sense} {objective}\n" + (f"subject to\n  {chr(10).join(listed)}\n" if listed else "")
    program, found = parse(text)
    model, diagnostics = check(program, partial=bool(found))
    assert len(diagnostics) <= 20
    for d in diagnostics:
        assert d.code in all_entries() and d.code.startswith(("FW2", "FW3"))
        assert d.span is not None and 0 <= d.span.start <= d.span.end <= len(text)
        assert d.message and d.rule and not d.message.endswith(".")
    if not found:
        assert (model is None) == any(d.severity == "error" for d in diagnostics)
    if model is not None:
        assert describe_model(model)
        assert check(program) == (model, diagnostics)


WORDS = [
    *NAMES,
    *CALLED,
    *SETS,
    *"( ) [ ] , + - * / @ = == <= >= : in of from data var let minimize 1 0.5 \n".split(" "),
]


@given(st.lists(st.sampled_from(WORDS), max_size=30), st.integers(0, 2**32))
def test_mutated_programs_are_checked(words: list[str], seed: int):
    entries = [e for code, e in all_entries().items() if code.startswith(("FW2", "FW3"))]
    rng = random.Random(seed)
    parts = rng.choice(entries).good.split(" ")
    for word in words:
        parts[rng.randrange(len(parts))] = word
    program, found = parse(" ".join(parts))
    model, diagnostics = check(program, partial=bool(found))
    assert len(diagnostics) <= 20 and (model is None or not found)


def test_deep_nesting():
    deep = "(" * 110 + "x" + " + 1) * 2" * 110
    assert codes(f"var x: real\nminimize sum_squares({deep})\n") == ["FW2067"]
    assert codes(f"var x: real\nminimize sum_squares({'(' * 60}x{' + 1) * 2' * 60})\n") == []
    assert codes(f"var x: vector[n]\nminimize sum(x{'.T' * 240})\n") == ["FW2067"]
    assert codes(
        "var x0: real\n" + "".join(f"let x{i + 1} = x{i} + 1\n" for i in range(1000)) + "minimize sum_squares(x999)\n"
    ) == ["FW2067"]


def test_lets_of_exponential_size_are_refused_quickly():
    for first in ("x + x", "norm1(x) + x", "mean(huber(x, 1)) + 2 * x"):
        doubling = "".join(f"let a{i + 1} = a{i} + a{i}\n" for i in range(200))
        assert codes(f"var x: real\nlet a0 = {first}\n{doubling}minimize sum_squares(x)\n") == ["FW2067"]


def test_long_sums():
    terms = " + ".join(f"{i} * x[{i % 7}]" for i in range(20_000))
    assert len(accepted(f"var x: vector[7]\nminimize {terms} + sum_squares(x)\n").terms) == 20_001
    norms = " + ".join(f"norm1(x - {i})" for i in range(2000))
    assert len(accepted(f"var x: vector[7]\nminimize {norms}\n").terms) == 2000


def test_many_errors_are_found_in_order_and_capped():
    text = "var x: real\nminimize " + " + ".join(f"missing{i}" for i in range(5000)) + "\n"
    found = examine(text)[1]
    assert [d.message for d in found] == [f"`missing{i}` is not declared" for i in range(20)]


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("-(", ")"),
        ("2 * (", ")"),
        ("sum(", ")"),
        ("dot(y, ", ")"),
        ("abs(", ")"),
        ("inner(A, ", ")"),
        ("(", ").T"),
        ("(", ")[:]"),
    ],
)
def test_what_nests_as_deeply_as_the_parser_takes_it_needs_no_other_limit_of_calls(
    opening: str, closing: str, monkeypatch: pytest.MonkeyPatch
):
    def refuse(limit: int) -> None:
        raise AssertionError("the limit of calls is the whole process's")

    monkeypatch.setattr(sys, "setrecursionlimit", refuse)
    deep = f"{opening * 190}x{closing * 190}"
    text = f"data A: matrix[n, n], y: vector[n]\nvar x: vector[n]\nlet z = {deep}\nminimize sum(x) + sum({deep})\n"
    for said in (examine(f"{text}subject to sum({deep}) <= 1\n"), examine(f"{text}subject to {deep} >= z\n")):
        assert "FW2067" not in {d.code for d in said[1]}
