r"""Certificates that a program has no feasible point.

Multipliers y of the constraints that moved into the sum, and of the domains of the terms there (zero on losses and norms, which are finite
everywhere), prove it (Farkas) with

    sum_i (<b_i, y_i> - sigma_{C_i}(y_i)) - sum_B sigma_{dom g_B}(-(K'y)_B) > 0,

sigma the support function. Any feasible x would make the left side at most zero. Where a variable is free, sigma is 0 at 0 and infinite
elsewhere: what is missed there costs the miss times the radius of a compact set of that variable. Where there is none, let kappa be the left side
over the sizes of its terms, and rho the largest miss of an equality over the sizes of its terms, at least eps. For a feasible x

    kappa (|b|'|y| + |sigma|) <= sum_j |miss_j| |x_j| <= rho |y|' |K| |x|,

so its terms exceed the right-hand sides R = kappa / rho times. R >= 1e12 is asked for: then rounding of the data cannot explain the ray. A
weaker contradiction counts where the equalities cancel exactly, in rational numbers (`rationals.py`): that of equal rows, say. Rows
of large multipliers that cancel each other, as proportional ones do, must not hide in their rounding what the rows leave that carry the left side:
rho counts misses, and eps times the sizes of all terms, over the sizes of the terms of those rows too (`rays.hidden`). Cones that are curved hide
small multipliers likewise (`VectorFunction.blur`). The ray is
`exact` where the misses are rounding, and `conditional` on no feasible point having terms R times its right-hand sides elsewhere. Of cones of
matrices the rounding of the decomposition is measured by the entries that carry the left side (`_unsure`).

All is evaluated with the references from the instance's own data, relative to the sizes of its own terms, so that no unit matters ("Certificates"
in docs/architecture.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..atoms.base import Array, VectorFunction
from ..atoms.vectors.common import largest, largest_share
from ..canon.form import Canonical
from ..canon.parts import Block, SumTerm
from .point import EPS, ROUNDING
from .rationals import exact_adjoint, in_whole_numbers
from .rays import CARRIES, MARGIN, SAFE, UNSURE, Ray, hidden
from .verify import block_sizes, set_radii


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
    unsure = max((_blur(t.domain, yi) for t, yi in zip(canonical.terms, y, strict=True)), default=0.0)
    for block in canonical.blocks:
        part = _of_block(canonical, block, v[block.slice], y, carrying)
        for taken in (part.rounding, part.support, part.miss):
            value -= taken
        sizes += abs(part.support)
        rho, unsure = max(rho, part.rho), max(unsure, part.unsure)
    if not (value > MARGIN * sizes and value >= UNSURE * unsure * sizes):
        return None
    is_weak = not value >= SAFE * max(rho, EPS) * sizes
    if is_weak and (rho > 0.0 or not _adds_up_exactly(canonical, y)):
        return None
    beside = [
        name
        for i, b in enumerate(canonical.blocks)
        if v[b.slice].any() and not b.auxiliary and b.g.set_beneath() is not None
        for name in _sets_of(canonical, i)
    ]
    said = _cannot_hold(canonical, y, beside)
    if rho <= ROUNDING:
        return Ray("exact", f"{said}: their multipliers add up to a contradiction")
    times = value / (rho * sizes)
    return Ray("conditional", f"{said} at any point whose terms are within {times:.1e} times the right-hand sides")


@dataclass(frozen=True)
class _BlockPart:
    """The part of one variable in a Farkas combination: what the rounding of its set, its support function, and a miss that its bound costs
    take off the value; the relative miss of equalities that nothing bounds; and what its set leaves unsure.
    """

    rounding: float
    support: float
    miss: float
    rho: float
    unsure: float


def _of_block(
    canonical: Canonical, block: Block, vb: Array, y: Sequence[Array], carrying: Sequence[Array] | None
) -> _BlockPart:
    """The part of a variable whose entries of -K'y are vb; `carrying` is y on the rows that carry the value."""
    terms = block_sizes(canonical, block, y, with_q=False)
    on, bounds = block.g.set_beneath(), set_radii(canonical, block)
    inside = _domain_projection(block.g, vb)
    rho = rounding = unsure = 0.0
    beside = terms
    if carrying is not None and not bounds and not math.isfinite(block.g.radius()):
        carried = block_sizes(canonical, block, carrying, with_q=False)
        rho = max(0.0, hidden(vb, terms, carried))
        # entries of one variable have one unit: where no carrying row sees an entry, others tell
        beside = np.minimum(terms, np.where(carried > 0.0, carried, largest(carried) or math.inf))
    if on is not None and bounds:
        rounding = min(bounds) * on.rounding(vb)
    elif on is not None:
        carried = block_sizes(canonical, block, y if carrying is None else carrying, with_q=False)
        lines = (carried if carried.any() else terms).reshape(-1, block.shape[-1] if block.shape else 1).max(axis=1)
        unsure = _unsure(on, vb, largest(vb - inside), float(lines[lines > 0.0].min(initial=math.inf)))
    support = _domain_support(block.g, vb)
    if math.isfinite(support):
        return _BlockPart(rounding, support, 0.0, rho, unsure)
    miss = vb - inside
    if on is not None:
        miss = np.where(np.abs(miss) <= on.rounding(vb), 0.0, miss)
    support = _domain_support(block.g, inside)
    if bounds:
        return _BlockPart(rounding, support, min(bounds) * float(np.linalg.norm(miss)), rho, unsure)
    is_rounding = np.abs(miss) <= ROUNDING * terms
    shares = largest_share(np.abs(miss), np.where(is_rounding, terms, beside))
    return _BlockPart(rounding, support, 0.0, max(rho, shares), unsure)


