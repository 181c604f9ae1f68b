r"""A large proximal step by Newton's method on pieces, where a dense system of the pieces' size costs little.

A proximal step from (x0, y0, s0), s the multiplier of g, in the metric (1/tau, 1/sigma, tau) times delta << 1 goes about 1/delta times as far as
a step of the primal-dual method. Its x minimises the convex, once differentiable

    phi(x) = <q, x> + delta/2 |x - x0|^2_{1/tau} + sum_i M_i(K_i x + b_i) + sum_B M_B(x_B),

M_i the Moreau envelope of f_i with parameter gamma = sigma/delta about -y0/gamma, M_B that of g_B with 1/(tau delta); grad M_i is the new
multiplier y = prox_{gamma f*}(y0 + gamma z) (Rockafellar 1976; Li, Sun, Toh 2018). With D from the pieces (`pieces.py`) and J = K from the moving
coordinates of x to the flat directions of y, Newton's direction solves

    [H  J'           ] [dx]   [-grad phi]
    [J  -delta/sigma ] [dy] = [    0    ],    H = delta/tau + the curvature of g and of the losses on their pieces;

dy is not used, and what g holds takes a step of its own, as stiff as its envelope. phi is convex along the direction, so a line search on
phi', which rounding does not spoil near the minimum, leads there from anywhere.
"""

from __future__ import annotations

import math

import numpy as np

from fwdsl.atoms.base import Array
from fwdsl.backends.functions import prox_conjugate
from fwdsl.backends.kernels.pool import serial_blas
from fwdsl.backends.pdhg.costs import CHUNK, LARGEST
from fwdsl.backends.pdhg.entries import Index, entries, reached, readable
from fwdsl.backends.pdhg.pieces import AffinePiece, of_conjugate, of_prox
from fwdsl.backends.problem import PreparedProblem
from fwdsl.canon.maps import LinearMap
from fwdsl.light_dataclass import light_dataclass

STEPS = 30
"""Newton steps for one proximal step."""

INNER = 0.3
"""The gradient of phi at which it is solved, relative to delta |x - x0|."""

SEARCHES = 20

Steps = list[Array | float]


@light_dataclass
class Centre:
    """(x0, y0, s0), and K x0."""

    x: Array
    ys: list[Array]
    s: Array
    kx: list[Array]


@light_dataclass
class Trial:
    """A point x with K x; the arguments w and results y of the dual proxes there, the point p of the domain of g below x, and s."""

    x: Array
    kx: list[Array]
    ws: list[Array]
    ys: list[Array]
    p: Array
    s: Array


@light_dataclass
class LeapOutcome:
    """The outcome of a step: the last trial, Newton steps, whether phi is minimised, and the numbers that the systems touched."""

    trial: Trial
    steps: int
    converged: bool
    work: float


def applies(problem: PreparedProblem) -> bool:
    """True if the entries of all maps can be read."""
    return all(readable(m) for t in problem.terms for _, m in t.map.parts)


