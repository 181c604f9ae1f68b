"""The ellipsoid with given half-axes: a set from outside, round and bounded, without a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fwdsl.extend import Array, Parameter, VectorSet, set_word


@dataclass(frozen=True, eq=False)
class Ellipsoid(VectorSet):
    """{x : sum (x_i / a_i)^2 <= 1}: support function |a v|_2 (entrywise product), LMO -a^2 c / |a c|_2."""

    size: int
    a: Array

    word = set_word(
        "ellipsoid", "sum (x_i / a_i)^2 <= 1.", Parameter("a", shape="entries"), elsewhere=("ellipse", "scaled_ball")
    )

    def __post_init__(self) -> None:
        if not np.all((self.a > 0.0) & np.isfinite(self.a)):
            raise ValueError("the half-axes of an ellipsoid are positive and finite")

    def _length(self, x: Array) -> float:
        return float(np.linalg.norm(x / self.a))

    def radius(self) -> float:
        return float(self.a.max(initial=0.0))

    def violation(self, x: Array, sizes: Array | None = None) -> float:
        length = self._length(x)
        return 0.0 if length <= 1.0 else (length - 1.0) / ((length if sizes is None else self._length(sizes)) + 1.0)

    def prox(self, v: Array, t: float) -> Array:
        """v a^2 / (a^2 + m) with the multiplier m >= 0 at which the length is 1, by Newton's method on its inverse."""
        if self._length(v) <= 1.0:
            return v.copy()
        squares, m = np.square(self.a), 0.0
        for _ in range(100):
            ratio = self.a * v / (squares + m)
            length = float(np.linalg.norm(ratio))
            step = (length - 1.0) * length**2 / float((np.square(ratio) / (squares + m)).sum())
            if not m + step > m:
                break
            m += step
        x = v * squares / (squares + m)
        return x / max(1.0, self._length(x))

    def conjugate(self, v: Array) -> float:
        return float(np.linalg.norm(self.a * v))

    def lmo(self, c: Array) -> Array:
        length = float(np.linalg.norm(self.a * c))
        if length == 0.0:
            return np.concatenate([self.a[:1], np.zeros(max(0, self.size - 1))])
        return -np.square(self.a) * c / length

    def cvxpy(self, x: object) -> list[object]:
        import cvxpy as cp

        return [cp.norm(cp.multiply(1.0 / self.a, x), 2) <= 1.0]
