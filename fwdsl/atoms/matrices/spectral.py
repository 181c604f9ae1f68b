"""Functions of a matrix through its spectrum: X -> h(sigma(X)) by singular values, X -> h(lambda(X)) by eigenvalues.

Where h sees neither signs nor order (singular values), or not the order (eigenvalues of a symmetric X), everything lifts from h
(Lewis 1995): with X = U diag(s) V', prox U diag(prox_h(s)) V', conjugate h*(s), LMO U diag(lmo_h(s)) V', and the projection on the domain of
the conjugate likewise. So norm_nuc is norm1 of the singular values, norm_spec norm_inf, and their balls those of the values;
psd is the nonnegative orthant of the eigenvalues, the spectrahedra their simplices. Every joint prox lifts too.

h* is monotone in each value, so `conjugate` takes the computed values raised by their backward error: a rigorous upper bound.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...words import CONVEX
from ..base import Array, VectorFunction, share_of_least
from ..conic import Cone, Conic, MatrixEntries, budget_form, entries, joined, norm2_form, semidefinite_form
from ..vectors.common import ConvexSet, negative_part, norm2
from ..vectors.nonnegative import Nonnegative
from ..vectors.norm1 import Norm1
from ..vectors.norm1_nonnegative import Norm1Nonnegative
from ..vectors.norm1_simplex import Norm1Simplex
from ..vectors.norm1_solid_simplex import Norm1SolidSimplex
from ..vectors.norm2_nonnegative import Norm2Nonnegative
from ..vectors.norm_inf import NormInf
from ..vectors.simplex import Simplex
from ..vectors.solid_simplex import SolidSimplex
from .common import Shape, backward_error, matrix, singular_values

_LIFTED = {"linf": "spectral", "l2": "l2", "l1": "nuclear"}

Rebuild = Callable[[Array], Array]


@dataclass(frozen=True, eq=False, repr=False)
class Spectral(VectorFunction):
    """h of the spectrum of a matrix; `pair` names the function in the language, `inner` is h."""

    shape: Shape
    pair: tuple[str | None, str | None]  # type: ignore[misc]
    inner: VectorFunction
    size: int = field(init=False)
    #: It is asked of symmetric matrices alone, which conic forms are smaller for.
    of_symmetric: bool = False

    polyhedral = False
    compiled = False
    certificate = "rigorous"
    prox_kernel = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", math.prod(self.shape))

    # --- the spectrum -------------------------------------------------------------------------------------------------
    @abstractmethod
    def spectrum(self, x: Array) -> Array:
        """The values that h sees, as LAPACK computes them."""

    @abstractmethod
    def decompose(self, x: Array) -> tuple[Array, Rebuild]:
        """The values, and what makes a flat matrix of other values with the same vectors."""

    def error(self, x: Array) -> float:
        return backward_error(x, self.shape)

    def rounding(self, v: Array) -> float:
        """Twice the distance that `dual_project` keeps from the boundary: once for it, once for its own products."""
        return 4.0 * self.error(v)

    def blur(self, v: Array) -> float:
        """Beside the largest entry of each row: small ones among larger ones say nothing."""
        return share_of_least(self.rounding(v), np.abs(matrix(v, self.shape)).max(axis=1, initial=0.0))

    # --- facts --------------------------------------------------------------------------------------------------------
    def radius(self) -> float:
        """The radius of h: the Frobenius norm is the Euclidean norm of the spectrum."""
        return self.inner.radius() if self.size else 0.0

    def describe(self) -> str:
        """`c * norm_nuc`, `nuclear_ball(r)`, `psd`, `c * norm_nuc on psd`."""
        norm, name = self.pair
        on: Any = getattr(self.inner, "on", self.inner)
        words = [] if norm is None else [f"{self.inner.c:g} * {norm}"]  # type: ignore[attr-defined]
        words += [] if name is None else [f"{name}({on.r:g})" if hasattr(on, "r") else name]
        return " on ".join(words)

    def set_beneath(self) -> VectorFunction | None:
        norm, on = self.pair
        if norm is None:
            return super().set_beneath()
        below = None if on is None else self.inner.set_beneath()
        return None if below is None or on is None else self.as_set((None, on), below)

    @abstractmethod
    def as_set(self, pair: tuple[None, str], inner: VectorFunction) -> VectorFunction:
        """The indicator of a set of the same spectrum."""

    @property
    def slope(self) -> float:
        return self.inner.slope

    def coercive(self) -> tuple[float, str] | None:
        """The bound of h, for the norm of the spectrum."""
        found = self.inner.coercive()
        return None if found is None else (found[0], _LIFTED[found[1]])

    @property
    def has_faces(self) -> bool:
        """False: the function is curved wherever it is not 0."""
        return False

    # --- functions ----------------------------------------------------------------------------------------------------
    def value(self, x: Array) -> float:
        return 0.0 if self.pair[0] is None else self.inner.value(self.spectrum(x))

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """The violation of the spectrum, whose sizes are its own, as many times as large as the `sizes` are in the Frobenius norm beside x."""
        if self.pair[1] is None or not x.size:
            return 0.0
        spectrum = self.spectrum(x)
        return self.inner.violation(spectrum, self._spread(spectrum, sizes))

    @staticmethod
    def _spread(spectrum: Array, sizes: Array | None) -> Array:
        own, length = np.abs(spectrum), norm2(spectrum)
        if sizes is None:
            return own
        return own * (norm2(sizes) / length) if length > 0.0 else np.full(own.size, norm2(sizes))

    def prox(self, v: Array, t: float) -> Array:
        """The prox of h on the spectrum."""
        values, rebuild = self.decompose(v)
        return rebuild(self.inner.prox(values, t))

    def conjugate(self, v: Array) -> float:
        """h* of the spectrum raised by its backward error: at least the conjugate."""
        return self.inner.conjugate(self.spectrum(v) + self.error(v))

    def conjugate_with_ridge(self, v: Array, c: float) -> float:
        """The value of h, of the spectrum raised by its backward error: |X|_F is the Euclidean norm of the spectrum."""
        return self.inner.conjugate_with_ridge(self.spectrum(v) + self.error(v), c)

    def infimum(self) -> float:
        return self.inner.infimum()

    def dual_scale(self, v: Array) -> float:
        """The scale of h, with room for what `conjugate` adds to the spectrum of the scaled matrix."""
        if math.isfinite(self.radius()):
            return 1.0
        values, error = self.spectrum(v), self.error(v)
        if math.isfinite(self.inner.conjugate(values + error)):
            return 1.0
        return self.inner.dual_scale(values + 3.0 * error)

    def dual_project(self, v: Array) -> Array:
        """The projection of the spectrum, which stays inside by what `conjugate` adds; v itself where it is inside."""
        if math.isfinite(self.radius()):
            return v.copy()
        values, rebuild = self.decompose(v)
        if math.isfinite(self.inner.conjugate(values + self.error(v))):
            return v.copy()
        # the backward errors of this decomposition, of putting the matrix together, and of taking it apart again
        room = 3.0 * self.error(v)
        return rebuild(self._inside(values, room))

    @abstractmethod
    def _inside(self, values: Array, room: float) -> Array:
        """The projection of the values on the domain of h*, such that all may grow by `room` and stay inside."""

    def normal_part(self, x: Array, rest: Array) -> Array:
        """The normal part of h, by the vectors of `rest`, or where it sees x by those of x + rest, which x and `rest` share.

        (x is the prox of x + rest.)
        """
        norm = self.pair[0]
        if norm is None or CONVEX[norm].euclidean:
            # the Frobenius norm is the length of all entries
            return self.inner.normal_part(x, rest)
        values, rebuild = self.decompose(x + rest if self.inner.normal_sees_x else rest)
        inside = self.inner.prox(values, 1.0) if self.inner.normal_sees_x else np.zeros_like(values)
        return rebuild(self.inner.normal_part(inside, values - inside))

    @property
    def scale(self) -> float:
        """The factor of h, where h is a set."""
        assert isinstance(self.inner, ConvexSet)
        return self.inner.scale

    def of_radius(self, r: float) -> ConvexSet:
        """The same set with h of another radius, where h is a set."""
        assert isinstance(self, ConvexSet)
        assert isinstance(self.inner, ConvexSet)
        return replace(self, inner=self.inner.of_radius(r))

    def lmo(self, c: Array) -> Array | None:
        """The vertex of h at the spectrum; None where h has none."""
        values, rebuild = self.decompose(c)
        found = self.inner.lmo(values)
        return None if found is None else rebuild(found)

    def diameter(self) -> float:
        """The diameter of h: two matrices of the same vectors are as far apart as their spectra, and others no farther."""
        assert isinstance(self.inner, ConvexSet)
        return self.inner.diameter() if self.size else 0.0


def _unknown(values: int, entries: int) -> tuple[Array, Rebuild]:
    """The decomposition of a matrix that is not finite, where LAPACK would raise: NaN throughout."""
    return np.full(values, np.nan), lambda _: np.full(entries, np.nan)


def _of_zero(shape: tuple[int, ...]) -> tuple[Array, Rebuild]:
    """The decomposition of 0, by unit vectors: planners and methods ask for it at the start, and LAPACK takes minutes for a large one."""
    k = min(shape)

    def rebuild(values: Array) -> Array:
        out = np.zeros(shape)
        out[range(k), range(k)] = values
        return out.reshape(-1)

    return np.zeros(k), rebuild


class Singular(Spectral):
    """h(sigma(X)). A matrix that is exactly symmetric is decomposed as one, so that what comes of it is exactly symmetric."""

    def spectrum(self, x: Array) -> Array:
        return singular_values(x, self.shape)

    def decompose(self, x: Array) -> tuple[Array, Rebuild]:
        """The singular values, and U diag(.) V'."""
        a = matrix(x, self.shape)
        if not x.size:
            return np.zeros(min(self.shape)), lambda values: np.zeros(0)
        if not np.isfinite(x).all():
            return _unknown(min(self.shape), x.size)
        if not x.any():
            return _of_zero(self.shape)
        if a.shape[0] == a.shape[1] and np.array_equal(a, a.T):
            eigenvalues, q = np.linalg.eigh(a)
            signs = np.copysign(1.0, eigenvalues)
            return np.abs(eigenvalues), lambda values: _symmetric(q, signs * values)
        u, s, vt = np.linalg.svd(a, full_matrices=False)
        return s, lambda values: ((u * values) @ vt).reshape(-1)

    def _inside(self, values: Array, room: float) -> Array:
        inside = self.inner.dual_project(values)
        return inside * self.inner.dual_scale(inside + room)

    def for_symmetric(self) -> VectorFunction:
        return replace(self, of_symmetric=True)

    def conic(self) -> Conic | None:
        """The largest singular value: the least t with [[t I, Z], [Z', t I]] >= 0. Their sum: tr(V + W) / 2 with [[V, Z], [Z', W]] >= 0."""
        if self.pair[1] is not None or not isinstance(self.inner, NormInf | Norm1):
            return None
        n, d = self.shape
        if self.of_symmetric and isinstance(self.inner, NormInf):
            return self._between_bounds(self.inner.c)
        i, j = np.triu_indices(n + d)
        row = np.arange(i.size)
        corner = (i < n) & (j >= n)
        of_z = MatrixEntries(row[corner], i[corner] * d + j[corner] - n, np.full(n * d, math.sqrt(2.0)))
        if isinstance(self.inner, NormInf):
            extra, prices = 1, np.array([self.inner.c])
            of_u = entries(row[i == j], 0, 1.0)
        else:
            own = row[~corner]
            extra, prices = own.size, np.where(i == j, 0.5 * self.inner.c, 0.0)[own]
            of_u = entries(own, np.arange(own.size), 1.0)
        cones = (Cone("semidefinite", i.size),) if i.size else ()
        return Conic(self.size, extra, extra_slope=prices, of_z=of_z, of_u=of_u, offset=np.zeros(i.size), cones=cones)

    def _between_bounds(self, c: float) -> Conic:
        """c times the least t with t I - Z >= 0 and t I + Z >= 0."""
        psd = semidefinite_form(self.shape[0])
        rows = psd.offset.size
        i, j = np.triu_indices(self.shape[0])
        diagonal = np.flatnonzero(i == j)
        below = MatrixEntries(psd.of_z.row, psd.of_z.column, -psd.of_z.value)
        return Conic(
            self.size,
            1,
            extra_slope=c,
            of_z=joined([below, psd.of_z.shifted(rows, 0)]),
            of_u=entries(np.concatenate([diagonal, rows + diagonal]), 0, 1.0),
            offset=np.zeros(2 * rows),
            cones=(*psd.cones, *psd.cones),
        )

    def as_set(self, pair: tuple[None, str], inner: VectorFunction) -> VectorFunction:
        return SingularSet(self.shape, pair, inner)


