"""The loops of coordinate descent: over the columns of a matrix with a residual kept, and over a Gram matrix with a gradient kept.
`column_dot`, `column_add`, `column_square`, `extra_dot` and `extra_add` are linked in (`kernels.compile`).

A coordinate has the penalty c |x| on lo <= x <= hi. `size` is its second derivative, that of its ridge included; coordinates of size 0 stay
where they are. The columns of a matrix come as the rows of its transpose do in `backends.kernels.rows`; `extra` has columns of other maps as its
rows, whose coordinates come first. Both loops return (epochs, measure): the measure bounds about what an epoch's violations of optimality cost,
sum_i |v_i x_i| + max_i |v_i| / c_i times the penalty.
"""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

import math

import numpy as np


def moved(x, slope, size, c, lo, hi):
    """argmin over u in [lo, hi] of slope (u - x) + size (u - x)^2 / 2 + c |u|."""
    a = x - slope / size
    threshold = c / size
    if a > threshold:
        a -= threshold
    elif a < -threshold:
        a += threshold
    else:
        a = 0.0
    return min(max(a, lo), hi)


def residual_epochs(columns, cols, extra, r, scale, slope, size, c, ridge, lo, hi, x, rounds, enough, trail, first):
    """Epochs of coordinate descent on scale |r|^2 / 2 + <slope, x> + sum_i ridge_i x_i^2 / 2 + c_i |x_i|, r changing by M dx, until the measure is
    `enough`. `trail` gets x after each epoch, `first` the measure of the first one."""
    m = extra.shape[0]
    measure = 0.0
    for epoch in range(rounds):
        lean = 0.0
        worst = 0.0
        weight = 0.0
        for i in range(x.size):
            if not size[i] > 0.0:
                continue
            v = extra_dot((extra,), i, r) if i < m else column_dot(columns, cols[i - m], r)
            old = x[i]
            new = moved(old, scale * v + slope[i] + ridge[i] * old, size[i], c[i], lo[i], hi[i])
            step = new - old
            if step != 0.0:
                x[i] = new
                if i < m:
                    extra_add((extra,), i, step, r)
                else:
                    column_add(columns, cols[i - m], step, r)
                miss = abs(step) * size[i]
                lean += miss * max(abs(new), abs(old))
                if c[i] > 0.0:
                    worst = max(worst, miss / c[i])
            weight += c[i] * abs(new)
        trail[epoch] = x
        measure = lean + worst * weight
        if epoch == 0:
            first[0] = measure
        if measure <= enough:
            return epoch + 1, measure
    return rounds, measure


def gram_epochs(gram, slope, c, lo, hi, x, rounds, enough, first):
    """The same on <slope, d> + d' gram d / 2 + sum_i c_i |x_i|, `slope` being kept at x; a coordinate that stays costs nothing."""
    measure = 0.0
    for epoch in range(rounds):
        lean = 0.0
        worst = 0.0
        weight = 0.0
        for i in range(x.size):
            size = gram[i, i]
            if not size > 0.0:
                continue
            old = x[i]
            new = moved(old, slope[i], size, c[i], lo[i], hi[i])
            step = new - old
            if step != 0.0:
                x[i] = new
                for j in range(x.size):
                    slope[j] += step * gram[i, j]
                miss = abs(step) * size
                lean += miss * max(abs(new), abs(old))
                if c[i] > 0.0:
                    worst = max(worst, miss / c[i])
            weight += c[i] * abs(new)
        measure = lean + worst * weight
        if epoch == 0:
            first[0] = measure
        if measure <= enough:
            return epoch + 1, measure
    return rounds, measure


def column_squares(columns, cols, out):
    """|a_j|^2 for the columns in `cols`."""
    for i in range(cols.size):
        out[i] = column_square(columns, cols[i])


def column_dots(columns, cols, y, out):
    """a_j . y for the columns in `cols`."""
    for i in range(cols.size):
        out[i] = column_dot(columns, cols[i], y)


def column_sum(columns, cols, x, out):
    """out += the sum over i of x_i times column cols[i]."""
    for i in range(cols.size):
        if x[i] != 0.0:
            column_add(columns, cols[i], x[i], out)


def csr_row_square(rows, i):
    """|a_i|^2."""
    indptr, _indices, data = rows
    total = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        total += np.float64(data[k]) * data[k]
    return total


def dense_row_square(rows, i):
    """|a_i|^2."""
    A = rows[0]
    total = 0.0
    for j in range(A.shape[1]):
        total += np.float64(A[i, j]) * A[i, j]
    return total


def weighted_rows(indptr, indices, data, chosen, root, out_indptr, out_indices, out_data):
    """The chosen rows, their entries times those of `root` in their columns."""
    at = 0
    for i in range(chosen.size):
        for k in range(indptr[chosen[i]], indptr[chosen[i] + 1]):
            out_indices[at] = indices[k]
            out_data[at] = data[k] * root[indices[k]]
            at += 1
        out_indptr[i + 1] = at


def survey(x, kty, c, ridge, lo, hi, q, length, out):
    """out_j = the distance of u_j = -(kty + q + ridge x)_j from the subdifferential of c |x| on [lo, hi] at x_j, over the column's length.

    Returns the largest s in [0, 1] with -(q + s kty) in the domain of the conjugate, as far as that takes a positive s.
    """
    share = 1.0
    for j in range(x.size):
        u = -(kty[j] + q[j] + ridge[j] * x[j])
        right = math.inf if x[j] >= hi[j] else (c[j] if x[j] >= 0.0 else -c[j])
        left = -math.inf if x[j] <= lo[j] else (c[j] if x[j] > 0.0 else -c[j])
        out[j] = max(u - right, left - u, 0.0) / length[j]
        if ridge[j] == 0.0 and kty[j] != 0.0:
            bounded = lo[j] != -math.inf if kty[j] > 0.0 else hi[j] != math.inf
            room = c[j] - q[j] if kty[j] > 0.0 else c[j] + q[j]
            if not bounded and room > 0.0 and abs(kty[j]) * share > room:
                share = room / abs(kty[j])
    return share


def conjugate(kty, share, c, ridge, lo, hi, q):
    """The sum of sup v x - c |x| - ridge x^2 / 2 over [lo, hi] at v = -(q + share kty), those left out that are infinite."""
    total = 0.0
    for j in range(kty.size):
        v = -(q[j] + share * kty[j])
        slack = max(abs(v) - c[j], 0.0)
        best = 0.0
        if slack > 0.0:
            best = math.copysign(slack / ridge[j] if ridge[j] > 0.0 else math.inf, v)
        best = min(max(best, lo[j]), hi[j])
        if abs(best) == math.inf:
            best = min(max(0.0, lo[j]), hi[j])
        total += v * best - c[j] * abs(best) - 0.5 * ridge[j] * best * best
    return total
