"""Which term goes where, from names alone: what a plan without data shows, and what `build` then fills with numbers.

A term or set on a bare variable may stay with its block, in g; everything else is a term of the sum under its linear map. Of the terms and sets
on one block, g keeps one (norm, set) pair with a registered joint prox and all `sum_squares`; the others move into the sum with K = identity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..atoms.losses import LOSSES
from ..atoms.vectors import JOINTS
from ..grammar.diagnostic import Diagnostic
from ..model import Constraint, Expr, Model, Term, Type

NORMS = ("norm1", "norm2", "norm_inf")

#: Sets in the order in which g prefers them: compact ones bound the dual and have an LMO.
SETS = ("simplex", "l1_ball", "solid_simplex", "l2_ball", "linf_ball", "box", "nonnegative")

#: Sets that intersect to a box, entry by entry.
BOXES = frozenset({"box", "linf_ball", "nonnegative"})


@dataclass(frozen=True)
class BlockPlan:
    """g of one variable: indices of the model's terms (`norms`, `ridges`) and constraints (`sets`, all merged into `set`)."""

    name: str
    type: Type
    norm: str | None = None
    norms: tuple[int, ...] = ()
    set: str | None = None
    sets: tuple[int, ...] = ()
    ridges: tuple[int, ...] = ()
    moved: tuple[str, ...] = ()


@dataclass(frozen=True)
class SumPlan:
    """A term f_i(K_i x + b_i): a loss, a norm, or the indicator of a set (`set` of a constraint; le and eq are boxes)."""

    kind: str
    atom: str
    origin: int
    is_constraint: bool
    text: str
    bare: str | None = None


@dataclass(frozen=True)
class Arrangement:
    """The canonical form without its numbers."""

    blocks: tuple[BlockPlan, ...]
    sums: tuple[SumPlan, ...]
    linear: tuple[int, ...]
    facts: tuple[str, ...]


def bare_variable(expr: Expr) -> str | None:
    """The variable, where an expression is one, perhaps times a constant scalar."""
    if expr.op == "var":
        return expr.name
    if expr.op == "neg":
        return bare_variable(expr.args[0])
    if expr.op == "mul" and not any(a.type.array_shape for a in expr.args if a.is_constant):
        return next((bare_variable(a) for a in expr.args if not a.is_constant), None)
    if expr.op == "div" and not expr.args[1].type.array_shape:
        return bare_variable(expr.args[0])
    return None


def sum_of_variable(expr: Expr) -> str | None:
    """x, where an expression is sum(x) plus constants."""
    if expr.op == "sum" and expr.args[0].op == "var":
        return expr.args[0].name
    if expr.op == "add":
        live = [a for a in expr.args if not a.is_constant]
        if len(live) == 1:
            return sum_of_variable(live[0])
    return None


def arrange(model: Model) -> tuple[Arrangement | None, tuple[Diagnostic, ...]]:
    """The arrangement of a model, or why this version cannot solve it (FW50nn)."""
    refusals = [
        *_variable_refusals(model),
        *_term_refusals(model),
        *_constraint_refusals(model),
        *_expression_refusals(model),
    ]
    if refusals:
        return None, tuple(refusals[:20])
    blocks: list[BlockPlan] = []
    sums: list[SumPlan] = []
    facts: list[str] = []
    kept_terms: set[int] = set()
    kept_constraints: set[int] = set()
    for variable in model.variables:
        plan = _arrange_block(model, variable.name, variable.type, facts)
        blocks.append(plan)
        kept_terms.update(plan.norms, plan.ridges)
        kept_constraints.update(plan.sets)
    linear = tuple(i for i, t in enumerate(model.terms) if t.kind == "affine")
    for i, term in enumerate(model.terms):
        if i in kept_terms or i in linear:
            continue
        if term.kind == "loss":
            sums.append(SumPlan("loss", term.atom, i, False, term.text))
        elif term.atom == "sum_squares":
            sums.append(SumPlan("loss", "squared", i, False, term.text))
        else:
            sums.append(SumPlan("norm", term.atom, i, False, term.text, bare_variable(term.argument)))
    for i, constraint in enumerate(model.constraints):
        if i not in kept_constraints:
            name = constraint.set.name if constraint.set is not None else "box"
            bare = constraint.argument.name if constraint.argument.op == "var" else None
            sums.append(SumPlan("set", name, i, True, constraint.text, bare))
    return Arrangement(tuple(blocks), tuple(sums), linear, tuple(facts)), ()


