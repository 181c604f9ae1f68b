r"""Frank-Wolfe on the duals of support vector machines for several classes, all samples at once.

Problem, dual and gap: `multiclass`. With Q = z(a) - 1[l = y] and the vertex s with the least <Q, s>, which each row has its own of:

    a+ = a + g (s - a),    g = min(1, <a - s, Q> / (mu |W(s - a)|^2 + nu |b(s - a)|^2))

one product with the data's adjoint and one with the data, for any linear map: nothing of the size n x n is formed. W and z follow by
linearity and are computed afresh every 64 steps. <a - s, Q> is the duality gap.

`variant` "away" steps away from the worst of the vertices whose mean a is, where that slopes more, with g at most w / (1 - w) for its weight w;
"pairwise" steps from that vertex to s, with g at most w (Lacoste-Julien, Jaggi 2015, whose vertices are of the whole product too). Both keep
the vertices, a class (or k bits) a sample each, and start from a = 0.

Complexity: phi - phi* <= 4 n C^2 sigma_1(K K') / (mu t) for Crammer-Singer, 2 n k (k - 1) C^2 sigma_1(K K') / (mu t) for Weston-Watkins. A step costs
as much as n row steps of `bcfw`, of which the bound after t n has tr(K K') in place of n sigma_1(K K'): the smaller by far.

Source: Kang, Cao, Liu 2025, Algorithm 2, Theorems 1 and 2. Corrected: its Theorem 1 compares iterations of the two, one of which costs n
of the other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from fwdsl.atoms.base import Array
from fwdsl.atoms.vector_loss import VectorLossFunction
from fwdsl.backends import costs
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.method import Estimate, Method, Report, Run, State
from fwdsl.backends.option import Option
from fwdsl.backends.problem import PreparedProblem
from fwdsl.backends.svm import multiclass
from fwdsl.backends.svm.loops import matrix
from fwdsl.canon.arrange import Arrangement
from fwdsl.canon.form import Canonical
from fwdsl.light_dataclass import light_state

REFRESH_EVERY = 64

Codes = NDArray[np.int16]


@light_state
class MatrixFWState(State):
    """The state of a run of `matrix_fw`."""

    a: Array  # the multipliers (n, k)
    x: Array  # W(a), flat
    z: Array  # its predictions
    vertex: Codes  # the best vertex at a
    slope: float = 0.0  # the Frank-Wolfe gap
    value: float = math.inf  # P(x)
    bound: float = -math.inf  # D(a)
    best_value: float = math.inf  # the least P so far
    best_x: Array = field(default_factory=lambda: np.zeros(0))  # its point
    vertices: Codes = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=np.int16))  # the vertices whose mean a is
    weights: Array = field(default_factory=lambda: np.zeros(0))  # their weights
    count: int = 0  # how many there are


class MatrixFW(Method):
    """Matrix-wise Frank-Wolfe with line search; option `variant` as the module says."""

    name = "matrix_fw"
    title = "Frank-Wolfe on the dual of the multiclass support vector machine"
    source = "Kang, Cao, Liu 2025, Algorithm 2; Lacoste-Julien, Jaggi 2015"
    by_name_only = "a dual method of a paper: `bcfw` is faster"
    most_iterations = 100_000
    options = MappingProxyType(
        {"variant": Option("plain", "the direction of a step", choices=("plain", "away", "pairwise"))}
    )

    @classmethod
    def requires(cls, arrangement: Arrangement) -> tuple[str, ...]:
        return multiclass.reasons(arrangement)

    @classmethod
    def requires_values(cls, canonical: Canonical) -> tuple[str, ...]:
        """No weight of 0 on a `sum_squares`, at most 32,767 classes."""
        many = canonical.terms[0].map.shape[-1] > np.iinfo(np.int16).max
        return (*multiclass.value_reasons(canonical), *(("it takes at most 32,767 classes",) if many else ()))

    @classmethod
    def estimate(cls, canonical: Canonical, tol: float) -> Estimate:
        """Sublinear: the gap falls like 1/t."""
        return costs.fw(canonical, tol)


class MatrixFWRun(Run[PreparedProblem, MatrixFWState], of=MatrixFW):
    """Frank-Wolfe on the whole dual of a problem; `mu` is the weight of the squares of each coordinate of x."""

    def __init__(self, problem: PreparedProblem, variant: str) -> None:
        super().__init__(problem)
        self.variant = variant
        f = problem.terms[0].f
        assert isinstance(f, VectorLossFunction)
        self.f = f
        self.mu = np.concatenate([np.full(b.size, b.g.curvature) for b in problem.canonical.blocks])

    def begin(self, x: Array, ys: Sequence[Array] | None) -> MatrixFWState:
        """Multipliers of a dual point where one is given and no vertices are kept, else 0."""
        f = self.f
        a = np.zeros(f.shape)
        if ys is not None and self.variant == "plain":
            a = -f.into_domain(ys[0]).reshape(f.shape)
        width = f.k if f.loss.boxed_dual else 1
        state = MatrixFWState(0, a, np.zeros(0), np.zeros(0), np.zeros((f.y.size, width), dtype=np.int16))
        if self.variant != "plain":
            # 0 is the vertex of no class but the own
            start = np.zeros_like(state.vertex) if width > 1 else f.y[:, None].astype(np.int16)
            state.vertices, state.weights, state.count = start[None], np.ones(1), 1
        self._refresh(state)
        self._look(state)
        return state

    def _refresh(self, s: MatrixFWState) -> None:
        problem = self.problem
        s.x = (problem.adjoint([s.a.reshape(-1)]) - problem.q) / self.mu
        s.z = problem.forward(s.x)[0].reshape(s.a.shape)

    def _gradient(self, s: MatrixFWState) -> Array:
        q, y = s.z.copy(), self.f.y
        q[np.arange(y.size), y] -= 1.0
        return q

    def _look(self, s: MatrixFWState) -> None:
        """The best vertex, and with it the gap, D and P = D + gap."""
        problem, f = self.problem, self.f
        q = self._gradient(s)
        codes = matrix.weston_codes if f.loss.boxed_dual else matrix.singer_codes
        least = float(kernel(codes)(q, f.w, f.y, s.vertex))
        here = float(np.vdot(s.a, q))
        s.slope = here - least
        # <a, Q> = <a, K x> + <o, a> - sum a_y
        linear = float(problem.q @ s.x)
        s.bound = problem.canonical.constant - here + 0.5 * float(self.mu * s.x @ s.x) + linear
        s.value = s.bound + s.slope
        if s.value < s.best_value:
            s.best_value, s.best_x = s.value, s.x.copy()

    def step(self) -> None:
        """One direction for all samples, with its best step."""
        problem, s, f = self.problem, self.state, self.f
        weston = f.loss.boxed_dual
        place = kernel(matrix.weston_place if weston else matrix.singer_place)
        slope, most, worst = s.slope, 1.0, -1
        towards = True
        if self.variant != "plain":
            q = self._gradient(s)
            product = kernel(matrix.weston_product if weston else matrix.singer_product)
            products = [float(product(v, q, f.w, f.y)) for v in s.vertices[: s.count]]
            worst = int(np.argmax(products))
            backward, weight = products[worst] - float(np.vdot(s.a, q)), float(s.weights[worst])
            if self.variant == "pairwise":
                slope, most = slope + backward, weight
            elif backward > slope and weight < 1.0:
                towards, slope, most = False, backward, weight / (1.0 - weight)
        d = np.zeros_like(s.a)
        if towards:
            place(s.vertex, 1.0, f.w, f.y, d)
        if self.variant == "pairwise" or not towards:
            place(s.vertices[worst], -1.0, f.w, f.y, d)
        if self.variant != "pairwise":
            d += s.a if not towards else -s.a
        dx = problem.adjoint([d.reshape(-1)]) / self.mu
        dz = problem.linear(dx)[0].reshape(d.shape)
        curvature = float(self.mu * dx @ dx)
        g = slope / curvature if slope < most * curvature else most
        s.a = s.a + g * d
        s.x = s.x + g * dx
        s.z = s.z + g * dz
        if self.variant != "plain":
            self._weigh(g, towards, worst, g == most)
        s.iteration += 1
        if s.iteration % REFRESH_EVERY == 0:
            self._refresh(s)
        self._look(s)

    def _weigh(self, g: float, towards: bool, worst: int, full: bool) -> None:
        """The weights after a step, the vertex that it used up dropped, the new one added; `s.vertex` is still the step's."""
        s = self.state
        if self.variant == "pairwise":
            s.weights[worst] = 0.0 if full else s.weights[worst] - g
        elif towards:
            s.weights *= 1.0 - g
        else:
            s.weights *= 1.0 + g
            s.weights[worst] = 0.0 if full else s.weights[worst] - g
        if towards:
            known = [t for t in range(s.count) if np.array_equal(s.vertices[t], s.vertex)]
            if known:
                s.weights[known[0]] += g
            else:
                self._add(s, g)
        keep = np.flatnonzero(s.weights[: s.count] > 0.0)
        if keep.size < s.count:
            s.vertices[: keep.size], s.weights[: keep.size] = s.vertices[keep], s.weights[keep]
            s.weights[keep.size :] = 0.0
            s.count = keep.size

    @staticmethod
    def _add(s: MatrixFWState, weight: float) -> None:
        if s.count == s.weights.size:
            s.vertices = np.concatenate([s.vertices, np.zeros_like(s.vertices)])
            s.weights = np.concatenate([s.weights, np.zeros_like(s.weights)])
        s.vertices[s.count], s.weights[s.count] = s.vertex, weight
        s.count += 1

    def report(self) -> Report:
        """P at W(a), and D at a."""
        return Report(self.state.value, self.state.bound, "Frank-Wolfe on all samples")

    def candidate(self) -> tuple[Array, list[Array] | None]:
        """The best W and the last multipliers, their rows' sums made 0 again."""
        f = self.f
        u = -self.state.a
        at = np.arange(f.y.size)
        u[at, f.y] = 0.0
        u[at, f.y] = -u.sum(axis=1)
        u = u.reshape(-1)
        return self.state.best_x, [u if math.isfinite(f.conjugate(u)) else f.into_domain(u)]
