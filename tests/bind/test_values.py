"""Values become arrays; those that are right already are not copied."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

MATRIX = "data X: matrix[n, p]"
VECTOR = "data b: vector[n]"
X = np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_floats_are_passed_on_by_reference(bound, dtype, order):
    given = np.array(X, dtype=dtype, order=order)
    instance = bound(MATRIX, X=given)
    assert np.shares_memory(instance.values["X"], given)
    assert instance.values["X"].dtype == dtype
    assert instance.dims == {"n": 2, "p": 3}
    assert instance.origins == {"X": "bind(X=...)"}


def test_a_memory_map_stays_one(bound, tmp_path):
    given = np.memmap(tmp_path / "X.bin", np.float64, "w+", shape=(4, 3))
    given[:] = 1.0
    instance = bound(MATRIX, X=given)
    assert instance.values["X"] is given
    assert instance.stats["X"].mapped
    view = bound(MATRIX, X=np.asarray(given)[1:])
    assert view.stats["X"].mapped
    assert not bound(MATRIX, X=X).stats["X"].mapped


@pytest.mark.parametrize(
    "given",
    [
        X.astype(int),
        X.astype(bool) * X,
        X.tolist(),
        X.astype(np.float16),
        X.astype(">f8"),
        X.astype(np.longdouble),
        np.ma.array(X, mask=False),
        np.asmatrix(X),
    ],
    ids=["int", "product", "list", "half", "big-endian", "long", "unmasked", "np.matrix"],
)
def test_other_numbers_become_float64(bound, given):
    value = bound(MATRIX, X=given).values["X"]
    assert type(value) is np.ndarray
    assert value.dtype == np.float64 and value.dtype.isnative
    assert np.array_equal(value, X)


def test_whatever_has_array_is_taken(bound):
    class Frame:
        def __array__(self, dtype=None, copy=None):
            return X

    assert np.shares_memory(bound(MATRIX, X=Frame()).values["X"], X)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_sparse_data_of_any_form_become_csr(bound, make, form):
    value = bound(MATRIX, X=make(X).asformat(form)).values["X"]
    assert isinstance(value, sp.csr_array)
    assert value.indices.dtype == np.int32 and value.indptr.dtype == np.int32
    assert value.has_canonical_format
    assert np.array_equal(value.toarray(), X)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_csr_shares_its_memory(bound, make, dtype):
    given = make(X.astype(dtype))
    value = bound(MATRIX, X=given).values["X"]
    assert np.shares_memory(value.data, given.data)
    assert np.shares_memory(value.indices, given.indices)
    assert value.dtype == dtype


def test_wide_indices_that_fit_are_narrowed_and_the_numbers_shared(bound):
    given = sp.csr_array(X)
    given.indices, given.indptr = given.indices.astype(np.int64), given.indptr.astype(np.int64)
    value = bound(MATRIX, X=given).values["X"]
    assert value.indices.dtype == np.int32
    assert np.shares_memory(value.data, given.data)


def test_duplicates_are_added_up_without_touching_what_was_given(bound):
    given = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([1, 1, 0]), np.array([0, 3])), shape=(1, 2))
    value = bound(MATRIX, X=given).values["X"]
    assert value.toarray().tolist() == [[5.0, 3.0]]
    assert given.data.tolist() == [1.0, 2.0, 5.0]
    assert given.indices.tolist() == [1, 1, 0]


def test_a_column_is_a_vector_by_reference(bound):
    column = np.arange(3.0).reshape(-1, 1)
    value = bound(VECTOR, b=column).values["b"]
    assert value.shape == (3,)
    assert np.shares_memory(value, column)
    assert bound(VECTOR, b=sp.csc_array(column)).values["b"].tolist() == [0.0, 1.0, 2.0]


def test_a_sparse_vector_of_one_axis_is_made_dense(bound):
    assert bound(VECTOR, b=sp.coo_array(np.array([0.0, 4.0]))).values["b"].tolist() == [0.0, 4.0]


def test_signs_that_are_right_are_not_copied(bound):
    given = np.array([1.0, -1.0, 1.0])
    instance = bound("data y: signs[n]", y=given)
    assert np.shares_memory(instance.values["y"], given)
    assert instance.maps["y"] == (-1.0, 1.0)


@pytest.mark.parametrize(
    ("given", "low", "high"),
    [
        ([0, 1, 1], 0, 1),
        ([2.0, 7.5, 7.5], 2.0, 7.5),
        (["a", "b", "b"], "a", "b"),
        ([False, True, True], False, True),
        (np.array(["a", "b", "b"], dtype=object), "a", "b"),
        (np.array([-1, 1, 1]), -1, 1),
        (sp.csr_array(np.array([[0.0], [1.0], [1.0]])), 0.0, 1.0),
    ],
    ids=["integers", "floats", "words", "booleans", "objects", "integer signs", "sparse"],
)
def test_two_values_are_mapped_to_signs(bound, given, low, high):
    instance = bound("data y: signs[n]", y=given)
    assert instance.values["y"].tolist() == [-1.0, 1.0, 1.0]
    assert instance.values["y"].dtype == np.float64
    assert instance.maps["y"] == (low, high)


def test_a_table_of_signs(bound):
    instance = bound("data Y: signs[n, k]", Y=sp.csr_array([[0, 1, 0], [1, 0, 0]]))
    assert instance.values["Y"].tolist() == [[-1, 1, -1], [1, -1, -1]]
    assert instance.dims == {"n": 2, "k": 3}


@pytest.mark.parametrize(
    ("given", "codes", "classes"),
    [
        ([5, 2, 9, 5], [1, 0, 2, 1], (2, 5, 9)),
        (["b", "a", "b"], [1, 0, 1], ("a", "b")),
        (np.array(["b", "a"], dtype=object), [1, 0], ("a", "b")),
        ([1.5, -1.0], [1, 0], (-1.0, 1.5)),
        ([[3], [1]], [1, 0], (1, 3)),
    ],
    ids=["integers", "words", "objects", "floats", "column"],
)
def test_labels_are_coded_in_sorted_order_and_bind_their_number(bound, given, codes, classes):
    instance = bound("data y: labels[n, k]", y=given)
    assert instance.values["y"].tolist() == codes
    assert instance.values["y"].dtype == np.int64
    assert instance.maps["y"] == classes
    assert instance.dims == {"n": len(codes), "k": len(classes)}


def test_labels_without_a_number_of_classes(bound):
    assert bound("data y: labels[n]", y=[3, 1, 3]).dims == {"n": 3}


def test_an_index_binds_its_positions(bound):
    given = np.array([0, 2, 1])
    instance = bound("data task: index[n] of T", task=given)
    assert instance.dims == {"n": 3, "T": 3}
    assert np.shares_memory(instance.values["task"], given)
    assert bound("data task: index[n] of T, F: tensor[T, n]", task=[0.0, 1.0], F=np.ones((5, 2))).dims["T"] == 5


def test_scalars_tensors_and_families(bound):
    text = "data s: positive, T: tensor[n, d, d], F: family[m] of vector[d]"
    instance = bound(text, s=np.float32(2), T=np.ones((4, 3, 3)), F=[[1, 2, 3], [4, 5, 6]])
    assert instance.values["s"] == 2.0 and isinstance(instance.values["s"], float)
    assert instance.dims == {"n": 4, "d": 3, "m": 2}
    assert {k: v.storage for k, v in instance.stats.items()} == {"s": "scalar", "T": "dense", "F": "dense"}


def test_literals(bound):
    text = 'data A: matrix[2, 2] = [[1, 0], [0, -2]], b: vector[n] = [1, 2, 3], y: signs[n] = ["no", "yes", "no"]'
    instance = bound(text)
    assert instance.values["A"].tolist() == [[1, 0], [0, -2]]
    assert instance.values["b"].tolist() == [1, 2, 3]
    assert instance.values["y"].tolist() == [-1, 1, -1]
    assert instance.maps["y"] == ("no", "yes")
    assert set(instance.origins.values()) == {"the declaration"}


def test_a_value_wins_over_a_literal(bound):
    assert bound("data b: vector[n] = [1, 2, 3]", b=[4.0]).values["b"].tolist() == [4.0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (X + 1j, "complex numbers"),
        (np.array([[None, 1]]), "Python objects"),
        ([["a", "b"]], "text"),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "dates"),
        ([[1, 2], [3]], "rows of different lengths"),
        (object(), "is an object"),
        (sp.csr_array(X + 1j), "complex numbers"),
    ],
    ids=["complex", "objects", "text", "dates", "ragged", "object", "complex sparse"],
)
def test_what_is_not_real_numbers_is_refused(found, given, words):
    (d,) = found(MATRIX, X=given)
    assert d.code == "FW4504"
    assert words in d.message
    assert "`X: matrix[n, p]`" in d.message
    assert d.source.slice(d.span) == "X: matrix[n, p]"


def test_a_damaged_sparse_matrix_is_refused_before_anything_reads_it(found):
    for form in ("csr", "csc"):
        given = sp.csr_array(X).asformat(form)
        given.indices[0] = 70
        (d,) = found(MATRIX, X=given)
        assert d.code == "FW4504" and "damaged" in d.message


@pytest.mark.parametrize(
    ("text", "given", "message"),
    [
        (MATRIX, np.ones(5), "`X: matrix[n, p]` got an array of shape (5,)"),
        (MATRIX, 3.0, "`X: matrix[n, p]` got a single number"),
        ("data X: vector[n]", np.ones((1, 5)), "`X: vector[n]` got an array of shape (1, 5)"),
        ("data X: vector[n]", np.ones((5, 2)), "`X: vector[n]` got an array of shape (5, 2)"),
        ("data X: labels[n, k]", [[1, 2], [3, 4]], "`X: labels[n, k]` got an array of shape (2, 2)"),
        ("data X: signs[n, k]", [0, 1], "`X: signs[n, k]` got an array of shape (2,)"),
        (MATRIX, np.ones((0, 3)), "`X: matrix[n, p]` got an empty array of shape (0, 3)"),
    ],
)
def test_the_wrong_shape_is_told_beside_the_declared_one(found, text, given, message):
    (d,) = found(text, X=given)
    assert (d.code, d.message) == ("FW4505", message)


def test_a_sparse_tensor_is_refused(found):
    (d,) = found("data X: tensor[n, d, d]", X=sp.csr_array(X))
    assert d.code == "FW4505" and "sparse" in d.message


@pytest.mark.parametrize("given", ["three", 1j, [1, 2], None])
def test_a_scalar_is_one_real_number(found, given):
    (d,) = found("data s: real", s=given)
    assert d.code == "FW4512"


@pytest.mark.parametrize(
    ("given", "where", "value"),
    [
        (np.array([[1.0, 2.0], [np.nan, 1.0]]), "`X[1, 0]`", "nan"),
        (sp.csr_array([[0.0, 0.0], [0.0, -np.inf]]), "`X[1, 1]`", "-inf"),
        (np.ma.array([[1.0, 2.0]], mask=[[False, True]]), "`X[0, 1]`", "nan"),
    ],
    ids=["dense", "sparse", "masked"],
)
def test_numbers_that_are_not_finite_are_located(found, given, where, value):
    (d,) = found(MATRIX, X=given)
    assert d.code == "FW4021"
    assert d.message == f"{where} is `{value}`, where a finite number is needed"


def test_at_most_three_entries_of_an_array_are_listed(found):
    diagnostics = found("data T: tensor[n, 2, 2]", T=np.full((4, 2, 2), np.nan))
    assert [d.message.split()[0] + d.message.split()[1] + d.message.split()[2] for d in diagnostics] == [
        "`T[0,0,0]`",
        "`T[0,0,1]`",
        "`T[0,1,0]`",
    ]


@pytest.mark.parametrize("given", [[1, 2, 3], [1, 1, 1], ["a", "b", "c"]])
def test_signs_of_more_or_fewer_values(found, given):
    (d,) = found("data y: signs[n]", y=given)
    assert d.code == "FW4050"
    assert d.message.startswith("`y` has")


def test_a_list_with_a_value_that_is_missing_tells_which(found):
    (d,) = found("data t: vector[n]", t=[1.0, None, 2.0])
    assert d.code == "FW4021" and "`t[1]`" in d.message


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        (np.array(["2020-01-01"], dtype="M8[D]"), "days since a date"),
        (np.array([3], dtype="m8[s]"), "unit of time"),
        (["1.5", "2"], "words are labels, declared `signs[n]` or `labels[n, k]`"),
        ([{"a": 1.0}, {"a": 2.0}], "pandas.DataFrame(rows)"),
    ],
)
def test_what_is_advised_for_a_vector_that_is_no_numbers(found, given, hint):
    (d,) = found("data t: vector[n]", t=given)
    assert d.code == "FW4504" and hint in d.hint and "column" not in d.hint


@pytest.mark.parametrize(
    ("given", "code"),
    [([1.0, np.nan], "FW4021"), (["a", None], "FW4021"), ([1, "a"], "FW4504"), (np.array([1j, 2]), "FW4504")],
)
@pytest.mark.parametrize("kind", ["signs", "labels"])
def test_labels_that_are_none(found, kind, given, code):
    (d,) = found(f"data y: {kind}[n]", y=given)
    assert d.code == code


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([0, 1.5], "`t[1]` is `1.5`, which is not a whole number"),
        ([0, -1], "`t[1]` is `-1`, which is no position from 0"),
        ([True, False], "`t: index[n] of 3` holds truth values, where positions are needed"),
        (np.array([[True], [False]]), "`t: index[n] of 3` holds truth values, where positions are needed"),
        ([0, 4], "`t[1]` is 4, but `t: index[n] of 3` has positions 0 to 2"),
    ],
)
def test_positions_outside_an_index(found, given, message):
    (d,) = found("data t: index[n] of 3", t=given)
    assert (d.code, d.message) == ("FW4515", message)
