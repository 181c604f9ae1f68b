"""Requests of the playground, as its worker makes them, in this Python; and the parts that its page is made of."""

from __future__ import annotations

import base64
import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tools.playground.assets import Absent, Core
from tools.playground.lock import write_lock
from tools.playground.sources import CHOSEN, MISTAKES, PAGE, examples, words, write_page

LASSO = (Path(__file__).resolve().parents[2] / "examples" / "lasso.fw").read_text(encoding="utf-8")


@pytest.fixture
def ask(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Ask the bridge, in a folder that has the data of examples."""
    spec = importlib.util.spec_from_file_location("bridge", PAGE / "bridge.py")
    assert spec is not None and spec.loader is not None
    bridge = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bridge)
    shutil.copytree(root / "examples" / "data", tmp_path / "work" / "data")
    monkeypatch.chdir(tmp_path)

    def asked(action: str, text: str = LASSO, tell: Any = None, **more: Any) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(bridge.answer(json.dumps({"action": action, "text": text, **more}), tell))
        return found

    return asked


def test_a_program_is_checked_with_fixes_and_carets(ask: Any) -> None:
    assert ask("check") == {"ok": True, "diagnostics": [], "html": ""}
    found = ask("check", MISTAKES)
    assert not found["ok"] and [d["code"] for d in found["diagnostics"]] == ["FW2006", "FW2032"]
    assert found["diagnostics"][0]["fix"]["replacement"] == "squared"
    assert "^^^^^^" in found["html"] and "<script" not in ask("check", "minimize <script>")["html"]


def test_a_program_is_formatted_and_a_damaged_one_is_left(ask: Any) -> None:
    assert ask("format", LASSO.replace(" + ", "  +  "))["text"] == LASSO
    damaged = ask("format", "minimize (")
    assert not damaged["ok"] and damaged["diagnostics"]


def test_words_are_completed_at_an_offset_in_code_points(ask: Any) -> None:
    text = "fw 1\n# \N{GRINNING FACE}\nvar x: vector[3]\nminimize nor"
    found = ask("complete", text, offset=len(text))
    assert text[found["start"] : found["end"]] == "nor"
    assert {"norm1", "norm2"} <= {offer["text"] for offer in found["offers"]}
    assert all(offer["text"].startswith("nor") for offer in found["offers"])


def test_a_code_is_explained(ask: Any) -> None:
    assert ask("explain", code="FW2006")["text"].startswith("FW2006: ")
    assert not ask("explain", code="FW0000")["ok"]


def test_a_plan_and_an_answer_come_with_their_reports(ask: Any) -> None:
    planned = ask("plan")
    assert planned["ok"] and planned["method"] == "coordinate_descent" and "<h2>Methods" in planned["report"]
    progress: list[str] = []
    solved = ask("solve", tell=progress.append, seconds=20)
    assert solved["solution"]["status"] == "optimal" and solved["solution"]["relative_gap"] <= 1e-6
    assert "<h2>Certificate" in solved["report"]
    assert set(json.loads(progress[0])) == {"seconds", "gap", "method", "iteration"}


def test_data_that_are_missing_are_a_diagnostic(ask: Any) -> None:
    found = ask("solve", LASSO.replace("synthetic", "nothing"))
    assert not found["ok"] and [d["code"] for d in found["diagnostics"]] == ["FW4001"]


def test_a_package_that_is_missing_is_named(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "scipy"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "scipy", None)
    text = LASSO.replace('csv("data/synthetic.csv", target="y")', 'libsvm("data/heart_scale.svm.gz")')
    assert ask("solve", text)["missing"] == "scipy"


def test_checking_completing_and_explaining_need_no_arrays(root: Path) -> None:
    code = f"""
import sys, json
sys.path.insert(0, {str(PAGE)!r})
for name in ("numpy", "scipy", "numba", "rich", "pygments"):
    sys.modules[name] = None
import bridge
text = {LASSO!r}
for more in ({{"action": "state"}}, {{"action": "check"}}, {{"action": "format"}}, {{"action": "explain", "code": "FW2006"}},
             {{"action": "complete", "offset": len(text) - 3}}):
    found = json.loads(bridge.answer(json.dumps({{"text": text, **more}})))
    assert found["ok"], (more, found)
assert json.loads(bridge.answer(json.dumps({{"text": text, "action": "plan"}})))["missing"] == "numpy"
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_bug_is_told_whole(ask: Any) -> None:
    assert "KeyError" in ask("complete")["failure"]


def test_the_page_has_the_words_and_the_examples_with_their_data(root: Path, tmp_path: Path) -> None:
    assert "minimize" in words()["keyword"] and "norm1" in words()["function"] and "vector" in words()["type"]
    known: Any = examples()
    assert [e["id"] for e in known["examples"]] == [*CHOSEN, "mistakes"]
    for example in known["examples"]:
        assert all(name in known["files"] for name in example["files"])
    assert base64.b64decode(known["files"]["data/signal.csv"]) == (root / "examples/data/signal.csv").read_bytes()
    write_page(tmp_path / "page")
    made = {path.name for path in (tmp_path / "page").iterdir()}
    assert {"index.html", "worker.js", "bridge.py", "looks.css", "words.json", "examples.json"} <= made


@pytest.fixture
def core(tmp_path: Path) -> Core:
    folder = tmp_path / "core"
    folder.mkdir()
    needs = {"numpy": [], "scipy": ["numpy", "libopenblas"], "libopenblas": []}
    packages = {
        name: {
            "name": name,
            "version": "1.0",
            "file_name": f"{name}-1.0.zip"
            if name == "libopenblas"
            else f"{name}-1.0-cp313-cp313-new_2025_0_wasm32.whl",
            "depends": depends,
            "imports": [name],
            "sha256": "",
        }
        for name, depends in needs.items()
    }
    lock = {"info": {"python": "3.13.2", "abi_version": "2025_0"}, "packages": packages}
    (folder / "pyodide-lock.json").write_text(json.dumps(lock))
    return Core("9.9", folder)


def test_packages_come_with_what_they_need(core: Core, tmp_path: Path) -> None:
    folder = tmp_path / "packages"
    folder.mkdir()
    assert core.numerical(None) == [] and core.numerical(folder) == []
    (folder / "scipy-1.0-cp313-cp313-new_2025_0_wasm32.whl").write_bytes(b"s")
    (folder / "numpy-1.0-cp313-cp313-old_2025_0_wasm32.whl").write_bytes(b"n")  # by its name in an earlier release
    assert [p.name for p in core.numerical(folder)] == ["numpy"]
    (folder / "libopenblas-1.0.zip").write_bytes(b"b")
    found = core.numerical(folder)
    assert [p.name for p in found] == ["numpy", "libopenblas", "scipy"]
    site = tmp_path / "site"
    (site / "pyodide").mkdir(parents=True)
    wheel = tmp_path / "fwdsl-0.1-py3-none-any.whl"
    wheel.write_bytes(b"f")
    write_lock(core, [wheel], found, site)
    listed = json.loads((site / "pyodide" / "pyodide-lock.json").read_text())["packages"]
    assert set(listed) == {"fwdsl", "numpy", "scipy", "libopenblas"}
    assert listed["numpy"]["file_name"] == "numpy-1.0-cp313-cp313-old_2025_0_wasm32.whl"
    assert all(len(entry["sha256"]) == 64 for entry in listed.values())
    told = json.loads((site / "manifest.json").read_text())
    assert told == {"packages": ["fwdsl"], "numerics": ["numpy", "scipy"], "missing": []}


def test_packages_for_another_pyodide_are_refused(core: Core, tmp_path: Path) -> None:
    (tmp_path / "numpy-1.0-cp314-cp314-new_2026_0_wasm32.whl").write_bytes(b"n")
    with pytest.raises(Absent, match=r"not for Pyodide 9\.9, whose wheels have the tag 2025_0"):
        core.numerical(tmp_path)
