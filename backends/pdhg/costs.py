"""The predicted cost of `pdhg`."""

from __future__ import annotations

import math

from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends.costs import (
    OVERHEAD,
    decompositions,
    has_singular_values,
    is_of_singular_values,
    is_over_rows,
    memory,
    seconds,
    with_copy,
)
from fwdsl.backends.method import Estimate
from fwdsl.canon.combined_maps import unscaled
from fwdsl.canon.data_maps import BLOCK
from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import Identity
from fwdsl.canon.matrix_maps import Symmetrise

LARGEST = 700
"""Unknowns of the largest system of a large proximal step (`proximal.py`)."""

CHUNK = 250_000
"""Numbers of the curved rows of its Jacobian that are formed at once."""

ITERATIONS = 150.0
"""Iterations for each digit of the tolerance, of the smallest systems."""

OF_SINGULAR_VALUES = 12.0
"""The same of one smooth loss beside singular values, whatever the sizes: 60 to 100 iterations to 1e-6, as measured."""

OF_ENTRIES = 35.0
"""The same of singular values beside sums of the entries as they are: 70 to 500 iterations to 1e-6, as measured."""

OVER_ROWS, OF_A_DIGIT = 60.0, 15.0
"""Iterations whatever the tolerance, and for each of its digits, of one loss or norm of residuals over rows of data, where sizes hardly matter."""

NS_PER_SCORE = 60.0
"""One prediction of a loss of rows in a prox, which sorts the row or takes Newton steps on it, and in the way back into the dual's domain."""

SMALL_MATRIX = 400_000
"""Entries times the shorter side of a matrix of observed entries up to which its singular values are computed in every iteration."""

LEAST_SECONDS = (OVER_ROWS + OF_A_DIGIT) * OVERHEAD


def _entries(canonical: Canonical) -> float:
    """Bytes of the blocks of data whose absolute values scaling takes."""
    return 16.0 * max((min(s.nnz, BLOCK) for s in canonical.instance.stats.values()), default=0)


def _system(canonical: Canonical) -> float:
    """Bytes of the largest system of a large proximal step, of its parts, and of its copies while it is solved."""
    # directions of smooth losses are curved, and no unknowns; some rows of theirs are formed at a time
    flat = sum(t.map.rows for t in canonical.terms if not t.is_smooth)
    rows = 16.0 * CHUNK if any(t.is_smooth for t in canonical.terms) else 0.0
    return 8.0 * 5.0 * min(LARGEST, canonical.size + flat) ** 2 + rows


def _are_entries(canonical: Canonical) -> bool:
    """True if the sum sees entries of variables as they are, and sums of them."""
    maps = (m for t in canonical.terms for _, m in t.map.parts)
    return all(isinstance(unscaled(m)[1], Identity | Symmetrise) for m in maps)


def pdhg(canonical: Canonical, tol: float) -> Estimate:
    """Linear convergence in restarts for polyhedral problems; hundreds of iterations over rows of data, else up to thousands,
    more of them for larger systems."""
    digits = max(1.0, -math.log10(tol))
    if is_over_rows(canonical):
        iterations = OVER_ROWS + OF_A_DIGIT * digits
    elif is_of_singular_values(canonical):
        iterations = OF_SINGULAR_VALUES * digits
    elif has_singular_values(canonical) and _are_entries(canonical):
        iterations = OF_ENTRIES * digits
    else:
        flat = sum(t.map.rows for t in canonical.terms if not t.is_smooth)
        iterations = ITERATIONS * digits * max(1.0, (canonical.size + flat) / 100.0) ** (1.0 / 3.0)
    passes = 2.0 * iterations
    why = f"about {iterations:.0f} iterations of one A x and one A'y, fewer when restarts bite"
    scores = sum(t.map.rows for t in canonical.terms if isinstance(t.f, VectorLossFunction))
    return Estimate(
        passes,
        seconds(canonical, passes, iterations)
        + (1e-9 * NS_PER_SCORE * scores + decompositions(canonical)) * iterations,
        memory(canonical, 14, 17, max(_entries(canonical), _system(canonical))),
        with_copy(canonical, why),
    )
