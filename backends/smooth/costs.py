"""The costs of the systems of Newton's method, on the scale of `backends.costs`, and the choice among them."""

from __future__ import annotations

import math

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends import costs
from fwdsl.backends.coordinate.parts import factor_and_matrix
from fwdsl.backends.maps import FEW as APPLIED
from fwdsl.backends.maps import MOST_WRITTEN, PRODUCT
from fwdsl.backends.method import Estimate
from fwdsl.backends.newton import CG_STEPS
from fwdsl.backends.smooth.columns import Columns, columns_of_predictions, parts_of_predictions
from fwdsl.bind.data_operator import DataOperator
from fwdsl.canon.data_maps import Matrix
from fwdsl.canon.form import Canonical, once_per_form
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.matrix_maps import LeftMultiply
from fwdsl.light_dataclass import light_dataclass
from fwdsl.readers.held_rows import is_held
from fwdsl.readers.row_blocks import DenseRows, is_on_disk

NS_PER_PAIR = {"dense": 0.03, "sparse": 1.2}
"""A product of two numbers of a row in a Gram matrix: by BLAS, or pair by pair."""

NS_PER_WRITTEN = 4e5
"""The calls for the Gram matrix of a map that is written down as a sparse matrix: differences, and products of data with variables of their own."""

NS_PER_CUBE = 0.03
"""A cube of the order of a system, factored: a third of it in products and sums."""

NS_PER_COLUMN = 0.15
"""The share of a pass that each further column of a product with a matrix costs."""

BY_ROWS = 0.5
"""The share of the time of a product that is left where it goes along dense rows (`rows`)."""

NS_PER_SCALED = 1.0
"""A number of dense rows that a root of a weight multiplies for a Gram matrix."""

NS_PER_BLOCK = 1e5
"""The calls for the block of one column."""

MOST_FACTORED = 3_000
"""Unknowns or rows up to which a matrix of that order is factored."""

FEW = 64
"""Free columns beside those of the data, and columns of maps that are no data, which are formed."""

SHORT = 32
"""Entries of a row of a map that is no data up to which it is written down."""

STEPS = 7.0
"""Newton steps on a loss that is not quadratic."""

LEAST_STEPS, OF_SHARE = 3.0, 15.0
"""Newton steps by a factor on a loss with linear pieces and many more unknowns than samples, which hardly hold each other back: at least so many,
and so many times the samples over the unknowns. With 1.2 to 10 times as many unknowns 1 to 8 were measured on dense data, 2 to 16 on sparse ones."""

FIRST_STEPS, STEPS_OF_ROOT = 2.0, 2.0
"""The same by conjugate gradients, whose steps end early and leave samples on the wrong pieces: so many, and so many times the root of the mean
curvature along a sample over that of the ridge. With roots from 0.4 to 170 it was 0.5 to 1.8 times as many, on 13 shapes with squared hinges and
Huber losses."""

BENDING = 0.75
"""The share of the samples that are on no linear piece of their losses, over the steps of a solve: 0.3 to 1 with squared hinges."""

CHANGED = 0.25
"""The share of a Gram matrix that a step takes to bring one of a loss with quadratic pieces up to date: 0.1 to 0.5 with squared hinges."""

MOST_KEPT = 1_500
"""Unknowns up to which such a matrix is kept: it is in the state of a run."""

ROOT = 6.0
"""The root of a condition number from which first-order methods do not end before their Newton steps."""

BLOCK_PRODUCTS, BLOCK_STEPS = 6.0, 2.0
"""Products in a Newton step where blocks of the columns precondition, and on a quadratic."""

OF_STALE = 0.1
"""The further products of a step, over those that the blocks are worth: earlier blocks serve until then."""

REFORMED = 0.4
"""The share of the Newton steps in which these blocks are formed anew."""

TRUSTED = 3.0
"""The multiple of the predicted passes up to which Newton's method is taken to be on its way, whatever its gap."""

