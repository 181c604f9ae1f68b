"""Unknowns that are matrices in cones of their own: the reduced system has the answers of the whole one."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends.interior.cones import triangles
from fwdsl.backends.interior.directions import scalings_of
from fwdsl.backends.interior.matrix_loops import add_pairs, add_turned
from fwdsl.backends.interior.matrix_unknowns import MatrixUnknowns
from fwdsl.backends.interior.run import InteriorRun
from fwdsl.backends.interior.sizes import size_of
from fwdsl.backends.interior.system import Systems
from fwdsl.backends.kernels.compile import kernel
from tests.interior.test_runs import sized
from tests.runs import stepped

TEXTS = {
    "a diagonal": "var X: psd[n], t: vector[n] in box(0, 1)\nminimize trace(C @ X) + sum_squares(t)\nsubject to diag(X) - 2 * t <= 1, sum(X) == 2\n",
    "a sum of squares": "var X: psd[n]\nminimize sum_squares(X - C)\nsubject to diag(X) == 1, X[0, 1] <= 0.2\n",
    "a trace norm": "var X: matrix[n, n]\nminimize norm_nuc(X)\nsubject to diag(X) == 1, X[0, 1] - X[1, 0] >= 1\n",
    "two matrices": "var X: psd[n], Y: psd[n]\nminimize trace(C @ X) + trace(Y)\nsubject to diag(X) == 1, diag(X) + diag(Y) >= 3\n",
}


def problem_of(name: str, n: int = 7) -> fw.Problem:
    C = np.random.default_rng(2).standard_normal((n, n))
    return fw.parse("data C: symmetric[n]\n" + TEXTS[name]).bind(C=C + C.T)


@pytest.mark.parametrize("name", TEXTS)
def test_the_complement_has_the_answers_of_the_whole_system(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answers, objectives, scalings = [], [], None
    for kind in ("whole", "condensed"):
        monkeypatch.setattr("fwdsl.backends.interior.run.size_of", lambda form, kind=kind: sized(form, kind))
        run = stepped(problem_of(name), "interior", 4)
        assert isinstance(run, InteriorRun)
        assert (run.systems.matrices is not None) == (kind == "condensed")
        draw = np.random.default_rng(1)
        p, r = draw.standard_normal(run.c.size), draw.standard_normal(run.b.size)
        # a rotation of a scaling is one too
        scalings = scalings or scalings_of(run.batches, run.state.s, run.state.z)
        system = run.systems.at(run.batches, scalings)
        answers.append((*system(p, r), *system.products(p, r)))
        found = problem_of(name).solve(method="interior", tol=1e-8)
        assert found.status == "optimal"
        objectives.append(found.objective)
    for whole, reduced in zip(*answers, strict=True):
        assert reduced == pytest.approx(whole, rel=1e-6, abs=1e-6 * float(np.abs(whole).max()))
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-7)


def test_the_largest_cut_is_solved_by_it() -> None:
    """As cvxpy has it, in a system of as many rows as the graph has nodes."""
    n = 24
    C = np.random.default_rng(2).standard_normal((n, n))
    C = C + C.T
    text = "data C: symmetric[n]\nvar X: psd[n]\nmaximize trace(C @ X)\nsubject to diag(X) == 1\n"
    problem = fw.parse(text).bind(C=C)
    assert size_of(problem.canonical).kind == "condensed"
    found = problem.solve(method="interior")
    X = cp.Variable((n, n), PSD=True)
    expected = cp.Problem(cp.Maximize(cp.trace(C @ X)), [cp.diag(X) == 1]).solve(solver=cp.CLARABEL)
    assert found.status == "optimal"
    assert found.objective == pytest.approx(expected, rel=1e-5)


def test_a_matrix_of_least_trace_norm_is_planned_by_its_few_rows() -> None:
    """The unknowns of the norm are entries of its cone too."""
    draw = np.random.default_rng(3)
    seen = (draw.random((14, 11)) < 0.5).astype(float)
    M = draw.standard_normal((14, 2)) @ draw.standard_normal((2, 11))
    text = "data M: matrix[n, m], seen: matrix[n, m]\nvar X: matrix[n, m]\nminimize norm_nuc(X)\nsubject to seen * X == seen * M\n"
    problem = fw.parse(text).bind(M=M, seen=seen)
    found = size_of(problem.canonical)
    assert found.kind == "condensed"
    # beside a bound on all unknowns, which are then seen twice
    twice = fw.parse(text.rstrip() + ", X <= 1e3, X >= -1e3\n").bind(M=M, seen=seen)
    assert found.seconds < 0.3 * size_of(twice.canonical).seconds
    by_interior, by_pdhg = (problem.solve(method=method, tol=1e-7) for method in ("interior", "pdhg"))
    assert by_interior.status == by_pdhg.status == "optimal"
    assert by_interior.objective == pytest.approx(by_pdhg.objective, rel=1e-6)


def test_sparse_equations_beside_a_large_cone_have_a_complement() -> None:
    """Lovasz's theta: as many equations as edges."""
    n = 15
    G = np.random.default_rng(1).random((n, n)) < 0.2
    edges = np.triu(G, 1).astype(float) + np.triu(G, 1).T
    text = (
        "data edges: symmetric[n]\nvar X: psd[n]\nmaximize sum(X)\nsubject to trace(X) == 1, edges * X == zeros(n, n)\n"
    )
    run = stepped(fw.parse(text).bind(edges=edges), "interior", 2)
    assert isinstance(run, InteriorRun)
    assert run.systems.matrices is not None
    assert run.systems.matrices.few.size < n * (n + 1) // 2


