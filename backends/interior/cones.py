"""Products of cones with their scalings, of all batches at once: W z = W^-T s = lambda. Symmetric cones have that of Nesterov and Todd;
`nonsymmetric` has the others.

Rows come in batches of equal cones. The zero cone has s = 0 and any z; of it W is 0, and nothing is asked of its entries of lambda. Kernels
(`cone_loops`) take the maps of all batches in one call, but for those of cones of matrices.
Source: Vandenberghe, "The CVXOPT linear and quadratic cone program solvers", 2010, sections 4 to 5.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, lru_cache
from typing import NamedTuple, Protocol, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.interior import cone_loops as loops
from fwdsl.backends.interior.matrix_loops import congruences
from fwdsl.backends.interior.nonsymmetric import Nonsymmetric
from fwdsl.backends.interior.program import ORDER, Batch
from fwdsl.backends.kernels.compile import Function, kernel

LARGE = 36
"""The order of a cone of matrices from which on columns are turned one by one, not with a matrix of n (n + 1) / 2 rows."""


class Scaling(Protocol):
    """The scaling of one batch, at a point (s, z) of the interior. Vectors are the batch's rows."""

    place: slice  # the rows of the batch
    symmetric: bool

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

    def rows(self, A: Array) -> Array:
        """W^-T A, of the batch's rows of a matrix without zeros."""


class Symmetric(ABC):
    """Cones that are their own duals, at a point with W z = W^-T s = lambda: they have a product of vectors, and a unit e of it."""

    symmetric = True
    lam: Array

    def __init__(self, batch: Batch) -> None:
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


class _ByKernels(Symmetric):
    """Cones whose maps are kernels: `own` has the rows' numbers of W, `eta` those of cones of lengths."""

    def __init__(self, batch: Batch, s: Array, z: Array) -> None:
        rows = _alone(batch)
        self._take(batch, np.empty(s.size), np.empty(rows.heads.size - 1), np.empty(s.size))
        rows.scale(s, z, self.own, self.eta, self.lam)

    @classmethod
    def known(cls: type[_K], batch: Batch, own: Array, eta: Array, lam: Array) -> _K:
        """The scaling that has these numbers."""
        found = object.__new__(cls)
        found._take(batch, own, eta, lam)
        return found

    def _take(self, batch: Batch, own: Array, eta: Array, lam: Array) -> None:
        super().__init__(batch)
        self.own, self.eta, self.lam = own, eta, lam
        nothing = np.empty(0)
        self._rows = _alone(batch)
        self._numbers = Numbers(self._rows, 0, own, eta, nothing, nothing)

    def w(self, v: Array) -> Array:
        return self._numbers.turn(loops.W, v)

    wt = w

    def inverse(self, v: Array) -> Array:
        return self._numbers.turn(loops.INVERSE, v)

    inverse_t = inverse

    def corrected(self, ds: Array, dz: Array, mu: float) -> Array:
        return self._rows.correct(self.lam, ds, dz, mu)

    def reach(self, ds: Array, dz: Array, longest: float) -> float:
        return self._rows.reach(self.lam, ds, dz, longest)


@lru_cache(maxsize=64)
def _alone(batch: Batch) -> SymmetricRows:
    """The rows of a batch that has no others before it."""
    return SymmetricRows.of([batch._replace(start=0)])


_K = TypeVar("_K", bound=_ByKernels)


class Orthant(_ByKernels):
    """s, z >= 0: W = sqrt(s / z)."""

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

    def root(self) -> Array:
        found: Array = 1.0 / self.own
        return found

    def rows(self, A: Array) -> Array:
        return A / self.own[:, None]


