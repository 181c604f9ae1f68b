"""The place of each term in the canonical form, from names alone. A plan without data shows it; `build` fills it with numbers.

A term or set on a bare variable may stay with its block, in g; everything else is a term of the sum under its linear map. Of the terms and sets
on one block, g keeps one (norm, set) pair with a registered joint prox and all `sum_squares`, and `norm1` beside a norm that is a sum of Euclidean
lengths and has no set; the others move into the sum with K = identity.
"""

from __future__ import annotations

from ..bind.features import implicit_maps
from ..light_dataclass import light_dataclass
from ..model import ConstraintDecl, Expr, Model, SetRef, Term, Type, once_per_model
from ..words import BOX, CONVEX, LOSSES, SETS
from .groups import overlapping, same_groups
from .matrix_prediction import MatrixPrediction, matrix_prediction
from .pairs import COLUMNS_OF_SIMPLEX, ROWS_OF_SIMPLEX, in_block, innermost, key_of, kind_of, rank


@light_dataclass
class BlockPlan:
    """g of one variable: indices of the model's terms (`norms`, `ridges`) and constraints (`sets`, all merged into `set`).

    `besides` are the terms of a second norm, `beside`, that g keeps: sizes of entries beside lengths of groups.
    `set` is a set's key (`rows(simplex)`: `names.key_of`); `implicit` says that the variable is over an implicit feature map.
    """

    name: str
    type: Type
    norm: str | None = None
    norms: tuple[int, ...] = ()
    set: str | None = None
    sets: tuple[int, ...] = ()
    ridges: tuple[int, ...] = ()
    in_sum: tuple[str, ...] = ()
    implicit: bool = False
    beside: str | None = None
    besides: tuple[int, ...] = ()


@light_dataclass
class SumPlan:
    """A term f_i(K_i x + b_i): a loss, a norm, or the indicator of a set, `atom` being its key (le and eq are boxes).

    A constraint may become several: `birkhoff` is `rows(simplex)` and `columns(simplex)`, a point of a `polytope` a mean of its vertices, which
    takes a variable of our own. `over` tells a loss of a matrix variable itself: "entries" of it, or a "product" of data with it
    (`matrix_prediction`), `intercept` the variable that is added to it.
    """

    kind: str
    atom: str
    origin: int
    is_constraint: bool
    text: str
    bare: str | None = None
    over: str | None = None
    intercept: str | None = None


@light_dataclass
class Arrangement:
    """The canonical form without its numbers."""

    blocks: tuple[BlockPlan, ...]
    sums: tuple[SumPlan, ...]
    linear: tuple[int, ...]
    facts: tuple[str, ...]
    lifted: tuple[int, ...] = ()


def bare_variable(expr: Expr) -> str | None:
    """The variable that an expression is, perhaps times a constant scalar; None for other expressions."""
    if expr.op == "var":
        return expr.name
    if expr.op == "neg":
        return bare_variable(expr.args[0])
    if expr.op == "mul" and not any(a.type.array_shape for a in expr.args if a.is_constant):
        return next((bare_variable(a) for a in expr.args if not a.is_constant), None)
    if expr.op == "div" and not expr.args[1].type.array_shape:
        return bare_variable(expr.args[0])
    return None


def is_ridge(term: Term) -> bool:
    """True if a term is a multiple of the squares of a variable: `sum_squares(x)`, `quad_form(x, eye(n))`, `sum(squared(x, zeros(n)))`."""
    if bare_variable(term.argument) is None:
        return False
    if term.kind == "loss":
        target = term.target
        empty = target is not None and (target.op == "zeros" or (target.op == "const" and target.value == 0.0))
        return LOSSES[term.atom].square and empty and term.weights is None
    word = CONVEX.get(term.atom) if term.kind == "function" else None
    if word is None or not word.as_loss:
        return False
    return not word.root_of or dict(term.options)[word.root_of].op == "eye"


def parts_of(expr: Expr) -> tuple[Expr, tuple[Expr, ...]]:
    """The part of a sum in the variables, where it is one, and the constants that are added to it."""
    if expr.op != "add":
        return expr, ()
    live = [a for a in expr.args if not a.is_constant]
    if len(live) != 1:
        return expr, ()
    inner, constants = parts_of(live[0])
    return inner, (*constants, *(a for a in expr.args if a.is_constant))


def sum_of_variable(expr: Expr) -> str | None:
    """x, where an expression is sum(x) plus constants."""
    if expr.op == "sum" and expr.args[0].op == "var":
        return expr.args[0].name
    if expr.op == "add":
        live = [a for a in expr.args if not a.is_constant]
        if len(live) == 1:
            return sum_of_variable(live[0])
    return None


