r"""P(x) and D(y) of a canonical problem, recomputed in float64 with the atoms' NumPy references, never with the kernels.

For any y = (y_1, ..., y_m), weak duality gives

    D(y) = constant + sum_i (<b_i, y_i> - f_i^*(y_i)) - sum_B g_B^*(v_B),    v = -(q + sum_i K_i' y_i).

Where g_B^*(v_B) is infinite, v_B misses the domain of g_B^*. Three rules still give a bound (see "Certificates" in docs/architecture.md):

* *rounding*: an equality missed by at most 8 eps times the sum of its terms' sizes counts as met, and so does one missed by no more than the
  backward error of the decomposition that tells. It costs the miss at x; where constraints have multipliers far larger than the costs they balance,
  what the miss may gain at points as large as x;
* *implied bound*: where c |x_B|_p <= P(x) - (infima of everything else) is known, D may assume |x_B|_p <= R, and a miss
  costs R times its dual norm (g + indicator of the ball has conjugate min_u g^*(u) + R |v - u|_*);
* *stated radius*: a relative miss of at most 1e-12 costs M = R_B |miss|_1, R_B being 1,000 times the largest entry X_B of the variable at x,
  and the certificate is `conditional` on no better point having a larger entry.

What x violates its constraints by may hide part of the objective, V = sum_i |y_i| violation_i. With the sizes of all terms,

    S = those of the objective at 0 and at x, of the dual, and |y|' |K| |x|,
    relative gap = (|P - D| + V + M) / max(|P|, |D|, 1e-6 S).

There is no constant with a unit in it: a program in other units has the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..atoms.base import Array, VectorFunction
from ..atoms.loss import LossFunction
from ..atoms.matrices import dual_norm
from ..atoms.vector_loss import VectorLossFunction
from ..atoms.vectors.common import largest, norm2
from ..canon.form import Canonical
from ..canon.maps import Identity
from ..canon.matrix_maps import Symmetrise
from ..canon.parts import Block, SumTerm
from .certificate import FLOOR, CertificateKind
from .point import EPS, LARGEST_SUMS, ROUNDING, evaluate_point, sizes_of_terms
from .verified import NO_BOUND, DualBound, Point, Verified

CONDITIONAL_MISS = 1e-12
RADIUS_FACTOR = 1000.0
OWN_MISS = 1e-2
"""The largest share of its own terms by which the dual may miss the equality of an unknown with a linear cost."""
NOISE = 1e-25

HARMLESS = 1e-12
"""The share of P that rounding of an equality may cost anywhere without a look at where it comes from."""

MOST_BALANCE = 1e3
"""The multiple of a variable's costs up to which what multipliers of constraints balance there counts in S."""


def verify(canonical: Canonical, x: Array, y: Sequence[Array] | None, point: Point | None = None) -> Verified:
    """Certify x by the dual point y (None: no bound); `point` has earlier findings for x."""
    point = evaluate_point(canonical, x) if point is None else point
    if y is None:
        return Verified(point, NO_BOUND, canonical.scale, 2.0)
    return Verified(point, evaluate_dual(canonical, tidied(canonical, y), x, point), canonical.scale, 3.0)


@dataclass(frozen=True)
class Tidied:
    """A dual point moved into the domains that little more than rounding keeps it out of: y_i, f_i^*(y_i) where it was asked for, v = -(q + K'y), and
    the conjugates of blocks at v that were asked for, by name."""

    y: tuple[Array, ...]
    values: tuple[float | None, ...]
    v: Array
    conjugates: dict[str, float]


def tidied(canonical: Canonical, y: Sequence[Array]) -> Tidied:
    """y moved into the domains of the conjugates of terms, and scaled into those of penalties, where little more than rounding keeps it out."""
    tidy = [_tidy(t, _without_noise(yi)) for t, yi in zip(canonical.terms, y, strict=True)]
    v = -canonical.q
    for term, (yi, _) in zip(canonical.terms, tidy, strict=True):
        if yi.any():
            term.map.adjoint(-yi, v)
    share, conjugates = _share_of_penalties(canonical, v) if np.isfinite(v).all() else (1.0, {})
    if share < 1.0:
        # without q it is linear in y, and needs no second product
        tidy, v, conjugates = [(share * yi, None) for yi, _ in tidy], share * v, {}
    return Tidied(tuple(yi for yi, _ in tidy), tuple(value for _, value in tidy), v, conjugates)


def _without_noise(y: Array) -> Array:
    """The multipliers of a term, 0 for those that are rounding beside its largest one: nothing can be told from them."""
    size = np.abs(y)
    return np.where(size < NOISE * size.max(initial=0.0), 0.0, y)


