"""Shapes by dimension name: which types can be combined, and the types of the results."""

from __future__ import annotations

from dataclasses import replace

from ..model import Dim, Type, add_dims, every, multiply_dims

REAL = Type("real")
STRING = Type("string")
BOOLEAN = Type("boolean")
_NUMERIC = ("real", "vector", "matrix", "tensor", "signs", "symmetric", "psd", "family")

Shape = tuple[Dim, ...]


def of_shape(shape: Shape) -> Type:
    """The type of an array of numbers with this shape."""
    return Type(("real", "vector", "matrix")[len(shape)] if len(shape) < 3 else "tensor", shape)


def plain(type_: Type) -> Type:
    """The type without its domain, promise or labels, as in a sum or a product."""
    if type_.is_symmetric:
        return Type("symmetric", type_.shape)
    if type_.is_family:
        return replace(type_, element=plain(type_.block), domain="real")
    return of_shape(type_.array_shape)


def is_numeric(type_: Type) -> bool:
    """True if values of the type may stand in arithmetic."""
    return type_.kind in _NUMERIC


def has_two_axes(type_: Type) -> bool:
    """True if the type is an array of numbers with two axes."""
    return is_numeric(type_) and not type_.is_family and len(type_.array_shape) == 2


def has_one_axis(type_: Type) -> bool:
    """True if the type is an array of numbers with one axis."""
    return is_numeric(type_) and len(type_.array_shape) == 1


def added(a: Type, b: Type) -> Type | None:
    """The type of a + b for equal shapes, for a scalar and any shape, for a `vector[k]` and the rows of a `matrix[n, k]`, and for a matrix of
    one row, or one column, and the rows, or columns, of another."""
    if a.is_scalar:
        return plain(b)
    if b.is_scalar:
        return plain(a)
    left, right = a.array_shape, b.array_shape
    if left == right:
        if a.is_psd and b.is_psd:
            return a
        if a.is_symmetric and b.is_symmetric:
            return Type("symmetric", a.shape)
        if a.is_family and b.is_family:
            return replace(a, element=added(a.block, b.block), domain="real")
        return of_shape(left)
    if len(left) == len(right) == 2 and all(1 in pair or pair[0] == pair[1] for pair in zip(left, right, strict=True)):
        return of_shape(tuple(b if a == 1 else a for a, b in zip(left, right, strict=True)))
    if len(left) == 1 and len(right) == 2 and left[0] == right[1]:
        return of_shape(right)
    if len(left) == 2 and len(right) == 1 and left[1] == right[0]:
        return of_shape(left)
    return None


def multiplied(a: Type, b: Type) -> Type | None:
    """The type of a * b, where one side is a scalar or the shapes are equal."""
    if a.is_scalar:
        return plain(b)
    if b.is_scalar:
        return plain(a)
    if a.array_shape != b.array_shape:
        return None
    return Type("symmetric", a.shape) if a.is_symmetric and b.is_symmetric else of_shape(a.array_shape)


def matrix_product(left: Shape, right: Shape) -> Shape | None:
    """The shape of a @ b for vectors and matrices, as in NumPy; None where the inner dimensions differ."""
    if left[-1] != right[0]:
        return None
    return left[:-1] + right[1:]


def transposed(type_: Type) -> Type | None:
    """The type of `a.T`. A vector stays a vector, as in NumPy."""
    if type_.is_symmetric:
        return type_
    return of_shape(type_.array_shape[::-1]) if len(type_.array_shape) <= 2 and not type_.is_family else None


def sliced(dim: Dim, start: Dim | None, stop: Dim | None, step: int = 1) -> Dim | None:
    """The number of entries of `[start:stop:step]` along an axis; None where it is out of range or not positive, as far as names tell."""
    first, end = _place(start, dim, 0), _place(stop, dim, dim)
    inside = (first, add_dims(dim, multiply_dims(-1, end)))
    size = add_dims(end, multiply_dims(-1, first))
    if any(isinstance(k, int) and k < 0 for k in inside) or (isinstance(size, int) and size < 1):
        return None
    return every(size, abs(step))


def _place(position: Dim | None, dim: Dim, otherwise: Dim) -> Dim:
    """A position from the start."""
    if position is None:
        return otherwise
    return add_dims(position, dim) if isinstance(position, int) and position < 0 else position


def format_type(type_: Type) -> str:
    """A type as a program writes it, with its promise or a scalar's domain."""
    if type_.is_scalar:
        return type_.domain
    if type_.is_family:
        return f"family[{type_.shape[0]}] of {format_type(type_.block)}"
    dims = f"[{', '.join(map(str, type_.shape))}]" if type_.shape else ""
    text = type_.kind + dims
    if type_.is_index and type_.classes is not None:
        text += f" of {type_.classes}"
    if type_.is_entries and type_.element is not None:
        text += f" of {type_.element.kind}"
    return text if type_.domain == "real" else f"{text} in {type_.domain}"


def describe_type(type_: Type) -> str:
    """A type in a sentence: `a matrix[n, d]`, `a number`."""
    if type_.kind in ("string", "boolean"):
        return "a quoted text" if type_.kind == "string" else "true or false"
    if type_.kind == "list":
        return "a list of groups"
    if type_.is_features:
        return "an implicit feature map"
    if type_.is_scalar:
        return "a number"
    text = format_type(replace(type_, domain="real"))
    if type_.kind in ("signs", "labels", "entries"):
        return text
    return f"{'an' if text[0] in 'aeiou' else 'a'} {text}"
