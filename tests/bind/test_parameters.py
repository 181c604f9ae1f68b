"""Parameters that are vectors and matrices, and parameters between bounds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.cli import main
from fwdsl.readers.sources import SourceSpec, parse_set_argument
from fwdsl.results.loading import saved_problem

RNG = np.random.default_rng(4)
A, B = RNG.standard_normal((7, 4)), RNG.standard_normal(7)
TEXT = """
data A: matrix[m, n], b: vector[m]
param rho: real in box(0, 1) = 0.5
param w: vector[n] in nonnegative
param C: matrix[n, n] in box(-1, 2) = eye(n)
param mu: vector[n] = zeros(n)
var x: vector[n]
minimize sum_squares(A @ x - b) + rho * norm1(w * x) + (1 - rho) * sum_squares(C @ x - mu)
"""
W = np.array([1.0, 0.0, 2.0, 0.5])


def problem(**values: Any) -> fw.Problem:
    return fw.parse(TEXT).bind(A=A, b=B, **values)


def value(x: np.ndarray, w: np.ndarray, rho: float = 0.5, C: np.ndarray | None = None, mu: Any = 0.0) -> float:
    C = np.eye(4) if C is None else C
    return float(((A @ x - B) ** 2).sum() + rho * abs(w * x).sum() + (1 - rho) * ((C @ x - mu) ** 2).sum())


def test_values_are_bound_anew_without_reading_data_again() -> None:
    first = problem(w=W)
    assert first.solve(tol=1e-9).objective == pytest.approx(value(first.solve(tol=1e-9)["x"], W), rel=1e-9)
    C = np.clip(RNG.standard_normal((4, 4)), -1, 2)
    second = first.bind(w=2 * W, C=C, mu=np.ones(4), rho=0.25)
    solution = second.solve(tol=1e-9)
    assert second.instance.values["A"] is first.instance.values["A"]
    assert solution.objective == pytest.approx(value(solution["x"], 2 * W, 0.25, C, 1.0), rel=1e-9)
    whole = problem(w=2 * W, C=C, mu=np.ones(4), rho=0.25).solve(tol=1e-9)
    assert solution.objective == pytest.approx(whole.objective, rel=1e-8)
    assert first.bind(w=[1, 0, 2, 0.5]).solve(tol=1e-9).objective == pytest.approx(first.solve(tol=1e-9).objective)


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"w": -W - 1}, "FW4516"),
        ({"w": W[:3]}, "FW4506"),
        ({"w": np.array([1.0, np.nan, 1.0, 1.0])}, "FW4021"),
        ({"w": 3.0}, "FW4505"),
        ({"w": "a"}, "FW4504"),
        ({"w": W, "C": 3 * np.eye(4)}, "FW4511"),
        ({"w": W, "rho": 2.0}, "FW4511"),
        ({"w": W, "rho": -0.1}, "FW4511"),
        ({"w": W, "rho": W}, "FW4512"),
        ({}, "FW4502"),
    ],
)
def test_values_that_do_not_fit(given: dict[str, Any], code: str) -> None:
    with pytest.raises(fw.FwError) as error:
        _ = problem(**given).instance
    assert code in {d.code for d in error.value.diagnostics}
    if given and "w" in given and "C" not in given:
        with pytest.raises(fw.FwError) as error:
            _ = problem(w=W).bind(**given).instance
        assert code in {d.code for d in error.value.diagnostics}


def test_a_number_outside_of_its_box_is_told_the_box() -> None:
    for given in (-0.1, 2.0):
        with pytest.raises(fw.FwError, match=r"between 0 and 1"):
            _ = problem(w=W, rho=given).instance
    with pytest.raises(fw.FwError, match="greater than 0"):
        _ = fw.parse("param r: positive in box(0, 1)\nvar x: real\nminimize square(x - r)\n").bind(r=0.0).instance


def test_a_file_that_is_not_there_is_all_that_is_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "param w: vector[3] in nonnegative = ones(3)\nvar x: vector[3]\nminimize sum_squares(x - w)\n"
    (tmp_path / "p.fw").write_text(text)
    assert main(["run", str(tmp_path / "p.fw"), f"--set=w={tmp_path / 'no.npy'}"]) == 1
    said = capsys.readouterr().err
    assert "FW4001" in said and "FW4512" not in said


def test_a_parameter_gives_a_dimension_its_size() -> None:
    text = "param w: vector[n + 1] in nonnegative = [1, 2, 3]\nvar x: vector[n]\nminimize sum_squares(x - w[1:]) + w[0] * norm1(x)\n"
    found = fw.parse(text).solve(tol=1e-9)
    np.testing.assert_allclose(found["x"], [1.5, 2.5], atol=1e-6)
    np.testing.assert_allclose(fw.parse(text).bind(w=np.ones(4)).solve(tol=1e-9)["x"], 0.5 * np.ones(3), atol=1e-6)


def test_a_path_goes_on_beside_an_array() -> None:
    points = problem(w=W).path(rho=[0.0, 0.5, 1.0], tol=1e-8)
    assert [s.status for s in points] == ["optimal"] * 3


def test_an_answer_is_saved_and_loaded_with_its_arrays(tmp_path: Path) -> None:
    solution = problem(w=W).solve()
    solution.save(str(tmp_path / "s.npz"))
    loaded = fw.load_solution(str(tmp_path / "s.npz"))
    _, bindings = saved_problem(str(tmp_path / "s.npz"))
    np.testing.assert_array_equal(bindings.params["w"], W)
    np.testing.assert_allclose(loaded["x"], solution["x"])


def test_the_command_line_takes_lists_and_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert parse_set_argument("w=[1, 2.5]") == ("w", [1, 2.5])
    name, spec = parse_set_argument("w=a/w.npy")  # type: ignore[misc]
    assert name == "w" and isinstance(spec, SourceSpec) and spec.format == "npy"
    for text in ("w=[1, x]", "w=[]", "w=[[1], 2]", "w=[true]", "w=word"):
        assert parse_set_argument(text).code == "FW0111"  # type: ignore[union-attr]
    np.save(tmp_path / "A.npy", A), np.save(tmp_path / "b.npy", B), np.save(tmp_path / "w.npy", W)
    (tmp_path / "p.fw").write_text(TEXT)
    data = [f"--data={n}={tmp_path / n}.npy" for n in "Ab"]
    for setting in (f"--set=w={tmp_path / 'w.npy'}", "--set=w=[1,0,2,0.5]"):
        assert main(["run", str(tmp_path / "p.fw"), *data, setting, "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["objective"] == pytest.approx(problem(w=W).solve().objective, rel=1e-5)
    assert main(["run", str(tmp_path / "p.fw"), *data, "--set=rho=w.npy", "--set=w=[1,0,2,0.5]"]) != 0
    assert "where a number is needed" in capsys.readouterr().err


def test_parameters_in_python() -> None:
    w = fw.param("w", None, fw.vector_type(4), in_=fw.nonnegative)
    rho = fw.param("rho", 0.5, in_=fw.box(0, 1))
    mu = fw.param("mu", np.zeros(4))
    x = fw.vector(4, name="x")
    built = fw.minimize(
        fw.sum_squares(fw.data("A", A) @ x - fw.data("b", B))
        + rho * fw.norm1(w * x)
        + (1 - rho) * fw.sum_squares(x - mu)
    )
    assert "param rho: real in box(0, 1) = 0.5" in built.to_fw()
    assert built.bind(w=W).solve(tol=1e-9).objective == pytest.approx(problem(w=W).solve(tol=1e-9).objective, rel=1e-8)


def test_minimize_0_finds_a_point() -> None:
    text = "data A: matrix[m, n], b: vector[m]\nvar x: vector[n] in box(-5, 5)\nminimize 0\nsubject to norm_inf(A @ x - b) <= 2\n"
    solution = fw.parse(text).bind(A=A, b=B).solve()
    assert (solution.status, solution.objective, solution.certificate.dual_bound) == ("optimal", 0.0, 0.0)
    assert np.abs(A @ solution["x"] - B).max() <= 2 + 1e-6
    assert fw.parse(text.replace("<= 2", "<= 1e-6")).bind(A=A, b=B).solve().status == "infeasible"


def test_functions_of_constants() -> None:
    text = (
        "data b: vector[m]\nparam g: positive = 2\nvar x: vector[m]\n"
        "minimize log(g + 1) * norm1(x) + sqrt(m) * sum_squares(x - log(square(b) + 1) / pi) + (exp(g) - 1) * norm2(x)\n"
    )
    solution = fw.parse(text).bind(b=B).solve(tol=1e-9)
    x, target = solution["x"], np.log(B**2 + 1) / np.pi
    expected = np.log(3) * abs(x).sum() + np.sqrt(7) * ((x - target) ** 2).sum() + (np.exp(2) - 1) * np.linalg.norm(x)
    assert solution.objective == pytest.approx(expected, rel=1e-9)
    with pytest.raises(fw.FwError) as error:
        fw.parse("data b: vector[m]\nvar x: vector[m]\nminimize sum_squares(x - log(b))\n").bind(b=B).solve()
    assert error.value.code == "FW5011"
