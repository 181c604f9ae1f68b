"""The compiled loops of GSFW (Lu, Freund 2018, Algorithm 1), and its linear oracles.

`row_dot`, `row_add`, `row_size`, `derivative` and `respond` are linked in (`kernels.compile`).

An oracle has the signature of a prox kernel, respond(v, t, out, *args): out = argmax_x <v, x> - g(x). With a ridge it is a prox kernel.
"""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

import math

import numpy as np

# --- oracles: t is not looked at ------------------------------------------------------------------------------------------


def one_of_l1(v, t, out, c, r):
    """c |x|_1 on |x|_1 <= r: a vertex, or 0 where no slope exceeds c."""
    top = c
    at = -1
    for i in range(v.size):
        out[i] = 0.0
        if abs(v[i]) > top:
            top = abs(v[i])
            at = i
    if at >= 0:
        out[at] = math.copysign(r, v[at])


def one_of_simplex(v, t, out, c, r):
    """<c 1, x> on x >= 0, sum x <= r: a vertex, or 0 where no slope exceeds c (c = -inf: sum x = r)."""
    top = c
    at = -1
    for i in range(v.size):
        out[i] = 0.0
        if v[i] > top:
            top = v[i]
            at = i
    if at >= 0:
        out[at] = r


def ends_of_box(v, t, out, c, lo, hi):
    """c |x|_1 on lo <= x <= hi: an end, or the point nearest to 0."""
    for i in range(v.size):
        if v[i] > c:
            out[i] = hi[i]
        elif v[i] < -c:
            out[i] = lo[i]
        else:
            out[i] = max(lo[i], min(hi[i], 0.0))


def soft_on_l2(v, t, out, c, r):
    """c |x|_1 on |x|_2 <= r: the soft threshold of v at c, at length r."""
    total = 0.0
    for i in range(v.size):
        out[i] = math.copysign(max(abs(v[i]) - c, 0.0), v[i])
        total += out[i] * out[i]
    share = r / math.sqrt(total) if total > 0.0 else 0.0
    for i in range(v.size):
        out[i] *= share


def along_l2(v, t, out, c, r, signed):
    """c |x|_2 on |x|_2 <= r, with x >= 0 unless `signed`: v (its positive part) at length r, or 0 where it is no longer than c."""
    total = 0.0
    for i in range(v.size):
        out[i] = v[i] if signed else max(v[i], 0.0)
        total += out[i] * out[i]
    size = math.sqrt(total)
    share = r / size if size > c else 0.0
    for i in range(v.size):
        out[i] *= share


def signs_of_linf(v, t, out, c, r):
    """c |x|_inf on |x|_inf <= r: a corner, or 0 where |v|_1 <= c."""
    total = 0.0
    for i in range(v.size):
        total += abs(v[i])
    for i in range(v.size):
        out[i] = math.copysign(r, v[i]) if total > c and v[i] != 0.0 else 0.0


def softmax_of(v, t, out, c, r):
    """c sum_i x_i log x_i on the simplex of sum r: r softmax(v / c)."""
    peak = -math.inf
    for i in range(v.size):
        peak = max(peak, v[i])
    mass = 0.0
    for i in range(v.size):
        out[i] = math.exp((v[i] - peak) / c)
        mass += out[i]
    for i in range(v.size):
        out[i] *= r / mass


# --- batches --------------------------------------------------------------------------------------------------------------


def batches_of(offsets, n, index):
    """index[t] = a batch of different rows: the first steps of a shuffle of 0 .. n - 1, offsets[t, k] in [k, n) being what k is swapped with.

    Any order of the rows before it gives a uniform batch, so that the next batch goes on from this one's.
    """
    order = np.arange(n)
    count, m = offsets.shape
    for t in range(count):
        for k in range(m):
            j = offsets[t, k]
            row = order[j]
            order[j] = order[k]
            order[k] = row
            index[t, k] = row


def batch_predictions(rows, index, x, c, offset, z):
    """z_k = c a_i . x + offset_i for i = index[k]; returns the numbers touched."""
    touched = 0
    for k in range(index.size):
        i = index[k]
        z[k] = c * row_dot(rows, i, x) + offset[i]
        touched += row_size(rows, i)
    return touched


# --- iterations -----------------------------------------------------------------------------------------------------------