FACE = 0.2
"""The share of the unknowns that a penalty or set with corners is predicted to leave free."""

FACE_PASSES = 3.0
"""Passes over the data in a Newton step on a face: the gradient, the rows of the Gram matrix, and the predictions at the new point."""

FACTORED_STEPS = 3.0
"""Newton steps that are left where conjugate gradients give way to a factor."""


@light_dataclass
class SystemChoice:
    """A system, and its predicted nanoseconds: once, and in each Newton step."""

    kind: str
    once: float
    step: float
    products: float = 0.0


@once_per_form
def choose(canonical: Canonical) -> SystemChoice:
    """The system of least predicted time."""
    found = [*_factored(canonical), _iterative(canonical), _blocked(canonical)]
    return min((c for c in found if c is not None), key=lambda c: c.once + _steps(canonical, c.kind) * c.step)


def factored_after(canonical: Canonical) -> tuple[str, int] | None:
    """The kind of the cheapest system that is factored, and the products with the Hessian that cost as much as it does; None where there is none.

    Conjugate gradients that have taken so many give way to it: together they cost at most twice what the better one does.
    """
    steps = 1.0 if costs.is_quadratic(canonical) else FACTORED_STEPS
    cheapest = min(_factored(canonical), key=lambda c: c.once + steps * c.step, default=None)
    if cheapest is None:
        return None
    return cheapest.kind, math.ceil((cheapest.once + steps * cheapest.step) / _product(canonical))


def is_worth_keeping(canonical: Canonical) -> bool:
    """True if a system costs more than a product with the Hessian: a step by the factor of an earlier one then costs at most half as much."""
    cheapest = min((c.step for c in _factored(canonical)), default=0.0)
    return cheapest > _product(canonical)


@once_per_form
def _factored(canonical: Canonical) -> list[SystemChoice]:
    return [c for c in (_primal(canonical), _dual(canonical)) if c is not None]


def able(canonical: Canonical, kind: str) -> bool:
    """True if a problem has a system of a kind, whatever it costs."""
    made = {"primal": _primal, "dual": _dual, "blocks": _blocked}
    return kind == "cg" or made[kind](canonical) is not None


def needs_columns(canonical: Canonical) -> bool:
    """True if a run would form the system over the rows: that takes columns of data, which rows on a disk or with workers do not give."""
    after = factored_after(canonical)
    return choose(canonical).kind == "dual" or (after is not None and after[0] == "dual")


@once_per_form
def is_factorable(canonical: Canonical) -> bool:
    """True if second derivatives are diagonal and maps few columns but for those of data."""
    return (
        all(isinstance(t.f, LossFunction) for t in canonical.terms)
        and not any(isinstance(v, DataOperator) for v in canonical.instance.values.values())
        and not any(b.symmetric for b in canonical.blocks)
        and all(factor_and_matrix(m) is not None or m.columns <= FEW for t in canonical.terms for _, m in t.map.parts)
    )


@once_per_form
def is_formable(canonical: Canonical) -> bool:
    """True if second derivatives are diagonal and maps are those of data that store their columns, have few columns, or short rows in memory."""
    if is_factorable(canonical):
        return True
    values = canonical.instance.values.values()
    return (
        all(isinstance(t.f, LossFunction) for t in canonical.terms)
        and not any(isinstance(v, DataOperator) or is_on_disk(v) or is_held(v) for v in values)
        and not any(b.symmetric for b in canonical.blocks)
        and all(
            factor_and_matrix(m) is not None or m.columns <= FEW or m.entries <= SHORT * m.rows
            for t in canonical.terms
            for _, m in t.map.parts
        )
    )


def gram_seconds(canonical: Canonical) -> float:
    """Predicted seconds of the Gram matrix of all unknowns."""
    found = 1e-9 * sum(_pairs(m, m.rows, m.columns) for t in canonical.terms for _, m in t.map.parts)
    return costs.TAKEN.get() * found


