"""The kind of linear system that an interior-point step of some size solves, which the planner asks before anything is built."""

from __future__ import annotations

from typing import NamedTuple

from fwdsl.canon.form import Canonical, SumTerm

WHOLE = 250
"""Unknowns and rows up to which a system is factored whole."""

DENSE = 3000
"""Unknowns and rows of equations up to which a condensed system is a dense matrix."""

SPARSE = 0.02
"""The share of entries of A and P below which a condensed system is a sparse matrix."""

FILLS = 8.0
"""Products of rows of data for each unknown from which on the factor of a sparse system is taken to fill up: random patterns do, bands do not."""

LARGEST = 10_000
"""The largest order of a system whose matrix has no zeros."""

MOST = 1_000_000
"""Unknowns and rows beyond which not even the conic forms are written down."""


def order_of_system(unknowns: int, rows: int, equations: int, entries: int) -> int:
    """The order of the dense matrix that is factored; 0 where it is a sparse one."""
    if unknowns + rows <= WHOLE:
        return unknowns + rows
    if is_sparse(unknowns, rows, entries):
        return 0
    return unknowns + equations


def is_sparse(unknowns: int, rows: int, entries: int) -> bool:
    """Whether few enough entries are not zero."""
    return entries <= SPARSE * unknowns * max(unknowns, rows)


class Size(NamedTuple):
    """The unknowns, rows and stored entries of a conic program, the order of its dense systems (0: they are sparse), and the products that a sparse
    one takes at least: the squared lengths of the rows of A."""

    unknowns: int
    rows: int
    entries: int
    order: int
    products: float


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
    products = sum(_products(t) for t in form.terms)
    return Size(unknowns, rows, entries, order_of_system(unknowns, rows, equations, entries), products)


def _products(term: SumTerm) -> float:
    """The squared lengths of the rows of a term's map, all rows taken to be alike; of a matrix variable each column has rows of its own."""
    across = sum(m.nnz * (block.shape[-1] if len(block.shape) > 1 else 1) for block, m in term.map.parts)
    return float(across) ** 2 / max(1, term.map.rows)
