"""Converts Python values to syntax trees: numbers to literals, arrays to data."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING

from ..errors import misuse
from ..grammar import parse, tree
from .built import Built, Stated, describe_value
from .leaves import DataLeaf, Use, UseKind, use

if TYPE_CHECKING:
    from ..atoms.base import MatrixLike

KEYWORDS = frozenset(
    "fw problem data param var let minimize maximize subject to solve in of from family true false inf".split()
)


def operand(value: object, role: UseKind = "") -> Built:
    """The expression of a value. An expression stays, a number becomes a literal, an array or a list of numbers becomes data.

    `role` is the kind of data that the place needs.
    """
    if isinstance(value, Built):
        return with_role(value, role) if role else value
    if isinstance(value, Stated):
        raise misuse(
            "FW0309",
            f"an expression is expected here, not {describe_value(value)}",
            rule="Sets and constraints are no expressions: constraints stand behind the objective in fw.minimize.",
        )
    if isinstance(value, bool):
        raise misuse("FW0304", f"{value} is not a number of the language", hint="write 1.0 or 0.0")
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # an array without dimensions is a number
    if isinstance(value, numbers.Real):
        return Built(number(value))
    return Built(use(DataLeaf(None, None, array(value, role)), role))


def with_role(expression: Built, role: UseKind) -> Built:
    """The expression with a role. The role tells the type of a datum that has no declared type."""
    node = expression.node
    if isinstance(node, Use) and isinstance(node.leaf, DataLeaf) and node.leaf.type is None and not node.role:
        return Built(use(node.leaf, role))
    return expression


def as_weights(expression: Built) -> Built:
    """The expression as sample weights: an array that multiplies a loss is promised to be nonnegative."""
    node = expression.node
    if isinstance(node, Use) and isinstance(node.leaf, DataLeaf) and node.leaf.member is None:
        return with_role(expression, "weights")
    return expression


def number(value: MatrixLike) -> tree.Number | tree.Neg:
    """A literal that the parser reads as exactly this number."""
    if isinstance(value, numbers.Integral):
        text = str(abs(int(value)))
    else:
        value = float(value)
        if math.isnan(value):
            raise misuse(
                "FW0304", "nan is not a number of the language", hint="find where the computation before went wrong"
            )
        text = repr(abs(value))
    literal = tree.Number(abs(float(value)), text)
    return tree.Neg(literal) if value < 0 else literal


def whole(value: object) -> int | None:
    """A whole number as an int; None for any other value, truth values included."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        return None
    return int(value)


def array(value: object, role: UseKind = "") -> object:
    """The value as data: an array of numbers, sparse or dense, which is never copied, or a list of numbers."""
    if isinstance(value, list | tuple):
        import numpy as np

        try:
            value = np.asarray(value)
        except ValueError:
            raise misuse(
                "FW0304", "a list of rows of different lengths is not a matrix", hint="give all rows the same length"
            ) from None
    from ..readers.frames import NotPulled, in_memory

    try:
        value = in_memory(value, "data")
    except NotPulled as error:
        raise misuse(
            "FW0304",
            f"{describe_value(value)} {error}",
            hint="compute it first, as in frame.collect() or frame.compute()",
        ) from error
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind is None and hasattr(value, "__array__"):
        import numpy as np

        from ..readers.frames import as_array, column_names

        if column_names(value):
            kind = as_array(value).dtype.kind  # a frame is kept, since its columns have names
        else:
            value = np.asarray(value)
            kind = value.dtype.kind
    if kind is None:
        raise misuse(
            "FW0304",
            f"{describe_value(value)} cannot stand in a program",
            rule="A program is made of expressions, numbers and arrays of numbers.",
        )
    if kind in "fiub" or (kind in "OUS" and role in ("signs", "labels")):
        return value
    what = {"c": "complex numbers", "O": "Python objects", "U": "text", "S": "bytes"}.get(kind, f"dtype kind {kind!r}")
    hint = "write A @ x: A.dot(x) makes NumPy compute with the expression entry by entry" if kind == "O" else ""
    raise misuse("FW0304", f"{describe_value(value)} holds {what}", rule="Data are real numbers.", hint=hint)


def literal(value: object) -> tree.Expr:
    """A literal: numbers, truth values, texts, and lists of them."""
    if isinstance(value, bool):
        return tree.Boolean(value)
    if isinstance(value, str):
        return tree.String(value)
    if isinstance(value, list | tuple):
        return tree.List(tuple(literal(v) for v in value))
    if isinstance(value, numbers.Real):
        return number(value)
    return operand(value).node


def identifier(name: object) -> str:
    """A name that the language can spell."""
    if not isinstance(name, str) or not name.isidentifier():
        raise misuse(
            "FW0306", f"{name!r} is not a name", rule="Names are letters, digits and `_`, not starting with a digit."
        )
    if name in KEYWORDS:
        raise misuse("FW0306", f"{name!r} cannot be a name", rule=f"`{name}` is a keyword of the language.")
    return name


def _dimension_text(text: str) -> tree.Expr:
    """The node of a dimension's text: a name, or a sum or product such as "n + 1"."""
    if text.isidentifier():
        return tree.Name(identifier(text))
    program, found = parse(f"var x: vector[{text}]")
    statement = program.statements[0] if program.statements and not found else None
    dims = statement.items[0].type.dims if isinstance(statement, tree.Declaration) else ()
    if len(dims) != 1:
        raise misuse(
            "FW0306",
            f"{text!r} is not a dimension",
            rule="A dimension is a name, or sums and products such as n + 1 and 2 * n.",
        )
    return dims[0]


def dimension_node(value: object) -> tree.Expr:
    """A dimension of a type: a name, a size, or `fw.dim(Phi)`."""
    if isinstance(value, str):
        return _dimension_text(value)
    size = whole(value)
    if size is not None and size >= 0:
        return number(size)
    if isinstance(value, Built):
        return value.node
    raise misuse(
        "FW0304",
        f"{describe_value(value)} is not a dimension",
        hint='write a size or a name: fw.vector(20), fw.vector("p")',
    )
