"""c h(lambda(X)) of the eigenvalues of a symmetric matrix X (n, n), for the functions h that no norm of the spectrum is:

| word | h(l) | prox with tau = t c, entry by entry | conjugate of c h |
| --- | --- | --- | --- |
| lambda_max, sum_largest_eigs | the sum of the k largest | v - tau P(v / tau), P on {0 <= w <= 1, sum w = k} | 0 on {0 <= y <= c, sum y = k c} |
| log_det | -sum log l_i, l > 0 | (v + r) / 2 with r = (v^2 + 4 tau)^(1/2) | c sum (log c - 1 - log(-y_i)), y < 0 |
| tr_inv | sum 1 / l_i, l > 0 | the root x > v of x^2 (x - v) = tau | -2 sum sqrt(-c y_i), y <= 0 |

All lift to matrices by their eigenvectors (Lewis 1995; `spectral`). The domain of the conjugate of a sum of largest eigenvalues is
{V : 0 <= V <= c I, tr V = k c} (Overton, Womersley 1993). It is judged by eigenvalues with their backward error, and the trace by its rounding, 8 eps
times the sum of its terms. Conic forms are those of semidefinite programs (Ben-Tal, Nemirovski 2001, 4.2): Schur gives the inverse.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...words import CONVEX
from ..base import Array, VectorFunction
from ..conic import Cone, Conic, MatrixEntries, entries, joined, semidefinite_form
from ..vectors.common import checked_coefficient, largest, negative_part
from ..vectors.nonnegative import Nonnegative
from ..vectors.sum_largest import project_capped
from .common import EPS, Shape
from .spectral import Eigen, EigenSet

NEWTON_STEPS = 60
"""Most Newton steps of a prox: they fall to the root from above, quadratically at the end."""


@dataclass(frozen=True, eq=False, repr=False)
class OfValues(VectorFunction):
    """c h of a vector, the same for every order of its entries."""

    size: int
    c: float

    permutable = True
    compiled = False
    polyhedral = False
    prox_kernel = None  # type: ignore[assignment]
    #: Its domain is the positive numbers.
    positive = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checked_coefficient(self.c))

    def describe(self) -> str:
        return f"{self.c:g} * h"

    def radius(self) -> float:
        return math.inf if self.size else 0.0

    def coercive(self) -> tuple[float, str] | None:
        """None: it is not bounded from below by a norm."""
        return None

    @property
    def slope(self) -> float:
        return self.c

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        return negative_part(x, np.abs(x) if sizes is None else sizes) if self.positive else 0.0

    def conjugate_within(self, v: Array, error: float) -> float:
        """The largest value of the conjugate at vectors whose entries are within `error` of those of v, but for what rounding hides."""
        return self.conjugate(v + error)

    @abstractmethod
    def inside(self, v: Array, room: float) -> Array:
        """A point of the domain of the conjugate near v, whose entries may all move by `room` and stay inside."""

    def of_scaled(self, s: float) -> tuple[OfValues, float] | None:
        """(f, e) with f(x) + e = c h(s x), where h is of positive numbers; None elsewhere."""
        return None

    def conic_of_matrix(self) -> Conic | None:
        """The conic form of c h of the eigenvalues of a matrix of as many rows."""
        return None


@dataclass(frozen=True, eq=False, repr=False)
class SumLargest(OfValues):
    """c times the sum of the k largest entries."""

    k: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.k <= max(1, self.size):
            raise ValueError(f"there are {self.size} eigenvalues, and k = {self.k} of them are to be added up")

    def value(self, x: Array) -> float:
        return self.c * float(np.sort(x)[x.size - self.k :].sum()) if x.size else 0.0

    def prox(self, v: Array, t: float) -> Array:
        """v - tau P(v / tau) with tau = t c."""
        tau = t * self.c
        if tau == 0.0 or not v.size:
            return v.copy()
        return v - project_capped(v, tau, self.k)

    def conjugate(self, v: Array) -> float:
        return self.conjugate_within(v, 0.0)

    def conjugate_within(self, v: Array, error: float) -> float:
        """0 on the domain, whose bounds are met with `error` to spare; where k is the size it is one point, met to rounding."""
        if not v.size:
            return 0.0
        if abs(float(v.sum()) - self.k * self.c) > 8.0 * v.size * (EPS * largest(v) + error):
            return math.inf
        if self.k == v.size:
            return 0.0 if largest(v - self.c) <= 8.0 * (EPS * self.c + error) else math.inf
        return 0.0 if v.min() >= error and v.max() <= self.c - error else math.inf

    def dual_scale(self, v: Array) -> float:
        """1 in the domain, else 0: it has one sum only."""
        return 1.0 if math.isfinite(self.conjugate(v)) else 0.0

    def dual_project(self, v: Array) -> Array:
        return project_capped(v, self.c, self.k) if v.size else v.copy()

    def inside(self, v: Array, room: float) -> Array:
        """The projection, moved to the middle of the domain so far that it stays inside for `room` more."""
        w = self.dual_project(v)
        middle = self.c * self.k / max(1, self.size)
        share = min(1.0, 2.0 * room / min(middle, self.c - middle)) if self.k < self.size else 0.0
        return w + share * (middle - w)

    def conic_of_matrix(self) -> Conic:
        """k s + tr U with U >= 0 and U + s I - Z >= 0; U is left out where k = 1."""
        n = self.size
        psd = semidefinite_form(n)
        rows = psd.offset.size
        i, j = np.triu_indices(n)
        diagonal = np.flatnonzero(i == j)
        of_s = entries(diagonal, 0, 1.0)
        minus_z = MatrixEntries(psd.of_z.row, psd.of_z.column, -psd.of_z.value)
        if self.k == 1:
            return Conic(n * n, 1, extra_slope=self.c, of_z=minus_z, of_u=of_s, offset=np.zeros(rows), cones=psd.cones)
        # the unknowns behind s are the upper triangle of U as its cone has it
        unit = entries(np.arange(rows), 1 + np.arange(rows), 1.0)
        prices = np.concatenate([[self.c * self.k], np.where(i == j, self.c, 0.0)])
        return Conic(
            n * n,
            1 + rows,
            extra_slope=prices,
            of_z=minus_z,
            of_u=joined([of_s, unit, unit.shifted(rows, 0)]),
            offset=np.zeros(2 * rows),
            cones=(*psd.cones, *psd.cones),
        )


@dataclass(frozen=True, eq=False, repr=False)
class SumInverse(OfValues):
    """c sum 1 / x_i on x > 0."""

    positive = True

    def value(self, x: Array) -> float:
        if x.size and not x.min() > 0.0:
            return math.inf
        return self.c * float((1.0 / x).sum())

    def set_beneath(self) -> VectorFunction:
        return Nonnegative(self.size)

    def prox(self, v: Array, t: float) -> Array:
        """The root x > max(v, 0) of x^2 (x - v) = tau, by Newton's steps from above; |v| and tau^(1/3) are the units."""
        tau = t * self.c
        if tau == 0.0 or not v.size:
            return np.maximum(v, 0.0)
        unit = tau ** (1.0 / 3.0)
        u = v / unit
        # with the unit, x^2 (x - u) = 1: at u + 1 for u >= 0, and at the smaller of 1 and |u|^(-1/2) for u < 0, the left side is at least 1
        x = np.where(u >= 0.0, u + 1.0, np.minimum(1.0, 1.0 / np.sqrt(np.maximum(-u, 1e-300))))
        for _ in range(NEWTON_STEPS):
            step = (x * (x - u) - 1.0 / x) / (3.0 * x - 2.0 * u)
            lower = x - step
            if not np.any(lower < x):
                break
            x = np.where((lower > 0.0) & (lower < x), lower, x)
        root: Array = unit * x
        return root

    def conjugate(self, v: Array) -> float:
        """-2 sum sqrt(-c v_i) where v <= 0."""
        if v.size and not v.max() <= 0.0:
            return math.inf
        return -2.0 * math.sqrt(self.c) * float(np.sqrt(-v).sum())

    def dual_scale(self, v: Array) -> float:
        return 1.0 if not v.size or v.max() <= 0.0 else 0.0

    def dual_project(self, v: Array) -> Array:
        return np.minimum(v, 0.0)

    def of_scaled(self, s: float) -> tuple[OfValues, float]:
        return replace(self, c=self.c / s), 0.0

    def inside(self, v: Array, room: float) -> Array:
        return np.minimum(v, -room)

    def conic_of_matrix(self) -> Conic:
        """c tr W with [[W, I], [I, Z]] >= 0."""
        n = self.size
        i, j = np.triu_indices(2 * n)
        row = np.arange(i.size)
        of_w, of_z = (i < n) & (j < n), i >= n
        root = math.sqrt(0.5)
        half = np.where(i == j, 0.5, root)[of_z]
        zi, zj = i[of_z] - n, j[of_z] - n
        z = joined([MatrixEntries(row[of_z], zi * n + zj, half), MatrixEntries(row[of_z], zj * n + zi, half)])
        count = int(of_w.sum())
        offset = np.where((j - i == n) & (i < n), math.sqrt(2.0), 0.0)
        return Conic(
            n * n,
            count,
            extra_slope=np.where(i == j, self.c, 0.0)[of_w],
            of_z=z,
            of_u=entries(row[of_w], np.arange(count), 1.0),
            offset=offset,
            cones=(Cone("semidefinite", i.size),) if n else (),
        )


