"""The linear systems of a Newton step, H d = -g with H = K'diag(h) K + R, R the diagonal of the ridges.

* `Primal`: H is formed and factored, its diagonal scaled to ones, so that its damping means the same in all units.
* `Dual`: with fewer rows than unknowns, and R > 0 but for a few free columns E. The multipliers y+ = y + h K d of the model are what is solved for,
  and x + d = -R^-1 (q + K'y+) is exact to rounding however small R is. With G = K R^-1 K' over the other columns, formed once, S = diag(h)^(1/2),
  M = I + S G S, y+ = S s and c = y - h K x (where h is 0, y+ is c, and a loses S G c):

      M s = a + S E x_E,   a = S^-1 c - S K R^-1 q,      (E'S M^-1 S E) x_E = -q_E - E'S M^-1 a.

  Each step factors M; nothing in the system of x_E cancels.
* `conjugate_gradients`: H is applied, with a preconditioner that is diagonal, or of blocks (`classes`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.coordinate.parts import factor_and_matrix
from fwdsl.backends.factors import Cholesky
from fwdsl.backends.kernels.operators import Operator
from fwdsl.backends.kernels.storage import Dense, Sparse
from fwdsl.backends.maps import KernelMatrix
from fwdsl.backends.problem import PreparedProblem

FEW = 8
"""Free coordinates, those without a ridge, that are levelled by a system of their own."""

MOST_CHANGED = 2.0
"""The samples that a Gram matrix has, over those whose change it may be brought up to date by."""

Solve = Callable[[Array, Array, Array, Array], Array]
"""(the gradient, x, K x, y) -> d."""

Metric = Callable[[Array], Array]
"""r -> M^-1 r for a preconditioner M."""


class Primal:
    """The matrix H itself."""

    def __init__(self, problem: PreparedProblem, ridge: Array) -> None:
        self.problem, self.ridge = problem, ridge
        self.free = np.flatnonzero(ridge == 0.0)
        #: The columns of H that belong to the free coordinates, where they are few; of data they are in double precision.
        self.of_free = np.zeros((ridge.size, 0))

    def gram(self, hs: list[Array], single: bool = False, unit: float = 1.0) -> Array:
        """K'diag(h) K. Products of the data are taken for the weights h / unit, of dense data in single precision with `single`."""
        G = self.problem.gram(np.arange(self.ridge.size), [h / unit for h in hs], single)
        G *= unit
        return G

    def updated(self, G: Array, before: list[Array], hs: list[Array], unit: float) -> Array | None:
        """The same from the G of other f'', by the samples whose f'' has changed; None where these are not the fewer."""
        changes = [h - old for h, old in zip(hs, before, strict=True)]
        if MOST_CHANGED * sum(map(np.count_nonzero, changes)) > sum(map(np.count_nonzero, hs)):
            return None
        return G + self.gram(changes, unit=unit)

    def factored(
        self, hs: list[Array], single: bool = False, unit: float = 1.0, gram: Array | None = None
    ) -> Solve | None:
        """A step's solver; None where H is not definite. With `single` it leaves a residual of single precision. `gram` may be known, and stays."""
        H = self.gram(hs, single, unit) if gram is None else gram.copy()
        np.einsum("ii->i", H)[:] += self.ridge
        self.problem.look()
        if self.free.size <= FEW:
            self.of_free = H[:, self.free]
        found = Cholesky.of(H)
        return None if found is None else lambda g, x, kx, y: -found.solve(g)

    def levelled(self, r: Array) -> Array:
        """The step of the free coordinates alone that makes the residual r nothing there; zeros where they depend on each other."""
        t = np.zeros_like(r)
        if self.free.size:
            try:
                t[self.free] = -np.linalg.solve(self.of_free[self.free], r[self.free])
            except np.linalg.LinAlgError:
                return t
        return t


