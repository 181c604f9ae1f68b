"""Kernels of L D L', the factors of a symmetric matrix of few entries, without pivoting.

Places are unsigned numbers, but for those of `walk` and `across`. The matrix has its upper triangle by columns: column k has the rows `indices[p]` <= k and the numbers `data[p]` for indptr[k] <= p < indptr[k + 1].
L has a diagonal of ones, which is not kept. Its columns are in `rows` and `values` from starts[j] on; the columns of row k are in `columns` from
row_starts[k] on. Both rise. `inverse` has the numbers 1 / D.

Source: Liu, "The role of elimination trees in sparse factorization", 1990; Davis, "Algorithm 849: a concise sparse Cholesky factorization
package", 2005 (one row of L after the other).
"""

# `turn` is named when the kernel is compiled: a name that does not exist here.
# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

from __future__ import annotations

import math

BESIDE = 1e-6
"""The share of an answer's numbers that residuals are measured beside, with the right-hand side."""

ROUNDING = 4e-16
"""The share of the largest product in a residual that is rounding."""


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


def across(starts, rows, at, columns):
    """The columns of L's rows into `columns`, the next of row i at at[i], which moves on."""
    for j in range(starts.size - 1):
        for p in range(starts[j], starts[j + 1]):
            i = rows[p]
            columns[at[i]] = j
            at[i] += 1


def factor(indptr, indices, data, shift, starts, rows, row_starts, columns, signs, least, values, inverse, y, at):
    """L and D of the matrix with the shift added to its diagonal; False where a number of them is none. A number of D that has not its sign, or is
    smaller than `least`, becomes that.

    `y` has zeros, and `at` where the columns of L start.
    """
    for k in range(inverse.size):
        for p in range(indptr[k], indptr[k + 1]):
            y[indices[p]] = data[p]
        pivot = y[k] + shift[k]
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


def refine(indptr, indices, data, starts, rows, values, inverse, part, right, harmless, x, rest, found, sizes):
    """x and the solution of L D L'd = rest into `found`, what that leaves of the right-hand side into `rest`; its relative size, which may be NaN.

    The two parts are measured apart, each beside its right-hand side and the share `BESIDE` of the other part's largest number. What is no larger
    than `harmless` in the first part, or than the share `ROUNDING` of the largest product, counts as none. `sizes` (4, 2), zeros before, gets the
    largest number of the right-hand side, of what is left, of `found` and of the products of each part.
    """
    n = inverse.size
    for j in range(n):
        value = rest[j]
        if value != 0.0:
            for p in range(starts[j], starts[j + 1]):
                rest[rows[p]] -= values[p] * value
    for j in range(n - 1, -1, -1):
        value = rest[j] * inverse[j]
        for p in range(starts[j], starts[j + 1]):
            value -= values[p] * rest[rows[p]]
        rest[j] = value
        found[j] = x[j] + value
    for k in range(n):
        own = part[k]
        value = right[k]
        for p in range(indptr[k], indptr[k + 1]):
            i = indices[p]
            entry = data[p]
            product = entry * found[i]
            value -= product
            size = abs(product)
            if size > sizes[3, own]:
                sizes[3, own] = size
            # the diagonal comes once; rows before k have their right-hand sides
            if i != k:
                product = entry * found[k]
                rest[i] -= product
                size = abs(product)
                if size > sizes[3, part[i]]:
                    sizes[3, part[i]] = size
        rest[k] = value
    total = 0.0
    for k in range(n):
        own = part[k]
        size = abs(right[k])
        if size > sizes[0, own]:
            sizes[0, own] = size
        size = abs(rest[k])
        total += size
        if size > sizes[1, own]:
            sizes[1, own] = size
        size = abs(found[k])
        if size > sizes[2, own]:
            sizes[2, own] = size
    # NaN if any number is, or an infinite one
    share = 0.0 if total < math.inf else math.nan
    for own in range(2):
        missed = sizes[1, own]
        if missed > harmless and missed > ROUNDING * sizes[3, own]:
            beside = sizes[0, own] + BESIDE * sizes[2, 1 - own]
            if missed > share * beside:
                share = missed / beside
        harmless = 0.0
    return share


def answer(
    indptr, indices, data, starts, rows, values, inverse, part, of_v, of_z, cones, root, eta, own, back,
    p, r, harmless, most, enough, work, sizes, v, u,
):  # fmt: skip
    """The solution (dv, u = W dz) for the right-hand sides p and r = W^-T (those of the rows) into v and u, refined while that shrinks what is left,
    `most` times at most; the relative residual, infinite where there is none.

    `work` (4, size of the matrix) and `sizes` (4, 2) need no numbers; `turn` is the map of all rows (`cone_loops`), `refine` the kernel above.
    """
    right = work[0]
    best = work[1]
    rest = work[2]
    found = work[3]
    size = inverse.size
    for i in range(size):
        right[i] = 0.0
        best[i] = 0.0
    turn(cones, root, eta, own, back, 1, r, u)
    for i in range(of_v.size):
        right[of_v[i]] = p[i]
    for i in range(of_z.size):
        right[of_z[i]] = u[i]
    for i in range(size):
        rest[i] = right[i]
    least = math.inf
    for _ in range(most + 1):
        for i in range(4):
            sizes[i, 0] = 0.0
            sizes[i, 1] = 0.0
        share = refine(
            indptr, indices, data, starts, rows, values, inverse, part, right, harmless, best, rest, found, sizes
        )
        if not share < 0.5 * least:
            break
        least = share
        for i in range(size):
            best[i] = found[i]
        if share <= enough:
            break
    for i in range(of_v.size):
        v[i] = best[of_v[i]]
    for i in range(of_z.size):
        rest[i] = best[of_z[i]]
    turn(cones, root, eta, own, back, 0, rest[: of_z.size], u)
    return least