class SingularSet(Singular, ConvexSet):
    """The indicator of h(sigma(X))."""


class Eigen(Spectral):
    """h(lambda(X)) for symmetric X (d, d): of any matrix its symmetric part counts, and what comes out is exactly symmetric."""

    def spectrum(self, x: Array) -> Array:
        """The eigenvalues of the symmetric part."""
        if not x.size or not np.isfinite(x).all():
            return self.decompose(x)[0]
        return np.asarray(np.linalg.eigvalsh(self._part(x)), dtype=np.float64)

    def decompose(self, x: Array) -> tuple[Array, Rebuild]:
        """The eigenvalues of the symmetric part, and Q diag(.) Q'."""
        if not x.size:
            return np.zeros(0), lambda values: np.zeros(0)
        if not np.isfinite(x).all():
            return _unknown(self.shape[0], x.size)
        part = self._part(x)
        if not part.any():
            return _of_zero(self.shape)
        eigenvalues, q = np.linalg.eigh(part)
        return eigenvalues, lambda values: _symmetric(q, values)

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """lambda_min >= 0 relative to the largest eigenvalue, and what h asks of the eigenvalues otherwise."""
        if self.pair[1] is None or not x.size:
            return 0.0
        values = self.spectrum(x)
        spread = self._spread(values, sizes)
        return max(negative_part(values, spread), self.inner.violation(np.maximum(values, 0.0), spread))

    def dual_project(self, v: Array) -> Array:
        """The projection of the spectrum of the symmetric part; what is skew is no matter to a symmetric variable, and stays."""
        part = self._part(v)
        skew = (matrix(v, self.shape) - part).reshape(-1)
        return super().dual_project(part.reshape(-1)) + skew

    def normal_part(self, x: Array, rest: Array) -> Array:
        """The normal part of h on the symmetric parts; the skew part is no matter to a symmetric variable, and stays."""
        if self.pair[0] is None:
            return rest
        part = self._part(rest)
        skew = (matrix(rest, self.shape) - part).reshape(-1)
        return super().normal_part(x, part.reshape(-1)) + skew

    def conic(self) -> Conic | None:
        """The conic form of psd, and what h says of the trace, which for eigenvalues that are not negative is their sum and their norm1."""
        trace = np.eye(self.shape[0]).reshape(-1)
        on = getattr(self.inner, "on", self.inner)
        form = semidefinite_form(self.shape[0])
        if isinstance(on, Simplex | SolidSimplex):
            form += budget_form(self.size, on.r, -trace, "zero" if isinstance(on, Simplex) else "nonnegative")
        elif not isinstance(on, Nonnegative):
            return None
        if isinstance(self.inner, Norm2Nonnegative):
            form += norm2_form(self.size, self.inner.c)
        elif isinstance(self.inner, Norm1Nonnegative | Norm1Simplex | Norm1SolidSimplex):
            form += Conic(self.size, slope=self.inner.c * trace)
        elif self.inner is not on:
            return None
        return form

    def _inside(self, values: Array, room: float) -> Array:
        # moved, not scaled: no scaling takes a matrix off the boundary of a cone
        return self.inner.dual_project(values + room) - room

    def as_set(self, pair: tuple[None, str], inner: VectorFunction) -> VectorFunction:
        return EigenSet(self.shape, pair, inner)

    def _part(self, x: Array) -> Array:
        a = matrix(x, self.shape)
        part: Array = 0.5 * (a + a.T)
        return part


class EigenSet(Eigen, ConvexSet):
    """The indicator of h(lambda(X))."""

    def into_recession(self, d: Array) -> Array:
        """The budget of the eigenvalues."""
        values, rebuild = self.decompose(d)
        return rebuild(self.inner.into_recession(values))

    def drawn_in(self, x: Array, distance: float) -> Array:
        """The matrix with all eigenvalues lowered by the distance."""
        return x - distance * np.eye(self.shape[0]).reshape(-1)

    def enclosing_box(self) -> tuple[Array, Array]:
        """The radius bounds every entry; those of the diagonal lie between the bounds of the eigenvalues."""
        lo, hi = super().enclosing_box()
        ends = self.inner.enclosing_box()
        if self.size:
            lo[:: self.shape[0] + 1], hi[:: self.shape[0] + 1] = (float(e[0]) for e in ends)
        return lo, hi


def _symmetric(q: Array, values: Array) -> Array:
    """Q diag(values) Q', flat and exactly symmetric."""
    a = (q * values) @ q.T
    return (0.5 * (a + a.T)).reshape(-1)
