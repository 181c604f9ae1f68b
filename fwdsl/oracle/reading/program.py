"""Objectives and constraints of cvxpy by the words of the language.

A convex function inside another, or several in one constraint, get a variable of their own: f(g(x)) is f(t) with g(x) <= t, which is the same problem
for problems of cvxpy's rules (DCP), as f rises in t wherever that is done.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...build.convert import as_weights, operand
from ...build.expression import Constraint, Expression
from ...errors import RunError
from ...grammar.diagnostic import Diagnostic
from ...words import function_named
from ..require import require_cvxpy
from .affine import Affine, Leaves, _set, constant
from .common import call, has_word, kind, plain_number, refuse, summands


@dataclass(frozen=True)
class Read:
    """A problem that was read: its objective and constraints as the builder's, and the names of its variables."""

    sense: Literal["minimize", "maximize"]
    objective: Any
    constraints: tuple[Constraint, ...]
    names: Mapping[int, str]


def read_problem(problem: Any) -> Read:
    """The problem of cvxpy. `RunError` FW0320 for what has no equivalent, by name; FW0321 for a problem that is not convex by cvxpy's rules."""
    if not problem.is_dcp():
        hint = "quasi-convex and geometric programs are out; `problem.is_dcp()` of each part tells which it is"
        raise RunError([Diagnostic("FW0321", "the problem is not convex by cvxpy's rules (DCP)", hint=hint)])
    reader = Reader()
    for variable in problem.variables():
        reader.leaves.variable(variable)
    maximise = type(problem.objective).__name__ == "Maximize"
    objective = reader.value(problem.objective.args[0])
    if not isinstance(objective, Expression):
        free = next(iter(reader.leaves.variables.values()), None)
        if free is None:
            raise RunError([Diagnostic("FW0321", "the problem has no variable", hint="there is nothing to solve for")])
        still = reader.leaves.fresh((), "still")  # an objective has a variable: this one is 0
        reader.constraints.append(still == 0)
        objective = still + objective
    for constraint in problem.constraints:
        reader.constraint(constraint)
    constraints = (*reader.leaves.constraints, *reader.constraints)
    names = {leaf: reader.leaves.names[leaf] for leaf in reader.leaves.names}
    return Read("maximize" if maximise else "minimize", objective, constraints, names)


