"""Typed expressions: a tree of operations whose type, sign and degree are known.

Losses, norms and other convex functions never occur inside an `Expr`: the checker takes them apart into
`fwdsl.model.Term` and `Constraint`. So an `Expr` is constant (data, parameters, dimensions) or affine in the variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Literal

from ..grammar.source import Span
from ..grammar.tree import NOWHERE
from ..light_dataclass import value_dataclass
from .dims import Dim, evaluate_dim
from .types import Sign, Type

Op = Literal[
    "const",  # value: float (scalar literal)
    "literal",  # value: nested tuples of floats
    "dim",  # name: a dimension used as a number
    "data",  # name
    "param",  # name, value: the bounds of its entries, or None
    "var",  # name
    "add",  # args: n-ary sum (broadcasting: scalar to anything; a vector[k] to the rows of a matrix[n, k])
    "neg",  # args: (a,)
    "mul",  # args: (a, b): one side scalar or equal shapes, entrywise; at most one side has a variable
    "div",  # args: (a, b): b is constant; scalar or equal shapes
    "matmul",  # args: (a, b), with the user's brackets; vectors and matrices as in NumPy
    "transpose",  # args: (a,)
    "slice",  # args: (a,), value: a `SliceItem` for each of the first axes
    "take",  # args: (a, J), value: the axis along which the positions J are taken: x[J]
    "hstack",  # args: matrices beside each other, or (of the type vector) numbers and arrays one after the other, each flat in C order
    "vstack",  # args: rows and matrices below each other
    "reshape",  # args: (a,), in C order; shape in type
    "outer",  # args: (a, b): a_i b_j
    "kron",  # args: (A, B): the Kronecker product of two vectors or two matrices
    "diff",  # args: (a,), value: (order, axis): differences of neighbours
    "cumsum",  # args: (a,), value: axis
    "conv",  # args: (k, x): the full convolution of two vectors
    "sum_axis",  # args: (a,), value: axis
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
    "function",  # name: exp, log, ...; args: (a, *options): of each entry of a constant
    "features",  # name: rbf, polynomial, linear, fourier, ...; args: (X,), options: keyword -> Expr
    "list",  # literal list of lists of positions (groups): value
    "string",  # value: str
    "boolean",  # value: bool
]


@value_dataclass
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

    @property
    def axis(self) -> int:
        """The axis that a function goes along, or along which positions are taken."""
        axis = self.value[1] if isinstance(self.value, tuple) else self.value
        assert isinstance(axis, int), "only these have an axis"
        return axis

    @property
    def order(self) -> int:
        """The number of times that differences are taken."""
        return self.value[0] if isinstance(self.value, tuple) and isinstance(self.value[0], int) else 1

    def at(self, span: Span) -> Expr:
        """The same operation at another place. Every use of a name makes one: `replace` would take three times as long."""
        return Expr(self.op, self.type, self.args, self.name, self.value, self.options, self.sign, self.variables, span)

    def walk(self) -> Iterator[Expr]:
        """All subexpressions, beginning with the expression itself."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.args))
            stack.extend(e for _, e in node.options)


SliceItem = Dim | tuple[Dim | None, Dim | None] | tuple[Dim | None, Dim | None, int]
"""A position, or the ends of a range and perhaps its step. Negative integers count from the end, dimensions from the start; None is an open end."""


def slice_key(items: Sequence[SliceItem], dims: Mapping[str, int]) -> tuple[int | slice, ...]:
    """The index of NumPy that a slice's items are with these sizes."""
    return tuple(
        slice(*(end if end is None else evaluate_dim(end, dims) for end in item))
        if isinstance(item, tuple)
        else evaluate_dim(item, dims)
        for item in items
    )


def sizes_of(type_: Type, dims: Mapping[str, int]) -> tuple[int, ...]:
    """The sizes of a type's array."""
    return tuple(evaluate_dim(d, dims) for d in type_.array_shape)
