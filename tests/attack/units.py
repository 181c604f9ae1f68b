"""A program written in other units: the same problem exactly, with other numbers.

Each variable x is replaced by x' = u x, and each datum may be given in a unit of its own. A factor is carried through every expression of the
syntax tree (`A @ x` is in the unit of A times that of x, a square in the square of its unit), and where two sides must agree (the terms of a
sum, a target, a radius, the argument of `logistic`), a datum without a unit yet takes the one that is wanted; a number is put before what has
another. The objective as a whole is multiplied by a number, and so is every row of a constraint.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fwdsl.grammar import format_program, parse
from fwdsl.grammar.diagnostic import has_errors
from fwdsl.grammar.tree import (
    Call,
    Comparison,
    Declaration,
    Ident,
    Index,
    Item,
    Keyword,
    Let,
    Member,
    Name,
    NamedRelation,
    Neg,
    Number,
    Objective,
    Product,
    Program,
    Solve,
    SubjectTo,
    Sum,
    Transpose,
)

RESIDUAL = {
    "squared": 2,
    "absolute": 1,
    "quantile": 1,
    "huber": 2,
    "epsilon_insensitive": 1,
    "squared_epsilon_insensitive": 2,
    "poisson_rate": 1,
    "kl_div": 1,
    "rel_entr": 1,
}
"""Losses of a prediction and a target in one unit, and the power of it that they are in."""
IN_THE_UNIT = frozenset({"eps", "delta"})
"""Options of losses that are in the unit of the residual."""
UNITLESS = frozenset(
    "logistic hinge squared_hinge smooth_hinge poisson softmax multiclass_hinge weston_watkins entropy gamma_loss"
    " tweedie_loss log exp log1p log_sum_exp log_det tr_inv geo_mean".split()
)
NORMS = frozenset(
    "norm1 norm2 norm_inf norm_fro norm_nuc norm_spec norm21 norm1_inf max_rownorm2 max_rownorm1 group_norm rownorm2 norm_p max min"
    " sum_largest sum_smallest tv"
    " sorted_l1 lambda_max lambda_min sum_largest_eigs abs pos".split()
)
LINEAR = frozenset("sum mean trace diag diff cumsum vec".split())
STACKS = frozenset({"hstack", "vstack"})
PRODUCTS = frozenset({"conv", "outer", "kron"})
FEATURES = frozenset("rbf polynomial linear fourier random_binning standardize normalize intercept".split())
CONSTANTS = frozenset({"eye", "ones", "zeros", "dim"})
RADIUS_SECOND = frozenset({"ksupport_ball"})
ONLY_ONE_UNIT = frozenset({"birkhoff"})
FREE_TYPES = frozenset({"vector", "matrix", "tensor", "entries", "psd", "symmetric"})
"""Types of data that may be given in another unit; signs, labels and positions have none."""


@dataclass(frozen=True)
class Units:
    """Factors: of the objective, of variables and data by name (1 where they are not named), of the rows of constraints by their order."""

    objective: float = 1.0
    variables: Mapping[str, float] = field(default_factory=dict)
    data: Mapping[str, float] = field(default_factory=dict)
    rows: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Rescaled:
    """The program in the other units: objective' = `objective` times the objective, and so for the variables and data by name."""

    text: str
    objective: float
    variables: Mapping[str, float]
    data: Mapping[str, float]


class CannotRescaleError(Exception):
    """The program uses a construct whose unit is not known here."""


def rescale(text: str, units: Units) -> Rescaled:
    """The program in other units."""
    program, found = parse(text)
    if has_errors(found):
        raise ValueError(f"the program does not parse: {found[0].message}")
    return _Rewriter(units).program(program)


def scaled_values(values: Mapping[str, Any], rescaled: Rescaled) -> dict[str, Any]:
    """The data in the units of the program; observed entries are triplets."""
    out = {}
    for name, value in values.items():
        factor = rescaled.data.get(name, 1.0)
        if factor == 1.0:
            out[name] = value
        elif isinstance(value, tuple):
            out[name] = (*value[:-1], value[-1] * factor)
        elif getattr(value, "dtype", None) == "float32" and not (
            math.frexp(factor)[0] == 0.5 and 1e-20 < factor < 1e20
        ):
            out[name] = value.astype(float) * factor  # rounded to float32 it would be another problem
        else:
            out[name] = value * factor
    return out


def number(value: float) -> Any:
    return Number(value) if value >= 0 else Neg(Number(-value))


def times(factor: float, node: Any) -> Any:
    """factor * node, the factor multiplied into a number that is there already."""
    if factor == 1.0:
        return node
    if isinstance(node, Number):
        return number(node.value * factor)
    if isinstance(node, Neg):
        return Neg(times(factor, node.operand))
    if isinstance(node, Product) and node.ops[0] == "*" and isinstance(node.factors[0], Number | Neg):
        first = node.factors[0]
        if isinstance(first, Number) or isinstance(first.operand, Number):
            return replace(node, factors=(times(factor, first), *node.factors[1:]))
    if isinstance(node, Product) and "@" not in node.ops:
        return Product((number(factor), *node.factors), ("*", *node.ops))
    return Product((number(factor), node), ("*",))


