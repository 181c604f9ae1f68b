"""Kernels of second-order cones of one size, a row of an array for each: W = eta (2 w w' - J), its root taken, has w in `own`."""

from __future__ import annotations

import math


def scale(s, z, own, eta):
    """W at (s, z)."""
    number, rows = own.shape
    for c in range(number):
        of_s = 0.0
        of_z = 0.0
        along = 0.0
        for i in range(1, rows):
            of_s += s[c, i] * s[c, i]
            of_z += z[c, i] * z[c, i]
            along += s[c, i] * z[c, i]
        of_s = math.sqrt(of_s)
        of_z = math.sqrt(of_z)
        first = s[c, 0]
        second = z[c, 0]
        # differences of squares as products: they vanish at the boundary
        of_s = math.sqrt((first - of_s) * (first + of_s))
        of_z = math.sqrt((second - of_z) * (second + of_z))
        eta[c] = math.sqrt(of_s / of_z)
        share = 0.5 / math.sqrt(0.5 * (1.0 + (first / of_s) * (second / of_z) + along / of_s / of_z))
        of_s = share / of_s
        of_z = share / of_z
        own[c, 0] = of_s * first + of_z * second
        for i in range(1, rows):
            own[c, i] = of_s * s[c, i] - of_z * z[c, i]


def apply(own, eta, v, sign, out):
    """W v, or W^-1 v with a sign of -1, into `out`; the largest |u_1| - u_0 of its cones, or 0."""
    number, rows = own.shape
    most = 0.0
    for c in range(number):
        factor = eta[c] if sign > 0.0 else 1.0 / eta[c]
        head = v[c, 0]
        along = 0.0
        for i in range(1, rows):
            along += own[c, i] * v[c, i]
        first = factor * (own[c, 0] * head + sign * along)
        out[c, 0] = first
        head = sign * head + along / (1.0 + own[c, 0])
        length = 0.0
        for i in range(1, rows):
            value = factor * (v[c, i] + head * own[c, i])
            length += value * value
            out[c, i] = value
        most = max(most, math.sqrt(length) - first)
    return most
