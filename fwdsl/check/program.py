"""Checks whole programs, and compiles text to a checked model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from ..grammar import tree
from ..grammar.diagnostic import Diagnostic, Label, has_errors
from ..grammar.source import Span
from ..light_dataclass import light_dataclass
from ..model import ConstraintDecl, Expr, Fact, Model, Term
from .constraints import comparison, declared_sets, member
from .context import Context
from .curvature import constraint_fact, promises
from .declarations import Declared, declare, declare_let
from .infer import infer
from .kernels import check_kernels
from .objective import objective
from .options import solve_options
from .values import Combination, as_term, merged
from .warnings import warn_implied, warn_unused

Judged = tuple[tuple[Term, ...], tuple[Fact, ...]]


@light_dataclass
class Examined:
    """All that the checker knows of a text. `context` has the declared names, also where there is no model."""

    program: tree.Program
    model: Model | None
    diagnostics: tuple[Diagnostic, ...]
    context: Context


def check(program: tree.Program, *, partial: bool = False) -> tuple[Model | None, tuple[Diagnostic, ...]]:
    """The checked model of a program and the diagnostics: errors (there is no model then), or warnings.

    `partial` says that statements are missing because they could not be parsed. No model is made then, and errors that may
    follow from the missing statements are not reported. Never raises.
    """
    examined = _examined(program, partial)
    return examined.model, examined.diagnostics


def _examined(program: tree.Program, partial: bool) -> Examined:
    ctx = Context(program.source, infer, partial, frozenset(program.lost))
    model = _check(ctx, program)
    return Examined(program, None if ctx.failed or partial else model, ctx.diagnostics(), ctx)


def _check(ctx: Context, program: tree.Program) -> Model | None:
    statements = program.statements
    ctx.coming = dict(_declared_names(statements))
    _check_name(ctx, statements)
    out = Declared()
    made: list[tuple[ConstraintDecl, str]] = []
    objectives = [s for s in statements if isinstance(s, tree.Objective)]
    judged: Judged | None = None
    for statement in statements:
        match statement:
            case tree.Declaration():
                before = len(out.members)
                declare(ctx, statement, out)
                for item, variable in out.members[before:]:
                    made.extend((c, "") for c in declared_sets(ctx, item, variable))
            case tree.Let():
                declare_let(ctx, statement, out)
            case tree.Objective():
                found = objective(ctx, statement)
                judged = found if statement is objectives[0] else judged
            case tree.SubjectTo():
                for node in statement.constraints:
                    made.extend(_constraint(ctx, node))
    options = solve_options(ctx, [s for s in statements if isinstance(s, tree.Solve)])
    _check_whole(ctx, program, objectives)
    constraints = _named(ctx, made, statements)
    if ctx.failed or judged is None or ctx.partial:
        return None
    terms, facts = judged
    check_kernels(ctx, out.variables, terms, constraints)
    used = tuple(d for d, e in ctx.entries.items() if e.kind == "dimension")
    warn_unused(ctx)
    warn_implied(ctx, constraints)
    name = next((s.name.name for s in statements if isinstance(s, tree.ProblemName)), "")
    lets = tuple((n, v if isinstance(v, Expr) else _let_terms(v)) for n, v in out.lets)
    return Model(
        name,
        tuple(out.data),
        tuple(out.params),
        tuple(out.variables),
        objectives[0].sense,
        terms,
        tuple(constraints),
        lets,
        options,
        used,
        (*facts, *map(constraint_fact, constraints), *promises(out.data, out.params)),
        program,
    )


def _let_terms(value: Combination) -> tuple[Term, ...]:
    """The terms that a `let` names. Their curvature is not checked."""
    return tuple(as_term(s) for s in merged(value.summands))


def _declared_names(statements: Sequence[tree.Statement]) -> Iterator[tuple[str, Span]]:
    """Every declared name, dimensions included, with its first place."""
    names: set[str] = set()
    for statement in statements:
        if isinstance(statement, tree.Let):
            found = [(statement.name.name, statement.name.span)]
        elif isinstance(statement, tree.Declaration):
            found = [(i.name.name, i.name.span) for i in statement.items]
            found += [(d.id, d.span) for i in statement.items for d in _dimensions(i.type)]
        else:
            continue
        for name, span in found:
            if name not in names:
                names.add(name)
                yield name, span


def _dimensions(type_: tree.TypeExpr) -> Iterator[tree.Name]:
    parts: list[tree.Node] = [*type_.dims, *(type_.of.dims if isinstance(type_.of, tree.TypeExpr) else ())]
    while parts:
        part = parts.pop(0)
        if isinstance(part, tree.Name):
            yield part
        elif not isinstance(part, tree.Call):
            parts[:0] = part.children()


def _check_name(ctx: Context, statements: Sequence[tree.Statement]) -> None:
    """Report a second `problem` statement. The parser checks that `fw 1` stands first."""
    names = [s for s in statements if isinstance(s, tree.ProblemName)]
    for again in names[1:]:
        ctx.error(
            "FW2016",
            "the program is named twice",
            again.span,
            labels=[Label(names[0].span, "named here first")],
            rule="`problem` stands once.",
        )


def _check_whole(ctx: Context, program: tree.Program, objectives: Sequence[tree.Objective]) -> None:
    """Report a program without exactly one objective, or without a variable."""
    if len(objectives) > 1:
        ctx.error(
            "FW2063",
            "there are two objectives",
            objectives[1].span,
            labels=[Label(objectives[0].span, "the first objective")],
            rule="A program has one `minimize` or one `maximize`.",
            hint="add the two up with weights, or bound one of them in `subject to`",
        )
    if ctx.partial:
        return
    end = _end(program)
    if not objectives:
        ctx.error(
            "FW2062",
            "there is no objective",
            end,
            rule="A program has one `minimize` or one `maximize`.",
            hint="write `minimize ...`",
        )
    declared = any(isinstance(s, tree.Declaration) and s.kind == "var" for s in program.statements)
    if not declared:
        ctx.error(
            "FW2068",
            "there is no variable",
            end,
            rule="A program has at least one variable: what is solved for.",
            hint="write `var x: vector[n]`",
        )


def _end(program: tree.Program) -> Span:
    """The place of the last statement, or the start of an empty program."""
    return program.statements[-1].span if program.statements else Span(0, 0)


def _constraint(ctx: Context, node: tree.NamedRelation) -> list[tuple[ConstraintDecl, str]]:
    """The normalised constraints that one written constraint stands for, with the user's name."""
    relation = node.relation
    made = member(ctx, relation) if isinstance(relation, tree.Member) else comparison(ctx, relation)
    return [(c, node.name.name if node.name is not None else "") for c in made or ()]


