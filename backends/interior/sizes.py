"""The kind of linear system that an interior-point step of some size solves, which the planner asks before anything is built."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.parts import Block, SumTerm

WHOLE = 250
"""Unknowns and rows up to which a system is factored whole."""

SPARSE = 0.02
"""The share of entries of A and P below which a condensed system is a sparse matrix."""

FILLS = 8.0
"""Products of rows of data for each unknown from which on the factor of a sparse system is taken to fill up: random patterns do, bands do not."""

NEIGHBOURS = 8
"""The distance of the unknowns of a row up to which they are neighbours, and its entries at most."""

LARGEST = 10_000
"""The largest order of a system whose matrix has no zeros."""

MOST = 1_000_000
"""Unknowns and rows beyond which not even the conic forms are written down."""


class Size(NamedTuple):
    """The size of a conic program, and the cheapest kind of system of a step."""

    unknowns: int
    rows: int
    entries: int  # stored in A
    kind: str  # "whole", "condensed", "reduced" to the unknowns that belong to no single entry, or "sparse"
    order: int  # of the matrix that is factored, or of its largest part that has no zeros
    seconds: float  # of a factorisation
    once: float  # seconds of the products that make P
    memory: float  # bytes


def unreadable(form: Canonical) -> str:
    """The function that has no conic form, in the language's words; "" where all have one."""
    texts = [t.text for t in form.terms] + [b.text for b in form.blocks]
    return next((text for conic, text in zip(form.conics, texts, strict=True) if conic is None), "")


def size_of(form: Canonical) -> Size:
    """The size of a canonical problem whose functions have conic forms."""
    known = [conic for conic in form.conics if conic is not None]
    unknowns = form.size + sum(conic.extra for conic in known)
    rows = sum(conic.offset.size for conic in known)
    equations = sum(cone.rows for conic in known for cone in conic.cones if cone.kind == "zero")
    entries = form.nnz + sum(conic.of_z.value.size + conic.of_u.value.size for conic in known)
    if unknowns + rows <= WHOLE:
        return Size(
            unknowns,
            rows,
            entries,
            "whole",
            unknowns + rows,
            1e-10 * (unknowns + rows) ** 3,
            0.0,
            24.0 * (unknowns + rows) ** 2,
        )
    products, squares = 0.0, 0.0
    for term, conic in zip(form.terms, known, strict=False):
        # those of quadratic losses are in P, which is formed once
        if np.any(conic.curvature):
            squares += _products(term)
        else:
            products += _products(term)
    once = 2e-10 * squares
    # rows of the forms themselves, such as the sums of simplices
    products += sum(float(np.square(np.bincount(conic.of_z.row)).sum()) for conic in known)
    # the scaling of a matrix cone has no zeros
    full = [cone.rows for conic in known for cone in conic.cones if cone.kind == "semidefinite"]
    products += sum(float(rows) ** 2 for rows in full)
    order = unknowns + equations
    seconds = 1e-10 * order**3 + min(2e-10 * rows * unknowns**2, 1e-8 * products)
    found = Size(unknowns, rows, entries, "condensed", order, seconds, once, 24.0 * order**2)
    if entries <= SPARSE * unknowns * max(unknowns, rows):
        fills = products + squares > FILLS * unknowns and not _is_chain(form)
        seconds = 1e-7 * entries + (3e-10 * float(unknowns) ** 3 if fills else 1e-7 * (products + squares))
        memory = 1000.0 * entries + (8.0 * float(unknowns) ** 2 if fills else 16.0 * (products + squares))
        # a factor that fills up is sooner made of a matrix without zeros, where that is not too large
        if not fills or seconds < found.seconds or order > LARGEST:
            found = Size(unknowns, rows, entries, "sparse", max(full, default=0), seconds, once, memory)
    owned = sum(conic.owned for conic in known)
    order = unknowns - owned + equations
    if owned and order <= LARGEST:
        # the products of K, dense or not
        seconds = 1e-10 * order**3 + 2e-10 * products + 4e-8 * entries + 3e-7 * rows
        if seconds < found.seconds:
            found = Size(unknowns, rows, entries, "reduced", order, seconds, once, 24.0 * order**2 + 220.0 * entries)
    return found


def least_of(form: Canonical, order: int) -> float:
    """Seconds that no factorisation takes less than; `order` is what is known of the unknowns and rows."""
    return min(1e-10 * float(form.size) ** 3, 1e-7 * form.nnz) if order > WHOLE else 0.0


def _is_chain(form: Canonical) -> bool:
    """True if each row meets neighbours alone, as differences of a signal do: the factor is a narrow band."""
    for term in form.terms:
        for block, m in term.map.parts:
            if _entries(block, m) > NEIGHBOURS * m.rows:
                return False
            A = m.sparse()
            first = A.indptr[:-1][np.diff(A.indptr) > 0]
            if first.size:
                ends = np.minimum.reduceat(A.indices, first), np.maximum.reduceat(A.indices, first)
                if int(np.max(ends[1] - ends[0])) > NEIGHBOURS:
                    return False
    return True


def _products(term: SumTerm) -> float:
    """The squared lengths of the rows of a term's map, all rows taken to be alike."""
    across = sum(_entries(block, m) for block, m in term.map.parts)
    return float(across) ** 2 / max(1, term.map.rows)


def _entries(block: Block, m: LinearMap) -> int:
    """The entries of a map as a matrix; of a matrix variable each column has rows of its own."""
    return m.nnz * (block.shape[-1] if len(block.shape) > 1 else 1)
