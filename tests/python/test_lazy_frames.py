"""Lazy frames of polars, collections of dask and tables of Arrow are announced and pulled; columns of pandas may be nullable."""

from __future__ import annotations

import datetime
import logging
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.readers.frames import as_array, column_names, described, kind_of, not_numbers

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
T = X @ [1.0, -2.0, 0.5] + 0.01 * RNG.normal(size=40)
TEXT = """\
data X: matrix[n, p], t: vector[n]
var w: vector[p]
let z = X @ w
minimize mean(squared(z, t)) + 0.01 * norm1(w)
"""
SIGNS = "data X: matrix[n, p], t: signs[n]\nvar w: vector[p]\nminimize mean(logistic(X @ w, t)) + 0.1 * norm1(w)"


def lazy(columns: str = "abc") -> Any:
    return pytest.importorskip("polars").LazyFrame(X, schema=list("abc")).select(list(columns))


def dask_frame(columns: str = "abc") -> Any:
    frame = pytest.importorskip("pandas").DataFrame(X, columns=list("abc"))[list(columns)]
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)


def dask_array(columns: str = "abc") -> Any:
    return pytest.importorskip("dask.array").from_array(X, chunks=20)


def arrow(columns: str = "abc") -> Any:
    return pytest.importorskip("pyarrow").table({name: X[:, "abc".index(name)] for name in columns})


every = pytest.mark.parametrize("make", [lazy, dask_frame, dask_array, arrow])


def fitted(value: Any, t: Any = T) -> fw.Solution:
    return fw.parse(TEXT).bind(X=value, t=t).solve(threads=1)


@every
def test_they_are_announced_once_and_fitted(make: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "fwdsl.readers")
    value = make()
    solution = fitted(value)
    told = [record.getMessage() for record in caplog.records]
    assert told == [f"bind(X=...): {described(value)} is {'read' if make is arrow else 'pulled into memory'}"]
    np.testing.assert_allclose(solution["w"], fitted(X)["w"], rtol=1e-9)
    if make is not dask_array:
        assert solution.instance.maps["X.columns"] == ("a", "b", "c")


def test_what_is_known_before() -> None:
    assert described(lazy()) == "a polars LazyFrame of 3 columns"
    assert described(lazy("a")) == "a polars LazyFrame of 1 column"
    assert described(dask_frame()) == "a dask DataFrame of 3 columns, 3 parts"
    assert described(dask_array()) == "a dask Array of 40 x 3, 960 bytes, 2 parts"
    assert described(arrow()) == "a pyarrow Table of 40 x 3, 960 bytes"
    halves = dask_array()
    assert described(halves[halves[:, 0] > 0]) == "a dask Array of 2 parts"


@pytest.mark.parametrize("make", [lazy, dask_frame, arrow])
def test_new_rows_are_matched_by_name(make: Any, caplog: pytest.LogCaptureFixture) -> None:
    solution = fitted(make())
    caplog.set_level(logging.INFO, "fwdsl.readers")
    for predict in (solution.predict, solution.predictor("z"), lambda **data: solution.evaluate("z", **data)):
        caplog.clear()
        np.testing.assert_allclose(predict(X=make("cab")), X @ solution["w"], rtol=1e-12, atol=1e-12)
        assert make is arrow or len(caplog.records) == 1  # pulled once
    with pytest.raises(fw.DataError, match="no column `b`"):
        solution.predict(X=make("ac"))


def failing(frame: Any) -> Any:
    raise RuntimeError("this column is computed")


def test_only_the_columns_of_the_fit_are_computed() -> None:
    pl = pytest.importorskip("polars")
    solution = fitted(lazy())
    wide = lazy("cba").with_columns(bad=pl.col("a").map_batches(failing, return_dtype=pl.Float64))
    np.testing.assert_allclose(solution.predict(X=wide), X @ solution["w"], rtol=1e-12, atol=1e-12)
    with pytest.raises(fw.DataError, match="this column is computed") as error:
        fitted(wide)
    assert error.value.code == "FW4532"