class Reader:
    """One reading: its leaves, and the constraints that it has made so far."""

    def __init__(self) -> None:
        self.leaves = Leaves()
        self.affine = Affine(self.leaves)
        self.constraints: list[Constraint] = []

    # --- numbers ------------------------------------------------------------------------------------------------------

    def value(self, e: Any) -> Any:
        """An expression of one entry: a sum of terms, each affine or a convex function with a factor."""
        if e.is_affine():
            return self.affine.scalar(e)
        total: Any = None
        for sign, part in summands(e):
            term = self._term(part) if not part.is_affine() else self.affine.scalar(part)
            total = (
                term
                if total is None and sign > 0
                else -term
                if total is None
                else total + term
                if sign > 0
                else total - term
            )
        return total

    def _term(self, e: Any) -> Any:
        name = kind(e)
        if name in ("multiply", "MulExpression"):
            left, right = e.args
            factor, rest = (left, right) if left.is_constant() else (right, left)
            if factor.size != 1:
                return self.total(rest, constant(factor)) if not factor.parameters() else refuse(e)
            return self.affine.scalar(factor) * self.value(rest)
        if name == "DivExpression":
            return self.value(e.args[0]) / self.affine.scalar(e.args[1])
        if name in ("Promote", "reshape", "index") and e.args[0].size == 1:
            return self.value(e.args[0])
        if name == "Sum" and e.axis is None:
            return self.total(e.args[0])
        if name in _NUMBERS:
            found = _NUMBERS[name](self, e)
            if found is not None:
                return found
        if name in _ENTRYWISE:
            return self.total(e)
        opened = self._opened(e)
        return self._lifted(e) if opened is None else self._term(opened)

    # --- sums over entries --------------------------------------------------------------------------------------------

    def total(self, e: Any, weights: Any = None) -> Any:
        """The sum of all entries, each times its weight."""
        if e.is_affine():
            if weights is None:
                return call("sum", self.affine.flat(e)) if e.shape else self.affine.shaped(e)
            return call("sum", weights * self.affine.shaped(e))
        total: Any = None
        for sign, part in summands(e):
            inner = part.args[0] if kind(part) in ("Promote", "broadcast_to") else part
            if inner.size == 1 and e.size > 1:
                count = float(e.size) if weights is None else float(np.sum(weights))
                term = count * self.value(inner)
            else:
                term = self._total_term(inner, weights)
            total = (
                term
                if total is None and sign > 0
                else -term
                if total is None
                else total + term
                if sign > 0
                else total - term
            )
        return total

    def _total_term(self, e: Any, weights: Any) -> Any:
        name = kind(e)
        if e.is_affine():
            return self.total(e, weights)
        if name == "multiply":
            left, right = e.args
            factor, rest = (left, right) if left.is_constant() else (right, left)
            inner = factor.args[0] if kind(factor) == "Promote" else factor
            if inner.size == 1:
                return self.affine.scalar(inner) * self.total(rest, weights)
            if inner.parameters():
                refuse(e, "weights that are parameters: bind them as data of a program")
            given = constant(inner)
            return self.total(rest, given if weights is None else given * weights)
        if name == "DivExpression" and e.args[1].is_constant():
            inner = e.args[1].args[0] if kind(e.args[1]) == "Promote" else e.args[1]
            if inner.size == 1:
                return self.total(e.args[0], weights) / self.affine.scalar(inner)
            given = 1.0 / constant(inner)
            return self.total(e.args[0], given if weights is None else given * weights)
        if name in ("reshape", "transpose", "Sum") and weights is None:
            return self.total(e.args[0])
        if name in _DIVERGENCES and not any(a.is_constant() for a in e.args):
            return self._of_pairs(e, weights)
        if name in _ENTRYWISE:
            found = self._samples(e, weights)
            if found is None and (opened := self._opened(e)) is not None:
                found = self._samples(opened, weights)
            if found is not None:
                return found
        if weights is None and name in _ROWS:
            found = _ROWS[name](self, e)
            if found is not None:
                return found
        lifted = self._lifted(e)
        return call("sum", lifted if weights is None else weights * lifted) if e.shape else lifted

    def _samples(self, e: Any, weights: Any) -> Any:
        """The sum of a loss of entries; None where an entrywise function is no loss here."""
        found = _ENTRYWISE[kind(e)](self, e)
        if found is None:
            return None
        loss, z, plain = found
        if not z.is_affine():
            return None
        if weights is None:
            if plain is not None:
                return plain(self.affine.flat(z))
            argument = self._rows(self.affine.flat(z), z)
        else:
            argument = self._rows(self.affine.shaped(z), z)
        samples = loss(argument, z)
        if weights is None:
            return call("sum", samples)
        w = np.asarray(weights, dtype=np.float64)
        w = np.broadcast_to(w, z.shape or (1,))
        if (w < 0).any() and (w > 0).any():
            refuse(e, "weights of both signs: write the two sums apart")
        return call("sum", w * samples) if (w >= 0).all() else -call("sum", -w * samples)

    def _of_pairs(self, e: Any, weights: Any) -> Any:
        """The sum of a divergence of two expressions that both depend on variables, each entry of one beside one of the other."""
        pairs = (self._lined_up(a.args[0] if kind(a) == "Promote" else a) for a in e.args)
        values = call(kind(e), *pairs)
        if not e.shape:
            return values if weights is None else float(np.sum(weights)) * values
        if weights is None:
            return call("sum", values)
        w = np.broadcast_to(np.asarray(weights, dtype=np.float64), e.shape).reshape(-1)
        return call("sum", w * values) if (w >= 0).all() else refuse(e, "weights that are negative")

    def _lined_up(self, e: Any) -> Any:
        """The entries row after row, of what is not affine those of a variable that bounds it."""
        value = self.lowered(e)
        return call("vec", value) if len(e.shape) == 2 else value

    @staticmethod
    def _rows(value: Any, z: Any) -> Any:
        """A number as a vector of one entry, which losses are of."""
        return call("ones", 1) * value if not z.shape else value

    # --- variables of our own -----------------------------------------------------------------------------------------

    def _lifted(self, e: Any) -> Expression:
        """A variable that stands for a convex function from above, or for a concave one from below."""
        if not (e.is_convex() or e.is_concave()):
            refuse(e)
        t = self.leaves.fresh(e.shape)
        if e.is_convex():
            self.below(e, t)
        else:
            self.above(e, t)
        return t

    def _opened(self, e: Any) -> Any:
        """The same function of variables in place of arguments that are not affine; None where all are.

        A variable of cvxpy stands for one of ours, which the argument bounds.
        """
        if all(a.is_affine() for a in e.args):
            return None
        arguments = []
        for a in e.args:
            if not a.is_affine():
                inner = a.args[0] if kind(a) == "Promote" else a
                stand = require_cvxpy().Variable(inner.shape, nonneg=inner.is_nonneg() and not inner.is_nonpos())
                self.leaves.variables[stand.id] = self._lifted(inner)
                a = stand if inner is a else a.copy([stand])
            arguments.append(a)
        return e.copy(arguments)

    def largest(self, e: Any) -> Any:
        """The largest entry of what is nonnegative: of norms of rows by a word, of all else that of a variable above it."""
        values = row_values(self, e) if kind(e) in _LARGEST_OF else None
        if values is None or (kind(e) == "Pnorm" and plain_number_of(e.p) != 2.0):
            return None
        return call("max", values)

    def lowered(self, e: Any) -> Any:
        """An affine expression in the place of a convex or concave one."""
        return self.affine.shaped(e) if e.is_affine() else self._lifted(e)

    # --- constraints --------------------------------------------------------------------------------------------------

    def constraint(self, c: Any) -> None:
        """Take a constraint. `RunError` FW0320 for cones that have no equivalent."""
        name = type(c).__name__
        if name == "Inequality":
            self._less(c.args[0], c.args[1])
        elif name == "Equality":
            left, right = c.args
            self._state(self.affine.shaped(_of(left, right.shape)), self.affine.shaped(_of(right, left.shape)), "==")
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
                self.affine.shaped(_of(left, right.shape)),
                self.affine.shaped(_of(right, left.shape)),
                "<=",
                left.shape or right.shape,
            )
        elif right.is_affine():
            self.below(left, self.affine.shaped(_of(right, left.shape)))
        elif left.is_affine():
            self.above(right, self.affine.shaped(_of(left, right.shape)))
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
        parts = list(summands(e))
        curved = [(sign, part) for sign, part in parts if not part.is_affine()]
        for sign, part in parts:
            if part.is_affine():
                value = self.affine.shaped(_of(part, e.shape))
                bound = bound - value if sign > 0 else bound + value
        if len(curved) > 1:
            lifted = [(sign, self.lowered(_of(part, e.shape))) for sign, part in curved]
            total: Any = None
            for sign, t in lifted:
                total = (t if sign > 0 else -t) if total is None else total + t if sign > 0 else total - t
            self._state(total, bound, "<=", e.shape)
            return
        ((sign, part),) = curved
        if sign < 0:
            self.above(part, -bound)
            return
        self._bounded(_of(part, e.shape), bound)

    def above(self, e: Any, bound: Any) -> None:
        """e >= bound, with e concave."""
        if e.is_affine():
            self._state(bound, self.affine.shaped(e), "<=", e.shape)
            return
        self._bounded_below(e, bound)

    def _bounded(self, e: Any, bound: Any) -> None:
        """A single convex function below a bound."""
        name = kind(e)
        if name in ("multiply", "MulExpression", "DivExpression"):
            left, right = e.args
            divides = name == "DivExpression"
            factor, rest = (right, left) if divides or right.is_constant() else (left, right)
            factor = factor.args[0] if kind(factor) == "Promote" else factor
            if factor.size == 1 and (number := plain_number(factor)) is not None and number != 0.0:
                scaled = bound * number if divides else bound / number
                (self.below if number > 0 else self.above)(rest, scaled)
                return
        if name == "abs":
            z = self.affine.shaped(e.args[0]) if e.args[0].is_affine() else self.lowered(e.args[0])
            self._state(z, bound, "<=", e.args[0].shape)
            self._state(-z, bound, "<=", e.args[0].shape)
            return
        if name == "maximum":
            for a in e.args:
                self.below(_of(a, e.shape), bound)
            return
        if name == "max" and e.axis is None:
            self.below(e.args[0], bound)
            return
        if name == "norm_inf" and e.axis is None and e.args[0].is_affine():
            z = self.affine.flat(e.args[0])
            self._state(z, bound, "<=", e.args[0].shape)
            self._state(-z, bound, "<=", e.args[0].shape)
            return
        if (
            name in ("Power", "power")
            and isinstance(bound, int | float)
            and plain_number(e.p) == 2.0
            and e.args[0].is_affine()
        ):
            z = self.affine.shaped(e.args[0])
            self._state(z, math.sqrt(bound), "<=", e.shape)
            self._state(-z, math.sqrt(bound), "<=", e.shape)
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
        if name in _WORDS and e.shape and has_word(_WORDS[name]):
            self._state(call(_WORDS[name], self.lowered(e.args[0])), bound, "<=")
            return
        if e.size > 1 or (name in _ENTRYWISE and name not in _WORDS):
            if name == "max" and len(e.args[0].shape) == 2 and not e.keepdims:
                rows = self.affine.shaped(e.args[0].T if e.axis == 1 else e.args[0])
                self.constraints.append((bound - rows).in_(_set("nonnegative")))
                return
            if (opened := self._opened(e)) is not None:
                self._bounded(opened, bound)
                return
            refuse(e, "such a function has no epigraph here")
        found = _NUMBERS[name](self, e) if name in _NUMBERS else self.value(e) if name == "Sum" else None
        if found is None and (opened := self._opened(e)) is not None:
            self._bounded(opened, bound)
            return
        if found is None:
            refuse(e)
        self._state(found, bound, "<=")

    def _bounded_below(self, e: Any, bound: Any) -> None:
        parts = list(summands(e))
        curved = [(sign, part) for sign, part in parts if not part.is_affine()]
        for sign, part in parts:
            if part.is_affine():
                value = self.affine.shaped(_of(part, e.shape))
                bound = bound - value if sign > 0 else bound + value
        if len(curved) > 1:
            total: Any = None
            for sign, part in curved:
                t = self.lowered(_of(part, e.shape))
                total = (t if sign > 0 else -t) if total is None else total + t if sign > 0 else total - t
            self._state(bound, total, "<=", e.shape)
            return
        ((sign, part),) = curved
        if sign < 0:
            self.below(_of(part, e.shape), -bound)
            return
        e = _of(part, e.shape)
        name = kind(e)
        if name in ("multiply", "MulExpression", "DivExpression"):
            left, right = e.args
            divides = name == "DivExpression"
            factor, rest = (right, left) if divides or right.is_constant() else (left, right)
            factor = factor.args[0] if kind(factor) == "Promote" else factor
            if factor.size == 1 and (number := plain_number(factor)) is not None and number != 0.0:
                scaled = bound * number if divides else bound / number
                (self.above if number > 0 else self.below)(rest, scaled)
                return
        if name == "minimum":
            for a in e.args:
                self.above(_of(a, e.shape), bound)
            return
        if name == "min" and e.axis is None:
            self.above(e.args[0], bound)
            return
        if name in ("Promote", "broadcast_to", "reshape") and e.args[0].size == 1:
            self.above(e.args[0], bound)
            return
        if name in _WORDS and e.shape and has_word(_WORDS[name]):
            self._state(bound, call(_WORDS[name], self.lowered(e.args[0])), "<=")
            return
        found = (
            _NUMBERS[name](self, e) if name in _NUMBERS and e.size == 1 else self.value(e) if name == "Sum" else None
        )
        if found is None and (opened := self._opened(e)) is not None:
            self.above(opened, bound)
            return
        if found is None:
            refuse(e)
        self._state(bound, found, "<=")