TINY = 1e-290
"""The distance from the end of an open domain where all numbers are 0."""


@dataclass(frozen=True, eq=False, repr=False)
class NegativeLog(OfValues):
    """-c sum log x_i on x > 0."""

    positive = True

    def value(self, x: Array) -> float:
        if x.size and not x.min() > 0.0:
            return math.inf
        return -self.c * float(np.log(x).sum())

    def set_beneath(self) -> VectorFunction:
        return Nonnegative(self.size)

    def prox(self, v: Array, t: float) -> Array:
        """The positive root of x^2 - v x = tau, without cancellation."""
        tau = t * self.c
        if tau == 0.0:
            return np.maximum(v, 0.0)
        r = np.hypot(v, 2.0 * math.sqrt(tau))
        root: Array = np.where(v >= 0.0, 0.5 * (v + r), 2.0 * tau / (r - np.minimum(v, 0.0)))
        return root

    def conjugate(self, v: Array) -> float:
        """c sum (log c - 1 - log(-v_i)) where v < 0."""
        if v.size and not v.max() < 0.0:
            return math.inf
        return self.c * float((math.log(self.c) - 1.0 - np.log(-v)).sum())

    def dual_scale(self, v: Array) -> float:
        return 1.0 if not v.size or v.max() < 0.0 else 0.0

    def dual_project(self, v: Array) -> Array:
        """The entries below 0; the domain has no end that is in it."""
        return np.minimum(v, -TINY)

    def of_scaled(self, s: float) -> tuple[OfValues, float]:
        return self, -self.c * self.size * math.log(s)

    def conic_of_matrix(self) -> Conic:
        """c sum t_i with exp(-t_i) <= u_i and [[Z, L], [L', diag(u)]] >= 0, L lower triangular with u on its diagonal: det Z >= u_1 ... u_n."""
        n = self.size
        i, j = np.triu_indices(2 * n)
        row = np.arange(i.size)
        a, b = np.tril_indices(n)
        place = np.zeros((n, n), dtype=np.intp)
        place[a, b] = np.arange(a.size)
        of_z, of_l, of_u = j < n, (i < n) & (j >= n) & (i >= j - n), (i >= n) & (i == j)
        half = np.where(i == j, 0.5, math.sqrt(0.5))[of_z]
        z = joined(
            [
                MatrixEntries(row[of_z], (i * n + j)[of_z], half),
                MatrixEntries(row[of_z], (j * n + i)[of_z], half),
            ]
        )
        diagonal, each = place[np.arange(n), np.arange(n)], i.size + 3 * np.arange(n)
        u = joined(
            [
                entries(row[of_l], place[i[of_l], j[of_l] - n], math.sqrt(2.0)),
                entries(row[of_u], diagonal[i[of_u] - n], 1.0),
                entries(each, a.size + np.arange(n), -1.0),
                entries(each + 2, diagonal, 1.0),
            ]
        )
        offset = np.zeros(i.size + 3 * n)
        offset[each + 1] = 1.0
        return Conic(
            n * n,
            a.size + n,
            extra_slope=np.concatenate([np.zeros(a.size), np.full(n, self.c)]),
            of_z=z,
            of_u=u,
            offset=offset,
            cones=(Cone("semidefinite", i.size), Cone("exponential", 3 * n)) if n else (),
        )

    def inside(self, v: Array, room: float) -> Array:
        return np.minimum(v, -max(room, TINY))

    def sinks(self, d: Array) -> bool:
        """True if some entries grow and none falls."""
        return bool(self.c > 0.0 and d.size and d.min() >= 0.0 and d.any())