class SecondOrder(_ByKernels):
    """|s_1| <= s_0: W = eta (2 w w' - J) with <w, J w> = 1, its root taken."""

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
        return _alone(batch).lengths_hold(s, s)

    @staticmethod
    def depth(batch: Batch, s: Array) -> float:
        """The least s_0 - |s_1|."""
        u = s.reshape(batch.number, batch.rows)
        return float((u[:, 0] - np.sqrt(np.einsum("ij,ij->i", u[:, 1:], u[:, 1:]))).min(initial=math.inf))

    @property
    def shape(self) -> tuple[int, int]:
        """Cones and rows of each."""
        return self.batch.number, self.batch.rows

    def root(self) -> Array:
        w = self.own.reshape(self.shape)
        head, tail = w[:, 0], w[:, 1:]
        found = np.empty((*self.shape, self.shape[1]))
        found[:, 0, 0] = head
        found[:, 0, 1:] = found[:, 1:, 0] = -tail
        found[:, 1:, 1:] = tail[:, :, None] * tail[:, None, :] / (1.0 + head)[:, None, None]
        at = np.arange(1, self.shape[1])
        found[:, at, at] += 1.0
        found /= self.eta[:, None, None]
        return found

    def rows(self, A: Array) -> Array:
        # one product with each row in place of one with each number of a matrix
        a = A.reshape(*self.shape, -1)
        w = self.own.reshape(self.shape)
        head, tail = w[:, :1], w[:, 1:]
        along = np.matmul(tail[:, None, :], a[:, 1:])[:, 0]
        out = np.empty_like(a)
        out[:, 0] = head * a[:, 0] - along
        out[:, 1:] = a[:, 1:] + tail[:, :, None] * (along / (1.0 + head) - a[:, 0])[:, None, :]
        out /= self.eta[:, None, None]
        return out.reshape(A.shape)


class Semidefinite(Symmetric):
    """S, Z positive definite: W z = R' Z R with R' Z R = R^-1 S R^-T diagonal."""

    def __init__(self, batch: Batch, s: Array, z: Array) -> None:
        super().__init__(batch)
        self.count, self.order = batch.number, order_of(batch.rows)
        left, right = np.linalg.cholesky(self._matrices(s)), np.linalg.cholesky(self._matrices(z))
        u, values, vt = np.linalg.svd(right.transpose(0, 2, 1) @ left)
        root = np.sqrt(values)
        self.values = values
        self.R = left @ vt.transpose(0, 2, 1) / root[:, None, :]
        self.back = (u.transpose(0, 2, 1) @ right.transpose(0, 2, 1)) / root[:, :, None]
        lam = np.zeros((self.count, batch.rows))
        lam[:, _flat(self.order).diagonal] = values
        self.lam = lam.reshape(-1)

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
        both = m + m.transpose(0, 2, 1)
        found = both.reshape(self.count, -1).take(at.upper, axis=1)
        found *= at.half
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
        rows = self.batch.rows
        found = np.empty((self.count, rows, rows))
        kernel(congruences)(np.ascontiguousarray(self.back), found)
        return found

    def rows(self, A: Array) -> Array:
        return super().rows(A) if self.order < LARGE else turned_rows(self.back, A)

    def rows_of(self, cone: int, A: Array) -> Array:
        """W^-T A, of the rows of one of the cones."""
        back = self.back[cone : cone + 1]
        if self.order >= LARGE:
            return turned_rows(back, A)
        root = np.empty((1, A.shape[0], A.shape[0]))
        kernel(congruences)(np.ascontiguousarray(back), root)
        found: Array = root[0] @ A
        return found

    def corrected(self, ds: Array, dz: Array, mu: float) -> Array:
        a, b = self._matrices(ds), self._matrices(dz)
        # b a is its transpose, which `_vector` adds
        product = a @ b
        np.einsum("cii->ci", product)[:] -= mu
        product *= 2.0 / (self.values[:, :, None] + self.values[:, None, :])
        return self.lam + self._vector(product)

    def reach(self, ds: Array, dz: Array, longest: float) -> float:
        root = np.sqrt(self.values)
        both = np.array([self._matrices(ds), self._matrices(dz)])
        both /= root[:, :, None] * root[:, None, :]
        share = float(np.linalg.eigvalsh(both).min(initial=0.0))
        return longest if share >= 0.0 else min(longest, -1.0 / share)


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
    weight: Array  # of the vector's entries
    half: Array  # of these
    inverse: Array  # the other way, of the matrix's entries
    vector: NDArray[np.intp]  # of the matrix's entries in the vector
    diagonal: NDArray[np.intp]  # of the diagonal in the vector