def _is_zero(value: Any) -> bool:
    return not isinstance(value, Expression) and not np.any(value)


def _of(e: Any, shape: tuple[int, ...]) -> Any:
    """The number that an expression was spread from, beside an array: the language spreads it itself."""
    del shape
    return e.args[0] if kind(e) == "Promote" else e


def plain_number_of(p: Any) -> float | None:
    """A number, or the value of a constant of cvxpy."""
    return plain_number(p) if hasattr(p, "is_constant") else float(p)


# --- functions that give a number ---------------------------------------------------------------------------------------


def _norm(name: str, of_matrix: str = "") -> Callable[[Reader, Any], Any]:
    def read(r: Reader, e: Any) -> Any:
        if getattr(e, "axis", None) is not None:
            return None
        inner = e.args[0]
        if not inner.is_affine():
            if name == "norm_inf" and inner.is_nonneg():
                return r.largest(inner)
            return r.total(inner) if name == "norm1" and inner.is_nonneg() else None
        found = r.affine.flat(inner)
        matrix = of_matrix and len(_flat_shape(inner)) == 2
        return call(of_matrix if matrix else name, found)

    return read


def _flat_shape(e: Any) -> tuple[int, ...]:
    """The shape in which `Affine.flat` gives the entries."""
    while kind(e) in ("reshape", "transpose") and e.args[0].size == e.size:
        e = e.args[0]
    return (e.size,) if kind(e) in ("Hstack", "Vstack", "Concatenate") or len(e.shape) > 2 else e.shape


