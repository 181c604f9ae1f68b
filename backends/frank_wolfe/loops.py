"""Loops over the atoms of an active set: atom i holds numbers[starts[i]:starts[i + 1]] at places[...], with weight weights[i]; 0 is dropped."""

from __future__ import annotations

import math


def extremes(starts, places, numbers, weights, count, c):
    """(i, j, <c, v_i>, <c, v_j>): the live atoms of largest and of least inner product with c, ties to the first; (-1, -1, -inf, inf) of none."""
    worst = -1
    best = -1
    most = -math.inf
    least = math.inf
    for i in range(count):
        if weights[i] > 0.0:
            total = 0.0
            for k in range(starts[i], starts[i + 1]):
                total += numbers[k] * c[places[k]]
            if total > most:
                most = total
                worst = i
            if total < least:
                least = total
                best = i
    return worst, best, most, least


def combine(starts, places, numbers, weights, count, out):
    """out = sum_i weights[i] v_i; entries that no live atom has are exactly 0."""
    for j in range(out.size):
        out[j] = 0.0
    for i in range(count):
        w = weights[i]
        if w > 0.0:
            for k in range(starts[i], starts[i + 1]):
                out[places[k]] += w * numbers[k]


def compact(starts, places, numbers, weights, count):
    """Move the live atoms to the front, in their order; how many there are."""
    live = 0
    used = 0
    for i in range(count):
        if weights[i] > 0.0:
            begin = starts[i]
            end = starts[i + 1]
            starts[live] = used
            for k in range(begin, end):
                places[used] = places[k]
                numbers[used] = numbers[k]
                used += 1
            weights[live] = weights[i]
            live += 1
            starts[live] = used
    return live
