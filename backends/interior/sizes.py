"""The kind of linear system that an interior-point step of some size solves, which the planner asks before anything is built."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fwdsl.atoms.base import VectorFunction
from fwdsl.atoms.conic import Cone, Conic, MatrixEntries
from fwdsl.canon.form import Canonical, once_per_form
from fwdsl.canon.maps import Diagonal, LinearMap
from fwdsl.canon.matrix_maps import LeftMultiply, RightMultiply
from fwdsl.canon.parts import Block, SumTerm

WHOLE = 250
"""Unknowns and rows up to which a system is factored whole."""

SPARSE = 0.02
"""The share of entries of A and P below which a condensed system is a sparse matrix."""

FILLS = 8.0
"""Products of rows of data for each unknown from which on the factor of a sparse system is taken to fill up: random patterns do, bands do not."""

LONGEST = 12
"""Rows of a cone up to which its scaling is kept as a sparse matrix."""

NEIGHBOURS = 8
"""Rows of a cone up to which its scaling is priced as sparse."""

WIDEST = 64
"""The distance of the unknowns of a row up to which the factor is a band."""

BAND, BAND_OF_EQUATIONS = 1e-9, 2e-9
"""Seconds of a number of a band and each of its diagonals below the main one, of a definite matrix and of one with equations."""

DENSE_SHARE = 0.25
"""The share of entries of A or K from which on it is kept as a dense matrix."""

HALF_FULL = 50.0
"""Products of rows of data for each unknown at which the factor of a random pattern takes half of what one without zeros takes: measured on random
matrices of 2 to 20 entries a row, with half to ten times as many columns as rows."""

ORDERED = 400_000
"""Entries of a system beyond which no order of its factor is looked for."""

UNORDERED = 6_000
"""Rows that see several unknowns from which on an order of a factor that fills up takes seconds to find."""

MOST_PARTS = 32
"""Parts at most that are factored each by itself: smaller ones are taken together, as a call costs more than they do."""

MOST_BLOCKS = 6
"""Variables up to which each choice of some of them is looked at."""

NEARLY = 1.2
"""The ratio of two predictions for systems as they stand up to which the others of the two tell which is less to factor."""

FREE, SHARE = 8, 0.7
"""Unknowns that nothing bends or bounds, up to which few long rows are the whole system, and the share of all unknowns up to which they are few."""

LARGEST = 10_000
"""The largest order of a system whose matrix has no zeros."""

MOST = 1_000_000
"""Unknowns and rows beyond which not even the conic forms are written down."""


WHOLE_FACTOR, FACTOR = 3e-11, 2.5e-11
"""Seconds of a factorisation of an indefinite and of a definite matrix, divided by the third power of its order."""

DENSE_PRODUCT, SPARSE_PRODUCT, PAIR = 5e-11, 2e-9, 5e-10
"""Seconds of a multiplication of a product of matrices, dense or sparse, and of one of the squares of sparse rows in a matrix without zeros."""

FILLED = 40.0
"""The factor by which a multiplication of a dense product is faster: rows of a sparse matrix that are so full are written out."""

OF_WRITING, OUTER = 20.0, 6.0
"""Seconds that writing down a number of scaled rows takes, and those of a number of an outer product and its sum, beside a multiplication of their
product."""

TURNED = 7e-10
"""Seconds of a multiplication of the scaling of a long cone with its rows of data."""

CALLS = 1.2e-3
"""Seconds of SciPy's calls that write down a sparse system of any size; one without equations in a band has its places found once."""

AS_IT_STANDS, OF_AN_ENTRY = 1.2e-9, 6e-8
"""Seconds of a multiplication of a sparse factorisation, and of its answers for each entry of A."""

OF_A_PLANE = 1.6e-8
"""Seconds of a factorisation for each unknown of a plane of differences and each unknown of its shorter side: the factor fills up along the lines
that cut the plane. Measured on pictures of 64 x 64 to 192 x 192."""

NEAREST = 4.5
"""The lines of a plane, less one, up to which a row of data sees neighbours: those of a blur by five diagonals."""

OF_AN_ORDER, OF_A_MATRIX = 4e-4, 2.7e-6
"""Seconds of a step for the cones of matrices of each order, decompositions and lengths of steps, and for each of them divided by the square of the
order: measured on 50 programs with matrices of order 3 to 60."""

CONGRUENCE, MIXED, MIXING = 5e-9, 6e-4, 3.4e-8
"""Seconds of the scaling of a cone of matrices for each of its numbers where it is written out, and those of one that is multiplied as a sparse
matrix, whatever its size and for each of its numbers."""

