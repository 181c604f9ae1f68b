"""Declarations in Python: types, data, parameters, variables, named expressions."""

from __future__ import annotations

import numbers
from typing import Literal

from ..errors import misuse
from ..grammar import tree
from ..words import SCALAR_TYPES, TYPES, Scalar
from .built import describe_value
from .convert import array, dimension_node, identifier, literal, operand
from .expression import Expression, SetExpression
from .leaves import DataLeaf, LetLeaf, ParamLeaf, VarLeaf, use
from .naming import text_of

Size = int | str | Expression
"""A dimension: a size, a name, or `fw.dim(Phi)`."""


class TypeSpec:
    """A type of the language for `fw.data`, such as `fw.matrix_type("n", "p")`."""

    __slots__ = ("node",)

    def __init__(self, node: tree.TypeExpr) -> None:
        self.node = node

    def __repr__(self) -> str:
        dims = f"[{', '.join(text_of(d) for d in self.node.dims)}]" if self.node.dims else ""
        of = self.node.of
        tail = "" if of is None else f" of {TypeSpec(of) if isinstance(of, tree.TypeExpr) else text_of(of)}"
        return f"{self.node.name.name}{dims}{tail}"


def _type(name: str, *dims: Size, of: tree.TypeExpr | tree.Expr | None = None) -> TypeSpec:
    return TypeSpec(tree.TypeExpr(tree.Ident(name), tuple(dimension_node(d) for d in dims), of))


def real_type() -> TypeSpec:
    """`real`: a number."""
    return _type("real")


def vector_type(n: Size) -> TypeSpec:
    """`vector[n]`."""
    return _type("vector", n)


def matrix_type(n: Size, d: Size) -> TypeSpec:
    """`matrix[n, d]`, dense or sparse."""
    return _type("matrix", n, d)


def tensor_type(*dims: Size) -> TypeSpec:
    """`tensor[n, d, e, ...]`."""
    return _type("tensor", *dims)


def signs_type(n: Size, k: Size | None = None) -> TypeSpec:
    """`signs[n]` or `signs[n, k]`: labels of exactly two values, mapped to -1 and +1."""
    return _type("signs", n) if k is None else _type("signs", n, k)


def labels_type(n: Size, k: Size | None = None) -> TypeSpec:
    """`labels[n, k]`: classes, mapped to 0, ..., k-1 in sorted order."""
    return _type("labels", n) if k is None else _type("labels", n, k)


def index_type(n: Size, of: Size) -> TypeSpec:
    """`index[n] of T`: integers from 0 to T-1."""
    return _type("index", n, of=dimension_node(of))


def entries_type(n: Size, p: Size, of: Literal["signs"] | None = None) -> TypeSpec:
    """`entries[n, p]`: observed entries of an n x p matrix."""
    return _type("entries", n, p, of=None if of is None else tree.TypeExpr(tree.Ident("signs")))


def symmetric_type(d: Size) -> TypeSpec:
    """`symmetric[d]`: a promise, checked when data is bound."""
    return _type("symmetric", d)


def psd_type(d: Size) -> TypeSpec:
    """`psd[d]`: a symmetric positive semidefinite matrix, checked when data is bound."""
    return _type("psd", d)


def data(name: str, *items: object, in_: SetExpression | None = None) -> Expression:
    """Name or declare data: `fw.data("X", array)`, `fw.data("X", fw.matrix_type("n", "p"))`, or both, type first.

    An array without a declared type is a vector or matrix of its own size, or has the type that its loss needs of a target (`signs`,
    `labels`). `in_=fw.nonnegative` is a promise that binding checks.
    """
    identifier(name)
    types = [g for g in items if isinstance(g, TypeSpec)]
    values = [g for g in items if not isinstance(g, TypeSpec)]
    if len(types) > 1 or len(values) > 1 or not items:
        raise misuse(
            "FW0309",
            f"fw.data({name!r}, ...) takes an array, a type, or a type and an array, and got {len(items)} things",
            hint=f'write fw.data("{name}", array) or fw.data("{name}", fw.matrix_type("n", "p"))',
        )
    # The uses of an array without a declared type tell what it may hold: labels may be text.
    value = (
        array(values[0], "" if types and types[0].node.name.name not in ("signs", "labels") else "labels")
        if values
        else None
    )
    leaf = DataLeaf(name, types[0].node if types else None, value, _member(in_))
    return Expression(use(leaf))


