"""The affine set {x : A x = b}, for A small enough to factor: projection v - Q'Q v + x0, Q an orthonormal basis of the rows, x0 the least solution.

Support function <x0, v> for v in the space of the rows, inf elsewhere. What counts as in the space, as satisfied and as rank is told to rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base import Array, Face, MatrixLike
from ..conic import Cone, Conic, entries
from .common import ConvexSet, face, largest_share, norm2

EPS = float(np.finfo(np.float64).eps)

CONSISTENT = 1e-9
"""An equation missed by more than this share of its terms by the least-squares solution has no solution."""


def affine_kernel(v, t, out, q, x0):
    """Kernel: v less its part in the rows' space, plus the least solution."""
    for i in range(v.size):
        out[i] = v[i] + x0[i]
    for k in range(q.shape[0]):
        share = 0.0
        for i in range(v.size):
            share += q[k, i] * v[i]
        for i in range(v.size):
            out[i] -= share * q[k, i]


@dataclass(frozen=True, eq=False, repr=False)
class Affine(ConvexSet):
    """`affine(A, b)`; A dense or sparse (m, d), b a vector or a number. Raises `ValueError` where no x satisfies it."""

    size: int
    A: MatrixLike
    b: Any
    q: Array = field(init=False)
    x0: Array = field(init=False)

    pair = (None, "affine")
    polyhedral = True
    prox_kernel = staticmethod(affine_kernel)

    def __post_init__(self) -> None:
        dense = self.A.toarray() if hasattr(self.A, "toarray") else self.A
        a = np.ascontiguousarray(np.asarray(dense, dtype=np.float64).reshape((-1, self.size) if self.size else (0, 0)))
        b = np.ascontiguousarray(np.broadcast_to(np.asarray(self.b, dtype=np.float64), (a.shape[0],)))
        if not (np.all(np.isfinite(a)) and np.all(np.isfinite(b))):
            raise ValueError("an affine set needs finite numbers")
        u, s, vt = np.linalg.svd(a, full_matrices=False)
        rank = int((s > max(a.shape, default=0) * EPS * s.max(initial=0.0)).sum())
        q = np.ascontiguousarray(vt[:rank])
        x0 = ((u[:, :rank].T @ b) / s[:rank]) @ q if rank else np.zeros(self.size)
        miss = np.abs(a @ x0 - b)
        if np.any(miss > CONSISTENT * (np.abs(a) @ np.abs(x0) + np.abs(b))):
            raise ValueError("no x has A x = b: the equations contradict each other")
        for name, value in (("A", a), ("b", b), ("q", q), ("x0", x0)):
            object.__setattr__(self, name, value)

    @property
    def _point(self) -> bool:
        return bool(self.q.shape[0] == self.size)

    def radius(self) -> float:
        return norm2(self.x0) if self._point else math.inf

    def diameter(self) -> float:
        return 0.0 if self._point else math.inf

    def describe(self) -> str:
        return "affine(A, b)"

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """A x = b: the largest miss of a row, relative to the sum of the sizes of its terms."""
        left = np.abs(self.A) @ (np.abs(x) if sizes is None else sizes)
        return largest_share(np.abs(self.A @ x - self.b), left + np.abs(self.b))

    def prox(self, v: Array, t: float) -> Array:
        return (v - self._part(v)) + self.x0

    def _part(self, v: Array) -> Array:
        """The projection on the rows' space, twice for its rounding."""
        part: Array = self.q.T @ (self.q @ v)
        return part + self.q.T @ (self.q @ (v - part))

    def _inside(self, v: Array) -> bool:
        return bool(norm2(v - self._part(v)) <= (8 + self.size) * EPS * norm2(v))

    def conjugate(self, v: Array) -> float:
        return float((self.x0 * v).sum()) if self._inside(v) else math.inf

    def dual_scale(self, v: Array) -> float:
        return 1.0 if self._inside(v) else 0.0

    def dual_project(self, v: Array) -> Array:
        """The part in the rows' space."""
        if self._inside(v):
            return v.copy()
        part = self._part(v)
        # of a vector across the rows only rounding is left, which is not in their space
        return part if self._inside(part) else np.zeros_like(v)

    def lmo(self, c: Array) -> Array | None:
        return self.x0.copy() if self._point else None

    def vertex_id(self, c: Array) -> tuple[int, ...] | None:
        return () if self._point else None

    def face(self, x: Array) -> Face:
        """Everything moves across the rows."""
        return face(np.arange(self.size), normals=self.q.copy())

    def conic(self) -> Conic:
        """Q x = Q x0: as many equations as A has rows that say something new."""
        count = self.q.shape[0]
        row, column = np.nonzero(self.q)
        return Conic(
            self.size,
            of_z=entries(row, column, self.q[row, column]),
            offset=-(self.q @ self.x0),
            cones=(Cone("zero", count),) if count else (),
        )

    def kernel_args(self) -> tuple[object, ...]:
        return self.q, self.x0
