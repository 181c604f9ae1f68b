r"""Systems in the kept unknowns whose matrix is a diagonal and the squares of few long rows: losses of fewer samples than features.

    (diag(own) + M'M) x = p + M's,   M = sqrt(D) K in the long rows,

where `own` has P, the rows of one unknown each, such as those of a norm over entries or of bounds, and what single rows of K add. With the
multipliers l = M x - s,

    (I + M diag(own)^-1 M') l = M diag(own)^-1 p - s,   x = diag(own)^-1 (p - M'l):

a system of the order of the long rows. Near the end both D and 1 / own are huge, and M x - s would have no digits: so s comes apart from p, and
M x = l + s is told beside x. Few unknowns that nothing else curves, such as intercepts, stay beside the system as equations do. Rows are
scaled by sqrt(D), not divided by D, which is 0 where a row has no weight.

Source: the normal equations of interior points, Wright, "Primal-dual interior-point methods", 1997, chapter 11.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.backends.interior.blocked import Look, Solve, dense_gram
from fwdsl.backends.interior.separate import Rows, Separate, SolveKept
from fwdsl.backends.interior.sizes import FREE, SHARE
from fwdsl.light_dataclass import light_dataclass

Index = NDArray[Any]

Factored = Callable[[Array, Array], Solve]
"""The solver of [S, E'; E, 0] from S, in the upper left of a matrix with room for E, and E."""


@light_dataclass
class FewRows:
    """The long rows of K, where the others see one unknown each at most."""

    long: Index
    L: Array  # these rows, with all kept unknowns
    row: Index  # of the other entries of K
    column: Index
    square: Array  # of the numbers there
    curved: Index  # the kept unknowns with a diagonal
    free: Index  # the others
    diagonal: Array  # of P

    @staticmethod
    def of(separate: Separate, P: Any) -> FewRows | None:
        """None where there are as many long rows as unknowns, or P or the other rows are no diagonal. P is that of the kept unknowns."""
        K, rest, n = separate.K, separate.rest, separate.kept.size
        diagonal = P.diagonal()
        numbers = np.count_nonzero(P) if isinstance(P, np.ndarray) else P.count_nonzero()
        if (np.diff(rest.indptr) > 1).any() or numbers != np.count_nonzero(diagonal):
            return None
        each = np.count_nonzero(K, axis=1) if isinstance(K, np.ndarray) else np.diff(K.indptr)
        long, others = np.flatnonzero(each > 1), np.flatnonzero(each == 1)
        if long.size + FREE >= SHARE * n:
            return None
        some = K[others]
        if isinstance(K, np.ndarray):
            row, column = np.nonzero(some)
            found = some[row, column]
        else:
            row, column, found = np.arange(others.size), some.indices, some.data
        settled = diagonal > 0.0
        settled[column] = True
        settled[rest.indices] = True
        free = np.flatnonzero(~settled)
        if free.size > FREE:
            return None
        L = np.zeros((long.size, n))
        L[:, : K.shape[1]] = K[long] if isinstance(K, np.ndarray) else K[long].toarray()
        return FewRows(long, L, others[row], column, np.square(found), np.flatnonzero(settled), free, diagonal)

    def solver(
        self, separate: Separate, D: Array, shift: float, rest: Rows, factored: Factored, look: Look
    ) -> SolveKept:
        """The solver at weights of the rows of K, P being shifted, and the other rows scaled. Raises `LinAlgError` where it is singular."""
        n, m, k = self.diagonal.size, self.long.size, self.free.size
        own = self.diagonal + shift + np.bincount(self.column, weights=D[self.row] * self.square, minlength=n)
        own += np.bincount(rest.pattern[0], weights=np.square(rest.data), minlength=n)
        root = np.sqrt(D[self.long])
        M = root[:, None] * self.L
        curved, beside = M[:, self.curved], M[:, self.free]
        share = 1.0 / own[self.curved]
        matrix = np.zeros((m + k, m + k), order="F")
        matrix[:m, :m] = dense_gram(np.sqrt(share)[:, None] * curved.T, look)
        np.einsum("ii->i", matrix)[:m] += 1.0
        inner = factored(matrix, np.ascontiguousarray(beside.T))
        weighs = root > 0.0
        of_K, of_K_t, columns = separate.of_K, separate.of_K_t, separate.K.shape[1]

        def solve(p: Array, t: Array, _: Array) -> tuple[Array, Array]:
            s = np.divide(t[self.long], root, out=np.zeros(m), where=weighs)
            others = t.copy()
            others[self.long] = 0.0
            p[:columns] += of_K_t @ others
            found = inner(np.concatenate([curved @ (share * p[self.curved]) - s, p[self.free]]))
            x = np.empty(n)
            x[self.curved] = share * (p[self.curved] - found[:m] @ curved)
            x[self.free] = -found[m:]
            t = of_K @ x[:columns]
            t[self.long] = np.divide(found[:m] + s, root, out=t[self.long], where=weighs)
            return x, t

        return solve
