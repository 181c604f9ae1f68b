"""Runs with `device="cuda"`: the certificate of the host, with a stand-in for the device here, and with CUDA where there is a device."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import fwdsl as fw
from fwdsl.backends import devices
from fwdsl.backends.kernels.on_device import DeviceDense
from fwdsl.backends.registry import METHODS
from fwdsl.cli import main
from fwdsl.errors import FwError
from fwdsl.solve.solve import solve
from tests.kernels.devices import StandIn, real, standing_in

DATA = "data X: matrix[n, p], y: {target}[n]\nvar w: vector[p]\n"
PROGRAMS = {
    "logistic on an l1 ball": ("signs", "minimize mean(logistic(X @ w, y))\nsubject to norm1(w) <= 2"),
    "lasso": ("vector", "minimize mean(squared(X @ w, y)) + 0.1 * norm1(w)"),
    "smooth hinge on a ball": ("signs", "minimize mean(smooth_hinge(X @ w, y))\nsubject to norm2(w) <= 1"),
    "quantile": ("vector", "minimize mean(quantile(X @ w, y, tau=0.3)) + 0.01 * norm1(w)"),
    "ridge": ("vector", "minimize mean(squared(X @ w, y)) + 0.1 * sum_squares(w)"),
    "logistic on an l1 ball with a ridge": (
        "signs",
        "minimize mean(logistic(X @ w, y)) + 0.1 * sum_squares(w)\nsubject to norm1(w) <= 2",
    ),
    "nonnegative least squares": ("vector", "minimize mean(squared(X @ w, y))\nsubject to w >= 0"),
}
METHODS_OF = {
    "logistic on an l1 ball": ("apg", "frank_wolfe", "away_frank_wolfe"),
    "lasso": ("apg", "pdhg"),
    "smooth hinge on a ball": ("apg", "frank_wolfe"),
    "quantile": ("pdhg",),
    "ridge": ("newton", "apg"),
    "logistic on an l1 ball with a ridge": ("pdbfw",),
    "nonnegative least squares": ("pivoting",),
}
CASES = [(name, method) for name, methods in METHODS_OF.items() for method in methods]


def problem(name: str, kind: str = "dense") -> fw.Problem:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 30))
    target, text = PROGRAMS[name]
    y = X[:, :4].sum(axis=1) + rng.standard_normal(400)
    y = np.where(y > 0.0, 1.0, -1.0) if target == "signs" else y
    if kind == "float32":
        X = X.astype(np.float32)
    data: Any = sp.csr_array(np.where(np.abs(X) > 1.0, X, 0.0)) if kind == "sparse" else X
    return fw.parse(DATA.format(target=target) + text).bind(X=data, y=y)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Any:
    with standing_in(StandIn(), monkeypatch) as device:
        yield device


def same(one: fw.Solution, other: fw.Solution, tol: float) -> None:
    assert one.status == other.status == "optimal" and one.certificate.kind == other.certificate.kind
    assert math.isclose(one.objective, other.objective, rel_tol=2.0 * tol)
    assert one.dual_bound <= other.objective + 1e-12 and other.dual_bound <= one.objective + 1e-12


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse"])
@pytest.mark.parametrize(("name", "method"), CASES)
def test_a_device_gives_the_same_certificate(name: str, method: str, kind: str, stand_in: devices.Device) -> None:
    tol = 1e-3 if "frank_wolfe" in method else 1e-6
    given = problem(name, kind)
    ours, theirs = (given.solve(method=method, tol=tol, threads=1, device=at) for at in ("cpu", "cuda"))
    same(ours, theirs, tol)
    assert ours.device.name == "cpu" and not ours.device.data and ours.times.move == 0.0
    (placed,) = theirs.device.data
    assert (theirs.device.name, theirs.device.model, placed.name, placed.why) == ("cuda", "a stand-in", "X", "")
    assert placed.products > 2 and theirs.times.move > 0.0
    assert theirs.plan.on_device and not ours.plan.on_device


@pytest.mark.parametrize(("name", "method"), [case for case in CASES if case[1] != "pivoting"])
def test_methods_that_ask_the_table_read_no_numbers_themselves(
    name: str, method: str, stand_in: devices.Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = DeviceDense.__init__

    def blind(self: DeviceDense, *args: Any) -> None:
        begin(self, *args)
        self.store = None  # type: ignore[assignment]

    monkeypatch.setattr(DeviceDense, "__init__", blind)
    assert not METHODS[method].on_host
    tol = 1e-3 if "frank_wolfe" in method else 1e-6
    assert problem(name).solve(method=method, tol=tol, threads=1, device="cuda").status == "optimal"


def test_products_with_matrices_go_there_too(stand_in: devices.Device) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((300, 12)), rng.integers(0, 4, 300)
    text = "data X: matrix[n, p], y: labels[n, k]\nvar W: matrix[p, k]\nminimize mean(softmax(X @ W, y)) + 0.01 * sum_squares(W)\n"
    for data in (X, sp.csr_array(np.where(np.abs(X) > 1.0, X, 0.0))):
        given = fw.parse(text).bind(X=data, y=y)
        ours, theirs = (given.solve(method="apg", threads=1, device=at) for at in ("cpu", "cuda"))
        same(ours, theirs, 1e-6)
        assert theirs.device.data[0].products > 4


def test_the_planner_chooses_among_those_that_use_the_device(stand_in: devices.Device) -> None:
    given = problem("lasso")
    free, bound = given.plan(), given.plan(device="cuda")
    assert METHODS[free.method].on_host and not METHODS[bound.method].on_host
    assert "among those whose products the device takes" in bound.why
    assert any("`X`" not in line and "X, 96.0 kB, goes there" in line for line in bound.facts)
    left = next(c for c in bound.candidates if c.name == free.method)
    assert left.by_name_only.startswith("runs on the host: it visits")
    assert not any(METHODS[c.name].on_host for c in bound.rivals())
    assert bound.to_json()["on_device"] is True
    named = given.plan(device="cuda", method=free.method)
    assert named.method == free.method and not named.on_device
    assert named.facts[-1] == f"{free.method} runs on the host: it {METHODS[free.method].on_host}"


def test_predictions_know_what_products_cost_there(stand_in: devices.Device) -> None:
    X = np.random.default_rng(0).standard_normal((20_000, 200))
    given = fw.parse(DATA.format(target="vector") + PROGRAMS["lasso"][1]).bind(X=X, y=X[:, 0])
    here, there = (given.plan(method="apg", device=at).chosen.estimate for at in ("cpu", "cuda"))
    assert here is not None and there is not None
    assert there.passes == here.passes and there.seconds < 0.7 * here.seconds
    # what the host does costs the same
    here, there = (given.plan(method="coordinate_descent", device=at).chosen.estimate for at in ("cpu", "cuda"))
    assert here is not None and there is not None and there.seconds == here.seconds


def test_a_method_of_the_host_says_so_in_its_answer(stand_in: devices.Device) -> None:
    found = problem("lasso").solve(method="coordinate_descent", device="cuda")
    assert (
        found.status == "optimal"
        and found.device.name == "cpu"
        and found.device.why.startswith("coordinate_descent visits")
    )
    assert not stand_in.arrays.moved  # type: ignore[attr-defined]


def test_small_data_and_data_that_do_not_fit_stay_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    given = problem("lasso")
    free = given.plan().method
    with standing_in(StandIn(), monkeypatch, least=10**6):
        plan, found = given.plan(device="cuda"), given.solve(device="cuda")
        assert plan.method == found.method == free and "products with less than 1.0 MB" in "\n".join(plan.facts)
        assert found.device.why and found.device.name == "cpu"
    with standing_in(StandIn(room=1000), monkeypatch):
        plan, found = given.plan(device="cuda"), given.solve(device="cuda")
        assert plan.method == found.method == free and "the device has 1.0 kB free" in "\n".join(plan.facts)


def test_a_device_that_fails_leaves_the_rest_to_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    given = problem("logistic on an l1 ball")
    expected = given.solve(method="apg", tol=1e-8)
    for after in (0, 1, 5):
        with standing_in(StandIn(fails_after=after), monkeypatch):
            found = given.solve(method="apg", tol=1e-8, device="cuda")
        same(expected, found, 1e-8)
        (placed,) = found.device.data
        assert placed.products == after and placed.why == "the memory of the device ran out"
        assert bool(found.warnings) == bool(after) and found.device.name == ("cuda" if after else "cpu")


def test_a_matrix_that_cannot_be_moved_after_all_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = StandIn()
    monkeypatch.setattr(arrays, "put", lambda host: (_ for _ in ()).throw(MemoryError))
    with standing_in(arrays, monkeypatch):
        found = problem("lasso").solve(method="apg", device="cuda")
    assert found.status == "optimal" and found.device.data[0].why == "the memory of the device ran out"


def test_a_path_moves_its_data_once_and_lets_them_go(stand_in: devices.Device) -> None:
    X, y = np.random.default_rng(0).standard_normal((300, 20)), np.ones(300)
    text = "data X: matrix[n, p], y: vector[n]\nparam mu: positive\nvar w: vector[p]\nminimize mean(squared(X @ w, y)) + mu * norm1(w)\n"
    path = fw.parse(text).bind(X=X, y=y).path(mu=[0.1, 0.01, 0.001], method="apg", device="cuda")
    moved = [shape for shape in stand_in.arrays.moved if len(shape) == 2]  # type: ignore[attr-defined]
    assert moved == [(300, 20)] and path[0].times.move > 0.0 and path[1].times.move == 0.0
    assert all(s.device.data[0].products > 0 for s in path) and len(stand_in._kept) == 1
    stand_in.forget()
    assert not stand_in._kept


def test_states_answers_and_folds_are_as_always(
    stand_in: devices.Device, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = problem("logistic on an l1 ball")
    stopped = given.solve(method="frank_wolfe", max_iter=5, device="cuda", threads=1)
    assert stopped.status == "tolerance_not_reached" and stopped.device.name == "cuda"
    plan = given.plan(method="frank_wolfe", device="cuda", tol=1e-3)
    options = fw.parse(given.to_fw())._session.options
    assert plan.on_device and options.device == "cpu"
    from dataclasses import replace

    wanted = replace(options, method="frank_wolfe", device="cuda", threads=1, tol=1e-3)
    resumed, whole = (solve(given.canonical, plan, wanted, resume=state) for state in (stopped.state, None))
    assert np.array_equal(resumed["w"], whole["w"]) and resumed.device.name == "cuda"
    whole = given.solve(method="apg", device="cuda", threads=1)
    whole.save(tmp_path / "a.npz")
    assert fw.load_solution(tmp_path / "a.npz").device == whole.device

    monkeypatch.chdir(tmp_path)
    X, y = given.instance.values["X"], given.instance.values["y"]
    np.savez("d.npz", X=X, y=y)
    Path("fit.fw").write_text(
        DATA.format(target="signs") + PROGRAMS["logistic on an l1 ball"][1] + "\nsolve device = cuda\n"
    )
    assert main(["run", "fit.fw", "--data", "X,y=d.npz", "--threads", "1"]) == 0
    out = capsys.readouterr().out
    assert "device      cuda, a stand-in" in out and "`X`, 96.0 kB: " in out and "move to the device" in out
    assert main(["run", "fit.fw", "--data", "X,y=d.npz", "--threads", "1", "--json", "--device", "cpu"]) == 0
    assert json.loads(capsys.readouterr().out)["device"] == {"name": "cpu", "model": "", "why": "", "data": []}
    assert (
        main(
            [
                "race",
                "fit.fw",
                "--data",
                "X,y=d.npz",
                "--methods",
                "apg,frank_wolfe",
                "--tol",
                "1e-2",
                "--device",
                "cuda",
            ]
        )
        == 0
    )
    assert main(["doctor"]) == 0
    assert "device        cuda: a stand-in, 1000.0 GB free" in capsys.readouterr().out


def test_names_of_devices_are_told() -> None:
    with pytest.raises(FwError, match=r'FW0310[\s\S]*"cpu" or "cuda"'):
        problem("lasso").solve(device="tpu")  # type: ignore[arg-type]
    with pytest.raises(FwError, match=r"FW2014[\s\S]*`cpu` or `cuda`"):
        fw.parse("var x: real\nminimize sum_squares(x)\nsolve device = tpu").solve()


def test_the_command_line_tells_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "lasso.fw", "--device", "tpu"]) == 1
    assert "`--device` takes `cpu` or `cuda`" in capsys.readouterr().err


def fake(count: Any) -> Any:
    class CUDARuntimeError(RuntimeError):
        pass

    def get() -> int:
        if isinstance(count, str):
            raise CUDARuntimeError(count)
        return int(count)

    return SimpleNamespace(
        cuda=SimpleNamespace(runtime=SimpleNamespace(getDeviceCount=get, CUDARuntimeError=CUDARuntimeError)),
        __spec__=None,
    )


@pytest.mark.parametrize(
    ("cupy", "code", "told"),
    [
        (None, "FW0250", "pip install 'fwdsl[cuda]'"),
        (fake(0), "FW0251", "no CUDA device was found"),
        (
            fake("cudaErrorInsufficientDriver: too old\nmore"),
            "FW0251",
            "no CUDA device was found: cudaErrorInsufficientDriver: too old",
        ),
        (fake(1), "FW0251", "the CUDA device cannot be used"),
    ],
)
def test_without_a_device_one_line_says_why(cupy: Any, code: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(devices, "_OPENED", {})
    given = problem("lasso")
    for ask in (lambda: given.solve(device="cuda"), lambda: given.plan(device="cuda")):
        with pytest.raises(FwError) as raised:
            ask()
        assert raised.value.code == code and told in str(raised.value)


def test_nothing_of_devices_is_loaded_on_the_host_alone() -> None:
    import subprocess

    script = (
        "import sys, fwdsl as fw; fw.minimize(fw.sum_squares(fw.vector(2) - 1)).solve();"
        "sys.exit(any(n in sys.modules for n in ('cupy', 'fwdsl.backends.devices', 'fwdsl.backends.kernels.on_device')))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse"])
@pytest.mark.parametrize(("name", "method"), CASES)
def test_cuda_gives_the_same_certificate(name: str, method: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real()
    monkeypatch.setattr(devices, "LEAST", 1)
    tol = 1e-3 if "frank_wolfe" in method else 1e-6
    given = problem(name, kind)
    ours, theirs = (given.solve(method=method, tol=tol, device=at) for at in ("cpu", "cuda"))
    same(ours, theirs, tol)
    assert theirs.device.name == "cuda" and theirs.device.data[0].products > 2 and not theirs.device.data[0].why