def test_a_target_of_one_column() -> None:
    t = pytest.importorskip("polars").LazyFrame({"t": T})
    np.testing.assert_allclose(fitted(X, t)["w"], fitted(X)["w"], rtol=1e-9)
    series = pytest.importorskip("dask.dataframe").from_pandas(pytest.importorskip("pandas").Series(T), npartitions=2)
    np.testing.assert_allclose(fitted(X, series)["w"], fitted(X)["w"], rtol=1e-9)


def test_what_cannot_be_computed_is_told_at_the_declaration() -> None:
    pl = pytest.importorskip("polars")
    absent = pl.scan_csv("/no/such/file.csv")
    for attempt in (lambda: fitted(absent), lambda: fitted(X).predict(X=absent)):
        with pytest.raises(fw.DataError) as error:
            attempt()
        assert error.value.code == "FW4532"
        assert "`X` cannot be computed" in str(error.value) and "/no/such/file.csv" in str(error.value)
        assert error.value.diagnostics[0].span is not None
    broken = dask_frame().map_partitions(failing, meta=dask_frame()._meta)
    with pytest.raises(fw.DataError, match="cannot be computed: this column is computed"):
        fitted(broken)


def test_a_problem_shows_them_without_computing() -> None:
    pl = pytest.importorskip("polars")
    problem = fw.parse(TEXT).bind(X=pl.scan_csv("/no/such/file.csv"), t=T)
    assert "# bound: X = LazyFrame\n" in repr(problem) and "LazyFrame" in problem._repr_html_()


def test_a_lazy_frame_in_the_builder() -> None:
    w = fw.vector(3, name="w")
    problem = fw.minimize(fw.mean(fw.squared(fw.data("X", lazy()) @ w, T)) + 0.01 * fw.norm1(w))
    np.testing.assert_allclose(problem.solve(threads=1)["w"], fitted(X)["w"], atol=1e-3)
    with pytest.raises(fw.FwError, match="cannot be computed"):
        fw.data("X", pytest.importorskip("polars").scan_csv("/no/such/file.csv")) @ w


# --- columns of pandas, polars and Arrow -----------------------------------------------------------------------------


def refused(column: Any) -> fw.FwError:
    frame = pytest.importorskip("pandas").DataFrame({"a": [1.0, 2.0, 3.0], "b": column})
    with pytest.raises(fw.DataError) as error:
        fw.parse(TEXT).bind(X=frame, t=[1.0, 2.0, 3.0]).solve()
    return error.value


