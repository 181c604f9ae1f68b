"""The meaning of an expression of the objective in the checker: an `Expr`, or an expanded sum of losses and convex functions."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Literal

from ..grammar.source import Span
from ..grammar.tree import NOWHERE
from ..light_dataclass import value_dataclass
from ..model import Dim, Expr, Term, is_concave, is_of_rows
from ..words import CONVEX
from . import algebra

Nested = float | str | tuple["Nested", ...]
"""The values of a literal array."""


@value_dataclass
class AppliedAtom:
    """A loss or another convex function with its arguments, without coefficient. `reduce` is empty until `mean` or `sum` is applied."""

    kind: Literal["loss", "function"]
    atom: str
    argument: Expr
    target: Expr | None = None
    weights: Expr | None = None
    reduce: Literal["mean", "sum", ""] = ""
    options: tuple[tuple[str, Expr], ...] = ()
    text: str = field(default="", compare=False)
    span: Span = field(default=NOWHERE, compare=False)
    #: It is written as a function of entries, so that the mean is that over all entries of a matrix.
    of_entries: bool = field(default=False, compare=False)
    #: The word that the program has for it, where that is another, and whether that is the negative of a convex function.
    written: str = field(default="", compare=False)
    concave: bool = field(default=False, compare=False)

    @property
    def per_sample(self) -> bool:
        """True if the term still has one value a sample, or a row."""
        return not self.reduce and (self.kind == "loss" or CONVEX[self.atom].by_rows or is_of_rows(self.options))

    @property
    def word(self) -> str:
        """The word that the program has for it."""
        return self.written or self.atom

    @property
    def is_concave(self) -> bool:
        """True if the function of its name is concave, and the loss or the convex function its negative."""
        return self.concave or (self.kind == "loss" and is_concave(self.atom, self.options))

    def as_written(self, coefficient: Expr) -> Expr:
        """The coefficient of the function of its name, from that of the loss."""
        return algebra.times(coefficient, algebra.const(-1.0)) if self.is_concave else coefficient


@value_dataclass
class Summand:
    """coefficient * body. The body is an `Expr` where it is affine. `span` covers a coefficient that is written next to it.

    `weight` is a vector factor of a body that is one number (`w * (loss + norm1(x))`), until `mean` or `sum` takes it in.
    """

    coefficient: Expr
    body: AppliedAtom | Expr
    name: str = ""
    span: Span = field(default=NOWHERE, compare=False)
    weight: Expr | None = None


@value_dataclass
class Combination:
    """An expanded sum with at least one loss or convex function: one number, or one for each sample along the dimension `samples`.

    A function of the entries of a matrix has one for each entry: `columns` is its second dimension.
    """

    summands: tuple[Summand, ...]
    samples: Dim | None = None
    span: Span = NOWHERE
    columns: Dim | None = None

    @property
    def shape(self) -> tuple[Dim, ...]:
        """The shape of its values: empty where it is one number."""
        return () if self.samples is None else (self.samples,) if self.columns is None else (self.samples, self.columns)

    @property
    def is_constant(self) -> bool:
        """True if no loss or function in it, and nothing beside them, depends on a variable."""
        bodies = [s.body.argument if isinstance(s.body, AppliedAtom) else s.body for s in self.summands]
        return all(e.is_constant for e in bodies)

    @property
    def told(self) -> str:
        """ "convex" or "concave" for a sentence, by the signs of its coefficients as far as they are known."""
        signs = {
            s.coefficient.sign in ("negative", "nonpositive") for s in self.summands if isinstance(s.body, AppliedAtom)
        }
        return "concave" if signs == {True} else "convex"

    def scaled(self, by: Expr, divide: bool = False, span: Span | None = None) -> Combination:
        """The sum times, or divided by, a constant scalar. Convex summands from a `let` elsewhere get the place `span`."""
        combine = algebra.ratio if divide else algebra.times
        alone = len(self.summands) == 1

        def place(s: Summand) -> Span:
            elsewhere = span is not None and isinstance(s.body, AppliedAtom) and span.to(s.span) != span
            return span if span is not None and (alone or elsewhere) else s.span

        summands = tuple(replace(s, coefficient=combine(s.coefficient, by), span=place(s)) for s in self.summands)
        return replace(self, summands=summands, span=span or self.span)

    def named(self, name: str) -> Combination:
        """The sum with the name of a `let` for every summand without a name."""
        return replace(self, summands=tuple(s if s.name else replace(s, name=name) for s in self.summands))


Value = Expr | Combination


def merged(summands: tuple[Summand, ...]) -> tuple[Summand, ...]:
    """The summands with like terms added up, in the order of first appearance, so that signs are those of the sum. Affine ones stay apart."""
    places: dict[AppliedAtom, int] = {}
    out: list[Summand] = []
    for s in summands:
        if not isinstance(s.body, AppliedAtom):
            out.append(s)
            continue
        place = places.setdefault(s.body, len(out))
        if place == len(out):
            out.append(s)
        else:
            first = out[place]
            both = algebra.plus(first.coefficient, s.coefficient)
            out[place] = replace(first, coefficient=both, name=first.name or s.name)
    return tuple(out)


def as_term(s: Summand, text: str = "") -> Term:
    """The model's term of a summand; `text` is what is written where it is affine."""
    if isinstance(s.body, Expr):
        return Term("affine", "", s.coefficient, s.body, name=s.name, text=text, span=s.span)
    p = s.body
    return Term(
        p.kind, p.atom, s.coefficient, p.argument, p.target, p.weights, p.reduce, p.options, s.name, p.text, s.span
    )