def prescribed_steps(data, index, rates, point, q, sums, total, oracle):
    """Iterations with given eta, alpha: Algorithm 1 with a batch an iteration. With `gammas` (empty: without) also the sums of gamma y and
    gamma K'y over iterations, that of y row by row: `stamp` says up to which sum of gammas a row's is. Returns the numbers touched and the sum of
    gammas.

    `data` are those of `FiniteSum.data`, `rates` (etas, alphas, gammas), `point` (s, y, K'y, x), `sums` (of y, of K'y, stamp), `oracle` the scale
    of its slopes, its step and its arguments."""
    rows, c, offset, b, w, p = data
    etas, alphas, gammas = rates
    s, y, kty, x = point
    y_sum, kty_sum, stamp = sums
    scale, step, args = oracle
    count, m = index.shape
    d = x.size
    v, last = np.empty(d), np.empty(d)
    fresh, bs, ws, slopes = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    averaged = gammas.size > 0
    touched = 0
    for t in range(count):
        for j in range(d):
            v[j] = scale * (kty[j] + q[j])
        respond(v, step, last, *args)
        alpha = alphas[t]
        for j in range(d):
            x[j] = (1.0 - alpha) * x[j] + alpha * last[j]
        if averaged:
            total += gammas[t]
            for j in range(d):
                kty_sum[j] += gammas[t] * kty[j]
        eta = etas[t]
        for k in range(m):
            i = index[t, k]
            fresh[k] = (1.0 - eta) * s[i] + eta * (c * row_dot(rows, i, last) + offset[i])
            bs[k] = b[i]
            ws[k] = w[i]
            touched += row_size(rows, i)
        derivative(fresh, bs, ws, p, slopes)
        for k in range(m):
            i = index[t, k]
            if averaged:
                y_sum[i] += y[i] * (total - stamp[i])
                stamp[i] = total
            s[i] = fresh[k]
            change = slopes[k] - y[i]
            if change != 0.0:
                row_add(rows, i, c * change, kty)
                y[i] = slopes[k]
                touched += row_size(rows, i)
    return touched, total


def adaptive_steps(data, index, batches, mu, most, point, q, last, numbers, oracle):
    """Iterations with eta = 1 / (1 + tau), tau by the test of `method.GSFW`; `last` is the response to y, numbers = (tau, 1 / alpha,
    1 / (N sigma)) of the last iteration, all in place. Returns the numbers touched. `data`, `point` and
    `oracle` as in `prescribed_steps`."""
    rows, c, offset, b, w, p = data
    s, y, kty, x = point
    scale, step, args = oracle
    count, m = index.shape
    d = x.size
    v, new, before = np.empty(d), np.empty(d), np.empty(d)
    z, old, bs, ws = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    fresh, slopes, first, applied = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    tau, inverse, share = numbers[0], numbers[1], numbers[2]
    touched = 0
    for t in range(count):
        inverse = 1.0 + (1.0 - share) * inverse
        for j in range(d):
            x[j] += (last[j] - x[j]) / inverse
            before[j] = kty[j]
        for k in range(m):
            i = index[t, k]
            z[k] = c * row_dot(rows, i, last) + offset[i]
            old[k] = s[i]
            bs[k] = b[i]
            ws[k] = w[i]
            first[k] = y[i]
            applied[k] = y[i]
            touched += row_size(rows, i)
        value = derivative(old, bs, ws, p, slopes)
        while True:
            eta = 1.0 / (1.0 + tau)
            for k in range(m):
                fresh[k] = (1.0 - eta) * old[k] + eta * z[k]
            after = derivative(fresh, bs, ws, p, slopes)
            distance = value - after
            half = 0.0
            for k in range(m):
                distance -= slopes[k] * (old[k] - fresh[k])
                half += 0.5 * (slopes[k] - first[k]) * (fresh[k] - old[k])
                change = slopes[k] - applied[k]
                if change != 0.0:
                    row_add(rows, index[t, k], c * change, kty)
                    applied[k] = slopes[k]
                    touched += row_size(rows, index[t, k])
            # of steps so small, the difference of values is rounding
            size = abs(value) + abs(after)
            if abs(distance) <= 1e-9 * size:
                distance = half
            for j in range(d):
                v[j] = scale * (kty[j] + q[j])
            respond(v, step, new, *args)
            square = 0.0
            inner = 0.0
            response_square = 0.0
            for j in range(d):
                change = kty[j] - before[j]
                square += change * change
                inner += (last[j] - new[j]) * change
                response_square += (last[j] - new[j]) * (last[j] - new[j])
            needed = min(square / (2.0 * mu), inner - 0.5 * mu * response_square)
            # a tie is no rejection: of a quadratic loss and one row, both sides are the same number
            # and what is no number rejects nothing
            if tau >= most or not needed > 1.000001 * tau * distance or distance <= 1e-18 * size:
                break
            tau = min(most, max(2.0 * tau, min(needed / distance, 16.0 * tau)))
        share = eta / batches
        if distance > 1e-18 * size and needed < 0.5 * tau * distance:
            tau /= 1.3
        for k in range(m):
            i = index[t, k]
            s[i] = fresh[k]
            y[i] = slopes[k]
        for j in range(d):
            last[j] = new[j]
    numbers[0], numbers[1], numbers[2] = tau, inverse, share
    return touched
