"""exp, log, log1p and sums for kernels, in parts that LLVM inlines and vectorises: a fifth of the time of those in `math`, which it calls one by one.

exp(x) = 2^k exp(r) for |x| <= 708, with k the integer nearest to x log2(e) and |r| <= log(2) / 2. A loop calls `shifted`, one `remainder` and
`taylor`, and one more takes 2^k from the low bits: `bits[j] = (bits[j] << 52) + (1023 << 52)`. An ulp or two off.

log(x) = k log(2) + log(m) for normal x > 0, with x = 2^k m and m in [sqrt(1/2), sqrt(2)]. One loop finds k + 1023 in x's bits as
unsigned integers, `(bits[j] + (1023 << 52) - HALF) >> 52`, and takes it out of them; one calls `log_of`.

`root_of_power`, `positive_root` and `rising_root` are for kernels: the equations of proxes of powers and of the Tweedie loss.

`wright` is for kernels, `omega` for references, slow and obvious.
"""

import math

import numpy as np

from .base import Array


def shifted(x):
    """1.5 2^52 + k, whose low bits are k."""
    return 6755399441055744.0 + 1.4426950408889634 * x


def remainder(x, s):
    """r = x - k log(2), given s = shifted(x). The two halves of log(2) are multiplied apart, so it is never compiled with reordering."""
    k = s - 6755399441055744.0
    return (x - k * 0.6931471803691238) - k * 1.9082149292705877e-10


def taylor(r):
    """exp(r) for |r| <= log(2) / 2, by its Taylor polynomial of degree 12."""
    e = r * (1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r / 479001600)))))
    return 1.0 + r * (1.0 + r * (0.5 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720 + e))))))


def log1p(e):
    """log(1 + e) for 0 <= e <= 1: 2 atanh(s) with s = e / (2 + e) <= 1/3, by its series in s^2."""
    s = e / (2.0 + e)
    u = s * s
    t = 1 / 17 + u * (1 / 19 + u * (1 / 21 + u * (1 / 23 + u * (1 / 25 + u * (1 / 27 + u * (1 / 29 + u / 31))))))
    t = 1 / 5 + u * (1 / 7 + u * (1 / 9 + u * (1 / 11 + u * (1 / 13 + u * (1 / 15 + u * t)))))
    return 2.0 * s * (1.0 + u * (1 / 3 + u * t))


HALF = 0x3FE6A09E667F3BCD
"""The bits of sqrt(1/2)."""


def log_of(m, k):
    """k log(2) + log(m) for m in [sqrt(1/2), sqrt(2)]: log(m) is 2 atanh(s) with s = (m - 1) / (m + 1), by its series in s^2 <= 0.03."""
    s = (m - 1.0) / (m + 1.0)
    u = s * s
    t = 1 / 11 + u * (1 / 13 + u * (1 / 15 + u * (1 / 17 + u * (1 / 19 + u / 21))))
    t = 1 / 3 + u * (1 / 5 + u * (1 / 7 + u * (1 / 9 + u * t)))
    return k * 0.6931471805599453 + 2.0 * s * (1.0 + u * t)


def added(x):
    """The sum of a vector by four sums side by side, always the same ones."""
    n = x.size
    s0 = s1 = s2 = s3 = 0.0
    for j in range(0, n - n % 4, 4):
        s0 += x[j]
        s1 += x[j + 1]
        s2 += x[j + 2]
        s3 += x[j + 3]
    for j in range(n - n % 4, n):
        s0 += x[j]
    return (s0 + s1) + (s2 + s3)


def wright(x):
    """The omega > 0 with omega + log omega = x, by the iteration of Fritsch, Shafer and Crowley (1973); exp(x) to rounding below -40."""
    if x < -40.0:
        return math.exp(x)
    w = x - math.log(x) if x > 2.0 else (0.567 + 0.362 * x if x > -1.0 else math.exp(x))
    for _ in range(20):
        r = x - w - math.log(w)
        if abs(r) <= 4e-16 * (1.0 + abs(x)):
            break
        g = 1.0 + w
        h = 2.0 * g * (g + 2.0 * r / 3.0)
        new = w * (1.0 + (r / g) * (h - r) / (h - 2.0 * r))
        w = new if new > 0.0 else 0.5 * w
    return w


