r"""One sum over samples, of a vector or of a matrix, for mini-batch methods.

    F(x) = sum_j w_j l(a_j x; b_j) + <q, x> + (mu / 2) |x|^2,    a_j a row of the data; x a vector, or a matrix X whose predictions are A X

The ridge is part of the smooth F here, as it is in the papers. A batch B of rows, drawn uniformly, gives the unbiased estimate
(n / |B|) sum_{j in B} w_j l'(a_j x) a_j of the gradient of the sum.

Source: the estimate of Johnson, Zhang 2013 and Xiao, Zhang 2014, with batches as in Hazan, Luo 2016.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.atoms.loss import Loss, LossFunction
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends import finite_sum
from fwdsl.backends.baselines.loops import batch_add, batch_slopes
from fwdsl.backends.finite_sum import FiniteSum
from fwdsl.backends.kernels.compile import Function, kernel
from fwdsl.backends.maps import CountedMap
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.products import product_of
from fwdsl.canon.form import Canonical
from fwdsl.canon.matrix_maps import product
from fwdsl.canon.parts import SumTerm

Rows = NDArray[np.int64]


def value_reasons(canonical: Canonical) -> tuple[str, ...]:
    """The reasons why a bound problem is no sum over rows of one data matrix, times a vector or a matrix."""
    parts = canonical.terms[0].map.parts if len(canonical.terms) == 1 else ()
    if len(parts) == 1 and product_of(parts[0][1]) is not None and not parts[0][0].symmetric:
        return ()
    return finite_sum.value_reasons(canonical)


class SampleSum(ABC):
    """The sum above: `n` samples, `size` unknowns, the linear part q and mu."""

    n: int
    size: int

    def __init__(self, problem: PreparedProblem) -> None:
        self.problem = problem
        self.q = problem.q
        (g,) = problem.g
        self.mu = g.f.curvature
        self.has_q = problem.has_q

    @staticmethod
    def of(problem: PreparedProblem) -> SampleSum:
        """The view of a problem that passed `reasons` and `value_reasons`."""
        return MatrixSamples(problem) if product_of(problem.terms[0].map.parts[0][1]) else VectorSamples(problem)

    @abstractmethod
    def slopes(self, x: Array, rows: Rows) -> Array:
        """w_j l'(a_j x) for the rows j: one number a row, or one row of numbers."""

    @abstractmethod
    def add(self, rows: Rows, y: Array, scale: float, out: Array) -> None:
        """out += scale * sum_j y_j a_j."""

    @abstractmethod
    def row_squares(self) -> Array:
        """|a_j|^2 for each row."""

    @property
    def f(self) -> LossFunction | VectorLossFunction:
        return self.problem.functions[0].f  # type: ignore[return-value]

    @property
    def weights(self) -> Array:
        """The largest weight w of each sample."""
        largest: Array = self.f.w.reshape(self.n, -1).max(axis=1)
        return largest

    def at(self, y: Array, rows: Rows) -> Array:
        """The entries of y, one for each prediction, that belong to the rows, in the shape of `slopes`."""
        return y[rows]

    def gradient(self, x: Array) -> Array:
        """The gradient of F: two passes."""
        _, ys = self.problem.losses_gradient(self.problem.forward(x))
        return self.with_linear(self.problem.adjoint(ys), x)

    def with_linear(self, kty: Array, x: Array) -> Array:
        """kty + q + mu x, in place."""
        if self.has_q:
            kty += self.q
        if self.mu:
            kty += self.mu * x
        return kty

    def estimate(self, x: Array, rows: Rows) -> Array:
        """The unbiased estimate of the gradient of F at x by the rows."""
        out = np.zeros(self.size)
        self.add(rows, self.slopes(x, rows), self.n / rows.size, out)
        return self.with_linear(out, x)

    def corrected(self, x: Array, rows: Rows, slopes: Array, kty: Array) -> Array:
        """The estimate with reduced variance: kty = K'y of the slopes y of a snapshot, corrected by the change of the rows' slopes since."""
        out = kty.copy()
        self.add(rows, self.slopes(x, rows) - self.at(slopes, rows), self.n / rows.size, out)
        return self.with_linear(out, x)

    def derivative(self, z: Array, rows: Rows) -> tuple[float, Array]:
        """The loss of these rows at their predictions z, and its derivatives."""
        f, z, out = self.f, np.ascontiguousarray(z), np.empty(z.shape)
        if isinstance(f, VectorLossFunction):
            return float(kernel(f.loss.value_gradient_loop)(z, f.y[rows], f.w[rows], out)), out
        b, w = (np.ascontiguousarray(v.reshape(self.n, -1)[rows]).reshape(-1) for v in (f.b, f.w))
        return float(kernel(f.loss.value_gradient_loop)(z.reshape(-1), b, w, f.p, out.reshape(-1))), out

    # --- constants ----------------------------------------------------------------------------------------------------
    def row_smoothness(self) -> Array:
        """L_j, the smoothness of n w_j l(a_j x) in x."""
        beta = self.f.loss.smoothness
        assert beta is not None
        return self.n * beta * self.weights * self.row_squares()

    def smoothness(self, seed: int = 0) -> float:
        """A Lipschitz constant of the gradient of the sum, by the power method (a tenth above its estimate, at most the mean of the L_j)."""
        beta = self.f.loss.smoothness
        assert beta is not None
        w = self.f.w
        x = np.random.default_rng(seed).standard_normal(self.size)
        top = 0.0
        for _ in range(12):
            self.problem.look()
            size = float(np.linalg.norm(x))
            if size == 0.0:
                break
            z = self.problem.linear(x / size)[0]
            weighted = np.repeat(w, z.size // w.size) * z
            before, top = top, float(z @ weighted)
            x = self.problem.adjoint([weighted])
            if top - before <= 0.02 * top:
                break
        return min(1.1 * beta * top, float(self.row_smoothness().mean()))


class VectorSamples(SampleSum):
    """x is a vector: the kernels over rows."""

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem)
        self.sum = FiniteSum.of(problem)
        self.n, self.size = self.sum.n, self.sum.d
        self.rows = self.sum.rows
        loss = self.sum.loss.loss
        self._slopes = linked(batch_slopes, self.sum.row_kernels, derivative=loss.value_gradient_loop)
        self._add = linked(batch_add, self.sum.row_kernels)

    def slopes(self, x: Array, rows: Rows) -> Array:
        y = np.empty(rows.size)
        self.sum.count(self._slopes(self.sum.data, rows, x, y))
        return y

    def add(self, rows: Rows, y: Array, scale: float, out: Array) -> None:
        self.sum.count(self._add(self.rows, rows, y, scale * self.sum.c, out))

    def row_squares(self) -> Array:
        return self.sum.row_squares()


