"""Barriers of cones of three rows that are not symmetric: exponential cones (a = 0) and power cones (0 < a < 1), many of one kind at once.

The dual barrier is f*(z) = -log psi(z) - sum_j beta_j log |z_j|, of degree 3, with

    exponential   psi = z_1 - z_0 - z_0 log(-z_2 / z_0),                              beta = (1, 0, 1)
    power         psi = (z_0 / a)^(2 a) (z_1 / (1 - a))^(2 - 2 a) - z_2^2,            beta = (1 - a, a, 0)

and f, the primal barrier, is its conjugate: the gradient of f at s is -z where that of f* at z is -s. Points are the columns of arrays (3, n),
matrices are arrays (3, 3, n), and a is the array of the powers. What takes logarithms, powers and roots is compiled (`barrier_loops`). Sums of
products are left to NumPy: to compile them would take seconds, and a step has a hundred of them.

Sources: Dahl, Andersen, "A primal-dual interior-point algorithm for nonsymmetric exponential-cone optimization", 2022 (scaling, corrector,
centrality); Serrano, "Algorithms for unsymmetric cone optimization", 2015 (the gradient of f); Goulart, Chen 2024 (power cones).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.interior import barrier_loops as loops
from fwdsl.backends.kernels.compile import kernel

CENTRED = 1e-7
"""mu mu~ - 1 up to which a point is on the central path for the scaling, which is the Hessian of the dual barrier there."""


def is_power(a: Array) -> bool:
    """True of power cones."""
    return bool(a[0] > 0.0)


def pivots(a: Array) -> tuple[int, int, int]:
    """The order of the unknowns in which the factor of the Hessian is a triangle."""
    return (2, 0, 1) if is_power(a) else (1, 0, 2)


def inner(u: Array, v: Array) -> Array:
    """<u, v> of each column."""
    found: Array = u[0] * v[0] + u[1] * v[1] + u[2] * v[2]
    return found


class Barriers(NamedTuple):
    """The values at a point (s, z): the gradients of f and of f*, the factor R of the Hessian R'R of f*, psi, and the logarithm in it, of powers
    sqrt(psi + z_2^2)."""

    primal: Array
    dual: Array
    R: Array
    psi: Array
    root: Array


def barriers(a: Array, s: Array, z: Array) -> Barriers:
    """Both barriers at a point of the interior."""
    primal, dual, R = np.empty_like(s), np.empty((11, a.size)), np.zeros((3, 3, a.size))
    kernel(loops.power_gradients if is_power(a) else loops.exponential_gradients)(a, s, z, primal, dual)
    i, j, k = pivots(a)
    R[0, i], R[0, j], R[0, k], R[1, j], R[1, k], R[2, k] = dual[3:9]
    return Barriers(primal, dual[:3], R, dual[9], dual[10])


def cross(u: Array, v: Array) -> Array:
    """The vectors at right angles to u and v, of length one; NaN where these are parallel."""
    found = np.empty_like(u)
    found[0] = u[1] * v[2] - u[2] * v[1]
    found[1] = u[2] * v[0] - u[0] * v[2]
    found[2] = u[0] * v[1] - u[1] * v[0]
    # where they are nearly parallel, rounding of their product is along them
    found /= np.sqrt(inner(found, found))
    found -= inner(found, u) / inner(u, u) * u
    return found


class Scaled(NamedTuple):
    """W, V = W^-T, and the barriers."""

    W: Array
    V: Array
    at: Barriers


def scaling(a: Array, s: Array, z: Array) -> Scaled:
    """W with W z = W^-T s and W f'(s) = W^-T f*'(z).

    W has the rows s / sqrt<s, z>, ds / sqrt<ds, dz> and sqrt(t) times the axis at right angles to z and dz, where ds = s + mu f*'(z) and
    dz = z + mu f'(s). t is what the rank-two update of Broyden, Fletcher, Goldfarb and Shanno leaves of the Hessian along it. Close to the central
    path the two conditions are one, and W'W is mu times the Hessian.
    """
    at = barriers(a, s, z)
    products = inner(s, z)
    mu = products / 3.0
    c, gradient, R = at.primal, at.dual, at.R
    W, V = np.empty_like(R), np.empty_like(R)
    with np.errstate(all="ignore"):
        ds, dz = s + mu * gradient, z + mu * c
        axis, other = cross(z, dz), cross(s, ds)
        # what the Hessian has along the vector at right angles to f*'(z) and H f'(s)
        free = cross(gradient, _times(R.transpose(1, 0, 2), _times(R, c)))
        bent = _times(R, free)
        length = np.sqrt(mu * inner(bent, bent)) / np.abs(inner(axis, free))
        root, side = np.sqrt(products), np.sqrt(inner(ds, dz))
        W[0], W[1], W[2] = s / root, ds / side, length * axis
        V[0], V[1], V[2] = z / root, dz / side, other / (length * inner(axis, other))
        apart = mu * inner(gradient, c) / 3.0 - 1.0 > CENTRED
        use = apart & np.isfinite(W + V).all(axis=(0, 1))
    if not use.all():
        T = np.sqrt(mu) * R
        i, j, k = pivots(a)
        inverse = np.zeros_like(R)
        inverse[0, i], inverse[1, j], inverse[2, k] = 1.0 / T[0, i], 1.0 / T[1, j], 1.0 / T[2, k]
        inverse[1, i] = -inverse[1, j] * T[0, j] / T[0, i]
        inverse[2, j] = -inverse[2, k] * T[1, k] / T[1, j]
        inverse[2, i] = -(inverse[2, j] * T[0, j] + inverse[2, k] * T[0, k]) / T[0, i]
        W, V = np.where(use, W, T), np.where(use, V, inverse)
    return Scaled(W, V, at)


def _times(M: Array, v: Array) -> Array:
    """M v of each column."""
    found: Array = M[:, 0] * v[0] + M[:, 1] * v[1] + M[:, 2] * v[2]
    return found


def centring(a: Array, s: Array, z: Array, at: Barriers, ds: Array, dz: Array, mu: float) -> Array:
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
    # psi's gradient p, its second derivatives along u and dz, and its third ones along both
    x, y, w = z
    d, f = u / z, dz / z
    p, of_u, of_v, thirds = np.empty_like(s), np.empty_like(s), np.empty_like(s), np.empty_like(s)
    # u v / z^2 of each entry
    both = d * f
    if is_power(a):
        first, second = 2.0 * a, 2.0 - 2.0 * a
        phi = at.root * at.root
        own, other = first * phi / x, second * phi / y
        mixed = d[0] * f[1] + d[1] * f[0]
        p[0], p[1], p[2] = own, other, -2.0 * w
        for bent, v, e in ((of_u, u, d), (of_v, dz, f)):
            bent[0] = own * ((first - 1.0) * e[0] + second * e[1])
            bent[1] = other * (first * e[0] + (second - 1.0) * e[1])
            bent[2] = -2.0 * v[2]
        one, two = (first - 1.0) * both[0], (second - 1.0) * both[1]
        thirds[0] = own * ((first - 2.0) * one + (first - 1.0) * second * mixed + second * two)
        thirds[1] = other * ((second - 2.0) * two + (second - 1.0) * first * mixed + first * one)
        thirds[2] = 0.0
        logs = (1.0 - a) * both[0] / x, a * both[1] / y, 0.0
    else:
        share = x / w
        p[0], p[1], p[2] = -at.root, 1.0, -share
        for bent, e in ((of_u, d), (of_v, f)):
            bent[0] = e[0] - e[2]
            bent[1] = 0.0
            bent[2] = -share * bent[0]
        thirds[0] = both[2] - both[0]
        thirds[1] = 0.0
        thirds[2] = share * (d[0] * f[2] + d[2] * f[0] - 2.0 * both[2])
        logs = both[0] / x, 0.0, both[2] / w
    one = 1.0 / at.psi
    along_u, along_v = inner(p, u) * one, inner(p, dz) * one
    along = inner(u, of_v) * one - 2.0 * along_u * along_v
    change = (along * p + along_u * of_v + along_v * of_u - thirds) * one
    for m, log in enumerate(logs):
        change[m] -= 2.0 * log
    found: Array = s + mu * at.dual - 0.5 * change
    return found


def farthest(a: Array, s: Array, z: Array, mu: float) -> float:
    """The largest mu <f'(s), f*'(z)> / 3, which is 1 on the central path."""
    at = barriers(a, s, z)
    return float((mu / 3.0 * inner(at.primal, at.dual)).max(initial=1.0))


def longest_within(a: Array, s: Array, ds: Array, z: Array, dz: Array, longest: float) -> float:
    """The largest t up to `longest`, to a small share of it, for which all s + t ds and z + t dz are inside; -1 if 0 is not such a t."""
    within = kernel(loops.reach, parts=("holds",), holds=loops.in_power if is_power(a) else loops.in_exponential)
    found = within(a, False, s, ds, longest)
    return float(within(a, True, z, dz, found) if found >= 0.0 else found)
