"""The costs of dual coordinate descent and its interior point, for the planner."""

from __future__ import annotations

import math

import numpy as np

from fwdsl.atoms.loss import LossFunction
from fwdsl.backends import costs
from fwdsl.backends.finite_sum import matrix_by_rows
from fwdsl.backends.method import Estimate
from fwdsl.backends.signed_dual import SignedDual
from fwdsl.canon.data_maps import Matrix
from fwdsl.canon.form import Canonical

SWEEPS, MOST_SWEEPS = 10, 1_000
"""The least and the most sweeps before the interior point is tried; as many follow each time it brought little."""

WIDEST = 2_000
"""Unknowns up to which the interior point forms its system."""

NS_PER_TOUCH = 1.5
"""Nanoseconds that a number takes in a sweep."""

VISIT = 12.0
"""The time of a visit over that of a number, where a cache has the rows: 23 ns were measured, and 30 to 130 ns for rows in random order of data
beyond it. Most of the time of a sweep over short rows is this."""

SMOOTH, CORNERS = (1.6, 4.2), (3.0, 5.0)
"""Passes a digit: those of a problem that hardly couples its samples, and those for each unit of `coupling`."""

FIRST_CHECK, REST, MOST_REST = 5.0, 0.25, 50.0
"""Times the work of a sweep over all before the first certificate, and at least and at most from one to the next; the share of all work so far that
is between them. Each takes as long as a sweep or two."""

NS_PER_CERTIFICATE = 4e4
"""The calls from Python of a certificate and of the sweeps before it, whatever the size."""

BEYOND, FAR_BEYOND, SIX_DIGITS = 2.0, 50.0, 1e-6
"""Passes of sweeps alone, to six digits, over those that take the time of a round: from which few come before it, where the block is all samples, and
half of them, where it is not."""

CENTRES = 45.0
"""Passes that a search for an intercept without a penalty takes beside."""

SPREAD = 0.15
"""The rate at which unknowns beyond the samples keep samples apart: each has a direction of its own then, and not only the ridge bends the dual."""


def estimate(canonical: Canonical, tol: float) -> Estimate:
    """Sweeps by the coupling of the samples, or a round of the interior point after as many sweeps as take its time."""
    (term,) = canonical.terms
    assert isinstance(term.f, LossFunction)
    n, d = term.f.size, canonical.size
    passes = sweeps_alone(canonical, tol)
    if any(not b.shape and b.g.curvature == 0.0 for b in canonical.blocks):
        passes += CENTRES
    first = 2.0 * sweeps_first(canonical) + 8.0 if has_interior(canonical) else math.inf
    if passes <= first:
        why = f"about {passes:.0f} passes over the samples, with an exact step for each"
        return Estimate(
            passes, _seconds(canonical, passes), costs.memory(canonical, 8, 19) + costs.turned_copy(canonical), why
        )
    seconds = _seconds(canonical, first) + round_seconds(canonical)
    memory = costs.memory(canonical, 8, 19, 8.0 * 3.0 * min(n, 2 * nearest(d)) * d) + costs.turned_copy(canonical)
    why = f"{sweeps_first(canonical)} sweeps and more, then an interior point on samples near their corners"
    return Estimate(first, seconds, memory, why)


def _seconds(canonical: Canonical, passes: float) -> float:
    """Predicted seconds of sweeps: those of so many passes, of the visits of their samples, which is most of it where rows are short, and of
    certificates, of which there are ever fewer: each is due after a share of the work so far."""
    swept = costs.seconds(canonical, passes, 0.0) * sweep_work(canonical) / max(1, canonical.nnz)
    even = FIRST_CHECK / REST
    certificates = min(passes, even) / FIRST_CHECK + math.log(max(passes / even, 1.0)) / math.log1p(REST)
    return swept + NS_PER_CERTIFICATE * 1e-9 * certificates


def coupling(canonical: Canonical) -> float:
    """The movement of the prediction of a sample by a step on the dual entry of one like it, over what moves that entry back.

    |a|^2 / mu times the length of the dual's interval over the size of the targets, where the loss has corners, or times its second derivative; a
    number without a unit. It decides how many sweeps there are.
    """
    (term,) = canonical.terms
    assert isinstance(term.f, LossFunction)
    n = max(1, term.f.size)
    ridge = max(b.g.curvature for b in canonical.blocks)
    square, wide = 0.0, 0
    for block, m in term.map.parts:
        found = matrix_by_rows(m) if block.shape else None
        if found is None or not isinstance(found[1], Matrix):
            continue
        norms = canonical.instance.column_norms(found[1].A)
        # data that were not measured are taken for rows of the length 1
        square += found[0] ** 2 * (float(n) if norms is None else float(np.square(np.minimum(norms, 1e150)).sum()))
        wide = max(wide, m.columns)
    dual = SignedDual.of(term.f, term.map.offset)
    if term.is_smooth:
        stiff = term.curvature * float(term.f.w.mean())
    else:
        size = float(np.sqrt(np.square(dual.t).mean())) if dual.t.size else 0.0
        width = dual.hi - dual.lo
        stiff = float(width[np.isfinite(width)].sum()) / n / size if size > 0.0 else math.inf
    found_at = stiff * square / n / ridge
    return found_at / (1.0 + SPREAD * found_at * wide / n) if math.isfinite(found_at) else 1e9


def has_interior(canonical: Canonical) -> bool:
    """True if the loss has corners and the interior point's system can be formed."""
    (term,) = canonical.terms
    return not term.is_smooth and canonical.size <= WIDEST


def round_seconds(canonical: Canonical) -> float:
    """Predicted seconds of a round: of the Gram matrix of the block, of products with it, and of the Cholesky factor, 15 times."""
    (term,) = canonical.terms
    n, d = term.map.rows, canonical.size
    rows, stored = float(min(n, 2 * nearest(d))), canonical.nnz / max(1, n)
    return 15e-9 * (rows * min(0.06 * d * d, 0.5 * stored * stored) + 15.0 * rows * stored + 0.03 * d**3)


def sweeps_first(canonical: Canonical) -> int:
    """Sweeps before the interior point: as many as touch so many numbers as a round takes the time of, so that neither wastes much beside the other.

    Where sweeps alone would take far longer they are wasted: a few do where the block of a round is everything, and half where it is chosen by them.
    Visits do not count here: sweeps get shorter as they go, and a round after fewer of them has a block that is wrong too often.
    """
    even = round_seconds(canonical) / (1e-9 * NS_PER_TOUCH * canonical.nnz)
    beyond = sweeps_alone(canonical, SIX_DIGITS) / max(even, 1.0)
    if is_everything(canonical.terms[0].map.rows, canonical.size):
        even = even if beyond <= BEYOND else 0.0
    elif beyond > FAR_BEYOND:
        even *= 0.5
    return int(min(max(SWEEPS, even), MOST_SWEEPS))


def sweeps_alone(canonical: Canonical, tol: float) -> float:
    """Passes that sweeps take without an interior point, by the coupling of the samples."""
    base, each = SMOOTH if canonical.terms[0].is_smooth else CORNERS
    return (2.0 - math.log10(tol)) * (base + each * coupling(canonical))


def nearest(width: int) -> int:
    """Samples that the block of a round has at least, for so many unknowns."""
    return 6 * width + 50


def is_everything(n: int, width: int) -> bool:
    """True if a round's block is all samples."""
    return n <= 2 * nearest(width)


def sweep_work(canonical: Canonical) -> float:
    """The work of a sweep over all samples: numbers touched, and `VISIT` for each sample."""
    return canonical.nnz + VISIT * sum(t.map.rows for t in canonical.terms)
