r"""Variables that are minimised out of sums, and differences of two nonnegative ones.

    min over o of  c |z + k o|^2 + m |o|_1     =     sum_i huber(2 c, m / (2 c |k|)) of z_i
    min over u, v >= 0 with u - v = x of  c (1'u + 1'v)     =     c |x|_1

The first is the infimal convolution of squares and sizes; o is -1/k times what of z lies beyond delta = m / (2 c |k|). In the second u and v are the
positive and the negative part of x, where u and v enter by their difference alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...atoms.base import Array
from ...check import algebra, shapes
from ...check.scalars import scalar_sign, tidied
from ...light_dataclass import light_dataclass
from ...model import Expr, Term, VarDecl
from ...words import HUBER, LOSSES, SIZES
from ..affine import AffineReader
from .draft import Draft, Duals, Key, RewritingStep
from .expressions import changed, multiples, number_and_rest, parts, split, target_of, times


@light_dataclass
class Outliers(RewritingStep):
    """c |z + k o|^2 + m |o|_1 without o. The squares' multiplier is the loss's; that of |o|_1 is held by o's own block."""

    name: str
    k: float
    z: Expr
    delta: Expr
    squares: Key
    made: Key
    fact: str

    def place(self, reader: AffineReader, x: Array, known: dict[Key, Array]) -> None:
        """o = -(z - [z in -delta, delta]) / k."""
        z, delta = reader.stacked(self.z).apply(x), reader.scalar(self.delta)
        x[reader.blocks[self.name].slice] = -(z - np.clip(z, -delta, delta)) / self.k

    def multipliers(self, duals: Duals) -> None:
        """The slope of the loss is that of the squares."""
        if self.made in duals.known:
            duals.known[self.squares] = duals.known[self.made]

    def inward(self, duals: Duals) -> None:
        """The multiplier of what was made is that of the squares."""
        if self.squares in duals.known:
            duals.known[self.made] = duals.known[self.squares]


def enveloped(draft: Draft) -> tuple[Draft, Outliers] | None:
    """The model without the first variable that squares and sizes alone hold."""
    for variable in draft.model.variables:
        terms, constraints = draft.using(variable.name)
        if not variable.type.is_vector or constraints or len(terms) != 2:
            continue
        for i, j in (terms, terms[::-1]):
            found = _outliers(draft, variable.name, i, j)
            if found is not None:
                return found
    return None


def _outliers(draft: Draft, name: str, i: int, j: int) -> tuple[Draft, Outliers] | None:
    squares, sizes = draft.model.terms[i], draft.model.terms[j]
    if not (squares.convex is not None and squares.convex.adds_squares):
        return None
    if not (sizes.convex is not None and sizes.convex.adds_sizes):
        return None
    part, (d, bare) = split(squares.argument, name), number_and_rest(sizes.argument)
    if part is None or not part.k or part.rest is None or bare.op != "var" or bare.name != name:
        return None
    if not part.rest.variables or part.rest.type.array_shape != squares.argument.type.array_shape:
        return None
    c = squares.coefficient
    if scalar_sign(c) not in ("positive", "negative"):
        return None
    delta = tidied(algebra.ratio(algebra.times(algebra.const(0.5 * abs(d / part.k)), sizes.coefficient), c))
    if scalar_sign(delta) != "positive":
        return None
    live, constant = parts(part.rest)
    shape = part.rest.type.array_shape
    target = target_of(constant, shape)
    options = ((LOSSES[HUBER].options[0].name, delta),)
    text = f"{squares.text} + {sizes.text}"
    double = algebra.times(algebra.const(2.0), c)
    loss = Term("loss", HUBER, double, live, target, None, "sum", options, text=text, span=squares.span)
    key: Key = ("new", name)
    fact = f"{name}: the least over it of `{text}` is `{HUBER}` of the rest"
    step = Outliers(name, part.k, part.rest, delta, draft.terms[i], key, fact)
    return draft.without(name, [i, j], [], [(key, loss)]), step


@light_dataclass
class Parts(RewritingStep):
    """x = u - v in the place of u and v, whose signs are held by their own blocks."""

    u: str
    v: str
    x: str
    fact: str

    def place(self, reader: AffineReader, x: Array, known: dict[Key, Array]) -> None:
        """u has x until here, and both become its parts."""
        u, v = (reader.blocks[name].slice for name in (self.u, self.v))
        x[u], x[v] = np.maximum(x[u], 0.0), np.maximum(-x[u], 0.0)


