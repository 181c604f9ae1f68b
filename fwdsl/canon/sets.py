"""The numbers of norms and sets: their arguments as the registries of atoms take them, and the functions built of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..atoms.arrays import ROUNDING
from ..atoms.base import Array, VectorFunction
from ..atoms.family import Repeated
from ..atoms.vectors import ConvexSet
from ..grammar.source import Span
from ..model import ConstraintDecl, Expr, SetRef, Term, Type
from ..words import AXIS, BOX, CONVEX, SETS, SIMPLEX
from .affine import AffineReader
from .arrange import parts_of
from .emptiness import Empty, numbers, ordered
from .pairs import build


class BadArguments(Exception):
    """A norm or set cannot take its arguments with the numbers bound."""

    def __init__(self, message: str, span: Span) -> None:
        super().__init__(message)
        self.message = message
        self.span = span


_ENDS = ("lo", "hi")


class SetReader:
    """Reads the norms and sets of one instance."""

    def __init__(self, reader: AffineReader) -> None:
        self.reader = reader

    @staticmethod
    def symmetric_box(low: Any, high: Any, shape: tuple[int, ...]) -> dict[str, object]:
        """The box of bounds that the transpose of a symmetric matrix meets too."""
        lo, hi = (np.broadcast_to(np.reshape(v, shape if np.size(v) > 1 else ()), shape) for v in (low, high))
        both = ordered(np.maximum(lo, lo.T).reshape(-1), np.minimum(hi, hi.T).reshape(-1))
        return dict(zip(_ENDS, both, strict=True))

    def function(self, norm: Any, set_: Any, type_: Type, shape: tuple[int, ...], places: list[Span]) -> VectorFunction:
        """c * norm on a set for flat values of this type and shape."""
        if type_.is_family:
            inner = self.function(norm, set_, type_.block, shape[1:], places)
            return Repeated(inner, shape[0])
        try:
            return build(norm, set_, shape).for_symmetric() if type_.is_symmetric else build(norm, set_, shape)
        except ValueError as error:
            raise BadArguments(str(error), places[0] if places else Span(0, 0)) from error

    def of_each_row(self, term: Term, c: float, shape: tuple[int, ...]) -> VectorFunction:
        """c times the function of a term, of each row of a matrix."""
        from ..atoms.matrices import Lines  # programs of vectors load none of it

        inner = self.function(self.norm_spec(term, c), None, Type("vector", shape[1:]), shape[1:], [term.span])
        return Lines((shape[0], shape[1]), 0, inner)

    def norm_spec(self, term: Term, c: float) -> tuple[Any, ...]:
        """c times the norm of a term as the registries take it."""
        options = {name: e for name, e in term.options if name != AXIS.name}
        word = CONVEX[term.atom]
        if word.grouped:
            return term.atom, c, self.group_args(options)
        if word.options:
            return term.atom, c, {name: self._argument(e) for name, e in options.items()}
        return term.atom, c

    def group_args(self, options: Mapping[str, Expr]) -> dict[str, object]:
        """The groups of a norm or a ball, and their weights where it has some."""
        out = {"groups": self._groups(options["groups"])}
        if "weights" in options:
            out["weights"] = np.asarray(self.reader.constant(options["weights"]), dtype=np.float64)
        return out

    def _groups(self, expr: Expr) -> Any:
        return expr.value if expr.op == "list" else self.reader.constant(expr)

    def set_spec(self, key: str, constraints: list[ConstraintDecl], size: int) -> tuple[str, dict[str, object]]:
        """A set as the registries take it, `constraints` being those that were merged into it."""
        if "(" not in key:
            # bounds of any name are a box's, whatever the shape of their numbers
            key = BOX if SETS[key].given_bounds else key
            return key, self._merged_args(key, constraints, size)
        ref = constraints[0].set
        assert ref is not None
        return self._nested(ref, key)

    def _nested(self, ref: SetRef, key: str) -> tuple[str, dict[str, object]]:
        if SETS[ref.name].written_as == "rows and columns":
            return key.split("(")[0], {"set": (SIMPLEX, {"r": 1.0})}
        if ref.inner is not None:
            return ref.name, {"set": self._nested(ref.inner, key)}
        return ref.name, self.own_args(ref)

    def bounds(self, ref: SetRef) -> tuple[Any, Any]:
        """The bounds of a box as given, even where they leave no room for a point."""
        return ref.word.bounds_of({name: self._argument(e) for name, e in ref.args}, float, np.negative)

    def _argument(self, expr: Expr) -> Any:
        if not expr.type.array_shape:
            return self.reader.scalar(expr)
        value = self.reader.constant(expr)
        return np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=np.float64)

    def own_args(self, ref: SetRef) -> dict[str, object]:
        """The arguments of a set that is made of no other, a matrix among them dense."""
        args = dict(ref.args)
        out: dict[str, Any] = {}
        for name, expr in args.items():
            if name in ("groups", "weights"):
                continue
            out[name] = self._argument(expr)
        if "groups" in args:
            out.update(self.group_args(args))
        out |= {p.name: int(out[p.name]) for p in SETS[ref.name].parameters if p.domain == "count"}
        ends = ref.word.ends or ()
        if ends and all(end in out for end in ends):
            # rounding alone may have them cross
            out.update(zip(map(str, ends), ordered(*(out[str(end)] for end in ends)), strict=True))
        return out

    def _merged_args(self, name: str, constraints: list[ConstraintDecl], size: int) -> dict[str, Any]:
        # the arrangement writes bounds that meet as one box
        if name == BOX:
            lo, hi = np.full(size, -math.inf), np.full(size, math.inf)
            for constraint in constraints:
                assert constraint.set is not None
                a, b = self._box_bounds(constraint.set, size)
                lo, hi = np.maximum(lo, a), np.minimum(hi, b)
            return dict(zip(_ENDS, ordered(lo, hi), strict=True))
        if not SETS[name].parameters:
            return {}
        if not SETS[name].one_radius:
            assert constraints[0].set is not None
            return self.own_args(constraints[0].set)
        sums = [c for c in constraints if c.set is None or c.set.name != SETS[name].cone]
        bound = next((c for c in constraints if c not in sums), None)
        radii = [self._radius(c, bound) for c in sums]
        least, most = min(radii), max(radii)
        if SETS[name].total == "equal" and most - least > ROUNDING * most:
            first, last = sums[radii.index(least)], sums[radii.index(most)]
            said = numbers(least, most)
            raise Empty(
                f"`{first.text}` and `{last.text}` cannot hold together: the sum would have to be {said[0]} and {said[1]}",
                last.span,
            )
        return {"r": least}

    def _radius(self, constraint: ConstraintDecl, bound: ConstraintDecl | None) -> float:
        """The sum that a constraint asks for, of entries that `bound` keeps nonnegative."""
        if constraint.set is not None:
            return self.reader.scalar(dict(constraint.set.args)["r"])
        parts = [-self.reader.scalar(a) for a in parts_of(constraint.argument)[1]]
        r = sum(parts)
        if r >= -ROUNDING * sum(map(abs, parts)):
            return max(r, 0.0)
        told = f" with `{bound.text}`" if bound is not None else ""
        raise Empty(
            f"`{constraint.text}` cannot hold{told}: the sum of nonnegative numbers is at least 0, not {r:g}",
            constraint.span,
        )

    def _box_bounds(self, ref: SetRef, size: int) -> tuple[Array, Array]:
        ends = {name: self.reader.vector(e, size) for name, e in ref.args}
        return ref.word.bounds_of(ends, lambda end: np.full(size, end), np.negative)


def stated(constraint: ConstraintDecl, size: int, reader: AffineReader) -> ConvexSet:
    """The bounds that one constraint states, where several were merged."""
    assert constraint.set is not None
    found = build(None, SetReader(reader).set_spec(constraint.set.name, [constraint], size), size)
    assert isinstance(found, ConvexSet)
    return found


def part_of_bounds(normal: Array, own: ConvexSet, merged: ConvexSet) -> Array:
    """The entries of a normal of merged bounds, of one block or of each of a family, where these bounds are the ones that bind."""
    (lo, hi), (least, most) = own.bounds(), merged.bounds()
    normal = normal.reshape(-1, merged.size)
    return np.where(((normal < 0.0) & (lo == least)) | ((normal > 0.0) & (hi == most)), normal, 0.0).reshape(-1)