def _pnorm(r: Reader, e: Any) -> Any:
    p = plain_number_of(e.p)
    if e.axis is not None or p is None:
        return None
    if p == 2.0:
        return _norm("norm2", "norm_fro")(r, e)
    if not e.args[0].is_affine() or not has_word("norm_p"):
        return None
    flat = e.args[0] if len(_flat_shape(e.args[0])) < 2 else None
    return None if flat is None else call("norm_p", r.affine.flat(flat), p)


def _squares(r: Reader, e: Any) -> Any:
    x, y = e.args
    if getattr(e, "axis", None) is not None:
        return None
    if not y.is_constant():
        return (
            call("quad_over_lin", r.affine.flat(x), r.affine.scalar(y))
            if has_word("quad_over_lin") and x.is_affine()
            else None
        )
    if not x.is_affine():
        return None
    found = call("sum_squares", r.affine.flat(x))
    return found if plain_number(y) == 1.0 else found / r.affine.scalar(y)


def _square(r: Reader, e: Any) -> Any:
    """A number to a power: the square of an affine number, of a norm."""
    p, inner = plain_number_of(e.p), e.args[0]
    if p != 2.0 or e.size != 1:
        return None
    if kind(inner) == "Pnorm" and inner.axis is None and plain_number_of(inner.p) == 2.0 and inner.args[0].is_affine():
        return call("sum_squares", r.affine.flat(inner.args[0]))
    if inner.is_affine():
        return call("sum_squares", r.affine.scalar(inner))
    # the square of what is nonnegative and convex: of a variable above it
    return call("sum_squares", r.lowered(inner)) if inner.is_nonneg() and inner.is_convex() else None


