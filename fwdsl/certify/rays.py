r"""Certificates that a program has no finite optimum, and what they have in common with those of `farkas.py`.

A direction d in the recession cones of all sets along which the objective falls,

    sum_i f_i^inf(K_i d) + sum_B g_B^inf(d_B) + <q, d> < 0,    f^inf(z) = sup of <u, z> over the domain of f*,

from a point that is feasible, what it violates being measured by the constants of the constraints (`_stands`). All is evaluated
with the references from the instance's own data, relative to the sizes of its own terms, so that no unit matters
("Certificates" in docs/architecture.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..atoms.base import Array, VectorFunction
from ..atoms.loss import LossFunction
from ..atoms.vector_loss import VectorLossFunction
from ..atoms.vectors import Ridged
from ..atoms.vectors.common import largest, largest_share
from ..canon.form import Canonical
from ..canon.parts import Block, SumTerm
from ..words import CONVEX
from .certificate import CertificateKind
from .point import EPS, ROUNDING, sizes_of_terms
from .rationals import exact_products, in_whole_numbers
from .verify import is_of_one_block

MARGIN = 1e-9
"""The least value of a certificate, relative to the sum of the sizes of its terms."""

SAFE = 1e12
"""The multiple of the right-hand sides that the terms of a feasible point would have to be."""

UNSURE = 1e10
"""The multiple of what a decomposition, or a length, leaves unknown, beside the entries that carry a certificate's value, that the value must be:
between what feasible matrices without an interior allow, 1e8, and what honest contradictions have."""

CARRIES = 1e-3
"""The least share of the largest contribution to a certificate's value that makes a row, or an unknown, one that carries it."""

STOOD_ON = 1e-11
"""The relative violation that a point may have from which the objective falls without bound."""

EDGE = 1e-9
"""The share of its size by which a point must be inside of a curved set not to be on its edge."""

FAR_OUT = 1e6
"""The multiple of what the constants of its constraints tell of a variable's size up to which a point on the edge of a curved set counts as feasible:
far out it may only be near the set, as (x, 1) comes near |(x, 1)| <= x."""

TINY = 1e-12
"""Entries of K d below this share of the largest count as zero."""


@dataclass(frozen=True)
class Ray:
    """A certificate of infeasibility or unboundedness: how it is known, and a sentence in the user's words."""

    kind: CertificateKind
    statement: str
    radius: float | None = None


def hidden(left: Array, terms: Array, carried: Array) -> float:
    """The largest share that rounding of all terms may have of those that carry a value, over sums whose terms cancel but for it."""
    cancels = (np.abs(left) <= ROUNDING * terms) & (carried > 0.0)
    shares = EPS * terms[cancels] / carried[cancels]
    # where all terms carry, cancelling is what the ray is about
    return float(shares[shares > 2.0 * EPS].max(initial=0.0))


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
    blur = 0.0
    for block in canonical.blocks:
        d[block.slice], hides = _into_recession(block.g, d[block.slice])
        blur = max(blur, hides)
    for term in canonical.terms:
        if term.is_indicator and isinstance(term.f, VectorFunction) and is_of_one_block(term):
            at = term.map.parts[0][0].slice
            d[at] = term.f.into_recession(d[at])
    slope = float(canonical.q @ d)
    sizes = float(np.abs(canonical.q) @ np.abs(d))
    missed, sinks = 0.0, False
    #: The functions without an infimum that fall, slower than any line, and their arguments at a point.
    sinking: list[tuple[VectorFunction, Callable[[Array], Array]]] = []
    for block in canonical.blocks:
        growth = _growth(block.g, d[block.slice])
        if growth == 0.0 and block.g.sinks(d[block.slice]):
            sinking.append((block.g, partial(_of_block, block)))
            continue
        slope, sizes = slope + growth, sizes + max(abs(growth), block.g.slope * largest(d[block.slice]))
    pulls = np.abs(canonical.q * d)
    carrying = np.where(pulls >= CARRIES * largest(pulls), np.abs(d), 0.0) if pulls.any() else None
    for term in canonical.terms:
        z, terms = term.map.linear(d), sizes_of_terms(term, np.abs(d))
        if carrying is not None:
            missed = max(missed, hidden(z, terms, sizes_of_terms(term, carrying)))
        on = term.f.set_beneath() if isinstance(term.f, VectorFunction) else None
        if on is not None:
            blur = max(blur, on.blur(np.where(np.abs(z) <= ROUNDING * terms, 0.0, z)))
        if term.is_indicator:
            assert isinstance(term.f, VectorFunction)
            missed = max(missed, largest_share(np.abs(z - term.f.into_recession(z)), terms))
            continue
        of_term = _term_growth(term.f, z, terms) if isinstance(term.f, VectorFunction) else _loss_growth(term, z, terms)
        outside, growth, size = of_term
        if (
            growth == 0.0
            and isinstance(term.f, VectorFunction)
            and term.f.sinks(np.where(_seems_zero(z, terms), 0.0, z))
        ):
            sinking.append((term.f, term.map.apply))
            size = 0.0
        missed, slope, sizes = max(missed, outside), slope + growth, sizes + size
        sinks = sinks or (isinstance(term.f, LossFunction) and _sinks(term.f, np.where(_seems_zero(z, terms), 0.0, z)))
    if blur * UNSURE > 1.0:
        return None
    if (sinks or sinking) and sizes == 0.0 and (missed == 0.0 or _is_exact(canonical, d)):
        # a logarithm falls without bound, slower than any line: nothing else may rise or fall at all
        found = (x for x in feasible_points() if sinks or any(_is_inside(f, at(x)) for f, at in sinking))
        return _told(canonical, d) if any(_stands(canonical, x, d) for x in found) else None
    if (
        not slope < -max(MARGIN, UNSURE * blur) * sizes
        or not math.isfinite(slope)
        or missed > max(ROUNDING, -slope / (SAFE * sizes))
    ):
        return None
    if -slope < SAFE * EPS * sizes and not _is_exact(canonical, d):
        return None
    if not any(_stands(canonical, x, d) for x in feasible_points()):
        return None
    if missed <= ROUNDING:
        return _told(canonical, d)
    return _told(canonical, d, f" before its terms are {-slope / (missed * sizes):.1e} times as large")


