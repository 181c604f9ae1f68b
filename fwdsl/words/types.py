"""The types of data, parameters and variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SCALAR_TYPES = ("real", "positive", "nonnegative", "count")


@dataclass(frozen=True, slots=True)
class TypeWord:
    """A type: how many dimensions it takes (None: any number from two up), what may follow `of`, who may declare it."""

    dims: tuple[int, ...] | None
    of: Literal["", "signs", "dimension", "type"] = ""
    of_required: bool = False
    data: bool = True
    var: bool = False
    example: str = ""


TYPES: dict[str, TypeWord] = {
    "real": TypeWord((0,), var=True, example="real"),
    "positive": TypeWord((0,), example="positive"),
    "nonnegative": TypeWord((0,), var=True, example="nonnegative"),
    "count": TypeWord((0,), example="count"),
    "vector": TypeWord((1,), var=True, example="vector[n]"),
    "matrix": TypeWord((2,), var=True, example="matrix[n, d]"),
    "tensor": TypeWord(None, example="tensor[n, d, e]"),
    "signs": TypeWord((1, 2), example="signs[n]"),
    "labels": TypeWord((1, 2), example="labels[n, k]"),
    "index": TypeWord((1,), "dimension", of_required=True, example="index[n] of T"),
    "entries": TypeWord((2,), "signs", example="entries[n, p]"),
    "symmetric": TypeWord((1,), var=True, example="symmetric[d]"),
    "psd": TypeWord((1,), var=True, example="psd[d]"),
    "family": TypeWord((1,), "type", of_required=True, data=False, var=True, example="family[T] of psd[d]"),
}