def _quadratic(r: Reader, e: Any) -> Any:
    x, p = e.args
    if p.parameters():
        return None
    matrix = constant(p)
    dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
    dense = 0.5 * (dense + dense.T)
    sign = 1.0 if e.is_convex() else -1.0
    found = call("quad_form", r.affine.shaped(x), sign * dense)
    return found if sign > 0 else -found


def _of_matrix(name: str) -> Callable[[Reader, Any], Any]:
    def read(r: Reader, e: Any) -> Any:
        return call(name, r.affine.shaped(e.args[0])) if has_word(name) and e.args[0].is_affine() else None

    return read


def _largest_eigenvalues(r: Reader, e: Any) -> Any:
    if not has_word("sum_largest_eigs") or not e.args[0].is_affine():
        return None
    return call("sum_largest_eigs", r.affine.shaped(e.args[0]), int(e.k))


def _largest(r: Reader, e: Any) -> Any:
    if e.axis is not None or not has_word("sum_largest") or not e.args[0].is_affine():
        return None
    return call("sum_largest", r.affine.flat(e.args[0]), int(e.k))


def _of_entries(name: str) -> Callable[[Reader, Any], Any]:
    def read(r: Reader, e: Any) -> Any:
        if (
            getattr(e, "axis", None) is not None
            or not has_word(name)
            or not e.args[0].is_affine()
            or not e.args[0].shape
        ):
            return None
        return call(name, r.affine.flat(e.args[0]))

    return read


def _mean_of(r: Reader, e: Any) -> Any:
    """The geometric mean, with its weights where they differ."""
    if getattr(e, "axis", None) is not None or not e.args[0].is_affine() or not e.args[0].shape:
        return None
    weights = np.asarray(e.p, dtype=np.float64).reshape(-1)
    kept = np.asarray(getattr(e, "_keep", np.ones(e.args[0].size, dtype=bool)))
    if kept.all() and bool((weights == weights[0]).all()):
        return call("geo_mean", r.affine.flat(e.args[0]))
    if len(e.args[0].shape) != 1 or int(kept.sum()) != weights.size:
        return None
    x = r.affine.shaped(e.args[0])
    return call("geo_mean", x if kept.all() else x[np.flatnonzero(kept).tolist()], as_weights(operand(weights)))


def _largest_of(r: Reader, e: Any) -> Any:
    """The largest entry, or the largest norm of a row."""
    found = r.largest(e.args[0]) if e.axis is None else None
    return _of_entries("max")(r, e) if found is None else found


def _fraction(r: Reader, e: Any) -> Any:
    if not e.args[1].is_constant() or e.args[1].parameters():
        return (
            call("matrix_frac", r.affine.shaped(e.args[0]), r.affine.shaped(e.args[1]))
            if has_word("matrix_frac")
            else None
        )
    inverse = np.linalg.inv(np.asarray(e.args[1].value, dtype=np.float64))
    return (
        call("quad_form", r.affine.shaped(e.args[0]), 0.5 * (inverse + inverse.T))
        if len(e.args[0].shape) == 1
        else None
    )


