"""Vectors of rows that stay with the rows: a driver's arithmetic on them is noted down, and done where the rows are.

A `RowVector` stands where a method has an array of predictions, of their slopes or curvatures. Sums, products and functions of entries make new ones,
which are nothing but an `Expression`: what is to be done, and to which others. Numbers come to the driver where it asks for a sum over rows: an inner
product, a loss, K'y, a Gram matrix. One question carries all expressions that its answer needs and the holders have not worked out yet, so a gradient
costs one round trip. Whatever a `RowVector` cannot do by itself it does as an array, whose numbers are then fetched.

An expression remembers what it is made of, down to the unknowns x. So holders keep nothing that could be lost: one that takes the place of another is
sent the expressions again. One that grew out of `DEEPEST` others is fetched once, and has its numbers from then on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.functions import FastLoss, FastRows
from fwdsl.canon.parts import SumTerm
from fwdsl.readers.held_rows import own_rows
from fwdsl.sums import Node, finish

DEEPEST = 48
"""The longest chain of expressions that is kept."""

ENTRYWISE = frozenset(
    f.__name__
    for f in (np.add, np.subtract, np.multiply, np.divide, np.negative, np.absolute, np.square, np.maximum, np.minimum)
)
"""Functions of entries that holders take: each rounds an entry the same way wherever it stands in a vector."""

Definition = tuple[int, str, tuple[Any, ...]]
Want = tuple[Any, ...]


class Ref(int):
    """The number of an expression among the arguments of another."""

    __slots__ = ()


class Evaluator:
    """The holder's side for the rows of one node, or of all: what expressions are worked out with.

    This part knows the loss `f` of `size` predictions; subclasses know what predictions are made of.
    """

    def __init__(self, f: FastLoss | FastRows, size: int) -> None:
        self.f, self.size = f, size
        self.known: dict[int, Array] = {}

    def define(self, number: int, what: str, args: Sequence[Any], rows: slice) -> None:
        """Work out one expression; `rows` are those of an array that is given."""
        own = [self.known[a] if isinstance(a, Ref) else a for a in args]
        self.known[number] = getattr(self, f"_{what}")(*own) if what != "given" else np.ascontiguousarray(own[0][rows])

    def want(self, what: str, args: Sequence[Any]) -> Any:
        """A value of the node."""
        own = [self.known[a] if isinstance(a, Ref) else a for a in args]
        return getattr(self, f"_{what}_of")(*own)

    # --- expressions --------------------------------------------------------------------------------------------------

    def _weights(self) -> Array:
        return self.f.f.w

    def _zeros(self) -> Array:
        return np.zeros(self.size)

    def _entrywise(self, name: str, *args: Any) -> Array:
        found: Array = getattr(np, name)(*args)
        return found

    def _gradient(self, z: Array) -> Array:
        out = np.empty_like(z)
        self.f.value_gradient(z, out)
        return out

    def _curvature(self, z: Array) -> Array:
        out = np.empty_like(z)
        self.f.curvature(z, out)
        return out

    def _bent(self, h: Array, v: Array) -> Array:
        return self.f.bent(h, v)

    # --- values -------------------------------------------------------------------------------------------------------

    def _vector_of(self, v: Array) -> Array:
        return v

    def _value_of(self, z: Array) -> float:
        return self.f.value(z)

    def _slope_of(self, z: Array, number: int) -> float:
        """The loss at z; its slopes become the expression of that number."""
        out = np.empty_like(z)
        found = self.f.value_gradient(z, out)
        self.known[int(number)] = out
        return found

    def _conjugate_of(self, y: Array) -> float:
        return self.f.conjugate(y)

    def _dot_of(self, a: Array, b: Array) -> float:
        return self.f.dot(a, b)


class TermEvaluator(Evaluator):
    """The evaluator of predictions K x + b, the map of a term."""

    def __init__(
        self,
        term: SumTerm,
        f: FastLoss | FastRows,
        apply: Callable[[Array], Array],
        gram: Callable[..., Array],
    ) -> None:
        super().__init__(f, term.map.rows)
        self.term, self._apply, self._gram = term, apply, gram

    def _image(self, x: Array) -> Array:
        return self._apply(x)

    def _offset(self) -> Array:
        return self.term.map.offset

    def _dot_of(self, a: Array, b: Array) -> float:
        return self.term.dot(a, b)

    def _adjoint_of(self, y: Array) -> Any:
        return self.term.map.partial(y)

    def _gram_of(self, free: Any, w: Array, single: bool, plan: Any) -> Array:
        return self._gram(free, w, single, plan)


class Holders(Protocol):
    """The holders of the rows of one term."""

    def run(
        self, question: Callable[[Collection[int]], tuple[Sequence[Definition], Sequence[Want], Sequence[int]]]
    ) -> list[tuple[Node, list[Any]]] | None:
        """The wanted values of all nodes, in the order of their rows; None where nobody can be asked any more.

        `question` makes the definitions, wants and numbers to forget for a holder that knows the expressions it is given.
        """

    def aligned(self, level: int) -> bool:
        """True if each node of this level has one holder."""


class Expression:
    """The making of one vector of rows. `pins` counts the vectors, and the expressions not yet worked out, that need its numbers with the holders."""

    def __init__(self, link: Link, what: str, args: tuple[Any, ...]) -> None:
        self.link, self.what, self.args = link, what, args
        self.number = Ref(next(link.numbers))
        self.pins, self.settled = 0, False
        self.depth: int = 1 + max((a.depth for a in args if isinstance(a, Expression)), default=0)
        for a in args:
            if isinstance(a, Expression):
                a.pins += 1

    def settle(self) -> None:
        """Note that holders have its numbers: those of its parts are needed no more."""
        if not self.settled:
            self.settled = True
            for a in self.args:
                if isinstance(a, Expression):
                    a.unpin()

    def unpin(self) -> None:
        """Let go of the numbers, where nobody else needs them."""
        self.pins -= 1
        if self.pins == 0:
            self.link.dropped.append(int(self.number))

    def __del__(self) -> None:
        if not self.settled:
            for a in self.args:
                if isinstance(a, Expression):
                    a.unpin()

    @property
    def definition(self) -> Definition:
        args = tuple(a.number if isinstance(a, Expression) else a for a in self.args)
        return int(self.number), self.what, args


class Link:
    """The way from one loss of `size` predictions to the holders of its rows; `own` works out what nobody can be asked for any more.

    Holders know the arrays `offset` and `weights` of the driver. Chains of expressions are up to `deepest` long; beyond that numbers are had, in
    memory or in what `store` makes. With `speculates` K'y is asked for beside y, unless that was in vain before.
    """

    def __init__(
        self,
        size: int,
        holders: Holders,
        own: Callable[[], Evaluator],
        offset: Array | None = None,
        weights: Array | None = None,
        speculates: bool = False,
        deepest: int = DEEPEST,
        store: Callable[[], Any] | None = None,
    ) -> None:
        self.size, self.holders, self._own = size, holders, own
        self.numbers = itertools.count(1)
        self.dropped: list[int] = []
        self.offset, self.weights = offset, weights
        self._alone: Evaluator | None = None
        self._speculates, self.deepest, self._store = speculates, deepest, store

    def vector(self, what: str, *args: Any) -> RowVector:
        """The vector of a new expression."""
        return RowVector(Expression(self, what, args))

    def given(self, value: Any) -> Any:
        """An operand as an expression, or a number as it is; None where it is neither of this size nor a number."""
        if isinstance(value, RowVector):
            return value.expression if value.expression.link is self else None
        if isinstance(value, np.ndarray) and value.ndim:
            if value.shape != (self.size,):
                return None
            if value is self.offset:
                return Expression(self, "offset", ())
            if value is self.weights:
                return Expression(self, "weights", ())
            return Expression(self, "given", (np.array(value, dtype=np.float64),))
        return float(value) if isinstance(value, int | float | np.number | np.ndarray) else None

    def ask(self, *wants: tuple[Any, ...]) -> list[list[tuple[Node, Any]]]:
        """The values of nodes for each want, whose arguments may be expressions."""
        needed = [a for want in wants for a in want if isinstance(a, Expression)]
        numbered = [tuple(a.number if isinstance(a, Expression) else a for a in want) for want in wants]
        dropped, self.dropped = self.dropped, []
        computed: dict[int, Expression] = {}
        own = [int(e.number) for e in needed if e.pins == 0]

        def question(known: Collection[int]) -> tuple[list[Definition], list[Want], list[int]]:
            missing = _missing(needed, known)
            computed.update((int(e.number), e) for e in missing)
            passing = [int(e.number) for e in missing if e.pins == 0]
            return [e.definition for e in missing], numbered, [*dropped, *passing, *own]

        found = self.holders.run(question)
        if found is None:
            found = self._ask_myself(question)
        for e in computed.values():
            e.settle()
        return [[(node, values[k]) for node, values in found] for k in range(len(wants))]

    def _ask_myself(self, question: Any) -> list[tuple[Node, list[Any]]]:
        if self._alone is None:
            self._alone = self._own()
        defined, wants, forgotten = question(self._alone.known)
        whole = slice(0, self.size)
        for number, what, args in defined:
            self._alone.define(number, what, own_rows(args, slice(None)), whole)
        values = [self._alone.want(want[0], own_rows(want[1:], slice(None))) for want in wants]
        for number in forgotten:
            self._alone.known.pop(number, None)
        return [((0, 0), values)]

    @property
    def is_stored(self) -> bool:
        """True if numbers are had in what `store` makes."""
        return self._store is not None

    def grounded(self, vector: RowVector) -> Expression:
        """The vector by its numbers, which need no other expression."""
        if self._store is None:
            return Expression(self, "given", (np.array(vector),))
        numbers = self._store()
        self.ask(("keep", vector.expression, numbers))
        return Expression(self, "given", (numbers,))

    def of_numbers(self, numbers: Array) -> Expression:
        """A vector by its numbers."""
        if self._store is None:
            return Expression(self, "given", (np.array(numbers, dtype=np.float64),))
        stored = self._store()
        stored[0 : self.size] = numbers
        return Expression(self, "given", (stored,))

    def number(self, what: str, *args: Any) -> float:
        """A sum over rows."""
        found = finish(self.ask((what, *args))[0])
        return 0.0 if found is None else float(found)

    def slope(self, z: Expression, out: RowVector) -> float:
        """The loss at z, and its slopes in `out`; K' times them comes along, unless that was in vain the last time."""
        further = [("adjoint",)] if self._speculates else []
        value, y, found = self.slope_and(z, *further)
        out.become(y)
        if self._speculates:
            out.adjoint, self._speculates = found[0], False
        return value

    def slope_and(self, z: Expression, *further: tuple[Any, ...]) -> tuple[float, Expression, list[Any]]:
        """The loss at z, its slopes y, and the values of nodes for further wants, whose first argument is y."""
        y = Expression(self, "gradient", (z,))
        # the loss makes the slopes known: later wants find them under their number
        y.settle()
        value, *found = self.ask(("slope", z, int(y.number)), *((what, y.number, *args) for what, *args in further))
        total = finish(value)
        return 0.0 if total is None else float(total), y, found

    def adjoint(self, y: RowVector) -> Any:
        """The sums over all rows that K'y is made of."""
        self._speculates = True
        nodes = y.adjoint
        if nodes is None:
            (nodes,) = self.ask(("adjoint", y.expression))
        y.adjoint = None
        return finish(nodes)


