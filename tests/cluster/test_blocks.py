"""Matrices that Python gives in blocks of rows are never in memory as a whole, and give the bits of those that are."""

import re
from functools import partial

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.bind import bindings
from fwdsl.errors import DataError
from fwdsl.readers import decoded
from fwdsl.readers.in_blocks import piled
from fwdsl.readers.memory import size
from fwdsl.readers.row_blocks import DenseRows, SparseRows
from tests.cluster.programs import D, N, data, problem, same

X, TARGETS = data()
SPARSE, _ = data(sparse=True)


def generated():
    for a in range(0, N, 1700):
        yield X[a : a + 1700]


def generated_sparse():
    for a in range(0, N, 1700):
        yield SPARSE[a : a + 1700]


def together():
    for a in range(0, N, 1700):
        yield {"X": X[a : a + 1700], "y": TARGETS["signs"][a : a + 1700]}


GIVEN = {
    "array": lambda: da.from_array(X, chunks=(1500, 25)),
    "frame": lambda: dd.from_pandas(pd.DataFrame(X, columns=[f"c{i}" for i in range(D)]), npartitions=4),
    "function": lambda: generated,
    "iterator": lambda: iter([X[:10], X[10:]]),
}


@pytest.fixture
def outgrown(monkeypatch, tmp_path):
    """All matrices outgrow memory."""
    monkeypatch.setattr(bindings, "SHARE", 10**12)
    monkeypatch.setattr(bindings, "HELD_STAYS", 0)
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("kind", GIVEN)
def test_blocks_have_the_bits_of_the_whole(kind, outgrown, monkeypatch):
    whole = problem("simplex", X, TARGETS).solve()
    found = problem("simplex", GIVEN[kind](), TARGETS).solve(memory="8GB")
    held = found.instance.values["X"]
    assert isinstance(held, DenseRows) and same(whole, found)
    assert all(str(outgrown) in file for file in held.files)


def test_the_rows_go_with_the_matrix(outgrown):
    found, _ = piled(generated, "X", 0)
    assert isinstance(found, DenseRows) and len(list(outgrown.glob("rows-*"))) == 1
    del found
    assert not list(outgrown.glob("rows-*"))


def test_sparse_blocks(outgrown):
    found, _ = piled(generated_sparse, "X", 0)
    assert isinstance(found, SparseRows) and (found.rows(0, N) != SPARSE).nnz == 0
    inside, _ = piled(generated_sparse, "X", None)
    assert sp.issparse(inside) and (inside != SPARSE).nnz == 0


def test_small_blocks_stay_in_memory_and_columns_keep_their_names():
    found, names = piled(GIVEN["frame"](), "X", None)
    assert isinstance(found, np.ndarray) and np.array_equal(found, X) and names[:2] == ("c0", "c1")


class Reader:
    def blocks(self):
        return map(np.asarray, (X[:5], X[5:]))


@pytest.mark.parametrize(
    "given", [lambda: iter([X[:5], X[5:]]), Reader().blocks, partial(iter, [X[:5], X[5:]]), lambda: [X[:5], X[5:]]]
)
def test_functions_without_a_yield_may_make_iterators(given):
    assert same(problem("lasso", X, TARGETS).solve(), problem("lasso", given, TARGETS).solve())


def without_any():
    yield from ()


def broken():
    yield X[:5]
    raise KeyError("price")


@pytest.mark.parametrize(
    ("given", "words", "help"),
    [
        (lambda: iter([]), "read once", "give the function"),
        (lambda: without_any, "gives no block of rows$", "see that `without_any` comes to a `yield`"),
        (lambda: iter([X[:5], X[:5, :3]]), "3 columns in block 2 and 60 before", "the same columns"),
        (lambda: iter([X[0]]), "no matrix of numbers as block 1", "an array of numbers with two axes"),
        (lambda: iter([[[1.0], [1.0, 2.0]]]), "no matrix of numbers as block 1", "an array of numbers with two axes"),
        (lambda: (1 / 0 for _ in range(2)), "block 1 ended in ZeroDivisionError: division by zero", "what makes it"),
        (lambda: lambda rows: iter(rows), "cannot be had from `<lambda>`: .* missing 1 ", "without arguments"),
        (lambda: partial(float, 1), "cannot be had from `float`: .* not iterable", "makes an iterator of blocks"),
        (lambda: broken, "block 2 ended in KeyError: 'price'", r"`for rows in broken\(\): pass`"),
    ],
)
def test_what_is_no_block_is_told(given, words, help):
    with pytest.raises(DataError) as error:
        problem("simplex", given(), TARGETS).solve()
    (told,) = error.value.diagnostics
    assert told.code == "FW4532" and re.search(words, told.message) and re.search(help, told.hint)
    assert told.rule.startswith("Blocks are taken in turn.")


def test_blocks_of_targets_that_cannot_be_had_are_told():
    def blocks():
        yield TARGETS["signs"][:5]
        raise KeyError("price")

    made = fw.parse("data X: matrix[n, p], y: signs[n]\nvar w: vector[p]\nminimize mean(logistic(X @ w, y))\n")
    with pytest.raises(DataError, match="`y` cannot be had: block 2 ended in KeyError") as error:
        made.bind(X=X, y=blocks).instance  # noqa: B018
    assert error.value.diagnostics[0].rule.startswith("Blocks are taken in turn.")


def test_a_disk_without_room_for_blocks_is_told(outgrown, monkeypatch):
    monkeypatch.setattr(decoded, "free_space", lambda _: 30_000_000)
    with pytest.raises(DataError) as error:
        problem("simplex", generated, TARGETS).solve(memory="8GB")
    (told,) = error.value.diagnostics
    assert told.code == "FW4093" and f"`{outgrown}`" in told.message and "FWDSL_CACHE_DIR" in told.hint
    first = next(generated()).nbytes
    assert f"{size(first)} or more are to be written, 30.0 MB are free, and 268.4 MB are to stay free" in told.message
    assert not list(outgrown.iterdir())


@pytest.mark.parametrize("where", ["memory", "client", "neither"])
def test_blocks_of_several_names(where, outgrown, client):
    made = fw.parse(
        "data X: matrix[n, p], y: signs[n]\nvar w: vector[p]\nminimize mean(logistic(X @ w, y)) + 0.1 * norm1(w)\n"
    )
    how = {"memory": {"memory": "8GB"}, "client": {"client": client}, "neither": {}}[where]
    found = made.bind(X=together, y=together).solve(method="apg", **how)
    assert same(made.bind(X=X, y=TARGETS["signs"]).solve(method="apg"), found)


def test_a_name_that_a_block_has_not_is_told():
    def blocks():
        yield {"X": X, "z": TARGETS["signs"]}

    with pytest.raises(DataError, match="`y` is not in block 1, which has `X`, `z`"):
        problem("simplex", blocks, {**TARGETS, "vector": blocks}).solve()


def test_workers_read_blocks_of_dask_that_were_never_pulled(client, outgrown):
    array = GIVEN["array"]()
    found = problem("simplex", array, TARGETS).solve(client=client)
    assert found.instance.values["X"].files and same(problem("simplex", X, TARGETS).solve(), found)
