"""The programs of the benchmarks are accepted, formatted, and as long as the figures say."""

from __future__ import annotations

from pathlib import Path

import pytest

from fwdsl.check import compile_text
from fwdsl.grammar import format_source

PROGRAMS = sorted((Path(__file__).resolve().parents[2] / "benchmarks" / "programs").rglob("*.fw"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_nothing_is_found(path: Path) -> None:
    model, diagnostics = compile_text(path.read_text(encoding="utf-8"), path.name)
    assert model is not None
    assert diagnostics == ()


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert format_source(text, path.name) == (text, ())


def test_hundred_lines() -> None:
    (path,) = (path for path in PROGRAMS if path.stem == "hundred_lines")
    assert len(path.read_text(encoding="utf-8").splitlines()) == 100
