r"""Certificates that a program has no feasible point, or no finite optimum.

*Infeasible* (Farkas): multipliers y of the constraints that moved into the sum, and of the domains of the terms there (zero on losses and
norms, which are finite everywhere), with

    sum_i (<b_i, y_i> - sigma_{C_i}(y_i)) - sum_B sigma_{dom g_B}(-(K'y)_B) > 0,

sigma the support function. Any feasible x would make the left side at most zero. Where a variable is free, sigma is 0 at 0 and infinite
elsewhere: what is missed there costs the miss times the radius of a compact set of that variable. Where there is none, let kappa be the left side
over the sizes of its terms, and rho the largest miss of an equality over the sizes of its terms, at least eps. For a feasible x

    kappa (|b|'|y| + |sigma|) <= sum_j |miss_j| |x_j| <= rho |y|' |K| |x|,

so its terms exceed the right-hand sides R = kappa / rho times. R >= 1e12 is asked for: then rounding of the data cannot explain the ray. A
weaker contradiction counts where the equalities cancel exactly, in rational numbers (`rationals.py`): that of equal rows, say. Rows
of large multipliers that cancel each other, as proportional ones do, must not hide in their rounding what the rows leave that carry the left side:
rho counts misses, and eps times the sizes of all terms, over the sizes of the terms of those rows too (`_hidden`). The ray is
`exact` where the misses are rounding, and `conditional` on no feasible point having terms R times its right-hand sides elsewhere. Of cones of
matrices the rounding of the decomposition is measured by the entries that carry the left side (`_unsure`).

*Unbounded*: a direction d in the recession cones of all sets along which the objective falls,

    sum_i f_i^inf(K_i d) + sum_B g_B^inf(d_B) + <q, d> < 0,    f^inf(z) = sup of <u, z> over the domain of f*,

from a point that is feasible, what it violates being measured by the constants of the constraints (`_stands`). Both are evaluated
with the references from the instance's own data, relative to the sizes of their own terms, so that no unit matters
("Certificates" in docs/architecture.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..atoms.base import Array, VectorFunction
from ..atoms.loss import LossFunction
from ..atoms.vectors import Ridged
from ..atoms.vectors.common import largest, largest_share
from ..canon.form import Canonical
from ..canon.parts import SumTerm
from ..words import CONVEX
from .certificate import CertificateKind
from .point import EPS, ROUNDING, sizes_of_terms
from .rationals import exact_adjoint, exact_products, in_whole_numbers
from .verify import block_sizes, is_of_one_block, set_radii

MARGIN = 1e-9
"""The least value of a certificate, relative to the sum of the sizes of its terms."""

SAFE = 1e12
"""The multiple of the right-hand sides that the terms of a feasible point would have to be."""

UNSURE = 1e10
"""The multiple of what a decomposition leaves unknown, beside the entries that carry a certificate's value, that the value must be: between what
feasible matrices without an interior allow, 1e8, and what honest contradictions have."""

CARRIES = 1e-3
"""The least share of the largest contribution to a certificate's value that makes a row, or an unknown, one that carries it."""

STOOD_ON = 1e-9
"""The relative violation that a point may have from which the objective falls without bound."""

TINY = 1e-12
"""Entries of K d below this share of the largest count as zero."""


@dataclass(frozen=True)
class Ray:
    """A certificate of infeasibility or unboundedness: how it is known, and a sentence in the user's words."""

    kind: CertificateKind
    statement: str
    radius: float | None = None


def _of_terms(canonical: Canonical, y: Sequence[Array], v: Array) -> tuple[float, float]:
    """The share of the terms' domains in a Farkas combination, minus infinity where y is no multiplier of theirs, and its size. Adds -K'y to v."""
    value, sizes = 0.0, 0.0
    for term, yi in zip(canonical.terms, y, strict=True):
        if not yi.any() or term.domain is None:
            continue
        support = term.domain.conjugate(yi)
        if not math.isfinite(support):
            return -math.inf, math.inf
        value += float(term.map.offset @ yi) - support
        sizes += float(np.abs(term.map.offset) @ np.abs(yi)) + abs(support)
        term.map.adjoint(-yi, v)
    return value, sizes


def infeasible(canonical: Canonical, direction: Sequence[Array]) -> Ray | None:
    """The Farkas certificate that a dual direction gives, or None."""
    y = [_multiplier(t, d) for t, d in zip(canonical.terms, direction, strict=True)]
    peak = max((largest(v) for v in y), default=0.0)
    if not (0.0 < peak < math.inf):
        return None
    found = _contradiction(canonical, [v / peak for v in y])
    if found is None and (whole := in_whole_numbers(y)) is not None:
        found = _contradiction(canonical, whole)
    return found


