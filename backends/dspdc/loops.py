"""The compiled loop of DSPDC on coordinates, and the sides of a product K = c U V that it visits by rows of U and columns of V.

`left_dot`, `left_add`, `left_sync`, `left_size` and their like for `right`, `prox_loss` and `tangent` are linked in (`kernels.compile`).
"""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

import numpy as np


def unit_dot(rows, i, x):
    """The entry i: the rows of the identity."""
    return x[i]


def unit_add(rows, i, c, first, d, second):
    """first_i += c, second_i += d."""
    first[i] += c
    second[i] += d


def unit_size(rows, i):
    """The stored numbers of row i: none, as rows of the identity are not stored."""
    return 0


def unit_sync(rows, index, source, target):
    """target = source where these rows reach."""
    for k in range(index.size):
        target[index[k]] = source[index[k]]


def csr_add(rows, i, c, first, d, second):
    """first += c a_i, second += d a_i."""
    indptr, indices, data = rows
    for k in range(indptr[i], indptr[i + 1]):
        first[indices[k]] += c * data[k]
        second[indices[k]] += d * data[k]


def csr_sync(rows, index, source, target):
    """target = source where these rows reach."""
    indptr, indices = rows[0], rows[1]
    for k in range(index.size):
        for l in range(indptr[index[k]], indptr[index[k] + 1]):
            target[indices[l]] = source[indices[l]]


def dense_dot(rows, i, x):
    """a_i . x, added up in a fixed order of its own."""
    a = rows[0][i]
    total = 0.0
    for j in range(a.size):
        total += a[j] * x[j]
    return total


def dense_add(rows, i, c, first, d, second):
    """first += c a_i, second += d a_i."""
    a = rows[0][i]
    for j in range(a.size):
        first[j] += c * a[j]
        second[j] += d * a[j]


def dense_sync(rows, index, source, target):
    """target = source: a row reaches everything."""
    target[:] = source


def pick(places, draw, k):
    """The k-th of a sample without replacement: a step of a Fisher-Yates shuffle by a draw from [0, 1)."""
    at = min(k + int(draw * (places.size - k)), places.size - 1)
    found = places[at]
    places[at] = places[k]
    places[k] = found
    return found


def coordinate_steps(sides, draws, term, g, steps, point):
    """Iterations of DSPDC, one for each row of the draws: (20) to (25) with K = c U V.

    `sides` are (left, right), `draws` (of rows, of columns), `term` (c, offset, b, w, parameters), `point` (x, y, u, v, bar). `g` are (q,
    threshold, grow, lo, hi): the prox of g for tau is soft, divided by 1 + tau mu, then cut to [lo, hi]. `steps` are (step, tau, theta), the first
    that of the prox of f_i*.
    """
    left, right = sides
    row_draws, column_draws = draws
    c, offset, b, w, params = term
    q, threshold, grow, lo, hi = g
    step, tau, theta = steps
    x, y, u, v, bar = point
    count, m = row_draws.shape
    size = column_draws.shape[1]
    n, p = y.size, x.size
    rows, columns = np.arange(n), np.arange(p)
    chosen, updated = np.empty(m, np.int64), np.empty(size, np.int64)
    hat = u.copy()
    share = n / m
    left_touched = 0
    right_touched = 0
    for t in range(count):
        for k in range(m):
            i = pick(rows, row_draws[t, k], k)
            chosen[k] = i
            s = y[i] / step + (c * left_dot(left, i, bar) + offset[i])
            # the prox of step f_i* is the slope of f_i at that of f_i / step
            slope = w[i] * tangent(prox_loss(s, 1.0 / step * w[i], b[i], params), b[i], params)[1]
            change = slope - y[i]
            left_touched += left_size(left, i)
            if change != 0.0:
                y[i] = slope
                left_add(left, i, change, u, share * change, hat)
                left_touched += left_size(left, i)
        if t == 0:
            bar[:] = v
        else:
            right_sync(right, updated, v, bar)
        for k in range(size):
            j = pick(columns, column_draws[t, k], k)
            updated[k] = j
            a = x[j] - tau * (c * right_dot(right, j, hat) + q[j])
            right_touched += right_size(right, j)
            a = min(hi[j], max(lo[j], (max(a - threshold, 0.0) + min(a + threshold, 0.0)) / grow))
            change = a - x[j]
            if change != 0.0:
                x[j] = a
                right_add(right, j, change, v, (1.0 + theta) * change, bar)
                right_touched += right_size(right, j)
        left_sync(left, chosen, u, hat)
    return left_touched, right_touched
