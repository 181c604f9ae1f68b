r"""Single terms and constraints in plainer words, each with the multiplier of what it was.

    c x + k in S, S a box or a ball of the largest entry     =     x in the box ((lo - k) / c, (hi - k) / c)
    c x in r S, S a ball of a norm                           =     x in (r / |c|) S
    d (1'x) + e == 0, however the sum is written             =     sum(x) - (-e / d) == 0
    norm1(E x - b)                                           =     sum(absolute(E x, b))
    sum(abs(x))                                              =     norm1(x)
    sum_squares(d * (E x - b)), d data                       =     sum(d^2 * squared(E x, b)), of vectors and matrices
    quad_form(E x - b, diag(s))                              =     sum(s * squared(E x, b))
    I x                                                      =     x

An argument z = c x + k has the multiplier y_z = y_x / c, entry by entry where c is a vector, 0 where c is 0. Where `x >= 0` has a given sum, what
this implies is left out, with multiplier 0.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...atoms.base import Array
from ...check import algebra, shapes
from ...check.scalars import scalar_sign
from ...light_dataclass import light_dataclass
from ...model import ConstraintDecl, Expr, Model, SetRef, Term, once_per_model
from ...words import ABSOLUTE, BOX, CONVEX, LOSSES, NONNEGATIVE
from ..arrange import bare_variable
from .draft import Draft, Duals, Key, RewritingStep
from .expressions import changed, number_and_rest, parts, plus, target_of, times


@light_dataclass
class Plain(RewritingStep):
    """The expressions that were said more plainly, with c of each by its key."""

    factors: tuple[tuple[Key, Expr], ...]
    fact: str

    def multipliers(self, duals: Duals) -> None:
        """y_z = y_x / c."""
        for key, factor in self.factors:
            if key in duals.known:
                y = duals.known[key]
                c = _value(duals, factor, y.size)
                duals.known[key] = np.divide(y, c, out=np.zeros_like(y), where=c != 0.0)

    def inward(self, duals: Duals) -> None:
        """y_x = c y_z."""
        for key, factor in self.factors:
            if key in duals.known:
                duals.known[key] = duals.known[key] * _value(duals, factor, duals.known[key].size)


def _value(duals: Duals, factor: Expr, size: int) -> Array:
    """A factor for each entry."""
    if factor.type.array_shape:
        return duals.reader.vector(factor, size)
    return np.full(size, duals.reader.scalar(factor))


def plainer(draft: Draft) -> tuple[Draft, Plain] | None:
    """The model in plainer words; None where there is nothing to say more plainly."""
    factors: list[tuple[Key, Expr]] = []
    facts: list[str] = []
    terms, constraints = list(draft.model.terms), []
    sliced = _sliced(draft.model)
    for i, term in enumerate(terms):
        found, factor = _term(term, sliced)
        if found is not None:
            terms[i] = found
            factors += [(draft.terms[i], factor)] if factor is not None else []
            facts.append(f"`{term.text}` is `{found.atom or 'affine'}` of its parts")
    keys: list[Key] = []
    sums = _sums(draft.model.constraints)
    for constraint, key in zip(draft.model.constraints, draft.constraints, strict=True):
        c, factor = constraint, algebra.ONE
        told = _constraint(constraint)
        if told is not None:
            c, factor = told
            factors.append((key, factor))
        implied = _implied(c, sums)
        if implied is None:
            facts.append(f"`{constraint.text}` follows from the other constraints of its variable")
            continue
        if told is not None or implied is not c:
            facts.append(f"`{constraint.text}` is {_shown(implied)}")
        constraints.append(implied)
        keys.append(key)
    if not facts:
        return None
    model = replace(draft.model, terms=tuple(terms), constraints=tuple(constraints))
    return Draft(model, draft.terms, tuple(keys)), Plain(tuple(factors), "; ".join(facts))


def _shown(c: ConstraintDecl) -> str:
    name = next(iter(sorted(c.argument.variables)))
    return f"{name} in {c.set.name}" if c.set is not None else f"the sum of {name}"


# --- terms ------------------------------------------------------------------------------------------------------------


@once_per_model
def _sliced(model: Model) -> frozenset[str]:
    """The variables whose slices stand somewhere, which may become variables themselves."""
    roots = [t.argument for t in model.terms] + [c.argument for c in model.constraints]
    return frozenset(
        e.args[0].name for r in roots if r.variables for e in r.walk() if e.op == "slice" and e.args[0].op == "var"
    )


def _term(term: Term, sliced: frozenset[str]) -> tuple[Term | None, Expr | None]:
    """The term in plainer words, or None, and the factor c of its argument, where there is one."""
    argument = changed(term.argument, _identity)
    word, shape = term.convex, argument.type.array_shape
    if word is not None and word.adds_sizes and (argument.type.is_vector or argument.type.is_matrix):
        live, constant = parts(argument)
        if constant is not None:
            target = target_of(constant, shape)
            return replace(term, kind="loss", atom=ABSOLUTE, argument=live, target=target, reduce="sum"), None
    name = bare_variable(argument) if shape else None
    # the multiplier of a norm that is shared by slices could not be told
    norm = _norm_of(term) if name is not None and name not in sliced else ""
    if norm:
        coefficient = term.coefficient
        if term.reduce == "mean":
            coefficient = algebra.ratio(coefficient, algebra.length(shape[0]))
        return replace(
            term, kind="function", atom=norm, argument=argument, target=None, reduce="", coefficient=coefficient
        ), None
    if word is not None and word.root_of:
        entries = dict(term.options)[word.root_of]
        live, constant = parts(argument)
        of_data = argument.type.is_vector and bare_variable(live) is None
        if entries.op == "diag" and entries.args[0].type.is_vector and of_data:
            d = algebra.roots(entries.args[0])
            loss = replace(term, kind="loss", atom=word.as_loss, argument=live, weights=entries.args[0], reduce="sum")
            return replace(loss, target=target_of(constant, shape), options=()), d
    weighed = _weighed(argument) if word is not None and word.adds_squares and not term.options else None
    if weighed is not None:
        d, of_argument, rest = weighed
        live, constant = parts(rest)
        # of a variable itself they are a diagonal as they stand
        if bare_variable(live) is None:
            weights = algebra.multiply(d, d, shapes.plain(d.type))
            loss = replace(term, kind="loss", atom=word.as_loss, argument=live, weights=weights, reduce="sum")  # type: ignore[union-attr]
            return replace(loss, target=target_of(constant, shape)), of_argument
    return (replace(term, argument=argument) if argument is not term.argument else None), None


def _norm_of(term: Term) -> str:
    """The norm that a loss without targets and weights adds up to; "" where there is none."""
    zero = term.target is not None and (term.target.op == "zeros" or algebra.number(term.target) == 0.0)
    return LOSSES[term.atom].as_norm if term.kind == "loss" and zero and term.weights is None else ""


def _weighed(e: Expr) -> tuple[Expr, Expr, Expr] | None:
    """(d, f, e) of d * e or diag(d) @ e, with a constant d, and what multiplies each entry of e: d itself, or a row of it for each; None of anything
    else."""
    if not (e.type.is_vector or e.type.is_matrix) or len(e.args) != 2:
        return None
    left, right = e.args
    if e.op == "matmul":
        if not (left.op == "diag" and left.is_constant and left.args[0].type.is_vector):
            return None
        d = left.args[0]
        return d, d if e.type.is_vector else algebra.weighted_rows(d, algebra.ones(e.type.array_shape)), right
    if e.op != "mul":
        return None
    for d, rest in ((left, right), (right, left)):
        if d.is_constant and d.type.array_shape == rest.type.array_shape:
            return d, d, rest
    return None


def _identity(e: Expr) -> Expr | None:
    """e' of I e'."""
    if e.op == "matmul" and e.args[0].op == "eye":
        return changed(e.args[1], _identity)
    return None


# --- constraints ------------------------------------------------------------------------------------------------------


def _constraint(c: ConstraintDecl) -> tuple[ConstraintDecl, Expr] | None:
    """The constraint of a bare variable, or of its sum, and the factor c; None where it is one already, or cannot be one."""
    argument = changed(c.argument, _identity)
    if len(argument.variables) != 1:
        return None
    found = _of_sum(c, argument) if c.set is None else None
    if found is not None:
        return found
    live, rest = parts(argument)
    k, x = number_and_rest(live)
    core = x.args[0] if x.op == "slice" else x
    if (
        core.op != "var"
        or not (core.type.is_scalar or core.type.is_vector or core.type.is_matrix)
        or (live is x and c.set is not None and rest is None)
    ):
        return None
    if rest is not None and rest.type.array_shape not in ((), x.type.array_shape):
        return None
    ref = _set_of(c, k, rest, x)
    return (replace(c, relation="in", argument=x, set=ref), algebra.const(k)) if ref is not None else None


def _set_of(c: ConstraintDecl, k: float, rest: Expr | None, x: Expr) -> SetRef | None:
    """The set of x, where k x + rest is to be in that of a constraint."""
    if c.relation == "eq":
        return None
    if c.set is not None and (c.set.inner is not None or x.type.is_family):
        return None
    bounds = (algebra.const(-np.inf), algebra.const(0.0)) if c.set is None else algebra.bounds(c.set)
    if bounds is None:
        assert c.set is not None
        if rest is not None or not (c.set.word.norm and c.set.word.scaled):
            return None
        args = tuple((n, times(1.0 / abs(k), e) if n == "r" else e) for n, e in c.set.args)
        return replace(c.set, args=args)
    ends = [_without_rest(e, k, rest) for e in bounds]
    low, high = ends if k > 0.0 else ends[::-1]
    if high is None and low is not None and algebra.number(low) == 0.0:
        return SetRef(NONNEGATIVE, span=c.span)
    args = (("lo", low or algebra.const(-np.inf)), ("hi", high or algebra.const(np.inf)))
    return SetRef(BOX, args, span=c.span)


def _without_rest(end: Expr, k: float, rest: Expr | None) -> Expr | None:
    """(end - rest) / k; an infinite end stays one."""
    value = algebra.number(end)
    if value is not None and np.isinf(value):
        return None
    whole = end if rest is None else plus(end, times(-1.0, rest))
    assert whole is not None
    number = algebra.number(whole)
    return algebra.const(number / k) if number is not None else times(1.0 / k, whole)


# --- sums -------------------------------------------------------------------------------------------------------------


def _of_sum(c: ConstraintDecl, e: Expr) -> tuple[ConstraintDecl, Expr] | None:
    """`sum(x) - r` related to 0, where the argument `e` of one variable is d (1'x) + e'; None where it is so already."""
    if e.type.array_shape:
        return None
    found = _linear(e)
    if found is None:
        return None
    d, x, rest = found
    sign = scalar_sign(d)
    if sign not in ("positive", "negative") or (c.relation == "le" and sign != "positive"):
        return None
    total = algebra.make("sum", shapes.REAL, (x,))
    r = algebra.ratio(times(-1.0, rest), d) if rest is not None else None
    argument = total if r is None else algebra.add((total, algebra.negate(r)), shapes.REAL)
    if algebra.number(d) == 1.0 and _is_plain(e) and not (c.flipped and c.relation == "eq"):
        return None
    return replace(c, argument=argument, flipped=False), d


def _is_plain(e: Expr) -> bool:
    return e.op == "sum" or (e.op == "add" and any(a.op == "sum" for a in e.args))


def _linear(e: Expr) -> tuple[Expr, Expr, Expr | None] | None:
    """(d, x, rest) where a number is d (1'x) + rest for a variable x that is a vector."""
    if e.op in ("sum", "mean", "dot", "matmul"):
        live = [a for a in e.args if not a.is_constant]
        fixed = [a for a in e.args if a.is_constant]
        if len(live) != 1 or live[0].op != "var" or not live[0].type.is_vector:
            return None
        if any(a.op != "ones" for a in fixed):
            return None
        (n,) = live[0].type.array_shape
        if e.op == "mean":
            return algebra.ratio(algebra.ONE, algebra.length(n)), live[0], None
        return algebra.ONE, live[0], None
    if e.op == "add":
        own = [a for a in e.args if not a.is_constant]
        found = _linear(own[0]) if len(own) == 1 else None
        if found is None:
            return None
        rest = found[2]
        for a in e.args:
            rest = plus(rest, a) if a.is_constant else rest
        return found[0], found[1], rest
    if e.op in ("neg", "div", "mul"):
        factor = algebra.const(-1.0) if e.op == "neg" else next((a for a in e.args if a.is_constant), None)
        inner = next(a for a in e.args if not a.is_constant)
        found = _linear(inner)
        if found is None or factor is None or factor.type.array_shape:
            return None
        d, x, rest = found
        if e.op == "div":
            return algebra.ratio(d, factor), x, algebra.ratio(rest, factor) if rest is not None else None
        return algebra.times(factor, d), x, algebra.times(factor, rest) if rest is not None else None
    return None


def _sums(constraints: tuple[ConstraintDecl, ...]) -> dict[str, float]:
    """The sums that literal numbers give to variables that are nonnegative by another constraint."""
    out: dict[str, float] = {}
    for c in constraints:
        found = _linear(c.argument) if c.relation == "eq" and not c.argument.type.array_shape else None
        if found is not None:
            d, x, rest = found
            r, own = algebra.number(rest) if rest is not None else 0.0, algebra.number(d)
            if r is not None and own:
                out[x.name] = -r / own
    return {name: r for name, r in out.items() if any(_is_nonnegative(c, name) for c in constraints)}


def _is_nonnegative(c: ConstraintDecl, name: str) -> bool:
    if c.set is None or c.argument.op != "var" or c.argument.name != name:
        return False
    return algebra.numeric_bounds(c.set)[0] == 0.0


def _implied(c: ConstraintDecl, sums: dict[str, float]) -> ConstraintDecl | None:
    """The constraint without bounds that a given sum of nonnegative entries implies; None where nothing is left of it."""
    if c.set is None or c.argument.op != "var" or c.argument.name not in sums or c.set.inner is not None:
        return c
    r, args = sums[c.argument.name], dict(c.set.args)
    lo, hi = algebra.numeric_bounds(c.set)
    if lo == 0.0 and hi is not None and np.isfinite(hi) and hi >= r:
        return replace(c, set=SetRef(NONNEGATIVE, span=c.set.span))
    radius = algebra.number(args["r"]) if "r" in args else None
    word = c.set.word
    if radius is not None and radius >= r and word.norm and not (word.grouped or word.ranked) and word.norm in CONVEX:
        # of nonnegative entries with sum r every norm of vectors is at most r
        return None
    return c
