"""Fills an arrangement with the numbers of an instance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..atoms.base import Array, VectorFunction
from ..atoms.family import Repeated
from ..atoms.losses import VECTOR_LOSSES
from ..atoms.matrices import build_matrix
from ..atoms.vector_loss import VectorLossFunction
from ..atoms.vectors import Ridged
from ..atoms.vectors import build as build_vector
from ..features.factor import GramFactor
from ..grammar.diagnostic import Diagnostic
from ..grammar.source import Span
from ..instance import Instance
from ..model import Constraint, Expr, SetRef, Term, Type, evaluate_dim
from .affine import AffineReader, NotFinite, Unsupported
from .arrange import NESTED, Arrangement, BlockPlan, SumPlan, arrange, expressions
from .emptiness import Empty, Region, check_box, check_equations, check_halfspace, check_meeting
from .factored import LARGEST_DENSE, Factored, factored_form
from .form import Block, Canonical, Stacked, SumTerm
from .groups import overlapping, repeated
from .maps import LinearMap, Matrix, Row, compose, scaled
from .matrix_maps import LeftMultiply, RightMultiply, Take
from .names import is_rewritten, key_of
from .numbers import bare_factor, loss_function

#: Feature maps that are only ever used through their Gram matrix.
IMPLICIT = ("rbf", "polynomial", "linear")

LARGEST_FACTOR = 8_000_000_000
"""Bytes of the factor of a Gram matrix."""


class _Unfit(Exception):
    """A norm or set whose arguments, with the numbers bound, are none that it takes."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message = message
        self.span = span