def _of_block(block: Block, x: Array) -> Array:
    return x[block.slice]


def _is_inside(f: VectorFunction, z: Array) -> bool:
    """True if z is inside of the domain of f by more than `EDGE` of its size."""
    on = f.set_beneath()
    if on is None or not z.any() or not np.all(np.isfinite(z)):
        return False
    drawn = on.drawn_in(z, EDGE * largest(z))
    return drawn is not z and on.violation(drawn) == 0.0


def _told(canonical: Canonical, d: Array, condition: str = "") -> Ray:
    """The certificate in a sentence."""
    moving = [b.name for b in canonical.blocks if d[b.slice].any() and not b.auxiliary]
    word = "falls" if canonical.sense > 0 else "grows"
    who = f"{' and '.join(f'`{n}`' for n in moving)} {'moves' if len(moving) == 1 else 'move'}"
    said = f"the objective {word} without bound as {who} along a direction that no constraint stops"
    return Ray("conditional" if condition else "exact", said + condition)


def _sinks(f: LossFunction, z: Array) -> bool:
    """True if a loss without an infimum falls along z: 0 is an end of the domain of its conjugate, and not in it."""
    below, above = f.ends_open
    lo, hi = f.dual_bounds()
    live = f.w > 0.0
    return bool(
        (below and np.any(live & (lo == 0.0) & (z < 0.0))) or (above and np.any(live & (hi == 0.0) & (z > 0.0)))
    )


def _is_exact(canonical: Canonical, d: Array) -> bool:
    """True if K d lies in the recession cones of all constraints and domains, and is 0 where it seems so, without any rounding."""
    products = exact_products(canonical, d)
    if products is None:
        return False
    for term, z in zip(canonical.terms, products, strict=True):
        if isinstance(term.f, VectorFunction):
            on = term.f if term.is_indicator else term.f.set_beneath()
            if on is None:
                continue
            if not np.array_equal(on.into_recession(z), z):
                return False
        if not term.is_indicator and np.any(z[_seems_zero(z, sizes_of_terms(term, np.abs(d)))]):
            return False
    return True


def _seems_zero(z: Array, sizes: Array) -> NDArray[np.bool_]:
    """A mask of the entries of K d that are nothing but rounding."""
    return np.asarray(np.abs(z) <= np.maximum(TINY * largest(z), ROUNDING * sizes))


def _into_recession(g: VectorFunction, d: Array) -> tuple[Array, float]:
    """d moved into the recession cone of the domain of g, without what is rounding in it, and the share that rounding has of its least part."""
    if g.curvature > 0.0 or math.isfinite(g.radius()):
        return np.zeros_like(d), 0.0
    on = g.set_beneath()
    if on is None:
        return d, 0.0
    inside = on.into_recession(d)
    inside = np.where(np.abs(inside) <= on.rounding(inside), 0.0, inside)
    return inside, on.blur(inside)


