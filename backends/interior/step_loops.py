"""Kernels of a step of the embedding, all of whose vectors are passed through once (`run`)."""

from __future__ import annotations

import math


def measure(indptr, indices, data, v, z, s, tau, c, b, Pv, Av, Az, left, missed):
    """Add the products with a matrix by rows to A v and A'z, which have those with the others. The residuals P v + A'z + tau c go into `left` and
    A v + s - tau b into `missed`; v'P v, <c, v>, <b, z>, <s, z>, |v|_1, and the largest sizes of numbers of `left`, A'z, `missed`, A v and s."""
    for i in range(indptr.size - 1):
        value = Av[i]
        x = z[i]
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            entry = data[p]
            value += entry * v[j]
            Az[j] += entry * x
        Av[i] = value
    curved = 0.0
    along = 0.0
    total = 0.0
    first = 0.0
    second = 0.0
    for i in range(v.size):
        x = v[i]
        term = Pv[i]
        other = Az[i]
        price = c[i]
        curved += x * term
        along += price * x
        total += abs(x)
        value = term + other + tau * price
        left[i] = value
        size = abs(value)
        if size > first:
            first = size
        size = abs(other)
        if size > second:
            second = size
    bounds = 0.0
    products = 0.0
    third = 0.0
    fourth = 0.0
    fifth = 0.0
    for i in range(z.size):
        x = z[i]
        slack = s[i]
        term = Av[i]
        side = b[i]
        bounds += side * x
        products += slack * x
        value = term + slack - tau * side
        missed[i] = value
        size = abs(value)
        if size > third:
            third = size
        size = abs(term)
        if size > fourth:
            fourth = size
        size = abs(slack)
        if size > fifth:
            fifth = size
    return curved, along, bounds, products, total, first, second, third, fourth, fifth


def embed(share, middle, product, pivot, tau, kappa, slope, b, along_v, along_u, turned, v, u, s):
    """Make the answers v and u of the residuals' share and of `turned` the direction of the embedding, with W^-T ds into s; dtau and dkappa."""
    change = share * middle - product / tau
    for i in range(v.size):
        change += slope[i] * v[i]
    for i in range(u.size):
        change += b[i] * u[i]
    change /= pivot
    for i in range(v.size):
        v[i] += change * along_v[i]
    for i in range(u.size):
        u[i] += change * along_u[i]
        s[i] = -(turned[i] + u[i])
    return change, -(product + kappa * change) / tau


def move(length, size, equations, linear, v, z, s, dv, dz, ds, to_v, to_z, to_s):
    """The point that a step of this length leads to, divided by `size`, with s = 0 in the rows of equations; False where v has a number that is none,
    or a nonnegative row has none that is positive."""
    total = 0.0
    for i in range(v.size):
        value = (v[i] + length * dv[i]) / size
        to_v[i] = value
        total += abs(value)
    positive = True
    for i in range(z.size):
        value = (z[i] + length * dz[i]) / size
        slack = (s[i] + length * ds[i]) / size
        if i < equations:
            slack = 0.0
        elif i < linear and not (value > 0.0 and slack > 0.0):
            positive = False
        to_z[i] = value
        to_s[i] = slack
    return positive and total < math.inf
