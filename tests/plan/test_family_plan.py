"""Planning with families of many blocks: what is asked of a block's set is asked once."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.vectors.l1_ball import L1Ball
from fwdsl.canon import matrix_maps
from fwdsl.canon.maps import LinearMap
from fwdsl.canon.matrix_maps import Gathered


def test_the_sets_of_many_blocks_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    plain = L1Ball.lmo
    monkeypatch.setattr(L1Ball, "lmo", lambda self, c: asked.append(1) or plain(self, c))
    text = (
        "data U: matrix[5, 2], y: vector[5], t: index[5] of 400\nvar F: family[400] of vector[2] in l1_ball(0.7)\n"
        "minimize mean(squared(inner(U, F[t]), y))\n"
    )
    rng = np.random.default_rng(0)
    tasks = np.array([3, 399, 3, 0, 17])
    problem = fw.parse(text).bind(U=rng.normal(size=(5, 2)), y=rng.normal(size=5), t=tasks)
    assert "frank_wolfe" in problem.plan().render()
    assert len(asked) <= 20
    # each sample meets its own block
    (term,) = problem.canonical.terms
    F = rng.normal(size=(400, 2))
    np.testing.assert_allclose(term.map.apply(F.reshape(-1)), (problem.instance.values["U"] * F[tasks]).sum(axis=1))


def test_many_small_blocks_are_one_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    """The map is the same as block by block, and an answer too; samples without an order, blocks without samples."""
    rng = np.random.default_rng(1)
    T, n = 60, 90
    text = (
        "data X: matrix[n, d], y: vector[n], task: index[n] of T\nvar F: family[T] of vector[d]\n"
        "minimize mean(squared(inner(X, F[task]), y)) + 0.1 * sum_squares(F)\n"
    )
    data = {"X": rng.standard_normal((n, 3)), "y": rng.standard_normal(n), "task": rng.integers(0, T, n), "T": T}

    def made() -> tuple[LinearMap, fw.Solution]:
        bound = fw.parse(text).bind(**data)
        ((_, m),) = bound.canonical.terms[0].map.parts
        return m, bound.solve(tol=1e-9, threads=1)

    one, found = made()
    monkeypatch.setattr(matrix_maps, "MANY_BLOCKS", 10)
    whole, other = made()
    assert isinstance(one, Gathered) and one.whole is None
    assert isinstance(whole, Gathered) and whole.whole is not None
    x, y = rng.standard_normal(3 * T), rng.standard_normal(n)
    for a, b in ((one, whole), (one.absolute(), whole.absolute())):
        np.testing.assert_allclose(b.apply(x), a.apply(x), atol=1e-12)
        np.testing.assert_allclose(b.adjoint(y), a.adjoint(y), atol=1e-12)
    assert found.status == other.status == "optimal"
    assert other.objective == pytest.approx(found.objective, rel=1e-8)
