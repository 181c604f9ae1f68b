"""The sublinear method's iterations: draws of one row and one column of the data, and lazily scaled updates of one class."""

# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

import math

import numpy as np

from fwdsl.backends.multiclass.loops.picks import BLOCK

SAMPLES = 256
"""Samples, or features, that are worked on together: what a step keeps of them stays in the first cache."""

LINE = 8
"""Numbers of a cache line."""

STEEP = 10.0
"""Exponents of one step above it are of iterates whose pending sums would cancel: those are folded in before."""

SMALLEST = 1e-200
"""The lower bound of iterates under multiplicative updates: nothing turns into a slow denormal number, nor into a zero that stays."""

FLOOR = 1e-100
"""The same for the geometric mean of both signs of U, which all entries share."""

WIDEST = 1e250
"""The upper bound of an entry of U after one step."""

LARGEST = 1e100

ABSORBED = 1e-6
"""A scaling below this part of its sum is folded in: the digits of the averages would be lost in the sum's rounding."""

DRIFT = 1e-9
"""The bound of a row's rounding error, as it is carried along, at which the row is normalised by its true sum."""


STEADY = 100.0
"""The scaling of a row up to which the sums of its classes by groups, which are kept by adding up, are as good as its entries."""


def dense_line(rows, i, out):
    """a_i where it is."""
    return rows[0][i]


def csr_line(rows, i, out):
    """a_i, written to `out`."""
    indptr, indices, data = rows
    for j in range(out.size):
        out[j] = 0.0
    for p in range(indptr[i], indptr[i + 1]):
        out[indices[p]] = data[p]
    return out


def added(a):
    """The sum of an array; compiled with reordering it is five times as fast as numba's own."""
    total = 0.0
    for j in range(a.size):
        total += a[j]
    return total


def column_sums(column, product, sigma, blocks):
    """The sum of both signs of the column; those weighted by sigma of each BLOCK into `blocks`."""
    d = sigma.size
    in_half = (d + BLOCK - 1) // BLOCK
    mass = 0.0
    for b in range(in_half):
        up = 0.0
        down = 0.0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, d)):
            other = product / column[i]
            mass += column[i] + other
            up += sigma[i] * column[i]
            down += sigma[i] * other
        blocks[b] = up
        blocks[in_half + b] = down
    return mass


def fold_primal(U, U_sum, scale):
    """alpha into U and its pending sums into theirs; scale = (alpha, A, c) becomes (1, 0, c alpha^2).

    Where that falls below FLOOR squared it is held there: the larger of both signs stays what it is.
    """
    alpha, pending, product = scale
    middle = max(math.sqrt(product) * alpha, FLOOR) if product > 0.0 else 0.0
    least = max(middle, SMALLEST)
    scale[0] = 1.0
    scale[1] = 0.0
    scale[2] = middle * middle
    for l in range(U.shape[0]):
        for i in range(U.shape[1]):
            u = U[l, i]
            other = product / u
            U_sum[l, i] += (u - other) * pending
            if u >= other:
                U[l, i] = max(u * alpha, least)
            else:
                U[l, i] = scale[2] / max(other * alpha, least)


def fold_all(U, U_sum, scale, mass, weighted, blocks, sigma):
    """`fold_primal`, and the sums of the classes afresh."""
    fold_primal(U, U_sum, scale)
    for c in range(U.shape[0]):
        mass[c] = column_sums(U[c], scale[2], sigma, blocks[c])
        weighted[c] = added(blocks[c])


