r"""P(X) and D(y) of a problem on factors, recomputed in float64 by NumPy and SciPy from the factors alone, never by the kernels.

With z = k K X, y = f'(z), G = k K'y + 2 r X and s >= sigma_1(G) proven (`fwdsl.spectral.bounds`), for penalty m, ridge r, and R the largest
trace norm of a point that is no worse than X (`Factored.reach`: the radius, or what penalty and ridge leave of it):

    D = constant - f*(y) - r |X|_F^2 - R (s - m)_+      and, where m > 0,      D = constant - f*(c y) - r |c X|_F^2,  c = min(1, m / s),

because |Z|_F^2 >= 2 <X, Z> - |X|_F^2 for all Z, or D = constant - f*(0), with c = 0. Where an intercept b is free, z has the best one added, and
the columns of y must sum to 0: they are corrected to, and what is left must be rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..atoms.base import Array
from ..atoms.low_rank import LowRank, squared_norm, trace_norm
from ..atoms.vectors.common import excess
from ..bind.observed_places import PIECE, Places
from ..bind.values import HeldEntries
from ..canon.data_matrix import DataMatrix
from ..canon.factored import EntryMap, Factored
from ..light_dataclass import light_dataclass
from ..readers.held_rows import OfRows
from ..readers.row_blocks import cut_rows
from ..readers.scratch import Scratch
from ..spectral.bounds import RIGOROUS_SIDE, SpectralBound, largest_singular_bound
from ..sums import Rows, finish, tree_sum
from .certificate import FLOOR, CertificateKind
from .point import EPS, ROUNDING
from .verified import DualBound, Point, Verified

FAILURE = 1e-9
"""The largest probability with which a bound of kind `probabilistic` may be false (docs/language.md promises it)."""


class Gradient:
    """A sparse G of the numbers y at observed places, in their order by rows, by SciPy's products; sums over rows go by their leaves."""

    def __init__(self, places: Places, y: Array, leaves: tuple[Rows, ...]) -> None:
        self.shape: tuple[int, int] = places.shape
        self.leaves = leaves
        self.rows = [sparse_of(places.between(*leaf), y[slice(*places.within(leaf))]) for leaf in leaves]
        self.columns = [G.T.tocsr() for G in self.rows]

    def matvec(self, x: Array) -> Array:
        return np.concatenate([G @ x for G in self.rows])

    def rmatvec(self, y: Array) -> Array:
        return np.asarray(tree_sum(G @ y[slice(*leaf)] for leaf, G in zip(self.leaves, self.columns, strict=True)))

    matmat = matvec
    rmatmat = rmatvec

    def want(self, what: str, args: Sequence[Any]) -> Array:
        """A product of the rows that a holder has."""
        return self.matvec(*args) if what == "left" else self.rmatvec(*args)


@light_dataclass
class NumbersOfEntries:
    """The numbers of a sparse matrix in their order by rows: what their holders are given. `leaves` are those of the entries."""

    y: Array
    leaves: tuple[Rows, ...]

    def part(self, start: int, stop: int) -> NumbersOfEntries:
        """The numbers of the leaves start..stop-1."""
        first, last = self.leaves[start][0], self.leaves[stop - 1][1]
        return NumbersOfEntries(self.y[first:last], tuple((a - first, b - first) for a, b in self.leaves[start:stop]))

    def evaluator(self, entries: Any, pool: Any) -> Gradient:
        """The products of a holder of these entries."""
        return Gradient(entries.places, self.y, entries.row_leaves)


class HeldGradient:
    """The same matrix by the products of those who hold the entries; where nobody can be asked any more, by its own."""

    def __init__(self, places: Places, y: Array, holders: Any) -> None:
        self.shape = places.shape
        self._places, self._y, self._holders = places, y, holders

    def matvec(self, x: Array) -> Array:
        found = self._asked("left", x)
        return self._own.matvec(x) if found is None else np.concatenate([rows for _, (rows,) in found])

    def rmatvec(self, y: Array) -> Array:
        found = self._asked("right", OfRows(y))
        return self._own.rmatvec(y) if found is None else np.asarray(finish((node, value) for node, (value,) in found))

    matmat = matvec
    rmatmat = rmatvec

    def _asked(self, what: str, x: Any) -> list[tuple[Any, list[Array]]] | None:
        found: list[tuple[Any, list[Array]]] | None = self._holders.run(lambda known: ((), [(what, x)], ()))
        return found

    @cached_property
    def _own(self) -> Gradient:
        return Gradient(self._places, self._y, self._places.leaves)


