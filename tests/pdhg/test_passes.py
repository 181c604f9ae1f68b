"""The compiled passes of `pdhg`: the same iterates, counts and answers as its plain steps, with any threads; where they apply."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.pdhg import passes
from tests.runs import started, stepped

METHOD = "pdhg"


def data(m: int = 40, n: int = 70) -> dict[str, Any]:
    rng = np.random.default_rng(8)
    A = sp.random_array((m, n), density=0.1, rng=rng, data_sampler=lambda size: rng.uniform(-1.0, 1.0, size)).tocsr()
    x = rng.uniform(0.0, 1.0, n)
    return {"A": A, "b": A @ x, "c": rng.uniform(0.1, 1.0, n), "y": rng.standard_normal(n)}


PROGRAMS = {
    "equations": "var x: vector[n] in nonnegative\nminimize dot(c, x)\nsubject to A @ x == b",
    "inequalities between bounds": "var x: vector[n] in box(-1, 2)\nminimize dot(c, x)\nsubject to A @ x <= b, A @ x >= b - 1",
    "sizes and squares": "var x: vector[n]\nminimize 1/2 * sum_squares(x) + dot(y, x) + 0.1 * norm1(x)\nsubject to A @ x <= b",
    "steps": "var x: vector[n] in nonnegative\nminimize dot(c, x) + 0.3 * norm1(diff(x))\nsubject to A @ x >= 0.5 * b",
    "two variables": "var x: vector[n] in nonnegative, t: vector[m] in box(-1, 3)\nminimize dot(c, x) + sum(t)\nsubject to A @ x + t >= b",
}


def bound(name: str) -> fw.Problem:
    found = data()
    text = PROGRAMS[name]
    used = [key for key in found if f"{key}," in f"{text} " or f" {key}" in text or f"({key}" in text]
    heads = {"A": "data A: matrix[m, n]", "b": "data b: vector[m]", "c": "data c: vector[n]", "y": "data y: vector[n]"}
    head = "\n".join(heads[key] for key in used)
    return fw.parse(f"{head}\n{text}").bind(**{key: found[key] for key in used})


@contextmanager
def everywhere(monkeypatch: pytest.MonkeyPatch, least: float = 0) -> Iterator[None]:
    """Passes for programs of any size."""
    with monkeypatch.context() as patch:
        patch.setattr(passes, "LEAST", least)
        yield


@pytest.mark.parametrize("name", PROGRAMS)
def test_iterates_are_those_of_plain_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = stepped(bound(name), METHOD, 60)
    assert plain.passes is None
    with everywhere(monkeypatch):
        own = stepped(bound(name), METHOD, 60)
    assert own.passes is not None
    assert (own.state.restarts, own.state.inner) == (plain.state.restarts, plain.state.inner)
    size = max(1.0, float(np.abs(plain.state.x).max()))
    np.testing.assert_allclose(own.state.x, plain.state.x, rtol=0, atol=1e-9 * size)
    for y, other in zip(own.state.ys_hat, plain.state.ys_hat, strict=True):
        np.testing.assert_allclose(y, other, rtol=0, atol=1e-9 * max(1.0, float(np.abs(other).max())))
    # products of sparse multipliers touch fewer numbers, and passes all of them
    assert plain.problem.passes <= own.problem.passes <= 2.0 * plain.problem.passes


def test_threads_do_not_change_a_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passes, "BLOCK", 16)
    with everywhere(monkeypatch):
        one, two = (stepped(bound("equations"), METHOD, 40, threads=threads) for threads in (1, 2))
    assert np.array_equal(one.state.x, two.state.x) and one.state.eta == two.state.eta


@pytest.mark.parametrize("name", PROGRAMS)
def test_answers_are_certified(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = bound(name).solve(method="interior", tol=1e-8)
    with everywhere(monkeypatch):
        own = bound(name).solve(method=METHOD, tol=1e-5, max_iter=60_000)
    assert own.status == "optimal"
    assert own.dual_bound <= plain.objective + 1e-7 * abs(plain.objective)
    assert own.objective == pytest.approx(plain.objective, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "data A: matrix[m, n], b: vector[m]\nvar x: vector[n]\nminimize sum_squares(A @ x - b) + norm1(x)",
        "data A: matrix[m, n], b: vector[m]\nvar x: vector[n] in simplex(1)\nminimize sum(x)\nsubject to A @ x <= b",
        "data A: matrix[m, n], b: vector[m]\nvar x: vector[n]\nminimize sum_squares(x)\nsubject to norm2(A @ x - b) <= 1",
    ],
)
def test_they_need_sums_over_entries(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = data()
    with everywhere(monkeypatch):
        assert started(fw.parse(text).bind(A=found["A"], b=found["b"]), METHOD).passes is None


def test_dense_rows_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    found = data()
    text = "data A: matrix[m, n], b: vector[m], c: vector[n]\nvar x: vector[n] in nonnegative\nminimize dot(c, x)\nsubject to A @ x == b"
    with everywhere(monkeypatch):
        dense = fw.parse(text).bind(A=found["A"].toarray(), b=found["b"], c=found["c"])
        assert started(dense, METHOD).passes is None
