"""exp, log, log1p and sums for kernels, in parts that LLVM inlines and vectorises: a fifth of the time of those in `math`, which it calls one by one.

exp(x) = 2^k exp(r) for |x| <= 708, with k the integer nearest to x log2(e) and |r| <= log(2) / 2. A loop calls `shifted`, one `remainder` and
`taylor`, and one more takes 2^k from the low bits: `bits[j] = (bits[j] << 52) + (1023 << 52)`. An ulp or two off.

log(x) = k log(2) + log(m) for normal x > 0, with x = 2^k m and m in [sqrt(1/2), sqrt(2)]. One loop finds k + 1023 in x's bits as
unsigned integers, `(bits[j] + (1023 << 52) - HALF) >> 52`, and takes it out of them; one calls `log_of`.

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
