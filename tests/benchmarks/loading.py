"""Files of `benchmarks/papers`, which is no package, as modules."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

PAPERS = Path(__file__).resolve().parents[2] / "benchmarks" / "papers"


def paper_module(folder: str, name: str) -> ModuleType:
    """`papers/FOLDER/NAME.py`, under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"{folder}_{name}", PAPERS / folder / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
