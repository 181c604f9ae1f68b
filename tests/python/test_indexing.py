"""NumPy's ways of indexing on expressions: what is meant, or what to write instead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw

RNG = np.random.default_rng(0)
SIGNAL = np.cumsum(RNG.normal(size=12))
W0 = RNG.normal(size=(4, 3))
MASK = np.array([True, False, True, True, False, False])


def values(index: Any, shape: tuple[int, ...]) -> Any:
    """The entries that an index takes of a variable that must equal an array, and those that NumPy takes."""
    target = np.arange(1.0, 1.0 + np.prod(shape)).reshape(shape)
    x = fw.vector(shape[0], name="x") if len(shape) == 1 else fw.matrix(*shape, name="x")
    taken = fw.let("taken", index(x))
    problem = fw.minimize(fw.sum_squares(x - target) + 0 * fw.sum(taken))
    assert fw.parse(problem.to_fw()).to_fw() == problem.to_fw()
    return problem.solve(tol=1e-12).evaluate("taken"), index(target)


@pytest.mark.parametrize(
    ("index", "shape"),
    [
        (lambda x: x[1:] - x[:-1], (6,)),
        (lambda x: x[-1], (6,)),
        (lambda x: x[-3:], (6,)),
        (lambda x: x[-4:-1], (6,)),
        (lambda x: x[np.int64(-2)], (6,)),
        (lambda x: x[0], (4, 3)),
        (lambda x: x[-1], (4, 3)),
        (lambda x: x[:, 0], (4, 3)),
        (lambda x: x[:, -1], (4, 3)),
        (lambda x: x[1:, :-1] - x[:-1, 1:], (4, 3)),
        (lambda x: x[-1, -1], (4, 3)),
        (lambda x: x[MASK], (6,)),
        (lambda x: x[MASK.tolist()], (6,)),
        (lambda x: x[[0, 2]], (6,)),
        (lambda x: x[np.array([-1, 0, 0])], (6,)),
        (lambda x: x[::2], (6,)),
        (lambda x: x[1:6:3], (6,)),
        (lambda x: x[::-1], (6,)),
        (lambda x: (x @ np.ones(3))[MASK[:4]], (4, 3)),
        (lambda x: x[:, MASK[:3]], (4, 3)),
        (lambda x: x[:, ::2], (4, 3)),
        (lambda x: x[::-1, [2, 0]], (4, 3)),
        (lambda x: x[-2:, 1], (4, 3)),
    ],
)
def test_what_numpy_takes(index: Any, shape: tuple[int, ...]):
    found, expected = values(index, shape)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_differences_along_a_dimension_that_data_bind():
    x = fw.vector("n", name="x")
    y = fw.data("y", fw.vector_type("n"))
    problem = fw.minimize(fw.sum_squares(x - y) + 0.5 * fw.norm1(x[1:] - x[:-1]))
    text = fw.parse("data y: vector[n]\nvar x: vector[n]\nminimize sum_squares(x - y) + 0.5 * norm1(x[1:] - x[:-1])")
    built, read = (p.bind(y=SIGNAL).solve(tol=1e-9) for p in (problem, text))
    assert built.objective == pytest.approx(read.objective, rel=1e-8)


def test_blocks_of_a_family_need_not_all_be_addressed():
    F = fw.family(3, fw.vector_type(2), name="F")
    problem = fw.minimize(fw.sum_squares(F[np.array([0, 1, 1])]) + fw.sum_squares(F[-1] - np.ones(2)))
    assert "index[3] of 3" in problem.to_fw()
    np.testing.assert_allclose(np.asarray(problem.solve(tol=1e-9)["F"])[2], 1.0, atol=1e-4)


x, W, n, F = fw.vector(6, name="x"), fw.matrix(4, 3, name="W"), fw.vector("n", name="x"), None
REFUSED = [
    (lambda: W[np.ones((4, 3), dtype=bool)], "write B[M]", "entries_type", ""),
    (lambda: fw.family(2, fw.vector_type(2))[MASK], "F[task.astype(int)]", "", ""),
    (lambda: x[np.array([0.0, 1.5])], "positions.astype(int)", "", ""),
    (lambda: x[2.0], "whole numbers", "", ""),
    (lambda: x["a"], "whole numbers", "", ""),
    (lambda: x[np.True_], "whole numbers", "", ""),
]


@pytest.mark.parametrize(("refused", "words"), [(f, words) for f, *words in REFUSED])
def test_what_is_refused_says_what_to_write(refused: Any, words: list[str]):
    with pytest.raises(fw.BuildError) as error:
        refused()
    assert error.value.code == "FW0308"
    assert all(word in error.value.hint for word in words)


def test_positions_are_data_of_their_own():
    J = fw.data("J", np.array([4, 1, 1]))
    problem = fw.minimize(fw.sum_squares(x - np.arange(6.0)) + fw.sum_squares(x[J] - np.ones(3)) + fw.norm1(x[J]))
    assert "data J: index[3] of 6" in problem.to_fw() and "x[J]" in problem.to_fw()
    text = "data J: index[k] of n, y: vector[n]\nvar x: vector[n]\nminimize sum_squares(x - y) + sum_squares(x[J] - 1) + norm1(x[J])\n"
    read = fw.parse(text).bind(J=np.array([4, 1, 1]), y=np.arange(6.0)).solve(tol=1e-9)
    assert problem.solve(tol=1e-9).objective == pytest.approx(read.objective, rel=1e-8)
    np.testing.assert_allclose(fw.data("D", W0)[MASK[:4]].depth, 2)


def test_a_slice_of_a_family_may_have_a_step():
    F = fw.family(3, fw.vector_type(2), name="F")
    problem = fw.minimize(fw.sum_squares(F[::2]) + fw.sum_squares(F[1] - np.ones(2)))
    np.testing.assert_allclose(np.asarray(problem.solve(tol=1e-9)["F"])[1], 1.0, atol=1e-4)


def test_data_that_index_a_family_or_observe_a_matrix_stay():
    F = fw.let("G", 2 * fw.family(2, fw.vector_type(2), name="F"))
    task = fw.data("task", np.array([0, 1, 1]))
    assert repr(F[task]) == "G[task]"
    M = fw.data("M", fw.entries_type(4, 3))
    assert repr(W[M]) == "W[M]"
