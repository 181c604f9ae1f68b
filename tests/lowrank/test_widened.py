"""The factored form takes more: numbers before the predictions, constants, intercepts, ridges, weights, float32 and sparse data."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.atoms.loss import LossFunction
from fwdsl.atoms.losses import LOSSES
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.lowrank.smooth import Shifted, Smooth, on_segment
from fwdsl.backends.lowrank.trace_regression import RidgedSamples
from fwdsl.bind import bindings
from fwdsl.bind.values import Entries
from fwdsl.canon import Factored
from fwdsl.canon.data_matrix import DataMatrix
from fwdsl.canon.intercept import best_shift
from fwdsl.oracle import check_certificate
from fwdsl.readers.row_blocks import is_on_disk

from .test_solving import ENTRIES, PRODUCT, ratings, regression

WEIGHTED = "data A: matrix[n, d], B: matrix[n, c], w: vector[n] in nonnegative\nparam r: positive = 20\n"
BALL = "var X: matrix[n, p] in nuclear_ball(r)"
SENT = "var X: matrix[d, c] in nuclear_ball(r)"


def weighted() -> dict[str, Any]:
    w = np.random.default_rng(1).uniform(0.0, 2.0, 40)
    w[3] = 0.0
    return {**regression(), "w": w}


def single() -> dict[str, Any]:
    values = regression()
    return {**values, "A": values["A"].astype(np.float32)}


def sparse() -> dict[str, Any]:
    values = regression()
    kept = np.random.default_rng(2).random(values["A"].shape) < 0.4
    return {**values, "A": sp.csr_array(values["A"] * kept)}


CASES: dict[str, tuple[str, str, Any]] = {
    "a factor": (ENTRIES, f"{BALL}\nminimize sum(squared(2 * X[M], M))", ratings),
    "a negative factor and a constant": (ENTRIES, f"{BALL}\nminimize sum(squared(1 - X[M] / 3, M))", ratings),
    "factors inside and outside": (ENTRIES, f"{BALL}\nminimize sum(squared(3 * ((X / 2)[M] + 1), M))", ratings),
    "ridge": (ENTRIES, f"{BALL}\nminimize sum(squared(X[M], M)) + 0.3 * sum_squares(2 * X)", ratings),
    "ridge, penalty and factor": (
        ENTRIES,
        "var X: matrix[n, p]\nminimize sum(huber(2 * X[M], M)) + 0.3 * sum_squares(X) + 0.5 * norm_nuc(X)",
        ratings,
    ),
    "intercept": (
        ENTRIES,
        "var X: matrix[n, p] in nuclear_ball(r), b: real\nminimize sum(squared(X[M] + b + 3, M))",
        ratings,
    ),
    "intercept of a huber loss, everything scaled": (
        ENTRIES,
        "var X: matrix[n, p], b: real\nminimize mean(huber(2 * (X[M] - 3 * b), M)) + 0.02 * norm_nuc(X) + 0.01 * sum_squares(X)",
        ratings,
    ),
    "float32": (PRODUCT, f"{SENT}\nminimize sum(squared(A @ X, B))", single),
    "sparse": (PRODUCT, f"{SENT}\nminimize sum(squared(A @ X, B))", sparse),
    "factors of a product": (PRODUCT, f"{SENT}\nminimize sum(squared((-3 * A) @ (X / 2), B))", regression),
    "ridge of a product": (PRODUCT, f"{SENT}\nminimize sum(squared(A @ X, B)) + 0.7 * sum_squares(X)", regression),
    "weights": (WEIGHTED, "var X: matrix[d, c]\nminimize sum(w * squared(A @ X, B)) + norm_nuc(X)", weighted),
    "weights, intercepts and ridge": (
        WEIGHTED,
        "var X: matrix[d, c] in nuclear_ball(6), b: vector[c]\nminimize sum(w * squared(2 * (A @ X) - b, B)) + 0.5 * sum_squares(X)",
        weighted,
    ),
    "intercepts over sparse data": (
        PRODUCT,
        "var X: matrix[d, c] in nuclear_ball(r), b: vector[c]\nminimize mean(squared(A @ X + b, B))",
        sparse,
    ),
}


def problem_of(name: str) -> fw.Problem:
    head, body, data = CASES[name]
    return fw.parse(f"{head}{body}\n").bind(**(data() if data is not ratings else {"M": ratings()}))


@cache
def by_the_dense_path(name: str) -> fw.Solution:
    return problem_of(name).solve(method="apg", tol=1e-8, threads=1)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("method", "tol"), [("lowrank", 1e-7), ("block_fw", 1e-5)])
def test_as_by_the_dense_path(name: str, method: str, tol: float) -> None:
    problem, dense = problem_of(name), by_the_dense_path(name)
    ours = problem.solve(method=method, tol=tol, threads=1)
    assert ours.status == "optimal", ours.reason
    assert ours.objective == pytest.approx(dense.objective, rel=2 * tol)
    assert ours.dual_bound <= dense.objective * (1 + 1e-9)
    if "b" in ours:
        assert np.shape(ours["b"]) == np.shape(dense["b"])
        assert np.asarray(ours["b"]) == pytest.approx(np.asarray(dense["b"]), abs=0.1 * np.sqrt(tol) * 100)
    found = check_certificate(problem.instance, ours)
    assert found.agrees, found.text


def test_terms_of_a_ridge_and_of_an_intercept_have_their_values() -> None:
    text = (
        "let fit = sum(squared(2 * X[M] + b, M))\nlet shrink = 0.3 * sum_squares(2 * X)\nlet nuc = 0.1 * norm_nuc(X)\n"
        "minimize fit + shrink + nuc\n"
    )
    problem = fw.parse(ENTRIES + "var X: matrix[n, p], b: real\n" + text).bind(M=ratings())
    s, M = problem.solve(method="lowrank", tol=1e-7, threads=1), ratings()
    X = np.asarray(s["X"])
    assert s.terms["fit"] == pytest.approx(np.sum((2 * X[M.rows, M.columns] + s["b"] - M.values) ** 2))
    assert s.terms["shrink"] == pytest.approx(1.2 * np.sum(X**2))
    assert s.terms["nuc"] == pytest.approx(0.1 * np.linalg.svd(X, compute_uv=False).sum())
    assert sum(s.terms.values()) == pytest.approx(s.objective, rel=1e-12)


def test_a_large_matrix_with_everything_is_solved_saved_and_rechecked(
    tmp_path: Any, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from fwdsl.cli import main

    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 3000, 6000), rng.integers(0, 2500, 6000)
    values = 5 + rng.standard_normal(3000)[rows] * rng.standard_normal(2500)[columns]
    body = "var X: matrix[n, p] in nuclear_ball(r), b: real\nminimize mean(squared(2 * X[M] + b, M)) + 1e-4 * sum_squares(X)\n"
    problem = fw.parse(ENTRIES + body).bind(M=Entries(rows, columns, values, (3000, 2500)), r=9.0)
    assert isinstance(problem.canonical, Factored) and "minimised out" in repr(problem.canonical)
    solution = problem.solve(tol=1e-3, threads=1)
    assert solution.status == "optimal" and solution.method == "lowrank"
    z = 2 * solution["X"].at(rows, columns) + solution["b"] - values
    assert abs(z.sum()) <= 1e-9 * np.abs(z).sum()
    ridge = 1e-4 * float(np.sum(solution["X"].singular_values ** 2))
    assert solution.objective == pytest.approx(np.mean(z**2) + ridge, rel=1e-10)
    found = check_certificate(problem.instance, solution)
    assert found.agrees, found.text
    with open("m.csv", "w") as file:
        file.writelines(
            f"{i},{j},{v!r}\n" for i, j, v in zip(rows.tolist(), columns.tolist(), values.tolist(), strict=True)
        )
    with open("c.fw", "w") as file:
        file.write(ENTRIES.replace("\nparam", ' from coo("m.csv")\nparam').replace("= 20", "= 9") + body)
    assert main(["run", "c.fw", "--tol", "1e-3", "--out", "s.npz", "--quiet"]) == 0
    # 4: cvxpy, which would write the matrix down, is not asked
    assert main(["verify", "c.fw", "--solution", "s.npz"]) == 4
    assert "certificate: agrees" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["float32", "sparse", "float64"])
def test_samples_are_the_matrix_that_they_stand_for(kind: str) -> None:
    rng = np.random.default_rng(0)
    A = rng.standard_normal((13, 5)).astype(np.float32).astype(np.float64)
    stored: Any = {"float32": A.astype(np.float32), "sparse": sp.csr_array(A), "float64": A}[kind]
    s, m = rng.uniform(0.0, 2.0, 13), rng.standard_normal(5)
    samples = DataMatrix(stored, s, m)
    dense = s[:, None] * (A - m)
    for X, Y in (
        (rng.standard_normal((5, 3)), rng.standard_normal((13, 3))),
        (rng.standard_normal(5), rng.standard_normal(13)),
    ):
        assert samples.matvec(X) == pytest.approx(dense @ X, abs=1e-12)
        assert samples.rmatvec(Y) == pytest.approx(dense.T @ Y, abs=1e-12)
    assert samples.norm() == pytest.approx(np.linalg.norm(A))
    ridged, below = RidgedSamples(samples, 0.5), rng.standard_normal((18, 2))
    both = np.vstack([dense, 0.5 * np.eye(5)])
    assert ridged.matvec(X) == pytest.approx(both @ X) and ridged.rmatvec(below) == pytest.approx(both.T @ below)


@pytest.mark.parametrize("method", ["lowrank", "block_fw", "factored_fw"])
def test_products_with_rows_on_a_disk_have_the_bits_of_memory(
    method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    A = rng.standard_normal((6000, 50))
    B = A[:, :2] @ rng.standard_normal((2, 8)) + rng.standard_normal((6000, 8))
    np.save(tmp_path / "A.npy", A)
    text = "data A: matrix[n, p], B: matrix[n, c]\nvar X: matrix[p, c]\nminimize mean(squared(A @ X, B)) + 0.1 * norm_nuc(X)\n"
    made = fw.parse(f"{text}solve method = {method}, tol = 1e-2\n")
    whole = made.bind(A=A, B=B).solve()
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    found = made.bind(A=tmp_path / "A.npy", B=B).solve(memory="8GB")
    assert is_on_disk(found.instance.values["A"]) and found.status == "optimal"
    assert np.array_equal(whole["X"], found["X"]) and whole.dual_bound == found.dual_bound


@pytest.mark.parametrize("loss", ["squared", "huber", "logistic", "poisson", "squared_hinge"])
def test_intercepts_are_minimised_out(loss: str) -> None:
    rng = np.random.default_rng(3)
    n, c = 40, 3
    kind = LOSSES[loss]
    drawn = rng.choice([-1.0, 1.0], n * c), rng.integers(0, 5, n * c) * 1.0, rng.standard_normal(n * c)
    b = drawn[0] if kind.word.target == "signs" else drawn[2] if kind.word.residual else drawn[1]
    w, p = rng.uniform(0.1, 2.0, n * c), np.array([o.default for o in kind.word.options])
    f = LossFunction(kind, b, w, p)
    shifted, z, d = Shifted(f, Pool(1), c), rng.standard_normal(n * c), rng.standard_normal(n * c)
    y = np.empty_like(z)
    value = shifted.value_gradient(z, y)
    best = best_shift(f, z, c)
    assert value == pytest.approx(f.value((z.reshape(n, c) + best).reshape(-1)), rel=1e-10)
    assert np.abs(y.reshape(n, c).sum(axis=0)).max() <= 1e-10 * np.abs(y).sum()
    for other in rng.standard_normal((5, c)):
        assert value <= f.value((z.reshape(n, c) + best + other).reshape(-1)) * (1 + 1e-12)
    h = 1e-5
    ends = []
    for t in (h, -h):
        g = np.empty_like(z)
        shifted.value_gradient(z + t * d, g)
        ends.append(float(g @ d))
    assert shifted.value_gradient(z + h * d, g) - shifted.value_gradient(z - h * d, g) == pytest.approx(
        2 * h * float(y @ d), rel=1e-5
    )
    if loss in ("squared", "logistic", "poisson"):
        assert shifted.bend(z, d) == pytest.approx((ends[0] - ends[1]) / (2 * h), rel=1e-4)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize(
    ("slope", "bend", "end"), [(0.0, 0.0, 1.0), (-3.0, 2.0, 1.0), (50.0, 0.0, 1.0), (-1.0, 0.5, 7.0)]
)
def test_the_best_point_of_a_segment(loss: str, slope: float, bend: float, end: float) -> None:
    rng = np.random.default_rng(0)
    b = rng.choice([-1.0, 1.0], 30)
    f = LossFunction(LOSSES[loss], b, np.ones(30), np.zeros(0))
    z, d = rng.standard_normal(30), 0.4 * rng.standard_normal(30)
    g = on_segment(Smooth(f, Pool(1)), z, d, slope, bend, end)
    grid = np.linspace(0.0, end, 20_001)
    values = [f.value(z + t * d) + slope * t + 0.5 * bend * t * t for t in grid]
    assert abs(g - grid[int(np.argmin(values))]) <= end / 20_000 and 0.0 <= g <= end


def test_a_huge_matrix_is_evaluated_by_its_factors() -> None:
    from pathlib import Path

    from fwdsl.bind import Bindings
    from fwdsl.results.evaluation import OBJECTIVE, evaluate, fit_of

    n, p = 20_000, 6_000
    M = Entries(np.array([0, 1, 19_999]), np.array([0, 5_999, 3]), np.array([3.0, -1.0, 2.0]), (n, p))
    body = "var X: matrix[n, p], b: real\nminimize sum(squared((2 * X)[M] - b, M)) + 0.1 * sum_squares(3 * X) + norm_nuc(X / 2)\n"
    problem = fw.parse(ENTRIES.replace("param r: positive = 20\n", "") + body).bind(M=M)
    s = problem.solve(tol=1e-4, threads=1)
    assert s.status == "optimal" and s["X"].shape == (n, p)
    again = evaluate(fit_of(problem.instance, s.variables), [OBJECTIVE], Bindings(), Path()).values[OBJECTIVE]
    assert again == pytest.approx(s.objective, rel=1e-12)
    # three entries that share no row or column are three scalar problems beside one intercept
    grid = [(b, sum(_scalar(m, b) for m in M.values)) for b in np.linspace(-2.0, 0.0, 4001)]
    best = min(grid, key=lambda pair: pair[1])
    assert s.objective == pytest.approx(best[1], rel=1e-4) and s["b"] == pytest.approx(best[0], abs=2e-2)


def _scalar(m: float, b: float) -> float:
    """min over x of (2 x - b - m)^2 + 0.9 x^2 + |x| / 2."""
    x = np.sign(m + b) * max(0.0, 2.0 * abs(m + b) - 0.25) / 4.9
    return float((2 * x - b - m) ** 2 + 0.9 * x**2 + abs(x) / 2)


def test_what_is_too_large_is_refused_with_what_is_not_factored() -> None:
    M = Entries(np.arange(3), np.arange(3), np.ones(3), (20_000, 6_000))
    text = ENTRIES + "var X: matrix[n, p] in nuclear_ball(r)\nminimize sum(squared(X[M], M)) + norm1(X)\n"
    with pytest.raises(fw.PlanError) as caught:
        fw.parse(text).bind(M=M).solve()
    assert "FW5013" in str(caught.value) and "`norm1(X)` stands beside the loss" in str(caught.value)
