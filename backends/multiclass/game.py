r"""Losses of several classes as a game between the classifier and one point of the simplex a sample.

    min over U max over V   sum_i w_i (<v_i - e_{y_i}, z_i> - f(v_i, y_i)) + <q, U> + lambda |U|_1,   z_i = c x_i U + o_i,  v_i in the simplex,

f = v_y - 1 for the multiclass hinge, sum_l v_l log v_l for softmax; U (d x k) in an l1 ball, a simplex (filled or not), or free with lambda > 0.

The dual point of the canonical form is u_i = w_i (v_i - e_{y_i}), G = c X'u. For a set the bound is -f*(u) + <o, u> - g*(-(q + G)). For a
penalty alone it is that of s u with the largest s <= 1 for which |q + s G|_inf <= lambda: V' = Y + s (V - Y) is still in the simplices. It needs no
radius, and is at least as good as that of any ball that holds the optimum (Babichev, Ostrovskii, Bach 2019, section 2, has the latter only).

In the entropic geometry |U|_1 <= R is the filled simplex of mass R of the two signs of U. With L = log(number of entries),
W = sum w, and l = c max_j (W sum_i w_i x_ij^2)^(1/2), the paper's L_UV (Omega_U Omega_V)^(1/2) is `pace` = l R (L log k)^(1/2), and a step gamma is

    U <- U exp(-2 gamma R L (q + G)) min(exp(-2 gamma R L lambda), R / M)          (24)
    V <- V exp(2 gamma log(k) W (z - Y)) by rows normalised                         (25), hinge
    log V <- (log V + a z) / (1 + a) less its log-sum-exp, a = 2 gamma log(k) W           softmax: closed form, no root search

(with equal weights W = 1 this is the paper's; weights of their own weigh the rows' entropies).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from fwdsl.atoms.base import Array, MatrixLike
from fwdsl.atoms.losses import VECTOR_LOSSES
from fwdsl.atoms.vector_loss import Codes, VectorLossFunction
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.multiclass.loops import entropic
from fwdsl.backends.multiclass.loops.entropic import exponentials
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.products import product_of
from fwdsl.backends.requirements import one_loss, one_variable
from fwdsl.canon.arrange import Arrangement, SumPlan
from fwdsl.canon.form import Canonical
from fwdsl.canon.pairs import words_of
from fwdsl.light_dataclass import light_dataclass
from fwdsl.words import CONVEX, SETS

TINY = 1e-300

SHRINK = 1.0 - 1e-12
"""The scaled dual point is kept this far inside: rounding in products would put it outside."""

EVEN = 0.1
"""The share of a point's mass that is spread evenly where a run starts from it."""


def reasons(arrangement: Arrangement) -> tuple[str, ...]:
    """The reasons why a problem is no such game of one loss of several classes and one variable in an l1 ball or a simplex or with `norm1`."""

    def is_taken(term: SumPlan) -> bool:
        return term.atom in VECTOR_LOSSES and not VECTOR_LOSSES[term.atom].boxed_dual

    found = one_loss(arrangement, is_taken, "`multiclass_hinge` or `softmax` loss") + one_variable(arrangement)
    for block in arrangement.blocks:
        if block.set is not None and not _is_taken(block.set):
            found.append(
                f"{block.name} is in {block.set}: it takes l1_ball, vec(simplex), vec(solid_simplex) or no set"
            )
        elif block.norm is not None and not CONVEX[block.norm].adds_sizes:
            found.append(f"{block.name} has a {block.norm}: it takes norm1 only")
        elif block.norm is None and block.set is None:
            found.append(f"{block.name} is in no l1 ball and has no `norm1({block.name})`")
        if block.ridges:
            found.append(f"it takes no `sum_squares({block.name})`")
    return tuple(found)


def _is_taken(key: str) -> bool:
    """True if a set of a matrix is an l1 ball, a simplex or a filled one, of all entries."""
    outer, inner = words_of(key)
    is_of_entries = outer.of == "entrywise" if outer is inner else outer.inner == "entries"
    return is_of_entries and inner.threshold and not inner.grouped


def value_reasons(canonical: Canonical) -> tuple[str, ...]:
    """The reasons why a bound problem that passed `reasons` is still none: its predictions, a penalty or a radius of 0, fewer than two classes."""
    ((block, m), *others) = canonical.terms[0].map.parts or ((canonical.blocks[0], None),)
    found = []
    if others or m is None or product_of(m) is None:
        found.append("its predictions are not the rows of one data matrix times one variable")
    if canonical.terms[0].f.shape[1] < 2:  # type: ignore[union-attr]
        found.append("there is one class only")
    if not float(canonical.terms[0].f.w.sum()) > 0.0:  # type: ignore[union-attr]
        found.append("all samples have weight 0")
    if not math.isfinite(block.g.radius()):
        lam = _penalty(block.g)
        if not lam > 0.0:
            found.append(f"the weight of `norm1({block.name})` is 0 and {block.name} is in no l1 ball")
        elif not float(np.abs(canonical.q[block.slice]).max(initial=0.0)) < lam:
            found.append(f"the linear terms of {block.name} outweigh its `norm1`")
    elif not block.g.radius() > 0.0:
        found.append(f"the set of {block.name} is a point")
    return tuple(found)