@pytest.mark.parametrize("kind", ["Int64", "Float64", "boolean", "int64[pyarrow]", "bool[pyarrow]", "float[pyarrow]"])
def test_nullable_columns(kind: str) -> None:
    pd = pytest.importorskip("pandas")
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    whole = pd.array([1, 0, 1], dtype=kind)
    problem = fw.parse(TEXT).bind(X=pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": whole}), t=[1.0, 2.0, 3.0])
    np.testing.assert_array_equal(problem.instance.values["X"], [[1, 1], [2, 0], [3, 1]])
    error = refused(pd.array([1, None, 1], dtype=kind))
    assert error.code == "FW4021" and "`X[1, 1]` of column `b` is `nan`" in str(error)
    with pytest.raises(fw.DataError, match=r"`t\[1\]` is `nan`"):
        fw.parse(TEXT).bind(X=np.eye(3), t=pd.Series(pd.array([1, None, 1], dtype=kind))).solve()


def test_columns_that_are_no_numbers_are_refused_with_help() -> None:
    pd = pytest.importorskip("pandas")
    days = pd.to_datetime(["2026-01-01", None, "2026-01-03"])
    for column, kind, help_ in (
        (pd.array(["x", None, "y"], dtype="string"), "text", "onehot"),
        (pd.Categorical(["x", "y", None]), "text", "onehot"),
        (days, "dates", "days since a date"),
        (days.tz_localize("UTC"), "dates", "days since a date"),
        (days - days[0], "durations", "total_seconds"),
        ([{}, [], 1], "Python objects", "write it as numbers"),
        (np.array([1j, 2, 3]), "complex numbers", "imaginary parts"),
    ):
        error = refused(column)
        assert error.code == "FW4504"
        assert f"holds {kind} in the column `b`" in str(error) and help_ in " ".join(str(error).split())
    assert "`X[0, 1]` of column `b`" in str(refused([None, None, None]))


def test_text_of_arrow() -> None:
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    assert "holds text in the column `b`" in str(refused(pd.array(["x", None, "y"], dtype="string[pyarrow]")))


def test_categories_of_numbers_are_numbers() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": pd.Categorical([3, 1, 3]), "b": [True, False, True]})
    np.testing.assert_array_equal(as_array(frame), [[3, 1], [1, 0], [3, 1]])


@pytest.mark.parametrize("kind", ["boolean", "string", "object", "category", "Int64"])
def test_missing_labels_are_told_by_row(kind: str) -> None:
    pd = pytest.importorskip("pandas")
    values = {"boolean": [True, None, False], "Int64": [1, None, 2]}.get(kind, ["u", None, "v"])
    with pytest.raises(fw.DataError, match=r"`t\[1\]` is `.*`, where a label is needed"):
        fw.parse(SIGNS).bind(X=np.eye(3), t=pd.Series(values, dtype=kind)).solve()
    whole = pd.Series([value if value is not None else values[0] for value in values], dtype=kind)
    assert fw.parse(SIGNS).bind(X=np.eye(3), t=whole).instance.values["t"].tolist() in ([-1, -1, 1], [1, 1, -1])


def test_columns_of_arrow_and_polars() -> None:
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    given = {"i": [1, None, 2], "b": [True, None, False], "d": [Decimal("1.5"), None, Decimal("2")]}
    # NumPy is not told by Arrow which codes stand for nothing
    coded = pa.chunked_array([[1.0, None, 2.0]]).dictionary_encode()
    for frame in (pa.table({**given, "c": coded}), pl.DataFrame(given)):
        array = as_array(frame)
        assert array.dtype == np.float64 and np.isnan(array[1]).all()
        np.testing.assert_array_equal(array[[0, 2], :3], [[1, 1, 1.5], [2, 0, 2]])
    words = pa.chunked_array([["u", "v", None]]).dictionary_encode()
    with pytest.raises(fw.DataError, match=r"`t\[2\]` is `None`"):
        fw.parse(SIGNS).bind(X=np.eye(3), t=words).solve()
    mixed = pl.DataFrame({"a": [1.0], "s": ["x"], "t": [datetime.date(2026, 1, 1)]})
    assert not_numbers(mixed) == {"s": "text", "t": "dates"} and column_names(mixed) == ("a", "s", "t")


def test_what_objects_are() -> None:
    assert kind_of(np.array([None, "x"], dtype=object)) == "text"
    assert kind_of(np.array([None, None], dtype=object)) == "no values"
    assert kind_of(np.array(["x", 1], dtype=object)) == "Python objects"


@pytest.mark.parametrize("make", [dask_frame, dask_array])
def test_collections_of_dask_have_the_bits_of_their_rows(make: Any) -> None:
    """pandas lays frames out by columns, whose sums go by another order."""
    text = "data A: matrix[n, 3], t: vector[n]\nvar w: vector[3]\nminimize mean(huber(A @ w, t)) + 0.1 * norm1(w)"
    rows, given = (fw.parse(text).bind(A=A, t=T).solve(method="apg", threads=1) for A in (X, make()))
    assert given.instance.values["A"].flags.c_contiguous
    assert given.objective == rows.objective and np.array_equal(given["w"], rows["w"])