@once_per_model
def arrange(model: Model, apart: frozenset[tuple[str, int]] = frozenset()) -> Arrangement:
    """The arrangement of a model. Every accepted model has one.

    `apart` has what may stay with no block for numbers that only an instance shows, as ("term", 0) or ("constraint", 2): `groups.weightless`.
    """
    blocks: list[BlockPlan] = []
    sums: list[SumPlan] = []
    facts: list[str] = []
    kept_terms: set[int] = set()
    kept_constraints: set[int] = set()
    for variable in model.variables:
        plan = _arrange_block(model, variable.name, variable.type, facts, apart)
        blocks.append(plan)
        kept_terms.update(plan.norms, plan.besides, plan.ridges)
        kept_constraints.update(plan.sets)
    linear = tuple(i for i, t in enumerate(model.terms) if t.kind == "affine")
    for i, term in enumerate(model.terms):
        if i not in kept_terms and i not in linear:
            sums.append(_sum_of_term(i, term))
    lifted: list[int] = []
    for i, constraint in enumerate(model.constraints):
        if i in kept_constraints:
            # what a block keeps of a birkhoff polytope is its rows
            if constraint.set is not None and _is_rows_and_columns(constraint.set):
                sums.append(
                    SumPlan("set", COLUMNS_OF_SIMPLEX, i, True, constraint.text, bare_variable(constraint.argument))
                )
            continue
        if constraint.set is not None and SETS[innermost(constraint.set).name].written_as == "hull":
            lifted.append(i)
        sums += _sums_of_constraint(i, constraint)
    return Arrangement(tuple(blocks), tuple(sums), linear, tuple(facts), tuple(lifted))


def _sum_of_term(i: int, term: Term) -> SumPlan:
    if term.kind == "loss":
        return _loss_plan(i, term, term.atom, matrix_prediction(term.argument))
    word = CONVEX[term.atom]
    if word.as_loss:
        return _loss_plan(i, term, word.as_loss, matrix_prediction(term.argument) if not word.root_of else None)
    if word.as_row_loss:
        return _loss_plan(i, term, word.as_row_loss, None)
    return SumPlan("norm", term.atom, i, False, term.text, None if term.of_rows else _own_variable(term))


def _own_variable(term: Term) -> str | None:
    """The variable that a function is of, where a factor of it can be taken out: of a norm and of squares, not of the entropy.

    A positive factor in a determinant is a number that is added to its logarithm.
    """
    word, argument = CONVEX[term.atom], term.argument
    apart = word.of_determinant and _is_positive_multiple(argument)
    return bare_variable(argument) if word.degree or apart or argument.op == "var" else None


def _is_positive_multiple(expr: Expr) -> bool:
    """True if `bare_variable` finds a variable times factors that are all known to be positive."""
    if expr.op == "var":
        return True
    if expr.op == "div":
        return expr.args[1].sign == "positive" and _is_positive_multiple(expr.args[0])
    if expr.op != "mul":
        return False
    return all(_is_positive_multiple(a) if not a.is_constant else a.sign == "positive" for a in expr.args)


def _loss_plan(i: int, term: Term, atom: str, found: MatrixPrediction | None) -> SumPlan:
    if found is None:
        return SumPlan("loss", atom, i, False, term.text)
    intercept = found.intercept[0].name if found.intercept is not None else None
    return SumPlan("loss", atom, i, False, term.text, over=found.kind, intercept=intercept)


def _sums_of_constraint(i: int, constraint: ConstraintDecl) -> list[SumPlan]:
    bare = constraint.argument.name if constraint.argument.op == "var" else None
    if constraint.relation == "below":
        return [SumPlan("set", "epigraph", i, True, constraint.text)]
    if constraint.set is None:
        keys: tuple[str, ...] = (BOX,)
    elif _is_rows_and_columns(constraint.set):
        keys = ROWS_OF_SIMPLEX, COLUMNS_OF_SIMPLEX
    else:
        keys = (key_of(constraint.set),)
    return [SumPlan("set", k, i, True, constraint.text, bare) for k in keys]


def _is_rows_and_columns(ref: SetRef) -> bool:
    """True if a set is written as the simplices of its rows and those of its columns."""
    return SETS[ref.name].written_as == "rows and columns"


