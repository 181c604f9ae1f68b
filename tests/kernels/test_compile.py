"""Compiling on demand, the cache and its stamp."""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from fwdsl.backends.kernels import cache
from fwdsl.backends.kernels import compile as compiling
from fwdsl.backends.kernels.cache import cache_root, kernel_sources, open_folder, stamp
from fwdsl.backends.kernels.compile import compile_seconds, compiled_signatures, kernel, loaded_signatures, on_compile

SOURCE = (
    "def doubled(x):\n    total = 0.0\n    for i in range(x.size):\n        total += 2.0 * x[i]\n    return total\n"
)


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_ways_of_rounding_are_compiled_and_kept_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    folder = open_folder(tmp_path, "test")
    monkeypatch.setattr(cache, "kernel_folder", lambda: folder)
    path = tmp_path / "ways.py"
    path.write_text(SOURCE)
    x = np.full(1000, 0.1)
    in_order = sum([0.2] * 1000)  # 2 * 0.1 is exact
    for _ in range(2):  # the second time from the files
        total = module(path).doubled
        fast, plain = kernel(total, reorder=True), kernel(total)
        assert kernel(total, fuse=True) not in (fast, plain)
        assert (kernel(total, reorder=True), kernel(total)) == (fast, plain)
        assert plain(x) == in_order
        assert fast(x) == pytest.approx(in_order) and fast(x) != in_order
    assert len(list(folder.glob("*.kernel"))) == 2


def test_compilations_are_announced_and_counted_and_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    folder = open_folder(tmp_path, "test")
    monkeypatch.setattr(cache, "kernel_folder", lambda: folder)
    path = tmp_path / "sums.py"
    path.write_text(SOURCE)
    announced: list[str] = []
    first = module(path).doubled
    spent = [compile_seconds()]
    with on_compile(announced.append):
        assert kernel(first)(np.ones(3)) == 6.0
        assert kernel(first)(np.ones(4)) == 8.0
        assert kernel(first)(np.ones(3, dtype=np.float32)) == 6.0
    assert kernel(first) is kernel(first)
    spent.append(compile_seconds())
    assert spent[1] > spent[0]
    assert announced == ["sums.doubled", "sums.doubled"]
    assert [s for s in compiled_signatures() if s.startswith("sums.")] == [
        "sums.doubled(array(float64, 1d, C))",
        "sums.doubled(array(float32, 1d, C))",
    ]
    # the same file read again stands for another process: its kernel comes from the cache
    again = module(path).doubled
    with on_compile(announced.append):
        assert kernel(again)(np.ones(5)) == 10.0
    assert len(announced) == 2
    assert compile_seconds() == spent[1]
    assert "sums.doubled(array(float64, 1d, C))" in loaded_signatures()
    assert len(list(tmp_path.rglob("*.kernel"))) == 2


def test_kernels_compiled_within_others_count_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(now=1.0, perf_counter=lambda: clock.now)
    monkeypatch.setattr(compiling, "time", clock)
    watch = compiling._Stopwatch()
    watch.start()
    clock.now = 3.0
    watch.start()
    clock.now = 4.0
    assert watch.seconds() == 3.0
    watch.stop()
    clock.now = 9.0
    watch.stop()
    clock.now = 20.0
    assert watch.seconds() == 8.0
    watch.start()
    clock.now = 26.0
    watch.stop()
    assert watch.seconds() == 14.0


def test_a_kernel_runs_without_a_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    monkeypatch.setattr(cache, "kernel_folder", lambda: None)
    path = tmp_path / "uncached.py"
    path.write_text(SOURCE)
    assert kernel(module(path).doubled)(np.ones(2)) == 4.0
    assert list(tmp_path.rglob("*.kernel")) == []


def test_the_stamp_changes_with_sources_and_versions(tmp_path: Path) -> None:
    a, b = tmp_path / "a.py", tmp_path / "b.py"
    a.write_text("x = 1\n")
    b.write_text("y = 1\n")
    before = stamp([a, b], "numba 1")
    assert stamp([b, a], "numba 1") == before
    assert stamp([a, b], "numba 2") != before
    assert stamp([a], "numba 1") != before
    a.write_text("x = 2\n")
    assert stamp([a, b], "numba 1") != before
    a.write_text("x = 1\n")
    assert stamp([a, b], "numba 1") == before


def test_the_stamp_covers_atoms_and_matrix_kernels() -> None:
    names = {(path.parent.name, path.name) for path in kernel_sources()}
    assert {
        ("losses", "logistic.py"),
        ("vectors", "threshold.py"),
        ("atoms", "base.py"),
        ("kernels", "matrix.py"),
    } <= names


def test_a_folder_that_cannot_be_written_gives_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    with caplog.at_level(logging.WARNING, logger="fwdsl.kernels"):
        assert open_folder(blocked, "mark") is None
    assert len(caplog.records) == 1
    assert "compiled again in every process" in caplog.text


def test_folders_of_other_versions_go_after_a_month(tmp_path: Path) -> None:
    old, recent = tmp_path / "kernels-old", tmp_path / "kernels-recent"
    foreign = tmp_path / "other"
    for folder in (old, recent, foreign):
        folder.mkdir()
    month = time.time() - 40 * 24 * 3600.0
    os.utime(old, (month, month))
    os.utime(foreign, (month, month))
    kept = open_folder(tmp_path, "new")
    assert kept == tmp_path / "kernels-new" and kept.is_dir()
    assert not old.exists()
    assert recent.is_dir() and foreign.is_dir()


def test_the_cache_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FWDSL_CACHE_DIR", str(tmp_path))
    assert cache_root() == tmp_path
    monkeypatch.delenv("FWDSL_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_root() == tmp_path / "fwdsl"


def test_importing_atoms_and_kernels_loads_neither_numba_nor_scipy() -> None:
    import subprocess

    code = (
        "import sys, fwdsl.atoms.losses, fwdsl.atoms.vectors, fwdsl.backends.kernels;"
        "print(sorted({'numba', 'scipy', 'threadpoolctl'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
