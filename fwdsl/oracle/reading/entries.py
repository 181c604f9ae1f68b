"""Functions of entries of cvxpy, as losses and functions of entries of the language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...build.convert import as_weights, operand
from ...build.expression import Expression
from ...words import function_named
from .affine import constant
from .common import Reader, call, flat_shape, has_word, kind, plain_number, plain_number_of, summands

Loss = tuple[Callable[[Any, Any], Expression], Any, Callable[[Any], Expression] | None]
"""A loss of an argument, the argument as cvxpy has it, and the function of the whole that is the sum where there are no weights."""


def _ones(z: Any) -> Expression:
    shape = flat_shape(z) or (1,)
    return call("ones", *shape)


def _absolute(r: Reader, e: Any) -> Loss:
    return lambda x, z: call("absolute", x, 0.0), e.args[0], lambda x: call("norm1", x)


def _powers(r: Reader, e: Any) -> Loss | None:
    p, inner = plain_number_of(e.p), e.args[0]
    if p != 2.0:
        if p is not None and p >= 1.0 and has_word("abs_power") and kind(inner) == "abs" and inner.args[0].is_affine():
            return lambda x, z: call("abs_power", x, p=p), inner.args[0], None
        return _other_power(p, inner)
    if inner.is_affine() or kind(inner) == "abs":
        z = inner if inner.is_affine() else inner.args[0]
        return (
            (lambda x, z: call("squared", x, 0.0)),
            z,
            (lambda x: call("sum_squares", x)) if z.is_affine() else None,
        )
    parts = _positive_part(inner)
    if parts is None:
        return None
    z, eps = parts
    if eps is None:
        return lambda x, z: call("squared_hinge", 1 - x, _ones(z)), z, None
    return lambda x, z: call("squared_epsilon_insensitive", x, 0.0, eps=eps), z, None


def _other_power(p: float | None, inner: Any) -> Loss | None:
    """A power other than 2 of an affine expression, by the word that it has."""
    name = _POWERS.get(p, "power") if p is not None else ""
    if not has_word(name) or not inner.is_affine():
        return None
    exponent: dict[str, object] = {} if p in _POWERS else {"p": p}
    return lambda x, z: call(name, x, **exponent), inner, None


_POWERS: Mapping[float | None, str] = {0.5: "sqrt", -1.0: "inv_pos"}


def _positive_part(e: Any) -> tuple[Any, float | None] | None:
    """z of max(0, z), or z and eps of max(0, |z| - eps)."""
    if kind(e) != "maximum" or len(e.args) != 2:
        return None
    zero = [a for a in e.args if a.is_constant() and not a.parameters() and not np.any(_dense(a.value))]
    rest = [a for a in e.args if all(a is not z for z in zero)]
    if len(zero) != 1 or len(rest) != 1:
        return None
    z = rest[0]
    if z.is_affine():
        return z, None
    parts = list(summands(z))
    sizes = [p for sign, p in parts if sign > 0 and kind(p) == "abs" and p.args[0].is_affine()]
    offsets = [
        sign * float(np.max(_dense(p.value)))
        for sign, p in parts
        if p.is_constant() and not p.parameters() and _is_one_number(p)
    ]
    if len(sizes) == 1 and len(offsets) == 1 and len(parts) == 2 and offsets[0] < 0:
        return sizes[0].args[0], -offsets[0]
    return None


def _dense(value: Any) -> Any:
    return value.toarray() if hasattr(value, "toarray") else np.asarray(value)


def _is_one_number(p: Any) -> bool:
    values = _dense(p.value).reshape(-1)
    return values.size > 0 and bool((values == values[0]).all())


def _maximum(r: Reader, e: Any) -> Loss | None:
    parts = _positive_part(e)
    if parts is None:
        return None
    z, eps = parts
    if eps is not None:
        return lambda x, z: call("epsilon_insensitive", x, 0.0, eps=eps), z, None
    return lambda x, z: call("hinge", 1 - x, _ones(z)), z, None


def _logistic(r: Reader, e: Any) -> Loss:
    return lambda x, z: call("logistic", -x, _ones(z)), e.args[0], None


def _huber(r: Reader, e: Any) -> Loss | None:
    m = plain_number(e.M)
    if m is None or m <= 0.0:
        return None
    return lambda x, z: 2.0 * call("huber", x, 0.0, delta=m), e.args[0], None


def _exponential(r: Reader, e: Any) -> Loss:
    return lambda x, z: call("poisson", x, 0.0), e.args[0], None


def _entropy(r: Reader, e: Any) -> Loss:
    return lambda x, z: -call("entropy", x), e.args[0], lambda x: -call("entropy", x)


def _by_word(name: str) -> Callable[[Reader, Any], Loss | None]:
    def read(r: Reader, e: Any) -> Loss | None:
        if not has_word(name):
            return None
        return lambda x, z: call(name, x), e.args[0], None

    return read


def _divergence(name: str) -> Callable[[Reader, Any], Loss | None]:
    """x log(x/y) with or without its linear part, one side of it constant."""

    def read(r: Reader, e: Any) -> Loss | None:
        left, right = (a.args[0] if kind(a) == "Promote" else a for a in e.args)
        if not has_word(name) or left.is_constant() == right.is_constant():
            return None
        other, z = (right, left) if right.is_constant() else (left, right)
        if other.parameters() or z.shape != e.shape:
            return None
        given = constant(other)
        if not isinstance(given, float):
            given = as_weights(operand(given))  # promised nonnegative
        if z is left:
            return lambda x, z: call(name, x, given), z, None
        mirrored = function_named(name)
        turned = getattr(mirrored, "turned_round", "")
        if turned:
            return lambda x, z: call(turned, x, given), z, None
        return lambda x, z: call(name, given, x), z, None

    return read


ENTRYWISE: Mapping[str, Callable[[Reader, Any], Loss | None]] = {
    "abs": _absolute,
    "Power": _powers,
    "power": _powers,
    "maximum": _maximum,
    "logistic": _logistic,
    "huber": _huber,
    "exp": _exponential,
    "entr": _entropy,
    "log": _by_word("log"),
    "log1p": _by_word("log1p"),
    "kl_div": _divergence("kl_div"),
    "rel_entr": _divergence("rel_entr"),
}
DIVERGENCES = ("kl_div", "rel_entr")
"""Functions of pairs of entries."""
WORDS: Mapping[str, str] = {"exp": "exp", "log": "log", "log1p": "log1p"}
"""Functions of entries that are words of the same name."""
