"""Every loss of a row of predictions: compiled kernels against references, and references against the definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from fwdsl.atoms.base import Array
from fwdsl.atoms.losses import LOSSES, VECTOR_LOSSES
from fwdsl.atoms.vector_loss import VectorLoss, VectorLossFunction
from fwdsl.backends.kernels import kernel

each = pytest.mark.parametrize("name", VECTOR_LOSSES)


def sample(name: str, n: int = 60, k: int = 4) -> tuple[type[VectorLoss], VectorLossFunction, Array]:
    """The loss, a weighted sum of it with some zero weights, and predictions, some tied and some at a kink."""
    rng = np.random.default_rng(5)
    w = rng.exponential(1.0, n) * (rng.random(n) > 0.1)
    z = rng.normal(0.0, 3.0, (n, k))
    z[::5] = np.round(z[::5])
    z[1::10] = 0.0
    loss = VECTOR_LOSSES[name]
    return loss, VectorLossFunction(loss, rng.integers(0, k, n), w, k), z


def compiled_prox(f: VectorLossFunction, v: Array, t: float) -> Array:
    out = np.full(f.shape, np.nan)
    kernel(f.loss.prox_loop)(v.reshape(f.shape), t, f.y, f.w, out)
    return out.reshape(-1)


def inside(f: VectorLossFunction, seed: int) -> Array:
    """A point in the domain of the conjugate, on its boundary in places."""
    return f.into_domain(np.random.default_rng(seed).normal(0.0, 1.0, f.size) * np.repeat(f.w, f.k))


@each
@pytest.mark.parametrize("k", [1, 2, 7])
def test_kernels_match_references(name: str, k: int) -> None:
    loss, f, z = sample(name, k=k)
    out = np.empty(f.shape)
    assert kernel(loss.value_gradient_loop)(z, f.y, f.w, out) == pytest.approx(
        f.value(z.reshape(-1)), rel=1e-13, abs=1e-13
    )
    np.testing.assert_allclose(out.reshape(-1), f.gradient(z.reshape(-1)), rtol=1e-13, atol=1e-14)
    for t in (1e-3, 1.0, 50.0):
        np.testing.assert_allclose(compiled_prox(f, z, t), f.prox(z.reshape(-1), t), rtol=1e-12, atol=1e-12)
    y = inside(f, 1)
    assert math.isfinite(f.conjugate(y))
    assert kernel(loss.conjugate_loop)(y.reshape(f.shape), f.y, f.w) == pytest.approx(
        f.conjugate(y), rel=1e-12, abs=1e-13
    )


def test_small_values_of_softmax_keep_their_relative_accuracy() -> None:
    """The value and its reference, where the class is nearly certain."""
    loss, one = VECTOR_LOSSES["softmax"], np.ones(1)
    for gap in (0.0, 1.0, 30.0, 60.0, 700.0):
        for own in range(3):
            z = np.full((1, 3), 5.0 - gap)
            z[0, own] = 5.0
            y = np.array([own])
            found = kernel(loss.value_gradient_loop)(z, y, one, np.empty((1, 3)))
            assert found == pytest.approx(math.log1p(2.0 * math.exp(-gap)), rel=1e-14)
            assert float(loss.value_naive(z, y)[0]) == pytest.approx(found, rel=1e-14)


@each
def test_conjugate_is_infinite_outside_its_domain(name: str) -> None:
    loss, f, _ = sample(name, 12)
    conjugate = kernel(loss.conjugate_loop)
    y = inside(f, 2).reshape(f.shape)
    live = np.flatnonzero(f.w > 0.0)
    rows = [(i, l, step) for i in live for l in range(f.k) for step in (-1e-6, 1e-6)]
    rows += [(i, 0, 1.0) for i in np.flatnonzero(f.w == 0.0)]
    for i, l, step in rows:
        outside = y.copy()
        outside[i, l] += step
        # the sum is not zero any more
        assert f.conjugate(outside.reshape(-1)) == conjugate(outside, f.y, f.w) == math.inf
    for i in live:
        own, other = f.y[i], (f.y[i] + 1) % f.k
        for step in (-1e-3 - y[i, other], 1.001 * f.w[i] - y[i, other]):
            outside = y.copy()
            outside[i, other] += step
            outside[i, own] -= step
            assert f.conjugate(outside.reshape(-1)) == conjugate(outside, f.y, f.w) == math.inf
    assert f.conjugate(np.zeros(f.size)) == pytest.approx(-f.infimum())


@each
def test_prox_is_optimal(name: str) -> None:
    """u = (v - z) / (t w) is a subgradient at z: l(z) + l*(u) = <u, z>, the equality of Fenchel."""
    loss, f, v = sample(name)
    live = f.w > 0.0
    v, y = v[live], f.y[live]
    for t in (0.01, 1.0, 20.0):
        z = loss.prox_naive(v, t * f.w[live], y)
        u = (v - z) / (t * f.w[live])[:, None]
        near = loss.into_domain_naive(u, y)
        np.testing.assert_allclose(near, u, atol=1e-11 * (1.0 + 1.0 / (t * f.w[live].min())))
        both = loss.value_naive(z, y) + loss.conjugate_naive(near, y)
        np.testing.assert_allclose(both, (near * z).sum(axis=1), rtol=1e-9, atol=1e-9)


@each
def test_gradient_is_a_subgradient_and_the_conjugate_bounds(name: str) -> None:
    loss, f, z = sample(name)
    u = loss.gradient_naive(z, f.y)
    rng = np.random.default_rng(2)
    for _ in range(10):
        other = rng.normal(0.0, 3.0, f.shape)
        bound = loss.value_naive(z, f.y) + (u * (other - z)).sum(axis=1)
        assert np.all(loss.value_naive(other, f.y) >= bound - 1e-12 * (1 + np.abs(bound)))
        for seed in (3, 4):
            y = loss.into_domain_naive(np.random.default_rng(seed).normal(size=f.shape), f.y)
            left = (y * other).sum(axis=1) - loss.value_naive(other, f.y)
            assert np.all(left <= loss.conjugate_naive(y, f.y) + 1e-12)


@each
def test_into_domain_keeps_what_is_inside_and_takes_in_anything(name: str) -> None:
    loss, f, z = sample(name)
    y = f.into_domain(50.0 * z.reshape(-1))
    assert math.isfinite(f.conjugate(y)) and math.isfinite(kernel(loss.conjugate_loop)(y.reshape(f.shape), f.y, f.w))
    np.testing.assert_allclose(f.into_domain(y), y, atol=1e-14)
    gradient = f.gradient(z.reshape(-1))
    near = f.into_domain(gradient)
    np.testing.assert_allclose(near, gradient, atol=1e-14)
    value = f.value(z.reshape(-1)) + f.conjugate(near)
    assert value == pytest.approx(float(near @ z.reshape(-1)), rel=1e-12)


@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("name", [name for name, loss in VECTOR_LOSSES.items() if loss.bent is not None])
def test_second_derivatives_are_differences_of_gradients(name: str, k: int) -> None:
    loss, f, z = sample(name, 30, k=k)
    h, found = np.empty(f.shape), np.empty(f.shape)
    kernel(loss.curvature_loop)(z, f.y, f.w, h)
    v, step = np.random.default_rng(8).normal(0.0, 1.0, f.shape), 1e-5
    kernel(loss.bent_loop)(h, v, found)
    ahead, behind = (f.gradient((z + t * v).reshape(-1)) for t in (step, -step))
    np.testing.assert_allclose(found.reshape(-1), (ahead - behind) / (2.0 * step), rtol=0, atol=1e-8)


@each
def test_facts(name: str) -> None:
    loss, f, z = sample(name, 300)
    assert loss.word.target == "labels" and name not in LOSSES
    assert (loss.curvature is None) == (loss.bent is None) == (loss.smoothness is None)
    assert loss.piecewise_quadratic or not loss.piecewise_linear
    other = z + np.random.default_rng(4).normal(0.0, 1e-2, f.shape)
    change = np.linalg.norm(loss.gradient_naive(other, f.y) - loss.gradient_naive(z, f.y), axis=1)
    ratio = change / np.linalg.norm(other - z, axis=1)
    assert (loss.smoothness is None) == (f.lipschitz == math.inf) == (ratio.max() > 1.0)
    if loss.smoothness is not None:
        assert 0.4 * loss.smoothness < ratio.max() <= loss.smoothness * (1 + 1e-9)
    lowest = f.prox(np.zeros(f.size), 1e9)
    assert f.infimum() == 0.0 <= f.value(lowest) <= 1e-6 * f.w.sum()
    with pytest.raises(ValueError, match="less than 2"):
        VectorLossFunction(loss, np.array([0, 2]), np.ones(2), 2)


@each
def test_the_domain_of_the_conjugate_is_that_which_the_loss_names(name: str) -> None:
    """Points that `into_domain` makes of anything lie in it, its largest point is as long as `largest_slope`, and no subgradient is longer."""
    loss, f, z = sample(name, 300)
    at = np.arange(f.y.size)
    u = loss.into_domain_naive(np.random.default_rng(5).normal(0.0, 3.0, f.shape), f.y)
    np.testing.assert_allclose(u.sum(axis=1), 0.0, rtol=0, atol=1e-12)
    if not loss.boxed_dual:
        u[at, f.y] += 1.0
    else:
        u[at, f.y] = 0.0
    assert u.min() >= -1e-12 and u.max() <= 1.0 + 1e-12
    # the other loss's domain is told apart
    assert (np.abs(u.sum(axis=1) - 1.0).max() < 1e-9) == (not loss.boxed_dual)
    far = np.linalg.norm(loss.gradient_naive(100.0 * z, f.y), axis=1)
    assert far.max() <= loss.largest_slope(f.k) * (1 + 1e-12)
    wrong = np.full((1, f.k), 100.0)
    wrong[0, 0] = 0.0
    one = loss.gradient_naive(wrong, np.array([0]))
    assert not loss.boxed_dual or np.linalg.norm(one) == pytest.approx(loss.largest_slope(f.k))


@each
def test_prox_for_all_steps(name: str) -> None:
    """The prox is right to the rounding of the sum, where the step dwarfs the predictions and where it vanishes beside them."""
    _, f, v = sample(name, 30, 5)
    for scale in (1e-6, 1.0, 100.0):
        for t in (1e-10, 1e-3, 1e4, 1e8):
            found = compiled_prox(f, scale * v, t)
            np.testing.assert_allclose(
                found, f.prox(scale * v.reshape(-1), t), rtol=1e-12, atol=1e-14 * (t + 100.0 * scale + 1.0)
            )
    assert np.all(np.isfinite(compiled_prox(f, np.full(f.shape, 1e300), 1.0)))


def test_softmax_does_not_overflow_and_keeps_small_values() -> None:
    loss = VECTOR_LOSSES["softmax"]
    y, ones = np.zeros(1, dtype=np.int64), np.ones(1)
    out = np.empty((1, 3))
    for gap in (-1000.0, -30.0, 0.0, 5.0, 300.0):
        z = np.array([[gap, 0.0, -2.0]]) + 700.0
        expected = float(loss.value_naive(z, y)[0])
        found = kernel(loss.value_gradient_loop)(z, y, ones, out)
        if gap < 300.0:
            assert found == pytest.approx(expected, rel=1e-12, abs=3e-13)
        assert found > 0.0 and np.all(np.isfinite(out))
    assert found == pytest.approx(math.exp(-300.0) * (1.0 + math.exp(-2.0)), rel=1e-12)
    assert out[0, 0] == pytest.approx(-found, rel=1e-12)


@each
def test_prox_and_conjugate_against_cvxpy(name: str) -> None:
    import cvxpy as cp

    loss, f, v = sample(name, 6, 3)
    live = f.w > 0.0
    v, y, w = v[live], f.y[live], f.w[live]
    e = np.eye(3)[y]
    z = cp.Variable(v.shape)
    own = cp.sum(cp.multiply(e, z), axis=1)
    if name == "softmax":
        values = cp.log_sum_exp(z, axis=1) - own
    elif name == "multiclass_hinge":
        values = cp.max(1.0 - e + z, axis=1) - own
    else:
        values = cp.sum(cp.pos(1.0 + z - cp.reshape(own, (y.size, 1), order="C") @ np.ones((1, 3))), axis=1) - 1.0
    cp.Problem(cp.Minimize(0.7 * (w @ values) + cp.sum_squares(z - v) / 2)).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(loss.prox_naive(v, 0.7 * w, y), z.value, atol=2e-5)
    # strictly inside the domain, where the supremum is attained
    u = 0.5 * loss.into_domain_naive(v, y) + 0.5 * (np.full(v.shape, 1 / 3) - e)
    best = cp.Problem(cp.Maximize(cp.sum(cp.multiply(u, z)) - cp.sum(values))).solve(solver=cp.CLARABEL)
    assert float(loss.conjugate_naive(u, y).sum()) == pytest.approx(best, abs=1e-6)


def test_a_loss_that_lacks_a_part_fails_at_import() -> None:
    complete = {k: v for k, v in vars(VECTOR_LOSSES["softmax"]).items() if not k.startswith("__")}
    for part in ("tangent", "prox", "conjugate_naive", "smoothness", "into_domain_naive"):
        with pytest.raises(TypeError, match=f"Incomplete lacks .*{part}"):
            type("Incomplete", (VectorLoss,), {k: v for k, v in complete.items() if k != part})


@each
def test_the_growth_is_the_slope_far_out(name: str) -> None:
    """(f(t d) - f(0)) / t rises to it with t, and no point of the domain of the conjugate has a larger product."""
    _, f, d = sample(name)
    growth, size = f.growth(d.reshape(-1))
    slopes = [(f.value(t * d.reshape(-1)) - f.value(np.zeros(f.size))) / t for t in (1.0, 1e3, 1e6)]
    assert slopes[0] <= slopes[1] + 1e-12 * size and slopes[1] <= growth + 1e-12 * size
    assert slopes[-1] == pytest.approx(growth, rel=1e-5)
    for seed in range(5):
        assert float(inside(f, seed) @ d.reshape(-1)) <= growth + 1e-12 * size
