"""Compares the axes of an array with the dimensions of its type."""

from __future__ import annotations

from typing import Any

from ..check.shapes import format_type
from ..model import DataDecl
from .dimensions import Sizes
from .findings import Findings
from .given import Given


def claim_axes(given: Given, value: Any, classes: tuple[Any, ...], sizes: Sizes, findings: Findings) -> bool:
    """Claim the sizes of an array. False where it has another number of axes than its type, or an axis is empty or too long."""
    decl = given.decl
    dims = decl.type.array_shape
    written = format_type(decl.type)
    if value.ndim != len(dims):
        findings.add(
            "FW4505",
            f"`{decl.name}: {written}` got {_axes(value.shape)}",
            span=decl.span,
            label=f"{_plural(len(dims), 'axis', 'axes')} declared",
            rule="Data have as many axes as their type has dimensions; a vector may be given as a single column.",
            hint=_reshape(decl, value.shape),
            place=given.place,
        )
        return False
    if 0 in value.shape:
        findings.add(
            "FW4505",
            f"`{decl.name}: {written}` got an empty array of shape {tuple(value.shape)}",
            span=decl.span,
            rule="A dimension is at least 1.",
            hint="give data with at least one row and one column",
            place=given.place,
        )
        return False
    words = ("entries",) if len(dims) == 1 else ("rows", "columns") if len(dims) == 2 else ()
    if decl.type.kind == "family":
        words = ("blocks",)
    for axis, (dim, size) in enumerate(zip(dims, value.shape, strict=True)):
        what = words[axis] if axis < len(words) else f"entries along axis {axis}"
        if not sizes.claim(given, dim, int(size), what, findings):
            return False
    if decl.type.kind == "labels" and len(decl.type.shape) == 2:
        sizes.claim(given, decl.type.shape[1], len(classes), "classes", findings)
    return True


def _axes(shape: tuple[int, ...]) -> str:
    return "a single number" if not shape else f"an array of shape {tuple(int(s) for s in shape)}"


def _plural(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _reshape(decl: DataDecl, shape: tuple[int, ...]) -> str:
    expected = len(decl.type.array_shape)
    if expected == 2 and len(shape) == 1:
        return (
            f"give one column with `{decl.name}.reshape(-1, 1)`, or declare `{decl.name}: vector[{decl.type.shape[0]}]`"
        )
    if expected == 1 and len(shape) == 2 and shape[0] == 1:
        return f"give `{decl.name}.reshape(-1)`"
    if expected == 1 and len(shape) == 2:
        return f"give one of its columns, or declare `{decl.name}` as a matrix"
    return "give an array of the declared form"