def parted(draft: Draft) -> tuple[Draft, Parts] | None:
    """The model with one variable for the first two that are its parts."""
    own = [v for v in draft.model.variables if (v.type.is_vector or v.type.is_matrix) and _is_signed(draft, v.name)]
    for u in own:
        for v in own:
            if u is not v and u.type == v.type:
                found = _one(draft, u, v)
                if found is not None:
                    return found
    return None


def _is_signed(draft: Draft, name: str) -> bool:
    """True if a variable's constraints say nothing but its sign."""
    constraints = [draft.model.constraints[i] for i in draft.using(name)[1]]
    return bool(constraints) and all(c.argument.op == "var" and algebra.is_sign(c.set) for c in constraints)


def _one(draft: Draft, u: VarDecl, v: VarDecl) -> tuple[Draft, Parts] | None:
    (x, change), pair = _difference(u, v), {u.name, v.name}
    terms: list[tuple[Key, Term]] = []
    cost = {u.name: algebra.const(0.0), v.name: algebra.const(0.0)}
    texts = []
    for term, key in zip(draft.model.terms, draft.terms, strict=True):
        if not pair & term.argument.variables:
            terms.append((key, term))
            continue
        argument = changed(term.argument, change)
        if (
            not pair & (argument.variables - {x.name})
            and argument != term.argument
            and v.name not in argument.variables
        ):
            terms.append((key, replace(term, argument=argument)))
            continue
        found = _costs(term, pair)
        if found is None:
            return None
        for name, share in found.items():
            cost[name] = algebra.plus(cost[name], algebra.times(term.coefficient, algebra.const(share)))
        texts.append(term.text)
    c, other = (tidied(e) for e in cost.values())
    sense = "positive" if draft.model.sense == "minimize" else "negative"
    if c != other or scalar_sign(c) != sense or not texts:
        return None
    text = " + ".join(texts)
    terms.append((("new", (u.name, v.name)), Term("function", SIZES, c, x, text=text, span=draft.model.terms[0].span)))
    gone = {i for name in pair for i in draft.using(name)[1]}
    kept = [i for i in range(len(draft.constraints)) if i not in gone]
    model = replace(
        draft.model,
        variables=tuple(d for d in draft.model.variables if d.name != v.name),
        terms=tuple(t for _, t in terms),
        constraints=tuple(draft.model.constraints[i] for i in kept),
    )
    made = Draft(model, tuple(k for k, _ in terms), tuple(draft.constraints[i] for i in kept))
    fact = (
        f"{u.name} - {v.name}: the parts of one variable, which is called {u.name} here, so `{text}` is its `{SIZES}`"
    )
    return made, Parts(u.name, v.name, x.name, fact)


def _difference(u: VarDecl, v: VarDecl) -> tuple[Expr, Callable[[Expr], Expr | None]]:
    """The one variable, which keeps the name of the first, and what puts it in the place of differences."""
    x = Expr("var", shapes.of_shape(u.type.array_shape), name=u.name, variables=frozenset((u.name,)))

    def change(e: Expr) -> Expr | None:
        if e.op != "add":
            return None
        found = {p.name: c for p, c in multiples(e).items() if p.op == "var" and p.name in (u.name, v.name)}
        if len(found) != 2 or found[u.name] != -found[v.name]:
            return None
        rest = [a for a in e.args if not {u.name, v.name} & a.variables]
        own = times(found[u.name], x)
        return own if not rest else algebra.add((own, *rest), e.type, e.span)

    return x, change


def _costs(term: Term, pair: set[str]) -> dict[str, float] | None:
    """The numbers that multiply the sums of both variables in an affine term of nothing else."""
    if term.convex is not None and term.convex.adds_sizes and term.argument.op == "var":
        # of nonnegative entries the sizes are the entries
        return {term.argument.name: 1.0}
    if term.kind != "affine":
        return None
    out: dict[str, float] = {}
    for part, c in multiples(term.argument).items():
        if part.op != "sum":
            return None
        for inner, d in multiples(part.args[0]).items():
            if inner.op != "var" or inner.name not in pair:
                return None
            out[inner.name] = out.get(inner.name, 0.0) + c * d
    return out
