"""Files: which one serves a name, with which options, and where its errors are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from fwdsl.bind import Bindings, bind
from fwdsl.bind.values import longest_vector
from fwdsl.readers.sources import SourceSpec

JOINT = 'data X: matrix[n, p], y: signs[n] from libsvm("train.svm", features=4)'
TRAIN = "+1 1:1 3:2\n-1 2:1\n+1 4:0.5\n"
OTHER = "-1 1:7\n+1 2:8\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.svm").write_text(TRAIN)
    (tmp_path / "other.svm").write_text(OTHER)
    (tmp_path / "other.txt").write_text(OTHER)
    np.save(tmp_path / "X.npy", np.arange(6.0).reshape(2, 3))
    np.savez(tmp_path / "all.npz", X=np.ones((2, 3)), other=np.zeros((2, 3)))
    return tmp_path


def run(declare, text, folder, *sources, **values):
    given = tuple((names, SourceSpec(s.format, str(folder / s.path), s.options)) for names, s in sources)
    return bind(declare(text), Bindings(values, given), folder)


def test_a_declared_source_serves_its_names_from_the_folder_of_the_program(declare, folder):
    instance, diagnostics = run(declare, JOINT, folder)
    assert diagnostics == () and instance is not None
    assert isinstance(instance.values["X"], sp.csr_array)
    assert instance.values["X"].toarray().tolist() == [[1, 0, 2, 0], [0, 1, 0, 0], [0, 0, 0, 0.5]]
    assert instance.values["y"].tolist() == [1, -1, 1]
    assert instance.dims == {"n": 3, "p": 4}
    assert instance.origins == {"X": str(folder / "train.svm"), "y": str(folder / "train.svm")}


def test_a_joint_source_is_read_once(declare, folder, monkeypatch):
    from fwdsl.readers import read as reading

    paths = []
    original = reading.read

    def spy(spec, roles, *kept):
        paths.append((spec.path, [r.name for r in roles]))
        return original(spec, roles, *kept)

    monkeypatch.setattr(reading, "read", spy)
    instance, _ = run(declare, JOINT, folder)
    assert instance is not None
    assert paths == [(str(folder / "train.svm"), ["X", "y"])]


def test_a_given_path_keeps_the_declared_options(declare, folder):
    instance, diagnostics = run(declare, JOINT, folder, (("X", "y"), SourceSpec("libsvm", "other.svm")))
    assert diagnostics == () and instance is not None
    assert instance.values["X"].shape == (2, 4)


def test_a_given_path_keeps_the_declared_format_where_its_suffix_tells_none(declare, folder):
    instance, diagnostics = run(declare, JOINT, folder, (("X", "y"), SourceSpec("", "other.txt")))
    assert diagnostics == () and instance is not None
    assert instance.values["X"].shape == (2, 4)


def test_a_given_option_wins_over_the_declared_one(declare, folder):
    instance, _ = run(declare, JOINT, folder, (("X", "y"), SourceSpec("libsvm", "other.svm", {"features": 9})))
    assert instance is not None and instance.dims["p"] == 9


def test_another_format_takes_none_of_the_declared_options(declare, folder):
    text = 'data X: matrix[n, p] from npz("all.npz", key="other")'
    instance, _ = run(declare, text, folder, (("X",), SourceSpec("npy", "X.npy")))
    assert instance is not None and instance.values["X"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert isinstance(instance.values["X"], np.memmap) and instance.stats["X"].mapped


def test_a_key_is_kept_and_overridden(declare, folder):
    text = 'data X: matrix[n, p] from npz("all.npz", key="other")'
    instance, _ = run(declare, text, folder)
    assert instance is not None and not instance.values["X"].any()
    instance, _ = run(declare, text, folder, (("X",), SourceSpec("npz", "all.npz", {"key": "X"})))
    assert instance is not None and instance.values["X"].all()


def test_one_name_of_a_joint_source_is_given_and_the_other_read(declare, folder):
    instance, diagnostics = run(declare, JOINT, folder, y=[0, 1, 1])
    assert diagnostics == () and instance is not None
    assert instance.values["y"].tolist() == [-1, 1, 1]
    assert instance.origins["y"] == "bind(y=...)"
    assert instance.values["X"].shape == (3, 4)


def test_nothing_is_read_where_all_its_names_are_given(declare, tmp_path):
    instance, diagnostics = run(declare, JOINT, tmp_path, X=np.ones((2, 2)), y=[0, 1])
    assert diagnostics == () and instance is not None


def test_of_two_given_files_the_last_counts(declare, folder):
    sources = ((("X",), SourceSpec("npz", "all.npz")), (("X",), SourceSpec("npy", "X.npy")))
    instance, _ = run(declare, "data X: matrix[n, p]", folder, *sources)
    assert instance is not None and instance.values["X"].sum() == 15


def test_a_python_value_wins_over_a_given_file(declare, folder):
    source = (("X",), SourceSpec("npy", "missing.npy"))
    instance, diagnostics = run(declare, "data X: matrix[n, p]", folder, source, X=np.ones((1, 1)))
    assert diagnostics == () and instance is not None


def test_sets_of_labels(declare, folder):
    (folder / "multi.svm").write_text("2,5 1:1\n 1:2\n5 1:3\n")
    text = 'data X: matrix[n, p], Y: signs[n, k] from libsvm("multi.svm", multilabel=true)'
    instance, diagnostics = run(declare, text, folder)
    assert diagnostics == () and instance is not None
    assert instance.values["Y"].tolist() == [[1, 1], [-1, -1], [-1, 1]]
    assert instance.maps["Y"] == (2.0, 5.0)
    assert instance.dims == {"n": 3, "p": 1, "k": 2}


def test_csv_options_reach_the_reader(declare, folder):
    (folder / "t.csv").write_text("a,b,price\n1,2,10\n3,4,20\n")
    text = 'data X: matrix[n, p], y: vector[n] from csv("t.csv", target="price", columns=["b", "a"])'
    instance, diagnostics = run(declare, text, folder)
    assert diagnostics == () and instance is not None
    assert np.asarray(instance.values["X"]).tolist() == [[2, 1], [4, 3]]
    assert instance.values["y"].tolist() == [10, 20]
    text = 'data X: matrix[n, p], y: vector[n] from csv("t.csv", target=-1)'
    instance, _ = run(declare, text, folder)
    assert instance is not None and instance.values["y"].tolist() == [10, 20]


# --- columns of a matrix that are targets too ------------------------------------------------------------------------


FIT = "data X: matrix[n, p], y: vector[n]"


def shared(declare, text, folder, *sources):
    (folder / "t.csv").write_text("a,b,y\n1,2,10\n3,4,20\n")
    instance, diagnostics = run(declare, text, folder, *sources)
    assert instance is not None and all(d.severity == "warning" for d in diagnostics)
    return diagnostics


def test_a_target_in_the_matrix_from_the_same_file_is_told(declare, folder):
    own = SourceSpec("csv", "t.csv", inferred=True)
    (warning,) = shared(declare, FIT, folder, (("X",), own), (("y",), own))
    file = folder / "t.csv"
    assert warning.code == "FW4037" and warning.message.startswith(f"`X` has the column `y` of `{file}`")
    assert f"`--data X,y={file}`" in warning.hint
    assert f'`data X: matrix[n, p], y: vector[n] from csv("{file}", target="y")`' in warning.hint
    assert shared(declare, FIT, folder, (("X", "y"), own)) == ()


def test_a_target_in_the_matrix_is_told_of_declared_sources(declare, folder):
    text = 'data X: matrix[n, p] from csv("t.csv")\ndata z: vector[n] from csv("t.csv", target="b")'
    (warning,) = shared(declare, text, folder)
    assert warning.code == "FW4037" and "column `b`" in warning.message and "which is `z`" in warning.message
    assert 'from csv("t.csv", target="b")`' in warning.hint and "--data" not in warning.hint


def test_columns_that_are_listed_and_other_files_are_no_surprise(declare, folder):
    for text in (
        'data X: matrix[n, p] from csv("t.csv", columns=["a", "y"])\ndata y: vector[n] from csv("t.csv")',
        'data X: matrix[n, p] from csv("t.csv", columns=["a", "b"])\ndata y: vector[n] from csv("t.csv")',
        'data X: matrix[n, p] from csv("t.csv", target="y")\ndata y: vector[n] from csv("t.csv")',
    ):
        assert shared(declare, text, folder) == ()
    (folder / "u.csv").write_text("a,b,y\n1,2,10\n3,4,20\n")
    sources = ((("X",), SourceSpec("csv", "t.csv")), (("y",), SourceSpec("csv", "u.csv")))
    assert shared(declare, FIT, folder, *sources) == ()


def test_several_targets_in_the_matrix_are_told_together(declare, folder):
    own = SourceSpec("csv", "t.csv", inferred=True)
    (warning,) = shared(declare, FIT + ", b: vector[n]", folder, (("X",), own), (("y",), own), (("b",), own))
    assert "columns `y` and `b`" in warning.message and "`--data X,y,b=" in warning.hint


# --- what goes wrong -----------------------------------------------------------------------------------------------


def test_a_missing_file_points_at_the_source_in_the_program(declare, tmp_path):
    instance, (d,) = run(declare, JOINT, tmp_path)
    assert instance is None
    assert d.code == "FW4001"
    assert d.source.slice(d.span) == 'libsvm("train.svm", features=4)'
    assert d.place is not None and d.place.file == str(tmp_path / "train.svm")


def test_a_missing_given_file_points_at_the_declaration(declare, folder):
    instance, (d,) = run(declare, JOINT, folder, (("X", "y"), SourceSpec("libsvm", "none.svm")))
    assert instance is None
    assert d.code == "FW4001" and d.place.file == str(folder / "none.svm")
    assert d.source.slice(d.span) == "X: matrix[n, p]"


def test_a_suffix_that_tells_nothing(declare, folder):
    instance, (d,) = run(declare, "data X: matrix[n, p]", folder, (("X",), SourceSpec("", "other.txt")))
    assert instance is None
    assert d.code == "FW0105"


def test_a_bad_number_in_an_array_file_has_row_and_column_from_1(declare, folder):
    array = np.ones((4, 3))
    array[2, 1] = np.inf
    np.save(folder / "X.npy", array)
    np.savez(folder / "all.npz", X=array)
    for name, key in (("npy", None), ("npz", "X")):
        path = {"npy": "X.npy", "npz": "all.npz"}[name]
        instance, (d,) = run(declare, f'data X: matrix[n, p] from {name}("{path}")', folder)
        assert instance is None
        assert d.code == "FW4021"
        assert d.message == "row 3, column 2 of `X` is `inf`, where a finite number is needed"
        assert (d.place.file, d.place.key, d.place.row, d.place.column, d.place.value) == (
            str(folder / path),
            key,
            3,
            2,
            "inf",
        )
        assert d.source.slice(d.span).startswith("X: matrix[n, p]")


def test_a_broken_promise_of_a_text_file_names_the_file(declare, folder):
    (folder / "w.csv").write_text("w\n1\n-2\n")
    instance, (d,) = run(declare, 'data w: vector[n] in nonnegative from csv("w.csv")', folder)
    assert instance is None
    assert d.message == "row 2 of `w` is `-2.0`, but `w` is declared `in nonnegative`"
    assert d.place.file == str(folder / "w.csv")
    assert d.place.row is None  # the line in the file is not known any more: there was a header


def test_too_few_columns_of_a_libsvm_file_propose_features(declare, folder):
    text = 'data X: matrix[n, p], y: signs[n] from libsvm("other.svm")\ndata b: vector[p]'
    instance, (d,) = run(declare, text, folder, b=np.ones(5))
    assert instance is None
    assert d.code == "FW4506"
    assert "`features=5`" in d.hint
    assert d.labels[0].text == f"2 columns from {folder / 'other.svm'}"


def test_signs_of_three_values_in_a_file(declare, folder):
    np.save(folder / "y.npy", np.array([1.0, 2.0, 1.0, 3.0, 2.0]))
    instance, (d,) = run(declare, 'data y: signs[n] from npy("y.npy")', folder)
    assert instance is None
    assert d.code == "FW4050"
    assert (d.place.file, d.place.row) == (str(folder / "y.npy"), 4)


def test_paths_of_bindings_are_relative_to_the_working_directory(declare, folder, monkeypatch, tmp_path_factory):
    monkeypatch.chdir(folder)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    bindings = Bindings(sources=((("X", "y"), SourceSpec("libsvm", "other.svm")),))
    instance, diagnostics = bind(declare(JOINT), bindings, elsewhere)
    assert diagnostics == () and instance is not None
    assert instance.origins["X"] == "other.svm"


def test_real_data(declare, shared_data):
    text = 'data X: matrix[n, p], y: signs[n] from libsvm("a9a.svm.gz")'
    instance, diagnostics = bind(declare(text), Bindings(), shared_data)
    assert diagnostics == () and instance is not None
    assert instance.dims == {"n": 32561, "p": 123}
    assert instance.stats["X"].storage == "csr"
    # Binary features, 14 at most in a row.
    assert instance.stats["X"].largest_row_norm == pytest.approx(np.sqrt(14))
    assert set(np.unique(instance.values["y"])) == {-1.0, 1.0}


@pytest.mark.parametrize("index", [2**53 + 1, 2**50, longest_vector() + 1])
def test_an_index_that_makes_more_columns_than_memory_holds(declare, folder, index):
    (folder / "train.svm").write_text(f"+1 1:1\n-1 2:1 {index}:3\n+1 2:1\n")
    instance, diagnostics = run(declare, 'data X: matrix[n, p], y: signs[n] from libsvm("train.svm")', folder)
    assert instance is None
    (found,) = diagnostics
    assert found.code == "FW4007"
    assert f"`X` has {index:,} columns" in found.message and "row 2 has an entry in the last" in found.message


def test_sizes_that_memory_does_not_hold(declare, folder):
    for rows, columns in ((2**53 + 1, 2), (2, 2**53 + 1)):
        text = f"%%MatrixMarket matrix coordinate real general\n{rows} {columns} 1\n1 1 5\n"
        (folder / "A.mtx").write_text(text)
        instance, diagnostics = run(declare, 'data A: matrix[n, p] from mtx("A.mtx")', folder)
        assert instance is None and [d.code for d in diagnostics] == ["FW4007"]


def test_a_position_that_makes_more_blocks_than_memory_holds(declare, folder):
    (folder / "tasks.csv").write_text(f"t\n0\n{2**52}\n1\n")
    instance, diagnostics = run(declare, 'data t: index[n] of T from csv("tasks.csv", target="t")', folder)
    assert instance is None
    (found,) = diagnostics
    assert found.code == "FW4007" and f"has {2**52 + 1:,} blocks" in found.message
    assert found.place is not None and found.place.value == str(2**52)


def test_what_is_wrong_with_a_file_names_what_it_was_read_for(declare, folder):
    (folder / "train.svm").write_text("junk\n")
    (error, *_) = run(declare, JOINT, folder)[1]
    assert error.place is not None and error.label == "read for `X` and `y`"
    (error, *_) = run(declare, JOINT, folder, (("X",), SourceSpec("npy", "none.npy")), y=[1, -1])[1]
    assert (error.code, error.label) == ("FW4001", "read for `X`")
    (error, *_) = run(declare, JOINT, folder, y=[1, -1])[1]
    assert error.label == "read for `X`"


@pytest.mark.parametrize("damage", ["PK", "+1 1:1\n-1 2:x\n", None])
def test_what_is_wrong_with_a_file_of_two_declarations_is_told_once_with_both(declare, folder, damage):
    if damage is None:
        (folder / "train.svm").unlink()
    else:
        (folder / "train.svm").write_text(damage)
    text = 'data X: matrix[n, p] from libsvm("train.svm")\ndata y: signs[n] from libsvm("train.svm")'
    instance, (found,) = run(declare, text, folder)
    assert instance is None and found.place is not None and found.place.file == str(folder / "train.svm")
    assert found.label == "read for `X`" and [label.text for label in found.labels] == ["read for `y`"]


def test_what_is_wrong_with_two_files_is_told_of_each(declare, folder):
    text = 'data X: matrix[n, p] from npy("none.npy")\ndata y: signs[n] from npy("nor.npy")'
    _, found = run(declare, text, folder)
    assert [d.code for d in found] == ["FW4001", "FW4001"]
