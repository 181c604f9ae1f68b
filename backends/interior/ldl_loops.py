"""Kernels of L D L', the factors of a symmetric matrix of few entries, without pivoting.

The matrix has its upper triangle by columns: column k has the rows `indices[p]` <= k and the numbers `data[p]` for indptr[k] <= p < indptr[k + 1].
L has a diagonal of ones, which is not kept. Its columns are in `rows` and `values` from starts[j] on; the columns of row k are in `columns` from
row_starts[k] on. Both rise. `inverse` has the numbers 1 / D. Places are unsigned numbers, but for those of `walk`.

Sources: Liu, "The role of elimination trees in sparse factorization", 1990; Davis, "Algorithm 849: a concise sparse Cholesky factorization
package", 2005 (one row of L after the other); Liu, "Modification of the minimum-degree algorithm by multiple elimination", 1985.
"""

from __future__ import annotations

import math

BESIDE = 1e-6
"""The share of an answer's numbers that residuals are measured beside, with the right-hand side."""

ROUNDING = 4e-16
"""The share of the largest product in a residual that is rounding."""


def least_degrees(row, column, waits, adjacent, degree, moved, place):
    """An order of elimination in which each vertex has about the least neighbours of those that are left, into `place`, which has -1.

    Edges lead from `row` to `column`, each once, and none to itself counts. A vertex that `waits` comes after one of its neighbours, unless all that
    are left wait. `adjacent` (n, words) has zeros, and gets the neighbours of each vertex as bits, 32 in a word; `degree` and `moved` have zeros.
    Vertices of one degree are eliminated in one turn, but no two neighbours.
    """
    n = place.size
    for e in range(row.size):
        i = row[e]
        j = column[e]
        if i != j:
            adjacent[i, j >> 5] |= 1 << (j & 31)
            adjacent[j, i >> 5] |= 1 << (i & 31)
            degree[i] += 1
            degree[j] += 1
    count = 0
    turn = 0
    least = 0
    while count < n:
        turn += 1
        level = least
        least = n
        for k in range(n):
            if place[k] >= 0 or (waits[k] and not moved[k] and level < n):
                continue
            size = degree[k]
            clique = size >= n - count - 1
            if size <= level and (clique or moved[k] < turn):
                place[k] = count
                count += 1
                # all that is left meet each other: any order will do
                if clique:
                    continue
                own = adjacent[k]
                for m in range(own.size):
                    bits = own[m]
                    i = 32 * m
                    while bits:
                        if bits & 1:
                            # a neighbour meets all others from now on
                            other = adjacent[i]
                            total = -2
                            for w in range(own.size):
                                value = other[w] | own[w]
                                other[w] = value
                                while value:
                                    value &= value - 1
                                    total += 1
                            other[k >> 5] &= ~(1 << (k & 31))
                            degree[i] = total
                            moved[i] = turn
                            if total < least:
                                least = total
                        bits >>= 1
                        i += 1
            elif size < least:
                least = size


def walk(indptr, indices, parent, mark, at, rows, row_starts, columns):
    """The rows of L's columns into `rows`, the next of column j at at[j], which moves on, and then the columns of its rows, with where these start;
    with no room there, only `at` moves.

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
    if not rows.size:
        for k in range(row_starts.size):
            row_starts[k] = 0
        return
    for k in range(mark.size):
        mark[k] = 0
    for p in range(rows.size):
        mark[rows[p]] += 1
    total = 0
    for k in range(mark.size):
        row_starts[k] = total
        total += mark[k]
        mark[k] = row_starts[k]
    row_starts[mark.size] = total
    p = 0
    for j in range(mark.size):
        # column j ends where the next one starts
        while p < at[j]:
            i = rows[p]
            columns[mark[i]] = j
            mark[i] += 1
            p += 1


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


def answer(
    indptr, indices, data, starts, rows, values, inverse, part, of_v, of_z, p, r, harmless, most, enough, work, v, z
):  # fmt: skip
    """The solution (v, z) for the right-hand sides p and r, refined while that halves what is left, `most` times at most; the relative size of what
    is left, infinite where there is no solution.

    The two parts of what is left are measured apart, each beside its right-hand side and the share `BESIDE` of the other part's largest number. What
    is no larger than `harmless` in the first part, or than the share `ROUNDING` of the largest product, counts as none. `work` (4, size of the
    matrix) needs no numbers.
    """
    right = work[0]
    best = work[1]
    rest = work[2]
    found = work[3]
    n = inverse.size
    for j in range(n):
        right[j] = 0.0
        best[j] = 0.0
    for j in range(p.size):
        right[of_v[j]] = p[j]
    for j in range(r.size):
        right[of_z[j]] = r[j]
    for j in range(n):
        rest[j] = right[j]
    least = math.inf
    for _ in range(most + 1):
        for j in range(n):
            value = rest[j]
            if value != 0.0:
                for q in range(starts[j], starts[j + 1]):
                    rest[rows[q]] -= values[q] * value
        for j in range(n - 1, -1, -1):
            value = rest[j] * inverse[j]
            for q in range(starts[j], starts[j + 1]):
                value -= values[q] * rest[rows[q]]
            rest[j] = value
            found[j] = best[j] + value
        first = 0.0
        second = 0.0
        for k in range(n):
            value = right[k]
            other = found[k]
            largest = 0.0
            for q in range(indptr[k], indptr[k + 1]):
                i = indices[q]
                entry = data[q]
                product = entry * found[i]
                value -= product
                size = abs(product)
                if size > largest:
                    largest = size
                # the diagonal comes once; rows before k have their right-hand sides
                if i != k:
                    product = entry * other
                    rest[i] -= product
                    size = abs(product)
                    if part[i]:
                        if size > second:
                            second = size
                    elif size > first:
                        first = size
            rest[k] = value
            if part[k]:
                if largest > second:
                    second = largest
            elif largest > first:
                first = largest
        # what counts as none, and the sizes of what is left, of the right-hand side and of the answer, of either part
        first *= ROUNDING
        if harmless > first:
            first = harmless
        second *= ROUNDING
        total = 0.0
        left_v = 0.0
        left_z = 0.0
        right_v = 0.0
        right_z = 0.0
        found_v = 0.0
        found_z = 0.0
        for k in range(n):
            value = abs(rest[k])
            size = abs(right[k])
            other = abs(found[k])
            total += value
            if part[k]:
                if value > left_z:
                    left_z = value
                if size > right_z:
                    right_z = size
                if other > found_z:
                    found_z = other
            else:
                if value > left_v:
                    left_v = value
                if size > right_v:
                    right_v = size
                if other > found_v:
                    found_v = other
        # a number that is none, or an infinite one, leaves nothing to go on with
        if not total < math.inf:
            break
        share = 0.0
        if left_v > first:
            share = left_v / (right_v + BESIDE * found_z)
        if left_z > second:
            value = left_z / (right_z + BESIDE * found_v)
            if value > share:
                share = value
        if not share < 0.5 * least:
            break
        least = share
        for j in range(n):
            best[j] = found[j]
        if share <= enough:
            break
    for j in range(p.size):
        v[j] = best[of_v[j]]
    for j in range(r.size):
        z[j] = best[of_z[j]]
    return least
