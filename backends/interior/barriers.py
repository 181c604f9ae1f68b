"""Barriers of cones of three rows that are not symmetric: exponential cones (a = 0.0) and power cones (0 < a < 1), many at once.

The dual barrier is f*(z) = -log psi(z) - sum_j beta_j log |z_j|, of degree 3, with

    exponential   psi = z_1 - z_0 - z_0 log(-z_2 / z_0),                              beta = (1, 0, 1)
    power         psi = (z_0 / a)^(2 a) (z_1 / (1 - a))^(2 - 2 a) - z_2^2,            beta = (1 - a, a, 0)

and f, the primal barrier, is its conjugate: the gradient of f at s is -z where that of f* at z is -s. Points are the columns of arrays (3, n),
matrices are arrays (3, 3, n), and a is the array of the powers. Nothing here is compiled: that would take seconds, and a step has a few hundred
products of arrays.

Sources: Dahl, Andersen, "A primal-dual interior-point algorithm for nonsymmetric exponential-cone optimization", 2022 (scaling, corrector,
centrality); Serrano, "Algorithms for unsymmetric cone optimization", 2015 (the gradient of f); Goulart, Chen 2024 (power cones).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fwdsl.atoms.base import Array

CENTRED = 1e-7
"""mu mu~ - 1 up to which a point is on the central path for the scaling, which is the Hessian of the dual barrier there."""

NEWTON = 60
"""Steps of Newton's method for the gradient of f, which has the last digits after five to ten."""

HALVINGS, NEAR = 60, 5e-3
"""Halvings of the interval in which a ray leaves the cones, and the relative length of it that ends them."""

Power = float | Array
"""0.0 for exponential cones, else the power of each cone."""

Mask = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def pivots(a: Power) -> tuple[int, int, int]:
    """The order of the unknowns in which the factor of the Hessian is a triangle."""
    return (2, 0, 1) if isinstance(a, np.ndarray) else (1, 0, 2)


def shares_of_logs(a: Power) -> tuple[Power, Power, float]:
    """beta."""
    return (1.0 - a, a, 0.0) if isinstance(a, np.ndarray) else (1.0, 0.0, 1.0)


def inner(u: Array, v: Array) -> Array:
    """<u, v> of each column."""
    found: Array = u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
    return found


def inside(a: Power, s: Array) -> Mask:
    """The columns that are in the interior of the cone."""
    x, y, w = s
    with np.errstate(all="ignore"):
        if not isinstance(a, np.ndarray):
            found: Mask = (y > 0.0) & (w > 0.0) & (y * np.log(w / y) > x)
            return found
        size = np.abs(w)
        found = (x > 0.0) & (y > 0.0) & ((w == 0.0) | (a * np.log(x / size) + (1.0 - a) * np.log(y / size) > 0.0))
        return found


def inside_dual(a: Power, z: Array) -> Mask:
    """The columns that are in the interior of the dual cone."""
    x, y, w = z
    if isinstance(a, np.ndarray):
        return inside(a, np.stack([x / a, y / (1.0 - a), w]))
    with np.errstate(all="ignore"):
        found: Mask = (x < 0.0) & (w > 0.0) & (y - x - x * np.log(-w / x) > 0.0)
        return found


class Potential(NamedTuple):
    """psi, its gradient, and its second derivatives."""

    psi: Array
    gradient: tuple[Array, Array, Array]
    hessian: tuple[tuple[Array, Array, Array], tuple[Array, Array, Array], tuple[Array, Array, Array]]


def root_and_rest(a: Power, z: Array) -> tuple[Array, Array, Array]:
    """r = (z_0 / a)^a (z_1 / (1 - a))^(1 - a), r + z_2 and r - z_2, none of them a difference of numbers that are nearly equal."""
    x, y, w = z
    b, size = 1.0 - a, np.abs(w)
    root = np.exp(a * np.log(x / a) + b * np.log(y / b))
    with np.errstate(all="ignore"):
        close = size * np.expm1(a * np.log(x / (a * size)) + b * np.log(y / (b * size)))
    rest = np.where(root < 2.0 * size, close, root - size)
    root = size + rest
    positive = w >= 0.0
    return root, np.where(positive, root + size, rest), np.where(positive, rest, root + size)


