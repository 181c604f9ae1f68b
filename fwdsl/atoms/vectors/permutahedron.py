"""The permutahedron, the hull of the permutations of c: x with the sum of its j largest entries at most that of c, for all j, and equal sums.

Support function <c, v>, both sorted; the LMO gives the largest c to the smallest cost. Projection (Lim and Wright 2016): with v and c sorted
downwards, x = v - y, y the nonincreasing fit to v - c, by pooling adjacent violators.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base import Array, Face
from ..conic import Cone, Conic, entries, joined, transport_form
from .common import INSIDE, ConvexSet, face, falling_order, largest_share, nonincreasing, norm2

MOST_SHARES = 10_000
"""Shares that a conic form writes down: entries times different numbers of c."""


def permutahedron_kernel(v, t, out, c):
    """Kernel: the projection; c is sorted downwards. Means of v are kept relative to the first of a block, where v is large."""
    n = v.size
    order = falling_order(v)
    first = np.empty(n, np.int64)
    mean_v = np.empty(n)
    mean_c = np.empty(n)
    count = 0
    for i in range(n):
        first[count] = i
        mean_v[count] = 0.0
        mean_c[count] = c[i]
        count += 1
        while count > 1:
            a, b = first[count - 2], first[count - 1]
            step = v[order[b]] - v[order[a]]
            # the levels y of the two blocks, less v at the first of the first
            if mean_v[count - 2] - mean_c[count - 2] > step + mean_v[count - 1] - mean_c[count - 1]:
                break
            share = (i + 1 - b) / (i + 1 - a)
            mean_v[count - 2] += share * (step + mean_v[count - 1] - mean_v[count - 2])
            mean_c[count - 2] += share * (mean_c[count - 1] - mean_c[count - 2])
            count -= 1
    for g in range(count):
        end = first[g + 1] if g + 1 < count else n
        for i in range(first[g], end):
            out[order[i]] = mean_c[g] + ((v[order[i]] - v[order[first[g]]]) - mean_v[g])


@dataclass(frozen=True, eq=False, repr=False)
class Permutahedron(ConvexSet):
    """`permutahedron(c)`; c is kept sorted downwards."""

    size: int
    c: Array

    pair = (None, "permutahedron")
    vectorised = False
    polyhedral = True
    prox_kernel = staticmethod(permutahedron_kernel)

    def __post_init__(self) -> None:
        c = np.sort(np.broadcast_to(np.asarray(self.c, dtype=np.float64), (self.size,)))[::-1]
        if not np.all(np.isfinite(c)):
            raise ValueError("a permutahedron needs finite numbers")
        object.__setattr__(self, "c", np.ascontiguousarray(c))

    def radius(self) -> float:
        return norm2(self.c)

    def diameter(self) -> float:
        """The distance from the vertex sorted downwards to the one sorted upwards."""
        return norm2(self.c - self.c[::-1])

    def describe(self) -> str:
        return "permutahedron(c)"

    def _sums(self, x: Array) -> tuple[NDArray[np.intp], Array, Array, Array]:
        """The order of x downwards, the sums of its largest entries, those of c, and the sizes of both."""
        order = np.argsort(-x, kind="stable")
        largest = x[order]
        return order, np.cumsum(largest), np.cumsum(self.c), np.cumsum(np.abs(largest)) + np.cumsum(np.abs(self.c))

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """The sum of the j largest entries at most that of c, and equal for all entries."""
        order, sums, most, both = self._sums(x)
        if sizes is not None:
            both = np.cumsum(sizes[order]) + np.cumsum(np.abs(self.c))
        return max(largest_share(sums - most, both), largest_share(most[-1:] - sums[-1:], both[-1:]))

    def prox(self, v: Array, t: float) -> Array:
        """v less the nonincreasing fit to v - c, both sorted downwards."""
        if not self.size:
            return v.copy()
        order = np.argsort(-v, kind="stable")
        fit = nonincreasing(v[order] - self.c)
        x = np.empty_like(v)
        x[order] = v[order] - fit
        return x

    def conjugate(self, v: Array) -> float:
        return float((self.c * np.sort(v)[::-1]).sum())

    def lmo(self, c: Array) -> Array:
        """The largest numbers at the smallest costs."""
        x = np.empty(self.size)
        x[np.argsort(c, kind="stable")] = self.c
        return x

    def vertex_id(self, c: Array) -> tuple[int, ...]:
        return tuple(np.argsort(c, kind="stable").tolist())

    def face(self, x: Array) -> Face:
        """Between two sums that reach those of c the entries move, keeping their sum."""
        order, sums, most, sizes = self._sums(x)
        ends = np.flatnonzero(most - sums <= (1.0 - INSIDE) * sizes) + 1
        blocks = [b for b in np.split(order, ends[:-1]) if b.size > 1] if self.size else []
        free = np.concatenate([np.zeros(0, dtype=np.intp), *blocks])
        normals = np.zeros((len(blocks), free.size))
        start = 0
        for row, block in zip(normals, blocks, strict=True):
            row[start : start + block.size] = 1.0
            start += block.size
        return face(free, normals=normals)

    def conic(self) -> Conic | None:
        """x = T v for the values v of c, T >= 0 with rows that sum to 1 and columns to the counts of the values; None where T is too large."""
        values, counts = np.unique(self.c, return_counts=True)
        n, m = self.size, values.size
        if n * m > MOST_SHARES:
            return None
        shares = transport_form(np.ones(n), counts.astype(np.float64))
        row, at = shares.offset.size + np.arange(n), np.arange(n * m)
        return Conic(
            n,
            n * m,
            of_z=entries(row, np.arange(n), 1.0),
            of_u=joined([shares.of_z, entries(row[at // m], at, -values[at % m])]) if n else shares.of_z,
            offset=np.append(shares.offset, np.zeros(n)),
            cones=(*shares.cones, Cone("zero", n)) if n else (),
        )

    def conic_limit(self) -> str:
        return f"{self.size * np.unique(self.c).size:,} unknowns, over {MOST_SHARES:,}"

    def kernel_args(self) -> tuple[object, ...]:
        return (self.c,)
