"""Columns of dense data, as a variable in parts has them: what is known and kept of the data serves them too."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
import fwdsl.certify.verify as verifier
from fwdsl.bind import row_chunks
from fwdsl.bind.values import columns_within
from fwdsl.canon.data_maps import squares
from fwdsl.canon.rewrites import Rewritten

ONES = """
data Z: matrix[n, q], y: vector[n]
var w: vector[q]
minimize mean(squared(Z @ w, y)) + 0.1 * sum_squares(w[1:])
"""

PLAIN = """
data X: matrix[n, p], y: vector[n]
var w: vector[p], b: real
minimize mean(squared(X @ w + b, y)) + 0.1 * sum_squares(w)
"""

NAMED = """
data Z: matrix[n, q], y: vector[n]
var w: vector[q], s: vector[n]
minimize 1/2 * mean(squared(s, zeros(n))) + 0.1 * norm1(w)
subject to s == Z @ w - y
"""


def with_ones(n: int = 300, d: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    Z = np.column_stack([np.ones(n), rng.standard_normal((n, d))])
    return Z, Z @ rng.standard_normal(d + 1) + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("order", ["C", "F"])
def test_columns_are_found_in_the_matrix_that_they_are_of(order: str) -> None:
    whole = np.array(np.arange(20.0).reshape(4, 5), order=order)
    assert columns_within(whole[:, 1:], whole) == slice(1, 5)
    assert columns_within(whole[:, 2:4], whole) == slice(2, 4)
    assert columns_within(whole[:, 1:][:, 1:3], whole) == slice(2, 4)
    for other in (whole, whole[1:], whole[:, ::2], whole[:, ::-1], whole[:, 1:].copy(), whole.T, whole[:, 0], 3.0):
        assert columns_within(other, whole) is None
    view = whole[:, 1:]
    assert columns_within(view[:, 1:], view) == slice(1, 4)
    assert columns_within(whole[:, :2], view) is None


@pytest.mark.parametrize("order", ["C", "F"])
def test_norms_of_columns_are_those_of_the_data(order: str) -> None:
    Z, y = with_ones()
    Z = np.array(Z, order=order)
    instance = fw.parse(ONES).bind(Z=Z, y=y).instance
    bound = instance.values["Z"]
    np.testing.assert_allclose(instance.column_norms(bound), np.linalg.norm(Z, axis=0))
    np.testing.assert_allclose(instance.column_norms(bound[:, 1:]), np.linalg.norm(Z[:, 1:], axis=0))
    assert instance.column_norms(np.array(bound)) is None
    assert instance.holds(bound) and instance.holds(bound[:, 1:])
    assert not instance.holds(bound[1:])


@pytest.mark.parametrize("order", ["C", "F"])
def test_solves_again_take_the_numbers_that_the_data_have_then(order: str) -> None:
    """A copy of the columns and their Gram matrix are kept, and whoever gave the data may change them."""
    Z, y = with_ones()
    Z = np.array(Z, order=order)
    bound = fw.parse(ONES).bind(Z=Z, y=y)
    first = bound.solve(tol=1e-9, threads=1)
    again = bound.solve(tol=1e-9, threads=1)
    assert np.array_equal(first["w"], again["w"])
    Z[:, 1:] *= 3.0
    Z[:5, 2] += 1.0
    changed = bound.solve(tol=1e-9, threads=1)
    plain = fw.parse(PLAIN).bind(X=Z[:, 1:].copy(), y=y).solve(tol=1e-9, threads=1)
    assert changed.status == plain.status == "optimal"
    assert changed.relative_gap <= 1e-9
    assert changed.objective == pytest.approx(plain.objective, rel=1e-8)
    np.testing.assert_allclose(changed["w"], [plain["b"], *plain["w"]], rtol=1e-5, atol=1e-7)
    assert not np.allclose(changed["w"], first["w"], rtol=1e-2)


@pytest.mark.parametrize("program", [ONES, NAMED])
def test_points_are_verified_for_the_program_as_it_is_written_alone(
    program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Z, y = with_ones()
    bound = fw.parse(program).bind(Z=Z, y=y)
    found: list[object] = []
    own = verifier.evaluate_point
    monkeypatch.setattr(verifier, "evaluate_point", lambda form, x: found.append(form) or own(form, x))
    solution = bound.solve(tol=1e-9, threads=1)
    assert solution.status == "optimal" and solution.relative_gap <= 1e-9
    forms = {id(form): form for form in found}
    assert len(forms) == 1
    (form,) = forms.values()
    assert [b.name for b in form.blocks] == [v.name for v in bound.model.variables]


def test_products_of_columns_are_those_of_a_copy() -> None:
    rng = np.random.default_rng(2)
    Z = rng.standard_normal((400, 900))
    x, y = rng.standard_normal(898), rng.standard_normal(400)
    for dtype in (np.float64, np.float32):
        part = Z.astype(dtype)[:, 1:-1]
        copy = part.astype(np.float64)
        assert row_chunks.by_chunks(part)
        for change in (None, abs, squares):
            A = copy if change is None else change(copy)
            np.testing.assert_allclose(row_chunks.times(part, x, change), A @ x, rtol=1e-6, atol=1e-4)
            np.testing.assert_allclose(row_chunks.turned_times(part, y, change), A.T @ y, rtol=1e-6, atol=1e-4)
    assert not row_chunks.by_chunks(Z[:, ::2])
    assert not row_chunks.by_chunks(Z[::-1])


@pytest.mark.parametrize("shape", [(40, 30), (3_000, 200), (5, 1), (1, 5)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_of_changed_sparse_entries_are_those_of_the_matrix(shape: tuple[int, int], dtype: type) -> None:
    A = sp.random_array(shape, density=0.4, rng=np.random.default_rng(3), format="csr") - 0.5 * sp.eye_array(*shape)
    A = sp.csr_array(A, dtype=dtype)
    full = A.toarray().astype(np.float64)
    rng = np.random.default_rng(4)
    for k in ((), (3,)):
        x, y = rng.standard_normal((shape[1], *k)), rng.standard_normal((shape[0], *k))
        for change in (None, abs, squares):
            wanted = full if change is None else change(full)
            np.testing.assert_allclose(row_chunks.times(A, x, change), wanted @ x, rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(row_chunks.turned_times(A, y, change), wanted.T @ y, rtol=1e-6, atol=1e-6)


def test_a_program_with_a_column_of_ones_is_rewritten() -> None:
    """The tests above rest on it."""
    Z, y = with_ones()
    for program in (ONES, NAMED):
        assert isinstance(fw.parse(program).bind(Z=Z, y=y).canonical, Rewritten)