def _tidy(term: SumTerm, y: Array) -> tuple[Array, float | None]:
    """y_i moved into the domain of f_i^* where only rounding keeps it out, and f_i^*(y_i) where it was asked for: any y gives a valid bound."""
    if isinstance(term.f, LossFunction):
        return term.f.into_domain(y), None
    value = term.conjugate(y)
    if math.isfinite(value):
        return y, value
    if isinstance(term.f, VectorLossFunction):
        return term.f.into_domain(y), None
    share = term.f.dual_scale(y)
    # of a cone nothing would be left: a matrix whose least eigenvalue is rounding below zero is projected
    return (share * y if share > 0.0 else term.f.dual_project(y)), None


def evaluate_dual(canonical: Canonical, tidy: Tidied, x: Array, point: Point) -> DualBound:
    """D(y) with its certificate kind, a sentence on its grounds, and the stated radius if there is one."""
    y, v, conjugates = tidy.y, tidy.v, tidy.conjugates
    values = [
        t.conjugate(yi) if value is None else value
        for t, yi, value in zip(canonical.terms, y, tidy.values, strict=True)
    ]
    total, sizes = _of_terms(canonical, list(zip(y, values, strict=True)))
    if not math.isfinite(total):
        return _no_bound("the dual point is outside the domain of a conjugate")
    spectral = any(f.certificate == "rigorous" for f in _vector_functions(canonical))
    kind: CertificateKind = "rigorous" if spectral else "exact"
    grounds = "dense singular values or eigenvalues with their backward error" if spectral else "closed-form dual"
    statements, radius, cost, local, met = [grounds], None, 0.0, False, True
    for block in canonical.blocks:
        value, settled = _of_block(canonical, block, v, conjugates.get(block.name), y, x, point)
        total, sizes = total - value, sizes + abs(value)
        if settled is None:
            continue
        if settled.fails:
            return _no_bound(settled.statement)
        statements.append(settled.statement)
        total -= settled.taken
        local, met = local or settled.local, met and settled.met
        if settled.radius is not None:
            radius, kind = max(radius or 0.0, settled.radius), "conditional"
            cost += settled.cost
    if not math.isfinite(total):
        # squares of a diverged run's multipliers overflow, to either side: what is left is no bound
        return _no_bound("the numbers of the dual point overflow")
    normals = tuple(norm2(v[b.slice]) for b in canonical.blocks)
    pairs = sum(
        point.dot(k, np.abs(yi), sums) for k, (yi, sums) in enumerate(zip(y, point.sums, strict=False)) if sums.size
    )
    small = FLOOR * (sizes + pairs) > max(abs(point.value), abs(total))
    bound = DualBound(
        total, cost, kind, "; ".join(statements), radius, y, sizes, normals, local, met,
        weight=partial(_weight, canonical, y, v, x),
        slopes=(v,) if canonical.instance.model.constraints else (),
    )  # fmt: skip
    counted = canonical.scale + point.size + (bound.share if small else 1.0) * (sizes + pairs)
    if EPS * (sizes + pairs) > max(abs(point.value), FLOOR * counted):
        return _no_bound("the terms of the dual objective cancel to nothing but rounding")
    return bound


def _weight(canonical: Canonical, y: Sequence[Array], v: Array, x: Array) -> float:
    """The share of the sizes of the dual's terms that counts: 1, or less where constraints have multipliers far larger than the costs they balance.

    Where the constraints have no interior, y may be anything, and would call any gap small. Variables without constraints tell nothing of these. Of a
    norm or a ridge on a set the normal of the set is no cost.
    """
    over = math.inf
    if not any(term.is_indicator for term in canonical.terms):
        return 1.0
    for block in canonical.blocks:
        costs, balance = np.abs(canonical.q[block.slice]), np.zeros(block.size)
        if block.g.pair[0] is not None or block.g.curvature > 0.0:
            slope = v[block.slice]
            if block.g.pair[1] is not None:
                slope = slope - block.g.normal_part(x[block.slice], slope)
            costs = costs + np.abs(slope)
        for term, yi in zip(canonical.terms, y, strict=True):
            for other, m in term.map.parts:
                if other is block:
                    own = m.absolute().adjoint_over(np.abs(yi), term.map.leaves)
                    costs, balance = (costs, balance + own) if term.is_indicator else (costs + own, balance)
        if costs.any() and balance.any():
            over = min(over, largest(balance) / largest(costs))
    return 1.0 if over <= MOST_BALANCE or not math.isfinite(over) else MOST_BALANCE / over


def _no_bound(statement: str) -> DualBound:
    return DualBound(-math.inf, 0.0, "none", statement)