def root_of_power(v, a, p):
    """The root z > 0 of z + a z^(p - 1) = v for v, a > 0 and p > 1: monotone Newton from the right, on z for p >= 2, on s = z^(p - 1) below."""
    k = p - 1.0
    log_v, log_a = math.log(v), math.log(a)
    if p >= 2.0:
        z = math.exp(min(log_v, (log_v - log_a) / k))
        for _ in range(100):
            y = a * math.exp(k * math.log(z))
            step = (z + y - v) / (1.0 + k * y / z)
            if not step > 2e-16 * z:
                break
            z -= step
        return z
    s = math.exp(min(log_v - log_a, k * log_v))
    for _ in range(100):
        if s == 0.0:
            break
        z = math.exp(math.log(s) / k)
        step = (z + a * s - v) / (z / (k * s) + a)
        if not step > 2e-16 * s:
            break
        s -= step
    # what is left of v, which keeps its digits where z is nearly all of it
    z = v - a * s
    return z if z > 0.5 * v else math.exp(math.log(s) / k) if s > 0.0 else 0.0


def positive_root(v, c, m):
    """The root z > 0 of z - v = c z^(-m) for c, m > 0: Newton from the left for v >= 0, on logarithms from the right for v < 0."""
    log_c = math.log(c)
    if v >= 0.0:
        z = max(v, math.exp(log_c / (1.0 + m)))
        for _ in range(100):
            y = math.exp(log_c - m * math.log(z))
            step = (y - (z - v)) / (1.0 + m * y / z)
            if not step > 2e-16 * z:
                break
            z += step
        return z
    # log(exp(s) + |v|) + m s = log c in s = log z
    size = -v
    s = min(log_c / (1.0 + m), (log_c - math.log(size)) / m)
    for _ in range(100):
        z = math.exp(s)
        step = (math.log(z + size) + m * s - log_c) / (z / (z + size) + m)
        if not step > 2e-16 * (1.0 + abs(s)):
            break
        s -= step
    return math.exp(s)


def rising_root(v, t, b, a, linear):
    """The root of linear z + t (exp((1 - a) z) - b exp(-a z)) = v, 0 < a < 1, b >= 0, linear 0 or 1: Newton, halving where it leaves the bracket."""
    if linear > 0.0:
        # between v and the point where the rest is 0; for b = 0 the rest is positive
        other = math.log(b) if b > 0.0 else v - t * math.exp(min((1.0 - a) * v, 700.0))
        lo, hi = min(v, other), max(v, other)
    else:
        top, low = v / t + b, (1.0 - v / t) / b
        hi = math.log(top) / (1.0 - a) if top > 1.0 else 0.0
        lo = -math.log(low) / a if low > 1.0 else 0.0
        lo, hi = min(lo, hi), max(lo, hi)
    z = 0.5 * (lo + hi)
    for _ in range(200):
        up, down = t * math.exp((1.0 - a) * z), t * b * math.exp(-a * z) if b > 0.0 else 0.0
        f = linear * z + up - down - v
        if f > 0.0:
            hi = z
        else:
            lo = z
        slope = linear + (1.0 - a) * up + a * down
        new = z - f / slope
        if not (lo < new < hi):
            new = 0.5 * (lo + hi)
        if abs(new - z) <= 1e-16 * abs(z) or new in (lo, hi):
            z = new
            break
        z = new
    return z


def omega(x: Array) -> Array:
    """The omega > 0 with omega + log omega = x, by Newton for s = log omega on the convex s + exp(s) - x, monotone from above."""
    s = np.where(x > 1.0, np.log(np.maximum(x, 1.0)), x)
    for _ in range(60):
        e = np.exp(s)
        change = (s + e - x) / (1.0 + e)
        s = s - change
        if np.all(np.abs(change) <= 4e-16 * (1.0 + np.abs(s))):
            break
    return np.exp(s)
