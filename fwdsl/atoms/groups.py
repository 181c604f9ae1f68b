"""Groups of entries that share none and leave none out: what the group norm and its ball are of.

Groups come as an index, one group number an entry, or as lists of positions. Overlapping ones are no partition: their norm is a sum
of norms of parts, each of which has a prox of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..light_dataclass import light_dataclass
from .arrays import Array
from .conic import Conic, lengths_form

Groups = Sequence[Sequence[int]] | NDArray[np.integer[Any]]


@light_dataclass
class Partition:
    """Group g holds the entries order[start[g] : start[g + 1]]; an empty `order` stands for 0, 1, 2, .... Weights are positive."""

    order: NDArray[np.intp]
    start: NDArray[np.intp]
    weights: Array
    listed: bool

    @property
    def count(self) -> int:
        return self.weights.size

    def gather(self, x: Array) -> Array:
        return x[self.order] if self.order.size else x

    def norms(self, x: Array) -> Array:
        """|x_g|_2 for each group g, scaled against overflow."""
        if not self.count:
            return np.zeros(0)
        sizes = np.abs(self.gather(x))
        peak = np.maximum.reduceat(sizes, self.start[:-1])
        relative = sizes / np.repeat(np.where(peak > 0.0, peak, 1.0), np.diff(self.start))
        found: Array = peak * np.sqrt(np.add.reduceat(np.square(relative), self.start[:-1]))
        return found

    def spread(self, values: Array) -> Array:
        """The value of its group for each entry."""
        repeated = np.repeat(values, np.diff(self.start))
        if not self.order.size:
            return repeated
        out = np.empty_like(repeated)
        out[self.order] = repeated
        return out

    def shrink(self, x: Array, lengths: Array) -> Array:
        """x with each group at a new length."""
        now = self.norms(x)
        share = np.divide(lengths, now, out=np.zeros_like(now), where=now > 0.0)
        return x * self.spread(share)

    def norm(self, x: Array) -> float:
        return float((self.weights * self.norms(x)).sum())

    def dual(self, v: Array) -> float:
        """max_g |v_g|_2 / w_g, dual to sum_g w_g |x_g|_2."""
        return float((self.norms(v) / self.weights).max(initial=0.0))

    def lengths(self, c: float) -> Conic:
        """The conic form of c sum_g w_g |x_g|_2."""
        order = self.order if self.order.size else np.arange(int(self.start[-1]))
        return lengths_form(order, self.start, c * self.weights, order.size)

    def describe(self) -> str:
        """`groups`, and `weights=weights` where they are not all 1."""
        return "groups" if np.all(self.weights == 1.0) else "groups, weights=weights"


def listed(groups: Groups) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The positions, group after group, and the size of each group; an index has as many groups as its largest number + 1."""
    if isinstance(groups, np.ndarray) and groups.ndim == 1:
        codes = groups.astype(np.intp)
        return np.argsort(codes, kind="stable"), np.bincount(codes)
    parts = [np.asarray(g, dtype=np.intp).reshape(-1) for g in groups]
    return np.concatenate([np.zeros(0, dtype=np.intp), *parts]), np.array([part.size for part in parts], dtype=np.intp)


def members(groups: Groups) -> list[NDArray[np.intp]]:
    """The positions of each group."""
    order, sizes = listed(groups)
    return np.split(order, np.cumsum(sizes)[:-1]) if sizes.size else []


def is_partition(groups: Groups, size: int) -> bool:
    """True if every entry of a vector of `size` is in exactly one group."""
    return _is_permutation(listed(groups)[0], size)


def _is_permutation(order: NDArray[np.intp], size: int) -> bool:
    return order.size == size and np.array_equal(np.sort(order), np.arange(size))


def partition(groups: Groups, weights: Any, size: int) -> Partition:
    """The groups of a vector of `size`, the empty ones left out.

    Raises `ValueError` where they overlap or leave an entry out, or where a weight is not positive.
    """
    order, sizes = listed(groups)
    if not _is_permutation(order, size):
        raise ValueError("groups with a joint prox hold every entry exactly once")
    w = np.ones(sizes.size) if weights is None else np.asarray(weights, dtype=np.float64).reshape(-1)
    if w.size < sizes.size:
        raise ValueError(f"{sizes.size} groups need as many weights, not {w.size}")
    full = np.flatnonzero(sizes)
    chosen = np.ascontiguousarray(w[full])
    if not (np.all(chosen > 0.0) and np.all(np.isfinite(chosen))):
        raise ValueError("the weights of groups must be positive and finite")
    start = np.concatenate([[0], np.cumsum(sizes[full])]).astype(np.intp)
    is_listed = bool(np.any(order != np.arange(size)))
    return Partition(order if is_listed else order[:0], start, chosen, is_listed)


def even(count: int, length: int) -> Partition:
    """`count` groups of `length` neighbours: the rows of a matrix in C order."""
    full = count if length else 0
    return Partition(np.zeros(0, dtype=np.intp), np.arange(full + 1, dtype=np.intp) * length, np.ones(full), False)


def project_weighted(lengths: Array, weights: Array, r: float) -> Array:
    """The projection of nonnegative lengths on {a >= 0 : sum w a <= r}: max(a - theta w, 0), theta by sorting the ratios a / w."""
    if float((weights * lengths).sum()) <= r:
        return lengths.copy()
    if r == 0.0:
        return np.zeros_like(lengths)
    ratio = lengths / weights
    order = np.argsort(-ratio, kind="stable")
    a, w = lengths[order], weights[order]
    theta = (np.cumsum(w * a) - r) / np.cumsum(w * w)
    least = float(theta.max())
    found: Array = np.maximum(lengths - least * weights, 0.0)
    total = float((weights * found).sum())
    return found * (r / total) if total > r else found


def groups_kernel(v, t, out, c, r, weights, start, order):
    """Kernel: the groups of v at lengths max(|v_g| - theta w_g, 0), for the least theta >= t c with sum_g w_g times them at most r."""
    count = weights.size
    listed = order.size > 0
    lengths = np.empty(count)
    total = 0.0
    theta = t * c
    for g in range(count):
        peak = 0.0
        for j in range(start[g], start[g + 1]):
            peak = max(peak, abs(v[order[j]] if listed else v[j]))
        squares = 0.0
        if peak > 0.0:
            for j in range(start[g], start[g + 1]):
                e = (v[order[j]] if listed else v[j]) / peak
                squares += e * e
        lengths[g] = peak * math.sqrt(squares)
        total += weights[g] * max(lengths[g] - theta * weights[g], 0.0)
    if total > r:
        # the sum is convex and decreasing in theta: Newton from the left is monotone, and ends when no group leaves
        kept = -1
        while True:
            mass = 0.0
            slope = 0.0
            above = 0
            for g in range(count):
                if lengths[g] > theta * weights[g]:
                    mass += weights[g] * lengths[g]
                    slope += weights[g] * weights[g]
                    above += 1
            if above == kept or above == 0:
                break
            kept = above
            theta = max(theta, (mass - r) / slope)
        total = 0.0
        for g in range(count):
            total += weights[g] * max(lengths[g] - theta * weights[g], 0.0)
    # the sum of rounded terms is put right
    right = r / total if total > r else 1.0
    for g in range(count):
        size = max(lengths[g] - theta * weights[g], 0.0) * right
        share = size / lengths[g] if size > 0.0 else 0.0
        for j in range(start[g], start[g + 1]):
            i = order[j] if listed else j
            out[i] = v[i] * share


def smallest(weights: Array) -> float:
    """The least weight, inf for no groups."""
    return float(weights.min(initial=math.inf))
