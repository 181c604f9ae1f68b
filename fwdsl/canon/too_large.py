"""Matrices with a trace norm that are too large to be written down, and are no product of factors either."""

from __future__ import annotations

import math

from ..grammar.diagnostic import Diagnostic
from ..instance import Instance
from ..low_rank import LARGEST_DENSE
from ..model import evaluate_dim
from .arrange import Arrangement
from .factored import NO_VALUES, unfactored


def too_large(instance: Instance, arrangement: Arrangement) -> Diagnostic | None:
    """FW5013 for a matrix in a trace-norm ball or under a trace norm with more than 1e8 numbers, in a program without a factored form."""
    for block in arrangement.blocks:
        if block.type.kind != "matrix" or (block.norm != "norm_nuc" and block.set != "nuclear_ball"):
            continue
        n, p = (evaluate_dim(d, instance.dims) for d in block.type.array_shape)
        if math.prod((n, p)) <= LARGEST_DENSE:
            continue
        decl = next(v for v in instance.model.variables if v.name == block.name)
        reasons = "; ".join(unfactored(arrangement) or (NO_VALUES,))
        return Diagnostic(
            "FW5013",
            f"`{block.name}` has {n:,} x {p:,} numbers, too many to write down, and is not kept as factors: {reasons}",
            span=decl.span,
            source=instance.model.source,
            rule="A matrix of more than 100,000,000 numbers with a trace norm is solved by its factors, or not at all.",
            hint="the factors serve one smooth loss of entries of the matrix or of a product with data, plus `norm_nuc` and `sum_squares`",
        )
    return None
