"""The compiled loops of the baselines. `row_dot`, `row_add`, `row_size`, `derivative`, `prox`, `tangent`, `prox_loss` and `advance` are linked in
(`kernels.compile`).

`data` are (rows, c, offset, b, w, p) of `finite_sum`: rows are scaled by c and shifted by `offset`, a prediction is z_i = c a_i . x + offset_i,
and its loss has the target b_i, the weight w_i and the parameters p. Each loop returns the stored numbers it touched.
"""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

import math

import numpy as np


def batch_slopes(data, index, x, y):
    """y_k = w_i l'(z_i) for i = index[k]."""
    rows, c, offset, b, w, p = data
    m = index.size
    z, bs, ws = np.empty(m), np.empty(m), np.empty(m)
    touched = 0
    for k in range(m):
        i = index[k]
        z[k] = c * row_dot(rows, i, x) + offset[i]
        bs[k] = b[i]
        ws[k] = w[i]
        touched += row_size(rows, i)
    derivative(z, bs, ws, p, y)
    return touched


def batch_add(rows, index, y, scale, out):
    """out += scale sum_k y_k a_i."""
    touched = 0
    for k in range(index.size):
        if y[k] != 0.0:
            row_add(rows, index[k], scale * y[k], out)
            touched += row_size(rows, index[k])
    return touched


def svrg_steps(data, index, slopes, base, eta, share, step, whole, x, average, args):
    """Proximal steps x <- prox(share (x - eta v)), v = base + (n / m) sum over the batch of (w_i l'(z_i) - slopes_i) c a_i, for each row
    of `index`.

    `average` gets the points over `whole`, the steps of an epoch: it becomes their mean.
    """
    rows, c, offset, b, w, p = data
    count, m = index.shape
    z, bs, ws, y = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    v = np.empty(x.size)
    factor = c * slopes.size / m
    touched = 0
    for t in range(count):
        for k in range(m):
            i = index[t, k]
            z[k] = c * row_dot(rows, i, x) + offset[i]
            bs[k] = b[i]
            ws[k] = w[i]
            touched += row_size(rows, i)
        derivative(z, bs, ws, p, y)
        v[:] = base
        for k in range(m):
            i = index[t, k]
            change = y[k] - slopes[i]
            if change != 0.0:
                row_add(rows, i, factor * change, v)
                touched += row_size(rows, i)
        for j in range(x.size):
            v[j] = share * (x[j] - eta * v[j])
        prox(v, step, x, *args)
        for j in range(x.size):
            average[j] += x[j] / whole
    return touched


def csr_advance(rows, i, change, v, x, threshold, inverse, signed, bounded, lo, hi):
    """v += change a_i, and x = the response to v where v changed."""
    indptr, indices, data = rows
    for k in range(indptr[i], indptr[i + 1]):
        j = indices[k]
        a = v[j] + change * data[k]
        v[j] = a
        if signed:
            e = math.copysign(max(abs(a) - threshold, 0.0), a) * inverse
        else:
            e = max(a - threshold, 0.0) * inverse
        if bounded:
            e = max(lo[j], min(hi[j], e))
        x[j] = e


def dense_advance(rows, i, change, v, x, threshold, inverse, signed, bounded, lo, hi):
    """v += change a_i, and x = the response to v."""
    A = rows[0]
    for j in range(v.size):
        a = v[j] + change * A[i, j]
        v[j] = a
        if signed:
            e = math.copysign(max(abs(a) - threshold, 0.0), a) * inverse
        else:
            e = max(a - threshold, 0.0) * inverse
        if bounded:
            e = max(lo[j], min(hi[j], e))
        x[j] = e


def sdca_rows(data, order, squares, lower, upper, y, v, x, threshold, inverse, signed, bounded, lo, hi):
    """Exact coordinate ascent in y_i for each i of `order`, with the multiplier frozen: x is the response to v."""
    rows, c, offset, b, w, p = data
    touched = 0
    for i in order:
        z = c * row_dot(rows, i, x) + offset[i]
        touched += row_size(rows, i)
        if squares[i] * inverse > 0.0:
            # argmin over y of f_i*(y) - z y + (y - y_i)^2 |a_i|^2 / (2 mu), by Moreau from the prox of f_i
            t = squares[i] * inverse
            s = t * y[i] + z
            new = (s - prox_loss(s, t * w[i], b[i], p)) / t
        else:
            new = w[i] * tangent(z, b[i], p)[1]
        new = max(lower[i], min(upper[i], new))
        change = new - y[i]
        if change != 0.0:
            y[i] = new
            if squares[i] > 0.0:
                advance(rows, i, -c * change, v, x, threshold, inverse, signed, bounded, lo, hi)
                touched += row_size(rows, i)
    return touched


