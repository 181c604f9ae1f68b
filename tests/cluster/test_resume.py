"""Runs with workers that go on from a saved state, with workers or without, and data that only got more rows."""

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.cli.app import run
from fwdsl.cluster.driver import Cluster
from fwdsl.solve.state import load_state, save_state
from tests.cluster.programs import PROGRAMS, completion, data, observed, problem, quick, same

X, TARGETS = data()
SAVED = {"quantile": 60}
"""The iteration that is saved, where it is not one in the middle."""

ENTRIES = ("penalty", "block", "factored", "away")
"""Programs of observed entries."""


@pytest.mark.parametrize("name", quick((*PROGRAMS, *(f"completion {name}" for name in ENTRIES)), "logistic"))
def test_a_run_goes_on_from_its_state_with_workers_and_without(name, client, tmp_path):
    kind, _, entries = name.partition(" ")
    made = completion(entries, observed()) if entries else problem(kind, X, TARGETS)
    alone = made._session
    whole, at = alone.solve(), tmp_path / "state.npz"
    iteration = SAVED.get(name, max(1, whole.iterations // 2))
    with Cluster(client) as cluster:
        session = alone.held_by(cluster)
        form, saved = session.canonicalise(), []

        def keep(state):
            if state.iteration == iteration and not saved:
                save_state(at, form, state)
                saved.append(iteration)

        assert same(whole, session.solve(on_state=keep)) and saved
        assert same(whole, session.solve(resume=load_state(at, form)))
    assert same(whole, alone.solve(resume=load_state(at, alone.canonicalise())))


@pytest.mark.parametrize("loss", quick(("squared(X @ w, y)", "quantile(X @ w, y, tau=0.3)"), "squared(X @ w, y)"))
def test_more_rows_start_from_the_answer_with_workers(loss, tmp_path, capsys, local):
    method = "apg" if "squared" in loss else "pdhg"
    (tmp_path / "p.fw").write_text(
        'fw 1\ndata X: matrix[n, p] from npy("X.npy"), y: vector[n] from npy("y.npy")\nvar w: vector[p]\n'
        f"minimize mean({loss}) + 0.05 * norm1(w)\nsolve method = {method}, tol = 1e-5\n"
    )

    def told(n, *more):
        np.save(tmp_path / "X.npy", X[:n])
        np.save(tmp_path / "y.npy", TARGETS["vector"][:n])
        code = run(["run", str(tmp_path / "p.fw"), "--workers", local.scheduler_address, *more])
        out = capsys.readouterr()
        assert code == 0 and "status      optimal" in out.out and "workers: " in out.err
        return out.err

    state = str(tmp_path / "state.npz")
    told(len(X) - 20, "--checkpoint", state)
    grown = told(len(X), "--resume", state)
    assert "starts from the answer in" in grown and "20 rows less of `X` and `y`" in grown


@pytest.mark.slow
def test_a_grid_uses_the_rows_again(client):
    text = "data X: matrix[n, p], y: vector[n]\nparam mu: positive = 0.1, nu: positive = 0.1\nvar w: vector[p]\n"
    text += "minimize mean(squared(X @ w, y)) + mu * norm1(w) + nu * sum_squares(w)\nsolve method = apg, tol = 1e-4\n"
    made = fw.parse(text).bind(X=X, y=TARGETS["vector"])
    points = {"mu": [0.1, 0.3], "nu": [0.01, 0.1]}
    held = made.bind(client=client)
    alone, together = made.grid(points).solutions, held.grid(points).solutions
    assert len(alone) == len(together) == 4 and all(map(same, alone, together))
    assert all(len(share.holds) == 1 for share in held._session.cluster.shares)
