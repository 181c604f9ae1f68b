"""The linear systems of an interior-point step, in the scaled multipliers u = W dz:

    P dv + (W^-T A)'u = p,    W^-T A dv - u = r

of the zero cone, whose u are plain multipliers, A dv = r. Small systems keep some of u (`small`). Larger ones leave out u,
and are factored as a dense matrix, as one without the unknowns that belong to single entries (`separate`), or as a sparse one, whichever is
cheapest; the last in a narrow band where there is one, else by SuperLU. Where all but the equations and a few rows is diagonal, as in linear
programs over x >= 0, the Schur complement of these is factored. Parts of a dense system that share no row are factored apart (`apart`). Diagonals are
moved away from zero, and each answer is refined against the equations as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csc_array, csr_array, diags_array, eye_array, vstack
from scipy.sparse.linalg import splu

from fwdsl.atoms.base import Array, MatrixLike
from fwdsl.backends.factors import by_cholesky
from fwdsl.backends.factors import cholesky as by_factor
from fwdsl.backends.interior.apart import Part, parts_of
from fwdsl.backends.interior.banded import Band, BandedNormal
from fwdsl.backends.interior.blocked import (
    Look,
    Solve,
    add_gram,
    attended,
    cholesky,
    dense_gram,
    indefinite,
    sparse_product,
)
from fwdsl.backends.interior.cones import Scaling, Scalings
from fwdsl.backends.interior.few_rows import FewRows
from fwdsl.backends.interior.filled_cones import FilledCones
from fwdsl.backends.interior.lengths import Lengths, TurnedRows
from fwdsl.backends.interior.loops import missed
from fwdsl.backends.interior.matrix_unknowns import MatrixUnknowns
from fwdsl.backends.interior.program import ORDER, Batch, part_of
from fwdsl.backends.interior.quasidefinite import FactoredQuasidefinite, Pattern, Quasidefinite
from fwdsl.backends.interior.separate import Factor, Separate
from fwdsl.backends.interior.sizes import DENSE_SHARE, LONGEST
from fwdsl.backends.interior.small import solver_of_small
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.sparse_rows import Rows
from fwdsl.canon.maps import by_rows

SHIFT = 1e-11
"""The amount by which diagonals are moved away from zero, beside entries of about one."""

INDEPENDENT = 1e-5
"""The least pivot of a Cholesky factor of a matrix with ones on its diagonal whose rows are far from dependent."""

ORDERS = 2
"""The searches for an order in which a sparse system has a narrow band."""

WHOLE = 1_000_000
"""Numbers that A may have for a system to keep the multipliers of some rows, where the one without them is singular."""

REFINEMENTS, ENOUGH = 5, 1e-12
"""Refinements of an answer at most, and the relative residual that needs no more."""

ENOUGH_OF_MATRICES = 1e-10
"""The same beside cones of matrices, whose slacks keep to their equations whatever an answer misses."""

HARMLESS = 1e-6
"""The share of the gap that what an answer misses may make up: then it needs no refinement, however large it is beside its right-hand side."""


Products = Callable[[Array, Array], tuple[Array, Array]]
"""A v and A'u of v and u."""


class LongRows(NamedTuple):
    """The equations and the other rows that see more than one unknown, and which entries of A are not theirs."""

    rows: NDArray[np.intp]
    others: NDArray[np.bool_]


