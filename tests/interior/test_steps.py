"""Steps against a plain transcription: the linearised embedding as one dense system, cones by their definitions, the boundary by bisection."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.atoms.base import Array
from fwdsl.backends.interior import cone_loops, ldl_loops, step_loops
from fwdsl.backends.interior.cones import KINDS, Cones, Scalings, matrices, order_of
from fwdsl.backends.interior.directions import LONGEST, Direction
from fwdsl.backends.interior.nonsymmetric import Nonsymmetric
from fwdsl.backends.interior.program import Batch
from fwdsl.backends.interior.run import NEARLY, InteriorRun
from fwdsl.backends.interior.state import InteriorState
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.uncompiled import Uncompiled
from tests.runs import stepped, without_patterns

HEAD = "data A: matrix[m, n], b: vector[m], c: vector[n]\nvar x: vector[n]\n"

PROGRAMS = {
    "linear": HEAD + "minimize dot(c, x)\nsubject to\n  A @ x <= b\n  x >= -2\n  x <= 3\n  sum(x) == 1",
    "quadratic": HEAD + "minimize sum_squares(x[:4]) + dot(c, x)\nsubject to\n  A @ x <= b\n  x >= 0",
    "second-order": HEAD
    + "minimize dot(c, x) + norm2(A @ x - b)\nsubject to\n  norm2(x) <= 3\n  norm2(x[:2]) <= 2 + x[5]",
    "short lengths": HEAD
    + "minimize dot(c, x) + 0.3 * norm2(x[:2]) + norm2(x[2:4]) + norm2(x[4:7])\nsubject to\n  norm_inf(x) <= 2",
    "exponential": HEAD + "minimize sum(exp(A @ x)) + dot(c, x)\nsubject to\n  norm_inf(x) <= 2",
    "entropy": HEAD
    + "minimize entropy(x + 3) + dot(c, x)\nsubject to\n  sum(x) == 1\n  x >= -2\n  A @ x <= b + 20\n  norm2(x) <= 9",
    "power": HEAD + "minimize norm_p(A @ x - b, 3) + dot(c, x)\nsubject to\n  norm1(x) <= 2",
    "one unknown": "data b: vector[m]\nvar x: real\nminimize norm1(x - b) + 0.1 * norm2(x - b)\nsubject to x >= -5",
    "a cone alone": "data b: vector[m]\nvar x: vector[m]\nminimize norm2(x - b) + 0.5 * norm2(x)",
    "equations alone": HEAD + "minimize sum_squares(x) + dot(c, x)\nsubject to A[:3, :] @ x == b[:3]",
    "no rows": HEAD + "minimize sum_squares(A @ x - b) + 0.1 * sum_squares(x)",
    "matrices": "data B: matrix[n, n]\nvar X: symmetric[n]\nminimize sum_squares(X - B)\nsubject to X in psd, X[0, 0] <= 1",
}


def posed(name: str, unit: float = 1.0) -> fw.Problem:
    """A program with b and c in some unit, and the first rows of A, which is nearly empty, in another."""
    rng = np.random.default_rng(7)
    A = sp.random_array((15, 8), density=0.4, rng=rng, format="csr")
    found = {
        "A": sp.csr_array(sp.diags_array(np.where(np.arange(15) < 4, 1.0 / unit, 1.0)) @ A) if name == "linear" else A,
        "b": unit * np.abs(rng.standard_normal(15)),
        "c": unit * 0.3 * rng.standard_normal(8),
        "B": unit * rng.standard_normal((4, 4)),
    }
    text = PROGRAMS[name]
    return fw.parse(text).bind(**{k: v for k, v in found.items() if f"{k}: " in text})


# --- a plain step ---------------------------------------------------------------------------------------------------------


def holds(batch: Batch, s: Array) -> bool:
    """True if s is in the interior of a symmetric cone."""
    if batch.kind == "nonnegative":
        return bool((s > 0.0).all())
    if batch.kind == "second_order":
        return all(u[0] > np.linalg.norm(u[1:]) for u in s.reshape(-1, batch.rows))
    return bool(np.linalg.eigvalsh(matrices(s, batch.number, order_of(batch.rows))).min() > 0.0)


def boundary(inside: Callable[[float], bool]) -> float:
    """The largest t at which something is inside, by bisection; infinite where that is beyond 1e6."""
    low, high = 0.0, 1e6
    if inside(high):
        return math.inf
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if inside(middle) else (low, middle)
    return low


def arrow(u: Array) -> Array:
    """The matrix of the product of a cone of lengths with u."""
    found = u[0] * np.eye(u.size)
    found[0], found[:, 0] = u, u
    return np.asarray(found)


class PlainStep:
    """A step of the embedding at a state, from the program's matrices and the definitions of the cones."""

    def __init__(self, run: InteriorRun, state: InteriorState) -> None:
        self.run, self.now = run, state
        self.P, self.A = (M if isinstance(M, np.ndarray) else M.toarray() for M in (run.P, run.A))
        self.places = [slice(k.start, k.stop) for k in run.batches]
        m = run.b.size
        self.scalings = [
            KINDS[k.kind](k, state.s[at], state.z[at]) if k.kind in KINDS else None
            for k, at in zip(run.batches, self.places, strict=True)
        ]
        self.W, self.lam = np.zeros((m, m)), np.zeros(m)
        for at, scaling in zip(self.places, self.scalings, strict=True):
            if scaling is not None:
                size = at.stop - at.start
                self.W[at, at] = np.stack([scaling.w(e) for e in np.eye(size)], axis=1)
                self.lam[at] = scaling.w(state.z[at])
        self.zero = np.array([k.kind == "zero" for k in run.batches for _ in range(k.number * k.rows)], dtype=bool)

    def direction(self, share: float, turned: Array, product: float) -> tuple[Array, Array, Array, float, float]:
        """(dv, dz, ds, dtau, dkappa), from all equations of the embedding at once."""
        now, run, (m, n) = self.now, self.run, self.A.shape
        tau, kappa, v, z, s = now.tau, now.kappa, now.v, now.z, now.s
        W = self.W
        V = np.linalg.inv((W + np.diag(self.zero.astype(float))).T)
        curved = v @ self.P @ v
        rows = [
            [self.P, self.A.T, np.zeros((n, m)), run.c[:, None], np.zeros((n, 1))],
            [self.A, np.zeros((m, m)), np.eye(m), -run.b[:, None], np.zeros((m, 1))],
            [np.zeros((m, n)), W, V, np.zeros((m, 1)), np.zeros((m, 1))],
            [
                (run.c + 2.0 / tau * self.P @ v)[None, :],
                run.b[None, :],
                np.zeros((1, m)),
                np.array([[-curved / tau**2]]),
                np.ones((1, 1)),
            ],
            [np.zeros((1, n)), np.zeros((1, m)), np.zeros((1, m)), np.array([[kappa]]), np.array([[tau]])],
        ]
        right = np.concatenate(
            [
                -share * (self.P @ v + self.A.T @ z + tau * run.c),
                -share * (self.A @ v + s - tau * run.b),
                np.where(self.zero, 0.0, -turned),
                [-share * (kappa + run.c @ v + run.b @ z + curved / tau), -product],
            ]
        )
        K = np.block(rows)
        found = np.linalg.solve(K, right)
        found += np.linalg.solve(K, right - K @ found)
        dv, dz, ds = np.split(found[:-2], [n, n + m])
        return dv, dz, ds, float(found[-2]), float(found[-1])

    def reach(self, d: tuple[Array, Array, Array, float, float], told: float) -> float:
        """The largest step that stays in the cones. Those of three rows look for theirs by halves: what the run was told, if it is near."""
        now, (_, dz, ds, dtau, dkappa) = self.now, d
        longest = math.inf
        for batch, at in zip(self.run.batches, self.places, strict=True):
            if batch.kind != "zero":

                def inside(t: float, batch: Batch = batch, at: slice = at) -> bool:
                    s, z = now.s[at] + t * ds[at], now.z[at] + t * dz[at]
                    if batch.kind in THREE:
                        return Nonsymmetric.inside(batch, s, z)
                    return holds(batch, s) and holds(batch, z)

                longest = min(longest, boundary(inside))
        for x, dx in ((now.tau, dtau), (now.kappa, dkappa)):
            longest = min(longest, -x / dx if dx < 0.0 else math.inf)
        if any(k.kind in THREE for k in self.run.batches):
            assert 0.98 * min(longest, LONGEST) <= told <= longest * (1.0 + 1e-6)
            return told
        return longest

    def corrected(self, d: tuple[Array, Array, Array, float, float], mu: float) -> Array:
        """-(W^-T ds + W dz) of a step that aims at products of mu."""
        _, dz, ds, _, _ = d
        found = np.zeros(self.lam.size)
        for batch, at, scaling in zip(self.run.batches, self.places, self.scalings, strict=True):
            if scaling is None:
                continue
            if batch.kind in THREE:
                found[at] = scaling.inverse_t(scaling.aim(ds[at], dz[at], mu))  # type: ignore[union-attr]
                continue
            lam, u, v = self.lam[at], scaling.inverse_t(ds[at]), scaling.w(dz[at])
            if batch.kind == "nonnegative":
                found[at] = lam + (u * v - mu) / lam
            elif batch.kind == "second_order":
                e = np.eye(batch.rows)[0]
                parts = (x.reshape(-1, batch.rows) for x in (lam, u, v))
                found[at] = np.concatenate(
                    [a + np.linalg.solve(arrow(a), arrow(x) @ y - mu * e) for a, x, y in zip(*parts, strict=True)]
                )
            else:
                found[at] = scaling.corrected(u, v, mu)  # type: ignore[union-attr]
        return found

    def taken(self, told: list[float]) -> InteriorState:
        """The state after the step, whose two directions were told to reach so far."""
        now = self.now
        products = float(now.s @ now.z) + now.tau * now.kappa
        affine = self.direction(1.0, self.lam, now.tau * now.kappa)
        sigma = (1.0 - min(1.0, self.reach(affine, told[0]))) ** 3
        mu = sigma * products / self.run.degree
        product = now.tau * now.kappa + affine[3] * affine[4] - mu
        found = self.direction(1.0 - sigma, self.corrected(affine, mu), product)
        length = min(1.0, NEARLY * self.reach(found, told[1]))
        v, z, s, tau, kappa = (
            x + length * dx for x, dx in zip((now.v, now.z, now.s, now.tau, now.kappa), found, strict=True)
        )
        size = max(tau, kappa)
        after = now.copied()
        after.v, after.z, after.s = v / size, z / size, np.where(self.zero, 0.0, s) / size
        after.tau, after.kappa = tau / size, kappa / size
        return after


