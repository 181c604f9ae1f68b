"""Modules are loaded when they are needed: each question is put to a new interpreter."""

from __future__ import annotations

import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest

HEAVY = ("numpy", "scipy", "numba", "lark", "rich", "cvxpy", "threadpoolctl")


def loaded_by(code: str, root: Path) -> set[str]:
    """The heavy modules that are loaded once `code` has run."""
    program = f"{code}\nimport sys\nprint(*(m for m in {HEAVY!r} if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split()) if done.stdout.strip() else set()


def test_import_loads_nothing_heavy(root: Path):
    assert loaded_by("import fwdsl as fw; fw.__version__; fw.FwError", root) == set()


def test_building_an_expression_without_arrays_loads_nothing_heavy(root: Path):
    code = "import fwdsl as fw; x = fw.vector('p', name='x'); fw.norm1(x) <= 5; fw.minimize; repr(fw.l1_ball(3) and x)"
    assert (
        loaded_by("import fwdsl as fw; x = fw.vector('p', name='x'); c = fw.norm1(2 * x) <= 5; fw.load", root) == set()
    )
    assert "lark" not in loaded_by(code.split("; repr")[0], root)


def test_checking_loads_no_numerics(root: Path):
    code = "import fwdsl as fw; assert fw.parse('var x: vector[3]\\nminimize sum_squares(x - 1)').check() == ()"
    assert loaded_by(code, root) & {"numpy", "scipy", "numba", "cvxpy", "rich"} == set()


def test_planning_loads_only_what_it_looks_at(root: Path):
    code = """
import sys, numpy as np, fwdsl as fw
before = set(sys.modules)
text = "data A: matrix[n, p], b: vector[n]\\nvar x: vector[p]\\nminimize mean(squared(A @ x, b)) + norm1(x)"
assert fw.parse(text).bind(A=np.eye(3), b=np.ones(3)).plan().method
new = set(sys.modules) - before
heavy = {"scipy", "numba", "threadpoolctl", "tempfile", "concurrent.futures", "numpy.ma"}
assert not new & heavy, new & heavy
others = ("atoms.losses.quantile", "atoms.vectors.permutahedron", "backends.pdhg.proximal", "backends.dcd.interior")
assert not new & {f"fwdsl.{name}" for name in others}
"""
    loaded_by(code, root)


@pytest.mark.parametrize("method", ["apg", "frank_wolfe", "pdhg"])
def test_no_solve_imports_cvxpy(method: str, root: Path):
    code = f"""
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "cvxpy":
            raise AssertionError("a solve imports cvxpy")
sys.meta_path.insert(0, Refuse())
import fwdsl as fw
x = fw.vector(3, name="x")
sol = fw.minimize(fw.sum_squares(x - [1.0, 2.0, 3.0]), fw.norm1(x) <= 2).solve(method="{method}", tol=1e-3)
assert sol.status == "optimal" and sol.plan is not None and repr(sol), sol
"""
    assert "cvxpy" not in loaded_by(code, root)


def test_no_imports_go_in_circles() -> None:
    # `lint-imports` compares siblings alone: a package and what is in it may import each other there
    graph = grimp.build_graph("fwdsl", cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) & graph.modules for name in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        raise AssertionError(" <- ".join(error.args[1])) from None