OF_A_PAIR = 1.5e-9
"""Seconds of a pair of rows of a complement that see one entry of a matrix each."""

OF_A_NUMBER, PASSES = 5e-9, 1e-8
"""Seconds that a number of the matrix that is factored takes beside that, and those of all products of a step with one of A."""


class Size(NamedTuple):
    """The size of a conic program, and the cheapest kind of system of a step."""

    unknowns: int
    rows: int
    entries: int  # stored in A
    kind: str  # "whole", "condensed", "reduced" to the unknowns that belong to no single entry, or "sparse"
    order: int  # of the matrix that is factored, or of its largest part that has no zeros
    seconds: float  # of a factorisation
    once: float  # seconds of the products that make P
    memory: float  # bytes
    quick: float = math.inf  # seconds of a factorisation of the system as it stands, without cones of matrices
    of_three: int = 0  # rows of cones of three
    fills: bool = False  # that factor may fill up so far that no order is looked for
    turns: float = 0.0  # seconds of a step for the decompositions of cones of matrices


FEW = 4
"""Rows of a quadratic term are few up to one in so many unknowns."""


@once_per_form
def conics_of(form: Canonical) -> tuple[Conic | None, ...]:
    """The conic forms that the systems are made of: the predictions of quadratic terms are unknowns of their own where that is less to factor.

    sum_i a_i z_i^2 / 2 with z = K x + b is K' diag(a) K in the objective, which fills up with the unknowns that the rows of K see. With u = z, of few
    rows, it is a diagonal beside as many equations, as of the factors of a portfolio's covariance.
    """
    apart = tuple(
        _apart(conic) if conic is not None and _is_few(form, term, conic) else conic
        for term, conic in zip(form.terms, form.conics, strict=False)
    )
    if None in form.conics or all(a is b for a, b in zip(apart, form.conics, strict=False)):
        return form.conics
    apart = (*apart, *form.conics[len(form.terms) :])
    whole, other = _size(form, form.conics), _size(form, apart)
    quick, quick_other = min(whole.seconds, whole.quick), min(other.seconds, other.quick)
    # what is told of the system as it stands is less sure than what is told of the others
    near = quick_other <= NEARLY * quick and other.seconds < whole.seconds
    return apart if near or quick_other < quick else form.conics


def _is_few(form: Canonical, term: SumTerm, conic: Conic) -> bool:
    """True of a quadratic term of few rows that see most unknowns between them."""
    few = 0 < FEW * term.map.rows <= form.size and _across(term) > form.size
    return few and not conic.cones and not conic.extra and bool(np.all(np.asarray(conic.curvature) > 0.0))


def _apart(conic: Conic) -> Conic:
    """a z^2 / 2 + c z as a u^2 / 2 + c u with z - u = 0."""
    own = np.arange(conic.size)
    return Conic(
        conic.size,
        conic.size,
        extra_curvature=conic.curvature,
        extra_slope=conic.slope,
        constant=conic.constant,
        of_z=MatrixEntries(own, own, np.ones(own.size)),
        of_u=MatrixEntries(own, own, np.full(own.size, -1.0)),
        offset=np.zeros(own.size),
        cones=(Cone("zero", own.size),),
    )


def _bends_its_own(conic: Conic) -> bool:
    """True if it has equations alone, and bends each of its unknowns."""
    bent = bool(np.all(np.asarray(conic.extra_curvature) > 0.0))
    return conic.extra > 0 and bent and all(cone.kind == "zero" for cone in conic.cones)


def unreadable(form: Canonical) -> str:
    """The reason why a function has no conic form, in the language's words; "" where all have one."""
    parts = [(t.f, t.text) for t in form.terms] + [(b.g, b.text) for b in form.blocks]
    for conic, (f, text) in zip(form.conics, parts, strict=True):
        if conic is None:
            limit = f.conic_limit() if isinstance(f, VectorFunction) else ""
            return f"the conic form of `{text}` would have {limit}" if limit else f"`{text}` has no conic form"
    return ""


def is_long(rows: int, seen: float, order: int) -> bool:
    """True if a second-order cone has so many rows, and sees so many unknowns, that two outer products take less time than its scaled rows."""
    return rows > LONGEST and rows * seen * (OF_WRITING + seen) > OUTER * order**2


@once_per_form
def size_of(form: Canonical) -> Size:
    """The size of a canonical problem whose functions have conic forms."""
    return _size(form, conics_of(form))


