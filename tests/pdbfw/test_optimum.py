"""At the optimum against cvxpy, with the certificate valid along the way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from tests.pdbfw.problems import (
    SETS,
    matrix_data,
    matrix_problem,
    matrix_text,
    vector_data,
    vector_problem,
    vector_text,
)
from tests.runs import started

MODES: tuple[dict[str, Any], ...] = ({}, {"accelerate": True}, {"eta": 1.0, "delta": 2.0}, {"k": 20, "delta": 2.0})
LOSSES = ("squared", "smooth_hinge", "logistic", "squared_hinge", "huber", "squared_epsilon_insensitive")
OPTIONS = {"huber": ", delta=0.7", "squared_epsilon_insensitive": ", eps=0.15"}


def reference(loss: str, set_: str, mu: float = 0.3) -> float:
    """P* by Clarabel."""
    import cvxpy as cp

    data = vector_data(loss)
    A, y = data["A"], data["y"]
    x = cp.Variable(A.shape[1])
    z = A @ x
    terms = {
        "squared": lambda: cp.square(z - y),
        "smooth_hinge": lambda: 0.5 * cp.huber(cp.pos(1 - cp.multiply(y, z)), 1.0),
        "logistic": lambda: cp.logistic(-cp.multiply(y, z)),
        "squared_hinge": lambda: cp.square(cp.pos(1 - cp.multiply(y, z))),
        "huber": lambda: 0.5 * cp.huber(z - y, 0.7),
        "squared_epsilon_insensitive": lambda: cp.square(cp.pos(cp.abs(z - y) - 0.15)),
    }
    inside = {
        "l1_ball": [cp.norm1(x) <= 1.5],
        "simplex": [x >= 0, cp.sum(x) == 1],
        "solid_simplex": [x >= 0, cp.sum(x) <= 1.3],
        "group_ball": [cp.norm(x[:3]) + cp.norm(x[3:6]) + cp.norm(x[6:]) <= 1.5],
    }
    objective = cp.sum(terms[loss]()) / A.shape[0] + 0.5 * mu * cp.sum_squares(x)
    problem = cp.Problem(cp.Minimize(objective), inside[set_])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return float(problem.value)


def watched(problem: Any, best: float, **options: Any) -> fw.Solution:
    """Solve, and check that no bound on the way is above the optimum and no point below it."""
    run = started(problem, "pdbfw", **options)
    for _ in range(40):
        report = run.report()
        assert report.bound <= best + 1e-8 and report.objective >= best - 1e-8
        run.step()
    return problem.solve(method="pdbfw", tol=1e-9, threads=1, **options)  # type: ignore[no-any-return]


@pytest.mark.parametrize("set_", list(SETS))
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_on_every_set(loss: str, set_: str) -> None:
    best = reference(loss, set_)
    for mode in MODES:
        s = watched(vector_problem(loss, set_, options=OPTIONS.get(loss, "")), best, **mode)
        assert s.status == "optimal", (mode, s.reason)
        assert s.method == "pdbfw" and s.certificate.kind == "exact"
        assert s.objective == pytest.approx(best, abs=3e-8)
        assert s.dual_bound <= best + 1e-8


@pytest.mark.parametrize("layout", ["fortran", "float32", "csr", "csc", "csr64"])
def test_every_layout(layout: str) -> None:
    best = reference("smooth_hinge", "l1_ball")
    for mode in ({}, {"s": 2, "k": 3, "delta": 2.0}):
        s = vector_problem("smooth_hinge", "l1_ball", layout).solve(method="pdbfw", tol=1e-8, **mode)
        assert s.status == "optimal", s.reason
        assert s.objective == pytest.approx(best, abs=3e-8)


def test_weights_offsets_and_linear_terms() -> None:
    """A weighted loss with weights of zero, an offset, a scaled prediction and a linear term."""
    text = (
        "data A: matrix[n, p], y: signs[n], w: vector[n] in nonnegative, o: vector[n], c: vector[p]\nvar x: vector[p]\n"
        "minimize mean(w * LOSS(2 * (A @ x) + o, y)) + 0.2 * sum_squares(x) + 0.1 * dot(c, x) + 3\n"
        "subject to norm1(x) <= 1.5\n"
    )
    data = vector_data("logistic")
    del data["groups"]
    rng = np.random.default_rng(1)
    n, p = data["A"].shape
    data |= {"w": np.maximum(rng.uniform(-0.5, 2.0, n), 0.0), "o": rng.standard_normal(n), "c": rng.standard_normal(p)}
    for loss in ("logistic", "smooth_hinge"):
        problem = fw.parse(text.replace("LOSS", loss)).bind(**data)
        best = problem.solve(method="apg", tol=1e-11).objective
        for mode in MODES:
            s = problem.solve(method="pdbfw", tol=1e-9, **mode)
            assert s.status == "optimal" and s.objective == pytest.approx(best, abs=1e-8), (loss, mode, s.reason)


def test_a_cap_that_binds_grows() -> None:
    """From s = 1; held at 1 the method stalls above the optimum."""
    best = reference("squared", "l1_ball")
    problem = vector_problem("squared", "l1_ball")
    free = problem.solve(method="pdbfw", s=1, k=24, delta=2.0, tol=1e-8)
    assert free.status == "optimal" and free.objective == pytest.approx(best, abs=1e-7)
    held = problem.solve(method="pdbfw", s=1, k=24, delta=2.0, eta=1.0, grow=False, tol=1e-8, max_iter=500)
    assert held.status == "tolerance_not_reached" and held.objective > best + 1e-3
    assert held.dual_bound <= best + 1e-8


@pytest.mark.parametrize("radius", [1.0, 4.0, 100.0])
@pytest.mark.parametrize("mode", [{}, {"accelerate": True}, {"s": 2, "eta": 1.0, "delta": 1.0, "k": 14}])
def test_trace_norm_balls(radius: float, mode: dict[str, Any]) -> None:
    import cvxpy as cp

    data = matrix_data()
    X = cp.Variable((8, 6))
    loss = cp.sum_squares(data["A"] @ X - data["B"]) / 14 + 0.25 * cp.sum_squares(X)
    problem = cp.Problem(cp.Minimize(loss), [cp.normNuc(X) <= radius])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    best = float(problem.value)
    s = watched(matrix_problem(radius=radius), best, **mode)
    assert s.status == "optimal", s.reason
    assert s.objective == pytest.approx(best, rel=1e-6)
    assert s.dual_bound <= best * (1 + 1e-8)


def test_trace_norm_balls_with_another_loss_and_sparse_float32_data() -> None:
    data = matrix_data(3)
    signs = {"A": sp.csr_array(data["A"].astype(np.float32)), "B": np.where(data["B"] > 0, 1.0, -1.0)}
    text = matrix_text("logistic", 0.1, 3.0, 14).replace("B: matrix[n, c]", "B: signs[n, c]")
    problem = fw.parse(text).bind(**signs)
    best = problem.solve(method="apg", tol=1e-10).objective
    s = problem.solve(method="pdbfw", tol=1e-8)
    assert s.status == "optimal" and s.objective == pytest.approx(best, rel=1e-7)


def test_a_wide_matrix_takes_iterations_not_decompositions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Low-rank data on a ball that binds: no full SVD, and the optimum of apg."""
    from fwdsl.backends.pdbfw.trace import TraceSpace

    rng = np.random.default_rng(0)
    A = rng.standard_normal((90, 60))
    B = A @ rng.standard_normal((60, 3)) @ rng.standard_normal((3, 50))
    problem = fw.parse(matrix_text("squared", 0.5, 60.0, 90)).bind(A=A, B=B)
    best = problem.solve(method="apg", tol=1e-8).objective
    monkeypatch.setattr(TraceSpace, "_decomposed", lambda *_: pytest.fail("a full decomposition"))
    s = problem.solve(method="pdbfw", accelerate=True, tol=1e-7)
    assert s.status == "optimal" and s.objective == pytest.approx(best, rel=1e-6)


def test_fewer_passes_than_the_target_on_text_like_data() -> None:
    """The figure of issue 4 at a size for tests: 1e-6 on l1-ball smooth hinge, mu = 10 / n, unit rows, in at most 70 passes."""
    rng = np.random.default_rng(0)
    n, d = 2_000, 5_000
    A = sp.random_array((n, d), density=0.004, rng=rng, format="csr")
    A = sp.csr_array(sp.diags(1.0 / np.maximum(np.sqrt(np.asarray(A.multiply(A).sum(axis=1)).reshape(-1)), 1e-300)) @ A)
    y = np.where(A @ rng.standard_normal(d) > 0, 1.0, -1.0)
    text = vector_text("smooth_hinge", "l1_ball", 10.0 / n).replace("1.5", "60")
    s = fw.parse(text).bind(A=A, y=y).solve(method="pdbfw", threads=1)
    assert s.status == "optimal" and s.passes <= 70.0
