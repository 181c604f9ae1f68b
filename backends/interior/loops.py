"""Kernels of interior-point systems.

A narrow band is kept by columns: row j has the entries j to j + w of column j of a symmetric matrix. Separate entries have the names of `separate`:
entry i has the rows `rows[i]`, the unknowns `own[i]`, and `numbers[i] (t[at[i]], v[own[i]])` in its rows; `factor[i]` is [R, Q'(c, 0)].
"""

from __future__ import annotations


def band_factor(band, definite):
    """Overwrite the band with that of L, L D L' being the matrix and L having ones on its diagonal, where 1 / D goes; the first column whose number
    of D is 0, or negative in a `definite` matrix, or -1."""
    n, width = band.shape
    for j in range(n):
        pivot = band[j, 0]
        if not (pivot > 0.0 or (pivot < 0.0 and not definite)):
            return j
        share = 1.0 / pivot
        band[j, 0] = share
        last = min(width, n - j)
        for k in range(1, last):
            value = band[j, k]
            if value != 0.0:
                value *= share
                for m in range(k, last):
                    band[j + k, m - k] -= value * band[j, m]
        for k in range(1, last):
            band[j, k] *= share
    return -1


def band_solve(band, x):
    """Overwrite x with the solution of L D L' x = x, from what `band_factor` leaves."""
    n, width = band.shape
    for j in range(n):
        value = x[j]
        for k in range(1, min(width, n - j)):
            x[j + k] -= band[j, k] * value
    for j in range(n - 1, -1, -1):
        value = x[j] * band[j, 0]
        # the nearest entries come last: they are known last
        for k in range(min(width, n - j) - 1, 0, -1):
            value -= band[j, k] * x[j + k]
        x[j] = value


def entries_products(rows, own, numbers, at, weights, t, v, u, along, across, back):
    """The rows of the entries times v into `along`, and their adjoint times u added to `across`, and to `back` for t; rows times their weights."""
    n, number = rows.shape
    q = own.shape[1]
    for i in range(n):
        here = t[at[i]]
        total = 0.0
        for a in range(number):
            row = rows[i, a]
            weight = weights[row]
            value = numbers[i, a, 0] * here
            other = weight * u[row]
            total += numbers[i, a, 0] * other
            for j in range(q):
                value += numbers[i, a, j + 1] * v[own[i, j]]
                across[own[i, j]] += numbers[i, a, j + 1] * other
            along[row] = weight * value
        back[at[i]] += total


def entries_reduce(rows, numbers, at, factor, weights, r, t, halves):
    """R^-T of the right-hand sides of the entries' unknowns, which `halves` has, with those of their rows; what the others take of them is added to
    t."""
    n, number = rows.shape
    q = halves.shape[1]
    for i in range(n):
        total = 0.0
        for a in range(number):
            row = rows[i, a]
            value = weights[row] * r[row]
            total += numbers[i, a, 0] * value
            for j in range(q):
                halves[i, j] += numbers[i, a, j + 1] * value
        for j in range(q):
            value = halves[i, j]
            for k in range(j):
                value -= factor[i, k, j] * halves[i, k]
            value /= factor[i, j, j]
            halves[i, j] = value
            total -= factor[i, j, q] * value
        t[at[i]] += total


def entries_expand(rows, own, numbers, at, factor, weights, halves, r, t, v, u):
    """The entries' unknowns into v and the scaled multipliers of their rows into u, from t and what `entries_reduce` left."""
    n, number = rows.shape
    q = own.shape[1]
    for i in range(n):
        here = t[at[i]]
        for j in range(q - 1, -1, -1):
            value = halves[i, j] - factor[i, j, q] * here
            for k in range(j + 1, q):
                value -= factor[i, j, k] * v[own[i, k]]
            v[own[i, j]] = value / factor[i, j, j]
        for a in range(number):
            row = rows[i, a]
            value = numbers[i, a, 0] * here
            for j in range(q):
                value += numbers[i, a, j + 1] * v[own[i, j]]
            u[row] = weights[row] * value - r[row]


def missed(p, curved, across, r, along, u, equations, rest, sizes):
    """p - (curved + across) and r - along + u into `rest`, u of equations left out, and the largest entries of what is left, of the right-hand
    side and of the terms into `sizes`, three of either part: NaN where what is left has one."""
    n = p.size
    for m in range(6):
        sizes[m] = 0.0
    total = 0.0
    for i in range(n + r.size):
        if i < n:
            value, right, terms, part = p[i] - (curved[i] + across[i]), abs(p[i]), abs(across[i]), 0
        else:
            value, right, terms, part = r[i - n] - along[i - n], abs(r[i - n]), abs(along[i - n]), 3
            if i - n >= equations:
                value += u[i - n]
        rest[i] = value
        total += value
        if abs(value) > sizes[part]:
            sizes[part] = abs(value)
        if right > sizes[part + 1]:
            sizes[part + 1] = right
        if terms > sizes[part + 2]:
            sizes[part + 2] = terms
    # a sum of numbers that are no NaN may be one only where they are infinite
    if total != total:
        sizes[0] = sizes[3] = total
