"""Quasidefinite systems: their factors against dense ones, their answers against the equations, and the runs that give them up."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.interior import quasidefinite, sizes
from fwdsl.backends.interior.cones import Cones, Scalings
from fwdsl.backends.interior.ldl_loops import least_degrees
from fwdsl.backends.interior.program import Batch
from fwdsl.backends.interior.quasidefinite import SHIFT, FactoredQuasidefinite, Quasidefinite, pattern_of
from fwdsl.backends.interior.run import InteriorRun
from fwdsl.backends.interior.sizes import size_of
from fwdsl.backends.kernels.compile import kernel
from fwdsl.backends.kernels.uncompiled import Uncompiled
from fwdsl.backends.nearby import least_step
from fwdsl.backends.problem import PreparedProblem
from tests.runs import resumed, stepped, without_patterns

MIXED = (
    Batch("zero", 0, 1, 3),
    Batch("nonnegative", 3, 1, 6),
    Batch("second_order", 9, 2, 3),
    Batch("second_order", 15, 1, 7),
    Batch("exponential", 22, 2, 3),
    Batch("power", 28, 2, 3, (0.3, 0.8)),
)
ROWS = MIXED[-1].stop


def mixed(seed: int) -> tuple[sp.csr_array, sp.csr_array, Scalings]:
    """P and A of twelve unknowns, and scalings of all kinds of cones at points off the central path."""
    rng = np.random.default_rng(seed)
    L = sp.random_array((4, 12), density=0.3, rng=rng)
    A = sp.csr_array(sp.vstack([sp.random_array((ROWS - 12, 12), density=0.4, rng=rng), sp.eye_array(12)]))
    cones = Cones.of(MIXED)
    s, z = (cones.unit() * (1.0 + 0.2 * rng.random(ROWS)) for _ in range(2))
    return sp.csr_array(L.T @ L), A, Scalings(cones, s, 0.1 * z)


def written(P: sp.csr_array, A: sp.csr_array, scalings: Scalings) -> np.ndarray:
    """The system [P, A'; A, -W'W], column by column."""
    square = np.stack([scalings.wt(scalings.w(e)) for e in np.eye(ROWS)], axis=1)
    square[:3] = 0.0
    return np.block([[P.toarray(), A.toarray().T], [A.toarray(), -square]])


def factored(seed: int) -> tuple[FactoredQuasidefinite, np.ndarray, Scalings]:
    P, A, scalings = mixed(seed)
    pattern = pattern_of(P, A, MIXED, np.inf, lambda: None)
    assert pattern is not None
    return Quasidefinite(pattern, P, A, MIXED).at(scalings), written(P, A, scalings), scalings


@pytest.mark.parametrize("seed", range(3))
def test_answers_solve_the_equations(seed: int) -> None:
    system, K, scalings = factored(seed)
    rng = np.random.default_rng(seed)
    p, r = rng.standard_normal(12), rng.standard_normal(ROWS)
    v, u = system(p, r)
    dz = scalings.inverse(u)
    right = np.concatenate([p, scalings.wt(r)])
    np.testing.assert_allclose(K @ np.concatenate([v, dz]), right, rtol=1e-8, atol=1e-8)


def test_the_factor_is_that_of_the_shifted_matrix() -> None:
    """L D L' in the order of the pattern, the further unknowns of the large cone eliminated, is the system with its diagonal shifted.

    Unknowns without curvature have the shift alone as their pivot, which half the digits survive.
    """
    system, K, _ = factored(5)
    pattern, n = system.of.pattern, system.inverse.size
    L = np.eye(n)
    for j in range(n):
        own = slice(pattern.starts[j], pattern.starts[j + 1])
        L[pattern.rows[own], j] = system.values[own]
    whole = (L / system.inverse) @ L.T
    whole = whole[pattern.place][:, pattern.place]
    k = K.shape[0]
    inner, outer = whole[:k, :k], whole[:k, k:]
    without = inner - outer @ np.linalg.solve(whole[k:, k:], outer.T)
    shift = np.concatenate([np.full(12, SHIFT), np.full(ROWS, -SHIFT)])
    np.testing.assert_allclose(without, K + np.diag(shift), rtol=1e-6, atol=1e-6)


def system_of_cones(batches: tuple[Batch, ...], s: np.ndarray, z: np.ndarray) -> tuple[Scalings, np.ndarray]:
    """The scalings of cones alone, and the block of a system that they are, with their further unknowns."""
    cones = Cones.of(batches)
    scalings = Scalings(cones, s, z)
    P, A = sp.csr_array((1, 1)), sp.csr_array(np.ones((cones.rows, 1)))
    pattern = pattern_of(P, A, batches, np.inf, lambda: None)
    assert pattern is not None
    data, size = Quasidefinite(pattern, P, A, batches).at(scalings).data, pattern.place.size
    upper = sp.csc_array((data, pattern.indices.astype(int), pattern.indptr.astype(int)), (size, size)).toarray()
    whole = upper + np.triu(upper, 1).T
    return scalings, whole[pattern.place][:, pattern.place][1:, 1:]


@pytest.mark.parametrize("rows", [5, 7, 40])
@pytest.mark.parametrize("near", [1.0, 1e-6])
def test_the_split_square_of_a_second_order_cone(rows: int, near: float) -> None:
    """diag(d, eta^2, ..) + u u' - w w' = W'W, and without u u' it is positive definite, close to the boundary too."""
    rng = np.random.default_rng(rows)
    batch = Batch("second_order", 0, 2, rows)
    s, z = rng.standard_normal((2, 2, rows))
    s[:, 0], z[:, 0] = (np.linalg.norm(m[:, 1:], axis=1) * (1.0 + near) for m in (s, z))
    scalings, whole = system_of_cones((batch,), s.reshape(-1), z.reshape(-1))
    square = np.stack([scalings.w(scalings.w(e)) for e in np.eye(2 * rows)], axis=1)
    for c in range(2):
        own = slice(c * rows, (c + 1) * rows)
        diagonal, (u, w) = -whole[own, own], whole[own, 2 * (rows + c) :][:, :2].T
        definite = diagonal - np.outer(w, w)
        size = float(np.abs(square[own, own]).max())
        assert np.array_equal(diagonal, np.diag(np.diag(diagonal)))
        np.testing.assert_allclose(definite + np.outer(u, u), square[own, own], atol=1e-10 * size)
        assert np.linalg.eigvalsh(definite / size)[0] > -1e-12


PROGRAMS = {
    "linear": "minimize dot(c, x)\nsubject to\n  A @ x <= b\n  x >= -2\n  sum(x) == 1",
    "quadratic": "minimize sum_squares(x[:4]) + dot(c, x)\nsubject to\n  A @ x <= b\n  x >= 0",
    "second-order": "minimize dot(c, x) + norm2(A @ x - b)\nsubject to\n  norm2(x) <= 3\n  norm2(x[:4]) <= 2 + x[5]",
    "exponential": "minimize sum(exp(A @ x)) + dot(c, x)\nsubject to\n  norm_inf(x) <= 2",
    "entropy": "minimize entropy(x + 3) + dot(c, x)\nsubject to\n  sum(x) == 1\n  x >= -2\n  A @ x <= b + 20",
    "power": "minimize norm_p(A @ x - b, 3) + dot(c, x)\nsubject to\n  norm1(x) <= 2",
}


def posed(name: str, unit: float = 1.0) -> fw.Problem:
    rng = np.random.default_rng(7)
    A = sp.random_array((15, 8), density=0.4, rng=rng, format="csr")
    head = "data A: matrix[m, n], b: vector[m], c: vector[n]\nvar x: vector[n]\n"
    b = unit * np.abs(rng.standard_normal(15))
    return fw.parse(head + PROGRAMS[name]).bind(A=A, b=b, c=0.3 * rng.standard_normal(8))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_optimum_is_that_of_the_other_systems(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = posed(name)
    with np.errstate(all="ignore"):  # as the driver has it
        run = stepped(problem, "interior", 1)
    assert isinstance(run, InteriorRun) and run.systems.quasidefinite is not None
    found = problem.solve(method="interior", tol=1e-8)
    without_patterns(monkeypatch)
    other = problem.solve(method="interior", tol=1e-8)
    assert found.status == other.status == "optimal"
    assert found.objective == pytest.approx(other.objective, rel=1e-6, abs=1e-6)


def test_a_poor_factor_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The run goes on with the other systems, and so does one that is resumed from it, where a step gains nothing."""
    problem = posed("linear")
    expected = problem.solve(method="interior", tol=1e-8)
    whole = stepped(problem, "interior", 3)
    monkeypatch.setattr(quasidefinite, "POOR", -1.0)
    monkeypatch.setattr(InteriorRun, "_gap", lambda self: math.inf)
    whole.step()
    assert isinstance(whole, InteriorRun) and whole.state.filled
    whole.step()
    assert whole.systems.quasidefinite is None
    monkeypatch.undo()
    again = resumed(whole, tmp_path, {})
    for run in (whole, again):
        for _ in range(3):
            run.step()
    assert isinstance(again, InteriorRun) and again.systems.quasidefinite is None
    assert np.array_equal(whole.state.v, again.state.v) and np.array_equal(whole.state.z, again.state.z)
    monkeypatch.setattr(quasidefinite, "POOR", -1.0)
    found = problem.solve(method="interior", tol=1e-8)
    assert found.status == "optimal" and found.objective == pytest.approx(expected.objective, rel=1e-6, abs=1e-6)


