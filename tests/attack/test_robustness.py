"""A sample of each attack on robustness; all of it where slow tests are asked for."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pytest

from . import caches, data_files, programs, signals, states
from .harness import Case, survey

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of memory and signals are those of POSIX")

#: Attack: its cases, how many, and the numbers of those in the default run; one that takes ten seconds a case has none.
ATTACKS: dict[str, tuple[Case, int, Sequence[int]]] = {
    "programs": (programs.case, programs.COUNT, range(1, 240)),
    "data files": (data_files.case, data_files.COUNT, range(1, 200)),
    "states": (states.case, states.COUNT, range(8)),
    "caches": (caches.case, caches.COUNT, ()),
    "signals": (signals.case, signals.COUNT, (1, 12)),
}


def attack(case: Case, numbers: Sequence[int]) -> None:
    faults = [str(fault) for fault in survey(case, numbers)]
    assert not faults, f"{len(faults)} faults of {len(numbers)} cases\n" + "\n".join(faults[:3])


@pytest.mark.parametrize("name", [name for name, (_, _, sample) in ATTACKS.items() if sample])
def test_a_sample(name: str):
    case, _, sample = ATTACKS[name]
    attack(case, sample)


@pytest.mark.slow
@pytest.mark.parametrize("name", ATTACKS)
def test_all(name: str):
    case, count, _ = ATTACKS[name]
    attack(case, range(count))
