"""The prox along a line: against its dual as a bounded least-squares problem, pooling in plain Python, and the conditions of its optimum."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from fwdsl.atoms.base import Array
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.lines.loops import line_prox, order_prox


def prox(v: Array, w: Array, lo: Array, hi: Array, t: float = 1.0) -> tuple[Array, Array]:
    x, u = np.empty(v.size), np.empty(max(0, v.size - 1))
    kernel(line_prox)(v, w, lo, hi, t, x, u)
    return x, u


def naive(v: Array, w: Array, lo: Array, hi: Array, t: float) -> Array:
    """x = v - D'u / w at the u within the ends at which |D'u - w v|^2 in the metric 1 / w is least."""
    D = np.diff(np.eye(v.size), axis=0)
    # an end of 0 on both sides leaves nothing to choose
    live = lo < hi
    root = np.sqrt(w)
    found = lsq_linear(D[live].T / root[:, None], root * v, (t * lo[live], t * hi[live]), method="bvls", tol=1e-14)
    return np.asarray(v - D[live].T @ found.x / w)


def pooled(v: Array, w: Array) -> Array:
    """Isotonic regression by pooling adjacent violators."""
    blocks: list[list[float]] = []
    for value, weight in zip(v, w, strict=True):
        blocks.append([value, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            last, before = blocks.pop(), blocks[-1]
            mass = before[1] + last[1]
            blocks[-1] = [(before[0] * before[1] + last[0] * last[1]) / mass, mass, before[2] + last[2]]
    return np.concatenate([np.full(int(count), value) for value, _, count in blocks])


def ends(kind: str, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    lo, hi = -rng.random(n - 1), rng.random(n - 1)
    if kind == "order":
        return np.full(n - 1, -math.inf), np.zeros(n - 1)
    if kind == "lines":
        lo[::3], hi[::3] = 0.0, 0.0
    if kind == "mixed":
        lo[rng.random(n - 1) < 0.3], hi[rng.random(n - 1) < 0.3] = -math.inf, math.inf
    if kind == "even":
        lo[:], hi[:] = -0.3, 0.3
    return lo, hi


def check_conditions(v: Array, w: Array, lo: Array, hi: Array, t: float) -> None:
    """w (x - v) + D'u = 0, u within the ends, and at the end that the sign of a jump asks for."""
    x, u = prox(v, w, lo, hi, t)
    with np.errstate(invalid="ignore"):
        low, high = (np.where(np.isinf(end), end, t * end) for end in (lo, hi))
    size = float(np.abs(v).max()) * float(w.max())
    sums = np.concatenate([[0.0], u, [0.0]])
    assert np.abs(w * (x - v) - np.diff(sums)).max() <= 1e-12 * size
    assert np.all((low <= u) & (u <= high))
    jumps = np.diff(x)
    assert np.all(u[jumps > 0] == high[jumps > 0]) and np.all(u[jumps < 0] == low[jumps < 0])


@pytest.mark.parametrize("kind", ["even", "uneven", "order", "lines", "mixed"])
@pytest.mark.parametrize("seed", range(6))
def test_the_kernel_is_the_plain_problem(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 15))
    v, w, t = np.cumsum(rng.standard_normal(n)), rng.random(n) + 0.1, float(rng.random()) + 0.1
    lo, hi = ends(kind, n, rng)
    x, _ = prox(v, w, lo, hi, t)
    np.testing.assert_allclose(x, naive(v, w, lo, hi, t), rtol=0, atol=1e-9)
    check_conditions(v, w, lo, hi, t)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("kind", ["even", "order", "mixed"])
def test_ties_units_and_far_origins(kind: str, unit: float) -> None:
    rng = np.random.default_rng(5)
    v = np.round(3.0 * rng.standard_normal(60))
    lo, hi = ends(kind, 60, rng)
    for values in (unit * v, unit * (v + 1e7), np.zeros(60), np.full(60, unit)):
        check_conditions(
            values, np.ones(60), unit * lo if kind == "even" else lo, unit * hi if kind == "even" else hi, 1.0
        )


@pytest.mark.parametrize("weighted", [False, True])
def test_an_order_is_what_pooling_gives(weighted: bool) -> None:
    rng = np.random.default_rng(0)
    v = np.round(np.linspace(0, 5, 300) + rng.standard_normal(300), 1)
    w = rng.random(300) + 0.01 if weighted else np.ones(300)
    x, _ = prox(v, w, np.full(299, -math.inf), np.zeros(299))
    np.testing.assert_allclose(x, pooled(v, w), rtol=0, atol=1e-13)
    assert np.all(np.diff(x) >= 0.0)


def test_long_lines() -> None:
    rng = np.random.default_rng(1)
    n = 200_000
    v = np.cumsum(rng.standard_normal(n)) + 1e4
    for lo, hi in ((np.full(n - 1, -20.0), np.full(n - 1, 20.0)), (np.full(n - 1, -math.inf), np.zeros(n - 1))):
        check_conditions(v, np.ones(n), lo, hi, 1.0)


def test_a_penalty_beyond_all_jumps_leaves_the_mean() -> None:
    v = np.array([1.0, 5.0, -2.0, 4.0])
    x, _ = prox(v, np.ones(4), np.full(3, -100.0), np.full(3, 100.0))
    np.testing.assert_allclose(x, 2.0, rtol=1e-15)
    x, _ = prox(v, np.array([1.0, 3.0, 0.0, 0.0]), np.full(3, -100.0), np.full(3, 100.0))
    np.testing.assert_allclose(x, 4.0, rtol=1e-15)


def test_entries_without_weight_follow_their_neighbours() -> None:
    x, u = prox(np.array([9.0, 1.0, 9.0, 2.0, 9.0]), np.array([0.0, 1, 0, 1, 0]), np.full(4, -0.1), np.full(4, 0.1))
    assert x[0] == x[1] == pytest.approx(1.1) and x[3] == x[4] == pytest.approx(1.9)
    assert x[1] <= x[2] <= x[3] and u == pytest.approx([0.0, 0.1, 0.1, 0.0])


def test_lines_of_no_entry_or_one() -> None:
    assert prox(np.zeros(0), np.zeros(0), np.zeros(0), np.zeros(0))[0].size == 0
    assert prox(np.array([3.0]), np.ones(1), np.zeros(0), np.zeros(0))[0][0] == 3.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("far", [0.0, 1e7])
@pytest.mark.parametrize("seed", range(6))
def test_pooling_is_the_prox_of_ordered_lines(sign: float, far: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 400))
    # ties, runs against the order, and several lines
    v = np.round(np.sin(np.arange(n) / 9.0) + rng.standard_normal(n), int(rng.integers(0, 3))) + far
    w = np.ones(n) if seed % 2 else rng.random(n) + 1e-3
    lo, hi = np.full(n - 1, -math.inf if sign > 0 else 0.0), np.full(n - 1, 0.0 if sign > 0 else math.inf)
    apart = rng.random(n - 1) < (0.2 if seed % 3 else 0.0)
    lo[apart], hi[apart] = 0.0, 0.0
    expected, multipliers = prox(v, w, lo, hi)
    x, u = np.empty(n), np.empty(n - 1)
    kernel(order_prox)(v, w, sign, lo, hi, x, u)
    size = float(np.abs(v - v.mean()).max(initial=1.0)) + 1e-2 * far
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-12 * size)
    np.testing.assert_allclose(u, multipliers, rtol=0, atol=1e-12 * size * n)
    steps = sign * np.diff(x)
    assert np.all(steps[~apart] >= 0.0) and np.all((lo <= u) & (u <= hi)) and np.all(u[steps != 0.0] == 0.0)
