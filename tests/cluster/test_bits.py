"""Workers give the bits of one process, however the rows are shared out."""

import gc
from itertools import combinations, pairwise

import numpy as np
import pytest
from distributed import Client
from scipy.sparse import save_npz

import fwdsl as fw
from fwdsl.bind import bindings
from fwdsl.bind.values import HeldEntries
from fwdsl.cluster import driver
from fwdsl.cluster.driver import Cluster
from fwdsl.readers.held_rows import is_held
from fwdsl.readers.row_blocks import is_on_disk
from tests.cluster.programs import COMPLETION, PROGRAMS, completion, data, observed, problem, quick, same

X, TARGETS = data()
ENTRIES = observed()
SPARSE, _ = data(sparse=True)


@pytest.fixture(scope="module", params=quick((1, 2, 3), 3))
def cluster(two_workers, request):
    """The rows in one share, in two, or in three, of which one worker has two."""
    with Client(two_workers, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        with Cluster(client, shares=request.param) as found:
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


@pytest.mark.parametrize("name", quick(COMPLETION, "signs"))
def test_observed_entries_have_the_bits_of_one_process(name, cluster):
    made = completion(name, ENTRIES)
    held = solved(made, cluster)
    assert isinstance(held.instance.values["M"], HeldEntries) and cluster.round_trips > 10
    assert same(made.solve(threads=1), held) and same(made.solve(threads=2), held)


TEN = (
    *("logistic", "lasso", "groups", "softmax", "smooth_hinge", "simplex", "quantile", "trace_norm", "portfolio"),
    "completion",
)
LEAVES = {"completion": 4}
"""Leaves of the data, where they are not three."""


@pytest.mark.slow
@pytest.mark.parametrize("name", TEN)
def test_ten_programs_have_the_same_bits_wherever_their_data_are(name, client, ratings, monkeypatch, tmp_path):
    made = completion("penalty", ENTRIES) if name == "completion" else problem(name, X, TARGETS)
    whole = made.solve(threads=1)
    assert same(whole, made.solve(threads=2))
    count = LEAVES.get(name, 3)
    for cuts in [c for k in range(count) for c in combinations(range(1, count), k)]:
        ranges = list(pairwise([0, *cuts, count]))
        with monkeypatch.context() as patched, Cluster(client, shares=len(ranges)) as cluster:
            patched.setattr(driver, "cut_evenly", only(count, ranges))
            held = solved(made, cluster)
            assert same(whole, held) and len([s for s in cluster.shares if s.busy]) == len(ranges)
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path))
    np.save(tmp_path / "X.npy", X)
    on_disk = completion("penalty", path=ratings) if name == "completion" else made.bind(X=tmp_path / "X.npy")
    for threads in (1, 2):
        found = on_disk.solve(memory="8GB", threads=threads)
        data_there = found.instance.values["M" if name == "completion" else "X"]
        assert data_there.stored is not None if name == "completion" else is_on_disk(data_there)
        assert same(whole, found)


def only(count, ranges):
    """These ranges of leaves, where matrices with as many of them are shared out."""
    return lambda of, _: ranges if of == count else pytest.fail(f"{of} leaves")


@pytest.fixture(scope="module")
def ratings(tmp_path_factory):
    """The observed entries as a file."""
    path = tmp_path_factory.mktemp("entries") / "m.coo"
    lines = (f"{i},{j},{float(v)!r}\n" for i, j, v in zip(*ENTRIES, strict=True))
    path.write_text("".join(lines), encoding="ascii")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("name", ["penalty", "factored"])
def test_workers_read_entries_that_stay_in_files(name, cluster, ratings, monkeypatch, tmp_path):
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path))
    made = completion(name, ENTRIES)
    in_files = completion(name, path=ratings)
    held = solved(in_files, cluster)
    entries = held.instance.values["M"]
    assert isinstance(entries, HeldEntries) and entries.stored is not None
    assert same(made.solve(), held) and same(held, in_files.solve())


