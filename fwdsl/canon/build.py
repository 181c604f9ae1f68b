"""Fills an arrangement with the numbers of an instance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..atoms.base import Array, LossFunction, VectorFunction
from ..atoms.losses import LOSSES
from ..atoms.vectors import Ridged
from ..atoms.vectors import build as build_vector
from ..grammar.diagnostic import Diagnostic
from ..grammar.source import Span
from ..instance import Instance
from ..model import Constraint, Expr, SetRef, Term, evaluate_dim
from .affine import AffineReader, NotFinite, Unsupported
from .arrange import Arrangement, BlockPlan, SumPlan, arrange
from .form import Block, Canonical, Stacked, SumTerm


class _Empty(Exception):
    """A set that holds no point."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message = message
        self.span = span


def canonicalise(instance: Instance) -> tuple[Canonical | None, tuple[Diagnostic, ...]]:
    """The canonical form of an instance; FW5001 where this version has no form for it, FW5010 where a set is empty."""
    arrangement, refusals = arrange(instance.model)
    if arrangement is None:
        return None, refusals
    try:
        return _Builder(instance, arrangement).build(), ()
    except Unsupported as error:
        return None, (
            Diagnostic(
                "FW5001",
                f"this version cannot solve a program with {error.what} yet",
                span=error.expr.span,
                source=instance.model.source,
                rule="the planner refuses what no method covers, before any work is done",
                hint="the program is correct; solvable now are sums of vector and scalar expressions in the variables",
            ),
        )
    except NotFinite as error:
        return None, (
            Diagnostic(
                "FW5011",
                f"an expression has no finite value with the numbers bound: {error.what}",
                span=error.expr.span,
                source=instance.model.source,
                rule="Coefficients, radii and targets are finite numbers.",
                hint="check the values of the data and parameters in it",
            ),
        )
    except _Empty as error:
        return None, (
            Diagnostic(
                "FW5010",
                error.message,
                span=error.span,
                source=instance.model.source,
                rule="a constraint set must hold at least one point",
                hint="check the values bound to its parameters",
            ),
        )


