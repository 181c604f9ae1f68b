"""Kernels of L D L', the factors of a symmetric matrix of few entries, without pivoting.

The matrix has its upper triangle by columns: column k has the rows `indices[p]` <= k and the numbers `data[p]` for indptr[k] <= p < indptr[k + 1].
L has a diagonal of ones, which is not kept. Its columns are in `rows` and `values` from starts[j] on; the columns of row k are in `columns` from
row_starts[k] on. Both rise. `inverse` has the numbers 1 / D.

Source: Liu, "The role of elimination trees in sparse factorization", 1990; Davis, "Algorithm 849: a concise sparse Cholesky factorization
package", 2005 (one row of L after the other).
"""

from __future__ import annotations

import math

ROUNDING = 4e-16
"""The share of the largest product in a residual that is rounding."""


def counted(indptr, indices, parent, counts, mark):
    """The parents in the elimination tree, -1 of roots, and the entries of each column of L below its diagonal."""
    for k in range(parent.size):
        parent[k] = -1
        counts[k] = 0
        mark[k] = k
        for p in range(indptr[k], indptr[k + 1]):
            i = indices[p]
            while mark[i] != k:
                if parent[i] < 0:
                    parent[i] = k
                counts[i] += 1
                mark[i] = k
                i = parent[i]


def structure(indptr, indices, parent, starts, rows, row_starts, columns, mark, at):
    """The rows of L's columns and the columns of its rows, from the tree."""
    n = parent.size
    for j in range(n):
        at[j] = starts[j]
    for k in range(n):
        mark[k] = k
        row_starts[k + 1] = row_starts[k]
        for p in range(indptr[k], indptr[k + 1]):
            i = indices[p]
            while mark[i] != k:
                rows[at[i]] = k
                at[i] += 1
                row_starts[k + 1] += 1
                mark[i] = k
                i = parent[i]
    for k in range(n):
        at[k] = row_starts[k]
    for j in range(n):
        for p in range(starts[j], starts[j + 1]):
            k = rows[p]
            columns[at[k]] = j
            at[k] += 1


def factor(indptr, indices, data, starts, rows, row_starts, columns, signs, least, values, inverse, y, at):
    """L and D; False where a number of them is none. A number of D that has not its sign, or is smaller than `least`, becomes that."""
    n = inverse.size
    for k in range(n):
        y[k] = 0.0
        at[k] = starts[k]
    for k in range(n):
        for p in range(indptr[k], indptr[k + 1]):
            y[indices[p]] = data[p]
        pivot = y[k]
        y[k] = 0.0
        for q in range(row_starts[k], row_starts[k + 1]):
            j = columns[q]
            value = y[j]
            y[j] = 0.0
            end = at[j]
            for p in range(starts[j], end):
                y[rows[p]] -= values[p] * value
            share = value * inverse[j]
            pivot -= value * share
            values[end] = share
            at[j] = end + 1
        if pivot != pivot:
            return False
        if pivot * signs[k] < least:
            pivot = least * signs[k]
        inverse[k] = 1.0 / pivot
    return True


def solve(starts, rows, values, inverse, x):
    """Overwrite x with the solution of L D L'x = x."""
    n = inverse.size
    for j in range(n):
        value = x[j]
        if value != 0.0:
            for p in range(starts[j], starts[j + 1]):
                x[rows[p]] -= values[p] * value
    for j in range(n - 1, -1, -1):
        value = x[j] * inverse[j]
        for p in range(starts[j], starts[j + 1]):
            value -= values[p] * x[rows[p]]
        x[j] = value


def answer(
    indptr,
    indices,
    data,
    shift,
    starts,
    rows,
    values,
    inverse,
    part,
    right,
    harmless,
    beside,
    enough,
    most,
    x,
    rest,
    best,
    sizes,
):
    """The solution of K x = right in `best`, K being the matrix less its shift of the diagonal, which L D L' has; the least relative residual.

    The answer is refined while that shrinks, `most` times at most. The residuals of parts 0 and 1 are measured apart, beside their right-hand sides;
    those of part 0 may have the size `harmless`, and any the rounding of the largest product in them. `sizes` (4, 2) is room for the largest number
    of the right-hand side, of the residual, of x and of the products of each part.
    """
    n = right.size
    sizes[:] = 0.0
    for k in range(n):
        x[k] = 0.0
        best[k] = 0.0
        rest[k] = right[k]
        sizes[0, part[k]] = max(sizes[0, part[k]], abs(right[k]))
    least = math.inf
    for _ in range(most + 1):
        solve(starts, rows, values, inverse, rest)
        for k in range(n):
            x[k] += rest[k]
            rest[k] = right[k]
        sizes[1:] = 0.0
        for k in range(n):
            for p in range(indptr[k], indptr[k + 1]):
                i = indices[p]
                entry = data[p] - shift[k] if i == k else data[p]
                product = entry * x[i]
                rest[k] -= product
                sizes[3, part[k]] = max(sizes[3, part[k]], abs(product))
                if i != k:
                    product = entry * x[k]
                    rest[i] -= product
                    sizes[3, part[i]] = max(sizes[3, part[i]], abs(product))
        total = 0.0
        for k in range(n):
            total += abs(rest[k])
            sizes[1, part[k]] = max(sizes[1, part[k]], abs(rest[k]))
            sizes[2, part[k]] = max(sizes[2, part[k]], abs(x[k]))
        # each part beside its own right-hand side, and the terms of the other one's numbers
        share = 0.0
        for own in range(2):
            allowed = ROUNDING * sizes[3, own]
            if own == 0:
                allowed = max(harmless, allowed)
            if not sizes[1, own] <= allowed:
                share = max(share, sizes[1, own] / max(sizes[0, own] + beside * sizes[2, 1 - own], 1e-300))
        if total != total or not share < 0.5 * least:
            break
        least = share
        for k in range(n):
            best[k] = x[k]
        if share <= enough:
            break
    return least