def _of_terms(canonical: Canonical, y: Sequence[Array], v: Array) -> tuple[float, float]:
    """The share of the terms' domains in a Farkas combination, minus infinity where y is no multiplier of theirs, and its size. Adds -K'y to v."""
    value, sizes = 0.0, 0.0
    for term, yi in zip(canonical.terms, y, strict=True):
        if not yi.any() or term.domain is None:
            continue
        support = term.domain.conjugate(yi)
        if not math.isfinite(support):
            return -math.inf, math.inf
        value += term.dot(term.map.offset, yi) - support
        sizes += term.dot(np.abs(term.map.offset), np.abs(yi)) + term.domain.conjugate_size(yi)
        term.map.adjoint(-yi, v)
    return value, sizes


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


def _blur(on: VectorFunction | None, y: Array) -> float:
    """The share that rounding has of the least part of the multipliers of a cone, whether or not it carries a value.

    It may be what a row elsewhere, whose right-hand side carries the value, is balanced with.
    """
    return 0.0 if on is None or math.isfinite(on.radius()) or not y.any() else on.blur(y)


def _cannot_hold(canonical: Canonical, y: Sequence[Array], beside: Sequence[str]) -> str:
    """The constraints that have a multiplier, and the sets `beside` them, in the user's words."""
    used = [t for t, yi in zip(canonical.terms, y, strict=True) if yi.any()]
    names = [f"`{t.text}`" if t.is_indicator else f"the domain of `{t.text}`" for t in used]
    who = [*dict.fromkeys(names), *beside]
    together = " together" if len(who) > 1 else ""
    return f"{' and '.join(who)} cannot hold{together}"


def _sets_of(canonical: Canonical, i: int) -> list[str]:
    """The set of a block in the user's words: the constraints that state it, and "the set of x" for what its declaration states."""
    block, model = canonical.blocks[i], canonical.instance.model
    if block.g.pair[1] is None:
        return [f"the domain of {block.name}"]
    kept = [c for c, at in zip(model.constraints, canonical.constraint_place, strict=True) if ("block", i) in at]
    spans = [v.span for v in model.variables if v.name == block.name]
    written = [c for c in kept if c.text and not any(s.start <= c.span.start and c.span.end <= s.end for s in spans)]
    whole = [] if written and len(written) == len(kept) else [f"the set of {block.name}"]
    return [*(f"`{c.text}`" for c in written), *whole]


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
