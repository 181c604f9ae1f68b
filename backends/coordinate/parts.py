"""The map of a loss taken apart: the matrix of data that coordinate descent goes along the columns of, and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from fwdsl.atoms.base import Array, VectorFunction
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends.maps import CountedMap, KernelMatrix
from fwdsl.canon.combined_maps import Scaled
from fwdsl.canon.data_maps import Matrix, is_written
from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.matrix_maps import LeftMultiply, Tile
from fwdsl.canon.parts import Block, SumTerm

MOST_EXTRA = 32
"""Columns of other maps than the data, which are formed: intercepts as a rule. Of a matrix of predictions each serves all of its columns."""

COPIED_NUMBERS = 1 << 24
"""Numbers of dense data by rows that may be copied by columns, where that is more than a quarter of the data."""

LARGEST_ENTRIES = 3_000
"""Entries of a matrix variable that a loss of rows ties together, up to which there may be a Gram matrix of all of them."""


def factor_and_matrix(m: LinearMap) -> tuple[float, LinearMap] | None:
    """(c, A) where a map is c A for data that store their columns, or X -> c A X for matrices X."""
    if isinstance(m, Matrix | LeftMultiply):
        stores = is_written(m.A)
        return (1.0, m) if stores and not m.transposed else None
    if isinstance(m, KernelMatrix):
        return None if m.transposed else (1.0, m)
    if isinstance(m, Scaled):
        inner = factor_and_matrix(m.inner)
        return None if inner is None else (m.c * inner[0], inner[1])
    return factor_and_matrix(m.inner) if isinstance(m, CountedMap) else None


def main_part(term: SumTerm) -> int | None:
    """The number of the part of a loss's map that is the matrix of data, where the others have few coordinates; the widest if there are several."""
    known = _main_parts.get(term)
    if known is None:
        known = _main_parts[term] = (_main_part(term),)
    return known[0]


#: What the planner and the method ask of a term several times.
_main_parts: WeakKeyDictionary[SumTerm, tuple[int | None]] = WeakKeyDictionary()


def _main_part(term: SumTerm) -> int | None:
    found = [i for i, (_, m) in enumerate(term.map.parts) if factor_and_matrix(m) is not None]
    if not found:
        return None
    best = max(found, key=lambda i: term.map.parts[i][1].columns)
    rest = sum(m.columns for i, (_, m) in enumerate(term.map.parts) if i != best)
    return best if rest <= MOST_EXTRA * tasks_of(term.map.parts[best][1]) else None


def other_blocks(term: SumTerm, blocks: Sequence[Block]) -> list[Block]:
    """The blocks that are not the variable of the data."""
    best = main_part(term)
    return [b for b in blocks if best is None or b is not term.map.parts[best][0]]


def tasks_of(m: LinearMap) -> int:
    """The columns of the variable where a map is X -> c A X, 1 where it is of vectors."""
    found = factor_and_matrix(m)
    return found[1].k if found is not None and isinstance(found[1], LeftMultiply) else 1


def is_of_rows(m: LinearMap, tasks: int) -> bool:
    """True if a map is V -> E V for matrices V of so many columns, as ones v' is of intercepts v."""
    if isinstance(m, Scaled | CountedMap):
        return is_of_rows(m.inner, tasks)
    return isinstance(m, Tile | LeftMultiply) and m.k == tasks


def columns_of_rows(m: LinearMap, tasks: int) -> list[Array]:
    """The columns of E of such a map; of a vector of predictions, which is a matrix of one column, those of any map."""
    units = np.eye(m.columns)[::tasks]
    return [m.apply(unit).reshape(-1, tasks)[:, 0].copy() for unit in units]


def value_reasons(canonical: Canonical) -> tuple[str, ...]:
    """The reasons why the predictions of a bound problem's one loss have no columns to go along."""
    best = main_part(canonical.terms[0]) if len(canonical.terms) == 1 else None
    if best is None:
        return (f"its predictions are not columns of one data matrix, with at most {MOST_EXTRA} others",)
    (term,) = canonical.terms
    seen = {block.name for block, _ in term.map.parts}
    found = [f"its predictions do not see {b.name}" for b in canonical.blocks if b.name not in seen]
    of_data = factor_and_matrix(term.map.parts[best][1])
    assert of_data is not None, "it is the main part"
    if isinstance(term.f, VectorLossFunction) and not isinstance(of_data[1], LeftMultiply):
        return (*found, "its loss ties predictions of a vector together")
    tasks = tasks_of(term.map.parts[best][1])
    others = [(b, m) for i, (b, m) in enumerate(term.map.parts) if i != best]
    if isinstance(term.f, VectorLossFunction):
        size = term.map.parts[best][0].size
        if size > LARGEST_ENTRIES:
            found.append(f"its loss of rows ties {size:,} entries together, over {LARGEST_ENTRIES:,}")
        return (
            *found,
            *("its loss of rows has predictions of a matrix variable and of another one" for _ in others[:1]),
        )
    if tasks == 1:
        return tuple(found)
    found += [
        f"{b.name} has no columns, one for each column of predictions" for b, m in others if not is_of_rows(m, tasks)
    ]
    if isinstance(term.f, VectorFunction):
        return tuple(found)
    weights = term.f.w.reshape(-1, tasks)
    if not term.f.loss.quadratic or not np.array_equal(weights, np.broadcast_to(weights[:, :1], weights.shape)):
        found.append("its loss of a matrix of predictions is not quadratic, with one weight a row")
    return tuple(found)
