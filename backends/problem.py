"""A canonical problem made ready for the methods: maps on kernels, functions on kernels, work counted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array, MatrixLike
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.functions import FastLoss, FastRows, FastVector, dual_interval
from fwdsl.backends.held_terms import HeldMap, handed_over
from fwdsl.backends.kernels.operators import Operator
from fwdsl.backends.kernels.pool import Pool
from fwdsl.backends.kernels.storage import MOST_TURNED, Dense
from fwdsl.backends.maps import (
    FEW,
    ByProducts,
    CountedMap,
    KernelMatrix,
    MapColumns,
    columns_of,
    is_by_columns,
    written,
)
from fwdsl.backends.row_vectors import TermEvaluator
from fwdsl.backends.table import NUMBA, in_use
from fwdsl.bind.data_operator import DataOperator
from fwdsl.canon.combined_maps import Add, Compose, Joined, Scaled
from fwdsl.canon.data_maps import Matrix, is_written
from fwdsl.canon.form import Canonical
from fwdsl.canon.maps import Identity, LinearMap, by_rows
from fwdsl.canon.matrix_maps import LeftMultiply, Symmetrise
from fwdsl.canon.neighbour_maps import Convolution
from fwdsl.canon.parts import Block, Stacked, SumTerm
from fwdsl.readers.held_rows import hands_of
from fwdsl.readers.row_blocks import NotInMemory, is_on_disk
from fwdsl.sums import Rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from fwdsl.backends.sparse_rows import Rows as MatrixRows
    from fwdsl.bind.instance import Instance

_KEPT: dict[int, tuple[ref[object], Operator]] = {}
"""The operators of sparse data by identity, as long as the data live: solving again (a warm start, another parameter) transposes nothing twice.