THREE = ("exponential", "power")


def assert_like(found: InteriorState, expected: InteriorState) -> None:
    for name in ("v", "z", "s"):
        one, other = getattr(found, name), getattr(expected, name)
        assert one == pytest.approx(other, rel=1e-5, abs=1e-5 * max(1e-300, float(np.abs(other).max(initial=0.0))))
    assert (found.tau, found.kappa) == pytest.approx((expected.tau, expected.kappa), rel=1e-5)


def begun(name: str, unit: float) -> InteriorRun:
    form: Any = posed(name, unit).canonical
    run = stepped(Program(getattr(form, "inner", form).dense), "interior", 1)
    assert isinstance(run, InteriorRun)
    return run


class Program:
    """A program in a form of ours."""

    def __init__(self, canonical: Any) -> None:
        self.canonical = canonical


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize("name", PROGRAMS)
def test_steps_are_those_of_the_plain_transcription(name: str, unit: float, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[float] = []
    reach = Direction.reach

    def listened(d: Direction, tau: float, kappa: float) -> float:
        told.append(reach(d, tau, kappa))
        return told[-1]

    with np.errstate(all="ignore"):
        run = begun(name, unit)
        monkeypatch.setattr(Direction, "reach", listened)
        for _ in range(4):
            before = run.state.copied()
            if run._is_near():
                break
            told.clear()
            run.step()
            assert_like(run.state, PlainStep(run, before).taken(told))


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in ("exponential", "entropy", "power")])
def test_steps_with_other_systems_are_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with np.errstate(all="ignore"):
        one = begun(name, 1.0)
        without_patterns(monkeypatch)
        other = begun(name, 1.0)
        assert other.systems.quasidefinite is None
        for _ in range(3):
            other.state = one.state.copied()
            one.step()
            other.step()
            assert_like(one.state, other.state)


