"""The scalings of cones against their definitions: W z = W^-T s, products, the way to the boundary."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.cone_loops import outwards_lengths, scale_lengths, turn_lengths
from fwdsl.backends.interior.cones import KINDS, Symmetric, SymmetricRows, matrices, order_of, triangles
from fwdsl.backends.interior.program import Batch
from fwdsl.backends.kernels.compile import Function, kernel
from fwdsl.backends.kernels.uncompiled import Uncompiled

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


def scaling(batch: Batch, seed: int = 0) -> tuple[Symmetric, Array, Array]:
    rng = np.random.default_rng([seed, batch.rows])
    s, z = interior(batch, rng), interior(batch, rng)
    found = KINDS[batch.kind](batch, s, z)
    assert isinstance(found, Symmetric)
    return found, s, z


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


def test_columns_of_a_large_cone_are_turned_like_those_of_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found, *_ = scaling(Batch("semidefinite", 0, 2, 15))
    A = np.random.default_rng(6).normal(size=(30, 4))
    by_matrix = found.rows(A)
    monkeypatch.setattr("fwdsl.backends.interior.cones.LARGE", 5)
    assert found.rows(A) == pytest.approx(by_matrix, rel=1e-12, abs=1e-12)


def product(batch: Batch, u: Array, v: Array) -> Array:
    """u o v, cone by cone: of entries, of (<u, v>, u_0 v_1 + v_0 u_1), of symmetric matrices."""
    if batch.kind == "nonnegative":
        return u * v
    if batch.kind == "semidefinite":
        A, B = (matrices(w, batch.number, order_of(batch.rows)) for w in (u, v))
        return triangles(0.5 * (A @ B + B @ A)).reshape(-1)
    pairs = zip(u.reshape(-1, batch.rows), v.reshape(-1, batch.rows), strict=True)
    return np.concatenate([[a @ b, *(a[0] * b[1:] + b[0] * a[1:])] for a, b in pairs])


@each
@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_products_with_lambda_are_corrected(batch: Batch, mu: float) -> None:
    found, *_ = scaling(batch)
    ds, dz = np.random.default_rng(6).normal(size=(2, batch.number * batch.rows))
    unit = KINDS[batch.kind].unit(batch)
    right = product(batch, ds, dz) - mu * unit
    change = found.corrected(ds, dz, mu) - found.lam
    assert product(batch, found.lam, change) == pytest.approx(right, rel=1e-8, abs=1e-8)
    assert product(batch, unit, ds) == pytest.approx(ds, rel=1e-12, abs=1e-12)
    assert float(unit @ unit) == pytest.approx(KINDS[batch.kind].degree(batch))


@each
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("of", ["s", "z", "both"])
def test_the_longest_step_ends_at_the_boundary(batch: Batch, seed: int, of: str) -> None:
    found, *_ = scaling(batch, seed)
    ds, dz = np.random.default_rng([7, seed]).normal(size=(2, batch.number * batch.rows))
    ds, dz = ds * (of != "z"), dz * (of != "s")
    step = found.reach(ds, dz, np.inf)

    def inside(length: float) -> bool:
        return KINDS[batch.kind].inside(batch, found.lam + length * ds, found.lam + length * dz)

    if not np.isfinite(step):
        assert inside(1e6)
        return
    assert inside((1.0 - 1e-6) * step)
    assert not inside((1.0 + 1e-6) * step)
    assert found.reach(ds, dz, 0.5 * step) == 0.5 * step


@each
def test_a_step_into_the_cones_has_no_end(batch: Batch) -> None:
    found, *_ = scaling(batch)
    unit = KINDS[batch.kind].unit(batch)
    assert found.reach(unit, 2.0 * unit, 7.0) == 7.0
    assert found.reach(0.0 * unit, 0.0 * unit, np.inf) == np.inf


def symmetric_root(matrix: Array) -> Array:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.sqrt(values)) @ vectors.T)


@pytest.mark.parametrize(("number", "rows"), [(1, 1), (4, 2), (3, 5), (1, 40)])
@pytest.mark.parametrize("near", [1.0, 1e-3])
@pytest.mark.parametrize("made", [partial(kernel, reorder=True), Uncompiled], ids=["compiled", "uncompiled"])
def test_kernels_of_second_order_cones_follow_their_formulas(
    number: int, rows: int, near: float, made: Callable[[Function], Function]
) -> None:
    """W^2 = eta^2 (2 w w' - J), with w and eta written out cone by cone (Vandenberghe 2010, section 4.2), and how far outside W v is."""
    rng = np.random.default_rng(rows)
    s, z, v = rng.standard_normal((3, number, rows))
    s[:, 0], z[:, 0] = (np.linalg.norm(m[:, 1:], axis=1) * (1.0 + near) + near for m in (s, z))
    heads = SymmetricRows.of([Batch("second_order", 0, number, rows)]).heads
    root, eta, out, lam = np.empty(number * rows), np.empty(number), np.empty(number * rows), np.empty(number * rows)
    made(scale_lengths)(heads, s.reshape(-1), z.reshape(-1), root, eta, lam)
    own = root.reshape(number, rows)
    J = np.diag([1.0] + [-1.0] * (rows - 1))
    for inverse in (False, True):
        made(turn_lengths)(heads, root, eta, inverse, v.reshape(-1), out)
        expected, of_z = [], []
        for c in range(number):
            size_s, size_z = np.sqrt(s[c] @ J @ s[c]), np.sqrt(z[c] @ J @ z[c])
            unit_s, unit_z = s[c] / size_s, z[c] / size_z
            w = (unit_s + J @ unit_z) / (2.0 * np.sqrt(0.5 * (1.0 + unit_s @ unit_z)))
            square = size_s / size_z * (2.0 * np.outer(w, w) - J)
            assert own[c] == pytest.approx(w, rel=1e-9, abs=1e-9) and eta[c] == pytest.approx(np.sqrt(size_s / size_z))
            assert square @ z[c] == pytest.approx(s[c], rel=1e-7, abs=1e-7)
            root_of = symmetric_root(square)
            expected.append(np.linalg.solve(root_of, v[c]) if inverse else root_of @ v[c])
            of_z.append(root_of @ z[c])
        assert out.reshape(number, rows) == pytest.approx(np.array(expected), rel=1e-7, abs=1e-7)
        assert lam.reshape(number, rows) == pytest.approx(np.array(of_z), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(("number", "rows"), [(1, 1), (4, 2), (3, 5), (1, 40)])
@pytest.mark.parametrize("made", [partial(kernel, reorder=True), Uncompiled], ids=["compiled", "uncompiled"])
def test_the_way_out_of_second_order_cones_follows_its_formula(
    number: int, rows: int, made: Callable[[Function], Function]
) -> None:
    """The largest |u_1| - u_0 of u = W^-1 d, with W lambda = e cone by cone; 0 where none leaves."""
    rng = np.random.default_rng(rows)
    lam, ds, dz = rng.standard_normal((3, number, rows))
    lam[:, 0] = np.linalg.norm(lam[:, 1:], axis=1) + 0.3
    heads = SymmetricRows.of([Batch("second_order", 0, number, rows)]).heads
    most = [made(outwards_lengths)(heads, lam.reshape(-1), d.reshape(-1)) for d in (ds, dz)]
    expected = [0.0, 0.0]
    J = np.diag([1.0] + [-1.0] * (rows - 1))
    for c in range(number):
        size = lam[c] @ J @ lam[c]
        w = lam[c] / np.sqrt(size)
        for k, d in enumerate((ds, dz)):
            u = np.linalg.solve(symmetric_root(2.0 * np.outer(w, w) - J), d[c]) / np.sqrt(size)
            expected[k] = max(expected[k], float(np.linalg.norm(u[1:]) - u[0]))
    assert most == pytest.approx(expected, rel=1e-8, abs=1e-9)


def test_rows_of_a_semidefinite_cone_keep_the_inner_product() -> None:
    u, v = np.random.default_rng(8).normal(size=(2, 10))
    (A,), (B,) = matrices(u, 1, 4), matrices(v, 1, 4)
    assert float(np.trace(A @ B)) == pytest.approx(float(u @ v))
