"""Losses of fewer samples than features beside a diagonal: the system of the order of the samples has the answers of that of the features."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.interior.few_rows import FewRows
from fwdsl.backends.interior.sizes import size_of
from fwdsl.certify.verify import verify
from tests.runs import stepped, without_patterns

DATA = "data X: matrix[n, p], y: vector[n]\nparam c: positive\n"
LOSSES = {
    "absolute": "absolute(X @ w, y)",
    "quantile": "quantile(X @ w + b, y, tau=0.8)",
    "epsilon-insensitive": "epsilon_insensitive(X @ w + b, y, eps=0.1)",
    "huber": "huber(X @ w, y, delta=0.2)",
}
BESIDE = {
    "norm1": "var w: vector[p], b: real\nminimize mean({}) + c * norm1(w)",
    "ridge": "var w: vector[p], b: real\nminimize mean({}) + c * sum_squares(w)",
    "norm1 and ridge": "var w: vector[p], b: real\nminimize mean({}) + c * norm1(w) + 0.1 * c * sum_squares(w)",
    "box": "var w: vector[p] in box(-0.3, 0.3), b: real\nminimize mean({}) + c * norm1(w)",
    "nonnegative": "var w: vector[p] in nonnegative, b: real\nminimize mean({}) + c * sum(w)",
}


def wide(n: int = 60, p: int = 300, seed: int = 0, sparse: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < (0.1 if sparse else 1.0))
    w = np.where(rng.random(p) < 0.03, rng.standard_normal(p), 0.0)
    return {"X": sp.csr_array(X) if sparse else X, "y": X @ w + 0.3 * rng.standard_normal(n) + 0.5, "c": 0.05}


def problem(loss: str = "quantile", beside: str = "norm1", **data: Any) -> fw.Problem:
    text = BESIDE[beside].format(LOSSES[loss])
    if "+ b" not in text:
        text = text.replace(", b: real", "")
    return fw.parse(DATA + text).bind(**(data or wide()))


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_steps_are_those_of_the_whole_system(
    loss: str, beside: str, sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_patterns(monkeypatch)
    bound = problem(loss, beside, **wide(sparse=sparse))
    assert size_of(bound.canonical).kind == "reduced"
    few = stepped(bound, "interior", 4)
    assert few.systems.few is not None
    monkeypatch.setattr(FewRows, "of", staticmethod(lambda *_: None))
    whole = stepped(problem(loss, beside, **wide(sparse=sparse)), "interior", 4)
    assert whole.systems.few is None
    for one, other in ((few.state.v, whole.state.v), (few.state.z, whole.state.z)):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7 * np.abs(other).max())


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("tol", [1e-6, 1e-9])
def test_answers_in_any_unit(unit: float, tol: float) -> None:
    data = wide()
    X, y, c = data["X"], data["y"], data["c"]
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    miss = y - X @ w - b
    loss = cp.sum(cp.maximum(0.8 * miss, -0.2 * miss)) / y.size
    reference = cp.Problem(cp.Minimize(loss + c * cp.norm1(w))).solve(solver=cp.CLARABEL)
    found = problem(X=unit * X, y=y, c=unit * c).solve(method="interior", tol=tol, threads=1)
    assert found.status == "optimal" and found.relative_gap <= tol
    assert found.objective == pytest.approx(reference, rel=max(2.0 * tol, 1e-7))


def test_its_order_is_that_of_the_samples() -> None:
    """Nothing of the order of the features squared is priced, or written down."""
    size = size_of(problem(**wide(20, 12_000, sparse=True)).canonical)
    assert size.kind == "reduced" and size.order == 20 and size.memory < 3e8
    found = problem(**wide(20, 12_000, sparse=True)).solve(method="interior", tol=1e-6, threads=1)
    assert found.status == "optimal"


def test_the_planner_prefers_it_where_a_first_order_method_is_slow() -> None:
    bound = problem("absolute", **wide(100, 800))
    assert bound.plan().method == "interior"


def test_tall_data_keep_the_system_of_the_features() -> None:
    tall = wide(300, 40)
    assert size_of(problem(**tall).canonical).order != 300
    assert stepped(problem(**tall), "interior", 1).systems.few is None


def test_a_norm_of_all_features_is_no_diagonal() -> None:
    text = DATA + "var w: vector[p]\nminimize mean(absolute(X @ w, y)) + c * norm1(w) + c * norm2(w)"
    bound = fw.parse(text).bind(**wide())
    assert size_of(bound.canonical).order != 60
    assert bound.solve(method="interior", tol=1e-6, threads=1).status == "optimal"


@pytest.mark.parametrize(
    ("text", "long"),
    [
        ("minimize norm_inf(X @ w - y) + c * norm1(w)", 120),
        ("minimize norm1(w)\nsubject to norm2(X @ w - y) <= 2 * c", 61),
        ("minimize norm2(X @ w - y) + mean(absolute(X @ w, y)) + c * norm1(w)", 61),
    ],
    ids=["a largest residual", "a ball of residuals", "a length and sizes"],
)
def test_rows_of_other_cones(text: str, long: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of the data that belong to no entry are long ones too, and may be mixed by their scaling."""
    without_patterns(monkeypatch)
    bound = fw.parse(DATA + "var w: vector[p]\n" + text).bind(**wide())
    few = stepped(bound, "interior", 0).systems.few
    assert few is not None and few.others.size == long
    found = bound.solve(method="interior", tol=1e-7, threads=1)
    monkeypatch.setattr(FewRows, "of", staticmethod(lambda *_: None))
    whole = fw.parse(DATA + "var w: vector[p]\n" + text).bind(**wide()).solve(method="interior", tol=1e-7, threads=1)
    assert found.status == whole.status == "optimal"
    assert found.objective == pytest.approx(whole.objective, rel=1e-6)


