"""Functions of the eigenvalues of symmetric matrices: programs against cvxpy, repeated eigenvalues, units, and what is no symmetric matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fwdsl as fw
from fwdsl.atoms.matrices import build_matrix
from fwdsl.atoms.matrices.eigenvalues import MAKERS, NegativeLog, SumInverse, SumLargest
from fwdsl.atoms.vectors.geo_mean import GeoMean
from fwdsl.certify.point import evaluate_point
from fwdsl.oracle import solve_oracle


def symmetric(n: int, seed: int, repeated: bool = False) -> np.ndarray:
    """A symmetric matrix; with eigenvalues -1, 0 and 1, each of them several times, or of all sizes."""
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    values = rng.integers(-1, 2, size=n).astype(float) if repeated else rng.normal(size=n)
    A = (q * values) @ q.T
    return 0.5 * (A + A.T)


PROGRAMS: dict[str, str] = {
    "largest": "data A: symmetric[n], B: symmetric[n]\nvar x: real\nminimize lambda_max(A + x * B) + 0.1 * sum_squares(x)\n",
    "two largest": "data A: symmetric[n], B: symmetric[n]\nvar x: real\nminimize sum_largest_eigs(A + x * B, 2) + 0.1 * sum_squares(x)\n",
    "smallest": "data A: symmetric[n], B: symmetric[n]\nvar x: real\nmaximize lambda_min(A + x * B) - 0.1 * sum_squares(x)\n",
    "near": "data A: symmetric[n]\nvar X: symmetric[n]\nminimize lambda_max(X) + norm1(X - A)\n",
    "inverse": "data A: symmetric[n]\nvar X: psd[n]\nminimize tr_inv(X) + sum_squares(X - A)\n",
    "determinant": "data A: symmetric[n]\nvar X: symmetric[n]\nmaximize log_det(X) - sum_squares(X - A)\n",
    "inequality": "data A: symmetric[n], B: symmetric[n]\nvar x: real, t: real\nminimize t\n"
    "subject to\n  t * eye(n) - A - x * B in psd\n  x in box(-1, 1)\n",
}


@pytest.mark.parametrize("repeated", [False, True], ids=["of all sizes", "repeated"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_agree_with_cvxpy(name: str, repeated: bool) -> None:
    text = PROGRAMS[name]
    data: dict[str, Any] = {"A": symmetric(4, 1, repeated)}
    data |= {"B": symmetric(4, 2, repeated)} if "B:" in text else {}
    problem = fw.parse(text).bind(**data)
    solution = problem.solve()
    assert solution.status == "optimal"
    oracle = solve_oracle(problem.instance)
    assert solution.objective == pytest.approx(oracle.value, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e6])
@pytest.mark.parametrize("word", ["tr_inv", "log_det"])
def test_designs_in_other_units_are_the_same(word: str, unit: float) -> None:
    """The argument is measured in its own size (`canon.units`)."""
    sense = "maximize" if word == "log_det" else "minimize"
    text = f"data V: matrix[m, n]\nvar w: vector[m] in simplex(1)\n{sense} {word}(V.T @ diag(w) @ V)\n"
    V = np.random.default_rng(5).normal(size=(9, 3))
    one, other = (fw.parse(text).bind(V=u * V).solve(tol=1e-8) for u in (1.0, unit))
    assert one.status == other.status == "optimal"
    assert np.allclose(one["w"], other["w"], atol=2e-3)
    expected = one.objective + 6 * np.log(unit) if word == "log_det" else one.objective / unit**2
    assert other.objective == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "h", [SumLargest(3, 0.5, 2), SumInverse(3, 0.5), NegativeLog(3, 0.5)], ids=["sum", "inverse", "log"]
)
def test_proxes_keep_their_digits_far_away(h: Any) -> None:
    for v in (np.array([-1e12, 0.0, 1e12]), np.array([1e-12, -1e-12, 0.0]), np.full(3, -1e160)):
        x = h.prox(v, 1e-3)
        assert np.isfinite(x).all() and (not h.positive or x.min() > 0.0)
        assert np.isfinite(h.value(x))


def test_dual_points_of_one_trace_are_inside_after_their_projection() -> None:
    rng = np.random.default_rng(7)
    for k in (1, 2, 4):
        g = build_matrix(("sum_largest_eigs", 3.0, {"k": k}), None, (4, 4))
        assert g is not None
        for scale in (1e-12, 1.0, 1e12):
            v = scale * symmetric(4, int(rng.integers(99))).reshape(-1)
            u = g.dual_project(v)
            assert g.conjugate(u) == 0.0
            assert np.trace(u.reshape(4, 4)) == pytest.approx(3.0 * k, rel=1e-13)


SQUARE = (
    "data A: matrix[n, n], S: symmetric[n], V: matrix[m, n], c: vector[m]\n"
    "var P: symmetric[n], W: matrix[n, n], w: vector[m], u: vector[n], x: real\n"
)


@pytest.mark.parametrize(
    "expression",
    [
        "A.T @ P + P @ A",
        "V.T @ diag(w) @ V",
        "W + W.T - 2 * S",
        "A @ P @ A.T",
        "(x * A) + x * A.T",
        "eye(n) - (V.T @ diag(w)) @ V / 2",
        "A.T @ (P + eye(n)) @ A - P",
        "-(A @ W + W.T @ A.T)",
        "vstack(hstack(P, W.T), hstack(W, eye(n)))",
        "vstack(hstack(P, A.T @ W, zeros(n, m)), hstack(W.T @ A, S, V.T), hstack(zeros(m, n), V, eye(m)))",
        "vstack(hstack(P, reshape(u, n, 1)), hstack(reshape(u, 1, n), reshape(x, 1, 1)))",
        "hstack(vstack(P, W), vstack(W.T, S)) + eye(2 * n)",
        "outer(w, ones(m)) + outer(ones(m), w)",
        "x * outer(c, c)",
        "P - ones(n, n) / n",
        "A @ ones(n, n) @ A.T + 2 * (W @ ones(n, m) @ V + V.T @ ones(m, n) @ W.T)",
    ],
)
def test_symmetry_is_derived(expression: str) -> None:
    model, found = fw.check.compile_text(SQUARE + f"minimize lambda_max({expression}) + sum_squares(w)\n")
    assert model is not None, found


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("A.T @ P - P @ A", "its own transpose"),
        ("W", "declare `var W: symmetric[n]`"),
        ("S + x * A", "declare `A: symmetric[n]`"),
        ("A @ P @ A", "its own transpose"),
        ("V", ""),
        ("vstack(hstack(P, W), hstack(W, eye(n)))", "its own transpose"),
        ("vstack(hstack(P, W.T), hstack(W, A))", "its own transpose"),
        ("outer(w, c)", "its own transpose"),
    ],
)
def test_what_is_not_symmetric_is_refused(expression: str, hint: str) -> None:
    model, found = fw.check.compile_text(SQUARE + f"minimize lambda_max({expression})\n")
    assert model is None and [d.code for d in found if d.severity == "error"] == ["FW2044"]
    told = next(d for d in found if d.severity == "error")
    assert "takes a symmetric matrix" in told.message and hint in told.hint


def test_an_inequality_of_matrices_is_refused_with_the_set_to_write() -> None:
    _, found = fw.check.compile_text(SQUARE + "minimize trace(P)\nsubject to A.T @ P + P @ A + eye(n) <= 0\n")
    (told,) = (d for d in found if d.severity == "error")
    assert told.code == "FW2070" and "`-(A.T @ P + P @ A + eye(n)) in psd`" in told.hint


COMBINED = "data M: tensor[m, n, n], C: symmetric[n]\nvar y: vector[m]\n"


@pytest.mark.parametrize(
    "rest",
    [
        "minimize lambda_max(C - 2 * combine(y, M)) + 0.1 * sum_squares(y)\n",
        "minimize sum_squares(y)\nsubject to combine(y, M) - C in psd\n",
        "minimize norm_fro(combine(y, M) - C) + sum_squares(y)\n",
    ],
)
def test_combinations_of_the_matrices_of_a_tensor_agree_with_cvxpy(rest: str) -> None:
    M = np.stack([symmetric(4, k) for k in range(3)] + [np.eye(4)])
    problem = fw.parse(COMBINED + rest).bind(M=M, C=symmetric(4, 9))
    solution = problem.solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(solve_oracle(problem.instance).value, rel=1e-5, abs=1e-5)


def test_the_matrices_of_a_tensor_are_symmetric_where_that_is_asked_for() -> None:
    M = np.random.default_rng(8).normal(size=(2, 3, 3))
    with pytest.raises(fw.FwError, match=r"`M\[[01]\]` is not symmetric"):
        fw.parse(COMBINED + "minimize lambda_max(C - combine(y, M))\n").bind(M=M, C=np.eye(3)).solve()
    # of no other function
    assert (
        fw.parse(COMBINED + "minimize norm_spec(C - combine(y, M))\n").bind(M=M, C=np.eye(3)).solve().status
        == "optimal"
    )


def test_a_direction_without_a_price_is_no_certificate() -> None:
    """Along the second entry of the diagonal the objective falls without end, however slowly: no rounding makes a bound of that."""
    text = "data S: psd[d]\nvar X: symmetric[d]\nminimize trace(S @ X) - log_det(X)\n"
    solution = fw.parse(text).bind(S=np.diag([1.0, 0.0])).solve(max_iter=300, time=5)
    assert solution.status != "optimal" and "FW9002" not in solution.reason


def test_the_spectral_norm_of_symmetric_matrices_has_a_smaller_conic_form() -> None:
    """t I - Z and t I + Z in place of a matrix of twice the order: both are semidefinite from the largest size of an eigenvalue on."""
    g = build_matrix(("norm_spec", 0.5), None, (3, 3))
    assert g is not None
    form = g.for_symmetric().conic()
    assert form is not None and [cone.rows for cone in form.cones] == [6, 6]
    A = symmetric(3, 4)
    i, j = np.triu_indices(3)

    def least(t: float) -> float:
        rows = form.offset.copy()
        np.add.at(rows, form.of_z.row, form.of_z.value * A.reshape(-1)[form.of_z.column])
        np.add.at(rows, form.of_u.row, form.of_u.value * t)
        found = []
        for part in (rows[:6], rows[6:]):
            M = np.zeros((3, 3))
            M[i, j] = M[j, i] = np.where(i == j, part, part / np.sqrt(2.0))
            found.append(float(np.linalg.eigvalsh(M).min()))
        return min(found)

    size = float(np.abs(np.linalg.eigvalsh(A)).max())
    assert abs(least(size)) < 1e-12 and least(1.01 * size) > 0.0 > least(0.99 * size)
    assert np.allclose(form.extra_slope, 0.5)


@pytest.mark.parametrize("objective", ["maximize log_det(A @ diag(w) @ A.T)", "minimize tr_inv(A @ diag(w) @ A.T)"])
def test_a_matrix_that_is_singular_but_for_rounding_has_no_finite_value(objective: str) -> None:
    """The least eigenvalue is what cancellation left; a matrix that is small itself has a value."""
    A = np.random.default_rng(0).standard_normal((4, 6))
    text = f"data A: matrix[n, m]\nvar w: vector[m] in simplex(1)\n{objective}\n"
    w = np.full(6, 1.0 / 6.0)
    for rows, unit, finite in ((A, 1.0, True), (A, 1e-9, True), (np.vstack([A, A[0] - A[1] / 3.0]), 1.0, False)):
        problem = fw.parse(text).bind(A=unit * rows)
        assert np.isfinite(evaluate_point(problem.canonical, w).value) == finite
        solution = problem.solve(method="interior", max_iter=60, threads=1)
        assert (solution.status == "optimal") == finite


def test_a_determinant_sinks_along_what_is_known_to_be_semidefinite() -> None:
    """Rounding may hide that the eigenvalue of [[1, a], [a, a^2]] is below 0; zero rows beside a positive definite matrix hide nothing."""
    f = MAKERS["log_det"](("log_det", 2.0, {}), None, (3, 3))
    a = 1.0 / 3.0
    known = np.array([[2.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 2.0]]).reshape(-1)
    hidden = np.array([[1.0, a, 0.0], [a, a * a, 0.0], [0.0, 0.0, 1.0]]).reshape(-1)
    assert f.sinks(known) and not f.sinks(hidden) and not f.sinks(-known) and not f.sinks(np.zeros(9))
    inside = np.eye(3).reshape(-1)
    assert f.growth(known) == 0.0 and f.value(inside + 1e9 * known) < f.value(inside + 1e3 * known) - 40.0
    assert not MAKERS["tr_inv"](("tr_inv", 2.0, {}), None, (3, 3)).sinks(known)


def test_a_geometric_mean_sinks_where_an_entry_with_a_share_grows() -> None:
    f = GeoMean(3, 1.0, np.array([1.0, 2.0, 0.0]))
    assert (
        f.sinks(np.array([0.0, 1.0, 0.0]))
        and not f.sinks(np.array([0.0, 0.0, 1.0]))
        and not f.sinks(np.array([2.0, -1.0, 0.0]))
    )
    assert f.value(np.array([1.0, 1e9, 1.0])) < -1e5