class OfEigenvalues(Eigen):
    """c h(lambda(X)) with an h of `OfValues`."""

    inner: OfValues

    def describe(self) -> str:
        """`0.5 * lambda_max`, `-2 * log_det on psd`."""
        word, on = CONVEX[str(self.pair[0])], self.pair[1]
        sign = "-" if word.concave else ""
        return f"{sign}{self.inner.c:g} * {word.name}" + (f" on {on}" if on else "")

    def set_beneath(self) -> VectorFunction | None:
        """The semidefinite matrices, where h is of positive numbers."""
        below = self.inner.set_beneath() if self.inner.positive else None
        return None if below is None else EigenSet(self.shape, (None, "psd"), below)

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """lambda_min >= 0 relative to the largest eigenvalue, where h is of positive numbers."""
        if not self.inner.positive or not x.size:
            return 0.0
        values = self.spectrum(x)
        return negative_part(values, self._spread(values, sizes))

    def ends_within(self, x: Array, distance: float) -> bool:
        """True if an eigenvalue may be 0, where h is of positive numbers."""
        if not self.inner.positive or not x.size:
            return False
        return not float(self.spectrum(x).min()) > distance + self.error(x)

    def conjugate(self, v: Array) -> float:
        return self.inner.conjugate_within(self.spectrum(v), self.error(v))

    def dual_scale(self, v: Array) -> float:
        """1 in the domain; else 0, as the domain is no ball about 0."""
        return 1.0 if math.isfinite(self.conjugate(v)) else 0.0

    def dual_project(self, v: Array) -> Array:
        """The projection of the eigenvalues of the symmetric part, inside by what `conjugate` asks for; the skew part stays."""
        if math.isfinite(self.conjugate(v)):
            return v.copy()
        part = self._part(v)
        skew = (v.reshape(self.shape) - part).reshape(-1)
        values, rebuild = self.decompose(v)
        projected = self.inner.dual_project(values)
        # the backward errors of this decomposition, of putting the matrix together, and of taking it apart again
        room = 3.0 * max(self.error(v), self.error(projected))
        found: Array = rebuild(self.inner.inside(values, room)) + skew
        return found

    def infimum(self) -> float:
        return self.inner.infimum()

    def rounding(self, v: Array) -> float:
        """The rounding of the decomposition; 0 where h is of positive numbers, whose conjugate has no end that rounding hides: a price of 0
        beside one of 1e-16 is a program without an answer beside one with an answer."""
        return 0.0 if self.inner.positive else super().rounding(v)

    def in_units(self, s: float) -> tuple[VectorFunction, float] | None:
        found = self.inner.of_scaled(s)
        return None if found is None else (replace(self, inner=found[0]), found[1])

    def growth(self, d: Array) -> float:
        """0 where h is of positive numbers: its slope ends at 0 as all of them grow."""
        return 0.0 if self.inner.positive else super().growth(d)

    def sinks(self, d: Array) -> bool:
        """True if h sinks along the eigenvalues and these are known to be from 0: the rows of d that are not 0 make a positive definite matrix."""
        part = self._part(d)
        rows = np.flatnonzero(part.any(axis=1))
        block = part[np.ix_(rows, rows)]
        if not rows.size or not np.array_equal(part.reshape(-1), d):
            return False
        least = float(np.linalg.eigvalsh(block).min())
        return least > 2.0 * self.error(d) and self.inner.sinks(np.where(part.any(axis=1), least, 0.0))

    def normal_part(self, x: Array, rest: Array) -> Array:
        """0: a positive definite matrix is inside the cone."""
        return np.zeros_like(rest)

    def conic(self) -> Conic | None:
        return self.inner.conic_of_matrix()


def of_eigenvalues(word: str, h: Callable[[int, float, Mapping[str, Any]], OfValues]) -> Callable[..., VectorFunction]:
    """The constructor of c h(lambda(X)) by its word, of (word, c, options) and a shape."""

    def make(spec: Any, on: Any, shape: Shape) -> VectorFunction:
        if shape[0] != shape[1]:
            raise ValueError(f"{word} is of symmetric matrices, not of {shape[0]} x {shape[1]}")
        options = spec[2] if len(spec) > 2 else {}
        return OfEigenvalues(shape, (word, None if on is None else on[0]), h(shape[0], spec[1], options))

    return make


MAKERS: dict[str, Callable[..., VectorFunction]] = {
    word: of_eigenvalues(word, h)
    for word, h in (
        ("lambda_max", lambda n, c, options: SumLargest(n, c)),
        ("sum_largest_eigs", lambda n, c, options: SumLargest(n, c, int(options["k"]))),
        ("log_det", lambda n, c, options: NegativeLog(n, c)),
        ("tr_inv", lambda n, c, options: SumInverse(n, c)),
    )
}
"""Constructors by word."""
