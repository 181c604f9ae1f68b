"""Numbers with names, and functions of constants: their values, which need no variables.

The same names are words for functions of variables (`exp`, `log`, `abs`, ...) where these are convex or concave, with records of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .base import Parameter, Word

NUMBERS_BY_NAME = {"pi": math.pi}
"""Numbers that a name stands for, where the program declares no such name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantWord(Word):
    """A function of numbers, of each entry of an array.

    `value(m, x, *options)` is its value by the functions of m, which is `math` or `numpy`. `rises` says that it never falls, so that its ends are the
    values at the ends of a range. `domain` is where it has a value, for messages.
    """

    value: Callable[..., Any]
    rises: bool = False
    nonnegative: bool = False
    domain: str = "numbers"

    @property
    def options(self) -> tuple[Parameter, ...]:
        return self.parameters[1:]


def _word(name: str, formula: str, value: Callable[..., Any], *options: Parameter, **facts: Any) -> ConstantWord:
    return ConstantWord(name=name, formula=formula, parameters=(Parameter("x"), *options), value=value, **facts)


CONSTANTS: dict[str, ConstantWord] = {
    word.name: word
    for word in (
        _word("abs", "|x| of each entry.", lambda m, x: abs(x), nonnegative=True),
        _word("exp", "e^x of each entry.", lambda m, x: m.exp(x), rises=True, nonnegative=True),
        _word(
            "log", "The natural logarithm of each entry.", lambda m, x: m.log(x), rises=True, domain="positive numbers"
        ),
        _word("log1p", "log(1 + x) of each entry.", lambda m, x: m.log1p(x), rises=True, domain="numbers above -1"),
        _word(
            "sqrt",
            "The root of each entry.",
            lambda m, x: m.sqrt(x),
            rises=True,
            nonnegative=True,
            domain="numbers from 0",
        ),
        _word("square", "x^2 of each entry.", lambda m, x: x * x, nonnegative=True),
        _word("pos", "max(0, x) of each entry.", lambda m, x: 0.5 * (x + abs(x)), rises=True, nonnegative=True),
        _word("inv_pos", "1/x of each entry.", lambda m, x: 1.0 / x, domain="numbers that are not 0"),
        _word(
            "power",
            "x^p of each entry.",
            lambda m, x, p: x**p,
            Parameter("p", "real"),
            domain="numbers for which `x^p` is one",
        ),
    )
}