class StoredGradient:
    """The same matrix of entries that stay in files, whose numbers y are in a file too: some rows at a time, of about `PIECE` entries."""

    def __init__(self, places: Places, y: Scratch, k: float) -> None:
        self.shape, self._places, self._y, self._k = places.shape, places, y, k
        self._ends = places.indptr.astype(np.int64)

    def matvec(self, x: Array) -> Array:
        out = np.empty((self.shape[0], *x.shape[1:]))
        for leaf in self._places.leaves:
            for start, stop in cut_rows(self._ends, *leaf, PIECE):
                out[start:stop] = self._rows(start, stop) @ x
        return out

    def rmatvec(self, y: Array) -> Array:
        if y.ndim > 1:
            return np.stack([self.rmatvec(np.ascontiguousarray(v)) for v in y.T], axis=1)
        return np.asarray(tree_sum(self._turned(leaf, y) for leaf in self._places.leaves))

    matmat = matvec
    rmatmat = rmatvec

    def _turned(self, leaf: Rows, y: Array) -> Array:
        """G'y of a leaf. Sums over it go on from piece to piece: those so far stand before the rows of the next one, as one row of the matrix."""
        total: Array | None = None
        for start, stop in cut_rows(self._ends, *leaf, PIECE):
            found, v = self._rows(start, stop, total), y[start:stop]
            total = found.T @ (v if total is None else np.concatenate([[1.0], v]))
        assert total is not None
        return np.asarray(total)

    def _rows(self, start: int, stop: int, before: Array | None = None) -> Any:
        """Some rows, one of these numbers before them where it is given."""
        from scipy.sparse import csr_array

        first, last = int(self._ends[start]), int(self._ends[stop])
        ends = self._ends[start : stop + 1] - first
        data, columns = self._k * self._y[first:last], self._places.columns_of(first, last).astype(np.int32)
        if before is not None:
            ends = np.concatenate([[0], ends + before.size])
            data = np.concatenate([before, data])
            columns = np.concatenate([np.arange(before.size, dtype=np.int32), columns])
        return csr_array((data, columns, ends), shape=(ends.size - 1, self.shape[1]))


def gradient_of(form: Factored, at: AtPredictions | AtEntries) -> Gradient | HeldGradient | StoredGradient:
    """The gradient of the loss in X, by its products."""
    assert isinstance(form.data, EntryMap)
    entries = form.data.entries
    places, order = entries.by_rows
    if isinstance(at.y, Scratch) and not isinstance(entries, HeldEntries):
        return StoredGradient(places, at.y, form.k)
    y = form.k * (at.y[0 : places.size] if isinstance(at, AtEntries) else at.y[order])
    if isinstance(entries, HeldEntries):
        holders = entries.hands.term(NumbersOfEntries(y, places.entry_leaves), 0)
        if holders is not None:
            return HeldGradient(places, y, holders)
    return Gradient(places, y, places.leaves)


def _written(form: Factored, at: AtPredictions | AtEntries) -> Any:
    """The same, written down as a sparse matrix; what is at one place is added up."""
    assert isinstance(form.data, EntryMap)
    places, order = form.data.entries.by_rows
    y = at.y[0 : places.size] if isinstance(at, AtEntries) else at.y[order]
    found = sparse_of(places.in_memory(), form.k * y)
    found.sum_duplicates()
    return found


def sparse_of(places: Places, y: Array) -> Any:
    """The sparse matrix of the numbers y, in their order by rows; a place may be stored more than once."""
    from scipy.sparse import csr_array

    return csr_array((y, places.columns.astype(np.int32), places.indptr.astype(np.int64)), shape=places.shape)


class Beside:
    """G + U V', by its products."""

    def __init__(self, G: Gradient | HeldGradient | StoredGradient, U: Array, V: Array) -> None:
        self.G, self.U, self.V = G, U, V
        self.shape = G.shape

    def matvec(self, x: Array) -> Array:
        return self.G.matvec(x) + self.U @ (self.V.T @ x)

    def rmatvec(self, y: Array) -> Array:
        return self.G.rmatvec(y) + self.V @ (self.U.T @ y)

    matmat = matvec
    rmatmat = rmatvec


