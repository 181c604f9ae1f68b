r"""The dual of a problem over expansion coefficients, in the signed notation of its methods.

With v = -y, the slopes of the loss with their signs turned, kappa = c^2 / mu, and t = b - o (targets less offsets):

    min over v   kappa/2 v'Kv + sum_j [s_j v_j^2 / 2 - t_j v_j + e |v_j|]     lo <= v <= hi, and sum(v) = r with an intercept, r = q / d

s_j is 1 / (smoothness w_j), 0 for a loss with corners, e the half-width of a tube. The least value is constant less the optimal value.
"""

from __future__ import annotations

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.smo.rows import Rows
from fwdsl.canon.expansion import Expansion


class ExpansionProblem:
    """The dual above; `passes` counts the entries of the Gram matrix that were used, kept ones too, in units of all of them."""

    def __init__(self, form: Expansion, threads: int) -> None:
        f = form.f
        self.form = form
        self.pool = Pool(threads)
        self.loss = FastLoss(f, self.pool)
        self.gram = form.gram
        self.kappa = form.c * form.c / form.mu
        self.t = f.b - form.offset
        smoothness, kink = f.loss.smoothness, f.loss.dual_kink
        assert kink is not None
        live = f.w > 0.0
        self.s = np.zeros(f.size)
        if smoothness is not None:
            self.s[live] = 1.0 / (smoothness * f.w[live])
        self.e = kink(f.p)
        low, high = f.dual_bounds()
        self.lo, self.hi = -high, -low
        free = form.intercept
        self.has_equality = free is not None
        self.total = 0.0 if free is None else free.q / free.d
        self.diagonal = self.kappa * self.gram.diag() + self.s
        self.entries = 0.0
        self._rows: Rows | None = None

    def rows(self, most_bytes: float) -> Rows:
        """The rows of K that are kept, those of an earlier solve included."""
        if self._rows is None:
            self._rows = Rows.taken(self.gram, most_bytes)
        return self._rows

    @property
    def n(self) -> int:
        return self.form.n

    @property
    def passes(self) -> float:
        return self.entries / max(1, self.n) ** 2

    def look(self) -> None:
        """Raise `Stopped` where the run is to end."""
        self.pool.look()

    def close(self) -> None:
        """Give back the threads and the rows."""
        self.pool.close()
        if self._rows is not None:
            self._rows.give_back(self.gram)
            self._rows = None

    def combine(self, v: Array) -> Array:
        """kappa K v, from the columns where v is not 0."""
        self.entries += float(np.count_nonzero(v)) * self.n
        return self.kappa * self.gram.combine(v)

    def feasible(self, v: Array) -> Array:
        """v moved into the box, and onto the equality: what is missing goes to the first entries that have room, as much as they have."""
        v = np.clip(v, self.lo, self.hi)
        if not self.has_equality:
            return v
        missing = self.total - float(v.sum())
        if abs(missing) <= 1e-12 * (float(np.abs(v).sum()) + abs(self.total)):
            return v
        room = self.hi - v if missing > 0.0 else v - self.lo
        endless = np.isinf(room)
        if endless.any():
            return np.asarray(v + np.where(endless, missing / np.count_nonzero(endless), 0.0))
        before = np.concatenate(([0.0], np.cumsum(room)[:-1]))
        step = np.clip(abs(missing) - before, 0.0, room)
        moved = np.where(step == room, self.hi if missing > 0.0 else self.lo, v + np.copysign(step, missing))
        return np.asarray(np.where(step > 0.0, moved, v))

    def point(self, v: Array, b: float) -> Array:
        """The expansion coefficients a = c / mu v, and b."""
        return self.form.joined((self.form.c / self.form.mu) * v, b)

    def slopes_of(self, x: Array) -> tuple[Array, float]:
        """v and b of a point."""
        a, b = self.form.parts(x)
        return (self.form.mu / self.form.c) * a, b

    # --- bounds -------------------------------------------------------------------------------------------------------

    def ends(self, v: Array, g: Array, guess: float, width: float) -> tuple[float, float, float]:
        """(P, D, b) at v, with g = kappa K v + s v - t: P at the best intercept b, which is looked for around d b = `guess`."""
        form = self.form
        kv = g - self.s * v + self.t
        norm = 0.5 * float(v @ kv)
        dual = form.constant - norm - float(v @ (0.5 * self.s * v - self.t)) - self.e * float(np.abs(v).sum())
        z = kv + form.offset
        b, linear = 0.0, 0.0
        if form.intercept is not None:
            shift = self._best_shift(z, guess, width)
            b = shift / form.intercept.d
            linear, z = form.intercept.q * b, z + shift
        return form.constant + norm + self.loss.value(z) + linear, dual, b

    def _best_shift(self, z: Array, guess: float, width: float) -> float:
        """argmin over t of f(z + t) + r t, by bisection on the slope."""
        out = np.empty_like(z)

        def slope(t: float) -> float:
            self.loss.value_gradient(z + t, out)
            return float(out.sum()) + self.total

        unit = max(1.0, float(np.abs(z).max(initial=0.0)), abs(guess))
        width = max(width, 1e-12 * unit)
        low, high = guess - width, guess + width
        for _ in range(60):
            if slope(low) <= 0.0:
                break
            low, high, width = low - 4.0 * width, low, 4.0 * width
        width = high - low
        for _ in range(60):
            if slope(high) >= 0.0:
                break
            low, high, width = high, high + 4.0 * width, 4.0 * width
        while high - low > 1e-15 * unit:
            middle = 0.5 * (low + high)
            if middle in (low, high):
                break
            at = slope(middle)
            low, high = (middle if at <= 0.0 else low), (middle if at >= 0.0 else high)
        return min(low, high, key=lambda t: self.loss.value(z + t) + self.total * t)
