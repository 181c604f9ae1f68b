"""Words from outside, in files of their own beside this one: checked, built, planned, solved, certified, printed and diagnosed like ours."""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.backends.kernels.compile import kernel
from fwdsl.cli import main
from fwdsl.testing import check_loss, check_set, registered
from tests.plugins.ellipsoid import Ellipsoid
from tests.plugins.increasing import Increasing
from tests.plugins.tweedie import Tweedie

ROOT = Path(__file__).resolve().parents[2]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = RNG.poisson(np.exp(X @ np.array([0.5, -0.3, 0.2, 0.1]))) * RNG.gamma(2.0, 0.5, 60)
AXES = np.linspace(0.1, 0.6, 4)

PROGRAM = """\
fw 1

data X: matrix[n, p] from npy("X.npy")
data y: vector[n] from npy("y.npy")
data s: vector[p] from npy("s.npy")
var w: vector[p]

minimize mean(tweedie(X @ w, y, a=0.4))
subject to
  inside: w in ellipsoid(s)
"""


@pytest.fixture(autouse=True)
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The words for the time of a test, and a folder with the program and its data."""
    monkeypatch.chdir(tmp_path)
    Path("p.fw").write_text(PROGRAM)
    for name, value in (("X", X), ("y", Y), ("s", AXES)):
        np.save(f"{name}.npy", value)
    with registered(Tweedie, Ellipsoid, Increasing):
        yield


VALUE = 4.450190
"""The optimal value of the program."""


@pytest.mark.parametrize("cls", [Ellipsoid, Increasing])
def test_the_sets_conform(cls: Any) -> None:
    check_set(cls)


def test_the_loss_conforms() -> None:
    check_loss(Tweedie)


# --- from a program to a certified answer -----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["auto", "apg", "pdhg", "frank_wolfe", "block_frank_wolfe"])
def test_methods_agree_on_a_certified_answer(method: str) -> None:
    solution = fw.load("p.fw").solve(method=method)
    assert solution.status == "optimal" and solution.certificate.kind == "exact"
    assert solution.objective == pytest.approx(VALUE, rel=2e-6)
    assert solution.certificate.dual_bound <= VALUE * (1 + 1e-6)
    assert Ellipsoid(4, AXES).violation(solution["w"]) <= 1e-12


def test_a_built_problem_is_that_of_the_text() -> None:
    w = fw.vector(4, name="w")
    loss = fw.mean(fw.tweedie(fw.data("X", X) @ w, fw.data("y", Y), a=0.4))
    problem = fw.minimize(loss, w.in_(fw.ellipsoid(fw.data("s", AXES))).named("inside"))
    assert "tweedie(X @ w, y, a=0.4)" in problem.to_fw() and "w in ellipsoid(s)" in problem.to_fw()
    assert problem.solve().objective == pytest.approx(VALUE, rel=2e-6)
    assert fw.tweedie.__doc__ == "b exp(-a z)/a + exp((1 - a) z)/(1 - a), b >= 0 per sample."
    assert {"tweedie", "ellipsoid", "increasing"} <= set(dir(fw))


def test_the_multiplier_of_a_constraint_is_the_derivative_of_the_value() -> None:
    """In a shift of the set: of x - e in the set."""
    program = PROGRAM.replace("w in ellipsoid(s)", "w - e in ellipsoid(s)").replace("var w", "data e: vector[p]\nvar w")
    solution = fw.parse(program).bind(e=np.zeros(4)).solve(tol=1e-9)
    h, along = 1e-4, np.array([1.0, -1.0, 0.5, 0.0])
    values = [fw.parse(program).bind(e=t * h * along).solve(tol=1e-9).objective for t in (1.0, -1.0)]
    assert abs(float(solution.dual["inside"] @ along)) == pytest.approx(abs(values[0] - values[1]) / (2 * h), rel=1e-3)


@pytest.mark.parametrize("method", ["apg", "pdhg"])
def test_a_set_without_a_bound(method: str) -> None:
    """Isotonic regression, whose answer is the projection."""
    y = np.linspace(0.0, 1.0, 40) + 0.3 * np.random.default_rng(1).normal(size=40)
    program = "data y: vector[n]\nvar x: vector[n]\nminimize sum(squared(x, y))\nsubject to\n  x in increasing\n"
    solution = fw.parse(program).bind(y=y).solve(method=method, tol=1e-8)
    assert solution.status == "optimal" and solution.certificate.kind == "exact"
    np.testing.assert_allclose(solution["x"], Increasing(40).prox(y, 1.0), atol=1e-3)


@pytest.mark.parametrize(
    ("declared", "constraint", "shape"),
    [
        ("matrix[6, 4]", "Z in rows(ellipsoid(s))", (6, 4)),
        ("matrix[4, 6]", "Z in columns(ellipsoid(s))", (4, 6)),
        ("matrix[2, 2]", "Z in vec(ellipsoid(s))", (2, 2)),
        ("family[3] of vector[4]", "Z in ellipsoid(s)", (3, 4)),
    ],
)
def test_a_set_of_vectors_in_frames(declared: str, constraint: str, shape: tuple[int, int]) -> None:
    """The projection of each line, of all entries, or of each block."""
    target = np.random.default_rng(2).normal(size=shape)
    blocks = " + ".join(f"sum(squared(Z[{t}], M[{t}, :]))" for t in range(shape[0]))
    objective = blocks if "family" in declared else "sum(squared(Z, M))"
    data = f"data M: matrix[{shape[0]}, {shape[1]}], s: vector[4]"
    text = f"{data}\nvar Z: {declared}\nminimize {objective}\nsubject to\n  {constraint}\n"
    solution = fw.parse(text).bind(M=target, s=AXES).solve(tol=1e-8)
    assert solution.status == "optimal"

    def lines(a: Any) -> Any:
        return a.reshape(1, -1) if "vec(" in constraint else a.T if "columns" in constraint else a

    expected = [Ellipsoid(4, AXES).prox(line, 1.0) for line in lines(target)]
    np.testing.assert_allclose(lines(solution["Z"]), expected, atol=1e-3)


# --- what is said of them ---------------------------------------------------------------------------------------------


def test_methods_that_link_kernels_say_why_they_do_not_apply() -> None:
    text = PROGRAM.replace("a=0.4))", "a=0.4)) + sum_squares(w)")
    for method in ("svrg", "sdca", "spdc", "gsfw", "dspdc", "subgradient"):
        with pytest.raises(fw.PlanError, match="tweedie has no compiled kernels"):
            fw.parse(text).solve(method=method)
    with pytest.raises(fw.PlanError, match=r"ellipsoid\(a\).* has no compiled kernel"):
        fw.parse(text.replace("tweedie(X @ w, y, a=0.4)", "squared(X @ w, y)")).solve(method="spdc")


@pytest.mark.parametrize(
    ("old", "new", "code", "told"),
    [
        ("tweedie", "twedie", "FW2006", "did you mean `tweedie`?"),
        ("tweedie", "compound_poisson", "FW2006", "did you mean `tweedie`?"),
        ("ellipsoid", "elipsoid", "FW2008", "did you mean `ellipsoid`?"),
        ("ellipsoid(s)", "tweedie(s)", "FW2008", ""),
        ("a=0.4", "a=1.4", "FW2012", ""),
        ("a=0.4", "b=0.4", "FW2010", "write `tweedie(prediction, target, a=0.5)`"),
        ("ellipsoid(s)", "ellipsoid(y)", "FW2044", "the set is written `ellipsoid(a)`"),
        ("ellipsoid(s)", "ellipsoid", "FW2011", "write `ellipsoid(a)`"),
        ("mean(tweedie(X @ w, y, a=0.4))", "tweedie(X @ w, y)", "FW2058", "write `mean(tweedie(X @ w, y))`"),
        ("var w:", "var tweedie:", "FW2003", ""),
    ],
)
def test_diagnostics(old: str, new: str, code: str, told: str) -> None:
    found = fw.parse(PROGRAM.replace(old, new)).check()
    assert found and found[0].code == code and told in found[0].hint


def test_a_set_refuses_numbers_itself() -> None:
    with pytest.raises(fw.FwError, match="half-axes of an ellipsoid are positive"):
        fw.load("p.fw").bind(s=-AXES).solve()


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "p.fw"]) == 0
    assert main(["info", "p.fw"]) == 0
    assert "mean(tweedie(X @ w, y, a=0.4))" in capsys.readouterr().out
    assert main(["plan", "p.fw"]) == 0
    plan = capsys.readouterr().out
    assert "g  w: ellipsoid(a)" in plan and "exact, by the support function of its ellipsoid" in plan
    assert main(["run", "p.fw", "--out", "S.npz", "--checkpoint", "c.state"]) == 0
    assert main(["verify", "p.fw", "--solution", "S.npz"]) == 0
    assert capsys.readouterr().out.count(": agrees: ") == 2
    assert main(["run", "p.fw", "--resume", "c.state"]) == 0
    assert main(["mock", "p.fw", "--dims", "n=20,p=3", "--out", "m.npz"]) == 0


def test_verify_says_what_has_no_translation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Tweedie, "cvxpy", None)
    assert main(["verify", "p.fw"]) == 1
    told = capsys.readouterr().err
    assert "FW0312" in told and "no independent translation of `tweedie`" in told and "Traceback" not in told


# --- elsewhere --------------------------------------------------------------------------------------------------------


def test_a_process_that_has_not_registered_a_word_says_so() -> None:
    """The program is refused, and a solution that was saved says which word is missing."""
    solution = fw.load("p.fw").solve()
    Path("solution.pickle").write_bytes(pickle.dumps(solution))
    script = """