def _written_passes(canonical: Canonical) -> float:
    """Data passes that are counted for a Gram matrix beyond that over data: those of maps that are written down (`maps.columns_of`)."""
    maps = (m for m in _written(canonical) if m.entries <= MOST_WRITTEN)
    return sum(PRODUCT * m.nnz * m.entries / max(1, m.rows) for m in maps) / max(1, canonical.nnz)


def _written(canonical: Canonical) -> list[LinearMap]:
    """The maps beyond those of data that a Gram matrix takes written down."""
    parts = [m for t in canonical.terms for _, m in t.map.parts]
    return [m for m in parts if factor_and_matrix(m) is None and m.columns > APPLIED]


def _primal(canonical: Canonical) -> SystemChoice | None:
    if canonical.size > MOST_FACTORED or not is_formable(canonical):
        return None
    pairs = _bending(canonical) * 1e9 * gram_seconds(canonical)
    changed = CHANGED if keeps_gram(canonical) else 1.0
    calls = NS_PER_WRITTEN * len(_written(canonical))
    step = changed * pairs + calls + NS_PER_CUBE * float(canonical.size) ** 3
    return SystemChoice("primal", (1.0 - changed) * pairs, step)


def keeps_gram(canonical: Canonical) -> bool:
    """True if the Gram matrix of a step is brought up to date for the next: f'' of losses with quadratic pieces changes for few samples."""
    return _has_pieces(canonical) and not costs.is_quadratic(canonical) and canonical.size <= MOST_KEPT


def _bending(canonical: Canonical) -> float:
    """The share of the samples that a Hessian has: samples on linear pieces add nothing to a Gram matrix, and cost next to nothing."""
    quadratic = any(isinstance(t.f, LossFunction) and t.f.loss.quadratic for t in canonical.terms)
    return BENDING if _has_pieces(canonical) and not quadratic else 1.0


def _has_pieces(canonical: Canonical) -> bool:
    """True if all losses of entries are quadratic, or piecewise so."""
    losses = [t.f.loss for t in canonical.terms if isinstance(t.f, LossFunction)]
    return bool(losses) and all(loss.piecewise_quadratic for loss in losses)


def finishing_seconds(canonical: Canonical) -> float:
    """Predicted seconds of the Newton steps that first-order methods end with: on all variables, or on the face of a penalty or set with corners.

    A well-conditioned problem without corners is over before, and where conjugate gradients take these steps they are counted in passes. With
    corners, quadratics and losses with linear pieces have theirs counted as iterations.
    """
    found = _primal(canonical)
    if found is None or costs.is_by_gradients(canonical):
        return 0.0
    if all(b.g.pair == (None, None) for b in canonical.blocks):
        step = min(found.step, CG_STEPS * _product(canonical))
        return 1e-9 * step * costs.FACE_STEPS * min(1.0, math.sqrt(costs.condition(canonical)) / ROOT)
    if _has_pieces(canonical) or not all(b.g.polyhedral for b in canonical.blocks):
        return 0.0
    pairs, cubes = FACE**2 * 1e9 * gram_seconds(canonical), NS_PER_CUBE * (FACE * canonical.size) ** 3
    on_face = min(pairs + cubes, CG_STEPS * _product(canonical))
    return costs.FACE_STEPS * (costs.seconds(canonical, FACE_PASSES, 1.0) + 1e-9 * on_face)


def _dual(canonical: Canonical) -> SystemChoice | None:
    if len(canonical.terms) != 1 or not is_factorable(canonical):
        return None
    (term,) = canonical.terms
    free = sum(b.size for b in canonical.blocks if b.g.curvature == 0.0)
    n = term.map.rows
    if not 0 < n <= MOST_FACTORED or free > FEW or free == canonical.size:
        return None
    pairs = sum(_pairs(m, m.columns, n) for _, m in term.map.parts)
    return SystemChoice("dual", pairs, NS_PER_CUBE * float(n) ** 3 + 8.0 * n * n)


