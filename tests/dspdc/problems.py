"""Small problems of each form, and DSPDC written out in full matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.atoms.loss import LossFunction
from fwdsl.backends.dspdc.links import places_of
from fwdsl.backends.dspdc.steps import steps_of
from fwdsl.backends.finite_sum import draws
from tests import runs
from tests.runs import AnyRun

LAYOUTS = {"dense": np.ascontiguousarray, "fortran": np.asfortranarray, "csr": sp.csr_array, "csc": sp.csc_array}


def vector_problem(loss: str = "smooth_hinge", layout: str = "dense", form: str = "A @ x", seed: int = 0) -> Any:
    """An elastic net over A (12, 5), with an offset, weights and a linear term; `form` may be a product of U (12, 3) and V (3, 5)."""
    rng = np.random.default_rng(seed)
    lay = LAYOUTS[layout]
    A, U, V = rng.standard_normal((12, 5)), rng.standard_normal((12, 3)), rng.standard_normal((3, 5))
    A *= rng.random((12, 5)) < 0.6
    A[3] = 0.0
    V *= rng.random((3, 5)) < 0.7
    score = rng.standard_normal(12)
    y = score if loss == "squared" else np.where(score > 0, 1.0, -1.0)
    kind = "vector[n]" if loss == "squared" else "signs[n]"
    text = (
        f"data A: matrix[n, p], U: matrix[n, r], V: matrix[r, p], W: matrix[p, n], y: {kind}, "
        "w: vector[n] in nonnegative, a: vector[p], o: vector[n]\n"
        "var x: vector[p]\n"
        f"minimize mean(w * {loss}(2 * ({form}) + o, y)) + 0.05 * sum_squares(x) + 0.02 * norm1(x) + 0.01 * dot(a, x)\n"
    )
    values = {"A": lay(A), "U": lay(U), "V": lay(V), "W": lay(np.ascontiguousarray(A.T)), "y": y}
    values |= {"w": rng.uniform(0.5, 2.0, 12), "a": rng.standard_normal(5), "o": 0.3 * rng.standard_normal(12)}
    return fw.parse(text).bind(**values)


FAMILY = """data D: tensor[n, T, d, d], y: signs[n]
var F: family[T] of psd[d]
minimize mean(smooth_hinge(inner(D, F), y)) + 0.05 * sum_squares(F)
"""

SEVERAL = """data D: tensor[n, d, d], E: matrix[n, k], y: {kind}
var X: psd[d], S: symmetric[d], w: vector[k] in l2_ball(0.5)
minimize mean({loss}(inner(D, X) - 2 * inner(D, S) + E @ w, y))
  + 0.05 * sum_squares(X) + 0.1 * sum_squares(S) + 0.08 * sum_squares(w) + 0.03 * trace(X)
"""

METRICS = """data Far: matrix[n, d], Near: matrix[n, d], task: index[n] of T
var Common: psd[d], Own: family[T] of psd[d]
let near = quad(Near, Common) + quad(Near, Own[task])
minimize mean(smooth_hinge(quad(Far, Common) + quad(Far, Own[task]) - near, ones(n))) + mean(near)
  + 0.05 * sum_squares(Common) - 0.1 * trace(Common) + 0.1 * sum_squares(Own)
"""


def family_problem(n: int = 14, T: int = 3, d: int = 3, seed: int = 0) -> Any:
    """Matrix risk minimisation, (30)."""
    rng = np.random.default_rng(seed)
    D = rng.standard_normal((n, T, d, d))
    return fw.parse(FAMILY).bind(D=D, y=np.where(np.einsum("njaa->n", D) > 0, 1.0, -1.0))


def several_problem(loss: str = "logistic", n: int = 14, d: int = 3, seed: int = 0) -> Any:
    """Variables of three kinds."""
    rng = np.random.default_rng(seed)
    score = rng.standard_normal(n)
    y, kind = (score, "vector[n]") if loss == "squared" else (np.where(score > 0, 1.0, -1.0), "signs[n]")
    text = SEVERAL.format(loss=loss, kind=kind)
    return fw.parse(text).bind(D=0.5 * rng.standard_normal((n, d, d)), E=rng.standard_normal((n, 2)), y=y)


def metrics_problem(n: int = 20, T: int = 3, d: int = 3, seed: int = 0) -> Any:
    """Multi-task metric learning, (33)."""
    rng = np.random.default_rng(seed)
    values = {"Far": rng.standard_normal((n, d)), "Near": 0.4 * rng.standard_normal((n, d))}
    return fw.parse(METRICS).bind(**values, task=rng.permutation(np.arange(n) % T))


def stepped(problem: Any, steps: int, **given: Any) -> AnyRun:
    """A run after some steps."""
    return runs.stepped(problem, "dspdc", steps, **given)


def shuffled(row: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The sample that the draws make by a Fisher-Yates shuffle of the places, which it changes."""
    for k, draw in enumerate(row):
        at = k + int(draw * (places.size - k))
        places[[k, at]] = places[[at, k]]
    return places[: row.size].copy()


