"""The words of the page of DSPDC: comparisons and the verdict follow the numbers."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from fwdsl.model.options import Options
from fwdsl.solve.watch import LEVELS, Moment
from fwdsl.studies.race import Entrant, Race
from tests.benchmarks.loading import paper_module


@pytest.fixture(scope="module")
def words() -> ModuleType:
    return paper_module("dspdc", "words")


def entrant(name: str, *curve: tuple[float, float]) -> Any:
    """A run that came to each gap after so many seconds."""
    moments = tuple(Moment(t, t, int(10 * t), 1.0, 1.0 - gap, gap) for t, gap in curve)
    return Entrant(name, name.split("(")[0], "optimal", "", {}, moments)


def race(**gaps: tuple[float, float]) -> Race:
    """SPDC is q = 9; `own` and `spdc` with the watched Lambda, `given` and `spdc_given` with the paper's."""
    names = {
        "own": "dspdc(m=2, q=3)",
        "spdc": "dspdc(m=2, q=9)",
        "given": "dspdc(m=2, q=3, Lambda=1)",
        "spdc_given": "dspdc(m=2, q=9, Lambda=1)",
        "other": "dspdc(m=50, q=9)",
    }
    entrants = tuple(entrant(names.get(k, k), v) for k, v in gaps.items())
    return Race(entrants, Options(), LEVELS, 1.0, 1)


def test_ahead_behind_or_nothing_to_say(words: ModuleType) -> None:
    done, slower, short, none = (entrant("a", v) for v in ((1.0, 1e-7), (2.0, 1e-8), (9.0, 1e-2), (9.0, 0.9)))
    assert words.compared(done, slower) == 1
    assert words.compared(slower, done) == -1
    assert words.compared(slower, short) == 1
    assert words.compared(none, short) == -1
    # two that did nothing are no win for the one that did a little less of it
    assert words.compared(entrant("a", (9.0, 0.98)), none) == 0


def test_the_pair_is_that_of_the_paper_or_the_only_one(words: ModuleType) -> None:
    full = race(other=(1, 0.1), own=(1, 0.1), spdc_given=(1, 0.3), given=(1, 0.2), apg=(1, 1e-8))
    assert words.pair(full) == (2, 3, 9)
    assert words.against_spdc(full, True) == 1
    assert words.against_spdc(full, False) is None
    only = race(own=(1, 0.4), spdc=(1, 0.2), apg=(1, 1e-8))
    assert words.pair(only) == (2, 3, 9)
    assert words.against_spdc(only, True) is None
    assert words.against_spdc(only, False) == -1


def test_words_of_counts(words: ModuleType) -> None:
    assert words.counted([1, -1, None, 1]) == "2 of 3"
    assert words.counted([1, 0, -1]) == "1 of 3 (and 1 where neither comes to a gap of 0.5)"
    assert words.judged([1, 1, None]) == "holds"
    assert words.judged([1, -1]) == words.judged([1, 0]) == "holds in part"
    assert words.judged([-1, 0]) == words.judged([]) == "does not hold"


def test_the_verdict_turns_with_the_numbers(words: ModuleType) -> None:
    def said(given: float, spdc_given: float, own: float, apg: float) -> str:
        one = race(
            own=(1, own), spdc=(1, 0.05), given=(1, given), spdc_given=(1, spdc_given), apg=(1, apg), pdhg=(1, 0.1)
        )
        product = race(sdca=(1, 1e-5), spdc_of_A=(1, 1e-4), apg=(1, 1e-3))
        return str(words.verdict({"f": one}, {"f": product}, {"m": one}, {"letter": 0.4, "mnist": None}))

    good = said(given=1e-4, spdc_given=0.1, own=1e-7, apg=1e-3)
    assert (
        "the claim holds: sampling coordinates too is ahead in 1 of 1 races on factors and 1 of 1 on matrices" in good
    )
    assert "2 of the 4 runs with that Lambda come to 1e-3" in good
    assert "better in 4 of 4 runs" in good
    assert "0.40 of them on letter and a number that is not known on mnist" in good
    assert "`apg` on A in 1 of 1" in good
    assert "Against full gradients it holds: " in good
    bad = said(given=0.2, spdc_given=0.1, own=0.08, apg=1e-8)
    assert "the claim does not hold: sampling coordinates too is ahead in 0 of 1" in bad
    assert "`apg` on A in 0 of 1" in bad
    assert "Against full gradients it does not hold: " in bad