def _contradiction(canonical: Canonical, y: list[Array]) -> Ray | None:
    """The Farkas certificate of these multipliers, or None."""
    v = np.zeros(canonical.size)
    value, sizes = _of_terms(canonical, y, v)
    if not math.isfinite(value):
        return None
    carrying = _carrying_rows(canonical, y)
    rho = 0.0
    beside = []
    carriers = y if carrying is None else carrying
    unsure = max(
        (_unsure(t.domain, yi, 0.0, largest(own)) for t, yi, own in zip(canonical.terms, y, carriers, strict=True)),
        default=0.0,
    )
    for block in canonical.blocks:
        vb = v[block.slice]
        if vb.any() and not block.auxiliary and block.g.set_beneath() is not None:
            beside.append(f"the {'domain' if block.g.pair[1] is None else 'set'} of {block.name}")
        support = _domain_support(block.g, vb)
        terms = block_sizes(canonical, block, y, with_q=False)
        if carrying is not None and not set_radii(canonical, block) and not math.isfinite(block.g.radius()):
            rho = max(rho, _hidden(vb, terms, block_sizes(canonical, block, carrying, with_q=False)))
        inside = _domain_projection(block.g, vb)
        on, bounds = block.g.set_beneath(), set_radii(canonical, block)
        if on is not None and bounds:
            value -= min(bounds) * on.rounding(vb)
        elif on is not None:
            carried = block_sizes(canonical, block, carriers, with_q=False)
            lines = (carried if carried.any() else terms).reshape(-1, block.shape[-1] if block.shape else 1).max(axis=1)
            unsure = max(unsure, _unsure(on, vb, largest(vb - inside), float(lines[lines > 0.0].min(initial=math.inf))))
        if math.isfinite(support):
            value -= support
            sizes += abs(support)
            continue
        support = _domain_support(block.g, inside)
        value -= support
        sizes += abs(support)
        miss = vb - inside
        if on is not None:
            miss = np.where(np.abs(miss) <= on.rounding(vb), 0.0, miss)
        if bounds:
            value -= min(bounds) * float(np.linalg.norm(miss))
            continue
        rho = max(rho, largest_share(np.abs(miss), terms))
    if not (value > MARGIN * sizes and value >= UNSURE * unsure * sizes):
        return None
    is_weak = not value >= SAFE * max(rho, EPS) * sizes
    if is_weak and (rho > 0.0 or not _adds_up_exactly(canonical, y)):
        return None
    said = _cannot_hold(canonical, y, beside)
    if rho <= ROUNDING:
        return Ray("exact", f"{said}: their multipliers add up to a contradiction")
    times = value / (rho * sizes)
    return Ray("conditional", f"{said} at any point whose terms are within {times:.1e} times the right-hand sides")


def _adds_up_exactly(canonical: Canonical, y: list[Array]) -> bool:
    """True if -K'y lies in the domains of the support functions of all variables that no compact set holds, without any rounding."""
    v = exact_adjoint(canonical, y)
    if v is None:
        return False
    free = [b for b in canonical.blocks if not set_radii(canonical, b) and not math.isfinite(b.g.radius())]
    return all(math.isfinite(_domain_support(b.g, -v[b.slice])) for b in free)


def _carrying_rows(canonical: Canonical, y: Sequence[Array]) -> list[Array] | None:
    """y on the rows that carry the value of a certificate, by their right-hand sides, and 0 elsewhere; None where no row does."""
    parts = []
    for term, yi in zip(canonical.terms, y, strict=True):
        part = np.abs(term.map.offset * yi)
        on = term.domain
        entries = None if on is None else on.entries()
        if entries is not None:
            ends = np.where(yi > 0.0, entries.hi, entries.lo)
            part = part + np.abs(np.where(np.isfinite(ends), ends, 0.0) * yi)
        elif on is not None and yi.any():
            part = part + abs(on.conjugate(yi)) * (yi != 0.0)
        parts.append(part)
    least = CARRIES * max((largest(part) for part in parts), default=0.0)
    return [np.where(part >= least, yi, 0.0) for part, yi in zip(parts, y, strict=True)] if least > 0.0 else None


