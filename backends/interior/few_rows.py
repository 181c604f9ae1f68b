r"""Systems in the kept unknowns whose matrix is a diagonal and the squares of few long rows: losses of fewer samples than features.

    (diag(own) + M'M) x = p + M's,   M = sqrt(D) K in its long rows, and the other long rows as they are,

where `own` has P, the rows of one unknown each, such as those of a norm over entries or of bounds, and what single rows of K add. Equations E x = e
are long rows too. With the multipliers l = M x - s,

    (I + M diag(own)^-1 M') l = M diag(own)^-1 p - s,   x = diag(own)^-1 (p - M'l):

a system of the order of the long rows; in those of equations it has no 1. Near the end both D and 1 / own are huge, and M x - s would have no
digits: so s comes apart from p, and M x = l + s is told beside x. Few unknowns that nothing else curves, such as intercepts, stay beside the system
as equations do. Rows are scaled by sqrt(D), not divided by D, which is 0 where a row has no weight.

Source: the normal equations of interior points, Wright, "Primal-dual interior-point methods", 1997, chapter 11.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.blocked import Look, Solve, dense_gram
from fwdsl.backends.interior.separate import Separate, SolveKept
from fwdsl.backends.interior.sizes import FREE, SHARE
from fwdsl.backends.sparse_rows import Rows
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[Any]

EQUATIONS = 1e-14
"""The amount that is added to the diagonal of equations, beside its largest entry."""

Factored = Callable[[Array, Array], Solve]
"""The solver of [S, E'; E, 0] from S, in the upper left of a matrix with room for E, and E."""


@light_dataclass
class FewRows:
    """The long rows of K and those of the other rows, where all else sees one unknown at a time."""

    long: Index
    L: Array  # these rows of K, with all kept unknowns
    row: Index  # of the other entries of K
    column: Index
    square: Array  # of the numbers there
    others: Index  # the long ones of the other rows
    single: Index  # the rest of them
    curved: Index  # the kept unknowns with a diagonal
    free: Index  # the others
    diagonal: Array  # of P
    equations: int  # the first of the other rows, all of which are long

    @staticmethod
    def of(separate: Separate, P: Any, mixed: NDArray[np.bool_], equations: int) -> FewRows | None:
        """None where there are as many long rows as unknowns, or P is no diagonal.

        P is that of the kept unknowns. `mixed` are those of the other rows that a scaling mixes with each other; the first `equations` of them are
        equations.
        """
        K, rest, n = separate.K, separate.rest, separate.kept.size
        diagonal = P.diagonal()
        numbers = np.count_nonzero(P) if isinstance(P, np.ndarray) else P.count_nonzero()
        each = np.count_nonzero(K, axis=1) if isinstance(K, np.ndarray) else np.diff(K.indptr)
        long, short = np.flatnonzero(each > 1), np.flatnonzero(each == 1)
        lengthy = mixed | (np.diff(rest.indptr) > 1) | (np.arange(mixed.size) < equations)
        others, single = np.flatnonzero(lengthy), np.flatnonzero(~lengthy)
        if numbers != np.count_nonzero(diagonal) or long.size + others.size + FREE >= SHARE * n:
            return None
        some = K[short]
        if isinstance(K, np.ndarray):
            row, column = np.nonzero(some)
            found = some[row, column]
        else:
            row, column, found = np.arange(short.size), some.indices, some.data
        settled = diagonal > 0.0
        settled[column] = True
        settled[rest[single].indices] = True
        free = np.flatnonzero(~settled)
        if free.size > FREE:
            return None
        L = np.zeros((long.size, n))
        L[:, : K.shape[1]] = K[long] if isinstance(K, np.ndarray) else K[long].toarray()
        settled_at = np.flatnonzero(settled)
        return FewRows(
            long, L, short[row], column, np.square(found), others, single, settled_at, free, diagonal, equations
        )

    def solver(
        self, separate: Separate, D: Array, shift: float, rest: Rows, factored: Factored, look: Look
    ) -> SolveKept:
        """The solver at weights of the rows of K, P being shifted, and the other rows scaled. Raises `LinAlgError` where it is singular."""
        n, m, k = self.diagonal.size, self.long.size + self.others.size, self.free.size
        own = self.diagonal + shift + np.bincount(self.column, weights=D[self.row] * self.square, minlength=n)
        matrix = rest.matrix
        one_by_one = matrix[self.single] if self.others.size else matrix
        own += np.bincount(one_by_one.indices, weights=np.square(one_by_one.data), minlength=n)
        root = np.sqrt(D[self.long])
        M = root[:, None] * self.L
        if self.others.size:
            M = np.concatenate([M, matrix[self.others].toarray()])
        curved, beside = M[:, self.curved], M[:, self.free]
        share = 1.0 / own[self.curved]
        system = np.zeros((m + k, m + k), order="F")
        system[:m, :m] = dense_gram(np.sqrt(share)[:, None] * curved.T, look)
        long, first = np.einsum("ii->i", system), self.long.size
        long[:first] += 1.0
        # equations may depend on each other
        long[first : first + self.equations] += EQUATIONS * float(long[first : first + self.equations].max(initial=0.0))
        long[first + self.equations : m] += 1.0
        inner = factored(system, np.ascontiguousarray(beside.T))
        weighs = root > 0.0
        of_K, of_K_t, columns, q = separate.of_K, separate.of_K_t, separate.K.shape[1], self.long.size

        def solve(p: Array, t: Array, r: Array, equations: Array) -> tuple[Array, Array, Array]:
            of_others = np.concatenate([equations, r[self.others[self.equations :]]])
            s = np.concatenate([np.divide(t[self.long], root, out=np.zeros(q), where=weighs), of_others])
            short, alone = t.copy(), r.copy()
            short[self.long] = 0.0
            alone[self.others] = 0.0
            p[:columns] += of_K_t @ short
            rest.add_adjoint(alone, p)
            found = inner(np.concatenate([curved @ (share * p[self.curved]) - s, p[self.free]]))
            x = np.empty(n)
            x[self.curved] = share * (p[self.curved] - found[:m] @ curved)
            x[self.free] = -found[m:]
            t, u = of_K @ x[:columns], rest @ x - r
            t[self.long] = np.divide((found[:m] + s)[:q], root, out=t[self.long], where=weighs)
            u[self.others] = found[q:m]
            return np.concatenate([x, found[q : q + self.equations]]), t, u

        return solve
