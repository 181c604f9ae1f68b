r"""P(x) and D(y) of a canonical problem, recomputed in float64 with the atoms' NumPy references, never with the kernels.

For any y = (y_1, ..., y_m), weak duality gives

    D(y) = constant + sum_i (<b_i, y_i> - f_i^*(y_i)) - sum_B g_B^*(v_B),    v = -(q + sum_i K_i' y_i).

Where g_B^*(v_B) is infinite, v_B misses the domain of g_B^*. Three rules give a bound all the same (language.md, section 7):

* *rounding*: an equality missed by at most 8 eps times the sum of its terms' sizes counts as met;
* *implied bound*: where c |x_B|_p <= P(x) - (infima of everything else) is known, D may assume |x_B|_p <= R, and a miss
  costs R times its dual norm (g + indicator of the ball has conjugate min_u g^*(u) + R |v - u|_*);
* *stated radius*: a relative miss of at most 1e-12 costs the miss times a radius of 1,000 times the answer's own size,
  and the certificate is `conditional` on no better point lying beyond.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..atoms.base import Array, LossFunction, VectorFunction
from ..atoms.matrices import dual_norm
from ..atoms.vector_loss import VectorLossFunction
from ..atoms.vectors.box import Box
from ..canon.form import Block, Canonical, SumTerm
from ..canon.maps import Identity
from ..canon.matrix_maps import Symmetrise
from ..solution import CertificateKind

EPS = float(np.finfo(np.float64).eps)
ROUNDING = 8.0 * EPS
CONDITIONAL_MISS = 1e-12
RADIUS_FACTOR = 1000.0
NOISE = 1e-25


@dataclass(frozen=True)
class Verified:
    """What the verifier found, in the canonical sense (minimisation). `y` is the dual point it used, `passes` what it cost.

    `outside` is the violation of the sets that a method's points lie in by construction, a part of `infeasibility`.
    """

    primal: float
    dual: float
    infeasibility: float
    kind: CertificateKind
    statement: str
    radius: float | None
    y: tuple[Array, ...]
    passes: float
    outside: float = 0.0

    def contradicts(self, scale: float) -> bool:
        """Whether the bound lies above the value of a feasible point by more than 1e-9 of the scale: a bug, whosesoever."""
        if self.infeasibility > 1e-12 or not (math.isfinite(self.dual) and math.isfinite(self.primal)):
            return False
        return self.dual - self.primal > 1e-9 * max(abs(self.primal), abs(self.dual), 1e-3 * scale)

    def relative_gap(self, scale: float) -> float:
        """|P - D| / max(|P|, |D|, 1e-3 S); inf without a bound."""
        if not math.isfinite(self.dual) or not math.isfinite(self.primal):
            return math.inf
        return abs(self.primal - self.dual) / max(abs(self.primal), abs(self.dual), 1e-3 * scale)


def verify(canonical: Canonical, x: Array, y: Sequence[Array] | None) -> Verified:
    """Certify x by the dual point y (None: no bound)."""
    primal, infeasibility, outside = evaluate_primal(canonical, x)
    if y is None:
        return Verified(primal, -math.inf, infeasibility, "none", "no dual point was found", None, (), 1.0, outside)
    # what is rounding beside the largest multiplier is zero: no equality could be told from it
    noise = NOISE * max((float(np.abs(yi).max(initial=0.0)) for yi in y), default=0.0)
    tidy = tuple(_tidy(t, np.where(np.abs(yi) < noise, 0.0, yi)) for t, yi in zip(canonical.terms, y, strict=True))
    dual, kind, statement, radius = evaluate_dual(canonical, tidy, x, primal, infeasibility)
    return Verified(primal, dual, infeasibility, kind, statement, radius, tidy, 2.0, outside)


def evaluate_primal(canonical: Canonical, x: Array) -> tuple[float, float, float]:
    """P(x), constraints ignored; the largest relative violation of a constraint; and that of the blocks' own sets alone."""
    primal = canonical.constant + float(canonical.q @ x)
    worst = outside = 0.0
    for term in canonical.terms:
        z = term.map.apply(x)
        if isinstance(term.f, VectorFunction):
            # of an indicator its set, of the entropy its domain
            worst = max(worst, _violation(term, z, x))
        if not term.is_indicator:
            primal += term.f.value(z)
    for block in canonical.blocks:
        primal += block.g.value(x[block.slice])
        outside = max(outside, block.g.violation(x[block.slice]))
    return primal, max(worst, outside), outside


