"""Kernels of `dual_gradient`, each of the rows, groups or unknowns start..stop-1.

A sparse matrix is stored by `first`, `column` and `entry`. Group g has the rows `group[g]` to `group[g + 1] - 1`, the radius `radius[g]` of the ball
that its multipliers lie in, and the step `step[g]`.
"""

from __future__ import annotations

import math

import numpy as np


def minimisers(first, row, entry, y, curvature, slope, weight, lo, hi, out, start, stop):
    """argmin_x <K'y, x> + sum_i curvature_i x_i^2 / 2 + slope_i x_i + weight_i |x_i| over lo <= x <= hi, into `out`; K' is stored by its rows."""
    for i in range(start, stop):
        u = slope[i]
        for p in range(first[i], first[i + 1]):
            u += entry[p] * y[row[p]]
        if weight[i] > 0.0:
            u = math.copysign(max(abs(u) - weight[i], 0.0), u)
        out[i] = min(max(-u / curvature[i], lo[i]), hi[i])


def moved(first, column, entry, x, offset, group, radius, step, beta, y, ahead, start, stop):
    """y becomes ahead + step (K x + b) with each group within its ball, and `ahead` goes beyond it by beta times the way from the y before.

    Returns <ahead - y, y - the y before> in the metric of the steps.
    """
    longest = 0
    for g in range(start, stop):
        longest = max(longest, group[g + 1] - group[g])
    z = np.empty(longest)
    total = 0.0
    for g in range(start, stop):
        begin = group[g]
        squares = 0.0
        for r in range(begin, group[g + 1]):
            u = offset[r]
            for p in range(first[r], first[r + 1]):
                u += entry[p] * x[column[p]]
            u = ahead[r] + step[g] * u
            squares += u * u
            z[r - begin] = u
        share = 1.0
        if squares > radius[g] * radius[g]:
            share = radius[g] / math.sqrt(squares)
        along = 0.0
        for r in range(begin, group[g + 1]):
            new = share * z[r - begin]
            way = new - y[r]
            along += (ahead[r] - new) * way
            y[r] = new
            ahead[r] = new + beta * way
        total += along / step[g]
    return total


def moved_pairs(first, column, entry, x, offset, group, radius, step, beta, y, ahead, start, stop):
    """The same for groups of two rows each, without loops over them: pictures have these."""
    total = 0.0
    for g in range(start, stop):
        r = 2 * g
        one, two = offset[r], offset[r + 1]
        for p in range(first[r], first[r + 1]):
            one += entry[p] * x[column[p]]
        for p in range(first[r + 1], first[r + 2]):
            two += entry[p] * x[column[p]]
        one, two = ahead[r] + step[g] * one, ahead[r + 1] + step[g] * two
        squares = one * one + two * two
        if squares > radius[g] * radius[g]:
            share = radius[g] / math.sqrt(squares)
            one, two = share * one, share * two
        way, turn = one - y[r], two - y[r + 1]
        total += ((ahead[r] - one) * way + (ahead[r + 1] - two) * turn) / step[g]
        y[r], y[r + 1] = one, two
        ahead[r], ahead[r + 1] = one + beta * way, two + beta * turn
    return total


def lengths(first, column, entry, x, offset, group, radius, y, out, start, stop):
    """The sum of the radii times |z_g|, and <y, z>, for z = K x + b, into two numbers of `out`."""
    total, product = 0.0, 0.0
    for g in range(start, stop):
        squares = 0.0
        for r in range(group[g], group[g + 1]):
            z = offset[r]
            for p in range(first[r], first[r + 1]):
                z += entry[p] * x[column[p]]
            squares += z * z
            product += z * y[r]
        total += radius[g] * math.sqrt(squares)
    out[0], out[1] = total, product
