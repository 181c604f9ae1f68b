"""Kernel: sweeps of coordinate descent on the quadratic model of -log det X + <Q, X> + sum L |X|."""

from __future__ import annotations

import math


def sweep(W, Q, X, L, D, U, start, column, row, moves):
    """One sweep over the free entries (i, j), j >= i, of a step D; U is W D, and returns the sum of the sizes of moves times W_ii W_jj.

    With W = X^-1 the model is <Q - W, D> + <W D W, D> / 2 + sum L |X + D|. Its curvature along an entry of both triangles is
    a = W_ij^2 + W_ii W_jj (W_ii^2 on the diagonal), its slope b = Q_ij - W_ij + (W D W)_ij, and the best move is
    soft(c - b / a, L_ij / a) - c with c = X_ij + D_ij (Hsieh, Sustik, Dhillon, Ravikumar 2014). The moves of a row i are put into U together:
    (W D W)_ij = sum_k U_jk W_ik, to which a move m of the entry (i, j) adds m W_j: in row i and m W_i: in row j of D W.
    """
    d = W.shape[0]
    total = 0.0
    for i in range(d):
        first, last = start[i], start[i + 1]
        if first == last:
            continue
        moved = False
        # of the moves m_k of this row so far: sum m_k W_ik, and row[j] = sum m_k W_kj
        along = 0.0
        for k in range(d):
            row[k] = 0.0
        for at in range(first, last):
            j = column[at]
            slope = 0.0
            for k in range(d):
                slope += U[j, k] * W[i, k]
            slope += W[i, i] * row[j] + W[i, j] * along + Q[i, j] - W[i, j]
            if i == j:
                a = W[i, i] * W[i, i]
            else:
                a = W[i, j] * W[i, j] + W[i, i] * W[j, j]
            c = X[i, j] + D[i, j]
            z = c - slope / a
            cut = L[i, j] / a
            if z > cut:
                z -= cut
            elif z < -cut:
                z += cut
            else:
                z = 0.0
            m = z - c
            moves[at] = m
            if m == 0.0:
                continue
            moved = True
            D[i, j] += m
            total += abs(m) * math.sqrt(W[i, i] * W[j, j])
            for k in range(d):
                row[k] += m * W[j, k]
            if i != j:
                D[j, i] += m
                along += m * W[i, j]
        if not moved:
            continue
        # U_kj = (W D)_kj: column i grows by the row, and column j by m_j W_i
        for k in range(d):
            w = W[i, k]
            U[k, i] += row[k]
            for at in range(first, last):
                j = column[at]
                if j != i:
                    U[k, j] += moves[at] * w
    return total
