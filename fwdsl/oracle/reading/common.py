"""Helpers of all of a reading: the classes of cvxpy by name, and the refusal of what has no word."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn, Protocol

from ...build.expression import Expression
from ...build.words import word
from ...errors import RunError
from ...grammar.diagnostic import Diagnostic
from ...words import function_named
from ...words.foreign import foreign


class Reader(Protocol):
    """The parts of a reading that its functions ask for."""

    affine: Any

    def lowered(self, e: Any) -> Any:
        """An affine expression in the place of a convex or concave one."""

    def total(self, e: Any, weights: Any = None) -> Any:
        """The sum of all entries, each times its weight."""

    def largest(self, e: Any) -> Any:
        """The largest entry of what is nonnegative; None where that is no word."""


def kind(e: Any) -> str:
    """The first of an expression's classes that a reading knows: `PnormApprox` is a `Pnorm`."""
    names = class_names(e)
    return next((n for n in names if not n.endswith("Approx")), names[0])


def class_names(e: Any) -> list[str]:
    """The names of an expression's classes, its own first."""
    return [c.__name__ for c in type(e).__mro__]


def has_word(name: str) -> bool:
    """True if this version has a function of that name."""
    return function_named(name) is not None


def call(name: str, *arguments: object, **options: object) -> Expression:
    """A call of a word of the language."""
    made = word(name)
    assert callable(made)
    found = made(*arguments, **options)
    assert isinstance(found, Expression)
    return found


def refuse(e: Any, why: str = "") -> NoReturn:
    """Raise `RunError` FW0320 for what has no equivalent here, by the name that cvxpy has for it."""
    name = kind(e)
    record = foreign(name, "call") or foreign(name.lower(), "call")
    hint = why or (record.why if record else "rewrite it with what is a word here, or solve it with cvxpy")
    text = str(e)
    shown = text if len(text) <= 60 else f"{text[:40]} ... {text[-15:]}"
    raise RunError([Diagnostic("FW0320", f"`{name}` of cvxpy has no equivalent here: {shown}", hint=hint)])


def plain_number(e: Any) -> float | None:
    """The value of a constant scalar without parameters; None for anything else."""
    if e.parameters() or not e.is_constant() or e.size != 1:
        return None
    import numpy as np

    value = e.value
    value = value.toarray() if hasattr(value, "toarray") else value
    return float(np.asarray(value).reshape(-1)[0])


def summands(e: Any) -> Iterator[tuple[float, Any]]:
    """The terms of a sum with their signs, nested sums and first powers opened."""
    stack = [(1.0, e)]
    while stack:
        sign, top = stack.pop()
        name = kind(top)
        if name == "AddExpression":
            stack.extend((sign, a) for a in reversed(top.args))
        elif name == "NegExpression":
            stack.append((-sign, top.args[0]))
        elif name in ("Power", "power") and plain_number_of(top.p) == 1.0:
            stack.append((sign, top.args[0]))
        else:
            yield sign, top


def plain_number_of(p: Any) -> float | None:
    """A number, or the value of a constant of cvxpy."""
    return plain_number(p) if hasattr(p, "is_constant") else float(p)


def flat_shape(e: Any) -> tuple[int, ...]:
    """The shape in which `Affine.flat` gives the entries."""
    while kind(e) in ("reshape", "transpose") and e.args[0].size == e.size:
        e = e.args[0]
    return (e.size,) if kind(e) in ("Hstack", "Vstack", "Concatenate") or len(e.shape) > 2 else e.shape


def added(total: Any, sign: float, term: Any) -> Any:
    """total + sign * term, where None and 0 are an empty total."""
    if total is None or _is_nothing(total):
        return term if sign > 0 else -term
    if _is_nothing(term):
        return total
    return total + term if sign > 0 else total - term


def _is_nothing(value: Any) -> bool:
    return isinstance(value, float) and value == 0.0
