"""npy and npz files: memory maps, nothing unpickled, damaged files."""

from __future__ import annotations

import gzip
import os
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csc_array, csr_array, save_npz

from fwdsl.grammar.diagnostic import Diagnostic
from fwdsl.readers.mapped import check_mapped
from fwdsl.readers.read import Role, read
from fwdsl.readers.row_blocks import ChangedFile
from fwdsl.readers.sources import SourceSpec

MATRIX = Role("X", "matrix", (None, None))
VECTOR = Role("y", "vector", (None,))
LABELS = Role("y", "labels", (None, None))


class Bomb:
    """An object whose unpickling would leave a trace."""

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, ("unpickled",)


def _array(path: str, role: Role = MATRIX, **options: object) -> np.ndarray:
    arrays, diagnostics = read(SourceSpec(path.rpartition(".")[2], path, options), (role,))
    assert diagnostics == ()
    return arrays[role.name]


def _refused(path: str, *roles: Role, **options: object) -> Diagnostic:
    arrays, (diagnostic,) = read(SourceSpec(path.split(".")[1], path, options), roles or (MATRIX,))
    assert arrays == {}
    assert diagnostic.place is not None and diagnostic.place.file == path
    return diagnostic


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint64", "bool"])
def test_plain_npy_is_mapped(folder: Path, dtype: str, order: str) -> None:
    saved = np.array([[0, 1, 1], [1, 0, 1]], dtype=dtype, order=order)
    np.save("a.npy", saved)
    mapped = _array("a.npy")
    assert isinstance(mapped, np.memmap)
    assert mapped.dtype == saved.dtype and not mapped.flags.writeable
    assert mapped.flags[f"{order}_CONTIGUOUS"]
    np.testing.assert_array_equal(mapped, saved)


def test_foreign_byte_order_becomes_native(folder: Path) -> None:
    np.save("a.npy", np.arange(3, dtype=">f8"))
    array = _array("a.npy", VECTOR)
    assert array.dtype.isnative
    np.testing.assert_array_equal(array, [0, 1, 2])


def test_scalar_and_tensor(folder: Path) -> None:
    np.save("a.npy", np.float64(3))
    assert _array("a.npy", Role("c", "scalar")) == 3
    np.save("b.npy", np.arange(24.0).reshape(2, 3, 4))
    assert _array("b.npy", Role("T", "tensor", (None, 3, 4))).shape == (2, 3, 4)


