"""The scalings of cones against their definitions: W z = W^-T s, products, the way to the boundary."""

from __future__ import annotations

import numpy as np
import pytest

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.cones import KINDS, Scaling, matrices
from fwdsl.backends.interior.program import Batch

BATCHES = (
    Batch("nonnegative", 0, 1, 6),
    Batch("second_order", 0, 3, 4),
    Batch("second_order", 0, 2, 1),
    Batch("semidefinite", 0, 2, 6),
    Batch("semidefinite", 0, 1, 1),
)

each = pytest.mark.parametrize("batch", BATCHES, ids=lambda b: f"{b.kind} {b.number} x {b.rows}")


def interior(batch: Batch, rng: np.random.Generator) -> Array:
    """A point inside the cones, not too far from their boundary."""
    cone = KINDS[batch.kind]
    point = cone.unit(batch) + 0.01 * rng.normal(size=batch.number * batch.rows)
    step = rng.normal(size=point.size)
    while not cone.holds(batch, point + step):
        step *= 0.7
    return np.asarray(point + step)


def scaling(batch: Batch, seed: int = 0) -> tuple[Scaling, Array, Array]:
    rng = np.random.default_rng([seed, batch.rows])
    s, z = interior(batch, rng), interior(batch, rng)
    return KINDS[batch.kind](batch, s, z), s, z


@each
@pytest.mark.parametrize("seed", range(3))
def test_both_points_are_scaled_to_one(batch: Batch, seed: int) -> None:
    found, s, z = scaling(batch, seed)
    assert found.w(z) == pytest.approx(found.lam, rel=1e-9, abs=1e-9)
    assert found.inverse_t(s) == pytest.approx(found.lam, rel=1e-9, abs=1e-9)
    assert KINDS[batch.kind].inside(batch, found.lam, found.lam)


@each
def test_maps_are_each_others_inverse_and_adjoint(batch: Batch) -> None:
    found, *_ = scaling(batch)
    rng = np.random.default_rng(5)
    u, v = rng.normal(size=(2, batch.number * batch.rows))
    assert found.inverse(found.w(v)) == pytest.approx(v, rel=1e-9, abs=1e-9)
    assert found.inverse_t(found.wt(v)) == pytest.approx(v, rel=1e-9, abs=1e-9)
    assert float(u @ found.w(v)) == pytest.approx(float(found.wt(u) @ v), rel=1e-9, abs=1e-9)
    root = found.root()
    by_matrix = root * v if root.ndim == 1 else (root @ v.reshape(batch.number, batch.rows, 1)).reshape(-1)
    assert by_matrix == pytest.approx(found.inverse_t(v), rel=1e-9, abs=1e-9)
    both = found.rows(np.stack([u, v], axis=1))
    assert both[:, 0] == pytest.approx(found.inverse_t(u), rel=1e-9, abs=1e-9)
    assert both[:, 1] == pytest.approx(by_matrix, rel=1e-9, abs=1e-9)


@each
def test_division_undoes_the_product_with_lambda(batch: Batch) -> None:
    found, *_ = scaling(batch)
    v = np.random.default_rng(6).normal(size=batch.number * batch.rows)
    assert found.product(found.lam, found.divide(v)) == pytest.approx(v, rel=1e-8, abs=1e-8)
    unit = KINDS[batch.kind].unit(batch)
    assert found.product(unit, v) == pytest.approx(v, rel=1e-12, abs=1e-12)
    assert float(unit @ unit) == pytest.approx(KINDS[batch.kind].degree(batch))


@each
@pytest.mark.parametrize("seed", range(4))
def test_the_longest_step_ends_at_the_boundary(batch: Batch, seed: int) -> None:
    found, *_ = scaling(batch, seed)
    v = np.random.default_rng([7, seed]).normal(size=batch.number * batch.rows)
    step, inside = found.step(v), KINDS[batch.kind].holds
    if not np.isfinite(step):
        assert inside(batch, found.lam + 1e6 * v)
        return
    assert inside(batch, found.lam + (1.0 - 1e-6) * step * v)
    assert not inside(batch, found.lam + (1.0 + 1e-6) * step * v)


def test_rows_of_a_semidefinite_cone_keep_the_inner_product() -> None:
    u, v = np.random.default_rng(8).normal(size=(2, 10))
    (A,), (B,) = matrices(u, 1, 4), matrices(v, 1, 4)
    assert float(np.trace(A @ B)) == pytest.approx(float(u @ v))
