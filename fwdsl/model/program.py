"""The model of a whole program: declarations, terms, constraints, and the facts the checker proved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from ..grammar.source import Source, Span
from ..grammar.tree import NOWHERE, Call, Program
from .expr import Expr
from .types import Dim, Type


@dataclass(frozen=True, slots=True)
class DataDecl:
    """A declared datum. `source` is its `from` call (shared by the names it serves, `serves` in order), `literal` its value."""

    name: str
    type: Type
    source: Call | None = None
    serves: tuple[str, ...] = ()
    literal: object = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class ParamDecl:
    """A parameter with its default, a constant scalar expression, or None where a value must be supplied."""

    name: str
    type: Type
    default: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class VarDecl:
    """A variable. The set of its declaration is among the model's constraints."""

    name: str
    type: Type
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class SetRef:
    """A set with its arguments by parameter name: `l1_ball` with {"r": ...}; `rows(l2_ball(1))` has `inner`."""

    name: str
    args: tuple[tuple[str, Expr], ...] = ()
    inner: SetRef | None = None
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Term:
    """One term of the expanded objective: coefficient * reduce(atom(argument, target; options)).

    `kind` is "loss" (then `reduce` is "mean" or "sum", `target` is given, `weights` may be), "function" (a regulariser or
    another convex function: `norm1`, `sum_squares`, ...), or "affine" (`argument` is a scalar affine expression, `atom` is
    empty). `coefficient` is a constant scalar whose sign the checker has proved to fit the sense of the objective;
    it is +1/-1 times what the user wrote. `name` is the `let` that named it, or "" .
    """

    kind: Literal["loss", "function", "affine"]
    atom: str
    coefficient: Expr
    argument: Expr
    target: Expr | None = None
    weights: Expr | None = None
    reduce: Literal["mean", "sum", ""] = ""
    options: tuple[tuple[str, Expr], ...] = ()
    name: str = ""
    text: str = field(default="", compare=False)
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint, normalised.

    `relation` is "in" (argument in set), "le" (argument <= 0 entrywise, argument = left - right) or "eq" (argument == 0).
    The norm form becomes the set form (`norm1(x) <= r` is `x in l1_ball(r)`, `c * norm(e) <= r` divides), comparisons of a bare
    variable with constants become `nonnegative` or `box`. `flipped` tells that a `>=` was turned round. `name` is the
    user's, or one made from its text and position (`c1`, `c2`, ...; "" never occurs). Where the user bounded `factor * norm(e)`, or
    a `sum_squares` (`squared`), by r, these lead from the radius back to r; a set form has neither.
    """

    relation: Literal["in", "le", "eq"]
    argument: Expr
    set: SetRef | None = None
    name: str = ""
    flipped: bool = False
    factor: Expr | None = field(default=None, compare=False)
    squared: bool = field(default=False, compare=False)
    text: str = field(default="", compare=False)
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True, slots=True)
class Fact:
    """Something the checker proved, with where it comes from: ("fit", "convex", "mean of logistic, convex in X @ beta")."""

    subject: str
    fact: str
    reason: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Model:
    """A checked program. Equal models say the same (spans, texts and the program tree do not count)."""

    name: str
    data: tuple[DataDecl, ...]
    params: tuple[ParamDecl, ...]
    variables: tuple[VarDecl, ...]
    sense: Literal["minimize", "maximize"]
    terms: tuple[Term, ...]
    constraints: tuple[Constraint, ...]
    lets: tuple[tuple[str, Expr | tuple[Term, ...]], ...] = ()
    options: tuple[tuple[str, object], ...] = ()
    dims: tuple[Dim, ...] = ()
    facts: tuple[Fact, ...] = field(default=(), compare=False)
    program: Program = field(default_factory=lambda: Program(()), compare=False)

    @property
    def source(self) -> Source:
        """The text the model was read from (the builder prints one)."""
        return self.program.source

    def variable(self, name: str) -> VarDecl:
        """The declaration of a variable; `KeyError` if there is none."""
        return next(v for v in self.variables if v.name == name)
