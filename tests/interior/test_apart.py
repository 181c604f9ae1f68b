"""Parts of a program that share no row: their systems are factored each by itself, with the answers of the whole one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array

import fwdsl as fw
from fwdsl.backends.interior.apart import parts_of
from fwdsl.backends.interior.directions import scalings_of
from fwdsl.backends.interior.run import InteriorRun
from fwdsl.backends.interior.sizes import size_of
from tests.runs import stepped, without_patterns

TEXT = """data A: matrix[m, n], b: vector[m], E: matrix[k, n], f: vector[k], c: vector[n]
var x: vector[n] in nonnegative
minimize dot(c, x){}
subject to A @ x <= b, E @ x == f, x <= 3
"""


def blocks(count: int, size: int, seed: int = 0) -> dict[str, object]:
    """A program of so many parts, their rows and unknowns mixed, with an equation in each."""
    rng = np.random.default_rng(seed)
    n, x = count * size, rng.random(count * size)
    A, E = (block_diag([rng.standard_normal((rows, size)) for _ in range(count)]).toarray() for rows in (size // 2, 2))
    order = rng.permutation(n)
    A, E = A[rng.permutation(A.shape[0])][:, order], E[rng.permutation(E.shape[0])][:, order]
    b = A @ x + rng.random(A.shape[0])
    c = -A.T @ rng.random(b.size) + E.T @ rng.standard_normal(E.shape[0])
    return {"A": csr_array(A), "b": b, "E": csr_array(E), "f": E @ x, "c": c}


@pytest.mark.parametrize(("count", "size", "parts"), [(2, 80, 2), (5, 30, 5), (60, 5, 30)])
@pytest.mark.parametrize("curved", ["", " + 0.5 * sum_squares(x)"])
def test_parts_have_the_answers_of_the_whole(
    count: int, size: int, parts: int, curved: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Small parts are taken together. The system at a scaling far from one, and the optimum."""
    problem = fw.parse(TEXT.format(curved)).bind(**blocks(count, size))
    without_patterns(monkeypatch)
    monkeypatch.setattr("fwdsl.backends.interior.run.size_of", lambda form: size_of(form)._replace(kind="condensed"))
    answers: list[np.ndarray] = []
    found = []
    for apart in (True, False):
        if not apart:
            monkeypatch.setattr("fwdsl.backends.interior.system.parts_of", lambda A, P, batches: ())
        run = stepped(problem, "interior", 4)
        assert isinstance(run, InteriorRun)
        assert len(run.systems.parts) == (parts if apart else 0)
        if not answers:
            point = run.state.s, run.state.z
        draw = np.random.default_rng(1)
        p, r = draw.standard_normal(run.c.size), draw.standard_normal(run.b.size)
        answers.append(np.concatenate(run.systems.at(run.batches, scalings_of(run.batches, *point))(p, r)))
        found.append(problem.solve(method="interior", tol=1e-8))
    assert answers[0] == pytest.approx(answers[1], rel=1e-6, abs=1e-6 * float(np.abs(answers[1]).max()))
    assert [s.status for s in found] == ["optimal"] * 2
    assert found[0].objective == pytest.approx(found[1].objective, rel=1e-6)


def test_parts_of_small_programs() -> None:
    """Curvature joins unknowns, zeros that are stored do not; rows without an entry are in the first part, and unknowns that no row sees in one."""
    A = csr_array(np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.0]]))
    P = np.zeros((4, 4))
    P[0, 1] = P[1, 0] = 1.0
    rows, columns = zip(*parts_of(A, csr_array(P), ()), strict=True)
    assert [list(c) for c in columns] == [[0, 1], [2], [3]]
    assert sorted(int(i) for r in rows for i in r) == [0, 1, 2]
    P[1, 2] = P[2, 1] = P[2, 3] = P[3, 2] = 1.0
    assert parts_of(A, csr_array(P), ()) == ()
    stored = csr_array((np.array([1.0, 0.0, 2.0]), (np.array([0, 0, 1]), np.array([0, 1, 1]))), (2, 2))
    assert len(parts_of(stored, csr_array((2, 2)), ())) == 2


def test_the_plan_says_so() -> None:
    problem = fw.parse(TEXT.format("")).bind(**blocks(5, 40))
    assert "5 parts that share no row, each factored by itself" in problem.plan(method="interior").render()