def _violation(term: SumTerm, z: Array, x: Array) -> float:
    """The violation of K x + b in a set; of entrywise bounds relative to 1 + |K||x| + |b|, the sizes of each row's terms."""
    assert isinstance(term.f, VectorFunction)
    found = term.f.violation(z)
    if found == 0.0 or not isinstance(term.f, Box):
        return found
    sizes = np.abs(term.map.offset)
    for block, m in term.map.parts:
        sizes = sizes + m.absolute().apply(np.abs(x[block.slice]))
    excess = np.maximum(np.maximum(term.f.lo - z, z - term.f.hi), 0.0)
    return float((excess / (1.0 + sizes)).max(initial=0.0))


def _tidy(term: SumTerm, y: Array) -> Array:
    """y_i moved into the domain of f_i^* where only rounding keeps it out: any y gives a valid bound."""
    if isinstance(term.f, LossFunction):
        return term.f.into_domain(y)
    if isinstance(term.f, VectorLossFunction):
        return term.f.into_domain(y) if not math.isfinite(term.f.conjugate(y)) else y
    return y * term.f.dual_scale(y) if not math.isfinite(term.f.conjugate(y)) else y


def evaluate_dual(
    canonical: Canonical, y: Sequence[Array], x: Array, primal: float, infeasibility: float
) -> tuple[float, CertificateKind, str, float | None]:
    """D(y), how it is known, a sentence on what it rests on, and the stated radius if there is one."""
    total = canonical.constant
    v = -canonical.q
    for term, yi in zip(canonical.terms, y, strict=True):
        total += float(term.map.offset @ yi) - term.f.conjugate(yi)
        term.map.adjoint(-yi, v)
    if not math.isfinite(total):
        return -math.inf, "none", "the dual point is outside the domain of a conjugate", None
    spectral = any(f.certificate == "rigorous" for f in _vector_functions(canonical))
    kind: CertificateKind = "rigorous" if spectral else "exact"
    known = "dense singular values or eigenvalues with their backward error" if spectral else "closed-form dual"
    statements, radius = [known], None
    for block in canonical.blocks:
        vb = v[block.slice]
        value = block.g.conjugate(vb)
        if math.isfinite(value):
            total -= value
            continue
        u = block.g.dual_project(vb)
        if not math.isfinite(block.g.conjugate(u)):
            u = u * block.g.dual_scale(u)
        miss = vb - u
        sizes = block_sizes(canonical, block, y)
        if np.all(np.abs(miss) <= ROUNDING * sizes):
            total -= block.g.conjugate(u)
            statements.append(f"the equality of {block.name} is met to rounding{_measure(canonical)}")
            continue
        bound = _implied_bound(canonical, block, primal, infeasibility)
        if bound is not None:
            r, norm, why = bound
            total -= block.g.conjugate(u) + r * dual_norm(norm, miss, block.shape)
            statements.append(why)
            continue
        relative = float(np.abs(miss).max(initial=0.0)) / max(float(sizes.max(initial=0.0)), 1e-300)
        if relative > CONDITIONAL_MISS:
            return -math.inf, "none", f"the dual point misses the equality of {block.name} by {relative:.1e}", None
        radius = max(radius or 0.0, RADIUS_FACTOR * max(1.0, float(np.linalg.norm(x))))
        total -= block.g.conjugate(u) + radius * float(np.linalg.norm(miss))
        kind = "conditional"
        statements.append(
            f"no point with |x| <= {radius:.3g} is better, the dual missing the equality of {block.name} by {relative:.1e}"
        )
    if not math.isfinite(total):
        # squares of a diverged run's multipliers overflow, to either side: what is left is no bound
        return -math.inf, "none", "the numbers of the dual point overflow", None
    return total, kind, "; ".join(statements), radius


