"""Workers give the bits of one process, however the rows are shared out."""

import gc

import numpy as np
import pytest
from distributed import Client

import fwdsl as fw
from fwdsl.cluster.driver import Cluster
from fwdsl.readers.held_rows import is_held
from tests.cluster.programs import PROGRAMS, data, problem, same

X, TARGETS = data()
SPARSE, _ = data(sparse=True)


@pytest.fixture(scope="module", params=[pytest.param(1, marks=pytest.mark.slow), 2, 3])
def cluster(local, request):
    """The rows in one share, in two, or in three, of which one worker has two."""
    with (
        Client(local, set_as_default=False) as client,
        Cluster(client, shares=request.param) as found,
    ):
        yield found


def solved(made, cluster):
    session = made._session
    session.bind()
    return session.held_by(cluster).solve()


@pytest.mark.parametrize("name", ["logistic", "softmax", "low_rank"])
def test_bits_are_those_of_one_process(name, cluster):
    made = problem(name, X, TARGETS)
    held = solved(made, cluster)
    assert is_held(held.instance.values["X"])
    assert same(made.solve(threads=2), held)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["dense", "sparse", "by_columns", "float32"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_bits_of_all_programs(name, kind, cluster):
    A = {"dense": X, "sparse": SPARSE, "by_columns": np.asfortranarray(X), "float32": X.astype(np.float32)}[kind]
    made = problem(name, A, TARGETS)
    held = solved(made, cluster)
    assert is_held(held.instance.values["X"])
    assert same(made.solve(threads=1), held)


def test_observed_entries_stay_in_this_process_and_the_plan_says_so(client):
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 60, 900), rng.integers(0, 40, 900)
    values = np.outer(np.arange(60.0), np.ones(40))[rows, columns] / 60.0
    text = "data M: entries[n, p]\nvar X: matrix[n, p]\nminimize mean(squared(X[M], M)) + 0.01 * norm_nuc(X)\n"
    told = "the entries of `M` stay in this process"
    for method in ("lowrank", "block_fw", "factored_fw"):
        made = fw.parse(f"{text}solve method = {method}, tol = 1e-2\n").bind(M=(rows, columns, values))
        held = made.bind(client=client)
        assert told in str(held.plan()) and told not in str(made.plan())
    assert same(made.solve(), held.solve())


def test_a_path_uses_the_rows_again_and_leaves_nothing_behind(client):
    whole = problem("lasso", X, TARGETS)
    text = str(whole).split("# bound")[0].replace("0.1 *", "mu *").replace("var w", "param mu: positive\nvar w")
    made = fw.parse(text).bind(X=X, y=TARGETS["vector"], mu=1.0)
    mus = [1.0, 0.3, 0.1]
    alone = [s["w"] for s in made.path(mu=mus).solutions]
    held = made.bind(client=client)
    together = held.path(mu=mus)
    assert all(np.array_equal(a, s["w"]) for a, s in zip(alone, together.solutions, strict=True))
    cluster = held._session.cluster
    assert all(len(share.holds) == 1 for share in cluster.shares)
    # each solve sent the targets anew, and those of solves that are over are let go
    del together
    gc.collect()
    assert all(len(share.terms) <= 1 for share in cluster.shares)


@pytest.mark.slow
def test_folds_of_rows_in_memory_are_handed_out_too(client):
    text = "data X: matrix[n, p], y: signs[n]\nparam mu: positive = 0.1\nvar w: vector[p]\n"
    text += "minimize mean(logistic(X @ w, y)) + mu * norm1(w)\nsolve method = apg, tol = 1e-6\n"
    made = fw.parse(text).bind(X=X, y=TARGETS["signs"])
    alone = made.path(mu=[0.1, 0.01], folds=2)
    together = made.bind(client=client).path(mu=[0.1, 0.01], folds=2)
    assert alone.best == together.best and np.array_equal(alone.solution["w"], together.solution["w"])
