r"""Slack variables are minimised out: the least s above two multiples of one expression is a loss of it.

    min over s of  c 1's + a 1'e  subject to  s >= e, s >= r e  (r <= 0)     =     sum_i (c + a) max(0, e_i) - (c r + a) max(0, -e_i)

which is `hinge` (r = a = 0), `absolute` or `norm1` (r = -1, a = 0), else `quantile`. With c s's in the place of c 1's it is `squared_hinge` (r = 0)
or `sum_squares` (r = -1), and with one s for all entries, r = -1, `norm_inf`. The multipliers follow from

    lambda_1 + lambda_2 = c,   lambda_1 + r lambda_2 = y - a,   y the slope of the loss in e.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from ...atoms.base import Array
from ...check import algebra, shapes
from ...check.scalars import scalar_sign, tidied
from ...light_dataclass import light_dataclass
from ...model import ConstraintDecl, Expr, SetRef, Term, VarDecl
from ...words import ABSOLUTE, CONVEX, HINGE, LARGEST_SIZE, LOSSES, QUANTILE, SIZES, SQUARED_HINGE, SQUARES
from ..affine import AffineReader
from .draft import Draft, Duals, Key, RewritingStep
from .expressions import Split, multiple_of, number_and_rest, parts, plus, split, sum_of, target_of, times

Kind = Literal["linear", "squares", "largest"]


@light_dataclass
class Bound:
    """s >= e, which `sign` times a constraint's argument <= 0 says: that argument is k (s - e), k < 0."""

    key: Key
    sign: float
    k: float
    e: Expr


@light_dataclass
class Cost:
    """c times the sum (or mean) of s, `beside` what else the sum has of the same coefficient; or c times its squares."""

    c: Expr
    reduce: Literal["sum", "mean"]
    kind: Kind
    beside: tuple[tuple[Expr, Expr], ...] = ()


@light_dataclass
class Slack(RewritingStep):
    """A variable minimised out. `above` bounds it by e, `below` by r e (None where that is its sign); the loss is of `turned` e."""

    name: str
    kind: Kind
    above: Bound
    below: Bound | None
    r: float
    c: Expr
    a: Expr
    turned: float
    made: Key
    reduce: str
    sense: int
    fact: str

    def place(self, reader: AffineReader, x: Array, known: dict[Key, Array]) -> None:
        """s = max(e, r e)."""
        e = reader.stacked(self.above.e).apply(x)
        s = np.maximum(e, self.r * e)
        x[reader.blocks[self.name].slice] = s.max(initial=0.0) if self.kind == "largest" else s

    def _weights(self, duals: Duals, n: int) -> tuple[float, float]:
        share = self.sense / max(1, n) if self.reduce == "mean" else float(self.sense)
        return share * duals.reader.scalar(self.c), share * duals.reader.scalar(self.a)

    def multipliers(self, duals: Duals) -> None:
        """lambda_1 and lambda_2, each for the constraint that states its bound."""
        y = duals.known.get(self.made)
        if y is None:
            return
        y = self.turned * y
        c, a = self._weights(duals, y.size)
        if self.kind == "linear":
            # a y that is beyond its ends by rounding is no reason for a negative multiplier
            lower = np.clip((c - (y - a)) / (1.0 - self.r), 0.0, c)
            upper = c - lower
        else:
            upper, lower = np.maximum(y, 0.0), np.maximum(-y, 0.0)
        if self.kind == "largest" and y.size:
            spare = max(c - float(np.abs(y).sum()), 0.0)
            upper[0], lower[0] = upper[0] + 0.5 * spare, lower[0] + 0.5 * spare
        for bound, value in ((self.above, upper), (self.below, lower)):
            if bound is not None:
                duals.known[bound.key] = bound.sign * value / -bound.k

    def inward(self, duals: Duals) -> None:
        """y = lambda_1 + r lambda_2 + a."""
        above = duals.known.get(self.above.key)
        below = duals.known.get(self.below.key) if self.below is not None else np.zeros(0)
        if above is None or below is None:
            return
        y = self.above.sign * -self.above.k * above
        if self.below is not None:
            y = y + self.r * self.below.sign * -self.below.k * below
        duals.known[self.made] = self.turned * (y + self._weights(duals, y.size)[1])


