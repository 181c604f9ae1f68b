"""Every loss of the registry: compiled kernels against references, and references against the definitions."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from fwdsl.atoms.base import Array, Loss, LossFunction
from fwdsl.atoms.losses import LOSSES
from fwdsl.backends.kernels import kernel

#: Values of the parameters to try besides the defaults.
OTHERS = {"quantile": 0.15, "huber": 0.3, "epsilon_insensitive": 0.0, "squared_epsilon_insensitive": 0.7}
CASES = [(name, tuple(q.default for q in loss.word.options)) for name, loss in LOSSES.items()]
CASES += [(name, (value,)) for name, value in OTHERS.items()]

each = pytest.mark.parametrize(
    ("name", "parameters"), CASES, ids=lambda x: x if isinstance(x, str) else "-".join(map(str, x))
)


def targets(loss: type[Loss], size: int, rng: np.random.Generator) -> Array:
    """Targets of the loss's kind; counts include zero."""
    if loss.word.target == "signs":
        return rng.choice([-1.0, 1.0], size)
    return rng.normal(0.0, 2.0, size) if loss.word.residual else rng.poisson(2.0, size).astype(float)


def sample(name: str, parameters: tuple[float, ...], size: int = 400) -> tuple[type[Loss], LossFunction, Array]:
    """The loss, a weighted sum of it with some zero weights, and predictions, some exactly at the target or a kink."""
    rng = np.random.default_rng(5)
    loss = LOSSES[name]
    b = targets(loss, size, rng)
    w = rng.exponential(1.0, size) * (rng.random(size) > 0.1)
    z = rng.normal(0.0, 3.0, size)
    z[::7] = b[::7]
    z[1::7] = np.round(z[1::7])
    return loss, LossFunction(loss, b, w, np.array(parameters)), z


def inside(f: LossFunction, rng: np.random.Generator) -> Array:
    """A point in the domain of the conjugate, on its boundary in places."""
    lo, hi = f.dual_bounds()
    y = np.clip(rng.normal(0.0, 2.0, f.size) * f.w, lo, hi)
    y[::5], y[1::5] = (np.where(np.isfinite(end[i::5]), end[i::5], 0.0) for i, end in ((0, lo), (1, hi)))
    return y


@each
def test_values_and_derivatives_of_kernels_match_references(name: str, parameters: tuple[float, ...]) -> None:
    loss, f, z = sample(name, parameters)
    out = np.empty(f.size)
    assert kernel(loss.value)(z, f.b, f.w, f.p) == pytest.approx(f.value(z), rel=1e-13)
    assert kernel(loss.value_gradient)(z, f.b, f.w, f.p, out) == pytest.approx(f.value(z), rel=1e-13)
    np.testing.assert_allclose(out, f.gradient(z), rtol=1e-13, atol=1e-14)


@each
def test_prox_and_conjugate_of_kernels_match_references(name: str, parameters: tuple[float, ...]) -> None:
    loss, f, v = sample(name, parameters)
    out = np.empty(f.size)
    for t in (1e-3, 1.0, 50.0):
        kernel(loss.prox)(v, t, f.b, f.w, f.p, out)
        np.testing.assert_allclose(out, f.prox(v, t), rtol=1e-12, atol=1e-12)
    y = inside(f, np.random.default_rng(1))
    assert math.isfinite(f.conjugate(y))
    assert kernel(loss.conjugate)(y, f.b, f.w, f.p) == pytest.approx(f.conjugate(y), rel=1e-12, abs=1e-13)


@each
def test_conjugate_is_infinite_outside_the_bounds_and_for_zero_weights(
    name: str, parameters: tuple[float, ...]
) -> None:
    loss, f, _ = sample(name, parameters, 20)
    conjugate = kernel(loss.conjugate)
    for bound, step in zip(f.dual_bounds(), (-1.0, 1.0), strict=True):
        for j in np.flatnonzero(np.isfinite(bound)):
            y = np.zeros(f.size)
            y[j] = bound[j] + step * 1e-3
            assert f.conjugate(y) == conjugate(y, f.b, f.w, f.p) == math.inf
    dead = LossFunction(loss, f.b, np.zeros(f.size), f.p)
    assert dead.conjugate(np.zeros(f.size)) == conjugate(np.zeros(f.size), f.b, dead.w, f.p) == 0.0
    for sign in (-1.0, 1.0):
        assert dead.conjugate(np.full(f.size, sign)) == conjugate(np.full(f.size, sign), f.b, dead.w, f.p) == math.inf