def test_a_poor_factor_is_kept_while_its_steps_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = posed("linear")
    expected = problem.solve(method="interior", tol=1e-8)
    monkeypatch.setattr(quasidefinite, "POOR", -1.0)
    run = stepped(problem, "interior", 5)
    assert isinstance(run, InteriorRun) and run.systems.quasidefinite is not None and not run.state.filled
    found = problem.solve(method="interior", tol=1e-8)
    assert found.status == "optimal" and found.objective == pytest.approx(expected.objective, rel=1e-6, abs=1e-6)


def test_no_pattern_is_looked_for_where_it_would_cost_more() -> None:
    P, A, _ = mixed(1)
    assert pattern_of(P, A, MIXED, 0.0, lambda: None) is None
    assert pattern_of(P.toarray(), A, MIXED, np.inf, lambda: None) is None
    assert pattern_of(P, A, (*MIXED[:-1], Batch("semidefinite", 28, 1, 6)), np.inf, lambda: None) is None


def test_products_with_a_small_matrix_that_is_written_down_are_those_of_the_maps() -> None:
    """Gram matrices, columns, and the least step onto rows that are missed."""
    rng = np.random.default_rng(2)
    posed_as = posed("second-order")
    plain, written = (PreparedProblem(posed_as.canonical, 1, 0) for _ in range(2))
    written.writes_down = True
    assert plain.matrix is None and written.matrix is not None
    free = np.array([0, 2, 5])
    rows = [t.map.rows for t in plain.terms]
    weights = [rng.random(n) for n in rows]
    some = [np.arange(0, n, 2) for n in rows]
    misses = [rng.standard_normal(n) * (np.arange(n) < 1) for n in rows]
    active = [miss != 0.0 for miss in misses]
    np.testing.assert_allclose(written.gram(free, weights), plain.gram(free, weights), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(written.columns(free, some), plain.columns(free, some), rtol=1e-12, atol=1e-12)
    found = [least_step(problem, active, misses, np.ones(plain.size)) for problem in (plain, written)]
    assert found[0] is not None and found[1] is not None
    np.testing.assert_allclose(found[0], found[1], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_what_has_no_diagonal_comes_after_a_neighbour(seed: int) -> None:
    """An unknown without a square comes after one of its rows, an equation after one of its unknowns; else its number of D would be the shift."""
    rng = np.random.default_rng(seed)
    A = mixed(seed)[1]
    P = sp.csr_array(np.diag(np.where(np.arange(12) < 9, 0.0, 1.0)))
    row, column = quasidefinite._coordinates(P, A, MIXED)
    waits = quasidefinite._waiting(P, A, MIXED, np.bincount(A.indices, minlength=12), int(row.max()) + 1)
    few = quasidefinite._order_of_few(row, column, waits.size, waits)
    assert np.array_equal(np.sort(few), np.arange(waits.size))
    dense = A.toarray() != 0.0
    # in an order of few an equation that comes after another of its unknowns will do, too
    for place, first in ((quasidefinite._supported(rng.permutation(12 + ROWS), P, A, MIXED), 3), (few, 0)):
        for j in range(9):
            assert place[12 + first + np.flatnonzero(dense[first:, j])].min() < place[j]
        for r in range(3):
            assert not dense[r].any() or place[:12][dense[r]].min() < place[12 + r]


def test_the_pattern_of_an_earlier_program_serves_the_next_one_with_the_same_places() -> None:
    """The numbers may be others. A square that is 0, or another cone, makes another pattern; and a step may take no longer than allowed."""
    P, A, _ = mixed(0)
    P = sp.csr_array(P + sp.eye_array(12))
    found = pattern_of(P, A, MIXED, np.inf, lambda: None)
    assert pattern_of(2.0 * P, sp.csr_array(3.0 * A), MIXED, np.inf, lambda: None) is found
    assert pattern_of(P, A, MIXED, 1e-9, lambda: None) is None
    plain = P.copy()
    plain.data[:] = np.where(plain.indices == np.repeat(np.arange(12), np.diff(plain.indptr)), 0.0, plain.data)
    other = Batch("zero", 0, 1, 2), Batch("nonnegative", 2, 1, 7), *MIXED[2:]
    for own in (pattern_of(plain, A, MIXED, np.inf, lambda: None), pattern_of(P, A, other, np.inf, lambda: None)):
        assert own is not None and own is not found
    for _ in range(quasidefinite.KEPT):
        A = sp.csr_array(sp.vstack([A[1:], A[:1]]))
        pattern_of(P, A, MIXED, np.inf, lambda: None)
    assert len(quasidefinite._patterns) == quasidefinite.KEPT


def eliminated(edges: list[tuple[int, int]], place: np.ndarray) -> list[int]:
    """The neighbours that each vertex has left when it is eliminated in this order."""
    near: list[set[int]] = [set() for _ in place]
    for i, j in edges:
        near[i].add(j)
        near[j].add(i)
    found = []
    for k in np.argsort(place).tolist():
        found.append(len(near[k]))
        for i in near[k]:
            near[i] |= near[k]
            near[i] -= {i, k}
    return found


def order_of(edges: list[tuple[int, int]], size: int, made: Any = kernel) -> np.ndarray:
    """The order in which vertices joined by these edges are eliminated."""
    row, column = np.array(edges, dtype=np.intp).reshape(-1, 2).T.copy()
    place = np.full(size, -1)
    numbers = np.zeros((size, -(-size // 32)), dtype=np.int64), *np.zeros((2, size), dtype=np.intp)
    made(least_degrees)(row, column, np.zeros(size, dtype=np.bool_), *numbers, place)
    assert np.array_equal(np.sort(place), np.arange(size))
    return place


def test_trees_bands_and_stars_are_eliminated_without_new_neighbours() -> None:
    size = 70
    tree = [(i, (i - 1) // 2) for i in range(1, size)]
    band = [(i, j) for i in range(size) for j in range(max(0, i - 3), i)]
    star = [(0, i) for i in range(1, size)]
    for edges in (tree, band, star, [(i, j) for i in range(9) for j in range(i)], []):
        assert sum(eliminated(edges, order_of(edges, size))) == len(edges)


@pytest.mark.parametrize("seed", range(5))
def test_vertices_are_eliminated_at_about_the_least_degree(seed: int) -> None:
    """Compared with the order that takes one of the least degree each time; compiled or not, the order is the same."""
    rng = np.random.default_rng(seed)
    size = 90
    edges = sorted({(max(p), min(p)) for p in rng.integers(0, size, (160, 2)).tolist() if p[0] != p[1]})
    place = order_of(edges, size)
    assert np.array_equal(place, order_of(edges, size, Uncompiled))
    near: list[set[int]] = [{j for e in edges if i in e for j in e} - {i} for i in range(size)]
    left, total = set(range(size)), 0
    while left:
        k = min(left, key=lambda i: len(near[i]))
        left.remove(k)
        total += len(near[k])
        for i in near[k]:
            near[i] |= near[k]
            near[i] -= {i, k}
    assert sum(eliminated(edges, place)) <= 1.2 * total


@pytest.mark.parametrize("rows", [100, 200])
def test_sparse_equations_beside_a_long_cone_of_lengths_are_priced_and_solved(rows: int) -> None:
    """The cone adds two unknowns to the system and no matrix of its size; what random rows leave is counted."""
    A, b, bound = random_equations(rows)
    form = bound.canonical
    size = size_of(form)
    assert not size.fills and size.quick < size.seconds
    found = bound.solve(method="interior", tol=1e-7)
    x = cp.Variable(2 * rows)
    reference = cp.Problem(cp.Minimize(cp.norm(x) + 0.1 * cp.norm1(x)), [A @ x == b]).solve(solver=cp.CLARABEL)
    assert found.status == "optimal" and found.objective == pytest.approx(reference, rel=1e-5)


def test_no_order_is_looked_for_where_a_large_factor_may_fill_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding one takes long, which the end of a run does not wait for."""
    for limit, expected in ((10, True), (200, False)):
        monkeypatch.setattr(sizes, "UNORDERED", limit)
        bound = random_equations(100)[2]
        problem = PreparedProblem(bound.canonical, 1, 0)
        assert size_of(bound.canonical).fills is expected
        assert (InteriorRun(problem).pattern is None) is expected


def random_equations(rows: int) -> tuple[Any, Any, Any]:
    """A, b and a program whose solution is the shortest one of A x = b, with ten entries in each row of A."""
    rng = np.random.default_rng(5)
    A = sp.random_array((rows, 2 * rows), density=5.0 / rows, rng=rng, format="csr", data_sampler=rng.standard_normal)
    b = A @ rng.standard_normal(2 * rows)
    text = "data A: matrix[m, n], b: vector[m]\nvar x: vector[n]\nminimize norm2(x) + 0.1 * norm1(x)\nsubject to A @ x == b\n"
    return A, b, fw.parse(text).bind(A=A, b=b)


@pytest.mark.parametrize("batch", MIXED[1:], ids=lambda b: f"{b.kind} {b.rows}")
def test_squares_are_those_of_the_scalings(batch: Batch) -> None:
    """The numbers that a system has of a cone, its further unknowns eliminated, are those of -W'W."""
    rng = np.random.default_rng(4)
    batches = (batch._replace(start=0),)
    cones = Cones.of(batches)
    m = cones.rows
    scalings, whole = system_of_cones(batches, *(cones.unit() * (1.0 + 0.2 * rng.random(m)) for _ in range(2)))
    inner, outer = whole[:m, :m], whole[:m, m:]
    square = outer @ np.linalg.solve(whole[m:, m:], outer.T) - inner
    for v in rng.standard_normal((3, m)):
        np.testing.assert_allclose(square @ v, scalings.wt(scalings.w(v)), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("across", [False, True])
def test_long_rows_come_last_and_fill_no_more(across: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """An order of the rest is enough where a few rows, or a few unknowns, meet all others."""
    rng = np.random.default_rng(3)
    n, k = 900, 60
    dense = sp.csr_array(rng.standard_normal((k, n)))
    P = sp.csr_array(sp.eye_array(n if not across else k, format="csr"))
    A = sp.csr_array(sp.vstack([sp.eye_array(n), dense])) if not across else sp.csr_array(sp.vstack([dense.T, dense.T]))
    batches = [Batch("nonnegative", 0, 1, A.shape[0])]

    def numbers() -> int:
        found = pattern_of(P, A, batches, np.inf, lambda: None)
        assert found is not None
        size = P.shape[0] + A.shape[0]
        assert np.array_equal(np.sort(found.place), np.arange(size))
        return int(found.rows.size)

    monkeypatch.setattr(quasidefinite, "SMALL", 0)
    few = numbers()
    monkeypatch.setattr(quasidefinite, "LONG", size := P.shape[0] + A.shape[0])
    assert few <= 1.05 * numbers() and few < size**2 / 4
