"""Kernels of the scalings of cones, all batches of a program at once.

Row b of `cones` has the kind of a batch, its first row, the number of its cones, the rows of each, and how many cones of its kind come before. W has

    POSITIVE   root = sqrt(s / z), a number a row,
    LENGTH     W = eta (2 w w' - J), its root taken: w in the rows of `root`, eta a number a cone,
    THREE      the matrices W in `own` and W^-T in `back`, nine numbers a cone by rows (`barrier_loops` finds them).

Of ZERO it is 0, and maps leave its rows as they are. Rows of OTHER batches, which are cones of matrices, are passed over.

Source: Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010, sections 4 to 5; Domahidi, Chu, Boyd, "ECOS", 2013.
"""

from __future__ import annotations

import math

ZERO, POSITIVE, LENGTH, THREE, OTHER = 0, 1, 2, 3, 4
"""The kinds of batches."""

W, W_T, INVERSE, INVERSE_T = 0, 1, 2, 3
"""The maps W, W', W^-1 and W^-T."""


def scale(cones, s, z, root, eta, lam):
    """W at (s, z), and lambda = W z, of the batches POSITIVE and LENGTH; 0 into the rows of lambda of ZERO."""
    for b in range(cones.shape[0]):
        kind = cones[b, 0]
        start = cones[b, 1]
        rows = cones[b, 3]
        if kind == ZERO:
            for i in range(start, start + rows):
                lam[i] = 0.0
        elif kind == POSITIVE:
            for i in range(start, start + rows):
                root[i] = math.sqrt(s[i] / z[i])
                lam[i] = math.sqrt(s[i] * z[i])
        elif kind == LENGTH:
            for c in range(cones[b, 2]):
                at = start + c * rows
                of_s = 0.0
                of_z = 0.0
                along = 0.0
                for i in range(at + 1, at + rows):
                    of_s += s[i] * s[i]
                    of_z += z[i] * z[i]
                    along += s[i] * z[i]
                of_s = math.sqrt(of_s)
                of_z = math.sqrt(of_z)
                first = s[at]
                second = z[at]
                # differences of squares as products: they vanish at the boundary
                of_s = math.sqrt((first - of_s) * (first + of_s))
                of_z = math.sqrt((second - of_z) * (second + of_z))
                share = 0.5 / math.sqrt(0.5 * (1.0 + (first / of_s) * (second / of_z) + along / of_s / of_z))
                factor = math.sqrt(of_s / of_z)
                eta[cones[b, 4] + c] = factor
                of_s = share / of_s
                of_z = share / of_z
                root[at] = of_s * first + of_z * second
                for i in range(at + 1, at + rows):
                    root[i] = of_s * s[i] - of_z * z[i]
                boost(root, factor, 1.0, z, at, rows, lam)


def boost(root, factor, sign, v, at, rows, out):
    """factor (2 w w' - J) v, its root taken, of the cone whose rows begin at `at`; of the inverse of what has 1 / factor with a sign of -1."""
    along = 0.0
    for i in range(at + 1, at + rows):
        along += root[i] * v[i]
    head = sign * v[at] + along / (1.0 + root[at])
    out[at] = factor * (root[at] * v[at] + sign * along)
    for i in range(at + 1, at + rows):
        out[i] = factor * (v[i] + head * root[i])


def turn(cones, root, eta, own, back, way, v, out):
    """A map of all rows into `out`: W, W', W^-1 or W^-T."""
    inverse = way >= INVERSE
    for b in range(cones.shape[0]):
        kind = cones[b, 0]
        start = cones[b, 1]
        number = cones[b, 2]
        rows = cones[b, 3]
        first = cones[b, 4]
        if kind == ZERO:
            for i in range(start, start + rows):
                out[i] = v[i]
        elif kind == POSITIVE:
            if inverse:
                for i in range(start, start + rows):
                    out[i] = v[i] / root[i]
            else:
                for i in range(start, start + rows):
                    out[i] = v[i] * root[i]
        elif kind == LENGTH:
            for c in range(number):
                factor = 1.0 / eta[first + c] if inverse else eta[first + c]
                boost(root, factor, -1.0 if inverse else 1.0, v, start + c * rows, rows, out)
        elif kind == THREE:
            across = way == W_T or way == INVERSE
            for c in range(number):
                for i in range(3):
                    value = 0.0
                    for j in range(3):
                        place = 9 * (first + c) + (3 * j + i if across else 3 * i + j)
                        value += (back[place] if inverse else own[place]) * v[start + 3 * c + j]
                    out[start + 3 * c + i] = value


def correct(cones, lam, ds, dz, mu, out):
    """lambda + u with lambda o u = ds o dz - mu e into `out`, of the batches POSITIVE and LENGTH; 0 into the rows of ZERO."""
    for b in range(cones.shape[0]):
        kind = cones[b, 0]
        start = cones[b, 1]
        rows = cones[b, 3]
        if kind == ZERO:
            for i in range(start, start + rows):
                out[i] = 0.0
        elif kind == POSITIVE:
            for i in range(start, start + rows):
                out[i] = lam[i] + (ds[i] * dz[i] - mu) / lam[i]
        elif kind == LENGTH:
            for c in range(cones[b, 2]):
                at = start + c * rows
                product = ds[at] * dz[at] - mu
                along = 0.0
                length = 0.0
                for i in range(at + 1, at + rows):
                    product += ds[i] * dz[i]
                    out[i] = ds[at] * dz[i] + dz[at] * ds[i]
                    along += lam[i] * out[i]
                    length += lam[i] * lam[i]
                length = math.sqrt(length)
                head = lam[at]
                first = (head * product - along) / ((head - length) * (head + length))
                out[at] = head + first
                for i in range(at + 1, at + rows):
                    out[i] = lam[i] + (out[i] - first * lam[i]) / head


