r"""The dual of a problem over expansion coefficients, in the signed notation of its methods.

With v = -y, kappa = c^2 / mu, and h_j of `backends.signed_dual`:

    min over v   kappa/2 v'Kv + sum_j h_j(v_j)     with sum(v) = r where there is an intercept, r = q / d

The least value is constant less the optimal value.
"""

from __future__ import annotations

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.functions import FastLoss
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.signed_dual import SignedDual, best_shift
from fwdsl.backends.smo.rows import GramRows
from fwdsl.canon.form import Expansion


class ExpansionProblem:
    """The dual above; `passes` counts the entries of the Gram matrix that were used, kept ones too, in units of all of them."""

    def __init__(self, form: Expansion, threads: int) -> None:
        f = form.f
        self.form = form
        self.pool = Pool(threads)
        self.loss = FastLoss(f, self.pool)
        self.gram = form.gram
        self.kappa = form.c * form.c / form.mu
        self.dual = SignedDual.of(f, form.offset)
        self.t, self.s, self.e, self.lo, self.hi = (getattr(self.dual, name) for name in ("t", "s", "e", "lo", "hi"))
        free = form.intercept
        self.has_equality = free is not None
        self.total = 0.0 if free is None else free.q / free.d
        self.entries = 0.0
        self._rows: GramRows | None = None

    def rows(self, most_bytes: float) -> GramRows:
        """The rows of K that are kept, those of an earlier solve included."""
        if self._rows is None:
            self._rows = GramRows.taken(self.gram, most_bytes)
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
        """v moved into the box, and onto the equality."""
        return self.dual.on_equality(v, self.total) if self.has_equality else np.clip(v, self.lo, self.hi)

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
        dual = form.constant - norm - self.dual.value(v)
        z = kv + form.offset
        b, linear = 0.0, 0.0
        if form.intercept is not None:
            shift = best_shift(self.loss, z, self.total, guess, width)
            b = shift / form.intercept.d
            linear, z = form.intercept.q * b, z + shift
        return form.constant + norm + self.loss.value(z) + linear, dual, b
