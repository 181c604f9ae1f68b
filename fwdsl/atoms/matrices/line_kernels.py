"""Kernels of one vector, along every row or every column of a matrix in C order.

Line i holds the entries i * across + j * along, for j < d: (across, along) = (d, 1) for the rows of a matrix (n, d), (1, n) for the columns of a
matrix (d, n). Many short vectors take a quarter less time here than by calls of the kernels of one.
"""

from __future__ import annotations

import math


def lines_threshold_kernel(v, t, out, n, d, across, along, c, r, kind):
    """Kernel: `threshold_kernel` along each line, by the passes of Michelot (1986)."""
    signed = kind == 0 or kind == 3
    floor = 0.0 if kind >= 3 else t * c
    radius = t * c if kind >= 3 else r
    for i in range(n):
        start = i * across
        total = 0.0
        peak = 0.0 if signed else -math.inf
        for j in range(d):
            a = v[start + j * along]
            a = abs(a) if signed else a
            total += max(a - floor, 0.0)
            peak = max(peak, a)
        # from here theta and entries are relative to the base
        base = 0.0
        theta = floor
        if kind == 2 or kind == 4 or total > radius:
            base = peak
            theta = -radius
            count = 0
            while radius > 0.0:
                mass = 0.0
                above = 0
                for j in range(d):
                    a = v[start + j * along]
                    a = (abs(a) if signed else a) - base
                    if a > theta:
                        mass += a
                        above += 1
                if above == count or above == 0:
                    break
                count = above
                theta = max(theta, (mass - radius) / above)
        if kind == 3:
            level = min(r, max(0.0, base + theta))
            for j in range(d):
                out[start + j * along] = max(-level, min(level, v[start + j * along]))
            continue
        if kind == 4:
            for j in range(d):
                out[start + j * along] = min(v[start + j * along], base + theta)
            continue
        mass = 0.0
        for j in range(d):
            e = v[start + j * along]
            a = ((abs(e) if signed else e) - base) - theta
            if a > 0.0:
                mass += a
                out[start + j * along] = math.copysign(a, e) if signed else a
            else:
                out[start + j * along] = 0.0
        # the sum of rounded terms is put right: inside, or on the simplex
        if mass > r or (kind == 2 and mass > 0.0 and mass != r):
            share = r / mass
            for j in range(d):
                out[start + j * along] *= share


def lines_norm2_kernel(v, t, out, n, d, across, along, c, r):
    """Kernel: `norm2_kernel` along each line."""
    for i in range(n):
        start = i * across
        peak = 0.0
        for j in range(d):
            peak = max(peak, abs(v[start + j * along]))
        share = 1.0
        if peak > 0.0:
            squares = 0.0
            for j in range(d):
                squares += (v[start + j * along] / peak) * (v[start + j * along] / peak)
            size = peak * math.sqrt(squares)
            share = min(max(size - t * c, 0.0), r) / size
        for j in range(d):
            out[start + j * along] = v[start + j * along] * share