def _size(form: Canonical, conics: Sequence[Conic | None]) -> Size:
    """The size of a problem with these conic forms of its functions."""
    known = [conic for conic in conics if conic is not None]
    unknowns = sum(free_entries(b) for b in form.blocks) + sum(conic.extra for conic in known)
    rows = sum(conic.offset.size for conic in known)
    equations = sum(cone.rows for conic in known for cone in conic.cones if cone.kind == "zero")
    of_three = sum(cone.rows for conic in known for cone in conic.cones if cone.is_of_three)
    entries = sum(conic.of_u.value.size for conic in known)
    entries += sum(conic.of_z.value.size for conic in known[len(form.terms) :])
    entries += sum(int(_repeats(conic) * _across(term)) for term, conic in zip(form.terms, known, strict=False))
    turns = _of_matrices(known, unknowns)
    if unknowns + rows <= WHOLE:
        return Size(
            unknowns,
            rows,
            entries,
            "whole",
            unknowns + rows,
            1e-6 * (unknowns + rows) + WHOLE_FACTOR * (unknowns + rows) ** 3,
            0.0,
            24.0 * (unknowns + rows) ** 2,
            of_three=of_three,
            turns=turns.each,
        )
    near = _near_maps(form)
    products = squares = dense = of_equations = filling = 0.0
    for term, conic in zip(form.terms, known, strict=False):
        own, of_zeros = _repeats(conic) * _products(term), all(cone.kind == "zero" for cone in conic.cones)
        # differences and slices hardly fill a factor up, nor does what sees neighbours in a plane
        filling += own if any(m.nnz and m not in near for _, m in term.map.parts) else 0.0
        # those of quadratic losses are in P, which is formed once
        if np.any(conic.curvature):
            squares += own
        elif 0 < equations**2 <= FILLS * unknowns and of_zeros:
            # a few equations are a border of the matrix, however long they are
            border = float(equations * sum(m.entries for _, m in term.map.parts))
            products, filling = products + border, filling + border - own
        else:
            products, of_equations = products + own, of_equations + (own if of_zeros else 0.0)
            dense += own if _across(term) > DENSE_SHARE * term.map.rows * form.size else 0.0
    once = DENSE_PRODUCT * squares
    # rows of the forms themselves, such as the sums of simplices
    others = sum(float(np.square(np.bincount(conic.of_z.row)).sum()) for conic in known)
    # the scaling of a matrix cone has no zeros, nor has that of a cone of lengths
    full = _filled_cones(form, known)
    scaled = sum(rows * (seen * seen if rows > NEIGHBOURS else float(rows)) for rows, seen in full)
    order, long, strands = unknowns + equations, _long_rows(form, known), _strands(form, known)
    quick, fills_up = math.inf, False
    if entries <= ORDERED and not any(cone.kind == "semidefinite" for conic in known for cone in conic.cones):
        # there a long cone of lengths has two unknowns more, and no matrix of its size
        alone = sum(float(rows) ** 2 if rows <= NEIGHBOURS else 2.0 * rows for rows, _ in full)
        quick = AS_IT_STANDS * (products + others + alone + squares) + OF_AN_ENTRY * entries
        fills_up = filling + others + alone > FILLS * unknowns
        if fills_up:
            # what is left once all rows are eliminated that see one unknown alone, and all unknowns that one cone sees alone, of which the end has
            # no zeros
            ends = min(unknowns, form.size + _far_ends(known)) - _seen_once(form, known)
            left = min(ends, _mixing_rows(form, known), _hubs(form, known))
            met = (filling + others + alone) / max(1, form.size)
            share = met**2 / (met**2 + HALF_FULL**2)
            quick += AS_IT_STANDS * share * float(left) ** 3 / (3.0 * strands**2)
            fills_up = left > UNORDERED * strands
        quick += _of_planes(form)
    plain = products + others
    products, filling = plain + scaled, filling + others + scaled
    # long cones are priced by their scaled rows here, for the system as it stands keeps more digits beside them
    thick = _thick(full, unknowns)
    of_products = PAIR * plain + SPARSE_PRODUCT * (scaled - thick) + DENSE_PRODUCT * thick
    of_dense = DENSE_PRODUCT * rows * unknowns**2
    # beside a large cone of matrices all of A is kept as a dense matrix
    of_rows = of_dense + turns.written if turns.largest > LONGEST else min(of_dense, of_products) + turns.mixed
    seconds = FACTOR * order**3 / min(strands, MOST_PARTS) ** 2 + of_rows + OF_A_NUMBER * order**2
    if long is not None and long.rows < unknowns and entries <= DENSE_SHARE * rows * unknowns:
        few, turned = float(long.rows), sum(4.0 * long.turned * float(2 * rows) ** 1.5 for rows, _ in full)
        complement = FACTOR * few**3 + DENSE_PRODUCT * (unknowns * few * long.multiplied + turned) + PASSES * entries
        seconds = min(seconds, complement + OF_A_PAIR * few**2)
    found = Size(unknowns, rows, entries, "condensed", order, seconds, once, 24.0 * order**2)
    if entries <= SPARSE * unknowns * max(unknowns, rows):
        fills = filling > FILLS * unknowns
        width = _width(form) if fills else 0
        seconds, memory = CALLS if equations else 0.1 * CALLS, 1000.0 * entries
        if fills and width > WIDEST:
            seconds, memory = seconds + 1e-10 * float(unknowns) ** 3, memory + 8.0 * float(unknowns) ** 2
            seconds += SPARSE_PRODUCT * scaled
        else:
            band = order * (width + 1.0)
            formed = products - of_equations + squares
            seconds += 5e-8 * formed + (BAND_OF_EQUATIONS if equations else BAND) * band * width
            memory += 16.0 * (formed + of_equations) + 8.0 * band
        seconds += 5e-8 * entries + _of_planes(form) + turns.mixed
        # a small matrix, or one that fills up, is sooner factored with its zeros, where it is not too large
        if seconds < found.seconds or order > LARGEST:
            largest = max((of_cone for of_cone, _ in full), default=0)
            found = Size(unknowns, rows, entries, "sparse", largest, seconds, once, memory)
    owned = sum(conic.owned for conic in known)
    order, found_few = unknowns - owned + equations, _few_rows(form, known)
    few, turned = found_few or (order, 0.0)
    if owned and few < SHARE * order and few <= LARGEST:
        complement = 1e-4 + FACTOR * float(few) ** 3 + DENSE_PRODUCT * order * float(few) ** 2 + PASSES * entries
        complement += TURNED * turned + turns.mixed
        if complement < found.seconds:
            memory = 16.0 * few * (few + order) + 220.0 * entries
            found = Size(unknowns, rows, entries, "reduced", few, complement, once, memory)
    elif owned and order <= LARGEST:
        seconds = 1e-4 + FACTOR * order**3 + OF_A_NUMBER * order**2 + PASSES * entries + turns.mixed
        # the products of K, dense or not, and those of scaled rows
        seconds += _of_squares(plain, dense, scaled, _lengths(form, known, order), order)
        if seconds < found.seconds:
            found = Size(unknowns, rows, entries, "reduced", order, seconds, once, 24.0 * order**2 + 220.0 * entries)
    return found._replace(quick=quick, of_three=of_three, fills=fills_up, turns=turns.each)


