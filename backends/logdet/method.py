"""Sparse inverse covariances for the planner: what the method applies to and what it costs. `run` has the steps."""

from __future__ import annotations

import math

import numpy as np

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.backends import costs
from fwdsl.backends.method import Estimate, Method, State
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.canon.parts import SumTerm
from fwdsl.light_dataclass import light_dataclass, light_state
from fwdsl.words import CONVEX

STEPS = 9.0
"""Newton steps until 1e-6."""

NS_PER_CUBE, SWEEPS_SHARE = 0.35, 0.6
"""Nanoseconds of an inverse, a factorisation and the verifier's eigenvalues of a matrix for each of d^3, and of the sweeps beside."""

DIAGONAL = 1e-12
"""The share of the largest weight by which a map may differ from one that weighs entries, by rounding."""


@light_state
class LogDetState(State):
    """The state of a run of `proximal_newton`."""

    X: Array  # the point, positive definite
    W: Array  # its inverse
    value: float  # of -log det X + <Q, X> + sum L |X|, times c with the constant
    Z: Array  # multipliers of the entries, at most L
    bound: float  # the dual value there, the best so far
    sweeps: int  # of coordinate descent so far
    free: int  # entries of the upper triangle that moved freely in the last step
    failure: str  # why further steps are pointless

    def counts(self) -> dict[str, int]:
        """The sweeps of coordinate descent."""
        return {"sweeps": self.sweeps}


@light_dataclass
class Weighed:
    """The weights c w_ij of each term's entries, with their signs, the prices c, and L, the sum of the symmetric parts of the sizes of weights."""

    signed: tuple[Array, ...]
    prices: tuple[float, ...]
    most: Array


def weights_of(form: Canonical) -> Weighed | str:
    """The weights of the sums of sizes of weighed entries of the one variable; why a term is none of these."""
    d = form.blocks[0].shape[0]
    signed, prices = [], []
    for term in form.terms:
        w = _weights(term, d)
        if w is None:
            return f"`{term.text}` is no sum of sizes of weighed entries of {form.blocks[0].name}"
        signed.append(w)
        prices.append(term.f.slope if isinstance(term.f, VectorFunction) else 0.0)
    most = np.zeros((d, d))
    for w in signed:
        most += 0.5 * (np.abs(w) + np.abs(w).T)
    return Weighed(tuple(signed), tuple(prices), most)


def _weights(term: SumTerm, d: int) -> Array | None:
    """c w where a term is c |w * X|_1 of symmetric X; a map weighs entries if it does so at two matrices drawn at random."""
    if len(term.map.parts) != 1 or term.map.rows != d * d or term.map.offset.any():
        return None
    rng = np.random.default_rng(0)
    m = term.map.parts[0][1]
    found: list[Array] = []
    for _ in range(2):
        a = rng.uniform(1.0, 2.0, (d, d))
        a = a + a.T
        found.append(m.apply(a.reshape(-1)).reshape(d, d) / a)
    if np.abs(found[0] - found[1]).max(initial=0.0) > DIAGONAL * np.abs(found[0]).max(initial=0.0):
        return None
    tiny = np.abs(found[0]) <= DIAGONAL * np.abs(found[0]).max(initial=0.0)
    assert isinstance(term.f, VectorFunction)
    return np.where(tiny, 0.0, term.f.slope * found[0])


class ProximalNewton(Method):
    """A proximal Newton method; no options."""

    name = "proximal_newton"
    title = (
        "proximal Newton on a log determinant with sizes of entries: coordinate descent on the entries that are free"
    )
    source = "Hsieh, Sustik, Dhillon, Ravikumar 2014"
    most_iterations = 500
    runs_in = "fwdsl.backends.logdet.run"

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        """The logarithm of the determinant of the one variable, and sums of sizes of its entries."""
        if len(arrangement.blocks) != 1:
            names = ", ".join(b.name for b in arrangement.blocks)
            return (f"it takes one variable, and the program has {names}",)
        (block,) = arrangement.blocks
        if block.norm is None or not CONVEX[block.norm].of_determinant:
            return (f"no `log_det` of {block.name} itself",)
        if block.ridges:
            return (f"{block.name} has a quadratic term",)
        return tuple(
            f"`{t.text}` is no sum of sizes of entries"
            for t in arrangement.sums
            if t.kind != "norm" or t.is_constraint or not CONVEX[t.atom].adds_sizes
        )

    @classmethod
    def requires_values(cls, form: Canonical) -> tuple[str, ...]:
        """Each sum of sizes is of the entries times weights."""
        found = weights_of(form)
        return (found,) if isinstance(found, str) else ()

    @classmethod
    def settles(cls, arrangement: Arrangement, form: Canonical | None) -> str:
        """A few Newton steps are the answer; without data where no map of the entries has to be looked at."""
        known = form is not None or all(t.bare is not None for t in arrangement.sums)
        return "a few Newton steps on the free entries of one matrix" if known else ""

    @classmethod
    def estimate(cls, form: Canonical, tol: float) -> Estimate:
        """Some inverses and factorisations, and sweeps over the free entries beside."""
        d = form.blocks[0].shape[0]
        steps = STEPS * max(1.0, -math.log10(tol) / 6.0) ** 0.5
        spent = steps * (costs.OVERHEAD * 3.0 + 1e-9 * NS_PER_CUBE * (1.0 + SWEEPS_SHARE) * d**3)
        return Estimate(steps, spent, 8.0 * 14.0 * d * d, f"about {steps:.0f} Newton steps on {d} x {d} entries", 3.0)
