"""Kernels of systems in a narrow band, which is kept by columns: row j has the entries j to j + w of column j of a symmetric matrix."""

from __future__ import annotations

import math


def band_cholesky(band):
    """Overwrite the band with that of L, L L' being the matrix, its diagonal inverted; the first column whose pivot is not positive, or -1."""
    n, width = band.shape
    for j in range(n):
        pivot = band[j, 0]
        if not pivot > 0.0:
            return j
        share = 1.0 / math.sqrt(pivot)
        band[j, 0] = share
        last = min(width, n - j)
        for k in range(1, last):
            band[j, k] *= share
        for k in range(1, last):
            value = band[j, k]
            if value != 0.0:
                for m in range(k, last):
                    band[j + k, m - k] -= value * band[j, m]
    return -1


def band_solve(band, x):
    """Overwrite x with the solution of L L' x = x, from what `band_cholesky` leaves."""
    n, width = band.shape
    # the nearest entries come last: they are known last
    for j in range(n):
        value = x[j]
        for k in range(min(width - 1, j), 0, -1):
            value -= band[j - k, k] * x[j - k]
        x[j] = value * band[j, 0]
    for j in range(n - 1, -1, -1):
        value = x[j]
        for k in range(min(width, n - j) - 1, 0, -1):
            value -= band[j, k] * x[j + k]
        x[j] = value * band[j, 0]