def verify_factored(
    form: Factored,
    X: LowRank,
    tol: float,
    attempt: int = 0,
    seed: int = 0,
    stop: Callable[[], bool] = lambda: False,
) -> Verified:
    """Certify X, its dual point made of its own predictions; sigma_1 is bounded well within `tol`, or as far as it is known once `stop()` is true.

    Bounds that rest on chance fail with at most 1e-9 over all attempts of a run together: attempt k has its own random start and half the
    probability of the one before.
    """
    nuclear, squares = trace_norm(X), form.ridge * squared_norm(X)
    at = AtEntries(form, X) if form.is_by_rows else AtPredictions(form, X)
    loss = at.loss
    primal = form.constant + loss + squares + (form.penalty * nuclear if form.penalty else 0.0)
    infeasibility = excess(nuclear, form.radius)
    over = max(0.0, nuclear - form.radius)
    size = abs(form.constant) + abs(loss) + squares + form.penalty * nuclear
    balanced = at.balanced
    aim = tol * max(abs(primal), FLOOR * (form.scale + size))
    # a better point lies in a smaller ball, where there is a feasible one to compare with
    reach = form.reach(primal) if infeasibility == 0.0 and math.isfinite(primal) else form.radius
    bound = _bound(form, at, X, reach, aim, attempt, seed, stop)
    dual, c = _dual(form, at, squares, reach, bound.value_upper)
    kind: CertificateKind = "rigorous" if bound.kind == "rigorous" else "probabilistic"
    statement = f"the gradient's largest singular value is at most {bound.value_upper:.6g}, by {bound.statement}"
    if c == 0.0:
        kind, statement, balanced = "exact", "the infimum of the loss alone", True
    if not (math.isfinite(primal) and math.isfinite(dual)):
        kind, statement, dual = "none", "the dual point is outside the domain of a conjugate", -math.inf
    elif not balanced:
        kind, statement, dual = "none", "the dual point does not sum to 0 over a free intercept", -math.inf
    passes = 1.0 + (bound.products if isinstance(form.data, EntryMap) else 1.0)
    used = at.dual(c)
    ridge = (c * X.U, X.V) if form.ridge and used else ()
    point = Point(primal, size, infeasibility, infeasibility, (), (over,))
    normal = (max(0.0, bound.value_upper - form.penalty),)
    terms = abs(dual - form.constant) + abs(form.constant)
    # |K| |X| is at least |K X|: the sizes of the predictions stand for it
    pairs = c * at.pairs
    found = DualBound(dual, 0.0, kind, statement, None, (*used, *ridge), terms, normal, pairs=pairs)
    return Verified(point, found, form.scale, passes)


class AtPredictions:
    """The loss at the predictions z of X, and its dual point y = f'(z) in the domain of f*, with vectors in memory."""

    def __init__(self, form: Factored, X: LowRank) -> None:
        self.f, self.z = form.plain, form.predictions(X)
        self.loss = self.f.value(self.z)
        self.y, self.balanced = _dual_point(form, self.z)
        self.pairs = float(np.abs(self.y) @ np.abs(self.z))
        self.norm = float(np.linalg.norm(self.y))

    def conjugate(self, c: float) -> float:
        """f*(c y)."""
        return self.f.conjugate(c * self.y if c else np.zeros_like(self.y))

    def dual(self, c: float) -> tuple[Array, ...]:
        """The dual point c y."""
        return (c * self.y if c else np.zeros_like(self.y),)


class AtEntries:
    """The same over observed entries, a piece of them at a time in their order by rows. Of entries that stay in files y goes into a file too."""

    balanced = True

    def __init__(self, form: Factored, X: LowRank) -> None:
        self.form, self.f = form, form.by_rows
        assert isinstance(form.data, EntryMap)
        self.entries = form.data.entries
        self.places = self.entries.by_rows[0]
        self.y: Scratch | Array = Scratch() if self.entries.stored is not None else np.empty(self.places.size)
        found: tuple[float, ...] = self.places.sum(lambda at: self._piece(X, at)) or (0.0,) * 6
        self.loss, self._conjugate, self._at_zero, self.pairs, self.along, squares = found
        self.norm = math.sqrt(squares)

    def _piece(self, X: LowRank, at: slice) -> tuple[float, ...]:
        """The sums over a piece: f(z), f*(y), f*(0), |y|'|z|, <y, z> and |y|^2."""
        f, z = self.f.part(at), self.form.predictions_of(X, at)
        y = np.clip(f.gradient(z), *f.dual_bounds())
        self.y[at] = y
        pairs = float(np.abs(y) @ np.abs(z))
        return f.value(z), f.conjugate(y), f.conjugate(np.zeros_like(y)), pairs, float(y @ z), float(y @ y)

    def conjugate(self, c: float) -> float:
        """f*(c y)."""
        if c in (0.0, 1.0):
            return self._conjugate if c else self._at_zero
        return float(self.places.sum(lambda at: self.f.part(at).conjugate(c * self.y[at])))

    def dual(self, c: float) -> tuple[Array, ...]:
        """The dual point c y in the order of the entries; nothing where they stay in files, and it would not fit into memory either."""
        order = self.entries.by_rows[1]
        if isinstance(self.y, Scratch):
            return ()
        found = np.zeros(self.places.size)
        if c:
            found[order] = c * self.y
        return (found,)


