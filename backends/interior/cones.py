"""Products of symmetric cones with the scaling of Nesterov and Todd: W z = W^-T s = lambda. `nonsymmetric` has the others.

Rows come in batches of equal cones. The zero cone has s = 0 and any z; of it W is 0, and nothing is asked of its entries of lambda.
Source: Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010, sections 4 to 5.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.cone_loops import apply, scale
from fwdsl.backends.interior.nonsymmetric import Nonsymmetric
from fwdsl.backends.interior.program import Batch
from fwdsl.backends.kernels.compile import Function, kernel


class Scaling(Protocol):
    """The scaling of one batch, at a point (s, z) of the interior. Vectors are the batch's rows; ds is W^-T ds, dz is W dz."""

    place: slice  # the rows of the batch
    symmetric: bool
    lam: Array  # W^-T s

    def w(self, v: Array) -> Array:
        """W v."""

    def wt(self, v: Array) -> Array:
        """W'v."""

    def inverse(self, v: Array) -> Array:
        """W^-1 v."""

    def inverse_t(self, v: Array) -> Array:
        """W^-T v."""

    def root(self) -> Array:
        """W^-T: its diagonal, or one matrix a cone."""

    def square(self) -> Array:
        """W'W: its diagonal, or one matrix a cone."""

    def rows(self, A: Array) -> Array:
        """W^-T A, of the batch's rows of a matrix without zeros."""

    def corrected(self, ds: Array, dz: Array, mu: float) -> Array:
        """The right-hand side -(W^-T ds + W dz) of a step that aims at products of mu, after a straight step ds, dz."""

    def reach(self, ds: Array, dz: Array, longest: float) -> float:
        """The largest t up to `longest` with s + t ds in the cones and z + t dz in the dual cones."""


class Symmetric(ABC):
    """Cones that are their own duals, at a point with W z = W^-T s = lambda: they have a product of vectors, and a unit e of it."""

    symmetric = True
    lam: Array

    def __init__(self, batch: Batch, s: Array, z: Array) -> None:
        self.batch, self.place = batch, slice(batch.start, batch.stop)

    @staticmethod
    @abstractmethod
    def unit(batch: Batch) -> Array:
        """e."""

    @staticmethod
    @abstractmethod
    def degree(batch: Batch) -> int:
        """<e, e>."""

    @staticmethod
    @abstractmethod
    def holds(batch: Batch, s: Array) -> bool:
        """True if s is in the interior of the cones."""

    @classmethod
    def inside(cls, batch: Batch, s: Array, z: Array) -> bool:
        """True if s is in the interior of the cones, and z in that of the dual ones, which are the same."""
        return cls.holds(batch, s) and cls.holds(batch, z)

    @staticmethod
    def central(batch: Batch, s: Array, z: Array, mu: float) -> bool:
        """True: no neighbourhood of the central path is asked for."""
        return True

    @staticmethod
    @abstractmethod
    def depth(batch: Batch, s: Array) -> float:
        """The largest t with s - t e in the cones."""

    @abstractmethod
    def w(self, v: Array) -> Array:
        """W v."""

    @abstractmethod
    def wt(self, v: Array) -> Array:
        """W'v."""

    @abstractmethod
    def inverse(self, v: Array) -> Array:
        """W^-1 v."""

    @abstractmethod
    def inverse_t(self, v: Array) -> Array:
        """W^-T v."""

    @abstractmethod
    def root(self) -> Array:
        """W^-T: its diagonal, or one matrix a cone."""

    @abstractmethod
    def square(self) -> Array:
        """W'W: its diagonal, or one matrix a cone."""

    def rows(self, A: Array) -> Array:
        """W^-T A, of the batch's rows of a matrix without zeros."""
        root = self.root()
        found: Array = (root @ A.reshape(*root.shape[:2], -1)).reshape(A.shape)
        return found

    @abstractmethod
    def corrected(self, ds: Array, dz: Array, mu: float) -> Array:
        """lambda + u with lambda o u = ds o dz - mu e."""

    @abstractmethod
    def reach(self, ds: Array, dz: Array, longest: float) -> float:
        """The largest t up to `longest` with lambda + t ds and lambda + t dz in the cones."""


