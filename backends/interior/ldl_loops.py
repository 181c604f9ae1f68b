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
):
    """The solution of K x = right in `best`, K being the matrix less its shift of the diagonal, which L D L' has; the least relative residual.

    The answer is refined while that shrinks, `most` times at most. The residuals of parts 0 and 1 are measured apart, beside their right-hand sides;
    those of part 0 may have the size `harmless`, and any the rounding of the largest product in them.
    """
    n = right.size
    size_0, size_1 = 0.0, 0.0
    for k in range(n):
        x[k] = 0.0
        best[k] = 0.0
        rest[k] = right[k]
        size = abs(right[k])
        if part[k] == 0 and size > size_0:
            size_0 = size
        elif part[k] != 0 and size > size_1:
            size_1 = size
    least = math.inf
    for _ in range(most + 1):
        solve(starts, rows, values, inverse, rest)
        for k in range(n):
            x[k] += rest[k]
            rest[k] = right[k]
        product_0, product_1 = 0.0, 0.0
        for k in range(n):
            value, own, most_own = x[k], 0.0, 0.0
            for p in range(indptr[k], indptr[k + 1]):
                i = indices[p]
                if i == k:
                    product = (data[p] - shift[k]) * value
                else:
                    product = data[p] * x[i]
                    other = data[p] * value
                    rest[i] -= other
                    if part[i] == 0:
                        product_0 = max(product_0, abs(other))
                    else:
                        product_1 = max(product_1, abs(other))
                own += product
                most_own = max(most_own, abs(product))
            rest[k] -= own
            if part[k] == 0:
                product_0 = max(product_0, most_own)
            else:
                product_1 = max(product_1, most_own)
        missed_0, missed_1, large_0, large_1, total = 0.0, 0.0, 0.0, 0.0, 0.0
        for k in range(n):
            size, large = abs(rest[k]), abs(x[k])
            total += size
            if part[k] == 0:
                missed_0 = max(missed_0, size)
                large_0 = max(large_0, large)
            else:
                missed_1 = max(missed_1, size)
                large_1 = max(large_1, large)
        # each part beside its own right-hand side, and the terms of the other one's numbers
        share = 0.0
        if not missed_1 <= ROUNDING * product_1:
            share = missed_1 / max(size_1 + beside * large_0, 1e-300)
        if not missed_0 <= max(harmless, ROUNDING * product_0):
            share = max(share, missed_0 / max(size_0 + beside * large_1, 1e-300))
        if total != total or not share < 0.5 * least:
            break
        least = share
        for k in range(n):
            best[k] = x[k]
        if share <= enough:
            break
    return least
