"""Fixtures of the readers' tests."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fwdsl.readers.read import Role, read
from fwdsl.readers.sources import SourceSpec

MATRIX = Role("X", "matrix", (None, None))
VECTOR = Role("y", "vector", (None,))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh current folder, so that paths in messages are short."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def found(folder: Path) -> Callable[..., list[tuple[object, ...]]]:
    """Reads a text and gives what was found: (code, row, column, value)."""

    def run(
        format: str, text: str | bytes, *roles: Role, suffix: str = "", **options: object
    ) -> list[tuple[object, ...]]:
        path = f"file.{format}{suffix}"
        Path(path).write_bytes(text if isinstance(text, bytes) else text.encode())
        arrays, diagnostics = read(SourceSpec(format, path, options), roles or (MATRIX, VECTOR))
        if any(d.severity == "error" for d in diagnostics):
            assert arrays == {}
        places = [(d.code, d.place) for d in diagnostics]
        assert all(place is not None and place.file == path for _, place in places)
        return [(code, p.row, p.column, p.value) for code, p in places if p is not None]

    return run


@pytest.fixture
def served(folder: Path) -> Callable[..., dict[str, object]]:
    """Reads a text that is in order and gives its arrays."""

    def run(format: str, text: str | bytes, *roles: Role, **options: object) -> dict[str, object]:
        path = f"file.{format}"
        Path(path).write_bytes(text if isinstance(text, bytes) else text.encode())
        arrays, diagnostics = read(SourceSpec(format, path, options), roles or (MATRIX, VECTOR))
        assert diagnostics == ()
        os.unlink(path)
        return arrays

    return run
