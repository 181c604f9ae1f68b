"""The syntax tree, which has a node with its span for each construct, and no mathematics.

Brackets are not nodes: a nested `Sum` or `Product` says where they stood, and the formatter writes those that the tree
needs. Two trees are equal when they say the same: spans and spellings do not count (`1_000` equals `1000`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from fwdsl.grammar.source import Source, Span

NOWHERE = Span(0, 0)


_NAMES: dict[tuple[Any, bool], tuple[str, ...]] = {}
"""The names that `names_of` has found: `fields` makes its tuple anew at every call."""


def names_of(node: type[Node], compared: bool = False) -> tuple[str, ...]:
    """The names of a node's fields; of those that count in comparisons alone."""
    key = (node, compared)
    if key not in _NAMES:
        _NAMES[key] = tuple(f.name for f in fields(node) if f.compare or not compared)
    return _NAMES[key]


@dataclass(frozen=True, slots=True)
class Node:
    """Base of all nodes."""

    span: Span = field(default=NOWHERE, compare=False, kw_only=True)

    def children(self) -> Iterator[Node]:
        """Direct subnodes, in the order of the text."""
        for name in names_of(type(self)):
            value = getattr(self, name)
            if isinstance(value, Node):
                yield value
            elif isinstance(value, tuple):
                yield from (v for v in value if isinstance(v, Node))


@dataclass(frozen=True, slots=True)
class Ident(Node):
    """A name in its declaration, or the name of a function, option or argument."""

    name: str


# --- expressions ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number(Node):
    """`1`, `1.5`, `.5`, `1e-3`, `1_000`, `inf`; `text` is the spelling."""

    value: float
    text: str = field(default="", compare=False)

    @property
    def is_integer(self) -> bool:
        """True if the number was written as a whole number (`2`, not `2.0`)."""
        return self.value == self.value // 1 and abs(self.value) < 2**53 and not set(self.text) & set(".eE")


@dataclass(frozen=True, slots=True)
class Boolean(Node):
    """`true` or `false`."""

    value: bool


@dataclass(frozen=True, slots=True)
class String(Node):
    """A quoted text; `value` has its escapes resolved."""

    value: str


@dataclass(frozen=True, slots=True)
class Name(Node):
    """A use of a name."""

    id: str


@dataclass(frozen=True, slots=True)
class Neg(Node):
    """Unary minus in front of a single operand (in a sum the first sign belongs to the `Sum`)."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Sum(Node):
    """`a + b - c`: at least two terms, `signs[i]` is +1 or -1; the first may be -1 (`-a + b`)."""

    terms: tuple[Expr, ...]
    signs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Product(Node):
    """`a * b / c @ d`, from left to right: at least two factors, `ops[i]` stands between `factors[i]` and the next."""

    factors: tuple[Expr, ...]
    ops: tuple[Literal["*", "/", "@"], ...]


@dataclass(frozen=True, slots=True)
class Transpose(Node):
    """`A.T`."""

    operand: Expr


@dataclass(frozen=True, slots=True)
class Keyword(Node):
    """`name=value` in a call, a source or a solve option."""

    name: Ident
    value: Expr


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`f(a, b, c=d)`: losses, norms, sets, sources, feature maps."""

    func: Ident
    args: tuple[Expr, ...] = ()
    keywords: tuple[Keyword, ...] = ()


@dataclass(frozen=True, slots=True)
class Slice(Node):
    """`start:stop:step` inside an index; each may be absent."""

    start: Expr | None = None
    stop: Expr | None = None
    step: Expr | None = None


@dataclass(frozen=True, slots=True)
class Index(Node):
    """`x[0:5]`, `W[:, 2]`, `B[M]`, `F[task]`."""

    base: Expr
    items: tuple[Expr | Slice, ...]


@dataclass(frozen=True, slots=True)
class List(Node):
    """`[1, 2]`, `[[1, 0], [0, 2]]`."""

    items: tuple[Expr, ...]


Expr = Number | Boolean | String | Name | Neg | Sum | Product | Transpose | Call | Index | List

# --- types ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeExpr(Node):
    """`matrix[n, d]`, `entries[n, p] of signs`, `index[n] of T`, `family[T] of psd[d]`, `psd[dim(Phi)]`.

    `dims` holds names, numbers, calls (`dim(Phi)`), sums and products of them; `of` is what follows `of`: a type, or for `index` a dimension.
    """

    name: Ident
    dims: tuple[Expr, ...] = ()
    of: TypeExpr | Expr | None = None


# --- statements ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Item(Node):
    """One declaration of `data`, `param` or `var`: `name: type [in set] [from source | = value]`."""

    name: Ident
    type: TypeExpr
    member: Expr | None = None
    source: Call | None = None
    value: Expr | None = None


@dataclass(frozen=True, slots=True)
class Version(Node):
    """`fw 1`."""

    number: Number


@dataclass(frozen=True, slots=True)
class ProblemName(Node):
    """`problem NAME`."""

    name: Ident


@dataclass(frozen=True, slots=True)
class Declaration(Node):
    """`data`, `param` or `var` and its items."""

    kind: Literal["data", "param", "var"]
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Let(Node):
    """`let NAME = EXPR`."""

    name: Ident
    value: Expr


@dataclass(frozen=True, slots=True)
class Objective(Node):
    """`minimize EXPR` or `maximize EXPR`."""

    sense: Literal["minimize", "maximize"]
    value: Expr


@dataclass(frozen=True, slots=True)
class Comparison(Node):
    """`a <= b`, `0 <= x <= 1`, `norm1(x) <= r`, `A @ x == b`: `len(ops) + 1` operands."""

    operands: tuple[Expr, ...]
    ops: tuple[Literal["<=", ">=", "=="], ...]


@dataclass(frozen=True, slots=True)
class Member(Node):
    """`x in SET`; the set is a `Name` (`nonnegative`) or a `Call` (`l1_ball(5)`)."""

    value: Expr
    set: Expr


@dataclass(frozen=True, slots=True)
class NamedRelation(Node):
    """One constraint of `subject to`, with its name, if any (`budget: sum(x) == 1`)."""

    relation: Comparison | Member
    name: Ident | None = None


@dataclass(frozen=True, slots=True)
class SubjectTo(Node):
    """`subject to` and its constraints."""

    constraints: tuple[NamedRelation, ...]


@dataclass(frozen=True, slots=True)
class Solve(Node):
    """`solve tol = 1e-6, method = pdhg(restart=true)`; a quantity with a unit (`60 s`, `5 min`) is a `Number` in seconds
    whose `text` keeps the unit."""

    options: tuple[Keyword, ...]


Statement = Version | ProblemName | Declaration | Let | Objective | SubjectTo | Solve


@dataclass(frozen=True, slots=True)
class Comment(Node):
    """`# text`. `own_line` says that no code stands in front of the comment."""

    text: str
    own_line: bool


@dataclass(frozen=True, slots=True)
class Program(Node):
    """A whole file, without the statements that could not be parsed.

    `lost` are the names that these may declare, so that no later stage calls the names unknown.
    """

    statements: tuple[Statement, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False)
    source: Source = field(default_factory=lambda: Source("<text>", ""), compare=False)
    lost: tuple[str, ...] = field(default=(), compare=False)
