"""The active set's bookkeeping, starts as combinations of vertices, and oracles of many lines at once."""

from __future__ import annotations

import numpy as np
import pytest

from fwdsl.atoms.base import VectorFunction
from fwdsl.atoms.family import Repeated
from fwdsl.atoms.matrices import LinesSet
from fwdsl.atoms.vectors.box import Box
from fwdsl.atoms.vectors.group_ball import GroupBall
from fwdsl.atoms.vectors.l1_ball import L1Ball
from fwdsl.atoms.vectors.l2_ball import L2Ball
from fwdsl.atoms.vectors.linf_ball import LinfBall
from fwdsl.atoms.vectors.permutahedron import Permutahedron
from fwdsl.atoms.vectors.simplex import Simplex
from fwdsl.atoms.vectors.solid_simplex import SolidSimplex
from fwdsl.backends.frank_wolfe.atoms import ActiveState, atom_of
from fwdsl.backends.frank_wolfe.starts import combination
from fwdsl.backends.problem import PreparedProblem
from tests.frank_wolfe.problems import P, bound, matrix_bound, two_bound
from tests.runs import started

SIZE = 4


def test_weights_places_and_combinations_agree_with_a_dictionary() -> None:
    rng = np.random.default_rng(0)
    s, naive = ActiveState(0, np.zeros(SIZE)), {}
    for step in range(400):
        v = np.where(rng.random(SIZE) < 0.4, rng.integers(-2, 3, SIZE), 0).astype(np.float64)
        at = s.place_of(atom_of(v))
        np.testing.assert_array_equal(s.atom(at).dense(SIZE), v)
        weight = float(rng.random()) if rng.random() < 0.6 else 0.0
        s.weigh(at, weight)
        naive[tuple(v)] = weight
        live = {v: w for v, w in naive.items() if w > 0.0}
        assert s.live == len(live)
        if not live:
            continue
        if step % 7 == 0:
            total = sum(live.values())
            s.tidy()
            naive = {v: w / total for v, w in live.items()}
            live = naive
        np.testing.assert_allclose(s.combined(), sum(w * np.array(v) for v, w in live.items()), atol=1e-12)
        assert {tuple(a.dense(SIZE)): w for w, a in s.atoms()} == pytest.approx(live)
        c = rng.standard_normal(SIZE)
        worst, best, most, least = s.extremes(c)
        scores = [float(c @ np.array(v)) for v in live]
        assert (most, least) == (pytest.approx(max(scores)), pytest.approx(min(scores)))
        assert float(c @ s.atom(worst).dense(SIZE)) == pytest.approx(most)
        assert float(c @ s.atom(best).dense(SIZE)) == pytest.approx(least)


def test_a_dropped_vertex_comes_back_to_its_place_and_the_index_is_made_anew() -> None:
    s = ActiveState(0, np.zeros(SIZE))
    places = [s.place_of(atom_of(row)) for row in np.eye(SIZE)]
    s.weigh(places[1], 0.5)
    s.weigh(places[1], 0.0)
    assert s.live == 0 and s.place_of(atom_of(np.eye(SIZE)[1])) == places[1]
    s.index = None  # as a state has it that was read from a file
    assert [s.place_of(atom_of(row)) for row in np.eye(SIZE)] == places
    assert s.place_of(atom_of(np.zeros(SIZE))) == SIZE


@pytest.mark.parametrize("set_", ["l1_ball(1)", "simplex(1)", "solid_simplex(1)", "box(-0.2, 0.4)", "permutahedron(c)"])
@pytest.mark.parametrize("share", [0.4, 1.0])
def test_a_start_is_a_combination_of_vertices(set_: str, share: float) -> None:
    kernels = PreparedProblem(bound("squared", set_).canonical, 1)
    x = kernels.prox_g(share * np.array([0.3, 0.0, 0.5, -0.2, 0.0, 0.1]), 0.0)
    found = combination(kernels, x)
    assert sum(w for w, _ in found) == pytest.approx(1.0) and all(w > 0.0 for w, _ in found)
    np.testing.assert_allclose(sum(w * a.dense(P) for w, a in found), x, atol=1e-14)
    g = kernels.canonical.blocks[0].g
    if set_ in ("l1_ball(1)", "simplex(1)", "solid_simplex(1)"):
        # an oracle asked with a vertex's negative gives it back
        assert all(np.array_equal(g.lmo(-a.dense(P)), a.dense(P)) for _, a in found)
    else:
        assert len(found) == 1


@pytest.mark.parametrize(
    "problem", [matrix_bound("rows(simplex(1))"), matrix_bound("columns(l1_ball(2))"), two_bound()]
)
def test_a_start_in_a_product_pairs_the_factors_vertices(problem: object) -> None:
    kernels = PreparedProblem(problem.canonical, 1)  # type: ignore[attr-defined]
    x = kernels.prox_g(np.random.default_rng(1).standard_normal(kernels.size), 0.0)
    found = combination(kernels, x)
    assert sum(w for w, _ in found) == pytest.approx(1.0)
    np.testing.assert_allclose(sum(w * a.dense(kernels.size) for w, a in found), x, atol=1e-13)
    assert 1 < len(found) <= 2 * kernels.size


def test_a_warm_start_loses_nothing() -> None:
    problem = bound("logistic", "l1_ball(1)")
    best = problem.solve(method="blended_pairwise", tol=1e-10, threads=1)
    s = started(problem, "blended_pairwise", x=best["x"]).state
    assert s.value <= best.objective + 1e-14
    assert s.live == np.count_nonzero(best["x"])
    again = problem.solve(method="blended_pairwise", tol=1e-10, threads=1, start=best)
    assert again.status == "optimal" and again.iterations == 0


INNER: list[VectorFunction] = [
    L1Ball(SIZE, 1.5),
    L2Ball(SIZE, 1.5),
    LinfBall(SIZE, 1.5),
    Simplex(SIZE, 1.5),
    SolidSimplex(SIZE, 1.5),
    Permutahedron(SIZE, np.arange(4.0)),
    Box(SIZE, np.full(SIZE, -1.0), np.full(SIZE, 2.0)),
]


@pytest.mark.parametrize("inner", INNER, ids=lambda g: type(g).__name__)
@pytest.mark.parametrize("axis", [0, 1])
def test_lines_vertices_are_those_of_each_line(inner: VectorFunction, axis: int) -> None:
    rng = np.random.default_rng(2)
    lines = LinesSet((5, SIZE) if axis == 0 else (SIZE, 5), axis, inner)
    for c in (
        rng.standard_normal(20),
        np.zeros(20),
        np.round(rng.standard_normal(20)),
        np.abs(rng.standard_normal(20)),
    ):
        found = lines.lmo(c)
        each = [inner.lmo(np.ascontiguousarray(line)) for line in lines.lines(c)]
        np.testing.assert_allclose(lines.lines(found), each, rtol=1e-15, atol=0.0)


@pytest.mark.parametrize("inner", INNER, ids=lambda g: type(g).__name__)
def test_a_family_names_its_vertices(inner: VectorFunction) -> None:
    rng = np.random.default_rng(3)
    many = Repeated(inner, 3)
    seen: dict[tuple[int, ...], np.ndarray] = {}
    for _ in range(40):
        c = np.round(rng.standard_normal(12))
        name, vertex = many.vertex_id(c), many.lmo(c)
        if isinstance(inner, L2Ball):
            assert name is None
            continue
        np.testing.assert_array_equal(seen.setdefault(name, vertex), vertex)
    assert Repeated(GroupBall(SIZE, 1.0, [[0, 1], [2, 3]]), 2).vertex_id(np.ones(8)) is None