def _named(
    ctx: Context, made: Sequence[tuple[ConstraintDecl, str]], statements: Sequence[tree.Statement]
) -> list[ConstraintDecl]:
    """The constraints, each with a name: the user's, or `c1`, `c2`, ... by position."""
    spans: dict[str, Span] = {}
    for statement in statements:
        for node in statement.constraints if isinstance(statement, tree.SubjectTo) else ():
            if node.name is None:
                continue
            name = node.name.name
            earlier = spans.get(name) or (ctx.entries[name].span if name in ctx.entries else None)
            if earlier is not None:
                ctx.error(
                    "FW2002",
                    f"`{name}` is declared twice: a constraint takes the name of something else",
                    node.name.span,
                    labels=[Label(earlier, f"`{name}` is taken since here")],
                    rule="A name stands for one thing; results are looked up by the names of constraints, too.",
                    hint="rename one of them",
                )
            spans.setdefault(name, node.name.span)
    taken, out = {*spans, *ctx.entries}, []
    counts: dict[str, int] = {}
    for position, (c, wanted) in enumerate(made, 1):
        counts[wanted] = counts.get(wanted, 0) + 1
        first = bool(wanted) and counts[wanted] == 1
        name = wanted if first else f"{wanted}_{counts[wanted]}" if wanted else f"c{position}"
        while not first and name in taken:
            name += "_"
        taken.add(name)
        out.append(replace(c, name=name))
    return out


AT_MOST = 20
"""The number of diagnostics that are reported of one program."""

KEPT = 32
"""The number of texts whose models are kept in a process."""


def compile_text(text: str | bytes, name: str = "<text>") -> tuple[Model | None, tuple[Diagnostic, ...]]:
    """Parse and check a program. There is no model where there is an error.

    Errors that a statement with a syntax error may cause are not reported, and no warnings are reported beside an error."""
    return _compiled(text, name)


@lru_cache(maxsize=KEPT)
def _compiled(text: str | bytes, name: str) -> tuple[Model | None, tuple[Diagnostic, ...]]:
    """The same, kept: a program that is solved over and over is read once, and what was worked out from its model stays with that."""
    examined = examine_text(text, name)
    return examined.model, examined.diagnostics


def forget_texts() -> None:
    """Forget the models of texts, whose words have changed."""
    _compiled.cache_clear()


def examine_text(text: str | bytes, name: str = "<text>") -> Examined:
    """The findings of `compile_text`, with the names that the checker knows beside it, for editors."""
    from ..grammar import parse

    program, found = parse(text, name)
    broken = has_errors(found)
    examined = _examined(program, broken)
    told = [d for d in (*found, *examined.diagnostics) if d.severity == "error" or not broken]
    every = sorted(told, key=lambda d: d.span.start if d.span else -1)
    return Examined(program, examined.model, tuple(every[:AT_MOST]), examined.context)