class _Turns(NamedTuple):
    """Seconds that the scalings of cones of matrices take in a step: those of `each` cone by itself, and beside them where they are `written` out and
    multiplied with dense rows, or `mixed` into sparse rows."""

    each: float
    written: float
    mixed: float
    largest: int  # rows of a cone


def _of_matrices(known: list[Conic], unknowns: int) -> _Turns:
    """The seconds of all cones of matrices; 0 where there are none."""
    found = [cone.rows for conic in known for cone in conic.cones if cone.kind == "semidefinite"]
    if not found:
        return _Turns(0.0, 0.0, 0.0, 0)
    # n (n + 1) / 2 rows have n^2 / 2 entries and a bit more
    each = OF_AN_ORDER * len(set(found)) + OF_A_MATRIX * 2.0 * sum(found)
    numbers = sum(float(rows) ** 2 for rows in found)
    written, mixed = (CONGRUENCE + DENSE_PRODUCT * unknowns) * numbers, MIXED + MIXING * numbers
    return _Turns(each, written, mixed, max(found))


@once_per_form
def _of_planes(form: Canonical) -> float:
    """Seconds of a factorisation that differences in a plane add, and data that see neighbours in one: those reach as far as a side of it is long,
    those of a line hardly. The factor's lines are as many times as long as they reach over sides, each way."""
    maps = [m for term in form.terms for _, m in term.map.parts if not m.nnz and m.rows < m.entries <= WIDEST * m.rows]
    side = max(map(_reach_of_some, maps), default=0)
    seconds = OF_A_PLANE * form.size * min(side, form.size / side) if side else 0.0
    for side, lines in _near_maps(form).values():
        seconds = max(seconds, OF_A_PLANE * form.size * min(side, form.size / side) * lines**2)
    return seconds


