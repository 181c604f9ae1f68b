"""The types of data, parameters and variables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Scalar = Literal["real", "positive", "nonnegative", "count"]
SCALAR_TYPES: tuple[Scalar, ...] = get_args(Scalar)
"""The types of numbers, each the domain of its name (`NUMBERS`)."""


@dataclass(frozen=True, slots=True)
class TypeWord:
    """A type: how many dimensions it takes (None: any number from two up), what may follow `of`, who may declare it."""

    dims: tuple[int, ...] | None
    of: Literal["", "signs", "dimension", "type"] = ""
    of_required: bool = False
    data: bool = True
    param: bool = False
    var: bool = False
    example: str = ""
    meaning: str = ""

    @property
    def is_number(self) -> bool:
        """True if it is a domain of numbers."""
        return self.dims == (0,)

    @property
    def of_parameters(self) -> bool:
        """True if a parameter may be declared with the type."""
        return self.is_number or self.param


TYPES: dict[str, TypeWord] = {
    "real": TypeWord((0,), var=True, example="real", meaning="a number"),
    "positive": TypeWord((0,), example="positive", meaning="a number above 0"),
    "nonnegative": TypeWord((0,), var=True, example="nonnegative", meaning="a number from 0"),
    "count": TypeWord((0,), example="count", meaning="a whole number from 1"),
    "vector": TypeWord((1,), param=True, var=True, example="vector[n]", meaning="a vector"),
    "matrix": TypeWord((2,), param=True, var=True, example="matrix[n, d]", meaning="a matrix; data may be sparse"),
    "tensor": TypeWord(None, example="tensor[n, d, e]", meaning="three axes or more; two are allowed"),
    "signs": TypeWord(
        (1, 2), example="signs[n]", meaning="labels of exactly two values, mapped to -1 and +1, the smaller to -1"
    ),
    "labels": TypeWord(
        (1, 2), example="labels[n, k]", meaning="classes: numbers or words, mapped to 0, ..., k - 1 in sorted order"
    ),
    "index": TypeWord(
        (1,), "dimension", of_required=True, example="index[n] of T", meaning="whole numbers from 0 to T - 1"
    ),
    "entries": TypeWord((2,), "signs", example="entries[n, p]", meaning="observed entries of a matrix"),
    "symmetric": TypeWord(
        (1,), var=True, example="symmetric[d]", meaning="a symmetric matrix; for data a promise that is checked"
    ),
    "psd": TypeWord(
        (1,),
        var=True,
        example="psd[d]",
        meaning="a symmetric positive semidefinite matrix; for data a promise that is checked",
    ),
    "family": TypeWord(
        (1,),
        "type",
        of_required=True,
        data=False,
        var=True,
        example="family[T] of psd[d]",
        meaning="`T` blocks of one type: `psd`, `symmetric`, `vector` or `matrix`",
    ),
}
