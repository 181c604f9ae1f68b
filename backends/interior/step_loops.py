"""Kernels of a step of the embedding, all of whose vectors are passed through once (`run`)."""

from __future__ import annotations

import math

from fwdsl.backends.interior.cone_loops import within


def measure(v, z, s, tau, c, b, Pv, Av, Az, left, missed, sizes):
    """What the equations miss, P v + A'z + tau c into `left` and A v + s - tau b into `missed`; into `sizes` v'P v, <c, v>, <b, z>, <s, z>, |v|_1,
    and the largest sizes of numbers of `left`, A'z, `missed`, A v and s."""
    for k in range(sizes.size):
        sizes[k] = 0.0
    for i in range(v.size):
        sizes[0] += v[i] * Pv[i]
        sizes[1] += c[i] * v[i]
        sizes[4] += abs(v[i])
        value = Pv[i] + Az[i] + tau * c[i]
        left[i] = value
        sizes[5] = max(sizes[5], abs(value))
        sizes[6] = max(sizes[6], abs(Az[i]))
    for i in range(z.size):
        sizes[2] += b[i] * z[i]
        sizes[3] += s[i] * z[i]
        value = Av[i] + s[i] - tau * b[i]
        missed[i] = value
        sizes[7] = max(sizes[7], abs(value))
        sizes[8] = max(sizes[8], abs(Av[i]))
        sizes[9] = max(sizes[9], abs(s[i]))


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


def move(length, size, equations, linear, heads, v, z, s, dv, dz, ds, to_v, to_z, to_s):
    """The point that a step of this length leads to, divided by `size`, with s = 0 in the rows of equations; False where v has a number that is none,
    or the point is not in the interior of the symmetric cones."""
    total = 0.0
    for i in range(v.size):
        value = (v[i] + length * dv[i]) / size
        to_v[i] = value
        total += abs(value)
    for i in range(z.size):
        to_z[i] = (z[i] + length * dz[i]) / size
        to_s[i] = 0.0 if i < equations else (s[i] + length * ds[i]) / size
    return total < math.inf and within(equations, linear, heads, to_s) and within(equations, linear, heads, to_z)
