"""Kernels of the compiled passes (`passes`), each over the unknowns or rows start..stop-1.

A function of entries is sum_j c |z_j| + ridge z_j^2 over lo_j <= z_j <= hi_j. A sparse matrix is stored by `first`, `column` and `entry`.
"""

from __future__ import annotations

import math


def descended(x, kty, q, scale, step, c, ridge, lo, hi, out, start, stop):
    """x^ = the prox at x - tau (K'y + q), tau = step scale^2, into `out`; returns |x^ - x|^2 in the metric of the steps."""
    total = 0.0
    for j in range(start, stop):
        tau = step * scale[j] * scale[j]
        grow = 1.0 + 2.0 * ridge * tau
        v = (x[j] - tau * (kty[j] + q[j])) / grow
        if c > 0.0:
            v = math.copysign(max(abs(v) - c * tau / grow, 0.0), v)
        v = min(max(v, lo[j]), hi[j])
        d = v - x[j]
        total += d * d / tau
        out[j] = v
    return total


def ascended(
    first, column, entry, x_hat, kx, offset, y, scale, step, c, ridge, lo, hi, kx_hat, y_hat, found, start, stop
):
    """K x^ and y^ = the prox of f* at y + sigma (2 K x^ - K x + b), sigma = step scale^2; the squared step and <y^ - y, K x^ - K x> into `found`."""
    square, cross = 0.0, 0.0
    for r in range(start, stop):
        z = 0.0
        for p in range(first[r], first[r + 1]):
            z += entry[p] * x_hat[column[p]]
        sigma = step * scale[r] * scale[r]
        w = y[r] + sigma * (2.0 * z - kx[r] + offset[r])
        # Moreau: the prox of f*, by that of f at w / sigma for 1 / sigma
        grow = 1.0 + 2.0 * ridge / sigma
        v = w / sigma / grow
        if c > 0.0:
            v = math.copysign(max(abs(v) - c / sigma / grow, 0.0), v)
        v = w - sigma * min(max(v, lo[r]), hi[r])
        if ridge == 0.0:
            # rounding may leave the domain of f*
            if lo[r] == -math.inf:
                v = max(v, -c)
            if hi[r] == math.inf:
                v = min(v, c)
        d = v - y[r]
        square += d * d / sigma
        cross += d * (z - kx[r])
        kx_hat[r] = z
        y_hat[r] = v
    found[0], found[1] = square, cross


def gathered(first, row, entry, y, out, start, stop):
    """Add K'y to `out`, K' being stored by its rows."""
    for j in range(start, stop):
        total = out[j]
        for p in range(first[j], first[j + 1]):
            total += entry[p] * y[row[p]]
        out[j] = total


def reflected(share, hat, now, anchor, out, start, stop):
    """share (2 hat - now) + (1 - share) anchor, into `out`."""
    for j in range(start, stop):
        out[j] = share * (2.0 * hat[j] - now[j]) + (1.0 - share) * anchor[j]