It is the process's own, as nothing else lives as long as the data: an instance is bound anew for each parameter, and a user may give one matrix to
several problems. The keys are identities, as sparse matrices have no hash; a weak reference tells whether the matrix is still the same.
"""


def operator_of(A: MatrixLike, pool: Pool, instance: Instance, leaves: tuple[Rows, ...] | None = None) -> Operator:
    """The operator of a matrix of an instance. It keeps for later solves, unless the matrix is a part of the data: of sparse data a transposed copy,
    as long as they live; of dense data, and of columns of them, their Gram matrix, as long as they stay bound and whoever gave them does not change
    them. Columns of data by rows have a copy, whose memory is kept and whose numbers are taken anew: new memory takes longer than they do."""
    table = in_use()
    if table is not NUMBA:
        return Operator.of_storage(table.storage(A, leaves), pool)
    if leaves is not None or is_on_disk(A):
        return Operator(A, pool, leaves)
    if isinstance(A, np.ndarray):
        return _of_dense(A, pool, instance)
    key = id(A)
    if key not in _KEPT or _KEPT[key][0]() is not A:
        _KEPT[key] = ref(A, lambda _: _KEPT.pop(key, None)), Operator(A, pool)
    return _KEPT[key][1].again(pool)


def _of_dense(A: Any, pool: Pool, instance: Instance) -> Operator:
    kept, place = instance.kept, (A.__array_interface__["data"][0], A.shape, A.strides, A.dtype.str)
    # an entry holds its datum, so no other lies at its place
    (_, copy), known = kept.get(place, ((A, None), None))
    # an array that nobody can write to has not changed
    stays = A.base is None and not A.flags.writeable
    if copy is not None:
        np.copyto(copy, A)
    if known is not None and (stays or known.storage.is_as_kept()):
        return known.again(pool)  # type: ignore[no-any-return]
    in_order = A.flags.c_contiguous or A.flags.f_contiguous
    if not in_order and copy is None:
        copy = np.ascontiguousarray(A)
    operator = Operator(A if copy is None else copy, pool)
    if (in_order or A.size <= MOST_TURNED) and instance.holds(A):
        assert isinstance(operator.storage, Dense)
        operator.storage.keep_grams(stays)
        if stays:
            operator.storage.keep_products()
        kept[place] = (A, copy), operator
    return operator


LARGEST_COLUMNS = 20_000_000
"""Numbers of explicitly formed columns of maps that are not data by columns."""


BY_BLOCKS = 50.0
"""The multiplications of products and decompositions of dense matrices in the time of one number in a product of data and a vector."""

WRITTEN = 50_000
"""Entries of K up to which it is written down for products with vectors."""


FILLED = 300_000
"""Numbers of columns of K up to which their Gram matrix is taken with all their zeros."""


MOST_OPERATOR_COLUMNS = 32
"""Columns of an operator up to which they are formed, by a product each: a solve by conjugate gradients takes as many."""


class PreparedProblem:
    """The canonical problem on kernels.

    x is the flat vector of all blocks; `zs` and `ys` are lists with one array a term. `passes` counts data passes: touches of every
    stored number, so a full gradient (A x and A' y) is two.
    """

    writes_down = False
    """True once a method writes the maps down: rows are in memory then."""

    tol: float | None = None
    """The relative gap that the run is to end with; None where that is not known."""

    def __init__(self, canonical: Canonical, threads: int, seed: int = 0) -> None:
        self.canonical = canonical
        self.seed = seed
        self.pool = Pool(threads)
        self.operators: dict[int, Operator] = {}
        self.counted: list[CountedMap] = []
        self.decomposed = 0.0  # multiplications of systems that were formed and solved beside the method
        self.terms = [replace(t, map=self._compile(t.map)) for t in canonical.terms]
        table = in_use()
        self.functions = [table.function(t, self.pool) for t in self.terms]
        self.g = [table.vector(b.g) for b in canonical.blocks]
        self.q = canonical.q
        self.has_q = bool(canonical.q.any())
        self.size = canonical.size

    # --- the end of the run -----------------------------------------------------------------------------------------

    @property
    def must_stop(self) -> Callable[[], bool]:
        """A function, set by the driver, that is true if the run is to end now (its time is over, or Ctrl-C).

        A method whose steps are long asks within them, and returns with a state that its next step goes on from; or it takes a `look`.
        """
        return self.pool.must_stop

    @must_stop.setter
    def must_stop(self, asked: Callable[[], bool]) -> None:
        self.pool.must_stop = asked

    def look(self) -> None:
        """Raise `Stopped` where the run is to end: in loops of a start, and of steps that have not yet written into an array of their state.

        The driver then has the state of before the step, whose next step is the same one again.
        """
        self.pool.look()

    # --- maps -------------------------------------------------------------------------------------------------------

    def _compile(self, stacked: Stacked) -> Stacked:
        compiled = Stacked(tuple((b, self._substitute(m)) for b, m in stacked.parts), stacked.offset, stacked.shape)
        compiled.leaves = stacked.leaves
        return compiled

    def _substitute(self, m: LinearMap) -> LinearMap:
        if isinstance(m, Matrix) and is_written(m.A):
            key = id(m.A)
            if key not in self.operators:
                self.operators[key] = operator_of(m.A, self.pool, self.canonical.instance, m.given)
            return KernelMatrix(m, self.operators[key])
        if isinstance(m, Scaled):
            return Scaled(self._substitute(m.inner), m.c)
        if isinstance(m, Compose):
            return Compose(self._substitute(m.outer), self._substitute(m.inner))
        if isinstance(m, Joined):
            return m.of(map(self._substitute, m.parts))
        if isinstance(m, Convolution):
            m = replace(m, fast=True)
        if isinstance(m, Add):
            return Add(self._substitute(m.left), self._substitute(m.right))
        if isinstance(m, LeftMultiply):
            m = in_use().product(m)
        # data of zeros alone are still data, which methods that go by samples look for
        if m.nnz or isinstance(m, LeftMultiply):
            products = isinstance(m, Matrix) and isinstance(m.A, DataOperator)
            self.counted.append(ByProducts(m) if products else CountedMap(m))
            return self.counted[-1]
        return m

    @property
    def is_elsewhere(self) -> bool:
        """True if products with some of the data are taken on another device."""
        return any(o.storage.elsewhere for o in self.operators.values())

    @cached_property
    def partitioned(self) -> PreparedProblem:
        """The same problem with predictions that stay with the workers who hold the rows of the data; itself where there are none.

        For methods that take predictions as they come, and do no more than arithmetic with them (`Method.keeps_rows`).
        """
        if not hands_of(self.canonical.instance.values):
            return self
        found: PreparedProblem = object.__new__(PreparedProblem)
        vars(found).update({name: value for name, value in vars(self).items() if name != "partitioned"})
        found.terms, found.functions = list(self.terms), list(self.functions)
        for k, (original, term, f) in enumerate(zip(self.canonical.terms, self.terms, self.functions, strict=True)):
            held = handed_over(original, term, f, partial(self._evaluator, k))
            if held is not None:
                found.terms[k], found.functions[k] = held
        return found

    def of_domains(self) -> PreparedProblem:
        """The problem without <q, x> and the terms that are finite everywhere: its points are those that meet the constraints and are in the
        domains. Work is counted here."""
        kept = [k for k, t in enumerate(self.terms) if t.domain is not None]
        terms, none = tuple(self.canonical.terms[k] for k in kept), np.zeros(self.size)
        return self.of_terms(kept, replace(self.canonical, terms=terms, q=none, constant=0.0))

    def of_terms(self, kept: Sequence[int], canonical: Canonical) -> PreparedProblem:
        """The problem of some terms of the sum, which is `canonical`. Work is counted here."""
        found: PreparedProblem = object.__new__(PreparedProblem)
        shared = ("seed", "pool", "operators", "counted", "decomposed", "g", "size", "tol")
        vars(found).update({name: vars(self)[name] for name in shared if name in vars(self)})
        found.terms, found.functions = [self.terms[k] for k in kept], [self.functions[k] for k in kept]
        found.q, found.has_q = canonical.q, bool(canonical.q.any())
        found.canonical = canonical
        return found

    def _evaluator(self, k: int) -> TermEvaluator:
        """The evaluator of expressions of the predictions of a term."""
        term, f = self.terms[k], self.functions[k]
        assert isinstance(f, FastLoss | FastRows)

        def gram(free: NDArray[np.intp], w: Array, single: bool, plan: object) -> Array:
            for operator in self.operators.values():
                operator.gram_plan = lambda _: plan  # type: ignore[assignment,return-value]
            return self.gram(free, [w], single)

        return TermEvaluator(term, f, lambda x: self._apply(term, x), gram)

    @classmethod
    def of_rows(cls, term: SumTerm, operators: dict[int, Operator], pool: Pool) -> TermEvaluator:
        """The same for a holder of some rows: of its part of a term, whose data have these operators, by identity."""
        made = object.__new__(cls)
        # how many unknowns there are in all is not known here
        made.pool, made.operators, made.counted, made.size = pool, operators, [], 0
        made.terms = [replace(term, map=made._compile(term.map))]
        made.functions = [in_use().function(made.terms[0], pool)]
        return made._evaluator(0)

    def linear(self, x: Array) -> list[Array]:
        """K_i x for each term, in arrays of their own."""
        return [self._apply(t, x) for t in self.terms]

    def _apply(self, term: SumTerm, x: Array) -> Array:
        if isinstance(term.map, HeldMap):
            return term.map.image(x)  # type: ignore[return-value]
        parts = term.map.parts
        if not parts:
            return np.zeros(term.map.rows)
        block, m = parts[0]
        z = m.apply(x[block.slice])
        if isinstance(m, ByProducts) or np.may_share_memory(z, x):
            # the entries of x themselves, or an array that somebody else may keep
            z = z.copy()
        for block, m in parts[1:]:
            z += m.apply(x[block.slice])
        return z

    def forward(self, x: Array) -> list[Array]:
        zs = self.linear(x)
        for z, term in zip(zs, self.terms, strict=True):
            z += term.map.offset
        return zs

    def adjoint(self, ys: Sequence[Array]) -> Array:
        out = np.zeros(self.size)
        for y, term in zip(ys, self.terms, strict=True):
            term.map.adjoint(y, out)
        return out

    def can_form(self, free: int) -> bool:
        """True if a Gram matrix of so many coordinates costs little: all maps are data by columns, or the columns are few numbers.

        Columns of an operator cost a product each.
        """
        if free > MOST_OPERATOR_COLUMNS and any(
            isinstance(v, DataOperator) for v in self.canonical.instance.values.values()
        ):
            return False
        dense = sum(t.map.rows for t in self.terms for _, m in t.map.parts if not is_by_columns(m))
        return dense * free <= LARGEST_COLUMNS

    def gram(self, free: NDArray[np.intp], weights: Sequence[Array], single: bool = False) -> Array:
        """sum_i K_iI' diag(w_i) K_iI for the coordinates I of x: the Hessian of a sum of losses on a face.

        With `single` and w >= 0 the products of columns of dense data are taken in single precision, in half the time.
        """
        if self._has_columns(free.size):
            whole = self.matrix[:, free].toarray()
            return np.asarray(whole.T @ (np.concatenate(weights)[:, None] * whole))
        out: Array | None = None
        for term, w in zip(self.terms, weights, strict=True):
            if isinstance(term.map, HeldMap):
                whole = term.map.gram(free, w, single)
                if whole is not None:
                    out = whole if out is None else np.add(out, whole, out=out)
                    continue
                w = np.asarray(w)
            pieces = self._columns_of(term, free)
            if len(pieces) == 1 and pieces[0].at.size == free.size:
                # all coordinates in their order: the sum needs no places
                own = pieces[0].gram(w, single)
                out = own if out is None else np.add(out, own, out=out)
                continue
            out = np.zeros((free.size, free.size)) if out is None else out
            for i, left in enumerate(pieces):
                out[left.places(left)] += left.gram(w, single)
                for right in pieces[i + 1 :]:
                    cross = left.cross(right, w)
                    out[left.places(right)] += cross
                    out[right.places(left)] += cross.T
        return np.zeros((free.size, free.size)) if out is None else out

    def _columns_of(self, term: SumTerm, free: NDArray[np.intp]) -> list[MapColumns]:
        """The columns of the maps of a term for these coordinates. Of all coordinates, which each Newton step asks for, they are kept where they are
        those of data, or few."""
        whole = free.size == self.size
        if whole and id(term) in self._whole:
            return self._whole[id(term)]
        found = [columns_of(m, b, free, self.look, term.map.leaves, self._written) for b, m in term.map.parts]
        if whole and all(piece.operator is not None or piece.at.size <= FEW for piece in found):
            self._whole[id(term)] = found
        return found

    @cached_property
    def _whole(self) -> dict[int, list[MapColumns]]:
        """The columns of all coordinates, by the identity of their term."""
        return {}

    def columns(self, free: NDArray[np.intp], rows: Sequence[NDArray[np.intp]]) -> Array:
        """Some rows of each K_iI for the coordinates I of x, below each other."""
        if self._has_columns(free.size):
            starts = np.cumsum([0, *(t.map.rows for t in self.terms[:-1])])
            chosen = np.concatenate([start + own for start, own in zip(starts, rows, strict=True)])
            return np.asarray(self.matrix[:, free].toarray()[chosen])
        found = []
        for term, at in zip(self.terms, rows, strict=True):
            out = np.zeros((at.size, free.size))
            for block, m in term.map.parts:
                if at.size:
                    piece = columns_of(m, block, free, self.look, term.map.leaves, self._written)
                    out[:, piece.at] += piece.rows(at)
            found.append(out)
        return np.concatenate(found)

    def _written(self, m: LinearMap) -> csr_array | None:
        """A map of the terms written down, once; None where that is too much."""
        if id(m) not in self._maps:
            self._maps[id(m)] = written(m)
        return self._maps[id(m)]

    @cached_property
    def _maps(self) -> dict[int, csr_array | None]:
        """Maps of the terms written down, by their identity."""
        return {}

    @cached_property
    def matrix(self) -> Any:
        """K by columns, its terms below each other, where it is small and the method writes maps down: then dozens of products with it cost less than
        one by the maps. Else None: sums by maps have the same bits wherever rows are."""
        return None if self.matrix_by_rows is None else self.matrix_by_rows.tocsc()

    @cached_property
    def matrix_by_rows(self) -> Any:
        """The same by rows."""
        if not self.writes_down or sum(m.entries for t in self.terms for _, m in t.map.parts) > WRITTEN:
            return None
        # a plan must not wait for SciPy
        from fwdsl.backends.sparse_rows import sparse_map

        found = [sparse_map(t, self.size) for t in self.canonical.terms]
        if len(found) == 1:
            return found[0]
        counts = np.concatenate([np.zeros(0, np.intp), *(np.diff(K.indptr) for K in found)])
        return by_rows(
            np.concatenate([np.zeros(0), *(K.data for K in found)]),
            np.concatenate([np.zeros(0, np.intp), *(K.indices for K in found)]),
            np.concatenate([[0], np.cumsum(counts)]),
            (counts.size, self.size),
        )

    @cached_property
    def products_by_rows(self) -> MatrixRows | None:
        """The same for products alone, on kernels."""
        K = self.matrix_by_rows
        if K is None:
            return None
        from fwdsl.backends.sparse_rows import Rows as MatrixRows

        # kernels are compiled for arrays that may be written to
        return MatrixRows(by_rows(np.array(K.data), K.indices, K.indptr, K.shape))

    def _has_columns(self, free: int) -> bool:
        """True if so many columns of K are few numbers, and are at hand."""
        return self.matrix is not None and self.matrix.shape[0] * free <= FILLED

    @cached_property
    def row_sums(self) -> list[list[tuple[Block, Array]]]:
        """|K_iB| 1 for each term and each block that enters it: how much of the size of a block's entries each row takes."""
        return [[(b, m.absolute().apply(np.ones(b.size))) for b, m in t.map.parts] for t in self.terms]

    @cached_property
    def column_squares(self) -> Array:
        """The diagonal of K'K."""
        found = np.zeros(self.size)
        for term in self.terms:
            for block, m in term.map.parts:
                found[block.slice] += m.squared().adjoint_over(np.ones(m.rows), term.map.leaves)
        return found

    @cached_property
    def absorbing(self) -> list[tuple[int, NDArray[np.intp], NDArray[np.intp], Array]]:
        """(term, rows, coordinates, coefficients): dual entries whose row of K has one entry, one for a coordinate at most.

        Whatever the other entries of y say about such a coordinate, this one makes up for it, as far as its interval has room; those without ends
        come first. Terms of data are not looked at: they have many entries a row. Those of a symmetric matrix make up for a symmetric miss, as all
        misses of its equalities are.
        """
        found, taken = [], np.zeros(self.size, dtype=np.bool_)
        for k in sorted(range(len(self.terms)), key=lambda k: not self._has_no_ends(k)):
            term = self.terms[k]
            if not self._may_absorb(term):
                continue
            try:
                parts = [(block.start, _entries(m).tocoo()) for block, m in term.map.parts]
            except NotInMemory:
                # short rows of data on a disk, or with workers: steps towards the equalities make up for them
                continue
            rows = np.concatenate([A.coords[0] for _, A in parts])
            columns = np.concatenate([start + A.coords[1] for start, A in parts])
            values = np.concatenate([A.data for _, A in parts])
            at = np.flatnonzero(
                (np.bincount(rows, minlength=term.map.rows)[rows] == 1) & (values != 0.0) & ~taken[columns]
            )
            at = at[np.unique(columns[at], return_index=True)[1]]
            if at.size:
                taken[columns[at]] = True
                found.append((k, rows[at], columns[at], values[at]))
        return found

    def _has_no_ends(self, k: int) -> bool:
        """True if the domain of f_k* is everything."""
        interval = dual_interval(self.terms[k].f)
        return interval is not None and all(np.isinf(end).all() for end in interval)

    def _may_absorb(self, term: SumTerm) -> bool:
        """True if rows of a term may have one entry, and a dual entry in an interval of its own."""
        if not term.map.parts or dual_interval(term.f) is None:
            return False
        if not isinstance(term.f, LossFunction):
            return sum(m.entries for _, m in term.map.parts) <= term.map.rows
        return sum(m.nnz for _, m in term.map.parts) <= 2 * term.map.rows

    def missed(self, x: Array, zs: Sequence[Array], ys: Sequence[Array]) -> tuple[float, float]:
        """The largest violation of a constraint in the sum relative to its terms, and how much of the objective it may hide at the multipliers y.

        As the verifier measures (`fwdsl.certify.verify`), but that a set that is no product of intervals is measured by K x instead of |K| |x|.
        """
        worst = hidden = 0.0
        for k, (f, term, z) in enumerate(zip(self.functions, self.terms, zs, strict=True)):
            if not isinstance(f, FastVector) or f.f.violation(z) == 0.0:
                continue
            inside = np.empty_like(z)
            f.prox(z, 0.0, inside)
            miss = np.abs(z - inside)
            if f.f.entrywise:
                sizes = np.abs(term.map.offset)
                for b, row in self.row_sums[k]:
                    sizes = sizes + float(np.abs(x[b.slice]).max(initial=0.0)) * row
                hidden += term.dot(np.abs(ys[k]), miss)
            else:
                sizes = np.abs(z - term.map.offset) + np.abs(term.map.offset)
                hidden += math.sqrt(term.dot(ys[k], ys[k]) * term.dot(miss, miss))
            worst = max(worst, f.f.violation(z, sizes))
        return worst, hidden

    # --- functions --------------------------------------------------------------------------------------------------

    def dots(self, ys: Sequence[Array], zs: Sequence[Array]) -> list[float]:
        """<y_i, z_i> for each term, taken over the leaves of its predictions."""
        return [t.dot(y, z) for t, y, z in zip(self.terms, ys, zs, strict=True)]

    def losses_value(self, zs: Sequence[Array]) -> float:
        """sum_i f_i(z_i) of losses and norms; indicators count nothing."""
        return sum(f.value(z) for f, z in zip(self.functions, zs, strict=True))

    def losses_gradient(self, zs: Sequence[Array]) -> tuple[float, list[Array]]:
        """The sum and the gradients y_i, for problems whose terms are all smooth losses."""
        total, ys = 0.0, []
        for f, z in zip(self.functions, zs, strict=True):
            assert isinstance(f, FastLoss | FastRows)
            y = np.empty_like(z)
            total += f.value_gradient(z, y)
            ys.append(y)
        return total, ys

    def curvatures(self, zs: Sequence[Array]) -> list[Array]:
        """The generalised Hessians of the smooth losses: diagonals, and of losses of rows what `bent` asks of them."""
        out = []
        for f, z in zip(self.functions, zs, strict=True):
            assert isinstance(f, FastLoss | FastRows)
            h = np.empty_like(z)
            f.curvature(z, h)
            out.append(h)
        return out

    def bent(self, hs: Sequence[Array], vs: Sequence[Array]) -> list[Array]:
        """The same Hessians times v."""
        out = []
        for f, h, v in zip(self.functions, hs, vs, strict=True):
            assert isinstance(f, FastLoss | FastRows)
            out.append(f.bent(h, v))
        return out

    def prox_g(self, v: Array, t: float, metric: Array | None = None, seldom: bool = False) -> Array:
        """The prox of t g, block by block; of t times the block's number in the metric, where there is one.

        Methods that ask for it `seldom` say so: nothing is compiled for few calls where NumPy is as good.
        """
        out = np.empty_like(v)
        for block, g in zip(self.canonical.blocks, self.g, strict=True):
            step = t if metric is None or not block.size else t * float(metric[block.start])
            (g.prox_seldom if seldom else g.prox)(v[block.slice], step, out[block.slice])
        return out

    def g_value(self, x: Array) -> float:
        return sum(g.value(x[b.slice]) for b, g in zip(self.canonical.blocks, self.g, strict=True))

    def vertex(self, c: Array) -> Array:
        """argmin of <c, v> over the product of the sets, which all have a linear minimisation oracle."""
        v = np.zeros_like(c)
        for block in self.canonical.blocks:
            found = block.g.lmo(c[block.slice])
            assert found is not None, "requires_values() asks for an oracle"
            v[block.slice] = found
        return v

    def conjugates(self, ys: Sequence[Array]) -> float:
        """sum_i f_i*(y_i) - <b_i, y_i>."""
        return sum(
            f.conjugate(y) - t.dot(t.map.offset, y) for f, t, y in zip(self.functions, self.terms, ys, strict=True)
        )

    def objective(self, x: Array, zs: Sequence[Array], losses: float | None = None) -> float:
        """P(x) given z_i = K_i x + b_i, constraints ignored; the sum of the losses may be known."""
        losses = self.losses_value(zs) if losses is None else losses
        return self.canonical.constant + losses + float(self.q @ x) + self.g_value(x)

    # --- work -------------------------------------------------------------------------------------------------------

    @property
    def passes(self) -> float:
        """Data passes so far, Hessian products counted by the numbers they touch."""
        if not self._numbers:
            return 0.0
        touched = 0
        for operator in self.operators.values():
            touched += operator.counter.touched
        for counted in self.counted:
            touched += counted.touched
        return (touched + self.decomposed / BY_BLOCKS) / self._numbers

    @cached_property
    def _numbers(self) -> int:
        """Stored numbers that one pass touches."""
        return sum(o.nnz for o in self.operators.values()) + sum(c.nnz for c in self.counted)

    def close(self) -> None:
        self.pool.close()


def _entries(m: LinearMap) -> csr_array:
    """K as a sparse matrix, as it acts on symmetric matrices where it takes the symmetric part first: there that part is the matrix."""
    if isinstance(m, Symmetrise):
        return Identity(m.rows).sparse()
    if isinstance(m, Scaled):
        return m.c * _entries(m.inner)
    return m.written()
