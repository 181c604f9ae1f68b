"""Variables that are too large to be written down, and are no product of factors either."""

from __future__ import annotations

import math

from ..atoms.low_rank import LARGEST_WRITTEN
from ..bind.instance import Instance
from ..bind.values import is_too_long
from ..check.shapes import format_type
from ..grammar.diagnostic import Diagnostic
from ..model import Type, evaluate_dim, sizes_of
from .affine import Asymmetric, NotFinite, Unsupported
from .arrange import Arrangement
from .factored import has_trace_norm, unfactored
from .kinds import NO_VALUES
from .sets import BadArguments


def too_large(instance: Instance, arrangement: Arrangement) -> Diagnostic | None:
    """FW5013 for variables that memory cannot hold, and for a matrix in a trace-norm ball or under a trace norm with more than 1e8 numbers,
    in a program without a factored form."""
    for block in arrangement.blocks:
        if not block.type.is_matrix or not has_trace_norm(block):
            continue
        n, p = sizes_of(block.type, instance.dims)
        if math.prod((n, p)) <= LARGEST_WRITTEN:
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
    sizes = {v.name: math.prod(sizes_of(v.type, instance.dims)) for v in instance.model.variables}
    if is_too_long(sum(sizes.values())):
        decl = max(instance.model.variables, key=lambda v: sizes[v.name])
        return Diagnostic(
            "FW5013",
            f"`{decl.name}: {format_type(decl.type)}` has {sizes[decl.name]:,} numbers, and "
            " the vectors of that size that a solve holds do not fit into memory",
            span=decl.span,
            source=instance.model.source,
            rule="The variables, and some vectors of their size, must fit into memory.",
            hint=_told_sizes(decl.type, instance),
        )
    return None


def _told_sizes(type_: Type, instance: Instance) -> str:
    """The sizes of a variable's named dimensions."""
    named = dict.fromkeys(d for d in type_.array_shape if isinstance(d, str))
    sizes = " and ".join(f"`{d}` is {evaluate_dim(d, instance.dims):,}" for d in named)
    return f"{sizes}: look in the data for an index that is far out" if sizes else "declare smaller sizes"


def refused(instance: Instance, error: Asymmetric | Unsupported | NotFinite | BadArguments) -> Diagnostic:
    """The refusal of a program that has no form: for its memory, for numbers that are not finite, for arguments that do not fit."""
    hint = "check the values of the data and parameters in it"
    if isinstance(error, Unsupported):
        code, message, span = "FW5001", f"this version cannot solve a program with {error.what}", error.expr.span
        rule = "What takes more memory than this version spends is refused before any work is done."
        hint = "the program is correct: make it smaller, or say it without filling a matrix up"
    elif isinstance(error, Asymmetric):
        code, message, span = "FW5012", error.what, error.expr.span
        rule = "A set or a function of symmetric matrices is asked of symmetric ones."
        hint = "give the symmetric parts of the matrices"
    elif isinstance(error, NotFinite):
        code, span = "FW5011", error.expr.span
        message = f"an expression has no finite value with the numbers bound: {error.what}"
        rule = "Coefficients, radii and targets are finite numbers."
    else:
        code, message, span = "FW5012", error.message, error.span
        rule = "A norm or set must be able to take its arguments, with the numbers bound."
    return Diagnostic(code, message, span=span, source=instance.model.source, rule=rule, hint=hint)
