"""Kernels of cones of matrices: the matrix of a congruence (`cones`), and the complement of rows of few entries (`matrix_unknowns`).

There row j has the matrix L_j, the sum of value (e_p e_q' + e_q e_p') over its entries. Those of cone c are from starts[c] to starts[c + 1], by rows.

Source: Fujisawa, Kojima, Nakata, "Exploiting sparsity in primal-dual interior-point methods for semidefinite programming", 1997.
"""

from __future__ import annotations

import math

ROOT = math.sqrt(2.0)
"""The weight of an entry off the diagonal in the vector of a matrix."""


def congruences(G, out):
    """The matrix of Y -> G Y G' of the vectors of symmetric Y, column by column, into out[c], for each G = G[c]."""
    n = G.shape[1]
    for c in range(G.shape[0]):
        row = 0
        for i in range(n):
            for j in range(i, n):
                # a column off the diagonal is that of two entries of 1 / sqrt(2)
                own = 1.0 if i == j else ROOT
                half = own / ROOT
                column = 0
                for a in range(n):
                    left = G[c, i, a]
                    right = G[c, j, a]
                    out[c, row, column] = own * left * right
                    for b in range(a + 1, n):
                        out[c, row, column + b - a] = half * (left * G[c, j, b] + right * G[c, i, b])
                    column += n - a
                row += 1


def add_pairs(starts, row, p, q, value, G, gram):
    """Add <L_i, G L_j G> to gram[i, j] for all i <= j of rows of one entry in a cone, with one symmetric G a cone."""
    for c in range(starts.size - 1):
        stop = starts[c + 1]
        for s in range(starts[c], stop):
            i = row[s]
            one = p[s]
            other = q[s]
            own = 2.0 * value[s]
            for t in range(s, stop):
                a = p[t]
                b = q[t]
                square = G[c, one, a] * G[c, other, b] + G[c, one, b] * G[c, other, a]
                gram[i, row[t]] += own * value[t] * square


def add_turned(starts, row, p, q, value, Q, share, Y):
    """Add the vectors of (Q'L_j Q) times the shares to Y[j], with one Q and the shares of a cone."""
    n = Q.shape[1]
    first = 0
    for c in range(starts.size - 1):
        for s in range(starts[c], starts[c + 1]):
            j = row[s]
            one = p[s]
            other = q[s]
            at = first
            for k in range(n):
                left = value[s] * Q[c, one, k]
                right = value[s] * Q[c, other, k]
                Y[j, at] += 2.0 * left * Q[c, other, k] * share[c, k, k]
                for m in range(k + 1, n):
                    Y[j, at + m - k] += ROOT * (left * Q[c, other, m] + right * Q[c, one, m]) * share[c, k, m]
                at += n - k
        first += n * (n + 1) // 2
