"""Predicted seconds are told in those of the machine at hand."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends import speed

TEXT = "data A: matrix[n, d], b: vector[n]\nvar x: vector[d]\nminimize mean(squared(A @ x, b)) + 0.1 * norm1(x)\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path / "cache"))
    speed.slowness.cache_clear()
    yield tmp_path / "cache"
    speed.slowness.cache_clear()


def test_the_fastest_of_the_first_processes_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = iter([3.0, 2.0, 4.0, *[5.0] * 10])
    monkeypatch.setattr(speed, "measured", lambda: next(told))
    found = []
    for _ in range(speed.PROCESSES + 2):
        found.append(speed.slowness())
        speed.slowness.cache_clear()
    assert found[:3] == [3.0, 2.0, 2.0] and set(found[3:]) == {2.0}
    assert len(json.loads((folder / "speed.json").read_text())["slowness"]) == speed.PROCESSES


@pytest.mark.parametrize(
    "content",
    ["", "{", "[1]", "3", '{"machine": 1}', '{"machine": "MINE", "slowness": [0.0]}', '{"machine": "MINE", "slowness": 2}',
     '{"machine": "other", "slowness": [7.0, 7, 7, 7, 7, 7, 7, 7]}', '{"machine": "MINE", "slowness": [1e999]}', "[" * 100_000],
)  # fmt: skip
def test_a_file_of_another_machine_or_a_damaged_one_is_measured_anew(
    folder: Path, content: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "measured", lambda: 1.5)
    speed.slowness()
    own = json.loads((folder / "speed.json").read_text())["machine"]
    (folder / "speed.json").write_text(content.replace("MINE", own))
    speed.slowness.cache_clear()
    assert speed.slowness() == 1.5


def test_a_folder_that_cannot_be_written_costs_the_measurement_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path / "file" / "cache"))
    speed.slowness.cache_clear()
    assert 1.0 / speed.WIDEST <= speed.slowness() <= speed.WIDEST
    speed.slowness.cache_clear()


@pytest.mark.parametrize("to", ["victim", "pipe", "/dev/zero"])
def test_what_others_put_in_its_place_is_not_followed(
    folder: Path, to: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "measured", lambda: 1.5)
    folder.mkdir(mode=0o700)
    target = tmp_path / to
    if to == "victim":
        target.write_text("precious")
    elif to == "pipe":
        os.mkfifo(target)
    (folder / "speed.json").symlink_to(target)
    assert speed.slowness() == 1.5
    assert not (folder / "speed.json").is_symlink() and (folder / "speed.json").is_file()
    if to == "victim":
        assert target.read_text() == "precious"


def test_a_pipe_is_not_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "measured", lambda: 1.5)
    folder.mkdir(mode=0o700)
    os.mkfifo(folder / "speed.json")
    assert speed.slowness() == 1.5 and (folder / "speed.json").is_file()


def test_seconds_are_told_so_and_the_choice_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    A = np.random.default_rng(0).standard_normal((50, 8))
    plans = []
    for factor in (1.0, 10.0):
        monkeypatch.setattr(speed, "measured", lambda factor=factor: factor)
        speed.slowness.cache_clear()
        (folder / "speed.json").unlink(missing_ok=True)
        s = fw.parse(TEXT).bind(A=A, b=A[:, 0]).solve()
        plans.append((s.plan.to_json(), s.analysis()["seconds"]["predicted"], s.method, s.iterations))
    one, other = plans
    assert one[2:] == other[2:] and other[1] == pytest.approx(10.0 * one[1])
    for a, b in zip(one[0]["methods"], other[0]["methods"], strict=True):
        if a["predicted"]:
            assert b["predicted"]["seconds"] == pytest.approx(10.0 * a["predicted"]["seconds"])