def _unsure(on: VectorFunction | None, v: Array, miss: float, carried: float) -> float:
    """The share that what is unknown of v, or misses the domain, has of the size of what carries a value; 0 of bounded sets, and where formulas tell.

    A cone of matrices knows entries only beside its largest one: with 1 on a diagonal entry that is 0 at all feasible points, e elsewhere costs e^2,
    which no decomposition sees, so that any small multiplier seems to contradict. The size is the least that a row of the
    matrix has for its largest entry.
    """
    noise = 0.0 if on is None or not v.any() else on.rounding(v)
    if on is None or noise == 0.0 or math.isfinite(on.radius()):
        return 0.0
    return max(noise, miss) / carried if carried > 0.0 else 0.0


def _hidden(left: Array, terms: Array, carried: Array) -> float:
    """The largest share that rounding of all terms may have of those that carry a value, over sums whose terms cancel but for it."""
    cancels = (np.abs(left) <= ROUNDING * terms) & (carried > 0.0)
    shares = EPS * terms[cancels] / carried[cancels]
    # where all terms carry, cancelling is what the ray is about
    return float(shares[shares > 2.0 * EPS].max(initial=0.0))


def _cannot_hold(canonical: Canonical, y: Sequence[Array], beside: Sequence[str]) -> str:
    """The constraints that have a multiplier, and the sets `beside` them, in the user's words."""
    used = [t for t, yi in zip(canonical.terms, y, strict=True) if yi.any()]
    names = [f"`{t.text}`" if t.is_indicator else f"the domain of `{t.text}`" for t in used]
    who = [*dict.fromkeys(names), *beside]
    together = " together" if len(who) > 1 else ""
    return f"{' and '.join(who)} cannot hold{together}"


def unbounded(canonical: Canonical, direction: Array, feasible_points: Callable[[], Sequence[Array]]) -> Ray | None:
    """The certificate that a primal direction gives, from one of the points `feasible_points()` in the domains of the blocks, or None.

    The points are only asked for where the objective falls along the direction.
    """
    peak = largest(direction)
    if not (0.0 < peak < math.inf):
        return None
    found = _fall(canonical, direction / peak, feasible_points)
    if found is None and (whole := in_whole_numbers([direction])) is not None:
        found = _fall(canonical, whole[0], feasible_points)
    return found


def _fall(canonical: Canonical, d: Array, feasible_points: Callable[[], Sequence[Array]]) -> Ray | None:
    """The certificate of this direction, which it moves into the recession cones of the sets of the blocks, or None."""
    for block in canonical.blocks:
        d[block.slice] = _into_recession(block.g, d[block.slice])
    for term in canonical.terms:
        if term.is_indicator and isinstance(term.f, VectorFunction) and is_of_one_block(term):
            at = term.map.parts[0][0].slice
            d[at] = term.f.into_recession(d[at])
    slope = float(canonical.q @ d)
    sizes = float(np.abs(canonical.q) @ np.abs(d))
    missed = 0.0
    for block in canonical.blocks:
        growth = _growth(block.g, d[block.slice])
        slope, sizes = slope + growth, sizes + abs(growth)
    pulls = np.abs(canonical.q * d)
    carrying = np.where(pulls >= CARRIES * largest(pulls), np.abs(d), 0.0) if pulls.any() else None
    for term in canonical.terms:
        z, terms = term.map.linear(d), sizes_of_terms(term, np.abs(d))
        if carrying is not None:
            missed = max(missed, _hidden(z, terms, sizes_of_terms(term, carrying)))
        if term.is_indicator:
            assert isinstance(term.f, VectorFunction)
            missed = max(missed, largest_share(np.abs(z - term.f.into_recession(z)), terms))
            continue
        growth = _growth(term.f, z) if isinstance(term.f, VectorFunction) else _loss_growth(term, z, terms)
        slope, sizes = slope + growth, sizes + abs(growth)
    if not slope < -MARGIN * sizes or not math.isfinite(slope) or missed > max(ROUNDING, -slope / (SAFE * sizes)):
        return None
    if -slope < SAFE * EPS * sizes and not _is_exact(canonical, d):
        return None
    if not any(_stands(canonical, x, d) for x in feasible_points()):
        return None
    kind: CertificateKind = "exact" if missed <= ROUNDING else "conditional"
    moving = [b.name for b in canonical.blocks if d[b.slice].any() and not b.auxiliary]
    word = "falls" if canonical.sense > 0 else "grows"
    who = f"{' and '.join(f'`{n}`' for n in moving)} {'moves' if len(moving) == 1 else 'move'}"
    said = f"the objective {word} without bound as {who} along a direction that no constraint stops"
    return Ray(
        kind, said if kind == "exact" else f"{said} before its terms are {-slope / (missed * sizes):.1e} times as large"
    )


