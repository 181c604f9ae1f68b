"""The algebra of signs.

A `Sign` is the set of the signs that a number may have, a subset of {-1, 0, +1}. Operations act on the sets.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..model import Sign

_POSSIBLE: dict[Sign, frozenset[int]] = {
    "zero": frozenset({0}),
    "positive": frozenset({1}),
    "negative": frozenset({-1}),
    "nonnegative": frozenset({0, 1}),
    "nonpositive": frozenset({-1, 0}),
    "unknown": frozenset({-1, 0, 1}),
}
_NAMES = {possible: name for name, possible in _POSSIBLE.items()}
_ALL = _POSSIBLE["unknown"]


def _name(possible: Iterable[int]) -> Sign:
    return _NAMES.get(frozenset(possible), "unknown")


def sign_of_value(value: float) -> Sign:
    """The sign of a number. It is unknown for NaN."""
    if value != value:
        return "unknown"
    return "positive" if value > 0 else "negative" if value < 0 else "zero"


def sign_of_values(values: Iterable[float]) -> Sign:
    """The sign that all of several numbers have."""
    return union(sign_of_value(v) for v in values)


def union(signs: Iterable[Sign]) -> Sign:
    """The sign of a number that has one of the given signs."""
    possible = frozenset().union(*(_POSSIBLE[s] for s in signs))
    return _name(possible) if possible else "unknown"


def between(lo: float, hi: float) -> Sign:
    """The sign of a number from lo to hi."""
    return _name(s for s in (-1, 0, 1) if (lo < 0.0 if s < 0 else hi > 0.0 if s > 0 else lo <= 0.0 <= hi))


def negated(sign: Sign) -> Sign:
    """The sign of -a."""
    return _name(-s for s in _POSSIBLE[sign])


def product(a: Sign, b: Sign) -> Sign:
    """The sign of a * b, and of a sum of one or more such products."""
    return _name(x * y for x in _POSSIBLE[a] for y in _POSSIBLE[b])


def quotient(a: Sign, b: Sign) -> Sign:
    """The sign of a / b where b is not zero."""
    divisor = _POSSIBLE[b] - {0}
    return _name(x * y for x in _POSSIBLE[a] for y in divisor) if divisor else "unknown"


def total(signs: Iterable[Sign]) -> Sign:
    """The sign of a sum."""
    possible = {0}
    for sign in signs:
        if possible == _ALL:
            return "unknown"
        step: set[int] = set()
        for x in possible:
            for y in _POSSIBLE[sign]:
                step |= {y} if x == 0 else {x} if y in (0, x) else _ALL
        possible = step
    return _name(possible)


def is_nonnegative(sign: Sign) -> bool:
    """True if it is proved that a >= 0."""
    return sign in ("positive", "nonnegative", "zero")


def is_nonpositive(sign: Sign) -> bool:
    """True if it is proved that a <= 0."""
    return sign in ("negative", "nonpositive", "zero")


def power(sign: Sign, exponent: int) -> Sign:
    """The sign of an integer power. The base is not zero where the exponent is negative."""
    possible = _POSSIBLE[sign] - {0} if exponent < 0 else _POSSIBLE[sign]
    return _name(x ** abs(exponent) for x in possible) if possible else "unknown"