import pickle, sys
from pathlib import Path
import fwdsl as fw
print([d.code for d in fw.load("p.fw").check()])
from tests.plugins.tweedie import Tweedie
from tests.plugins.ellipsoid import Ellipsoid
solution = pickle.loads(Path("solution.pickle").read_bytes())
print(solution.status)
try:
    solution.evaluate("objective")
except KeyError as error:
    print(error.args[0])
fw.register(Tweedie), fw.register(Ellipsoid)
print(f'{solution.evaluate("objective"):.4f}', fw.load("p.fw").check())
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    refused, status, missing, after = done.stdout.splitlines()
    assert refused == "['FW2006', 'FW2008']" and status == "optimal"
    assert (
        missing
        == "`tweedie` is no word of this process: a loss or set from outside is one after `fwdsl.register(CLASS)`"
    )
    assert after == "4.4502 ()"


def test_references_are_handed_through_and_never_linked() -> None:
    assert kernel(Tweedie.value_gradient_loop) is Tweedie.value_gradient_loop and not Tweedie.compiled
    w, out = np.ones(3), np.empty(3)
    value = Tweedie.value_gradient_loop(np.zeros(3), np.ones(3), w, np.array([0.5]), out)
    assert value == pytest.approx(12.0) and np.all(out == 0.0) and not math.isnan(value)

    def loop(z):  # type: ignore[no-untyped-def]
        return derivative(z)  # type: ignore[name-defined]  # noqa: F821

    with pytest.raises(TypeError, match="derivative is no kernel"):
        kernel(loop, derivative=Tweedie.value_gradient_loop)
