"""Constraints of cvxpy: comparisons and cones, convex functions below a bound and concave ones above."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...build.expression import Expression
from ...errors import RunError
from ...grammar.diagnostic import Diagnostic
from .affine import _set
from .common import added, call, has_word, kind, plain_number, refuse, summands
from .entries import ENTRYWISE, WORDS
from .numbers import NUMBERS
from .rows import row_values
from .terms import Terms


class Reader(Terms):
    """One reading: its leaves, and the constraints that it has made so far."""

    def constraint(self, c: Any) -> None:
        """Take a constraint. `RunError` FW0320 for cones that have no equivalent."""
        name = type(c).__name__
        if name == "Inequality":
            self._less(c.args[0], c.args[1])
        elif name == "Equality":
            left, right = c.args
            self._state(self.affine.shaped(_bare(left)), self.affine.shaped(_bare(right)), "==")
        elif name == "Zero":
            self._state(self.affine.shaped(c.args[0]), 0.0, "==")
        elif name == "NonNeg":
            self.above(c.args[0], 0.0)
        elif name == "NonPos":
            self.below(c.args[0], 0.0)
        elif name == "PSD":
            inner = self.affine.shaped(c.args[0])
            # of a matrix that is not symmetric cvxpy takes the symmetric part
            whole = inner if kind(c.args[0]) == "Variable" else (inner + inner.T) / 2
            self.constraints.append(whole.in_(_set("psd")))
        elif name == "SOC":
            self._second_order(c)
        else:
            refuse(c)

    def _second_order(self, c: Any) -> None:
        t, x = c.args
        if t.size == 1:
            self._state(call("norm2", self._vector(x)), self.affine.scalar(t), "<=")
            return
        rows = self.affine.shaped(x.T if c.axis == 0 else x)
        if has_word("rownorm2"):
            self._state(call("rownorm2", rows), self.affine.shaped(t), "<=")
            return
        bounds = self.affine.shaped(t)
        for i in range(t.size):
            self._state(call("norm2", rows[i]), bounds[i], "<=")

    def _vector(self, e: Any) -> Any:
        """The entries as a vector; a matrix is its rows one after the other under a norm that does not see them."""
        return self.affine.flat(e)

    def _less(self, left: Any, right: Any) -> None:
        """left <= right, left convex and right concave."""
        if left.is_affine() and right.is_affine():
            self._state(
                self.affine.shaped(_bare(left)),
                self.affine.shaped(_bare(right)),
                "<=",
                left.shape or right.shape,
            )
        elif right.is_affine():
            self.below(left, self.affine.shaped(_bare(right)))
        elif left.is_affine():
            self.above(right, self.affine.shaped(_bare(left)))
        else:
            t = self.leaves.fresh(left.shape if left.size >= right.size else right.shape)
            self.below(left, t)
            self.above(right, t)

    def _state(self, left: Any, right: Any, relation: str, shape: tuple[int, ...] = ()) -> None:
        if not isinstance(left, Expression) and not isinstance(right, Expression):
            holds = np.all(np.less_equal(left, right)) if relation == "<=" else np.all(np.equal(left, right))
            if not holds:
                raise RunError(
                    [
                        Diagnostic(
                            "FW0321",
                            "a constraint between constants does not hold",
                            hint="no values of the variables meet it",
                        )
                    ]
                )
            return
        if relation == "<=" and len(shape) == 2:
            # entries are meant: a comparison of matrices may be one of eigenvalues elsewhere
            rest = right if _is_zero(left) else -left if _is_zero(right) else right - left
            self.constraints.append(rest.in_(_set("nonnegative")))
            return
        self.constraints.append(left <= right if relation == "<=" else left == right)

    def below(self, e: Any, bound: Any) -> None:
        """e <= bound, with e convex."""
        if e.is_affine():
            self._state(self.affine.shaped(e), bound, "<=", e.shape)
            return
        curved, bound = self._without_affine(e, bound)
        if len(curved) > 1:
            self._state(self._lowered_sum(curved), bound, "<=", e.shape)
            return
        ((sign, part),) = curved
        if sign < 0:
            self.above(part, -bound)
            return
        self._bounded(_bare(part), bound)

    def _without_affine(self, e: Any, bound: Any) -> tuple[list[tuple[float, Any]], Any]:
        """The terms of a sum that are not affine, with their signs, and the bound less the others."""
        curved: list[tuple[float, Any]] = []
        for sign, part in summands(e):
            if part.is_affine():
                value = self.affine.shaped(_bare(part))
                bound = bound - value if sign > 0 else bound + value
            else:
                curved.append((sign, part))
        return curved, bound

    def _lowered_sum(self, curved: list[tuple[float, Any]]) -> Any:
        total: Any = None
        for sign, part in curved:
            total = added(total, sign, self.lowered(_bare(part)))
        return total

    def _within(self, z: Any, bound: Any, shape: tuple[int, ...]) -> None:
        """-bound <= z <= bound."""
        self._state(z, bound, "<=", shape)
        self._state(-z, bound, "<=", shape)

    def above(self, e: Any, bound: Any) -> None:
        """e >= bound, with e concave."""
        if e.is_affine():
            self._state(bound, self.affine.shaped(e), "<=", e.shape)
            return
        self._bounded_below(e, bound)

    def _bounded(self, e: Any, bound: Any) -> None:
        """A single convex function below a bound."""
        name = kind(e)
        if (scaled := _unscaled(e, bound)) is not None:
            number, rest, limit = scaled
            (self.below if number > 0 else self.above)(rest, limit)
            return
        if name == "abs":
            z = self.affine.shaped(e.args[0]) if e.args[0].is_affine() else self.lowered(e.args[0])
            self._within(z, bound, e.args[0].shape)
            return
        if name == "maximum":
            for a in e.args:
                self.below(_bare(a), bound)
            return
        if name == "max" and e.axis is None:
            self.below(e.args[0], bound)
            return
        if name == "norm_inf" and e.axis is None and e.args[0].is_affine():
            z = self.affine.flat(e.args[0])
            self._within(z, bound, e.args[0].shape)
            return
        if (
            name in ("Power", "power")
            and isinstance(bound, int | float)
            and plain_number(e.p) == 2.0
            and e.args[0].is_affine()
        ):
            z = self.affine.shaped(e.args[0])
            self._within(z, math.sqrt(bound), e.shape)
            return
        if (
            name == "exp"
            and not isinstance(bound, Expression)
            and np.all(np.asarray(bound) > 0.0)
            and e.args[0].is_affine()
        ):
            self._state(self.affine.shaped(e.args[0]), np.log(bound), "<=", e.shape)
            return
        if (rows := row_values(self, e)) is not None:
            self._state(rows, bound, "<=")
            return
        if name in ("Promote", "broadcast_to", "reshape") and e.args[0].size == 1:
            self.below(e.args[0], bound)
            return
        if name in WORDS and e.shape and has_word(WORDS[name]):
            self._state(call(WORDS[name], self.lowered(e.args[0])), bound, "<=")
            return
        if e.size > 1 or (name in ENTRYWISE and name not in WORDS):
            if name == "max" and len(e.args[0].shape) == 2 and not e.keepdims:
                rows = self.affine.shaped(e.args[0].T if e.axis == 1 else e.args[0])
                self.constraints.append((bound - rows).in_(_set("nonnegative")))
                return
            if (opened := self._opened(e)) is not None:
                self._bounded(opened, bound)
                return
            refuse(e, "such a function has no epigraph here")
        found = NUMBERS[name](self, e) if name in NUMBERS else self.value(e) if name == "Sum" else None
        if found is None and (opened := self._opened(e)) is not None:
            self._bounded(opened, bound)
            return
        if found is None:
            refuse(e)
        self._state(found, bound, "<=")

    def _bounded_below(self, e: Any, bound: Any) -> None:
        curved, bound = self._without_affine(e, bound)
        if len(curved) > 1:
            self._state(bound, self._lowered_sum(curved), "<=", e.shape)
            return
        ((sign, part),) = curved
        if sign < 0:
            self.below(_bare(part), -bound)
            return
        e = _bare(part)
        name = kind(e)
        if (scaled := _unscaled(e, bound)) is not None:
            number, rest, limit = scaled
            (self.above if number > 0 else self.below)(rest, limit)
            return
        if name == "minimum":
            for a in e.args:
                self.above(_bare(a), bound)
            return
        if name == "min" and e.axis is None:
            self.above(e.args[0], bound)
            return
        if name in ("Promote", "broadcast_to", "reshape") and e.args[0].size == 1:
            self.above(e.args[0], bound)
            return
        if name in WORDS and e.shape and has_word(WORDS[name]):
            self._state(bound, call(WORDS[name], self.lowered(e.args[0])), "<=")
            return
        found = NUMBERS[name](self, e) if name in NUMBERS and e.size == 1 else self.value(e) if name == "Sum" else None
        if found is None and (opened := self._opened(e)) is not None:
            self.above(opened, bound)
            return
        if found is None:
            refuse(e)
        self._state(bound, found, "<=")


def _is_zero(value: Any) -> bool:
    return not isinstance(value, Expression) and not np.any(value)


def _bare(e: Any) -> Any:
    """The number that an expression was spread from, beside an array: the language spreads it itself."""
    return e.args[0] if kind(e) == "Promote" else e


def _unscaled(e: Any, bound: Any) -> tuple[float, Any, Any] | None:
    """(c, rest, the bound over c) of an expression c * rest or rest / c with a number other than 0; None where it is none."""
    if kind(e) not in ("multiply", "MulExpression", "DivExpression"):
        return None
    left, right = e.args
    divides = kind(e) == "DivExpression"
    factor, rest = (right, left) if divides or right.is_constant() else (left, right)
    factor = _bare(factor)
    number = plain_number(factor) if factor.size == 1 else None
    if number is None or number == 0.0:
        return None
    return number, rest, bound * number if divides else bound / number
