"""The page of PDBFW on tiny data: its races, tables and verdict can be made."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import scipy.sparse as sp

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The script, imported with the helpers beside it and short races."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    monkeypatch.setattr(sys, "argv", ["benchmarks/papers/pdbfw/run.py", "--quick"])
    spec = importlib.util.spec_from_file_location("pdbfw_page", FOLDER / "papers" / "pdbfw" / "run.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "pdbfw_page", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "SECONDS", 0.2)
    monkeypatch.setattr(module, "SECONDS_LARGE", 0.2)
    yield module
    for name in set(sys.modules) - before:
        if str(FOLDER) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def test_rows_have_length_one_and_zeros_stay(page: ModuleType) -> None:
    A = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.0]])
    expected = [[0.6, 0.8], [0.0, 0.0], [0.0, 1.0]]
    np.testing.assert_allclose(page.unit_rows(A), expected)
    np.testing.assert_allclose(page.unit_rows(sp.csr_array(A)).toarray(), expected)


def test_races_ratios_and_verdict(page: ModuleType) -> None:
    A, y = page.rcv1_like(150, 200, 15)
    methods = ["pdbfw", "pdbfw(accelerate=true)", "pdbfw(eta=0.5)", "apg", "apg_fixed", "no_such_method"]
    race = page.race_of(page.Data("tiny", A, y, ""), 10.0, methods)
    assert "delta=" in page.paper_form(race).name
    assert race["pdbfw"].status == "optimal"
    (row,) = page.ratio_rows({"tiny": race}, 1e-4)
    assert row[0] == "tiny" and len(row) == len(page.RATIO_COLUMNS)
    text = page.verdict({"tiny": race}, {}, {}, {})
    won = race["pdbfw"].to(1e-4) < race["apg"].to(1e-4)
    assert "of 1 problems" in text and f"The adaptive form is faster than `apg` on {int(won)}," in text