@each
def test_prox_is_optimal(name: str, parameters: tuple[float, ...]) -> None:
    """u = (v - z) / t is a subgradient at z: l(z) + l*(u) = u z, the equality of Fenchel."""
    loss, f, v = sample(name, parameters)
    for t in (0.01, 1.0, 20.0):
        z = loss.prox_naive(v, np.full(f.size, t), f.b, f.p)
        u = np.clip((v - z) / t, *loss.dual_bounds_naive(f.b, f.p))
        np.testing.assert_allclose(u, (v - z) / t, atol=1e-12 / t * (1 + np.abs(v).max()))
        both = loss.value_naive(z, f.b, f.p) + loss.conjugate_naive(u, f.b, f.p)
        np.testing.assert_allclose(both, u * z, rtol=1e-9, atol=1e-9)


@each
def test_gradient_is_a_subgradient(name: str, parameters: tuple[float, ...]) -> None:
    loss, f, z = sample(name, parameters)
    u = loss.gradient_naive(z, f.b, f.p)
    other = np.random.default_rng(2).normal(0.0, 3.0, f.size)
    bound = loss.value_naive(z, f.b, f.p) + u * (other - z)
    assert np.all(loss.value_naive(other, f.b, f.p) >= bound - 1e-12 * (1 + np.abs(bound)))


@each
def test_conjugate_is_the_supremum(name: str, parameters: tuple[float, ...]) -> None:
    """Against the largest of u z - l(z) over a fine grid, whose error is the slope's change over a step."""
    loss, f, _ = sample(name, parameters, 12)
    grid = np.linspace(-60.0, 60.0, 240_001)
    lo, hi = loss.dual_bounds_naive(f.b, f.p)
    # strictly inside, where the supremum is attained within the grid
    u = np.clip(
        np.random.default_rng(3).normal(0.0, 2.0, f.size), np.maximum(lo, -8.0) + 0.02, np.minimum(hi, 8.0) - 0.02
    )
    for j in range(f.size):
        values = loss.value_naive(grid, np.full_like(grid, f.b[j]), f.p)
        found = float(np.max(u[j] * grid - values))
        exact = float(loss.conjugate_naive(u[j : j + 1], f.b[j : j + 1], f.p)[0])
        assert found <= exact + 1e-10 * (1.0 + abs(exact))
        assert found == pytest.approx(exact, abs=2e-3)


@each
def test_infimum_is_minus_the_conjugate_at_zero_and_below_all_values(name: str, parameters: tuple[float, ...]) -> None:
    loss, f, _ = sample(name, parameters, 60)
    infimum = loss.infimum_naive(f.b, f.p)
    np.testing.assert_allclose(infimum, -loss.conjugate_naive(np.zeros(f.size), f.b, f.p), atol=1e-14)
    for z in np.linspace(-40.0, 40.0, 801):
        assert np.all(loss.value_naive(np.full(f.size, z), f.b, f.p) >= infimum - 1e-13 * (1 + np.abs(infimum)))
    lowest = loss.prox_naive(np.zeros(f.size), np.full(f.size, 1e9), f.b, f.p)
    np.testing.assert_allclose(loss.value_naive(lowest, f.b, f.p), infimum, atol=1e-6)


@each
def test_facts(name: str, parameters: tuple[float, ...]) -> None:
    """Slopes change by at most `smoothness` and at least `strong_convexity`; specific facts imply general ones."""
    loss, f, z = sample(name, parameters)
    assert (loss.smoothness is None) == (loss.curvature is None)
    assert loss.piecewise_quadratic or not loss.piecewise_linear
    assert loss.piecewise_linear <= (loss.smoothness is None)
    other = z + np.random.default_rng(4).normal(0.0, 1.0, f.size)
    change = (loss.gradient_naive(other, f.b, f.p) - loss.gradient_naive(z, f.b, f.p)) / (other - z)
    assert np.all(change >= loss.strong_convexity - 1e-12)
    if loss.smoothness is not None:
        assert np.all(change <= loss.smoothness + 1e-12)
        assert loss.smoothness == math.inf or change.max() > 0.5 * loss.smoothness


@pytest.mark.parametrize("name", [name for name, loss in LOSSES.items() if loss.curvature is not None])
def test_curvature_is_the_derivative_of_the_gradient(name: str) -> None:
    loss, f, _ = sample(name, tuple(q.default for q in LOSSES[name].word.options))
    z = np.random.default_rng(6).normal(0.0, 3.0, f.size)
    out, h = np.empty(f.size), 1e-5
    assert loss.curvature is not None
    kernel(loss.curvature)(z, f.b, f.w, f.p, out)
    slope = (f.gradient(z + h) - f.gradient(z - h)) / (2.0 * h)
    smooth = (f.w > 0.0) & (
        np.abs(slope - f.gradient(z + 2 * h) / (2 * h) + f.gradient(z) / (2 * h)) < 1e-3 * (1 + np.abs(slope))
    )
    assert smooth.mean() > 0.5
    np.testing.assert_allclose(out[smooth], slope[smooth], rtol=1e-3, atol=1e-4)


