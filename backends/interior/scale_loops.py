"""The kernel of the scales of a program: a pass over its entries (`program.equilibrated`)."""

from __future__ import annotations

import math


def pass_over(row, column, size, share, scale, sums, peaks):
    """The values size + scale of the row + scale of the column of entries: the sum of each row and column into `sums`, the largest into `peaks`,
    -inf where there is none. Then this share of the largest is taken from the scale. Columns have places behind those of the rows."""
    for k in range(scale.size):
        sums[k] = 0.0
        peaks[k] = -math.inf
    for e in range(size.size):
        i = row[e]
        j = column[e]
        value = size[e] + scale[i] + scale[j]
        sums[i] += value
        sums[j] += value
        if value > peaks[i]:
            peaks[i] = value
        if value > peaks[j]:
            peaks[j] = value
    if share != 0.0:
        for k in range(scale.size):
            value = peaks[k]
            if value > -math.inf:
                scale[k] -= share * value