def _of_terms(canonical: Canonical, tidy: Sequence[tuple[Array, float]]) -> tuple[float, float]:
    """constant + sum_i <b_i, y_i> - f_i^*(y_i), and the sum of the sizes of its terms."""
    total = canonical.constant
    sizes = abs(canonical.constant)
    for term, (yi, conjugate), way in zip(canonical.terms, tidy, canonical.missed_at_zero, strict=True):
        total, sizes = total - conjugate, sizes + abs(conjugate)
        if way.size:
            sizes += term.dot(way, np.abs(yi))
        if term.map.offset.any():
            total += term.dot(term.map.offset, yi)
            sizes += term.dot(np.abs(term.map.offset), np.abs(yi))
    return total, sizes


def _of_block(
    canonical: Canonical, block: Block, v: Array, known: float | None, y: Sequence[Array], x: Array, point: Point
) -> tuple[float, _Settled | None]:
    """g_B^*(v_B), where it is not `known`; where v_B is outside of its domain, the conjugate at a point of the domain nearby, and how the rest was
    settled."""
    vb = v[block.slice]
    value = block.g.conjugate(vb) if known is None else known
    if math.isfinite(value):
        if value != 0.0 and not x[block.slice].any():
            # at x = 0 nothing but rounding may keep D from P
            vb = np.where(np.abs(vb) <= ROUNDING * block_sizes(canonical, block, y), 0.0, vb)
            value = block.g.conjugate(vb)
        return value, None
    u = block.g.dual_project(vb)
    if not math.isfinite(block.g.conjugate(u)):
        u = u * block.g.dual_scale(u)
    terms = block_sizes(canonical, block, y)
    rounding = ROUNDING * terms + block.g.rounding(vb)
    weight = partial(_weight, canonical, y, v, x)
    return block.g.conjugate(u), _settle(canonical, block, vb - u, rounding, terms, x, point, weight)


def _share_of_penalties(canonical: Canonical, v: Array) -> tuple[float, dict[str, float]]:
    """The factor that brings v into the domains of those penalties that little more than rounding keeps it out of, 1 where there are none; and the
    conjugates of blocks at v that were asked for.

    A smaller dual point is as good as the rule of rounding, which takes the sizes of all terms: as long as two products with the data.
    """
    if canonical.q.any():
        return 1.0, {}
    exact = [b for b in canonical.blocks if b.g.certificate == "exact"]
    found = {b.name: b.g.conjugate(v[b.slice]) for b in exact}
    shares = [b.g.dual_scale(v[b.slice]) for b in exact if not math.isfinite(found[b.name])]
    # equalities, which no scale meets, are left as they are
    share = min((share for share in shares if share >= 1.0 - CONDITIONAL_MISS), default=1.0)
    # the product is rounded too
    return share if share == 1.0 else share * (1.0 - ROUNDING), found


@dataclass(frozen=True)
class _Settled:
    """The amounts that a missed equality takes off the bound, or costs on the condition of a stated radius; `fails` where no rule gives a bound.

    `met` where nothing but rounding is missed, `local` where nothing at x tells what that costs elsewhere.
    """

    statement: str
    taken: float = 0.0
    radius: float | None = None
    cost: float = 0.0
    fails: bool = False
    met: bool = False
    local: bool = False


def _settle(
    canonical: Canonical,
    block: Block,
    miss: Array,
    rounding: Array,
    terms: Array,
    x: Array,
    point: Point,
    weight: Callable[[], float],
) -> _Settled:
    """The first of the three rules that serves an equality, whose `terms` are the sizes of the terms of its sums, of a dual point of this weight."""
    missed = np.abs(miss)
    if (missed <= rounding).all():
        # what rounding may cost at x: entries of one variable may differ in size by more than rounding is small
        cost = float(missed @ np.abs(x[block.slice]))
        if missed.any() and any(t.is_indicator for t in canonical.terms):
            # beside huge multipliers it is no longer small, and other entries than those at x may gain by it
            elsewhere = _reach(canonical, block, x) * float(missed.sum())
            if elsewhere > HARMLESS * abs(point.value) and weight() < 1.0:
                cost = max(cost, elsewhere)
        statement = f"the equality of {block.name} is met to rounding{_measure(canonical)}"
        return _Settled(statement, taken=cost, met=True, local=bool(miss.any()) and not x[block.slice].any())
    bound = _implied_bound(canonical, block, point)
    if bound is not None:
        r, norm, why = bound
        return _Settled(why, taken=r * dual_norm(norm, miss, block.shape))
    size = largest(terms)
    share = largest(miss) / size if size > 0.0 else math.inf
    if ((missed > OWN_MISS * terms) & (canonical.q[block.slice] != 0.0)).any():
        # an unknown with a cost that no multiplier balances is a way down, however small its units make it
        share = 1.0
    reach = RADIUS_FACTOR * _reach(canonical, block, x)
    if not (share <= CONDITIONAL_MISS and reach > 0.0):
        return _Settled(f"the dual point misses the equality of {block.name} by {share:.1e}", fails=True)
    why = f"no point with entries of {block.name} up to {reach:.3g} is better, the dual missing its equality by {share:.1e}"
    return _Settled(why, radius=reach, cost=reach * float(missed.sum()))