@each
def test_losses_of_residuals_do_not_change_where_targets_move_with_predictions(
    name: str, parameters: tuple[float, ...]
) -> None:
    loss, f, z = sample(name, parameters)
    moved = loss.value_naive(z + 0.75, f.b + 0.75, f.p)
    same = np.allclose(moved, loss.value_naive(z, f.b, f.p), rtol=1e-12, atol=1e-12)
    assert same == loss.word.residual


def test_bounds_times_weights_are_in_the_domain_whatever_the_rounding() -> None:
    rng = np.random.default_rng(7)
    for name, loss in LOSSES.items():
        b = targets(loss, 2000, rng)
        f = LossFunction(loss, b, rng.random(2000), np.array([q.default / 3.0 for q in loss.word.options]))
        for bound in f.dual_bounds():
            y = np.where(np.isfinite(bound), bound, 0.0)
            assert math.isfinite(f.conjugate(y)), name
            assert math.isfinite(kernel(loss.conjugate)(y, f.b, f.w, f.p)), name


@pytest.mark.parametrize("t", [1e-12, 1e-3, 1.0, 1e6])
def test_poisson_prox_in_extreme_ranges(t: float) -> None:
    """z + t exp(z) = v + t c, to rounding, where exp(v) overflows and where it vanishes."""
    loss = LOSSES["poisson"]
    v = np.concatenate([np.linspace(-1000.0, 1000.0, 201), np.linspace(-3.0, 3.0, 61)])
    ones, z = np.ones_like(v), np.empty_like(v)
    for c in (0.0, 1.0, 50.0):
        kernel(loss.prox)(v, t, c * ones, ones, np.empty(0), z)
        scale = np.abs(z) + t * np.exp(z) + np.abs(v) + t * c
        assert np.all(np.abs(z + t * np.exp(z) - v - t * c) <= 1e-14 * scale + 1e-15 * t * np.exp(z) * np.abs(z))


def test_logistic_values_and_slopes_everywhere() -> None:
    """One prediction at a time: small values keep their relative accuracy beside no large ones."""
    loss, none = LOSSES["logistic"], np.empty(0)
    out = np.empty(1)
    for a in (0.0, 1e-300, 1e-9, 0.3, 1.0, 20.0, 36.9, 300.0, 700.0, 745.5, 1e5, 1e300):
        for z, b in ((a, 1.0), (-a, 1.0), (a, -1.0)):
            zs, bs, ones = np.array([z]), np.array([b]), np.ones(1)
            expected = float(loss.value_naive(zs, bs, none)[0])
            for found in (kernel(loss.value)(zs, bs, ones, none), kernel(loss.value_gradient)(zs, bs, ones, none, out)):
                assert found == pytest.approx(expected, rel=1e-14, abs=1e-300)
            assert out[0] == pytest.approx(float(loss.gradient_naive(zs, bs, none)[0]), rel=2e-13, abs=1e-300)


def test_logistic_prox_for_large_steps() -> None:
    loss = LOSSES["logistic"]
    v = np.concatenate([np.linspace(-300.0, 300.0, 121), [1e-300, -1e-300]])
    b, out = np.where(np.arange(v.size) % 2, 1.0, -1.0), np.empty_like(v)
    for t in (1e-10, 1.0, 1e4, 1e8):
        kernel(loss.prox)(v, t, b, np.ones_like(v), np.empty(0), out)
        np.testing.assert_allclose(out, loss.prox_naive(v, np.full_like(v, t), b, np.empty(0)), rtol=1e-12, atol=1e-12)


def test_a_loss_that_lacks_a_part_fails_at_import() -> None:
    complete: dict[str, object] = {k: v for k, v in vars(LOSSES["squared"]).items() if not k.startswith("__")}

    def make(without: str) -> Callable[[], type]:
        return lambda: type("Incomplete", (Loss,), {k: v for k, v in complete.items() if k != without})

    for part in ("value", "prox", "conjugate_naive", "smoothness", "infimum_naive"):
        with pytest.raises(TypeError, match=f"Incomplete lacks .*{part}"):
            make(part)()
    with pytest.raises(TypeError, match="smooth and lacks curvature"):
        make("curvature")()
    assert make("nothing")().name == "squared"
    complete["name"] = "square_of"
    with pytest.raises(TypeError, match="`square_of`, which is no such word"):
        make("nothing")()