class Proximal:
    """phi about one centre, and its minimisation; `taus` and `sigmas` are the steps of the primal-dual method, a block and a term each."""

    def __init__(self, problem: PreparedProblem, taus: Steps, sigmas: Steps, delta: float, centre: Centre) -> None:
        self.problem = problem
        self.taus = taus
        self.sigmas = sigmas
        self.delta = delta
        self.centre = centre
        blocks = problem.canonical.blocks
        self.starts = {id(b): i for i, b in enumerate(blocks)}
        full = [np.broadcast_to(t, (b.size,)) for t, b in zip(taus, blocks, strict=True)]
        self.tau = np.concatenate(full) if full else np.zeros(0)
        self.work = 0.0

    def solve(self, budget: float) -> LeapOutcome:
        """Newton steps until phi is minimised well enough, `STEPS` of them, or the budget of numbers touched is used up."""
        with serial_blas():
            return self._solve(budget)

    def _solve(self, budget: float) -> LeapOutcome:
        t = self._at(self.centre.x, self.centre.kx)
        grad = self._gradient(t)
        for n in range(STEPS + 1):
            away = t.x - self.centre.x
            enough = INNER * self.delta * math.sqrt(float(away @ (away / self.tau)))
            if math.sqrt(float(grad @ (self.tau * grad))) <= enough:
                return LeapOutcome(t, n, True, self.work)
            if n == STEPS or self.work > budget:
                break
            self.problem.look()
            dx = self._direction(t, grad)
            new = None if dx is None else self._along(t, dx, float(grad @ dx))
            if new is None:
                break
            t = new
            grad = self._gradient(t)
        return LeapOutcome(t, n, False, self.work)

    def _at(self, x: Array, kx: list[Array]) -> Trial:
        pr, c, d = self.problem, self.centre, self.delta
        p, s = np.empty_like(x), np.empty_like(x)
        for b, g, tau in zip(pr.canonical.blocks, pr.g, self.taus, strict=True):
            at, step = b.slice, tau * d
            v = x[at] + step * c.s[at]
            g.prox(v, step, p[at])
            s[at] = (v - p[at]) / step
        ws, ys = [], []
        for k, (f, term, sigma) in enumerate(zip(pr.functions, pr.terms, self.sigmas, strict=True)):
            w = c.ys[k] + (sigma / d) * (kx[k] + term.map.offset)
            y = np.empty_like(w)
            prox_conjugate(f, w.copy(), sigma / d, y)
            ws.append(w)
            ys.append(y)
        return Trial(x, kx, ws, ys, p, s)

    def _gradient(self, t: Trial) -> Array:
        pr = self.problem
        return np.asarray(pr.q + (self.delta / self.tau) * (t.x - self.centre.x) + pr.adjoint(t.ys) + t.s)

    def _along(self, t: Trial, dx: Array, slope: float) -> Trial | None:
        """A point where phi' along dx is at most half as steep as at the start, or the full step where phi still falls there."""
        if not slope < 0.0:
            return None
        pr = self.problem
        kdx = pr.linear(dx)
        linear = float(pr.q @ dx)
        low, high, at_low, at_high = 0.0, math.inf, slope, math.nan
        length, new = 1.0, t
        for _ in range(SEARCHES):
            pr.look()
            new = self._at(t.x + length * dx, [a + length * b for a, b in zip(t.kx, kdx, strict=True)])
            rise = linear + self.delta * float(dx @ ((new.x - self.centre.x) / self.tau)) + float(new.s @ dx)
            rise += sum(pr.dots(new.ys, kdx))
            if abs(rise) <= -0.5 * slope or (rise < 0.0 and length == 1.0):
                return new
            if not math.isfinite(rise):
                return None
            if rise > 0.0:
                high, at_high = length, rise
            else:
                low, at_low = length, rise
            length = low + min(max(-at_low / (at_high - at_low), 0.1), 0.9) * (high - low)
        return new

    # --- the system ---------------------------------------------------------------------------------------------------

    def _pieces(self, t: Trial) -> tuple[list[AffinePiece], list[AffinePiece]] | None:
        """The pieces of the blocks and of the terms; None where one is not known or they are too many for a system."""
        pr, own, others, size = self.problem, [], [], 0
        for b, g, tau in zip(pr.canonical.blocks, pr.g, self.taus, strict=True):
            p = t.p[b.slice]
            # a face of so many coordinates is not even asked for: its normals may be many too
            few = g.entries is not None or np.count_nonzero(p) <= LARGEST
            piece = of_prox(g, p, tau * self.delta) if few else None
            if piece is None:
                return None
            own.append(piece)
            size += piece.count
            if size > LARGEST:
                return None
        for w, y, f, sigma in zip(t.ws, t.ys, pr.functions, self.sigmas, strict=True):
            piece = of_conjugate(f, w, y, sigma / self.delta)
            if piece is None:
                return None
            others.append(piece)
            size += int(piece.flat.sum())
            if size > LARGEST:
                return None
        return own, others

    def _direction(self, t: Trial, grad: Array) -> Array | None:
        found = self._pieces(t)
        if found is None:
            return None
        own, others = found
        pr, d = self.problem, self.delta
        flats = [p.part(np.flatnonzero(p.flat)) for p in others]
        moving = sum(p.count for p in own)
        size = moving + sum(p.count for p in flats)
        matrix, right = np.zeros((size, size)), np.zeros(size)
        stiff = grad / (d / self.tau + 1.0 / (self.tau * d))
        dx = np.empty_like(grad)
        at = 0
        for b, p in zip(pr.canonical.blocks, own, strict=True):
            tau, here = self.tau[b.slice], slice(at, at + p.count)
            dx[b.slice] = -p.outside(stiff[b.slice])
            matrix[here, here] = p.gram(d / tau) + np.diag((1.0 - p.share) / (tau[p.main] * d))
            right[here] = -p.adjoint(grad[b.slice])
            at += p.count
        for k, (p, flat) in enumerate(zip(others, flats, strict=True)):
            sigma = np.broadcast_to(self.sigmas[k], (pr.terms[k].map.rows,))
            if flat.count:
                here = slice(at, at + flat.count)
                matrix[here, :moving] = self._jacobian(k, flat, own, moving)
                matrix[:moving, here] = matrix[here, :moving].T
                matrix[here, here] = -flat.gram(d / sigma)
                at += flat.count
            if flat.count < p.count:
                self._add_curved(k, p, sigma, own, matrix[:moving, :moving])
        self.work += size**3 / 5 + 6 * sum(term.map.nnz for term in pr.terms) + overhead(pr, 60.0, 4e6)
        solution = _solved(matrix, right)
        if solution is None:
            return None
        at = 0
        for b, p in zip(pr.canonical.blocks, own, strict=True):
            dx[b.slice] += p.along(solution[at : at + p.count], b.size)
            at += p.count
        return dx

    def _add_curved(self, k: int, p: AffinePiece, sigma: Array, own: list[AffinePiece], hessian: Array) -> None:
        """Add J' diag(gamma s) J of the curved directions of one term, some rows of J at a time."""
        curved = np.flatnonzero(~p.flat)
        parts = self.problem.terms[k].map.parts
        rows = [reached(m, self._live(own[self.starts[id(b)]])) for b, m in parts]
        known = [r for r in rows if r is not None]
        if len(known) == len(rows):
            curved = curved[np.isin(p.main[curved], np.concatenate([*known, np.zeros(0, dtype=np.intp)]))]
        moving = hessian.shape[0]
        self.work += curved.size * moving * (moving / 8 + 4)
        step = max(1, CHUNK // max(1, moving))
        for start in range(0, curved.size, step):
            part = p.part(curved[start : start + step])
            J = self._jacobian(k, part, own, moving)
            hessian += J.T @ ((sigma[part.main] / self.delta * part.share)[:, None] * J)

    def _jacobian(self, k: int, p: AffinePiece, own: list[AffinePiece], moving: int) -> Array:
        """B_y' K B_x for directions of one term."""
        out = np.zeros((p.count, moving))
        starts = np.cumsum([0, *(piece.count for piece in own)])
        for b, m in self.problem.terms[k].map.parts:
            i = self.starts[id(b)]
            x = own[i]
            if x.count:
                part = self._on_columns(m, p.main, x)
                if not p.plain:
                    part = part - p.value[:, None] * self._on_columns(m, p.pivot, x)
                out[:, starts[i] : starts[i + 1]] += part
        return out

    @staticmethod
    def _on_columns(m: LinearMap, rows: Index, x: AffinePiece) -> Array:
        part = entries(m, rows, x.main)
        return part if x.plain else part - entries(m, rows, x.pivot) * x.value

    @staticmethod
    def _live(p: AffinePiece) -> Index:
        return p.main if p.plain else np.asarray(np.union1d(p.main, p.pivot), dtype=np.intp)


def overhead(problem: PreparedProblem, each: float, once: float) -> float:
    """The cost of vectors and of the interpreter, in numbers touched: `each` for a number of x and y, and `once`."""
    return each * (problem.size + sum(t.map.rows for t in problem.terms)) + once


def _solved(matrix: Array, right: Array) -> Array | None:
    """The solution by LU, rows and columns brought to size one; None where there is none."""
    largest = np.abs(matrix).max(axis=1, initial=0.0)
    if not np.all(np.isfinite(largest)) or not np.all(largest > 0.0):
        return None
    scale = 1.0 / np.sqrt(largest)
    matrix *= scale[:, None]
    matrix *= scale
    try:
        solution = scale * np.linalg.solve(matrix, scale * right)
    except np.linalg.LinAlgError:
        return None
    return solution if np.all(np.isfinite(solution)) else None