@lru_cache(maxsize=16)
def _flat(order: int) -> _Flat:
    i, j, weight = upper(order)
    vector = np.empty((order, order), dtype=np.intp)
    vector[i, j] = vector[j, i] = np.arange(i.size)
    within = vector.reshape(-1)
    return _Flat(i * order + j, weight, 0.5 * weight, (1.0 / weight)[within], within, np.flatnonzero(i == j))


def matrices(v: Array, count: int, order: int) -> Array:
    """The symmetric matrices of the rows of several semidefinite cones."""
    at = _flat(order)
    # one gather takes a third of the time that writing both triangles takes
    found = v.reshape(count, -1).take(at.vector, axis=1)
    found *= at.inverse
    return found.reshape(count, order, order)


def triangles(m: Array) -> Array:
    """The vectors of matrices (.., n, n) whose upper triangles say all."""
    at = _flat(m.shape[-1])
    found: Array = m.reshape(*m.shape[:-2], -1).take(at.upper, axis=-1) * at.weight
    return found


def turned_rows(back: Array, A: Array) -> Array:
    """W^-T A of cones of matrices, column by column."""
    count, order = back.shape[:2]
    of_columns = A.reshape(count, order * (order + 1) // 2, -1).transpose(0, 2, 1)
    columns = of_columns.shape[1]
    V = matrices(of_columns, count * columns, order).reshape(count, columns, order, order)
    turned = back[:, None] @ V @ back[:, None].transpose(0, 1, 3, 2)
    return triangles(turned).transpose(0, 2, 1).reshape(A.shape)


KINDS: dict[str, type[Symmetric] | type[Nonsymmetric]] = {
    "nonnegative": Orthant,
    "second_order": SecondOrder,
    "semidefinite": Semidefinite,
    "exponential": Nonsymmetric,
    "power": Nonsymmetric,
}


class _Loops(NamedTuple):
    """The compiled kernels of the rows of equations, of the nonnegative cone and of cones of three rows."""

    scale: Function
    turn: Function
    correct: Function
    outwards: Function


class _Lengths(NamedTuple):
    """The compiled kernels of cones of lengths."""

    scale: Function
    turn: Function
    correct: Function
    outwards: Function
    within: Function


@cache
def _loops() -> _Loops:
    return _Loops(*(kernel(f, reorder=True) for f in (loops.scale, loops.turn, loops.correct, loops.outwards)))


@cache
def _lengths() -> _Lengths:
    found = (
        loops.scale_lengths,
        loops.turn_lengths,
        loops.correct_lengths,
        loops.outwards_lengths,
        loops.within_lengths,
    )
    return _Lengths(*(kernel(f, reorder=True) for f in found))


class SymmetricRows(NamedTuple):
    """The rows of symmetric cones as kernels read them (`cone_loops`)."""

    equations: int
    linear: int
    heads: NDArray[np.uint32]

    @classmethod
    def of(cls, batches: Sequence[Batch]) -> SymmetricRows:
        heads, equations, linear = [], 0, 0
        for batch in batches:
            if batch.kind == ORDER[0]:
                equations = linear = batch.stop
            elif batch.kind == ORDER[1]:
                linear = batch.stop
            elif batch.kind == ORDER[2]:
                heads.append(np.arange(batch.start, batch.stop, batch.rows))
        last = max([linear, *(batch.stop for batch in batches if batch.kind == ORDER[2])])
        return cls(equations, linear, np.concatenate([*heads, [last]]).astype(np.uint32))

    @property
    def has_lengths(self) -> bool:
        return self.heads.size > 1

    def scale(self, s: Array, z: Array, root: Array, eta: Array, lam: Array) -> None:
        """The numbers of W at (s, z), and lambda = W z; 0 in the rows of equations."""
        _loops().scale(self.equations, self.linear, s, z, root, lam)
        if self.has_lengths:
            _lengths().scale(self.heads, s, z, root, eta, lam)

    def correct(self, lam: Array, ds: Array, dz: Array, mu: float) -> Array:
        """lambda + u with lambda o u = ds o dz - mu e; 0 in the rows of equations, and nothing in other rows."""
        out = np.empty(lam.size)
        _loops().correct(self.equations, self.linear, lam, ds, dz, mu, out)
        if self.has_lengths:
            _lengths().correct(self.heads, lam, ds, dz, mu, out)
        return out

    def reach(self, lam: Array, ds: Array, dz: Array, longest: float) -> float:
        """The largest t up to `longest` with lambda + t ds and lambda + t dz in the cones."""
        share = float(_loops().outwards(self.equations, self.linear, lam, ds, dz))
        if self.has_lengths:
            outwards = _lengths().outwards
            share = max(share, outwards(self.heads, lam, ds), outwards(self.heads, lam, dz))
        return min(longest, 1.0 / share) if share > 0.0 else longest

    def lengths_hold(self, s: Array, z: Array) -> bool:
        """True if s and z are in the interior of all cones of lengths."""
        return not self.has_lengths or bool(_lengths().within(self.heads, s, z))


class Numbers(NamedTuple):
    """The numbers of W that kernels find and read, of all rows but those of matrices (`cone_loops`)."""

    symmetric: SymmetricRows
    threes: int
    root: Array
    eta: Array
    own: Array
    back: Array

    def turn(self, way: int, v: Array) -> Array:
        """A map of the rows v."""
        out, rows = np.empty(v.size), self.symmetric
        _loops().turn(rows.equations, rows.linear, self.threes, self.root, self.own, self.back, way, v, out)
        if rows.has_lengths:
            _lengths().turn(rows.heads, self.root, self.eta, way >= loops.INVERSE, v, out)
        return out


class Cones(NamedTuple):
    """The cones of a program: their batches, the symmetric rows as kernels read them, the first row of cones of three and the number of these, the
    places of their batches and of those of matrices, and <e, e> of all."""

    batches: tuple[Batch, ...]
    symmetric: SymmetricRows
    threes: int
    number: int
    apart: tuple[int, ...]
    degree: int

    @classmethod
    def of(cls, batches: Sequence[Batch]) -> Cones:
        apart = tuple(k for k, batch in enumerate(batches) if batch.kind in ORDER[3:])
        threes = [batch for batch in batches if batch.kind in ORDER[4:]]
        degree = sum(KINDS[batch.kind].degree(batch) for batch in batches if batch.kind in KINDS)
        first, number = threes[0].start if threes else 0, sum(batch.number for batch in threes)
        return cls(tuple(batches), SymmetricRows.of(batches), first, number, apart, degree)

    @property
    def rows(self) -> int:
        return self.batches[-1].stop if self.batches else 0

    def unit(self) -> Array:
        """The units of all cones, or what is in their place where they are not symmetric; 0 of the zero cone."""
        found = np.zeros(self.rows)
        for batch in self.batches:
            if batch.kind in KINDS:
                found[batch.start : batch.stop] = KINDS[batch.kind].unit(batch)
        return found

    def inside(self, s: Array, z: Array) -> bool:
        """True if s is in the interior of all cones but the nonnegative one, which `move` looks at, and z in that of the dual ones."""
        batches = (self.batches[k] for k in self.apart)
        return self.symmetric.lengths_hold(s, z) and all(
            KINDS[k.kind].inside(k, s[k.start : k.stop], z[k.start : k.stop]) for k in batches
        )

    def central(self, s: Array, z: Array, mu: float) -> bool:
        """True if a point of the interior is in the neighbourhood of the central path at products of mu."""
        batches = (self.batches[k] for k in self.apart)
        return all(KINDS[k.kind].central(k, s[k.start : k.stop], z[k.start : k.stop], mu) for k in batches)


class Straight(Protocol):
    """A direction of all rows: of s as W^-T ds and of z as W dz; ds and dz themselves."""

    @property
    def s(self) -> Array: ...
    @property
    def z(self) -> Array: ...
    @property
    def ds(self) -> Array: ...
    @property
    def dz(self) -> Array: ...


class Scalings(Sequence["Scaling | None"]):
    """The scalings of all batches at a point of the interior, None of the zero cone; and their maps of all rows, which leave its rows as they are."""

    def __init__(self, cones: Cones, s: Array, z: Array) -> None:
        self.cones = cones
        own, back = np.empty((2, 9 * cones.number))
        rows = cones.symmetric
        root, eta, lam = np.empty(s.size), np.empty(rows.heads.size - 1), np.empty(s.size)
        self.numbers, self.lam = Numbers(rows, cones.threes, root, eta, own, back), lam
        rows.scale(s, z, root, eta, lam)
        #: Those of cones of matrices, those of three rows, and both by their places among the batches.
        self.matrices: list[Semidefinite] = []
        self.threes: list[Nonsymmetric] = []
        self._apart: dict[int, Scaling] = {}
        first = 0
        for k in cones.apart:
            batch = cones.batches[k]
            at = slice(batch.start, batch.stop)
            if batch.kind == ORDER[3]:
                matrix = Semidefinite(batch, s[at], z[at])
                self.matrices.append(matrix)
                self._apart[k] = matrix
            else:
                place = slice(first, first + 9 * batch.number)
                three = Nonsymmetric(batch, s[at], z[at], own[place], back[place])
                self.threes.append(three)
                self._apart[k] = three
                first = place.stop
        for matrix in self.matrices:
            lam[matrix.place] = matrix.lam
        if self.threes:
            lam[cones.threes :] = self.numbers.turn(loops.INVERSE_T, s)[cones.threes :]

    def w(self, v: Array) -> Array:
        """W v."""
        out = self.numbers.turn(loops.W, v)
        for k in self.matrices:
            out[k.place] = k.w(v[k.place])
        return out

    def wt(self, v: Array) -> Array:
        """W'v."""
        out = self.numbers.turn(loops.W_T, v)
        for k in self.matrices:
            out[k.place] = k.wt(v[k.place])
        return out

    def inverse(self, v: Array) -> Array:
        """W^-1 v."""
        out = self.numbers.turn(loops.INVERSE, v)
        for k in self.matrices:
            out[k.place] = k.inverse(v[k.place])
        return out

    def inverse_t(self, v: Array) -> Array:
        """W^-T v."""
        out = self.numbers.turn(loops.INVERSE_T, v)
        for k in self.matrices:
            out[k.place] = k.inverse_t(v[k.place])
        return out

    def corrected(self, d: Straight, mu: float) -> Array:
        """The right-hand side -(W^-T ds + W dz) of a step that aims at products of mu, after a straight step; 0 of the zero cone."""
        out = self.cones.symmetric.correct(self.lam, d.s, d.z, mu)
        for k in self.matrices:
            out[k.place] = k.corrected(d.s[k.place], d.z[k.place], mu)
        if self.threes:
            aims = np.empty(d.s.size)
            for three in self.threes:
                aims[three.place] = three.aim(d.ds[three.place], d.dz[three.place], mu)
            at = slice(self.cones.threes, None)
            out[at] = self.numbers.turn(loops.INVERSE_T, aims)[at]
        return out

    def reach(self, d: Straight, longest: float) -> float:
        """The largest t up to `longest` with s + t ds and z + t dz in the symmetric cones."""
        longest = self.cones.symmetric.reach(self.lam, d.s, d.z, longest)
        for k in self.matrices:
            longest = k.reach(d.s[k.place], d.z[k.place], longest)
        return longest

    def reach_of_three(self, d: Straight, longest: float) -> float:
        """The largest t up to `longest` with s + t ds in the cones that are not symmetric and z + t dz in their duals."""
        for k in self.threes:
            longest = k.reach(d.ds[k.place], d.dz[k.place], longest)
        return longest

    @cached_property
    def _each(self) -> list[Scaling | None]:
        """The scalings, batch by batch."""
        found: list[Scaling | None] = []
        first = 0
        for k, batch in enumerate(self.cones.batches):
            at, kind = slice(batch.start, batch.stop), KINDS.get(batch.kind)
            if kind is None or k in self._apart:
                found.append(self._apart.get(k))
                continue
            assert issubclass(kind, _ByKernels)
            last = first + (batch.number if kind is SecondOrder else 0)
            found.append(kind.known(batch, self.numbers.root[at], self.numbers.eta[first:last], self.lam[at]))
            first = last
        return found

    @overload
    def __getitem__(self, at: int) -> Scaling | None: ...
    @overload
    def __getitem__(self, at: slice) -> list[Scaling | None]: ...
    def __getitem__(self, at: int | slice) -> Scaling | list[Scaling | None] | None:
        return self._each[at]

    def __iter__(self) -> Iterator[Scaling | None]:
        return iter(self._each)

    def __len__(self) -> int:
        return len(self.cones.batches)
