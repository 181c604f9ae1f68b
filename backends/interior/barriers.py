"""Barriers of cones of three rows that are not symmetric: exponential cones (a = 0) and power cones (0 < a < 1), many of one kind at once.

The dual barrier is f*(z) = -log psi(z) - sum_j beta_j log |z_j|, of degree 3, with

    exponential   psi = z_1 - z_0 - z_0 log(-z_2 / z_0),                              beta = (1, 0, 1)
    power         psi = (z_0 / a)^(2 a) (z_1 / (1 - a))^(2 - 2 a) - z_2^2,            beta = (1 - a, a, 0)

and f, the primal barrier, is its conjugate: the gradient of f at s is -z where that of f* at z is -s. Points and directions are the numbers of one
cone after the other, scalings are arrays (n, 3, 3), and a is the array of the powers. All that a step takes of them is compiled (`barrier_loops`): it
has a hundred sums of products, each of which would take NumPy longer than a kernel takes for all.

Sources: Dahl, Andersen, "A primal-dual interior-point algorithm for nonsymmetric exponential-cone optimization", 2022 (scaling, corrector,
centrality); Serrano, "Algorithms for unsymmetric cone optimization", 2015 (the gradient of f); Goulart, Chen 2024 (power cones).
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.interior import barrier_loops as loops
from fwdsl.backends.kernels.compile import Function, kernel

_ORDERS = (1, 0, 2), (2, 0, 1)


def is_power(a: Array) -> bool:
    """True of power cones."""
    return bool(a[0] > 0.0)


def pivots(a: Array) -> tuple[int, int, int]:
    """The order of the unknowns in which the factor of the Hessian is a triangle."""
    return _ORDERS[is_power(a)]


class Barriers(NamedTuple):
    """The values at a point (s, z): the gradient of f, and the eleven numbers of f* that `barrier_loops` names."""

    order: tuple[int, int, int]
    primal: Array
    numbers: Array

    @property
    def dual(self) -> Array:
        """The gradient of f*."""
        return self.numbers[:3]

    @property
    def R(self) -> Array:
        """The factor of the Hessian R'R of f*, an array (3, 3, n)."""
        found = np.zeros((3, *self.primal.shape))
        i, j, k = self.order
        found[0, i], found[0, j], found[0, k], found[1, j], found[1, k], found[2, k] = self.numbers[3:9]
        return found


class _Kernels(NamedTuple):
    """The compiled kernels of exponential cones, or of power cones."""

    gradients: Function
    secants: Function
    centre: Function
    within: Function


@cache
def _kernels(powers: bool) -> _Kernels:
    gradients, bends, holds = (
        (loops.power_gradients, loops.power_bends, loops.in_power)
        if powers
        else (loops.exponential_gradients, loops.exponential_bends, loops.in_exponential)
    )
    return _Kernels(
        kernel(gradients),
        kernel(loops.secants, right=loops.cross),
        kernel(loops.centre, parts=("bends",), bends=bends),
        kernel(loops.reach, parts=("holds",), holds=holds),
    )


def barriers(a: Array, s: Array, z: Array) -> Barriers:
    """Both barriers at a point of the interior."""
    primal, numbers = np.empty((3, a.size)), np.empty((11, a.size))
    _kernels(is_power(a)).gradients(a, s, z, primal, numbers)
    return Barriers(pivots(a), primal, numbers)


class Scaled(NamedTuple):
    """W, V = W^-T, and the barriers."""

    W: Array
    V: Array
    at: Barriers


def scaling(a: Array, s: Array, z: Array, W: Array, V: Array) -> Scaled:
    """W with W z = W^-T s and W f'(s) = W^-T f*'(z), into the arrays W and V (n, 3, 3). Raises `LinAlgError` where there is none.

    W has the rows s / sqrt<s, z>, ds / sqrt<ds, dz> and sqrt(t) times the axis at right angles to z and dz, where ds = s + mu f*'(z) and
    dz = z + mu f'(s). t is what the rank-two update of Broyden, Fletcher, Goldfarb and Shanno leaves of the Hessian along it. Close to the central
    path the two conditions are one, and W'W is mu times the Hessian.
    """
    at = barriers(a, s, z)
    if _kernels(is_power(a)).secants(*at.order, s, z, at.primal, at.numbers, W.reshape(-1), V.reshape(-1)):
        _take_hessian(np.isnan(W[:, 2, 2]), at, s, z, W, V)
    if not math.isfinite(float(V.sum())):
        raise np.linalg.LinAlgError("a scaling of cones is singular")
    return Scaled(W, V, at)


def _take_hessian(cones: NDArray[np.bool_], at: Barriers, s: Array, z: Array, W: Array, V: Array) -> None:
    """Have W'W = mu R'R of these cones."""
    T = np.sqrt((s * z).reshape(-1, 3).sum(axis=1)[cones] / 3.0) * at.R[:, :, cones]
    i, j, k = at.order
    inverse = np.zeros_like(T)
    inverse[0, i], inverse[1, j], inverse[2, k] = 1.0 / T[0, i], 1.0 / T[1, j], 1.0 / T[2, k]
    inverse[1, i] = -inverse[1, j] * T[0, j] / T[0, i]
    inverse[2, j] = -inverse[2, k] * T[1, k] / T[1, j]
    inverse[2, i] = -(inverse[2, j] * T[0, j] + inverse[2, k] * T[0, k]) / T[0, i]
    W[cones], V[cones] = T.transpose(2, 0, 1), inverse.transpose(2, 0, 1)


def aim(a: Array, s: Array, z: Array, scaled: Scaled, ds: Array, dz: Array, mu: float) -> Array:
    """s + mu f*'(z) - f*^(3)(z)[dz, H^-1 ds] / 2."""
    moved = ds.copy()
    _kernels(is_power(a)).centre(*scaled.at.order, a, s, z, scaled.at.numbers, moved, dz, mu)
    return moved


def farthest(a: Array, s: Array, z: Array, mu: float) -> float:
    """The largest mu <f'(s), f*'(z)> / 3, which is 1 on the central path."""
    at = barriers(a, s, z)
    return mu / 3.0 * float((at.primal * at.dual).sum(axis=0).max())


def longest_within(a: Array, s: Array, ds: Array, z: Array, dz: Array, longest: float) -> float:
    """The largest t up to `longest`, to a small share of it, for which all s + t ds and z + t dz are inside; -1 if 0 is not such a t."""
    within = _kernels(is_power(a)).within
    found = within(a, False, s, ds, longest)
    return float(within(a, True, z, dz, found) if found >= 0.0 else found)