class Orthant(Symmetric):
    """s, z >= 0: W = sqrt(s / z)."""

    def __init__(self, batch: Batch, s: Array, z: Array) -> None:
        super().__init__(batch, s, z)
        self.own = np.sqrt(s / z)
        self.lam = np.sqrt(s * z)

    @staticmethod
    def unit(batch: Batch) -> Array:
        return np.ones(batch.rows)

    @staticmethod
    def degree(batch: Batch) -> int:
        return batch.rows

    @staticmethod
    def holds(batch: Batch, s: Array) -> bool:
        return bool(s.min(initial=math.inf) > 0.0)

    @staticmethod
    def depth(batch: Batch, s: Array) -> float:
        """The least entry."""
        return float(s.min(initial=math.inf))

    def w(self, v: Array) -> Array:
        return self.own * v

    wt = w

    def inverse(self, v: Array) -> Array:
        return v / self.own

    inverse_t = inverse

    def root(self) -> Array:
        found: Array = 1.0 / self.own
        return found

    def square(self) -> Array:
        return self.own * self.own

    def rows(self, A: Array) -> Array:
        return A / self.own[:, None]

    def corrected(self, ds: Array, dz: Array, mu: float) -> Array:
        found: Array = self.lam + (ds * dz - mu) / self.lam
        return found

    def reach(self, ds: Array, dz: Array, longest: float) -> float:
        share = float((np.minimum(ds, dz) / self.lam).min(initial=0.0))
        return min(longest, -1.0 / share) if share < 0.0 else longest


class _Loops(NamedTuple):
    """The compiled kernels of second-order cones."""

    scale: Function
    apply: Function


@cache
def _loops() -> _Loops:
    return _Loops(*(kernel(f, reorder=True) for f in (scale, apply)))


def _gap(u: Array) -> Array:
    """u_0^2 - |u_1|^2 as a product, cone by cone."""
    length = np.sqrt(np.einsum("ij,ij->i", u[:, 1:], u[:, 1:]))
    found: Array = (u[:, 0] - length) * (u[:, 0] + length)
    return found


class SecondOrder(Symmetric):
    """|s_1| <= s_0: W = eta (2 w w' - J) with <w, J w> = 1, its root taken."""

    def __init__(self, batch: Batch, s: Array, z: Array) -> None:
        super().__init__(batch, s, z)
        self.shape = (batch.number, batch.rows)
        self.own, self.eta = np.empty(self.shape), np.empty(batch.number)
        _loops().scale(s.reshape(self.shape), z.reshape(self.shape), self.own, self.eta)
        self.lam = self.w(z)

    @staticmethod
    def unit(batch: Batch) -> Array:
        """(1, 0) in each cone."""
        e = np.zeros((batch.number, batch.rows))
        e[:, 0] = 1.0
        return e.reshape(-1)

    @staticmethod
    def degree(batch: Batch) -> int:
        return batch.number

    @staticmethod
    def holds(batch: Batch, s: Array) -> bool:
        u = s.reshape(batch.number, batch.rows)
        return bool(((_gap(u) > 0.0) & (u[:, 0] > 0.0)).all())

    @staticmethod
    def depth(batch: Batch, s: Array) -> float:
        """The least s_0 - |s_1|."""
        u = s.reshape(batch.number, batch.rows)
        return float((u[:, 0] - np.sqrt(np.einsum("ij,ij->i", u[:, 1:], u[:, 1:]))).min(initial=math.inf))

    def w(self, v: Array) -> Array:
        out = np.empty(self.shape)
        _loops().apply(self.own, self.eta, v.reshape(self.shape), 1.0, out)
        return out.reshape(-1)

    wt = w

    def inverse(self, v: Array) -> Array:
        out = np.empty(self.shape)
        _loops().apply(self.own, self.eta, v.reshape(self.shape), -1.0, out)
        return out.reshape(-1)

    inverse_t = inverse

    def root(self) -> Array:
        head, tail = self.own[:, 0], self.own[:, 1:]
        found = np.empty((*self.shape, self.shape[1]))
        found[:, 0, 0] = head
        found[:, 0, 1:] = found[:, 1:, 0] = -tail
        found[:, 1:, 1:] = tail[:, :, None] * tail[:, None, :] / (1.0 + head)[:, None, None]
        at = np.arange(1, self.shape[1])
        found[:, at, at] += 1.0
        found /= self.eta[:, None, None]
        return found

    def square(self) -> Array:
        found = 2.0 * self.own[:, :, None] * self.own[:, None, :]
        at = np.arange(self.shape[1])
        found[:, at, at] += np.where(at == 0, -1.0, 1.0)
        found *= (self.eta * self.eta)[:, None, None]
        return np.asarray(found)

    def split_square(self) -> tuple[Array, Array, Array]:
        """d, u and w with W'W = diag(d, eta^2, eta^2, ..) + u u' - w w' and diag(d, eta^2, ..) - w w' positive definite, cone by cone (Domahidi, Chu,
        Boyd, "ECOS", 2013, section III-B)."""
        a, tail = self.own[:, 0], self.own[:, 1:]
        length = np.einsum("ij,ij->i", tail, tail)
        alpha, beta = 1.0 + a + length / (1.0 + a), 1.0 + 2.0 / (1.0 + a) + length / (1.0 + a) ** 2
        d = 0.5 * (a * a + length * (1.0 - alpha * alpha / (1.0 + length * beta)))
        head = np.sqrt(a * a + length - d)
        of_u = alpha / head
        of_w = np.sqrt(of_u * of_u - beta)
        u, w = np.empty(self.shape), np.zeros(self.shape)
        u[:, 0] = self.eta * head
        np.multiply((self.eta * of_u)[:, None], tail, out=u[:, 1:])
        np.multiply((self.eta * of_w)[:, None], tail, out=w[:, 1:])
        return d * self.eta * self.eta, u, w

    def rows(self, A: Array) -> Array:
        # one product with each row in place of one with each number of a matrix
        a = A.reshape(*self.shape, -1)
        head, tail = self.own[:, :1], self.own[:, 1:]
        along = np.matmul(tail[:, None, :], a[:, 1:])[:, 0]
        out = np.empty_like(a)
        out[:, 0] = head * a[:, 0] - along
        out[:, 1:] = a[:, 1:] + tail[:, :, None] * (along / (1.0 + head) - a[:, 0])[:, None, :]
        out /= self.eta[:, None, None]
        return out.reshape(A.shape)

    @cached_property
    def _boost(self) -> tuple[Array, Array]:
        """w and eta of the W that takes the unit to lambda."""
        lam = self.lam.reshape(self.shape)
        size = np.sqrt(_gap(lam))
        return lam / size[:, None], size

    def corrected(self, ds: Array, dz: Array, mu: float) -> Array:
        lam, s, z = self.lam.reshape(self.shape), ds.reshape(self.shape), dz.reshape(self.shape)
        size = self._boost[1]
        out = np.empty(self.shape)
        tail, rest = out[:, 1:], lam[:, 1:]
        np.multiply(s[:, :1], z[:, 1:], out=tail)
        tail += z[:, :1] * s[:, 1:]
        head = np.einsum("ij,ij->i", s, z) - mu
        out[:, 0] = (lam[:, 0] * head - np.einsum("ij,ij->i", rest, tail)) / (size * size)
        tail -= out[:, :1] * rest
        tail /= lam[:, :1]
        out += lam
        return out.reshape(-1)

    def reach(self, ds: Array, dz: Array, longest: float) -> float:
        # the boost that takes lambda back to a multiple of the unit leaves the ways to the boundary as they are
        unit, size = self._boost
        out, loop = np.empty(self.shape), _loops().apply
        share = max(loop(unit, size, v.reshape(self.shape), -1.0, out) for v in (ds, dz))
        return min(longest, 1.0 / share) if share > 0.0 else longest


