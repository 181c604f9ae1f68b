"""The kernels of the proxes along lines."""

from __future__ import annotations

import math

import numpy as np


def line_prox(v, w, lo, hi, t, x, u):
    """Kernel: argmin_x sum_i w_i (x_i - v_i)^2 / 2 + t sum_e h_e(x_{e+1} - x_e) into x, and its multipliers t lo <= u <= t hi into u.

    h_e(d) = sup of s d over lo_e <= s <= hi_e, lo_e <= 0 <= hi_e, infinite ends allowed: the total variation has +-c, an order of the entries an end
    of 0 and an infinite one. The conditions of the optimum are w_i (x_i - v_i) = u_i - u_{i-1}.

    By dynamic programming (Johnson 2013): the derivative of the least cost of the entries before an edge, as a function of the last one, is piecewise
    linear and increasing; the edge cuts it at t lo and t hi. Knots are added and taken away at both ends alone, so the work is O(n). The second part
    computes each level anew from the mean of its own entries, so that rounding does not add up along the line.
    """
    n = v.size
    if n == 0:
        return
    center = 0.0
    for i in range(n):
        center += v[i] * (1.0 / n)
    knot = np.empty(2 * n)
    da = np.empty(2 * n)
    db = np.empty(2 * n)
    low = np.empty(n)
    high = np.empty(n)
    first = n
    last = n - 1
    la = w[0]
    lb = -w[0] * (v[0] - center)
    ra = la
    rb = lb
    for k in range(n - 1):
        below = t * lo[k] if math.isfinite(lo[k]) else lo[k]
        above = t * hi[k] if math.isfinite(hi[k]) else hi[k]
        low[k] = -math.inf
        high[k] = math.inf
        if below > -math.inf:
            while first <= last and la * knot[first] + lb < below:
                la += da[first]
                lb += db[first]
                first += 1
            if first > last:
                la = ra
                lb = rb
            if la > 0.0:
                low[k] = (below - lb) / la
        if above < math.inf:
            while first <= last and ra * knot[last] + rb > above:
                ra -= da[last]
                rb -= db[last]
                last -= 1
            if first > last:
                ra = la
                rb = lb
            if ra > 0.0:
                high[k] = max(low[k], (above - rb) / ra)
        if low[k] > -math.inf:
            first -= 1
            knot[first] = low[k]
            da[first] = la
            db[first] = lb - below
            la = 0.0
            lb = below
        if high[k] < math.inf:
            last += 1
            knot[last] = high[k]
            da[last] = -ra
            db[last] = above - rb
            ra = 0.0
            rb = above
        step = w[k + 1] * (v[k + 1] - center)
        la += w[k + 1]
        lb -= step
        ra += w[k + 1]
        rb -= step
    while first <= last and la * knot[first] + lb < 0.0:
        la += da[first]
        lb += db[first]
        first += 1
    if la > 0.0:
        x[n - 1] = -lb / la
    else:
        x[n - 1] = knot[first] if first <= last else 0.0
    # 0 where both ends are of one level, else the sign of the jump
    jump = np.zeros(n, dtype=np.int8)
    for k in range(n - 2, -1, -1):
        if x[k + 1] > high[k]:
            x[k] = high[k]
            jump[k] = 1
        elif x[k + 1] < low[k]:
            x[k] = low[k]
            jump[k] = -1
        else:
            x[k] = x[k + 1]
    start = 0
    left = 0.0
    while start < n:
        stop = start
        while stop < n - 1 and jump[stop] == 0:
            stop += 1
        right = 0.0
        if stop < n - 1:
            end = hi[stop] if jump[stop] > 0 else lo[stop]
            right = t * end
        level = x[start]
        total = 0.0
        carry = 0.0
        mass = 0.0
        for i in range(start, stop + 1):
            mass += w[i]
            part = w[i] * (v[i] - center - level) - carry
            grown = total + part
            carry = (grown - total) - part
            total = grown
        if mass > 0.0:
            level += (total + (right - left)) / mass
        if start > 0:
            before = x[start - 1]
            level = max(level, before) if jump[start - 1] > 0 else min(level, before)
        total = left
        carry = 0.0
        for i in range(start, stop + 1):
            x[i] = level
            if i < n - 1:
                part = w[i] * (level - (v[i] - center)) - carry
                grown = total + part
                carry = (grown - total) - part
                total = grown
                below = t * lo[i] if math.isfinite(lo[i]) else lo[i]
                above = t * hi[i] if math.isfinite(hi[i]) else hi[i]
                u[i] = right if i == stop else max(below, min(above, total))
        left = right
        start = stop + 1
    for i in range(n):
        x[i] += center


def order_prox(v, w, sign, lo, hi, x, u):
    """Kernel: `line_prox` where the steps are ordered, sign (x_{e+1} - x_e) >= 0, or none of a function's (both ends 0): weights are positive.

    Neighbours against the order are pooled at their mean (pool adjacent violators, Kruskal 1964). `x` keeps the means of the levels while these
    are found, each at the place of its number. The second part computes each mean anew from what the level's entries miss it by.
    """
    n = v.size
    if n == 0:
        return
    center = 0.0
    for i in range(n):
        center += v[i] * (1.0 / n)
    ends = np.empty(n, dtype=np.int64)
    masses = np.empty(n)
    count = 0
    first = 0  # the number of the first level of the line
    i = 0
    while i < n:
        mean = sign * (v[i] - center)
        mass = w[i]
        i += 1
        while True:
            # entries below the mean are of the level whatever comes before it
            while i < n and hi[i - 1] != lo[i - 1] and sign * (v[i] - center) <= mean:
                grown = mass + w[i]
                mean += (sign * (v[i] - center) - mean) * (w[i] / grown)
                mass = grown
                i += 1
            if count == first or x[count - 1] < mean:
                break
            count -= 1
            grown = mass + masses[count]
            mean += (x[count] - mean) * (masses[count] / grown)
            mass = grown
        x[count] = mean
        masses[count] = mass
        ends[count] = i
        count += 1
        if i < n and hi[i - 1] == lo[i - 1]:
            first = count
    # the levels from the last one on: their places in x are not before their numbers
    for k in range(count - 1, -1, -1):
        start = ends[k - 1] if k > 0 else 0
        stop = ends[k]
        level = sign * x[k]
        missed = 0.0
        for i in range(start, stop):
            missed += w[i] * ((v[i] - center) - level)
        level += missed / masses[k]
        total = 0.0
        for i in range(start, stop - 1):
            x[i] = level
            total += w[i] * (level - (v[i] - center))
            u[i] = max(lo[i], min(hi[i], total))
        x[stop - 1] = level
        if stop < n:
            u[stop - 1] = 0.0
    for i in range(1, n):
        # levels that are apart by rounding alone keep their order
        if hi[i - 1] != lo[i - 1] and sign * (x[i] - x[i - 1]) < 0.0:
            x[i] = x[i - 1]
    for i in range(n):
        x[i] += center