@pytest.mark.parametrize("tol", [1e-6, 1e-10, 1e-13])
def test_no_rows_are_left_where_each_sees_an_unknown_of_its_own(tol: float) -> None:
    """The system of the long rows then has no unknowns at all, of which LAPACK would have one number. Row 16 of M has no entry."""
    at = np.array([[i, (7 * i) % 3] for i in range(21) if i != 16] + [[3, 1], [20, 0]])
    M = np.column_stack([at, np.where(at.sum(axis=1) % 2, 1.0, -1.0)])
    text = "data M: entries[21, 3] of signs\nvar W: matrix[21, 3]\nminimize mean(logistic(W[M], M)) + 0.1 * norm1(W)"
    solution = fw.parse(text).bind(M=M).solve(method="interior", tol=tol, threads=1)
    # a slope of 1 / 44 at W = 0 is less than the weight of the norm
    assert solution.status == "optimal" and solution.objective == pytest.approx(np.log(2.0), abs=1e-6)


EQUATIONS = {
    "raking": "var x: vector[p]\nminimize sum(kl_div(x, d))\nsubject to M @ x == t",
    "entropy": "var x: vector[p]\nminimize entropy(x) + dot(d, x)\nsubject to M @ x == t",
    "entropy on a simplex": "var x: vector[p] in simplex(1)\nminimize entropy(x)\nsubject to M @ x == u",
    "logarithms": "var x: vector[p]\nminimize -sum(log(x)) + dot(d, x)\nsubject to M @ x == t",
}


def moments(k: int = 6, p: int = 300, seed: int = 3) -> dict[str, Any]:
    """Equations that positive vectors meet, the sum of the first two of which is the last one."""
    rng = np.random.default_rng(seed)
    M, x = rng.standard_normal((k, p)), rng.random(p) + 0.1
    M[-1] = M[0] + M[1]
    return {"M": M, "d": rng.random(p) + 0.5, "t": M @ x, "u": M @ (x / x.sum())}


