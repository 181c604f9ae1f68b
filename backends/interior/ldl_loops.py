"""Kernels of L D L', the factors of a symmetric matrix of few entries, without pivoting.

The matrix has its upper triangle by columns: column k has the rows `indices[p]` <= k and the numbers `data[p]` for indptr[k] <= p < indptr[k + 1].
L has a diagonal of ones, which is not kept. Its columns are in `rows` and `values` from starts[j] on; the columns of row k are in `columns` from
row_starts[k] on. Both rise. `inverse` has the numbers 1 / D.

Source: Liu, "The role of elimination trees in sparse factorization", 1990; Davis, "Algorithm 849: a concise sparse Cholesky factorization
package", 2005 (one row of L after the other).
"""

from __future__ import annotations


def walk(indptr, indices, parent, mark, at, rows):
    """The rows of L's columns into `rows`, the next of column j at at[j], which moves on; with no room there, only `at` moves.

    On the way the parents of the elimination tree are found where they are -1, as those of roots remain.
    """
    for k in range(parent.size):
        mark[k] = k
        for p in range(indptr[k], indptr[k + 1]):
            i = indices[p]
            while mark[i] != k:
                if parent[i] < 0:
                    parent[i] = k
                if rows.size:
                    rows[at[i]] = k
                at[i] += 1
                mark[i] = k
                i = parent[i]


def factor(indptr, indices, data, starts, rows, row_starts, columns, signs, least, values, inverse, y, at):
    """L and D; False where a number of them is none. A number of D that has not its sign, or is smaller than `least`, becomes that.

    `y` has zeros, and `at` where the columns of L start.
    """
    for k in range(inverse.size):
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


def rest_of(indptr, indices, data, part, x, right, rest, sizes):
    """Take K x from `rest`, which is the right-hand side; the sum of the sizes of what is left.

    `sizes` (4, 2) has zeros, and gets the largest number of the right-hand side, of what is left, of x and of the products of each part.
    """
    for k in range(right.size):
        own = part[k]
        for p in range(indptr[k], indptr[k + 1]):
            i = indices[p]
            entry = data[p]
            product = entry * x[i]
            rest[k] -= product
            size = abs(product)
            if size > sizes[3, own]:
                sizes[3, own] = size
            if i != k:
                product = entry * x[k]
                rest[i] -= product
                size = abs(product)
                if size > sizes[3, part[i]]:
                    sizes[3, part[i]] = size
    total = 0.0
    for k in range(right.size):
        own = part[k]
        size = abs(right[k])
        if size > sizes[0, own]:
            sizes[0, own] = size
        size = abs(rest[k])
        total += size
        if size > sizes[1, own]:
            sizes[1, own] = size
        size = abs(x[k])
        if size > sizes[2, own]:
            sizes[2, own] = size
    return total