def _dual_point(form: Factored, z: Array) -> tuple[Array, bool]:
    """f'(z) in the domain of f*, with columns that sum to 0 over a free intercept, and whether they do to rounding."""
    lo, hi = form.plain.dual_bounds()
    y = np.clip(form.plain.gradient(z), lo, hi)
    if form.intercept is None:
        return y, True
    columns = form.intercept.columns
    w = form.plain.w.reshape(-1, columns)
    share = w / np.maximum(w.sum(axis=0), 1e-300)
    for _ in range(3):
        missed = y.reshape(-1, columns).sum(axis=0)
        y = np.clip((y.reshape(-1, columns) - share * missed).reshape(-1), lo, hi)
    Y = y.reshape(-1, columns)
    return y, bool(np.all(np.abs(Y.sum(axis=0)) <= ROUNDING * np.abs(Y).sum(axis=0)))


def _dual(form: Factored, at: AtPredictions | AtEntries, squares: float, reach: float, s: float) -> tuple[float, float]:
    """The best of the bounds, and the factor of both y and X in it."""
    over = max(0.0, s - form.penalty)
    cost = reach * over if over > 0.0 else 0.0
    points = [(-at.conjugate(1.0) - squares - cost, 1.0)]
    if form.penalty > 0.0 and over > 0.0:
        c = form.penalty / s
        points.append((-at.conjugate(c) - c * c * squares, c))
    # with nothing to gain from y, as where the optimum is a perfect fit and all that y holds is rounding, the loss's infimum is a bound
    points.append((-at.conjugate(0.0), 0.0))
    value, c = max(points, key=lambda point: point[0])
    return form.constant + value, c


def _bound(
    form: Factored,
    at: AtPredictions | AtEntries,
    X: LowRank,
    reach: float,
    aim: float,
    attempt: int,
    seed: int,
    stop: Callable[[], bool],
) -> SpectralBound:
    """sigma_1 of the gradient from above: within a tenth of `aim` where it is multiplied by the radius."""
    failure = FAILURE / 2.0 ** (attempt + 1)
    own = int(np.random.SeedSequence((seed, attempt, 0x7E57)).generate_state(1)[0])
    warm = X.V if X.rank else None
    # <y, z> is about -|X|_* sigma_1 at the optimum
    size = max(
        min(reach, form.radius if math.isfinite(form.radius) else trace_norm(X)) * at.norm / math.sqrt(min(form.shape)),
        1e-300,
    )
    rtol = min(1e-2, max(1e-9, 0.1 * aim / size))
    if isinstance(form.data, EntryMap):
        if min(form.shape) > RIGOROUS_SIDE:
            op: Any = gradient_of(form, at)
            if form.ridge:
                op = Beside(op, 2.0 * form.ridge * X.U, X.V)
            return largest_singular_bound(op, failure, rtol=rtol, warm=warm, seed=own, stop=stop)
        G = _written(form, at)
        if not form.ridge:
            return largest_singular_bound(G, failure, rtol=rtol, warm=warm, seed=own, stop=stop)
        added = 2.0 * form.ridge * X.U @ X.V.T
        bound = largest_singular_bound(G.toarray() + added, failure, rtol=rtol, warm=warm, seed=own, stop=stop)
        size = 2.0 * form.ridge * float(np.linalg.norm(X.U) * np.linalg.norm(X.V)) + float(np.linalg.norm(G.data))
        return _raised(bound, 4.0 * (X.rank + 2) * EPS * size)
    assert isinstance(at, AtPredictions)
    A, Y = DataMatrix(form.data.A), form.k * at.y.reshape(-1, form.shape[1])
    G = A.rmatmat(Y)
    rounding = A.shape[0] * EPS * A.norm() * float(np.linalg.norm(Y))
    if form.ridge:
        G += 2.0 * form.ridge * X.U @ X.V.T
        rounding += 4.0 * (X.rank + 2) * EPS * float(np.linalg.norm(X.U) * np.linalg.norm(X.V)) * 2.0 * form.ridge
        rounding += EPS * float(np.linalg.norm(G))
    bound = largest_singular_bound(G, failure, rtol=rtol, warm=warm, seed=own, stop=stop)
    return _raised(bound, rounding)


def _raised(bound: SpectralBound, by: float) -> SpectralBound:
    """The bound with room for the rounding of the matrix itself."""
    return SpectralBound(
        bound.value_upper + by, bound.kind, bound.statement, bound.lower, bound.failure, bound.products
    )


def radius_dual(form: Factored, y: Sequence[Array], X: LowRank) -> float:
    """d(optimal value) / d(radius), in the sense of minimisation: -(sigma_1(G) - penalty)_+, by <G, X> = -sigma_1 |X|_*."""
    nuclear = trace_norm(X)
    if nuclear < form.radius * (1.0 - 1e-9) or nuclear == 0.0:
        return 0.0
    if form.is_by_rows:
        pairs = AtEntries(form, X).along
    elif y:
        pairs = form.k * float(y[0] @ form.data.predict(X))
    else:
        return 0.0
    along = pairs + 2.0 * form.ridge * squared_norm(X)
    return -max(0.0, -along / nuclear - form.penalty)
