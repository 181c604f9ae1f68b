"""The verdict of the page on support vector machines follows the numbers."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import pytest

from fwdsl.model.options import Options
from fwdsl.solve.watch import LEVELS, Moment
from fwdsl.studies.race import Entrant, Race
from tests.benchmarks.loading import paper_module


@pytest.fixture(scope="module")
def words() -> ModuleType:
    return paper_module("svm", "words")


def race(**times: tuple[str, float]) -> Race:
    """Methods that reach every level after so many seconds, or none."""
    entrants = tuple(
        Entrant(
            name, name.split("(")[0], "optimal", "", {}, (Moment(t, t, 1, 1.0, 1.0, 0.0),) if math.isfinite(t) else ()
        )
        for name, t in times.values()
    )
    return Race(entrants, LEVELS, Options(), 1.0, 1)


def machines(words: ModuleType, whole: float, block: float) -> Any:
    return race(
        a=("bcfw", 0.5 * block), b=(words.OPTIMAL, block), c=(words.OBLIVIOUS, 4.0 * block), d=("matrix_fw", whole)
    )


def test_factors_are_of_those_who_got_there(words: ModuleType) -> None:
    assert words.factors([(6.0, 2.0), (10.0, 1.0)]) == "3 to 10 times"
    assert words.factors([(6.0, 2.0), (math.inf, 1.0), (1.0, math.inf)]) == (
        "3 times and without end in the time given on 1 of 2"
    )
    assert words.factors([(math.inf, math.inf)]) == "on no problem that either solved"


@pytest.mark.parametrize(("whole", "claim"), [(9.0, "is reversed"), (0.1, "holds:")])
def test_the_verdict_turns_with_the_race(words: ModuleType, whole: float, claim: str) -> None:
    binary = {"two": race(a=("l2svm_dual", 2.0), b=(words.PLAIN, math.inf), c=("apg", 1.0))}
    told = words.verdict({"x": machines(words, whole, 1.0)}, {"x": [0.1, 0.2, 1.5]}, binary, 9.61)
    assert claim in told
    assert "oblivious ones take longer by 4 times" in told
    assert "of which no certificate is asked, by 3 times" in told
    assert "on 0 of 1 binary machines" in told and "at most 9.6 sqrt(kappa)" in told and "faster on 1 of 1" in told
