"""Kernels of the scalings of cones, all of a program at once.

The rows are those of equations up to `equations`, of the nonnegative cone from there to `linear`, of cones of lengths, |s_1| <= s_0, cone c from
heads[c] to heads[c + 1], of cones of matrices, which are passed over here, and from `threes` on of cones of three rows. W has

    root = sqrt(s / z)      in the nonnegative rows,
    eta (2 w w' - J)        its root taken: w in a cone's rows of `root`, eta a number a cone,
    matrices W and W^-T     in `own` and `back`, nine numbers a cone of three by rows (`barrier_loops` finds them).

Of equations it is 0, and maps leave their rows as they are.

Source: Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010, sections 4 to 5; Domahidi, Chu, Boyd, "ECOS", 2013.
"""

from __future__ import annotations

import math

W, W_T, INVERSE, INVERSE_T = 0, 1, 2, 3
"""The maps W, W', W^-1 and W^-T."""


def scale(equations, linear, heads, s, z, root, eta, lam):
    """W at (s, z) and lambda = W z of symmetric cones; 0 into the rows of lambda of equations."""
    for i in range(equations):
        lam[i] = 0.0
    for i in range(equations, linear):
        root[i] = math.sqrt(s[i] / z[i])
        lam[i] = math.sqrt(s[i] * z[i])
    for c in range(eta.size):
        at = heads[c]
        first = s[at]
        second = z[at]
        of_s = 0.0
        of_z = 0.0
        along = 0.0
        for i in range(at + 1, heads[c + 1]):
            of_s += s[i] * s[i]
            of_z += z[i] * z[i]
            along += s[i] * z[i]
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
        for i in range(at + 1, heads[c + 1]):
            value = of_s * s[i] - of_z * z[i]
            root[i] = value
            along += value * z[i]
        lam[at] = factor * (head * second + along)
        share = second + along / (1.0 + head)
        for i in range(at + 1, heads[c + 1]):
            lam[i] = factor * (z[i] + share * root[i])


