"""The range of the entries of a constant expression, as far as its text tells: `1 - rho` of a `rho` in `box(0, 1)` is from 0 to 1."""

from __future__ import annotations

import math
from collections.abc import Callable
from math import inf

from ..model import Expr, Sign
from ..words import CONSTANTS
from . import signs

Range = tuple[float, float]

_OF_SIGN: dict[Sign, Range] = {
    "zero": (0.0, 0.0),
    "positive": (0.0, inf),
    "nonnegative": (0.0, inf),
    "negative": (-inf, 0.0),
    "nonpositive": (-inf, 0.0),
    "unknown": (-inf, inf),
}


def sign_of_sum(terms: tuple[Expr, ...]) -> Sign:
    """The sign of a sum of constants by the ranges of its terms."""
    lo, hi = _sum(*(range_of(t) for t in terms))
    return signs.between(lo, hi)


def range_of(e: Expr) -> Range:
    """The least and the largest value that an entry may have. The ends of an open range belong to it here."""
    lo, hi = _OF_SIGN[e.sign]
    if e.op == "const" and isinstance(e.value, float):
        return (e.value, e.value) if e.value == e.value else (-inf, inf)
    if e.op == "dim":
        return (1.0, inf)
    if e.op in ("ones", "eye"):
        return (1.0 if e.op == "ones" else 0.0, 1.0)
    if e.op == "param" and isinstance(e.value, tuple):
        return (max(lo, e.value[0]), min(hi, e.value[1]))
    rule = _of_function(e) if e.op == "function" else _RULES.get(e.op)
    if rule is None:
        return (lo, hi)
    low, high = rule(*(range_of(a) for a in e.args))
    return (max(lo, low), min(hi, high))


def _of_function(e: Expr) -> Callable[..., Range]:
    """The range of a function of constants from that of its argument."""
    word = CONSTANTS[e.name]

    def value(x: float, otherwise: float) -> float:
        try:
            return float(word.value(math, x))
        except (ValueError, OverflowError):
            return otherwise

    def rule(a: Range, *options: Range) -> Range:
        lo, hi = (value(a[0], -inf), value(a[1], inf)) if word.rises else (-inf, inf)
        return (max(lo, 0.0) if word.nonnegative else lo, hi)

    return rule


def _sum(*terms: Range) -> Range:
    return (sum(lo for lo, _ in terms), sum(hi for _, hi in terms))


def _product(a: Range, b: Range) -> Range:
    ends = [0.0 if 0.0 in (x, y) else x * y for x in a for y in b]
    return (min(ends), max(ends))


def _quotient(a: Range, b: Range) -> Range:
    if b[0] <= 0.0 <= b[1]:
        return (-inf, inf)
    return _product(a, (1.0 / b[1], 1.0 / b[0]))


_RULES: dict[str, Callable[..., Range]] = {
    "add": _sum,
    "neg": lambda a: (-a[1], -a[0]),
    "mul": _product,
    "div": _quotient,
}
