"""A sample of each attack; the whole with `-m slow`."""

from __future__ import annotations

import pytest

from tests.attack import proofs, random_units

pytest.importorskip("cvxpy")

LIMIT = 10.0


def test_a_sample_of_random_programs_in_random_units() -> None:
    tally = random_units.attack(count=8, seed=10_130, limit=5.0, by_command=10)
    assert tally.wrong() == []
    assert tally.of("right") >= 8


def test_a_sample_of_infeasible_and_unbounded_programs_and_their_near_misses() -> None:
    tally = proofs.attack(count=4, seed=20_060, limit=5.0, by_command=5)
    assert tally.wrong() == []
    assert tally.of("proven") >= 4


@pytest.mark.slow
def test_ten_thousand_random_programs_in_random_units() -> None:
    tally = random_units.attack(count=10_000, seed=10_000, limit=LIMIT, by_command=50)
    print(tally.table())
    assert tally.wrong() == []
    assert tally.of("unsolved") <= 0.005 * sum(tally.counts.values())


@pytest.mark.slow
def test_two_thousand_infeasible_and_unbounded_programs_and_their_near_misses() -> None:
    tally = proofs.attack(count=2_000, seed=20_000, limit=LIMIT, by_command=50)
    print(tally.table())
    assert tally.wrong() == []
    assert tally.of("unsolved") + tally.of("unproven") <= 0.005 * sum(tally.counts.values())
