"""Loops over the samples of a binary support vector machine, compiled where they are used."""

import numpy as np

MOST_STEPS = 100
"""Newton steps of a search along a line: four to six do; what is left over goes to the caller with its rounding."""


def project(v, e, start, out):
    """out = argmin |a - v|^2 over a >= 0 with <e, a> = 0; returns the multiplier m: out_i = max(0, v_i - m e_i).

    h(m) = sum_i e_i max(0, v_i - m e_i) is piecewise linear and falls in m. Newton's method from `start` is kept inside a bracket of the root,
    for h is neither convex nor concave. Entries with e_i = 0 are cut at 0.
    """
    n = v.size
    m = start
    lo = -np.inf
    hi = np.inf
    for _ in range(MOST_STEPS):
        h = 0.0
        slope = 0.0
        size = 0.0
        for i in range(n):
            c = e[i]
            a = max(v[i] - m * c, 0.0)
            live = c if a > 0.0 else 0.0
            h += live * a
            size += abs(live) * a
            slope += live * live
        if abs(h) <= 2.3e-16 * size:
            break
        if h > 0.0:
            lo = m
        else:
            hi = m
        # h != 0 has an active entry, so that the slope is not 0
        new = m + h / slope
        if new == m:
            break
        if not lo < new < hi:
            if lo == -np.inf or hi == np.inf:
                lo, hi = ends(v, e, lo, hi)
            if not lo < new < hi:
                new = 0.5 * (lo + hi)
                if not lo < new < hi:
                    break
        m = new
    for i in range(n):
        out[i] = max(v[i] - m * e[i], 0.0)
    return m


def ends(v, e, lo, hi):
    """A bracket of the multiplier where one end is infinite: beyond the largest |v_i / e_i| one sign of e is cut off."""
    most = 0.0
    for i in range(v.size):
        if e[i] != 0.0:
            most = max(most, abs(v[i] / e[i]))
    most = 2.0 * most + 1.0
    return max(lo, -most), min(hi, most)


def intercept(z, y, w, c, start):
    """argmin over b of sum_i w_i max(0, 1 - y_i (z_i + b c_i))^2 for y_i = 1 or -1: Newton's method inside a bracket.

    The derivative rises in b and is piecewise linear. Where it is 0 on an interval, any point of it is returned.
    """
    n = z.size
    b = start
    lo = np.inf
    hi = -np.inf
    up = False
    down = False
    for i in range(n):
        if c[i] != 0.0 and w[i] > 0.0:
            at = (y[i] - z[i]) / c[i]
            lo = min(lo, at)
            hi = max(hi, at)
            if y[i] * c[i] > 0.0:
                up = True
            else:
                down = True
    if not up or not down:
        # one class only: nothing speaks against an intercept that meets every margin
        return hi if up else lo if down else 0.0
    if not lo <= b <= hi:
        b = 0.5 * (lo + hi)
    for _ in range(MOST_STEPS):
        slope = 0.0
        curvature = 0.0
        size = 0.0
        for i in range(n):
            r = max(1.0 - y[i] * (z[i] + b * c[i]), 0.0)
            live = w[i] * c[i] if r > 0.0 else 0.0
            slope -= live * y[i] * r
            size += abs(live) * r
            curvature += live * c[i]
        if abs(slope) <= 2.3e-16 * size:
            break
        if slope > 0.0:
            hi = b
        else:
            lo = b
        new = b - slope / curvature
        if new == b:
            break
        if not lo < new < hi:
            new = 0.5 * (lo + hi)
            if not lo < new < hi:
                break
        b = new
    return b


def squared_hinges(z, y, w, c, b):
    """sum_i w_i max(0, 1 - y_i (z_i + b c_i))^2."""
    total = 0.0
    for i in range(z.size):
        r = max(1.0 - y[i] * (z[i] + b * c[i]), 0.0)
        total += w[i] * r * r
    return total


def gradient_step(t, t_old, z, z_old, y, s, beta, scale, at, gradient, target):
    """The point `at` = t + beta (t - t_old), its gradient t - s (1 - y z) there, and `target` = at - gradient / scale."""
    for i in range(t.size):
        p = t[i] + beta * (t[i] - t_old[i])
        zi = z[i] + beta * (z[i] - z_old[i])
        g = p - s[i] * (1.0 - y[i] * zi)
        at[i] = p
        gradient[i] = g
        target[i] = p - g / scale


def step_products(new, at, old, y, s, u):
    """(|new - at|^2, <at - new, new - old>), and u = -y s new."""
    # sums stand apart from what is stored: where arrays lie next to each other the compiler takes such a loop entry by entry, and rounds otherwise
    square = 0.0
    turn = 0.0
    for i in range(new.size):
        d = new[i] - at[i]
        square += d * d
        turn -= d * (new[i] - old[i])
    for i in range(new.size):
        u[i] = -y[i] * s[i] * new[i]
    return square, turn


def dual_value(t, s, y, offset):
    """sum_i s_i t_i (1 - y_i offset_i) - t_i^2 / 2."""
    total = 0.0
    for i in range(t.size):
        total += t[i] * (s[i] * (1.0 - y[i] * offset[i]) - 0.5 * t[i])
    return total