def potential(a: Power, z: Array) -> Potential:
    """psi and its derivatives at z, of the interior."""
    x, y, w = z
    none = np.zeros_like(x)
    if not isinstance(a, np.ndarray):
        log = np.log(-w / x)
        across = -1.0 / w
        rows = ((1.0 / x, none, across), (none, none, none), (across, none, x / (w * w)))
        return Potential(y - x - x * log, (-log, np.ones_like(x), -x / w), rows)
    root, more, less = root_and_rest(a, z)
    p, q, phi = 2.0 * a, 2.0 * (1.0 - a), root * root
    across = p * q * phi / (x * y)
    own, other = p * (p - 1.0) * phi / (x * x), q * (q - 1.0) * phi / (y * y)
    rows = ((own, across, none), (across, other, none), (none, none, np.full_like(x, -2.0)))
    return Potential(more * less, (p * phi / x, q * phi / y, -2.0 * w), rows)


def third_of_potential(a: Power, z: Array, u: Array, v: Array) -> tuple[Array, Array, Array]:
    """The third derivatives of psi in the directions u and v."""
    x, y, w = z
    if not isinstance(a, np.ndarray):
        across = 1.0 / (w * w)
        last = across * (u[0] * v[2] + u[2] * v[0]) - 2.0 * x / (w * w * w) * u[2] * v[2]
        return across * u[2] * v[2] - u[0] * v[0] / (x * x), np.zeros_like(x), last
    p, q = 2.0 * a, 2.0 * (1.0 - a)
    phi = root_and_rest(a, z)[0] ** 2
    d, e, f, g = u[0] / x, u[1] / y, v[0] / x, v[1] / y
    straight, other, both = p * (p - 1.0), q * (q - 1.0), d * g + e * f
    return (
        phi / x * (straight * ((p - 2.0) * d * f + q * both) + p * other * e * g),
        phi / y * (other * ((q - 2.0) * e * g + p * both) + q * straight * d * f),
        np.zeros_like(x),
    )


def dual_barrier(a: Power, z: Array) -> tuple[Array, Array]:
    """The gradient of f* at z, and R with the Hessian R'R.

    Close to the boundary the Hessian is a square of the gradient of psi, beside which all else is rounding. R is made of the terms themselves.
    """
    x, y, w = z
    R = np.zeros((3, 3, x.size))
    if not isinstance(a, np.ndarray):
        psi, (p0, _, p2), _ = potential(a, z)
        one = 1.0 / psi
        # the rest is c q q' + diag(1 / x^2, 0, 1 / w^2) with q = (1, 0, -x / w)
        bent = -x * one
        R[0, 0], R[0, 1], R[0, 2] = p0 * one, one, p2 * one
        head = np.sqrt(1.0 + bent)
        R[1, 0], R[1, 2] = -head / x, bent / (head * w)
        R[2, 2] = np.sqrt(1.0 + 2.0 * bent) / (head * w)
        return np.stack([-p0 * one - 1.0 / x, -one, -p2 * one - 1.0 / w]), R
    b = 1.0 - a
    # psi = (root + w) (root - w)
    root, above, below = root_and_rest(a, z)
    more, less = 1.0 / above, 1.0 / below
    both = more + less
    first, second = more * more, less * less
    squares = first + second
    share = root * (first - second) / np.sqrt(squares)
    R[0, 0], R[0, 1], R[0, 2] = share * a / x, share * b / y, np.sqrt(squares)
    # the rest is diag(1 / x, 1 / y) [k + e, f - k; f - k, k + d] diag(1 / x, 1 / y)
    bent = root * a * b * both
    own = 4.0 * first * second / squares * root * root
    e, f, d = b + own * a * a, own * a * b, a + own * b * b
    head = np.sqrt(bent + e)
    R[1, 0], R[1, 1] = head / x, (f - bent) / (head * y)
    R[2, 1] = np.sqrt(bent * (e + d + 2.0 * f) + a * b + own * (a**3 + b**3)) / (head * y)
    return np.stack([-(a * root * both + b) / x, -(b * root * both + a) / y, less - more]), R


