"""Planning with families of many blocks: what is asked of a block's set is asked once."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.vectors.l1_ball import L1Ball


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
