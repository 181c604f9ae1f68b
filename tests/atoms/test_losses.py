"""Every loss of the registry: compiled kernels against references, and references against the definitions."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fwdsl.atoms.loss import Loss
from fwdsl.atoms.losses import LOSSES, VECTOR_LOSSES
from fwdsl.backends.kernels import kernel
from fwdsl.testing import check_loss
from fwdsl.testing.losses import LOSS_CHECKS, LossCase, loss_case

#: Values of the parameters to try besides the defaults.
OTHERS = {"quantile": 0.15, "huber": 0.3, "epsilon_insensitive": 0.0, "squared_epsilon_insensitive": 0.7}
CASES = [(name, case.f.p) for name, loss in LOSSES.items() for case in [loss_case(loss)]]
CASES = [(name, tuple(p.tolist())) for name, p in CASES]
CASES += [(name, (value,)) for name, value in OTHERS.items()]
CASES += [("power", (p,)) for p in (-2.5, -1.0, 0.2, 0.5, 1.0, 1.1, 3.0, 5.5)]
CASES += [("abs_power", (p,)) for p in (1.0, 1.1, 2.0, 4.0)]
CASES += [("tweedie_loss", (p,)) for p in (1.1, 1.9)]

each = pytest.mark.parametrize(
    ("name", "parameters"), CASES, ids=lambda x: x if isinstance(x, str) else "-".join(map(str, x))
)


@each
@pytest.mark.parametrize("check", LOSS_CHECKS, ids=lambda check: check.__name__)
def test_losses(name: str, parameters: tuple[float, ...], check: Callable[[LossCase], None]) -> None:
    check(loss_case(LOSSES[name], parameters))


@pytest.mark.parametrize("name", LOSSES)
def test_the_public_check_takes_our_losses(name: str) -> None:
    """With each option moved."""
    check_loss(LOSSES[name])


@pytest.mark.parametrize("loss", [*LOSSES.values(), *VECTOR_LOSSES.values()], ids=lambda loss: loss.name)
def test_loops_begin_where_a_function_does(loss: Any) -> None:
    """numba asks `inspect` for their text, which in Python 3.13 fails from the middle of a docstring on."""
    loops = [getattr(loss, name) for name in dir(loss) if name.endswith("_loop")]
    for fn in filter(None, loops):
        lines, first = inspect.getsourcelines(fn)
        assert first == fn.__code__.co_firstlineno and lines[0].lstrip().startswith(("def ", "@"))


@pytest.mark.parametrize("t", [1e-12, 1e-3, 1.0, 1e6])
def test_poisson_prox_in_extreme_ranges(t: float) -> None:
    """z + t exp(z) = v + t c, to rounding, where exp(v) overflows and where it vanishes."""
    loss = LOSSES["poisson"]
    v = np.concatenate([np.linspace(-1000.0, 1000.0, 201), np.linspace(-3.0, 3.0, 61)])
    ones, z = np.ones_like(v), np.empty_like(v)
    for c in (0.0, 1.0, 50.0):
        kernel(loss.prox_loop)(v, t, c * ones, ones, np.empty(0), z)
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
            found = kernel(loss.value_gradient_loop)(zs, bs, ones, none, out)
            assert found == pytest.approx(expected, rel=1e-14, abs=1e-300)
            assert out[0] == pytest.approx(float(loss.gradient_naive(zs, bs, none)[0]), rel=2e-13, abs=1e-300)


def test_logistic_conjugates_everywhere() -> None:
    """One multiplier at a time: q log q + (1 - q) log(1 - q) keeps its relative accuracy to the ends, and is inf beyond them."""
    loss, none = LOSSES["logistic"], np.empty(0)
    conjugate = kernel(loss.conjugate_loop)
    for q in (0.0, 1e-300, 1e-17, 1e-9, 0.1, 0.29, 0.2929, 0.5, 0.7071, 0.71, 0.9, 1.0 - 1e-9, 1.0 - 2.0**-53, 1.0):
        for b, w in ((1.0, 1.0), (-1.0, 1.0), (1.0, 0.5), (-1.0, 8.0)):
            found = conjugate(np.array([-b * w * q]), np.array([b]), np.array([w]), none)
            left = q * math.log(q) if q > 0.0 else 0.0
            right = (1.0 - q) * math.log1p(-q) if q < 1.0 else 0.0
            assert found == pytest.approx(w * (left + right), rel=1e-14, abs=0.0)
    ones = np.ones(2)
    for y in ((-0.5, 1e-300), (-0.5, -1.0 - 1e-15), (math.nan, -0.5)):
        assert conjugate(np.array(y), ones, ones, none) == math.inf
    weights = np.array([1.0, 0.0])
    assert conjugate(np.array([-0.5, -0.5]), ones, weights, none) == math.inf
    assert conjugate(np.array([-0.5, 0.0]), ones, weights, none) == pytest.approx(-math.log(2.0), rel=1e-15)


def test_logistic_prox_for_large_steps() -> None:
    loss = LOSSES["logistic"]
    v = np.concatenate([np.linspace(-300.0, 300.0, 121), [1e-300, -1e-300]])
    b, out = np.where(np.arange(v.size) % 2, 1.0, -1.0), np.empty_like(v)
    for t in (1e-10, 1.0, 1e4, 1e8):
        kernel(loss.prox_loop)(v, t, b, np.ones_like(v), np.empty(0), out)
        np.testing.assert_allclose(out, loss.prox_naive(v, np.full_like(v, t), b, np.empty(0)), rtol=1e-12, atol=1e-12)


def test_a_loss_that_lacks_a_part_fails_at_import() -> None:
    own = vars(LOSSES["squared"]).items()
    complete: dict[str, object] = {
        k: v for k, v in own if not (k.startswith("__") or k.endswith("_loop") or k == "word")
    }

    def make(without: str) -> Callable[[], type]:
        return lambda: type("Incomplete", (Loss,), {k: v for k, v in complete.items() if k != without})

    for part in ("tangent", "prox", "conjugate_naive", "smoothness", "dual_bounds_naive"):
        with pytest.raises(TypeError, match=f"Incomplete lacks .*{part}"):
            make(part)()
    with pytest.raises(TypeError, match="smooth and lacks curvature"):
        make("curvature")()
    assert make("nothing")().name == "squared"
    complete["name"] = "square_of"
    with pytest.raises(TypeError, match="`square_of`, which is no such word"):
        make("nothing")()


@pytest.mark.parametrize("t", [1e-12, 1e-3, 1.0, 1e6])
@pytest.mark.parametrize("p", [-3.0, -1.0, -0.1, 0.05, 0.5, 0.95, 1.05, 1.5, 2.0, 2.5, 9.0])
def test_power_prox_in_extreme_ranges(p: float, t: float) -> None:
    """z + t l'(z) = v, to a few roundings of its terms, for v of sizes from 1e-40 to 1e40."""
    loss, kink = LOSSES["power"], np.array([p])
    size = np.concatenate([np.geomspace(1e-40, 1e40, 161), np.linspace(0.1, 3.0, 30)])
    v = size if p > 1.0 else np.concatenate([size, -size])
    ones, z = np.ones_like(v), np.empty_like(v)
    kernel(loss.prox_loop)(v, t, ones, ones, kink, z)
    # beyond the range of numbers a root is 0
    seen = z > 1e-290
    z, v, ones = z[seen], v[seen], ones[seen]
    assert z.size > 50
    slope = t * loss.gradient_naive(z, ones, kink)
    assert np.all(np.abs(z + slope - v) <= 1e-13 * (np.abs(z) + np.abs(slope) + np.abs(v)) * max(1.0, abs(p - 1.0)))