@pytest.mark.slow
def test_large_entries_are_not_read_into_this_process(client, ratings, monkeypatch, tmp_path):
    monkeypatch.setattr(bindings, "HELD_STAYS", 0)
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path))
    text = str(completion("penalty", path=ratings)).replace(', memory = "8GB"', "")
    whole = fw.parse(text).solve()
    with Cluster(client) as cluster:
        found = fw.parse(text)._session.held_by(cluster).solve()
        entries = found.instance.values["M"]
        assert isinstance(entries, HeldEntries) and entries.stored is not None and same(whole, found)
        # what needs all of them at once has them
        for objective, variables in (
            ("mean(squared(X[M] + c, M)) + 0.0004 * norm_nuc(X)", ", c: real"),
            ("mean(squared(X[M] + 1, M)) + 0.0004 * norm_nuc(X)", ""),
        ):
            other = (
                f'data M: entries[n, p] from coo("{ratings}")\nvar X: matrix[n, p]{variables}\nminimize {objective}\n'
            )
            bound = fw.parse(other)._session.held_by(cluster).bind()
            assert bound.values["M"].stored is None and len(bound.values["M"]) == len(entries)


@pytest.mark.slow
def test_a_path_over_observed_entries_uses_them_again(client):
    mus = [4e-4, 3e-4]
    text = "data M: entries[n, p]\nparam mu: positive\nvar X: matrix[n, p]\n"
    text += "minimize mean(squared(X[M], M)) + mu * norm_nuc(X)\nsolve method = lowrank, tol = 1e-2\n"
    made = fw.parse(text).bind(M=ENTRIES, mu=1.0)
    alone = made.path(mu=mus).solutions
    held = made.bind(client=client)
    together = held.path(mu=mus).solutions
    assert all(map(same, alone, together))
    assert all(len(share.holds) == 1 for share in held._session.cluster.shares)


@pytest.mark.parametrize(
    ("text", "method", "why"),
    [
        ("mean(squared(X[M], M)) + 0.01 * norm_nuc(X)", "lowrank", "900 in 40 columns are too few to share out"),
        ("mean(squared(X[M], M)) + 0.01 * norm_nuc(X)", "block_fw", "900 in 40 columns are too few to share out"),
        ("mean(squared(X[M] + c, M)) + 0.01 * norm_nuc(X)", "lowrank", "`c` is minimised out over all of them"),
        ("mean(absolute(X[M], M)) + 0.01 * norm_nuc(X)", "pdhg", "is not a smooth loss of single predictions"),
    ],
)
def test_entries_that_workers_get_nothing_of_stay_here_and_the_plan_says_why(text, method, why, client):
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 60, 900), rng.integers(0, 40, 900)
    values = np.outer(np.arange(60.0), np.ones(40))[rows, columns] / 60.0
    variables = "data M: entries[n, p]\nvar X: matrix[n, p]" + (", c: real\n" if "c," in text else "\n")
    made = fw.parse(f"{variables}minimize {text}\nsolve method = {method}, tol = 1e-2\n")
    made = made.bind(M=(rows, columns, values))
    held = made.bind(client=client)
    told = "the entries of `M` stay in this process: "
    assert told in str(held.plan()) and why in str(held.plan()) and told not in str(made.plan())
    assert same(made.solve(), held.solve())


def test_the_plan_says_where_a_method_does_not_use_the_workers_that_hold_entries(client):
    made = completion("penalty", ENTRIES)
    held = made.bind(client=client)
    assert "worked on by this process alone" in str(held.plan(method="pdhg"))
    assert "this process" not in str(held.plan())


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


@pytest.mark.parametrize("kind", ["npy", "npz", "memory"])
def test_folds_have_the_bits_of_one_process(kind, client, tmp_path, monkeypatch):
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(bindings, "HELD_STAYS", 0)
    head, X_ = "data {}, y: signs[n]\nparam mu: positive\nvar w: vector[p]\n", SPARSE if kind == "npz" else X
    body = "minimize mean(logistic(X @ w, y)) + mu * norm1(w)\nsolve method = apg, tol = 1e-3\n"
    np.save(tmp_path / "X.npy", X)
    save_npz(tmp_path / "X.npz", SPARSE, compressed=False)
    plain = fw.parse(head.format("X: matrix[n, p]") + body).bind(y=TARGETS["signs"])
    source = "" if kind == "memory" else f' from {kind}("{tmp_path}/X.{kind}")'
    given = fw.parse(head.format(f"X: matrix[n, p]{source}") + body).bind(y=TARGETS["signs"])
    expected = plain.bind(X=X_).path(mu=[0.1, 0.01], folds=2)
    found = given.bind(client=client, **({} if source else {"X": X_})).path(mu=[0.1, 0.01], folds=2)
    assert is_held(found.solution.instance.values["X"])
    assert np.array_equal(found.by_fold, expected.by_fold) and same(expected.solution, found.solution)