class Systems:
    """The systems of one program: P and A as dense or sparse matrices; the first rows of A are `equations`, of the zero cone.

    With a `pattern` they are quasidefinite ones, else of a `kind`, for which `separate` is asked. `look` is asked between the blocks of all that is
    long.
    """

    def __init__(
        self,
        P: Any,
        A: csr_array,
        batches: Sequence[Batch],
        kind: str,
        separate: Callable[[], Separate | None],
        look: Look,
        pattern: Pattern | None = None,
    ) -> None:
        self.A: Any = A
        self.equations = batches[0].rows if batches and batches[0].kind == ORDER[0] else 0
        self.kind, self.look = kind, look
        self.of_P = _product(P)
        self.quasidefinite = None if pattern is None else Quasidefinite(pattern, P, A, batches)
        self.separate: Separate | None = None
        self.sparse = kind in ("sparse", "reduced")
        #: A by rows, as kernels read it, where no other products with it are known.
        self.by_rows = np.zeros(1, np.uint32), np.zeros(0, np.uint32), np.zeros(0)
        if self.quasidefinite is None:
            self._prepare(P, A, batches, separate())
        else:
            self.by_rows = A.indptr.astype(np.uint32), A.indices.astype(np.uint32), A.data

    def _prepare(self, P: Any, A: csr_array, batches: Sequence[Batch], separate: Separate | None) -> None:
        """Set up what the kind of system needs, once a program."""
        kind, equations = self.kind, self.equations
        self.separate = separate
        self.band: Band | None = None  # of the sparse system, once one was written down
        self.orders = ORDERS  # how often one is looked for
        self.P = P
        # where cones have matrices, products with them fill A up
        long = [k for k in batches if k.rows > LONGEST and k.kind not in ORDER[:2]]
        self.long_cones: tuple[Lengths, ...] = ()
        self.thin = kind == "condensed" and A.nnz < DENSE_SHARE * A.shape[0] * A.shape[1]
        if self.thin and long and all(k.kind == ORDER[2] for k in long):
            self.long_cones = Lengths.of(A, np.arange(A.shape[0]), batches, self.look)
        self.thin = self.thin and len(self.long_cones) == len(long)
        self.matrices = MatrixUnknowns.of(A, P, batches, equations) if kind in ("condensed", "sparse") else None
        largest = max((k.rows for k in batches if k.kind == "semidefinite"), default=0)
        if kind == "sparse" and self.matrices is not None and self.matrices.few.size > largest:
            self.matrices = None  # the blocks of many cones may cost less than what connects them
        self.parts = self._parts(A, P, batches) if kind == "condensed" else ()
        self.thin = self.thin or bool(self.parts)
        self.filled: FilledCones | None = None
        if kind == "condensed" and self.matrices is None and not self.thin and _has_matrices(batches):
            self.filled = FilledCones.of(A, batches, equations, self.look)
        stays = self.sparse or self.thin or self.matrices is not None or self.filled is not None
        self.A = A if stays else A.toarray()
        self.long = self._long_rows(P) if self.thin and not self.parts and not long else None
        self.narrow: BandedNormal | None = None
        self.few: FewRows | None = None
        if separate is not None:
            kept = separate.kept
            chosen, self.diagonal = P[kept][:, kept], P.diagonal()
            if kind == "sparse":
                K = csr_array(separate.K)
                K.resize(K.shape[0], kept.size)
                self.narrow = BandedNormal.of(chosen, csr_array(vstack([K, separate.rest], format="csr")))
                self.separate = separate if self.narrow is not None else None
            else:
                mixed = np.zeros(A.shape[0], dtype=np.bool_)
                for k in batches:
                    mixed[k.start : k.stop] = k.kind not in ORDER[:2]
                self.few = FewRows.of(separate, chosen, mixed[separate.others], equations)
                if self.few is None:
                    # a complement of few rows keeps more digits of products with a matrix
                    self.long_cones = Lengths.of(separate.rest, separate.others, batches, self.look)
                    self.P_kept = chosen if isinstance(P, np.ndarray) else chosen.toarray()
        self.At: Any = None
        if self.separate is None:
            self.At = self.A.T if isinstance(self.A, np.ndarray) else A.T.tocsr()

    def at(self, batches: Sequence[Batch], scalings: Scalings) -> System | FactoredQuasidefinite:
        """The system at a scaling, factored. Raises `LinAlgError` where it is singular."""
        if self.quasidefinite is not None:
            return self.quasidefinite.at(scalings)
        if self.matrices is not None:
            try:
                solve, products = self.matrices.solver(
                    scalings, lambda gram: _factored(gram, np.zeros((0, gram.shape[0])), self.look), self.look
                )
                return System(self.of_P, products, self.equations, solve, ENOUGH_OF_MATRICES)
            except np.linalg.LinAlgError:
                self.matrices = None  # equations that depend on each other
                if self.kind == "condensed":
                    self.filled = FilledCones.of(self.A, batches, self.equations, self.look)
        if self.filled is not None:
            try:
                solve, products = self.filled.solver(
                    self._P_filled, scalings, lambda matrix, equal: _factored(matrix, equal, self.look), self.look
                )
                return System(self.of_P, products, self.equations, solve, ENOUGH_OF_MATRICES)
            except np.linalg.LinAlgError:
                if self.A.shape[0] * self.A.shape[1] > WHOLE:
                    raise
                # squares of large numbers have drowned the others: rows of such keep their multipliers from here on
                self.filled, self.kind, self.A = None, "whole", self.A.toarray()
                self.At = self.A.T
        if self.sparse or self.thin:
            separate = self.separate
            root = _diagonal_of_roots(batches, scalings, () if separate is None else separate.turned_rows)
            if separate is not None and (root is not None or self.kind == "reduced"):
                return self._separated(separate, batches, scalings, root)
            if separate is not None and separate.turned_rows.size:
                root = None
            if self.thin and self.long_cones:
                return self._with_long(batches, scalings)
            scaled, across = self._rows(batches, scalings, root)
            factor = self._sparse if self.sparse else self._apart if self.parts else self._thin
            return System(
                self.of_P, lambda v, u: (scaled @ v, across @ u), self.equations, factor(scaled, across, root)
            )
        scaled = _scaled(self.A, batches, scalings)
        if self.kind == "whole":
            solve = solver_of_small(self._P_filled, scaled, self.equations, SHIFT, self.look)
        else:
            solve = self._condensed(scaled)
        return System(self.of_P, lambda v, u: (scaled @ v, scaled.T @ u), self.equations, solve)

    def _parts(self, A: csr_array, P: Any, batches: Sequence[Batch]) -> tuple[tuple[Part, Systems], ...]:
        """The parts that share nothing, with their systems."""
        found = []
        for part in parts_of(A, P, batches):
            k = int(np.searchsorted(part.rows, self.equations))
            kinds = [Batch(ORDER[0], 0, 1, k)] if k else []
            kinds += [Batch(ORDER[1], k, 1, part.rows.size - k)] if part.rows.size > k else []
            own, curved = part_of(A, part.rows, part.columns), part_of(P, part.columns, part.columns)
            found.append((part, Systems(curved, own, kinds, self.kind, lambda: None, self.look)))
        return tuple(found)

    def _apart(self, A: csr_array, across: csr_array, root: Array | None) -> Solve:
        """The solver by parts."""
        assert root is not None  # of a product of intervals
        n = A.shape[1]
        solves = [(part, systems._at_roots(root[part.rows])) for part, systems in self.parts]

        def solve(right: Array) -> Array:
            out = np.empty(right.size)
            for part, own in solves:
                found = own(np.concatenate([right[part.columns], right[n + part.rows]]))
                out[part.columns], out[n + part.rows] = np.split(found, [part.columns.size])
            return out

        return solve

    def _at_roots(self, root: Array) -> Solve:
        """The solver at a scaling whose W^-T has this diagonal."""
        if self.thin:
            scaled, across = self._rows((), (), root)
            return (self._apart if self.parts else self._thin)(scaled, across, root)
        return self._condensed(root[:, None] * self.A)

    def known(self, v: Array, z: Array) -> tuple[Array, Array]:
        """A v and A'z, without the products with the matrix `by_rows`."""
        if self.quasidefinite is not None:
            return np.zeros(z.size), np.zeros(v.size)
        if self.separate is not None:
            return self.separate.products(np.ones(z.size), self.separate.of_rest, v, z)
        rows = self.matrices or self.filled
        if rows is not None:
            return rows.A @ v, rows.At @ z
        return self.A @ v, self.At @ z

    def _rows(self, batches: Sequence[Batch], scalings: Sequence[Scaling | None], root: Array | None) -> Any:
        """W^-T A by rows, and its transpose; `root` is W^-T where that is diagonal."""
        if root is None:
            scaled = (_matrix_of_roots(batches, scalings, self.A.shape[0]) @ self.A).tocsr()
            return scaled, scaled.T.tocsr()
        At = self.At
        return _scaled_rows(self.A, root), by_rows(At.data * root[At.indices], At.indices, At.indptr, At.shape)

    def _separated(
        self, separate: Separate, batches: Sequence[Batch], scalings: Sequence[Scaling | None], root: Array | None
    ) -> System:
        """The system without the unknowns of single entries, at a scaling whose W^-T has the diagonal `root`, or is a matrix."""
        others, rest = separate.others, separate.of_rest
        if root is None:
            weights, rest = self._mixed(separate.rest, others, batches, scalings)
        else:
            weights, rest = root, rest.scaled(root[others])
        if separate.turned_rows.size:
            separate = separate.turned(_rows_of_roots(batches, scalings, weights.size))
            weights[separate.turned_rows] = 1.0
        factors = separate.factors(weights, self.diagonal + SHIFT)
        if self.few is not None:
            kept = self.few.solver(
                separate, separate.weights(factors), SHIFT, rest,
                lambda matrix, equal: _factored(matrix, equal, self.look), self.look,
            )  # fmt: skip
        elif self.narrow is not None:
            of_rows = np.concatenate([separate.weights(factors), weights[others] ** 2])
            kept = separate.by_unknowns(self.narrow.factored(of_rows, SHIFT), rest)
        else:
            kept = separate.by_unknowns(self._dense(separate, factors, rest), rest)
        whole = separate.reduced(factors, weights, kept, self.equations)
        return System(self.of_P, lambda v, u: separate.products(weights, rest, v, u), self.equations, whole)

    def _mixed(
        self, A: csr_array, others: NDArray[Any], batches: Sequence[Batch], scalings: Sequence[Scaling | None]
    ) -> tuple[Array, TurnedRows]:
        """The diagonal of a W^-T that is a matrix, and W^-T A in these rows of the program, which A has."""
        row, column, value = _entries_of_roots(batches, scalings, {of.batch for of in self.long_cones})
        alone = row == column
        weights = np.zeros(batches[-1].stop)
        weights[row[alone]] = value[alone]
        if alone.all():
            rest = _scaled_rows(A, weights[others])
        else:
            place = np.full(weights.size, -1)
            place[others] = np.arange(others.size)
            row, column = place[row], place[column]
            own = (row >= 0) & (column >= 0)
            rest = (csr_array((value[own], (row[own], column[own])), (others.size, others.size)) @ A).tocsr()
        return weights, TurnedRows(rest, self.long_cones, scalings)

    def _with_long(self, batches: Sequence[Batch], scalings: Sequence[Scaling | None]) -> System:
        """The condensed system of a sparse A with long second-order cones."""
        n, k = self.P.shape[0], self.equations
        _, rows = self._mixed(self.A, np.arange(self.A.shape[0]), batches, scalings)
        matrix = np.zeros((n + k, n + k), order="F")
        matrix[:n, :n] = self._P_filled
        rows.add_squares(matrix, k, self.look)
        inner = _factored(matrix, self.A[:k].toarray(), self.look)

        def solve(right: Array) -> Array:
            p, r = right[:n].copy(), right[n:].copy()
            r[:k] = 0.0
            rows.add_adjoint(r, p)
            found = inner(np.concatenate([p, right[n : n + k]]))
            u = rows @ found[:n] - r
            u[:k] = found[n:]
            return np.concatenate([found[:n], u])

        return System(self.of_P, rows.products, k, solve)

    def _dense(self, separate: Separate, factors: list[Factor], others: Rows) -> Solve:
        """The solver for the kept unknowns and the multipliers of the equations, whose matrix has no zeros; the other rows are scaled."""
        k, order = self.equations, separate.kept.size
        matrix, equal = np.zeros((order + k, order + k), order="F"), np.zeros((0, order))
        matrix[:order, :order] = self.P_kept
        if others.shape[0]:
            rest = others.matrix
            if isinstance(others, TurnedRows):
                others.add_squares(matrix, k, self.look)
            else:
                add_gram(matrix, rest[k:], np.ones(rest.shape[0] - k), self.look)
            equal = rest[:k].toarray()
        separate.add_gram(matrix, factors, self.look)
        return _factored(matrix, equal, self.look)

    def _condensed(self, A: Array) -> Solve:
        n, k = self.P.shape[0], self.equations
        equal, rest = A[:k], A[k:]
        matrix = np.zeros((n + k, n + k), order="F")
        matrix[:n, :n] = self._P_filled + dense_gram(rest, self.look)
        return _around(_factored(matrix, equal, self.look), rest, rest.T, n, k)

    def _thin(self, A: csr_array, across: csr_array, root: Array | None) -> Solve:
        """The condensed system of a sparse A."""
        n, k = self.P.shape[0], self.equations
        rest = A[k:] if k else A
        if self.long is not None and root is not None:
            try:
                return self._of_long(self.long, A, across)
            except np.linalg.LinAlgError:
                pass  # equations that depend on each other
        matrix = np.zeros((n + k, n + k), order="F")
        matrix[:n, :n] = self._P_filled
        add_gram(matrix, rest, np.ones(rest.shape[0]), self.look)
        return _around(_factored(matrix, A[:k].toarray(), self.look), rest, rest.T.tocsr() if k else across, n, k)

    def _long_rows(self, P: Any) -> LongRows | None:
        """The equations, and the other rows that see more than one unknown, where these are few and what is left without them is diagonal."""
        k, n = self.equations, P.shape[0]
        each = np.diff(self.A.indptr)
        long = (each > 1) | (np.arange(each.size) < k)
        diagonal = P.diagonal()
        others = np.repeat(~long, each)
        seen = self.A.indices[others]
        settled = (np.bincount(seen, minlength=n) > 0) | (diagonal > 0.0)
        few = 0 < np.count_nonzero(long) < n
        entries = np.count_nonzero(P) if isinstance(P, np.ndarray) else P.count_nonzero()
        alone = entries == np.count_nonzero(diagonal)
        return LongRows(np.flatnonzero(long), others) if few and settled.all() and alone else None

    def _of_long(self, long: LongRows, A: csr_array, across: csr_array) -> Solve:
        """The solver by the Schur complement of the long rows, where all else is diagonal.

        Their u are the unknowns of the complement, not what is left of A v: an active row has large entries.
        """
        n, k, at = A.shape[1], self.equations, long.rows
        few = A[at]
        to = few.T.tocsr()
        own = self.P.diagonal() + np.bincount(A.indices, weights=np.where(long.others, A.data, 0.0) ** 2, minlength=n)
        share = 1.0 / (own + SHIFT + 1e-15 * own)
        matrix = np.asfortranarray(dense_gram(np.sqrt(share)[:, None] * to.toarray(), self.look))
        np.einsum("ii->i", matrix)[k:] += 1.0
        inner = _factored(matrix, np.zeros((0, at.size)), self.look)

        def solve(right: Array) -> Array:
            r = right[n:].copy()
            own_r = r[at]
            r[at] = 0.0
            p = share * (right[:n] + across @ r)
            y = inner(few @ p - own_r)
            v = p - share * (to @ y)
            u = A @ v - r
            u[at] = y
            return np.concatenate([v, u])

        return solve

    def _sparse(self, A: csr_array, across: csr_array, root: Array | None) -> Solve:
        n, k = self.P.shape[0], self.equations
        if root is not None and not k and self.normal is not None:
            return _around(self.normal.factored(root * root, SHIFT), A, across, n, k)
        equal, rest = A[:k], A[k:]
        if k:
            across = rest.T.tocsr()
        square = csr_array(self.P + sparse_product(across, rest, self.look))
        square = csr_array(square + diags_array(SHIFT + 1e-15 * square.diagonal()))
        border = csr_array(equal) if k else None
        inner = None if self.band is None else self.band.factored(square, border, SHIFT)
        if inner is None:
            whole = block_array([[square, equal.T], [equal, -SHIFT * eye_array(k)]], format="csr") if k else square
            if self.orders:
                # at the first scalings entries cancel that are there later
                self.band, self.orders = Band.of(csr_array(whole), k), self.orders - 1
                inner = None if self.band is None else self.band.factored(square, border, SHIFT)
            inner = inner or self._filled(whole)
        return _around(inner, rest, across, n, k)

    @cached_property
    def _P_filled(self) -> Array:
        """P with its zeros, which a complement of long rows has no use for."""
        return _written(self.P)

    @cached_property
    def normal(self) -> BandedNormal | None:
        """The places of a system without equations in a narrow band; None where there is none."""
        return BandedNormal.of(self.P, self.A)

    def _filled(self, matrix: csr_array) -> Solve:
        """The solver by SuperLU, whose factor fills up as its order makes it."""
        options = {"SymmetricMode": True, "Equil": False}
        try:
            lu = attended(
                lambda: splu(csc_array(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options),
                self.look,
            )
        except RuntimeError as error:
            raise np.linalg.LinAlgError("the system is singular") from error
        return lu.solve  # type: ignore[no-any-return]


def least_change(A: Array, right: Array) -> Array:
    """The d of least norm with A d = right, or nearest to it: by Cholesky's factor of A A' where the rows of A are far from dependent."""
    if A.shape[0] <= A.shape[1]:
        gram = A @ A.T
        root = np.sqrt(np.maximum(gram.diagonal(), 0.0))
        if root.all():
            lower = by_factor(gram / root[:, None] / root)
            if lower is not None and float(lower.diagonal().min()) > INDEPENDENT:
                return np.asarray(A.T @ (by_cholesky(lower, right / root) / root))
        return np.asarray(A.T @ np.linalg.lstsq(gram, right, rcond=1e-12)[0])
    return np.asarray(np.linalg.lstsq(A, right, rcond=1e-6)[0])


def _product(P: Any) -> Solve:
    """The product with P."""
    if not isinstance(P, np.ndarray):
        diagonal = P.diagonal()
        if np.count_nonzero(P.data) == np.count_nonzero(diagonal):
            return lambda v: diagonal * v
        return Rows(P.tocsr()).__matmul__
    return lambda v: P @ v


def _has_matrices(batches: Sequence[Batch]) -> bool:
    return any(k.kind == ORDER[3] for k in batches)


def _written(matrix: Any) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


class System:
    """A factored system, solved to rounding."""

    is_poor = False

    def __init__(self, of_P: Solve, products: Products, equations: int, solve: Solve, enough: float = ENOUGH) -> None:
        self.of_P, self.products, self.equations, self.solve = of_P, products, equations, solve
        self.enough = enough

    def __call__(self, p: Array, r: Array, harmless: float = 0.0) -> tuple[Array, Array]:
        """The solution (dv, u) for the right-hand sides p and r; entries of what is missed of p may have the size `harmless`."""
        n, k, measure = p.size, self.equations, kernel(missed)
        rest = np.concatenate([p, r])
        found = np.zeros(0)
        best, least, sizes = np.zeros(rest.size), np.inf, np.empty(6)
        for again in range(REFINEMENTS + 1):
            found = self.solve(rest) if again == 0 else found + self.solve(rest)
            v, u = found[:n], found[n:]
            along, across = self.products(v, u)
            measure(p, self.of_P(v), across, r, along, u, k, rest, sizes)
            # each part beside its own right-hand side; slacks have the rounding of the terms that they are made of
            size = _share(sizes[3:], 1e-3)
            if not (size <= self.enough and sizes[0] <= harmless):
                size = max(size, _share(sizes[:3], 1e-18))
            if not size < 0.5 * least:
                break
            best, least = found, size
            # an answer that was refined is as good as its terms allow where what is left is near their rounding
            if size <= self.enough or (again and sizes[0] <= ENOUGH * sizes[2] and sizes[3] <= ENOUGH * sizes[5]):
                break
        return best[:n], best[n:]


def _share(sizes: Array, share: float) -> float:
    """A residual beside its right-hand side and a share of the terms that it is made of, all by their largest entries."""
    size = float(sizes[1] + share * sizes[2])
    return float(sizes[0]) / size if size > 0.0 else 0.0


def _factored(matrix: Array, equal: Array, look: Look) -> Solve:
    """The solver of a condensed system with equations, its matrix being written in the upper left, and overwritten."""
    if not matrix.size:
        return lambda right: right  # of which LAPACK would have one number
    k = equal.shape[0]
    n = matrix.shape[0] - k
    at = np.arange(n)
    matrix[at, at] += SHIFT + 1e-15 * matrix[at, at]
    if k:
        matrix[n:, :n] = equal
        matrix[n + np.arange(k), n + np.arange(k)] = -SHIFT
    return indefinite(matrix, look) if k else cholesky(matrix, look)


def _around(inner: Solve, A: MatrixLike, At: Any, n: int, k: int) -> Solve:
    """The solver of a system from that of the one without the scaled rows A: u = A dv - r."""

    def solve(right: Array) -> Array:
        p, r = right[:n], right[n + k :]
        found = inner(np.concatenate([p + At @ r, right[n : n + k]]))
        return np.concatenate([found, A @ found[:n] - r])

    return solve


def _scaled(A: Array, batches: Sequence[Batch], scalings: Sequence[Scaling | None]) -> Array:
    """W^-T A, the rows of the zero cone as they are."""
    out = A.copy()
    for batch, scaling in zip(batches, scalings, strict=True):
        if scaling is not None:
            own = slice(batch.start, batch.stop)
            out[own] = scaling.rows(A[own])
    return out


def _scaled_rows(A: csr_array, root: Array) -> csr_array:
    return by_rows(A.data * np.repeat(root, np.diff(A.indptr)), A.indices, A.indptr, A.shape)


def _diagonal_of_roots(
    batches: Sequence[Batch], scalings: Sequence[Scaling | None], without: Sequence[int] | NDArray[Any]
) -> Array | None:
    """The diagonal of W^-T, with 1 of the zero cone and of cones whose rows all are left out; None where another cone has a matrix."""
    found = [np.zeros(0)]
    left_out = np.zeros(batches[-1].stop if batches else 0, dtype=bool)
    left_out[np.asarray(without, dtype=np.intp)] = True
    for batch, scaling in zip(batches, scalings, strict=True):
        if scaling is None or left_out[batch.start : batch.stop].all():
            found.append(np.ones(batch.number * batch.rows))
        elif batch.kind not in ORDER[:2]:
            return None
        else:
            found.append(scaling.root())
    return np.concatenate(found)


def _rows_of_roots(batches: Sequence[Batch], scalings: Sequence[Scaling | None], rows: int) -> Array:
    """The numbers of W^-T in each row, in the columns of its cone of three rows; of cones with a diagonal that is the first number."""
    found = np.zeros((rows, 3))
    for batch, scaling in zip(batches, scalings, strict=True):
        root = np.ones(batch.rows) if scaling is None else scaling.root()
        if root.ndim == 1:
            found[batch.start : batch.stop, 0] = root
        elif batch.rows == 3:
            found[batch.start : batch.stop] = root.reshape(-1, 3)
    return found


def _matrix_of_roots(batches: Sequence[Batch], scalings: Sequence[Scaling | None], rows: int) -> csr_array:
    """W^-T, and 1 of the zero cone."""
    row, column, value = _entries_of_roots(batches, scalings)
    return csr_array((value, (row, column)), (rows, rows))


def _entries_of_roots(
    batches: Sequence[Batch], scalings: Sequence[Scaling | None], but: Collection[int] = ()
) -> tuple[NDArray[np.intp], NDArray[np.intp], Array]:
    """The entries of W^-T: rows, columns and numbers, which are 1 of the zero cone and of the batches whose places are in `but`."""
    nowhere = np.zeros(0, dtype=np.intp)
    row, column, value = [nowhere], [nowhere], [np.zeros(0)]
    for k, (batch, scaling) in enumerate(zip(batches, scalings, strict=True)):
        root = np.ones(batch.number * batch.rows) if scaling is None or k in but else scaling.root()
        places = batch.start + batch.rows * np.arange(batch.number)[:, None] + np.arange(batch.rows)
        if root.ndim == 1:
            row.append(places.reshape(-1))
            column.append(places.reshape(-1))
        else:
            row.append(np.repeat(places, batch.rows, axis=1).reshape(-1))
            column.append(np.tile(places, (1, batch.rows)).reshape(-1))
        value.append(root.reshape(-1))
    return np.concatenate(row), np.concatenate(column), np.concatenate(value)
