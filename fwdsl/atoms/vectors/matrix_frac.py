"""c x' P^-1 x for positive definite P (n, n), of vectors (P, x) of n^2 + n entries, P row after row; of P its symmetric part counts.

| what | formula |
| --- | --- |
| conjugate | the indicator of {(V, y): V + y y' / (4 c) <= 0}, an inequality of matrices |
| projection on that set | the y of least \\|y - y0\\|^2 + \\|M_+\\|^2 with M = V0 + y y' / (4 c), which is convex, and V = M_- - y y' / (4 c) |
| prox | by Moreau's identity |

M_+ and M_- have the eigenvalues of M of either sign. The y is found by Newton's method in the basis of its eigenvectors: with the eigenvalues l,
their positive parts p, and w_ij = (p_i - p_j) / (l_i - l_j), the Hessian is I + (diag(p) + (diag(w y^2) + w * y y') / (4 c)) / (2 c). At P that is
only semidefinite the value is that of the limit, infinite where x is not in its range. Sources: Boyd, Vandenberghe 2004, example 3.4; Lewis, Sendov
2001 for the derivative.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..base import Array, VectorFunction
from ..conic import Cone, Conic, entries, joined
from .common import checked_coefficient, norm2

EPS = float(np.finfo(np.float64).eps)

NOTHING = 1e-13
"""The share of x outside of the range of P that is rounding."""

STEPS, HALVINGS = 100, 60
"""Most steps of Newton's method, and halvings of one."""

ENOUGH = 1e-4
"""The share of the predicted decrease that a step must make."""


@dataclass(frozen=True, eq=False, repr=False)
class MatrixFrac(VectorFunction):
    """`c * matrix_frac` of (P, x)."""

    size: int
    c: float

    pair = ("matrix_frac", None)
    polyhedral = False
    compiled = False
    certificate = "rigorous"
    prox_kernel = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "c", checked_coefficient(self.c))
        n = self.order
        if n * n + n != self.size:
            raise ValueError(f"{self.size} numbers are no square matrix with a vector of its order")

    @property
    def order(self) -> int:
        """n."""
        return (math.isqrt(4 * self.size + 1) - 1) // 2

    @property
    def slope(self) -> float:
        return self.c

    @property
    def has_faces(self) -> bool:
        """False: it is curved wherever it is not 0."""
        return False

    def radius(self) -> float:
        return math.inf if self.size else 0.0

    def set_beneath(self) -> VectorFunction:
        """P >= 0."""
        return Domain(self)

    def coercive(self) -> None:
        return None

    def describe(self) -> str:
        return f"{self.c:g} * matrix_frac"

    def _taken_apart(self, v: Array) -> tuple[Array, Array, Array]:
        """The symmetric and the skew part of the matrix, and the vector."""
        n = self.order
        a = v[: n * n].reshape(n, n)
        part = 0.5 * (a + a.T)
        return part, a - part, v[n * n :]

    def _error(self, a: Array) -> float:
        """The backward error of the eigenvalues of a."""
        return (10 + self.order) * EPS * norm2(a.reshape(-1))

    def value(self, x: Array) -> float:
        """c x' P^-1 x; inf where P is not semidefinite, or x not in its range."""
        P, _, y = self._taken_apart(x)
        if not y.any():
            return 0.0
        values, q = np.linalg.eigh(P)
        squares = np.square(q.T @ y)
        live = (values > self._error(P)) | (squares > (NOTHING * norm2(y)) ** 2)
        if np.any(values[live] <= 0.0):
            return math.inf
        return self.c * float((squares[live] / values[live]).sum())

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """P >= 0, relative to its largest eigenvalue."""
        P, _, _ = self._taken_apart(x)
        if not P.size:
            return 0.0
        values = np.linalg.eigvalsh(P) if np.isfinite(P).all() else np.full(self.order, np.nan)
        length = norm2(P.reshape(-1))
        size = float(np.abs(values).max())
        if sizes is not None and length > 0.0:
            size *= norm2(sizes[: P.size]) / length
        over = -float(values.min())
        return over / size if over > 0.0 else 0.0

    def _nearest(self, V: Array, y0: Array) -> tuple[Array, Array]:
        """The point of the conjugate's domain nearest to (V, y0), V symmetric, but for rounding."""
        c = self.c

        def at(y: Array) -> tuple[float, Array, Array]:
            values, q = np.linalg.eigh(V + np.outer(y, y) / (4.0 * c))
            p = np.maximum(values, 0.0)
            return 0.5 * float(((y - y0) ** 2).sum() + (p * p).sum()), values, q

        y = y0.copy()
        value, values, q = at(y)
        for _ in range(STEPS):
            p = np.maximum(values, 0.0)
            along = q.T @ y
            slope = along - q.T @ y0 + p * along / (2.0 * c)
            if not norm2(slope) > 4.0 * EPS * (norm2(y0) + norm2(p * along) / (2.0 * c)):
                break
            gaps = values[:, None] - values[None, :]
            tied = np.abs(gaps) <= EPS * np.abs(values).max()
            w = np.where(
                tied,
                (values > 0.0)[:, None] & (values > 0.0)[None, :],
                (p[:, None] - p[None, :]) / np.where(tied, 1.0, gaps),
            )
            hessian = np.outer(along, along) * w / (8.0 * c * c)
            hessian[np.diag_indices_from(hessian)] += 1.0 + p / (2.0 * c) + (w @ np.square(along)) / (8.0 * c * c)
            step = q @ np.linalg.solve(hessian, -slope)
            fall = float((q @ slope) @ step)
            length = 1.0
            for _ in range(HALVINGS):
                found = at(y + length * step)
                if found[0] <= value + ENOUGH * length * fall + 4.0 * EPS * value:
                    break
                length *= 0.5
            moved = y + length * step
            if np.array_equal(moved, y):
                break
            y, (value, values, q) = moved, found
        inside = (q * np.minimum(values, 0.0)) @ q.T - np.outer(y, y) / (4.0 * c)
        return 0.5 * (inside + inside.T), y

    def prox(self, v: Array, t: float) -> Array:
        """v less t times the projection of v / t on the domain of the conjugate; what is skew does not count."""
        P, _, x = self._taken_apart(v)
        if not v.size:
            return v.copy()
        if not np.isfinite(v).all():
            return np.full(v.size, np.nan)
        if t == 0.0:
            values, q = np.linalg.eigh(P)
            kept = (q * np.maximum(values, 0.0)) @ q.T
            return np.concatenate([kept.reshape(-1), x])
        V, y = self._nearest(P / t, x / t)
        # what is left of P is semidefinite but for rounding
        values, q = np.linalg.eigh(P - t * V)
        left = (q * np.maximum(values, 0.0)) @ q.T
        return np.concatenate([(0.5 * (left + left.T)).reshape(-1), x - t * y])

    def _most(self, V: Array, y: Array) -> tuple[float, float]:
        """The largest eigenvalue of V + y y' / (4 c), and its backward error."""
        M = V + np.outer(y, y) / (4.0 * self.c)
        error = self._error(V) + self._error(np.outer(y, y) / (4.0 * self.c))
        if not np.isfinite(M).all():
            return math.nan, error
        return (float(np.linalg.eigvalsh(M).max()) if M.size else 0.0), error

    def conjugate(self, v: Array) -> float:
        V, _, y = self._taken_apart(v)
        most, error = self._most(V, y)
        return 0.0 if most + error <= 0.0 else math.inf

    def dual_scale(self, v: Array) -> float:
        """The largest s with s V + s^2 y y' / (4 c) <= 0, by the largest root of y' V^-1 y; 0 where V is not negative definite."""
        if math.isfinite(self.conjugate(v)):
            return 1.0
        V, _, y = self._taken_apart(v)
        if not np.isfinite(v).all():
            return 0.0
        values, q = np.linalg.eigh(V)
        if not values.size or values.max() >= -self._error(V):
            return 0.0
        s = min(1.0, 4.0 * self.c / max(float((np.square(q.T @ y) / -values).sum()), 1e-300))
        for k in range(40, 0, -4):
            if math.isfinite(self.conjugate(s * (1.0 - 2.0**-k) * v)):
                return s * (1.0 - 2.0**-k)
        return 0.0

    def dual_project(self, v: Array) -> Array:
        """The nearest point, with V lowered by the backward error; the skew part stays."""
        if math.isfinite(self.conjugate(v)):
            return v.copy()
        V, skew, y0 = self._taken_apart(v)
        inside, y = self._nearest(V, y0)
        room = 4.0 * (self._error(inside) + self._error(V) + self._error(np.outer(y, y) / (4.0 * self.c)))
        inside[np.diag_indices_from(inside)] -= room
        return np.concatenate([(inside + skew).reshape(-1), y])

    def rounding(self, v: Array) -> float:
        V, _, y = self._taken_apart(v)
        return 8.0 * (self._error(V) + self._error(np.outer(y, y) / (4.0 * self.c)))

    def conic(self) -> Conic:
        """c u with [[P, x], [x', u]] >= 0."""
        n = self.order
        i, j = np.triu_indices(n + 1)
        row = np.arange(i.size)
        own, side = j < n, (j == n) & (i < n)
        half = np.where(i == j, 0.5, math.sqrt(0.5))[own]
        of_z = joined(
            [
                entries(row[own], (i * n + j)[own], half),
                entries(row[own], (j * n + i)[own], half),
                entries(row[side], n * n + i[side], math.sqrt(2.0)),
            ]
        )
        return Conic(
            self.size,
            1,
            extra_slope=self.c,
            of_z=of_z,
            of_u=entries(row[-1:], 0, 1.0),
            offset=np.zeros(i.size),
            cones=(Cone("semidefinite", i.size),),
        )