def spdc_steps(data, index, lower, upper, steps, q, y, u, x, bar, args):
    """Iterations of SPDC: for each row of `index` a dual prox step of its m coordinates at `bar`, then a primal prox step with the dual points
    extrapolated by n / m; u = K'y. `steps` are (sigma, tau, theta, share, step), the last two those of the prox."""
    rows, c, offset, b, w, p = data
    sigma, tau, theta, share, step = steps
    count, m = index.shape
    n, d = y.size, x.size
    change = np.empty(m)
    v, new = np.empty(d), np.empty(d)
    touched = 0
    for t in range(count):
        for k in range(m):
            i = index[t, k]
            # prox of sigma f_i* at y_i + sigma z_i
            s = y[i] / sigma + (c * row_dot(rows, i, bar) + offset[i])
            new_y = sigma * (s - prox_loss(s, 1.0 / sigma * w[i], b[i], p))
            change[k] = max(lower[i], min(upper[i], new_y)) - y[i]
            touched += row_size(rows, i)
        v[:] = u
        for k in range(m):
            i = index[t, k]
            if change[k] != 0.0:
                y[i] += change[k]
                row_add(rows, i, c * change[k], u)
                row_add(rows, i, c * change[k] * n / m, v)
                touched += 2 * row_size(rows, i)
        for j in range(d):
            v[j] = share * (x[j] - tau * (v[j] + q[j]))
        prox(v, step, new, *args)
        for j in range(d):
            bar[j] = new[j] + theta * (new[j] - x[j])
            x[j] = new[j]
    return touched


def subgradient_steps(data, index, q, steps, shares, proxes, weights, total, x, average, args):
    """Stochastic subgradient steps x <- prox(share (x - eta g)), g = q + the mean over a batch of n w_i l'(z_i) c a_i; `average` is that
    of the points by
    the weights, `total` the weight it has."""
    rows, c, offset, b, w, p = data
    count, m = index.shape
    z, bs, ws, y = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    v = np.empty(x.size)
    factor = c * b.size / m
    touched = 0
    for t in range(count):
        for k in range(m):
            i = index[t, k]
            z[k] = c * row_dot(rows, i, x) + offset[i]
            bs[k] = b[i]
            ws[k] = w[i]
            touched += row_size(rows, i)
        derivative(z, bs, ws, p, y)
        for j in range(x.size):
            v[j] = shares[t] * (x[j] - steps[t] * q[j])
        for k in range(m):
            if y[k] != 0.0:
                row_add(rows, index[t, k], -shares[t] * steps[t] * factor * y[k], v)
                touched += row_size(rows, index[t, k])
        prox(v, proxes[t], x, *args)
        total += weights[t]
        for j in range(x.size):
            average[j] += (weights[t] / total) * (x[j] - average[j])
    return touched


def csr_times(rows, i, x, z):
    """z = a_i X."""
    indptr, indices, data = rows
    z[:] = 0.0
    for k in range(indptr[i], indptr[i + 1]):
        a = data[k]
        row = x[indices[k]]
        for l in range(z.size):
            z[l] += a * row[l]


def dense_times(rows, i, x, z):
    """z = a_i X."""
    A = rows[0]
    z[:] = 0.0
    for j in range(A.shape[1]):
        a = A[i, j]
        for l in range(z.size):
            z[l] += a * x[j, l]


def csr_outer(rows, i, y, scale, out):
    """out += scale a_i' y, by the entries of y that are not 0."""
    indptr, indices, data = rows
    for l in range(y.size):
        if y[l] != 0.0:
            for k in range(indptr[i], indptr[i + 1]):
                out[indices[k], l] += scale * y[l] * data[k]


def dense_outer(rows, i, y, scale, out):
    """out += scale a_i' y, by the entries of y that are not 0."""
    A = rows[0]
    for l in range(y.size):
        if y[l] != 0.0:
            for j in range(A.shape[1]):
                out[j, l] += scale * y[l] * A[i, j]


def subgradient_matrix_steps(
    rows, index, c, offset, labels, w, q, steps, shares, proxes, weights, total, x, average, args
):
    """The same for a matrix X (d, k), flat, and a loss of rows of predictions."""
    count, m = index.shape
    n, k = offset.shape
    d = x.size // k
    z, y = np.empty((1, k)), np.empty((1, k))
    v = np.empty(x.size)
    matrix, into = x.reshape((d, k)), v.reshape((d, k))
    touched = 0
    for t in range(count):
        for j in range(x.size):
            v[j] = shares[t] * (x[j] - steps[t] * q[j])
        for r in range(m):
            i = index[t, r]
            times(rows, i, matrix, z[0])
            for l in range(k):
                z[0, l] = c * z[0, l] + offset[i, l]
            derivative(z, labels[i : i + 1], w[i : i + 1], y)
            outer(rows, i, y[0], -shares[t] * steps[t] * c * n / m, into)
            touched += 2 * row_size(rows, i)
        prox(v, proxes[t], x, *args)
        total += weights[t]
        for j in range(x.size):
            average[j] += (weights[t] / total) * (x[j] - average[j])
    return touched