def _growth(g: VectorFunction, d: Array) -> float:
    """g^inf(d) for d in the recession cone of its domain: its norm, as the ridge allows no direction."""
    inner = g.inner if isinstance(g, Ridged) else g
    norm = inner.pair[0]
    if not d.any() or norm is None:
        return 0.0
    return inner.value(d) if CONVEX[norm].grows_evenly else inner.growth(d)


def _term_growth(f: VectorFunction, z: Array, sizes: Array) -> tuple[float, float, float]:
    """(share, growth, size): the share of z, relative to its terms, that leads out of the domain, f^inf of what stays in it, and its terms' size.

    What counts as 0 and is more than rounding leads out of it too.

    The value of a function is no proof that its argument is in the domain: a geometric mean of negative numbers counts as 0. Rounding of 0 is 0,
    as the mean of 1e-16 and 1 is 1e-8. Nor is a value the size of its terms: a largest eigenvalue of 0 is -1e-16 by rounding.
    """
    seen = np.where(_seems_zero(z, sizes), 0.0, z)
    on = f.set_beneath()
    inside = seen if on is None else on.into_recession(seen)
    growth = _growth(f, inside)
    return (
        largest_share(_beyond_rounding(z - inside, sizes), sizes),
        growth,
        max(abs(growth), f.slope * largest(inside)),
    )


def _loss_growth(term: SumTerm, z: Array, sizes: Array) -> tuple[float, float, float]:
    """(share, growth, size) of sum_j max(lo_j z_j, hi_j z_j) over the ends of the domain of f*; infinite ends allow no direction but to rounding."""
    seen = np.where(_seems_zero(z, sizes), 0.0, z)
    if isinstance(term.f, VectorLossFunction):
        return 0.0, *term.f.growth(seen)
    assert isinstance(term.f, LossFunction)
    lo, hi = term.f.dual_bounds()
    end = np.where(z > 0.0, hi, lo)
    moving = seen != 0.0
    found = float((end[moving] * seen[moving]).sum())
    stopped = np.where(np.isinf(end), z - seen, 0.0)
    return largest_share(_beyond_rounding(stopped, sizes), sizes), found, abs(found)


def _beyond_rounding(missed: Array, sizes: Array) -> Array:
    """The sizes of misses that rounding of sums of terms of these sizes does not explain."""
    return np.where(np.abs(missed) <= ROUNDING * sizes, 0.0, np.abs(missed))


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
        z = term.map.apply(x)
        if isinstance(term.f, LossFunction) and not math.isfinite(term.f.value(z)):
            return False
        if not isinstance(term.f, VectorFunction):
            continue
        if _is_on_edge(term, z) and any(
            largest(x[b.slice]) > FAR_OUT * _natural(canonical, b) for b, _ in term.map.parts
        ):
            return False
        if term.f.violation(z) == 0.0:
            continue
        own, constant = sizes_of_terms(term, np.abs(rest)), _has_constants(term)
        z = np.where((own == 0.0) & ~constant & (np.abs(z) <= ROUNDING * sizes_of_terms(term, np.abs(x))), 0.0, z)
        sizes = np.where(constant, np.abs(term.map.offset), own)
        if not term.f.violation(z, sizes) <= STOOD_ON:
            return False
    return True


def _is_on_edge(term: SumTerm, z: Array) -> bool:
    """True of a curved set without end that z is not inside of by more than `EDGE`."""
    on = term.domain
    if on is None or on.polyhedral or math.isfinite(on.radius()) or not z.any():
        return False
    return on.violation(on.drawn_in(z, EDGE * largest(z))) != 0.0


def _natural(canonical: Canonical, block: Block) -> float:
    """The largest size that the constant of a row tells of a variable that it sees; 0 where no row with a constant does."""
    found = max(_finite_bounds(block.g), default=0.0)
    for term in canonical.terms:
        bounds = [] if term.domain is None else _finite_bounds(term.domain)
        constants = np.maximum(np.abs(term.map.offset), max(bounds, default=0.0))
        for other, m in term.map.parts:
            if other is block and constants.any():
                rows = m.absolute().apply(np.ones(block.size))
                found = max(
                    found, float(np.divide(constants, rows, out=np.zeros_like(rows), where=rows > 0.0).max(initial=0.0))
                )
    return found


def _finite_bounds(f: VectorFunction) -> list[float]:
    """The sizes of the bounds that a set has for its entries, or its radius."""
    entries = f.entries()
    ends = [f.radius()] if entries is None else np.abs(np.concatenate(entries.bounds(f.size))).tolist()
    return [float(end) for end in ends if math.isfinite(end)]


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