def primal_gradient(a: Power, s: Array) -> Array:
    """The gradient of f at s."""
    x, y, w = s
    if not isinstance(a, np.ndarray):
        # 1 + e is the Wright omega function of 1 + rest; Newton from the left of the root of a concave function
        rest = np.log(w / y) - x / y
        e = np.where(rest < 1.0, 0.5 * rest, rest - np.log1p(rest))
        for _ in range(NEWTON):
            change = (rest - e - np.log1p(e)) * (1.0 + e) / (2.0 + e)
            e = e + change
            if (np.abs(change) <= 4e-16 * e).all():
                break
        return np.stack([1.0 / (e * y), ((1.0 - x / y) / e - 2.0) / y, -(1.0 + e) / (e * w)])
    b, size = 1.0 - a, np.abs(w)
    # in 1 / (g_2 s_2): a concave function too. Where w is 0 so is g_2
    tiny = size == 0.0
    size = np.where(tiny, 1.0, size)
    with np.errstate(all="ignore"):
        rest = np.where(tiny, 1.0, 2.0 * (a * np.log(x / size) + b * np.log(y / size)))
    c, d = 1.0 / a + 1.0, 1.0 / b + 1.0

    def value(v: Array) -> Array:
        found: Array = 2.0 * (a * np.log1p(c * v) + b * np.log1p(d * v)) - np.log1p(2.0 * v)
        return found

    # beside what it is for large v
    far = 0.5 * np.exp(np.minimum(rest + math.log(2.0) - 2.0 * (a * np.log(c) + b * np.log(d)), 700.0))
    v = np.where((far > 0.25 * rest) & (value(far) <= rest), far, 0.25 * rest)
    for _ in range(NEWTON):
        change = (rest - value(v)) / (2.0 * (a * c / (1.0 + c * v) + b * d / (1.0 + d * v)) - 2.0 / (1.0 + 2.0 * v))
        v = v + change
        if (np.abs(change) <= 4e-16 * v).all():
            break
    r = np.where(tiny, 0.0, 1.0 / v)
    return np.stack([-(1.0 + a + a * r) / x, -(1.0 + b + b * r) / y, np.where(tiny, 0.0, r / np.where(tiny, 1.0, w))])


def cross(u: Array, v: Array) -> Array:
    """The vectors at right angles to u and v, of length one; NaN where these are parallel."""
    found = np.stack([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]])
    found /= np.sqrt(inner(found, found))
    # where they are nearly parallel, rounding of their product is along them
    found -= inner(found, u) / inner(u, u) * u
    return found


class Scaled(NamedTuple):
    """W, V = W^-T, the gradient of f* and the factor R of its Hessian."""

    W: Array
    V: Array
    gradient: Array
    R: Array