_NUMBERS: Mapping[str, Callable[[Reader, Any], Any]] = {
    "norm1": _norm("norm1"),
    "norm_inf": _norm("norm_inf"),
    "Pnorm": _pnorm,
    "normNuc": _of_matrix("norm_nuc"),
    "sigma_max": _of_matrix("norm_spec"),
    "quad_over_lin": _squares,
    "QuadForm": _quadratic,
    "Power": _square,
    "power": _square,
    "lambda_max": _of_matrix("lambda_max"),
    "lambda_sum_largest": _largest_eigenvalues,
    "lambda_min": _of_matrix("lambda_min"),
    "log_det": _of_matrix("log_det"),
    "tr_inv": _of_matrix("tr_inv"),
    "sum_largest": _largest,
    "log_sum_exp": _of_entries("log_sum_exp"),
    "max": _largest_of,
    "min": _of_entries("min"),
    "GeoMean": _mean_of,
    "geo_mean": _mean_of,
    "MatrixFrac": _fraction,
}

# --- functions of entries -------------------------------------------------------------------------------------------------

Loss = tuple[Callable[[Any, Any], Expression], Any, Callable[[Any], Expression] | None]
"""A loss of an argument, the argument as cvxpy has it, and the function of the whole that is the sum where there are no weights."""


def _ones(z: Any) -> Expression:
    shape = _flat_shape(z) or (1,)
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


_ENTRYWISE: Mapping[str, Callable[[Reader, Any], Loss | None]] = {
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
_DIVERGENCES = ("kl_div", "rel_entr")
"""Functions of pairs of entries."""
_WORDS: Mapping[str, str] = {"exp": "exp", "log": "log", "log1p": "log1p"}
"""Functions of entries that are words of the same name."""

# --- functions of rows ----------------------------------------------------------------------------------------------------


def row_values(r: Reader, e: Any) -> Any:
    """A norm or another function of each row or column of a matrix, by its word with an axis; None where it is none of these."""
    name, inner = kind(e), e.args[0]
    if getattr(e, "axis", None) not in (0, 1) or not inner.is_affine() or len(inner.shape) != 2 or e.keepdims:
        return None
    options: dict[str, object] = {"axis": e.axis}
    if name == "Pnorm":
        p = plain_number_of(e.p)
        if p is None:
            return None
        name = "norm2" if p == 2.0 else "norm_p"
        options = options if p == 2.0 else {"p": p, **options}
    if name not in _OF_ROWS or not has_word(name):
        return None
    return call(name, r.affine.shaped(inner), **options)


_OF_ROWS = ("norm1", "norm2", "norm_inf", "norm_p", "log_sum_exp")
"""Words that have an axis, by the names that cvxpy has for them too."""


def _sum_of_rows(r: Reader, e: Any) -> Any:
    values = row_values(r, e)
    return None if values is None else call("sum", values)


_LARGEST_OF = ("norm1", "norm_inf", "Pnorm")
"""Norms of rows whose largest is a word."""


def _row_maxima(r: Reader, e: Any) -> Any:
    inner = e.args[0]
    if e.axis is None or kind(inner) != "abs" or not inner.args[0].is_affine() or len(inner.shape) != 2:
        return None
    x = r.affine.shaped(inner.args[0])
    return call("norm1_inf", x if e.axis == 1 else x.T)


def _row_log_sums(r: Reader, e: Any) -> Any:
    """The sum over rows of log sum exp: of each row the softmax loss of some class, and the score of that class."""
    inner = e.args[0]
    if e.axis is None or not inner.is_affine() or len(inner.shape) != 2:
        return None
    z = r.affine.shaped(inner if e.axis == 1 else inner.T)
    n, k = inner.shape if e.axis == 1 else inner.shape[::-1]
    if n < k or k < 2:
        return None  # labels have a sample of each class
    labels = np.arange(n) % k
    return call("sum", call("softmax", z, labels)) + call("sum", np.eye(k)[labels] * z)


_ROWS: Mapping[str, Callable[[Reader, Any], Any]] = {
    **dict.fromkeys(("Pnorm", "norm1", "norm_inf"), _sum_of_rows),
    "max": _row_maxima,
    "log_sum_exp": _row_log_sums,
}