@once_per_form
def _near_maps(form: Canonical) -> dict[LinearMap, tuple[int, float]]:
    """The maps with data whose rows see neighbours in a matrix variable, as of blurs by matrices of few diagonals: with the side of it, and the lines
    that a row sees less one."""
    found = {}
    for block, m in (part for term in form.terms for part in term.map.parts):
        if m.nnz and len(block.shape) == 2 and m.rows < m.entries <= WIDEST * m.rows:
            lines = _reach_of_some(m) / block.shape[1]
            if lines <= NEAREST:
                found[m] = block.shape[1], max(1.0, lines)
    return found


def least_of(form: Canonical, order: int) -> float:
    """Seconds that no factorisation takes less than; `order` is what is known of the unknowns and rows."""
    return min(FACTOR * float(form.size) ** 3, PASSES * form.nnz) if order > WHOLE else 0.0


class _LongRows(NamedTuple):
    """The rows that see more than one unknown and the equations; those of them with several entries, which products of matrices turn; and those that
    are multiplied with each other, as one entry of a matrix whose square nothing bends is not."""

    rows: int
    turned: int
    multiplied: int


def _long_rows(form: Canonical, known: list[Conic]) -> _LongRows | None:
    """The long rows, where all else sees one unknown each; None where it does not."""
    long = turned = multiplied = 0
    bent = any(np.any(conic.curvature) for conic in known)
    bound = np.zeros(form.size, dtype=bool)
    of_blocks = zip(form.blocks, known[len(form.terms) :], strict=True)
    of_matrices = {b.start for b, conic in of_blocks if _is_matrix(conic) or _fills_matrix(b, conic)}
    places = [None] * len(form.terms) + [b.start for b in form.blocks]
    maps = [*form.terms, *([None] * len(form.blocks))]
    for term, start, conic in zip(maps, places, known, strict=True):
        if start is not None and start in of_matrices:
            bound[start : start + conic.size] = True
            continue
        alone = term is None or sum(m.entries for _, m in term.map.parts) <= term.map.rows
        if (conic.extra and not _bends_its_own(conic)) or (np.any(conic.curvature) and not alone):
            return None
        of_matrix = [] if term is None else [block for block, _ in term.map.parts if block.start in of_matrices]
        # squares of some entries of a matrix are no multiple of the identity
        if (
            of_matrix
            and np.any(conic.curvature)
            and (any(block.size != conic.size for block in of_matrix) or np.ptp(conic.curvature) > 0.0)
        ):
            return None
        free = not of_matrix
        single = free & alone & (np.bincount(conic.of_z.row, minlength=conic.offset.size) <= 1)
        at = 0
        for cone in conic.cones:
            if not cone.is_separable:
                return None
            own = single[at : at + cone.rows]
            more = cone.rows if cone.kind == "zero" else int(np.count_nonzero(~own))
            more = min(more, _rows_with_entries(term)) if term is not None and alone else more
            long += more
            turned += 0 if alone else more
            multiplied += more if bent or free or not alone else 0
            at += cone.rows
        if start is not None:
            bound[start + conic.of_z.column[single[conic.of_z.row]]] = True
            bound[start : start + conic.size] |= np.broadcast_to(np.asarray(conic.curvature) > 0.0, (conic.size,))
    return _LongRows(long, turned, multiplied) if bound.all() else None


def _rows_with_entries(term: SumTerm) -> int:
    """The rows of a map that have an entry, where they are soon counted."""
    parts = [m for _, m in term.map.parts]
    return int(np.count_nonzero(parts[0].v)) if len(parts) == 1 and isinstance(parts[0], Diagonal) else term.map.rows


def _few_rows(form: Canonical, known: list[Conic]) -> tuple[int, float] | None:
    """The rows of data and equations, and the multiplications that scale those of long cones, where all else sees one unknown at a time; None where
    something else sees several (`few_rows`)."""
    long = free = 0
    turned = 0.0
    covered = {b.start for b, conic in zip(form.blocks, known[len(form.terms) :], strict=True) if _is_diagonal(conic)}
    for conic in known:
        if any(c.kind == "semidefinite" for c in conic.cones):
            return None
        # unknowns of no entry are the levels of norms
        free += conic.extra - conic.owned
    # the rows of a variable's own function that see such a level beside an entry, and its equations
    long += sum(_rows_of_levels(conic) + _equations(conic) for conic in known[len(form.terms) :])
    for term, conic in zip(form.terms, known, strict=False):
        if _equations(conic):
            if _equations(conic) < conic.offset.size or conic.extra or np.any(conic.curvature):
                return None
            long += conic.offset.size
            continue
        alone = sum(m.entries for _, m in term.map.parts) <= term.map.rows
        of_three = any(c.is_of_three for c in conic.cones)
        long_cones = not all(c.is_separable or c.is_of_three for c in conic.cones)
        if conic.extra > conic.owned or (not alone and not conic.owned) or long_cones:
            if of_three or np.any(conic.curvature):
                return None
            long += conic.offset.size
            mixed = sum(float(c.rows) ** 2 for c in conic.cones if not c.is_separable)
            turned += mixed * sum(m.entries for _, m in term.map.parts) / max(1, term.map.rows)
            continue
        if not alone and np.any(conic.curvature):
            return None
        long += 0 if alone else term.map.rows
        if alone and (conic.owned or np.any(conic.curvature)):
            covered |= {b.start for b, m in term.map.parts if m.rows >= b.size}
    free += sum(b.size for b in form.blocks if b.start not in covered)
    return (long, turned) if free <= FREE else None