def param(
    name: str,
    value: object = None,
    domain: Scalar | TypeSpec | None = None,
    *,
    in_: SetExpression | None = None,
) -> Expression:
    """A parameter, with or without a default: `fw.param("delta", 5.0)`, `fw.param("mu", 10 / fw.dim("n"), "nonnegative")`.

    Without a domain, the default's sign tells it: `positive`, `nonnegative` for 0, and otherwise `real`. A vector or a matrix has a type in place
    of the domain, `fw.param("w", None, fw.vector_type("n"), in_=fw.nonnegative)`, or a default that is an array. `in_=fw.box(0, 1)` bounds it.
    """
    identifier(name)
    member = _member(in_)
    default: tree.Expr | None = None
    kind: tree.TypeExpr | None = domain.node if isinstance(domain, TypeSpec) else None
    if isinstance(value, list | tuple) or getattr(value, "shape", None):
        import numpy as np

        entries = np.asarray(array(value), dtype=np.float64)
        default = literal(entries.tolist())
        kind = (
            kind or _type(("vector", "matrix")[entries.ndim - 1] if entries.ndim < 3 else "tensor", *entries.shape).node
        )
    elif value is not None:
        default = operand(value).node
    if kind is None:
        if domain is None:
            size = float(value) if isinstance(value, numbers.Real) else -1.0
            domain = "real" if member is not None or size < 0.0 else "positive" if size > 0.0 else "nonnegative"
        if domain not in TYPES or not TYPES[domain].is_number:
            *names, last = (f'"{name}"' for name in SCALAR_TYPES)
            raise misuse("FW0304", f"{domain!r} is not a domain", hint=f"write {', '.join(names)} or {last}")
        kind = tree.TypeExpr(tree.Ident(domain))
    return Expression(use(ParamLeaf(name, kind, default, member)))


def _member(in_: SetExpression | None) -> tree.Expr | None:
    if in_ is None:
        return None
    if not isinstance(in_, SetExpression):
        raise misuse(
            "FW0309", f"in_= takes a set, not {describe_value(in_)}", hint="write for example in_=fw.l1_ball(5)"
        )
    return in_.node


def _variable(spec: TypeSpec, name: str | None, in_: SetExpression | None) -> Expression:
    return Expression(use(VarLeaf(None if name is None else identifier(name), spec.node, _member(in_))))


def scalar(*, name: str | None = None, in_: SetExpression | None = None) -> Expression:
    """A scalar variable."""
    return _variable(real_type(), name, in_)


def vector(n: Size, *, name: str | None = None, in_: SetExpression | None = None) -> Expression:
    """A variable `vector[n]`."""
    return _variable(vector_type(n), name, in_)


def matrix(n: Size, d: Size, *, name: str | None = None, in_: SetExpression | None = None) -> Expression:
    """A variable `matrix[n, d]`."""
    return _variable(matrix_type(n, d), name, in_)


def symmetric_var(d: Size, *, name: str | None = None, in_: SetExpression | None = None) -> Expression:
    """A symmetric matrix variable `symmetric[d]`."""
    return _variable(symmetric_type(d), name, in_)


def psd_var(d: Size, *, name: str | None = None, in_: SetExpression | None = None) -> Expression:
    """A symmetric positive semidefinite matrix variable `psd[d]`."""
    return _variable(psd_type(d), name, in_)


def family(count: Size, of: TypeSpec, *, name: str | None = None, in_: SetExpression | None = None) -> Expression:
    """A variable of `count` blocks of one type: `fw.family(3, fw.psd_type(5))`; a set holds for each block."""
    if not isinstance(of, TypeSpec):
        raise misuse(
            "FW0309",
            f"fw.family takes a type, not {describe_value(of)}",
            hint="write for example fw.family(3, fw.vector_type(5))",
        )
    return _variable(_type("family", count, of=of.node), name, in_)


def let(name: str, value: Expression) -> Expression:
    """Name an expression. Names given to terms of the objective come back in `sol.terms` and in messages."""
    return Expression(use(LetLeaf(identifier(name), operand(value).node)), per_sample=operand(value).per_sample)


def dim(of: str | Expression) -> Expression:
    """A dimension as a number, `fw.dim("n")`, or the number of columns of a feature map, `fw.dim(Phi)`."""
    if isinstance(of, str):
        return Expression(tree.Name(identifier(of)))
    return Expression(tree.Call(tree.Ident("dim"), (operand(of).node,)))
