"""Constant scalars as polynomials in parameters and dimensions: their sign, from the expanded sum, and their normal form."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import reduce
from math import isfinite

from ..model import Expr, Sign
from . import algebra, signs
from .shapes import REAL

Monomial = tuple[tuple[Hashable, int], ...]
Polynomial = dict[Monomial, float]
Atoms = dict[Hashable, Expr]
_MONOMIALS_AT_MOST = 64


def scalar_sign(expr: Expr) -> Sign:
    """The sign of a constant scalar: that of the expression, or else that of its expanded sum of monomials.

    So `2*mu - mu` with `mu: positive` is positive, although a difference of positive numbers may have any sign.
    """
    if expr.sign != "unknown":
        return expr.sign
    atoms: Atoms = {}
    polynomial = _expand(expr, atoms)
    if polynomial is None:
        return "unknown"
    return signs.total(
        signs.product(signs.sign_of_value(c), _monomial_sign(monomial, atoms))
        for monomial, c in polynomial.items()
        if c
    )


def tidied(expr: Expr) -> Expr:
    """A single product as number * factors / divisors in alphabetical order. Any other scalar is returned unchanged.

    So equal products from a text and from the Python builder are equal expressions.
    """
    if expr.op == "const":
        return expr
    atoms: Atoms = {}
    polynomial = _expand(expr, atoms)
    if polynomial is None or len(polynomial) != 1:
        return expr
    ((monomial, c),) = polynomial.items()
    above = [atoms[a] for a, p in monomial for _ in range(p)]
    below = [atoms[a] for a, p in monomial for _ in range(-p)]
    if len(above) + len(below) > _MONOMIALS_AT_MOST:
        return expr
    number = algebra.const(c, expr.span)
    if not above:
        top = number
    else:
        product = _product(above)
        top = (
            product
            if c == 1
            else algebra.negate(product)
            if c == -1
            else algebra.multiply(number, product, REAL, expr.span)
        )
    return algebra.divide(top, _product(below), REAL, expr.span) if below else top


def _product(factors: Sequence[Expr]) -> Expr:
    return reduce(lambda a, b: algebra.multiply(a, b, REAL, a.span), factors)


def _monomial_sign(monomial: Monomial, atoms: Atoms) -> Sign:
    sign: Sign = "positive"
    for atom, exponent in monomial:
        sign = signs.product(sign, signs.power(atoms[atom].sign, exponent))
    return sign


def _expand(expr: Expr, atoms: Atoms) -> Polynomial | None:
    """The expression as a sum of monomials with coefficients; None where the sum would be too long."""
    match expr.op:
        case "const":
            value = expr.value
            return {(): value} if isinstance(value, float) and isfinite(value) else None
        case "add":
            return _expand_sum(expr, atoms)
        case "neg":
            inner = _expand(expr.args[0], atoms)
            return None if inner is None else {m: -c for m, c in inner.items()}
        case "mul":
            return _multiplied(*(_expand(a, atoms) for a in expr.args))
        case "div":
            left, right = (_expand(a, atoms) for a in expr.args)
            if right is None or len(right) != 1:
                return None
            ((monomial, c),) = right.items()
            return _multiplied(left, {tuple((a, -p) for a, p in monomial): 1 / c}) if c else None
    key: Hashable = expr.name if expr.op in ("param", "dim") else expr
    atoms[key] = expr
    return {((key, 1),): 1.0}


def _expand_sum(expr: Expr, atoms: Atoms) -> Polynomial | None:
    out: Polynomial = {}
    for arg in expr.args:
        inner = _expand(arg, atoms)
        if inner is None:
            return None
        for monomial, c in inner.items():
            out[monomial] = out.get(monomial, 0.0) + c
        if len(out) > _MONOMIALS_AT_MOST:
            return None
    return out


def _multiplied(a: Polynomial | None, b: Polynomial | None) -> Polynomial | None:
    if a is None or b is None or len(a) * len(b) > _MONOMIALS_AT_MOST:
        return None
    out: Polynomial = {}
    for left, x in a.items():
        for right, y in b.items():
            exponents: dict[Hashable, int] = dict(left)
            for atom, p in right:
                exponents[atom] = exponents.get(atom, 0) + p
            monomial = tuple(sorted(((k, p) for k, p in exponents.items() if p), key=lambda item: repr(item[0])))
            out[monomial] = out.get(monomial, 0.0) + x * y
    return out