class Semidefinite(Symmetric):
    """S, Z positive definite: W z = R' Z R with R' Z R = R^-1 S R^-T diagonal."""

    def __init__(self, batch: Batch, s: Array, z: Array) -> None:
        super().__init__(batch, s, z)
        self.count, self.order = batch.number, order_of(batch.rows)
        left, right = np.linalg.cholesky(self._matrices(s)), np.linalg.cholesky(self._matrices(z))
        u, values, vt = np.linalg.svd(right.transpose(0, 2, 1) @ left)
        root = np.sqrt(values)
        self.values = values
        self.R = left @ vt.transpose(0, 2, 1) / root[:, None, :]
        self.back = (u.transpose(0, 2, 1) @ right.transpose(0, 2, 1)) / root[:, :, None]
        self.lam = self._vector(values[:, :, None] * np.eye(self.order))

    @staticmethod
    def unit(batch: Batch) -> Array:
        """The identity in each cone."""
        i, j, _ = upper(order_of(batch.rows))
        return np.tile((i == j).astype(float), batch.number)

    @staticmethod
    def degree(batch: Batch) -> int:
        return batch.number * order_of(batch.rows)

    @staticmethod
    def holds(batch: Batch, s: Array) -> bool:
        try:
            np.linalg.cholesky(matrices(s, batch.number, order_of(batch.rows)))
        except np.linalg.LinAlgError:
            return False
        return True

    @staticmethod
    def depth(batch: Batch, s: Array) -> float:
        """The least eigenvalue."""
        return float(np.linalg.eigvalsh(matrices(s, batch.number, order_of(batch.rows))).min(initial=math.inf))

    def _matrices(self, v: Array) -> Array:
        return matrices(v, self.count, self.order)

    def _vector(self, m: Array) -> Array:
        at = _flat(self.order)
        entries = m.reshape(self.count, -1)
        found: Array = 0.5 * (entries.take(at.upper, axis=1) + entries.take(at.lower, axis=1)) * at.weight
        return found.reshape(-1)

    def w(self, v: Array) -> Array:
        return self._vector(self.R.transpose(0, 2, 1) @ self._matrices(v) @ self.R)

    def wt(self, v: Array) -> Array:
        return self._vector(self.R @ self._matrices(v) @ self.R.transpose(0, 2, 1))

    def inverse_t(self, v: Array) -> Array:
        return self._vector(self.back @ self._matrices(v) @ self.back.transpose(0, 2, 1))

    def inverse(self, v: Array) -> Array:
        return self._vector(self.back.transpose(0, 2, 1) @ self._matrices(v) @ self.back)

    def root(self) -> Array:
        return self._congruence(self.back)

    def square(self) -> Array:
        return self._congruence(self.R @ self.R.transpose(0, 2, 1))

    def _congruence(self, G: Array) -> Array:
        """The matrix of Y -> G Y G', column by column."""
        i, j, weight = upper(self.order)
        pairs: Array = G[:, i[:, None], i] * G[:, j[:, None], j] + G[:, i[:, None], j] * G[:, j[:, None], i]
        return 0.5 * weight[:, None] * weight * pairs

    def corrected(self, ds: Array, dz: Array, mu: float) -> Array:
        a, b = self._matrices(ds), self._matrices(dz)
        product = 0.5 * (a @ b + b @ a) - mu * np.eye(self.order)
        sums = self.values[:, :, None] + self.values[:, None, :]
        return self.lam + self._vector(2.0 * product / sums)

    def reach(self, ds: Array, dz: Array, longest: float) -> float:
        return min(longest, self._step(ds), self._step(dz))

    def _step(self, v: Array) -> float:
        root = np.sqrt(self.values)
        relative = self._matrices(v) / (root[:, :, None] * root[:, None, :])
        share = float(np.linalg.eigvalsh(relative).min(initial=0.0))
        return math.inf if share >= 0.0 else -1.0 / share


