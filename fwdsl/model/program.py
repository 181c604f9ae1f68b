"""The model of a whole program: declarations, terms, constraints, and the facts that the checker proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, wraps
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

from ..grammar.source import Source, Span
from ..grammar.tree import NOWHERE, Call, Program
from ..light_dataclass import value_dataclass
from ..words import AXIS, CONVEX, LOSSES, SETS, ConvexWord, SetWord
from .dims import Dim
from .expr import Expr
from .types import Type

P = ParamSpec("P")
R = TypeVar("R")


@value_dataclass
class DataDecl:
    """A declared datum. `source` is its `from` call, which serves the names `serves` in order. `literal` is its value."""

    name: str
    type: Type
    source: Call | None = None
    serves: tuple[str, ...] = ()
    literal: object = None
    span: Span = field(default=NOWHERE, compare=False)


@value_dataclass
class ParamDecl:
    """A parameter: a number, a vector or a matrix. `default` is a constant expression, or None where a user must supply a value.

    `bounds` are those of a `box` that it is declared in: its entries lie between them.
    """

    name: str
    type: Type
    default: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False)
    bounds: tuple[float, float] | None = None

    @property
    def as_data(self) -> DataDecl:
        """The parameter as a datum, for what it shares with data: the conversion of its values, and their sizes."""
        return DataDecl(self.name, self.type, span=self.span)


@value_dataclass
class VarDecl:
    """A variable. The model's constraints contain the set of its declaration."""

    name: str
    type: Type
    span: Span = field(default=NOWHERE, compare=False)


@value_dataclass
class SetRef:
    """A set with its arguments by parameter name: `l1_ball` with {"r": ...}; `rows(l2_ball(1))` has `inner`."""

    name: str
    args: tuple[tuple[str, Expr], ...] = ()
    inner: SetRef | None = None
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def word(self) -> SetWord:
        return SETS[self.name]


def is_concave(atom: str, options: tuple[tuple[str, Expr], ...]) -> bool:
    """True if the function of a loss's name is concave for these options, and the loss its negative."""
    return LOSSES[atom].is_concave({n: e.value for n, e in options if isinstance(e.value, float)})


def is_of_rows(options: tuple[tuple[str, Expr], ...]) -> bool:
    """True if a function of vectors is taken of each row of a matrix."""
    return any(name == AXIS.name for name, _ in options)


@value_dataclass
class Term:
    """One term of the expanded objective: coefficient * reduce(atom(argument, target; options)).

    `kind` is "loss" (`reduce` is "mean" or "sum"; there is a `target`, and there may be `weights`), "function" (a
    regulariser or another convex function: `norm1`, `sum_squares`, ...), or "affine" (`argument` is a scalar affine
    expression, `atom` is empty). `coefficient` is a constant scalar: +1 or -1 times the user's. The checker has proved that
    its sign fits the sense of the objective. A loss may have no target, and be a function of each entry; where the function of its name is
    concave the loss is its negative, and the coefficient that of the loss. `name` is the name of its `let`, or "".
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

    @property
    def is_concave(self) -> bool:
        """True if the function of its name is concave: the term is that of its negative."""
        if self.kind == "function":
            return CONVEX[self.atom].concave
        return self.kind == "loss" and is_concave(self.atom, self.options)

    @property
    def of_rows(self) -> bool:
        """True if it is the sum over the rows of a matrix of a function of vectors."""
        return self.kind == "function" and is_of_rows(self.options)

    @property
    def convex(self) -> ConvexWord | None:
        """The record of its function; None for a loss and for an affine term."""
        return CONVEX[self.atom] if self.kind == "function" else None


@value_dataclass
class ConstraintDecl:
    """One constraint, normalised.

    `relation` is "in" (argument in set), "le" (argument <= 0 entrywise, argument = left - right) or "eq" (argument == 0).
    A norm form becomes a set form: `norm1(x) <= r` is `x in l1_ball(r)`, and `c * norm(e) <= r` is divided by c. A comparison of a
    bare variable, or c x + k, with constants becomes `nonnegative` or `box`. `flipped` says that the user wrote `>=`. `name` is the user's name,
    or `c1`, `c2`, ... by position; it is never empty. Where the user bounded `factor * norm(e)`, or a `sum_squares` (`squared`), by r,
    `factor` and `squared` lead from the radius back to r; a set form has neither. Of c x + k the factor is c.

    Of "below" the sum of convex `terms` is at most an affine bound, a number, or entry by entry where they have a value for each entry or row.
    `argument` is then a stack of the bound and of the arguments of the terms, so that who rewrites expressions rewrites all of them.
    """

    relation: Literal["in", "le", "eq", "below"]
    argument: Expr
    set: SetRef | None = None
    terms: tuple[Term, ...] = ()
    name: str = ""
    flipped: bool = False
    factor: Expr | None = field(default=None, compare=False)
    squared: bool = field(default=False, compare=False)
    text: str = field(default="", compare=False)
    span: Span = field(default=NOWHERE, compare=False)

    @property
    def below(self) -> tuple[Expr, tuple[Term, ...]]:
        """The bound of "below" and the terms that are bounded together."""
        bound, *arguments = self.argument.args
        return bound, tuple(replace(t, argument=a) for t, a in zip(self.terms, arguments, strict=True))


@value_dataclass
class Fact:
    """A property that the checker proved, and its reason: ("fit", "convex", "mean of logistic, convex in X @ beta")."""

    subject: str
    fact: str
    reason: str
    span: Span = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Model:
    """A checked program. Models are compared without their spans, texts and syntax trees."""

    name: str
    data: tuple[DataDecl, ...]
    params: tuple[ParamDecl, ...]
    variables: tuple[VarDecl, ...]
    sense: Literal["minimize", "maximize"]
    terms: tuple[Term, ...]
    constraints: tuple[ConstraintDecl, ...]
    lets: tuple[tuple[str, Expr | tuple[Term, ...]], ...] = ()
    options: tuple[tuple[str, object], ...] = ()
    dims: tuple[Dim, ...] = ()
    facts: tuple[Fact, ...] = field(default=(), compare=False)
    program: Program = field(default_factory=lambda: Program(()), compare=False)

    @property
    def source(self) -> Source:
        """The text the model was read from (the builder prints one)."""
        return self.program.source

    @property
    def given(self) -> tuple[DataDecl | ParamDecl, ...]:
        """The declarations that have values before a solve: the data, and the parameters."""
        return (*self.data, *self.params)

    @property
    def declared(self) -> tuple[DataDecl | ParamDecl | VarDecl, ...]:
        """All declarations with types."""
        return (*self.given, *self.variables)

    def variable(self, name: str) -> VarDecl:
        """The declaration of a variable. Raises `KeyError` where there is none."""
        return next(v for v in self.variables if v.name == name)

    @cached_property
    def _known(self) -> dict[Any, Any]:
        """The values that `once_per_model` keeps."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_known"}


def once_per_model(fn: Callable[Concatenate[Model, P], R]) -> Callable[Concatenate[Model, P], R]:
    """`fn(model, ...)`, worked out once for each model object and each further argument, which is hashable: a model never changes.

    Solving again for other data or parameters then costs no walk over the program. Nobody may change the result.
    """

    @wraps(fn)
    def known(model: Model, /, *args: P.args, **named: P.kwargs) -> R:
        # keeping is the model's own affair, and this function's
        kept, key = model._known, (fn, args, *named.items()) if named else (fn, args)
        if key not in kept:
            kept[key] = fn(model, *args, **named)
        found: R = kept[key]
        return found

    return known