def _penalty(g: Any) -> float:
    coercive = g.coercive() if g.pair[0] is not None and CONVEX[g.pair[0]].adds_sizes else None
    return 0.0 if coercive is None else float(coercive[0])


@light_dataclass
class Game:
    """The game of a problem that passed `reasons` and `value_reasons`.

    `parts` is 2 where both signs of U are kept, 1 on a simplex; `exact` says that U's mass is given; `ball` is the radius of its set, or inf.
    """

    problem: PreparedProblem
    f: VectorLossFunction
    c: float
    A: MatrixLike
    parts: int
    exact: bool
    lam: float
    ball: float

    @staticmethod
    def of(problem: PreparedProblem) -> Game:
        (term,), (block,) = problem.terms, problem.canonical.blocks
        assert isinstance(term.f, VectorLossFunction)
        found = product_of(term.map.parts[0][1])
        assert found is not None
        on = block.g.pair[1]
        total = SETS[on].total if on is not None else ""
        parts, exact = 1 if total in ("equal", "most") else 2, total == "equal"
        return Game(problem, term.f, found.c, found.left.A, parts, exact, _penalty(block.g), float(block.g.radius()))

    # --- sizes and constants ----------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        return self.f.shape[0]

    @property
    def k(self) -> int:
        return self.f.k

    @property
    def d(self) -> int:
        return self.problem.size // self.f.k

    @property
    def y(self) -> Codes:
        return self.f.y

    @property
    def w(self) -> Array:
        return self.f.w

    @cached_property
    def W(self) -> float:
        return float(self.f.w.sum())

    @property
    def softmax(self) -> bool:
        """True if the loss is smooth, as softmax, rather than piecewise linear, as the hinge."""
        return not self.f.loss.piecewise_linear

    @cached_property
    def entries(self) -> float:
        """L, the logarithm of the number of entries of the simplex of U (at least log 2)."""
        return math.log(max(2, self.parts * self.problem.size))

    @cached_property
    def classes(self) -> float:
        return math.log(self.k)

    @cached_property
    @np.errstate(over="ignore", invalid="ignore")
    def sizes(self) -> tuple[Array, Array, Array]:
        """(W c^2 sum_i w_i x_ij^2 for each column j, |c x_i|_inf for each row i, |c x^j|_inf for each column)."""
        A = self.A
        columns = np.zeros(A.shape[1])
        largest = np.zeros(A.shape[0])
        peaks = np.zeros(A.shape[1])
        weights = self.W * self.c * self.c * self.w
        if hasattr(A, "indptr"):
            squared = abs(A).astype(np.float64)
            largest[:] = abs(self.c) * np.asarray(squared.max(axis=1).todense()).reshape(-1)
            peaks[:] = abs(self.c) * np.asarray(squared.max(axis=0).todense()).reshape(-1)
            squared.data **= 2
            columns += squared.T @ weights
            return columns, largest, peaks
        step = max(1, 2**18 // max(1, A.shape[1]))
        for i in range(0, A.shape[0], step):
            part = np.abs(np.asarray(A[i : i + step], dtype=np.float64))
            largest[i : i + step] = abs(self.c) * part.max(axis=1, initial=0.0)
            np.maximum(peaks, abs(self.c) * part.max(axis=0, initial=0.0), out=peaks)
            columns += weights[i : i + step] @ part**2
        return columns, largest, peaks

    def pace(self, radius: float) -> float:
        """The paper's L_UV (Omega_U Omega_V)^(1/2); inf or nan where the data's squares are out of the range of numbers."""
        largest = math.sqrt(float(self.sizes[0].max(initial=0.0))) or 1.0
        return max(radius * largest * math.sqrt(self.entries * self.classes), TINY)

    def steps(self, gamma: float, radius: float) -> tuple[float, float]:
        return 2.0 * gamma * radius * self.entries, 2.0 * gamma * self.classes * self.W

    # --- points -----------------------------------------------------------------------------------------------------

    def uniform(self) -> tuple[Array, Array]:
        """The logarithms of U at mass 1, shape (parts, d k), and of V, (n, k), at their centres."""
        m = self.problem.size
        return np.full((self.parts, m), -math.log(self.parts * m)), np.full((self.n, self.k), -self.classes)

    def around(self, x: Array, radius: float) -> Array:
        """The logarithms of a U with EVEN of its mass even and the rest at x, which is scaled into the set.

        Where both signs of U are kept, U+ U- is one number for all entries: (|x| +- (x^2 + 4 e^2)^(1/2)) / 2, whose sum is at most |x| + 2 e.
        """
        x = x if self.parts == 2 else np.maximum(x, 0.0)
        size = float(np.abs(x).sum())
        mass = radius if self.exact else max(min(size, radius), EVEN * radius)
        if size > 0.0:
            x = x * ((1.0 - EVEN) * (mass if self.exact else min(size, mass)) / size)
        even = mass * (EVEN if size > 0.0 else 1.0) / (self.parts * x.size)
        if self.parts == 1:
            return np.asarray(np.log(x + even))[None]
        larger = np.log(0.5 * (np.abs(x) + np.hypot(x, 2.0 * even)))
        smaller = 2.0 * math.log(even) - larger
        return np.stack([np.where(x >= 0.0, larger, smaller), np.where(x >= 0.0, smaller, larger)])

    def flat(self, U: Array) -> Array:
        return np.asarray(U[0] - U[1] if self.parts == 2 else U[0])

    def forward(self, x: Array) -> Array:
        """c X U + o, (n, k): one data pass."""
        return self.problem.forward(x)[0].reshape(self.n, self.k)

    def multipliers(self, V: Array) -> Array:
        """u_i = w_i (v_i - e_{y_i})."""
        out = np.empty_like(V)
        kernel(entropic.multipliers, reorder=True)(V, self.y, self.w, out)
        return out

    def slope(self, u: Array) -> Array:
        """q + G: one data pass."""
        return self.problem.adjoint([u.reshape(-1)]) + self.problem.q

    def primal_step(self, log_u: Array, slope: Array, a: float, radius: float) -> tuple[Array, Array]:
        """(24): (log U, U)."""
        out_log, out = np.empty_like(log_u), np.empty_like(log_u)
        kernel(entropic.primal_logarithms, reorder=True)(log_u, slope, a, out_log)
        peak = float(out_log.max())
        _linked(entropic.primal_masses)(out_log, peak, -a * self.lam, math.log(radius), self.exact, out)
        return out_log, out

    def dual_step(self, log_v: Array, z: Array, a: float) -> tuple[Array, Array]:
        """(25), or its closed form for softmax: (log V, V)."""
        out_log, out = np.empty_like(log_v), np.empty_like(log_v)
        share, margin = (1.0 / (1.0 + a), 0.0) if self.softmax else (1.0, a)
        _linked(entropic.dual_step)(log_v, z, a, share, margin, self.y, out_log, out)
        return out_log, out

    # --- certificates -----------------------------------------------------------------------------------------------

    def value(self, x: Array, z: Array) -> float:
        return self.problem.objective(x, [z.reshape(-1)])

    def settle(self, u: Array) -> Array:
        """Multipliers that were added up, each row's own entry again minus the sum of the others."""
        out = u.copy()
        rows = np.arange(self.n)
        out[rows, self.y] = 0.0
        out[rows, self.y] = -out.sum(axis=1)
        return out

    def bound(self, u: Array, slope: Array, radius: float) -> tuple[float, Array, float]:
        """(D, the multipliers it is of, D of the game whose U has at most mass `radius`), given q + G."""
        problem, canonical = self.problem, self.problem.canonical
        base = canonical.constant - problem.conjugates([u.reshape(-1)])
        g = problem.g[0]
        if math.isfinite(self.ball):
            found = base - g.conjugate(-slope)
            return found, u, found
        largest = float(np.abs(slope).max(initial=0.0))
        within = base - radius * max(0.0, largest - self.lam)
        if largest <= self.lam:
            return base, u, within
        s = self._scale(slope)
        scaled = s * u
        return canonical.constant - problem.conjugates([scaled.reshape(-1)]), scaled, within

    def _scale(self, slope: Array) -> float:
        """The largest s with |q + s G|_inf <= lambda, a little less."""
        q = self.problem.q
        if not self.problem.has_q:
            return min(1.0, self.lam / float(np.abs(slope).max())) * SHRINK
        G = slope - q
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(G > 0.0, (self.lam - q) / G, np.where(G < 0.0, (-self.lam - q) / G, np.inf))
        return min(1.0, float(room.min(initial=1.0))) * SHRINK

    def safe_radius(self, value: float) -> float:
        """A radius that holds the optimum: the set's, or the largest that P(U) allows under a penalty."""
        if math.isfinite(self.ball):
            return self.ball
        below = self.problem.canonical.constant + self.f.infimum()
        tilt = float(np.abs(self.problem.q).max(initial=0.0))
        return max(value - below, 1e-12 * abs(value), 1e-300) / (self.lam - tilt)

    def first_radius(self, value: float, slope: Array) -> float:
        """The least radius in which the loss of a penalised problem could fall to its infimum at the slope of the start, if that is safe."""
        safe = self.safe_radius(value)
        if math.isfinite(self.ball):
            return safe
        steepest = float(np.abs(slope).max(initial=0.0))
        below = self.problem.canonical.constant + self.f.infimum()
        return min(safe, max(value - below, 0.0) / steepest) if steepest > 0.0 and value > below else safe


def _linked(fn: Callable[..., Any]) -> Callable[..., Any]:
    # its sums may be reordered, but not the exponential's
    return kernel(fn, reorder=True, exponentials=kernel(exponentials, fuse=True))