@pytest.mark.parametrize("kind", EQUATIONS)
def test_equations_are_long_rows(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order is that of the equations, also where one of them follows from others, and the steps are those of the whole system."""
    without_patterns(monkeypatch)
    data = moments()
    text = "data M: matrix[k, p], d: vector[p] in nonnegative, t: vector[k], u: vector[k]\n" + EQUATIONS[kind]
    bound = fw.parse(text).bind(**data)
    assert size_of(bound.canonical).kind == "reduced" and size_of(bound.canonical).order <= 7
    few = stepped(bound, "interior", 5)
    assert few.systems.few is not None and few.systems.few.equations
    found = bound.solve(method="interior", tol=1e-9, threads=1)
    monkeypatch.setattr(FewRows, "of", staticmethod(lambda *_: None))
    whole = stepped(fw.parse(text).bind(**data), "interior", 5)
    assert whole.systems.few is None
    np.testing.assert_allclose(few.state.v, whole.state.v, rtol=1e-4, atol=1e-6 * np.abs(whole.state.v).max())
    x = cp.Variable(data["d"].size)
    objective = {
        "raking": cp.sum(cp.kl_div(x, data["d"])),
        "entropy": -cp.sum(cp.entr(x)) + data["d"] @ x,
        "entropy on a simplex": -cp.sum(cp.entr(x)),
        "logarithms": -cp.sum(cp.log(x)) + data["d"] @ x,
    }[kind]
    simplex = kind == "entropy on a simplex"
    asked = [data["M"][:-1] @ x == (data["u"] if simplex else data["t"])[:-1], *([cp.sum(x) == 1] if simplex else [])]
    best = cp.Problem(cp.Minimize(objective), asked).solve(solver=cp.CLARABEL)
    assert found.status == "optimal" and found.objective == pytest.approx(best, rel=1e-6)


def test_a_system_that_lost_its_digits_gives_way_to_one_of_few_rows() -> None:
    """Transport with a weak entropy: entries down to 1e-10, at which a factor without pivots misses the sums."""
    rng = np.random.default_rng(0)
    C, a, b = rng.random((30, 40)), rng.dirichlet(np.ones(30)), rng.dirichlet(np.ones(40))
    text = "data C: matrix[m, n], a: vector[m], b: vector[n]\nvar X: matrix[m, n]\nminimize sum(C * X) + 0.04 * entropy(X)\n"
    text += "subject to sum(X, axis=1) == a, sum(X, axis=0) == b"
    found = fw.parse(text).bind(C=C, a=a, b=b).solve(method="interior", tol=1e-8, threads=1)
    u, K = np.ones(30), np.exp(-C / 0.04)
    for _ in range(5_000):
        v = b / (K.T @ u)
        u = a / (K @ v)
    X = u[:, None] * K * v
    assert found.status == "optimal"
    assert found.objective == pytest.approx(float((C * X).sum() + 0.04 * (X * np.log(X)).sum()), rel=1e-6)
    assert size_of(fw.parse(text).bind(C=C, a=a, b=b).canonical).order == 70


def test_multipliers_without_bounds_certify_nothing() -> None:
    """More equations than unknowns have multipliers of any size, along the normal of the simplex too: no gap is small beside those, and what their
    terms cancel to is no bound."""
    A = np.array(
        [
            [1, 1, 0, 0],
            [1, -1, -1, 0],
            [0, 0, 1, 0],
            [-1, -1, 1, 1],
            [2, 1, 1, 1],
            [0, 0, 0, 1],
            [0, 1, 0, 0],
            [-1, -1, -1, 0.0],
        ]
    )
    x, q = np.array([0.25659903, 0.15001969, 0.34826271, 0.24511857]), np.array([0.3, -0.5, 0.2, 0.7])
    text = (
        "data A: matrix[m, n], b: vector[m], q: vector[n]\nvar x: vector[n] in simplex(1)\n"
        "minimize entropy(x) + q @ x\nsubject to\n    A @ x == b\n"
    )
    bound = fw.parse(text).bind(A=A, b=A @ x, q=q)
    best = float(x @ np.log(x) + q @ x)
    for size in (0.0, 1.0, 1e20, 1e60):
        # A'y is the same for all entries, as a normal of the simplex is
        y = [size * np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0])]
        found = verify(bound.canonical, x, y)
        assert found.bound.value <= best + 1e-6
        assert found.gap <= 1e-6 or found.relative_gap > 1e-3
    s = bound.solve(method="interior")
    assert s.status != "optimal" or s.gap <= 1e-5