def slackened(draft: Draft) -> tuple[Draft, Slack] | None:
    """The model without the first slack variable."""
    for variable in draft.model.variables:
        if variable.type.is_vector or variable.type.is_scalar:
            found = _without(draft, variable)
            if found is not None:
                return found
    return None


def _without(draft: Draft, variable: VarDecl) -> tuple[Draft, Slack] | None:
    name, sense = variable.name, 1 if draft.model.sense == "minimize" else -1
    terms, constraints = draft.using(name)
    cost = _cost([draft.model.terms[i] for i in terms], variable, sense)
    if cost is None:
        return None
    bounds, is_signed = [], False
    for i in constraints:
        if _is_sign(draft.model.constraints[i]):
            is_signed = True
            continue
        bound = _bound(draft.model.constraints[i], draft.constraints[i], variable)
        if bound is None:
            return None
        bounds.append(bound)
    pair = _pair(bounds, is_signed, cost)
    if pair is None:
        return None
    above, below, r = pair
    e = above.e
    if (cost.kind == "largest") != (not variable.type.array_shape and bool(e.type.array_shape)):
        return None
    if cost.kind != "largest" and e.type.array_shape != variable.type.array_shape:
        return None
    a, others = _beside(cost, e) if cost.kind == "linear" else (0.0, list(cost.beside))
    if not (1.0 + a >= 0.0 >= r + a):
        return None
    texts = [draft.model.terms[i].text for i in terms]
    made = _term(cost, e, r, a, " + ".join(texts))
    key: Key = ("new", name)
    affine = [(("new", (name, j)), _affine(c, rest)) for j, (c, rest) in enumerate(others)]
    word = made[0].atom
    fact = f"{name}: least above its bounds, so {' + '.join(f'`{t}`' for t in texts)} is `{word}` of them"
    shown = algebra.times(algebra.const(a), cost.c)
    step = Slack(name, cost.kind, above, below, r, cost.c, shown, made[1], key, cost.reduce, sense, fact)
    new: list[tuple[Key, Term]] = [(key, made[0]), *affine]
    return draft.without(name, terms, constraints, new), step


def _affine(c: Expr, rest: Expr) -> Term:
    return Term("affine", "", c, rest, span=rest.span)


# --- the cost ---------------------------------------------------------------------------------------------------------


def _cost(terms: list[Term], variable: VarDecl, sense: int) -> Cost | None:
    """The cost of a variable by its terms, where they are sums of it with one reduction, or its squares."""
    name, scalar = variable.name, not variable.type.array_shape
    if not terms:
        return None
    total, reduces, beside = algebra.const(0.0), set(), []
    if len(terms) == 1 and terms[0].kind != "affine":
        return _squares(terms[0], name, sense)
    for term in terms:
        found = sum_of(term.argument, name) if term.kind == "affine" else None
        if found is None:
            return None
        k, reduce, rest = found
        total = algebra.plus(total, algebra.times(term.coefficient, algebra.const(k)))
        reduces.add(reduce)
        beside += [(term.coefficient, rest)] if rest is not None else []
    sign = scalar_sign(algebra.times(algebra.const(float(sense)), total))
    if len(reduces) != 1 or sign not in ("positive", "nonnegative"):
        return None
    return Cost(tidied(total), reduces.pop(), "largest" if scalar else "linear", tuple(beside))


def _squares(term: Term, name: str, sense: int) -> Cost | None:
    c, rest = number_and_rest(term.argument)
    own = term.convex is not None and term.convex.adds_squares
    if not own or rest.op != "var" or rest.name != name or not rest.type.array_shape:
        return None
    return Cost(tidied(algebra.times(algebra.const(c * c), term.coefficient)), "sum", "squares")


