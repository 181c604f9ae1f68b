"""The test for programs of Algorithm 2 of Lei et al. 2019 (section 4.4, (17)): data times a matrix in a trace-norm ball."""

from __future__ import annotations

from collections.abc import Collection

from fwdsl.backends.maps import CountedMap
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.combined_maps import Scaled
from fwdsl.canon.data_maps import is_written
from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.matrix_maps import LeftMultiply
from fwdsl.readers.row_blocks import is_on_disk


def matrix_reasons(arrangement: Arrangement, losses: Collection[str]) -> tuple[str, ...]:
    """The reasons why a program is not Algorithm 2's: a smooth loss of a product of data with one matrix in a trace-norm ball, with a ridge."""
    found = []
    if len(arrangement.sums) != 1 or arrangement.sums[0].kind != "loss":
        found.append("it takes one loss of a product of data with the matrix")
    elif arrangement.sums[0].atom not in losses:
        found.append(f"`{arrangement.sums[0].text}`: it takes the losses {', '.join(f'`{n}`' for n in losses)}")
    (block,) = arrangement.blocks
    if block.norm is not None:
        found.append(f"{block.name} has {block.norm} beside its ball")
    if not block.ridges:
        found.append(f"it needs a `sum_squares({block.name})`, which makes the primal steps strongly convex")
    return tuple(found)


def matrix_value_reasons(canonical: Canonical) -> tuple[str, ...]:
    """The reasons why a bound problem is not: its predictions are no product of data with the matrix from the left."""
    parts = canonical.terms[0].map.parts
    if len(parts) != 1 or product_of(parts[0][1]) is None:
        return ("its predictions are not data times the matrix, `A @ X`",)
    if any(map(is_on_disk, canonical.instance.values.values())):
        return ("in a trace-norm ball it reads data in no order, and they are not in memory",)
    return ()


def product_of(m: LinearMap) -> tuple[float, LeftMultiply, CountedMap | None] | None:
    """(c, the product, its counter) where a map is c A @ X."""
    if isinstance(m, Scaled):
        inner = product_of(m.inner)
        return (m.c * inner[0], inner[1], inner[2]) if inner is not None else None
    counter = m if isinstance(m, CountedMap) else None
    product = m.inner if isinstance(m, CountedMap) else m
    if isinstance(product, LeftMultiply) and is_written(product.A):
        return 1.0, product, counter
    return None