class Dual:
    """The matrix M over the rows of one term."""

    def __init__(self, problem: PreparedProblem, ridge: Array) -> None:
        self.problem, self.ridge = problem, ridge
        self.free = np.flatnonzero(ridge == 0.0)
        self.inverse = np.divide(1.0, ridge, out=np.zeros_like(ridge), where=ridge > 0.0)

    @cached_property
    def gram(self) -> Array:
        """G."""
        problem = self.problem
        (term,) = problem.terms
        G = np.zeros((term.map.rows, term.map.rows))
        for block, m in term.map.parts:
            inverse = self.inverse[block.slice]
            if not inverse.any():
                continue
            found = factor_and_matrix(m)
            if found is not None and isinstance(found[1], KernelMatrix):
                G += _transposed(found[1].operator).gram(None, found[0] ** 2 * inverse)
            else:
                rows = np.array([m.apply(e) for e in np.eye(m.columns)])
                G += rows.T @ (inverse[:, None] * rows)
        return G

    def with_ridge(self, ridge: Array, share: float) -> Dual:
        """The system of other ridges, by which G is the one here over `share`."""
        found = Dual(self.problem, ridge)
        vars(found).update(gram=self.gram / share, extra=self.extra)
        return found

    @cached_property
    def extra(self) -> Array:
        """E, the columns of the free coordinates."""
        (term,) = self.problem.terms
        columns = np.zeros((term.map.rows, self.free.size))
        for c, j in enumerate(self.free):
            unit = np.zeros(self.problem.size)
            unit[j] = 1.0
            columns[:, c] = self.problem.linear(unit)[0]
        return columns

    def factored(self, hs: list[Array]) -> Solve | None:
        """A step's solver; None where the free columns depend on each other."""
        problem, free, h, q = self.problem, self.free, hs[0], self.problem.q
        root = np.sqrt(h)
        M = self.gram * root
        M *= root[:, None]
        np.einsum("ii->i", M)[:] += 1.0
        problem.look()
        inner = Cholesky.of(M)
        if inner is None:
            return None
        E = root[:, None] * self.extra
        small = Cholesky.of(E.T @ inner.solve(E)) if free.size else None
        if free.size and small is None:
            return None

        def solve(g: Array, x: Array, kx: Array, y: Array) -> Array:
            c = y - h * kx
            still = np.where(root > 0.0, 0.0, c)
            a = np.divide(c, root, out=np.zeros_like(c), where=root > 0.0)
            if still.any():
                a -= root * (self.gram @ still)
            if problem.has_q:
                a -= root * problem.linear(self.inverse * q)[0]
            at = np.zeros(0)
            if small is not None:
                at = small.solve(-q[free] - self.extra.T @ still - E.T @ inner.solve(a))
                a = a + E @ at
            new = -self.inverse * (q + problem.adjoint([root * inner.solve(a) + still]))
            new[free] = at
            return np.asarray(new - x)

        return solve


def _transposed(operator: Operator) -> Operator:
    """A' as an operator whose work counts with A's."""
    storage = operator.storage
    turned: Dense | Sparse
    if isinstance(storage, Dense):
        turned = Dense(storage.store, not storage.transposed)
    else:
        turned = Sparse(storage.shape[::-1], rows=storage.by_columns, columns=storage.rows)
    found = operator.again(operator.pool)
    found._take(turned, operator.pool, operator.counter)
    return found


def conjugate_gradients(
    apply: Callable[[Array], Array],
    r: Array,
    inverse: Metric,
    measure: Callable[[Array], float],
    enough: float,
    most: int,
    p: Array | None = None,
    moved: Callable[[float], None] | None = None,
) -> tuple[Array, Array, Array]:
    """(d, r - H d, the next direction) with H d = r nearly: until the measure of what is left is `enough`, after `most` products at the latest.

    `inverse` applies that of the preconditioner. A direction p that an earlier call gave for the same H goes on from there. `moved` is told how
    far d went along each direction after its product, which may have what K d is made of.
    """
    d, r = np.zeros_like(r), r.copy()
    s = inverse(r)
    rho = float(r @ s)
    if p is None:
        p = s
    for _ in range(most):
        hp = apply(p)
        bend = float(p @ hp)
        if not bend > 0.0:
            break
        # rho where p goes on from directions of this run; from others what lies along p
        alpha = float(r @ p) / bend
        d += alpha * p
        r -= alpha * hp
        if moved is not None:
            moved(alpha)
        s = inverse(r)
        rho, old = float(r @ s), rho
        p = s + (rho / old) * p if old > 0.0 else s
        if measure(r) <= enough:
            break
    return d, r, p