def test_labels_may_be_text(folder: Path) -> None:
    np.save("a.npy", np.array(["b", "a"]))
    assert _array("a.npy", LABELS).tolist() == ["b", "a"]
    diagnostic = _refused("a.npy", VECTOR)
    assert (diagnostic.code, diagnostic.message) == (
        "FW4044",
        "`a.npy` holds text, where real numbers were expected",
    )


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_objects_are_never_unpickled(folder: Path, name: str) -> None:
    if name == "a.npy":
        np.save("a.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    else:
        np.savez("a.npz", X=np.array([Bomb()], dtype=object))
    assert _refused(name).code == "FW4041"
    assert not Path("unpickled").exists()


@pytest.mark.parametrize("name", ["a.npy", "a.npz"])
def test_pickles_are_never_unpickled(folder: Path, name: str) -> None:
    Path(name).write_bytes(pickle.dumps(Bomb()))
    assert _refused(name).code == ("FW4040" if name == "a.npy" else "FW4043")
    assert not Path("unpickled").exists()


@pytest.mark.parametrize(
    ("array", "what"),
    [
        (np.zeros(2, complex), "complex numbers"),
        (np.zeros(2, "M8[s]"), "dates"),
        (np.zeros(2, "m8[s]"), "durations"),
        (np.zeros(2, [("a", "f8")]), "records"),
    ],
)
def test_arrays_that_are_not_of_real_numbers(folder: Path, array: np.ndarray, what: str) -> None:
    np.save("a.npy", array)
    assert _refused("a.npy").message == f"`a.npy` holds {what}, where real numbers were expected"


def test_records_with_names_outside_latin1(folder: Path) -> None:
    with pytest.warns(UserWarning, match="format 3.0"):
        np.save("a.npy", np.zeros(2, [("☃", "f8")]))
    assert _refused("a.npy").code == "FW4044"


def test_header_of_version_2(folder: Path) -> None:
    with open("a.npy", "wb") as stream:
        np.lib.format.write_array(stream, np.ones((2, 2)), version=(2, 0))
    np.testing.assert_array_equal(_array("a.npy"), np.ones((2, 2)))


def test_cut_short(folder: Path) -> None:
    np.save("a.npy", np.zeros((2, 3)))
    data = Path("a.npy").read_bytes()
    Path("a.npy").write_bytes(data[:-5])
    diagnostic = _refused("a.npy")
    assert diagnostic.code == "FW4042"
    assert diagnostic.message == (
        "`a.npy` is cut short: 2 x 3 numbers of type `float64` need 48 bytes, and 43 are there"
    )


def test_empty_array(folder: Path) -> None:
    np.save("a.npy", np.zeros((0, 3)))
    np.savez("b.npz", X=np.zeros((0, 3)))
    assert _refused("a.npy").code == _refused("b.npz").code == "FW4004"
    np.save(folder / "c.npy", np.zeros((3, 0)))
    assert _refused("a.npy").message == "`a.npy` has no rows"
    assert _refused("c.npy").message == "`c.npy` has 3 rows and no columns"


@pytest.mark.parametrize(
    "shape", ["(-1,)", "(2**80,)", "(10000000000000000000000,)", "1", "('a',)", "(" * 4000, "(9" * 200]
)
def test_header_that_lies(folder: Path, shape: str) -> None:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    Path("a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(8))
    assert _refused("a.npy").code == "FW4040"


def test_npy_serves_one_name(folder: Path) -> None:
    np.save("a.npy", np.zeros(2))
    assert _refused("a.npy", MATRIX, VECTOR).code == "FW4030"


def test_npz_by_name_and_by_key(folder: Path) -> None:
    np.savez("a.npz", X=np.eye(2), y=np.arange(2))
    np.savez_compressed("b.npz", X=np.eye(2), y=np.arange(2))
    for path in ("a.npz", "b.npz"):
        arrays, diagnostics = read(SourceSpec("npz", path), (MATRIX, VECTOR))
        assert diagnostics == ()
        np.testing.assert_array_equal(arrays["X"], np.eye(2))
        np.testing.assert_array_equal(arrays["y"], [0, 1])
        np.testing.assert_array_equal(_array(path, Role("A", "matrix", (None, None)), key="X"), np.eye(2))


def test_npz_without_the_key(folder: Path) -> None:
    np.savez("a.npz", price=np.eye(2))
    arrays, diagnostics = read(SourceSpec("npz", "a.npz"), (Role("prices", "vector", (None,)), MATRIX))
    assert arrays == {}
    assert [(d.code, d.message, d.hint, d.place.key) for d in diagnostics if d.place] == [
        ("FW4045", "`a.npz` has no array `prices`", "did you mean `price`? its arrays are `price`", "prices"),
        ("FW4045", "`a.npz` has no array `X`", "its arrays are `price`", "X"),
    ]


def test_npz_key_for_several_names(folder: Path) -> None:
    np.savez("a.npz", X=np.eye(2))
    assert _refused("a.npz", MATRIX, VECTOR, key="X").code == "FW4030"


@pytest.mark.parametrize("make", [csr_array, csc_array])
def test_sparse_npz_stays_sparse(folder: Path, make: type) -> None:
    save_npz("a.npz", make(np.array([[0, 2.0, 0], [1, 0, 0]])))
    matrix = _array("a.npz")
    assert isinstance(matrix, csr_array)
    np.testing.assert_array_equal(matrix.toarray(), [[0, 2, 0], [1, 0, 0]])


def test_sparse_npz_of_another_form(folder: Path) -> None:
    save_npz("a.npz", coo_array(np.eye(2)))
    assert _refused("a.npz").code == "FW4045"  # coordinates have other arrays
    np.savez("b.npz", data=np.ones(2), indices=[0, 1], indptr=[0, 1, 2], shape=[2, 2], format=b"bsr")
    assert _refused("b.npz").code == "FW4044"


def test_sparse_npz_whose_indices_lie(folder: Path) -> None:
    np.savez("a.npz", data=np.ones(2), indices=[0, 9], indptr=[0, 1, 2], shape=[2, 2], format=b"csr")
    assert _refused("a.npz").code == "FW4043"


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_npz_whose_starts_overflow_their_type(folder: Path, form: str) -> None:
    """The difference of -2^31 and 4 is positive in 32 bits; SciPy read out of bounds, and the process died."""
    cuts = np.array([0, 2, 4, -(2**31)], dtype=np.int32)
    parts = {"data": np.ones(4), "indices": np.array([0, 1, 0, 1], dtype=np.int32), "indptr": cuts}
    shape = np.array([3, 2] if form == "csr" else [2, 3])
    np.savez(folder / "a.npz", format=form.encode(), shape=shape, **parts)
    assert _refused("a.npz").code == "FW4043"


def test_damaged_npz(folder: Path) -> None:
    np.savez_compressed("a.npz", X=np.arange(1000.0).reshape(10, 100))
    data = bytearray(Path("a.npz").read_bytes())
    Path("a.npz").write_bytes(data[:-30])
    assert _refused("a.npz").code == "FW4043"
    data[len(data) // 2] ^= 0xFF
    Path("a.npz").write_bytes(data)
    assert _refused("a.npz").code in ("FW4040", "FW4043")


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.data())
def test_damaged_anywhere(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(["a.npy", "a.npz"]))
    path = tmp_path_factory.mktemp("damage") / name
    if name == "a.npy":
        np.save(path, np.eye(3))
    else:
        np.savez(path, X=np.eye(3))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    arrays, diagnostics = read(SourceSpec(name[2:], str(path)), (MATRIX,))
    assert bool(arrays) != bool(diagnostics)


def test_a_header_whose_size_is_a_truth_value(folder: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (True, 2), }\n"
    Path("a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(16))
    assert _refused("a.npy").code == "FW4040"


@pytest.mark.parametrize("rows", [10**12, 10**15])
def test_what_a_header_claims_is_not_asked_of_memory(folder: Path, rows: int) -> None:
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, 4), }}\n".encode()
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)
    Path("a.npy.gz").write_bytes(gzip.compress(content))
    found = _refused("a.npy.gz")
    assert found.code == "FW4042" and "and 64 are there" in found.message
    with zipfile.ZipFile("a.npz", "w") as archive:
        archive.writestr("X.npy", content)
    assert _refused("a.npz").code == "FW4042"


