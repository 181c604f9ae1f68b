"""The preconditioner of Newton's method for classes: against a plain transcription, what it saves, resumed, on threads, in other units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.smooth.classes import ClassBlocks
from fwdsl.backends.smooth.columns import columns_of_predictions
from tests.problems import LAYOUTS, laid_out
from tests.runs import resumed, started, stepped

TEXT = "data A: matrix[n, d], y: labels[n, k]\nvar W: matrix[d, k]{intercept}\nminimize {scale} * sum(softmax({z}, y)) + {ridge} * sum_squares(W)\n"


def clouds(n: int = 80, d: int = 6, k: int = 4, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Samples of classes that overlap, with columns of sizes from 1 to `spread`."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((n, d))
    y = np.argmax(2.0 * A @ rng.standard_normal((d, k)) + rng.gumbel(size=(n, k)), axis=1)
    return A * np.geomspace(1.0, spread, d), y


def problem(
    z: str = "A @ W", layout: str = "dense", ridge: float = 0.05, scale: float = 1.0, unit: float = 1.0, **sizes: Any
) -> fw.Problem:
    A, y = clouds(**sizes)
    text = TEXT.format(z=z, intercept=", b: vector[k]" if "b" in z else "", ridge=ridge, scale=scale)
    return fw.parse(text).bind(A=laid_out(unit * A, layout), y=y, k=int(y.max()) + 1)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("z", ["A @ W", "0.5 * (A @ W) - b"])
def test_it_is_the_plain_formula(z: str, layout: str) -> None:
    """P M^-1 P r + R^-1 mean, with M the blocks of the whole Hessian K'HK + R that the problem is made of."""
    bound = problem(z, layout)
    canonical = bound.canonical
    parts = columns_of_predictions(canonical)
    assert parts is not None
    prepared = PreparedProblem(canonical, 1)
    ridge = np.concatenate([np.full(b.size, b.g.curvature) for b in canonical.blocks])
    rng = np.random.default_rng(1)
    x, r, k = rng.standard_normal(canonical.size), rng.standard_normal(canonical.size), parts.k
    if "b" in z:
        r[parts.of_rows[0].slice] -= r[parts.of_rows[0].slice].mean()  # type: ignore[index]
    hs = prepared.curvatures(prepared.forward(x))
    H = np.array([prepared.adjoint(prepared.bent(hs, prepared.linear(e))) for e in np.eye(canonical.size)]) + np.diag(
        ridge
    )
    # unknowns column by column
    order = np.concatenate(
        [np.concatenate([np.arange(b.start, b.stop).reshape(-1, k)[:, c] for b in canonical.blocks]) for c in range(k)]
    )
    q = canonical.size // k
    blocks = sp.block_diag(
        [H[np.ix_(order[c * q : (c + 1) * q], order[c * q : (c + 1) * q])] for c in range(k)]
    ).toarray()
    R, P = ridge[order], np.kron(np.eye(k) - 1.0 / k, np.eye(q))
    mean = r[order] - P @ r[order]
    expected = P @ np.linalg.solve(blocks, P @ r[order]) + np.divide(mean, R, out=np.zeros_like(R), where=R > 0.0)
    made = ClassBlocks(prepared, parts, ridge)
    metric = made.metric(hs[0], np.ones(canonical.size))
    assert metric is not None
    np.testing.assert_allclose(metric(r)[order], expected, rtol=0, atol=1e-8 * float(np.abs(expected).max()))


def test_the_blocks_of_entries_are_the_inverse() -> None:
    rng = np.random.default_rng(5)
    text = "data A: matrix[n, d], Y: matrix[n, k]\nvar W: matrix[d, k], b: vector[k]\nminimize sum(huber(A @ W + b, Y)) + 0.2 * sum_squares(W)\n"
    canonical = fw.parse(text).bind(A=rng.standard_normal((30, 4)), Y=rng.standard_normal((30, 3))).canonical
    prepared, parts = PreparedProblem(canonical, 1), columns_of_predictions(canonical)
    assert parts is not None
    ridge = np.concatenate([np.full(b.size, b.g.curvature) for b in canonical.blocks])
    h, v = rng.random(90) + 0.1, rng.standard_normal(canonical.size)
    made = ClassBlocks(prepared, parts, ridge)
    metric = made.metric(h, np.ones(canonical.size))
    assert metric is not None
    np.testing.assert_allclose(metric(prepared.adjoint([h * prepared.linear(v)[0]]) + ridge * v), v, atol=1e-9)


