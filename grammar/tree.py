"""The syntax tree, which has a node with its span for each construct, and no mathematics.

Brackets are not nodes: a nested `Sum` or `Product` says where they stood, and the formatter writes those that the tree
needs. Two trees are equal when they say the same: spans and spellings do not count (`1_000` equals `1000`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields
from typing import Any, Literal

from fwdsl.grammar.source import Source, Span
from fwdsl.light_dataclass import value_dataclass

NOWHERE = Span(0, 0)


_NAMES: dict[tuple[Any, bool], tuple[str, ...]] = {}
"""The names that `names_of` has found: `fields` makes its tuple anew at every call."""


def names_of(node: type[Node], compared: bool = False) -> tuple[str, ...]:
    """The names of a node's fields; of those that count in comparisons alone."""
    key = (node, compared)
    if key not in _NAMES:
        _NAMES[key] = tuple(f.name for f in fields(node) if f.compare or not compared)
    return _NAMES[key]


@value_dataclass
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


@value_dataclass
class Ident(Node):
    """A name in its declaration, or the name of a function, option or argument."""

    name: str


# --- expressions ---------------------------------------------------------------------------------------------------


@value_dataclass
class Number(Node):
    """`1`, `1.5`, `.5`, `1e-3`, `1_000`, `inf`; `text` is the spelling."""

    value: float
    text: str = field(default="", compare=False)

    @property
    def is_integer(self) -> bool:
        """True if the number was written as a whole number (`2`, not `2.0`)."""
        return self.value == self.value // 1 and abs(self.value) < 2**53 and not set(self.text) & set(".eE")


@value_dataclass
class Boolean(Node):
    """`true` or `false`."""

    value: bool


@value_dataclass
class String(Node):
    """A quoted text; `value` has its escapes resolved."""

    value: str


@value_dataclass
class Name(Node):
    """A use of a name."""

    id: str


@value_dataclass
class Neg(Node):
    """Unary minus in front of a single operand (in a sum the first sign belongs to the `Sum`)."""

    operand: Expr


@value_dataclass
class Sum(Node):
    """`a + b - c`: at least two terms, `signs[i]` is +1 or -1; the first may be -1 (`-a + b`)."""

    terms: tuple[Expr, ...]
    signs: tuple[int, ...]


@value_dataclass
class Product(Node):
    """`a * b / c @ d`, from left to right: at least two factors, `ops[i]` stands between `factors[i]` and the next."""

    factors: tuple[Expr, ...]
    ops: tuple[Literal["*", "/", "@"], ...]


@value_dataclass
class Transpose(Node):
    """`A.T`."""

    operand: Expr


@value_dataclass
class Keyword(Node):
    """`name=value` in a call, a source or a solve option."""

    name: Ident
    value: Expr


@value_dataclass
class Call(Node):
    """`f(a, b, c=d)`: losses, norms, sets, sources, feature maps."""

    func: Ident
    args: tuple[Expr, ...] = ()
    keywords: tuple[Keyword, ...] = ()


@value_dataclass
class Slice(Node):
    """`start:stop:step` inside an index; each may be absent."""

    start: Expr | None = None
    stop: Expr | None = None
    step: Expr | None = None


@value_dataclass
class Index(Node):
    """`x[0:5]`, `W[:, 2]`, `B[M]`, `F[task]`."""

    base: Expr
    items: tuple[Expr | Slice, ...]


@value_dataclass
class List(Node):
    """`[1, 2]`, `[[1, 0], [0, 2]]`."""

    items: tuple[Expr, ...]


Expr = Number | Boolean | String | Name | Neg | Sum | Product | Transpose | Call | Index | List

# --- types ---------------------------------------------------------------------------------------------------------


@value_dataclass
class TypeExpr(Node):
    """`matrix[n, d]`, `entries[n, p] of signs`, `index[n] of T`, `family[T] of psd[d]`, `psd[dim(Phi)]`.

    `dims` holds names, numbers, calls (`dim(Phi)`), sums and products of them; `of` is what follows `of`: a type, or for `index` a dimension.
    """

    name: Ident
    dims: tuple[Expr, ...] = ()
    of: TypeExpr | Expr | None = None


# --- statements ----------------------------------------------------------------------------------------------------


@value_dataclass
class Item(Node):
    """One declaration of `data`, `param` or `var`: `name: type [in set] [from source | = value]`."""

    name: Ident
    type: TypeExpr
    member: Expr | None = None
    source: Call | None = None
    value: Expr | None = None


@value_dataclass
class Version(Node):
    """`fw 1`."""

    number: Number


@value_dataclass
class ProblemName(Node):
    """`problem NAME`."""

    name: Ident


@value_dataclass
class Declaration(Node):
    """`data`, `param` or `var` and its items."""

    kind: Literal["data", "param", "var"]
    items: tuple[Item, ...]


@value_dataclass
class Let(Node):
    """`let NAME = EXPR`."""

    name: Ident
    value: Expr


@value_dataclass
class Objective(Node):
    """`minimize EXPR` or `maximize EXPR`."""

    sense: Literal["minimize", "maximize"]
    value: Expr


@value_dataclass
class Comparison(Node):
    """`a <= b`, `0 <= x <= 1`, `norm1(x) <= r`, `A @ x == b`: `len(ops) + 1` operands."""

    operands: tuple[Expr, ...]
    ops: tuple[Literal["<=", ">=", "=="], ...]


@value_dataclass
class Member(Node):
    """`x in SET`; the set is a `Name` (`nonnegative`) or a `Call` (`l1_ball(5)`)."""

    value: Expr
    set: Expr


@value_dataclass
class NamedRelation(Node):
    """One constraint of `subject to`, with its name, if any (`budget: sum(x) == 1`)."""

    relation: Comparison | Member
    name: Ident | None = None


@value_dataclass
class SubjectTo(Node):
    """`subject to` and its constraints."""

    constraints: tuple[NamedRelation, ...]


@value_dataclass
class Solve(Node):
    """`solve tol = 1e-6, method = pdhg(restart=true)`; a quantity with a unit (`60 s`, `5 min`) is a `Number` in seconds
    whose `text` keeps the unit."""

    options: tuple[Keyword, ...]


Statement = Version | ProblemName | Declaration | Let | Objective | SubjectTo | Solve


@value_dataclass
class Comment(Node):
    """`# text`. `own_line` says that no code stands in front of the comment."""

    text: str
    own_line: bool


@value_dataclass
class Program(Node):
    """A whole file, without the statements that could not be parsed.

    `lost` are the names that these may declare, so that no later stage calls the names unknown.
    """

    statements: tuple[Statement, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False)
    source: Source = field(default_factory=lambda: Source("<text>", ""), compare=False)
    lost: tuple[str, ...] = field(default=(), compare=False)
