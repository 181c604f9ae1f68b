"""Curvature by composition: a convex function of an affine argument, times a coefficient of known sign. Also makes the facts that prove it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite
from typing import Literal

from ..grammar import tree
from ..grammar.diagnostic import Fix, Label
from ..model import ConstraintDecl, DataDecl, Expr, Fact, ParamDecl, Sign, Term
from ..words import CONVEX, SETS
from . import algebra, signs
from .context import Context
from .operands import report_infinite
from .printer import format_set, format_typed
from .scalars import scalar_sign, tidied
from .values import AppliedAtom, Summand, as_term
from .weights import report_weight

Sense = Literal["minimize", "maximize"]


def judge(ctx: Context, s: Summand, sense: Sense) -> tuple[Term, Fact] | None:
    """A summand as a term with the fact that proves its curvature; None after an error."""
    coefficient = tidied(s.coefficient)
    s = s if coefficient is s.coefficient else replace(s, coefficient=coefficient)
    number = algebra.number(s.coefficient)
    if number is not None and not isfinite(number):
        report_infinite(ctx, s.span)
        return None
    term = as_term(s, ctx.text(s.span))
    subject = s.name or term.text
    if isinstance(s.body, Expr):
        return _affine(ctx, s, s.body, term, subject)
    body = s.body
    if body.weights is not None and not signs.is_nonnegative(body.weights.sign):
        report_weight(ctx, _place(body.weights, s), body.weights)
        return None
    sign = scalar_sign(s.coefficient)
    if not (signs.is_nonnegative(sign) if sense == "minimize" else signs.is_nonpositive(sign)):
        _report(ctx, s, body, sense, sign)
        return None
    if sign == "zero":
        _warn_zero(ctx, term.text, s)
    return term, Fact(subject, "convex" if sense == "minimize" else "concave", reason_of(s, body, sign), s.span)


def _affine(ctx: Context, s: Summand, e: Expr, term: Term, subject: str) -> tuple[Term, Fact] | None:
    value = algebra.number(e)
    if value is not None and not isfinite(value):
        report_infinite(ctx, s.span)
        return None
    if e.is_constant:
        return term, Fact(subject, "constant", "no variable occurs in it", s.span)
    if scalar_sign(s.coefficient) == "zero":
        _warn_zero(ctx, term.text, s)
    return term, Fact(subject, "affine", f"affine in {_variables(e)}", s.span)


def _warn_zero(ctx: Context, text: str, s: Summand) -> None:
    ctx.warn(
        "FW2093",
        f"the coefficient of `{text}` is zero",
        s.span,
        rule="A term with coefficient zero adds nothing.",
        hint="leave it out",
    )


def _place(e: Expr, s: Summand) -> tree.Node:
    """A node at the place of an expression, for messages. It is a name where the expression is one."""
    span = s.span if e.span == tree.NOWHERE else e.span
    return tree.Name(e.name, span=span) if e.op == "data" else tree.Node(span=span)


def _variables(e: Expr) -> str:
    return ", ".join(f"`{v}`" for v in sorted(e.variables))


def _what(body: AppliedAtom) -> str:
    if body.of_entries:
        what = "concave" if body.is_concave else "convex"
        return f"`{body.word}` is {what} in each entry of its argument"
    if body.kind == "loss":
        return f"`{body.atom}` is a loss, convex in its prediction"
    word = CONVEX.get(body.word, CONVEX[body.atom])
    return f"`{body.word}` is a {word.what}, {'concave' if body.is_concave else 'convex'} in its argument"


def reason_of(s: Summand, body: AppliedAtom, sign: Sign) -> str:
    """The reason why a term is convex or concave: what its function is, what its argument is affine in, the sign of its coefficient."""
    parts = [_what(body)]
    if body.argument.variables:
        parts.append(f"which is affine in {_variables(body.argument)}")
    if body.weights is not None:
        parts.append("weighted by nonnegative numbers")
    coefficient = body.as_written(s.coefficient)
    return ", ".join(parts) + f"; its coefficient `{format_typed(coefficient)}` is {scalar_sign(coefficient)}"


def _report(ctx: Context, s: Summand, body: AppliedAtom, sense: Sense, sign: Sign) -> None:
    """Report a convex function whose coefficient has the wrong or an unknown sign."""
    coefficient = format_typed(tidied(body.as_written(s.coefficient)))
    wants, wanted = ("convex", "nonnegative") if sense == "minimize" else ("concave", "nonpositive")
    if body.is_concave:
        wanted = "nonpositive" if sense == "minimize" else "nonnegative"
    elsewhere = body.span != tree.NOWHERE and s.span.to(body.span) != s.span
    labels = [Label(body.span, "the term is written here")] if elsewhere else []
    rule = f"`{sense}` takes a sum of {wants} terms: {_what(body)}, so its coefficient must be {wanted}."
    if signs.is_nonpositive(sign) or signs.is_nonnegative(sign):
        has = "concave" if sense == "minimize" else "convex"
        other = "maximize" if sense == "minimize" else "minimize"
        ctx.error(
            "FW3001",
            f"the term `{body.text}` has the coefficient `{coefficient}` and is {has}, not {wants}",
            s.span,
            label=has,
            labels=labels,
            rule=rule,
            hint=f"change the sign of the term, or `{other}` the negative of the whole objective",
        )
        return
    names = list(dict.fromkeys(e.name for e in s.coefficient.walk() if e.op == "param" and e.sign == "unknown"))
    own = tidied(body.as_written(s.coefficient))
    alone = own.op == "param" or (own.op in ("mul", "div") and len(names) == 1)
    entry = ctx.entries.get(names[0]) if names else None
    hint = "give the weight a name of its own: `param NAME: nonnegative`"
    if names and alone:
        hint = f"declare `param {names[0]}: nonnegative`"
    fix = None
    if alone and (sense == "minimize") != body.is_concave and entry is not None and entry.type_span is not None:
        fix = Fix(f"declare `{names[0]}` as `nonnegative`", entry.type_span, "nonnegative", guess=True)
    ctx.error(
        "FW3002",
        f"the coefficient `{coefficient}` of the term `{body.text}` is not known to be {wanted}",
        s.span,
        labels=[*ctx.declared(*(tree.Name(n) for n in names)), *labels],
        rule=rule,
        hint=hint,
        fix=fix,
    )


def constraint_fact(c: ConstraintDecl) -> Fact:
    """The reason why the points that satisfy a constraint form a convex set."""
    if c.relation == "below":
        return _below_fact(c)
    of = f"affine in {', '.join(f'`{v}`' for v in sorted(c.argument.variables))}"
    if c.set is None:
        what, kind = ("affine inequality", "<=") if c.relation == "le" else ("affine equality", "==")
        return Fact(c.name, what, f"`{format_typed(c.argument)} {kind} 0`, {of}", c.span)
    norm = SETS[c.set.name].norm
    reason = f"`{format_set(c.set)}` is " + (f"a ball of `{norm}`" if norm else "a convex set")
    radius = dict(c.set.args).get("r")
    if radius is not None:
        reason += f", its radius `{format_typed(radius)}` is positive"
    return Fact(c.name, "convex set", f"{reason}; what it contains is {of}", c.span)


def _below_fact(c: ConstraintDecl) -> Fact:
    bound, terms = c.below
    kinds = [_what_term(t) for t in terms]
    limit = f"affine in {_variables(bound)}" if bound.variables else "constant"
    return Fact(c.name, "convex set", f"{'; '.join(kinds)}; the bound `{format_typed(bound)}` is {limit}", c.span)


def _what_term(term: Term) -> str:
    what = f"a {CONVEX[term.atom].what}" if term.kind == "function" else "a loss"
    return (
        f"`{term.text}` is {what} of what is affine in {_variables(term.argument)}"
        if term.argument.variables
        else f"`{term.text}` is constant"
    )


def promises(data: Sequence[DataDecl], params: Sequence[ParamDecl]) -> tuple[Fact, ...]:
    """The signs that declarations promise. Binding checks them."""
    declared = [(d.name, d.type, d.span) for d in data] + [(p.name, p.type, p.span) for p in params]
    return tuple(
        Fact(name, "positive" if type_.domain == "count" else type_.domain, "declared so", span)
        for name, type_, span in declared
        if type_.domain != "real"
    )
