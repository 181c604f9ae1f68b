"""The twelve problems of the general method's benchmark: each program takes its data and means what is stated in CVXPY."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import fwdsl as fw

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"
NAMES = sorted(path.stem for path in (FOLDER / "programs" / "general").glob("*.fw"))


@pytest.fixture(scope="module")
def problems() -> Iterator[ModuleType]:
    """The module of the problems, imported as its script does: from its own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        yield importlib.import_module("general_problems")
    del sys.modules["general_problems"]


def test_twelve(problems: ModuleType) -> None:
    assert sorted(problems.PROBLEMS) == NAMES
    assert len(NAMES) == 12


@pytest.mark.parametrize("name", NAMES)
def test_program_and_cvxpy_agree(problems: ModuleType, name: str) -> None:
    cp = pytest.importorskip("cvxpy")
    named = problems.PROBLEMS[name]
    data = named.make(**named.tiny)
    oracle = cp.Problem(*named.state(cp, data))
    oracle.solve(solver="CLARABEL")
    solution = fw.load(problems.PROGRAMS / f"{name}.fw").bind(**data).solve(threads=1)
    assert solution.objective == pytest.approx(oracle.value, rel=1e-5, abs=1e-6)