class _Builder:
    def __init__(self, instance: Instance, arrangement: Arrangement) -> None:
        self.instance = instance
        self.model = instance.model
        self.arrangement = arrangement
        self.sense = 1 if self.model.sense == "minimize" else -1
        self.reader = AffineReader(instance, {})

    def build(self) -> Canonical:
        blocks: list[Block] = []
        start = 0
        for plan in self.arrangement.blocks:
            shape = tuple(evaluate_dim(d, self.instance.dims) for d in plan.type.array_shape)
            size = math.prod(shape)
            g = self._block_function(plan, size)
            blocks.append(Block(plan.name, start, start + size, shape, g, g.describe(), plan.moved))
            start += size
        self.reader.blocks = {b.name: b for b in blocks}
        terms = [t for t in (self._sum_term(s) for s in self.arrangement.sums) if t is not None]
        q, constant = np.zeros(start), 0.0
        for i in self.arrangement.linear:
            term = self.model.terms[i]
            c = self.sense * self.reader.scalar(term.coefficient)
            stacked = self.reader.stacked(term.argument)
            stacked.adjoint(np.array([c]), q)
            constant += c * float(stacked.offset[0])
        return Canonical(
            self.instance,
            tuple(blocks),
            tuple(terms),
            q,
            constant,
            self.sense,
            self._size_of_affine(),
            self.arrangement.facts,
            self._places(terms),
        )

    # --- g ----------------------------------------------------------------------------------------------------------

    def _coefficient(self, term: Term) -> float:
        return max(0.0, self.sense * self.reader.scalar(term.coefficient))

    def _bare_factor(self, expr: Expr) -> float:
        """|k| of an argument k * x."""
        if expr.op == "var":
            return 1.0
        if expr.op == "neg":
            return self._bare_factor(expr.args[0])
        if expr.op == "div":
            return self._bare_factor(expr.args[0]) / abs(self.reader.scalar(expr.args[1]))
        constant, live = expr.args if expr.args[0].is_constant else expr.args[::-1]
        return abs(self.reader.scalar(constant)) * self._bare_factor(live)

    def _block_function(self, plan: BlockPlan, size: int) -> VectorFunction:
        terms = self.model.terms
        c = sum(self._coefficient(terms[i]) * self._bare_factor(terms[i].argument) for i in plan.norms)
        ridge = sum(self._coefficient(terms[i]) * self._bare_factor(terms[i].argument) ** 2 for i in plan.ridges)
        norm = (plan.norm, c) if plan.norm is not None and c > 0.0 else None
        constraints = [self.model.constraints[i] for i in plan.sets]
        set_ = (plan.set, self._merged_args(plan.set, constraints, size)) if plan.set is not None else None
        g = build_vector(norm, set_, size)
        assert g is not None, "the arrangement only pairs what the registry holds"
        return Ridged(g, ridge) if ridge > 0.0 else g

    def _merged_args(self, name: str, constraints: list[Constraint], size: int) -> dict[str, Any]:
        if name == "box":
            lo, hi = np.full(size, -math.inf), np.full(size, math.inf)
            for constraint in constraints:
                assert constraint.set is not None
                a, b = self._box_bounds(constraint.set, size)
                lo, hi = np.maximum(lo, a), np.minimum(hi, b)
            self._check_box(lo, hi, constraints)
            return {"lo": lo, "hi": hi}
        if name == "nonnegative":
            return {}
        radii = [self._radius(c) for c in constraints if c.set is None or c.set.name != "nonnegative"]
        if name == "simplex" and len({*radii}) > 1:
            raise _Empty(f"the sum cannot equal {radii[0]:g} and {radii[1]:g} at once", constraints[-1].span)
        return {"r": min(radii)}

    def _radius(self, constraint: Constraint) -> float:
        if constraint.set is not None:
            return self.reader.scalar(dict(constraint.set.args)["r"])
        r = -sum(self.reader.scalar(a) for a in constraint.argument.args if a.is_constant)
        if r < 0.0:
            raise _Empty(
                f"`{constraint.text}` cannot hold: the sum of nonnegative numbers is not {r:g}", constraint.span
            )
        return r

    def _box_bounds(self, ref: SetRef, size: int) -> tuple[Array, Array]:
        args = dict(ref.args)
        if ref.name == "nonnegative":
            return np.zeros(size), np.full(size, math.inf)
        if ref.name == "linf_ball":
            r = self.reader.scalar(args["r"])
            return np.full(size, -r), np.full(size, r)
        return self.reader.vector(args["lo"], size), self.reader.vector(args["hi"], size)

    def _check_box(self, lo: Array, hi: Array, constraints: list[Constraint]) -> None:
        bad = np.flatnonzero(~(lo <= hi))
        if bad.size:
            j = int(bad[0])
            message = f"the box is empty: entry {j} must be at least {lo[j]:g} and at most {hi[j]:g}"
            raise _Empty(message, constraints[-1].span)

    # --- the sum ----------------------------------------------------------------------------------------------------

    def _sum_term(self, plan: SumPlan) -> SumTerm | None:
        if plan.is_constraint:
            constraint = self.model.constraints[plan.origin]
            stacked = self.reader.stacked(constraint.argument)
            f: LossFunction | VectorFunction = self._indicator(constraint, stacked)
            return SumTerm(f, stacked, plan.text, plan.origin, True, constraint.name, constraint.span)
        term = self.model.terms[plan.origin]
        c = self._coefficient(term)
        if c == 0.0:
            return None
        stacked = self.reader.stacked(term.argument)
        f = self._loss(term, plan.atom, c, stacked) if plan.kind == "loss" else self._norm(term, c, stacked)
        return SumTerm(f, stacked, plan.text, plan.origin, False, term.name, term.span)

    def _loss(self, term: Term, atom: str, c: float, stacked: Stacked) -> LossFunction:
        loss = LOSSES[atom]
        m = stacked.rows
        b = np.zeros(m) if term.target is None else self.reader.vector(term.target, m)
        w = np.full(m, c / m if term.reduce == "mean" and m else c)
        if term.weights is not None:
            w = w * self.reader.vector(term.weights, m)
        given: Mapping[str, Expr] = dict(term.options)
        p = np.array([self.reader.scalar(given[o.name]) if o.name in given else o.default for o in loss.parameters])
        return LossFunction(loss, b, w, p)

    def _norm(self, term: Term, c: float, stacked: Stacked) -> VectorFunction:
        f = build_vector((term.atom, c), None, stacked.rows)
        assert f is not None
        return f

    def _indicator(self, constraint: Constraint, stacked: Stacked) -> VectorFunction:
        m = stacked.rows
        if constraint.set is not None:
            name = constraint.set.name
            args = self._merged_args(name, [constraint], m)
            f = build_vector(None, (name, args), m)
        else:
            lo = -math.inf if constraint.relation == "le" else 0.0
            f = build_vector(None, ("box", {"lo": np.full(m, lo), "hi": np.zeros(m)}), m)
        assert f is not None
        return f

    # --- the rest ---------------------------------------------------------------------------------------------------

    def _size_of_affine(self) -> float:
        """The sum of the sizes of the affine terms at zero."""
        total = 0.0
        for i in self.arrangement.linear:
            term = self.model.terms[i]
            offset = self.reader.stacked(term.argument).offset
            total += abs(self.reader.scalar(term.coefficient) * float(offset[0]))
        return total

    def _places(self, terms: list[SumTerm]) -> list[tuple[str, int]]:
        places: list[tuple[str, int]] = [("none", -1)] * len(self.model.constraints)
        for b, plan in enumerate(self.arrangement.blocks):
            for i in plan.sets:
                places[i] = ("block", b)
        for t, term in enumerate(terms):
            if term.is_constraint:
                places[term.origin] = ("term", t)
        return places