def turn(equations, linear, heads, threes, root, eta, own, back, way, v, out):
    """A map of all rows but those of matrices into `out`: W, W', W^-1 or W^-T."""
    inverse = way >= INVERSE
    for i in range(equations):
        out[i] = v[i]
    for i in range(equations, linear):
        out[i] = v[i] / root[i] if inverse else v[i] * root[i]
    sign = -1.0 if inverse else 1.0
    for c in range(eta.size):
        at = heads[c]
        factor = 1.0 / eta[c] if inverse else eta[c]
        along = 0.0
        for i in range(at + 1, heads[c + 1]):
            along += root[i] * v[i]
        head = v[at]
        out[at] = factor * (root[at] * head + sign * along)
        share = sign * head + along / (1.0 + root[at])
        for i in range(at + 1, heads[c + 1]):
            out[i] = factor * (v[i] + share * root[i])
    down = 1 if way in (W_T, INVERSE) else 3
    for n in range(threes, threes + own.size // 3):
        c = (n - threes) // 3
        at = 9 * c + (n - threes - 3 * c) * down
        value = 0.0
        for j in range(3):
            place = at + j * (4 - down)
            value += (back[place] if inverse else own[place]) * v[threes + 3 * c + j]
        out[n] = value


def correct(equations, linear, heads, lam, ds, dz, mu, out):
    """lambda + u with lambda o u = ds o dz - mu e into `out`, of symmetric cones; 0 into the rows of equations."""
    for i in range(equations):
        out[i] = 0.0
    for i in range(equations, linear):
        out[i] = lam[i] + (ds[i] * dz[i] - mu) / lam[i]
    for c in range(heads.size - 1):
        at = heads[c]
        of_s = ds[at]
        of_z = dz[at]
        head = lam[at]
        product = of_s * of_z - mu
        along = 0.0
        length = 0.0
        for i in range(at + 1, heads[c + 1]):
            product += ds[i] * dz[i]
            value = of_s * dz[i] + of_z * ds[i]
            out[i] = value
            along += lam[i] * value
            length += lam[i] * lam[i]
        length = math.sqrt(length)
        first = (head * product - along) / ((head - length) * (head + length))
        out[at] = head + first
        for i in range(at + 1, heads[c + 1]):
            out[i] = lam[i] + (out[i] - first * lam[i]) / head


def outwards(equations, linear, heads, lam, d):
    """The largest share with lambda + t d in the symmetric cones for all t <= 1 / share; or 0."""
    most = 0.0
    for i in range(equations, linear):
        most = max(most, -d[i] / lam[i])
    for c in range(heads.size - 1):
        at = heads[c]
        length = 0.0
        along = 0.0
        for i in range(at + 1, heads[c + 1]):
            length += lam[i] * lam[i]
            along += lam[i] * d[i]
        length = math.sqrt(length)
        # the boost that takes lambda back to a multiple of the unit leaves the ways to the boundary as they are
        size = math.sqrt((lam[at] - length) * (lam[at] + length))
        head = lam[at] / size
        along /= size
        share = (along / (1.0 + head) - d[at]) / size
        first = head * d[at] - along
        length = 0.0
        for i in range(at + 1, heads[c + 1]):
            value = d[i] + share * lam[i]
            length += value * value
        most = max(most, (math.sqrt(length) - first) / size)
    return most


def within(equations, linear, heads, s):
    """True if s is in the interior of the symmetric cones."""
    for i in range(equations, linear):
        if not s[i] > 0.0:
            return False
    for c in range(heads.size - 1):
        length = 0.0
        for i in range(heads[c] + 1, heads[c + 1]):
            length += s[i] * s[i]
        if not s[heads[c]] > math.sqrt(length):
            return False
    return True


def write(equations, linear, heads, threes, root, eta, own, n, diagonal, written, whole, data):
    """The diagonal of a quasidefinite system and the numbers of W'W beside it into their places of `data`, which `written` has. The rows begin at
    n of `diagonal`.

    Of cones of lengths of up to `whole` rows they are those above the diagonal. Of larger ones W'W = diag(d, eta^2, eta^2, ..) + u u' - v v' with
    v_0 = 0, where diag(d, eta^2, ..) - v v' is positive definite (ECOS, section III-B): they are -u and v.
    """
    for i in range(diagonal.size):
        data[written[i]] = diagonal[i]
    for i in range(equations, linear):
        data[written[n + i]] -= root[i] * root[i]
    more = diagonal.size
    for c in range(eta.size):
        at = heads[c]
        stop = heads[c + 1]
        square = eta[c] * eta[c]
        if stop - at > whole:
            a = root[at]
            length = 0.0
            for i in range(at + 1, stop):
                length += root[i] * root[i]
            share = 1.0 / (1.0 + a)
            alpha = 1.0 + a + length * share
            beta = 1.0 + share * (2.0 + length * share)
            d = 0.5 * (a * a + length * (1.0 - alpha * alpha / (1.0 + length * beta)))
            head = math.sqrt(a * a + length - d)
            data[written[n + at]] -= square * d
            data[written[more]] = -eta[c] * head
            alpha /= head
            beta = eta[c] * math.sqrt(alpha * alpha - beta)
            alpha *= -eta[c]
            for i in range(at + 1, stop):
                more += 1
                data[written[n + i]] -= square
                data[written[more]] = alpha * root[i]
                data[written[more + stop - at - 1]] = beta * root[i]
            more += stop - at
        else:
            for i in range(at, stop):
                value = 2.0 * square * root[i]
                data[written[n + i]] -= value * root[i] + (square if i > at else -square)
                for j in range(i + 1, stop):
                    data[written[more]] = -value * root[j]
                    more += 1
    for m in range(own.size // 3):
        # column i of the matrix of a cone, with those that come after it
        at = 9 * (m // 3)
        i = m % 3
        for j in range(i, 3):
            value = 0.0
            for k in range(at, at + 9, 3):
                value += own[k + i] * own[k + j]
            if i == j:
                data[written[n + threes + m]] -= value
            else:
                data[written[more]] = -value
                more += 1