def _vector_functions(canonical: Canonical) -> list[VectorFunction]:
    return [b.g for b in canonical.blocks] + [t.f for t in canonical.terms if isinstance(t.f, VectorFunction)]


def _measure(canonical: Canonical) -> str:
    """How rounding is measured where entries are not known: by the norms of operators (a bound too small only makes it stricter)."""
    stats = canonical.instance.stats
    norms = [f"|{n}| <= {s.largest_row_norm:.3g}, {s.norm_statement}" for n, s in stats.items() if s.norm_statement]
    return f", measured by {' and '.join(norms)}" if norms else ""


def block_sizes(canonical: Canonical, block: Block, y: Sequence[Array], with_q: bool = True) -> Array:
    """|q| + sum_i |K_i|' |y_i| on a block: the sum of the sizes of the terms of each equality."""
    sizes = np.abs(canonical.q[block.slice]) if with_q else np.zeros(block.size)
    for term, yi in zip(canonical.terms, y, strict=True):
        for other, m in term.map.parts:
            if other is block:
                sizes = sizes + m.absolute().adjoint(np.abs(yi))
    return sizes


def _implied_bound(
    canonical: Canonical, block: Block, primal: float, infeasibility: float
) -> tuple[float, str, str] | None:
    """(R, dual norm, why) with |x*_B|_p <= R for every optimal x*, or None.

    A compact set that moved into the sum gives its radius. A norm c |x_B|_p, in g or in the sum, gives (P(x0) - the sum of the infima of
    all other terms) / c at a feasible x0.
    """
    moved = [t.f for t in canonical.terms if _is_bare(t, block) and isinstance(t.f, VectorFunction)]
    radii = set_radii(canonical, block)
    if radii:
        return min(radii), "l2", f"|{block.name}| is bounded by its set"
    if infeasibility > 0.0:
        return None
    coercive = [pair for f in (block.g, *moved) if (pair := f.coercive()) is not None]
    rest = _infima(canonical, block)
    if not coercive or not math.isfinite(rest):
        return None
    best = None
    for c, norm in coercive:
        left = c - dual_norm(norm, canonical.q[block.slice], block.shape)
        if left > 0.0:
            r = max(0.0, primal - rest) / left
            why = f"any better {block.name} has norm at most {r:.3g}, as its penalty alone would exceed the objective found"
            if best is None or r < best[0]:
                best = (r, norm, why)
    return best


def set_radii(canonical: Canonical, block: Block) -> list[float]:
    """The Euclidean radii of the compact sets of a block that moved into the sum."""
    moved = [t.f for t in canonical.terms if _is_bare(t, block) and isinstance(t.f, VectorFunction)]
    return [f.radius() for f in moved if math.isfinite(f.radius())]


def _is_bare(term: SumTerm, block: Block) -> bool:
    return (
        len(term.map.parts) == 1
        and term.map.parts[0][0] is block
        and isinstance(term.map.parts[0][1], Identity | Symmetrise)
        and not term.map.offset.any()
    )


def _infima(canonical: Canonical, block: Block) -> float:
    """A lower bound on everything but the norms of one block; -inf where a linear term is not absorbed by a bounded block."""
    total = canonical.constant
    for term in canonical.terms:
        if isinstance(term.f, LossFunction | VectorLossFunction):
            total += term.f.infimum()
    for other in canonical.blocks:
        if other is not block and canonical.q[other.slice].any():
            total -= other.g.conjugate(-canonical.q[other.slice])
    return total