def pairs_of_rows(canonical: Canonical) -> float:
    """Predicted seconds of the Gram matrix of all rows."""
    found = 1e-9 * sum(_pairs(m, m.columns, m.rows) for t in canonical.terms for _, m in t.map.parts)
    return costs.TAKEN.get() * found


def _pairs(m: LinearMap, rows: int, columns: int) -> float:
    """Nanoseconds of the Gram matrix of a map with so many rows and columns, or of its transpose."""
    found = factor_and_matrix(m)
    if found is None:
        written = float(m.entries)
        return min(
            NS_PER_PAIR["dense"] * rows * columns**2, NS_PER_PAIR["sparse"] * written * (written / max(1, rows) + 1.0)
        )
    if isinstance(getattr(found[1], "A", None), np.ndarray | DenseRows):
        return NS_PER_PAIR["dense"] * rows * float(columns) ** 2
    nnz = found[1].nnz
    # rows of uneven lengths have more pairs
    return NS_PER_PAIR["sparse"] * nnz * (nnz / max(1, rows) + 1.0)


def _iterative(canonical: Canonical) -> SystemChoice:
    """Conjugate gradients: some root of the condition number of products, and no more than there are unknowns or rows."""
    most = 1.5 * min(canonical.size, sum(t.map.rows for t in canonical.terms))
    root = math.sqrt(costs.condition(canonical))
    products = (
        min(8.0 + 1.5 * root, 500.0, most) if costs.is_quadratic(canonical) else min(3.0 + 0.5 * root, 40.0, most)
    )
    return SystemChoice("cg", 0.0, products * _product(canonical), products)


@once_per_form
def _product(canonical: Canonical) -> float:
    """Nanoseconds of a product with the Hessian."""
    width = max((m.k for t in canonical.terms for _, m in t.map.parts if isinstance(m, LeftMultiply)), default=1)
    stored = "dense" if any(s.storage == "dense" for s in canonical.instance.stats.values()) else "csr"
    product = 2.0 * costs.NS_PER_NONZERO[stored] * canonical.nnz * (1.0 + NS_PER_COLUMN * (width - 1))
    parts = parts_of_predictions(canonical)
    share = 1.0 if parts is None or not parts.has_rows else BY_ROWS
    return share * (product + 5.0 * canonical.size + 3.0 * sum(t.map.rows for t in canonical.terms) + 6e4)


def _blocked(canonical: Canonical) -> SystemChoice | None:
    """Conjugate gradients with blocks of columns, which are formed anew in some steps; those of a quadratic once, and exactly."""
    parts = columns_of_predictions(canonical)
    if parts is None:
        return None
    product, one = _product(canonical), _block(parts)
    if costs.is_quadratic(canonical):
        return SystemChoice("blocks", parts.k * one, BLOCK_STEPS * product, BLOCK_STEPS)
    products = BLOCK_PRODUCTS + OF_STALE * parts.k * block_products(canonical, parts)
    return SystemChoice("blocks", 0.0, REFORMED * parts.k * one + products * product, products)


def block_products(canonical: Canonical, parts: Columns) -> float:
    """The products with the Hessian for which the block of one column is worth forming: those that take as long, or along dense rows half as many, as
    directions by earlier blocks cost further steps, too."""
    return (BY_ROWS if parts.has_rows else 1.0) * _block(parts) / _product(canonical)


def _block(parts: Columns) -> float:
    """Nanoseconds of the block of one column: rows that are scaled, their Gram matrix, and its factor."""
    n, d = (int(size) for size in parts.A.A.shape)
    pairs = NS_PER_PAIR["dense"] * n * float(d) ** 2 + NS_PER_SCALED * n * float(d)
    if not isinstance(parts.A.A, np.ndarray):
        nnz = float(parts.A.nnz)
        pairs = min(pairs, NS_PER_PAIR["sparse"] * nnz * (nnz / max(1, n) + 1.0))
    return pairs + NS_PER_CUBE * float(parts.order) ** 3 + NS_PER_BLOCK


