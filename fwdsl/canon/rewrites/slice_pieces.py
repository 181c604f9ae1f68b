"""The functions and sets of slices of a vector in a model: the pieces that `slices.py` splits it by."""

from __future__ import annotations

from collections.abc import Iterable

from ...light_dataclass import light_dataclass
from ...model import ConstraintDecl, Dim, Expr, Term, VarDecl
from .draft import Draft, Key
from .expressions import number_and_rest

END = 1 << 40
"""Positions from the end are counted from here."""

Range = tuple[int, int]


@light_dataclass
class SlicePiece:
    """A function or a set of c w[a:b]."""

    key: Key
    at: Range
    c: float
    sign: tuple[object, ...]
    joins: bool
    lengths: bool
    term: Term | None = None
    constraint: ConstraintDecl | None = None


def pieces_of(draft: Draft, variable: VarDecl) -> tuple[list[SlicePiece], list[Expr]]:
    """The functions and sets of slices of a variable, and the other expressions that it enters."""
    found: list[SlicePiece] = []
    others: list[Expr] = []
    model, name, dim = draft.model, variable.name, variable.type.array_shape[0]
    for term, key in zip(model.terms, draft.terms, strict=True):
        c, at = _slice_of(term.argument, name, dim)
        if name not in term.argument.variables:
            continue
        word = term.convex
        if at is None or word is None or not (word.is_norm or word.adds_squares) or word.grouped:
            others.append(term.argument)
            continue
        lengths = word.euclidean and word.is_norm
        sign: tuple[object, ...] = (term.atom, term.coefficient, c, term.options)
        found.append(SlicePiece(key, at, c, sign, word.additive or word.adds_squares, lengths, term=term))
    for constraint, key in zip(model.constraints, draft.constraints, strict=True):
        if name not in constraint.argument.variables:
            continue
        c, at = _slice_of(constraint.argument, name, dim)
        if at is None or constraint.set is None or constraint.set.inner is not None or c != 1.0:
            others.append(constraint.argument)
            continue
        word_of_set, args = constraint.set.word, constraint.set.args
        entrywise = word_of_set.bounds and not word_of_set.scaled and not any(e.type.array_shape for _, e in args)
        sign = (constraint.set.name, tuple(constraint.set.args), c)
        found.append(SlicePiece(key, at, c, sign, entrywise, False, constraint=constraint))
    return found, others


def _slice_of(e: Expr, name: str, dim: Dim) -> tuple[float, Range | None]:
    """(c, range) of c w[range]."""
    c, rest = number_and_rest(e)
    if rest.op == "var" and rest.name == name:
        return c, (0, END)
    if rest.op != "slice" or rest.args[0].op != "var" or rest.args[0].name != name:
        return c, None
    item = rest.value[0] if isinstance(rest.value, tuple) else rest.value
    if isinstance(item, int):
        item = (item, item + 1 or None)
    if not isinstance(item, tuple) or len(item) != 2:
        return c, None
    start, stop = item
    ends = [0 if start is None else start, END if stop is None else stop]
    if not all(isinstance(p, int) for p in ends):
        return c, None
    first, last = (p if p >= 0 else END + p for p in ends)
    if isinstance(dim, int):
        first, last = (p if p < END // 2 else dim - (END - p) for p in (first, last))
        last = END if last >= dim else last
    return c, (first, last)


def is_linear(draft: Draft, name: str, others: Iterable[Expr]) -> bool:
    """True if the variable enters what is no function of a slice by matrices of data alone."""
    return all(_times_data(e, name) for e in others)


def _times_data(e: Expr, name: str) -> bool:
    if name not in e.variables:
        return True
    if e.op == "matmul":
        return e.args[0].op == "data" and e.args[1].op == "var" and len(e.args[0].type.array_shape) == 2
    if e.op in ("add", "neg", "mul", "div"):
        return all(_times_data(a, name) for a in e.args)
    return False


def keys_of(piece: SlicePiece) -> Iterable[Key]:
    """The keys of the pieces that a group norm was joined of; none for a piece of the program itself."""
    return piece.key[1] if piece.key[0] == "new" and isinstance(piece.key[1], tuple) else ()


def ranges_of(piece: SlicePiece) -> list[tuple[Key, Range]]:
    """The keys of the program that a piece is of, with their ranges: those of a group norm have a group each."""
    keys = list(keys_of(piece))
    if not keys:
        return [(piece.key, piece.at)]
    assert piece.term is not None
    groups = piece.term.options[0][1].value
    assert isinstance(groups, tuple)
    return [(k, (piece.at[0] + g[0], piece.at[0] + g[-1] + 1)) for k, g in zip(keys, groups, strict=True)]


def products_of(draft: Draft, name: str) -> list[Expr]:
    """The products of something with the variable, in all terms and constraints."""
    model = draft.model
    roots = [t.argument for t in model.terms] + [c.argument for c in model.constraints]
    return [e for r in roots for e in r.walk() if e.op == "matmul" and e.args[1].op == "var" and e.args[1].name == name]