def _missing(needed: Sequence[Expression], known: Collection[int]) -> list[Expression]:
    """The expressions to be worked out for those needed, each after its parts."""
    order: list[Expression] = []
    seen: set[int] = set()
    stack = [(e, False) for e in reversed(needed)]
    while stack:
        e, done = stack.pop()
        if done:
            order.append(e)
        elif int(e.number) not in seen and int(e.number) not in known:
            seen.add(int(e.number))
            stack.append((e, True))
            stack.extend((a, False) for a in e.args if isinstance(a, Expression))
    return order


class RowVector(np.lib.mixins.NDArrayOperatorsMixin):
    """A vector with a number a row, or as many a row: an array, as far as its user can tell."""

    __array_priority__ = 1e6
    ndim = 1
    dtype = np.dtype(np.float64)

    def __init__(self, expression: Expression) -> None:
        self.expression = expression
        expression.pins += 1
        #: The values of nodes of K' times it, where they came along.
        self.adjoint: Any = None
        self._numbers: Array | None = None
        if expression.depth > expression.link.deepest:
            self.become(expression.link.grounded(self))

    def become(self, expression: Expression) -> None:
        """Take other values."""
        expression.pins += 1
        self.expression.unpin()
        self.expression, self._numbers, self.adjoint = expression, None, None

    def __del__(self) -> None:
        if "expression" in vars(self):
            self.expression.unpin()

    @property
    def size(self) -> int:
        return self.expression.link.size

    @property
    def shape(self) -> tuple[int]:
        return (self.size,)

    def __len__(self) -> int:
        return self.size

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The numbers, which are fetched once; they cannot be written to."""
        if self._numbers is None:
            e = self.expression
            if e.what == "given":
                numbers = e.args[0][0 : self.size]
            else:
                (found,) = e.link.ask(("vector", e))
                numbers = np.concatenate([rows for _, rows in found]) if found else np.zeros(0)
            numbers.flags.writeable = False
            self._numbers = numbers
        if dtype is not None and np.dtype(dtype) != self.dtype:
            return self._numbers.astype(dtype)
        return self._numbers.copy() if copy else self._numbers

    def copy(self, order: str = "C") -> RowVector:
        found = RowVector(self.expression)
        found.adjoint = self.adjoint
        return found

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        link = self.expression.link
        (out,) = keywords.pop("out", (None,))
        if method == "__call__" and ufunc.__name__ in ENTRYWISE and not keywords:
            args = [link.given(v) for v in inputs]
            if all(a is not None for a in args):
                found = link.vector("entrywise", ufunc.__name__, *args)
                if isinstance(out, RowVector):
                    out.become(found.expression)
                    return out
                if out is None:
                    return found
                out[...] = np.asarray(found)
                return out
        numbers = [np.asarray(v) if isinstance(v, RowVector) else v for v in inputs]
        result = getattr(ufunc, method)(*numbers, **keywords)
        return result if out is None else _put(out, result)

    def __array_function__(self, fn: Any, types: Any, args: Any, keywords: Any) -> Any:
        link = self.expression.link
        if fn in (np.empty_like, np.zeros_like) and len(args) == 1 and not keywords:
            return link.vector("zeros")
        out = keywords.pop("out", None)
        result = fn(*_landed(args), **_landed(keywords))
        return result if out is None else _put(out, result)

    def __setitem__(self, at: Any, value: Any) -> None:
        if isinstance(at, slice) and at == slice(None) and isinstance(value, RowVector):
            self.become(value.expression)
            return
        numbers = np.array(self)
        numbers[at] = value
        self.become(Expression(self.expression.link, "given", (numbers,)))

    def __getattr__(self, name: str) -> Any:
        """Whatever else an array has, of the numbers."""
        if name.startswith("__") or "expression" not in vars(self):
            raise AttributeError(name)
        return getattr(np.asarray(self), name)

    def __getitem__(self, at: Any) -> Any:
        return np.asarray(self)[at]

    def __reduce__(self) -> Any:
        return np.array, (np.array(self),)


def _put(out: Any, result: Any) -> Any:
    into = out[0] if isinstance(out, tuple) else out
    into[...] = result
    return into


def _landed(value: Any) -> Any:
    """Arguments with arrays in the place of vectors of rows."""
    if isinstance(value, RowVector):
        return np.asarray(value)
    if isinstance(value, list | tuple):
        return type(value)(_landed(v) for v in value)
    return {k: _landed(v) for k, v in value.items()} if isinstance(value, dict) else value
