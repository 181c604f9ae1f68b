r"""A vector whose slices have norms or sets of their own is split into variables, one for each.

    f(A w) + g(w[a:b]) + h(w[b:])     =     f(A[:, a:b] u + A[:, b:] v) + g(u) + h(v)

so an intercept may be a column of ones of the data, with `norm1(w[1:])` beside. Neighbours with the same function of entries stay together, and
Euclidean norms of neighbours with one coefficient are a group norm. A part of one entry is a number, whose column of ones is an intercept.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from ...check import algebra, shapes
from ...light_dataclass import light_dataclass
from ...model import ConstraintDecl, Dim, Expr, SetRef, Term, Type, VarDecl, shift_dim
from ...words import BOX, CONVEX, GROUPED
from ..form import Canonical
from .draft import Draft, Duals, Key, RewritingStep
from .expressions import changed, times
from .slice_pieces import END, Range, SlicePiece, is_linear, keys_of, pieces_of, products_of, ranges_of

MOST_PARTS = 3
"""The parts that a variable is split into at most: each has its own columns of the data."""


@light_dataclass
class Share:
    """The entries from `start` of what was made that the multiplier of a piece is."""

    key: Key
    made: Key
    start: int
    at: Range


@light_dataclass
class Slices(RewritingStep):
    """A variable in parts, each from a position to the next."""

    name: str
    pieces: tuple[tuple[str, Range], ...]
    shares: tuple[Share, ...]
    data: frozenset[str]
    fact: str

    def sizes(self, n: int) -> list[Range]:
        """The positions of the parts in a vector of length n."""
        return [(_at(a, n), _at(b, n)) for _, (a, b) in self.pieces]

    def parts(self, outer: Canonical) -> dict[str, tuple[str, slice]]:
        """The ranges of the pieces."""
        n = next(b for b in outer.blocks if b.name == self.name).size
        return {name: (self.name, slice(a, b)) for (name, _), (a, b) in zip(self.pieces, self.sizes(n), strict=True)}

    def multipliers(self, duals: Duals) -> None:
        """The entries of each piece."""
        n = next(b for b in duals.form.blocks if b.name == self.name).size
        for share in self.shares:
            y = duals.known.get(share.made)
            if y is not None:
                a, b = (_at(p, n) for p in share.at)
                duals.known[share.key] = y[a - share.start : b - share.start]

    def inward(self, duals: Duals) -> None:
        """The pieces in a row."""
        for made in {s.made for s in self.shares}:
            rows = [duals.known.get(s.key) for s in self.shares if s.made == made]
            found = [y for y in rows if y is not None]
            if len(found) == len(rows):
                duals.known[made] = np.concatenate(found)


def _at(position: int, n: int) -> int:
    return position if position < END // 2 else n - (END - position)


def sliced(draft: Draft) -> tuple[Draft, Slices] | None:
    """The model with the first variable in parts whose slices have functions of their own."""
    for variable in draft.model.variables:
        if variable.type.is_vector:
            found = _in_parts(draft, variable)
            if found is not None:
                return found
    return None


def _in_parts(draft: Draft, variable: VarDecl) -> tuple[Draft, Slices] | None:
    pieces, others = pieces_of(draft, variable)
    if not any(p.at != (0, END) for p in pieces) or not is_linear(draft, variable.name, others):
        return None
    pieces = _grouped(pieces, variable.type.array_shape[0])
    ends = sorted({0, END, *(e for p in pieces for e in p.at)})
    if any(e < 0 for e in ends) or any(p.at[0] >= p.at[1] for p in pieces):
        return None
    parts = _joined(list(pairwise(ends)), pieces)
    if len(parts) > MOST_PARTS:
        return None
    names = [variable.name if len(parts) == 1 else f"{variable.name}[{_told(a)}:{_told(b)}]" for a, b in parts]
    made = _made(pieces, parts)
    if made is None:
        return None
    return _draft(draft, variable, list(zip(names, parts, strict=True)), pieces, made)


# --- parts ------------------------------------------------------------------------------------------------------------


def _grouped(pieces: list[SlicePiece], dim: Dim) -> list[SlicePiece]:
    """Euclidean norms of neighbours with one coefficient as one group norm of the range that they cover."""
    whole = dim if isinstance(dim, int) else END
    ends = {p.key: (p.at[0], whole if p.at[1] == END else p.at[1]) for p in pieces}
    lengths = sorted((p for p in pieces if p.lengths), key=lambda p: p.at)
    runs: list[list[SlicePiece]] = []
    for piece in lengths:
        if (
            runs
            and runs[-1][-1].at[1] == piece.at[0]
            and runs[-1][-1].sign == piece.sign
            and ends[piece.key][1] < END // 2
        ):
            runs[-1].append(piece)
        else:
            runs.append([piece])
    out = [p for p in pieces if not p.lengths]
    for run in runs:
        if len(run) == 1:
            out += run
            continue
        start, stop = run[0].at[0], run[-1].at[1]
        groups = tuple(tuple(range(ends[p.key][0] - start, ends[p.key][1] - start)) for p in run)
        first = run[0].term
        assert first is not None
        listed = algebra.make("list", shapes.REAL, value=groups)
        text = " + ".join(p.term.text for p in run if p.term is not None)
        term = replace(first, atom=GROUPED, options=((CONVEX[GROUPED].options[0].name, listed),), text=text)
        key: Key = ("new", tuple(p.key for p in run))
        out.append(SlicePiece(key, (start, stop), run[0].c, (GROUPED, start), False, False, term=term))
    return out


def _joined(parts: list[Range], pieces: list[SlicePiece]) -> list[Range]:
    """Neighbours with the same functions of entries are one part."""

    def signs(part: Range) -> list[object] | None:
        over = [p for p in pieces if p.at[0] <= part[0] and part[1] <= p.at[1]]
        if not all(p.joins for p in over):
            return None
        return sorted((p.sign for p in over), key=repr)

    out = [parts[0]]
    for part in parts[1:]:
        own = signs(part)
        if own is not None and own == signs(out[-1]):
            out[-1] = (out[-1][0], part[1])
        else:
            out.append(part)
    return out


Made = list[tuple[Key, int, SlicePiece, list[SlicePiece]]]


def _made(pieces: list[SlicePiece], parts: list[Range]) -> Made | None:
    """The pieces that each function on each part joins: (key, part, one of them, all); None where one is across parts."""
    out: Made = []
    for j, (a, b) in enumerate(parts):
        for sign in dict.fromkeys(p.sign for p in pieces):
            same = [p for p in pieces if p.sign == sign]
            own = [p for p in same if a < p.at[1] and p.at[0] < b]
            if not own:
                continue
            across = any(p.at[0] < a or p.at[1] > b for p in own) and not own[0].term
            if across or (not own[0].joins and (len(own) != 1 or own[0].at != (a, b))):
                return None
            out.append((("new", (own[0].key, j)), j, own[0], own))
    return out


def _told(position: int) -> str:
    return "" if position in (0, END) else str(position) if position < END // 2 else str(position - END)


# --- the model --------------------------------------------------------------------------------------------------------


def _draft(
    draft: Draft, variable: VarDecl, parts: list[tuple[str, Range]], pieces: list[SlicePiece], made: Made
) -> tuple[Draft, Slices] | None:
    dim = variable.type.array_shape[0]
    types = [variable.type] if len(parts) == 1 else [_type(at, dim) for _, at in parts]
    variables = [
        Expr("var", type_, name=name, variables=frozenset((name,)))
        for (name, _), type_ in zip(parts, types, strict=True)
    ]

    terms, constraints = _around(draft, variable, parts, variables, pieces)
    for key, j, piece, _ in made:
        argument = times(piece.c, variables[j])
        if piece.term is not None:
            terms.append((key, replace(piece.term, argument=argument)))
        else:
            assert piece.constraint is not None
            constraints.append((key, _on(piece.constraint, argument)))
    declared: list[VarDecl] = []
    for v in draft.model.variables:
        own = [VarDecl(n, t, v.span) for (n, _), t in zip(parts, types, strict=True)]
        declared += own if v.name == variable.name else [v]
    new = replace(
        draft.model,
        variables=tuple(declared),
        terms=tuple(t for _, t in terms),
        constraints=tuple(c for _, c in constraints),
    )
    result = Draft(new, tuple(k for k, _ in terms), tuple(k for k, _ in constraints))
    fact = f"{variable.name}: its slices have functions of their own, so it is {' and '.join(n for n, _ in parts)}"
    if len(parts) == 1:
        fact = f"{variable.name}: its slices have one function together"
    data = frozenset(d.name for e in products_of(draft, variable.name) for d in e.args[0].walk() if d.op == "data")
    return result, Slices(
        variable.name, tuple(parts), _shares(parts, made), data if len(parts) > 1 else frozenset(), fact
    )


def _around(
    draft: Draft, variable: VarDecl, parts: list[tuple[str, Range]], variables: list[Expr], pieces: list[SlicePiece]
) -> tuple[list[tuple[Key, Term]], list[tuple[Key, ConstraintDecl]]]:
    """The terms and constraints beside the pieces, with A w = sum over the parts of A[:, a:b] times the part's variable."""

    def change(e: Expr) -> Expr | None:
        if e.op == "matmul" and e.args[1].op == "var" and e.args[1].name == variable.name:
            if len(parts) == 1:
                return e
            terms = [_product(e, v, at) for v, (_, at) in zip(variables, parts, strict=True)]
            return algebra.add(terms, shapes.plain(e.type), e.span)
        return None

    of_pieces = {p.key for p in pieces} | {k for p in pieces for k in keys_of(p)}
    terms = [
        (key, replace(t, argument=changed(t.argument, change)))
        for key, t in zip(draft.terms, draft.model.terms, strict=True)
        if key not in of_pieces
    ]
    constraints = [
        (key, replace(c, argument=changed(c.argument, change)))
        for key, c in zip(draft.constraints, draft.model.constraints, strict=True)
        if key not in of_pieces
    ]
    return terms, constraints