def test_other_systems_are_left_alone() -> None:
    """A cone of an expression of the unknowns, or bounds of its entries that outnumber them."""
    texts = (
        "var X: symmetric[n]\nminimize trace(C @ X)\nsubject to X - C in psd, trace(X) >= 1, diag(X) == 1\n",
        "var X: psd[n]\nminimize trace(C @ X)\nsubject to trace(X) == 1, 0.5 - X in nonnegative\n",
    )
    C = np.eye(6)
    for text, few in zip(texts, (True, False), strict=True):
        run = stepped(fw.parse("data C: symmetric[n]\n" + text).bind(C=C), "interior", 1)
        assert isinstance(run, InteriorRun)
        found = MatrixUnknowns.of(run.A, run.P, run.batches, run.program.equations)
        assert (found is not None) == few


def test_squares_of_some_entries_beside_a_trace_norm_are_priced_with_their_cone() -> None:
    """The square of the observed entries is no multiple of the identity: no complement of few rows is left."""
    rng = np.random.default_rng(0)
    text = "data M: entries[n, p]\nvar B: matrix[n, p]\nminimize 1/2 * sum(squared(B[M], M)) + norm_nuc(B)"
    at = np.flatnonzero(rng.uniform(size=600) < 0.4)
    observed = sp.coo_array((rng.standard_normal(at.size), np.unravel_index(at, (30, 20))), shape=(30, 20))
    some = size_of(fw.parse(text).bind(M=observed).canonical)
    every = size_of(
        fw.parse("data M: matrix[n, p]\nvar B: matrix[n, p]\nminimize 1/2 * sum_squares(B - M) + norm_nuc(B)")
        .bind(M=rng.standard_normal((30, 20)))
        .canonical
    )
    assert some.seconds > 100.0 * every.seconds


def entries_of(rows: list[list[tuple[int, int, int]]], count: int, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Rows with entries (cone, p, q) as kernels read them, with numbers of their own."""
    found = sorted((c, j, p, q) for j, row in enumerate(rows) for c, p, q in row)
    cone, row, p, q = np.array(found, dtype=np.intp).T
    return np.searchsorted(cone, np.arange(count + 1)), row.copy(), p.copy(), q.copy(), rng.standard_normal(cone.size)


def matrices_of(entries: tuple[np.ndarray, ...], rows: int, count: int, n: int) -> np.ndarray:
    """L_j of each row and cone."""
    starts, row, p, q, value = entries
    found = np.zeros((rows, count, n, n))
    for c in range(count):
        for s in range(starts[c], starts[c + 1]):
            found[row[s], c, p[s], q[s]] += value[s]
            found[row[s], c, q[s], p[s]] += value[s]
    return found


def test_pairs_of_entries_are_products_with_the_matrices_of_the_cones() -> None:
    """<L_i, G L_j G>, in the upper triangle."""
    rng = np.random.default_rng(4)
    rows = [[(0, 1, 1)], [(0, 0, 2), (1, 3, 3)], [], [(1, 0, 1)], [(1, 3, 0), (0, 2, 2)]]
    entries, gram = entries_of(rows, 2, rng), np.zeros((5, 5))
    R = rng.standard_normal((2, 4, 4))
    G, L = R @ R.transpose(0, 2, 1), matrices_of(entries, 5, 2, 4)
    kernel(add_pairs)(*entries, G, gram)
    assert gram == pytest.approx(np.triu(np.einsum("icab,jcab->ij", L, G @ L @ G)), rel=1e-12, abs=1e-12)


def test_rows_of_few_entries_are_turned_by_outer_products() -> None:
    """(Q'L_j Q) times the shares, as vectors of all cones."""
    rng = np.random.default_rng(5)
    rows = [[(0, 1, 1), (0, 0, 2), (1, 2, 1)], [(1, 0, 0)], []]
    entries, Y = entries_of(rows, 2, rng), np.zeros((3, 12))
    Q, share = rng.standard_normal((2, 3, 3)), rng.uniform(0.5, 2.0, (2, 3, 3))
    share += share.transpose(0, 2, 1)
    kernel(add_turned)(*entries, Q, share, Y)
    expected = Q.transpose(0, 2, 1) @ matrices_of(entries, 3, 2, 3) @ Q * share
    assert pytest.approx(triangles(expected).reshape(3, -1), rel=1e-12, abs=1e-12) == Y


def test_dependent_equations_are_left_to_the_whole_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """No complement is definite then."""
    run = stepped(problem_of("two matrices"), "interior", 1)
    assert isinstance(run, InteriorRun)
    systems = Systems(run.P, run.A, run.batches, "condensed", lambda: None, lambda: None)
    scalings = scalings_of(run.batches, run.state.s, run.state.z)
    draw = np.random.default_rng(1)
    p, r = draw.standard_normal(run.c.size), draw.standard_normal(run.b.size)
    assert systems.matrices is not None
    expected = systems.at(run.batches, scalings)(p, r)

    def fails(*_: object) -> None:
        raise np.linalg.LinAlgError

    monkeypatch.setattr(MatrixUnknowns, "solver", fails)
    found = systems.at(run.batches, scalings)(p, r)
    assert systems.matrices is None
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, rel=1e-7, abs=1e-7 * float(np.abs(other).max()))
    for one, other in zip(systems.known(p, r), (run.A @ p, run.A.T @ r), strict=True):
        assert one == pytest.approx(other)