def order_of(rows: int) -> int:
    """n of n (n + 1) / 2 rows."""
    return (math.isqrt(8 * rows + 1) - 1) // 2


@lru_cache(maxsize=16)
def upper(order: int) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """The places of the upper triangle by rows, and the weights of its entries in a vector: sqrt(2) off the diagonal."""
    i, j = np.triu_indices(order)
    return i, j, np.where(i == j, 1.0, math.sqrt(2.0))


class _Flat(NamedTuple):
    """Places among the entries of a symmetric matrix, row by row, and among those of its vector."""

    upper: NDArray[np.intp]  # of the vector's entries in the matrix
    lower: NDArray[np.intp]  # of the same in its other triangle
    weight: Array  # of the vector's entries
    vector: NDArray[np.intp]  # of the matrix's entries in the vector


@lru_cache(maxsize=16)
def _flat(order: int) -> _Flat:
    i, j, weight = upper(order)
    vector = np.empty((order, order), dtype=np.intp)
    vector[i, j] = vector[j, i] = np.arange(i.size)
    return _Flat(i * order + j, j * order + i, weight, vector.reshape(-1))


def matrices(v: Array, count: int, order: int) -> Array:
    """The symmetric matrices of the rows of several semidefinite cones."""
    at = _flat(order)
    # one gather takes a third of the time that writing both triangles takes
    return (v.reshape(count, -1) / at.weight).take(at.vector, axis=1).reshape(count, order, order)


def triangles(m: Array) -> Array:
    """The vectors of matrices (.., n, n) whose upper triangles say all."""
    at = _flat(m.shape[-1])
    found: Array = m.reshape(*m.shape[:-2], -1).take(at.upper, axis=-1) * at.weight
    return found


KINDS: dict[str, type[Symmetric] | type[Nonsymmetric]] = {
    "nonnegative": Orthant,
    "second_order": SecondOrder,
    "semidefinite": Semidefinite,
    "exponential": Nonsymmetric,
    "power": Nonsymmetric,
}

Map = Callable[[Array], Array]
Scalings = Sequence[Scaling | None]
"""The scalings of all batches; None of the zero cone."""


def each(scalings: Scalings, rows: Array, of: Callable[[Scaling], Map]) -> Array:
    """A map of the scalings of all rows, those of the zero cone as they are."""
    if len(scalings) == 1 and scalings[0] is not None:
        return of(scalings[0])(rows)
    out = rows.copy()
    for scaling in scalings:
        if scaling is not None:
            out[scaling.place] = of(scaling)(rows[scaling.place])
    return out