def test_a_sparse_matrix_whose_shape_is_not_whole(folder: Path) -> None:
    made = csr_array(np.eye(3))
    parts = {"data": made.data, "indices": made.indices, "indptr": made.indptr}
    np.savez("a.npz", shape=np.array([3.0, 3.0]), format=np.array(b"csr"), **parts)
    assert _refused("a.npz").code == "FW4044"


@pytest.mark.parametrize("stays", [None, 10])
@pytest.mark.parametrize(
    ("parts", "code", "told"),
    [
        ({"shape": [-1, 3], "indptr": np.zeros(0, np.int64)}, "FW4043", "its shape is [-1, 3]"),
        ({"shape": [3, 3, 1]}, "FW4043", "its shape is [3, 3, 1]"),
        ({"shape": np.array([3, 2**64 - 1], np.uint64)}, "FW4043", "its shape is [3, 18446744073709551615]"),
        ({"shape": ["3", "3"]}, "FW4044", "`shape` in `a.npz` holds text, where whole"),
        ({"shape": [3.0, np.nan]}, "FW4044", "`shape` in `a.npz` holds numbers of type `float64`, where whole"),
        (
            {"indptr": [0.0, 1.0, 2.0, 3.0]},
            "FW4044",
            "`indptr` in `a.npz` holds numbers of type `float64`, where whole",
        ),
        ({"indptr": [0, 1, 3]}, "FW4043", "3 rows have 4 starts and ends, and 3 are there"),
        ({"indptr": [[0, 1, 2, 3]]}, "FW4043", "have 4 starts and ends"),
        ({"indptr": [0, 2, 1, 3]}, "FW4043", "the starts of rows are to rise from 0"),
        ({"indptr": [1, 2, 3, 3]}, "FW4043", "the starts of rows are to rise from 0"),
        ({"indptr": [0, 1, 2, 4]}, "FW4043", ""),
        ({"indices": [0.0, 1.0, 2.0]}, "FW4044", "`indices` in `a.npz` holds numbers of type `float64`, where whole"),
        ({"data": ["a", "b", "c"]}, "FW4044", "`data` in `a.npz` holds text, where real"),
        ({"data": np.ones(4)}, "FW4043", ""),
        ({"data": np.ones((3, 1))}, "FW4043", "`data` has 2 axes, and the numbers of a sparse matrix lie along one"),
        ({"indices": [[0, 1, 2]]}, "FW4043", "`indices` has 2 axes"),
        ({"data": np.array(2.0)}, "FW4043", "`data` has 0 axes"),
        ({"format": ["csr", "csr"]}, "FW4044", "a sparse matrix of the form ``"),
    ],
)
def test_a_damaged_sparse_matrix_is_told_in_memory_and_on_its_disk(
    folder: Path, parts: dict[str, Any], code: str, told: str, stays: int | None
) -> None:
    made = csr_array(np.eye(3))
    whole = {"data": made.data, "indices": made.indices, "indptr": made.indptr, "shape": [3, 3], "format": "csr"}
    np.savez("a.npz", **{k: np.array(v) for k, v in {**whole, **parts}.items()})
    arrays, found = read(SourceSpec("npz", "a.npz"), [Role("X", "matrix", (None, None), stays=stays)])
    assert not arrays and [d.code for d in found] == [code] and told in found[0].message


@pytest.mark.parametrize("how", ["written", "cut", "grown"])
def test_a_mapped_file_that_was_written_to_is_an_error(tmp_path, how):
    path = tmp_path / "X.npy"
    np.save(path, np.arange(6000.0).reshape(60, 100))
    X = _array(str(path))
    check_mapped([X, 1.0])
    content = path.read_bytes()
    with open(path, "r+b") as file:
        file.truncate(len(content) - 8 * (how == "cut"))
        file.seek(0, os.SEEK_END)
        file.write(b"12345678" * (how == "grown"))
    os.utime(path, ns=(1, 1))
    for value in (X, X[3:], np.asarray(X)):
        with pytest.raises(ChangedFile, match=r"X\.npy"):
            check_mapped([value])
    check_mapped([X[:2].copy()])


@pytest.mark.parametrize("how", ["replaced", "removed"])
def test_a_mapped_file_that_another_took_the_place_of_is_still_there(tmp_path, how):
    path, other = tmp_path / "X.npy", tmp_path / "other.npy"
    A = np.arange(6000.0).reshape(60, 100)
    np.save(path, A)
    X = _array(str(path))
    if how == "removed":
        path.unlink()
    else:
        np.save(other, -A)
        os.replace(other, path)
    check_mapped([X])
    assert np.array_equal(X, A)