def fold_sample(j, V, V_sum, groups, own, beta, B, error):
    """The scaling of row j into V, its pending sums into theirs, and the row normalised by its true sum."""
    total = own[j]
    for l in range(V.shape[0]):
        total += V[l, j]
    inverse = 1.0 / total
    for g in range(groups.shape[0]):
        groups[g, j] = 0.0
    for l in range(V.shape[0]):
        v = V[l, j]
        V_sum[l, j] += v * B[j]
        if v > 0.0:
            V[l, j] = max(v * inverse, SMALLEST)
            groups[l // BLOCK, j] += V[l, j]
    own[j] = max(own[j] * inverse, SMALLEST)
    beta[j] = 1.0
    B[j] = 0.0
    error[j] = 0.0


def touch(a):
    """Ask for an array that is needed soon."""
    for j in range(0, a.size, LINE):
        prefetch(a, j)


def update_primal(column, column_sum, e, A, product, sigma, ups, downs):
    """Part of a class of U times e, its second sign times 1 / e; what changes goes into its sums; returns the part's new sum.

    `ups` and `downs` get the sums of each BLOCK of either sign, weighted by sigma.
    """
    d = e.size
    least = max(product / WIDEST, 1.0 / WIDEST)
    mass = 0.0
    for b in range(ups.size):
        first = b * BLOCK
        last = min(first + BLOCK, d)
        u = column[first:last]
        total = column_sum[first:last]
        factor = e[first:last]
        size = sigma[first:last]
        part = 0.0
        up = 0.0
        down = 0.0
        for i in range(u.size):
            new = min(max(u[i] * factor[i], least), WIDEST)
            other = product / new
            total[i] += ((u[i] - new) - (other * factor[i] - other)) * A
            u[i] = new
            part += new + other
            up += size[i] * new
            down += size[i] * other
        mass += part
        ups[b] = up
        downs[b] = down
    return mass


def update_dual(column, column_sum, group, l, omega, theta, y, own, beta, B, error, tau, weight):
    """Some samples' class l times omega, their own class times theta, rows rescaled; returns (samples to fold, the sum of the chances)."""
    bad = 0
    total = 0.0
    for j in range(omega.size):
        w = omega[j]
        both = theta * w if y[j] == l else theta
        v = column[j]
        # 0 where l is the sample's own class
        new = 0.0 if y[j] == l else max(v * w, SMALLEST)
        o = own[j]
        own_new = max(o * both, SMALLEST)
        b = beta[j]
        pending = B[j] + weight * b
        B[j] = pending
        column[j] = new
        group[j] += new - v
        own[j] = own_new
        column_sum[j] += (v - new) * pending
        chi = 1.0 - b * ((v - new) + (o - own_new))
        inverse = 1.0 / chi
        miss = (error[j] + 2e-16 * (2.0 + w)) * inverse
        error[j] = miss
        b *= inverse
        beta[j] = b
        fine = chi > 0.0 and miss <= DRIFT and b <= LARGEST and weight * b >= ABSORBED * (pending + weight * b)
        bad += 0 if fine else 1
        total += tau[j] * max(2.0 - 2.0 * b * own_new, 0.0)
    return bad, total


def row_chances(tau, own, beta, out):
    """out = tau_j |V_j - Y_j|_1; returns the sum."""
    for j in range(tau.size):
        out[j] = tau[j] * max(2.0 - 2.0 * beta[j] * own[j], 0.0)
    # a sum stands apart from what is stored: beside arrays that are its neighbours such a loop would round otherwise
    total = 0.0
    for j in range(tau.size):
        total += out[j]
    return total


def full_steps(data, uniform, steps, radius, exact, primal_point, dual_point):
    """Iterations of the full sampling scheme, one a row of `uniform`; returns how often a row was folded.

    Both draws of an iteration are made before either update (Jacobi, as in Theorem 3.1). `primal` = 2 gamma R log(2 d k), `dual` =
    2 gamma log(k) W, `log_shrink` = -primal * lambda and `averaging` the weight of the iterate, each one an iteration.

    The signs of the primal point are U (k, d) and c / U, both times alpha, of scale = (alpha, A, c), with c = 0 where there is one sign only:
    a step multiplies one by what it divides the other by. U_sum + (U - c / U) A is the sum of its iterates, the second sign taken from the
    first. V (k, n), 0 at the sample's own class, which `own` holds, times beta is the dual point, V_sum + V B its sum (that of the own class
    is what is missing to the sum of the weights). `mass`, `weighted`, `blocks` are sums of each class of both signs: of them, of sigma times
    them, of the latter by blocks of either sign; `groups` of V~ by blocks of classes.
    """
    rows, columns, y, sigma, tau, peaks, row_scale, column_scale = data
    primal, dual, log_shrink, averaging = steps
    U, U_sum, mass, weighted, blocks, scale = primal_point
    V, V_sum, groups, own, beta, B, error = dual_point
    n = y.size
    d = sigma.size
    in_half = blocks.shape[1] // 2
    x = np.empty(max(d, n))
    e = np.empty(SAMPLES)
    power = np.empty(SAMPLES)
    bits = power.view(np.int64)
    some = np.empty(SAMPLES)
    sums = np.empty((n + SAMPLES - 1) // SAMPLES)
    for b in range(sums.size):
        first = b * SAMPLES
        last = min(first + SAMPLES, n)
        sums[b] = row_chances(tau[first:last], own[first:last], beta[first:last], some)
    folds = 0
    for t in range(uniform.shape[0]):
        # the row of X and the class for the primal slope
        chances = added(sums)
        b = pick(sums, uniform[t, 0], chances)
        first = b * SAMPLES
        last = min(first + SAMPLES, n)
        inside = row_chances(tau[first:last], own[first:last], beta[first:last], some)
        share = min(max((uniform[t, 0] * chances - added(sums[:b])) / inside, 0.0), 1.0)
        j = first + pick(some[: last - first], share, inside)
        if uniform[t, 1] < 0.5:
            l = y[j]
            sign = -1.0
        else:
            others = max(1.0 / beta[j] - own[j], 0.0)
            l = pick_class(V, groups, j, y[j], beta[j] < STEADY, uniform[t, 2], others)
            sign = 1.0
        touch(U[l, :SAMPLES])
        touch(U_sum[l, :SAMPLES])
        # the column of X and the class for the dual slope
        all_weighted = added(weighted)
        class_drawn = pick(weighted, uniform[t, 3], all_weighted)
        i = pick_feature(U[class_drawn], scale[2], sigma, blocks[class_drawn], uniform[t, 4], weighted[class_drawn])
        # primal update
        row = line(rows, j, x[:d])
        slope = -primal[t] * sign * chances / tau[j] * row_scale[j]
        scale[1] += averaging[t] * scale[0]
        chance = scale[0] * all_weighted
        if primal[t] * chances > STEEP:
            fold_all(U, U_sum, scale, mass, weighted, blocks, sigma)
        mass[l] = 0.0
        for first in range(0, d, SAMPLES):
            last = min(first + SAMPLES, d)
            part = last - first
            column = U[l, first:last]
            column_sum = U_sum[l, first:last]
            touch(U[l, last : last + SAMPLES])
            touch(U_sum[l, last : last + SAMPLES])
            # no entry of the row is larger than its chance
            exponentials(row[first:last], slope, primal[t] * chances, bits[:part], power[:part], e[:part])
            b = first // BLOCK
            some_blocks = (part + BLOCK - 1) // BLOCK
            mass[l] += update_primal(
                column, column_sum, e[:part], scale[1], scale[2], sigma[first:last],
                blocks[l, b : b + some_blocks], blocks[l, in_half + b : in_half + b + some_blocks],
            )  # fmt: skip
        weighted[l] = added(blocks[l])
        old = scale[0]
        total = added(mass)
        fit = radius / (old * total)
        scale[0] = old * (fit if exact else min(math.exp(log_shrink[t]), fit))
        # dual update; the slope was estimated with the point from before
        sign = 1.0 if i < d else -1.0
        i = i % d
        size = dual[t] * chance / sigma[i]
        most = size * peaks[i]
        slope = size * sign * column_scale
        row = line(columns, i, x[:n])
        touch(V[class_drawn, :SAMPLES])
        touch(V_sum[class_drawn, :SAMPLES])
        theta = math.exp(-dual[t])
        weight = averaging[t]
        if most > STEEP or dual[t] > STEEP:
            for s in range(n):
                B[s] += weight * beta[s]
                fold_sample(s, V, V_sum, groups, own, beta, B, error)
            weight = 0.0
        for b in range(sums.size):
            first = b * SAMPLES
            last = min(first + SAMPLES, n)
            part = last - first
            column = V[class_drawn, first:last]
            column_sum = V_sum[class_drawn, first:last]
            touch(V[class_drawn, last : last + SAMPLES])
            touch(V_sum[class_drawn, last : last + SAMPLES])
            exponentials(row[first:last], slope, most, bits[:part], power[:part], e[:part])
            bad, sums[b] = update_dual(
                column, column_sum, groups[class_drawn // BLOCK, first:last], class_drawn, e[:part], theta, y[first:last],
                own[first:last], beta[first:last], B[first:last], error[first:last], tau[first:last], weight,
            )  # fmt: skip
            if bad > 0:
                for s in range(first, last):
                    fine = error[s] >= 0.0 and error[s] <= DRIFT and beta[s] > 0.0 and beta[s] <= LARGEST
                    if not (fine and averaging[t] * beta[s] >= ABSORBED * (B[s] + averaging[t] * beta[s])):
                        fold_sample(s, V, V_sum, groups, own, beta, B, error)
                        folds += 1
                sums[b] = row_chances(tau[first:last], own[first:last], beta[first:last], some)
        lost = averaging[t] * scale[0] < ABSORBED * (scale[1] + averaging[t] * scale[0])
        if lost or not (total < LARGEST and total > 1.0 / LARGEST):
            fold_all(U, U_sum, scale, mass, weighted, blocks, sigma)
    return folds