# --- kernels as they are written ------------------------------------------------------------------------------------------

ROWS = (
    Batch("zero", 0, 1, 2),
    Batch("nonnegative", 2, 1, 5),
    Batch("second_order", 7, 3, 2),
    Batch("second_order", 13, 1, 6),
    Batch("exponential", 19, 2, 3),
    Batch("power", 25, 1, 3, (0.4,)),
)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
def test_kernels_compute_what_they_say_uncompiled(unit: float) -> None:
    """Compiled kernels and the same text as plain Python leave the same numbers."""
    rng = np.random.default_rng(3)
    cones = Cones.of(ROWS)
    m, n = cones.rows, 4
    s, z = (unit * cones.unit() * (1.0 + 0.2 * rng.random(m)) for _ in range(2))
    numbers = Scalings(cones, s, z).numbers
    lam, ds, dz, dv, v = unit * cones.unit() + 0.1, *rng.standard_normal((2, m)), *rng.standard_normal((2, n))
    k, linear, heads = cones.symmetric
    A = sp.random_array((m, n), density=0.5, rng=rng, format="csr")
    starts, places, entries = A.indptr.astype(np.uint32), A.indices.astype(np.uint32), A.data
    own, back, root, eta = numbers.own, numbers.back, numbers.root, numbers.eta
    calls: list[tuple[Callable[..., Any], tuple[Any, ...], int]] = [
        (cone_loops.scale, (k, linear, s, z, np.zeros(m), np.zeros(m)), 2),
        (cone_loops.scale_lengths, (heads, s, z, np.zeros(m), np.zeros(4), np.zeros(m)), 3),
        *((cone_loops.turn, (k, linear, numbers.threes, root, own, back, way, ds, np.zeros(m)), 1) for way in range(4)),
        *((cone_loops.turn_lengths, (heads, root, eta, inverse, ds, np.zeros(m)), 1) for inverse in (False, True)),
        (cone_loops.correct, (k, linear, lam, ds, dz, 0.3 * unit, np.zeros(m)), 1),
        (cone_loops.correct_lengths, (heads, lam, ds, dz, 0.3 * unit, np.zeros(m)), 1),
        (cone_loops.outwards, (k, linear, lam, ds, dz), 0),
        (cone_loops.outwards_lengths, (heads, lam, ds), 0),
        (cone_loops.within_lengths, (heads, s, z), 0),
        (cone_loops.within_lengths, (heads, s + 2.0 * unit * ds, z), 0),
        (cone_loops.write, (k, linear, numbers.threes, root, own, n, n + m, np.zeros(n + m + 9)), 1),
        (cone_loops.write_lengths, (heads, root, eta, n, n + m, 4, np.zeros(n + m + 14)), 1),
        (
            step_loops.measure,
            (starts, places, entries, v, z, s, 0.7, dv, ds, dv - v, dz, v + dv, np.zeros(n), np.zeros(m)),
            4,
        ),
        (step_loops.embed, (0.3, 1.0, 0.2, 0.5, 0.7, 0.1, v, ds, dv, dz, s, v.copy(), z.copy(), np.zeros(m)), 3),
        *(
            (
                step_loops.move,
                (length, 0.9, k, linear, v, z, s, dv, unit * dz, unit * ds, np.zeros(n), np.zeros(m), np.zeros(m)),
                3,
            )
            for length in (1e-3, 1e3)
        ),
    ]
    for fn, arguments, outputs in calls:
        left = []
        for made in (kernel(fn, reorder=True), Uncompiled(fn)):
            own = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
            left.append((made(*own), *own[len(own) - outputs :]))
        for one, other in zip(*left, strict=True):
            if other is not None:
                np.testing.assert_allclose(
                    one, other, rtol=1e-12, atol=1e-13 * float(np.max(np.abs(other), initial=0.0))
                )


def test_answers_without_a_number_are_infinitely_poor() -> None:
    """A matrix of one number that is none: no answer, whatever is asked for."""
    one, place, none = np.array([np.nan]), np.array([0, 1], dtype=np.uint32), np.zeros(0, dtype=np.uint32)
    first, nothing = np.zeros(1, dtype=np.uint32), np.zeros(2, dtype=np.uint32)
    v, work = np.ones(1), np.empty((4, 1))
    for made in (kernel(ldl_loops.answer), Uncompiled(ldl_loops.answer)):
        missed = made(
            place, first, one, nothing, none, np.zeros(0), one, np.zeros(1, np.int8), first, none, np.ones(1), np.zeros(0),
            0.0, 3, 1e-11, work, v, np.zeros(0),
        )  # fmt: skip
        assert missed == math.inf and v[0] == 0.0