def _arrange_block(model: Model, name: str, type_: Type, facts: list[str]) -> BlockPlan:
    norms: dict[str, list[int]] = {}
    ridges = []
    for i, term in enumerate(model.terms):
        if term.kind == "function" and bare_variable(term.argument) == name:
            if term.atom == "sum_squares":
                ridges.append(i)
            elif term.atom in NORMS:
                norms.setdefault(term.atom, []).append(i)
    sets: dict[str, list[int]] = {}
    for i, constraint in enumerate(model.constraints):
        if constraint.set is not None and constraint.argument.op == "var" and constraint.argument.name == name:
            sets.setdefault(constraint.set.name, []).append(i)
    _recognise_simplex(model, name, sets, facts)
    groups = _merge_boxes(sets)
    pairs = [(n, s) for n in (*norms, None) for s in (*sorted(groups, key=SETS.index), None) if _proximable(n, s)]
    # keeping both beats keeping the set, which beats keeping the norm: points then satisfy the set exactly
    norm, set_ = max(pairs, key=lambda p: 2 * (p[1] is not None) + (p[0] is not None))
    moved = [model.terms[i].text for n, ids in norms.items() if n != norm for i in ids]
    moved += [model.constraints[i].text for s, ids in groups.items() if s != set_ for i in ids]
    if moved and (norm or set_):
        kept = " with ".join(w for w in (norm, set_) if w)
        facts.append(f"{name}: {kept} has a joint prox; no joint prox with {', '.join(moved)}, moved into the sum")
    return BlockPlan(
        name,
        type_,
        norm,
        tuple(norms.get(norm, ())) if norm else (),
        set_,
        tuple(groups.get(set_, ())) if set_ else (),
        tuple(ridges),
        tuple(moved),
    )


def _proximable(norm: str | None, set_: str | None) -> bool:
    return norm is None or set_ is None or (norm, set_) in JOINTS


def _recognise_simplex(model: Model, name: str, sets: dict[str, list[int]], facts: list[str]) -> None:
    """x >= 0 with sum(x) == r is simplex(r), with sum(x) <= r solid_simplex(r)."""
    if "nonnegative" not in sets or "simplex" in sets or "solid_simplex" in sets:
        return
    for relation, recognised in (("eq", "simplex"), ("le", "solid_simplex")):
        for i, constraint in enumerate(model.constraints):
            if (
                constraint.relation == relation
                and sum_of_variable(constraint.argument) == name
                and not constraint.flipped
            ):
                sets[recognised] = [*sets.pop("nonnegative"), i]
                facts.append(f"{name}: nonnegative and `{constraint.text}` are {recognised}")
                return


def _merge_boxes(sets: dict[str, list[int]]) -> dict[str, list[int]]:
    """Boxes intersect to a box; a set given twice is one (of the smaller radius)."""
    boxes = [s for s in sets if s in BOXES]
    if len(boxes) < 2:
        return sets
    rest = {s: ids for s, ids in sets.items() if s not in BOXES}
    return {**rest, "box": [i for s in boxes for i in sets[s]]}


def _refuse(what: str, span: object, model: Model, hint: str) -> Diagnostic:
    return Diagnostic(
        "FW5001",
        f"this version cannot solve a program with {what} yet",
        span=span,  # type: ignore[arg-type]
        source=model.source,
        rule="the planner refuses what no method covers, before any work is done",
        hint=hint,
    )


_HINT = "the program is correct; solvable now are vector and scalar variables with the scalar losses, norms and balls of vectors"


def _variable_refusals(model: Model) -> list[Diagnostic]:
    return [
        _refuse(f"a variable of type {v.type.kind}", v.span, model, _HINT)
        for v in model.variables
        if v.type.kind not in ("real", "vector")
    ]


def _term_refusals(model: Model) -> list[Diagnostic]:
    out = []
    for term in model.terms:
        supported = {"loss": term.atom in LOSSES, "function": term.atom in (*NORMS, "sum_squares"), "affine": True}
        if not supported[term.kind]:
            out.append(_refuse(f"`{term.atom}`", term.span, model, _HINT))
    return out


def _constraint_refusals(model: Model) -> list[Diagnostic]:
    return [
        _refuse(f"the set `{c.set.name}`", c.set.span, model, _HINT)
        for c in model.constraints
        if c.set is not None and c.set.name not in SETS
    ]


#: Operations of the language that this version has neither a value nor a linear map for.
_UNSOLVED = {
    "features": "the feature map `{}`",
    "inner": "`inner`",
    "quad": "`quad`",
    "gather": "`F[task]`",
    "observe": "`B[M]`",
}


def _expression_refusals(model: Model) -> list[Diagnostic]:
    out = {
        node.span: _refuse(f"{_UNSOLVED[node.op].format(node.name)}", node.span, model, _HINT)
        for expr in _expressions(model)
        for node in expr.walk()
        if node.op in _UNSOLVED
    }
    return list(out.values())


def _expressions(model: Model) -> Iterator[Expr]:
    """Every expression of a model, those of sets and of options included."""
    for term in model.terms:
        yield from (term.coefficient, term.argument, *(e for _, e in term.options))
        yield from (e for e in (term.target, term.weights) if e is not None)
    for constraint in model.constraints:
        yield constraint.argument
        yield from (e for _, e in (constraint.set.args if constraint.set is not None else ()))
    for _, value in model.lets:
        if isinstance(value, Expr):
            yield value


def terms_of(model: Model, indices: tuple[int, ...]) -> list[Term]:
    """The model's terms at some indices."""
    return [model.terms[i] for i in indices]


def constraints_of(model: Model, indices: tuple[int, ...]) -> list[Constraint]:
    """The model's constraints at some indices."""
    return [model.constraints[i] for i in indices]
