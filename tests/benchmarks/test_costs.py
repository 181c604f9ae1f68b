"""The sets whose projections are timed can all be made."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from fwdsl.atoms.vectors import SETS

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def costs() -> Iterator[ModuleType]:
    """The script, imported with the helpers beside it."""
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        yield importlib.import_module("costs")
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).parent == FOLDER:
            del sys.modules[name]


@pytest.mark.parametrize("name", [name for name in SETS if name is not None])
def test_every_set_is_made_or_named_as_left_out(costs: ModuleType, name: str) -> None:
    if name in costs.UNMEASURED:
        return
    cls: Any = SETS[name]
    made = cls(40, **costs.arguments(name, 40))
    x = np.linspace(-3.0, 3.0, 40)
    projected = made.prox(x, 1.0)
    assert made.violation(projected) <= 1e-9
