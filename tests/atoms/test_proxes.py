"""Every norm, set and pair by the public checks, and the proxes of some in corners and at size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fwdsl.atoms.matrices import Lines, build_matrix
from fwdsl.atoms.vectors import NORMS, Norm, build
from fwdsl.testing.functions import FUNCTION_CHECKS, FunctionCase, compiled_prox
from tests.atoms.pairs import OF_MATRICES, OF_NOTHING, Case, checked, each, each_of_nothing


@each
@pytest.mark.parametrize("check", FUNCTION_CHECKS, ids=lambda check: check.__name__)
def test_functions(case: Case, check: Callable[[FunctionCase], None]) -> None:
    for one in checked(case):
        check(one)


@each_of_nothing
def test_no_entries(case: Case) -> None:
    on = (case.on, OF_NOTHING[case.on]) if case.on else None
    arguments = {
        "group_norm": {"groups": []},
        "sorted_l1": {"lambdas": []},
        "sum_largest": {"k": 1},
        "norm_p": {"p": 3.0},
        "sum_largest_eigs": {"k": 1},
    }
    more = (arguments[case.norm],) if case.norm in arguments else ()
    norm: Any = (case.norm, 1.0, *more) if case.norm else None
    if case.matrix:
        # rows of no entries could not sum to 1
        shape = (0, 3) if case.on == "simplex_product" else (0, 0)
        g = build_matrix(norm, on, shape)
    else:
        g = build(norm, on, 0)
    assert g is not None
    nothing = np.empty(0)
    assert g.prox(nothing, 1.0).shape == (0,) and (not g.compiled or compiled_prox(g, nothing, 1.0).shape == (0,))
    assert g.value(nothing) == g.violation(nothing) == g.conjugate(nothing) == g.radius() == 0.0
    assert g.dual_scale(nothing) == 1.0 and g.dual_project(nothing).shape == (0,)


def test_projection_far_from_the_set_keeps_its_digits() -> None:
    v = 1e9 + np.array([0.0, 0.25, 0.5])
    for name in ("l1_ball", "simplex", "solid_simplex"):
        g = build(None, (name, {"r": 1.0}), 3)
        assert g is not None
        for x in (g.prox(v, 1.0), compiled_prox(g, v, 1.0)):
            np.testing.assert_allclose(x, [1 / 12, 1 / 3, 7 / 12], rtol=1e-14)


# --- lines of a matrix ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1])
def test_lines_are_the_sum_over_their_vectors(axis: int) -> None:
    """Also those whose references are written for all lines at once."""
    rng = np.random.default_rng(26)
    shape = (5, 4)
    arguments = [
        *OF_MATRICES["rows"],
        {"set": ("ksupport_ball", {"k": 2, "r": 1.0})},
        {"set": ("permutahedron", {"c": np.arange(float(shape[1 - axis]))})},
    ]
    specs: list[tuple[Any, Any]] = [(None, a["set"]) for a in arguments if a["set"][0] != "box"]
    specs += [((norm, 0.7), None) for norm in ("norm1", "norm2", "norm_inf", "entropy")]
    for norm, on in specs:
        inner = build(norm, on, shape[1 - axis])
        assert inner is not None
        g = Lines(shape, axis, inner)
        for _ in range(4):
            a = np.round(rng.normal(0.0, 1.0, shape), 1)
            lines = a if axis == 0 else a.T
            x = a.reshape(-1)
            assert g.value(x) == pytest.approx(sum(inner.value(line) for line in lines), abs=1e-14)
            sizes = np.ones(lines.shape)
            each = (inner.violation(line, size) for line, size in zip(lines, sizes, strict=True))
            assert g.violation(x, sizes.reshape(-1)) == pytest.approx(max(each), abs=1e-15)
            assert g.conjugate(x) == pytest.approx(sum(inner.conjugate(line) for line in lines))
            expected = np.array([inner.dual_project(line) for line in lines])
            np.testing.assert_allclose(
                g.dual_project(x).reshape(shape), expected if axis == 0 else expected.T, atol=1e-14
            )
            assert g.dual_scale(x) == pytest.approx(min(inner.dual_scale(line) for line in lines))


# --- at size -------------------------------------------------------------------------------------------------------


def test_projections_of_large_vectors_agree_with_sorting() -> None:
    """Sizes where the filtering passes of the kernel matter, spread over many scales, with ties."""
    rng = np.random.default_rng(13)
    for v in (
        rng.normal(size=3000),
        rng.standard_cauchy(3000),
        np.round(3.0 * rng.random(3000)),
        2.0 ** -np.arange(900.0),
    ):
        for name in ("l1_ball", "simplex", "solid_simplex"):
            for r in (1e-3, 1.0, 300.0):
                g = build(None, (name, {"r": r}), v.size)
                assert g is not None
                np.testing.assert_allclose(
                    compiled_prox(g, v, 1.0), g.prox(v, 1.0), rtol=1e-10, atol=1e-13 * (r + 1e-3)
                )
        norm = NORMS["norm_inf"](v.size, 2.0)
        assert isinstance(norm, Norm)
        np.testing.assert_allclose(compiled_prox(norm, v, 0.5), norm.prox(v, 0.5), rtol=1e-10, atol=1e-12)


def test_kernels_of_structured_sets_at_size() -> None:
    """Against the references, on several scales, with ties and few nonzeros."""
    rng = np.random.default_rng(24)
    n = 150
    codes = rng.integers(0, 30, n)
    sparse = rng.normal(size=n) * (rng.random(n) < 0.05)
    for v in (rng.normal(size=n), rng.standard_cauchy(n), np.round(3.0 * rng.random(n)), sparse, 1e3 + rng.random(n)):
        cases: list[tuple[Any, Any]] = [
            (None, ("ksupport_ball", {"k": k, "r": r})) for k in (1, 30, 149) for r in (0.1, 3.0)
        ]
        cases += [(None, ("permutahedron", {"c": c})) for c in (rng.normal(size=n), np.round(rng.normal(size=n)))]
        cases += [(("group_norm", 0.7, {"groups": codes}), None), (None, ("group_ball", {"r": 5.0, "groups": codes}))]
        cases += [(("entropy", 0.1), None), (("entropy", 2.0), ("simplex", {"r": 3.0}))]
        for norm, on in cases:
            g = build(norm, on, n)
            assert g is not None
            expected, found = g.prox(v, 0.8), compiled_prox(g, v, 0.8)
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12 * (1 + np.abs(v).max()))
            assert g.violation(found) <= 1e-12


def test_kernels_of_matrices_at_size_agree_with_references() -> None:
    """Many lines of many entries, on several scales, with ties."""
    rng = np.random.default_rng(22)
    shape = (60, 45)
    for a in (rng.normal(size=shape), rng.standard_cauchy(shape), np.round(3.0 * rng.random(shape))):
        v = a.reshape(-1)
        for norm, on in (
            (("norm1_inf", 0.4), None),
            (("norm21", 0.4), None),
            (None, ("l1_inf_ball", {"r": 20.0})),
            (("norm1_inf", 0.4), ("l1_inf_ball", {"r": 20.0})),
            (None, ("l21_ball", {"r": 20.0})),
            (("norm21", 1.4), ("l21_ball", {"r": 200.0})),
            *((None, (lines, {"set": ("simplex", {"r": 2.0})})) for lines in ("rows", "columns")),
            *((("norm1", 0.3), (lines, {"set": ("l1_ball", {"r": 2.0})})) for lines in ("rows", "columns")),
            *((("entropy", 0.3), (lines, {"set": ("simplex", {"r": 2.0})})) for lines in ("rows", "columns")),
        ):
            g = build_matrix(norm, on, shape)
            assert g is not None
            np.testing.assert_allclose(compiled_prox(g, v, 0.5), g.prox(v, 0.5), rtol=1e-10, atol=1e-12)
