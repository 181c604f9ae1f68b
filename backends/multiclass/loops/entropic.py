"""Steps in the entropic geometry, with logarithms kept: a simplex filled or not for U, one simplex a sample for V; and exp of an array."""

import math

import numpy as np

from fwdsl.atoms.elementary import remainder, shifted, taylor

PIECE = 512

NEAR = 0.34
"""Numbers up to it need no power of 2."""


def primal_logarithms(log_u, slope, a, out_log):
    """out_log = log_u - a slope on the first part of U, log_u + a slope on the second, of shape (parts, m)."""
    for p in range(log_u.shape[0]):
        sign = a if p == 0 else -a
        for j in range(log_u.shape[1]):
            out_log[p, j] = log_u[p, j] - sign * slope[j]


def primal_masses(out_log, peak, log_shrink, log_mass, exact, out):
    """exp(out_log) times min(shrink, mass / sum), or times mass / sum where `exact`, and its logarithm; `peak` is the largest of out_log."""
    parts, m = out_log.shape
    work = np.empty(PIECE)
    power = np.empty(PIECE)
    bits = power.view(np.int64)
    total = 0.0
    for p in range(parts):
        for first in range(0, m, PIECE):
            size = min(PIECE, m - first)
            to = out[p, first : first + size]
            for j in range(size):
                work[j] = out_log[p, first + j] - peak
            exponentials(work[:size], 1.0, math.inf, bits[:size], power[:size], to)
            part = 0.0
            for j in range(size):
                part += to[j]
            total += part
    full = log_mass - (peak + math.log(total))
    shift = full if exact else min(log_shrink, full)
    scale = math.exp(peak + shift)
    for p in range(parts):
        for j in range(m):
            out_log[p, j] += shift
            out[p, j] *= scale


def dual_step(log_v, z, a, share, margin, y, out_log, out):
    """out_i = the mirror step from exp(log_v_i): log v + a z, times `share`, less `margin` at the class, normalised.

    The multiclass hinge has margin a and share 1; softmax, whose entropy joins that of the step, share 1 / (1 + a) and no margin.
    """
    n, k = log_v.shape
    work = np.empty(k)
    power = np.empty(k)
    bits = power.view(np.int64)
    for i in range(n):
        peak = -math.inf
        for l in range(k):
            out_log[i, l] = (log_v[i, l] + a * z[i, l]) * share
        out_log[i, y[i]] -= margin
        for l in range(k):
            peak = max(peak, out_log[i, l])
        for l in range(k):
            work[l] = out_log[i, l] - peak
        exponentials(work, 1.0, math.inf, bits, power, out[i])
        total = 0.0
        for l in range(k):
            total += out[i, l]
        shift = peak + math.log(total)
        inverse = 1.0 / total
        for l in range(k):
            out_log[i, l] -= shift
            out[i, l] *= inverse


def multipliers(v, y, w, out):
    """out_i = w_i (v_i - e_{y_i}), the class's own entry as minus the sum of the others."""
    n, k = v.shape
    for i in range(n):
        for l in range(k):
            out[i, l] = w[i] * v[i, l]
        # a sum stands apart from what is stored: beside arrays that are its neighbours such a loop would round otherwise
        out[i, y[i]] = 0.0
        total = 0.0
        for l in range(k):
            total += out[i, l]
        out[i, y[i]] = -total


def divergence(a, log_a, log_b, b):
    """sum a log(a / b) - a + b."""
    total = 0.0
    for p in range(a.shape[0]):
        part = 0.0
        for j in range(a.shape[1]):
            part += a[p, j] * (log_a[p, j] - log_b[p, j]) - a[p, j] + b[p, j]
        total += part
    return total


def weighted_divergence(w, a, log_a, log_b):
    """sum_i w_i sum_l a_il log(a_il / b_il) for rows that sum to 1."""
    total = 0.0
    for i in range(a.shape[0]):
        part = 0.0
        for l in range(a.shape[1]):
            part += a[i, l] * (log_a[i, l] - log_b[i, l])
        total += w[i] * part
    return total


def exponentials(a, c, most, bits, power, out):
    """out = exp(c a), c a cut to [-700, 700] and at most `most` in size; `power` is work space of the same length and `bits` its view as integers.

    At a fifth of the time of `math.exp`, by the parts in `elementary`: call it compiled without reordering.
    """
    n = a.size
    if most <= NEAR:
        for j in range(n):
            out[j] = taylor(c * a[j])
        return
    for j in range(n):
        x = min(max(c * a[j], -700.0), 700.0)
        power[j] = shifted(x)
        out[j] = taylor(remainder(x, power[j]))
    for j in range(n):
        bits[j] = (bits[j] << 52) + (1023 << 52)
    for j in range(n):
        out[j] *= power[j]