def _equations(conic: Conic) -> int:
    return sum(cone.rows for cone in conic.cones if cone.kind == "zero")


def _rows_of_levels(conic: Conic) -> int:
    """The rows that see an entry and an unknown of no entry."""
    if conic.extra == conic.owned:
        return 0
    rows = conic.offset.size
    level = np.ones(conic.extra, dtype=bool) if not conic.owner.size else conic.owner < 0
    seen = np.bincount(conic.of_u.row[level[conic.of_u.column]], minlength=rows) > 0
    return int(np.count_nonzero(seen & (np.bincount(conic.of_z.row, minlength=rows) > 0)))


def _is_diagonal(conic: Conic) -> bool:
    """True if a variable's own function bends or bounds each of its entries by itself."""
    seen = np.bincount(conic.of_z.row, minlength=conic.offset.size)
    equal = np.concatenate([np.zeros(0, dtype=np.bool_), *(np.full(c.rows, c.kind == "zero") for c in conic.cones)])
    alone = all(c.is_separable or c.is_of_three for c in conic.cones) and bool(np.all((seen <= 1) | equal))
    bends = np.array(np.broadcast_to(conic.curvature, (conic.size,)) > 0.0)
    bends[conic.of_z.column[~equal[conic.of_z.row]]] = True
    return alone and bool(bends.all())


def _filled_cones(form: Canonical, known: list[Conic]) -> list[tuple[int, float]]:
    """The rows of each cone whose scaling has no zeros, and about how many unknowns all of them see together."""
    pairs = zip([*form.terms, *([None] * len(form.blocks))], known, strict=True)
    return [(cone.rows, seen) for term, conic in pairs for cone, seen in _filled_cones_of(form, term, conic)]


def _filled_cones_of(form: Canonical, term: SumTerm | None, conic: Conic) -> list[tuple[Cone, float]]:
    """The cones of one function whose scaling has no zeros, and about how many unknowns each sees."""
    across = float(conic.size if term is None else _across(term))
    each = max(1.0, across / max(1, conic.offset.size))
    filled = [cone for cone in conic.cones if not cone.is_separable and not cone.is_of_three]
    return [(cone, min(float(form.size), each * cone.rows)) for cone in filled]


class _Lengths(NamedTuple):
    """The long second-order cones of a reduced system."""

    number: int
    scaled: float  # multiplications of their scaled rows, which are saved
    kept: float  # those of their rows, where their squares are kept
    dense: float  # those of these that are dense
    others: list[tuple[int, float]]  # the rows and unknowns of each other cone whose scaling has no zeros


def _lengths(form: Canonical, known: list[Conic], order: int) -> _Lengths:
    number, scaled, kept, dense, others = 0, 0.0, 0.0, 0.0, []
    for term, conic in zip([*form.terms, *([None] * len(form.blocks))], known, strict=True):
        mine = _filled_cones_of(form, term, conic)
        long = [(c.rows, seen) for c, seen in mine if c.kind == "second_order" and is_long(c.rows, seen, order)]
        number += len(long)
        scaled += sum(rows * (seen * seen) for rows, seen in long)
        others += [(c.rows, seen) for c, seen in mine if (c.rows, seen) not in long]
        if (
            term is not None
            and len(long) == len(conic.cones) == 1
            and _across(term) > DENSE_SHARE * term.map.rows * form.size
        ):
            kept += _repeats(conic) * _products(term)
            dense += _repeats(conic) * _products(term)
    return _Lengths(number, scaled, kept, dense, others)


