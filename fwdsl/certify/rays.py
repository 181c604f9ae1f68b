r"""Certificates that a program has no feasible point, or no finite optimum.

*Infeasible* (Farkas): multipliers y of the constraints that moved into the sum (zero on losses and norms) with

    sum_i (<b_i, y_i> - sigma_{C_i}(y_i)) - sum_B sigma_{dom g_B}(-(K'y)_B) > 0,

sigma the support function. Any feasible x would make the left side at most zero. Where a variable is free, sigma is 0 at 0 and infinite
elsewhere: a miss within rounding counts as met, a larger one costs the miss times the radius of a compact set of that variable, or, where
there is none, times a stated radius (`conditional`: no feasible point within it).

*Unbounded*: a direction d in the recession cones of all sets along which the objective falls,

    sum_i f_i^inf(K_i d) + sum_B g_B^inf(d_B) + <q, d> < 0,    f^inf(z) = sup of <u, z> over the domain of f*,

from a point that is feasible. Both are evaluated with the references from the instance's own data, and must exceed what rounding can make of
the sizes of their terms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..atoms.base import Array, LossFunction, VectorFunction
from ..atoms.domain import set_beneath
from ..atoms.family import Repeated
from ..atoms.matrices import EigenSet, Lines
from ..atoms.vectors import Ridged
from ..atoms.vectors.box import Box
from ..atoms.vectors.nonnegative import Nonnegative
from ..canon.form import Canonical, SumTerm
from ..solution import CertificateKind
from .verify import RADIUS_FACTOR, ROUNDING, block_sizes, set_radii

MARGIN = 1e-9
"""What a certificate's value must exceed, relative to the sum of the sizes of its terms."""

NEGLIGIBLE = 0.03
"""Multipliers that are so small beside the largest may be left out, where the others alone are a proof."""

_NORMS = frozenset(
    {"norm1", "norm2", "norm_inf", "norm_fro", "norm_nuc", "norm_spec", "norm21", "norm1_inf", "group_norm"}
)


@dataclass(frozen=True)
class Ray:
    """A certificate of infeasibility or unboundedness: how it is known, and a sentence in the user's words."""

    kind: CertificateKind
    statement: str
    radius: float | None = None


def infeasible(canonical: Canonical, direction: Sequence[Array], size: float) -> Ray | None:
    """The Farkas certificate that a dual direction gives, or None; `size` is that of the points seen, for the stated radius.

    Entries that are small beside the largest may only be on their way to zero; without them the direction is tried again.
    """
    y = [_multiplier(t, d) for t, d in zip(canonical.terms, direction, strict=True)]
    largest = max((float(np.abs(v).max(initial=0.0)) for v in y), default=0.0)
    if not (0.0 < largest < math.inf):
        return None
    y = [v / largest for v in y]
    small = [(v != 0.0) & (np.abs(v) < NEGLIGIBLE) for v in y]
    found = _farkas(canonical, y, size)
    if (found is not None and found.kind == "exact") or not any(s.any() for s in small):
        return found
    return _farkas(canonical, [np.where(s, 0.0, v) for v, s in zip(y, small, strict=True)], size) or found


def _farkas(canonical: Canonical, y: Sequence[Array], size: float) -> Ray | None:
    value, sizes = 0.0, 0.0
    v = np.zeros(canonical.size)
    for term, yi in zip(canonical.terms, y, strict=True):
        if not yi.any():
            continue
        support = term.f.conjugate(yi)
        if not math.isfinite(support):
            return None
        value += float(term.map.offset @ yi) - support
        sizes += float(np.abs(term.map.offset) @ np.abs(yi)) + abs(support)
        term.map.adjoint(-yi, v)
    radius: float | None = None
    beside = []
    for block in canonical.blocks:
        vb = v[block.slice]
        if vb.any() and not block.auxiliary and set_beneath(block.g) is not None:
            beside.append(f"the {'domain' if block.g.pair[1] is None else 'set'} of {block.name}")
        support = _domain_support(block.g, vb)
        if math.isfinite(support):
            value -= support
            sizes += abs(support)
            continue
        miss = vb - _domain_projection(block.g, vb)
        if np.all(np.abs(miss) <= ROUNDING * block_sizes(canonical, block, y, with_q=False)):
            continue
        bounds = set_radii(canonical, block)
        if bounds:
            value -= min(bounds) * float(np.linalg.norm(miss))
            continue
        radius = max(radius or 0.0, RADIUS_FACTOR * max(1.0, size))
        value -= radius * float(np.linalg.norm(miss))
    if not value > MARGIN * max(sizes, 1e-300):
        return None
    names = [f"`{t.text}`" for t, yi in zip(canonical.terms, y, strict=True) if np.abs(yi).max(initial=0.0) > 1e-6]
    who = [*dict.fromkeys(names), *beside]
    together = " together" if len(who) > 1 else ""
    said = f"{' and '.join(who)} cannot hold{together}"
    if radius is None:
        return Ray("exact", f"{said}: their multipliers add up to a contradiction")
    return Ray("conditional", f"{said} at any point with |x| <= {radius:.3g}", radius)


