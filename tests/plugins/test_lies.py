"""The public checks refuse a class that says too much: each fact that a method rests on is held against samples or a definition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from fwdsl.extend import Array, Conic, Face, Loss, VectorSet, no_kink
from fwdsl.testing import check_loss, check_set
from tests.plugins.copies import Between, Cube, Sizes
from tests.plugins.ellipsoid import Ellipsoid
from tests.plugins.expectile import Expectile
from tests.plugins.tweedie import Tweedie


def other_loss(cls: type[Loss], **change: Any) -> type[Loss]:
    """The loss with something else about it."""
    body = {
        k: v for k, v in vars(cls).items() if not k.startswith("__") and not getattr(getattr(cls, k), "plain", False)
    }
    return type("Made", (Loss,), {**body, **change})


def other_set(cls: type[VectorSet], **change: Any) -> type[VectorSet]:
    """The set with something else about it."""
    made = type("Made", (cls,), {"__annotations__": {}, "word": cls.word, **change})
    return dataclass(frozen=True, eq=False)(made)


def slope_in_place(z: Array, b: Array, p: Array) -> Array:
    """The slope of the expectile loss, which makes the residual where the prediction was."""
    z -= b
    found = 2.0 * np.where(z > 0.0, p[0], 1.0 - p[0]) * z
    z += 1.0
    return found


def squares(z: Any, b: Array, p: Array) -> Any:
    import cvxpy as cp

    return cp.square(z - b)


def test_the_truth_is_taken() -> None:
    check_loss(Expectile)
    check_loss(other_loss(Expectile))
    for cls in (Ellipsoid, Sizes, Between, Cube):
        check_set(cls)
        check_set(other_set(cls))


@pytest.mark.parametrize(
    ("cls", "change", "told"),
    [
        (
            Expectile,
            {"tangent": staticmethod(lambda z, b, p: z - b)},
            r"tangent\(z, b, p\) gives l and l', two numbers: it",
        ),
        (Expectile, {"tangent": staticmethod(lambda z, b: (z, b))}, r"tangent\(z, b, p\) .*: .*positional arguments"),
        (
            Expectile,
            {"prox": staticmethod(lambda v, t, b, p: None)},
            r"prox\(v, t, b, p\) gives a number: it gives None",
        ),
        (Expectile, {"conjugate": staticmethod(lambda u, b, w, p: p)}, r"conjugate\(u, b, w, p\) gives a number"),
        (Expectile, {"quadratic": True}, "`quadratic`: slopes change by `smoothness` times the way"),
        (
            Expectile,
            {"smoothness": None, "curvature": None, "curvature_loop": None, "piecewise_linear": True},
            "`piecewise_linear`",
        ),
        (Tweedie, {"piecewise_quadratic": True}, "`piecewise_quadratic`: slopes bend at a few places only"),
        (Expectile, {"dual_kink": staticmethod(no_kink)}, "`dual_kink`: the conjugate is"),
        (Expectile, {"conic": staticmethod(lambda b, w, p: Expectile.conic(b, w, 1.001 * p))}, "`conic` has the value"),
        (
            Expectile,
            {"conic": staticmethod(lambda b, w, p: Conic(b.size, curvature=w, slope=-w * b))},
            "`conic` has the value",
        ),
        (Expectile, {"cvxpy": staticmethod(squares)}, "`cvxpy` has the value of the loss"),
        (Expectile, {"gradient_naive": staticmethod(slope_in_place)}, "`gradient_naive` leaves its arguments"),
    ],
)
def test_of_a_loss(cls: type[Loss], change: dict[str, Any], told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        check_loss(other_loss(cls, **change))


def cut_in_place(self: Any, v: Array, t: float) -> Array:
    """The projection on bounds, written into the point."""
    return np.clip(v, *self.bounds(), out=v)


def on_its_own_size(self: Any, x: Array, sizes: Array | None = None) -> float:
    """The miss over the length of the point, whatever the sizes of the terms."""
    return self._ours.violation(x)


def everything_moves(self: Any, x: Array) -> Face:
    return Face(np.arange(self.size), np.zeros((0, self.size)), np.zeros(self.size))


def nothing_moves(self: Any, x: Array) -> Face:
    return Face(np.arange(0), np.zeros((0, 0)), np.zeros(0))


def without_normals(self: Any, x: Array) -> Face:
    found = self._ours.face(x)
    return Face(found.free, np.zeros((0, found.free.size)), found.slope)


def with_slope(self: Any, x: Array) -> Face:
    found = self._ours.face(x)
    return Face(found.free, found.normals, found.slope + 1e-3)


@pytest.mark.parametrize(
    ("cls", "change", "told"),
    [
        (Ellipsoid, {"radius": lambda self: 100.0 * Ellipsoid.radius(self)}, "`radius` = .* is far above"),
        (
            Ellipsoid,
            {"violation": lambda self, x, sizes=None: 1e-6 * Ellipsoid.violation(self, x, sizes)},
            "of the order of its distance over its size",
        ),
        (
            Sizes,
            {"violation": lambda self, x, sizes=None: max(0.0, float(np.abs(x).sum()) - self.r)},
            "is relative to the sizes of its terms",
        ),
        (Sizes, {"violation": on_its_own_size}, "beside terms that are far larger"),
        (Between, {"prox": cut_in_place}, "`prox` (leaves its argument as it is|returns an array of its own)"),
        (Between, {"face": everything_moves}, "`face`: along it the set goes on"),
        (Between, {"face": nothing_moves}, "`face`: proxes of points nearby"),
        (Ellipsoid, {"face": everything_moves}, "`face`: along it the set goes on"),
        (Sizes, {"face": without_normals}, "`face`: along it the set goes on"),
        (Sizes, {"face": with_slope}, "`face`: along it the set goes on"),
        (Sizes, {"conic": lambda self: type(self._ours)(self.size, 0.99 * self.r).conic()}, "`conic`"),
        (Sizes, {"conic": lambda self: type(self._ours)(self.size, 1.5 * self.r).conic()}, "`conic`"),
        (Ellipsoid, {"conic": lambda self: Conic(self.size)}, "`conic` leaves out a point outside the set"),
        (Ellipsoid, {"cvxpy": lambda self, x: Ellipsoid.cvxpy(self, 0.9 * x)}, "`cvxpy` has the same projection"),
        (Sizes, {"vertex_id": lambda self, c: (0,)}, "one name of a vertex is of one vertex"),
        (Cube, {"lmo": lambda self, c: Cube.lmo(self, c) * np.linspace(1.0, 0.9, self.size)}, "`lmo`|lmo"),
    ],
)
def test_of_a_set(cls: type[VectorSet], change: dict[str, Any], told: str) -> None:
    with pytest.raises(AssertionError, match=told):
        check_set(other_set(cls, **change))