def _beside(cost: Cost, e: Expr) -> tuple[float, list[tuple[Expr, Expr]]]:
    """(a over c, the other parts) of what stands beside the sum of s: multiples of the sum of e count as a."""
    a, others = 0.0, []
    for coefficient, rest in cost.beside:
        share, inner = number_and_rest(rest)
        ratio = algebra.number(tidied(algebra.ratio(coefficient, cost.c)))
        if ratio is None or inner.op != cost.reduce:
            others.append((coefficient, rest))
            continue
        r = multiple_of(inner.args[0], e)
        if r is None:
            others.append((coefficient, rest))
        else:
            a += ratio * share * r
    # where the slopes do not fit, what stands beside stays there
    return (a, others) if a else (0.0, list(cost.beside))


# --- the bounds -------------------------------------------------------------------------------------------------------


def _is_sign(c: ConstraintDecl) -> bool:
    return c.relation == "in" and c.argument.op == "var" and algebra.is_sign(c.set)


def _bound(c: ConstraintDecl, key: Key, variable: VarDecl) -> Bound | None:
    """The bound from below that a constraint states."""
    sign = 1.0
    if c.relation == "in":
        if not algebra.is_sign(c.set):
            return None
        sign = -1.0
    elif c.relation != "le":
        return None
    scalar = not variable.type.array_shape
    argument = c.argument
    found = _spread(argument, variable.name) if scalar else split(argument, variable.name)
    if found is None or found.rest is None or not found.rest.variables or sign * found.k >= 0.0:
        return None
    return Bound(key, sign, sign * found.k, times(-1.0 / found.k, found.rest))


def _spread(e: Expr, name: str) -> Split | None:
    """k s + rest where the number s meets every entry of rest."""
    if e.op != "add":
        return None
    own = [split(a, name) for a in e.args if name in a.variables]
    rest = tuple(a for a in e.args if name not in a.variables)
    if len(own) != 1 or own[0] is None or own[0].rest is not None or not rest:
        return None
    whole = rest[0] if len(rest) == 1 else algebra.add(rest, shapes.plain(e.type), e.span)
    return Split(own[0].k, whole)


def _pair(bounds: list[Bound], is_signed: bool, cost: Cost) -> tuple[Bound, Bound | None, float] | None:
    """The bounds e and r e, e having the constants of the sum in its own sign."""
    if len(bounds) == 1 and cost.kind != "largest" and (is_signed or cost.kind == "squares"):
        return bounds[0], None, 0.0
    if len(bounds) != 2:
        return None
    first, second = bounds
    r = multiple_of(second.e, first.e)
    if r is None or r >= 0.0 or (cost.kind != "linear" and r != -1.0):
        return None
    return first, second, r


# --- the loss ---------------------------------------------------------------------------------------------------------


def _term(cost: Cost, e: Expr, r: float, a: float, text: str) -> tuple[Term, float]:
    """The loss of e, and the sign that e has in it."""
    live, constant = parts(e)
    shape = e.type.array_shape
    if cost.kind == "squares" and r:
        return Term("function", SQUARES, cost.c, e, text=text, span=e.span), 1.0
    if cost.kind == "largest":
        return Term("function", LARGEST_SIZE, cost.c, e, text=text, span=e.span), 1.0
    if r == 0.0 and a == 0.0:
        word = SQUARED_HINGE if cost.kind == "squares" else HINGE
        z = plus(times(-1.0, e), algebra.const(1.0))
        assert z is not None
        return Term("loss", word, cost.c, z, algebra.ones(shape), None, cost.reduce, text=text, span=e.span), -1.0
    target = target_of(constant, shape)
    if r == -1.0 and a == 0.0:
        if constant is None and cost.reduce == "sum":
            return Term("function", SIZES, cost.c, e, text=text, span=e.span), 1.0
        return Term("loss", ABSOLUTE, cost.c, live, target, None, cost.reduce, text=text, span=e.span), 1.0
    option = LOSSES[QUANTILE].options[0].name
    tau = (-r - a) / (1.0 - r)
    weight = algebra.times(algebra.const(1.0 - r), cost.c)
    options = ((option, algebra.const(tau)),)
    loss = Term("loss", QUANTILE, weight, live, target, None, cost.reduce, options, text=text, span=e.span)
    return replace(loss), 1.0


