"""Arguments of losses that other systems have in another order."""

from __future__ import annotations

import pytest

from tests.check.helpers import codes


@pytest.mark.parametrize(
    ("term", "found"),
    [
        ("sum(huber(A @ x - b, 0.5))", ["FW2095"]),
        ("sum(huber(A @ x, b))", []),
        ("sum(huber(A @ x - b, 0.0))", []),
        ("sum(huber(A @ x - b, 1.0, delta=0.5))", []),
        ("sum(huber(A @ x - b))", []),
        ("sum(absolute(A @ x - b, 0.5))", []),
    ],
)
def test_a_width_in_the_place_of_the_target_is_told(term: str, found: list[str]) -> None:
    assert codes(f"data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize {term} + norm1(A @ x - b)\n") == found