class _Rewriter:
    def __init__(self, units: Units) -> None:
        self.units = units
        self.variables: dict[str, float] = {}
        self.data: dict[str, float | None] = {}  # None until a use decides
        self.lets: dict[str, tuple[float, bool]] = {}  # the factor, and whether variables are in it
        self.rows = 0

    def program(self, program: Program) -> Rescaled:
        for name in _whole_sets(program):
            self.variables[name] = 1.0
        for call in _all(program, Call):
            if call.func.name in FEATURES:
                self.data |= {n.id: 1.0 for n in _all(call, Name)}
        objective = 1.0
        statements: list[Any] = []
        for s in program.statements:
            if isinstance(s, Declaration):
                s = replace(s, items=tuple(self._item(s.kind, i) for i in s.items))
            elif isinstance(s, Let):
                value, factor = self.expr(s.value)
                self.lets[s.name.name] = (factor, self._varies(s.value))
                s = replace(s, value=value)
            elif isinstance(s, Objective):
                value, own = self.expr(s.value)
                objective = own * self.units.objective
                s = replace(s, value=self._distribute(self.units.objective, value))
            elif isinstance(s, SubjectTo):
                s = replace(s, constraints=tuple(self._constraint(c) for c in s.constraints))
            elif isinstance(s, Solve):
                pass
            statements.append(s)
        plain = format_program(Program(tuple(statements)))
        return Rescaled(plain, objective, self.variables, {n: f for n, f in self.data.items() if f is not None})

    def _item(self, kind: str, item: Item) -> Item:
        name = item.name.name
        if kind == "data" and item.type.name.name in FREE_TYPES and item.type.of is None:
            self.data.setdefault(name, None)
        if kind != "var":
            return item
        self.variables.setdefault(name, self.units.variables.get(name, 1.0))
        if item.member is None:
            return item
        return replace(item, member=self._set(item.member, self.variables[name]))

    def _distribute(self, factor: float, node: Any) -> Any:
        """The factor before each term, as a user would write it."""
        if isinstance(node, Sum):
            return replace(node, terms=tuple(times(factor, t) for t in node.terms))
        return times(factor, node)

    # --- constraints

    def _constraint(self, constraint: NamedRelation) -> NamedRelation:
        row = self.units.rows.get(self.rows, 1.0)
        self.rows += 1
        relation = constraint.relation
        if isinstance(relation, Member):
            value, factor = self.expr(relation.value)
            if isinstance(relation.set, Name) and relation.set.id in ONLY_ONE_UNIT:
                return replace(constraint, relation=replace(relation, value=times(1.0 / factor, value)))
            return replace(constraint, relation=replace(relation, value=value, set=self._set(relation.set, factor)))
        assert isinstance(relation, Comparison)
        first = next(o for o in relation.operands if self._varies(o))
        value, factor = self.expr(first)
        operands = [value if o is first else self.wanted(o, factor) for o in relation.operands]
        operands = [self._distribute(row, o) for o in operands]
        return replace(constraint, relation=replace(relation, operands=tuple(operands)))

    def _set(self, node: Any, factor: float) -> Any:
        """The set of the points that are `factor` times those of the set."""
        if isinstance(node, Name):
            if node.id == "simplex_product":
                return Call(Ident("rows"), (Call(Ident("simplex"), (number(factor),)),))
            if node.id in ONLY_ONE_UNIT and factor != 1.0:
                raise CannotRescaleError(node.id)
            return node
        name, args = node.func.name, list(node.args)
        if name in ("rows", "columns", "vec"):
            args[0] = self._set(args[0], factor)
        elif name in ("affine", "halfspace"):
            args[0], own = self.expr(args[0])
            args[1] = self.wanted(args[1], own * factor)
        elif name == "box":
            args = [self.wanted(a, factor) for a in args]
        else:
            at = 1 if name in RADIUS_SECOND else 0
            args[at] = self.wanted(args[at], factor)
        return replace(node, args=tuple(args))

    # --- expressions

    def wanted(self, node: Any, factor: float) -> Any:
        """The expression in the unit that is wanted."""
        out, own = self.expr(node, factor)
        return times(factor / own, out)

    def expr(self, node: Any, want: float | None = None) -> tuple[Any, float]:
        """The expression rewritten, and its factor; data without a unit take the one that makes it `want`, or else their own."""
        if isinstance(node, Name):
            return node, self._name(node.id, want)
        if isinstance(node, Number):
            return (number(node.value * want), want) if want is not None else (node, 1.0)
        if isinstance(node, Neg | Transpose):
            operand, factor = self.expr(node.operand, want)
            return replace(node, operand=operand), factor
        if isinstance(node, Index):
            base, factor = self.expr(node.base, want)
            return replace(node, base=base), factor
        if isinstance(node, Sum):
            return self._sum(node, want)
        if isinstance(node, Product):
            return self._product(node, want)
        if isinstance(node, Call):
            return self._call(node, want)
        return node, 1.0

    def _name(self, name: str, want: float | None) -> float:
        if name in self.variables:
            return self.variables[name]
        if name in self.lets:
            return self.lets[name][0]
        if name in self.data:
            own = self.data[name]
            if own is None:
                own = self.data[name] = want if want is not None else self.units.data.get(name, 1.0)
            return own
        return 1.0

    def _sum(self, node: Sum, want: float | None) -> tuple[Any, float]:
        """All terms in the unit that is wanted, else in that of the first with variables."""
        first = next((t for t in node.terms if self._varies(t)), node.terms[0])
        value, factor = self.expr(first, want)
        if want is not None:
            value, factor = times(want / factor, value), want
        return replace(node, terms=tuple(value if t is first else self.wanted(t, factor) for t in node.terms)), factor

    def _stacked(self, node: Call, want: float | None) -> tuple[Any, float]:
        total, factor = self._sum(Sum(node.args, (1,) * len(node.args)), want)
        return replace(node, args=total.terms), factor

    def _product(self, node: Product, want: float | None) -> tuple[Any, float]:
        """Factors with variables first, then data: the last that is free takes what is missing. A divisor has no unit but its own."""
        order = sorted(range(len(node.factors)), key=lambda i: (self._free(node.factors[i]), i))
        out, total = list(node.factors), 1.0
        last = order[-1]
        for i in order:
            divides = i > 0 and node.ops[i - 1] == "/"
            missing = None if want is None or i != last or divides else want / total
            if isinstance(node.factors[i], Number):
                continue
            if missing is not None and not self._free(node.factors[i]):
                missing = None
            out[i], factor = self.expr(node.factors[i], missing)
            total = total / factor if divides else total * factor
        return replace(node, factors=tuple(out)), total

    def _call(self, node: Call, want: float | None) -> tuple[Any, float]:
        name, args = node.func.name, node.args
        if (
            name in FEATURES
            or name in CONSTANTS
            or not any(n.id in known for n in _all(node, Name) for known in (self.variables, self.data, self.lets))
        ):
            return node, 1.0
        if name in STACKS:
            # all parts are in the unit of the first with variables, or with data that has one
            return self._stacked(node, want)
        if name in PRODUCTS:
            product, factor = self._product(Product((args[0], args[1]), ("@",)), want)
            return replace(node, args=product.factors), factor
        if name in LINEAR:
            value, factor = self.expr(args[0], want)
            return replace(node, args=(value, *args[1:])), factor
        if name in ("dot", "inner"):
            product, factor = self._product(Product((args[0], args[1]), ("@",)), want)
            return replace(node, args=(*product.factors, *args[2:])), factor
        if name == "quad":
            matrix, own = self.expr(args[1])
            rows, factor = self.expr(args[0], None if want is None else math.sqrt(want / own))
            return replace(node, args=(rows, matrix)), factor**2 * own
        if name in NORMS or name in ("sum_squares", "quad_form"):
            value, factor = self.expr(args[0])
            return replace(node, args=(value, *args[1:])), factor if name in NORMS else factor**2
        if name in UNITLESS:
            return replace(node, args=(self.wanted(args[0], 1.0), *args[1:])), 1.0
        if name in RESIDUAL:
            value, factor = self.expr(args[0])
            target = tuple(self.wanted(a, factor) for a in args[1:])
            options = tuple(
                Keyword(k.name, self.wanted(k.value, factor)) if k.name.name in IN_THE_UNIT else k
                for k in _options(node)
            )
            return replace(node, args=(value, *target), keywords=options), factor ** RESIDUAL[name]
        raise CannotRescaleError(name)

    # --- what is in an expression

    def _varies(self, node: Any) -> bool:
        names = {n.id for n in _all(node, Name)}
        return any(n in self.variables or (n in self.lets and self.lets[n][1]) for n in names)

    def _free(self, node: Any) -> bool:
        """True if some datum in it has no unit yet."""
        return any(self.data.get(n.id, 1.0) is None for n in _all(node, Name))


DEFAULTS = {"huber": ("delta", 1.0), "epsilon_insensitive": ("eps", 0.1), "squared_epsilon_insensitive": ("eps", 0.1)}


def _options(node: Call) -> tuple[Keyword, ...]:
    """The options of a loss, with the one in the unit of the residual written out."""
    name, value = DEFAULTS.get(node.func.name, ("", 0.0))
    if not name or any(k.name.name == name for k in node.keywords):
        return node.keywords
    return (*node.keywords, Keyword(Ident(name), Number(value)))


def _all(node: Any, kind: type) -> list[Any]:
    found, todo = [], [node]
    while todo:
        n = todo.pop()
        if isinstance(n, kind):
            found.append(n)
        todo += n.children()
    return found


def _whole_sets(program: Program) -> list[str]:
    """The variables declared in a set that exists in one unit only."""
    items = [i for s in program.statements if isinstance(s, Declaration) for i in s.items if i.member is not None]
    return [i.name.name for i in items if any(n.id in ONLY_ONE_UNIT for n in _all(i.member, Name))]