def canonicalise(instance: Instance) -> tuple[Canonical | Factored | None, tuple[Diagnostic, ...]]:
    """The canonical form of an instance, only the factored one where its variable is too large to write down; FW5001 where
    this version has no form for it, FW5010 where a set is empty, FW5011 where a number is not finite, FW5012 where an argument does not fit."""
    arrangement, refusals = arrange(instance.model)
    if arrangement is None:
        return None, refusals
    try:
        factored = factored_form(instance, arrangement)
        if factored is not None and factored.size > LARGEST_DENSE:
            return factored, ()
        return replace(_Builder(instance, arrangement).build(), factored=factored), ()
    except Unsupported as error:
        return None, (
            Diagnostic(
                "FW5001",
                f"this version cannot solve a program with {error.what} yet",
                span=error.expr.span,
                source=instance.model.source,
                rule="The planner refuses what no method covers, before any work is done.",
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
    except _Unfit as error:
        return None, (
            Diagnostic(
                "FW5012",
                error.message,
                span=error.span,
                source=instance.model.source,
                rule="A norm or set must be able to take its arguments, with the numbers bound.",
                hint="check the values of the data and parameters in it",
            ),
        )
    except Empty as error:
        return None, (
            Diagnostic(
                "FW5010",
                error.message,
                span=error.span,
                source=instance.model.source,
                rule="A constraint set must hold at least one point.",
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
        bases = self._bases()
        self._check_sets()
        for plan in self.arrangement.blocks:
            shape = tuple(evaluate_dim(d, self.instance.dims) for d in plan.type.array_shape)
            basis = bases.get(plan.name)
            if basis is not None:
                shape = (basis.rank, *shape[1:])
            size = math.prod(shape)
            g = self._block_function(plan, shape)
            symmetric = plan.type.kind in ("symmetric", "psd")
            blocks.append(
                Block(
                    plan.name, start, start + size, shape, g, g.describe(), plan.moved, basis=basis, symmetric=symmetric
                )
            )
            start += size
        for i in self.arrangement.lifted:
            blocks.append(self._weights_of_vertices(i, start))
            start = blocks[-1].stop
        self.reader.blocks = {b.name: b for b in blocks}
        terms = [t for t in (t for s in self.arrangement.sums for t in self._sum_terms(s)) if t is not None]
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

    def _bases(self) -> dict[str, GramFactor]:
        """For each variable over an implicit feature map, the factor of its Gram matrix, which is computed by blocks and never formed."""
        out: dict[str, GramFactor] = {}
        for expr in expressions(self.model):
            for node in expr.walk():
                if node.op != "matmul" or node.args[0].op != "features" or node.args[0].name not in IMPLICIT:
                    continue
                gram = self.reader.constant(node.args[0])
                if id(gram) not in self.reader.factors:
                    factor = gram.factor(LARGEST_FACTOR)
                    if factor is None:
                        what = f"a Gram matrix of {gram.shape[0]:,} samples whose factor needs over 8 GB"
                        raise Unsupported(what, node.args[0])
                    self.reader.factors[id(gram)] = factor
                for name in node.args[1].variables:
                    out[name] = self.reader.factors[id(gram)]
        return out

    # --- g ----------------------------------------------------------------------------------------------------------

    def _coefficient(self, term: Term) -> float:
        return max(0.0, self.sense * self.reader.scalar(term.coefficient))

    def _block_function(self, plan: BlockPlan, shape: tuple[int, ...]) -> VectorFunction:
        terms = self.model.terms
        c = sum(self._coefficient(terms[i]) * bare_factor(self.reader, terms[i].argument) for i in plan.norms)
        ridge = sum(self._coefficient(terms[i]) * bare_factor(self.reader, terms[i].argument) ** 2 for i in plan.ridges)
        norm = self._norm_spec(terms[plan.norms[0]], c) if plan.norms and c > 0.0 else None
        constraints = [self.model.constraints[i] for i in plan.sets]
        inner = shape[1:] if plan.type.kind == "family" else shape
        set_ = self._set_spec(plan.set, constraints, math.prod(inner)) if plan.set is not None else None
        own = plan.type.element if plan.type.element is not None else plan.type
        if plan.set == "box" and own.kind in ("symmetric", "psd"):
            assert set_ is not None
            set_ = "box", self._symmetric_box(set_[1], inner, constraints)
        places = [constraint.span for constraint in constraints] + [terms[i].span for i in plan.norms]
        g = self._function(norm, set_, plan.type, shape, places)
        return Ridged(g, ridge) if ridge > 0.0 else g

    @staticmethod
    def _symmetric_box(args: dict[str, Any], shape: tuple[int, ...], constraints: list[Constraint]) -> dict[str, Any]:
        """Bounds that the transpose of a symmetric matrix meets too."""
        lo, hi = args["lo"].reshape(shape), args["hi"].reshape(shape)
        lo, hi = np.maximum(lo, lo.T).reshape(-1), np.minimum(hi, hi.T).reshape(-1)
        check_box(lo, hi, constraints[-1].span)
        return {"lo": lo, "hi": hi}

    def _function(
        self, norm: Any, set_: Any, type_: Type, shape: tuple[int, ...], places: list[Span]
    ) -> VectorFunction:
        """c * norm on a set for flat values of this type and shape."""
        if type_.kind == "family":
            assert type_.element is not None
            inner = self._function(norm, set_, type_.element, shape[1:], places)
            return Repeated(inner, shape[0])
        try:
            if len(shape) < 2:
                f = build_vector(norm, set_, math.prod(shape))
            else:
                f = build_matrix(norm, set_, (shape[0], shape[1]))
        except ValueError as error:
            raise _Unfit(str(error), places[0] if places else Span(0, 0)) from error
        assert f is not None, "the arrangement only pairs what the registry holds"
        return f

    def _norm_spec(self, term: Term, c: float) -> tuple[Any, ...]:
        given = dict(term.options)
        if term.atom != "group_norm":
            return term.atom, c
        return term.atom, c, self._group_args(given)

    def _group_args(self, given: Mapping[str, Expr]) -> dict[str, Any]:
        out = {"groups": self._groups(given["groups"])}
        if "weights" in given:
            out["weights"] = np.asarray(self.reader.constant(given["weights"]), dtype=np.float64)
        return out

    def _groups(self, expr: Expr) -> Any:
        return expr.value if expr.op == "list" else self.reader.constant(expr)

    def _set_spec(self, key: str, constraints: list[Constraint], size: int) -> tuple[str, dict[str, Any]]:
        """A set as the registries take it, `constraints` being those that were merged into it."""
        if "(" not in key:
            return key, self._merged_args(key, constraints, size)
        ref = constraints[0].set
        assert ref is not None
        return self._nested(ref, key)

    def _nested(self, ref: SetRef, key: str) -> tuple[str, dict[str, Any]]:
        if ref.name == "birkhoff":
            return key.split("(")[0], {"set": ("simplex", {"r": 1.0})}
        if ref.inner is not None:
            return ref.name, {"set": self._nested(ref.inner, key)}
        return ref.name, self._own_args(ref)

    def _check_sets(self) -> None:
        """Raise where two sets of one variable have no point in common, as far as numbers alone show it."""
        for variable in self.model.variables:
            own = variable.type.element if variable.type.kind == "family" else variable.type
            assert own is not None
            regions = [
                Region(key_of(c.set), {} if c.set.name == "birkhoff" else self._innermost_args(c.set), c.text, c.span)
                for c in self.model.constraints
                if c.set is not None and c.argument.op == "var" and c.argument.name == variable.name
            ]
            if len(regions) > 1:
                check_meeting(regions, tuple(evaluate_dim(d, self.instance.dims) for d in own.array_shape))

    def _innermost_args(self, ref: SetRef) -> dict[str, Any]:
        return self._own_args(ref) if ref.inner is None else self._innermost_args(ref.inner)

    def _own_args(self, ref: SetRef) -> dict[str, Any]:
        given = dict(ref.args)
        out: dict[str, Any] = {}
        for name, expr in given.items():
            if name in ("groups", "weights"):
                continue
            value = self.reader.constant(expr)
            out[name] = float(value) if np.ndim(value) == 0 else np.asarray(value, dtype=np.float64)
        if "groups" in given:
            out.update(self._group_args(given))
        if "k" in out:
            out["k"] = int(out["k"])
        if ref.name == "box":
            check_box(out["lo"], out["hi"], ref.span)
        return out

    def _weights_of_vertices(self, i: int, start: int) -> Block:
        """The block of weights of a polytope's vertices, in the simplex."""
        constraint = self.model.constraints[i]
        assert constraint.set is not None
        count = self.reader.constant(dict(constraint.set.args)["V"]).shape[0]
        g = build_vector(None, ("simplex", {"r": 1.0}), count)
        assert g is not None
        return Block(f"weights of {constraint.name}", start, start + count, (count,), g, g.describe(), auxiliary=True)

    def _merged_args(self, name: str, constraints: list[Constraint], size: int) -> dict[str, Any]:
        if name == "box":
            lo, hi = np.full(size, -math.inf), np.full(size, math.inf)
            for constraint in constraints:
                assert constraint.set is not None
                a, b = self._box_bounds(constraint.set, size)
                lo, hi = np.maximum(lo, a), np.minimum(hi, b)
            check_box(lo, hi, constraints[-1].span)
            return {"lo": lo, "hi": hi}
        if name in ("nonnegative", "psd"):
            return {}
        if name not in NESTED and name != "simplex":
            assert constraints[0].set is not None
            return self._own_args(constraints[0].set)
        radii = [self._radius(c) for c in constraints if c.set is None or c.set.name != "nonnegative"]
        if name == "simplex" and len({*radii}) > 1:
            raise Empty(f"the sum cannot equal {radii[0]:g} and {radii[1]:g} at once", constraints[-1].span)
        return {"r": min(radii)}

    def _radius(self, constraint: Constraint) -> float:
        if constraint.set is not None:
            return self.reader.scalar(dict(constraint.set.args)["r"])
        r = -sum(self.reader.scalar(a) for a in constraint.argument.args if a.is_constant)
        if r < 0.0:
            raise Empty(
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

    # --- the sum ----------------------------------------------------------------------------------------------------

    def _sum_terms(self, plan: SumPlan) -> list[SumTerm | None]:
        if plan.is_constraint:
            constraint = self.model.constraints[plan.origin]
            stacked = self.reader.stacked(constraint.argument)
            indicator, stacked = self._indicator(constraint, plan, stacked)
            return [SumTerm(indicator, stacked, plan.text, plan.origin, True, constraint.name, constraint.span)]
        term = self.model.terms[plan.origin]
        c = self._coefficient(term)
        if c == 0.0:
            return []
        stacked = self.reader.stacked(term.argument)
        if plan.kind != "loss" and overlapping(term.options):
            return self._overlapping_groups(term, c, plan, stacked)
        f: Any
        if plan.kind != "loss":
            f = self._function(self._norm_spec(term, c), None, term.argument.type, stacked.shape, [term.span])
        elif plan.atom in VECTOR_LOSSES:
            f = self._vector_loss(term, c, stacked)
        else:
            stacked = self._factored(term, stacked) if term.atom == "quad_form" else stacked
            f = loss_function(self.reader, term, plan.atom, c, stacked.shape)
        return [SumTerm(f, stacked, plan.text, plan.origin, False, term.name, term.span)]

    def _vector_loss(self, term: Term, c: float, stacked: Stacked) -> VectorLossFunction:
        n, k = stacked.shape
        assert term.target is not None
        y = np.asarray(self.reader.constant(term.target), dtype=np.int64)
        w = np.full(n, c / n if term.reduce == "mean" and n else c)
        if term.weights is not None:
            w = w * self.reader.vector(term.weights, n)
        return VectorLossFunction(VECTOR_LOSSES[term.atom], y, w, k)

    def _factored(self, term: Term, stacked: Stacked) -> Stacked:
        """x'Px as |L x|^2 with P = L'L by the eigenvalues of P."""
        P = self.reader.constant(dict(term.options)["P"])
        values, vectors = np.linalg.eigh(np.asarray(P.toarray() if hasattr(P, "nnz") else P, dtype=np.float64))
        if values.size and values[0] < -1e-10 * max(1.0, abs(float(values[-1]))):
            raise _Unfit(
                f"the matrix of `{term.text}` is not positive semidefinite: it has the eigenvalue {values[0]:.3g}",
                term.span,
            )
        keep = values > max(float(values[-1]), 0.0) * 1e-15 if values.size else values > 0.0
        factor = Matrix(np.ascontiguousarray((vectors[:, keep] * np.sqrt(values[keep])).T), False, "root of P")
        parts = tuple((b, compose(factor, m)) for b, m in stacked.parts)
        return Stacked(parts, factor.apply(stacked.offset), (factor.rows,))

    def _overlapping_groups(self, term: Term, c: float, plan: SumPlan, stacked: Stacked) -> list[SumTerm | None]:
        """One Euclidean norm a group."""
        given = self._group_args(dict(term.options))
        out: list[SumTerm | None] = []
        for g, group in enumerate(given["groups"]):
            take = Take(np.asarray(group, dtype=np.intp), stacked.rows, f"group {g}")
            part = Stacked(
                tuple((b, compose(take, m)) for b, m in stacked.parts), take.apply(stacked.offset), (len(group),)
            )
            weight = float(given["weights"][g]) if "weights" in given else 1.0
            f = build_vector(("norm2", c * weight), None, len(group)) if weight > 0.0 else None
            out.append(SumTerm(f, part, plan.text, plan.origin, False, term.name, term.span) if f is not None else None)
        return out

    def _indicator(self, constraint: Constraint, plan: SumPlan, stacked: Stacked) -> tuple[VectorFunction, Stacked]:
        ref, m = constraint.set, stacked.rows
        if ref is None:
            return self._bounds(-math.inf if constraint.relation == "le" else 0.0, m), stacked
        if ref.inner is not None and is_rewritten(ref):
            return self._bounds_of_lines(ref.name, ref.inner, stacked)
        if ref.name == "affine":
            given = dict(ref.args)
            A = self.reader.constant(given["A"])
            b = self.reader.vector(given["b"], A.shape[0])
            check_equations(A, b, constraint.text, ref.span)
            return self._bounds(0.0, A.shape[0]), _mapped(stacked, Matrix(A, False, given["A"].name or "A"), -b)
        if ref.name == "halfspace":
            given = dict(ref.args)
            a = self.reader.vector(given["a"], m)
            check_halfspace(a, self.reader.scalar(given["b"]), constraint.text, ref.span)
            return self._bounds(-math.inf, 1), _mapped(
                stacked, Row(a, given["a"].name or "a"), -np.array([self.reader.scalar(given["b"])])
            )
        if ref.name == "polytope":
            V = np.asarray(self.reader.constant(dict(ref.args)["V"]), dtype=np.float64)
            weights = self.reader.blocks[f"weights of {constraint.name}"]
            parts = (*stacked.parts, (weights, scaled(Matrix(V, True, "V"), -1.0)))
            return self._bounds(0.0, m), Stacked(parts, stacked.offset, stacked.shape)
        type_, shape = constraint.argument.type, stacked.shape
        inner = shape[1:] if type_.kind == "family" else shape
        spec = self._set_spec(plan.atom, [constraint], math.prod(inner))
        if ref.name == "group_ball" and overlapping(ref.args):
            spec, stacked = repeated(spec, stacked)
            shape = stacked.shape
        return self._function(None, spec, type_, shape, [ref.span]), stacked

    def _bounds_of_lines(self, name: str, inner: SetRef, stacked: Stacked) -> tuple[VectorFunction, Stacked]:
        """An affine set or halfspace for each row, each column, or all entries."""
        given = dict(inner.args)
        if inner.name == "affine":
            lo, A = 0.0, self.reader.constant(given["A"])
        else:
            lo, A = -math.inf, np.atleast_2d(np.asarray(self.reader.constant(given["a"]), dtype=np.float64))
        b = self.reader.vector(given["b"], A.shape[0])
        n, k = stacked.shape
        outer: LinearMap
        if name == "rows":
            outer, b = RightMultiply(A.T, n), np.tile(b, n)
        elif name == "columns":
            outer, b = LeftMultiply(A, k), np.repeat(b, k)
        else:
            outer = Matrix(A, False, given["A"].name if "A" in given else "a")
        return self._bounds(lo, b.size), _mapped(stacked, outer, -b)

    @staticmethod
    def _bounds(lo: float, m: int) -> VectorFunction:
        """The indicator of [lo, 0]^m."""
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


def _mapped(stacked: Stacked, outer: LinearMap, offset: Array) -> Stacked:
    """outer applied to an affine map, plus an offset."""
    parts = tuple((b, compose(outer, m)) for b, m in stacked.parts)
    return Stacked(parts, outer.apply(stacked.offset) + offset, (outer.rows,))
