"""Newton steps on the face of the multipliers of a machine for several classes."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.svm.face import Face, move
from fwdsl.backends.svm.multiclass import MulticlassMachine
from tests.problems import laid_out
from tests.runs import started, stepped
from tests.svm.problems import LOSSES, classes


def value(m: MulticlassMachine, a: np.ndarray) -> float:
    """phi(a), with the weights of a made afresh."""
    W, b = m.weights(a)
    found = 0.5 * m.mu * float(np.vdot(W, W)) - float(a[np.arange(m.n), m.y].sum()) + float(np.vdot(m.offset, a))
    return found + (0.5 / m.inverse_nu * float(b @ b) if m.inverse_nu else 0.0)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("layout", ["dense", "csr", "float32"])
def test_a_step_goes_down_and_stays_inside(loss: str, intercept: bool, layout: str) -> None:
    """Multipliers stay in their set, W and b theirs, and phi falls to where the free entries of each row have one gradient."""
    run = stepped(classes(loss, intercept, weighted=True, layout=layout, n=60, k=5), "bcfw", 1)
    m, s = run.machine, run.state
    a, W, b = s.a.copy(), s.W.copy(), s.b.copy()
    before, settled = value(m, a), False
    for _ in range(50):
        face = Face.of(m, a)
        # a reference at its bound takes its row out of a step, and another one brings it back
        settled = move(m, face, a, W, b, 200, lambda: False) and Face.of(m, a).row.size == face.row.size
        if settled:
            break
    assert settled
    assert value(m, a) <= before + 1e-12 * abs(before)
    np.testing.assert_allclose(a.sum(axis=1), 0.0, atol=1e-12)
    own = a[np.arange(m.n), m.y]
    others = a.copy()
    others[np.arange(m.n), m.y] = 0.0
    assert others.max() <= 0.0
    assert (others.min(axis=1) >= -m.C - 1e-15).all() if m.weston else (own <= m.C).all()
    fresh_W, fresh_b = m.weights(a)
    np.testing.assert_allclose(W, fresh_W, atol=1e-10)
    np.testing.assert_allclose(b, fresh_b, atol=1e-10)
    by_classes = W if m.sparse else W.T
    X = np.asarray(m.rows[0] if m.is_dense else run.problem.canonical.instance.values["X"].toarray(), dtype=float)
    Q = m.c * (X @ by_classes) + b + m.offset
    Q[np.arange(m.n), m.y] -= 1.0
    left = Face.of(m, a)
    np.testing.assert_allclose(Q[left.row, left.label], Q[left.row, left.reference], atol=1e-6)


def test_it_stops_where_it_is_told() -> None:
    run = stepped(classes(LOSSES[0], n=60, k=5), "bcfw", 1)
    m, s = run.machine, run.state
    a = s.a.copy()
    assert not move(m, Face.of(m, a), a, s.W.copy(), s.b.copy(), 200, lambda: True)
    np.testing.assert_allclose(a, s.a, atol=1e-14)


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_it_finishes_what_sweeps_come_near_to(layout: str) -> None:
    """Sweeps converge by a factor where rows are long and classes overlap; the last step is Newton's, and exact."""
    rng = np.random.default_rng(4)
    X, y = rng.standard_normal((400, 60)), np.arange(400) % 4
    bound = fw.parse(
        "data X: matrix[n, d], y: labels[n, k]\nvar W: matrix[d, k]\nminimize sum(multiclass_hinge(X @ W, y)) + 1/2 * sum_squares(W)\n"
    ).bind(X=laid_out(X, layout), y=y)
    run = started(bound, "bcfw")
    for _ in range(100):
        run.step()
        report = run.report()
        if run.state.on_face and report.objective - report.bound <= 1e-11 * abs(report.objective):
            break
    else:
        raise AssertionError("no step ended on the face of the optimum")
