"""The ball {x : (sum_i |x_i|^p)^(1/p) <= r}, p >= 1: support function r times the norm of q = p / (p - 1). Projection: `norm_p.project_p`."""

from __future__ import annotations

import numpy as np

from ...light_dataclass import light_dataclass
from ..base import Array, Face
from ..conic import Conic, norm_p_form, within_form
from .common import Ball, checked_radius, face
from .norm_p import checked_exponent, dual_exponent, norm_p, project_p


@light_dataclass
class LpBall(Ball):
    """`lp_ball(p, r)`."""

    size: int
    p: float
    r: float

    pair = (None, "lp_ball")
    polyhedral = False
    compiled = False
    prox_kernel = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "r", checked_radius(self.r))
        object.__setattr__(self, "p", checked_exponent(self.p))

    def norm(self, x: Array) -> float:
        return norm_p(x, self.p)

    def dual_norm(self, x: Array) -> float:
        return norm_p(x, dual_exponent(self.p))

    def describe(self) -> str:
        return f"lp_ball({self.p:g}, {self.r:g})"

    def radius(self) -> float:
        """r, times n^(1/2 - 1/p) where p > 2: all entries of one size are the longest."""
        return self.r * self.size ** max(0.0, 0.5 - 1.0 / self.p) if self.size else 0.0

    def enclosing_box(self) -> tuple[Array, Array]:
        most = np.full(self.size, self.r)
        return -most, most

    def prox(self, v: Array, t: float) -> Array:
        x = project_p(v, self.r, self.p)
        size = self.norm(x)
        return x * (self.r / size) if size > self.r else x

    def lmo(self, c: Array) -> Array:
        """-r sign(c_i) (|c_i| / |c|_q)^(q - 1), the first entry of largest size alone for p = 1; -r e_0 where c = 0."""
        x = np.zeros(self.size)
        if not self.size:
            return x
        peak = float(np.abs(c).max())
        if self.p == 1.0 or peak == 0.0:
            at = int(np.argmax(np.abs(c)))
            x[at] = self.r if c[at] < 0.0 else -self.r
            return x
        q = dual_exponent(self.p)
        x = -np.copysign((np.abs(c) / norm_p(c, q)) ** (q - 1.0), c)
        return x * (self.r / self.norm(x))

    def face(self, x: Array) -> Face | None:
        """Everything moves inside; the boundary is curved."""
        return face(np.arange(self.size)) if self.interior(x) else None

    def conic(self) -> Conic:
        form = norm_p_form(self.size, 1.0, self.p)
        return within_form(form, np.broadcast_to(np.asarray(form.extra_slope, dtype=np.float64), (form.extra,)), self.r)
