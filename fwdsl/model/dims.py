"""Dimensions as polynomials in names with whole coefficients, and their normal form as texts.

Equal dimensions have equal texts: `"2*n+1"` is `n + n + 1`, `"k*n"` is the number of entries of a `matrix[n, k]`. So shapes are compared by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from math import prod

Dim = int | str
"""A dimension: an integer, a name (`"n"`), the column count of a feature map (`"dim(Phi)"`), the number of observations of
`entries` data (`"len(M)"`), or the normal form of a sum of products of these and integers (`"p+1"`, `"2*n-1"`, `"k*n"`)."""

Monomial = tuple[str, ...]
"""The names of a product in their order, one for each factor; none for a number."""


@lru_cache(maxsize=4096)
def monomials(dim: Dim) -> tuple[tuple[Monomial, int], ...]:
    """The products of a dimension with their coefficients: `"2*n-1"` is ((("n",), 2), ((), -1))."""
    if isinstance(dim, int):
        return (((), dim),) if dim else ()
    found = []
    for sign, term in _split(dim, "+-"):
        coefficient, names = -1 if sign == "-" else 1, []
        for _, factor in _split(term, "*"):
            if factor.isascii() and factor.isdigit():
                coefficient *= int(factor)
            else:
                names.append(factor)
        found.append((tuple(names), coefficient))
    return tuple(found)


def _split(text: str, marks: str) -> list[tuple[str, str]]:
    """The parts between these marks, each with the mark before it. What stands in brackets (`dim(...)`) is of one part."""
    found, mark, start, depth = [], "", 0, 0
    for i, c in enumerate(text):
        depth += (c == "(") - (c == ")")
        if depth == 0 and c in marks:
            if i > start:
                found.append((mark, text[start:i]))
            mark, start = c, i + 1
    return [*found, (mark, text[start:])]


def dim_of(terms: Iterable[tuple[Monomial, int]]) -> Dim:
    """The dimension that is the sum of these products, in its normal form."""
    total: Counter[Monomial] = Counter()
    for names, coefficient in terms:
        total[tuple(sorted(names))] += coefficient
    shift = total.pop((), 0)
    kept = sorted((c < 0, names, c) for names, c in total.items() if c)
    if not kept:
        return shift
    text = "".join(_signed(names, c) for _, names, c in kept) + (f"{shift:+d}" if shift else "")
    return text.removeprefix("+")


def _signed(names: Monomial, c: int) -> str:
    sign, size = "-" if c < 0 else "+", abs(c)
    return sign + "*".join(names if size == 1 else (str(size), *names))


def add_dims(*dims: Dim) -> Dim:
    """The sum of dimensions."""
    return dim_of(term for dim in dims for term in monomials(dim))


def multiply_dims(*dims: Dim) -> Dim:
    """The product of dimensions: the number of entries of an array of this shape."""
    if all(isinstance(dim, int) for dim in dims):
        return prod(dim for dim in dims if isinstance(dim, int))
    found: Dim = 1
    for dim in dims:
        pairs = [(left, right) for left in monomials(found) for right in monomials(dim)]
        found = dim_of(((*a, *b), c * d) for (a, c), (b, d) in pairs)
    return found


def shift_dim(dim: Dim, by: int) -> Dim:
    """The dimension `dim + by`."""
    return dim + by if isinstance(dim, int) else add_dims(dim, by)


def split_dim(dim: str) -> tuple[str, int]:
    """The dimension without its number, and the number: `"n-2"` is ("n", -2), `"n"` is ("n", 0), `"k+n"` is ("k+n", 0)."""
    terms = monomials(dim)
    shift = sum(c for names, c in terms if not names)
    return str(dim_of((names, c) for names, c in terms if names)), shift


@lru_cache(maxsize=4096)
def names_in(dim: Dim) -> tuple[str, ...]:
    """The names in a dimension, each once."""
    return () if isinstance(dim, int) else tuple(dict.fromkeys(n for names, _ in monomials(dim) for n in names))


def evaluate_dim(dim: Dim, dims: Mapping[str, int]) -> int:
    """The size of a dimension, from the sizes by name. Raises `KeyError` for a name without a size."""
    if isinstance(dim, int):
        return dim
    if dim in dims:
        return dims[dim]
    return sum(c * prod(_size(n, dims) for n in names) for names, c in monomials(dim))


def _size(name: str, dims: Mapping[str, int]) -> int:
    if name not in dims and name.startswith(_CEIL):
        above, _, below = name[len(_CEIL) : -1].rpartition("/")
        return -(-evaluate_dim(above.strip("()") if above.startswith("(") else above, dims) // int(below))
    return dims[name]


_CEIL = "ceil("


def every(dim: Dim, step: int) -> Dim:
    """The number of every `step`-th of so many entries, the first among them: `"ceil(n/2)"`, and `"n"` of `"2*n"`."""
    if isinstance(dim, int):
        return -(-dim // step)
    if step == 1:
        return dim
    terms = monomials(dim)
    if all(c % step == 0 for names, c in terms if names):
        return dim_of((names, -(-c // step)) for names, c in terms)
    return f"{_CEIL}{dim if len(terms) == 1 else f'({dim})'}/{step})"


def is_derived(name: str) -> bool:
    """True if a name stands for the columns of a feature map, for observations, or for a part of a dimension, which no user gives."""
    return name.startswith(("dim(", "len(", _CEIL))


def solve_dim(dim: Dim, size: int, dims: Mapping[str, int]) -> tuple[str, int] | None:
    """The one name without a size in a dimension, and the size that makes the dimension `size`; None where there is no such whole number.

    The name stands in products with names that have sizes, and not in its own square.
    """
    missing = [n for n in names_in(dim) if n not in dims]
    if len(missing) != 1:
        return None
    name, slope, rest = missing[0], 0, size
    for names, c in monomials(dim):
        known = c * prod(dims[n] for n in names if n != name)
        if names.count(name) > 1:
            return None
        slope, rest = (slope + known, rest) if name in names else (slope, rest - known)
    return (name, rest // slope) if slope and rest % slope == 0 else None