def unbounded(canonical: Canonical, d: Array, infeasibility: float) -> Ray | None:
    """The certificate that a primal direction gives, from a point of the given infeasibility, or None."""
    if infeasibility > 1e-7:
        return None
    largest = float(np.abs(d).max(initial=0.0))
    if not (0.0 < largest < math.inf):
        return None
    d = np.where(np.abs(d) < 1e-9 * largest, 0.0, d / largest)
    for block in canonical.blocks:
        d[block.slice] = _into_recession(block.g, d[block.slice])
    slope = float(canonical.q @ d)
    sizes = float(np.abs(canonical.q) @ np.abs(d))
    kind: CertificateKind = "exact"
    for block in canonical.blocks:
        growth = _growth(block.g, d[block.slice])
        slope, sizes = slope + growth, sizes + abs(growth)
    for term in canonical.terms:
        z = term.map.linear(d)
        if term.is_indicator:
            missed = _recession_miss(term, z, d)
            if missed > MARGIN:
                return None
            kind = "exact" if missed <= ROUNDING and kind == "exact" else "conditional"
            continue
        growth = _growth(term.f, z) if isinstance(term.f, VectorFunction) else _loss_growth(term, z)
        slope, sizes = slope + growth, sizes + abs(growth)
    if not slope < -MARGIN * max(sizes, 1e-300) or not math.isfinite(slope):
        return None
    moved = [b.name for b in canonical.blocks if d[b.slice].any() and not b.auxiliary]
    word = "falls" if canonical.sense > 0 else "grows"
    who = f"{' and '.join(f'`{n}`' for n in moved)} {'moves' if len(moved) == 1 else 'move'}"
    return Ray(kind, f"the objective {word} without bound as {who} along a direction that no constraint stops")


def _multiplier(term: SumTerm, direction: Array) -> Array:
    if not term.is_indicator:
        return np.zeros(term.map.rows)
    assert isinstance(term.f, VectorFunction)
    y = direction
    if isinstance(term.f, Box):
        y = np.where(np.isinf(term.f.hi), np.minimum(y, 0.0), y)
        return np.where(np.isinf(term.f.lo), np.maximum(y, 0.0), y)
    return y if math.isfinite(term.f.conjugate(y)) else term.f.dual_project(y)


def _domain_support(g: VectorFunction, v: Array) -> float:
    """sup of <v, x> over the domain of g, or inf where it is not known to be finite."""
    on = set_beneath(g)
    if on is None:
        return 0.0 if not v.any() else math.inf
    return on.conjugate(v)


def _domain_projection(g: VectorFunction, v: Array) -> Array:
    on = set_beneath(g)
    return np.zeros_like(v) if on is None else on.dual_project(v)


def _into_recession(g: VectorFunction, d: Array) -> Array:
    """d moved into the recession cone of the domain of g."""
    if g.curvature > 0.0 or math.isfinite(g.radius()):
        return np.zeros_like(d)
    on = set_beneath(g)
    return d if on is None else _onto_cone(on, d)


def _onto_cone(on: VectorFunction, d: Array) -> Array:
    """d moved into the recession cone of a set; zero where the cone is not known."""
    if isinstance(on, Repeated):
        return np.concatenate([_onto_cone(on.inner, part) for part in d.reshape(on.count, -1)])
    if isinstance(on, Lines):
        return on.flat(np.array([_onto_cone(on.inner, line) for line in on.lines(d)]))
    if isinstance(on, Box):
        d = np.where(np.isfinite(on.lo), np.maximum(d, 0.0), d)
        return np.where(np.isfinite(on.hi), np.minimum(d, 0.0), d)
    if isinstance(on, Nonnegative):
        return np.maximum(d, 0.0)
    if isinstance(on, EigenSet) and isinstance(on.inner, Nonnegative):
        return on.prox(d, 0.0)
    return np.zeros_like(d)


def _growth(g: VectorFunction, d: Array) -> float:
    """g^inf(d) for d in the recession cone of its domain: its norm, as the ridge allows no direction."""
    inner = g.inner if isinstance(g, Ridged) else g
    if not d.any() or inner.pair[0] is None:
        return 0.0
    return inner.value(d) if inner.pair[0] in _NORMS else math.inf


def _loss_growth(term: SumTerm, z: Array) -> float:
    """sum_j max(lo_j z_j, hi_j z_j) over the ends of the domain of f*; infinite ends allow no direction but to rounding."""
    if not isinstance(term.f, LossFunction):
        return math.inf if z.any() else 0.0
    lo, hi = term.f.dual_bounds()
    tiny = np.abs(z) <= MARGIN * max(float(np.abs(z).max(initial=0.0)), 1.0) * 1e-3
    z = np.where(tiny, 0.0, z)
    end = np.where(z > 0.0, hi, lo)
    moving = z != 0.0
    return float((end[moving] * z[moving]).sum())


def _recession_miss(term: SumTerm, z: Array, d: Array) -> float:
    """By how much K d misses the recession cone of the set, relative to the sizes of its terms."""
    assert isinstance(term.f, VectorFunction)
    inside = _onto_cone(term.f, z)
    sizes = np.zeros_like(z)
    for block, m in term.map.parts:
        sizes = sizes + m.absolute().apply(np.abs(d[block.slice]))
    return float((np.abs(z - inside) / np.maximum(sizes, 1e-300)).max(initial=0.0))