def _is_exact(canonical: Canonical, d: Array) -> bool:
    """True if K d lies in the recession cones of all constraints, and is 0 for a loss where it seems so, without any rounding."""
    products = exact_products(canonical, d)
    if products is None:
        return False
    for term, z in zip(canonical.terms, products, strict=True):
        if isinstance(term.f, VectorFunction):
            if term.is_indicator and not np.array_equal(term.f.into_recession(z), z):
                return False
        elif np.any(z[_seems_zero(z, sizes_of_terms(term, np.abs(d)))]):
            return False
    return True


def _seems_zero(z: Array, sizes: Array) -> NDArray[np.bool_]:
    """A mask of the entries of K d that are nothing but rounding."""
    return np.asarray(np.abs(z) <= np.maximum(TINY * largest(z), ROUNDING * sizes))


def _multiplier(term: SumTerm, direction: Array) -> Array:
    y, on = direction, term.domain
    if on is None:
        return np.zeros(term.map.rows)
    return y if math.isfinite(on.conjugate(y)) else on.dual_project(y)


def _domain_support(g: VectorFunction, v: Array) -> float:
    """sup of <v, x> over the domain of g, or inf where it is not known to be finite."""
    on = g.set_beneath()
    if on is None:
        return 0.0 if not v.any() else math.inf
    return on.conjugate(v)


def _domain_projection(g: VectorFunction, v: Array) -> Array:
    on = g.set_beneath()
    return np.zeros_like(v) if on is None else on.dual_project(v)


def _into_recession(g: VectorFunction, d: Array) -> Array:
    """d moved into the recession cone of the domain of g."""
    if g.curvature > 0.0 or math.isfinite(g.radius()):
        return np.zeros_like(d)
    on = g.set_beneath()
    return d if on is None else on.into_recession(d)


def _growth(g: VectorFunction, d: Array) -> float:
    """g^inf(d) for d in the recession cone of its domain: its norm, as the ridge allows no direction."""
    inner = g.inner if isinstance(g, Ridged) else g
    norm = inner.pair[0]
    if not d.any() or norm is None:
        return 0.0
    return inner.value(d) if CONVEX[norm].is_norm else math.inf


def _loss_growth(term: SumTerm, z: Array, sizes: Array) -> float:
    """sum_j max(lo_j z_j, hi_j z_j) over the ends of the domain of f*; infinite ends allow no direction but to rounding."""
    z = np.where(_seems_zero(z, sizes), 0.0, z)
    if not isinstance(term.f, LossFunction):
        return math.inf if z.any() else 0.0
    lo, hi = term.f.dual_bounds()
    end = np.where(z > 0.0, hi, lo)
    moving = z != 0.0
    return float((end[moving] * z[moving]).sum())


def _stands(canonical: Canonical, x: Array, d: Array) -> bool:
    """True if x is feasible, judged by the constants and bounds of each constraint; where these are 0, by its terms with x's part along d taken off.

    Far out along d, or along another direction that no constraint stops, all else would look small beside the terms. A row without constants that
    sees of x nothing but a multiple of d holds as it does for d: to rounding.
    """
    along = [
        float(x[b.slice] @ d[b.slice]) / float(d[b.slice] @ d[b.slice]) for b in canonical.blocks if d[b.slice].any()
    ]
    rest = x - min(along, key=abs, default=0.0) * d
    if not np.all(np.isfinite(rest)):
        return False
    rest = np.where(np.abs(rest) <= ROUNDING * np.abs(x), 0.0, rest)
    for term in canonical.terms:
        if not isinstance(term.f, VectorFunction):
            continue
        z = term.map.apply(x)
        if term.f.violation(z) == 0.0:
            continue
        own, constant = sizes_of_terms(term, np.abs(rest)), _has_constants(term)
        z = np.where((own == 0.0) & ~constant & (np.abs(z) <= ROUNDING * sizes_of_terms(term, np.abs(x))), 0.0, z)
        sizes = np.where(constant, np.abs(term.map.offset), own)
        if not term.f.violation(z, sizes) <= STOOD_ON:
            return False
    return True


def _has_constants(term: SumTerm) -> NDArray[np.bool_]:
    """A mask of the rows of a constraint with a constant or a bound that is not 0; of a set that is no product of intervals all or none have."""
    f, offset = term.f, term.map.offset
    assert isinstance(f, VectorFunction)
    found = f.entries()
    if found is not None:
        bounds = [np.isfinite(end) & (end != 0.0) for end in found.bounds(f.size)]
        return np.asarray(bounds[0] | bounds[1] | (offset != 0.0))
    if f.entrywise:
        return np.asarray(offset != 0.0)
    return np.full(offset.size, bool(offset.any()) or math.isfinite(f.radius()))
