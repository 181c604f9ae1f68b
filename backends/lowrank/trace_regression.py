r"""Least squares on a trace-norm ball: accelerated gradient on factors.

Problem: min over X (d x c) of F(X) + m |X|_*, F(X) = a |A X - B|_F^2, subject to |X|_* <= r, A (n x d) known by its products
with thin matrices (`DataMatrix`), B (n x c) dense, a > 0; m = 0 or r = inf where there is no penalty or no ball.

Accelerated gradient. X = U V' is kept by its factors with A U and A'A U; with C = A'B computed once,

    Y = X + beta (X - X_old),   M = Y - grad F(Y) / L = Y - (2a / L) (A'A Y - C),   X+ = prox of m |.|_* / L on the ball at M,

and M is never formed: it is C scaled plus a matrix of rank 2q. The prox takes the top q singular triplets of M, by one or two warm subspace
iterations, lowers the singular values by m / L and projects them on the l1 ball; q is the rank and a margin, doubled where the last value
survives. An error of the subspace is corrected by the next iteration. One iteration costs 2q / c products of A with a d x c matrix, F being
quadratic, backtracking asks whether 2a |A (X+ - Y)|^2 <= L |X+ - Y|^2, and the momentum restarts on <Y - X+, X+ - X> > 0. All norms of
differences are taken in a common basis of the right factors, where they lose no digits. (Beck, Teboulle 2009; O'Donoghue, Candes 2015; Oh,
Matsushita, Tai, Kweon 2018.)

The Frank-Wolfe gap <grad F(X), X> + r s with s >= sigma_1(grad F(X)) is the duality gap at Y = grad of the loss; the verifier proves s.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.lowrank.factors import project_decreasing, thin_svd
from fwdsl.backends.method import State
from fwdsl.canon.data_matrix import DataMatrix
from fwdsl.light_dataclass import light_state
from fwdsl.spectral.block import subspace_step
from fwdsl.spectral.operators import CountedOperator, nothing
from fwdsl.spectral.top import top_singular

LEAST_RANK = 10
"""Columns that the subspace of a run from a given point begins with, at least."""


@light_state
class RegressionState(State):
    """The state of a run on a product with data. An iterate X = U V' is kept as U, V, A U and A'A U."""

    X: tuple[Array, Array, Array, Array]  # the iterate
    X_old: tuple[Array, Array, Array, Array]  # its predecessor
    W: Array  # the subspace of right vectors
    t: float  # momentum
    lipschitz: float  # L
    products: float  # with A or A', in units of one A X, X of the variable's shape
    value: float = math.inf  # the objective at X, as of the last look
    gap: float = math.inf  # an estimate of how far it is from the optimum


class _Argument:
    """M = scale C + F G': the prox argument, by its products."""

    def __init__(self, C: Array, scale: float, F: Array, G: Array) -> None:
        self.C, self.scale, self.F, self.G = C, scale, F, G
        self.shape: tuple[int, int] = C.shape

    def matvec(self, x: Array) -> Array:
        return np.asarray(self.scale * (self.C @ x) + self.F @ (self.G.T @ x))

    def rmatvec(self, y: Array) -> Array:
        return np.asarray(self.scale * (self.C.T @ y) + self.G @ (self.F.T @ y))

    matmat = matvec
    rmatmat = rmatvec