def outwards(cones, lam, ds, dz):
    """The largest share with lambda + t ds and lambda + t dz in the cones for all t <= 1 / share, of the batches POSITIVE and LENGTH; or 0."""
    most = 0.0
    for b in range(cones.shape[0]):
        kind = cones[b, 0]
        start = cones[b, 1]
        rows = cones[b, 3]
        if kind == POSITIVE:
            for i in range(start, start + rows):
                least = ds[i] if ds[i] < dz[i] else dz[i]
                share = -least / lam[i]
                if share > most:
                    most = share
        elif kind == LENGTH:
            for c in range(cones[b, 2]):
                at = start + c * rows
                length = 0.0
                of_s = 0.0
                of_z = 0.0
                for i in range(at + 1, at + rows):
                    length += lam[i] * lam[i]
                    of_s += lam[i] * ds[i]
                    of_z += lam[i] * dz[i]
                length = math.sqrt(length)
                # the boost that takes lambda back to a multiple of the unit leaves the ways to the boundary as they are
                size = math.sqrt((lam[at] - length) * (lam[at] + length))
                head = lam[at] / size
                first_s = (head * ds[at] - of_s / size) / size
                first_z = (head * dz[at] - of_z / size) / size
                share_s = (of_s / size / (1.0 + head) - ds[at]) / size
                share_z = (of_z / size / (1.0 + head) - dz[at]) / size
                of_s = 0.0
                of_z = 0.0
                for i in range(at + 1, at + rows):
                    value = ds[i] + share_s * lam[i]
                    of_s += value * value
                    value = dz[i] + share_z * lam[i]
                    of_z += value * value
                most = max(most, math.sqrt(of_s) / size - first_s, math.sqrt(of_z) / size - first_z)
    return most


def within(cones, s, z):
    """True if s and z are in the interior of the batches POSITIVE and LENGTH."""
    for b in range(cones.shape[0]):
        kind = cones[b, 0]
        start = cones[b, 1]
        rows = cones[b, 3]
        if kind == POSITIVE:
            for i in range(start, start + rows):
                if not (s[i] > 0.0 and z[i] > 0.0):
                    return False
        elif kind == LENGTH:
            for c in range(cones[b, 2]):
                at = start + c * rows
                of_s = 0.0
                of_z = 0.0
                for i in range(at + 1, at + rows):
                    of_s += s[i] * s[i]
                    of_z += z[i] * z[i]
                if not (s[at] > math.sqrt(of_s) and z[at] > math.sqrt(of_z)):
                    return False
    return True


def split(root, at, rows):
    """(d, head, of_u, of_w) with W'W = eta^2 (diag(d, 1, 1, ..) + u u' - v v') of a cone of lengths, u = (head, of_u w_1) and v = (0, of_w w_1), where
    diag(d, 1, ..) - v v' is positive definite (ECOS, section III-B)."""
    a = root[at]
    length = 0.0
    for i in range(at + 1, at + rows):
        length += root[i] * root[i]
    alpha = 1.0 + a + length / (1.0 + a)
    beta = 1.0 + 2.0 / (1.0 + a) + length / (1.0 + a) ** 2
    d = 0.5 * (a * a + length * (1.0 - alpha * alpha / (1.0 + length * beta)))
    head = math.sqrt(a * a + length - d)
    of_u = alpha / head
    return d, head, of_u, math.sqrt(of_u * of_u - beta)


def write(cones, root, eta, own, n, diagonal, written, whole, data):
    """The diagonal of a quasidefinite system and the numbers of W'W beside it into their places of `data`, which `written` has: of cones of lengths of
    up to `whole` rows those above the diagonal, of larger ones the columns -u and v of `split`. The rows' place in `diagonal` begins at n."""
    for i in range(diagonal.size):
        data[written[i]] = diagonal[i]
    more = diagonal.size
    for b in range(cones.shape[0]):
        kind = cones[b, 0]
        start = cones[b, 1]
        number = cones[b, 2]
        rows = cones[b, 3]
        first = cones[b, 4]
        if kind == POSITIVE:
            for i in range(start, start + rows):
                data[written[n + i]] -= root[i] * root[i]
        elif kind == LENGTH and rows <= whole:
            for c in range(number):
                at = start + c * rows
                square = eta[first + c] * eta[first + c]
                for i in range(rows):
                    value = 2.0 * root[at + i] * root[at + i]
                    data[written[n + at + i]] -= square * (value - 1.0 if i == 0 else value + 1.0)
                    for j in range(i + 1, rows):
                        data[written[more]] = -square * 2.0 * root[at + i] * root[at + j]
                        more += 1
        elif kind == LENGTH:
            for c in range(number):
                at = start + c * rows
                factor = eta[first + c]
                d, head, of_u, of_w = split(root, at, rows)
                data[written[n + at]] -= factor * factor * d
                place = more + c * rows
                data[written[place]] = -factor * head
                other = more + number * rows + c * (rows - 1) - 1
                for i in range(1, rows):
                    data[written[n + at + i]] -= factor * factor
                    data[written[place + i]] = -factor * of_u * root[at + i]
                    data[written[other + i]] = factor * of_w * root[at + i]
            more += number * (2 * rows - 1)
        elif kind == THREE:
            for c in range(number):
                at = start + 3 * c
                place = 9 * (first + c)
                for i in range(3):
                    for j in range(i, 3):
                        value = 0.0
                        for k in range(3):
                            value += own[place + 3 * k + i] * own[place + 3 * k + j]
                        if i == j:
                            data[written[n + at + i]] -= value
                        else:
                            data[written[more]] = -value
                            more += 1
