"""An extra that is absent, or of which a package is, ends in one line that names it."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

MODULES = {
    "cluster": "distributed dask tornado",
    "cuda": "cupy",
    "hdf5": "h5py",
    "lsp": "lsprotocol pygls cattrs",
    "notebook": "pandas dateutil",
    "onnx": "onnx google.protobuf",
    "oracle": "cvxpy",
    "parquet": "pyarrow pyarrow.parquet pyarrow.compute",
    "plot": "matplotlib PIL",
    "remote": "fsspec aiohttp yarl",
    "sklearn": "sklearn joblib",
    "zarr": "zarr numcodecs",
}
"""Each extra with the modules of its packages, and of some that these need themselves."""

SOLVED = "import fwdsl as fw; s = fw.minimize(fw.sum_squares(fw.vector(2) - 1)).solve()"

USES = {
    "cluster": "main(['run', 'fit.fw', '--data', 'X,y=a.csv', '--workers', '2'])",
    "cuda": "main(['run', 'fit.fw', '--data', 'X,y=a.csv', '--device', 'cuda'])",
    "hdf5": "main(['run', 'fit.fw', '--data', 'X,y=a.h5'])",
    "lsp": "main(['lsp'])",
    "notebook": "told(s.to_frame)",
    "onnx": "main(['export', 'a.npz', '--onnx', 'a.onnx'])",
    "oracle": "main(['verify', 'fit.fw', '--data', 'X,y=a.csv'])",
    "parquet": "main(['run', 'fit.fw', '--data', 'X,y=a.parquet'])",
    "plot": "main(['run', 'fit.fw', '--data', 'X,y=a.csv', '--plot', 'a.png'])",
    "remote": "main(['run', 'fit.fw', '--data', 'X,y=http://127.0.0.1:9/a.csv'])",
    "sklearn": "told(lambda: fwdsl.sklearn.FwRegressor)",
    "zarr": "main(['run', 'fit.fw', '--data', 'X,y=a.zarr'])",
}
"""The calls that ask for each extra."""

FIRST = {"notebook": SOLVED, "sklearn": "import fwdsl.sklearn"}
"""The code that comes before it."""

SCRIPT = """
import sys
from fwdsl.cli import main

{first}

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if (name + ".").startswith("{module}."):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocked())

def told(use):
    from fwdsl.errors import FwError
    try:
        use()
    except FwError as error:
        sys.exit(str(error))

sys.exit({use})
"""

FIT = "data X: matrix[n, p], y: vector[n]\nvar w: vector[p]\nminimize mean(squared(X @ w, y)) + norm1(w)\n"


@pytest.mark.parametrize(("extra", "module"), [(extra, m) for extra, names in MODULES.items() for m in names.split()])
def test_whatever_is_absent_one_line_names_the_extra(extra: str, module: str, tmp_path: Path) -> None:
    root = MODULES[extra].split()[0]
    if find_spec(root) is None or (module.partition(".")[0] != root and find_spec(module) is None):
        pytest.skip(f"the extra `{extra}` is not installed")
    (tmp_path / "fit.fw").write_text(FIT)
    np.savetxt(
        tmp_path / "a.csv", np.random.default_rng(0).normal(size=(6, 3)), delimiter=",", header="a,b,y", comments=""
    )
    for name in ("a.h5", "a.parquet", "a.npz"):
        (tmp_path / name).write_bytes(b"none")
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.zarr" / "zarr.json").write_text("{}")
    script = SCRIPT.format(first=FIRST.get(extra, ""), module=module, use=USES[extra])
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, input="", capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("error[") == 1, done.stderr
    assert re.search(r"(not installed|cannot be loaded)", done.stderr), done.stderr
    assert f"pip install 'fwdsl[{extra}]'" in done.stderr, done.stderr


OTHERS = {
    "cluster": "told(lambda: fw.minimize(fw.sum_squares(fw.vector(2) - 1)).solve(client=2))",
    "cuda": "told(lambda: fw.minimize(fw.sum_squares(fw.vector(2) - 1)).solve(device='cuda'))",
    "oracle": "told(lambda: fw.minimize(fw.sum_squares(fw.vector(2) - 1)).to_cvxpy())",
    "oracle back": "told(lambda: fw.from_cvxpy(1))",
    "parquet new": "main(['new', 'a.parquet'])",
    "parquet": "told(fw.parse(open('fit.fw').read()).bind(X='a.parquet', y='a.parquet').solve)",
    "plot path": "main(['path', 'fit.fw', '--data', 'X,y=a.csv', '--set', 'mu=1,2', '--plot', 'a.png'])",
    "plot grid": "main(['grid', 'fit.fw', '--data', 'X,y=a.csv', '--set', 'mu=1,2', '--plot', 'a.png'])",
    "plot race": "main(['race', 'fit.fw', '--data', 'X,y=a.csv', '--plot', 'a.png'])",
}
"""Further calls that ask for an extra."""


@pytest.mark.parametrize("call", OTHERS)
def test_every_other_call_names_it_too(call: str, tmp_path: Path) -> None:
    extra = call.partition(" ")[0]
    root = MODULES[extra].split()[0]
    (tmp_path / "fit.fw").write_text(
        FIT.replace("norm1(w)", "mu * norm1(w)").replace("var", "param mu: nonnegative = 1\nvar")
    )
    (tmp_path / "a.csv").write_text("a,b,y\n1,2,3\n2,1,1\n3,5,2\n")
    (tmp_path / "a.parquet").write_bytes(b"none")
    script = SCRIPT.format(first="import fwdsl as fw", module=root, use=OTHERS[call])
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, input="", capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr and done.stderr.count("error[") == 1, done.stderr
    assert "not installed" in done.stderr and f"pip install 'fwdsl[{extra}]'" in done.stderr, done.stderr


def test_every_package_of_every_extra_is_tried(root: Path) -> None:
    extras = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert MODULES.keys() == extras.keys() - {"bench", "docs", "test"}
    others = {
        "scikit-learn": "sklearn",
        "ipython": "pandas",
        "cupy-cuda13x": "cupy",
    }  # a cell runs in IPython, which is there then
    for extra, names in MODULES.items():
        projects = {re.split(r"[^\w-]", line)[0] for line in extras[extra]}
        assert {others.get(name, name) for name in projects} <= set(names.split())