# --- sizes with a bounded sum -----------------------------------------------------------------------------------------


@light_dataclass
class BoundedSizes(RewritingStep):
    """-t <= e <= t with k 1't <= b, without t: e in the l1 ball of b / k. With its normal y there

    lambda_1 - lambda_2 = y,   lambda_1 + lambda_2 = k times the sum's multiplier = max |y|.
    """

    name: str
    above: Bound
    below: Bound
    total: Key
    k: float
    fact: str

    def place(self, reader: AffineReader, x: Array, known: dict[Key, Array]) -> None:
        """t = |e|."""
        x[reader.blocks[self.name].slice] = np.abs(reader.stacked(self.above.e).apply(x))

    def multipliers(self, duals: Duals) -> None:
        """The normal, in three parts."""
        y = duals.known.get(self.total)
        if y is None:
            return
        largest = float(np.abs(y).max(initial=0.0))
        duals.known[self.total] = np.array([largest / self.k])
        for bound, value in ((self.above, 0.5 * (largest + y)), (self.below, 0.5 * (largest - y))):
            duals.known[bound.key] = bound.sign * value / -bound.k

    def inward(self, duals: Duals) -> None:
        """The normal is the difference of the two."""
        above, below = duals.known.get(self.above.key), duals.known.get(self.below.key)
        if above is not None and below is not None:
            first, second = self.above.sign * -self.above.k * above, self.below.sign * -self.below.k * below
            duals.known[self.total] = first - second


def bounded_sizes(draft: Draft) -> tuple[Draft, BoundedSizes] | None:
    """The model without the first variable that bounds sizes, and has a bounded sum itself."""
    for variable in draft.model.variables:
        if variable.type.is_vector and not draft.using(variable.name)[0]:
            found = _ball(draft, variable)
            if found is not None:
                return found
    return None


def _ball(draft: Draft, variable: VarDecl) -> tuple[Draft, BoundedSizes] | None:
    bounds, total, k, rest = [], None, 0.0, None
    for i in draft.using(variable.name)[1]:
        constraint, key = draft.model.constraints[i], draft.constraints[i]
        if _is_sign(constraint):
            continue
        if constraint.relation == "le" and not constraint.argument.type.array_shape and total is None:
            found = sum_of(constraint.argument, variable.name)
            if found is None or found[1] != "sum" or found[0] <= 0.0 or found[2] is None or found[2].variables:
                return None
            total, (k, _, rest) = i, found
            continue
        bound = _bound(constraint, key, variable)
        if bound is None or bound.e.type.array_shape != variable.type.array_shape:
            return None
        bounds.append(bound)
    if total is None or rest is None or len(bounds) != 2 or multiple_of(bounds[1].e, bounds[0].e) != -1.0:
        return None
    r = times(-1.0 / k, rest)
    if scalar_sign(r) != "positive":
        return None
    sum_ = draft.model.constraints[total]
    ball = SetRef(CONVEX[SIZES].ball, (("r", r),), span=sum_.span)
    made = replace(sum_, relation="in", argument=bounds[0].e, set=ball, flipped=False)
    gone = [i for i in draft.using(variable.name)[1] if i != total]
    changed = draft.without(variable.name, [], gone, [])
    place = changed.constraints.index(draft.constraints[total])
    constraints = list(changed.model.constraints)
    constraints[place] = made
    model = replace(changed.model, constraints=tuple(constraints))
    fact = f"{variable.name}: bounds sizes, so `{sum_.text}` is their `{ball.name}`"
    step = BoundedSizes(variable.name, bounds[0], bounds[1], draft.constraints[total], k, fact)
    return replace(changed, model=model), step
