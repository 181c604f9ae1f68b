"""A page of results judges its targets, and prints tables and times."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def scripts() -> Iterator[dict[str, ModuleType]]:
    """The helpers of the benchmarks, imported as their scripts do: from their own folder."""
    names = ("machine", "report", "timing")
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        yield {name: importlib.import_module(name) for name in names}
    # what another test has imported already stays: its objects are known by this name
    for name in set(names) - before:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("measured", "least", "met"),
    [
        (1.5, False, True),
        (1.51, False, False),
        (1.5, True, True),
        (1.49, True, False),
        (math.nan, False, False),
        (math.nan, True, False),
    ],
)
def test_target(scripts: dict[str, ModuleType], measured: float, least: bool, met: bool) -> None:
    target = scripts["report"].Target("ratio", measured, 1.5, least)
    assert target.met is met
    assert target.row()[-1] == ("met" if met else "**missed**")


def test_table(scripts: dict[str, ModuleType]) -> None:
    lines = scripts["report"].table(["solver", "s"], [["a", "1.25"], ["longer name", ""]]).splitlines()
    assert lines == [
        "| solver      |    s |",
        "| ----------- | ---: |",
        "| a           | 1.25 |",
        "| longer name |      |",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0 us"), (4.2e-5, "42 us"), (0.0831, "83.1 ms"), (0.9999, "1 s"), (1.416, "1.42 s"), (1234.5, "1234 s")],
)
def test_duration(scripts: dict[str, ModuleType], seconds: float, text: str) -> None:
    assert scripts["timing"].duration(seconds) == text


def test_competitors_take_turns(scripts: dict[str, ModuleType]) -> None:
    calls: list[str] = []
    runs = scripts["timing"].interleaved({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, rounds=3)
    assert calls == ["a", "b"] * 3
    assert [len(r.all) for r in runs.values()] == [3, 3]


def test_one_round_whatever_the_budget(scripts: dict[str, ModuleType]) -> None:
    runs = scripts["timing"].interleaved({"a": lambda: sum(range(1000))}, rounds=5, budget=1e-12)
    assert len(runs["a"].all) == 1
    assert runs["a"].result == 499500
