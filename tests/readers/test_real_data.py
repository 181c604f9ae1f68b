"""The real data sets next to the repository: equal to scikit-learn's reader, bit for bit."""

from __future__ import annotations

import gzip
import lzma
from pathlib import Path

import numpy as np
import pytest

from fwdsl.readers.read import Role, read
from fwdsl.readers.sources import SourceSpec

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "data"
MATRIX = Role("X", "matrix", (None, None))
VECTOR = Role("y", "vector", (None,))
# The largest take seconds in scikit-learn; every kind of number is in these.
SMALL = ["a1a", "abalone", "australian", "dna.scale", "heart_scale", "housing_scale", "mushrooms", "splice", "basehock"]
LARGE = [
    "a9a",
    "w8a",
    "usps",
    "letter.scale",
    "mnist.t",
    "skin_nonskin",
    "west_breast",
    "krvskp",
    "dna.scale.t",
    "news20",
]


def _compare(name: str) -> None:
    svmlight = pytest.importorskip("sklearn.datasets", reason="scikit-learn is not installed").load_svmlight_file
    path = next((p for p in (FOLDER / f"{name}.svm.gz", FOLDER / f"{name}.svm.xz") if p.exists()), None)
    if path is None:
        pytest.skip(f"{name} is not in {FOLDER}")
    with (gzip.open if path.suffix == ".gz" else lzma.open)(path) as stream:
        matrix, target = svmlight(stream)
    arrays, diagnostics = read(SourceSpec("libsvm", str(path)), (MATRIX, VECTOR))
    assert diagnostics == ()
    np.testing.assert_array_equal(arrays["y"], target)
    ours = arrays["X"]
    assert ours.shape == matrix.shape
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(ours, part), getattr(matrix, part))


@pytest.mark.parametrize("name", SMALL)
def test_equal_to_scikit_learn(name: str) -> None:
    _compare(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_large_ones_equal_to_scikit_learn(name: str) -> None:
    _compare(name)


def test_a9a() -> None:
    path = FOLDER / "a9a.svm.gz"
    if not path.exists():
        pytest.skip(f"a9a is not in {FOLDER}")
    arrays, diagnostics = read(SourceSpec("libsvm", str(path)), (MATRIX, Role("y", "signs", (None,))))
    assert diagnostics == ()
    assert arrays["X"].shape == (32561, 123) and arrays["X"].nnz == 451592
    assert np.unique(arrays["y"], return_counts=True)[1].tolist() == [24720, 7841]


def test_ratings() -> None:
    path = FOLDER / "movietweetings100k.csv.gz"
    if not path.exists():
        pytest.skip(f"movietweetings100k is not in {FOLDER}")
    spec = SourceSpec("csv", str(path), {"target": "rating", "columns": ["user", "movie"]})
    arrays, diagnostics = read(spec, (MATRIX, VECTOR))
    assert diagnostics == ()
    with gzip.open(path) as stream:
        table = np.loadtxt(stream, delimiter=",", skiprows=1)
    np.testing.assert_array_equal(arrays["X"], table[:, :2])
    np.testing.assert_array_equal(arrays["y"], table[:, 2])
