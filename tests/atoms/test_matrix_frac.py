"""x' P^-1 x of a vector and a matrix: the checks of functions at symmetric P, the prox against cvxpy, programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.base import Array
from fwdsl.atoms.vectors import build
from fwdsl.oracle import solve_oracle
from fwdsl.testing.functions import FUNCTION_CHECKS, FunctionCase, Tolerances

N = 3


@dataclass(frozen=True, eq=False)
class AtSymmetric(FunctionCase):
    """The checks at vectors (P, x) with symmetric P."""

    def points(self, seed: int, many: bool = False) -> Iterator[Array]:
        for v in super().points(seed, many):
            P = v[: N * N].reshape(N, N)
            yield np.concatenate([(0.5 * (P + P.T)).reshape(-1), v[N * N :]])


@pytest.mark.parametrize("check", FUNCTION_CHECKS, ids=lambda c: c.__name__)
def test_it_passes_the_checks_of_functions(check) -> None:  # type: ignore[no-untyped-def]
    g = build(("matrix_frac", 0.7), None, N * N + N)
    assert g is not None
    case = AtSymmetric(g, (N * N + N,), tolerances=Tolerances(5e-15, 5e-15, 1e-10, 1e-10, 1e-10))
    check(case)


@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_prox_is_optimal(n: int) -> None:
    """P = [P0 + t c z z']_+ and x = P z, z = (P + 2 t c I)^-1 x0: the conditions of the minimum over x, then over P."""
    rng = np.random.default_rng(n)
    for scale in (1e-6, 1.0, 1e3):
        P0, x0 = rng.normal(size=(n, n)), scale * rng.normal(size=n)
        P0 = P0 + P0.T
        g = build(("matrix_frac", 0.7), None, n * n + n)
        assert g is not None
        found = g.prox(np.concatenate([P0.reshape(-1), x0]), 0.6)
        P, x, c = found[: n * n].reshape(n, n), found[n * n :], 0.6 * 0.7
        z = np.linalg.solve(P + 2.0 * c * np.eye(n), x0)
        values, q = np.linalg.eigh(P0 + c * np.outer(z, z))
        size = max(1.0, np.abs(P).max())
        np.testing.assert_allclose(P, (q * np.maximum(values, 0.0)) @ q.T, atol=1e-9 * size)
        np.testing.assert_allclose(x, P @ z, atol=1e-9 * max(scale, np.abs(x).max()))


def test_at_singular_matrices_it_is_the_limit() -> None:
    g = build(("matrix_frac", 2.0), None, 6)
    assert g is not None
    assert g.value(np.array([1.0, 0.0, 0.0, 0.0, 3.0, 0.0])) == pytest.approx(18.0)
    assert g.value(np.array([1.0, 0.0, 0.0, 0.0, 3.0, 1.0])) == np.inf
    assert g.value(np.zeros(6)) == 0.0


PROGRAMS = {
    "of variables": "data A: matrix[m, n], b: vector[n]\nvar w: vector[m] in simplex(1)\nminimize matrix_frac(b, A.T @ diag(w) @ A)\n",
    "of both": "data A: matrix[m, n], b: vector[n]\nvar x: vector[n], w: vector[m] in box(0, 1)\n"
    "minimize matrix_frac(x - b, A.T @ diag(w) @ A + eye(n)) + sum_squares(x) + sum(w)\n",
    "of data": "data A: matrix[m, n], b: vector[n], P: psd[n]\nvar x: vector[n]\nminimize matrix_frac(x - b, P) + norm1(x)\n",
    "bounded": "data A: matrix[m, n], b: vector[n]\nvar w: vector[m]\nminimize sum(w)\nsubject to\n"
    "  matrix_frac(b, A.T @ diag(w) @ A) <= 1\n  w >= 0\n",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_agree_with_cvxpy(name: str) -> None:
    rng = np.random.default_rng(11)
    A, b = rng.normal(size=(8, 3)), rng.normal(size=3)
    data = {"A": A, "b": b, "P": A.T @ A}
    text = PROGRAMS[name]
    problem = fw.parse(text).bind(**{k: v for k, v in data.items() if f"{k}:" in text})
    solution = problem.solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-5, abs=1e-6)


def test_the_inequality_of_schur_has_the_same_answer() -> None:
    rng = np.random.default_rng(12)
    A, b = rng.normal(size=(6, 3)), rng.normal(size=3)
    head = "data C: psd[n], b: vector[n]\nvar x: vector[n]"
    tail = "sum_squares(x - b)"
    plain = f"{head}\nminimize matrix_frac(x - 2 * b, C + diag(x)) + {tail}\nsubject to x >= 0\n"
    blocks = (
        f"{head}, t: real\nminimize t + {tail}\nsubject to\n  x >= 0\n"
        "  vstack(hstack(C + diag(x), reshape(x - 2 * b, n, 1)), hstack(reshape(x - 2 * b, 1, n), reshape(t, 1, 1))) in psd\n"
    )
    found = [fw.parse(text).bind(C=A.T @ A, b=b).solve() for text in (plain, blocks)]
    assert [s.status for s in found] == ["optimal", "optimal"]
    assert found[0].objective == pytest.approx(found[1].objective, rel=1e-5)


@pytest.mark.parametrize("constraint", ["trace(P) == -1", "sum(P) <= -1", "P + eye(n) in psd, trace(P) <= -0.5"])
def test_no_matrix_in_its_domain_is_proved(constraint: str) -> None:
    text = f"data b: vector[n]\nvar P: symmetric[n]\nminimize matrix_frac(b, P) + trace(P)\nsubject to {constraint}\n"
    found = fw.parse(text).bind(b=np.ones(3)).solve()
    assert found.status == "infeasible" and "the domain of `matrix_frac(b, P)`" in found.reason


def test_its_domain_is_a_cone_and_its_support_function_that_of_the_polar_one() -> None:
    rng = np.random.default_rng(5)
    g = build(("matrix_frac", 0.7), None, N * N + N)
    on = g.set_beneath()
    assert on is not None
    for _ in range(20):
        v = rng.normal(size=N * N + N)
        inside, polar = on.prox(v, 1.0), on.dual_project(v)
        assert on.violation(inside) <= 1e-14 and on.conjugate(polar) == 0.0
        assert polar @ inside <= 1e-12
        # Moreau: what the projection leaves of a symmetric P is in the polar cone
        part = np.concatenate([(0.5 * (v[: N * N].reshape(N, N) + v[: N * N].reshape(N, N).T)).reshape(-1), v[N * N :]])
        np.testing.assert_allclose(on.prox(part, 1.0) + on.dual_project(part), part, atol=1e-13)
        assert np.isinf(on.conjugate(polar + 0.1))
