"""The loops over samples that losses share, each around one formula of a loss for one sample, which is linked in as `formula` (`loop`).

A loss may have a loop of its own in place of one of these, where that is faster. z, y, v, b, w, out are float64 vectors of one block of samples, p
the parameters. For losses of rows of predictions (`row_...`) z, v, u, h, out are (n, k) in C order, y int64 (n,) and w float64 (n,).
"""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

import math
from collections.abc import Callable, Iterator
from functools import cache
from types import FunctionType


def value_gradient(z, b, w, p, out):
    """sum_j w_j l(z_j; b_j); out_j = w_j l'(z_j; b_j), a subgradient where l is not differentiable."""
    total = 0.0
    for j in range(z.size):
        level, slope = formula(z[j], b[j], p)
        total += w[j] * level
        out[j] = w[j] * slope
    return total


def value_gradient_on_set(z, b, w, p, out):
    """The same of a loss that is infinite outside of a set: what has no weight is 0 there."""
    total = 0.0
    for j in range(z.size):
        out[j] = 0.0
        if w[j] > 0.0:
            level, slope = formula(z[j], b[j], p)
            total += w[j] * level
            out[j] = w[j] * slope
    return total


def curvature(z, b, w, p, out):
    """out_j = w_j l''(z_j; b_j), a generalised second derivative."""
    for j in range(z.size):
        out[j] = w[j] * formula(z[j], b[j], p)


def prox(v, t, b, w, p, out):
    """out_j = argmin_z t w_j l(z; b_j) + (z - v_j)^2 / 2."""
    for j in range(v.size):
        out[j] = formula(v[j], t * w[j], b[j], p)


def conjugate(y, b, w, p):
    """sum_j (w_j l)*(y_j), inf outside the domain; w_j = 0 asks y_j = 0."""
    total = 0.0
    for j in range(y.size):
        if w[j] > 0.0:
            total += formula(y[j], b[j], w[j], p)
        elif y[j] != 0.0:
            return math.inf
    return total


def row_value_gradient(z, y, w, out):
    """sum_i w_i l(z_i; y_i); out_i = w_i grad l(z_i; y_i), a subgradient where l is not differentiable."""
    total = 0.0
    for i in range(y.size):
        total += formula(z[i], y[i], w[i], out[i])
    return total


def row_curvature(z, y, w, out):
    """Write what `row_bent` asks of the second derivatives at z."""
    for i in range(y.size):
        formula(z[i], w[i], out[i])


def row_bent(h, v, out):
    """out_i = w_i (Hessian of l at z_i) v_i, h being what `row_curvature` gave."""
    for i in range(h.shape[0]):
        formula(h[i], v[i], out[i])


def row_prox(v, t, y, w, out):
    """out_i = argmin_z t w_i l(z; y_i) + |z - v_i|^2 / 2."""
    for i in range(y.size):
        formula(v[i], t * w[i], y[i], out[i])


def row_conjugate(u, y, w):
    """sum_i (w_i l)*(u_i), inf outside the domain."""
    total = 0.0
    for i in range(y.size):
        total += formula(u[i], y[i], w[i])
    return total


LOOPS = {
    "value_gradient": "tangent",
    "curvature": "curvature",
    "prox": "prox",
    "conjugate": "conjugate",
}
"""The formula that each loop is around. A loss has the loop as `value_gradient_loop`, ..."""

ROW_LOOPS = {**LOOPS, "bent": "bent"}
"""The same of a loss of rows of predictions."""


def loops_of(cls: type, loops: dict[str, str], prefix: str = "") -> Iterator[tuple[str, Callable[..., float]]]:
    """The loops around the formulas that a class itself states, but for loops of its own."""
    for name, formula in loops.items():
        if vars(cls).get(formula) is not None and f"{name}_loop" not in vars(cls):
            yield name, loop(globals()[prefix + name], getattr(cls, formula))


@cache
def loop(around: FunctionType, formula: FunctionType) -> Callable[..., float]:
    """A copy of a loop that calls this formula, and is of the formula's file: compiled code is named and kept by it.

    It begins at the formula's line too, where `inspect`, which numba asks, finds a whole function.
    """
    name = around.__name__.removeprefix("row_")
    place = formula.__code__
    code = around.__code__.replace(co_filename=place.co_filename, co_firstlineno=place.co_firstlineno)
    made = FunctionType(code, {**around.__globals__, "formula": formula}, name)
    made.__qualname__ = f"{formula.__qualname__}.{name}"
    made.__module__ = formula.__module__
    return made