class MatrixSamples(SampleSum):
    """x is a matrix X, kept flat: products with rows of the data by BLAS or SciPy."""

    def __init__(self, problem: PreparedProblem) -> None:
        super().__init__(problem)
        (term,) = problem.terms
        ((self.block, m),) = term.map.parts
        found = product_of(m)
        assert found is not None
        assert isinstance(found.counted, CountedMap)
        self.c, self.left, self.counted = found.c, found.left, found.counted
        self.n, self.size = int(self.left.A.shape[0]), self.left.columns
        self.k = self.left.k
        self.offset = term.map.offset.reshape(self.n, self.k)

    def _count(self, rows: Rows) -> None:
        self.counted.touched += round(self.left.nnz * rows.size / self.n)

    def at(self, y: Array, rows: Rows) -> Array:
        return y.reshape(self.n, self.k)[rows]

    def predictions(self, x: Array, rows: Rows) -> Array:
        """c a_i X + b_i for these rows i."""
        self._count(rows)
        return np.asarray(self.c * product(self.left.A[rows], x.reshape(-1, self.k)) + self.offset[rows])

    def slopes(self, x: Array, rows: Rows) -> Array:
        return self.derivative(self.predictions(x, rows), rows)[1]

    def add(self, rows: Rows, y: Array, scale: float, out: Array) -> None:
        self._count(rows)
        out += (scale * self.c) * product(self.left.A[rows].T, y.reshape(rows.size, -1)).reshape(-1)

    def row_squares(self) -> Array:
        A = self.left.A
        if isinstance(A, np.ndarray):
            squares = np.einsum("ij,ij->i", A, A, dtype=np.float64)
        else:
            squares = np.asarray(A.multiply(A).sum(axis=1)).reshape(-1)
        return np.asarray(self.c**2 * squares, dtype=np.float64)


def linked(fn: Function, rows: dict[str, Function], loss: type[Loss] | None = None, **uses: Function) -> Function:
    """A compiled loop with its row kernels, perhaps the formulas of a loss as `tangent` and `prox_loss`, and its other kernels."""
    every: dict[str, Any] = {**rows, **uses}
    if loss is not None:
        formulas = {"tangent": loss.tangent, "prox_loss": loss.prox}
        every |= {name: f for name, f in formulas.items() if name in fn.__code__.co_names}
    return kernel(fn, parts=("tangent", "prox_loss"), **every)


def draw(rng: np.random.Generator, n: int, size: int) -> Rows:
    """`size` of the n rows, uniformly and without replacement."""
    if size >= n:
        return np.arange(n)
    return rng.choice(n, size, replace=False, shuffle=False)


def batches(rng: np.random.Generator, n: int, size: int, count: int) -> Rows:
    """`count` batches of different rows, one a row of the result."""
    if size == 1:
        return rng.integers(0, n, (count, 1))
    return np.stack([draw(rng, n, size) for _ in range(count)])


def batch_size(batch: float | None, n: int, share: float) -> int:
    """The rows of a batch: a share of n below 1, else a count; None is `share`."""
    chosen = share if batch is None else batch
    return max(1, min(n, round(chosen * n) if chosen < 1.0 else round(chosen)))


def batch_misfit(batch: Any, canonical: Canonical) -> tuple[str, ...]:
    """The reasons why a batch does not fit the number of samples, or is none."""
    if not isinstance(batch, int | float):
        return ()
    n = sample_count(canonical.terms[0])
    if batch > n:
        return (f"`batch` is {batch:g}, and there are {n} samples",)
    if isinstance(batch, float) and batch > 1.0 and not batch.is_integer():
        return (f"`batch` is {batch:g}, and from 1 on it is a number of samples",)
    return ()


def sample_count(term: SumTerm) -> int:
    """The samples of a loss: its predictions, or rows of them."""
    if isinstance(term.f, VectorLossFunction):
        return int(term.f.shape[0])
    parts = term.map.parts
    found = product_of(parts[0][1]) if parts else None
    return int(found.left.A.shape[0]) if found is not None else term.map.rows


def unbounded_curvature(canonical: Canonical) -> tuple[str, ...]:
    """The reasons why the loss gives no step size: its second derivative has no bound."""
    (term,) = canonical.terms
    beta = term.f.loss.smoothness if isinstance(term.f, LossFunction | VectorLossFunction) else None
    if beta is None or not np.isfinite(beta):
        return (f"the second derivative of {loss_name(term.f)} has no bound",)
    return ()


def loss_name(f: object) -> str:
    """The name of a loss."""
    return f.name if isinstance(f, LossFunction | VectorLossFunction) else "a term"
