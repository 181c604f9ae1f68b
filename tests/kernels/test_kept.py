"""Kept kernels that are damaged, and folders that others could have put them in."""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import random
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

from fwdsl.backends.kernels import cache, kept
from fwdsl.backends.kernels.cache import open_folder
from fwdsl.backends.kernels.compile import compiled_signatures, kernel

SOURCE = (
    "def tripled(x):\n    total = 0.0\n    for i in range(x.size):\n        total += 3.0 * x[i]\n    return total\n"
)
posix = pytest.mark.skipif(os.name != "posix", reason="modes and owners of POSIX")


def flipped(path: Path, at: float) -> None:
    content = bytearray(path.read_bytes())
    content[int(at * (len(content) - 1))] ^= 1 << random.Random(at).randrange(8)
    path.write_bytes(content)


def sealed(path: Path, body: bytes) -> None:
    path.write_bytes(kept._MAGIC + sha256(body).digest() + body)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "inside").write_text("")


DAMAGE: dict[str, Callable[[Path], object]] = {
    "empty": lambda p: p.write_bytes(b""),
    "cut short": lambda p: p.write_bytes(p.read_bytes()[:-700]),
    "its start only": lambda p: p.write_bytes(p.read_bytes()[:20]),
    "garbage": lambda p: p.write_bytes(random.Random(0).randbytes(3000)),
    "grown": lambda p: p.write_bytes(p.read_bytes() + b"\0"),
    "a bit of the mark": lambda p: flipped(p, 0.0),
    "a bit of the types": lambda p: flipped(p, 0.02),
    "a bit in the middle": lambda p: flipped(p, 0.5),
    "a bit of machine code": lambda p: flipped(p, 0.8),
    "the last bit": lambda p: flipped(p, 1.0),
    "no pickle": lambda p: sealed(p, b"not a pickle"),
    "another pickle": lambda p: sealed(p, b"\x80\x04K\x01."),
    "a folder": a_folder,
}


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Callable]:
    """A kernel as another process would find it, kept in a folder of the test."""
    folder = open_folder(tmp_path / "cache", "test")
    monkeypatch.setattr(cache, "kernel_folder", lambda: folder)
    monkeypatch.setattr(kept, "_told", set())
    path = tmp_path / "threes.py"
    path.write_text(SOURCE)

    def load() -> Callable:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return kernel(module.tripled)

    return load


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_kernel_is_dropped_and_compiled_again(
    fresh: Callable[[], Callable], tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert fresh()(np.ones(3)) == 9.0
    assert fresh()(np.ones(3, dtype=np.float32)) == 9.0
    files = sorted(tmp_path.rglob("*.kernel"))
    assert len(files) == 2
    for path in files:
        DAMAGE[damage](path)
    before = len(compiled_signatures())
    with caplog.at_level(logging.WARNING, logger="fwdsl.kernels"):
        again = fresh()
        assert again(np.ones(3)) == 9.0
        assert again(np.ones(3, dtype=np.float32)) == 9.0
    assert len(compiled_signatures()) == before + 2
    assert [r.getMessage() for r in caplog.records] == [
        f"a compiled kernel kept in {files[0].parent} was damaged: it is compiled again"
    ]
    # what was compiled again has taken the place of the damaged one
    assert fresh()(np.ones(3)) == 9.0
    assert len(compiled_signatures()) == before + 2
    assert sorted(tmp_path.rglob("*.kernel")) == files and all(path.is_file() for path in files)


def test_a_kernel_of_another_source_is_not_used(fresh: Callable[[], Callable], tmp_path: Path) -> None:
    assert fresh()(np.ones(3)) == 9.0
    kept._content_digest.cache_clear()
    # of another length: Python takes byte code for current where the second and the length are the same
    (tmp_path / "threes.py").write_text(SOURCE.replace("3.0", "4.00"))
    assert fresh()(np.ones(3)) == 12.0


def test_a_full_disk_costs_the_cache_only(
    fresh: Callable[[], Callable], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(_from: object, _to: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kept.os, "replace", full)
    with caplog.at_level(logging.WARNING, logger="fwdsl.kernels"):
        assert fresh()(np.ones(3)) == 9.0
        assert fresh()(np.ones(3, dtype=np.float32)) == 9.0
    assert [r.getMessage().partition(": ")[2] for r in caplog.records] == ["no space left on device"]
    assert list(tmp_path.rglob("*.part-*")) == []


@posix
def test_only_its_owner_may_enter_the_cache(fresh: Callable[[], Callable], tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        folder = open_folder(tmp_path / "a" / "root", "mark")
        fresh()(np.ones(3))
    finally:
        os.umask(mask)
    assert folder is not None
    assert [p.stat().st_mode & 0o777 for p in (folder, folder.parent)] == [0o700, 0o700]
    assert {p.stat().st_mode & 0o777 for p in tmp_path.rglob("*.kernel")} == {0o600}


@posix
@pytest.mark.parametrize("mode", [0o666, 0o620])
def test_a_kernel_that_others_may_write_is_not_used(
    fresh: Callable[[], Callable], tmp_path: Path, mode: int, caplog: pytest.LogCaptureFixture
) -> None:
    fresh()(np.ones(3))
    (kernel_file,) = tmp_path.rglob("*.kernel")
    kernel_file.chmod(mode)
    with caplog.at_level(logging.WARNING, logger="fwdsl.kernels"):
        assert fresh()(np.ones(3)) == 9.0
    assert [r.getMessage().partition(" could ")[2] for r in caplog.records] == [
        "be written by others: it is compiled again"
    ]
    assert kernel_file.stat().st_mode & 0o777 == 0o600
    with caplog.at_level(logging.WARNING, logger="fwdsl.kernels"):
        assert fresh()(np.ones(3)) == 9.0
    assert len(caplog.records) == 1


@posix
@pytest.mark.parametrize("mode", [0o770, 0o707, 0o720])
@pytest.mark.parametrize("which", ["root", "root/kernels-mark"])
def test_a_folder_that_others_may_write_is_not_used(
    tmp_path: Path, mode: int, which: str, caplog: pytest.LogCaptureFixture
) -> None:
    root = tmp_path / "root"
    assert open_folder(root, "mark") is not None
    (tmp_path / which).chmod(mode)
    with caplog.at_level(logging.WARNING, logger="fwdsl.kernels"):
        assert open_folder(root, "mark") is None
    (record,) = caplog.records
    assert str(tmp_path / which) in record.getMessage() and "others may write in it" in record.getMessage()


@posix
def test_a_folder_of_somebody_else_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    assert open_folder(tmp_path, "mark") is not None
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with caplog.at_level(logging.WARNING, logger="fwdsl.kernels"):
        assert open_folder(tmp_path, "mark") is None
    assert len(caplog.records) == 1 and "belongs to somebody else" in caplog.text


@posix
def test_a_link_put_in_a_folder_that_all_share_is_not_followed(tmp_path: Path) -> None:
    shared, mine = tmp_path / "shared", tmp_path / "mine"
    mine.mkdir(mode=0o700)
    shared.mkdir()
    shared.chmod(0o1777)
    assert open_folder(shared, "own") == shared / "kernels-own"
    (shared / "kernels-mark").symlink_to(mine)
    assert open_folder(shared, "mark") is None


def test_a_run_goes_on_where_its_whole_cache_is_damaged(root: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "FWDSL_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "fwdsl", "run", "examples/portfolio.fw", "--json"]

    def run() -> tuple[dict, str]:
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), done.stderr

    first, said = run()
    assert said == ""
    files = sorted(tmp_path.rglob("*.kernel"))
    for path, damage in zip(files, 5 * list(DAMAGE.values()), strict=False):
        damage(path)
    again, said = run()
    assert said.count("was damaged: it is compiled again") == 1 and len(said.splitlines()) == 1
    assert again["variables"] == first["variables"]
    assert again["time"]["kernels"] > 0
    third, said = run()
    assert (third["variables"], said) == (first["variables"], "")
    assert third["time"]["kernels"] == 0


FACTORY = """
FACTOR = {value}

def made(c):
    def formula(z):
        return c * z * FACTOR
    return formula

def around(x):
    total = 0.0
    for e in x:
        total += formula(e)
    return total
"""


def test_kernels_that_differ_in_what_they_call_are_kept_apart(fresh: Callable[[], Callable], tmp_path: Path) -> None:
    """In the closure of a function that is called, and in a value of its module."""
    x = np.ones(2)
    for value, first, second in ((1.0, 2.0, 6.0), (10.0, 20.0, 60.0)):
        for _ in range(2):
            path = tmp_path / "factory.py"
            path.write_text(FACTORY.replace("{value}", f"float('{value}')"))
            kept._content_digest.cache_clear()
            spec = importlib.util.spec_from_file_location("factory", path)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            assert fresh() is not None
            for c, expected in ((1.0, first), (3.0, second)):
                assert kernel(module.around, formula=module.made(c))(x) == expected
                module.formula = module.made(c)
                assert kernel(FunctionType(module.around.__code__, dict(vars(module)), "around"))(x) == expected


def test_a_value_computed_when_a_module_is_loaded_is_part_of_the_key(
    fresh: Callable[[], Callable], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "environment.py"
    path.write_text("import os\nC = float(os.environ['C_OF_TEST'])\ndef scaled(x):\n    return C * x[0]\n")
    assert fresh() is not None
    for value in ("2", "5", "2"):
        monkeypatch.setenv("C_OF_TEST", value)
        spec = importlib.util.spec_from_file_location("environment", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        assert kernel(module.scaled)(np.ones(1)) == float(value)