def _arrange_block(
    model: Model, name: str, type_: Type, facts: list[str], apart: frozenset[tuple[str, int]]
) -> BlockPlan:
    norms: dict[str, list[int]] = {}
    ridges = []
    for i, term in enumerate(model.terms):
        if is_ridge(term):
            ridges += [i] if bare_variable(term.argument) == name else []
        elif (
            term.kind == "function"
            and _own_variable(term) == name
            and not (CONVEX[term.atom].as_row_loss or term.of_rows)
        ):
            is_apart = overlapping(term.options) or ("term", i) in apart
            if in_block(term.atom, None, type_) and not is_apart:
                norms.setdefault(term.atom, []).append(i)
    sets: dict[str, list[int]] = {}
    for i, constraint in enumerate(model.constraints):
        if constraint.set is not None and constraint.argument.op == "var" and constraint.argument.name == name:
            key = ROWS_OF_SIMPLEX if _is_rows_and_columns(constraint.set) else key_of(constraint.set)
            if in_block(None, key, type_) and not (
                overlapping(innermost(constraint.set).args) or ("constraint", i) in apart
            ):
                sets.setdefault(key, []).append(i)
    if kind_of(type_) == "vector":
        _recognise_simplex(model, name, sets, facts)
    groups = _merge_boxes(sets, list(norms), type_)
    pairs = [(n, s) for n in (*norms, None) for s in (*sorted(groups, key=rank), None) if in_block(n, s, type_)]
    pairs = [pair for pair in pairs if _of_same_groups(model, norms, groups, pair)]
    # keeping both beats keeping the set, which beats keeping the norm: points then satisfy the set exactly
    norm, set_ = max(pairs, key=lambda p: 2 * (p[1] is not None) + (p[0] is not None))
    norm, beside = (norm, None) if set_ is not None else _two_norms(norm, list(norms))
    kept_sets = tuple(groups.get(set_, ())) if set_ else ()
    if set_ is not None and not (set_ in SETS and (SETS[set_].bounds or SETS[set_].one_radius)):
        # only one of several with numbers of their own
        kept_sets = kept_sets[:1]
    kept_norms = tuple(norms.get(norm, ())) if norm else ()
    if norm is not None and CONVEX[norm].options:
        kept_norms = kept_norms[:1]
    besides = tuple(norms.get(beside, ())) if beside else ()
    in_sum = [model.terms[i].text for ids in norms.values() for i in ids if i not in (*kept_norms, *besides)]
    in_sum += [model.constraints[i].text for ids in groups.values() for i in ids if i not in kept_sets]
    if in_sum and (norm or set_):
        kept = " with ".join(w for w in (norm, beside, set_) if w)
        facts.append(f"{name}: {kept} has a joint prox; no joint prox with {', '.join(in_sum)}, moved into the sum")
    return BlockPlan(
        name,
        type_,
        norm,
        kept_norms,
        set_,
        kept_sets,
        tuple(ridges),
        tuple(in_sum),
        name in implicit_maps(model),
        beside,
        besides,
    )


def _two_norms(norm: str | None, norms: list[str]) -> tuple[str | None, str | None]:
    """The norms that g keeps where there is no set: a sum of lengths with the sum of sizes, if the variable has both, else the one chosen."""
    lengths = next((n for n in norms if CONVEX[n].adds_lengths), None)
    sizes = next((n for n in norms if CONVEX[n].adds_sizes), None)
    return (lengths, sizes) if lengths is not None and sizes is not None else (norm, None)


def _of_same_groups(
    model: Model, norms: dict[str, list[int]], sets: dict[str, list[int]], pair: tuple[str | None, str | None]
) -> bool:
    """True if a norm and a set of groups have the same groups."""
    norm, key = pair
    if norm is None or not CONVEX[norm].grouped or key is None:
        return True
    ball = model.constraints[sets[key][0]].set
    assert ball is not None
    return same_groups(model.terms[norms[norm][0]].options, ball.args)


def _recognise_simplex(model: Model, name: str, sets: dict[str, list[int]], facts: list[str]) -> None:
    """x >= 0 with sum(x) == r is simplex(r), with sum(x) <= r solid_simplex(r)."""
    for recognised in _SUMS.values():
        if recognised.cone not in sets or any(word.name in sets for word in _SUMS.values()):
            return
    for relation, recognised in _SUMS.items():
        for i, constraint in enumerate(model.constraints):
            if (
                constraint.relation == relation
                and sum_of_variable(constraint.argument) == name
                and not constraint.flipped
            ):
                sets[recognised.name] = [*sets.pop(recognised.cone), i]
                facts.append(f"{name}: {recognised.cone} and `{constraint.text}` are {recognised.name}")
                return


#: The sets of vectors that bound the sum of nonnegative entries, by the relation of the sum to the bound.
_SUMS = {
    {"equal": "eq", "most": "le"}[word.total]: word
    for word in SETS.values()
    if word.of == "vector" and word.total in ("equal", "most")
}


def _merge_boxes(sets: dict[str, list[int]], norms: list[str], type_: Type) -> dict[str, list[int]]:
    """Boxes intersect to a box, and a set that is one is written as one; a set given twice is one (of the smaller radius).

    One that is known by its bounds alone, as those from outside are, is written as a box where only a box has a joint prox with a norm.
    """
    boxes = [s for s in sets if s in SETS and SETS[s].bounds]
    if len(boxes) < 2:
        joint = [n for n in norms if in_block(n, BOX, type_)]
        as_box = {s for s in boxes if SETS[s].given_bounds or any(not in_block(n, s, type_) for n in joint)}
        return {BOX if s in as_box else s: ids for s, ids in sets.items()}
    rest = {s: ids for s, ids in sets.items() if s not in boxes}
    return {**rest, BOX: [i for s in boxes for i in sets[s]]}
