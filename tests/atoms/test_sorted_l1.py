"""The sorted l1 norm: its special cases, optima of programs with it, and lambdas that are none."""

from __future__ import annotations

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.vectors import build
from fwdsl.atoms.vectors.common import falling_order
from fwdsl.backends.kernels.compile import kernel

HEAD = "data A: matrix[n, p], b: vector[n], lam: vector[p] in nonnegative\n"
FIT = "var x: vector[p]\nminimize mean(squared(A @ x, b))"


def drawn(n: int = 40, p: int = 12) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(5)
    A = rng.normal(size=(n, p))
    return {"A": A, "b": A[:, :3] @ [2.0, -2.0, 1.0] + rng.normal(size=n), "lam": np.linspace(2.0, 0.0, p)}


def test_equal_lambdas_are_norm1_and_one_alone_is_norm_inf() -> None:
    v = np.array([3.0, -3.0, 1.0, 0.2, 0.0])
    for lambdas, name in ((np.ones(5), "norm1"), (np.eye(5)[0], "norm_inf")):
        g, expected = build(("sorted_l1", 0.7, {"lambdas": lambdas}), None, 5), build((name, 0.7), None, 5)
        assert g is not None and expected is not None
        np.testing.assert_allclose(g.prox(v, 0.6), expected.prox(v, 0.6), atol=1e-14)
        assert g.value(v) == pytest.approx(expected.value(v), rel=1e-14)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("more", [" + 0.1 * sorted_l1(x, lam)", "\nsubject to sorted_l1(x, lam) <= 2"])
def test_programs_are_certified_in_all_units(more: str, unit: float) -> None:
    data = drawn()
    data["lam"], data["b"] = data["lam"] * (unit if "+" in more else 1.0 / unit), data["b"] * unit
    found = fw.parse(HEAD + FIT + more + "\n").bind(**data).solve(tol=1e-9)
    assert found.status == "optimal" and found.relative_gap <= 1e-9


@pytest.mark.parametrize("lambdas", [np.arange(12.0), np.zeros(12), -np.ones(12), np.full(12, np.nan)])
def test_lambdas_that_rise_or_are_negative_are_errors(lambdas: np.ndarray) -> None:
    program = fw.parse(HEAD + FIT + " + 0.1 * sorted_l1(x, lam)\n")
    with pytest.raises(fw.FwError):
        program.bind(**{**drawn(), "lam": lambdas}).solve()


LITERALS = [("[1, 2, 3]", "FW3018"), ("[0, 0, 0]", "FW3018"), ("[1, -1, -2]", "FW3007")]


@pytest.mark.parametrize(("literal", "code"), LITERALS)
def test_literals_are_checked_before_data(literal: str, code: str) -> None:
    text = f"data A: matrix[n, 3], b: vector[n]\nvar x: vector[3]\nminimize mean(squared(A @ x, b)) + sorted_l1(x, {literal})\n"
    with pytest.raises(fw.FwError) as error:
        fw.parse(text).plan()
    assert error.value.code == code


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 8, 100])
def test_the_order_of_kernels_is_that_of_a_stable_sort(size: int) -> None:
    """Equal entries stand as they stood."""
    v = np.random.default_rng(size).integers(0, max(1, size // 2), size=size).astype(float)
    np.testing.assert_array_equal(kernel(falling_order)(v), np.argsort(-v, kind="stable"))
