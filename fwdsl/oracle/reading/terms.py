"""Convex expressions of cvxpy as terms: sums, weights, functions inside functions.

A convex function inside another, or several in one constraint, get a variable of their own: f(g(x)) is f(t) with g(x) <= t, which is the same problem
for problems of cvxpy's rules (DCP), as f rises in t wherever that is done.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from ...build.expression import Constraint, Expression
from ...extras import require
from .affine import Affine, Leaves, constant
from .common import added, call, kind, plain_number_of, refuse, summands
from .entries import DIVERGENCES, ENTRYWISE
from .numbers import NUMBERS
from .rows import LARGEST_OF, ROWS, row_values


class Terms(ABC):
    """The leaves that a reading makes of expressions, and the constraints that it has made so far."""

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
            total = added(total, sign, term)
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
        if name in NUMBERS:
            found = NUMBERS[name](self, e)
            if found is not None:
                return found
        if name in ENTRYWISE:
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
            total = added(total, sign, term)
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
        if name in DIVERGENCES and not any(a.is_constant() for a in e.args):
            return self._of_pairs(e, weights)
        if name in ENTRYWISE:
            found, stated = self._samples(e, weights), len(self.constraints)
            if found is None and (opened := self._opened(e)) is not None:
                found = self._samples(opened, weights)
                if found is None:
                    # a variable that nothing but its bound sees has no largest value, which methods would look for
                    del self.constraints[stated:]
            if found is not None:
                return found
        if weights is None and name in ROWS:
            found = ROWS[name](self, e)
            if found is not None:
                return found
        lifted = self._lifted(e)
        return call("sum", lifted if weights is None else weights * lifted) if e.shape else lifted

    def _samples(self, e: Any, weights: Any) -> Any:
        """The sum of a loss of entries; None where an entrywise function is no loss here."""
        found = ENTRYWISE[kind(e)](self, e)
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
                stand = require("oracle").Variable(inner.shape, nonneg=inner.is_nonneg() and not inner.is_nonpos())
                self.leaves.variables[stand.id] = self._lifted(inner)
                a = stand if inner is a else a.copy([stand])
            arguments.append(a)
        return e.copy(arguments)

    def largest(self, e: Any) -> Any:
        """The largest entry of what is nonnegative: of norms of rows by a word, of all else that of a variable above it."""
        values = row_values(self, e) if kind(e) in LARGEST_OF else None
        if values is None or (kind(e) == "Pnorm" and plain_number_of(e.p) != 2.0):
            return None
        return call("max", values)

    def lowered(self, e: Any) -> Any:
        """An affine expression in the place of a convex or concave one."""
        return self.affine.shaped(e) if e.is_affine() else self._lifted(e)

    @abstractmethod
    def below(self, e: Any, bound: Any) -> None:
        """e <= bound, with e convex."""

    @abstractmethod
    def above(self, e: Any, bound: Any) -> None:
        """e >= bound, with e concave."""
