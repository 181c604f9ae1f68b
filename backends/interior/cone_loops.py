"""Kernels of the scalings of cones, all of a program at once.

The rows are those of equations up to `equations`, of the nonnegative cone from there to `linear`, of cones of lengths, |s_1| <= s_0, cone c from
heads[c] to heads[c + 1], of cones of matrices, which are passed over here, and from `threes` on of cones of three rows. W has

    root = sqrt(s / z)      in the nonnegative rows,
    eta (2 w w' - J)        its root taken: w in a cone's rows of `root`, eta a number a cone,
    matrices W and W^-T     in `own` and `back`, nine numbers a cone of three by rows (`barrier_loops` finds them).

Of equations it is 0, and maps leave their rows as they are. Cones of lengths have kernels of their own, as many programs have none.

Source: Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010, sections 4 to 5; Domahidi, Chu, Boyd, "ECOS", 2013.
"""

from __future__ import annotations

import math

W, W_T, INVERSE, INVERSE_T = 0, 1, 2, 3
"""The maps W, W', W^-1 and W^-T."""


def scale(equations, linear, s, z, root, lam):
    """W at (s, z) and lambda = W z in the nonnegative rows; lambda = 0 in those of equations."""
    for i in range(equations):
        lam[i] = 0.0
    for i in range(equations, linear):
        one = s[i]
        other = z[i]
        root[i] = math.sqrt(one / other)
        lam[i] = math.sqrt(one * other)


def scale_lengths(heads, s, z, root, eta, lam):
    """W at (s, z) and lambda = W z of cones of lengths."""
    for c in range(eta.size):
        at = heads[c]
        first = s[at]
        second = z[at]
        stop = heads[c + 1]
        of_s = 0.0
        of_z = 0.0
        along = 0.0
        for i in range(at + 1, stop):
            one = s[i]
            other = z[i]
            of_s += one * one
            of_z += other * other
            along += one * other
        of_s = math.sqrt(of_s)
        of_z = math.sqrt(of_z)
        # differences of squares as products: they vanish at the boundary
        of_s = math.sqrt((first - of_s) * (first + of_s))
        of_z = math.sqrt((second - of_z) * (second + of_z))
        share = 0.5 / math.sqrt(0.5 * (1.0 + (first / of_s) * (second / of_z) + along / of_s / of_z))
        factor = math.sqrt(of_s / of_z)
        of_s = share / of_s
        of_z = share / of_z
        head = of_s * first + of_z * second
        root[at] = head
        eta[c] = factor
        along = 0.0
        for i in range(at + 1, stop):
            other = z[i]
            value = of_s * s[i] - of_z * other
            root[i] = value
            along += value * other
        lam[at] = factor * (head * second + along)
        share = second + along / (1.0 + head)
        for i in range(at + 1, stop):
            lam[i] = factor * (z[i] + share * root[i])