class Naive:
    """Algorithm 1 in the paper's notation: y is n times that of the certificate, phi_i = n f_i."""

    def __init__(self, problem: Any) -> None:
        canonical = problem.canonical
        (term,) = canonical.terms
        columns = [np.zeros((term.map.rows, canonical.size))]
        for block, m in term.map.parts:
            columns[0][:, block.start : block.stop] = np.stack([m.apply(e) for e in np.eye(block.size)], axis=1)
        (self.K,) = columns
        self.n, self.size = self.K.shape
        self.f: LossFunction = term.f
        self.offset, self.q = term.map.offset, canonical.q
        by_coordinates = len(canonical.blocks) == 1 and len(canonical.blocks[0].shape) == 1
        self.g = canonical.blocks[0].g
        self.places = None if by_coordinates else places_of(canonical)
        self.p = self.size if by_coordinates else len(self.places or ())
        self.mu = self.g.curvature if by_coordinates else min(p.g.curvature for p in self.places or ())
        self.gamma = 1.0 / (self.n * self.f.lipschitz)

    def prox_dual(self, i: int, z: float, y: float, sigma: float) -> float:
        """argmax_b (z b - phi_i*(b)) / n - (b - y)^2 / (2 sigma), by Moreau's identity on phi_i."""
        s = sigma / self.n
        v = (y + s * z) / s
        loss, weight = self.f.loss, np.array([self.n * self.f.w[i]])
        if self.f.name == "smooth_hinge":
            # the prox of the conjugate in closed form, with phi = weight * the loss
            b, c = self.f.b[i], float(weight[0])
            return float(b * np.clip(b * (y + s * (z - b)) / (1.0 + s / c), -c, 0.0))
        point = loss.prox_naive(np.array([v]), weight / s, self.f.b[i : i + 1], self.f.p)
        return float(s * (v - point[0]))

    def prox_primal(self, j: int, v: np.ndarray, tau: float) -> np.ndarray:
        """The prox of tau g_j: soft threshold and shrink, or that of the block."""
        if self.places is not None:
            return self.places[j].g.prox(v, tau)
        c, ridge = self.g.inner.c, self.g.c
        return np.sign(v) * np.maximum(np.abs(v) - tau * c, 0.0) / (1.0 + 2.0 * tau * ridge)

    def at(self, j: int) -> slice:
        """The block's place in x."""
        return slice(j, j + 1) if self.places is None else self.places[j].slice

    def samples(self, seed: int, step: int, count: int, m: int, q: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """I and J of the iterations of a step."""
        rng = draws(seed, step)
        if self.places is not None:
            for _ in range(count):
                yield (
                    np.sort(rng.choice(self.n, m, False, shuffle=False)),
                    np.sort(rng.choice(self.p, q, False, shuffle=False)),
                )
            return
        first = np.zeros((count, self.n)) if m == self.n else rng.random((count, m))
        second = np.zeros((count, self.p)) if q == self.p else rng.random((count, q))
        rows, columns = np.arange(self.n), np.arange(self.p)
        for a, b in zip(first, second, strict=True):
            yield shuffled(a, rows), shuffled(b, columns)

    def run(self, state: Any, steps: int, count: int, m: int, q: int, theorem: int, seed: int) -> tuple[Any, Any]:
        """(x, y / n) after the iterations of so many steps from a state's x and y."""
        n, p = self.n, self.p
        taken = steps_of(n, p, m, q, self.mu, self.gamma, state.scale, theorem)
        x, y = state.x.copy(), n * state.y
        bar = x.copy()
        for step in range(steps):
            for rows, columns in self.samples(seed, step, count, m, q):
                new = y.copy()
                for i in rows:
                    new[i] = self.prox_dual(i, float(self.K[i] @ bar + self.offset[i]), y[i], taken.sigma)
                ybar = y + (n / m) * (new - y)
                y = new
                old = x.copy()
                for j in columns:
                    at = self.at(j)
                    response = self.K[:, at].T @ ybar / n + self.q[at]
                    x[at] = self.prox_primal(j, old[at] - taken.tau * response, taken.tau)
                bar = old + (taken.theta + 1.0) * (x - old)
        return x, y / n
