"""The powers, logarithms and roots in the barriers of cones of three rows (`barriers`), cone by cone.

a[n] is the power of cone n, 0 of an exponential one; points are the columns of arrays (3, number). Exponential and power cones have kernels of their
own, as few programs have both.
"""

# `holds` is named when the kernel is compiled: names that do not exist here.
# ruff: noqa: F821
# mypy: disable-error-code="name-defined"

from __future__ import annotations

import math

NEWTON = 60
"""Steps of Newton's method for the gradient of f, which has the last digits after five to ten."""

HALVINGS, NEAR = 60, 5e-3
"""Halvings of the interval in which a ray leaves the cones, and the relative length of it that ends them."""


def in_exponential(a, dual, x, y, w):
    """True if (x, y, w) is in the interior of the exponential cone, or of the dual one.

    It is in the dual one if (x - y, -x, w) is in the cone.
    """
    if dual:
        most = x - y
        y = -x
        x = most
    return y > 0.0 and w > 0.0 and y * math.log(w / y) > x


def in_power(a, dual, x, y, w):
    """True if (x, y, w) is in the interior of the cone of power a, or of the dual one.

    It is in the dual one if (x / a, y / (1 - a), w) is in the cone.
    """
    if dual:
        x /= a
        y /= 1.0 - a
    if not (x > 0.0 and y > 0.0):
        return False
    size = abs(w)
    return size == 0.0 or a * math.log(x / size) + (1.0 - a) * math.log(y / size) > 0.0


def exponential_gradients(a, s, z, primal, dual):
    """The gradients of f at s; a row for each number at z: the gradient of f*, the six of R with the Hessian R'R by rows, psi, the logarithm in it.

    R is a triangle with the unknowns in the order (y, x, w), of powers (w, x, y). Close to the boundary the Hessian is a square of the gradient of
    psi, beside which all else is rounding: R is made of the terms themselves.
    """
    for n in range(a.size):
        x = z[0, n]
        y = z[1, n]
        w = z[2, n]
        log = math.log(-w / x)
        psi = y - x - x * log
        one = 1.0 / psi
        p = -log * one
        q = -x / w * one
        # the rest is c q q' + diag(1 / x^2, 0, 1 / w^2) with q = (1, 0, -x / w)
        bent = -x * one
        head = math.sqrt(1.0 + bent)
        dual[0, n] = -p - 1.0 / x
        dual[1, n] = -one
        dual[2, n] = -q - 1.0 / w
        dual[3, n] = one
        dual[4, n] = p
        dual[5, n] = q
        dual[6, n] = -head / x
        dual[7, n] = bent / (head * w)
        dual[8, n] = math.sqrt(1.0 + 2.0 * bent) / (head * w)
        dual[9, n] = psi
        dual[10, n] = log
        x = s[0, n]
        y = s[1, n]
        w = s[2, n]
        # 1 + e is the Wright omega function of 1 + rest; Newton from the left of the root of a concave function
        rest = math.log(w / y) - x / y
        e = 0.5 * rest if rest < 1.0 else rest - math.log1p(rest)
        for _ in range(NEWTON):
            change = (rest - e - math.log1p(e)) * (1.0 + e) / (2.0 + e)
            e += change
            if abs(change) <= 4e-16 * e:
                break
        primal[0, n] = 1.0 / (e * y)
        primal[1, n] = ((1.0 - x / y) / e - 2.0) / y
        primal[2, n] = -(1.0 + e) / (e * w)


def power_gradients(a, s, z, primal, dual):
    """The same of power cones, with the root in psi in place of the logarithm."""
    for n in range(a.size):
        own = a[n]
        b = 1.0 - own
        x = z[0, n]
        y = z[1, n]
        w = z[2, n]
        size = abs(w)
        # psi = above * below = (root + w) (root - w), none of them a difference of numbers that are nearly equal
        root = math.exp(own * math.log(x / own) + b * math.log(y / b))
        rest = root - size
        if root < 2.0 * size:
            rest = size * math.expm1(own * math.log(x / (own * size)) + b * math.log(y / (b * size)))
        root = size + rest
        more = 1.0 / (root + size)
        less = 1.0 / rest
        both = more + less
        first = more * more
        second = less * less
        squares = first + second
        length = math.sqrt(squares)
        side = -1.0 if w < 0.0 else 1.0
        share = side * root * (first - second) / length
        # the rest is diag(1 / x, 1 / y) [k + e, f - k; f - k, k + d] diag(1 / x, 1 / y)
        bent = root * own * b * both
        other = 4.0 * first * second / squares * root * root
        e = b + other * own * own
        f = other * own * b
        d = own + other * b * b
        head = math.sqrt(bent + e)
        last = bent * (e + d + 2.0 * f) + own * b + other * (own * own * own + b * b * b)
        dual[0, n] = -(own * root * both + b) / x
        dual[1, n] = -(b * root * both + own) / y
        dual[2, n] = side * (less - more)
        dual[3, n] = length
        dual[4, n] = share * own / x
        dual[5, n] = share * b / y
        dual[6, n] = head / x
        dual[7, n] = (f - bent) / (head * y)
        dual[8, n] = math.sqrt(last) / (head * y)
        dual[9, n] = (root + size) * rest
        dual[10, n] = root
        x = s[0, n]
        y = s[1, n]
        w = s[2, n]
        size = abs(w)
        if size == 0.0:
            primal[0, n] = -(1.0 + own) / x
            primal[1, n] = -(1.0 + b) / y
            primal[2, n] = 0.0
            continue
        # in v = 1 / (g_2 s_2): a concave function too
        rest = 2.0 * (own * math.log(x / size) + b * math.log(y / size))
        c = 1.0 / own + 1.0
        d = 1.0 / b + 1.0
        # beside what it is for large v
        v = rest + math.log(2.0) - 2.0 * (own * math.log(c) + b * math.log(d))
        v = 0.5 * math.exp(v if v < 700.0 else 700.0)
        far = v > 0.25 * rest
        if not far:
            v = 0.25 * rest
        for _ in range(NEWTON):
            value = 2.0 * (own * math.log1p(c * v) + b * math.log1p(d * v)) - math.log1p(2.0 * v)
            if far and not value <= rest:
                # on the right of the root, where Newton's method may leave for negative numbers
                v = 0.25 * rest
                far = False
                continue
            far = False
            slope = own * c / (1.0 + c * v) + b * d / (1.0 + d * v)
            change = (rest - value) / (2.0 * slope - 2.0 / (1.0 + 2.0 * v))
            v += change
            if abs(change) <= 4e-16 * v:
                break
        r = 1.0 / v
        primal[0, n] = -(1.0 + own + own * r) / x
        primal[1, n] = -(1.0 + b + b * r) / y
        primal[2, n] = r / w


def reach(a, dual, s, ds, longest):
    """The largest t up to `longest`, to a small share of it, for which all s + t ds are in the interior of the cones, or of the dual ones; -1 if 0 is
    not such a t. `holds` says of which cones."""
    found = longest
    for n in range(a.size):
        least = -1.0
        most = found
        at = found
        for _ in range(HALVINGS):
            if holds(a[n], dual, s[0, n] + at * ds[0, n], s[1, n] + at * ds[1, n], s[2, n] + at * ds[2, n]):
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
