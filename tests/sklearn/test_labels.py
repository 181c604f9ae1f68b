"""The classes of labels, counted or sorted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fwdsl.sklearn.kinds import _classes_of

LABELS: tuple[Any, ...] = (
    np.array([True, False, True]),
    np.array([True, True]),
    np.array([-128, 127, 3, -128], dtype=np.int8),
    np.array([7, 9, 7], dtype=np.int32),
    np.array([2**62, -(2**62), 0]),
    np.array([1.5, -2.0, 1.5]),
    np.array(["b", "a", "b"]),
)


@pytest.mark.parametrize("y", LABELS)
def test_classes_are_those_of_numpy(y: Any) -> None:
    (found, codes), (expected, places) = _classes_of(y), np.unique(y, return_inverse=True)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(codes, places)
