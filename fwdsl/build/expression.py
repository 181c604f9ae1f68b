"""Expressions, sets and constraints as Python objects over the syntax tree.

The operators of an `Expression` make the same node as the parser makes of the same text. Sums and products are flat from left to
right, and a bracketed sum or product stays nested. `__array_ufunc__ = None` and `__array_priority__` make NumPy and SciPy leave `A @ x`,
`A * x`, `A + x` and comparisons to the expression, for every array format;
`__pandas_priority__` does so for series and frames, but for their `@`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Literal, NoReturn

from ..errors import misuse
from ..grammar import tree
from .built import Built, Stated, describe_value
from .convert import as_weights, identifier, operand
from .indexing import indexed
from .naming import text_of


def _refused(operator: str, hint: str) -> Callable[..., NoReturn]:
    """A method for an operator of Python that the language lacks."""

    def refuse(*operands: object) -> NoReturn:
        raise misuse("FW0303", f"the language has no operator {operator} for expressions", hint=hint)

    return refuse


class Expression(Built):
    """An expression of the language, such as `X @ beta` or `fw.mean(fw.logistic(X @ beta, y))`. Its repr is its text."""

    __slots__ = ()
    __array_ufunc__ = None
    __array_priority__ = 1e6
    __pandas_priority__ = 1e6

    # --- arithmetic ------------------------------------------------------------------------------------------------

    def __add__(self, other: object) -> Expression:
        return _sum(self, other, +1)

    def __radd__(self, other: object) -> Expression:
        # The built-in `sum` starts from the integer 0.
        return self if type(other) is int and other == 0 else _sum(other, self, +1)

    def __sub__(self, other: object) -> Expression:
        return _sum(self, other, -1)

    def __rsub__(self, other: object) -> Expression:
        return _sum(other, self, -1)

    def __mul__(self, other: object) -> Expression:
        return _product(self, other, "*")

    def __rmul__(self, other: object) -> Expression:
        return _product(other, self, "*")

    def __truediv__(self, other: object) -> Expression:
        return _product(self, other, "/")

    def __rtruediv__(self, other: object) -> Expression:
        return _product(other, self, "/")

    def __matmul__(self, other: object) -> Expression:
        return _product(self, other, "@")

    def __rmatmul__(self, other: object) -> Expression:
        return _product(other, self, "@")

    def __neg__(self) -> Expression:
        return Expression(tree.Neg(self.node), self.depth + 1, self.per_sample)

    def __pos__(self) -> Expression:
        return self

    @property
    def T(self) -> Expression:
        return Expression(tree.Transpose(self.node), self.depth + 1)

    def __getitem__(self, index: object) -> Expression:
        """`x[0:5]`, `x[-1]`, `W[:, 2]`, `B[M]` (observed entries), `F[task]` (blocks of a family)."""
        return Expression(indexed(self, index), self.depth + 1)

    # --- constraints -----------------------------------------------------------------------------------------------

    def __le__(self, other: object) -> Constraint:
        return _comparison(self, other, "<=")

    def __ge__(self, other: object) -> Constraint:
        return _comparison(self, other, ">=")

    def __eq__(self, other: object) -> Constraint:  # type: ignore[override]
        return _comparison(self, other, "==")

    __hash__ = object.__hash__

    def in_(self, members: SetExpression) -> Constraint:
        """The constraint `self in members`: `x.in_(fw.l1_ball(5))`."""
        if not isinstance(members, SetExpression):
            raise misuse(
                "FW0309",
                f"in_(...) takes a set, and got {describe_value(members)}",
                hint="write for example x.in_(fw.l1_ball(5)) or x.in_(fw.nonnegative)",
            )
        return Constraint(tree.Member(self.node, members.node))

    # --- operations of Python that the language lacks ----------------------------------------------------------------

    __ne__ = _refused("!=", "the set of points that differ is not convex")
    __lt__ = _refused("<", "write <= : constraints are closed")
    __gt__ = _refused(">", "write >= : constraints are closed")
    __pow__ = _refused(
        "**",
        "write fw.sum_squares(x) for the sum of squares, fw.square(x) or fw.power(x, p) of each entry, or fw.squared(z, b) per sample",
    )
    __rpow__ = _refused("**", "a variable cannot be an exponent")
    __abs__ = _refused(
        "abs()",
        "write fw.norm1(x) for the sum of absolute values, fw.abs(x) of each entry, or fw.absolute(z, b) per sample",
    )
    __floordiv__ = _refused("//", "write /")
    __mod__ = _refused("%", "there is no remainder of a convex expression")

    def __bool__(self) -> NoReturn:
        raise misuse(
            "FW0301",
            f"the expression {self!r} was used as a truth value",
            rule="Expressions have no truth value: `and`, `or`, `not` and `if` cannot be applied to them.",
            hint="pass several constraints as separate arguments of fw.minimize",
        )

    def __contains__(self, item: object) -> NoReturn:
        raise _no_in()

    def __iter__(self) -> NoReturn:
        raise misuse(
            "FW0308",
            f"the expression {self!r} cannot be iterated over",
            rule="An expression stands for a whole vector or matrix; its size may be unknown until data is bound.",
            hint="use fw.sum(x), or a slice such as x[0:5]",
        )

    def __array__(self, dtype: object = None, copy: object = None) -> Any:
        """An array of objects that holds the expression, as NumPy makes it of any object. Refuses the multiplication of pandas, which asks for
        the array and fails on it: nothing else keeps a frame or a series from multiplying by itself."""
        asking = sys._getframe(1)
        if asking.f_code.co_name == "dot" and str(asking.f_globals.get("__name__")).startswith("pandas."):
            raise misuse(
                "FW0307",
                "pandas cannot multiply by an expression",
                rule="pandas computes with numbers; an expression stands for numbers that are not known yet.",
                hint='name the frame first, as in fw.data("X", frame) @ w, which keeps the names of its columns; or write frame.to_numpy() @ w',
            )
        import numpy as np

        made = np.empty((), object)
        made[()] = self
        return made

    def __array_function__(self, func: Any, types: object, args: object, kwargs: object) -> NoReturn:
        name = getattr(func, "__name__", "a NumPy function")
        raise misuse(
            "FW0307",
            f"numpy.{name} cannot take an expression",
            rule="NumPy computes with numbers; an expression stands for numbers that are not known yet.",
            hint={"dot": "write A @ x", "matmul": "write A @ x"}.get(
                name, "use fwdsl's own functions, such as fw.sum, fw.mean, fw.dot"
            ),
        )


class SetExpression(Stated):
    """A set, such as `fw.l1_ball(5)` or `fw.nonnegative`. Write membership as `x.in_(set)`."""

    __slots__ = ("node",)
    sort = "set"

    def __init__(self, node: tree.Name | tree.Call) -> None:
        self.node = node

    def __contains__(self, item: object) -> NoReturn:
        raise _no_in()

    def __repr__(self) -> str:
        return text_of(self.node)


class Constraint(Stated):
    """A constraint, such as `fw.norm1(x) <= 5` or `x.in_(fw.simplex(1))`; `.named("budget")` gives it a name."""

    __slots__ = ("name", "relation")
    __array_ufunc__ = None
    sort = "constraint"

    def __init__(self, relation: tree.Comparison | tree.Member, name: str | None = None) -> None:
        self.relation = relation
        self.name = name

    def named(self, name: str) -> Constraint:
        """The same constraint with a name. `sol.dual[name]` is its dual."""
        return Constraint(self.relation, identifier(name))

    @property
    def node(self) -> tree.NamedRelation:
        """The constraint as a node of the syntax tree."""
        return tree.NamedRelation(self.relation, None if self.name is None else tree.Ident(self.name))

    def __bool__(self) -> NoReturn:
        raise misuse(
            "FW0301",
            f"the constraint `{self!r}` was used as a truth value, as a chained comparison does",
            rule="Python reads `a <= x <= b` as `(a <= x) and (x <= b)`, which would drop one of the two.",
            hint="write two constraints, or x.in_(fw.box(a, b))",
        )

    def _chained(self, other: object) -> NoReturn:
        raise misuse(
            "FW0301",
            f"the constraint `{self!r}` was compared once more",
            rule="A constraint is not a number.",
            hint="write two constraints, or x.in_(fw.box(a, b))",
        )

    __le__ = __ge__ = __lt__ = __gt__ = _chained

    def __repr__(self) -> str:
        return text_of(self.node)


def _no_in() -> Exception:
    return misuse(
        "FW0302",
        "Python's `in` cannot make a constraint",
        rule="Python turns the answer of `in` into True or False at once.",
        hint="write x.in_(fw.l1_ball(5))",
    )


def _operands(left: object, right: object) -> tuple[Built, Built]:
    return operand(left), operand(right)


def _sum(left: object, right: object, sign: int) -> Expression:
    a, b = _operands(left, right)
    terms: tuple[tree.Expr, ...]
    signs: tuple[int, ...]
    if isinstance(a.node, tree.Sum):
        terms, signs, depth = a.node.terms, a.node.signs, a.depth
    elif isinstance(a.node, tree.Neg):
        terms, signs, depth = (a.node.operand,), (-1,), a.depth
    else:
        terms, signs, depth = (a.node,), (1,), a.depth + 1
    added = b.node
    if isinstance(added, tree.Neg):
        added, sign = added.operand, -sign
    return Expression(tree.Sum((*terms, added), (*signs, sign)), max(depth, b.depth + 1), a.per_sample or b.per_sample)


def _product(left: object, right: object, op: Literal["*", "/", "@"]) -> Expression:
    a, b = _operands(left, right)
    if op in "*@" and b.per_sample:
        a = as_weights(a)
    if a.per_sample:
        b = as_weights(b)
    first, negative = (a.node.operand, True) if isinstance(a.node, tree.Neg) else (a.node, False)
    factors: tuple[tree.Expr, ...]
    ops: tuple[Literal["*", "/", "@"], ...]
    if isinstance(first, tree.Product):
        factors, ops, depth = first.factors, first.ops, a.depth
    else:
        factors, ops, depth = (first,), (), a.depth + 1
    product = tree.Product((*factors, b.node), (*ops, op))
    node = tree.Neg(product) if negative else product
    # weights @ losses is one number
    return Expression(node, max(depth, b.depth + 1), op != "@" and (a.per_sample or b.per_sample))


def _comparison(left: object, right: object, op: Literal["<=", ">=", "=="]) -> Constraint:
    a, b = _operands(left, right)
    return Constraint(tree.Comparison((a.node, b.node), (op,)))
