"""Affine expressions taken apart: the multiple of one variable in them, and variables replaced by what they are equal to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import is_
from typing import Literal

from ...check import algebra, shapes
from ...light_dataclass import light_dataclass
from ...model import Dim, Expr

Change = Callable[[Expr], Expr | None]


@light_dataclass
class Split:
    """k s + rest, with a number k; `rest` is None where nothing is left."""

    k: float
    rest: Expr | None


def split(e: Expr, name: str) -> Split | None:
    """k s + rest of an expression in a variable s, entry by entry; None where s enters in another way."""
    if name not in e.variables:
        return Split(0.0, e)
    if e.op == "var":
        return Split(1.0, None)
    if e.op == "add":
        if not all(a.type.array_shape == e.type.array_shape for a in e.args if name in a.variables):
            return None
        parts = [split(a, name) for a in e.args]
        found = [p for p in parts if p is not None]
        if len(found) < len(parts):
            return None
        rest = tuple(p.rest for p in found if p.rest is not None)
        whole = None if not rest else rest[0] if len(rest) == 1 else algebra.add(rest, shapes.plain(e.type), e.span)
        return Split(sum(p.k for p in found), whole)
    c, inner = number_and_rest(e)
    if inner is e:
        return None
    part = split(inner, name)
    return None if part is None else Split(c * part.k, None if part.rest is None else times(c, part.rest))


def number_and_rest(e: Expr) -> tuple[float, Expr]:
    """(c, e') with e = c e', c being what numbers multiply or divide; (1, e) where there are none."""
    if e.op == "neg":
        c, rest = number_and_rest(e.args[0])
        return -c, rest
    if e.op == "mul":
        for factor, other in (e.args, e.args[::-1]):
            value = algebra.number(factor)
            if value is not None:
                c, rest = number_and_rest(other)
                return value * c, rest
    if e.op == "div":
        value = algebra.number(e.args[1])
        if value:
            c, rest = number_and_rest(e.args[0])
            return c / value, rest
    return 1.0, e


def times(c: float, e: Expr) -> Expr:
    """c e for a number c."""
    own, rest = number_and_rest(e)
    total = c * own
    if total == 1.0:
        return rest
    if total == -1.0:
        return algebra.negate(rest)
    return algebra.multiply(algebra.const(total), rest, shapes.plain(rest.type), rest.span)


def plus(a: Expr | None, b: Expr | None) -> Expr | None:
    """a + b, of one shape or with a number; None for nothing."""
    if a is None or b is None:
        return a if b is None else b
    type_ = shapes.added(a.type, b.type)
    assert type_ is not None
    return algebra.add((a, b), type_, a.span)


def multiples(e: Expr, factor: float = 1.0) -> dict[Expr, float]:
    """The parts of a sum with the numbers that multiply them."""
    c, rest = number_and_rest(e)
    if rest.op != "add":
        return {rest: factor * c} if factor * c else {}
    out: dict[Expr, float] = {}
    for a in rest.args:
        for part, value in multiples(a, factor * c).items():
            out[part] = out.get(part, 0.0) + value
    return {part: value for part, value in out.items() if value}


def multiple_of(a: Expr, b: Expr) -> float | None:
    """r, where a = r b by the numbers in their sums."""
    left, right = multiples(a), multiples(b)
    if not right or left.keys() != right.keys():
        return None
    found = [left[part] / right[part] for part in right]
    return found[0] if all(abs(r - found[0]) <= 1e-15 * abs(r) for r in found) else None


def changed(e: Expr, change: Change) -> Expr:
    """An expression with those parts replaced for which `change` gives others, from the outside in."""
    own = change(e)
    if own is not None:
        return own
    if not e.variables or not e.args:
        return e
    args = tuple([changed(a, change) for a in e.args])
    if all(map(is_, args, e.args)):
        return e
    return replace(e, args=args, variables=frozenset().union(*(a.variables for a in args)))


def replaced(e: Expr, name: str, by: Expr) -> Expr:
    """An expression with another one in the place of a variable."""
    return changed(e, lambda part: by if part.op == "var" and part.name == name else None)


def parts(e: Expr) -> tuple[Expr, Expr | None]:
    """The part of a sum in the variables, and the constants, a factor before the sum multiplied out."""
    c, rest = number_and_rest(e)
    if rest.op != "add":
        return e, None
    live = [times(c, a) for a in rest.args if not a.is_constant]
    fixed = [times(c, a) for a in rest.args if a.is_constant]
    if not fixed or not all(a.type.array_shape == e.type.array_shape for a in live[:1]):
        return e, None
    whole = live[0] if len(live) == 1 else algebra.add(live, shapes.plain(e.type), e.span)
    constant: Expr | None = None
    for a in fixed:
        constant = plus(constant, a)
    return whole, constant


def target_of(constant: Expr | None, shape: tuple[Dim, ...]) -> Expr:
    """The target of a loss of that shape whose argument is a live part plus this constant: its negative."""
    type_ = shapes.of_shape(shape)
    target = times(-1.0, constant) if constant is not None else algebra.make("zeros", type_)
    return target if target.type.array_shape == shape else algebra.multiply(target, algebra.ones(shape), type_)


def sum_of(e: Expr, name: str) -> tuple[float, Literal["sum", "mean"], Expr | None] | None:
    """(k, reduction, rest) where e is k times the sum or mean of a variable's entries, and rest."""
    c, inner = number_and_rest(e)
    if inner.op in ("sum", "mean"):
        found = split(inner.args[0], name)
        if found is None:
            return None
        rest = None
        if found.rest is not None:
            whole = shapes.of_shape(inner.args[0].type.array_shape)
            rest = found.rest
            if rest.type.array_shape != whole.array_shape:
                return None
            rest = times(c, algebra.make(inner.op, shapes.REAL, (rest,)))
        return c * found.k, "mean" if inner.op == "mean" else "sum", rest
    live = [a for a in inner.args if name in a.variables] if inner.op == "add" else []
    if len(live) == 1 and live[0].op != "var":
        own, rest = sum_of(live[0], name), None
        for a in inner.args:
            rest = plus(rest, a) if a is not live[0] else rest
        rest = plus(rest, own[2]) if own is not None else None
        return (c * own[0], own[1], times(c, rest) if rest is not None else None) if own is not None else None
    if e.type.array_shape == ():
        found = split(e, name)
        return (found.k, "sum", found.rest) if found is not None else None
    return None
