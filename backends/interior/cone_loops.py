"""Kernels of second-order cones of one size, `rows` each: W = eta (2 w w' - J), its root taken, has w in `own` and a number of `eta` for each."""

from __future__ import annotations

import math


def scale(rows, s, z, own, eta):
    """W at (s, z)."""
    for c in range(eta.size):
        at = c * rows
        end = at + rows
        of_s = 0.0
        of_z = 0.0
        along = 0.0
        for i in range(at + 1, end):
            of_s += s[i] * s[i]
            of_z += z[i] * z[i]
            along += s[i] * z[i]
        of_s = math.sqrt(of_s)
        of_z = math.sqrt(of_z)
        size_s = math.sqrt((s[at] - of_s) * (s[at] + of_s))
        size_z = math.sqrt((z[at] - of_z) * (z[at] + of_z))
        share = 0.5 / math.sqrt(0.5 * (1.0 + (s[at] / size_s) * (z[at] / size_z) + along / size_s / size_z))
        of_s = share / size_s
        of_z = share / size_z
        own[at] = of_s * s[at] + of_z * z[at]
        for i in range(at + 1, end):
            own[i] = of_s * s[i] - of_z * z[i]
        eta[c] = math.sqrt(size_s / size_z)


def apply(rows, own, eta, v, back, out):
    """W v, or W^-1 v with `back`, into `out`; the largest |u_1| - u_0 of its cones, or 0."""
    most = 0.0
    sign = -1.0 if back else 1.0
    for c in range(eta.size):
        at = c * rows
        end = at + rows
        factor = 1.0 / eta[c] if back else eta[c]
        head = v[at]
        along = 0.0
        for i in range(at + 1, end):
            along += own[i] * v[i]
        out[at] = factor * (own[at] * head + sign * along)
        head = sign * head + along / (1.0 + own[at])
        length = 0.0
        for i in range(at + 1, end):
            value = factor * (v[i] + head * own[i])
            length += value * value
            out[i] = value
        most = max(most, math.sqrt(length) - out[at])
    return most