def _of_squares(plain: float, dense: float, scaled: float, lengths: _Lengths, order: int) -> float:
    """Seconds of the squares of the rows in a matrix of this order: of so many multiplications of rows as they are, some of them dense, and of scaled
    rows of cones."""
    thick, scaled, dense = _thick(lengths.others, order), scaled - lengths.scaled, dense - lengths.dense
    seconds = DENSE_PRODUCT * (dense + thick) + SPARSE_PRODUCT * (scaled - thick)
    return seconds + PAIR * (plain - lengths.kept - dense + OUTER * lengths.number * order**2)


def _thick(full: list[tuple[int, float]], columns: int) -> float:
    """The multiplications of scaled cones whose rows see so many of the columns that they are multiplied as dense ones."""
    return sum(rows * (seen * seen) for rows, seen in full if rows > NEIGHBOURS and FILLED * seen**2 > columns**2)


def _mixing_rows(form: Canonical, known: list[Conic]) -> int:
    """The rows that see more than one unknown, those of quadratic terms counted."""
    mixing = 0
    for term, conic in zip([*form.terms, *([None] * len(form.blocks))], known, strict=True):
        if term is None or sum(m.entries for _, m in term.map.parts) <= term.map.rows:
            mixing += int(np.count_nonzero(np.bincount(conic.of_z.row, minlength=conic.offset.size) > 1))
        else:
            mixing += max(conic.offset.size, term.map.rows if np.any(conic.curvature) else 0)
    return mixing


def _hubs(form: Canonical, known: list[Conic]) -> int:
    """The entries of some variables and the rows that see several entries of others, for the variables that make them the fewest: beside them each
    row sees one entry at most, so all else is eliminated without fill.

    Of a plan x_ij <= o_i with sum_i x_ij = 1 they are o and the sums.
    """
    blocks = form.blocks
    if len(blocks) > MOST_BLOCKS or not all(cone.is_separable for conic in known for cone in conic.cones):
        return form.size
    of_terms = list(zip(form.terms, known, strict=False))
    levels = sum(conic.extra - conic.owned for conic in known)
    own = [int(np.count_nonzero(np.bincount(conic.of_z.row, minlength=1) > 1)) for conic in known[len(form.terms) :]]
    least = form.size
    for chosen in itertools.product((False, True), repeat=len(blocks)):
        is_hub = {block.start: taken for block, taken in zip(blocks, chosen, strict=True)}
        count = levels
        for block, rows, taken in zip(blocks, own, chosen, strict=True):
            count += block.size if taken else rows
        for term, conic in of_terms:
            others = sum(m.entries for block, m in term.map.parts if not is_hub[block.start])
            if others > term.map.rows:
                # squares of several entries tie all of them to each other
                count += form.size if np.any(conic.curvature) else conic.offset.size
        least = min(least, count)
    return least


def _strands(form: Canonical, known: list[Conic]) -> int:
    """The columns of a matrix variable that each row sees one of, as those of W @ H, or its rows, as those of X @ E.T: parts that share nothing."""
    maps = [m for term in form.terms for _, m in term.map.parts]
    if len(form.blocks) != 1 or not maps:
        return 1
    first = maps[0]
    if isinstance(first, LeftMultiply):
        count, each, alike = first.k, 1, all(isinstance(m, LeftMultiply) and m.k == first.k for m in maps)
    elif isinstance(first, RightMultiply):
        count, each = first.n, first.columns // first.n
        alike = all(isinstance(m, RightMultiply) and m.n == first.n for m in maps)
    else:
        return 1
    apart = all(conic.extra == conic.owned and all(cone.is_separable for cone in conic.cones) for conic in known)
    return count if alike and apart and _keeps_apart(known[-1], count, each) else 1


def _keeps_apart(conic: Conic, count: int, each: int) -> bool:
    """True if each row of a variable's own function sees entries of one strand, entry e being of strand e // each modulo their number."""
    strand = conic.of_z.column // each % count
    least, most = np.full(conic.offset.size, count), np.zeros(conic.offset.size, dtype=np.intp)
    np.minimum.at(least, conic.of_z.row, strand)
    np.maximum.at(most, conic.of_z.row, strand)
    return bool(np.all(most <= least))


def _far_ends(known: list[Conic]) -> int:
    """The rows that see many further unknowns of a conic form, and the further unknowns that many rows see: all others are eliminated between entries
    of variables and these."""
    ends = 0
    for conic in known:
        ends += int(np.count_nonzero(np.bincount(conic.of_u.row) > NEIGHBOURS))
        ends += int(np.count_nonzero(np.bincount(conic.of_u.column) > NEIGHBOURS))
    return ends


