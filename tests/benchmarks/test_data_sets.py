"""The benchmarks find their data, or say which file is missing."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def data_sets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(FOLDER)
    import data_sets

    monkeypatch.setattr(data_sets, "FOLDERS", [tmp_path / "none", tmp_path])
    return data_sets


def test_a_file_is_taken_from_the_first_folder_that_has_it(data_sets: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "a9a.svm.gz").write_bytes(gzip.compress(b"+1 1:2\n-1 3:4\n"))
    X, y = data_sets.read_libsvm("a9a")
    assert X.toarray().tolist() == [[2, 0, 0], [0, 0, 4]] and y.tolist() == [1, -1]


def test_a_missing_file_ends_the_script_with_its_name_and_source(data_sets: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        data_sets.read_libsvm("news20.svm.xz")
    said = str(ended.value)
    assert "`news20.svm.xz` is missing" in said and str(tmp_path) in said and "multiclass.html" in said


def test_every_file_that_a_script_names_has_a_source(data_sets: ModuleType) -> None:
    texts = [path.read_text() for path in FOLDER.rglob("*.py") if path.name != "data_sets.py"]
    names = {name for text in texts for name in re.findall(r'"([\w.]+)\.svm\.\w+"', text)}
    names |= {"a9a", "w8a", "mushrooms", "dna.scale", "usps", "krvskp", "letter.scale", "mnist.t", "basehock"}
    assert all(data_sets._source(f"{name}.svm.gz") for name in names)
