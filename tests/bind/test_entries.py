"""Observed entries: every way to give them, sizes and ids, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.bind import Bindings, bind
from fwdsl.bind.evaluate import evaluate
from fwdsl.bind.values import Entries
from fwdsl.model import Expr, Type
from fwdsl.readers.roles import Triplets
from fwdsl.results.fingerprint import of_array

FREE = "data M: entries[n, p]"
ROWS, COLUMNS, VALUES = np.array([0, 1, 2, 2]), np.array([3, 0, 1, 1]), np.array([1.0, 2.0, 3.0, 4.0])
GIVEN = {
    "triple": (ROWS, COLUMNS, VALUES),
    "lists": ([0, 1, 2, 2], [3, 0, 1, 1], [1, 2, 3, 4]),
    "whole floats": (ROWS.astype(float), COLUMNS.astype(np.int32), VALUES.astype(int)),
    "table": np.column_stack([ROWS, COLUMNS, VALUES]),
    "coo": sp.coo_array((VALUES, (ROWS, COLUMNS)), shape=(3, 4)),
    "entries": Entries(ROWS, COLUMNS, VALUES, (3, 4)),
}


@pytest.mark.parametrize("form", GIVEN)
def test_every_form_is_the_same_observations(bound, form):
    instance = bound(FREE, M=GIVEN[form])
    M = instance.values["M"]
    assert isinstance(M, Entries) and len(M) == 4 and M.shape == (3, 4)
    assert instance.dims == {"n": 3, "p": 4, "len(M)": 4} and instance.maps == {}
    for ours, exact in ((M.rows, ROWS), (M.columns, COLUMNS), (M.values, VALUES)):
        assert np.array_equal(ours, exact)
    assert M.rows.dtype == M.columns.dtype == np.int64 and M.dtype == np.float64
    stats = instance.stats["M"]
    assert (stats.shape, stats.storage, stats.nnz, stats.nbytes) == ((3, 4), "entries", 4, M.nbytes)


def test_a_literal_is_a_list_of_triples(bound):
    M = bound(f"{FREE} = [[0, 1, 5], [1, 0, 6], [2, 2, 7]]").values["M"]
    assert (M.rows.tolist(), M.columns.tolist(), M.values.tolist()) == ([0, 1, 2], [1, 0, 2], [5.0, 6.0, 7.0])


def test_stored_zeros_and_a_shape_that_is_not_full_are_kept(bound):
    matrix = sp.csr_array(([0.0, 2.0], ([0, 1], [1, 1])), shape=(5, 6))
    instance = bound(FREE, M=matrix)
    assert instance.values["M"].values.tolist() == [0.0, 2.0]
    assert instance.dims == {"n": 5, "p": 6, "len(M)": 2}


def test_single_precision_stays(bound):
    assert bound(FREE, M=(ROWS, COLUMNS, VALUES.astype(np.float32))).values["M"].dtype == np.float32


def test_signs_are_mapped(bound):
    instance = bound("data M: entries[n, p] of signs", M=(ROWS, COLUMNS, np.array(["no", "yes", "no", "no"])))
    assert instance.values["M"].values.tolist() == [-1.0, 1.0, -1.0, -1.0] and instance.maps == {"M": ("no", "yes")}


def test_as_a_target_they_are_their_values(bound):
    instance = bound(f"{FREE}, B: matrix[n, p]", M=GIVEN["triple"], B=np.arange(12.0).reshape(3, 4))
    M, B = Expr("data", Type("entries", ("n", "p")), name="M"), Expr("data", Type("matrix", ("n", "p")), name="B")
    assert instance.evaluate(M) is instance.values["M"].values
    observed = Expr("observe", Type("vector", ("len(M)",)), (B, M))
    assert instance.evaluate(observed).tolist() == [3.0, 4.0, 9.0, 9.0]
    sparse = {**instance.values, "B": sp.csr_array(instance.values["B"])}
    assert evaluate(observed, instance.dims, sparse).tolist() == [3.0, 4.0, 9.0, 9.0]


def test_fingerprints_see_rows_columns_and_values():
    prints = {
        of_array(Entries(ROWS, COLUMNS, VALUES, (3, 4))),
        of_array(Entries(COLUMNS, ROWS, VALUES, (3, 4))),
        of_array(Entries(ROWS, COLUMNS, -VALUES, (3, 4))),
        of_array(Entries(ROWS, COLUMNS, VALUES, (4, 4))),
    }
    assert len(prints) == 4


# --- ids -------------------------------------------------------------------------------------------------------------


def test_words_are_numbered_in_sorted_order(bound):
    instance = bound(FREE, M=(["eve", "adam", "eve"], [0, 2, 1], [1, 2, 3]))
    M = instance.values["M"]
    assert M.rows.tolist() == [1, 0, 1] and M.row_ids == ("adam", "eve") and M.column_ids is None
    assert instance.maps == {"M.rows": ("adam", "eve")} and instance.dims["n"] == 2


def triplets(rows: object, columns: object, base: int = 0) -> Triplets:
    return Triplets(np.array(rows), np.array(columns), np.ones(len(np.array(rows))), base, 1)


def test_ids_of_a_file_are_numbered_where_nothing_gives_the_size(bound):
    instance = bound(FREE, M=triplets([70, 20, 70], ["b", "a", "c"]))
    M = instance.values["M"]
    assert M.rows.tolist() == [1, 0, 1] and M.columns.tolist() == [1, 0, 2] and M.shape == (2, 3)
    assert instance.maps == {"M.rows": (20, 70), "M.columns": ("a", "b", "c")}


@pytest.mark.parametrize(
    ("text", "given"), [("entries[4, p]", {}), ("entries[n, p], B: matrix[n, 2]", {"B": np.ones((4, 2))})]
)
@pytest.mark.parametrize("base", [0, 1])
def test_ids_of_a_file_are_positions_where_the_size_is_known(bound, text, given, base):
    instance = bound(f"data M: {text}", M=triplets([base, base + 2], ["b", "a"], base), **given)
    M = instance.values["M"]
    assert M.rows.tolist() == [0, 2] and M.shape == (4, 2) and M.row_ids is None and M.column_ids == ("a", "b")


def test_data_that_share_a_dimension_share_its_ids(bound):
    text = "data M: entries[n, p], N: entries[p, q]"
    instance = bound(text, M=triplets([1, 1], ["u", "w"]), N=triplets(["v", "u"], [5, 5]))
    assert instance.values["M"].columns.tolist() == [0, 2] and instance.values["N"].rows.tolist() == [1, 0]
    assert instance.maps["M.columns"] == instance.maps["N.rows"] == ("u", "v", "w")
    graph = bound("data M: entries[n, n]", M=triplets([30, 10], [10, 20])).values["M"]
    assert graph.shape == (3, 3) and graph.rows.tolist() == [2, 0] and graph.columns.tolist() == [0, 1]


def test_positions_in_python_give_the_size_that_all_need(bound):
    instance = bound("data M: entries[n, p], N: entries[n, p]", M=([0], [5], [1]), N=([2, 0], [0, 1], [1, 1]))
    assert instance.values["M"].shape == instance.values["N"].shape == (3, 6)


def test_new_data_keep_to_the_ids_of_the_fit(declare, tmp_path: Path):
    labels = {"M.rows": ("adam", "eve"), "M.columns": (3, 5, 8)}
    model = declare(FREE)
    instance, found = bind(model, Bindings({"M": triplets(["eve"], [8])}, labels=labels), tmp_path)
    assert found == () and instance is not None
    M = instance.values["M"]
    assert (M.rows.tolist(), M.columns.tolist(), M.shape) == ([1], [2], (2, 3))
    instance, found = bind(model, Bindings({"M": triplets(["kain"], [8])}, labels=labels), tmp_path)
    assert instance is None and [d.code for d in found] == ["FW4519"]


# --- what is wrong ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        (5, "FW4505", "got a int, which is no list of observed entries"),
        (np.ones((3, 4)), "FW4505", "got a ndarray, which is no list of observed entries"),
        ((ROWS, COLUMNS, VALUES[:3]), "FW4505", "got 4 rows, 4 columns and 3 values"),
        (([], [], []), "FW4505", "got no entry"),
        ((ROWS + 0.5, COLUMNS, VALUES), "FW4519", "`M[0]` has `0.5` among its rows, which is no position from 0"),
        ((ROWS, COLUMNS - 1, VALUES), "FW4519", "the column `-1`"),
        ((ROWS + 1j, COLUMNS, VALUES), "FW4504", "has rows that are neither positions nor words"),
        ((ROWS, COLUMNS, [1, 2, np.nan, 4]), "FW4021", "`M[2]` is `nan`"),
        (([[1], [2, 3]], COLUMNS, VALUES), "FW4504", "has rows that are no array"),
        ((ROWS, np.ones((2, 2)), VALUES), "FW4505", "has columns in an array of shape (2, 2)"),
        ((ROWS, COLUMNS, object()), "FW4505", "has values in an array of shape ()"),
        ((ROWS, COLUMNS, [None] * 4), "FW4504", "holds no values"),
        ((ROWS, COLUMNS, ["1", "2", "3", "4"]), "FW4504", "holds text"),
    ],
)
def test_what_is_no_list_of_observations(found, given, code, words):
    (d,) = found(FREE, M=given)
    assert d.code == code and words in d.message


def test_positions_outside_the_matrix(found):
    (d,) = found("data M: entries[3, p]", M=([0, 3], [0, 0], [1, 2]))
    assert d.code == "FW4519" and "the row `3`" in d.message and "`M: entries[3, p]`" in d.message
    (d,) = found(f"{FREE}, B: matrix[n, p]", M=GIVEN["triple"], B=np.ones((3, 3)))
    assert d.code == "FW4519" and "the column `3`" in d.message


def test_a_shape_that_is_not_that_of_other_data(found):
    (d,) = found(f"{FREE}, B: matrix[n, p]", M=GIVEN["coo"], B=np.ones((3, 5)))
    assert d.code == "FW4506" and "4" in d.message and "5" in d.message


def test_more_than_two_signs(found):
    (d,) = found("data M: entries[n, p] of signs", M=(ROWS, COLUMNS, VALUES))
    assert d.code == "FW4050" and "`M`" in d.message


def test_a_promise_that_is_broken(found):
    (d,) = found("data M: entries[n, p] in nonnegative", M=(ROWS, COLUMNS, -VALUES))
    assert d.code == "FW4516" and "`M[0]`" in d.message


def test_missing_entries(found):
    (d,) = found(FREE)
    assert d.code == "FW4501"