def turn(equations, linear, threes, root, own, back, way, v, out):
    """A map into `out`, W, W', W^-1 or W^-T, of all rows but those of lengths and matrices."""
    inverse = way >= INVERSE
    for i in range(equations):
        out[i] = v[i]
    for i in range(equations, linear):
        value = root[i]
        out[i] = v[i] / value if inverse else v[i] * value
    across = way in (W_T, INVERSE)
    numbers = back if inverse else own
    for k in range(numbers.size // 3):
        # the row or column of a matrix that makes one number
        c = k // 3
        at = 6 * c + k if across else 3 * k
        step = 3 if across else 1
        value = 0.0
        for j in range(3):
            value += numbers[at + j * step] * v[threes + 3 * c + j]
        out[threes + k] = value


def turn_lengths(heads, root, eta, inverse, v, out):
    """W v or W^-1 v into `out`, of cones of lengths."""
    sign = -1.0 if inverse else 1.0
    for c in range(eta.size):
        at = heads[c]
        stop = heads[c + 1]
        factor = eta[c]
        if inverse:
            factor = 1.0 / factor
        along = 0.0
        for i in range(at + 1, stop):
            along += root[i] * v[i]
        head = v[at]
        value = root[at]
        out[at] = factor * (value * head + sign * along)
        share = sign * head + along / (1.0 + value)
        for i in range(at + 1, stop):
            out[i] = factor * (v[i] + share * root[i])


def correct(equations, linear, lam, ds, dz, mu, out):
    """lambda + u with lambda o u = ds o dz - mu e into `out`, in the nonnegative rows; 0 in those of equations."""
    for i in range(equations):
        out[i] = 0.0
    for i in range(equations, linear):
        head = lam[i]
        out[i] = head + (ds[i] * dz[i] - mu) / head


def correct_lengths(heads, lam, ds, dz, mu, out):
    """The same of cones of lengths."""
    for c in range(heads.size - 1):
        at = heads[c]
        of_s = ds[at]
        of_z = dz[at]
        head = lam[at]
        stop = heads[c + 1]
        product = of_s * of_z - mu
        along = 0.0
        length = 0.0
        for i in range(at + 1, stop):
            one = ds[i]
            other = dz[i]
            size = lam[i]
            product += one * other
            value = of_s * other + of_z * one
            out[i] = value
            along += size * value
            length += size * size
        length = math.sqrt(length)
        first = (head * product - along) / ((head - length) * (head + length))
        out[at] = head + first
        for i in range(at + 1, stop):
            size = lam[i]
            out[i] = size + (out[i] - first * size) / head


def outwards(equations, linear, lam, ds, dz):
    """The largest share with lambda + t ds >= 0 and lambda + t dz >= 0 for all t <= 1 / share; or 0."""
    most = 0.0
    for i in range(equations, linear):
        least = ds[i]
        other = dz[i]
        if other < least:
            least = other
        share = -least / lam[i]
        if share > most:
            most = share
    return most


def outwards_lengths(heads, lam, d):
    """The same of cones of lengths, and one direction."""
    most = 0.0
    for c in range(heads.size - 1):
        at = heads[c]
        stop = heads[c + 1]
        length = 0.0
        along = 0.0
        for i in range(at + 1, stop):
            value = lam[i]
            length += value * value
            along += value * d[i]
        length = math.sqrt(length)
        # the boost that takes lambda back to a multiple of the unit leaves the ways to the boundary as they are
        head = lam[at]
        first = d[at]
        size = math.sqrt((head - length) * (head + length))
        head /= size
        along /= size
        share = (along / (1.0 + head) - first) / size
        first = head * first - along
        length = 0.0
        for i in range(at + 1, stop):
            value = d[i] + share * lam[i]
            length += value * value
        share = (math.sqrt(length) - first) / size
        if share > most:
            most = share
    return most


def within_lengths(heads, s, z):
    """True if s and z are in the interior of all cones of lengths."""
    for c in range(heads.size - 1):
        at = heads[c]
        of_s = 0.0
        of_z = 0.0
        for i in range(at + 1, heads[c + 1]):
            value = s[i]
            of_s += value * value
            value = z[i]
            of_z += value * value
        if not (s[at] > math.sqrt(of_s) and z[at] > math.sqrt(of_z)):
            return False
    return True


def write(equations, linear, threes, root, own, n, more, numbers):
    """Take W'W off the numbers of a quasidefinite system: those of the diagonal, where the rows begin at n, and those beside it from `more` on, where
    there are none yet; of all rows but those of lengths."""
    for i in range(equations, linear):
        value = root[i]
        numbers[n + i] -= value * value
    for m in range(own.size // 3):
        # column i of the matrix of a cone, with those that come after it
        at = 9 * (m // 3)
        i = m % 3
        for j in range(i, 3):
            value = 0.0
            for k in range(at, at + 9, 3):
                value += own[k + i] * own[k + j]
            if i == j:
                numbers[n + threes + m] -= value
            else:
                numbers[more] = -value
                more += 1


def write_lengths(heads, root, eta, n, more, whole, numbers):
    """The same of cones of lengths; where the numbers beside the diagonal end.

    Of cones of up to `whole` rows they are those above the diagonal. Of larger ones W'W = diag(d, eta^2, eta^2, ..) + u u' - v v' with v_0 = 0, where
    diag(d, eta^2, ..) - v v' is positive definite (ECOS, section III-B): they are -u and v.
    """
    for c in range(eta.size):
        at = heads[c]
        stop = heads[c + 1]
        factor = eta[c]
        square = factor * factor
        if stop - at > whole:
            a = root[at]
            length = 0.0
            for i in range(at + 1, stop):
                value = root[i]
                length += value * value
            share = 1.0 / (1.0 + a)
            alpha = 1.0 + a + length * share
            beta = 1.0 + share * (2.0 + length * share)
            d = 0.5 * (a * a + length * (1.0 - alpha * alpha / (1.0 + length * beta)))
            head = math.sqrt(a * a + length - d)
            numbers[n + at] -= square * d
            numbers[more] = -factor * head
            alpha /= head
            beta = factor * math.sqrt(alpha * alpha - beta)
            alpha *= -factor
            for i in range(at + 1, stop):
                more += 1
                value = root[i]
                numbers[n + i] -= square
                numbers[more] = alpha * value
                numbers[more + stop - at - 1] = beta * value
            more += stop - at
        else:
            numbers[n + at] += 2.0 * square
            for i in range(at, stop):
                value = root[i]
                a = 2.0 * square * value
                numbers[n + i] -= a * value + square
                for j in range(i + 1, stop):
                    numbers[more] = -a * root[j]
                    more += 1
    return more