def _seen_once(form: Canonical, known: list[Conic]) -> int:
    """The entries of variables of which a row of the terms sees one each, and that nothing but bounds and losses of their own ties to others.

    A term whose rows see one entry each ties nothing, such as a sum of `pos(t)` beside `norm2(Y[i]) <= t[i]`: its rows go first.
    """
    seen = dict.fromkeys((b.start for b in form.blocks), 0)
    for term, conic in zip(form.terms, known, strict=False):
        if sum(m.entries for _, m in term.map.parts) <= term.map.rows and _is_apart(conic):
            continue
        for block, m in term.map.parts:
            seen[block.start] += m.entries
    of_blocks = zip(form.blocks, known[len(form.terms) :], strict=True)
    return sum(b.size for b, conic in of_blocks if seen[b.start] <= b.size and not conic.extra and _is_apart(conic))


def _is_apart(conic: Conic) -> bool:
    """True if each of its rows sees one entry, and its further unknowns are of one entry each."""
    alone = conic.extra == conic.owned and all(cone.is_separable for cone in conic.cones)
    return alone and bool(np.all(np.bincount(conic.of_z.row, minlength=1) <= 1))


def _is_matrix(conic: Conic) -> bool:
    """True if it is a cone of matrices and no more, which a variable is in itself."""
    return not conic.extra and any(cone.kind == "semidefinite" for cone in conic.cones)


def _fills_matrix(block: Block, conic: Conic) -> bool:
    """True if the unknowns of a variable and those of its form are each one entry of a cone of matrices, which sees nothing else."""
    if block.symmetric or not conic.cones or any(cone.kind != "semidefinite" for cone in conic.cones):
        return False
    rows, columns = conic.offset.size, conic.size + conic.extra
    seen = np.concatenate([conic.of_z.column, conic.size + conic.of_u.column])
    row = np.concatenate([conic.of_z.row, conic.of_u.row])
    once = row.size == rows == columns and np.unique(row).size == rows and np.unique(seen).size == columns
    return once and np.ptp(np.broadcast_to(conic.curvature, (conic.size,))) == 0.0


def _width(form: Canonical) -> int:
    """The largest distance of two unknowns that a row sees, more than `WIDEST` where it may be larger.

    Each variable's entries are spread evenly among all others: states and inputs over time lie side by side. Where there are few unknowns a band
    saves nothing, and no row of the data is looked at.
    """
    if form.size <= 2 * WIDEST:
        return WIDEST + 1
    widest = 0.0
    for term in form.terms:
        lowest, highest = np.full(term.map.rows, np.inf), np.full(term.map.rows, -np.inf)
        for block, m in term.map.parts:
            spread = form.size / max(1, block.size)
            if m.entries > WIDEST * m.rows or spread * _reach_of_some(m) > WIDEST:
                return WIDEST + 1
            A = m.written()
            live = np.diff(A.indptr) > 0
            first = A.indptr[:-1][live]
            if first.size:
                lowest[live] = np.minimum(lowest[live], spread * np.minimum.reduceat(A.indices, first))
                highest[live] = np.maximum(highest[live], spread * np.maximum.reduceat(A.indices, first))
        seen = np.isfinite(lowest)
        widest = max(widest, float((highest - lowest)[seen].max(initial=0.0)))
        if widest > WIDEST:
            return WIDEST + 1
    return math.ceil(widest)


def _reach_of_some(m: LinearMap) -> int:
    """The largest distance of two entries that the first, the middle or the last row sees: most maps whose rows reach far are told by these."""
    reach = 0
    for row in {0, m.rows // 2, m.rows - 1} if m.rows else ():
        unit = np.zeros(m.rows)
        unit[row] = 1.0
        seen = np.flatnonzero(m.adjoint(unit))
        reach = max(reach, int(seen[-1] - seen[0]) if seen.size else 0)
    return reach


def _across(term: SumTerm) -> int:
    """The entries of a term's map, products worked out."""
    return sum(m.entries for _, m in term.map.parts)


def _products(term: SumTerm) -> float:
    """The squared lengths of the rows of a term's map, all rows taken to be alike."""
    return float(_across(term)) ** 2 / max(1, term.map.rows)


def _repeats(conic: Conic) -> float:
    """The rows of the conic program that have a row of the map: one for both ends of an interval whose unknowns are taken out first."""
    return 1.0 if conic.owned else max(1.0, conic.of_z.value.size / max(1, conic.size))


def free_entries(block: Block) -> int:
    """The entries of a block that are unknowns: of a symmetric matrix its upper triangle."""
    if not block.symmetric:
        return block.size
    n = block.shape[-1]
    return block.size // (n * n) * (n * (n + 1) // 2)
