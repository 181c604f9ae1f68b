"""The powers, logarithms and roots in the barriers of cones of three rows (`barriers`), cone by cone.

a[n] is the power of cone n, 0 of an exponential one; points are the columns of arrays (3, number).
"""

from __future__ import annotations

import math

NEWTON = 60
"""Steps of Newton's method for the gradient of f, which has the last digits after five to ten."""

HALVINGS, NEAR = 60, 5e-3
"""Halvings of the interval in which a ray leaves the cones, and the relative length of it that ends them."""


def holds(a, x, y, w):
    """True if (x, y, w) is in the interior of the cone.

    (x, y, w) is in that of the dual one if (x - y, -x, w), of a power (x / a, y / (1 - a), w), is in that of the cone.
    """
    if a == 0.0:
        return y > 0.0 and w > 0.0 and y * math.log(w / y) > x
    if not (x > 0.0 and y > 0.0):
        return False
    size = abs(w)
    return size == 0.0 or a * math.log(x / size) + (1.0 - a) * math.log(y / size) > 0.0


def of_dual_barrier(a, x, y, w):
    """The gradient of f* at (x, y, w), the six numbers of R with the Hessian R'R by rows, psi, and the logarithm in it, of a power the root there.

    R is a triangle with the unknowns in the order (y, x, w), of a power (w, x, y). Close to the boundary the Hessian is a square of the gradient of
    psi, beside which all else is rounding: R is made of the terms themselves.
    """
    if a == 0.0:
        log = math.log(-w / x)
        psi = y - x - x * log
        one = 1.0 / psi
        p, q = -log * one, -x / w * one
        # the rest is c q q' + diag(1 / x^2, 0, 1 / w^2) with q = (1, 0, -x / w)
        bent = -x * one
        head = math.sqrt(1.0 + bent)
        last = math.sqrt(1.0 + 2.0 * bent) / (head * w)
        return -p - 1.0 / x, -one, -q - 1.0 / w, one, p, q, -head / x, bent / (head * w), last, psi, log
    b, size = 1.0 - a, abs(w)
    # psi = above * below = (root + w) (root - w), none of them a difference of numbers that are nearly equal
    root = math.exp(a * math.log(x / a) + b * math.log(y / b))
    rest = root - size
    if root < 2.0 * size:
        rest = size * math.expm1(a * math.log(x / (a * size)) + b * math.log(y / (b * size)))
    root = size + rest
    more, less = 1.0 / (root + size), 1.0 / rest
    both = more + less
    first, second = more * more, less * less
    squares = first + second
    length = math.sqrt(squares)
    share = root * (first - second) / length
    side = 1.0
    if w < 0.0:
        side = -1.0
    share *= side
    # the rest is diag(1 / x, 1 / y) [k + e, f - k; f - k, k + d] diag(1 / x, 1 / y)
    bent = root * a * b * both
    own = 4.0 * first * second / squares * root * root
    e, f, d = b + own * a * a, own * a * b, a + own * b * b
    head = math.sqrt(bent + e)
    last = math.sqrt(bent * (e + d + 2.0 * f) + a * b + own * (a * a * a + b * b * b)) / (head * y)
    of_x, of_y, of_w = -(a * root * both + b) / x, -(b * root * both + a) / y, side * (less - more)
    psi = (root + size) * rest
    return of_x, of_y, of_w, length, share * a / x, share * b / y, head / x, (f - bent) / (head * y), last, psi, root


def primal_gradient(a, x, y, w):
    """The gradient of f at (x, y, w)."""
    if a == 0.0:
        # 1 + e is the Wright omega function of 1 + rest; Newton from the left of the root of a concave function
        rest = math.log(w / y) - x / y
        e = 0.5 * rest if rest < 1.0 else rest - math.log1p(rest)
        for _ in range(NEWTON):
            change = (rest - e - math.log1p(e)) * (1.0 + e) / (2.0 + e)
            e += change
            if abs(change) <= 4e-16 * e:
                break
        return 1.0 / (e * y), ((1.0 - x / y) / e - 2.0) / y, -(1.0 + e) / (e * w)
    b, size = 1.0 - a, abs(w)
    if size == 0.0:
        return -(1.0 + a) / x, -(1.0 + b) / y, 0.0
    # in v = 1 / (g_2 s_2): a concave function too
    rest = 2.0 * (a * math.log(x / size) + b * math.log(y / size))
    c, d = 1.0 / a + 1.0, 1.0 / b + 1.0
    # beside what it is for large v
    v = rest + math.log(2.0) - 2.0 * (a * math.log(c) + b * math.log(d))
    v = 0.5 * math.exp(v if v < 700.0 else 700.0)
    far = v > 0.25 * rest
    if not far:
        v = 0.25 * rest
    for _ in range(NEWTON):
        value = 2.0 * (a * math.log1p(c * v) + b * math.log1p(d * v)) - math.log1p(2.0 * v)
        if far and not value <= rest:
            # on the right of the root, where Newton's method may leave for negative numbers
            v, far = 0.25 * rest, False
            continue
        far = False
        change = (rest - value) / (2.0 * (a * c / (1.0 + c * v) + b * d / (1.0 + d * v)) - 2.0 / (1.0 + 2.0 * v))
        v += change
        if abs(change) <= 4e-16 * v:
            break
    r = 1.0 / v
    return -(1.0 + a + a * r) / x, -(1.0 + b + b * r) / y, r / w


def gradients(a, s, z, primal, dual):
    """The gradients of f at s and what `of_dual_barrier` gives at z, a row for each of its numbers."""
    for n in range(a.size):
        at = of_dual_barrier(a[n], z[0, n], z[1, n], z[2, n])
        for m in range(11):
            dual[m, n] = at[m]
        primal[0, n], primal[1, n], primal[2, n] = primal_gradient(a[n], s[0, n], s[1, n], s[2, n])


def reach(a, s, ds, z, dz, longest):
    """The largest t up to `longest`, to a small share of it, for which all s + t ds are in the interior of the cones and z + t dz in that of the
    dual ones; -1 if 0 is not such a t."""
    found, number = longest, a.size
    for i in range(2 * number):
        n = i % number
        power, least, most, at = a[n], -1.0, found, found
        point, change = (s, ds) if i < number else (z, dz)
        for _ in range(HALVINGS):
            x, y, w = point[0, n] + at * change[0, n], point[1, n] + at * change[1, n], point[2, n] + at * change[2, n]
            if i >= number and power == 0.0:
                x, y = x - y, -x
            elif i >= number:
                x, y = x / power, y / (1.0 - power)
            if holds(power, x, y, w):
                least = at
            else:
                most = at
            if most - least <= NEAR * most or not most > 0.0:
                break
            at = 0.5 * (least + most)
            if at < 0.0:
                at = 0.0
        found = least
        if found < 0.0:
            break
    return found