class TraceRegression:
    """The problem of this module's docstring."""

    def __init__(
        self,
        A: Array | DataMatrix | RidgedSamples,
        B: Array,
        radius: float,
        scale: float = 1.0,
        penalty: float = 0.0,
        look: Callable[[], None] = nothing,
    ) -> None:
        if not radius > 0.0 or not scale > 0.0:
            raise ValueError("the radius and the scale must be positive")
        if penalty < 0.0 or (penalty == 0.0 and math.isinf(radius)):
            raise ValueError("a finite radius or a positive penalty is needed")
        if A.shape[0] != B.shape[0]:
            raise ValueError(f"A has {A.shape[0]} rows and B has {B.shape[0]}")
        self.ask = look
        self.A = DataMatrix(A) if isinstance(A, np.ndarray) else A
        self.B, self.radius, self.scale, self.penalty = B, radius, scale, penalty
        self.C = self.A.rmatmat(B)
        self.square = float(np.vdot(B, B))
        self.shape = (A.shape[1], B.shape[1])
        self.setup_products = 1.0

    # --- accelerated gradient on factors --------------------------------------------------------------------------------------

    def init(self, rank: int, seed: int = 0) -> RegressionState:
        """X = 0, the subspace from a few random products with C, L from the curvature along C's top pairs."""
        d, c = self.shape
        q = min(rank + 4, d, c)
        random = np.random.default_rng(seed).standard_normal((c, q))
        U, _, W = subspace_step(CountedOperator(_Argument(self.C, 1.0, np.zeros((d, 0)), np.zeros((c, 0)))), random)
        AU = self.A.matmat(U)
        # data of zeros bend nothing, and any L will do
        lipschitz = 2.0 * self.scale * float(np.vdot(AU, AU)) / q or 1.0
        zero = (np.zeros((d, 0)), np.zeros((c, 0)), np.zeros((self.A.shape[0], 0)), np.zeros((d, 0)))
        return RegressionState(0, zero, zero, W, 1.0, lipschitz, self.setup_products + q / c, self.scale * self.square)

    def step(self, s: RegressionState, inner: int = 1) -> None:
        """One accelerated step, with `inner` subspace iterations for its projection."""
        t = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * s.t * s.t))
        beta = (s.t - 1.0) / t
        (U, V, AU, H), (U0, V0, AU0, H0) = s.X, s.X_old
        YU, YA, YH = (np.hstack([(1.0 + beta) * new, -beta * old]) for new, old in ((U, U0), (AU, AU0), (H, H0)))
        YV = np.hstack([V, V0])
        s.lipschitz *= 0.9
        for _ in range(60):
            self.ask()
            move = 2.0 * self.scale / s.lipschitz
            op = _Argument(self.C, move, YU - move * YH, YV)
            new_U, new_V, s.W = self._prox(op, s.W, inner, s.iteration, self.penalty / s.lipschitz)
            new_AU = self.A.matmat(new_U)
            s.products += new_U.shape[1] / self.shape[1]
            (eU, eY, eX), square = self._common((new_U, new_V), (YU, YV), (U, V))
            _, image = self._common((new_AU, new_V), (YA, YV))
            bend = 2.0 * self.scale * image
            if bend <= s.lipschitz * square * (1.0 + 1e-10) or square <= 1e-28 * float(np.sum(eU**2)):
                break
            s.lipschitz = min(max(1.2 * s.lipschitz, 1.02 * bend / square), 8.0 * s.lipschitz)
        new_H = self.A.rmatmat(new_AU)
        s.products += new_U.shape[1] / self.shape[1]
        restart = float(np.vdot(eY - eU, eU - eX)) > 0.0
        new = (new_U, new_V, new_AU, new_H)
        s.X_old = new if restart else s.X
        s.X, s.t = new, 1.0 if restart else t
        s.iteration += 1

    @staticmethod
    def _common(*pairs: tuple[Array, Array]) -> tuple[list[Array], float]:
        """The matrices L R' of the pairs in one orthonormal basis of all R: (their coordinates, |first - second|^2)."""
        core = np.asarray(np.linalg.qr(np.hstack([R for _, R in pairs]), mode="r"))
        ends = np.cumsum([0, *(R.shape[1] for _, R in pairs)])
        out = [L @ core[:, a:b].T for (L, _), a, b in zip(pairs, ends[:-1], ends[1:], strict=True)]
        return out, float(np.sum((out[0] - out[1]) ** 2))

    def _prox(self, op: _Argument, W: Array, inner: int, seed: int, lower: float) -> tuple[Array, Array, Array]:
        """(U, V, W): the singular values of M lowered and projected on the ball, and the right vectors of its top triplets."""
        counted = CountedOperator(op, self.ask)
        least = min(self.shape)
        while True:
            for _ in range(inner):
                U, sigma, W = subspace_step(counted, W)
            kept = project_decreasing(np.maximum(sigma - lower, 0.0), self.radius)
            rank = int(np.count_nonzero(kept > 1e-9 * kept[0])) if kept[0] > 0.0 else 0
            if rank < W.shape[1] or W.shape[1] == least:
                break
            width = min(least, 2 * W.shape[1])
            more = np.random.default_rng(seed).standard_normal((self.shape[1], width - W.shape[1]))
            W = np.hstack([W, more / math.sqrt(self.shape[1])])
        # a margin of four, so that the rank may grow by the next step
        return U[:, :rank] * kept[:rank], W[:, :rank], W[:, : min(least, rank + 4)]

    def start(self, U: Array, V: Array) -> RegressionState:
        """The state at X = U V', moved into the ball."""
        s = self.init(max(LEAST_RANK, U.shape[1]))
        P, sigma, Q = thin_svd(U, V)
        if sigma.size == 0:
            return s
        U, V = P * project_decreasing(sigma, self.radius), Q
        AU = self.A.matmat(U)
        s.X = s.X_old = (U, V, AU, self.A.rmatmat(AU))
        s.W[:, : V.shape[1]] = V
        s.products += 2.0 * U.shape[1] / self.shape[1]
        self.look(s)
        return s

    def look(self, s: RegressionState, seed: int = 0) -> None:
        """Estimate the gap at X from A'A U, by products with C alone: each costs 1 / n of one with A."""
        U, V, AU, H = s.X
        if U.shape[1] == 0:
            U, V, AU, H = (np.zeros((m.shape[0], 1)) for m in s.X)
        inner = float(np.vdot(U, self.C @ V))
        square = float(np.vdot(AU.T @ AU, V.T @ V))
        nuclear = float(thin_svd(U, V)[1].sum())
        s.value = self.scale * max(0.0, square - 2.0 * inner + self.square) + self.penalty * nuclear
        grad = _Argument(self.C, -2.0 * self.scale, 2.0 * self.scale * H, V)
        warm = V.sum(axis=1, keepdims=True) if V.shape[1] else None
        top = top_singular(grad, 1, 1e-4, warm, method="lanczos", seed=seed, max_products=100, look=self.ask)
        slope = 2.0 * self.scale * (square - inner)
        reach = min(self.radius, s.value / self.penalty if self.penalty else math.inf)
        s.gap = max(0.0, slope + self.penalty * nuclear + reach * max(0.0, float(top.s[0]) - self.penalty))
        s.products += (top.products + V.shape[1]) / self.A.shape[0]

    # --- the answer ---------------------------------------------------------------------------------------------------------

    def factors(self, s: RegressionState) -> tuple[Array, Array, Array]:
        return thin_svd(s.X[0], s.X[1])


class RidgedSamples:
    """[A; root I]: least squares of it has a ridge root^2 |X|_F^2 beside that of A."""

    def __init__(self, A: DataMatrix, root: float) -> None:
        self.A, self.root = A, root
        self.shape: tuple[int, int] = (A.shape[0] + A.shape[1], A.shape[1])

    def matvec(self, X: Array) -> Array:
        return np.concatenate([self.A.matvec(X), self.root * X])

    def rmatvec(self, Y: Array) -> Array:
        n = self.A.shape[0]
        return self.A.rmatvec(Y[:n]) + self.root * Y[n:]

    matmat = matvec
    rmatmat = rmatvec
