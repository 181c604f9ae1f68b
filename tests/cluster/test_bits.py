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


@pytest.mark.parametrize("name", ["logistic", "softmax"])
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
