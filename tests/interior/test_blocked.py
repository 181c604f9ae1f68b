"""Products and factorisations in blocks: what they give, and that they end where the run does."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

import fwdsl as fw
from fwdsl.backends.interior import blocked
from fwdsl.backends.interior.blocked import (
    add_gram,
    attended,
    cholesky,
    dense_gram,
    indefinite,
    sparse_product,
    weighted_gram,
)
from fwdsl.backends.kernels.pool import Pool, Stopped
from fwdsl.model.options import Options
from fwdsl.plan import make_plan
from fwdsl.solve import Control, solve
from tests.interior.test_runs import lp, sized


def go_on() -> None:
    """The clock of a run that has time."""


def stop_at(count: int) -> Callable[[], None]:
    """A clock that ends the run when it is looked at for the `count`-th time."""
    left = [count]

    def look() -> None:
        left[0] -= 1
        if left[0] <= 0:
            raise Stopped

    return look


def symmetric(n: int, seed: int = 0) -> np.ndarray:
    B = np.random.default_rng(seed).standard_normal((n, n))
    return B + B.T


@pytest.mark.parametrize("n", [1, 5, 63, 64, 65, 129, 191, 192, 193, 400])
def test_factors_in_panels_solve_their_systems(n: int) -> None:
    right = np.random.default_rng(1).standard_normal(n)
    B = symmetric(n)
    C = B @ B + np.eye(n)
    for matrix, factored in ((B, indefinite), (C, cholesky)):
        found = factored(np.array(matrix, order="F"), go_on)(right)
        size = np.linalg.norm(matrix) * np.linalg.norm(found) + np.linalg.norm(right)
        assert np.linalg.norm(matrix @ found - right) <= 1e-12 * n * size


def test_zeros_on_the_diagonal_are_pivoted_in_pairs() -> None:
    n = 300
    matrix = symmetric(n)
    np.einsum("ii->i", matrix)[:] = 0.0
    right = matrix @ np.ones(n)
    found = indefinite(np.array(matrix, order="F"), go_on)(right)
    assert found == pytest.approx(np.ones(n), rel=1e-6)


def test_what_is_singular_or_not_definite_is_told() -> None:
    with pytest.raises(np.linalg.LinAlgError):
        cholesky(np.array(symmetric(250), order="F"), go_on)
    with pytest.raises(np.linalg.LinAlgError):
        indefinite(np.zeros((90, 90), order="F"), go_on)


@pytest.mark.parametrize("density", [0.0, 0.02, 0.3, 1.0])
def test_products_in_blocks_are_products(density: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    K = csr_array(random_array((90, 40), density=density, rng=rng))
    a = rng.random(90)
    expected = K.toarray().T @ (a[:, None] * K.toarray())
    monkeypatch.setattr(blocked, "SPARSE_BLOCK", 50)
    monkeypatch.setattr(blocked, "NUMBERS", 100)
    monkeypatch.setattr(blocked, "BLOCK", 5000)
    found = weighted_gram(K, a, go_on)
    assert isinstance(found, np.ndarray) == (density >= 0.3)
    np.testing.assert_allclose(found if density >= 0.3 else found.toarray(), expected, atol=1e-12)
    np.testing.assert_allclose(sparse_product(K.T.tocsr(), K, go_on).toarray(), (K.T @ K).toarray(), atol=1e-12)
    np.testing.assert_allclose(dense_gram(K.toarray(), go_on), (K.T @ K).toarray(), atol=1e-12)


@pytest.mark.parametrize("density", [0.0, 0.03, 0.1, 0.5])
def test_a_gram_matrix_is_added_to_the_lower_triangle(density: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    thin, full, a = random_array((90, 20), density=density, rng=rng), rng.standard_normal((4, 20)), rng.random(94)
    K = csr_array(np.vstack([thin.toarray(), full[:, ::-1], np.eye(20)]))
    a = np.append(a, np.ones(20))
    monkeypatch.setattr(blocked, "SPARSE_BLOCK", 50)
    for rows in (slice(0, 90), slice(0, 114), slice(94, 114), slice(0, 0)):
        before = np.asfortranarray(rng.standard_normal((25, 25)))
        matrix = before.copy(order="F")
        add_gram(matrix, K[rows], a[rows], go_on)
        expected = before.copy()
        expected[:20, :20] += K[rows].toarray().T @ (a[rows, None] * K[rows].toarray())
        np.testing.assert_allclose(np.tril(matrix), np.tril(expected), atol=1e-12)


def test_full_and_thin_rows_are_multiplied_each_in_its_way() -> None:
    rng = np.random.default_rng(3)
    K = csr_array(np.vstack([rng.standard_normal((7, 50)), np.eye(50)]))
    found = weighted_gram(K, np.arange(57.0), go_on)
    np.testing.assert_allclose(found, K.toarray().T @ (np.arange(57.0)[:, None] * K.toarray()), atol=1e-11)


def test_long_work_is_given_up_between_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocked, "SPARSE_BLOCK", 50)
    monkeypatch.setattr(blocked, "BLOCK", 5000)
    K = csr_array(random_array((90, 40), density=0.1, rng=4))
    long: dict[str, Callable[[Callable[[], None]], Any]] = {
        "indefinite": lambda look: indefinite(np.array(symmetric(200), order="F"), look),
        "cholesky": lambda look: cholesky(np.array(1e3 * np.eye(500), order="F"), look),
        "dense": lambda look: dense_gram(K.toarray(), look),
        "sparse": lambda look: sparse_product(K.T.tocsr(), K, look),
        "added": lambda look: add_gram(np.zeros((40, 40), order="F"), K, np.ones(90), look),
    }
    for work in long.values():
        with pytest.raises(Stopped):
            work(stop_at(2))


def test_what_cannot_be_cut_is_left_behind() -> None:
    release = threading.Event()
    with pytest.raises(Stopped):
        attended(lambda: release.wait(60.0), stop_at(2))
    release.set()
    assert attended(lambda: 7, stop_at(1)) == 7

    def fail() -> None:
        raise RuntimeError("singular")

    with pytest.raises(RuntimeError, match="singular"):
        attended(fail, go_on)


# --- whole runs -------------------------------------------------------------------------------------------------------

LASSO = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize mean(squared(A @ x, b)) + 0.01 * norm1(x)\n"
SIMPLEX = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d] in simplex(1)\nminimize mean(squared(A @ x, b))\n"


def fitted(text: str) -> fw.Problem:
    rng = np.random.default_rng(5)
    return fw.parse(text).bind(A=rng.standard_normal((300, 160)), b=rng.standard_normal(300))


@pytest.mark.parametrize("kind", ["whole", "condensed", "reduced", "sparse"])
@pytest.mark.parametrize("text", [LASSO, SIMPLEX])
def test_the_first_interruption_ends_a_factorisation_of_every_kind(
    text: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The factorisations of a start end with the run too, and leave a point."""
    if kind == "reduced" and text == SIMPLEX:
        kind = "condensed"
    problem = fitted(text)
    # how often the clock is asked must not hang on how long SuperLU takes
    monkeypatch.setattr(blocked, "EVERY", 60.0)
    monkeypatch.setattr("fwdsl.backends.interior.run.size_of", lambda form: sized(form, kind))
    options = Options(method="interior", tol=1e-300, threads=1, max_iter=3)
    plan, found = make_plan(problem.canonical, options)
    assert plan is not None, found
    looks = [0]
    monkeypatch.setattr(Pool, "look", lambda pool: looks.__setitem__(0, looks[0] + 1))
    whole = solve(problem.canonical, plan, options)
    count = looks[0]
    # of a start, of a factorisation within a step, and of its end
    assert count > 10
    for at in np.unique(np.linspace(1, count, 7).astype(int)):
        control, ended = Control(), stop_at(int(at))

        def look(pool: Pool, control: Control = control, ended: Callable[[], None] = ended) -> None:
            try:
                ended()
            except Stopped:
                control.stop = True
                raise

        monkeypatch.setattr(Pool, "look", look)
        stopped = solve(problem.canonical, plan, options, control=control)
        assert stopped.status == "interrupted"
        assert np.all(np.isfinite(stopped["x"])) and np.isfinite(stopped.objective)
        assert stopped.iterations <= whole.iterations


def test_a_thin_condensed_system_gives_the_same_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    """A of few entries is kept sparse beside a dense P."""
    problem = fitted(LASSO)
    expected = problem.solve(method="interior", tol=1e-8)
    monkeypatch.setattr("fwdsl.backends.interior.run.size_of", lambda form: sized(form, "condensed"))
    found = problem.solve(method="interior", tol=1e-8)
    assert found.status == expected.status == "optimal"
    assert found.objective == pytest.approx(expected.objective, rel=1e-7)
    thick = lp(90, 60).solve(method="interior", tol=1e-8)
    assert thick.status == "optimal"