@dataclass(frozen=True, eq=False, repr=False)
class Domain(VectorFunction):
    """The indicator of {(P, x): P >= 0}, the closure of the domain of a `matrix_frac`: beside any x in the range of P any other is near."""

    of: MatrixFrac

    polyhedral = False
    compiled = False
    certificate = "rigorous"
    prox_kernel = None  # type: ignore[assignment]

    @property
    def pair(self) -> tuple[str | None, str | None]:  # type: ignore[override]
        """The set of the matrix: no word is for that of both."""
        return None, "psd"

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.of.size

    def radius(self) -> float:
        return self.of.radius()

    def coercive(self) -> None:
        return None

    def describe(self) -> str:
        return "psd"

    def value(self, x: Array) -> float:
        return 0.0

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        return self.of.violation(x, sizes)

    def prox(self, v: Array, t: float) -> Array:
        return self.of.prox(v, 0.0)

    def into_recession(self, d: Array) -> Array:
        """The projection, as the set is a cone."""
        return self.of.prox(d, 0.0)

    def conjugate(self, v: Array) -> float:
        """0 at (V, 0) with V <= 0, else inf."""
        return math.inf if v[self.of.order**2 :].any() else self.of.conjugate(v)

    def dual_scale(self, v: Array) -> float:
        return 1.0 if math.isfinite(self.conjugate(v)) else 0.0

    def dual_project(self, v: Array) -> Array:
        """(V, 0) with the negative part of the symmetric part of V."""
        without = v.copy()
        without[self.of.order**2 :] = 0.0
        return self.of.dual_project(without)

    def rounding(self, v: Array) -> float:
        return self.of.rounding(v)