def column_squares(canonical: Canonical) -> Array:
    """The diagonal of sum_i K_i' diag(w_i) K_i, about: by the norms of columns that bind has measured, where it has."""
    out = np.zeros(canonical.size)
    for term in canonical.terms:
        assert not hasattr(term.f, "prox_kernel")
        w = np.repeat(term.f.w, term.map.rows // max(1, term.f.w.size))
        mean = float(w.mean()) if w.size else 0.0
        for block, m in term.map.parts:
            found = factor_and_matrix(m)
            c, inner = found if found is not None else (1.0, m)
            norms = None
            if isinstance(inner, Matrix | LeftMultiply) and not inner.transposed:
                norms = canonical.instance.column_norms(inner.A)
            if norms is not None and isinstance(inner, Matrix):
                out[block.slice] += c**2 * mean * norms**2
            elif norms is not None and isinstance(inner, LeftMultiply):
                out[block.slice] += mean * np.repeat(norms**2, inner.k)
            else:
                out[block.slice] += m.squared().adjoint(w)
    return out


def _steps(canonical: Canonical, kind: str) -> float:
    """The Newton steps to 1e-6 by a kind of system: one on a quadratic."""
    if costs.is_quadratic(canonical):
        return 1.0
    rows = sum(t.map.rows for t in canonical.terms)
    if not (_has_pieces(canonical) and 0 < rows < canonical.size):
        return STEPS
    if kind == "cg":
        ridge = max(b.g.curvature for b in canonical.blocks)
        return FIRST_STEPS + STEPS_OF_ROOT * math.sqrt(canonical.total_stretch / rows / ridge) if ridge > 0.0 else STEPS
    return min(STEPS, max(LEAST_STEPS, OF_SHARE * rows / canonical.size))


def estimate(canonical: Canonical, tol: float) -> Estimate:
    """A few Newton steps, each with its system."""
    digits = max(1.0, -math.log10(tol)) / 6.0
    chosen = choose(canonical)
    steps = _steps(canonical, chosen.kind)
    if not costs.is_quadratic(canonical):
        steps += digits - 1.0
    passes = 2.0 + 3.0 * steps
    extra = chosen.once + steps * chosen.step * (digits if chosen.products else 1.0)
    order = {"primal": canonical.size, "dual": sum(t.map.rows for t in canonical.terms), "cg": 0, "blocks": 0}[
        chosen.kind
    ]
    how = {
        "primal": f"a system of {order:,} unknowns in each",
        "dual": f"a system of {order:,} rows in each",
        "cg": f"about {chosen.products:.0f} products with the Hessian in each",
        "blocks": f"about {chosen.products:.0f} products with the Hessian in each, and its blocks of the classes",
    }[chosen.kind]
    why = (
        f"about {steps:.0f} Newton steps, {how}" if steps > 1.0 else f"one Newton step, {how.removesuffix(' in each')}"
    )
    seconds = costs.seconds(canonical, passes, steps) + 1e-9 * extra
    passes += 2.0 * chosen.products * steps
    if chosen.kind == "primal":
        passes += steps * _written_passes(canonical)
    parts = columns_of_predictions(canonical) if chosen.products else None
    # a Gram matrix that is kept is there beside its change and the next one
    factors = (6.0 if chosen.kind == "primal" and keeps_gram(canonical) else 4.0) * float(order) ** 2
    if parts is not None and chosen.kind == "blocks":
        # each block takes the data once, or all together
        taken = 1 if parts.at_once else parts.k
        passes, factors = passes + REFORMED * taken * steps, 2.0 * parts.k * float(parts.order) ** 2
    return Estimate(
        passes,
        seconds,
        costs.memory(canonical, 14, 12, 8.0 * factors),
        costs.with_copy(canonical, why),
        # the bound of a Newton step is of use only once its model is good
        trusted=TRUSTED if steps > 1.0 else 1.0,
    )
