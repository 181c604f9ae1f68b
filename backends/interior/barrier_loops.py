"""The barriers of cones of three rows, and what steps make of them (`barriers`), cone by cone.

a[n] is the power of cone n, 0 of an exponential one; points and directions are the numbers of one cone after the other, three each. Exponential and
power cones have kernels of their own, as few programs have both.
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

CENTRED = 1e-7
"""mu mu~ - 1 up to which a point is on the central path for the scaling, which is the Hessian of the dual barrier there."""


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
        x = z[3 * n]
        y = z[3 * n + 1]
        w = z[3 * n + 2]
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
        x = s[3 * n]
        y = s[3 * n + 1]
        w = s[3 * n + 2]
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
        x = z[3 * n]
        y = z[3 * n + 1]
        w = z[3 * n + 2]
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
        x = s[3 * n]
        y = s[3 * n + 1]
        w = s[3 * n + 2]
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
            if holds(
                a[n],
                dual,
                s[3 * n] + at * ds[3 * n],
                s[3 * n + 1] + at * ds[3 * n + 1],
                s[3 * n + 2] + at * ds[3 * n + 2],
            ):
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


def cross(x, y, w, p, q, r):
    """The vector at right angles to (x, y, w) and (p, q, r), of length one; NaN where these are parallel."""
    a = y * r - w * q
    b = w * p - x * r
    c = x * q - y * p
    # where they are nearly parallel, rounding of their product is along them
    size = math.sqrt(a * a + b * b + c * c)
    a /= size
    b /= size
    c /= size
    share = (a * x + b * y + c * w) / (x * x + y * y + w * w)
    return a - share * x, b - share * y, c - share * w


def secants(i, j, k, s, z, primal, dual, own, back):
    """W by rows into `own` and W^-T into `back`, a cone after the other, as `barriers.scaling` says; the number of cones that are on the central
    path, of which the last row of W is NaN.

    (i, j, k) is the order of the unknowns in which R is a triangle; `primal` and `dual` are what the kernels of gradients leave. `right` is `cross`.
    """
    left = 0
    for n in range(s.size // 3):
        # all vectors are in the order of the triangle: that turns the sign of products at right angles, which are in both matrices
        x = s[3 * n + i]
        y = s[3 * n + j]
        w = s[3 * n + k]
        p = z[3 * n + i]
        q = z[3 * n + j]
        r = z[3 * n + k]
        fx = primal[i, n]
        fy = primal[j, n]
        fw = primal[k, n]
        gx = dual[i, n]
        gy = dual[j, n]
        gw = dual[k, n]
        ra = dual[3, n]
        rb = dual[4, n]
        rc = dual[5, n]
        rd = dual[6, n]
        re = dual[7, n]
        rf = dual[8, n]
        products = x * p + y * q + w * r
        mu = products / 3.0
        a = x + mu * gx
        b = y + mu * gy
        c = w + mu * gw
        d = p + mu * fx
        e = q + mu * fy
        f = r + mu * fw
        # H f'(s), and what H has along the vector at right angles to f*'(z) and to that
        first = ra * fx + rb * fy + rc * fw
        second = rd * fy + re * fw
        third = rc * first + re * second + rf * rf * fw
        u, v, h = right(gx, gy, gw, ra * first, rb * first + rd * second, third)
        first = ra * u + rb * v + rc * h
        second = rd * v + re * h
        third = rf * h
        ax, ay, aw = right(p, q, r, d, e, f)
        bx, by, bw = right(x, y, w, a, b, c)
        length = math.sqrt(mu * (first * first + second * second + third * third)) / abs(ax * u + ay * v + aw * h)
        share = length * (ax * bx + ay * by + aw * bw)
        root = math.sqrt(products)
        side = math.sqrt(a * d + b * e + c * f)
        apart = mu * (fx * gx + fy * gy + fw * gw) / 3.0 - 1.0
        if not (apart > CENTRED and abs(length + 1.0 / share + 1.0 / root + 1.0 / side) < math.inf):
            left += 1
            length = math.nan
        at = 9 * n
        for m in range(3):
            own[at + m] = s[3 * n + m] / root
            back[at + m] = z[3 * n + m] / root
            own[at + 3 + m] = (s[3 * n + m] + mu * dual[m, n]) / side
            back[at + 3 + m] = (z[3 * n + m] + mu * primal[m, n]) / side
        at += 6
        own[at + i] = length * ax
        own[at + j] = length * ay
        own[at + k] = length * aw
        back[at + i] = bx / share
        back[at + j] = by / share
        back[at + k] = bw / share
    return left


def exponential_bends(a, x, y, w, log, u, v, h, d, e, f):
    """The derivatives of the exponential cone's psi, three numbers each: its gradient, its second ones along (u, v, h) and along (d, e, f), its third
    ones along both, and half of those that the logarithms beside psi have."""
    share = x / w
    one = u / x
    two = h / w
    three = d / x
    four = f / w
    first = one * three
    last = two * four
    third = share * (one * four + two * three - 2.0 * last)
    one -= two
    three -= four
    return (
        -log,
        1.0,
        -share,
        one,
        0.0,
        -share * one,
        three,
        0.0,
        -share * three,
        last - first,
        0.0,
        third,
        first / x,
        0.0,
        last / w,
    )


def power_bends(a, x, y, w, root, u, v, h, d, e, f):
    """The same of the cone of power a."""
    first = 2.0 * a
    second = 2.0 - 2.0 * a
    own = first * root * root / x
    other = second * root * root / y
    less = first - 1.0
    rest = second - 1.0
    one = u / x
    two = v / y
    three = d / x
    four = e / y
    mixed = one * four + two * three
    a_u = own * (less * one + second * two)
    b_u = other * (first * one + rest * two)
    a_v = own * (less * three + second * four)
    b_v = other * (first * three + rest * four)
    one *= three
    two *= four
    three = less * one
    four = rest * two
    third = own * ((first - 2.0) * three + less * second * mixed + second * four)
    last = other * ((second - 2.0) * four + rest * first * mixed + first * three)
    return (
        own,
        other,
        -2.0 * w,
        a_u,
        b_u,
        -2.0 * h,
        a_v,
        b_v,
        -2.0 * f,
        third,
        last,
        0.0,
        (1.0 - a) * one / x,
        a * two / y,
        0.0,
    )


def centre(i, j, k, a, s, z, dual, ds, dz, mu):
    """Overwrite ds with s + mu f*'(z) - f*^(3)(z)[dz, H^-1 ds] / 2, of each cone. `bends` is that of the cones."""
    for n in range(a.size):
        at = 3 * n
        ra = dual[3, n]
        rb = dual[4, n]
        rc = dual[5, n]
        rd = dual[6, n]
        re = dual[7, n]
        rf = dual[8, n]
        first = ds[at + i] / ra
        second = (ds[at + j] - rb * first) / rd
        third = (ds[at + k] - rc * first - re * second) / rf / rf
        second = (second - re * third) / rd
        ds[at + i] = (first - rb * second - rc * third) / ra
        ds[at + j] = second
        ds[at + k] = third
        # H^-1 ds
        u = ds[at]
        v = ds[at + 1]
        h = ds[at + 2]
        d = dz[at]
        e = dz[at + 1]
        f = dz[at + 2]
        p, q, r, pu, qu, ru, pv, qv, rv, puv, quv, ruv, pl, ql, rl = bends(
            a[n], z[3 * n], z[3 * n + 1], z[3 * n + 2], dual[10, n], u, v, h, d, e, f
        )
        one = 1.0 / dual[9, n]
        along_u = (p * u + q * v + r * h) * one
        along_v = (p * d + q * e + r * f) * one
        along = (pv * u + qv * v + rv * h) * one - 2.0 * along_u * along_v
        ds[at] = s[3 * n] + mu * dual[0, n] - 0.5 * (along * p + along_u * pv + along_v * pu - puv) * one + pl
        ds[at + 1] = s[3 * n + 1] + mu * dual[1, n] - 0.5 * (along * q + along_u * qv + along_v * qu - quv) * one + ql
        ds[at + 2] = s[3 * n + 2] + mu * dual[2, n] - 0.5 * (along * r + along_u * rv + along_v * ru - ruv) * one + rl
