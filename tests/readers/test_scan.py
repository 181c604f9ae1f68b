"""Scans: what is not finite, signs and labels."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from fwdsl.grammar.diagnostic import Diagnostic, Place
from fwdsl.readers import scan
from fwdsl.readers.scan import find_nonfinite, map_labels, map_signs


def _hole(shape: tuple[int, ...], *places: tuple[int, ...]) -> np.ndarray:
    array = np.zeros(shape)
    for place in places:
        array[place] = np.inf
    return array


@pytest.mark.parametrize("block", [1, 3, 7, 1 << 20])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense(monkeypatch: pytest.MonkeyPatch, block: int, order: str) -> None:
    monkeypatch.setattr(scan, "_BLOCK", block)
    array = np.asarray(_hole((5, 4), (1, 3), (4, 0)), order=order)
    assert find_nonfinite(array) == [(1, 3, math.inf), (4, 0, math.inf)]
    assert find_nonfinite(array[::2, ::3]) == [(2, 0, math.inf)]
    assert find_nonfinite(_hole((6,), (2,), (5,))) == [(2, 0, math.inf), (5, 0, math.inf)]
    assert find_nonfinite(_hole((2, 2, 3), (1, 1, 2))) == [(1, 5, math.inf)]


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
def test_sparse(monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr(scan, "_BLOCK", block)
    array = csr_array(_hole((5, 4), (1, 3), (1, 0), (4, 2)) + np.eye(5, 4))
    assert find_nonfinite(array) == [(1, 0, math.inf), (1, 3, math.inf), (4, 2, math.inf)]
    assert find_nonfinite(array, limit=2) == [(1, 0, math.inf), (1, 3, math.inf)]


def test_limit_and_sums_that_cancel_or_overflow() -> None:
    assert len(find_nonfinite(np.full((9, 9), np.nan))) == 20
    assert [(r, c) for r, c, _ in find_nonfinite(np.array([[np.inf, -np.inf]]))] == [(0, 0), (0, 1)]
    assert find_nonfinite(np.full((3, 3), 1e308)) == []


def test_what_is_finite_by_nature() -> None:
    assert find_nonfinite(np.zeros((3, 0))) == []
    assert find_nonfinite(np.arange(4)) == []
    assert find_nonfinite(np.array(["nan", "inf"])) == []
    assert find_nonfinite(np.array(1.0)) == []
    assert find_nonfinite(np.array(np.inf)) == [(0, 0, math.inf)]


def test_memory_map(folder: Path) -> None:
    np.save("a.npy", _hole((300, 5), (299, 4)))
    assert find_nonfinite(np.load("a.npy", mmap_mode="r")) == [(299, 4, math.inf)]


@pytest.mark.parametrize(
    ("raw", "signs", "pair"),
    [
        ([2, 1, 2.0], [1, -1, 1], (1.0, 2.0)),
        ([0, 255], [-1, 1], (0, 255)),
        ([True, False], [1, -1], (False, True)),
        (["no", "yes", "no"], [-1, 1, -1], ("no", "yes")),
        ([[1, 0], [0, 0]], [[1, -1], [-1, -1]], (0, 1)),
    ],
)
def test_two_values_to_signs(raw: list[object], signs: list[object], pair: tuple[object, object]) -> None:
    mapped = map_signs(np.array(raw))
    assert isinstance(mapped, tuple)
    assert mapped[0].dtype == np.float64
    assert (mapped[0].tolist(), mapped[1]) == (signs, pair)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([1.0, 2.0, 1.0, 7.5, 2.0], "`y` has 3 distinct values, where two were expected: `1`, `2`, `7.5`"),
        (
            list(range(10)),
            "`y` has 10 distinct values, where two were expected: `0`, `1`, `2`, `3`, `4`, `5`, `6`, `7`, ...",
        ),
        (["a", "a"], "`y` has one value, where two were expected: `a`"),
        ([], "`y` has no values, where two were expected"),
    ],
)
def test_not_two_values(raw: list[object], message: str) -> None:
    result = map_signs(np.array(raw), "y", Place("y.npy"))
    assert isinstance(result, Diagnostic)
    assert (result.code, result.message) == ("FW4050", message)


def test_place_of_the_value_that_stands_out() -> None:
    result = map_signs(np.array([[1, 2], [2, 1], [3, 1]]), "y", Place("y.npy"))
    assert isinstance(result, Diagnostic)
    assert result.place == Place("y.npy", None, 3, None, "3")


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.one_of(st.lists(st.integers(-5, 5), min_size=1), st.lists(st.text("ab", max_size=2), min_size=1)))
def test_labels_to_codes(raw: list[object]) -> None:
    codes, classes = map_labels(np.array(raw))
    assert codes.dtype == np.int64
    assert classes.tolist() == sorted(set(raw))
    assert classes[codes].tolist() == raw


def test_numbers_are_not_taken_for_classes() -> None:
    found = map_signs(np.array([0.5, 1.25, 3.0]), "y")
    assert isinstance(found, Diagnostic) and found.hint.startswith("declare `y: vector[n]`")
    found = map_signs(np.array([0.0, 1.0, 2.0]), "y")
    assert isinstance(found, Diagnostic) and found.hint.startswith("declare `y: labels[n, k]`")