def _vector_functions(canonical: Canonical) -> list[VectorFunction]:
    return [b.g for b in canonical.blocks] + [t.f for t in canonical.terms if isinstance(t.f, VectorFunction)]


def _measure(canonical: Canonical) -> str:
    """The norms of operators by which rounding is measured, in words. (A norm that is too small only makes the rule stricter.)"""
    stats = canonical.instance.stats
    norms = [f"|{n}| <= {s.largest_row_norm:.3g}, {s.norm_statement}" for n, s in stats.items() if s.norm_statement]
    return f", measured by {' and '.join(norms)}" if norms else ""


def block_sizes(canonical: Canonical, block: Block, y: Sequence[Array], with_q: bool = True) -> Array:
    """|q| + sum_i |K_i|' |y_i| on a block: the sum of the sizes of the terms of each equality."""
    sizes = np.abs(canonical.q[block.slice]) if with_q else np.zeros(block.size)
    for term, yi in zip(canonical.terms, y, strict=True):
        for other, m in term.map.parts:
            if other is block:
                sizes = sizes + m.absolute().adjoint_over(np.abs(yi), term.map.leaves)
    return sizes


def _reach(canonical: Canonical, block: Block, x: Array) -> float:
    """The largest entry of a variable at x. Where all are 0, how large they may be before they exceed the terms of a sum that they enter."""
    own = largest(x[block.slice])
    if own > 0.0:
        return own
    found = 0.0
    for term in canonical.terms if canonical.nnz <= LARGEST_SUMS else ():
        for other, m in term.map.parts:
            if other is block:
                rows = m.absolute().apply(np.ones(block.size))
                terms = sizes_of_terms(term, np.abs(x)) + np.abs(term.map.offset)
                found = max(
                    found, float(np.divide(terms, rows, out=np.zeros_like(rows), where=rows > 0.0).max(initial=0.0))
                )
    return found


def _implied_bound(canonical: Canonical, block: Block, point: Point) -> tuple[float, str, str] | None:
    """(R, dual norm, why) with |x*_B|_p <= R for every optimal x*, or None.

    A compact set that moved into the sum gives its radius. A norm c |x_B|_p, in g or in the sum, gives (P(x0) - the sum of the infima of
    all other terms) / c at a feasible x0.
    """
    own_terms = [t.f for t in canonical.terms if _is_bare(t, block) and isinstance(t.f, VectorFunction)]
    radii = set_radii(canonical, block)
    if radii:
        return min(radii), "l2", f"|{block.name}| is bounded by its set"
    if point.infeasibility > 0.0:
        return None
    coercive = [pair for f in (block.g, *own_terms) if (pair := f.coercive()) is not None]
    rest = _infima(canonical, block)
    if not coercive or not math.isfinite(rest):
        return None
    best = None
    for c, norm in coercive:
        left = c - dual_norm(norm, canonical.q[block.slice], block.shape)
        if left > 0.0:
            r = max(0.0, point.value - rest) / left
            why = f"any better {block.name} has norm at most {r:.3g}, as its penalty alone would exceed the objective found"
            if best is None or r < best[0]:
                best = (r, norm, why)
    return best


def set_radii(canonical: Canonical, block: Block) -> list[float]:
    """The Euclidean radii of the compact sets of a block that moved into the sum."""
    own_terms = [t.f for t in canonical.terms if _is_bare(t, block) and isinstance(t.f, VectorFunction)]
    return [f.radius() for f in own_terms if math.isfinite(f.radius())]


def is_of_one_block(term: SumTerm) -> bool:
    """True if the argument is one variable as it is, and a constant."""
    return len(term.map.parts) == 1 and isinstance(term.map.parts[0][1], Identity | Symmetrise)


def _is_bare(term: SumTerm, block: Block) -> bool:
    return is_of_one_block(term) and term.map.parts[0][0] is block and not term.map.offset.any()


def _infima(canonical: Canonical, block: Block) -> float:
    """A lower bound on everything but the norms of one block; -inf where a linear term is not absorbed by a bounded block."""
    total = canonical.constant + block.g.infimum() + sum(term.infimum() for term in canonical.terms)
    for other in canonical.blocks:
        if other is not block:
            total -= other.g.conjugate(-canonical.q[other.slice])
    return total