def test_samples_alike_in_all_classes_have_one_block() -> None:
    prepared = PreparedProblem(problem().canonical, 1)
    parts = columns_of_predictions(prepared.canonical)
    assert parts is not None
    made = ClassBlocks(prepared, parts, np.full(prepared.size, 0.1))
    assert made.weights(prepared.curvatures(prepared.forward(np.zeros(prepared.size)))[0]).shape[1] == 1
    assert made.weights(prepared.curvatures(prepared.forward(np.ones(prepared.size)))[0]).shape[1] == 1
    assert made.weights(prepared.curvatures(prepared.forward(np.arange(prepared.size)))[0]).shape[1] == 4


def test_columns_of_uneven_sizes_cost_no_products() -> None:
    """Products that a tolerance takes: a diagonal of the means does not see that columns differ."""

    def products(**options: Any) -> int:
        run = started(problem(n=300, spread=1e-4, ridge=1e-7), "newton", **options)
        for _ in range(60):
            report = run.report()
            if report.objective - report.bound <= 1e-6 * abs(report.objective):
                return int(run.state.products)
            run.step()
        raise AssertionError("not there in 60 steps")

    assert 5 * products() < products(system="cg")
    assert 5 * products(system="blocks") < products(system="cg")


@pytest.mark.parametrize("layout", ["dense", "fortran", "float32", "csr"])
@pytest.mark.parametrize("system", [{}, {"system": "blocks"}])
@pytest.mark.parametrize("z", ["A @ W", "A @ W + b"])
def test_a_resumed_run_is_the_unbroken_one(z: str, system: dict[str, Any], layout: str, tmp_path: Path) -> None:
    whole = stepped(problem(z, layout), "newton", 5, **system)
    half = resumed(stepped(problem(z, layout), "newton", 2, **system), tmp_path, system)
    for _ in range(3):
        half.step()
    assert whole.state.blocks_of.size and np.array_equal(whole.state.blocks_of, half.state.blocks_of)
    assert np.array_equal(whole.state.x, half.state.x) and whole.state.best_bound == half.state.best_bound
    assert (whole.state.products, whole.state.spent, whole.state.fresh) == (
        half.state.products,
        half.state.spent,
        half.state.fresh,
    )


@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_threads_change_nothing(layout: str) -> None:
    one, two = (
        stepped(problem("A @ W + b", layout, n=20_000), "newton", 3, threads=k, system="blocks").state for k in (1, 2)
    )
    assert np.array_equal(one.x, two.x) and one.best_bound == two.best_bound


@pytest.mark.parametrize("system", [{}, {"system": "blocks"}])
@pytest.mark.parametrize(("unit", "scale"), [(2.0**20, 1.0), (2.0**-20, 1.0), (1.0, 2.0**30), (2.0**10, 2.0**-30)])
def test_units_change_nothing(system: dict[str, Any], unit: float, scale: float) -> None:
    """Powers of two in the data, the variable or the objective: the same steps."""
    plain = stepped(problem(), "newton", 4, **system).state
    other = stepped(problem(unit=unit, scale=scale, ridge=0.05 * scale * unit**2), "newton", 4, **system).state
    assert plain.products == other.products
    np.testing.assert_allclose(unit * other.x, plain.x, rtol=0, atol=1e-9 * float(np.abs(plain.x).max()))
    assert other.value == pytest.approx(scale * plain.value, rel=1e-9)


@pytest.mark.parametrize(
    "text",
    [
        "minimize mean(softmax(A @ W + A @ V, y)) + sum_squares(W) + sum_squares(V)",
        "minimize mean(softmax(A @ W, y)) + sum_squares(W) + sum_squares(V)",
        "minimize mean(softmax(A @ W, y)) + mean(softmax(A @ W + A @ V, y)) + sum_squares(W) + sum_squares(V)",
    ],
)
def test_other_predictions_are_left_to_the_diagonal(text: str) -> None:
    A, y = clouds()
    bound = fw.parse(f"data A: matrix[n, d], y: labels[n, k]\nvar W: matrix[d, k], V: matrix[d, k]\n{text}\n").bind(
        A=A, y=y, k=4
    )
    assert columns_of_predictions(bound.canonical) is None
    assert bound.solve(method="newton", tol=1e-8).status == "optimal"
