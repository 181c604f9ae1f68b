"""Workers give the bits of one process, however the rows are shared out."""

import numpy as np
import pytest
from distributed import Client

from fwdsl.cluster.driver import Cluster
from fwdsl.readers.held_rows import is_held
from tests.cluster.programs import PROGRAMS, data, problem, same

X, TARGETS = data()
SPARSE, _ = data(sparse=True)


@pytest.fixture(scope="module", params=[1, 2, 3])
def cluster(local, request):
    """The rows in one share, in two, or in three, of which one worker has two."""
    with Cluster(Client(local, set_as_default=False, direct_to_workers=True), shares=request.param) as found:
        yield found


def solved(made, cluster):
    session = made._session
    session.bind()
    return session.held_by(cluster).solve()


@pytest.mark.parametrize("name", ["logistic", "softmax", "quantile"])
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
