"""A function of a family: the same vector or matrix function on each of its blocks. A norm adds up, a set holds for each."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import field

import numpy as np

from ..light_dataclass import light_dataclass
from .base import Array, Face, VectorFunction
from .conic import Conic
from .inner import OfInner


def joined(names: Iterable[tuple[int, ...] | None]) -> tuple[int, ...] | None:
    """One name of several vertices, each after its length; None where one has none."""
    found: list[int] = []
    for name in names:
        if name is None:
            return None
        found += [len(name), *name]
    return tuple(found)


@light_dataclass
class Repeated(OfInner):
    """x = (x_1, ..., x_T) -> sum_t g(x_t)."""

    inner: VectorFunction
    count: int
    size: int = field(init=False)

    compiled = False
    prox_kernel = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", self.count * self.inner.size)

    def _blocks(self, x: Array) -> Array:
        return x.reshape(self.count, self.inner.size)

    def like(self, inner: VectorFunction) -> VectorFunction:
        return Repeated(inner, self.count)

    def radius(self) -> float:
        return math.sqrt(self.count) * self.inner.radius() if self.count else 0.0

    def describe(self) -> str:
        return f"{self.inner.describe()} for each of {self.count} blocks"

    def value(self, x: Array) -> float:
        return float(sum(self.inner.value(b) for b in self._blocks(x)))

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """The largest over blocks."""
        sizes = self.own_sizes(x) if sizes is None else sizes
        pairs = zip(self._blocks(x), self._blocks(sizes), strict=True)
        return max((self.inner.violation(b, s) for b, s in pairs), default=0.0)

    def rounding(self, v: Array) -> float:
        return max((self.inner.rounding(b) for b in self._blocks(v)), default=0.0)

    def blur(self, v: Array) -> float:
        return max((self.inner.blur(b) for b in self._blocks(v)), default=0.0)

    def prox(self, v: Array, t: float) -> Array:
        return np.concatenate([self.inner.prox(b, t) for b in self._blocks(v)]) if self.count else v.copy()

    def conjugate(self, v: Array) -> float:
        return float(sum(self.inner.conjugate(b) for b in self._blocks(v)))

    def dual_scale(self, v: Array) -> float:
        return min((self.inner.dual_scale(b) for b in self._blocks(v)), default=1.0)

    def dual_project(self, v: Array) -> Array:
        return np.concatenate([self.inner.dual_project(b) for b in self._blocks(v)]) if self.count else v.copy()

    def normal_part(self, x: Array, rest: Array) -> Array:
        pairs = zip(self._blocks(x), self._blocks(rest), strict=True)
        return np.concatenate([self.inner.normal_part(*pair) for pair in pairs]) if self.count else rest

    def coercive(self) -> tuple[float, str] | None:
        """sum_t c |x_t|_p >= c |x|_2 where the block's norm is at least the Euclidean one; nothing is claimed else."""
        found = self.inner.coercive()
        return (found[0], "l2") if found is not None and found[1] in ("linf", "l2", "spectral") else None

    def enclosing_box(self) -> tuple[Array, Array]:
        """The blocks', one after the other."""
        lo, hi = self.inner.enclosing_box()
        return np.tile(lo, self.count), np.tile(hi, self.count)

    def drawn_in(self, x: Array, distance: float) -> Array:
        return np.concatenate([self.inner.drawn_in(b, distance) for b in self._blocks(x)]) if self.count else x.copy()

    def into_recession(self, d: Array) -> Array:
        return np.concatenate([self.inner.into_recession(b) for b in self._blocks(d)]) if self.count else d.copy()

    def face(self, x: Array) -> Face | None:
        """The product of the blocks' faces."""
        faces = [self.inner.face(b) for b in self._blocks(x)]
        if not faces or any(f is None for f in faces):
            return None
        known = [f for f in faces if f is not None]
        free = np.concatenate([t * self.inner.size + f.free for t, f in enumerate(known)])
        normals = np.zeros((sum(f.normals.shape[0] for f in known), free.size))
        row = column = 0
        for f in known:
            normals[row : row + f.normals.shape[0], column : column + f.free.size] = f.normals
            row, column = row + f.normals.shape[0], column + f.free.size
        return Face(free, normals, np.concatenate([f.slope for f in known]))

    def lmo(self, c: Array) -> Array | None:
        vertices = [self.inner.lmo(b) for b in self._blocks(c)]
        return None if any(v is None for v in vertices) else np.concatenate([v for v in vertices if v is not None])

    def vertex_id(self, c: Array) -> tuple[int, ...] | None:
        return joined(self.inner.vertex_id(b) for b in self._blocks(c))

    def conic(self) -> Conic | None:
        inner = self.inner.conic()
        return None if inner is None else inner.repeated(np.arange(self.size).reshape(self.count, -1), self.size)

    def conic_limit(self) -> str:
        return self.inner.conic_limit()