def _shares(parts: list[tuple[str, Range]], made: Made) -> tuple[Share, ...]:
    """The shares of the pieces that were joined, in the multipliers of what was made of them."""
    shares: list[Share] = []
    for key, j, _, joined in made:
        start, stop = parts[j][1]
        for p in joined:
            if start <= p.at[0] and p.at[1] <= stop:
                shares += [Share(k, key, start, at) for k, at in ranges_of(p)]
    return tuple(shares)


def _on(constraint: ConstraintDecl, argument: Expr) -> ConstraintDecl:
    """The constraint of another argument: a vector's set of one number is that number's."""
    ref = constraint.set
    assert ref is not None
    if not argument.type.array_shape:
        r = dict(ref.args).get("r")
        if r is not None:
            ref = SetRef(BOX, (("lo", algebra.negate(r)), ("hi", r)), span=ref.span)
    return replace(constraint, argument=argument, set=ref)


def _type(at: Range, dim: Dim) -> Type:
    a, b = at
    if b < END // 2 or a >= END // 2:
        return shapes.REAL if b - a == 1 else shapes.of_shape((b - a,))
    return shapes.of_shape((shift_dim(shift_dim(dim, b - END), -a),))


def _product(e: Expr, part: Expr, at: Range) -> Expr:
    """The columns of a matrix of data times a part."""
    A = e.args[0]
    a, b = at
    rows = A.type.array_shape[0]
    start, stop = (None if p in (0, END) else p if p < END // 2 else p - END for p in (a, b))
    if not part.type.array_shape:
        column = algebra.make(
            "slice", shapes.of_shape((rows,)), (A,), value=((None, None), a if a < END // 2 else a - END)
        )
        return algebra.multiply(column, part, shapes.plain(e.type))
    shape = shapes.of_shape((rows, part.type.array_shape[0]))
    name = f"{A.name}[:, {_told(a)}:{_told(b)}]"
    columns = algebra.make("slice", shape, (A,), name=name, value=((None, None), (start, stop)))
    return algebra.matmul(columns, part, shapes.plain(e.type))
