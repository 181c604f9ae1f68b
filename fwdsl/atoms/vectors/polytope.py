"""The polytope, the hull of the rows of V: support function max_i <V_i, v>, LMO the row of least <V_i, c>.

The projection is Wolfe's (1976): a set of affinely independent rows and the point nearest to v in their hull, to which the best further
row is added until none is better. It is finite, and takes a least-squares problem a step: `proximable` where V is small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base import Array, MatrixLike
from ..conic import Conic, hull_form
from .common import ConvexSet, excess, largest

PROXIMABLE_NUMBERS = 10_000
"""V of at most this many numbers is projected on; a larger hull is to be written by weights in the simplex."""


@dataclass(frozen=True, eq=False, repr=False)
class Polytope(ConvexSet):
    """`polytope(V)`; V dense or sparse (m, d), one vertex a row."""

    size: int
    V: MatrixLike

    pair = (None, "polytope")
    polyhedral = True
    compiled = False
    prox_kernel = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        dense = self.V.toarray() if hasattr(self.V, "toarray") else self.V
        vertices = np.ascontiguousarray(
            np.asarray(dense, dtype=np.float64).reshape(-1, self.size) if self.size else np.zeros((1, 0))
        )
        if not vertices.shape[0] or not np.all(np.isfinite(vertices)):
            raise ValueError("a polytope needs at least one vertex, and finite numbers")
        object.__setattr__(self, "V", vertices)

    @property
    def proximable(self) -> bool:  # type: ignore[override]
        """True if V is small."""
        return bool(self.V.size <= PROXIMABLE_NUMBERS)

    def radius(self) -> float:
        return float(np.sqrt(np.square(self.V).sum(axis=1)).max())

    def diameter(self) -> float:
        return max(float(np.sqrt(np.square(self.V - x).sum(axis=1)).max()) for x in self.V)

    def describe(self) -> str:
        return "polytope(V)"

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        """The largest entry of x less its projection, relative to 1 + the largest entry of x."""
        if not self.size:
            return 0.0
        return excess(largest(x - self.prox(x, 1.0)), 0.0, largest(x if sizes is None else sizes) + largest(self.V))

    def prox(self, v: Array, t: float) -> Array:
        """The projection, a combination of rows."""
        rows = self.V - v
        chosen = [int(np.argmin(np.square(rows).sum(axis=1)))]
        weights = np.ones(1)
        slack = 1e-14 * float(np.square(rows).sum(axis=1).max(initial=0.0))
        for _ in range(20 * (self.size + 1) * self.V.shape[0]):
            x = weights @ rows[chosen]
            best = int(np.argmin(rows @ x))
            if best in chosen or float(rows[best] @ x) >= float(x @ x) - slack:
                break
            chosen, weights = _step(rows, [*chosen, best], np.append(weights, 0.0))
        found: Array = weights @ self.V[chosen]
        return found

    def conjugate(self, v: Array) -> float:
        return float((self.V @ v).max())

    def lmo(self, c: Array) -> Array:
        """The first row of least <V_i, c>."""
        vertex: Array = self.V[self.vertex_id(c)[0]].copy()
        return vertex

    def conic(self) -> Conic:
        """x = V'u with weights u in the simplex."""
        return hull_form(np.asarray(self.V))

    def vertex_id(self, c: Array) -> tuple[int, ...]:
        return (int(np.argmin(self.V @ c)),)


def _step(rows: Array, chosen: list[int], weights: Array) -> tuple[list[int], Array]:
    """Towards the point nearest to the origin in the affine hull of the chosen rows, leaving those whose weight would become negative."""
    while True:
        first = rows[chosen[0]]
        others, *_ = np.linalg.lstsq((rows[chosen[1:]] - first).T, -first, rcond=None)
        goal = np.concatenate([[1.0 - float(others.sum())], others])
        negative = goal <= 1e-14
        if not np.any(negative) or len(chosen) == 1:
            return chosen, np.maximum(goal, 0.0) / float(np.maximum(goal, 0.0).sum())
        share = float((weights[negative] / np.maximum(weights[negative] - goal[negative], 1e-300)).min())
        weights = np.maximum(weights + share * (goal - weights), 0.0)
        weights[negative & (weights <= 1e-14)] = 0.0
        if np.all(weights > 0.0):
            weights[np.flatnonzero(negative)[int(np.argmin(weights[negative]))]] = 0.0
        chosen = [i for i, w in zip(chosen, weights, strict=True) if w > 0.0]
        weights = weights[weights > 0.0]
