"""The sizes that are predicted before anything is built."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.interior.sizes import size_of
from fwdsl.backends.method import Estimate
from fwdsl.canon.matrix_maps import LeftMultiply

NEAREST_CORRELATION = "data S: matrix[d, d]\nvar Z: psd[d]\nminimize sum_squares(Z - S)\nsubject to diag(Z) == 1"


def bound(d: int, further: str = "") -> fw.Problem:
    S = np.random.default_rng(d).standard_normal((d, d))
    return fw.parse(NEAREST_CORRELATION + further + "\n").bind(S=0.5 * (S + S.T))


def estimate(problem: fw.Problem) -> Estimate | None:
    return next(c.estimate for c in problem.plan().candidates if c.name == "interior")


def test_the_scaling_of_a_matrix_cone_is_counted() -> None:
    """It has no zeros: of 60 x 60 entries a dense matrix of 1,830 rows."""
    small, large = (estimate(bound(d, ", 2 - Z in nonnegative")) for d in (30, 60))
    assert small is not None and large is not None
    assert large.memory > 8.0 * 1830**2
    assert large.seconds > 8.0 * small.seconds


def test_a_matrix_cone_too_large_for_its_scaling_is_left_to_others() -> None:
    plan = bound(160).plan()
    assert plan.method == "pdhg"
    assert "12,880 rows" in str(plan)


def test_the_size_of_a_loss_of_rows_is_told_without_its_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """The map of 26 columns as a matrix has 26 times the data's entries: no prediction may form it."""
    monkeypatch.setattr(LeftMultiply, "sparse", lambda self: pytest.fail("formed"))
    rng = np.random.default_rng(0)
    text = "data X: matrix[n, p], y: labels[n, k]\nvar W: matrix[p, k]\nminimize sum_squares(W) + sum(multiclass_hinge(X @ W, y))\n"
    data = {"X": rng.standard_normal((300, 16)), "y": np.arange(300) % 26}
    assert estimate(fw.parse(text).bind(**data)) is not None


def test_a_few_rows_over_many_unknowns_are_counted_as_few() -> None:
    """Their Schur complement is factored: a program with more unknowns costs no more than their number times as much."""
    text = "data A: matrix[m, n], b: vector[m], q: vector[n]\nvar x: vector[n] in nonnegative\nminimize dot(q, x)\nsubject to A @ x >= b\n"
    rng = np.random.default_rng(0)
    problems = {
        n: fw.parse(text).bind(A=rng.standard_normal((40, n)), b=np.ones(40), q=rng.random(n)) for n in (500, 2000)
    }
    found = {n: problem.canonical.dense for n, problem in problems.items()}
    assert all(form is not None and size_of(form).kind == "condensed" for form in found.values())
    assert size_of(found[2000]).seconds < 8.0 * size_of(found[500]).seconds
    free = fw.parse(text.replace(" in nonnegative", "")).bind(
        A=rng.standard_normal((40, 500)), b=np.ones(40), q=rng.random(500)
    )
    # without bounds something else than a diagonal is left
    assert size_of(free.canonical.dense).seconds > 2.0 * size_of(found[500]).seconds


def test_programs_over_time_have_a_band() -> None:
    """However many entries their rows have, as long as these are of neighbours in time."""
    flows = "var P: matrix[T, k] in nonnegative\nminimize sum(P @ price)\nsubject to P @ ones(k) >= demand, P <= 3, norm_inf(diff(P, axis=0)) <= 1\n"
    T, k = 60, 12
    data = {"price": np.arange(1.0, k + 1.0), "demand": np.full(T, 9.0)}
    found = size_of(fw.parse("data price: vector[k], demand: vector[T]\n" + flows).bind(**data).canonical)
    assert found.kind == "sparse" and found.seconds < 2e-3
    # a row that sees all times at once ends that
    whole = fw.parse("data price: vector[k], demand: vector[T], W: matrix[s, T]\n" + flows.rstrip() + ", W @ P <= 50\n")
    W = np.random.default_rng(0).random((20, T))
    assert size_of(whole.bind(**data, W=W).canonical).seconds > 2.0 * found.seconds
    steps = "var X: matrix[T, d], U: matrix[T, m]\nminimize norm1(U) + norm1(X)\nsubject to X[1:] == X[:-1] @ A.T + U[:-1] @ B.T, X[0] == 1\n"
    control = fw.parse("data A: matrix[d, d], B: matrix[d, m], z: vector[T]\n" + steps)
    rng = np.random.default_rng(0)
    at = {
        t: size_of(control.bind(A=rng.random((8, 8)), B=rng.random((8, 3)), z=np.ones(t)).canonical) for t in (60, 240)
    }
    assert {found.kind for found in at.values()} == {"sparse"}
    assert at[240].seconds < 6.0 * at[60].seconds


def test_the_rows_of_a_cone_of_lengths_see_all_unknowns_of_the_cone() -> None:
    """Scaled, each of its rows is as full as all of them together: beside sparse data, a sparse system is formed of full rows."""
    rng = np.random.default_rng(1)
    C = sp.random_array((300, 600), density=0.013, rng=rng, format="csr")
    text = (
        "data C: matrix[k, n], d: vector[k]\nvar x: vector[n] in nonnegative\nminimize sum_squares(x)\nsubject to {}\n"
    )
    of_cone, of_rows = (
        size_of(fw.parse(text.format(c)).bind(C=C, d=np.ones(300)).canonical)
        for c in ("norm2(C @ x - d) <= 1", "C @ x <= d")
    )
    assert of_cone.kind != "sparse" and of_cone.seconds > of_rows.seconds


def test_arguments_of_a_constraint_beside_each_other_are_counted_once() -> None:
    """The rows of `t` in exp(A @ x) <= t see one unknown each: nothing fills up beside A."""
    A = np.random.default_rng(0).standard_normal((400, 5))
    text = (
        "data A: matrix[m, n]\nvar x: vector[n], t: vector[m]\nminimize sum(t) + norm2(x)\nsubject to exp(A @ x) <= t\n"
    )
    form = fw.parse(text).bind(A=A).canonical
    (term,) = (t for t in form.terms if t.is_indicator)
    assert sum(m.entries for _, m in term.map.parts) == sum(
        np.count_nonzero(m.written().toarray()) for _, m in term.map.parts
    )
    assert not size_of(form).fills and size_of(form).unknowns <= form.size + 1


def test_unknowns_beside_a_loss_of_their_own_leave_no_rows_behind() -> None:
    """Of `sum(pos(t))` beside `|X w - y| - 1 <= t` the system ends in the few entries of w, however many t has."""
    rng = np.random.default_rng(0)
    text = (
        "data X: matrix[n, p], y: vector[n]\nvar w: vector[p], t: vector[n]\nminimize sum(pos(t))\n"
        "subject to abs(X @ w - y) - 1 <= t\n"
    )
    sizes = []
    for n in (1000, 4000):
        problem = fw.parse(text).bind(X=rng.standard_normal((n, 20)), y=rng.standard_normal(n))
        form = problem.canonical.dense
        assert form is not None
        sizes.append(size_of(form).quick)
    assert sizes[1] < 8.0 * sizes[0]