def scaling(a: Power, s: Array, z: Array) -> Scaled:
    """W with W z = W^-T s and W f'(s) = W^-T f*'(z).

    W has the rows s / sqrt<s, z>, ds / sqrt<ds, dz> and sqrt(t) times the axis at right angles to z and dz, where ds = s + mu f*'(z) and
    dz = z + mu f'(s). t is what the rank-two update of Broyden, Fletcher, Goldfarb and Shanno leaves of the Hessian along it. Close to the central
    path the two conditions are one, and W'W is mu times the Hessian.
    """
    gradient, R = dual_barrier(a, z)
    products = inner(s, z)
    mu = products / 3.0
    W, V = np.sqrt(mu) * R, np.zeros_like(R)
    i, j, k = pivots(a)
    V[0, i], V[1, j], V[2, k] = 1.0 / W[0, i], 1.0 / W[1, j], 1.0 / W[2, k]
    V[1, i] = -V[1, j] * W[0, j] / W[0, i]
    V[2, j] = -V[2, k] * W[1, k] / W[1, j]
    V[2, i] = -(V[2, j] * W[0, j] + V[2, k] * W[0, k]) / W[0, i]

    c = primal_gradient(a, s)
    with np.errstate(all="ignore"):
        ds, dz = s + mu * gradient, z + mu * c
        across = inner(ds, dz)
        axis, other = cross(z, dz), cross(s, ds)
        # what the Hessian has along the vector at right angles to f*'(z) and H f'(s)
        along = [inner(R[m], c) for m in range(3)]
        free = cross(gradient, R[0] * along[0] + R[1] * along[1] + R[2] * along[2])
        bent = inner(R[0], free) ** 2 + inner(R[1], free) ** 2 + inner(R[2], free) ** 2
        length = np.sqrt(mu * bent) / np.abs(inner(axis, free))
        root, side = np.sqrt(products), np.sqrt(across)
        secants = np.stack([s / root, ds / side, length * axis])
        inverse = np.stack([z / root, dz / side, other / (length * inner(axis, other))])
        apart = mu * inner(gradient, c) / 3.0 - 1.0 > CENTRED
    use = apart & np.isfinite(secants).all(axis=(0, 1)) & np.isfinite(inverse).all(axis=(0, 1))
    return Scaled(np.where(use, secants, W), np.where(use, inverse, V), gradient, R)


def centring(a: Power, s: Array, z: Array, at: Scaled, ds: Array, dz: Array, mu: float) -> Array:
    """s + mu f*'(z) - f*^(3)(z)[dz, H^-1 ds] / 2."""
    i, j, k = pivots(a)
    R = at.R
    first = ds[i] / R[0, i]
    second = (ds[j] - R[0, j] * first) / R[1, j]
    third = (ds[k] - R[0, k] * first - R[1, k] * second) / R[2, k]
    u = np.empty_like(s)
    u[k] = third / R[2, k]
    u[j] = (second - R[1, k] * u[k]) / R[1, j]
    u[i] = (first - R[0, j] * u[j] - R[0, k] * u[k]) / R[0, i]
    psi, p, H = potential(a, z)
    thirds, one = third_of_potential(a, z, u, dz), 1.0 / psi
    gradient = np.stack(p)
    of_u, of_v = inner(gradient, u) * one, inner(gradient, dz) * one
    bent_u, bent_v = (np.stack([inner(np.stack(row), v) for row in H]) for v in (u, dz))
    along = inner(u, bent_v) * one - 2.0 * of_u * of_v
    change = (along * gradient + of_u * bent_v + of_v * bent_u - np.stack(thirds)) * one
    for m, beta in enumerate(shares_of_logs(a)):
        if np.any(beta):
            change[m] -= 2.0 * beta * u[m] * dz[m] / z[m] ** 3
    found: Array = s + mu * at.gradient - 0.5 * change
    return found


def farthest(a: Power, s: Array, z: Array, mu: float) -> float:
    """The largest mu <f'(s), f*'(z)> / 3, which is 1 on the central path."""
    with np.errstate(all="ignore"):
        values = mu / 3.0 * inner(primal_gradient(a, s), dual_barrier(a, z)[0])
    return float(values.max(initial=1.0))


def reach(a: Power, s: Array, ds: Array, z: Array, dz: Array, longest: float) -> float:
    """The largest t up to `longest`, to a small share of it, for which all s + t ds and z + t dz are inside."""
    least, most, at = 0.0, longest, longest
    of_s = of_z = a
    for _ in range(HALVINGS):
        primal, dual = inside(of_s, s + at * ds), inside_dual(of_z, z + at * dz)
        if primal.all() and dual.all():
            least = at
        else:
            most = at
            if not primal.all():
                s, ds, of_s = s[:, ~primal], ds[:, ~primal], _of(of_s, ~primal)
            if not dual.all():
                z, dz, of_z = z[:, ~dual], dz[:, ~dual], _of(of_z, ~dual)
        if most - least <= NEAR * most:
            break
        at = 0.5 * (least + most)
    return least


def _of(a: Power, mask: Mask) -> Power:
    """The powers of some cones."""
    return a[mask] if isinstance(a, np.ndarray) else a
