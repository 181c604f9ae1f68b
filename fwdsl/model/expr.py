"""Typed expressions: a tree of operations whose type, sign and degree are known.

Losses, norms and other convex functions never occur inside an `Expr`: the checker takes them apart into
`fwdsl.model.Term` and `Constraint`. So an `Expr` is constant (data, parameters, dimensions) or affine in the variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..grammar.source import Span
from ..grammar.tree import NOWHERE
from .types import Dim, Sign, Type, split_dim

Op = Literal[
    "const",  # value: float (scalar literal)
    "literal",  # value: nested tuples of floats
    "dim",  # name: a dimension used as a number
    "data",  # name
    "param",  # name
    "var",  # name
    "add",  # args: n-ary sum (broadcasting: scalar to anything; a vector[k] to the rows of a matrix[n, k])
    "neg",  # args: (a,)
    "mul",  # args: (a, b): one side scalar or equal shapes, entrywise; at most one side has a variable
    "div",  # args: (a, b): b is constant; scalar or equal shapes
    "matmul",  # args: (a, b), with the user's brackets; vectors and matrices as in NumPy
    "transpose",  # args: (a,)
    "slice",  # args: (a,), value: tuple of per-axis (start, stop) pairs or ints, with None for open ends
    "inner",  # args: (D, X)
    "quad",  # args: (U, X)
    "combine",  # args: (x, M): sum_i x_i M_i; value "symmetric" where each M_i has to be symmetric
    "gather",  # args: (F, task): F[task]
    "observe",  # args: (B, M): B[M]
    "eye",
    "ones",
    "zeros",  # shape in type
    "diag",  # args: (a,)
    "trace",
    "sum",
    "mean",
    "dot",  # args: (a, b)
    "sqrt",  # args: (a,): a constant scalar, only in radii (`sum_squares(e) <= r` is the ball of sqrt(r))
    "features",  # name: rbf, polynomial, linear, fourier, ...; args: (X,), options: keyword -> Expr
    "list",  # literal list of lists of positions (groups): value
    "string",  # value: str
    "boolean",  # value: bool
]


@dataclass(frozen=True, slots=True)
class Expr:
    """One operation. It depends on `variables`, and is constant where there are none."""

    op: Op
    type: Type
    args: tuple[Expr, ...] = ()
    name: str = ""
    value: object = None
    options: tuple[tuple[str, Expr], ...] = ()
    sign: Sign = "unknown"
    variables: frozenset[str] = frozenset()
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def is_constant(self) -> bool:
        return not self.variables

    def walk(self) -> Iterator[Expr]:
        """All subexpressions, beginning with the expression itself."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.args))
            stack.extend(e for _, e in node.options)


def evaluate_dim(dim: Dim, dims: Mapping[str, int]) -> int:
    """The size of a dimension, from the sizes by name. Raises `KeyError` for a name without a size."""
    if isinstance(dim, int):
        return dim
    if dim in dims:
        return dims[dim]
    base, shift = split_dim(dim)
    return dims[base] + shift


def sizes_of(type_: Type, dims: Mapping[str, int]) -> tuple[int, ...]:
    """The sizes of a type's array."""
    return tuple(evaluate_dim(d, dims) for d in type_.array_shape)
